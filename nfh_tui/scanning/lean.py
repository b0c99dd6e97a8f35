"""spaCy loaded without what it loads only because it is installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

USERS_OF_TORCH = ("spacy_transformers", "spacy_curated_transformers", "spacy_llm")
"""Packages whose spaCy pipelines need torch."""

TORCH = "torch"


@contextmanager
def no_torch() -> Iterator[None]:
    """A place to import spaCy in: its library thinc loads torch wherever that is installed,
    here for stanza, which takes a second and 200 MB in every worker.

    Whoever needs torch itself can import it afterwards. Nothing is done where a pipeline
    may need it, or it is there already.
    """
    if TORCH in sys.modules or any(find_spec(name) for name in USERS_OF_TORCH):
        yield
        return
    sys.modules[TORCH] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[TORCH]
