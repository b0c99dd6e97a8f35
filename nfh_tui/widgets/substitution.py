"""The sentence of a number with the answer filled in, "a new one [pump]": sentence bounds,
adjacent number words, modifiers, and inflection.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rich.text import Text

from nfh_db.records import AnchorItem
from nfh_models.domain import Anchor, Answer, Head, Kind, Passage, Relation, Sort, Turn
from nfh_models.domain.compare import CLASS_NOUNS
from nfh_tui.display_text import clip, cut_left, isolate, visible, width_of
from nfh_tui.editor.commands import BEFORE_NOUNS, FUNCTION_WORDS, PRONOUNS, fold, token_scores
from nfh_tui.editor.state import live

if TYPE_CHECKING:
    from pluralizer import Pluralizer


# Singular and plural of English nouns, by the rules of a library and the passage's own words.
# Symbols (%, km/h), words in other scripts, and names are not changed.

UNCHANGED = (
    "aircraft", "arithmetic", "baht", "blood", "cash", "clothes", "craft", "deer", "dice",
    "fish", "furniture", "goggles", "grand", "luggage", "macaroni", "math", "maths", "means",
    "money", "moose", "news", "odds", "pants", "percent", "quid", "series", "sheep", "shorts",
    "spinach", "species", "staff", "swine", "thanks", "tights", "trousers", "trout", "yen",
)  # fmt: skip
"""Nouns with the same form in both, or with one only."""

SCIENCES = re.compile(r"(?i)(econom|gymnast|mathemat|phys|polit|athlet|electron|eth|genet)ics$")

PLURALS = {
    # ch is spoken as k.
    r"(?i)((?:mon|olig|matri|patri)arch|stomach|epoch|eunuch|loch|czech)$": "$1s",
    r"(?i)^((?:ger|nor|otto|ro|sha|talis|cai)man|human)$": "$1s",
    r"(?i)^(golf|gulf|turf|surf|serf|smurf)$": "$1s",
}
"""Plurals, by singulars, that the library's rules get wrong."""

SINGULARS = {
    r"(?i)^(th)(?:ie|ei)ves$": "$1ief",
    r"(?i)^pence$": "penny",
    r"(?i)^(lens|rhinoceros)(?:es)?$": "$1",
}

_SENTENCE_ENDS = frozenset({".", "!", "?", "…", "...", '"', "“", ":", "-", "–", "—"})
_ACRONYM = re.compile(r"((?:[A-Z]\.?){2,})s$")
_LATIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]{2,}$")
_OF_GRAMMAR = (BEFORE_NOUNS | PRONOUNS) - {"half", "self"}
CACHE_SIZE = 1 << 12
TITLED = 4
"""Least number of capitalized words in a turn that is a title."""


@lru_cache(maxsize=1)
def _rules() -> "Pluralizer":
    # Imported at the first noun: the screen starts without it.
    from pluralizer import Pluralizer

    made = Pluralizer()  # type: ignore[no-untyped-call]
    for word in UNCHANGED:
        made.add_uncountable_rule(word)
    made.add_uncountable_rule(SCIENCES)
    for pattern, replacement in PLURALS.items():
        made.add_plural_rule(re.compile(pattern), replacement)
    for pattern, replacement in SINGULARS.items():
        made.add_singular_rule(re.compile(pattern), replacement)
    return made


def _stays(word: str) -> bool:
    """Whether a word is not inflected: no Latin letters, or a function word."""
    return not _LATIN.match(word) or fold(word) in _OF_GRAMMAR


@lru_cache(maxsize=CACHE_SIZE)
def plural_of(word: str) -> str:
    """The plural of a noun in either number."""
    if _stays(word) or is_plural(word):
        return word
    return _rules().plural(word)


@lru_cache(maxsize=CACHE_SIZE)
def singular_of(word: str) -> str:
    """The singular of a noun in either number."""
    if acronym := _ACRONYM.match(word):
        return acronym[1]
    return word if _stays(word) else _rules().singular(word)


def is_plural(word: str) -> bool:
    """Whether a word is a plural whose singular differs."""
    return singular_of(word) != word


# --- names ----------------------------------------------------------------------------------


