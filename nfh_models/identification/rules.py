"""Recipe `rules`: the first rule that holds decides, and its name is the reason. Recipe
`joint`: the rule's decision and the score of `small`, weighed.

The rules follow the paper's section 4.1; see the source of each in RULES.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from nfh_models.identification import rule_words
from nfh_models.identification.base import JOINT, SMALL, Decision, Identifier, SentenceNumber
from nfh_models.parsing.base import Parsed, ParseLayer, Tree, WordSpan
from nfh_models.text.numbers import is_ordinal, parts_of

NOUNS = frozenset({"NOUN", "PROPN"})
CLIMB = 8
"""Dependency arcs followed from a number to a larger number that contains it."""


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A number at tokens [start, end) of a parsed sentence."""

    start: int
    end: int
    behind: int
    """The first token after the whole number: past marks of emphasis, past "and a half", and
    in some files past the rest of a number, as "hundred" where the anchor is the *eleven* of
    "eleven hundred".
    """
    words: Sequence[str]
    lows: Sequence[str]
    """The words in lower case, with straight apostrophes."""
    parsed: Parsed

    @classmethod
    def of(cls, case: SentenceNumber, lows: Sequence[str] | None = None) -> "SentenceView":
        """The view of a case. lows: the words in lower case, if known.

        Raises ValueError for a case without parts of speech or arcs, or outside its sentence.
        """
        parsed = case.parsed
        words = case.word_span.words
        size = len(words)
        if parsed is None or not len(parsed.pos) == len(parsed.heads) == size:
            raise ValueError("the rules need a case with parts of speech and dependencies")
        if not 0 <= case.start < case.end <= size:
            raise ValueError(
                f"the number at tokens {case.start} to {case.end} lies outside its sentence of "
                f"{size} tokens"
            )
        known = lower(words) if lows is None else lows
        return cls(case.start, case.end, _behind(known, case.end), words, known, parsed)

    def word(self, place: int) -> str:
        """The token; "" outside the sentence."""
        return self.words[place] if 0 <= place < len(self.words) else ""

    def low(self, place: int) -> str:
        """The token in lower case; "" outside the sentence."""
        return self.lows[place] if 0 <= place < len(self.lows) else ""

    def pos(self, place: int) -> str:
        """The universal part of speech; "" outside the sentence."""
        return self.parsed.pos[place] if 0 <= place < len(self.lows) else ""

    def tag(self, place: int) -> str:
        """The Penn Treebank tag; "" where the parser gives none."""
        tags = self.parsed.tags
        return tags[place] if 0 <= place < len(tags) else ""

    def head(self, place: int) -> int:
        """The head of a token; a root is its own."""
        return self.parsed.heads[place]

    def relation(self, place: int) -> str:
        """The dependency relation of a token to its head."""
        return self.parsed.relations[place] if 0 <= place < len(self.lows) else ""

    def noun(self, place: int) -> bool:
        """Whether a token is a noun or a name."""
        return self.pos(place) in NOUNS

    def plural(self, place: int) -> bool:
        """Whether a token is tagged as a plural common noun."""
        return self.tag(place) == "NNS"

    def counted(self, place: int) -> bool:
        """Whether a token is a noun that a number before it may count."""
        return self.noun(place) and self.low(place) not in rule_words.NO_NOUNS

    def quantity(self, place: int) -> bool:
        """Whether a token is a word that numbers count, whatever its tag."""
        word = self.low(place)
        return word in rule_words.QUANTITIES or (
            word == "per" and self.low(place + 1) == "cent"
        )

    def number(self, place: int) -> bool:
        """Whether a token is a number by itself."""
        return 0 <= place < len(self.words) and bool(parts_of(self.words[place]))

    def top(self) -> int:
        """The topmost token of the number, or of the larger number that contains it."""
        place = self.end - 1
        for inner in range(self.start, self.end):
            head = self.head(inner)
            if head == inner or not self.start <= head < self.end:
                place = inner
        for _ in range(CLIMB):
            head = self.head(place)
            if head == place or self.pos(head) != "NUM":
                break
            place = head
        return place

    @property
    def is_one(self) -> bool:
        """Whether the number is the word *one*, which is usually a pronoun."""
        return self.end == self.start + 1 and self.lows[self.start] == "one"

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The constituents, where the parser gives them."""
        return tuple(self.parsed.trees)


def lower(words: Sequence[str]) -> list[str]:
    """Words in lower case, with straight apostrophes."""
    return [word.lower().replace("\u2019", "'") for word in words]


def _behind(lows: Sequence[str], place: int) -> int:
    """The token after `place` past the rest of the number and past marks of emphasis."""
    while place < len(lows):
        if _goes_on(lows[place - 1], lows[place]) or lows[place] in rule_words.MARKS:
            place += 1
        elif lows[place] == "and" and (parts := _part_behind_and(lows, place)):
            place += parts
        else:
            break
    return place


def _goes_on(last: str, word: str) -> bool:
    return word in rule_words.SCALES or (last in rule_words.TENS and word in rule_words.UNITS)


def _part_behind_and(lows: Sequence[str], place: int) -> int:
    """Tokens of "and a half", or of "and five" after a hundred; 0 where there is neither."""
    behind = lows[place + 1 : place + 3]
    if len(behind) == 2 and behind[0] == "a" and behind[1] in rule_words.FRACTIONS:
        return 3
    in_words = behind[:1] and behind[0].replace("-", "").isalpha() and parts_of(behind[0])
    return 2 if in_words and lows[place - 1] in rule_words.SCALES else 0


_GLUED = frozenset("$\u00a3\u20ac\u00a5%")


def has_sign(view: SentenceView) -> bool:
    """A currency sign, # or % directly before or after the number, or in its token."""
    if (
        view.low(view.start - 1) in rule_words.SIGNS_BEFORE
        or view.low(view.behind) in rule_words.SIGNS_AFTER
    ):
        return True
    first, last = view.lows[view.start], view.lows[view.end - 1]
    return not _GLUED.isdisjoint((first[0], first[-1], last[-1]))


