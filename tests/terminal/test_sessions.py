"""What a day in a terminal brings: a crash, a detached session, another size, an end."""

from collections.abc import Callable
from pathlib import Path

from nfh_db.records import AnchorItem, Rule
from nfh_models.domain import Kind

from .tmux import PROMPT, Tmux


def test_after_a_crash_place_answer_and_draft_are_there(
    desk: Tmux, database: Path, read: Callable[[int], AnchorItem]
) -> None:
    desk.press("a", "Enter")
    desk.until("saved", "2/5")
    desk.press("j")
    desk.until("3/5")
    desk.press("b", "Space")

    def kept(_: str) -> bool:
        # On disk a moment after the key.
        draft = read(3).draft
        return draft is not None and "REFERENCE" in draft.body

    desk.until_true(kept, "the draft")
    desk.kill_program()
    gold = read(1).gold
    assert gold is not None
    assert (gold.answer.kind, gold.rule) == (Kind.AGE, Rule.EXPERT)
    desk.start(f"adjudicate --db {database} --as edith")
    desk.until("3/5", "Item 3", "draft", "Reference")
    desk.press("Enter")
    desk.until("saved", "4/5")
    gold = read(3).gold
    assert gold is not None
    assert gold.answer.kind is Kind.REFERENCE


def test_a_session_is_left_and_seen_again_in_another_size(
    desk: Tmux, read: Callable[[int], AnchorItem]
) -> None:
    with desk.attached(120, 40):
        desk.press("y")
        desk.until("Year", without="nothing chosen yet")
    with desk.attached(80, 24):
        desk.until_true(lambda _: desk.size()[0] == 80, "80 columns")
        text = desk.until("Year", "Item 1", "Evidence", without="Queue")
        assert max(len(line) for line in text.splitlines()) <= 80
        desk.press("Enter")
        desk.until("saved", "2/5")
    with desk.attached(120, 40):
        desk.until("Queue", "Evidence", "Item 2")
        desk.press("p", "Enter")
        desk.until("3/5")
    gold = [read(place).gold for place in (1, 2)]
    assert [one and one.answer.kind for one in gold] == [Kind.YEAR, Kind.PEOPLE]


def test_a_terminal_of_60_by_20_is_enough_to_decide(
    desk: Tmux, read: Callable[[int], AnchorItem]
) -> None:
    desk.resize(60, 20)
    text = desk.until("Item 1", "1/5", without="Evidence")
    assert len(text.splitlines()) <= 20
    desk.press("t")
    desk.until("Time", without="nothing chosen yet")
    desk.press("Tab")
    desk.until("Evidence")
    desk.press("Enter")
    desk.until("saved")
    desk.resize(120, 40)
    desk.until("Evidence", "Item 2", "Queue")
    gold = read(1).gold
    assert gold is not None
    assert gold.answer.kind is Kind.TIME


def test_the_end_leaves_the_terminal_as_it_was(desk: Tmux) -> None:
    assert desk.told("alternate_on") == "1"
    desk.press("q")
    desk.until(PROMPT, without="ADJUDICATE")
    flags = {
        name: desk.told(name)
        for name in ("alternate_on", "mouse_any_flag", "mouse_sgr_flag", "cursor_flag")
    }
    assert flags == {
        "alternate_on": "0",
        "mouse_any_flag": "0",
        "mouse_sgr_flag": "0",
        "cursor_flag": "1",
    }
    desk.type("echo it-ended-with-$?")
    desk.press("Enter")
    desk.until("it-ended-with-0")


def test_ctrl_z_suspends_and_the_desk_comes_back_whole(
    desk: Tmux, read: Callable[[int], AnchorItem]
) -> None:
    desk.press("y")
    desk.type(";in the middle")
    desk.until("in the middle")
    desk.press("C-z")
    text = desk.until(PROMPT, without="ADJUDICATE")
    assert "[<" not in text
    flags = {
        name: desk.told(name) for name in ("alternate_on", "mouse_any_flag", "cursor_flag")
    }
    assert flags == {"alternate_on": "0", "mouse_any_flag": "0", "cursor_flag": "1"}
    draft = read(1).draft
    assert draft is not None
    assert "in the middle" in draft.body
    desk.type("echo still-$((40+2))")
    desk.press("Enter")
    desk.until("still-42")
    desk.resize(100, 30)
    desk.type("fg")
    desk.press("Enter")
    desk.until("Item 1", "ADJUDICATE", "Year", "in the middle", without="still-42")
    desk.press("Enter")
    desk.press("Enter")
    desk.until("saved", "2/5")
    gold = read(1).gold
    assert gold is not None
    assert (gold.answer.kind, gold.answer.comment) == (Kind.YEAR, "in the middle")


def test_keys_pressed_by_habit_are_answered(desk: Tmux) -> None:
    desk.press("C-s")
    desk.until("Drafts are saved as you type")
    desk.press("C-d")
    desk.until("q quits", "ends nothing here")
    desk.press("C-c")
    desk.until("q quits", without="ends nothing here")
    desk.press("C-x")
    desk.until("ctrl+x does nothing here")
    assert desk.told("alternate_on") == "1"
