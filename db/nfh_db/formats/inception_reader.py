"""Documents of INCEpTION: files of a project, layers, loading of JSON and XMI with
dkpro-cassis, numbers and turns of a CAS, and rows of a document.

Source: https://inception-project.github.io, user's guide, "Project export" and appendix on
formats; UIMA CAS JSON 0.4.0 (https://github.com/apache/uima-uimaj-io-jsoncas) and XMI
(https://uima.apache.org/d/uimaj-current/ref.html).
"""

import codecs
import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import lru_cache
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import msgspec

from nfh_db.formats.annotation_tasks import Claim, outcome
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name, whole_number
from nfh_db.formats.files import OBJECTS, LimitError, check_json, optional_library
from nfh_db.formats.rows import IGNORE, NOT_KNOWN, DialogBlock, GoldRow, ReadOptions, Span
from nfh_db.formats.spans import (
    ANCHOR,
    HEAD,
    HEAD_WITH,
    LAST_OF_ONE_UNIT,
    RELATIONS,
    LinkedMention,
    LinkedNumber,
    MarkError,
    TokenAlignment,
    based,
    meaning,
    numbers,
    read_graph,
    translated,
)
from nfh_db.formats.stored_annotation import Restored, StoredItem, restored
from nfh_db.messages import counted, reason_of, shown, tallied, visible
from nfh_db.serialization import turns_of
from nfh_models.domain import Anchor, Kind, Turn

if TYPE_CHECKING:
    import cassis
    from cassis.typesystem import FeatureStructure


# The files of a project export.
#
#     source/DOCUMENT                          the document as it was imported
#     annotation/DOCUMENT/INITIAL_CAS.json     the document as all annotators received it
#     annotation/DOCUMENT/NAME.json            the annotations of NAME
#     curation/DOCUMENT/CURATION_USER.json     the curated annotations
#
# A document of more than one file (XMI and its type system) is in NAME.zip.

INITIAL, CURATION = "INITIAL_CAS", "CURATION_USER"
SOURCE = "source"
NAME_BYTES = 200
SAFE = " !#$&'()+,;=@[]{}~"


class MemberKind(StrEnum):
    """The kind of a member of a project, by its folder and name."""

    INITIAL = "initial"
    USER = "user"
    CURATION = "curation"
    LOOSE = "loose"
    """A document outside the folders of a project."""


@dataclass(frozen=True, slots=True)
class ProjectDocument:
    """A member of a project that is a document."""

    name: str
    document: str
    part: MemberKind
    user: str = ""
    """The annotator; "" for documents of nobody."""


def folder_of(document: str, *, gold: bool = False) -> str:
    """The folder of a document's files."""
    return f"{'curation' if gold else 'annotation'}/{document}"


def user_file(name: str) -> str:
    """The name of an annotator's file, without suffix: characters that file systems do not
    accept are percent-encoded; a name that is too long becomes a hash.
    """
    found = "".join(c if c.isalnum() else quote(c, safe=SAFE) for c in name)
    if found in (INITIAL, CURATION) or found.startswith("."):
        found = f"%{ord(found[0]):02X}{found[1:]}"
    if len(found.encode()) > NAME_BYTES:
        return f"user-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return found


def user_of(stem: str) -> str:
    """The annotator of a file: the inverse of `user_file`, except for hashes."""
    name = unquote(stem)
    return name if user_file(name) == stem else stem


def member_of(name: str) -> ProjectDocument:
    """The document that a member is."""
    parts = name.split("/")
    stem = parts[-1].rpartition(".")[0]
    place = parts[-3] if len(parts) > 2 else ""
    if place == "curation":
        return ProjectDocument(name, parts[-2], MemberKind.CURATION)
    if place != "annotation":
        return ProjectDocument(name, name, MemberKind.LOOSE)
    if stem == INITIAL:
        return ProjectDocument(name, parts[-2], MemberKind.INITIAL)
    if stem == CURATION:
        return ProjectDocument(name, parts[-2], MemberKind.CURATION)
    return ProjectDocument(name, parts[-2], MemberKind.USER, user_of(stem))


def documents(names: Iterable[str]) -> list[str]:
    """The members that are documents; those under source only if there are no others."""
    found: list[str] = []
    sources: list[str] = []
    for name in names:
        *folders, last = name.split("/")
        if last == "exportedproject.json" or "log" in folders:
            continue
        (sources if SOURCE in folders else found).append(name)
    return found or sources


def unopened_documents(names: Iterable[str], members: Iterable[ProjectDocument]) -> list[str]:
    """The documents under source that no annotator has opened."""
    known = {member.document for member in members} | {member.name for member in members}
    parts = [(name, name.split("/")) for name in names]
    return [
        name
        for name, (*folders, last) in parts
        if folders[-1:] == [SOURCE] and last not in known and name not in known
    ]


def types_beside(names: Iterable[str], document: str) -> str | None:
    """The name of the type system of an XMI member: TypeSystem.xml, else another file with
    "type" in its name, in the folder of the member or the nearest enclosing one. None if there
    is none, and for JSON, which includes its type system.
    """
    if document.lower().endswith(".json"):
        return None
    within = document.split("/")[:-1]
    found = []
    for name in names:
        *folders, last = name.split("/")
        stem, _, end = last.lower().rpartition(".")
        if end == "xml" and "type" in stem and folders == within[: len(folders)]:
            found.append((stem != "typesystem", -len(folders), name))
    return min(found)[2] if found else None


