"""Settings of a recipe out of "key=value" words, as command lines have them."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from nfh_models.errors import ModelsError

LARGEST_SEED = 2**32 - 1

SEED = f"a whole number from 0 to {LARGEST_SEED:,}"
"""What the seed of a training may be."""


class SettingError(ModelsError):
    """A setting that is none, or a value that it cannot have; the sentence says what can be."""


Settings = TypeVar("Settings")


def pair_of(word: str, recipe: str, wanted: Mapping[str, str]) -> tuple[str, str]:
    """Key and value of a word. Raises SettingError for a key that the recipe has not."""
    key, equals, value = word.partition("=")
    if not equals or key not in wanted:
        raise SettingError(
            f"{word!r} is no setting of {recipe}: wanted key=value, with a key of "
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
    """The settings that the words say; what they leave out is as in `defaults`.

    wanted: each key with what it may be. value_of: what msgspec is to convert, of a key and
    its value as given. Raises SettingError for a word that is none, or a value that its key
    cannot have.
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
