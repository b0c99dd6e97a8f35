"""Style sheets that are parsed once, for all the applications that tests start.

An application parses its style sheets at its start, which is a fifth of it, and comes to the
same rules each time.
"""

from collections.abc import Hashable
from typing import Any

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

_parse_rules = Stylesheet._parse_rules
_parsed: dict[Hashable, list[RuleSet]] = {}


def _parse_once(
    sheet: Stylesheet, css: str, read_from: Any, *more: Any, **named: Any
) -> list[RuleSet]:
    key = (frozenset(sheet._variables.items()), css, read_from, more, *named.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, *more, **named)
    return _parsed[key]


def install() -> None:
    """Let Textual parse so."""
    Stylesheet._parse_rules = _parse_once
