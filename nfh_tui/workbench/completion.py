"""Completion of queries, paths and rule ids; the built-in views."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfh_db.query import Completion, Completions, complete, quote
from nfh_db.records import Role
from nfh_models.domain import rule_id
from nfh_tui.actions import Mode
from nfh_tui.display_text import clip, visible, width_of
from nfh_tui.services.guidelines import GuidelineRule

NO_TAG = frozenset({"-", "none"})
"""Inputs that remove a rule from an answer."""

_ID = re.compile(r"[Rr]?[0-9]{1,3}")


def name_of(rule: GuidelineRule) -> str:
    """Return a rule in one line: "R7 One noun is one head"."""
    return f"{rule.id} {rule.title}"


class RuleChooser:
    """Finds the rules that match an input.

    An id matches its rule first, then the ids that start with it ("1": R1, R10 to R19). Words
    match rules with all of them in the title; if there is none, in the text.
    """

    def __init__(self, rules: Sequence[GuidelineRule]) -> None:
        self._rules = rules
        self._typed = ""
        self._given: str | None = None

    def offers(self, text: str) -> tuple[GuidelineRule, ...]:
        """Return the matching rules, the best one first; all rules for an empty text."""
        if not (wanted := text.split()):
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

    def exact(self, text: str) -> GuidelineRule | None:
        """Return the rule whose id starts the text; None if there is none."""
        first = text.split(maxsplit=1)[:1]
        wanted = rule_id(first[0]) if first else ""
        return next((rule for rule in self._rules if rule.id == wanted), None)

    def tab(self, text: str, cursor: int) -> tuple[str, int] | None:
        """Return the text and cursor with the next matching rule; None if none matches."""
        del cursor
        if text != self._given:
            self._typed, place = text, 0
        else:
            place = self._place_of(text) + 1
        if not (found := self.offers(self._typed)):
            return None
        self._given = name_of(found[place % len(found)])
        return self._given, len(self._given)

    def _place_of(self, name: str) -> int:
        names = [name_of(rule) for rule in self.offers(self._typed)]
        return names.index(name) if name in names else -1


def _having(
    words: Sequence[str], texts: Sequence[tuple[str, GuidelineRule]]
) -> tuple[GuidelineRule, ...]:
    return tuple(rule for text, rule in texts if all(word in text.casefold() for word in words))


Values = Callable[[str], Sequence[str]]


LEAST_MEANING = 16
"""Minimum cells for the description of a completion."""


def fit_offers(offers: Sequence[Completion], room: int) -> tuple[tuple[str, str], ...]:
    """Fit completions into `room` cells; only the first one has its description.

    The description is cut to the remaining cells, and left out below LEAST_MEANING.
    """
    labels = [visible(offer.label) for offer in offers]
    left = room - sum(width_of(label) + 2 for label in labels)
    return tuple(
        (label, clip(visible(offer.detail), left) if not n and left >= LEAST_MEANING else "")
        for n, (label, offer) in enumerate(zip(labels, offers, strict=True))
    )


class Completer:
    """Completes queries; repeated tabs go through the completions of the first one."""

    def __init__(self, values: Values, role: Role = Role.ADJUDICATOR) -> None:
        self._values = values
        self._role = role
        self._offers = Completions(0, 0)
        self._source = ""
        self._made: tuple[str, int] | None = None
        self._next = 0

    def offers(self, text: str, cursor: int) -> tuple[Completion, ...]:
        """Return the completions at the cursor, the best one first."""
        if (text, cursor) != self._made:
            self._offers = complete(text, cursor, self._values, self._role)
            self._source, self._made, self._next = text, None, 0
        options = self._offers.options
        return options[self._next :] + options[: self._next]

    def tab(self, text: str, cursor: int) -> tuple[str, int] | None:
        """Return the text and cursor with the next completion; None if there is none."""
        if not (offers := self.offers(text, cursor)):
            return None
        self._made = self._offers.apply(self._source, offers[0])
        self._next = (self._next + 1) % len(offers)
        return self._made


def completed(text: str, cursor: int) -> tuple[str, int] | None:
    """Complete the path before the cursor to the longest common prefix of the matching files.

    Returns None if none matches. A folder ends in a slash. Unreadable folders have no
    completions.
    """
    typed, rest = text[:cursor], text[cursor:]
    folder, _, begun = typed.rpartition("/")
    place = Path(f"{folder}/" if folder or typed.startswith("/") else ".").expanduser()
    try:
        names = sorted(
            entry.name + ("/" if entry.is_dir() else "")
            for entry in os.scandir(place)
            if entry.name.startswith(begun) and (begun or not entry.name.startswith("."))
        )
    except OSError:
        return None
    if not names:
        return None
    # The common prefix of characters; os.path.commonpath compares whole components.
    common = os.path.commonprefix(names)  # noqa: RUF071
    made = typed[: len(typed) - len(begun)] + common
    return made + rest, len(made)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query with a name."""

    name: str
    query: str
    saved: bool = False
    """This person saved it, so they can rename and delete it."""


OF_JUDGES = (
    NamedQuery("to decide", "-state:decided sort:disagree"),
    NamedQuery("disagree", "state:disagree sort:disagree"),
    NamedQuery("model against gold", "model!=gold sort:conflict"),
    NamedQuery("where the model is uncertain", "-state:decided sort:uncertain"),
    NamedQuery("kinds with little gold", "-state:decided sort:rare"),
    NamedQuery("gold that a model finds unlikely", "doubt>0.9 sort:doubt"),
    NamedQuery("flagged guideline", "flag:guideline"),
    NamedQuery("one random sample", "-state:decided sort:random/1"),
    NamedQuery("decided by me", ""),
    NamedQuery("everything", ""),
)


def built_in(mode: Mode, me: str) -> tuple[NamedQuery, ...]:
    """Return the built-in views. Those for annotators reveal nothing about answers of
    others.
    """
    name = quote(me)
    if mode is Mode.ANNOTATE:
        return (
            NamedQuery("assigned to me", "todo:me sort:assigned"),
            NamedQuery("not answered by me", f"-by:{name}"),
            NamedQuery("skipped by me", "state:skipped"),
            NamedQuery("one random sample", f"-by:{name} sort:random/1"),
            NamedQuery("everything", ""),
        )
    mine = {"decided by me": f"by:{name} rule:expert"}
    return tuple(NamedQuery(one.name, mine.get(one.name, one.query)) for one in OF_JUDGES)


def views(saved: Iterable[tuple[str, str]], mode: Mode, me: str) -> tuple[NamedQuery, ...]:
    """Return the person's own views, then the built-in ones with other names."""
    own = tuple(NamedQuery(name, query, saved=True) for name, query in saved)
    names = {view.name for view in own}
    return (*own, *(view for view in built_in(mode, me) if view.name not in names))
