"""A component's folder: what stands in it after saving, and what is said of a damaged one."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.util import ignore_error

from nfh_models.identification.base import IdentificationRecipeError
from nfh_models.identification.svm import Svm, SvmSettings, save_svm
from nfh_models.model_files import ModelFileError
from nfh_models.spacy_component import NumericFusedHeads
from nfh_models.spacy_component.files import IDENTIFIER, MODEL_NAMES

TEXT = "I have two. Are you two done? She has three."


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A model's folder: only the number *three* is a fused head."""
    folder = tmp_path / "svm-1"
    save_svm(Svm(SvmSettings(), ["anchor=three"], np.array([2.0]), -1.0), folder)
    return folder


@pytest.fixture
def found(nlp: Language) -> Callable[[NumericFusedHeads], list[str]]:
    """The numbers that a component says are fused heads."""
    return lambda component: [span.text for span in component(nlp(TEXT))._.nfh]


Found = Callable[[NumericFusedHeads], list[str]]


def test_no_model_stays_of_what_was_saved_before(
    found: Found, machine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "nfh"
    learnt = NumericFusedHeads("nfh", identifier=str(machine))
    learnt.to_disk(folder)
    names = {path.name for path in (folder / IDENTIFIER).iterdir()}
    of_another = min(MODEL_NAMES - names)
    (folder / IDENTIFIER / of_another).write_bytes(b"x")
    learnt.to_disk(folder)
    assert {path.name for path in (folder / IDENTIFIER).iterdir()} == names
    rules = NumericFusedHeads("nfh")
    rules.to_disk(folder)
    wanted = found(rules)
    assert wanted != ["three"]
    assert found(NumericFusedHeads("nfh").from_disk(folder)) == wanted
    assert not list((folder / IDENTIFIER).iterdir())


def test_rules_are_rules_whatever_model_lies_beside_them(
    found: Found, machine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "nfh"
    NumericFusedHeads("nfh", identifier=str(machine)).to_disk(folder)
    NumericFusedHeads("nfh").to_disk(folder, exclude=["identifier"])
    assert (folder / IDENTIFIER / "config.json").is_file()
    assert found(NumericFusedHeads("nfh").from_disk(folder)) == found(NumericFusedHeads("nfh"))
    kept = NumericFusedHeads("nfh").from_disk(folder, exclude=["cfg"])
    assert found(kept) == ["three"]


def test_what_other_programs_leave_in_a_models_folder_is_not_saved(
    found: Found, machine: Path, tmp_path: Path
) -> None:
    (machine / ".ipynb_checkpoints").mkdir()
    (machine / ".DS_Store").write_bytes(b"x")
    (machine / "plots").mkdir()
    NumericFusedHeads("nfh", identifier=str(machine)).to_disk(tmp_path / "nfh")
    names = {path.name for path in (tmp_path / "nfh" / IDENTIFIER).iterdir()}
    assert not names & {".ipynb_checkpoints", ".DS_Store", "plots"}
    assert found(NumericFusedHeads("nfh").from_disk(tmp_path / "nfh")) == ["three"]


def test_a_damaged_file_is_named_where_it_is(
    found: Found, machine: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "pipeline" / "nfh"
    NumericFusedHeads("nfh", identifier=str(machine)).to_disk(folder)
    weights = folder / IDENTIFIER / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(ModelFileError) as raised:
        found(NumericFusedHeads("nfh").from_disk(folder))
    assert str(raised.value).startswith(f"{weights} is damaged")
    content = NumericFusedHeads("nfh").from_disk(folder).to_bytes()
    with pytest.raises(ModelFileError, match=r"^the model of the component 'nfh'/weights"):
        found(NumericFusedHeads("nfh").from_bytes(content))


@pytest.mark.parametrize("identifier", ["Rules", "svm", "x" * 5_000, "a\0b"])
def test_an_identifier_that_is_none(identifier: str) -> None:
    component = NumericFusedHeads("heads", identifier=identifier)
    with pytest.raises(
        ModelFileError, match="component 'heads' is neither rules nor small nor"
    ):
        component(spacy.blank("en")("two"))
    component.set_error_handler(ignore_error)
    with pytest.raises(ModelFileError, match="neither rules"):
        list(component.pipe([]))


def test_an_empty_identifier_is_not_the_folder_we_are_in() -> None:
    with pytest.raises(IdentificationRecipeError, match="empty identifier: use rules"):
        NumericFusedHeads("nfh", identifier="")
