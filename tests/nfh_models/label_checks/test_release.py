"""The release's development file: items that a reader found wrong are found here.

Only their rows are read: the other 900 take long.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.cli.main import commands
from nfh_tui.services.label_checks import LabelProblems, find_trouble

Lines = Callable[[str], set[int]]

CUT = {68, 78, 215, 307, 342, 388, 503, 589, 634, 635, 706, 710, 765, 828, 856, 904}
PRONOUN = {495, 980}
SIGN = {56, 180, 414}
PAIR = {240, 469, 652, 910, 982, 1000}
OWN_NOUN = {72, 872, 896}
MANGLED = {729, 804, 975}
LEFT_OUT = {79, 309, 322, 365, 500, 740}
WRONG = sorted(CUT | PRONOUN | SIGN | PAIR | OWN_NOUN | MANGLED | LEFT_OUT)
"""Lines of the file, from 1."""


@pytest.fixture(scope="module")
def found(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> LabelProblems:
    path = tmp_path_factory.mktemp("release") / "x.db"
    lines = (data_dir / "resolution" / "nfh_dev.jsonl").read_bytes().split(b"\n")
    file = path.with_name("nfh_dev.jsonl")
    file.write_bytes(b"\n".join(lines[number - 1] for number in WRONG))
    result = CliRunner().invoke(commands, ["import", str(file), "--db", str(path)])
    assert result.exit_code == 0
    with Store.open(path) as store:
        return find_trouble(store, parse(""))


@pytest.fixture(scope="module")
def lines(found: LabelProblems) -> Lines:
    def of(*names: str) -> set[int]:
        return {
            WRONG[row.line - 1]
            for result in found.results
            if result.check.name in names
            for hit in result.hits
            for place in hit.places
            for row in place.rows
        }

    return of


def test_every_cut_anchor_is_found(lines: Lines) -> None:
    assert lines("number-beside") >= CUT


def test_odd_heads_are_found(lines: Lines) -> None:
    assert lines("head-pronoun") >= PRONOUN
    assert lines("head-sign") >= SIGN


def test_pairs_with_a_noun_behind_are_found(lines: Lines) -> None:
    assert lines("pair-noun") >= PAIR


def test_numbers_with_their_own_noun_are_found(lines: Lines) -> None:
    assert lines("noun-near", "noun-after", "one-and-only") >= OWN_NOUN


def test_mangled_numbers_are_found(lines: Lines) -> None:
    assert lines("mangled-digits") >= MANGLED


def test_mentions_left_out_are_found(lines: Lines) -> None:
    assert lines("unmarked-mention") >= LEFT_OUT


def test_nothing_was_skipped(found: LabelProblems) -> None:
    assert found.tagger is not None
    assert not any(result.skipped for result in found.results)
