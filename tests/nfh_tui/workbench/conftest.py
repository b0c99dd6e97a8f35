"""A small database of dialogs, and ways to work the screen and look at what it stored."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual.pilot import Pilot

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorItem, Gold, IncomingAnchor, IncomingPassage, Role, Rule, Vote
from nfh_db.store import Store
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_tui.app import WorkbenchApp
from nfh_tui.workbench.screen import Workbench
from nfh_tui.workbench.state import WorkbenchState
from tests.frames import drawn_lines

AT = "2025-03-04T05:06:07.000Z"
ISOLATES = dict.fromkeys((0x2066, 0x2069))
"""They take no cell."""
EDGES = re.compile(r"[│╭╮╰╯─\s]+")
FRAMED = re.compile(r"│([^│\n]*)│")


def passage_of(*turns: tuple[str, str]) -> Passage:
    """A passage from turns of (speaker, words); each word is a token and its own lemma."""
    words: list[str] = []
    made: list[Turn] = []
    lines: list[str] = []
    for number, (speaker, said) in enumerate(turns):
        start = len(words)
        words += said.split(" ")
        made.append(Turn(number, speaker or None, start, len(words)))
        lines.append(said)
    text = "\n".join(lines)
    tokens: list[Token] = []
    place = 0
    for word in words:
        place = text.index(word, place)
        tokens.append(Token(place, place + len(word), word.lower().rstrip("s")))
        place += len(word)
    return Passage(text, tuple(tokens), tuple(made))


def noun(token: int) -> list[Mention]:
    """One mention, of one token."""
    return [Mention(token, token + 1, token)]


def vote(name: str, answer: Answer) -> Vote:
    """An annotator's answer."""
    return Vote(name, Role.ANNOTATOR, answer, AT)


HOSTILE = passage_of(
    ("[red]Ann[/]", "The [/b] sheds leak \x1b[31m and [red rattle ."),
    ("مريم", "خيمة Take one , a\u0301 b\t 漢字 🎈 [link=x] ."),
)
"""Text that would be markup, would control the terminal, or is wide, joined or leftward."""

PASSAGES: tuple[IncomingPassage, ...] = tuple(
    IncomingPassage(
        passage,
        "words",
        (IncomingAnchor(line, anchor, split="dev", gold=gold, votes=votes),),
    )
    for line, (passage, anchor, gold, votes) in enumerate(
        [
            (
                passage_of(
                    ("Ida", "My boots and my coat are wet ."),
                    ("Per", "Then take two of mine ."),
                ),
                Anchor(10, 11),
                None,
                (
                    vote("ann1", reference_answer([noun(1)])),
                    vote("ann2", reference_answer([noun(1), noun(4)], Relation.AND)),
                    vote("ann3", reference_answer([noun(1)])),
                ),
            ),
            (
                passage_of(("Ida", "The ferry came in sixty two , before my time .")),
                Anchor(4, 5),
                None,
                (),
            ),
            (
                passage_of(("Per", "She turned forty last week ."), ("Ida", "Months left ?")),
                Anchor(2, 3),
                Gold(class_answer(Kind.AGE), Rule.IMPORTED),
                (),
            ),
            (HOSTILE, Anchor(11, 12), None, ()),
            (
                passage_of(("Per", "Tea or coffee ?"), ("Ida", "One will do .")),
                Anchor(4, 5),
                None,
                (vote("ann1", reference_answer([noun(0), noun(2)], Relation.OR)),),
            ),
            (passage_of(("", "It cost nine and tax .")), Anchor(2, 3), None, ()),
        ],
        start=1,
    )
)


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No child process, a data folder of its own, and no proposal withheld by chance."""
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda item, me: False)
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "off")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def make(path: Path) -> None:
    """Make a file with the passages above, one anchor each; the third is decided."""
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("shell.gold.jsonl", "0" * 64, "gold"), PASSAGES)


@pytest.fixture
def database(tmp_path: Path, built: Callable[..., Path]) -> Path:
    """A file of its own for each test, with the passages above."""
    return built(make, tmp_path / "shell.db")


class Desk:
    """The running workbench as a test works it."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> Workbench:
        """The workbench, also while a dialog stands over it."""
        return next(s for s in self.app.screen_stack if isinstance(s, Workbench))

    @property
    def state(self) -> WorkbenchState:
        """What the parts of the workbench share."""
        return self.screen.state

    async def press(self, *keys: str) -> None:
        """Press keys and wait until all that they asked for is done."""
        for key in keys:
            await self.pilot.press(key)
            await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is under way: no act, no write, no dialog on its way."""
        for _ in range(500):
            await self.pilot.pause()
            screen = self.screen
            waits = (
                screen.bar.is_open
                or len(self.app.screen_stack) > 1
                or screen.state.question_open
            )
            rests = (screen.commands.idle or waits) and not screen.state.saving
            if rests and screen.state.ids.complete and self._laid_out():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the workbench does not come to rest")

    async def next_second(self) -> None:
        """What the workbench does every second; a check of its own may be under way."""
        await self.settle()
        self.screen.background.look_for_others()
        await self.settle()

    def _laid_out(self) -> bool:
        """True once every pane that is shown has been given its size, and knows of it."""
        panes = (self.screen.queue_list, self.screen.passage, self.screen.evidence)
        return all(
            p.size.width > 0 and not p.message_queue_size
            for p in panes
            if p.display and p.parent.display
        )

    @property
    def said(self) -> str:
        """What the line of state says."""
        return self.screen.status_line.status.say

    def text(self) -> str:
        """All that stands on the screen, as plain text."""
        width, height = self.app.size
        lines = drawn_lines(self.app)
        texts = (strip.text.translate(ISOLATES)[:width] for strip in lines[:height])
        return "\n".join(texts)

    def words(self) -> str:
        """The same on one line, then once more what stands in frames: a sentence with a path in
        it is wrapped where the length of the path has it.
        """
        text = self.text()
        parts = (text, *FRAMED.findall(text))
        return EDGES.sub(" ", " ".join(parts))


Opened = Callable[..., "AsyncIterator[Desk]"]


@pytest.fixture
def open_desk(database: Path) -> Callable[..., object]:
    """Opens the workbench: `async with open_desk(mode=…, query=…, size=…, me=…) as desk`."""

    @asynccontextmanager
    async def opened(
        mode: str = "adjudicate",
        query: str | None = None,
        size: tuple[int, int] = (120, 40),
        me: str = "edith",
        path: Path = database,
    ) -> AsyncIterator[Desk]:
        app = WorkbenchApp(path, me, mode, query)
        try:
            async with app.run_test(size=size) as pilot:
                desk = Desk(app, pilot)
                await desk.settle()
                yield desk
        finally:
            app.close()

    return opened


@pytest.fixture
def read(database: Path) -> Callable[..., AnchorItem]:
    """An item by its place in the file, as somebody sees it."""

    def item(place: int, me: str = "edith", role: Role = Role.ADJUDICATOR) -> AnchorItem:
        with Store.open(database) as store:
            who = store.people.ensure(me)
            ids = next(store.queue.ids(parse(""), who))
            found = store.items.read(ids[place], who, role)
            assert found is not None
            return found

    return item