# The layers that hold answers.
#
# Tokens and sentences are types of DKPro Core. A layer of a project is called
# webanno.custom.NAME; the values of a link feature are structures of a type of their own, with
# `role` and `target`.

DOCUMENT = "uima.tcas.DocumentAnnotation"
ANNOTATION = "uima.tcas.Annotation"
STRING, INTEGER = "uima.cas.String", "uima.cas.Integer"
TOKEN = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"  # noqa: S105 - no password
SENTENCE = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Sentence"
TOP, FS_ARRAY = "uima.cas.TOP", "uima.cas.FSArray"
DKPRO = "de.tudarmstadt."
INITIAL_VIEW = "_InitialView"
TEXT = "webanno.custom.NFHText"

Types = dict[str, dict[str, object]]
"""The value of %TYPES."""

BASIC = frozenset(
    {
        DOCUMENT,
        ANNOTATION,
        TOKEN,
        SENTENCE,
        TEXT,
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData",
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.TagsetDescription",
        "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.TagDescription",
        "de.tudarmstadt.ukp.clarin.webanno.api.type.CASMetadata",
    }
)
"""Types that are no annotations of a person."""


@dataclass(frozen=True, slots=True)
class CasLayer:
    """The names of layers, each followed by its features."""

    number: str = "webanno.custom.NFH"
    kind: str = "kind"
    sort: str = "sort"
    noun: str = "noun"
    comment: str = "comment"
    relation: str = "relation"
    heads: str = "heads"
    kept: str = "nfh"
    """JSON of the stored item."""
    head: str = "webanno.custom.NFHHead"
    same: str = "same"
    turn: str = "webanno.custom.NFHTurn"
    speaker: str = "speaker"
    turn_number: str = "number"
    said_from: str = "saidFrom"
    said_until: str = "saidUntil"
    named: frozenset[str] = frozenset()
    """Fields for which a mapping gives the name."""

    @classmethod
    def of(cls, names: Mapping[str, str]) -> "CasLayer":
        """With a project's names. Raises MarkError for an unknown key of the mapping."""
        known = [field.name for field in fields(cls) if field.name != "named"]
        for ours in names:
            if ours not in known:
                raise MarkError(
                    f"the mapping's table [layer] holds {shown(ours)}; wanted one of "
                    f"{', '.join(known)}"
                )
        return replace(cls(), **dict(names), named=frozenset(names))

    @property
    def heads_link(self) -> str:
        """The type of the links of a number."""
        return f"{self.number}{self.heads[:1].upper()}{self.heads[1:]}Link"

    @property
    def same_link(self) -> str:
        """The type of the links of a mention."""
        return f"{self.head}{self.same[:1].upper()}{self.same[1:]}Link"

    def types(self) -> Types:
        """The type system, in the form of CAS JSON."""
        strings = (self.kind, self.sort, self.noun, self.comment, self.relation, self.kept)
        return {
            TOKEN: _type(TOKEN, ANNOTATION),
            SENTENCE: _type(SENTENCE, ANNOTATION),
            TEXT: _type(TEXT, ANNOTATION, replaced=STRING),
            self.turn: _type(
                self.turn,
                ANNOTATION,
                **{self.speaker: STRING},
                **dict.fromkeys((self.turn_number, self.said_from, self.said_until), INTEGER),
            ),
            self.head: _type(self.head, ANNOTATION, **{self.same: f"{self.same_link}[]"}),
            self.same_link: _type(self.same_link, TOP, role=STRING, target=self.head),
            self.number: _type(
                self.number,
                ANNOTATION,
                **dict.fromkeys(strings, STRING),
                **{self.heads: f"{self.heads_link}[]"},
            ),
            self.heads_link: _type(self.heads_link, TOP, role=STRING, target=self.head),
        }


def _type(name: str, super_type: str, **features: str) -> dict[str, object]:
    return {
        "%NAME": name,
        "%SUPER_TYPE": super_type,
        **{key: {"%NAME": key, "%RANGE": range_} for key, range_ in features.items()},
    }


def attribute(feature: str) -> str:
    """The name of a feature in the library, which reserves two names."""
    return f"{feature}_" if feature in ("self", "type") else feature


def subtypes(types: "cassis.TypeSystem", name: str) -> frozenset[str]:
    """A type and its subtypes."""
    if not types.contains_type(name, match_exactly=True):
        return frozenset({name})
    return frozenset(one.name for one in types.get_type(name).descendants)


def check_layer(types: "cassis.TypeSystem", layer: CasLayer) -> None:
    """Raise MarkError unless the type system has the layer of numbers, and its features that
    the mapping names.
    """
    if not types.contains_type(layer.number, match_exactly=True):
        # Layers of the project come first.
        layers = subtypes(types, ANNOTATION) - BASIC
        layers_there = sorted(layers, key=lambda name: (name.startswith(DKPRO), name))
        there = ", ".join(map(shown, layers_there[:12])) or "none"
        raise MarkError(
            f"the type system has no layer {shown(layer.number)}; layers that are there: "
            f"{there}. Name the one that holds numbers in a file with "
            '[layer] number = "its name" (--map)'
        )
    annotated = subtypes(types, ANNOTATION)
    own = {
        feature.name
        for type_ in types.get_types()
        if type_.name in annotated
        for feature in type_.features
    }
    for ours in ("kind", "sort", "noun", "comment", "relation", "heads"):
        theirs = getattr(layer, ours)
        if ours in layer.named and attribute(theirs) not in own:
            features = [one.name for one in types.get_type(layer.number).features]
            there = ", ".join(map(shown, features)) or "none"
            raise MarkError(
                f"the layer {shown(layer.number)} has no feature {shown(theirs)} for {ours}; "
                f"features that are there: {there}"
            )


