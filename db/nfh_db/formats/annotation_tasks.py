"""Tasks of annotation tools as rows: who claims what of a number (`Claim`), the vote, gold or
flags that come of it (`outcome`), and the rows of a text with all its annotations (`rows_of`).
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from nfh_db.errors import raised_as
from nfh_db.formats.dialog import block_of
from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.rows import IGNORE, GoldRow, RawPassage, ReadOptions, Row, Span
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    Graph,
    MarkedNumber,
    MarkError,
    Spot,
    TokenAlignment,
    TokenizedText,
    answer_of,
    based,
    check_kinds,
    numbers,
    read_graph,
)
from nfh_db.formats.stored_annotation import Restored, shows_answer
from nfh_db.messages import shown, tallied
from nfh_db.records import PERSON, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_db.system import now
from nfh_models.domain import Anchor, Answer, AnswerError, Head, Mention

# What one annotation of another tool's file comes to: a vote, a gold, flags, or nothing.
#
# The spans and links of the tool count. The answer that the export stored in the file supplies
# what the tool cannot express, unless somebody changed the spans or links since.

PASSED = (FlagName.SKIP, FlagName.REJECT)
"""Flags of an annotator who did not answer."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an annotation states besides its spans and links."""

    who: str | None
    """The annotator; None if the file names nobody: the annotation is gold then."""
    gold: bool = False
    """The tool declares the annotation final (curated, reviewed, ground truth)."""
    answered: bool = True
    """False for a task that was skipped, rejected, or not answered."""
    flags: tuple[FlagName, ...] = ()
    at: str | None = None
    """UTC, in the form of `gold` files."""
    seconds: float | None = None
    type: str = PERSON
    role: Role = Role.ANNOTATOR
    noun: str | None = None
    """None, as for `comment`, if the tool has no field for it."""
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimOutcome:
    """What comes of an annotation of one number."""

    gold: Gold | None = None
    votes: tuple[Vote, ...] = ()
    flags: tuple[FlagMark, ...] = ()
    changed: bool = False
    """The file stores an answer of whoever claims, and shows another one now."""
    unsaid: str = ""
    """A noun or comment on a number without an answer. It is lost; readers warn of that."""


def outcome(
    claim: Claim,
    marked: MarkedNumber,
    graph: Graph,
    alignment: TokenAlignment,
    how: ReadOptions,
    kept: Restored | None = None,
) -> ClaimOutcome:
    """What a claim comes to. graph: of this number alone, translated. kept: what the file
    stores of the same number. Raises MarkError.
    """
    if claim.who is not None and not is_a_name(claim.who):
        raise MarkError(f"found {shown(claim.who)} as the annotator, wanted {A_NAME}")
    kept = kept and on_alignment(kept, alignment)
    flags = _flags(claim, kept)
    if not claim.answered:
        return ClaimOutcome(flags=flags)
    golden = claim.gold or claim.who is None
    vote = _vote_of(kept.votes, claim) if kept and not golden else None
    before = kept.gold if kept and golden else vote
    if kept and before and _is_unchanged(claim, before.answer, kept, graph):
        if golden:
            return ClaimOutcome(gold=kept.gold, flags=flags)
        return ClaimOutcome(votes=(vote,) if vote else (), flags=flags)
    changed = before is not None
    answer = _native(claim, marked, alignment, how, before.answer if before else None)
    if answer is None:
        lost = claim.noun or claim.comment or ""
        return ClaimOutcome(flags=flags, changed=changed, unsaid=lost)
    if claim.gold or claim.who is None:
        gold = Gold(answer, Rule.IMPORTED, None, claim.at)
        return ClaimOutcome(gold=gold, flags=flags, changed=changed)
    given = replace(
        vote or Vote(claim.who, claim.role, answer, "", type=claim.type),
        answer=answer,
        answered_at=claim.at or now(),
        timed=claim.at is not None,
        after=vote,
    )
    if claim.seconds is not None:
        given = replace(given, seconds=claim.seconds)
    if vote is None:
        # The number was skipped or rejected before the export, and answered since.
        flags = tuple(f for f in flags if f.name in claim.flags or f.name not in PASSED)
    return ClaimOutcome(votes=(given,), flags=flags, changed=changed)


def on_alignment(kept: Restored, alignment: TokenAlignment) -> Restored:
    """A stored item with the tokens of the alignment, some of which may have been split since.

    Raises MarkError if its tokens do not begin and end at token bounds of the alignment.
    """
    old, new = kept.passage, alignment.passage
    if new is old or (
        list(new.starts) == list(old.starts) and list(new.ends) == list(old.ends)
    ):
        return kept

    def places(start: int, end: int) -> tuple[int, int]:
        return alignment.tokens(*old.span(start, end))

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
    """The stored vote of whoever claims; if there are two, the one in the claim's role."""
    own = [vote for vote in votes if vote.annotator == claim.who]
    return next((vote for vote in own if vote.role is claim.role), own[0] if own else None)


