"""Who is judged on resolution: models, recipes, and what is known of how they learnt."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import ResolutionExample
from nfh_models.resolution.recipes import TRAINED
from nfh_tui.resolution_examples import resolution_examples_of_store
from nfh_tui.resolution_trial import Entrant

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store


def entrant_for(store: "Store | None", spec: str | None) -> Entrant:
    """Whom `spec` names: a registered model's number or name, a recipe, a model's folder.

    Without a spec the active model of resolution, else `small`, else `cues`. Nothing is
    written. Raises ModelsError for what names none or cannot be used.
    """
    from nfh_tui.choosing_resolvers import resolver_for

    chosen = resolver_for(store, spec, register=False)
    return Entrant(chosen.name, chosen.model, chosen.model_id, chosen.aside)


def other_parser(entrant: Entrant, parser: Parser | None) -> str | None:
    """A warning where a model is given another parser's words than it learnt from."""
    learnt_with = getattr(entrant.resolver, "parser", None)
    if not isinstance(learnt_with, str) or parser is None or not entrant.needs:
        return None
    if learnt_with == parser.name:
        return None
    return (
        f"{entrant.name} learnt from passages parsed by {learnt_with} and is given those of "
        f"{parser.name}; it may answer worse"
    )


def remembering(
    store: "Store | None", entrants: Sequence[Entrant], tried: Sequence[ResolutionExample]
) -> Iterator[str]:
    """A warning of each registered model that learnt from some of what it is tried on."""
    if store is None:
        return
    registered = {model.id: model for model in store.models()}
    for one in entrants:
        model = registered.get(one.model_id or 0)
        if model is None or model.recipe not in TRAINED:
            continue
        passages = learnt_from(store, model)
        known = sum(example.group in passages for example in tried)
        if known:
            yield (
                f"{one.name} learnt from the passages of {known:,} of these "
                f"{counted(len(tried), 'example')}, or was chosen by them: its figures say how "
                "well it remembers them"
            )


def learnt_from(store: "Store", model: "Model") -> frozenset[str]:
    """The passages, by digest, that a registered model learnt from, as far as gold still is
    what it was; none where its metrics do not say from which.

    Passages by which its training was judged and stopped are among them, unless they are of
    a split of their own: they had a say in it, too.
    """
    from nfh_db.errors import QueryError
    from nfh_db.query import parse
    from nfh_tui.training_jobs import held_out_passages, held_out_splits

    said = {
        name: str(model.metrics.get(name) or "") for name in ("query", "split", "dev_split")
    }
    split = said["split"] or None
    try:
        query = parse(said["query"])
    except QueryError:  # of another program's language
        return frozenset()
    kept_out = {*held_out_splits(split), said["dev_split"]} - {"", split}
    held_out = held_out_passages(store, sorted(one for one in kept_out if one))
    examples = resolution_examples_of_store(store, query, split)
    return frozenset(one.group for one in examples).difference(held_out)
