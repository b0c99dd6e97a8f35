"""`nfh-tui evaluate resolution`: the trial, and its report in words, tables and JSON, beside
the paper's figures.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from nfh_db.messages import counted, visible
from nfh_models.domain import Passage
from nfh_models.parsing.base import load_parser
from nfh_models.resolution import scoring
from nfh_models.resolution.evaluation import (
    Calibration,
    Paired,
    ResolutionEvaluation,
    compare,
    evaluate,
)
from nfh_models.resolution.recipes import NEAREST, TRAINED, load_resolver
from nfh_models.resolution.scoring import (
    COLUMNS,
    LABELS,
    REF_WRONG,
    ClassPart,
    HeadFigures,
    Mistake,
    ScoredExample,
    ScoredSystem,
    WrongExample,
    on_references,
    score_of,
)
from nfh_tui.cli.evaluate_call import (
    DIFFERENCE,
    RESOLUTION,
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
from nfh_tui.display_figures import NONE, percent
from nfh_tui.services.evaluate import (
    ResolutionSystem,
    ResolutionTrial,
    ResolvedExamples,
    hold_resolution,
    layers_needed,
    other_parser,
    system_for,
    with_seen,
)
from nfh_tui.services.examples import ResolutionExamples, resolution_examples_of_package

if TYPE_CHECKING:
    from nfh_db.store import Store


NOUNS = ("first", "last", "closest", "closest-before")
"""The noun baselines, the paper's three first (section 6.3)."""
NAMES = "+names"
"""After a baseline's kind: names count as nouns."""

COMPARED = ("accuracy", "accuracy_inclusive", "accuracy_nearest")
"""Figures by which two models are compared; they are always shown together."""


Row = tuple[str, ...]
Both = Sequence[tuple[ResolutionSystem, ResolutionEvaluation]]


@dataclass(frozen=True, slots=True)
class ResolutionResult:
    """The trial with its figures.

    evaluations: one for each system of the trial, in their order. baselines: the noun baselines
    and the systems on References alone; empty where nobody asked for them.
    """

    trial: ResolutionTrial
    evaluations: tuple[ResolutionEvaluation, ...]
    versus: tuple[SystemPair[list[Paired]], ...]
    baselines: tuple[ScoredSystem, ...]

    @property
    def pairs(self) -> Both:
        """Each system with its figures."""
        systems = (judged.system for judged in self.trial.judged)
        return list(zip(systems, self.evaluations, strict=True))

    def json(self, call: EvaluateOptions) -> Json:
        return as_json(self, call)

    def text(self, call: EvaluateOptions) -> str:
        return as_text(self, call)

    def page(self, call: EvaluateOptions) -> list[str]:
        """The page of the report, with all errors."""
        from nfh_tui.cli.evaluation_page import as_page

        return as_page(self, call)


def measured(call: EvaluateOptions, tell: Tell | None = None) -> ResolutionResult:
    """Run the trial, measure it, and print its warnings.

    tell: the progress callback, in place of the terminal. Raises what reading, parsing and the
    models raise.
    """
    with open_source(call, looks_up=True) as store, progress_of(tell) as step:
        source = (
            resolution_examples_of_package()
            if call.several_heads
            else examples_of(ResolutionExamples, call, store)
        )
        systems = _systems(call, store)
        baselines = [
            ResolutionSystem(f"{NEAREST}:{kind}", load_resolver(NEAREST, spec=kind))
            for kind in (*NOUNS, *(f"{kind}{NAMES}" for kind in NOUNS))
            if call.baselines
        ]
        everybody = [*systems, *baselines]
        layers = layers_needed(everybody)
        parser = load_parser(call.parser, layers) if layers else None
        trial = hold_resolution(source, everybody, parser, step)
        strange = [other_parser(one.resolver, one.name, parser) for one in systems]
        warnings = [
            *trial.warnings,
            *(one.aside for one in systems if one.aside),
            *(said for said in strange if said is not None),
        ]
        step("measuring", 0, 0)
        trial = with_seen(store, replace(trial, warnings=tuple(warnings)))
        found = _found(trial, len(systems), call)
    warn(found.trial.warnings)
    return found


