"""Who is judged on resolution: models, recipes, and what is known of how they learnt."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from nfh_db.formats.wording import counted
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import ResolutionExample
from nfh_tui.learnt import passages_learnt_from
from nfh_tui.resolution_trial import Entrant

if TYPE_CHECKING:
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
        if model is None:
            continue
        passages = passages_learnt_from(store, model)
        known = sum(example.group in passages for example in tried)
        if known:
            yield (
                f"{one.name} learnt from the passages of {known:,} of these "
                f"{counted(len(tried), 'example')}: its figures say how well it remembers "
                "them"
            )
