"""Label checks about heads and classes: impossible heads, fixed patterns, a class where a
noun would do, repeated text with other labels, and kinds that change over time.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from nfh_models.agreement.competence import Mark
from nfh_models.agreement.drift import Trend, corrected, in_order, kind_trends, no_order
from nfh_models.domain import Anchor, Answer, Head, Kind
from nfh_models.domain.compare import CLASS_NOUNS, PLURALS
from nfh_models.label_checks.base import (
    NOUNS,
    CheckContext,
    CheckedNumber,
    ImportedRow,
    LabelCheck,
    LabelFinding,
    Severity,
    StatedAnswer,
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
"""A closed list, good without a parser."""


Fault = Callable[[CheckContext, Head, int], str]
"""What is wrong with a head token, in words; "" for nothing."""


def _looking_at_heads(
    name: str, fault: Fault
) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    """Each answer with heads that have the fault, once: the fault of the first is told."""

    def look(scene: CheckContext) -> Iterator[LabelFinding]:
        for case, said in scene.said():
            found = [
                (token, wrong)
                for head in said.answer.heads
                for token in (mention.head for mention in head.live)
                if (wrong := fault(scene, head, token))
            ]
            if found:
                token, wrong = found[0]
                more = f", and {len(found) - 1} more mentions" if len(found) > 1 else ""
                note = f"its head \u201c{scene.words[token]}\u201d is {wrong}{more}"
                yield LabelFinding(name, (case.key,), note, said.who)

    return look


def _pronoun(scene: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    is_one = scene.word(token) in PRONOUNS and scene.tag(token) not in NOUNS
    return "a pronoun" if is_one else ""


def _number(scene: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    return "a number" if parts_of(scene.words[token]) else ""


def _sign(scene: CheckContext, head: Head, token: int) -> str:  # noqa: ARG001
    word = scene.words[token]
    if parts_of(word) or scene.word(token) in PRONOUNS:
        return ""
    if not any(map(str.isalpha, word)):
        return "a sign"
    if len(word) == 1:
        return "a single letter"
    return "" if word[0].isalnum() and word[-1].isalnum() else "a word with a sign glued on"


def _verb(scene: CheckContext, head: Head, token: int) -> str:
    if _after_a_noun_or_so(scene, token) and not scene.word(token).endswith("ed"):
        return ""
    return _by_tag(scene, head, token, {"VERB": "a verb", "AUX": "a verb"})


def _adjective(scene: CheckContext, head: Head, token: int) -> str:
    unsure = scene.tag(token) in ("ADJ", "ADV", "INTJ") and scene.tag(token + 1) not in NOUNS
    if unsure and _after_a_noun_or_so(scene, token):
        return ""
    return _by_tag(scene, head, token, WORDED)


def _after_a_noun_or_so(scene: CheckContext, token: int) -> bool:
    """Whether the word before makes a noun likely, whatever the parser takes it for.

    "Deposit slip", "three diamonds", "never met a psychic": most mistakes of small parsers
    are of this kind.
    """
    if not scene.same_turn(token - 1, token):
        return False
    before = scene.tag(token - 1)
    return before in MAKE_A_NOUN or scene.word(token - 1) in POSSESSIVES


def _by_tag(scene: CheckContext, head: Head, token: int, wrong: Mapping[str, str]) -> str:
    word, tag = scene.words[token], scene.tag(token)
    if tag not in wrong or not word.isalpha() or len(word) == 1:
        return ""
    if scene.word(token) in PRONOUNS or _is_compound(scene, token):
        return ""
    among = any(scene.tag(mention.head) in NOUNS for mention in head.live)
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


def _is_compound(scene: CheckContext, token: int) -> bool:
    """Whether a hyphen ties the token to another: the release marks one part of a compound."""
    return "-" in (scene.word(token - 1), scene.word(token + 1))


def unmarked(scene: CheckContext) -> Iterator[LabelFinding]:
    """Mentions of a head's noun left out where the answer marks several of it."""
    for case, said in scene.said():
        for head in said.answer.heads:
            left = list(_left_out(scene, case, head)) if len(head.live) > 1 else []
            if left:
                word = scene.words[head.live[0].head]
                shown = ", ".join(f"\u201c{scene.text(i - 2, i + 2)}\u201d" for i in left[:3])
                note = (
                    f"{len(head.live)} mentions of \u201c{word}\u201d are marked, "
                    f"{len(left)} not: {shown}"
                )
                yield LabelFinding("unmarked-mention", (case.key,), note, said.who)


