"""Format `brat`: a project of brat, https://brat.nlplab.org, read and written as a folder or
a zip file.

gold/0000001.txt        Ann: Two tickets?
                        Ben: No, three.
gold/0000001.ann        T1<TAB>REFERENCE 27 32<TAB>three
                        T2<TAB>HEAD 9 16<TAB>tickets
                        R1<TAB>HEAD Arg1:T1 Arg2:T2
gold/0000001.nfh.json   tokens, times, and what else brat has no terms for
eva/…                   the same documents with Eva's answers
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.errors import ExportError
from nfh_db.formats.annotation_tasks import Claim, ClaimOutcome, outcome
from nfh_db.formats.base import First, Format, How, InputKind, each, holds
from nfh_db.formats.brat_document import (
    ANN,
    EQUIV,
    NOTES,
    SUFFIX,
    TEXT,
    Author,
    CarriedDocument,
    Folders,
    LineError,
    Name,
    SideFile,
    Standoff,
    counting,
    covering,
    documents,
    file_text,
    fragments,
    kept_items,
    labels_of,
    lines_of,
    own_flags,
    parse,
    part_of,
    parts_in,
    party_of,
    restored_text,
    side_bytes,
    side_of,
    split_of_folder,
    surface,
)
from nfh_db.formats.dialog import block_of_lines
from nfh_db.formats.files import Folder, split_of_name
from nfh_db.formats.rows import (
    IGNORE,
    DialogBlock,
    GoldRow,
    LabelMap,
    ReadOptions,
    Span,
    Writing,
    by_passage,
)
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    HEAD,
    KNOWN_LINKS,
    LINK_LABELS,
    ORIGINS,
    SAME,
    SPAN_LABELS,
    Graph,
    Link,
    MarkedNumber,
    MarkError,
    Spot,
    TokenizedText,
    based,
    meaning,
    numbers,
    read_graph,
    record_graph,
    refusing_strays,
    renamed,
    span_label,
)
from nfh_db.formats.stored_annotation import Restored
from nfh_db.messages import counted, shown, tallied, visible
from nfh_db.records import PERSON, ExportRecord, FlagName, Role
from nfh_db.serialization import turns_of
from nfh_models.domain import Anchor, Answer

# The writer: a folder for the gold, and one for each annotator.

NOUN = "Noun"
"""The type of a note with a noun in words."""

CONF = "annotation.conf"
ATTRIBUTES = {flag: flag.value.capitalize() for flag in FlagName}
"""Attributes of a number for flags."""


def one_line(words: str) -> str:
    """The text of a note: words on one line, single spaces between them."""
    return " ".join(words.split())


class BratWriter:
    """Makes the members of a project. left_out: stays empty."""

    def __init__(self, how: Writing | None = None) -> None:
        self.left_out: Counter[str] = Counter()
        self._names = with_equiv((how or Writing()).labels)
        for name in (*self._names.labels, *self._names.relations):
            if not name or name.split() != [name]:
                raise ExportError(
                    f"brat has no type {shown(name)}: a type has no white space; name another "
                    "one in the file of --map"
                )

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, bytes]]:
        """Passage by passage."""
        folders = Folders()
        yield CONF, configuration(self._names).encode()
        for number, of_passage in enumerate(by_passage(records), 1):
            text, replaced = file_text(of_passage[0].passage.text)
            encoded = text.encode()
            parts = parts_in(of_passage)
            for party in _parties(of_passage, parts):
                folder = folders(party)
                base = f"{folder}/{number:07}"
                yield f"{base}.txt", encoded
                document = _Document(text, self._names, parts)
                yield f"{base}.ann", document.lines(of_passage, party)
                yield f"{base}{SUFFIX}", side_bytes(folder, party, of_passage, replaced)


def _parties(
    records: Sequence[ExportRecord], parts: Sequence[CarriedDocument]
) -> list[Author | None]:
    """The gold, and everybody with a vote, a flag or carried lines in the passage."""
    found: dict[Author | None, None] = {None: None}
    found |= dict.fromkeys(part.by for part in parts)
    for record in records:
        found |= dict.fromkeys(map(Author.of, record.votes))
        answered = {vote.annotator for vote in record.votes}
        flagged = (f.annotator for f in record.flags if f.annotator not in answered)
        found |= dict.fromkeys(map(Author.annotator, flagged))
    return list(found)


def with_equiv(labels: LabelMap) -> LabelMap:
    """The labels of a project, and brat's own relation for mentions of one noun."""
    return LabelMap(labels.labels, {EQUIV: SAME, **labels.relations}, labels.layer)