def _found(whole: ResolutionTrial, systems: int, call: EvaluateOptions) -> ResolutionResult:
    """systems: how many of those in the trial are no baselines."""
    trial = replace(whole, judged=whole.judged[:systems])
    evaluations = tuple(
        evaluate(
            trial.examples,
            one.choices,
            answers=one.answers,
            probabilities=one.system.resolver.probabilities,
            resampling=call.resampling,
        )
        for one in trial.judged
    )
    baselines: tuple[ScoredSystem, ...] = ()
    if call.baselines:
        said = {one.system.name: one.choices for one in reversed(whole.judged)}
        baselines = on_references(trial.examples, dict(reversed(said.items())))
    pairs = zip(trial.judged, evaluations, strict=True)
    versus = every_two(
        {one.system.name: found.judged for one, found in pairs},
        lambda a, b: [compare(a, b, call.resampling, measure) for measure in COMPARED],
    )
    return ResolutionResult(trial, evaluations, versus, baselines)


def _systems(call: EvaluateOptions, store: "Store | None") -> list[ResolutionSystem]:
    """The systems that --model names, else the active model."""
    specs: Sequence[str | None] = call.models or (None,)
    found = [system_for(store, spec) for spec in specs]
    names = [one.name for one in found]
    # Models in two folders may have one name: then the folder is the name.
    called = [
        replace(one, name=spec)
        if spec is not None and one.model_id is None and names.count(one.name) > 1
        else one
        for one, spec in zip(found, specs, strict=True)
    ]
    check_names(one.name for one in called)
    return called


AROUND_ERROR = 300
"""Code points of a passage on either side of an anchor that an error quotes."""


ACCURACIES = "accuracy accuracy_inclusive accuracy_nearest"
OF_REFERENCES = "reference reference_inclusive reference_nearest"
RESOLUTION_FIGURES = (
    f"n answered=answered_n {ACCURACIES} binary class_accuracy references=reference_n "
    f"{OF_REFERENCES} implicit"
)
"""Keys of the figures that follow from counts; they are those of all examples."""
HEADS = "n exact precision recall f1 relations=relation_n relation"
"""Keys of how well heads are found as nouns."""
CALIBRATION = "n temperature temperature_halves=halves before after"


def as_json(found: ResolutionResult, call: EvaluateOptions) -> Json:
    trial = found.trial
    share = trial.saw_model / len(trial.examples) if trial.examples else None
    baselines = [
        picked(one, "model=name n=figures.reference_n") | picked(one.figures, OF_REFERENCES)
        for one in found.baselines
    ]
    return whole_report(
        {
            **held_on(trial, RESOLUTION, call),
            **picked(trial, "unknown saw_model"),
            "saw_model_share": share,
            **({"baselines": baselines} if baselines else {}),
        },
        [
            _model(trial, one, evaluation)
            for one, evaluation in zip(trial.judged, found.evaluations, strict=True)
        ],
        [
            {"first": one.first, "second": one.second, "tests": list(map(_test, one.found))}
            for one in found.versus
        ],
    )


def _model(trial: ResolutionTrial, said: ResolvedExamples, found: ResolutionEvaluation) -> Json:
    heads, calibration = found.heads, found.calibration
    parsing = trial.parsing if said.system.needs else 0.0
    return {
        **picked(
            said.system,
            "model=name recipe=resolver.recipe version=resolver.version model_id",
        ),
        "seen": said.seen,
        **picked(found.figures, RESOLUTION_FIGURES),
        **picked(found, "groups lost"),
        "heads": heads and picked(heads, HEADS),
        "heads_several": found.heads_several and picked(found.heads_several, HEADS),
        "mentions": heads
        and {"exact": heads.exact_mentions, **picked(heads.mentions, "precision recall f1")},
        "ci95": {name: interval_ends(measure) for name, measure in found.ci95.items()},
        "confusion": {"labels": COLUMNS, **picked(found.confusion, "rows unanswered")},
        "ece": calibration and calibration.before.ece,
        "calibration": calibration and picked(calibration, CALIBRATION),
        "noun_calibration": found.noun_calibration
        and picked(found.noun_calibration, CALIBRATION),
        "oracle": found.oracle and picked(found.oracle, RESOLUTION_FIGURES),
        "seconds": round(parsing + said.seconds, 3),
        "seconds_parsing": round(parsing, 3),
        "per_class": [
            picked(one, "class=label n predicted precision recall f1 accuracy")
            for one in found.by_class
        ],
        **{
            f"per_{key}": [
                {key: part.name} | picked(part.figures, RESOLUTION_FIGURES)
                for part in getattr(found, f"by_{key}")
            ]
            for key in ("word", "shape", "distance", "turns", "side")
        },
        "per_error": [picked(one, "kind=mistake n share") for one in found.by_mistake],
        "errors": [error(one) for one in found.mistakes],
    }


