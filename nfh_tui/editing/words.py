"""English words that are seldom the missing noun, for passages that no model has scored."""

import unicodedata

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


def _listed(*blocks: str) -> frozenset[str]:
    return frozenset(word for block in blocks for word in block.split())


BEFORE_NOUNS = _listed(_DETERMINERS, _NUMBERS, "my your his her its our their whose")
"""Case-folded words with which a noun phrase begins."""

INSIDE_PHRASES = _listed("good bad right wrong next last own same very quite really rather")
"""Case-folded function words that stand between the beginning of a noun phrase and its noun."""

BEFORE_VERBS = _listed(
    "to i you he she it we they who not n't can could may might must shall should will would "
    "'ll do does did don let lets gonna wanna please"
)
"""Case-folded words behind which a word is mostly a verb."""

FUNCTION_WORDS = _listed(_DETERMINERS, _PRONOUNS, _JOINING, _VERBS, _REST, _NUMBERS)
"""Case-folded words that the lexical guess at nouns passes over."""

PRONOUNS = _listed(_PRONOUNS)
"""Case-folded words that only stand for a noun."""

AFTER_THE_NOUN = _listed(_JOINING, "that which who whom whose") - _listed(
    "and or but nor so yet as"
)
"""Case-folded words behind which a noun phrase only explains its noun."""


def fold(word: str) -> str:
    """The form in which words and lemmas are compared."""
    return word.strip().casefold().replace("\u2019", "'")


def is_noun_like(word: str) -> bool:
    """The lexical guess: two letters or more, no digit, and no function word."""
    if any(character.isdigit() for character in word):
        return False
    letters = sum(character.isalpha() for character in word)
    return letters > 1 and fold(word) not in FUNCTION_WORDS


def is_word(word: str) -> bool:
    """True for what may be a head at all: a letter, a digit, or a sign such as %."""
    return any(
        character.isalnum() or character in "%\u2030#\u00b0" or _is_symbol(character)
        for character in word
    )


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Sc"}
