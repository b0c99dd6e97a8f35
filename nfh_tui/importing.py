"""Files brought in one after another, as the command and the job of that name do it."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.errors import FormatError, StoreError
from nfh_db.formats.tables import TABLE
from nfh_db.formats.wording import visible
from nfh_tui.formats.opening import Opened, opened
from nfh_tui.transfer import ImportOptions, import_file

if TYPE_CHECKING:
    from nfh_db.records import ImportReport
    from nfh_db.store import Store

COLLECT_AFTER = (1_000_000, 20, 100)
"""Records alive beyond those before the import; a stretch of a file has far fewer."""

MESSAGE_LIMIT = 2_000


@dataclass(frozen=True, slots=True)
class Files:
    """What is to be imported. format: of all of them; None to tell by what stands in each."""

    paths: Sequence[Path]
    format: str | None = None
    options: ImportOptions = field(default_factory=ImportOptions)


def look(path: Path, format_name: str | None, options: ImportOptions | None = None) -> Opened:
    """A file with its format. Raises FormatError where it cannot be read, or has none, or
    where a setting was named that its format knows nothing of. Columns are a table's.
    """
    options = options or ImportOptions()
    tabular = format_name is None and options.columns
    found = opened(path, TABLE.name if tabular else format_name, options.encoding)
    if tabular:
        found = replace(found, reason="its columns are named")
    unheeded = [name for name in options.named() if name not in found.format.settings]
    if unheeded:
        raise found.source.error(
            None,
            f"is read as {found.format.name}, which knows no --{unheeded[0]}; leave it out",
        )
    return found


def import_files(
    store: "Store", files: Files, progress: Callable[[str, int], None]
) -> list[dict[str, object]]:
    """Bring files in, each whole or not at all; of each what came of it, as JSON has it.

    progress: told a file's name and its rows so far. A file that was refused has "name" and
    "error", and the others come in all the same. What `progress` raises ends it all.
    """
    outcomes = []
    with collecting_rarely():
        for path in files.paths:
            try:
                ready = look(path, files.format, files.options)
                report = _import(store, ready, files.options, progress)
            except (FormatError, StoreError) as error:
                outcomes.append(refused(_name(path, error), error))
            else:
                outcomes.append(asdict(report))
    return outcomes


def _import(
    store: "Store",
    ready: Opened,
    options: ImportOptions,
    progress: Callable[[str, int], None],
) -> "ImportReport":
    name = ready.source.name

    def tell(rows: int) -> None:
        progress(name, rows)

    return import_file(store, ready.source, ready.format, options, tell)


def _name(path: Path, error: Exception) -> str:
    return error.name if isinstance(error, FormatError) else visible(path.name, 200)


def refused(name: str, error: Exception) -> dict[str, object]:
    """What is reported of a file that did not come in."""
    return {"name": name, "error": visible(str(error), MESSAGE_LIMIT)}


@contextmanager
def collecting_rarely() -> Iterator[None]:
    """Let the cycle collector run seldom: an import makes millions of records and no cycle.

    Looking through them costs a fifth of its time.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
