"""The guidelines that ship: each rule is whole, and nothing of an answer is left unsaid."""

import re

import pytest

from nfh_db.records import FlagName
from nfh_models.domain import Kind, Relation, Sort
from nfh_models.text.numbers import find_numbers
from nfh_models.text.tokens import spans
from nfh_tui.services.guidelines import GuidelineRule, first_text, rules_of

TEXT = first_text()
RULES = rules_of(TEXT)
QUOTE = re.compile(r"(?:^>.*\n?)+", re.MULTILINE)
ANSWER = re.compile(
    r"→ (?P<kind>[A-Z_]+)"
    r"(?:, sort (?P<sort>[A-Z]+))?(?P<heads>(?: (?:AND |OR )?`\w+`)*)(?P<rest>.*)"
)
NUMBER = re.compile(r"\*([^*]+)\*")
OFTEN_WRONG = "**Often wrong:** "


def examples_of(rule: GuidelineRule) -> list[list[str]]:
    """The lines of each example: turns, and the answer last."""
    return [
        [line.removeprefix("> ").removesuffix("\\") for line in quote.strip().splitlines()]
        for quote in QUOTE.findall(rule.body)
    ]


EXAMPLES = [(rule.id, lines) for rule in RULES for lines in examples_of(rule)]

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
each_example = pytest.mark.parametrize(
    ("turns", "answer"), [(lines[:-1], lines[-1]) for _, lines in EXAMPLES]
)


def test_ids_ascend_without_a_gap():
    assert [rule.id for rule in RULES] == [f"R{n}" for n in range(1, len(RULES) + 1)]


@pytest.mark.parametrize("word", [*Kind, *Relation, *Sort])
def test_every_part_of_an_answer_is_named(word):
    assert re.search(rf"\b{word}\b", TEXT)


def test_every_kind_that_a_person_gives_has_an_example():
    shown = {ANSWER.fullmatch(lines[-1])["kind"] for _, lines in EXAMPLES}
    assert shown == set(Kind) - {Kind.NFH}


@pytest.mark.parametrize("flag", [FlagName.ANCHOR, FlagName.AMBIGUOUS, FlagName.GUIDELINE])
def test_every_flag_is_explained(flag):
    assert f"* The flag `{flag}` says" in TEXT


@each_rule
def test_a_rule_begins_with_one_sentence(rule):
    sentence = rule.body.split("\n\n")[0].replace("\n", " ")
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert len(sentence.split()) <= 40


@each_rule
def test_a_rule_has_examples_and_what_is_often_wrong(rule):
    assert 1 <= len(examples_of(rule)) <= 3
    assert rule.body.count(OFTEN_WRONG) == 1
    assert rule.body.split("\n\n")[-1].startswith(OFTEN_WRONG)


@each_rule
def test_a_rule_names_only_rules_that_are_there(rule):
    named = set(re.findall(r"\bR\d+\b", rule.body))
    assert named <= {rule.id for rule in RULES}
    assert rule.id not in named


def test_the_words_around_the_rules_name_only_rules_that_are_there():
    assert set(re.findall(r"\bR\d+\b", TEXT)) == {rule.id for rule in RULES}


@each_example
def test_an_example_is_a_dialog_about_one_number(turns, answer):
    assert all(re.match(r"[A-Z]\w+: \S", turn) for turn in turns)
    [marked] = NUMBER.findall("\n".join(turns))
    words = [marked[start:end] for start, end in spans(marked)]
    assert find_numbers(words) == [(0, len(words))]
    assert not NUMBER.search(answer)


@each_example
def test_an_example_shows_an_answer_that_can_be(turns, answer):
    found = ANSWER.fullmatch(answer)
    kind, heads = Kind(found["kind"]), re.findall(r"`(\w+)`", found["heads"])
    assert (kind is Kind.REFERENCE) == bool(heads)
    text = "\n".join(turns)
    assert all(re.search(rf"\b{head}\b", text) for head in heads)
    assert ("AND" in answer or "OR" in answer.split()) == (len(heads) > 1)
    if found["sort"] is not None:
        assert kind is Kind.OTHER
    if kind is Kind.OTHER:
        sort = Sort(found["sort"])
        assert ("noun" in found["rest"]) == (sort is Sort.NOUN)


def test_it_is_read_in_ten_minutes():
    """250 words a minute: what adults read of plain text."""
    assert len(re.findall(r"\w+", TEXT)) <= 2500


def test_nothing_in_it_controls_a_terminal():
    assert all(character.isprintable() or character == "\n" for character in TEXT)
