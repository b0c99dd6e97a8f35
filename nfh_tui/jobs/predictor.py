"""The predictor child, `python -m nfh_tui.jobs.predictor --db PATH`: identification and
resolution of one anchor at a time by the active models, over one JSON line each way.

It loads the active models, and loads again when others become active; it looks for that while
it is idle, too. It reads requests from
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
from nfh_models.errors import ModelsError
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
from nfh_models.resolution.base import Choice, Item, Resolver, parse_items, reach
from nfh_models.resolution.recipes import TASK
from nfh_tui.jobs.protocol import (
    NO_PIPELINE,
    AnchorReady,
    Ask,
    Failed,
    Notice,
    Ready,
    Reply,
    decode_ask,
    encode,
)
from nfh_tui.services.models import TASK as IDENTIFICATION_TASK
from nfh_tui.services.models import (
    Loaded,
    SelectedModel,
    identifier_for,
    is_there,
    register_parser,
    resolver_for,
)

if TYPE_CHECKING:
    from nfh_db.models import Model


REMEMBERED = 128
"""Parses kept: the anchors of one passage are mostly asked one after the other."""

TAGS_ONLY = frozenset({ParseLayer.POS})


class TaggingParser:
    """A tagger as a parser that gives parts of speech and nothing else."""

    layers = TAGS_ONLY

    def __init__(self, tagger: Tagger) -> None:
        self.name = tagger.name
        self._tagger = tagger

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse a stretch, in their order."""
        asked = list(word_spans)
        for word_span, tags in zip(asked, self._tagger.tag(asked), strict=True):
            yield Parsed(word_span.words, tags)


class LiveResolver:
    """The active model of resolution, loaded anew where another one has become active.

    name: of the model that answers; "" while none can. pipeline: the parser that it needs; ""
    for none. trouble: what a person should know of it, in a sentence; "" for nothing.
    """

    def __init__(self, store: "Store", loaded: Loaded) -> None:
        """Load what is active. Raises NoPipelineError where it needs one and there is none."""
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
        """The name of the parser that the model needs; "" for none."""
        return "" if self._parser is None else self._parser.name

    @property
    def model(self) -> object:
        """What is loaded; None for nothing."""
        return None if self._chosen is None else self._chosen.model

    def refresh(self) -> bool:
        """Load what is active now, if that is another than before; True if it was.

        One that cannot be loaded answers nothing, and `trouble` says why; it is tried again
        once its folder is back.
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
        """Answer an anchor that the active model has not answered, and store it; True if so.

        force: also one that it has. Raises StoreError.
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
        needs = chosen.model.needs
        if needs:
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
        """The item with what the model needs; parses are remembered."""
        chosen = self._chosen
        if chosen is None or not chosen.model.needs:
            return item
        found = self._parses.get(_key(item))
        if found is not None:
            return replace(item, parsed=found.parsed, parsed_from=found.parsed_from)
        (parsed,) = parse_items([item], chosen.model.needs, self._parser)
        self._parses[_key(item)] = parsed
        if len(self._parses) > REMEMBERED:
            self._parses.popitem(last=False)
        return parsed


def out_of_memory(name: str) -> str:
    """That a model is used whose folder is gone."""
    return (
        f"The folder of the model {name} is gone. It answers out of memory until the workbench "
        "is left: put the folder back, or put another to use with nfh-tui models activate"
    )


def _key(item: Item) -> tuple[str, int, int]:
    return (item.passage.digest, *reach(item.passage, item.anchor))


def _same(one: "Model", other: "Model | None") -> bool:
    """Whether two readings of the active model say the same of what would be loaded."""
    return other is not None and (
        (one.id, one.version, one.path, one.digest)
        == (other.id, other.version, other.path, other.digest)
    )


def _prediction(name: str, choice: Choice) -> Prediction:
    return Prediction(name, choice.choice, choice.second, choice.margin, choice.scores)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


class LiveIdentifier:
    """The active model of identification, loaded when it is first needed.

    It is loaded anew where another one has become active. trouble: why it cannot decide, in a
    sentence; "" while it can.
    """

    def __init__(self, store: "Store", loaded: Loaded | None = None) -> None:
        """loaded: models that are in memory already, and those that get there by this one."""
        self.trouble = ""
        self._there = True
        self._store = store
        self._loaded = loaded
        self._present: Identifying | None = None
        self._chosen: SelectedModel[Identifier] | None = None
        self._parser: Parser | None = None

    @property
    def model(self) -> object:
        """What is loaded; None for nothing."""
        return None if self._chosen is None else self._chosen.model

    def identify(self, item: AnchorItem, *, force: bool = False) -> bool:
        """Decide an anchor that has no decision yet, and store it; True if it was.

        force: also one that has. Raises StoreError.
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
        """Note that the model's folder is gone, or is back; one that failed is loaded then."""
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
        """Load what is active now, with the parser with which it decided before."""
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
    """Raise ParserError for the folder of a parser that somebody else asked for."""
    kind, _, name = (active.spec or "").partition(":")
    if kind == "spacy" and (not name or name in {one.package for one in installed_pipelines()}):
        return
    spec = quoted(active.spec or "")
    raise ParserError(
        f"{active.name} is to be given the parser {spec}, for which your installation did not "
        f"ask. If it is yours: nfh-tui identify --parser {spec} --db {quoted(str(database))}"
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
        active = self._store.identifications.active()
        return "" if active is None else active.name

    def predict(self, anchor_id: int, *, force: bool) -> float | None:
        """Predict and identify an anchor; the seconds it took, 0.0 if all was known.

        One at a time: four together take a network on a processor as long as one by one, and
        a newer ask would wait for them. None: nobody sees this anchor (any more). Raises
        StoreError.
        """
        began = time.perf_counter()
        item = self._store.items.read(anchor_id, _NOBODY, Role.ANNOTATOR)
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
    return AnchorReady(ask.id, anchor_id, seconds)


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
                reply(Notice(sentence))
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
