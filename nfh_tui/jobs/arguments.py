"""What the arguments of a job may be: a row of the database may hold anything.

Bodies of jobs read them leniently. This is looked at before a body begins, so that what was
damaged, or written by another program, is told, and not done in another way than was asked.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.values import UNREADABLE
from nfh_models.errors import ModelsError
from nfh_tui.jobs.kinds import CHECK, EVALUATE, IMPORT, PREDICT, TRAIN
from nfh_tui.jobs.words import PATHS, text_of, texts_of

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

READS, WRITES = "reads", "writes"

FILES: Mapping[str, str] = {"files": READS, "file": READS, "train": READS, "report": WRITES}
"""Arguments that are paths, whatever they hold, with what is done there."""

NAMES_OR_PATHS = ("models", "words", "sets", "parser")
"""Arguments that may hold a path, or a name of something else."""


def job_paths(job: "Job") -> Iterator[tuple[str, str]]:
    """The paths that a job was given: what is done there, "reads" or "writes", and the path."""
    for key, does in FILES.items():
        for path in filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key))):
            yield does, path
    for key in NAMES_OR_PATHS:
        words = filter(None, (text_of(job.arguments, key), *texts_of(job.arguments, key)))
        for path in map(_value, words) if key != "models" else words:
            if _is_path(path):
                yield READS, path


def check_arguments(job: "Job") -> None:
    """Raise ArgumentsError unless a job's arguments are of its kind's form, and each path in
    them leads where it led when it was given."""
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
    for does, path in job_paths(job):
        if not Path(path).is_absolute() or os.path.realpath(path) != path:
            raise ArgumentsError(
                f"it {does} {_short(path)}, which is no whole path, or leads elsewhere than "
                f"when it was given{_again()}"
            )


def _value(word: str) -> str:
    """What of a setting, "base=FOLDER", or of a parser, "stanza:FOLDER", may be a path."""
    key, equals, value = word.partition("=")
    if equals:
        return value if key in PATHS else ""
    return word.partition(":")[2]


def _is_path(word: str) -> bool:
    """Whether a word is a path, and no name: names of models may have a slash in them."""
    path = Path(word)
    return path.is_absolute() or ".." in path.parts or word.startswith(("./", "~"))


def _again() -> str:
    return ": give the command that asked for it again"


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
