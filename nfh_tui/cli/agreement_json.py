"""The agreement report as one JSON object: every figure, and the query of every cell."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from nfh_models.agreement.coding import CLASSES
from nfh_models.agreement.matrix import Matrix
from nfh_models.agreement.measure import LeftOut, Measure
from nfh_models.agreement.nouns import NounAgreement
from nfh_models.agreement.patterns import Patterns
from nfh_models.agreement.people import PeopleAgreement
from nfh_models.agreement.positive import KindAgreement, ScopeAgreement
from nfh_models.agreement.report import Agreement, People, Pooled
from nfh_tui.cli import agreement_queries as queries
from nfh_tui.cli.agreement_queries import Find
from nfh_tui.judging import Judgement

Json = dict[str, object]

CAVEAT = (
    "These items are of the sample corpus, which was written for showing: its answers were "
    "made up, and no agreement measured on it is evidence of anything."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the report was asked for: the query as typed, and how intervals are drawn.

    db: the database, where the call names one.
    """

    query: str
    resamples: int
    seed: int
    db: Path | None = None


def as_json(found: Judgement, asked: Asked) -> Json:
    """The whole report. A measure is {value, low, high, n, why}; value null has its why."""
    agreement = found.agreement
    writer = _Writer(asked.query)
    return {
        "query": asked.query,
        "interval": {"coverage": 0.95, "resamples": asked.resamples, "seed": asked.seed},
        "caveat": CAVEAT if found.sample_corpus else None,
        "coverage": writer.coverage(agreement),
        "class_patterns": writer.patterns(agreement.class_patterns, classes=True),
        "noun_patterns": writer.patterns(agreement.noun_patterns, classes=False),
        "alpha": measure(agreement.coefficients.alpha),
        "ac1": measure(agreement.coefficients.ac1),
        "alpha_left_out": writer.left_out(agreement.coefficients.left_out),
        "fleiss": {
            "kappa": measure(agreement.coefficients.fleiss.kappa),
            "voters": agreement.coefficients.fleiss.voters,
            "left_out": writer.left_out(agreement.coefficients.fleiss.left_out),
        },
        "pairs": writer.pooled(agreement.pooled),
        "kinds": [writer.kind(one) for one in agreement.kinds],
        "not_nfh": writer.scope(agreement.scope),
        "skill": {
            "skill": measure(agreement.skill.skill),
            "observed": measure(agreement.skill.observed),
            "baseline": measure(agreement.skill.baseline),
            "eligible": found.eligible,
            "sampled": found.sampled,
            "items": agreement.skill.items,
            "no_noun": agreement.skill.no_noun,
            "tagger": found.tagger,
            **writer.find(Find("votes>=2 said:REFERENCE", exact=False)),
        },
        "annotators": writer.annotators(agreement.people),
        "against_expert": writer.against_expert(agreement.experts, agreement.own),
        "experts": writer.experts(agreement.doubles),
        "matrix": writer.matrix(agreement.matrix),
    }