# Loading of JSON and XMI with dkpro-cassis.
#
# JSON includes its type system; XMI has it in another file, without which INCEpTION's own
# layers are used. Checked before the library reads a file, since it reports neither: XML with a
# document type, and JSON with repeated or unknown ids.

TYPE_SYSTEM = "TypeSystem.xml"
INSTALL = "pip install 'nfh-tui[formats]'"
XMI = "XMI with its type system; export it again"
JSON = "UIMA CAS JSON 0.4.0; export it again"
XMI_ALONE = f"XMI with INCEpTION's own layers; put its {TYPE_SYSTEM} beside it"

# Char of XML 1.0, fifth edition, section 2.2.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

OFFSET = re.compile(r"offset \[(-?\d+)\].*\[0-(\d+)\]")
UNKNOWN = re.compile(r"Type with name \[([^\]]*)\] not found")
"""Warnings of the library."""


Loaded = tuple["cassis.Cas", Counter[str]]
"""A document that the library loaded, and the annotations that were dropped, by type, because
INCEpTION's own type system lacks it.
"""


def writable(text: str) -> str:
    """The text with U+FFFD for each character that XML cannot hold."""
    return UNWRITABLE.sub("\ufffd", text)


def library() -> ModuleType:
    """dkpro-cassis. Raises MarkError if it is not installed."""
    missing = (
        "INCEpTION's documents are read and written by dkpro-cassis, which is missing; "
        f"install it: {INSTALL}"
    )
    return optional_library("cassis", MarkError(missing))


@contextmanager
def _loading(what: str) -> Iterator[list[warnings.WarningMessage]]:
    """Raise MarkError for errors in the block; the library's warnings are collected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # The library only warns of an invalid offset, and keeps it.
        warnings.filterwarnings("error", message="Not mapping")
        try:
            yield caught
        except MarkError:
            raise
        except Warning as error:
            found = OFFSET.search(str(error))
            offset, length = found.groups() if found else (visible(str(error)), "?")
            raise MarkError(
                f"an annotation begins or ends at {offset}, which is outside the text: it has "
                f"{length} UTF-16 code units, and an offset cannot lie inside a character"
            ) from error
        except Exception as error:  # the library and lxml raise errors of many types
            raise MarkError(f"cannot be read as {what} ({reason_of(error)})") from error


# --- JSON -----------------------------------------------------------------------------------


class _Json(msgspec.Struct):
    types: msgspec.Raw = msgspec.field(name="%TYPES", default=msgspec.Raw(b""))
    structures: Any = msgspec.field(name="%FEATURE_STRUCTURES", default=None)
    views: Any = msgspec.field(name="%VIEWS", default=None)
    older: Any = msgspec.field(name="_views", default=None)


def load_json(content: bytes, layer: CasLayer) -> Loaded:
    """A document in JSON. Raises MarkError for invalid content."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        check_json(content)
        found = msgspec.json.decode(content, type=_Json)
    except LimitError as error:
        raise MarkError(str(error)) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MarkError(
            f"is not JSON that can be read: export it again ({reason_of(error)})"
        ) from error
    if found.older is not None:
        raise MarkError(
            'is the older JSON form of UIMA CAS; export it as "UIMA CAS JSON 0.4.0" or XMI'
        )
    if not isinstance(found.structures, list | dict):
        raise MarkError(
            "is not a UIMA CAS in JSON: it has no %FEATURE_STRUCTURES; wanted the format "
            '"UIMA CAS JSON 0.4.0"'
        )
    _check_structures(found)
    cassis = library()
    with _loading(JSON):
        raw = bytes(found.types)
        types = _types_of_json(raw) if raw not in (b"", b"null") else _own_types(layer)
        cas = cassis.load_cas_from_json(
            content.decode(), typesystem=types, merge_typesystem=False
        )
        return cas, Counter()


def _check_structures(found: _Json) -> None:
    """Raise MarkError for what the library does not report: an id that is repeated, unknown, or
    in no view, and offsets that are not integers.
    """
    structures = _by_id(found.structures)
    listed = {id_ for members in _members(found.views) for id_ in members}
    for id_, one in structures.items():
        for key, value in _references(one):
            if type(value) is not int or value not in structures:
                raise MarkError(f"{id_}: {key}: there is no feature structure {shown(value)}")
            listed.add(value)
    for id_, one in structures.items():
        if "begin" not in one and "end" not in one:
            continue
        what = f"{str(one['%TYPE']).rpartition('.')[2]} {id_}"
        begin, end = one.get("begin"), one.get("end")
        if type(begin) is not int or type(end) is not int:
            raise MarkError(
                f"{what}: found {shown(begin)} to {shown(end)}, wanted two whole numbers"
            )
        if id_ not in listed:
            raise MarkError(f"{what} is listed in no view; wanted it among the %MEMBERS of one")


