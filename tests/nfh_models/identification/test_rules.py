"""The recipe `rules` on real parses: what is a fused head, and which rule says so."""

from pathlib import Path

import pytest

from nfh_models.identification.base import SentenceNumber, parse_cases
from nfh_models.identification.rules import RULES, RuleGroup, Rules, rule_named
from nfh_models.parsing.base import ParseLayer, Parser, WordSpan

from .conftest import Said, marked

FUSED = {
    "No [ one ] knocked .": "no-one",
    "They rarely write to [ one ] another .": "one-another",
    "[ Three ] of the lamps are out .": "num-of",
    "Bring [ eight ] or nine buckets .": "before-or",
    "Stay a night or [ two ] .": "after-or",
    "It empties [ one ] 's pockets .": "before-s",
    "She is the [ one ] who sold the mill .": "the-one-who",
    "The ferry leaves at [ six ] a.m. sharp .": "clock",
    "My uncle is [ 6 ' 3 ] in boots .": "height",
    "Are you [ two ] done with the ladder ?": "you-two",
    "He walked [ ten ] , twelve miles .": "first-of-two",
    "My boat leaks , so I bought a new [ one ] .": "not-nummod",
    "He is my [ one ] and only .": "not-nummod",
    "She turned [ fifty ] in March .": "not-nummod",
    "We built it in [ 1996 ] .": "not-nummod",
    "He would never buy [ one ] .": "not-nummod",
    "I found [ one ] last week .": "not-nummod",
    "He turned [ forty ] last week .": "not-nummod",
    "They charge [ five ] a week .": "not-nummod",
    "Come at [ 5 ] in the morning .": "not-nummod",
    "[ One ] would think so .": "not-nummod",
    "Wake me at [ five ] tomorrow morning .": "not-nummod",
    "[ Nine ] out of ten dentists agree .": "not-nummod",
    "He is six foot [ two ] .": "not-nummod",
    "THERE ARE ONLY [ THREE ] LEFT": "not-nummod",
    "NO [ ONE ] KNOCKED": "no-one",
    "I saw [ one ] yesterday .": "not-nummod",
    "She is six and the boy is [ five ] and a half .": "not-nummod",
}
NOT_FUSED = {
    "It cost $ [ 40 ] .": "currency",
    "It cost [ 40 ] € .": "currency",
    "Put £ [ 5 ] on the grey mare .": "currency",
    "He owns [ 30 ] % .": "currency",
    "We met on June [ 6 ] , 1950 .": "date",
    "We met on [ 6 ] June , 1950 .": "date",
    "It sank in June [ 1950 ] .": "date",
    "Look in chapter [ five ] .": "label",
    "Look in volume [ one ] of the diary .": "label",
    "He works at [ six ] o'clock .": "o-clock",
    "She is the Chosen [ One ] .": "title",
    "[ Five ] apples fell .": "noun-next",
    "I GAVE HIM [ FIVE ] SMALL APPLES": "adjectives-and-noun",
    "[ Five ] per cent agreed .": "noun-next",
    "I will give you [ fifty ] per cent .": "noun-next",
    "She played Symphony No . [ 5 ] in C .": "label",
    "About [ ten ] percent agreed .": "noun-next",
    "Buy [ two ] dozen .": "noun-next",
    "She bred [ three ] stubborn black goats .": "adjectives-and-noun",
    "Ask me [ one ] more time .": "adjectives-and-noun",
    "They flew with Apollo [ 11 ] .": "label",
    "We stayed in Room [ 12 ] .": "label",
    "She reads Catch [ 22 ] in the bath .": "name",
    "He is the [ one ] and only Baron .": "one-and-only",
    "Bring eight or [ nine ] buckets .": "noun-next",
}


@pytest.mark.parametrize(("sentence", "rule"), FUSED.items())
def test_a_number_without_a_noun(said: Said, sentence: str, rule: str) -> None:
    decision = said(sentence)
    assert (decision.nfh, decision.rule) == (True, rule)
    assert decision.score is None


