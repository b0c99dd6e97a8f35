"""The predictor child: `python -m nfh_tui.jobs.predictor --db PATH`.

It loads the active models once, and another where that has become active, which it looks for
also while nothing is asked. It reads asks from
standard input and writes replies to standard output, one JSON line each; everything else that
is printed goes to standard error. The newest ask comes first, within an ask the anchors in
order. What models say of an anchor, its head and whether its noun is missing, is in the
database before its reply is sent. The child ends when its input closes or its parent is gone.
"""

import argparse
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from nfh_db.errors import StoreError
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_models.parsing import NoPipelineError
from nfh_tui.jobs.live_identifier import LiveIdentifier
from nfh_tui.jobs.live_resolver import LiveResolver
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
"""Seconds between two looks at whether the parent still lives, and the same models are in use,
while nothing is asked."""

BACKLOG = 256
"""Asks that may wait; of more the oldest are forgotten, nobody looks at those any longer."""

NO_MODEL = "no model"
"""What answers while the active model cannot be used."""

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
    """The active models with the store they read from and write to.

    One network that serves both tasks is in memory once.
    """

    def __init__(self, store: Store) -> None:
        """Load the active model of resolution; that of identification when it is needed.

        Raises NoPipelineError where the model needs a pipeline and there is none.
        """
        self._store = store
        self._loaded: dict[tuple[str, str], object] = {}
        self._resolver = LiveResolver(store, self._loaded)
        self._identifier = LiveIdentifier(store, self._loaded)
        self._told: dict[str, str] = {}
        self._beside = self._identifies()

    @property
    def ready(self) -> Ready:
        """What answers now."""
        beside = "" if self._beside == self._resolver.name else self._beside
        return Ready(self._resolver.name or NO_MODEL, self._resolver.pipeline, beside)

    def refresh(self) -> bool:
        """Load what has become active meanwhile; True if another is in use than before.

        Raises StoreError.
        """
        changed = self._resolver.refresh()
        if changed:
            self._forget_unused()
        before, self._beside = self._beside, self._identifies()
        # The first of all comes into use by being asked: that is no change.
        return changed or bool(before and before != self._beside)

    def _identifies(self) -> str:
        """The name of the active model of identification; "" for none."""
        active = self._store.identifying()
        return "" if active is None else active.name

    def predict(self, anchor_id: int, *, force: bool) -> float | None:
        """Predict and identify an anchor; the seconds it took, 0.0 if all was known.

        One at a time: four together take a network on a processor as long as one by one, and
        a newer ask would wait for them. None: nobody sees this anchor (any more). Raises
        StoreError.
        """
        began = time.perf_counter()
        item = self._store.item(anchor_id, _NOBODY, Role.ANNOTATOR)
        if item is None:
            return None
        resolved = self._resolver.resolve(item, force=force)
        identified = self._identifier.identify(item, force=force)
        self._forget_unused()
        return time.perf_counter() - began if resolved or identified else 0.0

    def news(self) -> list[str]:
        """What a person should know of the models, each sentence once."""
        new = []
        for part, trouble in (
            ("resolution", self._resolver.trouble),
            ("identification", self._identifier.trouble),
        ):
            if trouble and trouble not in self._told.values():  # a model of both: once
                new.append(trouble)
            self._told[part] = trouble
        return new

    def _forget_unused(self) -> None:
        """Let go of models that neither task uses any more."""
        used = (self._resolver.model, self._identifier.model)
        for key, model in list(self._loaded.items()):
            if not any(model is one for one in used):
                del self._loaded[key]


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
            if predictor.refresh():
                reply(predictor.ready)
            reply(answer(predictor, *taken))
            for sentence in predictor.news():
                reply(Aside(sentence))
        elif os.getppid() != parent:
            return
        else:
            # What everybody wants may be known already: nothing is asked then for long.
            with suppress(StoreError):
                if predictor.refresh():
                    reply(predictor.ready)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the child; its exit status: 0, 1 (see the last reply), or NO_PIPELINE."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.predictor")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    database: Path = parser.parse_args(arguments).db
    # Networks' threads that spin while they wait for each other starve beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
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
        # Closed, not left: whoever works with the database rescues what is lost, not this.
        with closing(Store.open(database)) as store:
            predictor = Predictor(store)
            reply(predictor.ready)
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
