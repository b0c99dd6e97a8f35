"""Models: selection by name, recipe or folder, folders of trained models, the bundled models,
and rollback to an earlier model.
"""

import os
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from nfh_db.errors import FullError
from nfh_db.models import BACK, SINGLE_TASKS, ActivationReason, former, last_changed, stacks
from nfh_models import ModelsError
from nfh_models.identification.base import (
    ENCODER,
    JOINT,
    RULES,
    SMALL,
    SVM,
    IdentificationRecipeError,
    Identifier,
    load_identifier,
)
from nfh_models.model_files import (
    CONFIG,
    PACKAGED,
    ModelFileError,
    digest_of,
    packaged_folder,
    read_config,
    read_metrics,
    read_seen,
)
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
    """The folder of a registered model.

    Raises ModelFileError where its files are gone or have changed since registration.
    """
    if model.path is None:
        raise ModelFileError(f"the model {model.name} has no folder; train it again")
    folder = folder_of(database, model)
    again = f"train another: nfh-tui retrain {model.task} --recipe {model.recipe}"
    try:
        exists = (folder / CONFIG).is_file()
        same = exists and digest_of(folder) == model.digest
    except OSError as error:
        raise ModelFileError(
            f"the model {model.name} cannot be read: {error.filename or folder}: "
            f"{error.strerror or error}"
        ) from error
    if not exists:
        raise ModelFileError(
            f"the model {model.name} is missing: there is no "
            f"{folder}.{_elsewhere(database, model)} Put the folder back, or {again}"
        )
    if not same:
        raise ModelFileError(
            f"the model {model.name} has changed: the files in {folder} are not those of its "
            f"training. Put them back, or {again}"
        )
    return folder


def _elsewhere(database: Path, model: "Model") -> str:
    """A hint where a row names a folder outside the database's own folder of models."""
    above = Path(os.path.realpath(database)).parent / (model.path or "")
    if above.parent == models_folder(database):
        return ""
    return (
        f" Its row names {above}, but only folders in {models_folder(database)} are used: if "
        "that folder is yours, copy it there."
    )


def is_there(database: Path, model: "Model") -> bool:
    """Whether a model's config exists, without reading it; True for one without a folder."""
    if model.path is None:
        return True
    try:
        return (folder_of(database, model) / CONFIG).is_file()
    except (OSError, ModelFileError):
        return False


def models_folder(database: Path) -> Path:
    """The folder for a database's models, next to it; it may not exist yet."""
    real = Path(os.path.realpath(database))
    return real.parent / f"{real.stem}-models"


def folder_of(database: Path, model: "Model") -> Path:
    """A model's folder: in the database's folder of models, by the last name of the row's path.

    Where it is not there, and a training of this user wrote it into another folder, it is in
    that one, or in one of that name beside the database. Raises ModelFileError for a path
    without a name.
    """
    # The rest of the path is not followed: the database may come from somebody else, and both
    # may have been moved or renamed together.
    name = Path(model.path or "").name
    if name in ("", ".."):
        raise ModelFileError(f"{model.path!r} is not a model's folder; train another model")
    own = models_folder(database)
    with suppress(OSError):
        for place in () if (own / name).exists() else map(Path, model.places):
            for folder in (own.parent / place.name, place):
                if (folder / name / CONFIG).is_file():
                    return folder / name
    return own / name


def stored_path(database: Path, folder: Path) -> str:
    """The path for a model's row: relative to the database's folder where it is below it."""
    home = Path(os.path.realpath(database)).parent
    real = Path(os.path.realpath(folder))
    return real.relative_to(home).as_posix() if real.is_relative_to(home) else str(real)


# The bundled models, registered in a database and active at first. The functions here read
# their config.json and do not load them.

BOTH = "both"

IN_PLACE_OF = (RULES, CUES, NEAREST, SMALL)
"""Recipes that a bundled model of their task replaces where they are active by default."""


