"""Import of a Mechanical Turk batch: its rows become passages with answers, and a report lists
rows that were left out or changed.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice

from nfh_db.formats import amt
from nfh_db.formats.amt import RowProblem, UnusableRow
from nfh_db.formats.dialog import Doubtful, split_speaker
from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.files import FileOrigin
from nfh_db.formats.rows import AssignmentRow, DialogBlock, DialogTurn
from nfh_db.messages import counted, shown
from nfh_db.records import IncomingAnchor, IncomingPassage, Role, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    class_answer,
    reference_answer,
)
from nfh_models.parsing.span_heads import (
    HeadFinder,
    Phrase,
    RuleHeads,
    SpanHead,
    load_heads,
    may_be_head,
)
from nfh_models.text.tokens import spans, tokenizer_name
from nfh_tui.services.imports import passage_of_turns, tokenized_turns

LISTED_LINES = 5
"""Line numbers listed in a warning."""

SHOWN_VALUES = 3


class RowNote(StrEnum):
    """What a warning says of imported rows. The value contains their count."""

    SUPERSEDED = (
        "{rows} whose worker answered the same number again: the later answer counts, the "
        "earlier one is in the item's history"
    )
    WIDENED = "{rows} with a mark that ends inside a word: widened to the whole word"
    WITH_SPEAKER = "{rows} with a mark that includes a speaker's name: the name was left out"
    OFFSET_UNFIT = (
        "{rows} with offsets that do not match the marked text: the only place of that text "
        "was used"
    )
    INDEX_UNFIT = (
        "{rows} with indices and a sentence that do not match the number: the only place of "
        "the number was used"
    )
    TIME_UNREAD = "{rows} with a SubmitTime that is not a time: dated with the import"
    SECONDS_UNREAD = "{rows} with a WorkTimeInSeconds that is not a number of seconds: left out"


@dataclass(slots=True)
class RowLines:
    """Line numbers of rows."""

    lines: list[int] = field(default_factory=list)
    found: list[str] = field(default_factory=list)
    """The first different values of the field in question, SHOWN_VALUES at most."""

    def add(self, line: int, found: str = "") -> None:
        self.lines.append(line)
        if found and len(self.found) < SHOWN_VALUES and found not in self.found:
            self.found.append(found)

    def counted(self) -> str:
        return counted(len(self.lines), "row")

    def listed(self) -> str:
        """At most LISTED_LINES line numbers, ascending, and the values found."""
        lines = sorted(self.lines)
        words = "line " if len(lines) == 1 else "lines "
        words += ", ".join(map(str, lines[:LISTED_LINES]))
        if len(lines) > LISTED_LINES:
            words += f" and {len(lines) - LISTED_LINES:,} more"
        if self.found:
            words += f" (found {', '.join(map(shown, self.found))})"
        return words


class BatchReport:
    """Counts the problems of a batch; `finish` adds sentences about them to `warnings`."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.one_word = 0
        self._unused: defaultdict[RowProblem, RowLines] = defaultdict(RowLines)
        self._notes: defaultdict[RowNote, RowLines] = defaultdict(RowLines)
        self._parsed = 0
        self._ruled = RowLines()
        self._finder = ""

    def left_out(self, row: AssignmentRow, error: UnusableRow) -> None:
        """Count a row that is not stored."""
        self._unused[error.trouble].add(row.line, error.found)

    def note(self, note: RowNote, row: AssignmentRow) -> None:
        """Count a row that is stored with a change."""
        self._notes[note].add(row.line)

    def head(self, row: AssignmentRow, finder: str, found: SpanHead) -> None:
        """Count a marked phrase of several words with its head."""
        self._finder = finder
        if found.parsed:
            self._parsed += 1
        else:
            self._ruled.add(row.line)

    def finish(self) -> None:
        """Add the warnings, in the order of the enumerations."""
        for problem in RowProblem:
            if problem in self._unused:
                rows = self._unused[problem]
                self.warnings.append(
                    f"{rows.counted()} left out, {problem.value}: {rows.listed()}"
                )
        for note in RowNote:
            if note in self._notes:
                rows = self._notes[note]
                self.warnings.append(
                    f"{note.value.format(rows=rows.counted())}: {rows.listed()}"
                )
        if self._parsed:
            self.warnings.append(
                f"of {counted(self._parsed, 'mark')} of several words the head was found by "
                f"the parser of {self._finder}; {self.one_word:,} more of one word"
            )
        if self._ruled.lines:
            why = (
                "because no English spaCy pipeline with a parser could be loaded"
                if self._finder == RuleHeads.name
                else "because the parse gave none or several"
            )
            marks = counted(len(self._ruled.lines), "mark")
            self.warnings.append(
                f"of {marks} the head was found by a rule, {why}: the last word before a "
                "preposition, a relative word or a stop; "
                f"{self._ruled.listed()}"
            )


# One context is one passage, one task an anchor in it, one row an answer of its worker. A row
# that cannot be used is reported with its line and left out; nothing is guessed.

CONTEXT_BATCH = 500
"""Contexts whose marked phrases are parsed together."""

