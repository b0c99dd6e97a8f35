"""What an act is, in which modes there is one, and the groups in which acts are shown."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Mode(StrEnum):
    """Why the workbench is open: to read, to give one's own answer, or to make gold."""

    BROWSE = "browse"
    ANNOTATE = "annotate"
    ADJUDICATE = "adjudicate"


class Access(IntEnum):
    """What a person may change; each may do what those before it may, too.

    READER: nothing. ANNOTATOR: their own answers, flags and drafts, their place, their views
    and colours. ADJUDICATOR: also gold, the numbers themselves and the guidelines. ADMIN: also
    models, jobs and settings, and whatever takes a path; on a terminal everybody is one.
    """

    READER = 0
    ANNOTATOR = 1
    ADJUDICATOR = 2
    ADMIN = 3


READER, ANNOTATOR, ADJUDICATOR, ADMIN = Access

ALL = frozenset(Mode)
WRITING = frozenset({Mode.ANNOTATE, Mode.ADJUDICATE})
ADJUDICATING = frozenset({Mode.ADJUDICATE})
JUDGING = frozenset({Mode.BROWSE, Mode.ADJUDICATE})
"""Modes in which others' answers are shown."""


@dataclass(frozen=True, slots=True)
class Action:
    """One act.

    keys: Textual's names of the default keys; none where only the palette has the act.
    shown: how the keys are printed. title: the act by name. description: a sentence.
    access: the least that a person must be allowed to change for it. modes: where the act
    does something; elsewhere it says how to get there.
    foot: rank in the line of keys at the foot, lowest first, None for never.
    short: the title there. listed: acts next to each other with the same `listed` make
    one line of a key table, under that title. where: "" for the workbench, "side" for the
    screens beside it; a key may do one thing in each. of: of an act that only some of these
    screens have, the acts that open them.
    """

    id: str
    keys: tuple[str, ...]
    shown: str
    title: str
    description: str
    group: str
    access: Access
    modes: frozenset[Mode] = ALL
    foot: int | None = None
    short: str = ""
    listed: str | None = None
    where: str = ""
    of: tuple[str, ...] = ()


GROUPS = (
    "Going through the queue",
    "Deciding",
    "Heads",
    "Moving in the passage",
    "Adopting",
    "This item",
    "Looking",
    "The program",
    "The other screens",
)
QUEUE, DECIDE, HEADS, CURSOR, ADOPT, ITEM, LOOK, PROGRAM, SIDE = GROUPS
