"""Makes the sample corpus from its source: `make sample`. The dialogs'
markup, the notation of answers, and what each anchor is there to show.

The notation of answers in the dialogs' source.

    CURRENCY   CURRENCY:pound   OTHER/noun:joke   NOT_NFH      a class, its sort, its noun
    t          t<1   t>2        the noun labelled t; one token more before, two after
    t+b        t-w              with another word for the same thing; without a mention
    s & g      l | m            several heads: both; either

As the tool does, the other mentions of a marked noun's lemma are added to its head.

Reads the dialogs' source into records; what they mean is not known here yet.

    === slug                      a passage; the lines of its dialog follow
    Ada: Whose {t:tent} is it?    {label:word}: a noun that an answer may name
    Ben: I have [one].            [number]: the anchor; [label:number] where there are several
    --- turn-before               the anchor's label, if it has one; what it shows; cut
    gold unanimous                or majority, or open, or an editor's answer as below
    ann1,ann2 t 5s 8s             names, answer, seconds; one line for equal answers
    ann3 t<1 9s !ambiguous "why"  flags and comment, if any, of one person

`cut` says that the anchor holds only a part of the number. An editor's answer to a gold is
`gold t 12s r6 !anchor "why"`: seconds, the number of the guideline rule it turns on, and so
on. Answers are read by `answers`. Blank lines and lines that start with # are skipped.

Reads `dialogs/*.txt` in the order of their names and writes `corpus.jsonl` beside them, in
the form that `nfh-tui export --format gold` gives. Deterministic: the same source, the same
bytes. Refuses, with file and line, what is no answer or points nowhere.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.files import write_lines
from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.rows import RawPassage
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    SettlingRule,
    Sort,
    Turn,
    anchor_id,
    settle,
)

_CLASS = re.compile(r"(?P<kind>[A-Z_]+)(?:/(?P<sort>[a-z]+))?(?::(?P<noun>[a-z ]+))?")
_HEAD = re.compile(
    r"(?P<label>[a-z][a-z0-9]*)(?:<(?P<before>\d))?(?:>(?P<behind>\d))?"
    r"(?P<others>(?:[+-][a-z][a-z0-9]*)*)"
)
_OTHER = re.compile(r"([+-])([a-z][a-z0-9]*)")
_RELATIONS = {"&": Relation.AND, "|": Relation.OR}


def read_answer(
    text: str,
    nouns: Mapping[str, int],
    lemmas: Sequence[str],
    anchor: Anchor,
    comment: str = "",
) -> Answer:
    """The answer that `text` writes down.

    nouns: the token of each label. lemmas: one a token of the passage. Raises AnswerError
    with a sentence for what is no answer.
    """
    found = _CLASS.fullmatch(text)
    if found is not None:
        return _class_answer(text, found, comment)
    signs = set(re.findall(r" ([&|]) ", text))
    if len(signs) > 1:
        raise AnswerError(f'"{text}" mixes & and |')
    heads = [_head(part, nouns, lemmas, anchor) for part in re.split(r" [&|] ", text)]
    live = [mention.head for head in heads for mention in head.live]
    if len(live) != len(set(live)):
        raise AnswerError(f'"{text}" names one noun in two heads')
    relation = _RELATIONS[signs.pop()] if signs else None
    answer = Answer(Kind.REFERENCE, tuple(heads), relation=relation, comment=comment)
    answer.check(len(lemmas), anchor.start, anchor.end)
    return answer


def _class_answer(text: str, found: re.Match[str], comment: str) -> Answer:
    try:
        kind = Kind(found["kind"])
        sort = Sort(found["sort"].upper()) if found["sort"] else None
    except ValueError as error:
        raise AnswerError(f'"{text}" is no kind of answer') from error
    return Answer(kind, sort=sort, noun=found["noun"], comment=comment)


def _head(text: str, nouns: Mapping[str, int], lemmas: Sequence[str], anchor: Anchor) -> Head:
    found = _HEAD.fullmatch(text)
    if found is None:
        raise AnswerError(f'"{text}" is neither a class nor a labelled noun')
    token = _token(found["label"], nouns)
    start, end = token - int(found["before"] or 0), token + 1 + int(found["behind"] or 0)
    others: dict[int, Origin] = {}
    for sign, label in _OTHER.findall(found["others"]):
        others[_token(label, nouns)] = Origin.ADDED if sign == "+" else Origin.REMOVED
    named = [token, *(place for place, origin in others.items() if origin is Origin.ADDED)]
    for place in _same_noun(named, lemmas, anchor):
        others.setdefault(place, Origin.ADDED)
    mentions = [
        Mention(place, place + 1, place, origin) for place, origin in sorted(others.items())
    ]
    return Head((Mention(start, end, token), *mentions))


def _token(label: str, nouns: Mapping[str, int]) -> int:
    if label not in nouns:
        raise AnswerError(f'no noun is labelled "{label}" in the dialog')
    return nouns[label]


def _same_noun(named: Sequence[int], lemmas: Sequence[str], anchor: Anchor) -> Iterator[int]:
    """The other tokens with a lemma of the tokens `named`."""
    wanted = {lemmas[place].casefold() for place in named}
    for place, lemma in enumerate(lemmas):
        inside = anchor.start <= place < anchor.end
        if lemma.casefold() in wanted and place not in named and not inside:
            yield place


ANNOTATORS = ("ann1", "ann2", "ann3")
GOLD = "gold"

_LABEL = r"[a-z][a-z0-9]*"
_MARK = re.compile(
    rf"\[(?:(?P<anchor>{_LABEL}):)?(?P<number>[^][{{}}]+)\]"
    rf"|\{{(?P<noun>{_LABEL}):(?P<words>[^][{{}}]+)\}}"
)
_SAID = re.compile(
    r"(?P<who>gold|ann\d(?:,ann\d)*) +(?P<answer>.+?)"
    r"(?P<seconds>(?: +\d+s)*)(?: +r(?P<rule>\d+))?(?P<flags>(?: +![a-z]+)*)"
    r'(?: +"(?P<comment>.+)")?'
)


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A marked stretch of a passage's text: code points [start, end)."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkupLine:
    """Words of one turn: code points [start, end) of the passage's text."""

    speaker: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MarkedAnswer:
    """A vote, or a gold, as written. rule: of the guidelines, gold only; seconds: or None."""

    line: int
    answer: str
    seconds: int | None = None
    rule: str | None = None
    flags: tuple[str, ...] = ()
    comment: str = ""


