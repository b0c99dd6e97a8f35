"""Passages with numbers out of files of other tools, for `predict --file`."""

from collections.abc import Iterator
from pathlib import Path

from nfh_db.errors import FormatError
from nfh_db.formats.registry import AMT
from nfh_models.domain import Anchor
from nfh_tui.formats.opening import Opened, opened
from nfh_tui.formats.reading import reading
from nfh_tui.incoming import PassageMaker
from nfh_tui.predicting_passages import FORMATS, REMEMBERED, Anchors, Numbers, found_anew


def other_format(place: str, format_name: str | None) -> Opened | None:
    """A file of a format that is not read as a stream; None for those that are.

    What cannot be opened is left to the stream, which says why. Raises FormatError where the
    format was named.
    """
    path = Path(place)
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


def passages_of(found: Opened, anchors: Anchors) -> Iterator[Numbers]:
    """Its passages, each number once, though several rows may be of it. Raises FormatError.

    anchors: as `predicting_passages.passages` has them; raw dialogs have only found ones.
    """
    maker = PassageMaker(found.source, None, None)
    rows = (
        Numbers(
            one.passage,
            tuple(row.anchor for row in one.anchors),
            next((row.split for row in one.anchors), None),
        )
        for one in maker.passages(found.format.read(found.source, reading()))
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