# --- phrases without a noun, where the parser gives constituents -----------------------------
#
# The paper's first step (section 4.1) selects phrases of five types from a constituency parse.
# The definition of "no noun" follows the authors' repository: a phrase is excluded if it has a
# direct child that could be a head or contains one; a child that is a single number is ignored
# whatever its tag. Unlike theirs, ours also ignores pointing and possessive children ("her
# two", "which one", "the baker's two").

TYPES = frozenset({"NP", "QP", "NP-TMP", "NX", "SQ", "WHNP"})
"""The types of the paper, section 4.1, and WHNP for "which one"."""

_BARRED = frozenset(
    "NN NNS NNP NNPS NP NP-TMP NX NAC NML PRP EX WP WRB WHNP WHADVP WHPP "
    "WHADJP -LRB- -RRB- $ # VB VBD VBG VBN VBP VBZ MD VP S SBAR SBARQ SINV SQ FW UH "
    "INTJ".split()
)
_LONE = frozenset({"RB", "ADVP", "CC", "CONJP"})


def without_noun(view: SentenceView) -> bool:
    """Whether the number stands in a phrase of one of TYPES that has no noun."""
    return any(
        tree.label in TYPES and _is_bare(view, tree) for tree in _around(view, view.trees)
    )


def in_tree(view: SentenceView) -> bool:
    """Whether the parser gave constituents for the number's sentence."""
    return any(tree.start <= view.start and view.end <= tree.end for tree in view.trees)


def _around(view: SentenceView, trees: tuple[Tree, ...]) -> Iterator[Tree]:
    """The phrases that contain the whole number, outermost first."""
    waiting = trees
    while True:
        holding = [t for t in waiting if t.start <= view.start and view.end <= t.end]
        if not holding or not holding[0].children:
            return
        yield holding[0]
        waiting = holding[0].children


