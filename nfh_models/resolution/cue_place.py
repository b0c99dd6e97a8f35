"""A number among its neighbours, as the cues look at it: words in lower case, tags, value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from nfh_models.text.lexicon import Part, Shape, parts_of

QUESTION_REACH = 30
"""Words back in which a question may still wait for its answer."""

NEAR = 12
"""Words on either side in which a word of money, of age or of the clock speaks for a number."""

_SENTENCE_ENDS = frozenset(".!?\u2026")
_OPENERS = frozenset(
    ", - -- ... \" ' well oh uh um about around just maybe only say like".split()
)


class Scene:
    """Words in a row, one or more turns of them, ready to be asked about many numbers.

    words: as they stand. tags: a universal part of speech each. turns: the number of its turn
    for each word; None where all are one turn. Making one takes time in proportion to the
    words; asking it does not.
    """

    def __init__(
        self, words: Sequence[str], tags: Sequence[str], turns: Sequence[int] | None = None
    ) -> None:
        if len(words) != len(tags) or (turns is not None and len(turns) != len(words)):
            raise ValueError(f"{len(tags)} tags for {len(words)} words")
        self.words = words
        self.low = [word.lower() for word in words]
        self.tags = tags
        self.turns = turns

    def __len__(self) -> int:
        return len(self.words)

    def word(self, place: int) -> str:
        """The word at a place in lower case; "" outside the scene."""
        return self.low[place] if 0 <= place < len(self.low) else ""

    def tag(self, place: int) -> str:
        """The tag at a place; "" outside the scene."""
        return self.tags[place] if 0 <= place < len(self.tags) else ""

    def same_turn(self, left: int, right: int) -> bool:
        """Whether two places inside the scene belong to one turn."""
        return self.turns is None or self.turns[left] == self.turns[right]


@dataclass(frozen=True)
class Place:
    """A number in a scene: tokens [start, end)."""

    scene: Scene
    start: int
    end: int

    def before(self, back: int = 1) -> str:
        """The word `back` places before the number, in its turn; "" if there is none."""
        place = self.start - back
        if place < 0 or not self.scene.same_turn(place, self.start):
            return ""
        return self.scene.low[place]

    def after(self, on: int = 1) -> str:
        """The word `on` places behind the number, in its turn; "" if there is none."""
        place = self.end - 1 + on
        if place >= len(self.scene) or not self.scene.same_turn(place, self.end - 1):
            return ""
        return self.scene.low[place]

    def tag_after(self, on: int = 1) -> str:
        """The tag `on` places behind the number, in its turn; "" if there is none."""
        return self.scene.tags[self.end - 1 + on] if self.after(on) else ""

    def tag_before(self, back: int = 1) -> str:
        """The tag `back` places before the number, in its turn; "" if there is none."""
        return self.scene.tags[self.start - back] if self.before(back) else ""

    def words_before(self, reach: int) -> list[str]:
        """Up to `reach` words before the number, in its sentence and turn, nearest last."""
        found = []
        for back in range(1, reach + 1):
            word = self.before(back)
            if not word or word in _SENTENCE_ENDS:
                break
            found.append(word)
        return found[::-1]

    def words_after(self, reach: int) -> list[str]:
        """Up to `reach` words behind the number, in its turn."""
        found = []
        for on in range(1, reach + 1):
            word = self.after(on)
            if not word:
                break
            found.append(word)
        return found

    def near(self, words: frozenset[str], on: int = NEAR) -> bool:
        """Whether one of some words stands within NEAR before or `on` behind, in any turn."""
        low = self.scene.low
        before = low[max(0, self.start - NEAR) : self.start]
        return not (
            words.isdisjoint(before) and words.isdisjoint(low[self.end : self.end + on])
        )

    def within(self, least: float, most: float) -> bool:
        """Whether the number has a value from `least` to `most`, both included."""
        return self.value is not None and least <= self.value <= most

    def asked_at(self, first: str, second: str) -> Iterator[int]:
        """Where two words stand in a row before the number, nearest first, in any turn."""
        low = self.scene.low
        for at in range(self.start - 2, max(-1, self.start - QUESTION_REACH), -1):
            if low[at] == first and low[at + 1] == second:
                yield at

    def asked(self, first: str, second: str) -> bool:
        """Whether a question with these two words in a row stands before."""
        return any(True for _ in self.asked_at(first, second))

    def question(self) -> list[str]:
        """The words of the question that the number answers as its first word; else none."""
        low = self.scene.low
        at = self.start - 1
        while at >= 0 and self.start - at < 5 and low[at] in _OPENERS:
            at -= 1
        if at < 0 or low[at] != "?":
            return []
        begin = at
        while (
            begin > 0 and at - begin < QUESTION_REACH and low[begin - 1] not in _SENTENCE_ENDS
        ):
            begin -= 1
        return low[begin:at]

    @cached_property
    def words(self) -> list[str]:
        """The number's own words in lower case."""
        return self.scene.low[self.start : self.end]

    @cached_property
    def parts(self) -> list[Part]:
        """What the number's words say, one by one."""
        return [part for word in self.words for part in parts_of(word)]

    @cached_property
    def value(self) -> float | None:
        """The number's value; None for what is no single one ("seven thirty", "911-4")."""
        return value_of(self.parts)

    @property
    def figures(self) -> str:
        """The digits of a number that is one token of nothing else; else ""."""
        return self.words[0] if len(self.words) == 1 and self.words[0].isdecimal() else ""

    @property
    def is_one(self) -> bool:
        """Whether it is the word *one*, which is mostly a pronoun."""
        return self.words == ["one"]


def value_of(parts: Sequence[Part]) -> float | None:
    """The value of the parts of one number in a row: 205.0 for two, hundred, and, five.

    None where they make no single number: "seven thirty", codes, nothing at all.
    """
    total = current = 0.0
    room = float("inf")
    for part in parts:
        if part.shape is Shape.AND:
            continue
        if part.shape in (Shape.CODE, Shape.POINT):
            return None
        if part.shape is Shape.SCALE:
            total += max(current, 1.0) * part.value
            current, room = 0.0, part.value
        elif part.shape is Shape.HUNDRED:
            current = max(current, 1.0) * part.value
            room = 100.0
        elif part.value < room:
            current += part.value
            room = 10.0 if part.shape is Shape.TENS else 1.0
            if part.shape is Shape.FRACTION:
                room = 0.0
        else:
            return None
    return total + current if parts else None
