"""The models of the spaCy component: recipes by name or model folders, saved with a pipeline.

cfg           identifier and resolver, as JSON
identifier/   the files of the identifier's model directory, if it has one
resolver/     the files of the resolver's, if it has one that is not the identifier's, too
"""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

import msgspec

from nfh_models.identification import base as identification
from nfh_models.identification.base import Identifier
from nfh_models.model_files import (
    CARD,
    CONFIG,
    METRICS,
    SEEN,
    VOCABULARY,
    WEIGHTS,
    ModelFileError,
    read_config,
)
from nfh_models.resolution import recipes as resolution
from nfh_models.resolution.base import Resolver

CFG = "cfg"
IDENTIFIER = "identifier"
RESOLVER = "resolver"
FORMAT_VERSION = 2
"""Version 1 had no model of a resolver; it can still be read."""

MODEL_NAMES = {CONFIG, WEIGHTS, VOCABULARY, METRICS, CARD, SEEN, "tokenizer.json", "NOTICE"}
"""The only files that are removed from a folder that another component was saved in."""

Files = Mapping[str, bytes]


class ComponentSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of cfg: identifier and resolver as given to the component."""

    identifier: str
    resolver: str
    format_version: int = FORMAT_VERSION


class ComponentState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A component as it is saved.

    identifier, resolver: the files of the models' folders, by name; empty for a recipe without
    a folder. A field is None where it was excluded.
    """

    cfg: ComponentSettings | None
    identifier: Files | None
    resolver: Files | None = None

    def without(self, exclude: Iterable[str]) -> "ComponentState":
        """The state with None for the fields in exclude; other names there are ignored."""
        fields = set(exclude).intersection(self.__struct_fields__)
        return msgspec.structs.replace(self, **dict.fromkeys(fields))


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a model directory, by name. Raises ModelFileError.

    Folders and hidden files are left out: they belong to other programs.
    """
    try:
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and not path.name.startswith(".")
        }
    except OSError as error:
        raise ModelFileError(
            f"{folder} is not a readable model's folder ({error.strerror}): name one that "
            "`nfh-tui retrain` made, or a recipe that needs none"
        ) from error


def write_files(folder: Path, files: Files) -> None:
    """Write the files of a model directory. Raises ModelFileError for a name with a path."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if Path(name).name != name or name in (".", ".."):
            raise ModelFileError(
                f"a model's file may not be called {name!r}: it leads elsewhere"
            )
        _write(folder / name, content)


def _write(path: Path, content: bytes) -> None:
    """Write a file; a link in its place is replaced, not followed."""
    if path.is_symlink():
        path.unlink()
    path.write_bytes(content)


def write_state(folder: Path, state: ComponentState) -> None:
    """Write a component's folder; what is not excluded replaces what was saved before.

    Raises ModelFileError where something else stands there, which is never replaced.
    """
    for name, files in ((IDENTIFIER, state.identifier), (RESOLVER, state.resolver)):
        if files is not None:
            _check_replaceable(folder / name, files)
    folder.mkdir(parents=True, exist_ok=True)
    if state.cfg is not None:
        _write(folder / CFG, msgspec.json.encode(state.cfg))
    _replace_files(folder / IDENTIFIER, state.identifier)
    _replace_files(folder / RESOLVER, state.resolver)


def _replace_files(folder: Path, files: Files | None) -> None:
    if files is None:
        return
    for name in _files_of(folder) - set(files):
        (folder / name).unlink()
    if files:
        write_files(folder, files)


def _check_replaceable(folder: Path, files: Files) -> None:
    others = _files_of(folder) - set(files) - MODEL_NAMES
    if others or folder.is_symlink():
        what = f"holds {min(others)}, which is not of a model" if others else "is a link"
        raise ModelFileError(
            f"{folder} {what}: a component's model replaces only another one. Name another "
            "folder"
        )


