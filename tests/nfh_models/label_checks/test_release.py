"""The release's development file: items that a reader found wrong are found here."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.cli.main import commands
from nfh_tui.services.label_checks import LabelProblems, find_trouble

Lines = Callable[[str], set[int]]


@pytest.fixture(scope="module")
def found(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> LabelProblems:
    path = tmp_path_factory.mktemp("release") / "x.db"
    file = data_dir / "resolution" / "nfh_dev.jsonl"
    result = CliRunner().invoke(commands, ["import", str(file), "--db", str(path)])
    assert result.exit_code == 0
    with Store.open(path) as store:
        return find_trouble(store, parse(""))


@pytest.fixture(scope="module")
def lines(found: LabelProblems) -> Lines:
    def of(*names: str) -> set[int]:
        return {
            row.line
            for result in found.results
            if result.check.name in names
            for hit in result.hits
            for place in hit.places
            for row in place.rows
        }

    return of


@pytest.mark.long
def test_every_cut_anchor_is_found(lines: Lines) -> None:
    cut = {68, 78, 215, 307, 342, 388, 503, 589, 634, 635, 706, 710, 765, 828, 856, 904}
    assert cut <= lines("number-beside")


@pytest.mark.long
def test_odd_heads_are_found(lines: Lines) -> None:
    assert {495, 980} <= lines("head-pronoun")
    assert {56, 180, 414} <= lines("head-sign")


@pytest.mark.long
def test_pairs_with_a_noun_behind_are_found(lines: Lines) -> None:
    assert {240, 469, 652, 910, 982, 1000} <= lines("pair-noun")


@pytest.mark.long
def test_numbers_with_their_own_noun_are_found(lines: Lines) -> None:
    assert {72, 872, 896} <= lines("noun-near", "noun-after", "one-and-only")


@pytest.mark.long
def test_mangled_numbers_are_found(lines: Lines) -> None:
    assert {729, 804, 975} <= lines("mangled-digits")


def test_mentions_left_out_are_found(lines: Lines) -> None:
    assert {79, 309, 322, 365, 500, 740} <= lines("unmarked-mention")


def test_nothing_was_skipped(found: LabelProblems) -> None:
    assert found.tagger is not None
    assert not any(result.skipped for result in found.results)
