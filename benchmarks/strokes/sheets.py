"""The real review sheet, pressed as well as it can be; what it leaves is for the desk."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.pilot import Pilot

from nfh_models.domain import Answer, Kind
from nfh_tui.app import WorkbenchApp
from nfh_tui.editor.commands import act
from nfh_tui.screens.sheet import SheetRow, SheetScreen
from strokes.data import ME, Corpus
from strokes.figures import Planned
from strokes.plan import Planner, Step, is_right, pressed
from strokes.playing import is_stored, rest

TURNS = ((), *(("left_curly_bracket",),) * 6)
"""Keys that bring earlier turns of the passage into view."""


@dataclass(frozen=True, slots=True)
class InSheet(Planner):
    """The keys of a row: no answer of a single person is there to be adopted, no cursor."""

    def _adopted(self, state: object) -> Iterator[Step]:
        del state
        return iter(())

    def _moved(self, state: object, targets: object, most: object) -> None:
        del state, targets, most


@dataclass(frozen=True, slots=True)
class Reviewed:
    """desk: keys of the items that were in no sheet, or whose answer was not found there."""

    items: int
    sheets: int
    keys: int
    desk: int
    at_desk: int
    wrong: tuple[str, ...]


async def review(corpus: Corpus, plans: Sequence[Planned], size: tuple[int, int]) -> Reviewed:
    """Decide these items, which are the first of the queue, with the sheet."""
    wanted = {one.item.anchor_id: one for one in plans}
    app = WorkbenchApp(corpus.path, ME, "adjudicate", "")
    keys, sheets, decided = 1, 0, set[int]()
    try:
        async with app.run_test(size=size) as pilot:
            await rest(app.bench, pilot)
            await pilot.press("C")
            while isinstance(top := await _top(app, pilot), SheetScreen):
                if not any(row.item.anchor_id in wanted for row in top.shown):
                    await pilot.press("escape")
                    keys += 1
                    break
                keys += await _one(top, pilot, wanted, decided)
                sheets += 1
            await rest(app.bench, pilot)
    finally:
        app.close()
    desk = [one for one in plans if one.item.anchor_id not in decided]
    wrong = [
        one.item.public_id
        for one in plans
        if one.item.anchor_id in decided and not is_stored(corpus, one)
    ]
    by_hand = sum(len(one.keys) for one in desk)
    return Reviewed(len(plans), sheets, keys, by_hand, len(desk), tuple(wrong))


async def _top(app: WorkbenchApp, pilot: Pilot[int]) -> object:
    for _ in range(1000):
        await pilot.pause()
        top = app.screen
        if not isinstance(top, SheetScreen):
            return top
        if top.commands.idle and top.rests:
            return top
        await asyncio.sleep(0.01)
    raise SystemExit("the review sheet does not come to rest")


async def _one(
    sheet: SheetScreen, pilot: Pilot[int], wanted: dict[int, Planned], decided: set[int]
) -> int:
    """Correct one sheet and accept it; the number of keys."""
    count = 0

    async def press(*keys: str) -> None:
        nonlocal count
        await pilot.press(*keys)
        await _top(sheet.app, pilot)  # type: ignore[arg-type]  # the workbench's own
        count += len(keys)

    rows = list(sheet.shown)
    for number, row in enumerate(rows, 1):
        one = wanted.get(row.item.anchor_id)
        if one is None:
            if row.ticked:
                await press(*str(number), "space")
            continue
        made = row.made
        if isinstance(made, Answer) and row.ticked and is_right(made, one.gold, row.stored):
            continue
        if sheet.row is not row:
            waiting = [n for n, other in enumerate(rows, 1) if other.waits]
            here = rows.index(sheet.row) + 1 if sheet.row else 0
            ahead = [n for n in waiting if n > here]
            await press(*("]" if ahead[:1] == [number] else str(number)))
        await _answer(sheet, row, one, press)
        made = row.made
        right = isinstance(made, Answer) and is_right(made, one.gold, row.stored)
        if row.ticked and not right:
            await press("space")
    decided |= {row.item.anchor_id for row in rows if row.ticked}
    await press("enter")
    return count


async def _answer(sheet: SheetScreen, row: SheetRow, one: Planned, press: object) -> None:
    keys = InSheet(row.item, one.gold, ME).shortest()
    if keys is None or one.gold.kind is not Kind.REFERENCE or len(one.gold.heads) != 1:
        await press(*(keys or ("enter",))[:-1])  # type: ignore[operator]  # a coroutine function
        return
    tokens = {mention.head for mention in one.gold.heads[0].live}
    for turn in TURNS:
        await press(*turn)  # type: ignore[operator]  # as above
        view = sheet.passage.tokens_in_view
        hints = act(row.edit, row.item, "hint.start", view=view).state.hints
        seen = [label for token, label in hints if token in tokens and view and token in view]
        if seen:
            await press(pressed("hint.start"), *min(seen, key=len))  # type: ignore[operator]
            return
