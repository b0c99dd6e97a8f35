"""INCEpTION's projects and documents: UIMA CAS in JSON and in XMI.

A folder or zip as its project export makes it, or one document alone, whose answers are then
gold unless it says whose they are. Offsets are UTF-16 code units, ends exclusive.
"""

import hashlib
import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import groupby
from pathlib import Path

from nfh_db.errors import FormatError
from nfh_db.formats.folders import DAMAGED, Folder
from nfh_db.formats.format import LOOKED_AT, First, Format, How, Takes, holds
from nfh_db.formats.grid import MarkError
from nfh_db.formats.limits import LimitError, check_held, opened_zip, read_member
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import Row
from nfh_db.formats.wording import counted, visible
from nfh_tui.formats.inception_cas import Cas, cas_of
from nfh_tui.formats.inception_documents import TYPE_SYSTEM, is_xml, load_json, load_xmi
from nfh_tui.formats.inception_names import (
    Member,
    Part,
    documents,
    member_of,
    types_beside,
    unopened,
)
from nfh_tui.formats.inception_rows import DocumentReader, Filed, WrongFileError
from nfh_tui.formats.inception_types import Layer
from nfh_tui.formats.inception_write import JsonWriter, XmiWriter

EXAMPLE = (
    '{"%TYPES": {…}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", …}, …], '
    '"%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, …]}}}'
)
XMI_EXAMPLE = '<custom:NFH xmi:id="9" sofa="1" begin="4" end="9" kind="REFERENCE" heads="11"/>'
LOOKED_INTO = 3
"""Members of a folder that the sniffing opens."""


# --- in -------------------------------------------------------------------------------------


def read(origin: Origin, how: Reading) -> Iterator[Row]:
    """The rows of a project, or of one document. Raises FormatError."""
    try:
        layer = Layer.of(how.labels.layer)
    except MarkError as error:
        raise origin.error(None, str(error)) from error
    reader = DocumentReader(how)
    if isinstance(origin, Folder):
        yield from _project(origin, layer, reader)
    else:
        yield from _alone(origin, layer, reader)
    origin.warnings.extend(reader.counts.warnings())


def _project(folder: Folder, layer: Layer, reader: DocumentReader) -> Iterator[Row]:
    members = [member_of(name) for name in documents(folder.named(".json", ".xmi", ".zip"))]
    if not members:
        raise folder.error(
            None,
            "holds no document; wanted members such as annotation/DOCUMENT/NAME.json: export "
            'the project with the format "UIMA CAS JSON" or "UIMA CAS XMI"',
        )
    members = _of_project(folder, members)
    order = tuple(Part)
    members.sort(key=lambda one: (one.document, order.index(one.part), one.name))
    for _, group in groupby(members, lambda one: one.document):
        filed = [Filed(member, _member(folder, member.name, layer)) for member in group]
        try:
            yield from reader.rows(filed)
        except WrongFileError as error:
            raise folder.member_error(error.member.name, None, str(error)) from error


def _of_project(folder: Folder, members: list[Member]) -> list[Member]:
    """The members of a project: what stands outside its folders is no document of it."""
    within = [one for one in members if one.part is not Part.LOOSE]
    outside = [one for one in members if one.part is Part.LOOSE]
    if not within:
        return members
    left = (
        ([one.name for one in outside], "file", "outside annotation/ and curation/"),
        (unopened(folder.names, within), "document", "that nobody has opened"),
    )
    folder.warnings.extend(
        f"{counted(len(names), what)} {where} left out; the first is {visible(names[0])}"
        for names, what, where in left
        if names
    )
    return within


def _member(folder: Folder, name: str, layer: Layer) -> Cas:
    content = folder.read(name)
    try:
        if name.lower().endswith(".zip"):
            return _packed(content, layer)
        beside = types_beside(folder.named(".xml"), name)
        types = None if beside is None else folder.read(beside)
        return _cas(name, content, types, layer)
    except MarkError as error:
        raise folder.member_error(name, None, str(error)) from error


def _cas(name: str, content: bytes, types: bytes | None, layer: Layer) -> Cas:
    """A document in JSON or XMI. types: of XMI, its type system, if there is one."""
    if name.lower().endswith(".xmi") or is_xml(content):
        return cas_of(load_xmi(content, types, layer), layer)
    return cas_of(load_json(content, layer), layer)


def _packed(content: bytes, layer: Layer) -> Cas:
    """The document of a zip file inside a project: XMI with its type system, or JSON. All else
    stays packed.
    """
    try:
        with opened_zip(BytesIO(content)) as packed:
            names = packed.namelist()
            found = [one for one in names if one.lower().endswith((".json", ".xmi"))]
            if len(found) != 1:
                raise MarkError(f"holds {len(found)} documents (.json, .xmi); wanted one")
            document = _unpacked(packed, found[0])
            beside = types_beside(names, found[0])
            types = None if beside is None else _unpacked(packed, beside)
    except LimitError as error:
        raise MarkError(str(error)) from error
    except DAMAGED as error:
        raise MarkError(f"is no zip file that can be read: {error}") from error
    return _cas(found[0], document, types, layer)


