"""Plans the import of a stretch of passages: the rows to write, and the events to apply later.

Nothing is written here. New anchors get their rows, summary columns included. A change of an
existing anchor becomes an event, which is applied after the whole file is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

import msgspec

from nfh_db import answers, event_log
from nfh_db.anchors import span_columns
from nfh_db.answers import summarise
from nfh_db.connection import Connection
from nfh_db.errors import FormatError
from nfh_db.formats.rows import per_token
from nfh_db.passages import KNOWN as KNOWN_PASSAGES
from nfh_db.passages import with_words
from nfh_db.records import (
    PERSON,
    FlagMark,
    Gold,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.serialization import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Marks,
    Value,
    content_of,
    decode_anchor,
    encode,
    encode_gold_votes,
    encode_lemmas,
    encode_turns,
    gold_value,
    json_of,
    vote_of,
    vote_value,
)
from nfh_models.domain import AnswerError, Kind, Passage, PassageError

OF_PASSAGES = """
SELECT a.passage_id, a.start, a.stop, a.id, a.removed OR a.replaced_by IS NOT NULL
FROM anchor AS a WHERE a.passage_id IN (SELECT value FROM json_each(:ids))"""
# The anchors that an act on many items removed, with what they were, and whether rows of files
# are of them.
RETIRED = """
SELECT e.anchor_id, e.before,
    EXISTS (SELECT 1 FROM source_row AS s WHERE s.anchor_id = e.anchor_id)
FROM event AS e JOIN act AS c ON c.id = e.act_id LEFT JOIN act AS t ON t.id = c.target
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids)) AND e.entity = 'anchor'
    AND e.after IS NULL AND 'settle' IN (c.kind, CASE c.kind WHEN 'redo' THEN t.kind END)
    AND NOT EXISTS (SELECT 1 FROM event AS n
        WHERE n.anchor_id = e.anchor_id AND n.entity = 'anchor' AND n.id > e.id)"""
# What earlier stretches of an import change of anchors once the whole file is stored. The plus
# keeps SQLite from reading all events of the act.
AHEAD = """
SELECT e.anchor_id, n.name, e.name, e.entity, e.after
FROM event AS e LEFT JOIN annotator AS n ON n.id = e.annotator_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids)) AND +e.act_id = :act ORDER BY e.id"""
FLAGS_OF = """
SELECT f.anchor_id, f.name, n.name, f.flagged_at, f.batch_id, f.start, f.stop
FROM flag AS f JOIN annotator AS n ON n.id = f.annotator_id
WHERE f.anchor_id IN (SELECT value FROM json_each(:ids)) AND f.removed = 0"""


@dataclass(slots=True)
class AnchorPlace:
    """An anchor with its gold, answers and flags, including planned ones."""

    id: int
    new: bool
    """Its rows are not yet written."""

    gone: bool = False
    """A person replaced or removed it."""

    retired: AnchorValue | None = None
    """What it was, if it was retired with the import that brought it."""

    of_rows: bool = True
    """Rows of files are of it. Known of a retired one only."""

    gold: GoldValue | None = None
    votes: dict[tuple[str, str], AnswerValue] = field(default_factory=dict)
    """By annotator's name and role."""

    flags: dict[tuple[str, str], FlagValue] = field(default_factory=dict)
    """By flag and annotator's name."""

    def change(self, who: str, name: str, value: Value | None) -> None:
        """Make of it what an event of the log says, which is still to be applied."""
        match value:
            case AnswerValue():
                self.votes[who, name] = value
            case FlagValue():
                self.flags[name, who] = value
            case GoldValue():
                self.gold = value
            case AnchorValue():
                self.gone = value.replaced_by is not None


@dataclass(slots=True)
class PassagePlace:
    """A passage with its anchors."""

    id: int
    anchors: dict[tuple[int, int], AnchorPlace] = field(default_factory=dict)
    """By tokens, [start, stop)."""

    passage: Passage | None = None
    """As stored, if it was found by its words; its text may be another than the file's."""

    def decided(self, incoming: IncomingPassage) -> tuple[int, int]:
        """The numbers of incoming anchors with gold here, and of those that are here."""
        here = [
            self.anchors.get((one.anchor.start, one.anchor.end)) for one in incoming.anchors
        ]
        known = [one for one in here if one is not None and not one.gone]
        return sum(one.gold is not None for one in known), len(known)


