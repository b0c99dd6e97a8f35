"""Rows of a Mechanical Turk batch made into passages with answers.

One context is one passage, one task an anchor in it, one row an answer of its worker. A row
that cannot be used is reported with its line and left out; nothing is guessed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from nfh_db.formats import amt_anchors, amt_marks, amt_text, amt_values
from nfh_db.formats.amt_trouble import Trouble, UnusableRow
from nfh_db.formats.dialog import Doubtful, split_speaker
from nfh_db.formats.fields import NAME_LENGTH
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import AssignmentRow, DialogBlock, DialogTurn
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
from nfh_models.span_heads import HeadFinder, Phrase, load_heads
from nfh_models.span_rule import may_be_head
from nfh_models.text.tokenize import spans, tokenizer_name
from nfh_tui.incoming_amt_report import BatchReport, Note
from nfh_tui.incoming_text import passage_of_turns, spoken

AT_ONCE = 500
"""Contexts whose marked phrases are parsed together."""

TargetKey = tuple[str, str, str, str, str, str]
"""Context and page, and what `amt_anchors.Target` holds."""


@dataclass(frozen=True, slots=True)
class Draft:
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


class Page:
    """One context, by its text, with what its rows say of it."""

    def __init__(self, text: str, rows: Sequence[AssignmentRow], report: BatchReport) -> None:
        self.drafts: list[Draft] = []
        self.passage: Passage | None = None
        self._report = report
        self._shown: dict[tuple[str, str], amt_text.Shown] = {}
        self._anchors: dict[TargetKey, tuple[Anchor, bool] | UnusableRow] = {}
        self._layouts: dict[tuple[str, str, Anchor], list[amt_text.Layout]] = {}
        turns = spoken(_block(text))
        if turns:
            self.passage = passage_of_turns(text, turns)
        self._tokens = [token for turn in turns for token in turn.tokens]
        for row in rows:
            try:
                self.drafts.append(self._draft(row))
            except UnusableRow as verdict:
                report.left_out(row, verdict)

    def _draft(self, row: AssignmentRow) -> Draft:
        """Raises UnusableRow."""
        kind = _usable(row)
        if self.passage is None:
            raise UnusableRow(Trouble.NO_WORDS, row.context)
        context = self._context(row)
        anchor, told = self._anchor(row, context, self.passage)
        draft = Draft(row, anchor, kind)
        if kind is Kind.REFERENCE:
            draft = self._marked(draft, context)
        if not told and (row.start.strip() or row.sentence.strip()):
            self._report.note(Note.INDEX_UNFIT, row)
        return draft

    def _context(self, row: AssignmentRow) -> amt_text.Shown:
        key = (row.context, row.html)
        if key not in self._shown:
            self._shown[key] = amt_text.shown(*key)
        return self._shown[key]

    def _anchor(
        self, row: AssignmentRow, context: amt_text.Shown, passage: Passage
    ) -> tuple[Anchor, bool]:
        """The number's tokens, and whether the row told its place. Raises UnusableRow."""
        key = (row.context, row.html, row.target, row.start, row.end, row.sentence)
        found = self._anchors.get(key)
        if found is None:
            worded = amt_anchors.Worded(context, self._tokens, passage.turns)
            try:
                found = amt_anchors.find(worded, amt_anchors.Target(*key[2:]), spans)
            except UnusableRow as verdict:
                found = verdict
            self._anchors[key] = found
        if isinstance(found, UnusableRow):
            raise found
        return found

    def _marked(self, draft: Draft, context: amt_text.Shown) -> Draft:
        """The draft with the tokens that were marked. Raises UnusableRow."""
        row = draft.row
        pair = amt_values.offsets(row.offset)
        layouts = self._ways(draft, context)
        (start, end), by_offset = amt_marks.find(context, layouts, row.marked, pair)
        first = bisect_right(self._tokens, start, key=lambda token: token[1])
        last = bisect_left(self._tokens, end, key=lambda token: token[0]) - 1
        inside = self._tokens[first : last + 1]
        if not any(may_be_head(context.text[slice(*token)]) for token in inside):
            raise UnusableRow(Trouble.MARK_NO_WORD, row.marked)
        if not by_offset and row.offset.strip():
            self._report.note(Note.OFFSET_UNFIT, row)
        if self._tokens[first][0] < start or end < self._tokens[last][1]:
            self._report.note(Note.WIDENED, row)
        if context.text[start : max(start, self._tokens[first][0])].strip():
            self._report.note(Note.WITH_SPEAKER, row)
        head = first if first == last else None
        return replace(draft, span=(first, last + 1), head=head)

    def _ways(self, draft: Draft, context: amt_text.Shown) -> list[amt_text.Layout]:
        """The ways in which the context of a draft may have been cut."""
        anchor = draft.anchor
        key = (draft.row.context, draft.row.html, anchor)
        if key not in self._layouts:
            place = (self._tokens[anchor.start][0], self._tokens[anchor.end - 1][1])
            letters = context.letters.of(*place)
            self._layouts[key] = amt_text.layouts(context, letters)
        return self._layouts[key]


