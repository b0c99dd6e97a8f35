"""Model selection: what a person asks for made a model that decides or resolves, where
models are, the bundled model, and the way back to an earlier one.
"""

import os
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nfh_db.errors import FullError
from nfh_db.models import BACK, SINGLE_TASKS, ActivationReason, earlier, last_changed, piles
from nfh_models import small
from nfh_models.errors import ModelsError
from nfh_models.identification.base import (
    ENCODER,
    RULES,
    SMALL,
    SVM,
    IdentificationRecipeError,
    Identifier,
    load_identifier,
)
from nfh_models.model_files import CONFIG, ModelFileError, digest_of, read_config, read_metrics
from nfh_models.resolution.base import Resolver
from nfh_models.resolution.recipes import (
    CUES,
    DETERMINISTIC,
    NEAREST,
    RECIPES,
    ResolutionRecipeError,
    load_resolver,
)
from nfh_models.resolution.recipes import TASK as RESOLUTION_TASK

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store


def checked_folder(database: Path, model: "Model") -> Path:
    """The folder of a model that still holds what it held when it was registered.

    Raises ModelFileError where it does not, or is gone.
    """
    if model.path is None:
        raise ModelFileError(f"the model {model.name} has no folder; train it anew")
    folder = folder_of(database, model.path)
    try:
        return _checked(database, model, folder)
    except OSError as error:
        raise ModelFileError(
            f"the model {model.name} cannot be read: {error.filename or folder}: "
            f"{error.strerror or error}"
        ) from error


def _checked(database: Path, model: "Model", folder: Path) -> Path:
    again = f"train another: nfh-tui retrain {model.task} --recipe {model.recipe}"
    if not (folder / CONFIG).is_file():
        raise ModelFileError(
            f"the model {model.name} is gone: {folder} is not there."
            f"{_elsewhere(database, model)} "
            f"Put the folder back, or {again}"
        )
    if digest_of(folder) != model.digest:
        raise ModelFileError(
            f"the model {model.name} is not what it was: the files in {folder} have changed "
            f"since it was trained. Put them back, or {again}"
        )
    return folder


def _elsewhere(database: Path, model: "Model") -> str:
    """What there is to say where a row leads out of the database's own folder of models."""
    above = Path(os.path.realpath(database)).parent / (model.path or "")
    if above.parent == models_folder(database):
        return ""
    return (
        f" Its row names {above}, and only what lies in {models_folder(database)} is used: if "
        "that folder is yours, copy it there."
    )


def is_there(database: Path, model: "Model") -> bool:
    """Whether a model has all its folder still, by a glance; one without a folder has."""
    if model.path is None:
        return True
    try:
        return (folder_of(database, model.path) / CONFIG).is_file()
    except (OSError, ModelFileError):
        return False