@dataclass(slots=True)
class KnownPassages:
    """The passages of a stretch that the database has, with their anchors."""

    passages: dict[str, PassagePlace] = field(default_factory=dict)
    """By digest."""

    by_words: dict[int, dict[int, PassagePlace]] = field(default_factory=dict)
    """By the digest of the words, then by id, the oldest first: those that a passage of a file
    without text may be.
    """

    stored: dict[int, PassagePlace] = field(default_factory=dict)
    """By id."""

    act: int = 0
    """The act of the import, whose events count as applied; 0 for none."""

    def look_up(self, connection: Connection, stretch: Sequence[IncomingPassage]) -> None:
        """Add those of these passages that the database has and that are not here yet."""
        wanted = {one.passage.digest for one in stretch}
        missing = list(wanted - self.passages.keys())
        new: dict[int, PassagePlace] = {}
        for digest, id_ in connection.execute(KNOWN_PASSAGES, {"digests": json_of(missing)}):
            self.passages[digest] = self._place(id_, new)
        without_text = [
            one.passage
            for one in stretch
            if one.stated != "text" and one.passage.digest not in self.passages
        ]
        for id_, passage in sorted(with_words(connection, without_text).items()):
            place = self._place(id_, new)
            place.passage = passage
            self.by_words.setdefault(passage.words_digest, {})[id_] = place
        if new:
            _add_anchors(connection, new, self.act)

    def _place(self, id_: int, new: dict[int, PassagePlace]) -> PassagePlace:
        """Return the one place of a stored passage; one that is new here is added to `new`."""
        if id_ not in self.stored:
            self.stored[id_] = new[id_] = PassagePlace(id_)
        return self.stored[id_]

    def find(self, incoming: IncomingPassage) -> PassagePlace | None:
        """Return the place of a passage; None for a new one.

        A passage without text is also one with equal words, turns and speakers, as far as the
        file states them: of several the one that has the anchors' gold, else the anchors, else
        the oldest.
        """
        passage = incoming.passage
        place = self.passages.get(passage.digest)
        if place is not None or incoming.stated == "text" or not self.by_words:
            return place
        alike = [
            one
            for one in self.by_words.get(passage.words_digest, {}).values()
            if incoming.stated == "words" or _same_turns(one.passage, passage)
        ]
        return max(alike, key=lambda one: one.decided(incoming), default=None)


def _same_turns(one: Passage | None, other: Passage) -> bool:
    return one is not None and per_token(one.turns) == per_token(other.turns)


def _add_anchors(connection: Connection, passages: dict[int, PassagePlace], act: int) -> None:
    by_id: dict[int, AnchorPlace] = {}
    for passage_id, start, stop, id_, gone in connection.execute(
        OF_PASSAGES, {"ids": json_of(list(passages))}
    ):
        place = by_id[id_] = AnchorPlace(id_, new=False, gone=bool(gone))
        passages[passage_id].anchors[start, stop] = place
    ids = list(by_id)
    removed = json_of([one.id for one in by_id.values() if one.gone])
    for id_, before, of_rows in connection.execute(RETIRED, {"ids": removed}):
        by_id[id_].retired, by_id[id_].of_rows = decode_anchor(before), bool(of_rows)
    read_values(connection, by_id)
    for id_, who, name, entity, after in connection.execute(
        AHEAD, {"ids": json_of(ids), "act": act}
    ):
        by_id[id_].change(who, name, event_log.DECODERS[entity](after))


def read_values(connection: Connection, places: Mapping[int, AnchorPlace]) -> None:
    """Add the gold, answers and flags of these anchors, by id."""
    ids = list(places)
    for id_, gold in answers.read_all_gold(connection, ids).items():
        places[id_].gold = gold
    for id_, key, vote in answers.read_all(connection, ids):
        places[id_].votes[key] = vote
    for id_, name, annotator, *columns in connection.execute(FLAGS_OF, {"ids": json_of(ids)}):
        places[id_].flags[name, annotator] = answers.value_of(*columns)


Row = tuple[object, ...]

EXAMPLES = 5
"""Passages that a report names."""


