"""The recipe `joint`: the rules and the score of `small`, both in the decision."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import nfh_models
from nfh_models.encoder import load_encoder
from nfh_models.identification.base import (
    Decision,
    Example,
    SentenceNumber,
    load_identifier,
)
from nfh_models.identification.rules import WEIGHTS, Joint
from nfh_models.identification.scores import count
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_tui.services.models import IDENTIFICATION
from tests.nfh_models.parsing.tiny_small import write_small
from tools.small_model.data import read_data
from tools.small_model.joint import BothDecisions, both_decisions, cross_fitted, fit, read_both

from .conftest import marked
from .handmade import parsed_case

DOGS = parsed_case("two/NUM dogs/NOUN ./PUNCT", 0, 1, "1:nummod 1:root 1:punct")
LEFT = parsed_case("two/NUM left/VERB ./PUNCT", 0, 1, "1:nsubj 1:root 1:punct")


class Network:
    """Gives every number the same score."""

    recipe = "small"
    version = "1"
    needs = uses = frozenset[ParseLayer]()

    def __init__(self, score: float) -> None:
        self.score = score

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        return [Decision(self.score > 0, "small", self.score) for _ in cases]


@pytest.mark.parametrize(
    ("case", "score", "nfh", "rule"),
    [
        (DOGS, -3.0, False, "noun-next"),
        (DOGS, 2.0, False, "noun-next"),
        (DOGS, 3.0, True, "noun-next"),
        (LEFT, -2.0, True, "not-nummod"),
        (LEFT, -3.0, False, "not-nummod"),
        (LEFT, 3.0, True, "not-nummod"),
    ],
)
def test_a_network_that_is_sure_overrules_the_rules(
    case: SentenceNumber, score: float, nfh: bool, rule: str
) -> None:
    [decision] = Joint(Network(score), "").decide([case])
    assert (decision.nfh, decision.rule) == (nfh, rule)
    assert decision.score is not None
    assert (decision.score > 0) is nfh


def test_both_parts_are_told_and_add_up() -> None:
    [decision] = Joint(Network(-3.14159), "").decide([LEFT])
    assert decision == Decision(
        False, "not-nummod", -0.6, (("small", -3.24), ("not-nummod", 2.64))
    )
    [decision] = Joint(Network(1.0), "").decide([LEFT])
    assert decision.weights == (("not-nummod", 2.64), ("small", 1.03))


def test_it_is_found_by_name_and_remembers_the_texts_of_small(package: Path) -> None:
    chosen = IDENTIFICATION.find(None, "joint")
    assert (chosen.name, chosen.folder) == ("joint", package)
    assert chosen.model.needs == {ParseLayer.POS, ParseLayer.DEPENDENCY}
    [decision] = chosen.model.decide([DOGS])
    assert {name for name, _ in decision.weights} == {"small", "noun-next"}


def test_another_small_model_makes_another_version(package: Path) -> None:
    before = load_identifier("joint").version
    shutil.rmtree(package)
    write_small(package, seed=1, made="2027-01-01")
    assert load_identifier("joint").version != before


# --- the weights ----------------------------------------------------------------------------


def made_up(count_: int, rules_right: float, network_right: float) -> BothDecisions:
    """Examples whose parts are right by chance, apart from each other."""
    draw = np.random.default_rng(1)
    labels = draw.random(count_) < 0.4
    ruled = labels ^ (draw.random(count_) >= rules_right)
    scored = labels ^ (draw.random(count_) >= network_right)
    return BothDecisions(
        [Example(DOGS, bool(one), f"line {at}", f"p{at}") for at, one in enumerate(labels)],
        [Decision(bool(one), "not-nummod") for one in ruled],
        [Decision(bool(one), "small", 4.0 if one else -4.0) for one in scored],
        np.ones(count_, bool),
    )


def test_the_part_that_is_right_more_often_weighs_more() -> None:
    both = made_up(600, 0.98, 0.9)
    weights = fit(both.features, both.labels)
    assert weights.rule > 4 * weights.score > 0
    assert cross_fitted(both).tolist() == [one.nfh for one in both.rules]
    weights = fit((both := made_up(600, 0.9, 0.98)).features, both.labels)
    assert 4 * weights.score > weights.rule > 0


def test_what_both_contradict_and_what_is_listed_is_not_fitted(parser: Parser) -> None:
    case = marked("They sell [ two ] tents .")
    examples = [Example(case, nfh, "line 1", "p") for nfh in (False, True, False)]
    both = both_decisions(examples, [False, False, True], Network(-4.0), parser)
    assert both.fitted.tolist() == [True, False, False]
    assert both.features.tolist() == [[-4.0, -1.0]] * 3


@pytest.mark.long
def test_the_weights_are_those_of_the_model_in_the_package(
    data_dir: Path, parser: Parser
) -> None:
    data = read_data(data_dir, lambda _: None)
    both = read_both(data, load_encoder(Path(nfh_models.__file__).parent / "small"), parser)
    assert fit(both.features[both.fitted], both.labels[both.fitted]) == WEIGHTS
    labels = [one.nfh for one in data.held]
    counts = count(zip(labels, cross_fitted(both).tolist(), strict=False))
    assert counts.n == 2_740
    assert counts.f1 is not None
    assert counts.f1 > 0.965
