"""Models that were trained apart as one, and weights in 4 bits."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from nfh_models.encoder import quantization
from nfh_models.encoder.backbone import COLUMNS_KIND, EncoderError, built
from nfh_models.encoder.model import ModelBundle, NetworkOutput, load, network_of, read, save
from nfh_models.encoder.settings import EncoderSettings, Weights
from nfh_models.encoder.training import Material, prepare, training
from nfh_models.model_files import WEIGHTS, ModelFileError
from tests.nfh_models.encoder.handmade import (
    AGE,
    ARCHITECTURE,
    CATS,
    DOGS,
    LESSONS,
    NUMBERS,
    backbone,
    item,
    pieces,
)
from tools.small_model.distillation import JoinError, between, joined

ITEMS = [DOGS, AGE, CATS, item("Ann: zoo ?", "Ben: [ 22 ] of the xylophones and dogs")]
SETTINGS = EncoderSettings(pair=8)


def member(seed: int, width: int = 16, **settings: object) -> ModelBundle:
    architecture = ARCHITECTURE | {"vocab_size": pieces().size, "hidden_size": width}
    torch.manual_seed(seed)
    own = msgspec.structs.replace(SETTINGS, **settings)
    network = network_of(architecture, built(architecture), own).eval()
    with torch.no_grad():
        for one in network.parameters():
            one.add_(0.05 * torch.randn_like(one))
    return ModelBundle(
        network, own, architecture, pieces(), "tiny", temperature=2.0, threshold=1.0
    )


def answers(whole: ModelBundle) -> NetworkOutput:
    rows = [whole.featuriser.row(one.passage, one.anchor) for one in ITEMS]
    return read(whole.network.eval(), rows, whole.pieces.pad)


def alike(one: ModelBundle, other: ModelBundle, by: float = 1e-4) -> bool:
    first, second = answers(one).logits, answers(other).logits
    return all(np.allclose(a, b, atol=by) for a, b in zip(first, second, strict=True))


def alike_in_words(wholes: list[ModelBundle]) -> list[ModelBundle]:
    """The models, all with the word table of the first."""
    tables = [one.network.encoder.get_input_embeddings().weight for one in wholes]
    for table in tables:
        table.data.copy_(tables[0].data)
    return wholes


# --- joining --------------------------------------------------------------------------------


def test_the_logits_of_one_are_the_means_of_those_of_all() -> None:
    members = alike_in_words([member(seed) for seed in range(3)])
    one = joined(members)
    assert one.architecture["model_type"] == COLUMNS_KIND
    assert (one.architecture["hidden_size"], one.settings.pair) == (48, 24)
    assert (one.temperature, one.threshold) == (1.0, 0.0)
    found, each = answers(one), [answers(whole) for whole in members]
    for place, logits in enumerate(found.logits):
        mean = np.mean([other.logits[place] for other in each], 0)
        assert np.allclose(logits, mean, atol=1e-4)
    assert np.allclose(found.nfh, np.mean([other.nfh for other in each], 0), atol=1e-4)
    logged = np.mean([np.log(other.several) for other in each], 0)
    shares = np.exp(logged) / np.exp(logged).sum(-1, keepdims=True)
    assert np.allclose(found.several, shares, atol=1e-4)


def test_without_distances() -> None:
    members = alike_in_words([member(seed, distance=False) for seed in range(2)])
    found, first, second = map(answers, (joined(members), *members))
    mean = (first.logits[0] + second.logits[0]) / 2
    assert np.allclose(found.logits[0], mean, atol=1e-4)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (member(1, 32), "hidden_size differs"),
        (member(1, window=60), "window differs"),
        (replace(member(1), architecture={"model_type": "mpnet"}), "not a BERT"),
        (replace(joined([member(1), member(2)])), "not a BERT"),
    ],
)
def test_what_does_not_fit_is_not_joined(other: ModelBundle, words: str) -> None:
    with pytest.raises(JoinError, match=words):
        joined([member(0), other])


def test_a_width_that_cannot_be_shared_out() -> None:
    architecture = dict(joined([member(0), member(1)]).architecture) | {"columns": 3}
    with pytest.raises(EncoderError, match="cannot be divided among 3"):
        built(architecture)


def test_it_is_kept_and_trained_further(tmp_path: Path) -> None:
    whole = joined([member(0), member(1)])
    save(whole, tmp_path / "m")
    again = load(tmp_path / "m")
    assert alike(whole, again.bundle, by=1e-2)
    assert again.precision == "fp32"
    settings = msgspec.structs.replace(
        whole.settings, epochs=1, batch=2, averaging=0.0, precision="fp32"
    )
    before = {name: one.clone() for name, one in whole.network.state_dict().items()}
    material = Material(LESSONS, NUMBERS, LESSONS, NUMBERS)
    prepared = prepare(material, settings, whole.backbone, start=whole)
    for _ in training(prepared, tmp_path / "work"):
        pass
    after = prepared.bundle.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    query = "encoder.columns.{}.encoder.layer.0.attention.self.query.weight"
    assert {query.format(0), query.format(1)} <= changed


def test_the_word_table_is_the_mean_of_theirs() -> None:
    members = [member(0), member(1)]
    first, second = (one.network.encoder.get_input_embeddings().weight for one in members)
    table = joined(members).network.encoder.get_input_embeddings().weight
    assert torch.allclose(table, (first + second) / 2)


def test_a_layer_learns_at_one_rate_in_all_columns() -> None:
    whole = joined([member(0), member(1)])
    settings = msgspec.structs.replace(whole.settings, layer_decay=0.5)
    material = Material(LESSONS, NUMBERS, LESSONS, NUMBERS)
    learner = prepare(material, settings, whole.backbone, start=whole).learner
    rates = {id(one): group.rate for group in learner.groups() for one in group.parameters}
    found = {
        name.removeprefix("encoder.columns."): rates[id(one)]
        for name, one in whole.backbone.module.named_parameters(prefix="encoder")
        if name.endswith("query.weight")
    }
    query = "{}.encoder.layer.{}.attention.self.query.weight"
    first, second = (
        [found[query.format(column, layer)] for column in range(2)] for layer in range(2)
    )
    assert first[0] == first[1] == 0.5 * second[0] == 0.5 * second[1]


def test_half_way_between_two_states() -> None:
    first, second = member(0), member(1)
    old = {name: one.clone() for name, one in first.network.state_dict().items()}
    new = {name: one.clone() for name, one in second.network.state_dict().items()}
    found = between(old, second).network.state_dict()
    assert all(torch.allclose(found[name], (old[name] + new[name]) / 2) for name in new)


# --- 4 bits ---------------------------------------------------------------------------------


def test_a_matrix_in_four_bits() -> None:
    values = np.random.default_rng(3).normal(size=(100, 768)).astype(np.float32)
    values[2] = 0
    pairs, scales = quantization.narrowed_to_pairs(values)
    assert (pairs.shape, scales.shape) == ((100, 384), (100, 12))
    found = quantization.widened_pairs(pairs, scales)
    error = np.square(found - values).mean() / np.square(values).mean()
    assert error < 0.0105  # by the largest number of each group alone it is 0.0116
    assert not found[2].any()
    assert np.array_equal(
        quantization.widened_pairs(*quantization.narrowed_to_pairs(found)), found
    )
    assert not quantization.fits((5, 100))


def test_numbers_too_small_for_a_scale_become_nothing() -> None:
    values = np.full((1, 64), 1e-9, np.float32)
    assert (
        np.abs(quantization.widened_pairs(*quantization.narrowed_to_pairs(values))).max()
        <= 1e-6
    )


def mixed() -> ModelBundle:
    """Two columns of 64, in 4 bits where that is done; by chance."""
    return joined([member(seed, 64, pair=128, weights=Weights.MIXED) for seed in range(2)])


def test_words_in_four_bits_are_rounded_once_and_not_learnt(tmp_path: Path) -> None:
    whole = mixed()
    settings = msgspec.structs.replace(whole.settings, epochs=1, batch=2, precision="fp32")
    before = whole.network.encoder.get_input_embeddings().weight.clone()
    material = Material(LESSONS, NUMBERS, LESSONS, NUMBERS)
    prepared = prepare(material, settings, whole.backbone, start=whole)
    for _ in training(prepared, tmp_path / "work"):
        pass
    save(prepared.bundle, tmp_path / "m")
    kept = load(tmp_path / "m", bytes_=False).bundle.network.encoder.get_input_embeddings()
    assert torch.equal(kept.weight, before)


TABLE = "encoder.words.word_embeddings.weight"
BEHIND = "encoder.columns.1.encoder.layer.0.intermediate.dense.weight"
ATTENTION = "encoder.columns.1.encoder.layer.0.attention.output.dense.weight"


def test_weights_in_four_and_eight_bits_are_kept_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = mixed()
    save(whole, tmp_path / "m")
    kept = load_file(tmp_path / "m" / WEIGHTS)
    assert (kept[TABLE].dtype, kept[TABLE].shape) == (np.uint8, (whole.pieces.size, 32))
    assert (kept[BEHIND].dtype, kept[BEHIND].shape) == (np.uint8, (32, 32))
    assert kept["up.weight"].dtype == np.int8
    assert kept["turns.weight"].dtype == np.float32
    assert kept[ATTENTION].dtype == np.float32  # too small to be worth it
    widened, stays = load(tmp_path / "m", bytes_=False).bundle, load(tmp_path / "m").bundle
    assert alike(widened, stays, by=0.2)
    assert alike(whole, widened, by=0.5)
    lookup = stays.network.encoder.get_input_embeddings()
    ids = torch.tensor([[1, 5, 9]])
    there = widened.network.encoder.get_input_embeddings()(ids)
    assert torch.allclose(lookup(ids), there, atol=1e-6)
    monkeypatch.setattr(quantization, "has_fast_int8", lambda: False)
    assert alike(load(tmp_path / "m").bundle, widened, by=0), "a slow processor widens them"


def test_scales_of_another_shape_are_refused(tmp_path: Path) -> None:
    save(mixed(), tmp_path / "m")
    path = tmp_path / "m" / WEIGHTS
    kept = load_file(path)
    name = TABLE + quantization.SCALE
    save_file(kept | {name: kept[name][1:]}, path)
    with pytest.raises(ModelFileError, match="has the shape"):
        load(tmp_path / "m")


def test_a_model_of_today_reads_its_own_encoder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(mixed(), tmp_path / "m")
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    assert load(tmp_path / "m").resolve(ITEMS)[0] is not None
    assert backbone().pieces.content == pieces().content
