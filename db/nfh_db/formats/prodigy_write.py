"""Prodigy's tasks of records: one for each answer, one for each gold, as `review` makes them.

A number is a task of its own: that is what Prodigy shows at once. It shows a text by its
tokens, so line breaks and what else is between ours, as speakers' names, are tokens too, but
disabled: nobody can mark them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from nfh_db.formats import prodigy_form as form
from nfh_db.formats.json_parts import Parts, carried_in, in_braces, spelled
from nfh_db.formats.marked import Graph, Spot, graph_of, renamed
from nfh_db.formats.options import Writing
from nfh_db.formats.prodigy_people import OURS
from nfh_db.formats.stored import stored
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Vote
from nfh_models.domain import Answer, Passage

BETWEEN = re.compile(r"\r?\n|\S+")
"""What stands between tokens and is to be seen."""

_encode = msgspec.json.Encoder().encode


class ProdigyWriter:
    """Makes the tasks of records; none is left out. The same record, the same lines."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._how = how

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """All tasks of each number."""
        page: _Page | None = None
        for record in records:
            if page is None or page.passage is not record.passage:
                page = _Page(record.passage)
            yield b"".join(_Tasks(record, page, self._how).lines())


class _Page:
    """A passage as tasks have it. first, last: ids of the tokens that start or end there."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.starts = [token.start for token in passage.tokens]
        self.ends = [token.end for token in passage.tokens]
        rows = list(self._rows())
        self.first = {row[0]: row[2] for row in rows}
        self.last = {row[1]: row[2] for row in rows}
        self.text = b'"text":' + _encode(passage.text)
        self.tokens = b'"tokens":[' + b",".join(map(self._token, rows)) + b"]"

    def _rows(self) -> Iterator[tuple[int, int, int, bool]]:
        """Start, end, id, and whether it is disabled, of each token."""
        text = self.passage.text
        place = id_ = 0
        for start, end in [*zip(self.starts, self.ends, strict=True), (len(text), None)]:
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
        """A span of a task."""
        return b'{"start":%d,"end":%d,"token_start":%d,"token_end":%d,"label":%b}' % (
            spot.start,
            spot.end,
            self.first[spot.start],
            self.last[spot.end],
            _encode(spot.label),
        )

    def drawn(self, graph: Graph) -> bytes:
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
        reviewed = carried_in(record.carried, form.REVIEW)
        self.extras = carried_in(record.carried, form.NAME) or _unhashed(reviewed)
        self.review_extras = reviewed or _unhashed(self.extras)

    def lines(self) -> Iterator[bytes]:
        """Each with its end."""
        record = self.record
        passed = _passed(record)
        rows = [(vote.annotator, vote) for vote in record.votes]
        people = {who for who, _ in rows} | passed.keys()
        left = tuple(flag for flag in record.flags if flag.annotator not in people)
        if not (rows or passed or record.gold):
            yield self._line(self._drawn(None), self._item((), left))
            return
        for who, vote in rows:
            flags = _of(record.flags, who) + left
            yield self._line(
                self._drawn(vote.answer),
                self._said("accept", who, vote.answered_at),
                _words(vote.answer),
                self._item((vote,), flags),
            )
            left = ()
        for who, flag in passed.items():
            answer = "reject" if flag.name is FlagName.REJECT else "ignore"
            yield self._line(
                self._drawn(None),
                self._said(answer, who, flag.flagged_at),
                self._item((), _of(record.flags, who) + left),
            )
            left = ()
        if record.gold is not None:
            yield self._review(record.gold)

    def _review(self, gold: Gold) -> bytes:
        record = self.record
        at, who = gold.decided_at, gold.adjudicator
        members = [
            self._drawn(gold.answer),
            self._said("accept", who, at, view=b"review"),
            _words(gold.answer),
            b'"sessions":' + _encode([OURS + vote.annotator for vote in record.votes]),
            b'"versions":[' + b",".join(self._versions()) + b"]",
            b'"nfh":' + _encode(stored(record, offsets=False)),
        ]
        return self._line(*members, extras=self.review_extras)

    def _versions(self) -> Iterator[bytes]:
        """A version for each different thing that was said, with who said it."""
        versions: dict[bytes, list[str]] = {}
        for vote in self.record.votes:
            said = b",".join(filter(None, (self._drawn(vote.answer), _words(vote.answer))))
            versions.setdefault(said, []).append(OURS + vote.annotator)
        for said, sessions in versions.items():
            yield in_braces(
                self.page.text,
                self.page.tokens,
                said,
                b'"answer":"accept","_view_id":"relations"',
                b'"sessions":' + _encode(sessions),
            )

    def _line(self, *members: bytes, extras: Parts | None = None) -> bytes:
        rest = spelled(self.extras if extras is None else extras)
        return in_braces(self.page.text, rest, self.page.tokens, *members) + b"\n"

    def _drawn(self, answer: Answer | None) -> bytes:
        graph = graph_of(answer, self.record.anchor, self.page.starts, self.page.ends)
        return self.page.drawn(renamed(graph, self.how.labels))

    @staticmethod
    def _said(
        answer: str, who: str | None, at: str | None, *, view: bytes = b"relations"
    ) -> bytes:
        said = b'"answer":"%b","_view_id":"%b"' % (answer.encode(), view)
        if at is not None:
            said += b',"_timestamp":%d' % form.seconds_of(at)
        if who is not None:
            said += b',"_annotator_id":%b,"_session_id":%b' % (
                _encode(who),
                _encode(OURS + who),
            )
        return said

    def _item(self, votes: Sequence[Vote], flags: Sequence[FlagMark]) -> bytes:
        item = stored(self.record, offsets=False, gold=False, votes=votes, flags=flags)
        return b'"nfh":' + _encode(item)


def _unhashed(parts: Parts) -> Parts:
    """What tasks of another sort hold: their hashes are of their own."""
    return {key: raw for key, raw in parts.items() if key not in form.HASHES}


def _passed(record: ExportRecord) -> dict[str, FlagMark]:
    """Who passed over the number or refused the task without an answer to it."""
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


def _words(answer: Answer) -> bytes:
    """What text fields of a task hold."""
    members = []
    if answer.noun is not None:
        members.append(b'"noun":' + _encode(answer.noun))
    if answer.comment:
        members.append(b'"comment":' + _encode(answer.comment))
    return b",".join(members)
