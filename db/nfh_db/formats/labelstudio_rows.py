"""A task of Label Studio made into rows: what its annotations say of each number in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from nfh_db.clock import now
from nfh_db.formats.claims import on_grid, outcome
from nfh_db.formats.dialog import block_of
from nfh_db.formats.graph_parts import alone
from nfh_db.formats.grid import Grid, MarkError
from nfh_db.formats.json_parts import carried_of
from nfh_db.formats.labelstudio_json import NAME, Tags, Task
from nfh_db.formats.labelstudio_layout import tags_of
from nfh_db.formats.labelstudio_marks import COMMENT, NOUN
from nfh_db.formats.labelstudio_said import AsKept, Said, Speakers
from nfh_db.formats.labelstudio_tally import Tally
from nfh_db.formats.labelstudio_text import OURS, TEXT, Canvas, canvas_of, on_bounds
from nfh_db.formats.options import Reading
from nfh_db.formats.rows import DialogBlock, DialogTurn, GoldRow, Row
from nfh_db.formats.stored import KEY, Restored, StoredItem, restored
from nfh_db.records import PERSON, FlagMark, FlagName, Gold, Role, Vote
from nfh_models.domain import Anchor

DEFAULTS = (b"null", b"{}")

_items = msgspec.json.Decoder(StoredItem)
_number = msgspec.json.Decoder(int)


@dataclass(slots=True)
class _Found:
    """What all of a task say of one number. golds: with whether it is the one kept along."""

    golds: list[tuple[Gold, bool]] = field(default_factory=list)
    votes: dict[tuple[str, Role], Vote] = field(default_factory=dict)
    flags: dict[tuple[FlagName, str], FlagMark] = field(default_factory=dict)

    def flag(self, flag: FlagMark) -> None:
        self.flags.setdefault((flag.name, flag.annotator), flag)


def rows_of(task: Task, line: int, how: Reading, tally: Tally) -> Iterator[Row]:
    """The rows of a task, one for each number in it. line: the task's rank in the file, since
    an export has all of them on one line.

    Raises MarkError.
    """
    data = task.data or {}
    canvas = canvas_of(data, how, html=lambda: _is_html(task))
    kept, first = _kept(data, canvas.text)
    speakers = Speakers(task, canvas, how, tally, kept, first)
    said = list(speakers.said())
    skips = list(speakers.skips())
    tally.counts["drafts"] += len(task.drafts or ())
    tally.counts["blurred"] += len(canvas.blurred)
    tally.counts["unsure"] += len(canvas.doubts)
    bare = [one for one in said if isinstance(one, Said) and one.bare]
    tally.counts["words"] += sum(bool(one.sheet.said) for one in bare)
    if kept is None and not any(isinstance(one, Said) and one.marked for one in said):
        tally.counts["skips without a number"] += len(skips)
        tally.counts["raw"] += 1
        yield replace(_raw(canvas, line), labels=_carried(task, canvas, None))
        return
    tally.counts["silent"] += len(bare) if kept is None else 0
    table = _Table.of(canvas, kept, said, how, tally)
    for one in said:
        if isinstance(one, Said):
            table.hear(one)
        else:
            table.as_kept(one)
    for who, at in skips:
        table.skip(who, at)
    if kept is not None:
        table.keep_rest()
    yield from table.rows(line, _carried(task, canvas, tags_of(canvas, speakers.region)))


def _kept(data: dict[str, msgspec.Raw], text: str) -> tuple[Restored | None, int | None]:
    """What a task carries of ours, and the number of its first annotation then."""
    raw, first = data.get(KEY), data.get(OURS[1])
    if raw is None:
        return None, None
    try:
        item = _items.decode(raw)
        number = None if first is None else _number.decode(first)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise MarkError(
            f'key "data.{KEY}": {error}; nfh-tui itself writes this key: give a column of '
            "yours another name"
        ) from error
    return restored(item, text), number


def _carried(task: Task, canvas: Canvas, tags: Tags | None) -> str | None:
    """What else the task holds, under which key its text lies, and how its tags are called."""
    data = {
        key: raw
        for key, raw in (task.data or {}).items()
        if key not in OURS and (key != canvas.key or canvas.paragraphs or canvas.page)
    }
    parts: dict[str, msgspec.Raw] = {}
    if data:
        parts["data"] = msgspec.Raw(msgspec.json.encode(data))
    if canvas.key != TEXT:
        parts["key"] = msgspec.Raw(msgspec.json.encode(canvas.key))
    if tags is not None:
        parts["tags"] = msgspec.Raw(msgspec.json.encode(tags))
    if bytes(task.meta) not in DEFAULTS:
        parts["meta"] = task.meta
    return carried_of(NAME, parts, ()) if parts else None


@dataclass(slots=True)
class _Table:
    """What is said of each number of a task, on one grid of tokens."""

    grid: Grid
    tokenizer: str | None
    kept: Restored | None
    how: Reading
    tally: Tally
    found: dict[Anchor, _Found] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        canvas: Canvas,
        kept: Restored | None,
        said: Sequence[Said | AsKept],
        how: Reading,
        tally: Tally,
    ) -> "_Table":
        """Tokens on whose bounds all marks lie: those kept along, where they do."""
        marks = {
            (spot.start, spot.end)
            for one in said
            if isinstance(one, Said)
            for spot in one.sheet.graph.spots
        }
        if kept is None:
            base = canvas.grid(sorted(marks))
            tally.counts["cut"] += base.cut
            return cls(base.grid, base.tokenizer, None, how, tally)
        grid = Grid(kept.passage)
        if not on_bounds(grid, marks):
            base = canvas.cut(kept.passage, sorted(marks))
            tally.counts["cut"] += base.cut
            grid = base.grid
            kept = on_grid(kept, grid)
        return cls(grid, None, kept, how, tally, {kept.anchor: _Found()})

    def as_kept(self, one: AsKept) -> None:
        """Take what was kept along as it was."""
        assert self.kept is not None  # noqa: S101 - nothing is as kept where nothing is kept
        found = self.found[self.kept.anchor]
        if one.vote is None:
            assert self.kept.gold is not None  # noqa: S101
            found.golds.append((self.kept.gold, True))
            return
        vote = self.kept.votes[one.vote]
        self._vote(found, vote)
        for flag in self.kept.flags:
            if flag.annotator == vote.annotator:
                found.flag(flag)

    def hear(self, one: Said) -> None:
        """Take what is said of each number that is marked."""
        for marked in one.marked:
            anchor = Anchor(*self.grid.tokens(*marked.anchor))
            found = self.found.setdefault(anchor, _Found())
            kept = self.kept if self.kept and self.kept.anchor == anchor else None
            graph = alone(one.sheet.graph, marked.spot)
            noun = one.sheet.words(marked.spot, NOUN)
            comment = one.sheet.words(marked.spot, COMMENT)
            for plain in one.claims:
                claim = plain
                if noun or comment:
                    claim = replace(plain, noun=noun, comment=comment)
                got = outcome(claim, marked, graph, self.grid, self.how, kept)
                self.tally.counts["unsaid"] += bool(got.unsaid)
                if got.gold is not None:
                    found.golds.append((got.gold, kept is not None and got.gold is kept.gold))
                for vote in got.votes:
                    self._vote(found, vote)
                for flag in got.flags:
                    found.flag(flag)

    def _vote(self, found: _Found, vote: Vote) -> None:
        """Of two votes of one person the one given last counts."""
        key = (vote.annotator, vote.role)
        before = found.votes.get(key)
        if before is not None:
            self.tally.counts["votes twice"] += before != vote
            vote = max(before, vote, key=lambda one: one.answered_at)
        found.votes[key] = vote

    def skip(self, who: str | None, at: str | None) -> None:
        """Set the flag of whoever passed the task over, at each number in it."""
        who = who or self.how.annotator
        if who is None:
            self.tally.counts["skips of nobody"] += 1
            return
        for anchor, found in self.found.items():
            if self.kept is not None and self.kept.anchor == anchor:
                for flag in self.kept.flags:
                    if flag.annotator == who:
                        found.flag(flag)
            found.flag(FlagMark(FlagName.SKIP, who, at or now()))

    def rows(self, line: int, carried: str | None) -> Iterator[GoldRow]:
        """One for each number."""
        for anchor, found in self.found.items():
            yield GoldRow(
                line,
                self.grid.passage,
                anchor,
                self.kept.split if self.kept else None,
                self._gold(found),
                tuple(found.votes.values()),
                tuple(found.flags.values()),
                carried,
                self.tokenizer,
                foreign=self.kept is None,
            )

    def keep_rest(self) -> None:
        """What was kept along of those of whom the file says nothing, and what is gone."""
        kept = self.kept
        assert kept is not None  # noqa: S101 - asked where something is kept
        found = self.found[kept.anchor]
        heard = {name for name, _ in found.votes} | {name for _, name in found.flags}
        for flag in kept.flags:
            if flag.annotator not in heard:
                found.flag(flag)
        gone = int(kept.gold is not None and not found.golds)
        for vote in kept.votes:
            key = (vote.annotator, vote.role)
            if vote.type == PERSON:
                gone += key not in found.votes
            else:
                found.votes.setdefault(key, vote)
        self.tally.counts["withdrawn"] += gone

    def _gold(self, found: _Found) -> Gold | None:
        """The ground truth; none where there are several that differ."""
        if not found.golds:
            return None
        if len({gold.answer for gold, _ in found.golds}) > 1:
            self.tally.counts["truths that differ"] += 1
            return None
        return next((gold for gold, is_kept in found.golds if is_kept), found.golds[0][0])


def _raw(canvas: Canvas, line: int) -> DialogBlock:
    """A text in which nobody marked a number."""
    if not canvas.paragraphs:
        return block_of(canvas.text, line)
    turns = tuple(
        DialogTurn(line, rank, one.speaker, one.start, one.end, one.begin, one.until)
        for rank, one in enumerate(canvas.paragraphs)
        if canvas.text[one.start : one.end].strip()
    )
    return DialogBlock(canvas.text, turns)


def _is_html(task: Task) -> bool:
    """True if its regions are a HyperText's."""
    return any(
        sign in bytes(one.result)
        for one in (*(task.annotations or ()), *(task.completions or ()))
        for sign in (b'"hypertextlabels"', b'"globalOffsets"')
    )
