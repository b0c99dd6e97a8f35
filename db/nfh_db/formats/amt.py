"""Format `amt`: the results of a Mechanical Turk batch, as the requester downloads them.

A CSV file with a header; one row is one assignment, that is one worker's answer to one
task. Columns are found by name. Fields may be quoted and then hold line breaks, commas and
doubled quotes (RFC 4180); the line of a row is the one on which it starts. The file only
becomes rows here. The columns are those of the numeric fused-head task (Elazar and Goldberg
2019, crowdsourcing/amt.html of their repository) and of Mechanical Turk's own download.
"""

import csv
import html
import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from itertools import groupby, islice

from nfh_db.formats.files import NO_LINE_YET, Source, csv_records
from nfh_db.formats.rows import AssignmentRow, ReadOptions
from nfh_db.messages import counted
from nfh_db.messages import shown as shown_text
from nfh_models.domain import Anchor, Kind, Turn

WORKER = "WorkerId"
CONTEXT = "Input.text_reduced"
TARGET = "Input.target"
CODE = "Answer.ans"
MARKED = "Answer.reference"

COLUMNS = {
    "worker": WORKER,
    "context": CONTEXT,
    "target": TARGET,
    "code": CODE,
    "marked": MARKED,
    "offset": "Answer.offset",
    "other": "Answer.other",
    "comment": "Answer.comment",
    "html": "Input.text_reduced_html",
    "start": "Input.target_start_index",
    "end": "Input.target_end_index",
    "sentence": "Input.target_sentence",
    "seconds": "WorkTimeInSeconds",
    "submitted": "SubmitTime",
}
"""The columns that are read, by field of AssignmentRow; all others are ignored."""

NEEDED = (WORKER, CONTEXT, TARGET, CODE, MARKED)
STATUS = "AssignmentStatus"
APPROVE, REJECT = "Approve", "Reject"
LEFT_EMPTY = frozenset({APPROVE, REJECT})
"""Columns for the requester: the header has them, but rows end before them."""

REASONS = (REJECT, "RejectionTime")
"""Columns that hold something of rejected work. A batch that was reviewed in a file still calls
it `Submitted`.
"""

HEADER = ",".join((*NEEDED, "Answer.offset"))
"""The header of the registry's example line."""

CSV_COMPLAINTS = {
    "expected after": "a closing quote is followed by more text than a comma",
    "new-line character": "a carriage return is outside quotes",
}
"""Messages of Python's csv module, and what they mean."""


def read(source: Source, how: ReadOptions) -> Iterator[AssignmentRow]:
    """The rows of a batch, in the order of the file.

    Raises FormatError, with the line, for a header that lacks a needed column or names one
    twice, for quotes that do not close, and for a row of more or fewer fields than the
    header. Empty lines between rows are passed over.
    """
    records = _records(source)
    try:
        line, header = next(records)
    except StopIteration:
        raise source.error(None, NO_LINE_YET) from None
    names = [name.strip() for name in header]
    columns = _columns(source, line, names)
    any_row = False
    for line, record in records:
        _check_length(source, line, names, record)
        any_row = True
        fields = {
            field: record[place] if place is not None and place < len(record) else ""
            for field, place in columns.items()
        }
        rejected = not how.count_rejected and _is_rejected(
            dict(zip(names, record, strict=False))
        )
        yield AssignmentRow(line=line, rejected=rejected, **fields)
    if not any_row:
        raise source.error(None, "has only a header; wanted at least one row")


def _is_rejected(row: Mapping[str, str]) -> bool:
    """True for work that the requester did not accept, by the columns of a row."""
    status = row.get(STATUS, "").strip().casefold()
    if status in ("approved", "rejected"):
        return status == "rejected"
    return any(row.get(name, "").strip() for name in REASONS)


def is_header(text: str) -> bool:
    """True if a line is the header of such a batch."""
    try:
        names = {name.strip() for name in next(csv.reader([text]), [])}
    except csv.Error:
        return False
    return WORKER in names and not names.isdisjoint({CODE, TARGET})


