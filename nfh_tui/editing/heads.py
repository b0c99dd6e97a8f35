"""Marking heads: taking and dropping words and spans, joining mentions, the relation."""

from collections.abc import Iterable
from dataclasses import replace

from nfh_db.records import Item
from nfh_models.domain import Kind, Mention, Origin, Relation
from nfh_tui.editing.hints import candidates
from nfh_tui.editing.kinds import with_kind
from nfh_tui.editing.state import (
    EditState,
    Heads,
    Outcome,
    in_anchor,
    live,
    quoted,
    refuse,
    word,
)
from nfh_tui.editing.words import AFTER_THE_NOUN, PRONOUNS, fold, is_word

ORDER = {Origin.MARKED: 0, Origin.ADDED: 1, Origin.REMOVED: 2}


def tidy(mentions: Iterable[Mention], item: Item) -> tuple[Mention, ...]:
    """Marked mentions first, then added, then removed; () when nobody wants any.

    A head without a marked mention gets one: the added one nearest to the number.
    """
    kept = sorted(mentions, key=lambda m: ORDER[m.origin])
    alive = live(tuple(kept))
    if not alive:
        return ()
    if alive[0].origin is not Origin.MARKED:
        nearest = min(alive, key=lambda m: (abs(m.head - item.anchor.start), m.head))
        kept.remove(nearest)
        kept.insert(0, replace(nearest, origin=Origin.MARKED))
    return tuple(kept)


def lemmas_of(mentions: Iterable[Mention], item: Item) -> frozenset[str]:
    """The compared forms of the lemmas of the mentions nobody removed."""
    tokens = item.passage.tokens
    return frozenset(
        fold(tokens[m.head].lemma) for m in mentions if m.origin is not Origin.REMOVED
    )


def head_at(heads: Heads, token: int) -> tuple[int, Mention] | None:
    """The head, by number, and the live mention that covers a token; own head token first."""
    covering = None
    for number, mentions in enumerate(heads):
        for mention in live(mentions):
            if mention.head == token:
                return number, mention
            if covering is None and mention.start <= token < mention.end:
                covering = number, mention
    return covering


def choose_head(item: Item, start: int, end: int) -> int | None:
    """The head token of a span: its last noun before a word such as *of* or *who*.

    Where no noun stands before such a word, the last noun of the span; without any noun
    the last word. None if the span has no word besides the number itself.
    """
    nouns = [token for token in candidates(item) if start <= token < end]
    for token in range(start, end):
        if fold(item.passage.word(token)) in AFTER_THE_NOUN:
            before = [noun for noun in nouns if noun < token]
            if before:
                return before[-1]
    if nouns:
        return nouns[-1]
    words = [
        token
        for token in range(start, end)
        if not in_anchor(item, token) and is_word(item.passage.word(token))
    ]
    return words[-1] if words else None


def toggle(state: EditState, item: Item) -> Outcome:
    """Take the grown span, or the token under the cursor; a marked one is dropped."""
    if state.span is not None:
        return _take_span(state, item, state.span)
    return toggle_token(state, item, state.cursor)


def _take_span(state: EditState, item: Item, span: tuple[int, int]) -> Outcome:
    start, end = span
    if start < item.anchor.end and item.anchor.start < end:
        said = quoted(item.passage.words(start, end))
        return refuse(state, f"{said} holds the number itself; a head is the noun it lacks.")
    head = choose_head(item, start, end)
    if head is None:
        return refuse(state, f"{quoted(item.passage.words(start, end))} holds no noun.")
    ended = replace(state, span=None, cursor=head)
    wanted = Mention(start, end, head)
    opened = with_kind(ended, Kind.REFERENCE)
    found = head_at(opened.heads, head)
    if found is not None and found[1].head == head:
        number, present = found
        if (present.start, present.end) == span and state.kind is Kind.REFERENCE:
            return _dropped(opened, item, number, present)
        return Outcome(with_mention(opened, item, number, wanted))
    return _taken(opened, item, wanted)


