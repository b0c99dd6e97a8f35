"""Cases out of a spaCy Doc: its own sentences, tags and arcs, nothing parsed a second time."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spacy.tokens import Doc, Token

from nfh_models.identification.case import Case
from nfh_models.parsing.parsed import Layer, Parsed, ParserError
from nfh_models.parsing.stretch import Stretch
from nfh_models.resolution.cue_place import Scene
from nfh_models.text.lexicon import parts_of
from nfh_models.text.numbers import find_numbers
from nfh_models.text.plain_words import plain_words
from nfh_models.text.sentences import sentence_spans

_ANNOTATION = {Layer.POS: "POS", Layer.DEPENDENCY: "DEP", Layer.LEMMA: "LEMMA"}
_TAG = "TAG"
_GIVERS = {
    Layer.POS: "a tagger (and an attribute_ruler, or a morphologizer)",
    Layer.DEPENDENCY: "a parser",
    Layer.LEMMA: "a lemmatizer",
}
_ENDS = frozenset({".", "!", "?", "\u2026", '"', "\u201d"})


@dataclass(frozen=True, slots=True)
class DocCase:
    """A case with its place in its Doc. tokens: the Doc's token behind each word of it."""

    case: Case
    tokens: Sequence[int]

    @property
    def start(self) -> int:
        """The Doc's first token of the number."""
        return self.tokens[self.case.start]

    @property
    def end(self) -> int:
        """One more than the Doc's last token of the number."""
        return self.tokens[self.case.end - 1] + 1


def check(doc: Doc, needs: frozenset[Layer], name: str) -> None:
    """Raise ParserError unless a Doc has the layers. name: of the component, for the sentence.

    A Doc of nothing but white space has whatever is needed.
    """
    missing = [layer for layer in sorted(needs) if not _has(doc, layer)]
    if missing and any(not token.is_space for token in doc):
        lacks = " and no ".join(missing)
        givers = " and ".join(_GIVERS.get(layer, "what gives it") for layer in missing)
        raise ParserError(
            f"the component {name!r} got a doc with no {lacks}: put it behind {givers} in the "
            "pipeline, as in a pipeline like en_core_web_sm, and do not disable them"
        )


def _has(doc: Doc, layer: Layer) -> bool:
    """Whether a Doc has a layer. A word that has neither tag nor part of speech has met no
    tagger; an attribute_ruler by itself knows some of the parts of speech."""
    if layer not in _ANNOTATION or not doc.has_annotation(_ANNOTATION[layer]):
        return False
    if layer is not Layer.POS:
        return True
    tags, parts, spaces = doc.to_array([_TAG, _ANNOTATION[layer], "IS_SPACE"]).T
    return bool((tags | parts | spaces).all())


def cases_of_doc(doc: Doc) -> Iterator[DocCase]:
    """A case for each number of a Doc, in order; cases of a sentence share its parse."""
    given = _given(doc)
    for start, end in _sentences(doc):
        words = [token for token in doc[start:end] if not token.is_space]
        if any(parts_of(token.text) for token in words):
            yield from _cases(doc, words, given)


def layers_of(doc: Doc, tokens: Sequence[int]) -> Parsed:
    """The layers that a Doc has of some of its tokens, ascending, in a row but for white
    space. What hangs on a token that is not among them is a root."""
    found = [doc[token] for token in tokens]
    return _parsed(found, [token.text for token in found], tokens, _given(doc))


def _given(doc: Doc) -> frozenset[str]:
    """The annotations that a Doc has."""
    names = (*_ANNOTATION.values(), _TAG)
    return frozenset(name for name in names if doc.has_annotation(name))


def scene_of_doc(doc: Doc) -> tuple[Scene, dict[int, int], list[int]]:
    """A Doc without its white space as a scene; the scene's place of each token, and back."""
    tokens, turns = turns_of_doc(doc)
    places = {token: place for place, token in enumerate(tokens)}
    words = plain_words(doc[token].text for token in tokens)
    return Scene(words, [doc[token].pos_ for token in tokens], turns), places, tokens


def turns_of_doc(doc: Doc) -> tuple[list[int], list[int]]:
    """The tokens of a Doc that are no white space, and the number of the turn of each.

    A line break that follows the end of a sentence, and an empty line, begin a turn.
    """
    tokens: list[int] = []
    turns: list[int] = []
    turn = 0
    last = ""
    for token in doc:
        if token.is_space:
            breaks = token.text.count("\n")
            turn += breaks > 1 or (breaks == 1 and last in _ENDS)
            continue
        last = token.text
        tokens.append(token.i)
        turns.append(turn)
    return tokens, turns


def _sentences(doc: Doc) -> Iterator[tuple[int, int]]:
    """Token spans [start, end) of a Doc's sentences; by its characters if it has none."""
    if not len(doc):
        return
    if doc.has_annotation("SENT_START"):
        for sentence in doc.sents:
            yield sentence.start, sentence.end
        return
    starts = [token.idx for token in doc]
    begin = 0
    for _, end in sentence_spans(doc.text):
        behind = bisect_left(starts, end)
        if behind > begin:
            yield begin, behind
            begin = behind


def _cases(doc: Doc, tokens: Sequence[Token], given: frozenset[str]) -> Iterator[DocCase]:
    words = plain_words(token.text for token in tokens)
    spaces = [_space_behind(doc, token) for token in tokens]
    glued = [False, *(not space for space in spaces[:-1])]
    spans = find_numbers(words, glued)
    if not spans:
        return
    stretch = Stretch(words, spaces)
    places = [token.i for token in tokens]
    parsed = _parsed(tokens, words, places, given)
    for start, end in spans:
        yield DocCase(Case(stretch, start, end, parsed), places)


def _space_behind(doc: Doc, token: Token) -> bool:
    following = token.i + 1
    return bool(token.whitespace_) or (following < len(doc) and doc[following].is_space)


def _parsed(
    tokens: Sequence[Token], words: list[str], places: Sequence[int], given: frozenset[str]
) -> Parsed:
    """The layers of a sentence. given: the annotations that its Doc has."""
    inside = {place: at for at, place in enumerate(places)}
    arcs = _ANNOTATION[Layer.DEPENDENCY] in given
    return Parsed(
        words=words,
        pos=[token.pos_ for token in tokens] if _ANNOTATION[Layer.POS] in given else (),
        tags=[token.tag_ for token in tokens] if _TAG in given else (),
        lemmas=[token.lemma_ for token in tokens] if _ANNOTATION[Layer.LEMMA] in given else (),
        heads=[_governor(token, inside) for token in tokens] if arcs else (),
        relations=[token.dep_.lower() for token in tokens] if arcs else (),
    )


def _governor(token: Token, inside: dict[int, int]) -> int:
    """The word that a token hangs on; white space is passed over, and what lies outside the
    sentence makes the token a root."""
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return inside.get(head.i, inside[token.i])
