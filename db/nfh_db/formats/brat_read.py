"""A brat project to rows: documents in folders, one folder for each who answered."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nfh_db.formats.brat_ann import LineError
from nfh_db.formats.brat_carried import labels_of
from nfh_db.formats.brat_doc import Document, Numbers, document, marks_in
from nfh_db.formats.brat_names import (
    ANN,
    TEXT,
    Name,
    documents,
    party_of,
    split_of_folder,
)
from nfh_db.formats.brat_side import SUFFIX, Party, kept_items, side_of
from nfh_db.formats.brat_write import one_line
from nfh_db.formats.claims import Claim, Outcome, outcome
from nfh_db.formats.dialog import split_speaker
from nfh_db.formats.folders import Folder
from nfh_db.formats.grid import Based, MarkError, based
from nfh_db.formats.marked import Graph, Marked, numbers
from nfh_db.formats.options import Reading, Span
from nfh_db.formats.rows import DialogBlock, DialogTurn, GoldRow
from nfh_db.formats.splits import split_of_name
from nfh_db.formats.stored import Restored
from nfh_db.formats.wording import counted, shown
from nfh_models.domain import Anchor, Answer, Turn

NOTHING = Outcome()


def read(source: Folder, how: Reading) -> Iterator[GoldRow | DialogBlock]:
    """The numbers of a project's documents; texts in which none is marked, as dialogs.

    A document that stands in several folders is read with all of them. Offsets in it are code
    points, or what `how` says. Raises FormatError.
    """
    reader = _Reader(source, how)
    for names in documents(source).values():
        yield from reader.rows(names)
    reader.warn()


@dataclass(slots=True)
class _Tally:
    """What a person should know at the end, by the folders and documents it is about."""

    changed: int = 0
    gone: int = 0
    unsaid: int = 0
    torn: int = 0
    unused: int = 0
    cut: int = 0
    nobodys: int = 0
    people: set[str] = field(default_factory=set)
    differing: list[str] = field(default_factory=list)


class _Reader:
    """Reads document by document."""

    def __init__(self, source: Folder, how: Reading) -> None:
        self._source = source
        self._how = how
        self._names = frozenset(source.names)
        self._tally = _Tally()
        self._row = 0
        self._split = split_of_name(source.path.stem)

    def rows(self, names: Sequence[Name]) -> Iterator[GoldRow | DialogBlock]:
        """The rows of a document: of each text that its folders have of it, mostly one."""
        texts: dict[str, list[Document]] = {}
        for name in names:
            one = self._document(name)
            texts.setdefault(one.text, []).append(one)
        if len(texts) > 1:
            self._tally.differing.append(names[0].base)
        for found in texts.values():
            if any(one.numbers or one.side for one in found):
                yield from self._marked(found)
            else:
                yield self._dialog(found)

    def _document(self, name: Name) -> Document:
        text = self._source.text(name.base + TEXT)
        ann, beside = name.base + ANN, name.base + SUFFIX
        content = self._source.text(ann) if ann in self._names else ""
        try:
            side = side_of(self._source.read(beside)) if beside in self._names else None
        except MarkError as error:
            raise self._source.member_error(beside, None, str(error)) from error
        try:
            party = party_of(name.folder, side)
            found = document(ann, content, text, party, side, self._how)
            found = replace(found, split=split_of_folder(name.folder) or self._split)
        except LineError as error:
            raise self._source.member_error(ann, error.line, str(error)) from error
        except MarkError as error:
            raise self._source.member_error(ann, None, str(error)) from error
        self._tally.torn += found.torn
        self._tally.unused += found.unused
        if found.party.name is not None and found.numbers and found.side is None:
            self._tally.people.add(found.party.name)
        return found

    def _dialog(self, found: Sequence[Document]) -> DialogBlock:
        """A text in which no folder marks a number; nor may one mark a mention then."""
        for one in found:
            try:
                numbers(one.graph)
            except MarkError as error:
                raise self._source.member_error(one.ann, None, str(error)) from error
        labels = labels_of([one.besides for one in found if one.besides])
        return replace(_block(found[0].text), labels=labels, split=found[0].split)

    # --- documents with numbers ---------------------------------------------------------

    def _marked(self, found: Sequence[Document]) -> Iterator[GoldRow]:
        base = self._based(found)
        labels = labels_of([one.besides for one in found if one.besides])
        seen: set[Span] = set()
        for one in found:
            try:
                for row in self._numbers(one, base, seen):
                    yield replace(row, labels=labels)
                    labels = None
            except MarkError as error:
                raise self._source.member_error(one.ann, None, str(error)) from error

    def _based(self, found: Sequence[Document]) -> Based:
        """The text with tokens that fit the marks of all folders."""
        side = next((one.side for one in found if one.side), None)
        tokens = turns = None
        if side is not None:
            tokens = side.offsets
            turns = [
                Turn(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in side.turns
            ]
        marks = [mark for one in found for mark in marks_in(one)]
        try:
            base = based(found[0].text, marks, self._how, tokens, turns)
        except (MarkError, ValueError) as error:
            raise self._source.member_error(found[0].ann, None, str(error)) from error
        self._tally.cut += base.cut
        return base

    def _numbers(self, one: Document, base: Based, seen: set[Span]) -> Iterator[GoldRow]:
        kept = kept_items(one.side, one.text) if one.side else {}
        own: dict[Span, Outcome] = {}
        graphs = Numbers(one.graph)
        for marked in numbers(one.graph):
            item = kept.pop(marked.anchor, None)
            try:
                item = item and _drawn_only(item, one, marked)
                graph = graphs.alone(marked.spot)
                result = self._outcome(one, marked, graph, base, item)
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
                base.grid.passage,
                Anchor(*base.grid.tokens(*marked.anchor)),
                (item.split if item else None) if one.side else one.split,
                result.gold,
                result.votes,
                result.flags,
                tokenizer=base.tokenizer,
            )
        self._tally.gone += sum(bool(k.gold or k.votes or k.flags) for k in kept.values())

    def _outcome(
        self,
        one: Document,
        marked: Marked,
        graph: Graph,
        base: Based,
        item: Restored | None,
    ) -> Outcome:
        party, flags = one.party, one.flags.get(marked.spot, ())
        before = _before(item, party)
        if party.name is None and flags:
            self._tally.nobodys += len(flags)
        claim = Claim(
            party.name,
            gold=party.name is None,
            flags=flags,
            type=party.type,
            role=party.role,
            noun=_said(one.nouns.get(marked.spot, ""), before.noun if before else None),
            comment=_said(
                one.comments.get(marked.spot, ""), before.comment if before else None
            ),
        )
        result = outcome(claim, marked, graph, base.grid, self._how, item)
        self._tally.changed += result.changed
        self._tally.unsaid += bool(result.unsaid)
        return result

    @staticmethod
    def _check_same(first: Outcome, second: Outcome, marked: Marked) -> None:
        def content(one: Outcome) -> object:
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

    # --- at the end ---------------------------------------------------------------------

    def warn(self) -> None:
        """Add what was counted to the source's warnings."""
        tally = self._tally
        said = (
            (tally.people, f"folders read as answers of {', '.join(sorted(tally.people))}"),
            (tally.changed, f"{counted(tally.changed, 'answer')} changed in brat since export"),
            (
                tally.gone,
                f"{counted(tally.gone, 'answer')} left out: their numbers are no longer marked",
            ),
            (
                tally.unsaid,
                f"{counted(tally.unsaid, 'note')} left out: nothing else is said of the number",
            ),
            (
                tally.torn,
                f"{counted(tally.torn, 'span')} of several fragments read as one, from the "
                "first fragment to the last",
            ),
            (tally.cut, f"{counted(tally.cut, 'token')} cut where a mark begins or ends"),
            (
                tally.unused,
                f"{counted(tally.unused, 'line')} of other things carried along as they are",
            ),
            (
                tally.nobodys,
                f"{counted(tally.nobodys, 'flag')} left out: nobody's folder holds them",
            ),
            (
                tally.differing,
                f"{counted(len(tally.differing), 'document')} whose text is not the same in "
                f"all folders, read as several; the first is {''.join(tally.differing[:1])}",
            ),
        )
        self._source.warnings.extend(sentence for any_, sentence in said if any_)


def _before(item: Restored | None, party: Party) -> Answer | None:
    """The answer kept of a party."""
    if item is None:
        return None
    if party.name is None:
        return item.gold.answer if item.gold else None
    own = [vote for vote in item.votes if vote.annotator == party.name]
    return own[0].answer if own else None


def _said(note: str, before: str | None) -> str:
    """What a note says: words kept along, as long as it shows those on one line."""
    return before if before is not None and one_line(before) == note else note


def _drawn_only(item: Restored, one: Document, marked: Marked) -> Restored:
    """What was kept, without the flags that the document no longer shows."""
    shown_flags = one.flags.get(marked.spot, ())
    return replace(item, flags=tuple(f for f in item.flags if f.name in shown_flags))


def _block(text: str) -> DialogBlock:
    """A text in which nothing is marked: each line is a turn, as where something is."""
    turns, place = [], 0
    for rank, line in enumerate(text.split("\n")):
        speaker, start = split_speaker(line)
        turns.append(DialogTurn(rank + 1, rank, speaker, place + start, place + len(line)))
        place += len(line) + 1
    return DialogBlock(text, tuple(turns))
