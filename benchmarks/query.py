"""How long the queue takes to answer a query over a database of the release's size.

    python benchmarks/query.py [--anchors 184507] [--keep PATH] [--keep-votes PATH]

Makes two databases of its own, one mostly undecided, one in which three people have answered
every anchor and all is given out. Prints for each query: the first page (200 ids and the
lines of 40 of them, each time over a new connection; median and worst of the runs), the whole
list of ids, the count, and the first page as a multiple of a bare `SELECT id FROM anchor
LIMIT 200`.
"""

import argparse
import os
import random
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import sqlite_utils
import votes_data
from data import number_at, sentences

import nfh_db.connection
from nfh_db.connection import Connection, sqlite3
from nfh_db.passages import index_texts
from nfh_db.query import parse
from nfh_db.queue import queue_count, queue_ids, queue_rows
from nfh_db.schema import migrations
from nfh_models.domain import IMPLICIT_KINDS, Blocking, Kind

ANCHORS = 184_507
RUNS = 7
PAGE = 40
BUDGET_MS = 200.0
BARE = "SELECT id FROM anchor LIMIT 200"
QUERIES = (
    "",
    "state:open",
    "state:disagree disagree:noun",
    "disagree:any",
    "class:AGE",
    "class:none",
    "heads>1",
    "split:dev",
    "split:train",
    "anchor:one",
    "flag:guideline",
    "by:ann2",
    "doc:second",
    'text:"months left"',
    "the",
    "qqqq",
    "onth lef",
    "qq",
    "text:months,hours -text:okay",
    "ÉÉÉÉ",
    "-class:OTHER text:one",
    "votes:3 pattern:2-1 -flag:skip text:the text:one",
    "model!=gold",
    "predicted:AGE",
    "predicted:AGE class:TIME",
    "predicted:REFERENCE",
    "predicted:none",
    "predicted:made/YEAR -class:YEAR",
    "margin<0.05",
    "margin>0.5 model!=gold",
    "conf<0.3",
    "tagged:R5",
    "tagged:none",
    "guideline<2",
    "nfh:yes",
    "nfh:none",
    "nfh!=gold",
    "nfh=gold split:dev",
    "nfhrule:no-one",
    "nfhrule:clock",
    "-nfhrule:noun-next text:one",
    "state:decided class:BROKEN",
    "sort:random",
    "sort:disagree",
    "sort:anchor",
    "-sort:votes",
    "sort:uncertain",
    "sort:conflict",
    "model!=gold sort:conflict",
    "sort:nfh",
    "nfh:yes nfh!=gold sort:nfh",
    "hit:before miss:made",
    "miss:before sort:conflict",
    "entropy<0.1",
    "doubt>0.9",
    "doubt>0.9 sort:doubt",
    "sort:entropy",
    "sort:doubt",
    "sort:models",
    "sort:models/before",
    "sort:rare",
    "state:open sort:rare",
)
TYPED = (
    "state:disagree disagree:noun by:ann2 pattern:2-1",
    "differs:ann1~ann2/noun",
    "disagree:class,scope pattern:1-1-1",
    "differs:ann2",
    "differs:ann1~ann2",
    "differs:ann1~ann2/mention",
    "-differs:ann2",
    "disagree:relation",
    "by:ann2",
    "by:nobody",
    "-by:ann2",
    "id:1,5,184507",
    "said:AGE",
    "said:ann2/BROKEN",
    "said:ann2/REFERENCE -differs:ann2",
    "rule:none",
    "rule:majority",
    "experts:differ",
    "right:ann2",
    "wrong:ann2",
    "wrong:ann2/class",
    "right:nobody",
    "assigned:ann1",
    "assigned:nobody",
    "todo:me sort:assigned",
    "audit:open",
)
"""Of those with three answers each; the first three are what is promised of disagreement."""

RULES = {"noun-next": 41.0, "not-nummod": 27.0, "num-of": 8.5, "no-one": 3.0, "clock": 0.05}
"""Names of rules, and about how many of a hundred numbers each decides."""

SAYING_YES = ("not-nummod", "num-of", "no-one", "clock")

MADE, BEFORE = 1, 3
"""The active model of resolution, and the one before it."""

CHOICES = [*(kind.value for kind in IMPLICIT_KINDS), "3"]