def _left_out(scene: CheckContext, case: CheckedNumber, head: Head) -> Iterator[int]:
    known = {mention.head for mention in head.mentions}
    lemmas = {scene.lemma(mention.head) for mention in head.live}
    for place, token in enumerate(scene.passage.tokens):
        if token.lemma.casefold() not in lemmas or place in known:
            continue
        inside = case.anchor.start <= place < case.anchor.end
        if not inside and (scene.tags is None or scene.tag(place) in NOUNS):
            yield place


def _head_check(
    name: str,
    severity: Severity,
    what: str,
    fault: Fault,
    rule: int | None = None,
    tagged: bool = False,
) -> LabelCheck:
    return LabelCheck(
        name, severity, f"A head is {what}.", _looking_at_heads(name, fault), rule, tagged
    )


HEAD_CHECKS = (
    _head_check("head-pronoun", Severity.DOUBT, "a pronoun", _pronoun, 10),
    _head_check("head-number", Severity.DOUBT, "a number", _number, 10),
    _head_check("head-sign", Severity.NOTE, "a sign or a single letter", _sign),
    _head_check("head-verb", Severity.NOTE, "a verb, by the parser", _verb, 17, tagged=True),
    _head_check(
        "head-adjective",
        Severity.NOTE,
        "an adjective, an adverb or the like, by the parser",
        _adjective,
        17,
        tagged=True,
    ),
    LabelCheck(
        "unmarked-mention",
        Severity.NOTE,
        "Several mentions of a noun are marked as heads, and others of it are not.",
        unmarked,
        rule=7,
    ),
)


NAME = "kinds-over-time"


class OverTime:
    """Takes votes in by `add`; then `findings` tells whose kinds shift."""

    def __init__(self) -> None:
        self._votes: dict[str, list[Mark]] = {}

    def add(self, name: str, key: int, kind: Kind, at: str) -> None:
        """Take a vote in. at: when it was given, UTC, ISO 8601."""
        mark = Mark(key, kind, at, None, None, None, None, None)
        self._votes.setdefault(name, []).append(mark)

    def findings(self) -> Iterator[LabelFinding]:
        """One finding a person and kind, for the tests that hold among all that are made."""
        tested = [
            (name, trend)
            for name in sorted(self._votes)
            for trend in _trends(self._votes[name])
        ]
        trends = corrected([trend for _, trend in tested])
        for (name, _), trend in zip(tested, trends, strict=True):
            if trend.holds:
                yield LabelFinding(
                    NAME, (), _trend_in_words(trend, self._votes[name], len(tested)), name
                )


def _trends(marks: Sequence[Mark]) -> Iterator[Trend]:
    if no_order(marks) is None:
        yield from kind_trends([mark.kind for mark in in_order(marks)])


def _trend_in_words(trend: Trend, marks: Sequence[Mark], tests: int) -> str:
    ordered = [mark.kind for mark in in_order(marks)]
    half = len(ordered) // 2
    early, late = _share(ordered[:half], trend.what), _share(ordered[half:], trend.what)
    return (
        f"{trend.what} is {early:.0%} of the first half of {len(ordered):,} answers and "
        f"{late:.0%} of the second (Spearman {trend.rho:+.2f}, q {trend.q:.3f} over "
        f"{tests} tests)"
    )


