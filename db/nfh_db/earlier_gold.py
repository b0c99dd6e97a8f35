"""Gold here against an earlier export of it: which items differ, and in what.

Items are told apart by passage and span, so a file of another copy of the database does as
well. The file is read row by row; a row that does not hold refuses it, as in an import.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, repeat
from pathlib import Path

from nfh_db import assignments, gold, passages
from nfh_db.comparisons import Cell, NoLongerWantedError, Stopped
from nfh_db.connection import Connection
from nfh_db.formats import gold as gold_format
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import GoldRow
from nfh_db.known import OF_PASSAGES
from nfh_db.query import Query, compile_seen
from nfh_db.values import answer_of, json_of
from nfh_models.domain import Answer, Blocking, Passage, Token, compare

WITH_GOLD = "SELECT a.id FROM anchor AS a WHERE a.kind IS NOT NULL AND {where}"

SAME = "same"
NOTED = "noted"
GONE = "gone"
NEW = "new"
TAKEN_BACK = "taken back"
DECIDED_SINCE = "decided since"
OUTCOMES = (
    *(kind.value for kind in Blocking), NOTED, DECIDED_SINCE, TAKEN_BACK, NEW, GONE, SAME,
)  # fmt: skip
"""What may be found of an item: how its gold differs (what blocks; `noted`: only what does
not block), or that only one side has gold, or the item, at all."""

AT_ONCE = 200

Progress = Callable[[int], None]


@dataclass(slots=True)
class Changes:
    """What differs between gold here and a file.

    ids: anchors by outcome; those of `gone` have none here. counts: items by what the file
    says and what is gold here, where both have gold. gone: items of the file that are not
    here. rows: of the file.
    """

    ids: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[Cell] = field(default_factory=Counter)
    cells: dict[Cell, list[int]] = field(default_factory=lambda: defaultdict(list))
    gone: int = 0
    rows: int = 0


def changes(
    connection: Connection,
    path: Path,
    query: Query,
    me_id: int,
    stopped: Stopped,
    progress: Progress,
) -> Changes:
    """Compare gold with a `gold` file, among the anchors of a query.

    Raises FormatError for a file that does not hold, and NoLongerWantedError.
    """
    compiled = compile_seen(query, me_id)
    statement = WITH_GOLD.format(where=compiled.where)
    unmatched = {row[0] for row in connection.execute(statement, compiled.parameters)}
    inside = None if not query.text else frozenset(unmatched)
    found = Changes()
    # ~ is a folder that shells know, not the system.
    rows = gold_format.read(Source(path.expanduser()))
    for some in _parts(rows):
        if stopped():
            raise NoLongerWantedError
        _compare(connection, some, found, unmatched, inside, me_id)
        found.rows += len(some)
        progress(found.rows)
    found.ids[NEW].extend(sorted(unmatched))
    return found


def _parts(rows: Iterator[GoldRow]) -> Iterator[list[GoldRow]]:
    while some := list(islice(rows, AT_ONCE)):
        yield some


def _compare(
    connection: Connection,
    rows: Sequence[GoldRow],
    found: Changes,
    unmatched: set[int],
    inside: frozenset[int] | None,
    me_id: int,
) -> None:
    """Note what is found of each of these rows. inside: the only anchors that are asked for.

    What me_id has still to decide blind is passed over.
    """
    digests = [_digest(row) for row in rows]
    here = dict(connection.execute(passages.KNOWN, {"digests": json_of(sorted(set(digests)))}))
    spans = {
        (passage, start, stop): id_
        for passage, start, stop, id_, gone in connection.execute(
            OF_PASSAGES, {"ids": json_of(sorted(here.values()))}
        )
        if not gone
    }
    places = [
        spans.get((here.get(digest, 0), row.anchor.start, row.anchor.end))
        for digest, row in zip(digests, rows, strict=True)
    ]
    ids = [id_ for id_ in places if id_ is not None]
    golds = gold.read_all(connection, ids)
    blind = assignments.blind(connection, ids, me_id)
    for digest, row, id_ in zip(digests, rows, places, strict=True):
        if id_ is None:
            found.gone += inside is None
            continue
        unmatched.discard(id_)
        if id_ in blind or (inside is not None and id_ not in inside):
            continue
        now = golds.get(id_)
        then = row.gold.answer if row.gold else None
        if now is None or then is None:
            if now is not None or then is not None:
                found.ids[TAKEN_BACK if now is None else DECIDED_SINCE].append(id_)
            continue
        answer = answer_of(now)
        cell = (then.kind.value, answer.kind.value)
        found.counts[cell] += 1
        found.cells[cell].append(id_)
        found.ids[_outcome(connection, then, answer, here[digest])].append(id_)


def _outcome(connection: Connection, then: Answer, now: Answer, passage_id: int) -> str:
    if then == now:
        return SAME
    compared = compare(then, now, passages.lemmas(connection, passage_id))
    if compared.blocking is not None:
        return compared.blocking.value
    return NOTED if compared.notes else SAME


def _digest(row: GoldRow) -> str:
    raw = row.passage
    tokens = tuple(map(Token, raw.starts, raw.ends, repeat("")))
    return Passage(raw.text, tokens, raw.turns).digest
