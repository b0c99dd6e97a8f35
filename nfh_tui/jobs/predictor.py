"""The predictor child: `python -m nfh_tui.jobs.predictor --db PATH`.

It loads the models once, reads asks from standard input and writes replies to standard
output, one JSON line each; everything else that is printed goes to standard error. The
newest ask comes first, within an ask the anchors in order. What models say of an anchor, its
head and whether its noun is missing, is in the database before its reply is sent. The child
ends when its input closes or its parent is gone.
"""

import argparse
import os
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from nfh_db.errors import StoreError
from nfh_db.records import Annotator, Item, Prediction, Role
from nfh_db.store import Store
from nfh_models.parsing import NoPipelineError, Tagger, load_tagger
from nfh_models.resolution import cues, nearest_noun
from nfh_tui.jobs.live_identifier import LiveIdentifier
from nfh_tui.jobs.protocol import (
    NO_PIPELINE,
    Aside,
    Ask,
    Done,
    Failed,
    Ready,
    Reply,
    decode_ask,
    encode,
)

PARENT_CHECK = 2.0
"""Seconds between two looks at whether the parent still lives, while nothing is asked."""

BACKLOG = 256
"""Asks that may wait; of more the oldest are forgotten, nobody looks at those any longer."""

REMEMBERED = 128
"""Tagged passages kept: the anchors of one passage are mostly asked one after the other."""

_NOBODY = Annotator(0, "", "model")
"""Reads items as nobody in particular: no drafts, no flags of one's own."""


class Asks:
    """Asks waiting, newest first; filled by one thread and emptied by another."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Ask, deque[int]]] = []
        self._changed = threading.Condition()
        self._closed = False

    def add(self, ask: Ask) -> None:
        """An ask that overtakes all others."""
        with self._changed:
            self._waiting.append((ask, deque(ask.anchors)))
            del self._waiting[:-BACKLOG]
            self._changed.notify()

    def close(self) -> None:
        """No more will come, and what still waits is wanted by nobody."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    @property
    def closed(self) -> bool:
        """Whether the input has ended."""
        return self._closed

    def take(self, timeout: float) -> tuple[Ask, int] | None:
        """The next anchor and its ask; None if none came in `timeout` seconds, or closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._clean(), timeout)
            if self._closed or not self._clean():
                return None
            ask, anchors = self._waiting[-1]
            return ask, anchors.popleft()

    def _clean(self) -> bool:
        while self._waiting and not self._waiting[-1][1]:
            self._waiting.pop()
        return bool(self._waiting)


class Predictor:
    """The models with the store they read from and write to."""

    def __init__(self, store: Store, tagger: Tagger) -> None:
        self.name = cues.NAME
        self._store = store
        self._tagger = tagger
        self._tags: OrderedDict[tuple[str, int, int], list[str]] = OrderedDict()
        version = f"{cues.VERSION} {tagger.name}"
        self._model = store.ensure_model(
            self.name, cues.TASK, self.name, version, in_place_of=nearest_noun.NAME
        )
        self._identifier = LiveIdentifier(store)
        self._told = ""

    def predict(self, anchor_id: int, *, force: bool) -> float | None:
        """Predict and identify an anchor; the seconds it took, 0.0 if all was known.

        None: nobody sees this anchor (any more). Raises StoreError.
        """
        began = time.perf_counter()
        item = self._store.item(anchor_id, _NOBODY, Role.ANNOTATOR)
        if item is None:
            return None
        known = item.prediction is not None and item.prediction.model == self.name
        if force or not known:
            self._predict(item)
        identified = self._identifier.identify(item, force=force)
        return time.perf_counter() - began if force or not known or identified else 0.0

    def news(self) -> str:
        """Why it cannot identify, the first time that this is asked for; else ""."""
        trouble = self._identifier.trouble
        new = trouble if trouble != self._told else ""
        self._told = trouble
        return new

    def _predict(self, item: Item) -> None:
        choice = cues.predict(item.passage, item.anchor, self._tags_of(item))
        prediction = Prediction(
            self.name, choice.choice, choice.second, choice.margin, choice.scores
        )
        self._store.save_predictions(self._model, [(item.anchor_id, prediction)])

    def _tags_of(self, item: Item) -> list[str]:
        start, end = nearest_noun.reach(item.passage, item.anchor)
        key = (item.passage.digest, start, end)
        tags = self._tags.get(key)
        if tags is None:
            stretch = cues.stretch(item.passage, item.anchor)
            tags = self._tags[key] = self._tagger.tag([stretch])[0]
            if len(self._tags) > REMEMBERED:
                self._tags.popitem(last=False)
        return tags


def answer(predictor: Predictor, ask: Ask, anchor_id: int) -> Reply:
    """The reply to one anchor of an ask."""
    try:
        seconds = predictor.predict(anchor_id, force=ask.force)
    except StoreError as error:
        return Failed(f"No prediction: {error}", ask.id, anchor_id)
    if seconds is None:
        return Failed(f"No prediction: anchor {anchor_id} is gone.", ask.id, anchor_id)
    return Done(ask.id, anchor_id, seconds)


def read_asks(lines: Iterable[bytes], asks: Asks, reply: Callable[[Reply], None]) -> None:
    """Pass on what is asked until the input ends. A line that is no ask is answered so."""
    for line in lines:
        try:
            asks.add(decode_ask(line))
        except msgspec.DecodeError as error:
            reply(Failed(f"The predictor was asked something it cannot read: {error}"))
    asks.close()


def serve(predictor: Predictor, asks: Asks, reply: Callable[[Reply], None]) -> None:
    """Answer until the input closes or the parent is gone."""
    parent = os.getppid()
    while not asks.closed:
        taken = asks.take(PARENT_CHECK)
        if taken is not None:
            reply(answer(predictor, *taken))
            news = predictor.news()
            if news:
                reply(Aside(news))
        elif os.getppid() != parent:
            return


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the child; its exit status: 0, 1 (see the last reply), or NO_PIPELINE."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.predictor")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    database: Path = parser.parse_args(arguments).db
    output = _protocol_output()
    lock = threading.Lock()

    def reply(message: Reply) -> None:
        with lock:
            output.write(encode(message))

    asks = Asks()
    reader = threading.Thread(
        target=read_asks, args=(_lines(sys.stdin.fileno()), asks, reply), daemon=True
    )
    reader.start()
    try:
        return _run(database, asks, reply)
    except BrokenPipeError:  # the parent went away while it was being answered
        return 0


def _run(database: Path, asks: Asks, reply: Callable[[Reply], None]) -> int:
    try:
        tagger = load_tagger()
        with Store.open(database) as store:
            predictor = Predictor(store, tagger)
            reply(Ready(predictor.name, tagger.name))
            serve(predictor, asks, reply)
    except NoPipelineError as error:
        reply(Failed(str(error)))
        return NO_PIPELINE
    except StoreError as error:
        reply(Failed(str(error)))
        return 1
    return 0


def _lines(descriptor: int) -> Iterator[bytes]:
    """Lines as they come. Not by sys.stdin: Python aborts at its end if a thread still waits
    for that, and this thread waits until the parent closes our input."""
    rest = b""
    while chunk := os.read(descriptor, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _protocol_output() -> BinaryIO:
    """Standard output for replies alone: what anybody else prints goes to standard error."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(own, "wb", buffering=0)


if __name__ == "__main__":
    sys.exit(main())
