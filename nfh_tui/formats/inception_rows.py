"""What the documents of INCEpTION come to: rows of votes and gold, a document's files at once.

All files of a document have one text and one set of tokens. A number that came from here
carries our own JSON (see `nfh_db.formats.stored`); what INCEpTION shows wins over it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import msgspec

from nfh_db.formats.claims import Claim, outcome
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.grid import Grid, MarkError, based
from nfh_db.formats.marked import (
    ANCHOR,
    HEAD,
    SAME,
    WITH_RELATION,
    Graph,
    Link,
    Spot,
    numbers,
    translated,
)
from nfh_db.formats.options import IGNORE, Reading
from nfh_db.formats.rows import DialogBlock, GoldRow
from nfh_db.formats.stored import Restored, StoredItem, restored
from nfh_db.formats.wording import counted, shown, tallied, visible
from nfh_models.domain import Anchor, Kind, Relation, Turn
from nfh_tui.formats.inception_cas import Cas, Linked, Number
from nfh_tui.formats.inception_documents import writable
from nfh_tui.formats.inception_names import Member, Part, user_file

JOINED = {relation: label for label, relation in WITH_RELATION.items()}


@dataclass(slots=True)
class Counts:
    """What was left out of the files, for the sentences at the end."""

    other: Counter[str] = field(default_factory=Counter)
    loose: int = 0
    nowhere: int = 0
    twice: int = 0
    empty: int = 0
    ignored: int = 0
    given: int = 0
    changed: int = 0

    def add(self, cas: Cas) -> None:
        """Count what one file holds that means nothing here."""
        self.other += cas.other
        self.loose += len(cas.loose)
        self.nowhere += cas.nowhere
        self.twice += cas.twice
        self.empty += cas.empty

    def warnings(self) -> Iterator[str]:
        """One sentence on each that there was."""
        if self.other:
            layers = ", ".join(visible(name) for name in sorted(self.other)[:8])
            total = counted(sum(self.other.values()), "annotation")
            yield f"{total} of layers that say nothing of numbers left out: {layers}"
        said = (
            (self.loose, "mention", "that no number is linked to left out"),
            (self.nowhere, "link", "that lead nowhere left out"),
            (self.twice, "link", "to what is linked already taken once"),
            (self.empty, "token", "without a character left out"),
            (self.ignored, "number", "left out, as the mapping says"),
            (
                self.given,
                "number",
                "answered in the document as it was given out: those "
                "answers are nobody's, and left out",
            ),
            (
                self.changed,
                "answer",
                "changed since they were exported: what the file shows counts",
            ),
        )
        yield from tallied(said)


@dataclass(frozen=True, slots=True)
class Filed:
    """One file of a document."""

    member: Member
    cas: Cas


class WrongFileError(MarkError):
    """What is wrong with one file of a document."""

    def __init__(self, member: Member, message: str) -> None:
        super().__init__(message)
        self.member = member


class DocumentReader:
    """Makes rows of documents, one after another. counts: of all so far."""

    def __init__(self, how: Reading) -> None:
        self.counts = Counts()
        self._how = how
        self._line = 0

    def rows(self, files: Sequence[Filed]) -> Iterator[GoldRow | DialogBlock]:
        """The rows of one document's files, of which there is at least one. Raises
        WrongFileError.
        """
        for file in files:
            self.counts.add(file.cas)
            if file.member.user and not is_a_name(file.member.user):
                raise WrongFileError(
                    file.member, f"its name is no annotator's; wanted {A_NAME}"
                )
        first = files[0].cas
        for file in files[1:]:
            if (file.cas.text, file.cas.tokens) != (first.text, first.tokens):
                raise WrongFileError(
                    file.member,
                    f"its text or tokens are not those of {visible(files[0].member.name, 200)}",
                )
        _check_turns(files)
        if not any(file.cas.numbers for file in files):
            self._line += 1
            yield block_of(first.text, self._line)
            return
        try:
            grid, tokenizer = self._grid([file.cas for file in files])
        except MarkError as error:
            raise WrongFileError(files[0].member, str(error)) from error
        open_ = set()
        for file in files:
            for row in self._of_file(file, grid, tokenizer):
                brings = row.gold or row.votes or row.flags
                if brings or row.anchor not in open_:
                    open_.add(row.anchor)
                    yield row

    def _grid(self, all_: Sequence[Cas]) -> tuple[Grid, str | None]:
        """Tokens on whose bounds all marks of all files lie. Those of a text that came from
        here are never cut: its answers would be of another text.
        """
        first = all_[0]
        ours = next((number.kept for cas in all_ for number in cas.numbers if number.kept), "")
        marks = [] if ours else [span for cas in all_ for span in _marks(cas)]
        turns = _turns(next((cas for cas in all_ if cas.turns), first))
        if ours:
            turns = _as_exported(turns, _item_of(ours))
        made = based(first.text, marks, self._how, first.tokens or None, turns)
        return made.grid, made.tokenizer

    def _of_file(self, file: Filed, grid: Grid, tokenizer: str | None) -> Iterator[GoldRow]:
        before: dict[object, Number] = {}
        for number in file.cas.numbers:
            alike = replace(number, id=0)
            same = before.setdefault(number.span, alike)
            if same != alike:
                raise WrongFileError(
                    file.member,
                    f"{_item(number, file.cas)}: another number at this place says "
                    "something else; wanted one",
                )
            if same is not alike:
                continue
            self._line += 1
            try:
                row = self._row(file, number, grid)
            except MarkError as error:
                raise WrongFileError(
                    file.member, f"{_item(number, file.cas)}: {error}"
                ) from error
            if row is not None:
                yield replace(row, tokenizer=tokenizer)

    def _row(self, file: Filed, number: Number, grid: Grid) -> GoldRow | None:
        how = self._how
        number = self._with_loose(file.cas, number)
        exact = translated(_drawn(number, how), how.labels)
        if exact.spots[0].label == IGNORE:
            self.counts.ignored += 1
            return None
        marked = numbers(translated(_tolerant(number, how), how.labels))[0]
        first, stop = grid.tokens(*number.span)
        kept = _kept(number, grid)
        foreign = kept is None
        if kept is not None and (kept.anchor.start, kept.anchor.end) != (first, stop):
            kept = None  # The number was moved: what was kept is of another one.
        anchor = kept.anchor if kept else Anchor(first, stop)
        row = GoldRow(
            self._line,
            kept.passage if kept else grid.passage,
            anchor,
            kept.split if kept else None,
            None,
            (),
            (),
            foreign=foreign,
        )
        if file.member.part is Part.INITIAL:
            self.counts.given += bool(number.kind or number.heads)
            return replace(
                row, votes=kept.votes if kept else (), flags=kept.flags if kept else ()
            )
        claim = _claim(file.member, number, kept)
        found = outcome(claim, marked, exact, grid, how, kept)
        self.counts.changed += found.changed
        return replace(row, gold=found.gold, votes=found.votes, flags=found.flags)

    def _with_loose(self, cas: Cas, number: Number) -> Number:
        """An only number that lacks a noun, with the mentions that no link leads to."""
        kind = self._how.labels.labels.get(number.kind, number.kind)
        lacks = kind == Kind.REFERENCE or not (kind or number.kept)
        if number.heads or not cas.loose or not lacks or len(cas.numbers) > 1:
            return number
        self.counts.loose -= len(cas.loose)
        return replace(number, heads=tuple(Linked(span, HEAD, None) for span in cas.loose))


def _item(number: Number, cas: Cas) -> str:
    start, end = number.span
    return f"the number {number.id} at {start} to {end}, {shown(cas.text[start:end])}"


def _marks(cas: Cas) -> Iterator[tuple[int, int]]:
    for number in cas.numbers:
        yield number.span
        yield from (head.span for head in number.heads)
    yield from cas.loose


def _claim(member: Member, number: Number, kept: Restored | None) -> Claim:
    """Whose answer it is, with the words that the file could not hold as they were."""
    gold = member.part is Part.CURATION
    who = None if gold else member.user or None
    if kept is not None and not gold:
        names = {vote.annotator for vote in kept.votes}
        names |= {flag.annotator for flag in kept.flags}
        if len(names) == 1 and (
            member.part is Part.LOOSE or user_file(next(iter(names))) == _stem(member)
        ):
            who = names.pop()
    answers = [vote.answer for vote in kept.votes] if kept else []
    if kept and kept.gold and (gold or who is None):
        answers = [kept.gold.answer]
    noun, comment = number.noun, number.comment
    for answer in answers:
        if writable(answer.noun or "") == noun:
            noun = answer.noun or ""
        if writable(answer.comment) == comment:
            comment = answer.comment
    return Claim(who, gold=gold, noun=noun, comment=comment)


def _stem(member: Member) -> str:
    return member.name.rpartition("/")[2].rpartition(".")[0]


# --- a number as a graph --------------------------------------------------------------------


def _spots(number: Number, how: Reading) -> tuple[Spot, ...]:
    label = number.kind or ANCHOR
    names = how.labels.labels
    if number.sort and names.get(label, label) == Kind.OTHER:
        label = f"{Kind.OTHER}_{names.get(number.sort, number.sort)}"
    return (
        Spot(*number.span, label),
        *(Spot(*head.span, HEAD) for head in number.heads),
    )


def _role(role: str, how: Reading) -> str:
    """A link's role in our words, where it is one that needs no mapping."""
    if role in how.labels.relations:
        return role
    return {"": HEAD, Relation.AND: f"{HEAD}_AND", Relation.OR: f"{HEAD}_OR"}.get(role, role)


