"""Which models predict a text: one that does both tasks is loaded once and serves both."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_models.identification.base import RULES
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_models.resolution.recipes import ResolutionRecipeError
from nfh_tui.services.predict import PredictRequest, tools_for
from tests.nfh_models.parsing.tiny_small import damage, write_small

Call = Callable[..., Result]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A tiny encoder for both tasks, with weights by chance."""
    return write_small(tmp_path / "tiny", recipe="encoder")


@pytest.fixture
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> object:
        raise NoPipelineError("no pipeline")

    monkeypatch.setattr("nfh_tui.services.predict.load_parser", none)


def test_a_model_of_both_tasks_is_loaded_once(tiny: Path, no_parser: None) -> None:
    tools, notes = tools_for(None, PredictRequest(model=str(tiny)))
    assert tools.identifier is not None
    models: list[object] = [tools.identifier.model, tools.resolver.model]
    assert models[0] is models[1]
    assert (tools.identifier.name, tools.parser, tools.patterns) == ("tiny", None, True)
    assert notes == []
    tools, notes = tools_for(
        None, PredictRequest(model=str(tiny), identify=False, patterns=False)
    )
    assert (tools.identifier, tools.patterns, notes) == (None, False, [])


@pytest.mark.parametrize(
    ("model", "name"), [(None, "base"), ("base", "base"), ("small", "small")]
)
def test_small_identifies_beside_base(
    base: Path, no_parser: None, call: Call, model: str | None, name: str
) -> None:
    tools, notes = tools_for(None, PredictRequest(model=model))
    assert tools.identifier is not None
    assert (tools.resolver.name, tools.identifier.name, notes) == (name, "small", [])
    asked = ("--model", model) if model else ()
    told = call("predict", "--file", "-", "--all", *asked, input="I have dogs and two.\n")
    line = json.loads(told.stdout)
    assert (line["model"]["name"], line["model"]["identifier"]) == (name, "small")
    assert told.stderr == ""


def test_small_does_both_where_base_is_damaged(base: Path, no_parser: None, call: Call) -> None:
    damage(base)
    tools, notes = tools_for(None, PredictRequest())
    assert tools.identifier is not None
    assert tools.resolver.model is tools.identifier.model
    assert tools.resolver.name == "small"
    told = call("predict", "--file", "-", "--out", "o", input="I have dogs and two.\n")
    assert notes[0] in " ".join(told.stderr.split())
    assert "the base model cannot be used, so small decides instead" in notes[0]
    failed = call("predict", "--file", "-", "--model", "base", input="I have dogs.\n")
    assert failed.exit_code == 1
    assert "weights.safetensors is damaged" in failed.stderr


def test_rules_and_all_patterns_need_a_parser(tiny: Path, no_parser: None) -> None:
    for asked in (
        PredictRequest(model="cues"),
        PredictRequest(model=str(tiny), patterns=True),
        PredictRequest(model=str(tiny), parser="spacy"),
        PredictRequest(model=str(tiny), identifier=RULES),
    ):
        with pytest.raises(NoPipelineError):
            tools_for(None, asked)


def test_what_names_no_model() -> None:
    with pytest.raises(ResolutionRecipeError, match=r"'best' names no model of resolution"):
        tools_for(None, PredictRequest(model="best"))
