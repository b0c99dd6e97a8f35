"""Format `prodigy`: the tasks of Prodigy, one JSON object on each line, as `prodigy db-out`
writes them.

Source: the documentation of Prodigy, "Annotation interfaces"
(https://prodi.gy/docs/api-interfaces), "Review" (https://prodi.gy/docs/review) and "Multi-user
sessions" (https://prodi.gy/docs/api-web-app).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import takewhile

import msgspec

from nfh_db.formats import annotation_tasks, json_stream
from nfh_db.formats.annotation_tasks import AnnotationTask, Claim, TaskAnnotation, Texts
from nfh_db.formats.base import First, Format, How, each, holds
from nfh_db.formats.files import Source
from nfh_db.formats.json_stream import Parts
from nfh_db.formats.rows import IGNORE, LabelMap, ReadOptions, Row, Span, Writing
from nfh_db.formats.spans import (
    ANSWERS,
    HEAD,
    KNOWN_LINKS,
    Graph,
    Link,
    MarkError,
    Spot,
    checked,
    meaning,
    read_graph,
    record_graph,
    refusing_strays,
    renamed,
    span_label,
)
from nfh_db.formats.stored_annotation import Restored, StoredItem, restored, stored
from nfh_db.messages import shown
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Vote
from nfh_models.domain import Answer, Passage

# The objects of a task.
#
# Offsets are code points of "text", ends exclusive; "token_end" is the last token, inclusive.

NAME = "prodigy"
REVIEW = "prodigy-review"
"""Keys of what is carried of other keys of tasks and of review tasks."""

KNOWN = frozenset(
    (
        "text", "tokens", "spans", "relations", "answer", "accept", "label", "versions",
        "sessions", "noun", "comment", "nfh", "view_id", "_view_id", "_annotator_id",
        "_session_id", "_timestamp", "_is_binary",
    )
)  # fmt: skip
"""Keys that are read and written; all others are carried."""

TASK_HASH = "_task_hash"
"""The hash of a task with its spans."""

HASHES = ("_input_hash", TASK_HASH)
FLAGS = {"accept": (), "reject": (FlagName.REJECT,), "ignore": (FlagName.SKIP,)}
"""The values of "answer", and the flags that they set."""


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


class ProdigyRelation(msgspec.Struct):
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
relation_rows = msgspec.json.Decoder(list[ProdigyRelation])
objects = msgspec.json.Decoder(list[Parts])
items = msgspec.json.Decoder(StoredItem)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a task."""

    rows: Sequence[TokenRow]
    spans: Sequence[Span]
    """Of tokens that are not white space."""
    enabled: Sequence[Span]
    """Of tokens that can be marked. In an exported task these are the passage's."""


def tokens_of(parts: Parts, text: str) -> Tokens | None:
    """A task's tokens; None if it has none. Raises MarkError for one that does not fit the
    text.
    """
    rows = json_stream.value_of(parts, "tokens", token_rows)
    if not rows:
        return None
    spans, enabled = [], []
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
            enabled.append((start, end))
        last = end
    return Tokens(rows, spans, enabled)


def graph_from(parts: Parts, text: str, tokens: Tokens | None, how: ReadOptions) -> Graph:
    """The spans and relations of a task, with the project's labels. Raises MarkError."""
    builder = _GraphBuilder(text, tokens)
    for row in json_stream.value_of(parts, "spans", span_rows) or ():
        if row.label is None:
            raise MarkError(f"the span {row.start} to {row.end} has no label")
        builder.add(row, row.label)
    for link in json_stream.value_of(parts, "relations", relation_rows) or ():
        if meaning(link.label, how.labels.relations, KNOWN_LINKS) == IGNORE:
            # Its ends would become mentions where no span is.
            how.tally.ignored["relation"] += 1
        else:
            builder.link(link)
    return Graph(tuple(builder.spots), tuple(builder.links))


