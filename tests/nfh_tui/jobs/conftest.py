"""A small database, and whether a pipeline is there to predict with."""

from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.records import IncomingAnchor, IncomingPassage
from nfh_db.store import Store
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.parsing.spacy_parser import installed_pipelines

SENTENCES = (
    ("My old tent leaked again . Then borrow one .", 8),
    ("The dog saw a cat and a horse , then two more .", 10),
    ("I counted three .", 2),
    ("Did you see the owls ? I only saw two , two I mean .", 9),
    ("Her brother turned forty .", 3),
)
"""Words, and where the anchor stands."""


def passage_of(sentence: str) -> Passage:
    """A passage of one turn whose tokens are parted by single spaces."""
    tokens = []
    place = 0
    for word in sentence.split():
        tokens.append(Token(place, place + len(word), word.lower()))
        place += len(word) + 1
    return Passage(sentence, tuple(tokens), (Turn(0, "A", 0, len(tokens)),))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with the anchors of SENTENCES, ids 1 to 5."""
    path = tmp_path / "some folder" / "nfh.db"
    path.parent.mkdir()
    passages = [
        IncomingPassage(passage_of(text), "test", (IncomingAnchor(i, Anchor(at, at + 1)),))
        for i, (text, at) in enumerate(SENTENCES, 1)
    ]
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("made up", "0" * 64, "test"), passages)
    return path


@pytest.fixture
def of_cues(database: Path) -> Path:
    """The same, where somebody chose `cues` and `rules` before the model in the package."""
    with Store.open(database) as store:
        store.models.ensure("small", "both", "small", "1")
        for name, task in (("cues", "resolution"), ("rules", "identification")):
            store.models.activate(store.models.ensure(name, task, name, "1"))
    return database


@pytest.fixture
def pipeline() -> None:
    """Skips where no English pipeline is installed."""
    if not installed_pipelines():
        pytest.skip("needs an English spaCy pipeline (en_core_web_sm or a re-upload of it)")
