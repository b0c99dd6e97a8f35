"""An evaluation of resolution as one HTML page that needs nothing else: tables, pictures as
inline SVG, and wrong answers in their passages.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count, pairwise
from typing import TYPE_CHECKING

from nfh_db.messages import counted, visible
from nfh_models.resolution.evaluation import Calibration, Reliability, ResolutionEvaluation
from nfh_models.resolution.scoring import (
    COLUMNS,
    ELMO_N,
    LABELS,
    Mistake,
    Mistaken,
    elmo_confusion,
)
from nfh_tui.cli.evaluate_call import ReportOptions
from nfh_tui.cli.evaluate_resolution import (
    BEFORE,
    BEHIND,
    SHADES,
    Both,
    ReportTable,
    answered,
    around,
    both,
    breakdowns,
    candidates,
    confidence,
    head,
    mistakes,
    passage_html,
    tables,
    wanted,
    worst,
)
from nfh_tui.services.evaluate import ResolutionSystem

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import ResolutionResult


# A report as one HTML page that needs nothing else: no scripts, no fonts, no pictures.
#
# It is read in light and in dark, as the reader's system has it, and on paper. Whatever comes
# from a corpus, a file's name or a person goes through `text`, which escapes it and makes
# control characters visible.

LONGEST = 2_000

STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1d21;--soft:#5a6069;--line:#d5d9df;
--panel:#f5f6f8;--hue:#2a5db0;--anchor:#0b4fd0;--second:#b4541a;--cell:#eef0f3}
@media (prefers-color-scheme:dark){:root{--paper:#16181d;--ink:#e9ebee;--soft:#a3aab4;
--line:#3a3f47;--panel:#1f2229;--hue:#6ea0ff;--anchor:#82b1ff;--second:#f0a36b;--cell:#24272e}}
@media print{:root{color-scheme:light;--paper:#fff;--ink:#000;--soft:#444;--line:#bbb;
--panel:#fff;--hue:#2a5db0;--anchor:#0b4fd0;--second:#b4541a;--cell:#f1f1f1}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem;background:var(--paper);
color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:1.6rem;margin:.2rem 0 .6rem}h2{font-size:1.2rem;margin:2.2rem 0 .6rem;
border-bottom:1px solid var(--line);padding-bottom:.25rem}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
p{margin:.4rem 0}.note,caption{color:var(--soft);font-size:.875rem;text-align:left}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:.4rem 0 .8rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top}th{font-weight:600;background:var(--panel)}
td.n,th.n{text-align:right;white-space:nowrap}tr.paper td{color:var(--soft);font-style:italic}
tr.sub td{color:var(--soft);font-size:.875rem;border-bottom-color:var(--line);padding-top:0}
tr.lead td{border-bottom:0}tr.sub td:first-child{padding-left:1.6rem}
figure{margin:.6rem 0 1.2rem}figcaption{font-weight:600;margin-bottom:.3rem}
.pair{display:flex;flex-wrap:wrap;gap:1rem 2rem}
.tables{display:flex;flex-wrap:wrap;gap:0 3rem}.tables section{min-width:0;
max-width:min(100%,35rem)}
.pair figure{flex:1 1 20rem;min-width:0}
.wide figure{flex-basis:33rem}
svg{width:100%;height:auto;font:13px system-ui,sans-serif;display:block}
svg text{fill:var(--ink)}
.matrix text{dominant-baseline:central;text-anchor:middle}
.matrix .axis{text-anchor:start;fill:var(--soft);font-size:11px;
dominant-baseline:auto}
.matrix .label{font-size:10.5px;font-weight:600;dominant-baseline:auto}
.matrix .row{text-anchor:end;font-size:11.5px;font-weight:600}
.matrix .empty{fill:var(--cell)}.matrix .full{fill:var(--hue)}
.matrix .right{font-weight:700;text-decoration:underline}.matrix .faint{fill:var(--soft)}
.reliability .frame{fill:var(--panel);stroke:var(--line)}
.reliability .grid{stroke:var(--line);stroke-width:.7;fill:none}
.reliability .even{stroke:var(--soft);stroke-dasharray:5 4;fill:none}
.reliability .tick{font-size:11px;fill:var(--soft)}.reliability .across{text-anchor:middle}
.reliability .up{text-anchor:end;dominant-baseline:central}
.reliability .line{fill:none;stroke-width:2}.reliability .line-1{stroke:var(--hue)}
.reliability .line-2{stroke:var(--second);stroke-dasharray:6 3}
.reliability .mark-1{fill:var(--hue)}.reliability .mark-2{fill:var(--second)}
.reliability .bar{fill:var(--hue);opacity:.55}
.key{display:inline-block;padding:0 .35rem;border-radius:.2rem}
details{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;padding:0 .8rem}
summary{cursor:pointer;padding:.5rem 0;font-weight:600}details[open]>summary{
border-bottom:1px solid var(--line);margin-bottom:.6rem}
.error{border-left:3px solid var(--line);padding:.1rem 0 .1rem .8rem;margin:0 0 1rem;
break-inside:avoid}
.error .said{font-size:.9rem;margin:0 0 .2rem}.error .scores{color:var(--soft);
font-size:.8125rem}
.passage{background:var(--panel);border-radius:.3rem;padding:.35rem .7rem;
overflow-wrap:anywhere}
.passage p{margin:.1rem 0}.passage .cut{color:var(--soft);font-size:.8125rem}
.who{color:var(--soft);font-weight:600;font-size:.8125rem}
.anchor{color:var(--anchor)}.gold{text-decoration:underline;font-style:italic}
.strong,.medium,.weak{color:#000;border-radius:.15rem;padding:0 .1rem;
-webkit-print-color-adjust:exact;print-color-adjust:exact}
.strong{background:rgb(220,80,80)}.medium{background:rgb(215,150,140)}
.weak{background:rgb(250,220,220)}
.chosen{outline:2px solid var(--ink);outline-offset:1px;border-radius:.1rem}
@media print{body{font-size:11pt;max-width:none;padding:0}details{border:0;padding:0}
.matrix .full{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""


def text(value: str, most: int = LONGEST) -> str:
    """Words as HTML: escaped, with nothing that is not seen. most: of their characters."""
    return escape(visible(value, most))


class Html:
    """The page, top to bottom."""

    def __init__(self, title: str) -> None:
        self._title = text(title)
        self._parts: list[str] = [f"<h1>{self._title}</h1>\n"]

    @property
    def size(self) -> int:
        """Characters so far."""
        return sum(map(len, self._parts))

    def raw(self, html: str) -> None:
        """HTML that is ready: whoever made it has escaped what is in it."""
        self._parts.append(html + "\n")

    def title(self, words: str) -> None:
        """The heading of a section."""
        self.raw(f"<h2>{text(words)}</h2>")

    def subtitle(self, words: str) -> None:
        """A heading within a section."""
        self.raw(f"<h3>{text(words)}</h3>")

    def say(self, sentence: str) -> None:
        """A paragraph."""
        self.raw(f"<p>{text(sentence)}</p>")

    def note(self, sentence: str) -> None:
        """A paragraph that is beside the point."""
        self.raw(f'<p class="note">{text(sentence)}</p>')

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        styles: Sequence[str] = (),
    ) -> None:
        """Rows under columns. A column whose name ends in ":" holds numbers.

        styles: of each row "", "paper" for figures of the paper, "lead" and "sub" for a row
        and the smaller one below it.
        """
        numbers = [name.endswith(":") for name in columns]
        head = "".join(
            f"<th{_class(right)}>{text(name.removesuffix(':'))}</th>"
            for name, right in zip(columns, numbers, strict=True)
        )
        body = []
        for place, row in enumerate(rows):
            style = styles[place] if place < len(styles) else ""
            cells = "".join(
                f"<td{_class(right)}>{text(cell, 300)}</td>"
                for cell, right in zip(row, numbers, strict=True)
            )
            body.append(f'<tr class="{style}">{cells}</tr>' if style else f"<tr>{cells}</tr>")
        self.raw(
            f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
            f"<tbody>{''.join(body)}</tbody></table></div>"
        )

    def lines(self) -> list[str]:
        """All of it, as what is written to a file."""
        return [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width,initial-scale=1">\n',
            f"<title>{self._title}</title>\n<style>{STYLE}</style>\n",
            *self._parts,
            "</html>\n",
        ]


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


# Wrong answers on a page, by kind, each in its passage with the scores of its words.
#
# A page stays small enough for a browser: a passage is cut around its anchor, and once the
# errors have taken MOST characters the rest are listed without their passages, then counted.

MOST = 3_000_000
"""Characters that the errors of all models with their passages may take."""
MOST_LISTED = 600_000
"""Characters that the list of those without may take."""


def errors(page: Html, pairs: Both) -> None:
    """The wrong answers of each entrant."""
    if not any(one.mistakes for _, one in pairs):
        return
    wanted_by = [(entrant, one.mistakes) for entrant, one in pairs]
    for entrant, mistaken in wanted_by:
        page.title(f"Wrong answers of {entrant.name}: {len(mistaken):,}")
        _legend(page, entrant)
        _of_entrant(page, entrant, mistaken, MOST // len(wanted_by))


def _legend(page: Html, entrant: ResolutionSystem) -> None:
    shades = ", ".join(
        f'<span class="{name} key">{name}</span> from {100 * least:.0f} %'
        for least, name in SHADES
    )
    order = "the surest first" if entrant.resolver.probabilities else "as they come"
    page.raw(
        '<p class="note">The <b class="anchor">number</b> is bold, '
        '<i class="gold">gold heads</i> are underlined italics, the '
        '<span class="chosen">answer</span> is framed; words are shaded by their score beside '
        f"that of the best candidate: {shades}. Shown are {BEFORE} words before the number "
        f"and {BEHIND} behind it, and what is around heads that stand further off. Each kind "
        f"opens on a click; within it {order}.</p>"
    )


def _of_entrant(
    page: Html, entrant: ResolutionSystem, mistaken: Sequence[Mistaken], budget: int
) -> None:
    sure = entrant.resolver.probabilities
    ranked = worst(mistaken, probabilities=sure)
    kinds = [kind for kind in Mistake if any(one.mistake is kind for one in ranked)]
    kinds.sort(key=lambda kind: -sum(one.mistake is kind for one in ranked))
    for place, kind in enumerate(kinds):
        some = [one for one in ranked if one.mistake is kind]
        # What a kind leaves of its part goes to the kinds after it.
        used = _of_kind(page, kind, some, budget // (len(kinds) - place), sure=sure)
        budget -= used


def _of_kind(
    page: Html, kind: Mistake, some: Sequence[Mistaken], budget: int, *, sure: bool
) -> int:
    """The errors of one kind in a box that opens; how many characters they took."""
    used = 0
    shown: list[str] = []
    for one in some:
        card = _card(one, sure=sure)
        if used + len(card) > budget:
            break
        used += len(card)
        shown.append(card)
    rest = some[len(shown) :]
    inside = "".join(shown) + _listed(rest, sure=sure)
    page.raw(f"<details><summary>{text(kind.value)}: {len(some):,}</summary>{inside}</details>")
    return used


def _card(one: Mistaken, *, sure: bool) -> str:
    judged = one.judged
    item, choice = judged.example.item, judged.choice
    heads = judged.example.gold.head_tokens()
    scores = ""
    if choice is not None:
        best = " · ".join(
            f"{text(name)} {value:.3g}" for name, value in candidates(item, choice)
        )
        scores = f'<p class="scores">scores: {best}</p>' if best else ""
    return (
        f'<div class="error"><p class="said">{text(judged.example.where)}: gold '
        f"<b>{_gold(one)}</b>, predicted <b>{_said(one, sure=sure)}</b></p>"
        f"{passage_html(item, choice, judged.token, heads)}{scores}</div>\n"
    )


def _gold(one: Mistaken) -> str:
    """The gold label: the heads in words, a class in capitals as the paper has it."""
    return text(wanted(one.judged), 200)


def _said(one: Mistaken, *, sure: bool) -> str:
    """The answer, with its score where that says how sure a model is."""
    said = text(answered(one.judged), 200)
    score = confidence(one.judged)
    return f"{said} {score:.2f}" if sure and score is not None else said


def _listed(some: Sequence[Mistaken], *, sure: bool) -> str:
    """Those for which there was no room, a line each as far as that goes."""
    if not some:
        return ""
    lines = []
    used = 0
    for one in some:
        line = (
            f"<li>{text(one.judged.example.where)}: gold {_gold(one)}, predicted "
            f"{_said(one, sure=sure)}: {text(around(one.judged), 200)}</li>"
        )
        if used + len(line) > MOST_LISTED // len(Mistake):
            break
        used += len(line)
        lines.append(line)
    left = len(some) - len(lines)
    more = ""
    if left:
        more = f'<p class="note">and {counted(left, "further one")}; --json has them all</p>'
    return (
        '<p class="note">the page would grow too large with the passages of these, too:</p>'
        f"<ul>{''.join(lines)}</ul>{more}"
    )


# Pictures of an evaluation as inline SVG: confusion matrices and reliability diagrams.
#
# Colours are the page's own variables (see `STYLE`), so that a
# picture is read in light, in dark and on paper; numbers stand in the cells and beside the
# points, so that none is read by colour alone.

CELL_WIDTH = 74
CELL_HEIGHT = 34
LEFT = 104
TOP = 58
EDGE = 8

DARKEST = 0.6
"""Opacity of a cell that holds its whole row: the ink stays legible on it in both themes."""

SIZE = 300
"""Width and height of a reliability diagram's square, in its own units."""
MARGIN = 44
COUNTS = 46
"""Height of the bars below it that say how many answers each point stands for."""


