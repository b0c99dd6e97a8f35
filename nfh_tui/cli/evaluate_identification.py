"""`nfh-tui evaluate identification`: the trial, its ablation, and the report in words,
tables and HTML.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.messages import counted, visible
from nfh_models.agreement.measure import Measure
from nfh_models.identification.base import RULES, SVM, TRAINED
from nfh_models.identification.evaluation import (
    LABELS,
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
from nfh_models.parsing.base import load_parser
from nfh_tui.cli.evaluate_call import (
    DEFAULT_FOLDS,
    DIFFERENCE,
    IDENTIFICATION,
    EvaluateOptions,
    Json,
    SystemPair,
    Tell,
    around_number,
    check_names,
    difference_row,
    every_two,
    examples_of,
    held_on,
    interval_ends,
    interval_notes,
    interval_words,
    notes_of,
    open_source,
    progress_of,
    scope_words,
    tell_seconds,
    tell_wrong,
    warn,
    whole_report,
)
from nfh_tui.cli.options import picked
from nfh_tui.cli.report import CommandReport
from nfh_tui.display_figures import difference_interval, percent
from nfh_tui.services.evaluate import (
    DecidedExamples,
    FoldExamples,
    IdentificationSystem,
    IdentificationTrial,
    fitted,
    hold_identification,
    layers_needed,
    other_parser,
    rules_without,
    with_seen,
)
from nfh_tui.services.examples import Examples
from nfh_tui.services.models import identifier_for

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.identification.svm import SvmSettings


STYLE = "body{margin:2em auto;max-width:100ch;padding:0 1em}pre{white-space:pre-wrap}"


def html(title: str, text: str) -> list[str]:
    """A report as a page of HTML, in pieces."""
    name = escape(title)
    return [
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
        '<meta name="viewport" content="width=device-width">\n',
        f"<title>{name}</title>\n<style>{STYLE}</style>\n",
        f"<h1>{name}</h1>\n<pre>{escape(click.unstyle(text))}</pre>\n</html>\n",
    ]


@dataclass(frozen=True, slots=True)
class IdentificationResult:
    """The trial with its figures. found: one for each system of the trial, in their order."""

    trial: IdentificationTrial
    found: Sequence[IdentificationEvaluation]
    versus: Sequence[SystemPair[IdentifierComparison]]

    def json(self, call: EvaluateOptions) -> Json:
        pairs = zip(self.trial.judged, self.found, strict=True)
        models = [_model(self.trial, one, evaluation) for one, evaluation in pairs]
        return whole_report(
            trial_json(self.trial, call), models, list(map(_versus_json, self.versus))
        )

    def text(self, call: EvaluateOptions) -> str:
        return as_text(self, call, errors=call.errors)

    def page(self, call: EvaluateOptions) -> list[str]:
        """The page of the report, with all errors."""
        most = max(one.counts.wrong for one in self.found)
        return html("Identification", as_text(self, call, errors=most))


def measured(
    call: EvaluateOptions, tell: Tell | None = None
) -> "IdentificationResult | Ablation":
    """The trial and all its figures. Raises what reading, parsing and the models raise."""
    if call.ablation:
        return ablation(call)
    trial = held(call, named, tell)
    found = [evaluate(trial.examples, one.decisions, call.resampling) for one in trial.judged]
    said = {one.system.name: [it.nfh for it in one.decisions] for one in trial.judged}
    versus = every_two(said, lambda a, b: compare(trial.examples, a, b, call.resampling))
    return IdentificationResult(trial, found, versus)


WORDS = 15
"""Anchor words that the table names; --json has all."""
RULES_SHOWN = 40
WEIGHTS_SHOWN = 3
MOST_SYSTEMS = 5
"""Entrants whose seconds are told one by one."""
FIGURES = ("", "precision:", "recall:", "F1:", "accuracy:")

Found = Sequence[tuple[DecidedExamples, IdentificationEvaluation]]


def as_text(whole: IdentificationResult, call: EvaluateOptions, *, errors: int) -> str:
    """The report, ready to print. errors: how many wrong decisions of each to show."""
    page, trial = CommandReport(), whole.trial
    both = list(zip(trial.judged, whole.found, strict=True))
    head(page, trial, call)
    if trial.examples:
        _figures_table(page, both, call)
        _versus(page, whole.versus)
        _confusion(page, both)
        _rules(page, both)
        _parts(page, both)
        for judged, one in both:
            what, ranked = f"decision of {judged.system.name}", worst(one.errors)
            sure = bool(ranked) and ranked[0].decision.score is not None
            tell_wrong(page, what, ranked, described, errors, sure=sure, more="--json has")
    seconds(page, trial)
    return page.text()


def head(page: CommandReport, trial: IdentificationTrial, call: EvaluateOptions) -> None:
    yes = sum(example.nfh for example in trial.examples)
    size = len(trial.examples)
    place = scope_words(trial, call)
    page.say(
        f"Identification on {counted(size, 'labelled number')} of {place}: "
        f"{yes:,} NFHs, {size - yes:,} others"
    )
    for note in notes_of(trial):
        page.note(note)
    if trial.no_number:
        page.note(
            f"{counted(trial.no_number, 'label')} at words that are not numbers; counted like "
            "the others"
        )
    for sentence in {
        one.system.training_set.sentence() for one in trial.judged if one.system.training_set
    }:
        page.note(sentence)
    if not size:
        page.note("there is nothing to measure: no item here has a label")
    if size and yes in (0, size):
        only = "an NFH" if yes else "no NFH"
        page.note(f"every label says {only}, so the other kind of error cannot occur")


# --- figures --------------------------------------------------------------------------------


def _figures_table(page: CommandReport, both: Found, call: EvaluateOptions) -> None:
    page.title("Percent")
    rows: list[tuple[str, ...]] = []
    for judged, found in both:
        measures = (found.precision, found.recall, found.f1, found.accuracy)
        rows.append((system_label(judged.system), *(percent(one.value) for one in measures)))
        if call.resamples:
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
    print_notes(page, call)


def print_notes(page: CommandReport, call: EvaluateOptions) -> None:
    """Notes on how to read the table of figures."""
    for note in (
        *interval_notes(call),
        "the paper's figures are of its own data, not of this",
    ):
        page.note(note)


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


def _versus(page: CommandReport, versus: Sequence[SystemPair[IdentifierComparison]]) -> None:
    if not versus:
        return
    page.title("Difference in F1, on the same examples")
    page.table(
        ("", *DIFFERENCE),
        [(f"{one.first} less {one.second}", *difference_row(one.found)) for one in versus],
    )
    page.note(
        "only 1st, only 2nd: numbers that only this model decides rightly; p: paired bootstrap"
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
    """The figures of parts; of several systems only what each decides wrongly."""
    alone, first = len(both) == 1, both[0][1]
    columns = (
        ("precision:", "recall:", "F1:", "wrong:")
        if alone
        else tuple(f"{judged.system.name} wrong:" for judged, _ in both)
    )
    for title, column, key, most in (
        ("By what the number is written with", "written with", "by_kind", None),
        ("By length", "length", "by_length", None),
        (_word_title(first), "number", "by_word", WORDS),
    ):
        known = [{part.name: part.counts for part in getattr(one, key)} for _, one in both]
        rows = []
        for name, counts in islice(known[0].items(), most):
            wrong = (f"{one[name].wrong:,}" for one in known)
            rows.append(
                (
                    visible(name, 24),
                    f"{counts.n:,}",
                    f"{counts.nfh:,}",
                    *(_percents(counts) if alone else ()),
                    *wrong,
                )
            )
        page.title(title)
        page.table((column, "n:", "NFH:", *columns), rows)


def _percents(counts: DecisionCounts) -> tuple[str, ...]:
    return tuple(map(percent, (counts.precision, counts.recall, counts.f1)))


def _word_title(found: IdentificationEvaluation) -> str:
    words = len(found.by_word)
    if words <= WORDS:
        return "By the number's words"
    return f"By the number's words, the {WORDS} most frequent of {words:,}"


# --- errors ---------------------------------------------------------------------------------


def worst(errors: Sequence[Error]) -> list[Error]:
    """Errors by descending score where they have scores, else unchanged."""
    return sorted(errors, key=lambda one: -abs(one.decision.score or 0.0))


def described(error: Error) -> tuple[str, str]:
    """A wrong decision in words, where, label, decision, rule and weights; its sentence."""
    decision = error.decision
    label, said = ("NFH", "not") if error.example.nfh else ("not", "NFH")
    why = decision.rule
    if decision.score is not None:
        why += f" {decision.score:+.2f}"
    weights = [f"{name} {weight:+.2f}" for name, weight in decision.weights[:WEIGHTS_SHOWN]]
    if weights:
        why += f": {', '.join(weights)}"
    told = f"{error.example.where}: label {label}, decided {said} ({why})"
    return told, around_number(*error_excerpt(error))


def seconds(page: CommandReport, trial: IdentificationTrial) -> None:
    if len(trial.judged) > MOST_SYSTEMS:
        total = sum(judged.seconds for judged in trial.judged)
        told = [f"fitting and deciding, all {len(trial.judged)} together: {total:.1f}"]
    else:
        told = [
            f"{'fitting and ' if judged.system.cross else ''}deciding, {judged.system.name}: "
            f"{judged.seconds:.1f}"
            for judged in trial.judged
        ]
    tell_seconds(page, trial, told)


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


@dataclass(frozen=True, slots=True)
class Ablation:
    """A recipe, whole and without each part that can be left out."""

    trial: IdentificationTrial
    recipe: str
    rows: Sequence[AblationRow]

    def json(self, call: EvaluateOptions) -> Json:
        trial, first = self.trial, self.trial.judged[0].system
        return trial_json(trial, call) | {
            "ablation": self.recipe,
            "folds": first.folds,
            "trained_on": trained_on(first),
            "rows": [_row_json(row) for row in self.rows],
            "seconds": round(trial.parsing + sum(one.seconds for one in trial.judged), 3),
            "seconds_parsing": round(trial.parsing, 3),
        }

    def text(self, call: EvaluateOptions) -> str:
        page, trial = CommandReport(), self.trial
        head(page, trial, call)
        if trial.examples:
            page.title(_title(trial, self.recipe))
            table = _rules_table if self.recipe == RULES else _features_table
            table(page, self.rows)
            page.note("lost: points of F1 without what is left out")
            print_notes(page, call)
        seconds(page, trial)
        return page.text()

    def page(self, call: EvaluateOptions) -> list[str]:
        return html(f"Ablation of {self.recipe}", self.text(call))


def ablation(call: EvaluateOptions) -> Ablation:
    """The ablation of the recipe that the call names. Raises UsageError."""
    recipe = call.models[0] if call.models else SVM
    if recipe not in (SVM, RULES) or len(call.models) > 1:
        raise click.UsageError(f"--ablation needs one recipe: --model {SVM} or {RULES}")
    if recipe == RULES and call.sets:
        raise click.UsageError("--set is of svm: the recipe rules is not fitted")
    trial = held(call, (lambda *_: rules_without()) if recipe == RULES else _without_features)
    return Ablation(trial, recipe, _rows(call, trial, recipe))


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
            names.get(removal.name, removal.name),
            removal.settings(whole),
            training_set,
            call.folds or DEFAULT_FOLDS,
            call.seed,
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


# --- the ablation in JSON and in words ------------------------------------------------------


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
                row.judged.system.name,
                *_percents(row.counts),
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
                *_percents(row.counts),
                *_lost(row, places=2),
            )
            for row in (rows[0], *order)
        ],
    )


def _value(row: AblationRow) -> float | None:
    return row.versus.difference.value if row.versus else None


def _lost(row: AblationRow, places: int = 1) -> tuple[str, str]:
    value = _value(row)
    if row.versus is None or value is None:
        return "", ""
    gap = row.versus.difference
    return percent(value, places), difference_interval(gap.low, gap.high, places)


# --- the trial ------------------------------------------------------------------------------

MakeSystems = Callable[
    [EvaluateOptions, "Store | None", FoldExamples | None], Sequence[IdentificationSystem]
]


def held(
    call: EvaluateOptions, systems_of: MakeSystems, tell: Tell | None = None
) -> IdentificationTrial:
    """Run the trial of the systems that `systems_of` makes, and print its warnings.

    tell: the progress callback, in place of the terminal. Raises what reading, parsing and
    fitting raise.
    """
    with open_source(call, looks_up=_looks_up(call)) as store, progress_of(tell) as step:
        source = examples_of(Examples, call, store)
        training_set = _training_set(call, step)
        systems = systems_of(call, store, training_set)
        layers = layers_needed(systems)
        parser = load_parser(call.parser, layers) if layers else None
        if training_set is not None:
            training_set.parser = parser
        trial = hold_identification(source, systems, parser, step)
        found = [
            said
            for one in systems
            if one.identifier and (said := other_parser(one.identifier, one.name, parser))
        ]
        trial = with_seen(store, replace(trial, warnings=(*trial.warnings, *found)))
    warn(trial.warnings)
    return trial


def _looks_up(call: EvaluateOptions) -> bool:
    if call.ablation:
        return False
    if not call.models:
        return not call.fits
    known = (RULES, *TRAINED) if call.fits else (RULES,)
    return any(spec not in known and not Path(spec).is_dir() for spec in call.models)


def _training_set(call: EvaluateOptions, step: Tell) -> FoldExamples | None:
    if call.train is None:
        return None
    source = Examples.of_file(call.train, blind=call.blind)
    return FoldExamples(source, lambda done, total: step("parsed to learn from", done, total))


def named(
    call: EvaluateOptions, store: "Store | None", training_set: FoldExamples | None
) -> list[IdentificationSystem]:
    """The systems that --model names, else the active model, or svm where recipes are
    fitted."""
    folds = call.folds or DEFAULT_FOLDS
    specs: Sequence[str | None] = call.models or ((SVM,) if call.fits else (None,))
    found = []
    for spec in specs:
        if spec == SVM and call.fits:
            found.append(fitted(SVM, settings(call), training_set, folds, call.seed))
            continue
        chosen = identifier_for(store, spec, register=False)
        found.append(
            IdentificationSystem.ready(
                chosen.name, chosen.model, chosen.model_id, chosen.folder
            )
        )
    check_names(one.name for one in found)
    return found


def settings(call: EvaluateOptions) -> "SvmSettings":
    """The settings of `svm` that --set names. Raises SettingError."""
    from nfh_models.identification.svm import plan_of

    return plan_of(call.sets).settings


# --- JSON ------------------------------------------------------------------------------------

MEASURES = ("precision", "recall", "f1", "accuracy")
DECISION_FIGURES = f"n nfh {' '.join(MEASURES)}"
"""Keys of the figures that follow from counts."""


def trial_json(trial: IdentificationTrial, call: EvaluateOptions) -> Json:
    """What was measured on, and what was left out of it."""
    saw_model = sum(example.saw_model for example in trial.examples)
    own = {"no_number": trial.no_number, "saw_model": saw_model}
    return held_on(trial, IDENTIFICATION, call) | own


def _model(
    trial: IdentificationTrial, judged: DecidedExamples, found: IdentificationEvaluation
) -> Json:
    system, counts = judged.system, found.counts
    parsing = trial.parsing if system.needs else 0.0
    return {
        **picked(system, "model=name recipe version model_id folds"),
        "trained_on": trained_on(system),
        "seen": judged.seen,
        **picked(counts, DECISION_FIGURES),
        "groups": found.groups,
        "ci95": {
            name: interval_ends(getattr(found, name))
            for name in ("precision", "recall", "f1", "accuracy")
        },
        "confusion": {"labels": LABELS, "rows": counts.rows},
        "seconds": round(parsing + judged.seconds, 3),
        "seconds_parsing": round(parsing, 3),
        "per_rule": [
            {
                "rule": part.name,
                "n": part.counts.n,
                "called_nfh": part.counts.hit + part.counts.false,
                **picked(part.counts, "right wrong accuracy"),
            }
            for part in found.by_rule
        ],
        "per_word": _parts_json("word", found.by_word),
        "per_kind": _parts_json("kind", found.by_kind),
        "per_length": _parts_json("length", found.by_length),
        "errors": [error(one) for one in found.errors],
    }


def trained_on(system: IdentificationSystem) -> Json | None:
    """What a system was trained on for this evaluation; None of one that was not."""
    if system.training_set is None:
        return None
    return picked(system.training_set, "file=name examples=size left_out=dropped")


def _parts_json(key: str, parts: Iterable[PartCounts]) -> list[Json]:
    keys = f"{DECISION_FIGURES} wrong"
    return [{key: part.name} | picked(part.counts, keys) for part in parts]


def error(one: Error) -> Json:
    """A wrong decision. start, end: code points of the text, end-exclusive."""
    text, start, end = error_excerpt(one)
    return {
        "where": one.example.where,
        "text": text,
        "start": start,
        "end": end,
        "label": LABELS[not one.example.nfh],
        "decision": LABELS[not one.decision.nfh],
        **picked(one.decision, "rule score weights"),
    }


def error_excerpt(one: Error) -> tuple[str, int, int]:
    """The sentence of an error, and the code points [start, end) of its number."""
    case = one.example.case
    words, spaces = case.word_span.words, case.word_span.spaces
    starts = []
    text = ""
    for word, space in zip(words, spaces, strict=True):
        starts.append(len(text))
        text += word + " " * space
    end = starts[case.end - 1] + len(words[case.end - 1])
    return text.rstrip(), starts[case.start], end


def _versus_json(one: SystemPair[IdentifierComparison]) -> Json:
    gap = one.found.difference
    return {
        "first": one.first,
        "second": one.second,
        "f1_difference": gap.value,
        "ci95": interval_ends(gap),
        **picked(one.found, "p only_first_right=only_first only_second_right=only_second"),
        "why": gap.why,
    }
