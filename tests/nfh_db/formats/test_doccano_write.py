"""Lines and folders of doccano as they are written, and what comes back of them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.registry import by_name
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import export_file
from tests.nfh_db.formats.round_trip import (
    Trip,
    gold_lines,
    hostile_corpus,
    imported,
    round_trip,
)

Line = dict[str, Any]
SUFFIXES = [".jsonl", "", ".zip"]
SOME = 40
"""Numbers of the sample corpus that are enough here."""


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("sample")
    lines = corpus_path().read_bytes().split(b"\n")[:SOME]
    (folder / "some.jsonl").write_bytes(b"\n".join(lines))
    with Store.open(folder / "x.db", create=True) as store:
        imported(store, folder / "some.jsonl", "gold")
        yield store


def lines_of(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def gold_of(lines: Any) -> dict[str, Line]:
    return {line["id"]: line for line in map(json.loads, lines)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_all_comes_back_of_a_file_a_folder_and_a_zip(tmp_path: Path, suffix: str) -> None:
    corpus = hostile_corpus(tmp_path / "in.jsonl")
    trip = round_trip(corpus, "doccano", tmp_path / "trip", suffix=suffix)
    trip.check()
    assert trip.recognised == "doccano"
    assert not trip.imported.conflicts
    assert not trip.imported.warnings


def test_entities_are_what_doccano_imports(tmp_path: Path) -> None:
    """Its importer wants a label and both offsets of each, and relations between their ids;
    its editor cuts the text by UTF-16 units.
    """
    trip = round_trip(
        hostile_corpus(tmp_path / "in.jsonl"), "doccano", tmp_path / "trip", suffix=".jsonl"
    )
    before = gold_of(trip.before)
    seen: set[int] = set()
    wide = 0
    for line in lines_of(trip.path):
        raw = line["text"].encode("utf-16-le")
        ids = [entity["id"] for entity in line["entities"]]
        assert len(set(ids)) == len(ids)
        assert not seen & set(ids)
        seen |= set(ids)
        item = line["nfh"]
        number = line["entities"][0]
        start, end = number["start_offset"], number["end_offset"]
        cut = raw[2 * start : 2 * end].decode("utf-16-le")
        first, stop = item["anchor"]
        offsets = before[item["id"]]["offsets"]
        assert cut == line["text"][offsets[first][0] : offsets[stop - 1][1]]
        wide += len(raw) // 2 != len(line["text"])
        for link in line["relations"]:
            assert {link["from_id"], link["to_id"]} <= set(ids)
    assert wide


def test_a_folder_has_a_file_for_each_annotator(tmp_path: Path, sample: Store) -> None:
    trip = round_trip(sample, "doccano", tmp_path, suffix="")
    answers: dict[str, int] = {}
    for line in map(json.loads, trip.before):
        for who in [vote["annotator"] for vote in line["votes"]]:
            answers[who] = answers.get(who, 0) + 1
    assert {path.stem: len(lines_of(path)) for path in trip.path.iterdir()} == {
        "all": len(trip.before),
        **answers,
    }


def test_a_file_of_a_folder_says_itself_whose_it_is(tmp_path: Path, sample: Store) -> None:
    trip = round_trip(sample, "doccano", tmp_path / "trip", suffix="")
    with Store.open(tmp_path / "one.db", create=True) as store:
        report = imported(store, trip.path / "ann1.jsonl")
        lines = [json.loads(line) for line in gold_lines(store, tmp_path / "one.jsonl")]
    assert report.gold_new == 0
    assert {vote["annotator"] for line in lines for vote in line["votes"]} == {"ann1"}


def _in(name: str, change: Callable[[Line], bool]) -> Callable[[Path], None]:
    """Changes the first line of a file that `change` says True of; fails for none."""

    def run(path: Path) -> None:
        file = path / name if path.is_dir() else path
        lines = lines_of(file)
        assert any(map(change, lines))
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    return run


def _class(line: Line) -> bool:
    if line["entities"][0]["label"] != "AGE":
        return False
    line["entities"][0]["label"] = "TIME"
    return True


def _changed(trip: Trip) -> tuple[Line, Line]:
    before, after = gold_of(trip.before), gold_of(trip.after)
    (id_,) = [id_ for id_ in before if before[id_] != after[id_]]
    return before[id_], after[id_]


def test_a_class_that_is_changed_there_is_the_answer(tmp_path: Path, sample: Store) -> None:
    old, new = _changed(
        round_trip(sample, "doccano", tmp_path, suffix="", edit=_in("ann1.jsonl", _class))
    )
    pairs = [(o, n) for o, n in zip(old["votes"], new["votes"], strict=True) if o != n]
    ((one, other),) = pairs
    assert (one["annotator"], one["kind"], other["kind"]) == ("ann1", "AGE", "TIME")
    assert (one["seconds"], one["noun"]) == (other["seconds"], other["noun"])
    assert old["kind"] == new["kind"]


def test_gold_that_is_changed_there_is_imported(tmp_path: Path, sample: Store) -> None:
    old, new = _changed(
        round_trip(sample, "doccano", tmp_path, suffix=".jsonl", edit=_in("", _class))
    )
    assert (old["kind"], new["kind"], new["rule"]) == ("AGE", "TIME", "imported")
    # Everybody's answers stand in the file beside the gold.
    assert old["votes"] == new["votes"]
    assert len(new["votes"]) > 1


def test_a_comment_there_is_the_comment(tmp_path: Path, sample: Store) -> None:
    def edit(path: Path) -> None:
        lines = lines_of(path)
        line = next(line for line in lines if line["entities"][0]["label"] == "AGE")
        line["Comments"] = ["seen again"]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    _, new = _changed(round_trip(sample, "doccano", tmp_path, suffix=".jsonl", edit=edit))
    assert new["comment"] == "seen again"


def test_answers_beside_a_head_that_parts_a_word_stay_where_they_are(
    tmp_path: Path, sample: Store
) -> None:
    def part(line: Line) -> bool:
        heads = [one for one in line["entities"] if one["label"] == "HEAD"]
        if len(heads) != 1 or heads[0]["end_offset"] - heads[0]["start_offset"] < 4:
            return False
        heads[0]["end_offset"] -= 1
        return not done.append(line["nfh"]["id"])

    def edit(path: Path) -> None:
        lines = lines_of(path)
        assert any(map(part, lines))
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    done: list[str] = []
    trip = round_trip(sample, "doccano", tmp_path, suffix=".jsonl", edit=edit)
    old = gold_of(trip.before)[done[0]]
    kept = gold_of(trip.before).keys()
    (new,) = [line for id_, line in gold_of(trip.after).items() if id_ not in kept]
    assert len(new["tokens"]) == len(old["tokens"]) + 1
    assert [_marked(old, vote) for vote in old["votes"]] == [
        _marked(new, v) for v in new["votes"]
    ]
    assert _marked(old, old) != _marked(new, new)
    assert trip.imported.warnings == (
        "1 token cut in two, since a mark begins or ends inside it",
    )


def _marked(line: Line, answer: Line) -> list[str]:
    return [
        line["text"][line["offsets"][m["start"]][0] : line["offsets"][m["end"] - 1][1]]
        for head in answer["heads"]
        for m in head["mentions"]
    ]


def test_a_text_that_was_changed_is_refused(tmp_path: Path, sample: Store) -> None:
    def longer(line: Line) -> bool:
        line["text"] = "Oh. " + line["text"]
        return True

    with pytest.raises(FormatError, match=r'line 1: key "nfh\.id": found .*text was changed'):
        round_trip(sample, "doccano", tmp_path, suffix=".jsonl", edit=_in("", longer))


def test_metadata_goes_back(tmp_path: Path) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text(
        '{"id":5,"text":"No, three.","label":[[4,9,"AGE"]],"shelf":[1,2.50],"Comments":[]}\n'
    )
    with Store.open(tmp_path / "x.db", create=True) as store:
        imported(store, given)
        export_file(store, parse(""), by_name("doccano"), out)
    (line,) = out.read_bytes().splitlines()
    assert b'"shelf":[1,2.50]' in line
    assert "id" not in json.loads(line)