def _drawn(number: Number, how: Reading) -> Graph:
    """The graph that is drawn, link by link."""
    links = [Link(0, i, _role(head.role, how)) for i, head in enumerate(number.heads, 1)]
    links += [
        Link(i, head.same + 1, SAME)
        for i, head in enumerate(number.heads, 1)
        if head.same is not None
    ]
    if number.relation:
        firsts = [i for i, head in enumerate(number.heads, 1) if head.same is None]
        links += [Link(one, two, number.relation) for one, two in pairwise(firsts)]
    return Graph(_spots(number, how), tuple(links))


def _tolerant(number: Number, how: Reading) -> Graph:
    """The graph that is meant where no link says which mentions are one noun: the relation
    then says nothing of that either. What came from here was linked whole.
    """
    told = bool(number.kept) or any(head.same is not None for head in number.heads)
    if told or not number.relation:
        return _drawn(number, how)
    relation = how.labels.relations.get(number.relation, number.relation)
    roles = [_role(head.role, how) for head in number.heads]
    if relation in JOINED and HEAD in roles:
        roles[roles.index(HEAD)] = JOINED[Relation(relation)]
    elif relation not in tuple(Relation) and relation != IGNORE:
        raise MarkError(
            f"the relation {shown(relation)} is not known; wanted one of "
            f"{', '.join(Relation)}, or a file that says what it means (--map)"
        )
    links = tuple(Link(0, i, role) for i, role in enumerate(roles, 1))
    return Graph(_spots(number, how), links)


