"""Databases whose rows somebody edited by hand: what the commands make of them."""

import json
import random
import shutil
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from nfh_db.connection import connect
from nfh_db.jobs import JobPoint, JobProgress, NewJob
from nfh_db.models import NewModel
from nfh_db.query import parse
from nfh_db.records import Prediction, QueuePosition, Role
from nfh_db.store import Store
from nfh_models.identification.svm import Svm, SvmSettings, save_svm
from nfh_tui.cli.main import commands
from nfh_tui.sample import corpus_path

LONG = "x" * 1_000_000
DEPTH = 100_000

VALUES: dict[str, str] = {
    "empty": "",
    "escapes": "\x1b[31m\x9b2J\x07[red]\r\n\u202e'x",
    "markup": "[red][/nothing] [@click=app.quit]q[/]",
    "a number": "17",
    "a large number": "1" * 40,
    "no JSON": '{"a": ',
    "a list": '["a", 1, null]',
    "an object": '{"kind": 5, "a": {"\x1b[31m": "\\u001b[31m"}, "conflicts": [1]}',
    "deep": "[" * DEPTH + "]" * DEPTH,
    "a deep query": "(" * DEPTH + "word:two" + ")" * DEPTH,
    "a deep object": '{"a":' * 500 + "1" + "}" * 500,
    "many terms": "-state:open " * 50_000,
    "no query": "class:( nowhere: ) OR",
    "long": LONG,
    "a path out": "../../../../etc",
    "a nul": "a\x00b",
}
"""What stands in a cell, by what it is."""

CANARY = "canary"
HOLDS = "SELECT count(*) FROM passage WHERE text LIKE ?"
JOBS = 0.4
"""The share of edits that are of jobs' rows."""

COLUMNS = """
SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
WHERE t.type = 'table' AND c.type = 'TEXT' AND t.name NOT LIKE 'sqlite%'
    AND t.name NOT LIKE '\\_sqlite%' ESCAPE '\\' ORDER BY t.name, c.cid"""
KEYS = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"

READS: tuple[tuple[str, ...], ...] = (
    ("stats",),
    ("stats", "--json"),
    ("history",),
    ("history", "--json"),
    ("jobs", "--all"),
    ("jobs", "--json"),
    ("jobs", "show", "1"),
    ("jobs", "show", "1", "--json"),
    ("jobs", "show", "3"),
    ("jobs", "show", "4", "--json"),
    ("jobs", "log", "1"),
    ("models",),
    ("models", "--json"),
    ("models", "show", "1"),
    ("models", "show", "1", "--json"),
    ("models", "history"),
    ("export", "--format", "gold", "--out", "OUT"),
    ("export", "--format", "nfh", "--out", "OUT"),
    ("assign",),
    ("audit",),
    ("settle", "--rule", "majority", "--dry-run"),
    ("guidelines",),
    ("guidelines", "versions"),
    ("doctor",),
    ("backup", "OUT"),
    ("jobs", "run"),
    ("models", "activate", "2"),
    ("models", "back"),
)
"""Commands that read rows, the quick ones. OUT: a new path."""


def prepare(path: Path) -> None:
    """A database with rows in its tables: the sample corpus, and what people and models did."""
    call(["import", "--db", str(path), str(corpus_path())])
    folder = path.parent
    svm = Svm(SvmSettings(), ["anchor=two"], np.array([1.5]), 0.25, "a parser 1")
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        ids = [one for chunk in store.queue.ids(parse(""), me) for one in chunk]
        for name in ("svm-1", "svm-2"):
            stored = f"{path.stem}-models/{name}"
            digest = save_svm(svm, folder / stored)
            job = store.jobs.begin("identification", {"set": ["c=1"]})
            store.jobs.update(
                job, JobProgress("epoch 1", 1, 2, {"loss": 1}), JobPoint(1, {"loss": 1})
            )
            new = NewModel(
                name,
                "identification",
                "svm",
                svm.version,
                stored,
                digest,
                config={"learnt": ["a"]},
                metrics={"dev_examples": 3},
                verdict={"verdict": "better"},
            )
            store.jobs.finish_training(job, new)
        store.retraining.set_schedule(
            "resolution", 100, NewJob("train", 2, "resolution", {"recipe": "linear"})
        )
        for task, arguments in (
            ("resolution", {"recipe": "linear"}),
            ("", {"files": ["/x"], "format": "dialog"}),
        ):
            store.jobs.add(NewJob("train" if task else "import", 2, task, arguments))
        model = store.models.ensure("alpha", "resolution", "alpha-recipe", "1")
        ballots = list(store.items.ballots(parse("")))
        for ballot in ballots[:20]:
            scores = (0.5,) * (len(ballot.passage.tokens) + 6)
            store.predictions.save(
                model, [(ballot.anchor_id, Prediction("alpha", "AGE", "YEAR", 0.2, scores))]
            )
        for anchor_id, ballot in zip(ids[:6], ballots, strict=False):
            if ballot.gold is not None:
                store.edits.commit_answer(anchor_id, me, Role.ADJUDICATOR, ballot.gold.answer)
        store.edits.undo(me)
        store.workspace.save_view(me, "mine", "class:AGE")
        store.workspace.save_position(me, "adjudicate", QueuePosition("class:AGE", ids[0]))
        store.workspace.save_draft(ids[0], me, Role.ADJUDICATOR, "{}")
        with closing(connect(path, "rw")) as writer:
            writer.execute("UPDATE job SET mark = '' WHERE id = 3")
        store.guidelines.add_first("# Rules\n\n## A rule\n\ntext\n")


