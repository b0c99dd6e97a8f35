"""The predictor process, `python -m nfh_tui.jobs.predictor --db PATH`: identifies and resolves
one anchor at a time with the active models.

It reads requests from standard input and writes replies to standard output, one JSON object per
line; all other output goes to standard error. The newest request comes first, and the anchors
of a request in their order. A reply is sent after the predictions are committed to the
database. While no request waits, it makes the vectors of all anchors (`services.vectors`).

The process loads the active models, and checks for other active models before each reply and
while it is idle. It ends when its input closes or its parent is gone.
"""

import argparse
import os
import sys
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from nfh_db.errors import StoreError
from nfh_db.messages import quoted
from nfh_db.records import AnchorItem, Annotator, Identified, Identifying, Prediction, Role
from nfh_db.store import Store
from nfh_models import ModelsError
from nfh_models.identification.base import Identifier, cases_of, decide
from nfh_models.parsing.base import (
    Parsed,
    ParseLayer,
    Parser,
    ParserError,
    WordSpan,
    load_parser,
)
from nfh_models.parsing.spacy_parser import (
    NoPipelineError,
    Tagger,
    installed_pipelines,
    load_tagger,
)
from nfh_models.resolution.base import Choice, Item, Resolver, parse_items, tag_span
from nfh_models.resolution.recipes import TASK
from nfh_tui.jobs import protocol
from nfh_tui.services.models import TASK as IDENTIFICATION_TASK
from nfh_tui.services.models import (
    Loaded,
    SelectedModel,
    identifier_for,
    is_there,
    register_parser,
    resolver_for,
)
from nfh_tui.services.vectors import VectorMaker, identity

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_models.encoder.model import EncoderModel


REMEMBERED = 128
"""Parses kept in memory: the anchors of one passage are mostly requested one after the other.
"""

TAGS_ONLY = frozenset({ParseLayer.POS})


class TaggingParser:
    """A tagger with the interface of a parser; it gives parts of speech only."""

    layers = TAGS_ONLY

    def __init__(self, tagger: Tagger) -> None:
        self.name = tagger.name
        self._tagger = tagger

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """Yield one parse per span, in order."""
        asked = list(word_spans)
        for word_span, tags in zip(asked, self._tagger.tag(asked), strict=True):
            yield Parsed(word_span.words, tags)


class LiveResolver:
    """The active resolution model; reloaded when another one becomes active."""

    def __init__(self, store: "Store", loaded: Loaded) -> None:
        """Load the active model. Raises NoPipelineError if its parser is not installed."""
        self.name = ""
        self.trouble = ""
        self._there = True
        self._store = store
        self._loaded = loaded
        self._present: Model | None = None
        self._chosen: SelectedModel[Resolver] | None = None
        self._parser: Parser | None = None
        self._parses: OrderedDict[tuple[str, int, int], Item] = OrderedDict()
        try:
            self._load()
        except NoPipelineError:
            raise
        except ModelsError as error:
            self._stop(error)

    @property
    def pipeline(self) -> str:
        """Name of the parser that the model needs; empty for none."""
        return "" if self._parser is None else self._parser.name

    @property
    def model(self) -> object:
        """The loaded model; None if there is none."""
        return None if self._chosen is None else self._chosen.model

    @property
    def encoder(self) -> "tuple[str, EncoderModel] | None":
        """Identity and model, if the loaded model is the active one and an encoder."""
        chosen, name = self._chosen, identity(self._present)
        if chosen is None or chosen.fallback_reason or name is None:
            return None
        from nfh_models.encoder.model import EncoderModel

        return (name, chosen.model) if isinstance(chosen.model, EncoderModel) else None

    def refresh(self) -> bool:
        """Load the active model if it has changed; returns True if it has.

        A model that cannot be loaded answers nothing, and `trouble` says why. It is tried again
        when its folder is back.
        """
        active = self._store.models.active(TASK)
        if active is not None and _same(active, self._present):
            there = is_there(self._store.path, active)
            if there == self._there:
                return False
            self._there = there
            if self._chosen is not None:
                self.trouble = "" if there else out_of_memory(active.name)
                return False
            if not there:
                return False
        try:
            self._load()
        except ModelsError as error:
            self._stop(error)
        return True

    def resolve(self, item: AnchorItem, *, force: bool = False) -> bool:
        """Predict an anchor that has no prediction of the active model, and store the result.

        force: replaces an existing prediction. Returns True if a prediction was stored. Raises
        StoreError.
        """
        chosen = self._chosen
        known = item.prediction is not None
        if chosen is None or chosen.model_id is None or (known and not force):
            return False
        try:
            ready = self._ready(Item(item.passage, item.anchor))
            (choice,) = chosen.model.resolve([ready])
        except ModelsError as error:
            self._stop(error)
            return False
        if choice is None:
            return False
        said = _prediction(chosen.name, choice)
        self._store.predictions.save(chosen.model_id, [(item.anchor_id, said)])
        return True

    # --- helpers ------------------------------------------------------------------------

    def _load(self) -> None:
        self._chosen, self._parser, self.name, self.trouble = None, None, "", ""
        self._present = self._store.models.active(TASK)
        self._there = self._present is None or is_there(self._store.path, self._present)
        chosen = resolver_for(self._store, loaded=self._loaded)
        if needs := chosen.model.needs:
            light = needs <= TAGS_ONLY
            self._parser = TaggingParser(load_tagger()) if light else load_parser(None, needs)
        register_parser(self._store, chosen, self.pipeline)
        self._parses.clear()
        self._chosen, self.name = chosen, chosen.name
        self._present = self._store.models.active(TASK)
        if chosen.fallback_reason:
            self.trouble = _sentence(chosen.fallback_reason)

    def _stop(self, error: ModelsError) -> None:
        self._chosen = None
        self.name = ""
        self._present = self._store.models.active(TASK)
        self.trouble = f"No prediction: {error}"

    def _ready(self, item: Item) -> Item:
        """Return the item with the parses that the model needs; parses are cached."""
        chosen = self._chosen
        if chosen is None or not chosen.model.needs:
            return item
        if (found := self._parses.get(_key(item))) is not None:
            return replace(item, parsed=found.parsed, parsed_from=found.parsed_from)
        (parsed,) = parse_items([item], chosen.model.needs, self._parser)
        self._parses[_key(item)] = parsed
        if len(self._parses) > REMEMBERED:
            self._parses.popitem(last=False)
        return parsed


