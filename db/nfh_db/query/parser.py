"""Parsing and completion of queries. What cannot be parsed raises a QueryError with its
position. Positions are code points into the query, ends exclusive.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import NamedTuple

from nfh_db.errors import QueryError
from nfh_db.query.keys import (
    BY_NAME,
    COMPARED,
    KEYS,
    ME_WORD,
    NOBODY,
    NONE,
    SORTS,
    SORTS_WITH_MODEL,
    Key,
    KeyArgument,
    keys_for,
)
from nfh_db.records import Role

LOADING = "SELECT id FROM batch WHERE state = 'loading'"
"""Ids of unfinished imports, whose rows are invisible."""


OPERATORS = {operator: operator for operator in ("<", "<=", ">", ">=")}


class Binder:
    """Collects values as parameters of a statement, and names them.

    passages: the fragment of a condition on the text of an anchor's passage.
    """

    def __init__(self, me_id: int, passages: str) -> None:
        self.passages = passages
        self.parameters: dict[str, object] = {"q_me": me_id}

    def one(self, value: object) -> str:
        """The parameter name of a value."""
        name = f"q_{len(self.parameters)}"
        self.parameters[name] = value
        return f":{name}"

    def all(self, values: Iterable[object]) -> str:
        """The parameter names of several values, with commas between."""
        return ", ".join(self.one(value) for value in values)

    def compared(self, operator: str, numbers: Sequence[float]) -> str:
        """What a column is compared with. Raises KeyError for an unknown operator."""
        if operator == "=":
            return f"IN ({self.all(numbers)})"
        return f"{OPERATORS[operator]} {self.one(numbers[0])}"


def fill(fragment: str, **parts: str) -> str:
    """Fill a fragment with SQL or parameter names. Values must be bound instead."""
    return fragment.format(loading=LOADING, **parts)


# `scan` splits a query into terms without validation, for the parser and for completion.

SPACES = " \t\r\n\u00a0\u3000"
"""Characters that separate terms. All other space and control characters are searched for."""

KEY = re.compile(r"([^\W\d_][\w-]*)(:|!=|<=|>=|<|>|=)")
"""Begins a term with a key: a letter, then letters, digits, `_` or `-`, and an operator."""


ABOUT_PEOPLE = frozenset(key.name for key in KEYS if key.takes is KeyArgument.PEOPLE)
"""Keys whose values have parts, NAME~NAME/WHAT, each of which may be quoted."""

JOINTS = "~/"
"""Separators of these parts."""


@dataclass(frozen=True, slots=True)
class PeoplePart:
    """A part of a value about people. joint: the separator before it, "" for the first."""

    joint: str
    text: str
    start: int
    end: int
    quoted: bool = False
    closed: bool = True


@dataclass(frozen=True, slots=True)
class QueryValue:
    """One value."""

    text: str
    """Unescaped, but as typed for a value about people."""
    start: int
    end: int
    """The positions include the quotes."""
    quoted: bool = False
    closed: bool = True
    """False if the closing quote is missing."""
    parts: tuple[PeoplePart, ...] = ()
    """Of a value about people."""


@dataclass(frozen=True, slots=True)
class RawTerm:
    """One term as typed."""

    start: int
    """Position of the minus sign, if there is one."""
    head: int
    """Position of the key or word."""
    end: int
    negated: bool
    source: str
    """The text from head to end."""
    key: str
    """Empty for words of the text, and so is the operator."""
    operator: str
    items: tuple[QueryValue, ...]
    glued: int | None = None
    """Position after a closing quote that no space follows."""


def scan(text: str) -> Iterator[RawTerm]:
    """The terms of a query, in order. Never raises."""
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
    """Values with commas between. A missing value is empty."""
    while True:
        if of in ABOUT_PEOPLE:
            item = _people_value(text, place)
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


def _people_value(text: str, start: int) -> QueryValue:
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
    """A backslash escapes a quote or a backslash, and otherwise stands for itself."""
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
    """`value` as written in a query, quoted only if needed."""
    special = any(character in SPACES or character == "," for character in value)
    if value and not special and not value.startswith('"'):
        return value
    return quoted(value)


def quote_name(name: str, words: Sequence[str] = ()) -> str:
    """A name as written after a key about people. words: reserved words there, as "me"."""
    split = any(joint in name for joint in JOINTS)
    taken = name.casefold() in {word.casefold() for word in words}
    return quoted(name) if split or taken else quote(name)


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _is_sort(term: RawTerm) -> bool:
    key = BY_NAME.get(term.key.casefold())
    return key is not None and key.takes is KeyArgument.SORT


def sorts_in(text: str) -> tuple[str, ...]:
    """The orders of a query as typed, with minus signs: "-sort:votes"."""
    return tuple(text[term.start : term.end] for term in scan(text) if _is_sort(term))


def with_sort(text: str, term: str) -> str:
    """The query with its orders replaced by one. term: "" for passage order."""
    kept = [text[one.start : one.end] for one in scan(text) if not _is_sort(one)]
    return " ".join([*kept, term] if term else kept)


@dataclass(frozen=True, slots=True)
class Match:
    """Any of the values, in canonical spelling, of a key.

    unequal: the operator was `!=`. negated: the term had a minus sign.
    """

    key: str
    values: tuple[str, ...]
    unequal: bool = False
    negated: bool = False


ME = ""
"""Stands for whoever asks, among names: nobody can be called so."""


@dataclass(frozen=True, slots=True)
class PeopleValue:
    """One value of a key about people."""

    names: tuple[str, ...] = ()
    """ME for whoever asks; empty for anybody, or for "nobody"."""
    what: str = ""
    """Answer, difference or role in canonical spelling; "" for any."""


@dataclass(frozen=True, slots=True)
class PeopleTerm:
    """Any of the values of a key about people; see Match."""

    key: str
    values: tuple[PeopleValue, ...]
    unequal: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison with numbers, or with any of several for the operator =."""

    key: str
    operator: str
    numbers: tuple[float, ...]
    negated: bool = False


