"""One loaded pipeline with the component in it."""

from collections.abc import Callable

import pytest
from spacy.language import Language
from spacy.util import load_model

# The factory is known from the distribution's entry point where it is installed; run from
# source it is this import that makes it known.
import nfh_models.spacy_component  # noqa: F401
from nfh_models.parsing.spacy_parser import installed_pipelines

Said = list[tuple[str, str]]


Loader = Callable[..., Language]


@pytest.fixture(scope="session")
def load() -> Loader:
    """Loads the first installed pipeline with what the component needs and nothing more."""
    found = [one for one in installed_pipelines() if "parser" in one.components]
    if not found:
        pytest.skip("needs an English spaCy pipeline with a parser")

    def loads(**options: object) -> Language:
        return load_model(found[0].package, **{"exclude": ["ner", "lemmatizer"], **options})

    return loads


@pytest.fixture(scope="session")
def nlp(load: Loader) -> Language:
    """An English pipeline with the component nfh, as it comes."""
    language = load()
    language.add_pipe("nfh")
    return language


@pytest.fixture(scope="session")
def said(nlp: Language) -> Callable[[str], Said]:
    """Each fused head of a text with its first head: a word of the text, or a class."""

    def say(text: str) -> Said:
        return [(span.text, str(span._.nfh_head)) for span in nlp(text)._.nfh]

    return say
