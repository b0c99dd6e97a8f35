"""Which passages a registered model learnt from, as far as the database can tell."""

from typing import TYPE_CHECKING

from nfh_db.errors import QueryError
from nfh_db.query import Match, Query, parse
from nfh_models.identification.recipes import TRAINED as IDENTIFYING
from nfh_models.resolution.recipes import SMALL
from nfh_models.resolution.recipes import TRAINED as RESOLVING
from nfh_tui.training_jobs import held_out_splits

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store

LEARNING = frozenset({*IDENTIFYING, *RESOLVING, SMALL})

NOTHING_KEPT_OUT = (None, "", "folds")
"""On what such a training was judged."""

LONGEST = 100
"""Models, each of which started from the one before, that are followed."""


def passages_learnt_from(store: "Store", model: "Model") -> frozenset[str]:
    """The digests of the passages, with those of the models that it started from.

    Whatever had gold when the model was made and its query and split find is counted, but for
    what was kept out then. Of the model in the package, and of a folder that is none of this
    database's, nothing is known.
    """
    known = {one.name: one for one in store.models()}
    found: frozenset[str] = frozenset()
    seen: set[int] = set()
    current: Model | None = model
    while current is not None and current.id not in seen and len(seen) < LONGEST:
        seen.add(current.id)
        found |= _own(store, current)
        base = known.get(str(current.config.get("base") or ""))
        # A folder may have the name of a model that it is not.
        current = base if base and base.digest == current.config.get("base_digest") else None
    return found


def _own(store: "Store", model: "Model") -> frozenset[str]:
    """Without those of the models that it started from."""
    if model.recipe not in LEARNING or model.path is None:
        return frozenset()
    said = {
        name: str(model.metrics.get(name) or "") for name in ("query", "split", "dev_split")
    }
    split = said["split"] or None
    try:
        query = parse(said["query"])
    except QueryError:  # of another program's language
        return frozenset()
    if split is not None:
        query = Query(terms=(*query.terms, Match("split", (split,))))
    splits = {*held_out_splits(split), said["dev_split"]} - {"", split}
    kept_out = sorted(one for one in splits if one)
    sides = not said["dev_split"] and model.metrics.get("judged_on") not in NOTHING_KEPT_OUT
    return store.passages_with_gold(query, model.created_at, kept_out, sides=sides)
