"""When turns are said stands in the gutter, beside the speaker."""

import pytest
from rich.cells import cell_len

from nfh_models.domain import Passage, Token, Turn
from nfh_tui.widgets.passage_layout import TIMED, lay_out, said_at

WORDS = ("two", "three", "four")


def passage(*begins: int | None, speakers: tuple[str | None, ...] = ("Nora", None, "四郎")):
    tokens, place = [], 0
    for word in WORDS:
        tokens.append(Token(place, place + len(word), word))
        place += len(word) + 1
    turns = tuple(
        Turn(rank, speakers[rank], rank, rank + 1, begin, None)
        for rank, begin in enumerate(begins)
    )
    return Passage("\n".join(WORDS), tuple(tokens), turns)


@pytest.mark.parametrize(
    ("begin", "shown"),
    [
        (None, ""),
        (0, "0:00"),
        (59_999, "0:59"),
        (60_000, "1:00"),
        (3_599_999, "59:59"),
        (3_735_000, "1:02:15"),
        (360_000_000, "100:00:00"),
    ],
)
def test_the_time_is_written_as_people_write_it(begin, shown):
    assert said_at(Turn(0, None, 0, 1, begin)) == shown


def test_times_stand_in_a_column_of_their_own():
    layout = lay_out(passage(15_100, None, 3_735_000), TIMED)
    assert [line.label for line in layout.lines] == [
        "1 Nora    0:15  ",
        "2               ",
        "3 四郎 1:02:15  ",
    ]
    assert {cell_len(line.label) for line in layout.lines} == {layout.gutter}
    assert [layout.spot(token).x for token in range(3)] == [layout.gutter] * 3


def test_a_narrow_pane_and_a_passage_without_times_have_none():
    timed, plain = passage(15_100, None, None), passage(None, None, None)
    assert lay_out(timed, TIMED - 1) == lay_out(plain, TIMED - 1)
    assert lay_out(timed, TIMED).gutter == lay_out(plain, TIMED).gutter + len("0:15") + 1
    assert lay_out(plain, TIMED).lines[0].label == "1 Nora  "


def test_without_names_the_time_follows_the_number():
    layout = lay_out(passage(15_100, 16_000, 17_000, speakers=(None,) * 3), TIMED)
    assert [line.label for line in layout.lines] == ["1 0:15  ", "2 0:16  ", "3 0:17  "]
