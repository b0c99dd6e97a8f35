"""An evaluation of resolution taken apart: by class, by word, by distance, by what went wrong.

The same rows stand on a terminal and on a page.
"""

from collections.abc import Iterator, Sequence

from nfh_db.formats.wording import visible
from nfh_models.resolution.scoring import (
    REF_WRONG,
    ClassPart,
    Evaluation,
    Figures,
    Mistake,
    Part,
)
from nfh_tui.cli.evaluate_resolution_rows import Both, Row, Table, short
from nfh_tui.cli.evaluate_words import percent
from nfh_tui.resolution_trial import Entrant

WORDS = 15
"""Anchor words that the table names; --json has all that occur five times."""


def breakdowns(pairs: Both) -> Iterator[Table]:
    """By class, by the anchor's words and shape, and by where the heads are."""
    yield from _classes(pairs)
    yield from _by_something(pairs)


def _classes(pairs: Both) -> Iterator[Table]:
    columns = ("gold", "n:", "answered:", "precision:", "recall:", "F1:", "right:")
    for entrant, one in pairs:
        name = f" of {entrant.name}" if len(pairs) > 1 else ""
        yield Table(
            f"By class{name}: percent",
            columns,
            tuple(_class(part) for part in one.by_class if part.n or part.predicted),
            (),
            ("precision, recall, F1: any word is REFERENCE; right: it is a gold head, too",),
        )


def _class(one: ClassPart) -> tuple[str, ...]:
    values = (one.precision, one.recall, one.f1, one.accuracy)
    return (one.label, f"{one.n:,}", f"{one.predicted:,}", *map(percent, values))


def _by_something(pairs: Both) -> Iterator[Table]:
    frequent = [part.name for part in pairs[0][1].by_word[:WORDS]]
    kinds: tuple[tuple[str, str, str], ...] = (
        ("By the number's words, the most frequent", "number", "by_word"),
        ("By what the number is written with", "written with", "by_shape"),
        ("References by distance to the nearest head", "distance", "by_distance"),
        ("References by turns to the nearest head", "turns", "by_turns"),
        ("References by the side of their heads", "heads", "by_side"),
    )
    for title, column, key in kinds:
        found = [(name, getattr(one, key)) for name, one in pairs]
        if key == "by_word":
            found = [
                (name, [part for part in parts if part.name in frequent])
                for name, parts in found
            ]
        if found[0][1]:
            yield _breakdown(title, column, found)


def _breakdown(
    title: str, column: str, found: Sequence[tuple[Entrant, Sequence[Part]]]
) -> Table:
    first = found[0][1]
    if len(found) == 1:
        return Table(
            f"{title}: percent",
            (column, "n:", "accuracy:", "inclusive:", "nearest:"),
            tuple(
                (visible(part.name, 24), f"{part.figures.n:,}", *_three(part.figures))
                for part in first
            ),
        )
    columns = (column, "n:", *(f"{short(entrant.name)}:" for entrant, _ in found))
    values = [{part.name: part.figures.accuracy for part in parts} for _, parts in found]
    return Table(
        f"{title}: accuracy in percent",
        columns,
        tuple(
            (
                visible(part.name, 24),
                f"{part.figures.n:,}",
                *(percent(one.get(part.name)) for one in values),
            )
            for part in first
        ),
    )


def _three(one: Figures) -> tuple[str, str, str]:
    return (
        percent(one.accuracy),
        percent(one.accuracy_inclusive),
        percent(one.accuracy_nearest),
    )


def confusion(one: Evaluation) -> tuple[Row, list[Row]]:
    """The columns and rows of a confusion matrix that fits a terminal."""
    short_names = {"CURRENCY": "CURR.", "REFERENCE": "REF.", REF_WRONG: "WRONG"}
    silent = any(one.confusion.unanswered)
    columns = [f"{short_names.get(name, name)}:" for name in one.confusion.columns]
    rows = [
        (label, *(f"{cell:,}" for cell in cells), *([f"{none:,}"] if silent else []))
        for label, cells, none in zip(
            one.confusion.labels,
            one.confusion.rows,
            one.confusion.unanswered,
            strict=True,
        )
    ]
    return ("gold", *columns, *(["none:"] if silent else [])), rows


def mistakes(pairs: Both) -> Table:
    """How many wrong answers there are of each kind, an entrant a column."""
    counts = [{one.mistake: one.n for one in found.by_mistake} for _, found in pairs]
    kinds = [kind for kind in Mistake if any(kind in some for some in counts)]
    kinds.sort(key=lambda kind: -counts[0].get(kind, 0))
    if len(pairs) == 1:
        columns: tuple[str, ...] = ("", "wrong:", "share:")
        total = sum(counts[0].values())
        rows: list[Row] = [
            (kind.value, f"{counts[0][kind]:,}", percent(counts[0][kind] / total))
            for kind in kinds
        ]
    else:
        columns = ("", *(f"{short(entrant.name)}:" for entrant, _ in pairs))
        rows = [(kind.value, *(f"{some.get(kind, 0):,}" for some in counts)) for kind in kinds]
    return Table("Wrong answers by kind", columns, tuple(rows))
