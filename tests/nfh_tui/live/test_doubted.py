"""What a model that had not seen the gold says of it, beside the item; and learning orders."""

import pytest

from nfh_db.answers import Doubt
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.jobs.doubts import new_doubts_job


@pytest.fixture
def store(database):
    with Store.open(database) as store:
        yield store


@pytest.fixture
def doubted(store, ids, decide) -> list[int]:
    """Two decided anchors, the first of them doubted."""
    decide(*ids[:2])
    job = store.jobs.add(new_doubts_job("resolution", "linear"))
    found = [Doubt(ids[0], "AGE", 0.07, 0.5), Doubt(ids[1], "AGE", 0.9, 0.5)]
    store.answers.save_doubts(job, found, lambda *_: True)
    return ids[:2]


async def test_how_doubted_by_what_and_what_it_says(open_desk, doubted):
    async with open_desk(query="state:decided", size=(140, 40)) as desk:
        told = " ".join(part[0] for row in desk.screen.evidence._rows for part in row)
        told = " ".join(told.split())
        assert "unlikely gold, 0.93: linear of job 1, which did not see it, says" in told
        await desk.press("j")
        assert "doubted" not in desk.text()


def test_who_may_not_see_gold_is_told_nothing(store, doubted, decide):
    me = store.people.ensure("edith")
    seen = store.items.read(doubted[0], me, Role.ADJUDICATOR)
    assert seen is not None and seen.doubted is not None
    assert (seen.doubted.choice, seen.doubted.recipe) == ("AGE", "linear")
    hidden = store.items.read_for_annotator(doubted[0], me)
    assert hidden is not None and hidden.doubted is None
    # Gold that is looked at again is doubted no more.
    decide(doubted[0], kind=Kind.YEAR)
    seen = store.items.read(doubted[0], me, Role.ADJUDICATOR)
    assert seen is not None and seen.doubted is None


async def test_deep_in_another_order_it_is_said_how_to_come_to_its_first(open_desk, ids, says):
    says("cues", ids, [0.1 * n for n in range(6, 0, -1)])
    async with open_desk() as desk:
        before = desk.state.visible_item.anchor_id
        await desk.screen.queries.run("sort:uncertain")
        await desk.settle()
        assert desk.state.visible_item.anchor_id == before and desk.state.position.index == 5
        await desk.press("S", "enter")
        assert "g goes to the first" not in desk.said
        await desk.press("G", "S", "home", "enter")
        assert "The current item is number" in desk.said
        assert "g goes to the first" in desk.said
