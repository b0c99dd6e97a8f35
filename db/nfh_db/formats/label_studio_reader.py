"""Tasks of Label Studio: types of its JSON, texts and units of their offsets, results of an
answer, graphs of results, annotators, and rows of a task.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from html.parser import HTMLParser
from typing import Any

import msgspec

from nfh_db.formats.annotation_tasks import Claim, on_alignment, outcome, retokenized
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name
from nfh_db.formats.json_stream import Parts, carried_of
from nfh_db.formats.rows import (
    IGNORE,
    DialogBlock,
    DialogTurn,
    GoldRow,
    LabelMap,
    ReadOptions,
    Row,
    Span,
)
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    HEAD,
    Graph,
    Link,
    MarkedNumber,
    MarkError,
    SplitPairError,
    Spot,
    TokenAlignment,
    TokenizedText,
    Units,
    based,
    check_kinds,
    graph_of,
    numbers,
    read_graph,
    renamed,
    span_label,
)
from nfh_db.formats.stored_annotation import KEY, Restored, StoredItem, restored
from nfh_db.messages import reason_of, shown, tallied, visible
from nfh_db.records import MODEL, PERSON, FlagMark, FlagName, Gold, Role, Vote
from nfh_db.system import now
from nfh_models.domain import Anchor, Answer, Turn

# The text of a HyperText task, as the editor counts its characters.
#
# The editor removes scripts and styles, counts the characters of the remaining text nodes, and
# counts a `br` as one line feed (its source, RichText/domManager).

HIDDEN_TAGS = frozenset({"head", "script", "style", "iframe", "title"})


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag in HIDDEN_TAGS:
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
    """The text of a page in which the offsets of its regions count."""
    page = _Page()
    page.feed(html)
    page.close()
    return "".join(page.pieces)


# The JSON of Label Studio's exports, as far as it is read.
#
# Source: its documentation, "Label Studio JSON format of annotated tasks"
# (https://labelstud.io/guide/task_format), and the tags Text, Paragraphs and HyperText
# (https://labelstud.io/tags/text).

NAME = "label-studio"
"""The format, and the key of what is carried of its files."""

ANCHOR_ONLY = "nfh-tui"
"""The name of the model whose predictions mark numbers without an answer."""


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """The position of a region, and its labels."""

    start: int | str | None = None
    """As `end`: of a Text a character; of Paragraphs the rank of a paragraph, as a string; of
    HyperText an XPath."""
    end: int | str | None = None
    startOffset: int | None = None  # noqa: N815 - the format's own name
    endOffset: int | None = None  # noqa: N815
    globalOffsets: dict[str, int] | None = None  # noqa: N815
    text: str | list[str] | None = None
    """The text of the region; of a text area what was typed."""
    labels: list[str] = []
    paragraphlabels: list[str] = []
    hypertextlabels: list[str] = []
    choices: list[str] = []

    @property
    def names(self) -> list[str]:
        """Its labels, of whichever tag."""
        return self.labels or self.paragraphlabels or self.hypertextlabels


class RegionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The meta information of a region: a note that somebody typed."""

    text: str | list[str] | None = None

    @property
    def words(self) -> str:
        """The note, a line for each part."""
        return self.text if isinstance(self.text, str) else "\n".join(self.text or ())


class TaskResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of an annotation: a region, a choice or text for one, or a relation of two."""

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
    """Names of the tags of a labelling configuration to which regions belong."""

    control: str = "label"
    object: str = "text"
    type: str = "labels"
    """Of regions; also the key of the list of their labels."""


class User(msgspec.Struct, frozen=True):
    """An annotator, in exports with people's names."""

    id: int | None = None
    email: str | None = None
    first_name: str | None = None
    last_name: str | None = None


class Annotation(msgspec.Struct, frozen=True):
    """The annotation of one person."""

    result: msgspec.Raw
    """A list of TaskResults."""
    id: int | str | None = None
    completed_by: int | User | None = None
    was_cancelled: bool | None = False
    ground_truth: bool | None = False
    reviews: list[Any] | None = None
    """Of reviewers, the latest last."""
    created_at: str | None = None
    updated_at: str | None = None
    lead_time: float | None = None
    """Seconds."""
    import_id: int | str | msgspec.UnsetType | None = msgspec.UNSET
    """The id with which it was imported; UNSET in files without this key."""

    @property
    def rejected(self) -> bool:
        """The last reviewer did not accept it."""
        last = self.reviews[-1] if self.reviews else None
        return isinstance(last, dict) and last.get("accepted") is False

    @property
    def time(self) -> str | None:
        """When it was last changed, in UTC to the millisecond. Raises MarkError."""
        return utc(self.updated_at or self.created_at)


class TaskPrediction(msgspec.Struct, frozen=True):
    """The annotation of a model."""

    result: msgspec.Raw
    """A list of TaskResults."""
    model_version: str | None = None
    created_at: str | None = None