TargetKey = tuple[str, str, str, str, str, str]
"""Context and page, then the fields of `amt.AmtTarget`."""


@dataclass(frozen=True, slots=True)
class AmtAnswer:
    """The kind and span of a row's answer, before the head of a longer span is found."""

    row: AssignmentRow
    anchor: Anchor
    kind: Kind
    span: tuple[int, int] | None = None
    """Marked tokens [start, end)."""

    head: int | None = None


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """A row's complete answer."""

    row: AssignmentRow
    anchor: Anchor
    answer: Answer
    at: str | None
    """Time of submission; None where the row has none."""


class AmtContext:
    """A context with the answers of its rows."""

    def __init__(self, text: str, rows: Sequence[AssignmentRow], report: BatchReport) -> None:
        self.drafts: list[AmtAnswer] = []
        self.passage: Passage | None = None
        self._report = report
        self._shown: dict[tuple[str, str], amt.ContextText] = {}
        self._anchors: dict[TargetKey, tuple[Anchor, bool] | UnusableRow] = {}
        self._layouts: dict[tuple[str, str, Anchor], list[amt.NodeLayout]] = {}
        turns = tokenized_turns(_block(text))
        if turns:
            self.passage = passage_of_turns(text, turns)
        self._tokens = [token for turn in turns for token in turn.tokens]
        for row in rows:
            try:
                self.drafts.append(self._draft(row))
            except UnusableRow as error:
                report.left_out(row, error)

    def _draft(self, row: AssignmentRow) -> AmtAnswer:
        """Raises UnusableRow."""
        kind = _usable_kind(row)
        if self.passage is None:
            raise UnusableRow(RowProblem.NO_WORDS, row.context)
        page = (row.context, row.html)
        if page not in self._shown:
            self._shown[page] = amt.shown(*page)
        context = self._shown[page]
        anchor, has_position = self._anchor(row, context, self.passage)
        draft = AmtAnswer(row, anchor, kind)
        if kind is Kind.REFERENCE:
            draft = self._marked(draft, context)
        if not has_position and (row.start.strip() or row.sentence.strip()):
            self._report.note(RowNote.INDEX_UNFIT, row)
        return draft

    def _anchor(
        self, row: AssignmentRow, context: amt.ContextText, passage: Passage
    ) -> tuple[Anchor, bool]:
        """The number's tokens, and whether the row gives its position. Raises UnusableRow."""
        key = (row.context, row.html, row.target, row.start, row.end, row.sentence)
        found = self._anchors.get(key)
        if found is None:
            worded = amt.Context(context, self._tokens, passage.turns)
            try:
                found = amt.find_anchor(worded, amt.AmtTarget(*key[2:]), spans)
            except UnusableRow as error:
                found = error
            self._anchors[key] = found
        if isinstance(found, UnusableRow):
            raise found
        return found

    def _marked(self, draft: AmtAnswer, context: amt.ContextText) -> AmtAnswer:
        """The draft with the marked tokens. Raises UnusableRow."""
        row = draft.row
        pair = amt.offsets(row.offset)
        layouts = self._possible_layouts(draft, context)
        (start, end), by_offset = amt.find_span(context, layouts, row.marked, pair)
        first = bisect_right(self._tokens, start, key=lambda token: token[1])
        last = bisect_left(self._tokens, end, key=lambda token: token[0]) - 1
        inside = self._tokens[first : last + 1]
        if not any(may_be_head(context.text[slice(*token)]) for token in inside):
            raise UnusableRow(RowProblem.MARK_NO_WORD, row.marked)
        if not by_offset and row.offset.strip():
            self._report.note(RowNote.OFFSET_UNFIT, row)
        if self._tokens[first][0] < start or end < self._tokens[last][1]:
            self._report.note(RowNote.WIDENED, row)
        if context.text[start : max(start, self._tokens[first][0])].strip():
            self._report.note(RowNote.WITH_SPEAKER, row)
        head = first if first == last else None
        return replace(draft, span=(first, last + 1), head=head)

    def _possible_layouts(
        self, draft: AmtAnswer, context: amt.ContextText
    ) -> list[amt.NodeLayout]:
        """The ways in which the page may have split the context into text nodes."""
        anchor = draft.anchor
        key = (draft.row.context, draft.row.html, anchor)
        if key not in self._layouts:
            start, end = self._tokens[anchor.start][0], self._tokens[anchor.end - 1][1]
            letters = context.letters.of(start, end)
            self._layouts[key] = amt.layouts(context, letters)
        return self._layouts[key]


