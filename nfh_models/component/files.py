"""What the spaCy component writes into a pipeline's folder, and reads back.

cfg           identifier and resolver, as JSON
identifier/   the files of the identifier's model directory, if it has one
resolver/     the files of the resolver's, if it has one that is not the identifier's, too
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from nfh_models.model_files import (
    CARD,
    CONFIG,
    METRICS,
    VOCABULARY,
    WEIGHTS,
    ModelFileError,
)

CFG = "cfg"
IDENTIFIER = "identifier"
RESOLVER = "resolver"
FORMAT_VERSION = 2
"""1 had no model of a resolver; it is read as well."""

MODEL_NAMES = {CONFIG, WEIGHTS, VOCABULARY, METRICS, CARD, "tokenizer.json", "NOTICE"}
"""What is removed of a model that was saved before: nothing but its files, by their names."""

Files = Mapping[str, bytes]


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What cfg holds. identifier, resolver: as the component was given them."""

    identifier: str
    resolver: str
    format_version: int = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class State:
    """A component as it is written.

    files, resolver: of its models' folders, by name; none for a recipe without a folder.
    All are None where they were left out.
    """

    settings: Settings | None
    files: Files | None = field(default=None)
    resolver: Files | None = field(default=None)


def read_files(folder: Path) -> dict[str, bytes]:
    """The files of a model directory, by name. Raises ModelFileError.

    Folders and hidden files are left out: they are other programs'.
    """
    try:
        return {
            path.name: path.read_bytes()
            for path in sorted(folder.iterdir())
            if path.is_file() and not path.name.startswith(".")
        }
    except OSError as error:
        raise ModelFileError(
            f"{folder} is no model's folder that can be read ({error.strerror}): name one that "
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
    """Write a file; where a link stands, in its place, and not where it leads to."""
    if path.is_symlink():
        path.unlink()
    path.write_bytes(content)


def write_state(folder: Path, state: State) -> None:
    """Write a component's folder. What is not left out takes the place of what stands there,
    so that no model stays of a component that was saved before. Raises ModelFileError where
    something else stands there, which nothing takes the place of."""
    for name, files in ((IDENTIFIER, state.files), (RESOLVER, state.resolver)):
        if files is not None:
            _check_replaceable(folder / name, files)
    folder.mkdir(parents=True, exist_ok=True)
    if state.settings is not None:
        _write(folder / CFG, msgspec.json.encode(state.settings))
    _replace_files(folder / IDENTIFIER, state.files)
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
        what = f"holds {min(others)}, which is no model's" if others else "is a link"
        raise ModelFileError(
            f"{folder} {what}: a component's model takes the place of another one only. Name "
            "another folder"
        )


def _files_of(folder: Path) -> set[str]:
    """The names of the files of a folder but hidden ones; none if there is no such folder."""
    if not folder.is_dir():
        return set()
    return {
        path.name
        for path in folder.iterdir()
        if path.is_file() and not path.name.startswith(".")
    }


def read_state(folder: Path) -> State:
    """A component's folder. Raises ModelFileError for one that does not hold."""
    cfg = folder / CFG
    settings = _settings(cfg.read_bytes(), str(cfg)) if cfg.is_file() else None
    return State(settings, *(_read_files(folder / name) for name in (IDENTIFIER, RESOLVER)))


def _read_files(folder: Path) -> Files | None:
    return read_files(folder) if folder.is_dir() else None


def encode(state: State) -> bytes:
    """A component's state as bytes."""
    kept = {CFG: state.settings, IDENTIFIER: state.files, RESOLVER: state.resolver}
    return msgspec.msgpack.encode(kept)


def decode(content: bytes) -> State:
    """The state that `encode` wrote. Raises ModelFileError for bytes that are none."""
    try:
        found = msgspec.msgpack.decode(content, type=_Encoded)
    except msgspec.MsgspecError as error:
        raise ModelFileError(f"these bytes are no nfh component: {error}") from error
    _check(found.cfg, "these bytes")
    return State(found.cfg, found.identifier, found.resolver)


class _Encoded(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cfg: Settings | None
    identifier: dict[str, bytes] | None
    resolver: dict[str, bytes] | None = None


def _settings(content: bytes, where: str) -> Settings:
    try:
        settings = msgspec.json.decode(content, type=Settings)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ModelFileError(f"{where} does not hold: {error}") from error
    _check(settings, where)
    return settings


def _check(settings: Settings | None, where: str) -> None:
    if settings is not None and settings.format_version > FORMAT_VERSION:
        raise ModelFileError(
            f"{where}: format {settings.format_version} of a newer nfh-tui; this one reads up "
            f"to {FORMAT_VERSION}. Update nfh-tui"
        )
