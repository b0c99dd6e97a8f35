"""A CAS document read: its text, tokens, turns, and numbers with what they are linked to.

Read from the JSON form of UIMA CAS (https://github.com/apache/uima-uimaj-io-jsoncas). Offsets
there are UTF-16 code units, ends exclusive; here they are code points. A reference is an id
under a key with "@" before it; 0 is none.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from nfh_db.formats.fields import INTEGER_LIMIT, whole_number
from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Span
from nfh_db.formats.utf16 import SplitPairError, Units
from nfh_db.formats.wording import shown
from nfh_tui.formats.inception_types import (
    BASIC,
    INITIAL_VIEW,
    SENTENCE,
    SOFA,
    TEXT,
    TOKEN,
    Layer,
    below,
    check_layer,
)

Structure = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Linked:
    """A mention that a number is linked to. role: of the link. same: of the number's mentions
    the one it is the same noun as, by its place among them.
    """

    span: Span
    role: str
    same: int | None


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is marked. kept: our own JSON that goes along with it."""

    id: int
    span: Span
    kind: str
    sort: str
    noun: str
    comment: str
    relation: str
    kept: str
    heads: tuple[Linked, ...]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn that is marked: code points, number, speaker, and when it is said."""

    span: Span
    number: int
    speaker: str | None
    begin: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Cas:
    """A document. loose: mentions that no number is linked to. other: annotations of layers
    that mean nothing here, by layer. nowhere: links that lead nowhere. twice: links to what
    is linked already. empty: tokens without a character.
    """

    text: str
    tokens: tuple[Span, ...]
    turns: tuple[Spoken, ...]
    numbers: tuple[Number, ...]
    loose: tuple[Span, ...] = ()
    other: Counter[str] = field(default_factory=Counter)
    nowhere: int = 0
    twice: int = 0
    empty: int = 0


def parsed(content: bytes, layer: Layer) -> Cas:
    """The document of a CAS JSON file. Raises MarkError for what it should not be."""
    try:
        data = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MarkError(f"is no JSON that can be read: {error}") from error
    if isinstance(data, dict) and "_views" in data:
        raise MarkError(
            'is the older JSON form of UIMA CAS; export it as "UIMA CAS JSON 0.4.0" or XMI'
        )
    if not isinstance(data, dict) or not isinstance(
        data.get("%FEATURE_STRUCTURES"), list | dict
    ):
        raise MarkError(
            "is no UIMA CAS in JSON: it has no %FEATURE_STRUCTURES; wanted the format "
            '"UIMA CAS JSON 0.4.0"'
        )
    types = data.get("%TYPES") or {}
    if not isinstance(types, dict):
        raise MarkError(f"%TYPES: found {shown(types)}, wanted an object")
    return _Reader(_by_id(data["%FEATURE_STRUCTURES"]), types, layer).cas()


def _by_id(found: object) -> dict[int, Structure]:
    """The feature structures by their ids, whichever of its two forms the file has."""
    structures: dict[int, Structure] = {}
    for id_, value in _pairs(found):
        if not isinstance(value, dict) or not isinstance(value.get("%TYPE"), str):
            raise MarkError(f"%FEATURE_STRUCTURES: found {shown(value)} without a %TYPE")
        if type(id_) is not int:
            raise MarkError(f"%ID: found {shown(id_)}, wanted a whole number")
        if structures.setdefault(id_, value) is not value:
            raise MarkError(f"%ID: {id_} stands twice; wanted one feature structure of an id")
    return structures


def _pairs(found: object) -> Iterator[tuple[object, object]]:
    if isinstance(found, dict):
        for key, value in found.items():
            yield int(key) if key.isdecimal() and len(key) < 18 else key, value
    elif isinstance(found, list):
        for value in found:
            yield (value.get("%ID") if isinstance(value, dict) else None), value


class _Reader:
    """Reads one document's feature structures."""

    def __init__(
        self, structures: dict[int, Structure], types: dict[str, object], layer: Layer
    ) -> None:
        self._all = structures
        self._layer = layer
        self._types = types
        self._sofa, text = self._text()
        self._units = Units(text)
        self._raw = text
        self._nowhere = self._twice = self._empty = 0

    def _text(self) -> tuple[int, str]:
        sofas = {
            id_: one
            for id_, one in self._all.items()
            if one["%TYPE"] == SOFA and isinstance(one.get("sofaString"), str)
        }
        views = [i for i, one in sofas.items() if one.get("sofaID") == INITIAL_VIEW]
        if not views and len(sofas) == 1:
            views = list(sofas)
        if len(views) != 1:
            raise MarkError(
                f"found {len(sofas)} texts (sofaString), wanted one, of the view {INITIAL_VIEW}"
            )
        return views[0], str(sofas[views[0]]["sofaString"])

    def cas(self) -> Cas:
        """The document."""
        layer = self._layer
        kinds = {layer.number: "number", layer.head: "head", layer.turn: "turn"}
        of_type = {
            name: what for type_, what in kinds.items() for name in below(self._types, type_)
        }
        of_type |= dict.fromkeys(below(self._types, TOKEN), "token")
        of_type[TEXT] = "text"
        found: dict[str, list[tuple[int, Structure]]] = {}
        other: Counter[str] = Counter()
        quiet = BASIC | below(self._types, SENTENCE)
        for id_, one in self._all.items():
            type_ = str(one["%TYPE"])
            what = of_type.get(type_)
            if what is not None:
                if one.get("@sofa", self._sofa) == self._sofa:
                    found.setdefault(what, []).append((id_, one))
            elif "begin" in one and type_ not in quiet:
                other[type_] += 1
        if "number" not in found:
            check_layer(self._types, layer)
        text = self._restored(found.get("text", ()))
        tokens = sorted(self._span(i, o) for i, o in found.get("token", ()))
        self._empty = sum(start == end for start, end in tokens)
        heads = {id_: self._span(id_, one) for id_, one in found.get("head", ())}
        linked: set[int] = set()
        numbers = [self._number(i, o, linked) for i, o in found.get("number", ())]
        return Cas(
            text,
            tuple(span for span in tokens if span[0] < span[1]),
            tuple(self._turn(i, o) for i, o in found.get("turn", ())),
            tuple(sorted(numbers, key=lambda one: (one.span, one.id))),
            tuple(span for id_, span in heads.items() if id_ not in linked),
            other,
            self._nowhere,
            self._twice,
            self._empty,
        )

    def _restored(self, notes: object) -> str:
        """The text with what stood where another character was written."""
        text = self._raw
        for id_, one in notes if isinstance(notes, list) else ():
            try:
                pairs = msgspec.json.decode(
                    str(one.get("replaced") or "[]"), type=list[tuple[int, int]]
                )
                characters = list(text)
                for place, number in pairs:
                    if place < 0 or number > 0xFFFF:
                        raise ValueError(place)
                    characters[place] = chr(number)
            except (msgspec.MsgspecError, IndexError, ValueError) as error:
                raise MarkError(f"{TEXT} {id_}: replaced does not hold: {error}") from error
            text = "".join(characters)
        return text

    def _span(self, id_: int, one: Structure) -> Span:
        """The code points of an annotation."""
        begin, end = one.get("begin", 0), one.get("end", 0)
        what = f"{str(one['%TYPE']).rpartition('.')[2]} {id_}"
        if type(begin) is not int or type(end) is not int:
            raise MarkError(
                f"{what}: found {shown(begin)} to {shown(end)}, wanted two whole numbers"
            )
        if not 0 <= begin <= end <= self._units.length:
            wanted = "it ends before it begins"
            if begin <= end:
                wanted = f"the text has {self._units.length} UTF-16 code units"
            raise MarkError(f"{what}: {begin} to {end}: {wanted}")
        try:
            return self._units.to_points(begin), self._units.to_points(end)
        except SplitPairError as error:
            raise MarkError(f"{what}: {error}") from error

    def _mark(self, id_: int) -> Span:
        """The code points of an annotation, of which there has to be one at least."""
        start, end = self._span(id_, self._all[id_])
        if start == end:
            what = str(self._all[id_]["%TYPE"]).rpartition(".")[2]
            raise MarkError(f"{what} {id_}: holds no character, at {start}")
        return start, end

    def _turn(self, id_: int, one: Structure) -> Spoken:
        layer = self._layer
        speaker = one.get(layer.speaker)
        number, *times = (
            self._integer(id_, one, key)
            for key in (layer.turn_number, layer.said_from, layer.said_until)
        )
        return Spoken(
            self._span(id_, one),
            number or 0,
            None if speaker is None else self._word(id_, one, layer.speaker),
            times[0],
            times[1],
        )

    @staticmethod
    def _integer(id_: int, one: Structure, key: str) -> int | None:
        value = one.get(key)
        if value is None:
            return None
        if type(value) is not int or abs(value) > INTEGER_LIMIT:
            wanted = whole_number(value)
            raise MarkError(f"{id_}: {key}: found {shown(value)}, wanted {wanted}")
        return value

    @staticmethod
    def _word(id_: int, one: Structure, key: str) -> str:
        value = one.get(key)
        if value is not None and not isinstance(value, str):
            raise MarkError(f"{id_}: {key}: found {shown(value)}, wanted text")
        return value or ""

    def _number(self, id_: int, one: Structure, linked: set[int]) -> Number:
        layer = self._layer
        links = [
            (target, self._word(link, self._all[link], "role"))
            for link, target in self._links(id_, one, layer.heads)
        ]
        heads = dict.fromkeys(links)
        self._twice += len(links) - len(heads)
        places: dict[int, int] = {}
        for place, (target, _) in enumerate(heads):
            places.setdefault(target, place)
            linked.add(target)
        return Number(
            id_,
            self._mark(id_),
            self._word(id_, one, layer.kind),
            self._word(id_, one, layer.sort),
            self._word(id_, one, layer.noun),
            self._word(id_, one, layer.comment),
            self._word(id_, one, layer.relation),
            self._word(id_, one, layer.kept),
            tuple(
                Linked(self._mark(target), role, self._same(target, places))
                for target, role in heads
            ),
        )

    def _same(self, id_: int, places: Mapping[int, int]) -> int | None:
        """Of a number's mentions the one that this one is the same noun as."""
        targets = [t for _, t in self._links(id_, self._all[id_], self._layer.same) if t != id_]
        return next((places[target] for target in targets if target in places), None)

    def _links(self, id_: int, one: Structure, feature: str) -> Iterator[tuple[int, int]]:
        """The links of a feature, each with its target, both by id."""
        array = self._all.get(self._reference(id_, one, f"@{feature}"))
        elements = array.get("%ELEMENTS") or [] if array is not None else []
        if not isinstance(elements, list):
            raise MarkError(f"{id_}: {feature}: found {shown(elements)}, wanted a list")
        for element in elements:
            if not element:
                self._nowhere += 1
                continue
            link = self._all.get(element) if type(element) is int else None
            if link is None:
                raise MarkError(f"{id_}: {feature}: there is no feature structure {element}")
            target = self._reference(element, link, "@target")
            if target == 0:
                self._nowhere += 1
            else:
                yield element, target

    def _reference(self, id_: int, one: Structure, key: str) -> int:
        """The id that a feature refers to; 0 for none. Raises MarkError if nothing has it."""
        value = one.get(key) or 0
        if type(value) is not int or (value and value not in self._all):
            raise MarkError(f"{id_}: {key}: there is no feature structure {shown(value)}")
        return value
