"""What the pictures show: a walk through every screen, on the sample corpus, the clock stopped.

An application for each size and look is walked through: dialogs that are open keep the colours
that they were opened in, and NO_COLOR is read at the start.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest
from click.testing import CliRunner
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from nfh_db.query import parse
from nfh_db.records import AnchorItem, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_tui.app import WorkbenchApp
from nfh_tui.cli.main import commands
from nfh_tui.demo import ensure_demo
from nfh_tui.editor.commands import candidates
from nfh_tui.services import report_process
from nfh_tui.theme import DARK, LIGHT
from nfh_tui.workbench.screen import Workbench
from nfh_tui.workbench.session import IDLE, ItemClock
from tests.frames import drawn_lines

from .drawing import picture
from .jobs import make_jobs

Output = Callable[[Sequence[str], Path], Awaitable[str]]

QUERY = "disagree:noun state:disagree"
ME = "eva"
MODEL = "nearest"
LIMIT = 120.0
"""Seconds until a screen must have come to rest: some ask a child process."""

LARGE, SMALL = (120, 40), (80, 24)
LOOKS = ("dark", "light", "256", "256-light", "no-color")
MAIN = "adjudicate"
"""The scene that is taken in 256 colours, too."""


@dataclass(frozen=True)
class Scene:
    """One picture. keys: lead to it from the workbench; back: lead home again.

    size: the only one in which it is taken, None for both. act: done after the keys. minor:
    taken in dark only, since it is drawn by what other pictures show in every look. jobs:
    taken where jobs run, which the line of state tells of everywhere.
    """

    name: str
    keys: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    size: tuple[int, int] | None = None
    act: str = ""
    minor: bool = False
    jobs: bool = False

    def is_of(self, size: tuple[int, int], look: str) -> bool:
        """True if it is taken in this size and look."""
        if look.startswith("256") and self.name != MAIN:
            return False
        return self.size in {None, size} and (look == LOOKS[0] or not self.minor)


OUT = ("escape",)
ASKING = ("commands", "side.train")
"""Groups of workers that wait for whoever answers a dialog."""

SCENES = (
    Scene("adjudicate", ("H",)),
    Scene("queue", ("shift+tab",), ("tab",), SMALL),
    Scene("evidence", ("tab",), ("shift+tab",), SMALL),
    Scene("letters", ("f",), OUT),
    Scene("help", ("question_mark",), OUT),
    Scene("palette", ("ctrl+p",), OUT),
    Scene("history", ("L",), OUT, minor=True),
    Scene("search", ("slash", "m", "o"), OUT, minor=True),
    Scene("order", ("S",), OUT, minor=True),
    Scene("views", ("at",), OUT, minor=True),
    Scene("rule", ("R",), OUT, minor=True),
    Scene("precedents", ("P",), OUT, minor=True),
    Scene("bulk-menu", ("E",), OUT, minor=True),
    Scene("bulk-preview", ("E", "j", "enter"), OUT),
    Scene("tour", (), OUT, act="tour", minor=True),
    Scene("agreement", ("f2",), OUT),
    Scene("evaluation", ("f3",), OUT),
    Scene("jobs", ("f4",), OUT, jobs=True),
    Scene("job", ("f4", "tab"), ("tab", *OUT), SMALL, jobs=True),
    Scene("train", ("f4", "t", "j", "l"), OUT * 2, minor=True, jobs=True),
    Scene("model", ("f4", "G", "k", "k", "k", "tab"), ("tab", *OUT), minor=True, jobs=True),
    Scene("guidelines", ("f5",), OUT),
    Scene("decided", ("j", "j", "p", "enter"), minor=True),
    Scene("similar", ("k", "A"), OUT, minor=True),
    Scene("browse", ("M",)),
    Scene("annotate", ("M",)),
    Scene("sheet", ("M", "at", "enter", "C")),
)


def names(size: tuple[int, int]) -> list[str]:
    """The pictures of a size, as `scene-look`."""
    return [
        f"{scene.name}-{look}" for scene in SCENES for look in LOOKS if scene.is_of(size, look)
    ]


def take(size: tuple[int, int], folder: Path) -> dict[str, str]:
    """All pictures of a size, by name. folder: an empty one to work in."""
    with _stopped(folder):
        ready = folder / "ready.db"
        ensure_demo(ready)
        _predict(ready)
        busy = Path(shutil.copyfile(ready, folder / "busy.db"))
        make_jobs(busy)
        taken = {}
        for look in LOOKS:
            os.environ["COLORTERM"] = "" if look.startswith("256") else "truecolor"
            if look == "no-color":
                os.environ["NO_COLOR"] = "1"
            database = Path(shutil.copyfile(ready, folder / f"{look}.db"))
            taken |= asyncio.run(_walk(database, size, look, jobs=False))
            if look.startswith("256"):
                continue
            database = Path(shutil.copyfile(busy, folder / f"{look}-busy.db"))
            shutil.copytree(folder / "busy-jobs", folder / f"{look}-busy-jobs")
            taken |= asyncio.run(_walk(database, size, look, jobs=True))
    return taken


# --- the world stands still -------------------------------------------------------------


class Stopped(datetime):
    """A clock that shows one time."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Stopped":
        """Noon of a Monday in spring."""
        return cls(2026, 3, 2, 12, 0, 0, tzinfo=tz or UTC)


