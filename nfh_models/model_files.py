"""Model directories, and settings of recipes as "key=value" words.

A trained model of any recipe is a directory:

    config.json          format version, name, task, recipe, all settings; no other keys
    weights.safetensors  arrays
    vocabulary.json      names of features or tokens, in the order of the arrays; recipes with a
                         tokenizer.json have none
    metrics.json         figures measured in training
    seen.bin             hashes of the texts that it has seen; older models have none
    card.md              for people: what the model is, what it was made of, where it fails

Nothing in it is unpickled or run. A file that is missing, truncated or malformed raises
ModelFileError, whose message names the file. A directory is written under a temporary name and
renamed, so that it is never visible in part.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

import msgspec

from nfh_models import ModelsError
from nfh_models.domain import Passage

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
SEEN = "seen.bin"

PACKAGED = {"base": "resolution", "small": "both"}
"""The recipes of the models in the package, with their tasks; of two that serve one task, the
first is the default.
"""

PACKAGE = Path(__file__).parent
"""The folder with a folder for each of them."""


def packaged_folder(recipe: str) -> Path:
    """The folder of a model in the package; it may not exist, or hold no model."""
    return PACKAGE / recipe


LARGEST_TEXT = 64_000_000
"""Bytes of config.json, metrics.json or vocabulary.json; larger files are refused."""

LARGEST_WEIGHTS = 4_000_000_000
"""Bytes of weights.safetensors or seen.bin; larger files are refused."""


class ModelFileError(ModelsError):
    """A model directory that is missing or damaged; the message names the file and the
    reason.
    """


class FolderTakenError(ModelFileError):
    """The path of a new model directory exists already."""


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The content of config.json."""

    format_version: int
    name: str
    task: str
    recipe: str
    version: str
    """Of the recipe's decisions."""
    created_at: str
    parser: str | None
    """The name of the parser of the training text; None for a recipe without a parser."""
    settings: dict[str, object]
    """The recipe's own settings, checked by the recipe."""


LONG_TURN = 8
"""Words from which on a turn is recognized outside its passage; shorter turns are common."""

SEEN_BYTES = 6
"""Bytes of a hash: with 300,000 texts, one of a billion others is taken for one of them."""

SEEN_VERSION = 1

_SEEN_FORMAT = re.compile(rb"nfh-seen ([1-9][0-9]{0,5})[ \n]")
_SEEN_HEADER = re.compile(rb"nfh-seen 1 ([0-9]{1,12}) ([0-9]{1,12})\n")


@dataclass(frozen=True, slots=True)
class SeenTexts:
    """Hashes of the texts that a model has seen: of whole passages, and of turns of LONG_TURN
    words or more.

    Words are compared in lower case, by their letters and digits. seen.bin has the header
    "nfh-seen 1 LEARNT CHOSE" and a line end, then the sorted hashes of both sets, SEEN_BYTES
    each, and the BLAKE2b of all of that.
    """

    learnt: frozenset[bytes] = frozenset()
    """Texts of the training."""
    chose: frozenset[bytes] = frozenset()
    """Texts by which its epoch, temperature or threshold was chosen."""

    @classmethod
    def of(cls, learnt: Iterable[Passage], chose: Iterable[Passage] = ()) -> "SeenTexts":
        """The texts of these passages."""
        return cls(
            frozenset(it for one in learnt for it in _hashes(one)),
            frozenset(it for one in chose for it in _hashes(one)),
        )

    def __or__(self, other: "SeenTexts") -> "SeenTexts":
        return SeenTexts(self.learnt | other.learnt, self.chose | other.chose)

    @property
    def count(self) -> int:
        """Number of texts."""
        return len(self.learnt | self.chose)

    def holds(self, passage: Passage) -> bool:
        """Whether the passage or one of its long turns was seen."""
        return any(one in self.learnt or one in self.chose for one in _hashes(passage))

    def to_bytes(self) -> bytes:
        """The content of seen.bin."""
        header = f"nfh-seen 1 {len(self.learnt)} {len(self.chose)}\n".encode("ascii")
        content = header + b"".join((*sorted(self.learnt), *sorted(self.chose)))
        return content + hashlib.blake2b(content).digest()