def is_name(passage: Passage, token: int) -> bool:
    """Whether a word is capitalized for another reason than position or emphasis.

    At the start of a sentence it is a name if it is capitalized elsewhere, too. Speakers are
    names. Words in capitals, in a title, or in lower case elsewhere are not.
    """
    word = passage.word(token)
    if not word[:1].isupper() or word == "I":
        return False
    if _speaks(passage, word):
        return True
    if (len(word) > 1 and word.isupper()) or _in_title(passage, token):
        return False
    small = word.lower()
    if small in passage.spellings:
        return False
    return any(not _begins_a_sentence(passage, at) for at in passage.spellings[word])


def _speaks(passage: Passage, word: str) -> bool:
    return word in passage.speakers_words


def _begins_a_sentence(passage: Passage, token: int) -> bool:
    turn = passage.turns[passage.turn_of(token)]
    return token == turn.start or passage.word(token - 1) in _SENTENCE_ENDS


def _in_title(passage: Passage, token: int) -> bool:
    """Whether nearly all words of a token's turn are capitalized."""
    words = _plain_words(passage, token)
    capital = sum(word[0].isupper() for word in words)
    return capital >= TITLED and capital > 0.8 * len(words)


def _shouted(passage: Passage, token: int) -> bool:
    """Whether most words of a token's turn are in capitals."""
    words = _plain_words(passage, token)
    return sum(word.isupper() for word in words) > len(words) / 2


def _plain_words(passage: Passage, token: int) -> list[str]:
    turn = passage.turns[passage.turn_of(token)]
    words = (passage.word(place) for place in range(turn.start, turn.end))
    return [word for word in words if len(word) > 1 and word.isalpha()]


# --- the form that a number requires --------------------------------------------------------


def noun_form(passage: Passage, token: int, *, plural: bool) -> str:
    """The noun at a token in the singular or plural, as the passage writes it elsewhere."""
    word, lemma = passage.word(token), passage.tokens[token].lemma
    if is_name(passage, token):
        kept = plural or _speaks(passage, word)
        return word if kept else _one_of(word, lemma)
    if len(word) > 1 and word.isupper() and not _shouted(passage, token):
        return f"{word}s" if plural and word.isalpha() and _LATIN.match(word) else word
    if is_plural(word) == plural or _stays(word):
        return singular_of(word) if _ACRONYM.match(word) and not plural else word
    if not _may_be_noun(word, lemma):
        return word
    made = plural_of(word) if plural else singular_of(word)
    if made == word:
        return word
    for found in passage.forms[lemma]:
        if found[1:].islower() and is_plural(found) == plural and _may_be_noun(found, lemma):
            return found.lower()
    return made


def _may_be_noun(word: str, lemma: str) -> bool:
    """False for a form that is no noun's of this lemma, such as "called" of call."""
    lemma = lemma.casefold()
    return not lemma or lemma in (word.casefold(), singular_of(word).casefold())


def _one_of(name: str, lemma: str) -> str:
    """The singular of a name such as "Germans"; unchanged if it is not the lemma."""
    one = singular_of(name)
    return one if one.casefold() == lemma.casefold() else name


def free_form(noun: str, *, plural: bool) -> str:
    """A noun typed by an annotator, with its last word in the plural if requested."""
    *before, last = noun.split() or [noun]
    return " ".join([*before, plural_of(last) if plural and not last.endswith("s") else last])


# Number words next to an anchor that may be part of it. Some anchors are cut: "twenty" of
# "twenty-two", "two" of "two hundred".

HYPHENS = frozenset("-‐‑–")
BETWEEN = frozenset({"or", "to", "and", ","})
"""Words between two numbers, which usually are two items."""

LARGE = frozenset({"hundred", "thousand", "million", "billion"})
"""Words after which *and* continues the same number."""

MOST = 4
"""Most words by which a number is widened."""


class AdjacentNumber(NamedTuple):
    """A number word next to a span."""

    words: str
    """With the words between."""

    token: int
    may_belong: bool
    """Only a hyphen, or the *and* of "a hundred and five", is between. False for "two or
    three"."""


def adjacent_number(passage: Passage, span: Anchor, *, left: bool) -> AdjacentNumber | None:
    """The number word at one side of a span, in its turn; None where there is none."""
    between, number = _neighbours(passage, span, left=left)
    if number is None:
        return None
    told = (number, span.start) if left else (span.end, number + 1)
    words = " ".join(passage.words(*told).split())
    glue = "" if between is None else fold(passage.word(between))
    first = fold(passage.word(number if left else span.end - 1))
    may_belong = glue == "" or glue in HYPHENS or (glue == "and" and first in LARGE)
    return AdjacentNumber(words, number, may_belong)


