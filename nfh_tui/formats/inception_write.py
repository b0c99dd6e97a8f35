"""Answers drawn into CAS documents: one for each annotator, one for the gold.

Offsets are UTF-16 code units, ends exclusive, as UIMA counts. A document is one passage with
its tokens, turns (sentences too, since INCEpTION shows one a line) and numbers.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import ANCHOR, SAME, graph_of, label_of, renamed
from nfh_db.formats.options import LabelMap, Writing
from nfh_db.formats.stored import StoredItem, stored
from nfh_db.formats.utf16 import Units
from nfh_db.records import ExportRecord, Role, Vote
from nfh_models.domain import Anchor, Answer, Passage, Sort
from nfh_tui.formats.inception_names import CURATION, INITIAL, SOURCE, folder_of, user_file
from nfh_tui.formats.inception_types import (
    DOCUMENT,
    INITIAL_VIEW,
    SENTENCE,
    SOFA,
    TEXT,
    TOKEN,
    Layer,
)

Structure = dict[str, object]
"""A feature structure, as CAS JSON has it."""

Words = Callable[[str], str]
"""Makes a text one that the file can hold."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A number of a document. answer: None where it is open. kept: what goes along."""

    anchor: Anchor
    answer: Answer | None
    kept: StoredItem | None


@dataclass(frozen=True, slots=True)
class File:
    """A document of one annotator, or of the gold. name: of the member, without its end."""

    name: str
    passage: Passage
    numbers: tuple[Drawn, ...]


def files(records: Iterable[ExportRecord], suffix: str) -> Iterator[File]:
    """The documents that records make; records come by passage and span.

    suffix: the end of their names, which INCEpTION has in the names of folders, too.
    """
    passages = groupby(records, lambda record: record.passage.digest)
    for rank, (digest, group) in enumerate(passages, 1):
        yield from _of_passage(f"{rank:07d}-{digest[:12]}", suffix, list(group))


def _of_passage(stem: str, suffix: str, records: Sequence[ExportRecord]) -> Iterator[File]:
    document = f"{stem}{suffix}"
    passage = records[0].passage
    names = sorted(
        {vote.annotator for record in records for vote in record.votes}
        | {flag.annotator for record in records for flag in record.flags}
    )
    source = tuple(Drawn(record.anchor, None, _kept(record)) for record in records)
    yield File(f"{SOURCE}/{stem}", passage, source)
    first = tuple(_open(record) for record in records)
    yield File(f"{folder_of(document)}/{INITIAL}", passage, first)
    for name in names:
        drawn = tuple(_of_user(record, name) for record in records)
        yield File(f"{folder_of(document)}/{user_file(name)}", passage, drawn)
    gold = tuple(
        Drawn(record.anchor, record.gold.answer, _kept(record, gold=True))
        for record in records
        if record.gold is not None
    )
    if gold:
        yield File(f"{folder_of(document, gold=True)}/{CURATION}", passage, gold)


def _own(record: ExportRecord, name: str) -> Vote | None:
    """The answer that somebody's document shows: the annotator's, else the adjudicator's."""
    votes = [vote for vote in record.votes if vote.annotator == name]
    return min(votes, key=lambda vote: vote.role is not Role.ANNOTATOR, default=None)


def _open(record: ExportRecord) -> Drawn:
    """A number as everybody is given it. With it goes what no other document shows: the second
    answer of somebody who is annotator and adjudicator.
    """
    shown = [_own(record, name) for name in {vote.annotator for vote in record.votes}]
    rest = [vote for vote in record.votes if not any(vote is one for one in shown)]
    return Drawn(record.anchor, None, _kept(record, votes=rest))


def _of_user(record: ExportRecord, name: str) -> Drawn:
    vote = _own(record, name)
    flags = [flag for flag in record.flags if flag.annotator == name]
    if vote is None and not flags:
        return Drawn(record.anchor, None, None)
    kept = stored(record, offsets=False, gold=False, votes=[vote] if vote else [], flags=flags)
    return Drawn(record.anchor, vote.answer if vote else None, kept)


def _kept(
    record: ExportRecord, *, gold: bool = False, votes: Sequence[Vote] = ()
) -> StoredItem:
    return stored(record, offsets=False, gold=gold, votes=votes, flags=())


