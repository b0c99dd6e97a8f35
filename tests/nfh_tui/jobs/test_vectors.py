"""Vectors of anchors: making them, their file, and what is ranked by them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from nfh_db.connection import connect
from nfh_db.errors import ExportError
from nfh_db.records import Annotator, Exposure, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from nfh_models.resolution.base import Item
from nfh_tui.jobs.predictor import Predictor
from nfh_tui.services import vectors
from nfh_tui.services.vectors import VectorMaker, identity, path_of, read_rows

ANGLES = {"tent": 0.0, "dog": 0.1, "counted": 1.5, "owls": 0.3, "brother": 1.2}
"""By a word of each sentence of the database, in the order of its anchors."""


class Encoder:
    """An encoder whose states are in a plane, at the angles above."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def anchor_states(self, items: Sequence[Item]) -> list[np.ndarray]:
        self.asked += [item.passage.text for item in items]
        at = [angle for item in items for w, angle in ANGLES.items() if w in item.passage.text]
        return [7 * np.array([np.cos(angle), np.sin(angle)], np.float32) for angle in at]


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(database) as store:
        activate(store, "own")
        yield store


@pytest.fixture
def me(store: Store) -> Annotator:
    return store.people.ensure("edith")


def activate(store: Store, name: str, recipe: str = "encoder") -> None:
    store.models.activate(store.models.ensure(name, "resolution", recipe, "1"))


def make(store: Store, encoder: Encoder | None = None) -> str:
    """Make all vectors of the active model; its identity."""
    name = identity(store.models.active("resolution"))
    assert name is not None
    maker, encoder = VectorMaker(store), encoder or Encoder()
    while maker.make_one(name, encoder):  # type: ignore[arg-type]
        pass
    return name


def decide(store: Store, who: Annotator, *anchor_ids: int) -> None:
    for anchor_id in anchor_ids:
        age = class_answer(Kind.AGE)
        store.edits.commit_answer(anchor_id, who, Role.ADJUDICATOR, age, Exposure())


def found(store: Store, me: Annotator, anchor_id: int) -> list[tuple[int, tuple[str, ...]]]:
    told, _ = vectors.precedents(store, anchor_id, me, (), None, model_hidden=False)
    return [(one.anchor_id, one.reasons) for one in told]


def why(store: Store, me: Annotator, *, hidden: bool = False) -> str:
    return vectors.precedents(store, 1, me, (), None, model_hidden=hidden)[1]


def test_the_nearest_decisions_come_first_with_their_cosine(
    store: Store, me: Annotator
) -> None:
    decide(store, me, 3, 4, 2)
    # By number: of "one", "two", "three" and "forty" only the second and the fourth are alike.
    assert found(store, me, 4) == [(2, ("same number",))]
    assert why(store, me) == "vectors are being made, none so far"
    make(store)
    assert found(store, me, 4) == [
        (2, ("like this one: 0.98", "same number")),
        (3, ("like this one: 0.36",)),
    ]
    assert [id_ for id_, _ in found(store, me, 1)] == [2, 4, 3]
    assert why(store, me) == ""