def _by_id(found: object) -> dict[int, Mapping[str, object]]:
    """The feature structures by their ids, from a list or an object."""
    structures: dict[int, Mapping[str, object]] = {}
    for id_, one in _pairs(found):
        if not isinstance(one, dict) or not isinstance(one.get("%TYPE"), str):
            raise MarkError(f"%FEATURE_STRUCTURES: found {shown(one)} without a %TYPE")
        if type(id_) is not int:
            raise MarkError(f"%ID: found {shown(id_)}, wanted a whole number")
        if structures.setdefault(id_, one) is not one:
            raise MarkError(f"%ID: {id_} occurs twice; wanted one feature structure of an id")
    return structures


def _pairs(found: object) -> Iterator[tuple[object, object]]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield int(key) if key.isdecimal() and len(key) < 18 else key, value
    elif isinstance(found, list):
        for value in found:
            yield (value.get("%ID") if isinstance(value, dict) else None), value


def _members(views: object) -> Iterator[list[int]]:
    if not isinstance(views, dict):
        raise MarkError(f"%VIEWS: found {shown(views)}, wanted an object")
    for view in views.values():
        members = view.get("%MEMBERS") if isinstance(view, dict) else None
        if not isinstance(members, list) or any(type(id_) is not int for id_ in members):
            raise MarkError(f"%VIEWS: %MEMBERS: found {shown(members)}, wanted a list of ids")
        yield members


def _references(one: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The keys and ids of a feature structure's references; 0 is no reference."""
    for key, value in one.items():
        if key.startswith("@") and value:
            yield key, value
    type_ = str(one["%TYPE"])
    if type_.startswith("uima.cas.") and type_ not in (FS_ARRAY, f"{TOP}[]"):
        return  # An array of values.
    elements = one.get("%ELEMENTS")
    if elements is not None and not isinstance(elements, list):
        raise MarkError(f"%ELEMENTS: found {shown(elements)}, wanted a list")
    yield from (("%ELEMENTS", element) for element in elements or () if element)


@lru_cache(maxsize=4)
def _types_of_json(types: bytes) -> "cassis.TypeSystem":
    empty = f'{{"%TYPES":{types.decode()},"%FEATURE_STRUCTURES":[],"%VIEWS":{{}}}}'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Of features named `type` and `self`.
        return library().load_cas_from_json(empty).typesystem


# --- type systems ---------------------------------------------------------------------------


def type_system(layer: CasLayer) -> "cassis.TypeSystem":
    """The types that a document is written with."""
    return _types_of_json(msgspec.json.encode(layer.types()))


@lru_cache(maxsize=4)
def _own_types(layer: CasLayer) -> "cassis.TypeSystem":
    """INCEpTION's own layers, which are DKPro Core's, and those of numbers."""
    cassis = library()
    return cassis.merge_typesystems(cassis.load_dkpro_core_typesystem(), type_system(layer))


@lru_cache(maxsize=4)
def _types_of_xml(name: str, content: bytes) -> "cassis.TypeSystem":
    try:
        plain = plain_xml(content)
    except MarkError as error:
        raise MarkError(f"its type system, {visible(name)}, {error}") from error
    return library().load_typesystem(BytesIO(plain))


# --- XMI ------------------------------------------------------------------------------------

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte-order marks; UTF-32 first, since one of its marks begins with one of UTF-16."""

ZEROS: dict[tuple[bool, ...], str] = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
}
"""Which of the first four bytes are 0 in a file that begins with ASCII, without a mark."""

DECLARATION = re.compile(r"\s*<\?xml\s.*?\?>", re.DOTALL)
DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]*)["']""")
BEGUN = re.compile(r"<(?!\?xml\b)")


def plain_xml(content: bytes) -> bytes:
    """XML in UTF-8 without a declaration, so that a parser reads what was checked here.

    Raises MarkError for a document type, whose entities can expand without bound, for more
    elements than OBJECTS, and for an unknown encoding.
    """
    encoding = _encoding(content)
    try:
        codec = codecs.lookup(encoding)
        if not codec._is_text_encoding:  # noqa: SLF001 - there is no other way to ask
            raise LookupError(encoding)
        text = content.decode(codec.name).removeprefix("\ufeff")
        text = DECLARATION.sub("", text, count=1).lstrip()
        plain = text.encode()
    except LookupError as error:
        raise MarkError(f"is in the encoding {shown(encoding)}, which is not known") from error
    except UnicodeError as error:
        raise MarkError(f"is not text in {encoding}: {reason_of(error)}") from error
    if not BEGUN.match(text):
        raise MarkError(f"is not XML: it begins with {shown(text[:20])}")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise MarkError(
            "declares a document type, which could hold entities; wanted XML as UIMA writes "
            "it, without <!DOCTYPE"
        )
    if text.count("<") > OBJECTS:
        raise MarkError(
            f"has {text.count('<'):,} elements; wanted at most {OBJECTS:,}: split it"
        )
    return plain


def is_xml(content: bytes) -> bool:
    """Whether a file looks like XML rather than JSON."""
    return content.startswith(codecs.BOM_UTF8 + b"<") or content.lstrip().startswith(b"<")


