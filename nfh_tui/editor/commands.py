"""Commands of the answer editor: each takes a state and returns the next one. Initial states,
cursor, kinds, spans, heads and mentions, hints, adopted answers, rule tags, and drafts.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice, product

import msgspec

from nfh_db.records import AnchorItem, Role, Rule, Vote
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Answer,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Sort,
    rule_id,
)
from nfh_tui.editor import votes
from nfh_tui.editor.state import (
    AnswerSource,
    DraftError,
    EditOutcome,
    EditState,
    Heads,
    HiddenParts,
    Pending,
    Review,
    in_anchor,
    live,
    normalized,
    quoted,
    refuse,
    without_pending,
    word,
)

SORT_KEYS = {
    "n": Sort.NUMBER,
    "c": Sort.CODE,
    "m": Sort.MEASURE,
    "o": Sort.NOUN,
    "w": Sort.NOUN,
}
"""The key after `o` that chooses each sort."""

SORT_PROMPT = "Which sort? n number, c code, m measure, o noun; enter saves without one."


def with_kind(state: EditState, kind: Kind) -> EditState:
    """The state with another kind; the old kind's parts move to `aside`.

    REFERENCE restores its heads, OTHER its sort, and each class its own noun.
    """
    if kind is state.kind:
        return state
    aside = _set_aside(state)
    reference = kind is Kind.REFERENCE
    return replace(
        state,
        kind=kind,
        heads=aside.heads if reference else (),
        relation=aside.relation if reference else None,
        sort=aside.sort if kind is Kind.OTHER else None,
        noun=None if reference else dict(aside.nouns).get(kind),
        span=None,
        aside=aside,
    )


def _set_aside(state: EditState) -> HiddenParts:
    aside = state.aside
    if state.kind is None:
        return aside
    if state.kind is Kind.REFERENCE:
        return replace(aside, heads=state.heads, relation=state.relation)
    nouns = {kind: noun for kind, noun in aside.nouns if kind is not state.kind}
    if state.noun:
        nouns[state.kind] = state.noun
    sort = state.sort if state.kind is Kind.OTHER else aside.sort
    return replace(aside, sort=sort, nouns=tuple(nouns.items()))


def choose(state: EditState, kind: Kind) -> EditOutcome:
    """Choose a kind. OTHER is without a sort until a key states it, and escape restores the one
    before; REFERENCE without heads explains how to mark.
    """
    chosen = with_kind(state, kind)
    if kind is Kind.OTHER:
        before = replace(chosen.aside, sort=chosen.sort)
        waiting = replace(chosen, sort=None, aside=before, pending=Pending.SORT)
        return EditOutcome(waiting, SORT_PROMPT)
    if kind is Kind.REFERENCE and not chosen.heads:
        return EditOutcome(chosen, "Which noun? f shows letters, or move and press space.")
    return EditOutcome(chosen)


def sort_key(state: EditState, key: str, character: str | None) -> EditOutcome | None:
    """A key while the sort is pending. The key that accepts saves OTHER without one."""
    if key == "escape":
        return EditOutcome(replace(without_pending(state), sort=state.aside.sort))
    if (sort := SORT_KEYS.get((character or "").casefold())) is not None:
        ask = "noun" if sort is Sort.NOUN else None
        return EditOutcome(replace(without_pending(state), sort=sort), ask=ask)
    if character and character.isprintable():
        return refuse(state, SORT_PROMPT)
    return None


def set_noun(state: EditState, _item: AnchorItem, text: str) -> EditOutcome:
    """Set the noun of a class; an empty text removes it.

    Without a kind the answer becomes OTHER. OTHER without a sort gets the sort NOUN.
    """
    noun = _clean(text) or None
    closed = without_pending(state)
    if closed.kind is None:
        if noun is None:
            return EditOutcome(normalized(closed))
        closed = with_kind(closed, Kind.OTHER)
    if closed.kind not in IMPLICIT_KINDS:
        if closed.kind is Kind.REFERENCE:
            why = "A Reference has its noun in the passage: mark it there."
        else:
            why = "Only a class can have a written noun: press y a c p t or o first."
        return refuse(state, why)
    sort = closed.sort
    if closed.kind is Kind.OTHER and noun is not None and sort is None:
        sort = Sort.NOUN
    return EditOutcome(normalized(replace(closed, noun=noun, sort=sort)))


def set_comment(state: EditState, _item: AnchorItem, text: str) -> EditOutcome:
    """Set the comment; an empty text removes it."""
    return EditOutcome(normalized(replace(state, comment=_clean(text))))


def _clean(text: str) -> str:
    """Stripped text without lone surrogates, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def set_tag(state: EditState, tag: str | None) -> EditOutcome:
    """Tag the answer with a rule's id; None removes the tag."""
    kept = None if tag is None else rule_id(tag)
    return EditOutcome(normalized(replace(without_pending(state), tag=kept)))


def tag_of(vote: Vote) -> str | None:
    """The id of an answer's rule, or the tag itself if it is no rule."""
    return None if vote.rule_tag is None else rule_id(vote.rule_tag)


def gold_vote(item: AnchorItem) -> Vote | None:
    """The expert's answer from which an item's gold was made, if any."""
    gold = item.gold
    if gold is None or gold.rule is not Rule.EXPERT:
        return None
    return next(
        (
            vote
            for vote in item.votes
            if vote.role is Role.ADJUDICATOR and vote.annotator == gold.adjudicator
        ),
        None,
    )


_DETERMINERS = """
a an the this that these those each every either neither both all any some no none such what
which whose whatever whichever another other others many much more most few fewer several
enough half less least own same
"""

_PRONOUNS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers
herself it its itself we us our ours ourselves they them their theirs themselves who whom
whoever someone somebody something anyone anybody anything everyone everybody everything
nobody nothing ya ye em thee thou
"""

_JOINING = """
of in on at by for from with without about above across after against along among around as
before behind below beneath beside besides between beyond despite down during except inside
into like near off onto out outside over past per since than through throughout till to
toward towards under until up upon via within and or but nor so yet because although though
unless while whereas whether if when where why how
"""

_VERBS = """
am is are was were be been being do does did doing done have has had having can could may
might must shall should will would ought need dare go goes going went gone gon come comes
coming came get gets getting got gotten gonna wanna gotta let lets make makes made know knows
knew known think thinks thought say says said see sees saw seen want wants wanted take takes
took taken give gives gave given tell tells told look looks ask asks keep put seem mean means
"""

_REST = """
not n't 's 're 've 'll 'd 'm 't ca wo ai yes no yeah yep nope oh ah hey hi hello well okay ok
please thanks sorry just only also too very really quite rather almost even ever never always
often again still already soon now then here there today tomorrow yesterday maybe perhaps
away back else instead once twice first last next about good bad right wrong sure anyway uh um
"""

_NUMBERS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
hundred thousand million billion trillion
"""