def _files_of(folder: Path) -> set[str]:
    """The names of the visible files of a folder; none without the folder."""
    if not folder.is_dir():
        return set()
    return {
        path.name
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


def read_state(folder: Path) -> ComponentState:
    """Read a component's folder. Raises ModelFileError for a damaged one."""
    cfg = folder / CFG
    settings = _settings(cfg.read_bytes(), str(cfg)) if cfg.is_file() else None
    folders = (folder / IDENTIFIER, folder / RESOLVER)
    return ComponentState(
        settings, *(read_files(one) if one.is_dir() else None for one in folders)
    )


def encode(state: ComponentState) -> bytes:
    return msgspec.msgpack.encode(state)


def decode(content: bytes) -> ComponentState:
    """The state that `encode` wrote. Raises ModelFileError for other bytes."""
    try:
        state = msgspec.msgpack.decode(content, type=ComponentState)
    except msgspec.MsgspecError as error:
        raise ModelFileError(
            f"these bytes are not an nfh component: save the pipeline again ({error})"
        ) from error
    _check(state.cfg, "these bytes")
    return state


def _settings(content: bytes, where: str) -> ComponentSettings:
    try:
        settings = msgspec.json.decode(content, type=ComponentSettings)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ModelFileError(
            f"{where} does not hold: save the pipeline again ({error})"
        ) from error
    _check(settings, where)
    return settings


def _check(settings: ComponentSettings | None, where: str) -> None:
    if settings is not None and settings.format_version > FORMAT_VERSION:
        raise ModelFileError(
            f"{where}: format {settings.format_version} of a newer nfh-tui; this one reads up "
            f"to {FORMAT_VERSION}. Update nfh-tui"
        )


RULES = identification.RULES
JOINT = identification.JOINT
SMALL = resolution.SMALL
CUES = resolution.CUES
NONE = "none"

IDENTIFIERS = (RULES, SMALL, JOINT)
RESOLVERS = (CUES, NONE, resolution.BASE, SMALL)
"""Settings that are no folder."""

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class BundledModel:
    """The files of a model saved with a component. origin: where they come from, in words."""

    files: Files = field(default_factory=dict)
    origin: str = ""


NOTHING = BundledModel()


@dataclass(frozen=True, slots=True)
class LoadedModels:
    """The loaded models, and the process that loaded them."""

    identifier: Identifier
    resolver: Resolver | None
    pid: int

    @property
    def same_process(self) -> bool:
        """Whether this process loaded them: after a fork, a torch network may lack its
        threads.
        """
        return self.pid == os.getpid()


def load(
    name: str, settings: ComponentSettings, identifier: BundledModel, resolver: BundledModel
) -> LoadedModels:
    """The models that a component's settings name; one that does both is loaded once.

    name: of the component, for messages. identifier, resolver: files that replace the folders
    in the settings. Raises ModelFileError or IdentificationRecipeError.
    """
    networks = {settings.identifier, settings.resolver} - {RULES, CUES, NONE}
    if networks and parent_process() is not None:
        # One thread for each worker of `nlp.pipe(n_process=2)`.
        import torch

        torch.set_num_threads(1)
    if settings.resolver == NONE or (settings.resolver == CUES and not resolver.files):
        resolves = None
    else:
        kept = identifier if settings.resolver == settings.identifier else resolver
        resolves = _model(
            name,
            "resolver",
            settings.resolver,
            RESOLVERS,
            kept,
            resolution.load_folder,
            lambda: resolution.load_resolver(settings.resolver),
        )
    if resolves is not None and settings.resolver == settings.identifier:
        return LoadedModels(_both(resolves, name), resolves, os.getpid())
    identifies = _model(
        name,
        "identifier",
        settings.identifier,
        IDENTIFIERS,
        identifier,
        _identifier_of,
        lambda: identification.load_identifier(settings.identifier),
    )
    return LoadedModels(identifies, resolves, os.getpid())


def _both(model: Resolver, name: str) -> Identifier:
    if not hasattr(model, "decide"):
        raise identification.IdentificationRecipeError(
            f"the component {name!r} has a model of {model.recipe} as its identifier, but it "
            "only resolves"
        )
    return cast("Identifier", model)


def _model(
    name: str,
    what: str,
    setting: str,
    recipes: tuple[str, ...],
    kept: BundledModel,
    from_folder: Callable[[Path], Model],
    by_name: Callable[[], Model],
) -> Model:
    """A recipe by name, a model from saved files, or a model from the folder."""
    if kept.files:
        return _of_files(kept, from_folder)
    if setting in recipes:
        return by_name()
    folder = Path(setting)
    if not _is_folder(folder):
        raise ModelFileError(
            f"the {what} {setting!r} of the component {name!r} is neither "
            f"{' nor '.join(recipes)} nor a model's folder: there is no such folder, seen from "
            f"{Path.cwd()}"
        )
    return from_folder(folder)


def _of_files(kept: BundledModel, from_folder: Callable[[Path], Model]) -> Model:
    with TemporaryDirectory(prefix="nfh-") as above:
        folder = Path(above) / "model"
        write_files(folder, kept.files)
        try:
            return from_folder(folder)
        except ModelFileError as error:
            # That folder is gone when the sentence is read.
            raise ModelFileError(str(error).replace(str(folder), kept.origin)) from error


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # as of a name that is longer than names may be
        return False


def _identifier_of(folder: Path) -> Identifier:
    config = read_config(folder)
    if config.task not in ("identification", "both"):
        raise identification.IdentificationRecipeError(
            f"{folder} is a model of {config.task}, not of identification"
        )
    return identification.load_identifier(config.recipe, folder)
