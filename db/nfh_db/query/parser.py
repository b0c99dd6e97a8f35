"""From the text of a query to what it means; whatever is not understood is refused."""

import re
from collections.abc import Iterator

from nfh_db.errors import QueryError
from nfh_db.query.lexer import Item, RawTerm, quoted, scan
from nfh_db.query.naming import people
from nfh_db.query.orders import NAMING
from nfh_db.query.registry import BY_NAME, COMPARED, NONE, Key, Takes
from nfh_db.query.terms import Compare, Match, People, Query, Sort
from nfh_db.query.wording import meant, one_of, shown

LONGEST = 2_000
"""Code points in a query: keeps every compiled statement within SQLite's limits."""

MOST_VALUES = 200
"""Values in a query, words of the text included, for the same reason."""

LARGEST = 999_999_999
"""The largest number and seed."""

NUMBER = re.compile(r"[0-9]{1,9}\Z")
PUBLIC_ID = re.compile(r"[0-9a-f]{6,32}\Z", re.IGNORECASE)
"""The id that an item has in `gold` files, or its beginning."""

SHARE = re.compile(r"(?:0(?:\.[0-9]{1,9})?|\.[0-9]{1,9}|1(?:\.0{1,9})?)\Z")
"""A number from 0 to 1."""

TAG = re.compile(r"[Rr]?(?P<number>[0-9]{1,3})\Z")
"""A rule of the guidelines; a leading R is optional."""

PATTERN = re.compile(r"[0-9]{1,3}(?:[-–][0-9]{1,3})+\Z")


def parse(text: str) -> Query:
    """What `text` means. Raises QueryError with the place and what would be understood."""
    _check_text(text)
    terms: list[Match | People | Compare] = []
    sorts: list[Sort] = []
    count = 0
    for raw in scan(text):
        count += len(raw.items)
        if count > MOST_VALUES:
            raise QueryError(
                f"more than {MOST_VALUES} words and values; put a longer text in quotes",
                raw.start,
            )
        _check_items(raw)
        key = _key(raw)
        if key.takes is Takes.SORT:
            sorts.extend(_sorts(raw, key))
        elif key.takes in COMPARED:
            terms.append(_compare(raw, key))
        elif key.takes is Takes.PEOPLE:
            terms.append(people(raw, key))
        else:
            terms.append(_match(raw, key))
    return Query(text, tuple(terms), tuple(sorts))


def _check_text(text: str) -> None:
    if len(text) > LONGEST:
        raise QueryError(
            f"the query has {len(text):,} characters; {LONGEST:,} is the most", LONGEST
        )
    for place, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise QueryError(
                f"character {place + 1} is half a character (U+{ord(character):04X}); "
                "delete it",
                place,
            )


def _check_items(raw: RawTerm) -> None:
    """Raise QueryError for a quote left open, something glued to one, or a missing value."""
    pieces = [piece for item in raw.items for piece in (item.parts or (item,))]
    for piece in pieces:
        if not piece.closed:
            raise QueryError(
                f"the quote that opens at character {piece.start + 1} is not closed; "
                'write another " where it ends',
                piece.start,
            )
    if raw.glued is not None:
        raise QueryError(
            f"a space is missing after the closing quote, character {raw.glued}", raw.glued
        )
    for piece in pieces:
        if piece.quoted and not piece.text:
            raise QueryError(
                f"the quotes at character {piece.start + 1} are empty: nothing to search for",
                piece.start,
            )


def _key(raw: RawTerm) -> Key:
    if not raw.key:
        return BY_NAME["text"]
    key = BY_NAME.get(raw.key.casefold())
    if key is None:
        raise QueryError(_unknown_key(raw), raw.head)
    if raw.operator not in key.operators:
        raise QueryError(
            f"{key.name}{raw.operator}: {key.name} takes "
            f"{one_of([op for op in key.operators if op != '='])}, as in {key.examples[0]}",
            raw.head + len(raw.key),
        )
    if any(not item.text for item in raw.items):
        empty = next(item for item in raw.items if not item.text)
        raise QueryError(
            f"{key.name}{raw.operator} needs a value {_where(raw)}: {_allowed(key)}",
            empty.start,
        )
    return key


def _where(raw: RawTerm) -> str:
    return "on each side of a comma" if len(raw.items) > 1 else "after it"


def _unknown_key(raw: RawTerm) -> str:
    word = shown(raw.key)
    guess = meant(raw.key, tuple(BY_NAME)) or f"there are {one_of(tuple(BY_NAME), 'and')}."
    literal = shown(quoted(raw.source))
    return f"{word}: no such key; {guess} To search the text for it, quote it: {literal}"


def _allowed(key: Key) -> str:
    if key.values:
        return one_of(key.values)
    return f"as in {one_of(key.examples)}"