def _test(one: Paired) -> Json:
    return picked(one, "figure=measure first second difference=difference.value") | {
        "ci95": interval_ends(one.difference),
        **picked(one, "p sign_flips mcnemar_p both_right=both only_first_right=only_first"),
        **picked(one, "only_second_right=only_second neither_right=neither"),
        "why": one.difference.why,
    }


# --- errors ---------------------------------------------------------------------------------


def error(one: WrongExample) -> Json:
    """A wrong answer. start, end: code points of the text, end-exclusive."""
    judged = one.judged
    item, choice = judged.example.item, judged.choice
    text, start, end = judged_excerpt(judged)
    return {
        "where": judged.example.where,
        "kind": one.mistake,
        "text": text,
        "start": start,
        "end": end,
        "anchor": (item.anchor.start, item.anchor.end),
        "label": judged.gold,
        "heads": [_token(judged, at) for at in judged.example.gold.head_tokens()],
        "answer": judged.predicted,
        "token": None if judged.token is None else _token(judged, judged.token),
        "score": confidence(judged),
        "second": None if choice is None else choice.second,
        "margin": None if choice is None else choice.margin,
    }


def _token(judged: ScoredExample, at: int) -> Json:
    return {"token": at, "word": judged.example.item.passage.word(at)}


def confidence(judged: ScoredExample) -> float | None:
    """The score of what was chosen; None where it has none."""
    choice = judged.choice
    return None if choice is None else score_of(choice, choice.choice)


def judged_excerpt(judged: ScoredExample) -> tuple[str, int, int]:
    """Text around an anchor, and the code points [start, end) in it that are the anchor."""
    passage, anchor = judged.example.item.passage, judged.example.item.anchor
    first, last = passage.code_points(anchor)
    start = max(0, first - AROUND_ERROR)
    return passage.text[start : last + AROUND_ERROR], first - start, last - start


def worst(mistakes: Sequence[WrongExample], *, probabilities: bool) -> list[WrongExample]:
    """Errors by descending score where scores are probabilities, else unchanged."""
    if not probabilities:
        return list(mistakes)
    return sorted(mistakes, key=lambda one: -(confidence(one.judged) or 0.0))


LONGEST_WORD = 48


def words_of(passage: Passage, tokens: Iterable[int], most: int = 6) -> str:
    """The words at tokens, each spelling once, in their order."""
    words = list(dict.fromkeys(visible(passage.word(at), LONGEST_WORD) for at in tokens))
    return ", ".join(words[:most]) + (", …" if len(words) > most else "")


LONGEST_NAME = 22


@dataclass(slots=True)
class ReportTable:
    """A table with its heading. A column whose name ends in ":" holds numbers.

    notes: sentences below it. styles: of each row, see `add`.
    """

    title: str
    columns: Row
    notes: Sequence[str] = ()
    rows: list[Row] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)

    def add(self, *cells: str, style: str = "") -> None:
        """Add a row. style: "lead" and "sub" of a row and the smaller one below it, "paper" of
        one whose figures are the paper's."""
        self.rows.append(cells)
        self.styles.append(style)

    def add_measured(self, pairs: Both, call: EvaluateOptions, names: Sequence[str]) -> None:
        """Add the figures of `names` of each system, and their intervals, if there are any."""
        for system, one in pairs:
            value = [_value(one, name) for name in names]
            self.add(short(system.name), *value, style="lead" if call.resamples else "")
            if call.resamples:
                self.add(INTERVAL, *(_interval(one, name) for name in names), style="sub")

    def add_paper(self, what: str, data: str, *cells: str) -> None:
        """Add a row of the paper's. what, data: a model of it, and the data that it saw."""
        name = {scoring.PLAIN: "paper", scoring.ELMO: "paper with ELMo"}
        told = data.removeprefix("its ").removesuffix(" set")
        self.add(f"{name.get(what, f'paper: {what}')}, {told}", *cells, style="paper")


# --- what is measured -----------------------------------------------------------------------


