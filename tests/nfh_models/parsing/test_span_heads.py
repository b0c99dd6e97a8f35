"""Heads of marked phrases: by a parse, by the rule, and which of them is taken."""

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.domain import Passage
from nfh_models.parsing import span_heads
from nfh_models.parsing.spacy_parser import Pipeline
from nfh_models.parsing.span_heads import (
    LONGEST_PHRASE,
    HeadFinder,
    ParserHeads,
    Phrase,
    RuleHeads,
    SpanHead,
    last_before_boundary,
    load_heads,
    load_parser,
    syntactic_head,
)

PassageMaker = Callable[[list[str], list[int]], Passage]


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        ("tents", "tents"),
        ("the red tents by the lake", "tents"),
        ("a cup of tea", "cup"),
        ("the hen that hides in the woodshed", "hen"),
        ("my sister 's new tickets", "tickets"),
        ("to the tickets", "tickets"),
        ("owls , I mean", "owls"),
        ("dollars .", "dollars"),
        (", tickets", "tickets"),
        ("ice - cream", "cream"),
        ("the 12 eggs", "eggs"),
        ("FBI Agent Nicole Scott", "Scott"),
        ("the", "the"),
        ("of the", "the"),
        ("...", "..."),
        ("! ?", "?"),
    ],
)
def test_the_rule_takes_the_last_word_before_what_explains_it(phrase: str, head: str) -> None:
    words = phrase.split()
    assert words[last_before_boundary(words)] == head


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=9))
def test_the_rule_finds_one_of_the_words(words: list[str]) -> None:
    assert 0 <= last_before_boundary(words) < len(words)


def head(words: str, governors: str, tags: str, start: int, end: int) -> int | None:
    return syntactic_head(
        words.split(), [int(g) for g in governors.split()], tags.split(), start, end
    )


def test_the_head_hangs_on_a_word_outside_the_phrase() -> None:
    # "I saw the red tents": phrase "the red tents".
    assert head("I saw the red tents", "1 1 4 4 1", "PRON VERB DET ADJ NOUN", 2, 5) == 4
    # The root of the sentence is its own governor.
    assert head("Red tents leak", "1 2 2", "ADJ NOUN VERB", 0, 3) == 2


def test_of_a_prepositional_phrase_the_noun_is_the_head() -> None:
    words, governors, tags = "go to the old tents", "0 0 4 4 1", "VERB ADP DET ADJ NOUN"
    assert head(words, governors, tags, 1, 5) == 4
    # The preposition is marked without its noun.
    assert head(words, governors, tags, 1, 2) == 1


def test_signs_determiners_and_prepositions_are_no_second_root() -> None:
    # ", tents by": the comma and the preposition hang on the verb, too.
    assert head("saw , tents by night", "0 0 0 0 3", "VERB PUNCT NOUN ADP NOUN", 1, 4) == 2
    assert head("saw , tents by night", "0 0 0 0 3", "VERB PUNCT NOUN ADP NOUN", 1, 5) == 2


def test_several_roots_are_none() -> None:
    assert head("owls . hens sang", "0 0 3 3", "NOUN PUNCT NOUN VERB", 0, 3) is None


@pytest.fixture(scope="module")
def parser() -> ParserHeads:
    found = load_parser()
    if found is None:
        pytest.skip("needs an English spaCy pipeline with a parser (en_core_web_sm)")
    return found


def found_word(finder: HeadFinder, phrase: Phrase) -> tuple[str, bool]:
    (found,) = finder.heads([phrase])
    return phrase.passage.word(found.token), found.parsed


@pytest.mark.parametrize(
    ("sentence", "phrase", "head"),
    [
        ("We saw the red tents by the lake .", "the red tents by the lake", "tents"),
        ("Give me a cup of tea .", "a cup of tea", "cup"),
        ("We went to the old house .", "to the old house", "house"),
        ("She took my sister 's new tickets .", "my sister 's new tickets", "tickets"),
    ],
)
def test_the_parse_is_of_the_passages_own_tokens(
    parser: ParserHeads, make_passage: PassageMaker, sentence: str, phrase: str, head: str
) -> None:
    words, marked = sentence.split(), phrase.split()
    start = next(k for k in range(len(words)) if words[k : k + len(marked)] == marked)
    passage = make_passage(["Well", ".", *words], [0, 0, *[1] * len(words)])
    assert found_word(parser, Phrase(passage, start + 2, start + 2 + len(marked))) == (
        head,
        True,
    )


def test_each_stretch_is_parsed_once_and_the_order_is_kept(
    parser: ParserHeads, make_passage: PassageMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_passage("The red tents and the old boats .".split(), [0] * 8)
    two = make_passage("A cup of tea .".split(), [0] * 5)
    phrases = [Phrase(one, 0, 3), Phrase(two, 0, 4), Phrase(one, 4, 7), Phrase(one, 0, 3)]
    parsed = []
    made = parser._doc
    monkeypatch.setattr(parser, "_doc", lambda s: parsed.append(s) or made(s))
    tokens = [found.token for found in parser.heads(phrases)]
    assert tokens == [2, 1, 6, 2]
    assert len(parsed) == 2
    assert parser.heads([]) == []


def test_a_phrase_across_turns_is_parsed_with_them(
    parser: ParserHeads, make_passage: PassageMaker
) -> None:
    passage = make_passage("Red tents leak . Old boats sink .".split(), [0] * 4 + [1] * 4)
    # Two sentences have two heads: the rule takes the one before the stop.
    assert found_word(parser, Phrase(passage, 1, 6)) == ("leak", False)


def test_a_very_long_mark_is_left_to_the_rule(
    parser: ParserHeads, make_passage: PassageMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["tents"] * (LONGEST_PHRASE + 1)
    passage = make_passage(words, [0] * len(words))
    monkeypatch.setattr(parser, "_doc", None)
    assert parser.heads([Phrase(passage, 0, len(words))]) == [SpanHead(len(words) - 1, False)]


def test_only_what_a_parse_needs_is_loaded(parser: ParserHeads) -> None:
    assert {"ner", "lemmatizer", "senter"}.isdisjoint(parser._language.pipe_names)
    assert "parser" in parser._language.pipe_names


def test_without_a_pipeline_the_rule_is_taken(
    monkeypatch: pytest.MonkeyPatch, make_passage: PassageMaker
) -> None:
    broken = Pipeline("en_core_web_none", "1.0", ("tok2vec", "tagger", "parser"))
    tagger_only = Pipeline("en_core_web_sm", "1.0", ("tok2vec", "tagger"))
    monkeypatch.setattr(span_heads, "installed_pipelines", lambda: [tagger_only, broken])
    finder = load_heads()
    assert isinstance(finder, RuleHeads)
    passage = make_passage("the red tents by the lake".split(), [0] * 6)
    assert found_word(finder, Phrase(passage, 0, 6)) == ("tents", False)


def test_loading_the_module_loads_no_framework() -> None:
    code = "import sys, nfh_models.parsing.span_heads; print('spacy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "False"
