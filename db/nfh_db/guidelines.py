"""The guidelines: a text in versions. The last one is in force; versions are never deleted.

A decision may be tagged with a rule of the guidelines, and records the version that was in
force. The statements that select tagged decisions are here, for counts and for queues.
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

READ = """
SELECT g.version, g.body, n.name, g.created_at
FROM guideline AS g LEFT JOIN annotator AS n ON n.id = g.annotator_id"""
READ_ALL = f"{READ} ORDER BY g.version"
READ_ONE = f"""{READ}
WHERE g.version = coalesce(:version, (SELECT max(version) FROM guideline))"""  # noqa: S608 - constants
INSERT = """
INSERT INTO guideline (version, body, annotator_id, created_at)
VALUES (:version, :body, :by, :at)"""

DECISIONS = f"""
FROM gold AS g
JOIN answer AS w ON w.id = g.answer_id
JOIN anchor AS a ON a.id = g.anchor_id
WHERE g.removed = 0 AND w.removed = 0 AND {VISIBLE} AND {NOT_BLIND}
    AND (g.batch_id IS NULL OR g.batch_id NOT IN ({LOADING}))"""
"""Gold that a person decided, as `g`, with the answer from which it was made, as `w`."""

OWN_ANSWERS = f"""
FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
WHERE w.annotator_id = :me AND w.role = 'annotator' AND w.removed = 0 AND {VISIBLE}
    AND (w.batch_id IS NULL OR w.batch_id NOT IN ({LOADING}))"""
"""Answers of one annotator in the annotator's role, as `w`."""

ANSWERS = f"""
FROM answer AS w JOIN anchor AS a ON a.id = w.anchor_id
WHERE w.removed = 0 AND {VISIBLE} AND {NOT_BLIND}
    AND (w.batch_id IS NULL OR w.batch_id NOT IN ({LOADING}))"""
"""Answers of all annotators in both roles, as `w`."""

# Of one of these three, with the anchor as `a`.
COUNTS = """
SELECT w.rule_tag, w.guideline_version, count(*) {said}
GROUP BY w.rule_tag, w.guideline_version"""
ANCHORS = """
SELECT a.id, w.rule_tag, w.guideline_version {said}
    AND w.rule_tag IN (SELECT value FROM json_each(:tags))
ORDER BY a.passage_id, a.start, a.stop"""
TAGS = "SELECT w.rule_tag, a.id {said} AND w.rule_tag IS NOT NULL"

LARGEST_VERSION = 2**63 - 1
"""The largest integer that SQLite can bind."""

LONGEST = 1_000_000
"""Code points of a version at most."""


@dataclass(frozen=True, slots=True)
class Guideline:
    """One version of the guidelines."""

    version: int
    """From 1 on."""

    body: str
    """Markdown."""

    by: str | None
    """Name of the author; None for the text that is part of the program."""

    at: str
    """When it was saved: UTC, ISO 8601 with milliseconds."""


@dataclass(frozen=True, slots=True)
class TagCount:
    """The number of decisions with one tag that were made under one version."""

    rule: str | None
    """The id of the rule; a tag that names no rule as it was written; None for no tag."""

    version: int | None
    """None if no guidelines were in force."""

    decisions: int


def read_versions(connection: Connection) -> tuple[Guideline, ...]:
    """Return all versions, oldest first."""
    return tuple(Guideline(*row) for row in connection.execute(READ_ALL))


def read(connection: Connection, version: int | None = None) -> Guideline | None:
    """Return one version, by default the one in force; None if there is none."""
    if version is not None and not 0 < version <= LARGEST_VERSION:
        return None
    row = connection.execute(READ_ONE, {"version": version}).fetchone()
    return None if row is None else Guideline(*row)


