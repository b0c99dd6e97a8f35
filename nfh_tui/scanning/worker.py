"""A worker process: `python -m nfh_tui.scanning.worker`.

It reads a task and then blocks from standard input and writes what it says of each to
standard output, every message behind its length in four bytes; what anything else prints goes
to standard error. It ends when its input closes.
"""

import os
import signal
import struct
import sys
import traceback
from dataclasses import dataclass
from typing import BinaryIO

import msgspec

from nfh_models.errors import ModelsError
from nfh_tui.scanning.engine import Engine, Hello, Task
from nfh_tui.scanning.tally import Tally

_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Reply:
    """One of: a greeting, figures, or a sentence that says what went wrong."""

    hello: Hello | None = None
    tally: Tally | None = None
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
        engine = _start(msgspec.json.decode(message, type=Task), target)
        while engine is not None and (data := receive(source)) is not None:
            send(target, msgspec.json.encode(_scan(engine, data)))


def _start(task: Task, target: BinaryIO) -> Engine | None:
    try:
        engine = Engine(task)
        reply = Reply(hello=engine.hello())
    except ModelsError as error:
        engine, reply = None, Reply(error=str(error))
    send(target, msgspec.json.encode(reply))
    return engine


def _scan(engine: Engine, data: bytes) -> Reply:
    try:
        return Reply(tally=engine.scan(data))
    except ModelsError as error:
        traceback.print_exception(error)  # to the log
        return Reply(error=str(error))


if __name__ == "__main__":
    main()
