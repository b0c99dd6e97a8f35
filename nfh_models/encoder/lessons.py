"""Labelled examples as the network learns from them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, Relation, anchor_id
from nfh_models.domain.classes import paper_class
from nfh_models.encoder.reading import Shown, States
from nfh_models.encoder.rows import CLASSES, Featuriser, Row
from nfh_models.encoder.settings import Candidates, EncoderSettings, Task
from nfh_models.encoder.windows import Window, window_of, window_of_case
from nfh_models.identification.case import Case
from nfh_models.identification.example import Example
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_models.training.targets import mentions_of

Soft = NDArray[np.float32]

NO_CLASS = "gold says nothing of a head"
OUTSIDE = "head outside the window"
NOBODY = "neither a pattern nor a teacher says its head"
OTHER_KIND = "of the kind that is left out"


@dataclass(frozen=True, slots=True)
class Lesson:
    """One anchor to learn from.

    heads: of each different head the candidates that are right, the places of a Row; empty
    where nobody says. nfh: whether the noun is missing; None teaches nothing. several: 0 one
    head, 1 AND, 2 OR; `several_weight` says how much it counts. soft: a teacher's
    probabilities over the candidates of the row. states: its states of the row's words, W x D.
    weight: of the choice of heads.
    """

    row: Row
    window: Window
    heads: tuple[tuple[int, ...], ...] = ()
    nfh: bool | None = None
    several: int | None = None
    several_weight: float = 0.0
    soft: Soft | None = None
    weight: float = 1.0
    states: States | None = None

    @property
    def reference(self) -> bool | None:
        """Whether its heads stand in the passage; None without heads."""
        return self.heads[0][0] >= CLASSES if self.heads else None


@dataclass(slots=True)
class Lessons:
    """What is learnt from. left_out: examples that teach nothing, by reason. lost: heads
    outside the window, of `heads` in all."""

    taught: list[Lesson] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    heads: int = 0
    lost: int = 0

    def leave(self, reason: str) -> None:
        """Count an example that is left out."""
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def key_of_item(item: Item) -> str:
    """What tells an anchor in its passage from all others: the public id of both."""
    return anchor_id(item.passage.digest, item.anchor)


def key_of_case(case: Case) -> str:
    """The same for a number in its sentence: 32 hex digits of the words and the span."""
    spelled = json.dumps([list(case.stretch.words), case.start, case.end])
    return hashlib.sha256(spelled.encode("ascii")).hexdigest()[:32]


# --- resolution -----------------------------------------------------------------------------


def add_resolution(
    lessons: Lessons,
    examples: Iterable[ResolutionExample],
    featuriser: Featuriser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft] | None = None,
    shown: Mapping[str, Shown] | None = None,
) -> None:
    """Add examples whose head is known. soft, shown: a teacher's, by `key_of_item`.

    Every token with the lemma of a gold head is right, for files mark only one of them. Left
    out are examples whose heads all stand outside the window.
    """
    for example in examples:
        item = example.item
        kind = paper_class(example.gold.kind)
        if kind is None:
            lessons.leave(NO_CLASS)
            continue
        if not allowed(kind, settings.candidates):
            lessons.leave(OTHER_KIND)
            continue
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        heads = right_candidates(item, example.gold, kind, row)
        lessons.heads += len(heads)
        lessons.lost += sum(not one for one in heads)
        kept = tuple(one for one in heads if one)
        if not kept:
            lessons.leave(OUTSIDE)
            continue
        several, weight = _several(example.gold, len(kept), settings)
        lessons.taught.append(
            Lesson(
                row,
                window,
                kept,
                True if settings.passages else None,
                several,
                weight,
                _fitting(soft, key_of_item(item), row),
                states=_states(shown, key_of_item(item), row),
            )
        )


def allowed(kind: Kind, candidates: Candidates) -> bool:
    """Whether an oracle run with such candidates holds examples of that kind."""
    if candidates is Candidates.ALL:
        return True
    return (kind is Kind.REFERENCE) == (candidates is Candidates.REFERENCE)


def right_candidates(item: Item, gold: Answer, kind: Kind, row: Row) -> list[tuple[int, ...]]:
    """Of each gold head the candidates of the row that are right, ascending; empty for a head
    that stands nowhere in it. kind: of the paper's seven."""
    if kind is not Kind.REFERENCE:
        return [(IMPLICIT_KINDS.index(kind),)]
    found = []
    for head in gold.heads:
        inside = (row.candidate(token) for token in mentions_of(head, item))
        found.append(tuple(sorted(one for one in inside if one is not None)))
    return found


