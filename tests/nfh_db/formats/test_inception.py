"""Our documents in INCEpTION's form: read by dkpro-cassis, changed there, and read back."""

import json
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import cassis
import pytest

from nfh_db.formats.rows import LabelMap, Writing
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_models.domain import Answer, Kind, Relation
from nfh_tui.services.imports import ImportOptions
from tests.nfh_db.formats.hostile import ADJUDICATOR, at, one, passage, record, refer, vote
from tests.nfh_db.formats.round_trip import Trip, hostile_corpus, hostile_records, round_trip

NUMBER, HEAD = "webanno.custom.NFH", "webanno.custom.NFHHead"
NAMES = ("inception-json", "inception-xmi")


def trip(
    records: list[ExportRecord], name: str, folder: Path, edit: object = None, **more: object
) -> Trip:
    folder.mkdir(exist_ok=True)
    given = hostile_corpus(folder / "in.jsonl", records)
    return round_trip(given, name, folder, edit=edit, **more)  # type: ignore[arg-type]


def small() -> ExportRecord:
    """A number that two people answered, after a character of two UTF-16 units."""
    given = passage([("Ann", "😀 Two cups of tea?"), ("Ben", "No, three.")])
    cups, tea = one(*at(given, "cups")), one(*at(given, "tea"))
    answer = refer((cups,), comment="sure")
    votes = [vote("ann", answer, seconds=2.5), vote("eva", refer((tea,)))]
    gold = Gold(answer, Rule.EXPERT, ADJUDICATOR, votes[0].answered_at)
    return record(given, at(given, "three"), gold, votes, split="dev")


def documents(path: Path) -> Iterator[tuple[str, cassis.Cas]]:
    """All documents of a folder, loaded by the library."""
    types = path / "TypeSystem.xml"
    system = cassis.load_typesystem(types.read_bytes().decode()) if types.exists() else None
    for file in sorted(filter(Path.is_file, path.rglob("*"))):
        name = file.relative_to(path).as_posix()
        if file.suffix == ".json":
            yield name, cassis.load_cas_from_json(file.read_text("utf-8"))
        elif file.suffix == ".xmi":
            yield name, cassis.load_cas_from_xmi(BytesIO(file.read_bytes()), system)


@pytest.mark.parametrize("name", NAMES)
def test_the_library_reads_what_is_marked(name: str, tmp_path: Path) -> None:
    path = trip([small()], name, tmp_path).path
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dict(documents(path))
    names = [one.rpartition("/")[2].rpartition(".")[0] for one in found]
    assert names[:-1] == ["INITIAL_CAS", "ann", "eva", "CURATION_USER"]
    assert list(found)[-1] == f"source/{next(iter(found)).split('/')[1]}"
    for document in found.values():
        (number,) = document.select(NUMBER)
        assert number.get_covered_text() == "three"
        turns = document.select("webanno.custom.NFHTurn")
        assert [turn.speaker for turn in turns] == ["Ann", "Ben"]
        lines = [sentence.get_covered_text() for sentence in document.select("Sentence")]
        assert "\n".join(lines) == document.sofa_string
        words = [token.get_covered_text() for token in document.select("Token")]
        assert words[-9:] == ["Two", "cups", "of", "tea", "?", "No", ",", "three", "."]
    ann, gold = (next(d for n, d in found.items() if who in n) for who in ("/ann.", "CURATION"))
    for document in (ann, gold):
        (number,) = document.select(NUMBER)
        assert (number.kind, number.comment) == ("REFERENCE", "sure")
        (link,) = number.heads.elements
        assert (link.role, link.target.get_covered_text()) == ("HEAD", "cups")
    initial = next(d for n, d in found.items() if "INITIAL" in n)
    assert initial.select(NUMBER)[0].kind is None


@pytest.mark.parametrize("name", NAMES)
def test_what_the_library_writes_is_read(name: str, tmp_path: Path) -> None:
    """All documents, with all that is hostile, go through the library's own writer."""

    def rewrite(path: Path) -> None:
        for member, document in list(documents(path)):
            if member.endswith(".json"):
                (path / member).write_text(document.to_json(), "utf-8")
            else:
                (path / member).write_text(document.to_xmi(pretty_print=True), "utf-8")

    made = trip(hostile_records(), name, tmp_path, rewrite)
    made.check()
    assert not made.imported.warnings


@pytest.mark.parametrize("name", NAMES)
def test_what_is_changed_there_wins(name: str, tmp_path: Path) -> None:
    """Ann's noun is taken away and the class set; a second noun is added to Eva's."""

    def change(path: Path) -> None:
        for member, document in list(documents(path)):
            (number,) = document.select(NUMBER)
            if "/ann." in member:
                number.kind, number.heads = "AGE", None
            elif "/eva." in member:
                begin = document.sofa_string.index("cups")
                head = document.typesystem.get_type(HEAD)(begin=begin, end=begin + 4)
                document.add(head)
                link = document.typesystem.get_type(f"{NUMBER}HeadsLink")
                number.heads.elements.append(link(role="HEAD", target=head))
                number.relation = "OR"
            text = document.to_json() if name == NAMES[0] else document.to_xmi()
            (path / member).write_text(text, "utf-8")

    made = trip([small()], name, tmp_path, change)
    assert "2 answers changed since they were exported" in made.imported.warnings[-1]
    after = json.loads(made.after[0])
    ann, eva = after["votes"]
    assert (ann["kind"], ann["heads"], ann["seconds"]) == ("AGE", [], 2.5)
    assert (eva["relation"], len(eva["heads"])) == ("OR", 2)
    before = json.loads(made.before[0])
    for key in ("kind", "heads", "rule", "adjudicator", "decided_at", "split", "comment"):
        assert after[key] == before[key]