# --- text -----------------------------------------------------------------------------------


def _kept(number: Number, grid: Grid) -> Restored | None:
    if not number.kept:
        return None
    passage = grid.passage
    offsets = list(zip(passage.starts, passage.ends, strict=True))
    return restored(_item_of(number.kept), passage.text, offsets)


def _item_of(kept: str) -> StoredItem:
    try:
        return msgspec.json.decode(kept, type=StoredItem)
    except (msgspec.MsgspecError, UnicodeEncodeError) as error:
        raise MarkError(f"the feature of our own does not hold: {error}") from error


def _check_turns(files: Sequence[Filed]) -> None:
    """Raise WrongFileError for a file whose turns are not those that another one shows."""
    turned = [file for file in files if file.cas.turns]
    for file in turned[1:]:
        if set(file.cas.turns) != set(turned[0].cas.turns):
            raise WrongFileError(
                file.member, f"its turns are not those of {visible(turned[0].member.name, 200)}"
            )


def _as_exported(turns: Sequence[Turn] | None, item: StoredItem) -> list[Turn]:
    """The turns as they went out, where a file may not hold their speakers as they are.

    Raises MarkError where what the file shows is something else.
    """
    out = [Turn(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in item.turns]
    if turns is None or list(map(_written, out)) == list(map(_written, turns)):
        return out
    raise MarkError(
        "the turns were changed since the document was exported; wanted them as they were"
    )


def _written(turn: Turn) -> Turn:
    return replace(turn, speaker=None if turn.speaker is None else writable(turn.speaker))


def _turns(cas: Cas) -> list[Turn] | None:
    """The turns that are marked, by their tokens; None where none are.

    Raises MarkError unless they hold each token once.
    """
    if not cas.turns or not cas.tokens:
        return None
    at = {start: index for index, (start, _) in enumerate(cas.tokens)}
    until = {end: index + 1 for index, (_, end) in enumerate(cas.tokens)}
    turns = []
    place = number = 0
    for spoken in sorted(cas.turns, key=lambda one: one.span):
        start, end = spoken.span
        first, stop = at.get(start), until.get(end)
        if first != place or stop is None or stop <= first or spoken.number < number:
            raise MarkError(
                f"the turn {spoken.number} at {start} to {end} does not follow the one before; "
                "wanted turns that hold each token once, with numbers that never fall"
            )
        turns.append(
            Turn(spoken.number, spoken.speaker, first, stop, spoken.begin, spoken.until)
        )
        place, number = stop, spoken.number
    if place != len(cas.tokens):
        raise MarkError(f"the turns hold {place} of {len(cas.tokens)} tokens; wanted all")
    return turns