class _GraphBuilder:
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

    def link(self, row: ProdigyRelation) -> None:
        """Add a link. Among spots with the same span, those that are not linked yet come
        first.
        """
        sources = self._ends(row.head_span, row.head, "head")
        targets = self._ends(row.child_span, row.child, "child")
        pairs = [(source, target) for source in sources for target in targets]
        pair = next((pair for pair in pairs if pair not in self._linked), pairs[0])
        self._linked.add(pair)
        self.links.append(Link(*pair, row.label))

    def _ends(self, row: SpanRow | None, token: int | None, which: str) -> Sequence[int]:
        """The spots that an end of a relation may mean: those of the span that it states, else
        the one that holds its token, else a new mention of that token.
        """
        if row is None:
            return (self._at_token(token, which),)
        places = self._places.get((row.start, row.end), ())
        if len(places) > 1:
            places = [i for i in places if self.spots[i].label == row.label] or places
        return places or (self.add(row, row.label or HEAD),)

    def _at_token(self, token: int | None, which: str) -> int:
        rows = self.tokens.rows if self.tokens else ()
        ids = (i if r.id is None else r.id for i, r in enumerate(rows))
        row = next((r for r, id_ in zip(rows, ids, strict=True) if id_ == token), None)
        if token is None or row is None:
            raise MarkError(
                f'a relation\'s "{which}" is token {token}, which the task does not have; '
                f'wanted one of its tokens, or a "{which}_span"'
            )
        ending = [i for i, s in enumerate(self.spots) if s.end == row.end]
        around = [i for i, s in enumerate(self.spots) if s.start <= row.start < s.end]
        found = ending or around
        return found[0] if found else self.add(SpanRow(row.start, row.end), HEAD)


def time_of(parts: Mapping[str, msgspec.Raw]) -> str | None:
    """When a task was answered, in the form of `gold` files. Raises MarkError."""
    seconds = json_stream.value_of(parts, "_timestamp", times)
    if seconds is None:
        return None
    try:
        at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise MarkError(
            f'key "_timestamp": found {shown(seconds)}, wanted seconds since 1970'
        ) from error
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


# Names of annotators from names of sessions.
#
# Prodigy names a session "dataset-name", and an unnamed one by the time of its start. The
# annotator of a task has the name of the session unless a recipe sets another.

UNNAMED = re.compile(r"(?:.*-)?\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d", re.DOTALL)
"""An unnamed session."""

OURS = "nfh-"
"""The prefix of the sessions of exported tasks."""


class _Version(msgspec.Struct):
    sessions: list[str] | None = None


class TaskNames(msgspec.Struct):
    """Who answered a task; its text and spans; whether it was exported (`nfh`)."""

    annotator: str | None = msgspec.field(default=None, name="_annotator_id")
    session: str | None = msgspec.field(default=None, name="_session_id")
    view: str | None = msgspec.field(default=None, name="_view_id")
    versions: list[_Version] | None = None
    text: str | None = None
    spans: msgspec.Raw = msgspec.Raw(b"null")
    nfh: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


decode_names = msgspec.json.Decoder(TaskNames).decode


@dataclass
class SessionPeople:
    """The annotators of a file's sessions."""

    annotators: dict[str, str] = field(default_factory=dict)
    """By session, where a task names an annotator besides the session."""
    prefix: str = ""
    """The common prefix of annotators' sessions."""
    review_prefix: str = ""
    """The common prefix of reviewers' sessions."""

    @classmethod
    def of(cls, tasks: Iterable[TaskNames]) -> "SessionPeople":
        """From the names in all tasks of a file."""
        people = cls()
        sessions: set[str] = set()
        reviewers: set[str] = set()
        reviewed: set[str] = set()
        for found in tasks:
            named, session = found.annotator, found.session
            if named is not None and session is not None and named != session:
                people.annotators[session] = named
            elif session is not None:
                (sessions if found.versions is None else reviewers).add(session)
            for version in found.versions or ():
                reviewed.update(version.sessions or ())
        people.prefix = common_start(sessions | (reviewed - people.annotators.keys()))
        people.review_prefix = common_start(reviewers)
        return people

    def warnings(self) -> Iterator[str]:
        """A sentence for each prefix that was removed from names."""
        for prefix, whose in ((self.prefix, "annotators"), (self.review_prefix, "reviewers")):
            if prefix not in ("", OURS):
                yield (
                    f"the names of {whose} are those of sessions without {shown(prefix)}, the "
                    "dataset's name"
                )

    def who(self, annotator: str | None, session: str | None, *, review: bool) -> str | None:
        """The annotator of a task; None if it names nobody. Raises MarkError."""
        if annotator is not None and session is not None and annotator != session:
            return annotation_tasks.checked_name(annotator)
        named = annotator or session
        return named and self._in_session(named, self.review_prefix if review else self.prefix)

    def of_session(self, session: str) -> str | None:
        """The annotator of a session; None for an unnamed session. Raises MarkError."""
        if session in self.annotators:
            return annotation_tasks.checked_name(self.annotators[session])
        return self._in_session(session, self.prefix)

    @staticmethod
    def _in_session(session: str, prefix: str) -> str | None:
        if UNNAMED.fullmatch(session):
            return None
        return annotation_tasks.checked_name(session.removeprefix(prefix))


