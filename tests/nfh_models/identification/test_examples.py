"""Labelled numbers out of files and out of the store: the same ones, and none made up."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.amt import HEADER as AMT_HEADER
from nfh_db.formats.files import Source
from nfh_db.formats.registry import AMT, GOLD, NFH, recognise
from nfh_db.query import Query, parse
from nfh_db.records import Exposure, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_tui.services.examples import (
    BROKEN,
    NO_GOLD,
    SAW_MODEL,
    Examples,
)
from nfh_tui.services.imports import ImportOptions, export_file, import_file

HEADER = "text\tind_s\tind_e\ty"
ROWS = (
    "Take_SEP_the_SEP_blue_SEP_one_SEP_.\t3\t4\t1",
    "Two_SEP_trains_SEP_left_SEP_.\t0\t1\t0",
    "Take_SEP_the_SEP_blue_SEP_one_SEP_.\t1\t2\t0",
    "I_SEP_saw_SEP_it_SEP_.\t1\t2\t0",
)

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes lines to a file of the test's folder."""

    def write_(name: str, *lines: str) -> Path:
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write_


def shape(examples: Examples) -> list[tuple[list[str], int, int, bool, str]]:
    return [
        (list(one.case.word_span.words), one.case.start, one.case.end, one.nfh, one.group)
        for one in examples
    ]


def test_rows_of_the_identification_files(write: Write) -> None:
    found = Examples.of_file(write("rows.tsv", HEADER, *ROWS))
    some = list(found)
    assert [one.nfh for one in some] == [True, False, False, False]
    assert [one.where for one in some] == ["line 2", "line 3", "line 4", "line 5"]
    assert some[0].case.word_span.words == ["Take", "the", "blue", "one", "."]
    assert (some[0].case.start, some[0].case.end) == (3, 4)
    assert all(one.case.parsed is None for one in some)
    # Two rows of one sentence are never on both sides of a split.
    assert some[0].group == some[2].group
    assert len({one.group for one in some}) == 3
    assert found.format == "nfh-ident"


def test_labels_at_no_number_are_kept_and_counted(write: Write) -> None:
    found = Examples.of_file(write("rows.tsv", HEADER, *ROWS))
    assert len(list(found)) == 4
    assert found.no_number == 2
    # Gone through again, nothing is counted twice.
    assert len(list(found)) == 4
    assert found.no_number == 2


@pytest.mark.parametrize("row", ["Only_SEP_two_SEP_.\t1\t9\t1", "Only_SEP_two_SEP_.\t7\t8\t1"])
def test_offsets_past_the_end_refuse_the_file(write: Write, row: str) -> None:
    found = Examples.of_file(write("rows.tsv", HEADER, ROWS[0], row))
    with pytest.raises(FormatError, match=r"line 3.*ind_[se].*wanted"):
        list(found)


def test_anchors_of_the_resolution_files_are_all_nfhs(write: Write) -> None:
    age = json.loads(NFH.example) | {"head": ["AGE"]}
    found = Examples.of_file(write("rows.jsonl", NFH.example, json.dumps(age)))
    some = list(found)
    assert [one.nfh for one in some] == [True, True]
    # The anchor's own sentence, and no other of its turns.
    assert list(some[0].case.word_span.words) == ["No", ",", "three", "."]


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("talk.txt", ("Ann: I saw two.", "Ben: Only one?"), "has no labels"),
        (
            "batch.csv",
            (AMT_HEADER, AMT.example),
            "people's answers and not gold",
        ),
    ],
)
def test_files_without_gold_are_refused(
    write: Write, name: str, lines: tuple[str, ...], said: str
) -> None:
    path = write(name, *lines)
    format_, _ = recognise(Source(path))
    assert format_.name in ("dialog", "amt")
    with pytest.raises(FormatError, match=said):
        Examples.of_file(path)


# --- the store ------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty database."""
    with Store.open(tmp_path / "x.db", create=True) as opened:
        yield opened


def load(store: Store, path: Path, annotator: str | None = None) -> None:
    source = Source(path)
    import_file(store, source, recognise(source)[0], ImportOptions(annotator=annotator))


def test_the_store_gives_what_the_file_gave(write: Write, store: Store) -> None:
    path = write("dev.tsv", HEADER, *ROWS)
    load(store, path)
    found = Examples.of_store(store)
    assert sorted(shape(found)) == sorted(shape(Examples.of_file(path)))
    assert found.no_number == 2
    assert shape(found) == shape(Examples.of_store(store))
    assert all(one.where.startswith("anchor ") for one in found)