@dataclass(slots=True)
class SourceAnchor:
    """One anchor with all that is said of it: by each annotator, and under "gold"."""

    line: int
    label: str
    phenomenon: str
    cut: bool
    said: dict[str, MarkedAnswer] = field(default_factory=dict)


@dataclass(slots=True)
class SourcePassage:
    """A dialog, its marks taken out of the text and kept by label."""

    file: str
    line: int
    slug: str
    text: str = ""
    turns: list[MarkupLine] = field(default_factory=list)
    anchor_places: dict[str, MarkedSpan] = field(default_factory=dict)
    noun_places: dict[str, MarkedSpan] = field(default_factory=dict)
    anchors: list[SourceAnchor] = field(default_factory=list)


def refusal(passage: SourcePassage, line: int, message: str) -> FormatError:
    """The error to raise about a line of the passage's file."""
    return FormatError(passage.file, line, f"passage {passage.slug}: {message}")


def read(file: str, lines: Iterable[str]) -> Iterator[SourcePassage]:
    """The passages of one source file. Raises FormatError with the line that does not hold."""
    passage: SourcePassage | None = None
    for number, raw in enumerate(lines, start=1):
        text = raw.rstrip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("=== "):
            if passage is not None:
                yield _complete(passage)
            passage = SourcePassage(file, number, text.removeprefix("=== "))
        elif passage is None:
            raise FormatError(file, number, 'wanted "=== name" before the lines of a dialog')
        else:
            _add(passage, number, text)
    if passage is not None:
        yield _complete(passage)