def _encoding(content: bytes) -> str:
    """The encoding of XML, from its byte-order mark, its first bytes, or its declaration."""
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return encoding
    zeros = tuple(byte == 0 for byte in content[:4])
    if True in zeros:
        return ZEROS.get(zeros, "unknown")
    declared = DECLARED.match(content[:1024])
    return declared[1].decode() if declared else "utf-8"


def load_xmi(content: bytes, types: tuple[str, bytes] | None, layer: CasLayer) -> Loaded:
    """A document in XMI. types: name and content of its type system; None if there is none.

    Raises MarkError for invalid content.
    """
    cassis = library()
    plain = plain_xml(content)
    with _loading(XMI if types is not None else XMI_ALONE) as caught:
        system = _own_types(layer) if types is None else _types_of_xml(*types)
        cas = cassis.load_cas_from_xmi(BytesIO(plain), typesystem=system, lenient=types is None)
        unknown = (UNKNOWN.search(str(one.message)) for one in caught)
        return cas, Counter(found[1] for found in unknown if found)


# The text, tokens, turns and numbers of a CAS.
#
# Offsets are code points: the library converts them from UTF-16 code units.


@dataclass(frozen=True, slots=True)
class CasMarkedNumber:
    """A number of the layer, with its features."""

    id: int
    span: Span
    kind: str
    sort: str
    noun: str
    comment: str
    relation: str
    kept: str
    """JSON of the stored item."""
    heads: tuple[LinkedMention, ...]


@dataclass(frozen=True, slots=True)
class CasTurn:
    """A turn of the layer: code points, number, speaker, and times in milliseconds."""

    span: Span
    number: int
    speaker: str | None
    begin: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Cas:
    """The content of a document."""

    text: str
    tokens: tuple[Span, ...]
    turns: tuple[CasTurn, ...]
    numbers: tuple[CasMarkedNumber, ...]
    loose: tuple[Span, ...] = ()
    """Mentions that no number is linked to."""
    other: Counter[str] = field(default_factory=Counter)
    """Annotations of layers that are not read, by layer."""
    counts: Counter[str] = field(default_factory=Counter)
    """By the keys of WARNINGS."""


def cas_of(loaded: Loaded, layer: CasLayer) -> Cas:
    """The content of a loaded document. Raises MarkError for invalid content."""
    cas, unknown = loaded
    found = _Reader(cas, unknown, layer).cas()
    if unknown and not found.numbers:
        layers = ", ".join(map(shown, sorted(unknown)[:12]))
        raise MarkError(
            f"there is no {TYPE_SYSTEM} beside it, and INCEpTION's own layers do not have "
            f"{layers}; put it beside the document, or name the layer that holds numbers in a "
            'file with [layer] number = "its name" (--map)'
        )
    return found


def _what(one: "FeatureStructure") -> str:
    """An annotation in a message: "NFH 14"."""
    return f"{one.type.name.rpartition('.')[2]} {one.xmiID}"


