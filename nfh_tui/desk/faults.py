"""What went wrong, in a sentence for the person; faults of ours are kept in a file, too."""

import os
import traceback
from contextlib import suppress
from datetime import UTC, datetime

from nfh_db.errors import StoreError
from nfh_models.domain import AnswerError, PassageError
from nfh_models.errors import ModelsError
from nfh_tui.jobs.logs import open_private
from nfh_tui.places import data_folder

FILE_NAME = "faults.log"
MOST_BYTES = 200_000
"""A file of faults that has grown past this is begun anew."""


def is_ours(error: BaseException) -> bool:
    """True for an error whose own sentence was not written for the person."""
    return not isinstance(error, StoreError | ModelsError | AnswerError | PassageError)


def sentence_of(error: BaseException) -> str:
    """The error's own sentence where it was written for the person, else one about it."""
    if not is_ours(error):
        return str(error)
    return (
        f"Something went wrong that should not ({type(error).__name__}: {error}). "
        "What you did is kept; please report this."
    )


def note_fault(error: BaseException) -> None:
    """Keep where a fault of ours came from, for a report; that may fail without a word."""
    if not is_ours(error):
        return
    with suppress(OSError):
        path = data_folder() / FILE_NAME
        lines = "".join(traceback.format_exception(error))
        with os.fdopen(open_private(path), "a", encoding="utf-8", errors="replace") as file:
            if os.fstat(file.fileno()).st_size > MOST_BYTES:
                file.truncate(0)
            file.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n{lines}\n")