def out_of_memory(name: str) -> str:
    """Return the message for a model in use whose folder is gone."""
    return (
        f"The folder of the model {name} is missing. The model works from memory until you "
        "quit the workbench: put the folder back, or activate another model with nfh-tui "
        "models activate"
    )


def _key(item: Item) -> tuple[str, int, int]:
    return (item.passage.digest, *tag_span(item.passage, item.anchor))


def _same(one: "Model", other: "Model | None") -> bool:
    """Return True if two readings of the active model lead to the same model being loaded."""
    return other is not None and (
        (one.id, one.version, one.path, one.digest)
        == (other.id, other.version, other.path, other.digest)
    )


def _prediction(name: str, choice: Choice) -> Prediction:
    return Prediction(name, choice.choice, choice.second, choice.margin, choice.scores)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


class LiveIdentifier:
    """The active identification model; loaded at first use, and when another one becomes
    active.
    """

    def __init__(self, store: "Store", loaded: Loaded | None = None) -> None:
        """loaded: models in memory, shared with resolution; models loaded here are added."""
        self.trouble = ""
        self._there = True
        self._store = store
        self._loaded = loaded
        self._present: Identifying | None = None
        self._chosen: SelectedModel[Identifier] | None = None
        self._parser: Parser | None = None

    @property
    def model(self) -> object:
        """The loaded model; None if there is none."""
        return None if self._chosen is None else self._chosen.model

    def identify(self, item: AnchorItem, *, force: bool = False) -> bool:
        """Identify an anchor that has no decision yet, and store the result.

        force: replaces an existing decision. Returns True if a decision was stored. Raises
        StoreError.
        """
        active = self._store.identifications.active()
        if active is None or active != self._present:
            active = self._load(active)
        else:
            active = self._glance(active)
        known = item.identification is not None and active is not None
        if self._chosen is None or active is None or (known and not force):
            return False
        (case,) = cases_of(item.passage, [item.anchor])
        try:
            ((_, decision),) = decide([case], self._chosen.model, self._parser)
        except ModelsError as error:
            self._stop(error)
            return False
        said = Identified(
            active.name, decision.nfh, decision.rule, decision.score, decision.weights
        )
        try:
            self._store.identifications.save(
                active.model_id, active.version, [(item.anchor_id, said)], active.parser
            )
        except StoreError:
            self._present = None
            raise
        return True

    def _glance(self, active: Identifying) -> Identifying | None:
        """Note whether the model's folder is gone or back; a model that failed to load is
        loaded then.
        """
        model = self._store.models.active(IDENTIFICATION_TASK)
        there = model is None or is_there(self._store.path, model)
        if there == self._there:
            return active
        self._there = there
        if self._chosen is None:
            return self._load(active) if there else active
        self.trouble = "" if there else out_of_memory(active.name)
        return active

    def _load(self, active: Identifying | None) -> Identifying | None:
        """Load the active model, with the parser that its stored decisions used."""
        self._chosen, self._parser, self.trouble = None, None, ""
        model = self._store.models.active(IDENTIFICATION_TASK)
        self._there = model is None or is_there(self._store.path, model)
        spec = None if active is None else active.spec
        try:
            chosen = identifier_for(self._store, loaded=self._loaded)
            needs = chosen.model.needs
            if needs and active is not None and not active.own:
                _check_installed(active, self._store.path)
            self._parser = load_parser(spec, needs) if needs else None
        except ModelsError as error:
            self._stop(error)
            self._present = self._store.identifications.active()
            return self._present
        if chosen.model_id is not None:
            name = "" if self._parser is None else self._parser.name
            self._store.identifications.decide_with(chosen.model_id, name, spec)
        self._chosen = chosen
        if chosen.fallback_reason:
            self.trouble = chosen.fallback_reason[:1].upper() + chosen.fallback_reason[1:]
        self._present = self._store.identifications.active()
        return self._present

    def _stop(self, error: ModelsError) -> None:
        self._chosen = None
        self.trouble = f"No identification: {error}"


