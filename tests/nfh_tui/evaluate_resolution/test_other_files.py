"""Labels out of files of other tools are those of the gold file that they were written from."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from nfh_db.formats.registry import by_name, opened
from nfh_db.formats.rows import LabelMap
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.cli.evaluate_call import call_of
from nfh_tui.sample import corpus_path
from nfh_tui.services.examples import ResolutionExamples
from nfh_tui.services.imports import ImportOptions, export_file, import_file
from tests.nfh_db.formats.test_round_trips import NAMES, ways


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    lines = corpus_path().read_bytes().splitlines(keepends=True)
    (folder / "in.jsonl").write_bytes(b"".join(lines[::6]))
    with Store.open(folder / "a.db", create=True) as store:
        found = opened(folder / "in.jsonl")
        import_file(store, found.source, found.format, ImportOptions())
    return folder / "a.db"


@pytest.fixture(scope="module")
def wanted(store: Path) -> tuple[list[str], dict[str, int]]:
    """The examples of the gold file."""
    gold = store.with_name("gold.jsonl")
    with Store.open(store) as opened_store:
        export_file(opened_store, Query(), by_name("gold"), gold)
    found = examples(gold)
    assert found[0]
    return found


def examples(path: Path) -> tuple[list[str], dict[str, int]]:
    found = ResolutionExamples.of_file(path)
    shown = sorted(
        repr([getattr(one, key) for key in one.__slots__ if key != "where"]) for one in found
    )
    return shown, dict(found.left_out)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "gold"])
def test_the_examples_of_a_format_are_those_of_gold(
    name: str, store: Path, wanted: tuple[list[str], dict[str, int]], tmp_path: Path
) -> None:
    other = tmp_path / f"other{ways(name)[0]}"
    with Store.open(store) as opened_store:
        export_file(opened_store, Query(), by_name(name), other)
    assert examples(other) == wanted


def test_settings_come_back_out_of_a_job() -> None:
    said = ImportOptions(offsets="utf16", window=(1, 2), labels=LabelMap({"A": "HEAD"}))
    row = json.loads(json.dumps({"task": "resolution", "reading": asdict(said)}))
    assert call_of(Path("a.db"), row).reading == said