@dataclass(slots=True)
class ImportCounts:
    """The counts of a plan, as in ImportReport."""

    rows: int = 0
    passages_new: int = 0
    passages_known: int = 0
    anchors_new: int = 0
    anchors_known: int = 0
    gold_new: int = 0
    gold_same: int = 0
    gold_replaced: int = 0
    votes_new: int = 0
    votes_replaced: int = 0
    flags_new: int = 0
    anchors_back: int = 0

    @property
    def changes(self) -> bool:
        """True if any anchor, gold, answer or flag is new or back, or any gold or answer
        replaced.
        """
        gold = self.gold_new or self.gold_replaced
        votes = self.votes_new or self.votes_replaced
        anchors = self.anchors_new or self.anchors_back
        return bool(anchors or gold or votes or self.flags_new)

    def add(self, other: "ImportCounts") -> None:
        for name in ImportCounts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class Ids:
    """The next free ids of the tables to whose rows other rows of a plan refer."""

    passage: int
    anchor: int
    answer: int
    head: int

    def above(self, last: "Ids") -> bool:
        """True if all of these are free. last: the highest ids in use."""
        return (
            self.passage > last.passage
            and self.anchor > last.anchor
            and self.answer > last.answer
            and self.head > last.head
        )


@dataclass(slots=True)
class ImportRows:
    """The plan of a stretch: rows by table, in the column order of each INSERT."""

    counts: ImportCounts = field(default_factory=ImportCounts)
    first: Ids = field(default_factory=lambda: Ids(0, 0, 0, 0))
    """The lowest ids that the rows use."""

    passages: list[Row] = field(default_factory=list)
    tokens: list[Row] = field(default_factory=list)
    words: list[Row] = field(default_factory=list)
    anchors: list[Row] = field(default_factory=list)
    answers: list[Row] = field(default_factory=list)
    golds: list[Row] = field(default_factory=list)
    heads: list[Row] = field(default_factory=list)
    mentions: list[Row] = field(default_factory=list)
    flags: list[Row] = field(default_factory=list)
    differences: list[Row] = field(default_factory=list)
    expert_differences: list[Row] = field(default_factory=list)
    gold_differences: list[Row] = field(default_factory=list)
    sources: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    deferred: list[Row] = field(default_factory=list)
    """Events of existing anchors, to be applied after the file is stored."""

    new: list[tuple[int, str]] = field(default_factory=list)
    """Line and text of the first new passages."""

    conflicts: list[str] = field(default_factory=list)
    """Sentences about content of the file that was not taken over, with its line."""


@dataclass(frozen=True, slots=True)
class ImportPurpose:
    """The parameters of an import."""

    name: str
    """Of the file."""

    batch: int
    origin: int
    """The batch of the gold of this file.

    It differs from `batch` in a second import of the file, which only restores its gold.
    """

    act: int
    document: int
    replace_gold: bool
    """Gold from other files and from rules may be replaced."""

    people: Mapping[str, int]
    """Ids of all annotators that the stretch names."""

    types: Mapping[str, str] = field(default_factory=dict)
    """Types of these annotators."""

    newer_answers: bool = False
    """An annotator's answer replaces an earlier one of the same annotator in the database."""

    @property
    def again(self) -> bool:
        """True if an earlier import stored the rows, answers and flags of the file."""
        return self.origin != self.batch


