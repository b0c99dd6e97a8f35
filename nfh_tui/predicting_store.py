"""Anchors of a database predicted: what a model says of each is stored as it comes.

What is stored is not predicted anew, so that a run that was broken off goes on where it was.
"""

import time
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from nfh_db.pace import next_stretch
from nfh_db.records import Annotator, Prediction
from nfh_models.domain import Kind
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import Choice, Item, Resolver
from nfh_models.resolution.parsing_items import check_layers, resolved
from nfh_tui.choosing_models import Chosen
from nfh_tui.choosing_resolvers import answers_with
from nfh_tui.predicting import looked_past

if TYPE_CHECKING:
    from nfh_db.query import Query
    from nfh_db.store import Store

AT_ONCE = 200
"""Passages read together."""

SAVED_TOGETHER = 128
"""Predictions between two writes, so that little is lost where a run ends early."""

WRITE_SECONDS = 0.012
"""What one write should take: a person's answer may have to wait for it."""

FIRST_STRETCH = 32
SMALLEST_STRETCH = 4
LARGEST_STRETCH = SAVED_TOGETHER

GOES_ON = "What was predicted is stored: run the command again, and it goes on from there."

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


class Elsewhere(Protocol):
    """Other machines that have the same model."""

    @property
    def parser_name(self) -> str:
        """Their parser's name with its version; "" for none."""
        ...

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order, in bounded memory. Raises ModelsError."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """What predicts. parser: None where the resolver needs none, or predicts elsewhere."""

    chosen: Chosen[Resolver]
    parser: Parser | None
    elsewhere: Elsewhere | None = None

    @property
    def parser_name(self) -> str:
        """The parser's name with its version; "" for none."""
        if self.elsewhere is not None:
            return self.elsewhere.parser_name
        return "" if self.parser is None else self.parser.name

    def check(self) -> None:
        """Raise ParserError for a parser that gives too little."""
        if self.elsewhere is None:
            check_layers(self.chosen.model.needs, self.parser)

    def resolved(self, items: Iterable[Item]) -> Iterator[tuple[Item, Choice | None]]:
        """Each item with its choice, in order, in bounded memory. Raises ModelsError."""
        if self.elsewhere is not None:
            return self.elsewhere.resolved(items)
        return resolved(items, self.chosen.model, self.parser)


@dataclass(slots=True)
class Predictions:
    """What came of a run.

    anchors: of the query. predicted: in this run; the others before, but for those that are
    gone meanwhile. kinds: of those predicted now. silent: of which the recipe says nothing.
    cut: in passages that the model did not see whole.
    """

    anchors: int = 0
    predicted: int = 0
    silent: int = 0
    cut: int = 0
    kinds: Counter[Kind] = field(default_factory=Counter)


def predict_stored(
    store: "Store",
    query: "Query",
    tools: Resolution,
    me: Annotator,
    progress: Progress,
    *,
    force: bool = False,
) -> Predictions:
    """Predict the anchors that a query finds and of which the model has said nothing yet.

    tools: with a model that the store knows. force: also those of which it has. Raises
    StoreError, and ParserError for a parser that gives too little. A KeyboardInterrupt leaves
    what is stored by then.
    """
    run = _Run(store, tools, progress, force=force)
    try:
        return run.run(query, me)
    except KeyboardInterrupt as interrupt:
        if run.report.predicted:
            interrupt.add_note(GOES_ON)
        raise


class _Run:
    """One run."""

    def __init__(
        self, store: "Store", tools: Resolution, progress: Progress, *, force: bool
    ) -> None:
        if tools.chosen.model_id is None:
            raise ValueError("a model that the store does not know")
        self.report = Predictions()
        self._store = store
        self._tools = tools
        self._model_id = tools.chosen.model_id
        self._progress = progress
        self._force = force
        self._size = FIRST_STRETCH
        self._passed = 0

    def run(self, query: "Query", me: Annotator) -> Predictions:
        tools, report = self._tools, self.report
        tools.check()
        answers_with(self._store, tools.chosen, tools.parser_name)
        asked: set[int] = set()
        for ids in self._store.queue_ids(query, me):
            asked.update(ids)
        report.anchors = len(asked)
        passages = self._store.passage_ids(query, me)
        waiting: deque[int] = deque()
        choices = tools.resolved(self._items(passages, asked, waiting))
        while some := list(islice(choices, SAVED_TOGETHER)):
            self._save([(waiting.popleft(), item, choice) for item, choice in some])
            self._passed += len(some)
            self._progress("numbers predicted:", self._passed, len(asked))
        return report

    def _items(
        self, passages: "array[int]", asked: set[int], waiting: deque[int]
    ) -> Iterator[Item]:
        """An item for each number to be predicted, and beside it, in `waiting`, its id."""
        for start in range(0, len(passages), AT_ONCE):
            for one in self._store.numbered(passages[start : start + AT_ONCE]):
                wanted = [n for n in one.numbers if n.seen and n.id in asked]
                known = self._known([number.id for number in wanted])
                self._passed += len(known)
                for number in wanted:
                    if number.id not in known:
                        waiting.append(number.id)
                        yield Item(one.passage, number.anchor)

    def _known(self, ids: Sequence[int]) -> frozenset[int]:
        if self._force:
            return frozenset()
        return self._store.predicted(self._model_id, ids)

    def _save(self, found: Sequence[tuple[int, Item, Choice | None]]) -> None:
        report, windowed = self.report, self._tools.chosen.model.probabilities
        rows: list[tuple[int, Prediction]] = []
        for anchor_id, item, choice in found:
            if choice is None:
                report.silent += 1
                continue
            rows.append((anchor_id, self._prediction(choice)))
            report.kinds[kind_of(choice)] += 1
            report.cut += windowed and looked_past(choice, item.anchor)
        self._write(rows)

    def _write(self, rows: Sequence[tuple[int, Prediction]]) -> None:
        """Store some in short writes."""
        place = 0
        while place < len(rows):
            some = rows[place : place + self._size]
            begun = time.perf_counter()
            self._store.save_predictions(self._model_id, some)
            seconds = time.perf_counter() - begun
            place += len(some)
            self.report.predicted += len(some)
            self._size = next_stretch(
                self._size,
                seconds,
                wanted=WRITE_SECONDS,
                smallest=SMALLEST_STRETCH,
                largest=LARGEST_STRETCH,
            )

    def _prediction(self, choice: Choice) -> Prediction:
        return Prediction(
            self._tools.chosen.name,
            choice.choice,
            choice.second,
            choice.margin,
            choice.scores,
        )


def kind_of(choice: Choice) -> Kind:
    """What a choice says: REFERENCE for a token, else its class."""
    return Kind.REFERENCE if choice.choice.isdecimal() else Kind(choice.choice)