def _unpacked(packed: zipfile.ZipFile, name: str) -> bytes:
    try:
        return read_member(packed, packed.getinfo(name))
    except LimitError as error:
        raise LimitError(f"{visible(name)} {error}") from error


def _alone(source: Origin, layer: Layer, reader: DocumentReader) -> Iterator[Row]:
    """The rows of one file."""
    member = Member(source.path.name, source.path.name, Part.LOOSE)
    content = _content(source)
    try:
        cas = _cas(source.path.name, content, _types_of_file(source), layer)
        yield from reader.rows([Filed(member, cas)])
    except MarkError as error:
        raise source.error(None, str(error)) from error


def _content(source: Origin) -> bytes:
    content = _read(source, source.path)
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise source.error(None, "changed while it was read; import it again")
    return content


def _read(source: Origin, path: Path) -> bytes:
    """A file as a whole: the source, or one beside it. Raises FormatError."""
    try:
        size = path.stat().st_size
        check_held(size, size)
        return path.read_bytes()
    except LimitError as error:
        raise source.error(None, f"{visible(path.name)} {error}") from error
    except OSError as error:
        raise source.unreadable(error) from error


def _types_of_file(source: Origin) -> bytes | None:
    """The type system beside a file, if there is one. Raises FormatError."""
    for path in sorted(source.path.parent.glob("*.[xX][mM][lL]")):
        if path.name.lower() == TYPE_SYSTEM.lower() and path.is_file():
            return _read(source, path)
    return None


# --- which is which -------------------------------------------------------------------------


def _sniff_json(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".json")
    start = first.start
    if first.takes is Takes.TEXT and start.lstrip().startswith("{") and _is_json(start):
        return "it is a JSON object with the feature structures of a UIMA CAS"
    return None


def _is_json(start: str) -> bool:
    return '"%FEATURE_STRUCTURES"' in start or ('"%TYPES"' in start and '"%NAME"' in start)


def _sniff_xmi(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".xmi")
    start = first.start.lstrip()
    if first.takes is Takes.TEXT and start.startswith("<") and _is_xmi(start):
        return "it is an XMI document of a UIMA CAS"
    if first.takes is Takes.TEXT and first.suffix == ".xmi":
        return "its name ends in .xmi"
    return None


def _is_xmi(start: str) -> bool:
    return "http://www.omg.org/XMI" in start and (
        "uima/cas.ecore" in start or "xmi:XMI" in start
    )


def _project_of(folder: Folder, suffix: str) -> str | None:
    """Why a folder looks like a project with documents of that kind."""
    names = documents(folder.named(suffix, ".zip"))
    # Documents in a folder of their own come first: they are surer than what lies loose.
    names.sort(key=lambda name: member_of(name).part is Part.LOOSE)
    for name in names[:LOOKED_INTO]:
        if _kind(folder, name) == suffix:
            return f"it is a folder or zip of UIMA CAS documents such as {visible(name, 60)}"
    return None


def _kind(folder: Folder, name: str) -> str | None:
    try:
        if name.lower().endswith(".zip"):
            with opened_zip(BytesIO(folder.read(name))) as packed:
                inside = [one for one in packed.namelist() if one.endswith((".json", ".xmi"))]
                content = packed.open(inside[0]).read(LOOKED_AT) if inside else b""
        else:
            content = folder.head(name, LOOKED_AT)
    except (FormatError, LimitError, *DAMAGED):
        return None
    start = content.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if start.startswith("{") and _is_json(start):
        return ".json"
    return ".xmi" if start.startswith("<") and _is_xmi(start) else None


# --- the formats ----------------------------------------------------------------------------


HOLDS = holds(
    How.OWN,
    TIME=How.BESIDE,
    SEEN=How.BESIDE,
    FLAGS=How.BESIDE,
    RULE=How.BESIDE,
    SPLIT=How.BESIDE,
)
INCEPTION_JSON = Format(
    name="inception-json",
    extensions=(".json",),
    description=(
        "INCEpTION: a project or document as UIMA CAS JSON 0.4.0, a file for each annotator "
        "and one for the curated answers"
    ),
    example=EXAMPLE,
    read=read,
    sniff=_sniff_json,
    members=JsonWriter,
    carries_split=True,
    takes=(Takes.TEXT, Takes.FOLDER),
    holds=HOLDS,
    settings=frozenset({"map"}),
    extra="dkpro-cassis",
)
INCEPTION_XMI = Format(
    name="inception-xmi",
    extensions=(".xmi",),
    description="INCEpTION: the same as UIMA CAS XMI with its TypeSystem.xml",
    example=XMI_EXAMPLE,
    read=read,
    sniff=_sniff_xmi,
    members=XmiWriter,
    carries_split=True,
    takes=(Takes.TEXT, Takes.FOLDER),
    holds=HOLDS,
    settings=frozenset({"map"}),
    extra="dkpro-cassis",
)
