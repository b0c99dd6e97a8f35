"""Format `doccano`: JSON lines of doccano, one file, or a folder or zip file with one for
each annotator.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import PurePosixPath
from tempfile import SpooledTemporaryFile
from typing import Any
from urllib.parse import unquote

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.annotation_tasks import (
    AnnotationTask,
    Claim,
    TaskAnnotation,
    TaskCounts,
    Texts,
    checked_name,
    class_named,
    classed,
    rows_of,
)
from nfh_db.formats.base import LOOKED_AT, First, Format, How, InputKind, holds
from nfh_db.formats.files import DAMAGED, Content, Folder, FolderMember, Source
from nfh_db.formats.json_stream import (
    Parts,
    carried_in,
    carried_of,
    first_value,
    in_braces,
    kept_in,
    parts_of,
    refused,
    spelled,
    value_of,
)
from nfh_db.formats.json_stream import items as json_items
from nfh_db.formats.rows import Offsets, ReadOptions, Row, Writing
from nfh_db.formats.spans import (
    Graph,
    Link,
    MarkError,
    SplitPairError,
    Spot,
    Units,
    graph_of,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import Restored, StoredItem, restored, stored
from nfh_db.messages import counted, shown
from nfh_db.records import ExportRecord, Vote
from nfh_models.domain import Answer, Passage

# Lines of doccano, and what is read of them.
#
# Source: doccano's documentation, "Import your dataset" and "Export annotations"
# (https://doccano.github.io/doccano), and what its exporter writes: spans as triples under
# "label", or as objects under "entities" with "relations" where the project has them; comments
# under "Comments"; metadata of a text as keys of their own. Offsets are UTF-16 code units, as
# its editor counts, ends exclusive, or grapheme clusters where the project says so: no line
# tells which.

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


class DoccanoRelation(msgspec.Struct):
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
relation_rows = msgspec.json.Decoder(list[DoccanoRelation])
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


ALL = "all"
"""The file of a project whose annotators share their answers."""

UNFIT = re.compile(r'[/\\:*?"<>|%]|^\.|\.$')
LONGEST = 120
"""Bytes of a file's name that its system is sure to take, with room for what ends it."""


def file_name(annotator: str) -> str:
    """The name of the file of an annotator, without its end.

    What no file system takes is written as "%2F"; a name that is too long is cut, with a hash
    in place of the rest.
    """
    name = UNFIT.sub(lambda found: f"%{ord(found[0]):02X}", annotator)
    if name.casefold() == ALL:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    raw = name.encode("utf-8")
    if len(raw) <= LONGEST:
        return name
    digest = hashlib.sha256(annotator.encode("utf-8")).hexdigest()[:8]
    return f"{raw[:LONGEST].decode('utf-8', 'ignore')}~{digest}"


def who_of(stem: str) -> str:
    """The annotator whose file is called so."""
    return unquote(stem)


# Files of doccano as rows: one file, or a folder or zip of a file for each annotator.
#
# A file of a folder is called after the annotator; `all.jsonl`, of a project that all share,
# has nobody's name, and counts as gold. Lines of a folder count on through its files,
# `all.jsonl` first and the others by name.

LINES = ".jsonl"


def read(source: Source | Folder, how: ReadOptions) -> Iterator[Row]:
    """The rows of a file or folder. Raises FormatError at the first line that does not hold."""
    tally = TaskCounts()
    if isinstance(source, Folder):
        yield from _members(source, how, tally)
    else:
        lines = _Lines(how, tally)
        for item in json_items(source):
            try:
                yield from lines.rows(item.number, *item.read())
            except MarkError as error:
                raise refused(source, item, error) from error
    source.warnings += tally.sentences()


def _members(folder: Folder, how: ReadOptions, tally: TaskCounts) -> Iterator[Row]:
    before = 0
    # The file of all first: it has every text, in the order in which they were exported.
    names = sorted(folder.named(LINES), key=lambda name: (_stem(name) != ALL, name))
    if not names:
        raise folder.error(None, f"holds no {LINES} file; wanted one for each annotator")
    texts = _noted(folder, names, how)
    for name in names:
        lines = _Lines(how, tally, _stem(name), texts)
        line = 0
        for line, text in FolderMember(folder, name).lines():
            if not text.strip():
                continue
            try:
                yield from lines.rows(before + line, parts_of(text), text)
            except MarkError as error:
                raise _refused(folder, name, line, error) from error
        before += line
    others = len(folder.names) - len(names)
    if others:
        tally.more.append(f"{counted(others, 'file')} left out that is no {LINES}")


def _noted(folder: Folder, names: Sequence[str], how: ReadOptions) -> Texts:
    """What all files mark of each text. An annotator may mark a part of a word: the tokens are
    cut there, and those that the others' answers are of with them.
    """
    texts = Texts()
    for name in names:
        lines = _Lines(how, TaskCounts(), _stem(name))
        for _, line in FolderMember(folder, name).lines():
            try:
                if line.strip():
                    lines.note(parts_of(line), texts)
            except MarkError:
                continue  # Whoever reads the line says so.
    return texts


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _refused(folder: Folder, name: str, line: int, error: MarkError) -> FormatError:
    return folder.member_error(name, line, _sentence(error))


