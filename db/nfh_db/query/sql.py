"""Compiler from queries to SQL over `anchor AS a`: fixed fragments for keys and orders, values
as parameters.

Each condition filters one walk along the anchors in passage order, by the index of UNIQUE
(passage_id, start, stop). A unary + keeps SQLite from preferring another index, which would
have to sort the result. The walk takes a few hundredths of a second for 200,000 anchors, and
the first hits come at once. Conditions on passages are tested once per passage.
"""

import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.anchors import VISIBLE
from nfh_db.batches import OUT
from nfh_db.connection import Connection
from nfh_db.passages import NOT_INDEXED, NUL_TRIGRAM
from nfh_db.query import visibility
from nfh_db.query.keys import ANY, GOLD, NONE, PROPOSAL, SKIPPED, VOTES
from nfh_db.query.parser import (
    ME,
    Binder,
    Compare,
    Either,
    Match,
    PeopleTerm,
    PeopleValue,
    Query,
    SortTerm,
    Term,
    fill,
)
from nfh_db.query.visibility import asked_by
from nfh_db.records import RULES_OF_VOTES, Role, normal_name
from nfh_models.domain import (
    IMPLICIT_KINDS,
    LEAD,
    MOST_ACCURACY,
    POSSIBLE_ANSWERS,
    Blocking,
    Kind,
    tag_forms,
)

ACTIVE = """coalesce(
    (SELECT id FROM model WHERE state = 'active' AND task = '{task}' ORDER BY id DESC LIMIT 1),
    (SELECT id FROM model WHERE state = 'active' AND task = 'both' ORDER BY id DESC LIMIT 1))"""
ACTIVE_IDENTIFIER = ACTIVE.format(task="identification")
"""Id of the active identification model."""

# A lookup per anchor, after all other conditions: most anchors have an identification.
IDENTIFIED = """(
    SELECT i.nfh FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active})"""
YES = IDENTIFIED + " = 1"
NO = IDENTIFIED + " = 0"
NOT_IDENTIFIED = IDENTIFIED + " IS NULL"

# NULL for BROKEN, which is neither yes nor no.
IN_GOLD = """CASE WHEN a.kind = 'NOT_NFH' THEN 0 WHEN a.kind <> 'BROKEN' THEN 1 END"""
IDENTIFIED_AS_GOLD = f"{IDENTIFIED} = {IN_GOLD}"
IDENTIFIED_UNLIKE_GOLD = f"a.kind IS NOT NULL AND {IDENTIFIED} <> {IN_GOLD}"

IDENTIFIED_BY_RULE = """+a.id IN (
    SELECT i.anchor_id FROM identification AS i
    WHERE i.model_id = {active} AND i.nfh IN (0, 1) AND i.rule COLLATE NOCASE IN ({values}))"""

BY_SCORE = """(
    SELECT abs(i.score) FROM identification AS i
    WHERE i.anchor_id = a.id AND i.model_id = {active}) {direction} NULLS LAST"""

FRAGMENTS = {"yes": YES, "no": NO, NONE: NOT_IDENTIFIED, GOLD: IDENTIFIED_AS_GOLD}


def _nfh(term: Match) -> str:
    """The decision of the model, or its comparison with gold where both exist.

    `!=` negates each value; for gold it finds decisions that differ.
    """
    if not term.unequal:
        return " OR ".join(_fill_identified(FRAGMENTS[value]) for value in term.values)
    return " AND ".join(
        f"({_fill_identified(IDENTIFIED_UNLIKE_GOLD)})"
        if value == GOLD
        else f"({_fill_identified(FRAGMENTS[value])}) IS NOT TRUE"
        for value in term.values
    )


def _nfh_rule(values: tuple[str, ...], binder: Binder) -> str:
    return _fill_identified(IDENTIFIED_BY_RULE, values=binder.all(values))


def _fill_identified(fragment: str, **parts: str) -> str:
    return fill(fragment, active=ACTIVE_IDENTIFIER, **parts)


ACTIVE_RESOLVER = ACTIVE.format(task="resolution")
"""Id of the active resolution model."""

BY_NAME = """(
    SELECT n.id FROM model AS n
    WHERE n.name COLLATE NOCASE = {value} AND n.task IN ('resolution', 'both'))"""

CHOSEN_CLASS = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id IN ({model}) AND m.choice IN ({values}))"""
# A token is written in digits, which stand together in the index, before all letters.
CHOSEN_WORD = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id IN ({model}) AND m.choice >= '0' AND m.choice < ':')"""
NO_PREDICTION = """+a.id NOT IN (
    SELECT m.anchor_id FROM prediction AS m WHERE m.model_id IN ({model}))"""

COMPARED_PREDICTION = """+a.id IN (
    SELECT m.anchor_id FROM prediction AS m
    WHERE m.model_id = {active} AND m.%s {compared})"""
BY_ENTROPY = """(
    SELECT m.entropy FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}) {direction} NULLS LAST"""

IMPLICIT = ", ".join(f"'{kind.value}'" for kind in IMPLICIT_KINDS)