Term = Match | PeopleTerm | Compare


@dataclass(frozen=True, slots=True)
class Either:
    """Terms with OR between: any of them holds."""

    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class SortTerm:
    """One order."""

    name: str
    seed: int = 0
    """Of random."""
    reverse: bool = False
    model: str = ""
    """Name after models/, or ""."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query. All terms must hold. Later sorts order what earlier ones leave equal."""

    text: str = ""
    terms: tuple[Term | Either, ...] = field(default=())
    sorts: tuple[SortTerm, ...] = field(default=())

    def each_term(self) -> Iterator[Term]:
        """The terms, those with OR between one by one."""
        for term in self.terms:
            yield from term.terms if isinstance(term, Either) else (term,)

    def with_each(self, change: Callable[[Term], Term]) -> "Query":
        """The query with each term replaced."""
        return replace(
            self,
            terms=tuple(
                Either(tuple(map(change, term.terms)))
                if isinstance(term, Either)
                else change(term)
                for term in self.terms
            ),
        )


MAX_REPEATED = 40
"""Code points of typed text that a message repeats."""

MIN_SIMILARITY = 0.6


def printable(text: str) -> str:
    """`text` for a message: cut, with control pictures for control characters."""
    cut = text if len(text) <= MAX_REPEATED else text[: MAX_REPEATED - 1] + "…"
    return "".join(_picture(character) for character in cut)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return character if character.isprintable() else "\ufffd"


