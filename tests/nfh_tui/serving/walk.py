"""Every act of the registry done in a visitor's workbench, each question answered with yes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from textual.screen import Screen
from textual.widgets import Input

from nfh_db.connection import sqlite3
from nfh_db.jobs import JobState, NewJob
from nfh_db.query import parse
from nfh_db.records import FlagName, Prediction, QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import IMPLICIT_KINDS, Kind, Passage, class_answer
from nfh_tui.actions import ACTIONS, Action
from nfh_tui.app import WorkbenchApp
from nfh_tui.jobs.training import new_job
from nfh_tui.screens.base import SideScreen
from nfh_tui.screens.guidelines import GuidelinesEditor
from nfh_tui.services.guidelines import first_text
from nfh_tui.widgets.input_bar import InputBar
from tests.nfh_tui.workbench.conftest import Desk

from .real import make_database

Rows = dict[str, dict[tuple[object, ...], dict[str, object]]]
"""By table the rows by their keys, each by column."""

OTHER = "eva"
REFUSED = ("You were invited to",)
LEAVE = frozenset({"quit", "out"})
"""Acts that end the walk, or go back on it; the first is walked last."""


def furnish(path: Path, *names: str) -> None:
    """A database in which others have done all that a guest might undo or change."""
    make_database(path)
    with Store.open(path) as store:
        for name in names:
            store.people.ensure(name)
        other = store.people.ensure(OTHER)
        ids = [one for few in store.queue.ids(parse(""), other) for one in few]
        for one, kind in zip(ids, (Kind.AGE, Kind.YEAR), strict=False):
            store.edits.commit_answer(one, other, Role.ADJUDICATOR, class_answer(kind))
        store.edits.commit_answer(ids[3], other, Role.ANNOTATOR, class_answer(Kind.AGE))
        store.edits.set_flag(ids[0], other, FlagName.AMBIGUOUS, True)
        store.workspace.save_draft(ids[4], other, Role.ANNOTATOR, "{}")
        store.workspace.save_position(other, "annotate", QueuePosition("", ids[2], 0))
        store.workspace.save_view(other, "hers", "state:open")
        store.settings.write(f"theme.{OTHER}", "textual-dark")
        store.guidelines.add_first(first_text())
        read = store.items.passages(ids[:3])
        for number, name in enumerate(("one", "two")):
            model = store.models.ensure(name, "resolution", "nearest", str(number))
            store.predictions.save(
                model, [(one, _said(name, passage)) for one, (passage, _) in read.items()]
            )
        store.jobs.add(new_job("resolution", "linear", asked_by=OTHER))
        failed = store.jobs.add(NewJob("train", 2, "resolution", {}, OTHER))
        store.jobs.end(failed, JobState.FAILED, "no room")


def _said(name: str, passage: Passage) -> Prediction:
    scores = (0.5,) * (len(IMPLICIT_KINDS) + len(passage.tokens))
    return Prediction(name, "AGE", "YEAR", 0.1, scores)


def dump(path: Path) -> Rows:
    """All that stands in a database, no table left out."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        names = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        return {name: dict(_rows(connection, name)) for name in names}


def _rows(
    connection: sqlite3.Connection, table: str
) -> Iterator[tuple[tuple[object, ...], dict[str, object]]]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    keys = [one["name"] for one in columns if one["pk"]] or [one["name"] for one in columns]
    for row in connection.execute(f'SELECT * FROM "{table}"'):
        values = dict(row)
        yield tuple(values[key] for key in keys), values


def changed(before: Rows, after: Rows) -> dict[str, list[dict[str, object]]]:
    """By table the rows that came, went or changed, as they were and as they are."""
    found = {}
    for table in before.keys() | after.keys():
        was, now = before.get(table, {}), after.get(table, {})
        rows = [
            row
            for key in was.keys() | now.keys()
            if was.get(key) != now.get(key)
            for row in (was.get(key), now.get(key))
            if row is not None
        ]
        if rows:
            found[table] = rows
    return found


def bar_open(screen: SideScreen) -> bool:
    """Whether a screen beside asks something in a bar of its own."""
    return any(bar.is_open for bar in screen.query(InputBar))


