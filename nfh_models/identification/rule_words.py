"""Words by which the rules go, in lower case."""

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
"""Behind "and a": a part of the number that its anchor leaves out."""

QUANTITIES = frozenset(
    "dozen percent pct grand k quid bucks lb lbs oz kg km cm mm ft mph kmh".split()
)
"""What a number counts, whatever the parser takes them for."""

NO_NOUNS = frozenset(
    "today tonight tomorrow yesterday right left past each am pm anywhere anyplace "
    "somewhere someplace nowhere".split()
)
"""Often tagged as nouns, but never what a number counts: "I saw one today"."""

WHEN = frozenset("today tonight tomorrow yesterday past".split())
"""Behind a number: when it was, whatever follows: "at five tomorrow morning"."""

TIMES = frozenset(
    "night evening morning week weekend month year spring summer fall autumn winter "
    "christmas".split()
)
"""Behind "last" or "next": when it was, not what is counted: "I bought one last week"."""

RATES = frozenset("a an per each apiece the".split())
"""Behind a number: what it is counted by, "five a week"."""

ASIDE = frozenset(", : ; / (".split())
"""Signs behind which what is counted does not come any more."""

NO_LABELS = frozenset(
    "past today tonight tomorrow yesterday couple dollar pound euro foot ft yeah yea yep hell "
    "oh ah uh hey ok okay please ones thanks till til top bottom negative minus plus press "
    "gimme snag dial name hang monday tuesday wednesday thursday friday saturday sunday "
    "noon".split()
)
"""Often tagged as nouns, but no label before a number: "half past eight", "press two"."""

LABELS = frozenset(
    "number numbers no. nos. nr volume vol. chapter chapters section sections page pages p. "
    "pp. verse article amendment act scene episode season lesson exercise exercises item "
    "step stage phase level levels sub-level round room suite apartment apt. gate pier lane "
    "channel highway interstate flight platform bay sector district ward zone block unit "
    "squad player agent android option fact exhibit figure fig. entry log stardate mach "
    "warp code cloud apollo rule comment thunderbird memory bylaw".split()
)
"""Nouns that a number behind them names, even before "of" or "or": "chapter five of"."""

LOOSE_LABELS = LABELS | frozenset(
    "age year day week case murder table line size class grade type plan team group car "
    "track bus door exit area route company model question part book series version force "
    "point strike game job word reality world war".split()
)
"""Nouns that a number right behind them names unless a pattern says otherwise."""

GROUPS = frozenset("us you them 'em em these those my your his her its our their".split())
"""Behind "of": something to pick from, so that no label stands before the number."""

SIGNS_BEFORE = frozenset("$ # \u00a3 \u20ac \u00a5 us$ a$ c$ hk$ gbp usd eur".split())
SIGNS_AFTER = frozenset("% $ \u00a3 \u20ac \u00a5 \u00a2 \u00b0".split())
MARKS = frozenset("*_")
"""Marks of emphasis, which rules look past: "* six * goats"."""
