"""Write the tables of the pages from the registries: keys, signs, formats, who may do what.

`python docs/readme_tables.py` rewrites what stands between the markers; a test compares.
"""

import re
from pathlib import Path

from nfh_db.formats.base import How, What
from nfh_db.formats.registry import ours
from nfh_tui.actions import ACTIONS, GROUPS, Access, table_lines
from nfh_tui.config import LEGEND

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS / "keys.md", DOCS / "formats.md", DOCS / "serve.md")


def key_table() -> str:
    """The keys by group; actions that share a line of the help share one here."""
    rows = ["| keys | act |", "|---|---|"]
    for group in GROUPS:
        rows.append(f"| | *{group}* |")
        for line in table_lines([group]):
            what = f"**{line.title}.** {line.description}".strip()
            rows.append(f"| {markdown_keys(line.keys)} | {what} |")
    return "\n".join(rows) + "\n"


def markdown_keys(shown: str) -> str:
    return " ".join(f"`{key}`" for key in shown.replace("|", "\\|").split())


def format_link(name: str) -> str:
    """The format's name, with a link to the section of a page that describes it."""
    heading = re.compile(rf"^## (.*\b{name}(?![\w-]).*)$", re.MULTILINE)
    for page in sorted(DOCS.glob("formats*.md")):
        if found := heading.search(page.read_text("utf-8")):
            anchor = re.sub(r"[^\w -]", "", found[1].lower()).replace(" ", "-")
            at = "" if page.name == "formats.md" else page.name
            return f"[`{name}`]({at}#{anchor})"
    raise LookupError(f"no page of docs/ has a section on the format {name}")


def format_table() -> str:
    """One line a format, those with labels first."""
    rows = ["| format | files | what it is |", "|---|---|---|"]
    rows += [
        f"| {format_link(f.name)} | {' '.join(f.extensions)} | {f.description}"
        f"{'' if f.writable else ' (import only)'} |"
        for f in sorted(ours(), key=lambda one: not one.labelled)
    ]
    return "\n".join([*rows, ""])


HELD = {How.OWN: "own", How.BESIDE: "beside", How.SIDE: "side", How.NO: "–"}


def grouped(cells: dict[str, tuple[str, ...]]) -> dict[tuple[str, ...], list[str]]:
    """The names under which the same cells stand, by the cells."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, held in cells.items():
        groups.setdefault(held, []).append(name)
    return groups


def holds_table() -> str:
    """What each format that is written may hold; equal rows and equal columns are one."""
    columns = grouped(
        {
            f"`{f.name}`": tuple(HELD[f.holds[what]] for what in What)
            for f in ours()
            if f.writable and f.holds
        }
    )
    lines = {what: tuple(column[at] for column in columns) for at, what in enumerate(What)}
    rows = [
        f"| | {' | '.join(', '.join(names) for names in columns.values())} |",
        "|---" * (len(columns) + 1) + "|",
        *(
            f"| {'; '.join(names)} | {' | '.join(cells)} |"
            for cells, names in grouped(lines).items()
        ),
    ]
    return "\n".join([*rows, ""])


INVITED_BY = {
    Access.ANNOTATOR: (
        "`--invite NAME`",
        "their own answers, flags, drafts and place; their views and colours",
    ),
    Access.ADJUDICATOR: (
        "`--adjudicator NAME`, `--mode adjudicate`",
        "also gold, the numbers' spans, and the guidelines",
    ),
    Access.ADMIN: (
        "`--admin NAME`",
        "also models, jobs and settings, and whatever takes a path of the server's machine",
    ),
}
"""Who may do more than read: how they are invited, and what they change."""


def access_table() -> str:
    """One line a kind of guest, with the acts that those in the lines before may not do."""
    rows = ["| whoever was invited by | changes | acts |", "|---|---|---|"]
    for access, (options, what) in INVITED_BY.items():
        titles = dict.fromkeys(a.listed or a.title for a in ACTIONS if a.access is access)
        rows.append(f"| {options} | {what} | {', '.join(titles)} |")
    return "\n".join([*rows, ""])


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
        "keys": key_table(),
        "signs": sign_table(),
        "formats": format_table(),
        "holds": holds_table(),
        "access": access_table(),
    }
    for name, table in tables.items():
        pattern = re.compile(rf"(<!-- {name}:start -->\n).*?(<!-- {name}:end -->)", re.DOTALL)
        text = pattern.sub(lambda match, table=table: match[1] + table + match[2], text)
    return text


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text("utf-8")), "utf-8")
