"""Whatever is said of a number, its drawing says the same; what was kept along counts, too."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nfh_db.errors import ExportError
from nfh_db.formats.annotation_tasks import Claim, outcome
from nfh_db.formats.rows import LabelMap, RawPassage, ReadOptions
from nfh_db.formats.spans import (
    LINK_LABELS,
    SPAN_LABELS,
    Graph,
    Link,
    MarkError,
    Spot,
    TokenAlignment,
    answer_of,
    based,
    graph_of,
    numbers,
    renamed,
    translated,
)
from nfh_db.formats.stored_annotation import Restored, item_of, restored, stored
from nfh_db.records import ExportRecord, FlagMark, FlagName, Role, Vote
from nfh_models.domain import Answer, Head, Kind, Mention, Origin, Passage, Relation
from tests.nfh_db.formats.random_records import Chance, random_records

HOW = ReadOptions()
AT = "2025-01-31T12:00:00.000Z"

chances = st.integers(0, 1 << 32).map(lambda seed: Chance(Random(seed)))
drawn = st.integers(0, 1 << 32).map(lambda seed: random_records(seed, 1)[0])


def raw(passage: Passage) -> RawPassage:
    words = [passage.word(place) for place in range(len(passage.tokens))]
    starts, ends = [t.start for t in passage.tokens], [t.end for t in passage.tokens]
    return RawPassage(passage.text, words, starts, ends, passage.turns)


def answers(record: ExportRecord) -> list[Answer]:
    gold = [record.gold.answer] if record.gold else []
    return gold + [vote.answer for vote in record.votes]


def shown(answer: Answer) -> Answer:
    """What a drawing can say: no words, heads that end their mentions, the marked one first."""
    heads = []
    for head in answer.heads:
        mentions = [Mention(m.start, m.end, m.end - 1, m.origin) for m in head.mentions]
        first = next((m for m in mentions if m.origin is Origin.MARKED), mentions[0])
        heads.append(Head((first, *(m for m in mentions if m is not first))))
    return Answer(answer.kind, tuple(heads), answer.relation, answer.sort)


def drawing(record: ExportRecord, answer: Answer | None) -> Graph:
    return graph_of(answer, record.anchor, raw(record.passage).span)


def shuffled(graph: Graph, random: Random) -> Graph:
    """The graph in another order, and its links drawn either way."""
    order = list(range(len(graph.spots)))
    random.shuffle(order)
    place = {old: new for new, old in enumerate(order)}
    links = [
        Link(*random.sample((place[k.source], place[k.target]), 2), k.label)
        for k in graph.links
    ]
    random.shuffle(links)
    return Graph(tuple(graph.spots[old] for old in order), tuple(links))


def unordered(answer: Answer | None) -> object:
    """An answer in which the order of heads and mentions is none."""
    if answer is None:
        return None
    heads = sorted(tuple(sorted(head.mentions)) for head in answer.heads)
    return answer.kind, heads, answer.relation, answer.sort


@given(drawn)
def test_a_drawing_says_what_the_answer_says(record: ExportRecord) -> None:
    alignment = TokenAlignment(raw(record.passage))
    for answer in map(shown, answers(record)):
        (marked,) = numbers(translated(drawing(record, answer), LabelMap()))
        assert alignment.tokens(*marked.anchor) == (record.anchor.start, record.anchor.end)
        assert answer_of(marked, alignment, list) == answer


@given(drawn, st.randoms(use_true_random=False))
def test_in_whatever_order_it_is_drawn(record: ExportRecord, random: Random) -> None:
    alignment = TokenAlignment(raw(record.passage))
    for answer in map(shown, answers(record)):
        graph = shuffled(drawing(record, answer), random)
        (marked,) = numbers(graph)
        assert unordered(answer_of(marked, alignment, list)) == unordered(answer)


@given(chances)
def test_several_numbers_in_one_drawing_are_kept_apart(chance: Chance) -> None:
    passage = chance.passage()
    records = chance.of(passage)
    spots, links, want = list[Spot](), list[Link](), list[Answer]()
    for record in records:
        for answer in map(shown, answers(record)[:1]):
            graph, shift = drawing(record, answer), len(spots)
            spots += graph.spots
            links += [Link(k.source + shift, k.target + shift, k.label) for k in graph.links]
            want.append(answer)
    alignment = TokenAlignment(raw(passage))
    found = numbers(Graph(tuple(spots), tuple(links)))
    assert [answer_of(marked, alignment, list) for marked in found] == want


@given(drawn, st.permutations(SPAN_LABELS), st.permutations(LINK_LABELS))
def test_names_of_a_project_are_told_apart_or_refused(
    record: ExportRecord, spans: Sequence[str], links: Sequence[str]
) -> None:
    some = slice(0, 5)
    labels = LabelMap(
        dict(zip(SPAN_LABELS[some], spans[some], strict=True)),
        dict(zip(LINK_LABELS[some], links[some], strict=True)),
    )
    for answer in (None, *answers(record)):
        graph = drawing(record, answer)
        try:
            theirs = renamed(graph, labels)
        except ExportError as error:
            assert "give" in str(error)
        else:
            assert translated(theirs, labels) == graph


# --- what is kept along ---------------------------------------------------------------------


def carried(record: ExportRecord, *, offsets: bool = True) -> Restored:
    """What comes back of a record's object, by way of JSON."""
    text = msgspec.json.encode(stored(record, offsets=offsets))
    pairs = None if offsets else [(t.start, t.end) for t in record.passage.tokens]
    return restored(item_of(msgspec.json.decode(text)), record.passage.text, pairs)


