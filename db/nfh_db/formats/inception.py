"""Formats `inception-json` and `inception-xmi`: projects and documents of INCEpTION as UIMA CAS
in JSON and in XMI (https://inception-project.github.io, user's guide, appendix on formats).

A folder or zip in the form of a project export, or a single document, whose answers are gold
unless it names the annotator. Offsets in the files are UTF-16 code units, ends exclusive.
"""

import hashlib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.errors import ExportError, FormatError, raised_as
from nfh_db.formats import spans
from nfh_db.formats.base import LOOKED_AT, First, Format, How, InputKind, each, holds
from nfh_db.formats.files import (
    DAMAGED,
    FileOrigin,
    Folder,
    LimitError,
    opened_zip,
    read_file,
    read_member,
)
from nfh_db.formats.inception_reader import (
    CURATION,
    DOCUMENT,
    FS_ARRAY,
    INITIAL,
    SENTENCE,
    SOURCE,
    TEXT,
    TOKEN,
    TYPE_SYSTEM,
    Cas,
    CasLayer,
    DocumentReader,
    Filed,
    MemberKind,
    ProjectDocument,
    WrongFileError,
    attribute,
    cas_of,
    documents,
    folder_of,
    is_xml,
    library,
    load_json,
    load_xmi,
    member_of,
    type_system,
    types_beside,
    unopened_documents,
    user_file,
    writable,
)
from nfh_db.formats.rows import LabelMap, ReadOptions, Row, Writing, by_passage
from nfh_db.formats.stored_annotation import StoredItem, stored
from nfh_db.messages import counted, reason_of, visible
from nfh_db.records import ExportRecord, Role, Vote
from nfh_models.domain import Anchor, Answer, Passage

if TYPE_CHECKING:
    import cassis
    from cassis.typesystem import FeatureStructure


# The writer: a document for each annotator, and one for the gold.
#
# A document is a passage with its tokens, turns and numbers. Each turn is a sentence, too,
# since INCEpTION displays a sentence on a line. Offsets are code points here; dkpro-cassis
# converts them.

Words = Callable[[str], str]
"""Replaces the characters of a text that the file cannot hold."""


@dataclass(frozen=True, slots=True)
class CasNumber:
    """A number of a document."""

    anchor: Anchor
    answer: Answer | None
    kept: StoredItem | None
    """The item to be stored."""


@dataclass(frozen=True, slots=True)
class File:
    """A document of one annotator, or of the gold."""

    name: str
    """Of the member, without suffix."""
    passage: Passage
    numbers: tuple[CasNumber, ...]


def files(records: Iterable[ExportRecord], suffix: str) -> Iterator[File]:
    """The documents of records, which come by passage and span.

    suffix: of the members, which INCEpTION also has in the names of folders.
    """
    for rank, of_passage in enumerate(by_passage(records), 1):
        passage = of_passage[0].passage
        yield from _of_passage(f"{rank:07d}-{passage.digest[:12]}", suffix, passage, of_passage)


def _of_passage(
    stem: str, suffix: str, passage: Passage, records: Sequence[ExportRecord]
) -> Iterator[File]:
    document = f"{stem}{suffix}"
    names = sorted(
        {vote.annotator for record in records for vote in record.votes}
        | {flag.annotator for record in records for flag in record.flags}
    )
    source = tuple(CasNumber(record.anchor, None, _kept(record)) for record in records)
    yield File(f"{SOURCE}/{stem}", passage, source)
    first = tuple(_open(record) for record in records)
    yield File(f"{folder_of(document)}/{INITIAL}", passage, first)
    for name in names:
        own = tuple(_of_user(record, name) for record in records)
        yield File(f"{folder_of(document)}/{user_file(name)}", passage, own)
    gold = tuple(
        CasNumber(record.anchor, record.gold.answer, _kept(record, gold=True))
        for record in records
        if record.gold is not None
    )
    if gold:
        yield File(f"{folder_of(document, gold=True)}/{CURATION}", passage, gold)


def _own(record: ExportRecord, name: str) -> Vote | None:
    """The vote in an annotator's document: the annotator's, else the adjudicator's."""
    votes = [vote for vote in record.votes if vote.annotator == name]
    return min(votes, key=lambda vote: vote.role is not Role.ANNOTATOR, default=None)


def _open(record: ExportRecord) -> CasNumber:
    """A number of the initial document. It stores the votes that no other document has: the
    second vote of somebody who is annotator and adjudicator.
    """
    shown = [_own(record, name) for name in {vote.annotator for vote in record.votes}]
    rest = [vote for vote in record.votes if not any(vote is one for one in shown)]
    return CasNumber(record.anchor, None, _kept(record, votes=rest))


