"""What a training, or a trial of the labels, works on: the labels of one moment, in one value.

It is taken from the database once (`taking`), and lies in the job's folder from then on. So
nobody's later decision changes a job that is at work, a job that was killed goes on with the
same labels, and a job on another machine needs no database.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import msgspec

from nfh_models.domain import Anchor, Answer, Passage, Token, Turn
from nfh_models.errors import ModelsError
from nfh_models.identification.cases import cases_of
from nfh_models.identification.example import Example
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.training_trainers import Lessons

FORMAT_VERSION = 2


class SnapshotError(ModelsError):
    """A file that should hold a snapshot, and does not."""


@dataclass(frozen=True, slots=True)
class Label:
    """A number with what its gold says.

    gold: as resolution counts it, None where it says no head or resolution is not learnt.
    nfh: as identification counts it, None where that is not learnt. where: for a person.
    """

    start: int
    end: int
    where: str
    gold: Answer | None = None
    nfh: bool | None = None
    saw_model: bool = False


@dataclass(frozen=True, slots=True)
class Sheet:
    """A passage with its labels, by span. unit: of those that stay together on one side.

    dev: it judges, and is not learnt from.
    """

    passage: Passage
    labels: tuple[Label, ...]
    unit: str
    dev: bool = False


@dataclass(frozen=True)
class Snapshot:
    """The labels of one moment.

    left_out: numbers that are no examples, by reason. judged_on: what is kept out, in words;
    "" where nothing is. notes: sentences for a person. The group of each example is its
    passage's digest, of which `units` has the unit.
    """

    task: str
    sheets: tuple[Sheet, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    judged_on: str = ""
    notes: tuple[str, ...] = ()

    # --- what is learnt from, and what judges ---------------------------------------------

    @cached_property
    def train(self) -> tuple[ResolutionExample, ...]:
        """Examples of resolution that are learnt from."""
        return tuple(_resolution(self._side(dev=False)))

    @cached_property
    def dev(self) -> tuple[ResolutionExample, ...]:
        """Examples of resolution that judge."""
        return tuple(_resolution(self._side(dev=True)))

    @cached_property
    def numbers(self) -> tuple[Example, ...]:
        """Examples of identification that are learnt from."""
        return tuple(_numbers(self._side(dev=False)))

    @cached_property
    def dev_numbers(self) -> tuple[Example, ...]:
        """Examples of identification that judge."""
        return tuple(_numbers(self._side(dev=True)))

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The unit of each passage, by its digest."""
        return {sheet.passage.digest: sheet.unit for sheet in self.sheets}

    @property
    def lessons(self) -> Lessons:
        """All four as trainers take them: the group of each example is its unit, so that none
        is on both sides of a fold."""
        units = self.units
        return Lessons(
            [replace(one, group=units[one.group]) for one in self.train],
            [replace(one, group=units[one.group]) for one in self.dev],
            [replace(one, group=units[one.group]) for one in self.numbers],
            [replace(one, group=units[one.group]) for one in self.dev_numbers],
        )

    @property
    def passages(self) -> int:
        """That are learnt from."""
        return len(self._side(dev=False))

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of what is learnt from, whatever its order.

        Hashed are the sorted SHA-256 of each label as the text of a tuple: the passage's
        digest, the span, the answer, and whether the number is a fused head.
        """
        each = sorted(
            hashlib.sha256(
                repr(
                    (sheet.passage.digest, one.start, one.end, repr(one.gold), one.nfh)
                ).encode("utf-8", "surrogatepass")
            ).digest()
            for sheet in self._side(dev=False)
            for one in sheet.labels
        )
        return hashlib.sha256(b"".join(each)).hexdigest()

    def _side(self, *, dev: bool) -> list[Sheet]:
        return [sheet for sheet in self.sheets if sheet.dev is dev]

    # --- as a file ------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """Write it, whole or not at all. Raises OSError."""
        stored = _Stored(
            format_version=FORMAT_VERSION,
            digest=self.digest,
            whole="",
            task=self.task,
            left_out=dict(self.left_out),
            judged_on=self.judged_on,
            notes=self.notes,
            sheets=[_StoredSheet.of(sheet) for sheet in self.sheets],
        )
        whole = stored.hashed()
        write_whole(path, msgspec.json.encode(msgspec.structs.replace(stored, whole=whole)))

    @classmethod
    def read(cls, path: Path) -> "Snapshot":
        """Read what `write` wrote. Raises OSError, and SnapshotError for anything else."""
        content = path.read_bytes()
        try:
            stored = msgspec.json.decode(content, type=_Stored)
            if stored.format_version != FORMAT_VERSION:
                raise ValueError(f"its format is {stored.format_version}")
            if stored.whole != stored.hashed():
                raise ValueError("it is damaged, and not as it was written")
            found = cls(
                stored.task,
                tuple(sheet.sheet() for sheet in stored.sheets),
                stored.left_out,
                stored.judged_on,
                stored.notes,
            )
        except (msgspec.MsgspecError, ValueError) as error:
            raise SnapshotError(f"{path} holds no labels of a job: {error}") from error
        if found.digest != stored.digest:
            raise SnapshotError(f"{path} is damaged: its labels are not those it was made of")
        return found


def _resolution(sheets: Iterable[Sheet]) -> Iterable[ResolutionExample]:
    for sheet in sheets:
        for one in sheet.labels:
            if one.gold is not None:
                item = Item(sheet.passage, Anchor(one.start, one.end))
                group = sheet.passage.digest
                yield ResolutionExample(item, one.gold, one.where, group, one.saw_model)


def _numbers(sheets: Iterable[Sheet]) -> Iterable[Example]:
    for sheet in sheets:
        labelled = [one for one in sheet.labels if one.nfh is not None]
        cases = cases_of(sheet.passage, [Anchor(one.start, one.end) for one in labelled])
        for case, one in zip(cases, labelled, strict=True):
            nfh, group = bool(one.nfh), sheet.passage.digest
            yield Example(case, nfh, one.where, group, one.saw_model)


# --- as a file ------------------------------------------------------------------------------


class _StoredSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """offsets: start and end of each token, in turn."""

    text: str
    offsets: list[int]
    lemmas: list[str]
    turns: list[tuple[int, str | None, int, int]]
    labels: tuple[Label, ...]
    unit: str
    dev: bool

    @classmethod
    def of(cls, sheet: Sheet) -> "_StoredSheet":
        passage = sheet.passage
        return cls(
            passage.text,
            [place for token in passage.tokens for place in (token.start, token.end)],
            [token.lemma for token in passage.tokens],
            [(turn.number, turn.speaker, turn.start, turn.end) for turn in passage.turns],
            sheet.labels,
            sheet.unit,
            sheet.dev,
        )

    def sheet(self) -> Sheet:
        """Raises ValueError for what is no passage."""
        starts, ends = self.offsets[::2], self.offsets[1::2]
        tokens = tuple(Token(*one) for one in zip(starts, ends, self.lemmas, strict=True))
        turns = tuple(Turn(*turn) for turn in self.turns)
        return Sheet(Passage(self.text, tokens, turns), self.labels, self.unit, self.dev)


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """digest: of what is learnt from. whole: of all that is here."""

    format_version: int
    digest: str
    whole: str
    task: str
    left_out: dict[str, int]
    judged_on: str
    notes: tuple[str, ...]
    sheets: list[_StoredSheet]

    def hashed(self) -> str:
        """SHA-256 (hex) of all of it as JSON, but for this hash itself."""
        content = msgspec.json.encode(msgspec.structs.replace(self, whole=""))
        return hashlib.sha256(content).hexdigest()
