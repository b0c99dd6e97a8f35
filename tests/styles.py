"""Style sheets that are parsed and matched once, for all the applications that tests start.

An application parses its style sheets, and matches their rules with some 150 component classes,
at its start and again with each class that a screen is given. Both are the same for each start,
and take two fifths of it.
"""

from collections.abc import Hashable
from typing import Any

from textual.css.model import RuleSet
from textual.css.styles import RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

_parse_rules = Stylesheet._parse_rules
_process_component_classes = Stylesheet._process_component_classes
_numbers: dict[Hashable, int] = {}
_parsed: dict[Hashable, list[RuleSet]] = {}
_matched: dict[Hashable, dict[str, RulesMap]] = {}


def _numbered(sheet: Stylesheet, name: str, part: object, content: Hashable) -> int:
    """A number for what a style sheet holds, counted anew where the part is another object."""
    known = sheet.__dict__.get(name)
    if known is None or known[0] is not part:
        known = (part, _numbers.setdefault(content, len(_numbers)))
        sheet.__dict__[name] = known
    return known[1]


def _parse_once(
    sheet: Stylesheet, css: str, read_from: Any, *more: Any, **named: Any
) -> list[RuleSet]:
    variables = sheet._variables
    number = _numbered(sheet, "numbered_variables", variables, frozenset(variables.items()))
    key = (number, css, read_from, more, *named.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, *more, **named)
    return _parsed[key]


def _match_once(sheet: Stylesheet, node: DOMNode) -> None:
    components = node._get_component_classes()
    if not components:
        return
    number = _numbered(sheet, "numbered_rules", sheet.rules, tuple(map(id, sheet.rules)))
    path = (
        (one._css_type_name, one._id, one.classes, one._pseudo_classes_cache_key)
        for one in node.css_path_nodes
    )
    key = (number, frozenset(node.pseudo_classes), *path)
    if key not in _matched:
        _process_component_classes(sheet, node)
        _matched[key] = {
            name: dict(styles.base._rules) for name, styles in node._component_styles.items()
        }
        return
    # As Textual does it, but for the matching.
    before = dict(node._component_styles)
    node._component_styles.clear()
    for name in sorted(components):
        virtual = DOMNode(classes=name)
        virtual._attach(node)
        if rules := _matched[key][name]:
            sheet.replace_rules(virtual, rules)
        node._component_styles[name] = virtual.styles
    if any(before.get(name) != styles for name, styles in node._component_styles.items()):
        node.refresh()


def install() -> None:
    """Let Textual parse and match so."""
    Stylesheet._parse_rules = _parse_once
    Stylesheet._process_component_classes = _match_once