def add(
    connection: Connection, body: str, me: Annotator | None, after: int | None = None
) -> tuple[Guideline, bool]:
    """Save a text as the version in force. Return it, and whether a new version was made.

    The text that is in force already makes no new version. after: the version from which the
    text was edited, 0 for none; None does not check. Raises ChangedSinceError if another
    version is in force by now, StoreError for a text that is empty, too long or not encodable.
    """
    _check(body)
    last = read(connection)
    if last is not None and last.body == body:
        return last, False
    if last is not None and after is not None and last.version != after:
        by = f" by {last.by}" if last.by else ""
        raise ChangedSinceError(
            f"Version {last.version} of the guidelines was saved{by} since, and this text was "
            f"made from version {after}: read what changed, then save again"
        )
    version = 1 if last is None else last.version + 1
    at = system.now()
    by_id = None if me is None else me.id
    connection.execute(INSERT, {"version": version, "body": body, "by": by_id, "at": at})
    return Guideline(version, body, None if me is None else me.name, at), True


def add_first(connection: Connection, body: str) -> bool:
    """Save a text as version 1 if there is no version; return whether it was saved."""
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
            f"The character at {error.start} cannot be written to a file: delete it"
        ) from error


# --- tagged decisions -------------------------------------------------------------------


def items(
    connection: Connection, only: Annotator | None = None, asks: Annotator | None = None
) -> dict[str, int]:
    """Count the anchors that have an answer with each tag, by rule id or by the tag itself.

    only: count this annotator's own answers only. asks: the person who asks, if any; anchors
    that this person has yet to decide blind are left out. The functions below have the same
    parameters.
    """
    statement = TAGS.format(said=OWN_ANSWERS if only else ANSWERS)
    anchors: dict[str, set[int]] = {}
    for tag, anchor_id in connection.execute(statement, _asked(only, asks)):
        anchors.setdefault(rule_id(tag), set()).add(anchor_id)
    return {rule: len(ids) for rule, ids in anchors.items()}


def _asked(only: Annotator | None, asks: Annotator | None) -> dict[str, int | None]:
    return {"me": only.id if only else None, "q_me": asks.id if asks else 0}


def tagged(
    connection: Connection, only: Annotator | None = None, asks: Annotator | None = None
) -> tuple[TagCount, ...]:
    """Count the decisions by tag and version, including those without a tag.

    only: count this annotator's own answers instead of decisions.
    """
    statement = COUNTS.format(said=OWN_ANSWERS if only else DECISIONS)
    counts: dict[tuple[str | None, int | None], int] = {}
    for tag, version, count in connection.execute(statement, _asked(only, asks)):
        key = (None if tag is None else rule_id(tag), version)
        counts[key] = counts.get(key, 0) + count
    return tuple(TagCount(*key, count) for key, count in counts.items())


def anchors_of(
    connection: Connection,
    wanted: Iterable[tuple[str, int | None]],
    only: Annotator | None = None,
    asks: Annotator | None = None,
) -> "array[int]":
    """Return the anchors whose decision has one of these pairs of rule id and version.

    Ordered by passage and span. only: use this annotator's own answers instead of decisions.
    """
    pairs = frozenset(wanted)
    tags = {form for rule, _ in pairs for form in tag_forms(rule)}
    statement = ANCHORS.format(said=OWN_ANSWERS if only else DECISIONS)
    named = {"tags": json_of(sorted(tags)), **_asked(only, asks)}
    rows = connection.execute(statement, named)
    return array("q", (id_ for id_, tag, version in rows if (rule_id(tag), version) in pairs))


class Guidelines(Repository):
    """The versions of the guidelines, and which decisions name which rule."""

    read = reads(read)
    all = reads(read_versions)
    add = writes_durably(add)
    tagged_items = reads(items)
    tagged_decisions = reads(tagged)
    tagged_anchors = reads(anchors_of)

    def add_first(self, body: str) -> bool:
        """Save a text as version 1 if there is no version; return whether it was saved.

        Raises FullError if the database cannot be written.
        """
        if self.read() is not None:
            return False
        with self.connections.durable_write() as connection:
            return add_first(connection, body)
