"""What was in view before an answer was given is kept with the answer, wherever it stood."""

from contextlib import closing

import pytest

from nfh_db.connection import connect
from nfh_db.query import parse
from nfh_db.records import Identified, Prediction, Role
from nfh_db.store import Store
from nfh_tui.config import config_files

SMALL, TALL, LARGE = (80, 20), (80, 24), (120, 40)
BOTH_SIZES = pytest.mark.parametrize(
    "size", [SMALL, pytest.param(LARGE, marks=pytest.mark.long)]
)


@pytest.fixture
def guessed(database):
    """The id of the second item, of which the models have said all that they can."""
    with Store.open(database) as store:
        anchor_id = next(store.queue.ids(parse(""), store.people.ensure("x")))[1]
    predict(database, anchor_id)
    identify(database, anchor_id)
    return anchor_id


@pytest.fixture
def all_guessed(database):
    """All items have a prediction."""
    with Store.open(database) as store:
        ids = next(store.queue.ids(parse(""), store.people.ensure("x")))
    for anchor_id in ids:
        predict(database, anchor_id)


def show_all():
    """Let a person's own file say that nothing of the model is hidden from an annotator."""
    path = config_files()[0]
    path.parent.mkdir(parents=True)
    path.write_text("[workbench]\nhide_model = false\nguidelines = false", "utf-8")


def predict(database, anchor_id, choice="AGE"):
    with Store.open(database) as store:
        model = store.models.ensure("cues", "resolution", "cues", "1")
        scores = (None, 1.0, None, None, None, 0.1, None, 0.5, *(None,) * 8)
        found = Prediction("cues", choice, "1", 0.5, scores)
        store.predictions.save(model, [(anchor_id, found)])


def identify(database, anchor_id):
    with Store.open(database) as store:
        rules = store.models.ensure("rules", "identification", "rules", "1")
        said = Identified("rules", True, "no-one")
        store.identifications.save(
            rules, store.identifications.decide_with(rules, "p"), [(anchor_id, said)]
        )


@pytest.fixture
def given(read):
    """Edith's answer to an item, by its place."""

    def vote(place, role=Role.ADJUDICATOR):
        votes = read(place, role=role).votes
        return next(v for v in votes if v.annotator == "edith" and v.role is role)

    return vote


# --- the model ----------------------------------------------------------------------------


@pytest.mark.usefixtures("all_guessed")
@pytest.mark.parametrize("mode", ["adjudicate", "annotate"])
@pytest.mark.parametrize(
    "looks",
    [
        [
            ([], False),
            (["tab", "escape"], True),
            (["H", "H", "H"], True),
            (["shift+tab", "H", "H", "H", "escape"], False),
            (["tab"], True),
        ],
        pytest.param(
            [
                (["tab", "tab", "tab"], True),
                (["shift+tab", "escape"], False),
                (["tab", "escape", "j", "k"], True),
                (["m"], True),
            ],
            marks=pytest.mark.long,
        ),
    ],
)
async def test_at_80_columns_the_model_counts_once_it_was_in_view(
    open_desk, given, mode, looks
):
    show_all()
    role = Role.ADJUDICATOR if mode == "adjudicate" else Role.ANNOTATOR
    async with open_desk(size=SMALL, mode=mode) as desk:
        for place, (keys, saw) in enumerate(looks):
            assert desk.state.position.index == place
            await desk.press(*keys, "y", "enter")
            assert desk.said.startswith("saved "), keys
            assert given(place, role).saw_model is saw, keys


@pytest.mark.parametrize("say", [predict, identify])
async def test_either_model_counts(open_desk, database, given, say):
    with Store.open(database) as store:
        say(database, next(store.queue.ids(parse(""), store.people.ensure("x")))[1])
    async with open_desk(size=SMALL) as desk:
        await desk.press("j", "tab", "escape", "y", "enter", "tab", "escape", "y", "enter")
    assert given(1).saw_model
    assert not given(2).saw_model


