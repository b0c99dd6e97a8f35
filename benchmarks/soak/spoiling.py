"""Commands whose disk fills up, turns read-only or fails while they are at work."""

import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.database import back_up
from nfh_db.formats.registry import GOLD
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Role, Vote
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Passage, Token, Turn, class_answer
from nfh_tui.services.imports import export_file
from soak.checks import faults
from soak.disks import MoodyDisk
from soak.state import State, read_state

MOODS = ("full", "read-only", "failing")
COMMANDS = ("import", "export", "settle", "backup", "merge")
SENTENCES = (
    "is full",
    "read-only",
    "cannot be read or written",
    "cannot be written",
    "No copy was made",
    "could not all be",
)
"""What a refusal says, one of these."""

ANCHORS = 1_500
AT = "2026-01-02T03:04:05.678Z"


@dataclass
class Spoilt:
    """What came of the runs. how: ended well or refused, by command and mood."""

    runs: int = 0
    how: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def passages(count: int, word: str, voters: Sequence[str]) -> Iterator[IncomingPassage]:
    """Made-up passages of one anchor, with everybody's answers."""
    votes = tuple(Vote(v, Role.ANNOTATOR, class_answer(Kind.AGE), AT) for v in voters)
    for number in range(count):
        words = f"{word} {number} said one of them is mine".split()
        tokens, place = [], 0
        for each in words:
            tokens.append(Token(place, place + len(each), each))
            place += len(each) + 1
        turn = Turn(0, "Ann", 0, len(tokens))
        passage = Passage(" ".join(words), tuple(tokens), (turn,))
        anchor = IncomingAnchor(number + 1, Anchor(3, 4), votes=votes)
        yield IncomingPassage(passage, "words", (anchor,))


class Spoiler:
    """Runs commands on a moody disk. folder: for what lies beside it. Seeded but for time.

    anchors: of the database; as many come in with the file and with the other copy.
    """

    def __init__(
        self, folder: Path, disk: MoodyDisk, seed: int = 1, anchors: int = ANCHORS
    ) -> None:
        self.spoilt = Spoilt()
        self.anchors = anchors
        self._source = random.Random(seed)
        self._disk = disk
        self._template = folder / "template.db"
        self._other = folder / "other.db"
        self._rows = folder / "rows.jsonl"
        self._database = disk.folder / "nfh.db"
        self._lasts: dict[str, float] = {}
        self._prepare(folder)

    def _prepare(self, folder: Path) -> None:
        with Store.open(self._template, create=True) as store:
            rows = passages(self.anchors, "here", ("ann", "ben"))
            store.imports.load(IncomingFile("here", "1", "gold"), rows)
        back_up(self._template, self._other)
        with Store.open(self._other) as store:
            me = store.people.ensure("far")
            for anchor in range(1, 60):
                store.edits.commit_answer(anchor, me, Role.ADJUDICATOR, class_answer(Kind.YEAR))
            rows = passages(self.anchors, "there", ("far",))
            store.imports.load(IncomingFile("there", "2", "gold"), rows)
        with Store.open(folder / "rows.db", create=True) as store:
            both = [
                *passages(self.anchors, "more", ("cat",)),
                *passages(self.anchors // 2, "here", ("cat",)),
            ]
            store.imports.load(IncomingFile("rows", "3", "gold"), both)
            export_file(store, parse(""), GOLD, self._rows)

    # --- one run --------------------------------------------------------------------------

    def run(self, command: str, mood: str) -> None:
        """Let a command's disk change its mood at a random moment of its work."""
        self._fresh()
        before = read_state(self._database)
        moment = self._source.uniform(0.2, 1) * self._long(command)
        process = self._start(command)
        time.sleep(moment)
        self._disk.mood(mood)
        _, said = process.communicate(timeout=60)
        self._disk.mood("well")
        what = f"{command}, {mood} after {moment:.3f} s"
        self.spoilt.runs += 1
        if process.returncode not in (0, 1):
            self._wrong(what, f"ended with {process.returncode}: {said}")
        elif process.returncode == 1:
            self._look_at_refusal(what, said)
        ended = "done" if process.returncode == 0 else "refused"
        self.spoilt.how[f"{command}/{mood} {ended}"] += 1
        self._look(what, before)
        self._again(what, command, process.returncode)

    def _fresh(self) -> None:
        for path in self._disk.folder.iterdir():
            path.unlink()
        shutil.copy(self._template, self._database)
        (self._disk.folder / "out.jsonl").write_text("old\n")

    def _start(self, command: str) -> "subprocess.Popen[str]":
        arguments: dict[str, list[object]] = {
            "import": [self._rows, "--replace-gold"],
            "export": ["--format", "gold", "--out", self._disk.folder / "out.jsonl"],
            "settle": ["--rule", "majority", "--as", "boss"],
            "backup": [self._disk.folder / "copy.db"],
            "merge": [self._other, "--as", "boss"],
        }
        words = [command, *arguments[command], "--db", self._database]
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "nfh_tui", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _long(self, command: str) -> float:
        """Seconds that a command takes where nothing is wrong; measured once."""
        if command not in self._lasts:
            begun = time.monotonic()
            process = self._start(command)
            _, said = process.communicate(timeout=60)
            self._lasts[command] = time.monotonic() - begun
            if process.returncode:
                self._wrong(command, f"does not work on a well disk: {said}")
            self._fresh()
        return self._lasts[command]

    # --- what is left ---------------------------------------------------------------------

    def _wrong(self, what: str, why: str) -> None:
        self.spoilt.wrong.append(f"{what}: {why}")

    def _look_at_refusal(self, what: str, said: str) -> None:
        if "Traceback" in said or not any(one in said for one in SENTENCES):
            self._wrong(what, f"refused without a proper sentence: {said}")

    def _look(self, what: str, before: State) -> None:
        """The database is sound, and says all it said before."""
        Store.open(self._database).close()
        for fault in faults(self._database):
            self._wrong(what, fault)
        after = read_state(self._database)
        gone = [key for key, said in before.items() if after.get(key) != said]
        if gone:
            self._wrong(what, f"{len(gone)} values are gone, as {gone[0]}")

    def _again(self, what: str, command: str, status: int) -> None:
        """Half a file is nowhere; the command works now."""
        out, copy = self._disk.folder / "out.jsonl", self._disk.folder / "copy.db"
        rows = out.read_text("utf-8").count("\n")
        if rows not in (1, self.anchors):
            self._wrong(what, f"an export of {rows} lines is there")
        if copy.exists():
            for fault in faults(copy):
                self._wrong(what, f"the copy: {fault}")
            if status:
                self._wrong(what, "the copy was refused, and is there")
            copy.unlink()
        process = self._start(command)
        _, said = process.communicate(timeout=60)
        if process.returncode:
            self._wrong(what, f"does not work afterwards: {said}")
        for fault in faults(self._database):
            self._wrong(what, f"afterwards: {fault}")
