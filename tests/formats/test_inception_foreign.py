"""Documents of somebody else's project: other layers, faults found in the wild, refusals."""

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import cassis
import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.options import LabelMap
from nfh_tui.importing import look
from nfh_tui.transfer import ImportOptions
from tests.formats.cas_files import (
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
    assert look(path, None, mapped).format.name == "inception-json"
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
        "1 annotation of layers that say nothing of numbers left out: custom.Person",
        "1 mention that no number is linked to left out",
        "3 links that lead nowhere left out",
        "1 link to what is linked already taken once",
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
    "inside a character of two units": ([span(NUMBER, 0, 5)], "Zahl 2: offset 5 stands inside"),
    "past the end": ([span(NUMBER, 20, 99)], "20 to 99: the text has 23 UTF-16 code units"),
    "reversed": ([span(NUMBER, 3, 0)], "3 to 0: it ends before it begins"),
    "of no character": ([span(NUMBER, 3, 3)], "Zahl 2: holds no character, at 3"),
    "no offsets": ([span(NUMBER, 0, "3")], 'found 0 to "3", wanted two whole numbers'),  # type: ignore[arg-type]
    "an id twice": ([span(NUMBER, 0, 3, **{"%ID": 1})], "%ID: 1 stands twice"),
    "no type": ([{"begin": 1}], "without a %TYPE"),
    "a link to nothing": (
        [*reference()[:3], {"%TYPE": LINK, "role": "meint", "@target": 77}],
        "@target: there is no feature structure 77",
    ),
    "two answers at one place": (
        [span(NUMBER, 0, 3, klasse="Jahr"), span(NUMBER, 0, 3, klasse="Bezug")],
        "another number at this place says something else",
    ),
    "a class that is not known": (
        [span(NUMBER, 0, 3, klasse="[red]\x1b")],
        'the label "[red]␛" is not known',
    ),
    "a role that is not known": (reference(role="was"), 'the relation "was" is not known'),
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
        (b'{"%FEATURE_STRUCTURES": []}', "found 0 texts (sofaString), wanted one"),
        (b'{"%FEATURE_STRUCTURES": [1]}', "found 1 without a %TYPE"),
        (cas(reference())[:-40], "is no JSON that can be read"),
        (b"[" * 100_000, "is no JSON that can be read"),
        (cas([]).replace(b"Two", b"\\ud83d"), "is no JSON that can be read"),
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


def test_xmi_needs_its_type_system(tmp_path: Path, mapped: ImportOptions) -> None:
    document, types = xmi_of(cas(reference()))
    path = write(tmp_path, document, "a/doc.xmi")
    assert "no TypeSystem.xml beside it" in refused(path, mapped, "inception-xmi")
    write(tmp_path, types, "a/TypeSystem.xml")
    (line,), _ = lines_of(path, mapped)
    assert words(line) == ["three", "cups"]
    packed = tmp_path / "export.zip"
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("doc.xmi", document)
        file.writestr("TypeSystem.xml", types)
    (again,), _ = lines_of(packed, mapped)
    assert again == line


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b'end="3"', b'end="5"', "an offset that is none of the text"),
        (b'begin="17"', b'begin="99"', "an offset that is none of the text"),
        (b"<xmi:XMI", b'<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI', "declares XML entities"),
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
    lines, _ = lines_of(write(tmp_path, cas(reference())), mapped)
    assert len(lines) == 1


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
