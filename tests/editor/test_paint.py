"""Signs, looks and letters on the words of a passage, and the line under it."""

from dataclasses import replace

import pytest

from nfh_db.records import Gold, Role, Rule, State
from nfh_models.domain import Mention, Origin, Passage, Token, Turn, reference_answer
from nfh_tui.editing import EditState, Pending, act, begin, key, move_to
from nfh_tui.passage_foot import away, foot
from nfh_tui.passage_layout import lay_out
from nfh_tui.passage_marks import changed, marks
from nfh_tui.passage_paint import paint
from nfh_tui.visible import width_of
from nfh_tui.widgets.heat import SIGNS


def lines(item, state, width=60, heat=()):
    """The passage as drawn, without isolates and trailing blanks."""
    layout = lay_out(item.passage, width)
    found = marks(item, state, heat, SIGNS)
    made = []
    for number in range(len(layout.lines)):
        runs = paint(layout, number, found, 1)
        assert sum(width_of(run.text) for run in runs) == width
        made.append("".join(run.text for run in runs).rstrip())
    return made


def looks(item, state, word, width=60, heat=()):
    """The roles of the first run that is a word."""
    layout = lay_out(item.passage, width)
    found = marks(item, state, heat, SIGNS)
    for number in range(len(layout.lines)):
        for run in paint(layout, number, found, 1):
            if run.text.strip() == word:
                return run.roles
    raise AssertionError(word)


def marked(item, *tokens, role=Role.ADJUDICATOR):
    state = begin(item, "somebody", role)
    for token in tokens:
        state = act(move_to(state, item, token).state, item, "head.toggle").state
    return state


def test_the_number_stands_between_two_signs_also_without_an_answer(make):
    assert lines(make.item(), None) == [
        "1 Nora  My tents leak and the ropes are gone , the good",
        "        tents too .",
        "2 Bram  Then borrow▸one◂from the men on the hill . They",
        "        have seven .",
        "3 Nora  A tent from them ? I would rather ask the shop for",
        "        a rope .",
    ]
    assert looks(make.item(), None, "one") == ("anchor",)


def test_heads_are_numbered_at_each_of_their_mentions(make):
    item = make.item()
    drawn = lines(item, marked(item, 1, 5, 29))
    assert drawn[0] == "1 Nora  My₁tents leak and the₂ropes are gone , the good"
    assert drawn[4].startswith("3 Nora  A₁tent from")
    assert lines(item, marked(item, 11))[1] == "       ₁tents too ."
    assert looks(item, marked(item, 5, 1), "ropes") == ("head",)


def test_added_and_removed_mentions_differ_from_marked_ones(make):
    item = make.item()
    mentions = (
        Mention(1, 2, 1),
        Mention(11, 12, 11, Origin.ADDED),
        Mention(29, 30, 29, Origin.REMOVED),
    )
    state = replace(marked(item, 1), heads=(mentions,), cursor=16)
    drawn = lines(item, state)
    assert drawn[1].startswith("       ₁tents")
    assert "A×tent from" in drawn[4]
    assert looks(item, state, "tents") == ("head",)
    assert looks(item, state, "tent") == ("removed",)


def test_gold_has_its_sign_where_the_answer_has_not_the_same_head(make):
    gold = Gold(reference_answer([[Mention(1, 2, 1), Mention(11, 12, 11)]]), Rule.EXPERT)
    item = make.item(gold=gold)
    state = act(begin(item, "me", Role.ADJUDICATOR), item, "clear").state
    assert "My tents◆leak" in lines(item, state)[0]
    assert "My₁tents leak" in lines(item, marked(item, 11))[0]
    assert looks(item, state, "tents") == ("gold",)
    hidden = lines(item, begin(item, "me", Role.ANNOTATOR))
    assert "◆" not in "".join(hidden)


def test_a_head_of_an_annotator_has_the_key_that_adopts_it_unless_it_is_marked_too(make):
    votes = make.three(make.reference(1), make.reference(1, 5), make.reference([5, 11], 41))
    item = make.item(votes=votes)
    empty = act(begin(item, "me", Role.ADJUDICATOR), item, "clear").state
    assert "My tents¹leak and the ropes²are" in lines(item, empty)[0]
    assert lines(item, empty)[1].startswith("        tents³too")
    assert "a rope³." in "".join(lines(item, empty))
    assert "My₁tents leak" in lines(item, act(empty, item, "adopt.1").state)[0]
    assert "¹" not in "".join(lines(item, begin(item, "me", Role.ANNOTATOR)))


def test_other_numbers_tell_decided_from_undecided(make):
    decided = make.item(siblings=[(26, 27, State.DECIDED), (16, 17, State.OPEN)])
    assert lines(decided, None)[3] == "        have seven✓."
    assert looks(decided, None, "seven") == ("decided",)
    open_ = make.item(siblings=[(26, 27, State.OPEN)])
    assert lines(open_, None)[3] == "        have seven ."
    assert looks(open_, None, "seven") == ("undecided",)


def test_a_growing_span_stands_in_brackets_with_the_cursor_at_an_end(make):
    item = make.item()
    state = act(move_to(marked(item), item, 4).state, item, "span.grow").state
    state = move_to(state, item, 6).state
    assert "and[the ropes are]gone" in lines(item, state)[0]
    assert looks(item, state, "are") == ("span", "cursor")


def test_the_mention_in_question_has_a_question_mark(make):
    item = make.item()
    state = act(marked(item, 1), item, "mentions.all").state
    assert "tents?too" in lines(item, state)[1]
    assert looks(item, state, "tent") == ("offered",)


