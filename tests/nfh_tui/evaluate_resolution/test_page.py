"""The report as a page: whole, self-contained, and safe with any text."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import Result

from nfh_tui.cli import evaluation_page
from nfh_tui.cli.evaluation_page import FILTERS, CountTable
from nfh_tui.services import templates

from .conftest import Resolvers
from .handmade import DEV

Call = Callable[..., Result]
Write = Callable[..., Path]
Page = Callable[..., str]

HOSTILE = "<script>alert(1)</script>"
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Tags(HTMLParser):
    """What a page is made of; a tag that is not closed is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: dict[str, int] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags


@pytest.fixture
def page(call: Call, write: Write, home: Path, tiny: Resolvers) -> Page:
    """The page of an evaluation on some rows."""

    def make(specs: object = DEV, *more: object) -> str:
        result = call(
            *("evaluate", "resolution", "--file", write(specs)),
            *("--report", "r.html", "--resamples", 20, *more),
        )
        assert result.exit_code == 0, result.output
        return (home / "r.html").read_text("utf-8")

    return make


def test_a_page_needs_nothing_else(page: Page) -> None:
    text = page()
    tags = read(text)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.seen)
    assert not re.search(r"(?:https?:)?//(?!\s)|url\(|@import|@font-face|\son\w+=", text)
    assert "prefers-color-scheme:dark" in text
    assert "@media print" in text
    for figure in ("65.6", "77.2", "86.1", "81.9", "70.4", "90.6"):
        assert figure in "".join(tags.text)


def test_matrices_hold_the_counts(page: Page) -> None:
    text = page(DEV, "--model", "tiny", "--model", "silent")
    tags = read(text)
    # One of each model, and the paper's.
    assert text.count('<svg class="matrix"') == 3
    assert text.count('<svg class="reliability"') == 1
    cells = "".join(tags.text)
    assert "gold REFERENCE, answer REFERENCE: 338 (72.8 % of the row)" in cells
    assert "gold YEAR, answer AGE: not published" in cells
    assert "gold YEAR, answer none: 1 (100.0 % of the row)" in cells


def test_a_cell_is_as_dark_as_its_share() -> None:
    picture = templates.macros("evaluation_parts.html.j2", FILTERS).matrix(
        CountTable("m", ["A", "B"], ["A", "B"], [[3, 1], [None, 0]], [0, 1], [4, 2])
    )
    opacity = re.findall(r'fill-opacity="([\d.]+)"', picture)
    assert [float(one) for one in opacity] == [0.45, 0.15, 0, 0]
    assert picture.count('class="count right"') == 1
    assert picture.count(">?</text>") == 1
    read(picture)


def test_errors_are_shown_as_the_paper_does(page: Page) -> None:
    text = page([DEV[1], DEV[4]])
    assert "rgb(220,80,80)" in text
    assert "rgb(215,150,140)" in text
    assert "rgb(250,220,220)" in text
    assert "<b class=anchor>one</b>" in text
    assert "<i class=gold>coat</i>" in text
    assert '<span class="strong chosen">yours</span>' in text
    assert "gold <b>coat</b>, predicted <b>yours" in text
    assert "gold <b>AGE</b>, predicted <b>YEAR" in text
    assert text.count("<details>") == 2


def test_text_is_only_text(page: Page) -> None:
    rows = (
        (f"{HOSTILE}: Take {HOSTILE} & &lt; \x1b[31m \u202ered \x07 [one] .", "OTHER"),
        ("Ann: [red]two[/red] [4] .", "AGE"),
    )
    text = page(rows)
    tags = read(text)
    assert "script" not in tags.seen
    assert not [character for character in text if character < " " and character != "\n"]
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text
    assert "&amp;lt;" in text
    assert "␛[31m" in text


def test_long_passages_are_cut_around_the_anchor(page: Page) -> None:
    far = " ".join(["hat", *["blah"] * 300, "[one]", *["more"] * 200, "."])
    text = page([(f"Ann: {far}", ("hat",))])
    shown = text[text.index('<div class="passage">') :]
    assert "<i class=gold>hat</i>" in shown
    assert shown.count("blah") < 100
    assert shown.count("more") < 50
    assert re.search(r"… \d+ words left out …", shown)


def test_a_page_of_many_errors_stays_small(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"Ann: Row {n} says {'long ' * 40} [one] .", "OTHER") for n in range(60)]
    whole = page(rows)
    monkeypatch.setattr(evaluation_page, "MOST", 20_000)
    monkeypatch.setattr(evaluation_page, "MOST_LISTED", 30_000)
    small = page(rows)
    assert len(small) < len(whole)
    cards = small.count('<div class="error">')
    listed = small.count("<li>")
    assert 0 < cards < 60
    assert listed
    left = re.search(r"and (\d+) further ones", small)
    assert left is not None
    assert cards + listed + int(left[1]) == 60
    read(small)


def test_one_word_of_any_length_is_cut(page: Page) -> None:
    text = page([(f"Ann: {'x' * 100_000} [one] .", "OTHER")])
    assert len(text) < 60_000


def test_a_page_that_cannot_be_written(call: Call, write: Write, tiny: Resolvers) -> None:
    result = call("evaluate", "resolution", "--file", write(DEV), "--report", "no/such/r.html")
    assert result.exit_code == 1
    assert "no such folder" in result.stderr
