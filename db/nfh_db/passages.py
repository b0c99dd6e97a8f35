"""Documents and passages, annotators, and the settings of a database.

An annotator is a person, a model or a rule.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nfh_db import system
from nfh_db.connection import (
    Connection,
    Repository,
    WriteSize,
    reads,
    transaction,
    writes_durably,
    writes_fast,
)
from nfh_db.errors import LikeNameError, StoreError
from nfh_db.messages import quoted
from nfh_db.records import MODEL, PERSON, RULE, Annotator, likeness, normal_name
from nfh_db.serialization import decode_lemmas, decode_passage, json_of
from nfh_models.domain import Passage
from nfh_models.domain.passage import words_digest

# A name that was merged into another's stands for that person.
FIND = """
SELECT m.id, m.name, m.type FROM annotator AS n
JOIN annotator AS m ON m.id = coalesce(n.merged_into, n.id) WHERE n.name = :name"""
ALL = "SELECT id, name, type FROM annotator WHERE merged_into IS NULL ORDER BY name"
EVERY_NAME = """
SELECT n.name, m.id, m.name, m.type, m.retired_at IS NOT NULL FROM annotator AS n
JOIN annotator AS m ON m.id = coalesce(n.merged_into, n.id) ORDER BY n.id"""
INSERT_ANNOTATOR = """
INSERT INTO annotator (name, type, created_at) VALUES (:name, :type, :at) RETURNING id"""

LONGEST_NAME = 100
"""Code points."""

TYPES = (PERSON, MODEL, RULE)


def check_name(name: str) -> None:
    """Raise StoreError unless `name` is 1 to LONGEST_NAME printable code points."""
    if not name.strip() or len(name) > LONGEST_NAME:
        raise StoreError(
            f"{name!r} cannot be an annotator's name: it must hold 1 to {LONGEST_NAME} "
            "characters"
        )
    if not name.isprintable():
        raise StoreError(f"{name!r} cannot be an annotator's name: it holds control characters")


class NameIndex:
    """The names that people have or had here, to find somebody by.

    A name of an earlier version may be stored otherwise than `normal_name` gives it. It is
    found by either form.
    """

    def __init__(self, connection: Connection) -> None:
        rows = connection.execute(EVERY_NAME).fetchall()
        self._named = {row[0]: Annotator(*row[1:4]) for row in rows}
        self._alike: dict[str, dict[str, None]] = {}
        self._retired = {row[1] for row in rows if row[4]}
        for name in list(self._named):
            self.add(name, self._named[name])

    def add(self, name: str, person: Annotator) -> None:
        for form in (name, normal_name(name)):
            self._named.setdefault(form, person)
        if person.type == PERSON:
            self._alike.setdefault(likeness(name), {})[person.name] = None

    def find(self, name: str) -> Annotator | None:
        return self._named.get(name) or self._named.get(normal_name(name))

    def get(
        self, name: str, type_: str = PERSON, *, new_person: bool = False
    ) -> Annotator | None:
        """Return whose name it is; None if somebody new can have it.

        Raises StoreError for an invalid name and for one of another type. LikeNameError is
        raised where it differs too little from a known one, unless it is of a `new_person`.
        """
        found = self.find(name)
        if found is not None:
            check_type(found, type_)
            return found
        check_name(normal_name(name))
        alike = self.alike(name)
        if alike and type_ == PERSON and not new_person:
            raise LikeNameError(normal_name(name), alike)
        return None

    def alike(self, name: str) -> tuple[str, ...]:
        """Return the people one of whose names differs too little from this one."""
        return tuple(self._alike.get(likeness(name), ()))

    def check_active(self, person: Annotator) -> None:
        """Raise StoreError for a person who is retired."""
        if person.id in self._retired:
            raise StoreError(
                f"{person.name!r} is retired and gets no work; nfh-tui people retire --back "
                f"{quoted(person.name)} makes them active again"
            )


def find(connection: Connection, name: str) -> Annotator | None:
    """Return who has, or had, this name; see `NameIndex`."""
    row = connection.execute(FIND, {"name": name}).fetchone()
    return NameIndex(connection).find(name) if row is None else Annotator(*row)


def read_annotators(connection: Connection) -> tuple[Annotator, ...]:
    """Return all annotators, ordered by name, without names that were merged into others."""
    return tuple(Annotator(*row) for row in connection.execute(ALL))


def add(
    connection: Connection,
    name: str,
    type_: str = PERSON,
    *,
    new_person: bool = False,
    index: NameIndex | None = None,
) -> Annotator:
    """Get or create the annotator.

    new_person: a new person's name may be like a known one. Raises StoreError for an invalid
    name or type, for the name of another type, and LikeNameError.
    """
    if type_ not in TYPES:
        raise StoreError(f"{type_!r} is not a type of annotator: use one of {', '.join(TYPES)}")
    index = index or NameIndex(connection)
    found = index.get(name, type_, new_person=new_person)
    if found is None:
        row = {"name": normal_name(name), "type": type_, "at": system.now()}
        id_ = connection.execute(INSERT_ANNOTATOR, row).fetchone()[0]
        found = Annotator(id_, normal_name(name), type_)
        index.add(found.name, found)
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
NUL_TRIGRAM = "\1\1\1"
"""In the index of texts for each text with a NUL character, at which FTS5 stops."""
NOT_INDEXED = """
    SELECT id FROM passage WHERE id > (SELECT coalesce(max(id), 0) FROM passage_text_docsize)"""
"""The passages that the index of texts does not have yet."""
INDEX_TEXTS = f"""
INSERT INTO passage_text (rowid, text)
SELECT p.id, iif(instr(p.text, char(0)), '{NUL_TRIGRAM}', p.text) FROM passage AS p
WHERE p.id IN ({NOT_INDEXED} ORDER BY id LIMIT :size)"""  # noqa: S608 - made of constants
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

    def __init__(self) -> None:
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
            while len(self._kept) > CACHED_PASSAGES:
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
    size = TEXTS_AT_ONCE.first
    # Looked up first: a transaction would wait for other writers.
    while connection.execute(NOT_INDEXED).fetchone():
        with transaction(connection):
            begun = time.perf_counter()
            connection.execute(INDEX_TEXTS, {"size": size})
        size = TEXTS_AT_ONCE.next(size, time.perf_counter() - begun)


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


def read_setting(connection: Connection, name: str) -> str | None:
    row = connection.execute(READ_SETTING, {"name": name}).fetchone()
    return None if row is None else row[0]


def write_setting(connection: Connection, name: str, value: str) -> None:
    connection.execute(UPSERT_SETTING, {"name": name, "value": value})


def guideline_version(connection: Connection) -> int | None:
    """Return the version of the guidelines in force; None if there is none."""
    version: int | None = connection.execute(GUIDELINE_VERSION).fetchone()[0]
    return version


PEOPLE = """
SELECT n.id, n.name, m.name, n.retired_at,
    (SELECT count(*) FROM answer AS w WHERE w.annotator_id = n.id AND w.removed = 0),
    (SELECT count(*) FROM assignment AS s WHERE s.annotator_id = n.id AND s.state = 'open')
