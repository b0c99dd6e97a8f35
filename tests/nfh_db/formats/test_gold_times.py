"""When turns are said: from a subtitle file through the database to a `gold` line and back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.gold import GoldWriter, seal
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import GoldRow, ReadOptions
from nfh_db.query import parse
from nfh_db.records import ExportRecord
from nfh_db.store import Store
from nfh_models.domain import Anchor, Passage, Token, Turn, anchor_id
from nfh_tui.services.imports import ImportOptions, export_file, import_file, recognise_file
from tests.nfh_db.formats.subtitle_files import SUBRIP

Write = Callable[..., Path]

TURNS = (
    Turn(0, "Ann", 0, 1, 1500, 2000),
    Turn(1, None, 1, 2, None, None),
    Turn(1, "Ann", 2, 3, 0, None),
)


def line(turns: tuple[Turn, ...] = TURNS) -> str:
    tokens = (Token(0, 3, "one"), Token(4, 7, "two"), Token(8, 11, "ten"))
    passage = Passage("one\ntwo\nten", tokens, turns)
    anchor = Anchor(1, 2)
    public_id = anchor_id(passage.digest, anchor)
    return GoldWriter().line(ExportRecord(public_id, passage, anchor, None, None, (), ()))


def read(path: Path) -> GoldRow:
    (row,) = by_name("gold").read(Source(path), ReadOptions())
    assert isinstance(row, GoldRow)
    return row


def times(turns: tuple[Turn, ...]) -> list[tuple[int | None, int | None]]:
    return [(turn.begin, turn.until) for turn in turns]


def test_a_line_says_them_and_is_read(write: Write) -> None:
    made = line()
    assert json.loads(made)["times"] == [[1500, 2000], None, [0, None]]
    assert list(json.loads(made))[8:10] == ["offsets", "times"]
    assert times(read(write(made)).passage.turns) == times(TURNS)


def test_a_line_without_any_has_no_such_key() -> None:
    assert "times" not in json.loads(line(tuple(Turn(0, "A", n, n + 1) for n in range(3))))


BAD = [
    ([[1500, 2000], None], "wanted 3 entries, one a turn"),
    ([None, None, None], "wanted a time, or no such key"),
    ([[1, 2], None, [None, None]], "pairs of milliseconds, or null"),
    ([[1, 2], None, [1]], "pairs of milliseconds, or null"),
    ([[1, 2], None, 7], "pairs of milliseconds, or null"),
    ([[1, 2], None, [-1, 2]], "whole milliseconds from 0 on, or null"),
    ([[1, 2], None, [1.5, 2]], "whole milliseconds from 0 on, or null"),
    ([[1, 2], None, [True, 2]], "whole milliseconds from 0 on, or null"),
    ([[1, 2], None, [1, 2**63]], "whole milliseconds from 0 on, or null"),
    ("1500", "a list"),
]


@pytest.mark.parametrize(("entries", "sentence"), BAD)
def test_what_does_not_hold_is_refused(write: Write, entries: object, sentence: str) -> None:
    values = json.loads(line()) | {"times": entries}
    del values["digest"]
    with pytest.raises(FormatError, match=f'line 1: key "times".*{sentence}'):
        read(write(seal(values)))


def test_the_digest_covers_them(write: Write) -> None:
    with pytest.raises(FormatError, match='key "digest"'):
        read(write(line().replace("[1500,2000]", "[1500,2001]")))


def test_from_a_subtitle_file_through_two_databases(write: Write, tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    passed_through(write(SUBRIP, "a.srt"), first, tmp_path / "1.db")
    passed_through(first, second, tmp_path / "2.db")
    assert first.read_bytes() == second.read_bytes()
    values = [json.loads(one) for one in first.read_text("utf-8").splitlines()]
    assert {json.dumps(one["times"]) for one in values} == {
        "[[15100, 17050], [15100, 17050], [17500, 19000]]",
        "[[60000, 62000]]",
    }


def passed_through(path: Path, out: Path, db: Path) -> None:
    """Import a file into an empty database, and export its gold."""
    found = recognise_file(path, None)
    with Store.open(db, create=True) as store:
        import_file(store, found.source, found.format, ImportOptions())
        export_file(store, parse(""), by_name("gold"), out)
