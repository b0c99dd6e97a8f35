"""Which steps of a training become points of its curves."""

from nfh_tui.jobs.reporting import Curves, Phase


def test_a_judgement_that_comes_to_the_same_is_one_too() -> None:
    curves = Curves()
    steps = [
        Phase("training, epoch 1", 10, 30, {"loss": 1.0}),
        Phase("judging, epoch 1", 10, 30, {"loss": 1.0}),
        Phase("saving, epoch 1", 10, 30, {"score": 0.5}),
        Phase("training, epoch 2", 20, 30, {"loss": 0.9, "score": 0.5}),
        Phase("judging, epoch 2", 20, 30, {"loss": 0.9, "score": 0.5}),
        Phase("saving, epoch 2", 20, 30, {"score": 0.5}),
        Phase("training, epoch 3", 20, 30, {"score": 0.5}),
    ]
    found = [curves.point_of(step) for step in steps]
    judged = [one.done for one in found if one is not None and "loss" not in one.metrics]
    assert judged == [10, 20]
