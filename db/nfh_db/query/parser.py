"""The query language read: text cut into terms, values and people understood, orders found,
and whatever is not understood refused with its position.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from nfh_db.errors import QueryError
from nfh_db.query.keys import (
    BY_NAME,
    COMPARED,
    KEYS,
    NAMING,
    NOBODY,
    NONE,
    WHO_ASKS,
    Key,
    KeyArgument,
)

LOADING = "SELECT id FROM batch WHERE state = 'loading'"
"""The imports under way, whose rows nobody sees."""


class Binder:
    """Gives each value a parameter, and the fragment the parameter's name."""

    def __init__(self, me_id: int) -> None:
        self.parameters: dict[str, object] = {"q_me": me_id}

    def one(self, value: object) -> str:
        """The parameter of one value."""
        name = f"q_{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def all(self, values: Iterable[object]) -> str:
        """The parameters of several values, as a list."""
        return ", ".join(self.one(value) for value in values)


def fill(fragment: str, **parts: str) -> str:
    """A fragment made whole of parts that are SQL or names of parameters, never values."""
    return fragment.format(loading=LOADING, **parts)


# Cuts a query into terms without judging them: the parser and the completion both read it.
#
# Positions are code points into the query, ends exclusive.

SPACES = " \t\r\n\u00a0\u3000"
"""What separates terms: no other control or space character does, those are searched for."""

KEY = re.compile(r"([^\W\d_][\w-]*)(:|!=|<=|>=|<|>|=)")
"""A term that begins so has a key: a letter, then letters, digits, `_` or `-`, an operator."""


ABOUT_PEOPLE = frozenset(key.name for key in KEYS if key.takes is KeyArgument.PEOPLE)
"""Keys whose values have parts: NAME~NAME/WHAT, each of which may stand in quotes."""

JOINTS = "~/"
"""What separates the parts of such a value."""


@dataclass(frozen=True, slots=True)
class PeoplePart:
    """A part of a value about people. joint: what stands before it, "" for the first."""

    joint: str
    text: str
    start: int
    end: int
    quoted: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class QueryValue:
    """One value, unescaped. start and end include its quotes; closed is False if one lacks.

    parts: of a value about people, whose text is as typed; else none.
    """

    text: str
    start: int
    end: int
    quoted: bool = False
    closed: bool = True
    parts: tuple[PeoplePart, ...] = ()


@dataclass(frozen=True, slots=True)
class RawTerm:
    """One term as it stands. key and operator are empty for words of the text.

    start: of the minus sign, if there is one. head: of the key or the word.
    source: the term from head to end, as typed.
    glued: where something follows a closing quote with no space between, else None.
    """

    start: int
    head: int
    end: int
    negated: bool
    source: str
    key: str
    operator: str
    items: tuple[QueryValue, ...]
    glued: int | None = None


def scan(text: str) -> Iterator[RawTerm]:
    """The terms of a query, in order; never fails."""
    place = _skip_spaces(text, 0)
    while place < len(text):
        term = _term(text, place)
        yield term
        place = _skip_spaces(text, term.end)


def _skip_spaces(text: str, place: int) -> int:
    while place < len(text) and text[place] in SPACES:
        place += 1
    return place


def _term(text: str, start: int) -> RawTerm:
    negated = text[start] == "-" and start + 1 < len(text) and text[start + 1] not in SPACES
    head = start + 1 if negated else start
    match = KEY.match(text, head)
    items: tuple[QueryValue, ...]
    if match is None:
        key, operator = "", ""
        items = (_item(text, head, stops=SPACES),)
    else:
        key, operator = match.group(1), match.group(2)
        items = tuple(_items(text, match.end(), of=key.casefold()))
    end = items[-1].end
    glued = end if end < len(text) and text[end] not in SPACES else None
    source = text[head:end]
    return RawTerm(start, head, end, negated, source, key, operator, items, glued)


