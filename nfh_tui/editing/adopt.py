"""Taking over an answer: an annotator's, the model's, or what several have in common."""

from collections.abc import Iterable
from dataclasses import replace

from nfh_db.records import Item, Role
from nfh_models.domain import Answer, Kind, Mention
from nfh_tui.editing import votes
from nfh_tui.editing.heads import tidy
from nfh_tui.editing.state import Aside, EditState, Heads, Outcome, Source, in_anchor, refuse

MODEL = "the model"
"""The reason of an answer adopted from the model."""

MODEL_HIDDEN = "The model is hidden until you have answered. O shows it, and that is noted."
NOT_YOURS = "Others' answers are there for adjudicators; you are annotating."


def heads_of(answer: Answer, item: Item) -> Heads:
    """The heads of an answer as the editor keeps them, without any inside the number."""
    return fitting((head.mentions for head in answer.heads), item)


def fitting(heads: Iterable[Iterable[Mention]], item: Item) -> Heads:
    """The heads in order, each tidy, without mentions inside the number."""
    made = (tidy((m for m in head if not in_anchor(item, m.head)), item) for head in heads)
    return tuple(mentions for mentions in made if mentions)


def filled(
    state: EditState, item: Item, answer: Answer, source: Source, reason: str
) -> EditState:
    """The state with an answer in place of what stood there; the comment stays."""
    return replace(
        state,
        kind=answer.kind,
        heads=heads_of(answer, item),
        relation=answer.relation,
        sort=answer.sort,
        noun=answer.noun,
        span=None,
        source=source,
        reason=reason,
        aside=Aside(),
    )


def annotator(state: EditState, item: Item, number: int) -> Outcome:
    """Take over the answer of annotator `number`, counted from 1 in the order shown."""
    if state.role is not Role.ADJUDICATOR:
        return refuse(state, NOT_YOURS)
    found = votes.adoptable(item)
    if number > len(found):
        return refuse(state, f"There is no answer {number}: {_how_many(len(found))}.")
    answer = found[number - 1].answer
    if answer.kind is Kind.NFH:
        return refuse(
            state, f"Answer {number} only says that a noun is missing, not which: choose one."
        )
    old = number > len(votes.annotators_votes(item))
    reason = f"answer {number}{' to the old span' if old else ''}"
    rank = votes.rank_of(item, number)
    made = filled(state, item, answer, Source.ADOPTED, reason)
    return Outcome(replace(made, adopted=rank))


def _how_many(count: int) -> str:
    if count == 0:
        return "nobody has answered yet"
    return "one annotator has answered" if count == 1 else f"{count} annotators have answered"


def model(state: EditState, item: Item) -> Outcome:
    """Take over the model's choice."""
    if item.model_hidden:
        return refuse(state, MODEL_HIDDEN)
    if item.prediction is None:
        return refuse(state, "No model has answered this item yet.")
    answer = votes.model_answer(item)
    if answer is None:
        return refuse(state, "The model's choice does not fit this item; choose yourself.")
    return Outcome(filled(state, item, answer, Source.ADOPTED, MODEL))


def is_models(state: EditState) -> bool:
    """True if what stands in the editor was taken over from the model."""
    ours = state.source in {Source.ADOPTED, Source.DRAFT}
    return ours and state.reason.removeprefix("from ") == MODEL


def union(state: EditState, item: Item) -> Outcome:
    """Take over every head that an annotator marked."""
    return _joint(state, item, votes.union(item), "union", "No annotator marked a head.")


def intersection(state: EditState, item: Item) -> Outcome:
    """Take over the heads that all annotators who answered Reference marked."""
    why = "The annotators have no head in common."
    return _joint(state, item, votes.intersection(item), "intersection", why)


def _joint(
    state: EditState, item: Item, answer: Answer | None, reason: str, why_not: str
) -> Outcome:
    if state.role is not Role.ADJUDICATOR:
        return refuse(state, NOT_YOURS)
    if answer is None:
        return refuse(state, why_not)
    return Outcome(filled(state, item, answer, Source.ADOPTED, reason))


def nobody(state: EditState) -> Outcome:
    """Start from nothing; the comment, which somebody typed, stays."""
    return Outcome(
        replace(
            state,
            kind=None,
            heads=(),
            relation=None,
            sort=None,
            noun=None,
            span=None,
            source=Source.EMPTY,
            reason="cleared",
            aside=Aside(),
        )
    )
