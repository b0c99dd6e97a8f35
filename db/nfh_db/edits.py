"""Edits of an anchor by a person, and the person's workspace.

An edit is one act with its events, in one durable transaction. The workspace is what is not
committed: drafts, positions in queues, saved views. It is written with fast transactions.
"""

from nfh_db import anchors, answers, assignments, event_log, passages, system
from nfh_db.connection import Connection, Repository, reads, writes_durably, writes_fast
from nfh_db.errors import StaleLabelsError, StoreError
from nfh_db.records import (
    NO_LABELS,
    PERSON,
    Annotator,
    Draft,
    Exposure,
    FlagName,
    Gold,
    QueuePosition,
    Role,
    Rule,
    Saved,
    StaleLabels,
    Undone,
)
from nfh_db.serialization import AnchorValue, FlagValue, answer_value, gold_value
from nfh_models.domain import Anchor, Answer, Kind, Passage

READ_DRAFT = """
SELECT body, drafted_at FROM draft
WHERE anchor_id = :anchor AND annotator_id = :me AND role = :role"""
UPSERT_DRAFT = """
INSERT OR REPLACE INTO draft (anchor_id, annotator_id, role, body, drafted_at)
VALUES (:anchor, :me, :role, :body, :at)"""
DELETE_DRAFT = """
DELETE FROM draft WHERE anchor_id = :anchor AND annotator_id = :me AND role = :role"""
COPY_DRAFTS = """
INSERT OR REPLACE INTO draft (anchor_id, annotator_id, role, body, drafted_at)
SELECT :target, annotator_id, role, body, drafted_at FROM draft
WHERE anchor_id = :source AND annotator_id = :me"""
READ_PLACE = """
SELECT query, anchor_id, token FROM place WHERE annotator_id = :me AND mode = :mode"""
UPSERT_PLACE = """
INSERT OR REPLACE INTO place (annotator_id, mode, query, anchor_id, token, left_at)
VALUES (:me, :mode, :query, :anchor, :token, :at)"""
READ_VIEWS = "SELECT name, query FROM saved_view WHERE annotator_id = :me ORDER BY name"
UPSERT_VIEW = """
INSERT OR REPLACE INTO saved_view (annotator_id, name, query, saved_at)
VALUES (:me, :name, :query, :at)"""
DELETE_VIEW = "DELETE FROM saved_view WHERE annotator_id = :me AND name = :name"


def draft(connection: Connection, anchor_id: int, me_id: int, role: str) -> Draft | None:
    """Return a person's draft of an answer in a role, or None."""
    row = connection.execute(
        READ_DRAFT, {"anchor": anchor_id, "me": me_id, "role": role}
    ).fetchone()
    return None if row is None else Draft(*row)


def save_draft(
    connection: Connection, anchor_id: int, me: Annotator, role: Role, body: str | None
) -> None:
    """Write a draft, the JSON of the editor's state; None deletes it."""
    key = {"anchor": anchor_id, "me": me.id, "role": role.value}
    if body is None:
        connection.execute(DELETE_DRAFT, key)
    else:
        connection.execute(UPSERT_DRAFT, key | {"body": body, "at": system.now()})


def copy_drafts(connection: Connection, source: int, target: int, me_id: int) -> None:
    """Copy a person's drafts of a replaced anchor to the anchor that replaces it."""
    connection.execute(COPY_DRAFTS, {"source": source, "target": target, "me": me_id})


def position(connection: Connection, me: Annotator, mode: str) -> QueuePosition:
    """Return a person's last position in a mode.

    If the anchor has been replaced since, the position is at the anchor that replaces it.
    """
    row = connection.execute(READ_PLACE, {"me": me.id, "mode": mode}).fetchone()
    if row is None:
        return QueuePosition()
    query, anchor_id, token = row
    if anchor_id is not None:
        anchor_id = assignments.latest(connection, anchor_id)
    return QueuePosition(query, anchor_id, token)