def _records(source: Source) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not empty, with the line on which it starts."""
    lines = (text for _, text in source.lines())
    for line, record in csv_records(source, lines, 1, CSV_COMPLAINTS):
        if record and (len(record) > 1 or record[0].strip()):
            yield line, record


def _columns(source: Source, line: int, names: Sequence[str]) -> dict[str, int | None]:
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise source.error(
            line,
            f"found no column {', '.join(missing)}; wanted a header with at least "
            f"{', '.join(NEEDED)}",
        )
    for name in COLUMNS.values():
        if names.count(name) > 1:
            raise source.error(line, f"found the column {name} twice, wanted each once")
    return {
        field: names.index(name) if name in names else None for field, name in COLUMNS.items()
    }


def _check_length(
    source: Source, line: int, names: Sequence[str], record: Sequence[str]
) -> None:
    """Raise FormatError unless a record has a field for each column but LEFT_EMPTY."""
    left = names[len(record) :]
    if len(record) <= len(names) and LEFT_EMPTY.issuperset(left):
        return
    raise source.error(
        line,
        f"found {counted(len(record), 'field')}, the last one {shown_text(record[-1])}; wanted "
        f"{len(names)}, as many as the header has columns",
    )


# The context of a task: its text, and the text nodes that a browser made of it.
#
# A worker saw `Input.text_reduced_html`, which a batch may have; else only the plain context is
# known, and the text nodes may be any of several layouts. Positions are compared by *letters*,
# characters that are not white space, since white space differs between the field, the page,
# and the selection of a browser.

LONGEST_HTML = 1_000_000

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)\b[^<>]*>")
_LINE_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_BOLD = frozenset({"b", "strong", "mark"})
_LINES = frozenset({"br", "p", "div", "li"})

Span = tuple[int, int]


class Letters:
    """The characters of a text that are not white space, and their offsets."""

    __slots__ = ("places", "string")

    def __init__(self, text: str) -> None:
        self.string = "".join(text.split())
        self.places = [place for place, sign in enumerate(text) if not sign.isspace()]

    def before(self, place: int) -> int:
        """How many letters precede a code point of the text."""
        return bisect_left(self.places, place)

    def span(self, first: int, last: int) -> Span:
        """Code points [start, end) of letters [first, last), which must not be empty."""
        return self.places[first], self.places[last - 1] + 1

    def of(self, start: int, end: int) -> Span:
        """The letters [first, last) of code points [start, end)."""
        return self.before(start), self.before(end)


@dataclass(frozen=True, slots=True)
class Node:
    """A text node of a browser. line: the rank of its line."""

    text: str
    bold: bool
    line: int


class NodeLayout:
    """The text nodes of a context, in order."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self._nodes = []
        first = 0
        for text in nodes:
            letters = Letters(text)
            self._nodes.append((text, letters, first))
            first += len(letters.string)

    def letters_before(self, offset: int) -> Iterator[tuple[int, int]]:
        """For each node that has the offset: its rank, and the number of letters before it.

        offset: in UTF-16 code units from the node's start, as browsers count.
        """
        for rank, (text, letters, first) in enumerate(self._nodes):
            place = code_point(text, offset)
            if place is not None:
                yield rank, first + letters.before(place)


@dataclass(frozen=True, slots=True)
class ContextText:
    """A context."""

    text: str
    """As it is stored."""
    given: str
    """The field, without markup."""
    letters: Letters
    nodes: tuple[Node, ...]
    """The text nodes of the browser if `exact`; else the lines."""
    exact: bool

    def bold(self) -> list[Span]:
        """The letters [first, last) of each bold stretch."""
        spans = []
        first = 0
        for bold, run in groupby(self.nodes, key=lambda node: node.bold):
            last = first + sum(len("".join(node.text.split())) for node in run)
            if bold and last > first:
                spans.append((first, last))
            first = last
        return spans


