"""The workbench while work goes on beside it: models, jobs, orders, what one has in hand."""

import subprocess
import sys

import pytest

from nfh_db.jobs import JobProgress, JobState, NewJob
from nfh_db.models import ActivationReason
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.client import by
from nfh_tui.jobs.descriptions import claimable
from nfh_tui.jobs.training import new_job, set_every
from nfh_tui.services.predictor_client import PredictorState
from nfh_tui.workbench import background
from tests.nfh_tui.workbench.test_predictions import Predictor

LINEAR = new_job("resolution", "linear")
BETTER = "right on 2.1 points more of 1,000 items (0.4 to 3.9)"


@pytest.fixture
def store(database):
    with Store.open(database) as store:
        yield store


def activate(store, model: int, **why: object) -> None:
    store.models.activate(model, ActivationReason(**why))


# --- a model that takes over ----------------------------------------------------------------


async def test_a_promoted_model_is_shown_on_the_item_without_a_key(open_desk, store, ids, says):
    says("cues", ids, [0.5] * 6)
    async with open_desk() as desk:
        await desk.press("y")
        better = says("linear-1", ids, [0.3] * 6)
        await desk.next_second()
        assert desk.state.visible_item.prediction.model == "cues"
        activate(store, better, reason=BETTER, job=None)
        await desk.next_second()
        assert desk.state.visible_item.prediction.model == "linear-1"
        sentence = f"linear-1 now resolves in place of cues: {BETTER}"
        assert sentence in desk.words()
        assert desk.state.edit.kind is Kind.YEAR
        await desk.press("j", "k")
        assert desk.screen.status_line.status.news == (sentence,)


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.long)])
async def test_the_news_stands_until_it_can_have_been_read(
    open_desk, store, ids, says, monkeypatch, size
):
    says("cues", ids, [0.5] * 6)
    async with open_desk(size=size) as desk:
        activate(store, says("linear-1", ids, [0.3] * 6), who="anna")
        await desk.next_second()
        monkeypatch.setattr(background, "READ_IN", -1.0)
        await desk.next_second()  # nobody has pressed a key: nobody may be there
        assert "linear-1 now resolves in place of cues: activated by anna" in desk.text()
        monkeypatch.setattr(background, "READ_IN", 1e9)
        await desk.press("y", "enter")
        assert "saved" in desk.text()
        assert "in place of cues" in desk.text()
        monkeypatch.setattr(background, "READ_IN", -1.0)
        await desk.next_second()
        assert "in place of cues" not in desk.text()


async def test_a_model_of_both_tasks_is_told_once_and_the_first_of_all_not(
    open_desk, store, ids
):
    async with open_desk() as desk:
        store.models.ensure("small", "both", "small", "1")
        await desk.next_second()
        assert desk.screen.status_line.status.news == ()
        activate(store, store.models.ensure("small-1", "both", "small", "1"), reason=BETTER)
        await desk.next_second()
        (news,) = desk.screen.status_line.status.news
        assert news == f"small-1 now identifies and resolves in place of small: {BETTER}"


async def test_what_is_hidden_until_one_answers_stays_hidden(open_desk, store, ids, says):
    says("cues", ids, [0.5] * 6)
    async with open_desk(mode="annotate") as desk:
        await desk.press("I")
        activate(store, says("linear-1", ids, [0.3] * 6), reason=BETTER)
        await desk.next_second()
        assert "hidden until you have answered" in desk.text()
        assert desk.state.visible_item.prediction is None
        await desk.press("y", "enter", "k")
        assert desk.state.visible_item.prediction.model == "linear-1"


async def test_a_predictor_that_was_of_no_use_starts_again_for_another_model(
    open_desk, store, ids, says, monkeypatch
):
    monkeypatch.setenv("NFH_TUI_PREDICTOR", "on")
    monkeypatch.setattr("nfh_tui.services.predictor_client.PredictorClient", Predictor)
    Predictor.made.clear()
    says("cues", ids, [0.5] * 6)
    async with open_desk() as desk:
        await desk.settle()
        (child,) = Predictor.made
        child.on_state(PredictorState("off", "No English pipeline is installed."))
        await desk.settle()
        assert desk.screen.status_line.status.model == "model off"
        activate(store, says("linear-1", ids, [0.3] * 6), reason=BETTER)
        await desk.next_second()
        assert desk.screen.status_line.status.model == "model cues"  # as the child says


