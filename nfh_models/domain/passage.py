"""Passages: text, tokens by offset, and turns; anchors; and the ids of guideline rules that
answers are tagged with.
"""

import hashlib
import json
import re
import sys
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter


class PassageError(ValueError):
    """A passage that contradicts its text, or an anchor outside its passage."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token: code points [start, end) of the passage's text, and its lemma."""

    start: int
    end: int
    lemma: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Tokens [start, end) spoken by one speaker."""

    number: int
    """The source's own turn number. Gaps are possible: compare ranks, do not subtract
    numbers.
    """
    speaker: str | None
    """None where the source names none."""
    start: int
    end: int
    begin: int | None = field(default=None, compare=False)
    until: int | None = field(default=None, compare=False)
    """`begin` and `until` are milliseconds from the start of the recording, where the source
    has times. They do not take part in comparisons of passages.
    """


@dataclass(frozen=True)
class Passage:
    """A stretch of dialog."""

    text: str
    """As it came."""
    tokens: tuple[Token, ...]
    """In order, not empty, not overlapping."""
    turns: tuple[Turn, ...]
    """They cover all tokens in order; none is empty; numbers do not decrease."""

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
        """SHA-256 (hex) of text, offsets and turns: the identity of a passage."""
        return passage_digest(self.text, self.offsets, self.turns)

    @cached_property
    def words_digest(self) -> int:
        """The digest of its words alone, as in `words_digest`."""
        return words_digest(self.text, self.offsets)

    @cached_property
    def offsets(self) -> bytes:
        """Start and end of each token, in code points, as little-endian uint32 pairs."""
        packed = array("I", bytes(8 * len(self.tokens)))
        packed[::2] = array("I", [token.start for token in self.tokens])
        packed[1::2] = array("I", [token.end for token in self.tokens])
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        return tuple(token.lemma for token in self.tokens)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The tokens of each lemma."""
        found = defaultdict[str, list[int]](list)
        for index, token in enumerate(self.tokens):
            found[token.lemma].append(index)
        return dict(found)

    @cached_property
    def forms(self) -> Mapping[str, Sequence[str]]:
        """The words of each lemma, as they are written, each once."""
        found = defaultdict[str, dict[str, None]](dict)
        for word, at in self.spellings.items():
            for index in at:
                found[self.tokens[index].lemma][word] = None
        return {lemma: tuple(words) for lemma, words in found.items()}

    @cached_property
    def speakers_words(self) -> frozenset[str]:
        """The words of the speakers' names."""
        return frozenset(word for turn in self.turns for word in (turn.speaker or "").split())

    @cached_property
    def spellings(self) -> Mapping[str, Sequence[int]]:
        """The tokens of each word, as it is written."""
        found = defaultdict[str, list[int]](list)
        for index, token in enumerate(self.tokens):
            found[self.text[token.start : token.end]].append(index)
        return dict(found)

    def word(self, index: int) -> str:
        token = self.tokens[index]
        return self.text[token.start : token.end]

    def words(self, start: int, end: int) -> str:
        """The text from the first to the last of tokens [start, end)."""
        if end <= start:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def code_points(self, span: "Anchor | Turn") -> tuple[int, int]:
        """The code points [start, end) of an anchor or a turn."""
        return self.tokens[span.start].start, self.tokens[span.end - 1].end

    def turn_of(self, index: int) -> int:
        """The rank (not the number) of the turn that holds token `index`."""
        return bisect_right(self.turns, index, hi=len(self.turns) - 1, key=attrgetter("end"))


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
"""Created once, since every passage of an import is hashed."""


def passage_digest(text: str, offsets: bytes, turns: Sequence[Turn]) -> str:
    """SHA-256 (hex) over text, packed offsets and turns; lemmas are left out, since they may
    improve.

    Hashed are the length of the text in UTF-8 bytes and a colon, the text in UTF-8, the offsets
    as in `Passage.offsets`, and the turns as JSON, each as [number, speaker, start, end].
    """
    encoded = text.encode("utf-8", "surrogatepass")
    spelled = _spell([(turn.number, turn.speaker, turn.start, turn.end) for turn in turns])
    hashed = hashlib.sha256(b"%d:" % len(encoded))
    hashed.update(encoded)
    hashed.update(offsets)
    hashed.update(spelled.encode("ascii"))
    return hashed.hexdigest()


def words_digest(text: str, offsets: bytes) -> int:
    """A number of 64 bits that equal sequences of words share, whatever stands between them.

    offsets: as in `Passage.offsets`.
    """
    places = array("I", offsets)
    if sys.byteorder == "big":
        places.byteswap()
    words = "\n".join(
        [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]
    )
    digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def anchor_id(digest: str, anchor: Anchor) -> str:
    """The public id of an anchor: 32 hex digits from the passage's digest and the span."""
    content = f"{digest}:{anchor.start}:{anchor.end}"
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:32]


_ID = re.compile(r"[Rr]?([1-9][0-9]{0,2})")


def rule_id(tag: str) -> str:
    """The id of the rule that a tag names: "R12" for "R12", "r12" and "12".

    Any other tag, as another tool may have written it, is returned as it is.
    """
    found = _ID.fullmatch(tag.strip())
    return f"R{found[1]}" if found else tag


def tag_forms(tag: str) -> tuple[str, ...]:
    """All spellings of a tag in answers, the id of the rule first."""
    id_ = rule_id(tag)
    found = _ID.fullmatch(id_)
    return (id_, id_.lower(), found[1]) if found else (id_,)


def rule_words(tag: str) -> str:
    """A tag as sentences name it: "rule R12"."""
    return f"rule {rule_id(tag)}"