def _refuse(key: Key, operator: str, item: Item) -> QueryError:
    """No such value: with the closest ones, or else all of them."""
    guess = meant(item.text, key.values) or f"there are {one_of(key.values, 'and')}"
    return QueryError(
        f"{key.name}{operator}{shown(item.text)}: no such {key.noun}; {guess}", item.start
    )


def _match(raw: RawTerm, key: Key) -> Match:
    operator = raw.operator or ":"
    values = tuple(_value(key, operator, item) for item in raw.items)
    return Match(key.name, values, unequal=operator == "!=", negated=raw.negated)


def _value(key: Key, operator: str, item: Item) -> str:
    if key.takes is Takes.CHOICE:
        folded = item.text.casefold()
        for value in key.values:
            if value.casefold() == folded:
                return value
        raise _refuse(key, operator, item)
    if key.takes is Takes.PATTERN:
        return _pattern(key, operator, item)
    if key.takes is Takes.IDS:
        return _id(key, operator, item)
    if key.takes is Takes.TAG:
        return _tag(key, operator, item)
    return item.text


def _tag(key: Key, operator: str, item: Item) -> str:
    """A rule's tag as answers have it: an R and its number."""
    if item.text.casefold() == NONE:
        return NONE
    found = TAG.match(item.text)
    if found is None:
        raise QueryError(
            f"{key.name}{operator}{shown(item.text)}: not a {key.noun}, as in "
            f"{one_of(key.examples[:2])}, or {NONE}",
            item.start,
        )
    return f"R{int(found['number'])}"


def _pattern(key: Key, operator: str, item: Item) -> str:
    """Group sizes, largest first whatever the order typed; an en dash is as good."""
    if not PATTERN.match(item.text):
        raise QueryError(
            f"{key.name}{operator}{shown(item.text)}: not a {key.noun}; write the sizes of the "
            f"groups with - between, {_allowed(key)}",
            item.start,
        )
    sizes = sorted((int(size) for size in re.split("[-–]", item.text)), reverse=True)
    return "-".join(str(size) for size in sizes)


def _id(key: Key, operator: str, item: Item) -> str:
    """An anchor's number, without zeros in front."""
    if NUMBER.match(item.text):
        return str(int(item.text))
    public = PUBLIC_ID.match(item.text)
    hint = "; of an id of files, nfh-tui history --item ID tells the number" if public else ""
    raise QueryError(
        f"{key.name}{operator}{shown(item.text)}: not an {key.noun}, {_allowed(key)}{hint}",
        item.start,
    )


def _number(key: Key, operator: str, item: Item) -> float:
    if key.takes is Takes.SHARE:
        if not SHARE.match(item.text):
            raise QueryError(
                f"{key.name}{operator}{shown(item.text)}: {key.name} takes a number from 0 to "
                f"1, as in {key.examples[0]}",
                item.start,
            )
        return float(item.text)
    if not NUMBER.match(item.text):
        raise QueryError(
            f"{key.name}{operator}{shown(item.text)}: {key.name} takes a whole number from "
            f"0 to {LARGEST:,}, as in {key.examples[0]}",
            item.start,
        )
    return int(item.text)


def _compare(raw: RawTerm, key: Key) -> Compare:
    numbers = tuple(_number(key, raw.operator, item) for item in raw.items)
    if raw.operator in (":", "=", "!="):
        return Compare(key.name, "=", numbers, raw.negated ^ (raw.operator == "!="))
    if len(numbers) > 1:
        raise QueryError(
            f"{key.name}{raw.operator} compares with one number; several go with : only, "
            f"as in {key.name}:1,2",
            raw.items[1].start,
        )
    return Compare(key.name, raw.operator, numbers, raw.negated)


def _sorts(raw: RawTerm, key: Key) -> Iterator[Sort]:
    for item in raw.items:
        name, slash, seed = item.text.partition("/")
        known = name.casefold()
        if known not in key.values:
            raise _refuse(key, raw.operator, item)
        if known in NAMING:
            yield Sort(known, reverse=raw.negated, model=_model(raw, key, item, slash, seed))
            continue
        if slash and known != "random":
            raise QueryError(
                f"{key.name}{raw.operator}{shown(item.text)}: only random takes a number "
                "after /, and models a name",
                item.start + len(name),
            )
        if slash and not NUMBER.match(seed):
            raise QueryError(
                f"{key.name}{raw.operator}{shown(item.text)}: after random/ comes a whole "
                f"number from 0 to {LARGEST:,}, as in sort:random/7",
                item.start,
            )
        yield Sort(known, int(seed) if slash else 0, raw.negated)


def _model(raw: RawTerm, key: Key, item: Item, slash: str, name: str) -> str:
    """The model's name that stands after a slash; "" where none does."""
    if slash and not name:
        raise QueryError(
            f"{key.name}{raw.operator}{shown(item.text)}: after models/ comes the name of a "
            "model, as in sort:models/small",
            item.start,
        )
    return name
