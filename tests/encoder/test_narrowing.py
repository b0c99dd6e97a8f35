"""A narrow encoder out of a larger one, and words in 4 bits."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from nfh_models.encoder import four_bit, packing
from nfh_models.encoder.backbone import EncoderError, built, pretrained
from nfh_models.encoder.files import load, network_of, save
from nfh_models.encoder.model import Whole
from nfh_models.encoder.mpnet import KIND, buckets_of
from nfh_models.encoder.narrowing import Importance, Narrow, importance, narrowed
from nfh_models.encoder.reading import read
from nfh_models.encoder.settings import EncoderSettings, Task, Weights
from nfh_models.encoder.training import Material, prepare, training
from nfh_models.model_files import WEIGHTS, ModelFileError
from tests.encoder.handmade import AGE, CATS, DOGS, LESSONS, NUMBERS, WHOLE, backbone, item
from tests.encoder.test_backbone import made

ITEMS = [DOGS, AGE, CATS, item("Ann: zoo ?", "Ben: [ 22 ] of the xylophones and dogs")]
SETTINGS = EncoderSettings(pair=8)
WORDS = [*WHOLE, "dogs", "cats", "22", "zoo"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("narrow") / "tiny-mpnet", "mpnet")


def larger(folder: Path) -> Whole:
    own = pretrained(str(folder))
    torch.manual_seed(1)
    network = network_of(own.architecture, own.module, SETTINGS).eval()
    return Whole(network, SETTINGS, own.architecture, own.pieces, "tiny")


def logits(whole: Whole) -> list[np.ndarray]:
    rows = [whole.featuriser.row(one.passage, one.anchor) for one in ITEMS]
    return list(read(whole.network.eval(), rows, whole.pieces.pad).logits)


def alike(one: Whole, other: Whole, by: float = 1e-4) -> bool:
    return all(
        np.allclose(a, b, atol=by) for a, b in zip(logits(one), logits(other), strict=True)
    )


def chances(whole: Whole) -> Importance:
    layers = whole.network.encoder.encoder.layer
    return Importance(
        [torch.rand(one.attention.attn.num_attention_heads) for one in layers],
        [torch.rand(one.intermediate.dense.out_features) for one in layers],
    )


def losses(whole: Whole) -> list:
    rows = [whole.featuriser.row(one.passage, one.anchor) for one in ITEMS]
    from nfh_models.encoder.network import Tensors
    from nfh_models.encoder.rows import pad

    batch = Tensors.of(pad(rows, whole.pieces.pad))
    return [lambda: whole.network(batch).logits.clamp(min=-100).logsumexp(-1).sum()]


# --- narrow ---------------------------------------------------------------------------------


def test_with_all_heads_and_neurons_the_numbers_are_the_same(folder: Path) -> None:
    whole = larger(folder)
    words = [one.passage.word(n) for one in ITEMS for n in range(len(one.passage.tokens))]
    sizes = whole.architecture
    keep = Narrow(
        int(sizes["num_attention_heads"]),  # type: ignore[call-overload]
        int(sizes["intermediate_size"]),  # type: ignore[call-overload]
        60,
        words,
    )
    made_ = narrowed(whole, chances(whole), keep)
    assert made_.architecture["model_type"] == KIND
    assert made_.pieces.size < whole.pieces.size
    assert made_.featuriser.limit == 60
    assert alike(whole, made_)


def test_what_says_nothing_is_what_goes(folder: Path) -> None:
    whole = larger(folder)
    for layer in whole.network.encoder.encoder.layer:
        width = layer.attention.attn.attention_head_size
        with torch.no_grad():
            layer.attention.attn.o.weight[:, :width] = 0
            layer.output.dense.weight[:, 5:] = 0
    matters = importance(whole.network, losses(whole))
    assert all(float(one[0]) == 0 < float(one[1]) for one in matters.heads)
    assert all(float(one[5:].max()) == 0 < float(one[:5].min()) for one in matters.neurons)
    assert all(one.grad is None for one in whole.network.parameters())
    made_ = narrowed(whole, matters, Narrow(1, 5, 60, WORDS))
    assert made_.network.encoder.encoder.near.shape[-1] == 1
    assert alike(whole, made_)


def test_only_an_mpnet_is_made_narrow() -> None:
    own = backbone()
    network = network_of(own.architecture, own.module, SETTINGS)
    whole = Whole(network, SETTINGS, own.architecture, own.pieces)
    with pytest.raises(EncoderError, match="'bert' cannot be made narrow"):
        narrowed(whole, Importance([], []), Narrow(1, 4, 60, WORDS))


def test_a_narrow_model_is_kept_and_needs_no_transformers(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = larger(folder)
    own = narrowed(whole, chances(whole), Narrow(1, 8, 60, WORDS))
    save(own, tmp_path / "m")
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    again = load(tmp_path / "m")
    assert alike(own, again.whole, by=1e-2)
    assert again.precision == "fp32"


def test_an_architecture_that_does_not_hold(folder: Path) -> None:
    whole = larger(folder)
    own = narrowed(whole, chances(whole), Narrow(1, 8, 60, WORDS))
    for name, value in (("head_width", 0), ("num_attention_heads", "x")):
        with pytest.raises(EncoderError, match="does not hold"):
            built(dict(own.architecture) | {name: value})


def test_buckets_of_distances() -> None:
    """As Raffel et al. have them: 32 buckets, near ones alone, far ones together."""
    found = buckets_of(200, 32)
    assert found[50, 50] == 0
    assert [int(found[50, 50 - n]) for n in range(8)] == list(range(8))
    assert [int(found[50, 50 + n]) for n in range(1, 8)] == list(range(17, 24))
    assert int(found[190, 0]) == 15
    assert int(found[0, 190]) == 31
    assert found.max() == 31


# --- words in 4 bits ------------------------------------------------------------------------


def test_a_table_in_four_bits() -> None:
    values = np.random.default_rng(3).normal(size=(5, 128)).astype(np.float32)
    values[2] = 0
    pairs, scales = four_bit.narrowed(values)
    assert (pairs.shape, scales.shape) == ((5, 64), (5, 2))
    found = four_bit.widened(pairs, scales)
    largest = np.abs(values.reshape(5, 2, 64)).max(-1).repeat(64).reshape(5, 128)
    assert (np.abs(found - values) <= largest / 14 + 2e-3).all()
    assert not found[2].any()
    assert np.array_equal(four_bit.rounded(found), found)
    assert not four_bit.fits((5, 100))


def wide() -> Whole:
    """A narrow encoder of 64 dimensions, by chance."""
    own = backbone()
    architecture: dict[str, object] = {
        "model_type": KIND,
        "vocab_size": own.pieces.size,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "head_width": 8,
        "intermediate_size": 24,
        "max_position_embeddings": 64,
    }
    settings = EncoderSettings(pair=64, weights=Weights.WORDS, task=Task.BOTH)
    torch.manual_seed(4)
    network = network_of(architecture, built(architecture), settings).eval()
    return Whole(network, settings, architecture, own.pieces, "tiny")


def test_words_in_four_bits_are_kept_and_read(tmp_path: Path) -> None:
    whole = wide()
    save(whole, tmp_path / "m")
    kept = load_file(tmp_path / "m" / WEIGHTS)
    table = "encoder.embeddings.word_embeddings.weight"
    assert kept[table].dtype == np.uint8
    assert kept[table].shape == (whole.pieces.size, 32)
    assert kept["up.weight"].dtype == np.int8
    assert kept["turns.weight"].dtype == np.float32
    widened, stays = load(tmp_path / "m", bytes_=False).whole, load(tmp_path / "m").whole
    assert alike(widened, stays, by=0.1)
    assert alike(whole, widened, by=0.3)
    lookup = stays.network.encoder.get_input_embeddings()
    ids = torch.tensor([[1, 5, 9]])
    there = widened.network.encoder.get_input_embeddings()(ids)
    assert torch.allclose(lookup(ids), there, atol=1e-6)


def test_scales_of_another_shape_are_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save(wide(), tmp_path / "m")
    path = tmp_path / "m" / WEIGHTS
    kept = load_file(path)
    name = "encoder.embeddings.word_embeddings.weight" + packing.SCALE
    save_file(kept | {name: kept[name][1:]}, path)
    with pytest.raises(ModelFileError, match="has the shape"):
        load(tmp_path / "m")


def test_words_in_four_bits_are_not_learnt(tmp_path: Path) -> None:
    whole = wide()
    settings = msgspec.structs.replace(
        whole.settings, epochs=1, batch=2, averaging=0.0, precision="fp32"
    )
    before = {name: one.clone() for name, one in whole.network.state_dict().items()}
    material = Material(LESSONS, NUMBERS, LESSONS, NUMBERS)
    prepared = prepare(material, settings, whole.backbone, start=whole)
    steps = training(prepared, tmp_path)
    for _ in steps:
        pass
    after = prepared.whole.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert "encoder.embeddings.word_embeddings.weight" not in changed
    assert "encoder.encoder.near" not in changed
    assert "encoder.encoder.layer.0.attention.self.query.weight" in changed


def test_no_more_pieces_are_read_than_there_are_positions() -> None:
    whole = wide()
    shorter = replace(
        whole, architecture=dict(whole.architecture) | {"max_position_embeddings": 12}
    )
    long = item("Ann: " + "dog " * 30 + "[ two ]")
    row = shorter.featuriser.row(long.passage, long.anchor)
    assert len(row.ids) == 12
