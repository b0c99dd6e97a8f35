"""Going back to the model that a task used before, as far as it still can be used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_db.activations import BACK, SINGLE_TASKS, Because, earlier, last_changed, piles
from nfh_models.errors import ModelsError
from nfh_tui.choosing_models import check_usable

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

NOTHING = "no other model was in use before{of}; to use one: nfh-tui models activate ID"


class NoWayBackError(ModelsError):
    """There is no model to go back to; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Back:
    """Where somebody went back. before, after: the model of each task that changed, by the
    task. passed_over: models in between that cannot be used, each with the reason."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    passed_over: Mapping[str, str]


def go_back(store: "Store", task: str | None = None, *, who: str = "") -> Back:
    """Let a task use the model again that it used before; by default undo the last change.

    A model that cannot be used any more is passed over. Raises NoWayBackError, StoreError.
    """
    told = store.activations()
    tasks = last_changed(told) if task is None else (task,)
    if not tasks:
        raise NoWayBackError(NOTHING.format(of=""))
    changes = piles(told)
    models = {one.id: one for one in store.models()}
    before = in_use(store)
    passed_over: dict[str, str] = {}
    wanted = {}
    for one in tasks:
        below = [models[it] for it in earlier(changes[one]) if it in models]
        found = _usable(store, below, before.get(one), passed_over)
        if found is None:
            raise NoWayBackError(_why(one, passed_over))
        wanted[one] = found.id
    now = store.put_back_models(wanted, Because(who, BACK))
    after = {key: model.name for key, model in now.items()}
    changed = [key for key in SINGLE_TASKS if before.get(key) != after.get(key)]
    return Back(
        {key: before[key] for key in changed if key in before},
        {key: after[key] for key in changed if key in after},
        passed_over,
    )


def in_use(store: "Store") -> dict[str, str]:
    """The model that each task uses, by the task."""
    found = {task: store.active_model(task) for task in SINGLE_TASKS}
    return {task: model.name for task, model in found.items() if model is not None}


def _usable(
    store: "Store", below: "list[Model]", now: str | None, passed_over: dict[str, str]
) -> "Model | None":
    """The first of these that is another than the one in use, and can be used."""
    for model in below:
        if model.name == now or model.name in passed_over:
            continue
        try:
            check_usable(store, model)
        except (ModelsError, ImportError, OSError) as error:
            passed_over[model.name] = str(error)
            continue
        return model
    return None


def _why(task: str, passed_over: Mapping[str, str]) -> str:
    if not passed_over:
        return NOTHING.format(of=f" for {task}")
    told = "; ".join(passed_over.values())
    return f"no model that {task} used before can be used: {told}"
