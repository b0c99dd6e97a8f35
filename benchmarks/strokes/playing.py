"""The real workbench, pressed: planned keys do it, and the database then holds the answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from textual.pilot import Pilot

from nfh_db.records import Role, Rule
from nfh_db.store import Store
from nfh_tui.app import WorkbenchApp
from nfh_tui.workbench.screen import Workbench
from strokes.data import ME, Corpus
from strokes.figures import Planned
from strokes.plan import is_right

SIZE = (120, 40)


@dataclass(frozen=True, slots=True)
class Played:
    """What came of it. wrong: public ids of items whose gold is not what was meant."""

    items: int
    keys: int
    wrong: tuple[str, ...]


async def play(corpus: Corpus, plans: Sequence[Planned]) -> Played:
    """Press the keys of these items, which are the first of the queue, one after another."""
    app = WorkbenchApp(corpus.path, ME, "adjudicate", "")
    missed = []
    try:
        async with app.run_test(size=SIZE) as pilot:
            await rest(app.bench, pilot)
            for one in plans:
                item = app.bench.state.visible_item
                if item is None or item.public_id != one.item.public_id:
                    missed.append(one.item.public_id)
                    await app.bench.item.show(one.item.anchor_id)
                await pilot.press(*one.keys)
                await rest(app.bench, pilot)
    finally:
        app.close()
    wrong = [*missed, *(one.item.public_id for one in plans if not is_stored(corpus, one))]
    return Played(len(plans), sum(len(one.keys) for one in plans), tuple(wrong))


async def rest(desk: Workbench, pilot: Pilot[int]) -> None:
    """Wait until every key is done and the answer is on disk."""
    for _ in range(1000):
        await pilot.pause()
        if (
            desk.commands.idle
            and not desk.state.saving
            and desk.state.ids.complete
            and desk.state.visible_item is not None
        ):
            return
        await asyncio.sleep(0.01)
    raise SystemExit("the workbench does not come to rest")


def is_stored(corpus: Corpus, one: Planned) -> bool:
    """True if the database holds an expert's gold that is right."""
    with Store.open(corpus.path) as store:
        item = store.items.read(one.item.anchor_id, store.people.ensure(ME), Role.ADJUDICATOR)
    if item is None or item.gold is None or item.gold.rule is not Rule.EXPERT:
        return False
    return is_right(item.gold.answer, one.gold, item)