class BatchMaker:
    """Converts one batch. at: the time of the import, used for rows without a time."""

    def __init__(self, source: FileOrigin, split: str | None, at: str) -> None:
        self.report = BatchReport(source.warnings)
        self._split = split
        self._at = at
        self._finder: HeadFinder | None = None

    def passages(self, rows: Sequence[AssignmentRow]) -> Iterator[IncomingPassage]:
        """One passage with answers for each context, in the order of their first rows.

        Warnings are added to the source's after the last passage.
        """
        contexts: dict[str, list[AssignmentRow]] = {}
        for row in rows:
            contexts.setdefault(amt.stored(row.context), []).append(row)
        doubtful = Doubtful()
        groups = iter(contexts.items())
        while batch := list(islice(groups, CONTEXT_BATCH)):
            for text, group in batch:
                for line in text.split("\n"):
                    doubtful.look_at(group[0].line, line)
            pages = [AmtContext(text, group, self.report) for text, group in batch]
            self._find_heads(pages)
            yield from (made for page in pages if (made := self._passage(page)) is not None)
        self.report.finish()
        self.report.warnings.extend(doubtful.warnings())

    def _find_heads(self, pages: Iterable[AmtContext]) -> None:
        """Set the head of each draft with several marked tokens."""
        places: list[tuple[AmtContext, int]] = []
        phrases: list[Phrase] = []
        for page in pages:
            for place, draft in enumerate(page.drafts):
                if draft.span is not None and draft.head is None and page.passage is not None:
                    places.append((page, place))
                    phrases.append(Phrase(page.passage, *draft.span))
                elif draft.span is not None:
                    self.report.one_word += 1
        if not phrases:
            return
        if self._finder is None:
            self._finder = load_heads()
        for (page, place), found in zip(places, self._finder.heads(phrases), strict=True):
            page.drafts[place] = replace(page.drafts[place], head=found.token)
            self.report.head(page.drafts[place].row, self._finder.name, found)

    def _passage(self, page: AmtContext) -> IncomingPassage | None:
        """The passage with its answers; None if none of its rows can be used."""
        if page.passage is None:
            return None
        answers: dict[tuple[Anchor, str], list[SubmittedAnswer]] = {}
        for draft in page.drafts:
            try:
                answer = self._answer(draft)
            except UnusableRow as error:
                self.report.left_out(draft.row, error)
                continue
            key = (draft.anchor, draft.row.worker.strip())
            answers.setdefault(key, []).append(answer)
        anchors = [self._incoming(worker, given) for (_, worker), given in answers.items()]
        if not anchors:
            return None
        anchors.sort(key=lambda anchor: anchor.line)
        return IncomingPassage(page.passage, tokenizer_name(), tuple(anchors))

    def _answer(self, draft: AmtAnswer) -> SubmittedAnswer:
        """Raises UnusableRow if the head of the marked span is the number itself."""
        row = draft.row
        noun, comment = amt.typed(draft.kind, row.other, row.comment)
        if draft.span is None or draft.head is None:
            answer = class_answer(draft.kind, noun=noun, comment=comment)
        else:
            if draft.anchor.start <= draft.head < draft.anchor.end:
                raise UnusableRow(RowProblem.MARK_IS_ANCHOR, row.marked)
            mention = Mention(*draft.span, draft.head)
            answer = reference_answer([[mention]], comment=comment)
        at = amt.time(row.submitted)
        if at is None and row.submitted.strip():
            self.report.note(RowNote.TIME_UNREAD, row)
        return SubmittedAnswer(row, draft.anchor, answer, at)

    def _incoming(self, worker: str, given: list[SubmittedAnswer]) -> IncomingAnchor:
        """A worker's answer to an anchor: the one submitted last, earlier ones as history."""
        times = [one.at for one in given if one.at is not None]
        if len(times) == len(given):
            given = sorted(given, key=lambda one: one.at or "")
        *earlier, last = given
        for one in earlier:
            self.report.note(RowNote.SUPERSEDED, one.row)
        return IncomingAnchor(
            last.row.line,
            last.anchor,
            split=self._split,
            votes=(self._vote(worker, last),),
            earlier=tuple(self._vote(worker, one) for one in earlier),
        )

    def _vote(self, worker: str, given: SubmittedAnswer) -> Vote:
        seconds = amt.seconds(given.row.seconds)
        if seconds is None and given.row.seconds.strip():
            self.report.note(RowNote.SECONDS_UNREAD, given.row)
        at, timed = given.at or self._at, given.at is not None
        return Vote(worker, Role.ANNOTATOR, given.answer, at, seconds, timed=timed)


def _usable_kind(row: AssignmentRow) -> Kind:
    """The kind of a row's answer. Raises UnusableRow for a row that must not be imported."""
    worker = row.worker.strip()
    if not worker:
        raise UnusableRow(RowProblem.NO_WORKER)
    if len(worker) > NAME_LENGTH or not worker.isprintable():
        raise UnusableRow(RowProblem.WORKER_NAME, worker)
    if row.rejected:
        raise UnusableRow(RowProblem.REJECTED)
    kind = amt.kind_of(row.code)
    if kind is None:
        raise UnusableRow(RowProblem.CODE, row.code)
    return kind


def _block(text: str) -> DialogBlock:
    """The turns of a context, one for each line, as the format `dialog` reads them."""
    turns = []
    offset = rank = 0
    for line in text.split("\n"):
        if line.strip():
            speaker, start = split_speaker(line)
            turns.append(DialogTurn(rank, rank, speaker, offset + start, offset + len(line)))
            rank += 1
        offset += len(line) + 1
    return DialogBlock(text, tuple(turns))
