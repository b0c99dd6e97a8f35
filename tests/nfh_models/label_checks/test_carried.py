"""What other tools' files hold besides is no label; rows of several people repeat nothing."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.store import Store
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_tui.services import label_checks
from nfh_tui.services.imports import ImportOptions, import_file, recognise_file
from nfh_tui.services.label_checks import find_trouble

TASK = {
    "text": "Ben: No, three.",
    "meta": {"shelf": 3},
    "spans": [{"start": 9, "end": 14, "label": "AGE"}],
    "answer": "accept",
    "_session_id": "tix-eva",
}


@pytest.fixture(autouse=True)
def no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """No parser: it takes seconds to load."""

    def fail() -> None:
        raise NoPipelineError("No parser here.")

    monkeypatch.setattr(label_checks, "load_tagger", fail)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """With the same answer of two people, and one of them another time, otherwise."""
    tasks = [TASK, TASK | {"_session_id": "tix-ben"}]
    tasks.append(TASK | {"spans": [TASK["spans"][0] | {"label": "TIME"}]})  # type: ignore[index]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    with Store.open(tmp_path / "x.db", create=True) as opened:
        found = recognise_file(path, None)
        import_file(opened, found.source, found.format, ImportOptions())
        yield opened


def test_rows_say_nothing_by_what_they_carry(store: Store) -> None:
    ids = [id_ for some in store.items.by_passage(parse("")) for id_ in some]
    (rows,) = store.items.source_rows(ids).values()
    assert [row.labels for row in rows] == [None, None, None]
    (record,) = store.items.records(parse(""), None, "gold")
    assert record.carried == '{"prodigy":{"meta":{"shelf": 3}}}'


def test_a_row_that_was_not_taken_over_is_told(store: Store) -> None:
    (row,) = store.items.rows_not_taken()
    assert not row.labelled
    found = {result.check.name: result for result in find_trouble(store, parse("")).results}
    (hit,) = found["import-conflict"].hits
    assert "line 3: eva answered AGE already" in hit.note


def test_a_row_for_each_annotator_repeats_nothing(store: Store) -> None:
    found = {result.check.name: result for result in find_trouble(store, parse("")).results}
    assert not found["repeated-row"].hits
