"""The queue of what one was given: its order, what is left, and what stays hidden in it."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db.assignment_plan import Amount, AssignmentRequest
from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

PURPOSES = "UPDATE assignment SET purpose = 'work', expected = NULL WHERE purpose = 'check'"
FORGET_GOLD = (
    "DELETE FROM gold",
    "UPDATE anchor SET state = 'open', kind = NULL, heads = 0 WHERE state = 'decided'",
)


ENOUGH = 4
"""Answers that an item is to have: one more than any here has."""


def by_hand(path: Path, *statements: str) -> None:
    """Change a database behind the program's back."""
    with closing(connect(path, "rw")) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def give(database: Path) -> Callable[..., list[int]]:
    """Gives items of a query to people, and tells which they are, in the first one's order."""

    def assign(*to: str, query: str = "", limit: int | None = None, **wanted) -> list[int]:
        with Store.open(database) as store:
            wanted = AssignmentRequest(**({"each": ENOUGH} | wanted))
            store.assignments.assign(parse(query), None, to, wanted, limit=limit)
            order = parse("todo:me sort:assigned")
            return [
                i for ids in store.queue.ids(order, store.people.ensure(to[0])) for i in ids
            ]

    return assign


BOTH = {"each": 1, "role": Role.ADJUDICATOR, "doubles": Amount(100, percent=True)}

# --- an annotator's queue -------------------------------------------------------------------


async def test_annotating_starts_with_what_one_was_given(open_desk, give):
    mine = give("edith", query="class:none", limit=3, seed=2)
    async with open_desk(mode="annotate") as desk:
        assert desk.state.query.text == "todo:me sort:assigned"
        assert list(desk.state.ids.slice(0, 9)) == mine
        assert desk.state.visible_item.anchor_id == mine[0]
        assert "1/3 · 3 left" in desk.text()
    async with open_desk(mode="annotate", me="otto") as desk:
        assert len(desk.state.ids) == 6
        assert "left" not in desk.text().splitlines()[-2]
    async with open_desk(mode="browse") as desk:
        assert len(desk.state.ids) == 6


async def test_enter_goes_on_and_the_end_is_said(open_desk, give, read):
    mine = give("edith", query="class:none", limit=2)
    async with open_desk(mode="annotate") as desk:
        await desk.press("a", "enter")
        assert desk.state.visible_item.anchor_id == mine[1]
        assert "2/2 · 1 left" in desk.text()
        await desk.press("y", "enter")
        assert "saved" in desk.said
        assert "All done: every item assigned to you is answered." in desk.said
        await desk.press("z")
        assert "2/2 · 1 left" in desk.text()
        assert "All done" not in desk.said
        await desk.press("y", "enter")
        assert "All done" in desk.said
    kinds = {
        vote.annotator: vote.answer.kind for vote in read(0).votes if vote.annotator == "edith"
    }
    assert kinds == {"edith": Kind.AGE}


async def test_at_the_end_what_was_passed_over_is_told_and_can_be_shown(open_desk, give):
    mine = give("edith", query="class:none", limit=3)
    async with open_desk(mode="annotate") as desk:
        await desk.press("j", "a", "enter", "y", "enter")
        assert "1 of yours still open: : and enter show them" in desk.said
        await desk.press("colon", "enter")
        assert list(desk.state.ids.slice(0, 9)) == [mine[0]]
        assert desk.state.visible_item.anchor_id == mine[0]
        await desk.press("a", "enter")
        assert "All done" in desk.said


async def test_one_comes_back_to_where_one_stood(open_desk, give):
    mine = give("edith", query="class:none")
    async with open_desk(mode="annotate") as desk:
        await desk.press("a", "enter", "j", "l", "q")
        stood, cursor = desk.state.visible_item.anchor_id, desk.state.edit.cursor
    async with open_desk(mode="annotate") as desk:
        assert list(desk.state.ids.slice(0, 9)) == mine[1:]
        assert (desk.state.visible_item.anchor_id, desk.state.edit.cursor) == (
            stood,
            cursor,
        )
        assert stood == mine[2]


async def test_one_does_not_come_back_to_what_is_done(open_desk, give):
    mine = give("edith", query="class:none")
    async with open_desk(mode="annotate") as desk:
        await desk.press("a", "enter", "y", "enter", "k", "q")
        assert desk.state.visible_item.anchor_id == mine[1]
    async with open_desk(mode="annotate") as desk:
        assert desk.state.visible_item.anchor_id == mine[2]
        assert desk.state.position.index == 0
    async with open_desk(mode="annotate", query="assigned:me sort:assigned") as desk:
        await desk.press("t", "q")
        assert desk.state.visible_item.anchor_id == mine[0]
    async with open_desk(mode="annotate", query="todo:me sort:assigned") as desk:
        assert desk.state.visible_item.anchor_id == mine[2]