def _is_bare(view: SentenceView, tree: Tree) -> bool:
    if len(tree.children) == 1 and tree.children[0].label in _LONE:
        return False
    return not any(_bars(view, child) for child in tree.children)


def _bars(view: SentenceView, child: Tree) -> bool:
    if child.end - child.start == 1 and view.number(child.start):
        return False
    owner = bool(child.children) and child.children[-1].label == "POS"
    return child.label in _BARRED and not owner


_OBJECTS = frozenset({"dobj", "obj", "attr", "pobj", "obl"})
_GIVEN = frozenset({"dative", "iobj", "dobj", "obj"})
_NUMBERED = frozenset({"No", "Nos"})
_DAY_DIGITS = 2
_WORDS_TOO = frozenset({"may", "march", "mar", "dec", "sep"})
_IN_NAMES = NOUNS | {"ADJ", "VERB"}


def no_number(view: SentenceView) -> bool:
    """No token of the anchor is a number, or part of one."""
    return not any(view.number(place) for place in range(view.start, view.end))


def date(view: SentenceView) -> bool:
    """The day beside a month, or the year directly after it: "June 6", "6 June"."""
    if any(_month(view, place) for place in range(view.start, view.end)):
        return True
    if not view.lows[view.start][0].isdecimal():
        return False
    day = len(view.lows[view.start]) <= _DAY_DIGITS
    return _month(view, view.start - 1) or (day and _month(view, view.end))


def _month(view: SentenceView, place: int) -> bool:
    """Whether a token is the name of a month; *may* and *march* only with a capital."""
    month = view.low(place)
    return month in rule_words.MONTHS and (
        month not in _WORDS_TOO or view.word(place)[0].isupper()
    )


def one_and_only(view: SentenceView) -> bool:
    """The words "one and only" before a noun."""
    behind = [view.low(view.end), view.low(view.end + 1)]
    return view.is_one and behind == ["and", "only"] and view.counted(view.end + 2)


def labelled(view: SentenceView) -> bool:
    """A noun of LABELS before the number, or an abbreviation of "number": "volume one of"."""
    if view.low(view.start - 1) not in rule_words.LABELS and not _abbreviated(view):
        return False
    return view.low(view.behind) != "of" or view.low(view.behind + 1) not in rule_words.GROUPS


def _abbreviated(view: SentenceView) -> bool:
    """Whether "No." or "Nos." stands before figures, in two tokens and not as an answer."""
    place = view.start - 2
    named = place > 0 and view.word(place) in _NUMBERED and view.low(place + 1) == "."
    return named and view.lows[view.start][0].isdecimal()


def title(view: SentenceView) -> bool:
    """A number as part of a name, by its capital: "the Chosen One", "the Furious Five"."""
    word, before = view.words[view.start], view.word(view.start - 1)
    capitals = word[0].isupper() and word[1:].islower() and before[:1].isupper()
    kinds = _IN_NAMES if view.start > 1 else NOUNS
    return capitals and not view.number(view.start - 1) and view.pos(view.start - 1) in kinds


def name(view: SentenceView) -> bool:
    """A noun or name directly before the number, which labels it: "Apollo 11"."""
    place = view.start - 1
    before = view.low(place)
    if before in rule_words.LOOSE_LABELS:
        return before != "point" or not view.number(place - 1)
    if not view.noun(place) or view.plural(place) or before in rule_words.NO_LABELS:
        return False
    if not before[-1].isalnum() or is_ordinal(before):
        return False
    relation, head = view.relation(view.end - 1), view.head(view.end - 1)
    if relation in _OBJECTS and (head == place or view.relation(place) in _GIVEN):
        return False
    if view.lows[view.start] == view.words[view.start] == "one" and relation in _GIVEN:
        return False
    return not (view.is_one and relation.startswith("nsubj"))


# --- text patterns, independent of the parse --------------------------------------------------
#
# The ten patterns of the paper (section 4.1), as in its authors' repository, are nine of these
# functions: "you two" covers two of theirs. "One another" and the first of two numbers are
# ours, after section 3 of the paper.

