"""A database that loses its place while it is open: no write may seem to succeed."""

import shutil
from contextlib import closing
from pathlib import Path

import pytest

from nfh_db.errors import GoneError
from nfh_db.records import QueuePosition, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, class_answer


def _move(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def _delete(path: Path) -> None:
    path.unlink()


def _replace(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def _delete_the_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def _writes(store, eva):
    """Every kind of write that a screen asks for."""
    answer = class_answer(Kind.YEAR)
    yield lambda: store.edits.commit_answer(1, eva, Role.ANNOTATOR, answer)
    yield lambda: store.edits.replace_anchor(
        1, eva, Role.ADJUDICATOR, Anchor(0, 2), store.edits.stale_labels(1, eva)
    )
    yield lambda: store.edits.undo(eva)
    yield lambda: store.workspace.save_draft(1, eva, Role.ANNOTATOR, "{}")
    yield lambda: store.workspace.save_position(eva, "annotate", QueuePosition("", 1, 0))
    yield lambda: store.settings.write("theme", "dark")


@pytest.mark.parametrize("lose", [_move, _delete, _replace, _delete_the_folder])
def test_no_write_goes_into_a_file_that_nobody_finds_again(tmp_path, kit, lose) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with closing(Store.open(folder / "nfh.db", create=True)) as store:
        kit.load(store, kit.one("one two", 0))
        eva = store.people.ensure("eva")
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        before = store.items.read(1, eva, Role.ANNOTATOR)
        lose(folder / "nfh.db")
        for write in _writes(store, eva):
            with pytest.raises(GoneError, match=r"nfh\.db has been moved.*Nothing of this"):
                write()
        # What is open can still be read, so that nothing vanishes from the screen.
        assert store.items.read(1, eva, Role.ANNOTATOR) == before


def test_a_file_put_back_is_written_again(tmp_path, kit) -> None:
    path, elsewhere = tmp_path / "nfh.db", tmp_path / "elsewhere.db"
    with Store.open(path, create=True) as store:
        kit.load(store, kit.one("one two", 0))
        eva = store.people.ensure("eva")
        path.rename(elsewhere)
        with pytest.raises(GoneError):
            store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
        elsewhere.rename(path)
        store.edits.commit_answer(1, eva, Role.ANNOTATOR, class_answer(Kind.AGE))
    with Store.open(path) as store:
        item = store.items.read(1, eva, Role.ANNOTATOR)
        assert item is not None
        assert [vote.answer.kind for vote in item.votes] == [Kind.AGE]
