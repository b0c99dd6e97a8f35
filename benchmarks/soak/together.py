"""Two workbenches, a trainer-like writer, an exporter and a timed answerer on one file."""

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.connection import connect
from nfh_db.formats.files import Source
from nfh_db.formats.gold import read as read_gold
from nfh_db.formats.registry import GOLD
from nfh_db.formats.rows import GoldRow
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Passage, Token, Turn, class_answer
from nfh_tui.services.imports import ImportOptions, export_file, import_file
from soak.checks import faults
from soak.desk import Desk

KEYS = {"y": Kind.YEAR, "a": Kind.AGE, "c": Kind.CURRENCY, "p": Kind.PEOPLE, "t": Kind.TIME}
LEFT, RIGHT, PROBE = "left", "right", "probe"
"""Splits: of the annotating screen, of the adjudicating one, and of the timed answerer."""

PROBED = 40
BETWEEN_ANSWERS = 0.005
PREDICTED_AT_ONCE = 200
BETWEEN_WRITES = 0.002
"""Seconds for which the trainer computes between two writes: as good as none."""

BETWEEN_EXPORTS = 0.2
PROGRESS_SECONDS = 0.1
"""A job's progress is written at most ten times a second."""

JOB = "INSERT INTO job (task, state, created_at) VALUES (:task, 'running', :at) RETURNING id"
JOB_PROGRESS = "UPDATE job SET done = :done, heartbeat = :at, phase = :phase WHERE id = :id"
JOB_LEFT = "UPDATE job SET state = 'interrupted' WHERE id = :id"
JOB_DONE = "SELECT done FROM job WHERE id = :id"
MARGINS = "SELECT count(*), coalesce(sum(margin), 0) FROM prediction"


def passages(each: int) -> Iterator[IncomingPassage]:
    """So many anchors for each screen, and the probe's."""
    line = 0
    for split, count in ((LEFT, each), (RIGHT, each), (PROBE, PROBED)):
        for number in range(count):
            line += 1
            words = f"{split} {number:05d} said : one of the boats is mine".split()
            tokens, place = [], 0
            for word in words:
                tokens.append(Token(place, place + len(word), word))
                place += len(word) + 1
            turn = Turn(0, "Ann", 0, len(tokens))
            passage = Passage(" ".join(words), tuple(tokens), (turn,))
            yield IncomingPassage(
                passage, "words", (IncomingAnchor(line, Anchor(4, 5), split=split),)
            )


def make(database: Path, each: int) -> None:
    """A database for all of them."""
    with Store.open(database, create=True) as store:
        store.imports.load(IncomingFile("together.jsonl", "1", "gold"), passages(each))


def ids_of(store: Store, split: str) -> list[int]:
    """The anchors of a split, in the queue's order."""
    me = store.people.ensure("probe")
    found = store.queue.ids(parse(f"split:{split} sort:order"), me)
    return [anchor for chunk in found for anchor in chunk]


# --- the processes beside the screens -------------------------------------------------------


def probe(store: Store, going: Callable[[], bool], folder: Path) -> dict[str, object]:  # noqa: ARG001
    """Commit answers to the same anchors in turn, one a round, and time them."""
    me, anchors, took = store.people.ensure("probe"), ids_of(store, PROBE), list[float]()
    for number in itertools.count():
        if not going():
            break
        answer = class_answer(Kind.AGE, comment=str(number))
        begun = time.perf_counter()
        store.edits.commit_answer(anchors[number % PROBED], me, Role.ANNOTATOR, answer)
        took.append(time.perf_counter() - begun)
        time.sleep(BETWEEN_ANSWERS)
    return {"took": took}


def trainer(store: Store, going: Callable[[], bool], folder: Path) -> dict[str, object]:  # noqa: ARG001
    """Write predictions of everything, over and over, and a job's progress meanwhile."""
    anchors = [a for split in (LEFT, RIGHT) for a in ids_of(store, split)]
    model = store.models.ensure("soak", "resolution", "nearest-noun", "1")
    with store.connections.fast_write() as connection:  # jobs have no method of their own yet
        job = connection.execute(JOB, {"task": "resolution", "at": "now"}).fetchone()[0]
    margins: dict[int, float] = {}
    done, told, writes = 0, 0.0, 0
    for start in itertools.cycle(range(0, len(anchors), PREDICTED_AT_ONCE)):
        if not going():
            break
        some = anchors[start : start + PREDICTED_AT_ONCE]
        margin = float(writes)
        found = [(a, Prediction("soak", "1", "AGE", margin, (0.5,) * 16)) for a in some]
        store.predictions.save(model, found)
        margins.update(dict.fromkeys(some, margin))
        done, writes = done + len(some), writes + 1
        time.sleep(BETWEEN_WRITES)
        if time.monotonic() - told > PROGRESS_SECONDS:
            told = time.monotonic()
            values = {"id": job, "done": done, "at": str(told), "phase": "predicting"}
            with store.connections.fast_write() as connection:  # as above
                connection.execute(JOB_PROGRESS, values)
            reported = done
    with store.connections.fast_write() as connection:  # as above
        connection.execute(JOB_LEFT, {"id": job})
    return {
        "job": job,
        "done": reported,
        "predictions": done,
        "writes": writes,
        "there": [len(margins), sum(margins.values())],
    }


