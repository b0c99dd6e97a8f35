"""`nfh-tui evaluate identification`: the trial, its ablation, and the report in words,
tables and HTML.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.files import write_lines
from nfh_db.messages import counted, visible
from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.measure import Measure
from nfh_models.identification.base import RULES, SVM, Example
from nfh_models.identification.evaluation import (
    REMOVALS,
    Error,
    IdentificationEvaluation,
    IdentifierComparison,
    PartCounts,
    compare,
    evaluate,
    measures,
    rule_removals,
)
from nfh_models.identification.scores import (
    RESULTS,
    DecisionCounts,
    PublishedIdentification,
    count,
)
from nfh_models.identification.svm import Feature
from nfh_tui.cli.evaluate_call import (
    DECISION_FIGURES,
    EvaluateOptions,
    Json,
    ReportOptions,
    SystemComparison,
    Tell,
    about,
    around_number,
    as_json,
    fitted,
    held,
    interval_ends,
    interval_words,
    named,
    settings,
    spelled,
    trained_on,
    where,
)
from nfh_tui.cli.options import emit, picked
from nfh_tui.cli.report import CommandReport
from nfh_tui.display_figures import NONE, difference_interval, percent
from nfh_tui.services.evaluate import (
    DecidedExamples,
    FoldExamples,
    IdentificationSystem,
    IdentificationTrial,
    rules_without,
)

if TYPE_CHECKING:
    from nfh_db.store import Store


STYLE = "body{margin:2em auto;max-width:100ch;padding:0 1em}pre{white-space:pre-wrap}"


def write_report(path: Path, title: str, text: str) -> None:
    """Write a report as HTML, in place of what stood there. Raises ExportError."""
    name = escape(title)
    write_lines(
        path,
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width">\n',
            f"<title>{name}</title>\n<style>{STYLE}</style>\n",
            f"<h1>{name}</h1>\n<pre>{escape(click.unstyle(text))}</pre>\n</html>\n",
        ],
    )


TITLE = "Identification"


def run(call: EvaluateOptions) -> None:
    if call.ablation:
        run_ablation(call)
        return
    whole = measured(call)
    write_page(whole, call)
    if call.as_json:
        emit(as_json(whole.trial, whole.found, whole.versus, call.report_options))
    else:
        click.echo(_text(whole, call, call.errors), nl=False)


def report(call: EvaluateOptions, tell: Tell) -> Json:
    """The report as JSON; writes the page of the call. tell: the progress callback."""
    whole = measured(call, tell)
    write_page(whole, call)
    return as_json(whole.trial, whole.found, whole.versus, call.report_options)


@dataclass(frozen=True, slots=True)
class IdentificationResult:
    """The trial with its figures. found: one for each system of the trial, in their order."""

    trial: IdentificationTrial
    found: Sequence[IdentificationEvaluation]
    versus: Sequence[SystemComparison]


def measured(call: EvaluateOptions, tell: Tell | None = None) -> IdentificationResult:
    """The trial and all its figures. Raises what reading, parsing and the models raise."""
    trial = held(call, named, tell)
    found = [evaluate(trial.examples, one.decisions, call.resampling) for one in trial.judged]
    versus = _compared(trial.examples, trial.judged, call.resampling)
    return IdentificationResult(trial, found, versus)


def write_page(whole: IdentificationResult, call: EvaluateOptions) -> None:
    """Write the page that the call asks for, if it asks for one. Raises ExportError."""
    if call.report is not None:
        most = max(one.counts.wrong for one in whole.found)
        write_report(call.report, TITLE, _text(whole, call, most))


def _text(whole: IdentificationResult, call: EvaluateOptions, errors: int) -> str:

    return as_text(whole.trial, whole.found, whole.versus, call.report_options, errors=errors)


def _compared(
    tried: Sequence[Example], judged: Sequence[DecidedExamples], resampling: Resampling
) -> list[SystemComparison]:
    """Compares every two systems, in the order of --model."""
    said = {one.system.name: [it.nfh for it in one.decisions] for one in judged}
    return [
        SystemComparison(first, second, compare(tried, said[first], said[second], resampling))
        for first, second in combinations(said, 2)
    ]


WORDS = 15
"""Anchor words that the table names; --json has all."""
RULES_SHOWN = 40
WEIGHTS_SHOWN = 3
MOST_SYSTEMS = 5
"""Entrants whose seconds are told one by one."""
FIGURES = ("", "precision:", "recall:", "F1:", "accuracy:")

Found = Sequence[tuple[DecidedExamples, IdentificationEvaluation]]


def as_text(
    trial: IdentificationTrial,
    found: Sequence[IdentificationEvaluation],
    versus: Sequence[SystemComparison],
    options: ReportOptions,
    *,
    errors: int,
) -> str:
    """The report, ready to print. errors: how many wrong decisions of each to show."""
    page = CommandReport()
    both = list(zip(trial.judged, found, strict=True))
    head(page, trial, options)
    if trial.examples:
        _figures_table(page, both, options)
        _versus(page, versus)
        _confusion(page, both)
        _rules(page, both)
        _parts(page, both)
        _errors(page, both, errors)
    seconds(page, trial)
    return page.text()


def head(page: CommandReport, trial: IdentificationTrial, options: ReportOptions) -> None:
    yes = sum(example.nfh for example in trial.examples)
    size = len(trial.examples)
    place = where(trial.source, trial.format, options)
    page.say(
        f"Identification on {counted(size, 'labelled number')} of {place}: "
        f"{yes:,} NFHs, {size - yes:,} others"
    )
    for reason, times in trial.left_out.items():
        page.note(f"left out: {counted(times, 'anchor')}, {reason}")
    if trial.no_number:
        page.note(
            f"{counted(trial.no_number, 'label')} at words that are no number; counted like "
            "the others"
        )
    for sentence in {
        one.system.training_set.sentence() for one in trial.judged if one.system.training_set
    }:
        page.note(sentence)
    if not size:
        page.note("there is nothing to measure: no anchor here has a label")
    if size and yes in (0, size):
        only = "an NFH" if yes else "no NFH"
        page.note(f"every label says {only}: nothing here can show the other kind of error")


# --- figures --------------------------------------------------------------------------------


def _figures_table(page: CommandReport, both: Found, options: ReportOptions) -> None:
    page.title("Percent")
    rows: list[tuple[str, ...]] = []
    for judged, found in both:
        measures = (found.precision, found.recall, found.f1, found.accuracy)
        rows.append((system_label(judged.system), *(percent(one.value) for one in measures)))
        if options.resamples:
            rows.append(("  95 % interval", *(interval_words(one) for one in measures)))
    rows += [published(one) for one in RESULTS]
    page.table(FIGURES, rows)
    undefined = {
        one.why
        for _, found in both
        for one in (found.precision, found.recall, found.f1)
        if one.value is None and one.why
    }
    for why in sorted(undefined):
        page.note(why)
    tail(page, options)


def tail(page: CommandReport, options: ReportOptions) -> None:
    """Notes on how to read the table of figures."""
    if options.resamples:
        page.note(
            f"intervals: {options.resamples:,} resamples of whole passages, seed {options.seed}"
        )
    page.note("the paper's figures are of its own data, not of this")


def system_label(one: IdentificationSystem) -> str:
    """The name of a system, and how it was trained if for this evaluation."""
    if one.folds is not None:
        return f"{one.name}, {one.folds} folds"
    if one.training_set is not None:
        return f"{one.name}, fitted"
    return one.name


def published(one: PublishedIdentification) -> tuple[str, ...]:
    """A line of the paper, as a row under FIGURES."""
    figures = (f"{value:.1f}" for value in (one.precision, one.recall, one.f1))
    return (f"paper: {one.what}, {one.data}", *figures, "")


def _versus(page: CommandReport, versus: Sequence[SystemComparison]) -> None:
    if not versus:
        return
    page.title("Difference in F1, on the same examples")
    rows = []
    for one in versus:
        comparison = one.comparison
        value = comparison.difference.value
        rows.append(
            (
                f"{one.first} less {one.second}",
                NONE if value is None else f"{100 * value:+.1f}",
                difference_interval(comparison.difference.low, comparison.difference.high),
                NONE if comparison.p is None else f"{comparison.p:.3f}",
                f"{comparison.only_first:,}",
                f"{comparison.only_second:,}",
            )
        )
    page.table(("", "points:", "95 % interval:", "p:", "only 1st:", "only 2nd:"), rows)
    page.note(
        "only 1st, only 2nd: numbers that this one alone decides rightly; p: paired bootstrap"
    )


def _confusion(page: CommandReport, both: Found) -> None:
    page.title("Label against decision")
    rows = []
    for judged, found in both:
        (hit, missed), (false, passed) = found.counts.rows
        name = f"{judged.system.name}: " if len(both) > 1 else ""
        rows.append((f"{name}label NFH", f"{hit:,}", f"{missed:,}"))
        rows.append((f"{name}label not", f"{false:,}", f"{passed:,}"))
    page.table(("", "decided NFH:", "decided not:"), rows)


# --- breakdowns -----------------------------------------------------------------------------


def _rules(page: CommandReport, both: Found) -> None:
    for judged, found in both:
        if len(found.by_rule) < 2:
            continue
        page.title(f"By rule of {judged.system.name}")
        rows = [
            (
                part.name,
                _decides(part.counts),
                f"{part.counts.n:,}",
                f"{part.counts.right:,}",
                f"{part.counts.wrong:,}",
                percent(part.counts.accuracy),
            )
            for part in found.by_rule[:RULES_SHOWN]
        ]
        page.table(("rule", "decides", "n:", "right:", "wrong:", "right %:"), rows)


def _decides(counts: DecisionCounts) -> str:
    called = counts.hit + counts.false
    if called == counts.n:
        return "NFH"
    return "not" if not called else "both"


def _parts(page: CommandReport, both: Found) -> None:
    first = both[0][1]
    breakdowns = (
        ("By what the number is written with", "written with", first.by_kind, "by_kind"),
        ("By length", "length", first.by_length, "by_length"),
        (_word_title(first), "number", first.by_word[:WORDS], "by_word"),
    )
    for title, column, parts, key in breakdowns:
        page.title(title)
        if len(both) == 1:
            page.table(
                (column, "n:", "NFH:", "precision:", "recall:", "F1:", "wrong:"),
                [_part(part) for part in parts],
            )
        else:
            _side_by_side(page, column, parts, key, both)


def _word_title(found: IdentificationEvaluation) -> str:
    words = len(found.by_word)
    if words <= WORDS:
        return "By the number's words"
    return f"By the number's words, the {WORDS} most frequent of {words:,}"


def _part(part: PartCounts) -> tuple[str, ...]:
    counts = part.counts
    figures = (percent(value) for value in (counts.precision, counts.recall, counts.f1))
    name = visible(part.name, 24)
    return (name, f"{counts.n:,}", f"{counts.nfh:,}", *figures, f"{counts.wrong:,}")


def _side_by_side(
    page: CommandReport, column: str, parts: Iterable[PartCounts], key: str, both: Found
) -> None:
    """The wrong decisions of each system, for the same parts."""
    columns = [column, "n:", "NFH:"]
    wrong = []
    for judged, found in both:
        columns.append(f"{judged.system.name} wrong:")
        wrong.append({part.name: part.counts.wrong for part in getattr(found, key)})
    page.table(
        columns,
        [
            (
                visible(part.name, 24),
                f"{part.counts.n:,}",
                f"{part.counts.nfh:,}",
                *(f"{one[part.name]:,}" for one in wrong),
            )
            for part in parts
        ],
    )


# --- errors ---------------------------------------------------------------------------------


def _errors(page: CommandReport, both: Found, most: int) -> None:
    if not most:
        return
    for judged, found in both:
        if not found.errors:
            page.title(f"No wrong decision of {judged.system.name}")
            continue
        total = len(found.errors)
        shown = worst(found.errors)[:most]
        which = "all of them" if len(shown) == total else f"{len(shown)} of {total:,}"
        order = ", the surest first" if shown[0].decision.score is not None else ""
        page.title(f"Wrong decisions of {judged.system.name}: {which}{order}")
        for error in shown:
            page.note(described(error))
            page.note(f"  {around_number(*spelled(error))}")
        if len(shown) < total:
            page.note("--errors N shows more, --json has them all")


def worst(errors: Sequence[Error]) -> list[Error]:
    """Errors by descending score where they have scores, else unchanged."""
    return sorted(errors, key=lambda one: -abs(one.decision.score or 0.0))


def described(error: Error) -> str:
    """A wrong decision in words: where, label, decision, rule and weights."""
    decision = error.decision
    label, said = ("NFH", "not") if error.example.nfh else ("not", "NFH")
    why = decision.rule
    if decision.score is not None:
        why += f" {decision.score:+.2f}"
    weights = [f"{name} {weight:+.2f}" for name, weight in decision.weights[:WEIGHTS_SHOWN]]
    if weights:
        why += f": {', '.join(weights)}"
    return f"{error.example.where}: label {label}, decided {said} ({why})"


def seconds(page: CommandReport, trial: IdentificationTrial) -> None:
    page.title("Seconds")
    if trial.parser is not None:
        page.note(f"parsing, once for all: {trial.parsing:.1f} ({trial.parser})")
    if len(trial.judged) > MOST_SYSTEMS:
        total = sum(judged.seconds for judged in trial.judged)
        page.note(f"fitting and deciding, all {len(trial.judged)} together: {total:.1f}")
        return
    for judged in trial.judged:
        fits = judged.system.cross is not None
        what = "fitting and deciding" if fits else "deciding"
        page.note(f"{what}, {judged.system.name}: {judged.seconds:.1f}")


@dataclass(frozen=True, slots=True)
class AblationRow:
    """A row of the table. versus: the whole recipe against it; None of the whole itself.

    touched: examples that the rules decide which are left out, None where none is.
    """

    judged: DecidedExamples
    counts: DecisionCounts
    f1: Measure
    versus: IdentifierComparison | None
    published: PublishedIdentification | None
    touched: int | None


def run_ablation(call: EvaluateOptions) -> None:
    """Runs the ablation and prints its table."""
    recipe = call.models[0] if call.models else SVM
    if recipe not in (SVM, RULES) or len(call.models) > 1:
        raise click.UsageError(f"--ablation is of one recipe: --model {SVM} or {RULES}")
    if recipe == RULES and call.sets:
        raise click.UsageError("--set is of svm: the recipe rules is not fitted")
    trial = held(call, (lambda *_: rules_without()) if recipe == RULES else _without_features)
    rows = _rows(call, trial, recipe)
    if call.report is not None:
        write_report(call.report, f"Ablation of {recipe}", _as_text(call, trial, recipe, rows))
    if call.as_json:
        emit(_as_json(call, trial, recipe, rows))
    else:
        click.echo(_as_text(call, trial, recipe, rows), nl=False)


def _without_features(
    call: EvaluateOptions,
    store: "Store | None",  # noqa: ARG001
    training_set: FoldExamples | None,
) -> list[IdentificationSystem]:
    whole = settings(call)
    kept = set(whole.features)
    names = {} if kept == set(Feature) else {REMOVALS[0].name: "the features that are set"}
    return [
        fitted(
            call, names.get(removal.name, removal.name), removal.settings(whole), training_set
        )
        for removal in REMOVALS
        if removal.without < kept
    ]


def _rows(call: EvaluateOptions, trial: IdentificationTrial, recipe: str) -> list[AblationRow]:
    published = {one.name: one.published for one in REMOVALS}
    if trial.judged[0].system.name != REMOVALS[0].name:
        published = {}  # the paper's table is of all four features
    removed = {one.name: one.rules for one in rule_removals() if one.rules}
    labels = [one.nfh for one in trial.examples]
    whole = trial.judged[0]
    rules = Counter(one.rule for one in whole.decisions)
    said = [[it.nfh for it in one.decisions] for one in trial.judged]
    rows = []
    for judged, own in zip(trial.judged, said, strict=True):
        name = judged.system.name
        versus = None
        if judged is not whole:
            versus = compare(trial.examples, said[0], own, call.resampling)
        touched = None
        if recipe == RULES and name in removed:
            touched = sum(rules[rule] for rule in removed[name])
        counts = count(zip(labels, own, strict=True))
        f1 = measures(trial.examples, own, call.resampling)["f1"]
        rows.append(AblationRow(judged, counts, f1, versus, published.get(name), touched))
    return rows


# --- words ----------------------------------------------------------------------------------


def _as_json(
    call: EvaluateOptions, trial: IdentificationTrial, recipe: str, rows: Sequence[AblationRow]
) -> Json:
    first = trial.judged[0].system
    return about(trial, call.report_options) | {
        "ablation": recipe,
        "folds": first.folds,
        "trained_on": trained_on(first),
        "rows": [_row_json(row) for row in rows],
        "seconds": round(trial.parsing + sum(one.seconds for one in trial.judged), 3),
        "seconds_parsing": round(trial.parsing, 3),
    }


def _row_json(row: AblationRow) -> Json:
    versus, paper = row.versus, row.published
    return {
        "name": row.judged.system.name,
        **picked(row.counts, DECISION_FIGURES),
        "ci95": {"f1": interval_ends(row.f1)},
        "f1_lost": versus.difference.value if versus else None,
        "f1_lost_ci95": interval_ends(versus.difference) if versus else None,
        "p": versus.p if versus else None,
        "decided_by_it": row.touched,
        "paper_dev": paper
        and {
            key: round(percentage / 100, 3)
            for key, percentage in picked(paper, "precision recall f1").items()
        },
        "seconds": round(row.judged.seconds, 3),
    }


def _as_text(
    call: EvaluateOptions, trial: IdentificationTrial, recipe: str, rows: Sequence[AblationRow]
) -> str:
    page = CommandReport()
    head(page, trial, call.report_options)
    if trial.examples:
        page.title(_title(trial, recipe))
        if recipe == RULES:
            _rules_table(page, rows)
        else:
            _features_table(page, rows)
        page.note("lost: points of F1 that go with what is left out")
        tail(page, call.report_options)
    seconds(page, trial)
    return page.text()


def _title(trial: IdentificationTrial, recipe: str) -> str:
    first = trial.judged[0].system
    if first.folds is not None:
        return f"{recipe}, {first.folds} folds: percent, beside it the paper's dev set"
    if first.training_set is not None:
        return f"{recipe}, fitted on another file: percent, beside it the paper's dev set"
    return f"{recipe} with parts left out: percent"


def _features_table(page: CommandReport, rows: Sequence[AblationRow]) -> None:
    page.table(
        ("", "P:", "R:", "F1:", "lost:", "95 %:", "paper P R F1:"),
        [
            (
                *_figures_row(row),
                *_lost(row),
                ""
                if row.published is None
                else f"{row.published.precision} {row.published.recall} {row.published.f1}",
            )
            for row in rows
        ],
    )


def _rules_table(page: CommandReport, rows: Sequence[AblationRow]) -> None:
    order = sorted(
        rows[1:],
        key=lambda row: (
            not row.judged.system.name.startswith("without group "),
            -(_value(row) or 0.0),
        ),
    )
    page.table(
        ("left out", "decides:", "P:", "R:", "F1:", "lost:", "95 %:"),
        [
            (
                row.judged.system.name.removeprefix("without ") if row.versus else "nothing",
                "" if row.touched is None else f"{row.touched:,}",
                percent(row.counts.precision),
                percent(row.counts.recall),
                percent(row.counts.f1),
                *_lost(row, places=2),
            )
            for row in (rows[0], *order)
        ],
    )


def _figures_row(row: AblationRow) -> tuple[str, ...]:
    counts = row.counts
    shown = (percent(value) for value in (counts.precision, counts.recall, counts.f1))
    return (row.judged.system.name, *shown)


def _value(row: AblationRow) -> float | None:
    return row.versus.difference.value if row.versus else None


def _lost(row: AblationRow, places: int = 1) -> tuple[str, str]:
    value = _value(row)
    if row.versus is None or value is None:
        return "", ""
    gap = row.versus.difference
    return percent(value, places), difference_interval(gap.low, gap.high, places)
