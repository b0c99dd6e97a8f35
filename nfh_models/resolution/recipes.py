"""The recipes of resolution by name, and which patterns answer in place of another recipe.

A recipe may be followed by a colon and its kind: "nearest-noun:first". Importing this module
loads no framework; a recipe loads its own when it is created.

The patterns (`baselines`) are for free text. The paper removed their cases from the resolution
data (section 5.1), so that a recipe trained on those data has seen hardly any of them: there
the reliable patterns take precedence. Of the cases left in our training file and in the
development file, which the authors' own patterns missed, these are correct:

    no one, you two           no case left; PEOPLE wherever a reader judged them
    NUM of a noun or name     7 of 12, and the object is the noun wherever a reader judged it
    NUM of us, you (PEOPLE)   4 of 5, and too few to say: the model has seen *of us*
    X be the one (X)          13 of 48: the labels name what *one* stands for

A recipe without training (cues, nearest noun) leaves all of them to the patterns. The small
model was trained on patterns' cases, too; on 159 unseen cases of NUM of a noun it differs from
the pattern in 19, of which the pattern is correct in 11 and wrong in 4.
"""

from collections.abc import Sequence
from pathlib import Path

from nfh_models import ModelsError
from nfh_models.domain import Kind
from nfh_models.model_files import PACKAGED, packaged_folder, read_config
from nfh_models.parsing.base import Parsed
from nfh_models.resolution import baselines
from nfh_models.resolution.base import Resolver
from nfh_models.resolution.baselines import NO_ONE, NUM_OF, YOU_TWO, Pattern

TASK = "resolution"

DETERMINISTIC = "deterministic"
NEAREST = "nearest-noun"
CUES = "cues"
LINEAR = "linear"
BILSTM = "bilstm"
ENCODER = "encoder"
BASE = "base"
SMALL = "small"

RECIPES = (DETERMINISTIC, NEAREST, CUES, LINEAR, BILSTM, ENCODER, BASE, SMALL)

TRAINED = (LINEAR, BILSTM, ENCODER)
"""Recipes that `retrain resolution` can fit; each of their models is a folder."""

NETWORKS = (BILSTM, ENCODER, BASE, SMALL)
"""Recipes that need torch."""


class ResolutionRecipeError(ModelsError):
    """An unknown recipe, or one that cannot be used as requested; the message says what can."""


def split_spec(spec: str) -> tuple[str, str | None]:
    """A recipe and its kind: "nearest-noun:first" gives ("nearest-noun", "first").

    The kind is None where none is named. Raises ResolutionRecipeError for an unknown recipe,
    and for a kind of a recipe that has none.
    """
    recipe, colon, kind = spec.partition(":")
    if recipe not in RECIPES:
        raise ResolutionRecipeError(
            f"{spec!r} is not a recipe of {TASK}: use one of {', '.join(RECIPES)}; {NEAREST} "
            "may be followed by a colon and its kind"
        )
    if colon and recipe != NEAREST:
        raise ResolutionRecipeError(
            f"{spec!r}: the recipe {recipe} has no kinds; write {recipe} alone"
        )
    return recipe, kind if colon else None


def load_resolver(
    recipe: str, folder: Path | None = None, *, spec: str | None = None
) -> Resolver:
    """A resolver ready to choose.

    recipe: one of RECIPES, or with its kind, as in `split_spec`. folder: the model directory of
    a trained recipe; `base` and `small` without one are the bundled models. spec: the kind,
    where `recipe` does not have it: "first". Raises ResolutionRecipeError for an unknown name,
    a trained recipe without a folder, a folder with a recipe that has no model, and a network
    without torch; ModelFileError for a damaged folder.
    """
    name, kind = split_spec(f"{recipe}:{spec}" if spec is not None else recipe)
    if name in NETWORKS:
        return _network(name, folder)
    if name == LINEAR:
        from nfh_models.resolution.linear import load_linear

        return load_linear(_needed(LINEAR, folder))
    if folder is not None:
        raise ResolutionRecipeError(
            f"the recipe {name} is not trained, and has no model in {folder}"
        )
    return _plain(name, kind)