def common_start(sessions: Iterable[str]) -> str:
    """The common prefix of session names, up to and including a "-". Unnamed sessions are
    ignored.
    """
    names = sorted({name for name in sessions if not UNNAMED.fullmatch(name)})
    if not names:
        return ""
    parts = [name.split("-")[:-1] for name in (names[0], names[-1])]
    # In sorted names, a prefix of the first and the last is a prefix of all.
    common = takewhile(lambda pair: pair[0] == pair[1], zip(*parts, strict=False))
    prefix = "".join(f"{one}-" for one, _ in common)
    return prefix if all(len(name) > len(prefix) for name in names) else ""


# The reader.
#
# A task without "answer" counts as accepted, as in Prodigy's own `db-in`.


def read(source: Source, how: ReadOptions) -> Iterator[Row]:
    """The rows of a file of tasks. Raises FormatError at the first invalid task."""
    texts, counts = Texts(), Counter[str]()
    people = SessionPeople.of(_noted(source, texts, how.labels))
    for item in json_stream.items(source):
        try:
            parts, _ = item.read()
            task = _Reader(item.number, parts, people, texts, how, counts).task()
            yield from annotation_tasks.rows_of(task, how, counts)
        except MarkError as error:
            raise json_stream.refused(source, item, error) from error
    source.warnings += [*people.warnings(), *annotation_tasks.task_warnings(counts)]


def _noted(source: Source, texts: Texts, labels: LabelMap) -> Iterator[TaskNames]:
    """Who answered each task. Adds the spans of tasks that were not exported to `texts`."""
    for found in json_stream.values(source, decode_names):
        if found.text is not None and found.nfh is msgspec.UNSET:
            texts.note(found.text, _spots(found.spans, len(found.text), labels))
        yield found


def _spots(raw: msgspec.Raw, size: int, labels: LabelMap) -> Iterator[Spot]:
    """Valid spans with our labels; reading the task refuses the others."""
    try:
        rows = span_rows.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        return
    for row in rows:
        if row.label is not None and 0 <= row.start < row.end <= size:
            yield Spot(row.start, row.end, span_label(row.label, labels) or row.label)


