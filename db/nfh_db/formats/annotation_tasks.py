"""Tasks of other annotation tools made into rows: the text, what is marked in it, and what
each annotation comes to: a vote, gold, flags, or nothing yet.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nfh_db.clock import now
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.rows import IGNORE, GoldRow, LabelMap, RawPassage, ReadOptions, Row, Span
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    Graph,
    Grid,
    Marked,
    MarkError,
    Spot,
    TokenizedText,
    alone,
    answer_of,
    based,
    check_kinds,
    numbers,
    translated,
)
from nfh_db.formats.stored_annotation import Restored, as_drawn
from nfh_db.messages import shown, tallied
from nfh_db.records import PERSON, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import Anchor, Answer, AnswerError, Head, Mention

# What one annotation of another tool's file comes to: a vote, a gold, flags, or nothing yet.
#
# The marks are the tool's, and they count. What the file carries along besides
# fills in what the tool has no terms for, as long as nobody changed the marks.

PASSED = (FlagName.SKIP, FlagName.REJECT)
"""Flags of somebody who did not answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an annotation says besides its marks.

    who: the annotator; None where nobody is named: what is marked is gold then. gold: the tool
    says that this one counts (curated, reviewed, ground truth). answered: False of a task that
    nobody answered, or that was passed over or refused. flags: set by `who`. at: UTC, as
    `gold` files have it. noun, comment: None where the tool has no place for them.
    """

    who: str | None
    gold: bool = False
    answered: bool = True
    flags: tuple[FlagName, ...] = ()
    at: str | None = None
    seconds: float | None = None
    type: str = PERSON
    role: Role = Role.ANNOTATOR
    noun: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What comes of an annotation of one number. changed: it was kept along, and the tool's
    file shows it otherwise now. unsaid: a noun or comment that was written of a number of which
    nothing else is said, so that it is no answer; a reader says that it was left out.
    """

    gold: Gold | None = None
    votes: tuple[Vote, ...] = ()
    flags: tuple[FlagMark, ...] = ()
    changed: bool = False
    unsaid: str = ""


def outcome(
    claim: Claim,
    marked: Marked,
    graph: Graph,
    grid: Grid,
    how: ReadOptions,
    kept: Restored | None = None,
) -> ClaimOutcome:
    """What a claim comes to. graph: translated, of this number alone. kept: what the file
    carries along of the same number. Raises MarkError.
    """
    if claim.who is not None and not is_a_name(claim.who):
        raise MarkError(f"found {shown(claim.who)} as who answered, wanted {A_NAME}")
    kept = kept and on_grid(kept, grid)
    flags = _flags(claim, kept)
    if not claim.answered:
        return ClaimOutcome(flags=flags)
    if claim.gold or claim.who is None:
        return _gold(claim, marked, graph, grid, how, kept, flags)
    before = _vote_of(kept.votes, claim) if kept else None
    if kept and before and _claim_unchanged(before.answer, kept, graph, claim):
        return ClaimOutcome(votes=(before,), flags=flags)
    answer = _native(claim, marked, grid, how, before.answer if before else None)
    if answer is None:
        return _nothing(claim, flags, changed=before is not None)
    vote = before or Vote(claim.who, claim.role, answer, "", type=claim.type)
    vote = replace(
        vote,
        answer=answer,
        answered_at=claim.at or now(),
        timed=claim.at is not None,
        after=before,
    )
    if claim.seconds is not None:
        vote = replace(vote, seconds=claim.seconds)
    if before is None:
        # Passed over or refused when it was kept, and answered since.
        said = set(claim.flags)
        flags = tuple(one for one in flags if one.name in said or one.name not in PASSED)
    return ClaimOutcome(votes=(vote,), flags=flags, changed=before is not None)


def _gold(
    claim: Claim,
    marked: Marked,
    graph: Graph,
    grid: Grid,
    how: ReadOptions,
    kept: Restored | None,
    flags: tuple[FlagMark, ...],
) -> ClaimOutcome:
    before = kept.gold if kept else None
    if kept and before and _claim_unchanged(before.answer, kept, graph, claim):
        return ClaimOutcome(gold=before, flags=flags)
    answer = _native(claim, marked, grid, how, before.answer if before else None)
    if answer is None:
        return _nothing(claim, flags, changed=before is not None)
    gold = Gold(answer, Rule.IMPORTED, None, claim.at)
    return ClaimOutcome(gold=gold, flags=flags, changed=before is not None)