_SELDOM_NOUNS = """
able acting add afraid afterwards ago ahead alike alive alone alright ancient anymore apart
aware beat beautiful become begin believe big black bloody born bright bring brown burning busy
buy buying call careful classic clean clear clever close cold comfortable cool correct crazy
cute dark dead dear deep depends desperate die different difficult dirty double dry early easy
eat eh emotional entire equals er exciting extra fair false far fascinating fast favorite feel
felt find finding fine following forever forget free full funny glad grab great guess ha hang
hanging happen happens happy hard hardly hate hear heh high hit hmm hold honest horrible hot
huge huh human hungry hurt important impossible innocent kill large late leave left legal
likely listen little live local long lose lovely low lucky mad major minor mostly natural
nearly necessary negative new nice old open original pay perfect personal pick play plus poor
positive possible pregnant pretty private professional quick quiet raise raw read ready real
realize red relax remember responsible rid safe scary second seems sell set sharp shoot shut
sick silent simple single sit small smart someday somehow sometimes somewhere sounds special
spend split start stay stop straight strike strong stupid sudden sweet talk tall terrible thank
third throw tiny together tough true trust try ugly use useless usual wait weak weird welcome
white whoa whole wild willing wish wonderful worth wow yellow young
"""


def _listed(*blocks: str) -> frozenset[str]:
    return frozenset(word for block in blocks for word in block.split())


BEFORE_NOUNS = _listed(_DETERMINERS, _NUMBERS, "my your his her its our their whose")
"""Case-folded words that begin a noun phrase."""

INSIDE_PHRASES = _listed("good bad right wrong next last own same very quite really rather")
"""Case-folded function words between the beginning of a noun phrase and its noun."""

BEFORE_VERBS = _listed(
    "to i you he she it we they who not n't can could may might must shall should will would "
    "'ll do does did don let lets gonna wanna please"
)
"""Case-folded words that usually precede a verb."""

FUNCTION_WORDS = _listed(_DETERMINERS, _PRONOUNS, _JOINING, _VERBS, _REST, _NUMBERS)
"""Case-folded words that `is_noun_like` excludes."""

PRONOUNS = _listed(_PRONOUNS)
"""Case-folded pronouns."""

SELDOM_NOUNS = _listed(_SELDOM_NOUNS)
"""Frequent verbs, adjectives and adverbs of dialogs."""

PLURALS = ("s", "men", "children", "people", "feet", "teeth", "geese", "mice")
"""Ends of words that differ from their lemma as nouns do."""

BEFORE_PLAIN_VERBS = BEFORE_VERBS - _listed("he she it who does")
"""Words after which no verb has an ending, so that *guys* in *you guys* is a noun."""

AFTER_THE_NOUN = _listed(_JOINING, "that which who whom whose") - _listed(
    "and or but nor so yet as"
)
"""Case-folded words after which the rest of a noun phrase modifies its noun."""


@lru_cache(maxsize=1 << 14)
def fold(word: str) -> str:
    """The form of words and lemmas for comparison."""
    return word.strip().casefold().replace("\u2019", "'")


def is_noun_like(word: str) -> bool:
    """A guess by spelling: two letters or more, no digit, and no function word."""
    if any(character.isdigit() for character in word):
        return False
    letters = sum(character.isalpha() for character in word)
    return letters > 1 and fold(word) not in FUNCTION_WORDS


def is_likely_noun(passage: Passage, token: int) -> bool:
    """A guess at what a tagger calls a noun or a name: by the word, its lemma, and the word
    before.
    """
    written = passage.word(token)
    word = fold(written)
    lemma = fold(passage.tokens[token].lemma) or word
    if not is_noun_like(written) or word.endswith("n't"):
        return False
    begins = token == passage.turns[passage.turn_of(token)].start
    before = "" if begins else fold(passage.word(token - 1))
    if written[0].isupper() and not written.isupper() and before[-1:].isalpha():
        return True
    if word in SELDOM_NOUNS or word.endswith("ous"):
        return False
    plural = lemma != word and word.endswith(PLURALS)
    if lemma != word and not plural:
        return word.endswith("ing") and before in BEFORE_NOUNS
    if word.endswith("ly") and len(word) > 6:
        return False
    return before not in BEFORE_VERBS or (plural and before in BEFORE_PLAIN_VERBS)


def is_word(word: str) -> bool:
    """Whether a token can be a head: it has a letter, a digit, or a symbol such as %."""
    return any(
        character.isalnum()
        or character in "%\u2030#\u00b0"
        or unicodedata.category(character) in {"So", "Sc"}
        for character in word
    )


MORE = "f"
"""The key that switches hints between nouns and all words; no hint has this letter."""

LETTERS = "jdkslahgeiruowtyvmcnpqxbz"
"""Letters of hints by ease of typing: the home row, strongest fingers first, then the next.

Where there are more words than letters, the last letters begin pairs.
"""

AHEAD_FACTOR = 3
"""Factor of the distance after the number, because most heads precede it."""

MOST_NOUNS = 150
"""Most nouns with hints: with more, each would need two letters, and the text much room."""

MOST_WORDS = len(LETTERS) ** 2
"""Most words with hints: all pairs of letters."""

NONE_IN_VIEW = "No word in view can be marked: scroll to get letters."

LIKELY = 0.1
"""Least score for a hint on a model's candidate that does not look like a noun."""


def token_scores(item: AnchorItem) -> tuple[float | None, ...]:
    """The model's score of each token of the passage; () without a score for all."""
    if item.prediction is None:
        return ()
    scores = item.prediction.scores[len(IMPLICIT_KINDS) :]
    return scores if len(scores) == len(item.passage.tokens) else ()


