"""The network, its losses, and the same numbers in other arithmetic."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nfh_models.domain import Kind, Relation
from nfh_models.encoder import model as encoder_model
from nfh_models.encoder import quantization
from nfh_models.encoder.features import CLASSES, pad
from nfh_models.encoder.model import (
    SHUT,
    EncoderNetwork,
    Scored,
    Tensors,
    load,
    network_of,
    read,
)
from nfh_models.encoder.settings import Candidates, EncoderSettings, Weights
from nfh_models.encoder.training import (
    Targets,
    TrainingExamples,
    add_resolution,
    difference,
    loss_of,
    resolution,
)
from nfh_models.model_files import CONFIG, PACKAGED, packaged_folder
from tests.nfh_models.encoder.handmade import (
    AGE,
    CATS,
    DOGS,
    LESSONS,
    backbone,
    featuriser,
    implicit,
    item,
    reference,
)

SETTINGS = EncoderSettings(pair=8)
FOLDERS = [packaged_folder(recipe) for recipe in PACKAGED]


def network(seed: int = 0) -> EncoderNetwork:
    own = backbone(seed)
    made = network_of(own.architecture, own.module, SETTINGS).eval()
    torch.nn.init.normal_(made.turns.weight, std=0.5)
    torch.nn.init.normal_(made.distance.weight, std=0.5)
    return made


ROWS = [featuriser().row(one.passage, one.anchor) for one in (DOGS, AGE, CATS)]


def test_alone_and_together_are_alike() -> None:
    made = network()
    together = read(made, ROWS, 0)
    for place, row in enumerate(ROWS):
        alone = read(made, [row], 0)
        assert np.allclose(alone.logits[0], together.logits[place], atol=1e-5)
        assert alone.nfh[0] == pytest.approx(together.nfh[place], abs=1e-5)
    assert [len(one) for one in together.logits] == [CLASSES + row.words for row in ROWS]


@pytest.mark.skipif(
    not quantization.has_fast_int8(), reason="this processor has no products of 8 bits"
)
@pytest.mark.parametrize("folder", FOLDERS, ids=list(PACKAGED))
def test_a_packaged_model_says_the_same_alone_and_among_others(folder: Path) -> None:
    if not (folder / CONFIG).is_file():
        pytest.skip(f"the package has no model {folder.name}")
    model = load(folder)
    ends = ("", " Please .", " He has three dogs and five cats , I think .")
    some = [
        item(f"Ann: I saw {words} yesterday . Ben: I saw [ two ] , too .{end}")
        for words in ("cats", "old cats", "many dogs", "the boys and the girls")
        for end in ends
    ]
    together = model.resolve(some)
    assert len({tuple(one.scores) for one in together if one is not None}) == len(some)
    assert [model.resolve([one])[0] for one in some] == together
    assert model.resolve(some[::-1])[::-1] == together


def test_the_anchor_cannot_be_chosen() -> None:
    found = read(network(), ROWS, 0).logits[0]
    assert found[CLASSES + 6] == np.float32(SHUT)
    assert (np.delete(found, CLASSES + 6) > SHUT).all()


def test_the_mark_turns_and_distance_are_read() -> None:
    made = network()
    own = featuriser()
    one = item("Ann: I have [ two ] , two .")
    other = item("Ann: I have two , [ two ] .")
    first, second = (read(made, [own.row(x.passage, x.anchor)], 0).nfh for x in (one, other))
    assert first[0] != pytest.approx(second[0], abs=1e-6)
    before = read(made, ROWS[:1], 0).logits[0]
    with torch.no_grad():
        made.turns.weight[3] += torch.arange(16.0)
    turned = read(made, ROWS[:1], 0).logits[0]
    assert not np.allclose(before, turned)
    with torch.no_grad():
        made.distance.weight[13 + 4] += torch.arange(8.0)
    moved = read(made, ROWS[:1], 0).logits[0]
    changed = np.flatnonzero(~np.isclose(turned, moved, atol=1e-6))
    assert changed.tolist() == [CLASSES + 1, CLASSES + 2]


def test_oracle_runs_close_the_rest() -> None:
    made = network()
    words = read(made, ROWS, 0, candidates=Candidates.REFERENCE).logits[0]
    classes = read(made, ROWS, 0, candidates=Candidates.IMPLICIT).logits[0]
    assert (words[:CLASSES] == np.float32(SHUT)).all()
    assert (classes[CLASSES:] == np.float32(SHUT)).all()
    assert words.max() > SHUT
    assert classes.max() > SHUT


def training_examples_of(
    *examples, settings: EncoderSettings = SETTINGS, soft=None
) -> TrainingExamples:
    made = TrainingExamples()
    add_resolution(made, examples, featuriser(), settings, soft)
    return made


def test_the_loss_is_marginal_over_mentions() -> None:
    """Both cats are right: what counts is the sum of their probabilities."""
    [lesson] = training_examples_of(reference(CATS, "cats")).taught
    assert len(lesson.heads) == 1
    assert len(lesson.heads[0]) == 2
    targets = Targets.of([lesson], torch.device("cpu"))
    logits = torch.zeros(1, CLASSES + lesson.row.words)
    logits[0, list(lesson.heads[0])] = 2.0
    logs = torch.log_softmax(logits, -1)
    wanted = -torch.log(logs.exp()[0, list(lesson.heads[0])].sum())
    assert resolution(logs, targets, 0.7)[0] == pytest.approx(float(wanted), abs=1e-5)


def test_the_loss_of_two_heads_is_their_mean() -> None:
    one = item("Ann: I have the dog , the cat .", "Ben: I want the [ two ] .")
    [lesson] = training_examples_of(reference(one, "dog", "cat", relation=Relation.AND)).taught
    assert len(lesson.heads) == 2
    assert (lesson.several, lesson.several_weight) == (1, 1.0)
    targets = Targets.of([lesson], torch.device("cpu"))
    logs = torch.log_softmax(torch.randn(1, CLASSES + lesson.row.words), -1)
    wanted = -sum(float(logs[0, head[0]]) for head in lesson.heads) / 2
    assert float(resolution(logs, targets, 0.7)[0]) == pytest.approx(wanted, abs=1e-5)


def test_a_teacher_shares_the_loss() -> None:
    [lesson] = training_examples_of(reference(DOGS, "dogs")).taught
    wide = CLASSES + lesson.row.words
    soft = np.full(wide, 1 / wide, np.float32)
    taught = replace(lesson, soft=soft)
    unknown = replace(taught, heads=())
    logs = torch.log_softmax(torch.randn(1, wide), -1)
    on = torch.device("cpu")
    hard, both, alone = (
        float(resolution(logs, Targets.of([one], on), 0.7)[0])
        for one in (lesson, taught, unknown)
    )
    assert both == pytest.approx(0.3 * hard + 0.7 * alone, abs=1e-5)
    even = torch.full((1, wide), -float(np.log(wide)))
    assert float(resolution(even, Targets.of([unknown], on), 0.7)[0]) == pytest.approx(
        0, abs=1e-4
    )


def test_what_is_not_said_costs_nothing() -> None:
    [lesson] = training_examples_of(implicit(AGE, Kind.AGE)).taught
    silent = replace(lesson, heads=(), several_weight=0.0)
    targets = Targets.of([silent], torch.device("cpu"))
    wide = CLASSES + lesson.row.words
    scored = Scored(torch.randn(1, wide), torch.randn(1), torch.randn(1, 3))
    assert float(loss_of(scored, targets, SETTINGS)) == 0.0
    known = replace(silent, nfh=True)
    assert float(loss_of(scored, Targets.of([known], torch.device("cpu")), SETTINGS)) > 0


def test_two_readings_differ_by_how_far_they_are_apart() -> None:
    one = Scored(torch.randn(2, 9), torch.zeros(2), torch.zeros(2, 3))
    other = replace(one, logits=torch.randn(2, 9))
    assert float(difference(one, one)) == pytest.approx(0, abs=1e-6)
    assert float(difference(one, other)) > 0
    assert float(difference(one, other)) == pytest.approx(
        float(difference(other, one)), abs=1e-6
    )


def test_eight_bits_are_near() -> None:
    values = np.random.default_rng(0).normal(size=(6, 50)).astype(np.float32)
    values[2] = 0
    whole, scales = quantization.narrowed_to_bytes(values)
    again = quantization.widened_bytes(whole, scales)
    assert whole.dtype == np.int8
    assert np.abs(again - values).max() <= scales.max() / 2 + 1e-6
    assert (again[2] == 0).all()


def test_kernels_of_eight_bits_give_about_the_same() -> None:
    made = network()
    arrays = {name: one.numpy() for name, one in made.state_dict().items()}
    packed = quantization.pack_arrays(arrays, Weights.BYTE)
    linear = made.encoder.encoder.layer[0].intermediate.dense
    values = torch.randn(10, 16)
    wanted = linear(values)
    table = made.encoder.get_input_embeddings().weight.clone()
    taken = quantization.kept_in_bytes(made, packed)
    assert "up.weight" not in taken
    assert "encoder.encoder.layer.0.intermediate.dense.bias" in taken
    assert "encoder.embeddings.position_embeddings.weight" not in taken
    found = made.encoder.encoder.layer[0].intermediate.dense(values)
    assert torch.allclose(found, wanted, atol=0.05)
    looked_up = made.encoder.get_input_embeddings()(torch.tensor([[3, 5]]))
    assert torch.allclose(looked_up[0, 1], table[5], atol=0.01)
    together = read(made, ROWS, 0)
    for place, row in enumerate(ROWS):
        assert np.allclose(read(made, [row], 0).logits[0], together.logits[place], atol=0.02)


@pytest.mark.skipif(
    not quantization.has_fast_int8(), reason="this processor has no products of 8 bits"
)
def test_products_of_the_largest_numbers_of_eight_bits_are_exact() -> None:
    """Some instructions keep two products in 16 bits, and cut off what does not fit."""
    whole = np.full((64, 256), 127, np.int8)
    whole[::2] = -127
    layer = quantization.ByteLinear(
        whole, np.ones(64, np.float32), np.full(64, 0.5, np.float32)
    )
    found = layer(torch.full((3, 256), 127.0))
    wanted = whole.astype(np.float32).sum(1) * 127 + 0.5
    assert found.tolist() == [wanted.tolist()] * 3


def test_padding_changes_nothing_in_the_network() -> None:
    made = network()
    narrow = Tensors.of(pad(ROWS[1:2], 0))
    wide = Tensors.of(pad(ROWS[:2], 0))
    alone, together = made(narrow), made(wide)
    assert torch.allclose(alone.several[0], together.several[1], atol=1e-5)


def test_scores_in_use_are_those_of_the_training() -> None:
    """Without dropout both ways of multiplying give one result."""
    made = network()
    batch = Tensors.of(pad(ROWS, 0))
    used = made(batch).logits
    for part in made.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    assert torch.allclose(made.train()(batch).logits, used, atol=1e-5)


def test_lessons_tell_what_is_lost() -> None:
    far = item("Ann: dogs " + " ".join(["the"] * 60) + " [ two ] .")
    made = TrainingExamples()
    add_resolution(made, [reference(far, "dogs"), *LESSONS], featuriser(window=20), SETTINGS)
    assert len(made.taught) == 3
    assert (made.heads, made.lost) == (4, 1)
    assert made.left_out == {"head outside the window": 1}


def test_reading_leaves_torchs_threads_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    made = network()
    seen: list[tuple[str, int]] = []
    plain = made.read

    def watched(batch: Tensors) -> torch.Tensor:
        seen.append((threading.current_thread().name, torch.get_num_threads()))
        return plain(batch)

    monkeypatch.setattr(made, "read", watched)
    monkeypatch.setattr(encoder_model, "PIECES", 1)
    here = threading.current_thread().name
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert len(read(made, ROWS, 0).logits) == 3
        assert torch.get_num_threads() == 2
        assert {count for _, count in seen} == {1}
        assert here not in {name for name, _ in seen}
        seen.clear()
        read(made, ROWS[:1], 0)
        assert torch.get_num_threads() == 2
        assert seen == [(here, 1)]
    finally:
        torch.set_num_threads(before)