# The class of gold (UNKNOWN counts as OTHER), or any mention that was not removed. NULL if gold
# is NOT_NFH, BROKEN or NFH: neither right nor wrong. The accuracy is counted in the same way.
CHOICE_RIGHT = """CASE
            WHEN a.kind IN ({implicit}) THEN m.choice = a.kind
            WHEN a.kind = 'UNKNOWN' THEN m.choice = 'OTHER'
            WHEN a.kind = 'REFERENCE' THEN m.choice IN (
                SELECT CAST(t.token AS TEXT) FROM head AS h
                JOIN mention AS t ON t.head_id = h.id
                WHERE h.gold_id = a.id AND t.origin <> 'removed')
        END"""

MODEL_IS_RIGHT = f"""a.kind IS NOT NULL AND EXISTS (
    SELECT 1 FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id IN ({{model}}) AND {CHOICE_RIGHT} IS {{verdict}})"""  # noqa: S608 - made of constants

# Whether an answer v says what the model's {choice} says, as CHOICE_RIGHT of gold. An answer,
# unlike gold, need not name every place of its noun: another one is known by its lemma.
VOTED_AS = """CASE
            WHEN v.kind IN ({{implicit}}) THEN m.{choice} = v.kind
            WHEN v.kind = 'UNKNOWN' THEN m.{choice} = 'OTHER'
            WHEN v.kind = 'REFERENCE' THEN m.{choice} < ':' AND EXISTS (
                SELECT 1 FROM head AS h JOIN mention AS t ON t.head_id = h.id
                LEFT JOIN passage_token AS k ON k.passage_id = a.passage_id
                WHERE h.answer_id = v.id AND t.origin <> 'removed'
                    AND (m.{choice} = CAST(t.token AS TEXT)
                        OR k.lemmas ->> CAST(m.{choice} AS INTEGER) = k.lemmas ->> t.token))
        END"""
VOTED_AS_CHOICE = VOTED_AS.format(choice="choice")
VOTED_AS_SECOND = VOTED_AS.format(choice="second")
OF_ACTIVE = "m.anchor_id = a.id AND m.model_id = {active}"
VOTES_OF = """answer AS v JOIN annotator AS n ON n.id = v.annotator_id
    WHERE v.anchor_id = a.id AND v.role = 'annotator' AND v.removed = 0 AND v.kind <> 'NFH'
        AND n.type = 'person' AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading}))"""
MODEL_AS_A_VOTE = f"""(
    SELECT max({VOTED_AS_CHOICE}) FROM prediction AS m, {VOTES_OF} AND {OF_ACTIVE})"""  # noqa: S608 - made of constants

# The votes that lead, where some differ: those against which the least of all votes stands, or
# the least weight where the competence of all who voted is known. If they `lead`, they are what
# `nfh_tui.editor.votes.proposal` proposes.
WEIGHT = f"""(
            SELECT iif(p > 0, max(0.0, ln({POSSIBLE_ANSWERS - 1} * p / (1 - p))), 0.0)
            FROM (SELECT min(j.value ->> 0, {MOST_ACCURACY}) AS p
                FROM setting AS s, json_each(s.value, '$.people') AS j
                WHERE s.name = 'competence' AND s.value <> '' AND j.key = n.name))"""  # noqa: S608 - made of constants
OF_DIFFERING = """
            FROM difference AS d
            JOIN annotator AS n ON n.id = d.left_id + d.right_id - v.annotator_id
            WHERE d.anchor_id = a.id AND d.blocking IS NOT NULL
                AND v.annotator_id IN (d.left_id, d.right_id)"""
# Windows and no common table expressions, which would be computed for each use again.
LEADERS = f"""(
    SELECT id, kind, ((1 - against) * size + 1) / (size + 2) AS likely,
        held < 1 - least + 1e-9 AND NOT (weighed AND next < least + {LEAD} - 1e-9) AS lead
    FROM (
        SELECT *, total(part) FILTER (WHERE against < least + 1e-9) OVER () AS held,
            coalesce(min(against) FILTER (WHERE against >= least + 1e-9) OVER (), 1) AS next
        FROM (
            SELECT *, min(against) OVER () AS least FROM (
                SELECT id, kind, size, weighed,
                    iif(weighed, weight / whole, 1.0 / size) AS part,
                    iif(weighed, other_weight / whole, others * 1.0 / size) AS against
                FROM (
                    SELECT *, size > 1 AND known = size AND whole > 0 AS weighed FROM (
                        SELECT *, count(*) OVER () AS size, count(weight) OVER () AS known,
                            total(weight) OVER () AS whole
                        FROM (
                            SELECT v.id, v.kind, {WEIGHT} AS weight,
                                (SELECT count(*){OF_DIFFERING}) AS others,
                                (SELECT total({WEIGHT}){OF_DIFFERING}) AS other_weight
                            FROM {VOTES_OF}))))))
    WHERE against < least + 1e-9)"""  # noqa: S608 - made of constants
MODEL_AS_PROPOSED = f"""iif(a.strongest IS NULL, {MODEL_AS_A_VOTE}, (
    SELECT max({VOTED_AS_CHOICE}) FROM {LEADERS} AS v CROSS JOIN prediction AS m
    WHERE v.lead AND {OF_ACTIVE}))"""  # noqa: S608 - made of constants

