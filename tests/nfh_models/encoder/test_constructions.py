"""Examples whose head is known because their text was made so, on a parse by hand."""

import random
from collections.abc import Iterable, Iterator

import pytest

from nfh_models.domain import Kind
from nfh_models.parsing.base import Parsed, ParseLayer, WordSpan
from nfh_models.resolution.base import ResolutionExample
from tests.nfh_models.encoder.handmade import item
from tools.small_model.constructions import (
    LISTS,
    MOST,
    NEARER,
    SENTENCES,
    Construction,
    Dialog,
    Line,
    alternatives,
    announced,
    classed,
    constructed,
    countable,
    distant,
    empty_turns,
    indefinites,
    left_out,
    lists,
    padded,
    parsed_dialogs,
    passage_of,
    replies,
)

NOUNS = {"dog", "dogs", "cat", "cats", "bone", "market", "water", "years", "dollars", "car"}
NUMBERS = {"one", "two", "three", "twenty", "5"}


class ByHand:
    """Numbers count the next noun; a noun has the words after the one before it."""

    name, layers = "by hand", frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

    def parse(self, stretches: Iterable[WordSpan]) -> Iterator[Parsed]:
        for one in stretches:
            words = [word.lower() for word in one.words]
            pos = [
                "NOUN" if word in NOUNS
                else "NUM" if word in NUMBERS
                else "ADJ" if word in ("red", "big")
                else "DET" if word in ("a", "the", "this", "another", "some", "my")
                else "X"
                for word in words
            ]  # fmt: skip
            heads = list(range(len(words)))
            relations = ["dep"] * len(words)
            for place in range(len(words) - 2, -1, -1):
                follows = pos[place + 1]
                if pos[place] in ("NUM", "ADJ", "DET") and follows in ("NOUN", "ADJ"):
                    heads[place] = place + 1 if follows == "NOUN" else heads[place + 1]
                    relations[place] = "nummod" if pos[place] == "NUM" else "det"
            tags = ["NNS" if word.endswith("s") else "NN" for word in words]
            yield Parsed(one.words, pos, tags, heads=heads, relations=relations)


def dialog(*lines: str) -> Dialog:
    made = []
    for line in lines:
        speaker, _, text = line.partition(": ")
        made.append(Line(speaker, tuple(text.split())))
    return Dialog(tuple(made), "line 3")


def parsed(*lines: str):
    return parsed_dialogs([dialog(*lines)], ByHand())[0]


def shown(example: ResolutionExample) -> str:
    """The passage with the anchor in brackets and heads after a star."""
    passage, anchor = example.item.passage, example.item.anchor
    heads = example.gold.head_tokens()
    words = []
    for place in range(len(passage.tokens)):
        word = passage.word(place)
        word = f"[{word}]" if anchor.start <= place < anchor.end else word
        words.append(f"*{word}" if place in heads else word)
    return " | ".join(
        f"{turn.speaker}: {' '.join(words[turn.start : turn.end])}" for turn in passage.turns
    )


def rng(seed: int = 0) -> random.Random:
    return random.Random(seed)


def test_a_counted_noun_is_left_out_where_it_stands_elsewhere() -> None:
    made = list(left_out(parsed("Ann: I like dogs .", "Ben: We have two big dogs here .")))
    assert [shown(one) for one in made] == ["Ann: I like *dogs . | Ben: We have [two] here ."]
    assert made[0].where == "left-out line 3"
    assert made[0].item.passage.tokens[2].lemma == "dog"


def test_it_is_marked_behind_where_it_stands_only_behind() -> None:
    [made] = left_out(parsed("Ann: I have two dogs .", "Ben: Your dogs ?"))
    assert shown(made) == "Ann: I have [two] . | Ben: Your *dogs ?"
    assert made.where.startswith("behind ")


def test_heads_of_the_same_turn_move_with_what_is_left_out() -> None:
    [made] = left_out(parsed("Ann: I have two big dogs , my dogs ."))
    assert shown(made) == "Ann: I have [two] , my *dogs ."