def candidates(item: AnchorItem, role: Role = Role.ANNOTATOR) -> tuple[int, ...]:
    """Tokens that may be the head, ascending, without the number's own.

    The nouns: those scored by a model with a tagger, else a guess. For an adjudicator also what
    the model finds likely against that guess, and all that somebody marked.
    """
    scores = token_scores(item)
    found = {token for token, score in enumerate(scores) if score is not None}
    words = range(len(item.passage.tokens))
    # A model that scored words of every kind, or none, does not identify the nouns.
    others = sum(not is_noun_like(item.passage.word(token)) for token in found)
    if others * 3 >= len(found):
        found = {token for token in words if is_likely_noun(item.passage, token)}
        if role is Role.ADJUDICATOR:
            found.update(
                token for token, score in enumerate(scores) if (score or 0.0) >= LIKELY
            )
    if role is Role.ADJUDICATOR:
        found.update(marked(item))
    return tuple(sorted(token for token in found if not in_anchor(item, token)))


def marked(item: AnchorItem) -> Iterator[int]:
    """Head tokens of all answers and of the gold."""
    for vote in (*item.votes, *item.stale_votes):
        yield from vote.answer.head_tokens()
    if item.gold is not None:
        yield from item.gold.answer.head_tokens()


def _distance(item: AnchorItem, token: int) -> int:
    if token < item.anchor.start:
        return item.anchor.start - token
    return (token - item.anchor.end + 1) * AHEAD_FACTOR


def rank_candidates(item: AnchorItem, role: Role) -> tuple[int, ...]:
    """Candidates in the order in which they get hints.

    By the model's score, then by distance; for an annotator by distance alone, so that hints
    do not reveal the model's opinion.
    """
    scores = token_scores(item)
    found = candidates(item, role)
    if role is Role.ANNOTATOR or not scores:
        return tuple(sorted(found, key=lambda t: (_distance(item, t), t)))
    return tuple(sorted(found, key=lambda t: (-(scores[t] or 0.0), _distance(item, t), t)))


def labels(count: int) -> tuple[str, ...]:
    """At most `count` labels, none a prefix of another, the shortest first."""
    size = len(LETTERS)
    if count <= size:
        return tuple(LETTERS[:count])
    singles = size - 1
    while singles and singles + (size - singles) * size < count:
        singles -= 1
    pairs = (first + second for first, second in product(LETTERS[singles:], LETTERS))
    return tuple(LETTERS[:singles]) + tuple(islice(pairs, count - singles))


def start_hints(state: EditState, item: AnchorItem, view: range | None = None) -> EditOutcome:
    """Show hints on the nouns; on all words where no noun is in view.

    view: the tokens in view, None for all. They take precedence, then those that somebody
    marked.
    """
    tokens = _in_view_first(rank_candidates(item, state.role), state, item, view)[:MOST_NOUNS]
    if any(view is None or token in view for token in tokens):
        return _with_hints(state, tokens)
    return _start_words(state, item, view)


def _in_view_first(
    tokens: Sequence[int], state: EditState, item: AnchorItem, view: range | None
) -> list[int]:
    """The tokens in view first, and of each group those that somebody marked."""
    if view is None:
        return list(tokens)
    known = set(marked(item)) if state.role is Role.ADJUDICATOR else set()
    return sorted(tokens, key=lambda token: (token not in view, token not in known))


def _start_words(state: EditState, item: AnchorItem, view: range | None) -> EditOutcome:
    """Show hints on all words that may be a head: the nouns first, then by distance."""
    nouns = rank_candidates(item, state.role)
    known = set(nouns)
    others = [
        token
        for token in range(len(item.passage.tokens))
        if token not in known
        and not in_anchor(item, token)
        and is_word(item.passage.word(token))
    ]
    others.sort(key=lambda token: (abs(token - state.cursor), token))
    # Where there are too many, those around the cursor, nouns or not.
    tokens = _in_view_first([*nouns, *others], state, item, view)
    if view is not None:
        tokens = tokens[:MOST_WORDS]
    if len(tokens) > MOST_WORDS:
        near = set(sorted(tokens, key=lambda t: (abs(t - state.cursor), t))[:MOST_WORDS])
        tokens = [token for token in tokens if token in near]
    if not tokens:
        return refuse(state, "No word here can have a letter.")
    made = _with_hints(state, tokens, all_words=True)
    if view is not None and not any(token in view for token in tokens):
        return replace(made, say=NONE_IN_VIEW)
    return made


def _with_hints(
    state: EditState, tokens: Sequence[int], *, all_words: bool = False
) -> EditOutcome:
    hints = tuple(sorted(zip(tokens, labels(len(tokens)), strict=True)))
    return EditOutcome(
        replace(
            state, pending=Pending.HINT, hints=hints, typed="", span=None, all_words=all_words
        )
    )


def more(state: EditState, item: AnchorItem, view: range | None = None) -> EditOutcome:
    """Switch hints from nouns to all words, and back."""
    return (start_hints if state.all_words else _start_words)(state, item, view)


def follow(state: EditState, item: AnchorItem, view: range) -> EditOutcome:
    """Hints for the tokens now in view; unchanged once a letter is typed, and where all have
    one: letters that one has read stay.
    """
    if state.pending is not Pending.HINT or state.typed:
        return EditOutcome(state)
    made = (_start_words if state.all_words else start_hints)(state, item, view)
    seen = {token for token, _ in made.state.hints if token in view}
    return made if seen - {token for token, _ in state.hints} else EditOutcome(state)


def open_hints(state: EditState) -> tuple[tuple[int, str], ...]:
    """The hints that match the typed letters: token, and letters still to type."""
    return tuple(
        (token, label[len(state.typed) :])
        for token, label in state.hints
        if label.startswith(state.typed)
    )


def take_hint_key(
    state: EditState,
    item: AnchorItem,
    key: str,
    character: str | None,
    view: range | None = None,
) -> EditOutcome | int | None:
    """A key while hints are shown: the chosen token, an outcome, or None."""
    if character is not None and character.casefold() == MORE:
        return more(state, item, view)
    if key == "escape" or (key == "backspace" and not state.typed):
        return EditOutcome(without_pending(state))
    if key == "backspace":
        return EditOutcome(replace(state, typed=state.typed[:-1]))
    if key == "enter":
        return refuse(state, "Type the letters of a word; escape hides them.")
    if not character or not character.isprintable():
        return None
    typed = state.typed + character.casefold()
    left = [(token, label) for token, label in state.hints if label.startswith(typed)]
    if not left:
        return refuse(
            state,
            f"No word has the letters “{typed}”; f: other words, escape hides them.",
        )
    for token, label in left:
        if label == typed:
            return token
    return EditOutcome(replace(state, typed=typed))


