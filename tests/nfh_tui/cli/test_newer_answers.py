"""A round through another tool: what somebody changed there is what they say now."""

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Call = Callable[..., Result]


def _task(path: Path, label: str, at: int) -> Path:
    task = {
        "text": "No, three.",
        "spans": [{"start": 4, "end": 9, "label": label}],
        "answer": "accept",
        "_annotator_id": "eva",
        "_timestamp": at,
    }
    path.write_text(json.dumps(task) + "\n", encoding="utf-8")
    return path


def _kind(call: Call) -> str:
    (row,) = call("export", "--format", "gold").stdout.splitlines()
    (vote,) = json.loads(row)["votes"]
    return str(vote["kind"])


def test_the_later_answer_counts_where_it_may(call: Call, home: Path) -> None:
    call("import", _task(home / "a.jsonl", "AGE", 1_700_000_000))
    later = _task(home / "b.jsonl", "YEAR", 1_700_000_060)
    assert "eva answered AGE already, which was kept" in call("import", later).stderr
    assert _kind(call) == "AGE"
    assert "1 answer replaced" in call("import", "--newer-answers", later).stdout
    assert _kind(call) == "YEAR"
    assert "before  Age\n        after   Year" in call("history").stdout
    assert call("doctor").exit_code == 0


def test_an_earlier_answer_never_does(call: Call, home: Path) -> None:
    call("import", _task(home / "a.jsonl", "AGE", 1_700_000_000))
    earlier = _task(home / "b.jsonl", "YEAR", 1_600_000_000)
    said = call("import", "--newer-answers", earlier).stderr
    assert "eva answered AGE already, which was kept" in said
    assert _kind(call) == "AGE"


def _untimed(path: Path, label: str) -> Path:
    row = {"tokens": ["We", "have", "three", "."], "line_indices": [0] * 4, "head": [label]}
    row |= {"speakers": ["A"] * 4, "anchors_indices": [2]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def test_an_answer_without_a_time_never_does(call: Call, home: Path) -> None:
    call("import", "--annotator", "ann", _untimed(home / "newer.jsonl", "YEAR"))
    older = _untimed(home / "older.jsonl", "AGE")
    said = call("import", "--annotator", "ann", "--newer-answers", older)
    assert "ann answered YEAR already, which was kept; the file says AGE" in said.stderr
    assert "answer new" not in said.stdout
    assert "answer replaced" not in said.stdout
    assert _kind(call) == "YEAR"


HEADER = "WorkerId,Input.text_reduced,Input.target,Answer.ans,Answer.reference,SubmitTime\n"


def test_a_worker_without_a_submit_time_never_does(call: Call, home: Path) -> None:
    for name, code, at in (("a", 2, "Tue Jan 30 12:01:01 PST 2018"), ("b", 3, "")):
        row = f"W1,Ann: I have three.,three,{code},,{at}\n"
        (home / f"{name}.csv").write_text(HEADER + row, encoding="utf-8")
    call("import", home / "a.csv")
    before = _kind(call)
    said = call("import", "--newer-answers", home / "b.csv")
    assert f"W1 answered {before} already, which was kept" in said.stderr
    assert _kind(call) == before


def test_an_unknown_time_stays_unknown_elsewhere(call: Call, home: Path) -> None:
    """A release of an answer without a time replaces nothing in another database."""
    call("import", "--annotator", "ann", _untimed(home / "older.jsonl", "AGE"), "--db", "a.db")
    release = call("export", "--format", "gold", "--db", "a.db").stdout
    (home / "release.jsonl").write_text(release, encoding="utf-8")
    (vote,) = json.loads(release)["votes"]
    assert vote["timed"] is False
    call("import", home / "release.jsonl", "--db", "b.db")
    assert call("export", "--format", "gold", "--db", "b.db").stdout == release
    for name in ("prodigy", "label-studio"):
        call("export", "--format", name, "--out", home / name, "--db", "a.db")
        call("import", home / name, "--db", f"{name}.db")
        (line,) = call("export", "--format", "gold", "--db", f"{name}.db").stdout.splitlines()
        assert [one["timed"] for one in json.loads(line)["votes"]] == [False], name
    call("import", "--annotator", "ann", _untimed(home / "newer.jsonl", "YEAR"), "--db", "c.db")
    said = call("import", "--newer-answers", home / "release.jsonl", "--db", "c.db")
    assert "ann answered YEAR already, which was kept" in said.stderr
