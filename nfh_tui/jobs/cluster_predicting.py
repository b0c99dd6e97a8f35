"""Numbers resolved on several machines: passages go there, what is said of them comes back.

The process that asks reads and writes the database, as ever; the workers need none.
"""

import threading
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from nfh_models.model_files import digest_of
from nfh_models.resolution.item import Choice, Item, Resolver
from nfh_models.resolution.parsing_items import batches
from nfh_tui.choosing_models import Chosen
from nfh_tui.jobs.cluster import LOOK_SECONDS, Future, Machines
from nfh_tui.jobs.cluster_parcel import pack
from nfh_tui.jobs.cluster_resolving import (
    Answers,
    Tools,
    kept,
    pack_items,
    resolve,
)
from nfh_tui.model_folders import checked_folder
from nfh_tui.scanning.crew import CrewError

if TYPE_CHECKING:
    from nfh_db.store import Store

TRIES = 4
"""So often a batch is given out anew because every worker is lost."""


@dataclass(slots=True)
class _Sent:
    """A batch on its way. items: the same, here."""

    items: Sequence[Item]
    packed: bytes
    future: Future
    done: threading.Event


@contextmanager
def resolving_at(
    address: str, store: "Store", chosen: Chosen[Resolver], parser: str | None
) -> Iterator["Elsewhere"]:
    """The workers of a scheduler, ready to say what a registered model says.

    parser: as --parser has it, and as the workers find it. Raises CrewError for whatever is
    wrong with the cluster, ModelFileError for a model that is not what it was.
    """
    model = next((one for one in store.models() if one.id == chosen.model_id), None)
    parcel, digest = b"", None
    if model is not None and model.path is not None:
        folder = checked_folder(store.path, model)
        parcel, digest = pack(folder), digest_of(folder)
    tools = Tools(uuid.uuid4().hex, chosen.model.recipe, digest, parser)
    with Machines(address) as machines:
        yield Elsewhere(machines, tools, parcel, chosen.model.version)


class Elsewhere:
    """Resolves items on a cluster. warnings: sentences about versions that differ."""

    def __init__(self, machines: Machines, tools: Tools, parcel: bytes, version: str) -> None:
        """version: of the model as it is here. Raises CrewError where a worker cannot load
        it, or has another."""
        self._machines = machines
        self._tools = tools
        self._packed = msgspec.msgpack.encode(tools)
        self._parcel = parcel
        self._number = 0
        self._on: frozenset[str] = frozenset()
        self._model: Future = None
        self._at_once = 1
        self._find_workers()
        answers = self._answers(deque((self._submit(()),)))
        if answers.hello is None or answers.hello.version != version:
            found = "nothing" if answers.hello is None else answers.hello.said
            raise CrewError(
                f"the workers of {machines.address} would predict with {found}, and here it "
                f"is {tools.recipe}, {version}. Install the same version of nfh-tui on all "
                "machines"
            )
        self._hello = answers.hello
        self.warnings = machines.warnings

    @property
    def parser_name(self) -> str:
        """The workers' parser with its version; "" for none."""
        return self._hello.parser

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order; some batches are on their way together."""
        waiting: deque[_Sent] = deque()
        for batch in batches(items):
            waiting.append(self._submit(batch))
            if len(waiting) >= self._at_once:
                yield from self._received(waiting)
        while waiting:
            yield from self._received(waiting)

    def _received(self, waiting: deque[_Sent]) -> Iterator[tuple[Item, Choice | None]]:
        """What was said of the batch that is on its way the longest."""
        items = waiting[0].items
        answers = self._answers(waiting)
        if answers.hello != self._hello:
            other = "nothing known" if answers.hello is None else answers.hello.said
            raise CrewError(
                f"the workers of {self._machines.address} are not alike: one works with "
                f"{self._hello.said}, another with {other}. Install the same versions and "
                "models on all machines"
            )
        yield from zip(items, answers.choices, strict=True)

    # --- with the cluster -----------------------------------------------------------------

    def _find_workers(self) -> None:
        self._on = self._machines.alike()
        self._at_once = 2 * max(1, self._machines.cores(self._on)) + 2
        self._model = self._machines.submit(
            kept, self._parcel, key=self._key("model"), on=self._on
        )

    def _submit(self, items: Sequence[Item]) -> _Sent:
        packed = pack_items(items)
        return self._sent(items, packed)

    def _sent(self, items: Sequence[Item], packed: bytes) -> _Sent:
        future = self._machines.submit(
            resolve, self._model, self._packed, packed, key=self._key("predict"), on=self._on
        )
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        return _Sent(items, packed, future, done)

    def _key(self, what: str) -> str:
        self._number += 1
        return f"nfh-{what}-{self._tools.run}-{self._number}"

    def _wait(self, waiting: deque[_Sent]) -> None:
        """Until the first of some batches is there; all are sent anew where no worker is left.

        A worker that is lost with others left is made up for by the scheduler itself.
        """
        tries = 1
        while not self._over(waiting[0]):
            if self._on & self._machines.present():
                continue
            if tries == TRIES:
                raise CrewError(self._machines.unkept("a part of the prediction"))
            tries += 1
            self._find_workers()
            for place, sent in enumerate(waiting):
                sent.future.release()
                waiting[place] = self._sent(sent.items, sent.packed)

    def _over(self, sent: _Sent) -> bool:
        sent.done.wait(LOOK_SECONDS)
        return self._machines.over(sent.future)

    def _answers(self, waiting: deque[_Sent]) -> Answers:
        """What came of the first of some batches, which waits no more. Raises CrewError."""
        self._wait(waiting)
        sent = waiting.popleft()
        packed = self._machines.result(sent.future, "a part of the prediction")
        sent.future.release()
        answers = msgspec.msgpack.decode(packed, type=Answers)
        if answers.error is not None:
            raise CrewError(f"a worker of {self._machines.address}: {answers.error}")
        return answers
