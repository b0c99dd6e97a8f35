"""The cases that the component has to get right, each in several sentences."""

from collections.abc import Callable

import pytest
from spacy.language import Language

Said = Callable[[str], list[tuple[str, str]]]


@pytest.mark.parametrize(
    "text",
    [
        "I bought 5 apples this morning, but there are only 4 left.",
        "My aunt sent 5 apples, but by noon I could find only 4.",
        "The cook peeled 5 apples and used only 4.",
        "There were 5 apples on the shelf; now I see only 4.",
        "Somebody promised us 5 apples and brought only 4.",
    ],
)
def test_the_second_of_two_numbers_counts_the_noun_of_the_first(said: Said, text: str) -> None:
    assert said(text) == [("4", "apples")]


@pytest.mark.parametrize(
    "text",
    [
        "You two should know that one of them is the one who stole 2 or 3 pears.",
        "Are you two certain that one of them was the one who ate 2 or 3 plums?",
        "You two heard me: one of them was the one who dropped 2 or 3 cups.",
        "I tell you two that one of them will be the one who pays for 2 or 3 chairs.",
        "If you two find one of them, ask the one who carried 2 or 3 boxes.",
    ],
)
def test_four_in_a_sentence(nlp: Language, text: str) -> None:
    found = nlp(text)._.nfh
    assert [span.text for span in found] == ["two", "one", "one", "2"]
    assert [span._.nfh_head for span in found[:3]] == ["PEOPLE"] * 3
    assert found[3]._.nfh_head.i == found[3].end + 2
    assert found[3]._.nfh_head.tag_ == "NNS"
    assert found[0]._.is_deter_nfh
    assert not found[3]._.is_deter_nfh


@pytest.mark.parametrize(
    "question",
    [
        "How much is the rug?",
        "And how much did you pay for the horse?",
        "What does the lamp cost?",
        "What is the price?",
        "How much do you want for it, then?",
        "So how much was the ticket?",
    ],
)
@pytest.mark.parametrize("form", ["{} Two hundred.", '"{}" "Two hundred."', "{}\nTwo hundred."])
def test_a_price_is_one_anchor_of_two_tokens(nlp: Language, question: str, form: str) -> None:
    (span,) = nlp(form.format(question))._.nfh
    assert (span.text, len(span)) == ("Two hundred", 2)
    assert span._.nfh_head == "CURRENCY"
    assert [token._.is_nfh for token in span] == [True, True]


@pytest.mark.parametrize(
    ("number", "kind", "texts"),
    [
        (
            "96",
            "YEAR",
            [
                "They have lived here since '96.",
                "Nobody has seen her since '96.",
                "He has driven the same van since \u201996.",
                "She has worked in the mill since '96, I think.",
                "Since '96 the bridge has been closed.",
            ],
        ),
        (
            "50",
            "AGE",
            [
                "My uncle turned 50 in March.",
                "She turned 50 and bought a boat.",
                "When he turned 50, he stopped smoking.",
                "The day I turned 50 it rained.",
                "Our landlord will have turned 50 by then.",
            ],
        ),
        (
            "5",
            "TIME",
            [
                "The baby woke up at 5 in the morning.",
                "We milk the goats at 5 in the morning.",
                "He rang me at 5 in the morning!",
                "At 5 in the morning the street was empty.",
                "Who calls at 5 in the morning?",
            ],
        ),
        (
            "two",
            "PEOPLE",
            [
                "Are you two done?",
                "Are you two done yet?",
                "Are you two done with the ladder?",
                "Hey, are you two done?",
                "So, are you two done arguing?",
            ],
        ),
        (
            "10",
            "OTHER",
            [
                "The judges gave him a perfect 10.",
                "Her landing was a perfect 10.",
                "On that day he was a perfect 10.",
                "For me this soup is a perfect 10.",
                "They gave the gymnast a perfect 10!",
                "He says that I am a perfect 10.",
            ],
        ),
    ],
)
def test_classes(said: Said, number: str, kind: str, texts: list[str]) -> None:
    for text in texts:
        assert (text, said(text)) == (text, [(number, kind)])


@pytest.mark.parametrize(
    ("text", "number", "head"),
    [
        ("No one came.", "one", "PEOPLE"),
        ("I have two dogs and she has three.", "three", "dogs"),
        ("There were 8 chairs in the hall and we broke 3.", "3", "chairs"),
        ("Three of the spoons were bent.", "Three", "spoons"),
        ("Petra is the one who locked it.", "one", "Petra"),
        ("The two of us will manage.", "two", "PEOPLE"),
        ("She's 42.", "42", "AGE"),
        ("In 2004 we moved.", "2004", "YEAR"),
        ("She was born in nineteen eighty-four.", "nineteen eighty-four", "YEAR"),
        ("He paid forty for it.", "forty", "CURRENCY"),
        ("See you at nine.", "nine", "TIME"),
        ("The shop opens at 7 a.m. on Monday.", "7", "TIME"),
        ("One does not simply walk in.", "One", "PEOPLE"),
        ("A table for two, please.", "two", "PEOPLE"),
        ("Call 911!", "911", "OTHER"),
    ],
)
def test_more_of_each_class(said: Said, text: str, number: str, head: str) -> None:
    assert said(text) == [(number, head)]


@pytest.mark.parametrize(
    "text",
    ["I'll give you two hours.", "It costs $5.", "She lives at number 9.", "Twenty men."],
)
def test_no_fused_head(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc._.nfh == []
    assert doc._.has_nfh is False
