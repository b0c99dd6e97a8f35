"""Words that show what a number without its noun counts. All in lower case."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


APOSTROPHES = frozenset("'\u2019")

HEDGES = _words(
    "only just like almost about maybe nearly not n't barely around already still probably "
    "even really roughly approximately exactly precisely perhaps over under say uh um well , "
    "... actually also all so"
)
"""What may stand between a verb and its number."""

BE = _words("was were am 'm is 's are 're be been being wuz \u2019m \u2019s \u2019re")
BE_ADVERBS = _words("not n't n\u2019t always still really clearly maybe probably")
PERSONS = _words("i you he she we they who him her me ya u")
SPEAKERS = _words("i you he she we they")
THINGS = _words("it that this there what which here these those where")
"""Subjects that have no age."""

# --- ages ---------------------------------------------------------------------------------

TURNING = _words("turn turns turned turning")
AGED = _words("aged age ages")
REACHING = _words(
    "reach reached reaches reaching hit hits hitting pushing look looks looked looking feel "
    "feels felt feeling act acts acting"
)
AGE_SIGNS = _words("old older birthday age aged teenager")
AGE_LEADS = _words("at by over under past until between")
MOVING = _words("arrive arrived going drove doing driving")
"""Before "at 60": a speed or a time."""

COUNTED = _words("of to percent % for - against degrees with by times")
"""Behind a number: it is a measure or a share, and no age or hour."""

# --- money --------------------------------------------------------------------------------

PRICE_VERBS = _words(
    "pay pays paid paying cost costs costing worth spend spends spent spending owe owes owed "
    "owing charge charges charged charging earn earns earned earning bid bids insured lend "
    "loan borrow borrowed lent bet wager price priced salary fee rent sum profit tip invoice "
    "raised fined budget"
)
DEAL_VERBS = _words(
    "make makes made making give gives gave giving get gets got getting want wants take takes "
    "offer offers offered offering say said sell sells sold flashed for have 'll do steal "
    "steals stole left"
)
GIVING = _words("give gave giving offer offered")
MONEY = _words(
    "dollar dollars buck bucks $ cent cents pound pounds quid euro euros \u00a3 \u20ac grand "
    "cash money price pesos rupees francs marks reward ransom salary"
)
RATES = _words("a per each apiece")
PERIODS = _words("week month year night day hour head piece ticket cheek shot pop")
NOT_PRICED = _words("time longer further younger older more")
"""Behind "how much" where it asks no price."""

# --- calendar and clock -------------------------------------------------------------------

DECADE_LEADS = _words("the early late mid - ' so")
ERAS = _words("b.c. bc b.c a.d. ad a.d")
YEAR_LEADS = _words(
    "back spring summer fall autumn winter january february march april may june july august "
    "september october november december class early late ever again"
)
CLOCK = _words("am pm a.m. p.m. a.m p.m o'clock oclock")
HOURS = _words("noon midnight clock alarm appointment curfew bedtime tonight")
"""Words that speak of an hour without saying which."""

DAY_PARTS = _words("morning afternoon evening night")
DAY_PHRASES = frozenset(
    [("at", "night"), ("this", "morning"), ("this", "evening"), ("tomorrow", "morning")]
)
HOUR_LEADS = _words("at by till until @ 'til til")
MINUTES_LEADS = _words("past to after of till before")
MINUTES = _words("half quarter minutes")
RANGES = _words("and to till")

# --- persons ------------------------------------------------------------------------------

POINTING = _words("you us them those these ye")
US = _words("us you ye")
THEM = _words("them 'em em those these")
GROUPS = _words(
    "party family table room dinner team group mum mom mother father dad seats power"
)
CLAUSE_LEADS = _words(
    'if when where as because than and but or , . ; : - -- ... ? ! " so what how before why '
    "then while whether think know imagine suppose oh well yes no"
)
"""What opens a clause whose subject *one* is anybody."""

SUBORDINATORS = _words("if when where as than")
GENERIC_VERBS = _words(
    "must may might could should can would needs does shall cannot never ought will "
    "always gets feels learns wonders thinks ca"
)
BELOVED = _words("loved chosen dear")
ADDRESSED = _words("little young old wise great mighty foolish precious dark holy")
ADDRESS_LEADS = frozenset({"", *", o . oh ! ?".split()})
ADDRESS_ENDS = frozenset({"", *", . ! ?".split()})

# --- numbers for themselves ---------------------------------------------------------------

CODES = _words("911 411 007 747 101 999 9/11 24/7 420 666")
SUMS = _words("plus minus times equals equal divided + = multiplied x")
LABELS = _words("plan number channel level route highway version")
SET_PHRASES = frozenset([("high", "five"), ("in", "two"), ("take", "five")])
ONE_TALK = _words(
    "heard hear know knew write like try tried seen figure get buy told remember think miss "
    "forget got love on in"
)

# --- nouns --------------------------------------------------------------------------------

SELDOM_COUNTED = _words(
    "none time thing day way night today tonight tomorrow yesterday morning hour lot sir guys "
    "reason mine couple thanks hell asshole honey dear sweetheart luck dad mom luv mate boss "
    "kind sort minute second place side ones half help * ma'am lady gentlemen point o'clock "
    "cause gon outta rest end matter course fact stuff bit dude pal darling 'cause"
)
"""Nouns that are seldom what a number counts: asides, adverbs of time, forms of address."""

DEFINITE = _words("the my your his her our their this that its 's every of")
"""What opens a phrase that speaks of one known thing: a number seldom asks for more of it."""

PREPOSITIONS = _words("in for on at to with from by like into about")
"""Right before a noun: it tells where or how, and is seldom what is counted."""
