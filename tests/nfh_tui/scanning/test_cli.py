"""`nfh-tui scan` as a person calls it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db import system
from nfh_tui.cli import scan as command
from nfh_tui.cli.main import commands
from nfh_tui.cli.scan import progress_words, stopped_words
from nfh_tui.scanning.blocks import TextFigures
from nfh_tui.scanning.scan import Scan, ScanProgress, ScanRequest
from nfh_tui.scanning.worker import BlockProcessor, WorkerPoolError

from .conftest import Inline, figures, scanned, text_of

Call = Callable[..., Result]


@pytest.fixture
def pool(engine: BlockProcessor, monkeypatch: pytest.MonkeyPatch) -> Inline:
    """The command works with an engine of this process."""
    inline = Inline(engine)

    @contextmanager
    def given(*_: object) -> Iterator[Inline]:
        yield inline

    monkeypatch.setattr(command, "_pool", given)
    return inline


@pytest.fixture
def call() -> Call:
    def run(*arguments: object, **more: object) -> Result:
        texts = ["scan", *map(str, arguments)]
        return CliRunner().invoke(commands, texts, catch_exceptions=False, **more)  # type: ignore[arg-type]

    return run


def test_a_report_for_programs(story: Path, pool: Inline, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = call(story, story, "--json", "--top", 2, "--out", out)
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    assert json.loads(out.read_text()) == report
    (file,) = report["files"]  # named twice, scanned once
    tally = scanned(pool, None, story).files[0].tally
    for found in (file, report["all"]):
        assert found["bytes"] == story.stat().st_size
        assert found["words"] == len(story.read_text().split())
        assert (found["numbers"], found["nfh"]) == (tally.total.numbers, tally.total.nfh)
        assert found["share_95"][0] < found["share"] < found["share_95"][1]
        assert len(found["anchors"]) == 2
        assert sum(rule["numbers"] for rule in found["rules"]) == found["numbers"]
    assert report["recipe"] == "rules"
    assert report["parser"] == pool.handshake().parser


def test_the_report_is_not_written_over_a_text(story: Path, call: Call, tmp_path: Path) -> None:
    text = story.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(story)
    for out in (story, link):
        result = call(story, "--out", out)
        assert result.exit_code == 2
        assert "an input file" in result.stderr
    assert story.read_bytes() == text


def test_a_report_that_cannot_be_written_is_seen_all_the_same(
    story: Path, pool: Inline, call: Call, tmp_path: Path
) -> None:
    result = call(story, "--json", "--out", tmp_path / "none" / "out.json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["all"]["numbers"]
    assert "no such folder" in result.stderr


def test_names_from_outside(pool: Inline, call: Call, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\x1b[31m\n\xff.txt")
    path.write_text("She has one.")
    out = tmp_path / "out.json"
    (tmp_path / "link").symlink_to(path)
    result = call(path, tmp_path / "link", "--out", out)
    assert result.exit_code == 0
    assert "the same file as" in result.stderr
    assert "\x1b" not in result.output
    assert json.loads(out.read_text())["files"][0]["file"] == str(path)


def test_many_files_are_spoken_of_together(pool: Inline, call: Call, tmp_path: Path) -> None:
    names = [tmp_path / f"{place}.txt" for place in range(9)]
    for name in names:
        name.write_text("She has one.")
    call(*names)
    lines = call(*names).stderr.splitlines()
    assert len(lines) == 6
    assert lines[-1] == "and so of 4 more"


def test_a_report_for_people_fits_80_columns(
    story: Path, tmp_path: Path, pool: Inline, call: Call
) -> None:
    other = tmp_path / "[red]other.txt"
    other.write_bytes(b"1-2-3-4-5-6-7-8-9-1-2-3-4-5-6-7-8-9 of them\0\xff")
    result = call(story, other)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    tables = [line for line in lines if not line.startswith(str(tmp_path))]
    assert max(map(len, tables)) <= 80
    assert "in all, 2 files" in lines
    assert any("NUL byte" in line for line in lines)
    assert any("not UTF-8" in line for line in lines)
    assert any(line.startswith("  anchor") for line in lines)
    assert any(line.startswith("  decided by") for line in lines)


def test_no_number_is_no_share(tmp_path: Path, pool: Inline, call: Call) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Nobody came.")
    assert json.loads(call(path, "--json").stdout)["all"]["share"] is None
    assert "no number, so no share" in call(path).stdout


def test_standard_input(pool: Inline, call: Call) -> None:
    result = call("-", "--json", input=b"She has only one.")
    assert json.loads(result.stdout)["all"]["numbers"] == 1


def test_a_file_that_is_not_there(story: Path, pool: Inline, call: Call) -> None:
    result = call("none.txt", story, "--json")
    assert result.exit_code == 1
    assert result.stderr == "nfh-tui: none.txt: No such file or directory. It is not counted\n"
    report = json.loads(result.stdout)
    assert report["files"][0] == {"file": "none.txt", "failed": "No such file or directory"}
    assert report["all"]["words"] == report["files"][1]["words"]
    assert call("none.txt").exit_code == 1


@pytest.mark.usefixtures("small_blocks")
def test_a_stop_says_how_to_go_on(story: Path, pool: Inline, call: Call) -> None:
    pool.fail_at = 2
    stopped = call(story, "--json")
    assert (stopped.exit_code, stopped.stdout) == (1, "")
    assert "stopped." in stopped.stderr
    assert "This is saved: the same command continues from there." in stopped.stderr
    pool.fail_at = -1
    gone_on = call(story, "--json")
    assert "continues where an earlier run stopped" in gone_on.stderr
    done = call(story, "--json")
    assert "scanned before" in done.stderr
    again = call(story, "--json", "--fresh")
    assert again.stderr == ""
    numbers = [json.loads(one.stdout)["all"]["numbers"] for one in (gone_on, done, again)]
    assert len(set(numbers)) == 1


def test_what_stops_says_what_is_kept_and_what_is_not(
    story: Path, pool: Inline, small_blocks: int, tmp_path: Path
) -> None:
    job = Scan(ScanRequest([str(story), "-"], False, tmp_path), pool)
    assert stopped_words(job) == (
        "0 of 2 files are done. This is saved: the same command continues from there."
    )
    job.files[1].state.start = 7
    assert stopped_words(job).endswith("- is lost, because a pipe cannot be read again.")
    job = Scan(ScanRequest([str(story)], False, tmp_path), pool)
    assert stopped_words(job) == "Nothing was done yet."
    job.files[0].state.start, job.files[0].checkpoint_error = 7, "No space left on device"
    assert stopped_words(job).endswith(
        "is lost: it could not be saved (No space left on device)."
    )


def test_a_crew_that_fails_says_how_to_go_on(
    story: Path, pool: Inline, call: Call, small_blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(data: bytes) -> TextFigures:
        if b"\n\n" in data and pool.done > 2:
            raise WorkerPoolError("the scheduler is gone")
        return real(data)

    real = pool.processor.scan
    monkeypatch.setattr(pool.processor, "scan", fail)
    result = call(story)
    assert result.exit_code == 1
    assert "the scheduler is gone. " in result.stderr
    assert "the same command continues from there" in result.stderr


def test_what_is_called_wrongly(story: Path, call: Call) -> None:
    assert call().exit_code == 2
    assert call(story, "--processes", 0).exit_code == 2
    assert call(story, "--processes", 2, "--scheduler", "tcp://x:1").exit_code == 2
    named = call(story, "--model", "no-such-model")
    assert (named.exit_code, named.stdout) == (1, "")
    assert "no-such-model" in named.stderr


def test_progress_in_words() -> None:
    words = progress_words(
        ScanProgress("a.txt", 30_000_000, 10_000_000, 130_000_000, 500, 10.0)
    )
    assert words == "a.txt, 23% of 130 MB, 2.0 MB/s, 50 words/s, 0:50 left"
    words = progress_words(ScanProgress("-", 30_000_000, 0, None, 500, 10.0))
    assert words == "-, 30 MB, 3.0 MB/s, 50 words/s"


class Command:
    """The real program with one worker."""

    def __init__(self, path: Path) -> None:
        options = "-P -m nfh_tui scan --processes 1".split()
        self.process = subprocess.Popen([sys.executable, *options, str(path)])

    @property
    def workers(self) -> list[int]:
        """The numbers of its processes."""
        lists = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for one in lists for pid in one.read_text().split()]

    def wait_until(self, true: Callable[[], object]) -> None:
        """While it works."""
        while not true():
            assert self.process.poll() is None
            time.sleep(0.01)


def test_killed_at_any_moment_what_is_done_is_kept(
    tmp_path: Path, engine: BlockProcessor
) -> None:
    """A worker is killed and then the program, in the middle of long blocks."""
    path = tmp_path / "long.txt"
    path.write_text("Nothing is counted here.\n\n" * 21_000 + text_of(60))
    home = system.data_folder() / "scans"
    command = Command(path)
    command.wait_until(lambda: list(home.glob("*.scan.json")))
    workers = command.workers
    for pid in workers:
        assert "libtorch" not in Path(f"/proc/{pid}/maps").read_text()
    os.kill(workers[0], signal.SIGKILL)
    command.wait_until(lambda: set(command.workers) - set(workers))
    os.kill(command.process.pid, signal.SIGKILL)
    command.process.wait()
    again, whole = Inline(engine), Inline(engine)
    job = scanned(again, home, path)
    assert figures(job) == figures(scanned(whole, None, path))
    assert job.files[0].resumed > 0
    assert again.done < whole.done


def test_the_parent_loads_no_framework(story: Path) -> None:
    code = (
        "import sys; "
        "from nfh_tui.cli import scan;"
        "from nfh_tui.scanning import workers, cluster, scan as scanning_scan;"
        "scanning_scan.model_source(None, None);"
        "print(sorted({'numpy','spacy','sklearn','torch','stanza','dask','distributed'} "
        "& set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "[]", found.stderr
