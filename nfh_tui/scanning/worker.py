"""The worker process, `python -m nfh_tui.scanning.worker`, and the protocol of worker pools.

A worker turns blocks of text into figures. It reads a `BlockTask` and then blocks from standard
input, and answers each with a `WorkerReply` on standard output. Each message follows its length
(four bytes, big endian). Whatever else prints goes to standard error. The worker ends when its
input closes.
"""

import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import msgspec

from nfh_db.formats.files import BYTE_ORDER_MARK
from nfh_models import ModelsError
from nfh_tui.scanning.blocks import TextFigures

if TYPE_CHECKING:
    from nfh_models.identification.base import Identifier
    from nfh_models.parsing.base import Parser


REPLACED = "\ufffd"
_BYTES_OF_REPLACED = REPLACED.encode()


@dataclass(frozen=True, slots=True)
class BlockTask:
    """How workers process blocks."""

    recipe: str
    folder: str | None
    """Of a trained model; None for the rules and for the packaged model."""
    parser: str | None
    """As given after --parser."""
    per_line: bool
    """Whether each line is a text of its own."""

    def encoded(self) -> bytes:
        """As JSON. Raises ModelsError for a folder whose name is not UTF-8."""
        for name in (self.folder, self.parser):
            try:
                (name or "").encode("utf-8")
            except UnicodeEncodeError:
                raise ModelsError(
                    f"{name!r}: workers cannot use a folder whose name is not UTF-8; rename it"
                ) from None
        return msgspec.json.encode(self)


@dataclass(frozen=True, slots=True)
class ScanHandshake:
    """What a worker has loaded. Workers with equal handshakes give equal figures."""

    # Sent between processes and hashed into the names of checkpoints: fields keep their names.
    recipe: str
    version: str
    parser: str | None
    learnt_with: str | None
    """The parser of the sentences that a trained model was trained on."""
    tokenizer: str
    program: str
    """Version of nfh-tui."""

    @property
    def description(self) -> str:
        """The fields that are set, for a person."""
        fields = (self.recipe, self.version, self.parser, self.tokenizer, self.program)
        return ", ".join(field for field in fields if field)

    @property
    def warning(self) -> str | None:
        """A sentence if a model is used with another parser than it was trained with."""
        if self.parser is None or self.learnt_with in (None, self.parser):
            return None
        return (
            f"the model learnt from sentences parsed by {self.learnt_with} and now gets those "
            f"of {self.parser}; it may decide worse"
        )


class BlockProcessor:
    """An identifier and its parser, loaded once. Processes one block at a time."""

    def __init__(self, task: BlockTask) -> None:
        """Load model and parser. Raises ModelsError if either cannot be used."""
        from nfh_models.identification.base import check_layers, load_identifier
        from nfh_models.parsing.base import load_parser

        folder = None if task.folder is None else Path(task.folder)
        with _as_models_error(f"the model of the recipe {task.recipe} cannot be loaded"):
            self._identifier: Identifier = load_identifier(task.recipe, folder)
            self._parser: Parser | None = None
            if self._identifier.needs:
                self._parser = load_parser(task.parser, self._identifier.needs)
            check_layers(self._identifier, self._parser)
        self._per_line = task.per_line
        self._lock = threading.Lock()

    def handshake(self) -> ScanHandshake:
        """What is loaded here."""
        from nfh_models.text.tokens import tokenizer_name

        return ScanHandshake(
            self._identifier.recipe,
            self._identifier.version,
            None if self._parser is None else self._parser.name,
            getattr(self._identifier, "parser", None),
            tokenizer_name(),
            _program(),
        )

    def scan(self, data: bytes) -> TextFigures:
        """The figures of a block. Raises ModelsError if the model fails on it."""
        with _as_models_error(f"the recipe {self._identifier.recipe} fails on a text"):
            return self._scan(data)

    def _scan(self, data: bytes) -> TextFigures:
        from nfh_models.identification.base import cases_of_sentences, decide, sentences_of_text

        tally, text = read_text(data)
        sentences = list(sentences_of_text(text, per_line=self._per_line))
        tally.sentences = len(sentences)
        cases = (found.case for found in cases_of_sentences(text, sentences))
        last = None
        with self._lock:
            for case, decision in decide(cases, self._identifier, self._parser):
                words = " ".join(case.word_span.words[case.start : case.end])
                tally.count(words, decision.rule, nfh=decision.nfh)
                tally.sentences_with_number += case.word_span is not last
                last = case.word_span
        return tally


