"""Gold to learn from, and trainings that are asked for."""

from collections.abc import Callable, Iterator

from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer
from nfh_tui.training_base import base_for, general_of
from nfh_tui.training_resolution import Wanted
from nfh_tui.training_trainers import trainer_for

Add = Callable[..., None]
FAST = ("epochs=2", "batch=8", "window=40")


def texts(count: int, start: int = 0) -> Iterator[tuple[str, Answer]]:
    """Sentences with their gold, every second one an age, none like another."""
    for number in range(start, start + count):
        if number % 2:
            yield f"A: he is [ six ] , w{number} .", class_answer(Kind.AGE)
        else:
            yield f"A: i have dogs w{number} , you want [ two ] .", Answer(Kind.NFH)


def wanted(store: Store, *words: str, task: str = "resolution", **more: object) -> Wanted:
    general = general_of(words)
    recipe = str(more.pop("recipe", "encoder"))
    start = base_for(store, recipe, general)
    trainer = trainer_for(task, recipe, general.words, start, general.device)
    return Wanted(
        task,
        trainer,
        dev_split=general.dev_split,
        dev=general.dev,
        **more,  # type: ignore[arg-type]
    )


def quiet(*_: object) -> None:
    """Nobody watches."""
