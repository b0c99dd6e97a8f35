"""What the arguments of a job may be: a row of the database may hold anything.

Bodies of jobs read them leniently. This is looked at before a body begins, so that what was
damaged, or written by another program, is told, and not done in another way than was asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_db.values import UNREADABLE
from nfh_models.errors import ModelsError
from nfh_tui.jobs.kinds import CHECK, EVALUATE, IMPORT, PREDICT, TRAIN

if TYPE_CHECKING:
    from nfh_db.jobs import Job

IDENTIFICATION, RESOLUTION, BOTH = "identification", "resolution", "both"

SHOWN = 60
"""Characters of a value that are told."""


class ArgumentsError(ModelsError):
    """A job that asks for nothing that can be done; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Form:
    """What an argument may be. words: the same for a person. needed: it may not be missing."""

    fits: Callable[[object], bool]
    words: str
    needed: bool = False


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


TEXT, WANTED_TEXT = Form(_is_text, "a text"), Form(_is_text, "a text", needed=True)
TEXTS, WANTED_TEXTS = Form(_are_texts, "texts"), Form(_are_texts, "texts", needed=True)
FLAG, COUNT = Form(_is_flag, "true or false"), Form(_is_count, "a whole number")

FORMS: Mapping[str, Mapping[str, Form]] = {
    TRAIN: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "query": TEXT,
        "split": TEXT,
        "parser": TEXT,
        "promote": FLAG,
        "scheduler": TEXT,
    },
    PREDICT: {
        "query": WANTED_TEXT,
        "model": TEXT,
        "parser": TEXT,
        "force": FLAG,
        "scheduler": TEXT,
    },
    CHECK: {
        "recipe": WANTED_TEXT,
        "words": TEXTS,
        "query": TEXT,
        "folds": COUNT,
        "parser": TEXT,
    },
    IMPORT: {
        "files": WANTED_TEXTS,
        "format": TEXT,
        "split": TEXT,
        "annotator": TEXT,
        "replace_gold": FLAG,
        "newer_answers": FLAG,
    },
    EVALUATE: {
        "task": WANTED_TEXT,
        "models": TEXTS,
        "query": TEXT,
        "split": TEXT,
        "report": TEXT,
        "file": TEXT,
        "format": TEXT,
        "parser": TEXT,
        "train": TEXT,
        "folds": COUNT,
        "sets": TEXTS,
        "errors": COUNT,
        "resamples": COUNT,
        "seed": COUNT,
        "several_heads": FLAG,
        "ablation": FLAG,
        "oracle": FLAG,
        "baselines": FLAG,
        "blind": FLAG,
    },
}
"""By a kind's name and the argument's."""

TASKS: Mapping[str, tuple[str, ...]] = {
    TRAIN: (IDENTIFICATION, RESOLUTION, BOTH),
    CHECK: (IDENTIFICATION, RESOLUTION),
    EVALUATE: (IDENTIFICATION, RESOLUTION),
}


def check_arguments(job: "Job") -> None:
    """Raise ArgumentsError unless a job's arguments are of its kind's form."""
    given = job.arguments
    if given is UNREADABLE:
        raise ArgumentsError(
            "its arguments cannot be read: its row is damaged. Give the command that asked for "
            "it again"
        )
    for key, form in FORMS.get(job.kind, {}).items():
        value = given.get(key)
        if value is None and form.needed:
            raise ArgumentsError(f"its arguments do not say “{key}”{_again()}")
        if value is not None and not form.fits(value):
            raise ArgumentsError(
                f"its argument “{key}” is {_short(value)}, wanted {form.words}{_again()}"
            )
    wanted = TASKS.get(job.kind)
    task = given.get("task") if job.kind == EVALUATE else job.task
    if wanted is not None and task not in wanted:
        raise ArgumentsError(f"{_short(task)} is no task: wanted {' or '.join(wanted)}")


def _again() -> str:
    return ": give the command that asked for it again"


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
