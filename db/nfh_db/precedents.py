"""Earlier decisions that bear on an item: under the same rule, of the same number or noun.

Experts' decisions come first, the newest first. Only so many of the newest decisions are
looked through that an answer comes within a few hundredths of a second whatever the size of
the database. What somebody has to decide blind is never among them.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from nfh_db import anchors, gold, items
from nfh_db.connection import Connection
from nfh_db.records import Annotator, Rule
from nfh_db.values import GoldValue, answer_of, decode_lemmas, json_of
from nfh_models.domain import Anchor, Answer, Passage, tag_forms

MOST = 20
"""Precedents given."""

DECISIONS = 4_000
"""Newest decisions of experts that are looked through for the same number."""

WITH_NOUN = 400
"""Newest decisions of experts whose nouns are looked at."""

OTHERS = 200
"""Decisions that no expert made of the same number that are looked at."""

NOT_BLIND = """NOT EXISTS (
    SELECT 1 FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :me AND s.role = 'adjudicator'
        AND s.state = 'open' AND s.purpose IN ('double', 'audit'))"""
SEEN = f"a.id <> :id AND {anchors.VISIBLE} AND {NOT_BLIND}"

BY_TAG = f"""
SELECT a.id, w.rule_tag FROM answer AS w JOIN gold AS g ON g.answer_id = w.id
JOIN anchor AS a ON a.id = g.anchor_id
WHERE w.rule_tag IS NOT NULL AND w.rule_tag IN (SELECT value FROM json_each(:tags))
    AND w.removed = 0 AND g.removed = 0 AND {SEEN}
ORDER BY w.answered_at DESC LIMIT :most"""  # noqa: S608 - made of constants
BY_WORD = f"""
SELECT a.id FROM (
    SELECT anchor_id FROM gold WHERE rule = 'expert' AND removed = 0
    ORDER BY decided_at DESC LIMIT :through) AS g
JOIN anchor AS a ON a.id = g.anchor_id
WHERE a.word COLLATE NOCASE = :word AND {SEEN} LIMIT :most"""  # noqa: S608 - constants
BY_WORD_OTHERS = f"""
SELECT c.id FROM (
    SELECT a.id FROM anchor AS a
    WHERE a.word COLLATE NOCASE = :word AND a.state = 'decided' AND {SEEN}
    LIMIT :through) AS c
JOIN gold AS g ON g.anchor_id = c.id
WHERE g.rule <> 'expert' AND g.removed = 0
ORDER BY g.decided_at DESC LIMIT :most"""  # noqa: S608 - made of constants
NOUNS = f"""
SELECT a.id, g.noun, t.lemmas,
    (SELECT group_concat(m.token) FROM head AS h JOIN mention AS m ON m.head_id = h.id
     WHERE h.gold_id = g.anchor_id AND m.origin <> 'removed')
FROM (
    SELECT anchor_id, noun FROM gold
    WHERE rule = 'expert' AND removed = 0 AND (kind = 'REFERENCE' OR noun IS NOT NULL)
    ORDER BY decided_at DESC LIMIT :through) AS g