@dataclass(frozen=True, slots=True)
class CountTable:
    """A table of counts: a row a gold label, a column an answer.

    rows: None for a cell that is not known. right: the column that is right for each row.
    sizes: examples of each row, where they are more than the cells that are known.
    """

    title: str
    labels: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[int | None]]
    right: Sequence[int]
    sizes: Sequence[int]


def matrix(one: CountTable) -> str:
    """A confusion matrix with its counts; the darker a cell, the more of its row it holds."""
    width = LEFT + CELL_WIDTH * len(one.columns) + EDGE
    height = TOP + CELL_HEIGHT * len(one.labels) + EDGE
    title = escape(one.title)
    parts = [
        f'<svg class="matrix" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px"><title>{title}</title>',
        f'<text class="axis" x="{EDGE}" y="{TOP - 10}">gold ↓ · answer →</text>',
    ]
    for place, name in enumerate(one.columns):
        at = LEFT + CELL_WIDTH * (place + 0.5)
        parts.append(f'<text class="label" x="{at}" y="{TOP - 10}">{_short(name)}</text>')
    for place in range(len(one.labels)):
        parts += _row(one, place)
    return "".join([*parts, "</svg>"])


def _row(one: CountTable, place: int) -> list[str]:
    top = TOP + CELL_HEIGHT * place
    middle = top + CELL_HEIGHT / 2
    label, size = one.labels[place], one.sizes[place]
    parts = [
        f'<text class="row" x="{LEFT - EDGE}" y="{middle}">{escape(label)}</text>',
    ]
    for column, cell in enumerate(one.rows[place]):
        left = LEFT + CELL_WIDTH * column
        share = cell / size if cell and size else 0.0
        box = (
            f'x="{left + 1}" y="{top + 1}" width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}"'
        )
        style, words = _cell(cell, right=column == one.right[place])
        said = f"gold {label}, answer {one.columns[column]}: {_hover(cell, share)}"
        parts.append(
            f"<g><title>{escape(said)}</title>"
            f'<rect class="empty" {box}/>'
            f'<rect class="full" {box} fill-opacity="{DARKEST * share:.3f}"/>'
            f'<text class="{style}" x="{left + CELL_WIDTH / 2}" y="{middle}">{words}</text></g>'
        )
    return parts


