"""The recipes by name, and what is said of those that cannot be used."""

import subprocess
import sys
from pathlib import Path

import pytest

from nfh_models.model_files import ModelFileError
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution import recipes
from nfh_models.resolution.recipes import (
    ResolutionRecipeError,
    load_folder,
    load_resolver,
    split_spec,
)

POS = frozenset({ParseLayer.POS})


def test_a_spec_names_a_recipe_and_its_kind() -> None:
    assert split_spec("cues") == ("cues", None)
    assert split_spec("nearest-noun:first") == ("nearest-noun", "first")
    for wrong in ("", "nouns", "cues:first", "linear:", "CUES"):
        with pytest.raises(ResolutionRecipeError):
            split_spec(wrong)


@pytest.mark.parametrize(
    ("spec", "needs"),
    [
        ("deterministic", POS | {ParseLayer.DEPENDENCY}),
        ("cues", POS),
        ("nearest-noun", POS),
        ("nearest-noun:last+names", POS),
    ],
)
def test_recipes_without_a_model(spec: str, needs: frozenset[ParseLayer]) -> None:
    resolver = load_resolver(spec)
    assert (resolver.recipe, resolver.needs) == (spec.partition(":")[0], needs)
    assert not resolver.probabilities
    with pytest.raises(ResolutionRecipeError, match="is not trained"):
        load_resolver(spec, Path("somewhere"))


def test_the_kinds_are_told_apart_by_their_versions() -> None:
    kinds = ("first", "last", "closest", "closest-before", "closest+names")
    versions = {load_resolver("nearest-noun", spec=kind).version for kind in kinds}
    assert len(versions) == len(kinds)
    default = load_resolver("nearest-noun")
    assert default.version == load_resolver("nearest-noun:closest-before").version


def test_a_kind_that_is_none() -> None:
    with pytest.raises(
        ResolutionRecipeError, match="nearest-noun:middle: wanted one of first, last"
    ):
        load_resolver("nearest-noun:middle")


@pytest.mark.parametrize("recipe", recipes.TRAINED)
def test_a_trained_recipe_needs_a_folder(recipe: str) -> None:
    with pytest.raises(ResolutionRecipeError, match=f"retrain resolution --recipe {recipe}"):
        load_resolver(recipe)


def test_the_folder_has_to_hold_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such folder"):
        load_resolver("linear", tmp_path / "none")
    with pytest.raises(ModelFileError, match="no such folder"):
        load_folder(tmp_path / "none")


def test_a_model_of_another_task_does_not_resolve(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(
        '{"format_version": 1, "name": "x", "task": "identification", "recipe": "svm",'
        ' "version": "1", "created_at": "", "parser": null, "settings": {}}'
    )
    with pytest.raises(
        ResolutionRecipeError, match="a model of identification, not of resolution"
    ):
        load_folder(tmp_path)


def test_no_framework_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys\nfrom nfh_models.resolution.recipes import load_resolver\n"
        "for one in ('deterministic', 'cues', 'nearest-noun'): load_resolver(one)\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    run = [sys.executable, "-c", code]
    loaded = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert {"numpy", "torch", "spacy", "sklearn", "scipy"}.isdisjoint(loaded)