def one_of(words: Sequence[str], last: str = "or") -> str:
    """A list in a sentence: "a, b or c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def suggestion(found: str, allowed: Sequence[str]) -> str | None:
    """A question for the closest allowed words; None if none is similar."""
    by_fold = {word.casefold(): word for word in allowed}
    close = get_close_matches(found.casefold(), by_fold, n=2, cutoff=MIN_SIMILARITY)
    if not close:
        return None
    return f"did you mean {one_of([by_fold[word] for word in close])}?"


ANSWER_KEYS = ("said", "predicted")
"""Keys whose value may be an answer without a name."""


MODEL_KEYS = ("predicted", "hit", "miss")
"""Keys whose names are models, so that `me` is an ordinary name."""


class _Given(NamedTuple):
    """A value of a term."""

    key: Key
    operator: str
    item: QueryValue

    def error(self, why: str, place: int | None = None) -> QueryError:
        start = self.item.start if place is None else place
        asked = f"{self.key.name}{self.operator}{printable(self.item.text)}"
        return QueryError(f"{asked}: {why}", start)

    def wrong_form(self) -> QueryError:
        key = self.key
        forms = ["NAME", *(["NAME~NAME"] if key.pairs else [])]
        forms += ["NAME/WHAT"] if key.after else []
        return self.error(
            f"wanted {one_of(forms)}, as in {one_of(key.examples[:2])}; "
            "a name with a space, a comma, ~ or / goes in quotes"
        )

    def no_such_value(self) -> QueryError:
        values = self.key.values
        guess = suggestion(self.item.text, values) or f"there are {one_of(values, 'and')}"
        return self.error(f"no such {self.key.noun}; {guess}")


def _given(raw: RawTerm, key: Key) -> Iterator[_Given]:
    return (_Given(key, raw.operator or ":", item) for item in raw.items)


def _people(raw: RawTerm, key: Key) -> PeopleTerm:
    """Parse a term about people. Raises QueryError."""
    values = tuple(map(_named, _given(raw, key)))
    return PeopleTerm(key.name, values, unequal=raw.operator == "!=", negated=raw.negated)


def _named(given: _Given) -> PeopleValue:
    key = given.key
    first, *others = given.item.parts
    if key.name in ANSWER_KEYS and not others:
        return PeopleValue((), _detail(given, first))
    if _is_word(first, NOBODY) and NOBODY in key.values and not others:
        return PeopleValue()
    names, what = [_name(given, first)], ""
    for part in others:
        if what or (part.joint == "~" and (len(names) > 1 or not key.pairs)):
            raise given.wrong_form()
        if part.joint == "~":
            names.append(_name(given, part))
        else:
            what = _detail(given, part)
    return PeopleValue(tuple(names), what)


def _is_word(part: PeoplePart, word: str) -> bool:
    return not part.quoted and part.text.casefold() == word


def _name(given: _Given, part: PeoplePart) -> str:
    if not part.text:
        raise given.wrong_form()
    asks = _is_word(part, ME_WORD) and given.key.name not in MODEL_KEYS
    return ME if asks else part.text


def _detail(given: _Given, part: PeoplePart) -> str:
    key, folded = given.key, part.text.casefold()
    if not key.after:
        why = f"{key.name} takes a name only, as in {key.examples[0]}"
        raise given.error(why, part.start)
    for word in key.after:
        if word.casefold() == folded:
            return word
    what = "after / comes" if part.joint else "wanted"
    guess = suggestion(part.text, key.after) or f"{what} {one_of(key.after)}"
    also = f", or {key.name}:NAME/KIND" if key.name in ANSWER_KEYS and not part.joint else ""
    why = f"{printable(part.text)} is not in this database; {guess}{also}"
    raise given.error(why, part.start)


OR = "OR"
"""Stands between two terms. Only in capitals: "or" is a word of texts."""

OR_EXAMPLE = "as in class:AGE OR heads>1"
OPERATOR_WORDS = {
    ("or", "|", "||"): "did you mean OR between two terms?",
    ("and", "&", "&&", "+"): "a space between two terms means and; leave this out.",
    ("not", "!"): "did you mean a minus sign in front of the term, as in -class:AGE?",
    (":", "=", "==", "!=", "<>", "<", "<=", ">", ">="): (
        "no space belongs around this; did you mean votes>2?"
    ),
}
"""Words that other languages of queries have, in lower case, and what to write instead."""

IN_PARENTHESES = re.compile(rf"\(+-?{KEY.pattern}")

MAX_LENGTH = 2_000
"""Code points in a query. Keeps compiled statements within SQLite's limits."""

MAX_VALUES = 200
"""Values and words in a query, for the same reason."""

MAX_NUMBER = 999_999_999
"""The largest number and seed."""

NUMBER = re.compile(r"[0-9]{1,9}\Z")
PUBLIC_ID = re.compile(r"[0-9a-f]{6,32}\Z", re.IGNORECASE)
"""The public id of an item, or the beginning of one."""

SHARE = re.compile(r"(?:0(?:\.[0-9]{1,9})?|\.[0-9]{1,9}|1(?:\.0{1,9})?)\Z")
"""A number from 0 to 1."""

