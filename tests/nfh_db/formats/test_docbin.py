"""spaCy's DocBin: read and written by spaCy itself, with the attributes of our component."""

import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats import docbin
from nfh_db.formats.docbin import COMPONENT
from nfh_db.formats.rows import LabelMap, Writing
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_models.domain import Answer, Kind, Relation
from nfh_models.parsing.spacy_parser import installed_pipelines
from nfh_models.spacy_component.attributes import FusedHead, register, store
from nfh_tui.services.imports import ImportOptions, recognise_file
from tests.nfh_db.formats.cas_files import lines_of
from tests.nfh_db.formats.hostile import ADJUDICATOR, at, one, passage, record, refer, vote
from tests.nfh_db.formats.round_trip import Trip, hostile_corpus, hostile_records, round_trip

Make = Callable[[Path], Path]


def trip(records: Sequence[ExportRecord], folder: Path, **more: Any) -> Trip:
    folder.mkdir(exist_ok=True)
    given = hostile_corpus(folder / "in.jsonl", records)
    return round_trip(given, "docbin", folder, **{"suffix": ".spacy", **more})


def docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def save(path: Path, all_: Sequence[Doc], *, user_data: bool = True) -> Path:
    file = DocBin(store_user_data=user_data)
    for doc in all_:
        file.add(doc)
    file.to_disk(path)
    return path


def small() -> ExportRecord:
    given = passage([("Ann", "😀 Two cups, tea or a cup?"), ("Ben", "No, three.")])
    cups, tea, cup = (one(*at(given, word)) for word in ("cups", "tea", "cup"))
    answer = refer((cups, cup), (tea,), relation=Relation.OR)
    votes = [vote("ann", answer, seconds=2.5)]
    gold = Gold(answer, Rule.EXPERT, ADJUDICATOR, votes[0].answered_at)
    return record(given, at(given, "three"), gold, votes, split="dev")


def foreign(text: str = "Ann: Two cups?\nBen: No, three.") -> Doc:
    return spacy.blank("en")(text)


def span(doc: Doc, word: str, label: str = "", id_: str = "", kb_id: str = "") -> Span:
    (found,) = [token for token in doc if token.text == word]
    return Span(doc, found.i, found.i + 1, label=label, span_id=id_, kb_id=kb_id)


def words(line: dict[str, Any]) -> list[str]:
    heads = [mention["head"] for head in line["heads"] for mention in head["mentions"]]
    return [line["tokens"][at] for at in (*line["anchors_indices"], *heads)]


def refused(path: Path, options: ImportOptions | None = None) -> str:
    with pytest.raises(FormatError) as caught:
        lines_of(path, options, "docbin")
    return str(caught.value)


# --- out ------------------------------------------------------------------------------------


def test_spacy_and_the_component_read_it(tmp_path: Path) -> None:
    made = trip([small()], tmp_path)
    made.check()
    register()
    (doc,) = docs(made.path)
    assert doc.text == small().passage.text
    (number,) = doc.spans["nfh"]
    assert (number.text, number.label_, number.kb_id_) == ("three", "REFERENCE", "OR")
    assert [(s.text, s.label_, s.id_) for s in doc.spans["nfh_heads"]] == [
        ("cups", "HEAD", "0:0"),
        ("cup", "HEAD", "0:0"),
        ("tea", "HEAD", "0:1"),
    ]
    assert [(s.label_, s.text) for s in doc.spans["nfh_turns"]] == [
        ("Ann", "😀 Two cups, tea or a cup?"),
        ("Ben", "No, three."),
    ]
    (found,) = doc._.nfh
    assert (found.text, found._.nfh_relation, found._.nfh_rule) == ("three", "OR", "gold")
    assert [head.text for head in found._.nfh_heads] == ["cups", "tea"]
    assert [sent.text.split()[-1] for sent in doc.sents] == ["cup?", "three."]


def test_a_class_is_an_implicit_head(tmp_path: Path) -> None:
    given = passage([(None, "It is three. Two dogs.")])
    gold = [Gold(Answer(kind), Rule.IMPORTED) for kind in (Kind.TIME, Kind.NOT_NFH)]
    records = [
        record(given, at(given, "three"), gold[0]),
        record(given, at(given, "Two"), gold[1]),
    ]
    register()
    (doc,) = docs(trip(records, tmp_path).path)
    assert [(one.text, one._.nfh_heads) for one in doc._.nfh] == [("three", ("TIME",))]
    assert [one.label_ for one in doc.spans["nfh"]] == ["TIME", "NOT_NFH"]


def test_spacy_writes_it_again(tmp_path: Path) -> None:
    made = trip(hostile_records(), tmp_path, edit=lambda path: save(path, docs(path)))
    made.check()
    assert not made.imported.warnings
    assert made.recognised == "docbin"