def load_folder(folder: Path) -> Resolver:
    """The resolver in a model directory of any recipe.

    Raises ModelFileError for a damaged folder, ResolutionRecipeError for a model that does not
    resolve.
    """
    config = read_config(folder)
    if config.task not in (TASK, "both"):
        raise ResolutionRecipeError(f"{folder} is a model of {config.task}, not of {TASK}")
    if config.recipe not in (*TRAINED, *PACKAGED):
        raise ResolutionRecipeError(
            f"{folder} is a model of {config.recipe!r}, a recipe unknown here"
        )
    return load_resolver(config.recipe, folder)


def _plain(name: str, kind: str | None) -> Resolver:
    if name == DETERMINISTIC:
        from nfh_models.resolution.baselines import DeterministicResolver

        return DeterministicResolver()
    if name == CUES:
        from nfh_models.resolution.cues import CuesResolver

        return CuesResolver()
    from nfh_models.resolution.baselines import NearestResolver, NounChoice

    try:
        return NearestResolver(NounChoice.of(kind))
    except ValueError as error:
        raise ResolutionRecipeError(f"{NEAREST}:{kind}: {error}") from error


def _network(name: str, folder: Path | None) -> Resolver:
    try:
        if name == BILSTM:
            from nfh_models.resolution.bilstm import load_bilstm

            return load_bilstm(_needed(name, folder))
        from nfh_models.encoder import load_encoder

        if folder is None and name in PACKAGED:
            return load_encoder(packaged_folder(name))
        return load_encoder(_needed(name, folder))
    except ModuleNotFoundError as error:
        raise ResolutionRecipeError(
            f"the recipe {name} needs {error.name}, which is not installed here; "
            f"{DETERMINISTIC}, {NEAREST}, {CUES} and {LINEAR} work without"
        ) from error


def _needed(name: str, folder: Path | None) -> Path:
    if folder is None:
        raise ResolutionRecipeError(
            f"the recipe {name} has no model yet: `nfh-tui retrain {TASK} --recipe {name}` "
            "makes one"
        )
    return folder


LEARNT = frozenset({LINEAR, BILSTM, ENCODER, BASE, SMALL})
"""Recipes trained on resolution data, from which the patterns' cases were removed."""


def goes_first(pattern: Pattern, recipe: str) -> bool:
    """Whether a pattern answers before a recipe is asked.

    False for a pattern that names no head ("two of them").
    """
    if pattern.kind is None:
        return False
    if recipe not in LEARNT or pattern.name in (NO_ONE, YOU_TWO):
        return True
    return pattern.name == NUM_OF and pattern.kind is Kind.REFERENCE


def may_match(words: Sequence[str], start: int, end: int) -> bool:
    """False only where the number at [start, end) is in no pattern, whatever its parse."""
    before = words[start - 1].lower() if start else ""
    if end < len(words) and words[end].lower() == "of":
        return True
    if end - start != 1:
        return False
    number = words[start].lower()
    return (number == "one" and before in ("no", "the")) or (number, before) == ("two", "you")


def by_words(words: Sequence[str], start: int, end: int) -> Pattern | None:
    """The pattern that words alone show, of a number that is known to be a fused head.

    With a parse, `baselines.find` finds more.
    """
    if end - start != 1 or not start:
        return None
    pair = (words[start - 1].lower(), words[start].lower())
    if pair == ("no", "one"):
        return Pattern(NO_ONE, Kind.PEOPLE)
    return Pattern(YOU_TWO, Kind.PEOPLE) if pair == ("you", "two") else None


def find(words: Sequence[str], parsed: Parsed | None, start: int, end: int) -> Pattern | None:
    """The pattern of a fused head at tokens [start, end) of `words`.

    parsed: the same words, with parts of speech and dependencies; without it only the patterns
    of words are found.
    """
    if not may_match(words, start, end):
        return None
    if parsed is None or not _whole(parsed):
        return by_words(words, start, end)
    return baselines.find(parsed, start, end)


def _whole(parsed: Parsed) -> bool:
    return len(parsed.heads) == len(parsed.relations) == len(parsed.pos) == len(parsed.words)
