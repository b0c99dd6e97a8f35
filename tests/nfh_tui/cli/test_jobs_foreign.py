"""Opening a database that somebody sent runs none of the jobs in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.connection import connect
from nfh_db.store import Store

Call = Callable[..., Result]

PUT = """
INSERT INTO job (task, kind, version, arguments, asked_by, created_at)
VALUES (:task, :kind, 2, :arguments, 'mallory', '2026-01-01T00:00:00.000Z')"""


def put(path: Path, kind: str, task: str, arguments: dict[str, object]) -> None:
    """A row that another program writes into the queue."""
    row = {"kind": kind, "task": task, "arguments": json.dumps(arguments)}
    connection = connect(path, "rw")
    connection.execute(PUT, row)
    connection.close()


@pytest.fixture
def private(home: Path) -> Path:
    """A file of this user's."""
    file = home / "private.txt"
    file.write_text("Me: the number is one two three four.\n")
    return file


@pytest.fixture
def sent(call: Call, home: Path, private: Path, nfh_file: Callable[..., Path]) -> Path:
    """A database with gold: job 1 reads the private file, job 2 writes into another."""
    path = home / "sent.db"
    assert call("import", nfh_file(3), "--db", path).exit_code == 0
    put(path, "import", "", {"files": [str(private)], "format": "dialog"})
    report = str(home / "notes.txt")
    told = {"task": "resolution", "models": ["deterministic"], "report": report}
    put(path, "evaluate", "resolution", told)
    (home / "notes.txt").write_text("precious")
    return path


