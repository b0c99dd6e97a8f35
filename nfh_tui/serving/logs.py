"""What the server tells on standard error: who came and went, and no secret.

Whoever was not invited can send anything, and as much of it as they like: what aiohttp says
of that is cut down to a line without a word of theirs, and only so many lines are written.
"""

import asyncio
import errno
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nfh_tui.serving.meter import Meter

TOKEN = re.compile(r"(token(?:=|%3d))[^&\s'\"]+", re.IGNORECASE)
"""A token in a link, whole or not."""

SECRET = re.compile(r"(?:[A-Za-z0-9_-]|%[0-9A-Fa-f]{2}){43,}")
"""What is as long as a token, or as a cookie: 43 and 64 characters. Also percent-encoded."""

FIELD = re.compile(r"%[-#0 +.\d]*[a-zA-Z]")
"""A place in a line to be logged where something of the request would stand."""

LOGGERS = {
    "nfh_tui.serving": logging.INFO,
    "aiohttp": logging.WARNING,
    "asyncio": logging.ERROR,
}

PER_SECOND, AT_ONCE = 0.5, 20.0
"""Lines about people who were not invited, and as many about the event loop."""

OUT_OF = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
"""Errors of a system that has no more of something; asyncio tries again after a second."""


def masked(text: str) -> str:
    """A text in which … stands for whatever could be a secret."""
    return SECRET.sub("…", TOKEN.sub(r"\1…", text))


class WithoutTokens(logging.Formatter):
    """Time and words on one line, tokens left out."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s  %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what follows it of an error that is ours."""
        if record.name.partition(".")[0] in {"aiohttp", "asyncio"}:
            record = _without_request(record)
        return masked(super().format(record))


def _without_request(record: logging.LogRecord) -> logging.LogRecord:
    """A line of aiohttp's or asyncio's, without what stands in the request."""
    words = FIELD.sub("…", str(record.msg)).partition("\n")[0]
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        words += f" ({type(error).__name__}{_place(error)})"
    told = {"name": record.name, "levelno": record.levelno, "msg": words}
    return logging.makeLogRecord(told | {"created": record.created})


def _place(error: BaseException) -> str:
    """Where in the program an error was raised, for whoever looks for a fault of ours."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"


class Sparing(logging.Filter):
    """Lets only so many lines pass that anybody can cause, and tells how many it left out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._meters = {name: Meter(PER_SECOND, AT_ONCE) for name in ("stranger", "loop")}
        self._left_out = dict.fromkeys(self._meters, 0)

    def filter(self, record: logging.LogRecord) -> bool:
        """True for what is to be written."""
        if record.name.startswith("asyncio"):
            kind = "loop"
        elif record.name.startswith("aiohttp") or getattr(record, "uninvited", False):
            kind = "stranger"
        else:
            return True
        if not self._meters[kind].allows(self._clock()):
            self._left_out[kind] += 1
            return False
        if left_out := self._left_out[kind]:
            record.msg = f"({left_out} lines like this left out) {record.msg}"
            self._left_out[kind] = 0
        return True


def note_loop_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """Log in a line what the event loop could not do, or nobody waited for."""
    error = context.get("exception")
    if isinstance(error, OSError) and error.errno in OUT_OF:
        words = f"no connection can be taken just now: {error.strerror}"
        logging.getLogger("asyncio").error(words)
        return
    what = str(context.get("message", "an error that nobody waited for"))
    logging.getLogger("asyncio").error(what, exc_info=error)


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Tell what happens while the block runs."""
    handler = logging.StreamHandler()
    handler.setFormatter(WithoutTokens())
    handler.addFilter(Sparing())
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    for name, level in LOGGERS.items():
        logging.getLogger(name).setLevel(level)
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
            logging.getLogger(name).removeHandler(handler)