# --- jobs -----------------------------------------------------------------------------------


async def test_the_line_of_state_says_which_jobs_there_are(open_desk, store):
    async with open_desk() as desk:
        store.jobs.add(LINEAR)
        store.jobs.add(NewJob("predict", 2, "resolution", {}))
        await desk.next_second()
        assert desk.screen.status_line.status.job == "train linear waits +1"
        store.jobs.claim(claimable())
        store.jobs.update(1, JobProgress("fitting", 3, 10))
        await desk.next_second()
        assert "train linear: fitting 30 % +1" in desk.text()
        store.jobs.end(1, JobState.FAILED, "there are too few of a kind")
        store.jobs.end(2, JobState.CANCELLED, "by anna")
        await desk.next_second()
        assert desk.screen.status_line.status.job == ""
        said = "Job 1 (train linear) failed: there are too few of a kind"
        assert desk.screen.status_line.status.news == (
            "Job 2 (predict) was cancelled by anna",
            said,
        )
        # One at a time, and that there are more.
        shown = desk.words()
        assert "was cancelled by anna (+1 more)" in shown and said not in shown


async def test_what_ended_is_told_to_nobody_who_annotates_nor_to_who_ended_it(open_desk, store):
    async with open_desk(mode="annotate") as desk:
        store.jobs.add(LINEAR)
        await desk.next_second()
        store.jobs.end(1, JobState.FAILED, "there are too few of a kind")
        await desk.next_second()
        assert desk.screen.status_line.status.job == ""
        assert desk.screen.status_line.status.news == ()
        await desk.screen.client.write(desk.screen.store.jobs.add, LINEAR)
        await desk.next_second()
        desk.screen.store.jobs.end(2, JobState.CANCELLED, by(desk.state.me.name))
        await desk.next_second()
        assert desk.screen.status_line.status.job == ""
    async with open_desk() as desk:
        await desk.screen.client.write(desk.screen.store.jobs.add, LINEAR)
        # Nobody else has written, and the line of state says it all the same.
        await desk.next_second()
        assert desk.screen.status_line.status.job == "train linear waits"
        desk.screen.store.jobs.end(3, JobState.CANCELLED, by(desk.state.me.name))
        await desk.next_second()
        assert desk.screen.status_line.status.job == ""
        assert desk.screen.status_line.status.news == ()


CLAIM = """
import sys
from pathlib import Path
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import claimable
store = Store.open(Path(sys.argv[1]))
assert store.jobs.claim(claimable())
print("here", flush=True)
sys.stdin.read()
"""


def claimed_elsewhere(database) -> subprocess.Popen[bytes]:
    """A process that has a job and does nothing."""
    child = subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None and child.stdout.readline() == b"here\n"
    return child


async def test_a_job_whose_process_died_is_told_so_and_somebody_is_started_for_it(
    open_desk, database, store, monkeypatch
):
    started = []

    async def start(self):
        started.append(1)
        return True

    monkeypatch.setattr("nfh_tui.client.StoreClient.start_runner", start)
    async with open_desk() as desk:
        store.jobs.add(LINEAR)
        await desk.next_second()
        assert started == [1]
        child = claimed_elsewhere(database)
        await desk.next_second()
        assert desk.screen.status_line.status.job == "train linear …"
        child.kill()
        child.communicate()
        await desk.next_second()
        assert desk.screen.status_line.status.job == "train linear interrupted"
        assert started == [1]  # not every second
        desk.screen.background._nudged_at = -background.NUDGE
        await desk.next_second()
        assert started == [1, 1]


async def test_who_only_browses_starts_no_runner(open_desk, store, monkeypatch):
    started = []

    async def start(self):
        started.append(1)
        return True

    monkeypatch.setattr("nfh_tui.client.StoreClient.start_runner", start)
    store.jobs.add(LINEAR)
    async with open_desk(mode="browse") as desk:
        await desk.next_second()
        assert desk.screen.status_line.status.job == "train linear waits"
        assert started == []


async def test_news_waits_until_one_was_shown_round(open_desk, store, says, ids):
    async with open_desk() as desk:
        await desk.screen.tour.start()
        store.jobs.add(LINEAR)
        await desk.next_second()
        store.jobs.end(1, JobState.FAILED, "no gold")
        await desk.next_second()
        assert desk.screen.status_line.status.news == ()
        await desk.press("escape")
        await desk.next_second()
        assert desk.screen.status_line.status.news == ("Job 1 (train linear) failed: no gold",)


