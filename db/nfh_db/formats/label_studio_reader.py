"""Tasks of Label Studio read and written: texts and what their offsets count in, regions and
relations, who said what, and JSON_MIN, the short export.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from html.parser import HTMLParser
from typing import Any, Protocol

import msgspec

from nfh_db.clock import now
from nfh_db.formats.annotation_tasks import Claim, on_grid, outcome
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name
from nfh_db.formats.json_stream import Parts, carried_of
from nfh_db.formats.rows import (
    IGNORE,
    DialogBlock,
    DialogTurn,
    GoldRow,
    LabelMap,
    RawPassage,
    ReadOptions,
    Row,
    Span,
)
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    HEAD,
    Graph,
    Grid,
    Link,
    Marked,
    MarkError,
    SplitPairError,
    Spot,
    TokenizedText,
    Units,
    alone,
    based,
    check_kinds,
    graph_of,
    numbers,
    part,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import KEY, Restored, StoredItem, restored
from nfh_db.messages import counted, shown, visible
from nfh_db.records import MODEL, PERSON, FlagMark, FlagName, Gold, Role, Vote
from nfh_models.domain import Anchor, Answer, Turn

# The text of a HyperText task, as the editor counts its characters.
#
# The editor counts the characters of the page's text nodes, and a `br` as one line feed (its
# source, RichText/domManager). Scripts and styles are taken out before.

UNSEEN = frozenset({"head", "script", "style", "iframe", "title"})


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in UNSEEN:
            self._within.append(tag)
        elif tag == "br" and not self._within:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._within and tag == self._within[-1]:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.pieces.append(data)


def rendered(html: str) -> str:
    """The characters that regions of a page count in."""
    page = _Page()
    page.feed(html)
    page.close()
    return "".join(page.pieces)


# The JSON of Label Studio's exports, as far as anything in it is read.
#
# From its documentation: "Label Studio JSON format of annotated tasks"
# (https://labelstud.io/guide/task_format), and the tags Text, Paragraphs and HyperText
# (https://labelstud.io/tags/text).

NAME = "label-studio"
"""Of the format, and of what is carried along of its files."""

ANCHOR_ONLY = "nfh-tui"
"""The name of the model whose predictions mark numbers and say nothing of them."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a region is and what is said of it.

    start, end: characters of a Text; of Paragraphs the ranks of two of them, as text, and of
    HyperText XPaths. text: what stands there, of a text area what was typed.
    """

    start: int | str | None = None
    end: int | str | None = None
    startOffset: int | None = None  # noqa: N815 - the format's own name
    endOffset: int | None = None  # noqa: N815
    globalOffsets: dict[str, int] | None = None  # noqa: N815
    text: str | list[str] | None = None
    labels: list[str] = []
    paragraphlabels: list[str] = []
    hypertextlabels: list[str] = []
    choices: list[str] = []

    @property
    def names(self) -> list[str]:
        """Its labels, by whatever tag they were given."""
        return self.labels or self.paragraphlabels or self.hypertextlabels


class RegionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the tool calls the meta information of a region: a note that somebody typed."""

    text: str | list[str] | None = None

    @property
    def words(self) -> str:
        """The note, a line for each part."""
        return self.text if isinstance(self.text, str) else "\n".join(self.text or ())


class TaskResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of an annotation: a region, what is said of one, or a relation of two."""

    type: str
    id: str | int | None = None
    from_name: str = ""
    to_name: str = ""
    value: Value | None = None
    from_id: str | int | None = None
    to_id: str | int | None = None
    direction: str | None = None
    labels: list[str] | None = None
    meta: RegionNote | None = None


class Tags(msgspec.Struct, frozen=True, array_like=True):
    """Names of the control and the object that regions belong to, and the type of regions,
    which is also the name of the list of their labels.
    """

    control: str = "label"
    object: str = "text"
    type: str = "labels"


class User(msgspec.Struct, frozen=True):
    """Somebody, as exports with people's names have it."""

    id: int | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None


class Annotation(msgspec.Struct, frozen=True):
    """What one person said. result: of TaskResults.

    import_id: the id that it was imported with; UNSET in files that know no such key.
    """

    result: msgspec.Raw
    id: int | str | None = None
    completed_by: int | User | None = None
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None
    import_id: int | str | msgspec.UnsetType | None = msgspec.UNSET


class TaskPrediction(msgspec.Struct, frozen=True):
    """What a model said. result: of TaskResults."""

    result: msgspec.Raw
    model_version: str | None = None
    created_at: str | None = None


class LabelStudioTask(msgspec.Struct, frozen=True):
    """A text with what people and models say of it.

    data: None of an object that is no task, as an item of JSON_MIN. completions: as old exports
    call the annotations. predictions: numbers where an export names them by their ids only.
    """

    data: dict[str, msgspec.Raw] | None = None
    id: int | str | None = None
    annotations: list[Annotation] | None = None
    completions: list[Annotation] | None = None
    predictions: list[TaskPrediction | int] | None = None
    drafts: list[Any] | None = None
    meta: msgspec.Raw = msgspec.Raw(b"null")


# Who said what of a task: names, times, and which annotation is which answer of ours.
#
# Label Studio numbers annotations anew when it imports them, and keeps the number that they
# came with as `import_id` (its source, tasks/serializers.py). Ours are numbered through the
# file; a task's data has the first number, and the order is that of `slots_of`.

MODEL_NAME = "model"
"""Of predictions that name no model."""


