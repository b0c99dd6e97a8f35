"""The predictor child, spoken to as the screen does, and its parts by themselves."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nfh_db.records import Annotator, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.resolution.cues import CuesResolver
from nfh_tui.jobs import predictor
from nfh_tui.jobs.predictor import Asks, Predictor, answer, read_asks
from nfh_tui.jobs.protocol import (
    NO_PIPELINE,
    AnchorReady,
    Ask,
    Failed,
    Ready,
    Reply,
    decode_reply,
    encode,
)

NOBODY = Annotator(0, "", "model")
Child = subprocess.Popen[bytes]


# --- the order of work --------------------------------------------------------------------


def drain(asks: Asks) -> list[tuple[int, int]]:
    taken = []
    while (found := asks.take(0.0)) is not None:
        taken.append((found[0].id, found[1]))
    return taken


def test_newest_ask_first_and_anchors_in_order() -> None:
    asks = Asks()
    asks.add(Ask(1, [10, 11]))
    asks.add(Ask(2, [20, 21]))
    assert drain(asks) == [(2, 20), (2, 21), (1, 10), (1, 11)]


def test_a_newer_ask_overtakes_one_half_done() -> None:
    asks = Asks()
    asks.add(Ask(1, [10, 11]))
    assert asks.take(0.0) == (Ask(1, [10, 11]), 10)
    asks.add(Ask(2, [20]))
    assert drain(asks) == [(2, 20), (1, 11)]


def test_an_empty_ask_is_nothing() -> None:
    asks = Asks()
    asks.add(Ask(1, [10]))
    asks.add(Ask(2, []))
    assert drain(asks) == [(1, 10)]


def test_only_so_many_asks_wait() -> None:
    asks = Asks()
    for number in range(predictor.BACKLOG + 10):
        asks.add(Ask(number, [number]))
    taken = drain(asks)
    assert len(taken) == predictor.BACKLOG
    assert taken[-1] == (10, 10)


def test_what_waits_when_the_input_ends_is_wanted_by_nobody() -> None:
    asks = Asks()
    asks.add(Ask(1, [10]))
    asks.close()
    assert asks.closed
    assert asks.take(0.0) is None


def test_an_ask_wakes_the_worker() -> None:
    asks = Asks()
    threading.Timer(0.05, asks.add, [Ask(1, [10])]).start()
    assert asks.take(30.0) == (Ask(1, [10]), 10)


def test_a_line_that_is_no_ask_is_answered() -> None:
    asks, replies = Asks(), list[Reply]()
    read_asks([b"hello\n", encode(Ask(1, [10]))], asks, replies.append)
    assert asks.closed
    assert isinstance(replies[0], Failed)
    assert "cannot read" in replies[0].message


# --- one anchor ---------------------------------------------------------------------------


@pytest.fixture
def store(database: Path) -> Iterator[Store]:
    with Store.open(database) as store:
        yield store


@pytest.fixture
def working(store: Store, pipeline: None) -> Predictor:
    return Predictor(store)


@pytest.fixture
def working_before(store: Store) -> int:
    """What an older program left: its recipe, active, and what that said."""
    model = store.models.ensure("nearest-noun", "resolution", "nearest-noun", "2 tagger")
    scores = (None,) * (len(IMPLICIT_KINDS) + 10)
    store.predictions.save(model, [(1, Prediction("nearest-noun", "6", None, None, scores))])
    return model


def stored(store: Store, anchor_id: int) -> Prediction | None:
    item = store.items.read(anchor_id, NOBODY, Role.ANNOTATOR)
    assert item is not None
    return item.prediction


def test_a_prediction_is_stored_whole(working: Predictor, store: Store) -> None:
    seconds = working.predict(1, force=False)
    assert seconds is not None
    assert seconds > 0
    found = stored(store, 1)
    assert found is not None
    assert (found.model, found.choice) == ("cues", "2")
    assert len(found.scores) == len(IMPLICIT_KINDS) + 10
    assert found.scores[len(IMPLICIT_KINDS) + 2] == 1.0
    classes = dict(zip(IMPLICIT_KINDS, found.scores, strict=False))
    assert classes.pop(Kind.OTHER) == pytest.approx(1 / 15)
    assert set(classes.values()) == {None}


def test_a_class_is_chosen_where_a_cue_names_one(working: Predictor, store: Store) -> None:
    working.predict(5, force=False)
    found = stored(store, 5)
    assert found is not None
    assert (found.choice, found.second) == ("AGE", "1")
    assert found.scores[IMPLICIT_KINDS.index(Kind.AGE)] == 1.0
    assert found.scores[len(IMPLICIT_KINDS) + 1] == 0.5


def states(store: Store) -> dict[str, str]:
    return {
        model.name: model.state for model in store.models.all() if model.task == "resolution"
    }


def test_it_takes_over_from_the_nearest_noun_once(
    store: Store, pipeline: None, working_before: int
) -> None:
    Predictor(store).predict(1, force=False)
    assert states(store) == {"nearest-noun": "retired", "cues": "active"}
    found = stored(store, 1)
    assert found is not None
    assert found.model == "cues"
    store.models.activate(working_before)
    before = stored(store, 1)
    assert before is not None
    assert (before.model, before.choice) == ("nearest-noun", "6")
    Predictor(store)
    assert states(store) == {"nearest-noun": "active", "cues": "retired"}


def test_it_leaves_a_model_that_somebody_activated(
    store: Store, pipeline: None, working_before: int
) -> None:
    own = store.models.ensure("own", "resolution", "encoder", "1")
    store.models.activate(own)
    Predictor(store)
    assert states(store) == {"nearest-noun": "retired", "own": "active", "cues": "candidate"}


def test_a_passage_without_a_noun(working: Predictor, store: Store) -> None:
    working.predict(3, force=False)
    found = stored(store, 3)
    assert found is not None
    assert (found.choice, found.second, found.margin) == ("OTHER", None, None)


def test_what_is_known_is_not_done_again(working: Predictor) -> None:
    assert working.predict(1, force=False) != 0.0
    assert working.predict(1, force=False) == 0.0
    assert working.predict(1, force=True) != 0.0


def test_another_version_predicts_anew(
    working: Predictor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    working.predict(1, force=False)
    monkeypatch.setattr(CuesResolver, "version", "next")
    newer = Predictor(store)
    assert stored(store, 1) is None
    assert newer.predict(1, force=False) != 0.0


def test_an_anchor_that_is_gone(working: Predictor) -> None:
    reply = answer(working, Ask(7, [99]), 99)
    assert reply == Failed("No prediction: there is no item 99.", 7, 99)


def test_tags_are_kept_for_the_next_anchor_of_a_passage(working: Predictor) -> None:
    working.predict(1, force=False)
    working._resolver._parser = None  # asking it again would fail
    assert working.predict(1, force=True) is not None


def test_only_so_many_tags_are_kept(
    working: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictor, "REMEMBERED", 2)
    for anchor_id in (1, 2, 3, 4):
        working.predict(anchor_id, force=False)
    assert len(working._resolver._parses) == 2


# --- the process --------------------------------------------------------------------------


@contextmanager
def child(path: Path, prelude: str = "") -> Iterator[Child]:
    """The child as the client starts it. prelude: run in it before anything else."""
    module = "nfh_tui.jobs.predictor"
    code = f"{prelude}\nimport runpy\nrunpy.run_module({module!r}, run_name='__main__')"
    how = ["-c", code] if prelude else ["-P", "-m", module]
    process = subprocess.Popen(
        [sys.executable, *how, "--db", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def say(process: Child, ask: Ask) -> None:
    assert process.stdin is not None
    process.stdin.write(encode(ask))
    process.stdin.flush()


def hear(process: Child) -> Reply:
    assert process.stdout is not None
    return decode_reply(process.stdout.readline())


def test_conversation(of_cues: Path, pipeline: None) -> None:
    with child(of_cues) as process:
        ready = hear(process)
        assert isinstance(ready, Ready)
        assert ready.model == "cues"
        say(process, Ask(1, [2, 99, 4]))
        first, gone, last = (hear(process) for _ in range(3))
        assert isinstance(first, AnchorReady)
        assert (first.id, first.anchor) == (1, 2)
        assert gone == Failed("No prediction: there is no item 99.", 1, 99)
        assert isinstance(last, AnchorReady)
        with Store.open(of_cues) as store:
            found = stored(store, 4)
        assert found is not None
        assert found.choice == "4"
        say(process, Ask(2, [4]))
        assert hear(process) == AnchorReady(2, 4, 0.0)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(120) == 0


@pytest.mark.long
def test_ends_when_its_input_closes_while_it_loads(of_cues: Path) -> None:
    with child(of_cues) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(120) in (0, NO_PIPELINE)


@pytest.mark.long
def test_no_pipeline(of_cues: Path) -> None:
    prelude = "import spacy.util; spacy.util.get_installed_models = list"
    with child(of_cues, prelude) as process:
        reply = hear(process)
        assert isinstance(reply, Failed)
        assert "spacy download en_core_web_sm" in reply.message
        assert process.wait(120) == NO_PIPELINE


def test_no_database(tmp_path: Path, pipeline: None) -> None:
    with child(tmp_path / "none.db") as process:
        reply = hear(process)
        assert isinstance(reply, Failed)
        assert "none.db" in reply.message
        assert process.wait(120) == 1


@pytest.mark.long
def test_what_others_print_does_not_reach_the_replies(of_cues: Path, pipeline: None) -> None:
    prelude = (
        "import atexit, os, spacy.util\n"
        "known = spacy.util.get_installed_models\n"
        "def noisy():\n"
        "    print('Loading...', flush=True)\n"
        "    os.system('echo downloading')\n"
        "    return known()\n"
        "spacy.util.get_installed_models = noisy"
    )
    with child(of_cues, prelude) as process:
        assert isinstance(hear(process), Ready)
        _, errors = process.communicate(timeout=120)
        assert b"Loading..." in errors
        assert b"downloading" in errors


def test_ends_when_its_parent_is_killed(of_cues: Path, pipeline: None) -> None:
    """A parent between us and the child is killed; the child's output ends with it."""
    parent = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)\n"
        "time.sleep(600)"
    )
    arguments = [sys.executable, "-P", "-m", "nfh_tui.jobs.predictor", "--db", str(of_cues)]
    process = subprocess.Popen(
        [sys.executable, "-c", parent, *arguments], stdout=subprocess.PIPE
    )
    with process:
        assert process.stdout is not None
        assert isinstance(decode_reply(process.stdout.readline()), Ready)
        os.kill(process.pid, 9)
        assert process.stdout.read() == b""