ANNOTATORS = ("ann1", "ann2", "ann3")
GOLD_KINDS = [kind for kind in Kind if kind not in (Kind.NFH, Kind.BROKEN)]

INSERTS = {
    "passage": """INSERT INTO passage (id, document_id, batch_id, digest, text)
        VALUES (?,?,1,?,?)""",
    "anchor": """INSERT INTO anchor (id, passage_id, start, stop, text_start, text_stop, word,
        batch_id, state, kind, heads, votes, strongest, blocking, pattern)
        VALUES (?,?,?,?,?,?,?,1,?,?,?,?,?,?,?)""",
    "source_row": "INSERT INTO source_row (batch_id, line, anchor_id, split) VALUES (1,?,?,?)",
    "answer": """INSERT INTO answer (anchor_id, annotator_id, role, kind, answered_at)
        VALUES (?,?,'annotator','AGE','')""",
    "flag": """INSERT INTO flag (anchor_id, annotator_id, name, flagged_at)
        VALUES (?,?,?,'')""",
    "prediction": "INSERT INTO prediction VALUES (?,?,?,NULL,?,?,'',?,?)",
    "gold": "INSERT INTO gold (anchor_id, kind, rule) VALUES (?,?,'imported')",
    "doubt": "INSERT INTO doubt VALUES (?,1,?,?,0.5)",
    "identification": "INSERT INTO identification VALUES (?,2,?,?,?,'','')",
}
Rows = dict[str, list[tuple[Any, ...]]]


def build(path: Path, count: int, seed: int = 7) -> None:
    """A database of `count` anchors: a third decided, some voted on, half predicted, all
    identified."""
    connection = nfh_db.connection.connect(path, "rwc")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    migrations.apply(sqlite_utils.Database(connection))
    connection.execute("BEGIN")
    _frame(connection)
    numbered = enumerate(sentences(count), 1)
    source = random.Random(seed)
    while chunk := list(islice(numbered, 10_000)):
        rows: Rows = {table: [] for table in INSERTS}
        for index, words in chunk:
            _add(rows, index, count, words, source)
        for table, statement in INSERTS.items():
            connection.executemany(statement, rows[table])
    connection.execute("COMMIT")
    index_texts(connection)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _frame(connection: Connection) -> None:
    connection.execute(
        "INSERT INTO batch (id, name, sha256, format, state, created_at) "
        "VALUES (1, 'made', '', 'nfh', 'ready', '')"
    )
    connection.executemany(
        "INSERT INTO document VALUES (?, ?, 1)", [(1, "first half"), (2, "second half")]
    )
    connection.executemany(
        "INSERT INTO annotator (id, name, created_at) VALUES (?, ?, '')",
        list(enumerate(ANNOTATORS, 1)),
    )
    connection.execute(
        "INSERT INTO model (id, name, task, recipe, version, state, created_at) "
        "VALUES (1, 'made', 'resolution', 'nearest-noun', '1', 'active', ''), "
        "(2, 'rules', 'identification', 'rules', '1', 'active', ''), "
        "(3, 'before', 'resolution', 'linear', '1', 'retired', '')"
    )
    connection.execute(
        "INSERT INTO job (task, arguments, created_at) VALUES ('resolution', '{}', '')"
    )


