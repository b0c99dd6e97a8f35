"""spaCy loaded without what it loads only because it is installed.

Its library thinc loads torch wherever that is installed, here for stanza. That takes more
than a second and 200 MB in every process, and no pipeline for a CPU makes use of it.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

USERS_OF_TORCH = ("spacy_transformers", "spacy_curated_transformers", "spacy_llm")
"""Packages whose spaCy pipelines need torch."""

TORCH = "torch"


def import_spacy() -> None:
    """Import spaCy, if it is not there yet, without torch.

    Call it before the first `import spacy` of a process of ours. Whoever needs torch itself
    can import it afterwards. Torch is left in where a pipeline may need it, or where it is
    loaded already.
    """
    if "spacy" in sys.modules:
        return
    if TORCH in sys.modules or any(find_spec(name) for name in USERS_OF_TORCH):
        import_module("spacy")
        return
    # None makes an import of torch fail as if it were not installed, which thinc provides for.
    sys.modules[TORCH] = None  # type: ignore[assignment]
    try:
        import_module("spacy")
    finally:
        del sys.modules[TORCH]
