"""Completion while something is typed: queries, paths, rules of the guidelines; and the
views that are always there.
"""

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
"""What is typed to take a tag away."""

_ID = re.compile(r"[Rr]?[0-9]{1,3}")


def name_of(rule: GuidelineRule) -> str:
    """A rule in one line: "R7 One noun is one head"."""
    return f"{rule.id} {rule.title}"


class RuleChooser:
    """The rules that fit what is typed.

    An id fits its rule and those that begin so ("1" is R1, then R10 to R19); words fit rules
    that have all of them in the title, or where none has, in the text.
    """

    def __init__(self, rules: Sequence[GuidelineRule]) -> None:
        self._rules = rules
        self._typed = ""
        self._given: str | None = None

    def offers(self, text: str) -> tuple[GuidelineRule, ...]:
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

    def exact(self, text: str) -> GuidelineRule | None:
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


def _having(
    words: Sequence[str], texts: Sequence[tuple[str, GuidelineRule]]
) -> tuple[GuidelineRule, ...]:
    return tuple(rule for text, rule in texts if all(word in text.casefold() for word in words))


Values = Callable[[str], Sequence[str]]


LEAST_MEANING = 16
"""Cells that a meaning must have to be shown."""


def offered(offers: Sequence[Completion], room: int) -> tuple[tuple[str, str], ...]:
    """Offers for a line of keys of `room` cells: the first one with what it means.

    The meaning is cut to what the others leave, and left out where that is too little.
    """
    labels = [visible(offer.label) for offer in offers]
    left = room - sum(width_of(label) + 2 for label in labels)
    return tuple(
        (label, clip(visible(offer.detail), left) if not n and left >= LEAST_MEANING else "")
        for n, (label, offer) in enumerate(zip(labels, offers, strict=True))
    )


class Completer:
    """Remembers which offers the last tab came from, so that the next one goes on."""

    def __init__(self, values: Values, role: Role = Role.ADJUDICATOR) -> None:
        self._values = values
        self._role = role
        self._offers = Completions(0, 0)
        self._source = ""
        self._made: tuple[str, int] | None = None
        self._next = 0

    def offers(self, text: str, cursor: int) -> tuple[Completion, ...]:
        """What could stand at the cursor, the best first."""
        if (text, cursor) != self._made:
            self._offers = complete(text, cursor, self._values, self._role)
            self._source, self._made, self._next = text, None, 0
        options = self._offers.options
        return options[self._next :] + options[: self._next]

    def tab(self, text: str, cursor: int) -> tuple[str, int] | None:
        """Text and cursor with the next offer taken; None where nothing fits."""
        offers = self.offers(text, cursor)
        if not offers:
            return None
        self._made = self._offers.apply(self._source, offers[0])
        self._next = (self._next + 1) % len(offers)
        return self._made


def completed(text: str, cursor: int) -> tuple[str, int] | None:
    """The path up to the cursor, as far as the files that begin so agree; None if none does.

    A folder ends in a slash. What cannot be looked into completes nothing.
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
    # Letters that all names share, not folders: what commonpath does is another thing.
    common = os.path.commonprefix(names)  # noqa: RUF071
    made = typed[: len(typed) - len(begun)] + common
    return made + rest, len(made)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query under a name. saved: by this person, so that it can be renamed and deleted."""

    name: str
    query: str
    saved: bool = False


OF_JUDGES = (
    NamedQuery("to decide", "-state:decided sort:disagree"),
    NamedQuery("disagree", "state:disagree sort:disagree"),
    NamedQuery("model against gold", "model!=gold sort:conflict"),
    NamedQuery("where the model is unsure", "-state:decided sort:uncertain"),
    NamedQuery("kinds with little gold", "-state:decided sort:rare"),
    NamedQuery("gold that a model doubts", "doubt>0.9 sort:doubt"),
    NamedQuery("flagged guideline", "flag:guideline"),
    NamedQuery("one random sample", "-state:decided sort:random/1"),
    NamedQuery("decided by me", ""),
    NamedQuery("everything", ""),
)


def standing(mode: Mode, me: str) -> tuple[NamedQuery, ...]:
    """The views that are always there. An annotator's say nothing of others' answers."""
    name = quote(me)
    if mode is Mode.ANNOTATE:
        return (
            NamedQuery("given to me", "todo:me sort:assigned"),
            NamedQuery("not answered by me", f"-by:{name}"),
            NamedQuery("skipped by me", "state:skipped"),
            NamedQuery("one random sample", f"-by:{name} sort:random/1"),
            NamedQuery("everything", ""),
        )
    mine = {"decided by me": f"by:{name} rule:expert"}
    return tuple(NamedQuery(one.name, mine.get(one.name, one.query)) for one in OF_JUDGES)


def views(saved: Iterable[tuple[str, str]], mode: Mode, me: str) -> tuple[NamedQuery, ...]:
    """This person's own views, then those that are always there and not named alike."""
    own = tuple(NamedQuery(name, query, saved=True) for name, query in saved)
    names = {view.name for view in own}
    return (*own, *(view for view in standing(mode, me) if view.name not in names))
