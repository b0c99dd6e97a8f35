"""Write the tables of README.md from the registries: keys, signs and formats.

`python docs/readme_tables.py` rewrites what stands between the markers; a test compares.
"""

import re
from pathlib import Path

from nfh_db.formats.registry import FORMATS
from nfh_tui.actions import key_table_markdown
from nfh_tui.signs import LEGEND

TAB = "\t"
README = Path(__file__).resolve().parent.parent / "README.md"


def format_table() -> str:
    """One line a format, then an example line of each."""
    rows = ["| format | files | goes | what it is |", "|---|---|---|---|"]
    rows += [
        f"| `{f.name}` | {' '.join(f.extensions)} | {f.direction} | {f.description} |"
        for f in FORMATS
    ]
    examples = [f"{f.name + ':':<11}{f.example.replace(TAB, '⇥')}" for f in FORMATS]
    title = "One line of each (⇥ is a tab):"
    return "\n".join([*rows, "", title, "", "```", *examples, "```", ""])


def sign_table() -> str:
    """One line a sign."""
    rows = [
        "| sign | means |",
        "|---|---|",
        *(f"| {sign} | {words} |" for sign, words in LEGEND),
    ]
    return "\n".join([*rows, ""])


def with_tables(text: str) -> str:
    """The README's text with all tables as the registries have them now."""
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
    README.write_text(with_tables(README.read_text("utf-8")), "utf-8")