class LabelStudioTask(msgspec.Struct, frozen=True):
    """A text with the annotations of people and models."""

    data: dict[str, msgspec.Raw] | None = None
    """None in an object that is no task, such as an item of JSON_MIN."""
    id: int | str | None = None
    annotations: list[Annotation] | None = None
    completions: list[Annotation] | None = None
    """The name of `annotations` in old exports."""
    predictions: list[TaskPrediction | int] | None = None
    """Integers in exports that give only the ids."""
    drafts: list[Any] | None = None
    meta: msgspec.Raw = msgspec.Raw(b"null")


# Annotators and times, and which annotation of a file is which stored vote.
#
# Label Studio renumbers annotations on import and keeps the former id as `import_id` (its
# source, tasks/serializers.py). An export numbers annotations through the file, in the order of
# `slots_of`, and stores the id of a task's first annotation in its data.

MODEL_NAME = "model"
"""Of predictions that name no model."""


@dataclass(frozen=True, slots=True)
class AnnotationOwner:
    """What an exported annotation is: a vote, a skipped task, or the gold."""

    who: str | None
    """None for the gold."""
    role: Role = Role.ANNOTATOR
    vote: int | None = None
    """The index of the vote; None for gold and skipped tasks."""


def slots_of(
    votes: Sequence[Vote], flags: Sequence[FlagMark], *, gold: bool
) -> list[AnnotationOwner]:
    """The annotations of a number, in the order in which the export writes them."""
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
    """The exported annotation that this one is; None for one that was made in the tool.

    first: the id of the task's first annotation when it was exported.
    """
    if first is None:
        return None
    came_back = one.import_id is not msgspec.UNSET
    number = one.import_id if came_back else one.id
    if not isinstance(number, int) or not 0 <= number - first < len(slots):
        return None
    slot = slots[number - first]
    # Without import_id the number may be another annotation's: the name has to fit, too.
    return slot if came_back or name_of(one.completed_by) == slot.who else None


def name_of(given: int | str | User | None) -> str | None:
    """The annotator's name: the email, else first and last name, else "user" and the id.

    Raises MarkError for an invalid name.
    """
    if given is None or isinstance(given, int):
        return None if given is None else f"user{given}"
    if isinstance(given, User):
        full = " ".join(filter(None, (given.first_name, given.last_name)))
        name = given.email or full or ("" if given.id is None else f"user{given.id}")
    else:
        name = given
    return _checked_name(name, "completed_by")


def _checked_name(name: str, key: str) -> str:
    if not is_a_name(name):
        raise MarkError(f'key "{key}": found {shown(name)}, wanted {A_NAME}')
    return name


def seconds_of(one: Annotation) -> float | None:
    """The seconds that it took. Raises MarkError for an impossible duration."""
    seconds = one.lead_time
    if seconds is not None and not 0 <= seconds < INTEGER_LIMIT:
        raise MarkError(f'key "lead_time": found {shown(seconds)}, wanted seconds, 0 or more')
    return seconds


def utc(text: str | None) -> str | None:
    """A time of an export ("2021-03-09T22:16:08.728378Z") in the form of `gold` files.

    Raises MarkError for anything else.
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


COUNTED = (
    ("raw", "text", "without a number marked: its numbers were found by rule"),
    ("silent", "annotation", "without a number marked, of texts in which others mark some"),
    ("words", "annotation", "with a noun or a comment, but no number: that was left out"),
    ("drafts", "draft", "left out: nobody submitted them"),
    (
        "rejected", "annotation", "that a reviewer rejected left out (--count-rejected takes "
        "them in)",
    ),
    ("skips without a number", "task", "skipped in which no number is marked: no flag set"),
    ("passed", "number", "marked in a cancelled annotation: no answer, and not kept"),
    ("unfit skips", "task", "skipped whose marks contradict each other: left out"),
    ("skips of nobody", "task", "skipped without a name: no flag set"),
    ("predictions by number", "prediction", "of which the file has the number only: left out"),
    ("votes twice", "answer", "given twice by one person: the later one counts"),
    ("truths that differ", "number", "with ground truths that differ: none of them is gold"),
    ("withdrawn", "answer", "that the task was exported with and no longer has: left out"),
    ("unsaid", "number", "of which nothing but a noun or comment is said: left out"),
    ("cut", "token", "cut in two, since a region begins or ends inside it"),
    ("other white space", "region", "whose text the file has with other white space"),
    (
        "unsure", "region", "without its text, where some programs count a character as two: "
                            "read by code points; exports before October 2021 need --offsets "
                            "utf16",
    ),
    ("again", "task", "that occurred in the file before"),
)  # fmt: skip
"""What is counted, and the warning of each count, in the order in which they are given."""


@dataclass(slots=True)
class LabelStudioCounts:
    """What a file holds that is read with a warning."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the keys of COUNTED."""
    left: Counter[str] = field(default_factory=Counter)
    """Results that are not read, by type."""

    def sentences(self) -> Iterator[str]:
        """One warning for each count that is not 0."""
        yield from tallied((self.counts[key], thing, what) for key, thing, what in COUNTED)
        left = "left out that have no meaning here: "
        types = sorted(self.left.items())
        yield from tallied((count, "result", left + visible(type_)) for type_, count in types)


