"""Rows of a Mechanical Turk batch made into passages with answers, and what a person should
know about the batch.
"""

from bisect import bisect_left, bisect_right
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
from nfh_tui.services.imports import passage_of_turns, spoken

LISTED_LINES = 1_000
LISTED_NOTES = 100
"""Lines that are listed of rows that were taken."""

SHOWN_VALUES = 3


class RowNote(StrEnum):
    """What is worth a word about a row that was taken. The value stands behind the count."""

    SUPERSEDED = (
        "{rows} whose worker answered the same number once more: the later answer counts, "
        "the earlier one is in the number's history"
    )
    WIDENED = "{rows} with a mark that ends inside a word: widened to the whole word"
    WITH_SPEAKER = "{rows} with a mark that takes in a speaker's name: the name was left out"
    OFFSET_UNFIT = (
        "{rows} with offsets that fit no place of the marked text: taken for the one place "
        "where it stands"
    )
    INDEX_UNFIT = (
        "{rows} with indices and a sentence that fit no place of the number: taken for the "
        "one place where it stands"
    )
    TIME_UNREAD = "{rows} with a SubmitTime that is no time: dated with the import"
    SECONDS_UNREAD = "{rows} with a WorkTimeInSeconds that is no number of seconds: left out"


@dataclass(slots=True)
class RowLines:
    """Lines of rows, and what the first of them hold in the field in question."""

    lines: list[int] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def add(self, line: int, found: str = "") -> None:
        """Count one."""
        self.lines.append(line)
        if found and len(self.found) < SHOWN_VALUES and found not in self.found:
            self.found.append(found)

    def counted(self) -> str:
        """How many rows these are."""
        return counted(len(self.lines), "row")

    def listed(self, limit: int = LISTED_LINES) -> str:
        """Their lines, ascending, at most `limit` of them, and what was found."""
        lines = sorted(self.lines)
        words = "line " if len(lines) == 1 else "lines "
        words += ", ".join(map(str, lines[:limit]))
        if len(lines) > limit:
            words += f" and {len(lines) - limit:,} more"
        if self.found:
            words += f" (found {', '.join(map(shown, self.found))})"
        return words


