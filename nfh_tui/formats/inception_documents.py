"""Documents of INCEpTION as bytes: UIMA CAS in JSON and in XMI, both by dkpro-cassis.

JSON (0.4.0, https://github.com/apache/uima-uimaj-io-jsoncas) holds its type system. XMI
(https://uima.apache.org/d/uimaj-current/ref.html) has it in a file of its own; where that is
missing, INCEpTION's own layers stand in for it. What the library would take without a word is
refused before it sees a file: XML with a document type, whatever its encoding, and JSON in
which an id stands twice or leads nowhere.
"""

import codecs
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING, Any

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.limits import OBJECTS, LimitError, check_json
from nfh_db.formats.wording import shown, visible
from nfh_tui.formats.inception_types import FS_ARRAY, TOP, Layer

if TYPE_CHECKING:
    import cassis

TYPE_SYSTEM = "TypeSystem.xml"
INSTALL = "pip install 'nfh-tui[formats]'"
XMI, JSON = "XMI with its type system", "UIMA CAS JSON 0.4.0"
XMI_ALONE = f"XMI with INCEpTION's own layers; put its {TYPE_SYSTEM} beside it"

# Char of XML 1.0, fifth edition, section 2.2.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

OFFSET = re.compile(r"offset \[(-?\d+)\].*\[0-(\d+)\]")
UNKNOWN = re.compile(r"Type with name \[([^\]]*)\] not found")
"""What the library warns of, with what stands in it."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document as the library has it. unknown: what was left out of it because the type
    system, which is INCEpTION's own, does not have its type; by that.
    """

    cas: "cassis.Cas"
    unknown: Counter[str] = field(default_factory=Counter)


def writable(text: str) -> str:
    """The text with U+FFFD for each character that XML cannot hold."""
    return UNWRITABLE.sub("\ufffd", text)


def library() -> ModuleType:
    """dkpro-cassis. Raises MarkError where it is missing."""
    try:
        import cassis
    except ImportError as error:
        raise MarkError(
            "INCEpTION's documents are read and written by dkpro-cassis, which is missing; "
            f"install it: {INSTALL}"
        ) from error
    found: ModuleType = cassis
    return found


