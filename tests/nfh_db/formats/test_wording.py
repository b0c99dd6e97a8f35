"""How values are shown in messages."""

import pytest

from nfh_db.messages import counted, shown, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain [red] text", "plain [red] text"),
        ("\x1b[31m\t\r\n\x00", "␛[31m␉␍␊␀"),
        ("\x7f\x9b", "␡\\u009b"),
        ("\u202eabc\u2066", "\\u202eabc\\u2066"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
        ("café 小明 👍", "café 小明 👍"),
        ("x" * 70, "x" * 60 + "…"),
    ],
)
def test_text_is_shown_on_one_line_and_cannot_steer(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\x1bb", '"a␛b"'),
        (True, "true"),
        (None, "null"),
        (12, "12"),
        ([1, "é"], '[1, "é"]'),
        ({"a": 1}, "an object"),
    ],
)
def test_json_values_are_shown_as_json(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_a_long_list_is_cut_before_it_is_written_out() -> None:
    text = shown(list(range(5_000_000)))
    assert text.startswith("[0, 1, 2,")
    assert text.endswith("…")
    assert len(text) <= 61


def test_counts_come_with_their_noun() -> None:
    assert [counted(1, "row"), counted(2_000, "row"), counted(0, "row")] == [
        "1 row",
        "2,000 rows",
        "0 rows",
    ]