def files_of(database: Path, model: "Model") -> Path | None:
    """The folder of a registered model's files, unchecked; None of rules."""
    if model.path is not None:
        return folder_of(database, model)
    return _folder_in_package(model.recipe)


def _folder_in_package(recipe: str) -> Path | None:
    """The folder of the bundled model that a recipe is, or is made of; None of others."""
    own = SMALL if recipe == JOINT else recipe
    return packaged_folder(own) if own in PACKAGED else None


def is_packaged(recipe: str) -> bool:
    """Whether the package contains a model of this recipe."""
    try:
        return (packaged_folder(recipe) / CONFIG).is_file()
    except OSError:  # no permission to read the folder
        return False


def set_up(store: "Store") -> None:
    """Give a new database the models in the package and the first text of the guidelines."""
    from nfh_tui.services.guidelines import first_text

    ensure_packaged(store)
    store.guidelines.add_first(first_text())


def ensure_packaged(store: "Store") -> None:
    """Register the bundled models that are there.

    A new one becomes active unless a model that somebody chose is active for its tasks.
    Results of another version are deleted. A damaged one is left as registered.
    """
    for recipe, task in PACKAGED.items():
        known = store.models.named(recipe)
        version = packaged_version(recipe)
        if is_packaged(recipe) and (known is None or version not in (None, known.version)):
            store.models.ensure(recipe, task, recipe, version or "", in_place_of=IN_PLACE_OF)


def packaged_version(recipe: str) -> str | None:
    """Identifies the bundled model of a release; None for a damaged one."""
    try:
        config = read_config(packaged_folder(recipe))
    except ModelsError:
        return None
    return f"{config.version} {config.created_at}".strip()


def packaged_metrics(recipe: str) -> dict[str, object]:
    """The bundled model's figures by the names that trained models use; {} if unreadable."""
    folder = packaged_folder(recipe)
    try:
        found, seen = read_metrics(folder), read_seen(folder)
    except ModelsError:
        return {}
    resolution, identification = found.get("resolution"), found.get("identification", {})
    if not isinstance(resolution, dict) or not isinstance(identification, dict):
        return found
    figures = ("precision", "recall", "f1")
    own = {name: identification[name] for name in figures if name in identification}
    more = {"dev_examples": resolution.get("n"), "judged_on": "dev"}
    return resolution | own | more | ({} if seen is None else {"texts_seen": seen.count})


# Model selection. Both tasks use `ModelSelector`; `IDENTIFICATION` and `RESOLUTION` hold what
# differs. A model of both tasks can be selected for either.

TASK = "identification"

OUT_OF_USE = "rejected"
"""The state of models that are not selected by their recipe's name."""

Loaded = MutableMapping[tuple[str, str], object]
"""Models in memory, by recipe and folder ("" for a bundled one)."""


Made = TypeVar("Made", bound=Identifier | Resolver)


@dataclass(frozen=True, slots=True)
class SelectedModel(Generic[Made]):
    """A loaded model of a task."""

    model: Made
    name: str
    model_id: int | None = None
    """In the store; None where it is not registered."""

    fallback_reason: str = ""
    """A sentence that says why it replaces the expected model; "" where it is that one."""
    folder: Path | None = None
    """Of its files; None for rules."""