@pytest.mark.parametrize(("sentence", "rule"), NOT_FUSED.items())
def test_a_number_with_its_noun_or_in_a_name(said: Said, sentence: str, rule: str) -> None:
    decision = said(sentence)
    assert (decision.nfh, decision.rule) == (False, rule)


def test_only_the_year_of_a_date_is_fused(said: Said) -> None:
    assert not said("On April [ 3 ] , 1897 , it burned down .").nfh
    assert said("On April 3 , [ 1897 ] , it burned down .").nfh


def test_may_is_a_month_with_a_capital_only(said: Said) -> None:
    assert said("On May [ 3 ] , they wed .").rule == "date"
    assert said("Of those who asked , [ 3 ] may stay .").nfh


def test_quotes_and_emphasis_hide_no_noun(said: Said) -> None:
    assert not said("I said * [ two ] * spoons .").nfh
    assert said("I said * [ two ] * .").nfh


def test_every_rule_has_a_name_of_its_own_and_a_sentence() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        assert rule.name == rule.name.lower()
        assert rule.sentence.endswith(".")
        assert rule.source
        assert rule_named(rule.name) is rule
    with pytest.raises(KeyError):
        rule_named("no such rule")


def test_the_last_rule_always_holds_and_no_other_follows_it() -> None:
    assert RULES[-1].group is RuleGroup.REST
    assert [rule for rule in RULES if rule.group is RuleGroup.REST] == [RULES[-1]]


def test_a_group_that_is_left_out_decides_nothing(parser: Parser) -> None:
    cases = parse_cases(
        [marked(one) for one in ("It cost $ [ 40 ] .", "A day or [ two ] .")], parser
    )
    whole = Rules()
    assert [one.rule for one in whole.decide(cases)] == ["currency", "after-or"]
    partly = Rules(frozenset({RuleGroup.CURRENCY, RuleGroup.PATTERNS}))
    assert {one.rule for one in partly.decide(cases)}.isdisjoint({"currency", "after-or"})
    assert partly.version != whole.version


def test_what_it_needs_and_uses() -> None:
    rules = Rules()
    assert rules.recipe == "rules"
    assert rules.needs == {ParseLayer.POS, ParseLayer.DEPENDENCY}
    assert rules.uses == rules.needs | {ParseLayer.CONSTITUENCY}


def test_a_case_without_a_parse_is_refused() -> None:
    with pytest.raises(ValueError, match="parts of speech"):
        Rules().decide([marked("A day or [ two ] .")])


@pytest.mark.parametrize(("start", "end"), [(0, 9), (3, 3), (-1, 1), (4, 5)])
def test_a_number_outside_its_sentence_is_refused(parser: Parser, start: int, end: int) -> None:
    word_span = WordSpan(["A", "day", "or", "two"], [True] * 4)
    [parsed] = parser.parse([word_span])
    with pytest.raises(ValueError, match="outside its sentence"):
        Rules().decide([SentenceNumber(word_span, start, end, parsed)])


def test_strange_tokens_are_decided_without_an_error(parser: Parser) -> None:
    rows = ["\x00", "７", "٣", "é" * 300, "ß", "İ", "\u0301", "七", "🂡", "1/2"]
    word_span = WordSpan(rows, [True] * len(rows))
    cases = [SentenceNumber(word_span, place, place + 1) for place in range(len(rows))]
    decisions = Rules().decide(parse_cases(cases, parser))
    assert len(decisions) == len(rows)
    assert decisions[0].rule == "no-number"


def test_the_documentation_lists_the_rules() -> None:
    text = Path(__file__).parents[3].joinpath("docs", "identification.md").read_text("utf-8")
    listed = [line for line in text.splitlines() if line.startswith("| `")]
    wanted = [
        f"| `{rule.name}` | {'NFH' if rule.nfh else 'not'} | {rule.group} | {rule.sentence} |"
        for rule in RULES
    ]
    assert [line for line in listed if line in wanted] == wanted