# Texts and the units of their offsets: a text, paragraphs of a dialog, or a page of HTML.
#
# A Text tag counts code points since October 2021, and UTF-16 code units before. Paragraphs
# count UTF-16 code units within each paragraph, as the browser's ranges do. HyperText has
# `globalOffsets`, characters of the rendered text. Sources: https://labelstud.io/tags/text,
# /tags/paragraphs, /tags/hypertext, and the editor's source (HtxParagraphs, RichTextRegion).

TEXT, DIALOG = "text", "dialogue"
OWN_KEYS = ("nfh", "nfh_first_id")
"""Keys of a task's data under which an export stores what the tool cannot express."""

MARKUP = re.compile(r"<[a-zA-Z!/]|&[a-zA-Z#]")
BLANK = re.compile(r"\\n|\s+")
"""White space, and what the editor writes for a line break in a region's text."""

MEDIA = frozenset("audio image img ocr pdf sound video".split())
ADDRESS = re.compile(
    r"(?i)\w+://\S+|/data/[^\n]+|[^\n]+\.(?:avi|bmp|flac|gif|jpe?g|m4a|mov|mp[34]|ogg|pdf|png"
    r"|tiff?|wav|webm|webp)"
)
"""Where a picture or a recording is, which is no text; so are the values of keys of MEDIA."""

WORDS_OF = ("text", "utterance")
SPEAKER_OF = ("author", "speaker", "name")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of a dialog: code points [start, end) of the whole text."""

    start: int
    end: int
    speaker: str | None
    begin: int | None = None
    """When it is said, as `until`: milliseconds from the start of the recording."""
    until: int | None = None


@dataclass(frozen=True)
class TaskText:
    """The text of a task, in which its regions are."""

    key: str
    """The key of the task's data that holds it."""
    text: str
    how: ReadOptions
    paragraphs: tuple[Paragraph, ...] = ()
    """Empty unless the text is a dialog."""
    page: bool = False
    """The text was rendered from HTML."""
    other_space: list[str] = field(default_factory=list)
    """Texts of regions that the file states with other white space."""
    doubts: list[Span] = field(default_factory=list)
    """Regions for which the unit of the offsets cannot be verified."""

    @cached_property
    def _units(self) -> Units:
        return Units(self.text)

    def span(self, value: Value) -> Span:
        """The code points of a region.

        Raises MarkError unless the text has what the region states there; other white space is
        accepted, since browsers display white space differently, and counted in `other_space`.
        """
        start, end = self._offsets(value)
        if self.page and not value.text:
            raise MarkError(
                f"the region {start} to {end} of a HyperText lacks its text, so its place "
                "cannot be checked; wanted its text, as saveTextResult writes it"
            )
        if not 0 <= start < end <= len(self.text):
            raise MarkError(
                f"the region {start} to {end} is outside a text of {len(self.text)} characters"
                + (f"; expected {shown(value.text)} there" if value.text else "")
            )
        there = self.text[start:end]
        if isinstance(value.text, str) and value.text != there:
            if BLANK.sub("", value.text) != BLANK.sub("", there):
                raise MarkError(
                    f"at {start} to {end}: expected {shown(value.text)}, found "
                    f"{shown(there)}; if the file counts differently, add --offsets"
                )
            self.other_space.append(there)
        if self.how.offsets is None and value.text is None and not self.paragraphs:
            wide = self._units.wide
            if wide and wide[0] < end:
                self.doubts.append((start, end))
        return start, end

    def _offsets(self, value: Value) -> Span:
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

    def tokenized(self, marks: Sequence[Span]) -> TokenizedText:
        """The text with tokens on whose bounds all spans lie. Raises MarkError."""
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
        return TokenizedText(cut.alignment, self.how.tokenizer(), cut.cut)


def _points(units: Units, place: int) -> int:
    try:
        return units.to_points(place)
    except SplitPairError as error:
        raise MarkError(f"{error}; if the file counts differently, add --offsets") from error


# --- the key of the data that holds the text --------------------------------------------------


def text_of(
    data: Mapping[str, msgspec.Raw], how: ReadOptions, *, html: Callable[[], bool]
) -> TaskText:
    """The text of a task: under the key that the mapping names, or under "text" or "dialogue",
    or the only text of the data. html: whether the regions are a HyperText's. Raises MarkError.
    """
    named = {ours: theirs for theirs, ours in how.labels.layer.items() if theirs in data}
    for ours in (TEXT, DIALOG):
        if ours in named:
            found = _text_under(named[ours], data[named[ours]], how, html=html)
            if found is None:
                raise MarkError(f'key "data.{named[ours]}": wanted a text, or a dialog\'s list')
            return found
    every = {key: raw for key, raw in data.items() if key not in OWN_KEYS}
    for key in (TEXT, DIALOG):
        if key in every and (found := _text_under(key, every[key], how, html=html)):
            return found
    fit = [one for key in every if (one := _text_under(key, every[key], how, html=html))]
    if not fit and any(isinstance(msgspec.json.decode(raw), str) for raw in every.values()):
        raise MarkError(
            'key "data": found the address of a picture or a recording, wanted a text; tasks '
            "without a text are not read"
        )
    if len(fit) != 1:
        names = ", ".join(one.key for one in fit) or "none"
        raise MarkError(
            f'key "data": wanted one text, found {names}; name it in a file for --map, as in '
            '[layer] and below it body = "text"'
        )
    return fit[0]


