"""e changes the guidelines: here or in one's own editor; saved it is a version, or it waits."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nfh_db.store import Store
from nfh_tui.screens.dialogs import ChooseDialog
from nfh_tui.screens.guidelines import GuidelinesEditor, draft_of
from nfh_tui.services import guidelines
from nfh_tui.services.guidelines import BEGUN, GuidelinesError
from tests.nfh_tui.guidelines.test_screen import drawn


async def opened(desk) -> None:
    await desk.press("f5")
    await drawn(desk)
    await desk.press("e")


def versions(path: Path) -> list[tuple[int, str | None]]:
    with Store.open(path) as store:
        return [(one.version, one.by) for one in store.guidelines.all()]


def begun(path: Path) -> str | None:
    with Store.open(path) as store:
        found = draft_of(store.settings.read(f"{BEGUN}.edith"))
    return None if found is None else found.text


async def test_a_change_is_saved_as_a_version(guided, open_desk) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        assert isinstance(desk.app.screen, GuidelinesEditor)
        await desk.press("N", "o", "t", "e", "enter", "escape")
        assert "Save as version 2" in desk.text()
        await desk.press("enter")
        await drawn(desk)
        assert "version 2 saved" in desk.text()
        assert desk.state.guidelines.version == 1
        await desk.press("escape")
        assert desk.state.guidelines.version == 2
    assert versions(guided) == [(1, None), (2, "edith")]
    assert begun(guided) is None
    with Store.open(guided) as store:
        assert store.guidelines.read().body.startswith("Note\n# Few rules")


async def test_nothing_changed_is_no_version_and_a_text_without_sound_rules_waits(
    guided, open_desk
) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        await desk.press("escape")
        assert "nothing changed" in desk.text()
        await desk.press("escape")
        await opened(desk)
        await desk.press(*"## x", "enter", "escape")
        assert isinstance(desk.app.screen, ChooseDialog)
        said = desk.text()
        assert "This cannot be a version yet: line 1" in said
        assert "Save as version" not in said
        await desk.press("enter")
        # On with it, the cursor in the line that is wrong.
        assert "This cannot be a version yet" in desk.text()
        await desk.press("escape", "j", "enter")
        assert "kept as a draft" in desk.text()
    assert versions(guided) == [(1, None)]
    assert begun(guided).startswith("## x\n")


async def test_what_is_typed_survives_a_crash_and_can_be_thrown_away(guided, open_desk) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        await desk.press("A", "B", "enter")
        await desk.app.screen_stack[-2].editing._writer.flush()
        assert begun(guided).startswith("AB\n")
        # The program ends with the text open.
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        assert "Continue with your draft" in desk.text()
        await desk.press("enter")
        assert "AB" in desk.text()
        await desk.press("escape", "end", "enter")
        assert "discarded" in desk.text()
    assert begun(guided) is None
    assert versions(guided) == [(1, None)]


async def test_somebody_else_was_faster(guided, text, open_desk) -> None:
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        await desk.press("X", "enter", "escape")
        with Store.open(guided) as store:
            store.guidelines.add(text.replace("Widen", "Stretch"), store.people.ensure("bob"))
        await desk.press("enter")
        await drawn(desk)
        assert "Version 2 of the guidelines was saved by bob since" in desk.text()
        await desk.press("e")
        assert "yours would replace it" in desk.text()
        await desk.press("enter", "escape", "enter")
        await drawn(desk)
        assert "version 3 saved" in desk.text()
    assert versions(guided) == [(1, None), (2, "bob"), (3, "edith")]


# --- an editor of one's own -------------------------------------------------------------


def command(tmp_path: Path, program: str) -> str:
    script = tmp_path / "my editor.py"
    script.write_text(f"import sys, pathlib\np = pathlib.Path(sys.argv[1])\n{program}\n")
    return f"{sys.executable} '{script}'"


async def test_ones_own_editor_is_opened(guided, open_desk, tmp_path, monkeypatch) -> None:
    change = 'p.write_text(p.read_text().replace("Widen it", "Widen it all"))'
    monkeypatch.setenv("VISUAL", command(tmp_path, change))
    async with open_desk(query="id:1", path=guided) as desk:
        monkeypatch.setattr(desk.app, "suspend", lambda: suspended())
        await opened(desk)
        assert "R1 changed" in desk.text()
        await desk.press("enter")
        await drawn(desk)
        assert "version 2 saved: R1 changed" in desk.text()


@contextmanager
def suspended() -> Iterator[None]:
    yield


async def test_where_no_terminal_can_be_lent_the_text_is_typed_here_and_a_failure_is_named(
    guided, open_desk, monkeypatch
) -> None:
    monkeypatch.setenv("EDITOR", "false")
    async with open_desk(query="id:1", path=guided) as desk:
        await opened(desk)
        assert isinstance(desk.app.screen, GuidelinesEditor)
        await desk.press("escape", "escape")
        monkeypatch.setattr(desk.app, "suspend", lambda: suspended())
        await opened(desk)
        assert "ended with status 1" in desk.text()
    assert versions(guided) == [(1, None)]


def test_the_text_goes_out_and_back(tmp_path, monkeypatch) -> None:
    assert guidelines.edited("a\nb", command(tmp_path, "")) == "a\nb"
    bom = 'p.write_bytes(b"\\xef\\xbb\\xbfx")'
    assert guidelines.edited("a", command(tmp_path, bom)) == "x"
    with pytest.raises(GuidelinesError, match="cannot be started"):
        guidelines.edited("a", "/no/such/editor")
    with pytest.raises(GuidelinesError, match=r"not UTF-8 at byte 1.*guidelines.md"):
        guidelines.edited("a", command(tmp_path, 'p.write_bytes(b"x\\xff")'))
    with pytest.raises(GuidelinesError, match="cannot be started"):
        guidelines.edited("a", "un'closed")


def test_what_is_begun_is_read_from_anything() -> None:
    for body in (None, "", "x", "[]", '{"after": "x", "text": ""}', "null", '{"after": 1}'):
        assert draft_of(body) is None
    assert draft_of('{"after": 2, "text": "t"}').text == "t"
