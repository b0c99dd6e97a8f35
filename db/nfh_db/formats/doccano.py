"""Format `doccano`: JSON lines of doccano, in one file, or in a folder or zip file with a file
for each annotator.

Source: doccano's documentation, "Import your dataset" and "Export annotations"
(https://doccano.github.io/doccano), and its exporter: spans as triples under "label", or as
objects under "entities" with "relations" in projects with relations; comments under "Comments";
metadata of a text under keys of their own. Offsets are UTF-16 code units, as the editor counts,
or grapheme clusters if the project is set so; ends are exclusive. The files do not tell the
unit.
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
from nfh_db.formats import annotation_tasks, json_stream
from nfh_db.formats.annotation_tasks import AnnotationTask, Claim, TaskAnnotation, Texts
from nfh_db.formats.base import LOOKED_AT, First, Format, How, InputKind, each, holds
from nfh_db.formats.files import DAMAGED, Content, Folder, FolderMember, Source
from nfh_db.formats.json_stream import Parts
from nfh_db.formats.rows import Offsets, ReadOptions, Row, Writing
from nfh_db.formats.spans import (
    Graph,
    Link,
    MarkError,
    SplitPairError,
    Spot,
    Units,
    read_graph,
    record_graph,
    refusing_strays,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import Restored, StoredItem, restored, stored
from nfh_db.messages import counted, shown, visible
from nfh_db.records import ExportRecord, Vote
from nfh_models.domain import Answer, Passage

# The objects of a line.

NAME = "doccano"
WHO = "nfh_annotator"
"""The annotator of an exported line, for a file that is read without its folder."""

MARKS = ("entities", "label", "labels")
"""Keys of spans, or of classes of the text, in versions of doccano. The first that a line has
counts; the others are columns of the project.
"""

CLASSES = ("cats", "categories")
"""Keys of classes besides spans, if their value is a list; else columns of the project."""

KNOWN = frozenset(("id", "entities", "relations", "Comments", "nfh", WHO))
"""Keys that are read and written in every line."""


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
    """The keys of a line that are read; all others are columns of the project."""
    return KNOWN | {_text_key(parts), *filter(None, _keys(parts))}


def text_of(parts: Parts) -> str:
    """The text of a line. Raises MarkError if it has none."""
    text = json_stream.value_of(parts, _text_key(parts), texts)
    if text is None:
        raise MarkError('key "text" is missing; wanted a line with a text')
    return text


def _text_key(parts: Parts) -> str:
    # Old exports call it "data".
    return "text" if "text" in parts else "data"


def _keys(parts: Parts) -> tuple[str | None, str | None]:
    """The key of a line's spans, and the key of its classes besides."""
    marks = next((key for key in MARKS if bytes(parts.get(key, NO)) != NO), None)
    if marks not in (None, MARKS[0]):
        return marks, None
    classes = (key for key in CLASSES if bytes(parts.get(key, NO)).startswith(b"["))
    return marks, next(classes, None)


def comment_of(parts: Parts) -> str | None:
    """The comments on a text, one a line; None if there are none. Raises MarkError."""
    found = json_stream.value_of(parts, "Comments", values)
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


def graph_in(parts: Parts, text: str, offsets: Offsets | None) -> tuple[Graph, list[str]]:
    """The spans and relations of a line, in code points, and the classes of its text.

    offsets: the unit of the line's offsets; None if it is not known. Raises MarkError.
    """
    key, besides = _keys(parts)
    entities: list[EntityRow] = []
    spans: list[Triple] = []
    classes: list[str] = []
    if key == MARKS[0] and OF_OBJECTS.match(bytes(parts[key])):
        entities = json_stream.value_of(parts, key, entity_rows) or []
        spans = [(one.start_offset, one.end_offset, one.label) for one in entities]
    elif key is not None:
        spans, classes = _listed(parts, key)
    if besides is not None:
        classes += _listed(parts, besides)[1]
    units = _units(text, offsets) if spans else None
    spots = tuple(_spot(span, text, units) for span in spans)
    return Graph(spots, _links(parts, entities) if key == MARKS[0] else ()), classes


def _links(parts: Parts, entities: Sequence[EntityRow]) -> tuple[Link, ...]:
    rows = json_stream.value_of(parts, "relations", relation_rows)
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
                    f'key "relations": found the entity {shown(id_)}, which is not in the line'
                )
        links.append(Link(places[row.from_id], places[row.to_id], row.type))
    return tuple(links)


def _listed(parts: Parts, key: str) -> tuple[list[Triple], list[str]]:
    """The triples and the strings of a list, which are spans and classes."""
    triples: list[Triple] = []
    classes: list[str] = []
    found = json_stream.value_of(parts, key, values)
    for value in [found] if isinstance(found, str) else found or ():
        if isinstance(value, str):
            classes.append(value)
        elif isinstance(value, list) and [type(one) for one in value] == [int, int, str]:
            triples.append((value[0], value[1], value[2]))
        else:
            raise MarkError(
                f'key "{key}": found {shown(value)}; wanted [start, end, label], or the '
                "name of a class"
            )
    return triples, classes