def _text_under(
    key: str, raw: msgspec.Raw, how: ReadOptions, *, html: Callable[[], bool]
) -> TaskText | None:
    value = msgspec.json.decode(raw)
    if isinstance(value, str):
        if key in MEDIA or ADDRESS.fullmatch(value.strip()):
            return None
        page = MARKUP.search(value) is not None and html()
        text = rendered(value) if page else value
        return TaskText(key, text, how, page=page) if text.strip() else None
    return paragraphs_of(key, value, how)


def paragraphs_of(key: str, value: object, how: ReadOptions) -> TaskText | None:
    """The text of a list of paragraphs, one a line; None for any other value."""
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
    return TaskText(key, text, how, tuple(paragraphs)) if text.strip() else None


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
"""The tags of the labelling configuration in docs/formats-projects.md, for a text and for
the paragraphs of a dialog.
"""

_parts = msgspec.json.Decoder(Parts)
_string = msgspec.json.Decoder(str)
_tags = msgspec.json.Decoder(Tags)


@dataclass(frozen=True)
class TaskLayout:
    """How a task is written."""

    text: str
    data: Mapping[str, Any]
    """The task's data: the text, and what else it was imported with."""
    paragraphs: Sequence[Paragraph] = ()
    """Empty unless the text is a dialog."""
    tags: Tags = OWN_TAGS

    def region(self, start: int, end: int, label: str | None = None) -> dict[str, Any]:
        """The value of a result: the region of code points [start, end), and its label."""
        value: dict[str, Any]
        if not self.paragraphs:
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
        return [Units(self.text[one.start : one.end]) for one in self.paragraphs]

    def _in_paragraph(self, offset: int, *, last: bool) -> tuple[int, int]:
        """The paragraph of an offset, and the offset in it in UTF-16 units. last: it is the end
        of a region, which lies at the end of a paragraph and not at the start of the next.
        """
        fit = [i for i, one in enumerate(self.paragraphs) if one.start <= offset <= one.end]
        rank = fit[0] if last else fit[-1]
        return rank, self._units[rank].to_units(offset - self.paragraphs[rank].start)


def tags_of(text: TaskText, first: TaskResult | None) -> Tags | None:
    """The tags of a project, from its first region; None if they are the usual ones."""
    if first is None or text.page:
        return None
    tags = Tags(
        first.from_name or OWN_TAGS.control, first.to_name or OWN_TAGS.object, first.type
    )
    return None if tags == (DIALOGS if text.paragraphs else OWN_TAGS) else tags


def layout_of(text: str, carried: Parts, labels: LabelMap) -> TaskLayout:
    """The layout of a text: under its key, with the data that it was imported with."""
    key = next((theirs for theirs, ours in labels.layer.items() if ours == TEXT), TEXT)
    if not carried:
        return TaskLayout(text, {key: text})
    data = _parts.decode(carried["data"]) if "data" in carried else {}
    tags = _tags.decode(carried["tags"]) if "tags" in carried else None
    if "key" in carried:
        key = _string.decode(carried["key"])
    if key not in data:
        return TaskLayout(text, {key: text, **data}, tags=tags or OWN_TAGS)
    found = paragraphs_of(key, msgspec.json.decode(data[key]), ReadOptions(labels=labels))
    if found is not None and found.text == text:
        return TaskLayout(text, data, found.paragraphs, tags or DIALOGS)
    return TaskLayout(text, {TEXT: text, **{k: raw for k, raw in data.items() if k != TEXT}})


def results_of(
    answer: Answer | None, graph: Graph, layout: TaskLayout, labels: LabelMap
) -> list[dict[str, Any]]:
    """The results that show an answer; without an answer the number alone. graph: the answer's.

    Raises ExportError for a label that the mapping would read back as another one.
    """
    graph = renamed(graph, labels)
    results: list[dict[str, Any]] = [
        {
            "id": f"s{rank}",
            "from_name": layout.tags.control,
            "to_name": layout.tags.object,
            "type": layout.tags.type,
            "value": layout.region(spot.start, spot.end, spot.label),
        }
        for rank, spot in enumerate(graph.spots)
    ]
    results += [
        {
            "type": "relation",
            "from_id": f"s{link.source}",
            "to_id": f"s{link.target}",
            "direction": "right",
            "labels": [link.label],
        }
        for link in graph.links
    ]
    words = ((NOUN, answer.noun), (COMMENT, answer.comment)) if answer else ()
    number = graph.spots[0]
    results += [
        {
            "id": "s0",
            "from_name": next((k for k, ours in labels.layer.items() if ours == what), what),
            "to_name": layout.tags.object,
            "type": "textarea",
            "value": {**layout.region(number.start, number.end), "text": [text]},
        }
        for what, text in words
        if text
    ]
    return results


