"""What can be no head, and what is left unmarked."""

from collections.abc import Callable

import pytest

from nfh_models.domain import Kind

Found = Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    ("check", "line"),
    [
        ("head-pronoun", "God made *two* of _you_ ."),
        ("head-number", "Two _8_ instead of *one* ."),
        ("head-sign", "It was 110 _%_ . / Now it is *120* ."),
        ("head-sign", "Is that the letter _Q_ ? / That *one* ."),
        ("head-sign", "A _watch'_ stopped . / Buy *one* ."),
        ("head-verb", "I|PRON 'd|AUX _kill_|VERB myself . / That *one* ."),
        ("head-verb", "Men|NOUN _died_|VERB here . / *Two* ."),
        ("head-adjective", "I|PRON 'm|AUX _sick_|ADJ and in love . / Which *one* ?"),
    ],
)
def test_heads_that_are_none(found: Found, check: str, line: str) -> None:
    assert check in found(line, Kind.REFERENCE)


@pytest.mark.parametrize(
    "line",
    [
        "The _watch_|NOUN stopped . / Buy *one* .",
        "The deposit|NOUN _slip_|VERB ? / I have *one* .",
        "Never met a|DET _psychic_|ADJ ? / Here is *one* .",
        "My|PRON _promise_|VERB ? / I made *one* .",
        "We saw sun|NOUN -|PUNCT _baked_|VERB pots . / I have *one* .",
    ],
)
def test_heads_that_the_parser_may_have_wrong_are_let_be(found: Found, line: str) -> None:
    assert not {"head-verb", "head-adjective"} & set(found(line, Kind.REFERENCE))


def test_without_a_parser_pronouns_and_numbers_are_still_found(found: Found) -> None:
    assert set(found("_They_ saw _two_ of us . / That *one* ?", Kind.REFERENCE)) == {
        "head-pronoun",
        "head-number",
    }


def test_all_wrong_mentions_of_an_answer_are_one_finding(found: Found) -> None:
    note = found("Oxygen 26 _%_ , carbon 9 _%_ , rest *9* .", Kind.REFERENCE)["head-sign"]
    assert note == "its head \u201c%\u201d is a sign, and 1 more mentions"


def test_a_verb_among_nouns_is_told_as_such(found: Found) -> None:
    line = "A|DET _fight_|NOUN ! / To|PART _fight_|VERB ? / I saw *one* ."
    assert "among mentions that are nouns" in found(line, Kind.REFERENCE)["head-verb"]


def test_mentions_left_out_where_several_are_marked(found: Found) -> None:
    line = "My _tents_|NOUN leak . / Two _tents_|NOUN ? / A tent|NOUN is *one* ."
    assert (
        "2 mentions of \u201ctents\u201d are marked, 1 not"
        in (found(line, Kind.REFERENCE)["unmarked-mention"])
    )
    verb = "A _watch_|NOUN stopped . / A _watch_|NOUN ? / They watch|VERB you . / Buy *one* ."
    assert "unmarked-mention" not in found(verb, Kind.REFERENCE)
    single = "A _tent_|NOUN leaks . / A tent|NOUN ? / Buy *one* ."
    assert "unmarked-mention" not in found(single, Kind.REFERENCE)
