"""Finds items that are similar to a decided one, and precedents for an item."""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from nfh_db import anchors, answers, items
from nfh_db.bulk_plan import BulkOperation, BulkPlanner, OperationKind
from nfh_db.connection import Connection, Repository, reads
from nfh_db.records import Annotator, Exposure, Role, Rule
from nfh_db.serialization import answer_of, decode_lemmas, json_of
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin, Passage, tag_forms

# Items that are similar to a decided one, each with the answer that it would get.
#
# Similar are items in a passage with the same text; items with the same words and the same
# pattern and kinds of votes; and items with the same words and the noun of the decision nearby.
# A class is copied. A Reference needs its nouns in the passage of the item: the mention nearest
# before the anchor becomes the marked one, all others are added.

MOST_ALIKE = 100
"""Items that are offered per likeness at most."""

LIKE = 0.8
"""The least cosine of items that are offered an answer: 9 of 10 such pairs of the release's
development split have the same class.
"""

Near = Callable[[int, Collection[int]], Mapping[int, tuple[float, int]]]
"""Returns the nearest of some anchors to an anchor, the nearest first, by their cosine and
`check_of` as of when the vector was made. The anchor itself is among them; without its vector
there are none.
"""

NEAR_TURNS = 3
"""Turns between an anchor and the noun at most."""

OF_THIS = f"""
SELECT a.word, a.start, a.pattern, a.strongest, p.text
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
WHERE a.id = :id AND {anchors.VISIBLE}"""  # noqa: S608 - made of constants
LAST_DECIDED = f"""
SELECT g.anchor_id FROM gold AS g JOIN anchor AS a ON a.id = g.anchor_id
WHERE g.rule = 'expert' AND g.removed = 0 AND g.annotator_id = :me AND {anchors.VISIBLE}
ORDER BY g.decided_at DESC LIMIT 1"""  # noqa: S608 - made of constants

KINDS = """(
    SELECT group_concat(w.kind, ' ' ORDER BY w.kind) FROM answer AS w
    JOIN annotator AS n ON n.id = w.annotator_id
    WHERE w.anchor_id = {anchor} AND w.role = 'annotator' AND n.type = 'person'
        AND w.removed = 0)"""
SAME_WORD = f"""
    a.word COLLATE NOCASE = :word AND a.id <> :id AND {anchors.VISIBLE}"""
REPEATS = f"""
SELECT a.id FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
WHERE {SAME_WORD} AND a.start = :start AND p.text = :text
ORDER BY a.passage_id, a.start LIMIT :most"""  # noqa: S608 - made of constants
VOTED_ALIKE = f"""
SELECT a.id FROM anchor AS a
WHERE {SAME_WORD} AND a.pattern = :pattern AND a.strongest IS :strongest
    AND {KINDS.format(anchor="a.id")} = {KINDS.format(anchor=":id")}
ORDER BY a.passage_id, a.start LIMIT :most"""  # noqa: S608 - made of constants
ALIKE_WITH_NOUN = f"""
SELECT a.id FROM anchor AS a JOIN passage_token AS t ON t.passage_id = a.passage_id
WHERE {SAME_WORD} AND instr(lower(t.lemmas), lower(:lemma)) > 0
ORDER BY a.passage_id, a.start LIMIT :most"""  # noqa: S608 - made of constants
PATTERNS = """
SELECT id, pattern FROM anchor WHERE id IN (SELECT value FROM json_each(:ids))"""

LOOKED_THROUGH = 10 * MOST_ALIKE
"""Items with the noun anywhere in the passage that are tested for it nearby, per lemma."""


class Likeness(StrEnum):
    """In what respect items are similar."""

    REPEAT = "the same passage"
    VOTES = "the same number, voted on alike"
    NOUN = "the same number, the same noun near it"
    MEANING = "like this one"


@dataclass(frozen=True, slots=True)
class Similar:
    """An item that is similar to the decided one."""

    anchor_id: int
    passage: Passage
    anchor: Anchor
    answer: Answer
    """What it would get."""

    before: Answer | None
    """Its gold; None for none."""

    pattern: str
    """Of its votes; "" for none."""

    note: str = ""
    """A warning, for example whose gold is replaced; "" for none."""


@dataclass(frozen=True, slots=True)
class SimilarAnswer:
    """The similar items of one likeness."""

    likeness: Likeness
    items: tuple[Similar, ...]
    left: int
    """Further similar items, which cannot get the answer."""


def last_decided(connection: Connection, me: Annotator) -> int | None:
    """Return the visible anchor that this person decided last; None for none."""
    row = connection.execute(LAST_DECIDED, {"me": me.id}).fetchone()
    return None if row is None else row[0]


