"""Which model resolves: what a person asks for made one that answers."""

from typing import TYPE_CHECKING

from nfh_models.resolution.item import Resolver
from nfh_models.resolution.recipes import (
    CUES,
    DETERMINISTIC,
    NEAREST,
    RECIPES,
    TASK,
    RecipeError,
    load_resolver,
)
from nfh_tui.choosing_models import Choosing, Chosen, Loaded

if TYPE_CHECKING:
    from nfh_db.store import Store

__all__ = [
    "RESOLUTION",
    "TASK",
    "RecipeError",
    "answers_with",
    "resolver_for",
]

RESOLUTION: Choosing[Resolver] = Choosing(
    TASK,
    recipes=RECIPES,
    built_in=(CUES, NEAREST, DETERMINISTIC),
    registered=(CUES, NEAREST),
    make=load_resolver,
    error=RecipeError,
    takes_over_from=(NEAREST,),
)


def resolver_for(
    store: "Store | None",
    spec: str | None = None,
    *,
    register: bool = True,
    loaded: Loaded | None = None,
) -> Chosen[Resolver]:
    """The resolver that `spec` names; the task's active model by default, else `small`.

    spec: a model's number or name, a recipe (its active model, else its newest; with its
    kind as "nearest-noun:first"), or the path of a model directory. store: None where there
    is no database. register: note in the store the built-in models, and a version that
    answers otherwise than the one that is registered; without it nothing is written. loaded:
    models that are in memory already, and where those that get there are put. Where the
    model in the package cannot be used and none was named, `cues` answers, and `aside` says
    why. Raises RecipeError for what names none, ModelFileError for a model that is gone,
    damaged, or not what was registered.
    """
    return RESOLUTION.find(store, spec, register=register, loaded=loaded)


def answers_with(store: "Store", chosen: Chosen[Resolver], parser: str) -> None:
    """Note the parser with which a model answers; what it said with another is forgotten.

    To be called before predictions are stored. parser: its name with its version; "" for
    none, and then nothing is noted.
    """
    if not parser:
        return
    model = next((one for one in store.models() if one.id == chosen.model_id), None)
    if model is None:
        return
    version = f"{chosen.model.version} {parser}"
    if model.version != version:
        store.ensure_model(model.name, model.task, model.recipe, version)
