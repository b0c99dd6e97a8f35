"""Learning a teacher's states of words, and the shares of classes that a model expects."""

import math
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.encoder.model import (
    PAPER,
    EncoderModel,
    ModelBundle,
    TeacherStates,
    load,
    network_of,
    probabilities,
    save,
    shift_to_paper,
)
from nfh_models.encoder.settings import EncoderSettings, Priors, Task
from nfh_models.encoder.training import (
    Material,
    StartError,
    StateTargets,
    Student,
    TrainingExample,
    key_of_item,
    prepare,
    student_of,
)
from tests.nfh_models.encoder.handmade import (
    AGE,
    CATS,
    DOGS,
    LESSONS,
    backbone,
    implicit,
    reference,
)
from tests.nfh_models.encoder.test_learning import TINY, run
from tools.small_model.distillation import teacher_output

ITEMS = [DOGS, AGE, CATS]


def teacher() -> EncoderModel:
    """Of the same shape, with other weights."""
    own = backbone(seed=5)
    settings = EncoderSettings(pair=8)
    network = network_of(own.architecture, own.module, settings).eval()
    return EncoderModel(ModelBundle(network, settings, own.architecture, own.pieces), "encoder")


def material() -> Material:
    _, seen = teacher_output(teacher(), ITEMS)
    keyed = dict(zip(map(key_of_item, ITEMS), seen, strict=True))
    return Material(LESSONS, (), LESSONS, (), states=keyed)


# --- states ---------------------------------------------------------------------------------


def test_lessons_have_the_states_of_their_own_words() -> None:
    made = prepare(material(), replace_(TINY, states=1.0), backbone())
    for lesson in made.training_examples.taught:
        assert lesson.states is not None
        assert lesson.states.shape == (lesson.row.words, 16)


def test_states_of_another_window_teach_nothing() -> None:
    given = material()
    moved = {
        key: TeacherStates(one.offset + 1, one.states) for key, one in given.states.items()
    }
    made = prepare(replace(given, states=moved), replace_(TINY, states=1.0), backbone())
    assert all(lesson.states is None for lesson in made.training_examples.taught)
    assert not isinstance(made.learner.network, Student)


