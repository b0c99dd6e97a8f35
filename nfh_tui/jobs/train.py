"""The job "train": a model out of the gold of the database."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nfh_db.jobs import NewJob
from nfh_tui.jobs.kinds import KINDS, TRAIN

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

IDENTIFICATION = "identification"


def asked(
    task: str,
    recipe: str,
    *,
    words: tuple[str, ...] = (),
    query: str = "",
    split: str | None = None,
    parser: str | None = None,
    asked_by: str = "",
) -> NewJob:
    """A training to be queued. words: settings, "key=value"; the rest as `nfh-tui retrain`."""
    arguments = {
        "recipe": recipe,
        "words": list(words),
        "query": query,
        "split": split,
        "parser": parser,
    }
    return NewJob(TRAIN, KINDS[TRAIN].version, task, arguments, asked_by)


def run(store: "Store", job: "Job", report: "JobReporter") -> Mapping[str, object] | None:
    """Train; the job is done together with the model's registration."""
    from nfh_db.query import parse

    given = job.arguments
    query = parse(str(given.get("query") or ""))
    split, parser = _word(given.get("split")), _word(given.get("parser"))
    words = given.get("words")
    settings = tuple(map(str, words)) if isinstance(words, list) else ()
    if job.task == IDENTIFICATION:
        from nfh_models.identification.svm_settings import plan_of
        from nfh_tui import training

        wanted = training.Wanted(query, split, parser, plan_of(settings))
        training.train_for(store, job.id, wanted, report)
        return None
    from nfh_tui import training_resolution
    from nfh_tui.choosing_models import ensure_built_in
    from nfh_tui.training_base import base_for, general_of
    from nfh_tui.training_trainers import trainer_for

    ensure_built_in(store)
    recipe = str(given["recipe"])
    general = general_of(settings)
    base = base_for(store, recipe, general)
    trainer = trainer_for(job.task, recipe, general.words, base, general.device)
    training_resolution.train_for(
        store,
        job.id,
        training_resolution.Wanted(
            job.task, trainer, query, split, parser, general.dev_split, general.dev
        ),
        report,
    )
    return None


def _word(value: object) -> str | None:
    return value if isinstance(value, str) else None
