"""Databases whose rows were edited by hand: each command ends in a result or a sentence.

The long form is `benchmarks/fuzz_cells.py --full`.
"""

import shutil
from pathlib import Path

import pytest

from tests.frames import drawn_lines

DATABASES = 2


@pytest.fixture(autouse=True)
def no_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process goes on after the test."""
    monkeypatch.setenv("NFH_TUI_RUNNER", "off")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with rows in its tables."""
    from soak.cells import prepare

    path = tmp_path_factory.mktemp("prepared") / "nfh.db"
    prepare(path)
    return path


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    """A copy of it, with the files of its models."""
    shutil.copytree(prepared.parent, tmp_path / "here")
    return tmp_path / "here" / prepared.name


@pytest.mark.long
def test_edited_cells_lead_to_sentences_and_to_nothing_outside(tmp_path: Path) -> None:
    from soak.cells import Fuzzer

    found = Fuzzer(tmp_path / "fuzz", seed=3).run(DATABASES)
    assert found.wrong == []
    assert found.cells >= DATABASES


@pytest.mark.parametrize(
    ("table", "column"),
    [("answer", "role"), ("answer", "kind"), ("answer", "noun"), ("gold", "votes")],
)
def test_a_row_that_cannot_be_read_is_told_of(path: Path, table: str, column: str) -> None:
    from soak.cells import call, edit

    edit(path, table, column, '["a", 1, null]')
    status, _, said, raised = call(
        ["settle", "--rule", "majority", "--dry-run", "--db", str(path)]
    )
    assert (status, raised) == (1, "")
    assert "holds a row that cannot be read" in said
    assert said.count("\n") == 1


ON_SCREEN = (
    ("saved_view", "name"),
    ("saved_view", "query"),
    ("place", "query"),
    ("draft", "body"),
    ("guideline", "body"),
    ("job", "arguments"),
    ("model", "name"),
    ("model", "metrics"),
    ("setting", "value"),
)
"""What the workbench reads and shows of what somebody stored."""


@pytest.mark.parametrize(
    "what",
    [
        "escapes",
        "markup",
        *(
            pytest.param(what, marks=pytest.mark.long)
            for what in ("a list", "deep", "many terms", "no query", "long")
        ),
    ],
)
async def test_the_workbench_opens_on_edited_rows(path: Path, what: str) -> None:
    from soak.cells import VALUES, columns, edit

    from nfh_tui.app import WorkbenchApp

    known = columns(path)
    for table, column in ON_SCREEN:
        assert (table, column) in known
        edit(path, table, column, VALUES[what])
    app = WorkbenchApp(path, "edith", "adjudicate", None)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            for key in ("j", "@", "escape", "L", "escape", "f4", "escape", "f5", "escape"):
                await pilot.press(key)
                await pilot.pause()
                shown = "".join(strip.text for strip in drawn_lines(app))
                assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown)
            assert app.is_running
            assert app.return_code in (None, 0)
    finally:
        app.close()