# The graph of an annotation's results.
#
# A region may have several results with one id: its labels, choices, and text typed for it.

REGIONS = frozenset({"labels", "paragraphlabels", "hypertextlabels"})
NOUN, COMMENT = "noun", "comment"

Key = str | int


Typed = Mapping[tuple[int | None, str], str]
"""The text typed for each spot (None for the whole text), by NOUN or COMMENT."""


@dataclass(slots=True)
class _Region:
    """The results of one region."""

    start: int
    end: int
    names: list[str]
    """Its labels."""
    kinds: list[str] = field(default_factory=list)
    """Kinds that were chosen for it."""
    typed: list[tuple[str, str]] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)


class _GraphBuilder:
    """Makes the graph of results. left: counts results that are not read, by type.

    Raises MarkError for unknown labels and relations, and for contradictory results.
    """

    def __init__(
        self, text: TaskText, left: Counter[str], where: str, *, exported: bool
    ) -> None:
        self.text = text
        self.labels = text.how.labels
        self.left = left
        self.where = where
        self.exported = exported
        self.regions: dict[Key, _Region] = {}
        self.whole = _Region(0, 0, [])

    def of(self, results: Iterable[TaskResult]) -> tuple[Graph, Typed]:
        """The graph, translated, and the text typed in it."""
        relations, rest = [], []
        for rank, result in enumerate(results):
            if result.type in REGIONS:
                self._label(result, rank)
            elif result.type == "relation":
                relations.append(result)
            else:
                rest.append(result)
        for result in rest:
            self._annotate(result)
        spots = self._spots()
        links = [link for result in relations for link in self._links(result, spots)]
        graph = read_graph(
            Graph(tuple(spots), tuple(links)),
            self.text.how,
            self.text.text,
            self.where,
            exported=self.exported,
        )
        return graph, self._typed(graph)

    def _label(self, result: TaskResult, rank: int) -> None:
        value = result.value
        if value is None or not value.names:
            self.left[f"{result.type} without a label"] += 1
            return
        start, end = self.text.span(value)
        key: Key = rank - 1_000_000 if result.id is None else result.id
        known = self.regions.setdefault(key, _Region(start, end, []))
        if (known.start, known.end) != (start, end):
            raise MarkError(
                f"the region {shown(key)} is at {known.start} to {known.end} and at {start} "
                f"to {end}"
            )
        known.names += value.names
        if result.meta is not None and result.meta.words:
            if self._is_number(known):
                known.typed.append((COMMENT, result.meta.words))
            else:
                self.left["note on a region that is not a number"] += 1

    def _is_number(self, region: _Region) -> bool:
        return any(self._ours(name) in ANSWERS for name in region.names)

    def _annotate(self, result: TaskResult) -> None:
        """Add a choice or typed text to its region, or to the whole text."""
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
        return span_label(name, self.labels) or name

    def _spots(self) -> list[Spot]:
        # A kind that was chosen for the whole text is that of its only number.
        numbers = [region for region in self.regions.values() if self._is_number(region)]
        if len(numbers) == 1:
            numbers[0].kinds += self.whole.kinds
        else:
            self.left["choices"] += len(self.whole.kinds)
        spots: list[Spot] = []
        for key, region in self.regions.items():
            for name in self._names(key, region):
                region.spots.append(len(spots))
                spots.append(Spot(region.start, region.end, name))
        return spots

    def _names(self, key: Key, region: _Region) -> list[str]:
        """The labels of a region's spots: at most one label of a number, its kind if given."""
        if len(region.names) == 1 and not region.kinds:
            return region.names
        answers = [one for one in region.names if self._ours(one) in ANSWERS]
        if region.kinds and not answers:
            self.left["choices"] += len(region.kinds)
        kinds = {
            self._ours(one): one
            for one in (*answers, *(region.kinds if answers else ()))
            if self._ours(one) != ANCHOR
        }
        if len(kinds) > 1:
            raise MarkError(f"the region {shown(key)} is both {' and '.join(kinds.values())}")
        number = list(kinds.values()) or answers[:1]
        rest = [one for one in region.names if self._ours(one) not in ANSWERS]
        return [*number, *dict.fromkeys(rest)]

    def _links(self, result: TaskResult, spots: list[Spot]) -> list[Link]:
        source = self._end(result.from_id)
        target = self._end(result.to_id)
        if result.direction == "left":
            source, target = target, source
        # A relation without a label is HEAD if it joins a number to a mention.
        ours = {self._ours(spots[source].label), self._ours(spots[target].label)}
        plain = HEAD if HEAD in ours and ours & ANSWERS.keys() else ""
        return [Link(source, target, name) for name in result.labels or [plain]]

    def _end(self, key: Key | None) -> int:
        region = None if key is None else self.regions.get(key)
        if region is None or not region.spots:
            raise MarkError(f"a relation ends at the region {shown(key)}, which does not exist")
        return region.spots[0]

    def _typed(self, graph: Graph) -> Typed:
        """Without the text typed for spots that are ignored."""
        typed: dict[tuple[int | None, str], str] = {}
        for region in (*self.regions.values(), self.whole):
            spot = region.spots[0] if region.spots else None
            if spot is not None and graph.spots[spot].label == IGNORE:
                continue
            for what, words in region.typed:
                key = (spot, what)
                typed[key] = f"{typed[key]}\n{words}" if key in typed else words
        return typed


