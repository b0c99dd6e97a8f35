"""What a value about people means: NAME, NAME~NAME, NAME/WHAT, each part perhaps in quotes."""

from nfh_db.errors import QueryError
from nfh_db.query.lexer import Item, Part, RawTerm
from nfh_db.query.registry import NOBODY, WHO_ASKS, Key
from nfh_db.query.terms import ME, Named, People
from nfh_db.query.wording import meant, one_of, shown

SAID = ("said", "predicted")
"""The keys whose value may be what was said alone, without a name."""


OF_MODELS = ("predicted", "hit", "miss")
"""The keys whose names are those of models, of which none is whoever asks."""


def people(raw: RawTerm, key: Key) -> People:
    """The term that a key about people makes. Raises QueryError."""
    operator = raw.operator or ":"
    values = tuple(_named(key, operator, item) for item in raw.items)
    return People(key.name, values, unequal=operator == "!=", negated=raw.negated)


def _named(key: Key, operator: str, item: Item) -> Named:
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


def _is_word(part: Part, word: str) -> bool:
    return not part.quoted and part.text.casefold() == word


def _name(key: Key, operator: str, item: Item, part: Part) -> str:
    if not part.text:
        raise _wrong_form(key, operator, item)
    asks = _is_word(part, WHO_ASKS) and key.name not in OF_MODELS
    return ME if asks else part.text


def _what(key: Key, operator: str, item: Item, part: Part) -> str:
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


def _wrong_form(key: Key, operator: str, item: Item) -> QueryError:
    forms = ["NAME", *(["NAME~NAME"] if key.pairs else [])]
    forms += ["NAME/WHAT"] if key.after else []
    return QueryError(
        f"{key.name}{operator}{shown(item.text)}: wanted {one_of(forms)}, as in "
        f"{one_of(key.examples[:2])}; a name with a space, a comma, ~ or / goes in quotes",
        item.start,
    )
