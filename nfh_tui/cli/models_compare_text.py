"""Two models item by item, for a person and as JSON."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, quoted, visible
from nfh_tui.cli.queueing import command
from nfh_tui.cli.retrain_text import WIDTH, percent, wrapped
from nfh_tui.jobs.judging_words import signed

if TYPE_CHECKING:
    from pathlib import Path

    from nfh_tui.comparing_models import Compared, Comparison, Difference, Figures

NAME = 12
AROUND = 36
"""Code points shown of the text before and behind a number."""

GROUPS = {
    "both": (True, True),
    "only_first": (True, False),
    "only_second": (False, True),
    "neither": (False, False),
}
"""Groups of items, and whether the first and the second model has those right."""


# --- JSON -----------------------------------------------------------------------------------


def as_json(found: "Comparison") -> dict[str, object]:
    """The comparison. difference: of the first figure, the first model's less the second's."""
    main = found.figures.differences[0]
    return {
        "task": found.task,
        "query": found.query.text,
        "first": {"id": found.first.id, "name": found.first.name},
        "second": {"id": found.second.id, "name": found.second.name},
        "n": found.figures.n,
        "passages": found.figures.passages,
        "missing": list(found.missing),
        "learnt": list(found.learnt),
        "saw_model": found.saw_model,
        **_difference_json(main),
        "figures": [_difference_json(one) for one in found.figures.differences],
        "unseen": None if found.unseen is None else _figures_json(found.unseen),
        "counts": {name: len(found.of(right)) for name, right in GROUPS.items()},
        "queries": {name: found.query_of(right) or None for name, right in GROUPS.items()},
        "items": [_item_json(one) for one in found.items if one.right[0] != one.right[1]],
    }


def _figures_json(figures: "Figures") -> Mapping[str, object]:
    return {
        "n": figures.n,
        "passages": figures.passages,
        "figures": [_difference_json(one) for one in figures.differences],
    }


def _difference_json(one: "Difference") -> dict[str, object]:
    found = one.difference
    return {
        "figure": one.figure,
        "first_value": one.first,
        "second_value": one.second,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "p": one.p,
        "why": found.why,
    }


def _item_json(one: "Compared") -> dict[str, object]:
    return {
        "id": one.anchor_id,
        "document": one.ballot.document,
        "gold": one.gold,
        "first": one.first,
        "second": one.second,
        "right": list(one.right),
        "seen": one.seen,
    }


# --- for a person ---------------------------------------------------------------------------


def lines(found: "Comparison", items: int, db: "Path | None" = None) -> Iterator[str]:
    """The comparison, and some of the items that one model alone has right.

    db: the database, where it was named.
    """
    first, second = (_short(model.name) for model in (found.first, found.second))
    if not found.items:
        yield "Both have answered none of the items with gold that were asked for."
        yield from _missing(found, db)
        return
    of = counted(found.figures.passages, "passage")
    yield f"{found.task.capitalize()}, {counted(found.figures.n, 'item')} in {of}:"
    yield from _table(found.figures, first, second)
    if found.unseen is not None:
        yield ""
        yield f"On {counted(found.unseen.n, 'item')} of passages that neither learnt from:"
        yield from _table(found.unseen, first, second)
    yield ""
    yield from _groups(found, first, second, "" if db is None else f" --db {quoted(str(db))}")
    yield from _notes(found, db)
    for right in ((True, False), (False, True)):
        yield from _items(found, right, items)


def _table(figures: "Figures", first: str, second: str) -> Iterator[str]:
    yield f"  {'':18} {first:>{NAME}} {second:>{NAME}}   difference"
    for one in figures.differences:
        yield (
            f"  {one.figure:18} {percent(one.first):>{NAME}} {percent(one.second):>{NAME}}   "
            f"{_told(one)}"
        )


def _told(one: "Difference") -> str:
    found = one.difference
    if found.value is None:
        return ""
    told = signed(found.value)
    if found.low is not None and found.high is not None:
        told += f" [{signed(found.low)}, {signed(found.high)}]"
    return told if one.p is None else f"{told} p {one.p:.3f}"


def _groups(found: "Comparison", first: str, second: str, where: str) -> Iterator[str]:
    names = {
        "both": "both right",
        "only_first": f"only {first}",
        "only_second": f"only {second}",
        "neither": "neither",
    }
    for name, right in GROUPS.items():
        yield f"  {names[name]:22} {len(found.of(right)):>7,}"
        query = found.query_of(right)
        if query and found.of(right):
            yield f"      nfh-tui browse {quoted(query)}{where}"


def _notes(found: "Comparison", db: "Path | None") -> Iterator[str]:
    notes = [
        f"{_short(model.name)} learnt from the {'passage' if number == 1 else 'passages'} of "
        f"{number:,} of these items, and may do worse on others."
        for model, number in zip((found.first, found.second), found.learnt, strict=True)
        if number
    ]
    if found.saw_model:
        have = "has" if found.saw_model == 1 else "have"
        notes.append(
            f"{found.saw_model:,} {have} gold that was given with a model's answer in view, "
            "which favours that model."
        )
    if notes:
        yield ""
    for note in notes:
        yield from wrapped(note, "  ")
    if any(found.missing):
        yield ""
        yield from _missing(found, db)


def _missing(found: "Comparison", db: "Path | None") -> Iterator[str]:
    for model, number in zip((found.first, found.second), found.missing, strict=True):
        if number:
            how = (
                "--predict has it answer"
                if found.task == "resolution"
                else command(f"identify --model {model.id}", db)
            )
            yield from wrapped(
                f"{_short(model.name)} has not answered {counted(number, 'item')} with gold: "
                f"{how}.",
                "  ",
            )


def _items(found: "Comparison", right: tuple[bool, bool], most: int) -> Iterator[str]:
    # What neither learnt from says more of them.
    some = sorted(found.of(right), key=lambda one: one.seen)
    if not some or not most:
        return
    model = found.first if right[0] else found.second
    yield ""
    shown = "" if len(some) <= most else f", the first {most} of {len(some):,}"
    yield f"Only {_short(model.name)} is right{shown}:"
    for one in some[:most]:
        yield from _item(found, one)


def _item(found: "Comparison", one: "Compared") -> Iterator[str]:
    passage, anchor = one.ballot.passage, one.ballot.anchor
    start, end = passage.tokens[anchor.start].start, passage.tokens[anchor.end - 1].end
    number = visible(passage.text[start:end], AROUND)
    frame = f"  {one.anchor_id}  … [{number}] …"
    side = min(AROUND, max(0, WIDTH - len(frame)) // 2)
    before = _line(passage.text[:start][-AROUND:])
    before = before[max(0, len(before) - side) :]
    after = _line(passage.text[end:][:AROUND])[:side]
    yield f"  {one.anchor_id}  …{before} [{number}] {after}…"
    answers = ((found.first, one.first), (found.second, one.second))
    said = [f"gold {_words(one, one.gold)}"]
    if one.seen:
        said[0] += " (its passage was learnt from)"
    said += [f"{_short(model.name)} {_words(one, answer)}" for model, answer in answers]
    yield from wrapped("; ".join(said), "      ")


def _words(one: "Compared", said: str) -> str:
    """A class, or the words that stand at some tokens."""
    if not said[:1].isdigit():
        return said
    passage = one.ballot.passage
    places = [int(it) for it in said.split(",")]
    return ", ".join(
        f"“{visible(passage.word(it), AROUND)}”" for it in places if it < len(passage.tokens)
    )


def _line(text: str) -> str:
    return visible(" ".join(text.split()), 2 * AROUND)


def _short(name: str) -> str:
    return visible(name, NAME)
