"""Gold to learn from, and trainings that are asked for."""

from collections.abc import Callable, Iterator

from nfh_db.jobs import Job, JobState
from nfh_db.models import Model
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer
from nfh_tui.jobs.reporting import Progress
from nfh_tui.jobs.runner import work
from nfh_tui.jobs.training import new_job

Add = Callable[..., None]
FAST = ("epochs=2", "batch=8", "window=40")


def texts(count: int, start: int = 0) -> Iterator[tuple[str, Answer]]:
    """Sentences with their gold, every second one an age, none like another."""
    for number in range(start, start + count):
        if number % 2:
            yield f"A: he is [ six ] , w{number} .", class_answer(Kind.AGE)
        else:
            yield f"A: i have dogs w{number} , you want [ two ] .", Answer(Kind.NFH)


def train(
    store: Store,
    *words: str,
    task: str = "resolution",
    recipe: str = "encoder",
    progress: Progress = lambda *_: None,
    **more: str,
) -> Job:
    """A training as a job of this process, once it has ended."""
    number = store.jobs.add(new_job(task, recipe, words=words, **more))  # type: ignore[arg-type]

    def over() -> bool:
        job = store.jobs.read(number)
        return job is None or job.state.ended

    work(store, progress, enough=over)
    job = store.jobs.read(number)
    assert job is not None
    return job


def made(store: Store, job: Job) -> Model:
    """The model that a job made."""
    assert job.state is JobState.DONE, job.error
    (model,) = (model for model in store.models.all() if model.id == job.model_id)
    return model


def quiet(*_: object) -> None:
    """Nobody watches."""