def _share(kinds: Sequence[Kind], wanted: str) -> float:
    return sum(kind.value == wanted for kind in kinds) / len(kinds)


def _nothing(scene: CheckContext) -> Iterator[LabelFinding]:  # noqa: ARG001
    return iter(())


CHECK = LabelCheck(
    NAME,
    Severity.NOTE,
    "A person comes to say a kind more often, or less, in the course of the work.",
    _nothing,
)


SPEAKERS = frozenset({"us", "you", "y'all"})
OTHERS = frozenset({"them", "'em", "these", "those"})

MEANT = frozenset({Kind.PEOPLE, Kind.REFERENCE, Kind.NFH})


def _is_one(scene: CheckContext, anchor: Anchor) -> bool:
    return anchor.end - anchor.start == 1 and scene.word(anchor.start) == "one"


# --- the patterns; each says what is usual where an answer is something else, or "" -------


def _no_one(scene: CheckContext, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(scene, anchor) and scene.preceding(anchor) == "no"
    return "" if not hit or answer.kind in (Kind.PEOPLE, Kind.NFH) else "PEOPLE"


def _number_of(scene: CheckContext, anchor: Anchor, answer: Answer) -> str:
    """ "Three of us", "two of them": PEOPLE, or what the pronoun stands for."""
    if scene.following(anchor) != "of":
        return ""
    object_ = scene.word(anchor.end + 1)
    if object_ in SPEAKERS:
        kept = answer.kind in (Kind.PEOPLE, Kind.NFH) or _names_a_noun(scene, answer)
        return "" if kept else "PEOPLE"
    if object_ in OTHERS and scene.tag(anchor.end + 2) not in NOUNS:
        return "" if answer.kind in MEANT else "REFERENCE to what the pronoun stands for"
    return ""


def _names_a_noun(scene: CheckContext, answer: Answer) -> bool:
    return any(scene.word(token) not in PRONOUNS for token in answer.head_tokens())


def _one_another(scene: CheckContext, anchor: Anchor, answer: Answer) -> str:
    hit = _is_one(scene, anchor) and scene.following(anchor) == "another"
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


def _one_and_only(scene: CheckContext, anchor: Anchor, answer: Answer) -> str:  # noqa: ARG001
    behind = (scene.following(anchor), scene.word(anchor.end + 1))
    return "NOT_NFH" if _is_one(scene, anchor) and behind == ("and", "only") else ""


def _i_for_one(scene: CheckContext, anchor: Anchor, answer: Answer) -> str:
    if not _is_one(scene, anchor) or scene.preceding(anchor) != "for":
        return ""
    speaker = [scene.word(anchor.start - i) for i in (2, 3) if scene.word(anchor.start - i)]
    hit = speaker[:1] == ["i"] or speaker == [",", "i"]
    return "" if not hit or answer.kind in MEANT else "PEOPLE"


Usual = Callable[[CheckContext, Anchor, Answer], str]


def _looking_at_pattern(
    name: str, usual: Usual
) -> Callable[[CheckContext], Iterator[LabelFinding]]:
    def look(scene: CheckContext) -> Iterator[LabelFinding]:
        for case, said in scene.said():
            wanted = usual(scene, case.anchor, said.answer)
            if wanted:
                note = f"it is {kind_in_words(scene, said.answer)}, usual is {wanted}"
                yield LabelFinding(name, (case.key,), note, said.who)

    return look


def _pattern_check(
    name: str, severity: Severity, pattern: str, usual: Usual, rule: int, tagged: bool = False
) -> LabelCheck:
    sentence = f"The pattern {pattern} has an answer that it seldom has."
    return LabelCheck(name, severity, sentence, _looking_at_pattern(name, usual), rule, tagged)


PATTERN_CHECKS = (
    _pattern_check("no-one", Severity.DOUBT, "\u201cno one\u201d", _no_one, 15),
    _pattern_check(
        "number-of-us",
        Severity.DOUBT,
        "\u201cthree of us\u201d, \u201ctwo of them\u201d",
        _number_of,
        10,
    ),
    _pattern_check("one-another", Severity.DOUBT, "\u201cone another\u201d", _one_another, 15),
    _pattern_check(
        "one-and-only", Severity.DOUBT, "\u201cone and only\u201d", _one_and_only, 2
    ),
    _pattern_check("i-for-one", Severity.NOTE, "\u201cI for one\u201d", _i_for_one, 15),
)


# What stands in a corpus more than once: with other labels, in two splits, in other cases.
#
# `rows` looks at one passage. `Repeats` takes in all passages, one after the other, and keeps
# hashes and labels of them, no text.

LONG_TURN = 8
"""Tokens of a turn that is not said twice by chance."""

ALMOST = "in passages that differ only in case, white space or speakers"


@dataclass(frozen=True, slots=True)
class LabelKey:
    """What an answer says, without the passage: its kind and the lemmas of its heads."""

    kind: Kind
    lemmas: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scene: CheckContext, answer: Answer) -> "LabelKey":
        """The label of an answer."""
        return cls(answer.kind, frozenset(scene.lemma(t) for t in answer.head_tokens()))

    def contradicts(self, other: "LabelKey") -> bool:
        """Whether both cannot be right: other kinds, or no noun in common."""
        kinds = {self.kind, other.kind}
        if Kind.NFH in kinds:
            return bool(kinds & {Kind.NOT_NFH, Kind.BROKEN})
        if len(kinds) > 1:
            return True
        return self.kind is Kind.REFERENCE and not self.lemmas & other.lemmas


