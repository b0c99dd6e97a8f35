"""Lines of the evaluation screen: the sides, the figures, the matrix, and models over time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nfh_db.comparisons import (
    GOLD_GONE,
    GOLD_SAME,
    LABELS,
    NEW,
    NOTED,
    OUTCOMES,
    REF,
    REF_WRONG,
    AccuracyCount,
    Cell,
    Changes,
    ComparedSide,
    ComparisonCounts,
)
from nfh_db.query import quote, quote_name
from nfh_models.statistics import share
from nfh_tui.display_figures import percent
from nfh_tui.screens.agreement_figures import narrowed, person
from nfh_tui.services.reports import ModelSummary
from nfh_tui.widgets.figure_lines import (
    BLANK,
    CURVE_LABEL,
    FigureCell,
    FigureMatrix,
    Line,
    Target,
    axis_row,
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

ORDER = (REF, REF_WRONG, *LABELS[1:])
CHOOSE_LEFT, CHOOSE_RIGHT = "choose left", "choose right"
MOST_WORDS = 15
MOST_LENGTH, MOST_VALUES = 1_900, 190
"""Limits of a query in characters and values, with room for the query that contains it."""

NO_PREDICTIONS = (
    "No model has answered any item here yet. `nfh-tui predict` makes the active model "
    "answer all of them; the workbench asks it about each item that you open."
)
NOTHING_COMMON = "No item has an answer of both sides, so there is nothing to compare."


@dataclass(frozen=True, slots=True)
class Sides:
    """The two sides of a comparison."""

    left: ComparedSide
    right: ComparedSide
    active: int | None = None
    """Id of the model that `model` means in queries."""

    @property
    def by_active(self) -> bool:
        """True if the active model is compared with gold."""
        return self.left.what == "model" and self.left.model_id == self.active


def side_name(side: ComparedSide) -> str:
    if side.what == "gold":
        return "gold"
    if side.what == "file":
        return f"gold of {side.name.rsplit('/', 1)[-1]}"
    return side.name


# --- the pane of figures --------------------------------------------------------------------


def choice_lines(sides: Sides, width: int) -> list[Line]:
    """Return the two sides; enter on one of them chooses another."""
    kinds = {"model": "model", "person": "annotator", "gold": "", "file": "file"}
    lines = [heading("Compared", "enter chooses another")]
    for act, word, side in (
        (CHOOSE_LEFT, "left", sides.left),
        (CHOOSE_RIGHT, "right", sides.right),
    ):
        kind = kinds[side.what]
        kind += ", active" if side.what == "model" and side.model_id == sides.active else ""
        told = f"{word} side: {side_name(side)}"
        name = left(side_name(side), max(8, min(24, width - 26)))
        lines.append(
            row(
                Target(act, None, told, act=act),
                FigureCell(f" {left(word, 7)}", ("faint",)),
                FigureCell(name, ("bold",)),
                FigureCell(f" {kind}", ("faint",)),
            )
        )
    return [*lines, BLANK]


def compared_lines(found: ComparisonCounts, sides: Sides, base: str, width: int) -> list[Line]:
    """Return the accuracy: total, by class, by the words of the anchor."""
    if not found.whole.n:
        return sentence(NOTHING_COMMON, width, "bold")
    lines = _accuracy(found, sides, width)
    if sides.right.what == "gold":
        lines += [BLANK, *_saw(found, width)]
    lines += [BLANK, *_by_class(found, sides, base)]
    return [*lines, BLANK, *_by_word(found, sides, base, width)]


def _accuracy(found: ComparisonCounts, sides: Sides, width: int) -> list[Line]:
    n = found.whole.n
    if sides.left.what == "person":
        lines = [heading("Right", f"of {items(n)} that gold decides")]
        told = "the answer differs from gold in nothing that blocks, by noun"
        return [*lines, _figure("whole answer", found.whole.right, n, told)]
    if sides.right.what == "model":
        lines = [heading("Alike", f"of {items(n)} with answers of both")]
        return [*lines, _figure("same choice", found.whole.right, n, "the same class or word")]
    missing = found.scored - n
    lines = [heading("Accuracy", f"%, {n:,} of {found.scored:,} gold items")]
    lines += [
        _figure("accuracy", found.whole.right, n, "the class, or any gold mention"),
        _figure("inclusive", found.inclusive, n, "also any word spelled like a gold mention"),
        _figure("nearest", found.nearest, n, "of mentions the nearest only"),
    ]
    if found.seen.n:
        told = (
            f"{side_name(sides.left)} has seen the passages of {found.seen.n:,} of these items."
        )
        lines += sentence(told, width)
        rest, good = n - found.seen.n, found.whole.right - found.seen.right
        lines.append(
            _figure("not seen", good, rest, "accuracy on the items that it has not seen")
        )
    if missing:
        remedy = " `nfh-tui predict` adds them." if sides.by_active else ""
        told = f"Without an answer of this model: {items(missing)}.{remedy}"
        lines += sentence(told, width)
    return lines


def _figure(name: str, part: int, n: int, note: str) -> Line:
    stop = Target(f"figure {name}", None, f"{note}: {part:,} of {n:,}")
    counts = FigureCell(f"   {part:,} of {n:,}", ("faint",))
    return (*figure_row(stop, left(name, 14), right(percent(share(part, n)), 7)), counts)


def _saw(found: ComparisonCounts, width: int) -> list[Line]:
    lines = [heading("Gold made with a model's answer in view")]
    if not found.saw.n:
        return lines + sentence("None of it.", width)
    rest = AccuracyCount(found.whole.n - found.saw.n, found.whole.right - found.saw.right)
    lines.append(_figure("saw the model", found.saw.right, found.saw.n, "favours that model"))
    return [*lines, _figure("did not", rest.right, rest.n, "the fairer figure")]


def _by_class(found: ComparisonCounts, sides: Sides, base: str) -> list[Line]:
    by_gold = sides.right.what == "gold"
    lines = [heading("By class", "enter opens what is not right" if by_gold else "")]
    titles = (side_name(sides.right)[:8], "right %", "said", "of it %")
    lines.append(titles_row(11, 9, *titles))
    matrix = matrix_between(found.counts, sides)
    for label in matrix.rows:
        n, good = matrix.of_row(label), found.counts.get((label, label), 0)
        said = matrix.of_column(label)
        if label == REF:
            said += matrix.of_column(REF_WRONG) if REF_WRONG in matrix.columns else 0
        query, exact = _wrong_of(label, sides, base) if n > good else (None, True)
        told = f"{label}: not right {n - good:,} of {n:,}"
        values = (f"{n:,}", percent(share(good, n)), f"{said:,}", percent(share(good, said)))
        stop = Target(f"class {label}", query, told, exact)
        lines.append(figure_row(stop, left(label, 11), *(right(one, 9) for one in values)))
    return lines


def _wrong_of(label: str, sides: Sides, base: str) -> tuple[str | None, bool]:
    """Return the query for items of a class that the left side answers wrongly."""
    if sides.right.what != "gold":
        return None, True
    gold = f"class:{_gold_values(label, sides)}"
    if sides.left.what == "person":
        return narrowed(base, f"{gold} wrong:{person(sides.left.name)}"), True
    if sides.by_active:
        return narrowed(base, f"{gold} model!=gold"), True
    model = quote_name(sides.left.name, ())
    query = f"{gold} -predicted:{model}/{label},{model}/none"
    return narrowed(base, query), label != REF


def _gold_values(label: str, sides: Sides) -> str:
    """Return the query values of a gold label; for a model, OTHER includes UNKNOWN."""
    return "OTHER,UNKNOWN" if label == "OTHER" and sides.left.what == "model" else label


def _by_word(found: ComparisonCounts, sides: Sides, base: str, width: int) -> list[Line]:
    words = sorted(found.words.items(), key=lambda one: (-one[1].n, one[0]))
    shown = words[:MOST_WORDS]
    note = (
        f"the {len(shown)} most frequent of {len(words):,}" if len(words) > len(shown) else ""
    )
    lines = [heading("By the number's words", note)]
    name = max(8, min(22, width - 26))
    for word, tally in shown:
        query, exact = _wrong_word(word, sides, base)
        told = f"{word}: not right {tally.n - tally.right:,} of {tally.n:,}"
        find = query if tally.n > tally.right else None
        values = right(f"{tally.n:,}", 8), right(percent(share(tally.right, tally.n)), 9)
        stop = Target(f"word {word}", find, told, exact)
        lines.append(figure_row(stop, left(word, name), *values))
    return lines


def _wrong_word(word: str, sides: Sides, base: str) -> tuple[str, bool]:
    anchor = f"anchor:{quote(word)}"
    if sides.left.what == "person":
        return narrowed(base, f"{anchor} wrong:{person(sides.left.name)}"), True
    if sides.by_active and sides.right.what == "gold":
        return narrowed(base, f"{anchor} model!=gold"), True
    return narrowed(base, anchor), False


# --- the matrix -----------------------------------------------------------------------------


def matrix_between(counts: Mapping[Cell, int], sides: Sides) -> FigureMatrix:
    """Return the matrix of a comparison: rows for the right side, columns for the left one."""
    return matrix_of(side_name(sides.right), side_name(sides.left), counts, ORDER)


def compared_matrix(found: ComparisonCounts, sides: Sides, base: str, width: int) -> list[Line]:
    """Return the matrix; each cell opens its items."""
    matrix = matrix_between(found.counts, sides)
    if not matrix.total:
        return []
    rows = f"rows: {matrix.down} · columns: {matrix.across}"
    lines = [heading("Who says what", "enter opens the items of a cell")]
    lines += sentence(rows, width)
    lines += matrix_lines(matrix, width, lambda *cell: _cell_query(found, cell, sides, base))
    if REF_WRONG in matrix.columns:
        lines += sentence("R≠: both say REFERENCE, with different nouns or words.", width)
    return lines


def _cell_query(
    found: ComparisonCounts, cell: Cell, sides: Sides, base: str
) -> tuple[str | None, bool]:
    row_label, said = cell
    both = row_label == REF and said in {REF, REF_WRONG}
    if sides.left.what == "person":
        name = person(sides.left.name)
        kind = REF if said == REF_WRONG else said
        query = f"said:{name}/{kind} class:{row_label}"
        if both:
            query += f" {'right' if said == REF else 'wrong'}:{name}"
        return narrowed(base, query), True
    if both and not (sides.by_active and sides.right.what == "gold"):
        return ids_query(found.ids[cell], found.counts[cell], base)
    model = quote_name(sides.left.name, ())
    kind = REF if said == REF_WRONG else said
    if sides.right.what == "model":
        other = quote_name(sides.right.name, ())
        return narrowed(base, f"predicted:{model}/{kind} predicted:{other}/{row_label}"), True
    query = f"predicted:{model}/{kind} class:{_gold_values(row_label, sides)}"
    if both:
        query += f" model{'=' if said == REF else '!='}gold"
    return narrowed(base, query), True


def ids_query(ids: Sequence[int], count: int, base: str) -> tuple[str | None, bool]:
    """Return a query that lists ids, as many as a query holds, and whether it has all of
    them.
    """
    if not ids:
        return None, True
    room = MOST_LENGTH - len(base)
    named = ""
    taken = 0
    for id_ in ids[:MOST_VALUES]:
        longer = f"{named},{id_}" if named else f"id:{id_}"
        if len(longer) > room:
            break
        named, taken = longer, taken + 1
    return narrowed(base, named), taken == count


# --- against an earlier export --------------------------------------------------------------

OUTCOME_WORDS = {
    NOTED: "differs in what does not block",
    "decided since": "undecided in the file, decided here",
    "undone": "decided in the file, without gold here",
    NEW: "decided here, not in the file",
    GOLD_GONE: "in the file, not here",
    GOLD_SAME: "the same",
}


def change_lines(found: Changes, base: str, width: int) -> list[Line]:
    """Return the numbers of items by what differs in their gold."""
    lines = [heading("Changes", f"{found.rows:,} rows in the file")]
    name = max(14, min(24, width - 16))
    for outcome in OUTCOMES:
        ids = found.ids.get(outcome, [])
        n = found.gone if outcome == GOLD_GONE else len(ids)
        if not n:
            continue
        query, exact = ids_query(ids, n, base)
        words = OUTCOME_WORDS.get(outcome, f"differs: {outcome}")
        told = f"{words}: {items(n)}"
        roles = ("faint",) if outcome in {GOLD_SAME, NOTED} else ("bold",)
        stop = Target(f"change {outcome}", query, told, exact, total=0 if exact else n)
        lines.append(figure_row(stop, left(outcome, name), right(f"{n:,}", 9), roles=roles))
    if len(lines) == 1:
        lines += sentence("The file and the gold here have no item in common.", width)
    return lines


def change_matrix(found: Changes, sides: Sides, base: str, width: int) -> list[Line]:
    matrix = matrix_of(side_name(sides.right), "gold here", found.counts, LABELS)
    if not matrix.total:
        return []
    lines = [heading("Then and now", "enter opens the items of a cell")]
    lines += sentence(f"rows: {matrix.down} · columns: gold here", width)

    def find(then: str, now: str) -> tuple[str | None, bool]:
        cell = then, now
        return ids_query(found.cells[cell], found.counts[cell], base)

    return lines + matrix_lines(matrix, width, find)


EIGHTHS = " ▁▂▃▄▅▆▇█"
HEIGHT = 5
"""Rows of the chart."""

MODEL_STOP = "model"
INCLUSIVE, PLAIN = "incl", "acc"
MEASURES = {
    INCLUSIVE: "inclusive accuracy",
    PLAIN: "accuracy, without other words of the same form",
}
ONE_MODEL = (
    "Only one model has been judged so far; a curve needs two. `nfh-tui retrain` trains one "
    "on the present gold."
)
NO_MODEL = (
    "No model here has been judged on examples that it did not learn from. `nfh-tui retrain "
    "resolution` trains one."
)


def accuracy_of(one: ModelSummary) -> tuple[float | None, str]:
    """Return the accuracy of resolution and which one it is, of MEASURES; None and "" without
    any.
    """
    known = ((one.accuracy_inclusive, INCLUSIVE), (one.accuracy, PLAIN))
    return next((pair for pair in known if pair[0] is not None), (None, ""))


def learning_lines(
    listed: Sequence[ModelSummary], labels: Mapping[int, int], width: int
) -> list[Line]:
    """Return chart and table; a sentence if there are too few models for a curve.

    labels: number of labels that a model learnt from, by its id.
    """
    lines = [heading("Models over time", "enter shows a model's card")]
    models = sorted(listed, key=lambda one: (one.created_at, one.id))
    known = [value for one in models if (value := accuracy_of(one)[0]) is not None]
    if len(known) > 1:
        lines += chart_lines(known, width)
        lines += sentence(_chart_words(models), width)
    elif models:
        lines += sentence(ONE_MODEL if known else NO_MODEL, width)
    if not models:
        return lines + sentence("There is no model yet.", width)
    name = max(8, min(18, width - 47))
    titles = f"{right('acc %', 7)}{left('', 5)}{right('F1 %', 7)}{right('labels', 7)}"
    lines.append((FigureCell(f" {left('made', 17)}{left('', name)}{titles}", ("faint",)),))
    for one in models:
        sign = "● " if one.state == "active" else "  "
        accuracy, measure = accuracy_of(one)
        learnt = f"{labels[one.id]:,}" if one.id in labels else "–"
        told = f"{one.name}: {one.recipe}, {one.state}"
        if measure:
            told += f"; {percent(accuracy)} is {MEASURES[measure]}"
        lines.append(
            row(
                Target(f"{MODEL_STOP} {one.id}", None, told, act=MODEL_STOP),
                FigureCell(f" {one.created_at[:16].replace('T', ' ')} ", ("faint",)),
                FigureCell(left(sign + one.name, name), ("bold",) if sign.strip() else ()),
                FigureCell(right(percent(accuracy), 7)),
                FigureCell(left(f" {measure}", 5), ("faint",)),
                FigureCell(right(percent(one.f1), 7)),
                FigureCell(right(learnt, 7)),
            )
        )
    return lines


def chart_lines(values: Sequence[float], width: int) -> list[Line]:
    """Return one column per value, in order of time, with a scale in percent at the left.

    The scale starts a little below the lowest value instead of at zero, so that small steps are
    visible; its numbers show that.
    """
    room = max(4, width - CURVE_LABEL - 2)
    kept = values[-(room // 2) :]
    each = max(2, min(6, room // len(kept)))
    low, high = min(kept), max(kept)
    low = max(0.0, low - max(0.01, (high - low) * 0.15))
    span = max(high - low, 0.001)
    heights = [max(1, round((one - low) / span * HEIGHT * 8)) for one in kept]
    lines: list[Line] = []
    for rank in range(HEIGHT - 1, -1, -1):
        shown = {HEIGHT - 1: high, 0: low}.get(rank)
        scale = "" if shown is None else percent(shown)
        bars = "".join(
            EIGHTHS[max(0, min(8, height - rank * 8))] * (each - 1) + " " for height in heights
        )
        lines.append(axis_row(scale, bars))
    return lines


def _chart_words(models: Sequence[ModelSummary]) -> str:
    """Return what the columns measure; columns of different measures are not comparable."""
    found = {accuracy_of(one)[1] for one in models} - {""}
    which = f", inclusive where the table says {INCLUSIVE}"
    if len(found) == 1:
        which = ", inclusive" if found == {INCLUSIVE} else ""
    return f"accuracy in %{which}, on examples kept out of training; oldest first"


def model_of(stop: Target) -> int:
    """Return the model id of a line."""
    return int(stop.name.removeprefix(f"{MODEL_STOP} "))