def head(found: ResolutionResult, call: EvaluateOptions) -> tuple[str, list[str]]:
    trial = found.trial
    size = len(trial.examples)
    references = sum(bool(example.gold.heads) for example in trial.examples)
    place = scope_words(trial, call)
    first = (
        f"Resolution on {counted(size, 'labelled number')} of {place}: "
        f"{counted(references, 'Reference')}, {size - references:,} of the six classes"
    )
    notes = list(notes_of(trial))
    if trial.unknown:
        notes.append(f"{counted(trial.unknown, 'label')} UNKNOWN, counted as OTHER")
    if trial.saw_model:
        share = percent(trial.saw_model / size)
        notes.append(
            f"{counted(trial.saw_model, 'label')} ({share} %) given with a model's answer in "
            "view, which may favour models; --blind leaves them out"
        )
    notes += list(_reservations(found, size, references))
    return first, notes


def _reservations(found: ResolutionResult, size: int, references: int) -> Iterator[str]:
    if not size:
        yield "there is nothing to measure: no item here has a label that names a head"
        return
    if not references:
        yield "no label is a Reference, so heads are not measured"
    elif references == size:
        yield "every label is a Reference, so classes are not measured"
    for system, one in found.pairs:
        if one.figures.answered_n < size:
            silent = size - one.figures.answered_n
            yield (
                f"{system.name} does not answer {silent:,} of them, which count as "
                f"wrong. Of the others {percent(one.figures.accuracy_answered)} % are right"
            )
        if one.lost:
            yield (
                f"{system.name} cannot see or choose any gold head of "
                f"{counted(one.lost, 'Reference')}: they are too far off, or not candidates "
                "by its rules"
            )


def short(name: str) -> str:
    """A model's name, cut where it is too long for a column."""
    return visible(name, LONGEST_NAME)


# The figures of an evaluation of resolution as tables, beside the paper's.
#
# The same rows stand on a terminal and on a page.

INTERVAL = "  95 % interval"


def tables(
    found: ResolutionResult, call: EvaluateOptions, *, oracle: bool
) -> Iterator[ReportTable]:
    """The tables of figures, in order, without empty ones."""
    pairs = found.pairs
    yield _accuracies(pairs, call)
    yield _kinds(pairs, call)
    if any(one.heads is not None and one.heads.n for _, one in pairs):
        yield _heads(pairs, call)
    if oracle:
        yield _oracle(pairs)
    if found.baselines:
        yield _baselines_table(found)
    yield _calibrations(pairs)
    if found.versus:
        yield _versus_table(found)


def _value(one: ResolutionEvaluation, name: str) -> str:
    if (measure := one.ci95.get(name)) is not None:
        return percent(measure.value)
    return percent(getattr(one.figures, name))


def _interval(one: ResolutionEvaluation, name: str) -> str:
    measure = one.ci95.get(name)
    return NONE if measure is None else interval_words(measure)


def _accuracies(pairs: Both, call: EvaluateOptions) -> ReportTable:
    notes = (
        "right are: accuracy, any gold mention; inclusive, also a word spelled like one (the "
        "figure that the paper prints); nearest, the nearest gold mention alone",
        *interval_notes(call),
        "paper: on its own dev and test sets, by a model of 7,447 training examples",
    )
    columns = ("", "accuracy:", "inclusive:", "nearest:")
    table = ReportTable("Accuracy in percent", columns, notes)
    table.add_measured(pairs, call, COMPARED)
    for one in scoring.RESULTS:
        table.add_paper(one.what, one.data, NONE, f"{one.percent:.1f}", NONE)
    below = scoring.LINEAR_BELOW
    table.add_paper(below.what, below.data, NONE, f"under {below.percent:.0f}", NONE)
    return table


def _kinds(pairs: Both, call: EvaluateOptions) -> ReportTable:
    names = ("binary", "class_accuracy", "reference", "reference_inclusive", "implicit")
    note = (
        "binary: word or class; class: the seven classes, any word is REFERENCE; Reference, "
        "Implicit: accuracy within gold of the kind, inclusive as above"
    )
    columns = ("", "binary:", "class:", "Reference:", "inclusive:", "Implicit:")
    table = ReportTable("Reference and classes", columns, (note,))
    table.add_measured(pairs, call, names)
    for what in (scoring.PLAIN, scoring.ELMO):
        known = {
            one.figure: f"{one.percent:.1f}"
            for one in (*scoring.KINDS_TOLD, *scoring.BY_KIND)
            if one.what == what
        }
        table.add_paper(what, scoring.DEV, *(known.get(name, NONE) for name in names))
    return table


