"""Why a socket is closed: a number for the page, and a sentence for the person.

Numbers from 4000 on are free for programs. The sentence must fit into 123 bytes.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Closing:
    """code: of the socket. reason: a sentence of at most 123 bytes."""

    code: int
    reason: str


LEFT = Closing(1000, "You left the workbench. Your answers and drafts are saved.")
SERVER_ENDS = Closing(1001, "The server was ended. Your answers and drafts are saved.")
BAD_MESSAGE = Closing(1008, "The page sent something that cannot be read.")
TOO_MUCH = Closing(1008, "The page sent more than a person can type.")
TOO_LARGE = Closing(1009, "The page sent more at once than the workbench takes: paste less.")
FELL_OVER = Closing(
    4500, "The workbench ended by itself. What was saved is kept; its log says why."
)
NO_START = Closing(4501, "The workbench could not be opened; the server's log says why.")
TOO_MANY_OF_YOURS = Closing(
    4429, "You have as many workbenches open as one person may: close one."
)
TOO_MANY = Closing(4503, "Too many people are here. Wait until somebody leaves.")
