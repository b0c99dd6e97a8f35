"""Compares two models item by item, by their stored predictions.

The models are not run, so that this is quick.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nfh_db.query import Query, quote_name
from nfh_db.records import Ballot
from nfh_models import ModelsError
from nfh_models.domain import Answer, Kind, Passage
from nfh_models.identification.base import Example, cases_of
from nfh_models.resolution.base import Choice, Item, ResolutionExample
from nfh_tui.jobs.reporting import seen_by
from nfh_tui.services.examples import LabelledNumber, resolution_gold
from nfh_tui.services.models import files_of

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store
    from nfh_models.agreement.measure import Measure
    from nfh_models.resolution.scoring import ScoredExample

IDENTIFICATION, RESOLUTION, BOTH = "identification", "resolution", "both"

FIGURES = {
    RESOLUTION: ("accuracy", "accuracy_inclusive", "accuracy_nearest"),
    IDENTIFICATION: ("f1",),
}
"""Figures by which models are compared; the first decides which items are right."""

MOST_NAMED = 200
"""Items that a query names by number."""

NFH, NOT_NFH = Kind.NFH.value, Kind.NOT_NFH.value


class NotComparableError(ModelsError):
    """Two models that cannot be compared; the sentence says why."""


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """Two models by one figure. p: two-sided, of the paired bootstrap; None without one."""

    figure: str
    first: float | None
    second: float | None
    difference: "Measure"
    p: float | None


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """One item that both have answered.

    gold, first, second: a class or tokens in digits; of identification NFH or NOT_NFH. right:
    of each. seen: one of them has seen its passage.
    """

    anchor_id: int
    ballot: Ballot
    gold: str
    first: str
    second: str
    right: tuple[bool, bool]
    seen: bool = False


@dataclass(frozen=True, slots=True)
class ComparedFigures:
    """Two models on some items. differences: in the order of FIGURES."""

    n: int
    passages: int
    differences: tuple[FigureDifference, ...]


@dataclass(frozen=True, slots=True)
class ModelComparison:
    """Two models on the same items.

    missing: items with gold that the first, and the second, has not answered. learnt: of
    those compared, how many stand in passages that each has seen. saw_model: items whose
    gold was given with a model's answer in view. unseen: the figures on items of passages
    that neither has seen, where those are some and not all.
    """

    task: str
    first: "Model"
    second: "Model"
    query: Query
    items: tuple[ComparedItem, ...]
    figures: ComparedFigures
    missing: tuple[int, int]
    learnt: tuple[int, int]
    saw_model: int
    unseen: ComparedFigures | None = None

    def of(self, right: tuple[bool, bool]) -> list[ComparedItem]:
        """The items that the first, and the second, has right or wrong."""
        return [one for one in self.items if one.right == right]

    def query_of(self, right: tuple[bool, bool]) -> str:
        """A query for these items; "" where there is none."""
        if self.task == IDENTIFICATION:
            numbers = [str(one.anchor_id) for one in self.of(right)]
            return f"id:{','.join(numbers)}" if 0 < len(numbers) <= MOST_NAMED else ""
        keys = (
            f"{'hit' if it else 'miss'}:{quote_name(model.name, ())}"
            for it, model in zip(right, (self.first, self.second), strict=True)
        )
        return " ".join([*([self.query.text] if self.query.text else []), *keys])


def task_of(first: "Model", second: "Model", wanted: str | None = None) -> str:
    """The task in which two models are compared: resolution where both do it.

    Raises NotComparableError for models of two tasks, or that do not do the one wanted.
    """
    common = [
        task
        for task in (RESOLUTION, IDENTIFICATION)
        if {first.task, second.task} <= {task, BOTH} and wanted in (None, task)
    ]
    if common:
        return common[0]
    if wanted is not None:
        raise NotComparableError(
            f"{first.name} and {second.name} are not both models of {wanted}"
        )
    raise NotComparableError(
        f"{first.name} is a model of {first.task} and {second.name} of {second.task}: only "
        "models of one task can be compared"
    )


def compare_models(
    store: "Store",
    task: str,
    first: "Model",
    second: "Model",
    query: Query,
    hidden: frozenset[int] = frozenset(),
) -> ModelComparison:
    """Two models on the gold of a query, as far as both have answered.

    hidden: anchors that are left out. Raises StoreError.
    """
    of_task = _Resolution() if task == RESOLUTION else _Identification()
    labelled = store.holdout.labelled(query)
    ballots = [one for one in labelled if one.anchor_id not in hidden and of_task.tells(one)]
    ids = [one.anchor_id for one in ballots]
    said = [of_task.said(store, model, ids) for model in (first, second)]
    both = [one for one in ballots if one.anchor_id in said[0] and one.anchor_id in said[1]]
    texts = {one.passage.digest: one.passage for one in both}
    learnt = []
    for model in (first, second):
        test = seen_test(store, model.id)
        learnt.append(
            frozenset(
                digest for digest, text in texts.items() if test is not None and test(text)
            )
        )
    either = learnt[0] | learnt[1]
    items = [
        replace(one, seen=one.ballot.passage.digest in either)
        for one in _items(of_task, both, *said)
    ]
    unseen = [one for one in items if not one.seen]
    return ModelComparison(
        task,
        first,
        second,
        query,
        tuple(items),
        of_task.figures(items),
        (len(ids) - len(said[0]), len(ids) - len(said[1])),
        (_within(items, learnt[0]), _within(items, learnt[1])),
        sum(LabelledNumber(one.anchor, one.gold, one.votes, "").saw_model for one in both),
        of_task.figures(unseen) if 0 < len(unseen) < len(items) else None,
    )


def _items(
    of_task: "_Resolution | _Identification",
    ballots: Sequence[Ballot],
    first: Mapping[int, str],
    second: Mapping[int, str],
) -> list[ComparedItem]:
    ids = [one.anchor_id for one in ballots]
    left = of_task.right(ballots, [first[it] for it in ids])
    right = of_task.right(ballots, [second[it] for it in ids])
    return [
        ComparedItem(it, one, of_task.gold(one), first[it], second[it], both)
        for it, one, both in zip(ids, ballots, zip(left, right, strict=True), strict=True)
    ]


def seen_test(store: "Store", model_id: int) -> "Callable[[Passage], bool] | None":
    """A test whether a registered model has seen a passage; None for rules, and no model."""
    model = next((one for one in store.models.all() if one.id == model_id), None)
    folder = None if model is None else files_of(store.path, model)
    return None if folder is None else seen_by(store, model, folder)


def _within(items: "Sequence[ComparedItem]", passages: frozenset[str]) -> int:
    return sum(one.ballot.passage.digest in passages for one in items)


# --- the tasks ------------------------------------------------------------------------------


def _gold(ballot: Ballot) -> Answer:
    if ballot.gold is None:
        raise ValueError("an item without gold")
    return ballot.gold.answer


class _Resolution:
    """Which noun is missing? A prediction is a token in digits, or a class."""

    def tells(self, ballot: Ballot) -> bool:
        """Whether gold decides what is right."""
        return resolution_gold(_gold(ballot)) is not None

    def said(self, store: "Store", model: "Model", ids: Sequence[int]) -> Mapping[int, str]:
        return store.answers.model_choices(model.id, ids)

    def gold(self, ballot: Ballot) -> str:
        answer = _gold(ballot)
        if answer.kind is not Kind.REFERENCE:
            return answer.kind.value
        return ",".join(map(str, sorted(answer.head_tokens())))

    def right(self, ballots: Sequence[Ballot], chosen: Sequence[str]) -> list[bool]:
        """Whether each choice is right."""
        return [one.right for one in self._judged(ballots, chosen)]

    def figures(self, items: Sequence[ComparedItem]) -> ComparedFigures:
        from nfh_models.resolution.evaluation import compare

        ballots = [one.ballot for one in items]
        first = self._judged(ballots, [one.first for one in items])
        second = self._judged(ballots, [one.second for one in items])
        tests = [compare(first, second, None, figure) for figure in FIGURES[RESOLUTION]]
        differences = (
            FigureDifference(one.measure, one.first, one.second, one.difference, one.p)
            for one in tests
        )
        return ComparedFigures(len(items), _passages(items), tuple(differences))

    def _judged(
        self, ballots: Sequence[Ballot], chosen: Sequence[str]
    ) -> "tuple[ScoredExample, ...]":
        from nfh_models.resolution.scoring import judge

        examples = [
            ResolutionExample(
                Item(one.passage, one.anchor),
                resolution_gold(_gold(one)) or _gold(one),
                "",
                one.passage.digest,
            )
            for one in ballots
        ]
        return judge(examples, [Choice(said, None, None, ()) for said in chosen])


class _Identification:
    """Is a noun missing?"""

    def tells(self, ballot: Ballot) -> bool:
        return _gold(ballot).kind.identification is not None

    def said(self, store: "Store", model: "Model", ids: Sequence[int]) -> Mapping[int, str]:
        found = store.answers.model_decisions(model.id, ids)
        return {anchor_id: NFH if nfh else NOT_NFH for anchor_id, nfh in found.items()}

    def gold(self, ballot: Ballot) -> str:
        return NFH if _gold(ballot).kind.identification else NOT_NFH

    def right(self, ballots: Sequence[Ballot], said: Sequence[str]) -> list[bool]:
        return [self.gold(one) == it for one, it in zip(ballots, said, strict=True)]

    def figures(self, items: Sequence[ComparedItem]) -> ComparedFigures:
        from nfh_models.identification.evaluation import compare
        from nfh_models.identification.scores import count

        gold = [one.gold == NFH for one in items]
        first = [one.first == NFH for one in items]
        second = [one.second == NFH for one in items]
        examples = [
            Example(case, nfh, "", one.ballot.passage.digest)
            for one, nfh in zip(items, gold, strict=True)
            for case in cases_of(one.ballot.passage, [one.ballot.anchor])
        ]
        found = compare(examples, first, second)
        only = FigureDifference(
            FIGURES[IDENTIFICATION][0],
            count(zip(gold, first, strict=True)).f1,
            count(zip(gold, second, strict=True)).f1,
            found.difference,
            found.p,
        )
        return ComparedFigures(len(items), _passages(items), (only,))


def _passages(items: Sequence[ComparedItem]) -> int:
    return len({one.ballot.passage.digest for one in items})
