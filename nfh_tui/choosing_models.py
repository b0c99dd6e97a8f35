"""Which model: what a person asks for made one that decides.

Identification and resolution choose alike: `Choosing` knows how, `IDENTIFICATION` here and
`RESOLUTION` in `choosing_resolvers` what of. A model of both tasks serves either.
"""

from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nfh_db.errors import FullError
from nfh_models.errors import ModelsError
from nfh_models.identification.case import Identifier
from nfh_models.identification.recipes import (
    ENCODER,
    RULES,
    SMALL,
    SVM,
    RecipeError,
    load_identifier,
)
from nfh_models.model_files import read_config
from nfh_tui.model_folders import checked_folder
from nfh_tui.packaged import BOTH, ensure_small, is_packaged

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

TASK = "identification"

OUT_OF_USE = "rejected"
"""The state of models that no recipe's name stands for."""

Loaded = MutableMapping[tuple[str, str], object]
"""Models that are in memory, by recipe and folder ("" for the one in the package)."""


class Versioned(Protocol):
    """What both kinds of models have."""

    @property
    def recipe(self) -> str:
        """What it was made by."""
        ...

    @property
    def version(self) -> str:
        """Changes when what it says may."""
        ...


Made = TypeVar("Made", bound=Versioned)


@dataclass(frozen=True, slots=True)
class Chosen(Generic[Made]):
    """A model of a task, ready to decide or to answer.

    name: what it is called. model_id: of its registration in the store; None without one.
    aside: why it is not the one that it should be, in a sentence; "" where it is.
    """

    model: Made
    name: str
    model_id: int | None = None
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Choosing(Generic[Made]):
    """How a task's model is chosen.

    recipes: words that a person may say. built_in: those of them that need no folder, the
    one first that is used where no model is active. registered: those of them that a
    database registers, since what they say is stored. make: a recipe, and the folder of one
    that was trained, made ready. error: for what names none. takes_over_from: the built-in
    recipes that were used by default before the one that is now.
    """

    task: str
    recipes: tuple[str, ...]
    built_in: tuple[str, ...]
    registered: tuple[str, ...]
    make: Callable[[str, Path | None], Made]
    error: type[ModelsError]
    takes_over_from: tuple[str, ...] = ()

    def find(
        self,
        store: "Store | None",
        spec: str | None = None,
        *,
        register: bool = True,
        loaded: Loaded | None = None,
    ) -> Chosen[Made]:
        """What `spec` names; see `identifier_for`. loaded: what need not be loaded again."""
        if store is None:
            return self._alone(spec, loaded)
        if register:
            small = ensure_small(store)
            self._restore(store)
            if spec is None and small is None and self.takes_over_from:
                self.ensure(store, self.built_in[0])
        found = self.named(store, spec)
        if found is not None:
            return self._found(store, found, spec, register=register, loaded=loaded)
        if spec is None and not register and is_packaged():
            return self._by_default(loaded)
        if spec is None or spec in self.registered:
            recipe = spec or self.built_in[0]
            made = self.make(recipe, None)
            if not register:
                return Chosen(made, recipe)
            self.ensure(store, self.built_in[0])  # the one that is active where none was
            return Chosen(made, recipe, self.ensure(store, recipe))
        return self._without_store(spec, loaded)

    def ensure(self, store: "Store", recipe: str) -> int:
        """The number of a built-in recipe as a registered model, which can be activated.

        What another version of it said is forgotten.
        """
        known = self._known(store, recipe)
        made = self.make(recipe, None)
        if known is not None and same_version(known.version, made.version):
            return known.id
        before = self.takes_over_from if recipe == self.built_in[0] else ()
        return store.ensure_model(recipe, self.task, recipe, made.version, in_place_of=before)

    def named(self, store: "Store", spec: str | None) -> "Model | None":
        """The registered model of the task that `spec` names; None if none.

        Raises the task's error for a model of another task.
        """
        known = store.models()
        ours = [model for model in known if model.task in (self.task, BOTH)]
        if spec is None:
            return self._active(ours)
        by_name = next((m for m in known if spec in (str(m.id), m.name)), None)
        if by_name is not None:
            self.check_task(by_name.task, by_name.name)
            return by_name
        of_recipe = [m for m in ours if m.recipe == spec and m.state != OUT_OF_USE]
        of_recipe.sort(key=lambda model: (model.state == "active", model.id))
        return of_recipe[-1] if of_recipe else None

    def check_task(self, task: str, what: str) -> None:
        """Raise the task's error unless a model of `task` is one of this."""
        if task not in (self.task, BOTH):
            raise self.error(f"{what} is a model of {task}, not of {self.task}")

    def load(
        self,
        store: "Store",
        model: "Model",
        *,
        register: bool = True,
        loaded: Loaded | None = None,
    ) -> Made:
        """A registered model, ready.

        register: where this program's version differs from the one that is registered, note
        its own; what the other one said is forgotten. Raises ModelFileError if the model is
        not what it was, the task's error if this program cannot use it.
        """
        folder = None
        if not (model.path is None and model.recipe in (*self.built_in, SMALL)):
            folder = checked_folder(store.path, model)
        made = self._made(model.recipe, folder, loaded)
        if register and not same_version(model.version, made.version):
            store.ensure_model(model.name, model.task, model.recipe, made.version)
        return made

    # --- helpers ------------------------------------------------------------------------

    def _active(self, ours: "list[Model]") -> "Model | None":
        """Of the task's models the active one; one of both tasks gives way to its own."""
        active = [model for model in ours if model.state == "active"]
        active.sort(key=lambda model: (model.task == self.task, model.id))
        return active[-1] if active else None

    def _known(self, store: "Store", name: str) -> "Model | None":
        return next((one for one in store.models() if one.name == name), None)

    def _made(self, recipe: str, folder: Path | None, loaded: Loaded | None) -> Made:
        if loaded is None:
            return self.make(recipe, folder)
        key = (recipe, "" if folder is None else str(folder))
        found = loaded.get(key)
        if found is None:
            found = loaded[key] = self.make(recipe, folder)
        return found  # type: ignore[return-value]  # a model of both tasks is of either type

    def _found(
        self,
        store: "Store",
        model: "Model",
        spec: str | None,
        *,
        register: bool,
        loaded: Loaded | None,
    ) -> Chosen[Made]:
        try:
            made = self.load(store, model, register=register, loaded=loaded)
        except (ModelsError, ImportError) as error:
            if spec is not None or model.path is not None or model.recipe != SMALL:
                raise
            return self._instead(store, error, register=register)
        return Chosen(made, model.name, model.id)

    def _instead(self, store: "Store", error: Exception, *, register: bool) -> Chosen[Made]:
        """The built-in recipe that works on where the model in the package does not."""
        recipe = self.built_in[0]
        made = self.make(recipe, None)
        number = None
        if register:
            number = self.ensure(store, recipe)
            store.stand_in(self.task, recipe)
        return Chosen(made, recipe, number, self._aside(error))

    def _aside(self, error: Exception) -> str:
        return (
            f"the small model cannot be used, and {self.built_in[0]} decides in its place: "
            f"{error}"
        )

    def _restore(self, store: "Store") -> None:
        """Give the model in the package its place back that another stood in for."""
        if store.standing_in(self.task) is not None:
            store.stand_down(self.task)

    def _alone(self, spec: str | None, loaded: Loaded | None) -> Chosen[Made]:
        return self._by_default(loaded) if spec is None else self._without_store(spec, loaded)

    def _by_default(self, loaded: Loaded | None) -> Chosen[Made]:
        """Without a database: the model in the package, else a built-in recipe."""
        recipe = self.built_in[0]
        if not is_packaged():
            return Chosen(self.make(recipe, None), recipe)
        try:
            return Chosen(self._made(SMALL, None, loaded), SMALL)
        except (ModelsError, ImportError) as error:
            return Chosen(self.make(recipe, None), recipe, None, self._aside(error))

    def _without_store(self, spec: str, loaded: Loaded | None) -> Chosen[Made]:
        """What no database knows: a recipe, or a model's folder."""
        folder = Path(spec)
        recipe = spec.partition(":")[0]
        if recipe in self.recipes and not folder.is_dir():
            return Chosen(self._made(spec, None, loaded), spec)
        if not folder.is_dir():
            raise self.error(
                f"{spec!r} names no model of {self.task}: wanted, with --db, a model's number "
                f"or name as `nfh-tui models` lists them, a recipe ({', '.join(self.recipes)}) "
                "that has one, or a model's folder"
            )
        config = read_config(folder)
        self.check_task(config.task, str(folder))
        return Chosen(self._made(config.recipe, folder, loaded), config.name)