# The annotations and predictions of a task, and who made them.
#
# An exported annotation that nobody changed since stands for the stored vote or gold; its
# results need not be read.

NO_NAMES = LabelMap()

_results_decoder = msgspec.json.Decoder(list[TaskResult])
_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class StatedMarks:
    """An annotation that was read, and the claims made by it."""

    graph: Graph
    """Translated."""
    typed: Typed
    numbers: Sequence[MarkedNumber]
    claims: Sequence[Claim]
    """Without the noun and comment typed for a number."""

    @property
    def bare(self) -> bool:
        """A person submitted it without a number."""
        return not self.numbers and any(one.type == PERSON for one in self.claims)

    def words(self, spot: int, what: str) -> str:
        """The noun or comment typed for a number, else for the whole text; else ""."""
        return self.typed.get((spot, what), self.typed.get((None, what), ""))


@dataclass
class TaskAnnotations:
    """The annotations and predictions of one task."""

    task: LabelStudioTask
    text: TaskText
    how: ReadOptions
    tally: LabelStudioCounts
    kept: Restored | None
    """What the export stored in the task."""
    first: int | None
    """The id of the task's first annotation in the export."""
    where: str
    """Of the task, for a message."""
    region: TaskResult | None = None
    """The first region that was read."""
    _known: dict[Answer | None, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kept = self.kept
        self.slots: Sequence[AnnotationOwner] = (
            slots_of(kept.votes, kept.flags, gold=kept.gold is not None) if kept else ()
        )

    @cached_property
    def annotations(self) -> Sequence[Annotation]:
        """Under either name, without those that are rejected and do not count."""
        every = self.task.annotations or self.task.completions or ()
        return [one for one in every if self.how.count_rejected or not one.rejected]

    def skips(self) -> Iterator[tuple[str | None, str | None]]:
        """Who skipped the task, and when. Raises MarkError."""
        for one in self.annotations:
            if one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield slot.who if slot else name_of(one.completed_by), one.time

    def all(self) -> Iterator[StatedMarks | AnnotationOwner]:
        """Each annotation and each prediction; of one that shows the stored vote or gold, what
        it is. A cancelled annotation has no claims, but its numbers count as skipped.

        Raises MarkError.
        """
        for one in self.annotations:
            if not one.was_cancelled:
                slot = slot_of(one, self.first, self.slots)
                yield self._as_stored(one, slot) or self._read(one, _claims(one, slot))
            elif self.kept is None:
                try:
                    cancelled = self._read(one, ())
                    self.tally.counts["passed"] += sum(
                        bool(number.kind or number.mentions) for number in cancelled.numbers
                    )
                    yield cancelled
                except MarkError:  # A cancelled annotation may be unfinished.
                    self.tally.counts["unfit skips"] += 1
        for prediction in self.task.predictions or ():
            if isinstance(prediction, TaskPrediction):
                yield from self._predicted(prediction)
            else:
                self.tally.counts["predictions by number"] += 1

    def _as_stored(
        self, one: Annotation, slot: AnnotationOwner | None
    ) -> AnnotationOwner | None:
        """The stored vote or gold that an annotation shows, if nobody changed it."""
        if self.kept is None or slot is None or one.ground_truth is not (slot.who is None):
            return None
        kept = self.kept.gold if slot.vote is None else self.kept.votes[slot.vote]
        return slot if kept and self._shows(one.result, kept.answer) else None

    def _predicted(self, one: TaskPrediction) -> Iterator[StatedMarks | AnnotationOwner]:
        kept = self.kept
        if kept is not None:
            if one.model_version == ANCHOR_ONLY and self._shows(one.result, None):
                return
            for place, vote in enumerate(kept.votes):
                if vote.annotator == one.model_version and vote.type != PERSON:
                    if self._shows(one.result, vote.answer):
                        yield AnnotationOwner(vote.annotator, vote.role, place)
                        return
                    break
        name = _checked_name(one.model_version or MODEL_NAME, "model_version")
        at = utc(one.created_at)
        yield self._read(one, (Claim(name, at=at, type=MODEL, noun="", comment=""),))

    def _shows(self, result: msgspec.Raw, answer: Answer | None) -> bool:
        """True if results equal those that an export writes of an answer, however formatted."""
        kept = self.kept
        if kept is None or self.how.labels != NO_NAMES:
            return False
        known = self._known.get(answer)
        if known is None:
            tags = DIALOGS if self.text.paragraphs else OWN_TAGS
            layout = TaskLayout(self.text.text, {}, self.text.paragraphs, tags)
            graph = graph_of(answer, kept.anchor, kept.passage.span)
            known = _encoder.encode(results_of(answer, graph, layout, NO_NAMES))
            self._known[answer] = known
        return known == bytes(result) or _results_decoder.decode(known) == _decoded(result)

    def _read(self, one: Annotation | TaskPrediction, claims: Sequence[Claim]) -> StatedMarks:
        results = _decoded(one.result)
        if self.region is None:
            self.region = next((one for one in results if one.type in REGIONS), None)
        builder = _GraphBuilder(
            self.text, self.tally.left, self.where, exported=self.kept is not None
        )
        graph, typed = builder.of(results)
        check_kinds(graph)
        return StatedMarks(graph, typed, numbers(graph), claims)


def _decoded(result: msgspec.Raw) -> list[TaskResult]:
    try:
        return _results_decoder.decode(result)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(f'key "result": {reason_of(error)}') from error


def _claims(one: Annotation, slot: AnnotationOwner | None) -> Sequence[Claim]:
    """The claims of an annotation: a vote, the gold, or both for a ground truth."""
    at, seconds = one.time, seconds_of(one)
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


def rows_of(
    task: LabelStudioTask, line: int, how: ReadOptions, tally: LabelStudioCounts
) -> Iterator[Row]:
    """The rows of a task, one for each number in it. line: the rank of the task in the file,
    since an export is one line.

    Raises MarkError.
    """
    data = task.data or {}
    text = text_of(data, how, html=lambda: _is_html(task))
    kept, first = _stored_in(data, text.text)
    where = f"item {line}"
    annotations = TaskAnnotations(task, text, how, tally, kept, first, where)
    found = list(annotations.all())
    stated = [one for one in found if isinstance(one, StatedMarks)]
    skips = list(annotations.skips())
    tally.counts["drafts"] += len(task.drafts or ())
    every = task.annotations or task.completions or ()
    tally.counts["rejected"] += len(every) - len(annotations.annotations)
    tally.counts["other white space"] += len(text.other_space)
    tally.counts["unsure"] += len(text.doubts)
    bare = [one for one in stated if one.bare]
    tally.counts["words"] += sum(bool(one.typed) for one in bare)
    if kept is None and not any(one.numbers for one in stated):
        tally.counts["skips without a number"] += len(skips)
        tally.counts["raw"] += 1
        yield replace(_dialog(text, line), labels=_carried(task, text, None))
        return
    tally.counts["silent"] += len(bare) if kept is None else 0
    table = _NumberTable.of(text, kept, stated, how, tally)
    for one in found:
        if isinstance(one, StatedMarks):
            table.add(one)
        else:
            table.add_stored(one)
    for who, at in skips:
        table.skip(who, at)
    if kept is not None:
        table.add_rest(kept)
    yield from table.rows(line, _carried(task, text, tags_of(text, annotations.region)))


def _stored_in(data: dict[str, msgspec.Raw], text: str) -> tuple[Restored | None, int | None]:
    """What the export stored in a task, and the id of its first annotation."""
    raw, first = data.get(KEY), data.get(OWN_KEYS[1])
    if raw is None:
        return None, None
    try:
        item = _items.decode(raw)
        number = None if first is None else _number.decode(first)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(
            f'key "data.{KEY}": {reason_of(error)}; nfh-tui itself writes this key: give a '
            "column of yours another name"
        ) from error
    return restored(item, text), number


def _carried(task: LabelStudioTask, text: TaskText, tags: Tags | None) -> str | None:
    """JSON of what else the task holds: other data, the key of its text, its tags, its meta."""
    data = {
        key: raw
        for key, raw in (task.data or {}).items()
        if key not in OWN_KEYS and (key != text.key or text.paragraphs or text.page)
    }
    values = {"data": data or None, "key": text.key if text.key != TEXT else None, "tags": tags}
    parts = {k: msgspec.Raw(_encoder.encode(v)) for k, v in values.items() if v is not None}
    if bytes(task.meta) not in DEFAULTS:
        parts["meta"] = task.meta
    return carried_of(NAME, parts, ()) if parts else None


@dataclass(slots=True)
class _NumberResult:
    """What all annotations of a task come to for one number."""

    golds: list[tuple[Gold, bool]] = field(default_factory=list)
    """Each with whether it is the stored one."""
    votes: dict[tuple[str, Role], Vote] = field(default_factory=dict)
    flags: dict[tuple[FlagName, str], FlagMark] = field(default_factory=dict)

    def flag(self, flags: Iterable[FlagMark]) -> None:
        for flag in flags:
            self.flags.setdefault((flag.name, flag.annotator), flag)


@dataclass(slots=True)
class _NumberTable:
    """The numbers of a task, with one set of tokens."""

    alignment: TokenAlignment
    tokenizer: str | None
    kept: Restored | None
    how: ReadOptions
    tally: LabelStudioCounts
    found: dict[Anchor, _NumberResult] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        text: TaskText,
        kept: Restored | None,
        stated: Sequence[StatedMarks],
        how: ReadOptions,
        tally: LabelStudioCounts,
    ) -> "_NumberTable":
        """The tokens are the stored ones, split where a span begins or ends inside one."""
        spots = (s for one in stated for s in one.graph.spots if s.label != IGNORE)
        marks = sorted({(spot.start, spot.end) for spot in spots})
        if kept is None:
            base = text.tokenized(marks)
        else:
            base = retokenized(kept.passage, marks, how)
            kept = on_alignment(kept, base.alignment)
        tally.counts["cut"] += base.cut
        found = {kept.anchor: _NumberResult()} if kept else {}
        return cls(base.alignment, base.tokenizer, kept, how, tally, found)

    def _stored_flags(self, anchor: Anchor, who: str) -> Iterator[FlagMark]:
        if self.kept is not None and self.kept.anchor == anchor:
            yield from (flag for flag in self.kept.flags if flag.annotator == who)

    def add_stored(self, one: AnnotationOwner) -> None:
        """Add the stored vote or gold."""
        assert self.kept is not None  # noqa: S101 - nothing is as stored where nothing is stored
        found = self.found[self.kept.anchor]
        if one.vote is None:
            assert self.kept.gold is not None  # noqa: S101
            found.golds.append((self.kept.gold, True))
            return
        vote = self.kept.votes[one.vote]
        self._vote(found, vote)
        found.flag(self._stored_flags(self.kept.anchor, vote.annotator))

    def add(self, one: StatedMarks) -> None:
        """Add the outcome of an annotation's claims on each of its numbers."""
        for marked in one.numbers:
            anchor = Anchor(*self.alignment.tokens(*marked.anchor))
            found = self.found.setdefault(anchor, _NumberResult())
            kept = self.kept if self.kept and self.kept.anchor == anchor else None
            noun = one.words(marked.spot, NOUN)
            comment = one.words(marked.spot, COMMENT)
            for claim in one.claims:
                if noun or comment:
                    claim = replace(claim, noun=noun, comment=comment)  # noqa: PLW2901
                got = outcome(claim, marked, marked.graph, self.alignment, self.how, kept)
                self.tally.counts["unsaid"] += bool(got.unsaid)
                if got.gold is not None:
                    found.golds.append((got.gold, kept is not None and got.gold is kept.gold))
                for vote in got.votes:
                    self._vote(found, vote)
                found.flag(got.flags)

    def _vote(self, found: _NumberResult, vote: Vote) -> None:
        """Add a vote; of two votes of one person in one role the later one counts.

        Where the file gives only one of their times, or none, its order decides.
        """
        key = (vote.annotator, vote.role)
        before = found.votes.get(key)
        if before is not None:
            self.tally.counts["votes twice"] += before != vote
            if before.timed and vote.timed:
                vote = max(before, vote, key=lambda one: one.answered_at)
        found.votes[key] = vote

    def skip(self, who: str | None, at: str | None) -> None:
        """Set the flag SKIP of whoever skipped the task at each number in it."""
        who = who or self.how.annotator
        if who is None:
            self.tally.counts["skips of nobody"] += 1
            return
        for anchor, found in self.found.items():
            found.flag(self._stored_flags(anchor, who))
            found.flag([FlagMark(FlagName.SKIP, who, at or now())])

    def rows(self, line: int, carried: str | None) -> Iterator[GoldRow]:
        """One row for each number."""
        for anchor, found in self.found.items():
            yield GoldRow(
                line,
                self.alignment.passage,
                anchor,
                self.kept.split if self.kept else None,
                self._gold(found),
                tuple(found.votes.values()),
                tuple(found.flags.values()),
                carried,
                self.tokenizer,
                foreign=self.kept is None,
            )

    def add_rest(self, kept: Restored) -> None:
        """Add the stored flags and model votes of whom the file has no annotation; count the
        stored golds and votes of people that are gone.
        """
        kept = self.kept or kept
        found = self.found[kept.anchor]
        seen = {name for name, _ in found.votes} | {name for _, name in found.flags}
        found.flag(flag for flag in kept.flags if flag.annotator not in seen)
        gone = int(kept.gold is not None and not found.golds)
        for vote in kept.votes:
            key = (vote.annotator, vote.role)
            if vote.type == PERSON:
                gone += key not in found.votes
            else:
                found.votes.setdefault(key, vote)
        self.tally.counts["withdrawn"] += gone

    def _gold(self, found: _NumberResult) -> Gold | None:
        """The ground truth; None if there are several that differ."""
        if not found.golds:
            return None
        if len({gold.answer for gold, _ in found.golds}) > 1:
            self.tally.counts["truths that differ"] += 1
            return None
        return next((gold for gold, is_stored in found.golds if is_stored), found.golds[0][0])


def _dialog(text: TaskText, line: int) -> DialogBlock:
    """A text in which nobody marked a number."""
    if not text.paragraphs:
        return block_of(text.text, line)
    turns = tuple(
        DialogTurn(line, rank, one.speaker, one.start, one.end, one.begin, one.until)
        for rank, one in enumerate(text.paragraphs)
        if text.text[one.start : one.end].strip()
    )
    return DialogBlock(text.text, turns)


def _is_html(task: LabelStudioTask) -> bool:
    """True if its regions are a HyperText's."""
    annotations = (*(task.annotations or ()), *(task.completions or ()))
    signs = (b'"hypertextlabels"', b'"globalOffsets"')
    return any(sign in bytes(one.result) for one in annotations for sign in signs)