def find_alike(
    connection: Connection,
    anchor_id: int,
    passage: Passage,
    answer: Answer,
    me: Annotator,
    near: Near | None = None,
) -> tuple[SimilarAnswer, ...]:
    """Return the items that are similar to an anchor with this answer, by likeness.

    The connection must be in a read transaction. Items that this person may not decide in a
    bulk operation are only counted. Empty if the anchor is not visible.
    """
    row = connection.execute(OF_THIS, {"id": anchor_id}).fetchone()
    if row is None:
        return ()
    word, start, pattern, strongest, text = row
    key = {"id": anchor_id, "word": word, "most": MOST_ALIKE}
    plain = answer.without_comment()
    repeats = _ids(connection, REPEATS, key | {"start": start, "text": text})
    voted: Sequence[int] = ()
    if pattern:
        votes = {"pattern": pattern, "strongest": strongest}
        voted = _ids(connection, VOTED_ALIKE, key | votes)
    lemmas = nouns(plain, passage)
    beside = _beside(connection, key, lemmas)
    finder = _Finder(connection, me, plain, lemmas, passage)
    undecided = () if near is None else _ids(connection, UNDECIDED, {})
    return (
        finder.alike(Likeness.REPEAT, repeats),
        finder.alike(Likeness.VOTES, voted),
        finder.alike(Likeness.NOUN, beside, near=True),
        finder.by_meaning(_cosines(connection, anchor_id, me, near, undecided)),
    )


def nouns(answer: Answer, passage: Passage) -> tuple[frozenset[str], ...]:
    """Return the case-folded lemmas of each head; for a class with a noun, that noun."""
    if answer.noun:
        return (frozenset({_fold(answer.noun)}),)
    return tuple(
        frozenset(_fold(passage.tokens[mention.head].lemma) for mention in head.live)
        for head in answer.heads
    )


def _ids(connection: Connection, statement: str, key: dict[str, object]) -> list[int]:
    return [row[0] for row in connection.execute(statement, key)]


def _beside(
    connection: Connection, key: dict[str, object], lemmas: Sequence[frozenset[str]]
) -> list[int]:
    """Return anchors with the same words and the first noun anywhere in the passage."""
    found: dict[int, None] = {}
    for lemma in sorted(lemmas[0]) if lemmas else ():
        more = key | {"lemma": json_of(lemma), "most": LOOKED_THROUGH}
        found |= dict.fromkeys(_ids(connection, ALIKE_WITH_NOUN, more))
    return list(found)


@dataclass(frozen=True, slots=True)
class _Finder:
    """Turns candidates into similar items with their answers. source: the answer's passage."""

    connection: Connection
    me: Annotator
    answer: Answer
    lemmas: Sequence[frozenset[str]]
    source: Passage

    def alike(
        self, likeness: Likeness, ids: Sequence[int], *, near: bool = False
    ) -> SimilarAnswer:
        """Return those of these anchors that can get the answer.

        near: only anchors with the first noun at most NEAR_TURNS turns away.
        """
        places = items.read_passages(self.connection, ids)
        if near:
            ids = [i for i in ids if i in places and self._is_near(*places[i])][:MOST_ALIKE]
        made = {i: said for i in ids if i in places and (said := self._given(*places[i]))}
        wish = BulkOperation(OperationKind.GIVEN, Role.ADJUDICATOR, answers=made)
        planner = BulkPlanner(self.connection, wish, self.me, "", lambda _: Exposure())
        planned = [one for one in planner.some(ids) if not one.kept]
        key = {"ids": json_of([one.anchor_id for one in planned])}
        votes: dict[int, str] = dict(self.connection.execute(PATTERNS, key).fetchall())
        found = tuple(
            Similar(
                one.anchor_id,
                *places[one.anchor_id],
                made[one.anchor_id],
                one.before,
                votes.get(one.anchor_id, ""),
                one.note,
            )
            for one in planned
        )
        return SimilarAnswer(likeness, found, len(ids) - len(found))

    def by_meaning(self, cosines: Mapping[int, float]) -> SimilarAnswer:
        """Return those of the nearest anchors that can get the answer, each with its cosine."""
        ids = [id_ for id_, cosine in cosines.items() if cosine >= LIKE]
        found = self.alike(Likeness.MEANING, ids)
        noted = tuple(
            replace(
                one, note=" · ".join(filter(None, [like(cosines[one.anchor_id]), one.note]))
            )
            for one in found.items
        )
        return replace(found, items=noted)

    def _given(self, passage: Passage, anchor: Anchor) -> Answer | None:
        if self.answer.kind is not Kind.REFERENCE:
            return self.answer
        if passage.text == self.source.text and len(passage.tokens) == len(self.source.tokens):
            return self.answer
        return transferred(self.answer, self.lemmas, passage, anchor)

    def _is_near(self, passage: Passage, anchor: Anchor) -> bool:
        here = passage.turn_of(anchor.start)
        return any(
            abs(passage.turn_of(token) - here) <= NEAR_TURNS
            for token in places_of(self.lemmas[0], passage, anchor)
        )