def models_folder(database: Path) -> Path:
    """The folder for the models of a database, beside it; not made yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-models"


def folder_of(database: Path, stored: str) -> Path:
    """A model's folder: in the database's own folder of models, by the last name of its row.

    Whatever else the row says is not followed: somebody may have sent the database, and both
    may have been moved or renamed together. Raises ModelFileError for a row without a name.
    """
    name = Path(stored).name
    if name in ("", ".."):
        raise ModelFileError(f"{stored!r} names no folder of a model; train another")
    return models_folder(database) / name


def stored_path(database: Path, folder: Path) -> str:
    """A model's folder as its row names it: below the database's own folder where it is."""
    home = Path(os.path.realpath(database)).parent
    real = Path(os.path.realpath(folder))
    return real.relative_to(home).as_posix() if real.is_relative_to(home) else str(real)


# The small model in the package, as a model of a database: of both tasks, active at first.
#
# Nothing here loads it: what it is stands in its config.json.

BOTH = "both"

IN_PLACE_OF = (RULES, CUES, NEAREST)
"""What it takes over from where that is active and nobody chose it."""


def packaged_folder() -> Path:
    """The folder of the model in the package, there or not."""
    return small.small_folder()


def is_packaged() -> bool:
    """Whether the package holds a model."""
    try:
        return (packaged_folder() / CONFIG).is_file()
    except OSError:  # a folder that nobody may look into
        return False


def set_up(store: "Store") -> None:
    """Give a new database the model in the package and the first text of the guidelines."""
    from nfh_tui.services.guidelines import first_text

    ensure_small(store)
    store.guidelines.begin(first_text())


def ensure_small(store: "Store") -> int | None:
    """The number of the model in the package as it is registered; None if there is none.

    Where it is new it is active, unless somebody has a model of their own active for either
    task. What another version of it said is forgotten. One that is damaged is left as it is.
    """
    if not is_packaged():
        return None
    version = packaged_version()
    known = store.models.named(SMALL)
    if known is not None and (version is None or known.version == version):
        return known.id
    return store.models.ensure(SMALL, BOTH, SMALL, version or "", in_place_of=IN_PLACE_OF)


def packaged_version() -> str | None:
    """What tells the packaged model from that of another release; None for a damaged one."""
    try:
        config = read_config(packaged_folder())
    except ModelsError:
        return None
    return f"{config.version} {config.created_at}".strip()


def packaged_metrics() -> dict[str, object]:
    """The figures of the model in the package under the names that trained models give them;
    empty where they cannot be read."""
    try:
        found = read_metrics(packaged_folder())
    except ModelsError:
        return {}
    resolution, identification = found.get("resolution"), found.get("identification")
    if not isinstance(resolution, dict) or not isinstance(identification, dict):
        return found
    own = {name: identification.get(name) for name in ("precision", "recall", "f1")}
    return resolution | own | {"dev_examples": resolution.get("n"), "judged_on": "dev"}


# Which model: what a person asks for made one that decides.
#
# Identification and resolution choose alike: `Choosing` knows how, `IDENTIFICATION` here and
# `RESOLUTION` what of. A model of both tasks serves either.

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
class SelectedModel(Generic[Made]):
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
    ) -> SelectedModel[Made]:
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
                return SelectedModel(made, recipe)
            self.ensure(store, self.built_in[0])  # the one that is active where none was
            return SelectedModel(made, recipe, self.ensure(store, recipe))
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
        return store.models.ensure(recipe, self.task, recipe, made.version, in_place_of=before)

    def named(self, store: "Store", spec: str | None) -> "Model | None":
        """The registered model of the task that `spec` names; None if none.

        Raises the task's error for a model of another task.
        """
        known = store.models.all()
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
            store.models.ensure(model.name, model.task, model.recipe, made.version)
        return made

    # --- helpers ------------------------------------------------------------------------

    def _active(self, ours: "list[Model]") -> "Model | None":
        """Of the task's models the active one; one of both tasks gives way to its own."""
        active = [model for model in ours if model.state == "active"]
        active.sort(key=lambda model: (model.task == self.task, model.id))
        return active[-1] if active else None

    def _known(self, store: "Store", name: str) -> "Model | None":
        return next((one for one in store.models.all() if one.name == name), None)

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
    ) -> SelectedModel[Made]:
        try:
            made = self.load(store, model, register=register, loaded=loaded)
        except (ModelsError, ImportError) as error:
            if spec is not None or model.path is not None or model.recipe != SMALL:
                raise
            return self._instead(store, error, register=register)
        return SelectedModel(made, model.name, model.id)

    def _instead(
        self, store: "Store", error: Exception, *, register: bool
    ) -> SelectedModel[Made]:
        """The built-in recipe that works on where the model in the package does not."""
        recipe = self.built_in[0]
        made = self.make(recipe, None)
        number = None
        if register:
            number = self.ensure(store, recipe)
            store.models.stand_in(self.task, recipe)
        return SelectedModel(made, recipe, number, self._aside(error))

    def _aside(self, error: Exception) -> str:
        return (
            f"the small model cannot be used, and {self.built_in[0]} decides in its place: "
            f"{error}"
        )

    def _restore(self, store: "Store") -> None:
        """Give the model in the package its place back that another stood in for."""
        if store.models.standing_in(self.task) is not None:
            store.models.stand_down(self.task)

    def _alone(self, spec: str | None, loaded: Loaded | None) -> SelectedModel[Made]:
        return self._by_default(loaded) if spec is None else self._without_store(spec, loaded)

    def _by_default(self, loaded: Loaded | None) -> SelectedModel[Made]:
        """Without a database: the model in the package, else a built-in recipe."""
        recipe = self.built_in[0]
        if not is_packaged():
            return SelectedModel(self.make(recipe, None), recipe)
        try:
            return SelectedModel(self._made(SMALL, None, loaded), SMALL)
        except (ModelsError, ImportError) as error:
            return SelectedModel(self.make(recipe, None), recipe, None, self._aside(error))

    def _without_store(self, spec: str, loaded: Loaded | None) -> SelectedModel[Made]:
        """What no database knows: a recipe, or a model's folder."""
        folder = Path(spec)
        recipe = spec.partition(":")[0]
        if recipe in self.recipes and not folder.is_dir():
            return SelectedModel(self._made(spec, None, loaded), spec)
        if not folder.is_dir():
            raise self.error(
                f"{spec!r} names no model of {self.task}: wanted, with --db, a model's number "
                f"or name as `nfh-tui models` lists them, a recipe ({', '.join(self.recipes)}) "
                "that has one, or a model's folder"
            )
        config = read_config(folder)
        self.check_task(config.task, str(folder))
        return SelectedModel(self._made(config.recipe, folder, loaded), config.name)


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
    error=IdentificationRecipeError,
)