def _items(text: str, place: int, of: str) -> Iterator[QueryValue]:
    """Values with commas between; an empty one where a comma or the end comes at once."""
    while True:
        if of in ABOUT_PEOPLE:
            item = _in_parts(text, place)
        else:
            item = _item(text, place, stops=SPACES + ",")
        yield item
        if not text.startswith(",", item.end):
            return
        place = item.end + 1


def _item(text: str, start: int, stops: str) -> QueryValue:
    if text.startswith('"', start):
        return _quoted(text, start)
    end = start
    while end < len(text) and text[end] not in stops:
        end += 1
    return QueryValue(text[start:end], start, end)


def _in_parts(text: str, start: int) -> QueryValue:
    """A value about people: at least one part."""
    parts: list[PeoplePart] = []
    place, joint = start, ""
    while True:
        piece = _item(text, place, stops=SPACES + "," + JOINTS)
        parts.append(
            PeoplePart(joint, piece.text, place, piece.end, piece.quoted, piece.closed)
        )
        joint = text[piece.end : piece.end + 1]
        if not joint or joint not in JOINTS:
            break
        place = piece.end + 1
    end = parts[-1].end
    closed = all(part.closed for part in parts)
    return QueryValue(text[start:end], start, end, closed=closed, parts=tuple(parts))


def _quoted(text: str, start: int) -> QueryValue:
    """Inside quotes a backslash makes a quote or a backslash plain, and else is itself."""
    value: list[str] = []
    place = start + 1
    while place < len(text):
        character = text[place]
        if character == '"':
            return QueryValue("".join(value), start, place + 1, quoted=True)
        if character == "\\" and text[place + 1 : place + 2] in ('"', "\\"):
            place += 1
            character = text[place]
        value.append(character)
        place += 1
    return QueryValue("".join(value), start, place, quoted=True, closed=False)


def quote(value: str) -> str:
    """`value` as a query has to write it, in quotes only where it needs them."""
    special = any(character in SPACES or character == "," for character in value)
    if value and not special and not value.startswith('"'):
        return value
    return quoted(value)


def quote_name(name: str, words: Sequence[str] = ()) -> str:
    """Somebody's name as a key about people has to write it.

    words: what would be understood otherwise at that place, as "me".
    """
    split = any(joint in name for joint in JOINTS)
    taken = name.casefold() in {word.casefold() for word in words}
    return quoted(name) if split or taken else quote(name)


def quoted(value: str) -> str:
    """`value` in quotes."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_sort(term: RawTerm) -> bool:
    key = BY_NAME.get(term.key.casefold())
    return key is not None and key.takes is KeyArgument.SORT


def sorts_in(text: str) -> tuple[str, ...]:
    """The orders as they are written in a query, minus signs included: "-sort:votes"."""
    return tuple(text[term.start : term.end] for term in scan(text) if _is_sort(term))


def with_sort(text: str, term: str) -> str:
    """The query with this order, as a query writes it, in place of all that it has.

    term: "" for passage order. All else stays as it was typed.
    """
    kept = [text[one.start : one.end] for one in scan(text) if not _is_sort(one)]
    return " ".join([*kept, term] if term else kept)


@dataclass(frozen=True, slots=True)
class Match:
    """A key whose value is any of `values` (canonically written).

    unequal: the operator was `!=`. negated: the term had a minus sign.
    """

    key: str
    values: tuple[str, ...]
    unequal: bool = False
    negated: bool = False


ME = ""
"""Stands for whoever asks, among names: nobody can be called so."""


@dataclass(frozen=True, slots=True)
class Named:
    """One value of a key about people.

    names: of those it is about, ME for whoever asks; none for anybody, or for "nobody".
    what: what they said or differ in, or in which role, canonically written; "" for any.
    """

    names: tuple[str, ...] = ()
    what: str = ""


@dataclass(frozen=True, slots=True)
class PeopleTerm:
    """A key about people, of which any of `values` holds; unequal, negated: as of a Match."""

    key: str
    values: tuple[Named, ...]
    unequal: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """A number compared: operator is one of = < <= > >=; several numbers only with =.

    numbers: whole, or of shares also fractions.
    """

    key: str
    operator: str
    numbers: tuple[float, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class SortTerm:
    """One order; further ones decide among what it leaves equal.

    seed: of random only. model: the name after models/, "" where none stands there.
    """

    name: str
    seed: int = 0
    reverse: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A query understood. text: as typed. terms: all must hold. sorts: in order."""

    text: str = ""
    terms: tuple["Match | PeopleTerm | Compare", ...] = field(default=())
    sorts: tuple[SortTerm, ...] = field(default=())


