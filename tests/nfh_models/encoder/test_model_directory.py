"""A model as a resolver, as an identifier, and as a directory."""

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from nfh_models.encoder import load_encoder
from nfh_models.encoder.model import (
    NOTICE,
    SHUT,
    TOKENIZER,
    EncoderModel,
    ModelBundle,
    TaskError,
    load,
    network_of,
    probabilities,
    read,
    save,
)
from nfh_models.encoder.settings import Candidates, EncoderSettings, Task, Weights
from nfh_models.model_files import CONFIG, METRICS, VOCABULARY, WEIGHTS, ModelFileError
from nfh_models.resolution.recipes import load_resolver
from tests.nfh_models.encoder.handmade import AGE, CATS, DOGS, NUMBERS, backbone, item
from tools.small_model.distillation import soft_targets, teacher_output

ITEMS = [DOGS, AGE, CATS]
CASES = [one.case for one in NUMBERS]


def whole(**changes: object) -> ModelBundle:
    settings = EncoderSettings(pair=8, weights=Weights.FULL, **changes)
    own = backbone()
    made = network_of(own.architecture, own.module, settings).eval()
    return ModelBundle(made, settings, own.architecture, own.pieces, "tiny", 1.5, 0.25)


def model(**changes: object) -> EncoderModel:
    return EncoderModel(whole(**changes), "encoder")


def saved(folder: Path, weights: Weights = Weights.FULL) -> Path:
    from dataclasses import replace

    made = whole()
    settings = msgspec.structs.replace(made.settings, weights=weights)
    save(replace(made, settings=settings), folder, metrics={"n": 3}, card="card", notice="free")
    return folder


# --- answers --------------------------------------------------------------------------------


def test_choices() -> None:
    made = model()
    found = made.resolve(ITEMS)
    for one, choice in zip(ITEMS, found, strict=True):
        assert choice is not None
        tokens = len(one.passage.tokens)
        assert len(choice.scores) == 6 + tokens
        closed = [place for place, score in enumerate(choice.scores) if score is None]
        assert closed == [6 + place for place in range(one.anchor.start, one.anchor.end)]
        known = [score for score in choice.scores if score is not None]
        assert sum(known) == pytest.approx(1, abs=1e-5)
        ranked = sorted(known, reverse=True)
        assert choice.margin == pytest.approx(ranked[0] - ranked[1], abs=1e-6)
        several = choice.several
        assert several is not None
        assert several.one + several.both + several.either == pytest.approx(1, abs=1e-5)
        assert choice.nfh is not None
        assert 0 < choice.nfh < 1
    assert made.probabilities
    assert made.needs == made.uses == frozenset()


def test_a_token_is_named_by_its_place_in_the_passage() -> None:
    import torch

    made = model(window=20)
    far = item("Ann: " + " ".join(["the"] * 60) + " dogs [ two ] .")
    row = made.bundle.featuriser.row(far.passage, far.anchor)
    assert row.offset > 0
    with torch.no_grad():
        made.bundle.network.out.weight.zero_()
        made.bundle.network.distance.weight.zero_()  # type: ignore[union-attr]
        made.bundle.network.distance.weight[13 + 1] = 9.0  # type: ignore[union-attr]
        made.bundle.network.out.weight.fill_(1.0)
    [choice] = made.resolve([far])
    assert choice is not None
    assert choice.choice == "60"
    assert choice.scores[6] is None
    assert choice.scores[6 + 60] == max(s for s in choice.scores if s is not None)


def test_decisions() -> None:
    made = model()
    logits = read(
        made.bundle.network, [made.bundle.featuriser.case_row(one) for one in CASES], 0
    ).nfh
    found = made.decide(CASES)
    assert [one.score for one in found] == pytest.approx((logits - 0.25).tolist())
    assert [one.nfh for one in found] == [score > 0.25 for score in logits]
    assert {one.rule for one in found} == {"encoder"}


def test_nothing_asked_nothing_said() -> None:
    made = model()
    assert made.resolve([]) == []
    assert made.decide([]) == []


