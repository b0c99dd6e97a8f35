"""A mention's modifiers, and what it seems to be, from the words before it.

Pure, and without a parser: the screen has none. Where the words do not tell, nothing is
said; "verb?" is a guess, and marked as one.
"""

from nfh_db.records import Item
from nfh_models.domain import Passage
from nfh_tui.editing.hints import token_scores
from nfh_tui.editing.words import FUNCTION_WORDS, PRONOUNS, fold
from nfh_tui.inflecting import is_name

DETERMINERS = frozenset(
    "a an the this that these those each every either neither another some any no what which "
    "my your his her its our their whose one two three four five six seven eight nine "
    "ten".split()
)
"""Words that begin a noun phrase; behind them, up to the next word of grammar, is no verb."""

POSSESSIVE = frozenset({"'s", "’s"})
"""Behind an owner they begin a noun phrase; behind a pronoun they are a verb."""

JOINED = frozenset("of in on at by for from with about and or but to than like as".split())
"""Words of grammar before which a noun phrase has ended."""

BEFORE_A_VERB = frozenset(
    "to i you he she we they who not n't n’t ca wo do does did will 'll ’ll would can could "
    "shall should may might must let please never always".split()
)
"""Words that a verb often follows, and a noun seldom."""

ADJECTIVES = frozenset(
    "bad few first good half last least less many more most much next other own right same "
    "several wrong".split()
)
"""Words of grammar that may stand before a noun all the same."""

MOST = 4
"""Words before a noun that are looked at."""

FEW = 0.6
"""A model that scored fewer of the words than this chose them: it holds them for nouns."""


def phrase_start(passage: Passage, token: int) -> int:
    """The first token of the phrase that ends with a noun: its article and modifiers.

    Where no article begins it, words are taken back to a word of grammar or a mark; behind
    a pronoun or *to*, the first of them is a verb and is left out.
    """
    first = passage.turns[passage.turn_of(token)].start
    start = token
    for place in range(token - 1, max(first, token - MOST) - 1, -1):
        word = fold(passage.word(place))
        if word in POSSESSIVE:
            owner = max(first, place - 1)
            return start if fold(passage.word(owner)) in PRONOUNS else owner
        if word in DETERMINERS:
            return place
        if not _modifies(word):
            return start + 1 if word in BEFORE_A_VERB and start < token else start
        start = place
    # Begun by nothing that tells: a subject and its verb would look the same.
    return token if token - start > 1 else start


def _modifies(word: str) -> bool:
    if word in ADJECTIVES:
        return True
    return word not in FUNCTION_WORDS and word not in JOINED and word[:1].isalnum()


def sense(item: Item, token: int) -> str:
    """What a word seems to be: noun, name, pronoun, "verb?", or "" where nothing tells."""
    passage = item.passage
    word = fold(passage.word(token))
    if word in PRONOUNS:
        return "pronoun"
    if is_name(passage, token):
        return "name"
    phrase = range(phrase_start(passage, token), token)
    if any(fold(passage.word(place)) in DETERMINERS | POSSESSIVE for place in phrase):
        return "noun"
    turn = passage.turns[passage.turn_of(token)]
    before = fold(passage.word(token - 1)) if token > turn.start else ""
    if before in BEFORE_A_VERB and word not in FUNCTION_WORDS:
        return "verb?"
    scores = token_scores(item)
    known = sum(score is not None for score in scores)
    if scores and known < FEW * len(scores):
        return "noun" if scores[token] is not None else "no noun?"
    return ""
