"""The settings of `bilstm` as code, files and command lines have them.

Two presets stand for two descriptions of one network: `paper` is what the paper says (section
6.2), `release` what the authors' code does. Where they differ, the code is twice as wide or
more, and drops out values inside the scorer only.
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
    """What counts as right in training."""

    ALL = "all"
    NEAREST = "nearest"


class BilstmNetworkSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """What the network is."""

    state: Size
    """Of the word LSTM, in each direction; class vectors are twice as wide."""
    letters: Size
    letter_state: Size
    """`letters` and `letter_state`: the vector of a character, and the state of the character
    LSTM."""
    hidden: Size
    """Of the scorer. drop_*: the share of values dropped out in training: of token vectors, of
    LSTM states, of the scorer's hidden layer, of the scores."""
    drop_tokens: Share
    drop_states: Share
    drop_hidden: Share
    drop_scores: Share


class BilstmSettings(
    BilstmNetworkSettings, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The network, and how it is trained.

    vectors: where word vectors come from, as "file:PATH", "spacy:NAME" or "encoder:FOLDER".
    extra: how many of the source's first words are kept beside those of the training text.
    target: all mentions of the right nouns, or the nearest only. rate: of Adam. averaging: of
    the weights, 0 for none. clip: the largest norm of the gradient, 0 for any. seed: of the
    first weights, the order of examples and dropout.
    """

    preset: Preset
    vectors: Annotated[str, msgspec.Meta(max_length=LONGEST_SOURCE)]
    extra: Annotated[int, msgspec.Meta(ge=0, le=MOST_EXTRA)]
    target: BilstmTarget
    rate: Annotated[float, msgspec.Meta(gt=0, le=1)]
    batch: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    epochs: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    patience: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    averaging: Annotated[float, msgspec.Meta(ge=0, lt=1)]
    clip: Annotated[float, msgspec.Meta(ge=0, le=1e6)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]


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
"""The paper gives no number of epochs and no clipping, and stops early on dev; the release
trains 20 epochs at most, with patience 5 and the gradient's norm kept to 1. Both have batches
of 64. The release also halves its rate after two epochs without gain, which is not done here.
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
"""Each setting with what it may be."""


def settings_of(given: Iterable[str]) -> BilstmSettings:
    """Settings out of "key=value" words; what they leave out is as the preset has it.

    Raises SettingError for a word that is none, a value that its key cannot have, and where
    no word says where the vectors come from.
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
    """How the loop trains it: with a rate that stays, as the paper does, in 32 bits."""
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