def columns(path: Path) -> list[tuple[str, str]]:
    """Every column of text, with its table."""
    with closing(connect(path, "ro")) as reader:
        return [(str(table), str(name)) for table, name in reader.execute(COLUMNS)]


def edit(path: Path, table: str, column: str, value: str, rows: int = 3) -> int:
    """Put a value into the first cells of a column, past what the schema checks; how many."""
    with closing(connect(path, "rw")) as writer:
        writer.execute("PRAGMA ignore_check_constraints = ON")
        writer.execute("PRAGMA foreign_keys = OFF")
        key = ", ".join(f'"{name}"' for (name,) in writer.execute(KEYS, (table,)))
        writer.execute(
            f'UPDATE OR IGNORE "{table}" SET "{column}" = :value WHERE ({key}) IN '
            f'(SELECT {key} FROM "{table}" LIMIT :rows)',
            {"value": value, "rows": rows},
        )
        return int(writer.execute("SELECT changes()").fetchone()[0])


def call(arguments: Sequence[str]) -> tuple[int, str, str, str]:
    """A command in this process: its status, both outputs, and what it raised."""
    done = CliRunner().invoke(commands, list(arguments), prog_name="nfh-tui")
    raised = done.exception
    trace = ""
    if raised is not None and not isinstance(raised, SystemExit):
        trace = "".join(traceback.format_exception(raised)[-4:])
    return done.exit_code, done.stdout, done.stderr, trace


def wrongs(done: tuple[int, str, str, str]) -> Iterator[str]:
    """What no command may do: raise, end otherwise than 0 to 2, steer a terminal, prattle."""
    status, out, err, trace = done
    if trace:
        yield trace
    elif status not in (0, 1, 2):
        yield f"status {status}"
    if "Traceback" in err:
        yield err
    steering = {
        one
        for one in set(out + err)
        if one != "\n" and (ord(one) < 32 or 127 <= ord(one) < 160)
    }
    if steering:
        yield f"control characters {sorted(steering)}"
    said = [line for line in err.splitlines() if line.startswith("nfh-tui: ")]
    if status == 1 and len(said) > 1:
        yield f"{len(said)} sentences: {said}"
    if status and len(err) > 5_000:
        yield f"{len(err)} characters of error"


def walk(path: Path, reads: Sequence[tuple[str, ...]] = READS) -> Iterator[tuple[str, str]]:
    """Call commands on a database; the command and the fault of each that did wrong."""
    for number, words in enumerate(reads):
        out = path.parent / f"out-{number}"
        told = [str(out) if word == "OUT" else word for word in words]
        for fault in wrongs(call([*told, "--db", str(path)])):
            yield " ".join(words), fault
        if out.is_dir():
            shutil.rmtree(out)
        else:
            out.unlink(missing_ok=True)


@dataclass
class Outcomes:
    """What became of edited databases. wrong: each with its number, its cells and the fault."""

    databases: int = 0
    cells: int = 0
    wrong: list[str] = field(default_factory=list)


class Fuzzer:
    """Edits cells, seeded one by one: database N of a seed is always the same.

    folder: where the databases are. A file beside it that rows name must stay as it is.
    """

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self._work = folder / "work"
        self._work.mkdir(parents=True)
        self._base = folder / "base.db"
        self._seed = seed
        self._canary = folder / "canary.txt"
        self._canary.write_text(f"{CANARY}: take two of mine.\n")
        prepare(self._base)
        self._columns = columns(self._base)
        self._models = folder / "base-models"

    def run(self, databases: int, first: int = 0) -> Outcomes:
        """Edit and walk so many."""
        outcomes = Outcomes()
        for number in range(first, first + databases):
            source = random.Random(f"{self._seed}:{number}")
            path = self._work / "nfh.db"
            shutil.copy(self._base, path)
            shutil.copytree(self._models, self._work / "nfh-models")
            told = []
            for _ in range(source.choice((1, 1, 2))):
                jobs = source.random() < JOBS
                chosen = [one for one in self._columns if one[0] == "job" or not jobs]
                table, column = source.choice(chosen)
                name, value = source.choice([*VALUES.items(), *self._paths().items()])
                outcomes.cells += edit(path, table, column, value)
                told.append(f"{table}.{column} {name}")
            where = f"database {number}, {', '.join(told)}"
            before = self._outside()
            for words, fault in walk(path):
                outcomes.wrong.append(f"{where}: {words}: {fault}")
            if self._outside() != before:
                outcomes.wrong.append(f"{where}: something outside was written")
            if self._leaked(path):
                outcomes.wrong.append(f"{where}: a file outside was read")
            outcomes.databases += 1
            shutil.rmtree(self._work)
            self._work.mkdir()
        return outcomes

    def _paths(self) -> dict[str, str]:
        """Values that name the file that nobody may read or write."""
        order = {"files": [str(self._canary)], "format": "dialog", "report": str(self._canary)}
        return {"a file": str(self._canary), "an order": json.dumps(order)}

    def _outside(self) -> dict[str, bytes]:
        """All that lies beside the databases' own folder, with what it holds."""
        return {
            str(one): one.read_bytes()
            for one in sorted(self._work.parent.rglob("*"))
            if one.is_file() and not one.is_relative_to(self._work)
        }

    def _leaked(self, path: Path) -> bool:
        with closing(connect(path, "ro")) as reader:
            found = reader.execute(HOLDS, (f"%{CANARY}%",)).fetchone()
            return bool(found[0])