class _Document:
    """The lines of one `.ann` file."""

    def __init__(self, text: str, names: LabelMap, parts: Sequence[CarriedDocument]) -> None:
        self._text = text
        self._parts = parts
        self._torn: dict[Span, tuple[Span, ...]] = {}
        self._own: dict[Span, str] = {}
        self._labels = names
        self._lines: list[str] = []
        self._ids: Counter[str] = Counter()

    def lines(self, records: Sequence[ExportRecord], party: Author | None) -> bytes:
        """The lines for the numbers of one passage and the answers of one party."""
        carried = [part for part in self._parts if part.by == party]
        for part in carried:
            self._torn |= {(min(one)[0], max(one)[1]): one for one in part.torn}
        for record in records:
            answer = record.gold.answer if party is None and record.gold else None
            for vote in record.votes:
                if answer is None and Author.of(vote) == party:
                    answer = vote.answer
            number = self._graph(record_graph(record, answer))
            for flag in own_flags(record, party):
                self._line("A", f"{ATTRIBUTES[flag.name]} {number}")
            if answer is not None:
                self._note(NOUN, number, answer.noun or "")
                self._note(NOTES, number, answer.comment)
        for part in carried:
            self._lines += lines_of(part, self._ids, self._own)
        return "".join(self._lines).encode()

    def _graph(self, graph: Graph) -> str:
        """Add the lines of one number; return its id."""
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


def configuration(names: LabelMap) -> str:
    """`annotation.conf`: the types of annotations
    (https://brat.nlplab.org/configuration.html).
    """
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


# --- reading one document
# ----------------------------------------------------------------------

FLAGS: Mapping[str, FlagName] = {name: flag for flag, name in ATTRIBUTES.items()}


@dataclass(frozen=True, slots=True)
class BratDocument:
    """A document of one folder."""

    ann: str
    """The name of its `.ann` file."""
    party: Author | None
    side: SideFile | None
    text: str
    """As it was exported."""
    graph: Graph
    """Translated."""
    flags: Mapping[int, tuple[FlagName, ...]]
    """As comments and nouns: by the spot of a number."""
    comments: Mapping[int, str]
    nouns: Mapping[int, str]
    carried: CarriedDocument | None
    split: str | None
    """From the name of the folder or project."""

    @property
    def has_numbers(self) -> bool:
        """At least one number is marked."""
        return any(spot.label in ANSWERS for spot in self.graph.spots)


def document(
    ann: str,
    content: str,
    text: str,
    party: Author | None,
    side: SideFile | None,
    split: str | None,
    how: ReadOptions,
) -> BratDocument:
    """The document of an `.ann` file and its text. Raises MarkError, LineError."""
    found = parse(content)
    to_points = counting(text, how.offsets, tuple(found.spans.values()))
    place = {id_: rank for rank, id_ in enumerate(found.spans)}
    spots, torn = [], list[tuple[Span, ...]]()
    pieces = {
        id_: tuple((to_points(start), to_points(end)) for start, end in span.fragments)
        for id_, span in found.spans.items()
    }
    gaps = []
    for id_, span in found.spans.items():
        (start, end), gap = covering(text, pieces[id_])
        gaps.append(gap)
        if gap:
            torn.append(pieces[id_])
        spots.append(Spot(start, end, span.label))
    spots = _labelled(spots, found, place, how.labels)
    links = _links(found, place)
    how = replace(how, labels=with_equiv(how.labels))
    own = Graph(tuple(spots), tuple(links))
    graph = read_graph(own, how, text, visible(ann), exported=side is not None)
    how.tally.ignored.clear()  # The document carries them.
    for span, spot, gap in zip(found.spans.values(), graph.spots, gaps, strict=True):
        if gap and spot.label in ANSWERS:
            raise LineError(
                span.line,
                f"the number {span.label} has fragments with other words between them; a "
                "number is one stretch of text",
            )
    words = _NumberNotes(found, place, graph, how.labels)
    return BratDocument(
        ann,
        party,
        side,
        restored_text(text, side.replaced if side else ()),
        graph,
        words.flags,
        words.notes(NOTES),
        words.notes(NOUN),
        part_of(party, content, found, words.unused, words.own, pieces, torn),
        split,
    )