def transferred(
    answer: Answer, lemmas: Sequence[frozenset[str]], passage: Passage, anchor: Anchor
) -> Answer | None:
    """Return a Reference to the same nouns in another passage; None if one is missing there.

    The mention nearest before the anchor, or else the first one after it, is marked; all others
    are added.
    """
    heads = []
    taken: set[int] = set()
    for names in lemmas:
        tokens = [t for t in places_of(names, passage, anchor) if t not in taken]
        if not tokens:
            return None
        taken |= set(tokens)
        heads.append(Head(tuple(_mentions(tokens, anchor))))
    return Answer(Kind.REFERENCE, tuple(heads), answer.relation)


def _mentions(tokens: Sequence[int], anchor: Anchor) -> Iterator[Mention]:
    before = [token for token in tokens if token < anchor.start]
    marked = max(before) if before else min(tokens)
    yield Mention(marked, marked + 1, marked)
    for token in tokens:
        if token != marked:
            yield Mention(token, token + 1, token, Origin.ADDED)


def places_of(names: Iterable[str], passage: Passage, anchor: Anchor) -> list[int]:
    """Return the tokens with one of these case-folded lemmas, outside the anchor."""
    wanted = set(names)
    return [
        place
        for place, token in enumerate(passage.tokens)
        if _fold(token.lemma) in wanted and not anchor.start <= place < anchor.end
    ]


def _fold(word: str) -> str:
    return word.strip().casefold()


# Vectors are kept outside the database, by anchor. Ids of deleted anchors are used again.

PLACES = f"""
SELECT a.id, p.digest, a.start, a.stop
FROM anchor AS a JOIN passage AS p ON p.id = a.passage_id
WHERE {anchors.VISIBLE}"""  # noqa: S608 - made of constants
ALL_PLACES = f"{PLACES} ORDER BY a.state <> 'decided', a.id"
NEWEST = "SELECT (SELECT max(id) FROM anchor), (SELECT max(created_at) FROM batch)"


def check_of(digest: bytes, start: int, stop: int) -> int:
    """A number that tells an anchor from a later one with its id."""
    return zlib.crc32(b"%d %d" % (start, stop), zlib.crc32(digest))


def places(connection: Connection) -> list[tuple[int, int]]:
    """Return all visible anchors with their `check_of`; decided ones come first."""
    return [(id_, check_of(*place)) for id_, *place in connection.execute(ALL_PLACES)]


def newest(connection: Connection) -> tuple[int | None, str | None]:
    """Return what changes when anchors are added."""
    row: tuple[int | None, str | None] = connection.execute(NEWEST).fetchone()
    return row


def like(cosine: float) -> str:
    """Return the reason for which an item of this cosine is shown."""
    return f"{Likeness.MEANING}: {cosine:.2f}"


def _cosines(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    near: Near | None,
    among: Collection[int],
) -> dict[int, float]:
    """Return the cosines of the nearest of some anchors, the nearest first."""
    found = {} if near is None else near(anchor_id, among)
    key = {"ids": json_of(list(found)), "id": anchor_id, "me": me.id}
    checks = {id_: check_of(*place) for id_, *place in connection.execute(NEAR_PLACES, key)}
    same = {id_: cosine for id_, (cosine, made) in found.items() if checks.get(id_) == made}
    return {} if same.pop(anchor_id, None) is None else same


# Precedents of an item: earlier decisions with the same rule tag, number or noun; with vectors,
# those whose vectors are nearest.
#
# The numbers of decisions that are searched are limited, so that a search takes a few
# hundredths of a second in a database of any size. Items that the person has yet to decide
# blind are left out.

MOST_PRECEDENTS = 20
"""Precedents that are returned at most."""

DECISIONS = 4_000
"""Newest decisions of experts that are searched for the same number."""

PRECEDENT_NOUNS = 400
"""Newest decisions of experts that are searched for the same noun."""

OTHERS = 200
"""Decided items with the same number that are searched for gold not made by an expert."""

NOT_BLIND = """NOT EXISTS (
    SELECT 1 FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :me AND s.role = 'adjudicator'
        AND s.state = 'open' AND s.purpose IN ('double', 'audit'))"""