def save_position(
    connection: Connection, me: Annotator, mode: str, where: QueuePosition
) -> None:
    """Write a person's position in a mode (browse, annotate, adjudicate)."""
    connection.execute(
        UPSERT_PLACE,
        {
            "me": me.id,
            "mode": mode,
            "query": where.query,
            "anchor": where.anchor_id,
            "token": where.token,
            "at": system.now(),
        },
    )


def views(connection: Connection, me: Annotator) -> tuple[tuple[str, str], ...]:
    """Return name and query of a person's saved views, ordered by name."""
    return tuple(connection.execute(READ_VIEWS, {"me": me.id}))


def save_view(connection: Connection, me: Annotator, name: str, query: str | None) -> None:
    """Save a query under a name; None deletes the view."""
    if query is None:
        connection.execute(DELETE_VIEW, {"me": me.id, "name": name})
    else:
        connection.execute(
            UPSERT_VIEW, {"me": me.id, "name": name, "query": query, "at": system.now()}
        )


def commit_answer(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    role: Role,
    answer: Answer,
    seen: Exposure = Exposure(),  # noqa: B008
) -> Saved:
    """Store a person's answer; an adjudicator's answer also becomes the gold.

    The second, blind decision of a double does not change the gold. The person's draft and
    `skip` flag are deleted. Raises AnswerError for an answer that does not fit the passage, and
    StoreError if the anchor was replaced or removed.
    """
    target = anchors.need_live(connection, anchor_id)
    tokens = len(passages.lemmas(connection, target.passage_id))
    answer.check(tokens, target.anchor.start, target.anchor.end)
    at = system.now()
    before = answers.read(connection, anchor_id, me.id, role.value)
    value = answer_value(answer, at, seen, passages.guideline_version(connection))
    second = role is Role.ADJUDICATOR and assignments.is_second(connection, anchor_id, me.id)
    words = _answer_summary(role, answer, again=before is not None, second=second)
    act_id = event_log.add(connection, me.id, "do", words, at)
    key = ("answer", anchor_id, me.id, role.value)
    event_log.change(connection, act_id, key, value, confirm=True)
    if role is Role.ADJUDICATOR and not second:
        decided = gold_value(Gold(answer, Rule.EXPERT, me.name, at), None)
        event_log.change(connection, act_id, ("gold", anchor_id, None, ""), decided)
    skip = ("flag", anchor_id, me.id, FlagName.SKIP.value)
    event_log.change(connection, act_id, skip, None)
    save_draft(connection, anchor_id, me, role, None)
    return Saved(act_id, anchor_id, answers.recompute(connection, anchor_id), at)


def _answer_summary(role: Role, answer: Answer, *, again: bool, second: bool) -> str:
    what = answer.kind.value
    if answer.kind is Kind.REFERENCE:
        what += f" to {len(answer.heads)} heads" if len(answer.heads) > 1 else ""
    verb = "second decision" if second else "gold" if role is Role.ADJUDICATOR else "answer"
    return f"{verb} {what}, in place of an earlier one" if again else f"{verb} {what}"


def withdraw(connection: Connection, anchor_id: int, me: Annotator, role: Role) -> Saved:
    """Remove a person's answer, and the gold that was made from it.

    Earlier gold does not come back. Raises StoreError if there is no answer.
    """
    anchors.need_live(connection, anchor_id)
    at = system.now()
    act_id = event_log.add(connection, me.id, "do", f"{_noun(role)} withdrawn", at)
    key = ("answer", anchor_id, me.id, role.value)
    if not event_log.change(connection, act_id, key, None):
        raise StoreError(f"{me.name} has no {_noun(role)} of item {anchor_id} to withdraw")
    if role is Role.ADJUDICATOR and _made_the_gold(connection, anchor_id, me):
        event_log.change(connection, act_id, ("gold", anchor_id, None, ""), None)
    return Saved(act_id, anchor_id, answers.recompute(connection, anchor_id), at)


def _noun(role: Role) -> str:
    return "decision" if role is Role.ADJUDICATOR else "answer"


