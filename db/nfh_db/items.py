"""One anchor with all that the screen needs of it, in a dozen keyed look-ups."""

from collections.abc import Mapping, Sequence

from nfh_db import anchors, answers, drafts, flags, gold, models, passages, predictions, summary
from nfh_db.connection import Connection
from nfh_db.passages import PassageCache
from nfh_db.records import Item, Role, State
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
    connection: Connection, id_: int, me_id: int, role: Role, cache: PassageCache
) -> Item | None:
    """An anchor as this person sees it in this role; None if nobody sees it."""
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
    return Item(
        anchor_id=id_,
        public_id=anchor_id(passage.digest, anchor),
        passage_id=passage_id,
        document=document,
        split=split,
        passage=passage,
        anchor=anchor,
        state=State(state),
        siblings=anchors.siblings(connection, passage_id),
        votes=tuple(votes.get(id_, ())),
        stale_votes=() if before is None else tuple(votes.get(before, ())),
        gold=gold_of(decided) if decided else None,
        flags=tuple(flags.marks(connection, [id_]).get(id_, ())),
        blocking=summary.blocking_names(blocking),
        notes=summary.note_names(notes),
        pattern=pattern,
        draft=drafts.draft(connection, id_, me_id, role.value),
        prediction=predictions.read(connection, id_, model[0]) if model else None,
    )


def read_passages(
    connection: Connection, ids: Sequence[int]
) -> Mapping[int, tuple[Passage, Anchor]]:
    """Passage and span of each of these anchors that is visible, by anchor id."""
    found = anchors.spans(connection, ids)
    texts = passages.read(connection, sorted({passage_id for _, passage_id, _ in found}))
    return {id_: (texts[passage_id], anchor) for id_, passage_id, anchor in found}
