"""What scans blocks: one machine's processes, or a cluster; the same from outside."""

from dataclasses import dataclass
from typing import Protocol

from nfh_models.errors import ModelsError
from nfh_tui.scanning.engine import Hello
from nfh_tui.scanning.tally import Tally

ATTEMPTS = 3
"""How often a block is given out whose workers die."""

UNKEPT = (
    "a worker was ended from outside {attempts} times on one block ({where}). That happens "
    "where memory runs out: use fewer processes, or a smaller parser"
)


class CrewError(ModelsError):
    """The workers cannot go on; the sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A block's bytes on their way. where: its place, for a person."""

    data: bytes
    where: str


class Awaited(Protocol):
    """Figures that will be there."""

    def result(self) -> Tally:
        """Wait for them. Raises ModelsError."""
        ...


class Crew(Protocol):
    """Workers with the same engine."""

    @property
    def at_once(self) -> int:
        """Blocks that may be on their way together, so that nobody waits and memory holds."""
        ...

    def hello(self) -> Hello:
        """What they work with. Raises ModelsError where they cannot start."""
        ...

    def submit(self, piece: Piece) -> Awaited:
        """Have a block scanned."""
        ...

    def close(self) -> None:
        """End them, at once if they are at work."""
        ...