class _Reader:
    def __init__(self, cas: "cassis.Cas", unknown: Counter[str], layer: CasLayer) -> None:
        self._types = cas.typesystem
        self._unknown = unknown
        self._layer = layer
        views = [sofa.sofaID for sofa in cas.sofas if sofa.sofaString is not None]
        if INITIAL_VIEW in views:
            views = [INITIAL_VIEW]
        if len(views) != 1:
            raise MarkError(
                f"found {len(views)} texts (sofaString), wanted one, of the view {INITIAL_VIEW}"
            )
        view = cas.get_view(views[0])
        self._text: str = view.sofa_string
        self._all: Sequence[FeatureStructure] = view.select_all_fs()
        self._listed = {one.xmiID for one in self._all}
        self._wide = not self._text.isascii() and max(self._text) > LAST_OF_ONE_UNIT
        self._counts: Counter[str] = Counter()

    def cas(self) -> Cas:
        layer = self._layer
        kinds = {layer.number: "number", layer.head: "head", layer.turn: "turn", TOKEN: "token"}
        of_type = {
            name: what for type_, what in kinds.items() for name in subtypes(self._types, type_)
        }
        of_type[TEXT] = "text"
        found: dict[str, list[FeatureStructure]] = {}
        other = Counter(self._unknown)
        annotations = subtypes(self._types, ANNOTATION)
        quiet = BASIC | subtypes(self._types, SENTENCE)
        for one in self._all:
            name = one.type.name
            what = of_type.get(name)
            if what is not None:
                found.setdefault(what, []).append(one)
            elif name in annotations and name not in quiet:
                other[name] += 1
        if "number" not in found:
            check_layer(self._types, layer)
        text = self._restored(found.get("text", ()))
        tokens = sorted(map(self._span, found.get("token", ())))
        heads = {one.xmiID: self._span(one) for one in found.get("head", ())}
        linked: set[int] = set()
        numbers = [self._number(one, linked) for one in found.get("number", ())]
        self._counts["empty"] = sum(start == end for start, end in tokens)
        return Cas(
            text,
            tuple(span for span in tokens if span[0] < span[1]),
            tuple(map(self._turn, found.get("turn", ()))),
            tuple(sorted(numbers, key=lambda one: (one.span, one.id))),
            tuple(sorted(span for id_, span in heads.items() if id_ not in linked)),
            other,
            self._counts,
        )

    def _restored(self, notes: "Sequence[FeatureStructure]") -> str:
        """The text with the characters that the export replaced."""
        text = self._text
        for one in notes:
            try:
                pairs = msgspec.json.decode(
                    self._word(one, "replaced") or "[]", type=list[tuple[int, int]]
                )
                characters = list(text)
                for place, number in pairs:
                    if place < 0 or number > 0xFFFF:
                        raise ValueError(place)
                    characters[place] = chr(number)
            except (msgspec.MsgspecError, IndexError, ValueError) as error:
                raise MarkError(
                    f"{_what(one)}: replaced is invalid: {reason_of(error)}"
                ) from error
            text = "".join(characters)
        return text

    def _span(self, one: "FeatureStructure") -> Span:
        """The code points of an annotation."""
        begin, end = one.begin, one.end
        if type(begin) is not int or type(end) is not int:
            raise MarkError(
                f"{_what(one)}: found {shown(begin)} to {shown(end)}, wanted two whole numbers"
            )
        if self._wide and one.xmiID not in self._listed:
            raise MarkError(
                f"{_what(one)} is listed in no view, so its offsets are unknown; wanted it "
                "among the members of one"
            )
        if not 0 <= begin <= end <= len(self._text):
            wanted = "it ends before it begins"
            if begin <= end:
                wanted = f"the text has {len(self._text)} characters"
            raise MarkError(f"{_what(one)}: {begin} to {end}: {wanted}")
        return begin, end

    def _mark(self, one: "FeatureStructure") -> Span:
        """The code points of an annotation that must not be empty."""
        if not hasattr(one, "begin"):
            raise MarkError(f"{_what(one)} is linked to, and marks no text")
        start, end = self._span(one)
        if start == end:
            raise MarkError(f"{_what(one)}: holds no character, at {start}")
        return start, end

    def _turn(self, one: "FeatureStructure") -> CasTurn:
        layer = self._layer
        number, begin, until = (
            self._integer(one, key)
            for key in (layer.turn_number, layer.said_from, layer.said_until)
        )
        speaker = getattr(one, attribute(layer.speaker), None)
        return CasTurn(
            self._span(one),
            number or 0,
            None if speaker is None else self._word(one, layer.speaker),
            begin,
            until,
        )

    @staticmethod
    def _integer(one: "FeatureStructure", key: str) -> int | None:
        value = getattr(one, attribute(key), None)
        if value is None:
            return None
        if type(value) is not int or abs(value) > INTEGER_LIMIT:
            wanted = whole_number(value)
            raise MarkError(f"{_what(one)}: {key}: found {shown(value)}, wanted {wanted}")
        return value

    @staticmethod
    def _word(one: "FeatureStructure", key: str) -> str:
        value = getattr(one, attribute(key), None)
        if value is not None and not isinstance(value, str):
            raise MarkError(f"{_what(one)}: {key}: found {shown(value)}, wanted text")
        return value or ""

    def _number(self, one: "FeatureStructure", linked: set[int]) -> CasMarkedNumber:
        layer = self._layer
        links = [
            (target, self._word(link, "role")) for link, target in self._links(one, layer.heads)
        ]
        heads = {(target.xmiID, role): target for target, role in links}
        self._counts["twice"] += len(links) - len(heads)
        places: dict[int, int] = {}
        for place, (target, _) in enumerate(heads):
            places.setdefault(target, place)
            linked.add(target)
        return CasMarkedNumber(
            one.xmiID,
            self._mark(one),
            self._word(one, layer.kind),
            self._word(one, layer.sort),
            self._word(one, layer.noun),
            self._word(one, layer.comment),
            self._word(one, layer.relation),
            self._word(one, layer.kept),
            tuple(
                LinkedMention(self._mark(target), role, self._same(target, places))
                for (_, role), target in heads.items()
            ),
        )

    def _same(self, one: "FeatureStructure", places: Mapping[int, int]) -> int | None:
        """The index of the mention that the feature `same` of this one leads to."""
        targets = [target.xmiID for _, target in self._links(one, self._layer.same)]
        return next(
            (places[id_] for id_ in targets if id_ != one.xmiID and id_ in places), None
        )

    def _links(
        self, one: "FeatureStructure", feature: str
    ) -> "Iterator[tuple[FeatureStructure, FeatureStructure]]":
        """The links of a feature, each with its target."""
        array = getattr(one, attribute(feature), None)
        elements = getattr(array, "elements", None) or []
        if not isinstance(elements, list):
            raise MarkError(f"{_what(one)}: {feature}: found {shown(elements)}, wanted a list")
        for link in elements:
            target = getattr(link, "target", None)
            if target is None:
                self._counts["nowhere"] += 1
            else:
                yield link, target


# The rows of a document.
#
# All files of a document must have the same text and tokens. An exported number stores an item
# (see `stored_annotation`); what INCEpTION shows wins over it.

WARNINGS = {
    "loose": ("mention", "that no number is linked to left out"),
    "nowhere": ("link", "that lead nowhere left out"),
    "twice": ("link", "to something that is already linked, counted once"),
    "empty": ("token", "without a character left out"),
    "given": (
        "number", "answered in the original document: these answers belong to nobody, and "
                  "are left out",
    ),
    "changed": ("answer", "changed since they were exported: the file's values count"),
}  # fmt: skip
"""What is counted, and the warning of each count."""


@dataclass(frozen=True, slots=True)
class Filed:
    """One file of a document."""

    member: ProjectDocument
    cas: Cas