def stored(context: str) -> str:
    """The text of a context: a plain one without empty lines at its ends; of one with markup
    what a browser displays.
    """
    return _text(parse(context)) if _is_page(context) else _trimmed(context)


def _is_page(context: str) -> bool:
    return len(context) <= LONGEST_HTML and _LINE_BREAK.search(context) is not None


def shown(context: str, page: str) -> ContextText:
    """The context of a row. page: `Input.text_reduced_html`, "" where there is none.

    The context itself is markup only if it has line breaks ("<br>"); its entities are then
    decoded. A page with other words than the context is ignored.
    """
    text = stored(context)
    if _is_page(context):
        own, given = parse(context), text
        exact = any(node.bold for node in own)
    else:
        own = [Node(line, False, rank) for rank, line in enumerate(context.split("\n"))]
        given, exact = context, False
    letters = Letters(text)
    if page.strip() and len(page) <= LONGEST_HTML:
        nodes = parse(page)
        if "".join("".join(node.text.split()) for node in nodes) == letters.string:
            return ContextText(text, given, letters, tuple(nodes), exact=True)
    return ContextText(text, given, letters, tuple(own), exact)


def layouts(context: ContextText, anchor: Span) -> list[NodeLayout]:
    """Every layout that a browser may have made of a context. anchor: its letters.

    If the page is not known: the number is a node of its own, with or without the white space
    after it; a node after a line break begins with the next line, or with a line feed before it
    (as in "<br />", line feed, next line).
    """
    if context.exact:
        return [NodeLayout([node.text for node in context.nodes])]
    lines = [node.text for node in context.nodes]
    fed = [lines[0], *("\n" + line for line in lines[1:])]
    starts = [lines, fed] if len(lines) > 1 else [lines]
    return [NodeLayout(_cut(nodes, anchor, wide)) for nodes in starts for wide in (False, True)]


def whole_layouts(context: ContextText) -> list[NodeLayout]:
    """A context as one text: as it is stored, as the field has it, and as its nodes make it."""
    texts = {context.text, context.given, "".join(node.text for node in context.nodes)}
    return [NodeLayout([text]) for text in texts]


def parse(page: str) -> list[Node]:
    """The text nodes of HTML that are not empty, entities decoded."""
    nodes: list[Node] = []
    place = depth = line = 0
    for tag in _TAG.finditer(page):
        _add(nodes, page[place : tag.start()], depth, line)
        place = tag.end()
        name = tag[2].lower()
        if name in _BOLD:
            depth = max(0, depth - 1) if tag[1] else depth + 1
        elif name in _LINES:
            line += 1
    _add(nodes, page[place:], depth, line)
    return nodes


def _add(nodes: list[Node], data: str, depth: int, line: int) -> None:
    if data:
        # Browsers' text has line feeds only.
        text = html.unescape(data).replace("\r\n", "\n").replace("\r", "\n")
        nodes.append(Node(text, depth > 0, line))


def _text(nodes: Sequence[Node]) -> str:
    """What a browser displays: lines, each with single spaces between its words."""
    lines = (
        " ".join("".join(node.text for node in line).split())
        for _, line in groupby(nodes, key=lambda node: node.line)
    )
    return "\n".join(line for line in lines if line)


def _trimmed(context: str) -> str:
    """A plain context without the empty lines at its ends."""
    lines = context.split("\n")
    filled = [rank for rank, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[filled[0] : filled[-1] + 1]) if filled else ""


def _cut(nodes: Sequence[str], anchor: Span, wide: bool) -> list[str]:
    """The nodes, with that of the number split around it. wide: with the white space after
    it.
    """
    cut: list[str] = []
    first = 0
    for text in nodes:
        letters = Letters(text)
        last = first + len(letters.string)
        if first <= anchor[0] and anchor[1] <= last and anchor[0] < last:
            start, end = letters.span(anchor[0] - first, anchor[1] - first)
            while wide and end < len(text) and text[end].isspace():
                end += 1
            cut += [text[:start], text[start:end], text[end:]]
        else:
            cut.append(text)
        first = last
    return [text for text in cut if text]


