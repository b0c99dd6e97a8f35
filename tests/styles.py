"""Style sheets that are parsed and matched once, for all the applications that tests start.

An application parses its style sheets and matches their rules with its widgets, at its start
and again with each class that a screen is given. It comes to the same each time.
"""

from collections.abc import Hashable
from typing import Any

from textual.css.model import RuleSet
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

_parse_rules = Stylesheet._parse_rules
_parse = Stylesheet.parse
_apply = Stylesheet.apply
_parsed: dict[Hashable, list[RuleSet]] = {}
_sheets: dict[Hashable, tuple[list[RuleSet], dict[str, list[RuleSet]]]] = {}
"""By what style sheets are parsed from, what they come to."""
_applied: dict[Hashable, tuple[RulesMap, dict[str, bool]]] = {}
"""By what a style sheet comes to and the place of a widget, the rules that hold there."""

_FLAGS = ("_has_hover_style", "_has_focus_within", "_has_order_style", "_has_odd_or_even")


def _parse_once(
    sheet: Stylesheet, css: str, read_from: Any, *more: Any, **named: Any
) -> list[RuleSet]:
    key = (frozenset(sheet._variables.items()), css, read_from, more, *named.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, *more, **named)
    return _parsed[key]


def _parse_sheet_once(sheet: Stylesheet) -> None:
    key = (frozenset(sheet._variables.items()), *sheet.source.items())
    if sheet._invalid_css or key not in _sheets:
        _parse(sheet)
        _sheets[key] = sheet.rules, sheet.rules_map
    sheet._rules, sheet._rules_map = _sheets[key]
    sheet._require_parse = False


def _apply_once(
    sheet: Stylesheet, node: DOMNode, *, animate: bool = False, cache: Any = None
) -> None:
    path = [
        (one._css_type_name, one._id, one.classes, one._pseudo_classes_cache_key)
        for one in node.css_path_nodes
    ]
    rules = sheet.rules
    key = (id(sheet.rules), node.pseudo_classes, node.app.pseudo_classes, *path)
    if key in _applied:
        rules, flags = _applied[key]
        node.__dict__.update(flags)
        sheet.replace_rules(node, rules, animate=animate)
        sheet._process_component_classes(node)
        return
    found: list[RulesMap] = []

    def note(node: DOMNode, rules: RulesMap, animate: bool = False) -> None:
        found.append(rules)
        Stylesheet.replace_rules(node, rules, animate=animate)

    sheet.__dict__["replace_rules"] = note
    try:
        _apply(sheet, node, animate=animate)
    finally:
        sheet.__dict__.pop("replace_rules", None)
    if found:
        _applied[key] = found[0], {name: getattr(node, name) for name in _FLAGS}


def install() -> None:
    """Let Textual parse and match so."""
    Stylesheet._parse_rules = _parse_once
    Stylesheet.parse = _parse_sheet_once
    Stylesheet.apply = _apply_once