def test_many_are_answered_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    from nfh_models.encoder import model as module

    made = model()
    at_once = made.resolve(ITEMS)
    monkeypatch.setattr(module, "AT_ONCE", 2)
    apart = made.resolve(ITEMS)
    assert [one and one.choice for one in at_once] == [one and one.choice for one in apart]


@pytest.mark.parametrize(
    ("task", "ask"),
    [
        (Task.IDENTIFICATION, lambda made: made.resolve(ITEMS)),
        (Task.RESOLUTION, lambda made: made.decide(CASES)),
    ],
)
def test_a_model_of_one_task_refuses_the_other(task: Task, ask) -> None:
    with pytest.raises(TaskError, match=f"trained only for {task}, and cannot"):
        ask(model(task=task))


def test_an_anchor_of_every_token_has_a_class_or_nothing() -> None:
    all_of_it = item("Ann: [ two two ]")
    [choice] = model().resolve([all_of_it])
    assert choice is not None
    assert not choice.choice.isdigit()
    assert model(candidates=Candidates.REFERENCE).resolve([all_of_it]) == [None]


def test_temperature_flattens() -> None:
    logits = np.array([2.0, 1.0, SHUT, -200.0, SHUT, SHUT], np.float32)
    cold, warm = probabilities(logits, 1.0), probabilities(logits, 4.0)
    assert cold[0] > warm[0] > warm[1] > cold[1]
    assert cold[2] == warm[2] == 0
    assert cold[3] > 0


def test_what_a_teacher_says_and_shows() -> None:
    made = model()
    said, seen = teacher_output(made, ITEMS)
    for one, also, asked in zip(said, soft_targets(made, ITEMS), ITEMS, strict=True):
        assert np.allclose(one, also, atol=1e-5)
        assert len(one) == 6 + len(asked.passage.tokens)
    assert [one.states.shape[0] for one in seen] == [len(one.passage.tokens) for one in ITEMS]
    assert seen[0].states.std() > 0
    with pytest.raises(ValueError, match="probabilities"):
        soft_targets(load_resolver("nearest-noun"), ITEMS)


# --- directories ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "off"), [(Weights.FULL, 1e-6), (Weights.HALF, 2e-3), (Weights.BYTE, 0.1)]
)
def test_saved_and_loaded(tmp_path: Path, weights: Weights, off: float) -> None:
    folder = saved(tmp_path / "m", weights)
    assert {path.name for path in folder.iterdir()} == {
        CONFIG, WEIGHTS, METRICS, TOKENIZER, NOTICE, "card.md",
    }  # fmt: skip
    again = load_encoder(folder)
    assert (again.bundle.temperature, again.bundle.threshold) == (1.5, 0.25)
    for one, other in zip(model().resolve(ITEMS), again.resolve(ITEMS), strict=True):
        assert one is not None
        assert other is not None
        first = [score or 0 for score in one.scores]
        assert [score or 0 for score in other.scores] == pytest.approx(first, abs=off)
    scores = [one.score for one in model().decide(CASES)]
    assert [one.score for one in again.decide(CASES)] == pytest.approx(scores, abs=off)