FARTHEST = 8
"""Adjectives that are skipped on the way to a noun."""
_BETWEEN = frozenset({"ADJ", "NUM"})
_BETWEEN_WORDS = frozenset({"*", "more", "most"})
_RANGE_WORDS = frozenset({"to", "-", "\u2013", ",", "but"})


def no_one(view: SentenceView) -> bool:
    return view.is_one and view.low(view.start - 1) == "no"


def one_another(view: SentenceView) -> bool:
    """ "One another" without a noun after."""
    return view.is_one and view.low(view.end) == "another" and not view.noun(view.end + 1)


def num_of(view: SentenceView) -> bool:
    """A number before "of": "three of them"."""
    return view.low(view.behind) == "of" and not labelled(view)


def before_or(view: SentenceView) -> bool:
    """A number before "or": the *eight* of "eight or nine clubs" has no noun of its own."""
    return view.low(view.behind) == "or" and not labelled(view)


def after_or(view: SentenceView) -> bool:
    """A number after "or" without a noun of its own: "a week or two"."""
    behind_noun = view.low(view.start - 1) == "or" and view.noun(view.start - 2)
    return behind_noun and not has_noun_behind(view)


def before_s(view: SentenceView) -> bool:
    """A number before 's, without a noun before it: "one's own", "the 50's"."""
    return view.low(view.end) == "'s" and not view.noun(view.start - 1)


def the_one_who(view: SentenceView) -> bool:
    """ "The one who", or another number in its place."""
    return view.low(view.start - 1) == "the" and view.low(view.end) in ("who", "whom")


def clock(view: SentenceView) -> bool:
    """A number before a.m. or p.m., with or without dots."""
    return view.low(view.end) in rule_words.CLOCK


def height(view: SentenceView) -> bool:
    """Feet and inches: 6 ' 2."""
    return view.end - view.start == 3 and view.low(view.start + 1) in ("'", "\u2032")


def you_two(view: SentenceView) -> bool:
    """A pronoun before the number, and no noun after: "you two", "us three"."""
    behind_pronoun = view.low(view.start - 1) in rule_words.YOU_AND_US and not view.is_one
    return behind_pronoun and not has_noun_behind(view)


def first_of_two(view: SentenceView) -> bool:
    """The first of two numbers before one noun: "two, three hundred miles", "9 to 5"."""
    if view.low(view.start - 1) in rule_words.LOOSE_LABELS:
        return False
    return view.low(view.behind) in _RANGE_WORDS and view.number(view.behind + 1)


def has_noun_behind(view: SentenceView) -> bool:
    """Whether a noun follows directly or after adjectives."""
    place = view.behind
    limit = place + FARTHEST
    while place < limit and (view.pos(place) in _BETWEEN or view.low(place) in _BETWEEN_WORDS):
        place += 1
    return view.counted(place) or view.quantity(place)


_COUNTS = frozenset({"nummod", "compound", "amod", "quantmod", "nmod", "det"})
_OUTSIDE = frozenset({"ADP", "SCONJ"})
"""These begin a phrase whose noun the number does not count: "nine out of ten men"."""
_POINTERS = frozenset("this that the same which any every each another other only".split())


def o_clock(view: SentenceView) -> bool:
    return view.low(view.behind) in rule_words.O_CLOCK


def noun_next(view: SentenceView) -> bool:
    """The next token is a noun or a name; after a year in digits a name may begin a new
    phrase.
    """
    if view.quantity(view.behind):
        return True
    if view.pos(view.behind) == "PROPN" and view.low(view.behind) not in rule_words.NO_NOUNS:
        return not (_pointed(view) or view.low(view.start).isdecimal())
    return view.counted(view.behind)


def adjectives_and_noun(view: SentenceView) -> bool:
    """A noun follows after adjectives or a participle: "two big dogs", "two lost dogs"."""
    if view.low(view.behind) == "left" or _is_when(view):
        return False
    if view.pos(view.behind) == "ADJ":
        return has_noun_behind(view)
    if view.tag(view.behind) not in ("VBN", "VBG") or _pointed(view):
        return False
    return view.counted(view.behind + 1)


