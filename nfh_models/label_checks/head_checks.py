"""Label checks of heads and classes: impossible heads, fixed patterns, a class in place of a
noun, repeated text with contradicting labels, and kinds that change over time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from statistics import fmean

from nfh_models.agreement.competence import JudgedVote
from nfh_models.agreement.drift import Trend, corrected, in_order, kind_trends, no_order
from nfh_models.domain import Anchor, Answer, Head, Kind
from nfh_models.domain.compare import CLASS_NOUNS, PLURALS
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
    Severity,
    StatedAnswer,
    nothing,
)
from nfh_models.label_checks.number_checks import kind_in_words
from nfh_models.text.numbers import parts_of

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


def _looking_at_heads(
    name: str, fault: Fault
) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    """Finds each answer with a faulty head once, with the fault of its first faulty mention."""

    def look(context: CheckContext) -> Iterator[LabelFinding]:
        for number, said in context.said():
            found = [
                (token, wrong)
                for head in said.answer.heads
                for token in (mention.head for mention in head.live)
                if (wrong := fault(context, head, token))
            ]
            if found:
                token, wrong = found[0]
                more = f", and {len(found) - 1} more mentions" if len(found) > 1 else ""
                note = f"its head \u201c{context.words[token]}\u201d is {wrong}{more}"
                yield LabelFinding(name, (number.key,), note, said.who)

    return look


def _pronoun(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    is_one = context.word(token) in PRONOUNS and context.tag(token) not in NOUNS
    return "a pronoun" if is_one else ""


def _number(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    return "a number" if parts_of(context.words[token]) else ""


def _sign(context: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    word = context.words[token]
    if parts_of(word) or context.word(token) in PRONOUNS:
        return ""
    if not any(map(str.isalpha, word)):
        return "a sign"
    if len(word) == 1:
        return "a single letter"
    return "" if word[0].isalnum() and word[-1].isalnum() else "a word with a sign glued on"


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
        LabelCheck(
            name, severity, f"A head is {what}.", _looking_at_heads(name, fault), rule, tagged
        )
        for name, severity, what, fault, rule, tagged in HEAD_FAULTS
    ),
    LabelCheck(
        "unmarked-mention",
        NOTE,
        "Several mentions of a noun are marked as heads, and others of it are not.",
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
    "A person comes to say a kind more often, or less, in the course of the work.",
    nothing,
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
        return "" if answer.kind in MEANT else "REFERENCE to what the pronoun stands for"
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


Usual = Callable[[CheckContext, Anchor, Answer], str]
"""From context, anchor and answer to the usual answer of the pattern; "" if the answer fits."""


def _looking_at_pattern(
    name: str, usual: Usual
) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    def look(context: CheckContext) -> Iterator[LabelFinding]:
        for number, said in context.said():
            wanted = usual(context, number.anchor, said.answer)
            if wanted:
                note = f"it is {kind_in_words(context, said.answer)}, usual is {wanted}"
                yield LabelFinding(name, (number.key,), note, said.who)

    return look


PATTERNS: tuple[tuple[str, Severity, str, Usual, int], ...] = (
    ("no-one", DOUBT, "\u201cno one\u201d", _no_one, 15),
    ("number-of-us", DOUBT, "\u201cthree of us\u201d, \u201ctwo of them\u201d", _number_of, 10),
    ("one-another", DOUBT, "\u201cone another\u201d", _one_another, 15),
    ("one-and-only", DOUBT, "\u201cone and only\u201d", _one_and_only, 2),
    ("i-for-one", NOTE, "\u201cI for one\u201d", _i_for_one, 15),
)

PATTERN_CHECKS = tuple(
    LabelCheck(
        name,
        severity,
        f"The pattern {pattern} has an answer that it seldom has.",
        _looking_at_pattern(name, usual),
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
            yield LabelFinding("repeated-row", (number.key,), f"it stands in {shown}")


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
            yield LabelFinding("repeated-row", keys, f"{ALMOST}, it stands {len(found)} times")


REPEAT_CHECKS = (
    LabelCheck(
        "two-golds", ERROR, "One passage has two golds for the same anchor.", two_labels
    ),
    LabelCheck(
        "repeated-row", NOTE, "An anchor stands in two rows of one split.", repeated_rows
    ),
    LabelCheck("two-splits", ERROR, "A passage stands in two splits.", two_splits),
)
ACROSS = (
    LabelCheck("shared-turn", NOTE, "Passages in two splits share a long turn.", nothing),
)
"""Checks whose findings come from `Repeats` alone."""


UNITS: dict[Kind, frozenset[str]] = {
    Kind.AGE: frozenset({"year"}),
    Kind.CURRENCY: CLASS_NOUNS[Kind.CURRENCY] - {"money", "cash", "grand", "mark"},
    Kind.TIME: frozenset({"o'clock"}),
}
"""Nouns that could stand behind the number in place of the class: "ten *dollars*"."""

COUNTED = frozenset("many any every each all some those these other few several both".split())
"""Before a noun for people these show that people are counted: "five people ... only one"."""

NEAR = 40
"""Tokens within which people are looked for."""


def class_nouns(context: CheckContext) -> Iterator[LabelFinding]:
    """AGE, CURRENCY or TIME although its unit stands in the passage."""
    for number, said in context.said():
        units = UNITS.get(said.answer.kind)
        token = _nearest(context, number, units) if units else None
        if token is not None:
            yield _there("class-noun-there", context, number, said, token)


def people_nouns(context: CheckContext) -> Iterator[LabelFinding]:
    """PEOPLE although people are counted close by (guidelines, rule 6)."""
    nouns = CLASS_NOUNS[Kind.PEOPLE]
    for number, said in context.said():
        if said.answer.kind is not Kind.PEOPLE:
            continue
        token = _nearest(context, number, nouns)
        if token is not None and _counted(context, token, number):
            yield _there("people-noun-there", context, number, said, token)


def _counted(context: CheckContext, token: int, number: CheckedNumber) -> bool:
    before = [context.word(token - i) for i in (1, 2) if token - i >= 0]
    counted = any(word in COUNTED or parts_of(word) for word in before)
    return counted and abs(token - number.anchor.start) <= NEAR


def _there(
    name: str, context: CheckContext, number: CheckedNumber, said: StatedAnswer, token: int
) -> LabelFinding:
    note = f"it is {said.answer.kind}, and \u201c{context.words[token]}\u201d stands there"
    return LabelFinding(name, (number.key,), note, said.who)


def other_nouns(context: CheckContext) -> Iterator[LabelFinding]:
    """A free noun that stands in the passage: it should be the head (guidelines, rule 6)."""
    for number, said in context.said():
        noun = (said.answer.noun or "").strip().casefold()
        if said.answer.kind is not Kind.OTHER or not noun:
            continue
        token = _nearest(context, number, _forms(noun))
        if token is not None:
            found = context.words[token]
            note = f"it is OTHER \u201c{noun}\u201d, and \u201c{found}\u201d stands there"
            yield LabelFinding("other-noun-there", (number.key,), note, said.who)


def _forms(noun: str) -> frozenset[str]:
    singulars = {
        noun.removesuffix(ending) + singular
        for ending, singular in PLURALS
        if noun.endswith(ending) and len(noun) > len(ending) + 1
    }
    return frozenset({noun, *singulars})


def _nearest(
    context: CheckContext, number: CheckedNumber, lemmas: frozenset[str]
) -> int | None:
    """The noun with one of these lemmas that is closest to the anchor."""
    anchor = number.anchor
    found = [
        place
        for place in range(len(context.low))
        if context.lemma(place) in lemmas
        and not anchor.start <= place < anchor.end
        and (context.tags is None or context.tag(place) == "NOUN")
    ]
    return min(found, key=lambda place: abs(place - anchor.start), default=None)


ROUTE_CHECKS = (
    LabelCheck(
        "class-noun-there",
        NOTE,
        "AGE, CURRENCY or TIME, and its unit stands in the passage.",
        class_nouns,
        rule=3,
    ),
    LabelCheck(
        "people-noun-there", NOTE, "PEOPLE, and people are counted close by.", people_nouns, 6
    ),
    LabelCheck(
        "other-noun-there",
        DOUBT,
        "OTHER with a noun of its own words, and that noun stands in the passage.",
        other_nouns,
        rule=6,
    ),
)
