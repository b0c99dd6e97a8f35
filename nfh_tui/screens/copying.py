"""Taking things away: history to read, and parts of the item to the clipboard or a file."""

import asyncio
import errno
from contextlib import suppress
from itertools import count
from pathlib import Path

from nfh_db.formats.gold_form import GoldWriter
from nfh_db.records import ExportRecord, Item
from nfh_tui.desk.history import told
from nfh_tui.desk.reasons import NOTHING
from nfh_tui.editing import answer, describe
from nfh_tui.screens.changing import Changing
from nfh_tui.visible import clip
from nfh_tui.widgets.plain import one_line

SHOWN = 40
"""Cells of what was copied that are shown."""

PARTS = (
    ("s", "turn", "turn"),
    ("p", "passage", "passage"),
    ("n", "number", "number"),
    ("a", "answer", "answer"),
    ("j", "JSON", "JSON"),
    ("f", "file", "file"),
    ("i", "id", "id"),
)


class Copying(Changing):
    """What takes the item elsewhere."""

    async def do_history(self) -> None:
        """Show who changed what of this item."""
        item = self.whole
        if item is None:
            self.refuse(NOTHING)
            return
        lines = await self.client.seen_history(item.anchor_id, self.me, self.role)
        told_ = told(lines, item.passage, named=not self.blind)
        await self.show_text("History of this item", told_)

    async def do_copy(self) -> None:
        """Ask what, and copy it by the terminal's own means (OSC 52), or write it to a file."""
        item = self.item
        if item is None:
            self.refuse(NOTHING)
            return
        part = await self.choose("Copy", PARTS)
        if part is None:
            return
        if part == "file":
            names = [name for _, _, name in PARTS if name != "file"]
            everything = "\n\n".join(self._part(item, name) for name in names)
            await self.hand_over(f"item-{item.public_id[:12]}.txt", everything + "\n")
            return
        text = self._part(item, part)
        self.app.copy_to_clipboard(text)
        said = clip(one_line(" ".join(text.split())), SHOWN)
        self.announce(f"{part} copied, if this terminal can: “{said}”. Y f writes a file")

    async def hand_over(self, name: str, text: str) -> None:
        """Write a file beside the database, and say where, or why it is not there."""
        path = self.client.store.path.parent / name
        try:
            path = await asyncio.to_thread(_write, path, text)
        except OSError as error:
            await self.show_error(_not_written(path, error))
            return
        self.announce(f"written to {path}")

    def _part(self, item: Item, name: str) -> str:
        passage = item.passage
        if name == "turn":
            turn = passage.turns[passage.turn_of(item.anchor.start)]
            return passage.words(turn.start, turn.end)
        if name == "passage":
            return passage.text
        if name == "answer":
            made = answer(self.edit, item)
            return made if isinstance(made, str) else describe(made, passage)
        if name == "number":
            return anchor_words(item)
        return item.public_id if name == "id" else record_line(item)


def anchor_words(item: Item) -> str:
    """The number with its place: tokens as indices, characters as code points."""
    start, end = item.anchor.start, item.anchor.end
    first, last = item.passage.tokens[start], item.passage.tokens[end - 1]
    words = " ".join(item.passage.words(start, end).split())
    return (
        f"{words}  (tokens {start}:{end}, characters {first.start}:{last.end}, "
        f"turn {item.passage.turn_of(start) + 1} of {item.document})"
    )


def record_line(item: Item) -> str:
    """The item as a line of the format `gold`, with what this person may see of it."""
    record = ExportRecord(
        item.public_id,
        item.passage,
        item.anchor,
        item.split,
        item.gold,
        item.votes,
        item.flags,
    )
    return GoldWriter().line(record).rstrip("\n")


def _write(wanted: Path, text: str) -> Path:
    """Write all of it or nothing, to a new file; half a file would be taken for a whole one.

    What has the name already stays, and the new file has a number behind its name.
    """
    for number in count(1):
        path = wanted if number == 1 else wanted.with_stem(f"{wanted.stem}-{number}")
        with suppress(FileExistsError):
            file = path.open("x", encoding="utf-8")
            break
    try:
        with file:
            file.write(text)
    except OSError:
        with suppress(OSError):
            path.unlink()
        raise
    return path


def _not_written(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path} was not written. Make room, and press Y f again."
    return f"{path} was not written: {error.strerror or error}."
