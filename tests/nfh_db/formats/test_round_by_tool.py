"""A round through another tool into the same database, where work went on meanwhile."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, opened
from nfh_db.query import Query
from nfh_db.records import ExportRecord, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind
from nfh_tui.services.imports import ImportOptions, export_file, import_file

Edit = Callable[[Path], None]
GOLD_LINE = (
    '{"text":"No, three.","spans":[{"start":4,"end":9,"label":"AGE"}],"answer":"accept",'
    '"_annotator_id":"eva","_timestamp":1700000000}\n'
)


def _in_place(pattern: str) -> Edit:
    """AGE made YEAR, as somebody does in a tool's own terms, in the files of that pattern."""

    def edit(out: Path) -> None:
        places = sorted(out.rglob(pattern)) if out.is_dir() else [out]
        assert places
        for path in places:
            text = path.read_text(encoding="utf-8")
            for ours in ('"label":"AGE"', '"labels":["AGE"]', '"kind": "AGE", "nfh"', "\tAGE "):
                text = text.replace(ours, ours.replace("AGE", "YEAR"))
            path.write_text(text, encoding="utf-8")

    return edit


TOOLS = {
    "prodigy": ("out.jsonl", _in_place("*")),
    "doccano": ("out", _in_place("eva.jsonl")),
    "label-studio": ("out.json", _in_place("*")),
    "brat": ("out", _in_place("eva/*.ann")),
    "inception-json": ("out", _in_place("annotation/*/eva.json")),
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """One number, which eva says is an age."""
    (tmp_path / "first.jsonl").write_text(GOLD_LINE, encoding="utf-8")
    path = tmp_path / "nfh.db"
    _import(path, tmp_path / "first.jsonl")
    return path


def _import(database: Path, file: Path, *, newer: bool = False) -> tuple[str, ...]:
    with Store.open(database, create=True) as store:
        found = opened(file)
        options = ImportOptions(newer_answers=newer)
        return import_file(store, found.source, found.format, options).conflicts


def _out(database: Path, tmp_path: Path, name: str) -> Path:
    out = tmp_path / TOOLS[name][0]
    with Store.open(database) as store:
        export_file(store, Query(), by_name(name), out)
    TOOLS[name][1](out)
    return out


def _record(database: Path) -> ExportRecord:
    with Store.open(database) as store:
        (record,) = store.items.records(Query(), None, "gold")
    return record


def _said(database: Path) -> list[Kind]:
    return [vote.answer.kind for vote in _record(database).votes]


def _answer(database: Path, kind: Kind) -> None:
    """Eva answers again, here."""
    with Store.open(database) as store:
        (ballot,) = store.items.ballots(Query())
        me = store.people.ensure("eva")
        store.edits.commit_answer(ballot.anchor_id, me, Role.ANNOTATOR, Answer(kind))


@pytest.mark.parametrize("name", TOOLS)
def test_a_change_comes_back_where_the_answer_still_stands(
    name: str, database: Path, tmp_path: Path
) -> None:
    out = _out(database, tmp_path, name)
    assert _import(database, out) == ()
    assert _said(database) == [Kind.YEAR]


@pytest.mark.parametrize("name", TOOLS)
@pytest.mark.parametrize("newer", [False, True])
def test_what_was_said_here_meanwhile_is_kept(
    name: str, newer: bool, database: Path, tmp_path: Path
) -> None:
    out = _out(database, tmp_path, name)
    _answer(database, Kind.TIME)
    (conflict,) = _import(database, out, newer=newer)
    assert "eva answered TIME already, which was kept" in conflict
    assert _said(database) == [Kind.TIME]


def test_the_change_has_what_was_before_it_in_the_log_of_a_new_database(
    database: Path, tmp_path: Path
) -> None:
    out = _out(database, tmp_path, "brat")
    new = tmp_path / "new.db"
    assert _import(new, out) == ()
    assert _said(new) == [Kind.YEAR]
    with Store.open(new) as store:
        log = [
            line.after or "" for line in store.history.of_anchor(1) if line.entity == "answer"
        ]
    assert ["AGE" in line for line in sorted(log)] == [True, False]
