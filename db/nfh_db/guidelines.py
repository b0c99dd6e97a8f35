"""The guidelines: a text in versions, of which the last one holds; none is ever deleted.

Decisions are tagged with a rule of the text, and stamped with the version that held when they
were made. Which answers those are is said here once, for counts, lists and queries alike.
"""

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from nfh_db import system
from nfh_db.anchors import VISIBLE
from nfh_db.connection import Connection, Repository, reads, writes_durably
from nfh_db.errors import ChangedSinceError, StoreError
from nfh_db.query.parser import LOADING
from nfh_db.query.visibility import NOT_BLIND
from nfh_db.records import Annotator
from nfh_db.serialization import json_of
from nfh_models.domain import rule_id, tag_forms

READ_ALL = """
SELECT g.version, g.body, n.name, g.created_at
FROM guideline AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id ORDER BY g.version"""
READ_ONE = """
SELECT g.version, g.body, n.name, g.created_at
FROM guideline AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
WHERE g.version = :version"""
READ_LAST = """
SELECT g.version, g.body, n.name, g.created_at
FROM guideline AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id
ORDER BY g.version DESC LIMIT 1"""
INSERT = """
INSERT INTO guideline (version, body, annotator_id, created_at)
VALUES (:version, :body, :by, :at)"""

DECISIONS = f"""
FROM gold AS g
JOIN answer AS w ON w.id = g.answer_id
JOIN anchor AS a ON a.id = g.anchor_id
WHERE g.removed = 0 AND w.removed = 0 AND {VISIBLE} AND {NOT_BLIND}
    AND (g.batch_id IS NULL OR g.batch_id NOT IN ({LOADING}))"""
"""Gold that a person decided, as `g`, with the answer that it was made of, as `w`."""

COUNT_TAGGED = f"""
SELECT w.rule_tag, w.guideline_version, count(*) {DECISIONS}
GROUP BY w.rule_tag, w.guideline_version"""
TAGGED_ANCHORS = f"""
SELECT g.anchor_id, w.rule_tag, w.guideline_version {DECISIONS}
    AND w.rule_tag IN (SELECT value FROM json_each(:tags))
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants

TAGGED_ITEMS = f"""
SELECT w.rule_tag, w.anchor_id FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
WHERE w.rule_tag IS NOT NULL AND w.removed = 0 AND {VISIBLE} AND {NOT_BLIND}
    AND (w.batch_id IS NULL OR w.batch_id NOT IN ({LOADING}))"""  # noqa: S608 - constants
"""Every tag with its anchor, whoever gave the answer and in whichever role."""

OWN_ANSWERS = f"""
FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
WHERE w.annotator_id = :me AND w.role = 'annotator' AND w.removed = 0 AND {VISIBLE}
    AND (w.batch_id IS NULL OR w.batch_id NOT IN ({LOADING}))"""
"""What somebody answered as an annotator, as `w`."""

COUNT_OWN = f"""
SELECT w.rule_tag, w.guideline_version, count(*) {OWN_ANSWERS}
GROUP BY w.rule_tag, w.guideline_version"""
OWN_ANCHORS = f"""
SELECT w.anchor_id, w.rule_tag, w.guideline_version {OWN_ANSWERS}
    AND w.rule_tag IN (SELECT value FROM json_each(:tags))
ORDER BY a.passage_id, a.start, a.stop"""  # noqa: S608 - made of constants
OWN_ITEMS = f"SELECT w.rule_tag, w.anchor_id {OWN_ANSWERS} AND w.rule_tag IS NOT NULL"

LARGEST_VERSION = 2**63 - 1
"""The largest number that the database can be asked for."""

LONGEST = 1_000_000
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of the guidelines.

    body: Markdown. by: who wrote it, None for the text that came with the program.
    """

    version: int
    body: str
    by: str | None
    at: str


@dataclass(frozen=True, slots=True)
class Tagged:
    """How many decisions have a tag, made under one version.

    rule: the id of the rule, or a tag that is none as it was written; None for no tag.
    version: None where no guidelines held.
    """

    rule: str | None
    version: int | None
    decisions: int


def everything(connection: Connection) -> tuple[Guideline, ...]:
    """All versions, the first one first."""
    return tuple(Guideline(*row) for row in connection.execute(READ_ALL))


def read(connection: Connection, version: int | None = None) -> Guideline | None:
    """One version, or the one that holds; None if there is none."""
    if version is not None and not 0 < version <= LARGEST_VERSION:
        return None
    if version is None:
        row = connection.execute(READ_LAST).fetchone()
    else:
        row = connection.execute(READ_ONE, {"version": version}).fetchone()
    return None if row is None else Guideline(*row)


