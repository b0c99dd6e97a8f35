"""Records to a brat project: a folder for gold and one for each who answered.

annotation.conf                what may be marked
gold/0000001.txt, .ann         a passage, with the answers that count
gold/0000001.nfh.json          what brat has no terms for
eva/0000001.txt, .ann, …       the same passage, with Eva's answers
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from nfh_db.errors import ExportError
from nfh_db.formats.brat_ann import EQUIV, NOTES
from nfh_db.formats.brat_carried import Part, lines_of, parts_in
from nfh_db.formats.brat_side import (
    SUFFIX,
    Folders,
    Party,
    own_flags,
    side_bytes,
)
from nfh_db.formats.brat_text import fragments, surface, written
from nfh_db.formats.marked import (
    HEAD,
    LINK_LABELS,
    ORIGINS,
    SAME,
    SPAN_LABELS,
    Graph,
    graph_of,
    renamed,
)
from nfh_db.formats.options import LabelMap, Span, Writing
from nfh_db.formats.wording import shown
from nfh_db.records import ExportRecord, FlagName
from nfh_models.domain import Answer

NOUN = "Noun"
"""The type of a note that holds a noun in words."""

CONF = "annotation.conf"
ATTRIBUTES = {flag: flag.value.capitalize() for flag in FlagName}
"""Attributes of a number that are a person's flags."""


def one_line(words: str) -> str:
    """Words as a note holds them: on one line, single spaces between them."""
    return " ".join(words.split())


class BratWriter:
    """Makes the members of a project. left_out: nothing is."""

    def __init__(self, how: Writing | None = None) -> None:
        self.left_out: Counter[str] = Counter()
        self._names = with_equiv((how or Writing()).labels)
        for name in (*self._names.labels, *self._names.relations):
            if not name or name.split() != [name]:
                raise ExportError(
                    f"brat has no type {shown(name)}: its types hold no white space; "
                    "name another one in the file of --map"
                )

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """Each file's name and bytes, passage by passage."""
        folders = Folders()
        yield CONF, configuration(self._names).encode()
        for number, (_, group) in enumerate(groupby(records, _digest), 1):
            of_passage = list(group)
            text, replaced = written(of_passage[0].passage.text)
            encoded = text.encode()
            parts = parts_in(of_passage)
            for party in _parties(of_passage, parts):
                folder = folders(party)
                base = f"{folder}/{number:07}"
                yield f"{base}.txt", encoded
                document = _Document(text, self._names, parts)
                yield f"{base}.ann", document.lines(of_passage, party)
                yield f"{base}{SUFFIX}", side_bytes(folder, party, of_passage, replaced)


def _digest(record: ExportRecord) -> str:
    return record.passage.digest


def _parties(records: Sequence[ExportRecord], parts: Sequence[Part]) -> list[Party]:
    """Gold, and everybody who answered, flagged or marked something in the passage."""
    found = {Party(None): None} | dict.fromkeys(part.party for part in parts)
    for record in records:
        found |= dict.fromkeys(map(Party.of, record.votes))
        answered = {vote.annotator for vote in record.votes}
        found |= dict.fromkeys(
            Party(f.annotator) for f in record.flags if f.annotator not in answered
        )
    return list(found)


def with_equiv(labels: LabelMap) -> LabelMap:
    """The names of a project, and brat's own for mentions of one noun."""
    return LabelMap(labels.labels, {EQUIV: SAME, **labels.relations}, labels.layer)


class _Document:
    """The lines of one `.ann` file."""

    def __init__(self, text: str, names: LabelMap, parts: Sequence[Part]) -> None:
        self._text = text
        self._parts = parts
        self._torn: dict[Span, tuple[Span, ...]] = {}
        self._own: dict[Span, str] = {}
        self._labels = names
        self._lines: list[str] = []
        self._ids: Counter[str] = Counter()

    def lines(self, records: Sequence[ExportRecord], party: Party) -> bytes:
        """All of them, for the numbers of one passage and the answers of one party."""
        besides = [part for part in self._parts if part.party == party]
        for part in besides:
            self._torn |= {(min(one)[0], max(one)[1]): one for one in part.torn}
        for record in records:
            answer = _answer(record, party)
            number = self._graph(_drawn(record, answer))
            for flag in own_flags(record, party):
                self._line("A", f"{ATTRIBUTES[flag.name]} {number}")
            if answer is not None:
                self._note(NOUN, number, answer.noun or "")
                self._note(NOTES, number, answer.comment)
        for part in besides:
            self._lines += lines_of(part, self._ids, self._own)
        return "".join(self._lines).encode()

    def _graph(self, graph: Graph) -> str:
        """The lines of one number; its own id."""
        names = renamed(graph, self._labels)
        ids = [self._span(spot.label, spot.start, spot.end) for spot in names.spots]
        groups: dict[int, list[int]] = {}
        for link in names.links:
            if link.label == EQUIV:
                groups.setdefault(link.target, []).append(link.source)
            else:
                ends = f"Arg1:{ids[link.source]} Arg2:{ids[link.target]}"
                self._line("R", f"{link.label} {ends}")
        for first, others in groups.items():
            members = " ".join(ids[place] for place in (first, *others))
            self._lines.append(f"*\t{EQUIV} {members}\n")
        return ids[0]

    def _span(self, label: str, start: int, end: int) -> str:
        pieces = self._torn.get((start, end)) or [*fragments(self._text, start, end)]
        pieces = pieces or [(start, end)]
        places = ";".join(f"{first} {last}" for first, last in pieces)
        id_ = self._line("T", f"{label} {places}", surface(self._text, pieces))
        self._own.setdefault((start, end), id_)
        return id_

    def _note(self, type_: str, target: str, words: str) -> None:
        if line := one_line(words):
            self._line("#", f"{type_} {target}", line)

    def _line(self, prefix: str, data: str, tail: str | None = None) -> str:
        self._ids[prefix] += 1
        id_ = f"{prefix}{self._ids[prefix]}"
        self._lines.append(f"{id_}\t{data}\n" if tail is None else f"{id_}\t{data}\t{tail}\n")
        return id_


def _answer(record: ExportRecord, party: Party) -> Answer | None:
    if party.name is None:
        return record.gold.answer if record.gold else None
    return next((vote.answer for vote in record.votes if Party.of(vote) == party), None)


def _drawn(record: ExportRecord, answer: Answer | None) -> Graph:
    tokens = record.passage.tokens
    return graph_of(answer, record.anchor, [t.start for t in tokens], [t.end for t in tokens])


def configuration(names: LabelMap) -> str:
    """`annotation.conf`: what brat offers to mark (https://brat.nlplab.org/configuration.html)."""
    spans = {ours: theirs for theirs, ours in names.labels.items()}
    links = {ours: theirs for theirs, ours in names.relations.items()}
    head = spans.get(HEAD, HEAD)
    numbers = "|".join(spans.get(label, label) for label in SPAN_LABELS if label != HEAD)
    lines = [
        "[entities]",
        *(spans.get(label, label) for label in SPAN_LABELS),
        "",
        "[relations]",
    ]
    lines += [
        f"{links.get(label, label)}\tArg1:{numbers}, Arg2:{head}"
        if label in ORIGINS
        else f"{links.get(label, label)}\tArg1:{head}, Arg2:{head}"
        + (", <REL-TYPE>:symmetric-transitive" if label == SAME else "")
        for label in LINK_LABELS
    ]
    lines += ["", "[events]", "", "[attributes]"]
    lines += [f"{name}\tArg:{numbers}" for name in ATTRIBUTES.values()]
    return "\n".join(lines) + "\n"