@dataclass(slots=True)
class _Reader:
    """One task being read."""

    line: int
    parts: Parts
    people: SessionPeople
    texts: Texts
    how: ReadOptions
    counts: Counter[str]

    def task(self) -> AnnotationTask:
        """Raises MarkError."""
        parts = self.parts
        text = json_stream.value_of(parts, "text", texts)
        if text is None:
            raise MarkError(
                'key "text" is missing; wanted a task with a text: those of images, sound and '
                "HTML alone cannot be read"
            )
        tokens = tokens_of(parts, text)
        kept = _stored_in(parts, text, tokens) if "nfh" in parts else None
        versions = json_stream.value_of(parts, "versions", objects)
        reviewed = versions is not None
        graph = self._graph(parts, text, tokens)
        annotations = [TaskAnnotation(self._claim(parts, graph, reviewed=reviewed), graph)]
        for version in versions or ():
            annotations += self._version(version, text, tokens, kept)
        if not graph.spots and (parts.keys() & {"label", "accept"}) and kept is None:
            self.counts["unlabelled"] += 1
        # A task with several numbers is exported as several, which may not share a task hash.
        numbers = sum(spot.label in ANSWERS for spot in graph.spots)
        known = KNOWN if numbers == 1 else KNOWN | {TASK_HASH}
        return AnnotationTask(
            self.line,
            text,
            annotations,
            tokens.spans if tokens else None,
            kept,
            json_stream.carried_of(REVIEW if reviewed else NAME, parts, known),
            bounds=() if kept else self.texts.bounds(text),
            numbers=() if kept else self.texts.numbers(text),
        )

    def _graph(self, parts: Parts, text: str, tokens: Tokens | None) -> Graph:
        where = f"line {self.line}"
        graph = graph_from(parts, text, tokens, self.how)
        graph = read_graph(graph, self.how, text, where, exported="nfh" in self.parts)
        labels = json_stream.value_of(parts, "accept", choices) or []
        if "label" in parts and (label := json_stream.value_of(parts, "label", texts)):
            labels = [label, *labels]
        return annotation_tasks.classed(graph, map(str, labels), self.how, text, where)

    def _claim(self, parts: Parts, graph: Graph, *, reviewed: bool) -> Claim:
        answer = json_stream.value_of(parts, "answer", texts) or "accept"
        if answer not in FLAGS:
            wanted = f"wanted one of {', '.join(FLAGS)}"
            raise MarkError(f'key "answer": found {shown(answer)}, {wanted}')
        who = self.people.who(
            json_stream.value_of(parts, "_annotator_id", texts),
            json_stream.value_of(parts, "_session_id", texts),
            review=reviewed,
        )
        if who is None and answer != "accept":
            who = self.how.annotator
        if who is None and answer != "accept" and graph.spots:
            self.counts["nameless"] += 1
        return Claim(
            who,
            gold=reviewed,
            answered=answer == "accept",
            flags=FLAGS[answer],
            at=time_of(parts),
            noun=json_stream.value_of(parts, "noun", texts),
            comment=json_stream.value_of(parts, "comment", texts),
        )

    def _version(
        self, parts: Parts, text: str, tokens: Tokens | None, kept: Restored | None
    ) -> Iterator[TaskAnnotation]:
        """One annotation for each session of a version. Raises MarkError."""
        stated = json_stream.value_of(parts, "text", texts)
        if stated is not None and stated != text:
            raise MarkError(
                f'key "versions": expected the text of the task, found {shown(stated)}'
            )
        graph = self._graph(parts, text, tokens)
        claim = self._claim(parts, graph, reviewed=False)
        sessions = json_stream.value_of(parts, "sessions", names)
        people = (
            [claim.who] if sessions is None else [self._session(one, kept) for one in sessions]
        )
        for who in people:
            if who is not None:
                yield TaskAnnotation(replace(claim, who=who), graph)

    def _session(self, session: str, kept: Restored | None) -> str | None:
        """The annotator of a session: one with a stored vote, else by the session's name."""
        named = session.removeprefix(OURS)
        if kept is not None and any(vote.annotator == named for vote in kept.votes):
            return named
        return self.people.of_session(session)


def _stored_in(parts: Parts, text: str, tokens: Tokens | None) -> Restored | None:
    item = json_stream.kept_in(parts, items)
    if item is None:
        return None
    if tokens is None and not item.offsets:
        raise MarkError('key "tokens" is missing, although the task was exported with it')
    return restored(item, text, tokens.enabled if tokens and not item.offsets else None)


# The writer: a task for each vote, and one for each gold, as the recipe `review` makes it.
#
# Each number has tasks of its own, since Prodigy shows a task at a time. Prodigy displays a
# text by its tokens: what stands between the passage's tokens, such as line breaks and names of
# speakers, is a disabled token, which cannot be marked.

BETWEEN = re.compile(r"\r?\n|\S+")
"""A disabled token."""

_encode = msgspec.json.Encoder().encode


