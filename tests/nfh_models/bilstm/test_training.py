"""The learner: its first weights, its loss, and that it learns what it is shown."""

from dataclasses import replace

import pytest
import torch

from nfh_models.domain import Kind, Mention, Relation, class_answer, reference_answer
from nfh_models.resolution.bilstm import CLASSES, NoExamplesError, learner_of, make_model
from nfh_models.resolution.bilstm_settings import plan_of
from nfh_models.training.loop import SCORE, train

from .handmade import SENTENCES, example_of, examples, settings, vectors

CPU = torch.device("cpu")


def learner(*given, train_examples=None, dev_examples=None):
    learnt = examples() if train_examples is None else train_examples
    dev = examples() if dev_examples is None else dev_examples
    return learner_of(learnt, dev, settings(*given), vectors(examples()))


def run(one, folder):
    running = train(one, plan_of(one.settings), folder, CPU)
    while True:
        try:
            next(running)
        except StopIteration as end:
            return end.value


@pytest.mark.long
def test_learns_what_it_is_shown(tmp_path):
    one = learner("epochs=60", "patience=60", "drop_tokens=0", "drop_states=0")
    outcome = run(one, tmp_path)
    assert outcome.metrics["accuracy"] == 1.0
    model = make_model(one)
    choices = model.resolve([example.item for example in examples()])
    for (_, gold), choice in zip(SENTENCES, choices, strict=True):
        assert choice.choice == (gold if isinstance(gold, str) else str(gold[0]))


@pytest.mark.long
def test_figures(tmp_path):
    outcome = run(learner(), tmp_path)
    assert set(outcome.metrics) == {
        SCORE,
        "accuracy",
        "accuracy_inclusive",
        "accuracy_nearest",
        "reference",
        "implicit",
        "binary",
        "class_accuracy",
    }


def test_the_seed_alone_decides_the_first_weights_and_the_order():
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = learner()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(4)
    second, other = learner(), learner("seed=2")
    weights = [one.network.state_dict() for one in (first, second, other)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    assert not torch.equal(weights[0]["classes"], weights[2]["classes"])
    assert first.batches(3) == second.batches(3)
    assert first.batches(3) != first.batches(4)
    rows = [row for batch in first.batches(3) for row in batch]
    assert len(rows) == len(SENTENCES)


def test_fingerprint_is_of_settings_vectors_and_examples():
    first = learner().fingerprint
    assert learner().fingerprint == first
    others = [
        learner("rate=0.5"),
        learner(train_examples=examples()[1:]),
        learner(dev_examples=examples()[1:]),
        learner_of(examples(), examples(), settings(), vectors(examples(), width=6)),
    ]
    assert len({first, *(one.fingerprint for one in others)}) == 5


def test_loss_is_of_all_right_candidates_together():
    one = learner()
    one.network.eval()
    gold = reference_answer([[Mention(1, 2, 1)], [Mention(3, 4, 3)]], Relation.OR)
    both = learner(train_examples=[example_of("the tent or party ? *one* came", gold)])
    single = [example_of(*SENTENCES[1])]
    for made in (both, learner(train_examples=single)):
        made.network.eval()
        (batch,) = made.batches(1)
        scores = made.network(made.featuriser.batch([row.row for row in batch]))
        shares = torch.softmax(scores[0], -1)
        heads = [sum(shares[place] for place in head) for head in batch[0].right]
        wanted = -torch.log(torch.stack(heads)).mean()
        assert made.loss(batch, CPU).item() == pytest.approx(wanted.item(), rel=1e-5)
    places = [head[0] - CLASSES for head in both.batches(1)[0][0].right]
    assert places == [1, 3]


def test_padding_changes_nothing():
    one = learner()
    one.network.eval()
    rows = [row.row for batch in one.batches(1) for row in batch]
    together = one.resolver().probabilities_of(rows)
    for row, shares in zip(rows, together, strict=True):
        assert one.resolver().probabilities_of([row])[0] == pytest.approx(shares, abs=1e-6)
        assert sum(shares) == pytest.approx(1.0)


def test_nothing_to_learn_from_or_to_judge_on():
    unfit = [example_of("the *two* .", class_answer(Kind.NOT_NFH))]
    for nothing in ([], unfit):
        with pytest.raises(NoExamplesError, match="nothing to train on"):
            learner(train_examples=nothing)
        with pytest.raises(NoExamplesError, match="nothing to judge"):
            learner(dev_examples=nothing)


def test_one_class_only_is_said_and_works(tmp_path):
    ages = [example_of(sentence, gold) for sentence, gold in SENTENCES if gold == "AGE"]
    one = learner(train_examples=ages)
    assert one.notes == ("All 1 examples are AGE: the model cannot answer anything else.",)
    run(one, tmp_path)


def test_unfit_examples_are_left_out_and_counted():
    unfit = replace(examples()[0], gold=class_answer(Kind.BROKEN))
    one = learner(train_examples=[*examples(), unfit])
    assert sum(map(len, one.batches(1))) == len(SENTENCES)
    assert one.notes == ("1 examples name no head and no class; left out.",)
    assert not learner().notes


def test_a_training_that_was_cut_off_ends_with_the_same_weights(tmp_path):
    whole, cut, after = learner(), learner(), learner()
    run(whole, tmp_path / "whole")
    running = train(cut, plan_of(cut.settings), tmp_path / "cut", CPU)
    for _ in range(3):
        next(running)
    running.close()
    run(after, tmp_path / "cut")
    weights = [one.network.state_dict() for one in (whole, after)]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