def code_point(text: str, offset: int) -> int | None:
    """An offset in UTF-16 code units as code points; None past the end of the text, and inside
    a surrogate pair.
    """
    if text.isascii():
        return offset if offset <= len(text) else None
    units = 0
    for place, sign in enumerate(text):
        if units >= offset:
            return place if units == offset else None
        units += 2 if ord(sign) > 0xFFFF else 1
    return len(text) if units == offset else None


class RowProblem(StrEnum):
    """Why a row is left out; the value completes "3 rows left out, "."""

    NO_WORKER = "no worker named"
    WORKER_NAME = "the worker's name is not allowed in the database"
    REJECTED = "the work was rejected (--count-rejected takes it in)"
    CODE = "the code of the answer is not from 1 to 8"
    NO_WORDS = "the context holds no words"
    NO_TARGET = "no number named as the target"
    TARGET_MISSING = "the number is not in the context"
    TARGET_IN_WORD = "the number is only a part of a word, or of a speaker's name"
    TARGET_AMBIGUOUS = "the number occurs in the context more than once"
    NOTHING_MARKED = "Reference chosen, but nothing marked"
    MARK_MISSING = "the marked text is not in the context"
    MARK_AMBIGUOUS = "the marked text occurs in more than one place"
    MARK_NO_WORD = "the marked text is not a word of a turn (a speaker's name, a sign)"
    MARK_IS_ANCHOR = "the head of the marked text is the number itself"


class UnusableRow(Exception):  # noqa: N818 - a verdict on a row, not a failure
    """A row that cannot be used. found: the content of the field."""

    def __init__(self, trouble: RowProblem, found: str = "") -> None:
        super().__init__(trouble.value)
        self.trouble = trouble
        self.found = found


# The position of the text that a worker marked.
#
# A browser gives a selection as its text and two offsets, its anchor and focus, each within a
# text node; the nodes are not stored, and the focus may precede the anchor. A position counts
# if, in one of the layouts, both offsets are its ends and the text between them is the marked
# one. Some pages give offsets in the whole text: they are read so where no node fits.


def places(
    layouts: Iterable[NodeLayout], letters: Letters, marked: str, pair: tuple[int, int]
) -> set[Span]:
    """The letters [first, last) of each position that fits text and offsets in some layout.

    pair: anchor and focus of the selection, in UTF-16 code units from their nodes' starts.
    """
    wanted = "".join(marked.split())
    found: set[Span] = set()
    for layout in layouts:
        for begun, ended in {pair, pair[::-1]}:
            ranks: dict[int, int] = {}
            for rank, first in layout.letters_before(begun):
                ranks.setdefault(first, rank)
            for rank, last in layout.letters_before(ended):
                first = last - len(wanted)
                in_order = ranks.get(first, rank + 1) <= rank
                if in_order and letters.string.startswith(wanted, first):
                    found.add((first, last))
    return found


def find_span(
    context: ContextText,
    layouts: Iterable[NodeLayout],
    marked: str,
    pair: tuple[int, int] | None,
) -> tuple[Span, bool]:
    """Code points [start, end) of the marked text, and whether they follow from its offsets.

    Without offsets that fit, the text must occur in the context once. Raises UnusableRow if
    there is no position, or more than one.
    """
    if not marked.strip():
        raise UnusableRow(RowProblem.NOTHING_MARKED)
    for reading in (layouts, whole_layouts(context)):
        fitting = set() if pair is None else places(reading, context.letters, marked, pair)
        if len(fitting) > 1:
            raise UnusableRow(RowProblem.MARK_AMBIGUOUS, marked)
        if fitting:
            return context.letters.span(*fitting.pop()), True
    standing = occurrences(context.text, marked, 2)
    if len(standing) != 1:
        reason = RowProblem.MARK_AMBIGUOUS if standing else RowProblem.MARK_MISSING
        raise UnusableRow(reason, marked)
    return standing[0], False


