"""Model directories: what a trained model is on the disk, for every recipe; and settings of
a recipe out of "key=value" words.

    config.json          format version, name, task, recipe, all settings; unknown keys refused
    weights.safetensors  arrays
    vocabulary.json      the features' or the tokens' names, in the order of the arrays; recipes
                         with a tokenizer.json have none
    metrics.json         figures measured while it was trained
    card.md              what it is, what it was made of, where it fails: for people

Nothing in them is unpickled or run. Whatever is missing, cut short or not what it should be
is a ModelFileError, a sentence with the file's name. A directory is written beside its place
and renamed, so that nobody ever sees half of one.
"""

import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from nfh_models.errors import ModelsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.generic]

FORMAT_VERSION = 1

CONFIG = "config.json"
WEIGHTS = "weights.safetensors"
VOCABULARY = "vocabulary.json"
METRICS = "metrics.json"
CARD = "card.md"

LARGEST_TEXT = 64_000_000
"""Bytes of config.json, metrics.json or vocabulary.json; what is larger is no such file."""

LARGEST_WEIGHTS = 4_000_000_000
"""Bytes of weights.safetensors."""


class ModelFileError(ModelsError):
    """A model directory that does not hold, or is missing; says which file, and why."""


class FolderTakenError(ModelFileError):
    """Something stands already where a model directory was to be written."""


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What config.json says."""

    format_version: int
    name: str
    task: str
    recipe: str
    version: str
    """Of the recipe's decisions."""
    created_at: str
    parser: str | None
    """The name of what parsed the training text; None of a recipe that needs none."""
    settings: dict[str, object]
    """The recipe's own, checked by it."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """Everything that a model directory holds.

    vocabulary: None for a recipe that has none. more: further texts by their file's name.
    """

    config: ModelConfig
    arrays: Mapping[str, "Array"]
    vocabulary: Sequence[str] | None
    metrics: Mapping[str, object]
    card: str
    more: Mapping[str, str] = field(default_factory=dict)


# --- writing --------------------------------------------------------------------------------


def write_model(folder: Path, files: ModelFiles) -> str:
    """Write a model directory, whole or not at all; its digest.

    The folders above it are made. Raises FolderTakenError where something is there already,
    ModelFileError where the one above it is no folder, OSError where it cannot be written.
    """
    if os.path.lexists(folder):
        raise _taken(folder)
    if os.path.lexists(folder.parent) and not folder.parent.is_dir():
        raise ModelFileError(
            f"{folder.parent} is no folder, and models are to be kept in it. Move it away"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = name_beside(folder)
    beside.mkdir()
    try:
        for name, content in _contents(files):
            _write(beside / name, content)
        _sync_folder(beside)
        digest = digest_of(beside)
        _rename(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    _sync_folder(folder.parent)
    return digest


def name_beside(path: Path) -> Path:
    """A new hidden name in the folder of `path`, for what gets that name when it is whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(8)}.new")


def _contents(files: ModelFiles) -> list[tuple[str, bytes]]:
    from safetensors.numpy import save

    config = msgspec.json.format(msgspec.json.encode(files.config), indent=2)
    metrics = json.dumps(files.metrics, indent=2, allow_nan=False)
    contents = [
        (CONFIG, config + b"\n"),
        (WEIGHTS, save(dict(files.arrays))),
        (METRICS, metrics.encode("ascii") + b"\n"),
        (CARD, files.card.encode("utf-8", "backslashreplace")),
    ]
    if files.vocabulary is not None:
        vocabulary = json.dumps(list(files.vocabulary), indent=0)
        contents.append((VOCABULARY, vocabulary.encode("ascii") + b"\n"))
    contents += [(name, text.encode("utf-8")) for name, text in files.more.items()]
    return contents


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _rename(beside: Path, folder: Path) -> None:
    try:
        beside.rename(folder)
    except OSError as error:
        if os.path.lexists(folder):
            raise _taken(folder) from error
        raise


def _taken(folder: Path) -> FolderTakenError:
    return FolderTakenError(f"{folder} is there already; a model is never written over")


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk once its folder is; Windows has no way to ask for that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- reading --------------------------------------------------------------------------------


def read_config(folder: Path, recipe: str | None = None) -> ModelConfig:
    """What a directory says of itself. recipe: the one it has to be of.

    Raises ModelFileError, also for a format of a newer program.
    """
    if not folder.is_dir():
        raise ModelFileError(f"{folder} is no model: there is no such folder")
    path = folder / CONFIG
    content = _read(path, LARGEST_TEXT)
    try:
        version = msgspec.json.decode(content, type=_Versioned).format_version
        if version > FORMAT_VERSION:
            raise ModelFileError(
                f"{path} has format {version} of a newer nfh-tui; this one reads up to "
                f"{FORMAT_VERSION}. Update nfh-tui"
            )
        config = msgspec.json.decode(content, type=ModelConfig)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise damaged(path, error) from error
    if version < 1:
        raise damaged(path, f"there is no format {version}")
    if recipe is not None and config.recipe != recipe:
        raise ModelFileError(f"{folder} is a model of {config.recipe!r}, not of {recipe!r}")
    return config


class _Versioned(msgspec.Struct):
    """The one key that tells how to read the others."""

    format_version: int


Settings = TypeVar("Settings")