@dataclass(frozen=True, slots=True)
class ModelSelector(Generic[Made]):
    """How a task's model is selected."""

    task: str
    recipes: tuple[str, ...]
    """Names that a user may give."""

    built_in: tuple[str, ...]
    """Recipes without a folder; the first one is the default where no model is active."""

    registered: tuple[str, ...]
    """Built-in recipes that are registered in a database, because their output is stored."""

    make: Callable[[str, Path | None], Made]
    """Loads a recipe, from a folder where it was trained."""

    error: type[ModelsError]
    """Raised for a name that selects nothing."""

    takes_over_from: tuple[str, ...] = ()
    """Built-in recipes that were the default in earlier releases."""

    @property
    def packaged(self) -> list[str]:
        """The bundled models of the task that are there, the default first."""
        tasks = (self.task, BOTH)
        return [one for one, task in PACKAGED.items() if task in tasks and is_packaged(one)]

    def find(
        self,
        store: "Store | None",
        spec: str | None = None,
        *,
        register: bool = True,
        loaded: Loaded | None = None,
    ) -> SelectedModel[Made]:
        """The model that `spec` names; by default the task's active model, else a bundled one.

        spec: a model's id or name, a recipe (its active model, else its newest; with its kind
        as "nearest-noun:first"), or the path of a model folder. store: None without a
        database. register: register built-in models, and versions of this program that
        differ from the registered ones; otherwise nothing is written. loaded: models in
        memory, to which newly loaded ones are added. Where a bundled model cannot be used and
        none was named, the next one of the task replaces it, else the first built-in recipe.
        Raises the task's error for
        a spec that selects nothing, ModelFileError for a model that is gone, damaged or
        changed.
        """
        if store is None:
            if spec is None:
                return self._by_default(loaded)
            return self._without_store(spec, loaded)
        if register:
            ensure_packaged(store)
            if spec is None and (waiting := store.models.stood_in_for(self.task)) is not None:
                return self._found(store, waiting, None, register=True, loaded=loaded)
            if spec is None and not self.packaged and self.takes_over_from:
                self.ensure(store, self.built_in[0])
        if (found := self.named(store, spec)) is not None:
            return self._found(store, found, spec, register=register, loaded=loaded)
        if spec is None and not register and self.packaged:
            return self._by_default(loaded)
        if spec is None or spec in self.registered:
            recipe = spec or self.built_in[0]
            made = self.make(recipe, None)
            if not register:
                return SelectedModel(made, recipe)
            self.ensure(store, self.built_in[0])  # becomes active where no model is
            return SelectedModel(made, recipe, self.ensure(store, recipe))
        return self._without_store(spec, loaded)

    def ensure(self, store: "Store", recipe: str) -> int:
        """Register a built-in recipe as a model that can be activated; its id.

        Results of another version are deleted.
        """
        known = next((one for one in store.models.all() if one.name == recipe), None)
        made = self.make(recipe, None)
        if known is not None and same_version(known.version, made.version):
            return known.id
        before = self.takes_over_from if recipe == self.built_in[0] else ()
        return store.models.ensure(recipe, self.task, recipe, made.version, in_place_of=before)

    def named(self, store: "Store", spec: str | None) -> "Model | None":
        """The registered model of the task that `spec` names; None if there is none.

        None as spec: the active one; a model of this task precedes one of both. Raises the
        task's error for a model of another task.
        """
        known = store.models.all()
        ours = [model for model in known if model.task in (self.task, BOTH)]
        if spec is None:
            active = [model for model in ours if model.state == "active"]
            active.sort(key=lambda model: (model.task == self.task, model.id))
            return active[-1] if active else None
        by_name = next((m for m in known if spec in (str(m.id), m.name)), None)
        if by_name is not None:
            self.check_task(by_name.task, by_name.name)
            return by_name
        of_recipe = [m for m in ours if m.recipe == spec and m.state != OUT_OF_USE]
        of_recipe.sort(key=lambda model: (model.state == "active", model.id))
        return of_recipe[-1] if of_recipe else None

    def check_task(self, task: str, what: str) -> None:
        """Raise the task's error unless a model of `task` serves this one."""
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
        """Load a registered model.

        register: store this program's version where it differs from the registered one, whose
        results are then deleted. Raises ModelFileError if the model's files have changed, the
        task's error if this program cannot use it.
        """
        folder = None
        if not (model.path is None and model.recipe in (*self.built_in, *PACKAGED)):
            folder = checked_folder(store.path, model)
        made = self._made(model.recipe, folder, loaded)
        if register and not same_version(model.version, made.version):
            store.models.ensure(model.name, model.task, model.recipe, made.version)
        return made

    # --- helpers ------------------------------------------------------------------------

    def _made(self, recipe: str, folder: Path | None, loaded: Loaded | None) -> Made:
        if loaded is None:
            return self.make(recipe, folder)
        key = (recipe, "" if folder is None else str(folder))
        if key not in loaded:
            loaded[key] = self.make(recipe, folder)
        return loaded[key]  # type: ignore[return-value]  # a model of both tasks is of either type

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
            if spec is not None or model.path is not None or model.recipe not in PACKAGED:
                raise
            found = self._by_default(loaded, store if register else None, {model.recipe: error})
            if register and store.models.standing_in(self.task) != found.name:
                store.models.stand_in(self.task, found.name)
            return found
        if register and spec is None and store.models.standing_in(self.task) is not None:
            store.models.stand_down(self.task)
        return SelectedModel(made, model.name, model.id, folder=files_of(store.path, model))

    def _by_default(
        self,
        loaded: Loaded | None,
        store: "Store | None" = None,
        failed: Mapping[str, Exception] | None = None,
    ) -> SelectedModel[Made]:
        """The first bundled model that can be used, else a built-in recipe.

        store: where it is registered; None for nowhere. failed: bundled models that cannot be
        used, with the reasons.
        """
        failed = dict(failed or {})
        used = () if store is None else store.models.all()
        own = {one.task for one in used if one.state == "active" and one.name not in PACKAGED}
        for recipe in self.packaged:
            # Of models of both tasks only one can be active.
            if recipe in failed or (PACKAGED[recipe] == BOTH and BOTH in own):
                continue
            try:
                made = self._made(recipe, None, loaded)
            except (ModelsError, ImportError) as error:
                failed[recipe] = error
                continue
            model_id = next((one.id for one in used if one.name == recipe), None)
            why = _fallback_reason(failed, recipe)
            return SelectedModel(made, recipe, model_id, why, packaged_folder(recipe))
        recipe = self.built_in[0]
        model_id = None if store is None else self.ensure(store, recipe)
        why = _fallback_reason(failed, recipe)
        return SelectedModel(self.make(recipe, None), recipe, model_id, why)

    def _without_store(self, spec: str, loaded: Loaded | None) -> SelectedModel[Made]:
        """A model that is not registered: a recipe, or a model's folder."""
        folder = Path(spec)
        recipe = spec.partition(":")[0]
        if recipe in self.recipes and not folder.is_dir():
            own = _folder_in_package(recipe)
            return SelectedModel(self._made(spec, None, loaded), spec, folder=own)
        if not folder.is_dir():
            self.check_task(PACKAGED.get(spec, self.task), spec)
            raise self.error(
                f"{spec!r} names no model of {self.task}: wanted, with --db, a model's number "
                f"or name as `nfh-tui models` lists them, a recipe ({', '.join(self.recipes)}) "
                "that has one, or a model's folder"
            )
        config = read_config(folder)
        self.check_task(config.task, str(folder))
        made = self._made(config.recipe, folder, loaded)
        return SelectedModel(made, config.name, folder=folder)