@pytest.mark.parametrize(
    "lines",
    [
        ("Ann: I have two dogs .", "Ben: A cat ?"),
        ("Ann: Dollars ?", "Ben: I have two dollars ."),
        ("Ann: Some years .", "Ben: I was gone one years ."),
        ("Ann: My dogs .", f"Ben: {'so ' * 70} I have two dogs ."),
        ("Ann: My dogs .", "Ben: I have two dogs of mine ."),
    ],
)
def test_what_is_not_left_out(lines: tuple[str, ...]) -> None:
    assert list(left_out(parsed(*lines))) == []


def test_two_or_three() -> None:
    found = {
        shown(next(alternatives(parsed("Ann: Three big dogs bark ."), rng(seed))))
        for seed in range(30)
    }
    assert "Ann: [Two] or three big *dogs bark ." in found
    assert "Ann: [Two] , maybe three big *dogs bark ." in found
    [made] = alternatives(parsed("Ann: I saw 5 cats ."), rng())
    assert shown(made).startswith("Ann: I saw [4] ")
    assert list(alternatives(parsed("Ann: I have one dog ."), rng())) == []
    assert list(alternatives(parsed("Ann: I have two dollars ."), rng())) == []


def test_another_speaker_has_a_number_before_the_noun_is_named() -> None:
    [made] = announced(parsed("Ann: Hello . I have two dogs .", "Ben: OK ."), rng())
    first, second, third = shown(made).split(" | ")
    assert first.startswith("Ben: ")
    assert "[" in first
    assert "two" not in first
    assert (second, third) == ("Ann: I have two *dogs .", "Ben: OK .")
    assert list(announced(parsed("Ann: Dogs !", "Ben: I have two dogs ."), rng())) == []


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("a dog", "[one]"),
        ("a red dog", "a red [one]"),
        ("the red dog", "the red [one]"),
        ("this dog", "this [one]"),
        ("another dog", "another [one]"),
    ],
)
def test_a_noun_that_was_spoken_of_becomes_one(phrase: str, wanted: str) -> None:
    one = parsed("Ann: I have two dogs .", f"Ben: I want {phrase} .")
    [made] = indefinites(one, frozenset({"dog"}), rng())
    assert shown(made) == f"Ann: I have two *dogs . | Ben: I want {wanted} ."


@pytest.mark.parametrize(
    "phrase", ["the dog", "a dog of mine", "a cat", "a dog cat", "this water"]
)
def test_what_does_not_become_one(phrase: str) -> None:
    one = parsed("Ann: I have two dogs , water .", f"Ben: I want {phrase} .")
    assert list(indefinites(one, frozenset({"dog", "cat"}), rng())) == []


def test_plurals_become_numbers() -> None:
    one = parsed("Ann: I have two dogs .", "Ben: Some dogs bark .", "Ann: My dogs ?")
    first, second = (
        shown(made).split(" | ") for made in indefinites(one, frozenset({"dog"}), rng())
    )
    assert first[1].startswith("Ben: [T") or first[1].startswith("Ben: [F")
    assert second[2].startswith("Ann: My [")


def test_another_speaker_replies_with_another_number() -> None:
    one = parsed("Ann: I saw two dogs at the market . Big .", "Ben: Oh .")
    found = {next(replies(one, rng(seed))).where.split()[0] for seed in range(40)}
    assert found == {"reply", "distractor"}
    for seed in range(40):
        [made] = replies(one, rng(seed))
        first, second, *rest = shown(made).split(" | ")
        assert first == "Ann: I saw two *dogs at the market ."
        assert second.startswith("Ben: ")
        assert "[two]" not in second.lower()
        assert rest in ([], ["Ben: Oh ."])
    for line in ("Ann: I have one dogs .", "Ann: I have three cats , two dogs ."):
        assert list(replies(parsed(line), rng())) == []


def test_a_number_several_turns_behind_its_noun() -> None:
    one = parsed("Ann: I saw two dogs at the market . Big .", "Ben: Oh .")
    empty = [Line("Cid", ("so", "they", "say")), Line(None, ("I", "see")), Line("Dan", ("no",))]
    for seed in range(20):
        [made] = distant(one, empty, rng(seed))
        first, *between, last = shown(made).split(" | ")
        assert first == "Ann: I saw two *dogs at the market ."
        assert len(between) == len(empty)
        assert "[" in last
        speakers = [turn.speaker for turn in made.item.passage.turns]
        assert speakers == ["Ann", "Ben", "Ann", "Ben", "Ann"]
        [made] = distant(parsed("Ben: Oh .", "Ann: I saw two dogs ."), empty, rng(seed))
        speakers = [turn.speaker for turn in made.item.passage.turns]
        assert speakers == ["Ben", "Ann", "Ben", "Ann", "Ben", "Ann"]
    assert list(distant(parsed("Ann: I have one dogs ."), empty, rng())) == []


