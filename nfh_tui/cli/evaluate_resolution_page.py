"""A report as one HTML page that needs nothing else: no scripts, no fonts, no pictures.

It is read in light and in dark, as the reader's system has it, and on paper. Whatever comes
from a corpus, a file's name or a person goes through `text`, which escapes it and makes
control characters visible.
"""

from collections.abc import Iterable, Sequence
from html import escape

from nfh_db.formats.wording import visible

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