def _several(gold: Answer, heads: int, settings: EncoderSettings) -> tuple[int | None, float]:
    """The target of `several`, and what it counts. Most files mark one head where there are
    two, so that "one" is worth little; of UNSTATED nobody knows what it is."""
    if len(gold.heads) > 1:
        if heads < len(gold.heads) or gold.relation is Relation.UNSTATED:
            return None, 0.0
        return (1 if gold.relation is Relation.AND else 2), 1.0
    return 0, settings.single


def _fitting(soft: Mapping[str, Soft] | None, key: str, row: Row) -> Soft | None:
    """A teacher's probabilities cut to a row; None where it has none.

    The teacher's are over the six classes and all tokens of the passage; what of them lies
    outside the row is shared out among the rest.
    """
    whole = soft.get(key) if soft else None
    if whole is None:
        return None
    first = CLASSES + row.offset
    cut = np.concatenate([whole[:CLASSES], whole[first : first + row.words]])
    total = float(cut.sum())
    return (cut / total).astype(np.float32) if total > 0 else None


def _states(shown: Mapping[str, Shown] | None, key: str, row: Row) -> States | None:
    """A teacher's states of the words of a row; None unless its window was the same."""
    found = shown.get(key) if shown else None
    if found is None or (found.offset, len(found.states)) != (row.offset, row.words):
        return None
    return found.states


# --- silver ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Silver:
    """An anchor that nobody labelled by hand. gold: where a pattern says what its head is;
    else a teacher does. nfh: what it teaches of identification; None leaves it to the
    setting `passages`."""

    item: Item
    gold: Answer | None = None
    nfh: bool | None = None


def add_silver(
    lessons: Lessons,
    silver: Iterable[Silver],
    featuriser: Featuriser,
    settings: EncoderSettings,
    soft: Mapping[str, Soft],
    shown: Mapping[str, Shown] | None = None,
) -> None:
    """Add such anchors; left out are those of which neither pattern nor teacher says a thing
    that stands in the window."""
    for one in silver:
        item, gold = one.item, one.gold
        window = window_of(item.passage, item.anchor, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        kind = None if gold is None else paper_class(gold.kind)
        heads: tuple[tuple[int, ...], ...] = ()
        if gold is not None and kind is not None and allowed(kind, settings.candidates):
            heads = tuple(right for right in right_candidates(item, gold, kind, row) if right)
        taught = _fitting(soft, key_of_item(item), row)
        states = _states(shown, key_of_item(item), row)
        nfh = True if one.nfh is None and settings.passages else one.nfh
        if not heads and taught is None and nfh is None:
            lessons.leave(NOBODY)
            continue
        lessons.taught.append(Lesson(row, window, heads, nfh, soft=taught, states=states))


# --- identification -------------------------------------------------------------------------


def add_identification(
    lessons: Lessons,
    examples: Iterable[Example],
    featuriser: Featuriser,
    soft: Mapping[str, Soft] | None = None,
) -> None:
    """Add numbers of which it is known whether they are fused heads. soft: probabilities of
    heads by `key_of_case`, from a teacher: silver labels of resolution."""
    for example in examples:
        case = example.case
        window = window_of_case(case, featuriser.window, featuriser.before)
        row = featuriser.of_window(window)
        silver = _fitting(soft, key_of_case(case), row) if example.nfh else None
        lessons.taught.append(Lesson(row, window, nfh=example.nfh, soft=silver))


# --- weights --------------------------------------------------------------------------------


def balanced(lessons: Sequence[Lesson], share: float) -> list[Lesson]:
    """The lessons weighted so that References count as `share` of those with heads; 0 leaves
    them as they are. The mean weight stays 1."""
    references = sum(one.reference is True for one in lessons)
    others = sum(one.reference is False for one in lessons)
    if not share or not references or not others:
        return list(lessons)
    total = references + others
    weights = {True: share * total / references, False: (1 - share) * total / others}
    return [
        one if one.reference is None else replace(one, weight=weights[one.reference])
        for one in lessons
    ]


def wanted(task: Task, of: Task) -> bool:
    """Whether a training for `task` has examples of resolution, or of identification."""
    return task in (Task.BOTH, of)
