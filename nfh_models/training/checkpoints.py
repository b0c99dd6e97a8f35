"""Checkpoints of a training: one safetensors file each, replaced atomically.

A file holds tensors and, in its header, the progress and the identity of the training as JSON.
Nothing is unpickled. A new file replaces the old one by a rename, so that a kill at any moment
leaves a complete file.
"""

import re
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import msgspec
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from nfh_models.model_files import sync, temporary_name
from nfh_models.training.plan import TrainingError

FORMAT_VERSION = 1

LAST = "last.safetensors"
BEST = "best.safetensors"

HEADER = "training"
"""The key of the JSON text in the file's header."""


class CheckpointError(TrainingError):
    """A checkpoint that cannot be written, is damaged, or belongs to another training."""


class Identity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What training a checkpoint belongs to."""

    plan: dict[str, str]
    """The fields of the plan, as text."""
    learner: str
    """A digest of network and examples."""


class Best(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The best evaluation so far."""

    epoch: int
    step: int
    metrics: dict[str, float]


class TrainingProgress(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The progress of a training."""

    step: int = 0
    """Steps made."""
    epoch: int = 1
    """The current one, from 1."""
    place: int = 0
    """Batches of the current epoch that are done."""
    lost: float = 0.0
    """Sum of their losses."""
    best: Best | None = None
    worse: int = 0
    """Evaluations since the best one."""
    metrics: dict[str, float] = {}
    curve: tuple[dict[str, float], ...] = ()
    seconds: float = 0.0
    """Training time over all processes."""
    scaler: dict[str, float] = {}
    """State of the gradient scaler of 16-bit training."""
    done: bool = False
    stopped_early: bool = False


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format_version: int
    identity: Identity
    progress: TrainingProgress
    checksum: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    identity: Identity
    progress: TrainingProgress
    tensors: Mapping[str, Tensor]


def write(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in place of the one before.

    Raises CheckpointError where it cannot be written, for example on a full disk; then the one
    before stays as it is.
    """
    tensors = _apart(checkpoint.tensors)
    header = _Header(
        FORMAT_VERSION, checkpoint.identity, checkpoint.progress, _checksum(tensors)
    )
    spelled = {HEADER: msgspec.json.encode(header).decode()}
    beside = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(tensors, beside, spelled)
        sync(beside)
        beside.replace(path)
        sync(path.parent)
    except (OSError, SafetensorError) as error:
        before = " The previous one is kept" if path.exists() else ""
        said = error.strerror if isinstance(error, OSError) else None
        raise CheckpointError(
            f"The checkpoint {path} cannot be written: {said or error}.{before}"
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors in main memory, each with its own storage: safetensors refuses shared
    storage.
    """
    made: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in tensors.items():
        own = tensor.detach().cpu().contiguous()
        if own.untyped_storage().data_ptr() in seen:
            own = own.clone()
        seen.add(own.untyped_storage().data_ptr())
        made[name] = own
    return made


def _checksum(tensors: Mapping[str, Tensor]) -> int:
    """CRC-32 of names and contents, in the order of the names."""
    found = 0
    for name in sorted(tensors):
        found = zlib.crc32(name.encode(), found)
        flat = tensors[name].reshape(-1).view(torch.uint8)
        found = zlib.crc32(flat.numpy().data, found)
    return found


def clear(folder: Path) -> None:
    """Remove temporary files that a killed process left."""
    for name in (LAST, BEST):
        half_written = re.compile(rf"\.{re.escape(name)}\.[0-9]+(\.[0-9a-f]{{16}})?\.new")
        for path in folder.glob(f".{name}.*.new"):
            if half_written.fullmatch(path.name):
                path.unlink(missing_ok=True)


def read(path: Path, identity: Identity) -> Checkpoint:
    """Read a checkpoint of this training; its tensors are in main memory.

    Raises CheckpointError for a damaged checkpoint, and for one of another training.
    """
    try:
        with safe_open(path, framework="pt") as file:
            header = msgspec.json.decode((file.metadata() or {}).get(HEADER, ""), type=_Header)
            # Copied, for a file that is mapped cannot be replaced on every system.
            tensors = {name: file.get_tensor(name).clone() for name in list(file.keys())}
    except (OSError, SafetensorError, msgspec.MsgspecError, UnicodeError, ValueError) as error:
        damaged(path, error)
    if header.format_version != FORMAT_VERSION:
        damaged(path, f"its format is {header.format_version}, wanted {FORMAT_VERSION}")
    if header.checksum != _checksum(tensors):
        damaged(path, "its checksum differs")
    _check(path, header.identity, identity)
    return Checkpoint(header.identity, header.progress, tensors)


def damaged(path: Path, what: object) -> NoReturn:
    """Raise CheckpointError for a damaged checkpoint."""
    first = (str(what).strip() or type(what).__name__).splitlines()[0]
    raise CheckpointError(
        f"{path}, the checkpoint of an interrupted training, is damaged: {first}. Remove the "
        f"folder {path.parent} to train from the beginning"
    )


def _check(path: Path, found: Identity, wanted: Identity) -> None:
    if found == wanted:
        return
    names = sorted(set(found.plan) | set(wanted.plan))
    other = [
        f"{name} {found.plan.get(name, 'none')} there, {wanted.plan.get(name, 'none')} here"
        for name in names
        if found.plan.get(name) != wanted.plan.get(name)
    ]
    if found.learner != wanted.learner:
        other.append("another network, other settings or other examples")
    raise CheckpointError(
        f"{path} is the checkpoint of another training ({'; '.join(other)}). Train into "
        f"another folder, or remove {path.parent} to train from the beginning"
    )
