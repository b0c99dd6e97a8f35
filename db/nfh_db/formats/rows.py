"""What readers yield: plain frozen records, before any tokenizer or lemmatizer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from nfh_db.records import FlagMark, Gold, Vote
from nfh_models.domain import Anchor, Kind, Turn


@dataclass(frozen=True, slots=True)
class RawPassage:
    """A passage whose tokens are given: token i is code points [starts[i], ends[i])."""

    text: str
    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row that says one thing of one anchor. line counts from 1.

    labels: JSON of the row's own label. head_tokens: for REFERENCE only, as the file
    lists them: which of them name one noun is not known yet.
    """

    line: int
    passage: RawPassage
    anchor: Anchor
    labels: str
    kind: Kind
    head_tokens: tuple[int, ...] = ()
    split: str | None = None


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A row that says of one anchor what people, models and rules say, or a part of that.

    Several rows of a file may be of one anchor: each brings what it has. labels: JSON of what
    the file holds besides, which an export to the same format brings back. tokenizer: the name
    of what made the tokens; None where they came with the file. foreign: nothing of ours came
    along, so that the split may be the one that the file's name says.
    """

    line: int
    passage: RawPassage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]
    labels: str | None = None
    tokenizer: str | None = None
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class DialogTurn:
    """One line of a dialog: its words are code points [start, end) of the block's text.

    line: of the file, from 1. number: rank of the line in its block, from 0. begin, until:
    when it is said, in milliseconds from the start of the recording, where the file tells.
    """

    line: int
    number: int
    speaker: str | None
    start: int
    end: int
    begin: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class DialogBlock:
    """A scene: lines of plain text between two blank ones, not yet tokenized.

    labels, split: as those of a GoldRow; of every number that is found in it.
    """

    text: str
    turns: tuple[DialogTurn, ...]
    labels: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """One worker's answer to one task of a batch, each field as the file has it.

    line: of the file, where the row starts. Columns that the file lacks are "".
    """

    line: int
    worker: str
    context: str
    target: str
    code: str
    marked: str
    offset: str
    other: str
    comment: str
    html: str
    start: str
    end: str
    sentence: str
    seconds: str
    submitted: str
    status: str


Row = LabelledRow | GoldRow | DialogBlock | AssignmentRow


def joined(words: Sequence[str], turns: tuple[Turn, ...]) -> RawPassage:
    """The passage of a file that gives words only: one space between them, turns on lines."""
    if len(turns) == 1:
        text = " ".join(words)
    else:
        text = "\n".join(" ".join(words[turn.start : turn.end]) for turn in turns)
    starts = []
    ends = []
    place = 0
    for word in words:
        starts.append(place)
        place += len(word)
        ends.append(place)
        place += 1
    return RawPassage(text, words, starts, ends, turns)


def runs(numbers: Sequence[int], speakers: Sequence[str | None]) -> tuple[Turn, ...]:
    """Turns from one turn number and one speaker a token: the longest equal runs."""
    turns = []
    place = 0
    for (number, speaker), run in groupby(zip(numbers, speakers, strict=True)):
        end = place + sum(1 for _ in run)
        turns.append(Turn(number, speaker, place, end))
        place = end
    return tuple(turns)


def per_token(turns: Sequence[Turn]) -> tuple[list[int], list[str | None]]:
    """The turn number and the speaker of each token: the reverse of `runs`."""
    numbers: list[int] = []
    speakers: list[str | None] = []
    for turn in turns:
        numbers += [turn.number] * (turn.end - turn.start)
        speakers += [turn.speaker] * (turn.end - turn.start)
    return numbers, speakers
