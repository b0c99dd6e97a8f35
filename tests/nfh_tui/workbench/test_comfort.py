"""Small things that make a day at the workbench easier: who one is, copying, the tour."""

import errno
import io
import json
from pathlib import Path
from typing import Any

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.gold import read as read_gold
from nfh_db.store import Store
from nfh_tui.app import WorkbenchApp
from tests.frames import drawn_lines

SIZES = [(60, 20), *(pytest.param(s, marks=pytest.mark.long) for s in [(80, 24), (120, 40)])]


# --- who one is, and what stands in the bar -----------------------------------------------


@pytest.mark.parametrize("size", SIZES)
async def test_who_works_stands_on_the_line_of_state(open_desk, size):
    async with open_desk(me="eva", size=size) as desk:
        assert "ADJUDICATE eva  1/6" in " ".join(desk.text().split(" "))[-4000:]


async def test_a_long_name_leaves_room(open_desk):
    async with open_desk(me="漢字مريم" * 9, size=(60, 20)) as desk:
        await desk.press("j")
        assert "2/6" in desk.text()
        assert "漢字" in desk.text()


async def test_typing_replaces_the_old_query_and_arrows_keep_it(open_desk):
    async with open_desk(query="-class:AGE") as desk:
        await desk.press("colon", *"class:AGE", "enter")
        assert desk.state.query.text == "class:AGE"
        await desk.press("colon", "right", *" state:decided", "enter")
        assert desk.state.query.text == "class:AGE state:decided"
        await desk.press("colon", "escape")
        assert desk.state.query.text == "class:AGE state:decided"


# --- copying ------------------------------------------------------------------------------


async def test_number_and_file_are_copied_with_all_parts_and_no_name_when_blind(
    open_desk, tmp_path
):
    async with open_desk() as desk:
        await desk.press("Y", "n")
        assert desk.app.clipboard == (
            "two  (tokens 10:11, characters 41:44, turn 2 of shell.gold.jsonl)"
        )
        assert "number copied" in desk.said
        assert "two" in desk.said
        assert "Y f writes a file" in desk.said
        await desk.press("Y", "f")
        assert desk.said.startswith("written to ")
        await desk.press("B", "Y", "j")
        assert "ann1" not in desk.app.clipboard
        assert json.loads(desk.app.clipboard)["anchors_indices"] == [10]
    (path,) = tmp_path.glob("item-*.txt")
    text = path.read_text(encoding="utf-8")
    assert "My boots and my coat" in text
    assert "(tokens 10:11," in text
    assert '"format":"nfh-gold/1"' in text


async def test_the_record_is_a_line_that_can_be_read_again(open_desk, tmp_path):
    async with open_desk() as desk:
        await desk.press("y", "enter", "k", "Y", "j")
        text = desk.app.clipboard
    path = tmp_path / "one.gold.jsonl"
    path.write_text(text + "\n", encoding="utf-8")
    (row,) = read_gold(Source(path))
    assert row.gold.answer.kind == "YEAR"
    assert [vote.annotator for vote in row.votes] == ["ann1", "ann2", "ann3", "edith"]


# --- the tour -----------------------------------------------------------------------------


async def toured(path, keys, *, tour=True, size=(80, 24), mode="adjudicate", me="new"):
    """What the tour says at each key, and the workbench afterwards."""
    app = WorkbenchApp(path, me, mode, None, tour=tour)
    said = []
    try:
        async with app.run_test(size=size) as pilot:
            for key in (None, *keys):
                if key is not None:
                    await pilot.press(key)
                await pilot.pause()
                await pilot.pause()
                width = app.size.width
                strips = drawn_lines(app)
                said.append("\n".join(strip.text[:width] for strip in strips))
            step, edit = app.bench.state.tour_step, app.bench.state.edit
    finally:
        app.close()
    return said, step, edit


@pytest.mark.parametrize(
    ("size", "mode"),
    [
        ((60, 20), "annotate"),
        ((120, 40), "adjudicate"),
        *(
            pytest.param(size, mode, marks=pytest.mark.long)
            for size, mode in [
                ((60, 20), "adjudicate"),
                ((80, 24), "annotate"),
                ((80, 24), "adjudicate"),
                ((120, 40), "annotate"),
            ]
        ),
    ],
)
async def test_six_steps_each_left_by_one_key(database, size, mode):
    said, step, edit = await toured(database, ["enter"] * 6, size=size, mode=mode)
    for number in range(6):
        assert f"{number + 1} of 6" in said[number]
        assert "esc leaves" in said[number]
    assert "of 6 ·" not in said[6]
    assert step is None
    assert not edit.changed


async def test_it_comes_once_by_itself_and_escape_leaves_it(database):
    said, step, _ = await toured(database, ["escape"])
    assert "1 of 6" in said[0]
    assert step is None
    said, step, _ = await toured(database, [])
    assert "1 of 6" not in said[0]


async def test_it_is_not_in_the_way_of_work(database):
    _, step, edit = await toured(database, ["y"])
    assert step == 0
    assert edit.kind == "YEAR"


async def test_nobody_is_shown_round_who_did_not_ask(database, open_desk):
    async with open_desk(me="new") as desk:
        assert desk.state.tour_step is None
        desk.screen.action_act("tour")
        await desk.settle()
        assert "1 of 6" in desk.text()
    with Store.open(database) as store:
        assert store.settings.read("tour.new") is None


async def test_its_keys_are_a_persons_own(database, monkeypatch):
    from nfh_tui.config import config_files

    path = config_files()[0]
    path.parent.mkdir(parents=True)
    path.write_text('[keys]\n"queue.next" = "f7"', encoding="utf-8")
    said, _, _ = await toured(database, ["enter"])
    assert "f7 and k go forward and back" in said[1].replace("│", "")


class Full(io.StringIO):
    """A file on a disk that is full."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


async def test_a_full_disk_is_named_and_nothing_is_left_there(open_desk, database, monkeypatch):
    opened = Path.open

    def full(path: Path, mode: str = "r", *more: Any, **others: Any) -> Any:
        file = opened(path, mode, *more, **others)
        if mode == "x":
            file.close()
            return Full()
        return file

    before = sorted(database.parent.glob("item-*"))
    monkeypatch.setattr(Path, "open", full)
    async with open_desk() as desk:
        await desk.press("Y", "f")
        text = desk.words()
        assert "The disk is full" in text
        assert "Errno" not in text
        await desk.press("escape")
        assert desk.app.is_running
    assert sorted(database.parent.glob("item-*")) == before