def _cell(cell: int | None, *, right: bool) -> tuple[str, str]:
    if cell is None:
        return "count faint", "?"
    if not cell:
        return "count faint", "0"
    return ("count right" if right else "count"), f"{cell:,}"


def _hover(cell: int | None, share: float) -> str:
    return "not published" if cell is None else f"{cell:,} ({100 * share:.1f} % of the row)"


def _short(name: str) -> str:
    return escape("REFER." if name == "REFERENCE" else name)


# --- reliability ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """Answers of about the same confidence: mean confidence, share that is right, how many."""

    confidence: float
    right: float
    n: int


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """The points of one calibration, by rising confidence. name: for the key."""

    name: str
    points: Sequence[Point]


def reliability(title: str, lines: Sequence[ReliabilityCurve]) -> str:
    """How often answers are right, by how sure the model says it is; at most two lines.

    A calibrated model lies on the diagonal. The bars below are the counts of the first line.
    """
    width, height = SIZE + 2 * MARGIN, SIZE + 2 * MARGIN + COUNTS
    parts = [
        f'<svg class="reliability" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:{width}px"><title>{escape(title)}</title>',
        *_frame(),
    ]
    for number, line in zip(count(1), lines, strict=False):
        parts += _line(line, number)
    if lines:
        parts += _bars(lines[0])
    return "".join([*parts, "</svg>"])


