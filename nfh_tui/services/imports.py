"""Files in and out, where formats, tokens, lemmas and the store meet: rows made into
passages, scenes cut to a window, several files in turn.
"""

import gc
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import BinaryIO, Literal

from nfh_db.errors import ExportError, FormatError, StoreError
from nfh_db.formats.base import Format
from nfh_db.formats.files import FileOrigin, replacing, split_of_name, write_members
from nfh_db.formats.registry import Losses, RecognizedFile, opened, reading
from nfh_db.formats.rows import (
    AssignmentRow,
    DialogBlock,
    DialogTurn,
    GoldRow,
    LabelledRow,
    LabelMap,
    LineWriter,
    Offsets,
    RawPassage,
    ReadOptions,
    Row,
    Writing,
)
from nfh_db.formats.tables import TABLE
from nfh_db.import_run import IncomingFile
from nfh_db.messages import counted, visible
from nfh_db.query import Query
from nfh_db.records import (
    ExportRecord,
    Gold,
    ImportReport,
    IncomingAnchor,
    IncomingPassage,
    Role,
    Rule,
    Vote,
)
from nfh_db.store import Store
from nfh_db.system import now
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.text.numbers import find_numbers
from nfh_models.text.tokens import lemmas

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TokenizedTurn:
    """A turn that holds words: its line, and its tokens as code points of the block's text.

    start: the rank of its first token in the block.
    """

    turn: DialogTurn
    start: int
    tokens: list[Span]


def spoken(block: DialogBlock) -> list[TokenizedTurn]:
    """The turns of a block that hold words, each tokenized by itself."""
    from nfh_models.text.tokens import spans

    found: list[TokenizedTurn] = []
    count = 0
    for turn in block.turns:
        words = block.text[turn.start : turn.end]
        tokens = [(turn.start + start, turn.start + end) for start, end in spans(words)]
        if tokens:
            found.append(TokenizedTurn(turn, count, tokens))
            count += len(tokens)
    return found


def passage_of_turns(text: str, turns: list[TokenizedTurn]) -> Passage:
    """The passage of a block's turns, of which there is at least one."""
    tokens = [token for one in turns for token in one.tokens]
    starts, ends = zip(*tokens, strict=True)
    words = [text[start:end] for start, end in tokens]
    spans = tuple(
        Turn(
            one.turn.number,
            one.turn.speaker,
            one.start,
            one.start + len(one.tokens),
            one.turn.begin,
            one.turn.until,
        )
        for one in turns
    )
    return passage_of(RawPassage(text, words, starts, ends, spans))


def passage_of(raw: RawPassage) -> Passage:
    """The passage with a lemma for each token. Raises PassageError if it does not hold."""
    tokens = tuple(map(Token, raw.starts, raw.ends, lemmas(raw.words)))
    return Passage(raw.text, tokens, raw.turns)