class ProdigyWriter:
    """Makes the tasks of records. left_out: stays empty."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._how = how

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """The tasks of each number."""
        page: _Page | None = None
        for record in records:
            if page is None or page.passage is not record.passage:
                page = _Page(record.passage)
            yield b"".join(_Tasks(record, page, self._how).lines())


class _Page:
    """A passage as tasks have it."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        rows = list(self._rows())
        # Ids of tokens by the offsets at which they start and end.
        self.first = {row[0]: row[2] for row in rows}
        self.last = {row[1]: row[2] for row in rows}
        self.text = b'"text":' + _encode(passage.text)
        self.tokens = b'"tokens":[' + b",".join(map(self._token, rows)) + b"]"

    def _rows(self) -> Iterator[tuple[int, int, int, bool]]:
        """Start, end, id, and whether it is disabled, of each token."""
        text = self.passage.text
        place = id_ = 0
        spans = ((token.start, token.end) for token in self.passage.tokens)
        for start, end in (*spans, (len(text), None)):
            for found in BETWEEN.finditer(text, place, start) if start > place else ():
                yield found.start(), found.end(), id_, True
                id_ += 1
            if end is not None:
                yield start, end, id_, False
                id_ += 1
                place = end

    def _token(self, row: tuple[int, int, int, bool]) -> bytes:
        start, end, id_, disabled = row
        text = self.passage.text
        ws = b"true" if text[end : end + 1] == " " else b"false"
        return b'{"text":%b,"start":%d,"end":%d,"id":%d,"ws":%b%b}' % (
            _encode(text[start:end]),
            start,
            end,
            id_,
            ws,
            b',"disabled":true' if disabled else b"",
        )

    def span(self, spot: Spot) -> bytes:
        return b'{"start":%d,"end":%d,"token_start":%d,"token_end":%d,"label":%b}' % (
            spot.start,
            spot.end,
            self.first[spot.start],
            self.last[spot.end],
            _encode(spot.label),
        )

    def graph(self, graph: Graph) -> bytes:
        """The spans and relations of a task."""
        spans = [self.span(spot) for spot in graph.spots]
        relations = [
            b'{"head":%d,"child":%d,"head_span":%b,"child_span":%b,"label":%b}'
            % (
                self.last[graph.spots[link.source].end],
                self.last[graph.spots[link.target].end],
                spans[link.source],
                spans[link.target],
                _encode(link.label),
            )
            for link in graph.links
        ]
        return b'"spans":[%b],"relations":[%b]' % (b",".join(spans), b",".join(relations))


class _Tasks:
    """The tasks of one record."""

    def __init__(self, record: ExportRecord, page: _Page, how: Writing) -> None:
        self.record = record
        self.page = page
        self.how = how
        reviewed = json_stream.carried_in(record.carried, REVIEW)
        self.extras = json_stream.carried_in(record.carried, NAME) or _unhashed(reviewed)
        self.review_extras = reviewed or _unhashed(self.extras)

    def lines(self) -> Iterator[bytes]:
        record = self.record
        rows: list[tuple[Answer | None, str, str, str, tuple[Vote, ...]]] = [
            (vote.answer, "accept", vote.annotator, vote.answered_at, (vote,))
            for vote in record.votes
        ]
        rows += [
            (
                None,
                "reject" if flag.name is FlagName.REJECT else "ignore",
                who,
                flag.flagged_at,
                (),
            )
            for who, flag in _passed(record).items()
        ]
        people = {who for _, _, who, _, _ in rows}
        # Flags of people without a task are stored in the first task.
        left = tuple(flag for flag in record.flags if flag.annotator not in people)
        if not rows and record.gold is None:
            yield self._line(self._graph(None), self._item((), left))
        for answer, said, who, at, votes in rows:
            item = self._item(votes, _of(record.flags, who) + left)
            yield self._line(
                self._graph(answer), self._meta(said, who, at), _words(answer), item
            )
            left = ()
        if record.gold is not None:
            yield self._review(record.gold)

    def _review(self, gold: Gold) -> bytes:
        record = self.record
        members = [
            self._graph(gold.answer),
            self._meta("accept", gold.adjudicator, gold.decided_at, view=b"review"),
            _words(gold.answer),
            b'"sessions":' + _encode([OURS + vote.annotator for vote in record.votes]),
            b'"versions":[' + b",".join(self._versions()) + b"]",
            b'"nfh":' + _encode(stored(record, offsets=False)),
        ]
        return self._line(*members, extras=self.review_extras)

    def _versions(self) -> Iterator[bytes]:
        """A version for each different answer, with the sessions of those who gave it."""
        versions: dict[bytes, list[str]] = {}
        for vote in self.record.votes:
            answer = b",".join(filter(None, (self._graph(vote.answer), _words(vote.answer))))
            versions.setdefault(answer, []).append(OURS + vote.annotator)
        for answer, sessions in versions.items():
            yield json_stream.in_braces(
                self.page.text,
                self.page.tokens,
                answer,
                b'"answer":"accept","_view_id":"relations"',
                b'"sessions":' + _encode(sessions),
            )

    def _line(self, *members: bytes, extras: Parts | None = None) -> bytes:
        rest = json_stream.members_json(self.extras if extras is None else extras)
        return json_stream.in_braces(self.page.text, rest, self.page.tokens, *members) + b"\n"

    def _graph(self, answer: Answer | None) -> bytes:
        return self.page.graph(renamed(record_graph(self.record, answer), self.how.labels))

    @staticmethod
    def _meta(
        answer: str, who: str | None, at: str | None, *, view: bytes = b"relations"
    ) -> bytes:
        members = b'"answer":"%b","_view_id":"%b"' % (answer.encode(), view)
        if at is not None:
            members += b',"_timestamp":%d' % int(datetime.fromisoformat(at).timestamp())
        if who is not None:
            names = _encode(who), _encode(OURS + who)
            members += b',"_annotator_id":%b,"_session_id":%b' % names
        return members

    def _item(self, votes: Sequence[Vote], flags: Sequence[FlagMark]) -> bytes:
        item = stored(self.record, offsets=False, gold=False, votes=votes, flags=flags)
        return b'"nfh":' + _encode(item)


