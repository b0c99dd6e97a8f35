"""The sentence of a number read again with an answer put in: "a new one [pump]".

Pure: no screen. This is the test by which a missing noun is told: put behind the number, it
leaves the sentence as it was meant. What is put in stands in brackets. A Reference gives its
nouns in the number that the anchor asks for; a class gives words that can be read aloud; what
has no noun missing gives the sentence as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from nfh_models.domain import Anchor, Answer, Head, Kind, Passage, Relation, Sort
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_tui.editing.state import live
from nfh_tui.editing.words import fold
from nfh_tui.inflecting import free_form, is_name, noun_form
from nfh_tui.number_words import LARGE, whole_number
from nfh_tui.phrases import DETERMINERS
from nfh_tui.reading_around import around, flat
from nfh_tui.visible import visible, width_of

MOST_WORDS = 4
"""Words of one noun that are put in; of a longer span only its head."""

LEAST_PUT = 14
"""Cells for nouns that are put in, or a third of the room: of more the rest is counted."""

SORTS = {Sort.NUMBER: "the number itself", Sort.CODE: "a code", Sort.MEASURE: "a measure"}
"""What is put in for an OTHER without a noun."""

NOT_A_COIN = frozenset({"cash", "grand", "mark", "money"})
"""Words of money that are seldom counted, or mean something else as well."""

SIGNS = frozenset("$£€¥₤¢")
APOSTROPHES = frozenset("'’‘`")
"""They stand before a year that is cut: "'85"."""

HUNDRED = 100
"""With an article it is many: "a 100 men"."""

CLOCK = frozenset({"o'clock", "o’clock", "oclock", "am", "pm", "a.m.", "p.m.", "a.m", "p.m"})
MORE = frozenset({"more", "other", "another"})
TAILS = (("and", "a", "half"), ("and", "a", "quarter"), ("or", "so"))
"""What belongs to a number and stands behind it: the noun comes after."""

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
    between: words that part the number from what is put in: "two more [pumps]". glued:
    nothing stands between `before` and the number, as in "$5".
    """

    before: str
    number: str
    put: str
    after: str
    leading: bool = False
    between: str = ""
    glued: bool = False

    @property
    def gap(self) -> str:
        """What stands between `before` and the number, or what is put in before it."""
        return " " if self.before and not self.glued else ""

    @property
    def text(self) -> str:
        """The whole of it as one text."""
        number = " ".join(filter(None, [self.number, self.between]))
        if self.put and self.leading:
            number = f"[{self.put}] {number}"
        elif self.put:
            number = f"{number} [{self.put}]"
        return f"{self.before}{self.gap}{number}{self.after}"