def _nothing(claim: Claim, flags: tuple[FlagMark, ...], *, changed: bool) -> ClaimOutcome:
    return ClaimOutcome(flags=flags, changed=changed, unsaid=claim.noun or claim.comment or "")


def on_grid(kept: Restored, grid: Grid) -> Restored:
    """What was kept, by the tokens of the grid: some may be cut in two since.

    Raises MarkError where they are other tokens altogether.
    """
    old, new = kept.passage, grid.passage
    if new is old or (
        list(new.starts) == list(old.starts) and list(new.ends) == list(old.ends)
    ):
        return kept

    def places(start: int, end: int) -> tuple[int, int]:
        return grid.tokens(old.starts[start], old.ends[end - 1])

    def moved(answer: Answer) -> Answer:
        return replace(
            answer,
            heads=tuple(
                Head(
                    tuple(
                        Mention(*places(m.start, m.end), places(0, m.head + 1)[1] - 1, m.origin)
                        for m in head.mentions
                    )
                )
                for head in answer.heads
            ),
        )

    return replace(
        kept,
        passage=new,
        anchor=Anchor(*places(kept.anchor.start, kept.anchor.end)),
        gold=kept.gold and replace(kept.gold, answer=moved(kept.gold.answer)),
        votes=tuple(replace(vote, answer=moved(vote.answer)) for vote in kept.votes),
        flags=tuple(
            flag
            if flag.span is None
            else replace(flag, span=Anchor(*places(flag.span.start, flag.span.end)))
            for flag in kept.flags
        ),
    )


def _vote_of(votes: Sequence[Vote], claim: Claim) -> Vote | None:
    """The vote kept along that is the claim's own: in its role, where there are two."""
    own = [vote for vote in votes if vote.annotator == claim.who]
    return next((vote for vote in own if vote.role is claim.role), own[0] if own else None)


def _claim_unchanged(answer: Answer, kept: Restored, graph: Graph, claim: Claim) -> bool:
    """True if the tool's file shows this answer still."""
    same_words = (claim.noun is None or claim.noun == (answer.noun or "")) and (
        claim.comment is None or claim.comment == answer.comment
    )
    return same_words and as_drawn(answer, kept, graph)


def _native(
    claim: Claim, marked: Marked, grid: Grid, how: ReadOptions, before: Answer | None
) -> Answer | None:
    """What the marks say, with the words that the tool has no place for as they were."""
    noun = claim.noun if claim.noun is not None else before.noun if before else None
    comment = claim.comment if claim.comment is not None else before.comment if before else ""
    try:
        answer = answer_of(marked, grid, how.lemmatize, noun=noun or None, comment=comment)
        if claim.noun and answer is not None and answer.noun is None:
            raise MarkError(
                f"the noun {shown(claim.noun)} is written of a number whose head is marked; "
                "wanted one or the other"
            )
        if answer is not None:
            answer.check(len(grid.words), *grid.tokens(*marked.anchor))
    except AnswerError as error:
        raise MarkError(str(error)) from error
    return answer


def _flags(claim: Claim, kept: Restored | None) -> tuple[FlagMark, ...]:
    """Flags kept along of whoever claims, and those that the tool has terms for."""
    if claim.who is None:
        return kept.flags if kept else ()
    own = [flag for flag in kept.flags if flag.annotator == claim.who] if kept else []
    names = {flag.name for flag in own}
    at = claim.at or now()
    own += [FlagMark(name, claim.who, at) for name in claim.flags if name not in names]
    return tuple(own)


# A task of another tool made into rows: its text, what is marked in it, and who said so.
#
# Shared by the formats in which a line is one text with labelled spans, and links between
# them.

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TaskAnnotation:
    """One claim with its marks, translated, in code points of the task's text."""

    claim: Claim
    graph: Graph


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """A text with all that one line of a file says of it.

    tokens: those that came with it, None for none. kept: what the line carries of our own.
    carried: JSON of what else it holds. line counts from 1. beside: others' answers are in no
    lines of their own, and stand as they were kept. also: spans that other lines mark of the
    same text: on all of them tokens end, so that all answers are of one passage. numbers: those
    that other lines mark in it.
    """

    line: int
    text: str
    said: Sequence[TaskAnnotation]
    tokens: Sequence[Span] | None = None
    kept: Restored | None = None
    carried: str | None = None
    beside: bool = False
    also: Collection[Span] = ()
    numbers: Collection[Span] = ()


