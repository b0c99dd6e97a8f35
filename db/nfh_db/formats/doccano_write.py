"""Lines of doccano made of records: in one file, or in a file for each annotator.

A number is a line of its own, so that no spans of two numbers overlap: doccano leaves out what
overlaps unless a project allows it, and does not say so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile

import msgspec

from nfh_db.formats import doccano_form as form
from nfh_db.formats.doccano_names import ALL, file_name
from nfh_db.formats.json_parts import carried_in, in_braces, spelled
from nfh_db.formats.marked import graph_of, renamed
from nfh_db.formats.options import Writing
from nfh_db.formats.stored import StoredItem, stored
from nfh_db.formats.utf16 import Units
from nfh_db.formats.writing import Content
from nfh_db.records import ExportRecord, Vote
from nfh_models.domain import Answer, Passage

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
            b"" if who is None else b'"%b":%b' % (form.WHO.encode(), _encode(who)),
            spelled(carried_in(record.carried, form.NAME)),
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