def move_to_token(state: EditState, item: AnchorItem, token: int) -> EditOutcome:
    """Put the cursor on a token, clipped to the passage; the selected span follows it."""
    token = max(0, min(token, len(item.passage.tokens) - 1))
    if state.span is None:
        return EditOutcome(replace(state, cursor=token))
    fixed = fixed_end(state)
    if item.passage.turn_of(token) != item.passage.turn_of(fixed):
        return refuse(state, "A span stays in one turn: space marks it, escape cancels it.")
    span = (min(fixed, token), max(fixed, token) + 1)
    return EditOutcome(replace(state, cursor=token, span=span))


def fixed_end(state: EditState) -> int:
    """The end of the selected span that does not move with the cursor."""
    if state.span is None:
        return state.cursor
    start, end = state.span
    return end - 1 if state.cursor == start else start


def move_to(state: EditState, item: AnchorItem, token: int) -> EditOutcome:
    """Put the cursor on a token, for vertical moves and clicks."""
    outcome = move_to_token(without_pending(state), item, token)
    return replace(outcome, state=normalized(outcome.state))


def move_by(state: EditState, item: AnchorItem, steps: int) -> EditOutcome:
    """Move by tokens; negative steps move to the left."""
    return move_to_token(state, item, state.cursor + steps)


def noun(state: EditState, item: AnchorItem, steps: int) -> EditOutcome:
    """Move by candidates; negative steps move backwards."""
    places = candidates(item, state.role)
    if steps > 0:
        ahead = places[bisect_right(places, state.cursor) :]
    else:
        ahead = places[: bisect_left(places, state.cursor)][::-1]
    if not ahead:
        return refuse(state, f"No noun {'after' if steps > 0 else 'before'} this word.")
    return move_to_token(state, item, ahead[min(abs(steps), len(ahead)) - 1])


def turn(state: EditState, item: AnchorItem, steps: int) -> EditOutcome:
    """Move to the start of a later turn; backwards first to the start of this turn."""
    turns = item.passage.turns
    rank = item.passage.turn_of(state.cursor)
    if steps < 0 and state.cursor > turns[rank].start:
        steps += 1
    target = max(0, min(rank + steps, len(turns) - 1))
    if steps > 0 and target == rank:
        return refuse(state, "This is the last turn.")
    return move_to_token(state, item, turns[target].start)


def anchor(state: EditState, item: AnchorItem) -> EditOutcome:
    """Move to the number."""
    return move_to_token(state, item, item.anchor.start)


def next_head(state: EditState, item: AnchorItem, steps: int) -> EditOutcome:
    """Move to the next marked mention, cyclically.

    Where none is marked, an adjudicator moves through those of other answers and the gold.
    """
    places = sorted({m.head for mentions in state.heads for m in live(mentions)})
    if not places and state.role is Role.ADJUDICATOR:
        places = sorted({t for t in marked(item) if not in_anchor(item, t)})
    if not places:
        return refuse(state, "No head is marked yet: press f, or move and press space.")
    place = bisect_right(places, state.cursor) + steps - 1
    return move_to_token(state, item, places[place % len(places)])


ORDER = {Origin.MARKED: 0, Origin.ADDED: 1, Origin.REMOVED: 2}


def in_order(mentions: Iterable[Mention], item: AnchorItem) -> tuple[Mention, ...]:
    """Mentions in the order marked, added, removed; () if all are removed.

    Without a marked mention, the added one nearest to the number becomes marked.
    """
    kept = sorted(mentions, key=lambda m: ORDER[m.origin])
    if not (alive := live(tuple(kept))):
        return ()
    if alive[0].origin is not Origin.MARKED:
        nearest = min(alive, key=lambda m: (abs(m.head - item.anchor.start), m.head))
        kept.remove(nearest)
        kept.insert(0, replace(nearest, origin=Origin.MARKED))
    return tuple(kept)


def lemmas_of(mentions: Iterable[Mention], item: AnchorItem) -> frozenset[str]:
    """The folded lemmas of the live mentions."""
    tokens = item.passage.tokens
    return frozenset(
        fold(tokens[m.head].lemma) for m in mentions if m.origin is not Origin.REMOVED
    )


def head_at(heads: Heads, token: int) -> tuple[int, Mention] | None:
    """The index of a head and its live mention that covers a token; head tokens first."""
    covering = None
    for number, mentions in enumerate(heads):
        for mention in live(mentions):
            if mention.head == token:
                return number, mention
            if covering is None and mention.start <= token < mention.end:
                covering = number, mention
    return covering


