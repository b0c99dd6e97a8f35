"""How long from asking for one anchor's prediction to hearing that it is in the database.

    python benchmarks/live_prediction.py [--anchors 300] [--model cues]
        [--turns 4] [--busy]

Asks the real predictor child, warm, as the workbench does, of a database it makes: a passage
of four turns for each anchor, so that nothing is known from before. As a yardstick the same
passages go through the bare model in this process, one at a time and nothing else: `small`
resolves them, the pipeline that `cues` needs tags them. --turns: of a passage, for longer
ones. --busy: two processes of lower priority (nice 10) work beside it, as training does.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from statistics import quantiles

from data import number_at, sentences

from nfh_db.import_run import IncomingFile
from nfh_db.records import IncomingAnchor, IncomingPassage
from nfh_db.store import Store
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.parsing.base import WordSpan
from nfh_models.parsing.spacy_parser import load_tagger
from nfh_models.resolution.base import Item
from nfh_models.resolution.recipes import BASE, CUES, SMALL, load_resolver
from nfh_tui.services.models import ensure_built_in, is_packaged
from nfh_tui.services.predictor_client import PredictorClient, PredictorState

BUDGET_MS = 80.0
BUDGET_BUSY_MS = 150.0
WARM_UP = 20

BUSY = "import math, os\nos.nice(10)\nwhile True: math.factorial(2000)"


def passages(count: int, length: int) -> Iterator[tuple[Passage, Anchor]]:
    """Passages of so many made-up turns; the anchor is the number of the last but one."""
    source = sentences(count * length)
    while group := list(islice(source, length)):
        tokens: list[Token] = []
        turns: list[Turn] = []
        place = 0
        for number, words in enumerate(group):
            start = len(tokens)
            for word in words:
                tokens.append(Token(place, place + len(word), word.lower()))
                place += len(word) + 1
            turns.append(Turn(number, f"S{number % 2}", start, len(tokens)))
        text = " ".join(word for words in group for word in words)
        at = turns[-2].start + number_at(group[-2])
        yield Passage(text, tuple(tokens), tuple(turns)), Anchor(at, at + 1)


def make_database(path: Path, made: list[tuple[Passage, Anchor]], model: str) -> None:
    """A database of these passages; anchors get ids from 1 on. model: the active one."""
    incoming = [
        IncomingPassage(passage, "made up", (IncomingAnchor(line, anchor),))
        for line, (passage, anchor) in enumerate(made, 1)
    ]
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("made up", "0" * 64, "dialog"), incoming)
        ensure_built_in(store)
        for name in (CUES, "rules") if model == CUES else (model,):
            store.models.activate(
                next(one.id for one in store.models.all() if one.name == name)
            )


async def round_trips(path: Path, anchors: int) -> list[float]:
    """Milliseconds of each ask, one after the other, after some that do not count."""
    heard: asyncio.Queue[int] = asyncio.Queue()
    ready = asyncio.Event()
    recipe: list[str | None] = []

    def on_state(state: PredictorState) -> None:
        if state.status == "off":
            sys.exit(state.sentence)
        if state.status == "ready":
            recipe.append(state.model)
            ready.set()

    client = PredictorClient(path, heard.put_nowait, on_state)
    began = time.perf_counter()
    await client.start()
    await ready.wait()
    print(f"  recipe {recipe[-1]}, ready after {time.perf_counter() - began:.1f} s")
    taken = []
    for anchor_id in range(1, anchors + 1):
        began = time.perf_counter()
        client.ask([anchor_id])
        assert await heard.get() == anchor_id
        taken.append((time.perf_counter() - began) * 1000)
    print(f"  memory of the child: {memory(client.pid)}")
    await client.stop()
    return taken[WARM_UP:]


def memory(pid: int | None) -> str:
    """What a process holds in memory, where the system tells that in /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
        found = next(line for line in lines if line.startswith("VmRSS:"))
        return f"{int(found.split()[1]) / 1024:.0f} MB"
    except (OSError, StopIteration):
        return "unknown"


def bare(made: list[tuple[Passage, Anchor]], model: str) -> list[float]:
    """Milliseconds of the bare model for each passage, after some that do not count."""
    resolver = None if model == CUES else load_resolver(model)
    tagger = load_tagger() if resolver is None else None
    taken = []
    for passage, anchor in made:
        began = time.perf_counter()
        if resolver is not None:
            resolver.resolve([Item(passage, anchor)])
        if tagger is not None:
            tagger.tag([WordSpan.of(passage)])
        taken.append((time.perf_counter() - began) * 1000)
    return taken[WARM_UP:]


@contextmanager
def work_beside(busy: bool) -> Iterator[None]:
    """Two processes of lower priority that never rest, if wanted."""
    workers = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * busy)]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def percentiles(taken: list[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    cuts = quantiles(taken, n=20)
    return cuts[9], cuts[18]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--anchors", type=int, default=300)
    parser.add_argument("--model", choices=(BASE, SMALL, CUES), default=SMALL)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--busy", action="store_true", help="with two processes beside it")
    arguments = parser.parse_args()
    if arguments.model != CUES and not is_packaged(arguments.model):
        sys.exit("there is no model in the package: --model cues measures the other recipe")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the child does
    made = list(passages(arguments.anchors + WARM_UP, arguments.turns))
    words = sum(len(passage.tokens) for passage, _ in made) / len(made)
    print(f"live prediction of {arguments.anchors} anchors, {words:.0f} tokens a passage")
    with tempfile.TemporaryDirectory() as folder, work_beside(arguments.busy):
        path = Path(folder) / "nfh.db"
        make_database(path, made, arguments.model)
        median, high = percentiles(asyncio.run(round_trips(path, len(made))))
        alone, alone_high = percentiles(bare(made, arguments.model))
    budget = BUDGET_BUSY_MS if arguments.busy else BUDGET_MS
    print(f"  round trip  p50 {median:6.1f} ms  p95 {high:6.1f} ms  (budget {budget:.0f} ms)")
    print(f"  bare model  p50 {alone:6.1f} ms  p95 {alone_high:6.1f} ms")
    print(f"  ratio       p50 {median / alone:6.2f}     p95 {high / alone_high:6.2f}")


if __name__ == "__main__":
    main()