def _check_installed(active: Identifying, database: Path) -> None:
    """Raise ParserError for a parser's folder that somebody else named."""
    kind, _, name = (active.spec or "").partition(":")
    if kind == "spacy" and (not name or name in {one.package for one in installed_pipelines()}):
        return
    spec = quoted(active.spec or "")
    raise ParserError(
        f"{active.name} should use the parser {spec}, which your installation did not choose. "
        f"If you trust it: nfh-tui identify --parser {spec} --db {quoted(str(database))}"
    )


PARENT_CHECK = 2.0
"""Seconds between two checks of the parent process and the active models while idle."""

QUIET = 0.5
"""Seconds without a request before vectors are made. Each takes as long as a prediction, and
a new request waits for it."""

BACKLOG = 256
"""Requests in the queue; the oldest ones beyond that are dropped as nobody waits for them."""

NO_MODEL = "no model"
"""Name in replies while the active model cannot be used."""

_NOBODY = Annotator(0, "", "model")
"""Reads items as no annotator: without drafts and flags of a person."""


class Asks:
    """Queue of requests, newest first; one thread adds to it and another one takes from it."""

    def __init__(self) -> None:
        self._waiting: list[tuple[protocol.Ask, deque[int]]] = []
        self._changed = threading.Condition()
        self._closed = False

    def add(self, ask: protocol.Ask) -> None:
        """Put a request before all others."""
        with self._changed:
            self._waiting.append((ask, deque(ask.anchors)))
            del self._waiting[:-BACKLOG]
            self._changed.notify()

    def close(self) -> None:
        """Drop all waiting requests and accept no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    @property
    def closed(self) -> bool:
        """True once the input has ended."""
        return self._closed

    def take(self, timeout: float) -> tuple[protocol.Ask, int] | None:
        """Return the next anchor and its request; None after `timeout` seconds, or closed."""
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
    """The active models and the store that they use.

    A network that serves both tasks is in memory once.
    """

    def __init__(self, store: Store) -> None:
        """Load the active resolution model; identification is loaded at first use.

        Raises NoPipelineError if the model's parser is not installed.
        """
        self._store = store
        self._loaded: dict[tuple[str, str], object] = {}
        self._resolver = LiveResolver(store, self._loaded)
        self._identifier = LiveIdentifier(store, self._loaded)
        self._vectors = VectorMaker(store)
        self._told: dict[str, str] = {}
        self._beside = self._identifies()

    @property
    def ready(self) -> protocol.Ready:
        """The message that names the models in use."""
        beside = "" if self._beside == self._resolver.name else self._beside
        return protocol.Ready(self._resolver.name or NO_MODEL, self._resolver.pipeline, beside)

    def refresh(self) -> bool:
        """Load models that have become active; returns True if the models in use have changed.

        Raises StoreError.
        """
        if changed := self._resolver.refresh():
            self._forget_unused()
        before, self._beside = self._beside, self._identifies()
        # The first identification model is loaded at its first request, which is not a change.
        return changed or bool(before and before != self._beside)

    def _identifies(self) -> str:
        """Name of the active identification model; empty for none."""
        active = self._store.identifications.active()
        return "" if active is None else active.name

    def predict(self, anchor_id: int, *, force: bool) -> float | None:
        """Predict and identify an anchor; returns the seconds taken, 0.0 if all was stored
        already.

        Returns None if the anchor is gone. Raises StoreError.
        """
        began = time.perf_counter()
        # One anchor at a time: on a CPU a network takes as long for a batch of four as for four
        # single anchors, and a newer request would wait for the batch.
        if (item := self._store.items.read(anchor_id, _NOBODY, Role.ANNOTATOR)) is None:
            return None
        resolved = self._resolver.resolve(item, force=force)
        identified = self._identifier.identify(item, force=force)
        self._forget_unused()
        return time.perf_counter() - began if resolved or identified else 0.0

    def make_vector(self) -> bool:
        """Make the vector of one more anchor; returns True if others lack theirs.

        Raises StoreError.
        """
        encoder = self._resolver.encoder
        return encoder is not None and self._vectors.make_one(*encoder)

    def news(self) -> list[str]:
        """Return new messages about the models, each one once."""
        new = []
        for part, trouble in (
            ("resolution", self._resolver.trouble),
            ("identification", self._identifier.trouble),
            ("vectors", self._vectors.trouble),
        ):
            if trouble and trouble not in self._told.values():  # once for a model of both tasks
                new.append(trouble)
            self._told[part] = trouble
        return new

    def _forget_unused(self) -> None:
        """Release models that neither task uses any more."""
        used = (self._resolver.model, self._identifier.model)
        for key, model in list(self._loaded.items()):
            if not any(model is one for one in used):
                del self._loaded[key]


def answer(predictor: Predictor, ask: protocol.Ask, anchor_id: int) -> protocol.Reply:
    """Return the reply for one anchor of a request."""
    try:
        seconds = predictor.predict(anchor_id, force=ask.force)
    except StoreError as error:
        return protocol.Failed(f"No prediction: {error}", ask.id, anchor_id)
    if seconds is None:
        return protocol.Failed(
            f"No prediction: there is no item {anchor_id}.", ask.id, anchor_id
        )
    return protocol.AnchorReady(ask.id, anchor_id, seconds)


def read_asks(
    lines: Iterable[bytes], asks: Asks, reply: Callable[[protocol.Reply], None]
) -> None:
    """Queue the requests until the input ends. An invalid line is answered with Failed."""
    for line in lines:
        try:
            asks.add(protocol.decode_ask(line))
        except msgspec.DecodeError as error:
            reply(protocol.Failed(f"The predictor got a request that it cannot read: {error}"))
    asks.close()


def serve(predictor: Predictor, asks: Asks, reply: Callable[[protocol.Reply], None]) -> None:
    """Answer requests until the input closes or the parent is gone."""
    parent = os.getppid()
    pause = QUIET
    while not asks.closed:
        if (taken := asks.take(pause)) is not None:
            pause = QUIET
            if predictor.refresh():
                reply(predictor.ready)
            reply(answer(predictor, *taken))
        elif os.getppid() != parent:
            return
        else:
            # If all predictions are stored already, no request comes for a long time.
            pause = PARENT_CHECK
            with suppress(StoreError):
                if predictor.refresh():
                    reply(predictor.ready)
                if predictor.make_vector():
                    pause = 0.0
        for sentence in predictor.news():
            reply(protocol.Notice(sentence))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the process. Exit status: 0, 1 (the last reply says why), or NO_PIPELINE."""
    parser = argparse.ArgumentParser(prog="nfh_tui.jobs.predictor")
    parser.add_argument("--db", type=Path, required=True, help="the database")
    database: Path = parser.parse_args(arguments).db
    # Threads of a network that busy-wait for each other starve beside other processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    output = _protocol_output()
    lock = threading.Lock()

    def reply(message: protocol.Reply) -> None:
        with lock:
            output.write(protocol.encode(message))

    asks = Asks()
    reader = threading.Thread(
        target=read_asks, args=(_lines(sys.stdin.fileno()), asks, reply), daemon=True
    )
    reader.start()
    try:
        return _run(database, asks, reply)
    except BrokenPipeError:  # the parent has ended
        return 0


def _run(database: Path, asks: Asks, reply: Callable[[protocol.Reply], None]) -> int:
    try:
        # `closing` skips the rescue of lost database files that leaving the store performs. The
        # process that owns the workbench rescues them.
        with closing(Store.open(database)) as store:
            predictor = Predictor(store)
            reply(predictor.ready)
            serve(predictor, asks, reply)
    except NoPipelineError as error:
        reply(protocol.Failed(str(error)))
        return protocol.NO_PIPELINE
    except StoreError as error:
        reply(protocol.Failed(str(error)))
        return 1
    return 0


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield lines as they arrive.

    Reads the descriptor: at exit, Python aborts if a thread still waits for sys.stdin, and this
    thread waits until the parent closes the input.
    """
    rest = b""
    while chunk := os.read(descriptor, 1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _protocol_output() -> BinaryIO:
    """Reserve standard output for replies; redirects all other output to standard error."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(own, "wb", buffering=0)


if __name__ == "__main__":
    sys.exit(main())
