"""Documents of somebody else's project: other layers, faults found in the wild, refusals."""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import cassis
import pytest

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.files import OBJECTS
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import LabelMap
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.services.imports import ImportOptions, export_file, recognise_file
from tests.nfh_db.formats.cas_files import (
    LINK,
    MAP,
    NOUN,
    NUMBER,
    TEXT,
    TYPES,
    cas,
    lines_of,
    reference,
    span,
    type_,
    units,
)

TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"


@pytest.fixture
def mapped(tmp_path: Path) -> ImportOptions:
    path = tmp_path / "map.toml"
    path.write_text(MAP, "utf-8")
    return ImportOptions(labels=LabelMap.of_file(path))


def refused(path: Path, options: ImportOptions | None = None, name: str | None = None) -> str:
    with pytest.raises(FormatError) as caught:
        lines_of(path, options, name or "inception-json")
    return str(caught.value)


def write(folder: Path, content: bytes, name: str = "doc.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def words(line: dict[str, Any]) -> list[str]:
    """The number, then the head tokens."""
    heads = [mention["head"] for head in line["heads"] for mention in head["mentions"]]
    return [line["tokens"][at] for at in (*line["anchors_indices"], *heads)]


def test_other_layers_by_a_mapping(tmp_path: Path, mapped: ImportOptions) -> None:
    path = write(tmp_path, cas(reference()))
    assert recognise_file(path, None, mapped).format.name == "inception-json"
    (line,), warnings = lines_of(path, mapped)
    assert words(line) == ["three", "cups"]
    assert (line["kind"], line["rule"]) == ("REFERENCE", "imported")
    assert line["text"] == TEXT
    assert not warnings


def test_without_it_the_layers_that_are_there_are_named(tmp_path: Path) -> None:
    said = refused(write(tmp_path, cas(reference())))
    assert 'no layer "webanno.custom.NFH"' in said
    assert '"custom.Person", "webanno.custom.Nomen", "webanno.custom.Zahl"' in said


def test_a_feature_that_is_not_there(tmp_path: Path) -> None:
    labels = LabelMap(layer={"number": NUMBER, "kind": "art"})
    said = refused(write(tmp_path, cas([])), ImportOptions(labels=labels))
    assert 'no feature "art" for kind' in said
    assert '"klasse", "bezug"' in said


def test_a_mapping_of_nothing_known(tmp_path: Path) -> None:
    labels = LabelMap(layer={"nummer": NUMBER})
    assert '"nummer"; wanted one of number, kind' in refused(
        write(tmp_path, cas([])), ImportOptions(labels=labels)
    )


def test_a_project_of_two_people(tmp_path: Path, mapped: ImportOptions) -> None:
    """Whose a file is, is where it stands; Ben's mark is inside a token, and cuts it."""
    tokens = [
        span(TOKEN, *units(TEXT, word))
        for word in ("Two", "👍", "cups?", "No", ",", "three", ".")
    ]
    types = TYPES | {TOKEN: type_(TOKEN)}
    project = tmp_path / "project"
    own = [{**one, "@bezug": 11} if "@bezug" in one else one for one in reference()]
    for one in own:
        if one["%TYPE"] == LINK:
            one["@target"] = 10
        if "%ELEMENTS" in one:
            one["%ELEMENTS"] = [12]
    year = [span(NUMBER, *units(TEXT, "three"), klasse="Jahr")]
    write(project, cas([*tokens, *year], types=types), "annotation/a.txt/ann.json")
    write(project, cas([*tokens, *own], types=types), "annotation/a.txt/Ben Ö.json")
    write(project, cas(tokens, types=types), "annotation/a.txt/INITIAL_CAS.json")
    write(project, cas([*tokens, *own], types=types), "curation/a.txt/CURATION_USER.json")
    write(project, b"{}", "exportedproject.json")
    (line,), warnings = lines_of(project, mapped)
    assert [(v["annotator"], v["kind"]) for v in line["votes"]] == [
        ("Ben Ö", "REFERENCE"),
        ("ann", "YEAR"),
    ]
    assert words(line) == ["three", "cups"]
    assert "?" in line["tokens"]
    assert line["line_indices"] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert not warnings


def test_a_text_in_which_nothing_is_marked_is_a_dialog(
    tmp_path: Path, mapped: ImportOptions
) -> None:
    text = "Ann: Two cups?\r\n\r\nBen: No, three."
    lines, _ = lines_of(write(tmp_path, cas([], text)), mapped)
    assert [words(line) for line in lines] == [["Two"], ["three"]]
    assert set(lines[0]["speakers"]) == {"Ann", "Ben"}


def test_what_is_left_out_is_counted(tmp_path: Path, mapped: ImportOptions) -> None:
    found = reference()
    found[2]["%ELEMENTS"] = [5, 0, 6, 7, 8]
    found += [
        {"%TYPE": LINK, "role": "meint", "@target": 3},
        {"%TYPE": LINK, "role": "meint", "@target": 0},
        {"%TYPE": LINK, "role": "meint"},
        span(NOUN, *units(TEXT, "Two")),
        span("custom.Person", 0, 3),
        span(TOKEN, 3, 3),
    ]
    types = TYPES | {TOKEN: type_(TOKEN)}
    (line,), warnings = lines_of(write(tmp_path, cas(found, types=types)), mapped)
    assert words(line) == ["three", "cups"]
    assert warnings == (
        "1 annotation of layers that are not about numbers left out: custom.Person",
        "1 mention that no number is linked to left out",
        "3 links that lead nowhere left out",
        "1 link to something that is already linked, counted once",
        "1 token without a character left out",
    )


def test_overlapping_numbers_are_kept(tmp_path: Path, mapped: ImportOptions) -> None:
    found = [
        span(NUMBER, 0, units(TEXT, "cups")[1], klasse="Jahr"),
        span(NUMBER, *units(TEXT, "Two"), klasse="Jahr"),
        span(NUMBER, *units(TEXT, "Two"), klasse="Jahr"),
        span(NUMBER, *units(TEXT, "cups"), klasse="Jahr"),
    ]
    lines, _ = lines_of(write(tmp_path, cas(found)), mapped)
    assert [words(line) for line in lines] == [["Two"], ["Two", "👍", "cups"], ["cups"]]


WRONG = {
    "inside a character of two units": (
        [span(NUMBER, 0, 5)],
        "begins or ends at 5, which is outside the text",
    ),
    "past the end": (
        [span(NUMBER, 20, 99)],
        "at 99, which is outside the text: it has 23 UTF-16 code",
    ),
    "reversed": ([span(NUMBER, 3, 0)], "3 to 0: it ends before it begins"),
    "of no character": ([span(NUMBER, 3, 3)], "Zahl 2: holds no character, at 3"),
    "no offsets": ([span(NUMBER, 0, "3")], 'found 0 to "3", wanted two whole numbers'),  # type: ignore[arg-type]
    "an id twice": ([span(NUMBER, 0, 3, **{"%ID": 1})], "%ID: 1 occurs twice"),
    "no type": ([{"begin": 1}], "without a %TYPE"),
    "no start": (
        [{"%ID": 7, "%TYPE": NOUN, "@sofa": 1, "end": 3}],
        "Nomen 7: found null to 3, wanted two whole numbers",
    ),
    "an element that is not there": (
        [*reference()[:2], {"%TYPE": f"{LINK}[]", "%ELEMENTS": [78]}],
        "%ELEMENTS: there is no feature structure 78",
    ),
    "a feature that its type does not have": (
        [span(NUMBER, 0, 3, farbe="rot")],
        'UIMA CAS JSON 0.4.0; export it again (webanno_custom_Zahl has no "farbe"',
    ),
    "a link to nothing": (
        [*reference()[:3], {"%TYPE": LINK, "role": "meint", "@target": 77}],
        "@target: there is no feature structure 77",
    ),
    "two answers at one place": (
        [span(NUMBER, 0, 3, klasse="Jahr"), span(NUMBER, 0, 3, klasse="Bezug")],
        "another number at this place differs",
    ),
    "a class that is not known": (
        [span(NUMBER, 0, 3, klasse="[red]\x1b")],
        'found 1 span "[red]␛" of no known meaning, the first "Two" in ',
    ),
    "a role that is not known": (
        reference(role="was"),
        'found 1 relation "was" of no known meaning',
    ),
    "a class that is no text": ([span(NUMBER, 0, 3, klasse=[1])], "klasse: found [1]"),
}


@pytest.mark.parametrize("what", WRONG)
def test_refusals(what: str, tmp_path: Path, mapped: ImportOptions) -> None:
    structures, said = WRONG[what]
    found = refused(write(tmp_path, cas(structures)), mapped)
    assert said in found
    assert "doc.json" in found
    assert "\x1b" not in found


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"_context": {}, "_views": {}}', "is the older JSON form of UIMA CAS"),
        (b'{"%TYPES": {}}', "it has no %FEATURE_STRUCTURES"),
        (b'{"%FEATURE_STRUCTURES": []}', "%VIEWS: found null, wanted an object"),
        (b'{"%FEATURE_STRUCTURES": [], "%VIEWS": {"a": 1}}', "%MEMBERS: found null, wanted a"),
        (
            b'{"%FEATURE_STRUCTURES": [], "%VIEWS": {}}',
            "found 0 texts (sofaString), wanted one",
        ),
        (b'{"%FEATURE_STRUCTURES": [1]}', "found 1 without a %TYPE"),
        (cas(reference())[:-40], "is not JSON that can be read: export it again ("),
        (b"[" * 100_000, "is not JSON that can be read"),
        (cas([]).replace(b"Two", b"\\ud83d"), "is not JSON that can be read"),
    ],
)
def test_files_that_are_none(content: bytes, said: str, tmp_path: Path) -> None:
    assert said in refused(write(tmp_path, content))