def choose_head(item: AnchorItem, start: int, end: int) -> int | None:
    """The head token of a span: its last noun before a word such as *of* or *who*.

    Else the last noun of the span; without any noun the last word. None if the span has no
    word other than the number itself.
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


def toggle(state: EditState, item: AnchorItem) -> EditOutcome:
    """Mark the selected span, or the token under the cursor; a marked one is unmarked."""
    if state.span is not None:
        return _mark_span(state, item, state.span)
    return toggle_token(state, item, state.cursor)


def _mark_span(state: EditState, item: AnchorItem, span: tuple[int, int]) -> EditOutcome:
    start, end = span
    words = quoted(item.passage.words(start, end))
    if start < item.anchor.end and item.anchor.start < end:
        return refuse(state, f"{words} contains the number itself; a head is its missing noun.")
    if (head := choose_head(item, start, end)) is None:
        return refuse(state, f"{words} contains no noun.")
    ended = replace(state, span=None, cursor=head)
    wanted = Mention(start, end, head)
    opened = with_kind(ended, Kind.REFERENCE)
    found = head_at(opened.heads, head)
    if found is not None and found[1].head == head:
        number, present = found
        if (present.start, present.end) == span and state.kind is Kind.REFERENCE:
            return _unmarked(opened, item, number, present)
        return EditOutcome(with_mention(opened, item, number, wanted))
    return _marked(opened, item, wanted)


def toggle_token(state: EditState, item: AnchorItem, token: int) -> EditOutcome:
    """Mark one token as a head, or unmark the mention that covers it."""
    if in_anchor(item, token):
        return refuse(
            state, f"{word(item, token)} is the number itself; a head is its missing noun."
        )
    opened = with_kind(replace(state, cursor=token, span=None), Kind.REFERENCE)
    if (found := head_at(state.heads, token)) is not None:
        return _unmarked(opened, item, *found)
    if not is_word(item.passage.word(token)):
        return refuse(state, f"{word(item, token)} is not a word, so it cannot be a head.")
    if head_at(opened.heads, token) is not None:
        return EditOutcome(opened)
    return _marked(opened, item, Mention(token, token + 1, token))


def mark_lettered(state: EditState, item: AnchorItem, token: int) -> EditOutcome:
    """Mark the token of a hint, or unmark it.

    The first mark on heads that the screen offers replaces them; on one of them it keeps it.
    """
    offered = state.source in {AnswerSource.PROPOSAL, AnswerSource.GOLD} and not state.marked
    if not (offered and state.heads and state.heads == state.began.heads):
        return toggle_token(replace(state, marked=True), item, token)
    lemmas = fold(item.passage.tokens[token].lemma)
    same = tuple(head for head in state.heads if lemmas in lemmas_of(head, item))
    first = replace(state, heads=same, marked=True)
    words = word(item, token)
    if (found := head_at(state.heads, token)) is not None:
        kept = replace(first, heads=(state.heads[found[0]],), cursor=token)
        return EditOutcome(kept, f"{words} is kept; f again adds a head.")
    outcome = toggle_token(first, item, token)
    if outcome.refused:
        return replace(outcome, state=state)
    say = outcome.say or f"{words} replaces the proposal; f again adds a head."
    return replace(outcome, say=say)


def _marked(state: EditState, item: AnchorItem, mention: Mention) -> EditOutcome:
    """Add the mention to the head with the same lemma, else as a new head."""
    lemma = lemmas_of((mention,), item)
    advice = _advice(item, mention.head)
    for number, mentions in enumerate(state.heads):
        if lemmas_of(mentions, item) & lemma:
            joined = with_mention(state, item, number, mention)
            return EditOutcome(joined, advice or f"One more mention of head {number + 1}.")
    heads = (*state.heads, (mention,))
    count = f"{len(heads)} heads: & if the number counts them all, | if one or the other."
    return EditOutcome(replace(state, heads=heads), advice or (count if state.heads else None))


def with_mention(
    state: EditState, item: AnchorItem, number: int, mention: Mention
) -> EditState:
    """The state with a mention in head `number`; it replaces one with the same head token."""
    mentions = list(state.heads[number])
    # An imported head may have several mentions at one token: only the first is replaced.
    same = [place for place, present in enumerate(mentions) if present.head == mention.head]
    if same:
        mentions[same[0]] = mention
    else:
        mentions.append(mention)
    return _with_head(state, number, in_order(mentions, item))


def with_origin(
    state: EditState, item: AnchorItem, number: int, token: int, to: Origin
) -> EditState:
    """The state where the mention of head `number` at `token` has the given origin."""
    known = (mention for mention in state.heads[number] if mention.head == token)
    mention = next(known, Mention(token, token + 1, token))
    return with_mention(state, item, number, replace(mention, origin=to))


def _with_head(state: EditState, number: int, mentions: tuple[Mention, ...]) -> EditState:
    heads = list(state.heads)
    heads[number : number + 1] = [mentions] if mentions else []
    return replace(state, heads=tuple(heads))


def _unmarked(state: EditState, item: AnchorItem, number: int, mention: Mention) -> EditOutcome:
    """Delete a marked mention; an added one is kept as removed, so it is not added again."""
    mentions = [m for m in state.heads[number] if m is not mention]
    if mention.origin is Origin.ADDED:
        mentions.append(replace(mention, origin=Origin.REMOVED))
    words = quoted(item.passage.words(mention.start, mention.end))
    kept = in_order(mentions, item)
    say = f"{words} is removed." if kept else f"Head {number + 1}, {words}, is removed."
    return EditOutcome(_with_head(state, number, kept), say)


def drop_last(state: EditState, item: AnchorItem) -> EditOutcome:
    """Drop the selected span, else the last head with all its mentions."""
    if state.span is not None:
        return EditOutcome(replace(state, span=None))
    if not state.heads:
        return refuse(state, "No head is marked.")
    mention = state.heads[-1][0]
    words = quoted(item.passage.words(mention.start, mention.end))
    say = f"Head {len(state.heads)}, {words}, is removed."
    return EditOutcome(replace(state, heads=state.heads[:-1]), say)


def relate(state: EditState, relation: Relation) -> EditOutcome:
    """Set the relation between the heads."""
    if len(state.heads) < 2:
        return refuse(state, f"{relation} joins two different heads: mark another one first.")
    return EditOutcome(replace(state, relation=relation))


def join(state: EditState, item: AnchorItem) -> EditOutcome:
    """Merge the last two heads: two words for one thing. The first one's mentions precede."""
    if len(state.heads) < 2:
        return refuse(state, "You can only join two heads: mark another one first.")
    *before, first, second = state.heads
    known = {m.head for m in first}
    joined = in_order((*first, *(m for m in second if m.head not in known)), item)
    return EditOutcome(replace(state, heads=(*before, joined)), "The two heads are one now.")


def _advice(item: AnchorItem, token: int) -> str | None:
    """Advice from the guidelines about an unlikely head."""
    if fold(item.passage.word(token)) in PRONOUNS:
        return f"{word(item, token)} only refers to a noun: mark that noun, if it is there."
    for sibling in item.siblings:
        if sibling.anchor.start <= token < sibling.anchor.end:
            return f"{word(item, token)} is a number too: mark its noun."
    return None


MODEL = "the model"
"""The reason of an answer adopted from the model."""

MODEL_HIDDEN = "The model is hidden until you have answered. O shows it and records that."
NOT_YOURS = "Only adjudicators see others' answers; you are annotating."


def fitting(heads: Iterable[Iterable[Mention]], item: AnchorItem) -> Heads:
    """The heads in order, each `in_order`, without mentions inside the number."""
    made = (in_order((m for m in head if not in_anchor(item, m.head)), item) for head in heads)
    return tuple(mentions for mentions in made if mentions)


def filled(
    state: EditState, item: AnchorItem, answer: Answer, source: AnswerSource, reason: str
) -> EditState:
    """The state with another answer; the comment is kept."""
    return replace(
        state,
        kind=answer.kind,
        heads=fitting((head.mentions for head in answer.heads), item),
        relation=answer.relation,
        sort=answer.sort,
        noun=answer.noun,
        span=None,
        source=source,
        reason=reason,
        aside=HiddenParts(),
    )