# The chance that what the votes say is wrong: their share, with a vote more for it and another
# against it, and the model's probability of it count alike. Without votes the model counts.
AGREEING = f"(SELECT v.id, v.kind, (a.votes + 1.0) / (a.votes + 2) AS likely FROM {VOTES_OF})"  # noqa: S608 - made of constants
LIKELY = f"""(
        SELECT coalesce((max(v.likely) + max(CASE {VOTED_AS_CHOICE} WHEN 1 THEN m.confidence
            WHEN 0 THEN iif({VOTED_AS_SECOND}, m.confidence - m.margin, 0.0) END)) / 2,
            max(v.likely))
        FROM %s AS v LEFT JOIN prediction AS m ON {OF_ACTIVE})"""  # noqa: S608 - made of constants
BY_GAIN = f"""CASE WHEN NOT EXISTS (
    SELECT 1 FROM gold AS g WHERE g.anchor_id = a.id AND g.removed = 0 AND g.kind <> 'NFH'
        AND g.rule NOT IN ({RULES_OF_VOTES}))
    THEN 1 - coalesce(CASE WHEN a.votes = 0 THEN NULL
        WHEN a.strongest IS NULL THEN {LIKELY % AGREEING} ELSE {LIKELY % LEADERS} END,
        (SELECT m.confidence FROM prediction AS m WHERE {OF_ACTIVE})
    ) END {{direction}} NULLS LAST"""  # noqa: S608 - made of constants

# A prediction without margin counts as 0.
BY_CONFLICT = f"""CASE WHEN a.kind IS NOT NULL THEN (
    SELECT coalesce(m.margin, 0.0) FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {{active}} AND {CHOICE_RIGHT} IS FALSE
    ) END {{direction}} NULLS LAST"""  # noqa: S608 - made of constants


def _judged(value: PeopleValue, binder: Binder, verdict: str) -> str:
    """Whether the named model is right. verdict: TRUE, or FALSE for wrong."""
    model = fill(BY_NAME, value=binder.one(value.names[0]))
    return f"({fill(MODEL_IS_RIGHT, model=model, implicit=IMPLICIT, verdict=verdict)})"


def _chosen(value: PeopleValue, binder: Binder) -> str:
    model = fill(BY_NAME, value=binder.one(value.names[0])) if value.names else ACTIVE_RESOLVER
    if value.what == NONE:
        return fill(NO_PREDICTION, model=model)
    if value.what == Kind.REFERENCE:
        return fill(CHOSEN_WORD, model=model)
    return fill(CHOSEN_CLASS, model=model, values=binder.one(value.what))


DOUBT = """+a.id IN (
    SELECT d.anchor_id FROM doubt AS d WHERE d.likely {compared})"""
BY_DOUBT = """(
    SELECT d.likely FROM doubt AS d WHERE d.anchor_id = a.id) {direction} NULLS LAST"""

REVERSED_OPERATORS = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""Doubt is 1 minus the likelihood, so that comparisons are reversed."""

DECIMALS = 9
"""Decimals of a number in a query; rounding makes 1 − 0.9 equal to 0.1."""

NEWEST_OTHER = f"""(
    SELECT n.id FROM model AS n
    WHERE n.task IN ('resolution', 'both') AND n.id IS NOT {ACTIVE_RESOLVER}
        AND EXISTS (SELECT 1 FROM prediction AS x WHERE x.model_id = n.id)
    ORDER BY n.id DESC LIMIT 1)"""  # noqa: S608 - made of constants

# The smaller margin of the two models ranks the difference. Two words of the passage may be the
# same noun, so they come after other differences.
BY_MODELS = """(
    SELECT min(coalesce(m.margin, 0.0), coalesce(o.margin, 0.0))
        + NOT (m.choice < ':' AND o.choice < ':')
    FROM prediction AS m
    JOIN prediction AS o ON o.anchor_id = m.anchor_id AND o.model_id IN {other}
    WHERE m.anchor_id = a.id AND m.model_id = {active} AND o.choice <> m.choice
    ) {direction} NULLS LAST"""

# An anchor ranks by the amount of gold of its predicted kind, plus a pseudo-random place among
# the anchors predicted so. The list thus continues with the kind that has least gold by then.
BY_RARE = """CASE WHEN a.state <> 'decided' THEN (
    SELECT CASE {kinds} END FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}
    ) END {direction} NULLS LAST"""
RARE_CASE = """WHEN m.choice {chosen} THEN
        (SELECT count(*) FROM gold AS g WHERE g.kind IN ({gold}) AND g.removed = 0)
        + (SELECT count(*) FROM prediction AS x WHERE x.model_id = {active}
            AND x.choice {chosen}) * ((a.id * 2654435769 % 4294967296) / 4294967296.0)"""
# A token is written in digits, which stand together in the index, before all letters.
WORD_CHOICE = "< ':'"
CHOICES_AS_GOLD = {Kind.OTHER: "'OTHER', 'UNKNOWN'"}
"""Kinds whose gold includes other kinds."""


def _doubt(term: Compare, binder: Binder) -> str:
    likely = [round(1.0 - number, DECIMALS) for number in term.numbers]
    operator = REVERSED_OPERATORS.get(term.operator, term.operator)
    return fill(DOUBT, compared=binder.compared(operator, likely))


def _by_models(sort: SortTerm, binder: Binder) -> str:
    """Where the active model and another differ, the largest margin first."""
    other = fill(BY_NAME, value=binder.one(sort.model)) if sort.model else NEWEST_OTHER
    direction = "ASC" if sort.reverse else "DESC"
    return fill(BY_MODELS, active=ACTIVE_RESOLVER, other=other, direction=direction)


def _by_rare(direction: str) -> str:
    """Undecided anchors by the amount of gold of their predicted kind."""
    chosen = {kind: f"= '{kind.value}'" for kind in IMPLICIT_KINDS} | {
        Kind.REFERENCE: WORD_CHOICE
    }
    kinds = " ".join(
        fill(
            RARE_CASE,
            chosen=how,
            gold=CHOICES_AS_GOLD.get(kind, f"'{kind.value}'"),
            active=ACTIVE_RESOLVER,
        )
        for kind, how in chosen.items()
    )
    return fill(BY_RARE, kinds=kinds, active=ACTIVE_RESOLVER, direction=direction)


# The name as it is written comes before one in the other case; a name that was merged into
# another's stands for that person.
NAMED = "(SELECT coalesce(n.merged_into, n.id) FROM annotator AS n WHERE n.name {how})"
WHO = "(coalesce({written}, {normal}, {either_case}))"
ME_ID = "(:q_me)"

BLOCKS = "d.blocking IS NOT NULL"
IN_KIND = "d.blocking = {value}"
IN_NOTE = "instr(d.notes, {value}) > 0"
DIFFERS_FROM_ANYBODY = """+a.id IN (
    SELECT d.anchor_id FROM difference AS d WHERE d.left_id IN {left} AND {what}
    UNION ALL
    SELECT d.anchor_id FROM difference AS d WHERE d.right_id IN {left} AND {what})"""
DIFFER = """+a.id IN (
    SELECT d.anchor_id FROM difference AS d
    WHERE d.left_id IN {left} AND d.right_id IN {right} AND {what}
    UNION ALL
    SELECT d.anchor_id FROM difference AS d
    WHERE d.left_id IN {right} AND d.right_id IN {left} AND {what})"""

ANNOTATOR_SAID = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.role = 'annotator' AND v.removed = 0 AND v.kind IN ({kinds}){who}
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
SAID_BY = " AND v.annotator_id IN {who}"
SAID_BY_ANYBODY = """
        AND v.annotator_id NOT IN (SELECT n.id FROM annotator AS n WHERE n.type <> 'person')"""

GOLD_BY_RULE = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g WHERE g.rule IN ({values}) AND g.removed = 0)"""

