"""Damaged files: every importer refuses them in a sentence, or takes them in soundly.

The long form is `benchmarks/fuzz_importers.py --full`.
"""

import random
from pathlib import Path

import pytest

from nfh_db.formats.registry import FORMATS, by_name

FILES = 400


@pytest.mark.long
def test_damaged_files_are_refused_in_a_sentence_or_come_in(tmp_path: Path) -> None:
    from soak.fuzzing import Fuzzer
    from soak.seeds import SEEDS

    found = Fuzzer(tmp_path / "fuzz", seed=11).run(FILES)
    assert found.wrong == []
    assert found.files == FILES
    # Neither is everything refused, nor is anything taken.
    for name in SEEDS:
        assert found.what[name]["refused"] > 0, name
        assert found.what[name]["came in"] > 0, name


def test_every_importer_is_fuzzed() -> None:
    from soak.fuzzing import SUFFIXES
    from soak.mutate import STRUCTURED
    from soak.seeds import SEEDS

    assert SEEDS.keys() == SUFFIXES.keys() == STRUCTURED.keys() == {one.name for one in FORMATS}


@pytest.mark.parametrize("name", [one.name for one in FORMATS])
def test_what_is_not_damaged_comes_in(tmp_path: Path, name: str) -> None:
    from soak.seeds import SEEDS

    from nfh_db.formats.files import Source
    from nfh_db.store import Store
    from nfh_tui.services.imports import ImportOptions, import_file

    with Store.open(tmp_path / "nfh.db", create=True) as store:
        for number in range(10):
            file = tmp_path / f"{number}.txt"
            file.write_text(SEEDS[name](random.Random(number)), "utf-8", newline="")
            import_file(store, Source(file), by_name(name), ImportOptions())


def test_a_broken_importer_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from soak import fuzzing

    def broken(*args: object) -> object:
        raise ValueError("oh")

    monkeypatch.setattr(fuzzing, "import_file", broken)
    found = fuzzing.Fuzzer(tmp_path / "fuzz", seed=11).run(20)
    assert any("ValueError: oh" in what for what in found.wrong)


def test_an_importer_that_takes_too_long_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from soak import fuzzing

    def endless(*args: object) -> object:
        while True:
            pass

    monkeypatch.setattr(fuzzing, "import_file", endless)
    monkeypatch.setattr(fuzzing, "SECONDS", 0.05)
    found = fuzzing.Fuzzer(tmp_path / "fuzz", seed=11).run(8)
    assert any("took longer than it may" in what for what in found.wrong)
