"""A passage: text, tokens by offset, and the turns they belong to; and the ids of guideline
rules that decisions are tagged with.
"""

import hashlib
import json
import re
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property


class PassageError(ValueError):
    """A passage or an anchor that does not fit its own text."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: code points [start, end) of the passage's text, and its lemma."""

    start: int
    end: int
    lemma: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Tokens [start, end) said by one speaker.

    number: the source's own turn number (gaps are possible: rank turns, do not subtract).
    speaker: None where the source names nobody. begin, until: when it is said, in
    milliseconds from the start of the recording, where the source tells; what is said when is
    no part of which passage it is.
    """

    number: int
    speaker: str | None
    start: int
    end: int
    begin: int | None = field(default=None, compare=False)
    until: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Passage:
    """A stretch of dialog.

    text: as it came. tokens: in order, not overlapping, not empty.
    turns: cover all tokens in order, none empty, numbers non-decreasing.
    """

    text: str
    tokens: tuple[Token, ...]
    turns: tuple[Turn, ...]

    def __post_init__(self) -> None:
        self._check_tokens()
        self._check_turns()

    def _check_tokens(self) -> None:
        last = 0
        size = len(self.text)
        for index, token in enumerate(self.tokens):
            if not last <= token.start < token.end <= size:
                raise PassageError(
                    f"token {index} has offsets {token.start} to {token.end}, but must lie "
                    f"between {last} and {size} and hold at least one character"
                )
            last = token.end

    def _check_turns(self) -> None:
        place = 0
        number: int | None = None
        for index, turn in enumerate(self.turns):
            if turn.start != place or turn.end <= turn.start:
                raise PassageError(
                    f"turn {index} holds tokens {turn.start} to {turn.end}, "
                    f"but must start at token {place} and hold at least one"
                )
            if number is not None and turn.number < number:
                raise PassageError(
                    f"turn {index} has number {turn.number} after number {number}: "
                    "turn numbers may not fall"
                )
            place, number = turn.end, turn.number
        if place != len(self.tokens):
            raise PassageError(f"turns cover {place} of {len(self.tokens)} tokens")

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of text, offsets and turns: what makes two passages the same."""
        return passage_digest(self.text, self.offsets, self.turns)

    @cached_property
    def offsets(self) -> bytes:
        """Start and end of each token, in code points, as little-endian uint32 pairs."""
        packed = array("I", bytes(8 * len(self.tokens)))
        packed[::2] = array("I", [token.start for token in self.tokens])
        packed[1::2] = array("I", [token.end for token in self.tokens])
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()

    def word(self, index: int) -> str:
        """The text of token `index`."""
        token = self.tokens[index]
        return self.text[token.start : token.end]

    def words(self, start: int, end: int) -> str:
        """The text from the first to the last of tokens [start, end), as it stands."""
        if end <= start:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def turn_of(self, index: int) -> int:
        """The rank (not the number) of the turn that holds token `index`."""
        low, high = 0, len(self.turns) - 1
        while low < high:
            middle = (low + high) // 2
            if self.turns[middle].end <= index:
                low = middle + 1
            else:
                high = middle
        return low


@dataclass(frozen=True, slots=True)
class Anchor:
    """A number in a passage: tokens [start, end)."""

    start: int
    end: int

    def check(self, passage: Passage) -> None:
        """Raise PassageError unless the span is one or more tokens of `passage`."""
        if not 0 <= self.start < self.end <= len(passage.tokens):
            raise PassageError(
                f"anchor [{self.start}, {self.end}) is outside a passage "
                f"of {len(passage.tokens)} tokens"
            )


_spell = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""Made once: every passage of an import is hashed."""


def passage_digest(text: str, offsets: bytes, turns: Sequence[Turn]) -> str:
    """SHA-256 (hex) over text, packed offsets and turns; lemmas stay out, they may improve.

    Hashed are the text's length in UTF-8 bytes and a colon, the text in UTF-8, the offsets
    as `Passage.offsets` has them, and the turns as JSON, [number, speaker, start, end] each.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    spelled = _spell([(turn.number, turn.speaker, turn.start, turn.end) for turn in turns])
    hashed = hashlib.sha256(b"%d:" % len(encoded))
    hashed.update(encoded)
    hashed.update(offsets)
    hashed.update(spelled.encode("ascii"))
    return hashed.hexdigest()


def anchor_id(digest: str, anchor: Anchor) -> str:
    """The public id of an anchor: 32 hex digits from the passage's digest and the span."""
    content = f"{digest}:{anchor.start}:{anchor.end}"
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:32]


_ID = re.compile(r"[Rr]?([1-9][0-9]{0,2})")


def rule_id(tag: str) -> str:
    """The id of the rule that a tag names: "R12" for "R12", "r12" and "12".

    Of a tag that is no such id, as another tool may have written it, the tag itself.
    """
    found = _ID.fullmatch(tag.strip())
    return f"R{found[1]}" if found else tag


def tag_forms(tag: str) -> tuple[str, ...]:
    """Every way in which answers may be tagged with the rule of `tag`, its id first."""
    id_ = rule_id(tag)
    found = _ID.fullmatch(id_)
    return (id_, id_.lower(), found[1]) if found else (id_,)


def rule_words(tag: str) -> str:
    """A tag as it is named in a sentence: "rule R12"."""
    return f"rule {rule_id(tag)}"
