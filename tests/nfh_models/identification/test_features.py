"""The paper's four features."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nfh_models.identification.base import SentenceNumber
from nfh_models.identification.svm import (
    Extractor,
    Feature,
    PartOfSpeech,
    SvmSettings,
    head_of,
)
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan

WORDS = "We need Twenty five more of them".split()
POS = "PRON VERB NUM NUM ADJ ADP PRON".split()
TAGS = "PRP VBP CD CD JJR IN PRP".split()
HEADS = [1, 1, 3, 4, 1, 4, 5]


def case(start: int = 2, end: int = 4, words: Sequence[str] = WORDS) -> SentenceNumber:
    """A parsed case in the sentence above."""
    parsed = Parsed(words, POS, TAGS, heads=HEADS, relations=["dep"] * len(words))
    return SentenceNumber(WordSpan(words, [True] * len(words)), start, end, parsed)


def features(settings: SvmSettings, one: SentenceNumber) -> list[str]:
    """What an extractor of these settings tells."""
    return Extractor(settings).features(one)


def test_all_four_features_as_the_paper_has_them() -> None:
    assert features(SvmSettings(), case()) == [
        "anchor=Twenty five",
        "window:-3=<s>",
        "window-pos:-3=<s>",
        "window:-2=we",
        "window-pos:-2=PRON",
        "window:-1=need",
        "window-pos:-1=VERB",
        "window:1=more",
        "window-pos:1=ADJ",
        "window:2=of",
        "window-pos:2=ADP",
        "window:3=them",
        "window-pos:3=PRON",
        "head-pos=ADJ",
    ]


@pytest.mark.parametrize("left_out", Feature)
def test_each_feature_can_be_left_out(left_out: Feature) -> None:
    every = features(SvmSettings(), case())
    kept = tuple(one for one in Feature if one is not left_out)
    rest = features(SvmSettings(kept), case())
    dropped = [one for one in every if one.split("=")[0].split(":")[0] == left_out]
    assert dropped
    assert rest == [one for one in every if one not in dropped]


def test_penn_tags_and_no_ends_on_request() -> None:
    settings = SvmSettings(window=4, pos=PartOfSpeech.PENN, ends=False)
    found = features(settings, case())
    assert "window-pos:-1=VBP" in found
    assert "head-pos=JJR" in found
    assert not [one for one in found if "s>" in one or ":-3" in one or ":4" in one]


def test_places_beyond_the_first_outside_the_sentence_have_no_feature() -> None:
    found = features(SvmSettings((Feature.WINDOW,)), case(0, 1))
    assert [one for one in found if ":-" in one] == ["window:-1=<s>"]


def test_an_anchor_that_hangs_on_nothing_has_the_root_as_head() -> None:
    assert head_of([0, 0], 0, 1) is None
    whole = features(SvmSettings((Feature.HEAD_POS,)), case(0, 7))
    assert whole == ["head-pos=ROOT"]


@pytest.mark.parametrize(
    ("chosen", "layers"),
    [
        ((Feature.ANCHOR, Feature.WINDOW), set()),
        ((Feature.WINDOW_POS,), {ParseLayer.POS}),
        ((Feature.HEAD_POS,), {ParseLayer.POS, ParseLayer.DEPENDENCY}),
    ],
)
def test_only_the_layers_that_are_looked_at_are_needed(
    chosen: tuple[Feature, ...], layers: set[ParseLayer]
) -> None:
    assert SvmSettings(chosen).layers == layers


def test_words_alone_need_no_parse() -> None:
    bare = SentenceNumber(WordSpan(WORDS, [True] * len(WORDS)), 2, 4)
    assert features(SvmSettings((Feature.ANCHOR, Feature.WINDOW)), bare)[:2] == [
        "anchor=Twenty five",
        "window:-3=<s>",
    ]
    with pytest.raises(ValueError, match="without the parts of speech"):
        features(SvmSettings(), bare)
    tagged = SentenceNumber(bare.word_span, 2, 4, Parsed(WORDS, POS))
    with pytest.raises(ValueError, match="without the dependencies"):
        features(SvmSettings(), tagged)


def test_no_features_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="no feature"):
        SvmSettings(())


@given(
    words=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=7),
    window=st.integers(0, 9),
    data=st.data(),
)
def test_no_feature_is_told_twice_whatever_the_words(
    words: list[str], window: int, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    heads = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=len(words), max_size=7))
    size = len(words)
    parsed = Parsed(words, POS[:size], TAGS[:size], heads=heads[:size])
    found = features(
        SvmSettings(window=window),
        SentenceNumber(WordSpan(words, [True] * size), start, end, parsed),
    )
    assert len(set(found)) == len(found)
    inside = min(window, start) + min(window, size - end)
    assert sum(one.startswith("window:") for one in found) >= inside
