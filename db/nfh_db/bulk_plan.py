"""Plans bulk operations: the changes of each item, or the reason why it is left unchanged.

An operation never changes the decision of another expert, an item that this person has yet to
decide blind, or an item of which this person has a draft. It replaces the person's own
decisions, and gold from a file or a rule; the preview counts these.
"""

import secrets
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pathlib import Path

import msgspec

from nfh_db import (
    answers,
    assignments,
    batches,
    edits,
    event_log,
    items,
    models,
    passages,
    queue,
    system,
)
from nfh_db.anchors import VISIBLE
from nfh_db.bulk_run import (
    BulkAct,
    Row,
    bulk_connection,
    finish_leftovers,
    move_person,
)
from nfh_db.connection import (
    Connection,
    Repository,
    connect,
    readable,
    reads,
    translated,
    with_path,
    writes_durably,
)
from nfh_db.errors import StoreError
from nfh_db.messages import counted, quoted
from nfh_db.query import Query, asked_by
from nfh_db.records import Annotator, Exposure, FlagName, Gold, Role, Rule
from nfh_db.serialization import (
    AnswerValue,
    FlagValue,
    GoldValue,
    answer_of,
    answer_value,
    content_of,
    decode_gold,
    decode_lemmas,
    encode,
    gold_value,
    json_of,
)
from nfh_db.settlement import Progress, ignore
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


class OperationKind(StrEnum):
    """What an operation does to each item."""

    FLAG = "flag"
    UNFLAG = "unflag"
    SKIP = "skip"
    UNSKIP = "unskip"
    WITHDRAW = "withdraw"
    """Removes the person's answer, and the gold made from it."""

    PROPOSAL = "proposal"
    """Decides by what annotators agree on, all or most of them."""

    MODEL = "model"
    """Decides by the prediction of the active resolution model."""

    CLASS = "class"
    """Decides all items by the same answer."""

    GIVEN = "given"
    """Decides each item by an answer of its own."""

    SHEET = "sheet"
    """Decides each undecided item by an answer of its own, read in a review sheet."""


DECIDING = frozenset(
    {
        *(OperationKind.PROPOSAL, OperationKind.MODEL, OperationKind.CLASS),
        *(OperationKind.GIVEN, OperationKind.SHEET),
    }
)
"""Kinds that decide items as an adjudicator."""

Seeing = Callable[[int], Exposure]
"""Returns for an anchor what the deciding person had in view."""


def empty_exposure(anchor_id: int) -> Exposure:
    """Return that neither votes nor a model's answer were in view."""
    del anchor_id
    return Exposure()


@dataclass(frozen=True, slots=True)
class BulkOperation:
    """An operation on many items."""

    deed: OperationKind
    role: Role = Role.ADJUDICATOR
    flag: FlagName | None = None
    """For FLAG and UNFLAG."""

    answer: Answer | None = None
    """For CLASS."""

    answers: Mapping[int, Answer] = field(default_factory=dict)
    """For GIVEN and SHEET, by anchor."""

    @property
    def words(self) -> str:
        """The summary of the act for the history and for undo, without the number of items."""
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
            OperationKind.SHEET: "a review sheet accepted",
        }[self.deed]


@dataclass(frozen=True, slots=True)
class Sampled:
    """An item that would be changed, for a preview."""

    anchor_id: int
    passage: Passage
    anchor: Anchor
    before: Answer | None
    """The gold, or the answer to be withdrawn; None for a flag."""

    after: Answer | None
    """The new gold; None for a withdrawal and for a flag."""


@dataclass(frozen=True, slots=True)
class BulkPreview:
    """What an operation would do."""

    wish: BulkOperation
    looked: int
    """Items examined."""

    ids: "array[int]"
    """Items that would be changed."""

    notes: Mapping[str, int]
    """Items of `ids` by warning, for example whose gold is replaced; most frequent first."""

    kept: Mapping[str, int]
    """Items left unchanged, by reason; most frequent first."""

    sample: tuple[Sampled, ...]
    """At most MOST_SAMPLED of `ids`, evenly spread."""


