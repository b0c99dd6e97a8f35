"""The lines under a passage: the turns in view, and every picked head."""

from dataclasses import replace

import pytest

from nfh_models.domain import Relation
from nfh_tui.display_text import width_of
from nfh_tui.widgets.passage_layout import lay_out
from nfh_tui.widgets.passage_render import MOST_LINES, foot

from .painting import marked


def test_every_head_is_named_with_an_arrow_where_it_is_out_of_view(make):
    item = make.item()
    layout = lay_out(item.passage, 60)
    state = marked(item, 1, 41)
    assert foot(layout, item.passage, state, 2, 4) == (
        " ₁tents t1 ↑ · ₂rope t3 ↓                       turn 2 of 3 ",
    )
    both = replace(state, relation=Relation.AND)
    assert foot(layout, item.passage, both, 0, 4)[0].startswith(" ₁tents t1 AND ₂rope t3 ↓ ")
    again = marked(item, 1, 11, 29)
    assert foot(layout, item.passage, again, 0, 9)[0].startswith(" ₁tents +2 t1  ")
    (line,) = foot(layout, item.passage, None, 0, 9)
    assert line.strip() == "turns 1–3 of 3"


def test_heads_that_need_more_lines_get_them_and_scrolling_changes_nothing(make):
    item = make.item()
    layout = lay_out(item.passage, 34)
    state = marked(item, 1, 5, 19, 22, 38, 31, 2)
    sizes = {len(foot(layout, item.passage, state, top, top + 2)) for top in range(9)}
    assert sizes == {MOST_LINES}
    said = foot(layout, item.passage, state, 0, 2)
    assert said[0].endswith(" of 3 ")
    assert said[-1].rstrip().endswith(" more")
    wide = lay_out(item.passage, 90)
    lines = foot(wide, item.passage, state, 0, 1)
    assert len(lines) == 2
    words = ("tents", "ropes", "men", "hill", "shop", "them", "leak")
    for sign, word in zip("₁₂₃₄₅₆₇", words, strict=True):
        assert f"{sign}{word}" in " ".join(lines)


@pytest.mark.parametrize("width", [5, 12, 30, 60])
def test_the_lines_are_as_wide_as_the_passage(make, hostile, width):
    passage = hostile(" ")
    item = make.item(passage, anchor=(0, 1))
    layout = lay_out(passage, width)
    state = marked(item, 1, 8, 9)
    for top in range(len(layout.lines)):
        for line in foot(layout, passage, state, top, top + 2):
            assert width_of(line) == width