def _made_the_gold(connection: Connection, anchor_id: int, me: Annotator) -> bool:
    found = answers.read_gold(connection, anchor_id)
    return found is not None and found.rule == Rule.EXPERT and found.by == me.name


def set_flag(
    connection: Connection, anchor_id: int, me: Annotator, name: FlagName, on: bool
) -> Saved:
    """Set or clear a person's flag.

    If this changes nothing, nothing is written and `act_id` is 0.
    """
    target = anchors.need_live(connection, anchor_id)
    at = system.now()
    if on is (answers.read_flag(connection, anchor_id, me.id, name.value) is not None):
        return Saved(0, anchor_id, target.state, at)
    act_id = event_log.add(
        connection, me.id, "do", f"flag {name} {'set' if on else 'cleared'}", at
    )
    value = FlagValue(at) if on else None
    event_log.change(connection, act_id, ("flag", anchor_id, me.id, name.value), value)
    return Saved(act_id, anchor_id, target.state, at)


def propose_span(
    connection: Connection, anchor_id: int, me: Annotator, anchor: Anchor | None
) -> Saved:
    """Propose another span by a person's `anchor` flag.

    None, or the anchor's present span, clears the flag. The anchor, its answers and its gold do
    not change. If the flag is so already, nothing is written and `act_id` is 0. Raises
    PassageError for a span outside the passage, StoreError for the span of another anchor.
    """
    old = anchors.need_live(connection, anchor_id)
    passage = passages.read(connection, [old.passage_id])[old.passage_id]
    at, name = system.now(), FlagName.ANCHOR.value
    before = answers.read_flag(connection, anchor_id, me.id, name)
    value = None
    words = "the proposed span withdrawn"
    if anchor is not None and anchor != old.anchor:
        _check_free(connection, old.passage_id, passage, anchor)
        value = FlagValue(at, span=(anchor.start, anchor.end))
        was = passage.words(old.anchor.start, old.anchor.end)
        words = f"span “{passage.words(anchor.start, anchor.end)}” proposed for “{was}”"
    if (before and before.span) == (value and value.span) and (before is None) is (
        value is None
    ):
        return Saved(0, anchor_id, old.state, at)
    act_id = event_log.add(connection, me.id, "do", words, at)
    event_log.change(connection, act_id, ("flag", anchor_id, me.id, name), value)
    return Saved(act_id, anchor_id, old.state, at)


def _check_free(
    connection: Connection, passage_id: int, passage: Passage, anchor: Anchor
) -> tuple[int, bool] | None:
    """Return the result of `anchors.find_span`.

    Raises PassageError for a span outside the passage, StoreError for that of a live anchor.
    """
    anchor.check(passage)
    known = anchors.find_span(connection, passage_id, anchor)
    if known is not None and known[1]:
        raise StoreError(
            f"“{passage.words(anchor.start, anchor.end)}” is item {known[0]} already: go to "
            "that one, or choose another span"
        )
    return known


def stale_labels(connection: Connection, anchor_id: int, me: Annotator) -> StaleLabels:
    """Return the labels that become stale if `me` replaces an anchor."""
    decided = answers.read_gold(connection, anchor_id)
    votes = answers.votes(connection, [anchor_id]).get(anchor_id, ())
    given = {(vote.annotator, vote.role) for vote in votes if vote.type == PERSON}
    if decided is not None and decided.by is not None:
        # The adjudicator's answer is the gold, which is named separately.
        given.discard((decided.by, Role.ADJUDICATOR))
    names = tuple(sorted({name for name, _ in given} - {me.name}))
    if decided is None:
        return StaleLabels(annotators=names)
    return StaleLabels(Rule(decided.rule), decided.by, names)