class ImportPlanner:
    """Plans one stretch. It adds new passages and anchors to `known`."""

    def __init__(self, purpose: ImportPurpose, known: KnownPassages, first: Ids) -> None:
        self._purpose = purpose
        self._known = known
        self._next = replace(first)
        self._new: list[tuple[PassagePlace, AnchorPlace, IncomingPassage, IncomingAnchor]] = []
        # Each answer to a new anchor: its successive values, the last one being the present.
        self._past: dict[tuple[int, str, str], list[AnswerValue]] = {}
        self.plan = ImportRows(first=first)

    def run(self, stretch: Sequence[IncomingPassage]) -> ImportRows:
        """Return the plan. Raises FormatError, with the line, for content that does not fit."""
        for incoming in stretch:
            self._passage(incoming)
        for entry in self._new:
            self._finish(*entry)
        return self.plan

    def _passage(self, incoming: IncomingPassage) -> None:
        counts = self.plan.counts
        place = self._known.find(incoming)
        if place is None:
            place = self._new_passage(incoming)
            counts.passages_new += 1
        else:
            counts.passages_known += 1
        for anchor in incoming.anchors:
            counts.rows += 1
            self._anchor(place, incoming, anchor)

    def _new_passage(self, incoming: IncomingPassage) -> PassagePlace:
        passage = incoming.passage
        id_ = self._next.passage
        self._next.passage += 1
        place = PassagePlace(id_)
        purpose = self._purpose
        if len(self.plan.new) < EXAMPLES:
            line = min((one.line for one in incoming.anchors), default=0)
            self.plan.new.append((line, passage.text))
        self._known.passages[passage.digest] = place
        if incoming.stated == "turns":
            self._known.by_words.setdefault(passage.words_digest, {})[id_] = place
            self.plan.words.append((passage.words_digest, id_))
        digest = bytes.fromhex(passage.digest)
        self.plan.passages.append((id_, purpose.document, purpose.batch, digest, passage.text))
        lemmas, turns = encode_lemmas(passage.tokens), encode_turns(passage.turns)
        tokens = (passage.offsets, lemmas, turns, incoming.tokenizer)
        self.plan.tokens.append((id_, *tokens))
        return place

    def _anchor(
        self, place: PassagePlace, incoming: IncomingPassage, row: IncomingAnchor
    ) -> None:
        self._check(incoming.passage, row)
        span = (row.anchor.start, row.anchor.end)
        anchor = place.anchors.get(span)
        if anchor is None:
            anchor = AnchorPlace(self._next.anchor, new=True)
            self._next.anchor += 1
            place.anchors[span] = anchor
            self._new.append((place, anchor, incoming, row))
            self.plan.counts.anchors_new += 1
        else:
            self.plan.counts.anchors_known += 1
        if not self._purpose.again:
            self.plan.sources.append(
                (self._purpose.batch, row.line, anchor.id, row.split, row.labels)
            )
        if anchor.retired is not None:
            self._bring_back(place, anchor, anchor.retired)
        if anchor.gone:
            self._conflict(row.line, "a person gave this number another span, which was kept")
            return
        if not self._purpose.again:
            for vote in row.votes:
                self._vote(anchor, vote, row)
            for mark in row.flags:
                self._flag(anchor, mark)
        # After the answers: an expert's gold points to the expert's own.
        if row.gold is not None and (self._purpose.replace_gold or not self._purpose.again):
            self._gold(anchor, row.gold, row.line)

    def _bring_back(self, place: PassagePlace, anchor: AnchorPlace, value: AnchorValue) -> None:
        """Make a retired anchor what it was, and those that came of it or of no row."""
        anchor.retired, anchor.gone = None, value.replaced_by is not None
        self.plan.counts.anchors_back += not anchor.gone
        self._defer(anchor, "anchor", None, "", None, encode(value))
        for other in place.anchors.values():
            was = other.retired
            if was is not None and (
                other.id == value.replaced_by or (not other.of_rows and was.replaces is None)
            ):
                self._bring_back(place, other, was)

    def _check(self, passage: Passage, row: IncomingAnchor) -> None:
        answers = [vote.answer for vote in (*row.earlier, *row.votes)]
        if row.gold is not None:
            answers.append(row.gold.answer)
        try:
            row.anchor.check(passage)
            for answer in answers:
                answer.check(len(passage.tokens), row.anchor.start, row.anchor.end)
        except (PassageError, AnswerError) as error:
            raise FormatError(self._purpose.name, row.line, str(error)) from error
        for mark in row.flags:
            trouble = mark.problem(row.anchor, len(passage.tokens))
            if trouble:
                what = f"flag {mark.name} of {mark.annotator}: {trouble}"
                raise FormatError(self._purpose.name, row.line, what)

    def _conflict(self, line: int, what: str) -> None:
        self.plan.conflicts.append(f"line {line}: {what}")

    # --- answers, gold and flags of a row -----------------------------------------------

    def _vote(self, anchor: AnchorPlace, vote: Vote, row: IncomingAnchor) -> None:
        key = (vote.annotator, vote.role.value)
        steps = self._steps(vote, row.earlier)
        value = steps[-1]
        before = anchor.votes.get(key)
        if before is not None:
            if content_of(before) == content_of(value):
                return
            steps = _behind(before, steps) or self._newer(vote, before, value)
            if not steps:
                self._conflict(
                    row.line,
                    f"{vote.annotator} answered {in_words(before)} already, which was kept; "
                    f"the file says {in_words(value)}",
                )
                return
            self.plan.counts.votes_replaced += 1
        else:
            self.plan.counts.votes_new += 1
        anchor.votes[key] = value
        if anchor.new:
            self._past.setdefault((anchor.id, *key), []).extend(steps)
            return
        person = self._purpose.people[vote.annotator]
        for old, new in pairwise((before, *steps)):
            self._defer(anchor, "answer", person, vote.role.value, encode(old), encode(new))

    def _newer(self, vote: Vote, before: AnswerValue, value: AnswerValue) -> list[AnswerValue]:
        """Return an annotator's answer if it may replace the earlier one; else nothing.

        An adjudicator's answer is never replaced: gold points to it. An answer without a time
        replaces nothing. Where the earlier one came without a time, its time here is that of
        its import, and it was given before that.
        """
        may = self._purpose.newer_answers and vote.role is Role.ANNOTATOR and vote.timed
        return [value] if may and value.at > before.at else []

    def _steps(self, vote: Vote, earlier: Sequence[Vote]) -> list[AnswerValue]:
        """Return an annotator's successive answers to one anchor, without repeated ones."""
        who = (vote.annotator, vote.role)
        given = [one for one in earlier if (one.annotator, one.role) == who]
        values = [vote_value(one, self._purpose.batch) for one in (*given, vote)]
        return [value for value, _ in groupby(values)]

    def _gold(self, anchor: AnchorPlace, given: Gold, line: int) -> None:
        counts = self.plan.counts
        value = gold_value(given, self._purpose.origin)
        before = anchor.gold
        if before is None:
            counts.gold_new += 1
        elif _says_no_more(value, before, self._may_replace(before)):
            counts.gold_same += 1
            return
        elif self._may_replace(before):
            counts.gold_replaced += 1
        else:
            whose = "an adjudicator's gold" if before.rule == Rule.EXPERT else "gold"
            self._conflict(
                line, f"{whose} {in_words(before)} was kept; the file says {in_words(value)}"
            )
            return
        anchor.gold = value
        if not anchor.new:
            self._defer(anchor, "gold", None, "", encode(before), encode(value))

    def _may_replace(self, before: GoldValue) -> bool:
        """False for an expert's decision, and for gold that comes from this file."""
        return (
            self._purpose.replace_gold
            and before.rule != Rule.EXPERT
            and before.batch != self._purpose.origin
        )

    def _flag(self, anchor: AnchorPlace, mark: FlagMark) -> None:
        key = (mark.name.value, mark.annotator)
        if key in anchor.flags:
            return
        value = FlagValue(mark.flagged_at, self._purpose.batch, mark.ends)
        anchor.flags[key] = value
        self.plan.counts.flags_new += 1
        if not anchor.new:
            person = self._purpose.people[mark.annotator]
            self._defer(anchor, "flag", person, mark.name.value, None, encode(value))

    def _defer(
        self,
        anchor: AnchorPlace,
        entity: str,
        person: int | None,
        name: str,
        before: str | None,
        after: str | None,
    ) -> None:
        self.plan.deferred.append(
            (self._purpose.act, entity, anchor.id, person, name, before, after)
        )

    # --- rows of new anchors ------------------------------------------------------------

    def _finish(
        self,
        place: PassagePlace,
        anchor: AnchorPlace,
        incoming: IncomingPassage,
        row: IncomingAnchor,
    ) -> None:
        """Add the rows of a new anchor, after all rows of the stretch have been read."""
        passage = place.passage or incoming.passage
        votes = sorted(anchor.votes.items())
        types = self._purpose.types
        given = [
            vote_of(value, name, Role(role), types.get(name, PERSON))
            for (name, role), value in votes
        ]
        summary = summarise(
            given,
            anchor.gold,
            lambda: [token.lemma for token in passage.tokens],
        )
        columns = span_columns(place.id, passage, row.anchor)
        self.plan.anchors.append((anchor.id, *columns, self._purpose.batch, *summary.columns()))
        people = [self._purpose.people[one.annotator] for one in given if one.counts]
        if summary.by_gold is not None:
            self.plan.gold_differences += answers.gold_rows(anchor.id, people, summary.by_gold)
        if len(votes) > 1:
            self.plan.differences += answers.pairs(anchor.id, people, summary.disagreement)
            self.plan.expert_differences += answers.expert_rows(anchor.id, summary.experts)
        adjudicated = {}
        for (name, role), value in votes:
            answer_id = self._answer_row(anchor.id, name, role, value)
            if role == Role.ADJUDICATOR:
                adjudicated[name] = answer_id
        if anchor.gold is not None:
            self._gold_row(anchor.id, anchor.gold, adjudicated)
        for (name, annotator), mark in anchor.flags.items():
            self._flag_row(anchor.id, name, annotator, mark)

    def _answer_row(self, anchor_id: int, name: str, role: str, value: AnswerValue) -> int:
        purpose, plan = self._purpose, self.plan
        id_ = self._next.answer
        self._next.answer += 1
        person = purpose.people[name]
        kind, at, _, *said, _, in_sheet, timed = msgspec.structs.astuple(value)
        given = (*said, purpose.batch, at, in_sheet, timed)
        plan.answers.append((id_, anchor_id, person, role, kind, *given))
        self._head_rows(value.heads, answer_id=id_, gold_id=None)
        for old, new in pairwise((None, *self._past[anchor_id, name, role])):
            plan.events.append(
                (purpose.act, "answer", anchor_id, person, role, encode(old), encode(new))
            )
        return id_

    def _gold_row(
        self, anchor_id: int, value: GoldValue, adjudicated: Mapping[str, int]
    ) -> None:
        purpose, plan = self._purpose, self.plan
        kind, rule, _, *said, by, at, _, votes = msgspec.structs.astuple(value)
        person = None if by is None else purpose.people[by]
        answer = adjudicated.get(by) if rule == Rule.EXPERT else None
        decided = (rule, person, answer, purpose.batch, at, encode_gold_votes(votes))
        plan.golds.append((anchor_id, kind, *said, *decided))
        self._head_rows(value.heads, answer_id=None, gold_id=anchor_id)
        plan.events.append((purpose.act, "gold", anchor_id, None, "", None, encode(value)))

    def _flag_row(self, anchor_id: int, name: str, annotator: str, value: FlagValue) -> None:
        purpose, plan = self._purpose, self.plan
        person = purpose.people[annotator]
        columns = value.span or (None, None)
        plan.flags.append((anchor_id, person, name, purpose.batch, value.at, *columns))
        plan.events.append((purpose.act, "flag", anchor_id, person, name, None, encode(value)))

    def _head_rows(self, marks: Marks, *, answer_id: int | None, gold_id: int | None) -> None:
        for position, head in enumerate(marks):
            id_ = self._next.head
            self._next.head += 1
            self.plan.heads.append((id_, answer_id, gold_id, position))
            self.plan.mentions += [(id_, place, *mark) for place, mark in enumerate(head)]


