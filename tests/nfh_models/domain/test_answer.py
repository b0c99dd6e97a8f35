"""Answers and passages refuse what contradicts itself."""

import pytest

from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    PassageError,
    Relation,
    Sort,
    Token,
    Turn,
    anchor_id,
)

HEAD = Head((Mention(1, 2, 1),))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"kind": Kind.REFERENCE}, "needs at least one"),
        ({"kind": Kind.AGE, "heads": (HEAD,)}, "heads belong to REFERENCE"),
        ({"kind": Kind.REFERENCE, "heads": (HEAD, HEAD)}, "they need one"),
        (
            {"kind": Kind.REFERENCE, "heads": (HEAD,), "relation": Relation.AND},
            "two or more heads",
        ),
        ({"kind": Kind.AGE, "sort": Sort.CODE}, "belongs to OTHER"),
        ({"kind": Kind.REFERENCE, "heads": (HEAD,), "noun": "tent"}, "not to REFERENCE"),
    ],
)
def test_an_answer_that_contradicts_itself_is_refused(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(AnswerError, match=words):
        Answer(**arguments)  # type: ignore[arg-type]


def test_a_mention_holds_its_head_token() -> None:
    with pytest.raises(AnswerError, match="does not contain its head token 4"):
        Mention(1, 4, 4)


def test_a_head_does_not_begin_with_a_removed_mention() -> None:
    with pytest.raises(AnswerError, match="removed"):
        Head((Mention(1, 2, 1, Origin.REMOVED),))


def test_a_head_token_is_not_part_of_the_anchor_but_its_span_may_enclose_it() -> None:
    enclosing = Answer(Kind.REFERENCE, (Head((Mention(2, 6, 5),)),))
    enclosing.check(token_count=8, anchor_start=3, anchor_end=4)
    inside = Answer(Kind.REFERENCE, (Head((Mention(2, 6, 3),)),))
    with pytest.raises(AnswerError, match="part of the anchor"):
        inside.check(token_count=8, anchor_start=3, anchor_end=4)
    with pytest.raises(AnswerError, match="outside a passage of 5 tokens"):
        enclosing.check(token_count=5, anchor_start=3, anchor_end=4)


def test_identification_follows_from_the_kind() -> None:
    assert Kind.NOT_NFH.identification is False
    assert Kind.BROKEN.identification is None
    assert all(kind.identification for kind in Kind if kind not in {Kind.NOT_NFH, Kind.BROKEN})


def passage(text: str = "I see one .", speaker: str | None = "Ann") -> Passage:
    place = 0
    tokens = []
    for word in text.split(" "):
        tokens.append(Token(place, place + len(word), word))
        place += len(word) + 1
    return Passage(text, tuple(tokens), (Turn(0, speaker, 0, len(tokens)),))


def test_offsets_are_code_points() -> None:
    hostile = passage("\U0001d4d7 é 中 \u202eone")
    assert hostile.word(0) == "\U0001d4d7"
    assert hostile.words(1, 3) == "é 中"
    assert hostile.word(3) == "\u202eone"


@pytest.mark.parametrize(
    ("tokens", "turns", "words"),
    [
        ((Token(0, 1, "i"), Token(0, 2, "x")), (Turn(0, None, 0, 2),), "token 1"),
        ((Token(0, 99, "i"),), (Turn(0, None, 0, 1),), "token 0"),
        ((Token(0, 0, "i"),), (Turn(0, None, 0, 1),), "at least one character"),
        ((Token(0, 1, "i"),), (), "turns cover 0 of 1"),
        ((Token(0, 1, "i"),), (Turn(0, None, 0, 1), Turn(1, None, 1, 1)), "turn 1"),
        (
            (Token(0, 1, "i"), Token(2, 3, "s")),
            (Turn(4, None, 0, 1), Turn(2, None, 1, 2)),
            "fall",
        ),
    ],
)
def test_a_passage_that_does_not_fit_its_text_is_refused(
    tokens: tuple[Token, ...], turns: tuple[Turn, ...], words: str
) -> None:
    with pytest.raises(PassageError, match=words):
        Passage("I see one .", tokens, turns)


def test_identity_is_text_offsets_and_turns() -> None:
    assert passage().digest == passage().digest
    assert passage().digest != passage(speaker="Bob").digest
    assert anchor_id(passage().digest, Anchor(2, 3)) != anchor_id(
        passage().digest, Anchor(1, 3)
    )


def test_turn_of_finds_the_rank() -> None:
    tokens = tuple(Token(i * 2, i * 2 + 1, "x") for i in range(6))
    turns = (Turn(3, "a", 0, 2), Turn(7, "b", 2, 3), Turn(7, "c", 3, 6))
    ranks = [Passage("x x x x x x", tokens, turns).turn_of(i) for i in range(6)]
    assert ranks == [0, 0, 1, 2, 2, 2]


def test_an_anchor_lies_in_its_passage() -> None:
    Anchor(2, 3).check(passage())
    for wrong in (Anchor(2, 2), Anchor(-1, 1), Anchor(3, 5)):
        with pytest.raises(PassageError, match="outside a passage"):
            wrong.check(passage())
