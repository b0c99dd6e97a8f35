"""Where one stands: found again in a queue that the item has left, and across other items."""

import asyncio

import pytest

from nfh_db.query import parse
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.workbench.session import MANY, IdList, Nearby, around, dump, load


async def left_behind(open_desk, *keys):
    """Answer the item in the middle of the open ones, and leave it on the screen."""
    async with open_desk(query="-state:decided") as desk:
        assert len(desk.state.ids) == 5
        await desk.press("j", "j", *keys)
        shown = desk.state.visible_item.anchor_id
        await desk.press("q")
    return shown


async def test_a_decided_item_is_come_back_to_in_its_place(open_desk):
    shown = await left_behind(open_desk, "y", "enter", "k")
    async with open_desk() as desk:
        screen = desk.screen
        ids = list(screen.state.ids.slice(0, 9))
        assert screen.state.visible_item.anchor_id == shown
        assert shown not in ids
        assert "before 3/4" in desk.text()
        await desk.press("j")
        assert (screen.state.position.index, screen.state.visible_item.anchor_id) == (2, ids[2])


async def test_the_place_is_written_before_a_draft_of_its_item(open_desk, monkeypatch):
    async with open_desk() as desk:
        screen, workspace = desk.screen, desk.screen.store.workspace
        await screen.queue.position_writer.flush()
        written, write, drafted = [], screen.client.write, asyncio.Event()

        async def noted(method, *arguments):
            written.append((method, arguments))
            if method == workspace.save_draft:
                drafted.set()
            return await write(method, *arguments)

        monkeypatch.setattr(screen.client, "write", noted)
        await desk.press("j", "y")
        await drafted.wait()
        methods = [method for method, _ in written]
        place = written[methods.index(workspace.save_position)][1][-1]
        assert place.anchor_id == desk.state.visible_item.anchor_id
        assert methods.index(workspace.save_position) < methods.index(workspace.save_draft)


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("k", 1),
        ("right_square_bracket", 2),
        pytest.param("left_square_bracket", 1, marks=pytest.mark.long),
    ],
)
async def test_each_way_on_from_there_is_the_next_one(open_desk, key, place):
    await left_behind(open_desk, "y", "enter", "k")
    async with open_desk() as desk:
        await desk.press(key)
        assert desk.state.position.index == place
        assert not desk.state.position.is_detached


async def test_after_the_end_of_the_queue_nothing_comes(open_desk):
    async with open_desk(query="-state:decided") as desk:
        await desk.press("G", "y", "enter", "q")
    async with open_desk() as desk:
        assert "after 4/4" in desk.text()
        await desk.press("j")
        assert "last item" in desk.said
        await desk.press("k")
        assert desk.state.position.index == 3


async def test_accepting_there_goes_on_behind_it(open_desk):
    await left_behind(open_desk, "y", "enter", "k")
    async with open_desk() as desk:
        await desk.press("t", "enter")
        assert desk.state.position.index == 2


async def test_beside_the_queue_the_first_item_is_not_passed_over(open_desk):
    """Without anything known of the place, the queue itself comes next."""
    async with open_desk(query="-state:decided") as desk:
        screen = desk.screen
        decided = next(n for n in range(1, 7) if n not in screen.state.ids.slice(0, 9))
        await screen.item.show(decided)
        assert screen.state.position.is_detached
        await desk.press("right_square_bracket")
        assert screen.state.position.index == 0
        assert not screen.state.position.is_detached


def test_the_place_is_that_of_the_nearest_neighbour_still_there():
    ids = IdList()
    ids.extend(range(10, 20))
    kept = around("x", ids, 4, beside=False)
    assert kept == Nearby("x", (15, 16, 17, 18, 19), (13, 12, 11, 10), 4)
    left = IdList()
    left.extend([10, 12, 17, 19])
    assert kept.find(left) == 2
    before = IdList()
    before.extend([10, 12])
    assert kept.find(before) == 2
    others = IdList()
    others.extend(range(50, 60))
    assert kept.find(others) == 4
    assert kept.find(IdList()) == 0
    assert len(around("x", ids, 0, beside=True).after) == min(MANY, 10)


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"after": "x"}', "\ud800"])
def test_what_cannot_be_read_is_no_place(text):
    assert load(text, "") is None


def test_a_place_is_that_of_its_own_query():
    near = Nearby("state:open", (1,), (), 0)
    assert load(dump(near), "state:open") == near
    assert load(dump(near), "") is None


# --- drafts and undo ----------------------------------------------------------------------


async def test_undo_steps_a_draft_back_after_a_look_at_another_item(open_desk, read):
    async with open_desk() as desk:
        await desk.press("t", "enter", "y", "a", "j", "k", "z")
        assert desk.state.edit.kind is Kind.YEAR
        assert "in the draft" in desk.said
        await desk.press("j", "k", "Z")
        assert desk.state.edit.kind is Kind.AGE
        await desk.press("z", "z")
        assert desk.state.edit.kind is None
        assert read(0).gold.answer.kind is Kind.TIME
        await desk.press("z")
        assert read(0).gold is None


async def test_a_draft_of_another_session_is_taken_back_before_what_is_saved(open_desk, read):
    async with open_desk() as desk:
        await desk.press("t", "enter", "y", "q")
    async with open_desk() as desk:
        assert desk.state.edit.kind is Kind.YEAR
        await desk.press("z")
        assert desk.said == "draft undone"
        assert desk.state.edit.kind is None
        assert read(0).gold is not None
        await desk.press("Z")
        assert desk.state.edit.kind is Kind.YEAR
        await desk.press("z", "z")
    assert read(0).gold is None


async def test_what_is_saved_leaves_no_steps_of_its_draft(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "a", "enter", "k", "z")
    assert read(1).gold is None


def test_the_steps_of_many_items_do_not_grow_without_end():
    from nfh_db.records import Role
    from nfh_tui.editor.state import EditState
    from nfh_tui.workbench.session import MOST_ITEMS, MOST_STEPS, DraftSteps

    steps = DraftSteps()
    past, _ = steps.of((0, Role.ANNOTATOR), has_draft=True)
    past += [EditState(cursor=n) for n in range(MOST_STEPS + 5)]
    again, _ = steps.of((0, Role.ANNOTATOR), has_draft=True)
    assert len(again) == MOST_STEPS
    assert again[-1].cursor == MOST_STEPS + 4
    for number in range(1, MOST_ITEMS + 1):
        steps.of((number, Role.ANNOTATOR), has_draft=True)
    assert steps.of((0, Role.ANNOTATOR), has_draft=True) == ([], [])
    past, _ = steps.of((5, Role.ANNOTATOR), has_draft=True)
    past.append(EditState())
    assert steps.of((5, Role.ANNOTATOR), has_draft=False) == ([], [])


# --- blind --------------------------------------------------------------------------------


async def test_blind_the_history_names_no_file_and_nobody(open_desk, database):
    async with open_desk() as desk:
        await desk.press("L")
        assert "shell.gold.jsonl" in desk.text()
        await desk.press("escape", "B", "L")
        shown = desk.text()
        assert "import" in shown
        assert "shell.gold" not in shown
        for name in ("ann1", "ann2", "ann3", "edith"):
            assert name not in shown.split("History of this item")[1].split("esc")[0]
    with Store.open(database) as store:
        assert next(store.queue.ids(parse(""), store.people.ensure("edith")))