def test_the_screen_says_why_they_are_not_ranked_so(
    store: Store, me: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(store, me, 2, 3, 4)
    make(store)
    assert why(store, me, hidden=True) == "the model's answer is hidden"
    activate(store, "another")
    assert why(store, me) == "vectors are being made, none so far"
    with monkeypatch.context() as read_only:
        read_only.setattr(os, "access", lambda *_: False)
        assert why(store, me) == "vectors cannot be written here, none so far"
    activate(store, "cues", "cues")
    assert why(store, me) == "no encoder is in use"


def test_what_is_to_be_decided_blind_is_not_near(store: Store, me: Annotator) -> None:
    decide(store, store.people.ensure("other"), 2, 4)
    make(store)
    writer = connect(store.path, "rw")
    writer.execute(
        "INSERT INTO assignment (anchor_id, annotator_id, role, purpose, position, run, "
        "assigned_at) VALUES (2, ?, 'adjudicator', 'audit', 1, '', '')",
        (me.id,),
    )
    writer.close()
    assert [id_ for id_, _ in found(store, me, 1)] == [4]


def test_similar_items_come_by_meaning_too(store: Store, me: Annotator) -> None:
    decide(store, me, 2, 4)
    make(store)
    item = store.items.read(2, me, Role.ADJUDICATOR)
    assert item is not None
    age = class_answer(Kind.AGE)
    *_, like = vectors.alike(store, 2, item.passage, age, me)
    assert like.likeness == "like this one"
    told = [(one.anchor_id, one.note) for one in like.items]
    assert told == [(1, "like this one: 1.00")], "undecided and near"


def test_only_what_lacks_a_vector_is_made(store: Store) -> None:
    encoder = Encoder()
    name = make(store, encoder)
    assert len(encoder.asked) == 5
    rows, header = read_rows(path_of(store.path), name)
    assert (header.rows, header.anchors, header.width) == (5, 5, 2)
    assert rows["anchor"].tolist() == [1, 2, 3, 4, 5]
    assert rows["vector"].dtype == np.float16
    assert np.linalg.norm(rows["vector"][0].astype(float)) == pytest.approx(1, abs=1e-3)
    make(store, encoder)
    assert len(encoder.asked) == 5
    activate(store, "another")
    make(store, encoder)
    assert len(encoder.asked) == 10
    assert not len(read_rows(path_of(store.path), name)[0])


def test_the_decided_ones_are_made_first(store: Store, me: Annotator) -> None:
    decide(store, me, 4)
    encoder = Encoder()
    make(store, encoder)
    assert "owls" in encoder.asked[0]


def test_an_anchor_with_the_id_of_a_deleted_one_is_another(store: Store, me: Annotator) -> None:
    decide(store, me, 2, 4)
    make(store)
    writer = connect(store.path, "rw")
    writer.execute("UPDATE anchor SET start = 0, stop = 1 WHERE id = 2")
    writer.close()
    assert [id_ for id_, _ in found(store, me, 1)] == [4]
    encoder = Encoder()
    make(store, encoder)
    assert len(encoder.asked) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not JSON".ljust(2_000),
        b'{"model":1}'.ljust(2_000),
        b'{"model":"%s","width":-3,"rows":5,"anchors":5}'.ljust(2_000),
        b'{"model":"%s","width":9999999999999999,"rows":5,"anchors":5}'.ljust(2_000),
    ],
)
def test_a_damaged_file_is_none(store: Store, me: Annotator, content: bytes) -> None:
    decide(store, me, 2)
    name = make(store)
    path = path_of(store.path)
    whole = path.read_bytes()
    for damaged in (content.replace(b"%s", name.encode()), whole[:-1], whole[:100]):
        path.write_bytes(damaged)
        assert not len(read_rows(path, name)[0])
        assert why(store, me) == "vectors are being made, none so far"
    path.unlink()
    make(store)
    assert path.read_bytes() == whole


def test_numbers_that_are_none_come_last(store: Store, me: Annotator) -> None:
    decide(store, me, 2, 4)
    make(store)
    path = path_of(store.path)
    content = bytearray(path.read_bytes())
    # Of the first row, the decided anchor 2.
    content[vectors.HEADER + 12 : vectors.HEADER + 16] = b"\xff" * 4
    path.write_bytes(content)
    assert found(store, me, 1) == [(4, ("like this one: 0.96",))]
    make(store)
    path.write_bytes(content[: vectors.HEADER] + b"\xff" * (len(content) - vectors.HEADER))
    assert found(store, me, 1) == []


def test_a_full_disk_ends_the_work_and_is_told_once(
    database: Path, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise ExportError(f"{path}: cannot be written: the disk is full.")

    monkeypatch.setattr(vectors, "replacing", full)
    with Store.open(database) as store:
        me = store.people.ensure("edith")
        activate(store, "small", "small")
        predictor = Predictor(store)
        for anchor_id in (2, 4):
            decide(store, me, anchor_id)
            while predictor.make_vector():
                pass
            told = predictor.news()
            assert len(told) == (anchor_id == 2)
            assert not told or told[0].startswith("Precedents are not ranked by meaning: no ")
            assert not told or told[0].endswith("cannot be written: the disk is full.")
        assert not path_of(store.path).exists()


def test_the_predictor_makes_them_with_the_model_in_use(database: Path, package: Path) -> None:
    with Store.open(database) as store:
        me = store.people.ensure("edith")
        decide(store, me, 2, 4)
        activate(store, "small", "small")
        predictor = Predictor(store)
        while predictor.make_vector():
            pass
        assert path_of(store.path).exists()
        assert [id_ for id_, _ in found(store, me, 4)] == [2]
        activate(store, "cues", "cues")
        predictor.refresh()
        assert not predictor.make_vector()


def test_a_look_up_loads_no_torch() -> None:
    code = "import sys, nfh_tui.services.vectors; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
