"""What could stand at the cursor of a query: keys, and the values of a key."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nfh_db.query.keys import NAMING, NOBODY, SORTS, WHO_ASKS, Key, KeyArgument
from nfh_db.query.parser import SAID, PeoplePart, QueryValue, RawTerm, quote, quote_name, scan
from nfh_db.query.visibility import keys_for
from nfh_db.records import Role

MOST = 50
"""Completions offered at once."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One offer. insert: what to write. label: what to show, and detail beside it."""

    insert: str
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """What could replace the code points [start, end) of the query; best first."""

    start: int
    end: int
    options: tuple[Completion, ...] = ()

    def apply(self, text: str, option: Completion) -> tuple[str, int]:
        """The query with the option taken, and where the cursor then stands."""
        head = text[: self.start] + option.insert
        return head + text[self.end :], len(head)


def complete(
    text: str,
    cursor: int,
    values: Callable[[str], Sequence[str]] | None = None,
    role: Role = Role.ADJUDICATOR,
) -> Completions:
    """What could stand at `cursor`, a code point of `text`.

    values: gives, by key, values that the database knows; asked only where a key's list is
    not closed. role: in which it is asked; what may not be asked in it is not offered.
    """
    keys = keys_for(role)
    term = next((raw for raw in scan(text) if raw.start <= cursor <= raw.end), None)
    if term is None or (term.source == "-" and cursor == term.end):
        return Completions(cursor, cursor, _keys("", keys))
    if cursor < term.head:
        return Completions(cursor, cursor)
    first = term.items[0]
    if not term.key:
        return _bare(term, first, cursor, keys)
    if cursor < first.start:
        typed = text[term.head : min(cursor, term.head + len(term.key))]
        return Completions(term.head, first.start, _keys(typed, keys))
    item = next(item for item in term.items if cursor <= item.end)
    key = next((key for key in keys if key.name == term.key.casefold()), None)
    if key is None:
        return Completions(item.start, item.end)
    if item.parts:
        part = next(part for part in item.parts if cursor <= part.end)
        slash = "/" if key.name in SAID and not text.startswith("/", part.end) else ""
        offers = _in_part(key, part, _typed(part, text, cursor), slash, values)
        return Completions(part.start, part.end, offers)
    return Completions(item.start, item.end, _values(key, _typed(item, text, cursor), values))


def _bare(term: RawTerm, item: QueryValue, cursor: int, keys: Sequence[Key]) -> Completions:
    """A word without a key may still become one."""
    typed = item.text[: cursor - term.head]
    if item.quoted or (typed and not typed.isalpha()):
        return Completions(term.head, term.end)
    return Completions(term.head, term.end, _keys(typed, keys))


def _typed(item: QueryValue | PeoplePart, text: str, cursor: int) -> str:
    """The part of a value before the cursor, without its opening quote."""
    return text[item.start + 1 : cursor] if item.quoted else text[item.start : cursor]


def _keys(typed: str, keys: Sequence[Key]) -> tuple[Completion, ...]:
    folded = typed.casefold()
    return tuple(
        Completion(key.stub, key.stub, key.summary)
        for key in keys
        if key.name.startswith(folded)
    )


def _values(
    key: Key, typed: str, values: Callable[[str], Sequence[str]] | None
) -> tuple[Completion, ...]:
    known: Iterable[str] = key.values
    if key.open_values and values is not None:
        known = values(key.name)
    name, slash, _ = typed.partition("/")
    if (
        key.takes is KeyArgument.SORT
        and slash
        and name.casefold() in NAMING
        and values is not None
    ):
        names = values("predicted") if name.casefold() in key.values else ()
        known = [f"{name}/{one}" for one in names]
    details = SORTS if key.takes is KeyArgument.SORT else {}
    fitting = _fitting(known, typed.casefold(), further_in=key.open_values)
    return tuple(Completion(quote(value), value, details.get(value, "")) for value in fitting)


def _in_part(
    key: Key,
    part: PeoplePart,
    typed: str,
    slash: str,
    values: Callable[[str], Sequence[str]] | None,
) -> tuple[Completion, ...]:
    """What could be a part of a value about people: a word of the key's, or a name.

    slash: what has to follow a name.
    """
    folded = typed.casefold()
    if part.joint == "/":
        return tuple(Completion(word, word) for word in _fitting(key.after, folded))
    words = key.values if not part.joint else ()
    plain = [] if part.quoted else _fitting(words, folded)
    names = _fitting(values(key.name) if values else (), folded, further_in=True)
    offers = [Completion(word, word) for word in plain]
    offers += [
        Completion(quote_name(name, (WHO_ASKS, NOBODY)) + slash, name + slash) for name in names
    ]
    return tuple(offers[:MOST])


def _fitting(known: Iterable[str], folded: str, *, further_in: bool = False) -> list[str]:
    """Values that begin with what was typed, then, if asked, those that hold it further in."""
    once = list(dict.fromkeys(value for value in known if value))
    fitting = [value for value in once if value.casefold().startswith(folded)]
    if further_in:
        fitting += [v for v in once if v not in fitting and folded in v.casefold()]
    return fitting[:MOST]
