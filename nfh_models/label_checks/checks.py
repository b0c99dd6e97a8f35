"""All label checks, listed in the order of the report at the foot.

Of heads and classes: impossible heads, fixed patterns, a class in place of a noun, repeated
text with contradicting labels, and kinds that change over time. Of the number itself: adjacent
tokens, pairs such as "six or seven bulbs", and the kind against the number's form and size.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import fmean

from nfh_models.agreement.competence import JudgedVote
from nfh_models.agreement.drift import Trend, corrected, in_order, kind_trends, no_order
from nfh_models.domain import Anchor, Answer, Head, Kind, compare
from nfh_models.domain.compare import CLASS_NOUNS, noun_forms
from nfh_models.label_checks.base import (
    DOUBT,
    ERROR,
    NOTE,
    NOUNS,
    CheckContext,
    CheckedNumber,
    ImportedRow,
    LabelCheck,
    LabelFinding,
    Note,
    Severity,
    check_of_answers,
    no_findings,
)
from nfh_models.text import numbers

PRONOUNS = frozenset(
    "i me mine myself you yours yourself yourselves he him his himself she her hers herself it "
    "its itself we us ours ourselves they them 'em theirs themselves this that these those who "
    "whom whose what which someone somebody something anyone anybody anything everyone "
    "everybody everything nobody nothing none both all some any each another other others "
    "ones".split()
)
"""A closed list, so that the check works without a parser."""


Fault = Callable[[CheckContext, Head, int], str]
"""From context, head and head token to what is wrong with it, in words; "" for nothing."""


def _note_on_heads(fault: Fault) -> Note:
    """Finds each answer with a faulty head once, with the fault of its first faulty mention."""

    def note(context: CheckContext, _anchor: Anchor, answer: Answer) -> str:
        found = [
            (token, wrong)
            for head in answer.heads
            for token in (mention.head for mention in head.live)
            if (wrong := fault(context, head, token))
        ]
        if not found:
            return ""
        token, wrong = found[0]
        more = f", and {len(found) - 1} more mentions" if len(found) > 1 else ""
        return f"its head \u201c{context.words[token]}\u201d is {wrong}{more}"

    return note


def _pronoun(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    is_one = context.word(token) in PRONOUNS and context.tag(token) not in NOUNS
    return "a pronoun" if is_one else ""


def _number(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    return "a number" if numbers.parts_of(context.words[token]) else ""


def _sign(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    word = context.words[token]
    if numbers.parts_of(word) or context.word(token) in PRONOUNS:
        return ""
    if not any(map(str.isalpha, word)):
        return "a sign"
    if len(word) == 1:
        return "a single letter"
    return "" if word[0].isalnum() and word[-1].isalnum() else "a word joined to a sign"


def _verb(context: CheckContext, head: Head, token: int) -> str:
    if _after_a_noun_or_so(context, token) and not context.word(token).endswith("ed"):
        return ""
    return _by_tag(context, head, token, {"VERB": "a verb", "AUX": "a verb"})


def _adjective(context: CheckContext, head: Head, token: int) -> str:
    unsure = (
        context.tag(token) in ("ADJ", "ADV", "INTJ") and context.tag(token + 1) not in NOUNS
    )
    if unsure and _after_a_noun_or_so(context, token):
        return ""
    return _by_tag(context, head, token, WORDED)


def _after_a_noun_or_so(context: CheckContext, token: int) -> bool:
    """Whether the word before makes a noun likely, whatever its tag.

    Most errors of small taggers are of this kind: "deposit slip", "three diamonds", "never met
    a psychic".
    """
    if not context.same_turn(token - 1, token):
        return False
    before = context.tag(token - 1)
    return before in MAKE_A_NOUN or context.word(token - 1) in POSSESSIVES


def _by_tag(context: CheckContext, head: Head, token: int, wrong: Mapping[str, str]) -> str:
    word, tag = context.words[token], context.tag(token)
    if tag not in wrong or not word.isalpha() or len(word) == 1:
        return ""
    # A hyphen makes it part of a compound, of which the release marks one part.
    if context.word(token) in PRONOUNS or "-" in (
        context.word(token - 1),
        context.word(token + 1),
    ):
        return ""
    among = any(context.tag(mention.head) in NOUNS for mention in head.live)
    return wrong[tag] + (" among mentions that are nouns" if among else "")


WORDED = {
    "ADJ": "an adjective",
    "ADV": "an adverb",
    "ADP": "a preposition",
    "INTJ": "an interjection",
    "DET": "a determiner",
    "CCONJ": "a conjunction",
    "SCONJ": "a conjunction",
}


MAKE_A_NOUN = NOUNS | {"DET", "NUM", "ADJ"}
POSSESSIVES = frozenset("my your his her its our their whose 's".split())


def unmarked(context: CheckContext) -> Iterator[LabelFinding]:
    """Unmarked mentions of a head's noun where the answer marks several of it."""
    for number, said in context.said():
        for head in said.answer.heads:
            left = list(_left_out(context, number, head)) if len(head.live) > 1 else []
            if left:
                word = context.words[head.live[0].head]
                shown = ", ".join(f"\u201c{context.text(i - 2, i + 2)}\u201d" for i in left[:3])
                note = (
                    f"{len(head.live)} mentions of \u201c{word}\u201d are marked, "
                    f"{len(left)} not: {shown}"
                )
                yield LabelFinding("unmarked-mention", (number.key,), note, said.who)


