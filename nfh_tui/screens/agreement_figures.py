"""Lines of the agreement screen, from counts of the store and figures of the command."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_db.comparisons import KINDS, AnnotatorPair, Confusions, PersonCounts
from nfh_db.query import quote_name
from nfh_db.query.keys import ME_WORD, NOBODY
from nfh_models.agreement.audit import Advice
from nfh_models.agreement.measure import Measure
from nfh_models.statistics import share
from nfh_tui.display_figures import percent
from nfh_tui.services.agreement import SettledStratum
from nfh_tui.services.reports import AgreementReport, TwoReport
from nfh_tui.widgets.figure_lines import (
    BLANK,
    FigureCell,
    FigureMatrix,
    Line,
    Target,
    figure_row,
    heading,
    items,
    left,
    matrix_lines,
    matrix_of,
    right,
    row,
    sentence,
    titles_row,
)

POOLED: AnnotatorPair = ("", "")
"""In place of a pair: all annotators."""

MOST_PAIRS = 200
PAIR_STOP = "pair"
NOTES = ("mention", "extent", "sort", "text")
"""Kinds of difference that never block."""

NO_ANSWERS = (
    "No annotator has answered any of these items. Answers come from `nfh-tui annotate`, and "
    "from files: `nfh-tui import FILE --annotator NAME`."
)
NO_AUDIT = (
    "The error rate of the rules is unknown: no audit of these is finished. `nfh-tui audit "
    "--draw` draws one."
)
ONE_ANNOTATOR = "Only one annotator has answered here: agreement needs two."


@dataclass(frozen=True, slots=True)
class AgreementFigures:
    """The figures of the command."""

    figures: AgreementReport | None = None
    """None until the command has ended."""
    why: str = ""
    """Why there are no figures yet."""


def person(name: str) -> str:
    """Return a name as a query value."""
    return quote_name(name, (ME_WORD, NOBODY))


def narrowed(base: str, query: str) -> str:
    """Return a query limited to the query of the screen."""
    return f"{base} {query}".strip()


# --- the pane of figures --------------------------------------------------------------------


def figure_lines(
    counts: Confusions,
    measured: AgreementFigures,
    base: str,
    width: int,
    strata: Sequence[SettledStratum] = (),
) -> list[Line]:
    """Return the left pane: totals, disagreements, patterns, classes, annotators, audits."""
    if not counts.people:
        return sentence(NO_ANSWERS, width, "bold")
    lines = [*_together(measured, width), BLANK]
    if len(counts.people) == 1:
        lines += sentence(ONE_ANNOTATOR, width, "bold")
    lines += [*_kinds(counts, base, width), BLANK, *_patterns(counts, base, width), BLANK]
    lines += [*_classes(counts, measured, base, width), BLANK]
    return lines + people_lines(counts.people, base, width) + strata_lines(strata, width)


def _together(measured: AgreementFigures, width: int) -> list[Line]:
    lines = [heading("Everybody together", "95 % intervals in brackets")]
    if measured.figures is None:
        return lines + sentence(measured.why, width)
    figures = measured.figures
    pairs, fleiss = figures.pairs, figures.fleiss
    named = (
        ("alpha, kinds", figures.alpha, "Krippendorff's alpha over the kinds"),
        ("kappa, classes", fleiss.kappa, "Fleiss' kappa over the paper's seven classes"),
        ("AC1, kinds", figures.ac1, "Gwet's AC1 over the kinds, a diagnostic"),
        (
            "same answer",
            pairs.equal,
            "pairs that differ in nothing that blocks",
        ),
        ("same kind", pairs.same_kind, "pairs of answers of the same kind"),
        ("same heads", pairs.nouns.exact, "of pairs that both say REFERENCE: same nouns"),
        ("F1 of heads", pairs.nouns.f1, "F1 over the heads of pairs of REFERENCE"),
    )
    for name, measure, note in named:
        lines += measure_lines(name, measure, note, width)
    if figures.caveat:
        lines += sentence(figures.caveat, width)
    return lines


def measure_lines(name: str, measure: Measure, note: str, width: int) -> list[Line]:
    """Return a coefficient with its interval, or the sentence that says why it is undefined."""
    stop = Target(f"figure {name}", None, f"{note}, of {measure.n:,}")
    label = FigureCell(f" {left(name, 16)}", ("bold",))
    if measure.value is None:
        return [
            row(stop, label, FigureCell("–")),
            *sentence(f"  {measure.why or ''}", width),
        ]
    value = FigureCell(f"{measure.value:.3f} ")
    if measure.low is None or measure.high is None:
        return [row(stop, label, value), *sentence(f"  {measure.why or ''}", width)]
    interval = FigureCell(f"[{measure.low:.3f}, {measure.high:.3f}]", ("faint",))
    return [row(stop, label, value, interval)]


def _kinds(counts: Confusions, base: str, width: int) -> list[Line]:
    lines = [heading("What answers differ in", "items; enter opens them")]
    if not counts.kinds:
        return lines + sentence("No two answers differ in anything.", width)
    most = max(counts.kinds.values())
    for kind, n in counts.kinds.items():
        note = "does not block" if kind in NOTES else "blocks"
        stop = Target(
            f"kind {kind}", narrowed(base, f"disagree:{kind}"), f"{kind}, {note}: {items(n)}"
        )
        roles = ("faint",) if kind in NOTES else ()
        lines.append(_bar_row(stop, kind, n, most, width, roles))
    return lines


def _bar_row(
    stop: Target, name: str, n: int, most: int, width: int, roles: tuple[str, ...] = ()
) -> Line:
    room = max(0, min(24, width - 28))
    length = round(n / most * room) if most else 0
    drawn = FigureCell(f"  {'█' * length or '▏'}" if room else "", ("faint",))
    label, figure = left(name, 15), right(f"{n:,}", 8)
    return (*figure_row(stop, label, figure, roles=("bold", *roles)), drawn)


def _patterns(counts: Confusions, base: str, width: int) -> list[Line]:
    lines = [heading("How answers group", "whole answers")]
    if not (total := sum(counts.patterns.values())):
        return lines + sentence("No item has an answer.", width)
    for pattern, n in sorted(counts.patterns.items(), key=lambda one: (-one[1], one[0])):
        told = f"{pattern}: {items(n)}, {percent(n / total)} %"
        stop = Target(f"pattern {pattern}", narrowed(base, f"pattern:{pattern}"), told)
        lines.append(_bar_row(stop, pattern, n, total, width))
    return lines


def _classes(
    counts: Confusions, measured: AgreementFigures, base: str, width: int
) -> list[Line]:
    lines = [heading("Kind by kind", "agree: one says it, and the other too")]
    lines.append(titles_row(11, 8, "answers", "agree %"))
    report = measured.figures
    known = {} if report is None else {one.kind: one.agreement for one in report.kinds}
    answers = {kind: sum(p.kinds.get(kind, 0) for p in counts.people) for kind in KINDS}
    for kind in (kind for kind in KINDS if answers[kind]):
        stop = Target(f"class {kind}", narrowed(base, f"said:{kind}"), f"somebody says {kind}")
        cells = [*figure_row(stop, left(kind, 11), right(f"{answers[kind]:,}", 8))]
        if (measure := known.get(kind)) is not None:
            cells.append(FigureCell(right(percent(measure.value), 8)))
            if measure.low is not None and measure.high is not None and width >= 48:
                low, high = percent(measure.low, 0), percent(measure.high, 0)
                cells.append(FigureCell(f"  [{low}, {high}]", ("faint",)))
        lines.append(tuple(cells))
    return lines


def people_lines(people: Sequence[PersonCounts], base: str, width: int) -> list[Line]:
    """Return a row per annotator: answers, median seconds, share correct; enter opens the
    errors.
    """
    lines = [heading("Annotators", "enter opens where gold differs")]
    name_width = max(6, min(20, width - 34))
    lines.append(titles_row(name_width, 9, "answers", "seconds", "right %"))
    for one in people:
        wrong = one.decided - one.right
        told = f"{one.name}: wrong {items(wrong)} of {one.decided:,} that gold decides"
        if not one.decided:
            told = f"{one.name}: there is no gold for answers of {one.name}"
        query = narrowed(base, f"wrong:{person(one.name)}") if wrong else None
        seconds = "–" if one.seconds is None else f"{one.seconds:.1f}"
        values = (f"{one.answers:,}", seconds, percent(share(one.right, one.decided)))
        stop = Target(f"person {one.name}", query, told)
        label = left(one.name, name_width)
        lines.append(figure_row(stop, label, *(right(value, 9) for value in values)))
    return lines


def strata_lines(strata: Sequence[SettledStratum], width: int) -> list[Line]:
    """Return what audits found in what rules settled, the strata to decide by hand first."""
    if not strata:
        return []
    lines = [BLANK, heading("Settled by rules", "wrong/audited; enter opens them")]
    if not any(one.audited for one in strata):
        return lines + sentence(f"{items(sum(one.golds for one in strata))}. {NO_AUDIT}", width)
    width = max(14, *(len(one.name) for one in strata))
    lines.append(titles_row(width, 8, "items", "wrong", "95 %"))
    for one in strata:
        name, by_hand = one.name, one.advice is Advice.BY_HAND
        found, between = "–", "–"
        if one.interval is not None:
            found = f"{one.wrong}/{one.audited}"
            between = "–".join(percent(end, 0) for end in one.interval)
        stop = Target(f"stratum {name}", one.find, f"{name}: {items(one.golds)}; {one.advice}")
        values = (right(text, 8) for text in (f"{one.golds:,}", found, between))
        cells = figure_row(stop, left(name, width), *values)
        advice = one.advice.removeprefix("decide ")
        lines.append((*cells, FigureCell(f"  {advice}", ("bold",) if by_hand else ("faint",))))
    return lines


# --- the pane of pairs ----------------------------------------------------------------------


def pairs_of(counts: Confusions) -> list[AnnotatorPair]:
    """Return POOLED, then the pairs by decreasing number of shared items and by name."""
    shared = {pair: sum(cells.values()) for pair, cells in counts.pairs.items()}
    return [POOLED, *sorted(shared, key=lambda pair: (-shared[pair], pair))[:MOST_PAIRS]]


def pair_name(pair: AnnotatorPair) -> str:
    return "everybody" if pair == POOLED else f"{pair[0]} and {pair[1]}"


def pair_lines(
    counts: Confusions, measured: AgreementFigures, pair: AnnotatorPair, base: str, width: int
) -> list[Line]:
    """Return the right pane: the list of pairs, and the matrix of the chosen one."""
    if len(counts.people) < 2:
        return sentence(ONE_ANNOTATOR if counts.people else NO_ANSWERS, width)
    matrix = pair_matrix(counts, pair)
    lines = [heading("Who says what", "enter opens the items of a cell")]
    if matrix.total:
        lines += sentence(f"rows: {matrix.down} · columns: {matrix.across}", width)
        lines += matrix_lines(
            matrix,
            width,
            lambda *cell: (_find(pair, cell, base), True),
            sums=pair != POOLED,
        )
        if pair == POOLED:
            lines += sentence(
                "Off the diagonal, two people differ, so each item counts in both halves. On "
                "the diagonal, all agree, at least two.",
                width,
            )
    else:
        lines += sentence("These two have no answered item in common.", width)
    lines.append(BLANK)
    lines += _two_at_a_time(counts, measured, pair, width)
    if pair != POOLED:
        lines += [BLANK, *_differences(counts, pair, base, width)]
    return lines


def pair_matrix(counts: Confusions, pair: AnnotatorPair) -> FigureMatrix:
    if pair == POOLED:
        return matrix_of("somebody", "somebody else", counts.pooled, KINDS)
    return matrix_of(pair[0], pair[1], counts.pairs.get(pair, {}), KINDS)


def _find(pair: AnnotatorPair, cell: tuple[str, ...], base: str) -> str:
    one, other = cell
    if pair != POOLED:
        mine, others = (f"said:{person(name)}/" for name in pair)
        return narrowed(base, f"{mine}{one} {others}{other}")
    if one == other:
        rest = ",".join(kind for kind in KINDS if kind != one)
        return narrowed(base, f"votes>=2 said:{one} -said:{rest}")
    return narrowed(base, f"said:{one} said:{other}")


def _two_at_a_time(
    counts: Confusions, measured: AgreementFigures, chosen: AnnotatorPair, width: int
) -> list[Line]:
    lines = [heading("Two at a time", "enter shows a pair's matrix")]
    name = max(9, min(30, width - 33))
    lines.append(titles_row(name, 8, "items", "whole %", "kind %", "kappa"))
    report = measured.figures
    twos = () if report is None else report.annotators.twos
    known = {(one.left, one.right): one for one in twos}
    lines += [
        _two(counts, known.get(pair), pair, pair == chosen, name) for pair in pairs_of(counts)
    ]
    more = len(counts.pairs) - MOST_PAIRS
    if more > 0:
        lines += sentence(f"{more:,} more pairs share fewer items.", width)
    return lines


def _two(
    counts: Confusions,
    figures: TwoReport | None,
    pair: AnnotatorPair,
    is_chosen: bool,
    name: int,
) -> Line:
    words = "everybody" if pair == POOLED else f"{pair[0]}, {pair[1]}"
    mark = "● " if is_chosen else "  "
    cells = counts.pooled if pair == POOLED else counts.pairs[pair]
    n = sum(cells.values())
    alike = sum(k for (one, other), k in cells.items() if one == other)
    if pair == POOLED:
        # Each item outside the diagonal is in more than one cell.
        n = sum(counts.patterns.values())
        shares = ["", "", ""]
    else:
        blocked = sum(counts.differences.get(pair, {}).values())
        kappa = "" if figures is None else _value(figures.kappa)
        shares = [percent(share(n - blocked, n)), percent(share(alike, n)), kappa]
    told = f"the matrix of {pair_name(pair)}"
    stop = Target(f"{PAIR_STOP} {pair[0]}\t{pair[1]}", None, told, act=PAIR_STOP)
    look = ("bold",) if is_chosen else ()
    values = (right(one, 8) for one in (f"{n:,}", *shares))
    return figure_row(stop, left(mark + words, name), *values, roles=look)


def _value(measure: Measure) -> str:
    return "–" if measure.value is None else f"{measure.value:.2f}"


def _differences(counts: Confusions, pair: AnnotatorPair, base: str, width: int) -> list[Line]:
    lines = [heading("What these two differ in", "enter opens them")]
    if not (found := counts.differences.get(pair, {})):
        return lines + sentence("They differ in nothing that blocks.", width)
    both = f"{person(pair[0])}~{person(pair[1])}"
    most = max(found.values())
    for kind in (kind for kind in counts.kinds if kind in found):
        n = found[kind]
        query = narrowed(base, f"differs:{both}/{kind}")
        stop = Target(f"differs {kind}", query, f"{kind}: {items(n)}")
        lines.append(_bar_row(stop, kind, n, most, width))
    return lines


def pair_of(stop: Target) -> AnnotatorPair:
    """Return the pair of a line in the list of pairs."""
    one, other = stop.name.removeprefix(f"{PAIR_STOP} ").split("\t")
    return one, other