def _add(passage: SourcePassage, number: int, text: str) -> None:
    if text.startswith("--- "):
        passage.anchors.append(_anchor(passage, number, text.split()[1:]))
    elif passage.anchors:
        _add_said(passage, number, text)
    else:
        _add_turn(passage, number, text)


def _add_turn(passage: SourcePassage, number: int, marked: str) -> None:
    if passage.text:
        passage.text += "\n"
    start = len(passage.text)
    plain, place = "", 0
    for mark in _MARK.finditer(marked):
        plain += marked[place : mark.start()]
        words = mark["number"] or mark["words"]
        where = MarkedSpan(start + len(plain), start + len(plain) + len(words))
        _add_mark(passage, number, mark, where)
        plain += words
        place = mark.end()
    plain += marked[place:]
    if set(plain) & set("[]{}"):
        raise refusal(passage, number, "a bracket or brace that marks nothing")
    speaker, shift = split_speaker(plain)
    if speaker is None:
        raise refusal(passage, number, 'wanted "Speaker: words", each word capitalised')
    passage.text += plain
    passage.turns.append(MarkupLine(speaker, start + shift, len(passage.text)))


def _add_mark(
    passage: SourcePassage, number: int, mark: re.Match[str], where: MarkedSpan
) -> None:
    if mark["noun"]:
        known, label = passage.noun_places, mark["noun"]
    else:
        known, label = passage.anchor_places, mark["anchor"] or ""
    if label in known:
        raise refusal(passage, number, f'label "{label}" stands here for the second time')
    known[label] = where


def _anchor(passage: SourcePassage, number: int, words: list[str]) -> SourceAnchor:
    label = "" if "" in passage.anchor_places else words.pop(0)
    if label not in passage.anchor_places:
        raise refusal(passage, number, f'no anchor "{label}" in the dialog')
    if any(anchor.label == label for anchor in passage.anchors):
        raise refusal(passage, number, f'anchor "{label}" is described for the second time')
    if not words or words[1:] not in ([], ["cut"]):
        raise refusal(passage, number, 'wanted the anchor\'s phenomenon, then "cut" or nothing')
    return SourceAnchor(number, label, words[0], cut=len(words) > 1)


def _add_said(passage: SourcePassage, number: int, text: str) -> None:
    anchor = passage.anchors[-1]
    found = _SAID.fullmatch(text)
    if found is None:
        wanted = '"gold ANSWER" or "ann1 ANSWER 5s", then flags, then a comment in quotes'
        raise refusal(passage, number, f"wanted {wanted}; found: {text}")
    seconds = [int(word[:-1]) for word in found["seconds"].split()]
    flags = tuple(word[1:] for word in found["flags"].split())
    said = MarkedAnswer(
        line=number,
        answer=found["answer"],
        seconds=seconds[0] if seconds else None,
        rule=found["rule"],
        flags=flags,
        comment=found["comment"] or "",
    )
    if found["who"] == GOLD:
        _add_one(passage, anchor, GOLD, said)
    else:
        _add_votes(passage, anchor, found["who"].split(","), said, seconds)


def _add_votes(
    passage: SourcePassage,
    anchor: SourceAnchor,
    names: list[str],
    said: MarkedAnswer,
    seconds: list[int],
) -> None:
    if len(seconds) != len(names):
        raise refusal(passage, said.line, f"wanted {len(names)} times in seconds")
    if said.rule is not None or (len(names) > 1 and (said.flags or said.comment)):
        raise refusal(
            passage, said.line, "a rule is an editor's; flags and comments are one person's"
        )
    for name, time in zip(names, seconds, strict=True):
        _add_one(passage, anchor, name, replace(said, seconds=time))


