"""The component with models: one that identifies and resolves, and one that resolves only."""

import os
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from nfh_models import ModelsError
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.identification.base import Decision, IdentificationRecipeError, SentenceNumber
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item, Several
from nfh_models.spacy_component import NumericFusedHeads
from nfh_models.spacy_component.component import REACH, items_of_doc
from nfh_models.spacy_component.files import IDENTIFIER, RESOLVER, LoadedModels

SIX = len(IMPLICIT_KINDS)


class Both:
    """Every number is a fused head. Its head is the last of some nouns before it; two of them
    joined by *or* are both, else OTHER."""

    recipe = "small"
    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()
    probabilities = True

    def __init__(self) -> None:
        self.asked: list[int] = []

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        return [Decision(True, "small", 1.0) for _ in cases]

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        self.asked.append(len(items))
        return [self._choice(item) for item in items]

    def _choice(self, item: Item) -> Choice:
        words = [item.passage.word(at) for at in range(len(item.passage.tokens))]
        scores: list[float | None] = [0.0] * (SIX + len(words))
        scores[5] = 0.1
        for at in range(item.anchor.start, item.anchor.end):
            scores[SIX + at] = None
        nouns = [at for at in range(item.anchor.start) if words[at] in ("dogs", "cats")]
        if not nouns:
            return Choice("OTHER", None, None, tuple(scores))
        either = float("or" in words)
        scores[SIX + nouns[0]] = 0.4
        scores[SIX + nouns[-1]] = 0.6
        several = Several(1 - either, 0.0, either)
        return Choice(str(nouns[-1]), "OTHER", 0.5, tuple(scores), several)


def with_models(resolver: object, identifier: object | None = None) -> NumericFusedHeads:
    component = NumericFusedHeads("nfh", identifier="small", resolver="small")
    component._loaded = LoadedModels(identifier or resolver, resolver, os.getpid())  # type: ignore[arg-type]
    return component


def said(doc: Doc) -> list[tuple[str, str]]:
    return [(span.text, str(span._.nfh_head)) for span in doc._.nfh]


@pytest.fixture
def blank() -> Language:
    return spacy.blank("en")


def test_neither_tagger_nor_parser_is_needed(blank: Language) -> None:
    doc = with_models(Both())(blank("I have dogs. She has three.\nNo one has 4!"))
    assert said(doc) == [("three", "dogs"), ("one", "PEOPLE"), ("4", "dogs")]
    three, one, _ = doc._.nfh
    assert (three._.nfh_rule, three._.nfh_cue, three._.is_deter_nfh) == (
        "small",
        "small",
        False,
    )
    assert (one._.nfh_cue, one._.is_deter_nfh, one._.nfh_scores) == ("no-one", True, {})


def test_base_of_the_package_resolves_beside_small(blank: Language, base: Path) -> None:
    component = NumericFusedHeads("nfh", identifier="small", resolver="base")
    component(blank("I have dogs. She has three."))
    loaded = component._loaded
    assert loaded is not None
    assert loaded.resolver is not None
    assert (loaded.identifier.recipe, loaded.resolver.recipe) == ("small", "base")
    both = NumericFusedHeads("nfh", identifier="base", resolver="base")
    with pytest.raises(ModelsError, match="trained only for resolution"):
        both(blank("She has three."))


def test_scores_are_of_tokens_and_classes_the_best_first(blank: Language) -> None:
    doc = with_models(Both())(blank("I have dogs. She has three."))
    (span,) = doc._.nfh
    assert list(span._.nfh_scores.items()) == [(doc[2], 0.6), ("OTHER", 0.1)]
    assert doc[0:2]._.nfh_scores == {}
    moved = Doc.from_docs([blank("Well,"), doc])
    assert list(moved._.nfh[0]._.nfh_scores) == [moved[4], "OTHER"]


def test_several_heads_and_how_they_belong_together(blank: Language) -> None:
    doc = with_models(Both())(blank("I want cats or dogs. Give me three."))
    (span,) = doc._.nfh
    assert sorted(head.text for head in span._.nfh_heads) == ["cats", "dogs"]
    assert span._.nfh_relation == "OR"
    assert [token._.nfh_relation for token in span] == ["OR"]
    assert doc[0]._.nfh_relation is None


def test_two_nouns_of_a_pattern_belong_together(nlp: Language) -> None:
    for joint, relation in (("and", "AND"), ("or", "OR")):
        (span,) = nlp(f"Three of the knives {joint} forks are missing.")._.nfh
        assert (len(span._.nfh_heads), span._.nfh_relation) == (2, relation)


def test_all_docs_of_a_batch_are_asked_together(blank: Language) -> None:
    model = Both()
    docs = [blank(text) for text in ("My dogs ate three.", "", "No one.", "cats: 4, 5")]
    found = [said(doc) for doc in with_models(model).pipe(docs, batch_size=4)]
    assert found == [
        [("three", "dogs")],
        [],
        [("one", "PEOPLE")],
        [("4", "cats"), ("5", "cats")],
    ]
    assert model.asked == [3]


def test_what_a_number_costs_does_not_grow_with_the_doc(blank: Language) -> None:
    piece = "I have dogs and three. " + "So it went on. " * 60
    doc = blank(piece * 20)
    spans = [(token.i, token.i + 1) for token in doc if token.text == "three"]
    items = items_of_doc(doc, spans, tagged=False)
    assert len({id(one.item.passage) for one in items}) > 3
    for one, (start, _) in zip(items, spans, strict=True):
        assert one.tokens[one.item.anchor.start] == start
        assert one.item.passage.word(one.item.anchor.start) == "three"
        assert len(one.item.passage.tokens) <= 2 * REACH + 1_001
        assert one.item.anchor.start >= min(REACH, start)
    assert said(with_models(Both())(doc)) == [("three", "dogs")] * 20


