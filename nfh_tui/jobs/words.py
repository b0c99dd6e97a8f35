"""Arguments of jobs read back: a row of the database may hold anything."""

from collections.abc import Container, Mapping
from pathlib import Path

PATHS = ("base", "encoder", "vectors")
"""Settings whose value may be a file or a folder."""

ACTIVE_BASE = "base=active"


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
