"""Plans of bulk operations: what may be done to many items at once, what it would change of
each, and why an item stays as it is.

Never changed is what another expert decided, what this person has to decide without knowing
of others' decisions, and an item of which this person has begun an answer. What is one's own
decision, or gold of a file or a rule, gives way, and the plan says of how many.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path

from nfh_db import answers, assignments, items, models, passages, queue, system
from nfh_db.anchors import VISIBLE
from nfh_db.bulk_run import BulkAct, Row, bulk_connection, finish_leftovers
from nfh_db.connection import Connection, Repository, connect, readable, translated, with_path
from nfh_db.errors import StoreError
from nfh_db.query import Query, asked_by
from nfh_db.records import Annotator, Exposure, FlagName, Gold, Role, Rule
from nfh_db.serialization import (
    AnswerValue,
    FlagValue,
    GoldValue,
    answer_of,
    answer_value,
    decode_gold,
    decode_lemmas,
    encode,
    gold_value,
    json_of,
)
from nfh_db.settlement import Progress, silent
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Anchor,
    Answer,
    AnswerError,
    Kind,
    Mention,
    Passage,
    Relation,
    SettlingRule,
    class_answer,
    reference_answer,
    settle,
)

# What may be done to many items at once, what it would do, and what it did.
#
# Frozen records, as the screen gives and shows them.


class OperationKind(StrEnum):
    """What is done to each item. GIVEN: each is decided by an answer of its own."""

    FLAG = "flag"
    UNFLAG = "unflag"
    SKIP = "skip"
    UNSKIP = "unskip"
    WITHDRAW = "withdraw"
    PROPOSAL = "proposal"
    MODEL = "model"
    CLASS = "class"
    GIVEN = "given"


DECIDING = frozenset(
    {OperationKind.PROPOSAL, OperationKind.MODEL, OperationKind.CLASS, OperationKind.GIVEN}
)
"""What makes gold of an adjudicator's own."""

Seeing = Callable[[int], Exposure]
"""What of an anchor was in view of the person who decides it."""


def unseen(anchor_id: int) -> Exposure:
    """Nothing of it was."""
    del anchor_id
    return Exposure()


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """What a person wants done to many items.

    flag: of FLAG and UNFLAG. answer: of CLASS. answers: of GIVEN, by anchor.
    """

    deed: OperationKind
    role: Role = Role.ADJUDICATOR
    flag: FlagName | None = None
    answer: Answer | None = None
    answers: Mapping[int, Answer] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The act in the history, and in what undo says, without its number of items."""
        noun = "decisions" if self.role is Role.ADJUDICATOR else "answers"
        return {
            OperationKind.FLAG: f"flag {self.flag} set",
            OperationKind.UNFLAG: f"flag {self.flag} cleared",
            OperationKind.SKIP: "items skipped",
            OperationKind.UNSKIP: "items no longer skipped",
            OperationKind.WITHDRAW: f"{noun} withdrawn",
            OperationKind.PROPOSAL: "agreed answers adopted",
            OperationKind.MODEL: "the model's answers adopted",
            OperationKind.CLASS: f"gold {self.answer.kind if self.answer else ''}",
            OperationKind.GIVEN: "a decision applied to similar items",
        }[self.deed]


@dataclass(frozen=True, slots=True)
class Sampled:
    """One of the items that would be changed, to be read.

    before, after: of the gold, or of a withdrawn answer; None for none, and of a flag.
    """

    anchor_id: int
    passage: Passage
    anchor: Anchor
    before: Answer | None
    after: Answer | None


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What a wish would do.

    looked: items looked at. ids: those that would be changed. notes: what is to be known of
    some of these, as whose gold they lose, with how many. kept: why the others stay, with how
    many. sample: a few of those that would be changed, from all over.
    """

    wish: BulkOperation
    looked: int
    ids: "array[int]"
    notes: Mapping[str, int]
    kept: Mapping[str, int]
    sample: tuple[Sampled, ...]


@dataclass(frozen=True, slots=True)
class BulkDone:
    """What was done. act_id: None where nothing was to be done any more.

    left: items that were planned and left, since somebody changed them meanwhile.
    """

    act_id: int | None
    at: str
    changed: int
    left: int
    words: str