def exporter(store: Store, going: Callable[[], bool], folder: Path) -> dict[str, object]:
    """Export everything as gold, over and over, each time into a file of its own."""
    count = 0
    while going():
        export_file(store, parse(""), GOLD, folder / f"export-{count:05d}.jsonl")
        count += 1
        time.sleep(BETWEEN_EXPORTS)
    return {"exports": count}


ROLES = {"probe": probe, "trainer": trainer, "exporter": exporter}


def play(role: str, database: Path, folder: Path) -> None:
    """One process' part: until the file `stop` stands in the folder; result as JSON there."""
    stop = folder / "stop"
    with Store.open(database) as store:
        result = ROLES[role](store, lambda: not stop.exists(), folder)
    (folder / f"{role}.json").write_text(json.dumps(result), "utf-8")


# --- the screens ----------------------------------------------------------------------------


@dataclass
class Worked:
    """What a screen was asked, and what it said. waits: from enter to “saved”, in seconds."""

    kinds: list[Kind] = field(default_factory=list)
    saved: int = 0
    waits: list[float] = field(default_factory=list)
    status: int | None = None
    written: bytes = b""
    trouble: str = ""


def foot(text: str) -> str:
    """The line of state."""
    return text.split("\n")[-2]


def work_screen(
    mode: str, split: str, me: str, database: Path, seconds: float, answers: int
) -> Worked:
    """Answer one item after the other by keys, waiting each time for “saved”."""
    found = Worked()
    command = [mode, f"split:{split}", "sort:order", "--db", str(database), "--as", me]
    with Desk(command) as desk:
        try:
            desk.until(lambda text: "1/" in foot(text), "the first item")
            desk.until_text("00000")
            begun = time.monotonic()
            for key in itertools.cycle(KEYS):
                if time.monotonic() - begun > seconds and found.saved >= answers:
                    break
                _answer(desk, key, found)
            found.status = desk.quit()
        except TimeoutError as error:
            found.trouble = str(error)
        found.written = desk.written
    return found


def _answer(desk: Desk, key: str, found: Worked) -> None:
    number = len(found.kinds)
    desk.until_text(f"{number:05d} said")
    desk.press(key)
    desk.until(lambda text: "saved" not in foot(text), "a line of state without “saved”")
    desk.press("\r")
    found.kinds.append(KEYS[key])
    begun = time.perf_counter()
    desk.until(lambda text: "saved" in foot(text), "“saved”")
    found.waits.append(time.perf_counter() - begun)
    found.saved += 1
    desk.until(lambda text: f" {number + 2}/" in foot(text), "the next item")


# --- all together ---------------------------------------------------------------------------


@dataclass
class Together:
    """What came of it. wrong: whatever was lost, torn, refused, or seen locked."""

    annotated: Worked
    adjudicated: Worked
    results: dict[str, dict[str, object]]
    exports: int = 0
    imported: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def took(self) -> list[float]:
        """Seconds of each of the probe's commits, ascending."""
        found = self.results["probe"]["took"]
        assert isinstance(found, list)
        return sorted(found)


