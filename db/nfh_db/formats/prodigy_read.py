"""Prodigy's tasks as rows: one of each number, for each who answered.

A task without "answer" that has marks counts as accepted, as Prodigy's own `db-in` has it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import msgspec

from nfh_db.formats import prodigy_form as form
from nfh_db.formats.claims import Claim
from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_parts import Parts, carried_of, kept_in, value_of
from nfh_db.formats.json_rows import items, refused, values
from nfh_db.formats.marked import ANSWERS, Graph, Spot, translated
from nfh_db.formats.options import LabelMap, Reading
from nfh_db.formats.prodigy_people import OURS, Names, People, decode_names
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import Row
from nfh_db.formats.stored import Restored, restored
from nfh_db.formats.task_rows import Said, Tally, Task, class_named, classed, rows_of
from nfh_db.formats.task_texts import Texts
from nfh_db.formats.wording import shown
from nfh_db.records import FlagName

FLAGS = {"accept": (), "reject": (FlagName.REJECT,), "ignore": (FlagName.SKIP,)}


def read(source: Source, how: Reading) -> Iterator[Row]:
    """The rows of a file of tasks. Raises FormatError at the first that does not hold."""
    texts, tally = Texts(), Tally()
    people = People.of(_noted(source, texts, how.labels))
    for item in items(source):
        try:
            parts, _ = item.read()
            task = _Reader(item.number, parts, people, texts, how, tally).task()
            yield from rows_of(task, how, tally)
        except MarkError as error:
            raise refused(source, item, error) from error
    source.warnings += [*people.warnings(), *tally.sentences()]


def _noted(source: Source, texts: Texts, labels: LabelMap) -> Iterator[Names]:
    """Who answered each task; what others than ours mark is noted on the way."""
    for found in values(source, decode_names):
        if found.text is not None and found.nfh is msgspec.UNSET:
            texts.note(found.text, _spots(found.spans, len(found.text), labels.labels))
        yield found


def _spots(raw: msgspec.Raw, size: int, names: Mapping[str, str]) -> Iterator[Spot]:
    """Spans that lie in a text, with our labels; whoever reads the task refuses the others."""
    try:
        rows = form.span_rows.decode(raw)
    except (msgspec.DecodeError, UnicodeError):
        return
    for row in rows:
        if row.label is not None and 0 <= row.start < row.end <= size:
            yield Spot(row.start, row.end, names.get(row.label, row.label))


@dataclass(slots=True)
class _Reader:
    """One task being read."""

    line: int
    parts: Parts
    people: People
    texts: Texts
    how: Reading
    tally: Tally

    def task(self) -> Task:
        """The task. Raises MarkError."""
        parts = self.parts
        text = value_of(parts, "text", form.texts)
        if text is None:
            raise MarkError(
                'key "text" is missing; wanted a task with a text: those of images, sound and '
                "HTML alone cannot be read"
            )
        tokens = form.tokens_of(parts, text)
        spans = tokens.spans if tokens else None
        kept = None
        if "nfh" in parts:
            kept = _kept(parts, text, tokens)
        versions = value_of(parts, "versions", form.objects)
        graph = self._graph(parts, text, tokens)
        carried = self._carried(parts, graph, reviewed=versions is not None)
        said = [Said(self._claim(parts, graph, reviewed=versions is not None), graph)]
        for version in versions or ():
            said += self._version(version, text, tokens, kept)
        if not said[0].graph.spots and (parts.keys() & {"label", "accept"}) and kept is None:
            self.tally.unlabelled += 1
        if kept is not None:
            return Task(self.line, text, said, spans, kept, carried)
        bounds, numbers = self.texts.bounds(text), self.texts.numbers(text)
        return Task(self.line, text, said, spans, None, carried, also=bounds, numbers=numbers)

    def _carried(self, parts: Parts, graph: Graph, *, reviewed: bool) -> str | None:
        """What a task holds besides. The hash of one that comes to be several is left out:
        Prodigy would take these for one.
        """
        numbers = sum(spot.label in ANSWERS for spot in graph.spots)
        known = form.KNOWN if numbers == 1 else form.KNOWN | {form.OF_TASK}
        return carried_of(form.REVIEW if reviewed else form.NAME, parts, known)

    def _graph(self, parts: Parts, text: str, tokens: form.Tokens | None) -> Graph:
        graph = translated(form.graph_from(parts, text, tokens), self.how.labels)
        labels = value_of(parts, "accept", form.choices) or []
        if "label" in parts and (label := value_of(parts, "label", form.texts)):
            labels = [label, *labels]
        if not labels:
            return graph
        return classed(graph, [class_named(str(one), self.how.labels) for one in labels])

    def _claim(self, parts: Parts, graph: Graph, *, reviewed: bool) -> Claim:
        answer = value_of(parts, "answer", form.texts) or "accept"
        if answer not in FLAGS:
            wanted = f"wanted one of {', '.join(form.ANSWERS)}"
            raise MarkError(f'key "answer": found {shown(answer)}, {wanted}')
        who = self.people.who(
            value_of(parts, "_annotator_id", form.texts),
            value_of(parts, "_session_id", form.texts),
            review=reviewed,
        )
        if who is None and answer != "accept":
            who = self.how.annotator
        if who is None and answer != "accept" and graph.spots:
            self.tally.nameless += 1
        return Claim(
            who,
            gold=reviewed,
            answered=answer == "accept",
            flags=FLAGS[answer],
            at=form.time_of(parts),
            noun=value_of(parts, "noun", form.texts),
            comment=value_of(parts, "comment", form.texts),
        )

    def _version(
        self, parts: Parts, text: str, tokens: form.Tokens | None, kept: Restored | None
    ) -> Iterator[Said]:
        """What each of the sessions of a version says. Raises MarkError."""
        stated = value_of(parts, "text", form.texts)
        if stated is not None and stated != text:
            raise MarkError(
                f'key "versions": expected the text of the task, found {shown(stated)}'
            )
        graph = self._graph(parts, text, tokens)
        claim = self._claim(parts, graph, reviewed=False)
        sessions = value_of(parts, "sessions", form.names)
        people = (
            [claim.who] if sessions is None else [self._session(one, kept) for one in sessions]
        )
        for who in people:
            if who is not None:
                yield Said(replace(claim, who=who), graph)

    def _session(self, session: str, kept: Restored | None) -> str | None:
        """The annotator of a session: one whose answer was kept along, else by its name."""
        named = session.removeprefix(OURS)
        if kept is not None and any(vote.annotator == named for vote in kept.votes):
            return named
        return self.people.of_session(session)


def _kept(parts: Parts, text: str, tokens: form.Tokens | None) -> Restored | None:
    item = kept_in(parts, form.items)
    if item is None:
        return None
    if tokens is None and not item.offsets:
        raise MarkError('key "tokens" is missing, of a task that was exported with them')
    return restored(item, text, tokens.free if tokens and not item.offsets else None)
