"""Objects of a JSON file one after another, however laid out, and files that hold none."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import json_stream as module
from nfh_db.formats.files import Source
from nfh_db.formats.json_stream import first_keys, json_items

OBJECTS = [
    {"a": 1},
    {"text": 'br}ace, "quote" \\ {[', "more": {"deep": [{"x": [1, 2]}]}},
    {},
    {"é": "😀\n\t", "long": "x" * 500},
    {"a": [{}, {"b": "},\n{"}]},
]

Write = Callable[..., Path]


def _all(path: Path) -> list[tuple[int, int, object]]:
    return list(json_items(Source(path), msgspec.json.decode))


LAYOUTS = {
    "compact": json.dumps(OBJECTS, ensure_ascii=False),
    "pretty": json.dumps(OBJECTS, indent=2),
    "tabs": json.dumps(OBJECTS, indent="\t", ensure_ascii=False).replace("\n", "\r\n"),
    "lines": "\n".join(map(json.dumps, OBJECTS)) + "\n",
    "a list by lines": "[\n" + ",\n".join(map(json.dumps, OBJECTS)) + "\n]\n",
    "commas first": "[" + "\n, ".join(map(json.dumps, OBJECTS)) + "]",
    "two a line": "[" + json.dumps(OBJECTS)[1:].replace(', {"é"', ',\n{"é"'),
    "mark": "\ufeff" + json.dumps(OBJECTS),
    "ragged": json.dumps(OBJECTS, indent=3).replace("\n   {", "\n{").replace("   }", "}"),
}


@pytest.mark.parametrize("chunk", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_layouts_give_the_same_objects(
    layout: str, chunk: int, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", chunk)
    found = _all(write(LAYOUTS[layout], "x.json"))
    assert [value for _, _, value in found] == OBJECTS
    assert [rank for rank, _, _ in found] == [1, 2, 3, 4, 5]


def test_an_object_alone_is_a_file(write: Write) -> None:
    assert _all(write(json.dumps(OBJECTS[1], indent=1))) == [(1, 1, OBJECTS[1])]


def test_lines_are_those_where_objects_begin(write: Write) -> None:
    text = json.dumps(OBJECTS, indent=2)
    places = [number for number, line in enumerate(text.split("\n"), 1) if line[:3] == "  {"]
    assert [line for _, line, _ in _all(write(text))] == places


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "found an empty list, wanted at least one object"),
        ("[{}", "ends within its list"),
        ("[{},", "ends within its list"),
        ("[{}] x", 'found "x", wanted nothing after the end of the list'),
        ("[{}, 3]", 'found "3]", wanted an object'),
        ("[3]", 'found "3]", wanted an object'),
        ('"text"', "wanted an object"),
        ("{} 4", 'found "4", wanted an object'),
        ('[{"a": }]', "item 1 is not JSON: expecting value; found"),
        ('[{},\n{"a": 1', "line 2: item 2 is not JSON"),
        ('[{"a": "', "item 1 is not JSON: unterminated string"),
        ("   \n ", "wanted at least one object"),
        ("[" + "[" * 10, "wanted an object"),
        ('[{"a":' * 1000, "item 1"),
        ('{"a":' * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_such_file_is_refused(content: str, message: str, write: Write) -> None:
    with pytest.raises(FormatError) as refused:
        _all(write(content))
    assert message in str(refused.value)


def test_bytes_that_are_no_utf8_are_refused_with_their_line(write: Write) -> None:
    with pytest.raises(FormatError, match=r"line 3: holds bytes that are not UTF-8 \(0xE9\)"):
        _all(write(b'[{"a": 1},\n{"b": 2},\n{"c": "caf\xe9"}]'))


def test_a_value_that_is_not_as_it_should_be_is_refused_where_it_stands(write: Write) -> None:
    decoder = msgspec.json.Decoder(dict[str, int])
    with pytest.raises(FormatError, match="line 2: item 2: found text, wanted a whole number"):
        list(json_items(Source(write('[{"a": 1},\n{"a": "b"}]')), decoder.decode))


def test_a_file_that_changes_while_it_is_read_is_refused(write: Write) -> None:
    path = write("[{}]")
    source = Source(path)
    path.write_text('[{"a": 1}]')
    with pytest.raises(FormatError, match="changed while it was read"):
        list(json_items(source, msgspec.json.decode))


@pytest.mark.parametrize("joint", [",", ",\n"])
def test_a_large_file_is_read_in_little_memory(joint: str, write: Write) -> None:
    one = json.dumps({"text": "x" * 1000, "list": list(range(100))})
    path = write("[" + joint.join([one] * 6_000) + "]")
    source = Source(path)
    tracemalloc.start()
    count = sum(1 for _ in json_items(source, msgspec.json.decode))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 6_000
    assert path.stat().st_size > 7 << 20
    assert peak < 5 << 20


def test_an_object_longer_than_a_line_may_be_is_refused(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LINE_LIMIT", 1000)
    monkeypatch.setattr(module, "CHUNK", 100)
    with pytest.raises(FormatError, match="item 2: is longer than that or broken"):
        _all(write('[{"a": 1}, {"text": "' + "x" * 3000 + '"}]'))


def test_the_keys_of_the_first_object_are_found_in_a_stretch_of_it() -> None:
    text = json.dumps([{"id": 1, "a": [{"b": "c"}], "data": {"text": "x"}}, {"z": 1}], indent=1)
    assert first_keys(text) == ("id", "a", "data")
    assert first_keys(text[:25]) == ("id", "a")
    assert first_keys("words { }") == ()
    assert first_keys("") == ()
