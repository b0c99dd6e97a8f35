"""An answer in the MISC column of a CoNLL-U file, on the first token of its number.

    NFH=REFERENCE|NFHSpan=2:3-4|NFHHead=1:2,2:5-6@2:5+;1:7|NFHOp=AND

NFH: the kind, OTHER with its sort behind it, ANCHOR where nobody answered. NFHSpan: the tokens
of a number of several. NFHHead: the mentions of each head, "," between mentions and ";"
between heads; a place is the rank of its sentence in the document and its token's id, both
from 1; "@" names the head token where it is not the last one; "+" follows a mention that was
added, "!" one that was taken away. NFHOp: how several heads belong together. NFHNoun and
NFHComment: words. A second number that begins at the same token has NFH2, NFH2Span and so on.
The keys are our own: CoNLL-U leaves MISC to whoever has something to say
(https://universaldependencies.org/format.html#miscellaneous).
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence

from nfh_db.formats.grid import MarkError
from nfh_db.formats.marked import ANCHOR, ANSWERS, label_of
from nfh_db.formats.wording import shown
from nfh_models.domain import Answer, AnswerError, Head, Kind, Mention, Origin, Relation

Place = tuple[int, int]
"""A token: the rank of its sentence in the document and its id there, both from 1."""

Span = tuple[int, int]

KEY = re.compile(r"NFH(?P<rank>[2-9]\d*|)(?P<name>|Span|Head|Op|Noun|Comment)")
SPAN = re.compile(r"(\d{1,9}):(\d{1,9})(?:-(?:(\d{1,9}):)?(\d{1,9}))?", re.ASCII)
MENTION = re.compile(
    rf"(?P<span>{SPAN.pattern})(?:@(\d{{1,9}}):(\d{{1,9}}))?(?P<origin>[+!]?)", re.ASCII
)
SIGNS = {Origin.MARKED: "", Origin.ADDED: "+", Origin.REMOVED: "!"}
ORIGINS = {sign: origin for origin, sign in SIGNS.items()}

ESCAPES = {
    "\\": "\\\\",
    " ": "\\s",
    "\t": "\\t",
    "\n": "\\n",
    "\r": "\\r",
    "|": "\\p",
    "=": "\\e",
}
"""As in SpacesAfter, with one more for "=", at which readers of MISC cut."""

UNESCAPED = {escape[1]: sign for sign, escape in ESCAPES.items()}


# --- out ------------------------------------------------------------------------------------


def misc_of(
    answer: Answer | None, anchor: Span, places: Sequence[Place], rank: int = 1
) -> dict[str, str]:
    """The keys of a number, tokens [start, end) of a passage with its tokens' places.

    rank: among the numbers that begin at the same token.
    """
    found = {"": label_of(answer)}
    if anchor[1] - anchor[0] > 1:
        found["Span"] = _span(anchor, places)
    if answer is not None:
        if answer.heads:
            found["Head"] = ";".join(_head(head, places) for head in answer.heads)
        if answer.relation:
            found["Op"] = answer.relation.value
        if answer.noun:
            found["Noun"] = escaped(answer.noun)
        if answer.comment:
            found["Comment"] = escaped(answer.comment)
    prefix = "NFH" if rank == 1 else f"NFH{rank}"
    return {f"{prefix}{name}": value for name, value in found.items()}


def _head(head: Head, places: Sequence[Place]) -> str:
    return ",".join(_mention(mention, places) for mention in head.mentions)


def _mention(mention: Mention, places: Sequence[Place]) -> str:
    at = ""
    if mention.head != mention.end - 1:
        sentence, token = places[mention.head]
        at = f"@{sentence}:{token}"
    return f"{_span((mention.start, mention.end), places)}{at}{SIGNS[mention.origin]}"


def _span(span: Span, places: Sequence[Place]) -> str:
    (sentence, first), (until, last) = places[span[0]], places[span[1] - 1]
    if sentence != until:
        return f"{sentence}:{first}-{until}:{last}"
    return f"{sentence}:{first}" if first == last else f"{sentence}:{first}-{last}"


def escaped(words: str) -> str:
    """Words as a value of MISC, composed (NFC), on one line and without white space."""
    return "".join(map(_escape, unicodedata.normalize("NFC", words)))


def _escape(sign: str) -> str:
    if sign in ESCAPES:
        return ESCAPES[sign]
    return f"\\u{ord(sign):06x}" if sign.isspace() or not sign.isprintable() else sign


def unescaped(value: str) -> str:
    """The words that `escaped` made a value of."""
    return re.sub(r"\\u([0-9a-f]{6})|\\(.)", _unescape, value)


def _unescape(found: "re.Match[str]") -> str:
    code, sign = found.groups()
    if code is None:
        return UNESCAPED.get(sign, found[0])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else found[0]


# --- in -------------------------------------------------------------------------------------

Keys = Mapping[str, str]
"""The keys of one number by what stands behind NFH: "" for the kind itself."""


def numbers_of(misc: Iterable[tuple[str, str]]) -> list[Keys]:
    """The numbers that begin at a token, by the keys of its MISC.

    Raises MarkError for a key that stands twice, or without the kind that it belongs to.
    """
    found: dict[str, dict[str, str]] = {}
    for key, value in misc:
        match = KEY.fullmatch(key)
        if match is None:
            continue
        keys = found.setdefault(match["rank"], {})
        if match["name"] in keys:
            raise MarkError(f"the key {key} stands twice")
        keys[match["name"]] = value
    for rank, keys in found.items():
        if "" not in keys:
            raise MarkError(f"NFH{rank}{next(iter(keys))} stands without NFH{rank}")
    return list(found.values())


def without_numbers(misc: str) -> str:
    """A MISC column without our keys; "_" if nothing is left."""
    kept = [part for part in misc.split("|") if not KEY.fullmatch(part.partition("=")[0])]
    return "|".join(kept) or "_"


def span_of(keys: Keys, token: int, at: Callable[[Place], int]) -> Span:
    """The tokens of a number that begins at `token`. at: a place's token. Raises MarkError."""
    if "Span" not in keys:
        return token, token + 1
    match = SPAN.fullmatch(keys["Span"])
    span = match and _tokens(match.groups(), at)
    if not span or span[0] != token:
        raise MarkError(
            f"found NFHSpan={shown(keys['Span'])}, wanted places such as 2:3-4 that "
            "begin at this token"
        )
    return span


