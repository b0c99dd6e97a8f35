"""What one annotation of another tool's file comes to: a vote, a gold, flags, or nothing yet.

The marks are the tool's, and they count. What the file carries along besides (see `stored`)
fills in what the tool has no terms for, as long as nobody changed the marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nfh_db.clock import now
from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.grid import Grid, MarkError
from nfh_db.formats.marked import Graph, Marked, answer_of
from nfh_db.formats.options import Reading
from nfh_db.formats.stored import Restored, as_drawn
from nfh_db.formats.wording import shown
from nfh_db.records import PERSON, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import Anchor, Answer, AnswerError, Head, Mention

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
class Outcome:
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
    how: Reading,
    kept: Restored | None = None,
) -> Outcome:
    """What a claim comes to. graph: translated, of this number alone. kept: what the file
    carries along of the same number. Raises MarkError.
    """
    if claim.who is not None and not is_a_name(claim.who):
        raise MarkError(f"found {shown(claim.who)} as who answered, wanted {A_NAME}")
    kept = kept and on_grid(kept, grid)
    flags = _flags(claim, kept)
    if not claim.answered:
        return Outcome(flags=flags)
    if claim.gold or claim.who is None:
        return _gold(claim, marked, graph, grid, how, kept, flags)
    before = _vote_of(kept.votes, claim) if kept else None
    if kept and before and _unchanged(before.answer, kept, graph, claim):
        return Outcome(votes=(before,), flags=flags)
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
    return Outcome(votes=(vote,), flags=flags, changed=before is not None)


def _gold(
    claim: Claim,
    marked: Marked,
    graph: Graph,
    grid: Grid,
    how: Reading,
    kept: Restored | None,
    flags: tuple[FlagMark, ...],
) -> Outcome:
    before = kept.gold if kept else None
    if kept and before and _unchanged(before.answer, kept, graph, claim):
        return Outcome(gold=before, flags=flags)
    answer = _native(claim, marked, grid, how, before.answer if before else None)
    if answer is None:
        return _nothing(claim, flags, changed=before is not None)
    gold = Gold(answer, Rule.IMPORTED, None, claim.at)
    return Outcome(gold=gold, flags=flags, changed=before is not None)


def _nothing(claim: Claim, flags: tuple[FlagMark, ...], *, changed: bool) -> Outcome:
    return Outcome(flags=flags, changed=changed, unsaid=claim.noun or claim.comment or "")


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


def _unchanged(answer: Answer, kept: Restored, graph: Graph, claim: Claim) -> bool:
    """True if the tool's file shows this answer still."""
    same_words = (claim.noun is None or claim.noun == (answer.noun or "")) and (
        claim.comment is None or claim.comment == answer.comment
    )
    return same_words and as_drawn(answer, kept, graph)


def _native(
    claim: Claim, marked: Marked, grid: Grid, how: Reading, before: Answer | None
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
