"""What identification says is shown beside the item, also while one works; it is no answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db.records import Identified, Role
from nfh_db.store import Store
from nfh_models.identification.rules import RULES
from nfh_tui.services.predictor_client import PredictorState

RULE = RULES[-1]
"""Says yes; its sentence is shown."""


def identify(database: Path, anchor_id: int, said: Identified) -> None:
    """What `identify`, or the child, does."""
    with Store.open(database) as store:
        model = store.models.ensure(said.model, "identification", said.model, "1")
        store.identifications.save(
            model, store.identifications.decide_with(model, "p"), [(anchor_id, said)]
        )


class Predictor:
    """In the place of the client of a child process."""

    made: "list[Predictor]" = []  # noqa: RUF012

    def __init__(self, database, on_done, on_state):
        self.database, self.on_done, self.on_state = database, on_done, on_state
        self.asked: list[list[int]] = []
        self.made.append(self)

    async def start(self):
        self.on_state(PredictorState("ready", "It predicts.", "cues"))

    def ask(self, anchor_ids):
        self.asked.append(list(anchor_ids))

    async def stop(self):
        """Nothing to stop."""


@pytest.fixture
def predictor(monkeypatch) -> type[Predictor]:
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "on")
    monkeypatch.setattr("nfh_tui.services.predictor_client.PredictorClient", Predictor)
    Predictor.made.clear()
    return Predictor


def flat(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


async def test_the_rule_that_decided_is_shown(open_desk, database):
    identify(database, 1, Identified("rules", True, RULE.name))
    async with open_desk() as desk:
        shown = flat(desk.text())
        assert "Identification" in shown
        assert f"NFH · rule {RULE.name}" in shown
        await desk.press("j")
        assert "Identification" not in desk.text()


async def test_a_decision_that_comes_is_shown_and_held_against_the_draft(
    open_desk, database, predictor
):
    async with open_desk() as desk:
        await desk.press("j", "x")
        assert "Identification" not in desk.text()
        anchor = desk.state.visible_item.anchor_id
        identify(database, anchor, Identified("rules", True, RULE.name))
        predictor.made[0].on_done(anchor)
        await desk.pilot.pause(0.3)
        assert "≠ an NFH or none" in flat(desk.text())
        assert desk.state.edit.kind.value == "NOT_NFH"
        await desk.press("y")
        assert "≠ an NFH or none" not in flat(desk.text())
        await desk.press("enter")
    with Store.open(database) as store:
        (vote,) = store.items.read(anchor, store.people.ensure("edith"), Role.ADJUDICATOR).votes
    assert vote.saw_model


async def test_what_lacks_a_decision_is_asked_for_until_the_child_cannot(
    open_desk, database, predictor
):
    async with open_desk() as desk:
        await desk.pilot.pause(0.2)
        (child,) = predictor.made
        assert child.asked[-1][0] == 1
        sentence = "No identification: Parsing needs a pipeline with a parser."
        child.on_state(PredictorState("ready", sentence, "cues", aside=True))
        await desk.pilot.pause(0.2)
        assert "No identification" in desk.text()
        assert desk.screen.status_line.status.model == "model cues"


def test_the_sentences_of_the_rules_load_no_framework() -> None:
    code = (
        "import sys, json; from nfh_tui.widgets.evidence_rows import rule_sentence;"
        f"assert rule_sentence({RULE.name!r}) and not rule_sentence('no such rule');"
        "print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    heavy = {"spacy", "numpy", "sklearn", "torch", "stanza", "simplemma"}
    assert heavy.isdisjoint(json.loads(done.stdout))