class WrongFileError(MarkError):
    """An error in one file of a document."""

    def __init__(self, member: ProjectDocument, message: str) -> None:
        super().__init__(message)
        self.member = member


class DocumentReader:
    """Makes rows of documents, one after another."""

    def __init__(self, how: ReadOptions) -> None:
        self._counts: Counter[str] = Counter()
        self._other: Counter[str] = Counter()
        """Annotations of layers that are not read."""
        self._how = how
        self._line = 0

    def warnings(self) -> Iterator[str]:
        """A sentence for each count that is not 0."""
        if self._other:
            layers = ", ".join(visible(name) for name in sorted(self._other)[:8])
            total = counted(self._other.total(), "annotation")
            yield f"{total} of layers that are not about numbers left out: {layers}"
        yield from tallied((self._counts[key], *words) for key, words in WARNINGS.items())

    def rows(self, files: Sequence[Filed]) -> Iterator[GoldRow | DialogBlock]:
        """The rows of one document's files, at least one. Raises WrongFileError."""
        for file in files:
            self._other += file.cas.other
            self._counts += file.cas.counts
            self._counts["loose"] += len(file.cas.loose)
            if file.member.user and not is_a_name(file.member.user):
                raise WrongFileError(
                    file.member, f"its name cannot be an annotator's; wanted {A_NAME}"
                )
        first = files[0].cas
        for file in files[1:]:
            if (file.cas.text, file.cas.tokens) != (first.text, first.tokens):
                raise WrongFileError(
                    file.member,
                    f"its text or tokens are not those of {visible(files[0].member.name, 200)}",
                )
        _check_turns(files)
        if not any(file.cas.numbers for file in files):
            self._line += 1
            yield block_of(first.text, self._line)
            return
        try:
            alignment, tokenizer = self._grid([file.cas for file in files])
        except MarkError as error:
            raise WrongFileError(files[0].member, str(error)) from error
        open_ = set()
        for file in files:
            for row in self._of_file(file, alignment, tokenizer):
                brings = row.gold or row.votes or row.flags
                if brings or row.anchor not in open_:
                    open_.add(row.anchor)
                    yield row

    def _grid(self, all_: Sequence[Cas]) -> tuple[TokenAlignment, str | None]:
        """Tokens on whose bounds the spans of all files lie. Tokens of an exported text are
        never split: its answers would be of another passage.
        """
        first = all_[0]
        ours = next((number.kept for cas in all_ for number in cas.numbers if number.kept), "")
        marks = [] if ours else [span for cas in all_ for span in _marks(cas)]
        turns = _turns(next((cas for cas in all_ if cas.turns), first))
        if ours:
            turns = _as_exported(turns, _item_of(ours))
        made = based(first.text, marks, self._how, first.tokens or None, turns)
        return made.alignment, made.tokenizer

    def _of_file(
        self, file: Filed, alignment: TokenAlignment, tokenizer: str | None
    ) -> Iterator[GoldRow]:
        before: dict[object, CasMarkedNumber] = {}
        for number in file.cas.numbers:
            alike = replace(number, id=0)
            same = before.setdefault(number.span, alike)
            if same != alike:
                raise WrongFileError(
                    file.member,
                    f"{_item(number, file.cas)}: another number at this place differs; wanted "
                    "one",
                )
            if same is not alike:
                continue
            self._line += 1
            try:
                row = self._row(file, number, alignment)
            except MarkError as error:
                raise WrongFileError(
                    file.member, f"{_item(number, file.cas)}: {error}"
                ) from error
            if row is not None:
                yield replace(row, tokenizer=tokenizer)

    def _row(
        self, file: Filed, number: CasMarkedNumber, alignment: TokenAlignment
    ) -> GoldRow | None:
        how = self._how
        number = self._with_loose(file.cas, number)
        linked = _linked(number, how)
        where = visible(file.member.name, 200)
        ours = bool(number.kept)
        exact = read_graph(linked.graph(), how, file.cas.text, where, exported=ours)
        _check_relation(linked, how, where)
        if exact.spots[0].label == IGNORE:
            return None
        marked = numbers(translated(linked.tolerant_graph(how.labels), how.labels))[0]
        anchor = Anchor(*alignment.tokens(*number.span))
        kept = _kept(number, alignment)
        foreign = kept is None
        if kept is not None and kept.anchor != anchor:
            kept = None  # The number was moved: the stored item is of another one.
        if kept is not None:
            row = kept.row(self._line, None, kept.votes, kept.flags)
        else:
            row = GoldRow(
                self._line, alignment.passage, anchor, None, None, (), (), foreign=foreign
            )
        if file.member.part is MemberKind.INITIAL:
            self._counts["given"] += bool(number.kind or number.heads)
            return row
        claim = _claim(file.member, number, kept)
        found = outcome(claim, marked, exact, alignment, how, kept)
        self._counts["changed"] += found.changed
        return replace(row, gold=found.gold, votes=found.votes, flags=found.flags)

    def _with_loose(self, cas: Cas, number: CasMarkedNumber) -> CasMarkedNumber:
        """The number with all unlinked mentions, if it is the only one and lacks a noun."""
        kind = self._how.labels.labels.get(number.kind, number.kind)
        lacks = kind == Kind.REFERENCE or not (kind or number.kept)
        if number.heads or not cas.loose or not lacks or len(cas.numbers) > 1:
            return number
        self._counts["loose"] -= len(cas.loose)
        return replace(number, heads=tuple(LinkedMention(span, HEAD) for span in cas.loose))


