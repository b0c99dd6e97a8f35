"""Laying a passage out: widths as planned, every token found where it is drawn."""

import json
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from nfh_models.domain import Passage, Token, Turn
from nfh_tui.widgets.passage_layout import NO_TOKEN, Rooms, TurnWindow, lay_out
from nfh_tui.widgets.substitution import CODED


def drawn(layout):
    """The lines as text, gutter included."""
    made = []
    for line in layout.lines:
        text = line.label
        for piece in line.pieces:
            text += " " * (piece.x - cell_len(text)) + piece.text
        made.append(text)
    return made


def check(passage, width):
    """What must hold of any layout; returns it."""
    layout = lay_out(passage, width)
    seen = []
    for number, line in enumerate(layout.lines):
        assert cell_len(line.label) == layout.gutter
        end = layout.gutter
        for piece in line.pieces:
            assert piece.x >= end
            assert cell_len(piece.text) == piece.width > 0
            for x in range(piece.x, piece.x + piece.width):
                found = layout.at(number, x)
                assert found == (None if piece.token == NO_TOKEN else piece.token)
            end = piece.x + piece.width
            if piece.token != NO_TOKEN and (not seen or seen[-1] != piece.token):
                seen.append(piece.token)
                assert layout.spot(piece.token)[:2] == (number, piece.x)
        assert end <= max(width - 1, layout.gutter + 10)
        assert layout.at(number, layout.gutter - 1) is None
        assert layout.at(number, end) is None
    assert seen == list(range(len(passage.tokens)))
    return layout


def test_release_text_keeps_turns_speakers_and_closing_marks(make):
    layout = check(make.passage(make.tents), 40)
    assert drawn(layout) == [
        "1 Nora  My tents leak and the ropes are",
        "        gone, the good tents too.",
        "2 Bram  Then borrow one from the men on",
        "        the hill. They have seven.",
        "3 Nora  A tent from them? I would",
        "        rather ask the shop for a rope.",
    ]


WRITTEN = (
    (
        "\" I do n't , \" he said . ( It 's $ 5 ; gon na go ... )",
        "\"I don't,\" he said. (It's $5; gonna go...)",
    ),
    ("Ca n't you ? `` Yes , '' I cried .", 'Can\'t you? "Yes," I cried.'),
    ("`` It -LRB- one -RRB- is -LSB- ... -RSB- , Bo .", '"It (one) is [...], Bo.'),
    ("It says ''one'' and ``two''.", "It says ''one'' and ``two''."),
    ("Quoi ? Oui, oui. Non, merci.", "Quoi ? Oui, oui. Non, merci."),
    ('A - - B : the " end is open .', 'A - - B: the " end is open.'),
)


@pytest.mark.parametrize(("text", "written"), WRITTEN)
def test_text_of_tokenized_files_is_shown_as_people_write_it(text, written):
    words = text.split()
    tokens, at = [], 0
    for word in words:
        at = text.index(word, at)
        tokens.append(Token(at, at + len(word), word))
        at += len(word)
    passage = Passage(text, tuple(tokens), (Turn(0, None, 0, len(tokens)),))
    layout = check(passage, 90)
    assert drawn(layout) == [f"1  {written}"]
    for token, spot in enumerate(map(layout.spot, range(layout.tokens))):
        cells = range(spot.x, spot.x + spot.width)
        assert {layout.at(0, x) for x in cells} == {token}, "a click finds its word"
        word = passage.word(token)
        assert written[spot.x - 3 : cells.stop - 3] == CODED.get(word, word)
    for token in range(1, len(tokens)):
        signs = lay_out(passage, 90, Rooms({token: 1}, {token - 1: 1}))
        before, here = signs.spot(token - 1), signs.spot(token)
        assert here.x - before.x - before.width >= 2, "signs keep their cells"


def test_glued_words_stay_together_and_gaps_are_shown_as_they_stand():
    text = "I ca n't.  Two\ttents\nand (one) more"
    words = ["I", "ca", "n't", ".", "Two", "tents", "and", "(", "one", ")", "more"]
    tokens, at = [], 0
    for word in words:
        at = text.index(word, at)
        tokens.append(Token(at, at + len(word), word))
        at += len(word)
    passage = Passage(text, tuple(tokens), (Turn(3, None, 0, len(tokens)),))
    assert drawn(check(passage, 30)) == ["1  I ca n't.  Two␉tents", "   and (one) more"]
    assert drawn(check(passage, 15)) == [
        "1  I ca n't.",
        "   Two␉tents",
        "   and (one)",
        "   more",
    ]


def test_speakers_are_clipped_by_the_width_and_left_out_where_there_is_no_room(make):
    passage = make.passage([("Bartholomew the Elder", "one two"), (None, "three")])
    assert drawn(check(passage, 80))[0] == "1 Bartholomew the…  one two"
    assert drawn(check(passage, 40))[0] == "1 Barth…  one two"
    assert drawn(check(passage, 24)) == ["1  one two", "2  three"]
    assert drawn(check(passage, 80))[1] == "2                   three"