def test_without_user_data_the_gold_stays(tmp_path: Path) -> None:
    def strip(path: Path) -> None:
        save(path, docs(path), user_data=False)

    made = trip([small()], tmp_path, edit=strip)
    before, after = (json.loads(lines[0]) for lines in (made.before, made.after))
    assert words(after) == words(before)
    assert (after["relation"], after["rule"], after["votes"]) == ("OR", "imported", [])


def test_what_is_changed_there_wins(tmp_path: Path) -> None:
    def change(path: Path) -> None:
        (doc,) = docs(path)
        doc.spans["nfh"] = [span(doc, "three", "CURRENCY", "0")]
        doc.spans["nfh_heads"] = []
        save(path, [doc])

    made = trip([small()], tmp_path, edit=change)
    (line,) = map(json.loads, made.after)
    assert (line["kind"], line["heads"], line["rule"]) == ("CURRENCY", [], "imported")
    assert line["votes"] == json.loads(made.before[0])["votes"]
    assert made.imported.warnings == (
        "1 gold changed since it was exported: what the spans show counts",
    )


def test_a_number_taken_out_keeps_its_answers(tmp_path: Path) -> None:
    def take(path: Path) -> None:
        (doc,) = docs(path)
        doc.spans["nfh"], doc.spans["nfh_heads"] = [], []
        save(path, [doc])

    made = trip([small()], tmp_path, edit=take)
    (line,) = map(json.loads, made.after)
    assert (line["kind"], len(line["votes"]), line["split"]) == (None, 1, "dev")
    assert "1 number whose span was taken out" in made.imported.warnings[0]


def test_other_tokens_are_refused(tmp_path: Path) -> None:
    path = trip([small()], tmp_path).path
    (doc,) = docs(path)
    doc.spans.clear()
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
    assert "was the text changed since it was exported?" in refused(save(path, [doc]))


def test_a_large_set_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docbin, "PART", 3)
    made = trip(hostile_records(), tmp_path / "a", suffix="")
    made.check()
    names = [path.name for path in sorted(made.path.iterdir())]
    assert names[:2] == ["part-00001.spacy", "part-00002.spacy"]
    assert made.recognised == "docbin"
    monkeypatch.setattr(docbin, "WHOLE", 3)
    with pytest.raises(ExportError, match="more than 3 passages"):
        trip(hostile_records(), tmp_path / "b")


def test_a_projects_own_names(tmp_path: Path) -> None:
    labels = LabelMap(
        {"PRICE": "CURRENCY", "ref": "REFERENCE"}, {"noun": "HEAD"}, {"number": "sc"}
    )
    options = ImportOptions(labels=labels)
    made = trip(hostile_records(), tmp_path, writing=Writing(labels=labels), options=options)
    made.check()
    labels_there = {one.label_ for doc in docs(made.path) for one in doc.spans["sc"]}
    assert {"PRICE", "ref"} <= labels_there


# --- in -------------------------------------------------------------------------------------


def test_span_groups_of_others(tmp_path: Path) -> None:
    doc = foreign()
    doc.spans["sc"] = [span(doc, "three", "REFERENCE")]
    doc.spans["nouns"] = [span(doc, "cups", "HEAD")]
    doc.spans["more"] = [span(doc, "Ben")]
    labels = LabelMap(layer={"number": "sc", "head": "nouns"})
    path = save(tmp_path / "a.spacy", [doc, Doc(Vocab())])
    (line,), warnings = lines_of(path, ImportOptions(labels=labels))
    assert words(line) == ["three", "cups"]
    assert (line["text"], line["rule"]) == (doc.text, "imported")
    assert set(line["speakers"]) == {"Ann", "Ben"}
    assert warnings == (
        "1 span of groups that are not about numbers left out: more",
        "1 Doc without a word left out",
    )


def test_what_the_component_found_is_a_models_answer(tmp_path: Path) -> None:
    doc = foreign("I had two cups. He had three.\nIt is six. I am seven.")
    places = {token.text: token.i for token in doc}
    store(
        doc,
        [
            FusedHead(places["three"], places["three"] + 1, "deps", (places["cups"],), "cue"),
            FusedHead(places["six"], places["six"] + 1, "deps", ("TIME",)),
            FusedHead(places["seven"], places["seven"] + 1, "deps"),
        ],
    )
    lines, _ = lines_of(save(tmp_path / "a.spacy", [doc]))
    said = [(v["annotator"], v["type"], v["kind"]) for line in lines for v in line["votes"]]
    assert said == [(COMPONENT, "model", kind) for kind in ("REFERENCE", "TIME", "NFH")]
    assert [line["kind"] for line in lines] == [None] * 3
    assert [
        lines[0]["tokens"][at]
        for at in (lines[0]["votes"][0]["heads"][0]["mentions"][0]["head"],)
    ] == ["cups"]


