"""Formats of INCEpTION: projects and documents as UIMA CAS in JSON and in XMI; their
declaration and their writer.

A folder or zip as its project export makes it, or one document alone, whose answers are then
gold unless it says whose they are. Offsets are UTF-16 code units, ends exclusive.
"""

import hashlib
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.base import LOOKED_AT, First, Format, How, InputKind, holds
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
    unopened,
    user_file,
    writable,
)
from nfh_db.formats.rows import LabelMap, ReadOptions, Row, Writing
from nfh_db.formats.spans import ANCHOR, SAME, MarkError, graph_of, label_of, renamed
from nfh_db.formats.stored_annotation import StoredItem, stored
from nfh_db.messages import counted, visible
from nfh_db.records import ExportRecord, Role, Vote
from nfh_models.domain import Anchor, Answer, Passage, Sort

if TYPE_CHECKING:
    import cassis
    from cassis.typesystem import FeatureStructure


# Answers drawn into CAS documents: one for each annotator, one for the gold.
#
# A document is one passage with its tokens, turns (sentences too, since INCEpTION shows one a
# line) and numbers. Offsets are code points here; dkpro-cassis writes them as UIMA counts.

Words = Callable[[str], str]
"""Makes a text one that the file can hold."""


@dataclass(frozen=True, slots=True)
class CasNumber:
    """A number of a document. answer: None where it is open. kept: what goes along."""

    anchor: Anchor
    answer: Answer | None
    kept: StoredItem | None


@dataclass(frozen=True, slots=True)
class File:
    """A document of one annotator, or of the gold. name: of the member, without its end."""

    name: str
    passage: Passage
    numbers: tuple[CasNumber, ...]


def files(records: Iterable[ExportRecord], suffix: str) -> Iterator[File]:
    """The documents that records make; records come by passage and span.

    suffix: the end of their names, which INCEpTION has in the names of folders, too.
    """
    passages = groupby(records, lambda record: record.passage.digest)
    for rank, (digest, group) in enumerate(passages, 1):
        yield from _of_passage(f"{rank:07d}-{digest[:12]}", suffix, list(group))


def _of_passage(stem: str, suffix: str, records: Sequence[ExportRecord]) -> Iterator[File]:
    document = f"{stem}{suffix}"
    passage = records[0].passage
    names = sorted(
        {vote.annotator for record in records for vote in record.votes}
        | {flag.annotator for record in records for flag in record.flags}
    )
    source = tuple(CasNumber(record.anchor, None, _kept(record)) for record in records)
    yield File(f"{SOURCE}/{stem}", passage, source)
    first = tuple(_open(record) for record in records)
    yield File(f"{folder_of(document)}/{INITIAL}", passage, first)
    for name in names:
        drawn = tuple(_of_user(record, name) for record in records)
        yield File(f"{folder_of(document)}/{user_file(name)}", passage, drawn)
    gold = tuple(
        CasNumber(record.anchor, record.gold.answer, _kept(record, gold=True))
        for record in records
        if record.gold is not None
    )
    if gold:
        yield File(f"{folder_of(document, gold=True)}/{CURATION}", passage, gold)


def _own(record: ExportRecord, name: str) -> Vote | None:
    """The answer that somebody's document shows: the annotator's, else the adjudicator's."""
    votes = [vote for vote in record.votes if vote.annotator == name]
    return min(votes, key=lambda vote: vote.role is not Role.ANNOTATOR, default=None)


