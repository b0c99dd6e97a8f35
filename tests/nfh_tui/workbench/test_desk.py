"""What the workbench keeps track of between keys."""

import asyncio
from array import array
from dataclasses import replace

import pytest

from nfh_db.records import AnchorItem, HistoryLine
from nfh_tui.services.history import NOTHING, history_text, partners
from nfh_tui.workbench.command_queue import CommandQueue, DebouncedWriter, KeyPress, RunAction
from nfh_tui.workbench.completion import Completer
from nfh_tui.workbench.session import KEPT, IdList, ItemCache, ItemClock


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_clock_leaves_breaks_out():
    time = Time()
    clock = ItemClock(time)
    time.now += 10
    clock.touch()
    time.now += 1000
    assert clock.seconds == 70
    clock.touch()
    time.now += 5
    assert clock.seconds == 75
    clock.start()
    assert clock.seconds == 0


def test_ids_are_found_near_first_and_then_anywhere():
    ids = IdList()
    ids.extend(array("q", range(1000, 5000)))
    assert ids.find(4321, near=3300) == 3321
    assert ids.find(4321) == 3321
    assert ids.find(1) is None
    ids.replace(3321, 1)
    assert ids.find(1) == 3321
    assert list(ids.slice(-3, 2)) == [1000, 1001]
    assert list(ids.slice(3999, 4100)) == [4999]


def test_a_step_goes_to_the_nearest_wanted_id():
    ids = IdList()
    ids.extend(array("q", [5, 3, 9, 7, 1]))
    assert ids.step(1, {7, 1}, forward=True) == 3
    assert ids.step(3, {5, 3}, forward=False) == 1
    assert ids.step(3, {7}, forward=True) is None


async def test_the_keeper_writes_the_latest_of_several_changes_soon():
    written: list[str] = []
    both = asyncio.Event()

    def wrote() -> None:
        if len(written) == 2:
            both.set()

    keeper = DebouncedWriter(0.02, lambda error: written.append(f"failed {error}"), wrote)

    def write(text: str):
        async def run() -> None:
            written.append(text)

        return run

    keeper.keep("a", write("one"))
    keeper.keep("a", write("two"))
    keeper.keep("b", write("three"))
    assert keeper.unsaved
    async with asyncio.timeout(120):
        await both.wait()
    await keeper.flush()
    assert written == ["two", "three"]
    assert not keeper.unsaved
    keeper.keep("a", write("four"))
    keeper.drop("a")
    keeper.keep("b", write("five"))
    await keeper.flush()
    assert written[2:] == ["five"]


async def test_the_keeper_tries_what_failed_again():
    told: list[str] = []
    keeper = DebouncedWriter(0.01, lambda error: told.append(str(error)))
    works = False

    async def write() -> None:
        if not works:
            raise OSError("full")

    keeper.keep("a", write)
    await asyncio.sleep(0.05)
    assert told == ["full"]
    assert keeper.unsaved
    works = True
    await keeper.flush()
    assert not keeper.unsaved
    assert told == ["full"]


async def test_an_item_is_read_once_and_forgotten_with_its_passage(read):
    item: AnchorItem = read(0)
    reads: list[int] = []

    async def fetch(anchor_id: int) -> AnchorItem | None:
        reads.append(anchor_id)
        await asyncio.sleep(0)
        return None if anchor_id == 0 else replace(item, anchor_id=anchor_id)

    cache = ItemCache(fetch)
    cache.ahead([1, 2])
    assert (await cache.get(1)).anchor_id == 1
    assert (await cache.get(1)) is cache.peek(1)
    assert reads == [1, 2]
    cache.forget(1)
    assert cache.peek(1) is None
    assert await cache.get(0) is None
    for anchor_id in range(10, 10 + 2 * KEPT):
        await cache.get(anchor_id)
    assert cache.peek(10) is None
    assert cache.peek(9 + 2 * KEPT) is not None


