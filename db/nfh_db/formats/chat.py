"""Format `chat`: transcripts in CHAT, the format of CHILDES and TalkBank; each main tier is a
turn.

Described in the CHAT manual, https://talkbank.org/0info/manuals/CHAT.pdf. pylangacq resolves
the codes of a main tier: repeated and corrected words are removed, shortenings are completed,
replacements take the place of what they replace. (Its engine is rustling, by the same author,
an alpha version.) Done here: marks of intonation and length are removed from words, `_`
separates words, `+...` and similar codes become plain stops, and digits with commas stay one
number.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from nfh_db.formats.base import First, Format
from nfh_db.formats.dialog import Occurrences, SceneTurns, SpeakerTurn
from nfh_db.formats.files import Source, optional_library
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import shown

if TYPE_CHECKING:
    from types import ModuleType

EXTRA = "nfh-tui[formats]"
MAIN = re.compile(r"\*([^\s:]{1,100}):[ \t]*(.*)", re.DOTALL)
BULLET = re.compile(
    r'\x15(?:%(?:snd|mov|pic):"[^"\x15]*"_)?(\d{1,12})_(\d{1,12})\x15', re.ASCII
)
SHOWN_BULLET = re.compile(r"[•·](\d{1,12}_\d{1,12})[•·]", re.ASCII)
"""A bullet as it is displayed."""

COMPOUND = re.compile(r"(?<=[^\W\d_])\+(?=[^\W\d_])")
PARTS = re.compile(r"@(?:New Episode|Bg|Eg|G|End)(?=[:\s]|$)")
"""Headers that separate scenes."""

STARTS = ("@UTF8", "@Begin", "@PID:", "@Font:", "@Window:")
INTONATION = str.maketrans("", "", "↑↓↗↘→∞≈≋∙∆∇⁎°▁▔☺♋⁇∬∮§↻⤇⤆⌈⌉⌊⌋ˈˌ")
LENGTH = str.maketrans("", "", ":^")
COMMAS = {"‡": ",", "„": ","}
STOP = re.compile(r"\+[./?!\"]+")
GROUPED = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])", re.ASCII)

TIER_LIMIT = 20_000
"""Characters of a main tier: the library needs quadratic time for some tiers."""

AT_A_TIME = 500
"""Main tiers that are passed to the library at once."""


@dataclass(frozen=True, slots=True)
class _Tier:
    """A main tier with its continuation lines. line: of the file, from 1."""

    line: int
    speaker: str
    text: str

    @property
    def times(self) -> tuple[int | None, int | None]:
        """The start of its first bullet and the end of its last one, in milliseconds."""
        bullets = BULLET.findall(self.text)
        return (int(bullets[0][0]), int(bullets[-1][1])) if bullets else (None, None)


_SCENE_ENDS = _Tier(0, "", "")


def read(source: Source, how: ReadOptions) -> Iterator[DialogBlock]:
    """The scenes of a transcript. Raises FormatError."""
    missing = f"needs pylangacq to be read; pip install '{EXTRA}'"
    library = optional_library("pylangacq", source.error(None, missing))
    scene = SceneTurns(source, "wanted @New Episode or @G between scenes, or --pause")
    last: int | None = None
    wordless = Occurrences()
    tiers = _tiers(source)
    while batch := list(islice(tiers, AT_A_TIME)):
        spoken = iter(_spoken(source, library, [one for one in batch if one.line]))
        for tier in batch:
            if tier is _SCENE_ENDS:
                yield from scene.end()
                last = None
                continue
            words = next(spoken)
            if not words:
                wordless.add(tier.line, tier.text)
                continue
            begin, until = tier.times
            pause = None if last is None or begin is None else begin - last
            if pause is not None and how.pause is not None and pause >= how.pause * 1000:
                yield from scene.end()
            scene.add(SpeakerTurn(tier.line, tier.speaker, words, begin, until))
            last = last if until is None else until
    yield from scene.end()
    if not scene.any:
        raise source.error(None, "holds no spoken words; wanted *MAR: and words")
    source.warnings += wordless.warning("main tier", "without a word that can be read left out")


def _tiers(source: Source) -> Iterator[_Tier]:
    """The main tiers, and _SCENE_ENDS at headers that separate scenes. Raises FormatError."""
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
            wanted = "a line that begins with @, * or %, or with a tab to continue one"
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
        raise source.error(line, f"found a ] that no [ opens, after {shown(before)}")
    return _Tier(line, found[1], SHOWN_BULLET.sub("\x15\\1\x15", found[2]))


def _spoken(source: Source, library: "ModuleType", tiers: Sequence[_Tier]) -> list[str]:
    """The words of each tier, "" for a tier without words. Raises FormatError."""
    try:
        return _read_by(library, tiers)
    except _UnreadError as error:
        if len(tiers) == 1:
            raise source.error(
                tiers[0].line,
                "the codes of this main tier are no CHAT that can be read; CLAN's CHECK tells "
                f"what is wrong ({error})",
            ) from error
    return [words for tier in tiers for words in _spoken(source, library, [tier])]


class _UnreadError(Exception):
    """The library cannot read a tier."""


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
        # The panic of the library's engine is an exception of no public class.
        if type(error).__name__ not in ("PanicException", "ValueError"):
            raise
        raise _UnreadError(str(error)) from error
    spoken = [one for one in found if one.participant is not None]
    if [one.participant for one in spoken] != [tier.speaker for tier in tiers]:
        raise _UnreadError("it finds other main tiers there")
    return [
        _words([token.word for token in one.tokens or ()], tier.text)
        for one, tier in zip(spoken, tiers, strict=True)
    ]


def _words(words: Sequence[str], tier: str) -> str:
    """The text of a tier, "" if it has no word."""
    plain = [text for word in words if (text := _plain(word))]
    if not any(map(str.isalnum, "".join(plain))):
        return ""
    text = " ".join(plain)
    for number in GROUPED.findall(tier):
        # The library treats every comma as one between words.
        text = text.replace(number.replace(",", " , "), number)
    return text


def _plain(word: str) -> str:
    """A word of the library in plain spelling."""
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