def _open(record: ExportRecord) -> CasNumber:
    """A number as everybody is given it. With it goes what no other document shows: the second
    answer of somebody who is annotator and adjudicator.
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
    """Makes the CAS of documents. words: applied to every text that is written.

    Raises ExportError where the library is missing.
    """

    def __init__(self, layer: CasLayer, labels: LabelMap, words: Words = str) -> None:
        self._layer = layer
        self._labels = labels
        self._words = words
        try:
            self._library = library()
            self.types = type_system(layer)
        except MarkError as error:
            raise ExportError(str(error)) from error

    def cas(self, file: File) -> "cassis.Cas":
        """The document."""
        made = self._of_text(file.passage)
        for number in file.numbers:
            self._number(made, number, file.passage)
        return made

    def _new(self, type_: str, **features: object) -> "FeatureStructure":
        """A feature structure, not yet listed in the view."""
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
        tokens = passage.tokens
        for token in tokens:
            made.add(self._new(TOKEN, begin=token.start, end=token.end))
        for turn in passage.turns:
            begin, end = tokens[turn.start].start, tokens[turn.end - 1].end
            line = _line_of(passage, turn.start)
            made.add(self._new(SENTENCE, begin=line, end=end))
            said = {
                layer.turn_number: turn.number,
                layer.speaker: None if turn.speaker is None else self._words(turn.speaker),
                layer.said_from: turn.begin,
                layer.said_until: turn.until,
            }
            made.add(self._new(layer.turn, begin=begin, end=end, **said))
        return made

    def _number(self, made: "cassis.Cas", drawn: CasNumber, passage: Passage) -> None:
        """Add a number with its mentions and links."""
        layer = self._layer
        starts = [token.start for token in passage.tokens]
        ends = [token.end for token in passage.tokens]
        graph = graph_of(drawn.answer, drawn.anchor, starts, ends)
        named = renamed(graph, self._labels)
        spots = [
            self._new(layer.head if place else layer.number, begin=spot.start, end=spot.end)
            for place, spot in enumerate(graph.spots)
        ]
        number = spots[0]
        for feature, words in self._features(drawn, named.spots[0].label).items():
            setattr(number, attribute(feature), words)
        links = []
        for ours, theirs in zip(graph.links, named.links, strict=True):
            source, target = spots[ours.source], spots[ours.target]
            if ours.source == 0:
                links.append(self._new(layer.heads_link, role=theirs.label, target=target))
            elif ours.label == SAME:
                link = self._new(layer.same_link, role=theirs.label, target=target)
                setattr(source, attribute(layer.same), self._array([link]))
            else:
                setattr(number, attribute(layer.relation), theirs.label)
        if links:
            setattr(number, attribute(layer.heads), self._array(links))
        made.add_all(spots)

    def _array(self, elements: "list[FeatureStructure]") -> "FeatureStructure":
        return self._new(FS_ARRAY, elements=elements)

    def _features(self, drawn: CasNumber, label: str) -> dict[str, str]:
        layer, answer = self._layer, drawn.answer
        found: dict[str, str] = {}
        if label == label_of(answer):
            kind, _, sort = label.partition("_")
            if answer is not None and kind == "OTHER" and sort in tuple(Sort):
                found = {layer.kind: kind, layer.sort: sort}
            elif label != ANCHOR:
                found = {layer.kind: label}
        else:
            found = {layer.kind: label}
        if answer is not None and answer.noun:
            found[layer.noun] = self._words(answer.noun)
        if answer is not None and answer.comment:
            found[layer.comment] = self._words(answer.comment)
        if drawn.kept is not None:
            found[layer.kept] = escaped(msgspec.json.encode(drawn.kept).decode())
        return found


def _line_of(passage: Passage, token: int) -> int:
    """Where what is said in a turn begins to be shown: before its first token, with the name
    of who speaks. INCEpTION shows sentences, and nothing that stands between them.
    """
    start = passage.tokens[token].start
    before = passage.tokens[token - 1].end if token else 0
    line = max(before, passage.text.rfind("\n", before, start) + 1)
    return start - len(passage.text[line:start].lstrip())


def escaped(json: str) -> str:
    """JSON in which the two characters that XML knows no way to write are escapes."""
    return json.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _replaced(text: str, written: str) -> str:
    """What stood at the places where another character was written: code point, character's
    number.
    """
    pairs = [
        (at, ord(one))
        for at, (one, two) in enumerate(zip(text, written, strict=True))
        if one != two
    ]
    return msgspec.json.encode(pairs).decode()


def named(how: Writing) -> CasLayer:
    """The layers to write, with a project's own names. Raises ExportError for a wrong one."""
    try:
        return CasLayer.of(how.labels.layer)
    except MarkError as error:
        raise ExportError(str(error)) from error