def _is_unchanged(claim: Claim, answer: Answer | None, kept: Restored, graph: Graph) -> bool:
    """True if the file still shows this answer."""
    noun, comment = (answer.noun or "", answer.comment) if answer else ("", "")
    return (
        claim.noun in (None, noun)
        and claim.comment in (None, comment)
        and shows_answer(answer, kept, graph)
    )


def _native(
    claim: Claim,
    marked: MarkedNumber,
    alignment: TokenAlignment,
    how: ReadOptions,
    before: Answer | None,
) -> Answer | None:
    """The answer of spans and links; noun and comment as before if the tool has no field."""
    noun = claim.noun if claim.noun is not None else before.noun if before else None
    comment = claim.comment if claim.comment is not None else before.comment if before else ""
    with raised_as(MarkError, AnswerError):
        answer = answer_of(marked, alignment, how.lemmatize, noun=noun or None, comment=comment)
        if claim.noun and answer is not None and answer.noun is None:
            raise MarkError(
                f"the noun {shown(claim.noun)} belongs to a number whose head is marked; "
                "wanted one or the other"
            )
        if answer is not None:
            answer.check(len(alignment.words), *alignment.tokens(*marked.anchor))
    return answer


def _flags(claim: Claim, kept: Restored | None) -> tuple[FlagMark, ...]:
    """The stored flags of whoever claims, and those that the annotation sets."""
    if claim.who is None:
        return kept.flags if kept else ()
    own = [flag for flag in kept.flags if flag.annotator == claim.who] if kept else []
    names = {flag.name for flag in own}
    at = claim.at or now()
    own += [FlagMark(name, claim.who, at) for name in claim.flags if name not in names]
    return tuple(own)


# A task as rows, for the formats in which a line is a text with labelled spans and links.


@dataclass(frozen=True, slots=True)
class TaskAnnotation:
    """One claim with its graph, translated, in code points of the task's text."""

    claim: Claim
    graph: Graph


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """A text with all that one line of a file holds of it."""

    line: int
    """Of the file, from 1."""
    text: str
    annotations: Sequence[TaskAnnotation]
    tokens: Sequence[Span] | None = None
    """Those that came with the text."""
    kept: Restored | None = None
    """What the export stored in the line."""
    carried: str | None = None
    """JSON of what else the line holds."""
    with_others: bool = False
    """No other line holds the answers of other annotators: those stored here are read."""
    bounds: Collection[Span] = ()
    """Spans that other lines mark in the text. Tokens are split at them too, so that all
    answers are of one passage.
    """
    numbers: Collection[Span] = ()
    """Numbers that other lines mark in the text."""


TASK_WARNINGS = {
    "empty": ("task", "without a word left out"),
    "raw": ("text", "without a number marked: numbers were found by rule"),
    "silent": ("task", "without a number marked, of texts in which others mark some"),
    "words": ("text", "with a noun or a comment, but no number: that was left out"),
    "unlabelled": (
        "text", "with a class, but no number marked to have it: the class was left out",
    ),
    "nameless": ("task", "skipped or refused without a name: no flag set"),
    "unflagged": ("text", "skipped or refused without a marked number: no flag set"),
    "passed": (
        "number", "marked in a task that was skipped or refused: no answer, and not kept",
    ),
    "cut": ("token", "cut in two, since a mark begins or ends inside it"),
    "unsaid": ("number", "with a noun or a comment, but no answer: that was left out"),
    "unmarked": ("number", "no longer marked in a task that was exported with it"),
}  # fmt: skip
"""What `rows_of` counts, and the warning of each count, in the order in which they are given.
"""


def task_warnings(counts: Counter[str]) -> list[str]:
    """A sentence for each count that is not 0."""
    return list(tallied((counts[key], *words) for key, words in TASK_WARNINGS.items()))


def rows_of(task: AnnotationTask, how: ReadOptions, counts: Counter[str]) -> Iterator[Row]:
    """The rows of a task, one for each number. counts: by the keys of TASK_WARNINGS.

    A text without a number is a dialog, unless it was exported with one. Raises MarkError.
    """
    unchanged = [] if task.bounds else [_stored_row(task, one) for one in task.annotations]
    if unchanged and all(unchanged):
        yield _merged(filter(None, unchanged))
        return
    for one in task.annotations:
        check_kinds(one.graph)
    marked = [numbers(one.graph) for one in task.annotations]
    if not any(marked):
        yield from _without_numbers(task, how, counts)
        return
    base = _tokenized(task, how)
    counts["cut"] += base.cut
    found: dict[Anchor, list[GoldRow]] = {}
    passed: list[FlagMark] = []
    for one, some in zip(task.annotations, marked, strict=True):
        for number in some:
            row = _row(task, one, number, base, how, counts)
            found.setdefault(row.anchor, []).append(row)
        if not some:
            passed += _passed(one.claim)
    for rows in found.values():
        yield _merged([*rows, replace(rows[0], gold=None, votes=(), flags=tuple(passed))])


