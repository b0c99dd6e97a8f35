"""The review sheet: one line an item, the ticked accepted as one act; nothing hidden shows."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import (
    FlagMark,
    FlagName,
    IncomingAnchor,
    IncomingPassage,
    Prediction,
    Role,
    Rule,
)
from nfh_db.store import Store
from nfh_models.domain import Anchor, Answer, Kind, Sort, class_answer, reference_answer
from nfh_tui.screens.sheet import SheetScreen
from nfh_tui.workbench import answer as answers
from tests.nfh_tui.workbench.conftest import AT, Desk, noun, passage_of, vote

AGE, TIME = class_answer(Kind.AGE), class_answer(Kind.TIME)
PUMP = reference_answer([noun(1)])
HELD = 2
"""The item left blank on purpose."""

OpenSheet = Callable[..., AbstractAsyncContextManager["Sheet"]]


def item(
    line: int, word: str, *said: Answer, flags: tuple[FlagMark, ...] = ()
) -> IncomingPassage:
    votes = tuple(vote(f"ann{n}", answer) for n, answer in enumerate(said, 1))
    anchor = IncomingAnchor(line, Anchor(5, 6), votes=votes, flags=flags)
    return IncomingPassage(
        passage_of(("Ida", f"My {word} leaks"), ("Per", f"Take just{line} one here .")),
        "words",
        (anchor,),
    )


PASSAGES = (
    item(1, "pump", PUMP, PUMP, AGE),
    item(2, "tank", PUMP, TIME, PUMP),
    item(3, "roof", PUMP, PUMP),
    item(4, "boat", AGE, TIME, PUMP),
    item(5, "tent", PUMP, PUMP, flags=(FlagMark(FlagName.AMBIGUOUS, "ann1", AT),)),
    item(6, "door", AGE, AGE, TIME),
    item(7, "wall"),
)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Items 1 to 7; the second one's proposal is held back; a model answers all of them."""
    made = tmp_path / "sheet.db"
    with Store.open(made, create=True) as store:
        store.imports.load(IncomingFile("sheet", "0" * 64, "gold"), PASSAGES)
        model = store.models.ensure("m", "resolution", "r", "1")
        store.models.activate(model)
        said = [(n, Prediction("m", "TIME", None, 0.5, (0.5,))) for n in range(1, 8)]
        store.predictions.save(model, said)
    held = lambda one, _me: one.anchor_id == HELD  # noqa: E731
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", held)
    return made


