"""Rows that readers yield, options of readers and writers, and the form of answers in the
release.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Literal, Protocol, get_args

from nfh_db.errors import FormatError
from nfh_db.messages import counted, reason_of, shown, toml_string, visible
from nfh_db.records import ExportRecord, FlagMark, Gold, Stated, Vote
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin, Turn


@dataclass(frozen=True, slots=True)
class RawPassage:
    """A passage with tokens: token i has code points [starts[i], ends[i])."""

    text: str
    words: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    turns: tuple[Turn, ...]
    stated: Stated = "text"

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """The code points of tokens [start, stop)."""
        return self.starts[start], self.ends[stop - 1]

    @classmethod
    def of(
        cls, text: str, offsets: Sequence[tuple[int, int]], turns: tuple[Turn, ...]
    ) -> "RawPassage":
        """offsets: of each token."""
        starts, ends = zip(*offsets, strict=True) if offsets else ((), ())
        return cls(text, [text[start:end] for start, end in offsets], starts, ends, turns)


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row with one label of one anchor."""

    line: int
    """Of the file, from 1."""
    passage: RawPassage
    anchor: Anchor
    labels: str
    """JSON of the label in the file."""
    kind: Kind
    head_tokens: tuple[int, ...] = ()
    """For REFERENCE, as the file lists them; it does not tell which of them are of one noun."""
    split: str | None = None


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A row with the gold, votes and flags of one anchor, or some of them. Several rows of a
    file may be of one anchor; their contents are joined.
    """

    line: int
    passage: RawPassage
    anchor: Anchor
    split: str | None
    gold: Gold | None
    votes: tuple[Vote, ...]
    flags: tuple[FlagMark, ...]
    labels: str | None = None
    """JSON of what the file has besides, which an export to the same format writes back."""
    tokenizer: str | None = None
    """The name of what made the tokens; None if they came with the file."""
    found: bool = False
    """The number was found by rule in the file's own tokens; a window may cut the passage."""
    foreign: bool = False
    """The row was not exported by this program, so that the name of the file may give its
    split.
    """


@dataclass(frozen=True, slots=True)
class DialogTurn:
    """A line of a dialog: its words are code points [start, end) of the text of the block."""

    line: int
    """Of the file, from 1."""
    number: int
    """The rank of the line in its block, from 0."""
    speaker: str | None
    start: int
    end: int
    begin: int | None = None
    """As `until`: milliseconds from the start of the recording, if the file has times."""
    until: int | None = None


@dataclass(frozen=True, slots=True)
class DialogBlock:
    """A scene: lines of plain text, not tokenized. labels, split: as in GoldRow, for every
    number that is found in it.
    """

    text: str
    turns: tuple[DialogTurn, ...]
    labels: str | None = None
    split: str | None = None


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """A worker's answer to a task of a batch, with the fields of the file; "" for a missing
    column.

    line: of the file, where the row starts.
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
    rejected: bool
    """The requester did not accept the work, and it is not to be counted."""


Row = LabelledRow | GoldRow | DialogBlock | AssignmentRow


def joined(
    words: Sequence[str], turns: tuple[Turn, ...], stated: Stated = "turns"
) -> RawPassage:
    """The passage of a file that has no text: one space between words, one line a turn."""
    if len(turns) == 1:
        text = " ".join(words)
    else:
        text = "\n".join(" ".join(words[turn.start : turn.end]) for turn in turns)
    starts, ends, place = list[int](), list[int](), 0
    for word in words:  # 6 µs for 90 words; sums by itertools take 11.
        starts.append(place)
        place += len(word)
        ends.append(place)
        place += 1
    return RawPassage(text, words, starts, ends, turns, stated)


def runs(numbers: Sequence[int], speakers: Sequence[str | None]) -> tuple[Turn, ...]:
    """Turns from the turn number and the speaker of each token: the longest equal runs."""
    turns = []
    place = 0
    for (number, speaker), run in groupby(zip(numbers, speakers, strict=True)):
        end = place + sum(1 for _ in run)
        turns.append(Turn(number, speaker, place, end))
        place = end
    return tuple(turns)


def per_token(turns: Sequence[Turn]) -> tuple[list[int], list[str | None]]:
    """The turn number and the speaker of each token: the inverse of `runs`."""
    numbers: list[int] = []
    speakers: list[str | None] = []
    for turn in turns:
        numbers += [turn.number] * (turn.end - turn.start)
        speakers += [turn.speaker] * (turn.end - turn.start)
    return numbers, speakers


RELEASE_KEYS = ("tokens", "line_indices", "head", "speakers", "anchors_indices")
"""The five keys, in the order of the release's files."""


