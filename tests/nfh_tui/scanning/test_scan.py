"""Scans: going on where one stopped, and what may change in between."""

import gzip
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from nfh_db.system import path_beside
from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.scan import (
    ENDING,
    Scan,
    ScanProgress,
    ScanRequest,
    remove_old_checkpoints,
)
from nfh_tui.scanning.worker import BlockProcessor

from .conftest import Inline, figures, scanned, text_of


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


@pytest.fixture(autouse=True)
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals are written after every block."""
    monkeypatch.setattr("nfh_tui.scanning.scan.SAVED_EVERY", -1.0)


pytestmark = pytest.mark.usefixtures("small_blocks")


def stop(pool: Inline, home: Path, *names: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        scanned(pool, home, *names)


def test_what_is_counted(tmp_path: Path, engine: BlockProcessor) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "Mr. Oake has 12 boats; she has only two.\n\nNo one came, I am told. Nine of us\nhid."
    )
    tally = scanned(Inline(engine), None, path).files[0].tally
    assert (tally.sentences, tally.sentences_with_number, tally.words) == (3, 3, 19)
    assert {words: (count.numbers, count.nfh) for words, count in tally.anchors.items()} == {
        "12": (1, 0),
        "two": (1, 1),
        "one": (1, 1),
        "nine": (1, 1),
    }
    assert sum(count.numbers for count in tally.rules.values()) == tally.total.numbers == 4


@pytest.mark.parametrize("packed", [False, True])
def test_a_stopped_scan_goes_on_and_finds_the_same(
    tmp_path: Path, story: Path, home: Path, engine: BlockProcessor, packed: bool
) -> None:
    whole = figures(scanned(Inline(engine), None, story))
    if packed:
        story = tmp_path / "story.gz"
        story.write_bytes(gzip.compress(text_of(35).encode()))
    stop(Inline(engine, fail_at=3), home, story)
    pool = Inline(engine)
    job = Scan(ScanRequest([str(story)], per_line=False, checkpoints=home), pool)
    assert 0 < job.files[0].resumed < job.files[0].tally.bytes + 1
    assert job.files[0].state.index == 3
    job.run()
    assert figures(job) == whole
    done = Inline(engine, fail_at=0)
    again = scanned(done, home, story)
    assert (figures(again), done.done) == (whole, 0)
    assert again.files[0].finished_before


def test_one_that_is_stopped_again_and_again_comes_to_its_end(
    story: Path, home: Path, engine: BlockProcessor
) -> None:
    whole = figures(scanned(Inline(engine), None, story))
    for _ in range(100):
        try:
            found = scanned(Inline(engine, fail_at=1), home, story)
        except KeyboardInterrupt:
            continue
        break
    assert figures(found) == whole


@pytest.mark.parametrize("what", ["text", "time", "per-line", "version", "fresh", "damaged"])
def test_what_makes_it_start_again(
    story: Path, home: Path, engine: BlockProcessor, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    scanned(Inline(engine), home, story)
    if what == "text":
        status = story.stat()
        data = story.read_bytes()
        story.write_bytes(data[:-2] + b"?\n")
        os.utime(story, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif what == "time":
        os.utime(story, ns=(0, 0))
    elif what == "damaged":
        for path in home.iterdir():
            path.write_bytes(path.read_bytes()[:-10])
    elif what == "version":
        hello = replace(engine.handshake(), version="rules 0")
        monkeypatch.setattr(engine, "handshake", lambda: hello)
    call = ScanRequest([str(story)], what == "per-line", home, fresh=what == "fresh")
    assert not Scan(call, Inline(engine)).files[0].state.done


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace(b'"start":', b'"start":-'),
        lambda text: text.replace(b'"start":', b'"start":99999999999999999999'),
        lambda text: text.replace(b'"nfh":', b'"nfh":9'),
        lambda text: text.replace(b'"done":false', b'"done":true'),
        lambda text: text[:-1] + b',"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        lambda text: b"[" * 50_000,
        lambda text: b"\xff" * 500,
        lambda text: text.replace(b'"format":2', b'"format":1'),
    ],
)
def test_a_checkpoint_that_is_not_what_was_written_is_not_used(
    story: Path, home: Path, engine: BlockProcessor, damage: Callable[[bytes], bytes]
) -> None:
    stop(Inline(engine, fail_at=3), home, story)
    (path,) = home.iterdir()
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert path.read_bytes() != whole
    state = Scan(ScanRequest([str(story)], False, home), Inline(engine)).files[0].state
    assert state == type(state)()


def test_a_name_that_is_no_utf8(tmp_path: Path, home: Path, engine: BlockProcessor) -> None:
    path = tmp_path / os.fsdecode(b"b\xff.txt")
    path.write_text("He has one.")
    assert not scanned(Inline(engine), home, path).files[0].finished_before
    assert scanned(Inline(engine), home, path).files[0].finished_before


def test_files_that_are_done_are_summed_in_their_order_and_held_in_part(
    tmp_path: Path, home: Path, engine: BlockProcessor
) -> None:
    names = [str(tmp_path / name) for name in ("a.txt", "b.txt", "none.txt", "c.txt")]
    for name, text in zip(names, ("two left, 5 won", "One left", "", "six of us"), strict=True):
        if text:
            Path(name).write_text(text)
    whole = scanned(Inline(engine), None, *names)
    total = TextFigures()
    for file in whole.files:
        if file.counted:
            total.add(file.tally)
    assert whole.total == total
    scanned(Inline(engine), home, names[1])
    for _ in range(2):  # one of them is known, then all
        job = Scan(ScanRequest(names, False, home, top=1), Inline(engine))
        assert not any(file.tally.anchors for file in job.files)
        told: list[ScanProgress] = []
        job.run(told.append)
        assert msgspec.to_builtins(job.total) == msgspec.to_builtins(total)
        assert list(job.total.anchors) == ["two", "5", "one", "six"]
        assert [len(file.tally.anchors) for file in job.files] == [1, 1, 0, 1]
        assert [file.distinct for file in job.files] == [2, 1, 0, 1]
        size = sum(Path(name).stat().st_size for name in names if Path(name).exists())
        assert (told[-1].done, told[-1].total) == (size, size)


def test_what_fails_is_left_out_of_the_progress(
    tmp_path: Path, story: Path, engine: BlockProcessor
) -> None:
    torn = tmp_path / "torn.gz"
    torn.write_bytes(gzip.compress(os.urandom(9) + text_of(35).encode())[:-30])
    told: list[ScanProgress] = []
    Scan(ScanRequest([str(torn), str(story)], False, None), Inline(engine)).run(told.append)
    assert (told[-1].done, told[-1].total) == (story.stat().st_size, story.stat().st_size)


def test_a_moved_file_is_still_known(
    tmp_path: Path, story: Path, home: Path, engine: BlockProcessor
) -> None:
    scanned(Inline(engine), home, story)
    moved = story.rename(tmp_path / "elsewhere.txt")
    assert Scan(ScanRequest([str(moved)], False, home), Inline(engine)).files[0].finished_before


def test_a_file_that_is_written_to_meanwhile_is_not_called_done(
    story: Path, home: Path, engine: BlockProcessor
) -> None:
    job = Scan(ScanRequest([str(story)], False, home), Inline(engine))

    def write(_: ScanProgress) -> None:
        with story.open("a") as file:
            file.write("One more.\n")

    job.run(write)
    assert job.files[0].changed
    assert not list(home.iterdir())


def test_a_bad_file_does_not_keep_the_others_from_being_read(
    tmp_path: Path, story: Path, home: Path, engine: BlockProcessor
) -> None:
    torn = tmp_path / "torn.gz"
    torn.write_bytes(gzip.compress(os.urandom(9) + text_of(35).encode())[:-30])
    names = [tmp_path / "none.txt", story, torn, tmp_path, story]
    files = scanned(Inline(engine), home, *names).files
    assert [bool(file.failed) for file in files] == [True, False, True, True, False]
    assert files[1].tally == files[4].tally


def test_where_nothing_can_be_kept_the_scan_goes_on(
    tmp_path: Path, story: Path, engine: BlockProcessor
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    job = scanned(Inline(engine), blocked / "checkpoints", story)
    assert job.files[0].counted
    assert job.files[0].checkpoint_error


def test_progress_comes_to_the_end(story: Path, engine: BlockProcessor) -> None:
    told: list[ScanProgress] = []
    job = Scan(ScanRequest([str(story)], False, None), Inline(engine))
    job.run(told.append)
    done = [one.done for one in told]
    assert done == sorted(done)
    assert (told[-1].done, told[-1].total) == (story.stat().st_size, story.stat().st_size)
    assert told[-1].words == job.files[0].tally.words


def test_old_checkpoints_are_removed(home: Path) -> None:
    home.mkdir()
    for place in range(5):
        path = home / f"{place:032x}{ENDING}"
        path.write_text("{}")
        os.utime(path, (place, place))
    remove_old_checkpoints(home, kept=2)
    assert sorted(path.name[31:] for path in home.iterdir()) == [f"3{ENDING}", f"4{ENDING}"]
    last = home / f"{5:032x}{ENDING}"
    last.write_text("{" * 9)
    at_work, left = path_beside(last, "tmp"), path_beside(last, "tmp")
    at_work.touch()
    left = left.with_name(left.name.replace(f"-{os.getpid()}-", f"-{2**22 + 1}-"))
    left.touch()
    theirs = [home / name for name in ("notes.scan.json", f"{last.name}.backup.new")]
    for path in theirs:
        path.write_text("a person's own notes")
        os.utime(path, (9, 9))
    remove_old_checkpoints(home, kept_bytes=10)
    assert sorted(home.iterdir()) == sorted([at_work, last, *theirs])