class Document:
    """Makes the CAS JSON of documents. words: applied to every text that is written."""

    def __init__(self, layer: Layer, labels: LabelMap, words: Words = str) -> None:
        self._layer = layer
        self._labels = labels
        self._words = words
        self._types = msgspec.Raw(msgspec.json.encode(layer.types()))
        self._last: Passage | None = None
        self._base: list[Structure] = []

    def content(self, file: File) -> bytes:
        """The file."""
        if file.passage is not self._last:
            self._last, self._base = file.passage, self._of_text(file.passage)
        structures = list(self._base)
        indexed = list(range(2, len(structures) + 1))
        units = Units(file.passage.text)
        for number in file.numbers:
            self._number(number, file.passage, units, structures, indexed)
        return msgspec.json.encode(
            {
                "%TYPES": self._types,
                "%FEATURE_STRUCTURES": structures,
                "%VIEWS": {INITIAL_VIEW: {"%SOFA": 1, "%MEMBERS": indexed}},
            }
        )

    def _of_text(self, passage: Passage) -> list[Structure]:
        """The text with its tokens and turns."""
        units = Units(passage.text)
        text = self._words(passage.text)
        sofa: Structure = {
            "%ID": 1,
            "%TYPE": SOFA,
            "sofaNum": 1,
            "sofaID": INITIAL_VIEW,
            "mimeType": "text",
            "sofaString": text,
        }
        found = [sofa, _span(2, DOCUMENT, 0, units.length)]
        found[1]["language"] = "x-unspecified"
        if text != passage.text:
            found.append(_span(3, TEXT, 0, units.length))
            found[2]["replaced"] = _replaced(passage.text, text)
        here, there = self._bounds(passage, units)
        found += [
            _span(at, TOKEN, begin, end)
            for at, (begin, end) in enumerate(zip(here, there, strict=True), len(found) + 1)
        ]
        for turn in passage.turns:
            begin, end = here[turn.start], there[turn.end - 1]
            line = units.to_units(_line_of(passage, turn.start))
            found.append(_span(len(found) + 1, SENTENCE, line, end))
            shown = _span(len(found) + 1, self._layer.turn, begin, end)
            shown[self._layer.turn_number] = turn.number
            if turn.speaker is not None:
                shown[self._layer.speaker] = self._words(turn.speaker)
            if turn.begin is not None:
                shown[self._layer.said_from] = turn.begin
            if turn.until is not None:
                shown[self._layer.said_until] = turn.until
            found.append(shown)
        return found

    @staticmethod
    def _bounds(passage: Passage, units: Units) -> tuple[list[int], list[int]]:
        starts = [token.start for token in passage.tokens]
        ends = [token.end for token in passage.tokens]
        if units.wide:
            starts, ends = list(map(units.to_units, starts)), list(map(units.to_units, ends))
        return starts, ends

    def _number(
        self,
        drawn: Drawn,
        passage: Passage,
        units: Units,
        structures: list[Structure],
        indexed: list[int],
    ) -> None:
        """Add a number with its mentions and links."""
        layer = self._layer
        starts = [token.start for token in passage.tokens]
        ends = [token.end for token in passage.tokens]
        graph = graph_of(drawn.answer, drawn.anchor, starts, ends)
        named = renamed(graph, self._labels)
        first = len(structures) + 1
        for place, spot in enumerate(graph.spots):
            type_ = layer.number if place == 0 else layer.head
            begin, end = units.to_units(spot.start), units.to_units(spot.end)
            structures.append(_span(first + place, type_, begin, end))
            indexed.append(first + place)
        number = structures[first - 1]
        number |= self._features(drawn, named.spots[0].label)
        links = []
        for ours, theirs in zip(graph.links, named.links, strict=True):
            target = first + ours.target
            if ours.source == 0:
                links.append(_link(structures, layer.heads_link, theirs.label, target))
            elif ours.label == SAME:
                link = _link(structures, layer.same_link, theirs.label, target)
                same = _array(structures, layer.same_link, [link])
                structures[first + ours.source - 1][f"@{layer.same}"] = same
            else:
                number[layer.relation] = theirs.label
        if links:
            number[f"@{layer.heads}"] = _array(structures, layer.heads_link, links)

    def _features(self, drawn: Drawn, label: str) -> Structure:
        layer, answer = self._layer, drawn.answer
        found: Structure = {}
        if label == label_of(answer):
            kind, _, sort = label.partition("_")
            if answer is not None and kind == "OTHER" and sort in tuple(Sort):
                found = {layer.kind: kind, layer.sort: sort}
            elif label != ANCHOR:
                found = {layer.kind: label}
        else:
            found = {layer.kind: label}
        if answer is not None and answer.noun:
            found[layer.noun] = self._words(answer.noun)
        if answer is not None and answer.comment:
            found[layer.comment] = self._words(answer.comment)
        if drawn.kept is not None:
            found[layer.kept] = escaped(msgspec.json.encode(drawn.kept).decode())
        return found


def _line_of(passage: Passage, token: int) -> int:
    """Where what is said in a turn begins to be shown: before its first token, with the name
    of who speaks. INCEpTION shows sentences, and nothing that stands between them.
    """
    start = passage.tokens[token].start
    before = passage.tokens[token - 1].end if token else 0
    line = max(before, passage.text.rfind("\n", before, start) + 1)
    return start - len(passage.text[line:start].lstrip())


def _span(id_: int, type_: str, begin: int, end: int) -> Structure:
    return {"%ID": id_, "%TYPE": type_, "@sofa": 1, "begin": begin, "end": end}


def _link(structures: list[Structure], type_: str, role: str, target: int) -> int:
    id_ = len(structures) + 1
    structures.append({"%ID": id_, "%TYPE": type_, "role": role, "@target": target})
    return id_


def _array(structures: list[Structure], type_: str, elements: list[int]) -> int:
    id_ = len(structures) + 1
    structures.append({"%ID": id_, "%TYPE": f"{type_}[]", "%ELEMENTS": elements})
    return id_


def escaped(json: str) -> str:
    """JSON in which the two characters that XML knows no way to write are escapes."""
    return json.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def _replaced(text: str, written: str) -> str:
    """What stood at the places where another character was written: code point, character's
    number.
    """
    pairs = [
        (at, ord(one))
        for at, (one, two) in enumerate(zip(text, written, strict=True))
        if one != two
    ]
    return msgspec.json.encode(pairs).decode()


def named(how: Writing) -> Layer:
    """The layers to write, with a project's own names. Raises ExportError for a wrong one."""
    try:
        return Layer.of(how.labels.layer)
    except MarkError as error:
        raise ExportError(str(error)) from error


class ProjectWriter:
    """Makes the folder of documents that INCEpTION's project export has. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = Document(named(how), how.labels)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """annotation/DOCUMENT/NAME.json of each annotator, curation/…/CURATION_USER.json."""
        for file in files(records, ".json"):
            yield f"{file.name}.json", self._document.content(file)