def occurrences(text: str, words: str, limit: int) -> list[Span]:
    """Code points [start, end) of the first `limit` occurrences of the words, some of which may
    overlap; all white space between words is equivalent."""
    wanted = " ".join(words.split())
    plain, origin = _single_spaced(text)
    return [
        (origin[place], origin[place + len(wanted) - 1] + 1)
        for place in islice(_standing(plain, wanted), limit)
    ]


def _single_spaced(text: str) -> tuple[str, list[int]]:
    """The text with single spaces between words, and the original offset of each character."""
    signs: list[str] = []
    origin: list[int] = []
    for place, sign in enumerate(text):
        if not sign.isspace():
            signs.append(sign)
            origin.append(place)
        elif signs and signs[-1] != " ":
            signs.append(" ")
            origin.append(place)
    return "".join(signs), origin


# The short fields of a row: code, free text, seconds, time.
#
# The codes are the values of the form's buttons (crowdsourcing/amt.html of the paper's
# repository). Code 6 is "None" on the form and "Unknown" in the paper: nothing is missing, or
# the text does not tell.

KINDS = {
    1: Kind.REFERENCE, 2: Kind.YEAR, 3: Kind.AGE, 4: Kind.CURRENCY,
    5: Kind.OTHER, 6: Kind.UNKNOWN, 7: Kind.PEOPLE, 8: Kind.TIME,
}  # fmt: skip
"""The kind of each code."""

LONGEST_NOUN = 40
NOUN_WORDS = 3
"""Free text of more words than this is a comment, not a noun."""

NOUN_SIGNS = frozenset("'’-/&%$€£¥#°")
"""Characters of a noun besides letters, digits and marks."""

LONGEST_SECONDS = 10**9

_CODE = re.compile(r"\s*([0-9]{1,9})(?:\.0+)?\s*")
_OFFSETS = re.compile(r"\s*([0-9]{1,9})(?:\.0+)?\s*;\s*([0-9]{1,9})(?:\.0+)?\s*")
_TURK_TIME = re.compile(
    r"\w{3} [A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d [A-Z]{3} [1-9]\d{3}", re.ASCII
)

FIRST_YEAR, LAST_YEAR = 1970, 9998


def whole_number(text: str) -> int | None:
    """The integer of a field, "7" or "7.0" (the form of spreadsheets), or None."""
    match = _CODE.fullmatch(text)
    return int(match[1]) if match else None


def kind_of(code: str) -> Kind | None:
    """The kind of an answer's code; None for any other text."""
    number = whole_number(code)
    return None if number is None else KINDS.get(number)


def offsets(text: str) -> tuple[int, int] | None:
    """Anchor and focus of a browser's selection, "12;20"; None if the field holds no pair."""
    match = _OFFSETS.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def seconds(text: str) -> float | None:
    """The seconds that an assignment took; None if the field holds no such number."""
    try:
        value = float(text)
    except ValueError:
        return None
    # A comparison with NaN is false, too.
    return value + 0.0 if math.isfinite(value) and 0 <= value <= LONGEST_SECONDS else None


def time(text: str) -> str | None:
    """The time of a field in UTC, in the form of the store; None if it holds none.

    Mechanical Turk writes "Tue Jan 30 12:01:01 PST 2018". ISO 8601 is read, too, as UTC if it
    has no offset.
    """
    text = text.strip()
    try:
        found = _turk_time(text) or _iso_time(text)
        if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
            return None
        utc = found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _turk_time(text: str) -> datetime | None:
    from email.utils import parsedate_tz

    found = parsedate_tz(text) if _TURK_TIME.fullmatch(text) else None
    if found is None or found[9] is None:
        return None
    return datetime(*found[:6], tzinfo=timezone(timedelta(seconds=found[9])))


