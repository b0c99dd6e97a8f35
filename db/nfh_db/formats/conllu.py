"""Format `conllu`: CoNLL-U, the format of Universal Dependencies
(https://universaldependencies.org/format.html).

    # newdoc id = 0000001
    # nfh_passage = {"format":"nfh-conllu/1","turns":[[0,"Ann",0,3],[1,"Ben",3,7]],"named":true}
    # sent_id = 0000001-1
    # speaker = Ann
    # text = Two tickets?
    1<TAB>Two<TAB>two<TAB>_ …

A document is a passage, a sentence is a turn. The gold answer of a number is in the MISC column
of its first token; everything else known of it is in a comment `# nfh_item_1`.

    NFH=REFERENCE|NFHSpan=2:3-4|NFHHead=1:2,2:5-6@2:5+;1:7|NFHOp=AND

NFH: the kind, followed by the sort for OTHER; ANCHOR without an answer. NFHSpan: the tokens of
a number of several tokens. NFHHead: the mentions of each head, "," between mentions and ";"
between heads. A place is the rank of a sentence in the document and the id of a token, both
from 1; "@" gives the head token unless it is the last one; "+" follows a mention that was
added, "!" one that was removed. NFHOp: the relation of several heads. NFHNoun, NFHComment:
text. A second number that begins at the same token has the keys NFH2, NFH2Span and so on. The
keys are our own: CoNLL-U leaves MISC to applications
(https://universaldependencies.org/format.html#miscellaneous).
"""

import json
import operator
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice, pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from nfh_db.errors import raised_as
from nfh_db.formats.base import First, Format, How, each, holds
from nfh_db.formats.fields import sound_digest
from nfh_db.formats.files import (
    LINE_LIMIT,
    NO_LINE_YET,
    Source,
    optional_library,
    split_of_name,
)
from nfh_db.formats.json_stream import content_in
from nfh_db.formats.rows import IGNORE, GoldRow, RawPassage, ReadOptions, Writing, by_passage
from nfh_db.formats.spans import (
    ANCHOR,
    ANSWERS,
    Graph,
    MarkError,
    Spot,
    label_of,
    read_graph,
    refusing_strays,
)
from nfh_db.formats.stored_annotation import Restored, item_of, restored, stored
from nfh_db.messages import reason_of, shown, tallied
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_db.serialization import TurnRow, turns_of
from nfh_models.domain import (
    Anchor,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Passage,
    PassageError,
    Relation,
    Turn,
)

if TYPE_CHECKING:
    from types import ModuleType

# Forms, texts and our comments.
#
# Files are in NFC, with line feeds only (https://universaldependencies.org/format.html). A
# passage keeps its text, so that the forms of its tokens may differ from it; if they do, or if
# its white space is other than single spaces, the comment holds the text and the offsets of the
# tokens.

VERSION = "nfh-conllu/1"
PASSAGE = "nfh_passage"
ITEM = "nfh_item_"
BLANK = "\u2423"
"""Replaces white space and invisible characters in a form: an open box."""
CARRIER = "\u25cc"
"""Precedes a form that would combine with the one before it: a dotted circle."""


def form_of(surface: str) -> str:
    """The form of a token: composed (NFC), on one line, with single spaces only inside
    words.
    """
    composed = unicodedata.normalize("NFC", surface)
    if composed.isprintable() and " " not in composed:
        return composed
    signs = [
        sign if sign.isprintable() and (sign != " " or _inside(composed, place)) else BLANK
        for place, sign in enumerate(composed)
    ]
    return "".join(signs)


def is_form_of(form: str, surface: str) -> bool:
    """True if a token may have this form, whatever token precedes it."""
    return form in (surface, form_of(surface), CARRIER + form_of(surface))