EXPERTS = "+a.id IN (SELECT e.anchor_id FROM expert_difference AS e WHERE {which})"
EXPERTS_WHICH = {"agree": "e.blocking IS NULL", "differ": "e.blocking IS NOT NULL"}

ANNOTATOR_RIGHT = """+a.id IN (
    SELECT d.anchor_id FROM gold_difference AS d
    WHERE d.annotator_id IN {who} AND d.blocking IS NULL)"""
NOBODY_RIGHT = """a.state = 'decided' AND (
    SELECT count(*) > 0 AND count(*) = count(d.blocking) FROM gold_difference AS d
    WHERE d.anchor_id = a.id)"""
WRONG = """+a.id IN (
    SELECT d.anchor_id FROM gold_difference AS d WHERE d.annotator_id IN {who} AND {what})"""

ASSIGNED = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.annotator_id IN {who} AND s.state IN ({states}){role})"""
ASSIGNED_IN_ROLE = " AND s.role = {value}"
ASSIGNED_TO_NOBODY = """NOT EXISTS (
    SELECT 1 FROM assignment AS s WHERE s.anchor_id = a.id AND s.state <> 'returned')"""

# The first term is the one that the partial index has.
AUDIT = """+a.id IN (
    SELECT s.anchor_id FROM assignment AS s
    WHERE s.purpose <> 'work' AND s.purpose = 'audit' AND {which})"""
AUDIT_WHICH = {
    "open": "s.state = 'open'",
    "right": "s.state = 'done' AND s.verdict = 'right'",
    "wrong": "s.state = 'done' AND s.verdict = 'wrong'",
}

MY_POSITION = """(
    SELECT min(s.position) FROM assignment AS s
    WHERE s.anchor_id = a.id AND s.annotator_id = :q_me AND s.state <> 'returned'
    ) {direction} NULLS LAST"""

Values = Sequence[PeopleValue]


def _who(name: str, binder: Binder) -> str:
    """Id of the annotator with a name, in either case."""
    if name == ME:
        return ME_ID
    written, normal = binder.one(name), binder.one(normal_name(name))
    return fill(
        WHO,
        written=fill(NAMED, how=f"= {written}"),
        normal=fill(NAMED, how=f"= {normal}"),
        either_case=fill(NAMED, how=f"COLLATE NOCASE = {normal}"),
    )


def _differ(value: PeopleValue, binder: Binder) -> str:
    left, *others = (_who(name, binder) for name in value.names)
    what = _difference(value.what, binder)
    if not others:
        return fill(DIFFERS_FROM_ANYBODY, left=left, what=what)
    return fill(DIFFER, left=left, right=others[0], what=what)


def _difference(what: str, binder: Binder) -> str:
    if not what:
        return BLOCKS
    if what in list(Blocking):
        return fill(IN_KIND, value=binder.one(what))
    return fill(IN_NOTE, value=binder.one(f" {what} "))


def _said(values: Values, binder: Binder) -> str:
    # Each condition reads all answers, so there is one per person and not one per kind.
    kinds: dict[tuple[str, ...], list[str]] = {}
    for value in values:
        kinds.setdefault(value.names, []).append(value.what)
    return " OR ".join(
        fill(
            ANNOTATOR_SAID,
            kinds=binder.all(some),
            who="".join(fill(SAID_BY, who=_who(name, binder)) for name in names)
            or SAID_BY_ANYBODY,
        )
        for names, some in kinds.items()
    )


def _assigned(value: PeopleValue, binder: Binder, states: str) -> str:
    if not value.names:
        return ASSIGNED_TO_NOBODY
    role = fill(ASSIGNED_IN_ROLE, value=binder.one(value.what)) if value.what else ""
    return fill(ASSIGNED, who=_who(value.names[0], binder), states=states, role=role)


def _right(value: PeopleValue, binder: Binder) -> str:
    if not value.names:
        return f"({NOBODY_RIGHT})"
    return fill(ANNOTATOR_RIGHT, who=_who(value.names[0], binder))


def _wrong(value: PeopleValue, binder: Binder) -> str:
    who = _who(value.names[0], binder)
    return fill(WRONG, who=who, what=_difference(value.what, binder))


def _any(condition: Callable[..., str], **parts: str) -> Callable[[Values, Binder], str]:
    """Any of the values, each of which has its own condition."""
    return lambda values, binder: " OR ".join(
        condition(value, binder, **parts) for value in values
    )


PEOPLE: dict[str, Callable[[Values, Binder], str]] = {
    "differs": _any(_differ),
    "said": _said,
    "right": _any(_right),
    "wrong": _any(_wrong),
    "predicted": _any(_chosen),
    "hit": _any(_judged, verdict="TRUE"),
    "miss": _any(_judged, verdict="FALSE"),
} | {
    key: _any(_assigned, states=states) for key, states in visibility.ASSIGNMENT_STATES.items()
}
"""The condition of each key about people."""


# The first term is the one that the partial index has.
TAGGED = """+a.id IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.rule_tag IN ({values}) AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""
UNTAGGED = """+a.id NOT IN (
    SELECT v.anchor_id FROM answer AS v
    WHERE v.rule_tag IS NOT NULL AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})))"""

