"""What an annotator may ask: nothing that tells what others answered or a model says.

Whoever gives answers of their own asks in that role. Keys and orders that depend on others'
answers, on gold or on models are refused; the others mean one's own state, answers and flags.
"""

from dataclasses import replace

from nfh_db.errors import QueryError
from nfh_db.query.orders import OF_MODELS as SORTS_OF_MODELS
from nfh_db.query.orders import SORTS
from nfh_db.query.registry import BY_NAME, KEYS, SKIPPED, WHO_ASKS, Key
from nfh_db.query.terms import ME, Compare, Match, Named, People, Query
from nfh_db.query.wording import one_of
from nfh_db.records import Role, State

STATES = (State.OPEN.value, State.ANSWERED.value, SKIPPED)
"""Where an anchor stands for an annotator who knows of no other's answer."""

OWN = f"{WHO_ASKS}/"

CHANGED: dict[str, Key] = {
    "state": replace(
        BY_NAME["state"],
        summary="where the anchor stands for you: open, answered by you, or put off by you",
        values=STATES,
    ),
    "flag": replace(BY_NAME["flag"], summary="a flag that you set"),
    "by": replace(
        BY_NAME["by"],
        summary="answered by you",
        values=(WHO_ASKS,),
        open_values=False,
    ),
    "said": replace(
        BY_NAME["said"], summary="the kind that you answered", values=(OWN,), open_values=False
    ),
    "tagged": replace(
        BY_NAME["tagged"], summary="the rule of the guidelines on which your answer turned"
    ),
    "guideline": replace(
        BY_NAME["guideline"], summary="the version of the guidelines under which you answered"
    ),
    "assigned": replace(
        BY_NAME["assigned"],
        summary="given to you to annotate, answered or not",
        values=(WHO_ASKS,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "todo": replace(
        BY_NAME["todo"],
        summary="given to you to annotate, and not answered yet",
        values=(WHO_ASKS,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "sort": replace(BY_NAME["sort"], values=("order", "anchor", "random", "assigned")),
}
"""The keys that say something else in the annotator's role."""

AS_EVER = ("text", "anchor", "split", "doc", "id")
"""The keys that say the same, split and doc of what was not given to this person."""

ALLOWED: tuple[Key, ...] = tuple(
    CHANGED.get(key.name, key) for key in KEYS if key.name in (*CHANGED, *AS_EVER)
)

OF_MODELS = (
    *("model", "predicted", "hit", "miss", "margin", "conf", "entropy", "doubt"),
    *("nfh", "nfhrule"),
)

ONLY_ME = ("by", "said", "assigned", "todo")
INSTEAD = (
    "While annotating ask for "
    + ", ".join(key.name for key in ALLOWED if key.name not in ONLY_ME)
    + f", or {', '.join(f'{key}:{WHO_ASKS}' for key in ONLY_ME)}"
)


def keys_for(role: Role) -> tuple[Key, ...]:
    """The keys that may be asked in a role, as they are meant there."""
    return ALLOWED if role is Role.ANNOTATOR else KEYS


def sorts_for(role: Role) -> dict[str, str]:
    """The orders that may be asked for in a role, with what each means."""
    allowed = CHANGED["sort"].values if role is Role.ANNOTATOR else tuple(SORTS)
    return {name: meaning for name, meaning in SORTS.items() if name in allowed}


def asked_by(query: Query, role: Role, name: str = "") -> Query:
    """The query as it may be asked in a role, by the person of that name.

    An annotator's own name becomes ME. Raises QueryError where it asks in the annotator's
    role for what tells of others' answers, gold or models.
    """
    if role is not Role.ANNOTATOR:
        return query
    for sort in query.sorts:
        if sort.name not in CHANGED["sort"].values:
            raise QueryError(_refused(f"sort:{sort.name}", sort.name in SORTS_OF_MODELS))
    return replace(query, terms=tuple(_term(term, name) for term in query.terms))


def _term(term: Match | People | Compare, name: str) -> Match | People | Compare:
    if term.key not in CHANGED and term.key not in AS_EVER:
        raise QueryError(_refused(f"{term.key}:", term.key in OF_MODELS))
    if isinstance(term, People):
        return replace(term, values=tuple(_own(term.key, value, name) for value in term.values))
    if isinstance(term, Compare):
        return term
    if term.key == "by":
        return _by(term, name)
    wrong = [value for value in term.values if term.key == "state" and value not in STATES]
    if wrong:
        raise QueryError(
            f"state:{wrong[0]} tells what others did; while annotating state is one of "
            f"{one_of(STATES)}: your own"
        )
    return term


def _by(term: Match, name: str) -> Match:
    """The term with `me` for the one who asks; nobody else may be named."""
    for value in term.values:
        if value and not _is_me(value, name) and value.casefold() != WHO_ASKS:
            raise QueryError(_of_others("by", value))
    return replace(term, values=(WHO_ASKS,))


def _own(key: str, value: Named, name: str) -> Named:
    """A value about whoever asks, as an annotator; about anybody else it is refused."""
    if len(value.names) != 1 or not _is_me(value.names[0], name):
        raise QueryError(_of_others(key, value.names[0] if value.names else ""))
    if key in ("assigned", "todo"):
        if value.what == Role.ADJUDICATOR:
            raise QueryError(
                f"{key}:{WHO_ASKS}/{value.what}: while annotating {key} is of what you were "
                f"given to annotate: {key}:{WHO_ASKS}"
            )
        return Named((ME,), Role.ANNOTATOR.value)
    return Named((ME,), value.what)


def _is_me(value: str, name: str) -> bool:
    return value == ME or (bool(name) and value.casefold() == name.casefold())


def _of_others(key: str, value: str) -> str:
    about = f"{key}:{value}" if value else f"{key}: without a name"
    own = f"{key}:{WHO_ASKS}/AGE" if key == "said" else f"{key}:{WHO_ASKS}"
    return f"{about} tells about others; while annotating only {own} may be asked"


def _refused(asked: str, of_models: bool) -> str:
    what = "what a model says" if of_models else "what others answered or decided"
    return f"{asked} tells {what}. {INSTEAD}"