def whole_number(passage: Passage, anchor: Anchor) -> Anchor:
    """The span widened by number words that may belong to it."""
    start, end = anchor.start, anchor.end
    for _ in range(MOST):
        before = adjacent_number(passage, Anchor(start, end), left=True)
        behind = adjacent_number(passage, Anchor(start, end), left=False)
        start = before.token if before is not None and before.may_belong else start
        end = behind.token + 1 if behind is not None and behind.may_belong else end
    return Anchor(start, end)


def _neighbours(passage: Passage, span: Anchor, *, left: bool) -> tuple[int | None, int | None]:
    """The tokens of the word between and of the number; each None where there is none."""
    turn = passage.turns[passage.turn_of(span.start)]
    step = -1 if left else 1
    at = span.start - 1 if left else span.end
    if not turn.start <= at < turn.end:
        return None, None
    if _is_number(passage.word(at)):
        return None, at
    word, further = fold(passage.word(at)), at + step
    joins = word in BETWEEN or word in HYPHENS
    if joins and turn.start <= further < turn.end and _is_number(passage.word(further)):
        return at, further
    return None, None


def _is_number(word: str) -> bool:
    # Imported here: the screen starts without the grammar.
    from nfh_models.text.numbers import parts_of

    return bool(parts_of(word))


# A mention's modifiers and word class, guessed from the words before it. The screen has no
# parser. An uncertain guess ends with a question mark, as in "verb?".

DETERMINERS = frozenset(
    "a an the this that these those each every either neither another some any no what which "
    "my your his her its our their whose one two three four five six seven eight nine "
    "ten".split()
)
"""Words that begin a noun phrase, without a verb up to the next function word."""

POSSESSIVE = frozenset({"'s", "’s"})
"""They begin a noun phrase after an owner; after a pronoun they are a verb."""

JOINED = frozenset("of in on at by for from with about and or but to than like as".split())
"""Function words that end a noun phrase."""

BEFORE_A_VERB = frozenset(
    "to i you he she we they who not n't n’t ca wo do does did will 'll ’ll would can could "
    "shall should may might must let please never always".split()
)
"""Words often followed by a verb and seldom by a noun."""

ADJECTIVES = frozenset(
    "bad few first good half last least less many more most much next other own right same "
    "several wrong".split()
)
"""Function words that may precede a noun."""

FEW = 0.6
"""A model that scored a smaller share of the words scored the nouns only."""


def phrase_start(passage: Passage, token: int) -> int:
    """The first token of the noun phrase that ends with a token.

    Without an article the phrase begins after a function word or punctuation mark; after a
    pronoun or *to* its first word is a verb and is left out.
    """
    first = passage.turns[passage.turn_of(token)].start
    start = token
    for place in range(token - 1, max(first, token - MOST) - 1, -1):
        word = fold(passage.word(place))
        if word in POSSESSIVE:
            owner = max(first, place - 1)
            return start if fold(passage.word(owner)) in PRONOUNS else owner
        if word in DETERMINERS:
            return place
        if not _modifies(word):
            return start + 1 if word in BEFORE_A_VERB and start < token else start
        start = place
    # Without a known beginning: a subject with its verb would look the same.
    return token if token - start > 1 else start


def _modifies(word: str) -> bool:
    if word in ADJECTIVES:
        return True
    return word not in FUNCTION_WORDS and word not in JOINED and word[:1].isalnum()


def word_class(item: AnchorItem, token: int) -> str:
    """The guessed word class: noun, name, pronoun, "verb?", "no noun?", or ""."""
    passage = item.passage
    word = fold(passage.word(token))
    if word in PRONOUNS:
        return "pronoun"
    if is_name(passage, token):
        return "name"
    phrase = range(phrase_start(passage, token), token)
    if any(fold(passage.word(place)) in DETERMINERS | POSSESSIVE for place in phrase):
        return "noun"
    turn = passage.turns[passage.turn_of(token)]
    before = fold(passage.word(token - 1)) if token > turn.start else ""
    if before in BEFORE_A_VERB and word not in FUNCTION_WORDS:
        return "verb?"
    scores = token_scores(item)
    known = sum(score is not None for score in scores)
    if scores and known < FEW * len(scores):
        return "noun" if scores[token] is not None else "no noun?"
    return ""


