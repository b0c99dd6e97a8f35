"""The card of a model of resolution: what it is, what it was made of, where it fails."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nfh_db.formats.wording import counted
from nfh_models.identification.svm_card import plain
from nfh_tui.training_judging import FIGURES
from nfh_tui.training_trainers import BOTH, Trainer

WHAT = {
    "linear": "A linear model over pairs of number and candidate, with the features of the "
    "paper's appendix.",
    "bilstm": "The paper's network (section 6.1): two LSTMs and a scorer of pairs.",
    "encoder": "A pretrained encoder, fine-tuned.",
    "small": "A small pretrained encoder, fine-tuned, its weights in 8 bits.",
}

CARD = """\
# {name}

Says of a number in an English dialog whose noun is missing (a numeric fused head) what that
noun is: a word of the text, or one of six classes. {both}{what} The task is that of Elazar and
Goldberg (2019), "Where's My Head? Definition, Data Set, and Models for Numeric Fused-Head
Identification and Resolution", section 5.

- Made {at} of {examples} in {passages}: {kinds}.
{more}- Settings: {settings}.

## How good it is

{judged}

| figure | value |
|---|---|
{figures}

accuracy counts any gold mention as right, accuracy_inclusive also any word of the same form,
accuracy_nearest the nearest mention alone; reference and implicit are accuracy on the examples
whose gold is a word, a class; binary asks only which of the two it is.

## Where it fails

{fails}
"""


def card_of(
    name: str,
    at: str,
    trainer: Trainer,
    metrics: Mapping[str, object],
    notes: Sequence[str],
) -> str:
    """The card, in Markdown; no word out of the data is markup in it."""
    kinds = metrics.get("kinds")
    told = kinds if isinstance(kinds, dict) else {}
    settings = trainer.settings
    return CARD.format(
        name=name,
        at=at,
        both="It also says whether the noun is missing at all. " if _both(settings) else "",
        what=WHAT.get(trainer.recipe, ""),
        examples=counted(_whole(metrics.get("examples")), "example"),
        passages=counted(_whole(metrics.get("passages")), "passage"),
        kinds=", ".join(f"{kind} {count:,}" for kind, count in told.items()) or "none",
        more="".join(f"- {line}\n" for line in _more(metrics, notes)),
        settings=", ".join(f"{key} {_said(value)}" for key, value in settings.items()),
        judged=_judged(metrics),
        figures="\n".join(_figures(metrics)) or "| none | |",
        fails="\n".join(_fails(metrics)),
    )


def _both(settings: Mapping[str, object]) -> bool:
    return settings.get("task") == BOTH


def _more(metrics: Mapping[str, object], notes: Sequence[str]) -> Iterator[str]:
    numbers = metrics.get("numbers")
    if isinstance(numbers, int):
        nfh = _whole(metrics.get("numbers_nfh"))
        told = counted(numbers, "labelled number")
        yield f"For identification: {told}, {nfh:,} of them fused heads."
    left_out = metrics.get("left_out")
    if isinstance(left_out, dict):
        for reason, count in sorted(left_out.items()):
            yield f"Left out: {count:,} ({plain(str(reason), None)})."
    for note in notes:
        yield plain(f"{note[:1].upper()}{note[1:].rstrip('.')}.", None) if note else ""


def _judged(metrics: Mapping[str, object]) -> str:
    on = plain(str(metrics.get("judged_on")), None)
    count = metrics.get("dev_examples")
    if isinstance(count, int):
        return f"On {counted(count, 'example')} that it did not learn from ({on})."
    return (
        f"In {_whole(metrics.get('folds'))} folds, each passage by a model that had not seen "
        "it; the model itself is fitted on all of them."
    )


def _figures(metrics: Mapping[str, object]) -> Iterator[str]:
    names = [*FIGURES, "precision", "recall", "f1"]
    for name in names:
        value = metrics.get(name)
        if isinstance(value, float | int):
            of = "identification: " if name in ("precision", "recall", "f1") else ""
            yield f"| {of}{name} | {value:.4f} |"


def _fails(metrics: Mapping[str, object]) -> Iterator[str]:
    if "dev_examples" not in metrics:
        yield "Nothing was kept out to tell by; `nfh-tui evaluate resolution` does."
        return
    tables = (
        ("kind", ("kind", "n", "right"), metrics.get("by_kind")),
        ("mistake", ("mistake", "n"), metrics.get("mistakes")),
        ("anchor", ("anchor", "n", "wrong"), metrics.get("worst")),
    )
    for _, keys, rows in tables:
        yield from _table(keys, rows if isinstance(rows, list) else [])
        yield ""


def _table(keys: Sequence[str], rows: Iterable[object]) -> Iterator[str]:
    yield f"| {' | '.join(keys)} |"
    yield "|---" * len(keys) + "|"
    for row in rows:
        if isinstance(row, dict):
            cells = (row.get(key) for key in keys)
            said = (f"{one:,}" if isinstance(one, int) else plain(str(one)) for one in cells)
            yield f"| {' | '.join(said)} |"


def _said(value: object) -> str:
    if isinstance(value, list | tuple):
        return "+".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else plain(str(value), None)


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
