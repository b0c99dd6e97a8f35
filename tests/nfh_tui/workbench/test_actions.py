"""One registry: bindings, footer, help, palette and tables say the same."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import pytest
from textual._xterm_parser import XTermParser
from textual.command import DiscoveryHit, Hit

from nfh_tui.actions import (
    ACTIONS,
    APP_KEYS,
    BY_ID,
    FOOT_KEYS,
    GROUPS,
    PANE_GROUPS,
    Mode,
    foot_actions,
    key_table_text,
    table_lines,
)
from nfh_tui.editor.commands import ACTIONS as EDITOR_ACTIONS
from nfh_tui.screens.dialogs import ActionProvider, help_rows
from nfh_tui.workbench.controller import Controller
from nfh_tui.workbench.screen import Workbench

DOCS = Path(__file__).parents[3] / "docs"
KEYS_PAGE = DOCS / "keys.md"
KEY_TABLE: str = run_path(str(DOCS / "readme_tables.py"))["key_table"]()
BEGIN, END = "<!-- keys:start -->", "<!-- keys:end -->"

WORKBENCH = [action for action in ACTIONS if not action.where]

DESIGN_KEYS = {
    "j": "queue.next",
    "k": "queue.previous",
    "g": "queue.first",
    "G": "queue.last",
    "right_square_bracket": "queue.next_undecided",
    "left_square_bracket": "queue.previous_undecided",
    "r": "kind.reference",
    "y": "kind.year",
    "a": "kind.age",
    "c": "kind.currency",
    "p": "kind.people",
    "t": "kind.time",
    "o": "kind.other",
    "n": "kind.unknown",
    "x": "kind.not_nfh",
    "d": "kind.broken",
    "f": "hint.start",
    "h": "cursor.left",
    "l": "cursor.right",
    "left": "cursor.left",
    "right": "cursor.right",
    "w": "cursor.next_noun",
    "b": "cursor.previous_noun",
    "space": "head.toggle",
    "v": "span.grow",
    "V": "span.shrink",
    "asterisk": "mentions.all",
    "backspace": "head.drop_last",
    "ampersand": "relation.and",
    "vertical_line": "relation.or",
    **{str(n): f"adopt.{n}" for n in range(1, 10)},
    "m": "adopt.model",
    "u": "adopt.union",
    "i": "adopt.intersection",
    "0": "adopt.nobody",
    "enter": "accept",
    "s": "skip",
    "plus": "anchor.widen",
    "minus": "anchor.narrow",
    "z": "undo",
    "Z": "redo",
    "L": "history",
    "H": "heat",
    "B": "blind",
    "slash": "search",
    "colon": "query",
    "question_mark": "help",
    "ctrl+p": "palette",
    "exclamation_mark": "flag",
    "semicolon": "comment",
    "Y": "copy",
    "tab": "pane.next",
    "escape": "out",
    "q": "quit",
}


def test_the_keys_are_those_of_the_design() -> None:
    found = {key: action.id for action in WORKBENCH for key in action.keys}
    assert {key: found.get(key) for key in DESIGN_KEYS} == DESIGN_KEYS


def test_ids_are_unique_and_groups_are_known() -> None:
    assert len(BY_ID) == len(ACTIONS)
    assert {action.group for action in ACTIONS} == set(GROUPS)
    assert {group for groups in PANE_GROUPS.values() for group in groups} <= set(GROUPS)


@pytest.mark.parametrize("where", ["", "side"])
@pytest.mark.parametrize("mode", Mode)
def test_no_key_does_two_things_in_a_mode(mode: Mode, where: str) -> None:
    there = [a for a in ACTIONS if mode in a.modes and a.where == where]
    keys = Counter(key for a in there for key in a.keys)
    assert [key for key, count in keys.items() if count > 1] == []


def test_no_key_needs_what_terminals_do_not_send() -> None:
    eaten = APP_KEYS | {"ctrl+h", "ctrl+m", "ctrl+i", "ctrl+b", "ctrl+a", "f11"}
    keys = {key for action in ACTIONS for key in action.keys}
    assert not keys & eaten
    others = {key for action in ACTIONS for key in action.keys if "adopt.go." not in action.id}
    assert not [key for key in others if key.startswith(("alt+", "ctrl+shift", "super"))]


def test_alt_with_a_digit_is_read_as_terminals_send_it() -> None:
    for number in range(1, 10):
        for sent in (f"\x1b{number}", f"\x1b[{48 + number};3u"):
            keys = [event.key for event in XTermParser().feed(sent * 2)]
            assert keys == [f"alt+{number}"] * 2
    # Keys of some keyboards; they must not adopt anything.
    pressed = [event.key for event in XTermParser().feed("£§¡•")]
    assert len(pressed) == 4
    assert not [action.id for action in ACTIONS if set(action.keys) & set(pressed)]


async def test_each_action_of_the_workbench_has_one_handler(open_desk) -> None:
    async with open_desk() as desk:
        controllers = [one for one in vars(desk.screen).values() if isinstance(one, Controller)]
        given = Counter(action_id for one in controllers for action_id in one.handlers())
        assert {action_id for action_id, n in given.items() if n > 1} == set()
        assert desk.screen.handlers.keys() == {action.id for action in WORKBENCH}
        assert EDITOR_ACTIONS & desk.screen.handlers.keys()


def test_bindings_carry_the_ids_of_the_registry() -> None:
    bound = {(b.id, b.key) for b in Workbench.BINDINGS}  # type: ignore[union-attr]
    assert bound == {(a.id, ",".join(a.keys)) for a in WORKBENCH if a.keys}


@pytest.mark.parametrize("mode", Mode)
def test_at_most_six_keys_at_the_foot_and_quit_and_help_among_them(mode: Mode) -> None:
    there = [action for action in ACTIONS if mode in action.modes and not action.where]
    shown = foot_actions(there)
    assert 2 < len(shown) <= FOOT_KEYS
    assert {"help", "quit"} <= {action.id for action in shown}
    assert all(mode in action.modes and action.short for action in shown)


def plain_help(pane: str, mode: Mode) -> list[tuple[str, str]]:
    return [(keys.plain.strip(), words.plain) for keys, words in help_rows(pane, mode)]


@pytest.mark.parametrize("pane", PANE_GROUPS)
def test_help_has_every_key_and_those_of_the_pane_first(pane: str) -> None:
    rows = plain_help(pane, Mode.ADJUDICATE)
    for action in ACTIONS:
        if action.keys:
            titles = [words for keys, words in rows if keys == action.shown]
            assert any(words.startswith(action.listed or action.title) for words in titles)
    assert rows[0] == ("", PANE_GROUPS[pane][0])


def test_help_tells_in_which_mode_a_key_works() -> None:
    reading, annotating = (plain_help("passage", m) for m in (Mode.BROWSE, Mode.ANNOTATE))
    assert ("", "Deciding  in annotate and adjudicate") in reading
    assert ("", "Deciding") in annotating
    flag = next(words for keys, words in reading if keys == "!")
    assert flag.startswith("Flag  in annotate and adjudicate")


def test_the_tables_have_one_line_an_act_and_join_the_digits() -> None:
    lines = list(table_lines())
    assert sum(line.keys == "1–9" for line in lines) == 1
    listed = {a.listed or a.id for a in ACTIONS if a.keys}
    assert len(lines) == len(listed) < sum(bool(a.keys) for a in ACTIONS) - 8
    text, markdown = key_table_text(), KEY_TABLE
    assert all(line.title in text and line.title in markdown for line in lines)
    assert "`\\|`" in markdown


def test_markdown_rows_have_two_cells() -> None:
    for row in KEY_TABLE.splitlines():
        assert row.replace("\\|", "").count("|") == 3


def test_the_page_of_keys_has_the_same_table() -> None:
    text = KEYS_PAGE.read_text(encoding="utf-8")
    between = text.split(BEGIN, 1)[1].split(END, 1)[0]
    assert between.strip() == KEY_TABLE.strip()


async def test_the_palette_has_every_act_by_name(open_desk: Callable[..., object]) -> None:
    async with open_desk() as desk:  # type: ignore[attr-defined]
        provider = ActionProvider(desk.screen)
        found = [hit async for hit in provider.discover() if isinstance(hit, DiscoveryHit)]
        elsewhere = [action for action in ACTIONS if action.of]
        assert len(found) == len(WORKBENCH) - 1 + len(elsewhere)
        hits = [hit async for hit in provider.search("withdraw") if isinstance(hit, Hit)]
        assert str(hits[0].match_display).startswith("Withdraw my answer")


async def test_an_act_of_the_palette_is_done(open_desk: Callable[..., object]) -> None:
    async with open_desk() as desk:  # type: ignore[attr-defined]
        await desk.press("ctrl+p")
        await desk.pilot.press(*"nextitem")
        await desk.pilot.pause(0.3)
        await desk.pilot.press("enter")
        await desk.pilot.pause(0.3)
        await desk.settle()
        assert desk.state.position.index == 1
