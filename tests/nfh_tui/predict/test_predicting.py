"""Numbers to predictions: identified, by a pattern or by the model, decoded, in order."""

from collections.abc import Sequence

import pytest

from nfh_models.domain import Kind
from nfh_models.parsing.base import load_parser
from nfh_models.parsing.spacy_parser import installed_pipelines
from nfh_models.resolution import recipes
from nfh_models.resolution.baselines import BE_THE_ONE, NO_ONE, NUM_OF, YOU_TWO, Pattern
from nfh_tui.services import predict as services_predict
from nfh_tui.services.predict import PredictedNumber, PredictionCounts, PredictionTools, predict
from nfh_tui.services.predict_sources import passages
from tests.nfh_tui.predict.conftest import Stub, tools
from tests.nfh_tui.predict.test_passages import stream

TEXT = (
    "Ann: Two tickets?\nBen: No, three. No one came.\n\n"
    "Are you two done?\n\nThree of the spoons are gone.\nHe is the one.\n"
)


def run(
    text: str, with_: PredictionTools, counts: PredictionCounts | None = None
) -> list[PredictedNumber]:
    found = passages(stream(text.encode()), "dialog", "given")
    return list(predict(found, with_, counts or PredictionCounts()))


def said(found: Sequence[PredictedNumber]) -> list[tuple[str, str, str | None]]:
    return [
        (
            one.numbers.passage.words(one.anchor.start, one.anchor.end),
            one.numbers.passage.word(one.answer.heads[0].mentions[0].head)
            if one.answer.kind is Kind.REFERENCE
            else one.answer.kind.value,
            one.pattern,
        )
        for one in found
    ]


def test_without_a_parser_only_words_are_patterns() -> None:
    counts = PredictionCounts()
    assert said(run(TEXT, tools(), counts)) == [
        ("Two", "NOT_NFH", None),
        ("three", "tickets", None),
        ("one", "PEOPLE", NO_ONE),
        ("two", "PEOPLE", YOU_TWO),
        ("Three", "OTHER", None),
        ("one", "spoons", None),
    ]
    assert (counts.passages, counts.numbers, counts.nfh) == (3, 6, 5)
    assert counts.kinds == {Kind.REFERENCE: 2, Kind.PEOPLE: 2, Kind.OTHER: 1}
    assert counts.patterns == {NO_ONE: 1, YOU_TWO: 1}
    assert counts.cut == 0


def test_no_patterns() -> None:
    found = run(TEXT, tools(patterns=False))
    assert [one.pattern for one in found] == [None] * 6
    assert said(found)[2] == ("one", "tickets", None)


def test_with_a_parser_the_sure_patterns_go_before_a_model_that_learnt() -> None:
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline with a parser")
    own = tools()
    parser = load_parser()
    found = run(TEXT, PredictionTools(own.identifier, own.resolver, parser))
    assert said(found)[4:] == [("Three", "spoons", NUM_OF), ("one", "spoons", None)]
    mention = found[4].answer.heads[0].mentions[0]
    assert (mention.start, mention.end, mention.head) == (2, 4, 3)  # "the spoons"
    other = tools(Stub("cues"))
    found = run(TEXT, PredictionTools(other.identifier, other.resolver, parser))
    assert said(found)[5] == ("one", "He", BE_THE_ONE)


def test_which_patterns_go_first() -> None:
    noun = Pattern(NUM_OF, Kind.REFERENCE, (3,))
    person = Pattern(NUM_OF, Kind.PEOPLE, pronoun=3)
    subject = Pattern(BE_THE_ONE, Kind.REFERENCE, (0,))
    sure = [Pattern(NO_ONE, Kind.PEOPLE), Pattern(YOU_TWO, Kind.PEOPLE), noun]
    for recipe in ("small", "encoder", "bilstm", "linear"):
        assert all(recipes.goes_first(one, recipe) for one in sure)
        assert not recipes.goes_first(person, recipe)
        assert not recipes.goes_first(subject, recipe)
    for recipe in ("cues", "nearest-noun"):
        assert all(recipes.goes_first(one, recipe) for one in (*sure, person, subject))
        assert not recipes.goes_first(Pattern(NUM_OF, None, pronoun=3), recipe)


@pytest.mark.parametrize(
    ("words", "start", "name"),
    [
        ("No one", 1, NO_ONE),
        ("one", 0, None),
        ("are YOU TWO", 2, YOU_TWO),
        ("you three", 1, None),
        ("the two", 1, None),
    ],
)
def test_patterns_of_words(words: str, start: int, name: str | None) -> None:
    found = recipes.find(words.split(), None, start, start + 1)
    assert (found.name if found else None) == name


def test_all_anchors_are_taken_where_nobody_identifies() -> None:
    found = run("Ann: Two tickets?\n", tools(identify=False))
    assert [(one.answer.kind, one.decision) for one in found] == [(Kind.OTHER, None)]


def test_what_the_model_does_not_look_at_is_counted() -> None:
    counts = PredictionCounts()
    text = "Ann: The tickets are here and I want them all. Two!\n\nNo, three.\n"
    found = run(text, tools(Stub(window=3)), counts)
    assert said(found)[0] == ("Two", "OTHER", None)
    assert counts.cut == 1


def test_passages_are_predicted_together_and_stay_in_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services_predict, "NUMBER_BATCH", 4)
    text = "".join(f"tickets {place}. And five.\n\n" for place in range(10))
    stub = Stub()
    found = run(text, tools(stub))
    assert [one.numbers.passage.word(1) for one in found[::2]] == list(map(str, range(10)))
    assert stub.asked == [4] * 5


def test_a_long_passage_is_not_scored_together_with_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services_predict, "SCORE_BATCH", 1)
    stub = Stub()
    assert len(run("I have two.\n\nAnd three.\n", tools(stub))) == 2
    assert stub.asked == [1, 1]
