"""Annotations as teams keep them: corpora cut into folders, links, parts that nobody opened."""

import json
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow
import pytest
import spacy
from pyarrow import parquet
from spacy.tokens import DocBin, Span

from nfh_db.errors import FormatError
from nfh_db.formats.files import SMALL, Folder
from nfh_db.formats.registry import by_name, reading
from nfh_db.formats.rows import GoldRow, LabelMap
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, PassageMaker
from tests.nfh_db.formats.cas_files import MAP, cas, lines_of, reference
from tests.nfh_db.formats.hostile import at, hostile_corpus, passage, record
from tests.nfh_db.formats.round_trip import Trip, imported, round_trip

TEXT = "I have two cats. You have three.\n"
ANN = "T1\tREFERENCE 26 31\tthree\nT2\tHEAD 11 15\tcats\nR1\tHEAD Arg1:T1 Arg2:T2\n"
PAIR = {"x.txt": TEXT, "x.ann": ANN}


def put(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder of files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def said(folder: Path, files: Mapping[str, str | bytes], name: str = "brat") -> str:
    """Why a folder of files is refused."""
    with pytest.raises(FormatError) as caught:
        lines_of(put(folder / "files", files), None, name)
    return str(caught.value)


# --- any folder -----------------------------------------------------------------------------


def test_a_link_to_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere", PAIR)
    folder = put(tmp_path / "project", {f"gold/{name}": it for name, it in PAIR.items()})
    (folder / "eva").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FormatError, match="eva: found a link to a folder"):
        Folder(folder)
    (folder / "eva").unlink()
    (folder / "gold" / "y.ann").symlink_to("nowhere")
    with pytest.raises(FormatError, match=r"gold/y\.ann: found a link that leads nowhere"):
        Folder(folder)
    (folder / "gold" / "y.ann").unlink()
    (folder / "gold" / "y.txt").symlink_to(tmp_path / "elsewhere" / "x.txt")
    (folder / ".git").symlink_to(tmp_path / "elsewhere")
    assert "gold/y.txt" in Folder(folder).names


def test_numbers_of_one_text_share_their_passage(tmp_path: Path) -> None:
    """A text with thousands of numbers is hashed once."""
    folder = put(
        tmp_path, {"x.txt": TEXT, "x.ann": "T1\tYEAR 26 31\tthree\nT2\tAGE 7 10\ttwo\n"}
    )
    source = Folder(folder)
    rows = list(by_name("brat").read(source, reading()))
    made = list(PassageMaker(source, None, None).passages(rows))
    assert len(made) == 2
    assert made[0].passage is made[1].passage


# --- brat -----------------------------------------------------------------------------------


def test_a_mention_in_a_text_without_a_number_is_refused(tmp_path: Path) -> None:
    found = said(tmp_path, {"x.txt": TEXT, "x.ann": "T1\tHEAD 11 15\tcats\n"})
    assert "x.ann: the span 11 to 15, HEAD, is linked to no number of 0" in found


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({**PAIR, "y.nfh.json": "{}"}, "y.nfh.json: has no text; wanted y.txt beside it"),
        ({**PAIR, "y.ANN": ANN}, "y.ANN: found the ending .ANN, wanted .ann"),
        ({**PAIR, "y.TXT": TEXT}, "y.TXT: found the ending .TXT, wanted .txt"),
    ],
)
def test_files_that_would_not_be_read(
    tmp_path: Path, files: Mapping[str, str], reason: str
) -> None:
    assert reason in said(tmp_path, files)


def test_folders_called_like_splits_are_nobodys(tmp_path: Path) -> None:
    files = {f"corpus/train/{name}": content for name, content in PAIR.items()}
    files |= {"corpus/dev/y.txt": f"Well. {TEXT}", "corpus/dev/y.ann": ""}
    lines, warnings = lines_of(put(tmp_path / "brat", files))
    assert sorted((str(line["kind"]), line["split"]) for line in lines) == [
        ("None", "dev"),
        ("None", "dev"),
        ("REFERENCE", "train"),
    ]
    assert not any(line["votes"] for line in lines)
    assert not warnings


def test_lines_of_other_things_survive_in_texts_without_a_mark(tmp_path: Path) -> None:
    other = "T1\tPerson 0 1\tI\nA1\tNeg T1\n"
    options = ImportOptions(labels=LabelMap({"Person": "ignore"}))
    first = put(tmp_path / "first", {"x.txt": TEXT, "x.ann": other})
    lines, warnings = lines_of(first, options)
    assert len(lines) == 2
    assert list(warnings) == ["2 lines of other things carried along as they are"]
    trip = _trip(first, options, tmp_path / "trip")
    content = (trip.path / "gold" / "0000001.ann").read_text("utf-8")
    assert content.count("Person 0 1") == 1
    assert content.count("Neg ") == 1