def _frame() -> list[str]:
    parts = [
        f'<rect class="frame" x="{MARGIN}" y="{MARGIN / 2}" width="{SIZE}" height="{SIZE}"/>',
        f'<path class="even" d="M{_x(0)} {_y(0)}L{_x(1)} {_y(1)}"/>',
    ]
    for step in range(0, 101, 25):
        share = step / 100
        parts += [
            f'<text class="tick across" x="{_x(share)}" y="{_y(0) + 16}">{step}</text>',
            f'<text class="tick up" x="{MARGIN - 8}" y="{_y(share)}">{step}</text>',
        ]
        if 0 < step < 100:
            parts.append(
                f'<path class="grid" d="M{_x(share)} {_y(0)}V{_y(1)}'
                f'M{_x(0)} {_y(share)}H{_x(1)}"/>'
            )
    middle = MARGIN + SIZE / 2
    below = _y(0) + COUNTS + 32
    upright = MARGIN / 2 + SIZE / 2
    return [
        *parts,
        f'<text class="tick across" x="{middle}" y="{below}">confidence, percent; '
        "bars: answers</text>",
        f'<text class="tick across" transform="rotate(-90 10 {upright})" x="10" '
        f'y="{upright}">right, percent</text>',
    ]


def _line(line: ReliabilityCurve, number: int) -> list[str]:
    parts = [
        f'<path class="line line-{number}" d="M{_x(one.confidence)} {_y(one.right)}'
        f'L{_x(two.confidence)} {_y(two.right)}"/>'
        for one, two in pairwise(line.points)
    ]
    for one in line.points:
        said = (
            f"{line.name}: {one.n:,} answers, confidence {100 * one.confidence:.1f} %, right "
            f"{100 * one.right:.1f} %"
        )
        parts.append(
            f'<g class="mark mark-{number}"><title>{escape(said)}</title>'
            f"{_mark(_x(one.confidence), _y(one.right), number)}</g>"
        )
    return parts


