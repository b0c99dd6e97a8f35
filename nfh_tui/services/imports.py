"""Import and export of files: rows become passages with tokens and lemmas, scenes are cut to
windows of turns, and records are written in a format.
"""

import gc
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache, partial
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import BinaryIO, Literal, TypeVar

from nfh_db.errors import ExportError, FormatError, StoreError
from nfh_db.formats.base import Format
from nfh_db.formats.dialog import Occurrences
from nfh_db.formats.files import FileOrigin, replacing, split_of_name, write_members
from nfh_db.formats.registry import Losses, RecognizedFile, opened, reading
from nfh_db.formats.rows import (
    AssignmentRow,
    DialogBlock,
    DialogTurn,
    GoldRow,
    LabelledRow,
    LabelMap,
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

T = TypeVar("T")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TokenizedTurn:
    """A turn that holds words, with its tokens."""

    turn: DialogTurn
    start: int
    """Index of its first token in the block."""

    tokens: list[Span]
    """Code points [start, end) of the block's text."""


def tokenized_turns(block: DialogBlock) -> list[TokenizedTurn]:
    """The turns of a block that hold words, each tokenized on its own."""
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
    """The passage of one or more turns of a block. Raises PassageError if it is not valid."""
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
    """The passage with a lemma for each token. Raises PassageError if it is not valid."""
    tokens = tuple(map(Token, raw.starts, raw.ends, lemmas(raw.words)))
    return Passage(raw.text, tokens, raw.turns)


# Raw dialog cut to windows: for each number only the turns around its own.
#
# The paper's annotators saw two turns before the number's turn and one after it. Turns
# without words are not counted.


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Turns of a block that become a passage, with the numbers to annotate in it."""

    text: str
    turns: list[TokenizedTurn]
    anchors: tuple[IncomingAnchor, ...]


def windows(
    block: DialogBlock,
    turns: Sequence[TokenizedTurn],
    anchors: Sequence[Sequence[IncomingAnchor]],
    window: tuple[int, int],
) -> Iterator[Excerpt]:
    """One excerpt for each turn with numbers.

    turns: those of the block that hold words. anchors: the numbers of each turn. window: turns
    before and after the number's own. Turns with the same window share one excerpt, as in a
    short scene.
    """
    before, after = window
    ranges = [
        (max(0, rank - before), min(len(turns), rank + after + 1), rank)
        for rank, numbers in enumerate(anchors)
        if numbers
    ]
    lines = _line_starts(block)
    for (first, last), group in groupby(ranges, key=lambda one: one[:2]):
        numbers = [number for *_, rank in group for number in anchors[rank]]
        text_start = lines[turns[first].turn.end]
        token_start = turns[first].start
        yield Excerpt(
            block.text[text_start : turns[last - 1].turn.end],
            [_shifted(one, text_start, token_start) for one in turns[first:last]],
            tuple(
                replace(one, anchor=Anchor(start - token_start, end - token_start))
                for one in numbers
                for start, end in [(one.anchor.start, one.anchor.end)]
            ),
        )


def _line_starts(block: DialogBlock) -> dict[int, int]:
    """By each turn's end: the code point at which its line begins, with the speaker's name.

    The line begins after the turn before it and the line feeds between them.
    """
    starts: dict[int, int] = {}
    last = 0
    for turn in block.turns:
        start = last
        while start < turn.start and block.text[start] == "\n":
            start += 1
        starts.setdefault(turn.end, start)
        last = turn.end
    return starts


def _shifted(one: TokenizedTurn, text_start: int, token_start: int) -> TokenizedTurn:
    """The turn in a text that begins at this code point and token of its block."""
    turn = replace(one.turn, start=one.turn.start - text_start, end=one.turn.end - text_start)
    spans = [(start - text_start, end - text_start) for start, end in one.tokens]
    return TokenizedTurn(turn, one.start - token_start, spans)


MANY_NUMBERS = 200
"""Numbers of one passage above which a warning names --window."""

AS_GIVEN = "as given"
"""The tokenizer's name for passages whose file contains tokens."""


class PassageMaker:
    """Converts one file's rows into passages of the store.

    Warnings about the file as a whole are added to the source's after the last row.
    """

    def __init__(
        self,
        source: FileOrigin,
        split: str | None,
        annotator: str | None,
        window: tuple[int, int] | None = None,
        name_split: str | None = None,
    ) -> None:
        """split: of every anchor; None takes the row's. annotator: whose answers the file's
        labels are; None makes them gold. window: turns before and after a number's own in its
        passage, for raw dialog; None for whole scenes. name_split: the split in the file's
        name, used for raw dialog and for foreign rows without a split.
        """
        self.source = source
        self.window = window
        self.split = split
        self.name_split = name_split
        self.annotator = annotator
        self.at = now()
        self.skipped_votes = 0
        self.skipped_blocks = 0
        self.uncarried = 0
        self.many = Occurrences()
        """Passages with more than MANY_NUMBERS numbers."""
        self._latest: tuple[RawPassage, Passage] | None = None
        self._numbers: tuple[RawPassage, int, int] | None = None
        """The passage of the last number found by rule, its first line, its numbers so far."""

    def passages(self, rows: Iterable[Row]) -> Iterator[IncomingPassage]:
        """The passages in the file's order: one for each row.

        Dialog without a number is left out; with a window, dialog gives one passage for each
        turn with a number. The rows of a batch become one passage for each context, after all
        rows are read.
        """
        assignments: list[AssignmentRow] = []
        for row in rows:
            if isinstance(row, AssignmentRow):
                assignments.append(row)
            elif isinstance(row, LabelledRow):
                yield self._labelled(row)
            elif isinstance(row, GoldRow):
                yield self._gold(self._found(row) if row.found else row)
            else:
                yield from self._dialog(row)
        if assignments:
            from nfh_tui.services.amt_import import BatchMaker

            yield from BatchMaker(self.source, self.split, self.at).passages(assignments)
        if self.skipped_votes:
            self.source.warnings.append(
                f"{counted(self.skipped_votes, 'answer')} of the file left out: with "
                "--annotator, only the file's gold is imported, as that person's answers"
            )
        if self.skipped_blocks:
            self.source.warnings.append(
                f"{counted(self.skipped_blocks, 'passage')} without a number left out"
            )
        if self.uncarried:
            self.source.warnings.append(
                f"what else {counted(self.uncarried, 'document')} held (columns, comments) is "
                "not kept in passages of a window"
            )
        self.source.warnings += self.many.warning(
            "passage",
            f"with more than {MANY_NUMBERS} numbers",
            "; each number is shown with the whole scene; --window 2,1 makes a passage of "
            "each number's turn, two turns before it and one after it",
        )

    # --- rows with tokens -----------------------------------------------------------------

    def _labelled(self, row: LabelledRow) -> IncomingPassage:
        passage = passage_of(row.passage)
        if row.kind is Kind.REFERENCE:
            gold = Gold(grouped_by_lemma(row.head_tokens, passage), Rule.IMPORTED)
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
        return IncomingPassage(passage, AS_GIVEN, (anchor,), row.passage.stated)

    def _gold(self, row: GoldRow) -> IncomingPassage:
        if self.annotator is None:
            gold, votes = row.gold, row.votes
        else:
            self.skipped_votes += len(row.votes)
            gold, votes = None, self._votes(row.gold)
        split = self.split or row.split
        if split is None and row.foreign:
            split = self.name_split
        # Annotators' answers that were changed elsewhere after this file's ancestor was
        # written: where one still stands here, the change continues it. An adjudicator's
        # answer stays, because gold refers to it.
        replaced = tuple(
            vote.after
            for vote in votes
            if vote.after is not None and vote.role is Role.ANNOTATOR
        )
        anchor = IncomingAnchor(
            row.line, row.anchor, row.labels, split, gold, votes, row.flags, replaced
        )
        tokenizer = row.tokenizer or AS_GIVEN
        passage = self._passage(row.passage)
        return IncomingPassage(passage, tokenizer, (anchor,), row.passage.stated)

    def _found(self, row: GoldRow) -> GoldRow:
        """The row of a number that was found by rule: with a window, the turns around the
        number become its passage.
        """
        if self.window is None:
            if self._numbers is None or self._numbers[0] is not row.passage:
                self._numbers = row.passage, row.line, 0
            _, line, count = self._numbers
            self._numbers = row.passage, line, count + 1
            if count == MANY_NUMBERS:
                self.many.add(line, row.passage.text)
            return row
        before, after = self.window
        raw, start = row.passage, row.anchor.start
        rank = next(at for at, turn in enumerate(raw.turns) if start < turn.end)
        turns = raw.turns[max(0, rank - before) : rank + after + 1]
        first, stop = turns[0].start, turns[-1].end
        begin, end = raw.span(first, stop)
        offsets = [
            (one - begin, two - begin)
            for one, two in zip(raw.starts[first:stop], raw.ends[first:stop], strict=True)
        ]
        moved = (replace(one, start=one.start - first, end=one.end - first) for one in turns)
        self.uncarried += row.labels is not None
        return replace(
            row,
            passage=RawPassage.of(raw.text[begin:end], offsets, tuple(moved)),
            anchor=Anchor(start - first, row.anchor.end - first),
            labels=None,
        )

    def _passage(self, raw: RawPassage) -> Passage:
        # A text may contain thousands of numbers: it is checked and hashed once.
        if self._latest is None or self._latest[0] is not raw:
            self._latest = (raw, passage_of(raw))
        return self._latest[1]

    def _votes(self, gold: Gold | None) -> tuple[Vote, ...]:
        """The file's gold as the answer of the annotator; () where none is given."""
        if self.annotator is None or gold is None:
            return ()
        at, timed = gold.decided_at or self.at, gold.decided_at is not None
        return (Vote(self.annotator, Role.ANNOTATOR, gold.answer, at, timed=timed),)

    # --- plain text -----------------------------------------------------------------------

    def _dialog(self, block: DialogBlock) -> Iterator[IncomingPassage]:
        from nfh_models.text.tokens import tokenizer_name

        turns = tokenized_turns(block)
        anchors = [self._anchors(block, turn) for turn in turns]
        if not any(anchors):
            self.skipped_blocks += 1
            return
        excerpts: Iterable[Excerpt]
        if self.window is None:
            excerpts = [Excerpt(block.text, turns, tuple(chain.from_iterable(anchors)))]
        else:
            excerpts = windows(block, turns, anchors, self.window)
        for one in excerpts:
            if len(one.anchors) > MANY_NUMBERS:
                self.many.add(one.anchors[0].line, one.text)
            passage = passage_of_turns(one.text, one.turns)
            yield IncomingPassage(passage, tokenizer_name(), one.anchors)

    def _anchors(self, block: DialogBlock, turn: TokenizedTurn) -> list[IncomingAnchor]:
        words = [block.text[start:end] for start, end in turn.tokens]
        glued = [False, *(one[1] == two[0] for one, two in pairwise(turn.tokens))]
        return [
            IncomingAnchor(
                turn.turn.line,
                Anchor(start + turn.start, end + turn.start),
                labels=block.labels,
                split=self.split or block.split or self.name_split,
            )
            for start, end in find_numbers(words, glued)
        ]


@lru_cache(maxsize=16)
def _imported_class(kind: Kind) -> Gold:
    return Gold(class_answer(kind), Rule.IMPORTED)


def grouped_by_lemma(head_tokens: Sequence[int], passage: Passage) -> Answer:
    """A Reference whose heads are the lemmas of the tokens; several heads: UNSTATED."""
    heads: dict[str, list[Mention]] = {}
    for token in head_tokens:
        mention = Mention(token, token + 1, token)
        heads.setdefault(passage.tokens[token].lemma.casefold(), []).append(mention)
    return reference_answer(heads.values())


FORMAT_SETTINGS = {"map": "labels", "count-rejected": "count_rejected"} | {
    name: name for name in ("offsets", "columns", "pause", "encoding", "window")
}
"""Attributes of `ImportOptions` that are settings of a format, by their option's name."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is imported.

    labels, offsets, columns, pause, encoding, count_rejected: as in
    `nfh_db.formats.rows.ReadOptions`.
    """

    split: str | None = None
    """Takes precedence over the split of rows and of the file's name."""

    annotator: str | None = None
    replace_gold: bool = False
    dry_run: bool = False
    labels: LabelMap = field(default_factory=LabelMap)
    offsets: Offsets | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    pause: float | None = None
    encoding: str | None = None
    window: tuple[int, int] | None = None
    """Turns before and after a number's own in its passage; None for whole scenes."""

    count_rejected: bool = False
    newer_answers: bool = False
    """An annotator's answer in the file replaces an older one by the same annotator."""

    replaces: bool = False
    """The file takes the place of earlier imports of its name."""

    new_person: bool = False
    """A new person's name may differ from a known one only by case, accents or width."""

    def format_settings(self) -> dict[str, object]:
        """The settings of a format that differ from the default, by option name."""
        default = ImportOptions()
        values = {name: getattr(self, at) for name, at in FORMAT_SETTINGS.items()}
        return {
            name: value
            for name, value in values.items()
            if value != getattr(default, FORMAT_SETTINGS[name])
        }

    def import_key(self, sha256: str) -> str:
        """Identifies an import: the file's hash in hex, then a hash of the settings, if any.

        A file read with another window or other columns counts as another file.
        """
        settings = self.format_settings()
        if self.newer_answers:
            settings["newer_answers"] = True
        if not settings:
            return sha256
        text = json.dumps(settings, default=asdict, sort_keys=True)
        return f"{sha256} as {hashlib.sha256(text.encode()).hexdigest()[:16]}"

    def read_options(self) -> ReadOptions:
        """The options for the format's reader."""
        return reading(
            labels=self.labels,
            offsets=self.offsets,
            columns=self.columns,
            pause=self.pause,
            encoding=self.encoding,
            annotator=self.annotator,
            count_rejected=self.count_rejected,
        )


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export wrote."""

    format: str
    out: str | None
    rows: int
    left_out: Mapping[str, int]
    """Anchors that the format cannot express, by reason."""

    undecided: int
    """Written rows whose anchor has no gold yet."""

    lost: Mapping[str, int] = field(default_factory=dict)
    """Anchors with information that the format cannot hold, by its kind."""

    stale_gold: int = 0
    """Anchors of the database whose gold belongs to a replaced span and has not been decided
    again. No file contains it."""

    repeated: float = 1.0
    """How many times the text of a passage was written, on average over its characters."""


def import_file(
    store: Store,
    source: FileOrigin,
    format_: Format,
    options: ImportOptions,
    progress: Callable[[int], None] | None = None,
    by: str = "",
) -> ImportReport:
    """Import one file in one transaction. progress: called with the number of rows so far.

    by: who imports it, and retires what it replaces. Raises FormatError for an invalid file,
    StoreError where it cannot be stored.
    """
    split, name_split = options.split, split_of_name(source.path.stem)
    if split is None and format_.carries_split is False:
        split = name_split
    annotator = options.annotator
    if annotator is not None and format_.names_people:
        raise source.error(
            None,
            f"the rows of {format_.name} files name the annotators; import it without an "
            f"annotator's name ({annotator})",
        )
    if annotator is not None and not format_.labelled:
        source.warnings.append(
            f"{format_.name} files hold no answers: no answer of {annotator}"
        )
        annotator = None
    maker = PassageMaker(source, split, annotator, options.window, name_split)
    file = IncomingFile(
        # Bytes of a file's name that are not UTF-8 become question marks.
        name=source.path.name.encode("utf-8", "replace").decode("utf-8"),
        sha256=options.import_key(source.sha256),
        format=format_.name,
        split=split,
        annotator=annotator,
        warnings=lambda: source.warnings,
        newer_answers=options.newer_answers,
        by=by,
        new_person=options.new_person,
        raw=not format_.labelled,
    )
    report = store.imports.load(
        file,
        maker.passages(format_.read(source, options.read_options())),
        replace_gold=options.replace_gold,
        dry_run=options.dry_run,
        progress=progress,
    )
    return replace_earlier(store, report, by) if options.replaces else report


def replace_earlier(store: Store, report: ImportReport, by: str) -> ImportReport:
    """Retire what an imported file replaces; the report with what that did.

    What people said goes over to the file where the turn of the number is the same. Nothing is
    written after a dry run.
    """
    if report.correction is None:
        lack = "there is no other import of this name, format and person: nothing is replaced"
        return replace(report, warnings=(*report.warnings, lack))
    if report.dry_run:
        return report
    person = store.people.ensure(by)
    done = store.imports.retire(report.correction.imports, person, into=report.number)
    return replace(report, retired=done)


def export_file(
    store: Store,
    query: Query,
    format_: Format,
    out: Path | None,
    how: Writing | None = None,
    *,
    allow_empty: bool = True,
) -> ExportReport:
    """Stream the records that `query` finds to a file, in one read transaction.

    out: None for standard output. allow_empty: replace a file also if nothing is written.
    Raises ExportError if they cannot be written (an existing file is left unchanged),
    StoreError if they cannot be read. A broken pipe is left to the caller.
    """
    layout: Literal["gold", "nfh"] = "nfh" if format_.name == "nfh" else "gold"
    records = store.items.records(query, None, layout)
    losses = Losses(format_)
    how = how or Writing()
    rows = undecided = written = whole = 0

    def counted_records() -> Iterator[ExportRecord]:
        nonlocal rows, undecided, written, whole
        last = None
        for record in records:
            rows += 1
            written += len(record.passage.text)
            if record.passage.digest != last:
                last = record.passage.digest
                whole += len(record.passage.text)
            undecided += record.gold is None and layout == "gold"
            losses.look(record)
            yield record

    def check(left_out: Counter[str]) -> None:
        why = f"{format_.name} has no form for what the query finds"
        nothing = rows == sum(left_out.values())
        check_empty(
            *(out, why if rows else "the query finds nothing"),
            empty=nothing and not allow_empty,
        )

    left_out = _write(format_, how, counted_records(), out, check)
    repeats = format_.name == "gold" and not how.compact
    return ExportReport(
        format_.name,
        None if out is None else str(out),
        rows - sum(left_out.values()),
        dict(sorted(left_out.items())),
        undecided,
        {str(what): number for what, number in losses.counted.items()},
        store.items.count_stale_gold() if format_.labelled else 0,
        round(written / whole, 1) if repeats and whole else 1.0,
    )


def check_empty(out: Path | None, why: str, *, empty: bool) -> None:
    """Raise ExportError if what was written is empty and would replace the file at `out`."""
    if empty and out is not None and out.is_file():
        raise ExportError(
            f"{visible(str(out), 200)}: the existing file is unchanged, because {why}; "
            "--allow-empty replaces it anyway"
        )


def _write(
    format_: Format,
    how: Writing,
    records: Iterator[ExportRecord],
    out: Path | None,
    check: Callable[[Counter[str]], None],
) -> Counter[str]:
    """Write records; return how many the format cannot express, by reason.

    check: called with these before the file gets its name.
    """

    def checked(parts: Iterable[T], left_out: Counter[str]) -> Iterator[T]:
        yield from parts
        check(left_out)

    one_file = (format_.chunks is not None or format_.writer is not None) and (
        out is None or out.suffix.lower() in format_.extensions
    )
    if format_.members is not None and not one_file:
        if out is None:
            raise ExportError(
                f"{format_.name} is written as a folder or a zip file: name one with --out"
            )
        folder_writer = format_.members(how)
        write_members(out, checked(folder_writer.members(records), folder_writer.left_out))
        return folder_writer.left_out
    if format_.chunks is not None:
        chunk_writer = format_.chunks(how)
        _write_chunks(out, checked(chunk_writer.chunks(records), chunk_writer.left_out))
        return chunk_writer.left_out
    if format_.writer is None:
        raise ExportError(f"{format_.name} is import only")
    writer = format_.writer(how)
    lines = (line for record in records if (line := writer.line(record)) is not None)
    _write_chunks(out, checked((line.encode("utf-8") for line in lines), writer.left_out))
    return writer.left_out


def _write_chunks(out: Path | None, chunks: Iterator[bytes]) -> None:
    with ExitStack() as stack:
        file: BinaryIO = (
            standard_output() if out is None else stack.enter_context(replacing(out))
        )
        file.writelines(chunks)
        file.flush()


def standard_output() -> BinaryIO:
    """Standard output for bytes. Raises ExportError where it is closed."""
    if sys.stdout is None:
        raise ExportError("Standard output is closed: name a file with --out")
    return sys.stdout.buffer


COLLECTION_THRESHOLDS = (1_000_000, 20, 100)
"""For `gc.set_threshold`; the part of a file in memory is far fewer objects."""

MESSAGE_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class ImportFiles:
    """ImportFiles to import."""

    paths: Sequence[Path]
    format: str | None = None
    """Of all files; None recognises each by its content."""

    options: ImportOptions = field(default_factory=ImportOptions)


def recognise_file(
    path: Path, format_name: str | None, options: ImportOptions | None = None
) -> RecognizedFile:
    """A file with its format; column names imply a table.

    Raises FormatError for a file that cannot be read or has no known format, and for a
    setting that the format does not have.
    """
    options = options or ImportOptions()
    tabular = format_name is None and options.columns
    found = opened(path, TABLE.name if tabular else format_name, options.encoding)
    if tabular:
        found = replace(found, reason="its columns are named")
    for name in options.format_settings():
        if name not in found.format.settings:
            raise found.source.error(
                None,
                f"is read as {found.format.name}, which has no --{name}; leave it out",
            )
    return found


def import_files(
    store: Store, files: ImportFiles, progress: Callable[[str, int], None], by: str
) -> list[dict[str, object]]:
    """Import files, each in a transaction of its own; the reports as JSON objects.

    progress: called with a file's name and its number of rows so far; what it raises ends the
    import. A file that fails has a report with "name" and "error", and the next one follows.
    """
    reports: list[dict[str, object]] = []
    with rare_garbage_collection():
        for path in files.paths:
            try:
                found = recognise_file(path, files.format, files.options)
                source = found.source
                rows_so_far = partial(progress, source.name)
                report = import_file(
                    store, source, found.format, files.options, rows_so_far, by
                )
            except (FormatError, StoreError) as error:
                name = visible(path.name, 200)
                if isinstance(error, FormatError):
                    name = error.name
                reports.append({"name": name, "error": visible(str(error), MESSAGE_LIMIT)})
            else:
                reports.append(asdict(report))
    return reports


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Collect cycles seldom: an import makes millions of records and no cycle.

    Collections would take a fifth of its time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
