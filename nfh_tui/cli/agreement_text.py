"""The agreement report in words and tables, for 80 columns, plain on a pipe."""

from collections.abc import Iterable, Sequence

from nfh_db.formats.wording import command_line, counted
from nfh_models.agreement.coding import CLASSES
from nfh_models.agreement.matrix import Matrix
from nfh_models.agreement.measure import Measure
from nfh_models.agreement.patterns import Patterns
from nfh_models.agreement.people import PeopleAgreement
from nfh_models.agreement.report import Agreement, Coverage
from nfh_models.domain import Kind
from nfh_tui.cli import agreement_queries as queries
from nfh_tui.cli.agreement_json import CAVEAT, Asked
from nfh_tui.cli.agreement_page import Brief, Cell, Page
from nfh_tui.judging import SAMPLED, Judgement

FEW_PASSAGES = 30
"""With fewer, resampling them says little of what other passages would give."""

SHOWN_CELLS = 8
SHOWN_TWOS = 20
NAMES = 12
"""People that the list of coverage names; --json has all."""


def as_text(found: Judgement, asked: Asked, *, matrix: bool) -> str:
    """The report, ready to print."""
    page = Page()
    agreement = found.agreement
    _head(page, found, asked)
    _coverage(page, agreement.coverage)
    if agreement.pooled.pairs:
        _patterns(page, agreement)
        _coefficients(page, agreement)
        _differences(page, agreement)
        _kinds(page, agreement)
        _nouns(page, found)
        _twos(page, agreement)
        if matrix:
            _matrix(page, agreement.matrix)
            _cells(page, agreement)
    else:
        page.say(agreement.pooled.equal.why or "")
    _experts(page, agreement)
    if agreement.pooled.pairs:
        page.say(
            'Each query under "find" opens in the workbench, typed behind a : there or in '
            f"quotes here: {_browse(asked)}. One with a ~ in front finds these items and some "
            "others; the ~ is no part of it."
        )
    return page.text()


def _browse(asked: Asked) -> str:
    """The command that shows a cell's items, in the database and query of the report."""
    db = [] if asked.db is None else ["--db", str(asked.db)]
    find = f"{asked.query} FIND" if asked.query else "FIND"
    # In quotes also where "FIND" itself needs none: what is put there will.
    quoted = find.replace("'", "'\"'\"'")
    return f"{command_line(['nfh-tui', 'browse', *db])} '{quoted}'"


def _find(find: queries.Find) -> str:
    return find.query if find.exact else f"~ {find.query}"


def _head(page: Page, found: Judgement, asked: Asked) -> None:
    coverage = found.agreement.coverage
    where = f"that {asked.query} finds" if asked.query else "of the whole database"
    page.say(
        f"Agreement on {counted(coverage.items, 'item')} in "
        f"{counted(coverage.passages, 'passage')} {where}"
    )
    if found.sample_corpus:
        page.say(CAVEAT)
    page.say(
        f"In brackets: 95 % intervals from {asked.resamples:,} resamples of passages, "
        f"seed {asked.seed}."
        if asked.resamples
        else "No intervals: --resamples is 0."
    )
    if asked.resamples and coverage.passages < FEW_PASSAGES:
        page.say(f"With fewer than {FEW_PASSAGES} passages take intervals as rough.")


def _coverage(page: Page, coverage: Coverage) -> None:
    page.title("Coverage")
    page.table(
        ("annotators' answers", "items:", "find"),
        [
            (label, f"{items:,}", _find(queries.votes(label)))
            for label, items in coverage.votes.items()
        ],
    )
    for title, people in (("annotators", coverage.annotators), ("experts", coverage.experts)):
        if people:
            page.note(f"{title}: {_names(people.items())}")
    if coverage.decided:
        decided = counted(coverage.decided, "item")
        page.note(f"decided by an expert: {decided} (rule:expert)")


def _names(answers: Iterable[tuple[str, int]]) -> str:
    ranked = sorted(answers, key=lambda one: (-one[1], one[0]))
    shown = ", ".join(f"{name} {count:,}" for name, count in ranked[:NAMES])
    more = len(ranked) - NAMES
    return shown + (f", and {counted(more, 'other')}" if more > 0 else "")


def _patterns(page: Page, agreement: Agreement) -> None:
    page.title("How votes group: by the paper's seven classes, by whole answers")
    classes, whole = agreement.class_patterns, agreement.noun_patterns
    finds = [queries.class_pattern(one.pattern, one.voters) for one in classes.shares]
    _pattern_rows(page, "classes", classes, finds)
    finds = [queries.pattern(one.pattern) for one in whole.shares]
    _pattern_rows(page, "answers", whole, finds)
    if len({one.voters for one in (*classes.shares, *whole.shares)}) > 1:
        page.note("share: among items with as many answers, so 3-0 of those with three")


def _pattern_rows(
    page: Page, name: str, patterns: Patterns, finds: Sequence[queries.Find]
) -> None:
    page.table(
        (name, "items:", "share", "find"),
        [
            (one.pattern, f"{one.items:,}", one.share, _find(find))
            for one, find in zip(patterns.shares, finds, strict=True)
        ],
    )
    page.left_out(patterns.left_out)


