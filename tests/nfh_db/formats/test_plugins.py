"""A third party's format, as the documentation shows one, in a package that is installed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "formats-plugins.md"
BROKEN = "raise RuntimeError('not today')"
TAKEN = "from nfh_db.formats.registry import GOLD as FORMAT"


def _install(folder: Path, module: str, code: str, value: str) -> None:
    """A package as an installer leaves it: its module, and its metadata beside it."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        f"[nfh_tui.formats]\n{module} = {module}:{value}\n"
    )


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Where three of them are installed: the documentation's, a broken one, one too many."""
    folder = tmp_path / "packages"
    folder.mkdir()
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    _install(folder, "spans_format", found[1], "SPANS")
    _install(folder, "broken_format", BROKEN, "FORMAT")
    _install(folder, "taken_format", TAKEN, "FORMAT")
    return folder


def _call(packages: Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = [str(packages), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, "-P", "-m", "nfh_tui", *words],
        cwd=packages.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_third_partys_format_is_one_like_ours(packages: Path) -> None:
    listed = _call(packages, "formats", "spans", "--json")
    (told,) = json.loads(listed.stdout)["formats"]
    assert told["export"]
    assert told["holds"]["kinds"] == "own"
    assert "broken_format" in listed.stderr
    assert "RuntimeError: not today" in listed.stderr
    assert "there is a format of that name" in listed.stderr

    home = packages.parent
    (home / "x.spans").write_text("No, three.\t4\t9\tAGE\n", encoding="utf-8")
    done = _call(packages, "import", "--db", "x.db", "x.spans")
    assert done.returncode == 0, done.stderr
    assert "read as spans: its name ends in .spans" in done.stderr
    out = _call(packages, "export", "--db", "x.db", "--format", "spans")
    assert out.stdout == "No, three.\t4\t9\tAGE\n"
    assert "spans cannot hold: several heads; " in out.stderr


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("No, three.\t4\t90\tAGE", "the span 4 to 90 is outside a text of 10 characters"),
        *(
            pytest.param(row, says, marks=pytest.mark.long)
            for row, says in (
                ("No, three.\t4\t8\tAGE", "the span 4 to 8 cuts through a word"),
                ("No, three.\t4\t9\tWHEN", "'WHEN' is not a valid Kind"),
                ("No, three.\tAGE", "wanted text, start, end and kind with tabs between"),
            )
        ),
    ],
)
def test_its_refusals_are_sentences(packages: Path, row: str, says: str) -> None:
    (packages.parent / "x.spans").write_text(row + "\n", encoding="utf-8")
    done = _call(packages, "import", "--db", "x.db", "x.spans")
    assert done.returncode == 1
    assert f"x.spans, line 1: {says}" in done.stderr


EXITS = """
from nfh_db.formats.base import Format

class Ending(BaseException):
    pass

def ending(*_):
    raise Ending("\\x1b[31mnot today")

def leaving(*_):
    raise SystemExit(0)

def rows(source, how):
    raise SystemExit(0)
    yield

FORMAT = Format(
    name="exits", extensions=(".exits",), description="one that leaves", example="",
    read=rows, sniff=WHAT, writer=leaving,
)
"""


ENDINGS = {
    "leaving": ("raise SystemExit(0)", "SystemExit: 0"),
    "exiting": ("import sys; sys.exit('bye \\x1b[31m')", "SystemExit: bye ␛[31m"),
    "raising": ("class Ending(BaseException): pass\nraise Ending('bye')", "Ending: bye"),
    "called": ("def FORMAT(): raise SystemExit(3)", "SystemExit: 3"),
}


def test_a_plugin_that_ends_the_program_is_left_out(packages: Path) -> None:
    for name, (code, _) in ENDINGS.items():
        _install(packages, f"{name}_format", code, "FORMAT")
    listed = _call(packages, "formats", "spans", "--json")
    assert listed.returncode == 0
    for name, (_, says) in ENDINGS.items():
        (trouble,) = [row for row in listed.stderr.splitlines() if f"{name}_format" in row]
        assert f"cannot be loaded: {says}" in trouble
    assert json.loads(listed.stdout)["formats"]


@pytest.mark.long
def test_a_plugin_that_leaves_while_it_works(packages: Path) -> None:
    _install(packages, "exits_format", EXITS.replace("WHAT", "ending"), "FORMAT")
    home = packages.parent
    (home / "x.txt").write_text("Ben: No, three.\n", encoding="utf-8")
    (home / "x.spans").write_text("No, three.\t4\t9\tAGE\n", encoding="utf-8")
    for name in ("x.txt", "x.spans"):
        done = _call(packages, "import", "--db", "x.db", name)
        assert done.returncode == 0, done.stderr
    # Those that are sure come first: only the text went by the plugin.
    named = _call(packages, "import", "--db", "y.db", "x.txt")
    assert "exits_format:FORMAT could not look at it, and was skipped: Ending: ␛[31m" in (
        named.stdout + named.stderr
    )
    read = _call(packages, "import", "--db", "x.db", "--format", "exits", "x.txt")
    assert read.returncode == 1
    assert "x.txt: the format exits_format of exits_format:FORMAT cannot read it" in read.stderr
    out = _call(packages, "export", "--db", "x.db", "--format", "exits", "--out", "o.exits")
    assert out.returncode == 1
    assert "the format exits_format of exits_format:FORMAT cannot write: SystemExit: 0" in (
        out.stderr
    )
    assert not (home / "o.exits").exists()
