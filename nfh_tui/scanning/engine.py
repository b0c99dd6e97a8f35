"""A block of text made figures: what every worker does, on this machine or another."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from nfh_db.formats.reading import BYTE_ORDER_MARK
from nfh_models.errors import ModelsError
from nfh_tui.scanning.tally import Tally

if TYPE_CHECKING:
    from nfh_models.identification.case import Identifier
    from nfh_models.parsing.parsed import Parser

REPLACED = "\ufffd"
_BYTES_OF_REPLACED = REPLACED.encode()


@dataclass(frozen=True, slots=True)
class Task:
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
class Hello:
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

    def __init__(self, task: Task) -> None:
        """Load them. Raises ModelsError for what cannot be used."""
        with _in_words(f"the model of the recipe {task.recipe} cannot be loaded"):
            self._load(task)
        self._per_line = task.per_line
        self._lock = threading.Lock()

    def _load(self, task: Task) -> None:
        from nfh_models.identification.deciding import check_layers
        from nfh_models.identification.recipes import load_identifier
        from nfh_models.parsing import load_parser

        folder = None if task.folder is None else Path(task.folder)
        self._identifier: Identifier = load_identifier(task.recipe, folder)
        self._parser: Parser | None = None
        if self._identifier.needs:
            self._parser = load_parser(task.parser, self._identifier.needs)
        check_layers(self._identifier, self._parser)

    def hello(self) -> Hello:
        """What it works with."""
        from nfh_models.text.tokenize import tokenizer_name

        return Hello(
            self._identifier.recipe,
            self._identifier.version,
            None if self._parser is None else self._parser.name,
            getattr(self._identifier, "parser", None),
            tokenizer_name(),
            _program(),
        )

    def scan(self, data: bytes) -> Tally:
        """The figures of a block. Raises ModelsError for what makes the model fail."""
        with _in_words(f"the recipe {self._identifier.recipe} fails on a text"):
            return self._scan(data)

    def _scan(self, data: bytes) -> Tally:
        from nfh_models.identification.deciding import decide
        from nfh_models.identification.text import cases_of_sentences, sentences_of_text

        tally, text = read_text(data)
        sentences = list(sentences_of_text(text, per_line=self._per_line))
        tally.sentences = len(sentences)
        cases = (found.case for found in cases_of_sentences(text, sentences))
        last = None
        with self._lock:
            for case, decision in decide(cases, self._identifier, self._parser):
                words = " ".join(case.stretch.words[case.start : case.end])
                tally.count(words, decision.rule, nfh=decision.nfh)
                tally.sentences_with_number += case.stretch is not last
                last = case.stretch
        return tally


def read_text(data: bytes) -> tuple[Tally, str]:
    """The text of a block, with what is counted before it is cut.

    NUL bytes are white space; what is no UTF-8 is replaced by U+FFFD.
    """
    text = data.removeprefix(BYTE_ORDER_MARK).replace(b"\0", b" ").decode("utf-8", "replace")
    undecodable = text.count(REPLACED) - data.count(_BYTES_OF_REPLACED)
    tally = Tally(
        bytes=len(data),
        words=len(text.split()),
        undecodable=undecodable,
        nul=data.count(0),
    )
    return tally, text


@lru_cache(maxsize=1)
def engine_of(task: Task, run: str) -> Engine:  # noqa: ARG001
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