async def test_what_became_of_a_new_model_is_told(open_desk, store):
    async with open_desk() as desk:
        for number, (verdict, told) in enumerate(
            (
                ("promoted", []),
                (None, []),
                ("candidate", ["linear-1 is kept as a candidate: no better"]),
                ("rejected", ["linear-1 is rejected: no better"]),
            ),
            start=1,
        ):
            before = desk.screen.status_line.status.news
            store.jobs.add(LINEAR)
            store.jobs.claim(claimable())
            await desk.next_second()
            found = verdict and {"verdict": verdict, "reason": "no better"}
            store.jobs.end(
                number, JobState.DONE, result={"model": "linear-1", "verdict": found}
            )
            await desk.next_second()
            news = desk.screen.status_line.status.news
            assert sorted(set(news) - set(before)) == told, verdict


async def test_enough_decisions_queue_a_training_and_start_a_runner(
    open_desk, store, monkeypatch, enough
):
    started = []

    async def start(self):
        started.append([job.state for job in self.store.jobs.all()])
        return True

    monkeypatch.setattr("nfh_tui.client.StoreClient.start_runner", start)
    set_every(store, 2, LINEAR)
    async with open_desk() as desk:
        await desk.press("y", "enter")
        await desk.next_second()
        assert started == []
        await desk.press("y", "enter")
        await desk.next_second()
        assert started == [[JobState.QUEUED]]
        assert "decisions for a training: job 1 is queued" in desk.text()
        assert desk.screen.status_line.status.job == "train linear waits"
        await desk.press("y", "enter", "y", "enter")
        await desk.next_second()
        assert len(store.jobs.all()) == 1


# --- an order that learns -------------------------------------------------------------------


async def test_the_queue_is_ordered_anew_behind_the_item_in_hand(
    open_desk, ids, says, decide, monkeypatch
):
    monkeypatch.setattr(background, "BETWEEN", 0.0)
    says("cues", ids, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    async with open_desk(query="sort:uncertain") as desk:
        await desk.press("j", "y")
        await desk.next_second()
        assert list(desk.state.ids.slice(0, 9)) == ids
        says("cues", ids, [0.9, 0.8, 0.7, 0.3, 0.2, 0.1])
        decide(ids[5])
        says("cues", [ids[2]], [0.25])
        says("other", ids[:1], [0.5])
        await desk.next_second()
        a, b, c, d, e, f = ids
        assert list(desk.state.ids.slice(0, 9)) == [a, b, f, e, c, d]
        assert (desk.state.position.index, desk.state.visible_item.anchor_id) == (
            1,
            b,
        )
        assert desk.state.edit.kind is Kind.YEAR
        assert "2/6" in desk.text()
        await desk.press("enter")
        assert desk.state.visible_item.anchor_id == f
        await desk.press("k", "k")
        assert desk.state.visible_item.anchor_id == a


async def test_what_no_longer_fits_leaves_the_rest_and_not_what_is_in_hand(
    open_desk, ids, says, decide, monkeypatch
):
    monkeypatch.setattr(background, "BETWEEN", 0.0)
    says("cues", ids, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    async with open_desk(query="-state:decided sort:uncertain") as desk:
        a, b, _, d, e, f = ids
        await desk.next_second()
        decide(a, d)
        says("other", ids[:1], [0.5])
        await desk.next_second()
        assert list(desk.state.ids.slice(0, 9)) == [a, b, e, f]
        assert desk.state.visible_item.anchor_id == a


async def test_other_orders_stay_and_the_next_one_comes_no_sooner_than_it_may(
    open_desk, ids, says
):
    says("cues", ids, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    async with open_desk(query="sort:anchor") as desk:
        before = desk.state.ids
        says("cues", ids, [0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
        await desk.next_second()
        assert desk.state.ids is before
        await desk.press(":")
        desk.screen.bar.finish(accepted=False)
    async with open_desk(query="sort:uncertain", me="anna") as desk:
        await desk.next_second()
        for name in ("a", "b"):
            says(name, ids, [0.1] * 6)
            await desk.next_second()
            after = desk.state.ids
        says("c", ids, [0.1] * 6)
        await desk.next_second()
        assert desk.state.ids is after
