"""Training of `svm` step by step, so that whoever drives it can report, and stop between."""

import hashlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field

from nfh_models.identification.case import Case
from nfh_models.identification.crossing import Crossed, crossed, folds_of
from nfh_models.identification.deciding import parse_cases
from nfh_models.identification.example import Example
from nfh_models.identification.features import Extractor
from nfh_models.identification.scores import count
from nfh_models.identification.svm import Svm, Table, fit, table_from
from nfh_models.identification.svm_settings import Plan
from nfh_models.parsing.parsed import Parser

BATCH = 256
"""Sentences parsed between two reports; some tenths of a second."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far training is. phase: "parsing", "features", "fold 2", "fitting"."""

    phase: str
    done: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trained:
    """A machine fitted on all examples, and how well machines like it did in the folds.

    groups: passages that the examples are of. snapshot: see `snapshot_of`.
    """

    svm: Svm
    plan: Plan
    crossed: Crossed
    groups: int
    snapshot: str


def training(
    examples: Sequence[Example], plan: Plan, parser: Parser | None
) -> Generator[Step, None, Trained]:
    """Parse, tell the features, try fold by fold, and fit on all; a report after each part.

    parser: None where the features need none. Examples that carry a parse keep it. The same
    examples in the same order give the same machine. Raises TooFewError before anything is
    parsed, ParserError, and ValueError where a parse is missing.
    """
    labels = [example.nfh for example in examples]
    groups = [example.group for example in examples]
    folds_of(labels, groups, plan.folds, plan.settings.seed)
    found: list[list[str]] = []
    extractor = Extractor(plan.settings.features)
    for start in range(0, len(examples), BATCH):
        batch = [example.case for example in examples[start : start + BATCH]]
        cases = _parsed(batch, plan, parser)
        found.extend(extractor.features(case) for case in cases)
        yield Step("parsing", len(found), len(examples))
    yield Step("features", 0, len(found))
    name = parser.name if parser is not None and plan.settings.features.layers else None
    table = table_from(found, labels, groups, plan.settings, name)
    yield Step("features", len(found), len(found))
    tried = yield from _folds(examples, table, plan)
    yield Step("fitting", 0, 1)
    svm = fit(table)
    yield Step("fitting", 1, 1)
    return Trained(svm, plan, tried, len(set(groups)), snapshot_of(examples))


def _parsed(cases: list[Case], plan: Plan, parser: Parser | None) -> list[Case]:
    if parser is None or not plan.settings.features.layers:
        return cases
    return parse_cases(cases, parser)


def _folds(
    examples: Sequence[Example], table: Table, plan: Plan
) -> Generator[Step, None, Crossed]:
    said = [False] * len(examples)
    counts = []
    total = max(folds_of(table.labels.tolist(), table.groups, plan.folds, plan.settings.seed))
    for fold in crossed(table, plan.folds, plan.settings.seed):
        own = [decision.nfh for decision in fold.decisions]
        for place, nfh in zip(fold.places, own, strict=True):
            said[place] = nfh
        labels = [examples[place].nfh for place in fold.places]
        counts.append(count(zip(labels, own, strict=True)))
        f1 = counts[-1].f1
        metrics = {} if f1 is None else {"f1": f1}
        yield Step(f"fold {fold.number + 1}", fold.number + 1, total + 1, metrics)
    return Crossed(tuple(said), tuple(counts))


def snapshot_of(examples: Sequence[Example]) -> str:
    """SHA-256 (hex) of sentences, spans and labels, whatever their order: what was learnt from.

    Hashed are the sorted SHA-256 of each as JSON, [words, start, end, label].
    """
    each = sorted(
        hashlib.sha256(
            json.dumps([list(case.stretch.words), case.start, case.end, nfh]).encode("ascii")
        ).digest()
        for case, nfh in ((example.case, example.nfh) for example in examples)
    )
    return hashlib.sha256(b"".join(each)).hexdigest()