def _iso_time(text: str) -> datetime | None:
    if ":" not in text:
        return None
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def typed(kind: Kind, other: str, comment: str) -> tuple[str | None, str]:
    """Noun and comment from the two free texts of a row.

    The text typed for Other is the noun if it has few words; else, and for any other kind, it
    is appended to the comment.
    """
    other, comment = other.strip(), comment.strip()
    if kind is Kind.OTHER and is_noun(other):
        return " ".join(other.split()), comment
    if not other:
        return None, comment
    return None, f"{comment}; other: {other}" if comment else f"other: {other}"


def is_noun(text: str) -> bool:
    """True if free text may be a noun: few words, without punctuation."""
    words = text.split()
    if not 1 <= len(words) <= NOUN_WORDS or len(text) > LONGEST_NOUN:
        return False
    letters = "".join(words)
    return any(map(str.isalpha, letters)) and all(
        character.isalnum()
        or character in NOUN_SIGNS
        or unicodedata.category(character).startswith("M")
        for character in letters
    )


# The position of a task's number.
#
# The fields give its text (`Input.target`), its sentence (`Input.target_sentence`) and two
# indices. The unit of the indices is not documented: characters or tokens, of the sentence or
# of the context, the second one inclusive or exclusive. All interpretations are tried; one
# counts if it leads to the text of the number.

Tokenize = Callable[[str], Sequence[Span]]

LONGEST_TARGET = 200
MOST_PLACES = 1_000
TURNS_BEFORE, TURNS_BEHIND = 2, 1
"""The most turns of a context before and after that of the number (paper, section 5.2)."""

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class AmtTarget:
    """The fields of a row about its number."""

    text: str
    start: str
    end: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Context:
    """A context with the tokens of its turns: code points [start, end) of its text."""

    context: ContextText
    tokens: Sequence[Span]
    turns: Sequence[Turn]

    def turn_of(self, token: int) -> int:
        """The rank of the turn that holds a token."""
        return bisect_right(self.turns, token, key=lambda turn: turn.end)


def find_anchor(worded: Context, target: AmtTarget, tokenize: Tokenize) -> tuple[Anchor, bool]:
    """The number's tokens, and whether the file gives its position.

    Candidates are the occurrences of the number's text at token bounds. They are narrowed by
    the bold text of the page, the sentence, the indices, and by TURNS_BEFORE and TURNS_BEHIND
    (if each line names its speaker, and so is a turn), in this order; evidence that fits no
    candidate is ignored. Raises UnusableRow unless one candidate is left.
    """
    places = _places(worded, target)
    left = list(places)
    given = False
    for evidence in (
        places.keys() & set(worded.context.bold()),
        _in_sentence(worded, target, places),
        _by_index(worded, target, places, tokenize),
    ):
        narrowed = [place for place in left if place in evidence]
        left, given = narrowed or left, given or bool(narrowed)
    if len(left) > 1 and all(turn.speaker for turn in worded.turns):
        left = [place for place in left if _in_reach(worded, places[place])] or left
    if len(left) > 1:
        raise UnusableRow(RowProblem.TARGET_AMBIGUOUS, target.text)
    return places[left[0]], given


def _places(worded: Context, target: AmtTarget) -> dict[Span, Anchor]:
    """The tokens of each candidate, by its letters. Raises UnusableRow if there is none."""
    words = target.text.strip()
    if not words:
        raise UnusableRow(RowProblem.NO_TARGET)
    context = worded.context
    standing = (
        occurrences(context.text, words, MOST_PLACES) if len(words) <= LONGEST_TARGET else []
    )
    if not standing:
        raise UnusableRow(RowProblem.TARGET_MISSING, words)
    firsts = {start: token for token, (start, _) in enumerate(worded.tokens)}
    lasts = {end: token for token, (_, end) in enumerate(worded.tokens)}
    places = {
        context.letters.of(start, end): Anchor(firsts[start], lasts[end] + 1)
        for start, end in standing
        if start in firsts and end in lasts
    }
    if not places:
        raise UnusableRow(RowProblem.TARGET_IN_WORD, words)
    return places