def reading(item: Placed, answer: Answer, room: int) -> Reading | None:
    """The anchor's sentence with an answer put in, in about `room` cells.

    None where nothing can be read: damaged words, and NFH, which gives no head.
    """
    if answer.kind in {Kind.BROKEN, Kind.NFH}:
        return None
    passage = item.passage
    put = put_in(item, answer, max(LEAST_PUT, room // 3))
    leading = is_leading(answer)
    span = _written(passage, whole_number(passage, item.anchor))
    stop = span.end if leading or not put else _tail(passage, span.end)
    number = flat(passage.words(span.start, span.end))
    if number[0] in APOSTROPHES:
        number = number.replace(" ", "", 1)
    between = flat(passage.words(span.end, stop))
    taken = width_of(visible(f"{number} {between} [{put}] "))
    before, after = around(passage, Anchor(span.start, stop), max(0, room - taken))
    return Reading(before, number, put, after, leading, between, _is_glued(passage, span.start))


def is_leading(answer: Answer) -> bool:
    """True if what is put in stands before the number: the year 1994."""
    return answer.kind is Kind.YEAR and not answer.noun


def _written(passage: Passage, span: Anchor) -> Anchor:
    """The span with the apostrophe that stands for the first digits of a year."""
    first = passage.turns[passage.turn_of(span.start)].start
    cut = span.start > first and passage.word(span.start - 1) in APOSTROPHES
    year = len(passage.word(span.start)) == len("85") and passage.word(span.start).isdigit()
    return Anchor(span.start - 1, span.end) if cut and year else span


def _tail(passage: Passage, end: int) -> int:
    """Where the noun is put: behind "more", "or so", "and a half"."""
    turn = passage.turns[passage.turn_of(end - 1)]
    words = [fold(passage.word(place)) for place in range(end, min(end + 3, turn.end))]
    for tail in TAILS:
        if tuple(words[: len(tail)]) == tail:
            return end + len(tail)
    return end + 1 if words and words[0] in MORE else end


def _is_glued(passage: Passage, token: int) -> bool:
    if token == 0:
        return False
    before = passage.word(token - 1)
    return passage.tokens[token - 1].end == passage.tokens[token].start or before in SIGNS | {
        "(", "[", "“", "#",
    }  # fmt: skip


def put_in(item: Placed, answer: Answer, most: int | None = None) -> str:
    """What is read beside the number, without the brackets; "" where no noun is missing.

    most: the cells that several nouns may have.
    """
    if _said_already(item, answer):
        return ""
    if answer.kind is Kind.REFERENCE:
        return _heads(item, answer, most)
    several = not is_one(item)
    if answer.noun:
        return free_form(flat(answer.noun), plural=several)
    return _class_words(item, answer, several=several)


def _said_already(item: Placed, answer: Answer) -> bool:
    """True if the text itself says beside the number what would be put in."""
    passage = item.passage
    span = whole_number(passage, item.anchor)
    turn = passage.turns[passage.turn_of(span.start)]
    own = fold(passage.words(span.start, span.end))
    behind = [
        fold(passage.word(place)) for place in range(span.end, min(span.end + 2, turn.end))
    ]
    before = fold(passage.word(span.start - 1)) if span.start > turn.start else ""
    follows = next((word for word in behind if word not in {"-", "‐", "‑", "–"}), "")
    if own in {"one", "1"} and follows == "another":
        return True
    if answer.kind is Kind.REFERENCE:
        return any(m.head == span.end for head in answer.heads for m in live(head.mentions))
    if answer.kind is Kind.AGE:
        return "year" in own or follows in {"year", "years", "yr", "yrs", "y.o."}
    if answer.kind is Kind.CURRENCY:
        signs = {*_sum_before(passage, span.start), follows, own[:1], own[-1:]} & SIGNS
        return bool(signs) or _lemma(passage, span.end) in CLASS_NOUNS[Kind.CURRENCY]
    if answer.kind is Kind.TIME:
        return follows in CLOCK
    if answer.kind is Kind.PEOPLE:
        return _lemma(passage, span.end) in CLASS_NOUNS[Kind.PEOPLE]
    return answer.kind is Kind.YEAR and "year" in {before, follows}


def _sum_before(passage: Passage, start: int) -> list[str]:
    """The token before a number, and those before it while it is a part of one: "$ 1 , 100"."""
    words: list[str] = []
    for place in range(start - 1, passage.turns[passage.turn_of(start)].start - 1, -1):
        words.append(passage.word(place))
        if words[-1] != "," and not words[-1].isdigit():
            break
    return words


def _lemma(passage: Passage, token: int) -> str:
    return passage.tokens[token].lemma if token < len(passage.tokens) else ""


def _class_words(item: Placed, answer: Answer, *, several: bool) -> str:
    if answer.kind is Kind.YEAR:
        return "the year"
    if answer.kind is Kind.AGE:
        old = "" if _follows_age(item) else " old"
        return f"years{old}" if several else f"year{old}"
    if answer.kind is Kind.CURRENCY:
        return _money(item, several=several)
    if answer.kind is Kind.PEOPLE:
        return "people" if several else "person"
    if answer.kind is Kind.TIME:
        return "o'clock" if _is_hour(item) else "by the clock"
    if answer.kind is Kind.OTHER:
        return SORTS.get(answer.sort, "something else") if answer.sort else "something else"
    return "?" if answer.kind is Kind.UNKNOWN else ""


def _follows_age(item: Placed) -> bool:
    """True behind "aged" and "the age of"."""
    words = [fold(item.passage.word(p)) for p in range(item.anchor.start)][-2:]
    return words[-1:] == ["aged"] or words == ["age", "of"]


def _heads(item: Placed, answer: Answer, most: int | None) -> str:
    """The nouns; those that a number counts together stand as they are written."""
    together = len(answer.heads) > 1 and answer.relation is Relation.AND
    several = not is_one(item)
    # Names that are listed are people, each of them one, whatever the number.
    names = any(is_name(item.passage, live(h.mentions)[0].head) for h in answer.heads)
    as_written = together or (names and len(answer.heads) > 1)
    nouns = [_noun(item, head, plural=None if as_written else several) for head in answer.heads]
    joint = JOINTS.get(answer.relation, " / ") if answer.relation else ""
    return _joined(nouns, joint, most)


def _joined(nouns: Sequence[str], joint: str, most: int | None) -> str:
    """Nouns in a row; in `most` cells: the first ones, and how many more there are."""
    listed = len(nouns) > 2 and joint != " / "
    whole = f"{', '.join(nouns[:-1])}{joint}{nouns[-1]}" if listed else joint.join(nouns)
    if most is None or len(nouns) == 1 or width_of(visible(whole)) <= most:
        return whole
    for kept in range(len(nouns) - 1, 1, -1):
        short = " / ".join([*nouns[:kept], f"+{len(nouns) - kept}"])
        if width_of(visible(short)) <= most:
            return short
    return f"{nouns[0]} / +{len(nouns) - 1}"


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
        return flat(item.passage.words(start, end))
    form = noun_form(item.passage, first.head, plural=plural)
    pieces = (
        item.passage.words(start, first.head), form, item.passage.words(first.head + 1, end)
    )  # fmt: skip
    return flat(" ".join(filter(None, pieces)))


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
    """True if the number asks for a singular: one, 1, a fraction of one thing, "a six"."""
    value = _value(item)
    start = item.anchor.start
    article = start > 0 and fold(item.passage.word(start - 1)) in {"a", "an"}
    if article and _value(item) != HUNDRED and fold(item.passage.word(start)) not in LARGE:
        return True
    if _tail(item.passage, item.anchor.end) > item.anchor.end + 1:
        return False
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
