"""Words that the identification rules use, in lower case, and the sentences that explain the
rules.
"""

YOU_AND_US = frozenset("you us we they them".split())
"""Before a number of people: "you two"."""

MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sept sep oct nov dec jan. feb. mar. apr. jun. jul. aug. sept. "
    "sep. oct. nov. dec.".split()
)

CLOCK = frozenset("am pm a.m p.m a.m. p.m.".split())
O_CLOCK = frozenset({"o'clock", "oclock"})

SCALES = frozenset("hundred thousand million billion trillion zillion gazillion".split())

TENS = frozenset("twenty thirty forty fifty sixty seventy eighty ninety".split())
UNITS = frozenset("one two three four five six seven eight nine".split())

FRACTIONS = frozenset("half quarter third".split())
"""After "and a": a part of the number that is not in its anchor."""

QUANTITIES = frozenset(
    "dozen percent pct grand k quid bucks lb lbs oz kg km cm mm ft mph kmh".split()
)
"""What a number counts, whatever their tags."""

NO_NOUNS = frozenset(
    "today tonight tomorrow yesterday right left past each am pm anywhere anyplace "
    "somewhere someplace nowhere".split()
)
"""Often tagged as nouns, but never what a number counts: "I saw one today"."""

WHEN = frozenset("today tonight tomorrow yesterday past".split())
"""After a number these say when: "at five tomorrow morning"."""

TIMES = frozenset(
    "night evening morning week weekend month year spring summer fall autumn winter "
    "christmas".split()
)
"""After "last" or "next" these say when: "I bought one last week"."""

RATES = frozenset("a an per each apiece the".split())
"""After a number these say per what: "five a week"."""

ASIDE = frozenset(", : ; / (".split())
"""Signs after which the counted noun does not follow any more."""

NO_LABELS = frozenset(
    "past today tonight tomorrow yesterday couple dollar pound euro foot ft yeah yea yep hell "
    "oh ah uh hey ok okay please ones thanks till til top bottom negative minus plus press "
    "gimme snag dial name hang monday tuesday wednesday thursday friday saturday sunday "
    "noon".split()
)
"""Often tagged as nouns, but no label of a number after them: "half past eight",
"press two".
"""

LABELS = frozenset(
    "number numbers no. nos. nr volume vol. chapter chapters section sections page pages p. "
    "pp. verse article amendment act scene episode season lesson exercise exercises item "
    "step stage phase level levels sub-level round room suite apartment apt. gate pier lane "
    "channel highway interstate flight platform bay sector district ward zone block unit "
    "squad player agent android option fact exhibit figure fig. entry log stardate mach "
    "warp code cloud apollo rule comment thunderbird memory bylaw".split()
)
"""Nouns that a number after them labels, even before "of" or "or": "chapter five of"."""

LOOSE_LABELS = LABELS | frozenset(
    "age year day week case murder table line size class grade type plan team group car "
    "track bus door exit area route company model question part book series version force "
    "point strike game job word reality world war".split()
)
"""Nouns that a number after them labels unless a pattern says otherwise."""

GROUPS = frozenset("us you them 'em em these those my your his her its our their".split())
"""After "of" these are a group to choose from, so that no label stands before the number."""

SIGNS_BEFORE = frozenset("$ # \u00a3 \u20ac \u00a5 us$ a$ c$ hk$ gbp usd eur".split())
SIGNS_AFTER = frozenset("% $ \u00a3 \u20ac \u00a5 \u00a2 \u00b0".split())
MARKS = frozenset("*_")
"""Marks of emphasis, which rules skip: "* six * goats"."""

SENTENCES = {
    "no-number": "The marked words contain no number.",
    "no-one": "“No one” means nobody: the missing noun is people.",
    "one-another": "“One another” names no noun.",
    "currency": "A currency sign, # or % beside the number says what it counts.",
    "date": "The number is the day beside the name of a month, or the year after it.",
    "num-of": "“Of” follows the number: it is a part of what comes after it.",
    "before-or": (
        "“Or” follows the number; a noun after the second number is missing at the first."
    ),
    "after-or": (
        "The number comes after a noun and “or”, and no noun follows: “a week or two”."
    ),
    "before-s": "“'s” follows the number, and no noun comes before it.",
    "the-one-who": "“The one who”: the missing noun is a person.",
    "clock": "A.m. or p.m. follows: the number is an hour without a noun.",
    "height": "These are feet and inches in digits, without a noun.",
    "you-two": "A pronoun comes before the number and no noun after it: “you two”.",
    "one-and-only": "“One and only” comes before a noun, like an adjective.",
    "label": "The number names the noun before it: “chapter five”.",
    "o-clock": "“O'clock” follows, which is what the number counts.",
    "first-of-two": "A second number follows: both share the noun after it, or have none.",
    "title": "The number is written with a capital as part of a name.",
    "noun-next": "A noun follows the number.",
    "adjectives-and-noun": "A noun follows the number, after adjectives.",
    "name": (
        "A noun or a name comes right before the number, which belongs to it: “Apollo 11”."
    ),
    "counts-a-noun": "In the parse, the number counts a noun after it.",
    "phrase-without-noun": "The number is in a phrase without a noun.",
    "no-bare-phrase": "In the parse, every phrase around the number has a noun.",
    "not-nummod": "In the parse, the number counts no noun.",
}
"""By the name of a rule: why it decides as it does, for people."""
