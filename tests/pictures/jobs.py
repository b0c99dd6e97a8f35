"""Jobs as the pictures show them: one that runs, one that waits, some that have ended."""

from math import exp, sin
from pathlib import Path

from nfh_db.jobs import JobPoint, JobProgress, JobState, NewJob
from nfh_db.models import NewModel
from nfh_db.store import Store
from nfh_tui.jobs.descriptions import LOG, job_folder

KINDS = {"train": (2, 2, True)}
AT = "2026-03-02T11:5{}:00+00:00 {}\n"
LOG_LINES = (
    "train resolution, attempt 1", "reading", "preparing", "training, epoch 1", "judging",
    "training, epoch 2",
)  # fmt: skip
STEPS, DONE, JUDGED = 400, 260, 40


def make_jobs(database: Path) -> None:
    """Four jobs and a model that one of them made; this process runs the third."""
    with Store.open(database) as store:
        _made(store)
        failed = store.jobs.add(_train("bilstm"))
        store.jobs.claim(KINDS, 9)
        store.jobs.end(
            failed, JobState.FAILED, "bilstm needs word vectors: add vectors=file:PATH"
        )
        _running(store)
        store.jobs.add(_train("linear"))


def _train(recipe: str, query: str = "") -> NewJob:
    arguments = {"recipe": recipe, "query": query, "words": [], "promote": True}
    return NewJob("train", 2, "resolution", arguments, "eva")


def _made(store: Store) -> None:
    """A job that is done, with its model, which is not in use."""
    job_id = store.jobs.add(_train("linear", "split:train"))
    store.jobs.claim(KINDS, 9)
    metrics = {
        "accuracy": 0.709, "accuracy_inclusive": 0.721, "accuracy_nearest": 0.688,
        "reference": 0.66, "implicit": 0.75, "examples": 3_906, "dev_examples": 1_000,
    }  # fmt: skip
    verdict = {
        "verdict": "rejected",
        "reason": "72.1 against 78.2 on 1,000 items: 6.1 points less [−8.4, −3.9]",
    }
    new = NewModel("linear-1", "resolution", "linear", "1", "linear-1", "0" * 64, {}, metrics)
    store.jobs.finish_training(job_id, new, {"passages": 3_800}, verdict=verdict)


def _running(store: Store) -> None:
    job_id = store.jobs.add(_train("small"))
    store.jobs.claim(KINDS, 9)
    for done in range(1, DONE + 1, 3):
        figures = {"loss": 0.4 + 1.6 * exp(-done / 60) + 0.04 * sin(done / 7)}
        judged = done // JUDGED
        if judged:
            figures["score"] = 0.78 - 0.12 * exp(-judged / 2)
        progress = JobProgress("training, epoch 2", done, STEPS, figures)
        store.jobs.update(job_id, progress, JobPoint(done, figures))
    lines = (AT.format(place, words) for place, words in enumerate(LOG_LINES))
    job = store.jobs.all()[0]
    (job_folder(store.path, job) / LOG).write_text("".join(lines), "utf-8")