TAG = re.compile(r"[Rr]?(?P<number>[0-9]{1,3})\Z")
"""A rule of the guidelines; a leading R is optional."""

PATTERN = re.compile(r"[0-9]{1,3}(?:[-–][0-9]{1,3})+\Z")


def parse(text: str) -> Query:
    """Parse a query. Raises QueryError with the position and a hint."""
    _check_text(text)
    groups: list[list[Term]] = []
    sorts: list[SortTerm] = []
    count = 0
    joint: RawTerm | None = None
    can_join = False
    for raw in scan(text):
        if _is_or(raw):
            if not can_join:
                raise QueryError(f"OR needs a term before it, {OR_EXAMPLE}", raw.start)
            joint, can_join = raw, False
            continue
        count += len(raw.items)
        if count > MAX_VALUES:
            raise QueryError(
                f"more than {MAX_VALUES} words and values; put a longer text in quotes",
                raw.start,
            )
        _check_items(raw)
        key = _key(raw)
        can_join = key.takes is not KeyArgument.SORT
        if not can_join:
            if joint is not None:
                break
            sorts.extend(_sorts(raw, key))
            continue
        if joint is None:
            groups.append([_parsed(raw, key)])
        else:
            _join(groups[-1], _parsed(raw, key))
            joint = None
    if joint is not None:
        raise QueryError(f"OR needs a term after it, {OR_EXAMPLE}", joint.end)
    terms = (group[0] if len(group) == 1 else Either(tuple(group)) for group in groups)
    return Query(text, tuple(terms), tuple(sorts))


def _parsed(raw: RawTerm, key: Key) -> Term:
    if key.takes in COMPARED:
        return _compare(raw, key)
    return _people(raw, key) if key.takes is KeyArgument.PEOPLE else _match(raw, key)


def _is_or(raw: RawTerm) -> bool:
    return raw.source == OR and not raw.negated


def _join(group: list[Term], term: Term) -> None:
    """Add a term after OR; values of one key become one term, as with a comma between."""
    last = group[-1]
    if (
        isinstance(term, Match)
        and isinstance(last, Match)
        and term == replace(last, values=term.values)
        and not (term.negated or term.unequal)
    ):
        group[-1] = replace(last, values=last.values + term.values)
    else:
        group.append(term)


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise QueryError(
            f"the query has {len(text):,} characters; {MAX_LENGTH:,} is the most", MAX_LENGTH
        )
    for place, character in enumerate(text):
        if "\ud800" <= character <= "\udfff":
            raise QueryError(
                f"character {place + 1} is half a character (U+{ord(character):04X}); "
                "delete it",
                place,
            )


def _check_items(raw: RawTerm) -> None:
    """Raise QueryError for an open quote, text right after one, or empty quotes."""
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
        _check_word(raw)
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


def _check_word(raw: RawTerm) -> None:
    """Raise QueryError for a word that is a key or an operator, and no text to search for."""
    word, folded = raw.source, raw.source.casefold()
    if raw.items[0].quoted:
        return
    if (key := BY_NAME.get(folded)) is not None:
        why = f"a key needs a value; did you mean {key.examples[0]}?"
    elif IN_PARENTHESES.match(word):
        why = "leave out the parentheses; OR joins its neighbours before a space does."
    else:
        why = next((hint for words, hint in OPERATOR_WORDS.items() if folded in words), "")
    if why:
        literal = f"To search the text for it, quote it: {printable(quoted(word))}"
        raise QueryError(f"{printable(word)}: {why} {literal}", raw.head)


def _where(raw: RawTerm) -> str:
    return "on each side of a comma" if len(raw.items) > 1 else "after it"


def _unknown_key(raw: RawTerm) -> str:
    word = printable(raw.key)
    guess = suggestion(raw.key, tuple(BY_NAME)) or f"there are {one_of(tuple(BY_NAME), 'and')}."
    literal = printable(quoted(raw.source))
    return f"{word}: no such key; {guess} To search the text for it, quote it: {literal}"


def _allowed(key: Key) -> str:
    if key.values:
        return one_of(key.values)
    return f"as in {one_of(key.examples)}"