def _heads(pairs: Both, call: EvaluateOptions) -> ReportTable:
    notes = (
        "heads by noun, whichever mention is named; exact: the same set of nouns; mentions: F1 "
        "over the single words; with two nouns: gold names two different ones",
        *_relations(pairs),
    )
    n = next(one.heads.n for _, one in pairs if one.heads is not None)
    columns = ("", "exact:", "precision:", "recall:", "F1:", "mentions:")
    table = ReportTable(f"Heads of {counted(n, 'Reference')}: percent", columns, notes)
    for system, one in pairs:
        if one.heads is None:
            continue
        table.add(short(system.name), *_head_row(one.heads), style="lead")
        if call.resamples:
            names = ("heads_exact", "heads_f1", "mentions_f1")
            exact, nouns, words = (_interval(one, name) for name in names)
            table.add(INTERVAL, exact, "", "", nouns, words, style="sub")
        some = one.heads_several
        if some is not None and some.n:
            table.add(f"  {some.n:,} with two nouns", *_head_row(some), style="sub")
    return table


def _head_row(one: HeadFigures) -> tuple[str, ...]:
    values = (one.exact, one.precision, one.recall, one.f1, one.mentions.f1)
    return tuple(percent(value) for value in values)


def _relations(pairs: Both) -> Iterator[str]:
    for system, one in pairs:
        if one.heads is not None and one.heads.relation_n:
            yield (
                f"{system.name}: the relation, AND or OR, is right in "
                f"{one.heads.relation_right:,} of the {one.heads.relation_n:,} in which gold "
                "states one"
            )


# --- oracle, baselines, calibration ---------------------------------------------------------


def _oracle(pairs: Both) -> ReportTable:
    notes = (
        *(_told_so(system, one) for system, one in pairs),
        "the paper limits the candidates in training, too",
    )
    table = ReportTable(
        "Oracle: percent with candidates of the right kind only",
        ("", "Reference:", "inclusive:", "Implicit:"),
        notes,
    )
    for system, one in pairs:
        names = ("reference", "reference_inclusive", "implicit")
        values = (getattr(one.oracle, name, None) for name in names)
        table.add(short(system.name), *map(percent, values))
    for what in (scoring.PLAIN, scoring.ELMO):
        known = {one.figure: one.percent for one in scoring.BY_KIND if one.what == what}
        reference, implicit = known["oracle reference"], known["oracle implicit"]
        table.add_paper(what, scoring.DEV, NONE, f"{reference:.1f}", f"{implicit:.1f}")
    return table


def _told_so(system: ResolutionSystem, one: ResolutionEvaluation) -> str:
    """A note whether a model was trained for candidates of one kind."""
    if (only := one_kind(one)) is None:
        return f"{system.name}: limited in this test only; it chooses among words and classes"
    trained = system.resolver.recipe in TRAINED
    how = "was trained to choose" if trained else "chooses"
    return f"{system.name} {how} among {only} alone"


def one_kind(one: ResolutionEvaluation) -> str | None:
    """The kind of the candidates if they are of one kind: "words" or "classes"."""
    words = classes = False
    for judged in one.judged:
        scores = judged.choice.scores if judged.choice is not None else ()
        classes = classes or any(score is not None for score in scores[:6])
        words = words or any(score is not None for score in scores[6:])
        if words and classes:
            return None
    return {(True, False): "words", (False, True): "classes"}.get((words, classes))


def _baselines_table(found: ResolutionResult) -> ReportTable:
    n = next((one.figures.reference_n for one in found.baselines), 0)
    table = ReportTable(
        f"A noun by its place: percent of {counted(n, 'Reference')}",
        ("", "accuracy:", "inclusive:", "nearest:"),
        ("+names: names count as nouns; else they are taken where there is no noun",),
    )
    for one in found.baselines:
        table.add(one.name, *map(percent, picked(one.figures, OF_REFERENCES).values()))
    for told in scoring.BASELINES:
        table.add(f"paper: {told.what}", f"{told.percent:.1f}", NONE, NONE, style="paper")
    return table


