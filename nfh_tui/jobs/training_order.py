"""What the row of a training job asks for, read and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nfh_db.query import parse
from nfh_tui.jobs.taking import IDENTIFICATION, Which
from nfh_tui.jobs.training_body import TrainSpec, trainer_of
from nfh_tui.jobs.words import text_of, texts_of, words_of
from nfh_tui.training_base import General, base_for, general_of
from nfh_tui.training_trainers import JUDGED_BY, Base, check_keys

if TYPE_CHECKING:
    from nfh_db.store import Store


@dataclass(frozen=True, slots=True)
class Order:
    """general: the settings that are no recipe's own. promote: whether a better model takes
    over. scheduler: the address of a cluster that does the work."""

    task: str
    recipe: str
    general: General
    which: Which
    parser: str | None
    promote: bool
    scheduler: str | None


def order_of(task: str, given: Mapping[str, object]) -> Order:
    """The arguments of a job. Raises QueryError, TrainerError."""
    general = general_of(texts_of(given, "words"))
    which = Which(
        task,
        parse(words_of(given, "query")),
        text_of(given, "split"),
        general.dev_split,
        general.dev,
    )
    return Order(
        task,
        words_of(given, "recipe"),
        general,
        which,
        text_of(given, "parser"),
        given.get("promote") is not False,
        text_of(given, "scheduler"),
    )


def spec_of(store: "Store", order: Order) -> TrainSpec:
    """How to train, with the model that is the active one now where that is started from.

    Raises ModelsError for a model that does not hold, or cannot be started from.
    """
    general, which = order.general, order.which
    start = None
    if order.task != IDENTIFICATION:
        start = base_for(store, order.recipe, general)
    spec = TrainSpec(
        order.task,
        order.recipe,
        general.words,
        order.parser,
        general.device,
        asked={
            "query": which.query.text,
            "split": which.split,
            "dev_split": which.dev_split,
        },
    )
    if isinstance(start, Base):
        return replace(
            spec,
            base_folder=str(start.folder),
            base_name=start.name,
            base_digest=start.digest,
        )
    return replace(spec, encoder=start)


def check_order(store: "Store", task: str, given: Mapping[str, object]) -> None:
    """Raise ModelsError, or QueryError, for a training that could not begin."""
    order = order_of(task, given)
    if task == IDENTIFICATION:
        check_identification(order.recipe, texts_of(given, "words"))
    else:
        trainer_of(spec_of(store, order))


def check_identification(recipe: str, words: Sequence[str]) -> None:
    """Raise SettingError, or TrainerError, for settings that are none of its recipe's."""
    from nfh_models.identification.svm_settings import WANTED, plan_of

    check_keys(words, recipe, WANTED, JUDGED_BY)
    plan_of(general_of(words).words)