VERSION = """+a.id IN (
    SELECT g.anchor_id FROM gold AS g JOIN answer AS v ON v.id = g.answer_id
    WHERE g.rule = 'expert' AND g.removed = 0
        AND v.guideline_version {compared})"""


def _tagged(values: tuple[str, ...], binder: Binder) -> str:
    plain = [form for value in values if value != NONE for form in tag_forms(value)]
    parts = [fill(TAGGED, values=binder.all(plain))] if plain else []
    return " OR ".join([*parts, fill(UNTAGGED)] if NONE in values else parts)


ID = "a.id IN ({values})"
STATE = "a.state IN ({values})"
SKIPPED_BY_ME = """a.state <> 'decided' AND +a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.annotator_id = :q_me AND f.name = 'skip' AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

KIND = "a.kind IN ({values})"
NO_KIND = "a.kind IS NULL"

SPLIT = f"""+a.id IN (
    SELECT s.anchor_id FROM source_row AS s
    WHERE s.split IN ({{values}}) AND s.batch_id NOT IN ({{loading}})
        AND s.batch_id NOT IN ({OUT}))"""  # noqa: S608 - made of constants

WORD = "+a.word COLLATE NOCASE IN ({values})"

FLAG = """+a.id IN (
    SELECT f.anchor_id FROM flag AS f
    WHERE f.name IN ({values}) AND f.removed = 0
        AND (f.batch_id IS NULL OR f.batch_id NOT IN ({loading})))"""

BLOCKING_OR_NOTE = "instr(a.blocking || a.notes, {value}) > 0"
ANY_BLOCKING = "a.strongest IS NOT NULL"

PATTERN = "a.pattern IN ({values})"

# A lookup per anchor, after all other conditions: most people answer most anchors, so a list of
# theirs is long. SQLite would turn EXISTS into a join and build an index for it each time.
BY = """(
    SELECT 1 FROM answer AS v
    WHERE v.anchor_id = a.id AND v.annotator_id IN ({values}) AND v.removed = 0
        AND (v.batch_id IS NULL OR v.batch_id NOT IN ({loading})) LIMIT 1) = 1"""

PASSAGES = "+a.passage_id IN (SELECT x.id FROM passage AS x WHERE {condition})"
DOCUMENTS = "x.document_id IN (SELECT d.id FROM document AS d WHERE {condition})"

# Passages with a text's trigrams, and those that the index does not have yet.
CANDIDATES = f"""
    SELECT rowid FROM passage_text WHERE passage_text MATCH :q_match UNION ALL{NOT_INDEXED}"""  # noqa: S608 - made of constants
AMONG_CANDIDATES = f"""+a.passage_id IN (
    SELECT x.id FROM passage AS x WHERE {{condition}} AND x.id IN ({CANDIDATES}))"""  # noqa: S608 - made of constants
EACH_PASSAGE = "(SELECT {condition} FROM passage AS x WHERE x.id = a.passage_id)"
FEW = 50_000
"""Most candidates that are read before the walk along the anchors."""
COUNT_CANDIDATES = """
SELECT count(*) FROM (
    SELECT 1 FROM passage_text WHERE passage_text MATCH :q_match LIMIT :most)"""
TRIGRAM = re.compile(r"(?=([ -:<-_a-~]{3}))")
"""Three ASCII characters that stand so in each text with an NFC of them; ; and ` need not."""
MOST_TRIGRAMS = 40
"""Trigrams of a value that are looked up."""
CONTAINS = "instr(lower({column}), {value}) > 0"
NOT_ASCII = "octet_length({column}) > length({column})"
NFC = "CAST(nfc(CAST({column} AS BLOB)) AS TEXT)"
"""`nfc` is a function of `Connection`, of bytes, since a text may hold NUL."""
COMPOSED = f"iif({NOT_ASCII}, {NFC}, {{column}})"
CONTAINS_COMPOSED = CONTAINS.replace("{column}", COMPOSED)
CONTAINS_ASCII = f"({CONTAINS} AND {CONTAINS_COMPOSED})"
FROM_OTHERS = frozenset("kK;`")
"""ASCII characters that are the NFC of others, so that a text may hold them only in NFC."""

