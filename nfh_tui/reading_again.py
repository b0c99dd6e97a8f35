"""The sentence of a number read again with an answer put in: "a new one [pump]".

Pure: no screen. This is the test by which a missing noun is told: put behind the number, it
leaves the sentence as it was meant. What is put in stands in brackets. A Reference gives its
nouns in the number that the anchor asks for; a class gives words that can be read aloud; what
has no noun missing gives the sentence as it stands.
"""

import re
from dataclasses import dataclass
from typing import Protocol

from nfh_models.domain import Anchor, Answer, Head, Kind, Passage, Relation, Sort
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_tui.editing.state import live
from nfh_tui.editing.words import fold
from nfh_tui.inflecting import free_form, is_name, noun_form
from nfh_tui.number_words import whole_number
from nfh_tui.phrases import DETERMINERS
from nfh_tui.visible import visible, width_of

ENDS = frozenset({".", "!", "?", "…", "..."})
"""Words that end a sentence."""

MOST_WORDS = 4
"""Words of one noun that are put in; of a longer span only its head."""

SORTS = {Sort.NUMBER: "the number itself", Sort.CODE: "a code", Sort.MEASURE: "a measure"}
"""What is put in for an OTHER without a noun."""

NOT_A_COIN = frozenset({"cash", "grand", "mark", "money"})
"""Words of money that are seldom counted, or mean something else as well."""

_PARTED = re.compile(r"[ \n]+([.,!?;:…]|(?:n't|'(?:s|re|ll|d|m|ve))\b)")

JOINTS = {Relation.AND: " and ", Relation.OR: " or "}
"""Between several heads; "/" where their relation is not said."""


class Placed(Protocol):
    """A number in its passage: an item, or an earlier decision."""

    @property
    def passage(self) -> Passage:
        """The passage."""

    @property
    def anchor(self) -> Anchor:
        """The number's span."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence with an answer in it.

    before, after: the sentence around the number, clipped. put: what is read besides, in
    brackets, "" for nothing; leading: it stands before the number (a year), not behind.
    """

    before: str
    number: str
    put: str
    after: str
    leading: bool = False

    @property
    def text(self) -> str:
        """The whole of it as one text."""
        number = f"{self.number} [{self.put}]" if self.put else self.number
        if self.leading:
            number = f"[{self.put}] {self.number}"
        return " ".join(filter(None, [self.before, number])) + self.after


def reading(item: Placed, answer: Answer, room: int) -> Reading | None:
    """The anchor's sentence with an answer put in, in about `room` cells.

    None where nothing can be read: damaged words, and NFH, which gives no head.
    """
    if answer.kind in {Kind.BROKEN, Kind.NFH}:
        return None
    put = put_in(item, answer)
    anchor = whole_number(item.passage, item.anchor)
    number = _flat(item.passage.words(anchor.start, anchor.end))
    left = max(0, room - width_of(visible(f"{number} [{put}] ")))
    before, after = _around(item, anchor, left)
    return Reading(before, number, put, after, answer.kind is Kind.YEAR and not answer.noun)


def put_in(item: Placed, answer: Answer) -> str:
    """What is read beside the number, without the brackets; "" where no noun is missing."""
    if answer.kind is Kind.REFERENCE:
        return _heads(item, answer)
    several = not is_one(item)
    if answer.noun:
        return free_form(_flat(answer.noun), plural=several)
    return _class_words(item, answer, several=several)


def _class_words(item: Placed, answer: Answer, *, several: bool) -> str:
    if answer.kind is Kind.YEAR:
        return "the year"
    if answer.kind is Kind.AGE:
        return "years old" if several else "year old"
    if answer.kind is Kind.CURRENCY:
        return _money(item, several=several)
    if answer.kind is Kind.PEOPLE:
        return "people" if several else "person"
    if answer.kind is Kind.TIME:
        return "o'clock" if _is_hour(item) else "by the clock"
    if answer.kind is Kind.OTHER:
        return SORTS.get(answer.sort, "something else") if answer.sort else "something else"
    return "?" if answer.kind is Kind.UNKNOWN else ""


def _heads(item: Placed, answer: Answer) -> str:
    """The nouns; those that a number counts together stand as they are written."""
    together = len(answer.heads) > 1 and answer.relation is Relation.AND
    several = not is_one(item)
    # Names that are listed are people, each of them one, whatever the number.
    together |= any(is_name(item.passage, live(h.mentions)[0].head) for h in answer.heads)
    nouns = [_noun(item, head, plural=None if together else several) for head in answer.heads]
    joint = JOINTS.get(answer.relation, " / ") if answer.relation else ""
    if len(nouns) > 2 and joint != " / ":
        return f"{', '.join(nouns[:-1])}{joint}{nouns[-1]}"
    return joint.join(nouns)


