"""The syntactic head of a marked phrase: "the red tents by the lake" gives "tents".

Crowd annotators mark phrases, but an answer needs the noun (paper, section 5.3: "reduce each
marked span to its syntactic head"). With an installed English spaCy pipeline that has a parser,
the head is the token whose head lies outside the phrase. Without one, and where the parse gives
several such tokens, a rule over the words decides.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from nfh_models.domain import Passage
from nfh_models.parsing.base import WordSpan
from nfh_models.parsing.spacy_parser import PARSER, TAGGING, installed_pipelines

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


DETERMINERS = frozenset(
    """
    a an the this that these those my your his her its our their whose each every either
    neither both all any some no what which such another other
    """.split()
)
"""Words before a noun that are not the noun."""

BOUNDARIES = frozenset(
    """
    of in on at by for from with without about above across after against along among around
    as before behind below beneath beside besides between beyond despite down during except
    inside into like near off onto out outside over past per since than through throughout
    till to toward towards under until up upon via within that which who whom whose where
    when why because if while and or but nor is are was were be been being am has have had
    """.split()
)
"""Words after a noun that begin a modifier or another phrase."""

POSSESSIVES = frozenset({"'s", "\u2019s", "'", "\u2019"})
STOPS = frozenset(',;:.!?()[]{}\u2026\u2013\u2014"\u201c\u201d') | {"--", "...", "``", "''"}


def may_be_head(word: str) -> bool:
    """Whether a token has a letter or a digit and is no possessive ending."""
    return any(map(str.isalnum, word)) and word not in POSSESSIVES


def last_before_boundary(words: Sequence[str]) -> int:
    """The index of the head among the words of a phrase, by the words alone.

    English noun phrases end with their noun unless a modifier follows it: the head is the last
    word before a preposition, a relative word, a verb form that opens a clause, or a
    punctuation mark. Determiners, possessive endings and signs are skipped. In a phrase without
    any other word, it is the last word with a letter or digit; without one, the last token.
    `words` must not be empty.
    """
    head: int | None = None
    for place, word in enumerate(words):
        folded = word.casefold()
        if head is not None and (folded in BOUNDARIES or folded in STOPS):
            break
        passed_over = folded in DETERMINERS or folded in BOUNDARIES
        if may_be_head(word) and not passed_over:
            head = place
    if head is not None:
        return head
    with_letters = [place for place, word in enumerate(words) if may_be_head(word)]
    return with_letters[-1] if with_letters else len(words) - 1


NOMINAL = frozenset({"NOUN", "PROPN"})
NEVER = frozenset({"PUNCT", "SPACE", "SYM", "DET", "CCONJ", "PART", "X"})
"""Tags of tokens that are no head beside another root of the phrase."""

OBJECTS = frozenset({"ADP", "SCONJ"})
"""Tags of words that open a phrase; the head is the noun that they govern."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Tokens [start, end) of a passage, one or more."""

    passage: Passage
    start: int
    end: int

    def words(self) -> list[str]:
        return [self.passage.word(token) for token in range(self.start, self.end)]


@dataclass(frozen=True, slots=True)
class SpanHead:
    """A head token, and whether a parse gave it rather than the rule."""

    token: int
    parsed: bool


class HeadFinder(Protocol):
    """Finds heads of phrases. name: what reports call it."""

    name: str

    def heads(self, phrases: Sequence[Phrase]) -> list[SpanHead]:
        """The head of each phrase, in their order."""


class RuleHeads:
    """Heads without a parser, by `by_rule`."""

    name = "a rule"

    def heads(self, phrases: Sequence[Phrase]) -> list[SpanHead]:
        return [SpanHead(by_rule(phrase), parsed=False) for phrase in phrases]


def by_rule(phrase: Phrase) -> int:
    """The head of a phrase by `last_before_boundary`."""
    return phrase.start + last_before_boundary(phrase.words())


