"""brat projects: what is written, read back by its own rules and by this package."""

import json
from collections.abc import Callable
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.brat import BratWriter
from nfh_db.formats.rows import LabelMap, Writing
from nfh_db.records import FlagMark, FlagName, Gold, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions
from tests.nfh_db.formats.brat_rules import problems
from tests.nfh_db.formats.hostile import at, one, passage, record, refer, settled, vote
from tests.nfh_db.formats.round_trip import (
    gold_lines,
    hostile_corpus,
    hostile_records,
    imported,
    round_trip,
)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile corpus as a project."""
    folder = tmp_path_factory.mktemp("brat") / "project"
    for name, content in BratWriter().members(hostile_records()):
        member = folder / name
        member.parent.mkdir(parents=True, exist_ok=True)
        member.write_bytes(content)
    return folder


@pytest.mark.parametrize("suffix", ["", ".zip"])
def test_hostile_answers_come_back_as_they_were(tmp_path: Path, suffix: str) -> None:
    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), "brat", tmp_path, suffix=suffix)
    trip.check()
    assert trip.recognised == "brat"
    assert not trip.imported.warnings
    assert not trip.lost


def test_the_sample_comes_back_as_it_was(tmp_path: Path) -> None:
    round_trip(corpus_path(), "brat", tmp_path).check()


def test_every_document_holds_by_the_rules_of_brat(project: Path) -> None:
    conf = (project / "annotation.conf").read_text("utf-8")
    documents = sorted(project.rglob("*.ann"))
    assert len(documents) > 40
    for ann in documents:
        text = ann.with_suffix(".txt").read_bytes()
        assert problems(text, ann.read_bytes(), conf) == [], ann


def test_the_rules_tell_what_is_wrong() -> None:
    conf = BratWriter()
    (_, written), *_ = conf.members([])
    rules = written.decode()
    for text, ann in (
        (b"two", b"T1\tAGE 0 2\ttwo\n"),
        (b"two\r\n", b""),
        (b"two", b"T1\tNUM 0 3\ttwo\n"),
        (b"a\nb", b"T1\tAGE 0 3\ta b\n"),
        (b"two", b"T1\tAGE 0 3\ttwo\nT1\tAGE 0 3\ttwo\n"),
        (b"two", b"T1\tAGE 0 3\ttwo\nR1\tHEAD Arg1:T1 Arg2:T2\n"),
        (b"two", b"T1\tAGE 0 3;1 2\ttwo w\n"),
    ):
        assert problems(text, ann, rules), (text, ann)


def test_spans_are_cut_at_line_ends(tmp_path: Path) -> None:
    given = passage([("Ann", "two red "), ("Ben", " tickets, thirty"), ("Ben", "one")])
    heads = refer((one(1, 3),))
    thirty_one = (given.turns[1].end - 1, given.turns[2].end)
    corpus = hostile_corpus(
        tmp_path / "in.jsonl", [record(given, thirty_one, Gold(heads, Rule.IMPORTED))]
    )
    trip = round_trip(corpus, "brat", tmp_path)
    trip.check()
    ann = trip.path / "gold/0000001.ann"
    assert ann.read_text().startswith(
        "T1\tREFERENCE 29 35;36 44\tthirty Ben: one\nT2\tHEAD 9 12;14 27\tred Ben:  tickets\n"
    )
    conf = (trip.path / "annotation.conf").read_text()
    assert problems(ann.with_suffix(".txt").read_bytes(), ann.read_bytes(), conf) == []


def test_nobodys_folder_is_called_like_golds(project: Path) -> None:
    names = {path.name for path in project.iterdir()}
    assert {"gold", "gold-2", "Eva_Ö", "Eva_Ö-adjudicator", "only_flags"} <= names


def test_types_of_brat_hold_no_white_space() -> None:
    with pytest.raises(ExportError, match='brat has no type "a number"'):
        BratWriter(Writing(labels=LabelMap({"a number": "ANCHOR"})))


# --- what somebody changed in brat ----------------------------------------------------------

Edit = Callable[[str], str]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """One passage with a gold and the answers of Eva and of Ben, as a database."""
    given = passage([("Ann", "Two red tickets"), ("Ben", "no, three")])
    answer = refer((one(1, 3),), comment="sure")
    votes = [vote(name, answer, seconds=4.5) for name in ("ben", "eva")]
    flags = [FlagMark(FlagName.AMBIGUOUS, "eva", "2025-01-31T12:00:00.000Z")]
    gold = settled(answer, votes, Rule.UNANIMOUS)
    records = [record(given, at(given, "three"), gold, votes, flags, "dev")]
    return hostile_corpus(tmp_path / "small.jsonl", records)


def _edited(small: Path, folder: Path, edit: Callable[[Path], None]) -> dict[str, object]:
    trip = round_trip(small, "brat", folder, edit=edit)
    (line,) = trip.after
    value: dict[str, object] = json.loads(line)
    value["warnings"] = list(trip.imported.warnings)
    return value


def _in(member: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(project: Path) -> None:
        path = project / member
        content = path.read_text("utf-8")
        assert old in content, content
        path.write_text(content.replace(old, new), "utf-8")

    return edit


def _votes(line: dict[str, object]) -> dict[str, dict[str, object]]:
    votes = line["votes"]
    assert isinstance(votes, list)
    return {vote["annotator"]: vote for vote in votes}


def test_a_class_that_was_changed_wins(small: Path, tmp_path: Path) -> None:
    def edit(project: Path) -> None:
        (project / "eva/0000001.ann").write_text("T1\tYEAR 30 35\tthree\n", "utf-8")

    line = _edited(small, tmp_path, edit)
    eva, ben = _votes(line)["eva"], _votes(line)["ben"]
    assert (eva["kind"], eva["heads"], eva["comment"]) == ("YEAR", [], "")
    assert eva["seconds"] == 4.5
    assert (ben["kind"], ben["comment"]) == ("REFERENCE", "sure")
    assert line["warnings"] == ["1 answer changed in brat since export"]
    assert line["flags"] == []
    assert line["rule"] == "unanimous"


def test_a_head_that_was_added_wins(small: Path, tmp_path: Path) -> None:
    more = "T3\tHEAD 5 8\tTwo\nR2\tHEAD Arg1:T1 Arg2:T3\nR3\tAND Arg1:T2 Arg2:T3\n"
    line = _edited(small, tmp_path, _in("gold/0000001.ann", "#1\t", f"{more}#1\t"))
    heads = line["heads"]
    assert isinstance(heads, list)
    assert [[m["head"] for m in head["mentions"]] for head in heads] == [[2], [0]]
    assert (line["relation"], line["rule"], line["comment"]) == ("AND", "imported", "sure")


def test_a_head_that_is_added_without_a_link_is_a_change(tmp_path: Path) -> None:
    given = passage([("Ann", "Two red tickets"), ("Ben", "no, three")])
    gold = Gold(Answer(Kind.NFH), Rule.IMPORTED)
    small = hostile_corpus(tmp_path / "in.jsonl", [record(given, at(given, "three"), gold)])
    line = _edited(
        small, tmp_path, _in("gold/0000001.ann", "three\n", "three\nT2\tHEAD 5 8\tTwo\n")
    )
    assert (line["kind"], line["head"]) == ("REFERENCE", [0])
    assert line["warnings"] == ["1 answer changed in brat since export"]


def test_a_head_that_was_moved_wins(small: Path, tmp_path: Path) -> None:
    line = _edited(
        small, tmp_path, _in("gold/0000001.ann", "9 20\tred tickets", "13 20\ttickets")
    )
    assert line["heads"] == [
        {"mentions": [{"start": 2, "end": 3, "head": 2, "origin": "marked"}]}
    ]


def test_a_mark_within_a_word_cuts_it_for_all(small: Path, tmp_path: Path) -> None:
    line = _edited(
        small, tmp_path, _in("gold/0000001.ann", "9 20\tred tickets", "13 19\tticket")
    )
    assert line["tokens"] == ["Two", "red", "ticket", "s", "no", ",", "three"]
    eva = _votes(line)["eva"]
    assert eva["heads"] == [
        {"mentions": [{"start": 1, "end": 4, "head": 3, "origin": "marked"}]}
    ]
    assert "1 token cut where a mark begins or ends" in line["warnings"]  # type: ignore[operator]


def test_notes_and_flags_are_read_as_they_stand(small: Path, tmp_path: Path) -> None:
    def edit(project: Path) -> None:
        _in("eva/0000001.ann", "sure", "not sure")(project)
        _in("eva/0000001.ann", "Ambiguous", "Guideline")(project)

    line = _edited(small, tmp_path, edit)
    assert _votes(line)["eva"]["comment"] == "not sure"
    flags = line["flags"]
    assert isinstance(flags, list)
    assert [(flag["name"], flag["annotator"]) for flag in flags] == [("guideline", "eva")]


def test_a_number_that_was_deleted_is_no_answer(small: Path, tmp_path: Path) -> None:
    def edit(project: Path) -> None:
        (project / "eva/0000001.ann").write_bytes(b"")

    line = _edited(small, tmp_path, edit)
    assert set(_votes(line)) == {"ben"}
    assert line["warnings"] == ["1 answer left out: their numbers are no longer marked"]


def test_a_copy_of_a_folder_is_somebody_elses(small: Path, tmp_path: Path) -> None:
    def edit(project: Path) -> None:
        copytree(project / "gold", project / "zoe")
        _in("zoe/0000001.ann", "sure", "quite")(project)

    line = _edited(small, tmp_path, edit)
    votes = _votes(line)
    assert set(votes) == {"ben", "eva", "zoe"}
    assert (votes["zoe"]["kind"], votes["zoe"]["comment"]) == ("REFERENCE", "quite")
    assert line["comment"] == "sure"
    assert line["rule"] == "unanimous"


def test_a_folder_by_itself_is_still_whose_it_was(small: Path, tmp_path: Path) -> None:
    trip = round_trip(small, "brat", tmp_path)
    with Store.open(tmp_path / "eva.db", create=True) as store:
        imported(store, trip.path / "eva", "brat")
        (line,) = gold_lines(store, tmp_path / "eva.jsonl")
    assert '"annotator":"eva"' in line
    assert '"kind":null' in line


def test_a_text_that_was_edited_is_refused(small: Path, tmp_path: Path) -> None:
    def edit(project: Path) -> None:
        rmtree(project / "eva")
        rmtree(project / "ben")
        _in("gold/0000001.txt", "no, three", "so, three")(project)

    with pytest.raises(FormatError, match=r"gold/0000001\.ann: .*changed since it was exp"):
        _edited(small, tmp_path, edit)


def test_a_projects_own_names_go_both_ways(small: Path, tmp_path: Path) -> None:
    names = LabelMap({"NUM": "REFERENCE", "NOUN": "HEAD"}, {"of": "HEAD"})
    trip = round_trip(
        small,
        "brat",
        tmp_path,
        writing=Writing(labels=names),
        options=ImportOptions(labels=names),
    )
    trip.check()
    written = (trip.path / "gold/0000001.ann").read_text("utf-8")
    assert written.startswith(
        "T1\tNUM 30 35\tthree\nT2\tNOUN 9 20\tred tickets\nR1\tof Arg1:T1"
    )
