"""The lanes of an item: each answer with its key, its sign and its name, in a fixed order.

Pure: no screen. Annotators come first, with the keys that adopt their answers; then the model,
the gold, and adjudicators whose answer is not the gold's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db.records import PERSON, Item, Role, Rule, Vote
from nfh_models.domain import Answer
from nfh_tui.editing import annotators_votes, model_answer
from nfh_tui.editing.blinding import letter
from nfh_tui.passage_lanes import MOST_LANES

GOLD = "◆"
MODEL = "m"
NO_KEY = "·"


@dataclass(frozen=True, slots=True)
class Lane:
    """One answer. key: what adopts it, or its sign. role: its look. name: "" where hidden.

    vote: what it came with; None for the model, and for gold that nobody's answer made.
    """

    key: str
    role: str
    name: str
    answer: Answer
    vote: Vote | None = None


def lane_role(number: int) -> str:
    """The look of annotator `number`, from 1: the same as on the text."""
    return f"lane-{number if number <= MOST_LANES else 0}"


def lanes(item: Item, *, blind: bool) -> tuple[Lane, ...]:
    """All answers to the item that count or are to be seen; blind: letters for names."""
    made = [
        Lane(
            f"{number}" if number <= MOST_LANES else NO_KEY,
            lane_role(number),
            letter(number - 1) if blind else vote.annotator,
            vote.answer,
            vote,
        )
        for number, vote in enumerate(annotators_votes(item), 1)
    ]
    said = model_answer(item)
    if said is not None and item.prediction is not None:
        made.append(Lane(MODEL, "key", item.prediction.model, said))
    decided = [vote for vote in item.votes if vote.role is Role.ADJUDICATOR]
    if item.gold is not None:
        by = _deciding(item, decided)
        made.append(Lane(GOLD, "gold", "gold", item.gold.answer, by))
        decided = [vote for vote in decided if vote is not by]
    made += [
        Lane(NO_KEY, "name", "" if blind else vote.annotator, vote.answer, vote)
        for vote in decided
    ]
    return tuple(made)


def _deciding(item: Item, decided: Sequence[Vote]) -> Vote | None:
    """The adjudicator's answer that is the gold; None where a rule or a file made it."""
    gold = item.gold
    if gold is None or gold.rule is not Rule.EXPERT:
        return None
    named = [vote for vote in decided if vote.annotator == (gold.adjudicator or "")]
    for vote in named or decided:
        if vote.answer.without_comment() == gold.answer.without_comment():
            return vote
    return None


def is_counted(lane: Lane) -> bool:
    """False for an annotator's lane that is no person's: it is shown and adopted only."""
    return lane.vote is None or lane.vote.type == PERSON