def _add_one(
    passage: SourcePassage, anchor: SourceAnchor, name: str, said: MarkedAnswer
) -> None:
    if name in anchor.said:
        raise refusal(passage, said.line, f"{name} stands here for the second time")
    anchor.said[name] = said


def _complete(passage: SourcePassage) -> SourcePassage:
    """The passage, checked. Raises FormatError for an anchor or an answer that is missing."""
    described = {anchor.label for anchor in passage.anchors}
    for label in passage.anchor_places:
        if label not in described:
            raise refusal(passage, passage.line, f'anchor "{label}" is not described')
    if not passage.anchors:
        raise refusal(passage, passage.line, "has no anchor")
    for anchor in passage.anchors:
        if sorted(anchor.said) != [*ANNOTATORS, GOLD]:
            wanted = "a gold line and the answers of " + ", ".join(ANNOTATORS)
            raise refusal(passage, anchor.line, f"wanted {wanted}")
    return passage


ONE_NOUN = "REFERENCE, one noun"
REPEATED = "REFERENCE, repeated mentions"
BEHIND = "REFERENCE, noun behind"
SEVERAL = "REFERENCE, several heads"


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """group: as the guidelines' table of the sample names it. kinds: of a gold in it."""

    group: str
    kinds: tuple[Kind, ...]


def _of(group: str, kinds: tuple[Kind, ...], names: str) -> dict[str, Phenomenon]:
    return {name: Phenomenon(group, kinds) for name in names.split()}


def _class_phenomenon(kind: Kind, names: str) -> dict[str, Phenomenon]:
    return _of(kind.value, (kind,), names)


PHENOMENA: dict[str, Phenomenon] = {
    **_of(
        ONE_NOUN,
        (Kind.REFERENCE,),
        "turn-before same-turn number-differs three-away nearer-wrong modifier compound-last "
        "compound-first possessive-measure partitive-noun partitive-pronoun chain percent",
    ),
    **_of(
        REPEATED, (Kind.REFERENCE,), "several-mentions singular-plural other-sense two-words"
    ),
    # Of "A or B noun" the first number refers to the noun; the second has it as its own.
    **_of(BEHIND, (Kind.REFERENCE, Kind.NOT_NFH), "pair"),
    **_of(BEHIND, (Kind.REFERENCE,), "behind"),
    **_of(
        SEVERAL,
        (Kind.REFERENCE,),
        "and-nouns and-names and-twice or-side or-twice or-more name-as-kind",
    ),
    **_class_phenomenon(Kind.AGE, "age-predicate age-name age-turn age-years-word"),
    **_class_phenomenon(Kind.YEAR, "year-four-digits year-two-digits year-words year-decade"),
    **_class_phenomenon(
        Kind.CURRENCY,
        "currency-bare currency-money-word currency-note currency-bid currency-hundreds",
    ),
    **_class_phenomenon(Kind.TIME, "time-at time-minutes time-morning time-oclock"),
    **_class_phenomenon(
        Kind.PEOPLE,
        "people-generic people-you people-only people-one-another people-table "
        "people-is-the-one",
    ),
    **_class_phenomenon(
        Kind.OTHER,
        "countdown list-mark sum count-in code-telephone code-model code-radio code-size "
        "measure-score measure-speed measure-degrees measure-marks noun-joke noun-favour "
        "noun-drink noun-blow clause",
    ),
    **_class_phenomenon(Kind.UNKNOWN, "pointing cut-off"),
    **_class_phenomenon(
        Kind.NOT_NFH, "adjectives label-noun name as-name one-and-only no-number"
    ),
    **_class_phenomenon(Kind.BROKEN, "words-lost interleaved rubbish foreign"),
}