def _is_ignored(relation: str, labels: LabelMap) -> bool:
    return meaning(relation, labels.relations, KNOWN_LINKS) == IGNORE


def _labelled(
    spots: Sequence[Spot], found: Standoff, place: Mapping[str, int], labels: LabelMap
) -> list[Spot]:
    """The spots, numbers with the kind that an attribute gives them ("Class T1 YEAR")."""
    spots = list(spots)
    for attribute in found.attributes:
        kind = span_label(attribute.value, labels)
        here = place.get(found.span_of(attribute.target))
        if (
            kind in ANSWERS
            and here is not None
            and span_label(spots[here].label, labels) == ANCHOR
        ):
            spots[here] = replace(spots[here], label=attribute.value)
    return spots


def _links(found: Standoff, place: Mapping[str, int]) -> list[Link]:
    links = [
        Link(place[found.span_of(arc.source)], place[found.span_of(arc.target)], arc.label)
        for arc in found.arcs
    ]
    for _, label, members in found.equivs:
        first, *others = (place[found.span_of(id_)] for id_ in members)
        links += [Link(other, first, label) for other in others]
    return links


class _NumberNotes:
    """The attributes and notes of numbers, and the lines that are of no use."""

    def __init__(
        self, found: Standoff, place: Mapping[str, int], graph: Graph, labels: LabelMap
    ) -> None:
        self._found = found
        self._numbers = {
            id_: rank for id_, rank in place.items() if graph.spots[rank].label in ANSWERS
        }
        spots = graph.spots
        self.own = {
            id_: (spots[rank].start, spots[rank].end)
            for id_, rank in place.items()
            if spots[rank].label != IGNORE
        }
        self.flags: dict[int, tuple[FlagName, ...]] = {}
        self.unused = {line for line, _ in found.others}
        self.unused |= {one.line for id_, one in found.spans.items() if id_ not in self.own}
        # Links to be ignored are of no use either, nor those of spans to be ignored. An event
        # has a line with several.
        named = [(arc.line, arc.label) for arc in found.arcs]
        named += [(line, label) for line, label, _ in found.equivs]
        ignored = {line for line, label in named if _is_ignored(label, labels)}
        self.unused |= ignored - {
            line for line, label in named if not _is_ignored(label, labels)
        }
        ends: list[tuple[int, tuple[str, ...]]] = [
            (arc.line, (arc.source, arc.target)) for arc in found.arcs
        ]
        ends += [(line, members) for line, _, members in found.equivs]
        ends += [(line, (trigger,)) for line, trigger in found.triggers.values()]
        self.unused |= {
            line
            for line, members in ends
            if any(found.span_of(id_) not in self.own for id_ in members)
        }
        for attribute in found.attributes:
            here = self._number(attribute.target)
            flag = FLAGS.get(attribute.name)
            if here is not None and flag is not None:
                self.flags[here] = (*self.flags.get(here, ()), flag)
            elif here is None or attribute.value not in ANSWERS:
                self.unused.add(attribute.line)
        self.unused |= {
            note.line
            for note in found.notes
            if self._number(note.target) is None or note.type not in (NOTES, NOUN)
        }

    def _number(self, target: str) -> int | None:
        return self._numbers.get(self._found.span_of(target))

    def notes(self, type_: str) -> dict[int, str]:
        """The notes of a type by the spot of their number; several on one are joined by ";
        ".
        """
        found: dict[int, str] = {}
        for note in self._found.notes:
            here = self._number(note.target)
            if note.type == type_ and here is not None:
                found[here] = f"{found[here]}; {note.words}" if here in found else note.words
        return found


# --- reading a project
# -------------------------------------------------------------------------


NOTHING = ClaimOutcome()


