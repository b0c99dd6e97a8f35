"""Training of `linear` step by step, so that whoever drives it can report, and stop between."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.domain.classes import paper_class
from nfh_models.errors import ModelsError
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import ResolutionExample
from nfh_models.resolution.linear import NEEDS, Linear, Places
from nfh_models.resolution.linear_fitting import ITERATIONS, Fitted, fitting
from nfh_models.resolution.linear_settings import Plan
from nfh_models.resolution.linear_table import Collector, Table
from nfh_models.resolution.linear_trial import Tally, tally
from nfh_models.resolution.parsing_items import batches_of, check_layers, parse_items

NO_ANSWER = "no class or head"
OUT_OF_REACH = "no head among the candidates"
"""Why examples are not learnt from."""


class NothingToLearnError(ModelsError):
    """No example to learn from; the sentence says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far training is. phase: "features", "fold 2", "fitting"."""

    phase: str
    done: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trained:
    """A model fitted on all examples, and how well models like it did in the folds.

    folds: a tally each; none where they were not tried. kinds: learnt from, by class.
    left_out: not learnt from, by reason. warnings: what makes the model worth less, as
    sentences. groups: passages. snapshot: see `snapshot_of`.
    """

    model: Linear
    plan: Plan
    folds: tuple[Tally, ...]
    loss: float
    converged: bool
    kinds: Mapping[str, int]
    left_out: Mapping[str, int]
    warnings: tuple[str, ...]
    groups: int
    snapshot: str


def training(
    examples: Sequence[ResolutionExample], plan: Plan, parser: Parser | None
) -> Generator[Step, None, Trained]:
    """Parse and tell the features, try fold by fold, and fit on all; a report after each part.

    parser: None where all examples carry a parse; those that do keep it. The same examples in
    the same order give the same model. Raises NothingToLearnError, ParserError.
    """
    answered = [one for one in examples if paper_class(one.gold.kind) is not None]
    if not answered:
        raise NothingToLearnError(
            _nothing(len(examples), "no class and no head is said of any")
        )
    collector = Collector(plan.settings)
    used = yield from _collect(answered, collector, parser)
    if not used:
        raise NothingToLearnError(_nothing(len(examples), OUT_OF_REACH))
    table = collector.table()
    groups = [one.group for one in used]
    tried = yield from _folds(table, groups, plan)
    fitted = yield from _fit(table, "fitting")
    kinds = Counter(str(paper_class(one.gold.kind)) for one in used)
    left = {NO_ANSWER: len(examples) - len(answered), OUT_OF_REACH: len(answered) - len(used)}
    return Trained(
        Linear(plan.settings, fitted.weights, parser.name if parser is not None else None),
        plan,
        tried,
        fitted.loss,
        fitted.converged,
        {kind: kinds[kind] for kind in (Kind.REFERENCE, *IMPLICIT_KINDS) if kinds[kind]},
        {reason: count for reason, count in left.items() if count},
        tuple(_warnings(kinds, len(tried), plan.folds)),
        len(set(groups)),
        snapshot_of(used),
    )


def _nothing(examples: int, why: str) -> str:
    if not examples:
        return "there is no example to learn resolution from: settle some anchors first"
    return f"nothing can be learnt from {examples:,} examples: {why}"


def _warnings(kinds: Mapping[str, int], folds: int, wanted: int) -> Generator[str]:
    if len(kinds) == 1:
        yield f"all examples are {next(iter(kinds))}, so that it hardly ever says anything else"
    elif not kinds.get(Kind.REFERENCE):
        yield "no example has a head in the text, so that it knows nothing of heads"
    if wanted and not folds:
        yield "all examples are of one passage, so that it was not tried on any other"


def _collect(
    examples: Sequence[ResolutionExample], collector: Collector, parser: Parser | None
) -> Generator[Step, None, list[ResolutionExample]]:
    """Take in what has a right candidate, in order; the parses are dropped batch by batch."""
    if any(one.item.parsed is None for one in examples):
        check_layers(NEEDS, parser)
    used: list[ResolutionExample] = []
    done = 0
    for batch in batches_of(examples, lambda one: one.item.passage):
        items = parse_items([one.item for one in batch], NEEDS, parser)
        used += [
            one for one, item in zip(batch, items, strict=True) if collector.add(item, one.gold)
        ]
        done += len(batch)
        yield Step("features", done, len(examples))
    return used


def _fit(table: Table, phase: str) -> Generator[Step, None, Fitted]:
    steps = fitting(table)
    while True:
        try:
            done, loss = next(steps)
        except StopIteration as ended:
            yield Step(phase, ITERATIONS, ITERATIONS)
            fitted: Fitted = ended.value
            return fitted
        yield Step(phase, done, ITERATIONS, {"loss": loss})


def _folds(
    table: Table, groups: Sequence[str], plan: Plan
) -> Generator[Step, None, tuple[Tally, ...]]:
    """Each part judged by a model fitted on the others; no parts for a single group."""
    fold_of = folds_of(groups, plan.folds, plan.settings.seed)
    tried: list[Tally] = []
    for number in range(max(fold_of, default=-1) + 1):
        fitted = yield from _fit(table.part(np.flatnonzero(fold_of != number)), _named(number))
        tried.append(tally(table.part(np.flatnonzero(fold_of == number)), fitted.weights))
        yield Step(_named(number), ITERATIONS, ITERATIONS, tried[-1].figures())
    return tuple(tried)


def _named(number: int) -> str:
    return f"fold {number + 1}"


def folds_of(groups: Sequence[str], folds: int, seed: int) -> Places:
    """The fold of each example, from 0 on; the examples of one group are in one fold.

    Groups are dealt by chance, in turn. Fewer groups than folds give as many folds as groups;
    one group, or no folds wanted, give none: all are -1.
    """
    names = sorted(set(groups))
    count = min(folds, len(names))
    if count < 2:
        return np.full(len(groups), -1)
    random.Random(seed).shuffle(names)  # noqa: S311 # no secret is made of it
    fold = {name: place % count for place, name in enumerate(names)}
    return np.array([fold[group] for group in groups])


def snapshot_of(examples: Sequence[ResolutionExample]) -> str:
    """SHA-256 (hex) of passages, spans and answers, whatever their order: what was learnt from.

    Hashed are the sorted SHA-256 of each as JSON, [passage digest, start, end, class, heads].
    """
    each = sorted(
        hashlib.sha256(
            json.dumps(
                [
                    one.item.passage.digest,
                    one.item.anchor.start,
                    one.item.anchor.end,
                    one.gold.kind.value,
                    list(one.gold.head_tokens()),
                ]
            ).encode("ascii")
        ).digest()
        for one in examples
    )
    return hashlib.sha256(b"".join(each)).hexdigest()
