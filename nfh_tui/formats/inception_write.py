"""Answers drawn into CAS documents: one for each annotator, one for the gold.

A document is one passage with its tokens, turns (sentences too, since INCEpTION shows one a
line) and numbers. Offsets are code points here; dkpro-cassis writes them as UIMA counts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from nfh_db.errors import ExportError
from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import ANCHOR, SAME, graph_of, label_of, renamed
from nfh_db.formats.options import LabelMap, Writing
from nfh_db.formats.stored import StoredItem, stored
from nfh_db.records import ExportRecord, Role, Vote
from nfh_models.domain import Anchor, Answer, Passage, Sort
from nfh_tui.formats.inception_documents import TYPE_SYSTEM, library, type_system, writable
from nfh_tui.formats.inception_names import CURATION, INITIAL, SOURCE, folder_of, user_file
from nfh_tui.formats.inception_types import (
    DOCUMENT,
    FS_ARRAY,
    SENTENCE,
    TEXT,
    TOKEN,
    Layer,
    attribute,
)

if TYPE_CHECKING:
    import cassis
    from cassis.typesystem import FeatureStructure

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
    """Makes the CAS of documents. words: applied to every text that is written.

    Raises ExportError where the library is missing.
    """

    def __init__(self, layer: Layer, labels: LabelMap, words: Words = str) -> None:
        self._layer = layer
        self._labels = labels
        self._words = words
        try:
            self._library = library()
            self.types = type_system(layer)
        except MarkError as error:
            raise ExportError(str(error)) from error

    def cas(self, file: File) -> "cassis.Cas":
        """The document."""
        made = self._of_text(file.passage)
        for number in file.numbers:
            self._number(made, number, file.passage)
        return made

    def _new(self, type_: str, **features: object) -> "FeatureStructure":
        """A feature structure, not yet listed in the view."""
        named = {attribute(name): value for name, value in features.items()}
        return self.types.get_type(type_)(**named)

    def _of_text(self, passage: Passage) -> "cassis.Cas":
        """The text with its tokens and turns."""
        layer, text = self._layer, self._words(passage.text)
        made = self._library.Cas(self.types, sofa_string=text, sofa_mime="text")
        end = len(text)
        made.add(self._new(DOCUMENT, begin=0, end=end, language="x-unspecified"))
        if text != passage.text:
            replaced = _replaced(passage.text, text)
            made.add(self._new(TEXT, begin=0, end=end, replaced=replaced))
        tokens = passage.tokens
        for token in tokens:
            made.add(self._new(TOKEN, begin=token.start, end=token.end))
        for turn in passage.turns:
            begin, end = tokens[turn.start].start, tokens[turn.end - 1].end
            line = _line_of(passage, turn.start)
            made.add(self._new(SENTENCE, begin=line, end=end))
            said = {
                layer.turn_number: turn.number,
                layer.speaker: None if turn.speaker is None else self._words(turn.speaker),
                layer.said_from: turn.begin,
                layer.said_until: turn.until,
            }
            made.add(self._new(layer.turn, begin=begin, end=end, **said))
        return made

    def _number(self, made: "cassis.Cas", drawn: Drawn, passage: Passage) -> None:
        """Add a number with its mentions and links."""
        layer = self._layer
        starts = [token.start for token in passage.tokens]
        ends = [token.end for token in passage.tokens]
        graph = graph_of(drawn.answer, drawn.anchor, starts, ends)
        named = renamed(graph, self._labels)
        spots = [
            self._new(layer.head if place else layer.number, begin=spot.start, end=spot.end)
            for place, spot in enumerate(graph.spots)
        ]
        number = spots[0]
        for feature, words in self._features(drawn, named.spots[0].label).items():
            setattr(number, attribute(feature), words)
        links = []
        for ours, theirs in zip(graph.links, named.links, strict=True):
            source, target = spots[ours.source], spots[ours.target]
            if ours.source == 0:
                links.append(self._new(layer.heads_link, role=theirs.label, target=target))
            elif ours.label == SAME:
                link = self._new(layer.same_link, role=theirs.label, target=target)
                setattr(source, attribute(layer.same), self._array([link]))
            else:
                setattr(number, attribute(layer.relation), theirs.label)
        if links:
            setattr(number, attribute(layer.heads), self._array(links))
        made.add_all(spots)

    def _array(self, elements: "list[FeatureStructure]") -> "FeatureStructure":
        return self._new(FS_ARRAY, elements=elements)

    def _features(self, drawn: Drawn, label: str) -> dict[str, str]:
        layer, answer = self._layer, drawn.answer
        found: dict[str, str] = {}
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


class JsonWriter:
    """Makes the folder of documents that INCEpTION's project export has. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = Document(named(how), how.labels)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """annotation/DOCUMENT/NAME.json of each annotator, curation/…/CURATION_USER.json."""
        for file in files(records, ".json"):
            cas = self._document.cas(file)
            yield f"{file.name}.json", cas.to_json(pretty_print=False).encode()


class XmiWriter:
    """Makes the same project in XMI, with one TypeSystem.xml for all. left_out: nothing."""

    def __init__(self, how: Writing) -> None:
        self.left_out: Counter[str] = Counter()
        self._document = Document(named(how), how.labels, writable)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """The type system, and with the first record the members that JsonWriter makes."""
        for rank, file in enumerate(files(records, ".xmi")):
            if not rank:
                yield TYPE_SYSTEM, self._document.types.to_xml().encode()
            yield f"{file.name}.xmi", self._document.cas(file).to_xmi().encode()
