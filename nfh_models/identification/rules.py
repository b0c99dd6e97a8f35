"""The recipe `rules`: the first rule that holds decides, and gives the decision its name."""

from collections.abc import Sequence

from nfh_models.identification import dependency, patterns, phrases, rules_names
from nfh_models.identification.case import Case, Decision
from nfh_models.identification.currency import has_sign
from nfh_models.identification.rules_rule import Group, Rule
from nfh_models.identification.rules_view import View, lower
from nfh_models.parsing.parsed import Layer
from nfh_models.parsing.stretch import Stretch

__all__ = ["RULES", "Group", "Rule", "Rules", "rule_named"]

VERSION = "rules 2"
"""Changes with any decision; a test ties it to what is decided of a list of sentences."""

PATTERN = "paper, section 4.1, text patterns"
FILTER = "paper, section 4.1, filters"
SCOPE = "paper, section 3, what is no fused head"
OURS = "made here, from errors on noisy labels"


def _always(view: View) -> bool:
    return view.start < view.end


RULES: tuple[Rule, ...] = (
    Rule(
        "no-number",
        False,
        Group.NAMES,
        "The marked words hold no number.",
        OURS,
        rules_names.no_number,
    ),
    Rule(
        "no-one",
        True,
        Group.PATTERNS,
        "“No one” means nobody: the missing noun is people.",
        PATTERN,
        patterns.no_one,
    ),
    Rule(
        "one-another",
        True,
        Group.PATTERNS,
        "“One another” names no noun.",
        OURS,
        patterns.one_another,
    ),
    Rule(
        "currency",
        False,
        Group.CURRENCY,
        "A sign of money, # or % stands beside the number and says what it counts.",
        FILTER,
        has_sign,
    ),
    Rule(
        "date",
        False,
        Group.NAMES,
        "The number is the day beside the name of a month, or the year right behind it.",
        SCOPE,
        rules_names.date,
    ),
    Rule(
        "num-of",
        True,
        Group.PATTERNS,
        "“Of” follows the number: it takes a part of what is named behind.",
        PATTERN,
        patterns.num_of,
    ),
    Rule(
        "before-or",
        True,
        Group.PATTERNS,
        "“Or” follows the number; a noun behind the second number is missing at the first.",
        PATTERN,
        patterns.before_or,
    ),
    Rule(
        "after-or",
        True,
        Group.PATTERNS,
        "The number stands behind a noun and “or”, and no noun follows: “a week or two”.",
        PATTERN,
        patterns.after_or,
    ),
    Rule(
        "before-s",
        True,
        Group.PATTERNS,
        "“'s” follows the number, and no noun stands before it.",
        PATTERN,
        patterns.before_s,
    ),
    Rule(
        "the-one-who",
        True,
        Group.PATTERNS,
        "“The one who”: the missing noun is a person.",
        PATTERN,
        patterns.the_one_who,
    ),
    Rule(
        "clock",
        True,
        Group.PATTERNS,
        "A.m. or p.m. follows: the number is an hour, and no noun says so.",
        PATTERN,
        patterns.clock,
    ),
    Rule(
        "height",
        True,
        Group.PATTERNS,
        "Feet and inches in figures, with no noun.",
        PATTERN,
        patterns.height,
    ),
    Rule(
        "you-two",
        True,
        Group.PATTERNS,
        "A pronoun stands before the number and no noun behind it: “you two”.",
        PATTERN,
        patterns.you_two,
    ),
    Rule(
        "one-and-only",
        False,
        Group.NAMES,
        "“One and only” stands before a noun, as an adjective does.",
        OURS,
        rules_names.one_and_only,
    ),
    Rule(
        "label",
        False,
        Group.NAMES,
        "The number names the noun before it: “chapter five”.",
        SCOPE,
        rules_names.labelled,
    ),
    Rule(
        "o-clock",
        False,
        Group.DEPENDENCY,
        "“O'clock” follows, which is what the number counts.",
        OURS,
        dependency.o_clock,
    ),
    Rule(
        "first-of-two",
        True,
        Group.PATTERNS,
        "A second number follows: both share the noun behind it, or have none.",
        "paper, section 3, approximate numbers",
        patterns.first_of_two,
    ),
    Rule(
        "title",
        False,
        Group.NAMES,
        "The number is written with a capital as part of a name.",
        SCOPE,
        rules_names.title,
    ),
    Rule(
        "noun-next",
        False,
        Group.DEPENDENCY,
        "A noun follows the number.",
        FILTER,
        dependency.noun_next,
    ),
    Rule(
        "adjectives-and-noun",
        False,
        Group.DEPENDENCY,
        "A noun follows the number behind adjectives.",
        OURS,
        dependency.adjectives_and_noun,
    ),
    Rule(
        "name",
        False,
        Group.NAMES,
        "A noun or a name stands right before the number, which belongs to it: “Apollo 11”.",
        FILTER,
        rules_names.name,
    ),
    Rule(
        "counts-a-noun",
        False,
        Group.DEPENDENCY,
        "The parser lets the number count a noun behind it.",
        FILTER,
        dependency.counts_a_noun,
    ),
    Rule(
        "phrase-without-noun",
        True,
        Group.PHRASES,
        "The number stands in a phrase that has no noun.",
        "paper, section 4.1, phrases",
        phrases.without_noun,
    ),
    Rule(
        "no-bare-phrase",
        False,
        Group.PHRASES,
        "The parser gave phrases, and none around the number is without a noun.",
        "paper, section 4.1, phrases",
        phrases.in_tree,
    ),
    Rule(
        "not-nummod",
        True,
        Group.REST,
        "The parser lets the number count no noun.",
        FILTER,
        _always,
    ),
)
"""The rules in the order in which they are tried; the last one always holds."""

_BY_NAME = {rule.name: rule for rule in RULES}


def rule_named(name: str) -> Rule:
    """The rule of that name. Raises KeyError for a name that is none."""
    return _BY_NAME[name]


class Rules:
    """The recipe `rules`, ready to decide.

    without: groups of rules that are left out, to see what they do.
    """

    recipe = "rules"
    needs = frozenset({Layer.POS, Layer.DEPENDENCY})
    uses = frozenset({Layer.POS, Layer.DEPENDENCY, Layer.CONSTITUENCY})

    def __init__(self, without: frozenset[Group] = frozenset()) -> None:
        self._rules = tuple(r for r in RULES if r.group is Group.REST or r.group not in without)
        left_out = "".join(f" without {group}" for group in sorted(without - {Group.REST}))
        self.version = f"{VERSION}{left_out}"

    def decide(self, cases: Sequence[Case]) -> list[Decision]:
        """A decision a case, in order. Raises ValueError for a case without a parse."""
        decisions = []
        stretch: Stretch | None = None
        lows: list[str] = []
        for case in cases:
            if case.stretch is not stretch:
                stretch = case.stretch
                lows = lower(stretch.words)
            decisions.append(self._decide(View.of(case, lows)))
        return decisions

    def _decide(self, view: View) -> Decision:
        deciding = next(rule for rule in self._rules if rule.test(view))
        return Decision(deciding.nfh, deciding.name)
