"""What each part of the gold is asked about identification: is this number's noun missing?

A linear machine gives a distance and no probability. Out of the distances of a part, and its
gold, come the probabilities: a logistic curve over both (Platt 1999).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.domain import Kind
from nfh_models.identification.crossing import Fold, crossed
from nfh_models.identification.deciding import parse_cases
from nfh_models.identification.example import Example
from nfh_models.identification.features import Extractor
from nfh_models.identification.svm import Table, table_from
from nfh_models.identification.svm_settings import Plan, plan_of
from nfh_models.parsing.parsed import Parser
from nfh_tui.jobs.check_opinions import Asked, Opinion, id_of
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.training_jobs import Phase

if TYPE_CHECKING:
    from nfh_tui.training_jobs import JobReporter

BATCH = 256
"""Numbers that are parsed together."""


class Numbers:
    """Asks machines of identification."""

    def __init__(self, given: Asked, snapshot: Snapshot, report: "JobReporter") -> None:
        """Parse, and tell the features of all. Raises ModelsError."""
        self._examples = snapshot.lessons.numbers
        plan = plan_of(given.general.words)
        table = _table(self._examples, plan, _parser(given, plan, report), report)
        self._folds = crossed(table, given.folds, plan.settings.seed)
        self._known: dict[int, Fold] = {}

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:  # noqa: ARG002 - it is done in seconds, and begins anew
        """What a machine of all other parts says of this one; nothing of a part too many."""
        while number not in self._known:
            report.step(Phase(f"part {len(self._known) + 1}: fitting"))
            fold = next(self._folds, None)
            if fold is None:
                return []
            self._known[fold.number] = fold
        return list(_opinions(self._known[number], self._examples))


def _parser(given: Asked, plan: Plan, report: "JobReporter") -> Parser | None:
    layers = plan.settings.features.layers
    if not layers:
        return None
    from nfh_models.parsing import load_parser

    report.step(Phase("loading the parser"))
    return load_parser(given.parser, layers)


def _table(
    examples: Sequence[Example], plan: Plan, parser: Parser | None, report: "JobReporter"
) -> Table:
    extractor = Extractor(plan.settings.features)
    found: list[list[str]] = []
    for start in range(0, len(examples), BATCH):
        cases = [one.case for one in examples[start : start + BATCH]]
        ready = cases if parser is None else parse_cases(cases, parser)
        found.extend(extractor.features(case) for case in ready)
        report.step(Phase("parsing", len(found), len(examples)))
    name = None if parser is None else parser.name
    labels, groups = [one.nfh for one in examples], [one.group for one in examples]
    return table_from(found, labels, groups, plan.settings, name)


def _opinions(fold: Fold, examples: Sequence[Example]) -> Iterator[Opinion]:
    asked = [examples[place] for place in fold.places]
    scores = [decision.score or 0.0 for decision in fold.decisions]
    chances = probabilities(scores, [one.nfh for one in asked])
    for example, decision, chance in zip(asked, fold.decisions, chances, strict=True):
        yield Opinion(
            id_of(example.where),
            (Kind.NFH if decision.nfh else Kind.NOT_NFH).value,
            chance if example.nfh else 1.0 - chance,
            abs(2.0 * chance - 1.0),
            decision.nfh is example.nfh,
        )


def probabilities(scores: Sequence[float], labels: Sequence[bool]) -> list[float]:
    """Of each score, how likely it is that of a label that is true."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    if len(set(labels)) < 2:
        return [float(labels[0])] * len(scores) if labels else []
    column = np.asarray(scores).reshape(-1, 1)
    curve = LogisticRegression().fit(column, np.asarray(labels))
    return [float(chance) for chance in curve.predict_proba(column)[:, 1]]