def _match(raw: RawTerm, key: Key) -> Match:
    values = tuple(map(_value, _given(raw, key)))
    return Match(key.name, values, unequal=raw.operator == "!=", negated=raw.negated)


def _value(given: _Given) -> str:
    text, takes = given.item.text, given.key.takes
    if takes is KeyArgument.CHOICE:
        for value in given.key.values:
            if value.casefold() == text.casefold():
                return value
        raise given.no_such_value()
    if takes is KeyArgument.PATTERN:
        return _pattern(given)
    if takes is KeyArgument.IDS:
        return _id(given)
    if takes is KeyArgument.TAG:
        return _tag(given)
    return text


def _tag(given: _Given) -> str:
    """The tag of a rule as answers store it: R and the number."""
    key, text = given.key, given.item.text
    if text.casefold() == NONE:
        return NONE
    found = TAG.match(text)
    if found is None:
        raise given.error(f"not a {key.noun}, as in {one_of(key.examples[:2])}, or {NONE}")
    return f"R{int(found['number'])}"


def _pattern(given: _Given) -> str:
    """Group sizes, largest first. Accepts any order, and en dashes."""
    key, text = given.key, given.item.text
    if not PATTERN.match(text):
        raise given.error(
            f"not a {key.noun}; write the sizes of the groups with - between, {_allowed(key)}"
        )
    sizes = sorted((int(size) for size in re.split("[-–]", text)), reverse=True)
    return "-".join(str(size) for size in sizes)


def _id(given: _Given) -> str:
    """The id of an anchor without leading zeros."""
    key, text = given.key, given.item.text
    if NUMBER.match(text):
        return str(int(text))
    public = PUBLIC_ID.match(text)
    hint = "; of an id of files, nfh-tui history --item ID tells the number" if public else ""
    raise given.error(f"not an {key.noun}, {_allowed(key)}{hint}")


def _number(given: _Given) -> float:
    key, text = given.key, given.item.text
    example = f"as in {key.examples[0]}"
    if key.takes is KeyArgument.SHARE:
        if not SHARE.match(text):
            raise given.error(f"{key.name} takes a number from 0 to 1, {example}")
        return float(text)
    if not NUMBER.match(text):
        raise given.error(
            f"{key.name} takes a whole number from 0 to {MAX_NUMBER:,}, {example}"
        )
    return int(text)


def _compare(raw: RawTerm, key: Key) -> Compare:
    numbers = tuple(map(_number, _given(raw, key)))
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
    for given in _given(raw, key):
        name, slash, more = given.item.text.partition("/")
        known = name.casefold()
        if known not in key.values:
            raise given.no_such_value()
        if known in SORTS_WITH_MODEL:
            if slash and not more:
                raise given.error(
                    "after models/ comes the name of a model, as in sort:models/small"
                )
            yield SortTerm(known, reverse=raw.negated, model=more)
            continue
        if slash and known != "random":
            why = "only random takes a number after /, and models a name"
            raise given.error(why, given.item.start + len(name))
        if slash and not NUMBER.match(more):
            raise given.error(
                f"after random/ comes a whole number from 0 to {MAX_NUMBER:,}, "
                "as in sort:random/7"
            )
        yield SortTerm(known, int(more) if slash else 0, raw.negated)


MAX_COMPLETIONS = 50
"""Completions in one list."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A completion. insert: text to write. label, detail: text to show."""

    insert: str
    label: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Completions:
    """Replacements for [start, end) of the query, best first."""

    start: int
    end: int
    options: tuple[Completion, ...] = ()

    def apply(self, text: str, option: Completion) -> tuple[str, int]:
        """The query with a completion inserted, and the new cursor position."""
        head = text[: self.start] + option.insert
        return head + text[self.end :], len(head)


JOINT = Completion(OR, OR, "either the term before it or the one after it")