def _of_user(record: ExportRecord, name: str) -> CasNumber:
    vote = _own(record, name)
    flags = [flag for flag in record.flags if flag.annotator == name]
    if vote is None and not flags:
        return CasNumber(record.anchor, None, None)
    kept = stored(record, offsets=False, gold=False, votes=[vote] if vote else [], flags=flags)
    return CasNumber(record.anchor, vote.answer if vote else None, kept)


def _kept(
    record: ExportRecord, *, gold: bool = False, votes: Sequence[Vote] = ()
) -> StoredItem:
    return stored(record, offsets=False, gold=gold, votes=votes, flags=())


class CasDocumentWriter:
    """Makes the CAS of documents. words: applied to every text.

    Raises ExportError if the library is not installed.
    """

    def __init__(self, layer: CasLayer, labels: LabelMap, words: Words = str) -> None:
        self._layer = layer
        self._labels = labels
        self._words = words
        with raised_as(ExportError, spans.MarkError):
            self._library = library()
            self.types = type_system(layer)

    def cas(self, file: File) -> "cassis.Cas":
        made = self._of_text(file.passage)
        for number in file.numbers:
            self._number(made, number, file.passage)
        return made

    def _new(self, type_: str, **features: object) -> "FeatureStructure":
        """A feature structure that is in no view yet."""
        named = {attribute(name): value for name, value in features.items()}
        return self.types.get_type(type_)(**named)

    def _of_text(self, passage: Passage) -> "cassis.Cas":
        """The text with its tokens and turns."""
        layer, text = self._layer, self._words(passage.text)
        made = self._library.Cas(self.types, sofa_string=text, sofa_mime="text")
        end = len(text)
        made.add(self._new(DOCUMENT, begin=0, end=end, language="x-unspecified"))
        if text != passage.text:
            replaced = _replaced(passage.text, text)
            made.add(self._new(TEXT, begin=0, end=end, replaced=replaced))
        for token in passage.tokens:
            made.add(self._new(TOKEN, begin=token.start, end=token.end))
        for turn in passage.turns:
            begin, end = passage.code_points(turn)
            line = _line_of(passage, turn.start)
            made.add(self._new(SENTENCE, begin=line, end=end))
            features = {
                layer.turn_number: turn.number,
                layer.speaker: None if turn.speaker is None else self._words(turn.speaker),
                layer.said_from: turn.begin,
                layer.said_until: turn.until,
            }
            made.add(self._new(layer.turn, begin=begin, end=end, **features))
        return made

    def _number(self, made: "cassis.Cas", given: CasNumber, passage: Passage) -> None:
        """Add a number with its mentions and links."""
        layer = self._layer
        tokens = passage.tokens
        graph = spans.graph_of(
            given.answer, given.anchor, lambda i, stop: (tokens[i].start, tokens[stop - 1].end)
        )
        named = spans.renamed(graph, self._labels)
        spots = [
            self._new(layer.head if place else layer.number, begin=spot.start, end=spot.end)
            for place, spot in enumerate(graph.spots)
        ]
        number = spots[0]
        for feature, words in self._features(given, named.spots[0].label).items():
            setattr(number, attribute(feature), words)
        links = []
        for ours, theirs in zip(graph.links, named.links, strict=True):
            source, target = spots[ours.source], spots[ours.target]
            if ours.source == 0:
                links.append(self._new(layer.heads_link, role=theirs.label, target=target))
            elif ours.label == spans.SAME:
                link = self._new(layer.same_link, role=theirs.label, target=target)
                setattr(source, attribute(layer.same), self._array([link]))
            else:
                setattr(number, attribute(layer.relation), theirs.label)
        if links:
            setattr(number, attribute(layer.heads), self._array(links))
        made.add_all(spots)

    def _array(self, elements: "list[FeatureStructure]") -> "FeatureStructure":
        return self._new(FS_ARRAY, elements=elements)

    def _features(self, given: CasNumber, label: str) -> dict[str, str]:
        """label: of the number, by the project's mapping."""
        layer, answer = self._layer, given.answer
        found: dict[str, str] = {}
        if answer is not None and answer.sort and label == spans.label_of(answer):
            found = {layer.kind: answer.kind.value, layer.sort: answer.sort.value}
        elif label != spans.ANCHOR or answer is not None:
            found = {layer.kind: label}
        if answer is not None and answer.noun:
            found[layer.noun] = self._words(answer.noun)
        if answer is not None and answer.comment:
            found[layer.comment] = self._words(answer.comment)
        if given.kept is not None:
            found[layer.kept] = escaped(msgspec.json.encode(given.kept).decode())
        return found