def test_hint_letters_stand_before_words_or_over_their_beginning(make):
    item = make.item(scores={1: 0.9, 5: 0.2, 11: 0.5})
    state = act(begin(item, "me", Role.ADJUDICATOR), item, "hint.start").state
    drawn = lines(item, state)
    assert drawn[0] == "1 Nora  Myatents leak and thedropes are gone , the good"
    assert drawn[1] == "       stents too ."
    assert looks(item, state, "a") == ("hint",)
    assert looks(item, state, "ropes") == ()
    assert looks(item, state, "leak and the"[:4]) == ("hushed",)
    assert looks(item, state, "one") == ("anchor",)


def test_two_letters_take_the_cell_before_and_the_first_of_the_word(make):
    item = make.item()
    state = replace(act(marked(item), item, "hint.start").state, hints=((1, "zx"), (0, "qw")))
    assert lines(item, state)[0].startswith("1 Nora qwyzxents leak")
    state = replace(state, typed="z")
    assert lines(item, state)[0].startswith("1 Nora  Myxtents leak")


@pytest.mark.parametrize(
    ("label", "drawn"),
    [("a", "(a 本)one◂"), ("ab", "(ab本)one◂"), ("abc", "(abc )one◂")],
)
def test_letters_over_a_wide_sign_keep_the_line_as_wide(make, label, drawn):
    item = make.item(make.passage([("A", "( 日本 ) one")], glue=""), anchor=(3, 4))
    state = EditState(pending=Pending.HINT, hints=((1, label),), cursor=3)
    assert lines(item, state) == [f"1 A  {drawn}"]


def test_scores_have_a_bar_behind_the_word_and_a_look_of_their_own(make):
    item = make.item()
    heat = [None] * 43
    heat[1], heat[5], heat[16] = 9, 0, 4
    assert "My tents█leak and the ropes▁are" in lines(item, None, heat=heat)[0]
    assert looks(item, None, "tents", heat=heat) == ("heat-9",)
    assert looks(item, None, "one", heat=heat) == ("heat-4", "anchor")


def test_signs_give_way_to_words_and_to_more_important_signs(make):
    tight = make.item(
        make.passage([("A", "( tents ) one")], glue=""),
        anchor=(3, 4),
        gold=Gold(make.reference(1), Rule.EXPERT),
    )
    assert lines(tight, marked(tight, 1)) == ["1 A  (tents)one◂"]
    close = make.item(anchor=(17, 18), gold=Gold(make.reference(19), Rule.EXPERT))
    state = act(marked(close, 16), close, "cursor.anchor").state
    assert "borrow₂one▸from◂the₁men on" in lines(close, state)[2]


def test_a_sign_with_a_choice_leaves_another_its_only_cell(make):
    item = make.item(
        _glued(make, "is quince jelly ~. one", "~"),
        anchor=(4, 5),
        gold=Gold(make.reference(1), Rule.EXPERT),
        votes=[make.vote("ann1", make.reference(2)), make.vote("ann2", make.reference(1))],
    )
    state = act(begin(item, "me", Role.ADJUDICATOR), item, "clear").state
    assert lines(item, state)[0] == "1 A  is◆quince¹jelly.▸one◂"


def test_right_to_left_words_are_isolated_each(make):
    item = make.item(make.passage([("A", "a שלום עולם one b")]), anchor=(3, 4))
    text = lines(item, None)[0]
    assert text == "1 A  a \u2066שלום\u2069 \u2066עולם\u2069▸one◂b"


def test_only_changed_words_are_drawn_anew(make):
    item = make.item()
    state = begin(item, "me", Role.ADJUDICATOR)
    before = marks(item, state)
    assert changed(before, before) == set()
    assert changed(before, marks(item, move_to(state, item, 20).state)) == {16, 20}
    taken = marks(item, marked(item, 5))
    assert changed(before, taken) == {16, 5}


def test_heads_out_of_view_are_named_in_the_line_below(make):
    item = make.item()
    layout = lay_out(item.passage, 60)
    state = marked(item, 1, 41)
    assert away(layout, item.passage, state, 0, 9) == ()
    assert away(layout, item.passage, state, 2, 4) == (
        "1 tents (turn 1) ↑",
        "2 rope (turn 3) ↓",
    )
    line = foot(layout, item.passage, state, 2, 4)
    assert line == " heads: 1 tents (turn 1) ↑ · 2 rope (turn 3) ↓  turn 2 of 3 "
    assert foot(layout, item.passage, None, 0, 9).strip() == "turns 1–3 of 3"


@pytest.mark.parametrize("width", [5, 12, 30, 60])
def test_the_line_below_is_as_wide_as_the_passage(make, hostile, width):
    passage = hostile(" ")
    item = make.item(passage, anchor=(0, 1))
    layout = lay_out(passage, width)
    state = marked(item, 1, 8, 9)
    for top in range(len(layout.lines)):
        assert width_of(foot(layout, passage, state, top, top + 2)) == width


def test_hostile_text_is_painted_as_wide_as_planned(make, hostile):
    passage = hostile(" ")
    item = make.item(passage, anchor=(5, 6))
    state = act(marked(item, 8), item, "hint.start").state
    picked = key(state, item, "a", "a")
    assert picked is not None
    for shown in (None, state, picked.state):
        for width in (14, 33, 60):
            lines(item, shown, width, heat=[3] * len(passage.tokens))


def _glued(make, words, sign):
    """A passage of one turn in which words after `sign` follow without a space."""
    text, tokens = "", []
    for word in words.split():
        plain = word.removeprefix(sign)
        text += " " if text and plain == word else ""
        tokens.append(Token(len(text), len(text) + len(plain), plain))
        text += plain
    return Passage(text, tuple(tokens), (Turn(0, "A", 0, len(tokens)),))