class JsonWriter:
    """Makes the folder of documents that INCEpTION's project export has. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = CasDocumentWriter(named(how), how.labels)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """annotation/DOCUMENT/NAME.json of each annotator, curation/…/CURATION_USER.json."""
        for file in files(records, ".json"):
            cas = self._document.cas(file)
            yield f"{file.name}.json", cas.to_json(pretty_print=False).encode()


class XmiWriter:
    """Makes the same project in XMI, with one TypeSystem.xml for all. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = CasDocumentWriter(named(how), how.labels, writable)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """The type system, and with the first record the members that JsonWriter makes."""
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


# --- in -------------------------------------------------------------------------------------


def read(origin: FileOrigin, how: ReadOptions) -> Iterator[Row]:
    """The rows of a project, or of one document. Raises FormatError."""
    try:
        layer = CasLayer.of(how.labels.layer)
    except MarkError as error:
        raise origin.error(None, str(error)) from error
    reader = DocumentReader(how)
    if isinstance(origin, Folder):
        yield from _project(origin, layer, reader)
    else:
        yield from _alone(origin, layer, reader)
    origin.warnings.extend(reader.counts.warnings())


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
    """The members of a project: what stands outside its folders is no document of it."""
    within = [one for one in members if one.part is not MemberKind.LOOSE]
    outside = [one for one in members if one.part is MemberKind.LOOSE]
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


def _member(folder: Folder, name: str, layer: CasLayer) -> Cas:
    content = folder.read(name)
    try:
        if name.lower().endswith(".zip"):
            return _packed(content, layer)
        beside = types_beside(folder.named(".xml"), name)
        types = None if beside is None else (beside, folder.read(beside))
        return _cas(name, content, types, layer)
    except MarkError as error:
        raise folder.member_error(name, None, str(error)) from error


def _cas(name: str, content: bytes, types: tuple[str, bytes] | None, layer: CasLayer) -> Cas:
    """A document in JSON or XMI. types: of XMI, the name and content of its type system."""
    if name.lower().endswith(".xmi") or is_xml(content):
        return cas_of(load_xmi(content, types, layer), layer)
    return cas_of(load_json(content, layer), layer)


def _packed(content: bytes, layer: CasLayer) -> Cas:
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
            types = None if beside is None else (beside, _unpacked(packed, beside))
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


def _alone(source: FileOrigin, layer: CasLayer, reader: DocumentReader) -> Iterator[Row]:
    """The rows of one file."""
    member = ProjectDocument(source.path.name, source.path.name, MemberKind.LOOSE)
    content = _content(source)
    try:
        cas = _cas(source.path.name, content, _types_of_file(source), layer)
        yield from reader.rows([Filed(member, cas)])
    except MarkError as error:
        raise source.error(None, str(error)) from error


def _content(source: FileOrigin) -> bytes:
    content = _read(source, source.path)
    if hashlib.sha256(content).hexdigest() != source.sha256:
        raise source.error(None, "changed while it was read; import it again")
    return content


def _read(source: FileOrigin, path: Path) -> bytes:
    """A file as a whole: the source, or one beside it. Raises FormatError."""
    try:
        return read_file(path)
    except LimitError as error:
        raise source.error(None, f"{visible(path.name)} {error}") from error
    except OSError as error:
        raise source.unreadable(error) from error


def _types_of_file(source: FileOrigin) -> tuple[str, bytes] | None:
    """Name and content of the type system beside a file, if any. Raises FormatError."""
    for path in sorted(source.path.parent.glob("*.[xX][mM][lL]")):
        if path.name.lower() == TYPE_SYSTEM.lower() and path.is_file():
            return path.name, _read(source, path)
    return None


# --- which is which -------------------------------------------------------------------------


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
    """Why a folder looks like a project with documents of that kind."""
    names = documents(folder.named(suffix, ".zip"))
    # Documents in a folder of their own come first: they are surer than what lies loose.
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
    takes=(InputKind.TEXT, InputKind.FOLDER),
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
    takes=(InputKind.TEXT, InputKind.FOLDER),
    holds=HOLDS,
    settings=frozenset({"map"}),
    extra="dkpro-cassis",
)
