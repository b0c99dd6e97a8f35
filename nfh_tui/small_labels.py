"""What teachers say of anchors, kept in files, so that it is worked out once."""

import hashlib
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nfh_db.beside import path_beside, sweep
from nfh_models.encoder.lessons import Soft, key_of_item
from nfh_models.encoder.reading import Shown
from nfh_models.model_files import digest_of
from nfh_models.resolution.item import Item
from nfh_tui.small_material import Say

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel

CHUNK = 512
"""Anchors whose labels are written together: what a kill may cost."""


@dataclass(slots=True)
class Labels:
    """What teachers say, by `key_of_item`. soft: the mean of their probabilities. shown: the
    first one's states of words, where asked for."""

    soft: dict[str, Soft] = field(default_factory=dict)
    shown: dict[str, Shown] = field(default_factory=dict)


def labels(
    teachers: Sequence[Path], items: Sequence[Item], work: Path, say: Say, *, states: bool
) -> Labels:
    """What the teachers say of some anchors; nothing without a teacher.

    teachers: model directories. What `work` holds already is read from there. Raises
    ModelFileError for a teacher that does not hold.
    """
    keyed = {key_of_item(item): item for item in items}
    each = [
        _of_one(one, keyed, work, say, states=states and place == 0)
        for place, one in enumerate(teachers)
    ]
    if not each:
        return Labels()
    soft: dict[str, Soft] = {
        key: np.asarray(np.mean([one.soft[key] for one in each], 0), np.float32)
        for key in keyed
    }
    return Labels(soft, each[0].shown)


def _of_one(
    teacher: Path, keyed: dict[str, Item], work: Path, say: Say, *, states: bool
) -> Labels:
    """What one teacher says of the anchors; what is new is written."""
    digest = hashlib.sha256(digest_of(teacher).encode()).hexdigest()[:12]
    folder = work / f"labels-{digest}{'-states' if states else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    known = _read(folder, keyed)
    missing = [key for key in keyed if key not in known.soft]
    say(f"{len(keyed):,} anchors for {teacher.name}, {len(missing):,} of them new")
    if not missing:
        return known
    model = _load(teacher)
    for start in range(0, len(missing), CHUNK):
        keys = missing[start : start + CHUNK]
        found = _taught(model, [keyed[key] for key in keys], states=states)
        _write(folder, keys, found)
        say(f"labelled {min(start + CHUNK, len(missing)):,} of {len(missing):,}")
    # As the files have them, so that a run that goes on learns from the same numbers.
    return _read(folder, keyed)


def _load(folder: Path) -> "EncoderModel":
    from nfh_models.encoder import load_encoder

    return load_encoder(folder)


@dataclass(frozen=True, slots=True)
class _Chunk:
    soft: Sequence[Soft]
    shown: Sequence[Shown]


def _taught(teacher: "EncoderModel", items: Sequence[Item], *, states: bool) -> _Chunk:
    from nfh_models.encoder import teaching

    if states:
        return _Chunk(*teaching.shown(teacher, items))
    return _Chunk(teaching.taught(teacher, items), ())


# --- files ----------------------------------------------------------------------------------


def _write(folder: Path, keys: Sequence[str], found: _Chunk) -> None:
    """Probabilities in one file, states beside it in another that is there first. Named by
    their keys, so that no others have their name."""
    name = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
    if found.shown:
        every = np.concatenate([one.states for one in found.shown])
        beside = path_beside(folder / name, "tmp")
        with beside.open("xb") as file:
            np.save(file, every, allow_pickle=False)
        beside.replace(folder / f"{name}.states.npy")
    beside = path_beside(folder / name, "tmp")
    with beside.open("xb") as file:
        np.savez(
            file,
            keys=np.array(keys),
            sizes=np.array([len(one) for one in found.soft], np.int64),
            values=np.concatenate(found.soft).astype(np.float16),
            offsets=np.array([one.offset for one in found.shown], np.int64),
            words=np.array([len(one.states) for one in found.shown], np.int64),
        )
    beside.replace(folder / f"{name}.npz")


def _read(folder: Path, wanted: dict[str, Item]) -> Labels:
    """What is there of the wanted; a file that does not hold is worked out anew."""
    known = Labels()
    for path in sorted(folder.glob("*.npz")):
        try:
            keys, soft, shown = _chunk(path)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            continue
        for place, key in enumerate(keys):
            if key not in wanted:
                continue
            known.soft[key] = soft[place]
            if shown:
                known.shown[key] = shown[place]
    return known


def _chunk(path: Path) -> tuple[list[str], list[Soft], list[Shown]]:
    with np.load(path, allow_pickle=False) as held:
        keys: list[str] = held["keys"].tolist()
        soft = np.split(held["values"].astype(np.float32), np.cumsum(held["sizes"])[:-1])
        words, offsets = held["words"].tolist(), held["offsets"].tolist()
    if len(soft) != len(keys):
        raise ValueError("other keys than values")
    if not words:
        return keys, soft, []
    # From the disk when they are learnt from: together they may be larger than the memory.
    every = np.load(path.with_suffix(".states.npy"), mmap_mode="r", allow_pickle=False)
    if len(every) != sum(words) or len(words) != len(keys):
        raise ValueError("other states than words")
    ends = [0, *np.cumsum(words).tolist()]
    parts = [every[start:end] for start, end in pairwise(ends)]
    return keys, soft, [Shown(*one) for one in zip(offsets, parts, strict=True)]