def said(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.output
    found: dict[str, object] = json.loads(result.stdout)
    return found


def passages(path: Path) -> str:
    connection = connect(path, "ro")
    rows = connection.execute("SELECT text FROM passage").fetchall()
    connection.close()
    return "\n".join(text for (text,) in rows)


def test_nothing_of_a_sent_database_is_run(call: Call, home: Path, sent: Path) -> None:
    ran = call("jobs", "run", "--db", sent)
    assert ran.exit_code == 0
    assert ran.stdout == "0 jobs run\n"
    assert "2 foreign, so not run" in ran.stderr
    assert said(call("jobs", "run", "--json", "--db", sent)) == {
        "run": 0,
        "left": 0,
        "foreign": 2,
    }
    assert (home / "notes.txt").read_text() == "precious"
    assert "one two three four" not in passages(sent)


def test_own_work_goes_on_beside_foreign_jobs(
    call: Call, home: Path, sent: Path, nfh_file: Callable[..., Path]
) -> None:
    again = call("import", nfh_file(4), "--background", "--db", sent)
    assert again.exit_code == 0
    assert call("jobs", "wait", 3, "--db", sent).exit_code == 0
    assert (home / "notes.txt").read_text() == "precious"
    assert "one two three four" not in passages(sent)


def test_foreign_jobs_are_listed_as_such(call: Call, sent: Path) -> None:
    listed = call("jobs", "--db", sent).stdout
    assert listed.count(" foreign ") == 2
    assert "queued" not in listed.replace("not queued", "")
    assert "says what job 1 would do" in listed
    jobs = said(call("jobs", "--json", "--db", sent))["jobs"]
    assert isinstance(jobs, list)
    assert [(job["foreign"], job["state"]) for job in jobs] == [(True, "queued")] * 2


def test_it_is_shown_what_a_foreign_job_would_read_and_write(
    call: Call, home: Path, sent: Path, private: Path
) -> None:
    assert said(call("jobs", "show", 1, "--json", "--db", sent))["reads"] == [str(private)]
    shown = said(call("jobs", "show", 2, "--json", "--db", sent))
    assert (shown["reads"], shown["writes"]) == ([], [str(home / "notes.txt")])
    told = call("jobs", "show", 2, "--db", sent).stdout
    assert "resolution" in told
    assert f"nfh-tui jobs run --accept 2 --db {sent}" in " ".join(told.split())
    assert "writes" in told


@pytest.mark.parametrize("words", [("wait",), ("retry",)])
def test_other_commands_say_how_a_foreign_job_is_started(
    call: Call, sent: Path, words: tuple[str, ...]
) -> None:
    told = call("jobs", *words, 1, "--db", sent)
    assert told.exit_code == 1
    assert "job 1 was not queued from here" in told.stderr
    assert f"nfh-tui jobs run --accept 1 --db {sent} starts it" in told.stderr
    assert told.stdout == ""


def test_a_foreign_job_is_cancelled_as_any_other(call: Call, sent: Path) -> None:
    assert call("jobs", "cancel", 1, "--db", sent).stdout == "job 1 is cancelled\n"
    told = call("jobs", "retry", 1, "--db", sent)
    assert told.exit_code == 1
    assert "--accept 1" in told.stderr
    refused = call("jobs", "run", "--accept", 1, "--db", sent)
    assert refused.exit_code == 1
    assert "job 1 is cancelled: only a job that waits can be accepted" in refused.stderr


def test_an_accepted_job_is_shown_and_run_alone(
    call: Call, home: Path, sent: Path, private: Path
) -> None:
    ran = call("jobs", "run", "--accept", 1, "--db", sent)
    assert ran.exit_code == 0
    assert str(private) in ran.stdout
    assert ran.stdout.endswith("1 job run\n")
    assert "one two three four" in passages(sent)
    assert (home / "notes.txt").read_text() == "precious"
    with Store.open(sent) as store:
        assert [job.own for job in store.jobs.all()] == [False, True]
    again = call("jobs", "run", "--accept", 1, "--db", sent)
    assert again.exit_code == 1
    assert "job 1 is done, and not foreign: there is nothing to accept" in again.stderr


def test_a_job_that_another_data_folder_queued_is_foreign_here(
    call: Call, sent: Path, nfh_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(sent.parent / "colleague"))
    assert call("import", nfh_file(4), "--background", "--db", sent).exit_code == 0
    monkeypatch.setenv("XDG_DATA_HOME", str(sent.parent.parent / "data"))
    jobs = said(call("jobs", "--json", "--db", sent))["jobs"]
    assert isinstance(jobs, list)
    assert jobs[0]["foreign"] is True


def test_where_no_secret_can_be_kept_it_is_said(
    call: Call, sent: Path, nfh_file: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (sent.parent / "file").write_text("no folder")
    monkeypatch.setenv("XDG_DATA_HOME", str(sent.parent / "file"))
    told = call("import", nfh_file(4), "--background", "--db", sent)
    assert told.exit_code == 1
    assert "No job can be queued" in told.stderr
    assert "XDG_DATA_HOME" in told.stderr


# --- paths ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("import", {"files": ["private.txt"], "format": "dialog"}),
        ("import", {"files": ["{home}/../here/private.txt"], "format": "dialog"}),
        ("import", {"files": ["{home}/link.txt"], "format": "dialog"}),
        ("evaluate", {"report": "{home}/link.txt", "models": ["deterministic"]}),
        ("evaluate", {"models": ["../models/x"]}),
        ("train", {"recipe": "linear", "words": ["vectors={home}/link.txt"]}),
        ("train", {"recipe": "encoder", "words": ["base=../nfh-models/other"]}),
        ("check", {"recipe": "linear", "parser": "stanza:~/models"}),
    ],
)
def test_a_path_of_a_job_leads_where_it_led_when_it_was_given(
    call: Call, home: Path, private: Path, sent: Path, kind: str, arguments: dict[str, object]
) -> None:
    (home / "link.txt").symlink_to(private)
    text = json.dumps(arguments).replace("{home}", str(home))
    task = "" if kind == "import" else "resolution"
    more = {"task": "resolution"} if kind == "evaluate" else {}
    put(sent, kind, task, json.loads(text) | more)
    ran = call("jobs", "run", "--accept", 3, "--db", sent)
    assert ran.stdout.endswith("1 job run\n")
    job = said(call("jobs", "show", 3, "--json", "--db", sent))
    assert job["state"] == "failed"
    assert "is not an absolute path, or leads" in str(job["error"])
    assert private.read_text().startswith("Me: ")


def test_a_report_goes_where_its_link_led_when_it_was_asked_for(
    call: Call, home: Path, sent: Path
) -> None:
    (home / "page.html").symlink_to(home / "real.html")
    command = ("evaluate", "resolution", "--model", "deterministic", "--report", "page.html")
    assert call(*command, "--background", "--db", sent).exit_code == 0
    assert said(call("jobs", "show", 3, "--json", "--db", sent))["writes"] == [
        str(home / "real.html")
    ]