def _left_out(context: CheckContext, number: CheckedNumber, head: Head) -> Iterator[int]:
    known = {mention.head for mention in head.mentions}
    lemmas = {context.lemma(mention.head) for mention in head.live}
    for place, token in enumerate(context.passage.tokens):
        if token.lemma.casefold() not in lemmas or place in known:
            continue
        inside = number.anchor.start <= place < number.anchor.end
        if not inside and (context.tags is None or context.tag(place) in NOUNS):
            yield place


HEAD_FAULTS: tuple[tuple[str, Severity, str, Fault, int | None, bool], ...] = (
    ("head-pronoun", DOUBT, "a pronoun", _pronoun, 10, False),
    ("head-number", DOUBT, "a number", _number, 10, False),
    ("head-sign", NOTE, "a sign or a single letter", _sign, None, False),
    ("head-verb", NOTE, "a verb, by the parser", _verb, 17, True),
    (
        "head-adjective",
        NOTE,
        "an adjective, an adverb or the like, by the parser",
        _adjective,
        17,
        True,
    ),
)

HEAD_CHECKS = (
    *(
        check_of_answers(
            name, severity, f"A head is {what}.", _note_on_heads(fault), rule, tagged=tagged
        )
        for name, severity, what, fault, rule, tagged in HEAD_FAULTS
    ),
    LabelCheck(
        "unmarked-mention",
        NOTE,
        "Some mentions of a noun are marked as heads, and others are not.",
        unmarked,
        rule=7,
    ),
)


NAME = "kinds-over-time"


class OverTime:
    """Collects votes with `add`; `findings` then lists whose kinds change over time."""

    def __init__(self) -> None:
        self._votes: dict[str, list[JudgedVote]] = {}

    def add(self, name: str, key: int, kind: Kind, at: str) -> None:
        """Add a vote. at: when it was given, UTC, ISO 8601."""
        mark = JudgedVote(key, kind, at, None, None, None, None, None)
        self._votes.setdefault(name, []).append(mark)

    def findings(self) -> Iterator[LabelFinding]:
        """One finding for each person and kind whose trend is significant among all tests."""
        tested = [
            (name, trend)
            for name in sorted(self._votes)
            for trend in _trends(self._votes[name])
        ]
        trends = corrected([trend for _, trend in tested])
        for (name, _), trend in zip(tested, trends, strict=True):
            if trend.holds:
                note = _trend_in_words(trend, self._votes[name], len(tested))
                yield LabelFinding(NAME, (), note, name)


def _trends(votes: Sequence[JudgedVote]) -> Iterator[Trend]:
    if no_order(votes) is None:
        yield from kind_trends([vote.kind for vote in in_order(votes)])


def _trend_in_words(trend: Trend, votes: Sequence[JudgedVote], tests: int) -> str:
    ordered = [vote.kind.value == trend.what for vote in in_order(votes)]
    half = len(ordered) // 2
    early, late = fmean(ordered[:half]), fmean(ordered[half:])
    return (
        f"{trend.what} is {early:.0%} of the first half of {len(ordered):,} answers and "
        f"{late:.0%} of the second (Spearman {trend.rho:+.2f}, q {trend.q:.3f} over "
        f"{tests} tests)"
    )


CHECK = LabelCheck(
    NAME,
    NOTE,
    "A person uses a kind more often, or less often, over time.",
    no_findings,
)


SPEAKERS = frozenset({"us", "you", "y'all"})
OTHERS = frozenset({"them", "'em", "these", "those"})

MEANT = frozenset({Kind.PEOPLE, Kind.REFERENCE, Kind.NFH})


def _is_one(context: CheckContext, anchor: Anchor) -> bool:
    return anchor.end - anchor.start == 1 and context.word(anchor.start) == "one"


# --- the patterns; each says what is usual where an answer is something else, or "" -------


