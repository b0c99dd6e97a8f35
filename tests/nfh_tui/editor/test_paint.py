"""Signs, looks and letters on the words of a passage."""

from dataclasses import replace

from nfh_db.records import Role
from nfh_models.domain import Mention, Origin
from nfh_tui.editor.commands import act, first_state, key, move_to
from nfh_tui.editor.state import EditState, Pending
from nfh_tui.widgets.passage_render import Warmth, changed, marks

from .painting import laid_out, lines, looks, marked, runs

WARM = Warmth(3, "▄")
ISOLATES = str.maketrans("", "", "\u2066\u2069")


def test_the_number_stands_between_two_signs_also_without_an_answer(make):
    assert lines(make.item(), None) == [
        "1 Nora  My tents leak and the ropes are gone, the good",
        "        tents too.",
        "2 Bram  Then borrow ▸one◂ from the men on the hill. They",
        "        have seven.",
        "3 Nora  A tent from them? I would rather ask the shop for a",
        "        rope.",
    ]
    assert looks(make.item(), None, "one") == ("anchor",)


def test_heads_are_numbered_at_each_of_their_mentions(make):
    item = make.item()
    drawn = lines(item, marked(item, 1, 5, 29))
    assert drawn[0] == "1 Nora  My₁tents leak and the₂ropes are gone, the good"
    assert drawn[4].startswith("3 Nora  A₁tent from")
    assert lines(item, marked(item, 11))[1] == "       ₁tents too."
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


def test_hint_letters_stand_in_cells_of_their_own_before_words(make):
    item = make.item(scores={1: 0.9, 5: 0.2, 11: 0.5})
    state = act(first_state(item, "me", Role.ADJUDICATOR), item, "hint.start").state
    drawn = lines(item, state)
    assert drawn[0] == "1 Nora  My jtents leak and the kropes are gone, the good"
    assert drawn[1] == "       dtents too."
    assert looks(item, state, "j") == ("hint",)
    assert looks(item, state, "ropes") == ()
    assert looks(item, state, "leak and the"[:4]) == ("hushed",)
    assert looks(item, state, "one") == ("anchor",)


def test_two_letters_and_the_sign_of_a_head_shift_the_word(make):
    item = make.item()
    letters = ((0, "qw"), (1, "zx"), (14, "ab"), (20, "c"))
    state = replace(act(marked(item, 1), item, "hint.start").state, hints=letters)
    drawn = lines(item, state)
    assert drawn[0] == "1 Nora qwMy ₁zxtents leak and the ropes are gone, the good"
    assert drawn[2].startswith("2 Bram abThen borrow ▸one◂ from the men con the hill")
    drawn = lines(item, replace(state, typed="z"))
    assert drawn[0] == "1 Nora   My  ₁xtents leak and the ropes are gone, the good"


def test_letters_neither_cover_nor_join_words(make, hostile):
    """Also of passages with right-to-left, wide and glued words, in every width."""
    stories = ("( 日本 が 三 つ ) one", "של שלום עולם one b", "well - known tents one")
    passages = [
        make.passage([("A", story)], glue=glue) for story in stories for glue in ("", " ")
    ]
    for passage in [*passages, hostile(" "), hostile("")]:
        last = len(passage.tokens) - 1
        item = make.item(passage, anchor=(last, last + 1))
        letters = tuple((token, "ab"[: token % 3]) for token in range(last) if token % 3)
        state = EditState(pending=Pending.HINT, hints=letters, cursor=last)
        for width in (20, 33, 60, 100):
            layout = laid_out(item, state, width)
            drawn = [*runs(item, state, width)]
            for number, line in enumerate(layout.lines):
                words = "".join(
                    run.text for run in drawn[number] if run.roles[-1:] != ("hint",)
                ).translate(ISOLATES)
                assert all(piece.text in words for piece in line.pieces)
            shown = "".join(
                run.text for made in drawn for run in made if run.roles == ("hint",)
            )
            assert len(shown) == sum(len(label) for _, label in letters)


def test_right_to_left_words_are_isolated_each(make):
    item = make.item(make.passage([("A", "a שלום עולם one b")]), anchor=(3, 4))
    text = lines(item, None)[0]
    assert text == "1 A  a \u2066שלום\u2069 \u2066עולם\u2069 ▸one◂ b"


def test_only_changed_words_are_drawn_anew(make):
    item = make.item()
    state = first_state(item, "me", Role.ADJUDICATOR)
    before = marks(item, state)
    assert changed(before, before) == set()
    assert changed(before, marks(item, move_to(state, item, 20).state)) == {16, 20}
    taken = marks(item, marked(item, 5))
    assert changed(before, taken) == {16, 5}


def test_hostile_text_is_painted_as_wide_as_planned(make, hostile):
    passage = hostile(" ")
    item = make.item(passage, anchor=(5, 6))
    state = act(marked(item, 8), item, "hint.start").state
    picked = key(state, item, "j", "j")
    assert picked is not None
    for shown in (None, state, picked.state):
        for width in (14, 33, 60):
            lines(item, shown, width, dict.fromkeys(range(len(passage.tokens)), WARM), True)


def test_the_number_keeps_both_signs_where_nothing_parts_it_from_other_words(make):
    glued = make.item(make.passage([("A", "( one )")], glue=""), anchor=(1, 2))
    assert lines(glued, None) == ["1 A  (▸one◂)"]
    ends = make.item(make.passage([("A", "tents leak one")]), anchor=(2, 3))
    assert lines(ends, None, 30) == ["1 A  tents leak ▸one◂"]
    assert lines(ends, None, 16) == ["1  tents leak", "  ▸one◂"]


def test_a_sign_without_a_cell_of_its_own_goes_behind_the_word(make):
    item = make.item(make.passage([("A", "( tents leak , one")], glue=""), anchor=(4, 5))
    assert lines(item, marked(item, 1)) == ["1 A  (tentsleak,▸one◂"]
    spaced = make.item(make.passage([("A", "one tents leak")]), anchor=(0, 1))
    assert lines(spaced, marked(spaced, 1)) == ["1 A ▸one◂₁tents leak"]