def test_other_texts_of_one_document(tmp_path: Path, mapped: ImportOptions) -> None:
    project = tmp_path / "project"
    write(project, cas(reference()), "annotation/a/ann.json")
    write(project, cas([], TEXT + " "), "annotation/a/ben.json")
    said = refused(project, mapped)
    assert "annotation/a/ben.json: its text or tokens are not those of annotation/a/ann" in said


def test_a_project_without_documents(tmp_path: Path) -> None:
    project = tmp_path / "project"
    write(project, b"\xac\xed", "annotation_ser/a/ann.ser")
    write(project, b"{}", "exportedproject.json")
    assert "holds no document" in refused(project)


# --- XMI ------------------------------------------------------------------------------------


def xmi_of(content: bytes) -> tuple[bytes, bytes]:
    """A document in XMI with its type system, made by the library."""
    document = cassis.load_cas_from_json(content.decode())
    return document.to_xmi().encode(), document.typesystem.to_xml().encode()


PLACES = {
    "beside it": {"a/doc.xmi": "document", "a/TypeSystem.xml": "types"},
    "above it": {"a/b/doc.xmi": "document", "a/TypeSystem.xml": "types"},
    "in other letters": {"doc.xmi": "document", "typesystem.xml": "types"},
    "of another name": {"doc.xmi": "document", "full-typesystem.xml": "types"},
    "the nearest": {"a/doc.xmi": "document", "a/types.xml": "types", "b/types.xml": "wrong"},
    "the surest": {"doc.xmi": "document", "a-type.xml": "wrong", "TypeSystem.xml": "types"},
}


