"""All mentions of a head's noun, offered one by one."""

from dataclasses import replace

from nfh_db.records import Item
from nfh_models.domain import Mention, Origin
from nfh_tui.editing.heads import head_at, lemmas_of, with_origin
from nfh_tui.editing.state import (
    EditState,
    Outcome,
    Pending,
    Review,
    in_anchor,
    live,
    quoted,
    refuse,
    without_pending,
)
from nfh_tui.editing.words import (
    BEFORE_NOUNS,
    BEFORE_VERBS,
    INSIDE_PHRASES,
    fold,
    is_noun_like,
)

PROMPT = "Same noun? y adds it, n leaves it out, a adds all the rest, escape stops."

MOST_OFFERED = 28
"""Most characters of a mention with its modifiers."""

MOST_MODIFIERS = 3
"""Words before a mention that are shown with it."""


def prompt(review: Review) -> str:
    """Which mention is asked about, with its modifiers, and the keys."""
    left = len(review.tokens)
    words = f"{review.words[0]}: " if review.words else ""
    return f"Same noun? {words}y add, n leave out, a all {left}, esc stop"


def phrase_start(item: Item, token: int) -> int:
    """The first of the words that modify a noun: *the good* in *the good tents*."""
    passage = item.passage
    turn = passage.turns[passage.turn_of(token)]
    first = token
    while first > max(turn.start, token - MOST_MODIFIERS):
        before = fold(passage.word(first - 1))
        begins = before in BEFORE_NOUNS
        if not (begins or before in INSIDE_PHRASES or is_noun_like(before)):
            break
        first -= 1
        if begins:
            break
    return first


def part_of_speech(item: Item, token: int) -> str:
    """A guess by the word before: "noun", "verb?", or "" where that tells nothing."""
    turn = item.passage.turns[item.passage.turn_of(token)]
    if token == turn.start:
        return ""
    before = fold(item.passage.word(token - 1))
    if before in BEFORE_NOUNS or phrase_start(item, token) < token - 1:
        return "noun"
    return "verb?" if before in BEFORE_VERBS else ""


def _offered(item: Item, token: int) -> str:
    """A mention in words: “the good tents” t1 noun."""
    words = quoted(item.passage.words(phrase_start(item, token), token + 1), MOST_OFFERED)
    parts = (words, f"t{item.passage.turn_of(token) + 1}", part_of_speech(item, token))
    return " ".join(filter(None, parts))


def start(state: EditState, item: Item) -> Outcome:
    """Offer the other places of the noun under the cursor, else of the head marked last."""
    if not state.heads:
        return refuse(state, "No head is marked yet: press f, or move and press space.")
    number = _head_meant(state)
    tokens = _others(state, item, number)
    if not tokens:
        first = state.heads[number][0]
        return refuse(state, f"No other {quoted(item.passage.word(first.head))} stands here.")
    reviewed = replace(
        state,
        pending=Pending.REVIEW,
        review=Review(number, tokens, tuple(_offered(item, token) for token in tokens)),
        cursor=tokens[0],
        span=None,
    )
    return Outcome(reviewed, PROMPT)


def _head_meant(state: EditState) -> int:
    found = head_at(state.heads, state.cursor)
    return len(state.heads) - 1 if found is None else found[0]


def _others(state: EditState, item: Item, number: int) -> tuple[int, ...]:
    """Tokens with a lemma of the head that nobody marked, and no other head holds."""
    lemmas = lemmas_of(state.heads[number], item)
    taken = {
        m.head
        for place, mentions in enumerate(state.heads)
        for m in live(mentions)
        if place != number or m.origin is Origin.MARKED
    }
    return tuple(
        token
        for token, what in enumerate(item.passage.tokens)
        if token not in taken and fold(what.lemma) in lemmas and not in_anchor(item, token)
    )


def review_key(state: EditState, item: Item, key: str, character: str | None) -> Outcome | None:
    """A key while mentions are offered."""
    review = state.review
    if review is None or key in {"escape", "enter"}:
        return Outcome(_ended(state))
    letter = (character or "").casefold()
    if letter in {"y", " "} or key == "space":
        return _answered(state, item, review, Origin.ADDED)
    if letter == "n":
        return _answered(state, item, review, Origin.REMOVED)
    if letter == "a":
        return _add_all(state, item, review)
    if letter and letter.isprintable():
        return refuse(state, PROMPT)
    return None


def _ended(state: EditState) -> EditState:
    """Back to the head that was reviewed."""
    number = state.review.head if state.review else -1
    closed = without_pending(state)
    return replace(closed, cursor=state.heads[number][0].head) if state.heads else closed


def _answered(state: EditState, item: Item, review: Review, origin: Origin) -> Outcome:
    token, *rest = review.tokens
    known = any(m.head == token for m in state.heads[review.head])
    if origin is Origin.ADDED or known:
        state = with_origin(state, item, review.head, token, origin)
    if not rest:
        return Outcome(_ended(state), _said(state, review.head))
    left = replace(review, tokens=tuple(rest), words=review.words[1:])
    moved = replace(state, review=left, cursor=rest[0])
    return Outcome(moved, PROMPT)


def _add_all(state: EditState, item: Item, review: Review) -> Outcome:
    for token in review.tokens:
        state = with_origin(state, item, review.head, token, Origin.ADDED)
    return Outcome(_ended(state), _said(state, review.head))


def _said(state: EditState, number: int) -> str:
    mentions: tuple[Mention, ...] = live(state.heads[number])
    return f"Head {number + 1} now stands in {len(mentions)} place{'s'[: len(mentions) > 1]}."