class _Vote(Protocol):
    @property
    def annotator(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def type(self) -> str: ...


class _Flag(Protocol):
    @property
    def name(self) -> FlagName: ...
    @property
    def annotator(self) -> str: ...


@dataclass(frozen=True, slots=True)
class AnnotationOwner:
    """What an annotation of ours is: somebody's vote, a task passed over, or the gold.

    who: None of the gold. vote: its place among all votes; None of what is none.
    """

    who: str | None
    role: Role = Role.ANNOTATOR
    vote: int | None = None


def slots_of(
    votes: Sequence[_Vote], flags: Sequence[_Flag], *, gold: bool
) -> list[AnnotationOwner]:
    """The annotations of a number, in the order in which they are written."""
    slots = [
        AnnotationOwner(vote.annotator, vote.role, place)
        for place, vote in enumerate(votes)
        if vote.type == PERSON
    ]
    if gold:
        slots.append(AnnotationOwner(None))
    answered = {slot.who for slot in slots}
    for flag in flags:
        if flag.name is FlagName.SKIP and flag.annotator not in answered:
            slots.append(AnnotationOwner(flag.annotator))
            answered.add(flag.annotator)
    return slots


def slot_of(
    one: Annotation, first: int | None, slots: Sequence[AnnotationOwner]
) -> AnnotationOwner | None:
    """Which of ours an annotation is; None of one that was made in the tool."""
    if first is None:
        return None
    came_back = one.import_id is not msgspec.UNSET
    number = one.import_id if came_back else one.id
    if not isinstance(number, int) or not 0 <= number - first < len(slots):
        return None
    slot = slots[number - first]
    # A file that never was in the tool names the people itself; numbers alone may be another's.
    return slot if came_back or name_of(one.completed_by) == slot.who else None


def name_of(given: int | str | User | None) -> str | None:
    """The annotator's name: an email, else first and last name, else "user" and the number.

    Raises MarkError for what is no name.
    """
    if given is None or isinstance(given, int):
        return None if given is None else f"user{given}"
    name = given if isinstance(given, str) else _name_of_user(given)
    if not is_a_name(name):
        raise MarkError(f'key "completed_by": found {shown(name)}, wanted {A_NAME}')
    return name


def _name_of_user(user: User) -> str:
    full = " ".join(filter(None, (user.first_name, user.last_name)))
    return user.email or full or ("" if user.id is None else f"user{user.id}")


def model_name(given: str | None) -> str:
    """The name of a prediction's model. Raises MarkError for what is no name."""
    name = given or MODEL_NAME
    if not is_a_name(name):
        raise MarkError(f'key "model_version": found {shown(name)}, wanted {A_NAME}')
    return name


def time_of(one: Annotation) -> str | None:
    """When it was given last, in UTC to the millisecond. Raises MarkError."""
    return utc(one.updated_at or one.created_at)


def seconds_of(one: Annotation) -> float | None:
    """How long it took. Raises MarkError for what is no time that something takes."""
    seconds = one.lead_time
    if seconds is not None and not 0 <= seconds < INTEGER_LIMIT:
        raise MarkError(f'key "lead_time": found {shown(seconds)}, wanted seconds, 0 or more')
    return seconds


def utc(text: str | None) -> str | None:
    """A time as the exports have it ("2021-03-09T22:16:08.728378Z"), as `gold` files have it.

    Raises MarkError for what is no time.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        wanted = 'a time such as "2021-03-09T22:16:08.728378Z"'
        raise MarkError(f"found the time {shown(text)}, wanted {wanted}") from error
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


SAID = (
    ("raw", "text", "without a number marked: its numbers were found by rule"),
    ("silent", "annotation", "without a number marked, of texts in which others mark some"),
    ("words", "annotation", "with a noun or a comment, but no number: that was left out"),
    ("drafts", "draft", "left out: nobody submitted them"),
    ("skips without a number", "task", "passed over in which no number is marked: no flag set"),
    ("passed", "number", "marked in what was cancelled: no answer, and not kept"),
    ("unfit skips", "task", "passed over whose marks contradict each other: left out"),
    ("skips of nobody", "task", "passed over by nobody who is named: no flag set"),
    ("predictions by number", "prediction", "of which the file has the number only: left out"),
    ("votes twice", "answer", "given twice by one person: the later one counts"),
    ("truths that differ", "number", "with ground truths that differ: none of them is gold"),
    ("withdrawn", "answer", "that the task was exported with and no longer has: left out"),
    ("unsaid", "number", "of which nothing but a noun or comment is said: left out"),
    ("cut", "token", "cut in two, since a region begins or ends inside it"),
    ("blurred", "region", "whose text the file has with other white space"),
    (
        "unsure",
        "region",
        "that does not say what stands there, of a text with characters that count two to "
        "some: read by code points; exports before October 2021 want --offsets utf16",
    ),
    ("again", "task", "that stood in the file before"),
)


@dataclass(slots=True)
class LabelStudioCounts:
    """counts: by the keys of SAID. left: results that are nothing here, by their type."""

    counts: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)

    def sentences(self) -> Iterator[str]:
        """One for each thing that came up."""
        for key, thing, what in SAID:
            if self.counts[key]:
                yield f"{counted(self.counts[key], thing)} {what}"
        for type_, count in sorted(self.left.items()):
            if count:
                what = f"left out that say nothing here: {visible(type_)}"
                yield f"{counted(count, 'result')} {what}"


# What Label Studio's offsets count in: a text, paragraphs of dialog, or a page of HTML.
#
# A Text tag counts code points since October 2021 and UTF-16 code units before. Paragraphs
# count UTF-16 code units within each paragraph, as the browser's ranges do. HyperText has
# `globalOffsets`, characters of the rendered text. Sources: https://labelstud.io/tags/text,
# /tags/paragraphs, /tags/hypertext, and the editor's source (HtxParagraphs, RichTextRegion).

TEXT, DIALOG = "text", "dialogue"
OWN_KEYS = ("nfh", "nfh_first_id")
"""Keys of a task's data under which this program keeps what the tool has no terms for."""

MARKUP = re.compile(r"<[a-zA-Z!/]|&[a-zA-Z#]")
BLANK = re.compile(r"\\n|\s+")
"""White space, and what the editor writes for a line break in a region's text."""

WORDS_OF = ("text", "utterance")
SPEAKER_OF = ("author", "speaker", "name")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One of a dialog's paragraphs: code points [start, end) of the whole text.

    begin, until: when it is said, in milliseconds, where the task tells.
    """

    start: int
    end: int
    speaker: str | None
    begin: int | None = None
    until: int | None = None


@dataclass(frozen=True)
class Canvas:
    """A text that regions are marked on. key: of the data it came from.

    paragraphs: none of a plain text. page: it is the text of HTML with markup. blurred: the
    stretches of regions whose stated text differs in white space. doubts: regions that nothing
    shows to be counted as they were read.
    """

    key: str
    text: str
    how: ReadOptions
    paragraphs: tuple[Paragraph, ...] = ()
    page: bool = False
    blurred: list[str] = field(default_factory=list)
    doubts: list[Span] = field(default_factory=list)

    @cached_property
    def _units(self) -> Units:
        return Units(self.text)

    def span(self, value: Value) -> Span:
        """The code points of a region; its text, where it is told, must stand there.

        Raises MarkError. A text that differs in its white space only is let pass: the browser
        shows that otherwise than it came; it is counted in `blurred`.
        """
        start, end = self._places(value)
        if self.page and not value.text:
            raise MarkError(
                f"the region {start} to {end} of a HyperText does not say what stands there, "
                "so that its place cannot be checked; wanted its text, as saveTextResult has it"
            )
        if not 0 <= start < end <= len(self.text):
            raise MarkError(
                f"the region {start} to {end} is outside a text of {len(self.text)} characters"
                + (f"; expected {shown(value.text)} there" if value.text else "")
            )
        there = self.text[start:end]
        if isinstance(value.text, str) and value.text != there:
            if _squeezed(value.text) != _squeezed(there):
                raise MarkError(
                    f"at {start} to {end}: expected {shown(value.text)}, found {shown(there)}; "
                    "if the file counts otherwise, say so with --offsets"
                )
            self.blurred.append(there)
        if self.how.offsets is None and value.text is None and not self.paragraphs:
            wide = self._units.wide
            if wide and wide[0] < end:
                self.doubts.append((start, end))
        return start, end

    def _places(self, value: Value) -> Span:
        if self.paragraphs:
            return self._in_paragraph(value.start, value.startOffset), self._in_paragraph(
                value.end, value.endOffset
            )
        start, end = value.start, value.end
        if value.globalOffsets is not None:
            start, end = value.globalOffsets.get("start"), value.globalOffsets.get("end")
        if not isinstance(start, int) or not isinstance(end, int):
            raise MarkError(
                f"a region starts at {shown(start)} and ends at {shown(end)}; wanted "
                'characters, or "globalOffsets", as newer versions of HyperText have'
            )
        if self.how.offsets != "utf16":
            return start, end
        return _points(self._units, start), _points(self._units, end)

    def _in_paragraph(self, rank: int | str | None, offset: int | None) -> int:
        if isinstance(rank, str) and rank.isascii() and rank.isdecimal():
            rank = int(rank)
        if not isinstance(rank, int) or not 0 <= rank < len(self.paragraphs):
            raise MarkError(
                f"found the paragraph {shown(rank)}, wanted one from 0 to "
                f"{len(self.paragraphs) - 1}"
            )
        place = self.paragraphs[rank]
        if offset is None:
            raise MarkError('a region in a paragraph has no "startOffset" or "endOffset"')
        if self.how.offsets != "codepoint":
            offset = _points(Units(self.text[place.start : place.end]), offset)
        if not 0 <= offset <= place.end - place.start:
            raise MarkError(
                f"the offset {offset} is outside paragraph {rank} of "
                f"{place.end - place.start} characters"
            )
        return place.start + offset

    def grid(self, marks: Sequence[Span]) -> TokenizedText:
        """The text with tokens on whose bounds all marks lie. Raises MarkError."""
        if not self.paragraphs:
            return based(self.text, marks, self.how)
        tokens: list[Span] = []
        turns = []
        for rank, one in enumerate(self.paragraphs):
            first = len(tokens)
            words = self.how.tokenize(self.text[one.start : one.end])
            tokens += [(one.start + start, one.start + end) for start, end in words]
            if len(tokens) > first:
                clock = (one.begin, one.until)
                turns.append(Turn(rank, one.speaker, first, len(tokens), *clock))
        cut = based(self.text, marks, self.how, tokens, turns)
        return TokenizedText(cut.grid, self.how.tokenizer(), cut.cut)

    def cut(self, passage: RawPassage, marks: Sequence[Span]) -> TokenizedText:
        """A passage of this text with its tokens cut where a mark needs it."""
        tokens = list(zip(passage.starts, passage.ends, strict=True))
        return based(self.text, marks, self.how, tokens, passage.turns)


def _points(units: Units, place: int) -> int:
    try:
        return units.to_points(place)
    except SplitPairError as error:
        raise MarkError(
            f"{error}; if the file counts otherwise, say so with --offsets"
        ) from error


def _squeezed(text: str) -> str:
    return BLANK.sub("", text)


def on_bounds(grid: Grid, marks: Iterable[Span]) -> bool:
    """True where no mark cuts a token."""
    try:
        for mark in marks:
            grid.tokens(*mark)
    except MarkError:
        return False
    return True


# --- which part of the data it is -----------------------------------------------------------


def canvas_of(
    data: Mapping[str, msgspec.Raw], how: ReadOptions, *, html: Callable[[], bool]
) -> Canvas:
    """The text of a task: what the mapping names, or what is called text or dialogue, or the
    only one there is. html: tells whether regions are marked on a HyperText. Raises MarkError.
    """
    named = {ours: theirs for theirs, ours in how.labels.layer.items() if theirs in data}
    for ours in (TEXT, DIALOG):
        if ours in named:
            found = _canvas(named[ours], data[named[ours]], how, html=html)
            if found is None:
                raise MarkError(f'key "data.{named[ours]}": wanted a text, or a dialog\'s list')
            return found
    every = {key: raw for key, raw in data.items() if key not in OWN_KEYS}
    for key in (TEXT, DIALOG):
        if key in every and (found := _canvas(key, every[key], how, html=html)):
            return found
    fit = [one for key in every if (one := _canvas(key, every[key], how, html=html))]
    if len(fit) != 1:
        names = ", ".join(one.key for one in fit) or "none"
        raise MarkError(
            f'key "data": wanted one text, found {names}; name it in a file for --map, as in '
            '[layer] and below it body = "text"'
        )
    return fit[0]


def _canvas(
    key: str, raw: msgspec.Raw, how: ReadOptions, *, html: Callable[[], bool]
) -> Canvas | None:
    value = msgspec.json.decode(raw)
    if isinstance(value, str):
        if MARKUP.search(value) and html():
            text = rendered(value)
            return Canvas(key, text, how, page=True) if text.strip() else None
        return Canvas(key, value, how) if value.strip() else None
    return paragraphs_of(key, value, how)


def paragraphs_of(key: str, value: object, how: ReadOptions) -> Canvas | None:
    """The text of a list of paragraphs, a line each; None of any other value."""
    if not isinstance(value, list) or not value:
        return None
    layer = {ours: theirs for theirs, ours in how.labels.layer.items()}
    text, paragraphs = "", list[Paragraph]()
    for one in value:
        words = _first_text(one, (layer.get("words", ""), *WORDS_OF))
        if words is None:
            return None
        speaker = _first_text(one, (layer.get("speaker", ""), *SPEAKER_OF))
        start = len(text) + bool(paragraphs)
        text += ("\n" if paragraphs else "") + words
        begin = _milliseconds(one.get("start"))
        until = _milliseconds(one.get("end"))
        duration = _milliseconds(one.get("duration"))
        if until is None and begin is not None and duration is not None:
            until = begin + duration
        paragraphs.append(Paragraph(start, len(text), speaker or None, begin, until))
    return Canvas(key, text, how, tuple(paragraphs)) if text.strip() else None


def _first_text(one: object, keys: Sequence[str]) -> str | None:
    if not isinstance(one, dict):
        return None
    return next((found for key in keys if isinstance(found := one.get(key), str)), None)


def _milliseconds(seconds: object) -> int | None:
    if (
        isinstance(seconds, int | float)
        and not isinstance(seconds, bool)
        and 0 <= seconds < 1e9
    ):
        return round(seconds * 1000)
    return None


OWN_TAGS = Tags()
DIALOGS = Tags(type="paragraphlabels")
"""Names as the labelling configuration has them that docs/formats-label-studio.md shows, and
those of a dialog's paragraphs.
"""

_parts = msgspec.json.Decoder(Parts)
_string = msgspec.json.Decoder(str)
_tags = msgspec.json.Decoder(Tags)


@dataclass(frozen=True)
class TaskLayout:
    """data: of a task, with its text and what else it came with. canvas: its paragraphs, if the
    text lies in some. tags: names that its results bear.
    """

    text: str
    data: Mapping[str, Any]
    canvas: Canvas | None = None
    tags: Tags = OWN_TAGS

    def region(self, start: int, end: int, label: str | None = None) -> dict[str, Any]:
        """Where code points [start, end) are, and their label, as a result's value says it."""
        value: dict[str, Any]
        if self.canvas is None:
            value = {"start": start, "end": end, "text": self.text[start:end]}
        else:
            first, begin = self._in_paragraph(start, last=False)
            last, until = self._in_paragraph(end, last=True)
            value = {"start": str(first), "end": str(last)}
            value |= {"startOffset": begin, "endOffset": until, "text": self.text[start:end]}
        if label is not None:
            value[self.tags.type] = [label]
        return value

    @cached_property
    def _units(self) -> list[Units]:
        assert self.canvas is not None  # noqa: S101 - asked of paragraphs only
        return [Units(self.text[one.start : one.end]) for one in self.canvas.paragraphs]

    def _in_paragraph(self, place: int, *, last: bool) -> tuple[int, int]:
        """The paragraph of a place and the UTF-16 units before it there. last: the place is a
        region's end, which is at the end of a paragraph rather than at the start of the next.
        """
        assert self.canvas is not None  # noqa: S101 - asked of paragraphs only
        fit = [
            rank
            for rank, one in enumerate(self.canvas.paragraphs)
            if one.start <= place <= one.end
        ]
        rank = fit[0] if last else fit[-1]
        inside = place - self.canvas.paragraphs[rank].start
        return rank, self._units[rank].to_units(inside)


def tags_of(canvas: Canvas, first: TaskResult | None) -> Tags | None:
    """The names of a project's own tags, by its first region; None where they are ours."""
    if first is None or canvas.page:
        return None
    tags = Tags(
        first.from_name or OWN_TAGS.control, first.to_name or OWN_TAGS.object, first.type
    )
    return None if tags == (DIALOGS if canvas.paragraphs else OWN_TAGS) else tags


def layout_of(text: str, carried: Parts, labels: LabelMap) -> TaskLayout:
    """How a text lies in its task: under its key and beside what it was imported with."""
    key = next((theirs for theirs, ours in labels.layer.items() if ours == TEXT), TEXT)
    if not carried:
        return TaskLayout(text, {key: text})
    data = _parts.decode(carried["data"]) if "data" in carried else {}
    tags = _tags.decode(carried["tags"]) if "tags" in carried else None
    if "key" in carried:
        key = _string.decode(carried["key"])
    if key not in data:
        return TaskLayout(text, {key: text, **data}, tags=tags or OWN_TAGS)
    try:
        canvas = paragraphs_of(key, msgspec.json.decode(data[key]), ReadOptions(labels=labels))
    except MarkError:
        canvas = None
    if canvas is not None and canvas.text == text:
        return TaskLayout(text, data, canvas, tags or DIALOGS)
    return TaskLayout(text, {TEXT: text, **{k: raw for k, raw in data.items() if k != TEXT}})


def drawn(
    answer: Answer | None,
    anchor: Anchor,
    starts: Sequence[int],
    ends: Sequence[int],
    layout: TaskLayout,
    labels: LabelMap,
) -> list[dict[str, Any]]:
    """The results that show an answer; of none the number alone.

    Token i is code points [starts[i], ends[i]). Raises ExportError for a name that the mapping
    would read back as another one.
    """
    graph = renamed(graph_of(answer, anchor, starts, ends), labels)
    results = [
        {
            "id": f"s{rank}",
            "from_name": layout.tags.control,
            "to_name": layout.tags.object,
            "type": layout.tags.type,
            "value": layout.region(spot.start, spot.end, spot.label),
        }
        for rank, spot in enumerate(graph.spots)
    ]
    results += _links(graph)
    if answer is not None and (answer.noun or answer.comment):
        number = graph.spots[0]
        for name, words in (("noun", answer.noun), ("comment", answer.comment)):
            if words:
                place = layout.region(number.start, number.end)
                results.append(_typed(_theirs(name, labels), words, place, layout))
    return results


def _links(graph: Graph) -> list[dict[str, Any]]:
    return [
        {
            "type": "relation",
            "from_id": f"s{link.source}",
            "to_id": f"s{link.target}",
            "direction": "right",
            "labels": [link.label],
        }
        for link in graph.links
    ]


def _theirs(name: str, labels: LabelMap) -> str:
    """What a project calls the text area of that name."""
    return next((theirs for theirs, ours in labels.layer.items() if ours == name), name)


def _typed(
    name: str, words: str, place: Mapping[str, Any], layout: TaskLayout
) -> dict[str, Any]:
    return {
        "id": "s0",
        "from_name": name,
        "to_name": layout.tags.object,
        "type": "textarea",
        "value": {**place, "text": [words]},
    }


# What an annotation's results draw: regions and relations as spots and links.
#
# A region may have several results of one id: its labels, choices, and what was typed for it.

REGIONS = frozenset({"labels", "paragraphlabels", "hypertextlabels"})
NOUN, COMMENT = "noun", "comment"

Key = str | int


@dataclass(frozen=True, slots=True)
class AnnotationMarks:
    """What one annotation shows. graph: translated, without what is ignored.

    said: of a spot, what was typed for it, by NOUN and COMMENT; of None what was typed for
    the whole text.
    """

    graph: Graph
    said: Mapping[tuple[int | None, str], str] = field(default_factory=dict)

    def words(self, place: int, what: str) -> str:
        """What was typed of a number at that spot; "" if nothing was."""
        if not self.said:
            return ""
        own = self.said.get((place, what))
        return own if own is not None else self.said.get((None, what), "")


@dataclass(slots=True)
class _Region:
    """A region on its way. names: of its labels; kinds: that were chosen for it."""

    start: int
    end: int
    names: list[str]
    kinds: list[str] = field(default_factory=list)
    typed: list[tuple[str, str]] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)