# A cheap test first: an ASCII text, with as many bytes as characters, cannot match.
CONTAINS_OTHER = f"({NOT_ASCII} AND instr(lower({NFC}), {{value}}) > 0)"
CONTAINS_CASED = f"({NOT_ASCII} AND {NFC} GLOB {{value}})"

NOT = "({condition}) IS NOT TRUE"
"""Also true if the condition is NULL, as for -class:AGE without gold."""

PASSAGE_ORDER = "a.passage_id, a.start, a.stop"
PASSAGE_ORDER_BACK = "a.passage_id DESC, a.start DESC, a.stop DESC"

STRENGTH = (
    "CASE a.strongest "
    + " ".join(f"WHEN '{kind.value}' THEN {rank}" for rank, kind in enumerate(Blocking))
    + " END {direction} NULLS LAST"
)
BY_WORD = "a.word COLLATE NOCASE {direction}"
BY_VOTES = "a.votes {direction}"
BY_MARGIN = """(
    SELECT m.margin FROM prediction AS m
    WHERE m.anchor_id = a.id AND m.model_id = {active}) {direction} NULLS LAST"""

# x squared modulo a prime, where x is linear in the id. Products stay within 63 bits for ids
# below 2**46, and neighbours land at varying distances.
SHUFFLED_LINE = "((a.id * 65537 + {value}) % 2147483647)"
SHUFFLED = f"({SHUFFLED_LINE} * {SHUFFLED_LINE}) % 2147483629 {{direction}}"
SEED_STEP = 1_640_531_527
SEED_PRIME = 2_147_483_647

ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@dataclass(frozen=True, slots=True)
class Compiled:
    """SQL for `SELECT … FROM anchor AS a WHERE {where} ORDER BY {order}`.

    The statement may also join `passage AS p`.
    """

    where: str
    """Includes VISIBLE."""
    order: str
    parameters: dict[str, object]
    """All names begin with q_, so that a statement may have other parameters."""


def _fill_predicted(fragment: str, **parts: str) -> str:
    """Fill a fragment; {active} is the active resolution model."""
    return fill(fragment, active=ACTIVE_RESOLVER, implicit=IMPLICIT, **parts)


def compile(  # noqa: A001 - the language's own word
    query: Query,
    me_id: int,
    role: Role = Role.ADJUDICATOR,
    *,
    blind: bool = False,
    passages: str = PASSAGES,
) -> Compiled:
    """Compile a query of the annotator `me_id`.

    Raises QueryError if a query in the annotator's role depends on others' answers, gold or
    models. blind: anchors that the person must still decide blind count as undecided.
    passages: the fragment of a condition on the text of an anchor's passage.
    """
    binder = Binder(me_id, passages)
    if role is Role.ANNOTATOR:
        return _compile_annotator(asked_by(query, role), binder)

    def each(term: Term) -> str:
        condition = _condition(term, binder)
        return visibility.hide_blind(term, condition) if blind else condition

    conditions = _all(query, each)
    if blind and visibility.order_reveals(query):
        conditions.append(visibility.NOT_BLIND)
    return Compiled(" AND ".join(conditions), _order(query.sorts, binder), binder.parameters)


def _all(query: Query, condition: Callable[[Term], str]) -> list[str]:
    """The conditions of a query, which hold together."""
    return [
        VISIBLE,
        *(
            f"({' OR '.join(map(condition, term.terms))})"
            if isinstance(term, Either)
            else condition(term)
            for term in query.terms
        ),
    ]


def compile_search(
    connection: Connection, query: Query, me_id: int, role: Role = Role.ADJUDICATOR
) -> Compiled:
    """Compile a blind query so that the first hits are found fast, by the index of texts."""
    wanted = [
        [unicodedata.normalize("NFC", value) for value in term.values]
        for term in query.terms
        if isinstance(term, Match) and term.key == "text" and term.negated == term.unequal
    ]
    match = _trigrams_of(wanted)
    if match is None:
        # Most texts lack what a query leaves out.
        passages = PASSAGES if wanted else EACH_PASSAGE
        return compile(query, me_id, role, blind=True, passages=passages)
    parameters = {"q_match": match, "most": FEW}
    few = connection.execute(COUNT_CANDIDATES, parameters).fetchone()[0] < FEW
    passages = AMONG_CANDIDATES if few else EACH_PASSAGE
    compiled = compile(query, me_id, role, blind=True, passages=passages)
    if not few:
        return compiled
    where = f"a.passage_id IN ({CANDIDATES}) AND {compiled.where}"
    return replace(compiled, where=where, parameters=compiled.parameters | {"q_match": match})