def _add(rows: Rows, index: int, count: int, words: list[str], source: random.Random) -> None:
    """One passage with its anchor, and whatever chance gives it."""
    place = number_at(words)
    before = sum(len(word) + 1 for word in words[:place])
    half = 1 if index <= count // 2 else 2
    rows["passage"].append((index, half, index.to_bytes(32), " ".join(words)))
    chance = source.random()
    kind = source.choice(GOLD_KINDS) if chance < 0.33 else None
    heads = source.choice((1,) * 9 + (2,)) if kind is Kind.REFERENCE else 0
    state, votes, strongest, pattern = "decided" if kind else "open", 0, None, ""
    if 0.33 <= chance < 0.40:
        strongest = source.choice(list(Blocking)) if chance < 0.36 else None
        state, votes = ("disagree" if strongest else "answered"), len(ANNOTATORS)
        pattern = "2-1" if strongest else "3-0"
        rows["answer"].extend((index, number) for number in range(1, votes + 1))
    blocking = f" {strongest} " if strongest else ""
    span = (place, place + 1, before, before + len(words[place]), words[place])
    summary = (state, kind, heads, votes, strongest, blocking, pattern)
    rows["anchor"].append((index, index, *span, *summary))
    split = "train" if index < count * 0.89 else "dev" if index < count * 0.99 else "test"
    rows["source_row"].append((index, index, split))
    if source.random() < 0.004:
        rows["flag"].append((index, 1, source.choice(("guideline", "skip"))))
    if index % 2:
        scores = struct.pack(f"<{len(words) + 6}f", *(0.1 for _ in range(len(words) + 6)))
        choice = source.choice(CHOICES)
        for model in (MADE, BEFORE):
            margin, entropy = source.random(), source.random()
            said = (choice, margin, scores, (1 + 7 * margin) / 8, entropy)
            rows["prediction"].append((index, model, *said))
            # The model before says the same of most.
            choice = source.choice(CHOICES) if source.random() < 0.3 else choice
    if kind is not None:
        rows["gold"].append((index, kind))
        rows["doubt"].append((index, source.choice(CHOICES), source.random()))
    # Half of them as the rules leave them, and half with a score, as a learned model does.
    (rule,) = source.choices(tuple(RULES), tuple(RULES.values()))
    score = source.gauss(0.0, 1.0) if index % 2 else None
    nfh = rule in SAYING_YES if score is None else score > 0
    rows["identification"].append((index, int(nfh), rule, score))


def connect(path: Path) -> Connection:
    """A read-only connection with nothing in its cache yet."""
    return nfh_db.connection.connect(path, "ro")


def timed(path: Path, act: Callable[[Connection], object]) -> Iterator[float]:
    """Milliseconds of `act`, `RUNS` times, each over a new connection."""
    for _ in range(RUNS):
        connection = connect(path)
        begin = time.perf_counter()
        act(connection)
        yield (time.perf_counter() - begin) * 1000
        connection.close()


def first_page(connection: Connection, text: str) -> None:
    """What the screen waits for: the query understood, 200 ids, 40 lines."""
    chunks = queue_ids(connection, parse(text), 1)
    queue_rows(connection, next(chunks, [])[:PAGE], 1)


def measure(path: Path, queries: Sequence[str] = QUERIES) -> float:
    """Print a line for each query. Returns the worst first page, in milliseconds."""
    bare = median(timed(path, lambda connection: connection.execute(BARE).fetchall()))
    print(f"bare `{BARE}`: {bare:.2f} ms; figures below in ms\n")
    print(
        f"{'query':<50}{'anchors':>9}{'page':>8}{'worst':>8}{'all':>8}{'count':>8}{'x bare':>8}"
    )
    worst = 0.0
    for text in queries:
        query = parse(text)
        pages = list(timed(path, lambda c, text=text: first_page(c, text)))
        whole = median(timed(path, lambda c, query=query: list(queue_ids(c, query, 1))))
        count = median(timed(path, lambda c, query=query: queue_count(c, query, 1)))
        found = queue_count(connect(path), query, 1)
        page = median(pages)
        worst = max(worst, *pages)
        print(
            f"{text or '(empty)':<50}{found:>9,}{page:>8.1f}{max(pages):>8.1f}"
            f"{whole:>8.1f}{count:>8.1f}{page / bare:>8.0f}"
        )
    return worst


def main() -> None:
    """Build, measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--anchors", type=int, default=ANCHORS)
    options.add_argument("--keep", type=Path, help="build the database here and leave it")
    options.add_argument("--keep-votes", type=Path, help="the same for the one with votes")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (chosen.keep or Path(folder) / "query.db").resolve()
        if not path.exists():
            begin = time.perf_counter()
            build(path, chosen.anchors)
            seconds, size = time.perf_counter() - begin, path.stat().st_size / 1e6
            print(f"built {chosen.anchors:,} anchors, {size:.0f} MB, in {seconds:.1f} s")
        python, sqlite = sys.version.split()[0], sqlite3.sqlite_version
        print(f"SQLite {sqlite}, Python {python}, {os.cpu_count()} cores")
        worst = measure(path)
        print("\nThree answers each, everything given out to the same three people:\n")
        path = (chosen.keep_votes or Path(folder) / "votes.db").resolve()
        if not path.exists():
            votes_data.build(path, chosen.anchors)
            votes_data.give_out(path)
        worst = max(worst, measure(path, TYPED))
    print(f"\nworst first page {worst:.0f} ms; budget {BUDGET_MS:.0f} ms")


if __name__ == "__main__":
    main()