def _says_no_more(value: GoldValue, before: GoldValue, may_replace: bool) -> bool:
    """True if a gold adds nothing to the present one.

    If gold may be replaced, an expert's decision that confirms the present gold does add to it.
    A file that only says that the noun is missing adds nothing to gold that says which it is.
    """
    if value.kind == Kind.NFH and value.rule != Rule.EXPERT:
        return Kind(before.kind).identification is True
    if content_of(value) != content_of(before) or value.comment not in ("", before.comment):
        return False
    return not (may_replace and value.rule == Rule.EXPERT)


def _behind(present: AnswerValue, steps: Sequence[AnswerValue]) -> list[AnswerValue]:
    """Return the steps after the present answer; nothing if it is not one of the steps.

    A later export of the same data repeats the present answer, with equal content and time,
    before the newer ones.
    """
    for place, step in enumerate(steps):
        if content_of(step) == content_of(present) and step.at == present.at:
            return list(steps[place + 1 :])
    return []


def in_words(value: AnswerValue | GoldValue) -> str:
    """Return an answer in a few words, for a message."""
    if not value.heads:
        return value.kind
    tokens = sorted({mark[2] for head in value.heads for mark in head if mark[3] != "removed"})
    return f"{value.kind} to token {', '.join(map(str, tokens))}"