def read(source: Folder, how: ReadOptions) -> Iterator[GoldRow | DialogBlock]:
    """The rows of a project: numbers, and dialogs of texts without a number.

    A document that several folders have is read with all of them. Raises FormatError.
    """
    reader = _Reader(source, how)
    for names in documents(source).values():
        yield from reader.rows(names)
    source.warnings += reader.warnings()


class _Reader:
    def __init__(self, source: Folder, how: ReadOptions) -> None:
        self._source = source
        self._how = how
        self._names = frozenset(source.names)
        self._counts: Counter[str] = Counter()
        self._people: set[str] = set()
        """Annotators who are known by the names of their folders only."""
        self._differing: list[str] = []
        """Documents with different texts."""
        self._row = 0
        self._split = split_of_name(source.path.stem)

    def rows(self, names: Sequence[Name]) -> Iterator[GoldRow | DialogBlock]:
        """The rows of a document. If its folders have different texts, each is a passage."""
        texts: dict[str, list[BratDocument]] = {}
        for name in names:
            one = self._document(name)
            texts.setdefault(one.text, []).append(one)
        if len(texts) > 1:
            self._differing.append(names[0].base)
        for found in texts.values():
            if any(one.has_numbers or one.side for one in found):
                yield from self._with_numbers(found)
            else:
                yield self._dialog(found)

    def _document(self, name: Name) -> BratDocument:
        text = self._source.text(name.base + TEXT)
        ann, beside = name.base + ANN, name.base + SUFFIX
        content = self._source.text(ann) if ann in self._names else ""
        with self._source.refusing_member(beside, MarkError):
            side = side_of(self._source.read(beside)) if beside in self._names else None
        split = split_of_folder(name.folder) or self._split
        try:
            party = party_of(name.folder, side)
            found = document(ann, content, text, party, side, split, self._how)
        except MarkError as error:
            line = error.line if isinstance(error, LineError) else None
            raise self._source.member_error(ann, line, str(error)) from error
        if found.carried is not None:
            self._counts["torn"] += len(found.carried.torn)
            self._counts["unused"] += len(found.carried.lines)
        if party is not None and found.has_numbers and side is None:
            self._people.add(party.name)
        return found

    def _dialog(self, found: Sequence[BratDocument]) -> DialogBlock:
        """A text without a number. Raises FormatError for a mention in it."""
        for one in found:
            with self._source.refusing_member(one.ann, MarkError):
                numbers(one.graph)
        labels = labels_of([one.carried for one in found if one.carried])
        block = block_of_lines(list(enumerate(found[0].text.split("\n"), 1)))
        return replace(block, labels=labels, split=found[0].split)

    def _with_numbers(self, found: Sequence[BratDocument]) -> Iterator[GoldRow]:
        side = next((one.side for one in found if one.side), None)
        spots = [s for one in found for s in one.graph.spots if s.label != IGNORE]
        with self._source.refusing_member(found[0].ann, MarkError, ValueError):
            base = based(
                found[0].text,
                [(spot.start, spot.end) for spot in spots],
                self._how,
                side.offsets if side else None,
                turns_of(side.turns) if side else None,
            )
        self._counts["cut"] += base.cut
        labels = labels_of([one.carried for one in found if one.carried])
        seen: set[Span] = set()
        for one in found:
            with self._source.refusing_member(one.ann, MarkError):
                for row in self._numbers(one, base, seen):
                    yield replace(row, labels=labels) if labels else row
                    labels = None

    def _numbers(
        self, one: BratDocument, base: TokenizedText, seen: set[Span]
    ) -> Iterator[GoldRow]:
        kept = kept_items(one.side, one.text) if one.side else {}
        own: dict[Span, ClaimOutcome] = {}
        for marked in numbers(one.graph):
            item = kept.pop(marked.anchor, None)
            try:
                result = self._outcome(one, marked, base, item)
            except MarkError as error:
                start, end = marked.anchor
                words = shown(one.text[start:end])
                raise MarkError(f"the number {words} at {start} to {end}: {error}") from error
            if own.setdefault(marked.anchor, result) is not result:
                self._check_same(own[marked.anchor], result, marked)
                continue
            if replace(result, changed=False) == NOTHING and marked.anchor in seen:
                continue
            seen.add(marked.anchor)
            self._row += 1
            yield GoldRow(
                self._row,
                base.alignment.passage,
                Anchor(*base.alignment.tokens(*marked.anchor)),
                (item.split if item else None) if one.side else one.split,
                result.gold,
                result.votes,
                result.flags,
                tokenizer=base.tokenizer,
            )
        self._counts["gone"] += sum(bool(k.gold or k.votes or k.flags) for k in kept.values())

    def _outcome(
        self,
        one: BratDocument,
        marked: MarkedNumber,
        base: TokenizedText,
        item: Restored | None,
    ) -> ClaimOutcome:
        party, flags = one.party, one.flags.get(marked.spot, ())
        if item is not None:
            # Flags that the document no longer shows are removed.
            item = replace(item, flags=tuple(f for f in item.flags if f.name in flags))
        before = _stored_answer(item, party)
        claim = Claim(
            None if party is None else party.name,
            gold=party is None,
            flags=flags,
            noun=_words(one.nouns.get(marked.spot, ""), before.noun if before else None),
            comment=_words(
                one.comments.get(marked.spot, ""), before.comment if before else None
            ),
            type=party.type if party else PERSON,
            role=party.role if party else Role.ANNOTATOR,
        )
        self._counts["flags of nobody"] += len(flags) if party is None else 0
        result = outcome(claim, marked, marked.graph, base.alignment, self._how, item)
        self._counts["changed"] += result.changed
        self._counts["unsaid"] += bool(result.unsaid)
        return result

    @staticmethod
    def _check_same(first: ClaimOutcome, second: ClaimOutcome, marked: MarkedNumber) -> None:
        def content(one: ClaimOutcome) -> object:
            return (
                one.gold and one.gold.answer,
                [vote.answer for vote in one.votes],
                {flag.name for flag in one.flags},
            )

        if content(first) != content(second):
            start, end = marked.anchor
            raise MarkError(
                f"a number is marked twice at {start} to {end}, with different answers"
            )

    def warnings(self) -> Iterator[str]:
        """A sentence for each count that is not 0."""
        if self._people:
            yield f"folders read as answers of {', '.join(sorted(self._people))}"
        yield from tallied((self._counts[key], *words) for key, words in WARNINGS.items())
        if self._differing:
            yield (
                f"{counted(len(self._differing), 'document')} whose text is not the same in "
                f"all folders, read as several; the first is {self._differing[0]}"
            )


