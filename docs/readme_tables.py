"""Write the tables of README.md and docs/keys.md from the registries: keys, signs, formats.

`python docs/readme_tables.py` rewrites what stands between the markers; a test compares.
"""

import re
from pathlib import Path

from nfh_db.formats.amt import HEADER
from nfh_db.formats.registry import AMT, FORMATS, Format
from nfh_tui.actions import key_table_markdown
from nfh_tui.signs import LEGEND

TAB = "\t"
DOCS = Path(__file__).resolve().parent
PAGES = (DOCS.parent / "README.md", DOCS / "keys.md")


def format_table() -> str:
    """One line a format, then an example line of each, with the header that `amt` needs."""
    rows = ["| format | files | goes | what it is |", "|---|---|---|---|"]
    rows += [
        f"| `{f.name}` | {' '.join(f.extensions)} | {f.direction} | {f.description} |"
        for f in FORMATS
    ]
    title = "One line of each (⇥ is a tab); of `amt` the header, too:"
    return "\n".join([*rows, "", title, "", "```", *map(_example, FORMATS), "```", ""])


def _example(format_: Format) -> str:
    name, blank = f"{format_.name + ':':<11}", " " * 11
    header = f"{HEADER}\n{blank}" if format_ is AMT else ""
    return name + header + format_.example.replace(TAB, "⇥")


def sign_table() -> str:
    """One line a sign."""
    rows = [
        "| sign | means |",
        "|---|---|",
        *(f"| {sign} | {words} |" for sign, words in LEGEND),
    ]
    return "\n".join([*rows, ""])


def with_tables(text: str) -> str:
    """The text of a page with all tables as the registries have them now."""
    tables = {
        "keys": key_table_markdown(),
        "signs": sign_table(),
        "formats": format_table(),
    }
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = pattern.sub(lambda match, table=table: match[1] + table + match[2], text)
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text("utf-8")), "utf-8")