def same_version(registered: str, made: str) -> bool:
    """Whether a registered version is that of the program: behind it the parser may be named
    with which it answers ("1 en_core_web_sm 3.8.0")."""
    return registered == made or registered.startswith(f"{made} ")


# --- identification -------------------------------------------------------------------------

IDENTIFICATION: Choosing[Identifier] = Choosing(
    TASK,
    recipes=(RULES, SVM, ENCODER, SMALL),
    built_in=(RULES,),
    registered=(RULES,),
    make=load_identifier,
    error=RecipeError,
)


def identifier_for(
    store: "Store | None",
    spec: str | None = None,
    *,
    register: bool = True,
    loaded: Loaded | None = None,
) -> Chosen[Identifier]:
    """The identifier that `spec` names; the task's active model by default, else `small`.

    spec: a model's number or name, a recipe (its active model, else its newest), or the path
    of a model directory. store: None where there is no database. register: note in the
    store the built-in models, which have no number before, and a version that decides
    otherwise than the one that is registered; without it nothing is written. loaded: models
    that are in memory already, and where those that get there are put. Where the model in
    the package cannot be used and none was named, the rules decide, and `aside` says why.
    Raises RecipeError for what names none, ModelFileError for a model that is gone,
    damaged, or not what was registered.
    """
    return IDENTIFICATION.find(store, spec, register=register, loaded=loaded)


def ensure_rules(store: "Store") -> int:
    """The number of the registered rules: they are a model, too, and can be activated.

    What rules of another version identified is forgotten.
    """
    return IDENTIFICATION.ensure(store, RULES)


def named(store: "Store", spec: str | None) -> "Model | None":
    """The registered model of identification that `spec` names; None if none.

    Raises RecipeError for one of another task.
    """
    return IDENTIFICATION.named(store, spec)


def check_task(task: str, what: str) -> None:
    """Raise RecipeError unless a model of this task identifies."""
    IDENTIFICATION.check_task(task, what)


def ensure_built_in(store: "Store") -> None:
    """Register the models that need no training, where that can be written."""
    from nfh_tui.choosing_resolvers import RESOLUTION

    with suppress(FullError):
        ensure_small(store)
        IDENTIFICATION.ensure(store, RULES)
        RESOLUTION.ensure(store, RESOLUTION.built_in[0])


def check_usable(store: "Store", model: "Model") -> None:
    """Raise ModelsError unless a model can be used."""
    from nfh_tui.choosing_resolvers import RESOLUTION

    if model.task in (TASK, BOTH):
        IDENTIFICATION.load(store, model, register=False)
    if model.task in (RESOLUTION.task, BOTH):
        RESOLUTION.load(store, model, register=False)