LONGEST_SHOWN = 40
"""Code points of the person's own text that a message repeats."""

CLOSE_ENOUGH = 0.6


def shown(text: str) -> str:
    """`text` as a message may repeat it: cut to size, control characters as pictures."""
    cut = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"
    return "".join(_picture(character) for character in cut)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return character if character.isprintable() else "\ufffd"


def one_of(words: Sequence[str], last: str = "or") -> str:
    """The words as a sentence lists them: "a, b or c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def meant(found: str, allowed: Sequence[str]) -> str | None:
    """ "did you mean …?" with the closest of the allowed words, None where none is close."""
    by_fold = {word.casefold(): word for word in allowed}
    close = get_close_matches(found.casefold(), by_fold, n=2, cutoff=CLOSE_ENOUGH)
    if not close:
        return None
    return f"did you mean {one_of([by_fold[word] for word in close])}?"


SAID = ("said", "predicted")
"""The keys whose value may be what was said alone, without a name."""


OF_MODELS = ("predicted", "hit", "miss")
"""The keys whose names are those of models, of which none is whoever asks."""


def people(raw: RawTerm, key: Key) -> PeopleTerm:
    """The term that a key about people makes. Raises QueryError."""
    operator = raw.operator or ":"
    values = tuple(_named(key, operator, item) for item in raw.items)
    return PeopleTerm(key.name, values, unequal=operator == "!=", negated=raw.negated)


def _named(key: Key, operator: str, item: QueryValue) -> Named:
    first, *others = item.parts
    if key.name in SAID and not others:
        return Named((), _what(key, operator, item, first))
    if _is_word(first, NOBODY) and NOBODY in key.values and not others:
        return Named()
    names, what = [_name(key, operator, item, first)], ""
    for part in others:
        if what or (part.joint == "~" and (len(names) > 1 or not key.pairs)):
            raise _wrong_form(key, operator, item)
        if part.joint == "~":
            names.append(_name(key, operator, item, part))
        else:
            what = _what(key, operator, item, part)
    return Named(tuple(names), what)


def _is_word(part: PeoplePart, word: str) -> bool:
    return not part.quoted and part.text.casefold() == word


def _name(key: Key, operator: str, item: QueryValue, part: PeoplePart) -> str:
    if not part.text:
        raise _wrong_form(key, operator, item)
    asks = _is_word(part, WHO_ASKS) and key.name not in OF_MODELS
    return ME if asks else part.text


def _what(key: Key, operator: str, item: QueryValue, part: PeoplePart) -> str:
    folded = part.text.casefold()
    if not key.after:
        raise QueryError(
            f"{key.name}{operator}{shown(item.text)}: {key.name} takes a name only, as in "
            f"{key.examples[0]}",
            part.start,
        )
    for word in key.after:
        if word.casefold() == folded:
            return word
    what = "after / comes" if part.joint else "wanted"
    guess = meant(part.text, key.after) or f"{what} {one_of(key.after)}"
    also = f", or {key.name}:NAME/KIND" if key.name in SAID and not part.joint else ""
    raise QueryError(
        f"{key.name}{operator}{shown(item.text)}: {shown(part.text)} is not known here; "
        f"{guess}{also}",
        part.start,
    )


def _wrong_form(key: Key, operator: str, item: QueryValue) -> QueryError:
    forms = ["NAME", *(["NAME~NAME"] if key.pairs else [])]
    forms += ["NAME/WHAT"] if key.after else []
    return QueryError(
        f"{key.name}{operator}{shown(item.text)}: wanted {one_of(forms)}, as in "
        f"{one_of(key.examples[:2])}; a name with a space, a comma, ~ or / goes in quotes",
        item.start,
    )


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
    terms: list[Match | PeopleTerm | Compare] = []
    sorts: list[SortTerm] = []
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
        if key.takes is KeyArgument.SORT:
            sorts.extend(_sorts(raw, key))
        elif key.takes in COMPARED:
            terms.append(_compare(raw, key))
        elif key.takes is KeyArgument.PEOPLE:
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


def _refuse(key: Key, operator: str, item: QueryValue) -> QueryError:
    """No such value: with the closest ones, or else all of them."""
    guess = meant(item.text, key.values) or f"there are {one_of(key.values, 'and')}"
    return QueryError(
        f"{key.name}{operator}{shown(item.text)}: no such {key.noun}; {guess}", item.start
    )


def _match(raw: RawTerm, key: Key) -> Match:
    operator = raw.operator or ":"
    values = tuple(_value(key, operator, item) for item in raw.items)
    return Match(key.name, values, unequal=operator == "!=", negated=raw.negated)


def _value(key: Key, operator: str, item: QueryValue) -> str:
    if key.takes is KeyArgument.CHOICE:
        folded = item.text.casefold()
        for value in key.values:
            if value.casefold() == folded:
                return value
        raise _refuse(key, operator, item)
    if key.takes is KeyArgument.PATTERN:
        return _pattern(key, operator, item)
    if key.takes is KeyArgument.IDS:
        return _id(key, operator, item)
    if key.takes is KeyArgument.TAG:
        return _tag(key, operator, item)
    return item.text


def _tag(key: Key, operator: str, item: QueryValue) -> str:
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


def _pattern(key: Key, operator: str, item: QueryValue) -> str:
    """Group sizes, largest first whatever the order typed; an en dash is as good."""
    if not PATTERN.match(item.text):
        raise QueryError(
            f"{key.name}{operator}{shown(item.text)}: not a {key.noun}; write the sizes of the "
            f"groups with - between, {_allowed(key)}",
            item.start,
        )
    sizes = sorted((int(size) for size in re.split("[-–]", item.text)), reverse=True)
    return "-".join(str(size) for size in sizes)


def _id(key: Key, operator: str, item: QueryValue) -> str:
    """An anchor's number, without zeros in front."""
    if NUMBER.match(item.text):
        return str(int(item.text))
    public = PUBLIC_ID.match(item.text)
    hint = "; of an id of files, nfh-tui history --item ID tells the number" if public else ""
    raise QueryError(
        f"{key.name}{operator}{shown(item.text)}: not an {key.noun}, {_allowed(key)}{hint}",
        item.start,
    )


def _number(key: Key, operator: str, item: QueryValue) -> float:
    if key.takes is KeyArgument.SHARE:
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


def _sorts(raw: RawTerm, key: Key) -> Iterator[SortTerm]:
    for item in raw.items:
        name, slash, seed = item.text.partition("/")
        known = name.casefold()
        if known not in key.values:
            raise _refuse(key, raw.operator, item)
        if known in NAMING:
            yield SortTerm(
                known, reverse=raw.negated, model=_model(raw, key, item, slash, seed)
            )
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
        yield SortTerm(known, int(seed) if slash else 0, raw.negated)


def _model(raw: RawTerm, key: Key, item: QueryValue, slash: str, name: str) -> str:
    """The model's name that stands after a slash; "" where none does."""
    if slash and not name:
        raise QueryError(
            f"{key.name}{raw.operator}{shown(item.text)}: after models/ comes the name of a "
            "model, as in sort:models/small",
            item.start,
        )
    return name
