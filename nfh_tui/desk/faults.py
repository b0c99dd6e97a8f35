"""What went wrong, in a sentence for the person."""

from nfh_db.errors import StoreError
from nfh_models.domain import AnswerError, PassageError


def sentence_of(error: Exception) -> str:
    """The error's own sentence where it was written for the person, else one about it."""
    if isinstance(error, StoreError | AnswerError | PassageError):
        return str(error)
    return (
        f"Something went wrong that should not ({type(error).__name__}: {error}). "
        "What you did is kept; please report this."
    )
