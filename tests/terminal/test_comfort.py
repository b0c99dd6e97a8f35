"""What a person may settle of the terminal: the mouse, the tour; and what stays as it was."""

import re
from pathlib import Path

from .tmux import PROMPT, Tmux

MOUSE = ("mouse_any_flag", "mouse_sgr_flag")


def test_without_the_mouse_the_terminal_keeps_it(terminal: Tmux, database: Path) -> None:
    folder = terminal.data_folder / "nfh-tui"
    folder.mkdir(parents=True)
    (folder / "nfh-tui.toml").write_text("[workbench]\nmouse = false\n", encoding="utf-8")
    terminal.start(f"adjudicate --db {database} --as edith")
    terminal.until("Item 1", "ADJUDICATE edith", "1/5")
    assert [terminal.told(name) for name in MOUSE] == ["0", "0"]
    terminal.press("y", "Enter")
    terminal.until("saved", "2/5")
    terminal.press("q")
    text = terminal.until(PROMPT, without="ADJUDICATE")
    assert "[<" not in text
    assert "2026;" not in text


def test_the_mouse_is_still_reported_after_a_session_was_left(desk: Tmux) -> None:
    with desk.attached(120, 40):
        assert [desk.told(name) for name in MOUSE] == ["1", "1"]
    with desk.attached(60, 20):
        # Tmux cuts the old screen off at once: the program's own words say that it has moved.
        desk.until("Item 1", "tab: evidence, queue")
        assert [desk.told(name) for name in MOUSE] == ["1", "1"]
        # A click on the word under the pointer, as terminals report it.
        before = desk.looks()
        desk.type("\x1b[<0;20;2M\x1b[<0;20;2m")
        # Textual hands a click on later than a key: the cursor is to be there first.
        desk.until_true(lambda _: desk.looks() != before, "the cursor elsewhere")
        desk.press("space")
        desk.until("Reference")


def test_the_tour_comes_once_to_who_is_new(terminal: Tmux, database: Path) -> None:
    terminal.type(f"NFH_TUI_TOUR=on {terminal.program} adjudicate --db {database} --as new")
    terminal.press("Enter")
    terminal.until("Item 1", "1 of 6")
    terminal.press("Escape")
    terminal.until("Item 1", without="1 of 6")
    terminal.press("q")
    terminal.until(PROMPT, without="ADJUDICATE")
    terminal.start(f"adjudicate --db {database} --as new")
    terminal.until("Item 1", without="1 of 6")


def test_a_size_that_the_shell_states_does_not_fix_the_screen(
    terminal: Tmux, database: Path
) -> None:
    terminal.type(
        f"COLUMNS=70 LINES=20 {terminal.program} adjudicate --db {database} --as edith"
    )
    terminal.press("Enter")
    text = terminal.until("Item 1", "ADJUDICATE", "Evidence")
    assert "Queue" in text and "tab:" not in text, "120 columns, as the terminal has"
    assert "enter accept" in text.splitlines()[39]


def test_an_encoding_without_the_signs_is_a_sentence(terminal: Tmux, database: Path) -> None:
    program = f"PYTHONIOENCODING=latin-1 {terminal.program}"
    terminal.type(f"{program} adjudicate --db {database} --as edith")
    terminal.press("Enter")
    terminal.until("encoding, iso8859-1, lacks signs", "nfh-tui adjudicate")


def test_in_256_colours_the_grounds_are_greys(terminal: Tmux, database: Path) -> None:
    terminal.start(f"adjudicate --db {database} --as edith")
    terminal.until("Item 1", "ADJUDICATE")
    grounds = {int(n) for n in re.findall(r"48;5;(\d+)", terminal.looks())}
    assert grounds == {233, 234, 235}