def identifier_for(
    store: "Store | None",
    spec: str | None = None,
    *,
    register: bool = True,
    loaded: Loaded | None = None,
) -> SelectedModel[Identifier]:
    """The identifier that `spec` names; the task's active model by default, else `small`.

    spec: a model's number or name, a recipe (its active model, else its newest), or the path
    of a model directory. store: None where there is no database. register: note in the
    store the built-in models, which have no number before, and a version that decides
    otherwise than the one that is registered; without it nothing is written. loaded: models
    that are in memory already, and where those that get there are put. Where the model in
    the package cannot be used and none was named, the rules decide, and `aside` says why.
    Raises IdentificationRecipeError for what names none, ModelFileError for a model that is
    gone, damaged, or not what was registered.
    """
    return IDENTIFICATION.find(store, spec, register=register, loaded=loaded)


def named(store: "Store", spec: str | None) -> "Model | None":
    """The registered model of identification that `spec` names; None if none.

    Raises IdentificationRecipeError for one of another task.
    """
    return IDENTIFICATION.named(store, spec)


def check_task(task: str, what: str) -> None:
    """Raise IdentificationRecipeError unless a model of this task identifies."""
    IDENTIFICATION.check_task(task, what)


def ensure_built_in(store: "Store") -> None:
    """Register the models that need no training, where that can be written."""

    with suppress(FullError):
        ensure_small(store)
        IDENTIFICATION.ensure(store, RULES)
        RESOLUTION.ensure(store, RESOLUTION.built_in[0])


def check_usable(store: "Store", model: "Model") -> None:
    """Raise ModelsError unless a model can be used."""

    if model.task in (TASK, BOTH):
        IDENTIFICATION.load(store, model, register=False)
    if model.task in (RESOLUTION.task, BOTH):
        RESOLUTION.load(store, model, register=False)


RESOLUTION: Choosing[Resolver] = Choosing(
    RESOLUTION_TASK,
    recipes=RECIPES,
    built_in=(CUES, NEAREST, DETERMINISTIC),
    registered=(CUES, NEAREST),
    make=load_resolver,
    error=ResolutionRecipeError,
    takes_over_from=(NEAREST,),
)


def resolver_for(
    store: "Store | None",
    spec: str | None = None,
    *,
    register: bool = True,
    loaded: Loaded | None = None,
) -> SelectedModel[Resolver]:
    """The resolver that `spec` names; the task's active model by default, else `small`.

    spec: a model's number or name, a recipe (its active model, else its newest; with its
    kind as "nearest-noun:first"), or the path of a model directory. store: None where there
    is no database. register: note in the store the built-in models, and a version that
    answers otherwise than the one that is registered; without it nothing is written. loaded:
    models that are in memory already, and where those that get there are put. Where the
    model in the package cannot be used and none was named, `cues` answers, and `aside` says
    why. Raises IdentificationRecipeError for what names none, ModelFileError for a model that
    is gone, damaged, or not what was registered.
    """
    return RESOLUTION.find(store, spec, register=register, loaded=loaded)


def answers_with(store: "Store", chosen: SelectedModel[Resolver], parser: str) -> None:
    """Note the parser with which a model answers; what it said with another is forgotten.

    To be called before predictions are stored. parser: its name with its version; "" for
    none, and then nothing is noted.
    """
    if not parser:
        return
    model = next((one for one in store.models.all() if one.id == chosen.model_id), None)
    if model is None:
        return
    version = f"{chosen.model.version} {parser}"
    if model.version != version:
        store.models.ensure(model.name, model.task, model.recipe, version)


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
    told = store.models.activations()
    tasks = last_changed(told) if task is None else (task,)
    if not tasks:
        raise NoWayBackError(NOTHING.format(of=""))
    changes = piles(told)
    models = {one.id: one for one in store.models.all()}
    before = in_use(store)
    passed_over: dict[str, str] = {}
    wanted = {}
    for one in tasks:
        below = [models[it] for it in earlier(changes[one]) if it in models]
        found = _usable(store, below, before.get(one), passed_over)
        if found is None:
            raise NoWayBackError(_why(one, passed_over))
        wanted[one] = found.id
    now = store.models.put_back(wanted, ActivationReason(who, BACK))
    after = {key: model.name for key, model in now.items()}
    changed = [key for key in SINGLE_TASKS if before.get(key) != after.get(key)]
    return Back(
        {key: before[key] for key in changed if key in before},
        {key: after[key] for key in changed if key in after},
        passed_over,
    )


def in_use(store: "Store") -> dict[str, str]:
    """The model that each task uses, by the task."""
    found = {task: store.models.active(task) for task in SINGLE_TASKS}
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
