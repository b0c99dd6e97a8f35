"""Prodigy's tasks as its documentation describes them, and what is read of them.

Source: the documentation of Prodigy, "Annotation interfaces" (https://prodi.gy/docs/api-interfaces)
and "Review" (https://prodi.gy/docs/review). Characters are code points of "text", ends
exclusive; "token_end" names the last token, and is inclusive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from nfh_db.formats.grid import MarkError, checked
from nfh_db.formats.json_parts import Parts, value_of
from nfh_db.formats.marked import HEAD, Graph, Link, Spot
from nfh_db.formats.options import Span
from nfh_db.formats.stored import StoredItem
from nfh_db.formats.wording import shown

NAME = "prodigy"
REVIEW = "prodigy-review"
"""Names under which is carried what task rows and review rows hold besides."""

KNOWN = frozenset(
    (
        "text", "tokens", "spans", "relations", "answer", "accept", "label", "versions",
        "sessions", "noun", "comment", "nfh", "view_id", "_view_id", "_annotator_id",
        "_session_id", "_timestamp", "_is_binary",
    )
)  # fmt: skip
"""Keys that are read and written; all others are carried along."""

OF_TASK = "_task_hash"
"""A hash of a task with its spans."""

HASHES = ("_input_hash", OF_TASK)
ANSWERS = ("accept", "reject", "ignore")


class TokenRow(msgspec.Struct, gc=False):
    """A token of a task."""

    start: int
    end: int
    id: int | None = None
    text: str | None = None
    disabled: bool = False


class SpanRow(msgspec.Struct, gc=False):
    """A span of a task, or one end of a relation."""

    start: int
    end: int
    label: str | None = None
    text: str | None = None


class RelationRow(msgspec.Struct):
    """A relation; head and child are ids of tokens."""

    label: str
    head: int | None = None
    child: int | None = None
    head_span: SpanRow | None = None
    child_span: SpanRow | None = None


texts = msgspec.json.Decoder(str)
whole = msgspec.json.Decoder(int)
times = msgspec.json.Decoder(int | float)
names = msgspec.json.Decoder(list[str])
choices = msgspec.json.Decoder(list[str | int])
token_rows = msgspec.json.Decoder(list[TokenRow])
span_rows = msgspec.json.Decoder(list[SpanRow])
relation_rows = msgspec.json.Decoder(list[RelationRow])
objects = msgspec.json.Decoder(list[Parts])
items = msgspec.json.Decoder(StoredItem)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a task. spans: of those that hold more than white space. free: of those
    that may be marked, which are the tokens of what was exported.
    """

    rows: Sequence[TokenRow]
    spans: Sequence[Span]
    free: Sequence[Span]


def tokens_of(parts: Parts, text: str) -> Tokens | None:
    """A task's tokens, each checked against the text; None where it has none.

    Raises MarkError.
    """
    rows = value_of(parts, "tokens", token_rows)
    if not rows:
        return None
    spans, free = [], []
    last, size = 0, len(text)
    for index, row in enumerate(rows):
        start, end = row.start, row.end
        if not last <= start < end <= size:
            raise MarkError(
                f"token {index} has offsets {start} to {end}, but must lie between {last} and "
                f"{size} and hold at least one character"
            )
        words = text[start:end]
        if row.text is not None and row.text != words:
            raise MarkError(
                f"token {index} at {start} to {end}: expected {shown(row.text)}, found "
                f"{shown(words)}"
            )
        if not words.isspace():
            spans.append((start, end))
        if not row.disabled:
            free.append((start, end))
        last = end
    return Tokens(rows, spans, free)


def graph_from(parts: Parts, text: str, tokens: Tokens | None) -> Graph:
    """The spans and relations of a task, in its own names. Raises MarkError."""
    rows = value_of(parts, "spans", span_rows) or ()
    links = value_of(parts, "relations", relation_rows) or ()
    drawing = _Drawing(text, tokens)
    for row in rows:
        if row.label is None:
            raise MarkError(f"the span {row.start} to {row.end} has no label")
        drawing.add(row, row.label)
    for link in links:
        drawing.link(link)
    return Graph(tuple(drawing.spots), tuple(drawing.links))


class _Drawing:
    """A graph in the making."""

    def __init__(self, text: str, tokens: Tokens | None) -> None:
        self.text = text
        self.tokens = tokens
        self.spots: list[Spot] = []
        self.links: list[Link] = []
        self._places: dict[Span, list[int]] = {}
        self._linked: set[Span] = set()

    def add(self, row: SpanRow, label: str) -> int:
        start, end = row.start, row.end
        if row.text is not None:
            checked(self.text, (start, end), row.text)
        elif not 0 <= start < end <= len(self.text):
            raise MarkError(
                f"the span {start} to {end}, {shown(label)}, is outside a text of "
                f"{len(self.text)} characters"
            )
        place = len(self.spots)
        self.spots.append(Spot(start, end, label))
        self._places.setdefault((start, end), []).append(place)
        return place

    def link(self, row: RelationRow) -> None:
        """Add a link between two spots. Of spots that are alike, as heads of one span are, the
        first one not linked so yet.
        """
        sources = self._ends(row.head_span, row.head, "head")
        targets = self._ends(row.child_span, row.child, "child")
        pairs = [(source, target) for source in sources for target in targets]
        pair = next((pair for pair in pairs if pair not in self._linked), pairs[0])
        self._linked.add(pair)
        self.links.append(Link(*pair, row.label))

    def _ends(self, row: SpanRow | None, token: int | None, which: str) -> Sequence[int]:
        """The spots that an end of a relation may be: those of the span that it states, else
        the one that its token is in; a token without a span is a head.
        """
        if row is None:
            return (self._at_token(token, which),)
        places = self._places.get((row.start, row.end), ())
        if len(places) > 1:
            places = [i for i in places if self.spots[i].label == row.label] or places
        return places or (self.add(row, row.label or HEAD),)

    def _at_token(self, token: int | None, which: str) -> int:
        rows = self.tokens.rows if self.tokens else ()
        row = next((r for i, r in enumerate(rows) if _id(r, i) == token), None)
        if token is None or row is None:
            raise MarkError(
                f'a relation\'s "{which}" is token {token}, which the task does not have; '
                f'wanted one of its tokens, or a "{which}_span"'
            )
        ending = [i for i, s in enumerate(self.spots) if s.end == row.end]
        around = [i for i, s in enumerate(self.spots) if s.start <= row.start < s.end]
        found = ending or around
        return found[0] if found else self.add(SpanRow(row.start, row.end), HEAD)


def _id(row: TokenRow, index: int) -> int:
    return index if row.id is None else row.id


def time_of(parts: Mapping[str, msgspec.Raw]) -> str | None:
    """When a task was answered, as `gold` files have it. Raises MarkError."""
    seconds = value_of(parts, "_timestamp", times)
    if seconds is None:
        return None
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise MarkError(
            f'key "_timestamp": found {shown(seconds)}, wanted seconds since 1970'
        ) from error
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def seconds_of(at: str) -> int:
    """The seconds since 1970 of a time as `gold` files have it."""
    return int(datetime.fromisoformat(at).timestamp())
