"""What is said of a trained machine: its figures, and a card for people to read."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence

import msgspec

from nfh_models.identification.crossing import Spread
from nfh_models.identification.example import Example
from nfh_models.identification.scores import Counts, count
from nfh_models.identification.svm_settings import Stored
from nfh_models.identification.svm_training import Trained

LABELS = ("NFH", "NOT_NFH")

WORST = 15
"""Anchor words that figures and card list."""

MOST_PLAIN = 60
"""Characters that are kept of a word out of the data."""

MARKUP = re.compile(r"[<&`|*\[\]\\~]|(?<!\w)_|_(?!\w)|\A\s*(?:>|[#+-]+(?=\s))")
"""What Markdown or HTML takes for markup; an underscore within a word is none."""

FIGURES: dict[str, Callable[[Counts], float | None]] = {
    "precision": lambda counts: counts.precision,
    "recall": lambda counts: counts.recall,
    "f1": lambda counts: counts.f1,
    "accuracy": lambda counts: counts.accuracy,
}


def metrics_of(trained: Trained, examples: Sequence[Example]) -> dict[str, object]:
    """The figures of cross-validation as JSON has them: fractions, null where there is none.

    Figures are those of all folds together; per_fold has mean and standard deviation.
    """
    crossed = trained.crossed
    counts = crossed.counts
    return {
        "examples": counts.n,
        "nfh": counts.nfh,
        "passages": trained.groups,
        "folds": len(crossed.folds),
        **{name: figure(counts) for name, figure in FIGURES.items()},
        "per_fold": {name: _spread(crossed.spread(one)) for name, one in FIGURES.items()},
        "confusion": {"labels": list(LABELS), "rows": [list(row) for row in counts.rows]},
        "worst": [
            {"anchor": word, "n": own.n, "missed": own.missed, "false": own.false}
            for word, own in worst_words(trained, examples)
        ],
        "features": len(trained.svm.vocabulary),
        "converged": trained.svm.converged,
    }


def _spread(spread: Spread) -> dict[str, float | None]:
    return {"mean": spread.mean, "deviation": spread.deviation}


def worst_words(trained: Trained, examples: Sequence[Example]) -> list[tuple[str, Counts]]:
    """The anchor words, in lower case, with most errors in the folds; only those with any."""
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for example, said in zip(examples, trained.crossed.said, strict=True):
        case = example.case
        word = " ".join(case.stretch.words[case.start : case.end]).lower()
        pairs[word].append((example.nfh, said))
    counted = [(word, count(own)) for word, own in pairs.items()]
    wrong = [one for one in counted if one[1].wrong]
    return sorted(wrong, key=lambda one: (-one[1].wrong, one[0]))[:WORST]


# --- the card -------------------------------------------------------------------------------

CARD = """\
# {name}

Says of a number in an English sentence whether its noun is missing (a numeric fused head).
A linear support vector machine, as in Elazar and Goldberg (2019), "Where's My Head?
Definition, Data Set, and Models for Numeric Fused-Head Identification and Resolution",
section 4.2.

- Made {at} of {n:,} labelled numbers in {groups:,} passages.
- Of these numbers {nfh:,} are fused heads and {other:,} are not.
- {parsed}
- Features: {features}.
- Settings: {settings}.

## How good it is

In {folds} folds, each number decided by a machine that had not seen its passage; the model
itself is fitted on all of them. The deviation is that between folds.

| figure | all folds | mean of folds | deviation |
|---|---|---|---|
{figures}

| label | said NFH | said NOT_NFH |
|---|---|---|
| NFH | {hit:,} | {missed:,} |
| NOT_NFH | {false:,} | {passed:,} |

These figures tell how well it repeats the labels it learnt from, on text of the same kind. If
rules made those labels, they tell how well it repeats the rules.

## Where it fails

The anchors with most errors in the folds.

| anchor | numbers | fused heads missed | others called fused heads |
|---|---|---|---|
{worst}
"""


def card_of(trained: Trained, examples: Sequence[Example], name: str, at: str) -> str:
    """The card, in Markdown; no word out of the data is markup in it."""
    counts = trained.crossed.counts
    hit, missed = counts.rows[0]
    false, passed = counts.rows[1]
    features = trained.svm.settings.features
    parser = trained.svm.parser
    return CARD.format(
        name=name,
        at=at,
        features=", ".join(features.features),
        n=counts.n,
        groups=trained.groups,
        nfh=counts.nfh,
        other=counts.n - counts.nfh,
        parsed=f"Sentences were parsed by {parser}." if parser else "No parser was needed.",
        settings=", ".join(_settings(trained)),
        folds=len(trained.crossed.folds),
        figures="\n".join(_figure(trained, name) for name in FIGURES),
        hit=hit,
        missed=missed,
        false=false,
        passed=passed,
        worst="\n".join(_worst(*one) for one in worst_words(trained, examples))
        or "| none | | | |",
    )


def _settings(trained: Trained) -> list[str]:
    stored = msgspec.to_builtins(Stored.of(trained.svm.settings))
    return [f"{key} {_said(value)}" for key, value in stored.items() if key != "features"]


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _figure(trained: Trained, name: str) -> str:
    figure = FIGURES[name]
    spread = trained.crossed.spread(figure)
    values = (figure(trained.crossed.counts), spread.mean, spread.deviation)
    shown = " | ".join("none" if value is None else f"{value:.4f}" for value in values)
    return f"| {name} | {shown} |"


def _worst(word: str, counts: Counts) -> str:
    return f"| {plain(word)} | {counts.n:,} | {counts.missed:,} | {counts.false:,} |"


def plain(text: str, most: int | None = MOST_PLAIN) -> str:
    """Words out of the data as Markdown shows them.

    What would be markup, or cannot be printed, is given by number. All else stays as it is,
    for whoever reads the card as text. most: characters that are kept, to the end of a word
    where one ends; None for all.
    """
    cut = text if most is None or len(text) <= most else _cut(text, most)
    safe = MARKUP.sub(lambda found: "".join(map(_by_number, found[0])), cut)
    return "".join(c if c.isprintable() else _by_number(c) for c in safe)


def _by_number(character: str) -> str:
    return f"&#{ord(character)};"


def _cut(text: str, most: int) -> str:
    whole = text[: most + 1].rpartition(" ")[0]
    return f"{(whole or text[:most]).rstrip()}…"