@dataclass(slots=True)
class TaskCounts:
    """What a reader counts on its way, to be said at the end."""

    raw: int = 0
    nameless: int = 0
    unlabelled: int = 0
    ignored: int = 0
    cut: int = 0
    unmarked: int = 0
    unflagged: int = 0
    unsaid: int = 0
    passed: int = 0
    empty: int = 0
    silent: int = 0
    words: int = 0
    more: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        """One for each thing that came up."""
        told = (
            (self.empty, "task", "without a word left out"),
            (self.raw, "text", "without a number marked: numbers were found by rule"),
            (
                self.silent,
                "task",
                "without a number marked, of texts in which others mark some",
            ),
            (self.words, "text", "with a noun or a comment, but no number: that was left out"),
            (
                self.unlabelled,
                "text",
                "with a class, but no number marked to have it: the class was left out",
            ),
            (
                self.nameless,
                "task",
                "passed over or refused by nobody who is named: no flag set",
            ),
            (
                self.unflagged,
                "text",
                "passed over or refused without a number marked: no flag set",
            ),
            (
                self.passed,
                "number",
                "marked in a task that was passed over or refused: no answer, and not kept",
            ),
            (self.ignored, "mark", "left out, since the map says so"),
            (self.cut, "token", "cut in two, since a mark begins or ends inside it"),
            (
                self.unsaid,
                "number",
                "with a noun or a comment, but no answer: that was left out",
            ),
            (self.unmarked, "number", "no longer marked in a task that was exported with it"),
        )
        yield from tallied(told)
        yield from self.more


def rows_of(task: AnnotationTask, how: ReadOptions, tally: TaskCounts) -> Iterator[Row]:
    """The rows of a task: one for each number and each who says something of it.

    A text without a number is raw dialog, unless it was exported with one. Raises MarkError.
    """
    same = [] if task.also else [_kept_row(task, said) for said in task.said]
    if same and all(same):
        yield _together(filter(None, same))
        return
    for said in task.said:
        check_kinds(said.graph)
    marked = [numbers(said.graph) for said in task.said]
    tally.ignored += sum(s.label == IGNORE for said in task.said for s in said.graph.spots)
    if not any(marked):
        yield from _without_numbers(task, how, tally)
        return
    base = _ground(task, how)
    tally.cut += base.cut
    found: dict[Anchor, list[GoldRow]] = {}
    for said, some in zip(task.said, marked, strict=True):
        for number in some:
            row = _row(task, said, number, base, how, tally)
            found.setdefault(row.anchor, []).append(row)
    passed = tuple(
        flag
        for said, some in zip(task.said, marked, strict=True)
        if not some
        for flag in _passed(said.claim)
    )
    for rows in found.values():
        yield _together([*rows, replace(rows[0], gold=None, votes=(), flags=passed)])


def _together(rows: Iterable[GoldRow]) -> GoldRow:
    """What a line says of one number, in one row."""
    first, *others = rows
    if not others:
        return first
    return replace(
        first,
        gold=next((row.gold for row in (first, *others) if row.gold), None),
        votes=tuple(_each(vote for row in (first, *others) for vote in row.votes)),
        flags=tuple(_each(flag for row in (first, *others) for flag in row.flags)),
    )


def _each(things: Iterable[T]) -> list[T]:
    found: list[T] = []
    for one in things:
        if one not in found:
            found.append(one)
    return found


def _kept_row(task: AnnotationTask, said: TaskAnnotation) -> GoldRow | None:
    """The row of what was kept along, where the file shows it still; else None."""
    kept, claim = task.kept, said.claim
    if kept is None or not claim.answered:
        return None
    golden = claim.gold or claim.who is None
    votes = [] if golden else [vote for vote in kept.votes if vote.annotator == claim.who]
    answers = [kept.gold.answer if kept.gold else None] if golden else [v.answer for v in votes]
    place = next(
        (i for i, one in enumerate(answers) if _says(claim, one, kept, said.graph)), None
    )
    if place is None:
        return None
    return GoldRow(
        task.line,
        kept.passage,
        kept.anchor,
        kept.split,
        kept.gold if golden else None,
        (kept.votes if task.beside else ()) if golden else (votes[place],),
        kept.flags,
        task.carried,
    )


def _says(claim: Claim, answer: Answer | None, kept: Restored, graph: Graph) -> bool:
    noun = answer.noun if answer and answer.noun else ""
    comment = answer.comment if answer else ""
    return (
        (claim.noun is None or claim.noun == noun)
        and (claim.comment is None or claim.comment == comment)
        and as_drawn(answer, kept, graph)
    )