def test_long_words_are_broken_hard_and_found_on_each_line(make):
    layout = check(make.passage([("A", "go " + "x" * 45 + " on")]), 25)
    assert [len(line.pieces) for line in layout.lines] == [1, 1, 1, 2]
    assert list(layout.lines_of(1)) == [1, 2, 3]
    assert layout.vertical_neighbour(0, down=True) == 1
    assert layout.vertical_neighbour(2, down=False) == 1


def test_lines_up_and_down_go_to_the_nearest_word(make):
    layout = lay_out(make.passage(make.tents), 40)
    assert layout.vertical_neighbour(1, down=True) == 8
    assert layout.vertical_neighbour(16, down=False) == 10
    assert layout.vertical_neighbour(0, down=False) == 0
    assert layout.vertical_neighbour(42, down=True) == 42


@pytest.mark.parametrize("width", [4, 12, 20, 33, 47, 60, 80, 200])
@pytest.mark.parametrize("glue", [" ", "\t", "\u3000", "\u200b"])
def test_hostile_text_is_as_wide_as_planned(hostile, width, glue):
    layout = check(hostile(glue), width)
    text = "".join(drawn(layout))
    assert not any(c in text for c in "\x1b\t\x00\u202e\u200d\u200b\u2028\x85\ufe0f")


WORDS = st.lists(
    st.text(st.characters(exclude_categories=()), min_size=1, max_size=12),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(WORDS, min_size=1, max_size=3),
    st.integers(1, 70),
    st.sampled_from(["", " ", "\n", " \t"]),
)
def test_any_words_are_found_where_they_are_drawn(turns, width, glue):
    text, tokens, made = "", [], []
    for number, words in enumerate(turns):
        first = len(tokens)
        for word in words:
            tokens.append(Token(len(text), len(text) + len(word), word))
            text += word + glue
        made.append(Turn(number, words[0], first, len(tokens)))
    check(Passage(text, tuple(tokens), tuple(made)), width)


ROOMS = st.dictionaries(st.integers(0, 30), st.integers(1, 3), max_size=6)


@given(st.lists(st.tuples(ROOMS, ROOMS, st.booleans()), min_size=2, max_size=4))
def test_turns_that_are_laid_out_already_give_the_same_layout(make, asked):
    passage = make.passage(make.tents)
    known = {}
    for before, behind, windowed in asked:
        room = Rooms(before, behind)
        window = TurnWindow(1, 1, "from here", "to here") if windowed else None
        found = lay_out(passage, 34, room, window, known)
        assert found == lay_out(passage, 34, room, window)


def test_a_sign_lays_out_its_own_turn_anew_and_no_other(make):
    passage = make.passage(make.tents)
    known = {}
    lay_out(passage, 40, Rooms({3: 1}), known=known)
    before = dict(known)
    lay_out(passage, 40, Rooms({4: 1}), known=known)
    assert [rank for rank, *_ in known.keys() - before.keys()] == [0]


@pytest.mark.long
def test_a_line_of_a_megabyte_is_laid_out_whole(make):
    word = lay_out(make.passage([("A", "x" * 1_000_000)]), 60)
    assert sum(line.pieces[0].width for line in word.lines) == 1_000_000
    words = lay_out(make.passage([("A", "word " * 200_000 + "end")]), 60)
    assert words.at(len(words.lines) - 1, words.spot(words.tokens - 1).x) == 200_000


def test_real_passages_are_found_where_they_are_drawn(make, data_dir):
    path = data_dir / "resolution" / "nfh_dev.jsonl"
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for number, line in enumerate(lines) if number % 20 == 0]
    assert len(rows) == 50
    for row in rows:
        said = zip(row["line_indices"], row["speakers"], row["tokens"], strict=True)
        turns = [
            (str(speaker), " ".join(token for _, _, token in tokens))
            for (_, speaker), tokens in groupby(said, key=lambda one: one[:2])
        ]
        check(make.passage(turns), 52)


def test_a_sign_moves_the_turns_below_without_laying_them_out_again(make):
    passage = make.passage([("Nora", "My tents leak ."), *make.tents[1:]] * 50)
    known = {}
    before = lay_out(passage, 24, known=known)
    number, first = len(known), before.turns[0]
    cells = first.lines[0].pieces[-1].token
    after = lay_out(passage, 24, Rooms({}, {cells: 6}), known=known)
    assert len(known) == number + 1
    assert after.turns[0] is not first
    assert all(
        one is other for one, other in zip(before.turns[1:], after.turns[1:], strict=True)
    )
    moved = after.firsts[-1] - before.firsts[-1]
    assert moved > 0
    for token in range(before.turns[0].end, before.tokens):
        line, x, width = before.spot(token)
        assert after.spot(token) == (line + moved, x, width)
        assert after.at(line + moved, x) == token