async def test_one_comes_back_to_what_is_done_and_begun_anew(open_desk, give):
    mine = give("edith", query="class:none")
    async with open_desk(mode="annotate") as desk:
        await desk.press("a", "enter", "k", "y", "q")
    async with open_desk(mode="annotate") as desk:
        assert desk.state.visible_item.anchor_id == mine[0]
        assert "draft" in desk.text()


async def test_what_is_given_wins_over_the_query_of_last_time(open_desk, give):
    async with open_desk(mode="annotate") as desk:
        await desk.press("colon", *"text:ferry", "enter", "q")
    mine = give("edith", query="class:none", limit=2)
    async with open_desk(mode="annotate") as desk:
        assert list(desk.state.ids.slice(0, 9)) == mine
    async with open_desk(mode="annotate", query="text:ferry") as desk:
        assert len(desk.state.ids) == 1


async def test_when_all_is_done_coming_back_says_so(open_desk, give):
    give("edith", query="class:none", limit=1)
    async with open_desk(mode="annotate") as desk:
        await desk.press("a", "enter", "q")
    async with open_desk(mode="annotate") as desk:
        assert "All done" in desk.said


async def test_each_role_has_a_queue_of_its_own(open_desk, give):
    give("edith", query="class:none", limit=2)
    give("edith", query="class:none", limit=3, role=Role.ADJUDICATOR)
    for mode, count in (("annotate", 2), ("adjudicate", 3)):
        async with open_desk(mode=mode) as desk:
            assert len(desk.state.ids) == count
            assert f"1/{count} · {count} left" in desk.text()
            await desk.press("right_square_bracket")
            assert desk.state.position.index == 1


# --- hidden checks --------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """History and earlier decisions are read as soon as an item is shown."""
    monkeypatch.setattr("nfh_tui.workbench.item.STAYS", 0)


async def all_read(desk) -> None:
    """Wait for what is read only once one stays on an item."""
    for _ in range(500):
        await desk.settle()
        late = [w for w in desk.app.workers if w.group in {"history", "guide"}]
        if all(worker.is_finished for worker in late):
            return
    raise AssertionError(f"still being read: {late}")


async def seen(open_desk, size: tuple[int, int], mode: str = "annotate") -> list[str]:
    """All that stands on the screen, item by item, with history and the other panes."""
    found = []
    async with open_desk(mode=mode, size=size) as desk:
        # One comes back to where one stood: a step from the end says the same each time.
        await desk.press("G", "g")
        for _ in range(len(desk.state.ids)):
            await all_read(desk)
            for key in ("tab", "tab", "tab"):
                found.append(desk.text())
                await desk.press(key)
            await desk.press("L")
            found.append(desk.text())
            await desk.press("escape", "j")
    return found


@pytest.mark.parametrize("size", [pytest.param((80, 24), marks=pytest.mark.long), (120, 40)])
async def test_a_check_is_like_any_other_item(open_desk, give, database, size):
    """The same screens as if the items were work, and their gold were not there."""
    mine = give("edith", query="class:none", limit=2, checks=Amount(1), seed=1)
    assert len(mine) == 3
    with_check = await seen(open_desk, size)
    by_hand(database, PURPOSES, *FORGET_GOLD)
    as_work = await seen(open_desk, size)
    assert with_check == as_work
    assert not any("decided" in text or "✓" in text for text in with_check)


async def test_answering_a_check_says_nothing_of_it(open_desk, give, database):
    give("edith", query="class:none", limit=1, checks=Amount(1))
    with Store.open(database) as store:
        eve = store.people.ensure("edith")
        check = next(iter(next(store.queue.ids(parse("todo:me class:AGE"), eve))))
    async with open_desk(mode="annotate") as desk:
        while desk.state.visible_item.anchor_id != check:
            await desk.press("j")
        await desk.press("y", "enter")
        assert "saved" in desk.said
        assert not {"AGE", "age", "wrong", "check"} & set(desk.said.split())
    with Store.open(database) as store:
        (progress,) = store.assignments.progress(parse(""), None, "")
        assert (progress.checks_done, progress.checks_right) == (1, 0)