def _is_when(view: SentenceView) -> bool:
    """Whether "last week" or the like follows as a time expression."""
    if view.low(view.behind) not in ("last", "next"):
        return False
    if view.low(view.behind + 1) not in rule_words.TIMES:
        return False
    return not view.is_one or view.head(view.top()) != view.behind + 1


def _pointed(view: SentenceView) -> bool:
    """Whether it is *one* after a pointing word: "this one", "the only one"."""
    return view.is_one and view.low(view.start - 1) in _POINTERS


def counts_a_noun(view: SentenceView) -> bool:
    """The number, or the larger one that contains it, modifies a noun after it in the
    parse.
    """
    top = view.top()
    head = view.head(top)
    if view.relation(top).partition(":")[0] not in _COUNTS or head < view.behind:
        return False
    behind = view.low(view.behind)
    if behind in rule_words.ASIDE or behind in rule_words.RATES or behind in rule_words.WHEN:
        return False
    if view.pos(view.behind) in _OUTSIDE:
        return False
    return view.counted(head) or _is_plural(view, head)


def _is_plural(view: SentenceView, head: int) -> bool:
    """Whether a token looks like a plural that was tagged as something else, as "pierogis"."""
    return head == view.behind and not view.is_one and view.low(head)[2:].endswith("s")


Test = Callable[[SentenceView], bool]


class RuleGroup(StrEnum):
    """The part of the method that a rule belongs to; a group can be left out as a whole."""

    PATTERNS = "patterns"
    NAMES = "names"
    CURRENCY = "currency"
    DEPENDENCY = "dependency"
    PHRASES = "phrases"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class IdentificationRule:
    """One rule: it decides where its test holds and that of no rule before it."""

    name: str
    """Permanent, since stored decisions have it."""
    nfh: bool
    """The decision."""
    group: RuleGroup
    sentence: str
    """The reason, for people."""
    source: str
    """Where the rule comes from."""
    test: Test


VERSION = "rules 2"
"""Changes with any decision; a test ties it to the decisions on a list of sentences."""

PATTERN = "paper, section 4.1, text patterns"
FILTER = "paper, section 4.1, filters"
SCOPE = "paper, section 3, what is no fused head"
OURS = "made here, from errors on noisy labels"


def _always(view: SentenceView) -> bool:
    return view.start < view.end


RULES: tuple[IdentificationRule, ...] = tuple(
    IdentificationRule(name, nfh, group, rule_words.SENTENCES[name], source, test)
    for name, nfh, group, source, test in (
        ("no-number", False, RuleGroup.NAMES, OURS, no_number),
        ("no-one", True, RuleGroup.PATTERNS, PATTERN, no_one),
        ("one-another", True, RuleGroup.PATTERNS, OURS, one_another),
        ("currency", False, RuleGroup.CURRENCY, FILTER, has_sign),
        ("date", False, RuleGroup.NAMES, SCOPE, date),
        ("num-of", True, RuleGroup.PATTERNS, PATTERN, num_of),
        ("before-or", True, RuleGroup.PATTERNS, PATTERN, before_or),
        ("after-or", True, RuleGroup.PATTERNS, PATTERN, after_or),
        ("before-s", True, RuleGroup.PATTERNS, PATTERN, before_s),
        ("the-one-who", True, RuleGroup.PATTERNS, PATTERN, the_one_who),
        ("clock", True, RuleGroup.PATTERNS, PATTERN, clock),
        ("height", True, RuleGroup.PATTERNS, PATTERN, height),
        ("you-two", True, RuleGroup.PATTERNS, PATTERN, you_two),
        ("one-and-only", False, RuleGroup.NAMES, OURS, one_and_only),
        ("label", False, RuleGroup.NAMES, SCOPE, labelled),
        ("o-clock", False, RuleGroup.DEPENDENCY, OURS, o_clock),
        (
            "first-of-two",
            True,
            RuleGroup.PATTERNS,
            "paper, section 3, approximate numbers",
            first_of_two,
        ),
        ("title", False, RuleGroup.NAMES, SCOPE, title),
        ("noun-next", False, RuleGroup.DEPENDENCY, FILTER, noun_next),
        ("adjectives-and-noun", False, RuleGroup.DEPENDENCY, OURS, adjectives_and_noun),
        ("name", False, RuleGroup.NAMES, FILTER, name),
        ("counts-a-noun", False, RuleGroup.DEPENDENCY, FILTER, counts_a_noun),
        (
            "phrase-without-noun",
            True,
            RuleGroup.PHRASES,
            "paper, section 4.1, phrases",
            without_noun,
        ),
        ("no-bare-phrase", False, RuleGroup.PHRASES, "paper, section 4.1, phrases", in_tree),
        ("not-nummod", True, RuleGroup.REST, FILTER, _always),
    )
)
"""The rules in the order in which they are tried; the last one always holds."""