@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("place", PLACES)
def test_the_type_system_of_xmi(
    tmp_path: Path, mapped: ImportOptions, place: str, *, zipped: bool
) -> None:
    """A layer that no mapping makes up: it is read only where its type system is found."""
    extra = {**span("custom.Person", 0, 3), "alter": "x"}
    types_ = TYPES | {"custom.Person": type_("custom.Person", alter="uima.cas.String")}
    document, types = xmi_of(cas([*reference(), extra], types=types_))
    content = {"document": document, "types": types, "wrong": b"<x/>"}
    path = tmp_path / "export"
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as packed:
        for name, what in PLACES[place].items():
            write(path, content[what], name)
            packed.writestr(name, content[what])
    (line,), warnings = lines_of(path.with_suffix(".zip") if zipped else path, mapped)
    assert words(line) == ["three", "cups"]
    assert warnings == (
        "1 annotation of layers that are not about numbers left out: custom.Person",
    )


def test_xmi_without_a_type_system_has_inceptions_own_layers(
    tmp_path: Path, mapped: ImportOptions
) -> None:
    named = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
    types = TYPES | {named: type_(named, value="uima.cas.String")}
    others = [span(named, 0, 3, value="x"), span("custom.Person", 0, 3)]
    document, _ = xmi_of(cas([*reference(), *others], types=types))
    (line,), warnings = lines_of(write(tmp_path, document, "doc.xmi"), mapped)
    assert words(line) == ["three", "cups"]
    assert warnings == (
        f"2 annotations of layers that are not about numbers left out: custom.Person, {named}",
    )
    inner = tmp_path / "project" / "annotation" / "a.txt" / "eva.zip"
    inner.parent.mkdir(parents=True)
    with zipfile.ZipFile(inner, "w") as packed:
        packed.writestr("eva.xmi", document)
    (again,), _ = lines_of(tmp_path / "project", mapped)
    assert [vote["annotator"] for vote in again["votes"]] == ["eva"]
    assert words({**again, "heads": again["votes"][0]["heads"]}) == ["three", "cups"]


