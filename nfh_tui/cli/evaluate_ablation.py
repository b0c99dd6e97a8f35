"""`nfh-tui evaluate identification --ablation`: what each part of a recipe is worth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from nfh_models.agreement.measure import Measure
from nfh_models.identification.ablation import REMOVALS, rule_removals
from nfh_models.identification.features import Feature
from nfh_models.identification.intervals import Comparison, compare, measures
from nfh_models.identification.paper import Published
from nfh_models.identification.recipes import RULES, SVM
from nfh_models.identification.scores import Counts, count
from nfh_tui.cli.agreement_page import Page
from nfh_tui.cli.common import emit
from nfh_tui.cli.evaluate_call import Call
from nfh_tui.cli.evaluate_html import write_report
from nfh_tui.cli.evaluate_json import Json, about, figures, interval, trained_on
from nfh_tui.cli.evaluate_text import head, seconds, tail
from nfh_tui.cli.evaluate_trial import fitted, held, settings
from nfh_tui.cli.evaluate_words import percent, signed
from nfh_tui.entrants import Lesson, rules_without
from nfh_tui.evaluating import Entrant, Judged, Trial

if TYPE_CHECKING:
    from nfh_db.store import Store


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. versus: the whole recipe against it; None of the whole itself.

    touched: examples that the rules decide which are left out, None where none is.
    """

    judged: Judged
    counts: Counts
    f1: Measure
    versus: Comparison | None
    published: Published | None
    touched: int | None


def run(call: Call) -> None:
    """Do it, and print the table."""
    recipe = call.models[0] if call.models else SVM
    if recipe not in (SVM, RULES) or len(call.models) > 1:
        raise click.UsageError(f"--ablation is of one recipe: --model {SVM} or {RULES}")
    if recipe == RULES and call.sets:
        raise click.UsageError("--set is of svm: the recipe rules is not fitted")
    trial = held(call, _without_rules if recipe == RULES else _without_features)
    rows = _rows(call, trial, recipe)
    if call.report is not None:
        write_report(call.report, f"Ablation of {recipe}", _as_text(call, trial, recipe, rows))
    if call.as_json:
        emit(_as_json(call, trial, recipe, rows))
    else:
        click.echo(_as_text(call, trial, recipe, rows), nl=False)


def _without_features(
    call: Call,
    store: "Store | None",  # noqa: ARG001
    lesson: Lesson | None,
) -> list[Entrant]:
    whole = settings(call)
    kept = set(whole.features.features)
    names = {} if kept == set(Feature) else {REMOVALS[0].name: "the features that are set"}
    return [
        fitted(call, names.get(removal.name, removal.name), removal.settings(whole), lesson)
        for removal in REMOVALS
        if removal.without < kept
    ]


def _without_rules(
    call: Call,  # noqa: ARG001
    store: "Store | None",  # noqa: ARG001
    lesson: Lesson | None,  # noqa: ARG001
) -> list[Entrant]:
    return rules_without()


def _rows(call: Call, trial: Trial, recipe: str) -> list[Row]:
    published = {one.name: one.published for one in REMOVALS}
    if trial.judged[0].entrant.name != REMOVALS[0].name:
        published = {}  # the paper's table is of all four features
    removed = {one.name: one.rules for one in rule_removals() if one.rules}
    labels = [one.nfh for one in trial.examples]
    whole = trial.judged[0]
    rules = Counter(one.rule for one in whole.decisions)
    said = [[it.nfh for it in one.decisions] for one in trial.judged]
    rows = []
    for judged, own in zip(trial.judged, said, strict=True):
        name = judged.entrant.name
        versus = None
        if judged is not whole:
            versus = compare(trial.examples, said[0], own, call.resampling)
        touched = None
        if recipe == RULES and name in removed:
            touched = sum(rules[rule] for rule in removed[name])
        counts = count(zip(labels, own, strict=True))
        f1 = measures(trial.examples, own, call.resampling)["f1"]
        rows.append(Row(judged, counts, f1, versus, published.get(name), touched))
    return rows