@dataclass(frozen=True, slots=True)
class BulkDone:
    """The result of an operation."""

    act_id: int | None
    """None if no item was left to change."""

    at: str
    changed: int
    """Items."""

    left: int
    """Items that were planned but left, because somebody changed them meanwhile."""

    words: str
    """The summary of the act."""


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
MEASURED = "of an audit or a double"
BEGUN = "you have begun an answer"
SAME = "already decided this way by you"
NO_PROPOSAL = "no majority by the rules of settle"
NO_RELATION = "several heads, AND or OR not said"
NO_MODEL = "no model has answered"
NO_FIT = "the answer does not fit the passage"
NO_ANSWER = "nothing of yours to withdraw"
DECIDED = "decided already"
NOT_OFFERED = "its noun is not at that place"
"""Reasons to leave an item unchanged."""

OWN = "in place of your own decision"
OF_FILE = "in place of gold from a file"
OF_RULE = "in place of gold made by a rule"
LOST_FILE = "had gold from a file before you decided, which is not restored"
LOST_RULE = "had gold made by a rule before you decided, which is not restored"
LOST_EXPERT = "had another adjudicator's gold before you decided, which is not restored"
"""Warnings about an item that is changed."""

LOST = {Rule.IMPORTED: LOST_FILE, Rule.EXPERT: LOST_EXPERT}
RULES = (SettlingRule.UNANIMOUS, SettlingRule.MAJORITY)


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of one item."""

    anchor_id: int
    rows: tuple[Row, ...] = ()
    """The changes."""

    kept: str = ""
    """Why there are no changes; "" if there are."""

    note: str = ""
    """A warning; "" for none."""

    before: Answer | None = None
    """See Sampled."""

    after: Answer | None = None
    """See Sampled."""


@dataclass(slots=True)
class _Facts:
    """The state of some items, by anchor."""

    items: dict[int, tuple[int, int, list[str]]] = field(default_factory=dict)
    """Tokens of the anchor, [start, stop), and the lemmas of its passage."""

    golds: dict[int, GoldValue] = field(default_factory=dict)
    mine: dict[int, AnswerValue] = field(default_factory=dict)
    """The person's answers in the role of the operation."""

    given: dict[int, list[tuple[str, Answer]]] = field(default_factory=dict)
    """Annotators' names and answers."""

    flags: dict[tuple[int, str], FlagValue] = field(default_factory=dict)
    """The person's flags, by anchor and name of the flag."""

    choices: dict[int, str] = field(default_factory=dict)
    """Of the active model."""

    replaced: dict[int, str] = field(default_factory=dict)
    """Warnings about gold that a withdrawal does not bring back."""

    drafts: frozenset[int] = frozenset()
    blind: frozenset[int] = frozenset()
    """Anchors that the person has yet to decide blind."""


