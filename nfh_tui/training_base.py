"""What a training is told besides the recipe's settings: its start, and what judges it."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.encoder.hub import may_be_a_name
from nfh_models.model_files import CONFIG, digest_of, read_config
from nfh_models.resolution.recipes import ENCODER, LINEAR, SMALL
from nfh_tui.choosing_models import IDENTIFICATION
from nfh_tui.choosing_resolvers import RESOLUTION
from nfh_tui.model_folders import checked_folder
from nfh_tui.packaged import is_packaged, packaged_folder, packaged_version
from nfh_tui.training_trainers import GENERAL, Base, TrainerError

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

ACTIVE = "active"
LARGEST_SHARE = 0.5
TORCH = "torch"
WARM = (ENCODER, SMALL)
"""Recipes that start from a model."""

DEVICE = re.compile("auto|cpu|cuda(:[0-9]{1,3})?|mps")
DEVICES = "auto, cpu, cuda, cuda:NUMBER or mps"


@dataclass(frozen=True, slots=True)
class General:
    """Settings that are no recipe's own, and the words that are left for the recipe.

    base: what to start from, in words. dev_split, dev: the split, or the share of the
    passages, that judges the training. device: what it runs on.
    """

    words: tuple[str, ...]
    base: str | None = None
    dev_split: str | None = None
    dev: float | None = None
    device: str | None = None


def general_of(words: Iterable[str]) -> General:
    """The words after --set, sorted out. Raises TrainerError for a value that cannot be."""
    own: dict[str, str] = {}
    rest = []
    for word in words:
        key, equals, value = word.partition("=")
        if key in GENERAL and equals:
            if not value:
                raise TrainerError(f"{word!r}: a value is wanted behind the =")
            own[key] = value
        else:
            rest.append(word)
    if "dev" in own and "dev_split" in own:
        raise TrainerError("dev and dev_split both say what judges the training: leave one out")
    device = own.get("device")
    if device is not None and not DEVICE.fullmatch(device):
        raise TrainerError(f"'device={device}': wanted {DEVICES}")
    return General(
        tuple(rest),
        own.get("base"),
        own.get("dev_split"),
        _share(own["dev"]) if "dev" in own else None,
        device,
    )


def _share(value: str) -> float:
    wanted = f"a share of the passages above 0 and up to {LARGEST_SHARE:g}"
    try:
        share = float(value)
    except ValueError as error:
        raise TrainerError(f"'dev={value}': wanted {wanted}") from error
    if not 0 < share <= LARGEST_SHARE:
        raise TrainerError(f"'dev={value}': wanted {wanted}")
    return share


def base_for(store: "Store", recipe: str, general: General) -> Base | str | None:
    """What a training starts from.

    A model's folder for "active", a registered model's number, name or recipe, or the folder
    of one; else the words themselves, as a pretrained encoder's. Where nothing is said,
    `encoder` and `small` start from the active model where that is one of theirs, else from
    the model in the package. Raises ModelsError for a model that does not hold, or that they
    cannot start from.
    """
    word = general.base
    if recipe not in WARM:
        return word
    if word is None:
        named = any(one.startswith("encoder=") for one in general.words)
        return None if named else _by_default(store)
    if word == ACTIVE:
        return _active(store)
    if Path(word).is_dir():
        return _of_folder(Path(word))
    found = RESOLUTION.named(store, word)
    if found is not None:
        return _of_model(store, found)
    _check_name(word)
    return word


def usual_recipe(store: "Store") -> str:
    """The recipe of resolution where none is named.

    `encoder`, which starts from what a model knows, where torch is installed and there is a
    model to start from; else `linear`, which begins with nothing.
    """
    if find_spec(TORCH) is None or _by_default_name(store) is None:
        return LINEAR
    return ENCODER


def base_for_package() -> Base:
    """The model in the package, to start from."""
    return _packaged()


def _check_name(word: str) -> None:
    """Raise TrainerError for what can be no pretrained encoder's name."""
    wanted = (
        "wanted active, a model that `nfh-tui models` lists, a model's folder, or the folder "
        "or name of a Hugging Face encoder"
    )
    if word.isdecimal():
        raise TrainerError(f"'base={word}': there is no model {word}; {wanted}")
    if word in RESOLUTION.recipes or word in IDENTIFICATION.recipes:
        raise TrainerError(f"'base={word}': {word} is a recipe that has no model; {wanted}")
    if not may_be_a_name(word):
        raise TrainerError(f"'base={word}': there is no such folder; {wanted}")


def _active(store: "Store") -> Base:
    active = RESOLUTION.named(store, None)
    if active is None:
        raise TrainerError("there is no active model to start from: name another base")
    return _of_model(store, active)


def _by_default(store: "Store") -> Base | None:
    active = RESOLUTION.named(store, None)
    if active is not None and active.recipe in WARM:
        return _of_model(store, active)
    return _packaged() if is_packaged() else None


def _by_default_name(store: "Store") -> str | None:
    """The name of what is started from by default, unchecked; None for nothing."""
    active = RESOLUTION.named(store, None)
    if active is not None and active.recipe in WARM:
        return active.name
    return SMALL if is_packaged() else None


def _of_model(store: "Store", model: "Model") -> Base:
    if model.recipe not in WARM:
        raise TrainerError(
            f"{model.name} is of the recipe {model.recipe}: only a model of "
            f"{' or '.join(WARM)} can be started from"
        )
    if model.path is None:
        return _packaged()
    return Base(checked_folder(store.path, model), model.name, model.digest or "")


def _packaged() -> Base:
    return Base(packaged_folder(), SMALL, packaged_version() or "")


def _of_folder(folder: Path) -> Base | str:
    """A model's folder, or that of a pretrained encoder, whose config names no format."""
    if not _is_model(folder):
        return str(folder.resolve())
    config = read_config(folder)
    if config.recipe not in WARM:
        raise TrainerError(
            f"{folder} is a model of {config.recipe}: only one of {' or '.join(WARM)} can be "
            "started from"
        )
    return Base(folder.resolve(), config.name, digest_of(folder))


def _is_model(folder: Path) -> bool:
    try:
        found = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and "format_version" in found
