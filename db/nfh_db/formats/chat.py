"""`chat`: transcripts in CHAT, the form of CHILDES and TalkBank, each main tier a turn.

The form is described in the CHAT manual, https://talkbank.org/0info/manuals/CHAT.pdf. What the
codes of a main tier leave of it is decided by pylangacq: words that were said again or put
right are out, shortenings are written out, replacements stand for what they replace. Its
engine is rustling, by the same author, which calls itself alpha; pylangacq is the name that
stays. What is added here: signs of intonation and length come off the words, `_` parts words,
`+...` and its like become plain stops, and a comma between digits stays one number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import SceneTurns, SpeakerTurn
from nfh_db.formats.files import Source
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted, shown

if TYPE_CHECKING:
    from types import ModuleType

EXTRA = "nfh-tui[formats]"
MAIN = re.compile(r"\*([^\s:]{1,100}):[ \t]*(.*)", re.DOTALL)
BULLET = re.compile(
    r'\x15(?:%(?:snd|mov|pic):"[^"\x15]*"_)?(\d{1,12})_(\d{1,12})\x15', re.ASCII
)
SHOWN_BULLET = re.compile(r"[•·](\d{1,12}_\d{1,12})[•·]", re.ASCII)
"""A bullet as it was copied from a screen."""

COMPOUND = re.compile(r"(?<=[^\W\d_])\+(?=[^\W\d_])")
PARTS = re.compile(r"@(?:New Episode|Bg|Eg|G|End)(?=[:\s]|$)")
"""Headers that part scenes."""

STARTS = ("@UTF8", "@Begin", "@PID:", "@Font:", "@Window:")
INTONATION = str.maketrans("", "", "↑↓↗↘→∞≈≋∙∆∇⁎°▁▔☺♋⁇∬∮§↻⤇⤆⌈⌉⌊⌋ˈˌ")
LENGTH = str.maketrans("", "", ":^")
COMMAS = {"‡": ",", "„": ","}
STOP = re.compile(r"\+[./?!\"]+")
GROUPED = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)

TIER_LIMIT = 20_000
"""Characters of a main tier: the library's time grows with the square of some."""

AT_A_TIME = 500
"""Main tiers that the library is given at once."""


@dataclass(frozen=True, slots=True)
class _Tier:
    """A main tier with the lines that go on with it. line: of the file, from 1."""

    line: int
    speaker: str
    text: str

    @property
    def times(self) -> tuple[int | None, int | None]:
        """When its first bullet begins and its last one ends, in milliseconds."""
        bullets = BULLET.findall(self.text)
        return (int(bullets[0][0]), int(bullets[-1][1])) if bullets else (None, None)


_SCENE_ENDS = _Tier(0, "", "")


def read(source: Source, how: ReadOptions) -> Iterator[DialogBlock]:
    """The scenes of a transcript. Raises FormatError."""
    library = _library(source)
    scene = SceneTurns(source, "wanted @New Episode or @G between scenes, or --pause")
    last: int | None = None
    wordless = _Wordless()
    for batch in _batches(_tiers(source)):
        spoken = iter(_spoken(source, library, [one for one in batch if one.line]))
        for tier in batch:
            if tier is _SCENE_ENDS:
                yield from scene.end()
                last = None
                continue
            words = next(spoken)
            if not words:
                wordless.add(tier)
                continue
            begin, until = tier.times
            if _long(last, begin, how.pause):
                yield from scene.end()
            scene.add(SpeakerTurn(tier.line, tier.speaker, words, begin, until))
            last = last if until is None else until
    yield from scene.end()
    if not scene.any:
        raise source.error(None, "holds no words that are said; wanted *MAR: and words")
    source.warnings += wordless.warnings()


def _long(last: int | None, begin: int | None, pause: float | None) -> bool:
    """Whether a silence is so long that a scene ends with it."""
    if last is None or begin is None or pause is None:
        return False
    return begin - last >= pause * 1000


class _Wordless:
    """Main tiers without a word, counted."""

    def __init__(self) -> None:
        self._count = 0
        self._first = _SCENE_ENDS

    def add(self, tier: _Tier) -> None:
        self._first = self._first if self._count else tier
        self._count += 1

    def warnings(self) -> list[str]:
        if not self._count:
            return []
        return [
            f"{counted(self._count, 'main tier')} without a word that can be read left out, "
            f"the first in line {self._first.line}: {shown(self._first.text)}"
        ]


def _library(source: Source) -> "ModuleType":
    try:
        import pylangacq
    except ImportError as error:
        raise source.error(
            None, f"needs pylangacq to be read; pip install '{EXTRA}'"
        ) from error
    module: ModuleType = pylangacq
    return module