def toggle_token(state: EditState, item: Item, token: int) -> Outcome:
    """Take one token as a head, or drop the mention that covers it."""
    if in_anchor(item, token):
        return refuse(
            state, f"{word(item, token)} is the number itself; a head is the noun it lacks."
        )
    opened = with_kind(replace(state, cursor=token, span=None), Kind.REFERENCE)
    found = head_at(state.heads, token)
    if found is not None:
        return _dropped(opened, item, *found)
    if not is_word(item.passage.word(token)):
        return refuse(state, f"{word(item, token)} is no word, so it cannot be a head.")
    if head_at(opened.heads, token) is not None:
        return Outcome(opened)
    return _taken(opened, item, Mention(token, token + 1, token))


def _taken(state: EditState, item: Item, mention: Mention) -> Outcome:
    """Join the head with the same lemma, else open a new one."""
    lemma = lemmas_of((mention,), item)
    advice = _advice(item, mention.head)
    for number, mentions in enumerate(state.heads):
        if lemmas_of(mentions, item) & lemma:
            joined = with_mention(state, item, number, mention)
            return Outcome(joined, advice or f"One more mention of head {number + 1}.")
    return Outcome(replace(state, heads=(*state.heads, (mention,))), advice)


def with_mention(state: EditState, item: Item, number: int, mention: Mention) -> EditState:
    """The state with a mention put into head `number`, in place of one at the same token."""
    mentions = list(state.heads[number])
    for place, present in enumerate(mentions):
        if present.head == mention.head:
            mentions[place] = mention
            break
    else:
        mentions.append(mention)
    return _with_head(state, number, tidy(mentions, item))


def with_origin(state: EditState, item: Item, number: int, token: int, to: Origin) -> EditState:
    """The state with the mention of head `number` at `token` given that origin."""
    for present in state.heads[number]:
        if present.head == token:
            return with_mention(state, item, number, replace(present, origin=to))
    return with_mention(state, item, number, Mention(token, token + 1, token, to))


def _with_head(state: EditState, number: int, mentions: tuple[Mention, ...]) -> EditState:
    heads = list(state.heads)
    if mentions:
        heads[number] = mentions
    else:
        del heads[number]
    return replace(state, heads=tuple(heads))


def _dropped(state: EditState, item: Item, number: int, mention: Mention) -> Outcome:
    """A marked mention goes; an added one is kept as removed, so that it stays refused."""
    mentions = [m for m in state.heads[number] if m is not mention]
    if mention.origin is Origin.ADDED:
        mentions.append(replace(mention, origin=Origin.REMOVED))
    words = quoted(item.passage.words(mention.start, mention.end))
    kept = tidy(mentions, item)
    say = f"{words} is dropped." if kept else f"Head {number + 1}, {words}, is dropped."
    return Outcome(_with_head(state, number, kept), say)


def drop_last(state: EditState, item: Item) -> Outcome:
    """Drop the growing span, else the head marked last, with all its mentions."""
    if state.span is not None:
        return Outcome(replace(state, span=None))
    if not state.heads:
        return refuse(state, "No head is marked.")
    mention = state.heads[-1][0]
    words = quoted(item.passage.words(mention.start, mention.end))
    say = f"Head {len(state.heads)}, {words}, is dropped."
    return Outcome(replace(state, heads=state.heads[:-1]), say)


def relate(state: EditState, relation: Relation) -> Outcome:
    """State how the heads belong together."""
    if len(state.heads) < 2:
        return refuse(state, f"{relation} joins two different heads: mark another one first.")
    return Outcome(replace(state, relation=relation))


def join(state: EditState, item: Item) -> Outcome:
    """Make the last two heads one: two words for one thing, the first stays in front."""
    if len(state.heads) < 2:
        return refuse(state, "Joining makes one of two heads: mark another one first.")
    *before, first, second = state.heads
    known = {m.head for m in first}
    joined = tidy((*first, *(m for m in second if m.head not in known)), item)
    return Outcome(replace(state, heads=(*before, joined)), "Two words for one thing.")


def _advice(item: Item, token: int) -> str | None:
    """What the guidelines say to a head that is seldom one."""
    if fold(item.passage.word(token)) in PRONOUNS:
        return f"{word(item, token)} only stands for a noun: mark that noun, if it is there."
    for sibling in item.siblings:
        if sibling.anchor.start <= token < sibling.anchor.end:
            return f"{word(item, token)} is a number too: mark the noun behind it."
    return None