def _trigrams_of(wanted: Sequence[Sequence[str]]) -> str | None:
    """An expression of FTS5 for texts that hold one of each of these values; None for all."""
    found = []
    for values in wanted:
        trigrams = [list(dict.fromkeys(TRIGRAM.findall(value))) for value in values]
        if all(trigrams):
            found.append(" OR ".join(_all_of(some[:MOST_TRIGRAMS]) for some in trigrams))
    return f'({") AND (".join(found)}) OR "{NUL_TRIGRAM}"' if found else None


def _all_of(trigrams: Sequence[str]) -> str:
    quoted = ['"' + trigram.replace('"', '""') + '"' for trigram in trigrams]
    return f"({' AND '.join(quoted)})"


def compile_seen(query: Query, me_id: int) -> Compiled:
    """Compile a query without the anchors that the person must still decide blind."""
    compiled = compile(query, me_id)
    return replace(compiled, where=f"{compiled.where} AND {visibility.NOT_BLIND}")


def _compile_annotator(query: Query, binder: Binder) -> Compiled:
    conditions = _all(query, lambda term: _annotator_condition(term, binder))
    order = _order(query.sorts, binder, ORDERS | {"assigned": visibility.MY_POSITION})
    return Compiled(" AND ".join(conditions), order, binder.parameters)


def _annotator_condition(term: Term, binder: Binder) -> str:
    condition = visibility.condition(term, binder)
    if condition is not None:
        unequal = False if isinstance(term, Compare) else term.unequal
        held = f"({condition})"
        return _fill_predicted(NOT, condition=condition) if term.negated != unequal else held
    if isinstance(term, Match) and term.key in ("split", "doc"):
        # The negation must not reveal it either, so it is inside the condition.
        return visibility.not_assigned(_condition(term, binder))
    return _condition(term, binder)


def _condition(term: Term, binder: Binder) -> str:
    if isinstance(term, Compare):
        condition = _compare(term, binder)
        return _fill_predicted(NOT, condition=condition) if term.negated else condition
    if isinstance(term, PeopleTerm):
        return _signed(term, PEOPLE[term.key](term.values, binder))
    if term.key == "nfh":
        condition = _nfh(term)
        return _fill_predicted(NOT, condition=condition) if term.negated else f"({condition})"
    if term.key == "model":
        condition = _model(term)
        return _fill_predicted(NOT, condition=condition) if term.negated else f"({condition})"
    return _signed(term, MATCHES[term.key](term.values, binder))


def _model(term: Match) -> str:
    """What the model chose, compared with each value; `!=` needs both to say something."""
    if term.unequal:
        return " AND ".join(_fill_model(value, "FALSE") for value in term.values)
    return " OR ".join(_fill_model(value, "TRUE") for value in term.values)


def _fill_model(value: str, verdict: str) -> str:
    fragment = {
        GOLD: f"({MODEL_IS_RIGHT})",
        VOTES: f"{MODEL_AS_A_VOTE} IS {{verdict}}",
        PROPOSAL: f"{MODEL_AS_PROPOSED} IS {{verdict}}",
    }[value]
    return _fill_predicted(fragment, model=ACTIVE_RESOLVER, verdict=verdict)


def _signed(term: Match | PeopleTerm, condition: str) -> str:
    """The condition, negated by `!=` or by the minus sign, but not by both."""
    if term.negated != term.unequal:
        return _fill_predicted(NOT, condition=condition)
    return f"({condition})"


def _compare(term: Compare, binder: Binder) -> str:
    if term.key == "doubt":
        return _doubt(term, binder)
    compared = binder.compared(term.operator, term.numbers)
    return _fill_predicted(COMPARES[term.key], compared=compared)


def _with_special(
    fragment: str, special: str, special_fragment: str
) -> Callable[[tuple[str, ...], Binder], str]:
    """Any of the values, one of which has its own fragment."""

    def conditions(values: tuple[str, ...], binder: Binder) -> str:
        plain = [value for value in values if value != special]
        parts = [_fill_predicted(fragment, values=binder.all(plain))] if plain else []
        if special in values:
            parts.append(f"({_fill_predicted(special_fragment)})")
        return " OR ".join(parts)

    return conditions


def _which(
    fragment: str, conditions: Mapping[str, str]
) -> Callable[[tuple[str, ...], Binder], str]:
    """Any of the values, each of which has a condition for the fragment."""
    return lambda values, _: " OR ".join(
        _fill_predicted(fragment, which=conditions[value]) for value in values
    )


def _id(values: tuple[str, ...], binder: Binder) -> str:
    return _fill_predicted(ID, values=binder.all(map(int, values)))


def _disagree(values: tuple[str, ...], binder: Binder) -> str:
    return " OR ".join(
        ANY_BLOCKING
        if value == ANY
        else _fill_predicted(BLOCKING_OR_NOTE, value=binder.one(f" {value} "))
        for value in values
    )


