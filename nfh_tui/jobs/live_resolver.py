"""Resolution of one anchor at a time, by the active model, in the predictor child."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from nfh_db.records import Item as StoredItem
from nfh_db.records import Prediction
from nfh_models.errors import ModelsError
from nfh_models.parsing import (
    Layer,
    NoPipelineError,
    Parser,
    Stretch,
    Tagger,
    load_parser,
    load_tagger,
)
from nfh_models.parsing.parsed import Parsed
from nfh_models.resolution.item import Choice, Item, Resolver
from nfh_models.resolution.nearest_noun import reach
from nfh_models.resolution.parsing_items import parse_items
from nfh_tui.choosing_models import Chosen, Loaded
from nfh_tui.choosing_resolvers import TASK, answers_with, resolver_for
from nfh_tui.model_folders import is_there

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

REMEMBERED = 128
"""Parses kept: the anchors of one passage are mostly asked one after the other."""

TAGS_ONLY = frozenset({Layer.POS})


class TaggingParser:
    """A tagger as a parser that gives parts of speech and nothing else."""

    layers = TAGS_ONLY

    def __init__(self, tagger: Tagger) -> None:
        self.name = tagger.name
        self._tagger = tagger

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in their order."""
        asked = list(stretches)
        for stretch, tags in zip(asked, self._tagger.tag(asked), strict=True):
            yield Parsed(stretch.words, tags)


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
        self._chosen: Chosen[Resolver] | None = None
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
        active = self._store.active_model(TASK)
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

    def resolve(self, item: StoredItem, *, force: bool = False) -> bool:
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
        self._store.save_predictions(chosen.model_id, [(item.anchor_id, said)])
        return True

    # --- helpers ------------------------------------------------------------------------

    def _load(self) -> None:
        self._chosen, self._parser, self.name, self.trouble = None, None, "", ""
        self._present = self._store.active_model(TASK)
        self._there = self._present is None or is_there(self._store.path, self._present)
        chosen = resolver_for(self._store, loaded=self._loaded)
        needs = chosen.model.needs
        if needs:
            light = needs <= TAGS_ONLY
            self._parser = TaggingParser(load_tagger()) if light else load_parser(None, needs)
        answers_with(self._store, chosen, self.pipeline)
        self._parses.clear()
        self._chosen, self.name = chosen, chosen.name
        self._present = self._store.active_model(TASK)
        if chosen.aside:
            self.trouble = _sentence(chosen.aside)

    def _stop(self, error: ModelsError) -> None:
        self._chosen = None
        self.name = ""
        self._present = self._store.active_model(TASK)
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
