"""The predictor child's models: the active ones, whichever they are, one after the other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nfh_db.models import NewModel
from nfh_db.records import AnchorItem, Annotator, Role
from nfh_db.store import Store
from nfh_models.domain import IMPLICIT_KINDS
from nfh_models.parsing.spacy_parser import NoPipelineError
from nfh_tui.jobs import predictor
from nfh_tui.jobs.predictor import Asks, Predictor, serve
from nfh_tui.jobs.protocol import AnchorReady, Ask, Notice, Ready, Reply
from tests.nfh_models.parsing.tiny_small import damage

NOBODY = Annotator(0, "", "model")


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(database) as store:
        yield store


@pytest.fixture
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for a tagger or a parser is told that there is none."""

    def none(*_: object) -> None:
        raise NoPipelineError("There is no pipeline.")

    for module in (predictor, predictor):
        monkeypatch.setattr(module, "load_parser", none)
    monkeypatch.setattr(predictor, "load_tagger", none)


def item(store: Store, anchor_id: int) -> AnchorItem:
    found = store.items.read(anchor_id, NOBODY, Role.ANNOTATOR)
    assert found is not None
    return found


def said(store: Store, anchor_id: int) -> tuple[str | None, str | None]:
    """The models that say something of an anchor: of its noun, and of whether it has one."""
    found = item(store, anchor_id)
    prediction, identification = found.prediction, found.identification
    return (
        None if prediction is None else prediction.model,
        None if identification is None else identification.model,
    )


def asked(predictor: Predictor, *asks: Ask) -> list[Reply]:
    """What is replied to some asks, the last one first, until all is answered."""
    waiting, heard = Asks(), list[Reply]()
    for ask in asks:
        waiting.add(ask)
    wanted = sum(len(ask.anchors) for ask in asks)

    def reply(message: Reply) -> None:
        heard.append(message)
        if sum(isinstance(one, AnchorReady) for one in heard) == wanted:
            waiting.close()

    serve(predictor, waiting, reply)
    return heard


def test_the_small_model_serves_both_tasks_and_needs_no_pipeline(
    store: Store, package: Path, no_pipeline: None
) -> None:
    predictor = Predictor(store)
    assert predictor.ready == Ready("small", "")
    assert predictor.predict(1, force=False) not in (None, 0.0)
    assert said(store, 1) == ("small", "small")
    found = item(store, 1).prediction
    assert found is not None
    assert found.second is not None
    assert found.margin is not None
    known = [score for score in found.scores if score is not None]
    assert len(known) == len(IMPLICIT_KINDS) + 9  # of ten words one is the anchor
    assert sum(known) == pytest.approx(1, abs=1e-4)
    assert len(predictor._loaded) == 1
    assert predictor.predict(1, force=False) == 0.0
    assert predictor.news() == []


def test_asks_are_answered_whole_and_the_newest_first(
    store: Store, package: Path, no_pipeline: None
) -> None:
    heard = asked(Predictor(store), Ask(1, [5, 4]), Ask(2, [1, 2, 3]))
    assert [one.anchor for one in heard if isinstance(one, AnchorReady)] == [1, 2, 3, 5, 4]
    assert {said(store, anchor_id) for anchor_id in (1, 2, 3, 4, 5)} == {("small", "small")}


def test_another_model_that_becomes_active_answers_from_then_on(
    store: Store, package: Path, pipeline: None
) -> None:
    predictor = Predictor(store)
    asked(predictor, Ask(1, [1]))
    cues = store.models.ensure("cues", "resolution", "cues", "1")
    store.models.activate(cues)
    heard = asked(predictor, Ask(2, [1]))
    ready = next(one for one in heard if isinstance(one, Ready))
    assert ready.model == "cues"
    assert ready.pipeline
    assert said(store, 1) == ("cues", "small")
    small = store.models.named("small")
    assert small is not None
    store.models.activate(small.id)
    assert Ready("small", "") in asked(predictor, Ask(3, [2]))
    assert said(store, 2) == ("small", "small")
    assert len(predictor._loaded) == 1


def test_where_the_small_model_is_damaged_cues_work_on_and_it_is_said_once(
    store: Store, package: Path, pipeline: None
) -> None:
    damage(package)
    predictor = Predictor(store)
    assert predictor.ready.model == "cues"
    heard = asked(predictor, Ask(1, [1, 2]))
    assert said(store, 2) == ("cues", "rules")
    asides = [one.message for one in heard if isinstance(one, Notice)]
    assert [one.partition(":")[0] for one in asides] == [
        "The small model cannot be used, so cues decides instead",
        "The small model cannot be used, so rules decides instead",
    ]


def test_base_resolves_beside_small_and_small_alone_where_base_is_damaged(
    store: Store, base: Path, no_pipeline: None
) -> None:
    predictor = Predictor(store)
    assert predictor.ready == Ready("base", "", "small")
    asked(predictor, Ask(1, [1]))
    assert said(store, 1) == ("base", "small")
    damage(base)
    predictor = Predictor(store)
    assert predictor.ready == Ready("small", "")
    heard = asked(predictor, Ask(2, [1, 2]))
    assert {said(store, 1), said(store, 2)} == {("small", "small")}
    (told,) = [one.message for one in heard if isinstance(one, Notice)]
    assert told.startswith("The base model cannot be used, so small decides instead: ")


def test_a_model_of_ones_own_that_is_gone_answers_nothing_and_says_so(
    store: Store, package: Path, no_pipeline: None
) -> None:
    own = NewModel("encoder-1", "resolution", "encoder", "1", "nfh-models/encoder-1", "0")
    store.jobs.finish_training(store.jobs.begin("resolution", {}), own)
    predictor = Predictor(store)
    assert predictor.ready == Ready("no model", "", "small")
    heard = asked(predictor, Ask(1, [1]))
    assert said(store, 1) == (None, "small")
    (told,) = [one.message for one in heard if isinstance(one, Notice)]
    assert told.startswith("No prediction: the model encoder-1 is missing")
    small = store.models.named("small")
    assert small is not None
    store.models.activate(small.id)
    asked(predictor, Ask(2, [1]))
    assert said(store, 1) == ("small", "small")


def test_another_that_is_put_to_use_is_told_while_nothing_is_asked(
    store: Store, package: Path, no_pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    working = Predictor(store)
    assert working.ready == Ready("small", "")
    store.models.activate(store.models.ensure("svm-1", "identification", "svm", "1"))
    monkeypatch.setattr(predictor, "PARENT_CHECK", 0.01)
    waiting, heard = Asks(), list[Reply]()

    def reply(message: Reply) -> None:
        heard.append(message)
        waiting.close()

    serve(working, waiting, reply)
    assert heard == [Ready("small", "", "svm-1")]


def test_a_resolver_that_needs_a_pipeline_where_there_is_none(
    store: Store, no_pipeline: None
) -> None:
    with pytest.raises(NoPipelineError):
        Predictor(store)
