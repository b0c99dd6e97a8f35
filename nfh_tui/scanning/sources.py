"""Which model a scan uses: its recipe and folder, nothing loaded, for workers to load."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.identification.recipes import RULES

if TYPE_CHECKING:
    from nfh_db.store import Store


@dataclass(frozen=True, slots=True)
class Source:
    """A model by name, with what it takes to load it. folder: whole; None for the
    rules and for the model in the package."""

    name: str
    recipe: str
    folder: str | None


def source_of(store: "Store | None", spec: str | None) -> Source:
    """What `spec` names, as `choosing_models.identifier_for` understands it.

    Raises RecipeError and ModelFileError, as that does.
    """
    from nfh_tui.choosing_models import check_task, identifier_for, named
    from nfh_tui.model_folders import checked_folder

    found = None if store is None else named(store, spec)
    if store is not None and found is not None and found.path is not None:
        return Source(found.name, found.recipe, str(checked_folder(store.path, found)))
    if found is not None:
        return Source(found.name, found.recipe, None)
    if spec in (None, RULES):
        return Source(RULES, RULES, None)
    if spec is not None and Path(spec).is_dir():
        from nfh_models.model_files import read_config

        folder = Path(spec).resolve()
        config = read_config(folder)
        check_task(config.task, spec)
        return Source(config.name, config.recipe, str(folder))
    chosen = identifier_for(None, spec)  # mostly the sentence that says why there is none
    return Source(chosen.name, chosen.model.recipe, None)