async def test_what_was_read_before_a_change_is_not_kept(read):
    item: AnchorItem = read(0)
    gate = asyncio.Event()

    async def fetch(anchor_id: int) -> AnchorItem:
        await gate.wait()
        return item

    cache = ItemCache(fetch)
    cache.ahead([item.anchor_id])
    await asyncio.sleep(0)
    cache.forget(item.anchor_id)
    gate.set()
    await asyncio.sleep(0.01)
    assert cache.peek(item.anchor_id) is None


async def test_who_waits_for_an_item_that_changes_gets_the_new_one(read):
    old: AnchorItem = read(0)
    found, gate = [replace(old, document="new"), old], asyncio.Event()

    async def fetch(anchor_id: int) -> AnchorItem:
        item = found.pop()
        await gate.wait()
        return item

    cache = ItemCache(fetch)
    waiting = asyncio.create_task(cache.get(old.anchor_id))
    await asyncio.sleep(0)
    cache.forget(old.anchor_id)
    gate.set()
    assert (await waiting).document == "new"


async def test_an_error_while_reading_ahead_waits_for_who_wants_the_item():
    async def fetch(anchor_id: int) -> AnchorItem | None:
        raise OSError("gone")

    cache = ItemCache(fetch)
    cache.ahead([1])
    await asyncio.sleep(0.01)
    with pytest.raises(OSError, match="gone"):
        await cache.get(1)


async def test_turns_are_taken_in_order_and_can_be_put_back():
    turns = CommandQueue()
    taking = asyncio.create_task(turns.get())
    await asyncio.sleep(0)
    assert turns.idle
    turns.put(KeyPress("j"))
    turns.put(RunAction("undo"))
    assert await taking == KeyPress("j")
    assert not turns.idle
    assert turns.peek() == RunAction("undo")
    turns.put_back(KeyPress("k"))
    assert await turns.get() == KeyPress("k")
    assert await turns.get() == RunAction("undo")
    assert turns.peek() is None


def test_completion_goes_on_from_where_it_was():
    completer = Completer(lambda key: ["dev", "train"] if key == "split" else [])
    assert completer.tab("spl", 3) == ("split:", 6)
    text, _ = completer.tab("split:d", 7) or ("", 0)
    assert text == "split:dev"
    assert completer.tab("split:zz", 8) is None
    assert [offer.label for offer in completer.offers("split:", 6)] == ["dev", "train"]


def test_history_in_words(read):
    passage = read(0).passage
    lines = [
        HistoryLine("2025-01-02T03:04:05.000Z", None, "import of x", "answer", "ann1", None,
                    '{"kind":"REFERENCE","at":"x","saw_model":true,'
                    '"heads":[[[1,2,1,"marked"],[4,5,4,"removed"]]]}',
                    "import", "ann1", "annotator"),
        HistoryLine("2025-01-02T03:04:06.000Z", "eva", "gold OTHER", "gold", "", None,
                    '{"kind":"OTHER","sort":"NOUN","noun":"joke","rule":"expert","by":"eva",'
                    '"comment":"hm"}'),
        HistoryLine("2025-01-02T03:04:07.000Z", "eva", "wider", "anchor", "",
                    '{"passage":1,"start":10,"stop":11}',
                    '{"passage":1,"start":10,"stop":11,"replaced_by":77}'),
        HistoryLine("2025-01-02T03:04:08.000Z", "eva", "undo: flag", "flag", "skip", None,
                    '{"at":"x"}', "undo", "eva"),
    ]  # fmt: skip
    text = history_text(lines, passage)
    assert text.index("eva  undone: flag") < text.index("import of x")
    assert text.endswith(
        "Reference: “boots” (token 1, turn 1) without “coat” (token 4, turn 1) · "
        "had seen the model's answer"
    )
    assert "ann1's answer" in text
    assert "Other, noun “joke” · comment: hm · decided by an adjudicator, eva" in text
    assert "before  “two” (token 10)" in text
    assert "eva's flag skip\n      before  nothing\n      after   set" in text
    assert partners(lines) == (77,)
    assert history_text([], passage) == NOTHING
    hidden = history_text(lines, passage, named=False)
    assert "eva" not in hidden
    assert "ann1" not in hidden