JOIN anchor AS a ON a.id = g.anchor_id
JOIN passage_token AS t ON t.passage_id = a.passage_id
WHERE {SEEN}"""  # noqa: S608 - made of constants
OF_ANCHOR = "SELECT word FROM anchor WHERE id = :id"
TAGS = """
SELECT g.anchor_id, w.rule_tag FROM gold AS g JOIN answer AS w ON w.id = g.answer_id
WHERE g.anchor_id IN (SELECT value FROM json_each(:ids)) AND w.rule_tag IS NOT NULL"""


@dataclass(frozen=True, slots=True)
class Precedent:
    """An earlier decision.

    passage, anchor: of which its sentence is shown, and that it is about. answer: what was
    decided. by: the expert, None where a rule or a file decided; rule: which. at: when, None
    where nobody knows. why: in what it is like the item: "rule R5", "number", "noun". tag:
    the rule of the guidelines that it names.
    """

    anchor_id: int
    passage: Passage
    anchor: Anchor
    answer: Answer
    by: str | None
    at: str | None
    rule: Rule
    why: tuple[str, ...]
    tag: str | None = None

    @property
    def sentence(self) -> tuple[str, str, str]:
        """The turn that it stands in: the text before its words, these, and the text after."""
        turn = self.passage.turns[self.passage.turn_of(self.anchor.start)]
        tokens = self.passage.tokens
        first, last = tokens[turn.start].start, tokens[turn.end - 1].end
        start, stop = tokens[self.anchor.start].start, tokens[self.anchor.end - 1].end
        text = self.passage.text
        return text[first:start], text[start:stop], text[stop:last]


def find(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    nouns: Collection[str] = (),
    tag: str | None = None,
) -> tuple[Precedent, ...]:
    """Decisions that bear on an anchor, on a connection in a read transaction.

    nouns: lemmas of the answer's nouns, if it names any. tag: the rule of the guidelines that
    it names, if it does. Best first: what is alike in more, then experts', then the newest.
    """
    row = connection.execute(OF_ANCHOR, {"id": anchor_id}).fetchone()
    if row is None:
        return ()
    key: dict[str, object] = {"id": anchor_id, "me": me.id, "word": row[0], "most": MOST}
    why: dict[int, list[str]] = {}
    if tag is not None:
        tags = {"tags": json_of(list(tag_forms(tag)))}
        for id_, found in connection.execute(BY_TAG, key | tags):
            why.setdefault(id_, []).append(f"rule {tag_forms(found)[0]}")
    for statement, through in ((BY_WORD, DECISIONS), (BY_WORD_OTHERS, OTHERS)):
        for (id_,) in connection.execute(statement, key | {"through": through}):
            why.setdefault(id_, []).append("number")
    for id_ in _with_noun(connection, key, {noun.strip().casefold() for noun in nouns}):
        why.setdefault(id_, []).append("noun")
    return _made(connection, why)


def _with_noun(
    connection: Connection, key: dict[str, object], wanted: set[str]
) -> Iterator[int]:
    """The newest decisions that name one of these nouns."""
    if not wanted:
        return
    given = 0
    for id_, noun, lemmas, tokens in connection.execute(NOUNS, key | {"through": WITH_NOUN}):
        if noun is not None:
            said = {noun.strip().casefold()}
        else:
            words = decode_lemmas(lemmas)
            places = (int(token) for token in (tokens or "").split(",") if token)
            said = {words[place].strip().casefold() for place in places if place < len(words)}
        if said & wanted:
            yield id_
            given += 1
            if given == MOST:
                return


def _made(connection: Connection, why: dict[int, list[str]]) -> tuple[Precedent, ...]:
    golds = gold.read_all(connection, list(why))
    best = sorted(golds, key=lambda id_: golds[id_].at or "", reverse=True)
    best.sort(key=lambda id_: (golds[id_].rule != Rule.EXPERT, -len(why[id_])))
    chosen = best[:MOST]
    places = items.read_passages(connection, chosen)
    tags: dict[int, str] = dict(connection.execute(TAGS, {"ids": json_of(chosen)}).fetchall())
    return tuple(
        _precedent(id_, golds[id_], places[id_], why[id_], tags.get(id_))
        for id_ in chosen
        if id_ in places
    )


def _precedent(
    id_: int,
    value: GoldValue,
    place: tuple[Passage, Anchor],
    why: Sequence[str],
    tag: str | None,
) -> Precedent:
    expert = value.rule == Rule.EXPERT
    return Precedent(
        id_,
        *place,
        answer_of(value),
        value.by if expert else None,
        value.at,
        Rule(value.rule),
        tuple(why),
        tag_forms(tag)[0] if tag else None,
    )