# --- told -----------------------------------------------------------------------------------


def _as_json(call: Call, trial: Trial, recipe: str, rows: Sequence[Row]) -> Json:
    return about(trial, call.asked) | {
        "ablation": recipe,
        "folds": trial.judged[0].entrant.folds,
        "trained_on": trained_on(trial.judged[0].entrant),
        "rows": [_row_json(row) for row in rows],
        "seconds": round(trial.parsing + sum(one.seconds for one in trial.judged), 3),
        "seconds_parsing": round(trial.parsing, 3),
    }


def _row_json(row: Row) -> Json:
    versus, paper = row.versus, row.published
    return {
        "name": row.judged.entrant.name,
        **figures(row.counts),
        "ci95": {"f1": interval(row.f1)},
        "f1_lost": versus.difference.value if versus else None,
        "f1_lost_ci95": interval(versus.difference) if versus else None,
        "p": versus.p if versus else None,
        "decided_by_it": row.touched,
        "paper_dev": None
        if paper is None
        else {
            "precision": round(paper.precision / 100, 3),
            "recall": round(paper.recall / 100, 3),
            "f1": round(paper.f1 / 100, 3),
        },
        "seconds": round(row.judged.seconds, 3),
    }


def _as_text(call: Call, trial: Trial, recipe: str, rows: Sequence[Row]) -> str:
    page = Page()
    head(page, trial, call.asked)
    if trial.examples:
        page.title(_title(trial, recipe))
        if recipe == RULES:
            _rules_table(page, rows)
        else:
            _features_table(page, rows)
        page.note("lost: points of F1 that go with what is left out")
        tail(page, call.asked)
    seconds(page, trial)
    return page.text()


def _title(trial: Trial, recipe: str) -> str:
    first = trial.judged[0].entrant
    if first.folds is not None:
        return f"{recipe}, {first.folds} folds: percent, beside it the paper's dev set"
    if first.lesson is not None:
        return f"{recipe}, fitted on another file: percent, beside it the paper's dev set"
    return f"{recipe} with parts left out: percent"


def _features_table(page: Page, rows: Sequence[Row]) -> None:
    page.table(
        ("", "P:", "R:", "F1:", "lost:", "95 %:", "paper P R F1:"),
        [
            (
                *_figures(row),
                *_lost(row),
                ""
                if row.published is None
                else f"{row.published.precision} {row.published.recall} {row.published.f1}",
            )
            for row in rows
        ],
    )


def _rules_table(page: Page, rows: Sequence[Row]) -> None:
    order = sorted(rows[1:], key=lambda row: (not _of_group(row), -(_value(row) or 0.0)))
    page.table(
        ("left out", "decides:", "P:", "R:", "F1:", "lost:", "95 %:"),
        [
            (
                row.judged.entrant.name.removeprefix("without ") if row.versus else "nothing",
                "" if row.touched is None else f"{row.touched:,}",
                percent(row.counts.precision),
                percent(row.counts.recall),
                percent(row.counts.f1),
                *_lost(row, places=2),
            )
            for row in (rows[0], *order)
        ],
    )


def _of_group(row: Row) -> bool:
    return row.judged.entrant.name.startswith("without group ")


def _figures(row: Row) -> tuple[str, ...]:
    counts = row.counts
    shown = (percent(value) for value in (counts.precision, counts.recall, counts.f1))
    return (row.judged.entrant.name, *shown)


def _value(row: Row) -> float | None:
    return row.versus.difference.value if row.versus else None


def _lost(row: Row, places: int = 1) -> tuple[str, str]:
    value = _value(row)
    if row.versus is None or value is None:
        return "", ""
    return f"{100 * value:.{places}f}", signed(row.versus.difference, places)
