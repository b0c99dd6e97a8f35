"""A scan of files: sends blocks to a worker pool and adds the figures up in order, in bounded
memory; keeps a checkpoint of each file; and finds the model to use.
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
from typing import TYPE_CHECKING

import msgspec

from nfh_db import system
from nfh_db.system import now, path_beside, sweep
from nfh_models.identification.base import RULES
from nfh_tui.scanning.blocks import (
    SIZE,
    STANDARD_INPUT,
    TextFigures,
    UnreadableError,
    blocks,
    opened,
)
from nfh_tui.scanning.worker import BlockBytes, PendingFigures, ScanHandshake, WorkerPool

if TYPE_CHECKING:
    from nfh_db.store import Store


# Checkpoints: what is known of a file that was scanned, in part or completely.
#
# A checkpoint is found by the content of a file (size, modification time, first and last
# bytes), not by its name. A file that has changed has none. Blocks are added in order, so a
# checkpoint holds the figures up to one position. It is written to a temporary file and
# renamed: a process that is killed leaves the previous one intact. One that is damaged by a
# loss of power or by hand does not match its digest and is ignored.

FORMAT = 2
ENDING = ".scan.json"
KEPT = 20_000
BYTES_KEPT = 1 << 28
"""Limits of the folder: number and total bytes of checkpoints. Beyond either, those that were
written or used least recently are removed."""

SYNC_AFTER = 1.0
"""Seconds of work from which on a checkpoint is worth an fsync."""

NAME = re.compile(rf"[0-9a-f]{{32}}{re.escape(ENDING)}")
"""File names of checkpoints. Nothing else in the folder is removed."""

_ENDS = 1 << 16
"""Bytes at each end of a file that are hashed to identify its content."""


@dataclass(slots=True)
class ScanState:
    """The progress in one file: everything before byte `start` is done."""

    index: int = 0
    """The block that begins at `start`."""
    start: int = 0
    """Unpacked byte."""
    read: int = 0
    """Bytes of the file on disk (packed)."""
    seconds: float = 0.0
    """Time that the scan took."""
    done: bool = False
    at: str = ""
    """When the checkpoint was written."""
    tally: TextFigures = field(default_factory=TextFigures)


@dataclass(frozen=True, slots=True)
class _CheckpointFile:
    """The content of a checkpoint on disk."""

    format: int
    file: str
    """Name of the file, for people; not read again."""
    digest: str
    """Of `state`."""
    state: msgspec.Raw


def checkpoint_folder() -> Path:
    """The folder of checkpoints, which may not exist. Raises OSError if the user has no
    data folder."""
    return system.data_folder() / "scans"


def content_identity(path: Path) -> str | None:
    """Identifies the content of a file; None if it is not a regular file. Raises OSError."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe can be opened once only
        return None
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        ends = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, status.st_size - _ENDS))
        ends.update(file.read(_ENDS))
    return f"{status.st_size} {status.st_mtime_ns} {ends.hexdigest()}"


