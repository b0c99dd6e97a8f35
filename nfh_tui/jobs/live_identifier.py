"""Identification of one anchor at a time, by the active model, in the predictor child."""

from typing import TYPE_CHECKING

from nfh_db.errors import StoreError
from nfh_db.records import Identified, Identifying, Item
from nfh_models.errors import ModelsError
from nfh_models.identification.case import Identifier
from nfh_models.identification.cases import cases_of
from nfh_models.identification.deciding import decide
from nfh_models.parsing import Parser, load_parser
from nfh_tui.choosing_models import TASK, Chosen, Loaded, identifier_for
from nfh_tui.jobs.live_resolver import out_of_memory
from nfh_tui.model_folders import is_there

if TYPE_CHECKING:
    from nfh_db.store import Store


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
        self._chosen: Chosen[Identifier] | None = None
        self._parser: Parser | None = None

    @property
    def model(self) -> object:
        """What is loaded; None for nothing."""
        return None if self._chosen is None else self._chosen.model

    def identify(self, item: Item, *, force: bool = False) -> bool:
        """Decide an anchor that has no decision yet, and store it; True if it was.

        force: also one that has. Raises StoreError.
        """
        active = self._store.identifying()
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
            self._store.save_identifications(
                active.model_id, active.version, [(item.anchor_id, said)], active.parser
            )
        except StoreError:
            self._present = None
            raise
        return True

    def _glance(self, active: Identifying) -> Identifying | None:
        """Note that the model's folder is gone, or is back; one that failed is loaded then."""
        model = self._store.active_model(TASK)
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
        model = self._store.active_model(TASK)
        self._there = model is None or is_there(self._store.path, model)
        spec = None if active is None else active.spec
        try:
            chosen = identifier_for(self._store, loaded=self._loaded)
            needs = chosen.model.needs
            self._parser = load_parser(spec, needs) if needs else None
        except ModelsError as error:
            self._stop(error)
            self._present = self._store.identifying()
            return self._present
        if chosen.model_id is not None:
            name = "" if self._parser is None else self._parser.name
            self._store.decide_with(chosen.model_id, name, spec)
        self._chosen = chosen
        if chosen.aside:
            self.trouble = chosen.aside[:1].upper() + chosen.aside[1:]
        self._present = self._store.identifying()
        return self._present

    def _stop(self, error: ModelsError) -> None:
        self._chosen = None
        self.trouble = f"No identification: {error}"