def syntactic_head(
    words: Sequence[str], governors: Sequence[int], tags: Sequence[str], start: int, end: int
) -> int | None:
    """The head of tokens [start, end) by a dependency parse of the tokens around them.

    governors: the head of each token; a root is its own. tags: universal parts of speech. None
    where the phrase has several roots, as across two sentences.
    """
    roots = [
        token
        for token in range(start, end)
        if governors[token] == token or not start <= governors[token] < end
    ]
    # "tents by the lake", the preposition hung on the verb: the noun is the head.
    direct = [
        token for token in roots if tags[token] not in OBJECTS and may_be_head(words[token])
    ]
    found = {_opened(token, governors, tags, start, end) for token in direct or roots}
    words_only = {token for token in found if may_be_head(words[token])}
    better = {token for token in words_only if tags[token] not in NEVER} or words_only
    return better.pop() if len(better) == 1 else None


def _opened(
    token: int, governors: Sequence[int], tags: Sequence[str], start: int, end: int
) -> int:
    """The root itself, or the noun that a preposition at the root governs inside the phrase."""
    for _ in range(end - start):
        if tags[token] not in OBJECTS:
            break
        governed = [
            other for other in range(token + 1, end) if governors[other] == token != other
        ]
        if not governed:
            break
        nominal = [other for other in governed if tags[other] in NOMINAL]
        token = (nominal or governed)[0]
    return token


def load_heads() -> HeadFinder:
    """The first installed pipeline with a parser that loads, else the rule."""
    return load_parser() or RuleHeads()


NEEDED = TAGGING | {PARSER}
BATCH = 128
REACH = 60
"""Tokens on either side of a phrase that are parsed with it, within its turns."""

LONGEST_PHRASE = 200
"""Longer spans are no phrases and are left to the rule."""

ParseKey = tuple[str, int, int]
"""What is parsed: the passage's digest, first token, token after the last."""


class ParserHeads:
    """Heads by a dependency parse of the turns around the phrases.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0".
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language

    def heads(self, phrases: Sequence[Phrase]) -> list[SpanHead]:
        """The head of each phrase; equal contexts are parsed once."""
        around = [_around(phrase) for phrase in phrases]
        wanted: dict[ParseKey, Phrase] = {}
        for phrase, key in zip(phrases, around, strict=True):
            if key is not None:
                wanted.setdefault(key, phrase)
        docs = (
            self._doc(WordSpan.of(phrase.passage, start, end))
            for (_, start, end), phrase in wanted.items()
        )
        parsed = dict(zip(wanted, self._language.pipe(docs, batch_size=BATCH), strict=True))
        return [
            _head(phrase, key, parsed[key]) if key is not None else _ruled(phrase)
            for phrase, key in zip(phrases, around, strict=True)
        ]

    def _doc(self, word_span: WordSpan) -> "Doc":
        from spacy.tokens import Doc

        return Doc(self._language.vocab, list(word_span.words), list(word_span.spaces))


def load_parser() -> ParserHeads | None:
    """The first installed English pipeline with a parser that loads; None without one."""
    for pipeline in installed_pipelines():
        if PARSER not in pipeline.components:
            continue
        try:
            return ParserHeads(pipeline.language(NEEDED), pipeline.title)
        except (ImportError, OSError, ValueError, LookupError, TypeError):
            # A damaged package: the next one may be whole, and there is the rule.
            continue
    return None


def _around(phrase: Phrase) -> ParseKey | None:
    """The tokens to be parsed with a phrase: its turns, limited to REACH; None for a long
    phrase.
    """
    if phrase.end - phrase.start > LONGEST_PHRASE:
        return None
    passage = phrase.passage
    first = passage.turns[passage.turn_of(phrase.start)].start
    last = passage.turns[passage.turn_of(phrase.end - 1)].end
    return passage.digest, max(first, phrase.start - REACH), min(last, phrase.end + REACH)


def _head(phrase: Phrase, key: ParseKey, doc: "Doc") -> SpanHead:
    _, shift, _ = key
    head = syntactic_head(
        [token.text for token in doc],
        [token.head.i for token in doc],
        [token.pos_ for token in doc],
        phrase.start - shift,
        phrase.end - shift,
    )
    return _ruled(phrase) if head is None else SpanHead(head + shift, parsed=True)


def _ruled(phrase: Phrase) -> SpanHead:
    return SpanHead(by_rule(phrase), parsed=False)
