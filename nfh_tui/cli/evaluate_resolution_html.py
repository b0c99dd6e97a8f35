"""An evaluation of resolution as one page: tables beside the paper's, pictures, errors."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from nfh_models.resolution.scoring import COLUMNS, LABELS, Calibration, Evaluation, Reliability
from nfh_models.resolution.scoring.paper import ELMO_N, elmo_confusion
from nfh_tui.cli.evaluate_json import Asked
from nfh_tui.cli.evaluate_resolution_errors import errors
from nfh_tui.cli.evaluate_resolution_figures import tables
from nfh_tui.cli.evaluate_resolution_page import Html, text
from nfh_tui.cli.evaluate_resolution_parts import breakdowns, mistakes
from nfh_tui.cli.evaluate_resolution_rows import Both, Table, both, head
from nfh_tui.cli.evaluate_resolution_svg import Line, Matrix, Point, matrix, reliability
from nfh_tui.resolution_trial import Entrant

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import Found

TITLE = "Resolution of numeric fused heads"

ELMO_SIZES = {
    "YEAR": 46,
    "AGE": 108,
    "CURRENCY": 40,
    "PEOPLE": 93,
    "TIME": 32,
    "OTHER": 217,
    "REFERENCE": 464,
}
"""Examples of each label in the paper's dev set, of which its matrix is."""


def as_page(found: "Found", asked: Asked) -> list[str]:
    """The page, as pieces to be written one after the other."""
    page = Html(TITLE)
    first, notes = head(found, asked)
    page.say(first)
    for note in [*notes, *(f"warning: {one}" for one in found.trial.warnings)]:
        page.note(note)
    if found.trial.examples:
        pairs = both(found)
        for table in tables(found, asked, oracle=True):
            _table(page, table, page.title)
            if table.title == "Calibration":
                _reliabilities(page, pairs)
        _matrices(page, pairs)
        page.title("Taken apart")
        page.raw('<div class="tables">')
        for table in breakdowns(pairs):
            page.raw("<section>")
            _table(page, table, page.subtitle)
            page.raw("</section>")
        page.raw("</div>")
        if any(one.mistakes for _, one in pairs):
            _table(page, mistakes(pairs), page.title)
        errors(page, pairs)
    _seconds(page, found)
    return page.lines()


def _table(page: Html, table: Table, heading: Callable[[str], None]) -> None:
    heading(table.title)
    if table.rows:
        page.table(table.columns, table.rows, table.styles)
    for note in table.notes:
        page.note(note)


# --- pictures -------------------------------------------------------------------------------


def _matrices(page: Html, pairs: Both) -> None:
    page.title("Gold against answer")
    pictures = [
        _figure(entrant.name, matrix(_matrix(f"Gold against answer of {entrant.name}", one)))
        for entrant, one in pairs
    ]
    pictures.append(
        _figure(f"The paper's model with ELMo, its {ELMO_N:,} dev examples", matrix(_elmo()))
    )
    page.raw(f'<div class="pair wide">{"".join(pictures)}</div>')
    page.note(
        "a cell is the darker, the more of its row it holds; right answers are underlined; "
        "REF-WRONG: a word for a Reference that is no gold mention; ?: a count of the paper's "
        "matrix that is not known here, all of them small"
    )


def _figure(caption: str, picture: str) -> str:
    return f"<figure><figcaption>{text(caption, 200)}</figcaption>{picture}</figure>"


def _matrix(title: str, one: Evaluation) -> Matrix:
    found = one.confusion
    columns, rows = list(found.columns), [list(row) for row in found.rows]
    if any(found.unanswered):
        columns.append("none")
        rows = [[*row, none] for row, none in zip(rows, found.unanswered, strict=True)]
    return Matrix(
        title,
        found.labels,
        columns,
        rows,
        right=range(len(found.labels)),
        sizes=[sum(row) for row in rows],
    )


def _elmo() -> Matrix:
    return Matrix(
        "Gold against answer of the paper's model with ELMo",
        LABELS,
        COLUMNS,
        elmo_confusion(),
        right=range(len(LABELS)),
        sizes=[ELMO_SIZES[label] for label in LABELS],
    )


def _reliabilities(page: Html, pairs: Both) -> None:
    """Of each model with probabilities, how often its answers are right."""
    pictures = [
        _figure(entrant.name, _reliability(entrant, one.calibration))
        for entrant, one in pairs
        if one.calibration is not None
    ]
    if not pictures:
        return
    page.raw(f'<div class="pair">{"".join(pictures)}</div>')
    page.note(
        "reliability: how often answers are right, by how sure the model is; dots and the "
        "solid line as it says, squares and the broken line by temperature; the diagonal is a "
        "model that is right as often as it says"
    )


def _reliability(entrant: Entrant, one: Calibration) -> str:
    lines = [Line("as the model says", _points(one.before))]
    if one.after is not None:
        lines.append(Line("by temperature", _points(one.after)))
    return reliability(f"Reliability of {entrant.name}", lines)


def _points(one: Reliability) -> list[Point]:
    return [
        Point(part.confidence, part.accuracy, part.n)
        for part in one.bins
        if part.confidence is not None and part.accuracy is not None
    ]


def _seconds(page: Html, found: "Found") -> None:
    page.title("Seconds")
    for sentence in _times(found):
        page.note(sentence)


def _times(found: "Found") -> Iterator[str]:
    trial = found.trial
    if trial.parser is not None:
        yield f"parsing, once for all: {trial.parsing:.1f} ({trial.parser})"
    for judged in trial.judged:
        yield f"answering, {judged.entrant.name}: {judged.seconds:.1f}"