def _trip(first: Path, options: ImportOptions, folder: Path) -> Trip:
    folder.mkdir()
    with Store.open(folder / "given.db", create=True) as store:
        imported(store, first, None, options)
        trip = round_trip(store, "brat", folder, options=options)
    trip.check()
    return trip


# --- splits by names ------------------------------------------------------------------------

WORDS = "\n".join(
    f"{rank}\t{word}\t_\t_\t_\t_\t_\t_\t_\t{misc}"
    for rank, (word, misc) in enumerate(
        [("You", "_"), ("have", "_"), ("three", "NFH=YEAR"), (".", "_")], 1
    )
)


@pytest.mark.parametrize("marked", [True, False])
def test_the_split_of_a_treebank_stands_in_its_name(tmp_path: Path, marked: bool) -> None:
    path = tmp_path / "en_ewt-ud-dev.conllu"
    words = WORDS if marked else WORDS.replace("NFH=YEAR", "_")
    path.write_text(f"# newdoc id = a\n{words}\n\n", "utf-8")
    lines, _ = lines_of(path)
    assert [line["split"] for line in lines] == ["dev"]


@pytest.mark.parametrize("name", ["conllu", "docbin", "brat"])
def test_what_was_exported_without_a_split_has_none(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "train"
    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), name, folder)
    suffix = trip.path.suffix
    other = trip.path.rename(tmp_path / f"train{suffix}-set{suffix}")
    lines, _ = lines_of(other)
    assert {line["split"] for line in lines} >= {None}
    assert [line["split"] for line in lines] == [json.loads(it)["split"] for it in trip.before]


# --- spaCy ----------------------------------------------------------------------------------


def _docs(folder: Path, *files: str, ents: bool = False, group: str = "") -> Path:
    language = spacy.blank("en")
    folder.mkdir()
    for name in files:
        doc = language(f"{name}: {TEXT}".strip())
        three = next(token.i for token in doc if token.text == "three")
        if ents:
            doc.ents = [Span(doc, three, three + 1, label="CARDINAL")]
        if group:
            doc.spans[group] = [Span(doc, three, three + 1, label="YEAR")]
        DocBin(docs=[doc], store_user_data=True).to_disk(folder / name)
    return folder


def test_files_of_a_training_corpus_name_their_split(tmp_path: Path) -> None:
    lines, _ = lines_of(_docs(tmp_path / "corpus", "train.spacy", "dev.spacy"))
    assert {line["text"].split(".")[0]: line["split"] for line in lines} == {
        "train": "train",
        "dev": "dev",
    }
    lines, _ = lines_of(_docs(tmp_path / "one", "train.spacy", group="nfh") / "train.spacy")
    assert [(line["kind"], line["split"]) for line in lines] == [("YEAR", "train")]


def test_entities_are_counted_or_read_by_a_mapping(tmp_path: Path) -> None:
    path = _docs(tmp_path / "corpus", "a.spacy", ents=True) / "a.spacy"
    _, warnings = lines_of(path)
    assert list(warnings) == ["1 span of groups that are not about numbers left out: ents"]
    labels = LabelMap({"CARDINAL": "YEAR"}, {}, {"number": "ents"})
    path = path.rename(path.with_name("b.spacy"))
    lines, warnings = lines_of(path, ImportOptions(labels=labels))
    assert [line["kind"] for line in lines] == ["YEAR"]
    assert not warnings


def test_a_group_that_no_doc_has_is_refused(tmp_path: Path) -> None:
    path = _docs(tmp_path / "corpus", "a.spacy", group="sc") / "a.spacy"
    with pytest.raises(FormatError, match='spans that are there: "sc"'):
        lines_of(path, ImportOptions(labels=LabelMap({}, {}, {"number": "spans"})))


# --- Hugging Face ---------------------------------------------------------------------------

RESOLUTION = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0] * 7,
    "head": ["1"],
    "speakers": [None] * 7,
    "anchors_indices": [5],
}
IDENTIFICATION = {
    "tokens": RESOLUTION["tokens"],
    "start_index": 5,
    "end_index": 6,
    "label": 1,
}


def in_parquet(row: Mapping[str, Any]) -> bytes:
    file = BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([row]), file)
    return file.getvalue()


