"""How long it takes to reach beyond the item: precedents, similar items, bulk acts.

    python benchmarks/beyond.py [--anchors 184507] [--keep PATH] [--decided 5000]

Makes a database in which three people have answered every anchor, or takes one that is kept,
and decides so many of it as an expert, in bulk, while another writer commits answers. Prints
the preview and the act, how long the other writer waited, and, of 50 items, what precedents
and similar items take (median and worst, and the processor's time, which others' work does
not make longer).
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Self

import votes_data

from nfh_db.bulk_plan import BulkOperation, OperationKind
from nfh_db.query import parse
from nfh_db.records import AnchorItem, Annotator, Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer

ITEMS = 50
PRECEDENTS_MS = 30.0


class Other:
    """Somebody who answers one item after the other, and notes how long each commit took."""

    def __init__(self, path: Path, ids: list[int]) -> None:
        self.waited: list[float] = []
        self._path = path
        self._ids = ids
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _work(self) -> None:
        with Store.open(self._path) as store:
            me = store.people.ensure("somebody else")
            answer = class_answer(Kind.TIME)
            for anchor_id in self._ids:
                begun = time.perf_counter()
                store.edits.commit_answer(anchor_id, me, Role.ANNOTATOR, answer)
                self.waited.append((time.perf_counter() - begun) * 1000)
                if self._stopped.wait(0.05):
                    return


def decide(store: Store, me: Annotator, count: int, ids: list[int]) -> None:
    """Decide `count` anchors in bulk, somebody else writing meanwhile."""
    wish = BulkOperation(OperationKind.PROPOSAL)
    begun = time.perf_counter()
    found = store.bulk.preview(ids[: 2 * count], wish, me)
    looked = time.perf_counter() - begun
    print(f"preview of {found.looked:,} items: {looked:.1f} s, {len(found.ids):,} would change")
    with Other(store.path, ids[-2_000:]) as other:
        begun = time.perf_counter()
        done = store.bulk.run(found.ids[:count], wish, me)
        took = time.perf_counter() - begun
    waited = sorted(other.waited)
    print(
        f"act on {done.changed:,} items: {took:.1f} s ({done.changed / took:,.0f} a second); "
        f"somebody else's {len(waited)} commits: median {median(waited):.1f} ms, "
        f"p95 {waited[int(len(waited) * 0.95) - 1]:.1f} ms, worst {waited[-1]:.1f} ms"
    )


def timed(words: str, items: list[AnchorItem], act: Callable[[AnchorItem], object]) -> None:
    """Print what an act takes on each of some items."""
    wall, processor = [], []
    for item in items:
        begun, used = time.perf_counter(), time.thread_time()
        act(item)
        wall.append((time.perf_counter() - begun) * 1000)
        processor.append((time.thread_time() - used) * 1000)
    print(
        f"{words:<14} median {median(wall):6.1f} ms, worst {max(wall):6.1f} ms; "
        f"processor: median {median(processor):6.1f} ms, worst {max(processor):6.1f} ms"
    )


def measure(path: Path, count: int) -> None:
    """Decide in bulk, then ask for precedents and similar items."""
    with Store.open(path) as store:
        me = store.people.ensure("eva")
        ids = [i for chunk in store.queue.ids(parse("-by:eva"), me) for i in chunk]
        decide(store, me, count, ids)
        some = list(islice(ids, 0, None, max(1, len(ids) // ITEMS)))[:ITEMS]
        items = [i for i in (store.items.read(id_, me, Role.ADJUDICATOR) for id_ in some) if i]

        def precedents(item: AnchorItem) -> object:
            answer = item.votes[0].answer
            nouns = {item.passage.tokens[m.head].lemma for m in answer.mentions()}
            return store.similar.precedents(item.anchor_id, me, nouns, "R5")

        timed("precedents", items, precedents)
        timed(
            "similar items",
            items,
            lambda item: store.similar.find(
                item.anchor_id, item.passage, item.votes[0].answer, me
            ),
        )
        print(f"budget of precedents: {PRECEDENTS_MS:.0f} ms")


def main() -> None:
    """Build, measure, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--anchors", type=int, default=votes_data.ANCHORS)
    options.add_argument("--decided", type=int, default=5_000)
    options.add_argument("--keep", type=Path, help="build the database here and leave it")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (chosen.keep or Path(folder) / "votes.db").resolve()
        if not path.exists():
            votes_data.build(path, chosen.anchors)
        measure(path, chosen.decided)


if __name__ == "__main__":
    main()