def complete(
    text: str,
    cursor: int,
    values: Callable[[str], Sequence[str]] | None = None,
    role: Role = Role.ADJUDICATOR,
) -> Completions:
    """Completions at `cursor`, a code point of `text`.

    values: returns the values of a key in the database; called only for keys with open values.
    Keys that are not allowed in the role are not offered.
    """
    keys = keys_for(role)
    term = next((raw for raw in scan(text) if raw.start <= cursor <= raw.end), None)
    if term is None or (term.source == "-" and cursor == term.end):
        return Completions(cursor, cursor, _key_completions("", keys))
    if cursor < term.head:
        return Completions(cursor, cursor)
    first = term.items[0]
    if OR.startswith(term.source.upper()) and term.head == term.start > 0:
        found = _word_completions(term, first, cursor, keys)
        return replace(found, options=(*found.options, JOINT))
    if not term.key:
        return _word_completions(term, first, cursor, keys)
    if cursor < first.start:
        typed = text[term.head : min(cursor, term.head + len(term.key))]
        return Completions(term.head, first.start, _key_completions(typed, keys))
    item = next(item for item in term.items if cursor <= item.end)
    key = next((key for key in keys if key.name == term.key.casefold()), None)
    if key is None:
        return Completions(item.start, item.end)
    if item.parts:
        part = next(part for part in item.parts if cursor <= part.end)
        slash = "/" if key.name in ANSWER_KEYS and not text.startswith("/", part.end) else ""
        offers = _part_completions(key, part, _before_cursor(part, text, cursor), slash, values)
        return Completions(part.start, part.end, offers)
    return Completions(
        item.start,
        item.end,
        _value_completions(key, _before_cursor(item, text, cursor), values),
    )


def _word_completions(
    term: RawTerm, item: QueryValue, cursor: int, keys: Sequence[Key]
) -> Completions:
    """Keys that begin like a word without a key."""
    typed = item.text[: cursor - term.head]
    if item.quoted or (typed and not typed.isalpha()):
        return Completions(term.head, term.end)
    return Completions(term.head, term.end, _key_completions(typed, keys))


def _before_cursor(item: QueryValue | PeoplePart, text: str, cursor: int) -> str:
    return text[item.start + 1 : cursor] if item.quoted else text[item.start : cursor]


def _key_completions(typed: str, keys: Sequence[Key]) -> tuple[Completion, ...]:
    folded = typed.casefold()
    return tuple(
        Completion(key.stub, key.stub, key.summary)
        for key in keys
        if key.name.startswith(folded)
    )


def _value_completions(
    key: Key, typed: str, values: Callable[[str], Sequence[str]] | None
) -> tuple[Completion, ...]:
    known: Iterable[str] = key.values
    if key.open_values and values is not None:
        known = values(key.name)
    name, slash, _ = typed.partition("/")
    if (
        key.takes is KeyArgument.SORT
        and slash
        and name.casefold() in SORTS_WITH_MODEL
        and values is not None
    ):
        names = values("predicted") if name.casefold() in key.values else ()
        known = [f"{name}/{one}" for one in names]
    details = SORTS if key.takes is KeyArgument.SORT else {}
    matching = _matching(known, typed.casefold(), anywhere=key.open_values)
    return tuple(Completion(quote(value), value, details.get(value, "")) for value in matching)


def _part_completions(
    key: Key,
    part: PeoplePart,
    typed: str,
    slash: str,
    values: Callable[[str], Sequence[str]] | None,
) -> tuple[Completion, ...]:
    """Completions for a part of a value about people. slash: what must follow a name."""
    folded = typed.casefold()
    if part.joint == "/":
        return tuple(Completion(word, word) for word in _matching(key.after, folded))
    words = key.values if not part.joint else ()
    plain = [] if part.quoted else _matching(words, folded)
    names = _matching(values(key.name) if values else (), folded, anywhere=True)
    offers = [Completion(word, word) for word in plain]
    offers += [
        Completion(quote_name(name, (ME_WORD, NOBODY)) + slash, name + slash) for name in names
    ]
    return tuple(offers[:MAX_COMPLETIONS])


def _matching(known: Iterable[str], folded: str, *, anywhere: bool = False) -> list[str]:
    """Values that begin with the typed text; with `anywhere` then those that contain it."""
    once = list(dict.fromkeys(value for value in known if value))
    matching = [value for value in once if value.casefold().startswith(folded)]
    if anywhere:
        matching += [v for v in once if v not in matching and folded in v.casefold()]
    return matching[:MAX_COMPLETIONS]
