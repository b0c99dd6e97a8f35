"""CoNLL-U read: the words and their texts, answers in the MISC column, and what a file
carries besides; documents made into rows.

An answer in the MISC column of a CoNLL-U file, on the first token of its number.

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

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from nfh_db.formats.fields import sound_digest
from nfh_db.formats.files import LINE_LIMIT, NO_LINE_YET, Source, split_of_name
from nfh_db.formats.rows import GoldRow, RawPassage, ReadOptions
from nfh_db.formats.spans import ANCHOR, ANSWERS, MarkError, label_of
from nfh_db.formats.stored_annotation import Restored, item_of, restored
from nfh_db.messages import counted, shown
from nfh_db.records import ExportRecord, Gold, Rule
from nfh_db.serialization import TurnRow
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


# What stands in the lines of a CoNLL-U file: forms, texts, and our own comments.
#
# Files are in NFC and end their lines with a line feed only
# (https://universaldependencies.org/format.html). A passage's text is kept as it is, so the
# forms of its tokens may be other characters than its own; where they are, or where white
# space is other than single spaces, the text stands in a comment with the tokens' offsets.

VERSION = "nfh-conllu/1"
PASSAGE = "nfh_passage"
ITEM = "nfh_item_"
BLANK = "\u2423"
"""Stands in a form for white space and for what nobody sees: an open box."""
CARRIER = "\u25cc"
"""Stands before a form that would join the one before it: a dotted circle."""


def form_of(surface: str) -> str:
    """The form of a token: composed, on one line, white space inside it but single."""
    composed = unicodedata.normalize("NFC", surface)
    if composed.isprintable() and " " not in composed:
        return composed
    signs = [
        sign if sign.isprintable() and (sign != " " or _inside(composed, place)) else BLANK
        for place, sign in enumerate(composed)
    ]
    return "".join(signs)


def is_form_of(form: str, surface: str) -> bool:
    """True if a token may have this form, whatever stands before it."""
    return form in (surface, form_of(surface), CARRIER + form_of(surface))


def kept_apart(forms: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Forms, each with whether white space follows, that stay in NFC when they are joined."""
    found: list[tuple[str, bool]] = []
    before = ""
    for form, space in forms:
        joined = not form.isascii() and not unicodedata.is_normalized("NFC", before + form)
        found.append((CARRIER + form if joined else form, space))
        before = "" if space else found[-1][0][-1:]
    return found


def _inside(text: str, place: int) -> bool:
    """True for a space between two other characters: words with spaces may have one."""
    around = text[max(place - 1, 0) : place + 2]
    return len(around) == 3 and around[0] != " " and around[2] != " "


def on_one_line(words: str) -> str:
    """Words as the value of a comment."""
    return " ".join(unicodedata.normalize("NFC", words).split())


@dataclass(frozen=True, slots=True)
class ConlluSentence:
    """A sentence: its speaker, and its tokens' forms, each with whether white space follows."""

    speaker: str | None
    forms: Sequence[tuple[str, bool]]

    @property
    def text(self) -> str:
        """What `# text` says: the forms, single spaces between them."""
        return "".join(f + (" " if space else "") for f, space in self.forms).rstrip(" ")


def rebuilt(
    said: Sequence[ConlluSentence], *, named: bool
) -> tuple[str, list[tuple[int, int]]]:
    """A text of sentences, one on each line, and its tokens' offsets.

    named: each line begins with its speaker and a colon.
    """
    lines, offsets, place = [], [], 0
    for one in said:
        name = f"{one.speaker}: " if named and one.speaker else ""
        at = place + len(name)
        for form, space in one.forms:
            offsets.append((at, at + len(form)))
            at += len(form) + space
        lines.append(name + one.text)
        place += len(lines[-1]) + 1
    return "\n".join(lines), offsets


def same(text: str, offsets: Sequence[tuple[int, int]], raw: RawPassage) -> bool:
    """True if a text with its tokens is a passage's own."""
    return text == raw.text and [*offsets] == [*zip(raw.starts, raw.ends, strict=True)]


def to_json(value: Any) -> str:  # noqa: ANN401 - plain data
    """JSON on one line, in NFC as the whole file has to be; read back, it is as it was."""
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
        match = MARK_KEY.fullmatch(key)
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
    kept = [part for part in misc.split("|") if not MARK_KEY.fullmatch(part.partition("=")[0])]
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