def _calibrations(pairs: Both) -> ReportTable:
    columns = ("", "ECE:", "scaled:", "chance:", "temperature:", "NLL:", "scaled:")
    table, notes = ReportTable("Calibration", columns), []
    for system, one in pairs:
        if one.calibration is not None:
            table.add(short(system.name), *_calibration_row(one.calibration), style="lead")
            if one.noun_calibration is not None:
                table.add("  by noun", *_calibration_row(one.noun_calibration), style="sub")
    if table.rows:
        notes.append(
            "ECE in points over 15 bins; scaled: each half of the passages by the temperature "
            "that fits the other; chance: the ECE that exact probabilities have on average on "
            "so few; by noun: all mentions of the chosen noun together"
        )
    silent = [system.name for system, one in pairs if one.calibration is None]
    if silent:
        notes.append(f"{', '.join(silent)}: no probabilities, so nothing to calibrate")
    table.notes = notes
    return table


def _calibration_row(one: Calibration) -> tuple[str, ...]:
    after = one.after
    return (
        percent(one.before.ece),
        NONE if after is None else percent(after.ece),
        percent((after or one.before).chance),
        NONE if one.temperature is None else f"{one.temperature:.2f}",
        _nats(one.before.nll),
        NONE if after is None else _nats(after.nll),
    )


