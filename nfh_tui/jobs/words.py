"""Jobs in words, and their arguments read back: a row of the database may hold anything."""

from collections.abc import Container, Mapping
from pathlib import Path

from nfh_tui.jobs.kinds import CHECK, TRAIN

PATHS = ("base", "encoder", "vectors")
"""Settings whose value may be a file or a folder."""

ACTIVE_BASE = "base=active"

CALLED = {CHECK: "doubts"}
"""Kinds that are told by the name of the command which asks for them."""

SHORT = 12
"""Characters of a phase that is told beside other words."""


def job_title(kind: str, recipe: str, task: str) -> str:
    """What a job does, as every list and line names it: "train encoder", "doubts linear".

    Which models or files it is about, where it is about such, is not in it.
    """
    named = (recipe or task) if kind in (TRAIN, CHECK) else ""
    return " ".join(filter(None, (called(kind), named)))


def called(kind: str) -> str:
    """A kind of job, as people are told it."""
    return CALLED.get(kind, kind)


def phase_words(phase: str) -> str:
    """What a job is at, without the colon that stands before a count."""
    return phase.rstrip(": ")


def short_phase(phase: str) -> str:
    """The same in a word, or a few: "training", "part 2 of 5"."""
    words = phase_words(phase).partition(",")[0].partition(":")[0]
    return words if len(words) <= SHORT else words.partition(" ")[0][:SHORT]


def text_of(arguments: Mapping[str, object], key: str) -> str | None:
    """A text, None where there is none."""
    value = arguments.get(key)
    return value if isinstance(value, str) else None


def words_of(arguments: Mapping[str, object], key: str) -> str:
    """A text, "" where there is none."""
    return text_of(arguments, key) or ""


def texts_of(arguments: Mapping[str, object], key: str) -> tuple[str, ...]:
    """A list of texts, empty where there is none."""
    value = arguments.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def whole_path(word: str) -> str:
    """A file or folder that is there, by its whole path: a job may run in another folder.

    Other words, names of models among them, stay as they are.
    """
    path = Path(word)
    try:
        return str(path.resolve()) if word and path.exists() else word
    except OSError:
        return word


def whole_model(word: str, known: Container[str]) -> str:
    """A model's folder by its whole path; what is among the known words is none."""
    return word if word in known else whole_path(word)


def whole_setting(word: str) -> str:
    """A setting, "key=value", with a path in it made whole."""
    key, equals, value = word.partition("=")
    if not equals or key not in PATHS or word == ACTIVE_BASE:
        return word
    return f"{key}={whole_path(value)}"


def whole_parser(spec: str | None) -> str | None:
    """A parser's description, "stanza:FOLDER", with a path in it made whole."""
    if spec is None:
        return None
    kind, colon, name = spec.partition(":")
    return f"{kind}:{whole_path(name)}" if colon else spec
