"""One anchor with all that the screen needs of it, in a dozen keyed look-ups.

What somebody is not to know of it is not in it: an annotator may be given nothing of others
nor of the gold; an adjudicator who has to decide blind is given no decision, and in an audit
no answer and no flag of others either.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nfh_db import (
    anchors,
    answers,
    assignments,
    competences,
    doubts,
    drafts,
    flags,
    gold,
    identifications,
    models,
    passages,
    predictions,
    summary,
)
from nfh_db.assignments import Purpose
from nfh_db.connection import Connection
from nfh_db.passages import PassageCache
from nfh_db.records import Annotator, Item, Role, Sibling, State, Vote
from nfh_db.values import gold_of
from nfh_models.domain import Anchor, Passage, anchor_id

READ = f"""
SELECT a.passage_id, a.start, a.stop, a.state, a.blocking, a.notes, a.pattern, a.replaces,
    d.name,
    (SELECT s.split FROM source_row AS s JOIN batch AS c ON c.id = s.batch_id
     WHERE s.anchor_id = a.id AND c.state <> 'loading'
     ORDER BY s.batch_id, s.line LIMIT 1)
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
JOIN document AS d ON d.id = p.document_id
WHERE a.id = :id AND {anchors.VISIBLE}"""  # noqa: S608 - made of constants


def read(
    connection: Connection, id_: int, me: Annotator, role: Role, cache: PassageCache
) -> Item | None:
    """An anchor, with this person's draft in this role; None if nobody sees it.

    An adjudicator is not given what has to be decided without knowing of it.
    """
    whole = _whole(connection, id_, me.id, role, cache)
    if whole is None or role is Role.ANNOTATOR:
        return whole
    ids = [sibling.anchor_id for sibling in whole.siblings]
    kept_back = assignments.blind(connection, ids, me.id)
    return _as_adjudicator(whole, me.name, kept_back) if kept_back else whole


def read_for_annotator(
    connection: Connection, id_: int, me: Annotator, cache: PassageCache
) -> Item | None:
    """An anchor as an annotator may see it; None if nobody sees it.

    It is as if nobody else had answered anything, and nothing were decided, so that an item
    whose gold is known is like any other. What somebody was given does not say which file it
    is from: a hidden check is often from another one.
    """
    item = _whole(connection, id_, me.id, Role.ANNOTATOR, cache)
    if item is None:
        return None
    done = assignments.answered(connection, [one.anchor_id for one in item.siblings], me.id)
    siblings = tuple(
        replace(one, state=own_state(answered=one.anchor_id in done), kind=None, nouns=())
        for one in item.siblings
    )
    moved = any(vote.annotator == me.name for vote in item.stale_votes)
    state = own_state(answered=item.anchor_id in done, moved=moved)
    if assignments.was_given(connection, id_, me.id, Role.ANNOTATOR):
        item = replace(item, document="", split=None)
    return _own_only(replace(item, siblings=siblings, state=state), me.name)


def _own_only(item: Item, me: str) -> Item:
    """The item without others' answers and flags, and without what is made of answers."""
    return replace(
        item,
        votes=tuple(vote for vote in item.votes if vote.annotator == me),
        stale_votes=tuple(vote for vote in item.stale_votes if vote.annotator == me),
        flags=tuple(flag for flag in item.flags if flag.annotator == me),
        gold=None,
        doubted=None,
        blocking=(),
        notes=(),
        pattern="",
        competences=(),
    )


def own_state(*, answered: bool, moved: bool = False) -> State:
    """Where an anchor stands for an annotator who knows of no other's answer.

    moved: it is in place of one that this person answered.
    """
    if answered:
        return State.ANSWERED
    return State.STALE if moved else State.OPEN


def _as_adjudicator(item: Item, me: str, kept_back: Mapping[int, Purpose]) -> Item:
    """The item without what its person has to decide without knowing of."""
    siblings = tuple(
        replace(one, state=State.OPEN, kind=None, nouns=())
        if one.anchor_id in kept_back
        else one
        for one in item.siblings
    )
    item = replace(item, siblings=siblings)
    purpose = kept_back.get(item.anchor_id)
    if purpose is None:
        return item
    item = replace(item, withheld=True)
    if purpose is Purpose.AUDIT:
        return _own_only(replace(item, state=State.OPEN), me)
    return _without_decisions(item, me)


def _without_decisions(item: Item, me: str) -> Item:
    """The item with annotators' answers, but as if no other adjudicator had decided."""
    votes = _but_decisions(item.votes, me)
    given = any(vote.counts for vote in votes)
    return replace(
        item,
        state=State.DISAGREE if item.blocking else State.ANSWERED if given else State.OPEN,
        votes=votes,
        stale_votes=_but_decisions(item.stale_votes, me),
        gold=None,
        doubted=None,
    )


def _but_decisions(votes: Sequence[Vote], me: str) -> tuple[Vote, ...]:
    return tuple(v for v in votes if v.role is Role.ANNOTATOR or v.annotator == me)


def _whole(
    connection: Connection, id_: int, me_id: int, role: Role, cache: PassageCache
) -> Item | None:
    """An anchor with everything there is of it."""
    row = connection.execute(READ, {"id": id_}).fetchone()
    if row is None:
        return None
    passage_id, start, stop, state, blocking, notes, pattern, replaces, document, split = row
    passage = passages.read_one(connection, passage_id, cache)
    anchor = Anchor(start, stop)
    before = summary.predecessor(connection, id_) if replaces is not None else None
    votes = answers.votes(connection, [id_] if before is None else [id_, before])
    decided = gold.read(connection, id_)
    model = models.active(connection, "resolution")
    identifier = models.active(connection, "identification")
    return Item(
        anchor_id=id_,
        public_id=anchor_id(passage.digest, anchor),
        passage_id=passage_id,
        document=document,
        split=split,
        passage=passage,
        anchor=anchor,
        state=State(state),
        siblings=_siblings(connection, passage_id),
        votes=tuple(votes.get(id_, ())),
        stale_votes=() if before is None else tuple(votes.get(before, ())),
        gold=gold_of(decided) if decided else None,
        flags=tuple(flags.marks(connection, [id_]).get(id_, ())),
        blocking=summary.blocking_names(blocking),
        notes=summary.note_names(notes),
        pattern=pattern,
        draft=drafts.draft(connection, id_, me_id, role.value),
        prediction=predictions.read(connection, id_, model[0]) if model else None,
        others=predictions.read_others(connection, id_, model[0]) if model else (),
        identification=identifications.read(connection, id_, identifier[0])
        if identifier
        else None,
        competences=competences.of_votes(connection, votes.get(id_, ())),
        doubted=doubts.told(connection, id_) if decided else None,
    )


def _siblings(connection: Connection, passage_id: int) -> tuple[Sibling, ...]:
    """The anchors of a passage, each with the nouns of its gold."""
    found = anchors.siblings(connection, passage_id)
    if len(found) == 1:
        return found
    nouns = gold.nouns(connection, passage_id)
    return tuple(replace(one, nouns=nouns.get(one.anchor_id, ())) for one in found)


def read_passages(
    connection: Connection, ids: Sequence[int]
) -> Mapping[int, tuple[Passage, Anchor]]:
    """Passage and span of each of these anchors that is visible, by anchor id."""
    found = anchors.spans(connection, ids)
    texts = passages.read(connection, sorted({passage_id for _, passage_id, _ in found}))
    return {id_: (texts[passage_id], anchor) for id_, passage_id, anchor in found}