# Scenes cut to a window: of each number only the turns around its own.
#
# The paper's annotators saw two turns before a number's and one after it. Turns that hold no
# words do not count.


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a block that makes a passage of its own, with the numbers that it is for."""

    text: str
    turns: list[TokenizedTurn]
    anchors: tuple[IncomingAnchor, ...]


def windows(
    block: DialogBlock,
    turns: Sequence[TokenizedTurn],
    anchors: Sequence[Sequence[IncomingAnchor]],
    window: tuple[int, int],
) -> Iterator[Cut]:
    """A cut for each turn with numbers, of so many turns before and after it.

    turns: those of the block that hold words; anchors: the numbers of each. Turns whose
    windows are the same, as in a short scene, have one cut together.
    """
    before, after = window
    ranges = [
        (max(0, rank - before), min(len(turns), rank + after + 1), rank)
        for rank, numbers in enumerate(anchors)
        if numbers
    ]
    lines = _line_starts(block)
    for (first, last), some in groupby(ranges, key=lambda one: one[:2]):
        numbers = [number for *_, rank in some for number in anchors[rank]]
        place = lines[turns[first].turn.end]
        yield _cut(block, place, turns[first:last], numbers)


def _cut(
    block: DialogBlock,
    place: int,
    turns: Sequence[TokenizedTurn],
    numbers: Sequence[IncomingAnchor],
) -> Cut:
    """The text of the turns from code point `place`, where the line of the first begins."""
    tokens = turns[0].start
    return Cut(
        block.text[place : turns[-1].turn.end],
        [_moved(one, place, tokens) for one in turns],
        tuple(
            replace(one, anchor=Anchor(one.anchor.start - tokens, one.anchor.end - tokens))
            for one in numbers
        ),
    )


def _line_starts(block: DialogBlock) -> dict[int, int]:
    """Where the line of each turn begins, the speaker's name in it and all, by its end.

    That is behind the turn before it and the line feeds between them.
    """
    starts: dict[int, int] = {}
    last = 0
    for turn in block.turns:
        place = last
        while place < turn.start and block.text[place] == "\n":
            place += 1
        starts.setdefault(turn.end, place)
        last = turn.end
    return starts


def _moved(one: TokenizedTurn, place: int, tokens: int) -> TokenizedTurn:
    """A turn as it stands in a text that begins at code point `place`, token `tokens`."""
    turn = replace(one.turn, start=one.turn.start - place, end=one.turn.end - place)
    spans = [(start - place, end - place) for start, end in one.tokens]
    return TokenizedTurn(turn, one.start - tokens, spans)


AS_GIVEN = "as given"
"""The tokenizer of passages whose file came with tokens."""


class PassageMaker:
    """Makes the store's passages of one file's rows.

    split: of every anchor; None leaves it to the row. annotator: None makes the file's
    labels gold; a name makes them that person's answers. window: turns before and after a
    number's own that make its passage, of raw dialog; None for whole scenes. named: the split
    that the file's name says, of raw dialog and of foreign rows in files whose rows can say
    one. What a person should know about the file is added to the source's warnings when the
    last row is through.
    """

    def __init__(
        self,
        source: FileOrigin,
        split: str | None,
        annotator: str | None,
        window: tuple[int, int] | None = None,
        named: str | None = None,
    ) -> None:
        self.source = source
        self.window = window
        self.split = split
        self.named = named
        self.annotator = annotator
        self.at = now()
        self.votes_left = 0
        self.blocks_left = 0
        self._latest: tuple[RawPassage, Passage] | None = None

    def passages(self, rows: Iterable[Row]) -> Iterator[IncomingPassage]:
        """One passage a row, in the file's order; dialogs without a number are left out, and
        with a window those with one are a passage for each turn that holds one.

        The rows of a batch become one passage for each context, once all are read.
        """
        assignments: list[AssignmentRow] = []
        for row in rows:
            if isinstance(row, AssignmentRow):
                assignments.append(row)
            elif isinstance(row, LabelledRow):
                yield self._labelled(row)
            elif isinstance(row, GoldRow):
                yield self._gold(row)
            else:
                yield from self._dialog(row)
        if assignments:
            from nfh_tui.services.amt_import import BatchMaker

            yield from BatchMaker(self.source, self.split, self.at).passages(assignments)
        self._warn()

    def _warn(self) -> None:
        if self.votes_left:
            self.source.warnings.append(
                f"{counted(self.votes_left, 'answer')} of the file left out: with an annotator "
                "named, the file's gold comes in as that person's answers and nothing else"
            )
        if self.blocks_left:
            self.source.warnings.append(
                f"{counted(self.blocks_left, 'passage')} without a number left out"
            )

    # --- rows with tokens -----------------------------------------------------------------

    def _labelled(self, row: LabelledRow) -> IncomingPassage:
        passage = passage_of(row.passage)
        if row.kind is Kind.REFERENCE:
            gold = Gold(_by_noun(row.head_tokens, passage), Rule.IMPORTED)
        else:
            gold = _imported_class(row.kind)
        anchor = IncomingAnchor(
            row.line,
            row.anchor,
            row.labels,
            self.split or row.split,
            gold if self.annotator is None else None,
            self._votes(gold),
        )
        return IncomingPassage(passage, AS_GIVEN, (anchor,))

    def _gold(self, row: GoldRow) -> IncomingPassage:
        if self.annotator is None:
            gold, votes = row.gold, row.votes
        else:
            self.votes_left += len(row.votes)
            gold, votes = None, self._votes(row.gold)
        split = self.split or row.split
        if split is None and row.foreign:
            split = self.named
        anchor = IncomingAnchor(
            row.line, row.anchor, row.labels, split, gold, votes, row.flags, _before(votes)
        )
        tokenizer = row.tokenizer or AS_GIVEN
        return IncomingPassage(self._passage(row.passage), tokenizer, (anchor,))

    def _passage(self, raw: RawPassage) -> Passage:
        """The passage of a row: the one of the row before if both are of the same.

        A text may hold thousands of numbers: it is then checked and hashed once, not at each.
        """
        if self._latest is None or self._latest[0] is not raw:
            self._latest = (raw, passage_of(raw))
        return self._latest[1]

    def _votes(self, gold: Gold | None) -> tuple[Vote, ...]:
        """What the file says as the answer of the annotator named; none if nobody is."""
        if self.annotator is None or gold is None:
            return ()
        at = gold.decided_at or self.at
        return (Vote(self.annotator, Role.ANNOTATOR, gold.answer, at),)

    # --- plain text -----------------------------------------------------------------------

    def _dialog(self, block: DialogBlock) -> Iterator[IncomingPassage]:
        """The passages of a block; none, and counted, if no number stands in it."""
        from nfh_models.text.tokens import tokenizer_name

        turns = spoken(block)
        anchors = [self._anchors(block, turn) for turn in turns]
        if not any(anchors):
            self.blocks_left += 1
            return
        if self.window is None:
            cuts = iter([Cut(block.text, turns, tuple(chain.from_iterable(anchors)))])
        else:
            cuts = windows(block, turns, anchors, self.window)
        for cut in cuts:
            passage = passage_of_turns(cut.text, cut.turns)
            yield IncomingPassage(passage, tokenizer_name(), cut.anchors)

    def _anchors(self, block: DialogBlock, turn: TokenizedTurn) -> list[IncomingAnchor]:
        """The numbers of one turn."""
        words = [block.text[start:end] for start, end in turn.tokens]
        glued = [False, *(one[1] == two[0] for one, two in pairwise(turn.tokens))]
        return [
            IncomingAnchor(
                turn.turn.line,
                Anchor(start + turn.start, end + turn.start),
                labels=block.labels,
                split=self.split or block.split or self.named,
            )
            for start, end in find_numbers(words, glued)
        ]


def _before(votes: Sequence[Vote]) -> tuple[Vote, ...]:
    """Annotators' answers that a file kept along, and that were changed elsewhere since.

    Where one of them still stands here, the change goes on from it. An adjudicator's answer
    stays: gold points to it.
    """
    return tuple(
        vote.after for vote in votes if vote.after is not None and vote.role is Role.ANNOTATOR
    )


@lru_cache(maxsize=16)
def _imported_class(kind: Kind) -> Gold:
    return Gold(class_answer(kind), Rule.IMPORTED)


def _by_noun(head_tokens: Sequence[int], passage: Passage) -> Answer:
    """A Reference to tokens that a file lists without saying which name the same noun.

    Tokens of one lemma are mentions of one head. Several heads: relation UNSTATED.
    """
    heads: dict[str, list[Mention]] = {}
    for token in head_tokens:
        mention = Mention(token, token + 1, token)
        heads.setdefault(passage.tokens[token].lemma.casefold(), []).append(mention)
    return reference_answer(heads.values())


FIELDS = {"map": "labels"}
"""What holds a setting that the command line has another name for."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file comes in. split: wins over what rows and file names say.

    labels, offsets, columns, pause, encoding: as `nfh_db.formats.rows.ReadOptions` has them.
    window: turns before and after the one a number stands in that make a passage of its own;
    None for whole scenes. newer_answers: an annotator's answer in the file takes the place of
    an older one of theirs.
    """

    split: str | None = None
    annotator: str | None = None
    replace_gold: bool = False
    dry_run: bool = False
    labels: LabelMap = field(default_factory=LabelMap)
    offsets: Offsets | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    pause: float | None = None
    encoding: str | None = None
    window: tuple[int, int] | None = None
    newer_answers: bool = False

    def named(self) -> list[str]:
        """The settings of a format that were said, by the names of their options."""
        said = {
            "map": self.labels != LabelMap(),
            "offsets": self.offsets is not None,
            "columns": bool(self.columns),
            "pause": self.pause is not None,
            "encoding": self.encoding is not None,
            "window": self.window is not None,
        }
        return [name for name, is_said in said.items() if is_said]

    def known_by(self, sha256: str) -> str:
        """By what an import is known again: the file's hash, hex, and behind it that of the
        settings, if any were said: read with another window or other columns, a file is
        another one.
        """
        said = {name: getattr(self, FIELDS.get(name, name)) for name in self.named()}
        if self.newer_answers:
            said["newer_answers"] = True
        if not said:
            return sha256
        written = json.dumps(said, default=asdict, sort_keys=True)
        return f"{sha256} as {hashlib.sha256(written.encode()).hexdigest()[:16]}"

    def reading(self) -> ReadOptions:
        """How the file's format is read."""
        return reading(
            labels=self.labels,
            offsets=self.offsets,
            columns=self.columns,
            pause=self.pause,
            encoding=self.encoding,
            annotator=self.annotator,
        )


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote.

    left_out: anchors without a form in the format, by reason. undecided: rows among those
    written whose anchor has no gold yet. lost: anchors that had something which the format
    cannot hold, by what. stale_gold: anchors of the database whose gold was given to a span
    that was replaced since, and that nobody has decided anew: no file has it.
    """

    format: str
    out: str | None
    rows: int
    left_out: Mapping[str, int]
    undecided: int
    lost: Mapping[str, int] = field(default_factory=dict)
    stale_gold: int = 0


def import_file(
    store: Store,
    source: FileOrigin,
    format_: Format,
    options: ImportOptions,
    progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Bring one file in, all of it or nothing; `progress` is told the rows so far.

    Raises FormatError for a file that does not hold, StoreError where it cannot be stored.
    """

    split, named = options.split, split_of_name(source.path.stem)
    if split is None and format_.carries_split is False:
        split = named
    annotator = options.annotator
    if annotator is not None and format_.names_people:
        raise source.error(
            None,
            f"the rows of {format_.name} files name who answered; import it without an "
            f"annotator's name ({annotator})",
        )
    if annotator is not None and not format_.labelled:
        source.warnings.append(
            f"{format_.name} files hold no answers: no answer of {annotator}"
        )
        annotator = None
    maker = PassageMaker(source, split, annotator, options.window, named)
    file = IncomingFile(
        name=_storable(source.path.name),
        sha256=options.known_by(source.sha256),
        format=format_.name,
        split=split,
        annotator=annotator,
        warnings=lambda: source.warnings,
        newer_answers=options.newer_answers,
        raw=not format_.labelled,
    )
    return store.imports.load(
        file,
        maker.passages(format_.read(source, options.reading())),
        replace_gold=options.replace_gold,
        dry_run=options.dry_run,
        progress=progress,
    )