def _merged(rows: Iterable[GoldRow]) -> GoldRow:
    """One row of all that is said of one number."""
    first, *others = rows
    if not others:
        return first
    return replace(
        first,
        gold=next((row.gold for row in (first, *others) if row.gold), None),
        votes=tuple(dict.fromkeys(vote for row in (first, *others) for vote in row.votes)),
        flags=tuple(dict.fromkeys(flag for row in (first, *others) for flag in row.flags)),
    )


def _stored_row(task: AnnotationTask, annotation: TaskAnnotation) -> GoldRow | None:
    """The row of what the file stores, if it still shows that; else None."""
    kept, claim = task.kept, annotation.claim
    if kept is None or not claim.answered:
        return None
    golden = claim.gold or claim.who is None
    votes = [] if golden else [vote for vote in kept.votes if vote.annotator == claim.who]
    answers = [kept.gold.answer if kept.gold else None] if golden else [v.answer for v in votes]
    same = (_is_unchanged(claim, one, kept, annotation.graph) for one in answers)
    place = next((index for index, found in enumerate(same) if found), None)
    if place is None:
        return None
    if golden:
        shown_votes = kept.votes if task.with_others else ()
        return kept.row(task.line, kept.gold, shown_votes, kept.flags, task.carried)
    return kept.row(task.line, None, (votes[place],), kept.flags, task.carried)


def _tokenized(task: AnnotationTask, how: ReadOptions) -> TokenizedText:
    """The text with tokens on whose bounds all spans lie."""
    marks = [
        (spot.start, spot.end)
        for one in task.annotations
        for spot in one.graph.spots
        if spot.label != IGNORE
    ]
    marks += task.bounds
    if task.kept is None:
        return based(task.text, marks, how, task.tokens)
    return retokenized(task.kept.passage, marks, how)


def retokenized(
    passage: RawPassage, marks: Collection[Span], how: ReadOptions
) -> TokenizedText:
    """A stored passage, its tokens split where a span begins or ends inside one."""
    starts, ends = (set(passage.starts), set(passage.ends)) if marks else ((), ())
    if all(start in starts and end in ends for start, end in marks):
        return TokenizedText(TokenAlignment(passage), None, 0)
    tokens = list(zip(passage.starts, passage.ends, strict=True))
    return based(passage.text, marks, how, tokens, passage.turns)


def _row(
    task: AnnotationTask,
    annotation: TaskAnnotation,
    number: MarkedNumber,
    base: TokenizedText,
    how: ReadOptions,
    counts: Counter[str],
) -> GoldRow:
    alignment, kept, claim = base.alignment, task.kept, annotation.claim
    graph = number.graph
    own = None
    if kept is not None and number.anchor == kept.span:
        own = _without_old_flags(on_alignment(kept, alignment), claim)
        claim = replace(claim, role=_role(own, claim, graph))
    found = _as_expert(claim, outcome(claim, number, graph, alignment, how, own), own)
    counts["unsaid"] += bool(found.unsaid)
    counts["passed"] += not claim.answered and bool(number.kind or number.mentions)
    with_others = task.with_others and claim.who is None
    others = [f for f in kept.flags if f.annotator != claim.who] if kept and claim.who else []
    return GoldRow(
        line=task.line,
        passage=alignment.passage,
        anchor=Anchor(*alignment.tokens(*number.anchor)),
        split=kept.split if kept else None,
        gold=found.gold,
        votes=(*found.votes, *(own.votes if own and with_others else ())),
        flags=(*found.flags, *others),
        labels=task.carried,
        tokenizer=base.tokenizer,
        foreign=kept is None,
    )


def _without_old_flags(kept: Restored, claim: Claim) -> Restored:
    """The stored item without the flag SKIP of a number that was rejected since, or REJECT of
    one that was skipped since.
    """
    who = claim.who
    own = {flag.name for flag in kept.flags if flag.annotator == who} & set(PASSED)
    then = FlagName.REJECT if FlagName.REJECT in own else FlagName.SKIP
    if claim.answered or not own or claim.flags == (then,):
        return kept
    flags = [f for f in kept.flags if f.annotator != who or f.name not in PASSED]
    return replace(kept, flags=tuple(flags))