class Sheet:
    """The sheet, worked by keys."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def screen(self) -> SheetScreen:
        found = self.desk.app.screen
        assert isinstance(found, SheetScreen)
        return found

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.desk.pilot.press(key)
            for _ in range(300):
                await self.desk.pilot.pause()
                top = self.desk.app.screen
                if not isinstance(top, SheetScreen) or (top.commands.idle and top.rests):
                    break
                await asyncio.sleep(0.01)
        await self.desk.settle()

    @property
    def lines(self) -> list[str]:
        """The rows, without blanks around."""
        count = len(self.screen.shown)
        return [" ".join(one.split()) for one in self.desk.text().splitlines()[1 : 1 + count]]

    @property
    def said(self) -> str:
        return self.screen.status.status.say


@pytest.fixture
def open_sheet(
    open_desk: Callable[..., AbstractAsyncContextManager[Desk]], path: Path
) -> OpenSheet:
    @asynccontextmanager
    async def opened(**how: object) -> AsyncIterator[Sheet]:
        async with open_desk(path=path, **how) as desk:
            sheet = Sheet(desk)
            await sheet.press("C")
            assert isinstance(desk.app.screen, SheetScreen), desk.text()
            yield sheet

    return opened


def golds(path: Path) -> list[str]:
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        found = [store.items.read(n, me, Role.ADJUDICATOR) for n in range(1, 8)]
    return ["" if one is None or one.gold is None else one.gold.answer.kind for one in found]


async def test_a_row_has_sentence_votes_and_model_and_one_left_blank_tells_nothing_of_them(
    open_sheet: OpenSheet,
) -> None:
    async with open_sheet() as sheet:
        assert sheet.lines == [
            "1 ☑ Take just1 one [pump] here. Ref 2 of 3 model ≠",
            "▌ 2 ☐ Take just2 one here. decide",
            "3 ☑ Take just3 one [roof] here. Ref 2 of 2 model ≠",
            "4 ☐ Take just5 one [tent] here. Ref 2 of 2 model ≠ m",
            "5 ☑ Take just6 one [year old] here. Age 2 of 3 model ≠",
        ]
        assert "3 of 5 ticked · 1 to decide" in sheet.desk.text()
        row = sheet.screen.row
        assert row is not None
        assert row.item.anchor_id == HELD
        assert (row.item.votes, row.item.prediction, row.item.pattern) == ((), None, "")
        shown = sheet.desk.text()
        for key in ("m", "1", "2", "space", "L", "H", "P", "f", "escape"):
            await sheet.press(key)
        assert not sheet.screen.rows[1].ticked
        await sheet.press("2")
        assert "tank" not in sheet.lines[1]
        for name in ("ann1", "ann2", "2 of 3"):
            assert name not in shown.splitlines()[2]
            assert name not in "\n".join(shown.splitlines()[7:])


async def test_what_is_ticked_is_one_act_that_undo_takes_back(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet() as sheet:
        await sheet.press("3", "space", "enter")
        assert golds(path) == ["REFERENCE", "", "", "", "", "AGE", ""]
        assert "No item" not in sheet.desk.said
        assert "2 decided, saved" in sheet.desk.said
        # The next undo of the desk is of the whole sheet, and is announced.
        await sheet.desk.press("z")
        assert "a review sheet accepted on 2 items" in sheet.desk.said
        await sheet.desk.press("z")
        assert golds(path) == [""] * 7


async def test_what_it_decides_says_that_it_was_in_a_sheet(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet() as sheet:
        await sheet.press("a", "enter")
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        for number, seen in ((1, True), (HELD, False)):
            found = store.items.read(number, me, Role.ADJUDICATOR)
            assert found is not None
            assert found.gold is not None
            assert found.gold.rule is Rule.EXPERT
            (mine,) = [one for one in found.votes if one.role is Role.ADJUDICATOR]
            assert (mine.in_sheet, mine.saw_votes, mine.saw_model) == (True, seen, seen)
            assert mine.seconds is not None


async def test_an_item_left_blank_is_decided_by_keys_and_compared_when_it_is_saved(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet() as sheet:
        await sheet.press("o", "5")
        assert sheet.lines[1].endswith("Other yours")
        assert sheet.lines[4].startswith("▌")
        await sheet.press("2", "o", "c", "1")
        assert sheet.screen.rows[1].edit.sort is Sort.CODE
        await sheet.press("2", "t")
        assert sheet.lines[1].endswith("Time yours")
        assert "model" not in sheet.lines[1]
        await sheet.press("enter")
        assert golds(path)[:3] == ["REFERENCE", "TIME", "REFERENCE"]
        assert "left blank: 0 of 1 as the votes say" in sheet.desk.said


async def test_a_noun_is_marked_by_its_letters(open_sheet: OpenSheet, path: Path) -> None:
    async with open_sheet() as sheet:
        await sheet.press("f")
        row = sheet.screen.row
        assert row is not None
        letters = next(letters for token, letters in row.edit.hints if token == 1)
        await sheet.press(*letters)
        assert "one [tank] here. Ref yours" in sheet.lines[1]
        await sheet.press("enter")
        assert golds(path)[1] == "REFERENCE"
        assert "left blank: 1 of 1 as the votes say" in sheet.desk.said


async def test_what_another_decided_meanwhile_is_left_and_named(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet() as sheet:
        with Store.open(path) as store:
            bob = store.people.ensure("bob")
            store.edits.commit_answer(3, bob, Role.ADJUDICATOR, TIME)
        await sheet.press("enter")
        assert golds(path)[2] == "TIME"
        assert "2 decided, saved" in sheet.desk.said
        assert "item 3 is left as it is: decided by bob" in sheet.desk.said


async def test_names_stay_hidden(open_sheet: OpenSheet, path: Path) -> None:
    async with open_sheet() as sheet:
        await sheet.press("escape", "B", "g", "C")
        assert "ann1" not in sheet.desk.text()
        with Store.open(path) as store:
            bob = store.people.ensure("bob")
            store.edits.commit_answer(3, bob, Role.ADJUDICATOR, TIME)
        await sheet.press("enter")
        assert "item 3 is left as it is: already decided" in sheet.desk.said


async def test_nothing_of_an_audit_or_a_second_reading_is_in_it(
    open_sheet: OpenSheet, path: Path
) -> None:
    with Store.open(path) as store:
        me = store.people.ensure("edith")
        wanted = AssignmentRequest(role=Role.ADJUDICATOR, doubles=Amount(2))
        store.assignments.assign(parse("text:pump OR text:roof"), me, ["edith", "kim"], wanted)
        store.people.ensure("bob")
    async with open_sheet(query="") as sheet:
        assert [row.item.anchor_id for row in sheet.screen.rows] == [2, 5, 6]
    async with open_sheet(query="", me="bob") as sheet:
        assert [row.item.anchor_id for row in sheet.screen.rows] == [2, 5, 6]


async def test_an_answer_that_is_not_accepted_stays_as_a_draft(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet() as sheet:
        await sheet.press("t", "space", "3", "y", "z", "2", "escape")
        assert golds(path) == [""] * 7
        assert sheet.desk.state.anchor_id == HELD
        assert sheet.desk.state.edit.kind is Kind.TIME
        await sheet.desk.press("enter")
        assert golds(path)[:3] == ["", "TIME", ""]


async def test_undo_in_the_sheet_brings_the_last_one_back_as_it_was(
    open_sheet: OpenSheet, path: Path
) -> None:
    async with open_sheet(size=(80, 13)) as sheet:
        assert len(sheet.screen.shown) < 5
        before = sheet.lines
        await sheet.press("t", "enter")
        assert golds(path)[1] == "TIME"
        assert sheet.lines != before
        await sheet.press("z")
        assert golds(path) == [""] * 7
        assert sheet.lines[1].endswith("Time yours")
        assert "undone: a review sheet accepted on 3 items" in sheet.said
        await sheet.press("enter")
        assert golds(path)[1] == "TIME"


async def test_a_sheet_that_could_not_be_read_yet_is_not_accepted(
    open_sheet: OpenSheet, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(answers.GUARD_VARIABLE, raising=False)
    async with open_sheet() as sheet:
        await sheet.press("enter", "enter", "enter")
        assert sheet.said.startswith("Too early")
        assert golds(path) == [""] * 7


async def test_only_adjudicators_have_one_and_an_empty_queue_has_none(
    open_desk: Callable[..., AbstractAsyncContextManager[Desk]], path: Path
) -> None:
    async with open_desk(path=path, query="text:wall") as desk:
        await Sheet(desk).press("C")
        assert desk.said.startswith("No item from here on")
        await desk.press("M", "C")
        assert "adjudicat" in desk.said