def _sentence(error: MarkError) -> str:
    message = str(error)
    return f"the line {message}" if message.startswith("is ") else message


@dataclass(slots=True)
class _Lines:
    """The lines of one file. stem: its name, where that tells whose answers they are. texts:
    what all files mark of each text.
    """

    how: ReadOptions
    tally: TaskCounts
    stem: str | None = None
    texts: Texts = field(default_factory=Texts)
    seen: dict[int | str, bytes] = field(default_factory=dict)

    def rows(self, line: int, parts: Parts, text: str | None) -> Iterator[Row]:
        """The rows of a line. Raises MarkError."""
        if self._again(parts, text):
            return
        yield from rows_of(self._task(line, parts), self.how, self.tally)

    def _again(self, parts: Parts, text: str | None) -> bool:
        """True for a line that was there before. Raises MarkError for another of its id."""
        id_ = value_of(parts, "id", ids)
        if id_ is None:
            return False
        content = _hash(spelled(parts).decode("utf-8") if text is None else text)
        before = self.seen.setdefault(id_, content)
        if before is not content and before != content:
            raise MarkError(
                f'key "id": found {shown(id_)}, the id of another line before it; wanted each '
                "id once"
            )
        return before is not content

    def _task(self, line: int, parts: Parts) -> AnnotationTask:
        text = text_of(parts)
        item = kept_in(parts, items)
        kept: Restored | None = None if item is None else restored(item, text)
        graph, classes = drawn_of(parts, text, self._offsets(kept is not None))
        graph = translated(graph, self.how.labels)
        if classes:
            if not graph.spots and kept is None:
                self.tally.unlabelled += 1
            graph = classed(graph, [class_named(one, self.how.labels) for one in classes])
        claim = _claim(self._who(parts), comment_of(parts))
        carried = carried_of(NAME, parts, known_of(parts))
        # A file of all has everybody's answers beside: nobody else has a line in it.
        return AnnotationTask(
            line,
            text,
            (TaskAnnotation(claim, graph),),
            None,
            kept,
            carried,
            beside=True,
            also=self.texts.bounds(text),
            numbers=self.texts.numbers(text),
        )

    def note(self, parts: Parts, texts: Texts) -> None:
        """Take along what a line marks. Raises MarkError."""
        text = text_of(parts)
        item = kept_in(parts, items)
        drawn, _ = drawn_of(parts, text, self._offsets(item is not None))
        graph = translated(drawn, self.how.labels)
        texts.note(text, graph.spots, whole=() if item is None else item.offsets)

    def _offsets(self, exported: bool) -> Offsets | None:
        """The unit of the offsets: what was exported counts as doccano does by itself."""
        return "utf16" if exported and self.how.offsets is None else self.how.offsets

    def _who(self, parts: Parts) -> str | None:
        named = value_of(parts, WHO, texts)
        if self.stem is None:
            return None if named is None else checked_name(named)
        if self.stem == ALL:
            return None
        if named is not None and file_name(named) == self.stem:
            return checked_name(named)
        return checked_name(who_of(self.stem))


@lru_cache(maxsize=64)
def _claim(who: str | None, comment: str | None) -> Claim:
    return Claim(who, comment=comment)


# Lines of doccano made of records: in one file, or in a file for each annotator.
#
# A number is a line of its own, so that no spans of two numbers overlap: doccano leaves out
# what overlaps unless a project allows it, and does not say so.

IN_MEMORY = 1 << 20
"""Bytes of a member that are held before they go to a file."""

_encode = msgspec.json.Encoder().encode


