"""From the state to the answer, or to the sentence that says what is missing."""

from nfh_db.records import Item
from nfh_models.domain import Answer, AnswerError, Head, Kind, Relation
from nfh_tui.editing.state import EditState

NO_KIND = "Nothing is chosen yet: press f and letters for a head, or a key for a class."
NO_HEAD = "Reference needs a head: press f, or move with w b and press space."
NO_RELATION = (
    "Different heads: press & if the number counts them all, | if one or the other, "
    "J if both words mean one thing."
)
UNTAKEN = "A span is still growing: space takes it, escape drops it."


def answer(state: EditState, item: Item) -> Answer | str:
    """The answer as it would be committed, or a sentence that says what is missing."""
    missing = _missing(state)
    if missing is not None or state.kind is None:
        return missing or NO_KIND
    try:
        made = Answer(
            state.kind,
            tuple(Head(mentions) for mentions in state.heads),
            state.relation,
            state.sort,
            state.noun,
            state.comment,
        )
        made.check(len(item.passage.tokens), item.anchor.start, item.anchor.end)
    except AnswerError as error:
        return f"This answer cannot be saved: {error}."
    return made


def _missing(state: EditState) -> str | None:
    if state.span is not None:
        return UNTAKEN
    if state.kind is None or state.kind is Kind.NFH:
        return NO_KIND
    if state.kind is Kind.REFERENCE and not state.heads:
        return NO_HEAD
    if len(state.heads) > 1 and state.relation not in {Relation.AND, Relation.OR}:
        return NO_RELATION
    return None
