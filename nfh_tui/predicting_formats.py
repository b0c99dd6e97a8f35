"""Passages with numbers out of files of other tools, for `predict --file`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.errors import FormatError
from nfh_db.formats.registry import AMT
from nfh_db.formats.wording import visible
from nfh_models.domain import Anchor
from nfh_tui.formats.opening import Opened, opened
from nfh_tui.formats.reading import reading
from nfh_tui.incoming import PassageMaker
from nfh_tui.predicting_passages import FORMATS, REMEMBERED, TEXT, Anchors, Numbers, found_anew
from nfh_tui.predicting_source import STANDARD_INPUT, STANDARD_NAME

if TYPE_CHECKING:
    from nfh_tui.transfer import ImportOptions


def other_format(
    place: str, format_name: str | None, options: "ImportOptions | None" = None
) -> Opened | None:
    """A file of a format that is not read as a stream; None for those that are.

    What cannot be opened is left to the stream, which says why. options: settings that were
    said, with which no file is read as a stream. Raises FormatError where the format was
    named, or a setting that the format does not know.
    """
    path = Path(place)
    if options is not None:
        return _set(place, format_name, options)
    if format_name is not None:
        return None if format_name in FORMATS else opened(path, format_name)
    if not (path.is_file() or path.is_dir()):
        return None
    try:
        found = opened(path)
    except FormatError:
        if path.is_dir():
            raise
        return None
    return None if found.format.name in (*FORMATS, AMT.name) else found


def _set(place: str, format_name: str | None, options: "ImportOptions") -> Opened:
    """A file that is read with settings."""
    from nfh_tui.importing import look

    first = options.named()[0]
    if place == STANDARD_INPUT:
        raise FormatError(
            STANDARD_NAME, None, f"is read without --{first}; save it to a file first"
        )
    if format_name == TEXT:
        raise FormatError(
            visible(place, 200),
            None,
            f"is read as {TEXT}, which knows no --{first}; leave it out",
        )
    return look(Path(place), format_name, options)


def passages_of(
    found: Opened, anchors: Anchors, options: "ImportOptions | None" = None
) -> Iterator[Numbers]:
    """Its passages, each number once, though several rows may be of it. Raises FormatError.

    anchors: as `predicting_passages.passages` has them; raw dialogs have only found ones.
    """
    maker = PassageMaker(found.source, None, None, options.window if options else None)
    how = options.reading() if options else reading()
    rows = (
        Numbers(
            one.passage,
            tuple(row.anchor for row in one.anchors),
            next((row.split for row in one.anchors), None),
        )
        for one in maker.passages(found.format.read(found.source, how))
    )
    if found.format.labelled and anchors == "found":
        return found_anew(rows)
    return _once(rows)


def _once(rows: Iterator[Numbers]) -> Iterator[Numbers]:
    known: dict[tuple[str, Anchor], None] = {}
    for row in rows:
        new = [a for a in row.anchors if (row.passage.digest, a) not in known]
        known |= dict.fromkeys((row.passage.digest, anchor) for anchor in new)
        while len(known) > REMEMBERED:
            del known[next(iter(known))]
        if new:
            yield Numbers(row.passage, tuple(new), row.split)
