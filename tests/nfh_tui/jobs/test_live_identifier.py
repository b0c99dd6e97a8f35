"""The predictor child identifies, too: with what is active, and without getting in the way."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfh_db.records import Annotator, Identified, Role
from nfh_db.store import Store
from nfh_models import ModelsError
from nfh_models.identification.base import Decision
from nfh_models.identification.rules import RULES
from nfh_models.parsing.base import load_parser
from nfh_tui.jobs import predictor
from nfh_tui.jobs.predictor import Asks, Predictor, serve
from nfh_tui.jobs.protocol import AnchorReady, Ask, Notice, Reply, decode_reply, encode
from nfh_tui.services import models
from nfh_tui.services.models import SelectedModel

NOBODY = Annotator(0, "", "model")


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(database) as store:
        yield store


@pytest.fixture(scope="module")
def parser():
    return load_parser()


@pytest.fixture
def working(pipeline: None, store: Store, parser, monkeypatch: pytest.MonkeyPatch) -> Predictor:
    """A predictor with the real tagger, and the real parser loaded once."""
    monkeypatch.setattr(predictor, "load_parser", lambda spec, needs: parser)
    return Predictor(store)


def said(store: Store, anchor_id: int) -> Identified | None:
    item = store.items.read(anchor_id, NOBODY, Role.ANNOTATOR)
    assert item is not None
    return item.identification


def test_the_rules_decide_where_nothing_else_is_active(
    working: Predictor, store: Store
) -> None:
    working.predict(4, force=False)
    found = said(store, 4)
    assert found is not None
    assert (found.model, found.nfh) == ("rules", True)
    assert found.rule in {rule.name for rule in RULES}
    assert said(store, 1) is None
    assert working.news() == []


def test_only_the_sentence_of_the_number_is_parsed_and_once(
    working: Predictor, store: Store, parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[list[str]] = []
    whole = parser.parse

    def counted(word_spans):
        word_spans = list(word_spans)
        parsed.extend(list(word_span.words) for word_span in word_spans)
        return whole(word_spans)

    monkeypatch.setattr(parser, "parse", counted)
    working.predict(4, force=False)
    assert parsed == ["I only saw two , two I mean .".split()]
    assert working.predict(4, force=False) == 0.0
    assert len(parsed) == 1
    working.predict(4, force=True)
    assert len(parsed) == 2


def test_what_identify_stored_stays(working: Predictor, store: Store, parser) -> None:
    model = models.identifier_for(store).model_id
    assert model is not None
    version = store.identifications.decide_with(model, parser.name)
    kept = Identified("rules", False, "currency")
    store.identifications.save(model, version, [(1, kept)])
    working.predict(1, force=False)
    assert said(store, 1) == kept


@dataclass
class Odd:
    """A recipe that needs no parser and says no."""

    recipe: str = "small"
    version: str = "1"
    needs: frozenset[str] = frozenset()
    uses: frozenset[str] = frozenset()

    def decide(self, cases):
        return [Decision(False, "small", -2.5) for _ in cases]


def test_another_model_that_becomes_active_decides_from_then_on(
    working: Predictor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    working.predict(1, force=False)
    other = store.models.ensure("odd", "identification", "small", "1")
    with store.connections.fast_write() as writer:
        writer.execute("UPDATE model SET state = 'retired' WHERE name = 'rules'")
        writer.execute("UPDATE model SET state = 'active' WHERE id = ?", (other,))
    monkeypatch.setattr(
        predictor, "identifier_for", lambda _, loaded: SelectedModel(Odd(), "odd", other)
    )
    working.predict(1, force=False)
    assert said(store, 1) == Identified("odd", False, "small", -2.5)


def test_the_parser_asked_for_last_is_the_one_that_parses(
    store: Store, parser, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []

    def load(spec, needs):
        asked.append(spec)
        return parser

    monkeypatch.setattr(predictor, "load_parser", load)
    model = models.identifier_for(store).model_id
    assert model is not None
    store.identifications.decide_with(model, parser.name, "spacy:this")
    Predictor(store).predict(1, force=False)
    assert asked == ["spacy:this"]
    found = store.identifications.active()
    assert found is not None
    assert found.spec == "spacy:this"


def test_without_a_parser_it_predicts_all_the_same_and_says_so_once(
    store: Store, pipeline: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str | None] = []

    def none(spec, needs):
        tried.append(spec)
        raise ModelsError("Parsing needs a pipeline with a parser.")

    monkeypatch.setattr(predictor, "load_parser", none)
    asks, heard = Asks(), list[Reply]()
    asks.add(Ask(1, [1, 2, 3]))

    def reply(message: Reply) -> None:
        heard.append(decode_reply(encode(message)))
        if sum(isinstance(one, AnchorReady) for one in heard) == 3:
            asks.close()

    serve(Predictor(store), asks, reply)
    assert [one.anchor for one in heard if isinstance(one, AnchorReady)] == [1, 2, 3]
    assert [one for one in heard if isinstance(one, Notice)] == [
        Notice("No identification: Parsing needs a pipeline with a parser.")
    ]
    item = store.items.read(3, NOBODY, Role.ANNOTATOR)
    assert item is not None
    assert item.prediction is not None
    assert item.identification is None
    assert tried == [None]


def test_a_folder_that_may_not_be_read_takes_no_prediction_away(
    working: Predictor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = store.models.ensure("svm-1", "identification", "svm", "1")
    with store.connections.fast_write() as writer:
        writer.execute("UPDATE model SET state = 'retired' WHERE name <> 'svm-1'")
        writer.execute("UPDATE model SET state = 'active', path = 'm' WHERE id = ?", (other,))

    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refuse)
    assert working.predict(1, force=False) is not None
    assert "No identification: the model svm-1 cannot be read" in working.news()[0]
    assert said(store, 1) is None