def _mark(x: float, y: float, number: int) -> str:
    """A dot for the first line, a square for the second: told apart without colour."""
    if number == 1:
        return f'<circle cx="{x}" cy="{y}" r="4.5"/>'
    return f'<rect x="{round(x - 4, 1)}" y="{round(y - 4, 1)}" width="8" height="8"/>'


def _bars(line: ReliabilityCurve) -> list[str]:
    most = max((one.n for one in line.points), default=0)
    if not most:
        return []
    foot = _y(0) + 22 + COUNTS - 8
    tall = COUNTS - 16
    return [
        f'<rect class="bar" x="{round(_x(one.confidence) - 5, 1)}" '
        f'y="{round(foot - tall * one.n / most, 1)}" width="10" '
        f'height="{round(tall * one.n / most, 1)}"><title>{one.n:,} answers</title></rect>'
        for one in line.points
    ]


def _x(share: float) -> float:
    return round(MARGIN + SIZE * share, 1)


def _y(share: float) -> float:
    return round(MARGIN / 2 + SIZE * (1 - share), 1)


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


def as_page(found: "ResolutionResult", asked: ReportOptions) -> list[str]:
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


def _table(page: Html, table: ReportTable, heading: Callable[[str], None]) -> None:
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


def _matrix(title: str, one: ResolutionEvaluation) -> CountTable:
    found = one.confusion
    columns, rows = list(found.columns), [list(row) for row in found.rows]
    if any(found.unanswered):
        columns.append("none")
        rows = [[*row, none] for row, none in zip(rows, found.unanswered, strict=True)]
    return CountTable(
        title,
        found.labels,
        columns,
        rows,
        right=range(len(found.labels)),
        sizes=[sum(row) for row in rows],
    )


def _elmo() -> CountTable:
    return CountTable(
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


def _reliability(entrant: ResolutionSystem, one: Calibration) -> str:
    lines = [ReliabilityCurve("as the model says", _points(one.before))]
    if one.after is not None:
        lines.append(ReliabilityCurve("by temperature", _points(one.after)))
    return reliability(f"Reliability of {entrant.name}", lines)


def _points(one: Reliability) -> list[Point]:
    return [
        Point(part.confidence, part.accuracy, part.n)
        for part in one.bins
        if part.confidence is not None and part.accuracy is not None
    ]


def _seconds(page: Html, found: "ResolutionResult") -> None:
    page.title("Seconds")
    for sentence in _times(found):
        page.note(sentence)


def _times(found: "ResolutionResult") -> Iterator[str]:
    trial = found.trial
    if trial.parser is not None:
        yield f"parsing, once for all: {trial.parsing:.1f} ({trial.parser})"
    for judged in trial.judged:
        yield f"answering, {judged.entrant.name}: {judged.seconds:.1f}"
