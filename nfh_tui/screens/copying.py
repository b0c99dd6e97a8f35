"""Taking things away: history to read, and parts of the item to the clipboard or a file."""

import asyncio
from pathlib import Path

from nfh_db.records import Item
from nfh_tui.desk.history import told
from nfh_tui.editing import answer, describe
from nfh_tui.screens.changing import Changing
from nfh_tui.screens.deciding import NOTHING

PARTS = (
    ("s", "turn", "turn"),
    ("p", "passage", "passage"),
    ("a", "answer", "answer"),
    ("i", "id", "id"),
    ("f", "all to a file", "file"),
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
        item = self.whole
        if item is None:
            self.refuse(NOTHING)
            return
        part = await self.choose("Copy", PARTS)
        if part is None:
            return
        if part == "file":
            path = self.client.store.path.parent / f"item-{item.public_id[:12]}.txt"
            everything = "\n\n".join(self._part(item, name) for _, _, name in PARTS[:-1])
            await asyncio.to_thread(_write, path, everything + "\n")
            self.announce(f"written to {path}")
            return
        text = self._part(item, part)
        self.app.copy_to_clipboard(text)
        self.announce(
            f"{part} copied ({len(text)} characters) if this terminal can; Y f writes a file"
        )

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
        return item.public_id


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
