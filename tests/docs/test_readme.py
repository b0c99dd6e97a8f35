"""What the documents say is what the program has."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from nfh_tui.actions import ACTIONS
from nfh_tui.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)")


def readme_tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "readme_tables", ROOT / "docs" / "readme_tables.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "tables"),
    [
        ("docs/keys.md", ("keys", "signs")),
        ("docs/formats.md", ("formats", "holds")),
        ("docs/serve.md", ("access",)),
    ],
)
def test_the_tables_come_from_the_registries(page: str, tables: tuple[str, ...]) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert all(f"<!-- {name}:start -->" in text for name in tables)
    assert readme_tables().with_tables(text) == text, "run: python docs/readme_tables.py"


def test_the_keys_that_the_readme_names_do_what_it_says() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    table = text.partition("## Keys")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (.*?) \| ", table, re.MULTILINE)
    named = [key.replace("\\|", "|") for key in re.findall(r"`([^`\s]+)`", " ".join(cells))]
    shown = {shown for action in ACTIONS for shown in action.shown.split()} | {"1–9"}
    assert len(named) > 12
    assert set(named) <= shown


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_documented(command: str) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    assert any(f"nfh-tui {command}" in page.read_text("utf-8") for page in pages)


def headings(page: Path) -> set[str]:
    """The parts of a page that a link may name, as GitHub calls them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda p: p.name
)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    for target, part in LINK.findall(page.read_text("utf-8")):
        to = page.parent / target if target else page
        assert to.exists(), f"{page.name} links to {target}"
        assert not part or part in headings(to), f"{page.name} links to {target}#{part}"


def test_the_code_names_pages_that_are_there() -> None:
    for package in ("nfh_tui", "nfh_models", "db", "tools"):
        for source in (ROOT / package).rglob("*.py"):
            for page in re.findall(r"\bdocs/[\w-]+\.md\b", source.read_text("utf-8")):
                assert (ROOT / page).exists(), f"{source.relative_to(ROOT)} names {page}"