def _in_sentence(worded: Context, target: AmtTarget, places: dict[Span, Anchor]) -> set[Span]:
    sentence = "".join(target.sentence.split())
    spans = [
        (first, first + len(sentence))
        for first in _standing(worded.context.letters.string, sentence)
    ]
    return {
        (first, last)
        for first, last in places
        if any(begin <= first and last <= end for begin, end in spans)
    }


def _standing(text: str, wanted: str) -> Iterator[int]:
    """The first MOST_PLACES indices of one text in another; none of an empty one."""
    place = text.find(wanted) if wanted else -1
    for _ in range(MOST_PLACES):
        if place < 0:
            return
        yield place
        place = text.find(wanted, place + 1)


def _in_reach(worded: Context, anchor: Anchor) -> bool:
    rank = worded.turn_of(anchor.start)
    return rank <= TURNS_BEFORE and len(worded.turns) - 1 - rank <= TURNS_BEHIND


# --- indices ------------------------------------------------------------------------------


def _by_index(
    worded: Context, target: AmtTarget, places: dict[Span, Anchor], tokenize: Tokenize
) -> set[Span]:
    """The candidates to which the indices lead in some interpretation."""
    start, end = whole_number(target.start), whole_number(target.end)
    if start is None:
        return set()
    context = worded.context
    wanted = "".join(target.text.split())
    found = set(_led(context.text, worded.tokens, start, end, wanted))
    for text, shifts in ((context.given, [0]), *_sentences(worded, target.sentence)):
        for units in _units(text, tokenize):
            led = list(_led(text, units, start, end, wanted))
            found |= {(a + shift, b + shift) for a, b in led for shift in shifts}
    return found & places.keys()


def _sentences(worded: Context, given: str) -> Iterator[tuple[str, list[int]]]:
    """Each possible sentence, with the numbers of letters that precede its occurrences.

    Without a sentence in the file, each turn, with its speaker and without.
    """
    context = worded.context
    sentence = "".join(given.split())
    if sentence:
        yield given, list(_standing(context.letters.string, sentence))
        return
    for turn in worded.turns:
        start, end = worded.tokens[turn.start][0], worded.tokens[turn.end - 1][1]
        line = context.text.rfind("\n", 0, start) + 1
        for first in {start, line}:
            yield context.text[first:end], [context.letters.before(first)]


def _units(text: str, tokenize: Tokenize) -> Iterator[Sequence[Span] | None]:
    """Possible units of the indices: characters (None), words, tokens."""
    yield None
    yield [match.span() for match in _WORD.finditer(text)]
    yield tokenize(text)


def _led(
    text: str, units: Sequence[Span] | None, start: int, end: int | None, wanted: str
) -> Iterator[Span]:
    """The letters of the spans to which two indices lead in a text, if they are `wanted`.

    units: the spans that are counted; None for characters, as code points and as UTF-16 units.
    """
    letters = Letters(text)
    for first, last in _code_points(text, units, start, end, len(wanted)):
        here = letters.of(first, last)
        if letters.string[slice(*here)] == wanted and letters.span(*here) == (first, last):
            yield here


def _code_points(
    text: str, units: Sequence[Span] | None, start: int, end: int | None, length: int
) -> Iterator[Span]:
    stops = (start + 1, start + length) if end is None else (end, end + 1)
    for stop in stops:
        if units is not None:
            if start < stop <= len(units):
                yield units[start][0], units[stop - 1][1]
        elif start < stop:
            yield start, stop
            first, last = code_point(text, start), code_point(text, stop)
            if first is not None and last is not None:
                yield first, last
