"""`nfh-tui agreement`: how far those who answered agree and how sure that is, in words and
tables for 80 columns or as one JSON object, with the queries that find the items of a cell.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfh_db.messages import command_line, counted
from nfh_db.query import quote, quote_name
from nfh_db.query.keys import ME_WORD, NOBODY
from nfh_models.agreement.measure import CLASSES, KINDS
from nfh_models.domain import Kind
from nfh_tui import config
from nfh_tui.cli.options import (
    QueryCommand,
    as_option,
    emit,
    known,
    on_database,
    open_to_read,
    resamples_option,
    user,
)
from nfh_tui.cli.report import Brief, CommandReport, RowCounter
from nfh_tui.services import reports
from nfh_tui.services.agreement import SAMPLED_PAIRS, measure
from nfh_tui.services.reports import filled

if TYPE_CHECKING:
    from nfh_models.agreement.coefficients import MajorityMatrix, PeopleAgreement
    from nfh_models.agreement.measure import LeftOut, Measure
    from nfh_models.agreement.pairs import Patterns
    from nfh_models.agreement.report import Agreement, AnnotatorPairs, Coverage
    from nfh_models.domain import Blocking
    from nfh_tui.cli.report import Cell
    from nfh_tui.services.agreement import AgreementResult


@click.command(cls=QueryCommand)
@click.argument("query", nargs=-1)
@resamples_option
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    help="Seed of the resamples and samples; the same seed gives the same report.",
)
@click.option(
    "--matrix", is_flag=True, help="Also show majority against minority, and who confuses what."
)
@click.option(
    "--no-skill",
    is_flag=True,
    help="Leave out closest nouns, which need a parser and take longest.",
)
@as_option
@on_database
def agreement(
    query: tuple[str, ...],
    resamples: int,
    seed: int,
    matrix: bool,
    no_skill: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure how far annotators agree on the items that QUERY finds; without QUERY, on all.

    Whole answers are compared, by noun; each figure has its interval, or a sentence that
    says why there is none. Adjudicators' decisions are never counted as annotators' answers.
    """
    from nfh_db.query import parse
    from nfh_models.agreement.bootstrap import Resampling

    text = " ".join(query)
    parsed = parse(text)
    database = config.database(db)
    with (
        open_to_read(database) as store,
        RowCounter("reading") as reading,
        RowCounter("looking for nouns") as tagging,
    ):
        found = measure(
            store,
            parsed,
            known(store, me or user()),
            Resampling(resamples, seed),
            with_skill=not no_skill,
            progress=reading,
            tagging=tagging,
        )
    options = AgreementOptions(text, resamples, seed, db)
    if as_json:
        emit(agreement_report(found, options))
        return
    click.echo(as_text(found, options, matrix=matrix), nl=False)


NO_CLASS = (Kind.NOT_NFH, Kind.BROKEN, Kind.NFH)
"""Kinds of votes that are in none of the paper's classes."""


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """A query for the items of a cell. exact: whether it finds these and no others."""

    query: str
    exact: bool = True


def said_query(kinds: Iterable[Kind], name: str | None = None) -> str:
    """Items that anybody, or the annotator `name`, answered with one of these kinds."""
    who = f"{_person(name)}/" if name is not None else ""
    return "said:" + ",".join(f"{who}{kind}" for kind in kinds)


def by(name: str) -> str:
    """Query for the items that a person answered."""
    return f"by:{quote(name)}"


def pattern(text: str) -> ItemQuery:
    """Items whose whole answers have this vote pattern."""
    return ItemQuery(f"pattern:{text}")


def class_pattern(text: str, voters: int) -> ItemQuery:
    """Items with this pattern of classes, and some others: no key tests classes alone."""
    sizes = [int(size) for size in text.split("-")]
    inside = f"votes:{voters} -{said_query(NO_CLASS)}"
    if sizes[-1] == 0:
        return ItemQuery(f"{inside} -disagree:route,class", exact=False)
    return ItemQuery(f"{inside} disagree:route,answerability,class", exact=False)


def votes(label: str) -> ItemQuery:
    """Items with this many annotators' answers: "0", "1", "2" or "3+"."""
    return ItemQuery("votes>=3" if label == "3+" else f"votes:{label}")


