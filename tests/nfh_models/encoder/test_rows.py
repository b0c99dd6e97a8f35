"""Windows, pieces and rows: what the network reads of a passage."""

import numpy as np
import pytest

from nfh_models.domain import Anchor, PassageError
from nfh_models.encoder.backbone import MOST, Pieces, Specials, TokenizerError
from nfh_models.encoder.features import (
    CLASSES,
    NO_DISTANCE,
    bounds,
    buckets,
    by_length,
    by_pieces,
    pad,
    window_of,
    window_of_case,
)
from nfh_models.resolution.base import Item
from tests.nfh_models.encoder.handmade import AGE, CATS, DOGS, featuriser, item, number, pieces


@pytest.mark.parametrize(
    ("total", "start", "end", "found"),
    [
        (10, 4, 5, (0, 10)),
        (100, 50, 51, (39, 59)),
        (100, 2, 3, (0, 20)),
        (100, 98, 99, (80, 100)),
        (100, 30, 70, (30, 50)),
    ],
)
def test_bounds(total: int, start: int, end: int, found: tuple[int, int]) -> None:
    assert bounds(total, start, end, 20, 0.6) == found


def test_window_tells_turns_and_speakers() -> None:
    window = window_of(DOGS.passage, DOGS.anchor, 170, 0.6)
    assert list(window.words) == ["I", "have", "dogs", ".", "I", "have", "two", "."]
    assert list(window.turns) == [-1, -1, -1, -1, 0, 0, 0, 0]
    assert list(window.same) == [False] * 4 + [True] * 4
    assert (window.start, window.end, window.offset) == (6, 7, 0)


def test_turns_with_one_number_are_one_turn() -> None:
    from dataclasses import replace

    turns = tuple(replace(turn, number=3) for turn in DOGS.passage.turns)
    window = window_of(replace(DOGS.passage, turns=turns), DOGS.anchor, 170, 0.6)
    assert set(window.turns) == {0}
    assert list(window.same) == [False] * 4 + [True] * 4


def test_stand_ins_are_signs() -> None:
    window = window_of_case(number("`` [ two ] ''", nfh=True).case, 170, 0.6)
    assert list(window.words) == ['"', "two", '"']


def test_an_anchor_outside_its_passage() -> None:
    with pytest.raises(PassageError):
        featuriser().row(DOGS.passage, Anchor(8, 9))


def test_a_case_outside_its_sentence() -> None:
    from dataclasses import replace

    case = replace(number("I have [ two ]", nfh=True).case, end=9)
    with pytest.raises(ValueError, match="outside 3 words"):
        featuriser().case_row(case)


def test_row() -> None:
    made = featuriser()
    row = made.row(DOGS.passage, DOGS.anchor)
    own = made.pieces
    cut = own.cut(["I", "have", "dogs", ".", "two"])
    assert [len(one) for one in cut] == [1, 1, 2, 1, 1]
    assert row.ids[0] == own.cls
    assert row.ids[-1] == own.sep
    assert row.ids[6] == own.sep
    assert row.first == [1, 2, 3, 5, 7, 8, 9, 10]
    assert [place for place, mark in enumerate(row.mark) if mark] == [9]
    assert row.turns[1] == 3
    assert row.turns[7] == 4
    assert row.turns[6] == row.turns[0] == 0
    assert row.speakers[1:4] == [2, 2, 2]
    assert row.speakers[7] == 1
    assert row.candidate(2) == CLASSES + 2
    assert row.candidate(8) is None


def test_words_are_cut_alone_and_never_into_nothing() -> None:
    own = pieces()
    long, none, special, strange, half = own.cut(["q" * 50, "\x01", "[SEP]", "中", "a\ud800"])
    assert len(long) == MOST
    assert none == special == strange == (own.unk,)
    assert half == own.cut(["a?"])[0]


def test_remembered_words_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from nfh_models.encoder import backbone as module

    own = pieces()
    before = own.cut(["dogs", "two"])
    monkeypatch.setattr(module, "REMEMBERED", 1)
    assert own.cut(["cats", "dogs", "two"])[1:] == before


def test_a_tokenizer_without_its_specials() -> None:
    with pytest.raises(TokenizerError, match=r"no piece '<s>'"):
        Pieces.of(pieces().content, Specials(cls="<s>", sep="[SEP]", pad="[PAD]", unk="[UNK]"))


def test_what_is_no_tokenizer() -> None:
    with pytest.raises(TokenizerError, match="cannot be read"):
        Pieces.of("{}", pieces().specials)


def test_a_window_with_too_many_pieces_is_cut_on_both_sides() -> None:
    words = " ".join(["qqq"] * 20)
    one = item(f"Ann: {words} [ two ] {words}")
    row = featuriser(limit=40).row(one.passage, one.anchor)
    assert len(row.ids) <= 40
    assert 40 - len(row.ids) < 3
    before, behind = row.start, row.words - row.end
    assert before > behind > 0
    assert row.candidate(20) == CLASSES + row.start


def test_an_anchor_of_every_token() -> None:
    one = item("Ann: [ two two two ]")
    row = featuriser().row(one.passage, one.anchor)
    padded = pad([row], 0)
    assert padded.open[0].tolist() == [True] * CLASSES + [False] * 3
    assert padded.anchor[0].sum() == pytest.approx(1)


def test_an_anchor_longer_than_the_window_and_the_encoder() -> None:
    words = " ".join(["two"] * 300)
    one = Item(item(f"Ann: {words}").passage, Anchor(10, 290))
    row = featuriser(limit=30).row(one.passage, one.anchor)
    assert len(row.ids) == 30
    assert (row.start, row.end, row.offset) == (0, 28, 10)


def test_distances_count_from_the_nearer_end() -> None:
    one = item("Ann: a b c [ two three ] d e f g h i j k l m n o")
    row = featuriser().row(one.passage, one.anchor)
    found = buckets(row).tolist()
    assert found[:3] == [13 + 3, 13 + 2, 13 + 1]
    assert found[3:5] == [0, 0]
    assert found[5:13] == [1, 2, 3, 4, 4, 5, 5, 6]


def test_padding_is_closed_and_unread() -> None:
    made = featuriser()
    rows = [made.row(one.passage, one.anchor) for one in (DOGS, AGE)]
    padded = pad(rows, made.pieces.pad)
    short = len(rows[1].ids)
    assert padded.attention[1].tolist() == [1] * short + [0] * (len(rows[0].ids) - short)
    assert (padded.ids[1, short:] == made.pieces.pad).all()
    assert not padded.open[1, CLASSES + rows[1].words :].any()
    assert (padded.distance[:, :CLASSES] == NO_DISTANCE).all()
    assert np.allclose(padded.anchor.sum(1), 1)


def test_batches_by_length_hold_each_row_once() -> None:
    made = featuriser()
    rows = [made.row(one.passage, one.anchor) for one in (CATS, AGE, DOGS)]
    found = by_length(rows, 2)
    assert found == [[1, 2], [0]]


def test_batches_by_pieces_hold_each_row_once() -> None:
    made = featuriser()
    rows = [made.row(one.passage, one.anchor) for one in (CATS, AGE, DOGS)]
    cats, age, dogs = (len(row.ids) for row in rows)
    assert age < dogs < cats
    assert by_pieces(rows, age + dogs) == [[1, 2], [0]]
    assert by_pieces(rows, age + dogs - 1) == by_pieces(rows, 1) == [[1], [2], [0]]
    assert by_pieces(rows, 1_000) == [[1, 2, 0]]
    assert by_pieces([], 9) == []