class ScanCheckpoint:
    """The checkpoint of one file for one model, parser and way of cutting."""

    def __init__(
        self, folder: Path, name: str, content: str, per_line: bool, handshake: ScanHandshake
    ) -> None:
        key = msgspec.json.encode([FORMAT, SIZE, content, per_line, handshake])
        self._name = name
        self.path = folder / f"{hashlib.sha256(key).hexdigest()[:32]}{ENDING}"

    def load(self) -> ScanState | None:
        """The stored state; None if there is none or it is damaged. Marks it as used."""
        try:
            stored = msgspec.json.decode(self.path.read_bytes(), type=_CheckpointFile)
            if stored.format != FORMAT or stored.digest != _digest(stored.state):
                return None
            state = msgspec.json.decode(stored.state, type=ScanState)
        except (OSError, ValueError, RecursionError):  # a decoder's error is a ValueError
            return None
        with suppress(OSError):
            os.utime(self.path)
        return state

    def save(self, state: ScanState) -> None:
        """Write the state and set its time. Raises OSError."""
        state.at = now()
        encoded = msgspec.Raw(msgspec.json.encode(state))
        name = self._name.encode("utf-8", "backslashreplace").decode("utf-8")
        content = _CheckpointFile(FORMAT, name, _digest(encoded), encoded)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path_beside(self.path, "tmp")
        try:
            with temporary.open("xb") as file:
                file.write(msgspec.json.encode(content))
                if state.seconds > SYNC_AFTER:
                    file.flush()
                    os.fsync(file.fileno())
            temporary.replace(self.path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def remove(self) -> None:
        """Delete the file, if it exists. Errors are ignored."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def remove_old_checkpoints(
    folder: Path, kept: int = KEPT, kept_bytes: int = BYTES_KEPT
) -> None:
    """Remove all but the newest checkpoints, and temporary files of killed processes."""
    sweep(folder)
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
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


SAVED_EVERY = 1.0
"""Seconds between two writes of a checkpoint: the work that a kill may lose."""


@dataclass(slots=True)
class ScannedFile:
    """A file of a scan and its results."""

    name: str
    state: ScanState = field(default_factory=ScanState)
    size: int | None = None
    """Bytes on disk; None without a size, as for standard input."""
    resumed: int = 0
    """Unpacked bytes that an earlier run processed."""
    finished_before: str = ""
    """When an earlier run finished the file."""
    failed: str = ""
    """A sentence that says why there are no figures."""
    changed: bool = False
    """Whether the file was written to while it was read."""
    checkpoint_error: str = ""
    """Why the checkpoint could not be written."""
    distinct: int = 0
    """Number of different anchors; `tally` may hold only the most common, see `ScanRequest`."""
    checkpoint: ScanCheckpoint | None = None
    content: str | None = None
    """Its `content_identity` when the scan began."""
    saved: float = 0.0
    """When the checkpoint was written, in monotonic seconds."""

    @property
    def tally(self) -> TextFigures:
        return self.state.tally

    @property
    def counted(self) -> bool:
        """Whether the figures cover the complete file."""
        return self.state.done and not self.failed


@dataclass(slots=True)
class ScanProgress:
    """The progress of a scan, in bytes of the files on disk."""

    file: str
    done: int
    started: int
    """Bytes that were done before this run."""
    total: int | None
    """None if a file has no size."""
    words: int
    """Of this run."""
    seconds: float
    """Of this run."""


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What to scan, and how."""

    names: Sequence[str]
    per_line: bool
    checkpoints: Path | None
    """The folder of checkpoints; None to keep none."""
    fresh: bool = False
    """Whether to ignore existing checkpoints."""
    top: int | None = None
    """How many anchors of each finished file are kept in memory; None for all."""


@dataclass(frozen=True, slots=True)
class _PendingBlock:
    """A submitted block, or the end of a file."""

    of: ScannedFile
    figures: PendingFigures | None
    """None marks the end of the file."""
    start: int = 0
    end: int = 0
    index: int = 0
    read: int = 0
    failed: str = ""


class Scan:
    """A run over some files."""

    def __init__(self, request: ScanRequest, pool: WorkerPool) -> None:
        """Read the checkpoints of the files. Raises ModelsError if the workers fail."""
        self._request = request
        self._pool = pool
        self._on_progress: Callable[[ScanProgress], object] | None = None
        self.handshake = pool.handshake()
        self.files = [self._prepared(name) for name in request.names]
        """In the order of the request."""
        self.total = TextFigures()
        """The sum over the files that were read to their end."""
        self.seconds = 0.0
        """The time that the files of `total` took."""
        readable = [file for file in self.files if not file.failed]
        self._without_size = sum(file.size is None for file in readable)
        self._total_bytes = sum(file.size or 0 for file in readable)
        self._done = self._started = sum(file.state.read for file in readable)
        self._words = 0
        self._began = self._last = time.monotonic()

    def run(self, on_progress: Callable[[ScanProgress], object] | None = None) -> None:
        """Scan the files; on_progress: called after each block.

        Raises ModelsError if the workers cannot continue, and KeyboardInterrupt. The
        checkpoint of the current file is written first.
        """
        self._on_progress = on_progress
        pending: deque[_PendingBlock] = deque()
        self._began = self._last = time.monotonic()
        try:
            for block in self._submitted():
                pending.append(block)
                while len(pending) >= self._pool.at_once:
                    self._collect(pending.popleft())
            while pending:
                self._collect(pending.popleft())
        except BaseException:
            if pending:
                self._save(pending[0].of)
            raise

    # --- submitting blocks --------------------------------------------------------------------

    def _prepared(self, name: str) -> ScannedFile:
        file = ScannedFile(name)
        if name == STANDARD_INPUT:
            return file
        try:
            file.content = content_identity(Path(name))
        except OSError as error:
            file.failed = error.strerror or str(error)
        if file.content is None:
            return file
        with suppress(OSError):
            file.size = Path(name).stat().st_size
        if self._request.checkpoints is not None:
            folder, per_line = self._request.checkpoints, self._request.per_line
            file.checkpoint = ScanCheckpoint(
                folder, name, file.content, per_line, self.handshake
            )
            if self._request.fresh:
                file.checkpoint.remove()
            _resume(file, file.checkpoint.load())
            if file.state.done:
                # The figures take memory: they are loaded again when it is the file's turn.
                file.state.tally = TextFigures()
        return file

    def _submitted(self) -> Iterator[_PendingBlock]:
        for file in self.files:
            failed = ""
            if file.state.done and file.checkpoint is not None:
                self._done -= file.state.read
                _resume(file, file.checkpoint.load())
                self._done += file.state.read
            try:
                if not file.state.done and not file.failed:
                    yield from self._blocks(file)
            except UnreadableError as error:
                failed = str(error)
            except OSError as error:
                failed = error.strerror or str(error)
            yield _PendingBlock(file, None, failed=failed)

    def _blocks(self, file: ScannedFile) -> Iterator[_PendingBlock]:
        index, start = file.state.index, file.state.start
        per_line = self._request.per_line
        with opened(file.name, file.size) as reader:
            reader.skip_to(start)
            for block in blocks(reader, per_line=per_line, index=index, start=start):
                where = f"{file.name}, from byte {block.start:,}"
                figures = self._pool.submit(BlockBytes(block.data, where))
                yield _PendingBlock(
                    file, figures, block.start, block.end, block.index, block.read
                )

    # --- collecting figures -------------------------------------------------------------------

    def _collect(self, block: _PendingBlock) -> None:
        file, state = block.of, block.of.state
        if block.figures is None:
            self._finish(file, block.failed)
        else:
            try:
                tally = block.figures()
            except BaseException:
                self._save(file)
                raise
            state.tally.add(tally)
            self._done += block.read - state.read
            state.index, state.start, state.read = block.index + 1, block.end, block.read
            self._words += tally.words
            state.seconds += self._lap()
            if time.monotonic() - file.saved > SAVED_EVERY:
                self._save(file)
        if self._on_progress is not None:
            self._on_progress(
                ScanProgress(
                    file=file.name,
                    done=self._done,
                    started=self._started,
                    total=None if self._without_size else self._total_bytes,
                    words=self._words,
                    seconds=time.monotonic() - self._began,
                )
            )

    def _finish(self, file: ScannedFile, failed: str) -> None:
        state = file.state
        if failed:
            file.failed = failed
            self._save(file)
            # The progress leaves out files that failed.
            self._done -= state.read
            self._total_bytes -= file.size or 0
            self._without_size -= file.size is None
        if file.failed:
            return
        if not state.done:
            self._end(file)
        self.total.add(state.tally)
        self.seconds += state.seconds
        file.distinct = len(state.tally.anchors)
        if self._request.top is not None:
            state.tally.anchors = dict(state.tally.common(self._request.top))

    def _end(self, file: ScannedFile) -> None:
        state = file.state
        state.seconds += self._lap()
        state.done = True
        if file.size is not None:
            self._done += file.size - state.read
            state.read = file.size
        if file.content is None or _unchanged(file.name, file.content):
            self._save(file)
            return
        file.changed = True
        if file.checkpoint is not None:
            file.checkpoint.remove()

    def _save(self, file: ScannedFile) -> None:
        """Write the checkpoint, unless a write has failed before or nothing is done yet."""
        file.saved = time.monotonic()
        begun = file.state.index or file.state.done
        if file.checkpoint is None or file.checkpoint_error or not begun:
            return
        try:
            file.checkpoint.save(file.state)
        except OSError as error:
            file.checkpoint_error = error.strerror or str(error)

    def _lap(self) -> float:
        last, self._last = self._last, time.monotonic()
        return self._last - last


def _resume(file: ScannedFile, state: ScanState | None) -> None:
    """Start a file from the state of its checkpoint, if there is one."""
    file.state = ScanState() if state is None else state
    file.finished_before = file.state.at if file.state.done else ""
    file.resumed = 0 if file.state.done else file.state.start


def _unchanged(name: str, content: str) -> bool:
    with suppress(OSError):
        return content_identity(Path(name)) == content
    return False


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model and what is needed to load it."""

    name: str
    recipe: str
    folder: str | None
    """Absolute path; None for the rules and for the packaged model."""


def model_source(store: "Store | None", spec: str | None) -> ModelSource:
    """The model that `spec` names, as `identifier_for` understands it.

    Raises IdentificationRecipeError and ModelFileError.
    """
    from nfh_tui.services.models import IDENTIFICATION, checked_folder, identifier_for

    found = None if store is None else IDENTIFICATION.named(store, spec)
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
        IDENTIFICATION.check_task(config.task, spec)
        return ModelSource(config.name, config.recipe, str(folder))
    chosen = identifier_for(None, spec)  # mostly raises: no model has this name
    return ModelSource(chosen.name, chosen.model.recipe, None)