def _line_of(passage: Passage, token: int) -> int:
    """The offset at which the sentence of a turn begins: at the name of its speaker. INCEpTION
    displays no text between sentences.
    """
    start = passage.tokens[token].start
    before = passage.tokens[token - 1].end if token else 0
    line = max(before, passage.text.rfind("\n", before, start) + 1)
    return start - len(passage.text[line:start].lstrip())


def escaped(json: str) -> str:
    """JSON with escapes for the two characters that XML cannot hold."""
    return json.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _replaced(text: str, written: str) -> str:
    """JSON of the characters that were replaced: pairs of a code point and a character
    number.
    """
    pairs = [
        (at, ord(one))
        for at, (one, two) in enumerate(zip(text, written, strict=True))
        if one != two
    ]
    return msgspec.json.encode(pairs).decode()


class JsonWriter:
    """Makes a folder in the form of a project export. left_out: stays empty.

    Raises ExportError for an unknown key of the mapping, and if the library is not installed.
    """

    words: Words = str

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        with raised_as(ExportError, spans.MarkError):
            layer = CasLayer.of(how.labels.layer)
        self._document = CasDocumentWriter(layer, how.labels, self.words)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """annotation/DOCUMENT/NAME.json of each annotator, curation/…/CURATION_USER.json."""
        for file in files(records, ".json"):
            cas = self._document.cas(file)
            yield f"{file.name}.json", cas.to_json(pretty_print=False).encode()


class XmiWriter(JsonWriter):
    """Makes the same project in XMI, with one TypeSystem.xml for all documents."""

    words = staticmethod(writable)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """The type system, and the members of JsonWriter in XMI."""
        for rank, file in enumerate(files(records, ".xmi")):
            if not rank:
                yield TYPE_SYSTEM, self._document.types.to_xml().encode()
            yield f"{file.name}.xmi", self._document.cas(file).to_xmi().encode()


EXAMPLE = (
    '{"%TYPES": {…}, "%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", …}, …], '
    '"%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": [2, …]}}}'
)
XMI_EXAMPLE = '<custom:NFH xmi:id="9" sofa="1" begin="4" end="9" kind="REFERENCE" heads="11"/>'
LOOKED_INTO = 3
"""Members of a folder that the sniffing opens."""


# --- reading --------------------------------------------------------------------------------


def read(origin: FileOrigin, how: ReadOptions) -> Iterator[Row]:
    """The rows of a project, or of one document. Raises FormatError."""
    with origin.refusing(spans.MarkError):
        layer = CasLayer.of(how.labels.layer)
    reader = DocumentReader(how)
    if isinstance(origin, Folder):
        yield from _project(origin, layer, reader)
    else:
        yield from _single(origin, layer, reader)
    origin.warnings.extend(reader.warnings())


def _project(folder: Folder, layer: CasLayer, reader: DocumentReader) -> Iterator[Row]:
    members = [member_of(name) for name in documents(folder.named(".json", ".xmi", ".zip"))]
    if not members:
        raise folder.error(
            None,
            "holds no document; wanted members such as annotation/DOCUMENT/NAME.json: export "
            'the project with the format "UIMA CAS JSON" or "UIMA CAS XMI"',
        )
    members = _of_project(folder, members)
    order = tuple(MemberKind)
    members.sort(key=lambda one: (one.document, order.index(one.part), one.name))
    for _, group in groupby(members, lambda one: one.document):
        filed = [Filed(member, _member(folder, member.name, layer)) for member in group]
        try:
            yield from reader.rows(filed)
        except WrongFileError as error:
            raise folder.member_error(error.member.name, None, str(error)) from error


def _of_project(folder: Folder, members: list[ProjectDocument]) -> list[ProjectDocument]:
    """The members in the folders of a project; all members if there are none."""
    within = [one for one in members if one.part is not MemberKind.LOOSE]
    outside = [one for one in members if one.part is MemberKind.LOOSE]
    if not within:
        return members
    left = (
        ([one.name for one in outside], "file", "outside annotation/ and curation/"),
        (unopened_documents(folder.names, within), "document", "that nobody opened"),
    )
    folder.warnings.extend(
        f"{counted(len(names), what)} {where} left out; the first is {visible(names[0])}"
        for names, what, where in left
        if names
    )
    return within


def _member(folder: Folder, name: str, layer: CasLayer) -> Cas:
    content = folder.read(name)
    with folder.refusing_member(name, spans.MarkError):
        if name.lower().endswith(".zip"):
            return _packed(content, layer)
        beside = types_beside(folder.named(".xml"), name)
        types = None if beside is None else (beside, folder.read(beside))
        return _cas(name, content, types, layer)