def _item(number: CasMarkedNumber, cas: Cas) -> str:
    start, end = number.span
    return f"the number {number.id} at {start} to {end}, {shown(cas.text[start:end])}"


def _marks(cas: Cas) -> Iterator[tuple[int, int]]:
    for number in cas.numbers:
        yield number.span
        yield from (head.span for head in number.heads)
    yield from cas.loose


def _claim(member: ProjectDocument, number: CasMarkedNumber, kept: Restored | None) -> Claim:
    """The claim of a file, with the stored noun and comment if XML could not hold them."""
    gold = member.part is MemberKind.CURATION
    who = None if gold else member.user or None
    if kept is not None and not gold:
        names = {vote.annotator for vote in kept.votes}
        names |= {flag.annotator for flag in kept.flags}
        stem = member.name.rpartition("/")[2].rpartition(".")[0]
        if len(names) == 1 and (
            member.part is MemberKind.LOOSE or user_file(next(iter(names))) == stem
        ):
            who = names.pop()
    answers = [vote.answer for vote in kept.votes] if kept else []
    if kept and kept.gold and (gold or who is None):
        answers = [kept.gold.answer]
    noun, comment = number.noun, number.comment
    for answer in answers:
        if writable(answer.noun or "") == noun:
            noun = answer.noun or ""
        if writable(answer.comment) == comment:
            comment = answer.comment
    return Claim(who, gold=gold, noun=noun, comment=comment)


def _linked(number: CasMarkedNumber, how: ReadOptions) -> LinkedNumber:
    """The number with labels of spans and links."""
    label = number.kind or ANCHOR
    names, relations = how.labels.labels, how.labels.relations
    if number.sort and names.get(label, label) == Kind.OTHER:
        label = f"{Kind.OTHER}_{names.get(number.sort, number.sort)}"
    # An empty role, AND and OR need no mapping.
    roles = {"": HEAD} | {relation.value: role for relation, role in HEAD_WITH.items()}
    mentions = tuple(
        head if head.role in relations else replace(head, role=roles.get(head.role, head.role))
        for head in number.heads
    )
    grouped = bool(number.kept) or any(head.same is not None for head in number.heads)
    return LinkedNumber(number.span, label, mentions, number.relation, grouped)


def _check_relation(number: LinkedNumber, how: ReadOptions, where: str) -> None:
    """Note an unknown relation of a number whose graph has no link for it."""
    relation = meaning(number.relation, how.labels.relations, RELATIONS)
    if number.relation and not number.grouped and relation is None:
        how.tally.stray("relations", number.relation, NOT_KNOWN, f"in {where}")


# --- text -----------------------------------------------------------------------------------


def _kept(number: CasMarkedNumber, alignment: TokenAlignment) -> Restored | None:
    if not number.kept:
        return None
    passage = alignment.passage
    offsets = list(zip(passage.starts, passage.ends, strict=True))
    return restored(_item_of(number.kept), passage.text, offsets)


def _item_of(kept: str) -> StoredItem:
    try:
        return msgspec.json.decode(kept, type=StoredItem)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise MarkError(f"the feature of nfh-tui is invalid: {reason_of(error)}") from error


def _check_turns(files: Sequence[Filed]) -> None:
    """Raise WrongFileError for a file whose turns differ from those of another one."""
    turned = [file for file in files if file.cas.turns]
    for file in turned[1:]:
        if set(file.cas.turns) != set(turned[0].cas.turns):
            raise WrongFileError(
                file.member, f"its turns are not those of {visible(turned[0].member.name, 200)}"
            )


def _as_exported(turns: Sequence[Turn] | None, item: StoredItem) -> list[Turn]:
    """The turns of a stored item, whose speakers the file may not hold as they are.

    Raises MarkError if the file shows other turns.
    """
    out = list(turns_of(item.turns))
    if turns is None or list(map(_written, out)) == list(map(_written, turns)):
        return out
    raise MarkError(
        "the turns were changed since the document was exported; wanted them as they were"
    )


def _written(turn: Turn) -> Turn:
    return replace(turn, speaker=None if turn.speaker is None else writable(turn.speaker))


def _turns(cas: Cas) -> list[Turn] | None:
    """The turns by their tokens; None if there are none.

    Raises MarkError unless each token is in one turn.
    """
    if not cas.turns or not cas.tokens:
        return None
    at = {start: index for index, (start, _) in enumerate(cas.tokens)}
    until = {end: index + 1 for index, (_, end) in enumerate(cas.tokens)}
    turns = []
    place = number = 0
    for spoken in sorted(cas.turns, key=lambda one: one.span):
        start, end = spoken.span
        first, stop = at.get(start), until.get(end)
        if first != place or stop is None or stop <= first or spoken.number < number:
            raise MarkError(
                f"the turn {spoken.number} at {start} to {end} does not follow the one before; "
                "wanted turns that hold each token once, with numbers that never fall"
            )
        turns.append(
            Turn(spoken.number, spoken.speaker, first, stop, spoken.begin, spoken.until)
        )
        place, number = stop, spoken.number
    if place != len(cas.tokens):
        raise MarkError(f"the turns hold {place} of {len(cas.tokens)} tokens; wanted all")
    return turns
