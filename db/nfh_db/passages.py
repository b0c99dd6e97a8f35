"""Documents and passages: text, and apart from it tokens, lemmas and turns."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from nfh_db.connection import Connection
from nfh_db.values import decode_lemmas, decode_passage, json_of
from nfh_models.domain import Passage

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
    """The passages last read: they never change, and the next item is often of the same."""

    def __init__(self, size: int = CACHED_PASSAGES) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, Passage] = OrderedDict()

    def get(self, passage_id: int) -> Passage | None:
        """A passage read lately."""
        with self._lock:
            passage = self._kept.get(passage_id)
            if passage is not None:
                self._kept.move_to_end(passage_id)
            return passage

    def keep(self, passage_id: int, passage: Passage) -> None:
        """Remember a passage, forgetting the one unused for longest."""
        with self._lock:
            self._kept[passage_id] = passage
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)


def read(connection: Connection, ids: Sequence[int]) -> dict[int, Passage]:
    """Passages by id."""
    return dict(_decoded(connection, ids))


def _decoded(connection: Connection, ids: Sequence[int]) -> Iterator[tuple[int, Passage]]:
    for row in connection.execute(READ, {"ids": json_of(list(ids))}):
        yield row[0], decode_passage(*row[1:])


def read_one(connection: Connection, passage_id: int, cache: PassageCache) -> Passage:
    """A passage that is known to exist, from the cache if it is there."""
    passage = cache.get(passage_id)
    if passage is None:
        passage = read(connection, [passage_id])[passage_id]
        cache.keep(passage_id, passage)
    return passage


def tokenizers(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    """What made the tokens of these passages, by id."""
    return dict(connection.execute(TOKENIZERS, {"ids": json_of(list(ids))}).fetchall())


def lemmas(connection: Connection, passage_id: int) -> list[str]:
    """One lemma a token."""
    return decode_lemmas(connection.execute(LEMMAS, {"id": passage_id}).fetchone()[0])


def add_document(connection: Connection, name: str, batch_id: int | None) -> int:
    """A new document's id."""
    document_id: int = connection.execute(
        INSERT_DOCUMENT, {"name": name, "batch": batch_id}
    ).fetchone()[0]
    return document_id


def drop_empty_document(connection: Connection, document_id: int) -> None:
    """Remove a document none of whose passages was new."""
    connection.execute(DROP_EMPTY_DOCUMENT, {"id": document_id})
