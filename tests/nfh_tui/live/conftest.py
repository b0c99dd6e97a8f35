"""The small database of dialogs and the ways to work the screen that other tests have."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nfh_db.query import parse
from nfh_db.records import Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests.nfh_tui.workbench.conftest import database, open_desk, read, surroundings  # noqa: F401


@pytest.fixture(autouse=True)
def runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """No runner is started, but by tests that ask for one."""
    monkeypatch.setenv("NFH_TUI_RUNNER", "off")


@pytest.fixture
def ids(database: Path) -> list[int]:  # noqa: F811
    """The anchors, in the order of their passages."""
    with Store.open(database) as store:
        me = store.people.ensure("edith")
        return [i for chunk in store.queue.ids(parse(""), me) for i in chunk]


@pytest.fixture
def decide(database: Path) -> Callable[..., None]:  # noqa: F811
    """Decides some anchors, as somebody else's process would."""

    def decided(*anchor_ids: int, by: str = "otto", kind: Kind = Kind.TIME) -> None:
        with Store.open(database) as store:
            who = store.people.ensure(by)
            for anchor_id in anchor_ids:
                store.edits.commit_answer(anchor_id, who, Role.ADJUDICATOR, class_answer(kind))

    return decided


@pytest.fixture
def says(database: Path) -> Callable[..., int]:  # noqa: F811
    """Has a model say AGE of anchors, with these margins; the model's number."""

    def said(name: str, anchor_ids: Sequence[int], margins: Sequence[float]) -> int:
        with Store.open(database) as store:
            model = store.models.ensure(name, "resolution", "cues", "1")
            store.predictions.save(
                model,
                [
                    (anchor_id, Prediction(name, "AGE", "TIME", margin, (0.5,) * 6))
                    for anchor_id, margin in zip(anchor_ids, margins, strict=True)
                ],
            )
            return model

    return said


@pytest.fixture
def enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there is enough to learn from, however little."""
    monkeypatch.setattr("nfh_tui.jobs.training.check_at_hand", lambda *_: None)