def test_numbers_of_one_sentence_share_its_words(write: Write, store: Store) -> None:
    load(store, write("dev.tsv", HEADER, *ROWS))
    same = [one for one in Examples.of_store(store) if len(one.case.word_span.words) == 5]
    assert len(same) == 2
    assert same[0].case.word_span is same[1].case.word_span


def test_query_and_split_narrow_the_store(write: Write, store: Store) -> None:
    load(store, write("dev.tsv", HEADER, ROWS[0]))
    load(store, write("train.tsv", HEADER, ROWS[1]))
    everything = shape(Examples.of_store(store))
    assert len(everything) == 2
    assert [one[0][0] for one in shape(Examples.of_store(store, split="dev"))] == ["Take"]
    assert [one[0][0] for one in shape(Examples.of_store(store, parse("anchor:two")))] == [
        "Two"
    ]
    assert shape(Examples.of_store(store, parse("anchor:two"), "dev")) == []


def test_gold_that_says_neither_yes_nor_no_is_left_out(
    write: Write, store: Store, tmp_path: Path
) -> None:
    kinds = (Kind.AGE, Kind.NOT_NFH, Kind.BROKEN, None, Kind.UNKNOWN)
    rows = [f"It_SEP_is{n}_SEP_seven_SEP_.\t2\t3\t1" for n in range(len(kinds))]
    load(store, write("rows.tsv", HEADER, *rows), annotator="ann")
    me = store.people.ensure("eva")
    for number, kind in enumerate(kinds, 1):
        if kind is not None:
            store.edits.commit_answer(number, me, Role.ADJUDICATOR, class_answer(kind))
    found = Examples.of_store(store)
    assert [one.nfh for one in found] == [True, False, True]
    assert found.left_out == {BROKEN: 1, NO_GOLD: 1}

    # The same out of the file that holds everything, with the votes beside the gold.
    export_file(store, Query(), GOLD, tmp_path / "gold.jsonl")
    again = Examples.of_file(tmp_path / "gold.jsonl")
    assert shape(again) == shape(found)
    assert again.left_out == found.left_out


def test_gold_that_saw_a_model_is_marked_and_left_out_on_request(
    write: Write, store: Store, tmp_path: Path
) -> None:
    load(store, write("rows.tsv", HEADER, *ROWS))
    eva, max_ = store.people.ensure("eva"), store.people.ensure("max")
    nfh, other = class_answer(Kind.AGE), class_answer(Kind.NOT_NFH)
    store.edits.commit_answer(1, eva, Role.ADJUDICATOR, nfh, Exposure(saw_model=True))
    store.edits.commit_answer(2, eva, Role.ADJUDICATOR, other)
    # Somebody's vote that the gold was not made of.
    store.edits.commit_answer(2, max_, Role.ANNOTATOR, nfh, Exposure(saw_model=True))
    found = {one.where: one.saw_model for one in Examples.of_store(store)}
    assert found == {f"anchor {n}": n == 1 for n in range(1, 5)}
    blind = Examples.of_store(store, blind=True)
    assert {one.where for one in blind} == {"anchor 2", "anchor 3", "anchor 4"}
    assert blind.left_out == {SAW_MODEL: 1}
    export_file(store, Query(), GOLD, tmp_path / "gold.jsonl")
    assert sum(one.saw_model for one in Examples.of_file(tmp_path / "gold.jsonl")) == 1


def test_settled_gold_saw_what_its_votes_saw(write: Write, store: Store) -> None:
    load(store, write("rows.tsv", HEADER, *ROWS[:2]), annotator="old")
    for name in ("ann", "ben"):
        me = store.people.ensure(name)
        for anchor_id, kind in ((1, Kind.AGE), (2, Kind.NOT_NFH)):
            seen = Exposure(saw_model=anchor_id == 1 and name == "ben")
            store.edits.commit_answer(anchor_id, me, Role.ANNOTATOR, class_answer(kind), seen)
    store.settlement.run(parse("id:2"), Rule.UNANIMOUS, me)
    store.settlement.run(parse("id:1"), Rule.MAJORITY, me)
    assert [one.saw_model for one in Examples.of_store(store)] == [True, False]


@pytest.mark.long
def test_real_rows(data_dir: Path) -> None:
    found = Examples.of_file(data_dir / "identification" / "dev.tsv")
    some = list(found)
    assert len(some) == 18_401
    assert sum(one.nfh for one in some) == 7_865
    assert not found.left_out
    assert 20 <= found.no_number <= 30
