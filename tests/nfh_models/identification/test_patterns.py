"""Text patterns and filters on parses written by hand, in both styles of labels."""

import pytest

from nfh_models.identification.rules import Rules, SentenceView

from .handmade import parsed_case


def rule_of(sentence: str, start: int, arcs: str, end: int | None = None) -> str:
    case = parsed_case(sentence, start, end or start + 1, arcs)
    return Rules().decide([case])[0].rule


BOTH_STYLES = {
    "counts a noun": (
        "I/PRON keep/VERB two/NUM very/ADV old/ADJ goats/NOUN",
        "1:nsubj 1:root 5:nummod 4:advmod 5:amod 1:dobj",
        "1:nsubj 1:root 5:nummod 4:advmod 5:amod 1:obj",
        "counts-a-noun",
    ),
    "object": (
        "I/PRON saw/VERB two/NUM ./PUNCT",
        "1:nsubj 1:root 1:dobj 1:punct",
        "1:nsubj 1:root 1:obj 1:punct",
        "not-nummod",
    ),
    "behind a preposition": (
        "wait/VERB for/ADP two/NUM",
        "0:root 0:prep 1:pobj",
        "0:root 2:case 0:obl",
        "not-nummod",
    ),
    "you two": (
        "You/PRON two/NUM know/VERB",
        "2:nsubj 0:nummod 2:root",
        "2:nsubj 0:nummod 2:root",
        "you-two",
    ),
    "name": (
        "aboard/ADP Vostok/PROPN 6/NUM",
        "0:root 0:pobj 1:nummod",
        "0:root 0:obl 1:nmod",
        "name",
    ),
    "part of a larger number": (
        "ten/NUM :/PUNCT twelve/NUM old/ADJ tall/ADJ owls/NOUN",
        "2:quantmod 0:punct 5:nummod 5:amod 5:amod 5:root",
        "2:compound 0:punct 5:nummod 5:amod 5:amod 5:root",
        "not-nummod",
    ),
}


@pytest.mark.parametrize(
    ("sentence", "clear", "universal", "rule"), BOTH_STYLES.values(), ids=BOTH_STYLES.keys()
)
def test_labels_of_both_styles(sentence: str, clear: str, universal: str, rule: str) -> None:
    words = [token.rpartition("/")[0] for token in sentence.split()]
    place = next(i for i, word in enumerate(words) if word in ("two", "6", "ten"))
    assert rule_of(sentence, place, clear) == rule
    assert rule_of(sentence, place, universal) == rule


def test_a_pronoun_before_a_number_with_its_noun() -> None:
    arcs = "1:nsubj 1:root 1:dative 4:nummod 1:dobj"
    assert rule_of("it/PRON cost/VERB us/PRON two/NUM men/NOUN", 3, arcs) == "noun-next"


def test_a_noun_that_is_never_counted() -> None:
    arcs = "1:nsubj 1:root 3:nummod 1:npadvmod"
    assert rule_of("I/PRON saw/VERB two/NUM yesterday/NOUN", 2, arcs) == "not-nummod"


def test_the_noun_behind_a_comma_is_another() -> None:
    arcs = "0:root 3:nummod 0:punct 0:npadvmod"
    assert rule_of("make/VERB six/NUM ,/PUNCT Blanche/PROPN", 1, arcs) == "not-nummod"


def test_a_plural_that_is_tagged_as_something_else() -> None:
    arcs = "0:root 2:nummod 0:dobj"
    assert rule_of("fry/VERB ninety/NUM pierogis/DET", 1, arcs) == "counts-a-noun"


@pytest.mark.parametrize("mark", ["'", "’"])
def test_both_apostrophes(mark: str) -> None:
    assert rule_of(f"at/ADP six/NUM o{mark}clock/ADV", 1, "0:root 0:pobj 1:advmod") == "o-clock"
    assert rule_of(
        f"on/ADP one/NUM {mark}s/PART way/NOUN", 1, "0:root 3:poss 1:case 0:pobj"
    ) == ("before-s")


@pytest.mark.parametrize(
    ("sentence", "start", "end", "behind"),
    [
        ("two/NUM owls/NOUN", 0, 1, 1),
        ("two/NUM hundred/NUM owls/NOUN", 0, 1, 2),
        ("twenty/NUM five/NUM owls/NOUN", 0, 1, 2),
        ("two/NUM five/NUM owls/NOUN", 0, 1, 1),
        ("two/NUM and/CCONJ a/DET half/NOUN owls/NOUN", 0, 1, 4),
        ("two/NUM hundred/NUM and/CCONJ five/NUM owls/NOUN", 0, 2, 4),
        ("two/NUM and/CCONJ five/NUM owls/NOUN", 0, 1, 1),
        ("two/NUM */PUNCT owls/NOUN", 0, 1, 2),
        ("two/NUM", 0, 1, 1),
        ("two/NUM and/CCONJ", 0, 1, 1),
        ("two/NUM and/CCONJ a/DET", 0, 1, 1),
    ],
)
def test_where_the_whole_number_ends(sentence: str, start: int, end: int, behind: int) -> None:
    arcs = " ".join(f"{i}:dep" for i in range(len(sentence.split())))
    assert SentenceView.of(parsed_case(sentence, start, end, arcs)).behind == behind


def test_a_circle_of_arcs_ends() -> None:
    sentence = "two/NUM six/NUM ten/NUM"
    assert rule_of(sentence, 0, "1:nummod 0:nummod 1:nummod") == "not-nummod"


def test_looking_for_a_noun_ends_after_a_few_words() -> None:
    size = 4_000
    sentence = " ".join(["two/NUM"] + ["odd/ADJ"] * size + ["owls/NOUN"])
    arcs = " ".join(f"{i}:dep" for i in range(size + 2))
    case = parsed_case(sentence, 0, 1, arcs)
    assert case.parsed is not None
    counted = CountedWords(case.parsed.pos)
    object.__setattr__(case.parsed, "pos", counted)
    Rules().decide([case])
    assert counted.looks < 100


class CountedWords(list[str]):
    """Parts of speech that count how often they are looked at."""

    looks = 0

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        self.looks += 1
        return super().__getitem__(place)