# The sentence around a number: its bounds, clipping, and spacing. Tokenized files contain
# spaces that are not written: "do n't .", "$ 5", "gon na".

ENDS = frozenset({".", "!", "?", "…", "..."})

ABBREVIATED = frozenset(
    "capt col dr fr gen gov hon jr lt mr mrs ms mt prof rep rev sen sgt sr st vs".split()
)
"""Words whose full stop ends no sentence."""

CODED = {
    "``": '"', "''": '"',
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
}  # fmt: skip
"""Quotes and brackets as treebanks write them."""

CLOSING = frozenset({"”", "’", "»", ")", "]"})

LEAST_BEFORE = 26
"""Least cells for the words before a number, about five words."""

LEAST_BEHIND = 8

_CONTRACTED = r"n't|n’t|['’](?:s|re|ll|d|m|ve)"
_PARTED = re.compile(rf"[ \n]+([.,!?;:…%)\]”]|(?:{_CONTRACTED})\b)")
_OPENED = re.compile(r"([(\[“]|[$£€¥#](?=[ \n]+\d))[ \n]+")
_CLOSES = re.compile(rf"[.,!?;:…%)\]”]+|{_CONTRACTED}", re.IGNORECASE)
_OPENS = re.compile(r"[(\[“]")
_APART = re.compile(rf"\w[ \n](?:[.,?!]|{_CONTRACTED})(?!\S)", re.IGNORECASE)
_ATTACHED = re.compile(rf"\w(?:[.,?!]|{_CONTRACTED})(?!\S)", re.IGNORECASE)
_CODED = re.compile(r"(?<!\S)-[LR][RSC]B-(?!\S)")
_QUOTED = re.compile(r"(?<!\S)``[ \n]+|[ \n]+''(?!\S)")
_SPOKEN = re.compile(r"(?i)\b(?:(gon|wan)[ \n]+(na)|(got)[ \n]+(ta)|(gim|lem)[ \n]+(me))\b")


def one_line(text: str) -> str:
    """A text in one line, with usual spacing."""
    return untokenized(" ".join(text.split()))


def untokenized(text: str) -> str:
    """Text without the spaces of a tokenized file: "do n't ." becomes "don't."."""
    text = _QUOTED.sub('"', _CODED.sub(lambda found: CODED[found[0]], text))
    text = _OPENED.sub(r"\1", _PARTED.sub(r"\1", text))
    return _SPOKEN.sub(lambda found: "".join(filter(None, found.groups())), text)


@lru_cache(maxsize=4)
def is_tokenized(text: str) -> bool:
    """Whether a text has spaces before punctuation more often than not."""
    return len(_APART.findall(text)) > len(_ATTACHED.findall(text))


def written_word(passage: Passage, token: int) -> str:
    """A word as people write it: treebanks' codes for quotes and brackets are these marks."""
    word = passage.word(token)
    return CODED[word] if word in CODED and is_tokenized(passage.text) else word


def joined_tokens(passage: Passage, turn: Turn) -> frozenset[int]:
    """The tokens of a turn that people write without a space before them: full stops, "n't",
    closing quotes and brackets, and words after opening ones.
    """
    words = [written_word(passage, place) for place in range(turn.start, turn.end)]
    quotes = [at for at, word in enumerate(words) if word == '"']
    paired = len(quotes) % 2 == 0
    opening, closing = (set(quotes[0::2]), set(quotes[1::2])) if paired else (set(), set())
    opening |= {at for at in quotes if passage.word(turn.start + at) == "``"}
    return frozenset(
        turn.start + at
        for at, (before, word) in enumerate(pairwise(words), 1)
        if at in closing
        or at - 1 in opening
        or _CLOSES.fullmatch(word)
        or _OPENS.fullmatch(before)
        or (before in SIGNS | {"#"} and word[:1].isdigit())
        or _SPOKEN.fullmatch(f"{before} {word}")
    )


def sentence_of(passage: Passage, span: Anchor) -> tuple[int, int]:
    """The tokens [start, end) of a span's sentence, inside its turn, with closing quotes."""
    turn = passage.turns[passage.turn_of(span.start)]
    start, end = span.start, span.end
    while start > turn.start and not _ends(passage, start - 1, turn.start):
        start -= 1
    while end < turn.end and not _ends(passage, end, turn.start):
        end += 1
    end = min(end + 1, max(turn.end, span.end))
    while start < span.start and _closes(passage, start, turn.start):
        start += 1
    while end < turn.end and _closes(passage, end, turn.start):
        end += 1
    return start, end


