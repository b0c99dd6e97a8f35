"""Values from files as messages show them: short, and without terminal control characters."""

import errno
import json
import math
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator

SHOWN = 60
"""Code points of a value that a message shows at most."""

HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode general categories that are shown as escapes.

Controls, formats, surrogates, private use, unassigned, line and paragraph separators.
"""


def visible(text: str, limit: int = SHOWN) -> str:
    """Return `text` on one line, cut to `limit` code points, with control characters replaced.

    C0 controls and DEL become their control pictures (ESC becomes U+241B). Other controls,
    direction marks, lone surrogates and unassigned characters become backslash escapes. A cut
    text ends in an ellipsis.
    """
    cut = text[:limit]
    shown = cut if cut.isascii() and cut.isprintable() else "".join(map(_picture, cut))
    return shown + "…" if len(text) > limit else shown


def lines_visible(text: str) -> str:
    """Return `text` with control characters but line feed and tab replaced; see `visible`."""
    parts = re.split("([\n\t])", text)
    return "".join(part if part in ("\n", "\t") else visible(part, len(part)) for part in parts)


def quoted(word: str) -> str:
    """Return a word of a command, quoted for a shell, without control characters.

    A word with unprintable characters is written as $'…', which bash, zsh and ksh understand.
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
    if 0xDC80 <= code <= 0xDCFF:  # surrogateescape: a byte of a path that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\U{code:08x}"


def command_line(words: Iterable[str]) -> str:
    """Return the quoted words of a command, separated by spaces; see `quoted`."""
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
    """Return a JSON value as a message shows it: strings in quotes, long values cut."""
    if isinstance(value, str):
        return f'"{visible(value)}"'
    if isinstance(value, list):
        # A long list is cut before it is encoded: it may have millions of items.
        text = json.dumps(value[:SHOWN], ensure_ascii=False, default=_bare)
        return visible(text if len(value) <= SHOWN else text[:-1])
    if isinstance(value, dict):
        return "an object"
    return visible(json.dumps(value, ensure_ascii=False, default=_bare))


KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
"""Types of JSON as msgspec names them, in words."""

REASONS = (
    (
        r"^Expected `array` of (.*?)length (\d+)(?:, got (\d+))?",
        r"wanted a list of \1\2 values",
    ),
    (r"^Expected `(.+?)`, got `(.+?)`", r"found \2, wanted \1"),
    (r"^Object missing required field `(.+?)`", r'the key "\1" is missing'),
    (r"^Object contains unknown field `(.+?)`", r'the key "\1" is not known'),
    (r"^Invalid (?:enum )?value (.+?)(?= - at|$)", r"found \1, which is not allowed there"),
    (r"^(?:JSON|MessagePack data) is malformed: ", ""),
    (r"^Input data was truncated", "it ends too early"),
    (r"^(?:Extra data|trailing characters)", "it has text after its end"),
    (r"^Expecting property name enclosed in double quotes", "wanted a key in quotes"),
    (r"^Expecting (?:'(.)' delimiter|(value))", r"wanted \1\2"),
    (r"^(\w+)\.__init__\(\) got an unexpected keyword argument '(.+)'", r'\1 has no "\2"'),
    (r"^Error -\d+ while decompressing data: ", ""),
    (r"(?: starting at)?: line \d+ column \d+ \(char (\d+)\)$", r" (character \1)"),
    (r" - at `(?:key in )?\$?\.?(.*?)`$", r", at \1"),
)
"""Messages of libraries that read JSON, MessagePack and zip, and what refusals say instead."""

WRITE_REASONS = {
    errno.ENOSPC: "the disk is full; make room or name another folder",
    errno.EDQUOT: "the disk quota is used up; make room or name another folder",
    errno.EROFS: "the file system is read-only; name another folder",
    errno.EACCES: "permission denied; name a folder that you may write to",
    errno.EPERM: "permission denied; name a folder that you may write to",
    errno.ENOENT: "there is no such folder; make it first",
    errno.ENOTDIR: "there is no such folder; make it first",
    errno.EEXIST: "that name was taken just now; name another folder",
    errno.ENOTEMPTY: "that name was taken just now; name another folder",
}
"""Why a file or folder cannot be written, by the system's code."""


def write_reason(error: OSError) -> str:
    """Why a file or folder cannot be written, as a part of a sentence."""
    return WRITE_REASONS.get(error.errno or 0) or str(error.strerror or error)


def reason_of(error: BaseException) -> str:
    """What an error of a library says, as the end of a sentence on one line."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"{shown(error.args[0] if error.args else '')} is missing"
    if isinstance(error, UnicodeDecodeError):
        byte = error.object[error.start]
        return f"the byte 0x{byte:02X} at {error.start:,} is not {error.encoding.upper()}"
    said = (str(error) or "it cannot be read").splitlines()[0]
    for pattern, words in REASONS:
        said = re.sub(pattern, words, said)
    said = re.sub(r"(?<=found |anted )[a-z |]+(?=, |$)", _kinds, said)
    return visible(said[:1].lower() + said[1:] if said[1:2].islower() else said, 200)


def _kinds(types: "re.Match[str]") -> str:
    return " or ".join(KINDS.get(one, one) for one in types[0].split(" | "))


def toml_string(text: str) -> str:
    """Return `text` as a string of TOML on one line, without control characters."""
    signs = (
        f"\\{sign}" if sign in '"\\' else sign if sign.isprintable() else f"\\U{ord(sign):08x}"
        for sign in text
    )
    return f'"{"".join(signs)}"'


def _bare(value: object) -> float:  # noqa: ARG001
    """Encode the stand-in for a bare NaN; JSON values contain no other foreign type."""
    return math.nan


def counted(number: int, thing: str, plural: str | None = None) -> str:
    """Return the number with its noun: "1 row", "2,000 rows"."""
    return f"{number:,} {thing if number == 1 else plural or thing + 's'}"


def tallied(counts: Iterable[tuple[int, str, str]]) -> Iterator[str]:
    """Yield a sentence for each (count, noun, predicate) whose count is not 0."""
    return (f"{counted(count, thing)} {what}" for count, thing, what in counts if count)