def run(
    folder: Path, seconds: float, each: int, reimported: int, *, answers: int = 0
) -> Together:
    """Let all of them work for so many seconds, then look.

    reimported: exports to bring in again. answers: how many each screen gives at least, and
    then the exporter goes on until there is one more than are brought in again.
    """
    database = folder / "nfh.db"
    make(database, each)
    script = Path(__file__).parents[1] / "soak_two_screens.py"
    beside = {
        role: subprocess.Popen(
            [sys.executable, str(script), "--role", role, str(database), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for role in ROLES
    }
    worked: dict[str, Worked] = {}

    def screen(mode: str, split: str, me: str) -> None:
        worked[mode] = work_screen(mode, split, me, database, seconds, answers)

    screens = [
        threading.Thread(target=screen, args=("annotate", LEFT, "ann")),
        threading.Thread(target=screen, args=("adjudicate", RIGHT, "eva")),
    ]
    for thread in screens:
        thread.start()
    for thread in screens:
        thread.join()
    while (
        len(list(folder.glob("export-*.jsonl"))) < reimported + 1
        and answers
        and beside["exporter"].poll() is None
    ):
        time.sleep(0.05)
    (folder / "stop").touch()
    said = {role: process.communicate(timeout=600)[0] for role, process in beside.items()}
    results = {
        role: json.loads(path.read_text("utf-8")) if path.exists() else {}
        for role in ROLES
        for path in [folder / f"{role}.json"]
    }
    found = Together(worked["annotate"], worked["adjudicate"], results)
    for role, process in beside.items():
        if process.returncode or said[role]:
            found.wrong.append(f"{role} ended with {process.returncode}: {said[role]!r}")
    _look(found, database, folder, reimported)
    return found


def _look(found: Together, database: Path, folder: Path, reimported: int) -> None:
    for name, worked in (("annotate", found.annotated), ("adjudicate", found.adjudicated)):
        if worked.trouble or worked.status:
            found.wrong.append(f"{name} ended with {worked.status}: {worked.trouble}")
        if worked.saved != len(worked.kinds):
            found.wrong.append(f"{name}: {len(worked.kinds)} sent, {worked.saved} said saved")
        for word in (b"locked", b"not saved", b"Traceback", b"not on disk"):
            if word in worked.written:
                found.wrong.append(f"{name}: “{word.decode()}” was on the screen")
    with Store.open(database) as store:
        _look_at_answers(found, store)
    found.wrong += _lost_writes(found, database)
    found.wrong += faults(database)
    _look_at_exports(found, sorted(folder.glob("export-*.jsonl")), folder, reimported)


def _look_at_answers(found: Together, store: Store) -> None:
    ballots = list(store.items.ballots(parse("sort:order")))
    for split, name, role, sent in (
        (LEFT, "ann", Role.ANNOTATOR, found.annotated.kinds),
        (RIGHT, "eva", Role.ADJUDICATOR, found.adjudicated.kinds),
    ):
        own = [ballot for ballot in ballots if ballot.split == split]
        given = [
            [v.answer.kind for v in b.votes if (v.annotator, v.role) == (name, role)]
            for b in own
        ]
        if given != [[kind] for kind in sent] + [[]] * (len(own) - len(sent)):
            stored = sum(map(len, given))
            found.wrong.append(f"{name}: {len(sent)} answers sent, other {stored} are there")
        if role is Role.ADJUDICATOR:
            golds = [b.gold.answer.kind for b in own if b.gold is not None]
            if golds != list(sent):
                found.wrong.append(f"{name}: {len(sent)} decisions, {len(golds)} golds")
    took = len(found.took)
    comments = sorted(
        int(v.answer.comment) for b in ballots if b.split == PROBE for v in b.votes
    )
    if comments != list(range(max(0, took - PROBED), took)):
        found.wrong.append(f"probe: {took} answers, the last ones are not what is there")


def _lost_writes(found: Together, database: Path) -> Iterator[str]:
    result = found.results["trainer"]
    reader = connect(database, "ro")
    try:
        there = list(reader.execute(MARGINS).fetchone())
        done = reader.execute(JOB_DONE, {"id": result["job"]}).fetchone()[0]
    finally:
        reader.close()
    if there != result["there"]:
        yield f"trainer: predictions {result['there']} were written, {there} are there"
    if done != result["done"]:
        yield f"trainer: progress {result['done']} was written, {done} is there"


def _look_at_exports(
    found: Together, exports: Sequence[Path], folder: Path, reimported: int
) -> None:
    """Each is whole and of one moment; some are brought into an empty database."""
    found.exports = len(exports)
    before: tuple[int, ...] = (0, 0, 0)
    for path in exports:
        rows = list(read_gold(Source(path)))
        counts = tuple(
            _prefix(found, path, rows, split, name)
            for split, name in ((LEFT, "ann"), (RIGHT, "eva"))
        )
        latest = (*counts, _probed(found, path, rows))
        if any(now < then for now, then in zip(latest, before, strict=True)):
            found.wrong.append(f"{path.name}: {latest} after {before}: something went away")
        before = latest
    step = max(1, len(exports) // reimported)
    for path in exports[::-step][:reimported]:
        again, back = folder / "again.db", folder / "back.jsonl"
        with Store.open(again, create=True) as other:
            import_file(other, Source(path), GOLD, ImportOptions())
            export_file(other, parse(""), GOLD, back)
        if back.read_bytes() != path.read_bytes():
            found.wrong.append(f"{path.name}: does not come back as it was")
        again.unlink()
        found.imported += 1


def _prefix(found: Together, path: Path, rows: Sequence[GoldRow], split: str, name: str) -> int:
    """How many answers of a screen an export holds: those given first, without a gap."""
    own = [row for row in rows if row.split == split]
    has = [any(vote.annotator == name for vote in row.votes) for row in own]
    if has != sorted(has, reverse=True):
        found.wrong.append(f"{path.name}: {name}'s answers are not those of one moment")
    for row, answered in zip(own, has, strict=True):
        if split == RIGHT and answered != (row.gold is not None):
            found.wrong.append(
                f"{path.name}: a decision without its gold, or a gold without it"
            )
    return sum(has)


def _probed(found: Together, path: Path, rows: Sequence[GoldRow]) -> int:
    """The probe's newest answer in an export; the ones before it have to be there too."""
    numbers = sorted(
        int(vote.answer.comment) for row in rows if row.split == PROBE for vote in row.votes
    )
    if numbers and numbers != list(range(numbers[-1] - len(numbers) + 1, numbers[-1] + 1)):
        found.wrong.append(f"{path.name}: the probe's answers are not those of one moment")
    return numbers[-1] if numbers else 0
