"""The page of what is promised: each promise names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "safety.md"
ROW = re.compile(r"^\| (?P<promise>.+?) \| (?P<tests>`tests/.+?) \| (?P<scripts>.*?) ?\|$")


def test_each_promise_names_tests_and_scripts_that_are_there() -> None:
    text = PAGE.read_text("utf-8")
    promised = text.partition("## What is promised")[2].partition("## How it is tested")[0]
    lines = [line for line in promised.splitlines() if line.startswith("|")]
    rows = [line for line in lines if not line.startswith(("|---", "| promise "))]
    assert len(rows) > 15
    for row in rows:
        found = ROW.match(row)
        assert found is not None, row
        for test in re.findall(r"`([^`]+)`", found["tests"]):
            assert (ROOT / test).is_file(), test
        for script in re.findall(r"`([^`]+)`", found["scripts"]):
            assert (ROOT / "benchmarks" / script).is_file(), script


def test_it_says_against_whom_and_what_is_not_promised() -> None:
    text = PAGE.read_text("utf-8")
    promised, _, not_promised = text.partition("## What is not promised")
    against = re.findall(r"^### (Against .+)$", promised, re.MULTILINE)
    assert len(against) >= 5
    assert not_promised.count("\n* ") >= 5