def sheet_of(
    results: Iterable[TaskResult], canvas: Canvas, labels: LabelMap, left: Counter[str]
) -> AnnotationMarks:
    """What results show. left: counts what is none of it, by its type.

    Raises MarkError for labels and relations that mean nothing here, and for what
    contradicts itself.
    """
    return _Drawing(canvas, labels, left).of(results)


class _Drawing:
    def __init__(self, canvas: Canvas, labels: LabelMap, left: Counter[str]) -> None:
        self.canvas = canvas
        self.labels = labels
        self.left = left
        self.regions: dict[Key, _Region] = {}
        self.whole = _Region(0, 0, [])

    def of(self, results: Iterable[TaskResult]) -> AnnotationMarks:
        relations, rest = [], []
        for rank, result in enumerate(results):
            if result.type in REGIONS:
                self._label(result, rank)
            elif result.type == "relation":
                relations.append(result)
            else:
                rest.append(result)
        for result in rest:
            self._say(result)
        spots = self._spots()
        links = [link for result in relations for link in self._links(result, spots)]
        return _without_ignored(
            translated(Graph(tuple(spots), tuple(links)), self.labels), self
        )

    def _label(self, result: TaskResult, rank: int) -> None:
        value = result.value
        if value is None or not value.names:
            self.left[f"{result.type} without a label"] += 1
            return
        start, end = self.canvas.span(value)
        key: Key = rank - 1_000_000 if result.id is None else result.id
        known = self.regions.setdefault(key, _Region(start, end, []))
        if (known.start, known.end) != (start, end):
            raise MarkError(
                f"the region {shown(key)} stands at {known.start} to {known.end} and at "
                f"{start} to {end}"
            )
        known.names += value.names
        if result.meta is not None and result.meta.words:
            self._note(known, result.meta.words)

    def _note(self, region: _Region, words: str) -> None:
        """A note on a number is a comment; those on other regions are counted."""
        if any(self._ours(name) in ANSWERS for name in region.names):
            region.typed.append((COMMENT, words))
        else:
            self.left["note on a region that is no number"] += 1

    def _say(self, result: TaskResult) -> None:
        """What was chosen or typed of a region, or of the whole text."""
        region = self.whole if result.id is None else self.regions.get(result.id, self.whole)
        value = result.value
        if result.type == "choices" and value is not None:
            kinds = [one for one in value.choices if self._ours(one) in ANSWERS]
            region.kinds += kinds
            self.left["choices"] += len(value.choices) - len(kinds)
            return
        field_ = self.labels.layer.get(result.from_name, result.from_name)
        if result.type == "textarea" and value is not None and field_ in (NOUN, COMMENT):
            typed = value.text if isinstance(value.text, list) else [value.text or ""]
            region.typed.append((field_, "\n".join(typed)))
            return
        self.left[result.type] += 1

    def _ours(self, name: str) -> str:
        return self.labels.labels.get(name, name)

    def _spots(self) -> list[Spot]:
        self._choose_for_only_number()
        spots: list[Spot] = []
        for key, region in self.regions.items():
            for name in self._names(key, region):
                region.spots.append(len(spots))
                spots.append(Spot(region.start, region.end, name))
        return spots

    def _choose_for_only_number(self) -> None:
        """A kind chosen for the whole text is that of its only number."""
        if not self.whole.kinds:
            return
        numbers = [
            region
            for region in self.regions.values()
            if any(self._ours(name) in ANSWERS for name in region.names)
        ]
        if len(numbers) == 1:
            numbers[0].kinds += self.whole.kinds
        else:
            self.left["choices"] += len(self.whole.kinds)

    def _names(self, key: Key, region: _Region) -> list[str]:
        """The labels of a region's spots: at most one of a number, its kind if it is said."""
        if len(region.names) == 1 and not region.kinds:
            return region.names
        answers = [one for one in region.names if self._ours(one) in ANSWERS]
        if region.kinds and not answers:
            self.left["choices"] += len(region.kinds)
        said = {
            self._ours(one): one
            for one in (*answers, *(region.kinds if answers else ()))
            if self._ours(one) != ANCHOR
        }
        if len(said) > 1:
            raise MarkError(f"the region {shown(key)} is both {' and '.join(said.values())}")
        number = list(said.values()) or answers[:1]
        rest = [one for one in region.names if self._ours(one) not in ANSWERS]
        return [*number, *dict.fromkeys(rest)]

    def _links(self, result: TaskResult, spots: list[Spot]) -> list[Link]:
        source = self._end(result.from_id)
        target = self._end(result.to_id)
        if result.direction == "left":
            source, target = target, source
        names = result.labels or [self._plain(spots[source], spots[target])]
        return [Link(source, target, name) for name in names]

    def _end(self, key: Key | None) -> int:
        region = None if key is None else self.regions.get(key)
        if region is None or not region.spots:
            raise MarkError(f"a relation ends at the region {shown(key)}, which is not there")
        return region.spots[0]

    def _plain(self, one: Spot, two: Spot) -> str:
        """What a relation without a label is: HEAD, if it joins a number to one."""
        ours = {self._ours(one.label), self._ours(two.label)}
        return HEAD if HEAD in ours and ours & ANSWERS.keys() else ""

    def said(self) -> dict[tuple[int | None, str], str]:
        """What was typed, by the first spot of its region."""
        said: dict[tuple[int | None, str], str] = {}
        for region in (*self.regions.values(), self.whole):
            place = region.spots[0] if region.spots else None
            for what, words in region.typed:
                before = said.get((place, what))
                said[place, what] = words if before is None else f"{before}\n{words}"
        return said


