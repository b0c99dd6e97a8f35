"""Types of the reports that commands print with --json, for encoding and decoding.

The types load only msgspec, so that the screens can decode the output of a child process.
"""

from functools import cache
from typing import Any, TypeVar

import msgspec

from nfh_models.agreement.measure import Measure


class Report(msgspec.Struct):
    """A JSON object whose keys are the fields, in their order."""


R = TypeVar("R", bound=Report)


def filled(kind: type[R], source: object = None, **given: object) -> R:
    """A report whose fields are the attributes of `source` that have their names, or `given`.

    Objects within are converted in the same way. Raises msgspec.ValidationError.
    """
    values = {
        one.encode_name: given[one.name] if one.name in given else getattr(source, one.name)
        for one in _fields(kind)
        if one.name in given or one.required or hasattr(source, one.name)
    }
    return msgspec.convert(values, kind, from_attributes=True)


@cache
def _fields(kind: type[Report]) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)


def to_json(report: object) -> dict[str, Any]:
    """The JSON object of a report, a dataclass or a mapping, as dicts, lists and texts."""
    found: dict[str, Any] = msgspec.to_builtins(report)
    return found


class Found(Report, kw_only=True):
    """Figures of some items. Both keys stand after those of the subclass."""

    find: str | None
    """A query for the items, None where there is no such query."""
    exact: bool
    """Whether it finds these items and no others."""


class ReportInterval(Report, kw_only=True):
    """How the intervals of a report were drawn."""

    coverage: float = 0.95
    resamples: int
    seed: int


# --- nfh-tui agreement ----------------------------------------------------------------------


class OmissionReport(Found):
    """What a measure leaves out."""

    why: str
    n: int


class VotesReport(Found):
    votes: str
    items: int


class PersonReport(Found):
    name: str
    answers: int


class CoverageReport(Report):
    items: int
    passages: int
    votes: list[VotesReport]
    annotators: list[PersonReport]
    experts: list[PersonReport]
    decided_by_experts: int


class PatternReport(Found):
    pattern: str
    voters: int
    items: int
    share: Measure


class PatternsReport(Report):
    items: int
    patterns: list[PatternReport]
    left_out: list[OmissionReport]


class FleissReport(Report):
    kappa: Measure
    voters: int
    left_out: list[OmissionReport]


class NounsReport(Report):
    exact: Measure
    f1: Measure
    mention: Measure = msgspec.field(name="other_mention")
    extent: Measure = msgspec.field(name="other_extent")


class DifferenceReport(Report, kw_only=True):
    """Answers that differ in one thing. pairs: only of all annotators together."""

    difference: str
    pairs: int | msgspec.UnsetType = msgspec.UNSET
    items: int
    find: str | msgspec.UnsetType | None = msgspec.UNSET
    exact: bool | msgspec.UnsetType = msgspec.UNSET


class PooledReport(Report):
    pairs: int
    equal: Measure
    same_kind: Measure
    nouns: NounsReport
    differences: list[DifferenceReport]
    left_out: list[OmissionReport]


class KindReport(Found):
    kind: str
    both: int
    one: int
    agreement: Measure


class ScopeReport(Found):
    positive: Measure
    negative: Measure
    both: int
    one: int
    neither: int
    left_out: list[OmissionReport]


class SkillReport(Found):
    skill: Measure
    observed: Measure
    baseline: Measure
    eligible: int
    sampled: int
    items: int
    no_noun: int
    tagger: str | None


class KindCellReport(Found):
    left: str
    right: str
    items: int


class TwoReport(Report):
    left: str
    right: str
    items: int
    equal: Measure
    same_kind: Measure
    kappa: Measure
    nouns: NounsReport


class AnnotatorTwoReport(TwoReport):
    find: str | None
    exact: bool
    differences: list[DifferenceReport]
    cells: list[KindCellReport]


class AgainstExpertReport(TwoReport):
    own_decisions_left_out: int
    find: str | None
    exact: bool
    differences: list[DifferenceReport]
    cells: list[KindCellReport]


class ExpertTwoReport(TwoReport):
    differences: list[DifferenceReport]
    find: str | None
    exact: bool


class AnnotatorTwosReport(Report):
    twos: list[AnnotatorTwoReport]
    not_measured: int


class AgainstExpertsReport(Report):
    annotators: list[AgainstExpertReport]
    not_measured: int


class ExpertTwosReport(Report):
    twos: list[ExpertTwoReport]
    not_measured: int


class MatrixCellReport(Found):
    majority: str
    minority: str
    items: int


class NoMajorityReport(Found):
    items: int


class MatrixReport(Report):
    classes: list[str]
    rows: list[list[int]]
    cells: list[MatrixCellReport]
    no_majority: NoMajorityReport
    left_out: list[OmissionReport]


class AgreementReport(Report):
    query: str
    interval: ReportInterval
    caveat: str | None
    coverage: CoverageReport
    class_patterns: PatternsReport
    noun_patterns: PatternsReport
    alpha: Measure
    ac1: Measure
    alpha_left_out: list[OmissionReport]
    fleiss: FleissReport
    pairs: PooledReport
    kinds: list[KindReport]
    not_nfh: ScopeReport
    skill: SkillReport
    annotators: AnnotatorTwosReport
    against_expert: AgainstExpertsReport
    experts: ExpertTwosReport
    matrix: MatrixReport


# --- nfh-tui models -------------------------------------------------------------------------


class ModelSummary(Report):
    id: int
    name: str
    task: str
    recipe: str
    version: str
    state: str
    f1: float | None
    accuracy: float | None
    accuracy_inclusive: float | None
    folder: str | None
    created_at: str


class ModelsReport(Report):
    models: list[ModelSummary]


class ModelName(Report):
    id: int
    name: str


class FigureDifferenceReport(Report):
    """The first model's figure less the second's, as fractions."""

    figure: str
    first_value: float | None
    second_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    why: str | None


class ComparedFiguresReport(Report):
    n: int
    passages: int
    figures: list[FigureDifferenceReport]


class ComparedItemReport(Report):
    id: int
    document: str
    gold: str
    first: str
    second: str
    right: tuple[bool, bool]
    seen: bool


class ModelComparisonReport(Report):
    """Two models on the same items; the difference is that of the first figure."""

    task: str
    query: str
    first: ModelName
    second: ModelName
    n: int
    passages: int
    missing: tuple[int, int]
    learnt: tuple[int, int]
    saw_model: int
    figure: str
    first_value: float | None
    second_value: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    why: str | None
    figures: list[FigureDifferenceReport]
    unseen: ComparedFiguresReport | None
    counts: dict[str, int]
    queries: dict[str, str | None]
    items: list[ComparedItemReport]


# --- jobs -----------------------------------------------------------------------------------


class QueuedJob(Report, kw_only=True):
    """A job that was put into the queue."""

    id: int
    kind: str
    task: str | None
    recipe: str | msgspec.UnsetType = msgspec.UNSET
    state: str = "queued"