def _noun(item: Placed, head: Head, *, plural: bool | None) -> str:
    """The words of a head's marked mention, without an article; plural: None as written."""
    first = live(head.mentions)[0]
    start, end = first.start, first.end
    holds_anchor = start < item.anchor.end and item.anchor.start < end
    if end - start > MOST_WORDS or holds_anchor:
        start, end = first.head, first.head + 1
    while start < first.head and fold(item.passage.word(start)) in DETERMINERS:
        start += 1
    if plural is None:
        return _flat(item.passage.words(start, end))
    form = noun_form(item.passage, first.head, plural=plural)
    pieces = (
        item.passage.words(start, first.head), form, item.passage.words(first.head + 1, end)
    )  # fmt: skip
    return _flat(" ".join(filter(None, pieces)))


def _money(item: Placed, *, several: bool) -> str:
    """The coin that the passage names nearest to the number, else that it is money."""
    coins = CLASS_NOUNS[Kind.CURRENCY] - NOT_A_COIN
    named = [
        place
        for place, token in enumerate(item.passage.tokens)
        if token.lemma in coins and not item.anchor.start <= place < item.anchor.end
    ]
    if not named:
        return "in money"
    near = min(named, key=lambda place: abs(place - item.anchor.start))
    return noun_form(item.passage, near, plural=several)


def is_one(item: Placed) -> bool:
    """True if the number asks for a singular: one, 1, a fraction of one thing."""
    value = _value(item)
    return value is not None and 0 < value <= 1


def _is_hour(item: Placed) -> bool:
    value = _value(item)
    return value is not None and value == int(value) and 1 <= value <= 12


def _value(item: Placed) -> float | None:
    """What a number of one plain token comes to; None for any other."""
    from nfh_models.text.lexicon import parts_of

    anchor = whole_number(item.passage, item.anchor)
    if anchor.end - anchor.start != 1:
        return None
    parts = parts_of(item.passage.word(anchor.start))
    return parts[0].value if len(parts) == 1 else None


# --- the sentence around the number -------------------------------------------------------


def _around(item: Placed, anchor: Anchor, room: int) -> tuple[str, str]:
    """The sentence before and behind the number, in `room` cells, the nearest words kept.

    Each side may take half of the room, and what the other one leaves.
    """
    start, end = sentence(item)
    before = list(range(anchor.start - 1, start - 1, -1))
    after = list(range(anchor.end, end))
    widths = [_widths(item, before), _widths(item, after)]
    wanted = [sum(widths[0]), sum(widths[1])]
    half = room // 2
    shares = (max(half, room - wanted[1]), max(half, room - wanted[0]))
    kept = [_fitting(widths[side], shares[side]) for side in (0, 1)]
    while 0 < kept[0] < len(before) and not _may_begin(item, before[kept[0] - 1]):
        kept[0] -= 1
    while 0 < kept[1] < len(after) and _is_glued(item, after[kept[1]]):
        kept[1] -= 1
    return (
        _before(item, anchor.start, kept[0], len(before)),
        _after(item, anchor.end, kept[1], len(after)),
    )


def _may_begin(item: Placed, token: int) -> bool:
    """True for a word at which a clipped sentence may begin."""
    word = item.passage.word(token)
    whole = word[:1].isalnum() and not _PARTED.match(f" {word}")
    return whole and not _is_glued(item, token)


def _is_glued(item: Placed, token: int) -> bool:
    tokens = item.passage.tokens
    return token > 0 and tokens[token].start == tokens[token - 1].end


def sentence(item: Placed) -> tuple[int, int]:
    """The tokens [start, end) of the anchor's sentence, inside its turn."""
    turn = item.passage.turns[item.passage.turn_of(item.anchor.start)]
    start, end = item.anchor.start, item.anchor.end
    while start > turn.start and item.passage.word(start - 1) not in ENDS:
        start -= 1
    while end < turn.end and item.passage.word(end) not in ENDS:
        end += 1
    return start, min(end + 1, max(turn.end, item.anchor.end))


def _widths(item: Placed, tokens: list[int]) -> list[int]:
    return [width_of(visible(item.passage.word(token))) + 1 for token in tokens]


def _fitting(widths: list[int], room: int) -> int:
    """How many of these words stand in `room` cells."""
    taken = 0
    for count, width in enumerate(widths):
        taken += width
        if taken > room:
            return count
    return len(widths)


def _before(item: Placed, start: int, kept: int, count: int) -> str:
    """The last `kept` of `count` words that stand before a token."""
    words = _flat(item.passage.words(start - kept, start))
    return words if kept == count else f"… {words}".rstrip()


def _after(item: Placed, end: int, kept: int, count: int) -> str:
    """The first `kept` of `count` words from a token on, with the blanks as they are: a full
    stop stays where it stands."""
    if not count:
        return ""
    tokens = item.passage.tokens
    text = _tidy(item.passage.text[tokens[end - 1].end : tokens[end + kept - 1].end])
    return text if kept == count else f"{text} …"


def _flat(text: str) -> str:
    return _tidy(" ".join(text.split()))


def _tidy(text: str) -> str:
    """Without the blanks that files of tokens have before marks: "do n't ." is "don't."."""
    return _PARTED.sub(r"\1", text)
