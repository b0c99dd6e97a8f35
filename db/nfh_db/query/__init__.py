"""The queue's query language: parse, compile, complete; documented in `docs/queries.md`."""

from nfh_db.query.annotating import asked_by, keys_for, sorts_for
from nfh_db.query.compiler import Compiled, compile, compile_seen  # noqa: A004
from nfh_db.query.completion import Completion, Completions, complete
from nfh_db.query.lexer import quote, quote_name
from nfh_db.query.orders import SORTS
from nfh_db.query.parser import parse
from nfh_db.query.registry import BY_NAME, KEYS, Key, Takes
from nfh_db.query.terms import ME, Compare, Match, Named, People, Query, Sort

__all__ = [
    "BY_NAME",
    "KEYS",
    "ME",
    "SORTS",
    "Compare",
    "Compiled",
    "Completion",
    "Completions",
    "Key",
    "Match",
    "Named",
    "People",
    "Query",
    "Sort",
    "Takes",
    "asked_by",
    "compile",
    "compile_seen",
    "complete",
    "keys_for",
    "parse",
    "quote",
    "quote_name",
    "sorts_for",
]