def test_turns_without_anything_to_count() -> None:
    some = [
        parsed("Ann: I see dogs .", "Ben: So they say .", "Ann: He is five .", "Ben: No ."),
        parsed("Ann: I told Cid so .", f"Ben: {'so ' * 20}", "Ann: The water is here . See ?"),
    ]
    found = empty_turns(some, frozenset({"dog"}))
    assert [" ".join(line.words) for line in found] == [
        "So they say .",
        "No .",
        "The water is here . See ?",
    ]


def test_a_list_behind_a_counted_noun() -> None:
    [made] = lists(parsed("Ann: I have two dogs . OK ?", "Ben: Oh ."), rng())
    assert shown(made).startswith("Ann: I have two *dogs . ")
    assert "one]" in shown(made).lower()
    assert made.item.passage.turns[0].end - 6 > len("OK ?".split())


def test_sentences_of_the_classes() -> None:
    one = parsed("Ann: I have a car . It is red .", "Ben: Oh .")
    for seed in range(200):
        [made] = classed(one, frozenset({"car"}), rng(seed))
        made.item.anchor.check(made.item.passage)
        word = made.item.passage.word(made.item.anchor.start).lower()
        assert made.gold.kind in SENTENCES
        assert "{" not in made.item.passage.text
        assert word.isdigit() or "," in word or word == "one" or word.isalpha()


def test_forms_have_one_place_for_a_number() -> None:
    assert all(form.count("{n}") + form.count("{N}") == 1 for form in NEARER)
    assert all("one" in form.lower().split() for form in LISTS)


def test_what_can_be_counted() -> None:
    some = [
        parsed("Ann: a dog , two dogs , the water , water , water , a water , this water .")
    ]
    assert countable(some) == {"dog"}


def test_all_of_them_are_the_same_again() -> None:
    some = [dialog("Ann: I like dogs .", "Ben: I have two dogs . A dog barks .", "Ann: Oh .")]
    first, again = (constructed(some, ByHand()) for _ in range(2))
    assert {how: [shown(one) for one in found] for how, found in first.items()} == {
        how: [shown(one) for one in found] for how, found in again.items()
    }
    assert set(first) == set(Construction)
    for how, found in first.items():
        for one in found:
            assert one.where == f"{how} line 3"
            one.item.anchor.check(one.item.passage)
            tokens = len(one.item.passage.tokens)
            one.gold.check(tokens, one.item.anchor.start, one.item.anchor.end)


def test_turns_of_other_dialogs_around_an_example() -> None:
    own = item("Ann: I like dogs .", "Ben: I have [ two ] .")
    [given] = left_out(parsed("Ann: I like dogs .", "Ben: I have two dogs ."))
    others = [
        dialog("Cid: my dogs bark all the day , they do ."),
        dialog("Dan: so it goes on ."),
    ]
    for seed in range(20):
        made = padded(given, others, 60, rng(seed))
        text = shown(made)
        assert "Ann: I like *dogs . | Ben: I have [two] ." in text
        assert "bark" not in text, "a head's noun would be a mention"
        assert "Dan: so it goes on ." in text
        assert len(own.passage.tokens) < len(made.item.passage.tokens) <= 60
    assert len(padded(given, others, 10_000, rng()).item.passage.tokens) <= MOST
    assert padded(given, others, 3, rng()).item == given.item


def test_a_passage_of_lines() -> None:
    made = passage_of([Line("Ann", ("Two", "dogs")), Line(None, ("No", "."))])
    assert made.text == "Two dogs No ."
    assert [(turn.speaker, turn.start, turn.end) for turn in made.turns] == [
        ("Ann", 0, 2),
        (None, 2, 4),
    ]
    assert made.tokens[1].lemma == "dog"


def test_classes_are_those_of_the_paper() -> None:
    assert set(SENTENCES) == set(Kind) - {
        Kind.REFERENCE, Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN, Kind.NFH,
    }  # fmt: skip
