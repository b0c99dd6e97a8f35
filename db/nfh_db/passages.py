"""Documents and passages, annotators, and the settings of a database.

An annotator is a person, a model or a rule.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from nfh_db import system
from nfh_db.connection import Connection, Repository, reads, writes_fast
from nfh_db.errors import StoreError
from nfh_db.records import MODEL, PERSON, RULE, Annotator
from nfh_db.serialization import decode_lemmas, decode_passage, json_of
from nfh_models.domain import Passage, PassageError

FIND = "SELECT id, name, type FROM annotator WHERE name = :name"
ALL = "SELECT id, name, type FROM annotator ORDER BY name"
INSERT_ANNOTATOR = """
INSERT INTO annotator (name, type, created_at) VALUES (:name, :type, :at)
ON CONFLICT (name) DO NOTHING"""

LONGEST_NAME = 100
"""Code points."""

TYPES = (PERSON, MODEL, RULE)


def check_name(name: str) -> None:
    """Raise StoreError unless `name` is 1 to LONGEST_NAME printable code points, stripped."""
    if not name.strip() or name != name.strip() or len(name) > LONGEST_NAME:
        raise StoreError(
            f"{name!r} cannot be an annotator's name: it must hold 1 to {LONGEST_NAME} "
            "characters and neither begin nor end with a space"
        )
    if not name.isprintable():
        raise StoreError(f"{name!r} cannot be an annotator's name: it holds control characters")


def find(connection: Connection, name: str) -> Annotator | None:
    row = connection.execute(FIND, {"name": name}).fetchone()
    return None if row is None else Annotator(*row)


def read_annotators(connection: Connection) -> tuple[Annotator, ...]:
    """Return all annotators, ordered by name."""
    return tuple(Annotator(*row) for row in connection.execute(ALL))


def add(connection: Connection, name: str, type_: str = PERSON) -> Annotator:
    """Get or create the annotator.

    Raises StoreError for an invalid name or type, and for the name of another type.
    """
    check_name(name)
    if type_ not in TYPES:
        raise StoreError(f"{type_!r} is no type of annotator: use one of {', '.join(TYPES)}")
    connection.execute(INSERT_ANNOTATOR, {"name": name, "type": type_, "at": system.now()})
    found = Annotator(*connection.execute(FIND, {"name": name}).fetchone())
    check_type(found, type_)
    return found


def check_type(found: Annotator, wanted: str) -> None:
    """Raise StoreError if the annotator is of another type."""
    if found.type != wanted:
        raise StoreError(
            f"{found.name!r} is the name of a {found.type} here, and cannot be that of a "
            f"{wanted}: take another name"
        )


READ = """
SELECT p.id, p.text, t.offsets, t.lemmas, t.turns
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id
WHERE p.id IN (SELECT value FROM json_each(:ids))"""
TOKENIZERS = """
SELECT passage_id, tokenizer FROM passage_token
WHERE passage_id IN (SELECT value FROM json_each(:ids))"""
LEMMAS = "SELECT lemmas FROM passage_token WHERE passage_id = :id"
KNOWN = """
SELECT lower(hex(digest)), id FROM passage
WHERE digest IN (SELECT unhex(value) FROM json_each(:digests))"""
WITH_WORDS = """
SELECT passage_id FROM passage_token
WHERE words_digest IN (SELECT unhex(value) FROM json_each(:words))"""
WITHOUT_WORDS_DIGEST = """
SELECT p.id, p.text, t.offsets, t.lemmas, t.turns
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id
WHERE p.id > :after ORDER BY p.id LIMIT 1000"""
SET_WORDS_DIGEST = """
UPDATE passage_token SET words_digest = :words_digest WHERE passage_id = :id"""
INSERT_DOCUMENT = """
INSERT INTO document (name, batch_id) VALUES (:name, :batch) RETURNING id"""
INSERT = """
INSERT INTO passage (id, document_id, batch_id, digest, text)
VALUES (:id, :document, :batch, :digest, :text)"""
INSERT_TOKENS = """
INSERT INTO passage_token (passage_id, offsets, lemmas, turns, tokenizer, words_digest)
VALUES (:id, :offsets, :lemmas, :turns, :tokenizer, :words_digest)"""
DROP_EMPTY_DOCUMENT = """
DELETE FROM document
WHERE id = :id AND NOT EXISTS (SELECT 1 FROM passage WHERE document_id = :id)"""
LAST_ID = "SELECT coalesce(max(id), 0) FROM passage"

CACHED_PASSAGES = 256


class PassageCache:
    """The passages that were used last, for several threads.

    Passages never change, so an entry never becomes invalid. Consecutive items are often of the
    same passage.
    """

    def __init__(self, size: int = CACHED_PASSAGES) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Passage] = OrderedDict()

    def get(self, passage_id: int) -> Passage | None:
        with self._lock:
            passage = self._kept.get(passage_id)
            if passage is not None:
                self._kept.move_to_end(passage_id)
            return passage

    def keep(self, passage_id: int, passage: Passage) -> None:
        """Add a passage, and drop the least recently used one if the cache is full."""
        with self._lock:
            self._kept[passage_id] = passage
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def read(connection: Connection, ids: Sequence[int]) -> dict[int, Passage]:
    """Return passages by id; unknown ids are left out."""
    return dict(_decoded(connection, ids))


def _decoded(connection: Connection, ids: Sequence[int]) -> Iterator[tuple[int, Passage]]:
    for row in connection.execute(READ, {"ids": json_of(list(ids))}):
        yield row[0], decode_passage(*row[1:])


def with_words(connection: Connection, words: Iterable[bytes]) -> dict[int, Passage]:
    """Return the passages with words of these digests, by id."""
    wanted = {"words": json_of([digest.hex() for digest in words])}
    return read(connection, [id_ for (id_,) in connection.execute(WITH_WORDS, wanted)])


def fill_words_digests(connection: Connection) -> None:
    """Set the digest of the words of all passages, but for damaged ones."""
    after = 0
    while rows := connection.execute(WITHOUT_WORDS_DIGEST, {"after": after}).fetchall():
        found = []
        for id_, *columns in rows:
            with suppress(PassageError, ValueError):  # The doctor reports damage.
                found.append((decode_passage(*columns).words_digest, id_))
        connection.executemany(SET_WORDS_DIGEST, found)
        after = rows[-1][0]


def read_one(connection: Connection, passage_id: int, cache: PassageCache) -> Passage:
    """Return a passage, from the cache if possible. Raises KeyError for an unknown id."""
    passage = cache.get(passage_id)
    if passage is None:
        passage = read(connection, [passage_id])[passage_id]
        cache.keep(passage_id, passage)
    return passage


def tokenizers(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return the names of the tokenizers of these passages, by passage id."""
    return dict(connection.execute(TOKENIZERS, {"ids": json_of(list(ids))}).fetchall())


