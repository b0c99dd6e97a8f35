"""The queue's query language: parse, compile, complete; documented in `docs/queries.md`."""

from nfh_db.query.completion import Completion, Completions, complete
from nfh_db.query.keys import BY_NAME, KEYS, SORTS, Key, KeyArgument
from nfh_db.query.parser import (
    ME,
    Compare,
    Match,
    Named,
    PeopleTerm,
    Query,
    SortTerm,
    parse,
    quote,
    quote_name,
)
from nfh_db.query.sql import Compiled, compile, compile_seen  # noqa: A004
from nfh_db.query.visibility import asked_by, keys_for, sorts_for

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
    "KeyArgument",
    "Match",
    "Named",
    "PeopleTerm",
    "Query",
    "SortTerm",
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