_BY_NAME = {rule.name: rule for rule in RULES}


def rule_named(name: str) -> IdentificationRule:
    """Raises KeyError for an unknown name."""
    return _BY_NAME[name]


class Rules:
    """The recipe `rules`, ready to decide. without: groups of rules to leave out, for
    ablation.
    """

    recipe = "rules"
    needs = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})
    uses = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY, ParseLayer.CONSTITUENCY})

    def __init__(self, without: frozenset[RuleGroup] = frozenset()) -> None:
        self._rules = tuple(
            r for r in RULES if r.group is RuleGroup.REST or r.group not in without
        )
        left_out = "".join(f" without {group}" for group in sorted(without - {RuleGroup.REST}))
        self.version = f"{VERSION}{left_out}"

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision for each case. Raises ValueError for a case without a parse."""
        decisions = []
        word_span: WordSpan | None = None
        lows: list[str] = []
        for case in cases:
            if case.word_span is not word_span:
                word_span = case.word_span
                lows = lower(word_span.words)
            decisions.append(self._decide(SentenceView.of(case, lows)))
        return decisions

    def _decide(self, view: SentenceView) -> Decision:
        deciding = next(rule for rule in self._rules if rule.test(view))
        return Decision(deciding.nfh, deciding.name)


@dataclass(frozen=True, slots=True)
class JointWeights:
    """The log odds of an NFH are score * `small`'s score, plus or minus rule."""

    score: float
    rule: float
    """Added where the rules say NFH, subtracted where they do not."""


WEIGHTS = JointWeights(1.03, 2.64)
"""Fitted on 2026-11-30 by `python -m tools.small_model.joint`, which says how, to `rules 2` and
the `small` of 2026-11-28, on 3,586 rows of the release's identification/dev.tsv. After a change
of either part, run it again.
"""


class Joint:
    """The recipe `joint`, ready to decide: the rules overruled by a network that is sure of the
    contrary.

    network: `small`, for whose scores WEIGHTS were fitted. made: identifies it.
    """

    recipe = JOINT
    needs = Rules.needs
    uses = Rules.uses

    def __init__(self, network: Identifier, made: str) -> None:
        self._rules = Rules()
        self._network = network
        self.version = f"1 {self._rules.version} {SMALL} {network.version} {made}".strip()

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        """A decision for each case, with both parts as its weights. Raises ValueError for a
        case without a parse.
        """
        decisions = []
        for ruled, scored in zip(
            self._rules.decide(cases), self._network.decide(cases), strict=True
        ):
            # In hundredths, so that the parts add up as they are shown.
            score = round(WEIGHTS.score * (scored.score or 0.0), 2)
            rule = WEIGHTS.rule if ruled.nfh else -WEIGHTS.rule
            both = round(score + rule, 2)
            parts = sorted(((SMALL, score), (ruled.rule, rule)), key=lambda one: -abs(one[1]))
            decisions.append(Decision(both > 0, ruled.rule, both, tuple(parts)))
        return decisions
