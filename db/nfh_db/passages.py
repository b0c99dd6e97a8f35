"""Documents and passages, annotators, and the settings of a database.

An annotator is a person, a model or a rule.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from nfh_db import system
from nfh_db.connection import (
    Connection,
    Repository,
    WriteSize,
    reads,
    transaction,
    writes_fast,
)
from nfh_db.errors import StoreError
from nfh_db.records import MODEL, PERSON, RULE, Annotator
from nfh_db.serialization import decode_lemmas, decode_passage, json_of
from nfh_models.domain import Passage
from nfh_models.domain.passage import words_digest

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
WORDS_COLLECTED = "SELECT 1 FROM temp.sqlite_schema WHERE name = 'collected_words'"
COLLECTED_WORDS = "CREATE TEMP TABLE collected_words (digest INTEGER, passage_id INTEGER)"
ADD_WORDS = "INSERT INTO temp.collected_words (digest, passage_id) VALUES (:digest, :id)"
INDEX_WORDS = "CREATE INDEX temp.collected_words_digest ON collected_words(digest)"
ANY_WORDS = "SELECT 1 FROM temp.collected_words"
SPANS = """
SELECT p.text, t.offsets, p.id
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id"""
WITH_WORDS = """
SELECT passage_id FROM temp.collected_words
WHERE digest IN (SELECT value FROM json_each(:words))"""
# FTS5 stops at a NUL character, so a text with one gets a trigram of its own, by which a search
# always finds it.
INDEX_TEXTS = """
INSERT INTO passage_text (rowid, text)
SELECT p.id, iif(instr(p.text, char(0)), char(1, 1, 1), p.text) FROM passage AS p
WHERE p.id > (SELECT coalesce(max(id), 0) FROM passage_text_docsize)
ORDER BY p.id LIMIT :size"""
DROP_TEXTS = "INSERT INTO passage_text (passage_text) VALUES ('delete-all')"
TEXTS_AT_ONCE = WriteSize(first=500, smallest=100, largest=4_000, seconds=0.03)
INSERT_DOCUMENT = """
INSERT INTO document (name, batch_id) VALUES (:name, :batch) RETURNING id"""
INSERT = """
INSERT INTO passage (id, document_id, batch_id, digest, text)
VALUES (:id, :document, :batch, :digest, :text)"""
INSERT_TOKENS = """
INSERT INTO passage_token (passage_id, offsets, lemmas, turns, tokenizer)
VALUES (:id, :offsets, :lemmas, :turns, :tokenizer)"""
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


def with_words(connection: Connection, wanted: Sequence[Passage]) -> dict[int, Passage]:
    """Return the passages with the words of any of these, by id.

    Those of the connection's first call are found, and those that it added itself.
    """
    if not wanted:
        return {}
    if not connection.execute(WORDS_COLLECTED).fetchone():
        connection.execute(COLLECTED_WORDS)
        spans = ((words_digest(*one), id_) for *one, id_ in connection.execute(SPANS))
        connection.executemany(ADD_WORDS, spans)
        connection.execute(INDEX_WORDS)
    if not connection.execute(ANY_WORDS).fetchone():
        return {}
    words = {"words": json_of([one.words_digest for one in wanted])}
    return read(connection, [id_ for (id_,) in connection.execute(WITH_WORDS, words)])


def index_texts(connection: Connection) -> None:
    """Add the passages without an entry to the index of texts, in short transactions."""
    size = added = TEXTS_AT_ONCE.first
    while added == size:
        with transaction(connection):
            begun = time.perf_counter()
            added = connection.execute(INDEX_TEXTS, {"size": size}).rowcount
        if added == size:
            size = added = TEXTS_AT_ONCE.next(size, time.perf_counter() - begun)


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
INSERT OR REPLACE INTO setting (name, value) VALUES (:name, :value)"""
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