def differs(left: str, right: str, kind: "Blocking | None" = None) -> ItemQuery:
    """Items on which two annotators differ, in anything that blocks or in one kind."""
    which = f"/{kind}" if kind else ""
    return ItemQuery(f"differs:{_person(left)}~{_person(right)}{which}")


def both_said(left: str, mine: Kind, right: str, other: Kind) -> ItemQuery:
    return ItemQuery(f"{said_query([mine], left)} {said_query([other], right)}")


def against_expert(name: str, mine: Kind, _: str, decided: Kind) -> ItemQuery:
    """Items with this answer of an annotator and that one of an expert."""
    return ItemQuery(f"{said_query([mine], name)} class:{decided} rule:expert", exact=False)


def decided_of(name: str) -> ItemQuery:
    """Items that an annotator answered and an expert decided, also where both are one
    person."""
    return ItemQuery(f"{by(name)} rule:expert", exact=False)


def doubles_of(left: str, right: str) -> ItemQuery:
    """Items on which these experts differ from each other or from further experts."""
    return ItemQuery(f"experts:differ {by(left)} {by(right)}", exact=False)


def matrix_cell(majority: Kind, minority: Kind) -> ItemQuery:
    """Items of a cell and, off the diagonal, of its mirror image: votes are not counted."""
    named = {majority, minority}
    kinds = [kind for kind in Kind if (Kind.OTHER if kind is Kind.UNKNOWN else kind) in named]
    rest = [kind for kind in Kind if kind not in kinds]
    if majority is minority:
        return ItemQuery(f"votes:3 -{said_query(rest)}")
    present = " ".join(said_query(_spelled(kind)) for kind in (majority, minority))
    return ItemQuery(f"votes:3 {present} -{said_query(rest)}", exact=False)


def omission(why: str) -> ItemQuery | None:
    """Items that a measure leaves out for this reason, where a query can say it."""
    from nfh_models.agreement.pairs import OUTSIDE, TOO_FEW

    if why == TOO_FEW:
        return ItemQuery("votes<2")
    if why == OUTSIDE:
        return ItemQuery(f"votes>=2 {said_query(NO_CLASS)}")
    return None


def shared(left: str, right: str) -> ItemQuery:
    """Items that two annotators answered."""
    everything = (*KINDS, Kind.NFH)
    return ItemQuery(f"{said_query(everything, left)} {said_query(everything, right)}")


def _person(name: str) -> str:
    return quote_name(name, (ME_WORD, NOBODY))


def _spelled(kind: Kind) -> Sequence[Kind]:
    """The kinds that a class of the paper holds."""
    if kind not in CLASSES:
        raise ValueError(f"{kind} is not a class of the paper")
    return (Kind.OTHER, Kind.UNKNOWN) if kind is Kind.OTHER else (kind,)


CAVEAT = (
    "These items are of the sample corpus, whose answers were invented for demonstration: "
    "agreement on them is evidence of nothing."
)


@dataclass(frozen=True, slots=True)
class AgreementOptions:
    """Options of the report: the query as typed, and how intervals are drawn.

    db: the value of --db.
    """

    query: str
    resamples: int
    seed: int
    db: Path | None = None


