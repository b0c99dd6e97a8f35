"""The query language of the queue, documented in `docs/queries.md`.

`keys` is the table of keys and orders, `parser` parses and completes text, `visibility` limits
what each role may ask, and `sql` compiles. Import from this package; fragments of SQL and
helpers of one module may be imported from that module.
"""

from nfh_db.query.keys import BY_NAME, KEYS, SORTS, Key, KeyArgument, keys_for, sorts_for
from nfh_db.query.parser import (
    ME,
    Compare,
    Completion,
    Completions,
    Match,
    PeopleTerm,
    PeopleValue,
    Query,
    SortTerm,
    Term,
    complete,
    parse,
    quote,
    quote_name,
)
from nfh_db.query.sql import Compiled, compile, compile_search, compile_seen  # noqa: A004
from nfh_db.query.visibility import asked_by

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
    "PeopleTerm",
    "PeopleValue",
    "Query",
    "SortTerm",
    "Term",
    "asked_by",
    "compile",
    "compile_search",
    "compile_seen",
    "complete",
    "keys_for",
    "parse",
    "quote",
    "quote_name",
    "sorts_for",
]
