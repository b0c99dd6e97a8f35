"""Bursts of a key in a real terminal: pasted, held down, and typed as people do."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import AnchorItem, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.screens.sheet import EARLY as EARLY_SHEET
from nfh_tui.screens.sheet import UNSEEN
from nfh_tui.workbench.answer import EARLY

from .conftest import COUNT
from .tmux import Tmux

Read = Callable[[int], AnchorItem]


@pytest.fixture
def desk(terminal: Tmux, database: Path) -> Tmux:
    """The workbench at the first of five items with an answer to accept, the guard on."""
    with Store.open(database) as store:
        for name in ("ann1", "ann2", "ann3"):
            who = store.people.ensure(name)
            for anchor_id in next(store.queue.ids(parse(""), who)):
                answer = class_answer(Kind.TIME)
                store.edits.commit_answer(anchor_id, who, Role.ANNOTATOR, answer)
    terminal.type(f"NFH_TUI_GUARD=on {terminal.program} adjudicate --db {database} --as edith")
    terminal.press("Enter")
    terminal.until("Item 1", "ADJUDICATE", "1/5", "Time")
    time.sleep(0.5)
    return terminal


def decided(read: Read) -> list[int]:
    items = {place: read(place) for place in range(1, COUNT + 1)}
    return [
        place
        for place, item in items.items()
        if item.gold is not None and item.gold.rule is Rule.EXPERT
    ]


def test_a_pasted_enter_accepts_one_item(desk: Tmux, read: Read) -> None:
    desk.press(*["Enter"] * 10)
    desk.until("2/5", EARLY)
    time.sleep(0.5)
    desk.press("Enter")
    desk.until("3/5", "saved")
    assert decided(read) == [1, 2]


@pytest.mark.parametrize("begins", [0.66, pytest.param(0.3, marks=pytest.mark.long)])
def test_a_held_enter_accepts_one_item(desk: Tmux, read: Read, begins: float) -> None:
    desk.press("Enter")
    time.sleep(begins)
    for _ in range(30):
        desk.press("Enter")
        time.sleep(0.02)
    desk.until("2/5", EARLY)
    assert decided(read) == [1]


def test_keys_that_name_an_answer_are_typed_as_fast_as_one_likes(
    desk: Tmux, read: Read
) -> None:
    desk.press("y", "Enter", "a", "Enter", "t", "Enter", "x", "Enter", "Enter", "Enter")
    desk.until("5/5", EARLY)
    assert decided(read) == [1, 2, 3, 4]
    kinds = [read(place).gold for place in range(1, COUNT)]
    assert [gold and gold.answer.kind.value for gold in kinds] == [
        "YEAR",
        "AGE",
        "TIME",
        "NOT_NFH",
    ]


def test_a_review_sheet_accepts_and_ticks_what_was_seen_and_loses_no_key(
    desk: Tmux, read: Read
) -> None:
    desk.resize(100, 12)
    # The keys after C go to the first of two sheets, which has three of the five items.
    desk.press("C", "j", "j", "x", "Enter", "Enter")
    desk.until("▌ 3 ☑", "3 of 3 ticked", EARLY_SHEET)
    assert decided(read) == []
    time.sleep(1.2)
    desk.press("k", "Space", "Space", "x", *["Enter"] * 10, *["Space"] * 9, "*")
    desk.until("▌ 1 ☑ …4", "2 of 2 ticked", UNSEEN)
    assert decided(read) == [1, 3]
    gold = read(3).gold
    assert gold is not None
    assert gold.answer.kind is Kind.NOT_NFH
    # Rows that a higher window brings into view are read first, too.
    desk.press("z")
    desk.until("▌ 1 ☑ …1")
    time.sleep(1.2)
    desk.resize(100, 20)
    desk.until("5 ☑ …5")
    desk.press("Enter")
    desk.until(EARLY_SHEET)
    desk.press("q", "j")
    desk.until("ADJUDICATE", "2/5")
    assert decided(read) == []