ITEMS = f"""
SELECT a.id, a.start, a.stop, t.lemmas
FROM anchor AS a JOIN passage_token AS t ON t.passage_id = a.passage_id
WHERE a.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}"""  # noqa: S608 - constants
DRAFTS = """
SELECT anchor_id FROM draft
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND annotator_id = :me
    AND role = :role"""
FLAGS = """
SELECT anchor_id, name, flagged_at, batch_id, start, stop FROM flag
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND annotator_id = :me AND removed = 0"""
GOLDS = """
SELECT e.anchor_id, e.before, e.after FROM event AS e
JOIN act AS c ON c.id = e.act_id LEFT JOIN batch AS b ON b.id = c.batch_id
WHERE e.anchor_id IN (SELECT value FROM json_each(:ids)) AND e.entity = 'gold'
    AND coalesce(b.state, '') <> 'loading'
ORDER BY e.anchor_id, e.id"""
CHOICES = """
SELECT anchor_id, choice FROM prediction
WHERE anchor_id IN (SELECT value FROM json_each(:ids)) AND model_id = :model"""

GONE = "no longer there"
BLIND = "yours to decide blind"
BEGUN = "you have begun an answer"
SAME = "you decided it so already"
NO_PROPOSAL = "no majority by the rules of settle"
NO_RELATION = "several heads, AND or OR not said"
NO_MODEL = "no model has answered"
NO_FIT = "the answer does not fit the passage"
NO_ANSWER = "nothing of yours to withdraw"
DECIDED = "decided already"
NOT_OFFERED = "its noun does not stand there"
"""Why an item stays as it is."""

OWN = "in place of your own decision"
OF_FILE = "in place of gold from a file"
OF_RULE = "in place of gold made by a rule"
LOST_FILE = "had gold from a file before you decided, which does not come back"
LOST_RULE = "had gold made by a rule before you decided, which does not come back"
LOST_EXPERT = "had another expert's gold before you decided, which does not come back"
"""What is to be known of an item that is changed."""

LOST = {Rule.IMPORTED: LOST_FILE, Rule.EXPERT: LOST_EXPERT}
RULES = (SettlingRule.UNANIMOUS, SettlingRule.MAJORITY)


@dataclass(frozen=True, slots=True)
class Planned:
    """What becomes of one item: changes, or in `kept` why there are none.

    before, after: as of Sampled.
    """

    anchor_id: int
    rows: tuple[Row, ...] = ()
    kept: str = ""
    note: str = ""
    before: Answer | None = None
    after: Answer | None = None


@dataclass(slots=True)
class _Facts:
    """What is known of some items, by anchor."""

    items: dict[int, tuple[int, int, list[str]]] = field(default_factory=dict)
    golds: dict[int, GoldValue] = field(default_factory=dict)
    mine: dict[int, AnswerValue] = field(default_factory=dict)
    given: dict[int, list[tuple[str, Answer]]] = field(default_factory=dict)
    flags: dict[tuple[int, str], FlagValue] = field(default_factory=dict)
    choices: dict[int, str] = field(default_factory=dict)
    replaced: dict[int, str] = field(default_factory=dict)
    drafts: frozenset[int] = frozenset()
    blind: frozenset[int] = frozenset()


