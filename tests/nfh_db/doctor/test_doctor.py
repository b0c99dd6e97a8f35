"""All of it: what a healthy database gives, and what a repair leaves alone."""

import runpy
from collections.abc import Callable
from pathlib import Path

from nfh_db.doctor import CHECKS, examine, repair

Sql = Callable[..., None]


def test_a_healthy_database_is_clean(path: Path) -> None:
    report = examine(path)
    assert [f.what for f in report.findings] == []
    assert (report.anchors, report.broken, report.repairable) == (10, 0, 0)
    assert repair(path, report, lambda: report) is None
    assert [entry.name for entry in path.parent.iterdir()] == ["nfh.db"]


def test_every_check_is_shown_to_find_something() -> None:
    here = Path(__file__)
    shown = {
        check
        for name in ("test_damage_content.py", "test_damage_jobs.py", "test_damage_rest.py")
        for one in runpy.run_path(str(here.with_name(name)))["DAMAGES"].values()
        for check in one["found"]
    }
    # SQLite's version has a test of its own.
    assert shown == {check.name for check in CHECKS} - {"sqlite"}


def test_what_cannot_be_mended_stays_when_the_rest_is_mended(path: Path, sql: Sql) -> None:
    sql(
        "UPDATE anchor SET state = 'open' WHERE id = 6",
        "UPDATE anchor SET word = 'two' WHERE id = 6",
    )
    done = repair(path, examine(path), lambda: examine(path))
    assert done is not None
    assert [finding.check for finding in done.report.findings] == ["anchors"]
