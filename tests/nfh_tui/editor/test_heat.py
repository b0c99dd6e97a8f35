"""The heat map: fixed steps of scores, differences of two models, and what explains them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.color import Color

from nfh_db.records import Prediction
from nfh_models.domain import IMPLICIT_KINDS
from nfh_tui.display_text import width_of
from nfh_tui.textual_support import heat_styles
from nfh_tui.widgets.passage_render import (
    LEAST,
    NO_MODEL,
    NO_OTHER,
    SIGNS,
    STEPS,
    Heat,
    Warmth,
    heat_foot,
    heat_words,
    other_of,
    shares,
    step,
    token_shares,
    warmth,
)

from .painting import lines, looks

INF, NAN = float("inf"), float("nan")


def said(item, model, classes=(), **tokens):
    """A prediction of the item: classes by name, tokens as t5."""
    scores = [dict(classes).get(kind.value, 0.0) for kind in IMPLICIT_KINDS]
    scores += [0.0] * len(item.passage.tokens)
    for name, score in tokens.items():
        scores[len(IMPLICIT_KINDS) + int(name[1:])] = score
    best = max(range(len(scores)), key=lambda place: scores[place])
    classed = best < len(IMPLICIT_KINDS)
    choice = IMPLICIT_KINDS[best].value if classed else str(best - len(IMPLICIT_KINDS))
    return Prediction(model, choice, "OTHER", 0.25, tuple(scores))


@pytest.fixture
def two(make):
    """An item with what two models say of it."""
    item = make.item()
    one = said(item, "small", {"OTHER": 0.12}, t1=0.71, t5=0.17, t11=0.004)
    other = said(item, "near[est]", {"OTHER": 0.02}, t5=0.9, t1=0.08, t41=0.004)
    return replace(item, prediction=one, others=(other,))


def foot_text(item, heat, other=None, width=60):
    made = heat_foot(item, heat, other, width)
    assert all(sum(width_of(run.text) for run in line) == width for line in made)
    return ["".join(run.text for run in line).rstrip() for line in made]


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([0.0, 0.009, 0.01, 0.049, 0.05], [None, None, 0, 0, 1]),
        ([0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0], [2, 3, 4, 5, 6, 7, 7]),
        ([None, NAN, INF, 0.5], [None, None, None, 5]),
        # Logits stand for probabilities: here 0.88 and 0.12.
        ([2.0, None, 0.0], [6, None, 2]),
        ([-1.0, -1.0], [5, 5]),
        ([], []),
    ],
)
def test_a_step_means_the_same_score_on_every_item(scores, wanted):
    assert [step(share) for share in shares(scores)] == wanted


@given(st.lists(st.none() | st.floats(-1e300, 1e300), max_size=20))
def test_shares_are_in_order_and_between_nought_and_one(scores):
    made = shares(scores)
    assert [share is None for share in made] == [score is None for score in scores]
    known = sorted((s, m) for s, m in zip(scores, made, strict=True) if s is not None)
    assert [share for _, share in known] == sorted(share for _, share in known)
    assert all(0.0 <= share <= 1.0 for _, share in known)
    assert len(SIGNS) == len(LEAST) == STEPS


def test_the_key_goes_round(two):
    assert [heat.after for heat in Heat] == [Heat.SCORES, Heat.DIFFERENCE, Heat.OFF]
    assert not Heat.OFF


def test_a_word_without_a_score_worth_showing_has_no_mark(two):
    warm = warmth(two, Heat.SCORES)
    assert warm == {1: Warmth(6, "▇"), 5: Warmth(2, "▃")}
    drawn = lines(two, None, heat=warm)
    assert drawn[0] == "1 Nora  My tents▇ leak and the ropes▃ are gone, the good"
    assert drawn[1] == "        tents too."
    assert not set(SIGNS) & set("".join(drawn[1:]))
    assert looks(two, None, "tents", heat=warm) == ("heat-6",)
    assert looks(two, None, "tents too.", heat=warm) == ()
    assert warmth(two, Heat.OFF) == {}


def test_a_mark_keeps_its_cell_before_punctuation(make):
    item = make.item(make.passage([("A", "tents , one")], glue=""), anchor=(2, 3))
    item = replace(item, prediction=said(item, "m", t0=0.95))
    assert lines(item, None, heat=warmth(item, Heat.SCORES)) == ["1 A  tents█,▸one◂"]


def test_a_difference_says_whose_score_is_higher(two):
    warm = warmth(two, Heat.DIFFERENCE)
    assert warm == {1: Warmth(5, "+▆"), 5: Warmth(6, "−▇", "cool")}
    drawn = lines(two, None, heat=warm)[0]
    assert drawn == "1 Nora  My tents+▆ leak and the ropes−▇ are gone, the good"
    assert looks(two, None, "ropes", heat=warm) == ("cool-6",)
    assert looks(two, None, "−▇", heat=warm) == ("cool-sign",)


def test_the_newest_other_model_is_compared_unless_one_is_named(two):
    third = said(two, "third", t5=0.17, t1=0.71)
    item = replace(two, others=(*two.others, third))
    assert other_of(item, None) is two.others[0]
    assert other_of(item, "third") is third
    assert other_of(item, "gone") is two.others[0]
    assert warmth(item, Heat.DIFFERENCE, "third") == {}
    assert other_of(replace(two, others=()), None) is None
    short = replace(third, scores=third.scores[:-1])
    unlike = replace(two, others=(short,))
    assert token_shares(unlike, Heat.DIFFERENCE) == ()
    assert "for different words" in foot_text(unlike, Heat.DIFFERENCE)[0]


def test_the_lines_below_name_choice_second_and_margin_and_the_classes(two):
    assert foot_text(two, Heat.OFF) == []
    choice, classes, scale = foot_text(two, Heat.SCORES)
    assert choice == " small: tents t1 71 % · then Other 12 % · margin 25"
    assert classes == " classes: Other █ 12"
    assert scale == " from ▁1 ▂5 ▃10 ▄20 ▅35 ▆50 ▇70 █90 %"
    assert foot_text(two, Heat.SCORES, width=46)[0].startswith(" tents t1 71 % · then")
    sides, classes, scale = foot_text(two, Heat.DIFFERENCE)
    assert sides == " + small: tents t1 71 % · − near[est]: ropes t1 90 %"
    assert classes == " classes: Other ▊ +10"
    assert scale.endswith(" points")
    alike = replace(two, others=(replace(two.prediction, model="twin"),))
    assert foot_text(alike, Heat.DIFFERENCE)[1] == " classes: are similar"


def test_where_nothing_can_be_shown_the_reason_is_said(two, make):
    bare = make.item()
    alone = replace(two, others=())
    assert foot_text(bare, Heat.SCORES) == [f" {NO_MODEL}"]
    assert NO_MODEL in heat_words(bare, Heat.SCORES, None)
    hidden = replace(bare, model_hidden=True)
    assert "until you have answered" in heat_words(hidden, Heat.SCORES, None)
    assert foot_text(alone, Heat.DIFFERENCE, width=90) == [f" {NO_OTHER}"]
    assert heat_words(alone, Heat.DIFFERENCE, None) == NO_OTHER
    assert "nfh-tui predict --model" in NO_OTHER
    assert heat_words(two, Heat.DIFFERENCE, None) == "small against near[est]; H again: off"
    assert foot_text(replace(two, prediction=None), Heat.DIFFERENCE) == [f" {NO_MODEL}"]


@pytest.mark.parametrize("width", [1, 4, 11, 30])
def test_the_lines_below_are_cut_to_the_width(two, width):
    for heat in (Heat.SCORES, Heat.DIFFERENCE):
        foot_text(two, heat, width=width)


def test_hues_rise_from_the_background_and_the_terminals_own_rise_in_weight():
    made = heat_styles(Color.parse("#ff0000"), Color.parse("#000000"))
    reds = [style.bgcolor.triplet.red for style in made]
    assert reds == sorted(set(reds))
    assert reds[0] > 0
    own = heat_styles(Color.parse("ansi_red"), Color.parse("ansi_default"))
    assert not any(style.bgcolor for style in own)
    assert [(s.color.number, s.bold, s.reverse) for s in own] == [
        *[(1, False, False)] * 4,
        *[(1, True, False)] * 2,
        *[(1, True, True)] * 2,
    ]
