"""A worker process, `python -m nfh_tui.scanning.worker`: a block of text made figures, on
this machine or another.

It reads a task and then blocks from standard input and writes what it says of each to
standard output, every message behind its length in four bytes; what anything else prints goes
to standard error. It ends when its input closes.
"""

import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

import msgspec

from nfh_db.formats.files import BYTE_ORDER_MARK
from nfh_models.errors import ModelsError
from nfh_tui.scanning.blocks import TextFigures

if TYPE_CHECKING:
    from nfh_models.identification.base import Identifier
    from nfh_models.parsing.base import Parser


REPLACED = "\ufffd"
_BYTES_OF_REPLACED = REPLACED.encode()


@dataclass(frozen=True, slots=True)
class BlockTask:
    """What is done with blocks. folder: of a trained model. parser: as after --parser."""

    recipe: str
    folder: str | None
    parser: str | None
    per_line: bool

    def packed(self) -> bytes:
        """On its way to a worker. Raises ModelsError."""
        for name in (self.folder, self.parser):
            if name is not None and not name.isascii() and not _is_utf8(name):
                raise ModelsError(
                    f"{name!r}: workers cannot be told of a folder whose name is no UTF-8; "
                    "give it another name"
                )
        return msgspec.json.encode(self)


@dataclass(frozen=True, slots=True)
class ScanHandshake:
    """What a worker works with; workers that say the same give the same figures.

    learnt_with: the parser of the sentences that a trained model learnt from.
    """

    recipe: str
    version: str
    parser: str | None
    learnt_with: str | None
    tokenizer: str
    program: str

    @property
    def said(self) -> str:
        """All of it, in words."""
        parts: Sequence[str | None] = (
            self.recipe,
            self.version,
            self.parser,
            self.tokenizer,
            self.program,
        )
        return ", ".join(part for part in parts if part)

    @property
    def warning(self) -> str | None:
        """A sentence where a model is used with another parser than it learnt with."""
        if self.parser is None or self.learnt_with in (None, self.parser):
            return None
        return (
            f"the model learnt from sentences parsed by {self.learnt_with} and is given those "
            f"of {self.parser}; it may decide worse"
        )


class Engine:
    """An identifier and its parser, loaded once. One block at a time."""

    def __init__(self, task: BlockTask) -> None:
        """Load them. Raises ModelsError for what cannot be used."""
        with _in_words(f"the model of the recipe {task.recipe} cannot be loaded"):
            self._load(task)
        self._per_line = task.per_line
        self._lock = threading.Lock()

    def _load(self, task: BlockTask) -> None:
        from nfh_models.identification.base import check_layers, load_identifier
        from nfh_models.parsing.base import load_parser

        folder = None if task.folder is None else Path(task.folder)
        self._identifier: Identifier = load_identifier(task.recipe, folder)
        self._parser: Parser | None = None
        if self._identifier.needs:
            self._parser = load_parser(task.parser, self._identifier.needs)
        check_layers(self._identifier, self._parser)

    def hello(self) -> ScanHandshake:
        """What it works with."""
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
        """The figures of a block. Raises ModelsError for what makes the model fail."""
        with _in_words(f"the recipe {self._identifier.recipe} fails on a text"):
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
    """The text of a block, with what is counted before it is cut.

    NUL bytes are white space; what is no UTF-8 is replaced by U+FFFD.
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
def engine_of(task: BlockTask, run: str) -> Engine:  # noqa: ARG001
    """The engine of this process: loaded by its first block, kept for the next.

    run: which scan. Another one loads it anew: the model may have been trained since.
    """
    return Engine(task)


@contextmanager
def _in_words(what: str) -> Iterator[None]:
    """What fails in a way that nobody provided for is a sentence all the same.

    Not so a lack of memory: that ends the worker, and another tries once more.
    """
    try:
        yield
    except (ModelsError, MemoryError):
        raise
    except Exception as error:
        why = str(error).strip() or "no more is known"
        raise ModelsError(f"{what} ({type(error).__name__}: {why})") from error


def _is_utf8(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _program() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("nfh-tui")
    except PackageNotFoundError:
        return "source"


ATTEMPTS = 3
"""How often a block is given out whose workers die."""

UNKEPT = (
    "a worker was ended from outside {attempts} times on one block ({where}). That happens "
    "where memory runs out: use fewer processes, or a smaller parser"
)


class CrewError(ModelsError):
    """The workers cannot go on; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class BlockBytes:
    """A block's bytes on their way. where: its place, for a person."""

    data: bytes
    where: str


class Awaited(Protocol):
    """Figures that will be there."""

    def result(self) -> TextFigures:
        """Wait for them. Raises ModelsError."""
        ...


class Crew(Protocol):
    """Workers with the same engine."""

    @property
    def at_once(self) -> int:
        """Blocks that may be on their way together, so that nobody waits and memory holds."""
        ...

    def hello(self) -> ScanHandshake:
        """What they work with. Raises ModelsError where they cannot start."""
        ...

    def submit(self, piece: BlockBytes) -> Awaited:
        """Have a block scanned."""
        ...

    def close(self) -> None:
        """End them, at once if they are at work."""
        ...


_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class WorkerReply:
    """One of: a greeting, figures, or a sentence that says what went wrong."""

    hello: ScanHandshake | None = None
    tally: TextFigures | None = None
    error: str | None = None


def send(stream: BinaryIO, message: bytes) -> None:
    """Write a message. Raises OSError where nobody reads any longer."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """The next message; None where there is none, or not all of it."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    message = stream.read(size)
    return message if len(message) == size else None


def main() -> None:
    """Work until the input closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it
    source = sys.stdin.buffer
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as target:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        message = receive(source)
        if message is None:
            return
        engine = _start(msgspec.json.decode(message, type=BlockTask), target)
        while engine is not None and (data := receive(source)) is not None:
            send(target, msgspec.json.encode(_scan(engine, data)))


def _start(task: BlockTask, target: BinaryIO) -> Engine | None:
    try:
        engine = Engine(task)
        reply = WorkerReply(hello=engine.hello())
    except ModelsError as error:
        engine, reply = None, WorkerReply(error=str(error))
    send(target, msgspec.json.encode(reply))
    return engine


def _scan(engine: Engine, data: bytes) -> WorkerReply:
    try:
        return WorkerReply(tally=engine.scan(data))
    except ModelsError as error:
        traceback.print_exception(error)  # to the log
        return WorkerReply(error=str(error))


if __name__ == "__main__":
    main()