class BulkPlanner:
    """Plans a wish of somebody's at a time. Reads; writes nothing."""

    def __init__(
        self,
        connection: Connection,
        wish: BulkOperation,
        me: Annotator,
        at: str,
        seeing: Seeing,
    ) -> None:
        self._connection = connection
        self._wish = wish
        self._me = me
        self._at = at
        self._seeing = seeing
        self._guideline = passages.guideline_version(connection)
        self._model = models.active(connection, "resolution")

    def some(self, ids: Sequence[int]) -> Iterator[Planned]:
        """What becomes of each of these anchors, in this order."""
        facts = self._facts(ids)
        for anchor_id in ids:
            if anchor_id not in facts.items:
                yield Planned(anchor_id, kept=GONE)
            elif self._wish.deed in DECIDING:
                yield self._decide(anchor_id, facts)
            elif self._wish.deed is OperationKind.WITHDRAW:
                yield self._withdraw(anchor_id, facts)
            else:
                yield self._flag(anchor_id, facts)

    def _facts(self, ids: Sequence[int]) -> _Facts:
        run, wish, me = self._connection.execute, self._wish, self._me
        key = {"ids": json_of(list(ids)), "me": me.id, "role": wish.role.value}
        facts = _Facts()
        for id_, start, stop, lemmas in run(ITEMS, key):
            facts.items[id_] = (start, stop, decode_lemmas(lemmas))
        facts.golds = answers.read_all_gold(self._connection, ids)
        for id_, (name, role), value in answers.read_all(self._connection, ids):
            if name == me.name and role == wish.role:
                facts.mine[id_] = value
        if wish.deed is OperationKind.PROPOSAL:
            facts.given = {
                id_: [(vote.annotator, vote.answer) for vote in votes if vote.counts]
                for id_, votes in answers.votes(self._connection, ids).items()
            }
        if wish.deed is OperationKind.MODEL and self._model is not None:
            facts.choices = dict(run(CHOICES, key | {"model": self._model[0]}))
        if wish.deed is OperationKind.WITHDRAW and wish.role is Role.ADJUDICATOR:
            facts.replaced = _replaced(run(GOLDS, key), me.name)
        for id_, name, *columns in run(FLAGS, key):
            facts.flags[id_, name] = answers.value_of(*columns)
        facts.drafts = frozenset(row[0] for row in run(DRAFTS, key))
        facts.blind = frozenset(assignments.blind(self._connection, ids, me.id))
        return facts

    # --- deciding -----------------------------------------------------------------------

    def _decide(self, id_: int, facts: _Facts) -> Planned:
        present = facts.golds.get(id_)
        kept = self._untouchable(id_, facts)
        if kept:
            return Planned(id_, kept=kept)
        made = self._answer(id_, facts)
        if isinstance(made, str):
            return Planned(id_, kept=made)
        start, stop, lemmas = facts.items[id_]
        try:
            made.check(len(lemmas), start, stop)
        except AnswerError:
            return Planned(id_, kept=NO_FIT)
        before = None if present is None else answer_of(present)
        own = present is not None and present.rule == Rule.EXPERT
        if own and before is not None and before.without_comment() == made:
            return Planned(id_, kept=SAME)
        return Planned(id_, self._decision(id_, facts, made), "", _note(present), before, made)

    def _untouchable(self, id_: int, facts: _Facts) -> str:
        if id_ in facts.blind:
            return BLIND
        present = facts.golds.get(id_)
        if present is not None and present.rule == Rule.EXPERT and present.by != self._me.name:
            return f"decided by {present.by or 'an expert'}"
        return BEGUN if id_ in facts.drafts else ""

    def _decision(self, id_: int, facts: _Facts, made: Answer) -> tuple[Row, ...]:
        """What an expert's decision changes, as when it is given alone."""
        me, at = self._me, self._at
        value = answer_value(made, at, self._seeing(id_), self._guideline)
        decided = gold_value(Gold(made, Rule.EXPERT, me.name, at), None)
        role, skip = self._wish.role.value, FlagName.SKIP.value
        rows: list[Row] = [
            ("answer", id_, me.id, role, encode(facts.mine.get(id_)), encode(value)),
            ("gold", id_, None, "", encode(facts.golds.get(id_)), encode(decided)),
        ]
        if (id_, skip) in facts.flags:
            rows.append(("flag", id_, me.id, skip, encode(facts.flags[id_, skip]), None))
        return tuple(rows)

    def _answer(self, id_: int, facts: _Facts) -> Answer | str:
        """The answer that an item is to have, or why it is to have none."""
        if self._wish.deed is OperationKind.PROPOSAL:
            return _proposal(facts.given.get(id_, ()), facts.items[id_][2])
        if self._wish.deed is OperationKind.MODEL:
            choice = facts.choices.get(id_)
            return NO_MODEL if choice is None else chosen(choice, facts.items[id_])
        if self._wish.deed is OperationKind.GIVEN:
            return self._wish.answers.get(id_) or NOT_OFFERED
        return self._wish.answer or NO_FIT

    # --- the rest -----------------------------------------------------------------------

    def _withdraw(self, id_: int, facts: _Facts) -> Planned:
        me, role = self._me, self._wish.role
        mine, present = facts.mine.get(id_), facts.golds.get(id_)
        if mine is None:
            return Planned(id_, kept=NO_ANSWER)
        rows: list[Row] = [("answer", id_, me.id, role.value, encode(mine), None)]
        makes = present is not None and present.rule == Rule.EXPERT and present.by == me.name
        note = ""
        if role is Role.ADJUDICATOR and makes:
            rows.append(("gold", id_, None, "", encode(present), None))
            note = facts.replaced.get(id_, "")
        return Planned(id_, tuple(rows), note=note, before=answer_of(mine))

    def _flag(self, id_: int, facts: _Facts) -> Planned:
        wish = self._wish
        skips = wish.deed in (OperationKind.SKIP, OperationKind.UNSKIP)
        name = FlagName.SKIP.value if skips else str(wish.flag)
        on = wish.deed in (OperationKind.FLAG, OperationKind.SKIP)
        present = facts.flags.get((id_, name))
        if on and present is not None:
            return Planned(id_, kept=f"has your flag {name} already")
        if not on and present is None:
            return Planned(id_, kept=f"has no flag {name} of yours")
        if wish.deed is OperationKind.SKIP and self._is_done(id_, facts):
            return Planned(id_, kept=DECIDED)
        value = FlagValue(self._at) if on else None
        row = ("flag", id_, self._me.id, name, encode(present), encode(value))
        return Planned(id_, (row,))

    def _is_done(self, id_: int, facts: _Facts) -> bool:
        """True for an item that needs no answer of this person's in this role."""
        present = facts.golds.get(id_)
        if self._wish.role is Role.ADJUDICATOR and id_ not in facts.blind:
            return present is not None and present.kind != Kind.NFH
        return id_ in facts.mine


