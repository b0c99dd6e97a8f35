"""How values found in files are shown in messages: short, and unable to steer a terminal."""

import json
import math
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator

SHOWN = 60
"""Code points of a value that a message shows."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str, limit: int = SHOWN) -> str:
    """`text` on one line, cut to `limit` code points, with nothing a terminal would obey.

    C0 controls and DEL become their pictures (ESC is U+241B); other controls, direction
    marks, lone surrogates and unassigned characters become backslash escapes.
    """
    cut = text[:limit]
    shown = cut if cut.isascii() and cut.isprintable() else "".join(map(_picture, cut))
    return shown + "…" if len(text) > limit else shown


def lines_visible(text: str) -> str:
    """`text` with nothing that a terminal would obey but line ends and tabs."""
    parts = re.split("([\n\t])", text)
    return "".join(part if part in ("\n", "\t") else visible(part, len(part)) for part in parts)


def quoted(word: str) -> str:
    """A word of a command as a person can type or copy it, with nothing a terminal would obey.

    What cannot be printed is in $'…', which bash, zsh and ksh read.
    """
    if word.isprintable():
        return shlex.quote(word)
    return f"$'{''.join(map(_escaped, word))}'"


def _escaped(character: str) -> str:
    code = ord(character)
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a path that is no UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\U{code:08x}"


def command_line(words: Iterable[str]) -> str:
    """Words of a command with spaces between; see `quoted`."""
    return " ".join(map(quoted, words))


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in HIDDEN_CATEGORIES:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


def shown(value: object) -> str:
    """A JSON value as a message shows it: strings in quotes, long values cut."""
    if isinstance(value, str):
        return f'"{visible(value)}"'
    if isinstance(value, list):
        # A long list is cut before it is written out: it may hold millions of items.
        text = json.dumps(value[:SHOWN], ensure_ascii=False, default=_bare)
        return visible(text if len(value) <= SHOWN else text[:-1])
    if isinstance(value, dict):
        return "an object"
    return visible(json.dumps(value, ensure_ascii=False, default=_bare))


def _bare(value: object) -> float:  # noqa: ARG001
    """What stands for a bare NaN is shown as one; JSON values have nothing else."""
    return math.nan


def counted(number: int, thing: str, plural: str | None = None) -> str:
    """The number with its noun: "1 row", "2,000 rows"."""
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def tallied(counts: Iterable[tuple[int, str, str]]) -> Iterator[str]:
    """A sentence for each count that is not 0: the count, its noun, and what is to be said."""
    return (f"{counted(count, thing)} {what}" for count, thing, what in counts if count)
