"""Formats of other packages: whatever their code raises is a sentence that names them.

A plugin that ends the program (`sys.exit`), or raises what is no Exception, would end the work
on files that it has nothing to do with. Ctrl-C stays what it is, also while a plugin hangs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.base import First, Format
from nfh_db.formats.files import Content, Origin
from nfh_db.formats.rows import Reading, Row, Writing
from nfh_db.messages import visible
from nfh_db.records import ExportRecord

MESSAGE_SHOWN = 300

Failing = Callable[[str], Exception]
"""The error to raise instead of a plugin's, with a sentence."""

_unsure: list[str] = []


def loaded(point: EntryPoint) -> Format | str:
    """The format of an entry point, or why it cannot be used."""
    where = f"the format {visible(point.name)} of {visible(point.value)}"
    try:
        with _worded(where, "cannot be loaded", _PluginError):
            found = point.load()
            made = found if isinstance(found, Format) else found()
    except _PluginError as error:
        return str(error)
    if not isinstance(made, Format):
        return f"{where} is no nfh_db.formats.base.Format"
    return _guarded(made, where)


def taken_troubles() -> list[str]:
    """Sentences on plugins that could not look at a file, each once."""
    found = list(dict.fromkeys(_unsure))
    _unsure.clear()
    return found


class _PluginError(Exception):
    """A plugin that cannot be loaded, or cannot look at a file."""


@contextmanager
def _worded(where: str, cannot: str, failing: Failing) -> Iterator[None]:
    try:
        yield
    except (FormatError, ExportError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        said = visible(f"{type(error).__name__}: {error}", MESSAGE_SHOWN)
        raise failing(f"{where} {cannot}: {said}") from error


def _guarded(made: Format, where: str) -> Format:
    def read(source: Origin, how: Reading) -> Iterator[Row]:
        def failing(sentence: str) -> FormatError:
            return source.error(None, f"{sentence}. Tell its author, or name another format")

        with _worded(where, "cannot read it", failing):
            yield from made.read(source, how)

    def sniff(first: First) -> str | None:
        try:
            with _worded(where, "could not look at it, and was passed over", _PluginError):
                return made.sniff(first)
        except (_PluginError, FormatError) as error:
            _unsure.append(str(error))
            return None

    def writing(make: Callable[[Writing], Any] | None) -> Callable[[Writing], Any] | None:
        return None if make is None else lambda how: _Writer(make, how, where)

    return replace(
        made,
        read=read,
        sniff=sniff,
        writer=writing(made.writer),
        chunks=writing(made.chunks),
        members=writing(made.members),
    )


class _Writer:
    """A plugin's writer, of whichever kind."""

    def __init__(self, make: Callable[[Writing], Any], how: Writing, where: str) -> None:
        self._where = where
        with self._worded():
            self._made = make(how)

    @property
    def left_out(self) -> Counter[str]:
        with self._worded():
            return Counter(self._made.left_out)

    def line(self, record: ExportRecord) -> str | None:
        with self._worded():
            line: str | None = self._made.line(record)
            return line

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        with self._worded():
            yield from self._made.chunks(records)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        with self._worded():
            yield from self._made.members(records)

    def _worded(self) -> Any:  # noqa: ANN401 - a context manager
        return _worded(self._where, "cannot write", ExportError)