class BatchMaker:
    """Makes passages of one batch. at: the import's time, for rows that name no time."""

    def __init__(self, source: Origin, split: str | None, at: str) -> None:
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
            contexts.setdefault(amt_text.stored(row.context), []).append(row)
        doubtful = Doubtful()
        groups = iter(contexts.items())
        while some := list(islice(groups, AT_ONCE)):
            for text, group in some:
                for line in text.split("\n"):
                    doubtful.look_at(group[0].line, line)
            pages = [Page(text, group, self.report) for text, group in some]
            self._find_heads(pages)
            yield from (made for page in pages if (made := self._passage(page)) is not None)
        self.report.finish()
        self.report.warnings.extend(doubtful.warnings())

    def _find_heads(self, pages: Iterable[Page]) -> None:
        """Give each draft with several marked tokens its head."""
        places: list[tuple[Page, int]] = []
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

    def _passage(self, page: Page) -> IncomingPassage | None:
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

    def _given(self, draft: Draft) -> Given:
        """Raises UnusableRow if the head of what was marked is the number itself."""
        row = draft.row
        said = amt_values.typed(draft.kind, row.other, row.comment)
        if draft.span is None or draft.head is None:
            answer = class_answer(draft.kind, noun=said.noun, comment=said.comment)
        else:
            if draft.anchor.start <= draft.head < draft.anchor.end:
                raise UnusableRow(Trouble.MARK_IS_ANCHOR, row.marked)
            mention = Mention(*draft.span, draft.head)
            answer = reference_answer([[mention]], comment=said.comment)
        at = amt_values.time(row.submitted)
        if at is None and row.submitted.strip():
            self.report.note(Note.TIME_UNREAD, row)
        return Given(row, draft.anchor, answer, at)

    def _incoming(self, worker: str, given: list[Given]) -> IncomingAnchor:
        """A worker's answer to an anchor; of several the one submitted last."""
        times = [one.at for one in given if one.at is not None]
        if len(times) == len(given):
            given = sorted(given, key=lambda one: one.at or "")
        *earlier, last = given
        for one in earlier:
            self.report.note(Note.SUPERSEDED, one.row)
        return IncomingAnchor(
            last.row.line,
            last.anchor,
            split=self._split,
            votes=(self._vote(worker, last),),
            earlier=tuple(self._vote(worker, one) for one in earlier),
        )

    def _vote(self, worker: str, given: Given) -> Vote:
        seconds = amt_values.seconds(given.row.seconds)
        if seconds is None and given.row.seconds.strip():
            self.report.note(Note.SECONDS_UNREAD, given.row)
        at = given.at or self._at
        return Vote(worker, Role.ANNOTATOR, given.answer, at, seconds)


def _usable(row: AssignmentRow) -> Kind:
    """The kind of a row's answer. Raises UnusableRow if the row is not to be counted."""
    worker = row.worker.strip()
    if not worker:
        raise UnusableRow(Trouble.NO_WORKER)
    if len(worker) > NAME_LENGTH or not worker.isprintable():
        raise UnusableRow(Trouble.WORKER_NAME, worker)
    if row.status.strip().casefold() == amt_values.REJECTED:
        raise UnusableRow(Trouble.REJECTED)
    kind = amt_values.kind_of(row.code)
    if kind is None:
        raise UnusableRow(Trouble.CODE, row.code)
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