def _without_ignored(graph: Graph, drawing: _Drawing) -> AnnotationMarks:
    said = drawing.said()
    kept = [i for i, spot in enumerate(graph.spots) if spot.label != IGNORE]
    drawing.left["ignored label"] += len(graph.spots) - len(kept)
    if len(kept) == len(graph.spots):
        return AnnotationMarks(graph, said)
    rank = {place: here for here, place in enumerate(kept)}
    return AnnotationMarks(
        part(graph, kept),
        {
            (place if place is None else rank[place], what): words
            for (place, what), words in said.items()
            if place is None or place in rank
        },
    )


# What one annotation or prediction of a task says: its marks, and whose they are.
#
# An annotation that came with a file of ours and was not touched since says what was kept
# along, so that its marks need not be read.

NO_NAMES = LabelMap()

_results_decoder = msgspec.json.Decoder(list[TaskResult])
_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class StatedMarks:
    """Marks, and what claims are made of them, without the words that were typed."""

    sheet: AnnotationMarks
    marked: Sequence[Marked]
    claims: Sequence[Claim]

    @property
    def bare(self) -> bool:
        """Somebody submitted it without a number marked."""
        return not self.marked and any(one.type == PERSON for one in self.claims)


@dataclass(frozen=True, slots=True)
class AsKept:
    """It says what was kept along. vote: its place among all votes; None of the gold."""

    vote: int | None