def _fallback_reason(failed: Mapping[str, Exception], recipe: str) -> str:
    """Why a recipe replaces bundled models that cannot be used; "" where it replaces none."""
    if not failed:
        return ""
    names = f"{' and '.join(failed)} model{'s' if len(failed) > 1 else ''}"
    error = next(iter(failed.values()))
    return f"the {names} cannot be used, so {recipe} decides instead: {error}"


def same_version(registered: str, made: str) -> bool:
    """Whether a registered version is the program's. It may end with the parser's name, as in
    "1 en_core_web_sm 3.8.0"."""
    return registered == made or registered.startswith(f"{made} ")


IDENTIFICATION: ModelSelector[Identifier] = ModelSelector(
    TASK,
    recipes=(RULES, SVM, ENCODER, SMALL, JOINT),
    built_in=(RULES, JOINT),
    registered=(RULES, JOINT),
    make=load_identifier,
    error=IdentificationRecipeError,
)
identifier_for = IDENTIFICATION.find


def ensure_built_in(store: "Store") -> None:
    """Register the models that need no training, unless the disk is full."""
    with suppress(FullError):
        ensure_packaged(store)
        IDENTIFICATION.ensure(store, RULES)
        RESOLUTION.ensure(store, RESOLUTION.built_in[0])


