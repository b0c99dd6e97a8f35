"""The resolver, and its model directory."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nfh_models.domain import IMPLICIT_KINDS, Anchor
from nfh_models.model_files import ModelFileError
from nfh_models.resolution.base import Item
from nfh_models.resolution.bilstm import (
    CLASSES,
    TABLE,
    batches_by_size,
    learner_of,
    load_bilstm,
    make_model,
    save_bilstm,
)
from nfh_models.resolution.recipes import load_folder

from .handmade import examples, item_of, passage_of, settings, vectors


@pytest.fixture(scope="module")
def model():
    learner = learner_of(examples(), examples(), settings(), vectors(examples()))
    return make_model(learner)


@pytest.fixture
def folder(model, tmp_path):
    save_bilstm(model, tmp_path / "model", created_at="2026-01-01", metrics={"accuracy": 0.5})
    return tmp_path / "model"


def test_choice(model):
    item = item_of("She took *twenty two* of them .")
    (choice,) = model.resolve([item])
    scores = choice.scores
    assert len(scores) == CLASSES + 7
    assert [place - CLASSES for place, one in enumerate(scores) if one is None] == [2, 3]
    said = [one for one in scores if one is not None]
    assert sum(said) == pytest.approx(1.0)
    names = [kind.value for kind in IMPLICIT_KINDS] + [str(number) for number in range(7)]
    ranked = sorted(
        (one for one in zip(scores, names, strict=True) if one[0] is not None), reverse=True
    )
    assert (choice.choice, choice.second) == (ranked[0][1], ranked[1][1])
    assert choice.margin == pytest.approx(ranked[0][0] - ranked[1][0])


def test_an_anchor_of_every_token_leaves_the_classes(model):
    (choice,) = model.resolve([item_of("*twenty two*")])
    assert choice.choice in {kind.value for kind in IMPLICIT_KINDS}
    assert choice.scores[CLASSES:] == (None, None)
    assert sum(choice.scores[:CLASSES]) == pytest.approx(1.0)


def test_long_passages_and_many_items(model):
    words = [f"word{number % 90}" for number in range(1_300)]
    long = Item(passage_of(words), Anchor(1_299, 1_300))
    items = [long, *(example.item for example in examples()), long]
    choices = model.resolve(items)
    assert choices[0] == choices[-1]
    assert [len(choice.scores) for choice in choices] == [
        CLASSES + len(item.passage.tokens) for item in items
    ]
    assert choices[0].scores[CLASSES] is None
    assert choices[0].scores[CLASSES + 299] is not None
    assert model.resolve([]) == []


def test_words_of_any_kind(model):
    items = [item_of("\U0001f600 \ud800 *\u0661* " + "x" * 5_000), item_of("*7*")]
    for choice in model.resolve(items):
        assert choice is not None


def test_batches_hold_so_many_words_at_most():
    groups = batches_by_size([3_000, 5, 3_000, 6, 9_000] + [4] * 70)
    assert sorted(place for group in groups for place in group) == list(range(75))
    assert [len(group) for group in groups] == [64, 8, 2, 1]


def test_round_trip(model, folder):
    items = [example.item for example in examples()]
    for loaded in (load_bilstm(folder), load_folder(folder)):
        assert loaded.version == model.version
        assert loaded.resolve(items) == model.resolve(items)
        assert loaded.needs == frozenset()
        assert loaded.probabilities


def test_config_says_what_it_is(folder):
    config = json.loads((folder / "config.json").read_text())
    assert (config["task"], config["recipe"], config["parser"]) == (
        "resolution",
        "bilstm",
        None,
    )
    said = config["settings"]
    assert (said["preset"], said["state"], said["width"]) == ("paper", 6, 5)
    assert said["vectors"] == "file:tiny.txt"


def changed(folder, key, value):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    within = config if key in config else config["settings"]
    within[key] = value
    path.write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("colour", "red", "unknown field `colour`"),
        ("state", 7, "has the shape"),
        ("width", 4, "has the shape"),
        ("alphabet", "abc", "has the shape"),
        ("alphabet", "aa", "a character occurs twice"),
        ("state", 0, "state"),
        ("preset", "big", "preset"),
        ("format_version", 2, "of a newer nfh-tui"),
        ("recipe", "svm", "is a model of 'svm'"),
    ],
)
def test_config_that_does_not_fit_is_a_sentence(folder, key, value, said):
    changed(folder, key, value)
    with pytest.raises(ModelFileError, match=said):
        load_bilstm(folder)


@pytest.mark.parametrize("name", ["config.json", "weights.safetensors", "vocabulary.json"])
def test_cut_short_or_missing_files_are_sentences(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ModelFileError, match=f"{name} is damaged"):
        load_bilstm(folder)
    path.unlink()
    with pytest.raises(ModelFileError, match=f"{name} is missing"):
        load_bilstm(folder)


def test_weights_of_another_shape_or_kind_are_sentences(folder):
    path = folder / "weights.safetensors"
    arrays = load_file(path)
    save_file({**arrays, TABLE: arrays[TABLE][:-1].copy()}, path)
    with pytest.raises(ModelFileError, match="vectors has the shape"):
        load_bilstm(folder)
    save_file({**arrays, TABLE: arrays[TABLE].astype(np.float32)}, path)
    with pytest.raises(ModelFileError, match="of type float32, wanted float16"):
        load_bilstm(folder)
    save_file({name: one for name, one in arrays.items() if name != TABLE}, path)
    with pytest.raises(ModelFileError, match="lacks the array"):
        load_bilstm(folder)


def test_settings_and_vectors_load_no_framework():
    code = (
        "import sys, nfh_models.resolution.bilstm_settings, "
        "nfh_models.resolution.word_vectors;"
        "print([name for name in ('torch', 'spacy', 'tokenizers') if name in "
        "sys.modules])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "[]"
