"""The orders in a query's text: which there are, and another one in their place."""

from nfh_db.query.lexer import RawTerm, scan
from nfh_db.query.registry import BY_NAME, Takes


def _is_sort(term: RawTerm) -> bool:
    key = BY_NAME.get(term.key.casefold())
    return key is not None and key.takes is Takes.SORT


def sorts_in(text: str) -> tuple[str, ...]:
    """The orders as they are written in a query, minus signs included: "-sort:votes"."""
    return tuple(text[term.start : term.end] for term in scan(text) if _is_sort(term))


def with_sort(text: str, term: str) -> str:
    """The query with this order, as a query writes it, in place of all that it has.

    term: "" for passage order. All else stays as it was typed.
    """
    kept = [text[one.start : one.end] for one in scan(text) if not _is_sort(one)]
    return " ".join([*kept, term] if term else kept)
