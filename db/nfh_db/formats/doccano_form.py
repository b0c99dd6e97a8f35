"""Lines of doccano, and what is read of them.

Source: doccano's documentation, "Import your dataset" and "Export annotations"
(https://doccano.github.io/doccano), and what its exporter writes: spans as triples under
"label", or as objects under "entities" with "relations" where the project has them; comments
under "Comments"; metadata of a text as keys of their own. Offsets are UTF-16 code units, as
its editor counts, ends exclusive, or grapheme clusters where the project says so: no line
tells which.
"""

import re
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_parts import Parts, value_of
from nfh_db.formats.marked import Graph, Link, Spot
from nfh_db.formats.options import Offsets
from nfh_db.formats.stored import StoredItem
from nfh_db.formats.utf16 import SplitPairError, Units
from nfh_db.formats.wording import shown

NAME = "doccano"
WHO = "nfh_annotator"
"""Whose answer a line of an exported folder is, should its file be read by itself."""

MARKS = ("entities", "label", "labels")
"""Keys under which versions of doccano have spans, or classes of the text; of a line that has
several the first one counts, and the others are columns of the project's own.
"""

CLASSES = ("cats", "categories")
"""Keys under which a line has classes besides spans; columns of words may be called so too."""

KNOWN = frozenset(("id", "entities", "relations", "Comments", "nfh", WHO))
"""Keys that are read and written whatever else a line has."""


class EntityRow(msgspec.Struct):
    """A span of a project with relations."""

    label: str
    start_offset: int
    end_offset: int
    id: int | str | None = None


class RelationRow(msgspec.Struct):
    """A relation between two entities, by their ids."""

    from_id: int | str
    to_id: int | str
    type: str


Triple = tuple[int, int, str]
"""Start, end, label."""

NO = b"null"
OF_OBJECTS = re.compile(rb"\[\s*(\{|\])")

texts = msgspec.json.Decoder(str)
ids = msgspec.json.Decoder(int | float | str)
entity_rows = msgspec.json.Decoder(list[EntityRow])
relation_rows = msgspec.json.Decoder(list[RelationRow])
items = msgspec.json.Decoder(StoredItem)
values: msgspec.json.Decoder[Any] = msgspec.json.Decoder(list[Any] | str)


def known_of(parts: Parts) -> Collection[str]:
    """Keys of a line that say something here; all others are columns of the project's own."""
    return KNOWN | {_text_key(parts), *filter(None, _keys(parts))}


def text_of(parts: Parts) -> str:
    """The text of a line. Raises MarkError where it has none."""
    text = value_of(parts, _text_key(parts), texts)
    if text is None:
        raise MarkError('key "text" is missing; wanted a line with a text')
    return text


def _text_key(parts: Parts) -> str:
    """Old exports call it data."""
    return "text" if "text" in parts else "data"


def _keys(parts: Parts) -> tuple[str | None, str | None]:
    """The keys under which a line has its spans, and its classes besides."""
    marks = next((key for key in MARKS if bytes(parts.get(key, NO)) != NO), None)
    if marks not in (None, MARKS[0]):
        return marks, None
    classes = (key for key in CLASSES if bytes(parts.get(key, NO)).startswith(b"["))
    return marks, next(classes, None)


def comment_of(parts: Parts) -> str | None:
    """What people wrote beside a text; None for nothing. Raises MarkError."""
    found = value_of(parts, "Comments", values)
    if not found:
        return None
    comments = [found] if isinstance(found, str) else found
    return "\n".join(_comment(one) for one in comments) or None


def _comment(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("comment", value.get("text"))
    if not isinstance(value, str):
        raise MarkError(
            f'key "Comments": found {shown(value)}; wanted strings, or objects with a "comment"'
        )
    return value


def drawn_of(parts: Parts, text: str, offsets: Offsets | None) -> tuple[Graph, list[str]]:
    """The spans and relations of a line, in code points, and the classes of its text.

    offsets: the unit in which the line counts; None where nothing tells. Raises MarkError.
    """
    key, besides = _keys(parts)
    entities: list[EntityRow] = []
    spans: list[Triple] = []
    classes: list[str] = []
    if key == MARKS[0] and OF_OBJECTS.match(bytes(parts[key])):
        entities = value_of(parts, key, entity_rows) or []
        spans = [(one.start_offset, one.end_offset, one.label) for one in entities]
    elif key is not None:
        spans, classes = _listed(parts, key)
    if besides is not None:
        classes += _listed(parts, besides)[1]
    units = _units(text, offsets) if spans else None
    spots = tuple(_spot(span, text, units) for span in spans)
    return Graph(spots, _links(parts, entities) if key == MARKS[0] else ()), classes


def _links(parts: Parts, entities: Sequence[EntityRow]) -> tuple[Link, ...]:
    rows = value_of(parts, "relations", relation_rows)
    if not rows:
        return ()
    places = {one.id: place for place, one in enumerate(entities) if one.id is not None}
    if len(places) < len(entities):
        raise MarkError('key "entities": wanted an id on each, and none twice')
    links = []
    for row in rows:
        for id_ in (row.from_id, row.to_id):
            if id_ not in places:
                raise MarkError(
                    f'key "relations": found the entity {shown(id_)}, which the line does not '
                    "have"
                )
        links.append(Link(places[row.from_id], places[row.to_id], row.type))
    return tuple(links)


def _listed(parts: Parts, key: str) -> tuple[list[Triple], list[str]]:
    """Spans given as triples, and classes given as words."""
    triples: list[Triple] = []
    classes: list[str] = []
    found = value_of(parts, key, values)
    for value in [found] if isinstance(found, str) else found or ():
        if isinstance(value, str):
            classes.append(value)
        elif _is_triple(value):
            triples.append((value[0], value[1], value[2]))
        else:
            raise MarkError(
                f'key "{key}": found {shown(value)}; wanted [start, end, label], or the '
                "name of a class"
            )
    return triples, classes


def _is_triple(value: object) -> bool:
    return isinstance(value, list) and [type(one) for one in value] == [int, int, str]


def _units(text: str, offsets: Offsets | None) -> Units | None:
    """How to count; None where the line counts code points, as texts without wide characters
    have it in any case.
    """
    if offsets == "codepoint":
        return None
    units = Units(text)
    if not units.wide:
        return None
    if offsets is None:
        wide = shown(text[units.wide[0]])
        raise MarkError(
            f"the text holds {wide}, which is one character to some and two to others, and "
            "nothing tells how the file counts; say it with --offsets utf16, as doccano does "
            "by itself, or --offsets codepoint"
        )
    return units


def _spot(span: Triple, text: str, units: Units | None) -> Spot:
    start, end, label = span
    size = len(text) if units is None else units.length
    if not 0 <= start < end <= size:
        raise MarkError(
            f"the span {start} to {end}, {shown(label)}, is outside a text of {size} "
            f"{'characters' if units is None else 'UTF-16 units'}"
        )
    if units is None:
        return Spot(start, end, label)
    try:
        return Spot(units.to_points(start), units.to_points(end), label)
    except SplitPairError as error:
        raise MarkError(f"the span {start} to {end}, {shown(label)}: {error}") from error
