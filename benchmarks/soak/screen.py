"""What stands on a program's screen: enough of a terminal to read what Textual draws.

Only what moves the cursor, erases or writes is followed; colours and modes are left out.
Characters count as one column each, as those of the passages that the soaks draw do.
"""

import codecs
import re

SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\"
    r"|[ -/]*[0-OQ-WYZ\\`-~])",
    re.DOTALL,
)
POSITION, UP, DOWN, RIGHT, LEFT, COLUMN = "H", "A", "B", "C", "D", "G"
ERASE_SCREEN, ERASE_LINE = "J", "K"


class Screen:
    """Lines of characters, and a cursor. feed: what the program wrote."""

    def __init__(self, width: int = 120, height: int = 40) -> None:
        self.width, self.height = width, height
        self._lines = [[" "] * width for _ in range(height)]
        self._row = self._column = 0
        self._rest = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def text(self) -> str:
        """All lines as they stand."""
        return "\n".join("".join(line) for line in self._lines)

    def feed(self, written: bytes) -> None:
        """Follow what was written; a sequence cut in two is kept for the next time."""
        text = self._rest + self._decoder.decode(written)
        place = 0
        while place < len(text):
            if text[place] != "\x1b":
                self._put(text[place])
                place += 1
                continue
            found = SEQUENCE.match(text, place)
            if found is None:
                break
            self._obey(found.group())
            place = found.end()
        self._rest = text[place:]

    def _put(self, character: str) -> None:
        if character == "\r":
            self._column = 0
        elif character == "\n":
            self._row = min(self._row + 1, self.height - 1)
        elif character == "\b":
            self._column = max(self._column - 1, 0)
        elif character >= " ":
            if self._column >= self.width:
                self._row, self._column = min(self._row + 1, self.height - 1), 0
            self._lines[self._row][self._column] = character
            self._column += 1

    def _obey(self, sequence: str) -> None:
        if not sequence.startswith("\x1b[") or not re.fullmatch(r"\x1b\[[\d;]*[A-Z]", sequence):
            return
        numbers = [int(n or 0) for n in sequence[2:-1].split(";")]
        what, first = sequence[-1], numbers[0]
        if what == POSITION:
            column = numbers[1] if len(numbers) > 1 else 1
            self._row = min(max(first, 1), self.height) - 1
            self._column = max(column, 1) - 1
        elif what == COLUMN:
            self._column = max(first, 1) - 1
        elif what in (UP, DOWN):
            self._row += max(first, 1) * (1 if what == DOWN else -1)
            self._row = max(0, min(self._row, self.height - 1))
        elif what in (RIGHT, LEFT):
            self._column += max(first, 1) * (1 if what == RIGHT else -1)
            self._column = max(0, self._column)
        elif what in (ERASE_SCREEN, ERASE_LINE):
            self._erase(what, first)

    def _erase(self, what: str, how: int) -> None:
        row, column = self._row, min(self._column, self.width)
        line = self._lines[row]
        if how in (0, 2):
            line[column if how == 0 else 0 :] = [" "] * (
                self.width - (column if how == 0 else 0)
            )
        if what == ERASE_SCREEN:
            rows = range(row + 1, self.height) if how == 0 else range(self.height)
            for number in rows:
                self._lines[number] = [" "] * self.width