def lemmas(connection: Connection, passage_id: int) -> list[str]:
    """Return the lemmas of a passage, one per token."""
    return decode_lemmas(connection.execute(LEMMAS, {"id": passage_id}).fetchone()[0])


def add_document(connection: Connection, name: str, batch_id: int | None) -> int:
    """Insert a document and return its id. batch_id: of the import, None for none."""
    document_id: int = connection.execute(
        INSERT_DOCUMENT, {"name": name, "batch": batch_id}
    ).fetchone()[0]
    return document_id


def drop_empty_document(connection: Connection, document_id: int) -> None:
    """Delete a document if it has no passages: the import found all of them in the database."""
    connection.execute(DROP_EMPTY_DOCUMENT, {"id": document_id})


READ_SETTING = "SELECT value FROM setting WHERE name = :name"
UPSERT_SETTING = """
INSERT INTO setting (name, value) VALUES (:name, :value)
ON CONFLICT (name) DO UPDATE SET value = excluded.value"""
GUIDELINE_VERSION = "SELECT max(version) FROM guideline"


def read_setting(connection: Connection, name: str, default: str | None = None) -> str | None:
    row = connection.execute(READ_SETTING, {"name": name}).fetchone()
    return default if row is None else row[0]


def write_setting(connection: Connection, name: str, value: str) -> None:
    connection.execute(UPSERT_SETTING, {"name": name, "value": value})


def guideline_version(connection: Connection) -> int | None:
    """Return the version of the guidelines in force; None if there is none."""
    version: int | None = connection.execute(GUIDELINE_VERSION).fetchone()[0]
    return version


class People(Repository):
    """The annotators: people, models and rules."""

    all = reads(read_annotators)

    def ensure(self, name: str, type: str = PERSON) -> Annotator:  # noqa: A002
        """Get or create the annotator; an existing one costs no write transaction.

        Raises StoreError for an invalid name, and for the name of another type.
        """
        with self.connections.reading() as connection:
            found = find(connection, name)
        if found is not None:
            check_type(found, type)
            return found
        with self.connections.durable_write() as connection:
            return add(connection, name, type)


class Settings(Repository):
    """Settings of the database, by name."""

    read = reads(read_setting)
    write = writes_fast(write_setting)