def agreement_report(
    found: "AgreementResult", options: AgreementOptions
) -> reports.AgreementReport:
    agreement = found.agreement
    coefficients, coverage, matrix = (
        agreement.coefficients,
        agreement.coverage,
        agreement.matrix,
    )
    writer = _Writer(options.query)
    return reports.AgreementReport(
        query=options.query,
        interval=reports.ReportInterval(resamples=options.resamples, seed=options.seed),
        caveat=CAVEAT if found.sample_corpus else None,
        coverage=filled(
            reports.CoverageReport,
            coverage,
            votes=[
                reports.VotesReport(label, items, **writer.find(votes(label)))
                for label, items in coverage.votes.items()
            ],
            annotators=writer.people(coverage.annotators),
            experts=writer.people(coverage.experts),
            decided_by_experts=coverage.decided,
        ),
        class_patterns=writer.patterns(agreement.class_patterns, class_pattern),
        noun_patterns=writer.patterns(agreement.noun_patterns, lambda text, _: pattern(text)),
        alpha=coefficients.alpha,
        ac1=coefficients.ac1,
        alpha_left_out=writer.left_out(coefficients.left_out),
        fleiss=writer.measured(reports.FleissReport, coefficients.fleiss),
        pairs=writer.measured(
            reports.PooledReport,
            agreement.pooled,
            differences=[
                reports.DifferenceReport(
                    difference=kind.value,
                    pairs=pairs,
                    items=items,
                    **writer.find(ItemQuery(f"disagree:{kind}")),
                )
                for kind, (pairs, items) in agreement.pooled.differences.items()
            ],
        ),
        kinds=[
            filled(
                reports.KindReport,
                one,
                **writer.find(ItemQuery(said_query([one.kind]), exact=False)),
            )
            for one in agreement.kinds
        ],
        not_nfh=writer.measured(
            reports.ScopeReport,
            agreement.scope,
            **writer.find(ItemQuery("disagree:scope", exact=False)),
        ),
        skill=filled(
            reports.SkillReport,
            agreement.skill,
            eligible=found.eligible,
            sampled=found.sampled,
            tagger=found.tagger,
            **writer.find(ItemQuery("votes>=2 said:REFERENCE", exact=False)),
        ),
        annotators=filled(
            reports.AnnotatorTwosReport,
            agreement.people,
            twos=[
                filled(
                    reports.AnnotatorTwoReport,
                    two,
                    **writer.find(shared(two.left, two.right)),
                    differences=writer.differences(two, differs),
                    cells=writer.cells(two, both_said),
                )
                for two in agreement.people.twos
            ],
        ),
        against_expert=filled(
            reports.AgainstExpertsReport,
            agreement.experts,
            annotators=[
                filled(
                    reports.AgainstExpertReport,
                    two,
                    own_decisions_left_out=agreement.own.get(two.left, 0),
                    **writer.find(decided_of(two.left)),
                    differences=writer.differences(two),
                    cells=writer.cells(two, against_expert),
                )
                for two in agreement.experts.twos
            ],
        ),
        experts=filled(
            reports.ExpertTwosReport,
            agreement.doubles,
            twos=[
                filled(
                    reports.ExpertTwoReport,
                    two,
                    differences=writer.differences(two),
                    **writer.find(doubles_of(two.left, two.right)),
                )
                for two in agreement.doubles.twos
            ],
        ),
        matrix=writer.measured(
            reports.MatrixReport,
            matrix,
            classes=[kind.value for kind in CLASSES],
            cells=[
                reports.MatrixCellReport(
                    majority.value,
                    minority.value,
                    items,
                    **writer.find(matrix_cell(majority, minority)),
                )
                for majority, row in zip(CLASSES, matrix.rows, strict=True)
                for minority, items in zip(CLASSES, row, strict=True)
                if items
            ],
            no_majority=reports.NoMajorityReport(
                matrix.no_majority, **writer.find(class_pattern("1-1-1", 3))
            ),
        ),
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes sections. base: the query of the report, which the query of a cell is added to."""

    base: str

    def find(self, found: ItemQuery | None) -> dict[str, Any]:
        if found is None:
            return {"find": None, "exact": False}
        return {"find": f"{self.base} {found.query}".strip(), "exact": found.exact}

    def left_out(self, reasons: "Iterable[LeftOut]") -> list[reports.OmissionReport]:
        return [
            reports.OmissionReport(one.why, one.n, **self.find(omission(one.why)))
            for one in reasons
        ]

    def measured(self, kind: type[reports.R], source: Any, **given: object) -> reports.R:  # noqa: ANN401
        """A section with the list of what it leaves out."""
        return filled(kind, source, left_out=self.left_out(source.left_out), **given)

    def cells(
        self, two: "PeopleAgreement", find: Callable[[str, Kind, str, Kind], ItemQuery]
    ) -> list[reports.KindCellReport]:
        return [
            filled(
                reports.KindCellReport,
                cell,
                **self.find(find(two.left, cell.left, two.right, cell.right)),
            )
            for cell in two.cells
        ]

    def differences(
        self,
        two: "PeopleAgreement",
        find: "Callable[[str, str, Blocking], ItemQuery] | None" = None,
    ) -> list[reports.DifferenceReport]:
        return [
            reports.DifferenceReport(
                difference=kind.value,
                items=items,
                **(self.find(find(two.left, two.right, kind)) if find else {}),
            )
            for kind, items in two.differences.items()
        ]

    def people(self, answers: Mapping[str, int]) -> list[reports.PersonReport]:
        return [
            reports.PersonReport(name, count, **self.find(ItemQuery(by(name), exact=False)))
            for name, count in sorted(answers.items())
        ]

    def patterns(
        self, patterns: "Patterns", find: Callable[[str, int], ItemQuery]
    ) -> reports.PatternsReport:
        return self.measured(
            reports.PatternsReport,
            patterns,
            patterns=[
                filled(reports.PatternReport, one, **self.find(find(one.pattern, one.voters)))
                for one in patterns.shares
            ],
        )


FEW_PASSAGES = 30
"""With fewer passages, intervals from resampling are unreliable."""

SHOWN_CELLS = 8
SHOWN_TWOS = 20
NAMES = 12
"""People that the list of coverage names; --json has all."""


def as_text(found: "AgreementResult", options: AgreementOptions, *, matrix: bool) -> str:
    page = CommandReport()
    agreement = found.agreement
    _head(page, found, options)
    _coverage(page, agreement.coverage)
    if agreement.pooled.pairs:
        _patterns(page, agreement)
        _coefficients(page, agreement)
        _differences_table(page, agreement)
        _kinds(page, agreement)
        _nouns(page, found)
        page.title(
            "Two annotators at a time: answers, kinds, heads, and Cohen's kappa on kinds"
        )
        _two_rows(page, agreement.people, differs)
        if matrix:
            _matrix(page, agreement.matrix)
            _cells(page, agreement)
    else:
        page.say(agreement.pooled.equal.why or "")
    _experts(page, agreement)
    if agreement.pooled.pairs:
        page.say(
            'Each query under "find" opens in the workbench: type it after : there, or in '
            f"quotes here: {_browse(options)}. A query with ~ in front finds these items and "
            "some others; the ~ is not part of it."
        )
    return page.text()


def _browse(options: AgreementOptions) -> str:
    """The command that shows a cell's items, in the database and query of the report."""
    db = [] if options.db is None else ["--db", str(options.db)]
    find = f"{options.query} FIND" if options.query else "FIND"
    # In quotes also where "FIND" itself needs none: what is put there will.
    quoted = find.replace("'", "'\"'\"'")
    return f"{command_line(['nfh-tui', 'browse', *db])} '{quoted}'"


def _find(find: ItemQuery) -> str:
    return find.query if find.exact else f"~ {find.query}"


def _head(page: CommandReport, found: "AgreementResult", options: AgreementOptions) -> None:
    coverage = found.agreement.coverage
    where = f"that {options.query} finds" if options.query else "of the whole database"
    page.say(
        f"Agreement on {counted(coverage.items, 'item')} in "
        f"{counted(coverage.passages, 'passage')} {where}"
    )
    if found.sample_corpus:
        page.say(CAVEAT)
    page.say(
        f"In brackets: 95 % intervals from {options.resamples:,} resamples of passages, "
        f"seed {options.seed}."
        if options.resamples
        else "No intervals: --resamples is 0."
    )
    if options.resamples and coverage.passages < FEW_PASSAGES:
        page.say(f"With fewer than {FEW_PASSAGES} passages, intervals are rough.")


def _coverage(page: CommandReport, coverage: "Coverage") -> None:
    page.title("Coverage")
    page.table(
        ("annotators' answers", "items:", "find"),
        [(label, f"{items:,}", _find(votes(label))) for label, items in coverage.votes.items()],
    )
    for title, people in (
        ("annotators", coverage.annotators),
        ("adjudicators", coverage.experts),
    ):
        if people:
            page.note(f"{title}: {_names(people.items())}")
    if coverage.decided:
        decided = counted(coverage.decided, "item")
        page.note(f"decided by an adjudicator: {decided} (rule:expert)")


def _names(answers: Iterable[tuple[str, int]]) -> str:
    ranked = sorted(answers, key=lambda one: (-one[1], one[0]))
    shown = ", ".join(f"{name} {count:,}" for name, count in ranked[:NAMES])
    more = len(ranked) - NAMES
    return shown + (f", and {counted(more, 'other')}" if more > 0 else "")


def _patterns(page: CommandReport, agreement: "Agreement") -> None:
    page.title("How votes group: by the paper's seven classes, by whole answers")
    classes, whole = agreement.class_patterns, agreement.noun_patterns
    _pattern_rows(page, "classes", classes, class_pattern)
    _pattern_rows(page, "answers", whole, lambda text, _: pattern(text))
    if len({one.voters for one in (*classes.shares, *whole.shares)}) > 1:
        page.note(
            "share: among items with the same number of answers, so 3-0 of those with three"
        )


def _pattern_rows(
    page: CommandReport, name: str, patterns: "Patterns", find: Callable[[str, int], ItemQuery]
) -> None:
    page.table(
        (name, "items:", "share", "find"),
        [
            (one.pattern, f"{one.items:,}", one.share, _find(find(one.pattern, one.voters)))
            for one in patterns.shares
        ],
    )
    page.left_out(patterns.left_out)


def _coefficients(page: CommandReport, agreement: "Agreement") -> None:
    found, pooled = agreement.coefficients, agreement.pooled
    fleiss, voters = found.fleiss, counted(found.fleiss.voters, "answer")
    page.title("All annotators together")
    page.table(
        ("measure", "value", "of"),
        [
            ("Krippendorff's alpha, kinds", found.alpha, n_of(found.alpha, "item")),
            (
                "Fleiss' kappa, seven classes",
                fleiss.kappa,
                f"{n_of(fleiss.kappa, 'item')} of {voters}",
            ),
            ("Gwet's AC1 (a diagnostic)", found.ac1, n_of(found.ac1, "item")),
            ("equal whole answers", pooled.equal, n_of(pooled.equal, "pair")),
            ("equal kinds", pooled.same_kind, n_of(pooled.same_kind, "pair")),
        ],
    )
    page.left_out(found.left_out, "alpha and AC1")
    page.left_out(found.fleiss.left_out, "Fleiss' kappa")
    page.left_out(pooled.left_out, "the pairs")


def n_of(measure: "Measure", thing: str) -> str:
    """What a measure is of: "12 items"."""
    return counted(measure.n, thing)


def _differences_table(page: CommandReport, agreement: "Agreement") -> None:
    page.title("What pairs of answers differ in, strongest first")
    page.table(
        ("difference", "pairs:", "items:", "find"),
        [
            (kind.value, f"{pairs:,}", f"{items:,}", f"disagree:{kind}")
            for kind, (pairs, items) in agreement.pooled.differences.items()
            if pairs
        ],
    )


def _kinds(page: CommandReport, agreement: "Agreement") -> None:
    page.title("Positive agreement: one says it, and the other too")
    scope = agreement.scope
    rows: list[tuple[Cell, ...]] = [
        (one.kind.value, one.agreement, f"{one.both:,}", f"{one.one:,}", f"~ said:{one.kind}")
        for one in agreement.kinds
        if one.agreement.n and one.kind is not Kind.NOT_NFH
    ]
    rows += [
        (name, measure, f"{both:,}", f"{scope.one:,}", "~ disagree:scope")
        for name, measure, both in (
            ("NOT_NFH", scope.positive, scope.both),
            ("is an NFH", scope.negative, scope.neither),
        )
    ]
    page.table(("kind", "agreement", "both:", "one:", "find"), rows)
    unsaid = [
        one.kind.value
        for one in agreement.kinds
        if not one.agreement.n and one.kind is not Kind.NOT_NFH
    ]
    if unsaid:
        page.note(f"nobody says {', '.join(unsaid)}")
    page.left_out(scope.left_out)


def _nouns(page: CommandReport, found: "AgreementResult") -> None:
    nouns, skill = found.agreement.pooled.nouns, found.agreement.skill
    page.title("Heads, where both say REFERENCE")
    page.table(
        ("measure", "value", "of:", "find"),
        [
            (name, measure, f"{measure.n:,}", find)
            for name, measure, find in (
                ("same nouns", nouns.exact, "disagree:noun,partial,relation"),
                ("F1 over heads", nouns.f1, ""),
                ("other mention", nouns.mention, "disagree:mention"),
                ("other extent", nouns.extent, "disagree:extent"),
                ("skill", skill.skill, ""),
                ("observed", skill.observed, ""),
                ("closest noun", skill.baseline, ""),
            )
        ],
    )
    page.note("of: pairs of answers; of F1, heads")
    if found.tagger:
        page.note(
            "skill: how often annotators agree (observed), beyond the agreement of one of "
            f"them with a rule that takes the closest noun; {_sampled(found)}"
        )


def _sampled(found: "AgreementResult") -> str:
    which = f"{counted(found.sampled, 'item')} where two say REFERENCE"
    if found.sampled < found.eligible:
        which = (
            f"{found.sampled:,} of the {found.eligible:,} items where two say REFERENCE, drawn "
            f"at random ({SAMPLED_PAIRS:,} at most)"
        )
    without = found.agreement.skill.no_noun
    lacking = f", less {without:,} without a noun" if without else ""
    return f"{which}{lacking}; nouns by {found.tagger}"


def _two_rows(
    page: CommandReport,
    people: "AnnotatorPairs",
    find: Callable[[str, str], ItemQuery],
    *,
    named: bool = True,
) -> None:
    """Two people a row. named: name the second one, too."""
    ranked = sorted(people.twos, key=lambda two: -two.items)
    page.table(
        ("people", "items:", "whole", "kind", "F1", "kappa", "find"),
        [
            (
                f"{two.left}, {two.right}" if named else two.left,
                f"{two.items:,}",
                *map(Brief, (two.equal, two.same_kind, two.nouns.f1)),
                Brief(two.kappa, interval=True),
                _find(find(two.left, two.right)),
            )
            for two in ranked[:SHOWN_TWOS]
        ],
    )
    if len(ranked) > SHOWN_TWOS:
        page.note(f"{len(ranked) - SHOWN_TWOS:,} further are in --json")
    if people.not_measured:
        page.note(
            f"{people.not_measured:,} more, who share fewer items than these {len(ranked):,}, "
            "were not measured; narrow the query to measure them"
        )


def _experts(page: CommandReport, agreement: "Agreement") -> None:
    if not agreement.coverage.experts and not agreement.coverage.decided:
        return
    page.title("Annotators against what an adjudicator decided")
    if agreement.experts.twos:
        _two_rows(page, agreement.experts, lambda name, _: decided_of(name), named=False)
    else:
        page.note("No item that an adjudicator decided was answered by another person.")
    for name, count in sorted(agreement.own.items()):
        page.note(f"left out: {counted(count, 'item')} that {name} decided too")
    page.title("Adjudicators with each other")
    if agreement.doubles.twos:
        _two_rows(page, agreement.doubles, doubles_of)
    else:
        page.note("No item was decided by two adjudicators.")


def _matrix(page: CommandReport, matrix: "MajorityMatrix") -> None:
    page.title("Majority (rows) against minority (columns); diagonal: unanimous")
    page.table(
        ("", *(f"{kind.value}:" for kind in CLASSES)),
        [
            (kind.value, *(f"{items:,}" for items in row))
            for kind, row in zip(CLASSES, matrix.rows, strict=True)
        ],
    )
    page.note(
        f"without a majority: {counted(matrix.no_majority, 'item')}. OTHER holds UNKNOWN."
    )
    page.note(
        "a cell's items: ~ votes:3 said:ROW said:COLUMN, its mirror image among them; --json "
        "has each cell's own query"
    )
    page.left_out(matrix.left_out)


def _cells(page: CommandReport, agreement: "Agreement") -> None:
    cells = [
        (cell.items, both_said(two.left, cell.left, two.right, cell.right).query)
        for two in agreement.people.twos
        for cell in two.cells
        if cell.left is not cell.right
    ]
    cells.sort(key=lambda cell: (-cell[0], cell[1]))
    page.title("Kinds that two annotators confuse, most frequent first")
    page.table(
        ("items:", "find"),
        [(f"{items:,}", find) for items, find in cells[:SHOWN_CELLS]],
    )
    if len(cells) > SHOWN_CELLS:
        page.note(f"{len(cells) - SHOWN_CELLS:,} further are in --json")
