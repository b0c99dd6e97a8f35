"""What readers yield and writers take: plain frozen rows, the options of a file, and the
release's way of writing an answer.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol, get_args

from nfh_db.errors import FormatError
from nfh_db.messages import shown, visible
from nfh_db.records import ExportRecord, FlagMark, Gold, Vote
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin, Turn


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


RELEASE_KEYS = ("tokens", "line_indices", "head", "speakers", "anchors_indices")
"""The five keys, in the order in which the release's files have them."""

Mentions = Literal["marked", "all", "nearest"]
"""Which mentions of the heads an `nfh` row lists: those a person marked, all that nobody
removed, or the one nearest to the anchor."""

MENTIONS: tuple[Mentions, ...] = get_args(Mentions)

NO_FORM = frozenset({Kind.NOT_NFH, Kind.BROKEN, Kind.NFH})


def release_head(
    answer: Answer | None, anchor: Anchor, mentions: Mentions = "all"
) -> list[str] | list[int] | None:
    """The `head` list of an answer; None where the release has no form for it.

    UNKNOWN is written as OTHER. Indices are ascending, each once.
    """
    if answer is None or answer.kind in NO_FORM:
        return None
    if answer.kind is Kind.REFERENCE:
        return _indices(answer, anchor, mentions)
    return [Kind.OTHER.value if answer.kind is Kind.UNKNOWN else answer.kind.value]


def _indices(answer: Answer, anchor: Anchor, mentions: Mentions) -> list[int]:
    if mentions == "all":
        return list(answer.head_tokens())
    if mentions == "marked":
        return sorted({m.head for head in answer.heads for m in _marked(head)})
    return [min(answer.head_tokens(), key=lambda token: (distance(token, anchor), token))]


def _marked(head: Head) -> Sequence[Mention]:
    """The marked mentions of a head; its first where nobody marked one."""
    return [m for m in head.mentions if m.origin is Origin.MARKED] or head.mentions[:1]


def distance(token: int, anchor: Anchor) -> int:
    """Tokens from `token` to the nearest token of the anchor; 0 inside it."""
    return max(anchor.start - token, token - (anchor.end - 1), 0)


def source_head(labels: str | None) -> list[object] | None:
    """The `head` list an imported row came with, if it came from a row that had one."""
    head = None if labels is None else json.loads(labels)
    return head if isinstance(head, list) else None


def reason_left_out(record: ExportRecord) -> str:
    """The kind for which a record has no release form, or "open" where it has no gold."""
    return "open" if record.gold is None else record.gold.answer.kind.value


class LineWriter(Protocol):
    """Makes the lines of a format. left_out: records it has no form for, by reason."""

    left_out: Counter[str]

    def line(self, record: ExportRecord) -> str | None:
        """The record's line with its end; None, and counted, where it has no form."""


class ReleaseWriter:
    """Makes `nfh` lines of records."""

    def __init__(self, mentions: Mentions = "all") -> None:
        self.mentions = mentions
        self.left_out: Counter[str] = Counter()

    def line(self, record: ExportRecord) -> str | None:
        """The record's line with its end; None, and counted, where it has no form.

        Spelled as the release's files are: ASCII only, keys in RELEASE_KEYS' order.
        """
        head: Sequence[object] | None = source_head(record.labels)
        if head is None:
            answer = record.gold.answer if record.gold else None
            head = release_head(answer, record.anchor, self.mentions)
        if head is None:
            self.left_out[reason_left_out(record)] += 1
            return None
        passage = record.passage
        numbers, speakers = per_token(passage.turns)
        row = {
            "tokens": [passage.text[token.start : token.end] for token in passage.tokens],
            "line_indices": numbers,
            "head": head,
            "speakers": speakers,
            "anchors_indices": list(range(record.anchor.start, record.anchor.end)),
        }
        return json.dumps(row) + "\n"


Span = tuple[int, int]
Tokenize = Callable[[str], Sequence[Span]]
Lemmatize = Callable[[Sequence[str]], Sequence[str]]

Offsets = Literal["codepoint", "utf16"]
"""The unit in which a file counts the characters of its texts."""

IGNORE = "ignore"
"""What a label or relation is mapped to that is to be left out, and counted."""

PARTS = ("labels", "relations", "layer")
"""The tables that a mapping file may hold."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """What a project's own names mean here: its name first, ours second.

    labels: of spans; ours are ANCHOR, HEAD, the kinds, and OTHER_ with a sort. relations: ours
    are HEAD, ADDED, REMOVED, SAME, AND, OR, UNSTATED. layer: names of types and features of
    an annotation scheme, by what they are here.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    layer: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_file(cls, path: Path) -> "LabelMap":
        """The mapping that a TOML file holds. Raises FormatError for anything else."""
        name = visible(str(path), limit=200)
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            reason = error.strerror or error
            raise FormatError(name, None, f"cannot be read: {reason}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise FormatError(name, None, f"is no TOML: {error}") from error
        for key, table in content.items():
            if key not in PARTS:
                wanted = f"one of the tables {', '.join(PARTS)}"
                raise FormatError(name, None, f"found {shown(key)}, wanted {wanted}")
            if not isinstance(table, dict) or not all(
                isinstance(value, str) for value in table.values()
            ):
                raise FormatError(name, None, f'[{key}]: wanted lines such as NUM = "ANCHOR"')
        return cls(**{key: dict(table) for key, table in content.items()})


def _no_tokenizer(text: str) -> Sequence[Span]:
    raise NotImplementedError("this text has no tokens, and nothing was given that makes them")


def _surfaces(words: Sequence[str]) -> Sequence[str]:
    return [word.casefold() for word in words]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read.

    tokenize: code points [start, end) of each token of a text; lemmatize: a lemma for each
    word of a passage, by which mentions of one noun are told; tokenizer: the name that tokens
    made so are stamped with. All are handed in, since this package has none.
    labels: what the file's own names mean. offsets: the unit of its offsets, None where the
    file itself tells or the format fixes it. columns: our name of a column to the file's.
    pause: seconds of silence that end a scene of subtitles, None for the format's own rule.
    encoding: of the file's text, None for UTF-8. annotator: whose answers those are that the
    file says of nobody; None where they are gold.
    """

    tokenize: Tokenize = _no_tokenizer
    lemmatize: Lemmatize = _surfaces
    tokenizer: Callable[[], str] = str
    labels: LabelMap = field(default_factory=LabelMap)
    offsets: Offsets | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    pause: float | None = None
    encoding: str | None = None
    annotator: str | None = None


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file is written. mentions: which mentions of a head an `nfh` row lists.

    labels: a project's own names in place of ours.
    """

    mentions: Mentions = "all"
    labels: LabelMap = field(default_factory=LabelMap)
