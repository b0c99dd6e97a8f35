"""The settings of `linear` as files and command lines have them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from nfh_models.resolution.linear import LinearSettings
from nfh_models.resolution.linear_groups import PAPER, Group, LinearFeatures
from nfh_models.setting_words import SEED, read_settings

LARGEST_C = 1e6
MOST_FOLDS = 50

SHORTHAND = {"paper": PAPER, "all": tuple(Group)}
"""Names for several groups."""


class Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings as config.json holds them."""

    features: Annotated[tuple[Group, ...], msgspec.Meta(min_length=1)]
    crossed: bool
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

    def __post_init__(self) -> None:
        if list(self.features) != [group for group in Group if group in self.features]:
            raise ValueError("a group of features is named twice, or out of order")

    @classmethod
    def of(cls, settings: LinearSettings) -> "Stored":
        """As it is to be stored."""
        features = settings.features
        return cls(
            features=features.groups,
            crossed=features.crossed,
            c=settings.c,
            seed=settings.seed,
        )

    def settings(self) -> LinearSettings:
        """As the model takes them."""
        return LinearSettings(LinearFeatures(self.features, self.crossed), self.c, self.seed)


@dataclass(frozen=True, slots=True)
class Plan:
    """How to train: the settings, and in how many folds to try them before; 0 for none."""

    settings: LinearSettings = field(default_factory=LinearSettings)
    folds: int = 5


class _Given(Stored, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings and the folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=0, le=MOST_FOLDS)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise ValueError("one fold is none")


WANTED = {
    "features": f"one or more of {', '.join(Group)}, joined by commas; or paper, or all",
    "crossed": "true or false: has each class weights of its own?",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}, or 0 for no trial",
}
"""Each setting with what it may be."""


def settings_of(given: Iterable[str]) -> Plan:
    """A plan out of "key=value" words; what they leave out is as by default.

    Raises SettingError for a word that is none, or a value that its key cannot have.
    """
    defaults = msgspec.to_builtins(Stored.of(LinearSettings())) | {"folds": Plan().folds}
    made = read_settings(given, _Given, "linear", WANTED, defaults, _value)
    return Plan(made.settings(), made.folds)


def _value(key: str, value: str) -> object:
    return _groups(value) if key == "features" else value


def _groups(value: str) -> list[str]:
    """The groups that are named, each once, in the order of Group; unknown names behind."""
    named: dict[str, None] = {}
    for part in value.split(","):
        name = part.strip()
        named.update(dict.fromkeys(SHORTHAND.get(name, (name,))))
    known = [group.value for group in Group]
    return sorted(named, key=lambda name: known.index(name) if name in known else len(known))
