"""The settings of `svm` as files and command lines have them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from nfh_models.identification.features import Feature, FeatureSettings, PartOfSpeech
from nfh_models.identification.svm import SvmSettings
from nfh_models.setting_words import SEED, read_settings

WIDEST = 20
LARGEST_C = 1e6
MOST_FOLDS = 50


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings as config.json holds them."""

    features: Annotated[tuple[Feature, ...], msgspec.Meta(min_length=1)]
    window: Annotated[int, msgspec.Meta(ge=0, le=WIDEST)]
    pos: PartOfSpeech
    ends: bool
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

    def __post_init__(self) -> None:
        if len(set(self.features)) < len(self.features):
            raise ValueError("a feature is named twice")

    @classmethod
    def of(cls, settings: SvmSettings) -> "Stored":
        """As it is to be stored."""
        features = settings.features
        return cls(
            features=features.features,
            window=features.window,
            pos=features.pos,
            ends=features.ends,
            c=settings.c,
            seed=settings.seed,
        )

    def settings(self) -> SvmSettings:
        """As the machine takes them."""
        features = FeatureSettings(self.features, self.window, self.pos, self.ends)
        return SvmSettings(features, self.c, self.seed)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train: the settings, and in how many folds to try them before."""

    settings: SvmSettings = field(default_factory=SvmSettings)
    folds: int = 5


class _Given(Stored, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings and the folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=2, le=MOST_FOLDS)]


WANTED = {
    "features": f"one or more of {', '.join(Feature)}, joined by commas",
    "window": f"the number of words on each side, 0 to {WIDEST}",
    "pos": " or ".join(PartOfSpeech),
    "ends": "true or false: does the window see the sentence's ends?",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}",
}
"""Each setting with what it may be."""


def plan_of(given: Iterable[str]) -> Plan:
    """A plan out of "key=value" words; what they leave out is as by default.

    Raises SettingError for a word that is none, or a value that its key cannot have.
    """
    defaults = msgspec.to_builtins(Stored.of(SvmSettings())) | {"folds": Plan().folds}
    made = read_settings(given, _Given, "svm", WANTED, defaults, _value)
    return Plan(made.settings(), made.folds)


def _value(key: str, value: str) -> object:
    if key != "features":
        return value
    named = dict.fromkeys(part.strip() for part in value.split(","))
    return sorted(named, key=_place)


def _place(name: str) -> int:
    """The place of a feature among all, so that their order given makes no difference."""
    names = [feature.value for feature in Feature]
    return names.index(name) if name in names else len(names)
