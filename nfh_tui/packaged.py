"""The small model in the package, as a model of a database: of both tasks, active at first.

Nothing here loads it: what it is stands in its config.json.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models import small
from nfh_models.errors import ModelsError
from nfh_models.identification.recipes import RULES, SMALL
from nfh_models.model_files import CONFIG, read_config, read_metrics
from nfh_models.resolution.recipes import CUES, NEAREST

if TYPE_CHECKING:
    from nfh_db.store import Store

BOTH = "both"

IN_PLACE_OF = (RULES, CUES, NEAREST)
"""What it takes over from where that is active and nobody chose it."""


def packaged_folder() -> Path:
    """The folder of the model in the package, there or not."""
    return small.small_folder()


def is_packaged() -> bool:
    """Whether the package holds a model."""
    try:
        return (packaged_folder() / CONFIG).is_file()
    except OSError:  # a folder that nobody may look into
        return False


def ensure_small(store: "Store") -> int | None:
    """The number of the model in the package as it is registered; None if there is none.

    Where it is new it is active, unless somebody has a model of their own active for either
    task. What another version of it said is forgotten. One that is damaged is left as it is.
    """
    if not is_packaged():
        return None
    version = packaged_version()
    known = store.model(SMALL)
    if known is not None and (version is None or known.version == version):
        return known.id
    return store.ensure_model(SMALL, BOTH, SMALL, version or "", in_place_of=IN_PLACE_OF)


def packaged_version() -> str | None:
    """What tells the packaged model from that of another release; None for a damaged one."""
    try:
        config = read_config(packaged_folder())
    except ModelsError:
        return None
    return f"{config.version} {config.created_at}".strip()


def packaged_metrics() -> dict[str, object]:
    """The figures of the model in the package under the names that trained models give them;
    empty where they cannot be read."""
    try:
        found = read_metrics(packaged_folder())
    except ModelsError:
        return {}
    resolution, identification = found.get("resolution"), found.get("identification")
    if not isinstance(resolution, dict) or not isinstance(identification, dict):
        return found
    own = {name: identification.get(name) for name in ("precision", "recall", "f1")}
    return resolution | own | {"dev_examples": resolution.get("n"), "judged_on": "dev"}
