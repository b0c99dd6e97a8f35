"""`nfh-tui predict [QUERY]`: predictions stored, nothing twice, nothing lost."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.predictions import Predictions
from nfh_db.query import parse
from nfh_db.records import Annotator, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_models.resolution.base import Choice, Item, Resolver
from nfh_tui.services import predict
from nfh_tui.services.models import SelectedModel
from nfh_tui.services.predict import PredictionRun, Resolution, predict_stored
from tests.nfh_tui.predict.conftest import Stub

Call = Callable[..., Result]

TEXT = "".join(f"Ann: {n} tickets?\nBen: No, three.\n\n" for n in range(10, 30))
ME = Annotator(0, "me")


@pytest.fixture
def database(home: Path, call: Call) -> Path:
    (home / "a.txt").write_text(TEXT, "utf-8")
    assert call("import", "--db", "n.db", "a.txt").exit_code == 0
    return home / "n.db"


def run(store: Store, stub: Stub, query: str = "", *, force: bool = False) -> PredictionRun:
    number = store.models.ensure("stub", "resolution", "small", stub.version)
    tools = Resolution(SelectedModel(stub, "stub", number), None)
    return predict_stored(store, parse(query), tools, ME, lambda *_: None, force=force)


def known(store: Store) -> dict[int, Prediction | None]:
    ids = [id_ for chunk in store.queue.ids(parse(""), ME) for id_ in chunk]
    items = [store.items.read(id_, ME, Role.ANNOTATOR) for id_ in ids]
    return {one.anchor_id: one.prediction for one in items if one is not None}


def test_predictions_of_a_query_are_stored_once(database: Path) -> None:
    stub = Stub()
    with Store.open(database) as store:
        report = run(store, stub, "anchor:three")
        assert (report.anchors, report.predicted, report.silent) == (20, 20, 0)
        assert report.kinds == {Kind.REFERENCE: 20}
        found = known(store)
        assert sum(one is not None for one in found.values()) == 20
        report = run(store, stub)
        assert (report.anchors, report.predicted) == (40, 20)
        assert sum(stub.asked) == 40
        some = next(one for one in known(store).values() if one is not None)
        assert (some.model, some.second) == ("stub", "OTHER") or some.choice == "OTHER"
        assert run(store, stub).predicted == 0
        assert run(store, stub, "anchor:three", force=True).predicted == 20


def test_what_is_done_when_it_stops_is_kept(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predict, "PREDICTION_BATCH", 8)
    monkeypatch.setattr("nfh_models.resolution.base.BATCH", 8)

    class Stopped(Stub):
        def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
            if sum(self.asked) >= 16:
                raise KeyboardInterrupt
            return super().resolve(items)

    with Store.open(database) as store:
        with pytest.raises(KeyboardInterrupt) as raised:
            run(store, Stopped())
        assert raised.value.__notes__ == [predict.GOES_ON]
        kept = sum(one is not None for one in known(store).values())
        assert 0 < kept < 40
        assert run(store, Stub()).predicted == 40 - kept


def test_a_recipe_that_has_nothing_to_say(database: Path) -> None:
    class Silent(Stub):
        probabilities = False

        def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
            return [None] * len(items)

    with Store.open(database) as store:
        report = run(store, Silent())
        assert (report.predicted, report.silent) == (0, 40)
        assert set(known(store).values()) == {None}


def test_writes_are_short(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    ten = replace(predict.WRITE_SIZE, first=10, largest=10)
    monkeypatch.setattr(predict, "WRITE_SIZE", ten)
    save = Predictions.save

    def counted(self: Predictions, model: int, found: Sequence[tuple[int, Prediction]]) -> None:
        sizes.append(len(found))
        save(self, model, found)

    monkeypatch.setattr(Predictions, "save", counted)
    with Store.open(database) as store:
        assert run(store, Stub()).predicted == 40
    assert (sum(sizes), max(sizes)) == (40, 10)


def test_the_command(database: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    stub = Stub()

    def chosen(store: Store, spec: str | None) -> SelectedModel[Resolver]:
        if spec == "elsewhere":
            return SelectedModel(stub, "elsewhere")
        return SelectedModel(stub, "stub", store.models.ensure("stub", "both", "small", "1"))

    monkeypatch.setattr("nfh_tui.services.predict.resolver_for", chosen)
    told = json.loads(call("predict", "anchor:three", "--db", database, "--json").stdout)
    assert (told["task"], told["model"], told["active"]) == ("resolution", "stub", True)
    assert (told["anchors"], told["predicted"], told["silent"]) == (20, 20, 0)
    assert told["kinds"] == {"REFERENCE": 20}
    result = call("predict", "--db", database)
    assert "40 numbers, predicted by stub" in result.stdout
    assert "20 predicted now, 20 before" in result.stdout
    result = call("predict", "--db", database, "--model", "elsewhere")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is not in this database" in result.stderr
    assert call("predict", "--db", database, "klass:").exit_code == 2
