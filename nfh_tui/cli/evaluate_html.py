"""An evaluation as a page of its own: what the command prints, with nothing that runs."""

from html import escape
from pathlib import Path

import click

from nfh_db.formats.writing import write_lines

STYLE = "body{margin:2em auto;max-width:100ch;padding:0 1em}pre{white-space:pre-wrap}"


def write_report(path: Path, title: str, text: str) -> None:
    """Write a report as HTML, in place of what stood there. Raises ExportError."""
    name = escape(title)
    write_lines(
        path,
        [
            '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width">\n',
            f"<title>{name}</title>\n<style>{STYLE}</style>\n",
            f"<h1>{name}</h1>\n<pre>{escape(click.unstyle(text))}</pre>\n</html>\n",
        ],
    )
