"""The figures of an evaluation of resolution as tables, beside the paper's.

The same rows stand on a terminal and on a page.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.resolution.recipes import TRAINED
from nfh_models.resolution.scoring import Calibration, Evaluation, HeadFigures, paper
from nfh_tui.cli.evaluate_json import Asked
from nfh_tui.cli.evaluate_resolution_rows import Both, Row, Table, both, short
from nfh_tui.cli.evaluate_words import NONE, interval, percent, signed
from nfh_tui.resolution_trial import Entrant

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import Found

INTERVAL = "  95 % interval"


def tables(found: "Found", asked: Asked, *, oracle: bool) -> Iterator[Table]:
    """The tables of figures, in order; those that say nothing are left out."""
    pairs = both(found)
    yield _accuracies(pairs, asked)
    yield _kinds(pairs, asked)
    if any(one.heads is not None and one.heads.n for _, one in pairs):
        yield _heads(pairs, asked)
    if oracle:
        yield _oracle(pairs)
    if found.baselines:
        yield _baselines(found)
    yield _calibrations(pairs)
    if found.versus:
        yield _versus(found)


def _measured(pairs: Both, asked: Asked, names: Sequence[str]) -> tuple[list[Row], list[str]]:
    """A row an entrant with the figures of `names` and, where asked for, their intervals."""
    rows: list[Row] = []
    styles: list[str] = []
    for entrant, one in pairs:
        value = [_value(one, name) for name in names]
        rows.append((short(entrant.name), *value))
        styles.append("lead" if asked.resamples else "")
        if asked.resamples:
            found = [one.ci95.get(name) for name in names]
            rows.append((INTERVAL, *(NONE if it is None else interval(it) for it in found)))
            styles.append("sub")
    return rows, styles


def _value(one: Evaluation, name: str) -> str:
    measure = one.ci95.get(name)
    if measure is not None:
        return percent(measure.value)
    return percent(getattr(one.figures, name))


def _accuracies(pairs: Both, asked: Asked) -> Table:
    names = ("accuracy", "accuracy_inclusive", "accuracy_nearest")
    rows, styles = _measured(pairs, asked, names)
    told = [
        (_paper(one.what, one.data), NONE, f"{one.percent:.1f}", NONE) for one in paper.RESULTS
    ]
    below = f"under {paper.LINEAR_BELOW.percent:.0f}"
    told.append((_paper(paper.LINEAR_BELOW.what, paper.LINEAR_BELOW.data), NONE, below, NONE))
    notes = [
        "right are: accuracy, any gold mention; inclusive, also a word spelled like one (the "
        "figure that the paper prints); nearest, the nearest gold mention alone",
        *_tail(asked),
    ]
    columns = ("", "accuracy:", "inclusive:", "nearest:")
    return Table("Accuracy in percent", columns, *_with_paper(rows, styles, told), tuple(notes))


def _tail(asked: Asked) -> list[str]:
    notes = []
    if asked.resamples:
        notes.append(
            f"intervals: {asked.resamples:,} resamples of whole passages, seed {asked.seed}"
        )
    notes.append("paper: on its own dev and test sets, by a model of 7,447 training examples")
    return notes


def _kinds(pairs: Both, asked: Asked) -> Table:
    names = ("binary", "class_accuracy", "reference", "reference_inclusive", "implicit")
    rows, styles = _measured(pairs, asked, names)
    told: list[Row] = []
    for what in (paper.PLAIN, paper.ELMO):
        known = {
            one.figure: f"{one.percent:.1f}"
            for one in (*paper.KINDS_TOLD, *paper.BY_KIND)
            if one.what == what
        }
        told.append((_paper(what, paper.DEV), *(known.get(name, NONE) for name in names)))
    notes = (
        "binary: word or class; class: the seven classes, any word is REFERENCE; Reference, "
        "Implicit: accuracy within gold of the kind, inclusive as above",
    )
    columns = ("", "binary:", "class:", "Reference:", "inclusive:", "Implicit:")
    return Table("Reference and classes", columns, *_with_paper(rows, styles, told), notes)


def _heads(pairs: Both, asked: Asked) -> Table:
    rows: list[Row] = []
    styles: list[str] = []
    for entrant, one in pairs:
        if one.heads is None:
            continue
        rows.append((short(entrant.name), *_head_row(one.heads)))
        styles.append("lead")
        if asked.resamples:
            names = ("heads_exact", "heads_f1", "mentions_f1")
            found = [one.ci95.get(name) for name in names]
            exact, nouns, words = (NONE if it is None else interval(it) for it in found)
            rows.append((INTERVAL, exact, "", "", nouns, words))
            styles.append("sub")
        if one.heads_several is not None and one.heads_several.n:
            some = one.heads_several
            rows.append((f"  {some.n:,} with two nouns", *_head_row(some)))
            styles.append("sub")
    n = next(one.heads.n for _, one in pairs if one.heads is not None)
    notes = [
        "heads by noun, whichever mention is named; exact: the same set of nouns; mentions: F1 "
        "over the single words; with two nouns: gold names two different ones",
        *_relations(pairs),
    ]
    columns = ("", "exact:", "precision:", "recall:", "F1:", "mentions:")
    title = f"Heads of {counted(n, 'Reference')}: percent"
    return Table(title, columns, tuple(rows), tuple(styles), tuple(notes))


def _head_row(one: HeadFigures) -> tuple[str, ...]:
    values = (one.exact, one.precision, one.recall, one.f1, one.mentions.f1)
    return tuple(percent(value) for value in values)


def _relations(pairs: Both) -> Iterator[str]:
    for entrant, one in pairs:
        if one.heads is not None and one.heads.relation_n:
            yield (
                f"{entrant.name}: the relation, AND or OR, is right in "
                f"{one.heads.relation_right:,} of the {one.heads.relation_n:,} in which gold "
                "states one"
            )


# --- oracle, baselines, calibration ---------------------------------------------------------


def _oracle(pairs: Both) -> Table:
    rows = [
        (
            short(entrant.name),
            percent(one.oracle.reference if one.oracle else None),
            percent(one.oracle.reference_inclusive if one.oracle else None),
            percent(one.oracle.implicit if one.oracle else None),
        )
        for entrant, one in pairs
    ]
    told: list[Row] = []
    for what in (paper.PLAIN, paper.ELMO):
        known = {one.figure: one.percent for one in paper.BY_KIND if one.what == what}
        reference, implicit = known["oracle reference"], known["oracle implicit"]
        told.append((_paper(what, paper.DEV), NONE, f"{reference:.1f}", f"{implicit:.1f}"))
    notes = (
        *(_told_so(entrant, one) for entrant, one in pairs),
        "the paper limits the candidates in training, too",
    )
    return Table(
        "Oracle: percent with candidates of the right kind only",
        ("", "Reference:", "inclusive:", "Implicit:"),
        *_with_paper(rows, (), told),
        notes,
    )


def _told_so(entrant: Entrant, one: Evaluation) -> str:
    """Whether a model was made for candidates of one kind."""
    only = one_kind(one)
    if only is None:
        return f"{entrant.name}: limited in this test only; it chooses among words and classes"
    trained = entrant.resolver.recipe in TRAINED
    how = "was trained to choose" if trained else "chooses"
    return f"{entrant.name} {how} among {only} alone"


def one_kind(one: Evaluation) -> str | None:
    """What a model's candidates are if they are of one kind: "words" or "classes"."""
    words = classes = False
    for judged in one.judged:
        scores = judged.choice.scores if judged.choice is not None else ()
        classes = classes or any(score is not None for score in scores[:6])
        words = words or any(score is not None for score in scores[6:])
        if words and classes:
            return None
    return {(True, False): "words", (False, True): "classes"}.get((words, classes))