def _hashes(passage: Passage) -> Iterator[bytes]:
    words = [
        re.sub("[^a-z0-9]", "", passage.word(place).lower())
        for place in range(len(passage.tokens))
    ]
    yield _hash(filter(None, words))
    for turn in passage.turns:
        own = [word for word in words[turn.start : turn.end] if word]
        if len(own) >= LONG_TURN:
            yield _hash(own)


def _hash(words: Iterable[str]) -> bytes:
    return hashlib.blake2b(" ".join(words).encode("ascii"), digest_size=SEEN_BYTES).digest()


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The content of a model directory."""

    config: ModelConfig
    arrays: Mapping[str, "Array"]
    vocabulary: Sequence[str] | None
    """None for a recipe without one."""
    metrics: Mapping[str, object]
    card: str
    more: Mapping[str, str] = field(default_factory=dict)
    """Further texts by file name."""
    seen: SeenTexts | None = None


# --- writing --------------------------------------------------------------------------------


class ModelNotes(TypedDict, total=False):
    """What is saved with a model and does not change its decisions. All keys are optional."""

    name: str | None
    """The folder's name by default."""
    created_at: str
    """UTC, ISO 8601."""
    metrics: Mapping[str, object] | None
    card: str
    seen: SeenTexts | None
    """The texts that it learnt from, and those that chose between its states."""


def save_model(
    folder: Path,
    task: str,
    recipe: str,
    version: str,
    settings: object,
    arrays: Mapping[str, "Array"],
    vocabulary: Sequence[str] | None = None,
    *,
    parser: str | None = None,
    more: Mapping[str, str] | None = None,
    **about: Unpack[ModelNotes],
) -> str:
    """Write a model directory atomically; returns its digest.

    settings: an object that msgspec can encode. parser: the name of the parser of the training
    text. more: further texts by file name. Raises FolderTakenError where something exists
    already, OSError.
    """
    config = ModelConfig(
        format_version=FORMAT_VERSION,
        name=about.get("name") or folder.name,
        task=task,
        recipe=recipe,
        version=version,
        created_at=about.get("created_at", ""),
        parser=parser,
        settings=msgspec.to_builtins(settings),
    )
    metrics, card = about.get("metrics") or {}, about.get("card", "")
    files = ModelFiles(config, arrays, vocabulary, metrics, card, more or {}, about.get("seen"))
    return write_model(folder, files)