def settings_of(folder: Path, config: ModelConfig, wanted: type[Settings]) -> Settings:
    """A recipe's own settings as the type that it gives. ModelFileError for what is not so."""
    try:
        return msgspec.convert(config.settings, wanted)
    except msgspec.ValidationError as error:
        raise damaged(folder / CONFIG, f"settings: {error}") from error


def read_metrics(folder: Path) -> dict[str, object]:
    """The figures measured while it was trained. Raises ModelFileError."""
    path = folder / METRICS
    found = _json(path)
    if not isinstance(found, dict):
        raise damaged(path, "wanted an object")
    return found


def read_vocabulary(folder: Path) -> list[str]:
    """The names in the order of the arrays, no two alike. Raises ModelFileError."""
    path = folder / VOCABULARY
    found = _json(path)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise damaged(path, "wanted a list of strings")
    if len(set(found)) != len(found):
        raise damaged(path, "a name stands in it twice")
    return found


def read_text(folder: Path, name: str) -> str:
    """A further text of a model, in UTF-8. Raises ModelFileError."""
    path = folder / name
    try:
        return _read(path, LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def read_arrays(folder: Path, wanted: Mapping[str, str]) -> "dict[str, Array]":
    """The arrays, finite numbers all.

    wanted: name to numpy type, as "float64"; there must be these and no others. Their shapes
    are the recipe's to check. Raises ModelFileError.
    """
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = folder / WEIGHTS
    content = _read(path, LARGEST_WEIGHTS)
    try:
        arrays = load(content)
    except (SafetensorError, ValueError, LookupError, TypeError, OverflowError) as error:
        raise damaged(path, error) from error
    _check_names(path, set(arrays), set(wanted))
    for name, kind in wanted.items():
        if arrays[name].dtype != np.dtype(kind):
            raise damaged(path, f"{name} is of type {arrays[name].dtype}, wanted {kind}")
        if not np.isfinite(arrays[name]).all():
            raise damaged(path, f"{name} holds what is no finite number")
    return dict(arrays)


def _check_names(path: Path, found: set[str], wanted: set[str]) -> None:
    """Raise ModelFileError unless these are the arrays wanted."""
    for what, names in (
        ("it lacks the array", wanted - found),
        ("it has an array that no such model has:", found - wanted),
    ):
        if names:
            more = f", and {len(names) - 1:,} more" if len(names) > 1 else ""
            raise damaged(path, f"{what} {min(names)}{more}")


def damaged(path: Path, what: object) -> ModelFileError:
    """The error for a file of a model that does not hold; what: what is wrong with it."""
    first = (str(what).strip() or type(what).__name__).splitlines()[0]
    return ModelFileError(
        f"{path} is damaged, or no model's: {first}. Train it anew, or copy the folder again"
    )


def _json(path: Path) -> object:
    try:
        return json.loads(_read(path, LARGEST_TEXT), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _read(path: Path, largest: int) -> bytes:
    """A whole file. ModelFileError if it is missing, too large, or no file."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError(f"{path} is no file")
        if found.st_size > largest:
            raise ModelFileError(
                f"{path} has {found.st_size:,} bytes, more than a model's may have"
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path} is missing: this is no model, or a damaged one"
        ) from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error


# --- knowing one again ----------------------------------------------------------------------


def digest_of(folder: Path) -> str:
    """SHA-256 (hex) of all that a directory holds but card.md and hidden files.

    Hashed are, in the order of their names, each file's path below the folder, its length,
    and its content. Raises ModelFileError for a missing folder, and for links and the like.
    """
    if not folder.is_dir():
        raise ModelFileError(f"{folder} is gone: there is no such folder")
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name == CARD or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_dir() and not path.is_symlink():
            continue
        if path.is_symlink():
            raise ModelFileError(f"{path} is a link; a model holds files only")
        content = _read(path, LARGEST_WEIGHTS)
        hashed.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        hashed.update(content)
    return hashed.hexdigest()


LARGEST_SEED = 2**32 - 1

SEED = f"a whole number from 0 to {LARGEST_SEED:,}"
"""What the seed of a training may be."""


class SettingError(ModelsError):
    """A setting that is none, or a value that it cannot have; the sentence says what can be."""


def pair_of(word: str, recipe: str, wanted: Mapping[str, str]) -> tuple[str, str]:
    """Key and value of a word. Raises SettingError for a key that the recipe has not."""
    key, equals, value = word.partition("=")
    if not equals or key not in wanted:
        raise SettingError(
            f"{word!r} is no setting of {recipe}: wanted key=value, with a key of "
            f"{', '.join(wanted)}"
        )
    return key, value


def read_settings(
    given: Iterable[str],
    kind: type[Settings],
    recipe: str,
    wanted: Mapping[str, str],
    defaults: Mapping[str, object],
    value_of: Callable[[str, str], object] = lambda _, value: value,
) -> Settings:
    """The settings that the words say; what they leave out is as in `defaults`.

    wanted: each key with what it may be. value_of: what msgspec is to convert, of a key and
    its value as given. Raises SettingError for a word that is none, or a value that its key
    cannot have.
    """
    values = dict(defaults)
    for word in given:
        key, value = pair_of(word, recipe, wanted)
        values[key] = value_of(key, value)
        try:
            msgspec.convert(values, kind, strict=False)
        except msgspec.ValidationError as error:
            raise SettingError(f"{word!r}: wanted {wanted[key]}") from error
    return msgspec.convert(values, kind, strict=False)