def read_text(data: bytes) -> tuple[TextFigures, str]:
    """Decode a block: its figures without sentences and numbers, and its text.

    NUL bytes become spaces; bytes that are not UTF-8 become U+FFFD.
    """
    text = data.removeprefix(BYTE_ORDER_MARK).replace(b"\0", b" ").decode("utf-8", "replace")
    undecodable = text.count(REPLACED) - data.count(_BYTES_OF_REPLACED)
    tally = TextFigures(
        bytes=len(data),
        words=len(text.split()),
        undecodable=undecodable,
        nul=data.count(0),
    )
    return tally, text


@lru_cache(maxsize=1)
def loaded_processor(task: BlockTask, run: str) -> BlockProcessor:  # noqa: ARG001
    """The processor of this process: loaded for its first block, kept for the next.

    run: identifier of the scan, part of the cache key. Each scan loads the model again, since
    it may have been trained again in the meantime.
    """
    return BlockProcessor(task)


@contextmanager
def _as_models_error(what: str) -> Iterator[None]:
    """Turn unexpected errors of the block into a ModelsError that begins with `what`."""
    try:
        yield
    # A lack of memory must end the worker: another one tries the block again.
    except (ModelsError, MemoryError):
        raise
    except Exception as error:
        why = str(error).strip() or "no details are known"
        raise ModelsError(f"{what} ({type(error).__name__}: {why})") from error


def _program() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("nfh-tui")
    except PackageNotFoundError:
        return "source"


ATTEMPTS = 3
"""How often a block is sent to a worker if its workers die."""

WORKERS_LOST = (
    "a worker was killed {attempts} times on one block ({where}). Memory may be too small: "
    "use fewer processes, or a smaller parser"
)


class WorkerPoolError(ModelsError):
    """The workers cannot continue; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class BlockBytes:
    """The bytes of a block."""

    data: bytes
    where: str
    """File and position, for messages."""


PendingFigures = Callable[[], TextFigures]
"""Waits for the figures of a block that is being processed. Raises ModelsError."""


class WorkerPool(Protocol):
    """Workers that have loaded the same model and parser."""

    @property
    def at_once(self) -> int:
        """How many blocks to submit before waiting for the first: this keeps every worker
        busy and bounds the memory."""
        ...

    def handshake(self) -> ScanHandshake:
        """What the workers have loaded. Raises ModelsError if they cannot start."""
        ...

    def submit(self, block: BlockBytes) -> PendingFigures:
        """Queue a block."""
        ...

    def close(self) -> None:
        """End the workers, even in the middle of a block."""
        ...


_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """A handshake, the figures of a block (a cluster sends both), or an error."""

    hello: ScanHandshake | None = None
    tally: TextFigures | None = None
    error: str | None = None
    """A sentence."""


def send(stream: BinaryIO, message: bytes) -> None:
    """Write a message. Raises OSError if the other end is closed."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end of the stream, also within a message."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    message = stream.read(size)
    return message if len(message) == size else None


def main() -> None:
    """Process blocks until the input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    source = sys.stdin.buffer
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target:
        # Libraries print to standard output, too: that must not mix with the messages.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        if (message := receive(source)) is None:
            return
        try:
            processor = BlockProcessor(msgspec.json.decode(message, type=BlockTask))
            reply = WorkerReply(hello=processor.handshake())
        except ModelsError as error:
            send(target, msgspec.json.encode(WorkerReply(error=str(error))))
            return
        send(target, msgspec.json.encode(reply))
        while (data := receive(source)) is not None:
            try:
                reply = WorkerReply(tally=processor.scan(data))
            except ModelsError as error:
                traceback.print_exception(error)  # to the log
                reply = WorkerReply(error=str(error))
            send(target, msgspec.json.encode(reply))


if __name__ == "__main__":
    main()