def test_a_number_that_is_moved_is_another_one(tmp_path: Path) -> None:
    def move(path: Path) -> None:
        for member, document in list(documents(path)):
            (number,) = document.select(NUMBER)
            number.begin = document.sofa_string.index("Two")
            number.end = number.begin + 3
            (path / member).write_text(document.to_json(), "utf-8")

    made = trip([small()], NAMES[0], tmp_path, move)
    (line,) = map(json.loads, made.after)
    assert [line["tokens"][at] for at in line["anchors_indices"]] == ["Two"]
    assert [vote["annotator"] for vote in line["votes"]] == ["ann", "eva"]
    assert (line["kind"], line["rule"]) == ("REFERENCE", "imported")


def test_what_xml_cannot_hold_keeps_its_place(tmp_path: Path) -> None:
    given = passage([("A\x01", "a\x00\x1b[1m\ufffe😀 cups"), (None, "three\x08 \uffff")])
    answer = Answer(Kind.OTHER, noun="\x02n", comment="\ufffe\r\n\tc\x03")
    votes = [vote("ann", answer), vote("eva", refer((one(*at(given, "cups")),)))]
    number = record(given, at(given, "three"), Gold(answer, Rule.IMPORTED), votes)
    made = trip([number], "inception-xmi", tmp_path)
    made.check()
    assert not made.imported.warnings
    for _, document in documents(made.path):
        assert (
            document.sofa_string == "A\ufffd: a\ufffd\ufffd[1m\ufffd😀 cups\nthree\ufffd \ufffd"
        )
    trip([number], "inception-json", tmp_path / "json").check()


def test_a_zip_in_the_project_for_each_document(tmp_path: Path) -> None:
    """As XMI comes from a project's export: NAME.zip with the document and its types."""

    def pack(path: Path) -> None:
        types = (path / "TypeSystem.xml").read_bytes()
        for file in list(filter(Path.is_file, path.rglob("*.xmi"))):
            with zipfile.ZipFile(file.with_suffix(".zip"), "w") as packed:
                packed.writestr(file.name, file.read_bytes())
                packed.writestr("TypeSystem.xml", types)
            file.unlink()
        (path / "TypeSystem.xml").unlink()
        (path / "exportedproject.json").write_text("{}")
        (path / "source" / "x.json").write_text("[]")

    made = trip([small()], "inception-xmi", tmp_path, pack)
    made.check()
    assert made.recognised == "inception-xmi"


def test_names_that_file_systems_do_not_take(tmp_path: Path) -> None:
    names = [
        "INITIAL_CAS",
        "..",
        ".hidden",
        "a/b\\c",
        "100%",
        "Ünder %41",
        "😀" * 100,
        "x" * 100,
    ]
    base = small()
    votes = [vote(name, Answer(Kind.AGE)) for name in sorted(names)]
    made = trip([replace(base, votes=tuple(votes), gold=None)], "inception-json", tmp_path)
    made.check()


def test_a_projects_own_names_go_out_and_come_back(tmp_path: Path) -> None:
    labels = LabelMap(
        {"Bezug": "REFERENCE", "Zahlwort": "OTHER_NUMBER"},
        {"meint": "HEAD", "dasselbe": "SAME", "oder": "OR"},
        {"number": "custom.Zahl", "kind": "klasse", "heads": "bezug", "head": "custom.Nomen"},
    )
    made = trip(
        hostile_records(),
        "inception-json",
        tmp_path,
        writing=Writing(labels=labels),
        options=ImportOptions(labels=labels),
    )
    made.check()
    found = [one.klasse for _, d in documents(made.path) for one in d.select("custom.Zahl")]
    assert "Bezug" in found
    assert "REFERENCE" not in found


def test_relations_and_nouns_are_drawn(tmp_path: Path) -> None:
    """Two nouns, one of them at two places: SAME leads to the first, the relation is said."""
    given = passage([("Ann", "a cup, cups or tea"), ("Ben", "three")])
    cup, cups, tea = (one(*at(given, word)) for word in ("cup", "cups", "tea"))
    answer = refer((cup, cups), (tea,), relation=Relation.OR)
    number = record(given, at(given, "three"), Gold(answer, Rule.IMPORTED))
    made = trip([number], "inception-json", tmp_path)
    document = next(d for n, d in documents(made.path) if "CURATION" in n)
    (marked,) = document.select(NUMBER)
    targets = [link.target for link in marked.heads.elements]
    assert [one.get_covered_text() for one in targets] == ["cup", "cups", "tea"]
    assert marked.relation == "OR"
    (same,) = targets[1].same.elements
    assert same.target is targets[0]
    assert targets[0].same is None
    assert targets[2].same is None