WARNINGS = {
    "changed": ("answer", "changed in brat since export"),
    "gone": ("answer", "left out: their numbers are no longer marked"),
    "unsaid": ("note", "left out: the number has nothing else"),
    "torn": ("span", "of several fragments read as one, from the first fragment to the last"),
    "cut": ("token", "cut where a mark begins or ends"),
    "unused": ("line", "of other things carried along as they are"),
    "flags of nobody": ("flag", "left out: nobody's folder holds them"),
}
"""What is counted, and the warning of each count."""


def _stored_answer(item: Restored | None, party: Author | None) -> Answer | None:
    if item is None:
        return None
    if party is None:
        return item.gold.answer if item.gold else None
    return next((vote.answer for vote in item.votes if vote.annotator == party.name), None)


def _words(note: str, before: str | None) -> str:
    """The stored words if a note shows them on one line; else the note."""
    return before if before is not None and one_line(before) == note else note


def sniff(first: First) -> str | None:
    """Why a folder is a brat project."""
    names = set(first.names)
    pair = next(
        (n for n in first.names if n.endswith(ANN) and n.removesuffix(ANN) + TEXT in names),
        None,
    )
    return None if pair is None else "it holds texts with the .ann files of brat beside them"


BRAT = Format(
    name="brat",
    extensions=(".zip",),
    description=(
        "a brat project, a folder or zip: texts with .ann files beside them, a folder for gold "
        "and one for each who answered"
    ),
    example="",
    read=refusing_strays(read),
    sniff=sniff,
    members=BratWriter,
    takes=(InputKind.FOLDER,),
    carries_split=True,
    holds=holds(
        How.SIDE,
        **each(How.OWN, "KIND HEADS RELATION ORIGIN SORT NOUN COMMENT VOTES FLAGS GOLD"),
    ),
    settings=frozenset({"map", "offsets", "window"}),
)
