"""INCEpTION's projects and documents: UIMA CAS in JSON and in XMI.

A folder or zip as its project export makes it, or one document alone, whose answers are then
gold unless it says whose they are. Offsets are UTF-16 code units, ends exclusive.
"""

import hashlib
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import groupby
from pathlib import Path

from nfh_db.errors import FormatError
from nfh_db.formats.folders import DAMAGED, Folder
from nfh_db.formats.format import First, Format, How, Takes, holds
from nfh_db.formats.grid import MarkError
from nfh_db.formats.limits import MEMBER_LIMIT
from nfh_db.formats.options import Reading, Writing
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import Row
from nfh_db.formats.wording import counted, visible
from nfh_db.records import ExportRecord
from nfh_tui.formats.inception_cas import Cas, parsed
from nfh_tui.formats.inception_names import Member, Part, documents, member_of, unopened
from nfh_tui.formats.inception_rows import DocumentReader, Filed, WrongFileError
from nfh_tui.formats.inception_types import Layer
from nfh_tui.formats.inception_write import Document, ProjectWriter, files, named
from nfh_tui.formats.inception_xml import TYPE_SYSTEM, XmiMaker, json_of_xmi, writable

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
        if name.lower().endswith(".json"):
            return parsed(content, layer)
        if name.lower().endswith(".xmi"):
            return parsed(json_of_xmi(content, _types_beside(folder, name)), layer)
        return _packed(content, layer)
    except MarkError as error:
        raise folder.member_error(name, None, str(error)) from error


def _types_beside(folder: Folder, name: str) -> bytes:
    """The type system of an XMI member: the one in its folder, or in one that holds that."""
    parts = name.split("/")[:-1]
    known = {one.lower(): one for one in folder.named(TYPE_SYSTEM.lower())}
    for depth in range(len(parts), -1, -1):
        there = "/".join([*parts[:depth], TYPE_SYSTEM]).lower()
        if there in known:
            return folder.read(known[there])
    raise MarkError(f"there is no {TYPE_SYSTEM} beside it, which says what its layers mean")


def _packed(content: bytes, layer: Layer) -> Cas:
    """The document of a zip file inside a project: XMI with its type system, or JSON."""
    try:
        with zipfile.ZipFile(BytesIO(content)) as packed:
            document, types = _in_zip(packed)
    except DAMAGED as error:
        raise MarkError(f"is no zip file that can be read: {error}") from error
    return parsed(document if types is None else json_of_xmi(document, types), layer)


def _in_zip(packed: zipfile.ZipFile) -> tuple[bytes, bytes | None]:
    """The only document, and its type system if it is XMI; all else stays packed, however
    large it would be.
    """
    infos = packed.infolist()
    documents = [one for one in infos if one.filename.lower().endswith((".json", ".xmi"))]
    if len(documents) != 1:
        raise MarkError(f"holds {len(documents)} documents (.json, .xmi); wanted one")
    document = _unpacked(packed, documents[0])
    if documents[0].filename.lower().endswith(".json"):
        return document, None
    types = next((one for one in infos if one.filename.endswith(TYPE_SYSTEM)), None)
    if types is None:
        raise MarkError(f"holds no {TYPE_SYSTEM}, which says what its layers mean")
    return document, _unpacked(packed, types)


def _unpacked(packed: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > MEMBER_LIMIT:
        raise MarkError(
            f"{visible(info.filename)} has {info.file_size:,} bytes; wanted at most "
            f"{MEMBER_LIMIT:,}"
        )
    return packed.read(info)


def _alone(source: Origin, layer: Layer, reader: DocumentReader) -> Iterator[Row]:
    """The rows of one file."""
    member = Member(source.path.name, source.path.name, Part.LOOSE)
    content = _content(source)
    try:
        if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            content = json_of_xmi(content, _types_of_file(source))
        yield from reader.rows([Filed(member, parsed(content, layer))])
    except MarkError as error:
        raise source.error(None, str(error)) from error


def _content(source: Origin) -> bytes:
    try:
        size = source.path.stat().st_size
        if size > MEMBER_LIMIT:
            raise source.error(None, f"has {size:,} bytes; wanted at most {MEMBER_LIMIT:,}")
        content = source.path.read_bytes()
    except OSError as error:
        raise source.unreadable(error) from error
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise source.error(None, "changed while it was read; import it again")
    return content.removeprefix(b"\xef\xbb\xbf")


def _types_of_file(source: Origin) -> bytes:
    for name in (TYPE_SYSTEM, TYPE_SYSTEM.lower(), "typesystem.xml"):
        path = Path(source.path).parent / name
        if path.is_file():
            return path.read_bytes()
    raise MarkError(
        f"there is no {TYPE_SYSTEM} beside it, which says what its layers mean; unpack the "
        "whole export, or import its zip file"
    )


# --- which is which -------------------------------------------------------------------------


def _sniff_json(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".json")
    start = first.start[:65536]
    if first.takes is Takes.TEXT and start.lstrip().startswith("{") and _is_json(start):
        return "it is a JSON object with the feature structures of a UIMA CAS"
    return None


def _is_json(start: str) -> bool:
    return '"%FEATURE_STRUCTURES"' in start or ('"%TYPES"' in start and '"%NAME"' in start)


def _sniff_xmi(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".xmi")
    start = first.start[:65536].lstrip()
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
        content = folder.read(name)
        if name.lower().endswith(".zip"):
            with zipfile.ZipFile(BytesIO(content)) as packed:
                inside = [one for one in packed.namelist() if one.endswith((".json", ".xmi"))]
                content = packed.read(inside[0]) if inside else b""
    except (FormatError, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return None
    start = content[:65536].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if start.startswith("{") and _is_json(start):
        return ".json"
    return ".xmi" if start.startswith("<") and _is_xmi(start) else None


# --- out ------------------------------------------------------------------------------------


class XmiWriter:
    """Makes the same project in XMI, with one TypeSystem.xml for all. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = Document(named(how), how.labels, writable)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """annotation/DOCUMENT/NAME.xmi of each annotator, and the gold under curation/."""
        maker: XmiMaker | None = None
        for file in files(records, ".xmi"):
            json = self._document.content(file)
            if maker is None:
                maker = XmiMaker(json)
                yield TYPE_SYSTEM, maker.type_system
            yield f"{file.name}.xmi", maker.xmi(json)


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
    members=ProjectWriter,
    carries_split=True,
    takes=(Takes.TEXT, Takes.FOLDER),
    holds=HOLDS,
    settings=frozenset({"map"}),
)
INCEPTION_XMI = Format(
    name="inception-xmi",
    extensions=(".xmi",),
    description=(
        "INCEpTION: the same as UIMA CAS XMI with its TypeSystem.xml, by dkpro-cassis"
    ),
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
