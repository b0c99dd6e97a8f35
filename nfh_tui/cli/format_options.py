"""Options that say how files of a format are read: shared by the commands that read them."""

import codecs
from collections.abc import Callable, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from nfh_db.errors import FormatError
from nfh_db.formats.options import LabelMap

if TYPE_CHECKING:
    from nfh_tui.transfer import ImportOptions

F = TypeVar("F", bound=Callable[..., Any])

AUTO = "auto"
"""The name that stands for: by what is in the file."""

COLUMNS = ("speaker", "text", "turn", "dialog")


class FormatName(click.ParamType[str | None]):
    """The name of a format, of those that there are when the command is called."""

    name = "format"

    def __init__(self, *, export: bool = False, besides: tuple[str, ...] = ()) -> None:
        self.export = export
        self.besides = besides

    def names(self) -> tuple[str, ...]:
        """What may be said."""
        from nfh_tui.formats.registry import readable, writable

        return writable() if self.export else (AUTO, *self.besides, *readable())

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002
        """What help shows in the name's place."""
        return "FORMAT"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | None:
        """The name itself, None for `auto`. A name that is unknown is refused."""
        from nfh_db.formats.strangers import REMOVED

        names = self.names()
        if value in REMOVED and value not in names:
            self.fail(f"{value!r} was removed: {REMOVED[value]}", param, ctx)
        if value not in names:
            listed = ", ".join(map(repr, names))
            self.fail(f"{value!r} is not one of {listed}.", param, ctx)
        return None if value == AUTO else value


class Window(click.ParamType[tuple[int, int]]):
    """Turns before and after a number's own: "2,1"."""

    name = "window"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Both numbers."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if len(parts) != 2 or not all(part.strip().isdecimal() for part in parts):
            self.fail(f"{value!r} is not two whole numbers such as 2,1", param, ctx)
        return int(parts[0]), int(parts[1])


def _columns(_: click.Context, __: click.Parameter, value: str | None) -> dict[str, str]:
    if value is None:
        return {}
    pairs = [part.partition("=") for part in value.split(",")]
    known = ", ".join(COLUMNS)
    for ours, sign, theirs in pairs:
        if ours.strip() not in COLUMNS or not sign or not theirs.strip():
            raise click.BadParameter(
                f"{value!r}: wanted NAME=COLUMN with commas between, NAME one of {known}"
            )
    said = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
    if len(said) < len(pairs):
        raise click.BadParameter(f"{value!r} names two columns for one of {known}")
    return said


def _pause(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and not isfinite(value):
        raise click.BadParameter(f"{value} is no number of seconds")
    return value


def _encoding(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        codec = codecs.lookup(value)
        if not codec._is_text_encoding:  # noqa: SLF001
            raise LookupError
    except LookupError as error:
        raise click.BadParameter(
            f"{value!r} is no encoding that is known; wanted one such as cp1252"
        ) from error
    return None if codec.name == "utf-8" else codec.name


def _map(_: click.Context, __: click.Parameter, value: Path | None) -> LabelMap | None:
    if value is None:
        return None
    try:
        return LabelMap.of_file(value)
    except FormatError as error:
        raise click.BadParameter(str(error)) from error


def map_option(command: F) -> F:
    """`--map FILE`."""
    return click.option(
        "--map",
        "labels",
        type=click.Path(path_type=Path),
        callback=_map,
        metavar="FILE",
        help="What a project's own labels mean here, in TOML; docs/formats.md shows one.",
    )(command)


OPTIONS = (
    map_option,
    click.option(
        "--offsets",
        type=click.Choice(("codepoint", "utf16")),
        help="The unit of a file's offsets, where the file does not tell.",
    ),
    click.option(
        "--columns",
        callback=_columns,
        metavar="NAME=COLUMN,…",
        help=f"A table's columns: {', '.join(COLUMNS)}. Without it their names decide.",
    ),
    click.option(
        "--pause",
        type=click.FloatRange(min=0, min_open=True),
        callback=_pause,
        metavar="SECONDS",
        help="Subtitles: so long a silence ends a scene.",
    ),
    click.option(
        "--encoding",
        callback=_encoding,
        metavar="NAME",
        help="The encoding of a file's text, where it is not UTF-8: cp1252, say.",
    ),
    click.option(
        "--window",
        type=Window(),
        metavar="BEFORE,AFTER",
        help="Dialogs: of each number's scene only so many turns before and after its own; "
        "2,1 is the paper's. Without it whole scenes.",
    ),
)


def reading_options(command: F) -> F:
    """All of them, as `labels`, `offsets`, `columns`, `pause`, `encoding` and `window`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def of_file(said: Mapping[str, Any], file: object) -> "ImportOptions | None":
    """What `reading_options` said of a --file; None where they said nothing.

    Raises UsageError where they were said and there is no file.
    """
    given = {name: value for name, value in said.items() if value}
    if not given:
        return None
    if file is None:
        option = next(iter(given)).replace("labels", "map")
        raise click.UsageError(f"--{option} is of a --file")
    from nfh_tui.transfer import ImportOptions

    return ImportOptions(**given)