def measure(one: Measure) -> Json:
    """A measure with its interval."""
    return asdict(one)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes sections; base: the query of the report, that each cell's query narrows."""

    base: str

    def find(self, found: Find | None) -> Json:
        """The query of a cell. exact: whether it finds the cell's items and no others."""
        if found is None:
            return {"find": None, "exact": False}
        return {"find": queries.joined(self.base, found), "exact": found.exact}

    def left_out(self, reasons: Iterable[LeftOut]) -> list[Json]:
        return [
            {"why": one.why, "n": one.n, **self.find(queries.omission(one.why))}
            for one in reasons
        ]

    def coverage(self, agreement: Agreement) -> Json:
        found = agreement.coverage
        return {
            "items": found.items,
            "passages": found.passages,
            "votes": [
                {"votes": label, "items": items, **self.find(queries.votes(label))}
                for label, items in found.votes.items()
            ],
            "annotators": self._people(found.annotators),
            "experts": self._people(found.experts),
            "decided_by_experts": found.decided,
        }

    def _people(self, answers: Mapping[str, int]) -> list[Json]:
        return [
            {"name": name, "answers": count, **self.find(Find(queries.by(name), exact=False))}
            for name, count in sorted(answers.items())
        ]

    def patterns(self, patterns: Patterns, *, classes: bool) -> Json:
        return {
            "items": patterns.items,
            "patterns": [
                {
                    "pattern": one.pattern,
                    "voters": one.voters,
                    "items": one.items,
                    "share": measure(one.share),
                    **self.find(
                        queries.class_pattern(one.pattern, one.voters)
                        if classes
                        else queries.pattern(one.pattern)
                    ),
                }
                for one in patterns.shares
            ],
            "left_out": self.left_out(patterns.left_out),
        }

    def pooled(self, pooled: Pooled) -> Json:
        return {
            "pairs": pooled.pairs,
            "equal": measure(pooled.equal),
            "same_kind": measure(pooled.same_kind),
            "nouns": self.nouns(pooled.nouns),
            "differences": [
                {
                    "difference": kind.value,
                    "pairs": pairs,
                    "items": items,
                    **self.find(Find(f"disagree:{kind}")),
                }
                for kind, (pairs, items) in pooled.differences.items()
            ],
            "left_out": self.left_out(pooled.left_out),
        }

    @staticmethod
    def nouns(nouns: NounAgreement) -> Json:
        return {
            "exact": measure(nouns.exact),
            "f1": measure(nouns.f1),
            "other_mention": measure(nouns.mention),
            "other_extent": measure(nouns.extent),
        }

    def kind(self, one: KindAgreement) -> Json:
        return {
            "kind": one.kind.value,
            "both": one.both,
            "one": one.one,
            "agreement": measure(one.agreement),
            **self.find(Find(queries.said([one.kind]), exact=False)),
        }

    def scope(self, scope: ScopeAgreement) -> Json:
        return {
            "positive": measure(scope.positive),
            "negative": measure(scope.negative),
            "both": scope.both,
            "one": scope.one,
            "neither": scope.neither,
            "left_out": self.left_out(scope.left_out),
            **self.find(Find("disagree:scope", exact=False)),
        }

    def _two(self, two: PeopleAgreement) -> Json:
        return {
            "left": two.left,
            "right": two.right,
            "items": two.items,
            "equal": measure(two.equal),
            "same_kind": measure(two.same_kind),
            "kappa": measure(two.kappa),
            "nouns": self.nouns(two.nouns),
        }

    def annotators(self, people: People) -> Json:
        return {
            "twos": [
                {
                    **self._two(two),
                    **self.find(queries.shared(two.left, two.right)),
                    "differences": [
                        {
                            "difference": kind.value,
                            "items": items,
                            **self.find(queries.differs(two.left, two.right, kind)),
                        }
                        for kind, items in two.differences.items()
                    ],
                    "cells": [
                        {
                            "left": cell.left.value,
                            "right": cell.right.value,
                            "items": cell.items,
                            **self.find(
                                queries.both_said(two.left, cell.left, two.right, cell.right)
                            ),
                        }
                        for cell in two.cells
                    ],
                }
                for two in people.twos
            ],
            "not_measured": people.not_measured,
        }

    def against_expert(self, people: People, own: Mapping[str, int]) -> Json:
        return {
            "annotators": [
                {
                    **self._two(two),
                    "own_decisions_left_out": own.get(two.left, 0),
                    **self.find(queries.decided_of(two.left)),
                    "differences": _differences(two),
                    "cells": [
                        {
                            "left": cell.left.value,
                            "right": cell.right.value,
                            "items": cell.items,
                            **self.find(
                                queries.against_expert(two.left, cell.left, cell.right)
                            ),
                        }
                        for cell in two.cells
                    ],
                }
                for two in people.twos
            ],
            "not_measured": people.not_measured,
        }

    def experts(self, people: People) -> Json:
        return {
            "twos": [
                {
                    **self._two(two),
                    "differences": _differences(two),
                    **self.find(queries.doubles_of(two.left, two.right)),
                }
                for two in people.twos
            ],
            "not_measured": people.not_measured,
        }

    def matrix(self, matrix: Matrix) -> Json:
        return {
            "classes": [kind.value for kind in CLASSES],
            "rows": [list(row) for row in matrix.rows],
            "cells": [
                {
                    "majority": majority.value,
                    "minority": minority.value,
                    "items": items,
                    **self.find(queries.matrix_cell(majority, minority)),
                }
                for majority, row in zip(CLASSES, matrix.rows, strict=True)
                for minority, items in zip(CLASSES, row, strict=True)
                if items
            ],
            "no_majority": {
                "items": matrix.no_majority,
                **self.find(queries.no_majority()),
            },
            "left_out": self.left_out(matrix.left_out),
        }


def _differences(two: PeopleAgreement) -> list[Json]:
    return [
        {"difference": kind.value, "items": items} for kind, items in two.differences.items()
    ]
