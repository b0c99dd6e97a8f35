"""The summary columns of an anchor, computed from its answers and its gold."""

from collections.abc import Callable, Sequence

from nfh_db import anchors, answers, differences, gold, passages
from nfh_db.anchors import Summary
from nfh_db.connection import Connection
from nfh_db.records import PERSON, Role, State, Vote
from nfh_db.values import GoldValue, answer_of
from nfh_models.domain import (
    Answer,
    Blocking,
    ItemDisagreement,
    Kind,
    Note,
    compare,
    compare_all,
)

NO_DISAGREEMENT = ItemDisagreement()


def summarise(
    votes: Sequence[Vote],
    decided: GoldValue | None,
    lemmas: Callable[[], Sequence[str]],
    *,
    stale: bool = False,
) -> Summary:
    """What an anchor's row says.

    votes: all its answers, by name; adjudicators' are compared apart from annotators', models'
    not at all.
    lemmas: asked for only where answers have to be compared. stale: it replaces an anchor
    that had answers or gold.
    """
    given = [vote.answer for vote in votes if vote.counts]
    experts = [vote.answer for vote in votes if vote.role is Role.ADJUDICATOR]
    standard = standard_of(decided) if given else None
    several = len(given) > 1 or len(experts) > 1
    heads = standard is not None and any(answer.heads for answer in (standard, *given))
    words = lemmas() if several or heads else ()
    found = compare_all(given, words) if given else NO_DISAGREEMENT
    return Summary(
        state_of(len(given), found, decided, stale=stale),
        decided.kind if decided else None,
        len(decided.heads) if decided else 0,
        len(given),
        found,
        compare_all(experts, words) if len(experts) > 1 else None,
        None if standard is None else against(standard, given, words),
    )


def standard_of(decided: GoldValue | None) -> Answer | None:
    """Gold as an answer that others are compared with; None where it decides nothing."""
    if decided is None or decided.kind == Kind.NFH:
        return None
    return answer_of(decided)


def against(
    standard: Answer, given: Sequence[Answer], lemmas: Sequence[str]
) -> tuple[Blocking | None, ...]:
    """What blocks between each of some answers and the one that counts."""
    return tuple(compare(answer, standard, lemmas).blocking for answer in given)


def state_of(
    votes: int, found: ItemDisagreement, decided: GoldValue | None, *, stale: bool
) -> State:
    """Where an anchor stands; the first that holds."""
    if decided is not None and decided.kind != Kind.NFH:
        return State.DECIDED
    if stale and not votes:
        return State.STALE
    if found.blocking:
        return State.DISAGREE
    return State.ANSWERED if votes else State.OPEN


def predecessor(connection: Connection, anchor_id: int) -> int | None:
    """The nearest anchor, walking back over those replaced, that has answers or gold."""
    seen = {anchor_id}
    place = anchor_id
    _, before, _ = anchors.links(connection, place)
    while before is not None and before not in seen:
        _, further, replaced_by = anchors.links(connection, before)
        if replaced_by != place:
            # It was revived meanwhile: its answers count where they were given.
            return None
        votes = answers.votes(connection, [before]).get(before, ())
        if any(vote.type == PERSON for vote in votes) or gold.read(connection, before):
            return before
        seen.add(before)
        place, before = before, further
    return None


def recompute(connection: Connection, anchor_id: int) -> State:
    """Write an anchor's summary, and how its answers differ, anew; say where it stands."""
    passage_id, replaces, _ = anchors.links(connection, anchor_id)
    summary = summarise(
        answers.votes(connection, [anchor_id]).get(anchor_id, ()),
        gold.read(connection, anchor_id),
        lambda: passages.lemmas(connection, passage_id),
        stale=replaces is not None and predecessor(connection, anchor_id) is not None,
    )
    anchors.set_summary(connection, anchor_id, summary)
    differences.write(connection, anchor_id, summary)
    return summary.state


def recompute_with_successors(connection: Connection, anchor_ids: Sequence[int]) -> None:
    """Recompute anchors and those that replaced them: stale depends on what was replaced."""
    pending, done = list(anchor_ids), set[int]()
    while pending:
        anchor_id = pending.pop()
        if anchor_id in done:
            continue
        done.add(anchor_id)
        recompute(connection, anchor_id)
        _, _, after = anchors.links(connection, anchor_id)
        if after is not None:
            pending.append(after)


def blocking_names(words: str) -> tuple[Blocking, ...]:
    """The blocking kinds of a summary column, strongest first."""
    held = set(words.split())
    return tuple(kind for kind in Blocking if kind in held)


def note_names(words: str) -> tuple[Note, ...]:
    """The notes of a summary column."""
    held = set(words.split())
    return tuple(note for note in Note if note in held)
