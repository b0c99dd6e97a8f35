"""Subtitles as the tests use them, and readers of them."""

from collections.abc import Sequence
from pathlib import Path

from nfh_db.formats.registry import opened
from nfh_db.formats.rows import DialogBlock, ReadOptions

SUBRIP = """1
00:00:15,100 --> 00:00:17,050
- <i>How many tickets?</i>
- Three, I think.

2
00:00:17,500 --> 00:00:19,000
ANNA: Give me two. [door slams]

3
00:01:00,000 --> 00:01:02,000
How many?
3
"""

WEBVTT = """WEBVTT - at the box office

NOTE who says what is from the script

first
00:15.100 --> 00:17.050 align:start
<v Anna>How many <i>tickets</i> &amp; seats?
<v.loud Ben O'Hara>Three, <00:16.000>I think.</v>

01:00:00.000 --> 01:00:02.000
- Four?
- No, five.
"""

FOUNTAIN = """Title: Pots and pans

INT. KITCHEN - DAY

Three pots stand on the stove.

ANNA (V.O.)
How many *pots* do you
want? [[count again]]
(after a while)
Two?

@McBen (CONT'D)
No, **three**.

CUT TO:

.THE GARDEN

BEN ^
One for me.
"""

CHAT = """@UTF8
@Begin
@Participants:	MAR Marta Target_Child, MOT Mother
*MOT:	how many cookies do you want ? \x1515100_17050\x15
%com:	points at three of them
*MAR:	<I want> [/] I want &-um two@l +... \x1517050_18900\x15
@New Episode
*MAR:	five [: nine] [*] .
@End
"""

Turn = tuple[str | None, str, int | None, int | None]


class Heard:
    """What reading a file gives. turns: of each scene, with their times."""

    def __init__(self, path: Path, how: ReadOptions | None = None, name: str | None = None):
        found = opened(path, name, how.encoding if how else None)
        self.format = found.format.name
        self.reason = found.reason
        self.blocks: list[DialogBlock] = list(
            found.format.read(found.source, how or ReadOptions())
        )
        self.warnings = found.source.warnings
        self.turns: list[list[Turn]] = [turns_of(block) for block in self.blocks]
        self.lines = [[turn.line for turn in block.turns] for block in self.blocks]


def turns_of(block: DialogBlock) -> list[Turn]:
    """The turns of a scene; their words are where the scene's text has them."""
    for turn in block.turns:
        named = block.text[: turn.start].rpartition("\n")[2]
        assert named == ("" if turn.speaker is None else f"{turn.speaker}: ")
    return [
        (turn.speaker, block.text[turn.start : turn.end], turn.begin, turn.until)
        for turn in block.turns
    ]


def words(heard: Heard) -> Sequence[tuple[str | None, str]]:
    """Who says what, scenes and times aside."""
    return [turn[:2] for scene in heard.turns for turn in scene]


def cue(*lines: str, at: int = 0) -> str:
    """A SubRip cue of one second."""
    return f"{at + 1}\n00:{at:02}:00,000 --> 00:{at:02}:01,000\n" + "\n".join(lines) + "\n\n"