def write_model(folder: Path, files: ModelFiles) -> str:
    """Write a model directory atomically; returns its digest.

    Parent folders are created. Raises FolderTakenError where something exists already,
    ModelFileError where the parent is no folder, OSError where it cannot be written.
    """
    if os.path.lexists(folder):
        raise _taken(folder)
    if os.path.lexists(folder.parent) and not folder.parent.is_dir():
        raise ModelFileError(
            f"{folder.parent} is not a folder, but models are kept there. Move it away"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = temporary_name(folder)
    beside.mkdir()
    try:
        for name, content in _contents(files):
            _write(beside / name, content)
        sync(beside)
        digest = digest_of(beside)
        _rename(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    sync(folder.parent)
    return digest


def temporary_name(path: Path) -> Path:
    """A new hidden name beside `path`, for a file or folder that is renamed to `path` when
    complete.
    """
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
    if files.seen is not None:
        contents.append((SEEN, files.seen.to_bytes()))
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
    return FolderTakenError(f"{folder} already exists; a model is never overwritten")


def sync(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk; Windows cannot flush folders.

    A rename is durable once its folder is flushed.
    """
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# --- reading --------------------------------------------------------------------------------


def read_config(folder: Path, recipe: str | None = None) -> ModelConfig:
    """The config of a model directory. recipe: the recipe that it must be of.

    Raises ModelFileError, also for the format of a newer program.
    """
    if not folder.is_dir():
        raise ModelFileError(f"{folder} is not a model: there is no such folder")
    path = folder / CONFIG
    content = _read(path, LARGEST_TEXT)
    try:
        version = msgspec.json.decode(content, type=_Versioned).format_version
        if version > FORMAT_VERSION:
            raise _newer(path, version, FORMAT_VERSION)
        config = msgspec.json.decode(content, type=ModelConfig)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise damaged(path, error) from error
    if version < 1:
        raise damaged(path, f"there is no format {version}")
    if recipe is not None and config.recipe != recipe:
        raise ModelFileError(f"{folder} is a model of {config.recipe!r}, not of {recipe!r}")
    return config


class _Versioned(msgspec.Struct):
    """The key that tells how to read the others."""

    format_version: int


Settings = TypeVar("Settings", bound=msgspec.Struct)


def settings_of(
    folder: Path, config: ModelConfig, wanted: type[Settings], *, complete: bool = False
) -> Settings:
    """A recipe's own settings as the type `wanted`. Raises ModelFileError."""
    try:
        for field in msgspec.structs.fields(wanted) if complete else ():
            if field.encode_name not in config.settings:
                raise msgspec.ValidationError(
                    f"Object missing required field `{field.encode_name}`"
                )
        return msgspec.convert(config.settings, wanted)
    except msgspec.ValidationError as error:
        raise damaged(folder / CONFIG, f"settings: {error}") from error


def read_metrics(folder: Path) -> dict[str, object]:
    """The figures measured in training. Raises ModelFileError."""
    path = folder / METRICS
    found = _json(path)
    if not isinstance(found, dict):
        raise damaged(path, "wanted an object")
    return found


def read_vocabulary(folder: Path) -> list[str]:
    """The names in the order of the arrays, without duplicates. Raises ModelFileError."""
    path = folder / VOCABULARY
    found = _json(path)
    if not isinstance(found, list) or not all(isinstance(word, str) for word in found):
        raise damaged(path, "wanted a list of strings")
    if len(set(found)) != len(found):
        raise damaged(path, "a name is in it twice")
    return found


def read_seen(folder: Path) -> SeenTexts | None:
    """The texts that the model has seen; None for a model without a list. Raises
    ModelFileError.
    """
    path = folder / SEEN
    if not os.path.lexists(path):
        return None
    content = _read(path, LARGEST_WEIGHTS)
    format_ = _SEEN_FORMAT.match(content)
    if format_ is not None and int(format_[1]) > SEEN_VERSION:
        raise _newer(path, int(format_[1]), SEEN_VERSION)
    body = content[: -hashlib.blake2b().digest_size]
    found = _SEEN_HEADER.match(body)
    if found is None or content != body + hashlib.blake2b(body).digest():
        raise damaged(path, "it is not a complete list of texts")
    hashes = [body[at : at + SEEN_BYTES] for at in range(found.end(), len(body), SEEN_BYTES)]
    learnt = int(found[1])
    return SeenTexts(frozenset(hashes[:learnt]), frozenset(hashes[learnt:]))


def read_text(folder: Path, name: str) -> str:
    """A further text of a model, in UTF-8. Raises ModelFileError."""
    path = folder / name
    try:
        return _read(path, LARGEST_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise damaged(path, error) from error


def read_arrays(folder: Path, wanted: Mapping[str, str]) -> "dict[str, Array]":
    """The arrays; all numbers are finite.

    wanted: name to numpy type, as "float64"; there must be these arrays and no others. The
    recipe checks their shapes. Raises ModelFileError.
    """
    import numpy as np
    from safetensors import SafetensorError
    from safetensors.numpy import load

    path = folder / WEIGHTS
    content = _read(path, LARGEST_WEIGHTS)
    try:
        arrays = load(content)
    except (SafetensorError, ValueError, LookupError, TypeError, OverflowError) as error:
        raise damaged(path, _cut_short(content) or error) from error
    _check_names(path, set(arrays), set(wanted))
    for name, kind in wanted.items():
        if arrays[name].dtype != np.dtype(kind):
            raise damaged(path, f"{name} is of type {arrays[name].dtype}, wanted {kind}")
        if not np.isfinite(arrays[name]).all():
            raise damaged(path, f"{name} has a value that is not a finite number")
    return dict(arrays)


class _Place(msgspec.Struct):
    """Where the header of safetensors says that an array is."""

    data_offsets: tuple[int, int] = (0, 0)


def _cut_short(content: bytes) -> str | None:
    """What a file of arrays lacks of the size that its header gives; None if nothing."""
    start = 8 + int.from_bytes(content[:8], "little")
    if len(content) < start:
        return "it is cut short: its header is incomplete"
    with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
        header = msgspec.json.decode(content[8:start], type=dict[str, _Place])
        size = start + max((one.data_offsets[1] for one in header.values()), default=0)
        if len(content) < size:
            return f"it is cut short: {len(content):,} of its {size:,} bytes are there"
    return None


def check_summable(folder: Path, arrays: "Iterable[Array]", what: str) -> None:
    """Raise ModelFileError for weights whose sum would overflow. what: their name in the
    message.
    """
    import numpy as np

    with np.errstate(over="ignore"):
        largest = sum(np.abs(array.astype(np.float64)).sum() for array in arrays)
    if not np.isfinite(largest):
        raise damaged(folder / WEIGHTS, f"{what} are too large to add")


def _check_names(path: Path, found: set[str], wanted: set[str]) -> None:
    """Raise ModelFileError unless these are the arrays wanted."""
    for what, names in (
        ("it lacks the array", wanted - found),
        ("it has an unknown array:", found - wanted),
    ):
        if names:
            more = f", and {len(names) - 1:,} more" if len(names) > 1 else ""
            raise damaged(path, f"{what} {min(names)}{more}")


def damaged(path: Path, what: object) -> ModelFileError:
    """The error for a damaged file of a model. what: what is wrong with it."""
    first = (str(what).strip() or type(what).__name__).splitlines()[0]
    return ModelFileError(f"{path} is damaged, or not of a model: {first}. {_remedy(path)}")


def _remedy(path: Path) -> str:
    if path.parent.parent == PACKAGE:
        return "Install nfh-tui again"
    return "Train the model again, or copy its folder again"


def _newer(path: Path, version: int, newest: int) -> ModelFileError:
    return ModelFileError(
        f"{path} has format {version} of a newer nfh-tui; this one reads up to {newest}. "
        "Update nfh-tui"
    )


def _json(path: Path) -> object:
    try:
        return json.loads(_read(path, LARGEST_TEXT), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise damaged(path, error) from error


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _read(path: Path, largest: int) -> bytes:
    """A whole file. Raises ModelFileError if it is missing, too large, or no file."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise ModelFileError(f"{path} is not a file")
        if found.st_size > largest:
            raise ModelFileError(
                f"{path} has {found.st_size:,} bytes, more than a model's may have"
            )
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path} is missing: this is not a model, or it is damaged. {_remedy(path)}"
        ) from error
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error


# --- knowing one again ----------------------------------------------------------------------


def digest_of(folder: Path) -> str:
    """SHA-256 (hex) of a directory without card.md and hidden files.

    Hashed are, in the order of their names, each file's path below the folder, its length and
    its content. Raises ModelFileError for a missing folder, and for links and special files.
    """
    if not folder.is_dir():
        raise ModelFileError(f"{folder} is missing: there is no such folder")
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


def digest_of_examples(examples: Iterable[object]) -> str:
    """SHA-256 (hex) of training examples, whatever their order.

    examples: JSON values. Hashed are the sorted SHA-256 of each as JSON.
    """
    each = sorted(
        hashlib.sha256(json.dumps(example).encode("ascii")).digest() for example in examples
    )
    return hashlib.sha256(b"".join(each)).hexdigest()


# --- settings -------------------------------------------------------------------------------

LARGEST_SEED = 2**32 - 1

SEED = f"a whole number from 0 to {LARGEST_SEED:,}"
"""What the seed of a training may be."""


class SettingError(ModelsError):
    """An unknown setting, or a value that it cannot have; the message says what is allowed."""


def pair_of(word: str, recipe: str, wanted: Mapping[str, str]) -> tuple[str, str]:
    """Key and value of a "key=value" word. Raises SettingError for an unknown key."""
    key, equals, value = word.partition("=")
    if not equals or key not in wanted:
        raise SettingError(
            f"{word!r} is not a setting of {recipe}: wanted key=value, with a key of "
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
    """The settings that the "key=value" words give; others are as in `defaults`.

    wanted: each key with a description of its values. value_of: from key and value as given to
    what msgspec converts. Raises SettingError for a malformed word, and for a value that its
    key cannot have.
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
