"""How a file is read or written, where more than its path is to be said."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nfh_db.errors import FormatError
from nfh_db.formats.release import Mentions
from nfh_db.formats.wording import shown, visible

Span = tuple[int, int]
Tokenize = Callable[[str], Sequence[Span]]
Lemmatize = Callable[[Sequence[str]], Sequence[str]]

Offsets = Literal["codepoint", "utf16"]
"""The unit in which a file counts the characters of its texts."""

IGNORE = "ignore"
"""What a label or relation is mapped to that is to be left out, and counted."""

PARTS = ("labels", "relations", "layer")
"""The tables that a mapping file may hold."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """What a project's own names mean here: its name first, ours second.

    labels: of spans; ours are ANCHOR, HEAD, the kinds, and OTHER_ with a sort. relations: ours
    are HEAD, ADDED, REMOVED, SAME, AND, OR, UNSTATED. layer: names of types and features of
    an annotation scheme, by what they are here.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    layer: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_file(cls, path: Path) -> "LabelMap":
        """The mapping that a TOML file holds. Raises FormatError for anything else."""
        name = visible(str(path), limit=200)
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            reason = error.strerror or error
            raise FormatError(name, None, f"cannot be read: {reason}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise FormatError(name, None, f"is no TOML: {error}") from error
        for key, table in content.items():
            if key not in PARTS:
                wanted = f"one of the tables {', '.join(PARTS)}"
                raise FormatError(name, None, f"found {shown(key)}, wanted {wanted}")
            if not isinstance(table, dict) or not all(
                isinstance(value, str) for value in table.values()
            ):
                raise FormatError(name, None, f'[{key}]: wanted lines such as NUM = "ANCHOR"')
        return cls(**{key: dict(table) for key, table in content.items()})


def _no_tokenizer(text: str) -> Sequence[Span]:
    raise NotImplementedError("this text has no tokens, and nothing was given that makes them")


def _surfaces(words: Sequence[str]) -> Sequence[str]:
    return [word.casefold() for word in words]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read.

    tokenize: code points [start, end) of each token of a text; lemmatize: a lemma for each
    word of a passage, by which mentions of one noun are told; tokenizer: the name that tokens
    made so are stamped with. All are handed in, since this package has none.
    labels: what the file's own names mean. offsets: the unit of its offsets, None where the
    file itself tells or the format fixes it. columns: our name of a column to the file's.
    pause: seconds of silence that end a scene of subtitles, None for the format's own rule.
    encoding: of the file's text, None for UTF-8. annotator: whose answers those are that the
    file says of nobody; None where they are gold.
    """

    tokenize: Tokenize = _no_tokenizer
    lemmatize: Lemmatize = _surfaces
    tokenizer: Callable[[], str] = str
    labels: LabelMap = field(default_factory=LabelMap)
    offsets: Offsets | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    pause: float | None = None
    encoding: str | None = None
    annotator: str | None = None


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file is written. mentions: which mentions of a head an `nfh` row lists.

    labels: a project's own names in place of ours.
    """

    mentions: Mentions = "all"
    labels: LabelMap = field(default_factory=LabelMap)
