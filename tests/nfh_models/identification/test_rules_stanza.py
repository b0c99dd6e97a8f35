"""The rules on a constituency parse: the small stanza model that the project trains itself."""

from pathlib import Path

import pytest

from nfh_models.identification.base import Decision, decide
from nfh_models.identification.rules import Rules
from nfh_models.parsing.base import ParseLayer, Parser, load_parser

from .conftest import marked

MODEL = Path(__file__).parents[1] / "parsing" / "treebank" / "model"

TRAINED = {
    "I have [ three ] .": (True, "phrase-without-noun"),
    "They arrived at [ six ] .": (True, "phrase-without-noun"),
    "My daughter is [ seven ] .": (True, "phrase-without-noun"),
    "The other [ two ] are upstairs .": (True, "phrase-without-noun"),
    "Will [ three ] do ?": (True, "phrase-without-noun"),
    "Her [ two ] are much older .": (True, "phrase-without-noun"),
    "I have [ three ] sisters .": (False, "noun-next"),
    "She painted [ six ] small windows .": (False, "adjectives-and-noun"),
    "She won $ [ 500 ] .": (False, "currency"),
}
"""Sentences of the treebank that it was trained on."""


@pytest.fixture(scope="module")
def stanza() -> Parser:
    return load_parser(f"stanza:{MODEL}", Rules().uses)


def test_it_gives_phrases(stanza: Parser) -> None:
    assert Rules().uses <= stanza.layers
    assert ParseLayer.CONSTITUENCY in stanza.layers


@pytest.mark.parametrize(("sentence", "wanted"), TRAINED.items())
def test_decisions_on_sentences_it_was_trained_on(
    stanza: Parser, sentence: str, wanted: tuple[bool, str]
) -> None:
    [(case, decision)] = decide([marked(sentence)], Rules(), stanza)
    assert case.parsed is not None
    assert case.parsed.trees
    assert decision == Decision(*wanted)