def _replaced(events: Iterable[tuple[int, str | None, str | None]], me: str) -> dict[int, str]:
    """What stood there before this person's decisions that hold now: what to say, by anchor.

    events: anchor, gold before and after, each anchor's in the order in which they happened.
    """
    found: dict[int, str] = {}
    for id_, before, after in events:
        was, now = decode_gold(before), decode_gold(after)
        if now is None or (now.rule, now.by) != (Rule.EXPERT, me) or was is None:
            found.pop(id_, None)
        elif (was.rule, was.by) != (Rule.EXPERT, me):
            found[id_] = LOST.get(Rule(was.rule), LOST_RULE)
    return found


def _note(present: GoldValue | None) -> str:
    if present is None:
        return ""
    if present.rule == Rule.EXPERT:
        return OWN
    return OF_FILE if present.rule == Rule.IMPORTED else OF_RULE


def _proposal(given: Sequence[tuple[str, Answer]], lemmas: Sequence[str]) -> Answer | str:
    """What all, or most, of the annotators say."""
    for rule in RULES:
        found = settle(given, lemmas, rule).answer
        if found is not None:
            if found.relation is Relation.UNSTATED:
                return NO_RELATION
            return NO_PROPOSAL if found.kind is Kind.NFH else found.without_comment()
    return NO_PROPOSAL


def chosen(choice: str, item: tuple[int, int, Sequence[str]]) -> Answer | str:
    """What a model's choice comes to: a class by name, or a token in digits.

    item: the anchor's tokens, from and to, and the lemmas of the passage.
    """
    if choice in {kind.value for kind in IMPLICIT_KINDS}:
        return class_answer(Kind(choice))
    start, stop, lemmas = item
    if not (choice.isascii() and choice.isdigit() and len(choice) < 10):
        return NO_FIT
    token = int(choice)
    if token >= len(lemmas) or start <= token < stop:
        return NO_FIT
    return reference_answer([[Mention(token, token + 1, token)]])


AT_ONCE = 500
MOST_SAMPLED = 24
"""Items that a preview shows."""