FROM annotator AS n LEFT JOIN annotator AS m ON m.id = n.merged_into
WHERE n.type = 'person' ORDER BY n.name"""
EXACT = "SELECT id, name, type FROM annotator WHERE name = :name"
INSERT_FORMER = """
INSERT INTO annotator (name, type, created_at, merged_into)
VALUES (:name, 'person', :at, :id) RETURNING id"""
RETIRE = "UPDATE annotator SET retired_at = :at WHERE id = :id"
TAKE_BACK = """
UPDATE assignment SET state = 'returned' WHERE annotator_id = :id AND state = 'open'"""


@dataclass(frozen=True, slots=True)
class PersonLine:
    """A name of a person. stands_for: the person's present name; None if this is it."""

    id: int
    name: str
    stands_for: str | None
    retired_at: str | None
    answers: int
    open: int
    """Assignments."""


def people_lines(connection: Connection) -> tuple[PersonLine, ...]:
    """Return every name that people have or had, by name."""
    return tuple(PersonLine(*row) for row in connection.execute(PEOPLE))


def exact(connection: Connection, name: str) -> Annotator | None:
    """Return whom a name was stored for, also one that now stands for another."""
    row = connection.execute(EXACT, {"name": name}).fetchone()
    return None if row is None else Annotator(*row)


def new_name(
    connection: Connection, person: Annotator, name: str, *, new_person: bool = False
) -> Annotator:
    """Get or create the annotator under whose name a person goes on.

    Until the answers are theirs it stands for that person. Raises StoreError for a name of
    somebody else, and LikeNameError for one like it.
    """
    name = normal_name(name)
    index, found = NameIndex(connection), exact(connection, name)
    if found is None:
        check_name(name)
        alike = [one for one in index.alike(name) if one != person.name]
        if alike and not new_person:
            raise LikeNameError(name, alike)
        row = {"name": name, "at": system.now(), "id": person.id}
        return Annotator(connection.execute(INSERT_FORMER, row).fetchone()[0], name)
    if found == person:
        raise StoreError(f"{name!r} is their name already")
    if index.find(name) != person:
        raise StoreError(
            f"{name!r} is the name of somebody here already: nfh-tui people merge "
            f"{quoted(person.name)} {quoted(name)} makes one person of two"
        )
    return found


def retire(connection: Connection, person: Annotator, *, back: bool) -> int:
    """Retire a person, whose open assignments return, or end that; the number of these."""
    connection.execute(RETIRE, {"id": person.id, "at": None if back else system.now()})
    return 0 if back else connection.execute(TAKE_BACK, {"id": person.id}).rowcount


class People(Repository):
    """The annotators: people, models and rules."""

    all = reads(read_annotators)
    find = reads(find)
    exact = reads(exact)
    lines = reads(people_lines)
    new_name = writes_durably(new_name)
    retire = writes_durably(retire)

    def ensure(
        self,
        name: str,
        type: str = PERSON,  # noqa: A002
        *,
        new_person: bool = False,
    ) -> Annotator:
        """Get or create the annotator; an existing one costs no write transaction.

        Raises StoreError as `add`, and for a person who is retired.
        """
        with self.connections.reading() as connection:
            index = NameIndex(connection)
        if found := index.get(name, type, new_person=new_person):
            index.check_active(found)
            return found
        with self.connections.durable_write() as connection:
            return add(connection, name, type, new_person=new_person)


class Settings(Repository):
    """Settings of the database, by name."""

    read = reads(read_setting)
    write = writes_fast(write_setting)
