"""The rule of the guidelines on which a decision turns."""

from dataclasses import replace

from nfh_db.records import Item, Role, Rule, Vote
from nfh_models.domain import rule_id
from nfh_tui.editing.state import EditState, Outcome, settled, without_pending


def set_tag(state: EditState, tag: str | None) -> Outcome:
    """Tag the answer with a rule, by its id; None takes the tag away."""
    kept = None if tag is None else rule_id(tag)
    return Outcome(settled(replace(without_pending(state), tag=kept)))


def tag_of(vote: Vote) -> str | None:
    """The rule that an answer is tagged with, by its id, or the tag itself if it is none."""
    return None if vote.rule_tag is None else rule_id(vote.rule_tag)


def gold_vote(item: Item) -> Vote | None:
    """The expert's answer that an item's gold was made of, if it was."""
    gold = item.gold
    if gold is None or gold.rule is not Rule.EXPERT:
        return None
    return next(
        (
            vote
            for vote in item.votes
            if vote.role is Role.ADJUDICATOR and vote.annotator == gold.adjudicator
        ),
        None,
    )