class _Sample:
    """Some of a number of items that is not known before, from all over, in order."""

    def __init__(self) -> None:
        self._kept: list[Planned] = []
        self._stride = 1
        self._count = 0

    def offer(self, one: Planned) -> None:
        """Take one in, if its turn has come."""
        if self._count % self._stride == 0:
            self._kept.append(one)
        self._count += 1
        if len(self._kept) > 2 * MOST_SAMPLED:
            self._kept = self._kept[::2]
            self._stride *= 2

    def shown(self) -> Sequence[Planned]:
        """At most `MOST_SAMPLED` of them."""
        step = -(-len(self._kept) // MOST_SAMPLED) or 1
        return self._kept[::step]


def preview(
    connection: Connection,
    ids: Sequence[int],
    wish: BulkOperation,
    me: Annotator,
    progress: Progress,
) -> BulkPreview:
    """What a wish would do to these anchors, on a connection in a read transaction."""
    check(wish)
    sample, changed = _Sample(), array("q")
    notes, kept = Counter[str](), Counter[str]()
    planner = BulkPlanner(connection, wish, me, system.now(), unseen)
    for done, one in enumerate(_planned(planner, ids), 1):
        if one.kept:
            kept[one.kept] += 1
        else:
            changed.append(one.anchor_id)
            sample.offer(one)
            notes[one.note] += 1 if one.note else 0
        if done % AT_ONCE == 0:
            progress("looked at", done)
    return BulkPreview(
        wish,
        len(ids),
        changed,
        {note: count for note, count in notes.most_common() if count},
        dict(kept.most_common()),
        _sampled(connection, sample.shown()),
    )


def check(wish: BulkOperation) -> None:
    """Raise StoreError for what nobody may do to many items at once."""
    if wish.deed in DECIDING and wish.role is not Role.ADJUDICATOR:
        raise StoreError(
            "Annotators answer one item after the other: many are decided at once by an "
            "adjudicator only"
        )


def _planned(planner: BulkPlanner, ids: Sequence[int]) -> Iterator[Planned]:
    for first in range(0, len(ids), AT_ONCE):
        yield from planner.some(ids[first : first + AT_ONCE])


def _sampled(connection: Connection, shown: Sequence[Planned]) -> tuple[Sampled, ...]:
    found = items.read_passages(connection, [one.anchor_id for one in shown])
    return tuple(
        Sampled(one.anchor_id, *found[one.anchor_id], one.before, one.after)
        for one in shown
        if one.anchor_id in found
    )


def run(
    path: Path,
    ids: Sequence[int],
    wish: BulkOperation,
    me: Annotator,
    *,
    seeing: Seeing = unseen,
    progress: Progress = silent,
) -> BulkDone:
    """Do it to these anchors, those that a preview named; what does not fit any more stays.

    Raises StoreError beside other bulk work. Killed on the way it leaves nothing, or is
    finished by the next start.
    """
    check(wish)
    words = f"{wish.words} on {len(ids):,} item" + ("" if len(ids) == 1 else "s")
    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        with BulkAct(connection, "bulk", me.id, words, "do this again", items=True) as act:
            done = BulkDone(act.act_id, act.at, 0, 0, words)
            planned = events = 0
            reading = closing(connect(path, "ro"))
            with translated(path), readable(path), reading as reader:
                reader.execute("BEGIN")
                planner = BulkPlanner(reader, wish, me, act.at, seeing)
                for one in _planned(planner, ids):
                    if not one.kept:
                        act.add(one.rows)
                        planned, events = planned + 1, events + len(one.rows)
                        progress("prepared", planned)
            if not planned:
                return replace(done, act_id=None)
            act.show()
            share = planned / events
            left = len(act.apply(lambda count: progress("done", int(count * share))))
            return replace(done, changed=planned - left, left=left)


class Bulk(Repository):
    """One operation on many items, as one act that one undo takes back."""

    run = with_path(run)

    def preview(
        self,
        found: Query | Sequence[int],
        wish: BulkOperation,
        me: Annotator,
        progress: Progress = silent,
    ) -> BulkPreview:
        """What a wish would do to the anchors of a query, or to those of these ids.

        progress: called with what is being done and to how many anchors it was. Raises
        StoreError where this person may not do it to many at once.
        """
        with self.connections.reading() as connection:
            if isinstance(found, Query):
                asked = asked_by(found, wish.role, me.name)
                chunks = queue.queue_ids(connection, asked, me.id, wish.role)
                found = list(chain.from_iterable(chunks))
            return preview(connection, found, wish, me, progress)