@given(drawn, st.booleans())
def test_what_is_kept_comes_back(record: ExportRecord, offsets: bool) -> None:
    kept = carried(record, offsets=offsets)
    have, want = kept.passage, raw(record.passage)
    assert (have.text, [*have.starts], [*have.ends]) == (want.text, want.starts, want.ends)
    assert (have.turns, [*have.words]) == (want.turns, want.words)
    assert [t.begin for t in kept.passage.turns] == [t.begin for t in record.passage.turns]
    assert (kept.anchor, kept.split) == (record.anchor, record.split)
    assert (kept.votes, kept.flags) == (record.votes, record.flags)
    assert kept.gold == record.gold


@given(drawn, st.randoms(use_true_random=False))
def test_marks_that_nobody_changed_bring_back_what_was_kept(
    record: ExportRecord, random: Random
) -> None:
    kept, alignment = carried(record), TokenAlignment(raw(record.passage))
    for vote in record.votes:
        graph = shuffled(drawing(record, vote.answer), random)
        (marked,) = numbers(graph)
        claim = Claim(vote.annotator, role=vote.role, noun=vote.answer.noun or "")
        found = outcome(claim, marked, graph, alignment, HOW, kept)
        assert (found.votes, found.changed) == ((vote,), False)
    if record.gold:
        graph = shuffled(drawing(record, record.gold.answer), random)
        (marked,) = numbers(graph)
        found = outcome(Claim(None), marked, graph, alignment, HOW, kept)
        assert (found.gold, found.changed) == (record.gold, False)


@given(drawn)
@settings(max_examples=60)
def test_marks_that_somebody_changed_win(record: ExportRecord) -> None:
    kept, alignment = carried(record), TokenAlignment(raw(record.passage))
    for vote in record.votes:
        new = Kind.AGE if vote.answer.kind is not Kind.AGE else Kind.TIME
        graph = drawing(record, Answer(new))
        (marked,) = numbers(graph)
        claim = Claim(vote.annotator, role=vote.role, at=AT)
        found = outcome(claim, marked, graph, alignment, HOW, kept)
        noun, comment = vote.answer.noun, vote.answer.comment
        want = replace(vote, answer=Answer(new, noun=noun, comment=comment), answered_at=AT)
        assert (found.votes, found.changed) == ((want,), True)


@given(drawn)
@settings(max_examples=60)
def test_tokens_cut_in_two_take_along_what_was_kept(record: ExportRecord) -> None:
    passage = record.passage
    pairs = [(token.start, token.end) for token in passage.tokens]
    long = [pair for pair in pairs if pair[1] > pair[0] + 1]
    marks = [(start, start + 1) for start, _ in long]
    base = based(passage.text, marks, HOW, pairs, passage.turns)
    assert base.cut == len(long)
    for vote in record.votes:
        graph = drawing(record, vote.answer)
        (marked,) = numbers(graph)
        claim = Claim(vote.annotator, role=vote.role)
        found = outcome(claim, marked, graph, base.alignment, HOW, carried(record))
        (new,) = found.votes
        assert not found.changed
        assert _characters(new, base.alignment.passage) == _characters(vote, raw(passage))


def _characters(vote: Vote, passage: RawPassage) -> list[tuple[int, int, int]]:
    return [
        (passage.starts[m.start], passage.ends[m.end - 1], passage.ends[m.head])
        for m in vote.answer.mentions()
    ]


