"""How values are shown in messages."""

import json
from typing import Literal

import msgspec
import pytest

from nfh_db.messages import counted, reason_of, shown, visible


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


class _Shape(msgspec.Struct, forbid_unknown_fields=True):
    a: int
    b: list[str] | None = None
    c: tuple[int, int] = (1, 2)
    d: Literal["x"] = "x"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a":"x"}', "found text, wanted a whole number, at a"),
        (b'{"a":1.5}', "found a number, wanted a whole number, at a"),
        (b"{}", 'the key "a" is missing'),
        (b'{"a":1,"b":[1]}', "found a whole number, wanted text, at b[0]"),
        (b'{"a":1,"b":3}', "found a whole number, wanted a list or null, at b"),
        (b'{"a":1,"c":[1]}', "wanted a list of 2 values, at c"),
        (b'{"a":1,"d":"y"}', "found 'y', which is not allowed there, at d"),
        (b'{"a":1,"z":3}', 'the key "z" is not known'),
        (b'{"a":1', "it ends too early"),
        (b'{"a":1} x', "it has text after its end (byte 9)"),
        (b"[]", "found a list, wanted an object"),
    ],
)
def test_what_a_library_says_becomes_the_end_of_a_sentence(content: bytes, said: str) -> None:
    with pytest.raises(msgspec.MsgspecError) as caught:
        msgspec.json.decode(content, type=_Shape)
    assert reason_of(caught.value) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (json.JSONDecodeError("Expecting value", "[,]", 1), "wanted value (character 1)"),
        (json.JSONDecodeError("Expecting ',' delimiter", "[1 2]", 3), "wanted , (character 3)"),
        (KeyError("a b"), '"a b" is missing'),
        (
            RecursionError("maximum recursion depth exceeded"),
            "it is nested too deeply",
        ),
        (UnicodeDecodeError("utf-8", b"a\xff", 1, 2, "no"), "the byte 0xFF at 1 is not UTF-8"),
        (OSError("File\x1b[1m is no\nzip"), "file␛[1m is no"),
        (ValueError(), "it cannot be read"),
    ],
)
def test_other_errors_become_the_end_of_a_sentence(error: Exception, said: str) -> None:
    assert reason_of(error) == said