def _cas(name: str, content: bytes, types: tuple[str, bytes] | None, layer: CasLayer) -> Cas:
    """A document in JSON or XMI. types: name and content of the type system, for XMI."""
    if name.lower().endswith(".xmi") or is_xml(content):
        return cas_of(load_xmi(content, types, layer), layer)
    return cas_of(load_json(content, layer), layer)


def _packed(content: bytes, layer: CasLayer) -> Cas:
    """The document of a zip file in a project: XMI with its type system, or JSON."""
    try:
        with opened_zip(BytesIO(content)) as packed:
            names = packed.namelist()
            found = [one for one in names if one.lower().endswith((".json", ".xmi"))]
            if len(found) != 1:
                raise spans.MarkError(f"holds {len(found)} documents (.json, .xmi); wanted one")
            document = _unpacked(packed, found[0])
            beside = types_beside(names, found[0])
            types = None if beside is None else (beside, _unpacked(packed, beside))
    except LimitError as error:
        raise spans.MarkError(str(error)) from error
    except DAMAGED as error:
        raise spans.MarkError(
            f"is not a zip file that can be read: {reason_of(error)}"
        ) from error
    return _cas(found[0], document, types, layer)


def _unpacked(packed: zipfile.ZipFile, name: str) -> bytes:
    try:
        return read_member(packed, packed.getinfo(name))
    except LimitError as error:
        raise LimitError(f"{visible(name)} {error}") from error


def _single(source: FileOrigin, layer: CasLayer, reader: DocumentReader) -> Iterator[Row]:
    """The rows of one file."""
    member = ProjectDocument(source.path.name, source.path.name, MemberKind.LOOSE)
    content = _read(source, source.path)
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise source.error(None, "changed while it was read; import it again")
    with source.refusing(spans.MarkError):
        cas = _cas(source.path.name, content, _types_of_file(source), layer)
        yield from reader.rows([Filed(member, cas)])


def _read(source: FileOrigin, path: Path) -> bytes:
    """The source, or a file beside it. Raises FormatError."""
    try:
        with source.reading():
            return read_file(path)
    except LimitError as error:
        raise source.error(None, f"{visible(path.name)} {error}") from error


def _types_of_file(source: FileOrigin) -> tuple[str, bytes] | None:
    """Name and content of the type system beside a file. Raises FormatError."""
    for path in sorted(source.path.parent.glob("*.[xX][mM][lL]")):
        if path.name.lower() == TYPE_SYSTEM.lower() and path.is_file():
            return path.name, _read(source, path)
    return None


# --- sniffing and the declarations -----------------------------------------------------------


def _sniff_json(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".json")
    start = first.start
    if first.takes is InputKind.TEXT and start.lstrip().startswith("{") and _is_json(start):
        return "it is a JSON object with the feature structures of a UIMA CAS"
    return None


def _is_json(start: str) -> bool:
    return '"%FEATURE_STRUCTURES"' in start or ('"%TYPES"' in start and '"%NAME"' in start)


def _sniff_xmi(first: First) -> str | None:
    if first.folder is not None:
        return _project_of(first.folder, ".xmi")
    start = first.start.lstrip()
    if first.takes is InputKind.TEXT and start.startswith("<") and _is_xmi(start):
        return "it is an XMI document of a UIMA CAS"
    if first.takes is InputKind.TEXT and first.suffix == ".xmi":
        return "its name ends in .xmi"
    return None


def _is_xmi(start: str) -> bool:
    return "http://www.omg.org/XMI" in start and (
        "uima/cas.ecore" in start or "xmi:XMI" in start
    )


def _project_of(folder: Folder, suffix: str) -> str | None:
    """Why a folder looks like a project with documents of that suffix."""
    names = documents(folder.named(suffix, ".zip"))
    # Documents in the folders of a project come first.
    names.sort(key=lambda name: member_of(name).part is MemberKind.LOOSE)
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


INCEPTION_JSON = Format(
    name="inception-json",
    extensions=(".json",),
    description=(
        "INCEpTION: a project or document as UIMA CAS JSON 0.4.0, a file for each annotator "
        "and one for the curated answers"
    ),
    example=EXAMPLE,
    read=spans.refusing_strays(read),
    sniff=_sniff_json,
    members=JsonWriter,
    carries_split=True,
    takes=(InputKind.TEXT, InputKind.FOLDER),
    holds=holds(How.OWN, **each(How.BESIDE, "TIME SEEN FLAGS RULE SPLIT")),
    settings=frozenset({"map", "window"}),
    extra="dkpro-cassis",
)
INCEPTION_XMI = replace(
    INCEPTION_JSON,
    name="inception-xmi",
    extensions=(".xmi",),
    description="INCEpTION: the same as UIMA CAS XMI with its TypeSystem.xml",
    example=XMI_EXAMPLE,
    sniff=_sniff_xmi,
    members=XmiWriter,
)