class _Page:
    """A passage as lines have it."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.starts = [token.start for token in passage.tokens]
        self.ends = [token.end for token in passage.tokens]
        self.text = b'"text":' + _encode(passage.text)
        self.units = Units(passage.text)


class DoccanoWriter:
    """Makes lines of records, as one file or a folder; none is left out."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._how = how
        self._id = 0
        self._page: _Page | None = None

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """One line for each number, with the gold drawn in it and all else beside."""
        for record in records:
            yield self._line(record, _gold_of(record), stored(record))

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """A file for each annotator, with the own answers, and one of gold."""
        with ExitStack() as stack:
            files: dict[str, SpooledTemporaryFile[bytes]] = {}
            for record in records:
                for stem, line in self._lines(record):
                    if stem not in files:
                        files[stem] = stack.enter_context(SpooledTemporaryFile(IN_MEMORY))
                    files[stem].write(line)
            for stem in sorted(files):
                yield f"{stem}.jsonl", files[stem]

    def _lines(self, record: ExportRecord) -> Iterator[tuple[str, bytes]]:
        """The lines of a number, each with the name of its file."""
        yield ALL, self._line(record, _gold_of(record), stored(record, votes=(), flags=()))
        flagged = [flag.annotator for flag in record.flags]
        for who in dict.fromkeys([vote.annotator for vote in record.votes] + flagged):
            votes: list[Vote | None] = [v for v in record.votes if v.annotator == who]
            flags = [flag for flag in record.flags if flag.annotator == who]
            for vote in votes or [None]:
                own = () if vote is None else (vote,)
                item = stored(record, gold=False, votes=own, flags=flags)
                answer = None if vote is None else vote.answer
                yield file_name(who), self._line(record, answer, item, who)

    def _line(
        self,
        record: ExportRecord,
        answer: Answer | None,
        item: StoredItem,
        who: str | None = None,
    ) -> bytes:
        page = self._page
        if page is None or page.passage is not record.passage:
            page = self._page = _Page(record.passage)
        line = in_braces(
            page.text,
            b",".join(self._drawn(record, answer, page)),
            b"" if who is None else b'"%b":%b' % (WHO.encode(), _encode(who)),
            spelled(carried_in(record.carried, NAME)),
            b'"nfh":' + _encode(item),
        )
        return line + b"\n"

    def _drawn(
        self, record: ExportRecord, answer: Answer | None, page: _Page
    ) -> Sequence[bytes]:
        graph = graph_of(answer, record.anchor, page.starts, page.ends)
        graph = renamed(graph, self._how.labels)
        first = self._id
        to_units = page.units.to_units
        entities = [
            b'{"id":%d,"label":%b,"start_offset":%d,"end_offset":%d}'
            % (first + place, _encode(spot.label), to_units(spot.start), to_units(spot.end))
            for place, spot in enumerate(graph.spots)
        ]
        relations = [
            b'{"id":%d,"from_id":%d,"to_id":%d,"type":%b}'
            % (first + place, first + link.source, first + link.target, _encode(link.label))
            for place, link in enumerate(graph.links)
        ]
        self._id += max(len(entities), len(relations))
        return (
            b'"entities":[%b]' % b",".join(entities),
            b'"relations":[%b]' % b",".join(relations),
        )


def _gold_of(record: ExportRecord) -> Answer | None:
    return record.gold.answer if record.gold else None


MEMBERS = 50
ROWS = 200
"""How many files, and lines of each, are looked into."""

TRIPLE = re.compile(r'"labels?"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"')


def sniff(first: First) -> str | None:
    """Why a file or folder looks like lines of doccano."""
    if first.folder is None:
        value = first_value(first)
        reason = _like(value)
        if reason is None and _has_text(value) and TRIPLE.search(first.start):
            reason = 'spans as [start, end, label] under "label"'
        return reason and f"its items are JSON objects with a text and {reason}"
    for name in islice(first.folder.named(LINES), MEMBERS):
        for value in _values(FolderMember(first.folder, name)):
            reason = _like(value)
            if reason is not None:
                return f"it holds {LINES} files of JSON objects with a text and {reason}"
    return None


def _values(member: FolderMember) -> Iterator[dict[str, object]]:
    """Objects of the lines with which a member begins; the file of somebody who did nothing
    has none, and the first texts of others may have no label.
    """
    try:
        start = member.start(LOOKED_AT)
    except (FormatError, *DAMAGED):
        return
    for line in islice(start.split("\n"), ROWS):
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _has_text(value: dict[str, object] | None) -> bool:
    if value is None or "format" in value:
        return False
    return isinstance(value.get("text", value.get("data")), str)


def _like(value: dict[str, object] | None) -> str | None:
    if value is None or not _has_text(value):
        return None
    if _objects(value.get("entities"), "start_offset"):
        return '"entities" with offsets'
    for key in MARKS:
        label = value.get(key)
        if isinstance(label, list) and label and all(isinstance(one, list) for one in label):
            return f'spans as [start, end, label] under "{key}"'
        if isinstance(label, list) and isinstance(value.get("Comments"), list):
            return f'"{key}" and "Comments"'
    return None


def _objects(values: object, key: str) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, dict) and key in value for value in values
    )


DOCCANO = Format(
    name="doccano",
    extensions=(".jsonl", ".json"),
    description=(
        "JSON lines of doccano: a text with entities and relations; a file of gold, or a "
        "folder or zip with one for each annotator"
    ),
    example=(
        '{"text":"No, three.","entities":[{"id":0,"label":"AGE","start_offset":4,'
        '"end_offset":9}],"relations":[]}'
    ),
    read=read,
    sniff=sniff,
    chunks=DoccanoWriter,
    members=DoccanoWriter,
    carries_split=True,
    takes=(InputKind.TEXT, InputKind.FOLDER),
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        GOLD=How.OWN,
    ),
    settings=frozenset({"map", "offsets", "window"}),
)
