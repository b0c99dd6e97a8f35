"""Which models predict a text: one that does both tasks is loaded once and serves both."""

from pathlib import Path

import pytest

from nfh_models.identification.base import RULES
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_models.resolution.recipes import ResolutionRecipeError
from nfh_tui.services.predict import PredictRequest, tools_for


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A tiny encoder for both tasks, with weights by chance."""
    from nfh_models.encoder.model import ModelBundle, network_of, save
    from nfh_models.encoder.settings import EncoderSettings, Weights
    from tests.nfh_models.encoder.handmade import backbone

    own = backbone()
    settings = EncoderSettings(pair=8, weights=Weights.FULL)
    network = network_of(own.architecture, own.module, settings).eval()
    save(
        ModelBundle(network, settings, own.architecture, own.pieces, "tiny"), tmp_path / "tiny"
    )
    return tmp_path / "tiny"


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