SEEN = f"a.id <> :id AND {anchors.VISIBLE} AND {NOT_BLIND}"
NEAR_PLACES = f"""{PLACES}
    AND a.id IN (SELECT value FROM json_each(:ids))
    AND (a.id = :id OR {NOT_BLIND})"""  # noqa: S608 - made of constants
UNDECIDED = "SELECT id FROM anchor WHERE state <> 'decided'"
DECIDED = "SELECT anchor_id FROM gold WHERE removed = 0 AND kind <> 'NFH'"

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
    """An earlier decision that is relevant to an item."""

    anchor_id: int
    passage: Passage
    anchor: Anchor
    answer: Answer
    """What was decided."""

    by: str | None
    """The expert; None if a rule or a file decided."""

    at: str | None
    """When it was decided; None if unknown."""

    rule: Rule
    """How it was decided."""

    why: tuple[str, ...]
    """What it has in common with the item: "rule R5", "number", "noun"."""

    tag: str | None = None
    """The rule of the guidelines that the decision names."""

    cosine: float | None = None
    """Of its vector and the item's; None without these."""

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is shown, the strongest reason first."""
        near = () if self.cosine is None else (like(self.cosine),)
        return (*near, f"same {', '.join(self.why)}") if self.why else near

    @property
    def sentence(self) -> tuple[str, str, str]:
        """The turn of the anchor: the text before it, its words, and the text after it."""
        turn = self.passage.turns[self.passage.turn_of(self.anchor.start)]
        first, last = self.passage.code_points(turn)
        start, stop = self.passage.code_points(self.anchor)
        text = self.passage.text
        return text[first:start], text[start:stop], text[stop:last]


def find_precedents(
    connection: Connection,
    anchor_id: int,
    me: Annotator,
    nouns: Collection[str] = (),
    tag: str | None = None,
    near: Near | None = None,
) -> tuple[Precedent, ...]:
    """Return the precedents of an anchor, at most MOST_PRECEDENTS.

    The nearest come first, where there are vectors; then experts' decisions; then those with
    more in common; then the newest. The connection must be in a read transaction. nouns: lemmas
    of the nouns of the person's answer. tag: the rule of the guidelines that the answer names.
    """
    row = connection.execute(OF_ANCHOR, {"id": anchor_id}).fetchone()
    if row is None:
        return ()
    key: dict[str, object] = {
        "id": anchor_id,
        "me": me.id,
        "word": row[0],
        "most": MOST_PRECEDENTS,
    }
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
    among = () if near is None else _ids(connection, DECIDED, {})
    cosines = _cosines(connection, anchor_id, me, near, among)
    return _made(connection, {id_: why.get(id_, []) for id_ in {**why, **cosines}}, cosines)


def _with_noun(
    connection: Connection, key: dict[str, object], wanted: set[str]
) -> Iterator[int]:
    """Yield the newest experts' decisions with one of these case-folded nouns."""
    if not wanted:
        return
    given = 0
    for id_, noun, lemmas, tokens in connection.execute(
        NOUNS, key | {"through": PRECEDENT_NOUNS}
    ):
        if noun is not None:
            said = {noun.strip().casefold()}
        else:
            words = decode_lemmas(lemmas)
            places = (int(token) for token in (tokens or "").split(",") if token)
            said = {words[place].strip().casefold() for place in places if place < len(words)}
        if said & wanted:
            yield id_
            given += 1
            if given == MOST_PRECEDENTS:
                return


def _made(
    connection: Connection, why: dict[int, list[str]], cosines: Mapping[int, float]
) -> tuple[Precedent, ...]:
    golds = answers.read_all_gold(connection, list(why))
    best = sorted(golds, key=lambda id_: golds[id_].at or "", reverse=True)
    best.sort(key=lambda id_: (golds[id_].rule != Rule.EXPERT, -len(why[id_])))
    best.sort(key=lambda id_: -cosines.get(id_, -1))
    chosen = best[:MOST_PRECEDENTS]
    places = items.read_passages(connection, chosen)
    tags: dict[int, str] = dict(connection.execute(TAGS, {"ids": json_of(chosen)}).fetchall())
    found = []
    for id_ in chosen:
        if id_ in places:
            value, tag = golds[id_], tags.get(id_)
            precedent = Precedent(
                id_,
                *places[id_],
                answer_of(value),
                value.by if value.rule == Rule.EXPERT else None,
                value.at,
                Rule(value.rule),
                tuple(why[id_]),
                tag_forms(tag)[0] if tag else None,
                cosines.get(id_),
            )
            found.append(precedent)
    return tuple(found)


class SimilarItems(Repository):
    """Similar items, and precedents."""

    last_decided = reads(last_decided)
    find = reads(find_alike)
    precedents = reads(find_precedents)
    places = reads(places)
    newest = reads(newest)
