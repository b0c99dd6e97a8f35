"""Every order of the query language, with what it means, for help and documentation."""

SORTS: dict[str, str] = {
    "order": "as the passages stand in their files (the default)",
    "disagree": "strongest disagreement first",
    "uncertain": "where the active model's first two choices are closest; unpredicted last",
    "entropy": "where the active model is most undecided between all candidates; others last",
    "conflict": "by margin where the active model contradicts gold, widest first; others last",
    "doubt": "gold that a model which had not seen it doubts, least likely first; others last",
    "models": "where the active model and another choose differently; models/NAME says which",
    "rare": "undecided only: predicted kinds with little gold first",
    "votes": "fewest votes first",
    "anchor": "by the anchor's words",
    "random": "shuffled, always alike; random/7 is another shuffle",
    "nfh": "where identification is least sure, its score closest to 0; decided by rule last",
    "assigned": "in the order in which you were given them; what you were not given last",
}

OF_MODELS = ("uncertain", "entropy", "conflict", "doubt", "models", "rare", "nfh")
"""Those that depend on what models say."""

NAMING = ("models",)
"""Those after which a slash and the name of a model may stand."""
