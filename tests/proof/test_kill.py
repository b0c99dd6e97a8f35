"""Processes killed at random points: what they were told is saved is there, and whole.

The long form is `benchmarks/soak_kill.py --full`.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from nfh_db import system
from nfh_db.connection import connect
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind
from tests.conftest import LONG

KILLS = 20 if LONG else 8


def test_nothing_that_was_reported_as_saved_is_lost(tmp_path: Path) -> None:
    from soak.killing import Soak

    tally = Soak(tmp_path / "soak", seed=20).run(KILLS)
    assert tally.lost == []
    assert tally.kills >= KILLS
    assert tally.reported > 5


LOSSES = {
    "an answer that is gone": "UPDATE answer SET removed = 1",
    "an answer by half": "DELETE FROM mention",
    "another answer": "UPDATE answer SET kind = 'BROKEN'",
    "a decision without its gold": "UPDATE gold SET removed = 1",
    "an event that is gone": "DELETE FROM event WHERE id IN (SELECT max(id) FROM event)",
    "an import that hangs": "UPDATE batch SET state = 'loading', pid = NULL",
    "a summary of before": "UPDATE anchor SET votes = votes + 1",
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_lost_is_noticed(tmp_path: Path, loss: str) -> None:
    from soak.acts import Model
    from soak.bulk import Chooser
    from soak.killing import Soak
    from soak.worker import Notes, Task, do

    soak = Soak(tmp_path / "soak")
    soak.folder.mkdir()
    model, database = Model(), soak.database
    task = Task(database, soak.folder / "notes", "w0", 1, model)
    notes = Notes(task.notes)
    with Store.open(database, create=True) as store:
        chooser = Chooser(random.Random(1), "w0", Model(), database)
        first = chooser.next()
        do(store, chooser, first, 1, notes)
        for number in range(2, 9):
            chooser.model.count += 1
            make = chooser.decide if number % 2 else chooser.answer
            do(store, chooser, make(chooser.live()), number, notes)
    by_hand = connect(database, "rw")
    by_hand.execute(LOSSES[loss])
    by_hand.close()
    soak.look([task])
    assert soak.tally.lost != []


def test_an_answer_begun_outlives_the_workbench(tmp_path: Path) -> None:
    from soak.desk import Desk
    from soak.together import LEFT, foot, ids_of, make

    database = tmp_path / "nfh.db"
    make(database, 2)
    with Store.open(database) as store:
        first, me = ids_of(store, LEFT)[0], store.people.ensure("ann")
        command = ["annotate", f"split:{LEFT}", "--db", str(database), "--as", "ann"]
        with Desk(command) as desk:
            desk.until_text("00000 said")
            desk.press("y")
            for _ in range(1000):
                desk.read(0.01)
                item = store.items.read(first, me, Role.ANNOTATOR)
                assert item is not None
                if item.draft is not None:
                    break
            desk.kill()
        with Desk(command) as desk:
            desk.until_said("00000 said", "Year")
            desk.press("\r")
            desk.until(lambda text: "saved" in foot(text), "saved")
            assert desk.quit() == 0
        item = store.items.read(first, me, Role.ANNOTATOR)
        assert item is not None
        assert [vote.answer.kind for vote in item.votes] == [Kind.YEAR]
        assert item.draft is None


def test_a_process_that_nobody_asked_after_is_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    since = system.started(child.pid)
    assert child.stdout is not None
    # It has ended once its end of the pipe is closed, and nobody has waited for it yet.
    child.stdout.read()
    for _ in range(1000):
        if not system.is_running(child.pid, since):
            break
    else:
        pytest.fail("a process that has ended counts as alive")
    child.wait()
    child.stdout.close()