def test_a_whole_pipeline(tmp_path: Path) -> None:
    found = [one for one in installed_pipelines() if "parser" in one.components]
    if not found:
        pytest.skip("needs an English spaCy pipeline with a parser")
    import nfh_models.spacy_component  # noqa: F401

    nlp = spacy.load(found[0].package, exclude=["ner", "lemmatizer"])
    nlp.add_pipe("nfh")
    doc = nlp("I have two dogs and she has three.")
    lines, _ = lines_of(save(tmp_path / "a.spacy", [doc]))
    expected = [(one.text, str(one._.nfh_head)) for one in doc._.nfh]
    assert expected
    for line, (number, head) in zip(lines, expected, strict=True):
        (answer,) = line["votes"]
        heads = [line["tokens"][h["mentions"][0]["head"]] for h in answer["heads"]]
        assert [line["tokens"][at] for at in line["anchors_indices"]] == [number]
        assert heads == [head] or answer["kind"] == head


def test_a_text_in_which_nothing_is_marked(tmp_path: Path) -> None:
    lines, _ = lines_of(save(tmp_path / "a.spacy", [foreign()]))
    assert [words(line) for line in lines] == [["Two"], ["three"]]


def test_unknown_spaces_are_counted(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["No", ",", "three"])
    doc.spans["nfh"] = [span(doc, "three", "AGE")]
    (line,), warnings = lines_of(save(tmp_path / "a.spacy", [doc]))
    assert line["text"] == "No , three "
    assert "1 Doc where spaces are not known" in warnings[0]


def test_overlapping_numbers_are_kept(tmp_path: Path) -> None:
    doc = foreign("twenty two.")
    doc.spans["nfh"] = [doc[0:2], doc[0:1], doc[1:2], doc[0:1]]
    lines, _ = lines_of(save(tmp_path / "a.spacy", [doc]))
    assert [words(line) for line in lines] == [["twenty"], ["twenty", "two"], ["two"]]


def marked(*spans: tuple[str, str, str, str], heads: Sequence[tuple[str, str]] = ()) -> Doc:
    doc = foreign()
    doc.spans["nfh"] = [span(doc, *one) for one in spans]
    doc.spans["nfh_heads"] = [span(doc, word, "HEAD", id_) for word, id_ in heads]
    return doc


WRONG = {
    "a mention of no number": (
        marked(("three", "AGE", "0", ""), ("Two", "AGE", "1", ""), heads=[("cups", "5:0")]),
        "belongs to 0 of 2 numbers",
    ),
    "numbers of one id": (
        marked(("three", "AGE", "0", ""), ("Two", "AGE", "0", ""), heads=[("cups", "0:0")]),
        "belongs to 2 of 2 numbers",
    ),
    "a class with a noun": (
        marked(("three", "AGE", "0", ""), heads=[("cups", "0:0")]),
        "AGE has no head in the passage, but 1 are marked",
    ),
    "two answers at one place": (
        marked(("three", "AGE", "", ""), ("three", "YEAR", "", "")),
        "say different things",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_refusals(what: str, tmp_path: Path) -> None:
    doc, said = WRONG[what]
    found = refused(save(tmp_path / "a.spacy", [foreign(), doc]))
    assert "a.spacy: Doc 2: " in found
    assert said in found


def test_files_that_are_none(tmp_path: Path) -> None:
    good = save(tmp_path / "good.spacy", [foreign()]).read_bytes()
    unpacked = srsly.msgpack_loads(zlib.decompress(good))
    cases = {
        "is not a complete DocBin of spaCy: it ends too early": good[:-20],
        "is not a DocBin of spaCy": b"x" + good,
        "cannot be read as a DocBin of spaCy": zlib.compress(b"\x81\xa1a\x01"),
        "Can't retrieve string": zlib.compress(
            srsly.msgpack_dumps({**unpacked, "strings": []})
        ),
        "Doc 1: user_data": zlib.compress(
            srsly.msgpack_dumps({**unpacked, "user_data": [srsly.msgpack_dumps({"nfh": "{"})]})
        ),
    }
    for rank, (said, content) in enumerate(cases.items()):
        path = tmp_path / f"{rank}.spacy"
        path.write_bytes(content)
        assert said in refused(path), said


def test_a_small_file_without_a_nul_is_known(tmp_path: Path) -> None:
    keys = {"version": "0.1", "attrs": [65, 67]}
    made = (srsly.msgpack_dumps({**keys, "strings": ["hours " * at]}) for at in range(99))
    content = next(one for one in map(zlib.compress, made) if b"\0" not in one)
    path = tmp_path / "a.bin"
    path.write_bytes(content)
    assert recognise_file(path, None).format.name == "docbin"


def test_a_mapping_of_nothing_known(tmp_path: Path) -> None:
    options = ImportOptions(labels=LabelMap(layer={"zahl": "sc"}))
    said = refused(save(tmp_path / "a.spacy", [foreign()]), options)
    assert '"zahl"; wanted one of number, head, turn' in said