def test_xmi_without_the_type_system_that_it_needs(
    tmp_path: Path, mapped: ImportOptions
) -> None:
    document, _ = xmi_of(cas(reference()))
    said = refused(write(tmp_path, document, "doc.xmi"), None, "inception-xmi")
    assert (
        "there is no TypeSystem.xml beside it, and INCEpTION's own layers do not have" in said
    )
    assert f'"{NOUN}", "{NUMBER}"' in said
    extra = span(NUMBER, *units(TEXT, "Two"), klasse="Jahr", farbe="rot")
    types = {**TYPES, NUMBER: {**TYPES[NUMBER], **type_("", farbe="uima.cas.String")}}
    types[NUMBER] |= {"%NAME": NUMBER}
    document, _ = xmi_of(cas([extra], types=types))
    said = refused(write(tmp_path, document, "doc.xmi"), mapped, "inception-xmi")
    assert "own layers; put its TypeSystem.xml beside it (webanno_custom_Zahl has no" in said


def test_json_without_types_has_inceptions_own_layers(
    tmp_path: Path, mapped: ImportOptions
) -> None:
    value = json.loads(cas(reference()))
    del value["%TYPES"]
    (line,), _ = lines_of(write(tmp_path, json.dumps(value).encode()), mapped)
    assert words(line) == ["three", "cups"]


@pytest.mark.filterwarnings("ignore:Trying to add feature")
@pytest.mark.parametrize("name", ["inception-json", "inception-xmi"])
def test_features_whose_names_mean_something_to_the_library(tmp_path: Path, name: str) -> None:
    labels = LabelMap({"Jahr": "YEAR"}, {}, {"number": NUMBER, "kind": "type", "sort": "self"})
    types = {NUMBER: type_(NUMBER, type="uima.cas.String", self="uima.cas.String")}
    content = cas([span(NUMBER, *units(TEXT, "Two"), type="Jahr")], types=types)
    path = write(tmp_path, content)
    if name == "inception-xmi":
        document, system = xmi_of(content)
        write(tmp_path, system, "TypeSystem.xml")
        path = write(tmp_path, document, "doc.xmi")
    (line,), _ = lines_of(path, ImportOptions(labels=labels), name)
    assert (words(line), line["kind"]) == (["Two"], "YEAR")


# --- XML as it may be encoded ---------------------------------------------------------------

BOMB = (
    '<!DOCTYPE x [<!ENTITY a "Jahr"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "utf-32-le": "UTF-32",
    "utf-32-be": "UTF-32BE",
    "latin-1": "ISO-8859-1",
    "cp1252": "windows-1252",
    "utf-7": "UTF-7",
    "cp037": "IBM037",
}
"""Codecs with what a file in them declares."""


def encoded(document: bytes, codec: str, prolog: str = "", *, declared: bool = True) -> bytes:
    """A document of the library's in another encoding. utf-7: with all signs that may be."""
    body = document.decode().split("?>", 1)[1].lstrip().replace("👍", "&#128077;")
    text = prolog + body
    if codec == "utf-7":
        text = text.replace("<!", "+ADwAIQ-")
    head = f"<?xml version='1.0' encoding='{ENCODINGS[codec]}'?>" if declared else ""
    return (head + text).encode("ascii" if codec == "utf-7" else codec)