@dataclass
class BulkPlanner:
    """Plans an operation of a person. It only reads."""

    connection: Connection
    wish: BulkOperation
    me: Annotator
    at: str
    seeing: Seeing

    def __post_init__(self) -> None:
        self._guideline = passages.guideline_version(self.connection)
        self._model = models.active(self.connection, "resolution")

    def some(self, ids: Sequence[int]) -> Iterator[Planned]:
        """Yield the plan of each of these anchors, in this order.

        All are looked up at once: pass a few hundred at a time.
        """
        facts = self._facts(ids)
        for anchor_id in ids:
            if anchor_id not in facts.items:
                yield Planned(anchor_id, kept=GONE)
            elif self.wish.deed in DECIDING:
                yield self._decide(anchor_id, facts)
            elif self.wish.deed is OperationKind.WITHDRAW:
                yield self._withdraw(anchor_id, facts)
            else:
                yield self._flag(anchor_id, facts)

    def _facts(self, ids: Sequence[int]) -> _Facts:
        run, wish, me = self.connection.execute, self.wish, self.me
        key = {"ids": json_of(list(ids)), "me": me.id, "role": wish.role.value}
        facts = _Facts()
        for id_, start, stop, lemmas in run(ITEMS, key):
            facts.items[id_] = (start, stop, decode_lemmas(lemmas))
        facts.golds = answers.read_all_gold(self.connection, ids)
        for id_, (name, role), value in answers.read_all(self.connection, ids):
            if name == me.name and role == wish.role:
                facts.mine[id_] = value
        if wish.deed is OperationKind.PROPOSAL:
            facts.given = {
                id_: [(vote.annotator, vote.answer) for vote in votes if vote.counts]
                for id_, votes in answers.votes(self.connection, ids).items()
            }
        if wish.deed is OperationKind.MODEL and self._model is not None:
            facts.choices = dict(run(CHOICES, key | {"model": self._model[0]}))
        if wish.deed is OperationKind.WITHDRAW and wish.role is Role.ADJUDICATOR:
            facts.replaced = _replaced(run(GOLDS, key), me.name)
        for id_, name, *columns in run(FLAGS, key):
            facts.flags[id_, name] = answers.value_of(*columns)
        facts.drafts = frozenset(row[0] for row in run(DRAFTS, key))
        whose = None if wish.deed is OperationKind.SHEET else me.id
        facts.blind = frozenset(assignments.blind(self.connection, ids, whose))
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
        present, sheet = facts.golds.get(id_), self.wish.deed is OperationKind.SHEET
        if id_ in facts.blind:
            return MEASURED if sheet else BLIND
        if sheet:
            # The answers in a sheet are the person's own drafts.
            decided = present is not None and present.kind != Kind.NFH
            return f"decided by {present.by or 'a rule'}" if present and decided else ""
        if present is not None and present.rule == Rule.EXPERT and present.by != self.me.name:
            return f"decided by {present.by or 'an adjudicator'}"
        return BEGUN if id_ in facts.drafts else ""

    def _decision(self, id_: int, facts: _Facts, made: Answer) -> tuple[Row, ...]:
        """Return the changes of a decision, the same as `edits.commit_answer` makes."""
        me, at = self.me, self.at
        value = answer_value(made, at, self.seeing(id_), self._guideline)
        decided = gold_value(Gold(made, Rule.EXPERT, me.name, at), None)
        role, skip = self.wish.role.value, FlagName.SKIP.value
        rows: list[Row] = [
            ("answer", id_, me.id, role, encode(facts.mine.get(id_)), encode(value)),
            ("gold", id_, None, "", encode(facts.golds.get(id_)), encode(decided)),
        ]
        if (id_, skip) in facts.flags:
            rows.append(("flag", id_, me.id, skip, encode(facts.flags[id_, skip]), None))
        return tuple(rows)

    def _answer(self, id_: int, facts: _Facts) -> Answer | str:
        """Return the answer for an item, or the reason why there is none."""
        if self.wish.deed is OperationKind.PROPOSAL:
            return _proposal(facts.given.get(id_, ()), facts.items[id_][2])
        if self.wish.deed is OperationKind.MODEL:
            choice = facts.choices.get(id_)
            return NO_MODEL if choice is None else answer_of_choice(choice, facts.items[id_])
        if self.wish.deed in (OperationKind.GIVEN, OperationKind.SHEET):
            return self.wish.answers.get(id_) or NOT_OFFERED
        return self.wish.answer or NO_FIT

    # --- withdrawing and flags ----------------------------------------------------------

    def _withdraw(self, id_: int, facts: _Facts) -> Planned:
        me, role = self.me, self.wish.role
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
        wish = self.wish
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
        value = FlagValue(self.at) if on else None
        row = ("flag", id_, self.me.id, name, encode(present), encode(value))
        return Planned(id_, (row,))

    def _is_done(self, id_: int, facts: _Facts) -> bool:
        """True for an item that needs no answer of this person in this role."""
        present = facts.golds.get(id_)
        if self.wish.role is Role.ADJUDICATOR and id_ not in facts.blind:
            return present is not None and present.kind != Kind.NFH
        return id_ in facts.mine