@pytest.mark.long
def test_a_student_learns_to_show_what_its_teacher_does(tmp_path: Path) -> None:
    """Its states come nearer, and what is kept has no projection."""
    settings = replace_(TINY, states=1.0, batch=3, dropout=0.0, several=0.0)
    made = prepare(material(), replace_(settings, task=Task.RESOLUTION), backbone())
    lessons = made.training_examples.taught
    student = made.learner.network
    assert isinstance(student, Student)
    before = off(student, lessons, made)
    [batch] = made.learner.batches(1)
    optimizer = torch.optim.Adam(student.parameters(), 1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        made.learner.loss(batch, torch.device("cpu")).backward()
        optimizer.step()
    assert off(student, lessons, made) < 0.3 * before
    assert student.network is made.bundle.network
    save(replace(made.bundle, network=made.bundle.network.eval()), tmp_path / "model")
    assert load(tmp_path / "model").resolve([DOGS])[0] is not None


def off(student: Student, lessons: list[TrainingExample], made) -> float:
    wanted = StateTargets.of(lessons, torch.device("cpu"))
    assert wanted is not None
    from nfh_models.encoder.features import pad
    from nfh_models.encoder.model import Tensors

    student.eval()
    with torch.inference_mode():
        inputs = Tensors.of(pad([one.row for one in lessons], made.bundle.pieces.pad))
        return float(student.distance(student.network.read(inputs), wanted))


def test_a_training_with_states_goes_on_after_a_kill(tmp_path: Path) -> None:
    settings = replace_(TINY, states=0.5, epochs=3, task=Task.RESOLUTION, averaging=0.9)
    whole = run(prepare(material(), settings, backbone()), tmp_path / "whole")
    run(prepare(material(), settings, backbone()), tmp_path / "cut", steps=4)
    again = run(prepare(material(), settings, backbone()), tmp_path / "cut")
    own, other = (one.bundle.network.state_dict() for one in (whole, again))
    assert all(torch.equal(own[name], other[name]) for name in own)


def test_other_states_make_another_training() -> None:
    settings, given = replace_(TINY, states=1.0), material()
    other = {
        key: TeacherStates(one.offset, one.states * 2) for key, one in given.states.items()
    }
    one, two = (
        prepare(each, settings, backbone()).learner.fingerprint
        for each in (given, replace(given, states=other))
    )
    assert one != two


def test_each_dimension_counts_alike() -> None:
    """A dimension a hundred times as large is worth no more than another."""
    rng = np.random.default_rng(1)
    states = rng.normal(size=(40, 16)).astype(np.float16)
    states[:, 0] *= 100
    lesson = prepare(
        material(), replace_(TINY, states=1.0), backbone()
    ).training_examples.taught[0]
    many = [replace(lesson, states=states[n : n + lesson.row.words]) for n in range(30)]
    own = backbone()
    student = student_of(network_of(own.architecture, own.module, TINY), many)
    assert student is not None
    wanted = StateTargets.of(many, torch.device("cpu"))
    assert wanted is not None
    theirs = (wanted.states.float() - student.mean) / student.spread
    assert theirs.std(0).tolist() == pytest.approx([1.0] * 16, abs=0.05)


# --- shares ---------------------------------------------------------------------------------


def test_a_shift_puts_other_shares_in_place_of_those_learnt() -> None:
    examples = [reference(DOGS, "dogs")] * 3 + [implicit(AGE, Kind.AGE)]
    shift = dict(zip(IMPLICIT_KINDS, shift_to_paper(examples), strict=True))
    wanted = math.log(PAPER[Kind.AGE] / PAPER[Kind.REFERENCE]) - math.log(1 / 3)
    assert shift[Kind.AGE] == pytest.approx(wanted, abs=1e-3)
    assert shift[Kind.YEAR] == 0, "nobody knows what a network makes of what it never saw"
    assert shift_to_paper([implicit(AGE, Kind.AGE)]) == (0.0,) * 6


def test_a_shift_is_kept_and_used(tmp_path: Path) -> None:
    made = prepare(MATERIAL_, replace_(TINY, priors=Priors.PAPER), backbone()).bundle
    assert made.shift == shift_to_paper(LESSONS)
    whole = replace(made, shift=(0, 50, 0, 0, 0, 0))
    save(whole, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.bundle.shift == (0, 50, 0, 0, 0, 0)
    assert [one and one.choice for one in again.resolve(ITEMS)] == ["AGE"] * 3
    assert prepare(MATERIAL_, TINY, backbone()).bundle.shift == (0.0,) * 6


def test_a_shift_comes_before_the_temperature() -> None:
    logits = np.array([0, 1, 0, 0, 0, 0, 1.5], np.float32)
    found = probabilities(logits, 2.0, (0, 1, 0, 0, 0, 0))
    assert found[1] / found[6] == pytest.approx(math.exp(0.5 / 2))


MATERIAL_ = Material(LESSONS, (), LESSONS, ())


def replace_(settings: EncoderSettings, **changes: object) -> EncoderSettings:
    return msgspec.structs.replace(settings, **changes)


# --- going on with a model ------------------------------------------------------------------


def test_a_training_begins_with_a_model() -> None:
    own = teacher().bundle
    begun = prepare(MATERIAL_, TINY, backbone(), start=own).bundle.network
    assert all(
        torch.equal(one, own.network.state_dict()[name])
        for name, one in begun.state_dict().items()
    )


def test_a_model_of_other_sizes_cannot_be_begun_with() -> None:
    with pytest.raises(StartError, match="other sizes: size mismatch for"):
        prepare(MATERIAL_, replace_(TINY, pair=4), backbone(), start=teacher().bundle)
