"""What the short fields of a batch's row mean: code, free text, seconds, time.

The codes are the values of the form's buttons (crowdsourcing/amt.html of the paper's
repository). Code 6 is "None" on the form and "Unknown" in the paper: nothing is missing, or
it cannot be told from the text.
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

from nfh_models.domain import Kind

KINDS = {
    1: Kind.REFERENCE,
    2: Kind.YEAR,
    3: Kind.AGE,
    4: Kind.CURRENCY,
    5: Kind.OTHER,
    6: Kind.UNKNOWN,
    7: Kind.PEOPLE,
    8: Kind.TIME,
}
"""The kind that each code stands for."""

REJECTED = "rejected"
"""The AssignmentStatus, case aside, of work that the requester did not accept."""

LONGEST_NOUN = 40
NOUN_WORDS = 3
"""Free text of more words than these is a remark, not a noun."""

NOUN_SIGNS = frozenset("'’-/&%$€£¥#°")
"""What may stand in a noun beside letters, digits and marks."""

LONGEST_SECONDS = 10**9

_CODE = re.compile(r"\s*([0-9]{1,9})(?:\.0+)?\s*")
_OFFSETS = re.compile(r"\s*([0-9]{1,9})(?:\.0+)?\s*;\s*([0-9]{1,9})(?:\.0+)?\s*")
_TURK_TIME = re.compile(
    r"\w{3} (?P<month>\w{3}) (?P<day>\d{1,2}) (?P<time>\d\d:\d\d:\d\d) (?P<zone>[A-Z]{3}) "
    r"(?P<year>\d{4})",
    re.ASCII,
)
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_ZONES = {
    "PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4,
    "UTC": 0, "GMT": 0,
}  # fmt: skip
"""Hours from UTC of the zones in which Mechanical Turk writes its times."""

FIRST_YEAR, LAST_YEAR = 1970, 9998


def whole_number(text: str) -> int | None:
    """The number that a field holds, "7" or "7.0" (as spreadsheets leave it), or None."""
    match = _CODE.fullmatch(text)
    return int(match[1]) if match else None


def kind_of(code: str) -> Kind | None:
    """The kind that an answer's code stands for; None for any other code and for none."""
    number = whole_number(code)
    return None if number is None else KINDS.get(number)


def offsets(text: str) -> tuple[int, int] | None:
    """Anchor and focus of a browser's selection, "12;20"; None if the field holds no pair."""
    match = _OFFSETS.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def seconds(text: str) -> float | None:
    """The seconds that an assignment took; None if the field holds no such number."""
    try:
        value = float(text)
    except ValueError:
        return None
    # A comparison with NaN is false, too.
    return value + 0.0 if math.isfinite(value) and 0 <= value <= LONGEST_SECONDS else None


def time(text: str) -> str | None:
    """The time of a field, in UTC as the store writes times; None if it holds none.

    Mechanical Turk writes "Tue Jan 30 12:01:01 PST 2018". ISO 8601 is read, too; without an
    offset it is taken for UTC.
    """
    text = text.strip()
    try:
        found = _turk_time(text) or _iso_time(text)
        if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
            return None
        utc = found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _turk_time(text: str) -> datetime | None:
    match = _TURK_TIME.fullmatch(text)
    if match is None or match["month"] not in _MONTHS or match["zone"] not in _ZONES:
        return None
    hour, minute, second = map(int, match["time"].split(":"))
    return datetime(
        int(match["year"]),
        _MONTHS.index(match["month"]) + 1,
        int(match["day"]),
        hour,
        minute,
        second,
        tzinfo=timezone(timedelta(hours=_ZONES[match["zone"]])),
    )


def _iso_time(text: str) -> datetime | None:
    if ":" not in text:
        return None
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Typed:
    """What a worker typed, as an answer keeps it."""

    noun: str | None
    comment: str


def typed(kind: Kind, other: str, comment: str) -> Typed:
    """Where the two free texts of a row go; nothing of them is lost.

    The text typed for Other is the answer's noun if it is a few words; else, and beside any
    other kind, it goes behind the comment.
    """
    other, comment = other.strip(), comment.strip()
    if kind is Kind.OTHER and is_noun(other):
        return Typed(" ".join(other.split()), comment)
    if not other:
        return Typed(None, comment)
    return Typed(None, f"{comment}; other: {other}" if comment else f"other: {other}")


def is_noun(text: str) -> bool:
    """True if free text may name a noun: a few words, and no punctuation between them."""
    words = text.split()
    if not 1 <= len(words) <= NOUN_WORDS or len(text) > LONGEST_NOUN:
        return False
    letters = "".join(words)
    return any(map(str.isalpha, letters)) and all(
        character.isalnum()
        or character in NOUN_SIGNS
        or unicodedata.category(character).startswith("M")
        for character in letters
    )