def answer_of(keys: Keys, at: Callable[[Place], int]) -> Answer | None:
    """The answer of a number; None where nobody answered. Raises MarkError."""
    label = keys[""]
    if label not in ANSWERS:
        raise MarkError(f"found NFH={shown(label)}, wanted one of {', '.join(ANSWERS)}")
    kind, sort = ANSWERS[label]
    comment = unescaped(keys.get("Comment", ""))
    noun = unescaped(keys["Noun"]) if keys.get("Noun") else None
    heads = _heads(keys["Head"], at) if keys.get("Head") else ()
    relation = _relation(keys.get("Op"))
    if heads and label == ANCHOR:
        kind = Kind.REFERENCE
    elif not heads and kind is Kind.REFERENCE:
        kind = Kind.NFH
    if kind is None:
        if relation or noun or comment:
            raise MarkError(f"NFH={ANCHOR} says that nobody answered, but there is an answer")
        return None
    if relation is None and len(heads) > 1:
        relation = Relation.UNSTATED
    try:
        return Answer(kind, heads, relation, sort, noun, comment)
    except AnswerError as error:
        raise MarkError(str(error)) from error


def _relation(value: str | None) -> Relation | None:
    if value is None:
        return None
    if value not in {*Relation}:
        raise MarkError(f"found NFHOp={shown(value)}, wanted one of {', '.join(Relation)}")
    return Relation(value)


def _heads(value: str, at: Callable[[Place], int]) -> tuple[Head, ...]:
    try:
        return tuple(
            Head(tuple(_read_mention(mention, at) for mention in head.split(",")))
            for head in value.split(";")
        )
    except AnswerError as error:
        raise MarkError(f"NFHHead: {error}") from error


def _read_mention(value: str, at: Callable[[Place], int]) -> Mention:
    match = MENTION.fullmatch(value)
    if match is None:
        raise MarkError(f"found {shown(value)} in NFHHead, wanted places such as 2:3 or 2:3-4")
    _, *place, sentence, token, origin = match.groups()
    start, end = _tokens(place, at)
    head = at((int(sentence), int(token))) if sentence else end - 1
    return Mention(start, end, head, ORIGINS[origin])


def _tokens(place: Sequence[str | None], at: Callable[[Place], int]) -> Span:
    sentence, first, until, last = (part and int(part) for part in place)
    start = at((sentence or 0, first or 0))
    end = at((until or sentence or 0, last or first or 0)) + 1
    if end <= start:
        raise MarkError(f"the places of tokens {start + 1} to {end} go backwards")
    return start, end
