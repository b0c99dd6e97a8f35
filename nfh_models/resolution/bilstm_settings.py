"""Settings of the recipe `bilstm`.

Two presets are two descriptions of one network: `paper` is the text (section 6.2), `release`
the authors' code. Where they differ, the code is at least twice as wide, and has dropout inside
the scorer only.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec

from nfh_models.model_files import SEED, SettingError, pair_of, read_settings

if TYPE_CHECKING:
    from nfh_models.training.plan import TrainingPlan

WIDEST = 4_096
LONGEST_SOURCE = 4_096
MOST_EXTRA = 1_000_000

Size = Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]
Share = Annotated[float, msgspec.Meta(ge=0, lt=1)]


class Preset(StrEnum):
    """Where sizes and dropout come from."""

    PAPER = "paper"
    RELEASE = "release"


class BilstmTarget(StrEnum):
    """What counts as correct in training."""

    ALL = "all"
    NEAREST = "nearest"


class BilstmNetworkSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The sizes of the network, and its dropout."""

    state: Size
    """Of the word LSTM, in each direction; class vectors are twice as wide."""
    letters: Size
    """The width of a character vector."""
    letter_state: Size
    """The state of the character LSTM."""
    hidden: Size
    """The hidden layer of the scorer."""
    drop_tokens: Share
    """Dropout of word vectors, and below of LSTM states, of the scorer's hidden layer, of the
    scores.
    """
    drop_states: Share
    drop_hidden: Share
    drop_scores: Share


class BilstmSettings(
    BilstmNetworkSettings, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The settings of the network and of its training."""

    preset: Preset
    vectors: Annotated[str, msgspec.Meta(max_length=LONGEST_SOURCE)]
    """The source of word vectors: "file:PATH", "spacy:NAME" or "encoder:FOLDER"."""
    extra: Annotated[int, msgspec.Meta(ge=0, le=MOST_EXTRA)]
    """Words kept from the begin of the source, besides those of the training text."""
    target: BilstmTarget
    """All mentions of the correct nouns, or the nearest only."""
    rate: Annotated[float, msgspec.Meta(gt=0, le=1)]
    """Of Adam."""
    batch: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    epochs: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    patience: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    averaging: Annotated[float, msgspec.Meta(ge=0, lt=1)]
    """Decay of the averaged weights; 0 for no averaging."""
    clip: Annotated[float, msgspec.Meta(ge=0, le=1e6)]
    """The largest norm of the gradient; 0 for no limit."""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
    """Of the initial weights, the order of examples and dropout."""


_COMMON: dict[str, object] = {
    "vectors": "",
    "extra": 20_000,
    "target": "all",
    "letters": 30,
    "hidden": 150,
    "rate": 0.001,
    "batch": 64,
    "averaging": 0.0,
    "seed": 1,
}

PRESETS: dict[Preset, dict[str, object]] = {
    Preset.PAPER: {
        **_COMMON,
        "state": 50,
        "letter_state": 10,
        "drop_tokens": 0.2,
        "drop_states": 0.2,
        "drop_hidden": 0.2,
        "drop_scores": 0.0,
        "epochs": 40,
        "patience": 5,
        "clip": 0.0,
    },
    Preset.RELEASE: {
        **_COMMON,
        "state": 200,
        "letter_state": 50,
        "drop_tokens": 0.0,
        "drop_states": 0.0,
        "drop_hidden": 0.2,
        "drop_scores": 0.2,
        "epochs": 20,
        "patience": 5,
        "clip": 1.0,
    },
}
"""The paper has no number of epochs and no clipping, and stops early on dev; the release trains
at most 20 epochs, with patience 5 and the gradient's norm clipped to 1. Both have batches of
64. The release also halves its rate after two epochs without improvement, which is not
implemented here.
"""

SHARE = "a share from 0 to less than 1"
SIZE = f"a whole number from 1 to {WIDEST:,}"

WANTED: dict[str, str] = {
    "preset": " or ".join(Preset),
    "vectors": "file:PATH, spacy:NAME or encoder:FOLDER",
    "extra": f"how many of the vectors' first words to keep, 0 to {MOST_EXTRA:,}",
    "target": " or ".join(BilstmTarget),
    "state": SIZE,
    "letters": SIZE,
    "letter_state": SIZE,
    "hidden": SIZE,
    "drop_tokens": SHARE,
    "drop_states": SHARE,
    "drop_hidden": SHARE,
    "drop_scores": SHARE,
    "rate": "a number above 0 and up to 1",
    "batch": "a number of examples, 1 to 10,000",
    "epochs": "a whole number from 1 to 10,000",
    "patience": "a whole number from 1 to 10,000",
    "averaging": SHARE,
    "clip": "a number from 0 on, 0 for no clipping",
    "seed": SEED,
}
"""Each setting with its possible values."""


def settings_of(given: Iterable[str]) -> BilstmSettings:
    """Settings from "key=value" words; settings not given are as in the preset.

    Raises SettingError for a malformed word, for a value that its key cannot have, and without
    a source of word vectors.
    """
    words = list(given)
    preset = Preset.PAPER
    for one in words:
        key, value = pair_of(one, "bilstm", WANTED)
        if key == "preset":
            if value not in set(Preset):
                raise SettingError(f"{one!r}: wanted {WANTED[key]}")
            preset = Preset(value)
    defaults = {"preset": preset.value, **PRESETS[preset]}
    made = read_settings(words, BilstmSettings, "bilstm", WANTED, defaults)
    if not made.vectors:
        raise SettingError(
            "bilstm needs word vectors: give --set vectors=file:PATH (word2vec or GloVe), "
            "--set vectors=spacy:NAME (a pipeline that has vectors) or --set "
            "vectors=encoder:FOLDER (a Hugging Face model)"
        )
    return made


def plan_of(settings: BilstmSettings) -> "TrainingPlan":
    """The parameters of the training loop: a constant rate, as in the paper, in 32 bits."""
    from nfh_models.training.plan import TrainingPlan

    return TrainingPlan(
        epochs=settings.epochs,
        warmup=0.0,
        floor=1.0,
        patience=settings.patience,
        averaging=settings.averaging,
        clip=settings.clip,
        precision="fp32",
        seed=settings.seed,
    )