@contextmanager
def _stopped(folder: Path) -> Iterator[None]:
    """No time passes, nothing blinks, nobody predicts, and nothing of this machine shows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(folder / name))
        patch.setenv("NFH_TUI_PREDICTOR", "off")
        patch.setenv("NFH_TUI_RUNNER", "off")
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLORTERM", "truecolor")
        for name in ("NO_COLOR", "NFH_TUI_DB", "TMUX", "SSH_CONNECTION", "SSH_TTY"):
            patch.setenv(name, "")
            patch.delenv(name)
        patch.setattr("nfh_db.system.datetime", Stopped)
        patch.setattr(ItemClock.__init__, "__defaults__", (lambda: 0.0, IDLE))
        patch.setattr(Input, "_toggle_cursor", lambda self: None)
        patch.setattr(report_process, "output", _once(report_process.output))
        yield
    time.tzset()


def _once(output: Output) -> Output:
    """The same, but each command runs once for all looks, whose databases are copies."""
    printed: dict[tuple[str, ...], str] = {}

    async def known(arguments: Sequence[str], database: Path) -> str:
        key = (*arguments, database.stem.partition("-busy")[1])
        if key not in printed:
            printed[key] = await output(arguments, database)
        # As from a child process: the screen is drawn and at rest before the figures come. The
        # pane whose lines come first has the cursor, so the list of models always comes last.
        await asyncio.sleep(0.5 if arguments[0] == "models" else 0.1)
        return printed[key]

    return known


def _predict(database: Path) -> None:
    """Scores that look like a model's: the nearer a noun before the number, the higher."""
    with Store.open(database) as store:
        me = store.people.ensure(ME)
        model = store.models.ensure(MODEL, "resolution", "nearest-noun", "1")
        found = []
        for chunk in store.queue.ids(parse(""), me):
            for anchor_id in chunk:
                item = store.items.read(anchor_id, me, Role.ADJUDICATOR)
                if item is not None:
                    found.append((anchor_id, _prediction(item)))
        store.predictions.save(model, found)
    # Lists the models that come with the program, which a child process would else do, at
    # the time of day.
    CliRunner().invoke(commands, ["models", "--db", str(database)], catch_exceptions=False)


def _prediction(item: AnchorItem) -> Prediction:
    size, classes = len(item.passage.tokens), len(IMPLICIT_KINDS)
    scores: list[float | None] = [0.02] * classes + [None] * size
    nouns = sorted(candidates(item), key=lambda t: (t > item.anchor.start, -t))
    for rank, token in enumerate(nouns):
        scores[classes + token] = round(0.6 / 2**rank, 3)
    ranked = [*map(str, nouns[:2]), Kind.OTHER.value, Kind.PEOPLE.value]
    return Prediction(MODEL, ranked[0], ranked[1], 0.3, tuple(scores))


# --- walking ----------------------------------------------------------------------------


async def _walk(
    database: Path, size: tuple[int, int], look: str, *, jobs: bool
) -> dict[str, str]:
    app = WorkbenchApp(database, ME, "adjudicate", QUERY)
    app.theme = LIGHT.name if look.endswith("light") else DARK.name
    taken = {}
    try:
        async with app.run_test(size=size) as pilot:
            await _rest(app, pilot)
            for scene in SCENES:
                if scene.jobs == jobs and scene.is_of(size, look):
                    await _press(app, pilot, scene.keys)
                    if scene.act:
                        app.bench.action_act(scene.act)
                        await _rest(app, pilot)
                    taken[f"{scene.name}-{look}"] = picture(app)
                    await _press(app, pilot, scene.back)
    finally:
        app.close()
    return taken


async def _press(app: WorkbenchApp, pilot: Pilot[int], keys: tuple[str, ...]) -> None:
    for key in keys:
        await pilot.press(key)
        await _rest(app, pilot)


async def _rest(app: WorkbenchApp, pilot: Pilot[int]) -> None:
    """Wait until nothing is under way and the screen does not change any more."""
    last: list[Strip] = []
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        await pilot.pause()
        if _busy(app):
            continue
        now = drawn_lines(app)
        if now == last:
            return
        last = now
    said = "\n".join(strip.text for strip in last)
    raise AssertionError(f"the screen does not come to rest:\n{said}")


def _busy(app: WorkbenchApp) -> bool:
    """True while an act, a write, the queue, or a worker of another screen is under way."""
    desk: Workbench = app.bench
    waits = desk.bar.is_open or len(app.screen_stack) > 1 or desk.state.question_open
    works = any(not one.is_finished and one.group not in ASKING for one in app.workers)
    return (
        works
        or not (desk.commands.idle or waits)
        or bool(desk.state.saving)
        or not desk.state.ids.complete
    )