def kept_apart(forms: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """The forms, some with CARRIER before them, so that they stay in NFC when they are joined.

    Each form comes with whether white space follows.
    """
    found: list[tuple[str, bool]] = []
    before = ""
    for form, space in forms:
        joined = not form.isascii() and not unicodedata.is_normalized("NFC", before + form)
        found.append((CARRIER + form if joined else form, space))
        before = "" if space else found[-1][0][-1:]
    return found


def _inside(text: str, place: int) -> bool:
    """True for a single space between two other characters, which a word may have."""
    around = text[max(place - 1, 0) : place + 2]
    return len(around) == 3 and around[0] != " " and around[2] != " "


def on_one_line(words: str) -> str:
    """Words as the value of a comment."""
    return " ".join(unicodedata.normalize("NFC", words).split())


@dataclass(frozen=True, slots=True)
class ConlluSentence:
    """A sentence."""

    speaker: str | None
    forms: Sequence[tuple[str, bool]]
    """The form of each token, with whether white space follows."""

    @property
    def text(self) -> str:
        """The value of `# text`: the forms, with single spaces for white space."""
        return "".join(f + (" " if space else "") for f, space in self.forms).rstrip(" ")


def rebuilt(
    sentences: Sequence[ConlluSentence], *, named: bool
) -> tuple[str, list[tuple[int, int]]]:
    """A text of sentences, one on each line, and its tokens' offsets.

    named: each line begins with its speaker and a colon.
    """
    lines, offsets, place = [], [], 0
    for one in sentences:
        name = f"{one.speaker}: " if named and one.speaker else ""
        at = place + len(name)
        for form, space in one.forms:
            offsets.append((at, at + len(form)))
            at += len(form) + space
        lines.append(name + one.text)
        place += len(lines[-1]) + 1
    return "\n".join(lines), offsets


def to_json(value: Any) -> str:  # noqa: ANN401 - plain data
    """JSON on one line and in NFC, from which the value is decoded unchanged."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if text.isprintable() and unicodedata.is_normalized("NFC", text):
        return text
    return json.dumps(value, separators=(",", ":"))


Place = tuple[int, int]
"""A token: the rank of its sentence in the document and its id there, both from 1."""

Span = tuple[int, int]

MARK_KEY = re.compile(r"NFH(?P<rank>[2-9]\d*|)(?P<name>|Span|Head|Op|Noun|Comment)")
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
"""As in SpacesAfter, and one for "=", at which readers split MISC."""

UNESCAPED = {escape[1]: sign for sign, escape in ESCAPES.items()}


# --- answers to MISC -------------------------------------------------------------------------


def misc_of(
    answer: Answer | None, anchor: Span, places: Sequence[Place], rank: int = 1
) -> dict[str, str]:
    """The keys of a number. anchor: tokens [start, end). places: of all tokens of the passage.
    rank: among the numbers that begin at the same token, from 1.
    """
    found = {"": label_of(answer)}
    if anchor[1] - anchor[0] > 1:
        found["Span"] = _span(anchor, places)
    if answer is not None:
        if answer.heads:
            heads = (",".join(_mention(m, places) for m in h.mentions) for h in answer.heads)
            found["Head"] = ";".join(heads)
        if answer.relation:
            found["Op"] = answer.relation.value
        if answer.noun:
            found["Noun"] = escaped(answer.noun)
        if answer.comment:
            found["Comment"] = escaped(answer.comment)
    prefix = "NFH" if rank == 1 else f"NFH{rank}"
    return {f"{prefix}{name}": value for name, value in found.items()}


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
    """A text as a value of MISC: composed (NFC), on one line and without white space."""
    return "".join(
        ESCAPES.get(sign)
        or (f"\\u{ord(sign):06x}" if sign.isspace() or not sign.isprintable() else sign)
        for sign in unicodedata.normalize("NFC", words)
    )


def unescaped(value: str) -> str:
    """The inverse of `escaped`."""
    return re.sub(r"\\u([0-9a-f]{6})|\\(.)", _unescape, value)


def _unescape(found: "re.Match[str]") -> str:
    code, sign = found.groups()
    if code is None:
        return UNESCAPED.get(sign, found[0])
    return chr(int(code, 16)) if int(code, 16) < 0x110000 else found[0]


# --- MISC to answers -------------------------------------------------------------------------

Keys = Mapping[str, str]
"""The keys of one number, without the prefix NFH: "" is the kind."""


def numbers_of(misc: Iterable[tuple[str, str]]) -> list[Keys]:
    """The numbers that begin at a token, from the keys of its MISC.

    Raises MarkError for a repeated key, and for keys without a kind.
    """
    found: dict[str, dict[str, str]] = {}
    for key, value in misc:
        match = MARK_KEY.fullmatch(key)
        if match is None:
            continue
        keys = found.setdefault(match["rank"], {})
        if match["name"] in keys:
            raise MarkError(f"the key {key} occurs twice")
        keys[match["name"]] = value
    for rank, keys in found.items():
        if "" not in keys:
            raise MarkError(f"NFH{rank}{next(iter(keys))} stands without NFH{rank}")
    return list(found.values())


def without_numbers(misc: str) -> str:
    """A MISC column without our keys; "_" if it has no others."""
    kept = [part for part in misc.split("|") if not MARK_KEY.fullmatch(part.partition("=")[0])]
    return "|".join(kept) or "_"


def span_of(keys: Keys, token: int, at: Callable[[Place], int]) -> Span:
    """The tokens of a number that begins at `token`. at: the token of a place. Raises
    MarkError.
    """
    if "Span" not in keys:
        return token, token + 1
    match = SPAN.fullmatch(keys["Span"])
    span = match and _tokens_at(match.groups(), at)
    if not span or span[0] != token:
        raise MarkError(
            f"found NFHSpan={shown(keys['Span'])}, wanted places such as 2:3-4 that "
            "begin at this token"
        )
    return span


def answer_of(keys: Keys, at: Callable[[Place], int]) -> Answer | None:
    """The answer of a number; None if it has none. Raises MarkError."""
    label = keys[""]
    if label not in ANSWERS:
        raise MarkError(f"found NFH={shown(label)}, wanted one of {', '.join(ANSWERS)}")
    kind, sort = ANSWERS[label]
    comment = unescaped(keys.get("Comment", ""))
    noun = unescaped(keys["Noun"]) if keys.get("Noun") else None
    heads = _heads(keys["Head"], at) if keys.get("Head") else ()
    relation = None
    if "Op" in keys:
        if keys["Op"] not in {*Relation}:
            wanted = f"wanted one of {', '.join(Relation)}"
            raise MarkError(f"found NFHOp={shown(keys['Op'])}, {wanted}")
        relation = Relation(keys["Op"])
    if heads and label == ANCHOR:
        kind = Kind.REFERENCE
    elif not heads and kind is Kind.REFERENCE:
        kind = Kind.NFH
    if kind is None:
        if relation or noun or comment:
            raise MarkError(f"NFH={ANCHOR} says that nobody answered, but has an answer")
        return None
    if relation is None and len(heads) > 1:
        relation = Relation.UNSTATED
    with raised_as(MarkError, AnswerError):
        return Answer(kind, heads, relation, sort, noun, comment)


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
    start, end = _tokens_at(place, at)
    head = at((int(sentence), int(token))) if sentence else end - 1
    return Mention(start, end, head, ORIGINS[origin])


def _tokens_at(place: Sequence[str | None], at: Callable[[Place], int]) -> Span:
    sentence, first, until, last = (part and int(part) for part in place)
    start = at((sentence or 0, first or 0))
    end = at((until or sentence or 0, last or first or 0)) + 1
    if end <= start:
        raise MarkError(f"the places of tokens {start + 1} to {end} go backwards")
    return start, end


# Sentences.
#
# The conllu package parses the lines. A multiword token (`2-3`) is one token of the text, or
# one for each of its words if their forms make up its form; an empty node (`5.1`) is no token.

COLUMNS = 10
PLAIN = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(frozen=True, slots=True)
class ConlluToken:
    """A token of a text."""

    line: int
    """Of the file, from 1."""
    form: str
    ids: tuple[int, ...]
    """Of its words in the sentence."""
    misc: tuple[str, ...]
    """Its MISC column and those of its words."""
    space: bool
    """White space follows."""


@dataclass(slots=True)
class ParsedSentence:
    """A sentence of a file."""

    line: int
    """Of the file, where it begins, from 1."""
    comments: dict[str, str | None]
    """By name."""
    notes: list[str]
    """The lines of comments."""
    lines: list[str]
    """The lines of words."""
    numbers: list[int]
    """Of `lines`, in the file."""
    words: list[ConlluToken] = field(default_factory=list)
    empty: int = 0
    """The number of empty nodes."""

    @property
    def starts_document(self) -> bool:
        return "newdoc" in self.comments or "newdoc id" in self.comments

    @property
    def speaker(self) -> str | None:
        return self.comments.get("speaker") or self.comments.get("speaker_id")

    @property
    def forms(self) -> list[tuple[str, bool]]:
        """As in ConlluSentence."""
        return [(word.form, word.space) for word in self.words]


def sentences(source: Source) -> Iterator[ParsedSentence]:
    """The sentences of a file. Raises FormatError for invalid lines, and if the package conllu
    is not installed.
    """
    missing = "CoNLL-U is read by the package conllu: pip install 'nfh-tui[formats]'"
    conllu = optional_library("conllu", source.error(None, missing))
    for start, lines in _blocks(source):
        yield _sentence(conllu, source, start, lines)


def _blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    for is_blank, group in groupby(source.lines(), lambda row: not row[1].strip()):
        if not is_blank:
            numbers, lines = zip(*group, strict=True)
            yield numbers[0], list(lines)


def _sentence(
    conllu: "ModuleType", source: Source, start: int, lines: Sequence[str]
) -> ParsedSentence:
    numbers = []
    for number, line in enumerate(lines, start):
        if line.startswith("#"):
            continue
        columns = line.count("\t") + 1
        if columns != COLUMNS:
            raise source.error(
                number,
                f"found {columns} column{'s' * (columns != 1)} in {shown(line)}, wanted "
                f"{COLUMNS} with tabs between",
            )
        if not all(map(str.strip, line.split("\t"))) or "  " in line:
            raise source.error(
                number,
                f"found a column that is empty or holds two spaces in {shown(line)}, wanted "
                '"_" where there is nothing',
            )
        numbers.append(number)
    if not numbers:
        raise source.error(start, "found comments without a token below them")
    as_it_is = dict.fromkeys(PLAIN, operator.getitem)
    try:
        parsed = conllu.parse("\n".join(lines), field_parsers=as_it_is)[0]
    except (conllu.exceptions.ParseException, ValueError, IndexError) as error:
        why = f"wanted a token in ten columns, with tabs between ({reason_of(error)})"
        raise source.error(start, f"this sentence is not CoNLL-U; {why}") from error
    found = ParsedSentence(
        start,
        dict(parsed.metadata),
        [line for line in lines if line.startswith("#")],
        [line for line in lines if not line.startswith("#")],
        numbers,
    )
    _read_words(source, found, list(zip(numbers, parsed, strict=True)))
    return found


Line = tuple[int, Any]


def _read_words(source: Source, found: ParsedSentence, lines: Sequence[Line]) -> None:
    """The tokens of a sentence's lines. Raises FormatError for ids out of order."""
    words = [line for line in lines if not _is_empty(line)]
    found.empty = len(lines) - len(words)
    expected = 1
    left = iter(words)
    for number, token in left:
        id_ = token["id"]
        first, last = (id_[0], id_[2]) if isinstance(id_, tuple) else (id_, id_)
        if first != expected:
            raise source.error(number, f"found the id {first}, expected {expected}")
        if isinstance(id_, tuple):
            inside = list(islice(left, last - first + 1))
            if [one["id"] for _, one in inside] != list(range(first, last + 1)):
                raise source.error(
                    number, f"the words {first} to {last} of this token are missing"
                )
            found.words += _of_range(number, token, inside)
        else:
            found.words.append(_word(number, token, _space(token["misc"])))
        expected = last + 1


def _is_empty(line: Line) -> bool:
    id_ = line[1]["id"]
    return isinstance(id_, tuple) and id_[1] == "."


def _word(line: int, token: Any, space: bool) -> ConlluToken:  # noqa: ANN401
    return ConlluToken(line, token["form"], (token["id"],), (token["misc"],), space)


def _of_range(number: int, token: Any, inside: Sequence[Line]) -> list[ConlluToken]:  # noqa: ANN401
    """The tokens of a multiword token: its words, if their forms make up its form; else
    itself.
    """
    forms = [one["form"] for _, one in inside]
    if "".join(forms) != token["form"]:
        ids = tuple(one["id"] for _, one in inside)
        misc = (token["misc"], *(one["misc"] for _, one in inside))
        return [ConlluToken(number, token["form"], ids, misc, _space(token["misc"]))]
    words = [_word(n, one, False) for n, one in inside]
    if len(words) > 1:
        words[0] = replace(words[0], misc=(token["misc"], *words[0].misc))
    words[-1] = replace(words[-1], space=_space(token["misc"]))
    return words


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def offsets_in(text: str, sentence: ParsedSentence) -> list[tuple[int, int]]:
    """The offsets of a sentence's tokens in its text. Raises MarkError if they do not match."""
    found, place = [], 0
    for word in sentence.words:
        at = place
        while not text.startswith(word.form, at):
            if at >= len(text) or not text[at].isspace():
                raise MarkError(
                    f"expected {shown(word.form)} of line {word.line} at character {place} of "
                    f"the sentence's text, found {shown(text[place : place + 40])}"
                )
            at += 1
        place = at + len(word.form)
        found.append((at, place))
    if text[place:].strip():
        raise MarkError(
            f"the sentence's text continues after its last token: {shown(text[place:])}"
        )
    return found


# What is carried: lemmas, tags, trees, other keys and comments.
#
# The lines of a document, without our keys, are stored under "conllu" in the labels of its
# first number, and written back with the answers.

CARRIED_KEY = "conllu"
WRITTEN = ("newdoc", "newdoc id", "sent_id", "speaker", "text")
"""Comments that an export writes."""


class Carried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lines of each sentence."""

    comments: tuple[tuple[str, ...], ...]
    lines: tuple[tuple[str, ...], ...]
    tokens: tuple[tuple[int, ...], ...]
    """Indices of the lines that are tokens of the text, in order."""


def carried_of(given: Sequence[ParsedSentence], *, own: bool) -> str | None:
    """The labels in which a document's lines are carried; None if an export would write the
    same lines. own: the document was exported.
    """
    if own and not any(map(_has_more, given)):
        return None
    content = Carried(
        tuple(tuple(filter(_is_foreign, one.notes)) for one in given),
        tuple(tuple(map(_plain, one.lines)) for one in given),
        tuple(tuple(one.numbers.index(word.line) for word in one.words) for one in given),
    )
    return json.dumps({CARRIED_KEY: msgspec.to_builtins(content)}, ensure_ascii=False)


def _has_more(sentence: ParsedSentence) -> bool:
    """True if a sentence has something that an export would not write."""
    if sentence.empty or len(sentence.lines) != len(sentence.words):
        return True
    if any(_is_foreign(note) and _name(note) not in WRITTEN for note in sentence.notes):
        return True
    columns = (line.split("\t") for line in sentence.lines)
    plain = ("_", "SpaceAfter=No")
    return any(set(c[3:9]) != {"_"} or without_numbers(c[9]) not in plain for c in columns)


def _name(comment: str) -> str:
    return comment.lstrip("#").partition("=")[0].strip()


def _is_foreign(comment: str) -> bool:
    name = _name(comment)
    return name != PASSAGE and not name.startswith(ITEM)


def _plain(line: str) -> str:
    head, _, misc = line.rpartition("\t")
    return f"{head}\t{without_numbers(misc)}"


def carried_in(records: Iterable[ExportRecord], passage: Passage) -> Carried | None:
    """The lines that a record of the passage carries, if they fit the passage."""
    found = (content_in(record.carried, CARRIED_KEY, Carried) for record in records)
    return next((one for one in found if one is not None and _fits(one, passage)), None)


def _fits(carried: Carried, passage: Passage) -> bool:
    """True if the lines have the passage's tokens, a sentence for each turn."""
    if [len(tokens) for tokens in carried.tokens] != [t.end - t.start for t in passage.turns]:
        return False
    surfaces = (passage.text[token.start : token.end] for token in passage.tokens)
    return all(
        is_form_of(lines[token].split("\t")[1], next(surfaces))
        for lines, tokens in zip(carried.lines, carried.tokens, strict=True)
        for token in tokens
    )


# --- documents to rows -----------------------------------------------------------------------


class PassageComment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The comment on an exported passage."""

    format: str
    turns: tuple[TurnRow, ...]
    named: bool | None = None
    text: str | None = None
    offsets: tuple[Span, ...] | None = None


def read(source: Source, how: ReadOptions) -> Iterator[GoldRow]:
    """The numbers of a file's documents; for a document without any, the numbers that are found
    by rule.

    A document begins at `# newdoc`; without one the file is one document. Raises FormatError.
    """
    reader = _Reader(source, how)
    document: list[ParsedSentence] = []
    size = 0
    for sentence in sentences(source):
        if sentence.starts_document and document:
            yield from reader.rows(document)
            document, size = [], 0
        document.append(sentence)
        size += sum(len(word.form) + 1 for word in sentence.words)
        if size > LINE_LIMIT:
            raise source.error(
                document[0].line,
                f"a document of more than {LINE_LIMIT:,} characters starts here; wanted "
                "`# newdoc` where the next one begins",
            )
    if not document:
        raise source.error(None, NO_LINE_YET)
    yield from reader.rows(document)
    source.warnings += tallied((reader.counts[key], *words) for key, words in WARNINGS.items())


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number in a token's MISC. line: of the token."""

    line: int
    token: int
    keys: Keys


@dataclass(frozen=True, slots=True)
class _Document:
    """A document that was parsed."""

    passage: RawPassage
    places: Mapping[Place, int]
    """The token of each word."""
    by_token: Sequence[Place]
    """The first place of each token."""
    marks: Sequence[_Mark]
    kept: Mapping[Span, Restored]
    """Stored items by their anchors."""

    def at(self, place: Place) -> int:
        """The token at a place. Raises MarkError."""
        try:
            return self.places[place]
        except KeyError:
            sentence, token = place
            raise MarkError(f"the place {sentence}:{token} is not in the document") from None


WARNINGS = {
    "changed": ("answer", "changed since the export"),
    "gone": ("number", "left out: no longer marked in MISC"),
    "empty": ("empty node", "left out: they are not words of the text"),
    "found": ("number", "found in documents in which none is marked"),
    "without": ("document", "without a number left out"),
}
"""What is counted, and the warning of each count."""


class _Reader:
    def __init__(self, source: Source, how: ReadOptions) -> None:
        self._source = source
        self._how = how
        self._split = split_of_name(source.path.stem)
        self.counts: Counter[str] = Counter()

    def rows(self, given: Sequence[ParsedSentence]) -> Iterator[GoldRow]:
        """The rows of a document's numbers."""
        self.counts["empty"] += sum(one.empty for one in given)
        try:
            document = _document(given, self._source)
        except MarkError as error:
            raise self._source.error(given[0].line, f"in this document: {error}") from error
        if not document.marks and not document.kept:
            yield from self._unmarked(given, document.passage)
            return
        labels = carried_of(given, own=PASSAGE in given[0].comments)
        left = dict(document.kept)
        seen: set[Anchor] = set()
        for mark in document.marks:
            with self._source.refusing(MarkError, AnswerError, line=mark.line):
                row = self._row(document, mark, left)
            if row is None:
                continue
            if row.anchor in seen:
                raise self._source.error(
                    mark.line, f"a number is marked twice here: {shown(mark.keys[''])}"
                )
            seen.add(row.anchor)
            yield replace(row, labels=labels)
            labels = None
        self.counts["gone"] += len(left)

    def _row(
        self, document: _Document, mark: _Mark, left: dict[Span, Restored]
    ) -> GoldRow | None:
        """None for a number that the map leaves out."""
        span = span_of(mark.keys, mark.token, document.at)
        kept = left.pop(span, None)
        if kept is None:
            passage = document.passage
            own = Graph((Spot(*passage.span(*span), mark.keys[""]),))
            where, exported = f"line {mark.line}", bool(document.kept)
            read = read_graph(own, self._how, passage.text, where, exported=exported)
            label = read.spots[0].label
            if label == IGNORE:
                return None
            mark = replace(mark, keys={**mark.keys, "": label})
        gold = self._gold(document, mark, span, kept)
        if kept is not None:
            row = kept.row(mark.line, gold, kept.votes, kept.flags)
            return replace(row, passage=document.passage)
        split = None if document.kept else self._split
        return GoldRow(mark.line, document.passage, Anchor(*span), split, gold, (), ())

    def _gold(
        self, document: _Document, mark: _Mark, span: Span, kept: Restored | None
    ) -> Gold | None:
        """The stored gold if MISC still shows it; else the answer in MISC."""
        if kept is not None:
            before = kept.gold.answer if kept.gold else None
            own = misc_of(before, span, document.by_token)
            if {f"NFH{name}": value for name, value in mark.keys.items()} == own:
                return kept.gold
            self.counts["changed"] += 1
        answer = answer_of(mark.keys, document.at)
        if answer is None:
            return None
        answer.check(len(document.passage.words), *span)
        return Gold(answer, Rule.IMPORTED)

    def _unmarked(
        self, given: Sequence[ParsedSentence], passage: RawPassage
    ) -> Iterator[GoldRow]:
        """The numbers that are found by rule in a document without a marked one."""
        from nfh_models.text.numbers import find_numbers

        labels = carried_of(given, own=False)
        found = False
        for sentence, turn in zip(given, passage.turns, strict=True):
            tokens = range(turn.start, turn.end)
            glued = [False] + [
                passage.ends[one] == passage.starts[two] for one, two in pairwise(tokens)
            ]
            words = [passage.words[token] for token in tokens]
            for start, end in find_numbers(words, glued):
                anchor = Anchor(turn.start + start, turn.start + end)
                line = sentence.words[start].line
                yield GoldRow(
                    line, passage, anchor, self._split, None, (), (), labels, found=True
                )
                self.counts["found"] += 1
                found, labels = True, None
        self.counts["without"] += not found


def _document(given: Sequence[ParsedSentence], source: Source) -> _Document:
    kept = _kept(given[0])
    if kept is None:
        _check_whole(given)
    passage = _foreign_passage(given, source) if kept is None else _own(given, kept)
    places: dict[Place, int] = {}
    by_token: list[Place] = []
    marks = []
    token = 0
    for rank, sentence in enumerate(given, 1):
        for word in sentence.words:
            places.update({(rank, id_): token for id_ in word.ids})
            by_token.append((rank, word.ids[0]))
            pairs = [part.partition("=") for misc in word.misc for part in misc.split("|")]
            found = numbers_of((key, value) for key, _, value in pairs)
            marks += [_Mark(word.line, token, keys) for keys in found]
            token += 1
    items = {} if kept is None else _items(given, kept, passage)
    return _Document(passage, places, by_token, marks, items)


def _json(name: str, value: str | None) -> Any:  # noqa: ANN401 - whatever stands there
    try:
        return json.loads(value or "")
    except (ValueError, RecursionError) as error:
        raise MarkError(f"the comment {name} is not JSON: {reason_of(error)}") from error


def _kept(first: ParsedSentence) -> PassageComment | None:
    if PASSAGE not in first.comments:
        return None
    try:
        kept = msgspec.convert(_json(PASSAGE, first.comments[PASSAGE]), PassageComment)
    except msgspec.ValidationError as error:
        raise MarkError(f"the comment {PASSAGE}: {reason_of(error)}") from error
    if kept.format != VERSION:
        raise MarkError(
            f"the comment {PASSAGE}: found format {shown(kept.format)}, wanted {VERSION}"
        )
    return kept


def _check_whole(given: Sequence[ParsedSentence]) -> None:
    """Raise MarkError for a document with our comments on numbers, but without that on the
    passage: sentences were removed, or put in another order.
    """
    for sentence in given:
        name = next((one for one in sentence.comments if one.startswith(ITEM)), None)
        if name is not None:
            raise MarkError(
                f"line {sentence.line} has the comment {name}, but the first sentence has no "
                f"{PASSAGE}, to which it belongs; wanted both, or neither"
            )


def _check_shown(given: Sequence[ParsedSentence], turns: Sequence[Turn]) -> None:
    """Raise MarkError if a sentence's comments have another speaker, or another text."""
    for sentence, turn in zip(given, turns, strict=True):
        named, expected = sentence.speaker, on_one_line(turn.speaker or "")
        if named is not None and on_one_line(named) != expected:
            raise MarkError(
                f"line {sentence.line}: expected the speaker {shown(expected)}, found "
                f"{shown(named)}: it was changed since the export"
            )
        text = sentence.comments.get("text")
        forms = " ".join(word.form for word in sentence.words)
        if text is not None and _letters(text) != _letters(forms):
            raise MarkError(
                f"line {sentence.line}: expected the text {shown(forms)}, found {shown(text)}: "
                "it was changed since the export"
            )


def _letters(words: str) -> str:
    return on_one_line(words).replace(" ", "")


def _own(given: Sequence[ParsedSentence], kept: PassageComment) -> RawPassage:
    """The passage that was exported, checked against the forms of the file."""
    turns = turns_of(kept.turns)
    forms = [word.form for sentence in given for word in sentence.words]
    lengths = [len(sentence.words) for sentence in given]
    if lengths != [turn.end - turn.start for turn in turns]:
        raise MarkError(
            f"expected sentences of {shown([t.end - t.start for t in turns])} tokens, found "
            f"{shown(lengths)}: the words were changed since the export"
        )
    _check_shown(given, turns)
    if kept.text is None or kept.offsets is None:
        spoken = [
            ConlluSentence(turn.speaker, sentence.forms)
            for sentence, turn in zip(given, turns, strict=True)
        ]
        text, offsets = rebuilt(spoken, named=bool(kept.named))
    else:
        text, offsets = kept.text, list(kept.offsets)
    if len(offsets) != len(forms):
        raise MarkError(f"found {len(offsets)} offsets for {len(forms)} tokens")
    raw = RawPassage.of(text, offsets, turns)
    for word, form in zip(raw.words, forms, strict=True):
        if not is_form_of(form, word):
            raise MarkError(f"expected the form {shown(form_of(word))}, found {shown(form)}")
    try:
        sound_digest(raw)
    except PassageError as error:
        raise MarkError(f"the comment {PASSAGE}: {error}") from error
    return raw


def _foreign_passage(given: Sequence[ParsedSentence], source: Source) -> RawPassage:
    """The passage of sentences, one on each line."""
    texts, offsets, turns = [], list[Span](), []
    place = 0
    for rank, sentence in enumerate(given):
        text = sentence.comments.get("text")
        if text is None:
            text = ConlluSentence(None, sentence.forms).text
        with source.refusing(MarkError, line=sentence.line):
            inside = offsets_in(text, sentence)
        first = len(offsets)
        offsets += [(place + start, place + end) for start, end in inside]
        turns.append(Turn(rank, sentence.speaker, first, len(offsets)))
        texts.append(text)
        place += len(text) + 1
    return RawPassage.of("\n".join(texts), offsets, tuple(turns))


def _items(
    given: Sequence[ParsedSentence], kept: PassageComment, passage: RawPassage
) -> dict[Span, Restored]:
    turns = msgspec.to_builtins(kept.turns)
    offsets = list(zip(passage.starts, passage.ends, strict=True))
    found = {}
    for sentence in given:
        for name, value in sentence.comments.items():
            if name.startswith(ITEM):
                content = _json(name, value)
                if not isinstance(content, dict):
                    raise MarkError(f"the comment {name}: found {shown(content)}")
                one = restored(item_of({**content, "turns": turns}), passage.text, offsets)
                found[one.anchor.start, one.anchor.end] = one
    return found


# --- the writer ------------------------------------------------------------------------------

UNANNOTATED = ("_",) * 6
"""UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS."""


class ConlluWriter:
    """Makes the file. left_out: stays empty."""

    def __init__(self, how: Writing | None = None) -> None:  # noqa: ARG002
        self.left_out: Counter[str] = Counter()

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """The sentences of each passage."""
        for number, of_passage in enumerate(by_passage(records), 1):
            yield _document_text(f"{number:07}", of_passage).encode("utf-8")


def _document_text(name: str, records: Sequence[ExportRecord]) -> str:
    passage = records[0].passage
    spoken = [_sentence_of(passage, turn) for turn in passage.turns]
    carried = carried_in(records, passage)
    misc, items = _numbers(records, _places(passage, carried))
    lines = []
    for rank, (turn, one) in enumerate(zip(passage.turns, spoken, strict=True)):
        comments = carried.comments[rank] if carried else ()
        if rank == 0:
            if not any(comment.startswith("# newdoc") for comment in comments):
                lines.append(f"# newdoc id = {name}")
            kept = to_json(_passage(passage, spoken, is_carried=carried is not None))
            lines.append(f"# {PASSAGE} = {kept}")
        lines += comments or _comments(f"{name}-{rank + 1}", turn, one)
        lines += items.get(rank + 1, ())
        keys = ["|".join(misc.get(token, ())) for token in range(turn.start, turn.end)]
        if carried is None:
            lines += _token_lines(passage, turn, one, keys)
        else:
            lines += _carried_lines(carried.lines[rank], carried.tokens[rank], keys)
        lines.append("")
    return "\n".join(lines) + "\n"


def _comments(name: str, turn: Turn, sentence: ConlluSentence) -> Iterator[str]:
    yield f"# sent_id = {name}"
    if turn.speaker and (speaker := on_one_line(turn.speaker)):
        yield f"# speaker = {speaker}"
    yield f"# text = {sentence.text}"


def _places(passage: Passage, carried: Carried | None) -> list[Place]:
    """The place of each token; for a multiword token that of its first word."""
    if carried is not None:
        sentences = enumerate(zip(carried.lines, carried.tokens, strict=True), 1)
        return [
            (rank, int(lines[token].partition("\t")[0].partition("-")[0]))
            for rank, (lines, tokens) in sentences
            for token in tokens
        ]
    return [
        (rank, token)
        for rank, turn in enumerate(passage.turns, 1)
        for token in range(1, turn.end - turn.start + 1)
    ]


def _carried_lines(
    carried: Sequence[str], tokens: Sequence[int], keys: Sequence[str]
) -> list[str]:
    """The carried lines of a sentence, with our keys of each token in MISC."""
    lines = list(carried)
    for token, more in zip(tokens, keys, strict=True):
        if more:
            head, _, misc = lines[token].rpartition("\t")
            lines[token] = f"{head}\t{more}" + ("" if misc == "_" else f"|{misc}")
    return lines


def _sentence_of(passage: Passage, turn: Turn) -> ConlluSentence:
    tokens = passage.tokens[turn.start : turn.end]
    last = len(tokens) - 1
    forms = [
        (
            form_of(passage.text[token.start : token.end]),
            place < last and tokens[place + 1].start > token.end,
        )
        for place, token in enumerate(tokens)
    ]
    return ConlluSentence(turn.speaker, kept_apart(forms))


def _passage(
    passage: Passage, sentences: Sequence[ConlluSentence], *, is_carried: bool
) -> dict[str, Any]:
    """The comment on a passage: its turns, and its text if it does not follow from the
    lines.
    """
    turns = [
        [t.number, t.speaker, t.start, t.end]
        + ([] if t.begin is None and t.until is None else [t.begin, t.until])
        for t in passage.turns
    ]
    found: dict[str, Any] = {"format": VERSION, "turns": turns}
    offsets = [(token.start, token.end) for token in passage.tokens]
    for named in () if is_carried else (True, False):
        if rebuilt(sentences, named=named) == (passage.text, offsets):
            return {**found, "named": named}
    return {**found, "text": passage.text, "offsets": offsets}


def _numbers(
    records: Sequence[ExportRecord], places: Sequence[Place]
) -> tuple[Mapping[int, list[str]], Mapping[int, list[str]]]:
    """The keys of each token at which numbers begin, and the comments of each sentence."""
    misc: dict[int, list[str]] = {}
    items: dict[int, list[str]] = {}
    ranks: Counter[int] = Counter()
    for number, record in enumerate(records, 1):
        start = record.anchor.start
        ranks[start] += 1
        answer = record.gold.answer if record.gold else None
        keys = misc_of(answer, (start, record.anchor.end), places, ranks[start])
        misc.setdefault(start, []).extend(f"{key}={value}" for key, value in keys.items())
        item = msgspec.to_builtins(stored(record, offsets=False))
        del item["turns"]
        comment = f"# {ITEM}{number} = {to_json(item)}"
        items.setdefault(places[start][0], []).append(comment)
    return misc, items


def _token_lines(
    passage: Passage, turn: Turn, sentence: ConlluSentence, keys: Sequence[str]
) -> Iterator[str]:
    last = turn.end - turn.start - 1
    for rank, (form, space) in enumerate(sentence.forms):
        misc = [keys[rank]] if keys[rank] else []
        if not space and rank < last:
            misc.append("SpaceAfter=No")
        lemma = form_of(passage.tokens[turn.start + rank].lemma) or "_"
        yield "\t".join((str(rank + 1), form, lemma, *UNANNOTATED, "|".join(misc) or "_"))


TOKEN = re.compile(r"(?:1|1-\d+|0\.1)\t[^\t]+(?:\t[^\t]+){8}")


def sniff(first: First) -> str | None:
    """Why a text is CoNLL-U."""
    for line in first.start.split("\n"):
        if line.startswith(f"# {PASSAGE} = "):
            return f"it begins with a comment {PASSAGE}"
        if line.strip() and not line.startswith("#"):
            if TOKEN.fullmatch(line.removesuffix("\r")):
                return "its first line that is not a comment has the ten columns of CoNLL-U"
            break
    return "its name ends in .conllu" if first.suffix == ".conllu" else None


CONLLU = Format(
    name="conllu",
    extensions=(".conllu",),
    description=(
        "CoNLL-U: a document for each passage, a sentence for each turn; the gold answer in "
        "MISC on the number's first token, the rest in comments"
    ),
    example="3\tthree\tthree\t_\t_\t_\t_\t_\t_\tNFH=REFERENCE|NFHHead=1:2|SpaceAfter=No",
    read=refusing_strays(read),
    sniff=sniff,
    chunks=ConlluWriter,
    carries_split=True,
    holds=holds(
        How.BESIDE,
        **each(How.OWN, "KIND HEADS RELATION ORIGIN SORT NOUN COMMENT GOLD SPEAKERS TOKENS"),
    ),
    settings=frozenset({"map", "window"}),
    extra="conllu",
)
