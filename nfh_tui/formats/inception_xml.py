"""CAS documents in XMI, by dkpro-cassis: turned into the JSON form, and made of it.

XMI holds the document and a file TypeSystem.xml what its parts mean
(https://uima.apache.org/d/uimaj-current/ref.html). XML 1.0 has no way to write some
characters: U+FFFD stands in the place of each, so that no offset moves.
"""

import re
import warnings
from functools import lru_cache
from io import BytesIO
from types import ModuleType

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.grid import MarkError
from nfh_db.formats.utf16 import LAST_OF_ONE_UNIT
from nfh_db.formats.wording import visible

TYPE_SYSTEM = "TypeSystem.xml"
INSTALL = "install dkpro-cassis for it: pip install 'nfh-tui[formats]'"

# Char of XML 1.0, fifth edition, section 2.2.
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def writable(text: str) -> str:
    """The text with U+FFFD for each character that XML cannot hold."""
    return UNWRITABLE.sub("\ufffd", text)


def _cassis() -> ModuleType:
    try:
        import cassis
    except ImportError as error:
        raise MarkError(
            f"XMI is read and written by a library that is missing; {INSTALL}"
        ) from error
    library: ModuleType = cassis
    return library


@lru_cache(maxsize=4)
def _type_system(content: bytes) -> object:
    return _cassis().load_typesystem(BytesIO(content))


def json_of_xmi(content: bytes, types: bytes) -> bytes:
    """The JSON form of a document in XMI. types: the content of its type system.

    Raises MarkError for what cannot be read, and for an offset inside a character.
    """
    for part in (content, types):
        if b"<!DOCTYPE" in part or b"<!ENTITY" in part:
            raise MarkError("declares XML entities; wanted XMI as UIMA writes it, without any")
    cassis = _cassis()
    with warnings.catch_warnings():
        # The library only warns of an offset inside a character, and keeps it as it is.
        warnings.filterwarnings("error", message="Not mapping")
        try:
            cas = cassis.load_cas_from_xmi(BytesIO(content), typesystem=_type_system(types))
            text: str = cas.to_json(pretty_print=False)
        except Warning as error:
            raise MarkError(
                f"an offset that is none of the text: {visible(str(error), 200)}"
            ) from error
        except MarkError:
            raise
        except Exception as error:  # the library and lxml raise what they come upon
            said = visible(f"{type(error).__name__}: {error}", 200)
            raise MarkError(f"cannot be read as XMI with its type system: {said}") from error
    json = text.encode()
    if not text.isascii() and max(text) > LAST_OF_ONE_UNIT:
        _check_views(json)
    return json


def _check_views(json: bytes) -> None:
    """Raise MarkError for an annotation that no view lists: the library does not convert its
    offsets, which differ where a text has characters of two units.
    """
    data = msgspec.json.decode(json)
    listed = {id_ for view in data["%VIEWS"].values() for id_ in view["%MEMBERS"]}
    for one in data["%FEATURE_STRUCTURES"]:
        if "begin" in one and one["%ID"] not in listed:
            raise MarkError(
                f"{one['%TYPE'].rpartition('.')[2]} {one['%ID']} is listed in no view, so that "
                "its offsets cannot be told; wanted it among the members of a cas:View"
            )


class XmiMaker:
    """Makes XMI of the JSON form of documents that all have one type system."""

    def __init__(self, first: bytes) -> None:
        try:
            self._cassis = _cassis()
        except MarkError as error:
            raise ExportError(str(error)) from error
        self._types = self._cassis.load_cas_from_json(first.decode()).typesystem

    @property
    def type_system(self) -> bytes:
        """The content of TypeSystem.xml."""
        content: str = self._types.to_xml()
        return content.encode()

    def xmi(self, json: bytes) -> bytes:
        """A document."""
        cas = self._cassis.load_cas_from_json(
            json.decode(), typesystem=self._types, merge_typesystem=False
        )
        content: str = cas.to_xmi()
        return content.encode()
