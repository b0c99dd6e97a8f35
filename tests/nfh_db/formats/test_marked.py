"""Answers drawn as spans and links, and read back; texts that came without tokens."""

import pytest

from nfh_db.formats.rows import LabelMap, ReadOptions
from nfh_db.formats.spans import (
    Graph,
    Link,
    MarkError,
    Spot,
    TokenizedText,
    answer_of,
    based,
    graph_of,
    numbers,
    renamed,
    translated,
)
from nfh_models.domain import Anchor, Answer, Head, Kind, Mention, Origin, Relation, Sort

TEXT = "Ann: Two tickets and a map, tickets?\nBen: No, three."


def _tokens(text: str) -> list[tuple[int, int]]:
    import re

    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


HOW = ReadOptions(tokenize=_tokens, tokenizer=lambda: "test")


def _based(*marks: tuple[int, int]) -> TokenizedText:
    return based(TEXT, marks, HOW)


def _spot(word: str, label: str, nth: int = 0) -> Spot:
    start = -1
    for _ in range(nth + 1):
        start = TEXT.index(word, start + 1)
    return Spot(start, start + len(word), label)


REFERENCE = Answer(
    Kind.REFERENCE,
    (
        Head(
            (Mention(1, 2, 1), Mention(6, 7, 6, Origin.ADDED), Mention(2, 3, 2, Origin.REMOVED))
        ),
        Head((Mention(3, 5, 4),)),
    ),
    Relation.OR,
)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        Answer(Kind.AGE),
        Answer(Kind.NFH),
        Answer(Kind.OTHER, sort=Sort.CODE),
        REFERENCE,
    ],
)
def test_what_is_drawn_is_read_as_it_was(answer: Answer | None) -> None:
    passage = _based().alignment.passage
    anchor = Anchor(10, 11)
    graph = graph_of(answer, anchor, passage.span)
    base = _based(*((spot.start, spot.end) for spot in graph.spots))
    (marked,) = numbers(translated(graph, LabelMap()))
    assert base.alignment.tokens(*marked.anchor) == (10, 11)
    assert marked.groups or len(marked.mentions) < 2
    assert answer_of(marked, base.alignment, list) == answer


def test_turns_and_speakers_come_of_lines() -> None:
    base = _based()
    assert [(t.number, t.speaker, t.start, t.end) for t in base.alignment.passage.turns] == [
        (0, "Ann", 0, 8),
        (1, "Ben", 8, 12),
    ]
    assert base.tokenizer == "test"


def test_a_mark_on_a_speakers_name_is_part_of_the_words() -> None:
    base = _based((0, 3))
    assert base.alignment.passage.turns[0].speaker is None
    assert base.alignment.passage.words[0] == "Ann"


def test_tokens_are_cut_where_a_mark_needs_it_and_counted() -> None:
    base = _based((TEXT.index("three"), TEXT.index("three") + 3))
    assert base.cut == 1
    assert base.alignment.passage.words[-3:] == ["thr", "ee", "."]
    assert base.alignment.tokens(TEXT.index("three"), TEXT.index("three") + 3) == (10, 11)


def test_marks_of_an_only_number_need_no_link_and_go_by_lemma() -> None:
    spots = (
        _spot("three", "REFERENCE"),
        _spot("tickets", "HEAD"),
        _spot("tickets", "HEAD", 1),
        _spot("map", "HEAD"),
    )
    (marked,) = numbers(translated(Graph(spots), LabelMap()))
    answer = answer_of(marked, _based().alignment, lambda words: words)
    assert answer is not None
    assert [[m.head for m in head.mentions] for head in answer.heads] == [[1, 6], [4]]
    assert answer.relation is Relation.UNSTATED


def test_a_projects_names_go_both_ways() -> None:
    labels = LabelMap({"NUM": "ANCHOR", "NOUN": "HEAD"}, {"refers": "HEAD"})
    ours = Graph((_spot("three", "ANCHOR"), _spot("map", "HEAD")), (Link(0, 1, "HEAD"),))
    theirs = renamed(ours, labels)
    assert [spot.label for spot in theirs.spots] == ["NUM", "NOUN"]
    assert theirs.links[0].label == "refers"
    assert translated(theirs, labels) == ours


@pytest.mark.parametrize(
    ("spots", "links", "message"),
    [
        ((_spot("three", "NUMERAL"),), (), 'the label "NUMERAL" is not known'),
        ((_spot("three", "AGE"), _spot("map", "HEAD")), (Link(0, 1, "of"),), 'relation "of"'),
        (
            (_spot("three", "AGE"), _spot("Two", "AGE"), _spot("map", "HEAD")),
            (),
            "is linked to no number of 2",
        ),
        ((_spot("map", "HEAD"),), (), "is linked to no number of 0"),
        (
            (_spot("three", "ANCHOR"), _spot("Two", "ANCHOR")),
            (Link(0, 1, "HEAD"),),
            "a number is linked by HEAD to the ANCHOR",
        ),
    ],
)
def test_marks_without_a_meaning_are_refused(
    spots: tuple[Spot, ...], links: tuple[Link, ...], message: str
) -> None:
    with pytest.raises(MarkError, match=message):
        numbers(translated(Graph(spots, links), LabelMap()))


def test_a_class_has_no_head_in_the_passage() -> None:
    graph = Graph((_spot("three", "AGE"), _spot("map", "HEAD")), (Link(0, 1, "HEAD"),))
    (marked,) = numbers(graph)
    with pytest.raises(MarkError, match="AGE has no head in the passage"):
        answer_of(marked, _based().alignment, list)
