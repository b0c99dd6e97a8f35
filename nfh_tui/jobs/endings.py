"""How a job ended early, in a sentence: what happened, and what can be done about it."""

import errno
from pathlib import Path

from nfh_db.errors import ExportError, FormatError, QueryError, StoreError
from nfh_models.errors import ModelsError

TOLD = (ModelsError, StoreError, FormatError, QueryError, ExportError)
"""Errors whose words are meant for a person."""

FULL = (errno.ENOSPC, errno.EDQUOT)

OUT_OF_MEMORY = ("OutOfMemoryError", "can't allocate memory", "not enough memory")
"""By these the errors of torch are known, which is not loaded to ask for their class."""


def sentence(error: BaseException, job_id: int, folder: Path) -> str:
    """What to tell of an error that a job failed with. folder: the job's own."""
    again = f"`nfh-tui jobs retry {job_id}`"
    if _full(error):
        where = getattr(error, "filename", None) or folder
        return (
            f"the disk that holds {where} is full. Make room, then {again}: it goes on from "
            "what was saved before"
        )
    if isinstance(error, TOLD):
        return str(error) or type(error).__name__
    if isinstance(error, MemoryError) or _says(error, OUT_OF_MEMORY):
        return f"the machine has not enough memory left for it. Make room there, then {again}"
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename is not None else ""
        return f"the system reports “{error.strerror or error}”{where}. Mend it, then {again}"
    return (
        f"a fault of the program: {type(error).__name__}: {str(error) or 'no words'}. "
        f"`nfh-tui jobs log {job_id}` says where"
    )


def our_fault(error: BaseException) -> bool:
    """Whether the place in the program belongs into the log."""
    return not isinstance(error, (*TOLD, OSError))


def _full(error: BaseException | None) -> bool:
    """Whether a disk was full; libraries that write only say so in their own words."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if not isinstance(error, TOLD) and "No space left on device" in str(error):
            return True
        error = error.__cause__
    return False


def _says(error: BaseException, words: tuple[str, ...]) -> bool:
    told = f"{type(error).__name__} {error}"
    return any(one in told for one in words)
