"""Style sheets that are parsed and matched once, for all the applications that tests start.

An application parses its style sheets, and matches their rules with some 150 component classes,
at its start and again with each class that a screen is given. Both are the same for each start,
and take two fifths of it. It also matches a node again with each change of its classes, most of
which change nothing of its component classes.
"""

from collections.abc import Hashable
from typing import Any

from textual.css.model import RuleSet
from textual.css.styles import RenderStyles, RulesMap
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

_parse_rules = Stylesheet._parse_rules
_process_component_classes = Stylesheet._process_component_classes
_RULES = "rules_of_components"
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


class ComponentStyles(dict[str, RenderStyles]):
    """The styles of a node's component classes, each of them made when it is asked for."""

    def __init__(self, sheet: Stylesheet, node: DOMNode, rules: dict[str, RulesMap]) -> None:
        super().__init__()
        self.sheet = sheet
        self.node = node
        self.rules = rules

    def __contains__(self, name: object) -> bool:
        return name in self.rules

    def __missing__(self, name: str) -> RenderStyles:
        # As Textual does it, but for the matching.
        virtual = DOMNode(classes=name)
        virtual._attach(self.node)
        if rules := self.rules[name]:
            self.sheet.replace_rules(virtual, rules)
        return self.setdefault(name, virtual.styles)


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
    before = node.__dict__.get(_RULES)
    if key not in _matched:
        node._component_styles = {}
        _process_component_classes(sheet, node)
        _matched[key] = {
            name: dict(styles.base._rules) for name, styles in node._component_styles.items()
        }
    rules = _matched[key]
    if rules is before:
        return
    node.__dict__[_RULES] = rules
    node._component_styles = ComponentStyles(sheet, node, rules)
    if rules != before:
        node.refresh()


def install() -> None:
    """Let Textual parse and match so."""
    Stylesheet._parse_rules = _parse_once
    Stylesheet._process_component_classes = _match_once