def replace_anchor(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    role: Role,
    anchor: Anchor,
    agreed: StaleLabels = NO_LABELS,
) -> Saved:
    """Replace an anchor by one with another span, or by a removed one that had this span.

    Answers to the old anchor are shown as stale votes of the new one; its gold does not carry
    over. agreed: the stale labels that the person has confirmed. Raises StaleLabelsError if
    they are others by now, PassageError for a span outside the passage, StoreError for the span
    of a live anchor, and in the annotator's role, in which a span can only be proposed.
    """
    if role is not Role.ADJUDICATOR:
        raise StoreError(
            "An annotator can only propose a span: adjudicate the item to replace it"
        )
    old = anchors.need_live(connection, anchor_id)
    passage = passages.read(connection, [old.passage_id])[old.passage_id]
    if anchor == old.anchor:
        raise StoreError(f"Item {anchor_id} has this span already: widen or narrow it first")
    known = _check_free(connection, old.passage_id, passage, anchor)
    labels = stale_labels(connection, anchor_id, me)
    if labels and labels != agreed:
        raise StaleLabelsError(labels)
    at = system.now()
    was = passage.words(old.anchor.start, old.anchor.end)
    now = passage.words(anchor.start, anchor.end)
    act_id = event_log.add(connection, me.id, "do", f"anchor “{was}” made “{now}”", at)
    new_id = known[0] if known else anchors.insert(connection, old.passage_id, passage, anchor)
    former = anchors.links(connection, new_id)[2]
    taken_over = AnchorValue(old.passage_id, anchor.start, anchor.end, replaces=anchor_id)
    event_log.change(connection, act_id, ("anchor", new_id, None, ""), taken_over)
    replaced = AnchorValue(
        old.passage_id,
        old.anchor.start,
        old.anchor.end,
        replaces=anchors.links(connection, anchor_id)[1],
        replaced_by=new_id,
    )
    event_log.change(connection, act_id, ("anchor", anchor_id, None, ""), replaced)
    copy_drafts(connection, anchor_id, new_id, me.id)
    touched = [anchor_id, new_id] if former is None else [anchor_id, new_id, former]
    answers.recompute_with_successors(connection, touched)
    return Saved(act_id, new_id, anchors.state(connection, new_id), at)


class Edits(Repository):
    """Edits of anchors by a person, with undo and redo."""

    commit_answer = writes_durably(commit_answer)
    withdraw = writes_durably(withdraw)
    set_flag = writes_durably(set_flag)
    propose_span = writes_durably(propose_span)
    replace_anchor = writes_durably(replace_anchor)
    stale_labels = reads(stale_labels)

    def undo(self, me: Annotator, role: Role | None = None) -> Undone | None:
        """Undo this person's newest act; None if there is none.

        The undo of a bulk act skips the items that somebody changed since, and counts them.
        For another act such a change raises ChangedSinceError. role: given for a person who
        may change only their own flags and their answers in this role; NotAllowedError is
        raised for an act that changed more.
        """
        return self._turned(me, "undo", role)

    def redo(self, me: Annotator, role: Role | None = None) -> Undone | None:
        """Redo the act that this person undid last; None if there is none.

        Role and errors are those of `undo`.
        """
        return self._turned(me, "redo", role)

    def _turned(self, me: Annotator, kind: str, role: Role | None) -> Undone | None:
        with self.connections.durable_write() as connection:
            done = event_log.turn(connection, me, kind, role)
        # A bulk act is turned after the transaction, because it needs several of its own.
        if not isinstance(done, event_log.ReversibleAct):
            return done
        from nfh_db import bulk_run

        return bulk_run.turn(self.connections.path, me, kind, done)

    def settlement_to_undo(self, me: Annotator) -> tuple[int, str] | None:
        """Return id and summary of the bulk act that this person's next undo takes back.

        None if the next undo is of another act, or there is none.
        """
        with self.connections.reading() as connection:
            found = event_log.newest_done(connection, me.id)
        return (found.id, found.summary) if found is not None and found.bulk else None


class Workspace(Repository):
    """A person's drafts, positions in queues and saved views.

    Writes are fast: the last ones may be lost if the power fails, but not if the process dies.
    """

    save_draft = writes_fast(save_draft)
    position = reads(position)
    save_position = writes_fast(save_position)
    views = reads(views)
    save_view = writes_fast(save_view)