def _units(text: str, offsets: Offsets | None) -> Units | None:
    """The UTF-16 offsets of a text; None if the line counts code points, or if the two units
    are the same in this text.
    """
    if offsets == "codepoint":
        return None
    units = Units(text)
    if not units.wide:
        return None
    if offsets is None:
        wide = shown(text[units.wide[0]])
        raise MarkError(
            f"the text holds {wide}, which some programs count as one character and others as "
            "two; say how the file counts with --offsets utf16, as doccano does, or "
            "--offsets codepoint"
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
"""Bytes of a file name that all file systems accept, without the suffix."""


def file_name(annotator: str) -> str:
    """The name of an annotator's file, without its suffix.

    Characters that file systems do not accept are percent-encoded; a name that is too long is
    cut and ends in a hash.
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
    """The annotator of a file: the inverse of `file_name`."""
    return unquote(stem)


# The reader.
#
# A file of a folder is named after its annotator; `all.jsonl`, of a project whose annotators
# share their answers, counts as gold. Line numbers continue through the files of a folder,
# `all.jsonl` first and the others in the order of their names.

LINES = ".jsonl"


def read(source: Source | Folder, how: ReadOptions) -> Iterator[Row]:
    """The rows of a file or folder. Raises FormatError at the first invalid line."""
    counts = Counter[str]()
    others = 0
    if isinstance(source, Folder):
        # The file `all` has every text, in the order of the export.
        names = sorted(source.named(LINES), key=lambda name: (_stem(name) != ALL, name))
        others = len(source.names) - len(names)
        yield from _members(source, names, how, counts)
    else:
        lines = _Lines(how, counts)
        for item in json_stream.items(source):
            try:
                where = f"line {item.number}"
                yield from lines.rows(item.number, *item.read(), where)
            except MarkError as error:
                raise json_stream.refused(source, item, error) from error
    source.warnings += annotation_tasks.task_warnings(counts)
    if others:
        source.warnings.append(f"{counted(others, 'file')} left out that is not {LINES}")


def _members(
    folder: Folder, names: Sequence[str], how: ReadOptions, counts: Counter[str]
) -> Iterator[Row]:
    if not names:
        raise folder.error(None, f"holds no {LINES} file; wanted one for each annotator")
    texts = _noted(folder, names, how)
    before = 0
    for name in names:
        lines = _Lines(how, counts, _stem(name), texts)
        line = 0
        for line, text in FolderMember(folder, name).lines():
            if not text.strip():
                continue
            try:
                where = f"line {line} of {visible(name)}"
                yield from lines.rows(before + line, json_stream.parts_of(text), text, where)
            except MarkError as error:
                start = "the line " if str(error).startswith("is ") else ""
                raise folder.member_error(name, line, f"{start}{error}") from error
        before += line


def _noted(folder: Folder, names: Sequence[str], how: ReadOptions) -> Texts:
    """The spans of each text in all files. One annotator may mark a part of a word: the tokens
    of all annotators are split there.
    """
    texts = Texts()
    for name in names:
        lines = _Lines(how, Counter(), _stem(name))
        for _, line in FolderMember(folder, name).lines():
            try:
                if line.strip():
                    lines.note(json_stream.parts_of(line), texts)
            except MarkError:
                continue  # Reading the line refuses it.
    return texts


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


@dataclass(slots=True)
class _Lines:
    """The lines of one file."""

    how: ReadOptions
    counts: Counter[str]
    stem: str | None = None
    """Of the file's name, if that tells the annotator."""
    texts: Texts = field(default_factory=Texts)
    """The spans of each text in all files."""
    seen: dict[int | str, bytes] = field(default_factory=dict)
    """Hashes of lines by their ids."""

    def rows(self, line: int, parts: Parts, text: str | None, where: str) -> Iterator[Row]:
        """The rows of a line. Raises MarkError."""
        if not self._is_repeated(parts, text):
            yield from annotation_tasks.rows_of(
                self._task(line, parts, where), self.how, self.counts
            )

    def _is_repeated(self, parts: Parts, text: str | None) -> bool:
        """True if the file had the line before. Raises MarkError if the id was another
        line's.
        """
        id_ = json_stream.value_of(parts, "id", ids)
        if id_ is None:
            return False
        line = json_stream.members_json(parts) if text is None else text.encode("utf-8")
        content = hashlib.blake2b(line, digest_size=8).digest()
        before = self.seen.setdefault(id_, content)
        if before is not content and before != content:
            raise MarkError(
                f'key "id": found {shown(id_)}, the id of another line before it; wanted each '
                "id once"
            )
        return before is not content

    def _task(self, line: int, parts: Parts, where: str) -> AnnotationTask:
        text = text_of(parts)
        item = json_stream.kept_in(parts, items)
        kept: Restored | None = None if item is None else restored(item, text)
        graph, classes = graph_in(parts, text, self._offsets(kept is not None))
        graph = read_graph(graph, self.how, text, where, exported=kept is not None)
        if classes and not graph.spots and kept is None:
            self.counts["unlabelled"] += 1
        graph = annotation_tasks.classed(graph, classes, self.how, text, where)
        claim = _claim(self._who(parts), comment_of(parts))
        return AnnotationTask(
            line,
            text,
            (TaskAnnotation(claim, graph),),
            None,
            kept,
            json_stream.carried_of(NAME, parts, known_of(parts)),
            with_others=True,
            bounds=self.texts.bounds(text),
            numbers=self.texts.numbers(text),
        )

    def note(self, parts: Parts, texts: Texts) -> None:
        """Add the spans of a line to `texts`. Raises MarkError."""
        text = text_of(parts)
        item = json_stream.kept_in(parts, items)
        theirs, _ = graph_in(parts, text, self._offsets(item is not None))
        graph = translated(theirs, self.how.labels)
        texts.note(text, graph.spots, whole=() if item is None else item.offsets)

    def _offsets(self, exported: bool) -> Offsets | None:
        """The unit of the offsets: exported lines count as doccano does by default."""
        return "utf16" if exported and self.how.offsets is None else self.how.offsets

    def _who(self, parts: Parts) -> str | None:
        named = json_stream.value_of(parts, WHO, texts)
        if self.stem is None:
            return None if named is None else annotation_tasks.checked_name(named)
        if self.stem == ALL:
            return None
        if named is not None and file_name(named) == self.stem:
            return annotation_tasks.checked_name(named)
        return annotation_tasks.checked_name(who_of(self.stem))


@lru_cache(maxsize=64)
def _claim(who: str | None, comment: str | None) -> Claim:
    return Claim(who, comment=comment)


# The writer.
#
# Each number has a line of its own, so that spans of two numbers do not overlap: doccano drops
# overlapping spans without a message, unless the project allows them.

IN_MEMORY = 1 << 20
"""Bytes of a member that are held in memory before they go to a temporary file."""

_encode = msgspec.json.Encoder().encode


class _Page:
    """A passage as lines have it."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.text = b'"text":' + _encode(passage.text)
        self.units = Units(passage.text)


class DoccanoWriter:
    """Makes lines of records, as one file or a folder. left_out: stays empty."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._how = how
        self._id = 0
        self._page: _Page | None = None

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """One line for each number: the spans of the gold, and the stored item."""
        for record in records:
            answer = record.gold.answer if record.gold else None
            yield self._line(record, answer, stored(record))

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        """A file of gold, and one for each annotator."""
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
        gold = record.gold.answer if record.gold else None
        yield ALL, self._line(record, gold, stored(record, votes=(), flags=()))
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
        line = json_stream.in_braces(
            page.text,
            self._graph(record, answer, page),
            b"" if who is None else b'"%b":%b' % (WHO.encode(), _encode(who)),
            json_stream.members_json(json_stream.carried_in(record.carried, NAME)),
            b'"nfh":' + _encode(item),
        )
        return line + b"\n"

    def _graph(self, record: ExportRecord, answer: Answer | None, page: _Page) -> bytes:
        graph = renamed(record_graph(record, answer), self._how.labels)
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
        return b'"entities":[%b],"relations":[%b]' % (b",".join(entities), b",".join(relations))


MEMBERS = 50
ROWS = 200
"""How many files, and lines of each, the sniffing reads."""

TRIPLE = re.compile(r'"labels?"\s*:\s*\[\s*\[\s*\d+\s*,\s*\d+\s*,\s*"')


def sniff(first: First) -> str | None:
    """Why a file or folder looks like lines of doccano."""
    if first.folder is None:
        value = json_stream.first_value(first)
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
    """The objects of a member's first lines. A file may be empty, and its first texts may be
    without a label.
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
    entities = value.get("entities")
    if isinstance(entities, list) and all(
        isinstance(entity, dict) and "start_offset" in entity for entity in entities
    ):
        return '"entities" with offsets'
    for key in MARKS:
        label = value.get(key)
        if isinstance(label, list) and label and all(isinstance(one, list) for one in label):
            return f'spans as [start, end, label] under "{key}"'
        if isinstance(label, list) and isinstance(value.get("Comments"), list):
            return f'"{key}" and "Comments"'
    return None


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
    read=refusing_strays(read),
    sniff=sniff,
    chunks=DoccanoWriter,
    members=DoccanoWriter,
    carries_split=True,
    takes=(InputKind.TEXT, InputKind.FOLDER),
    holds=holds(How.BESIDE, **each(How.OWN, "KIND HEADS RELATION ORIGIN SORT GOLD")),
    settings=frozenset({"map", "offsets", "window"}),
)