def _coefficients(page: Page, agreement: Agreement) -> None:
    found, pooled = agreement.coefficients, agreement.pooled
    page.title("All annotators together")
    page.table(
        ("measure", "value", "of"),
        [
            ("Krippendorff's alpha, kinds", found.alpha, _of(found.alpha, "item")),
            ("Fleiss' kappa, seven classes", found.fleiss.kappa, _fleiss(agreement)),
            ("Gwet's AC1 (a diagnostic)", found.ac1, _of(found.ac1, "item")),
            ("equal whole answers", pooled.equal, _of(pooled.equal, "pair")),
            ("equal kinds", pooled.same_kind, _of(pooled.same_kind, "pair")),
        ],
    )
    page.left_out(found.left_out, "alpha and AC1")
    page.left_out(found.fleiss.left_out, "Fleiss' kappa")
    page.left_out(pooled.left_out, "the pairs")


def _fleiss(agreement: Agreement) -> str:
    found = agreement.coefficients.fleiss
    return f"{_of(found.kappa, 'item')} of {counted(found.voters, 'answer')}"


def _of(measure: Measure, thing: str) -> str:
    return counted(measure.n, thing)


def _differences(page: Page, agreement: Agreement) -> None:
    page.title("What pairs of answers differ in, strongest first")
    page.table(
        ("difference", "pairs:", "items:", "find"),
        [
            (kind.value, f"{pairs:,}", f"{items:,}", f"disagree:{kind}")
            for kind, (pairs, items) in agreement.pooled.differences.items()
            if pairs
        ],
    )


def _kinds(page: Page, agreement: Agreement) -> None:
    page.title("Positive agreement: one says it, and the other too")
    scope = agreement.scope
    rows: list[tuple[Cell, ...]] = [
        (one.kind.value, one.agreement, f"{one.both:,}", f"{one.one:,}", f"~ said:{one.kind}")
        for one in agreement.kinds
        if one.agreement.n and one.kind is not Kind.NOT_NFH
    ]
    rows += [
        ("NOT_NFH", scope.positive, f"{scope.both:,}", f"{scope.one:,}", "~ disagree:scope"),
        (
            "is an NFH",
            scope.negative,
            f"{scope.neither:,}",
            f"{scope.one:,}",
            "~ disagree:scope",
        ),
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


def _nouns(page: Page, found: Judgement) -> None:
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
            "skill: what annotators agree on (observed) beyond what one of them would with a "
            f"rule that takes the closest noun; {_sampled(found)}"
        )


def _sampled(found: Judgement) -> str:
    which = f"{counted(found.sampled, 'item')} where two say REFERENCE"
    if found.sampled < found.eligible:
        which = (
            f"{found.sampled:,} of the {found.eligible:,} items where two say REFERENCE, drawn "
            f"at random ({SAMPLED:,} at most)"
        )
    without = found.agreement.skill.no_noun
    lacking = f", less {without:,} without a noun" if without else ""
    return f"{which}{lacking}; nouns by {found.tagger}"


def _twos(page: Page, agreement: Agreement) -> None:
    page.title("Two annotators at a time: answers, kinds, heads, and Cohen's kappa on kinds")
    twos = agreement.people.twos
    finds = [_find(queries.differs(two.left, two.right)) for two in twos]
    _two_rows(page, twos, finds, [f"{two.left}, {two.right}" for two in twos])
    _more(page, len(twos), agreement.people.not_measured)


def _two_rows(
    page: Page, twos: Sequence[PeopleAgreement], finds: Sequence[str], names: Sequence[str]
) -> None:
    ranked = sorted(zip(twos, finds, names, strict=True), key=lambda one: -one[0].items)
    page.table(
        ("people", "items:", "whole", "kind", "F1", "kappa", "find"),
        [
            (
                name,
                f"{two.items:,}",
                Brief(two.equal),
                Brief(two.same_kind),
                Brief(two.nouns.f1),
                Brief(two.kappa, interval=True),
                find,
            )
            for two, find, name in ranked[:SHOWN_TWOS]
        ],
    )


def _more(page: Page, measured: int, not_measured: int) -> None:
    if measured > SHOWN_TWOS:
        page.note(f"{measured - SHOWN_TWOS:,} further are in --json")
    if not_measured:
        page.note(
            f"{not_measured:,} further, who share fewer items than these {measured:,}, were "
            "not measured: narrow the query"
        )


def _experts(page: Page, agreement: Agreement) -> None:
    if not agreement.coverage.experts and not agreement.coverage.decided:
        return
    page.title("Annotators against what an expert decided")
    twos = agreement.experts.twos
    if twos:
        finds = [_find(queries.decided_of(two.left)) for two in twos]
        _two_rows(page, twos, finds, [two.left for two in twos])
        _more(page, len(twos), agreement.experts.not_measured)
    else:
        page.note("No item that an expert decided was answered by another person.")
    for name, count in sorted(agreement.own.items()):
        page.note(f"left out: {counted(count, 'item')} that {name} also decided")
    page.title("Experts with each other")
    doubles = agreement.doubles.twos
    if doubles:
        finds = [_find(queries.doubles_of(two.left, two.right)) for two in doubles]
        _two_rows(page, doubles, finds, [f"{two.left}, {two.right}" for two in doubles])
        _more(page, len(doubles), agreement.doubles.not_measured)
    else:
        page.note("No item was decided by two experts.")


def _matrix(page: Page, matrix: Matrix) -> None:
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


def _cells(page: Page, agreement: Agreement) -> None:
    cells = [
        (cell.items, queries.both_said(two.left, cell.left, two.right, cell.right).query)
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
