"""A real terminal and a small database to work in it."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorItem, IncomingAnchor, IncomingPassage, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Passage, Token, Turn

from .tmux import Tmux, there

COUNT = 5


def passages() -> Iterator[IncomingPassage]:
    """Each names its place in the queue: "Item 3 : boats are dear , take one ."."""
    for line in range(1, COUNT + 1):
        words = f"Item {line} : boats are dear , take one .".split()
        tokens, place = [], 0
        for word in words:
            tokens.append(Token(place, place + len(word), word.rstrip("s")))
            place += len(word) + 1
        turn = Turn(0, "Ann", 0, len(tokens))
        passage = Passage(" ".join(words), tuple(tokens), (turn,))
        at = words.index("one")
        anchor = IncomingAnchor(line, Anchor(at, at + 1), split="dev")
        yield IncomingPassage(passage, "words", (anchor,))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Five items, nothing answered."""
    path = tmp_path / "terminal.db"
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("terminal.jsonl", "0" * 64, "gold"), passages())
    return path


@pytest.fixture
def read(database: Path) -> Callable[[int], AnchorItem]:
    """An item as it is on disk, by its place, as edith sees it who adjudicates."""

    def item(place: int) -> AnchorItem:
        with Store.open(database) as store:
            me = store.people.ensure("edith")
            ids = next(store.queue.ids(parse(""), me))
            found = store.items.read(ids[place - 1], me, Role.ADJUDICATOR)
            assert found is not None
            return found

    return item


@pytest.fixture
def terminal() -> Iterator[Tmux]:
    """A shell in tmux, 120 columns by 40 lines; in a folder of its own, since the path of a
    socket must be short.
    """
    if not there():
        pytest.skip("needs tmux")
    with tempfile.TemporaryDirectory(prefix="nfh") as folder:
        made = Tmux(Path(folder))
        try:
            yield made
        finally:
            made.close()


@pytest.fixture
def desk(terminal: Tmux, database: Path) -> Tmux:
    """The workbench at the first item, edith adjudicating."""
    terminal.start(f"adjudicate --db {database} --as edith")
    terminal.until("Item 1", "ADJUDICATE", "1/5")
    return terminal