@contextmanager
def _loading(what: str) -> Iterator[list[warnings.WarningMessage]]:
    """What is done in it raises MarkError; the library's warnings are gathered."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        # The library only warns of an offset that is none, and keeps it as it is.
        warnings.filterwarnings("error", message="Not mapping")
        try:
            yield said
        except MarkError:
            raise
        except Warning as error:
            found = OFFSET.search(str(error))
            offset, length = found.groups() if found else (visible(str(error)), "?")
            raise MarkError(
                f"an annotation begins or ends at {offset}, which is none of the text: it has "
                f"{length} UTF-16 code units, and a character of two is not cut"
            ) from error
        except Exception as error:  # the library and lxml raise what they come upon
            reason = visible(f"{type(error).__name__}: {error}", 200)
            raise MarkError(f"cannot be read as {what}: {reason}") from error


# --- JSON -----------------------------------------------------------------------------------


class _Json(msgspec.Struct):
    types: msgspec.Raw = msgspec.field(name="%TYPES", default=msgspec.Raw(b""))
    structures: Any = msgspec.field(name="%FEATURE_STRUCTURES", default=None)
    views: Any = msgspec.field(name="%VIEWS", default=None)
    older: Any = msgspec.field(name="_views", default=None)


def load_json(content: bytes, layer: Layer) -> Loaded:
    """A document in JSON. Raises MarkError for what it should not be."""
    content = content.removeprefix(codecs.BOM_UTF8)
    try:
        check_json(content)
        found = msgspec.json.decode(content, type=_Json)
    except LimitError as error:
        raise MarkError(str(error)) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MarkError(f"is no JSON that can be read: {error}") from error
    if found.older is not None:
        raise MarkError(
            'is the older JSON form of UIMA CAS; export it as "UIMA CAS JSON 0.4.0" or XMI'
        )
    if not isinstance(found.structures, list | dict):
        raise MarkError(
            "is no UIMA CAS in JSON: it has no %FEATURE_STRUCTURES; wanted the format "
            '"UIMA CAS JSON 0.4.0"'
        )
    _check_structures(found)
    cassis = library()
    with _loading(JSON):
        raw = bytes(found.types)
        types = _types_of_json(raw) if raw not in (b"", b"null") else _own_types(layer)
        return Loaded(
            cassis.load_cas_from_json(
                content.decode(), typesystem=types, merge_typesystem=False
            )
        )


def _check_structures(found: _Json) -> None:
    """Raise MarkError for what the library takes without a word: an id that stands twice, that
    nothing has, or that is listed in no view; and offsets that are no whole numbers.
    """
    structures = _by_id(found.structures)
    listed = {id_ for members in _members(found.views) for id_ in members}
    for id_, one in structures.items():
        for key, value in _references(one):
            if type(value) is not int or value not in structures:
                raise MarkError(f"{id_}: {key}: there is no feature structure {shown(value)}")
            listed.add(value)
    for id_, one in structures.items():
        if "begin" in one or "end" in one:
            _check_annotation(id_, one, listed)


def _by_id(found: object) -> dict[int, Mapping[str, object]]:
    """The feature structures by their ids, whichever of its two forms the file has."""
    structures: dict[int, Mapping[str, object]] = {}
    for id_, one in _pairs(found):
        if not isinstance(one, dict) or not isinstance(one.get("%TYPE"), str):
            raise MarkError(f"%FEATURE_STRUCTURES: found {shown(one)} without a %TYPE")
        if type(id_) is not int:
            raise MarkError(f"%ID: found {shown(id_)}, wanted a whole number")
        if structures.setdefault(id_, one) is not one:
            raise MarkError(f"%ID: {id_} stands twice; wanted one feature structure of an id")
    return structures


def _check_annotation(id_: int, one: Mapping[str, object], listed: AbstractSet[int]) -> None:
    what = f"{str(one['%TYPE']).rpartition('.')[2]} {id_}"
    begin, end = one.get("begin"), one.get("end")
    if type(begin) is not int or type(end) is not int:
        raise MarkError(
            f"{what}: found {shown(begin)} to {shown(end)}, wanted two whole numbers"
        )
    if id_ not in listed:
        raise MarkError(f"{what} is listed in no view; wanted it among the %MEMBERS of one")


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
    """The ids that lead from a feature structure to others, with their keys; 0 is none."""
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
        warnings.simplefilter("ignore")  # Of features called `type` and `self`.
        return library().load_cas_from_json(empty).typesystem


# --- type systems ---------------------------------------------------------------------------


def type_system(layer: Layer) -> "cassis.TypeSystem":
    """The types that a document is written with."""
    return _types_of_json(msgspec.json.encode(layer.types()))


@lru_cache(maxsize=4)
def _own_types(layer: Layer) -> "cassis.TypeSystem":
    """INCEpTION's own layers, which are DKPro Core's, and those of numbers."""
    cassis = library()
    return cassis.merge_typesystems(cassis.load_dkpro_core_typesystem(), type_system(layer))


@lru_cache(maxsize=4)
def _types_of_xml(content: bytes) -> "cassis.TypeSystem":
    return library().load_typesystem(BytesIO(plain_xml(content)))


# --- XMI ------------------------------------------------------------------------------------

MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Marks of byte order; those of UTF-32 come first, since one begins as one of UTF-16 does."""

ZEROS: dict[tuple[bool, ...], str] = {
    (False, True, True, True): "utf-32-le",
    (True, True, True, False): "utf-32-be",
    (False, True, False, True): "utf-16-le",
    (True, False, True, False): "utf-16-be",
}
"""Which of the first four bytes are 0 in a file without a mark that begins in ASCII."""

DECLARATION = re.compile(r"\s*<\?xml\s.*?\?>", re.DOTALL)
DECLARED = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]*)["']""")
BEGUN = re.compile(r"<(?!\?xml\b)")


def plain_xml(content: bytes) -> bytes:
    """XML in UTF-8 without a declaration, so that a parser reads what was looked at here.

    Raises MarkError for XML with a document type, which could hold entities that grow without
    bound, for more elements than may be held, and for an encoding that is not known.
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
        raise MarkError(f"is no text in {encoding}: {visible(str(error), 200)}") from error
    if not BEGUN.match(text):
        raise MarkError(f"does not begin as XML does, with <, but with {shown(text[:20])}")
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
    """The encoding of XML, by its mark, its first bytes, or what it declares."""
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return encoding
    zeros = tuple(byte == 0 for byte in content[:4])
    if True in zeros:
        return ZEROS.get(zeros, "unknown")
    declared = DECLARED.match(content[:1024])
    return declared[1].decode() if declared else "utf-8"


def load_xmi(content: bytes, types: bytes | None, layer: Layer) -> Loaded:
    """A document in XMI. types: the content of its type system; None where there is none.

    Raises MarkError for what cannot be read.
    """
    cassis = library()
    plain = plain_xml(content)
    with _loading(XMI if types is not None else XMI_ALONE) as said:
        system = _own_types(layer) if types is None else _types_of_xml(types)
        cas = cassis.load_cas_from_xmi(BytesIO(plain), typesystem=system, lenient=types is None)
        unknown = (UNKNOWN.search(str(one.message)) for one in said)
        return Loaded(cas, Counter(found[1] for found in unknown if found))