@given(drawn, st.data())
@settings(max_examples=60)
def test_what_was_kept_of_another_text_is_refused(
    record: ExportRecord, data: st.DataObject
) -> None:
    item = stored(record)
    text = record.passage.text
    place = data.draw(st.integers(0, len(text)))
    with pytest.raises(MarkError, match="changed since it was exported"):
        restored(item, f"{text[:place]}X{text[place:]}")


ONE = Chance(Random(5)).passage()


@pytest.mark.parametrize("key", ["votes", "gold", "flags", "turns", "anchor", "offsets", "id"])
@pytest.mark.parametrize("bad", [None, 7, "x", [1], [[1, "x"]], {"a": 1}, [[10**30] * 6]])
def test_objects_of_another_shape_are_refused(key: str, bad: object) -> None:
    record = next(r for r in random_records(1, 60) if r.votes and r.gold and r.flags)
    value = msgspec.to_builtins(stored(record))
    if bad is None and key == "gold":
        pytest.skip("no gold is a good value")
    with pytest.raises(MarkError, match="key "):
        restored(item_of(value | {key: bad}), record.passage.text)


# --- flags, and what nobody can mean --------------------------------------------------------


def test_who_answers_what_was_refused_has_not_refused_it() -> None:
    base = random_records(3, 1)[0]
    flags = tuple(FlagMark(name, "ann", AT) for name in FlagName)
    record = replace(base, votes=(), flags=flags, gold=None)
    kept, alignment = carried(record), TokenAlignment(raw(base.passage))
    graph = drawing(record, Answer(Kind.AGE))
    (marked,) = numbers(graph)
    found = outcome(Claim("ann", at=AT), marked, graph, alignment, HOW, kept)
    assert [flag.name for flag in found.flags] == ["anchor", "ambiguous", "guideline"]
    assert found.votes[0].role is Role.ANNOTATOR


def _two(first: str, second: str) -> tuple[Spot, ...]:
    return (Spot(0, 1, first), Spot(2, 3, "HEAD"), Spot(4, 5, second))


@pytest.mark.parametrize(
    ("spots", "links", "message"),
    [
        (_two("AGE", "HEAD"), ((0, 1, "HEAD"), (0, 1, "REMOVED")), "both HEAD and REMOVED"),
        (_two("AGE", "HEAD"), ((0, 1, "HEAD"), (1, 2, "HEAD")), "wanted a number at one end"),
        (_two("AGE", "HEAD"), ((0, 1, "HEAD"),), "4 to 5, HEAD, is linked to no number"),
        (_two("AGE", "AGE"), ((0, 2, "HEAD_AND"),), "linked by HEAD_AND to the AGE"),
        (
            (*_two("AGE", "HEAD"), Spot(6, 7, "AGE")),
            ((0, 1, "HEAD"), (3, 2, "HEAD"), (1, 2, "SAME")),
            "SAME joins heads of different numbers",
        ),
    ],
)
def test_links_that_say_two_things_are_refused(
    spots: tuple[Spot, ...], links: tuple[tuple[int, int, str], ...], message: str
) -> None:
    with pytest.raises(MarkError, match=message):
        numbers(Graph(spots, tuple(Link(*link) for link in links)))


def test_a_mention_may_hang_on_another_one() -> None:
    graph = Graph(
        (*_two("ANCHOR", "HEAD"), Spot(6, 7, "HEAD")),
        (Link(0, 1, "HEAD"), Link(2, 1, "SAME"), Link(2, 3, "OR")),
    )
    (marked,) = numbers(graph)
    assert len(marked.mentions) == 3
    assert marked.groups == ((0, 1), (2,))
    assert marked.relation is Relation.OR


def test_a_hundred_thousand_links_are_read_at_once() -> None:
    count = 30_000
    spots = [Spot(i, i + 1, "AGE" if i % 2 else "HEAD") for i in range(2 * count)]
    links = [Link(2 * i + 1, 2 * i, "HEAD") for i in range(count)]
    assert len(numbers(Graph(tuple(spots), tuple(links)))) == count
    chain = [Link(i, i + 1, "SAME") for i in range(1, count)]
    one = [Spot(0, 1, "ANCHOR")] + [Spot(i, i + 1, "HEAD") for i in range(1, count + 1)]
    (marked,) = numbers(Graph(tuple(one), (Link(0, 1, "HEAD"), *chain)))
    assert marked.groups == (tuple(range(count)),)
