"""The release's resolution files: what is read, and every way in which a line is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import nfh
from nfh_db.formats.files import Source
from nfh_db.formats.rows import LabelledRow
from nfh_models.domain import Anchor, Kind, Turn

Values = dict[str, object]
Rows = Callable[[str, str | bytes], list[LabelledRow]]


def tokens_of(row: LabelledRow) -> list[str]:
    passage = row.passage
    pairs = zip(passage.starts, passage.ends, strict=True)
    return [passage.text[start:end] for start, end in pairs]


def test_a_line_is_read_whole(nfh_values: Values, rows: Rows) -> None:
    (row,) = rows("nfh", json.dumps(nfh_values) + "\n")
    assert row.line == 1
    assert row.anchor == Anchor(5, 6)
    assert (row.kind, row.head_tokens, row.labels) == (Kind.REFERENCE, (1,), "[1]")
    assert row.passage.text == "Two tickets ?\nNo , three ."
    assert row.passage.turns == (Turn(0, "Ann", 0, 3), Turn(4, None, 3, 7))
    assert tokens_of(row) == nfh_values["tokens"]


def test_a_token_may_hold_white_space(nfh_values: Values, rows: Rows) -> None:
    nfh_values["tokens"] = ["2 1/2", "tick\nets", "?", "\t", "\u00a0", "three", "."]
    (row,) = rows("nfh", json.dumps(nfh_values))
    assert tokens_of(row) == nfh_values["tokens"]


def test_the_same_number_by_another_speaker_is_another_turn(
    nfh_values: Values, rows: Rows
) -> None:
    nfh_values |= {"line_indices": [3] * 7, "speakers": ["A", "A", "B", "B", None, "B", "B"]}
    (row,) = rows("nfh", json.dumps(nfh_values))
    assert [(turn.speaker, turn.start) for turn in row.passage.turns] == [
        ("A", 0),
        ("B", 2),
        (None, 4),
        ("B", 5),
    ]


@pytest.mark.parametrize("name", ["YEAR", "AGE", "CURRENCY", "PEOPLE", "TIME", "OTHER"])
def test_each_class_is_read(nfh_values: Values, rows: Rows, name: str) -> None:
    nfh_values["head"] = [name]
    (row,) = rows("nfh", json.dumps(nfh_values))
    assert (row.kind, row.head_tokens, row.labels) == (Kind(name), (), f'["{name}"]')


def test_a_nan_speaker_becomes_null_with_a_warning_that_counts_lines(
    nfh_values: Values, write: Callable[..., Path]
) -> None:
    plain = json.dumps(nfh_values)
    nfh_values["speakers"] = [float("nan")] * 3 + ["Ben"] * 4
    source = Source(write(f"{json.dumps(nfh_values)}\n{plain}\n{json.dumps(nfh_values)}\n"))
    read = list(nfh.read(source))
    assert [turn.speaker for turn in read[0].passage.turns] == [None, "Ben"]
    assert source.warnings == ["NaN was given for speakers on 2 lines; read as null"]


def test_a_file_without_nan_gives_no_warning(
    nfh_values: Values, write: Callable[..., Path]
) -> None:
    source = Source(write(json.dumps(nfh_values)))
    assert len(list(nfh.read(source))) == 1
    assert source.warnings == []


def test_byte_order_mark_and_crlf_are_accepted(nfh_values: Values, rows: Rows) -> None:
    line = json.dumps(nfh_values)
    read = rows("nfh", b"\xef\xbb\xbf" + f"{line}\r\n{line}\r\n".encode())
    assert read[0].passage == read[1].passage == rows("nfh", line)[0].passage


FIVE = "wanted exactly tokens, line_indices, head, speakers, anchors_indices"
CLASSES = "wanted one class of YEAR, AGE, CURRENCY, PEOPLE, TIME, OTHER"

WRONG_VALUES = [
    ({"tokens": "Two"}, 'key "tokens": found "Two", wanted a list'),
    ({"tokens": ["Two", 3]}, 'key "tokens": item 1 is 3, wanted a string that is not empty'),
    ({"tokens": ["Two", ""]}, 'key "tokens": item 1 is "", wanted a string that is not empty'),
    ({"tokens": ["a\ud800"]}, 'item 0 is "a\\ud800", wanted text without unpaired surrogates'),
    ({"tokens": []}, 'key "line_indices": found 7 items, wanted 0, as many as tokens'),
    ({"line_indices": [0, 0]}, 'key "line_indices": found 2 items, wanted 7, as many as token'),
    ({"speakers": ["A"]}, 'key "speakers": found 1 items, wanted 7, as many as tokens'),
    ({"line_indices": [0, 0, 0, 1, 1, 0, 1]}, "item 5 is 0, wanted at least 1, as before it"),
    ({"line_indices": [0, 0, 0, 1, 1, True, 1]}, "item 5 is true, wanted a whole number"),
    ({"line_indices": [0, 0, 0, 1, 1, 1.0, 1]}, "item 5 is 1.0, wanted a whole number"),
    (
        {"line_indices": [0] * 6 + [2**60]},
        "item 6 is 1152921504606846976, wanted a whole number from -9,007",
    ),
    ({"speakers": ["A"] * 6 + [1]}, 'key "speakers": item 6 is 1, wanted a string or null'),
    ({"speakers": ["A"] * 6 + ["\udfff"]}, 'item 6 is "\\udfff", wanted text without unpair'),
    ({"speakers": None}, 'key "speakers": found null, wanted a list'),
    ({"anchors_indices": []}, "found [], wanted at least one token index"),
    ({"anchors_indices": [True]}, "item 0 is true, wanted a whole number"),
    ({"anchors_indices": ["5"]}, 'item 0 is "5", wanted a whole number'),
    ({"anchors_indices": [7]}, "found [7], wanted token indices from 0 to 6"),
    ({"anchors_indices": [-1]}, "found [-1], wanted token indices from 0 to 6"),
    ({"anchors_indices": [3, 5]}, "found [3, 5], wanted ascending indices without a gap"),
    ({"anchors_indices": [5, 4]}, "found [5, 4], wanted ascending indices without a gap"),
    ({"anchors_indices": [5, 5]}, "found [5, 5], wanted ascending indices without a gap"),
    ({"head": []}, f'key "head": found [], {CLASSES}, or token indices'),
    ({"head": "AGE"}, 'key "head": found "AGE", wanted a list'),
    ({"head": ["age"]}, 'key "head": found "age", wanted AGE in capital letters'),
    ({"head": ["REFERENCE"]}, f'key "head": found "REFERENCE", {CLASSES}'),
    ({"head": ["[red]\x1b[2J"]}, 'key "head": found "[red]␛[2J", wanted one class of'),
    ({"head": ["AGE", "YEAR"]}, "wanted either one class or token indices"),
    ({"head": ["AGE", 1]}, "wanted either one class or token indices"),
    ({"head": [7]}, 'key "head": found [7], wanted token indices from 0 to 6'),
    ({"head": [-1]}, 'key "head": found [-1], wanted token indices from 0 to 6'),
    ({"head": [5]}, 'key "head": found [5], wanted no index inside the anchor (found 5)'),
    ({"head": [1, 0]}, "found [1, 0], wanted ascending token indices, each once"),
    ({"head": [1, 1]}, "found [1, 1], wanted ascending token indices, each once"),
    ({"head": [False]}, 'key "head": item 0 is false, wanted a whole number'),
    ({"head": [float("nan")]}, 'key "head": item 0 is NaN, wanted a whole number'),
    ({"tokens": [float("nan")] * 7}, 'key "tokens": item 0 is NaN, wanted a string'),
    ({"extra": 1}, f'key "extra" is not known; {FIVE}'),
    (
        {"format": "nfh-gold/1"},
        f'key "format" is not known; {FIVE} (a line of the gold format?',
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG_VALUES)
def test_a_wrong_value_is_refused_with_its_place(
    nfh_values: Values, rows: Rows, change: Values, message: str
) -> None:
    good = json.dumps(nfh_values)
    bad = json.dumps(nfh_values | change)
    with pytest.raises(FormatError) as caught:
        rows("nfh", f"{good}\n{bad}\n")
    assert "file.jsonl, line 2: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("key", ["tokens", "line_indices", "head", "speakers"])
def test_a_missing_key_is_refused(nfh_values: Values, rows: Rows, key: str) -> None:
    del nfh_values[key]
    with pytest.raises(FormatError, match=f'line 1: key "{key}" is missing; {FIVE}'):
        rows("nfh", json.dumps(nfh_values))


DEEP = '{"tokens": ' + "[" * 200_000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", 'line 1: the line is not JSON: expecting value at column 1, found "not j'),
        ('{"tokens": [1,', "line 1: the line is not JSON: expecting value at column 15"),
        ('{"tok', "line 1: the line is not JSON: unterminated string at column 2, found"),
        ("[1, 2]", "line 1: found [1, 2]; wanted a JSON object"),
        ('"text"', 'line 1: found "text"; wanted a JSON object'),
        ("NaN", "line 1: found NaN; wanted a JSON object"),
        ('{"a": Infinity}', "the line holds Infinity, which is not JSON"),
        ('{"a": -Infinity}', "the line holds -Infinity, which is not JSON"),
        ('{"a": 1, "a": 2}', 'the line holds the key "a" twice in one object'),
        ('{"a": ' + "1" * 5000 + "}", "a whole number with too many digits"),
        (DEEP, "nested too deep"),
    ],
)
def test_what_is_no_json_object_is_refused(rows: Rows, line: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        rows("nfh", line)
    assert message in str(caught.value)


def test_the_release_files_are_read_to_the_last_line(data_dir: Path) -> None:
    counts = {}
    for name in ("nfh_dev", "nfh_train"):
        source = Source(data_dir / "resolution" / f"{name}.jsonl")
        counts[name] = sum(1 for _ in nfh.read(source))
    assert counts == {"nfh_dev": 1000, "nfh_train": 4369}
