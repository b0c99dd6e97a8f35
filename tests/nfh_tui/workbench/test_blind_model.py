"""What models say of an item that an adjudicator has to decide blind is kept back, too."""

from contextlib import closing

import pytest

from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Identified, Prediction, Role
from nfh_db.store import Store
from nfh_tui.workbench.availability import IN_VIEW

SMALL, LARGE = (80, 24), (120, 40)
SCORES = (None, 1.0, None, None, None, 0.1, None, 0.5, *(None,) * 8)
EACH = pytest.mark.parametrize(
    ("blind", "size"),
    [
        ("double", SMALL),
        ("audit", LARGE),
        pytest.param("double", LARGE, marks=pytest.mark.long),
        pytest.param("audit", SMALL, marks=pytest.mark.long),
    ],
    indirect=["blind"],
)
GIVEN = """
INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, expected, run,
    assigned_at)
VALUES (?, 77, 'adjudicator', ?, 1, '{"kind":"AGE","rule":"majority"}', '', '')"""
EDITH = "INSERT INTO annotator (id, name, created_at) VALUES (77, 'edith', '')"


@pytest.fixture(params=["double", pytest.param("audit", marks=pytest.mark.long)])
def blind(database, request):
    """Edith's item to be decided blind, the second of all; models have said things of it, and
    of the first.
    """
    with Store.open(database) as store:
        ids = next(store.queue.ids(parse(""), store.people.ensure("x")))[:2]
        model = store.models.ensure("cues", "resolution", "cues", "1")
        found = Prediction("cues", "AGE", "1", 0.5, SCORES)
        store.predictions.save(model, [(one, found) for one in ids])
        rules = store.models.ensure("rules", "identification", "rules", "1")
        said = Identified("rules", True, "no-one")
        known = store.identifications.decide_with(rules, "p")
        store.identifications.save(rules, known, [(one, said) for one in ids])
    with closing(connect(database, "rw")) as connection:
        connection.execute(EDITH)
        connection.execute(GIVEN, (ids[1], request.param))
    return ids[1]


def decided(database, anchor_id):
    with Store.open(database) as store:
        item = store.items.read(anchor_id, store.people.ensure("edith"), Role.ADJUDICATOR)
        votes = [v for v in item.votes if v.annotator == "edith" and v.role is Role.ADJUDICATOR]
        return item, votes[0]


@EACH
async def test_it_is_hidden_until_one_has_decided(open_desk, database, blind, size):
    async with open_desk(query="sort:order", size=size) as desk:
        await desk.press("g", "H")
        assert desk.state.visible_item.prediction is not None
        await desk.press("j")
        state = desk.state
        assert state.visible_item.anchor_id == blind and state.visible_item.withheld
        assert state.visible_item.model_hidden
        assert (
            state.visible_item.prediction is None and state.visible_item.identification is None
        )
        assert "cues" not in desk.text()
        await desk.press("m")
        assert "hidden until you have answered" in desk.said
        assert state.edit.reason != "the model"
        await desk.press("t", "enter", "g", "j")
        assert state.visible_item.anchor_id == blind
        assert not state.visible_item.withheld and state.visible_item.prediction is not None
    assert not decided(database, blind)[1].saw_model


@EACH
async def test_shown_it_is_stored_with_the_decision(open_desk, database, blind, size):
    async with open_desk(query="sort:order", size=size) as desk:
        await desk.press("g", "j", "O")
        assert "your answers record that" in desk.said
        assert desk.state.visible_item.prediction is not None
        await desk.press("tab", "H", "escape", "t", "enter")
    assert decided(database, blind)[1].saw_model


async def test_where_one_may_know_all_nothing_can_be_hidden(open_desk, blind):
    async with open_desk(query="sort:order") as desk:
        await desk.press("g", "O")
        assert desk.said.strip() == IN_VIEW
        assert desk.state.visible_item.prediction is not None


async def test_browsing_does_not_tell_either(open_desk, blind):
    async with open_desk(query="sort:order", mode="browse") as desk:
        await desk.press("g", "j")
        assert desk.state.visible_item.anchor_id == blind
        assert desk.state.visible_item.prediction is None
