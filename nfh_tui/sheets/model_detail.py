"""One model in full: its figures, the verdict on it, and another model beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.formats.wording import counted
from nfh_db.models import Model
from nfh_db.query import quote_name
from nfh_tui.sheets.agreement import within
from nfh_tui.sheets.job_detail import LABEL, fact_lines
from nfh_tui.sheets.job_words import (
    ACTIVE,
    Ruling,
    at_clock,
    count,
    fraction,
    ruling_of,
    text,
)
from nfh_tui.sheets.jobs import Listed, model_stop
from nfh_tui.sheets.line import (
    BLANK,
    Cell,
    Line,
    Stop,
    heading,
    items,
    left,
    percent,
    right,
    row,
    sentence,
    share,
)
from nfh_tui.visible import visible

CARD_STOP, COMPARE_STOP = "card", "compare"

ALL_FIGURES = (
    ("accuracy_inclusive", "inclusive", "a word of the same form as a gold head counts, too"),
    ("accuracy", "accuracy", "the class, or a gold mention"),
    ("accuracy_nearest", "nearest", "only the nearest gold mention counts"),
    ("reference", "of words", "right where gold is a word of the passage"),
    ("implicit", "of classes", "right where gold is a class"),
    ("binary", "which of both", "a word of the passage or a class, whichever it is"),
    ("f1", "F1, is it one", "identification: is a number without its noun"),
    ("precision", "precision", "identification: of those called one, how many are"),
    ("recall", "recall", "identification: of those that are one, how many were found"),
)
"""Name, what it is called in a table, and in words."""

FIGURE = 20
"""Cells of a figure with its name."""

SIDES = ("both", "only", "other", "neither")
STATES = {
    ACTIVE: "in use",
    "candidate": "a candidate: not in use",
    "retired": "retired: it was in use before",
    "rejected": "rejected: worse than the one in use",
}
VIEW = "answer in view"
"""A reason that has these words has told already of gold that was made so."""

NO_OTHER = "No other model has answered any item: p on one has it predict."
NOTHING_SAID = "{name} has answered no item yet: p has it predict, and then they are compared."
NO_INTERVAL = "no interval"
NOTHING_COMMON = "No item with gold was answered by both."


@dataclass(frozen=True, slots=True)
class Unseen:
    """The difference on some items, as a fraction. n: how many they are. interval: of the
    difference; None where drawing the items anew gives no other value."""

    n: int
    difference: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Beside:
    """Another model beside this one, item by item.

    name: of the other; "" where there is none. base: within which query. counts: items by
    SIDES; None until they are counted. why: why there are none. interval: low and high of
    the difference, as fractions; None until it is there. untold: why it is not there. learnt:
    how many of the items this model learnt from, and the other. unseen: the difference on
    those that neither learnt from; None where they are all, or none. missing: how many items
    with gold this model has not answered, and the other.
    """

    name: str = ""
    base: str = ""
    counts: Mapping[str, int] | None = None
    why: str = ""
    interval: tuple[float, float] | None = None
    untold: str = ""
    learnt: tuple[int, int] = (0, 0)
    unseen: Unseen | None = None
    missing: tuple[int, int] = (0, 0)


def model_lines(model: Model, beside: Beside, listed: Listed, width: int) -> list[Line]:
    """All of a model."""
    top = model_stop(model.id)
    lines = [*_top(model, listed, top, width), *_verdict(ruling_of(model), width)]
    lines += [BLANK, *_figures(listed.metrics_of(model), top, width)]
    if model.task != "identification":
        lines += [BLANK, *beside_lines(model.name, beside, top, width)]
    return lines


# --- what it is -----------------------------------------------------------------------------


def _top(model: Model, listed: Listed, top: str, width: int) -> list[Line]:
    sign = "● " if model.state == ACTIVE else ""
    stop = Stop(f"{top} top", None, f"enter shows the card of {model.name}", act=CARD_STOP)
    head = Cell(f" {visible(model.name)}", ("head",), stop)
    task = "both tasks" if model.task == "both" else model.task
    lines: list[Line] = [
        (head, Cell(f"  {visible(model.recipe)} for {visible(task)}", ("faint",))),
        (Cell(f" {sign}{_state(model, listed)}", ("bold",)),),
    ]
    metrics = listed.metrics_of(model)
    by = next((f", job {job.id}" for job in listed.jobs if job.model_id == model.id), "")
    learnt = count(metrics.get("examples"))
    facts = [
        ("made", f"{at_clock(model.created_at, listed.now)}{by}"),
        ("learnt from", counted(learnt, "example") if learnt else ""),
        ("started from", text(model.config.get("base"))),
        ("version", "" if model.path is not None else model.version),
    ]
    return lines + fact_lines(facts, width)


def _state(model: Model, listed: Listed) -> str:
    """Where a model stands; of one of both tasks that gave way in one, what it is used for."""
    taken = {one.task for one in listed.models if one.state == ACTIVE and one.id != model.id}
    left = [task for task in ("identification", "resolution") if task not in taken]
    words = STATES.get(model.state, model.state)
    if model.state == ACTIVE and model.task == "both" and len(left) == 1:
        return f"{words} for {left[0]} alone"
    return words


def _verdict(ruling: Ruling, width: int) -> list[Line]:
    if not ruling.word:
        return []
    lines = [BLANK, heading("Verdict", ruling.word)]
    lines += sentence(ruling.reason or ruling.word, width, "bold")
    if ruling.saw and VIEW not in ruling.reason:
        lines += sentence(
            f"Of these items, {ruling.saw:,} had a model's answer in view when gold was made.",
            width,
        )
    return lines


def _figures(metrics: Mapping[str, object], top: str, width: int) -> list[Line]:
    """The figures in columns, each of them a stop."""
    tried = count(metrics.get("dev_examples"))
    lines = [heading("Figures", f"on {items(tried)} it did not learn from" if tried else "")]
    cells = []
    for name, short, told in ALL_FIGURES:
        value = fraction(metrics.get(name))
        if value is not None and -1 <= value <= 1:
            stop = Stop(f"{top} figure {name}", None, f"{percent(value)} %: {told}")
            words = f" {left(short, FIGURE - 7)}{right(percent(value), 5)} "
            cells.append(Cell(words, (), stop))
    if not cells:
        return [heading("Figures"), *sentence("It was not tried on items kept from it.", width)]
    across = max(1, width // FIGURE)
    return lines + [tuple(cells[at : at + across]) for at in range(0, len(cells), across)]


def _bar(value: float, room: int) -> str:
    return f"  {'█' * round(max(0.0, value) * min(20, room))}" if room > 4 else ""


# --- beside another -------------------------------------------------------------------------


def beside_query(one: str, other: str, side: str, base: str) -> str:
    """The query of the items that both, only one, or neither of two models has right."""
    own, others = {
        "both": ("hit", "hit"),
        "only": ("hit", "miss"),
        "other": ("miss", "hit"),
        "neither": ("miss", "miss"),
    }[side]
    return within(base, f"{own}:{quote_name(one, ())} {others}:{quote_name(other, ())}")


def beside_lines(name: str, beside: Beside, top: str, width: int) -> list[Line]:
    """The four groups of items, each opened by enter, and the difference."""
    if not beside.name:
        return [heading("Item by item"), *sentence(beside.why or NO_OTHER, width)]
    faint = f"within {beside.base}" if beside.base else "c compares with another"
    title = Cell(f"Beside {visible(beside.name)}", ("head",))
    lines: list[Line] = [(title, Cell(f"  {visible(faint)}", ("faint",)))]
    if beside.counts is None:
        return lines + sentence(beside.why or "Counting…", width)
    whole = sum(beside.counts.values())
    if not whole:
        return lines + sentence(beside.why or NOTHING_COMMON, width)
    words = {
        "both": "both right",
        "only": f"only {name}",
        "other": f"only {beside.name}",
        "neither": "neither",
    }
    label = max(14, min(26, max(map(len, words.values()))))
    for side in SIDES:
        n = beside.counts.get(side, 0)
        query = beside_query(name, beside.name, side, beside.base) if n else None
        stop = Stop(f"{top} {COMPARE_STOP} {side}", query, f"{words[side]}: {items(n)}")
        part = share(n, whole) or 0.0
        lines.append(
            row(
                stop,
                Cell(f" {left(words[side], label)}", ("bold",)),
                Cell(right(f"{n:,}", 7)),
                Cell(right(percent(part), 7)),
                Cell(_bar(part, width - label - 20), ("faint",)),
            )
        )
    return lines + _difference(name, beside, whole, top, width)


def _difference(name: str, beside: Beside, whole: int, top: str, width: int) -> list[Line]:
    counts = beside.counts or {}
    gap = (counts.get("only", 0) - counts.get("other", 0)) / whole
    stop = Stop(
        f"{top} difference",
        None,
        f"{name} has {abs(100 * gap):.1f} points {'more' if gap >= 0 else 'less'} than "
        f"{beside.name}, of {items(whole)} with gold",
    )
    cells = [_gap_cell("difference", gap)]
    if beside.interval is not None or beside.untold:
        cells += _interval_cells(beside.interval, beside.untold)
    lines = [row(stop, *cells)]
    unseen = beside.unseen
    if unseen is not None:
        told = f"the same, of the {items(unseen.n)} that neither learnt from"
        cells = [_gap_cell("not learnt", unseen.difference)]
        cells += _interval_cells(unseen.interval)
        lines.append(row(Stop(f"{top} unseen", None, told), *cells))
    lines += sentence(f"of {items(whole)} with gold, in points", width)
    for n, who in zip(beside.learnt, (name, beside.name), strict=True):
        if n:
            passages = "passage" if n == 1 else "passages"
            words = (
                f"{who} learnt from the {passages} of {n:,} of them, and may do worse on "
                "others."
            )
            lines += sentence(words, width)
    for n, who in zip(beside.missing, (name, beside.name), strict=True):
        if n:
            words = f"{who} has not answered {items(n)} with gold: p on it has it predict."
            lines += sentence(words, width)
    return lines


def _gap_cell(words: str, gap: float) -> Cell:
    return Cell(f" {left(words, LABEL)}{right(_signed(gap), 7)}", ("bold",))


def _signed(value: float) -> str:
    """A difference of fractions in points, with its sign."""
    return f"{100 * value:+.1f}".replace("-", "−")


def _interval_cells(
    interval: tuple[float, float] | None, untold: str = NO_INTERVAL
) -> list[Cell]:
    if interval is None:
        return [Cell(f"  {untold}", ("faint",))]
    low, high = interval
    sure = low > 0 or high < 0
    shown = f"  [{_signed(low)}, {_signed(high)}]"
    return [Cell(shown, ("faint",)), Cell("" if sure else "  may be chance", ("faint",))]


def measured(beside: Beside, found: Mapping[str, object]) -> Beside:
    """With what `nfh-tui models compare --json` says of the same two."""
    interval = _interval_of(found)
    unseen = found.get("unseen")
    aside = unseen if isinstance(unseen, Mapping) else {}
    figures = aside.get("figures")
    apart = figures[0] if isinstance(figures, list) and figures else {}
    gap = fraction(apart.get("difference")) if isinstance(apart, Mapping) else None
    n = count(aside.get("n"))
    return replace(
        beside,
        interval=interval,
        untold=NO_INTERVAL if interval is None else "",
        learnt=_pair(found.get("learnt")),
        missing=_pair(found.get("missing")),
        unseen=Unseen(n, gap, _interval_of(apart)) if gap is not None and n else None,
    )


def _pair(value: object) -> tuple[int, int]:
    known = isinstance(value, list) and len(value) == 2
    return (count(value[0]), count(value[1])) if known else (0, 0)  # type: ignore[index]


def _interval_of(found: Mapping[str, object]) -> tuple[float, float] | None:
    """Low and high; None where one of them is missing."""
    low, high = fraction(found.get("low")), fraction(found.get("high"))
    return None if low is None or high is None else (low, high)


def others_of(model: Model, known: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The models with predictions that this one can stand beside; the one in use first."""
    return [one for one in known if one[0] != model.id]


def why_missing(model: Model) -> str:
    """Why a model that has no predictions cannot be compared item by item."""
    if model.task == "identification":
        return "tells only whether a number is one"
    return "has answered no item yet: p on it has it predict"
