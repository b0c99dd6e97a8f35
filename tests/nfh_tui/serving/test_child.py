"""What the workbench of a visitor does otherwise than that of a terminal."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from nfh_db.store import Store
from nfh_tui.actions import Mode
from nfh_tui.app import WorkbenchApp
from nfh_tui.screens.guidelines import GuidelineEditing, GuidelinesScreen
from nfh_tui.serving.child import RemotePredictor, visitor_app
from tests.nfh_tui.workbench.conftest import Desk

from .real import make_database

Open = Callable[..., "AsyncIterator[tuple[Desk, WorkbenchApp]]"]


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small database; no predictor and no proposal withheld by chance."""
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda item, me: False)
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = tmp_path / "some" / "child.db"
    path.parent.mkdir()
    make_database(path)
    with Store.open(path) as store:
        # As the server does before it lets anybody in.
        store.people.ensure("kim")
    return path


@pytest.fixture
def visitor(database: Path) -> Open:
    """Opens a visitor's workbench: `async with visitor(mode) as (desk, app)`."""

    @asynccontextmanager
    async def opened(mode: str) -> AsyncIterator[tuple[Desk, WorkbenchApp]]:
        app = visitor_app(database, "kim", mode)
        try:
            async with app.run_test(size=(120, 40)) as pilot:
                desk = Desk(app, pilot)
                await desk.settle()
                yield desk, app
        finally:
            app.close()

    return opened


@pytest.mark.parametrize("mode", [Mode.ANNOTATE, Mode.BROWSE])
async def test_who_was_invited_to_annotate_or_read_cannot_do_more(
    visitor: Open, mode: Mode
) -> None:
    async with visitor(mode) as (desk, _):
        await desk.press("M")
        assert desk.state.mode is mode
        assert "You were invited to" in desk.said
        for act in ("mode.adjudicate", "mode.annotate", "mode.browse"):
            desk.screen.action_act(act)
            await desk.settle()
            assert desk.state.mode is mode


async def test_who_was_invited_to_decide_may_do_all(visitor: Open) -> None:
    async with visitor(Mode.ADJUDICATE) as (desk, _):
        await desk.press("M")
        assert desk.state.mode is Mode.BROWSE


async def test_a_file_goes_to_the_browser_and_not_beside_the_database(
    visitor: Open, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with visitor(Mode.ANNOTATE) as (desk, app):
        given: dict[str, str] = {}
        monkeypatch.setattr(
            app,
            "deliver_text",
            lambda text, save_filename: given.update({save_filename: text.read()}),
        )
        before = set(database.parent.iterdir())
        await desk.press("Y", "f")
        (name,) = given
        assert name.startswith("item-")
        assert "boots" in given[name]
        assert "goes to your browser" in desk.said
        assert set(database.parent.iterdir()) == before


async def test_predictions_are_asked_of_the_server(
    visitor: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NFH_TUI_PREDICTOR")
    asked: list[list[int]] = []
    monkeypatch.setattr(
        "nfh_tui.serving.child.ask_server",
        lambda app, anchors: asked.append(list(anchors)),
    )
    async with visitor(Mode.ADJUDICATE) as (desk, _):
        await desk.press("j")
        assert isinstance(desk.screen.predictions._predictor, RemotePredictor)
        assert desk.screen.predictions._predictor.pid is None
        assert desk.state.stored_item.anchor_id in {one for few in asked for one in few}


async def test_who_reads_has_nothing_predicted(
    visitor: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NFH_TUI_PREDICTOR")
    async with visitor(Mode.BROWSE) as (desk, _):
        await desk.press("j")
        assert desk.screen.predictions._predictor is None


@pytest.mark.parametrize(("mode", "may"), [(Mode.ANNOTATE, False), (Mode.ADJUDICATE, True)])
async def test_only_who_may_decide_edits_the_guidelines(
    visitor: Open, mode: Mode, may: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited: list[bool] = []
    monkeypatch.setattr(GuidelineEditing, "edit", lambda self: edited.append(True))
    async with visitor(mode) as (desk, app):
        await desk.pilot.press("f5")
        while not isinstance(app.screen, GuidelinesScreen):
            await desk.pilot.pause(0.05)
        await desk.pilot.press("e")
        await desk.pilot.pause()
        assert bool(edited) is may
        assert ("You were invited to" in app.screen.status_line.status.say) is not may