def annotator(state: EditState, item: AnchorItem, number: int) -> EditOutcome:
    """Adopt the answer of annotator `number`, counted from 1 in the shown order."""
    if state.role is not Role.ADJUDICATOR:
        return refuse(state, NOT_YOURS)
    found = votes.adoptable(item)
    if number > len(found):
        answered = f"{len(found)} annotators have answered"
        how_many = {0: "nobody has answered yet", 1: "one annotator has answered"}
        why = f"There is no answer {number}: {how_many.get(len(found), answered)}."
        return refuse(state, why)
    answer = found[number - 1].answer
    if answer.kind is Kind.NFH:
        return refuse(
            state,
            f"Answer {number} says a noun is missing, not which one: choose one.",
        )
    old = number > len(votes.annotators_votes(item))
    reason = f"answer {number}{' to the old span' if old else ''}"
    rank = votes.rank_of(item, number)
    made = filled(state, item, answer, AnswerSource.ADOPTED, reason)
    return EditOutcome(replace(made, adopted=rank))


def adopt(state: EditState, item: AnchorItem, number: int) -> EditOutcome:
    """Adopt the answer of any annotator, after closing hints, sort prompt or review."""
    return _settled_outcome(annotator(without_pending(state), item, number))


def model(state: EditState, item: AnchorItem) -> EditOutcome:
    """Adopt the model's choice."""
    if item.model_hidden:
        return refuse(state, MODEL_HIDDEN)
    if item.prediction is None:
        return refuse(state, "No model has answered this item yet.")
    if (answer := votes.model_answer(item)) is None:
        return refuse(state, "The model's choice does not fit this item: choose yourself.")
    return EditOutcome(filled(state, item, answer, AnswerSource.ADOPTED, MODEL))


def is_models(state: EditState) -> bool:
    """Whether the answer in the editor was adopted from the model."""
    ours = state.source in {AnswerSource.ADOPTED, AnswerSource.DRAFT}
    return ours and state.reason.removeprefix("from ") == MODEL


def union(state: EditState, item: AnchorItem) -> EditOutcome:
    """Adopt every head that an annotator marked."""
    return _combined(state, item, votes.union(item), "union", "No annotator marked a head.")


def intersection(state: EditState, item: AnchorItem) -> EditOutcome:
    """Adopt the heads that all annotators who answered Reference marked."""
    why = "The annotators have no head in common."
    return _combined(state, item, votes.intersection(item), "intersection", why)


def _combined(
    state: EditState, item: AnchorItem, answer: Answer | None, reason: str, why_not: str
) -> EditOutcome:
    if state.role is not Role.ADJUDICATOR:
        return refuse(state, NOT_YOURS)
    if answer is None:
        return refuse(state, why_not)
    return EditOutcome(filled(state, item, answer, AnswerSource.ADOPTED, reason))


def clear(state: EditState) -> EditOutcome:
    """Clear the answer; the typed comment is kept."""
    empty = EditState(
        comment=state.comment, cursor=state.cursor, reason="cleared", role=state.role,
        began=state.began, tag=state.tag, adopted=state.adopted,
    )  # fmt: skip
    return EditOutcome(empty)


def dump(state: EditState) -> str:
    """The whole state as JSON, for a draft."""
    return msgspec.json.encode(state).decode("utf-8")


def load(body: str, item: AnchorItem) -> EditState:
    """The state from `dump`.

    Heads inside the number, which may have been widened since, are dropped. Raises DraftError
    for JSON that is no such state, and for tokens outside the passage.
    """
    try:
        state = msgspec.json.decode(body.encode("utf-8", "replace"), type=EditState)
    except (msgspec.MsgspecError, ValueError) as error:
        raise DraftError(f"The draft cannot be read ({error}); start again.") from error
    if any(not 0 <= token < len(item.passage.tokens) for token in _tokens(state)):
        raise DraftError(
            f"The draft points to words outside this passage of {len(item.passage.tokens)} "
            "tokens; start again."
        )
    fitted = _fitted(state, item)
    if not _is_coherent(fitted):
        raise DraftError("The draft contradicts itself; start again.")
    return fitted


def _tokens(state: EditState) -> Iterator[int]:
    """Every token in the state."""
    yield state.cursor
    for heads in (state.heads, state.aside.heads, state.began.heads):
        for mention in (m for mentions in heads for m in mentions):
            yield mention.end - 1
    yield from (token for token, _ in state.hints)
    if state.review is not None:
        yield from state.review.tokens
    if state.span is not None:
        yield from (state.span[0], state.span[1] - 1)


def _is_coherent(state: EditState) -> bool:
    if state.span is not None:
        start, end = state.span
        if start >= end or state.cursor not in {start, end - 1}:
            return False
    review = state.review
    if (review is not None) != (state.pending is Pending.REVIEW):
        return False
    if review is not None and not (review.tokens and 0 <= review.head < len(state.heads)):
        return False
    return bool(state.hints) == (state.pending is Pending.HINT)


def _fitted(state: EditState, item: AnchorItem) -> EditState:
    """The state with valid heads; if they changed, a review or hints are closed."""
    heads = fitting(state.heads, item)
    aside = replace(state.aside, heads=fitting(state.aside.heads, item))
    if heads == state.heads:
        return replace(state, aside=aside)
    return normalized(without_pending(replace(state, heads=heads, aside=aside)))


def first_state(item: AnchorItem, me: str, role: Role) -> EditState:
    """The first state: the draft, else my answer, for an adjudicator else gold or proposal.

    A draft that cannot be used is skipped, and `reason` says so. An annotator never sees
    anything of others.
    """
    lost = ""
    if item.draft is not None:
        try:
            return _resumed(load(item.draft.body, item), role)
        except DraftError as error:
            lost = str(error)
    state = _committed(item, me, role)
    if state is None and role is Role.ADJUDICATOR:
        state = _for_adjudicator(item, me)
    if state is None:
        state = EditState(cursor=item.anchor.start, role=role)
    return replace(state, reason=f"{state.reason}; {lost}".lstrip("; ")) if lost else state