def check_usable(store: "Store", model: "Model") -> None:
    """Raise ModelsError unless a model can be used."""
    if model.task in (TASK, BOTH):
        IDENTIFICATION.load(store, model, register=False)
    if model.task in (RESOLUTION.task, BOTH):
        RESOLUTION.load(store, model, register=False)


RESOLUTION: ModelSelector[Resolver] = ModelSelector(
    RESOLUTION_TASK,
    recipes=RECIPES,
    built_in=(CUES, NEAREST, DETERMINISTIC),
    registered=(CUES, NEAREST),
    make=load_resolver,
    error=ResolutionRecipeError,
    takes_over_from=(NEAREST,),
)
resolver_for = RESOLUTION.find


def register_parser(store: "Store", chosen: SelectedModel[Resolver], parser: str) -> None:
    """Store the parser that a model uses; predictions made with another one are deleted.

    Call it before predictions are stored. parser: its name with its version; "" for none,
    which stores nothing.
    """
    if not parser:
        return
    model = next((one for one in store.models.all() if one.id == chosen.model_id), None)
    if model is None:
        return
    version = f"{chosen.model.version} {parser}"
    if model.version != version:
        store.models.ensure(model.name, model.task, model.recipe, version)


NOTHING = "no other model was active before{of}; activate one with nfh-tui models activate ID"


class NoEarlierModelError(ModelsError):
    """There is no model to roll back to; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """The models before and after a rollback, by task, where they differ."""

    before: Mapping[str, str]
    after: Mapping[str, str]
    passed_over: Mapping[str, str]
    """Models in between that cannot be used, by name, with the reason."""


def roll_back(store: "Store", task: str | None = None, *, who: str = "") -> Rollback:
    """Activate the model that a task used before; by default undo the last change.

    A model that cannot be used any more is skipped. Raises NoEarlierModelError, StoreError.
    """
    activations = store.models.activations()
    tasks = last_changed(activations) if task is None else (task,)
    if not tasks:
        raise NoEarlierModelError(NOTHING.format(of=""))
    changes = stacks(activations)
    models = {one.id: one for one in store.models.all()}
    before = in_use(store)
    passed_over: dict[str, str] = {}
    wanted = {}
    for one in tasks:
        candidates = [models[it] for it in former(changes[one]) if it in models]
        found = _first_usable(store, candidates, before.get(one), passed_over)
        if found is None and passed_over:
            reasons = "; ".join(passed_over.values())
            raise NoEarlierModelError(f"no model that {one} used before can be used: {reasons}")
        if found is None:
            raise NoEarlierModelError(NOTHING.format(of=f" for {one}"))
        wanted[one] = found.id
    now = store.models.put_back(wanted, ActivationReason(who, BACK))
    after = {key: model.name for key, model in now.items()}
    changed = [key for key in SINGLE_TASKS if before.get(key) != after.get(key)]
    return Rollback(
        {key: before[key] for key in changed if key in before},
        {key: after[key] for key in changed if key in after},
        passed_over,
    )


def in_use(store: "Store") -> dict[str, str]:
    """The name of each task's active model."""
    found = {task: store.models.active(task) for task in SINGLE_TASKS}
    return {task: model.name for task, model in found.items() if model is not None}


def _first_usable(
    store: "Store", candidates: "list[Model]", active: str | None, passed_over: dict[str, str]
) -> "Model | None":
    """The first candidate that is not active and can be used; adds to `passed_over`."""
    for model in candidates:
        if model.name == active or model.name in passed_over:
            continue
        try:
            check_usable(store, model)
        except (ModelsError, ImportError, OSError) as error:
            passed_over[model.name] = str(error)
            continue
        return model
    return None
