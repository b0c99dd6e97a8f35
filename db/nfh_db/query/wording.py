"""Words for refusals: what was found, shown safely, and what was perhaps meant."""

from collections.abc import Sequence
from difflib import get_close_matches

LONGEST_SHOWN = 40
"""Code points of the person's own text that a message repeats."""

CLOSE_ENOUGH = 0.6


def shown(text: str) -> str:
    """`text` as a message may repeat it: cut to size, control characters as pictures."""
    cut = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
    return "".join(_picture(character) for character in cut)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return character if character.isprintable() else "\ufffd"


def one_of(words: Sequence[str], last: str = "or") -> str:
    """The words as a sentence lists them: "a, b or c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def meant(found: str, allowed: Sequence[str]) -> str | None:
    """ "did you mean …?" with the closest of the allowed words, None where none is close."""
    by_fold = {word.casefold(): word for word in allowed}
    close = get_close_matches(found.casefold(), by_fold, n=2, cutoff=CLOSE_ENOUGH)
    if not close:
        return None
    return f"did you mean {one_of([by_fold[word] for word in close])}?"