class BatchReport:
    """Collects what there is to say of a batch. warnings: where the sentences go."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.one_word = 0
        self._unused: dict[RowProblem, RowLines] = {}
        self._notes: dict[RowNote, RowLines] = {}
        self._parsed = 0
        self._ruled = RowLines()
        self._finder = ""

    def left_out(self, row: AssignmentRow, verdict: UnusableRow) -> None:
        """A row that is not stored."""
        self._unused.setdefault(verdict.trouble, RowLines()).add(row.line, verdict.found)

    def note(self, note: RowNote, row: AssignmentRow) -> None:
        """A row that is stored in a way one should know of."""
        self._notes.setdefault(note, RowLines()).add(row.line)

    def head(self, row: AssignmentRow, finder: str, found: SpanHead) -> None:
        """A phrase of several words whose head was found."""
        self._finder = finder
        if found.parsed:
            self._parsed += 1
        else:
            self._ruled.add(row.line)

    def finish(self) -> None:
        """Say all of it."""
        for trouble in RowProblem:
            if trouble in self._unused:
                rows = self._unused[trouble]
                self.warnings.append(
                    f"{rows.counted()} left out, {trouble.value}: {rows.listed()}"
                )
        for note in RowNote:
            if note in self._notes:
                rows = self._notes[note]
                self.warnings.append(
                    f"{note.value.format(rows=rows.counted())}: {rows.listed(LISTED_NOTES)}"
                )
        self.warnings.extend(self._about_heads())

    def _about_heads(self) -> list[str]:
        sentences = []
        if self._parsed:
            sentences.append(
                f"of {counted(self._parsed, 'mark')} of several words the head was found by "
                f"the parser of {self._finder}; {self.one_word:,} more of one word"
            )
        if self._ruled.lines:
            why = (
                "as no English spaCy pipeline with a parser could be loaded"
                if self._finder == RuleHeads.name
                else "as the parse gave no single one"
            )
            marks = counted(len(self._ruled.lines), "mark")
            sentences.append(
                f"of {marks} the head was found by a rule, {why}: the last word before a "
                "preposition, a relative word or a stop; "
                f"{self._ruled.listed(LISTED_NOTES)}"
            )
        return sentences


# Rows of a Mechanical Turk batch made into passages with answers.
#
# One context is one passage, one task an anchor in it, one row an answer of its worker. A row
# that cannot be used is reported with its line and left out; nothing is guessed.

AT_ONCE = 500
"""Contexts whose marked phrases are parsed together."""

TargetKey = tuple[str, str, str, str, str, str]
"""Context and page, and what `amt.Target` holds."""


@dataclass(frozen=True, slots=True)
class AmtAnswer:
    """A row on its way to an answer. span: tokens of what was marked; head: if it is known."""

    row: AssignmentRow
    anchor: Anchor
    kind: Kind
    span: tuple[int, int] | None = None
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """An answer of a row. at: when it was submitted; None where the row does not say."""

    row: AssignmentRow
    anchor: Anchor
    answer: Answer
    at: str | None


class AmtContext:
    """One context, by its text, with what its rows say of it."""

    def __init__(self, text: str, rows: Sequence[AssignmentRow], report: BatchReport) -> None:
        self.drafts: list[AmtAnswer] = []
        self.passage: Passage | None = None
        self._report = report
        self._shown: dict[tuple[str, str], amt.ContextText] = {}
        self._anchors: dict[TargetKey, tuple[Anchor, bool] | UnusableRow] = {}
        self._layouts: dict[tuple[str, str, Anchor], list[amt.NodeLayout]] = {}
        turns = spoken(_block(text))
        if turns:
            self.passage = passage_of_turns(text, turns)
        self._tokens = [token for turn in turns for token in turn.tokens]
        for row in rows:
            try:
                self.drafts.append(self._draft(row))
            except UnusableRow as verdict:
                report.left_out(row, verdict)

    def _draft(self, row: AssignmentRow) -> AmtAnswer:
        """Raises UnusableRow."""
        kind = _usable(row)
        if self.passage is None:
            raise UnusableRow(RowProblem.NO_WORDS, row.context)
        context = self._context(row)
        anchor, told = self._anchor(row, context, self.passage)
        draft = AmtAnswer(row, anchor, kind)
        if kind is Kind.REFERENCE:
            draft = self._marked(draft, context)
        if not told and (row.start.strip() or row.sentence.strip()):
            self._report.note(RowNote.INDEX_UNFIT, row)
        return draft

    def _context(self, row: AssignmentRow) -> amt.ContextText:
        key = (row.context, row.html)
        if key not in self._shown:
            self._shown[key] = amt.shown(*key)
        return self._shown[key]

    def _anchor(
        self, row: AssignmentRow, context: amt.ContextText, passage: Passage
    ) -> tuple[Anchor, bool]:
        """The number's tokens, and whether the row told its place. Raises UnusableRow."""
        key = (row.context, row.html, row.target, row.start, row.end, row.sentence)
        found = self._anchors.get(key)
        if found is None:
            worded = amt.Worded(context, self._tokens, passage.turns)
            try:
                found = amt.find_anchor(worded, amt.AmtTarget(*key[2:]), spans)
            except UnusableRow as verdict:
                found = verdict
            self._anchors[key] = found
        if isinstance(found, UnusableRow):
            raise found
        return found

    def _marked(self, draft: AmtAnswer, context: amt.ContextText) -> AmtAnswer:
        """The draft with the tokens that were marked. Raises UnusableRow."""
        row = draft.row
        pair = amt.offsets(row.offset)
        layouts = self._ways(draft, context)
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

    def _ways(self, draft: AmtAnswer, context: amt.ContextText) -> list[amt.NodeLayout]:
        """The ways in which the context of a draft may have been cut."""
        anchor = draft.anchor
        key = (draft.row.context, draft.row.html, anchor)
        if key not in self._layouts:
            place = (self._tokens[anchor.start][0], self._tokens[anchor.end - 1][1])
            letters = context.letters.of(*place)
            self._layouts[key] = amt.layouts(context, letters)
        return self._layouts[key]


