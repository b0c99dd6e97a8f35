"""The code in docs/spacy.md runs and prints what the page says."""

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

PAGE = Path(__file__).resolve().parents[3] / "docs" / "spacy.md"


def test_the_page(monkeypatch: pytest.MonkeyPatch, load: Callable[..., Language]) -> None:
    monkeypatch.setattr(spacy, "load", lambda name, **options: load(**options))
    page = PAGE.read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed = re.findall(r"^prints\n\n```\n(.*?)```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) > 3
    output = io.StringIO()
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(output):
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
    assert [output.getvalue()] == printed
