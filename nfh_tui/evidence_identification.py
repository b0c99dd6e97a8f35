"""Identification's part of the evidence: is the noun missing, and by which rule or weights?

The rules' sentences come from their registry, which loads no framework.
"""

from nfh_db.records import Identified, Item
from nfh_models.domain import Answer, Blocking, Kind, identified
from nfh_tui.editing.describe import BLOCKING_WORDS, KIND_WORDS
from nfh_tui.evidence_model import NO_BREAK
from nfh_tui.rows import Part, Rows

MOST_WEIGHTS = 4
"""Features shown with their weights; one line more tells what all others come to."""


def add_identification(
    rows: Rows, item: Item, draft: Answer | None, gold: Answer | None
) -> None:
    """What the active identification model says of the item; nothing where it has not.

    draft: the answer being edited. gold: what it is held against where there is no such
    answer, None where that is not to be seen.
    """
    said = item.identification
    if said is None:
        return
    rows.heading("Identification", said.model)
    parts: list[Part] = [("NFH" if said.nfh else KIND_WORDS[Kind.NOT_NFH], "said")]
    if said.score is not None:
        parts.append((f" · score{NO_BREAK}{said.score:+.2f}", ""))
    elif said.rule:
        parts.append((f" · rule {said.rule}", ""))
    parts.append(_standing(said, draft, gold))
    rows.text(parts, indent=1, hang=3)
    if said.score is None:
        sentence = rule_sentence(said.rule)
        if sentence:
            rows.text([(sentence, "note")], indent=3, hang=3)
    for figure, what in _summands(said):
        rows.text([(f"{figure:+.2f} ", "bar"), (what, "note")], indent=3, hang=5)


def _summands(said: Identified) -> list[tuple[float, str]]:
    """What the score is made of: the strongest features, then all the rest as one.

    In hundredths, as they are shown, so that what is shown adds up to the score shown.
    """
    shown = [(round(weight, 2), name) for name, weight in said.weights[:MOST_WEIGHTS]]
    if said.score is None or not shown:
        return shown
    rest = round(said.score, 2) - sum(weight for weight, _ in shown)
    return [*shown, (round(rest, 2), "all other features and the bias")]


def _standing(said: Identified, draft: Answer | None, gold: Answer | None) -> Part:
    """How the decision stands to the draft, else to gold: a sign, and what differs."""
    against = draft if draft is not None else gold
    wanted = None if against is None else identified(against.kind)
    if wanted is None:
        return "", ""
    if draft is not None:
        words = "=" if wanted is said.nfh else f"≠ {BLOCKING_WORDS[Blocking.SCOPE]}"
    else:
        words = "= gold" if wanted is said.nfh else "≠ gold"
    same = wanted is said.nfh
    return f"  {words.replace(' ', NO_BREAK)}", "same" if same else "differs"


def rule_sentence(name: str) -> str:
    """The sentence of a rule in its registry; "" for one that is none (any more)."""
    from nfh_models.identification.rules import rule_named

    try:
        return rule_named(name).sentence
    except KeyError:
        return ""
