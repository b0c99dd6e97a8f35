"""The sample corpus with what two made-up models say of it; the desk of the shell's tests."""

import re
import shutil
import typing
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import GOLD
from nfh_db.query import parse
from nfh_db.records import Annotator, Prediction
from nfh_db.store import Store
from nfh_models.agreement.measure import Measure
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_tui.sample import corpus_path
from nfh_tui.services.imports import ImportOptions, import_file
from nfh_tui.services.reports import R
from nfh_tui.widgets.figure_lines import Line, Target, stops
from tests.nfh_tui.workbench.conftest import database, open_desk, surroundings

__all__ = ["database", "open_desk", "surroundings"]

FIGURES = {
    name: {"value": 0.5, "low": 0.4, "high": 0.6, "n": 174, "why": None}
    for name in ("alpha", "ac1")
}


EMPTY = {int: 0, float: 0.0, str: "", bool: False, list: [], dict: {}, tuple: (0, 0)}


def some(kind: type[R], known: Mapping[str, object]) -> R:
    """A report of which a test knows some keys; the others are empty, and objects within."""

    def whole(wanted: object, value: object) -> object:
        if value is not None and type(None) in typing.get_args(wanted):
            (wanted,) = (one for one in typing.get_args(wanted) if one is not type(None))
        if isinstance(value, list) and typing.get_origin(wanted) is list:
            return [whole(typing.get_args(wanted)[0], one) for one in value]
        if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct | Measure):
            given = {} if value is None else value
            return {
                one.encode_name: whole(one.type, given.get(one.encode_name))
                for one in fields_of(wanted)
                if one.encode_name in given or one.required
            }
        if value is not None or type(None) in typing.get_args(wanted):
            return value
        return EMPTY[typing.get_origin(wanted) or wanted]

    return msgspec.convert(whole(kind, known), kind)


def fields_of(kind: type) -> Iterator[SimpleNamespace]:
    if issubclass(kind, msgspec.Struct):
        yield from msgspec.structs.fields(kind)
        return
    for name, hint in typing.get_type_hints(kind).items():
        yield SimpleNamespace(encode_name=name, type=hint, required=True)


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus, and predictions of alpha (active) and beta."""
    path = tmp_path_factory.mktemp("screens") / "corpus.db"
    with Store.open(path, create=True) as store:
        import_file(store, Source(corpus_path()), GOLD, ImportOptions())
        me = store.people.ensure("edith")
        ids = [anchor_id for chunk in store.queue.ids(parse(""), me) for anchor_id in chunk]
        for shift, name in enumerate(("alpha", "beta")):
            model = store.models.ensure(name, "resolution", f"{name}-recipe", "1")
            store.predictions.save(model, list(_predictions(store, ids, name, shift)))
    return path


def _predictions(
    store: Store, ids: list[int], name: str, shift: int
) -> Iterator[tuple[int, Prediction]]:
    """Mostly right; each fourth names another class or word, and some anchors have none."""
    wrong = [kind.value for kind in IMPLICIT_KINDS]
    for ballot in store.items.ballots(parse("")):
        place = ids.index(ballot.anchor_id) + shift
        if place % 11 == 5:
            continue
        gold = ballot.gold.answer if ballot.gold else None
        choice = wrong[place % len(wrong)]
        if gold is not None and gold.kind is Kind.REFERENCE:
            heads = gold.head_tokens()
            others = [
                token
                for token in range(len(ballot.passage.tokens))
                if token not in heads and not ballot.anchor.start <= token < ballot.anchor.end
            ]
            words = {ballot.passage.word(head).lower() for head in heads}
            alike = [t for t in others if ballot.passage.word(t).lower() in words]
            far = max(heads, key=lambda head: abs(head - ballot.anchor.start))
            wrongly = alike[0] if alike else others[place % len(others)]
            choice = str(wrongly if place % 4 == 0 else far)
        elif gold is not None and gold.kind in IMPLICIT_KINDS and place % 4:
            choice = gold.kind.value
        scores = (0.5,) * (len(ballot.passage.tokens) + len(wrong))
        yield ballot.anchor_id, Prediction(name, choice, None, 0.2, scores)


@pytest.fixture
def corpus(corpus_file: Path, tmp_path: Path) -> Path:
    """A copy of it to work on."""
    path = tmp_path / "corpus.db"
    shutil.copyfile(corpus_file, path)
    return path


@pytest.fixture
def store(corpus: Path) -> Iterator[Store]:
    """The copy, open."""
    with Store.open(corpus) as opened:
        yield opened


@pytest.fixture
def me(store: Store) -> Annotator:
    """Who asks."""
    return store.people.ensure("edith")


Count = Callable[[str], int]


@pytest.fixture
def count(store: Store, me: Annotator) -> Count:
    """How many items a query finds."""
    return lambda query: store.queue.count(parse(query), me)


def counted(stop: Target) -> int:
    """The number of items that the note of a stop names."""
    found = re.search(r"([\d,]+) items?\b", stop.note)
    assert found is not None, stop
    return int(found[1].replace(",", ""))


def opening(lines: list[Line]) -> list[Target]:
    """The stops that find exactly the items that their notes count."""
    return [
        stop
        for _, _, stop in stops(lines)
        if stop.find is not None and stop.exact and re.search(r"\d items?\b", stop.note)
    ]


def plain(lines: list[Line]) -> str:
    """The text of lines."""
    return "\n".join("".join(cell.text for cell in line) for line in lines)


async def until(desk: object, true: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(500):
        await desk.pilot.pause(0.1)  # type: ignore[attr-defined]
        if true():
            return
    raise AssertionError("it does not come to hold")


def ids_of(store: Store, query: str, who: Annotator) -> "array[int]":
    """The items of a query."""
    ids = array("q")
    for chunk in store.queue.ids(parse(query), who):
        ids.extend(chunk)
    return ids
