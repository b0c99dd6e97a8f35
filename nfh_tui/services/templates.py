"""Renders the templates of the package; values in HTML are escaped."""

import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from nfh_db.messages import counted, visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.environment import TemplateModule

WIDTH = 100
BROKEN = re.compile(r"\s*\n\s*")

LONGEST = 2_000
"""Most characters of a value on a page."""


def paragraph(text: str, indent: str = "") -> str:
    """Wrap the lines of a template as one paragraph. indent: of all lines but the first."""
    return (
        textwrap.fill(
            BROKEN.sub(" ", text.strip()),
            WIDTH,
            initial_indent=indent and "* ",
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
    )


def point(text: str) -> str:
    """The lines of a template as one item of a list."""
    return paragraph(text, "  ")


Filters = Mapping[str, Callable[..., object]]


def render(template: str, filters: Filters, /, **values: object) -> str:
    """Render a document. filters: of this template alone. Raises jinja2.TemplateError."""
    return _with(filters).get_template(template).render(values)


def macros(template: str, filters: Filters, /) -> "TemplateModule":
    """The macros of a template, as callables."""
    return _with(filters).get_template(template).module


def _with(filters: Filters) -> "Environment":
    environment = _environment().overlay()
    environment.filters = {**environment.filters, **filters}
    return environment


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=PackageLoader("nfh_tui"),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "counted": counted,
        "n": "{:,}".format,
        "paragraph": paragraph,
        "point": point,
        "visible": lambda text, most=LONGEST: visible(text, most),
    }
    return made