def _role(kept: Restored, claim: Claim, graph: Graph) -> Role:
    """The role of the stored vote that the graph shows."""
    own = [vote for vote in kept.votes if vote.annotator == claim.who]
    if len(own) > 1:
        return next((v.role for v in own if shows_answer(v.answer, kept, graph)), claim.role)
    return own[0].role if own else claim.role


def _as_expert(claim: Claim, found: ClaimOutcome, kept: Restored | None) -> ClaimOutcome:
    """The outcome with a gold that a named person decided in the tool as expert gold, and as
    that person's vote.

    If the same person decided before the export, that vote has a task of its own; the changed
    gold then counts as imported.
    """
    gold, before = found.gold, kept.gold if kept else None
    if claim.who is None or gold is None or gold is before:
        return found
    if before is not None and before.adjudicator == claim.who:
        return found
    at = claim.at or now()
    expert = Gold(gold.answer, Rule.EXPERT, claim.who, at)
    timed = claim.at is not None
    vote = Vote(claim.who, Role.ADJUDICATOR, gold.answer, at, claim.seconds, timed=timed)
    return replace(found, gold=expert, votes=(*found.votes, vote))


def checked_name(name: str) -> str:
    """The name of an annotator. Raises MarkError for an invalid name."""
    if not is_a_name(name):
        raise MarkError(f"the annotator is {shown(name)}; wanted {A_NAME}")
    return name


def classed(
    graph: Graph, classes: Iterable[str], how: ReadOptions, text: str, where: str
) -> Graph:
    """The graph with the class that the tool stores apart from the spans as the number's label.

    graph: translated. where: of the text. Raises MarkError unless there are one class and one
    number.
    """
    own = Graph(tuple(Spot(0, len(text), one) for one in classes))
    if not own.spots:
        return graph
    given = read_graph(own, how, text, where, exported=True)
    labels = [spot.label for spot in given.spots if spot.label != IGNORE]
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
        raise MarkError(f"the class {label} does not exist; wanted one of {', '.join(ANSWERS)}")
    spots = list(graph.spots)
    spots[places[0]] = Spot(spot.start, spot.end, label)
    return Graph(tuple(spots), graph.links)


# --- texts without a number -----------------------------------------------------------------


def _without_numbers(
    task: AnnotationTask, how: ReadOptions, counts: Counter[str]
) -> Iterator[Row]:
    claims = [one.claim for one in task.annotations]
    passed = tuple(flag for claim in claims for flag in _passed(claim))
    counts["words"] += any(claim.noun or claim.comment for claim in claims)
    line, kept, carried = task.line, task.kept, task.carried
    if kept is not None:
        counts["unmarked"] += 1
        yield kept.row(line, None, (), (*kept.flags, *passed), carried)
    elif task.numbers:
        counts["silent"] += 1
        if passed:
            base = _tokenized(task, how)
            passage, by = base.alignment.passage, base.tokenizer
            for number in task.numbers:
                anchor = Anchor(*base.alignment.tokens(*number))
                row = GoldRow(line, passage, anchor, None, None, (), passed, carried, by)
                yield replace(row, foreign=True)
    elif task.text.strip():
        counts["raw"] += 1
        counts["unflagged"] += any(claim.flags for claim in claims)
        yield replace(block_of(task.text, line), labels=carried)
    else:
        counts["empty"] += 1


def _passed(claim: Claim) -> Iterator[FlagMark]:
    """Flags of a named person who skipped or rejected a task without marking a number."""
    if claim.who is not None:
        at = claim.at or now()
        yield from (FlagMark(name, claim.who, at) for name in claim.flags)


# Spans of a text that several tasks of a file share.
#
# Each task is read on its own, but all answers to a text must be of one passage with the same
# tokens, and whoever skips a text skips the numbers that others mark in it.


@dataclass(slots=True)
class Texts:
    """Spans in code points, by the hash of their text."""

    _bounds: dict[bytes, set[Span]] = field(default_factory=dict)
    _numbers: dict[bytes, set[Span]] = field(default_factory=dict)

    def note(self, text: str, spots: Iterable[Spot], *, whole: Collection[Span] = ()) -> None:
        """Add the spans of one task, with our labels. whole: the tokens that the export stored
        in it, which need not be split at their own bounds.
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
        """Spans of a text at whose ends tokens are split."""
        return self._bounds.get(_hash(text), ()) if self._bounds else ()

    def numbers(self, text: str) -> Collection[Span]:
        """Numbers that tasks mark in a text, in order."""
        return sorted(self._numbers.get(_hash(text), ())) if self._numbers else ()


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