# CoNLL-U sentence by sentence: the words, their texts, and where those stand.
#
# The conllu package reads the lines. A multiword token (`2-3`) is a token of the text, cut
# into its words where those spell it; an empty node (`5.1`) is none.

COLUMNS = 10
PLAIN = ("form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


@dataclass(frozen=True, slots=True)
class ConlluToken:
    """A token of a text. ids: the words of the sentence that it stands for; misc: their MISC
    columns, and its own; line: of the file.
    """

    line: int
    form: str
    ids: tuple[int, ...]
    misc: tuple[str, ...]
    space: bool


@dataclass(slots=True)
class ParsedSentence:
    """One sentence. line: of the file, where it begins. comments: by name. notes, lines: as
    they stand; numbers: of the lines, in the file. empty: how many nodes are no words.
    """

    line: int
    comments: dict[str, str | None]
    notes: list[str]
    lines: list[str]
    numbers: list[int]
    words: list[ConlluToken] = field(default_factory=list)
    empty: int = 0

    @property
    def starts_document(self) -> bool:
        """A document begins here."""
        return "newdoc" in self.comments or "newdoc id" in self.comments

    @property
    def speaker(self) -> str | None:
        """Who says it."""
        return self.comments.get("speaker")


def library(source: Source) -> "ModuleType":
    """The package. Raises FormatError where it is not installed."""
    try:
        import conllu
    except ImportError as error:
        raise source.error(
            None, "CoNLL-U is read by the package conllu: pip install 'nfh-tui[formats]'"
        ) from error
    return conllu


def sentences(source: Source) -> Iterator[ParsedSentence]:
    """The sentences of a file. Raises FormatError for lines that are no CoNLL-U."""
    conllu = library(source)
    for start, lines in _blocks(source):
        yield _sentence(conllu, source, start, lines)


def _blocks(source: Source) -> Iterator[tuple[int, list[str]]]:
    start, lines = 0, list[str]()
    for number, line in source.lines():
        if not line.strip():
            if lines:
                yield start, lines
            lines = []
            continue
        if not lines:
            start = number
        lines.append(line)
    if lines:
        yield start, lines


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
    as_it_is = dict.fromkeys(PLAIN, _column)
    try:
        parsed = conllu.parse("\n".join(lines), field_parsers=as_it_is)[0]
    except (conllu.exceptions.ParseException, ValueError, IndexError) as error:
        raise source.error(start, f"this sentence is no CoNLL-U: {error}") from error
    found = ParsedSentence(
        start,
        dict(parsed.metadata),
        [line for line in lines if line.startswith("#")],
        [line for line in lines if not line.startswith("#")],
        numbers,
    )
    _read_words(source, found, list(zip(numbers, parsed, strict=True)))
    return found


def _column(columns: Sequence[str], place: int) -> str:
    return columns[place]


Line = tuple[int, Any]


def _read_words(source: Source, found: ParsedSentence, lines: Sequence[Line]) -> None:
    """The tokens of a sentence's lines. Raises FormatError for ids out of order."""
    place, expected = 0, 1
    while place < len(lines):
        number, token = lines[place]
        id_ = token["id"]
        place += 1
        if isinstance(id_, tuple) and id_[1] == ".":
            found.empty += 1
            continue
        first, last = (id_[0], id_[2]) if isinstance(id_, tuple) else (id_, id_)
        if first != expected:
            raise source.error(number, f"found the id {first}, expected {expected}")
        if not isinstance(id_, tuple):
            found.words.append(_word(number, token, (id_,)))
            expected += 1
            continue
        inside: list[Line] = []
        while place < len(lines) and len(inside) < last - first + 1:
            one = lines[place]
            place += 1
            if isinstance(one[1]["id"], tuple):
                found.empty += 1
            else:
                inside.append(one)
        if [one[1]["id"] for one in inside] != list(range(first, last + 1)):
            raise source.error(number, f"the words {first} to {last} of this token are missing")
        found.words += _of_range(number, token, inside)
        expected = last + 1


def _of_range(number: int, token: Any, inside: Sequence[Line]) -> list[ConlluToken]:  # noqa: ANN401
    """The tokens of a multiword token: its words, if they spell it; else itself."""
    forms = [one["form"] for _, one in inside]
    if "".join(forms) != token["form"]:
        ids = tuple(one["id"] for _, one in inside)
        misc = (token["misc"], *(one["misc"] for _, one in inside))
        return [ConlluToken(number, token["form"], ids, misc, _space(token["misc"]))]
    words = [
        ConlluToken(n, one["form"], (one["id"],), (one["misc"],), False) for n, one in inside
    ]
    last = words[-1]
    first = words[0]
    words[-1] = ConlluToken(last.line, last.form, last.ids, last.misc, _space(token["misc"]))
    if len(words) > 1:
        words[0] = ConlluToken(
            first.line, first.form, first.ids, (token["misc"], *first.misc), False
        )
    return words


def _word(number: int, token: Any, ids: tuple[int, ...]) -> ConlluToken:  # noqa: ANN401
    return ConlluToken(number, token["form"], ids, (token["misc"],), _space(token["misc"]))


def _space(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


def offsets_in(text: str, sentence: ParsedSentence) -> list[tuple[int, int]]:
    """Where the tokens of a sentence stand in its text. Raises MarkError where they do not."""
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
            f"the sentence's text goes on where its tokens end: {shown(text[place:])}"
        )
    return found


# What a CoNLL-U file holds besides numbers: lemmas, tags, trees, other keys and comments.
#
# It is kept as the file's own lines, without our keys, under "conllu" in the labels of the
# first number of a document, and written back around the answers.

CARRIED_KEY = "conllu"
WRITTEN = ("newdoc", "newdoc id", "sent_id", "speaker", "text")
"""Comments that a file of our making has, too."""


class Carried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lines of each sentence. tokens: which of them are tokens of the text, in order."""

    comments: tuple[tuple[str, ...], ...]
    lines: tuple[tuple[str, ...], ...]
    tokens: tuple[tuple[int, ...], ...]


def carried_of(given: Sequence[ParsedSentence], *, own: bool) -> str | None:
    """The labels that keep a document's lines; None where all that is in them is ours."""
    if own and not any(map(_has_more, given)):
        return None
    content = Carried(
        tuple(tuple(filter(_is_foreign, one.notes)) for one in given),
        tuple(tuple(map(_plain, one.lines)) for one in given),
        tuple(tuple(one.numbers.index(word.line) for word in one.words) for one in given),
    )
    return json.dumps({CARRIED_KEY: msgspec.to_builtins(content)}, ensure_ascii=False)


def _has_more(sentence: ParsedSentence) -> bool:
    """True if a sentence says what no export would."""
    if sentence.empty or len(sentence.lines) != len(sentence.words):
        return True
    if any(_is_foreign(note) and _name(note) not in WRITTEN for note in sentence.notes):
        return True
    return any(map(_tagged, sentence.lines))


def _tagged(line: str) -> bool:
    columns = line.split("\t")
    return set(columns[3:9]) != {"_"} or without_numbers(columns[9]) not in (
        "_",
        "SpaceAfter=No",
    )


def _name(comment: str) -> str:
    return comment.lstrip("#").partition("=")[0].strip()


def _is_foreign(comment: str) -> bool:
    name = _name(comment)
    return name != PASSAGE and not name.startswith(ITEM)


def _plain(line: str) -> str:
    head, _, misc = line.rpartition("\t")
    return f"{head}\t{without_numbers(misc)}"


# --- out ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CarriedLines:
    """The lines of a passage's sentences as they came, to be written around the answers."""

    carried: Carried

    @classmethod
    def of(cls, records: Iterable[ExportRecord], passage: Passage) -> "CarriedLines | None":
        """Those that a record of the passage carries, if one does and they fit it."""
        for record in records:
            carried = _carried(record.carried)
            if carried is not None and _fits(carried, passage):
                return cls(carried)
        return None

    def places(self) -> list[Place]:
        """The place of each token, by sentence and id; of a range its first word."""
        return [
            (rank, int(lines[token].partition("\t")[0].partition("-")[0]))
            for rank, (lines, tokens) in enumerate(
                zip(self.carried.lines, self.carried.tokens, strict=True), 1
            )
            for token in tokens
        ]

    def comments(self, rank: int) -> tuple[str, ...]:
        """The comments of a sentence, by its rank from 0."""
        return self.carried.comments[rank]

    def tokens(self, rank: int, keys: Sequence[str]) -> list[str]:
        """The lines of a sentence with our keys of each token in MISC."""
        lines = list(self.carried.lines[rank])
        for token, more in zip(self.carried.tokens[rank], keys, strict=True):
            if more:
                head, _, misc = lines[token].rpartition("\t")
                lines[token] = f"{head}\t{more}" + ("" if misc == "_" else f"|{misc}")
        return lines


def _carried(labels: str | None) -> Carried | None:
    if labels is None or f'"{CARRIED_KEY}"' not in labels:
        return None
    content: Any = json.loads(labels)
    try:
        return msgspec.convert(content.get(CARRIED_KEY), Carried)
    except (AttributeError, msgspec.ValidationError):
        return None


def _fits(carried: Carried, passage: Passage) -> bool:
    """True if the lines hold the passage's tokens, sentence by turn."""
    if [len(tokens) for tokens in carried.tokens] != [t.end - t.start for t in passage.turns]:
        return False
    surfaces = (passage.text[token.start : token.end] for token in passage.tokens)
    return all(
        is_form_of(lines[token].split("\t")[1], next(surfaces))
        for lines, tokens in zip(carried.lines, carried.tokens, strict=True)
        for token in tokens
    )


class PassageComment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The comment on a passage of our making."""

    format: str
    turns: tuple[TurnRow, ...]
    named: bool | None = None
    text: str | None = None
    offsets: tuple[Span, ...] | None = None


def read(source: Source, how: ReadOptions) -> Iterator[GoldRow]:  # noqa: ARG001
    """The numbers of a file's documents; where a document has none marked, all that are found.

    A document begins at `# newdoc`; without one the file is one. Raises FormatError.
    """
    reader = _Reader(source)
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
    reader.warn()


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number that a token's MISC names. line: of the token."""

    line: int
    token: int
    keys: Keys


@dataclass(frozen=True, slots=True)
class _Document:
    """A document made ready. places: the token of each word, by sentence and id; by_token:
    the first place of each token.
    """

    passage: RawPassage
    places: Mapping[Place, int]
    by_token: Sequence[Place]
    marks: Sequence[_Mark]
    kept: Mapping[Span, Restored]

    def at(self, place: Place) -> int:
        """The token at a place. Raises MarkError."""
        try:
            return self.places[place]
        except KeyError:
            sentence, token = place
            raise MarkError(f"the place {sentence}:{token} is none of the document's") from None


class _Reader:
    """Makes rows of documents."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._split = split_of_name(source.path.stem)
        self._changed = 0
        self._gone = 0
        self._empty = 0
        self._without = 0
        self._found = 0

    def rows(self, given: Sequence[ParsedSentence]) -> Iterator[GoldRow]:
        """The rows of a document's numbers."""
        self._empty += sum(one.empty for one in given)
        try:
            document = _document(given, self._source)
        except MarkError as error:
            raise self._source.error(given[0].line, f"in this document: {error}") from error
        if not document.marks and not document.kept:
            yield from self._unmarked(given, document.passage)
            return
        labels = carried_of(given, own=PASSAGE in given[0].comments)
        left = dict(document.kept)
        seen: set[Span] = set()
        for mark in document.marks:
            try:
                row, span = self._row(document, mark, left)
            except (MarkError, AnswerError) as error:
                raise self._source.error(mark.line, str(error)) from error
            if span in seen:
                raise self._source.error(
                    mark.line, f"a number is marked twice here: {shown(mark.keys[''])}"
                )
            seen.add(span)
            yield replace(row, labels=labels)
            labels = None
        self._gone += len(left)

    def _row(
        self, document: _Document, mark: _Mark, left: dict[Span, Restored]
    ) -> tuple[GoldRow, Span]:
        span = span_of(mark.keys, mark.token, document.at)
        kept = left.pop(span, None)
        gold = self._gold(document, mark, span, kept)
        named = None if document.kept else self._split
        row = GoldRow(
            mark.line,
            document.passage,
            Anchor(*span),
            kept.split if kept else named,
            gold,
            kept.votes if kept else (),
            kept.flags if kept else (),
        )
        return row, span

    def _gold(
        self, document: _Document, mark: _Mark, span: Span, kept: Restored | None
    ) -> Gold | None:
        """What was kept, if MISC says the same still; else what MISC says."""
        if kept is not None:
            before = kept.gold.answer if kept.gold else None
            drawn = misc_of(before, span, document.by_token)
            if {f"NFH{name}": value for name, value in mark.keys.items()} == drawn:
                return kept.gold
            self._changed += 1
        answer = answer_of(mark.keys, document.at)
        if answer is None:
            return None
        answer.check(len(document.passage.words), *span)
        return Gold(answer, Rule.IMPORTED)

    def _unmarked(
        self, given: Sequence[ParsedSentence], passage: RawPassage
    ) -> Iterator[GoldRow]:
        """The numbers that the grammar finds in a document in which none is marked."""
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
                yield GoldRow(line, passage, anchor, self._split, None, (), (), labels)
                self._found += 1
                found, labels = True, None
        self._without += not found

    def warn(self) -> None:
        """Add what was counted to the source's warnings."""
        said = (
            (self._changed, f"{counted(self._changed, 'answer')} changed since the export"),
            (
                self._gone,
                f"{counted(self._gone, 'number')} left out: no longer marked in MISC",
            ),
            (self._empty, f"{counted(self._empty, 'empty node')} left out: no words of a text"),
            (
                self._found,
                f"{counted(self._found, 'number')} found in documents in which none is marked",
            ),
            (
                self._without,
                f"{counted(self._without, 'document')} without a number left out",
            ),
        )
        self._source.warnings.extend(sentence for count, sentence in said if count)


# --- documents ------------------------------------------------------------------------------


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
        raise MarkError(f"the comment {name} is no JSON: {error}") from error


def _kept(first: ParsedSentence) -> PassageComment | None:
    if PASSAGE not in first.comments:
        return None
    try:
        kept = msgspec.convert(_json(PASSAGE, first.comments[PASSAGE]), PassageComment)
    except msgspec.ValidationError as error:
        raise MarkError(f"the comment {PASSAGE}: {error}") from error
    if kept.format != VERSION:
        raise MarkError(
            f"the comment {PASSAGE}: found format {shown(kept.format)}, wanted {VERSION}"
        )
    return kept


def _check_whole(given: Sequence[ParsedSentence]) -> None:
    """Raise MarkError for a document that has our comments on numbers, but not the one that
    says what those are about: sentences were taken away, or put in another order.
    """
    for sentence in given:
        name = next((one for one in sentence.comments if one.startswith(ITEM)), None)
        if name is not None:
            raise MarkError(
                f"line {sentence.line} has the comment {name}, but the first sentence has no "
                f"{PASSAGE}, to which it belongs; wanted both, or neither"
            )


def _check_shown(given: Sequence[ParsedSentence], turns: Sequence[Turn]) -> None:
    """Raise MarkError where a sentence's comments show another speaker, or another text."""
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
    """The passage that was exported, checked against the forms that stand there now."""
    turns = tuple(
        Turn(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in kept.turns
    )
    forms = [word.form for sentence in given for word in sentence.words]
    lengths = [len(sentence.words) for sentence in given]
    if lengths != [turn.end - turn.start for turn in turns]:
        raise MarkError(
            f"expected sentences of {shown([t.end - t.start for t in turns])} tokens, found "
            f"{shown(lengths)}: the words were changed since the export"
        )
    _check_shown(given, turns)
    if kept.text is None or kept.offsets is None:
        said = [
            ConlluSentence(turn.speaker, [(word.form, word.space) for word in sentence.words])
            for sentence, turn in zip(given, turns, strict=True)
        ]
        text, offsets = rebuilt(said, named=bool(kept.named))
    else:
        text, offsets = kept.text, list(kept.offsets)
    if len(offsets) != len(forms):
        raise MarkError(f"found {len(offsets)} offsets for {len(forms)} tokens")
    words = [text[start:end] for start, end in offsets]
    for word, form in zip(words, forms, strict=True):
        if not is_form_of(form, word):
            raise MarkError(f"expected the form {shown(form_of(word))}, found {shown(form)}")
    raw = RawPassage(text, words, [s for s, _ in offsets], [e for _, e in offsets], turns)
    try:
        sound_digest(raw)
    except PassageError as error:
        raise MarkError(f"the comment {PASSAGE}: {error}") from error
    return raw


def _foreign_passage(given: Sequence[ParsedSentence], source: Source) -> RawPassage:
    """The passage of sentences, one on each line."""
    texts, starts, ends, turns = [], list[int](), list[int](), []
    place = 0
    for rank, sentence in enumerate(given):
        text = sentence.comments.get("text")
        if text is None:
            text = ConlluSentence(
                None, [(word.form, word.space) for word in sentence.words]
            ).text
        try:
            offsets = offsets_in(text, sentence)
        except MarkError as error:
            raise source.error(sentence.line, str(error)) from error
        first = len(starts)
        starts += [place + start for start, _ in offsets]
        ends += [place + end for _, end in offsets]
        turns.append(Turn(rank, sentence.speaker, first, len(starts)))
        texts.append(text)
        place += len(text) + 1
    whole = "\n".join(texts)
    words = [whole[start:end] for start, end in zip(starts, ends, strict=True)]
    return RawPassage(whole, words, starts, ends, tuple(turns))


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