async def test_identification_alone_is_not_in_the_heat_map(open_desk, database, given):
    with Store.open(database) as store:
        identify(database, next(store.queue.ids(parse(""), store.people.ensure("x")))[1])
    async with open_desk(size=SMALL) as desk:
        await desk.press("H", "j", "y", "enter")
    assert not given(1).saw_model


@pytest.mark.parametrize("size", [TALL, pytest.param(LARGE, marks=pytest.mark.long)])
async def test_with_the_evidence_beside_the_model_is_always_in_view(
    open_desk, guessed, given, size
):
    async with open_desk(size=size) as desk:
        await desk.press("j", "y", "enter", "y", "enter")
    assert given(1).saw_model
    assert not given(2).saw_model


async def test_a_window_that_was_wide_for_a_while(open_desk, guessed, given):
    async with open_desk(size=SMALL) as desk:
        await desk.press("j")
        await desk.pilot.resize_terminal(*LARGE)
        await desk.settle()
        await desk.pilot.resize_terminal(*SMALL)
        await desk.settle()
        await desk.press("y", "enter")
    assert given(1).saw_model


@BOTH_SIZES
async def test_what_was_read_while_browsing_counts_when_one_decides(
    open_desk, guessed, given, size
):
    async with open_desk(mode="browse", size=size) as desk:
        await desk.press("j", "tab", "escape", "M", "M")
        assert desk.state.mode == "adjudicate"
        await desk.press("y", "enter")
    assert given(1).saw_model


async def test_what_comes_after_the_look_was_not_seen(open_desk, database, given):
    async with open_desk(size=SMALL) as desk:
        await desk.press("j", "tab", "escape")
        predict(database, desk.state.visible_item.anchor_id)
        await desk.screen.item.reload()
        assert desk.state.visible_item.prediction is not None
        await desk.press("y", "enter")
    assert not given(1).saw_model


# --- others' answers ----------------------------------------------------------------------


@BOTH_SIZES
async def test_others_answers_count_when_one_decides_on_them(open_desk, given, size):
    async with open_desk(size=size) as desk:
        await desk.press("y", "enter", "y", "enter")
    assert given(0).saw_votes
    assert not given(1).saw_votes


@BOTH_SIZES
async def test_others_answers_seen_while_browsing_count_for_ones_own(open_desk, given, size):
    async with open_desk(mode="browse", size=size) as desk:
        await desk.press("M", "y", "enter")
        assert desk.state.mode == "annotate"
    assert given(0, Role.ANNOTATOR).saw_votes


@BOTH_SIZES
async def test_annotating_alone_sees_no_answers(open_desk, given, size):
    async with open_desk(mode="annotate", size=size) as desk:
        await desk.press("tab", "escape", "y", "enter")
    assert not given(0, Role.ANNOTATOR).saw_votes


@BOTH_SIZES
async def test_ones_own_answers_are_not_others(open_desk, given, size):
    async with open_desk(mode="annotate", size=size) as desk:
        await desk.press("j", "y", "enter", "k", "M")
        assert desk.state.mode == "adjudicate"
        await desk.press("y", "enter", "k", "a", "enter")
        assert desk.said.startswith("saved ")
    assert not given(1).saw_votes
    async with open_desk(size=size) as desk:
        await desk.press("k", "tab", "escape", "t", "enter")
    assert not given(1).saw_votes


@BOTH_SIZES
async def test_what_is_withheld_was_not_seen(open_desk, database, given, size):
    """An audit of the first item, which three have answered."""
    with closing(connect(database, "rw")) as connection:
        connection.execute(
            "INSERT INTO annotator (id, name, created_at) VALUES (77, 'edith', '')"
        )
        connection.execute(
            "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, "
            "expected, run, assigned_at) VALUES (1, 77, 'adjudicator', 'audit', 1, "
            '\'{"kind":"AGE","rule":"majority"}\', \'\', \'\')'
        )
    async with open_desk(size=size) as desk:
        assert desk.state.visible_item.withheld
        await desk.press("tab", "escape", "t", "enter")
    seen = given(0)
    assert not seen.saw_votes
    assert not seen.saw_model
