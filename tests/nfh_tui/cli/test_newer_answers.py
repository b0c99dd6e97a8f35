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
    assert "1 answer new" in call("import", "--newer-answers", later).stdout
    assert _kind(call) == "YEAR"
    assert "before  Age\n        after   Year" in call("history").stdout
    assert call("doctor").exit_code == 0


def test_an_earlier_answer_never_does(call: Call, home: Path) -> None:
    call("import", _task(home / "a.jsonl", "AGE", 1_700_000_000))
    earlier = _task(home / "b.jsonl", "YEAR", 1_600_000_000)
    said = call("import", "--newer-answers", earlier).stderr
    assert "eva answered AGE already, which was kept" in said
    assert _kind(call) == "AGE"
