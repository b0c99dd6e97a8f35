"""Trainings that are asked for wrongly: a sentence with what can be, and no job."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.store import Store
from nfh_models.model_files import SettingError
from nfh_tui.services.training import trainer_for

from .handmade import Add


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("resolution", "--recipe", "svm"), 2, "encoder, linear, bilstm can be trained"),
        (("both", "--recipe", "linear"), 2, "encoder, small can be trained"),
        (("resolution", "--set", "epochs=2"), 2, "'epochs=2' is not a setting of linear"),
        (("resolution", "--set", "base=active"), 2, "linear starts from scratch"),
        (("resolution", "--set", "dev=2"), 2, "a share of the passages above 0"),
        (("resolution", "--set", "dev_split="), 2, "a value is missing"),
        (("resolution", "--recipe", "bilstm"), 2, "bilstm needs word vectors"),
        (("both", "--recipe", "encoder"), 2, "starts from an encoder"),
        (("both", "--set", "base=active"), 2, "cues is of the recipe cues"),
        (("both", "--set", "base=x", "--set", "encoder=y"), 2, "leave out one"),
        (("both", "--set", "base=x", "--set", "task=both"), 2, "is not a setting"),
        (("both", "--set", "device=tpu"), 2, "wanted auto, cpu, cuda, cuda:NUMBER or mps"),
        (("both", "--set", "seed=4294967296"), 2, "0 to 4,294,967,295"),
        (("both", "--set", "base=./none"), 2, "'base=./none': there is no such folder; wanted"),
        (("both", "--set", "base=7"), 2, "there is no model 7; wanted"),
        (("both", "--set", "base=bilstm"), 2, "bilstm is a recipe that has no model; wanted"),
        (
            ("both", "--recipe", "small", "--set", "foo=1"),
            2,
            ("'foo=1' is not a setting of small"),
        ),
    ],
)
def test_what_is_called_wrongly_makes_no_job(
    path: Path, add: Add, call: Callable[..., Result], arguments: tuple[str, ...], code: int,
    says: str,
) -> None:  # fmt: skip
    add(4)
    with Store.open(path) as store:
        store.models.ensure("cues", "resolution", "cues", "1")
    result = call(*arguments)
    assert result.exit_code == code
    assert says in result.stderr
    with Store.open(path) as store:
        assert store.jobs.all() == ()


@pytest.mark.parametrize(
    ("recipe", "general", "not_there"),
    [
        ("encoder", {"base", "dev_split", "dev", "device", "encoder", "rate"}, {"task"}),
        ("bilstm", {"dev_split", "dev", "device", "vectors"}, {"base"}),
        ("linear", {"dev_split", "dev", "features"}, {"base", "device"}),
    ],
)
def test_a_wrong_key_is_met_with_all_that_can_be_set_and_nothing_else(
    recipe: str, general: set[str], not_there: set[str]
) -> None:
    with pytest.raises(SettingError) as refused:
        trainer_for("resolution", recipe, ["foo=1"], None, None)
    told = set(str(refused.value).rpartition("a key of ")[2].split(", "))
    assert general <= told
    assert not told & not_there
