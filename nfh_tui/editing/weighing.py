"""How much each person's answer weighs in what is proposed, where their competence is known.

Votes of people who err independently are best weighed by the logarithm of their odds of being
right: Nitzan and Paroush (1982), "Optimal decision rules in uncertain dichotomous choice
situations". With K answers to choose from, and all wrong ones alike, that is
ln((K - 1) p / (1 - p)): what one person's row in the model of Dawid and Skene (1979) comes to
if it holds a single figure. A person who is right no more often than chance weighs nothing.
"""

from collections.abc import Mapping, Sequence
from math import log

from nfh_db.records import Item, Vote

ANSWERS = 10
"""Answers to choose from: Reference, the six classes, Unknown, Not an NFH, Damaged. Nouns
would make them more; fewer make a good annotator weigh more against two poor ones."""

SURE = 0.99
"""Nobody is taken for surer than this, whatever a small sample says."""

LEAD = 0.1
"""The share of all weight by which a group has to lead: figures from samples are no finer."""


def weight(accuracy: float) -> float:
    """The weight of somebody who is right with this probability; 0 for chance and worse."""
    p = min(accuracy, SURE)
    return max(0.0, log((ANSWERS - 1) * p / (1 - p))) if p > 0 else 0.0


def weights(item: Item, votes: Sequence[Vote]) -> Mapping[str, float] | None:
    """The weight of each voter by name; None unless all of them, two at least, are known.

    Where one of them is not known, how much that one should weigh is not known either.
    """
    known = {one.annotator: weight(one.accuracy) for one in item.competences}
    names = {vote.annotator for vote in votes}
    if len(names) < 2 or not names <= known.keys():
        return None
    found = {name: known[name] for name in names}
    return found if sum(found.values()) > 0 else None


def leader(shares: Sequence[float]) -> int | None:
    """The place of the largest of these shares of all weight; None where none leads enough."""
    order = sorted(range(len(shares)), key=lambda place: -shares[place])
    if len(order) > 1 and shares[order[0]] - shares[order[1]] < LEAD:
        return None
    return order[0] if order else None
