"""What the tables of an evaluation of resolution are, and what they are about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted, visible
from nfh_models.resolution.scoring import Evaluation
from nfh_tui.cli.evaluate_json import Asked
from nfh_tui.cli.evaluate_words import percent, where
from nfh_tui.resolution_trial import Entrant

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import Found

LONGEST_NAME = 22

Row = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its heading. A column whose name ends in ":" holds numbers.

    styles: of each row "", "lead" and "sub" (a row and the smaller one below it), or "paper"
    for one whose figures are the paper's. notes: sentences below it.
    """

    title: str
    columns: Row
    rows: tuple[Row, ...]
    styles: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Both = Sequence[tuple[Entrant, Evaluation]]


def both(found: "Found") -> Both:
    """Each entrant with what was found of it."""
    return [
        (judged.entrant, evaluation)
        for judged, evaluation in zip(found.trial.judged, found.evaluations, strict=True)
    ]


# --- what it is about -----------------------------------------------------------------------


def head(found: "Found", asked: Asked) -> tuple[str, list[str]]:
    """What was measured on, and what was left out of it."""
    trial = found.trial
    size = len(trial.examples)
    references = sum(bool(example.gold.heads) for example in trial.examples)
    place = where(trial.source, trial.format, asked)
    first = (
        f"Resolution on {counted(size, 'labelled number')} of {place}: "
        f"{counted(references, 'Reference')}, {size - references:,} of the six classes"
    )
    notes = [
        f"left out: {counted(count, 'anchor')}, {reason}"
        for reason, count in trial.left_out.items()
    ]
    if trial.unknown:
        notes.append(f"{counted(trial.unknown, 'label')} UNKNOWN, counted as OTHER")
    if trial.saw_model:
        share = percent(trial.saw_model / size)
        notes.append(
            f"{counted(trial.saw_model, 'label')} ({share} %) given with a model's answer in "
            "view, which may favour models; --blind leaves them out"
        )
    notes += list(_reservations(found, size, references))
    return first, notes


def _reservations(found: "Found", size: int, references: int) -> Iterator[str]:
    if not size:
        yield "there is nothing to measure: no anchor here has a label that names a head"
        return
    if not references:
        yield "no label is a Reference: nothing here says how well heads are found"
    elif references == size:
        yield "every label is a Reference: nothing here says how well classes are told"
    for entrant, one in both(found):
        if one.figures.answered_n < size:
            silent = size - one.figures.answered_n
            yield (
                f"{entrant.name} has nothing to say of {silent:,} of them; they count as "
                f"wrong. Of the others {percent(one.figures.accuracy_answered)} % are right"
            )
        if one.lost:
            yield (
                f"{entrant.name} cannot see or choose any gold head of "
                f"{counted(one.lost, 'Reference')}: too far off, or no candidate by its rules"
            )


def short(name: str) -> str:
    """A model's name, cut where it is too long for a column."""
    return visible(name, LONGEST_NAME)