class Walk:
    """A visitor's workbench that is walked through. said: by act, what was said of it."""

    def __init__(self, desk: Desk, app: WorkbenchApp) -> None:
        self.desk = desk
        self.app = app
        self.said: dict[str, str] = {}

    async def all(self) -> None:
        """Do each act of the workbench, then each of the screens beside it."""
        for action in ACTIONS:
            if not action.where and action.id not in LEAVE:
                await self._act(action)
        for action in ACTIONS:
            if action.id.startswith("screen."):
                await self.beside(action)

    async def _act(self, action: Action) -> None:
        screen = self.desk.screen
        await self.home()
        if action.keys:
            await self.desk.pilot.press(action.keys[0])
        else:
            screen.action_act(action.id)
        await self.desk.settle()
        self.said[action.id] = self.desk.said
        await self._answer()

    async def beside(self, opener: Action) -> None:
        """Do every act of a screen beside, which is opened anew where an act has left it."""
        shown: SideScreen | None = None
        for action in [one for one in ACTIONS if one.where]:
            if action.of and opener.id not in action.of:
                continue
            if shown is None or self.app.screen is not shown:
                shown = await self._opened(opener)
            if shown is None:
                return
            shown.action_side(action.id)
            await self._rest()
            said = shown.status_line.status.say
            if said.startswith(REFUSED) or action.id not in self.said:
                self.said[action.id] = said
            await self._answer()

    async def _opened(self, opener: Action) -> SideScreen | None:
        """A screen beside, once it has read what it shows; None where it is refused."""
        await self.home()
        self.desk.screen.action_act(opener.id)
        for _ in range(500):
            await self.desk.pilot.pause(0.01)
            shown = self.app.screen
            if isinstance(shown, SideScreen):
                await self._rest()
                return shown
            if self.desk.said.startswith(REFUSED):
                return None
        raise AssertionError(f"{opener.id} opens nothing:\n{self.desk.text()}")

    async def _answer(self) -> None:
        """Say yes to whatever is asked, a few times over."""
        for _ in range(5):
            screen = self.app.screen
            if isinstance(screen, GuidelinesEditor):
                await self.desk.pilot.press("ctrl+end", "z", "escape")
            elif screen is self.desk.screen and self.desk.state.question_open:
                await self.desk.pilot.press(self.desk.screen.key_line.foot.keys[0][0])
            elif screen is self.desk.screen and self.desk.screen.bar.is_open:
                for key in ("a", "b"):
                    await self.desk.pilot.press(key)
                await self.desk.pilot.press("enter")
            elif isinstance(screen, SideScreen) and bar_open(screen):
                await self.desk.pilot.press("a", "enter")
            elif isinstance(screen, SideScreen) or screen is self.desk.screen:
                return
            else:
                focused = self.app.focused
                if isinstance(focused, Input):
                    await self.desk.pilot.press("a")
                await self.desk.pilot.press("enter")
                await self._closed(screen)
                if self.app.screen is screen:
                    await self.desk.pilot.press("y")
                    await self._closed(screen)
            await self._rest()

    async def _rest(self) -> None:
        """Wait until what was asked for is done, or asks something itself."""
        for _ in range(300):
            await self.desk.pilot.pause(0.01)
            screen = self.app.screen
            if screen is self.desk.screen:
                await self.desk.settle()
                if self.app.screen is screen:
                    return
            elif (
                not isinstance(screen, SideScreen)
                or not screen.runner._acting
                or bar_open(screen)
            ):
                return

    async def _closed(self, screen: Screen[Any]) -> None:
        """Wait until a dialog has closed, or nothing is left to run that closes it."""
        for _ in range(3):
            await self.desk.pilot.pause()
            if self.app.screen is not screen:
                return

    async def home(self) -> None:
        """Back to the workbench, with nothing open."""
        for _ in range(20):
            screen, over = self.desk.screen, self.app.screen
            if over is screen and not screen.state.question_open and not screen.bar.is_open:
                await self.desk.settle()
                return
            await self.desk.pilot.press("escape")
            await self._rest()
            if over is not screen:
                await self._closed(over)
        raise AssertionError(f"this does not close: {self.desk.text()}")
