"""Which models were in use, and going back to them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.models import ActivationReason
from nfh_db.store import Store
from nfh_tui.services.models import NoEarlierModelError, in_use, roll_back

from .handmade import registered

Call = Callable[..., Result]


@pytest.fixture
def models(store: Store) -> dict[str, int]:
    """Models by name, none of which was in use but `small`."""
    made = {"small": store.models.ensure("small", "both", "small", "1")}
    for name, task in (("a-1", "resolution"), ("b-1", "resolution"), ("c-1", "both")):
        made[name] = registered(store, name, [], task=task, active=False)
    made["svm-1"] = registered(store, "svm-1", [], task="identification", active=False)
    return made


@pytest.fixture
def usable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The small model is there; the others' folders are looked at."""
    from nfh_tui.services import models

    real = models.check_usable
    monkeypatch.setattr(
        models,
        "check_usable",
        lambda store, model: None if model.name == "small" else real(store, model),
    )


pytestmark = pytest.mark.usefixtures("usable", "oracles")


def use(store: Store, models: dict[str, int], *names: str) -> None:
    for name in names:
        store.models.activate(models[name], ActivationReason("ann"))


def test_every_change_is_noted_with_who_and_when(store: Store, models: dict[str, int]) -> None:
    use(store, models, "a-1", "svm-1", "c-1")
    told = [(one.task, one.model, one.before, one.who) for one in store.models.activations()]
    assert told == [
        ("identification", "small", None, ""),
        ("resolution", "small", None, ""),
        ("resolution", "a-1", "small", "ann"),
        ("identification", "svm-1", "small", "ann"),
        ("identification", "c-1", "svm-1", "ann"),
        ("resolution", "c-1", "a-1", "ann"),
    ]


def test_activating_what_is_in_use_changes_nothing(
    store: Store, models: dict[str, int]
) -> None:
    use(store, models, "a-1")
    before = store.models.activations()
    use(store, models, "a-1")
    assert store.models.activations() == before


def test_going_back_goes_back_further_each_time(store: Store, models: dict[str, int]) -> None:
    use(store, models, "a-1", "b-1", "a-1")
    seen = [roll_back(store, "resolution", who="ben").after for _ in range(3)]
    assert seen == [{"resolution": "b-1"}, {"resolution": "a-1"}, {"resolution": "small"}]
    with pytest.raises(
        NoEarlierModelError, match="no other model was active before for resolution"
    ):
        roll_back(store, "resolution")
    last = store.models.activations()[-1]
    assert (last.model, last.who, last.reason) == ("small", "ben", "went back")


def test_without_a_task_the_last_change_is_undone_then_the_one_before(
    store: Store, models: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # However fast they come one after the other.
    monkeypatch.setattr("nfh_db.system.now", lambda: "2030-01-01T00:00:00.000Z")
    use(store, models, "svm-1", "a-1")
    assert roll_back(store).after == {"resolution": "small"}
    assert roll_back(store).after == {"identification": "small"}
    with pytest.raises(NoEarlierModelError):
        roll_back(store)
    assert in_use(store) == {"identification": "small", "resolution": "small"}


def test_a_model_of_both_tasks_is_left_in_both(store: Store, models: dict[str, int]) -> None:
    use(store, models, "a-1", "svm-1", "c-1")
    done = roll_back(store)
    assert done.before == {"identification": "c-1", "resolution": "c-1"}
    assert done.after == {"identification": "svm-1", "resolution": "a-1"}
    states = {model.name: model.state for model in store.models.all()}
    assert (states["c-1"], states["small"]) == ("retired", "retired")


def test_one_task_goes_back_and_the_other_stays(store: Store, models: dict[str, int]) -> None:
    use(store, models, "a-1", "c-1")
    assert roll_back(store, "resolution").after == {"resolution": "a-1"}
    assert in_use(store) == {"identification": "c-1", "resolution": "a-1"}


def test_back_to_a_model_of_both_tasks_leaves_the_other_task_s_own(
    store: Store, models: dict[str, int]
) -> None:
    use(store, models, "svm-1", "a-1")  # small is retired: each task has its own
    assert roll_back(store, "resolution").after == {"resolution": "small"}
    assert in_use(store) == {"identification": "svm-1", "resolution": "small"}


def test_two_models_of_both_tasks_cannot_be_in_use_beside_each_other(
    store: Store, models: dict[str, int]
) -> None:
    use(store, models, "c-1")
    done = roll_back(store, "resolution")
    assert done.after == {"identification": "small", "resolution": "small"}


def test_what_cannot_be_used_any_more_is_passed_over(
    store: Store, models: dict[str, int], path: Path
) -> None:
    use(store, models, "b-1", "a-1")
    shutil.rmtree(path.parent / "w-models" / "b-1")
    done = roll_back(store, "resolution")
    assert done.after == {"resolution": "small"}
    assert "the model b-1 is missing" in done.passed_over["b-1"]


def test_nothing_changes_where_nothing_before_can_be_used(
    store: Store, path: Path, models: dict[str, int]
) -> None:
    use(store, models, "a-1", "b-1")
    with store.connections.fast_write() as connection:  # noted by no program
        connection.execute("DELETE FROM activation")
    use(store, models, "a-1")
    shutil.rmtree(path.parent / "w-models" / "b-1")
    before = store.models.activations()
    with pytest.raises(NoEarlierModelError, match="can be used: the model b-1 is missing"):
        roll_back(store, "resolution")
    assert store.models.activations() == before


def test_the_commands_go_back_and_tell_the_history(
    store: Store, models: dict[str, int], path: Path, call: Call
) -> None:
    use(store, models, "a-1")
    told = call("models", "back", "--as", "eve", "--db", path)
    assert told.stdout == "small is again the active model of resolution, in place of a-1\n"
    told = call("models", "history", "--db", path)
    assert told.exit_code == 0
    assert "resolution: small in place of a-1 by eve\n    went back\n" in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80
    found = json.loads(call("models", "history", "--json", "--db", path).stdout)
    assert [one["model"] for one in found["activations"]][:2] == ["small", "a-1"]
    failed = call("models", "back", "identification", "--db", path)
    assert failed.exit_code == 1
    assert "nfh-tui models activate ID" in failed.stderr
