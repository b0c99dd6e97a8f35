"""`nfh-tui predict --file`: the fused heads of a text or of labelled rows, no database."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from nfh_tui import places
from nfh_tui.cli.common import emit, open_to_read, say, tell
from nfh_tui.cli.identify_file import ESCAPED
from nfh_tui.cli.overwriting import check_out
from nfh_tui.cli.predict_text import prediction_text, report_json, summary, window_note
from nfh_tui.cli.retrain_text import wrapped
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_db.formats.reading import Origin
    from nfh_db.store import Store
    from nfh_tui.predicting import Predicted, Tools
    from nfh_tui.transfer import ImportOptions

Write = Callable[["Predicted"], object]


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for; see the options of `nfh-tui predict`."""

    place: str
    out: Path | None
    format_name: str | None
    model: str | None
    identifier: str | None
    anchors: Literal["given", "found"] | None
    patterns: bool | None
    parser: str | None
    scores: bool
    every: bool
    db: Path | None
    as_json: bool
    reading: "ImportOptions | None" = None


def predict_file(call: Call) -> None:
    """Predict the numbers of a file, or of standard input, and write what was predicted."""
    from nfh_tui.predicting import Counts, predict
    from nfh_tui.predicting_formats import other_format, passages_of
    from nfh_tui.predicting_passages import LABELLED, format_of, passages
    from nfh_tui.predicting_source import STANDARD_INPUT, opened

    began = time.perf_counter()
    if call.out is not None:
        check_out(call.out, [Path(call.place)], places.database(call.db))
    counts = Counts()
    with ExitStack() as stack:
        other = other_format(call.place, call.format_name, call.reading)
        if other is not None:
            stream: Origin = other.source
            format_name, taken = other.format.name, other.format.labelled
            found = passages_of(other, call.anchors or "given", call.reading)
        else:
            lines = stack.enter_context(opened(call.place))
            stream = lines
            format_name = call.format_name or format_of(lines)
            if call.place != STANDARD_INPUT:
                lines.encodable = format_name == "dialog"
            # The rows of nfh-ident are numbers of both kinds.
            taken = format_name in LABELLED and format_name != "nfh-ident"
            found = passages(lines, format_name, call.anchors or "given")
        tools = _tools(call, taken=taken and call.anchors != "found")
        # What is printed line by line shows itself how far it is.
        shown = call.out is None and _watched()
        steps = stack.enter_context(Steps("predict"))
        write = _writer(stack, call, tools)
        for one in predict(found, tools, counts):
            if one.nfh or call.every:
                write(one)
            if not shown:
                steps.step(f"{counts.numbers:,} numbers, {counts.nfh:,} without a noun", 0, 0)
    _say_all(stream, tools, counts.cut, counts.nfh)
    seconds = time.perf_counter() - began
    if call.as_json:
        emit(report_json(stream.name, format_name, call.out, tools, counts, seconds))
    elif call.out is not None:
        tell(summary(stream.name, counts, call.out))
    elif shown:
        say(summary(stream.name, counts, None))


def _tools(call: Call, *, taken: bool) -> "Tools":
    """taken: the file's own numbers are, as fused heads, unless somebody wants that decided."""
    from nfh_tui.predicting_tools import Asked, tools_for

    asked = Asked(
        model=call.model,
        identifier=call.identifier,
        identify=call.identifier is not None or not taken,
        patterns=call.patterns,
        parser=call.parser,
    )
    with _store(call) as store:
        tools, notes = tools_for(store, asked)
    for note in notes:
        say("\n".join(wrapped(f"nfh-tui: {note}")))
    return tools


@contextmanager
def _store(call: Call) -> "Iterator[Store | None]":
    """The database in which names of models are looked up, if the call names one."""
    if call.db is None or (call.model is None and call.identifier is None):
        yield None
        return

    with open_to_read(call.db) as store:
        yield store


def _writer(stack: ExitStack, call: Call, tools: "Tools") -> Write:
    """What is done with each prediction: a line of JSON, or one for a person."""
    from nfh_db.clock import now
    from nfh_tui.predicting_form import Lines

    lines = Lines(tools, now(), scores=call.scores)
    if call.out is not None:
        from nfh_db.formats.writing import replacing

        return _lines_to(stack.enter_context(replacing(call.out)), lines.line)
    if _watched():
        width = shutil.get_terminal_size().columns
        return lambda one: tell(prediction_text(one, width))
    from nfh_tui.transfer import standard_output

    file = standard_output()
    stack.callback(file.flush)
    return _lines_to(file, lines.line)


def _lines_to(file: BinaryIO, line: "Callable[[Predicted], str]") -> Write:
    def write(one: "Predicted") -> None:
        file.write(line(one).translate(ESCAPED).encode("utf-8"))

    return write


def _watched() -> bool:
    """True if a person watches standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def _say_all(stream: "Origin", tools: "Tools", cut: int, nfh: int) -> None:
    """What a person should know of the file and of what was not looked at."""
    for warning in stream.warnings:
        say(f"nfh-tui: {stream.name}: {warning}")
    note = window_note(tools.resolver.name, cut, nfh)
    if note:
        say("\n".join(wrapped(f"nfh-tui: {note}")))
