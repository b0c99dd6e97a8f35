"""Lessons out of examples, what a learner tells the loop, and a training from end to end."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from nfh_models.domain import Kind, Relation, class_answer
from nfh_models.encoder.features import CLASSES
from nfh_models.encoder.settings import Candidates, EncoderSettings, settings_from
from nfh_models.encoder.training import (
    WORDS,
    DevExamples,
    Material,
    NoTrainingExamplesError,
    PreparedTraining,
    Silver,
    TrainingExamples,
    add_identification,
    add_resolution,
    add_silver,
    balanced,
    dev_examples_of,
    figures,
    key_of_case,
    key_of_item,
    prepare,
    question,
    swap_number,
    training,
)
from nfh_models.model_files import SettingError
from nfh_models.training.loop import SCORE
from tests.nfh_models.encoder.handmade import (
    AGE,
    CATS,
    DOGS,
    LESSONS,
    NUMBERS,
    backbone,
    featuriser,
    implicit,
    item,
    reference,
)

TINY = EncoderSettings(
    pair=8, epochs=2, batch=2, rate=1e-2, head_rate=1e-2, precision="fp32", averaging=0.0
)
MATERIAL = Material(LESSONS, NUMBERS, LESSONS, NUMBERS)


def lessons(*examples, settings: EncoderSettings = TINY, soft=None) -> TrainingExamples:
    made = TrainingExamples()
    add_resolution(made, examples, featuriser(), settings, soft)
    return made


# --- lessons --------------------------------------------------------------------------------


def test_every_token_of_the_noun_is_right_but_those_of_the_anchor() -> None:
    one = item("Ann: two dogs .", "Ben: the dog ? [ dog two ] .")
    [lesson] = lessons(reference(one, "dogs")).taught
    assert lesson.heads == ((CLASSES + 1, CLASSES + 4),)


def test_unknown_is_other_and_not_nfh_teaches_nothing() -> None:
    found = lessons(
        implicit(AGE, Kind.UNKNOWN), implicit(AGE, Kind.NOT_NFH), implicit(AGE, Kind.NFH)
    )
    assert [one.heads for one in found.taught] == [((5,),)]
    assert found.left_out == {"gold names no head": 2}


@pytest.mark.parametrize(
    ("relation", "target"),
    [(Relation.AND, 1), (Relation.OR, 2), (Relation.UNSTATED, None)],
)
def test_several_heads(relation: Relation, target: int | None) -> None:
    one = item("Ann: the dog , the cat .", "Ben: I want [ two ] .")
    [lesson] = lessons(reference(one, "dog", "cat", relation=relation)).taught
    assert lesson.several == target
    assert lesson.several_weight == (0 if target is None else 1)
    [single] = lessons(reference(one, "dog")).taught
    assert (single.several, single.several_weight) == (0, TINY.single)


def test_oracle_runs_leave_the_other_kind_out() -> None:
    only = EncoderSettings(candidates=Candidates.REFERENCE)
    found = lessons(*LESSONS, settings=only)
    assert [one.reference for one in found.taught] == [True, True]
    dev = dev_examples_of(featuriser(), LESSONS, candidates=Candidates.IMPLICIT)
    assert [one.example for one in dev.questions] == [LESSONS[1]]


def test_a_teachers_probabilities_are_cut_to_the_window() -> None:
    far = item("Ann: dogs " + " ".join(["the"] * 60) + " cats [ two ] .")
    whole = np.zeros(CLASSES + len(far.passage.tokens), np.float32)
    whole[0], whole[CLASSES], whole[CLASSES + 61] = 0.2, 0.5, 0.3
    made = TrainingExamples()
    add_resolution(
        made, [reference(far, "cats")], featuriser(20), TINY, {key_of_item(far): whole}
    )
    [lesson] = made.taught
    assert lesson.soft is not None
    assert len(lesson.soft) == CLASSES + lesson.row.words
    assert lesson.soft[0] == pytest.approx(0.4)
    assert lesson.soft.sum() == pytest.approx(1)


def test_silver_needs_somebody_who_says_something() -> None:
    made = TrainingExamples()
    soft = np.full(CLASSES + len(CATS.passage.tokens), 0.05, np.float32)
    silver = [
        Silver(DOGS),
        Silver(AGE, class_answer(Kind.AGE)),
        Silver(CATS),
        Silver(DOGS, nfh=True),
    ]
    add_silver(made, silver, featuriser(), TINY, {key_of_item(CATS): soft})
    assert [one.heads for one in made.taught] == [((1,),), (), ()]
    assert [one.soft is None for one in made.taught] == [True, False, True]
    assert [one.nfh for one in made.taught] == [None, None, True]
    assert sum(made.left_out.values()) == 1


def test_identification_lessons_and_silver_heads() -> None:
    made = TrainingExamples()
    case = NUMBERS[1].case
    soft = np.full(CLASSES + len(case.word_span.words), 0.1, np.float32)
    add_identification(made, NUMBERS, featuriser(), {key_of_case(case): soft})
    assert [one.nfh for one in made.taught] == [False, True, True, False]
    assert [one.soft is not None for one in made.taught] == [False, True, False, False]


def test_references_count_as_much_as_asked() -> None:
    taught = lessons(*LESSONS).taught
    found = balanced(taught, 0.4)
    share = sum(one.weight for one in found if one.reference) / sum(one.weight for one in found)
    assert share == pytest.approx(0.4)
    assert sum(one.weight for one in found) == pytest.approx(len(taught))
    assert balanced(taught, 0) == taught


def test_swapped_numbers() -> None:
    dogs, age = lessons(LESSONS[0], LESSONS[1]).taught
    others = {swap_number(dogs, featuriser(), draw).window.words[6] for draw in range(20)}
    assert others == {word for word in WORDS if word != "two"}
    changed = swap_number(dogs, featuriser(), 0)
    assert changed.heads == dogs.heads
    assert changed.row.ids != dogs.row.ids
    assert swap_number(age, featuriser(), 0) is age


# --- the learner ----------------------------------------------------------------------------


def prepared(
    settings: EncoderSettings = TINY, material: Material = MATERIAL
) -> PreparedTraining:
    return prepare(material, settings, backbone())


def test_batches_hold_each_lesson_once_and_are_the_same_again() -> None:
    learner = prepared().learner
    first = learner.batches(1)
    assert sorted(place for batch in first for place in batch) == list(range(7))
    assert learner.batches(1) == first
    assert prepared().learner.batches(1) == first
    assert any(learner.batches(epoch) != first for epoch in range(2, 6))


def test_rates_fall_by_layer() -> None:
    learner = prepared(replace_(TINY, layer_decay=0.5, rate=1e-3, head_rate=1e-2)).learner
    rates = {id(p): (g.rate, g.decay) for g in learner.groups() for p in g.parameters}
    named = {name: rates[id(p)] for name, p in learner.network.named_parameters()}
    assert len(named) == len(rates)
    assert named["up.weight"] == (1e-2, 0.01)
    assert named["mark"] == (1e-2, 0.0)
    layer = "encoder.encoder.layer.{}.attention.self.query.weight"
    assert named[layer.format(1)][0] == pytest.approx(1e-3)
    assert named[layer.format(0)][0] == pytest.approx(5e-4)
    assert named["encoder.embeddings.word_embeddings.weight"][0] == pytest.approx(2.5e-4)


def replace_(settings: EncoderSettings, **changes: object) -> EncoderSettings:
    import msgspec

    return msgspec.structs.replace(settings, **changes)


def test_the_fingerprint_tells_trainings_apart() -> None:
    own = prepared().learner.fingerprint
    assert prepared().learner.fingerprint == own
    assert prepared(replace_(TINY, seed=3)).learner.fingerprint != own
    assert (
        prepared(material=replace(MATERIAL, resolution=LESSONS[:2])).learner.fingerprint != own
    )


@pytest.mark.parametrize(
    "setting", [{}, {"rdrop": 1.0}, {"swap": 1.0}, {"reference_share": 0.4}]
)
def test_losses_can_be_learnt_from(setting: dict[str, float]) -> None:
    learner = prepared(replace_(TINY, **setting)).learner
    loss = learner.loss(tuple(range(7)), torch.device("cpu"))
    loss.backward()
    assert float(loss.detach()) > 0
    for name in ("mark", "classes", "up.weight", "nfh.0.weight", "several.2.weight"):
        gradient = dict(learner.network.named_parameters())[name].grad
        assert gradient is not None
        assert float(gradient.abs().sum()) > 0


@pytest.mark.parametrize(
    ("material", "says"),
    [
        (Material(), "nothing to learn from"),
        (Material([LESSONS[0], LESSONS[2]]), "all 2 examples have the same class"),
        (
            Material(identification=[NUMBERS[0], NUMBERS[3]]),
            "all 2 numbers have the same label",
        ),
    ],
)
def test_nothing_to_learn(material: Material, says: str) -> None:
    with pytest.raises(NoTrainingExamplesError, match=says):
        prepared(material=material)


@pytest.mark.parametrize(
    ("candidates", "given", "taught"),
    [
        (Candidates.REFERENCE, LESSONS, 2),
        (Candidates.IMPLICIT, [*LESSONS, implicit(DOGS, Kind.OTHER)], 2),
    ],
)
def test_an_oracle_run_is_trained_on_its_own_kind(
    tmp_path: Path, candidates: Candidates, given: list, taught: int
) -> None:
    settings = replace_(TINY, candidates=candidates, epochs=1)
    made = prepared(settings, Material(given, (), given))
    assert len(made.training_examples.taught) == taught
    reports = list(training(made, tmp_path))
    assert reports[-1].metrics["accuracy"] >= 0


# --- judging --------------------------------------------------------------------------------


def test_figures() -> None:
    own = featuriser()
    again = item("Ann: dogs , the dogs .", "Ben: [ two ] .")
    dev = dev_examples_of(own, [LESSONS[0], LESSONS[1], reference(again, "dogs")], NUMBERS)
    scores = [np.zeros(CLASSES + one.row.words, np.float32) for one in dev.questions]
    scores[0][CLASSES + 1] = 1
    scores[1][1] = 1
    scores[2][CLASSES + 3] = 1
    found = figures(dev, scores, [1.0, 1.0, 1.0, -1.0])
    assert found["accuracy"] == pytest.approx(1 / 3)
    assert found["accuracy_inclusive"] == pytest.approx(2 / 3)
    assert found["binary"] == 1
    assert found["implicit"] == 1
    assert found["reference"] == 0
    assert found["identification_f1"] == pytest.approx(0.8)
    assert found[SCORE] == pytest.approx((2 / 3 + 0.8) / 2)


def test_a_lost_head_is_said() -> None:
    far = item("Ann: dogs " + " ".join(["the"] * 60) + " [ two ] .")
    one = question(reference(far, "dogs"), featuriser(20))
    assert one.lost == 1
    dev = DevExamples([one])
    found = figures(dev, [np.zeros(CLASSES + one.row.words, np.float32)], [])
    assert (found["lost"], found["reference"], found["implicit"]) == (1, 0, 0)


# --- from end to end ------------------------------------------------------------------------


def run(made: PreparedTraining, folder: Path, steps: int | None = None):
    """The bundle with the outcome, or the reports of the first steps of a training that is cut
    off.
    """
    told = []
    generator = training(made, folder, on=torch.device("cpu"), checkpoint_every=1)
    try:
        while steps is None or len(told) < steps:
            told.append(next(generator))
    except StopIteration as stop:
        return SimpleNamespace(bundle=made.bundle, outcome=stop.value)
    generator.close()
    return told


@pytest.mark.long
def test_a_training_learns_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    settings = replace_(TINY, epochs=20, patience=20, dropout=0.0, rate=3e-3, head_rate=2e-2)
    whole = run(prepared(settings), tmp_path / "whole")
    assert whole.outcome.metrics["accuracy_inclusive"] == 1
    assert whole.outcome.metrics["identification_f1"] == 1
    first, last = whole.outcome.curve[0]["loss"], whole.outcome.curve[-1]["loss"]
    assert last < first
    run(prepared(settings), tmp_path / "cut", steps=9)
    again = run(prepared(settings), tmp_path / "cut")
    own, other = (one.bundle.network.state_dict() for one in (whole, again))
    assert all(torch.equal(own[name], other[name]) for name in own)


@pytest.mark.parametrize("task", ["resolution", "identification"])
def test_one_task_alone(task: str, tmp_path: Path) -> None:
    settings = settings_from([f"task={task}", "epochs=1", "pair=8", "precision=fp32"])
    made = prepared(settings)
    assert len(made.training_examples.taught) == (3 if task == "resolution" else 4)
    metrics = run(made, tmp_path).outcome.metrics
    assert ("accuracy" in metrics) == (task == "resolution")
    assert ("identification_f1" in metrics) == (task == "identification")


# --- settings -------------------------------------------------------------------------------


def test_settings_from_words() -> None:
    made = settings_from(["rate=3e-5", "task=resolution", "distance=false", "encoder=a=b"])
    assert (made.rate, made.task, made.distance, made.encoder) == (
        3e-5,
        "resolution",
        False,
        "a=b",
    )


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("rate", "wanted key=value"),
        ("colour=red", "wanted key=value, with a key of encoder"),
        ("rate=fast", "wanted the encoder's learning rate"),
        ("window=3", "wanted a number of words"),
        ("candidates=none", "wanted all, reference"),
    ],
)
def test_settings_that_are_none(word: str, says: str) -> None:
    with pytest.raises(SettingError, match=says):
        settings_from([word])


def test_every_setting_says_what_it_may_be() -> None:
    from nfh_models.encoder.settings import WANTED

    assert set(WANTED) == set(EncoderSettings.__struct_fields__)
