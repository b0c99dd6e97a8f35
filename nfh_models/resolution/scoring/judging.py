"""One example and what a recipe said of it: what is right, and in which ways."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, paper_class
from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_models.statistics.heads import Side, distance, side

LABELS: tuple[str, ...] = (*(kind.value for kind in IMPLICIT_KINDS), Kind.REFERENCE.value)
"""The seven gold labels, in the order of the paper's figure 5: the classes, then REFERENCE."""

REF_WRONG = "REF-WRONG"
"""A token was chosen for a Reference, and it is no gold mention (paper section 6.4)."""

COLUMNS: tuple[str, ...] = (*LABELS, REF_WRONG)
"""What may be predicted, in the order of the columns of the confusion matrix."""


@dataclass(frozen=True, slots=True)
class Judged:
    """An example with a choice, and how good it is.

    choice: None where the recipe had nothing to say; nothing is right then.
    gold: one of LABELS. predicted: one of COLUMNS, None without a choice. A token chosen
    for an implicit gold is REFERENCE: there is no gold token that it could miss.
    token: the token chosen, None for a class.
    right: the class, or the head token of any gold mention. inclusive: also any token whose
    lower-cased form is that of a gold head token. nearest: of the mentions, only the one
    nearest to the anchor. class_right: over seven classes, any token is REFERENCE.
    binary_right: a token for a Reference, a class for an implicit one.
    head: the gold head token nearest to the anchor, the earlier of two equally near.
    distance: from the anchor to it in tokens, 1 is beside it. turns: ranks of turns between
    the anchor and the gold head whose turn is nearest, 0 is the same turn; that may be
    another head. side: where all gold heads stand. These four are None for implicit gold.
    """

    example: ResolutionExample
    choice: Choice | None
    gold: str
    predicted: str | None
    token: int | None
    right: bool
    inclusive: bool
    nearest: bool
    class_right: bool
    binary_right: bool
    head: int | None = None
    distance: int | None = None
    turns: int | None = None
    side: Side | None = None

    @property
    def reference(self) -> bool:
        """Whether the gold is a Reference."""
        return self.gold == Kind.REFERENCE

    @property
    def ref_wrong(self) -> bool:
        """Whether a token was chosen for a Reference, and it is no gold mention."""
        return self.predicted == REF_WRONG


def judge(
    examples: Sequence[ResolutionExample], choices: Sequence[Choice | None]
) -> tuple[Judged, ...]:
    """Each example with its choice. ValueError if there are not as many of both."""
    return tuple(
        judge_one(example, choice) for example, choice in zip(examples, choices, strict=True)
    )


def judge_one(example: ResolutionExample, choice: Choice | None) -> Judged:
    """How good a choice is.

    ValueError for gold that names no class (NOT_NFH, BROKEN, NFH), and for a choice that is
    neither one of the six classes nor a token of the passage outside the anchor.
    """
    gold = gold_label(example.gold)
    token = None if choice is None else chosen_token(example, choice)
    if gold == Kind.REFERENCE:
        return _judge_reference(example, choice, token)
    predicted = None
    if choice is not None:
        predicted = choice.choice if token is None else Kind.REFERENCE.value
    right = predicted == gold
    binary = choice is not None and token is None
    return Judged(example, choice, gold, predicted, token, right, right, right, right, binary)


def _judge_reference(
    example: ResolutionExample, choice: Choice | None, token: int | None
) -> Judged:
    passage, anchor = example.item.passage, example.item.anchor
    heads, here = example.gold.head_tokens(), passage.turn_of(anchor.start)
    nearest = min(heads, key=lambda head: (distance(anchor, head), head))
    right = token in heads
    inclusive = token is not None and passage.word(token).lower() in {
        passage.word(head).lower() for head in heads
    }
    predicted = None
    if choice is not None:
        predicted = choice.choice if token is None else REF_WRONG
    return Judged(
        example,
        choice,
        gold=Kind.REFERENCE.value,
        predicted=Kind.REFERENCE.value if right else predicted,
        token=token,
        right=right,
        inclusive=inclusive,
        nearest=token == nearest,
        class_right=token is not None,
        binary_right=token is not None,
        head=nearest,
        distance=distance(anchor, nearest),
        turns=min(abs(passage.turn_of(head) - here) for head in heads),
        side=side(anchor, heads),
    )


def gold_label(answer: Answer) -> str:
    """The label of LABELS that an answer has; UNKNOWN is OTHER, as in the release's form.

    ValueError for NOT_NFH, BROKEN and NFH, on which resolution is not scored.
    """
    kind = paper_class(answer.kind)
    if kind is None:
        raise ValueError(f"gold of kind {answer.kind} names no class and is not scored")
    return kind.value


def chosen_token(example: ResolutionExample, choice: Choice) -> int | None:
    """The token that a choice names; None where it names a class.

    ValueError where it is neither a class nor a token outside the anchor.
    """
    said = choice.choice
    if not said.isdecimal():
        if said not in LABELS[:-1]:
            raise ValueError(f"{example.where}: {said!r} is neither a class nor a token")
        return None
    token, anchor = int(said), example.item.anchor
    if token >= len(example.item.passage.tokens):
        raise ValueError(f"{example.where}: token {token} is outside the passage")
    if anchor.start <= token < anchor.end:
        raise ValueError(f"{example.where}: token {token} is part of the anchor")
    return token


def score_of(choice: Choice, said: str) -> float | None:
    """The score of a candidate, named as in `Choice.choice`; None where it has none."""
    place = len(IMPLICIT_KINDS) + int(said) if said.isdecimal() else LABELS.index(said)
    return choice.scores[place] if place < len(choice.scores) else None