def _ground(task: AnnotationTask, how: ReadOptions) -> TokenizedText:
    """The tokens on whose bounds all marks lie, and what made them."""
    marks = [
        (spot.start, spot.end)
        for said in task.said
        for spot in said.graph.spots
        if spot.label != IGNORE
    ]
    marks += task.also
    if task.kept is None:
        return based(task.text, marks, how, task.tokens)
    passage = task.kept.passage
    grid = Grid(passage)
    if _fits(grid, marks):
        return TokenizedText(grid, None, 0)
    tokens = list(zip(passage.starts, passage.ends, strict=True))
    return based(task.text, marks, how, tokens, passage.turns)


def _fits(grid: Grid, marks: Iterable[Span]) -> bool:
    starts, ends = set(grid.passage.starts), set(grid.passage.ends)
    return all(start in starts and end in ends for start, end in marks)


def _row(
    task: AnnotationTask,
    said: TaskAnnotation,
    number: Marked,
    base: TokenizedText,
    how: ReadOptions,
    tally: TaskCounts,
) -> GoldRow:
    grid, kept, claim = base.grid, task.kept, said.claim
    graph = alone(said.graph, number.spot)
    own = None
    if kept is not None and number.anchor == _place_of(kept):
        own = _standing(on_grid(kept, grid), claim)
        claim = replace(claim, role=_role(own, claim, graph))
    found = _reviewed(claim, outcome(claim, number, graph, grid, how, own), own)
    tally.unsaid += bool(found.unsaid)
    tally.passed += not claim.answered and bool(number.kind or number.mentions)
    return GoldRow(
        line=task.line,
        passage=grid.passage,
        anchor=Anchor(*grid.tokens(*number.anchor)),
        split=kept.split if kept else None,
        gold=found.gold,
        votes=(*found.votes, *(own.votes if own and task.beside and claim.who is None else ())),
        flags=(*found.flags, *_others(kept, claim)),
        labels=task.carried,
        tokenizer=base.tokenizer,
        foreign=kept is None,
    )


def _place_of(kept: Restored) -> Span:
    """The number that was kept, in code points."""
    passage, anchor = kept.passage, kept.anchor
    return passage.starts[anchor.start], passage.ends[anchor.end - 1]


def _standing(kept: Restored, claim: Claim) -> Restored:
    """What was kept, without flags of having passed over what was refused since, or the other
    way round.
    """
    who = claim.who
    own = {flag.name for flag in kept.flags if flag.annotator == who} & set(PASSED)
    then = FlagName.REJECT if FlagName.REJECT in own else FlagName.SKIP
    if claim.answered or not own or claim.flags == (then,):
        return kept
    flags = [f for f in kept.flags if f.annotator != who or f.name not in PASSED]
    return replace(kept, flags=tuple(flags))


def _role(kept: Restored, claim: Claim, graph: Graph) -> Role:
    """In which role somebody says what the graph shows, of those kept along."""
    own = [vote for vote in kept.votes if vote.annotator == claim.who]
    if len(own) > 1:
        return next((v.role for v in own if as_drawn(v.answer, kept, graph)), claim.role)
    return own[0].role if own else claim.role


def _reviewed(claim: Claim, found: ClaimOutcome, kept: Restored | None) -> ClaimOutcome:
    """A gold that somebody named decided in the tool is an expert's, and the answer theirs.

    Where they decided here before, that answer has a task of its own and stays: what they
    changed in the review is then gold that was imported.
    """
    gold, before = found.gold, kept.gold if kept else None
    if claim.who is None or gold is None or gold is before:
        return found
    if before is not None and before.adjudicator == claim.who:
        return found
    at = claim.at or now()
    expert = Gold(gold.answer, Rule.EXPERT, claim.who, at)
    vote = Vote(claim.who, Role.ADJUDICATOR, gold.answer, at, claim.seconds)
    return replace(found, gold=expert, votes=(*found.votes, vote))


def _others(kept: Restored | None, claim: Claim) -> Iterator[FlagMark]:
    """Flags kept along of people of whom the task says nothing itself."""
    if kept is not None and claim.who is not None:
        yield from (flag for flag in kept.flags if flag.annotator != claim.who)


def checked_name(name: str) -> str:
    """The name of an annotator. Raises MarkError for what is none."""
    if not is_a_name(name):
        raise MarkError(f"the annotator is {shown(name)}; wanted {A_NAME}")
    return name


def class_named(name: str, labels: LabelMap) -> str:
    """A class in our own terms, IGNORE for one to be left out. Raises MarkError."""
    return translated(Graph((Spot(0, 1, name),)), labels).spots[0].label