def by_passage(records: Iterable[ExportRecord]) -> Iterator[list[ExportRecord]]:
    """The records of each passage, which follow each other."""
    for _, group in groupby(records, lambda record: record.passage.digest):
        yield list(group)


def release_row(
    words: Sequence[str], turns: Sequence[Turn], anchor: Anchor, head: Sequence[object]
) -> dict[str, Sequence[object]]:
    """The values of RELEASE_KEYS."""
    numbers, speakers = per_token(turns)
    tokens = list(range(anchor.start, anchor.end))
    return dict(zip(RELEASE_KEYS, (words, numbers, head, speakers, tokens), strict=True))


Mentions = Literal["marked", "all", "nearest"]
"""Which mentions an `nfh` row lists: those that a person marked, all that are not removed, or
the one nearest to the anchor.
"""

MENTIONS: tuple[Mentions, ...] = get_args(Mentions)

NO_FORM = frozenset({Kind.NOT_NFH, Kind.BROKEN, Kind.NFH})


def release_head(
    answer: Answer | None, anchor: Anchor, mentions: Mentions = "all"
) -> list[str] | list[int] | None:
    """The `head` list of an answer; None if the release has no form for it.

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
    """The marked mentions of a head; its first mention if none is marked."""
    return [m for m in head.mentions if m.origin is Origin.MARKED] or head.mentions[:1]


def distance(token: int, anchor: Anchor) -> int:
    """The distance in tokens from `token` to the anchor; 0 inside it."""
    return max(anchor.start - token, token - (anchor.end - 1), 0)


def source_head(labels: str | None) -> list[object] | None:
    """The `head` list of the file from which a row was imported, if it had one."""
    head = None if labels is None else json.loads(labels)
    return head if isinstance(head, list) else None


class LineWriter(Protocol):
    """Makes the lines of a format."""

    left_out: Counter[str]
    """Records that the format has no form for, by reason."""

    def line(self, record: ExportRecord) -> str | None:
        """The line of a record, with its end; None, and counted, if it has no form."""


class ReleaseWriter:
    """Makes `nfh` lines of records."""

    def __init__(self, mentions: Mentions = "all") -> None:
        self.mentions = mentions
        self.left_out: Counter[str] = Counter()

    def line(self, record: ExportRecord) -> str | None:
        """The line of a record, with its end; None, and counted, if it has no form.

        As in the release's files: ASCII only, keys in the order of RELEASE_KEYS.
        """
        head: Sequence[object] | None = source_head(record.labels)
        if head is None:
            answer = record.gold.answer if record.gold else None
            head = release_head(answer, record.anchor, self.mentions)
        if head is None:
            self.left_out[record.gold.answer.kind.value if record.gold else "open"] += 1
            return None
        passage = record.passage
        words = [passage.text[token.start : token.end] for token in passage.tokens]
        row = release_row(words, passage.turns, record.anchor, head)
        return json.dumps(row) + "\n"


Span = tuple[int, int]
Tokenize = Callable[[str], Sequence[Span]]
Lemmatize = Callable[[Sequence[str]], Sequence[str]]

Offsets = Literal["codepoint", "utf16"]
"""The unit of a file's offsets."""

IGNORE = "ignore"
"""The meaning of a label or relation that is left out, and counted."""

OTHERS = "*"
"""The name, in a mapping, of all labels or relations that it does not name and that are none of
ours.
"""

PARTS = ("labels", "relations", "layer")
"""The tables of a mapping file."""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The meanings of a project's names: from its names to ours."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """Of spans; ours are ANCHOR, HEAD, the kinds, and OTHER_ with a sort."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """Ours are HEAD, ADDED, REMOVED, SAME, AND, OR, UNSTATED."""
    layer: Mapping[str, str] = field(default_factory=dict)
    """Names of types and features of an annotation scheme; each format documents its own."""

    @classmethod
    def of_file(cls, path: Path) -> "LabelMap":
        """The mapping of a TOML file. Raises FormatError for invalid files."""
        name = visible(str(path), limit=200)
        try:
            content = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            reason = error.strerror or error
            raise FormatError(name, None, f"cannot be read: {reason}") from error
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            wanted = f'wanted tables such as [{PARTS[0]}] with lines such as NUM = "ANCHOR"'
            reason = f"is not TOML; {wanted} ({reason_of(error)})"
            raise FormatError(name, None, reason) from error
        for key, table in content.items():
            if key not in PARTS:
                wanted = f"one of the tables {', '.join(PARTS)}"
                raise FormatError(name, None, f"found {shown(key)}, wanted {wanted}")
            if not isinstance(table, dict) or not all(
                isinstance(value, str) for value in table.values()
            ):
                raise FormatError(name, None, f'[{key}]: wanted lines such as NUM = "ANCHOR"')
            if table.get(OTHERS, IGNORE) != IGNORE:
                raise FormatError(
                    name,
                    None,
                    f"[{key}]: found {shown(table[OTHERS])} for all other names, wanted "
                    f'"{OTHERS}" = "{IGNORE}"',
                )
        return cls(**{key: dict(table) for key, table in content.items()})