@dataclass
class Speakers:
    """Those who say something of one task. kept: what the task carries of ours.

    first: number of its first annotation as it was exported.
    region: the first one that was read.
    """

    task: LabelStudioTask
    canvas: Canvas
    how: ReadOptions
    tally: LabelStudioCounts
    kept: Restored | None
    first: int | None
    region: TaskResult | None = None
    _known: dict[Answer | None, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = self.kept
        self.slots: Sequence[AnnotationOwner] = (
            slots_of(kept.votes, kept.flags, gold=kept.gold is not None) if kept else ()
        )

    @property
    def annotations(self) -> Sequence[Annotation]:
        """By whatever name the export has them."""
        return self.task.annotations or self.task.completions or ()

    def skips(self) -> Iterator[tuple[str | None, str | None]]:
        """Who passed the task over, and when. Raises MarkError."""
        for one in self.annotations:
            if one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield slot.who if slot else name_of(one.completed_by), time_of(one)

    def said(self) -> Iterator[StatedMarks | AsKept]:
        """What each annotation says, and each prediction. One that was cancelled claims
        nothing, but what it marks are numbers that were passed over.

        Raises MarkError.
        """
        for one in self.annotations:
            if not one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield self._as_kept(one, slot) or self._read(one, _claims(one, slot))
            elif self.kept is None:
                try:
                    given_up = self._read(one, ())
                    self.tally.counts["passed"] += sum(
                        bool(number.kind or number.mentions) for number in given_up.marked
                    )
                    yield given_up
                except MarkError:  # Given up halfway, it need not hold.
                    self.tally.counts["unfit skips"] += 1
        for prediction in self.task.predictions or ():
            if isinstance(prediction, TaskPrediction):
                yield from self._predicted(prediction)
            else:
                self.tally.counts["predictions by number"] += 1

    def _as_kept(self, one: Annotation, slot: AnnotationOwner | None) -> AsKept | None:
        """What an annotation is that nobody touched since it was exported, if it is one."""
        if self.kept is None or slot is None or one.ground_truth is not (slot.who is None):
            return None
        kept = self.kept.gold if slot.vote is None else self.kept.votes[slot.vote]
        if kept is None or not self._shows(one.result, kept.answer):
            return None
        return AsKept(slot.vote)

    def _predicted(self, one: TaskPrediction) -> Iterator[StatedMarks | AsKept]:
        kept = self.kept
        if kept is not None:
            if one.model_version == ANCHOR_ONLY and self._shows(one.result, None):
                return
            for place, vote in enumerate(kept.votes):
                if vote.annotator == one.model_version and vote.type != PERSON:
                    if self._shows(one.result, vote.answer):
                        yield AsKept(place)
                        return
                    break
        name, at = model_name(one.model_version), utc(one.created_at)
        yield self._read(one, (Claim(name, at=at, type=MODEL, noun="", comment=""),))

    def _shows(self, result: msgspec.Raw, answer: Answer | None) -> bool:
        """True if results are those that this program writes of an answer, however spelled."""
        kept = self.kept
        if kept is None or self.how.labels != NO_NAMES:
            return False
        known = self._known.get(answer)
        if known is None:
            passage = kept.passage
            paragraphs = self.canvas if self.canvas.paragraphs else None
            tags = DIALOGS if paragraphs else OWN_TAGS
            layout = TaskLayout(self.canvas.text, {}, paragraphs, tags)
            shown = drawn(answer, kept.anchor, passage.starts, passage.ends, layout, NO_NAMES)
            known = _encoder.encode(shown)
            self._known[answer] = known
        return known == bytes(result) or _results_decoder.decode(known) == _decoded(result)

    def _read(self, one: Annotation | TaskPrediction, claims: Sequence[Claim]) -> StatedMarks:
        results = _decoded(one.result)
        if self.region is None:
            self.region = next((one for one in results if one.type in REGIONS), None)
        sheet = sheet_of(results, self.canvas, self.how.labels, self.tally.left)
        check_kinds(sheet.graph)
        return StatedMarks(sheet, numbers(sheet.graph), claims)


def _decoded(result: msgspec.Raw) -> list[TaskResult]:
    try:
        return _results_decoder.decode(result)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(f'key "result": {error}') from error


def _claims(one: Annotation, slot: AnnotationOwner | None) -> Sequence[Claim]:
    """What an annotation is: a vote, the gold, or both where it is a ground truth."""
    at, seconds = time_of(one), seconds_of(one)
    who = slot.who if slot else name_of(one.completed_by)
    gold = Claim(None, gold=True, at=at, noun="", comment="")
    if who is None:
        return (gold,)
    role = slot.role if slot else Role.ANNOTATOR
    vote = Claim(who, at=at, seconds=seconds, role=role, noun="", comment="")
    return (vote, gold) if one.ground_truth else (vote,)


DEFAULTS = (b"null", b"{}")

_items = msgspec.json.Decoder(StoredItem)
_number = msgspec.json.Decoder(int)


@dataclass(slots=True)
class _Found:
    """What all of a task say of one number. golds: with whether it is the one kept along."""

    golds: list[tuple[Gold, bool]] = field(default_factory=list)
    votes: dict[tuple[str, Role], Vote] = field(default_factory=dict)
    flags: dict[tuple[FlagName, str], FlagMark] = field(default_factory=dict)

    def flag(self, flag: FlagMark) -> None:
        self.flags.setdefault((flag.name, flag.annotator), flag)


def rows_of(
    task: LabelStudioTask, line: int, how: ReadOptions, tally: LabelStudioCounts
) -> Iterator[Row]:
    """The rows of a task, one for each number in it. line: the task's rank in the file, since
    an export has all of them on one line.

    Raises MarkError.
    """
    data = task.data or {}
    canvas = canvas_of(data, how, html=lambda: _is_html(task))
    kept, first = _kept(data, canvas.text)
    speakers = Speakers(task, canvas, how, tally, kept, first)
    said = list(speakers.said())
    skips = list(speakers.skips())
    tally.counts["drafts"] += len(task.drafts or ())
    tally.counts["blurred"] += len(canvas.blurred)
    tally.counts["unsure"] += len(canvas.doubts)
    bare = [one for one in said if isinstance(one, StatedMarks) and one.bare]
    tally.counts["words"] += sum(bool(one.sheet.said) for one in bare)
    if kept is None and not any(isinstance(one, StatedMarks) and one.marked for one in said):
        tally.counts["skips without a number"] += len(skips)
        tally.counts["raw"] += 1
        yield replace(_raw(canvas, line), labels=_carried(task, canvas, None))
        return
    tally.counts["silent"] += len(bare) if kept is None else 0
    table = _Table.of(canvas, kept, said, how, tally)
    for one in said:
        if isinstance(one, StatedMarks):
            table.hear(one)
        else:
            table.as_kept(one)
    for who, at in skips:
        table.skip(who, at)
    if kept is not None:
        table.keep_rest()
    yield from table.rows(line, _carried(task, canvas, tags_of(canvas, speakers.region)))


def _kept(data: dict[str, msgspec.Raw], text: str) -> tuple[Restored | None, int | None]:
    """What a task carries of ours, and the number of its first annotation then."""
    raw, first = data.get(KEY), data.get(OWN_KEYS[1])
    if raw is None:
        return None, None
    try:
        item = _items.decode(raw)
        number = None if first is None else _number.decode(first)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(
            f'key "data.{KEY}": {error}; nfh-tui itself writes this key: give a column of '
            "yours another name"
        ) from error
    return restored(item, text), number


def _carried(task: LabelStudioTask, canvas: Canvas, tags: Tags | None) -> str | None:
    """What else the task holds, under which key its text lies, and how its tags are called."""
    data = {
        key: raw
        for key, raw in (task.data or {}).items()
        if key not in OWN_KEYS and (key != canvas.key or canvas.paragraphs or canvas.page)
    }
    parts: dict[str, msgspec.Raw] = {}
    if data:
        parts["data"] = msgspec.Raw(msgspec.json.encode(data))
    if canvas.key != TEXT:
        parts["key"] = msgspec.Raw(msgspec.json.encode(canvas.key))
    if tags is not None:
        parts["tags"] = msgspec.Raw(msgspec.json.encode(tags))
    if bytes(task.meta) not in DEFAULTS:
        parts["meta"] = task.meta
    return carried_of(NAME, parts, ()) if parts else None


@dataclass(slots=True)
class _Table:
    """What is said of each number of a task, on one grid of tokens."""

    grid: Grid
    tokenizer: str | None
    kept: Restored | None
    how: ReadOptions
    tally: LabelStudioCounts
    found: dict[Anchor, _Found] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        canvas: Canvas,
        kept: Restored | None,
        said: Sequence[StatedMarks | AsKept],
        how: ReadOptions,
        tally: LabelStudioCounts,
    ) -> "_Table":
        """Tokens on whose bounds all marks lie: those kept along, where they do."""
        marks = {
            (spot.start, spot.end)
            for one in said
            if isinstance(one, StatedMarks)
            for spot in one.sheet.graph.spots
        }
        if kept is None:
            base = canvas.grid(sorted(marks))
            tally.counts["cut"] += base.cut
            return cls(base.grid, base.tokenizer, None, how, tally)
        grid = Grid(kept.passage)
        if not on_bounds(grid, marks):
            base = canvas.cut(kept.passage, sorted(marks))
            tally.counts["cut"] += base.cut
            grid = base.grid
            kept = on_grid(kept, grid)
        return cls(grid, None, kept, how, tally, {kept.anchor: _Found()})

    def as_kept(self, one: AsKept) -> None:
        """Take what was kept along as it was."""
        assert self.kept is not None  # noqa: S101 - nothing is as kept where nothing is kept
        found = self.found[self.kept.anchor]
        if one.vote is None:
            assert self.kept.gold is not None  # noqa: S101
            found.golds.append((self.kept.gold, True))
            return
        vote = self.kept.votes[one.vote]
        self._vote(found, vote)
        for flag in self.kept.flags:
            if flag.annotator == vote.annotator:
                found.flag(flag)

    def hear(self, one: StatedMarks) -> None:
        """Take what is said of each number that is marked."""
        for marked in one.marked:
            anchor = Anchor(*self.grid.tokens(*marked.anchor))
            found = self.found.setdefault(anchor, _Found())
            kept = self.kept if self.kept and self.kept.anchor == anchor else None
            graph = alone(one.sheet.graph, marked.spot)
            noun = one.sheet.words(marked.spot, NOUN)
            comment = one.sheet.words(marked.spot, COMMENT)
            for plain in one.claims:
                claim = plain
                if noun or comment:
                    claim = replace(plain, noun=noun, comment=comment)
                got = outcome(claim, marked, graph, self.grid, self.how, kept)
                self.tally.counts["unsaid"] += bool(got.unsaid)
                if got.gold is not None:
                    found.golds.append((got.gold, kept is not None and got.gold is kept.gold))
                for vote in got.votes:
                    self._vote(found, vote)
                for flag in got.flags:
                    found.flag(flag)

    def _vote(self, found: _Found, vote: Vote) -> None:
        """Of two votes of one person the one given last counts."""
        key = (vote.annotator, vote.role)
        before = found.votes.get(key)
        if before is not None:
            self.tally.counts["votes twice"] += before != vote
            vote = max(before, vote, key=lambda one: one.answered_at)
        found.votes[key] = vote

    def skip(self, who: str | None, at: str | None) -> None:
        """Set the flag of whoever passed the task over, at each number in it."""
        who = who or self.how.annotator
        if who is None:
            self.tally.counts["skips of nobody"] += 1
            return
        for anchor, found in self.found.items():
            if self.kept is not None and self.kept.anchor == anchor:
                for flag in self.kept.flags:
                    if flag.annotator == who:
                        found.flag(flag)
            found.flag(FlagMark(FlagName.SKIP, who, at or now()))

    def rows(self, line: int, carried: str | None) -> Iterator[GoldRow]:
        """One for each number."""
        for anchor, found in self.found.items():
            yield GoldRow(
                line,
                self.grid.passage,
                anchor,
                self.kept.split if self.kept else None,
                self._gold(found),
                tuple(found.votes.values()),
                tuple(found.flags.values()),
                carried,
                self.tokenizer,
                foreign=self.kept is None,
            )

    def keep_rest(self) -> None:
        """What was kept along of those of whom the file says nothing, and what is gone."""
        kept = self.kept
        assert kept is not None  # noqa: S101 - asked where something is kept
        found = self.found[kept.anchor]
        heard = {name for name, _ in found.votes} | {name for _, name in found.flags}
        for flag in kept.flags:
            if flag.annotator not in heard:
                found.flag(flag)
        gone = int(kept.gold is not None and not found.golds)
        for vote in kept.votes:
            key = (vote.annotator, vote.role)
            if vote.type == PERSON:
                gone += key not in found.votes
            else:
                found.votes.setdefault(key, vote)
        self.tally.counts["withdrawn"] += gone

    def _gold(self, found: _Found) -> Gold | None:
        """The ground truth; none where there are several that differ."""
        if not found.golds:
            return None
        if len({gold.answer for gold, _ in found.golds}) > 1:
            self.tally.counts["truths that differ"] += 1
            return None
        return next((gold for gold, is_kept in found.golds if is_kept), found.golds[0][0])


def _raw(canvas: Canvas, line: int) -> DialogBlock:
    """A text in which nobody marked a number."""
    if not canvas.paragraphs:
        return block_of(canvas.text, line)
    turns = tuple(
        DialogTurn(line, rank, one.speaker, one.start, one.end, one.begin, one.until)
        for rank, one in enumerate(canvas.paragraphs)
        if canvas.text[one.start : one.end].strip()
    )
    return DialogBlock(canvas.text, turns)


def _is_html(task: LabelStudioTask) -> bool:
    """True if its regions are a HyperText's."""
    return any(
        sign in bytes(one.result)
        for one in (*(task.annotations or ()), *(task.completions or ()))
        for sign in (b'"hypertextlabels"', b'"globalOffsets"')
    )
