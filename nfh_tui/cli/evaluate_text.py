"""An evaluation of identification in words and tables, for 80 columns, plain on a pipe."""

from collections.abc import Iterable, Sequence

from nfh_db.formats.wording import counted, visible
from nfh_models.identification.evaluating import Error, Evaluation, Part
from nfh_models.identification.paper import RESULTS, Published
from nfh_models.identification.scores import Counts
from nfh_tui.cli.agreement_page import Page
from nfh_tui.cli.evaluate_json import Asked, Versus, spelled
from nfh_tui.cli.evaluate_words import NONE, interval, percent, signed, where
from nfh_tui.evaluating import Entrant, Judged, Trial

WORDS = 15
"""Anchor words that the table names; --json has all."""
RULES_SHOWN = 40
LEFT_OF_ANCHOR = 34
RIGHT_OF_ANCHOR = 34
WEIGHTS_SHOWN = 3
MOST_ENTRANTS = 5
"""Entrants whose seconds are told one by one."""
FIGURES = ("", "precision:", "recall:", "F1:", "accuracy:")

Found = Sequence[tuple[Judged, Evaluation]]


def as_text(
    trial: Trial,
    found: Sequence[Evaluation],
    versus: Sequence[Versus],
    asked: Asked,
    *,
    errors: int,
) -> str:
    """The report, ready to print. errors: how many wrong decisions of each to show."""
    page = Page()
    both = list(zip(trial.judged, found, strict=True))
    head(page, trial, asked)
    if trial.examples:
        _figures(page, both, asked)
        _versus(page, versus)
        _confusion(page, both)
        _rules(page, both)
        _parts(page, both)
        _errors(page, both, errors)
    seconds(page, trial)
    return page.text()


def head(page: Page, trial: Trial, asked: Asked) -> None:
    """What was measured on, and what was left out of it."""
    yes = sum(example.nfh for example in trial.examples)
    size = len(trial.examples)
    place = where(trial.source, trial.format, asked)
    page.say(
        f"Identification on {counted(size, 'labelled number')} of {place}: "
        f"{yes:,} NFHs, {size - yes:,} others"
    )
    for reason, count in trial.left_out.items():
        page.note(f"left out: {counted(count, 'anchor')}, {reason}")
    if trial.no_number:
        page.note(
            f"{counted(trial.no_number, 'label')} at words that are no number; counted like "
            "the others"
        )
    for sentence in {
        one.entrant.lesson.sentence() for one in trial.judged if one.entrant.lesson
    }:
        page.note(sentence)
    if not size:
        page.note("there is nothing to measure: no anchor here has a label")
    if size and yes in (0, size):
        only = "an NFH" if yes else "no NFH"
        page.note(f"every label says {only}: nothing here can show the other kind of error")


# --- figures --------------------------------------------------------------------------------


def _figures(page: Page, both: Found, asked: Asked) -> None:
    page.title("Percent")
    rows: list[tuple[str, ...]] = []
    for judged, found in both:
        measures = (found.precision, found.recall, found.f1, found.accuracy)
        rows.append((entrant(judged.entrant), *(percent(one.value) for one in measures)))
        if asked.resamples:
            rows.append(("  95 % interval", *(interval(one) for one in measures)))
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
    tail(page, asked)


def tail(page: Page, asked: Asked) -> None:
    """How to read the table of figures."""
    if asked.resamples:
        page.note(
            f"intervals: {asked.resamples:,} resamples of whole passages, seed {asked.seed}"
        )
    page.note("the paper's figures are of its own data, not of this")


def entrant(one: Entrant) -> str:
    """The name of an entrant, and how it came to its knowledge where that matters."""
    if one.folds is not None:
        return f"{one.name}, {one.folds} folds"
    if one.lesson is not None:
        return f"{one.name}, fitted"
    return one.name


def published(one: Published) -> tuple[str, ...]:
    """A line of the paper, as a row under FIGURES."""
    figures = (f"{value:.1f}" for value in (one.precision, one.recall, one.f1))
    return (f"paper: {one.what}, {one.data}", *figures, "")


def _versus(page: Page, versus: Sequence[Versus]) -> None:
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
                signed(comparison.difference),
                NONE if comparison.p is None else f"{comparison.p:.3f}",
                f"{comparison.only_first:,}",
                f"{comparison.only_second:,}",
            )
        )
    page.table(("", "points:", "95 % interval:", "p:", "only 1st:", "only 2nd:"), rows)
    page.note(
        "only 1st, only 2nd: numbers that this one alone decides rightly; p: paired bootstrap"
    )


