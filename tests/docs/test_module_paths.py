"""Every module, path and function of the code that a document names is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
PATH = re.compile(r"(?<![\w/])((?:db/nfh_db|nfh_models|nfh_tui|tools)/[\w./-]*)(?::(\w+))?")
DOTTED = re.compile(r"(?<![\w/.])((?:nfh_db|nfh_models|nfh_tui|tools)(?:\.[A-Za-z_]\w*)+)")
ENTRY_POINTS = "nfh_tui.formats"
"""The name of a group of entry points, which is no module."""


@cache
def _names(path: Path) -> set[str]:
    """The functions, classes and values that a source defines, methods among them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            found.update(name.asname or name.name for name in node.names)
    return found


def _is_there(dotted: str) -> bool:
    parts = dotted.split(".")
    at = ROOT / "db" if parts[0] == "nfh_db" else ROOT
    while parts and (at / parts[0]).is_dir():
        at /= parts.pop(0)
    if parts and (at / f"{parts[0]}.py").is_file():
        at /= f"{parts.pop(0)}.py"
    source = at / "__init__.py" if at.is_dir() else at
    return not parts or (source.is_file() and parts[0] in _names(source))


def _missing(text: str) -> list[str]:
    missing = []
    for path, name in PATH.findall(text):
        at = ROOT / path.rstrip(".")
        if not at.exists() or (name and at.suffix == ".py" and name not in _names(at)):
            missing.append(f"{path}:{name}" if name else path)
    missing += [one for one in DOTTED.findall(text) if not _is_there(one)]
    return [one for one in missing if one != ENTRY_POINTS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_of_the_code_is_there(page: Path) -> None:
    assert _missing(page.read_text("utf-8")) == []


def test_what_is_not_there_is_found() -> None:
    text = "`nfh_tui/no.py` `nfh_tui/app.py:no_such` `nfh_db.store.nothing` `nfh_models.no`"
    assert _missing(text) == [
        "nfh_tui/no.py", "nfh_tui/app.py:no_such", "nfh_db.store.nothing", "nfh_models.no"
    ]  # fmt: skip
    assert _missing("`db/nfh_db/edits.py:commit_answer`, `nfh_db.formats.base.Format`.") == []
