"""What the server tells on standard error: who came and went, and no secret."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

TOKEN = re.compile(r"(token=)[^&\s'\"]+")
"""A token in a link: also in what libraries log of requests they cannot read."""

LOGGERS = {"nfh_tui.serving": logging.INFO, "aiohttp": logging.WARNING}


class WithoutTokens(logging.Formatter):
    """Time and words on one line, tokens left out."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s  %(message)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what follows it of an error."""
        return TOKEN.sub(r"\1…", super().format(record))


@contextmanager
def logging_to_stderr() -> Iterator[None]:
    """Tell what happens while the block runs."""
    handler = logging.StreamHandler()
    handler.setFormatter(WithoutTokens())
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
