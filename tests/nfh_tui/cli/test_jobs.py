"""`nfh-tui jobs`: what is listed, shown, followed, cancelled, tried again."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.jobs import JobState, NewJob
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import job_folder

Call = Callable[..., Result]


@pytest.fixture
def path(call: Call, home: Path) -> Path:
    """An empty database."""
    assert call("init", "--db", "w.db").exit_code == 0
    return home / "w.db"


@pytest.fixture
def queued(call: Call, path: Path, nfh_file: Callable[..., Path]) -> Path:
    """An import as job 1, in the queue; its file."""
    file = nfh_file(3)
    told = call("import", file, "--background", "--db", path)
    assert told.stdout == f"job 1 is queued; nfh-tui jobs wait 1 --db {path} follows it\n"
    assert "no runner is started (NFH_TUI_RUNNER=here)" in told.stderr
    return file


def said(result: Result) -> dict[str, object]:
    """The one object on standard output."""
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def state(path: Path, number: int = 1) -> JobState:
    with Store.open(path) as store:
        found = store.jobs.read(number)
    assert found is not None
    return found.state


def test_without_a_job_it_says_how_to_make_one(call: Call, path: Path) -> None:
    assert (
        call("jobs", "--db", path).stdout
        == f"no jobs yet: nfh-tui retrain TASK --db {path} makes one\n"
    )
    assert said(call("jobs", "--json", "--db", path)) == {"jobs": []}


def test_a_job_is_listed_shown_and_followed_to_its_end(
    call: Call, path: Path, queued: Path
) -> None:
    assert " 1  import rows.jsonl" in call("jobs", "--db", path).stdout
    shown = said(call("jobs", "show", "1", "--json", "--db", path))
    assert (shown["id"], shown["kind"], shown["state"]) == (1, "import", "queued")
    assert (shown["task"], shown["pid"], shown["model"]) == (None, None, None)
    assert shown["progress"] == {"phase": None, "done": 0, "total": None, "metrics": {}}
    assert shown["arguments"]["files"] == [str(queued)]  # type: ignore[index]
    told = call("jobs", "wait", "1", "--db", path)
    assert told.exit_code == 0, told.output
    assert "rows.jsonl: 3 rows: 3 passages, 3 items new" in told.stdout
    assert "done" in call("jobs", "--db", path).stdout
    again = said(call("jobs", "--db", path, "wait", "1", "--json"))
    assert again["state"] == "done"
    assert again["result"]["ok"] is True  # type: ignore[index]
    assert len(call("export", "--format", "nfh", "--db", path).stdout.splitlines()) == 3


def test_nothing_is_wider_than_eighty_columns(call: Call, path: Path, queued: Path) -> None:
    with Store.open(path) as store:
        wordy = "a sentence that goes on and on " * 12
        store.jobs.add(NewJob("train", 2, "resolution", {"recipe": "linear", "query": wordy}))
        store.jobs.end(2, JobState.CANCELLED, wordy)
    for words in (
        ("jobs",),
        ("jobs", "show", "2"),
        ("jobs", "wait", "1"),
        ("jobs", "show", "1"),
    ):
        lines = call(*words, "--db", "w.db").stdout.splitlines()
        paths = [line for line in lines if str(queued.parent) in line]
        assert max(len(line) for line in lines if line not in paths) <= 80, words
    assert "a sentence that goes on" in call("jobs", "show", "2", "--db", path).stdout


def test_a_job_that_waits_is_taken_out_of_the_queue_and_put_back(
    call: Call, path: Path, queued: Path
) -> None:
    assert call("jobs", "cancel", "1", "--db", path).stdout == "job 1 is cancelled\n"
    again = call("jobs", "cancel", "1", "--db", path)
    assert (again.exit_code, again.stderr) == (
        1, "nfh-tui: job 1 has already ended: it is cancelled\n",
    )  # fmt: skip
    waited = call("jobs", "wait", "1", "--db", path)
    assert waited.exit_code == 1
    assert waited.stderr.startswith("nfh-tui: job 1 was cancelled (by ")
    assert call("jobs", "run", "--db", path).stdout == "0 jobs run\n"
    assert said(call("jobs", "retry", "1", "--json", "--db", path))["before"] == "cancelled"
    assert said(call("jobs", "run", "--json", "--db", path)) == {
        "run": 1,
        "left": 0,
        "foreign": 0,
    }
    assert state(path) is JobState.DONE
    done = call("jobs", "retry", "1", "--db", path)
    assert (done.exit_code, done.stderr) == (
        1, "nfh-tui: job 1 is done: there is nothing to retry\n",
    )  # fmt: skip


def test_a_job_that_fails_says_why_and_where_its_log_is(
    call: Call, path: Path, queued: Path
) -> None:
    queued.unlink()
    told = call("jobs", "wait", "1", "--db", path)
    assert told.exit_code == 1
    assert "rows.jsonl" in told.stderr
    assert f"Job 1 has failed; its log: nfh-tui jobs log 1 --db {path}\n" in told.stderr
    assert told.stdout == ""
    assert state(path) is JobState.FAILED
    log = call("jobs", "log", "1", "--db", path)
    assert "import" in log.stdout
    assert log.stdout == call("jobs", "log", "1", "--follow", "--db", path).stdout


def test_a_log_cannot_control_the_terminal(call: Call, path: Path, queued: Path) -> None:
    none = call("jobs", "log", "1", "--db", path)
    assert (none.exit_code, none.stderr) == (
        1, "nfh-tui: job 1 has not begun, and so has no log yet\n",
    )  # fmt: skip
    with Store.open(path) as store:
        (job,) = store.jobs.all()
    (job_folder(path, job) / "log.txt").write_bytes(b"a\x1b[2Jb \xff\n")
    shown = call("jobs", "log", "1", "--db", path)
    assert "\x1b" not in shown.stdout
    assert "a\u241b[2Jb" in shown.stdout


@pytest.mark.parametrize("command", ["show", "log", "cancel", "wait", "retry"])
def test_a_job_that_is_not_there_is_a_sentence(call: Call, path: Path, command: str) -> None:
    told = call("jobs", command, "7", "--db", path)
    assert (told.exit_code, told.stderr) == (
        1, f"nfh-tui: there is no job 7; nfh-tui jobs --db {path} lists them\n",
    )  # fmt: skip
    assert call("jobs", command, "seven", "--db", path).exit_code == 2


def test_nobody_waits_for_what_no_runner_takes(call: Call, path: Path) -> None:
    with Store.open(path) as store:
        newer = store.jobs.add(NewJob("dance", 9, "", {}))
        placed = store.jobs.begin("resolution", {"recipe": "linear"})
    connection = connect(path, "rw")
    connection.execute("UPDATE job SET pid = 2147483000 WHERE id = ?", (placed,))
    connection.close()
    told = call("jobs", "wait", newer, "--db", path)
    assert told.exit_code == 1
    assert "does not know (dance 9):\na newer nfh-tui made it" in told.stderr
    told = call("jobs", "wait", placed, "--db", path)
    assert told.exit_code == 1
    assert "run that command again" in told.stderr
    assert state(path, placed) is JobState.INTERRUPTED
    for number in (newer, placed):
        told = call("jobs", "retry", number, "--db", path)
        assert told.exit_code == 1
        assert "cannot be retried" in told.stderr
    assert said(call("jobs", "run", "--json", "--db", path)) == {
        "run": 0,
        "left": 2,
        "foreign": 0,
    }
    assert "dance" in call("jobs", "--db", path).stdout


def test_old_jobs_are_counted_and_listed_when_asked(call: Call, path: Path) -> None:
    with Store.open(path) as store:
        for _ in range(23):
            store.jobs.add(NewJob("predict", 2, "resolution", {}))
    told = call("jobs", "--db", path).stdout.splitlines()
    assert len(told) == 22
    assert told[-1] == f"and 3 older ones: nfh-tui jobs --all --db {path}"
    assert len(call("jobs", "--all", "--db", path).stdout.splitlines()) == 24
    assert len(said(call("jobs", "--json", "--db", path))["jobs"]) == 23  # type: ignore[arg-type]


def test_files_that_cannot_be_read_are_refused_before_anything_is_queued(
    call: Call, path: Path, home: Path
) -> None:
    (home / "odd.bin").write_bytes(b"\x00\x01\x02")
    told = call("import", "odd.bin", "--background", "--db", path)
    assert told.exit_code == 1
    assert "1 file cannot be read: nothing was queued" in told.stderr
    wrong = call("import", "odd.bin", "--background", "--dry-run", "--db", path)
    assert wrong.exit_code == 2
    with Store.open(path) as store:
        assert store.jobs.all() == ()


def test_one_bad_file_of_several_fails_the_job_and_the_others_come_in(
    call: Call, path: Path, nfh_file: Callable[..., Path]
) -> None:
    good, bad = nfh_file(2, "good.jsonl"), nfh_file(2, "bad.jsonl")
    assert call("import", good, bad, "--background", "--db", path).exit_code == 0
    bad.write_text(bad.read_text() + "{}\n", encoding="utf-8")
    told = call("jobs", "wait", "1", "--db", path)
    assert told.exit_code == 1
    assert "bad.jsonl" in told.stderr
    assert "1 of 2 files imported" in told.stderr
    shown = said(call("jobs", "show", "1", "--json", "--db", path))
    files = shown["result"]["files"]  # type: ignore[index]
    assert [one.get("rows") for one in files] == [2, None]


def test_settings_of_an_import_are_shown_and_hold(call: Call, path: Path, home: Path) -> None:
    (home / "szene.csv").write_bytes("Wer;Satz\nZoë;Zwei, 3?\n".encode("cp1252"))
    told = call(
        "import", "szene.csv", "--columns", "text=Satz,speaker=Wer", "--encoding", "cp1252",
        "--window", "2,1", "--background", "--db", path,
    )  # fmt: skip
    assert told.exit_code == 0, told.output
    shown = call("jobs", "show", "1", "--db", path).stdout
    assert "  columns   text=Satz, speaker=Wer\n  encoding  cp1252\n  window    2, 1\n" in shown
    assert "{" not in shown
    assert call("jobs", "wait", "1", "--db", path).exit_code == 0
    with Store.open(path) as store:
        (ballot,) = store.items.ballots(Query())
    assert ballot.passage.text == "Zoë: Zwei, 3?"


@pytest.mark.parametrize("kind", ["train", "evaluate", "predict", "check", "import", "dance"])
@pytest.mark.parametrize(
    "value",
    [
        "[]",
        "{",
        '{"files": 3, "models": [7, null, {}], "kinds": [1], "verdict": 7, "notes": "x"}',
        '{"files": [7, {"name": 3, "rows": "x", "warnings": 9}], "verdict": {"verdict": 7}}',
        '{"anchors": "many", "predicted": true, "doubted": -1, "n": 1e400, "loss": "x"}',
        '{"words": {"a": 1}, "query": 3, "left_out": {"a": "b"}, "model": ["x"]}',
    ],
)
def test_whatever_stands_in_a_row_can_be_looked_at(
    call: Call, path: Path, kind: str, value: str
) -> None:
    with Store.open(path) as store:
        store.jobs.add(NewJob(kind, 2, "resolution", {}))
    connection = connect(path, "rw")
    connection.execute(
        "UPDATE job SET arguments = :it, result = :it, metrics = :it, state = 'done'",
        {"it": value},
    )
    connection.close()
    for command in ((), ("show", "1"), ("wait", "1")):
        told = call("jobs", *command, "--db", path)
        assert told.exit_code == 0, told.output
        told = call("jobs", *command, "--json", "--db", path)
        json.loads(told.stdout, parse_constant=pytest.fail)
