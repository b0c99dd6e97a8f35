"""A CAS document read: its text, tokens, turns, and numbers with what they are linked to.

Read from what dkpro-cassis loads, be it of JSON or of XMI. It has converted the offsets, which
are UTF-16 code units there, to code points.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from nfh_db.formats.fields import INTEGER_LIMIT, whole_number
from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Span
from nfh_db.formats.utf16 import LAST_OF_ONE_UNIT
from nfh_db.formats.wording import shown
from nfh_tui.formats.inception_documents import TYPE_SYSTEM, Loaded
from nfh_tui.formats.inception_types import (
    ANNOTATION,
    BASIC,
    INITIAL_VIEW,
    SENTENCE,
    TEXT,
    TOKEN,
    Layer,
    attribute,
    below,
    check_layer,
)

if TYPE_CHECKING:
    from cassis.typesystem import FeatureStructure


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


def cas_of(loaded: Loaded, layer: Layer) -> Cas:
    """The document that was loaded. Raises MarkError for what it should not be."""
    found = _Reader(loaded, layer).cas()
    if loaded.unknown and not found.numbers:
        layers = ", ".join(map(shown, sorted(loaded.unknown)[:12]))
        raise MarkError(
            f"there is no {TYPE_SYSTEM} beside it, and INCEpTION's own layers do not have "
            f"{layers}; put it beside the document, or name the layer that holds numbers in a "
            'file with [layer] number = "its name" (--map)'
        )
    return found


def _what(one: "FeatureStructure") -> str:
    """An annotation in words: "NFH 14"."""
    return f"{one.type.name.rpartition('.')[2]} {one.xmiID}"


class _Reader:
    """Reads one document's feature structures."""

    def __init__(self, loaded: Loaded, layer: Layer) -> None:
        self._types = loaded.cas.typesystem
        self._unknown = loaded.unknown
        self._layer = layer
        views = [sofa.sofaID for sofa in loaded.cas.sofas if sofa.sofaString is not None]
        if INITIAL_VIEW in views:
            views = [INITIAL_VIEW]
        if len(views) != 1:
            raise MarkError(
                f"found {len(views)} texts (sofaString), wanted one, of the view {INITIAL_VIEW}"
            )
        view = loaded.cas.get_view(views[0])
        self._text: str = view.sofa_string
        self._all: Sequence[FeatureStructure] = view.select_all_fs()
        self._listed = {one.xmiID for one in self._all}
        self._wide = not self._text.isascii() and max(self._text) > LAST_OF_ONE_UNIT
        self._nowhere = self._twice = 0

    def cas(self) -> Cas:
        """The document."""
        layer = self._layer
        kinds = {
            layer.number: "number",
            layer.head: "head",
            layer.turn: "turn",
            TOKEN: "token",
        }
        of_type = {
            name: what for type_, what in kinds.items() for name in below(self._types, type_)
        }
        of_type[TEXT] = "text"
        found: dict[str, list[FeatureStructure]] = {}
        other = Counter(self._unknown)
        annotations = below(self._types, ANNOTATION)
        quiet = BASIC | below(self._types, SENTENCE)
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
        return Cas(
            text,
            tuple(span for span in tokens if span[0] < span[1]),
            tuple(map(self._turn, found.get("turn", ()))),
            tuple(sorted(numbers, key=lambda one: (one.span, one.id))),
            tuple(sorted(span for id_, span in heads.items() if id_ not in linked)),
            other,
            self._nowhere,
            self._twice,
            sum(start == end for start, end in tokens),
        )

    def _restored(self, notes: "Sequence[FeatureStructure]") -> str:
        """The text with what stood where another character was written."""
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
                raise MarkError(f"{_what(one)}: replaced does not hold: {error}") from error
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
                f"{_what(one)} is listed in no view, so that its offsets cannot be told; "
                "wanted it among the members of one"
            )
        if not 0 <= begin <= end <= len(self._text):
            wanted = "it ends before it begins"
            if begin <= end:
                wanted = f"the text has {len(self._text)} characters"
            raise MarkError(f"{_what(one)}: {begin} to {end}: {wanted}")
        return begin, end

    def _mark(self, one: "FeatureStructure") -> Span:
        """The code points of an annotation, of which there has to be one at least."""
        if not hasattr(one, "begin"):
            raise MarkError(f"{_what(one)} is linked to, and marks nothing of the text")
        start, end = self._span(one)
        if start == end:
            raise MarkError(f"{_what(one)}: holds no character, at {start}")
        return start, end

    def _turn(self, one: "FeatureStructure") -> Spoken:
        layer = self._layer
        number, begin, until = (
            self._integer(one, key)
            for key in (layer.turn_number, layer.said_from, layer.said_until)
        )
        speaker = getattr(one, attribute(layer.speaker), None)
        return Spoken(
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

    def _number(self, one: "FeatureStructure", linked: set[int]) -> Number:
        layer = self._layer
        links = [
            (target, self._word(link, "role")) for link, target in self._links(one, layer.heads)
        ]
        heads = {(target.xmiID, role): target for target, role in links}
        self._twice += len(links) - len(heads)
        places: dict[int, int] = {}
        for place, (target, _) in enumerate(heads):
            places.setdefault(target, place)
            linked.add(target)
        return Number(
            one.xmiID,
            self._mark(one),
            self._word(one, layer.kind),
            self._word(one, layer.sort),
            self._word(one, layer.noun),
            self._word(one, layer.comment),
            self._word(one, layer.relation),
            self._word(one, layer.kept),
            tuple(
                Linked(self._mark(target), role, self._same(target, places))
                for (_, role), target in heads.items()
            ),
        )

    def _same(self, one: "FeatureStructure", places: Mapping[int, int]) -> int | None:
        """Of a number's mentions the one that this one is the same noun as."""
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
                self._nowhere += 1
            else:
                yield link, target