@pytest.mark.parametrize("where", ["document", "types"])
@pytest.mark.parametrize(
    ("codec", "place"),
    [
        *((codec, "folder") for codec in ENCODINGS),
        *((codec, place) for codec in ("utf-16", "utf-7") for place in ("zip", "inner")),
        *(
            pytest.param(codec, place, marks=pytest.mark.long)
            for codec in sorted(ENCODINGS.keys() - {"utf-16", "utf-7"})
            for place in ("zip", "inner")
        ),
    ],
)
def test_a_document_type_is_refused_in_any_encoding(
    tmp_path: Path, mapped: ImportOptions, codec: str, place: str, where: str
) -> None:
    document, types = xmi_of(cas(reference()))
    parts = {"document": document, "types": types}
    parts[where] = encoded(parts[where], codec, BOMB)
    if place == "folder":
        write(tmp_path / "p", parts["types"], "TypeSystem.xml")
        write(tmp_path / "p", parts["document"], "annotation/a/eva.xmi")
        path = tmp_path / "p"
    else:
        path = tmp_path / "p.zip"
        if place == "inner":
            path = tmp_path / "p" / "annotation" / "a" / "eva.zip"
            path.parent.mkdir(parents=True)
        with zipfile.ZipFile(path, "w") as packed:
            packed.writestr("eva.xmi", parts["document"])
            packed.writestr("TypeSystem.xml", parts["types"])
        path = tmp_path / "p" if place == "inner" else path
    said = refused(path, mapped, "inception-xmi")
    assert ("declares a document type" in said) or (codec == "cp037" and "not text in" in said)
    assert ("its type system, TypeSystem.xml, " in said) == (where == "types")


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("codec", sorted(set(ENCODINGS) - {"cp037"}))
def test_other_encodings_are_read(
    tmp_path: Path, mapped: ImportOptions, codec: str, *, declared: bool
) -> None:
    document, types = xmi_of(cas(reference()))
    write(tmp_path / "p", types, "TypeSystem.xml")
    write(tmp_path / "p", encoded(document, codec, declared=declared), "doc.xmi")
    (line,), _ = lines_of(tmp_path / "p", mapped, "inception-xmi")
    assert (words(line), line["text"]) == (["three", "cups"], TEXT)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<?xml version='1.0' encoding='klingon'?><x/>", '"klingon", which is not known'),
        (b"<?xml version='1.0' encoding='hex'?><x/>", '"hex", which is not known'),
        (b"<?xml version='1.0' encoding='UTF-16'?><x />", "is not XML"),
        (b"\x00\x00<\x00\x00\x00x", "in the encoding"),
        (b"<?xml version='1.0' <x/>", "is not XML"),
        (b"<x>\xff</x>", "is not text in utf-8"),
        (b"", "is not XML"),
    ],
)
def test_what_is_no_xml(
    tmp_path: Path, mapped: ImportOptions, content: bytes, said: str
) -> None:
    write(tmp_path / "p", content, "a/doc.xmi")
    assert said in refused(tmp_path / "p", mapped, "inception-xmi")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.xmi", b"<x>" + b"<a/>" * OBJECTS + b"</x>", "has 1,000,002 elements"),
        (
            "x.json",
            b'{"%FEATURE_STRUCTURES": [' + b"[]," * OBJECTS,
            "1,000,002 lists and objects",
        ),
    ],
)
def test_more_structures_than_may_be_held(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    write(tmp_path / "p", content, name)
    assert f"{said}; wanted at most 1,000,000" in refused(tmp_path / "p", None)


# --- what XMI says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'end="3"', b'end="5"', "at 5, which is outside the text"),
        (b'begin="17"', b'begin="99"', "at 99, which is outside the text"),
        (b"</xmi:XMI>", b"", "cannot be read as XMI"),
        (b'target="3"', b'target="77"', "cannot be read as XMI"),
        (b'members="2 3 6"', b'members="2 6"', "Nomen 3 is listed in no view"),
        (b"Zahl ", b"Ziffer ", "cannot be read as XMI"),
    ],
)
def test_xmi_refusals(
    old: bytes, new: bytes, said: str, tmp_path: Path, mapped: ImportOptions
) -> None:
    found = [*reference(), span(NUMBER, *units(TEXT, "Two"), klasse="Jahr")]
    document, types = xmi_of(cas(found))
    assert old in document
    write(tmp_path, types, "TypeSystem.xml")
    path = write(tmp_path, document.replace(old, new), "doc.xmi")
    assert said in refused(path, mapped, "inception-xmi")


def test_without_the_library(
    tmp_path: Path, mapped: ImportOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, types = xmi_of(cas(reference()))
    write(tmp_path, types, "TypeSystem.xml")
    path = write(tmp_path, document, "doc.xmi")
    monkeypatch.setitem(sys.modules, "cassis", None)
    assert "pip install 'nfh-tui[formats]'" in refused(path, mapped, "inception-xmi")
    said = refused(write(tmp_path, cas(reference())), mapped)
    assert "pip install 'nfh-tui[formats]'" in said
    with Store.open(tmp_path / "a.db", create=True) as store:
        for name in ("inception-json", "inception-xmi"):
            with pytest.raises(ExportError, match="dkpro-cassis, which is missing"):
                export_file(store, Query(), by_name(name), tmp_path / "out")


def test_structures_by_their_ids(tmp_path: Path, mapped: ImportOptions) -> None:
    """The other of the two ways in which the format writes feature structures."""
    value = json.loads(cas(reference()))
    value["%FEATURE_STRUCTURES"] = {
        str(one.pop("%ID")): one for one in value["%FEATURE_STRUCTURES"]
    }
    (line,), _ = lines_of(write(tmp_path, json.dumps(value).encode()), mapped)
    assert words(line) == ["three", "cups"]


def test_somebody_named_answers(tmp_path: Path, mapped: ImportOptions) -> None:
    options = ImportOptions(labels=mapped.labels, annotator="ann")
    (line,), _ = lines_of(write(tmp_path, cas(reference())), options)
    assert line["kind"] is None
    assert [vote["annotator"] for vote in line["votes"]] == ["ann"]