def _replaced(events: Iterable[tuple[int, str | None, str | None]], me: str) -> dict[int, str]:
    """Return warnings by anchor about the gold that the person's present decision replaced.

    events: (anchor, gold before, gold after), ordered by anchor and time.
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
    """Return what all or most annotators say, or the reason why there is no such answer."""
    for rule in RULES:
        found = settle(given, lemmas, rule).answer
        if found is not None:
            if found.relation is Relation.UNSTATED:
                return NO_RELATION
            return NO_PROPOSAL if found.kind is Kind.NFH else found.without_comment()
    return NO_PROPOSAL


def answer_of_choice(choice: str, item: tuple[int, int, Sequence[str]]) -> Answer | str:
    """Return the answer that a model's choice stands for, or NO_FIT.

    choice: a class name, or a token index in decimal digits. item: first token of the anchor,
    token after its last, and lemmas of the passage.
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
"""Items that are planned at a time."""

MOST_SAMPLED = 24
"""Items that a preview shows at most."""


class _Sample:
    """An evenly spread sample, in order, of a stream of unknown length.

    Whenever more than twice the wanted number are kept, every other one is dropped.
    """

    def __init__(self) -> None:
        self._kept: list[Planned] = []
        self._stride = 1
        self._count = 0

    def offer(self, one: Planned) -> None:
        if self._count % self._stride == 0:
            self._kept.append(one)
        self._count += 1
        if len(self._kept) > 2 * MOST_SAMPLED:
            self._kept = self._kept[::2]
            self._stride *= 2

    def shown(self) -> Sequence[Planned]:
        step = -(-len(self._kept) // MOST_SAMPLED) or 1
        return self._kept[::step]


def preview(
    connection: Connection,
    ids: Sequence[int],
    wish: BulkOperation,
    me: Annotator,
    progress: Progress,
) -> BulkPreview:
    """Return what an operation would do to these anchors.

    The connection must be in a read transaction. Raises StoreError like `check`.
    """
    check(wish)
    sample, changed = _Sample(), array("q")
    notes, kept = Counter[str](), Counter[str]()
    planner = BulkPlanner(connection, wish, me, system.now(), empty_exposure)
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
    """Raise StoreError for an operation that decides many items in the annotator's role."""
    if wish.deed in DECIDING and wish.role is not Role.ADJUDICATOR:
        raise StoreError(
            "Only an adjudicator can decide many items at once; annotators answer one item "
            "after the other"
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
    seeing: Seeing = empty_exposure,
    progress: Progress = ignore,
) -> BulkDone:
    """Apply an operation to the anchors of a preview, as one act.

    The plan is made again: items that cannot be changed any more are left. seeing: what the
    person had in view of each anchor. If the process is killed before the act is visible, the
    next start removes it; if later, the next start applies the rest. Raises StoreError while an
    import or another bulk operation is unfinished.
    """
    check(wish)
    words = f"{wish.words} on {counted(len(ids), 'item')}"
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


IN_SHEET = f"""
SELECT a.id FROM json_each(:ids) AS j JOIN anchor AS a ON a.id = j.value
WHERE a.state IN ('answered', 'disagree') AND {VISIBLE}
    AND NOT EXISTS (SELECT 1 FROM assignment AS s
        WHERE s.anchor_id = a.id AND s.role = 'adjudicator' AND s.state = 'open'
            AND s.purpose IN ('double', 'audit'))
    AND NOT EXISTS (SELECT 1 FROM draft AS d
        WHERE d.anchor_id = a.id AND d.annotator_id = :me AND d.role = 'adjudicator')
    AND NOT EXISTS (SELECT 1 FROM flag AS f
        WHERE f.anchor_id = a.id AND f.annotator_id = :me AND f.name = 'skip'
            AND f.removed = 0)
ORDER BY j.key"""  # noqa: S608 - made of constants


def for_sheet(connection: Connection, ids: Sequence[int], me: Annotator) -> list[int]:
    """Return those of these anchors that a review sheet of this person may have, in order.

    They are answered and undecided, of no audit or double that is not finished, and
    this person has neither begun nor skipped them.
    """
    key = {"ids": json_of(list(ids)), "me": me.id}
    return [row[0] for row in connection.execute(IN_SHEET, key)]


@dataclass(frozen=True, slots=True)
class SheetDone:
    """What was stored of a review sheet."""

    act_id: int | None
    """None if no item was left to decide."""

    at: str
    decided: tuple[int, ...]
    left: Mapping[int, str]
    """Items that were left as they are, with the reason: somebody decided them meanwhile."""


def accept_sheet(
    connection: Connection, given: Mapping[int, Answer], me: Annotator, seeing: Seeing
) -> SheetDone:
    """Decide the ticked items of a review sheet, as one act in this transaction.

    Undo takes it back like any bulk act: without the items that somebody changed since. The
    drafts of the decided items are deleted.
    """
    at = system.now()
    wish = BulkOperation(OperationKind.SHEET, answers=given)
    planned = list(BulkPlanner(connection, wish, me, at, seeing).some(list(given)))
    left = {one.anchor_id: one.kept for one in planned if one.kept}
    decided = tuple(one.anchor_id for one in planned if not one.kept)
    if not decided:
        return SheetDone(None, at, (), left)
    words = f"{wish.words} on {counted(len(decided), 'item')}"
    # A bulk act needs a batch, which is ready at once.
    name, work = secrets.token_hex(32), batches.Work()
    batch = batches.add(connection, words, name, "bulk", None, None, work)
    act_id = event_log.add(connection, me.id, "settle", words, at, batch=batch)
    for entity, id_, whose, role, before, after in chain.from_iterable(p.rows for p in planned):
        key = entity, id_, whose, role
        event_log.write_state(connection, key, after)
        event_log.record(connection, act_id, key, before, after)
    for id_ in decided:
        edits.save_draft(connection, id_, me, Role.ADJUDICATOR, None)
    answers.recompute_with_successors(connection, decided)
    batches.set_state(connection, batch, "ready", 0, None)
    return SheetDone(act_id, at, decided, left)


# One person under two names: answers, flags and gold of one become those of the other.

OF_PERSON = f"""
SELECT a.id, a.word FROM anchor AS a WHERE {VISIBLE} AND a.id IN (
    SELECT anchor_id FROM answer WHERE annotator_id = :of AND removed = 0
    UNION SELECT anchor_id FROM flag WHERE annotator_id = :of AND removed = 0
    UNION SELECT anchor_id FROM gold WHERE annotator_id = :of AND removed = 0)
ORDER BY a.id"""  # noqa: S608 - made of constants
FLAGGED = """
SELECT anchor_id, name FROM flag
WHERE annotator_id = :of AND removed = 0
    AND anchor_id IN (SELECT value FROM json_each(:ids))"""
IMPORT_TIMES = """
SELECT id, strftime('%Y-%m-%dT%H:%M:%fZ', created_at, '-1 minute'), finished_at FROM batch
WHERE format NOT IN ('settle', 'bulk', 'undo', 'redo', 'merge')"""


@dataclass(frozen=True, slots=True)
class TwoAnswers:
    """Two answers of one person to one anchor. later: whose name gave it; "" for unknown."""

    anchor_id: int
    word: str
    role: Role
    of: AnswerValue
    to: AnswerValue
    later: str


@dataclass(slots=True)
class PeopleMerge:
    """What making one person of two does, or did."""

    of: Annotator
    to: Annotator
    answers: int = 0
    """Answers of `of`, those that do not count any more included."""

    flags: int = 0
    golds: int = 0
    twice: list[TwoAnswers] = field(default_factory=list)
    """Where both answered, each otherwise."""

    of_rules: int = 0
    """Golds that a rule made of the answers of both."""

    left: int = 0
    """Items left as they are, since somebody changed them meanwhile."""

    @property
    def unknown(self) -> int:
        """The number of anchors for which no time tells which answer counts."""
        return sum(not one.later for one in self.twice)


class _PeoplePlanner:
    """Plans what becomes of each anchor. keep: whose answer counts if no time tells."""

    def __init__(self, connection: Connection, made: PeopleMerge, keep: str | None) -> None:
        self.made = made
        self._connection = connection
        self._keep = keep
        self._names = (made.of.name, made.to.name)
        rows = connection.execute(IMPORT_TIMES)
        self._imports = {id_: (first, last) for id_, first, last in rows}

    def run(self) -> Iterator[list[Row]]:
        """Yield the changes of each anchor, and count them."""
        of = self.made.of.id
        rows = self._connection.execute(OF_PERSON, {"of": of}).fetchall()
        for first in range(0, len(rows), AT_ONCE):
            words = dict(rows[first : first + AT_ONCE])
            ids = list(words)
            given: dict[int, dict[tuple[str, str], AnswerValue]] = {}
            for id_, who, value in answers.read_all(self._connection, ids):
                if who[0] in self._names:
                    given.setdefault(id_, {})[who] = value
            golds = answers.read_all_gold(self._connection, ids)
            key = {"of": of, "ids": json_of(ids)}
            flags: dict[int, list[str]] = {}
            for id_, name in self._connection.execute(FLAGGED, key):
                flags.setdefault(id_, []).append(name)
            for id_, word in words.items():
                yield [
                    *self._answers(id_, word, given.get(id_, {}), golds.get(id_)),
                    *self._flags(id_, flags.get(id_, ())),
                ]

    def _answers(
        self,
        id_: int,
        word: str,
        given: Mapping[tuple[str, str], AnswerValue],
        gold: GoldValue | None,
    ) -> Iterator[Row]:
        made, counts = self.made, dict[str, AnswerValue]()
        for role in Role:
            of, to = (given.get((name, role.value)) for name in self._names)
            if of is None:
                continue
            made.answers += 1
            counts[role] = self._counting(id_, word, role, of, to) if to else of
            yield "answer", id_, made.of.id, role.value, encode(of), None
            if counts[role] != to:
                yield "answer", id_, made.to.id, role.value, encode(to), encode(counts[role])
        if gold is not None:
            changed = self._gold(gold, counts, given)
            if changed != gold:
                made.golds += 1
                yield "gold", id_, None, "", encode(gold), encode(changed)

    def _counting(
        self, id_: int, word: str, role: Role, of: AnswerValue, to: AnswerValue
    ) -> AnswerValue:
        """Return the later of two answers; where no time tells, the one of `keep`."""
        if content_of(of) == content_of(to):
            return of if self._time(of) > self._time(to) > "" else to
        times = self._time(of), self._time(to)
        told = "" not in times and times[0] != times[1]
        later = self._names[times[0] < times[1]] if told else ""
        self.made.twice.append(TwoAnswers(id_, word, role, of, to, later))
        return of if (later or self._keep) == self._names[0] else to

    def _time(self, value: AnswerValue) -> str:
        """The time of an answer; "" if its import gave it its own, since the file had none."""
        first, last = self._imports.get(value.batch or 0, ("", ""))
        return "" if first <= value.at <= (last or first) else value.at

    def _gold(
        self,
        gold: GoldValue,
        counts: Mapping[str, AnswerValue],
        given: Mapping[tuple[str, str], AnswerValue],
    ) -> GoldValue:
        of, to = self._names
        decided = counts.get(Role.ADJUDICATOR)
        twice = (to, Role.ADJUDICATOR.value) in given
        if gold.rule == Rule.EXPERT and gold.by in self._names and decided and twice:
            made = gold_value(
                Gold(answer_of(decided), Rule.EXPERT, to, decided.at), decided.batch
            )
            if (content_of(made), made.comment) != (content_of(gold), gold.comment):
                return made
        names = {name for name, _ in gold.votes}
        votes = gold.votes
        if of in names and to in names:
            # `settle` notices that the votes are other ones now.
            self.made.of_rules += 1
        elif of in names and (to, Role.ANNOTATOR.value) not in given:
            votes = tuple(sorted((to if name == of else name, at) for name, at in votes))
        by = to if gold.by == of else gold.by
        return msgspec.structs.replace(gold, by=by, votes=votes)

    def _flags(self, id_: int, names: Iterable[str]) -> Iterator[Row]:
        of, to = self.made.of.id, self.made.to.id
        for name in names:
            self.made.flags += 1
            value = encode(answers.read_flag(self._connection, id_, of, name))
            yield "flag", id_, of, name, value, None
            if answers.read_flag(self._connection, id_, to, name) is None:
                yield "flag", id_, to, name, None, value


def _check_former(connection: Connection, made: PeopleMerge) -> None:
    """Raise StoreError where one of the names stands for somebody else.

    That may have been done since the names were read. The former name may have answers again.
    """
    of, to = passages.find(connection, made.of.name), passages.find(connection, made.to.name)
    if of is not None and of != made.of and not (made.answers or made.flags or made.golds):
        raise StoreError(
            f"{made.of.name!r} is a former name of {of.name!r}, with no answers of its own"
            + (f": write {of.name!r} to merge the person" * (of != to))
        )
    if to is not None and to not in (made.to, made.of):
        raise StoreError(f"{made.to.name!r} is {to.name!r} now: run the command again")


def merge_people(
    path: Path,
    of: Annotator,
    to: Annotator,
    me: Annotator,
    words: str,
    keep: str | None = None,
) -> PeopleMerge:
    """Make one person of two, as one act: the name of `of` stands for `to` from then on.

    keep: the name whose answer counts where both answered and no time tells which is later.
    words: what is done, for the log. Raises StoreError without `keep` where it is needed, and
    while an import or another bulk operation is unfinished.
    """
    with bulk_connection(path) as connection:
        finish_leftovers(connection)
        by = to.id if me.id == of.id else me.id
        with BulkAct(connection, "bulk", by, words, words, items=True) as act:
            made = PeopleMerge(of, to)
            with translated(path), closing(connect(path, "ro")) as reader:
                reader.execute("BEGIN")
                for rows in _PeoplePlanner(reader, made, keep).run():
                    act.add(rows)
            if made.unknown and keep is None:
                raise StoreError(
                    f"Of {counted(made.unknown, 'item')} both gave another answer, and no time "
                    f"tells which is later: say whose counts, --keep {quoted(of.name)} or "
                    f"--keep {quoted(to.name)}"
                )
            _check_former(connection, made)
            act.show(also=lambda inside: move_person(inside, act.act_id, of.id, to.id))
            made.left = len(act.apply())
    return made


class Bulk(Repository):
    """Operations on many items, each as one act that one undo takes back."""

    run = with_path(run)
    accept_sheet = writes_durably(accept_sheet)
    for_sheet = reads(for_sheet)
    merge_people = with_path(merge_people)

    def preview_people(self, of: Annotator, to: Annotator) -> PeopleMerge:
        """Return what `merge_people` would do."""
        made = PeopleMerge(of, to)
        with self.connections.reading() as connection:
            for _ in _PeoplePlanner(connection, made, None).run():
                pass
            _check_former(connection, made)
        return made

    def preview(
        self,
        found: Query | Sequence[int],
        wish: BulkOperation,
        me: Annotator,
        progress: Progress = ignore,
    ) -> BulkPreview:
        """Return what an operation would do to the anchors of a query, or to these anchors.

        progress: called with the phase and the number of anchors done in it. Raises StoreError
        for an operation that decides many items in the annotator's role.
        """
        with self.connections.reading() as connection:
            if isinstance(found, Query):
                asked = asked_by(found, wish.role, me.name)
                chunks = queue.queue_ids(connection, asked, me.id, wish.role)
                found = list(chain.from_iterable(chunks))
            return preview(connection, found, wish, me, progress)