def _unhashed(parts: Parts) -> Parts:
    """What was carried of tasks of the other sort, without their hashes."""
    return {key: raw for key, raw in parts.items() if key not in HASHES}


def _passed(record: ExportRecord) -> dict[str, FlagMark]:
    """The flag SKIP or REJECT of each annotator without a vote."""
    voted = {vote.annotator for vote in record.votes}
    found: dict[str, FlagMark] = {}
    for flag in record.flags:
        if flag.annotator in voted or flag.name not in (FlagName.SKIP, FlagName.REJECT):
            continue
        if flag.name is FlagName.REJECT or flag.annotator not in found:
            found[flag.annotator] = flag
    return found


def _of(flags: Iterable[FlagMark], who: str) -> tuple[FlagMark, ...]:
    return tuple(flag for flag in flags if flag.annotator == who)


def _words(answer: Answer | None) -> bytes:
    """The text fields of a task."""
    members = []
    if answer and answer.noun is not None:
        members.append(b'"noun":' + _encode(answer.noun))
    if answer and answer.comment:
        members.append(b'"comment":' + _encode(answer.comment))
    return b",".join(members)


MARKS = ("_input_hash", "_task_hash", "_annotator_id", "_session_id", "_view_id")


def sniff(first: First) -> str | None:
    """Why a file looks like tasks of Prodigy."""
    value = json_stream.first_value(first)
    if value is None or "format" in value or not isinstance(value.get("text"), str):
        return None
    if isinstance(value.get("label"), list) or "entities" in value:
        return None
    own = next((key for key in MARKS if key in value), None)
    if own is not None:
        return f'its first item is a JSON object with a text and "{own}"'
    if value.get("answer") in FLAGS:
        return 'its first item is a JSON object with a text and an "answer"'
    spans, keys = value.get("spans"), {"start", "end", "label"}
    if isinstance(spans, list) and all(
        isinstance(span, dict) and keys <= span.keys() for span in spans
    ):
        return 'its first item is a JSON object with a text and "spans"'
    if value.keys() <= BARE and not OTHERS.search(first.start):
        return "its first item is a JSON object with a text and no marks"
    return None


BARE = frozenset({"text", "meta", "id"})
OTHERS = re.compile(r'"(?:labels?|entities|speaker|spans)"\s*:')
"""Keys of later items that tell of more than texts."""


PRODIGY = Format(
    name="prodigy",
    extensions=(".jsonl", ".json"),
    description=(
        "tasks of Prodigy: a text with spans and relations; one line for each answer, gold "
        "in the form of the review recipe"
    ),
    example=(
        '{"text":"No, three.","spans":[{"start":4,"end":9,"token_start":2,"token_end":2,'
        '"label":"AGE"}],"answer":"accept","_annotator_id":"eva"}'
    ),
    read=refusing_strays(read),
    sniff=sniff,
    chunks=ProdigyWriter,
    carries_split=True,
    holds=holds(How.OWN, **each(How.BESIDE, "TIME SEEN FLAGS RULE SPLIT SPEAKERS SAID_AT")),
    settings=frozenset({"map", "window"}),
)