def add(
    connection: Connection, body: str, me: Annotator | None, after: int | None = None
) -> tuple[Guideline, bool]:
    """Make a text hold from now on, and whether it is a new version: the same text is none.

    after: the version that it was made from, 0 for none. Raises ChangedSinceError if
    another one holds by now, StoreError for a text that cannot be kept.
    """
    _check(body)
    last = read(connection)
    if last is not None and last.body == body:
        return last, False
    if last is not None and after is not None and last.version != after:
        by = f" by {last.by}" if last.by else ""
        raise ChangedSinceError(
            f"Version {last.version} of the guidelines was saved{by} since, and this text was "
            f"made from version {after}: look at what changed, then save again"
        )
    version = 1 if last is None else last.version + 1
    at = system.now()
    by_id = None if me is None else me.id
    connection.execute(INSERT, {"version": version, "body": body, "by": by_id, "at": at})
    return Guideline(version, body, None if me is None else me.name, at), True


def begin(connection: Connection, body: str) -> bool:
    """Make a text the first version, if there is none; whether it was."""
    if read(connection) is not None:
        return False
    add(connection, body, None)
    return True


def _check(body: str) -> None:
    if not body.strip():
        raise StoreError("These guidelines are empty: a version needs some text")
    if len(body) > LONGEST:
        raise StoreError(
            f"These guidelines have {len(body):,} characters: wanted at most {LONGEST:,}"
        )
    try:
        body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise StoreError(
            f"These guidelines hold a character that no file can hold, at {error.start}: "
            "take it out"
        ) from error


# --- what is tagged ---------------------------------------------------------------------


def items(
    connection: Connection, only: Annotator | None = None, asks: Annotator | None = None
) -> dict[str, int]:
    """How many anchors have an answer with each tag, by the rule's id, or by the tag itself.

    only: an annotator of whose own answers alone this is. asks: who asks, if somebody does:
    what that person has still to decide blind is left out; so below.
    """
    statement = TAGGED_ITEMS if only is None else OWN_ITEMS
    anchors: dict[str, set[int]] = {}
    for tag, anchor_id in connection.execute(statement, _asked(only, asks)):
        anchors.setdefault(rule_id(tag), set()).add(anchor_id)
    return {rule: len(ids) for rule, ids in anchors.items()}


def _asked(only: Annotator | None, asks: Annotator | None) -> dict[str, int | None]:
    return {"me": only.id if only else None, "q_me": asks.id if asks else 0}


def tagged(
    connection: Connection, only: Annotator | None = None, asks: Annotator | None = None
) -> tuple[Tagged, ...]:
    """How many decisions have each tag, version by version; those without a tag, too.

    only: an annotator whose own answers are counted in place of decisions.
    """
    statement = COUNT_TAGGED if only is None else COUNT_OWN
    counts: dict[tuple[str | None, int | None], int] = {}
    for tag, version, count in connection.execute(statement, _asked(only, asks)):
        key = (None if tag is None else rule_id(tag), version)
        counts[key] = counts.get(key, 0) + count
    return tuple(Tagged(*key, count) for key, count in counts.items())


def anchors_of(
    connection: Connection,
    wanted: Iterable[tuple[str, int | None]],
    only: Annotator | None = None,
    asks: Annotator | None = None,
) -> "array[int]":
    """The anchors whose decision has one of these rules, by id, under one of these versions.

    In the order of the passages. only: an annotator whose own answers are meant in place of
    decisions.
    """
    pairs = frozenset(wanted)
    tags = {form for rule, _ in pairs for form in tag_forms(rule)}
    statement = TAGGED_ANCHORS if only is None else OWN_ANCHORS
    named = {"tags": json_of(sorted(tags)), **_asked(only, asks)}
    rows = connection.execute(statement, named)
    return array("q", (id_ for id_, tag, version in rows if (rule_id(tag), version) in pairs))


class Guidelines(Repository):
    """The guidelines in their versions, and what was decided by which rule."""

    read = reads(read)
    all = reads(everything)
    add = writes_durably(add)
    tagged_items = reads(items)
    tagged_decisions = reads(tagged)
    tagged_anchors = reads(anchors_of)

    def begin(self, body: str) -> bool:
        """Make a text the first version, if there is none; whether it was.

        Raises FullError where nothing can be written.
        """
        if self.read() is not None:
            return False
        with self.connections.durable_write() as connection:
            return begin(connection, body)