class BatchMaker:
    """Makes passages of one batch. at: the import's time, for rows that name no time."""

    def __init__(self, source: FileOrigin, split: str | None, at: str) -> None:
        self.report = BatchReport(source.warnings)
        self._split = split
        self._at = at
        self._finder: HeadFinder | None = None

    def passages(self, rows: Sequence[AssignmentRow]) -> Iterator[IncomingPassage]:
        """One passage for each context, in the order of their first rows, with its answers.

        What a person should know about the rows is added to the source's warnings when the
        last passage is through.
        """
        contexts: dict[str, list[AssignmentRow]] = {}
        for row in rows:
            contexts.setdefault(amt.stored(row.context), []).append(row)
        doubtful = Doubtful()
        groups = iter(contexts.items())
        while some := list(islice(groups, AT_ONCE)):
            for text, group in some:
                for line in text.split("\n"):
                    doubtful.look_at(group[0].line, line)
            pages = [AmtContext(text, group, self.report) for text, group in some]
            self._find_heads(pages)
            yield from (made for page in pages if (made := self._passage(page)) is not None)
        self.report.finish()
        self.report.warnings.extend(doubtful.warnings())

    def _find_heads(self, pages: Iterable[AmtContext]) -> None:
        """Give each draft with several marked tokens its head."""
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
        """The passage with a row's answer each; None if no row of it can be used."""
        if page.passage is None:
            return None
        answers: dict[tuple[Anchor, str], list[Given]] = {}
        for draft in page.drafts:
            try:
                given = self._given(draft)
            except UnusableRow as verdict:
                self.report.left_out(draft.row, verdict)
                continue
            key = (draft.anchor, draft.row.worker.strip())
            answers.setdefault(key, []).append(given)
        anchors = [self._incoming(worker, given) for (_, worker), given in answers.items()]
        if not anchors:
            return None
        anchors.sort(key=lambda anchor: anchor.line)
        return IncomingPassage(page.passage, tokenizer_name(), tuple(anchors))

    def _given(self, draft: AmtAnswer) -> Given:
        """Raises UnusableRow if the head of what was marked is the number itself."""
        row = draft.row
        said = amt.typed(draft.kind, row.other, row.comment)
        if draft.span is None or draft.head is None:
            answer = class_answer(draft.kind, noun=said.noun, comment=said.comment)
        else:
            if draft.anchor.start <= draft.head < draft.anchor.end:
                raise UnusableRow(RowProblem.MARK_IS_ANCHOR, row.marked)
            mention = Mention(*draft.span, draft.head)
            answer = reference_answer([[mention]], comment=said.comment)
        at = amt.time(row.submitted)
        if at is None and row.submitted.strip():
            self.report.note(RowNote.TIME_UNREAD, row)
        return Given(row, draft.anchor, answer, at)

    def _incoming(self, worker: str, given: list[Given]) -> IncomingAnchor:
        """A worker's answer to an anchor; of several the one submitted last."""
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

    def _vote(self, worker: str, given: Given) -> Vote:
        seconds = amt.seconds(given.row.seconds)
        if seconds is None and given.row.seconds.strip():
            self.report.note(RowNote.SECONDS_UNREAD, given.row)
        at = given.at or self._at
        return Vote(worker, Role.ANNOTATOR, given.answer, at, seconds)


def _usable(row: AssignmentRow) -> Kind:
    """The kind of a row's answer. Raises UnusableRow if the row is not to be counted."""
    worker = row.worker.strip()
    if not worker:
        raise UnusableRow(RowProblem.NO_WORKER)
    if len(worker) > NAME_LENGTH or not worker.isprintable():
        raise UnusableRow(RowProblem.WORKER_NAME, worker)
    if row.status.strip().casefold() == amt.REJECTED:
        raise UnusableRow(RowProblem.REJECTED)
    kind = amt.kind_of(row.code)
    if kind is None:
        raise UnusableRow(RowProblem.CODE, row.code)
    return kind


def _block(text: str) -> DialogBlock:
    """The turns of a context, one a line, as `dialog` reads them."""
    turns = []
    place = rank = 0
    for line in text.split("\n"):
        if line.strip():
            speaker, start = split_speaker(line)
            turns.append(DialogTurn(rank, rank, speaker, place + start, place + len(line)))
            rank += 1
        place += len(line) + 1
    return DialogBlock(text, tuple(turns))