NOT_KNOWN, NO_NUMBER = "of no known meaning", "on words without a number"
"""What is wrong with a label or relation: it is none of ours and not in the mapping; it is
called like a class of numbers.
"""


@dataclass(slots=True)
class StrayLabel:
    """A label or relation of a file that the map has to say more of."""

    why: str
    """NOT_KNOWN or NO_NUMBER."""
    first: str
    """What the first one marks, and where."""
    count: int = 0


@dataclass(slots=True)
class LabelTally:
    """What the labels and relations of one file come to."""

    strays: dict[tuple[str, str], StrayLabel] = field(default_factory=dict)
    """By the table of a mapping and the name."""
    ignored: Counter[str] = field(default_factory=Counter)
    """What is left out since the map says so: marks and relations."""

    def stray(self, part: str, name: str, why: str, first: str) -> None:
        """Count a mark or relation for which the file will be refused."""
        self.strays.setdefault((part, name), StrayLabel(why, first)).count += 1

    def sentence(self) -> str:
        """The refusal of the file, if there are strays: each with its count and its first."""
        told = [
            f"{counted(one.count, 'span' if part == 'labels' else 'relation')} "
            f"{shown(name)} {one.why}, the first {one.first}"
            for (part, name), one in self.strays.items()
        ]
        more = f"; and {len(told) - TOLD_STRAYS:,} more" if len(told) > TOLD_STRAYS else ""
        bare = (toml_string(n) for (_, n), one in self.strays.items() if one.why == NO_NUMBER)
        ours = (f"; {n} = {n} says that these are numbers, and their class ours" for n in bare)
        return (
            f"found {'; '.join(told[:TOLD_STRAYS])}{more}. Wanted a file for --map that says "
            f'what each means ("{IGNORE}" leaves it out{next(ours, "")})'
        )

    def mapping(self, labels: LabelMap, known: Mapping[str, Iterable[str]]) -> str:
        """The given mapping with a line for each stray, as TOML. known: ours by table."""
        lines = [
            "# To be saved for --map, with a meaning of ours in place of "
            f'"{IGNORE}" where there is one.'
        ]
        for part in PARTS:
            given: Mapping[str, str] = getattr(labels, part)
            strays = {name: one for (in_, name), one in self.strays.items() if in_ == part}
            if given or strays:
                lines.append(f"[{part}]")
                lines += [f"# ours: {', '.join(known[part])}"] if strays else []
            lines += [f"{toml_string(name)} = {toml_string(given[name])}" for name in given]
            lines += [
                f"{toml_string(name)} = {toml_string(IGNORE)}  # {one.count:,}, the first "
                f"{one.first}"
                for name, one in strays.items()
            ]
        return "\n".join(lines)


TOLD_STRAYS = 8
"""Names that the refusal of a file tells; the mapping that follows has all."""


def _no_tokenizer(text: str) -> Sequence[Span]:
    raise NotImplementedError("this text has no tokens, and no tokenizer was given")


def _surfaces(words: Sequence[str]) -> Sequence[str]:
    return [word.casefold() for word in words]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How a file is read. Tokenizer and lemmatizer are passed in, since this package has
    none.
    """

    tokenize: Tokenize = _no_tokenizer
    """The code points [start, end) of each token of a text."""
    lemmatize: Lemmatize = _surfaces
    """A lemma for each word; mentions with one lemma are of one noun, unless the file tells."""
    tokenizer: Callable[[], str] = str
    """The name of the tokenizer, which is stored with the passage."""
    labels: LabelMap = field(default_factory=LabelMap)
    tally: LabelTally = field(default_factory=LabelTally)
    """Filled while one file is read."""
    offsets: Offsets | None = None
    """None if the file tells the unit, or the format defines it."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The file's names of our columns."""
    pause: float | None = None
    """Seconds of silence that end a scene; None for the default of the format."""
    encoding: str | None = None
    """None for UTF-8."""
    annotator: str | None = None
    """Whose answers are those for which the file names nobody; None if they are gold."""
    count_rejected: bool = False
    """Answers that the file says were rejected count as the others."""


@dataclass(frozen=True, slots=True)
class Writing:
    """How a file is written."""

    mentions: Mentions = "all"
    labels: LabelMap = field(default_factory=LabelMap)
    compact: bool = False
    """Write a passage once (gold)."""