def _tiers(source: Source) -> Iterator[_Tier]:
    """The main tiers, and _SCENE_ENDS where a header parts scenes. Raises FormatError."""
    kind = ""
    number = 0
    parts: list[str] = []
    for at, text in source.lines():
        first = text[:1]
        if first == "\t" and kind:
            if kind == "*":
                parts.append(text.strip())
            continue
        if not text.strip():
            continue
        if first not in "@*%" or (first == "%" and not kind):
            wanted = "a line that begins with @, * or %, or with a tab to go on with one"
            raise source.error(at, f"found {shown(text)}, wanted {wanted}")
        if parts:
            yield _tier(source, number, parts)
        kind, number, parts = first, at, [text] if first == "*" else []
        if PARTS.match(text):
            yield _SCENE_ENDS
    if parts:
        yield _tier(source, number, parts)


def _tier(source: Source, line: int, parts: Sequence[str]) -> _Tier:
    text = " ".join(parts)
    if len(text) > TIER_LIMIT:
        wanted = f"wanted at most {TIER_LIMIT:,}"
        raise source.error(line, f"a main tier of {len(text):,} characters; {wanted}")
    found = MAIN.fullmatch(text)
    if found is None:
        raise source.error(line, f"found {shown(text)}, wanted a main tier such as *MAR: two .")
    unopened = re.match(r"(?:[^\[\]]|\[[^\[\]]*\])*\]", found[2])
    if unopened is not None:
        before = found[2][: unopened.end()][-40:]
        raise source.error(line, f"found a ] that no [ opens, behind {shown(before)}")
    return _Tier(line, found[1], SHOWN_BULLET.sub("\x15\\1\x15", found[2]))


def _batches(tiers: Iterator[_Tier]) -> Iterator[list[_Tier]]:
    batch: list[_Tier] = []
    for tier in tiers:
        batch.append(tier)
        if len(batch) == AT_A_TIME:
            yield batch
            batch = []
    yield batch


def _spoken(source: Source, library: "ModuleType", tiers: Sequence[_Tier]) -> list[str]:
    """The words of each tier, "" where it has none. Raises FormatError."""
    try:
        return _read_by(library, tiers)
    except _UnreadError as error:
        if len(tiers) == 1:
            raise source.error(
                tiers[0].line, f"pylangacq cannot read the codes of this main tier: {error}"
            ) from error
    return [words for tier in tiers for words in _spoken(source, library, [tier])]


class _UnreadError(Exception):
    """The library does not read what it was given."""


def _read_by(library: "ModuleType", tiers: Sequence[_Tier]) -> list[str]:
    body = "".join(f"*{tier.speaker}:\t{tier.text}\n" for tier in tiers)
    try:
        found = library.CHAT.from_strs(
            [f"@UTF8\n@Begin\n{body}@End\n"],
            parallel=False,
            strict=False,
            mor_tier=None,
            gra_tier=None,
        ).utterances()
    except BaseException as error:
        # What is raised where the library's engine gives up has no class to be named by.
        if type(error).__name__ not in ("PanicException", "ValueError"):
            raise
        raise _UnreadError(str(error)) from error
    said = [one for one in found if one.participant is not None]
    if [one.participant for one in said] != [tier.speaker for tier in tiers]:
        raise _UnreadError("it finds other main tiers there")
    return [
        _words([token.word for token in one.tokens or ()], tier.text)
        for one, tier in zip(said, tiers, strict=True)
    ]


def _words(words: Sequence[str], tier: str) -> str:
    """What is said in a tier, "" if it holds no word."""
    plain = [text for word in words if (text := _plain(word))]
    if not any(map(str.isalnum, "".join(plain))):
        return ""
    text = " ".join(plain)
    for number in GROUPED.findall(tier):
        # The library takes every comma for one between words.
        text = text.replace(number.replace(",", " , "), number)
    return text


def _plain(word: str) -> str:
    """A word of the library as people write it."""
    if STOP.fullmatch(word):
        return re.sub(r'[+/"]', "", word) or "."
    word = COMMAS.get(word, word).translate(INTONATION)
    if any(map(str.isalpha, word)):
        return COMPOUND.sub("-", word.translate(LENGTH).replace("_", " ").strip())
    return word if word.strip(":^_+") else ""


def _sniff(first: First) -> str | None:
    if first.text.startswith(STARTS) and "@Begin" in first.start:
        return "it begins with the headers of a CHAT transcript"
    return "its name ends in .cha" if first.suffix == ".cha" else None


CHAT = Format(
    name="chat",
    extensions=(".cha",),
    description="CHAT transcripts (CHILDES, TalkBank): each main tier a turn",
    example="",
    read=read,
    sniff=_sniff,
    labelled=False,
    settings=frozenset({"encoding", "pause", "window"}),
    extra="pylangacq",
)
