"""Labelled numbers as examples of resolution: the same out of a file and out of the store."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.registry import GOLD, recognise
from nfh_db.query import Query, parse
from nfh_db.records import Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, Sort, class_answer
from nfh_tui.services.examples import (
    BROKEN,
    NO_GOLD,
    NO_HEAD,
    NOT_NFH,
    SAW_MODEL,
    ResolutionExamples,
    resolution_gold,
)
from nfh_tui.services.imports import ImportOptions, export_file, import_file

from .handmade import DEV

Write = Callable[..., Path]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty database."""
    with Store.open(tmp_path / "x.db", create=True) as opened:
        yield opened


def load(store: Store, path: Path, annotator: str | None = None) -> None:
    source = Source(path)
    import_file(store, source, recognise(source)[0], ImportOptions(annotator=annotator))


def shape(examples: ResolutionExamples) -> list[tuple[str, int, Answer]]:
    return [(one.group, one.item.anchor.start, one.gold) for one in examples]


def test_rows_of_the_release(write: Write) -> None:
    found = ResolutionExamples.of_file(write(DEV))
    some = list(found)
    assert (found.format, found.left_out, found.unknown) == ("nfh", {}, 0)
    assert [one.gold.kind for one in some[:5]] == [Kind.REFERENCE] * 4 + [Kind.AGE]
    assert [one.where for one in some] == [f"line {n}" for n in range(1, len(DEV) + 1)]
    # Two nouns are two heads, two mentions of one noun are one.
    assert [len(one.gold.heads) for one in some[:4]] == [1, 1, 2, 1]
    assert some[3].gold.head_tokens() == (0, 2)
    assert {one.group for one in some} == {one.item.passage.digest for one in some}
    assert shape(found) == shape(found)


def test_the_store_gives_what_the_file_gave(write: Write, store: Store) -> None:
    path = write(DEV)
    load(store, path)
    found = ResolutionExamples.of_store(store)
    by_span = sorted(shape(found), key=lambda one: one[:2])
    assert by_span == sorted(shape(ResolutionExamples.of_file(path)), key=lambda one: one[:2])
    only = ResolutionExamples.of_store(store, parse("class:AGE"))
    assert [one.gold.kind for one in only] == [Kind.AGE]
    assert [*ResolutionExamples.of_store(store, split="test")] == []


def test_gold_that_names_no_head_is_left_out_and_unknown_is_other(
    write: Write, store: Store, tmp_path: Path
) -> None:
    kinds = (Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN, Kind.NFH, None, Kind.AGE)
    load(store, write([(f"Ann: Row {n} has [four] .", "TIME") for n in range(6)]), "ben")
    eva = store.people.ensure("eva")
    for number, kind in enumerate(kinds, 1):
        if kind is not None:
            store.edits.commit_answer(number, eva, Role.ADJUDICATOR, class_answer(kind))
    found = ResolutionExamples.of_store(store)
    assert [one.gold.kind for one in found] == [Kind.OTHER, Kind.AGE]
    assert found.left_out == {NOT_NFH: 1, BROKEN: 1, NO_HEAD: 1, NO_GOLD: 1}
    assert found.unknown == 1
    export_file(store, Query(), GOLD, tmp_path / "gold.jsonl")
    again = ResolutionExamples.of_file(tmp_path / "gold.jsonl")
    assert shape(again) == shape(found)
    assert (again.left_out, again.unknown) == (found.left_out, 1)


def test_gold_as_resolution_counts_it() -> None:
    guess = class_answer(Kind.UNKNOWN, noun="guests")
    assert resolution_gold(guess) == class_answer(Kind.OTHER, noun="guests")
    code = class_answer(Kind.OTHER, Sort.CODE)
    assert resolution_gold(code) is code
    for kind in (Kind.NOT_NFH, Kind.BROKEN, Kind.NFH):
        assert resolution_gold(class_answer(kind)) is None


def test_gold_that_saw_a_model_is_marked_and_left_out_on_request(
    write: Write, store: Store
) -> None:
    load(store, write(DEV[4:7]))
    eva = store.people.ensure("eva")
    seen = Exposure(saw_model=True, in_sheet=True)
    store.edits.commit_answer(2, eva, Role.ADJUDICATOR, class_answer(Kind.TIME), seen)
    examples = ResolutionExamples.of_store(store)
    found = {one.where: one.saw_model for one in examples}
    assert found == {"anchor 1": False, "anchor 2": True, "anchor 3": False}
    assert examples.in_sheet == 1
    blind = ResolutionExamples.of_store(store, blind=True)
    assert [one.where for one in blind] == ["anchor 1", "anchor 3"]
    assert blind.left_out == {SAW_MODEL: 1}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("talk.txt", "Ann: I saw two.\n", "has no labels"),
        ("rows.tsv", "text\tind_s\tind_e\ty\nOnly_SEP_two\t1\t2\t1\n", "not which one"),
        ("bad.jsonl", json.dumps({"tokens": ["a"]}) + "\n", "line 1"),
    ],
)
def test_files_that_name_no_head_are_refused(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(FormatError, match=said):
        list(ResolutionExamples.of_file(path))


def test_real_rows(data_dir: Path) -> None:
    found = list(ResolutionExamples.of_file(data_dir / "resolution" / "nfh_dev.jsonl"))
    assert len(found) == 1_000
    assert sum(one.gold.kind is Kind.REFERENCE for one in found) == 464
