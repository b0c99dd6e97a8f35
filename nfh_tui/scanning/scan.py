"""Files scanned: blocks out to workers and figures back, in order and in bounded memory; the
checkpoint of each file, and which model is used.
"""

import hashlib
import os
import re
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from nfh_db import system
from nfh_db.clock import now
from nfh_db.system import path_beside, sweep
from nfh_models.identification.base import RULES
from nfh_tui.scanning.blocks import (
    SIZE,
    STANDARD_INPUT,
    TextFigures,
    UnreadableError,
    blocks,
    opened,
)
from nfh_tui.scanning.worker import Awaited, BlockBytes, Crew, ScanHandshake

if TYPE_CHECKING:
    from nfh_db.store import Store


# What is known of a file that was scanned, in part or whole, so that nothing is done twice.
#
# A journal belongs to what stands in a file, not to its name: its size, its time of change,
# and what it begins and ends with. A file that has changed has none. Blocks are counted in
# their order, so that a journal is the figures up to one place. It is written beside and
# renamed: a process that is killed leaves the last one whole. One that is damaged all the
# same, by a machine that lost its power or by hand, does not fit its own digest and is not
# used.

FORMAT = 2
ENDING = ".scan.json"
KEPT = 20_000
BYTES_KEPT = 1 << 28
"""Journals in the folder, and bytes of them; of more, those that were neither written nor
used for the longest time are removed."""

SURE_AFTER = 1.0
"""Seconds of work that are worth waiting for the disk."""

NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(ENDING)}")
"""What a journal is called. Nothing else in the folder is removed."""

_ENDS = 1 << 16
"""Bytes at each end of a file that tell it from another of the same size and time."""


@dataclass(slots=True)
class ScanState:
    """How far a file is done: all before byte `start`, where block `index` begins.

    read: bytes of the file itself, packed as it is. seconds: what it took. at: when written.
    """

    index: int = 0
    start: int = 0
    read: int = 0
    seconds: float = 0.0
    done: bool = False
    at: str = ""
    tally: TextFigures = field(default_factory=TextFigures)


@dataclass(frozen=True, slots=True)
class _Stored:
    """A journal as it is written. file: for a person who looks. digest: of the state."""

    format: int
    file: str
    digest: str
    state: msgspec.Raw


def folder() -> Path:
    """Where journals are, not made yet. Raises OSError for a user without a folder."""
    return system.data_folder() / "scans"


def identity(path: Path) -> str | None:
    """What tells a file's content from another's; None for what is no regular file.

    Raises OSError.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe can be opened once only
        return None
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        ends = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, status.st_size - _ENDS))
        ends.update(file.read(_ENDS))
    return f"{status.st_size} {status.st_mtime_ns} {ends.hexdigest()}"


class Journal:
    """The journal of one file under one task."""

    def __init__(
        self, home: Path, name: str, content: str, per_line: bool, by: ScanHandshake
    ) -> None:
        said = msgspec.json.encode([FORMAT, SIZE, content, per_line, by])
        self._name = name
        self.path = home / f"{hashlib.sha256(said).hexdigest()[:32]}{ENDING}"

    def load(self) -> ScanState | None:
        """What is known; None if nothing, or nothing that can be trusted."""
        try:
            stored = msgspec.json.decode(self.path.read_bytes(), type=_Stored)
            if stored.format != FORMAT or stored.digest != _digest(stored.state):
                return None
            state = msgspec.json.decode(stored.state, type=ScanState)
        except (OSError, ValueError, RecursionError):  # a decoder's error is a ValueError
            return None
        with suppress(OSError):
            os.utime(self.path)
        return state

    def save(self, state: ScanState) -> None:
        """Keep it. Raises OSError."""
        sure = state.seconds > SURE_AFTER
        state.at = now()
        written = msgspec.Raw(msgspec.json.encode(state))
        name = self._name.encode("utf-8", "backslashreplace").decode("utf-8")
        stored = _Stored(FORMAT, name, _digest(written), written)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = path_beside(self.path, "tmp")
        try:
            with beside.open("xb") as file:
                _write(file, msgspec.json.encode(stored), sure=sure)
            beside.replace(self.path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def remove(self) -> None:
        """Forget it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def tidy(home: Path, kept: int = KEPT, kept_bytes: int = BYTES_KEPT) -> None:
    """Remove all but the newest journals, and what killed processes left beside them."""
    sweep(home)
    found = []
    with suppress(OSError):
        for path in home.iterdir():
            if NAME.fullmatch(path.name):
                with suppress(OSError):  # another scan may have removed it
                    status = path.lstat()
                    found.append((-status.st_mtime_ns, status.st_size, path))
    size = 0
    for place, (_, length, path) in enumerate(sorted(found)):
        size += length
        if place >= kept or size > kept_bytes:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _digest(text: msgspec.Raw) -> str:
    return hashlib.sha256(text).hexdigest()