def test_a_clone_of_a_data_set_with_the_same_row_twice(tmp_path: Path) -> None:
    row = in_parquet(RESOLUTION)
    folder = put(
        tmp_path / "clone",
        {
            "README.md": "---\n---\n",
            "dataset_infos.json": '{"resolution": {"features": {}}}',
            "identification/train.parquet": in_parquet(IDENTIFICATION),
            "resolution/train/0000.parquet": row,
            "resolution/partial-test/0000.parquet": row,
        },
    )
    lines, _ = lines_of(folder)
    assert [(line["kind"], line["heads"][0]["mentions"][0]["head"]) for line in lines] == [
        ("REFERENCE", 1)
    ]
    found = {
        row.split
        for row in by_name("hf-parquet").read(Folder(folder), reading())
        if not isinstance(row, GoldRow)
    }
    assert found == {"train", "test"}


def test_an_export_in_which_nothing_is_decided_is_known_again(tmp_path: Path) -> None:
    given = passage([("Ann", "Two cups?")])
    path = hostile_corpus(tmp_path / "in.jsonl", [record(given, at(given, "Two"), None)])
    trip = round_trip(path, "hf-parquet", tmp_path / "trip")
    lines, _ = lines_of(trip.path)
    assert [line["kind"] for line in lines] == [None]


# --- INCEpTION ------------------------------------------------------------------------------


def zipped(files: Mapping[str, bytes]) -> bytes:
    raw = BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return raw.getvalue()


def _project(**more: bytes) -> dict[str, str | bytes]:
    return {"annotation/a.txt/eva.json": cas(reference()), "exportedproject.json": "{}", **more}


@pytest.fixture
def mapped(tmp_path: Path) -> ImportOptions:
    put(tmp_path, {"map.toml": MAP})
    return ImportOptions(labels=LabelMap.of_file(tmp_path / "map.toml"))


def test_what_a_project_holds_besides_is_counted(tmp_path: Path, mapped: ImportOptions) -> None:
    more: dict[str, Any] = {
        "tagset/x.json": b"{}",
        "source/a.txt": b"x",
        "source/b.txt": b"y",
        "annotation_ser/a.txt/eva.ser": b"z",
    }
    lines, warnings = lines_of(put(tmp_path / "project", {**_project(), **more}), mapped)
    assert [line["votes"][0]["annotator"] for line in lines] == ["eva"]
    assert list(warnings) == [
        "1 file outside annotation/ and curation/ left out; the first is tagset/x.json",
        "1 document that nobody opened left out; the first is source/b.txt",
    ]


def test_a_damaged_zip_within_a_project(tmp_path: Path) -> None:
    raw = bytearray(zipped({"eva.json": cas(reference())}))
    raw[60:80] = b"\xff" * 20
    found = said(tmp_path, {"annotation/a.txt/eva.zip": bytes(raw)}, "inception-json")
    assert "annotation/a.txt/eva.zip: is not a zip file that can be read" in found


def test_only_the_document_of_an_inner_zip_is_unpacked(
    tmp_path: Path, mapped: ImportOptions
) -> None:
    document = cas(reference())
    inner = zipped({"eva.json": document, "other.bin": b"".join(map(bytes, zip(range(256))))})
    damaged = bytearray(inner)
    damaged[inner.index(b"other.bin") + 20] ^= 0xFF  # Unpacked, it would be refused.
    folder = put(tmp_path / "project", {"annotation/a.txt/eva.zip": bytes(damaged)})
    lines, _ = lines_of(folder, mapped, "inception-json")
    assert [line["votes"][0]["annotator"] for line in lines] == ["eva"]


@pytest.mark.parametrize("name", ["eva.json", "eva.xmi", "TypeSystem.xml"])
def test_a_document_of_an_inner_zip_that_unpacks_to_much(tmp_path: Path, name: str) -> None:
    files = {"eva.xmi": b"<x/>", "TypeSystem.xml": b"<x/>"} if "json" not in name else {}
    inner = zipped({**files, name: b" " * (SMALL + 1)})
    found = said(tmp_path, {"annotation/a.txt/eva.zip": inner}, "inception-xmi")
    assert "annotation/a.txt/eva.zip: " in found
    assert "unpacks to 67,108," in found


@pytest.mark.parametrize("content", [b"[labels", b"\xff"])
def test_a_mapping_that_is_no_toml_says_what_is_wanted(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "map.toml"
    path.write_bytes(content)
    wanted = r'not TOML; wanted tables such as \[labels\] with lines such as NUM = "ANCHOR" \('
    with pytest.raises(FormatError, match=wanted):
        LabelMap.of_file(path)