def _in(fragment: str) -> Callable[[tuple[str, ...], Binder], str]:
    return lambda values, binder: _fill_predicted(fragment, values=binder.all(values))


def _doc(values: tuple[str, ...], binder: Binder) -> str:
    """The name of the document contains any of the values."""
    named = " OR ".join(_contains("d.name", value, binder) for value in values)
    return fill(PASSAGES, condition=fill(DOCUMENTS, condition=named))


def _text(values: tuple[str, ...], binder: Binder) -> str:
    """The text of the passage contains any of the values."""
    held = " OR ".join(_contains("x.text", value, binder) for value in values)
    return fill(binder.passages, condition=f"({held})")


def _by(names: tuple[str, ...], binder: Binder) -> str:
    return _fill_predicted(BY, values=", ".join(_who(name, binder) for name in names))


MATCHES: dict[str, Callable[[tuple[str, ...], Binder], str]] = {
    "id": _id,
    "text": _text,
    "doc": _doc,
    "state": _with_special(STATE, SKIPPED, SKIPPED_BY_ME),
    "class": _with_special(KIND, NONE, NO_KIND),
    "split": _in(SPLIT),
    "anchor": _in(WORD),
    "flag": _in(FLAG),
    "disagree": _disagree,
    "pattern": _in(PATTERN),
    "by": _by,
    "rule": _with_special(GOLD_BY_RULE, NONE, NO_KIND),
    "experts": _which(EXPERTS, EXPERTS_WHICH),
    "audit": _which(AUDIT, AUDIT_WHICH),
    "tagged": _tagged,
    "nfhrule": _nfh_rule,
}
COMPARES = {
    "heads": "a.heads {compared}",
    "votes": "a.votes {compared}",
    "guideline": VERSION,
    "margin": COMPARED_PREDICTION % "margin",
    "conf": COMPARED_PREDICTION % "confidence",
    "entropy": COMPARED_PREDICTION % "entropy",
}


def _contains(column: str, value: str, binder: Binder) -> str:
    """The column contains the value, in either case; both are compared as NFC has them.

    SQLite's lower() folds ASCII letters only. A value with other letters that have case needs
    a pattern of character classes. A pattern ends at a NUL character, so a value with NUL is
    matched without one.
    """
    value = unicodedata.normalize("NFC", value)
    cased = any(len(_cases(character)) > 1 for character in value if not character.isascii())
    if not cased or "\0" in value:
        fragment = CONTAINS_ASCII if value.isascii() else CONTAINS_OTHER
        if value.isascii() and not FROM_OTHERS.isdisjoint(value):
            fragment = CONTAINS_COMPOSED
        folded = binder.one(value.translate(ASCII_LOWER))
        return _fill_predicted(fragment, column=column, value=folded)
    pattern = "".join(_class(character) for character in value)
    return _fill_predicted(CONTAINS_CASED, column=column, value=binder.one(f"*{pattern}*"))


def _cases(character: str) -> set[str]:
    """The character in each case, except forms of several characters."""
    upper = character.upper()
    forms = {character, character.lower(), upper, upper.lower(), character.title()}
    return {form for form in forms if len(form) == 1}


def _class(character: str) -> str:
    """A GLOB class of the character's cases, which also escapes * ? and [."""
    if character == "^":
        return character
    return f"[{''.join(sorted(_cases(character)))}]"


def _order(
    sorts: tuple[SortTerm, ...], binder: Binder, orders: Mapping[str, str] | None = None
) -> str:
    """The ORDER BY terms. orders: used instead of ORDERS."""
    parts: list[str] = []
    for sort in sorts:
        if sort.name == "order":
            return ", ".join([*parts, PASSAGE_ORDER_BACK if sort.reverse else PASSAGE_ORDER])
        parts.append(_sort(sort, binder, ORDERS if orders is None else orders))
    return ", ".join([*parts, PASSAGE_ORDER])


def _sort(sort: SortTerm, binder: Binder, orders: Mapping[str, str]) -> str:
    direction = "DESC" if sort.reverse else "ASC"
    if sort.name == "random":
        seed = binder.one(sort.seed * SEED_STEP % SEED_PRIME)
        return _fill_predicted(SHUFFLED, value=seed, direction=direction)
    if sort.name in DESCENDING_ORDERS:
        direction = "ASC" if sort.reverse else "DESC"
        return _fill_predicted(DESCENDING_ORDERS[sort.name], direction=direction)
    if sort.name == "models":
        return _by_models(sort, binder)
    if sort.name == "rare":
        return _by_rare(direction)
    if sort.name == "nfh":
        return fill(BY_SCORE, active=ACTIVE_IDENTIFIER, direction=direction)
    return _fill_predicted(orders[sort.name], direction=direction)


ORDERS = {
    "disagree": STRENGTH,
    "anchor": BY_WORD,
    "votes": BY_VOTES,
    "uncertain": BY_MARGIN,
    "doubt": BY_DOUBT,
    "assigned": MY_POSITION,
}
DESCENDING_ORDERS = {"conflict": BY_CONFLICT, "entropy": BY_ENTROPY, "gain": BY_GAIN}
"""Orders with the largest number first."""