def _write(file: BinaryIO, text: bytes, *, sure: bool) -> None:
    file.write(text)
    if sure:
        file.flush()
        os.fsync(file.fileno())


SAVED_EVERY = 1.0
"""Seconds between two writes of a journal: what a kill may cost."""


@dataclass(slots=True)
class Scanned:
    """A file and what is known of it.

    size: bytes of it on disk; None for what has none, as standard input. resumed: bytes,
    unpacked, that an earlier run had done. before: when an earlier run had finished it.
    failed: the sentence that says why it has no figures. changed: it was written to while it
    was read. unkept: why its journal could not be written. distinct: different anchors, of
    which only the most common may be left, see `ScanRequest`.
    """

    name: str
    state: ScanState = field(default_factory=ScanState)
    size: int | None = None
    resumed: int = 0
    before: str = ""
    failed: str = ""
    changed: bool = False
    unkept: str = ""
    distinct: int = 0

    @property
    def tally(self) -> TextFigures:
        """The figures."""
        return self.state.tally

    @property
    def counted(self) -> bool:
        """Whether its figures are of the whole file."""
        return self.state.done and not self.failed


@dataclass(slots=True)
class ScanProgress:
    """How far a scan is: bytes of files as they are on disk. words, seconds: of this run.

    total: None where one of the files has no size. started: bytes that were done before.
    """

    file: str
    done: int
    started: int
    total: int | None
    words: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What is asked. home: the folder of journals; None: none are kept. fresh: as if there
    were none yet. top: how many anchors of each file are held when it is done; None: all."""

    names: Sequence[str]
    per_line: bool
    home: Path | None
    fresh: bool = False
    top: int | None = None


@dataclass(slots=True)
class _Open:
    """A file being scanned."""

    file: Scanned
    journal: Journal | None
    content: str | None
    saved: float = 0.0


@dataclass(frozen=True, slots=True)
class _Sent:
    """A block on its way; figures: None behind the last one of its file."""

    of: _Open
    figures: Awaited | None
    start: int = 0
    end: int = 0
    index: int = 0
    read: int = 0
    failed: str = ""


class Scan:
    """A run over some files. files: what is known of each, in the order of the call.

    whole: the sum of those that were read to their end. seconds: what they took.
    """

    def __init__(self, call: ScanRequest, crew: Crew) -> None:
        """Look at what is known of the files. Raises ModelsError of workers that fail."""
        self._call = call
        self._crew = crew
        self._tell: Callable[[ScanProgress], object] | None = None
        self.hello = crew.hello()
        self._files = [self._prepared(name) for name in call.names]
        self.files = [of.file for of in self._files]
        self.whole = TextFigures()
        self.seconds = 0.0
        sound = [file for file in self.files if not file.failed]
        self._endless = sum(file.size is None for file in sound)
        self._total = sum(file.size or 0 for file in sound)
        self._done = self._started = sum(file.state.read for file in sound)
        self._words = 0
        self._began = self._last = time.monotonic()

    def run(self, tell: Callable[[ScanProgress], object] | None = None) -> None:
        """Scan; tell: called behind each block. Raises ModelsError where the workers cannot
        go on, KeyboardInterrupt; what was done until then is kept."""
        self._tell = tell
        waiting: deque[_Sent] = deque()
        self._began = self._last = time.monotonic()
        try:
            for sent in self._sent():
                waiting.append(sent)
                while len(waiting) >= self._crew.at_once:
                    self._settle(waiting.popleft())
            while waiting:
                self._settle(waiting.popleft())
        except BaseException:
            if waiting:
                self._keep(waiting[0].of)
            raise

    # --- giving out ---------------------------------------------------------------------------

    def _prepared(self, name: str) -> _Open:
        """A file with what an earlier run knows of it."""
        file = Scanned(name)
        of = _Open(file, None, None)
        if name == STANDARD_INPUT:
            return of
        try:
            of.content = identity(Path(name))
        except OSError as error:
            file.failed = error.strerror or str(error)
        if of.content is None:
            return of
        with suppress(OSError):
            file.size = Path(name).stat().st_size
        if self._call.home is not None:
            home, per_line = self._call.home, self._call.per_line
            of.journal = Journal(home, name, of.content, per_line, self.hello)
            if self._call.fresh:
                of.journal.remove()
            _take_over(file, of.journal.load())
        return of

    def _sent(self) -> Iterator[_Sent]:
        for of in self._files:
            failed = ""
            if of.file.state.done and of.journal is not None:
                self._done -= of.file.state.read
                _take_over(of.file, of.journal.load(), whole=True)
                self._done += of.file.state.read
            try:
                if not of.file.state.done and not of.file.failed:
                    yield from self._blocks(of)
            except UnreadableError as error:
                failed = str(error)
            except OSError as error:
                failed = error.strerror or str(error)
            yield _Sent(of, None, failed=failed)

    def _blocks(self, of: _Open) -> Iterator[_Sent]:
        index, start = of.file.state.index, of.file.state.start
        with opened(of.file.name, of.file.size) as reader:
            reader.go_to(start)
            for block in blocks(reader, per_line=self._call.per_line, index=index, start=start):
                where = f"{of.file.name}, from byte {block.start:,}"
                figures = self._crew.submit(BlockBytes(block.data, where))
                yield _Sent(of, figures, block.start, block.end, block.index, block.read)

    # --- taking back --------------------------------------------------------------------------

    def _settle(self, sent: _Sent) -> None:
        of, state = sent.of, sent.of.file.state
        if sent.figures is None:
            self._finish(of, sent.failed)
        else:
            try:
                tally = sent.figures.result()
            except BaseException:
                self._keep(of)
                raise
            state.tally.add(tally)
            self._done += sent.read - state.read
            state.index, state.start, state.read = sent.index + 1, sent.end, sent.read
            self._words += tally.words
            state.seconds += self._lap()
            if time.monotonic() - of.saved > SAVED_EVERY:
                self._keep(of)
        if self._tell is not None:
            self._tell(self._progress(of.file))

    def _finish(self, of: _Open, failed: str) -> None:
        file, state = of.file, of.file.state
        if failed:
            file.failed = failed
            self._keep(of)
            self._forget(file)
        if file.failed:
            return
        if not state.done:
            self._end(of)
        self.whole.add(state.tally)
        self.seconds += state.seconds
        file.distinct = len(state.tally.anchors)
        if self._call.top is not None:
            state.tally.anchors = dict(state.tally.common(self._call.top))

    def _end(self, of: _Open) -> None:
        file, state = of.file, of.file.state
        state.seconds += self._lap()
        state.done = True
        if file.size is not None:
            self._done += file.size - state.read
            state.read = file.size
        if of.content is None or _unchanged(file.name, of.content):
            self._keep(of)
            return
        file.changed = True
        if of.journal is not None:
            of.journal.remove()

    def _forget(self, file: Scanned) -> None:
        """Leave a file that has failed out of what is said of the progress."""
        self._done -= file.state.read
        self._total -= file.size or 0
        self._endless -= file.size is None

    def _keep(self, of: _Open) -> None:
        file = of.file
        of.saved = time.monotonic()
        if of.journal is None or file.unkept or not (file.state.index or file.state.done):
            return
        try:
            of.journal.save(file.state)
        except OSError as error:
            file.unkept = error.strerror or str(error)

    def _lap(self) -> float:
        last, self._last = self._last, time.monotonic()
        return self._last - last

    def _progress(self, file: Scanned) -> ScanProgress:
        return ScanProgress(
            file=file.name,
            done=self._done,
            started=self._started,
            total=None if self._endless else self._total,
            words=self._words,
            seconds=time.monotonic() - self._began,
        )


def _take_over(file: Scanned, known: ScanState | None, *, whole: bool = False) -> None:
    """What a journal knows of a file; nothing is known without one.

    whole: with the figures of a file that is done, which take memory: they are wanted when
    it is its turn.
    """
    file.state = ScanState() if known is None else known
    file.before = file.state.at if file.state.done else ""
    file.resumed = 0 if file.state.done else file.state.start
    if file.state.done and not whole:
        file.state.tally = TextFigures()


def _unchanged(name: str, content: str) -> bool:
    with suppress(OSError):
        return identity(Path(name)) == content
    return False


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model by name, with what it takes to load it. folder: whole; None for the
    rules and for the model in the package."""

    name: str
    recipe: str
    folder: str | None


def source_of(store: "Store | None", spec: str | None) -> ModelSource:
    """What `spec` names, as `identifier_for` understands it.

    Raises IdentificationRecipeError and ModelFileError, as that does.
    """
    from nfh_tui.services.models import check_task, checked_folder, identifier_for, named

    found = None if store is None else named(store, spec)
    if store is not None and found is not None and found.path is not None:
        return ModelSource(found.name, found.recipe, str(checked_folder(store.path, found)))
    if found is not None:
        return ModelSource(found.name, found.recipe, None)
    if spec in (None, RULES):
        return ModelSource(RULES, RULES, None)
    if spec is not None and Path(spec).is_dir():
        from nfh_models.model_files import read_config

        folder = Path(spec).resolve()
        config = read_config(folder)
        check_task(config.task, spec)
        return ModelSource(config.name, config.recipe, str(folder))
    chosen = identifier_for(None, spec)  # mostly the sentence that says why there is none
    return ModelSource(chosen.name, chosen.model.recipe, None)