def _nats(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _versus_table(found: ResolutionResult) -> ReportTable:
    note = "only 1st, only 2nd: numbers that only this model gets right; p: paired bootstrap"
    rows = [
        (
            f"{short(one.first)} less {short(one.second)}",
            test.measure.removeprefix("accuracy_"),
            *difference_row(test),
        )
        for one in found.versus
        for test in one.found
    ]
    return ReportTable(
        "Difference, on the same examples", ("", "by", *DIFFERENCE), (note,), rows
    )


# An evaluation of resolution taken apart: by class, by word, by distance, by what went wrong.
#
# The same rows stand on a terminal and on a page.

WORDS = 15
"""Anchor words that the table names; --json has all that occur five times."""


def breakdowns(pairs: Both) -> Iterator[ReportTable]:
    """By class, by the anchor's words and shape, and by where the heads are."""
    yield from _classes(pairs)
    yield from _by_something(pairs)


def _classes(pairs: Both) -> Iterator[ReportTable]:
    columns = ("gold", "n:", "answered:", "precision:", "recall:", "F1:", "right:")
    for system, one in pairs:
        name = f" of {system.name}" if len(pairs) > 1 else ""
        yield ReportTable(
            f"By class{name}: percent",
            columns,
            ("precision, recall, F1: any word is REFERENCE; right: it is a gold head, too",),
            [_class_row(part) for part in one.by_class if part.n or part.predicted],
        )


def _class_row(one: ClassPart) -> tuple[str, ...]:
    values = (one.precision, one.recall, one.f1, one.accuracy)
    return (one.label, f"{one.n:,}", f"{one.predicted:,}", *map(percent, values))


def _by_something(pairs: Both) -> Iterator[ReportTable]:
    kinds: tuple[tuple[str, str, str], ...] = (
        ("By the number's words, the most frequent", "number", "by_word"),
        ("By what the number is written with", "written with", "by_shape"),
        ("References by distance to the nearest head", "distance", "by_distance"),
        ("References by turns to the nearest head", "turns", "by_turns"),
        ("References by the side of their heads", "heads", "by_side"),
    )
    alone = len(pairs) == 1
    columns = (
        ("accuracy:", "inclusive:", "nearest:")
        if alone
        else tuple(f"{short(system.name)}:" for system, _ in pairs)
    )
    for title, column, key in kinds:
        known = [{part.name: part.figures for part in getattr(one, key)} for _, one in pairs]
        rows = []
        for name, figures in islice(known[0].items(), WORDS if key == "by_word" else None):
            if alone:
                values = [getattr(figures, one) for one in COMPARED]
            else:
                values = [getattr(one.get(name), "accuracy", None) for one in known]
            rows.append((visible(name, 24), f"{figures.n:,}", *map(percent, values)))
        if rows:
            what = "percent" if alone else "accuracy in percent"
            yield ReportTable(f"{title}: {what}", (column, "n:", *columns), rows=rows)


def confusion(one: ResolutionEvaluation) -> tuple[Row, list[Row]]:
    """The columns and rows of a confusion matrix that fits a terminal."""
    short_names = {"CURRENCY": "CURR.", "REFERENCE": "REF.", REF_WRONG: "WRONG"}
    silent = any(one.confusion.unanswered)
    columns = [f"{short_names.get(name, name)}:" for name in COLUMNS]
    rows = [
        (label, *(f"{cell:,}" for cell in cells), *([f"{none:,}"] if silent else []))
        for label, cells, none in zip(
            LABELS, one.confusion.rows, one.confusion.unanswered, strict=True
        )
    ]
    return ("gold", *columns, *(["none:"] if silent else [])), rows


def mistakes(pairs: Both) -> ReportTable:
    """Wrong answers by kind, a column for each system."""
    counts = [{one.mistake: one.n for one in found.by_mistake} for _, found in pairs]
    kinds = [kind for kind in Mistake if any(kind in some for some in counts)]
    kinds.sort(key=lambda kind: -counts[0].get(kind, 0))
    if len(pairs) == 1:
        columns: tuple[str, ...] = ("", "wrong:", "share:")
        total = sum(counts[0].values())
        rows: list[Row] = [
            (kind.value, f"{counts[0][kind]:,}", percent(counts[0][kind] / total))
            for kind in kinds
        ]
    else:
        columns = ("", *(f"{short(system.name)}:" for system, _ in pairs))
        rows = [(kind.value, *(f"{some.get(kind, 0):,}" for some in counts)) for kind in kinds]
    return ReportTable("Wrong answers by kind", columns, rows=rows)


def as_text(found: ResolutionResult, call: EvaluateOptions) -> str:
    """The report, ready to print."""
    page = CommandReport()
    first, notes = head(found, call)
    page.say(first)
    for note in notes:
        page.note(note)
    pairs = found.pairs
    if found.trial.examples:
        for table in tables(found, call, oracle=call.oracle):
            _show(page, table)
        _confusions(page, pairs)
        for table in breakdowns(pairs):
            _show(page, table)
        if any(one.mistakes for _, one in pairs):
            _show(page, mistakes(pairs))
        for system, one in pairs:
            sure = system.resolver.probabilities
            tell_wrong(
                page,
                f"answer of {system.name}",
                worst(one.mistakes, probabilities=sure),
                partial(described, sure=sure),
                call.errors,
                sure=sure,
                more="--report and --json have",
            )
    tell_seconds(page, found.trial, map(partial(_rate, found.trial), found.trial.judged))
    return page.text()


def _show(page: CommandReport, table: ReportTable) -> None:
    page.title(table.title)
    if table.rows:
        page.table(table.columns, table.rows)
    for note in table.notes:
        page.note(note)


def _confusions(page: CommandReport, pairs: Both) -> None:
    for system, one in pairs:
        name = f" of {system.name}" if len(pairs) > 1 else ""
        page.title(f"Gold against answer{name}")
        page.table(*confusion(one))
    page.note("WRONG: REF-WRONG, a word for a Reference that is not a gold mention")


def described(one: WrongExample, *, sure: bool) -> tuple[str, str]:
    """A wrong answer, where, what and of which kind; the text around it.

    sure: its score says how sure it is.
    """
    judged = one.judged
    said = answered(judged)
    score = confidence(judged)
    if sure and score is not None:
        said += f" {score:.2f}"
    told = f"{judged.example.where}: gold {gold_label(judged)}, said {said} ({one.mistake})"
    return told, around(judged)


def gold_label(judged: ScoredExample) -> str:
    """The gold label: a class in capitals, or the words of the heads."""
    heads = judged.example.gold.head_tokens()
    return words_of(judged.example.item.passage, heads) if heads else judged.gold


def answered(judged: ScoredExample) -> str:
    """The answer: a class in capitals, or the word of the token."""
    if judged.choice is None:
        return "nothing"
    if judged.token is None:
        return judged.choice.choice
    return words_of(judged.example.item.passage, [judged.token])


def around(judged: ScoredExample) -> str:
    return visible(around_number(*judged_excerpt(judged)), 500)


def _rate(trial: ResolutionTrial, judged: ResolvedExamples) -> str:
    each = len(trial.examples) / judged.seconds if judged.seconds > 0 else 0
    rate = f" ({each:,.0f} numbers a second)" if each else ""
    return f"answering, {judged.system.name}: {judged.seconds:.1f}{rate}"