def _resumed(state: EditState, role: Role) -> EditState:
    if state.source is AnswerSource.DRAFT:
        reason = state.reason
    elif state.source is AnswerSource.EMPTY:
        reason = ""
    else:
        reason = f"from {state.reason or state.source}"
    return replace(
        state,
        role=role,
        source=AnswerSource.DRAFT,
        reason=reason,
        began=state.content,
        touched=state.span is not None or state.pending is not None,
    )


def _committed(item: AnchorItem, me: str, role: Role) -> EditState | None:
    """My answer in this role, else my answer to an earlier span of the number."""
    for given, reason in ((item.votes, "saved"), (item.stale_votes, "for the old span")):
        for vote in given:
            mine = vote.annotator == me and vote.role is role
            if mine and vote.answer.kind is not Kind.NFH:
                return _holding(
                    item, vote.answer, role, AnswerSource.MINE, reason, tag_of(vote)
                )
    return None


def _for_adjudicator(item: AnchorItem, me: str) -> EditState | None:
    if item.gold is not None and item.gold.answer.kind is not Kind.NFH:
        reason = (
            f"rule {item.gold.rule}" if item.gold.rule is not Rule.EXPERT else "adjudicator"
        )
        made_of = gold_vote(item)
        tag = None if made_of is None else tag_of(made_of)
        return _holding(
            item, item.gold.answer, Role.ADJUDICATOR, AnswerSource.GOLD, reason, tag
        )
    if (found := votes.proposal(item)) is None:
        return None
    if votes.is_withheld(item, me):
        empty = EditState(cursor=item.anchor.start, role=Role.ADJUDICATOR)
        return replace(
            empty, reason="left blank on purpose, 1 in 8, so that you judge unprompted"
        )
    return _holding(item, found.answer, Role.ADJUDICATOR, AnswerSource.PROPOSAL, found.reason)


def _holding(
    item: AnchorItem,
    answer: Answer,
    role: Role,
    source: AnswerSource,
    reason: str,
    tag: str | None = None,
) -> EditState:
    empty = EditState(comment=answer.comment, cursor=item.anchor.start, role=role, tag=tag)
    state = normalized(filled(empty, item, answer, source, reason))
    return replace(state, began=state.content, touched=False)


PROMPT = "Is this the same noun? y adds it, n leaves it out, a adds all others, escape stops."

MOST_OFFERED = 28
"""Most characters of an offered mention with its modifiers."""

MOST_MODIFIERS = 3
"""Words before a mention that are shown with it."""


def mention_prompt(review: Review) -> str:
    """The mention that is offered, with its modifiers, and the keys."""
    left = len(review.tokens)
    words = f"{review.words[0]}: " if review.words else ""
    return f"Same noun? {words}y add, n leave out, a all {left}, esc stop"


def phrase_start(item: AnchorItem, token: int) -> int:
    """The first token that modifies a noun: *the* in *the good tents*."""
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


def part_of_speech(item: AnchorItem, token: int) -> str:
    """A guess by the preceding word: "noun", "verb?", or "" for no guess."""
    turn = item.passage.turns[item.passage.turn_of(token)]
    if token == turn.start:
        return ""
    before = fold(item.passage.word(token - 1))
    if before in BEFORE_NOUNS or phrase_start(item, token) < token - 1:
        return "noun"
    return "verb?" if before in BEFORE_VERBS else ""


def _offered(item: AnchorItem, token: int) -> str:
    """A mention in words: “the good tents” t1 noun."""
    words = quoted(item.passage.words(phrase_start(item, token), token + 1), MOST_OFFERED)
    parts = (words, f"t{item.passage.turn_of(token) + 1}", part_of_speech(item, token))
    return " ".join(filter(None, parts))


def start_review(state: EditState, item: AnchorItem) -> EditOutcome:
    """Offer other mentions of the head under the cursor, else of the last head."""
    if not state.heads:
        return refuse(state, "No head is marked yet: press f, or move and press space.")
    found = head_at(state.heads, state.cursor)
    number = len(state.heads) - 1 if found is None else found[0]
    if not (tokens := _others(state, item, number)):
        first = state.heads[number][0]
        return refuse(state, f"No other {quoted(item.passage.word(first.head))} is here.")
    reviewed = replace(
        state,
        pending=Pending.REVIEW,
        review=Review(number, tokens, tuple(_offered(item, token) for token in tokens)),
        cursor=tokens[0],
        span=None,
    )
    return EditOutcome(reviewed, PROMPT)


def _others(state: EditState, item: AnchorItem, number: int) -> tuple[int, ...]:
    """Tokens with a lemma of the head that are neither marked nor in another head."""
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


def review_key(
    state: EditState, item: AnchorItem, key: str, character: str | None
) -> EditOutcome | None:
    """A key while mentions are offered."""
    review = state.review
    if review is None or key in {"escape", "enter"}:
        return EditOutcome(_ended(state))
    letter = (character or "").casefold()
    if letter in {"y", " "} or key == "space":
        return _answered(state, item, review, Origin.ADDED)
    if letter == "n":
        return _answered(state, item, review, Origin.REMOVED)
    if letter == "a":
        for token in review.tokens:
            state = with_origin(state, item, review.head, token, Origin.ADDED)
        return EditOutcome(_ended(state), _mention_count(state, review.head))
    if letter and letter.isprintable():
        return refuse(state, PROMPT)
    return None


def _ended(state: EditState) -> EditState:
    """The state after a review, with the cursor on the reviewed head."""
    number = state.review.head if state.review else -1
    closed = without_pending(state)
    return replace(closed, cursor=state.heads[number][0].head) if state.heads else closed


def _answered(
    state: EditState, item: AnchorItem, review: Review, origin: Origin
) -> EditOutcome:
    token, *rest = review.tokens
    known = any(m.head == token for m in state.heads[review.head])
    if origin is Origin.ADDED or known:
        state = with_origin(state, item, review.head, token, origin)
    if not rest:
        return EditOutcome(_ended(state), _mention_count(state, review.head))
    left = replace(review, tokens=tuple(rest), words=review.words[1:])
    moved = replace(state, review=left, cursor=rest[0])
    return EditOutcome(moved, PROMPT)


def _mention_count(state: EditState, number: int) -> str:
    count = len(live(state.heads[number]))
    return f"Head {number + 1} now has {count} place{'s' if count > 1 else ''}."


ONE_WORD = "A span keeps at least one word; escape cancels it."
NO_SPAN = "There is no span to shrink: v starts one, or on a marked head edits its span."