def _ends(passage: Passage, token: int, first: int) -> bool:
    word = passage.word(token)
    if word != "." or token == first:
        return word in ENDS
    before = passage.word(token - 1)
    initial = len(before) == 1 and before.isupper() and before != "I"
    return before.casefold() not in ABBREVIATED and not initial


def _closes(passage: Passage, token: int, first: int) -> bool:
    """Whether a token after the end of a sentence is a closing quote or bracket."""
    word = written_word(passage, token)
    if word != '"':
        return word in CLOSING
    return sum(written_word(passage, place) == '"' for place in range(first, token)) % 2 == 1


def around(passage: Passage, span: Anchor, room: int) -> tuple[str, str]:
    """The sentence before and after a span in `room` cells; far words are clipped.

    Each side may use half of the room and what the other side does not need. The words before
    the number, which matter most, have at least LEAST_BEFORE.
    """
    start, end = sentence_of(passage, span)
    before = list(range(span.start - 1, start - 1, -1))
    behind = list(range(span.end, end))
    widths = [_widths(passage, before), _widths(passage, behind)]
    wanted = [sum(widths[0]), sum(widths[1])]
    first = max(room // 2, room - wanted[1], LEAST_BEFORE)
    kept = [_fitting(widths[0], first), 0]
    taken = sum(widths[0][: kept[0]])
    kept[1] = _fitting(widths[1], max(LEAST_BEHIND, room - taken))
    while 0 < kept[0] < len(before) and not _may_begin(passage, before[kept[0] - 1]):
        kept[0] -= 1
    while 0 < kept[1] < len(behind) and _touches_before(passage, behind[kept[1]]):
        kept[1] -= 1
    return (
        _before(passage, span.start, kept[0], len(before)),
        _behind(passage, span.end, kept[1], len(behind)),
    )


def _may_begin(passage: Passage, token: int) -> bool:
    """Whether a clipped sentence may begin with a token."""
    word = passage.word(token)
    whole = word[:1].isalnum() and not _PARTED.match(f" {word}")
    return whole and not _touches_before(passage, token)


def _touches_before(passage: Passage, token: int) -> bool:
    tokens = passage.tokens
    return token > 0 and tokens[token].start == tokens[token - 1].end


def _widths(passage: Passage, tokens: list[int]) -> list[int]:
    return [
        width_of(visible(passage.word(token))) + (not _touches_before(passage, token))
        for token in tokens
    ]


def _fitting(widths: list[int], room: int) -> int:
    """How many words of these widths fit in `room` cells."""
    taken = 0
    for count, width in enumerate(widths):
        taken += width
        if taken > room:
            return count
    return len(widths)


def _before(passage: Passage, start: int, kept: int, count: int) -> str:
    """The last `kept` of `count` words before a token."""
    words = " ".join(_written_tokens(passage, start - kept, start).split())
    return words if kept == count else f"… {words}".rstrip()


def _behind(passage: Passage, end: int, kept: int, count: int) -> str:
    """The first `kept` of `count` words from a token on, with their spacing."""
    if not count:
        return ""
    text = _written_tokens(passage, end - 1, end + kept)[len(written_word(passage, end - 1)) :]
    return text if kept == count else f"{text} …"


def _written_tokens(passage: Passage, start: int, end: int) -> str:
    """The text of the tokens [start, end), as people write it."""
    if start >= end:
        return ""
    joined = joined_tokens(passage, passage.turns[passage.turn_of(start)])
    pieces = [written_word(passage, start)]
    for place in range(start + 1, end):
        before, token = passage.tokens[place - 1], passage.tokens[place]
        pieces.append("" if place in joined else passage.text[before.end : token.start])
        pieces.append(written_word(passage, place))
    return "".join(pieces)


# The sentence of a number with an answer filled in: "a new one [pump]".
#
# This is the test for a missing noun: inserted after the number, it keeps the meaning of the
# sentence. Inserted words are in brackets. A Reference inserts its nouns in the singular or
# plural as the number requires; a class inserts words that can be read aloud; without a
# missing noun the sentence is unchanged.

MOST_WORDS = 4
"""Most words of an inserted noun; of a longer span only its head is inserted."""

LEAST_PUT = 14
"""Cells for inserted nouns, or a third of the room; nouns that do not fit are counted."""

SORTS = {Sort.NUMBER: "the number itself", Sort.CODE: "a code", Sort.MEASURE: "a measure"}
"""Inserted for OTHER without a noun."""

NOT_A_COIN = frozenset({"cash", "grand", "mark", "money"})
"""Words for money that are seldom counted, or ambiguous."""

SIGNS = frozenset("$£€¥₤¢")
APOSTROPHES = frozenset("'’‘`")
"""They precede a shortened year: "'85"."""

HUNDRED = 100
"""Plural in spite of an article: "a 100 men"."""

CLOCK = frozenset({"o'clock", "o’clock", "oclock", "am", "pm", "a.m.", "p.m.", "a.m", "p.m"})
MORE = frozenset({"more", "other", "another"})
TAILS = (("and", "a", "half"), ("and", "a", "quarter"), ("or", "so"))
"""Words after a number that belong to it and precede the noun."""

JOINTS = {Relation.AND: " and ", Relation.OR: " or "}
"""Between several heads; "/" where their relation is not stated."""


class PlacedNumber(Protocol):
    """A number in its passage: an item, or an earlier decision."""

    @property
    def passage(self) -> Passage:
        """The passage."""

    @property
    def anchor(self) -> Anchor:
        """The number's span."""


@dataclass(frozen=True, slots=True)
class FilledSentence:
    """A sentence with an answer filled in; `before` and `after` are clipped."""

    before: str
    number: str
    put: str
    """The inserted words, without brackets; "" for none."""

    after: str
    leading: bool = False
    """`put` precedes the number, as "the year" does."""

    between: str = ""
    """Words between the number and `put`: "two more [pumps]"."""

    glued: bool = False
    """No space precedes the number, as in "$5"."""

    @property
    def gap(self) -> str:
        """The space after `before`."""
        return " " if self.before and not self.glued else ""

    @property
    def text(self) -> str:
        number = " ".join(filter(None, [self.number, self.between]))
        if self.put and self.leading:
            number = f"[{self.put}] {number}"
        elif self.put:
            number = f"{number} [{self.put}]"
        return f"{self.before}{self.gap}{number}{self.after}"


def fill(item: PlacedNumber, answer: Answer, room: int) -> FilledSentence | None:
    """The anchor's sentence with an answer filled in, in about `room` cells.

    None for BROKEN, and for NFH, which gives no head.
    """
    if answer.kind in {Kind.BROKEN, Kind.NFH}:
        return None
    passage = item.passage
    put = put_in(item, answer, max(LEAST_PUT, room // 3))
    leading = is_leading(answer)
    span = _written_span(passage, whole_number(passage, item.anchor))
    stop = span.end if leading or not put else _tail(passage, span.end)
    number = one_line(passage.words(span.start, span.end))
    if number[0] in APOSTROPHES:
        number = number.replace(" ", "", 1)
    between = one_line(passage.words(span.end, stop))
    taken = width_of(visible(f"{number} {between} [{put}] "))
    before, after = around(passage, Anchor(span.start, stop), max(0, room - taken))
    return FilledSentence(
        before, number, put, after, leading, between, _is_glued_on(passage, span.start)
    )


def is_leading(answer: Answer) -> bool:
    """Whether the inserted words precede the number: the year 1994."""
    return answer.kind is Kind.YEAR and not answer.noun


def _written_span(passage: Passage, span: Anchor) -> Anchor:
    """The span with the apostrophe of a shortened year."""
    first = passage.turns[passage.turn_of(span.start)].start
    cut = span.start > first and passage.word(span.start - 1) in APOSTROPHES
    year = len(passage.word(span.start)) == len("85") and passage.word(span.start).isdigit()
    return Anchor(span.start - 1, span.end) if cut and year else span


def _tail(passage: Passage, end: int) -> int:
    """The token before which the noun is inserted: after "more", "or so", "and a half"."""
    turn = passage.turns[passage.turn_of(end - 1)]
    words = [fold(passage.word(place)) for place in range(end, min(end + 3, turn.end))]
    for tail in TAILS:
        if tuple(words[: len(tail)]) == tail:
            return end + len(tail)
    return end + 1 if words and words[0] in MORE else end


def _is_glued_on(passage: Passage, token: int) -> bool:
    if token == 0:
        return False
    before = passage.word(token - 1)
    return passage.tokens[token - 1].end == passage.tokens[token].start or before in SIGNS | {
        "(", "[", "“", "#",
    }  # fmt: skip


def put_in(item: PlacedNumber, answer: Answer, most: int | None = None) -> str:
    """The inserted words, without brackets; "" where no noun is missing.

    most: most cells of several nouns.
    """
    if _said_already(item, answer):
        return ""
    if answer.kind is Kind.REFERENCE:
        return _heads(item, answer, most)
    several = not is_one(item)
    if answer.noun:
        return free_form(one_line(answer.noun), plural=several)
    return _class_words(item, answer, several=several)


def _said_already(item: PlacedNumber, answer: Answer) -> bool:
    """Whether the text next to the number contains what would be inserted."""
    passage = item.passage
    span = whole_number(passage, item.anchor)
    turn = passage.turns[passage.turn_of(span.start)]
    own = fold(passage.words(span.start, span.end))
    behind = [
        fold(passage.word(place)) for place in range(span.end, min(span.end + 2, turn.end))
    ]
    before = fold(passage.word(span.start - 1)) if span.start > turn.start else ""
    follows = next((word for word in behind if word not in {"-", "‐", "‑", "–"}), "")
    if own in {"one", "1"} and follows == "another":
        return True
    if answer.kind is Kind.REFERENCE:
        return any(m.head == span.end for head in answer.heads for m in live(head.mentions))
    if answer.kind is Kind.AGE:
        return "year" in own or follows in {"year", "years", "yr", "yrs", "y.o."}
    if answer.kind is Kind.CURRENCY:
        signs = {*_sum_before(passage, span.start), follows, own[:1], own[-1:]} & SIGNS
        return bool(signs) or _lemma(passage, span.end) in CLASS_NOUNS[Kind.CURRENCY]
    if answer.kind is Kind.TIME:
        return follows in CLOCK
    if answer.kind is Kind.PEOPLE:
        return _lemma(passage, span.end) in CLASS_NOUNS[Kind.PEOPLE]
    return answer.kind is Kind.YEAR and "year" in {before, follows}


def _sum_before(passage: Passage, start: int) -> list[str]:
    """The token before a number, and those before it while it is a part of one: "$ 1 , 100"."""
    words: list[str] = []
    for place in range(start - 1, passage.turns[passage.turn_of(start)].start - 1, -1):
        words.append(passage.word(place))
        if words[-1] != "," and not words[-1].isdigit():
            break
    return words


def _lemma(passage: Passage, token: int) -> str:
    return passage.tokens[token].lemma if token < len(passage.tokens) else ""


def _class_words(item: PlacedNumber, answer: Answer, *, several: bool) -> str:
    if answer.kind is Kind.YEAR:
        return "the year"
    if answer.kind is Kind.AGE:
        old = "" if _follows_age(item) else " old"
        return f"years{old}" if several else f"year{old}"
    if answer.kind is Kind.CURRENCY:
        return _money(item, several=several)
    if answer.kind is Kind.PEOPLE:
        return "people" if several else "person"
    if answer.kind is Kind.TIME:
        return "o'clock" if _is_hour(item) else "by the clock"
    if answer.kind is Kind.OTHER:
        return SORTS.get(answer.sort, "something else") if answer.sort else "something else"
    return "?" if answer.kind is Kind.UNKNOWN else ""


def _follows_age(item: PlacedNumber) -> bool:
    """True after "aged" and "the age of"."""
    start = item.anchor.start
    words = [fold(item.passage.word(place)) for place in range(max(0, start - 2), start)]
    return words[-1:] == ["aged"] or words == ["age", "of"]


def _heads(item: PlacedNumber, answer: Answer, most: int | None) -> str:
    """The nouns; joined by AND they are as written, since the number counts them together."""
    together = len(answer.heads) > 1 and answer.relation is Relation.AND
    several = not is_one(item)
    # Names that are listed are people, each of them one, whatever the number.
    names = any(is_name(item.passage, live(h.mentions)[0].head) for h in answer.heads)
    as_written = together or (names and len(answer.heads) > 1)
    nouns = [_noun(item, head, plural=None if as_written else several) for head in answer.heads]
    joint = JOINTS.get(answer.relation, " / ") if answer.relation else ""
    return _joined(nouns, joint, most)


def _joined(nouns: Sequence[str], joint: str, most: int | None) -> str:
    """Joined nouns; where they exceed `most` cells, the first ones and the number of others."""
    listed = len(nouns) > 2 and joint != " / "
    whole = f"{', '.join(nouns[:-1])}{joint}{nouns[-1]}" if listed else joint.join(nouns)
    if most is None or len(nouns) == 1 or width_of(visible(whole)) <= most:
        return whole
    for kept in range(len(nouns) - 1, 1, -1):
        short = " / ".join([*nouns[:kept], f"+{len(nouns) - kept}"])
        if width_of(visible(short)) <= most:
            return short
    return f"{nouns[0]} / +{len(nouns) - 1}"


def _noun(item: PlacedNumber, head: Head, *, plural: bool | None) -> str:
    """The words of a head's marked mention without article. plural: None for no inflection."""
    first = live(head.mentions)[0]
    start, end = first.start, first.end
    holds_anchor = start < item.anchor.end and item.anchor.start < end
    if end - start > MOST_WORDS or holds_anchor:
        start, end = first.head, first.head + 1
    while start < first.head and fold(item.passage.word(start)) in DETERMINERS:
        start += 1
    if plural is None:
        return one_line(item.passage.words(start, end))
    form = noun_form(item.passage, first.head, plural=plural)
    pieces = (
        item.passage.words(start, first.head), form, item.passage.words(first.head + 1, end)
    )  # fmt: skip
    return one_line(" ".join(filter(None, pieces)))


def _money(item: PlacedNumber, *, several: bool) -> str:
    """The currency word nearest to the number, else "in money"."""
    coins = CLASS_NOUNS[Kind.CURRENCY] - NOT_A_COIN
    named = [
        place
        for coin in coins
        for place in item.passage.places.get(coin, ())
        if not item.anchor.start <= place < item.anchor.end
    ]
    if not named:
        return "in money"
    near = min(named, key=lambda place: (abs(place - item.anchor.start), place))
    return noun_form(item.passage, near, plural=several)


def is_one(item: PlacedNumber) -> bool:
    """Whether the number requires a singular: one, 1, a fraction below 1, "a six"."""
    value = _value(item)
    start = item.anchor.start
    article = start > 0 and fold(item.passage.word(start - 1)) in {"a", "an"}
    if article and _value(item) != HUNDRED and fold(item.passage.word(start)) not in LARGE:
        return True
    if _tail(item.passage, item.anchor.end) > item.anchor.end + 1:
        return False
    return value is not None and 0 < value <= 1


def _is_hour(item: PlacedNumber) -> bool:
    value = _value(item)
    return value is not None and value == int(value) and 1 <= value <= 12


def _value(item: PlacedNumber) -> float | None:
    """The value of a number of one token; None for any other."""
    from nfh_models.text.numbers import parts_of

    anchor = whole_number(item.passage, item.anchor)
    if anchor.end - anchor.start != 1:
        return None
    parts = parts_of(item.passage.word(anchor.start))
    return parts[0].value if len(parts) == 1 else None


def sentence(passage: Passage, anchor: Anchor, width: int) -> Text:
    """The turn around a number in at most `width` cells, the number bold in brackets."""
    before, word, after = parts(passage, anchor)
    word = f"[{word}]"
    room = max(0, width - width_of(word))
    right = min(width_of(after), max(room // 2, room - width_of(before)))
    # Isolated last: what is cut would lose one end of its isolation.
    shown = Text(isolate(cut_left(before, room - right)))
    shown.append(isolate(word), "bold")
    shown.append(isolate(clip(after, right)))
    return shown


def parts(passage: Passage, anchor: Anchor) -> tuple[str, str, str]:
    """The turn before a number, the number, and the turn after it, ready to be drawn."""
    turn = passage.turns[passage.turn_of(anchor.start)]
    text, (first, last) = passage.text, passage.code_points(turn)
    start, stop = passage.code_points(anchor)
    return _drawn(text[first:start]), _drawn(text[start:stop]), _drawn(text[stop:last])


def _drawn(text: str) -> str:
    """Text in one line; each gap, also at the ends, becomes one space."""
    ends = (" " if text[:1].isspace() else "", " " if text[-1:].isspace() else "")
    middle = one_line(text)
    return f"{ends[0]}{visible(middle)}{ends[1]}" if middle else ends[0]