def _no_one(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(context, anchor) and context.preceding(anchor) == "no"
    return "" if not hit or answer.kind in (Kind.PEOPLE, Kind.NFH) else "PEOPLE"


def _number_of(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """Usual answers of "three of us" and "two of them": PEOPLE, or what the pronoun
    stands for.
    """
    if context.following(anchor) != "of":
        return ""
    object_ = context.word(anchor.end + 1)
    if object_ in SPEAKERS:
        noun = any(context.word(token) not in PRONOUNS for token in answer.head_tokens())
        return "" if noun or answer.kind in (Kind.PEOPLE, Kind.NFH) else "PEOPLE"
    if object_ in OTHERS and context.tag(anchor.end + 2) not in NOUNS:
        return "" if answer.kind in MEANT else "REFERENCE to what the pronoun refers to"
    return ""


def _one_another(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(context, anchor) and context.following(anchor) == "another"
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


def _one_and_only(context: CheckContext, anchor: Anchor, answer: Answer) -> str:  # noqa: ARG001
    behind = (context.following(anchor), context.word(anchor.end + 1))
    return "NOT_NFH" if _is_one(context, anchor) and behind == ("and", "only") else ""


def _i_for_one(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    if not _is_one(context, anchor) or context.preceding(anchor) != "for":
        return ""
    speaker = [context.word(anchor.start - i) for i in (2, 3) if context.word(anchor.start - i)]
    hit = speaker[:1] == ["i"] or speaker == [",", "i"]
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


def _note_on_pattern(usual: Note) -> Note:
    def note(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
        wanted = usual(context, anchor, answer)
        said = kind_in_words(context, answer)
        return f"it is {said}; usually it is {wanted}" if wanted else ""

    return note


PATTERNS: tuple[tuple[str, Severity, str, Note, int], ...] = (
    ("no-one", DOUBT, "\u201cno one\u201d", _no_one, 15),
    ("number-of-us", DOUBT, "\u201cthree of us\u201d, \u201ctwo of them\u201d", _number_of, 10),
    ("one-another", DOUBT, "\u201cone another\u201d", _one_another, 15),
    ("one-and-only", DOUBT, "\u201cone and only\u201d", _one_and_only, 2),
    ("i-for-one", NOTE, "\u201cI for one\u201d", _i_for_one, 15),
)

PATTERN_CHECKS = tuple(
    check_of_answers(
        name,
        severity,
        f"The pattern {pattern} has an unusual answer.",
        _note_on_pattern(usual),
        rule,
    )
    for name, severity, pattern, usual, rule in PATTERNS
)


# Repetitions in a corpus: with contradicting labels, in two splits, or in other spelling.

LONG_TURN = 8
"""Tokens of a turn that is not repeated by chance."""

ALMOST = "in passages that differ only in case, white space or speakers"


@dataclass(frozen=True, slots=True)
class LabelKey:
    """The content of an answer without its passage: kind and lemmas of the heads."""

    kind: Kind
    lemmas: frozenset[str] = frozenset()

    @classmethod
    def of(cls, context: CheckContext, answer: Answer) -> "LabelKey":
        return cls(answer.kind, frozenset(context.lemma(t) for t in answer.head_tokens()))

    def __str__(self) -> str:
        nouns = f" to \u201c{', '.join(sorted(self.lemmas))}\u201d" if self.lemmas else ""
        return f"{self.kind}{nouns}"

    def contradicts(self, other: "LabelKey") -> bool:
        """Whether the two cannot both be right: different kinds, or no noun in common."""
        kinds = {self.kind, other.kind}
        if Kind.NFH in kinds:
            return bool(kinds & {Kind.NOT_NFH, Kind.BROKEN})
        if len(kinds) > 1:
            return True
        return self.kind is Kind.REFERENCE and not self.lemmas & other.lemmas


# --- rows of one anchor ----------------------------------------------------------------


def two_labels(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors for which two rows of files state contradicting answers."""
    for number in context.cases:
        labelled = [(row, row.said) for row in number.rows if row.said is not None]
        for row, said in labelled[1:]:
            first = labelled[0]
            if LabelKey.of(context, first[1]).contradicts(LabelKey.of(context, said)):
                note = f"{_says(context, *first)}; {_says(context, row, said)}"
                yield LabelFinding("two-golds", (number.key,), note)
                break


def _says(context: CheckContext, row: ImportedRow, said: Answer) -> str:
    return f"{row.file} line {row.line} says {kind_in_words(context, said)}"


def repeated_rows(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that stand in two rows of one file, or of two files of one split.

    Files of several annotators give each anchor once for each of them; they are not compared.
    """
    for number in context.cases:
        alike: dict[tuple[str | None, str | None], list[ImportedRow]] = defaultdict(list)
        for row in number.rows:
            if not row.vote:
                alike[row.who, row.split].append(row)
        again = [row for rows in alike.values() if len(rows) > 1 for row in rows]
        if again:
            shown = ", ".join(f"{row.file} line {row.line}" for row in again)
            yield LabelFinding("repeated-row", (number.key,), f"it is in {shown}")


def two_splits(context: CheckContext) -> Iterator[LabelFinding]:
    """Passages with rows in two splits."""
    splits = sorted({row.split for number in context.cases for row in number.rows if row.split})
    if len(splits) > 1:
        keys = tuple(number.key for number in context.cases)
        yield LabelFinding("two-splits", keys, f"the passage is in {' and '.join(splits)}")


# --- all passages ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Anchor:
    """An anchor by its offsets in the text without white space."""

    key: int
    start: int
    end: int
    label: LabelKey | None
    """None without gold."""


@dataclass(slots=True)
class _Met:
    """The passages with one text: their splits and their anchors, by passage."""

    splits: dict[int, tuple[str, ...]] = field(default_factory=dict)
    anchors: dict[int, tuple[_Anchor, ...]] = field(default_factory=dict)


class Repeats:
    """Collects passages with `add`; `findings` then lists what several of them have in common.

    It keeps hashes and labels, no text.
    """

    def __init__(self) -> None:
        self._texts: dict[bytes, _Met] = defaultdict(_Met)
        self._turns: dict[bytes, list[tuple[str, int, bytes]]] = defaultdict(list)

    def add(self, context: CheckContext) -> None:
        text = _hash("".join(context.low))
        met = self._texts[text]
        met.splits[context.key] = tuple(
            sorted({row.split for number in context.cases for row in number.rows if row.split})
        )
        places = _places(context)
        met.anchors[context.key] = tuple(
            _Anchor(number.key, places[number.anchor.start], places[number.anchor.end], label)
            for number, label in _gold(context)
        )
        self._add_turns(context, text, met.splits[context.key])

    def _add_turns(self, context: CheckContext, text: bytes, splits: Iterable[str]) -> None:
        if not context.cases:
            return
        for turn in context.passage.turns:
            if turn.end - turn.start >= LONG_TURN:
                said = _hash("".join(context.low[turn.start : turn.end]))
                for split in splits:
                    self._turns[said].append((split, context.cases[0].key, text))

    def findings(self) -> Iterator[LabelFinding]:
        yield from self._equal_texts()
        yield from self._shared_turns()

    def _equal_texts(self) -> Iterator[LabelFinding]:
        for met in self._texts.values():
            if len(met.anchors) < 2:
                continue
            anchors = [anchor for found in met.anchors.values() for anchor in found]
            yield from _met_again(anchors)
            splits = sorted({split for found in met.splits.values() for split in found})
            apart = len(splits) > max(map(len, met.splits.values()))
            if len(splits) > 1 and apart:
                note = f"{ALMOST}, it is in {' and '.join(splits)}"
                yield LabelFinding("two-splits", tuple(one.key for one in anchors), note)

    def _shared_turns(self) -> Iterator[LabelFinding]:
        told: set[tuple[int, ...]] = set()
        for found in self._turns.values():
            splits = sorted({split for split, _, _ in found})
            if len(splits) < 2 or len({text for _, _, text in found}) < 2:
                continue
            keys = tuple(sorted({key for _, key, _ in found}))
            if keys not in told:
                told.add(keys)
                note = f"a turn of {LONG_TURN} tokens or more is in {' and '.join(splits)}"
                yield LabelFinding("shared-turn", keys, note)


def _hash(text: str) -> bytes:
    return blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _places(context: CheckContext) -> list[int]:
    """The offset of each token in the text without white space, then the length of
    that text.
    """
    places, at = [], 0
    for word in context.low:
        places.append(at)
        at += len(word)
    return [*places, at]


def _gold(context: CheckContext) -> Iterator[tuple[CheckedNumber, LabelKey | None]]:
    for number in context.cases:
        answers = [said.answer for said in number.said if said.who is None]
        yield number, LabelKey.of(context, answers[0]) if answers else None


def _met_again(anchors: list[_Anchor]) -> Iterator[LabelFinding]:
    """Anchors at the same offsets of equal texts: contradicting labels, or repetitions."""
    by_place: dict[tuple[int, int], list[_Anchor]] = defaultdict(list)
    for one in anchors:
        by_place[one.start, one.end].append(one)
    for found in by_place.values():
        if len(found) < 2:
            continue
        keys = tuple(one.key for one in found)
        labels = [one.label for one in found if one.label is not None]
        if any(labels[0].contradicts(label) for label in labels[1:]):
            said = " and ".join(dict.fromkeys(map(str, labels)))
            yield LabelFinding("two-golds", keys, f"{ALMOST}, gold is {said}")
        else:
            yield LabelFinding("repeated-row", keys, f"{ALMOST}, it occurs {len(found)} times")


REPEAT_CHECKS = (
    LabelCheck(
        "two-golds", ERROR, "One passage has two golds for the same anchor.", two_labels
    ),
    LabelCheck("repeated-row", NOTE, "An anchor is in two rows of one split.", repeated_rows),
    LabelCheck("two-splits", ERROR, "A passage is in two splits.", two_splits),
)
ACROSS = (
    LabelCheck("shared-turn", NOTE, "Passages in two splits share a long turn.", no_findings),
)
"""Checks whose findings come from `Repeats` alone."""


UNITS: dict[Kind, frozenset[str]] = {
    Kind.AGE: frozenset({"year"}),
    Kind.CURRENCY: CLASS_NOUNS[Kind.CURRENCY] - {"money", "cash", "grand", "mark"},
    Kind.TIME: frozenset({"o'clock"}),
}
"""Nouns that could stand after the number in place of the class: "ten *dollars*"."""

COUNTED = frozenset("many any every each all some those these other few several both".split())
"""Before a noun for people these show that people are counted: "five people ... only one"."""

NEAR = 40
"""Tokens within which people are looked for."""


def class_nouns(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """AGE, CURRENCY or TIME although its unit stands in the passage."""
    units = UNITS.get(answer.kind)
    token = _nearest(context, anchor, units) if units else None
    return "" if token is None else _there(context, answer.kind, token)


def people_nouns(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """PEOPLE although people are counted close by (guidelines, rule 6)."""
    if answer.kind is not Kind.PEOPLE:
        return ""
    token = _nearest(context, anchor, CLASS_NOUNS[Kind.PEOPLE])
    counted = token is not None and _counted(context, token, anchor)
    return _there(context, answer.kind, token) if token is not None and counted else ""


def _counted(context: CheckContext, token: int, anchor: Anchor) -> bool:
    before = [context.word(token - i) for i in (1, 2) if token - i >= 0]
    counted = any(word in COUNTED or numbers.parts_of(word) for word in before)
    return counted and abs(token - anchor.start) <= NEAR


def _there(context: CheckContext, said: str, token: int) -> str:
    return f"it is {said}, and \u201c{context.words[token]}\u201d is there"


def other_nouns(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """A free noun that stands in the passage: it should be the head (guidelines, rule 6)."""
    noun = (answer.noun or "").strip().casefold()
    if answer.kind is not Kind.OTHER or not noun:
        return ""
    token = _nearest(context, anchor, noun_forms(noun))
    return "" if token is None else _there(context, f"OTHER \u201c{noun}\u201d", token)


def _nearest(context: CheckContext, anchor: Anchor, lemmas: frozenset[str]) -> int | None:
    """The noun with one of these lemmas that is closest to the anchor."""
    found = [
        place
        for place in range(len(context.low))
        if context.lemma(place) in lemmas
        and not anchor.start <= place < anchor.end
        and (context.tags is None or context.tag(place) == "NOUN")
    ]
    return min(found, key=lambda place: abs(place - anchor.start), default=None)


ROUTE_CHECKS = (
    check_of_answers(
        "class-noun-there",
        NOTE,
        "AGE, CURRENCY or TIME, and its unit is in the passage.",
        class_nouns,
        rule=3,
    ),
    check_of_answers(
        "people-noun-there", NOTE, "PEOPLE, and people are counted nearby.", people_nouns, 6
    ),
    check_of_answers(
        "other-noun-there",
        DOUBT,
        "OTHER with a written noun, and that noun is in the passage.",
        other_nouns,
        rule=6,
    ),
)


CLOCK_WORDS = frozenset({"o'clock", "oclock", "a.m.", "a.m", "am", "p.m.", "p.m", "pm"})

BETWEEN = 3
"""Adjectives that may stand between an anchor and a noun of its own."""

MONEY_SIGNS = frozenset("$\u00a3\u20ac\u00a5")

DAYS = frozenset(
    "today tonight tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december "
    "bc b.c. ad a.d. ce nil home".split()
)
"""Words tagged as nouns that say when or where, and are not what a number before them
counts.
"""

WHEN = frozenset(
    "second minute hour night day morning evening afternoon week weekend month year spring "
    "summer autumn fall winter season time".split()
)
POINTERS = frozenset({"last", "next", "past", "this", "other"})
"""Before a word of WHEN, these make it a time: "I hired one last week"."""


# --- the span --------------------------------------------------------------------------


def cut_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that are a part of a number, or have digits of it beside them."""
    for number in context.cases:
        whole = _whole(context, number.anchor)
        if whole is not None and _is_number(context, number.anchor):
            part = context.text(number.anchor.start, number.anchor.end)
            note = f"\u201c{part}\u201d is part of \u201c{context.text(*whole)}\u201d"
            yield LabelFinding("number-beside", (number.key,), note)


def _whole(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    for start, end in context.numbers:
        if start <= anchor.start and anchor.end <= end and end - start > _size(anchor):
            return start, end
    return _torn(context, anchor)


def _size(anchor: Anchor) -> int:
    return anchor.end - anchor.start


def _torn(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """Tokens around an anchor whose number was split by tokenization: "1 , 100",
    "three two".
    """
    start, end = anchor.start, anchor.end
    if _behind_a_comma(context, start):
        start -= 2
    if context.same_turn(start - 1, start) and numbers.parts_of(context.words[start - 1]):
        start -= 1
    if context.same_turn(end - 1, end) and numbers.parts_of(context.words[end]):
        end += 1
    return None if (start, end) == (anchor.start, anchor.end) else (start, end)


def _behind_a_comma(context: CheckContext, place: int) -> bool:
    """The rest of "18 , 000", of "$ 1 , 100", and of "$ 300 , 0" that lost its zeros."""
    if context.word(place - 1) != "," or not context.same_turn(place - 2, place):
        return False
    if not (_digits(context, place) and _digits(context, place - 2)):
        return False
    return context.word(place) == "000" or context.word(place - 3) in MONEY_SIGNS


def _digits(context: CheckContext, place: int) -> bool:
    return context.word(place).isdecimal()


def several_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that hold two numbers, as "five or ten"."""
    for number in context.cases:
        inside = [
            span
            for span in context.numbers
            if number.anchor.start <= span[0] and span[1] <= number.anchor.end
        ]
        if len(inside) > 1:
            read = " and ".join(f"\u201c{context.text(*span)}\u201d" for span in inside)
            yield LabelFinding("two-numbers", (number.key,), f"it holds {read}")


def no_numbers(context: CheckContext) -> Iterator[LabelFinding]:
    """Anchors without a number word, and ordinals that are labelled as fused heads."""
    for number in context.cases:
        anchor = number.anchor
        if not _is_number(context, anchor) and not _is_ordinal(context, anchor):
            note = f"\u201c{context.text(anchor.start, anchor.end)}\u201d is not a number"
            yield LabelFinding("no-number", (number.key,), note)
    for number, said in context.said():
        if _is_ordinal(context, number.anchor):
            suffix = _suffix_behind(context, number.anchor)
            text = context.text(number.anchor.start, number.anchor.end + suffix)
            note = f"\u201c{text}\u201d is an ordinal, and {said.answer.kind}"
            yield LabelFinding("no-number", (number.key,), note, said.who)


def _is_number(context: CheckContext, anchor: Anchor) -> bool:
    words = context.words[anchor.start : anchor.end]
    return any(numbers.parts_of(word) or any(map(str.isdecimal, word)) for word in words)


def _is_ordinal(context: CheckContext, anchor: Anchor) -> bool:
    return numbers.is_ordinal(context.words[anchor.end - 1]) or _suffix_behind(context, anchor)


def _suffix_behind(context: CheckContext, anchor: Anchor) -> bool:
    return (
        _digits(context, anchor.end - 1)
        and context.following(anchor) in numbers.ORDINAL_ENDINGS
    )


# --- a noun of its own -----------------------------------------------------------------


def nouns_after(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """Anchors directly before a noun whose answer says that a noun is missing."""
    place = anchor.end
    hit = context.tag(place) != "PROPN" and _own_noun(context, anchor, place)
    return _with_noun(context, anchor, answer, place) if hit else ""


def nouns_near(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """The same with adjectives between: "three stubborn goats" (guidelines, rule 2)."""
    place = _across_adjectives(context, anchor.end)
    if place is None or context.tag(place) != "NOUN" or _says_when(context, anchor, place):
        return ""
    hit = _own_noun(context, anchor, place)
    return _with_noun(context, anchor, answer, place) if hit else ""


def _own_noun(context: CheckContext, anchor: Anchor, place: int) -> bool:
    if not context.same_turn(anchor.end - 1, place) or context.word(place) in CLOCK_WORDS:
        return False
    if context.word(place) == "%":
        return True
    named = context.word(place).isalpha() and context.word(place) not in DAYS
    if context.word(anchor.start) == "one":  # what looks like a noun after it is often a verb
        named = named and context.preceding(anchor) != "no"
        named = named and not context.word(place).endswith("ing")
    return named and context.tag(place) in NOUNS


def _says_when(context: CheckContext, anchor: Anchor, place: int) -> bool:
    return (
        context.word(anchor.end) in POINTERS
        and place == anchor.end + 1
        and context.lemma(place) in WHEN
    )


def _across_adjectives(context: CheckContext, place: int) -> int | None:
    """The place after adjectives that start at `place`, commas among them; None
    without any.
    """
    start = place
    while place - start < 2 * BETWEEN and (
        context.tag(place) == "ADJ"
        or context.word(place) == "*"
        or (place > start and context.word(place) == ",")
    ):
        place += 1
    return place if place > start else None


def _with_noun(context: CheckContext, anchor: Anchor, answer: Answer, place: int) -> str:
    shown = context.text(anchor.start, place + 1)
    return f"\u201c{shown}\u201d has its own noun, and is {answer.kind}"


ADJACENT_CHECKS = (
    LabelCheck(
        "number-beside", DOUBT, "The anchor is only a part of its number.", cut_numbers, 1
    ),
    LabelCheck("two-numbers", DOUBT, "The anchor holds more than one number.", several_numbers),
    LabelCheck(
        "no-number",
        DOUBT,
        "The anchor is not a number; or it is an ordinal, and taken for an NFH.",
        no_numbers,
        rule=2,
    ),
    check_of_answers(
        "noun-after",
        DOUBT,
        "A noun comes right after the anchor, although its noun is labelled as missing.",
        nouns_after,
        rule=2,
        tagged=True,
    ),
    check_of_answers(
        "noun-near",
        DOUBT,
        "Adjectives and a noun come after the anchor, although its noun is labelled as "
        "missing.",
        nouns_near,
        rule=2,
        tagged=True,
    ),
)


_DECIMAL = re.compile(r"\d+\.\d+")
_COMPUTED = re.compile(r"\d+\.\d{8,}|\d+(?:\.\d+)?e[-+]?\d+")
_CALIBRE = re.compile(r"0\.(?:22|25|32|38|40|44|45|50|357)")
"""Calibres that are written without the zero."""

_CHAIN = re.compile(r"\d+(?:[-\u2010\u2011\u2013]\d+){2,}")


def value(context: CheckContext, anchor: Anchor) -> float | None:
    """The value of an anchor that is one plain number; None for chains, times and codes."""
    words = context.words[anchor.start : anchor.end]
    line = numbers.TokenLine(words, None)
    if not line.parts(0):
        return None
    run = numbers.read_run(line, 0)
    found = numbers.cardinals(run, between=False)
    parts = [atom.part for atom in run]
    fraction = any(part.shape is numbers.Shape.FRACTION for part in parts)
    if len(found) != 1 or run[-1].end != len(words) or fraction:
        return None
    return numbers.value_of(parts)


# --- the ways in which a kind does not fit; each says what it found, or "" ---------------


def _clock(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    behind = context.following(anchor)
    if kind is Kind.TIME or behind not in CLOCK_WORDS:
        return ""
    if behind == "am" and _speaks_of_itself(context, anchor):
        return ""
    return f"\u201c{context.text(anchor.start, anchor.end + 1)}\u201d is a time of day"


def _speaks_of_itself(context: CheckContext, anchor: Anchor) -> bool:
    """Whether *am* is the verb: "I for one am fed up"."""
    before = {context.word(anchor.start - i) for i in (1, 2, 3, 4)}
    return "i" in before or context.tag(anchor.end) in ("AUX", "VERB")


def _age_words(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.AGE:
        return ""
    before = (context.word(anchor.start - 2), context.preceding(anchor))
    behind = (context.following(anchor), context.word(anchor.end + 1))
    aged = before in (("age", "of"), ("ages", "of")) or before[1] in ("aged", "age")
    old = behind[0] in ("years", "year") and behind[1] == "old"
    if not aged and not old:
        return ""
    return f"\u201c{context.text(anchor.start - 2, anchor.end + 2)}\u201d speaks of an age"


def _money(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is Kind.CURRENCY:
        return ""
    before, behind = context.preceding(anchor), context.following(anchor)
    inside = context.word(anchor.start)[:1]
    if not MONEY_SIGNS & {before, behind, inside}:
        return ""
    start = anchor.start - (before in MONEY_SIGNS)
    shown = context.text(start, anchor.end + (behind in MONEY_SIGNS))
    return f"\u201c{shown}\u201d has a sign for money"


def _no_hour(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    if kind is not Kind.TIME:
        return ""
    size = value(context, anchor)
    if size is None or size <= 24 or 100 <= size <= 2400:
        return ""
    return f"{size:,.15g} is not an hour of the day"


def _mangled(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    """Digits that a program has rewritten: 8.3 for 8:30, 0.44 for .44, 4E-05."""
    word = context.word(anchor.start)
    if anchor.end - anchor.start > 1:
        return ""
    clock = kind is Kind.TIME and _DECIMAL.fullmatch(word)
    gun = _CALIBRE.fullmatch(word) and context.preceding(anchor) == "a"
    if not (clock or gun or _COMPUTED.fullmatch(word)):
        return ""
    return f"\u201c{word}\u201d reads as if a program had rewritten it"


def _chain(context: CheckContext, anchor: Anchor, kind: Kind) -> str:
    words = context.words[anchor.start : anchor.end]
    if kind in (Kind.OTHER, Kind.NFH) or _CHAIN.fullmatch("".join(words)) is None:
        return ""
    return f"\u201c{context.text(anchor.start, anchor.end)}\u201d is a chain of numbers"


Misfit = Callable[[CheckContext, Anchor, Kind], str]


def _note_on_kind(misfit: Misfit) -> Note:
    def note(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
        kind = answer.kind
        found = "" if kind is Kind.NFH else misfit(context, anchor, kind)
        return f"{found}, and is {kind}" if found else ""

    return note


MISFITS: tuple[tuple[str, Severity, str, Misfit, int], ...] = (
    (
        "clock-word",
        DOUBT,
        "O'clock, a.m. or p.m. after what is not TIME.",
        _clock,
        5,
    ),
    (
        "money-sign",
        DOUBT,
        "A currency sign is beside a number that is an NFH and not CURRENCY.",
        _money,
        3,
    ),
    ("age-words", DOUBT, "The words show an age, but the label is not AGE.", _age_words, 5),
    ("no-hour", DOUBT, "The label is TIME, but the number is not an hour.", _no_hour, 5),
    (
        "mangled-digits",
        DOUBT,
        "The digits look rewritten by a program.",
        _mangled,
        1,
    ),
    ("chain-kind", NOTE, "A chain of numbers such as 36-24-36 is not OTHER.", _chain, 18),
)

SHAPE_CHECKS = tuple(
    check_of_answers(name, severity, sentence, _note_on_kind(misfit), rule)
    for name, severity, sentence, misfit, rule in MISFITS
)


LINKS = frozenset({"or", "to", ",", "-", "\u2013", "nor"})
HEDGES = frozenset({"maybe", "perhaps", "possibly", "even", "about", "like"})
MOST_LINKS = 4
ALIKE = 5.0
"""The largest ratio of the two numbers of a pair: "in 2015, sixty doctors" is none."""

SCALES = (1.0, 1e2, 1e3, 1e6, 1e9)
"""The second number may have the scale word of both: "two, three hundred years"."""

CLOCK_NOUNS = frozenset({"midnight", "noon", "night", "morning", "evening", "o'clock"})


def without_the_noun(context: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """First numbers of "A or B noun" whose answer is not that noun (guidelines, rule 16)."""
    second = _second(context, anchor)
    if second is None or answer.kind is Kind.NFH:
        return ""
    noun = _noun_behind(context, second)
    if noun is None or _is_the_noun(context, answer, noun):
        return ""
    shown = context.text(anchor.start, noun + 1)
    return f"in \u201c{shown}\u201d it is {kind_in_words(context, answer)}"


def _second(context: CheckContext, anchor: Anchor) -> tuple[int, int] | None:
    """The span of the number that an anchor is linked to, if it is of similar size."""
    place = _across_links(context, anchor.end)
    if place is not None and numbers.is_ordinal(context.word(place)):
        return place, place + 1
    for start, end in context.numbers:
        if start == place and context.same_turn(anchor.start, start):
            return (start, end) if _alike(context, anchor, Anchor(start, end)) else None
    return None


def _across_links(context: CheckContext, place: int) -> int | None:
    """The place after links and hedges that start at `place`; None without a link."""
    end = place
    while end - place < MOST_LINKS and context.word(end) in LINKS | HEDGES:
        end += 1
    linked = any(context.word(i) in LINKS for i in range(place, end))
    return end if linked else None


def _alike(context: CheckContext, left: Anchor, right: Anchor) -> bool:
    one, other = value(context, left), value(context, right)
    if not one or not other:
        return True
    sizes = [other / scale for scale in SCALES]
    return one != other and any(max(one, s) <= ALIKE * min(one, s) for s in sizes)


def _noun_behind(context: CheckContext, number: tuple[int, int]) -> int | None:
    start = place = number[1]
    while place - start < MOST_LINKS and (
        context.tag(place) in ("ADJ", "NUM") or context.word(place) in ("-", "*")
    ):
        place += 1
    if not context.same_turn(number[0], place):
        return None
    return place if context.tag(place) in NOUNS or context.word(place) == "%" else None


def _is_the_noun(context: CheckContext, answer: Answer, noun: int) -> bool:
    """Whether an answer is that noun, or a class that the noun only names."""
    if answer.kind is Kind.REFERENCE:
        lemmas = {context.lemma(token) for token in answer.head_tokens()}
        return context.lemma(noun) in lemmas
    if answer.kind is Kind.AGE:
        return context.word(noun + 1) in ("old", "-") or context.lemma(noun) != "year"
    if answer.kind is Kind.YEAR:
        return False
    named = CLASS_NOUNS.get(answer.kind, frozenset())
    if context.lemma(noun) in named | (
        CLOCK_NOUNS if answer.kind is Kind.TIME else frozenset()
    ):
        return True
    return answer.noun is not None and answer.noun.casefold() == context.lemma(noun)


def kind_in_words(context: CheckContext, answer: Answer) -> str:
    """An answer as findings name it: its kind, and the words of its heads."""
    if answer.kind is not Kind.REFERENCE:
        return answer.kind.value
    words = ", ".join(context.words[token] for token in answer.head_tokens())
    return f"REFERENCE to \u201c{words}\u201d"


def different_answers(context: CheckContext) -> Iterator[LabelFinding]:
    """Linked anchors without a noun after whose answers differ (guidelines, rule 16)."""
    for chain in _chains(context):
        for who in sorted({said.who for number in chain for said in number.said}, key=str):
            answers = [(number, _of(number, who)) for number in chain]
            given = [(number, answer) for number, answer in answers if answer is not None]
            if len(given) > 1 and _differ(context, [answer for _, answer in given]):
                first, last = given[0][0].anchor, given[-1][0].anchor
                kinds = ", ".join(kind_in_words(context, answer) for _, answer in given)
                note = f"\u201c{context.text(first.start, last.end)}\u201d is {kinds}"
                keys = tuple(number.key for number, _ in given)
                yield LabelFinding("pair-differs", keys, note, who)


def _of(number: CheckedNumber, who: str | None) -> Answer | None:
    return next((said.answer for said in number.said if said.who == who), None)


def _differ(context: CheckContext, answers: Sequence[Answer]) -> bool:
    lemmas = [token.lemma for token in context.passage.tokens]
    first = answers[0]
    return any(compare(first, other, lemmas).blocking is not None for other in answers[1:])


def _chains(context: CheckContext) -> Iterator[list[CheckedNumber]]:
    """Runs of two or more anchors, each linked to the next, without a noun after the last."""
    chain: list[CheckedNumber] = []
    for number in sorted(context.cases, key=lambda number: number.anchor.start):
        linked = chain and _across_links(context, chain[-1].anchor.end) == number.anchor.start
        if linked and context.same_turn(chain[-1].anchor.start, number.anchor.start):
            chain.append(number)
            continue
        if _is_pair_chain(context, chain):
            yield chain
        chain = [number]
    if _is_pair_chain(context, chain):
        yield chain


def _is_pair_chain(context: CheckContext, chain: Sequence[CheckedNumber]) -> bool:
    if len(chain) < 2:
        return False
    last = chain[-1].anchor
    return _noun_behind(context, (last.start, last.end)) is None


PAIR_CHECKS = (
    check_of_answers(
        "pair-noun",
        DOUBT,
        "\u201cA or B noun\u201d, and the first number is not that noun.",
        without_the_noun,
        rule=16,
        tagged=True,
    ),
    LabelCheck(
        "pair-differs",
        DOUBT,
        "Numbers in a row, without a noun after them, have different answers.",
        different_answers,
        rule=16,
    ),
)


NOT_TAKEN = LabelCheck(
    "import-conflict", NOTE, "An import differs from the labels that were kept.", no_findings
)
"""Found by the store, in the reports of imports."""

CHECKS: tuple[LabelCheck, ...] = (
    *REPEAT_CHECKS,
    *ACROSS,
    NOT_TAKEN,
    *ADJACENT_CHECKS,
    *PAIR_CHECKS,
    *SHAPE_CHECKS,
    *HEAD_CHECKS,
    *PATTERN_CHECKS,
    *ROUTE_CHECKS,
    CHECK,
)


def find_all(context: CheckContext) -> Iterator[LabelFinding]:
    """The findings of all checks in one passage; checks that need tags are skipped without
    them.
    """
    for check in CHECKS:
        if context.tags is not None or not check.tagged:
            yield from check.look(context)
