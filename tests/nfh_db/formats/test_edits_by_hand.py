"""What somebody changes in an exported file counts or is refused; it is never passed over."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from nfh_db.errors import FormatError
from nfh_db.formats.rows import LabelMap
from nfh_tui.services.imports import ImportOptions
from tests.nfh_db.formats.cas_files import edit_json, lines_of
from tests.nfh_db.formats.hostile import at, hostile_corpus, one, passage, record, refer, vote
from tests.nfh_db.formats.round_trip import round_trip

GIVEN = passage([("Ann", "Two cups?"), ("Ben", "No, three.")])


def exported(folder: Path, name: str, suffix: str | None = None) -> Path:
    """An export of one passage with one answer."""
    cups = one(*at(GIVEN, "cups"))
    given = record(GIVEN, at(GIVEN, "three"), None, [vote("ann", refer((cups,)))])
    path = hostile_corpus(folder / "in.jsonl", [given])
    return round_trip(path, name, folder / "trip", suffix=suffix).path


# --- CoNLL-U --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("# speaker = Ben", "# speaker = Zoe", 'expected the speaker "Ben", found "Zoe"'),
        ("# text = Two cups?", "# text = Two mugs?", 'found "Two mugs?": it was changed'),
        ("# nfh_passage", "# passage", "has the comment nfh_item_1, but the first sentence"),
    ],
)
def test_comments_of_a_treebank(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = exported(tmp_path, "conllu")
    content = path.read_text("utf-8")
    assert content.count(old) == 1
    path.write_text(content.replace(old, new), "utf-8")
    with pytest.raises(FormatError) as caught:
        lines_of(path)
    assert reason in str(caught.value)


# --- INCEpTION ------------------------------------------------------------------------------


def _speaker(value: Any) -> None:
    turns = [one for one in value["%FEATURE_STRUCTURES"] if "NFHTurn" in one["%TYPE"]]
    turns[0]["speaker"] = "Zoe"


def _no_turns(value: Any) -> None:
    rest = [one for one in value["%FEATURE_STRUCTURES"] if "NFHTurn" not in one["%TYPE"]]
    gone = {one["%ID"] for one in value["%FEATURE_STRUCTURES"]} - {one["%ID"] for one in rest}
    value["%FEATURE_STRUCTURES"] = rest
    view = value["%VIEWS"]["_InitialView"]
    view["%MEMBERS"] = [id_ for id_ in view["%MEMBERS"] if id_ not in gone]


def test_turns_of_one_persons_file(tmp_path: Path) -> None:
    path = exported(tmp_path, "inception-json")
    (mine,) = path.glob("annotation/*/ann.json")
    edit_json(mine, _speaker)
    with pytest.raises(
        FormatError, match=r"ann\.json: its turns are not those of .*INITIAL_CAS"
    ):
        lines_of(path)


def test_turns_may_stand_in_any_of_the_files(tmp_path: Path) -> None:
    path = exported(tmp_path, "inception-json")
    for initial in path.glob("annotation/*/INITIAL_CAS.json"):
        edit_json(initial, _no_turns)
    lines, _ = lines_of(path)
    assert [line["speakers"][-1] for line in lines] == ["Ben"]
    assert [[one["annotator"] for one in line["votes"]] for line in lines] == [["ann"]]


# --- spaCy ----------------------------------------------------------------------------------


def _edited(path: Path, edit: Callable[[Doc], None], *, user_data: bool = True) -> Path:
    docs = list(DocBin().from_disk(path).get_docs(Vocab()))
    for doc in docs:
        edit(doc)
    DocBin(docs=docs, store_user_data=user_data).to_disk(path)
    return path


def _other_speaker(doc: Doc) -> None:
    turns = doc.spans["nfh_turns"]
    doc.spans["nfh_turns"] = [Span(doc, one.start, one.end, label="Zoe") for one in turns]


def test_speakers_of_a_doc(tmp_path: Path) -> None:
    path = _edited(exported(tmp_path, "docbin", ".spacy"), _other_speaker)
    with pytest.raises(FormatError, match=r'found the speakers \["Zoe", "Zoe"\], expected'):
        lines_of(path)


def test_a_doc_that_lost_its_user_data_keeps_its_turns(tmp_path: Path) -> None:
    path = exported(tmp_path, "docbin", ".spacy")
    before = json.loads((tmp_path / "in.jsonl").read_text("utf-8"))
    _edited(path, lambda doc: doc.user_data.clear(), user_data=False)
    (line,), _ = lines_of(path)
    keys = ("tokens", "speakers", "line_indices", "anchors_indices", "text")
    assert {key: line[key] for key in keys} == {key: before[key] for key in keys}


@pytest.mark.parametrize("number", ["n", "none"])
def test_turns_of_a_group_of_ones_own(tmp_path: Path, number: str) -> None:
    doc = spacy.blank("en")("Ann: Two cups? No, three.")
    doc.spans["t"] = [Span(doc, 2, 5, label="Ann"), Span(doc, 5, 9, label="Ben")]
    doc.spans["n"] = [Span(doc, 7, 8, label="YEAR")] if number == "n" else []
    path = tmp_path / "own.spacy"
    DocBin(docs=[doc], store_user_data=True).to_disk(path)
    labels = LabelMap({}, {}, {"number": "n", "turn": "t"})
    lines, _ = lines_of(path, ImportOptions(labels=labels))
    assert {tuple(line["speakers"]) for line in lines} == {("Ann",) * 3 + ("Ben",) * 4}
    assert {line["text"] for line in lines} == {doc.text}
    assert [line["kind"] for line in lines] == (["YEAR"] if number == "n" else [None, None])


def test_turns_that_overlap(tmp_path: Path) -> None:
    doc = spacy.blank("en")("Two cups? No, three.")
    doc.spans["nfh_turns"] = [Span(doc, 0, 4, label="Ann"), Span(doc, 3, 7, label="Ben")]
    path = tmp_path / "own.spacy"
    DocBin(docs=[doc], store_user_data=True).to_disk(path)
    with pytest.raises(FormatError, match="the turn at 10 to 20 overlaps the one before"):
        lines_of(path)
