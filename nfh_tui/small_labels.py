"""What teachers say of anchors, kept in files, so that it is worked out once."""

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nfh_models.encoder.lessons import Soft, key_of_item
from nfh_models.model_files import digest_of
from nfh_models.resolution.item import Item, Resolver
from nfh_tui.small_material import Say

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel

CHUNK = 512
"""Anchors whose labels are written together: what a kill may cost."""


def labels(
    teachers: Sequence[Path], items: Sequence[Item], work: Path, say: Say
) -> dict[str, Soft]:
    """The mean of the teachers' probabilities by `key_of_item`; empty without a teacher.

    teachers: model directories. Those that `work` holds already are read from there. Raises
    ModelFileError for a teacher that does not hold.
    """
    if not teachers:
        return {}
    digests = "".join(sorted(digest_of(one) for one in teachers))
    folder = work / f"labels-{hashlib.sha256(digests.encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    known = _read(folder)
    keyed = {key_of_item(item): item for item in items}
    missing = [key for key in keyed if key not in known]
    say(f"{len(keyed):,} anchors for the teachers, {len(missing):,} of them new")
    loaded = [_load(one) for one in teachers] if missing else []
    for start in range(0, len(missing), CHUNK):
        keys = missing[start : start + CHUNK]
        found = _taught(loaded, [keyed[key] for key in keys])
        known.update(zip(keys, found, strict=True))
        _write(folder, keys, found)
        say(f"labelled {min(start + CHUNK, len(missing)):,} of {len(missing):,}")
    return {key: known[key] for key in keyed}


def _load(folder: Path) -> "EncoderModel":
    from nfh_models.encoder import load_encoder

    return load_encoder(folder)


def _taught(teachers: Sequence[Resolver], items: Sequence[Item]) -> list[Soft]:
    from nfh_models.encoder.teaching import taught

    # Rounded as the files have them, so that a run that goes on learns from the same numbers.
    return [one.astype(np.float16).astype(np.float32) for one in taught(teachers, items)]


def _write(folder: Path, keys: Sequence[str], found: Sequence[Soft]) -> None:
    """One file, whole or not at all. Named by its keys, so that no other has its name."""
    name = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
    beside = folder / f".{name}.new"
    with beside.open("wb") as file:
        np.savez(
            file,
            keys=np.array(keys),
            sizes=np.array([len(one) for one in found], np.int64),
            values=np.concatenate(found).astype(np.float16),
        )
    beside.replace(folder / f"{name}.npz")


def _read(folder: Path) -> dict[str, Soft]:
    """What is there; a file that does not hold is worked out anew."""
    known: dict[str, Soft] = {}
    for path in sorted(folder.glob("*.npz")):
        try:
            with np.load(path, allow_pickle=False) as held:
                ends = np.cumsum(held["sizes"])[:-1]
                values = np.split(held["values"].astype(np.float32), ends)
                known.update(zip(held["keys"].tolist(), values, strict=True))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            path.unlink()
    return known
