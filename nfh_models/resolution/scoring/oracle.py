"""What a recipe would choose if it were told whether the head is in the text.

The paper's oracle experiments (section 6.3, Table 5) leave only candidates of the right kind,
in training and in test. Here they are left out in test; a trained recipe has a setting that
leaves them out in training, too, and such a model is scored here in the same way.
"""

from collections.abc import Sequence
from dataclasses import replace

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_models.resolution.scoring.figures import Figures, figures
from nfh_models.resolution.scoring.judging import LABELS, judge

CLASSES = len(IMPLICIT_KINDS)


def oracle(examples: Sequence[ResolutionExample], choices: Sequence[Choice | None]) -> Figures:
    """The figures with candidates of the right kind only; `reference` and `implicit` are
    the paper's two oracle figures. ValueError if there are not as many of both."""
    restricted = [
        None if choice is None else restrict(choice, reference=one.gold.kind is Kind.REFERENCE)
        for one, choice in zip(examples, choices, strict=True)
    ]
    return figures(judge(examples, restricted))


def restrict(choice: Choice, *, reference: bool) -> Choice | None:
    """The best among the tokens (reference) or among the classes; None where none of them
    has a score. Of two equal ones the choice as it was wins, then the first."""
    kept = tuple(
        score if (place >= CLASSES) == reference else None
        for place, score in enumerate(choice.scores)
    )
    ranked = sorted(
        ((score, name(place)) for place, score in enumerate(kept) if score is not None),
        key=lambda scored: (-scored[0], scored[1] != choice.choice),
    )
    if not ranked:
        return None
    (best, said), (runner_up, second) = ranked[0], (*ranked, (None, None))[1]
    margin = None if runner_up is None else best - runner_up
    return replace(choice, choice=said, second=second, margin=margin, scores=kept)


def name(place: int) -> str:
    """The candidate at a place of `Choice.scores`, as `Choice.choice` names it."""
    return LABELS[place] if place < CLASSES else str(place - CLASSES)
