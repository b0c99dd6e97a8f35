"""A real engine, loaded once, and texts of our own wording to scan."""

import random
from functools import partial
from pathlib import Path

import msgspec
import pytest

from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.scan import Scan, ScanRequest
from nfh_tui.scanning.worker import (
    BlockBytes,
    BlockProcessor,
    BlockTask,
    PendingFigures,
    ScanHandshake,
)

NUMBERED = (
    "She asked for a lamp, and then for another one.",
    "He took two pears and left me the other three.",
    "There are 12 chairs, but we only need 7.",
    "No one came.",
)
PLAIN = (
    "Mr. Oake sold the boat.",
    "“Did you see the heron?”",
    "Nobody had painted the gate since spring!",
    "It was dark…",
    "The café at the corner closes early.",
)
SENTENCES = (*NUMBERED, *PLAIN, *PLAIN)
RULES = BlockTask("rules", None, None, per_line=False)


def text_of(paragraphs: int, seed: int = 5) -> str:
    """Paragraphs of some sentences, most without a number."""
    source = random.Random(seed)
    made = []
    for _ in range(paragraphs):
        words = " ".join(source.choices(SENTENCES, k=source.randint(1, 9)))
        made.append(words.replace(" ", "\n", source.randint(0, 3)))
    return "\n\n".join(made) + "\n"


class Inline:
    """Workers that are this process: nothing is done before it is asked for.

    fail_at: the block, counted from 0, at which they give up with `KeyboardInterrupt`.
    """

    def __init__(self, engine: BlockProcessor, fail_at: int = -1) -> None:
        self.processor = engine
        self.at_once = 3
        self.fail_at = fail_at
        self.done = 0

    def handshake(self) -> ScanHandshake:
        return self.processor.handshake()

    def submit(self, piece: BlockBytes) -> PendingFigures:
        return partial(self._later, piece.data)

    def _later(self, data: bytes) -> TextFigures:
        if self.done == self.fail_at:
            raise KeyboardInterrupt
        self.done += 1
        return self.processor.scan(data)

    def close(self) -> None:
        pass


def figures(scan: Scan) -> list[object]:
    """All that was counted, without what depends on the clock."""
    return [msgspec.to_builtins(file.tally) for file in scan.files]


def scanned(pool: object, home: Path | None, *names: object, per_line: bool = False) -> Scan:
    job = Scan(ScanRequest([str(name) for name in names], per_line, home), pool)  # type: ignore[arg-type]
    job.run()
    return job


@pytest.fixture(scope="session")
def engine() -> BlockProcessor:
    return BlockProcessor(RULES)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks of 1,000 bytes, so that a small file has many."""
    monkeypatch.setattr("nfh_tui.scanning.blocks.SIZE", 1_000)
    return 1_000


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(text_of(35), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data and a state folder of its own for each test; no database is named."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("NFH_TUI_DB", raising=False)
