"""What the commands under `nfh-tui models` share: their options, and how a model is found."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_tui.cli.common import Failure

if TYPE_CHECKING:
    from nfh_db.models import Model
    from nfh_db.store import Store


def given(ctx: click.Context, db: Path | None, as_json: bool) -> tuple[Path | None, bool]:
    """The options, whether they stand before or behind the command's name."""
    outer_db, outer_json = ctx.obj
    return db or outer_db, as_json or outer_json


def all_models(store: "Store") -> tuple["Model", ...]:
    """All models; those that need no training are registered, where that can be written."""
    from nfh_tui.choosing_models import ensure_built_in

    ensure_built_in(store)
    return store.models()


def one_model(store: "Store", wanted: str) -> "Model":
    """A model by its number or name. Raises Failure for one that is not there."""
    from nfh_db.formats.wording import shown

    found = all_models(store)
    for model in found:
        if wanted in (str(model.id), model.name):
            return model
    names = ", ".join(f"{model.id} ({model.name})" for model in found) or "none yet"
    raise Failure(f"there is no model {shown(wanted)}; there are: {names}")