def classed(graph: Graph, labels: Sequence[str]) -> Graph:
    """The graph with the class that the tool holds apart from the spans, in our own names.

    Raises MarkError unless it is one, of the only number that is marked.
    """
    labels = [label for label in labels if label != IGNORE]
    places = [i for i, spot in enumerate(graph.spots) if spot.label in ANSWERS]
    if not labels or not places:
        return graph
    if len(labels) > 1 or len(places) > 1:
        raise MarkError(
            f"{len(labels)} classes ({', '.join(labels)}) for {len(places)} numbers; wanted "
            "one class, of one number"
        )
    label, spot = labels[0], graph.spots[places[0]]
    if spot.label not in (ANCHOR, label):
        raise MarkError(f"the number is marked as {spot.label}, but its class is {label}")
    if label not in ANSWERS:
        raise MarkError(f"the class {label} is none; wanted one of {', '.join(ANSWERS)}")
    spots = list(graph.spots)
    spots[places[0]] = Spot(spot.start, spot.end, label)
    return Graph(tuple(spots), graph.links)


# --- texts without a number -----------------------------------------------------------------


def _without_numbers(
    task: AnnotationTask, how: ReadOptions, tally: TaskCounts
) -> Iterator[Row]:
    passed = tuple(flag for said in task.said for flag in _passed(said.claim))
    tally.words += any(said.claim.noun or said.claim.comment for said in task.said)
    if task.kept is not None:
        tally.unmarked += 1
        kept = task.kept
        flags = (*kept.flags, *passed)
        yield _flagged(task, kept.passage, kept.anchor, flags, split=kept.split)
    elif task.numbers:
        tally.silent += 1
        if passed:
            base = _ground(task, how)
            grid, made = base.grid, base.tokenizer
            for number in task.numbers:
                anchor = Anchor(*grid.tokens(*number))
                yield _flagged(task, grid.passage, anchor, passed, tokenizer=made)
    elif task.text.strip():
        tally.raw += 1
        tally.unflagged += any(said.claim.flags for said in task.said)
        yield replace(block_of(task.text, task.line), labels=task.carried)
    else:
        tally.empty += 1


def _flagged(
    task: AnnotationTask,
    passage: RawPassage,
    anchor: Anchor,
    flags: tuple[FlagMark, ...],
    *,
    split: str | None = None,
    tokenizer: str | None = None,
) -> GoldRow:
    """The row of a number of which nothing but flags is said."""
    row = GoldRow(task.line, passage, anchor, split, None, (), flags, task.carried, tokenizer)
    return replace(row, foreign=task.kept is None)


def _passed(claim: Claim) -> Iterator[FlagMark]:
    """Flags of somebody who passed over or refused a task without marking a number in it."""
    if claim.who is not None:
        at = claim.at or now()
        yield from (FlagMark(name, claim.who, at) for name in claim.flags)


# What the tasks of a file say together of a text that several of them are of.
#
# Each annotator's task of a text is read by itself, but all are to be of one passage with the
# same tokens, and whoever passes a text over passes over the numbers that others mark in it.


@dataclass(slots=True)
class Texts:
    """Marks in code points, by the hash of their text.

    bounds: spans on which tokens must begin and end. numbers: spans that are numbers.
    """

    _bounds: dict[bytes, set[Span]] = field(default_factory=dict)
    _numbers: dict[bytes, set[Span]] = field(default_factory=dict)

    def note(self, text: str, spots: Iterable[Spot], *, whole: Collection[Span] = ()) -> None:
        """Take what one task marks; labels are our own. whole: tokens that it comes with of
        ours, on whose bounds marks need no care.
        """
        spots = [spot for spot in spots if spot.label != IGNORE]
        if not spots:
            return
        key = _hash(text)
        starts, ends = {start for start, _ in whole}, {end for _, end in whole}
        loose = {
            (spot.start, spot.end)
            for spot in spots
            if spot.start not in starts or spot.end not in ends
        }
        if loose:
            self._bounds.setdefault(key, set()).update(loose)
        numbers = {(spot.start, spot.end) for spot in spots if spot.label in ANSWERS}
        if numbers and not whole:
            self._numbers.setdefault(key, set()).update(numbers)

    def bounds(self, text: str) -> Collection[Span]:
        """Spans of a text that tokens are cut at."""
        return self._bounds.get(_hash(text), ()) if self._bounds else ()

    def numbers(self, text: str) -> Collection[Span]:
        """Numbers that tasks mark in a text, in their order."""
        return sorted(self._numbers.get(_hash(text), ())) if self._numbers else ()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
