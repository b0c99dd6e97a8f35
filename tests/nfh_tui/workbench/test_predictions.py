"""Predictions come while one works, and their absence stops nothing."""

import pytest

from nfh_db.records import Identified, Prediction
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.services.predictor_client import PredictorState


class Predictor:
    """In the place of the client of a child process; a test says what it does."""

    made: "list[Predictor]" = []  # noqa: RUF012

    def __init__(self, database, on_done, on_state):
        self.database, self.on_done, self.on_state = database, on_done, on_state
        self.asked: list[list[int]] = []
        self.stopped = False
        self.made.append(self)

    async def start(self):
        self.on_state(PredictorState("ready", "It predicts.", "cues"))

    def ask(self, anchor_ids):
        self.asked.append(list(anchor_ids))

    async def stop(self):
        self.stopped = True

    def store(self, anchor_id: int, tokens: int, choice: str) -> None:
        """What the child does: a prediction and a decision stored, then told."""
        with Store.open(self.database) as store:
            model = store.models.ensure("cues", "resolution", "cues", "1")
            scores = (*(None,) * 6, *(0.5 if n < 3 else None for n in range(tokens)))
            found = Prediction("cues", choice, "2", 0.25, scores)
            store.predictions.save(model, [(anchor_id, found)])
            rules = store.models.ensure("rules", "identification", "rules", "1")
            said = Identified("rules", True, "no-one")
            version = store.identifications.decide_with(rules, "p")
            store.identifications.save(rules, version, [(anchor_id, said)])
        self.on_done(anchor_id)


@pytest.fixture
def predictor(monkeypatch) -> type[Predictor]:
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "on")
    monkeypatch.setattr("nfh_tui.services.predictor_client.PredictorClient", Predictor)
    Predictor.made.clear()
    return Predictor


async def test_the_item_shown_is_asked_for_first_and_the_next_ones(open_desk, predictor):
    async with open_desk() as desk:
        await desk.pilot.pause(0.2)
        ids = list(desk.state.ids.slice(0, 6))
        (child,) = predictor.made
        assert child.asked[-1] == ids[:4]
        assert desk.screen.status_line.status.model == "model cues"
        await desk.press("j")
        await desk.pilot.pause(0.2)
        assert child.asked[-1] == ids[1:5]
        await desk.pilot.press("q")
        await desk.pilot.pause(0.1)
    assert child.stopped


async def test_a_prediction_is_shown_when_it_comes_and_can_be_adopted(
    open_desk, predictor, read
):
    async with open_desk() as desk:
        await desk.press("j")
        await desk.pilot.pause(0.2)
        item = desk.state.visible_item
        assert "no answer yet" in desk.text()
        await desk.press("y")
        predictor.made[0].store(item.anchor_id, len(item.passage.tokens), "1")
        await desk.pilot.pause(0.2)
        assert "Reference ferry" in desk.text()
        assert desk.state.edit.kind is Kind.YEAR
        await desk.press("H", "m", "enter")
    given = next(v for v in read(1).votes if v.annotator == "edith")
    assert given.answer.head_tokens() == (1,)
    assert given.saw_model


async def test_a_prediction_of_an_item_read_ahead_is_there_when_one_comes(open_desk, predictor):
    async with open_desk() as desk:
        await desk.pilot.pause(0.2)
        await desk.press("j")
        there = desk.state.visible_item
        await desk.press("k")
        predictor.made[0].store(there.anchor_id, len(there.passage.tokens), "1")
        await desk.pilot.pause(0.1)
        await desk.press("j")
        assert desk.state.visible_item.prediction is not None
        await desk.pilot.pause(0.1)
        assert there.anchor_id not in predictor.made[0].asked[-1]


async def test_a_predictor_that_stays_off_is_said_and_the_work_goes_on(open_desk, predictor):
    async with open_desk() as desk:
        await desk.pilot.pause(0.1)
        sentence = "No English pipeline is installed: pip install en_core_web_sm."
        predictor.made[0].on_state(PredictorState("off", sentence))
        await desk.settle()
        assert desk.said == sentence
        assert desk.screen.status_line.status.model == "model off"
        await desk.press("j", "y", "enter")
        assert desk.said.startswith("saved ")


async def test_one_that_cannot_be_started_stops_nothing(open_desk, predictor, monkeypatch):
    async def fails(self):
        raise OSError("no such program")

    monkeypatch.setattr(predictor, "start", fails)
    async with open_desk() as desk:
        await desk.pilot.pause(0.1)
        await desk.settle()
        assert "no such program" in desk.said
        await desk.press("j", "y", "enter")
        assert desk.said.startswith("saved ")


async def test_without_the_evidence_in_view_no_model_was_seen(open_desk, predictor, read):
    async with open_desk(size=(80, 20)) as desk:
        item = desk.state.visible_item
        predictor.made[0].store(item.anchor_id, len(item.passage.tokens), "1")
        await desk.pilot.pause(0.2)
        await desk.press("y", "enter")
    assert not next(v for v in read(0).votes if v.annotator == "edith").saw_model