# --- blind decisions ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [pytest.param((80, 24), marks=pytest.mark.long), (120, 40)])
async def test_two_decide_blind_and_then_see_each_other(open_desk, give, database, read, size):
    mine = give("edith", "otto", query="class:none", limit=2, **BOTH)
    before = await seen(open_desk, size, "adjudicate")
    async with open_desk(me="otto", size=size) as desk:
        assert list(desk.state.ids.slice(0, 9)) == mine
        await desk.press("c", "enter", "p", "enter")
    assert await seen(open_desk, size, "adjudicate") == before
    async with open_desk(size=size) as desk:
        assert "otto" not in "".join(before)
        await desk.press("g", "c", "enter", "y", "enter")
        assert "All done" in desk.said
    async with open_desk(query="experts:differ", size=(120, 40)) as desk:
        await all_read(desk)
        assert list(desk.state.ids.slice(0, 9)) == [mine[1]]
        text = desk.text()
        assert "◆ gold  People ≠ which class" in text and "adjudicator · otto" in text
        assert "· edith Year   =" in text
        assert desk.state.stored_item.gold.answer.kind is Kind.PEOPLE
        assert desk.state.stored_item.gold.adjudicator == "otto"
        await desk.press("enter")
        assert "your decision is kept beside the one by otto, which counts" in desk.said
    async with open_desk(query="experts:agree") as desk:
        assert list(desk.state.ids.slice(0, 9)) == [mine[0]]


async def test_the_next_undecided_item_may_be_one_that_somebody_else_decided(
    open_desk, give, database
):
    mine = give("edith", "otto", query="class:none", **BOTH)
    async with open_desk(me="otto") as desk:
        await desk.press("y", "enter", "y", "enter")
    async with open_desk(query="sort:order") as desk:
        while desk.state.visible_item.anchor_id != mine[0]:
            await desk.press("j")
        await desk.press("right_square_bracket")
        assert desk.state.visible_item.anchor_id == mine[1]


async def test_in_another_mode_other_things_are_seen_of_the_queue(open_desk, give):
    give("edith", "otto", query="class:none", **BOTH)
    async with open_desk(me="otto") as desk:
        await desk.press("a", "enter")
    async with open_desk(me="ida", mode="annotate", query="") as desk:
        assert "Age" not in desk.text().replace("a Age", "") and "✓" not in desk.text()
        await desk.press("M")
        assert desk.state.mode == "adjudicate"
        assert "✓" in desk.text() and "Age" in desk.text().replace("a Age", "")
        await desk.press("M", "M")
        assert desk.state.mode == "annotate"
        assert "✓ " not in desk.text().split("ANNOTATE")[0]


async def test_an_audit_shows_neither_votes_nor_gold(open_desk, database):
    with Store.open(database) as store:
        settled = next(store.queue.ids(parse("votes:3"), store.people.ensure("x")))[0]
    by_hand(
        database,
        f"INSERT INTO gold (anchor_id, kind, rule) VALUES ({settled}, 'AGE', 'majority')",
        f"UPDATE anchor SET state = 'decided', kind = 'AGE' WHERE id = {settled}",
    )
    with closing(connect(database, "rw")) as connection:
        connection.execute(
            "INSERT INTO annotator (id, name, created_at) VALUES (77, 'edith', '')"
        )
        connection.execute(
            "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, "
            "expected, run, assigned_at) VALUES (?, 77, 'adjudicator', 'audit', 1, "
            '\'{"kind":"AGE","rule":"majority"}\', \'\', \'\')',
            (settled,),
        )
    async with open_desk() as desk:
        await all_read(desk)
        text = desk.text()
        assert "1/1 · 1 left" in text
        assert not {"ann1", "ann2", "ann3", "majority"} & set(text.split())
        assert "✓" not in text and "2-1" not in text and "2 of 3" not in text
        # One table holds all answers, the gold's among them: it says so once.
        assert text.count("hidden until you decide") == 1
        # The keys of the kinds, and the whole guidelines, stand there for each item.
        shown = text.partition("Guidelines")[0].replace("a Age", "")
        assert not {"Earlier", "Nouns", "History", "AGE", "Age"} & set(shown.split())
        assert "Read again" not in text and "voters saw" not in text
        assert not set("¹²³₁₂₃◆") & set(text)
        await desk.press("L")
        assert "ann1" not in desk.text()
        await desk.press("escape", "t", "enter")
        assert "All done" in desk.said
    with Store.open(database) as store:
        edith = store.people.ensure("edith")
        assert list(next(store.queue.ids(parse("audit:wrong"), edith))) == [settled]
        again = store.items.read(settled, edith, Role.ADJUDICATOR)
        assert again.gold.answer == class_answer(Kind.TIME)