EDITOR = "editor"
FIRST_DAY = datetime(2025, 3, 3, tzinfo=UTC)
"""A Monday. Each file is one working day of each annotator; the editor sits two weeks later."""
HOURS = {"ann1": 9.1, "ann2": 13.25, "ann3": 16.7, EDITOR: 10.0}
PAUSE = timedelta(seconds=2)
SETTLED_AT = "2025-03-14T17:00:00.000Z"
"""When the gold that needs no editor was made, all of it in one go."""


def main() -> int:
    """Write the corpus; the exit status is 1, with a sentence, if the source does not hold."""
    out = Path(__file__).parents[1] / "nfh_tui/sample/corpus.jsonl"
    try:
        lines = list(corpus_lines(out.parent / "dialogs"))
        write_lines(out, lines)
    except (FormatError, ExportError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{out}: {len(lines)} anchors\n")
    return 0


def corpus_lines(folder: Path) -> Iterator[str]:
    """The corpus, line by line, from the source files in `folder`. Raises FormatError."""
    writer = GoldWriter()
    for _, record in corpus_records(folder):
        yield writer.line(record)


def corpus_records(folder: Path) -> Iterator[tuple[SourceAnchor, ExportRecord]]:
    """Each anchor of the source with the record made of it, in the order of the corpus."""
    seen: dict[str, str] = {}
    for day, path in enumerate(sorted(folder.glob("*.txt"))):
        sitting = _Sitting(day)
        for source in read(path.name, path.read_text(encoding="utf-8").splitlines()):
            maker = _Maker(source, sitting)
            digest = maker.passage.digest
            if digest in seen:
                message = f"is the same dialog as {seen[digest]}"
                raise refusal(source, source.line, message)
            seen[digest] = source.slug
            yield from maker.records()


@dataclass(slots=True)
class _Sitting:
    """The clocks of those who answer the items of one file, one item after the other."""

    day: int
    clocks: dict[str, datetime] = field(default_factory=dict)

    def answered(self, name: str, seconds: int) -> str:
        """The time at which `name` commits an answer that took so long."""
        week, weekday = divmod(self.day, 5)
        days = week * 7 + weekday + (14 if name == EDITOR else 0)
        start = FIRST_DAY + timedelta(days=days, hours=HOURS[name])
        at = self.clocks.get(name, start) + PAUSE + timedelta(seconds=seconds)
        self.clocks[name] = at
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Maker:
    """Makes the records of one passage of the source."""

    def __init__(self, source: SourcePassage, sitting: _Sitting) -> None:
        self.source = source
        self.sitting = sitting
        self.passage = _passage(source)
        self.lemmas = [token.lemma for token in self.passage.tokens]
        self.starts = {token.start: i for i, token in enumerate(self.passage.tokens)}
        self.ends = {token.end: i + 1 for i, token in enumerate(self.passage.tokens)}
        self.nouns = dict(self._nouns())

    def records(self) -> Iterator[tuple[SourceAnchor, ExportRecord]]:
        """The passage's records, by the anchors' place in it."""
        spans = {
            anchor.label: self._span(self.source.anchor_places[anchor.label], anchor.line)
            for anchor in self.source.anchors
        }
        for anchor in sorted(self.source.anchors, key=lambda a: spans[a.label]):
            yield anchor, self._record(anchor, Anchor(*spans[anchor.label]))

    def _nouns(self) -> Iterator[tuple[str, int]]:
        for label, place in self.source.noun_places.items():
            start, end = self._span(place, self.source.line)
            if end - start != 1:
                message = f'noun "{label}" must be one token; answers widen it with < and >'
                raise refusal(self.source, self.source.line, message)
            yield label, start

    def _span(self, place: MarkedSpan, line: int) -> tuple[int, int]:
        try:
            return self.starts[place.start], self.ends[place.end]
        except KeyError as error:
            words = self.source.text[place.start : place.end]
            message = f'"{words}" does not start and end where tokens do'
            raise refusal(self.source, line, message) from error

    def _record(self, source: SourceAnchor, anchor: Anchor) -> ExportRecord:
        votes, flags = [], []
        for name in ANNOTATORS:
            vote, raised = self._vote(name, Role.ANNOTATOR, source.said[name], anchor)
            votes.append(vote)
            flags += raised
        said = source.said[GOLD]
        gold: Gold | None = None
        if said.answer in list(SettlingRule):
            gold = self._gold_by_rule(said, votes)
        elif said.answer != "open":
            vote, raised = self._vote(EDITOR, Role.ADJUDICATOR, said, anchor)
            votes.append(vote)
            flags += raised
            gold = Gold(vote.answer, Rule.EXPERT, EDITOR, vote.answered_at)
        self._check(source, gold)
        return ExportRecord(
            public_id=anchor_id(self.passage.digest, anchor),
            passage=self.passage,
            anchor=anchor,
            split=None,
            gold=gold,
            votes=tuple(votes),
            flags=tuple(flags),
        )

    def _vote(
        self, name: str, role: Role, said: MarkedAnswer, anchor: Anchor
    ) -> tuple[Vote, list[FlagMark]]:
        """What `name` answers, and the flags set with it."""
        if said.seconds is None:
            raise refusal(self.source, said.line, "wanted the seconds that the answer took")
        try:
            answer = read_answer(said.answer, self.nouns, self.lemmas, anchor, said.comment)
            names = [FlagName(flag) for flag in said.flags]
        except ValueError as error:
            raise refusal(self.source, said.line, str(error)) from error
        at = self.sitting.answered(name, said.seconds)
        vote = Vote(
            name,
            role,
            answer,
            answered_at=at,
            seconds=float(said.seconds),
            saw_votes=role is Role.ADJUDICATOR,
            rule_tag=said.rule,
        )
        return vote, [FlagMark(flag, name, at) for flag in names]

    def _gold_by_rule(self, said: MarkedAnswer, votes: Sequence[Vote]) -> Gold:
        given = [(vote.annotator, vote.answer) for vote in votes]
        settled = settle(given, self.lemmas, SettlingRule(said.answer))
        if settled.answer is None:
            message = f"the answers make no gold by the rule {said.answer}: {settled.reason}"
            raise refusal(self.source, said.line, message)
        made_of = tuple(sorted((vote.annotator, vote.answered_at) for vote in votes))
        return Gold(settled.answer, Rule(said.answer), None, SETTLED_AT, made_of)

    def _check(self, source: SourceAnchor, gold: Gold | None) -> None:
        """Raise FormatError if the gold is no case of what the anchor is there to show."""
        shows = PHENOMENA.get(source.phenomenon)
        if shows is None:
            message = f'no phenomenon is named "{source.phenomenon}"'
            raise refusal(self.source, source.line, message)
        if gold is not None and gold.answer.kind not in shows.kinds:
            wanted = " or ".join(shows.kinds)
            message = f"{source.phenomenon} has the gold {wanted}, not {gold.answer.kind}"
            raise refusal(self.source, source.said[GOLD].line, message)


def _passage(source: SourcePassage) -> Passage:
    """The passage as an import of its plain text would make it."""
    # Imported here: only who builds the corpus pays for the tokenizer and the lemmas.
    from nfh_models.text.tokens import spans
    from nfh_tui.services.imports import passage_of

    offsets: list[tuple[int, int]] = []
    turns = []
    for number, line in enumerate(source.turns):
        first = len(offsets)
        found = spans(source.text[line.start : line.end])
        offsets += [(start + line.start, end + line.start) for start, end in found]
        turns.append(Turn(number, line.speaker, first, len(offsets)))
    starts, ends = zip(*offsets, strict=True)
    words = [source.text[start:end] for start, end in offsets]
    return passage_of(RawPassage(source.text, words, starts, ends, tuple(turns)))


if __name__ == "__main__":
    sys.exit(main())
