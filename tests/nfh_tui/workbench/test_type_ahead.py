"""A key that accepts counts only for an item that could be read."""

import pytest

from nfh_db.query import parse
from nfh_db.records import Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.editor.state import AnswerSource
from nfh_tui.workbench.answer import EARLY


@pytest.fixture(autouse=True)
def guard(monkeypatch):
    monkeypatch.setenv("NFH_TUI_GUARD", "on")


@pytest.fixture
def ids(database):
    """All items; each has an answer that an adjudicator is offered."""
    with Store.open(database) as store:
        me = store.people.ensure("edith")
        found = next(store.queue.ids(parse(""), me))
        for name in ("ann1", "ann2", "ann3"):
            who = store.people.ensure(name)
            for anchor_id in found:
                answer = class_answer(Kind.TIME)
                store.edits.commit_answer(anchor_id, who, Role.ANNOTATOR, answer)
    return found


@pytest.fixture
def decided(database, ids):
    """Which items an expert has decided, by their places."""

    def places():
        with Store.open(database) as store:
            me = store.people.ensure("edith")
            items = [store.items.read(i, me, Role.ADJUDICATOR) for i in ids]
            return [
                place
                for place, item in enumerate(items)
                if item.gold is not None and item.gold.rule is Rule.EXPERT
            ]

    return places


def burst(desk, *keys):
    """Hand over keys without waiting in between, as a paste or a held key does."""
    for key in keys:
        desk.app.simulate_key(key)


async def read_item(desk):
    """Have the item in view for longer than it must be."""
    assert desk.state.drawn_at is not None
    desk.state.drawn_at -= 1.0


async def test_enter_in_one_go_accepts_one_item(open_desk, decided):
    async with open_desk() as desk:
        await read_item(desk)
        burst(desk, *["enter"] * 6)
        await desk.settle()
        assert desk.state.position.index == 1
        assert EARLY in desk.said
        await read_item(desk)
        await desk.press("enter")
        assert desk.state.position.index == 2
    assert decided() == [0, 1]


async def test_an_answer_given_counts_at_once(open_desk, decided):
    async with open_desk() as desk:
        # The second y names the answer that is there; x changes it.
        burst(desk, "t", "enter", "t", "enter", "x", "enter")
        await desk.settle()
        assert EARLY not in desk.said
        assert desk.state.position.index == 3
    assert decided() == [0, 1, 2]


async def test_neither_a_move_nor_an_enter_that_ends_a_line_or_a_text_accepts(
    open_desk, decided
):
    async with open_desk() as desk:
        burst(desk, "j", "l", "enter")
        await desk.settle()
        assert EARLY in desk.said
        desk.screen.ui.notify("")
        await read_item(desk)
        burst(desk, "colon", *"state:", "tab", "escape", "colon", "enter", "enter", "enter")
        await desk.settle()
        assert EARLY in desk.said
        await read_item(desk)
        await desk.press("L")
        await desk.pilot.press("enter")
        burst(desk, "enter")
        await desk.settle()
        assert len(desk.app.screen_stack) == 1
    assert decided() == []


async def test_another_answer_than_the_one_read_is_not_accepted(open_desk, decided, ids):
    async with open_desk() as desk:
        await read_item(desk)
        with Store.open(desk.screen.store.path) as store:
            for name in ("ann1", "ann2", "ann3"):
                who = store.people.ensure(name)
                store.edits.commit_answer(ids[0], who, Role.ANNOTATOR, class_answer(Kind.AGE))
        await desk.screen.item.reload()
        assert desk.state.edit.kind is Kind.AGE
        burst(desk, "enter")
        await desk.settle()
        assert EARLY in desk.said
    assert decided() == []


async def test_the_time_is_a_setting(open_desk, decided, tmp_path):
    folder = tmp_path / "data" / "nfh-tui"
    folder.mkdir(parents=True)
    (folder / "nfh-tui.toml").write_text("[workbench]\naccept_after = 0\n", encoding="utf-8")
    async with open_desk() as desk:
        burst(desk, *["enter"] * 3)
        await desk.settle()
    assert decided() == [0, 1, 2]


async def test_adopting_and_going_on_in_one_go_decides_one_item(open_desk, decided):
    async with open_desk() as desk:
        await read_item(desk)
        burst(desk, *["alt+1"] * 6)
        await desk.settle()
        assert desk.state.position.index == 1
        assert EARLY in desk.said
        # Nothing is adopted of an item that is not accepted.
        assert desk.state.edit.source is AnswerSource.PROPOSAL
        await read_item(desk)
        await desk.press("comma", "1")
    assert decided() == [0, 1]