# --- rows of one anchor ----------------------------------------------------------------


def two_labels(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors of which two rows of files say what cannot both be right."""
    for case in scene.cases:
        labelled = [(row, row.said) for row in case.rows if row.said is not None]
        for row, said in labelled[1:]:
            first = labelled[0]
            if LabelKey.of(scene, first[1]).contradicts(LabelKey.of(scene, said)):
                note = f"{_says(scene, *first)}; {_says(scene, row, said)}"
                yield LabelFinding("two-golds", (case.key,), note)
                break


def _says(scene: CheckContext, row: ImportedRow, said: Answer) -> str:
    return f"{row.file} line {row.line} says {kind_in_words(scene, said)}"


def repeated_rows(scene: CheckContext) -> Iterator[LabelFinding]:
    """Anchors that one file gives in two rows, or two files of one split.

    The files of several annotators give each anchor once for each of them, as they should.
    """
    for case in scene.cases:
        alike: dict[tuple[str | None, str | None], list[ImportedRow]] = defaultdict(list)
        for row in case.rows:
            if not row.vote:
                alike[row.who, row.split].append(row)
        again = [row for rows in alike.values() if len(rows) > 1 for row in rows]
        if again:
            shown = ", ".join(f"{row.file} line {row.line}" for row in again)
            yield LabelFinding("repeated-row", (case.key,), f"it stands in {shown}")


def two_splits(scene: CheckContext) -> Iterator[LabelFinding]:
    """Passages with rows in two splits."""
    splits = sorted({row.split for case in scene.cases for row in case.rows if row.split})
    if len(splits) > 1:
        keys = tuple(case.key for case in scene.cases)
        yield LabelFinding("two-splits", keys, f"the passage is in {' and '.join(splits)}")


# --- all passages ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Anchor:
    """An anchor by its place in the text without white space, and its label if it has gold."""

    key: int
    start: int
    end: int
    label: LabelKey | None


@dataclass(slots=True)
class _Met:
    """A text that was met: in which splits, and its anchors, by passage."""

    splits: dict[int, tuple[str, ...]] = field(default_factory=dict)
    anchors: dict[int, tuple[_Anchor, ...]] = field(default_factory=dict)


class Repeats:
    """Takes passages in by `add`; then `findings` tells what several of them share."""

    def __init__(self) -> None:
        self._texts: dict[bytes, _Met] = defaultdict(_Met)
        self._turns: dict[bytes, list[tuple[str, int, bytes]]] = defaultdict(list)

    def add(self, scene: CheckContext) -> None:
        """Take a passage in."""
        text = _hash("".join(scene.low))
        met = self._texts[text]
        met.splits[scene.key] = tuple(
            sorted({row.split for case in scene.cases for row in case.rows if row.split})
        )
        places = _places(scene)
        met.anchors[scene.key] = tuple(
            _Anchor(case.key, places[case.anchor.start], places[case.anchor.end], label)
            for case, label in _gold(scene)
        )
        self._add_turns(scene, text, met.splits[scene.key])

    def _add_turns(self, scene: CheckContext, text: bytes, splits: Iterable[str]) -> None:
        if not scene.cases:
            return
        for turn in scene.passage.turns:
            if turn.end - turn.start >= LONG_TURN:
                said = _hash("".join(scene.low[turn.start : turn.end]))
                for split in splits:
                    self._turns[said].append((split, scene.cases[0].key, text))

    def findings(self) -> Iterator[LabelFinding]:
        """What several passages share, check by check."""
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
                note = f"{ALMOST}, it is in {_and(splits)}"
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
                note = f"a turn of {LONG_TURN} tokens or more is in {_and(splits)}"
                yield LabelFinding("shared-turn", keys, note)


def _hash(text: str) -> bytes:
    return blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _places(scene: CheckContext) -> list[int]:
    """Where each token starts in the text without white space, and where the text ends."""
    places, at = [], 0
    for word in scene.low:
        places.append(at)
        at += len(word)
    return [*places, at]


def _gold(scene: CheckContext) -> Iterator[tuple[CheckedNumber, LabelKey | None]]:
    for case in scene.cases:
        answers = [said.answer for said in case.said if said.who is None]
        yield case, LabelKey.of(scene, answers[0]) if answers else None


def _met_again(anchors: list[_Anchor]) -> Iterator[LabelFinding]:
    """Anchors at the same place of equal texts: with labels that contradict, or just again."""
    by_place: dict[tuple[int, int], list[_Anchor]] = defaultdict(list)
    for one in anchors:
        by_place[one.start, one.end].append(one)
    for found in by_place.values():
        if len(found) < 2:
            continue
        keys = tuple(one.key for one in found)
        labels = [one.label for one in found if one.label is not None]
        if any(labels[0].contradicts(label) for label in labels[1:]):
            said = " and ".join(dict.fromkeys(_label_in_words(label) for label in labels))
            yield LabelFinding("two-golds", keys, f"{ALMOST}, gold is {said}")
        else:
            yield LabelFinding("repeated-row", keys, f"{ALMOST}, it stands {len(found)} times")


def _label_in_words(label: LabelKey) -> str:
    nouns = f" to \u201c{', '.join(sorted(label.lemmas))}\u201d" if label.lemmas else ""
    return f"{label.kind}{nouns}"


def _and(names: Iterable[str]) -> str:
    return " and ".join(names)


REPEAT_CHECKS = (
    LabelCheck(
        "two-golds",
        Severity.ERROR,
        "One passage has two golds for the same anchor.",
        two_labels,
    ),
    LabelCheck(
        "repeated-row",
        Severity.NOTE,
        "An anchor stands in two rows of one split.",
        repeated_rows,
    ),
    LabelCheck(
        "two-splits",
        Severity.ERROR,
        "A passage stands in two splits.",
        two_splits,
    ),
)


ACROSS = (
    LabelCheck(
        "shared-turn",
        Severity.NOTE,
        "Passages in two splits share a long turn.",
        _nothing,
    ),
)
"""Checks whose findings come from `Repeats` alone."""


UNITS: dict[Kind, frozenset[str]] = {
    Kind.AGE: frozenset({"year"}),
    Kind.CURRENCY: CLASS_NOUNS[Kind.CURRENCY] - {"money", "cash", "grand", "mark"},
    Kind.TIME: frozenset({"o'clock"}),
}
"""What could stand behind the number in place of the class: "ten *dollars*"."""

COUNTED = frozenset("many any every each all some those these other few several both".split())
"""Before a noun for people they show that people are counted: "five people ... only one"."""

NEAR = 40
"""Tokens within which people are looked for."""


def class_nouns(scene: CheckContext) -> Iterator[LabelFinding]:
    """AGE, CURRENCY or TIME although its unit stands in the passage."""
    for case, said in scene.said():
        units = UNITS.get(said.answer.kind)
        token = _nearest(scene, case, units) if units else None
        if token is not None:
            yield _there("class-noun-there", scene, case, said, token)


def people_nouns(scene: CheckContext) -> Iterator[LabelFinding]:
    """PEOPLE although people are counted in the passage, close by (rule 6)."""
    nouns = CLASS_NOUNS[Kind.PEOPLE]
    for case, said in scene.said():
        if said.answer.kind is not Kind.PEOPLE:
            continue
        token = _nearest(scene, case, nouns)
        if token is not None and _counted(scene, token, case):
            yield _there("people-noun-there", scene, case, said, token)


def _counted(scene: CheckContext, token: int, case: CheckedNumber) -> bool:
    before = [scene.word(token - i) for i in (1, 2) if token - i >= 0]
    counted = any(word in COUNTED or parts_of(word) for word in before)
    return counted and abs(token - case.anchor.start) <= NEAR


def _there(
    name: str, scene: CheckContext, case: CheckedNumber, said: StatedAnswer, token: int
) -> LabelFinding:
    note = f"it is {said.answer.kind}, and \u201c{scene.words[token]}\u201d stands there"
    return LabelFinding(name, (case.key,), note, said.who)


def other_nouns(scene: CheckContext) -> Iterator[LabelFinding]:
    """A free noun that stands in the passage: that would be its head (rule 6)."""
    for case, said in scene.said():
        noun = (said.answer.noun or "").strip().casefold()
        if said.answer.kind is not Kind.OTHER or not noun:
            continue
        token = _nearest(scene, case, _forms(noun))
        if token is not None:
            found = scene.words[token]
            note = f"it is OTHER \u201c{noun}\u201d, and \u201c{found}\u201d stands there"
            yield LabelFinding("other-noun-there", (case.key,), note, said.who)


def _forms(noun: str) -> frozenset[str]:
    singulars = {
        noun.removesuffix(ending) + singular
        for ending, singular in PLURALS
        if noun.endswith(ending) and len(noun) > len(ending) + 1
    }
    return frozenset({noun, *singulars})


def _nearest(scene: CheckContext, case: CheckedNumber, lemmas: frozenset[str]) -> int | None:
    """The noun of these lemmas that is closest to the anchor."""
    anchor = case.anchor
    found = [
        place
        for place in range(len(scene.low))
        if scene.lemma(place) in lemmas
        and not anchor.start <= place < anchor.end
        and (scene.tags is None or scene.tag(place) == "NOUN")
    ]
    return min(found, key=lambda place: abs(place - anchor.start), default=None)


ROUTE_CHECKS = (
    LabelCheck(
        "class-noun-there",
        Severity.NOTE,
        "AGE, CURRENCY or TIME, and its unit stands in the passage.",
        class_nouns,
        rule=3,
    ),
    LabelCheck(
        "people-noun-there",
        Severity.NOTE,
        "PEOPLE, and people are counted close by.",
        people_nouns,
        rule=6,
    ),
    LabelCheck(
        "other-noun-there",
        Severity.DOUBT,
        "OTHER with a noun of its own words, and that noun stands in the passage.",
        other_nouns,
        rule=6,
    ),
)