def extend(state: EditState) -> EditOutcome:
    """Select a span at the cursor; with one selected, move its other end.

    On a head that is marked with several words, its span is selected.
    """
    if state.span is None:
        marked = head_at(state.heads, state.cursor)
        if marked is None or marked[1].end - marked[1].start < 2:
            span = (state.cursor, state.cursor + 1)
            return EditOutcome(replace(state, span=span), "Move to grow it; space marks it.")
        start, end = marked[1].start, marked[1].end
        cursor = start if state.cursor == start else end - 1
        return EditOutcome(replace(state, span=(start, end), cursor=cursor))
    return EditOutcome(replace(state, cursor=fixed_end(state)))


def shrink(state: EditState, item: AnchorItem) -> EditOutcome:
    """Remove the word at the moving end of the selected span.

    Without one: the word of the marked head under the cursor that is farthest from its noun.
    """
    if state.span is None:
        return _shrink_marked(state, item)
    start, end = state.span
    if end - start < 2:
        return refuse(state, ONE_WORD)
    if state.cursor == start:
        return EditOutcome(replace(state, span=(start + 1, end), cursor=start + 1))
    return EditOutcome(replace(state, span=(start, end - 1), cursor=end - 2))


def _shrink_marked(state: EditState, item: AnchorItem) -> EditOutcome:
    marked = head_at(state.heads, state.cursor)
    if marked is None or marked[1].end - marked[1].start < 2:
        return refuse(state, NO_SPAN)
    number, mention = marked
    before, behind = mention.head - mention.start, mention.end - 1 - mention.head
    start, end = mention.start + (before >= behind), mention.end - (before < behind)
    smaller = replace(mention, start=start, end=end)
    words = quoted(item.passage.words(start, end))
    cursor = min(max(state.cursor, start), end - 1)
    kept = with_mention(replace(state, cursor=cursor), item, number, smaller)
    return EditOutcome(kept, f"Head {number + 1} is {words}.")


EditorCommand = Callable[[EditState, AnchorItem, int], EditOutcome]


def _kind(kind: Kind) -> EditorCommand:
    return lambda state, _item, _count: choose(state, kind)


def _adopt(number: int) -> EditorCommand:
    return lambda state, item, _count: annotator(state, item, number)


_COMMANDS: dict[str, EditorCommand] = {
    **{f"kind.{kind.value.lower()}": _kind(kind) for kind in Kind if kind is not Kind.NFH},
    "cursor.left": lambda state, item, count: move_by(state, item, -count),
    "cursor.right": move_by,
    "cursor.next_noun": noun,
    "cursor.previous_noun": lambda state, item, count: noun(state, item, -count),
    "cursor.next_turn": turn,
    "cursor.previous_turn": lambda state, item, count: turn(state, item, -count),
    "cursor.anchor": lambda state, item, _count: anchor(state, item),
    "cursor.next_head": next_head,
    "head.toggle": lambda state, item, _count: toggle(state, item),
    "head.drop_last": lambda state, item, _count: drop_last(state, item),
    "head.join": lambda state, item, _count: join(state, item),
    "span.grow": lambda state, _item, _count: extend(state),
    "span.shrink": lambda state, item, _count: shrink(state, item),
    "span.drop": lambda state, _item, _count: EditOutcome(replace(state, span=None)),
    "hint.start": lambda state, item, _count: start_hints(state, item),
    "mentions.all": lambda state, item, _count: start_review(state, item),
    "relation.and": lambda state, _item, _count: relate(state, Relation.AND),
    "relation.or": lambda state, _item, _count: relate(state, Relation.OR),
    "adopt.model": lambda state, item, _count: model(state, item),
    "adopt.union": lambda state, item, _count: union(state, item),
    "adopt.intersection": lambda state, item, _count: intersection(state, item),
    "adopt.nobody": lambda state, _item, _count: clear(state),
    "clear": lambda state, _item, _count: clear(state),
    **{f"adopt.{number}": _adopt(number) for number in range(1, 10)},
}

ACTIONS: frozenset[str] = frozenset(_COMMANDS)
"""The ids that `act` accepts."""

MOVES: frozenset[str] = frozenset(a for a in _COMMANDS if a.startswith("cursor."))
"""Actions that change no answer and are allowed while reading."""


def act(
    state: EditState, item: AnchorItem, action: str, count: int = 1, view: range | None = None
) -> EditOutcome:
    """Run an action after closing hints, sort prompt or review. count: repeats of a movement.

    view: the tokens in view, None for all. Raises KeyError for an id that is not in ACTIONS.
    """
    state = without_pending(state)
    if action == "hint.start":
        return _settled_outcome(start_hints(state, item, view))
    return _settled_outcome(_COMMANDS[action](state, item, max(1, count)))


def key(
    state: EditState,
    item: AnchorItem,
    key: str,
    character: str | None,
    view: range | None = None,
) -> EditOutcome | None:
    """Handle a key while something is pending; None if the editor does not use the key.

    With nothing pending, escape drops the selected span, and no other key is used.
    """
    outcome = _pending_key(state, item, key, character, view)
    return None if outcome is None else _settled_outcome(outcome)


def _pending_key(
    state: EditState, item: AnchorItem, key: str, character: str | None, view: range | None
) -> EditOutcome | None:
    if state.pending is Pending.SORT:
        return sort_key(state, key, character)
    if state.pending is Pending.REVIEW:
        return review_key(state, item, key, character)
    if state.pending is Pending.HINT:
        found = take_hint_key(state, item, key, character, view)
        if isinstance(found, int):
            return mark_lettered(without_pending(state), item, found)
        return found
    if state.span is not None and key == "escape":
        return EditOutcome(replace(state, span=None))
    return None


def _settled_outcome(outcome: EditOutcome) -> EditOutcome:
    return replace(outcome, state=normalized(outcome.state))


def prompt(state: EditState) -> str | None:
    """A sentence about the keys that the editor uses now; None if nothing is pending."""
    if state.pending is Pending.SORT:
        return SORT_PROMPT
    if state.pending is Pending.REVIEW:
        return mention_prompt(state.review) if state.review else PROMPT
    if state.pending is Pending.HINT:
        if state.all_words:
            return "Type a word's letters; f: nouns only; esc hides them"
        return "Type a noun's letters; f: all words; esc hides them"
    if state.span is not None:
        return (
            "Span: move to grow it, V shrinks it, v switches its end, space marks it, "
            "escape cancels it."
        )
    return None