def test_eight_bits_widened_or_not(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m", Weights.BYTE)
    kept = load_file(folder / WEIGHTS)
    assert kept["up.weight"].dtype == np.int8
    assert kept["up.bias"].dtype == np.float32
    wide, narrow = load(folder, bytes_=False), load(folder)
    assert wide.bundle.network.up.weight.dtype.is_floating_point
    first = [one.score for one in wide.decide(CASES)]
    assert [one.score for one in narrow.decide(CASES)] == pytest.approx(first, abs=0.1)


def test_a_folders_path_is_not_kept(tmp_path: Path) -> None:
    from dataclasses import replace

    made = whole()
    settings = msgspec.structs.replace(made.settings, encoder="/home/me/encoder")
    save(replace(made, settings=settings), tmp_path / "m")
    assert "/home/me" not in (tmp_path / "m" / CONFIG).read_text()


def edited(folder: Path, *keys: str, value: object) -> None:
    path = folder / CONFIG
    config = json.loads(path.read_text())
    inner = config
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    path.write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("keys", "value", "says"),
    [
        (("colour",), 1, "colour"),
        (("settings", "colour"), 1, "colour"),
        (("settings", "training", "colour"), 1, "colour"),
        (("settings", "temperature"), 0, "temperature"),
        (("settings", "training", "pair"), 12, "has the shape"),
        (("settings", "training", "distance"), False, "unknown array: distance"),
        (("settings", "training", "weights"), "8bit", "lacks the array"),
        (("settings", "architecture", "hidden_size"), 32, "has the shape"),
        (("settings", "architecture", "num_hidden_layers"), 3, "and 15 more. Train"),
        (("settings", "architecture", "hidden_size"), "wide", "hidden_size"),
        (("settings", "architecture", "vocab_size"), 20, "has the shape"),
        (("settings", "architecture", "num_attention_heads"), 0, "num_attention_heads"),
        (("settings", "architecture", "model_type"), "no such", "no such"),
        (("settings", "specials", "cls"), "<s>", "no piece"),
        (("settings", "specials", "pad"), "dog", "the piece 'dog' is a word"),
        (("settings", "tokenizer"), "0" * 64, "not the one that the model was trained with"),
        (("task",), "resolution", "says the task 'resolution', and was trained for 'both'"),
        (("settings", "training", "task"), "resolution", "and was trained for 'resolution'"),
        (("format_version",), 99, "newer nfh-tui"),
        (("recipe",), "svm", "not of 'encoder'"),
    ],
)
def test_a_config_that_does_not_fit(
    tmp_path: Path, keys: tuple[str, ...], value: object, says: str
) -> None:
    folder = saved(tmp_path / "m")
    edited(folder, *keys, value=value)
    with pytest.raises(ModelFileError, match=says):
        load(folder)


@pytest.mark.parametrize("name", [CONFIG, WEIGHTS, TOKENIZER])
@pytest.mark.parametrize("how", ["missing", "cut", "empty", "garbage"])
def test_a_file_that_does_not_hold(tmp_path: Path, name: str, how: str) -> None:
    folder = saved(tmp_path / "m")
    path = folder / name
    content = path.read_bytes()
    path.unlink()
    if how != "missing":
        path.write_bytes({"cut": content[:-9], "empty": b"", "garbage": b"\xff" * 40}[how])
    with pytest.raises(ModelFileError, match=name):
        load(folder)


def test_weights_that_are_no_numbers(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    arrays = load_file(folder / WEIGHTS)
    arrays["mark"] = np.full_like(arrays["mark"], np.nan)
    save_file(arrays, folder / WEIGHTS)
    with pytest.raises(ModelFileError, match="not a finite number"):
        load(folder)


def test_a_tokenizer_of_another_encoder(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    content = json.loads((folder / TOKENIZER).read_text())
    content["model"]["vocab"]["zebra"] = 9_999
    (folder / TOKENIZER).write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="not the one that the model was trained with"):
        load(folder)
    edited(folder, "settings", "tokenizer", value=None)  # as older models have it
    with pytest.raises(ModelFileError, match="10,000 pieces"):
        load(folder)


def test_a_tokenizer_with_its_pieces_in_another_order(tmp_path: Path) -> None:
    folder = saved(tmp_path / "m")
    content = json.loads((folder / TOKENIZER).read_text())
    numbers = content["model"]["vocab"]
    numbers["dog"], numbers["cat"] = numbers["cat"], numbers["dog"]
    (folder / TOKENIZER).write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="not the one that the model was trained with"):
        load(folder)
    made = hashlib.sha256((saved(tmp_path / "n") / TOKENIZER).read_bytes()).hexdigest()
    assert json.loads((folder / CONFIG).read_text())["settings"]["tokenizer"] == made


def test_no_vocabulary_is_written(tmp_path: Path) -> None:
    assert not (saved(tmp_path / "m") / VOCABULARY).exists()
    shutil.rmtree(tmp_path / "m")


# --- pruning --------------------------------------------------------------------------------