def _baselines(found: "Found") -> Table:
    n = next((one.figures.reference_n for one in found.baselines), 0)
    rows = [
        (
            one.name,
            percent(one.figures.reference),
            percent(one.figures.reference_inclusive),
            percent(one.figures.reference_nearest),
        )
        for one in found.baselines
    ]
    told = [(f"paper: {one.what}", f"{one.percent:.1f}", NONE, NONE) for one in paper.BASELINES]
    return Table(
        f"A noun by its place: percent of {counted(n, 'Reference')}",
        ("", "accuracy:", "inclusive:", "nearest:"),
        *_with_paper(rows, (), told),
        ("+names: names count as nouns; else they are taken where there is no noun",),
    )


def _calibrations(pairs: Both) -> Table:
    rows = []
    styles = []
    silent = []
    for entrant, one in pairs:
        if one.calibration is None:
            silent.append(entrant.name)
            continue
        rows.append((short(entrant.name), *_calibration(one.calibration)))
        styles.append("lead")
        if one.noun_calibration is not None:
            rows.append(("  by noun", *_calibration(one.noun_calibration)))
            styles.append("sub")
    notes = []
    if rows:
        notes.append(
            "ECE in points over 15 bins; scaled: each half of the passages by the temperature "
            "that fits the other; by noun: all mentions of the chosen noun together"
        )
    if silent:
        notes.append(f"{', '.join(silent)}: no probabilities, so nothing to calibrate")
    columns = ("", "ECE:", "scaled:", "temperature:", "NLL:", "scaled:")
    return Table(
        "Calibration", columns if rows else (), tuple(rows), tuple(styles), tuple(notes)
    )


def _calibration(one: Calibration) -> tuple[str, ...]:
    after = one.after
    return (
        percent(one.before.ece),
        NONE if after is None else percent(after.ece),
        NONE if one.temperature is None else f"{one.temperature:.2f}",
        _nats(one.before.nll),
        NONE if after is None else _nats(after.nll),
    )


def _nats(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _versus(found: "Found") -> Table:
    rows = []
    for one in found.versus:
        for test in one.tests:
            value = test.difference.value
            name = test.measure.removeprefix("accuracy_")
            rows.append(
                (
                    f"{short(one.first)} less {short(one.second)}",
                    name,
                    NONE if value is None else f"{100 * value:+.1f}",
                    signed(test.difference),
                    NONE if test.p is None else f"{test.p:.3f}",
                    f"{test.only_first:,}",
                    f"{test.only_second:,}",
                )
            )
    columns = ("", "by", "points:", "95 % interval:", "p:", "only 1st:", "only 2nd:")
    note = "only 1st, only 2nd: numbers that this one alone gets right; p: paired bootstrap"
    return Table("Difference, on the same examples", columns, tuple(rows), (), (note,))


def _with_paper(
    rows: Sequence[Row], styles: Sequence[str], told: Sequence[Row]
) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Rows with the paper's below them, and the styles of all."""
    own = [*styles, *[""] * (len(rows) - len(styles))]
    return (*rows, *told), (*own, *["paper"] * len(told))


def _paper(what: str, data: str) -> str:
    """How the paper's rows are called."""
    name = {paper.PLAIN: "paper", paper.ELMO: "paper with ELMo"}.get(what, f"paper: {what}")
    return f"{name}, {data.removeprefix('its ').removesuffix(' set')}"