def test_turns_are_lines_behind_a_sentence_and_paragraphs(blank: Language) -> None:
    doc = blank("One.\nTwo\nlines. \n\nThree.")
    (one,) = items_of_doc(doc, [(0, 1)], tagged=False)
    turns = one.item.passage.turns
    words = [one.item.passage.words(turn.start, turn.end) for turn in turns]
    assert words == ["One.", "Two\nlines.", "Three."]
    assert {turn.speaker for turn in turns} == {None}


class Tagged(Both):
    """Resolves by parts of speech."""

    recipe = "linear"
    needs = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

    def _choice(self, item: Item) -> Choice:
        assert item.parsed is not None
        assert len(item.parsed.pos) == len(item.parsed.heads) == len(item.passage.tokens)
        assert list(item.parsed.words) == [
            item.passage.word(at) for at in range(len(item.passage.tokens))
        ]
        return super()._choice(item)


def test_a_resolver_that_needs_a_parse_gets_the_docs_own(nlp: Language) -> None:
    component = with_models(Tagged(), Both())
    assert said(component(nlp("My  dogs ate three.")))[-1] == ("three", "dogs")
    with pytest.raises(Exception, match="no dependency"):
        component(spacy.blank("en")("My dogs ate three."))


# --- folders --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder for both tasks, with weights by chance."""
    from nfh_models.encoder.model import ModelBundle, network_of, save
    from nfh_models.encoder.settings import EncoderSettings, Weights
    from tests.nfh_models.encoder.handmade import backbone

    own = backbone()
    settings = EncoderSettings(pair=8, weights=Weights.FULL)
    network = network_of(own.architecture, own.module, settings).eval()
    made = tmp_path_factory.mktemp("models") / "tiny"
    save(
        ModelBundle(network, settings, own.architecture, own.pieces, "tiny", threshold=-99.0),
        made,
    )
    return made


TEXTS = ["I have dogs. She has three.", "", "He is six, and I want two of the cats."]


def made(folder: Path) -> Language:
    language = spacy.blank("en")
    language.add_pipe("nfh", config={"identifier": str(folder), "resolver": str(folder)})
    return language


def test_a_model_that_does_both_is_loaded_and_kept_once(folder: Path, tmp_path: Path) -> None:
    language = made(folder)
    wanted = [said(doc) for doc in language.pipe(TEXTS)]
    assert [[number for number, _ in one] for one in wanted] == [["three"], [], ["six", "two"]]
    component = language.get_pipe("nfh")
    assert isinstance(component, NumericFusedHeads)
    models = component._models()
    assert models.identifier is models.resolver
    language.to_disk(tmp_path / "pipeline")
    assert (tmp_path / "pipeline" / "nfh" / IDENTIFIER / "config.json").is_file()
    assert not (tmp_path / "pipeline" / "nfh" / RESOLVER).exists()
    content = language.to_bytes()
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    try:
        again = spacy.load(tmp_path / "pipeline")
        assert [said(doc) for doc in again.pipe(TEXTS)] == wanted
        other = spacy.blank("en")
        other.add_pipe("nfh", config={"resolver": "none"})
        assert [said(doc) for doc in other.from_bytes(content).pipe(TEXTS)] == wanted
    finally:
        elsewhere.rename(folder)


def test_a_resolver_goes_with_its_pipeline(nlp: Language, folder: Path, tmp_path: Path) -> None:
    component = NumericFusedHeads("nfh", resolver=str(folder))
    wanted = said(component(nlp(TEXTS[0])))
    component.to_disk(tmp_path / "nfh")
    assert (tmp_path / "nfh" / RESOLVER / "config.json").is_file()
    content = component.to_bytes()
    sent = pickle.dumps(component)
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    try:
        for other in (
            NumericFusedHeads("nfh").from_disk(tmp_path / "nfh"),
            NumericFusedHeads("nfh").from_bytes(content),
        ):
            assert said(other(nlp(TEXTS[0]))) == wanted
    finally:
        elsewhere.rename(folder)
    assert said(pickle.loads(sent)(nlp(TEXTS[0]))) == wanted
    NumericFusedHeads("nfh").to_disk(tmp_path / "nfh")
    assert not list((tmp_path / "nfh" / RESOLVER).iterdir())


def test_two_processes(folder: Path) -> None:
    """The network has run before the fork, and runs on after it."""
    language = made(folder)
    wanted = [said(language(text)) for text in TEXTS * 2]
    docs = list(language.pipe(TEXTS * 2, n_process=2, batch_size=2))
    assert [said(doc) for doc in docs] == wanted
    assert docs[0]._.nfh[0]._.nfh_scores


def test_models_of_another_task(folder: Path, tmp_path: Path) -> None:
    import numpy as np

    from nfh_models.identification.svm import Svm, SvmSettings, save_svm

    svm = tmp_path / "svm-1"
    save_svm(Svm(SvmSettings(), ["anchor=three"], np.array([2.0]), -1.0), svm)
    for identifier in ("rules", str(svm)):
        component = NumericFusedHeads("nfh", identifier=identifier, resolver=str(svm))
        with pytest.raises(Exception, match="model of identification, not of resolution"):
            component(spacy.blank("en")("two"))
    with pytest.raises(IdentificationRecipeError):
        NumericFusedHeads("nfh", identifier="")
