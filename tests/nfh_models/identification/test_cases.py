"""Cases out of passages, and deciding them with a parser, without one, and in order."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.identification import base
from nfh_models.identification.base import BATCH, Decision, SentenceNumber, cases_of, decide
from nfh_models.identification.rules import Rules
from nfh_models.parsing.base import Parsed, ParseLayer, Parser, ParserError, WordSpan
from nfh_models.text.sentences import sentence_spans
from nfh_models.text.tokens import STAND_INS, plain_words

from .conftest import marked


def passage_of(*turns: str) -> Passage:
    """A passage of turns whose tokens stand between spaces."""
    text = "\n".join(turns)
    tokens: list[Token] = []
    spoken: list[Turn] = []
    place = 0
    for number, turn in enumerate(turns):
        first = len(tokens)
        for word in turn.split():
            start = text.index(word, place)
            place = start + len(word)
            tokens.append(Token(start, place, word.lower()))
        spoken.append(Turn(number, None, first, len(tokens)))
    return Passage(text, tuple(tokens), tuple(spoken))


def shown(case: SentenceNumber) -> str:
    words = list(case.word_span.words)
    return " ".join(
        [*words[: case.start], "[", *words[case.start : case.end], "]", *words[case.end :]]
    )


def test_a_number_with_its_sentence() -> None:
    passage = passage_of("Owls hoot . I saw two . Bats too .", "Only two ? No , three .")
    anchors = [Anchor(5, 6), Anchor(11, 12), Anchor(15, 16)]
    assert [shown(case) for case in cases_of(passage, anchors)] == [
        "I saw [ two ] .",
        "Only [ two ] ?",
        "No , [ three ] .",
    ]


def test_numbers_of_one_sentence_share_its_words() -> None:
    passage = passage_of("I saw two . He had one and you two .")
    first, second, third = cases_of(passage, [Anchor(2, 3), Anchor(6, 7), Anchor(9, 10)])
    assert second.word_span is third.word_span
    assert first.word_span is not second.word_span


def test_an_anchor_over_the_end_of_a_sentence_or_turn_gets_both() -> None:
    passage = passage_of("I saw two . Three fled . So .", "Four left .")
    [case] = cases_of(passage, [Anchor(2, 5)])
    assert shown(case) == "I saw [ two . Three ] fled ."
    [case] = cases_of(passage, [Anchor(7, 10)])
    assert shown(case) == "[ So . Four ] left ."


def test_stand_ins_become_what_they_stand_for() -> None:
    passage = passage_of("`` two '' -LRB- one -RRB- -LSB- six -RSB-")
    [case] = cases_of(passage, [Anchor(1, 2)])
    assert shown(case) == '" [ two ] " ( one ) [ six ]'
    assert len(case.word_span.spaces) == len(case.word_span.words)
    assert plain_words([*STAND_INS, "two"]) == [*STAND_INS.values(), "two"]


def test_each_turn_is_cut_once(monkeypatch: pytest.MonkeyPatch) -> None:
    cuts = []

    def counting(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        cuts.append((start, end))
        return sentence_spans(text, start, end)

    monkeypatch.setattr(base, "sentence_spans", counting)
    passage = passage_of("I saw two . " * 300, "You saw one .")
    anchors = [Anchor(4 * i + 2, 4 * i + 3) for i in range(300)]
    assert len(list(cases_of(passage, anchors))) == 300
    assert len(cuts) == 1


class Counting:
    """A parser that says how often, and what, it was asked."""

    name = "counting"
    layers = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

    def __init__(self) -> None:
        self.asked: list[WordSpan] = []

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        for word_span in word_spans:
            self.asked.append(word_span)
            size = len(word_span.words)
            yield Parsed(
                word_span.words,
                pos=["X"] * size,
                heads=list(range(size)),
                relations=["dep"] * size,
            )


class Unparsed:
    """An identifier that needs no parse: odd places are fused heads."""

    recipe = "small"
    version = "small 1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        assert all(case.parsed is None for case in cases)
        return [Decision(case.start % 2 == 1, self.recipe, 1.0) for case in cases]


def test_an_identifier_that_needs_no_parser_gets_none() -> None:
    asked = [marked("I saw [ two ] ."), marked("A [ hundred ] fled .")]
    decided = list(decide(asked, Unparsed(), None))
    assert [case for case, _ in decided] == asked
    assert [decision.nfh for _, decision in decided] == [False, True]
    parser = Counting()
    assert len(list(decide(asked, Unparsed(), parser))) == 2
    assert parser.asked == []


def test_each_sentence_is_parsed_once_in_whatever_order_its_numbers_come() -> None:
    passage = passage_of("I saw two and six . You saw one .")
    anchors = [Anchor(2, 3), Anchor(8, 9), Anchor(4, 5)]
    parser = Counting()
    decided = list(decide(cases_of(passage, anchors), Rules(), parser))
    assert [shown(case) for case, _ in decided] == [
        "I saw [ two ] and six .",
        "You saw [ one ] .",
        "I saw two and [ six ] .",
    ]
    assert len(parser.asked) == 2
    assert all(case.parsed is not None for case, _ in decided)


def test_a_case_that_is_parsed_keeps_its_parse() -> None:
    parser = Counting()
    [(case, _)] = decide([marked("I saw [ two ] .")], Rules(), parser)
    again = Counting()
    [(same, _)] = decide([case], Rules(), again)
    assert same is case
    assert again.asked == []
    [(alone, _)] = decide([case], Rules(), None)
    assert alone is case


def test_more_cases_than_a_batch_come_out_in_order() -> None:
    size = BATCH + 3
    passage = passage_of("I saw two . " * size)
    anchors = [Anchor(4 * i + 2, 4 * i + 3) for i in range(size)]
    parser = Counting()
    waiting = decide(cases_of(passage, anchors), Rules(), parser)
    next(waiting)
    assert len(parser.asked) == BATCH
    assert 1 + sum(1 for _ in waiting) == size


def test_a_sentence_of_many_numbers_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "BATCH", 50)
    size = 90
    passage = passage_of("I saw two .", "two , " * size, "I saw two .")
    anchors = [Anchor(2, 3)]
    anchors += [Anchor(4 + 2 * i, 5 + 2 * i) for i in range(size)]
    anchors.append(Anchor(4 + 2 * size + 2, 4 + 2 * size + 3))
    parser = Counting()
    assert len(list(decide(cases_of(passage, anchors), Rules(), parser))) == size + 2
    assert len(parser.asked) == 3


def test_nothing_to_decide() -> None:
    assert list(decide([], Rules(), Counting())) == []
    assert list(decide([], Rules(), None)) == []


def test_a_parser_is_asked_for_where_one_is_needed() -> None:
    with pytest.raises(ParserError, match="--parser"):
        list(decide([marked("I saw [ two ] .")], Rules(), None))


def test_a_parser_that_gives_too_little_is_refused() -> None:
    class Poor(Counting):
        layers = frozenset({ParseLayer.POS})

    with pytest.raises(ParserError, match="gives no dependency"):
        list(decide([marked("I saw [ two ] .")], Rules(), Poor()))


def test_two_sentences_that_read_the_same_stay_two(parser: Parser) -> None:
    passage = passage_of("I saw two .", "I saw two .")
    first, second = decide(cases_of(passage, [Anchor(2, 3), Anchor(6, 7)]), Rules(), parser)
    assert first[0].word_span is not second[0].word_span
    assert first[1] == second[1]
