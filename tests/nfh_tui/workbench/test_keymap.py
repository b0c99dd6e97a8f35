"""People may give acts other keys; what cannot be is told, and one can always quit."""

from pathlib import Path

import pytest
from textual.keys import Keys, _character_to_key

from nfh_tui.actions import ACTIONS, key_table_text
from nfh_tui.config import apply, config_files, is_key, key_name, read


def load(path: Path):
    """The keys of an older file, with no newer one beside it."""
    return read(path.with_name("none.toml"), path).keymap


def keys_file() -> Path:
    return config_files()[1]


def keys_of(keymap, action_id):
    return next(a.keys for a in keymap.actions if a.id == action_id)


def test_without_a_file_the_keys_are_those_of_the_registry(tmp_path: Path):
    assert load(tmp_path / "keys.toml").actions is ACTIONS


def test_acts_get_other_keys_by_character_or_name(tmp_path: Path):
    path = tmp_path / "keys.toml"
    path.write_text('[keys]\n"help" = "§, f9"\n"withdraw" = "ctrl+w"\n', encoding="utf-8")
    keymap = load(path)
    assert keymap.troubles == ()
    assert keys_of(keymap, "help") == ("section_sign", "f9")
    assert keymap.action_of("f9") == "help"
    assert keymap.action_of("question_mark") is None
    assert keymap.action_of("ctrl+w") == "withdraw"
    assert keymap.own == {"help": "section_sign,f9", "withdraw": "ctrl+w"}


def test_two_acts_may_change_places():
    keymap = apply({"queue.next": "k", "queue.previous": "j"})
    assert keymap.troubles == ()
    assert keymap.action_of("k") == "queue.next"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"queue.nxt": "n"}, "there is no such action"),
        ({"queue.next": 5}, "as a string"),
        ({"queue.next": " , "}, "one or more keys"),
        ({"queue.next": "ctrl+q"}, "cannot be reassigned"),
        ({"queue.next": "y"}, "belongs to kind.year"),
        ({"queue.next": "é", "queue.last": "é"}, "belongs to queue.next"),
    ],
)
def test_what_cannot_be_is_left_out_and_told(wanted, words):
    keymap = apply(wanted)
    assert len(keymap.troubles) == 1
    assert words in keymap.troubles[0]
    assert keymap.action_of("j") in {"queue.next", None}
    assert keymap.action_of("y") == "kind.year"


@pytest.mark.parametrize("content", [b"[keys", b"\xff\xfe", b"keys = 3"])
def test_a_file_that_is_no_such_file_changes_nothing(tmp_path: Path, content: bytes):
    path = tmp_path / "keys.toml"
    path.write_bytes(content)
    assert load(path).actions == ACTIONS


@pytest.mark.parametrize("character", "?/:;!&|*+-<>={}[]@_~^$%#'\"\\`.,()§ é9")
def test_characters_have_the_names_that_textual_gives_them(character: str):
    assert key_name(character) == _character_to_key(character)


async def test_they_work_and_stand_at_the_foot_and_in_the_help(open_desk):
    path = keys_file()
    path.parent.mkdir(parents=True)
    path.write_text('[keys]\n"quit" = "Q"\n"queue.next" = "f7"\n', encoding="utf-8")
    async with open_desk() as desk:
        assert "Q quit" in desk.text()
        await desk.press("f7")
        assert desk.state.position.index == 1
        await desk.press("j", "q")
        assert desk.state.position.index == 1
        assert desk.app.is_running
        await desk.press("tab", "tab", "question_mark")
        assert "f7" in desk.text()


async def test_troubles_are_told_when_the_workbench_opens(open_desk):
    path = keys_file()
    path.parent.mkdir(parents=True)
    path.write_text('[keys]\n"[/b]" = "q"\n', encoding="utf-8")
    async with open_desk() as desk:
        for _ in range(100):
            await desk.pilot.pause(0.02)
            if "there is no such action" in desk.text():
                break
        assert "[/b]: there is no such action" in desk.text()
        await desk.press("escape", "j")
        assert desk.state.position.index == 1


@pytest.mark.parametrize(
    "key",
    [
        "[red]",
        "notakey",
        "\u202e",
        "\0",
        "ctrl+",
        "ctrl+nokey",
        "hold+x",
        "f25",
        "right_to_left",
    ],
)
def test_a_key_that_no_keyboard_has_is_told(key):
    keymap = apply({"queue.next": f"n, {key}"})
    assert keymap.actions is ACTIONS
    assert "is not a key; wanted a character, or a name" in keymap.troubles[0]
    assert keymap.troubles[0].isprintable()


def test_every_key_that_textual_knows_is_one():
    known = {key.value for key in Keys if not key.value.startswith("<")}
    odd = {"ctrl-at", "ctrl+@"}
    assert [key for key in known - odd if not is_key(key)] == []
    given = {key for action in ACTIONS for key in action.keys}
    assert [key for key in given if not is_key(key)] == []
    signs = [chr(code) for code in range(0x21, 0x250) if chr(code).isprintable()]
    assert [sign for sign in signs if not is_key(_character_to_key(sign))] == []
    assert is_key("ctrl+shift+up")
    assert is_key("§")


def test_long_keys_leave_the_column_of_titles_straight():
    long = "ctrl+f1, ctrl+f2, ctrl+f3, ctrl+f4"
    for keys in ("f7, f8, f9, f10", long):
        text = key_table_text(apply({"queue.next": keys}).actions)
        rows = text.split("\n\n", 1)[0].splitlines()[1:]
        ends = {row.index(title) for row in rows for title in ("Next item", "Previous item")
                if row.endswith(title)}  # fmt: skip
        assert len(ends) == 1
