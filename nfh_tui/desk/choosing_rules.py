"""Finding a rule of the guidelines while its id, or words of its title, are typed."""

import re
from collections.abc import Sequence

from nfh_models.domain import rule_id
from nfh_tui.guidelines import Rule

NO_TAG = frozenset({"-", "none"})
"""What is typed to take a tag away."""

_ID = re.compile(r"[Rr]?[0-9]{1,3}")


def name_of(rule: Rule) -> str:
    """A rule in one line: "R7 One noun is one head"."""
    return f"{rule.id} {rule.title}"


class RuleChooser:
    """The rules that fit what is typed.

    An id fits its rule and those that begin so ("1" is R1, then R10 to R19); words fit rules
    that have all of them in the title, or where none has, in the text.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._typed = ""
        self._given: str | None = None

    def offers(self, text: str) -> tuple[Rule, ...]:
        """The rules that fit, the best one first; all of them for no text."""
        wanted = text.split()
        if not wanted:
            return tuple(self._rules)
        exact = self.exact(text)
        if exact is not None and len(wanted) > 1:
            return (exact,)
        if _ID.fullmatch(wanted[0]) and len(wanted) == 1:
            start = rule_id(wanted[0])
            same = [rule for rule in self._rules if rule.id == start]
            longer = [r for r in self._rules if r.id != start and r.id.startswith(start)]
            return (*same, *longer)
        words = [word.casefold() for word in wanted]
        titled = _having(words, [(rule.title, rule) for rule in self._rules])
        return titled or _having(words, [(rule.body, rule) for rule in self._rules])

    def exact(self, text: str) -> Rule | None:
        """The rule whose id stands at the start of the text, if there is one."""
        first = text.split(maxsplit=1)[:1]
        wanted = rule_id(first[0]) if first else ""
        return next((rule for rule in self._rules if rule.id == wanted), None)

    def tab(self, text: str, cursor: int) -> tuple[str, int] | None:
        """The text with the next rule that fits in its place; None where none does."""
        del cursor
        if text != self._given:
            self._typed, place = text, 0
        else:
            place = self._place_of(text) + 1
        found = self.offers(self._typed)
        if not found:
            return None
        self._given = name_of(found[place % len(found)])
        return self._given, len(self._given)

    def _place_of(self, name: str) -> int:
        names = [name_of(rule) for rule in self.offers(self._typed)]
        return names.index(name) if name in names else -1


def _having(words: Sequence[str], texts: Sequence[tuple[str, Rule]]) -> tuple[Rule, ...]:
    return tuple(rule for text, rule in texts if all(word in text.casefold() for word in words))