def _storable(name: str) -> str:
    """A file's name as text: bytes of it that are no UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode("utf-8")


def export_file(
    store: Store,
    query: Query,
    format_: Format,
    out: Path | None,
    how: Writing | None = None,
) -> ExportReport:
    """Write what `query` finds, in one read transaction, streaming; None is standard output.

    Raises ExportError if it cannot be written (what stood there is untouched), StoreError if
    it cannot be read. A broken pipe is left to the caller.
    """
    layout: Literal["gold", "nfh"] = "nfh" if format_.name == "nfh" else "gold"
    counted = _Counted(store.items.records(query, None, layout), format_, layout == "gold")
    left_out = _write(format_, how or Writing(), counted.records(), out)
    name = None if out is None else str(out)
    rows = counted.rows - sum(left_out.values())
    lost = {str(what): number for what, number in counted.losses.counted.items()}
    return ExportReport(
        format_.name,
        name,
        rows,
        dict(sorted(left_out.items())),
        counted.undecided,
        lost,
        store.items.count_stale_gold() if format_.labelled else 0,
    )


class _Counted:
    """Records as they go by, with their number, that of the undecided ones, and losses."""

    def __init__(
        self, given: Iterator[ExportRecord], format_: Format, tells_undecided: bool
    ) -> None:
        self._given = given
        self._tells = tells_undecided
        self.losses = Losses(format_)
        self.rows = 0
        self.undecided = 0

    def records(self) -> Iterator[ExportRecord]:
        """Each record once."""
        for record in self._given:
            self.rows += 1
            self.undecided += record.gold is None and self._tells
            self.losses.look(record)
            yield record


def _write(
    format_: Format, how: Writing, records: Iterator[ExportRecord], out: Path | None
) -> Counter[str]:
    """Write records; return what the format has no form for, by reason. Raises ExportError."""
    if format_.members is not None and not _one_file(format_, out):
        if out is None:
            raise ExportError(
                f"{format_.name} is written as a folder or a zip file: name one with --out"
            )
        folder_writer = format_.members(how)
        write_members(out, folder_writer.members(records))
        return folder_writer.left_out
    if format_.chunks is not None:
        chunk_writer = format_.chunks(how)
        _pour(out, chunk_writer.chunks(records))
        return chunk_writer.left_out
    if format_.writer is None:
        raise ExportError(f"{format_.name} is import only")
    writer = format_.writer(how)
    _pour(out, (line.encode("utf-8") for line in _lines(records, writer)))
    return writer.left_out


def _one_file(format_: Format, out: Path | None) -> bool:
    """True where a format that can be either is asked for as one file, by the name's end, or
    for standard output.
    """
    single = format_.chunks is not None or format_.writer is not None
    return single and (out is None or out.suffix.lower() in format_.extensions)


def _pour(out: Path | None, chunks: Iterator[bytes]) -> None:
    with ExitStack() as stack:
        file: BinaryIO = (
            standard_output() if out is None else stack.enter_context(replacing(out))
        )
        file.writelines(chunks)
        file.flush()


def standard_output() -> BinaryIO:
    """Where bytes for standard output go. Raises ExportError where the caller closed it."""
    if sys.stdout is None:
        raise ExportError("Standard output is closed: name a file with --out")
    return sys.stdout.buffer


def _lines(records: Iterator[ExportRecord], writer: LineWriter) -> Iterator[str]:
    for record in records:
        line = writer.line(record)
        if line is not None:
            yield line


COLLECT_AFTER = (1_000_000, 20, 100)
"""Records alive beyond those before the import; a stretch of a file has far fewer."""

MESSAGE_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Files:
    """What is to be imported. format: of all of them; None to tell by what stands in each."""

    paths: Sequence[Path]
    format: str | None = None
    options: ImportOptions = field(default_factory=ImportOptions)


def look(
    path: Path, format_name: str | None, options: ImportOptions | None = None
) -> RecognizedFile:
    """A file with its format. Raises FormatError where it cannot be read, or has none, or
    where a setting was named that its format knows nothing of. Columns are a table's.
    """
    options = options or ImportOptions()
    tabular = format_name is None and options.columns
    found = opened(path, TABLE.name if tabular else format_name, options.encoding)
    if tabular:
        found = replace(found, reason="its columns are named")
    unheeded = [name for name in options.named() if name not in found.format.settings]
    if unheeded:
        raise found.source.error(
            None,
            f"is read as {found.format.name}, which knows no --{unheeded[0]}; leave it out",
        )
    return found


def import_files(
    store: "Store", files: Files, progress: Callable[[str, int], None]
) -> list[dict[str, object]]:
    """Bring files in, each whole or not at all; of each what came of it, as JSON has it.

    progress: told a file's name and its rows so far. A file that was refused has "name" and
    "error", and the others come in all the same. What `progress` raises ends it all.
    """
    outcomes = []
    with collecting_rarely():
        for path in files.paths:
            try:
                ready = look(path, files.format, files.options)
                report = _import(store, ready, files.options, progress)
            except (FormatError, StoreError) as error:
                outcomes.append(refused(_name(path, error), error))
            else:
                outcomes.append(asdict(report))
    return outcomes


def _import(
    store: "Store",
    ready: RecognizedFile,
    options: ImportOptions,
    progress: Callable[[str, int], None],
) -> "ImportReport":
    name = ready.source.name

    def tell(rows: int) -> None:
        progress(name, rows)

    return import_file(store, ready.source, ready.format, options, tell)


def _name(path: Path, error: Exception) -> str:
    return error.name if isinstance(error, FormatError) else visible(path.name, 200)


def refused(name: str, error: Exception) -> dict[str, object]:
    """What is reported of a file that did not come in."""
    return {"name": name, "error": visible(str(error), MESSAGE_LIMIT)}


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let the cycle collector run seldom: an import makes millions of records and no cycle.

    Looking through them costs a fifth of its time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