def _confusion(page: Page, both: Found) -> None:
    page.title("Label against decision")
    rows = []
    for judged, found in both:
        (hit, missed), (false, passed) = found.counts.rows
        name = f"{judged.entrant.name}: " if len(both) > 1 else ""
        rows.append((f"{name}label NFH", f"{hit:,}", f"{missed:,}"))
        rows.append((f"{name}label not", f"{false:,}", f"{passed:,}"))
    page.table(("", "decided NFH:", "decided not:"), rows)


# --- breakdowns -----------------------------------------------------------------------------


def _rules(page: Page, both: Found) -> None:
    for judged, found in both:
        if len(found.by_rule) < 2:
            continue
        page.title(f"By rule of {judged.entrant.name}")
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


def _decides(counts: Counts) -> str:
    called = counts.hit + counts.false
    if called == counts.n:
        return "NFH"
    return "not" if not called else "both"


def _parts(page: Page, both: Found) -> None:
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


def _word_title(found: Evaluation) -> str:
    words = len(found.by_word)
    if words <= WORDS:
        return "By the number's words"
    return f"By the number's words, the {WORDS} most frequent of {words:,}"


def _part(part: Part) -> tuple[str, ...]:
    counts = part.counts
    figures = (percent(value) for value in (counts.precision, counts.recall, counts.f1))
    name = visible(part.name, 24)
    return (name, f"{counts.n:,}", f"{counts.nfh:,}", *figures, f"{counts.wrong:,}")


def _side_by_side(
    page: Page, column: str, parts: Iterable[Part], key: str, both: Found
) -> None:
    """The wrong decisions of each entrant, for the same parts."""
    columns = [column, "n:", "NFH:"]
    wrong = []
    for judged, found in both:
        columns.append(f"{judged.entrant.name} wrong:")
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


def _errors(page: Page, both: Found, most: int) -> None:
    if not most:
        return
    for judged, found in both:
        if not found.errors:
            page.title(f"No wrong decision of {judged.entrant.name}")
            continue
        total = len(found.errors)
        shown = worst(found.errors)[:most]
        which = "all of them" if len(shown) == total else f"{len(shown)} of {total:,}"
        order = ", the surest first" if shown[0].decision.score is not None else ""
        page.title(f"Wrong decisions of {judged.entrant.name}: {which}{order}")
        for error in shown:
            page.note(described(error))
            page.note(f"  {around(error)}")
        if len(shown) < total:
            page.note("--errors N shows more, --json has them all")


def worst(errors: Sequence[Error]) -> list[Error]:
    """The surest first where they have scores, else as they come."""
    return sorted(errors, key=lambda one: -abs(one.decision.score or 0.0))


def described(error: Error) -> str:
    """A wrong decision: where, what and why."""
    decision = error.decision
    label, said = ("NFH", "not") if error.example.nfh else ("not", "NFH")
    why = decision.rule
    if decision.score is not None:
        why += f" {decision.score:+.2f}"
    weights = [f"{name} {weight:+.2f}" for name, weight in decision.weights[:WEIGHTS_SHOWN]]
    if weights:
        why += f": {', '.join(weights)}"
    return f"{error.example.where}: label {label}, decided {said} ({why})"


def around(error: Error) -> str:
    """The words around the number, which stands in square brackets."""
    text, start, end = spelled(error)
    before, number, behind = text[:start], text[start:end], text[end:]
    if len(before) > LEFT_OF_ANCHOR:
        before = "…" + before[-LEFT_OF_ANCHOR:]
    if len(behind) > RIGHT_OF_ANCHOR:
        behind = behind[:RIGHT_OF_ANCHOR] + "…"
    return f"{before}[{number}]{behind}"


def seconds(page: Page, trial: Trial) -> None:
    """How long it took."""
    page.title("Seconds")
    if trial.parser is not None:
        page.note(f"parsing, once for all: {trial.parsing:.1f} ({trial.parser})")
    if len(trial.judged) > MOST_ENTRANTS:
        total = sum(judged.seconds for judged in trial.judged)
        page.note(f"fitting and deciding, all {len(trial.judged)} together: {total:.1f}")
        return
    for judged in trial.judged:
        fits = judged.entrant.cross is not None
        what = "fitting and deciding" if fits else "deciding"
        page.note(f"{what}, {judged.entrant.name}: {judged.seconds:.1f}")
