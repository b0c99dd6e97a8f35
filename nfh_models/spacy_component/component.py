"""The spaCy component: `nlp.add_pipe("nfh")`, for English pipelines of spaCy 3.8.

It finds the numbers of a Doc, decides with a recipe of identification which of them are fused
heads, and resolves those: by the paper's four patterns (section 5.1) where those are reliable
(`nfh_models.resolution.recipes`), else by cues (`nfh_models.resolution.cues`) or a model. The
attributes are documented in `attributes`.

    import spacy
    nlp = spacy.load("en_core_web_sm")
    nlp.add_pipe("nfh")
    for span in nlp("I have two dogs and she has three.")._.nfh:
        print(span, span._.nfh_head)
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage, Relation, Turn
from nfh_models.domain import Token as PassageToken
from nfh_models.identification.base import IdentificationRecipeError, SentenceNumber, decide
from nfh_models.parsing.base import Parsed, ParseLayer, ParserError, WordSpan
from nfh_models.resolution import cues, recipes
from nfh_models.resolution.base import Choice, Item, Resolver
from nfh_models.resolution.baselines import Pattern
from nfh_models.resolution.cues import CueContext
from nfh_models.resolution.heads import decode as decode_heads
from nfh_models.spacy_component import files
from nfh_models.spacy_component.attributes import FusedHead, Stored, assigned, register, store
from nfh_models.text.numbers import find_numbers, parts_of
from nfh_models.text.sentences import sentence_spans
from nfh_models.text.tokens import lemmas, plain_words

_ANNOTATION = {ParseLayer.POS: "POS", ParseLayer.DEPENDENCY: "DEP", ParseLayer.LEMMA: "LEMMA"}
_TAG = "TAG"
_GIVERS = {
    ParseLayer.POS: "a tagger (and an attribute_ruler, or a morphologizer)",
    ParseLayer.DEPENDENCY: "a parser",
    ParseLayer.LEMMA: "a lemmatizer",
}
_ENDS = frozenset({".", "!", "?", "\u2026", '"', "\u201d"})


@dataclass(frozen=True, slots=True)
class DocCase:
    """A case with its place in its Doc. tokens: the Doc's token index of each of its words."""

    case: SentenceNumber
    tokens: Sequence[int]

    @property
    def start(self) -> int:
        """The Doc's first token of the number."""
        return self.tokens[self.case.start]

    @property
    def end(self) -> int:
        """The Doc's token after the number."""
        return self.tokens[self.case.end - 1] + 1


def check(doc: Doc, needs: frozenset[ParseLayer], name: str) -> None:
    """Raise ParserError unless a Doc has the layers. name: of the component, for the message.

    A Doc of white space only has all layers.
    """
    missing = [layer for layer in sorted(needs) if not _has(doc, layer)]
    if missing and any(not token.is_space for token in doc):
        lacks = " and no ".join(missing)
        givers = " and ".join(_GIVERS.get(layer, "what gives it") for layer in missing)
        raise ParserError(
            f"the component {name!r} got a doc with no {lacks}: put it after {givers} in the "
            "pipeline, as in a pipeline like en_core_web_sm, and do not disable them"
        )


def _has(doc: Doc, layer: ParseLayer) -> bool:
    """Whether a Doc has a layer. A word with neither tag nor part of speech shows that no
    tagger ran: an attribute_ruler by itself assigns some of the parts of speech.
    """
    if layer not in _ANNOTATION or not doc.has_annotation(_ANNOTATION[layer]):
        return False
    if layer is not ParseLayer.POS:
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
    """The layers of some tokens of a Doc, ascending and contiguous but for white space.

    A token whose head is not among them is a root.
    """
    found = [doc[token] for token in tokens]
    return _parsed(found, [token.text for token in found], tokens, _given(doc))


def _given(doc: Doc) -> frozenset[str]:
    """The annotations that a Doc has."""
    names = (*_ANNOTATION.values(), _TAG)
    return frozenset(name for name in names if doc.has_annotation(name))


def context_of_doc(doc: Doc) -> tuple[CueContext, dict[int, int], list[int]]:
    """The cue context of a Doc without white space, the place of each token in it, and the
    reverse.
    """
    tokens, turns = turns_of_doc(doc)
    places = {token: place for place, token in enumerate(tokens)}
    words = plain_words(doc[token].text for token in tokens)
    return CueContext(words, [doc[token].pos_ for token in tokens], turns), places, tokens


def turns_of_doc(doc: Doc) -> tuple[list[int], list[int]]:
    """The tokens of a Doc that are not white space, and the turn number of each.

    A turn begins after a line break at the end of a sentence, and after an empty line.
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
    word_span = WordSpan(words, spaces)
    places = [token.i for token in tokens]
    parsed = _parsed(tokens, words, places, given)
    for start, end in spans:
        yield DocCase(SentenceNumber(word_span, start, end, parsed), places)


def _space_behind(doc: Doc, token: Token) -> bool:
    following = token.i + 1
    return bool(token.whitespace_) or (following < len(doc) and doc[following].is_space)


def _parsed(
    tokens: Sequence[Token], words: list[str], places: Sequence[int], given: frozenset[str]
) -> Parsed:
    """The layers of a sentence. given: the annotations of its Doc."""
    inside = {place: at for at, place in enumerate(places)}
    arcs = _ANNOTATION[ParseLayer.DEPENDENCY] in given
    return Parsed(
        words=words,
        pos=[token.pos_ for token in tokens] if _ANNOTATION[ParseLayer.POS] in given else (),
        tags=[token.tag_ for token in tokens] if _TAG in given else (),
        lemmas=[token.lemma_ for token in tokens]
        if _ANNOTATION[ParseLayer.LEMMA] in given
        else (),
        heads=[_governor(token, inside) for token in tokens] if arcs else (),
        relations=[token.dep_.lower() for token in tokens] if arcs else (),
    )


def _governor(token: Token, inside: dict[int, int]) -> int:
    """The word that is a token's head; white space is skipped, and a head outside the sentence
    makes the token a root.
    """
    head = token.head
    while head.is_space and head.head.i != head.i:
        head = head.head
    return inside.get(head.i, inside[token.i])


Span = tuple[int, int]

REACH = 400
"""Tokens on either side of a number in its passage: more than the window of any network, and
than any head's distance that the release marks (151).
"""

TOGETHER = 1_000
"""Tokens over which numbers share a passage."""


@dataclass(frozen=True, slots=True)
class DocItem:
    """A number in its passage. tokens: the Doc's token index of each of the passage's
    tokens.
    """

    item: Item
    tokens: Sequence[int]


def items_of_doc(doc: Doc, spans: Sequence[Span], *, tagged: bool) -> list[DocItem]:
    """An item for each number of a Doc: token spans [start, end) of the Doc, ascending.

    A Doc may be a whole book: passages are cut around its numbers, so that the cost of a number
    does not depend on the length of the Doc. The Doc is taken for the words of one speaker;
    white space is left out, and begins a turn as in `turns_of_doc`. tagged: with the Doc's tags
    and arcs as the parse.
    """
    if not spans:
        return []
    tokens, turns = turns_of_doc(doc)
    places = {token: place for place, token in enumerate(tokens)}
    anchors = [Anchor(places[start], places[end - 1] + 1) for start, end in spans]
    text = doc.text
    found: list[DocItem] = []
    for group in _groups(anchors):
        first = max(0, group[0].start - REACH)
        last = min(len(tokens), group[-1].end + REACH)
        passage = _passage(doc, text, tokens[first:last], turns[first:last])
        behind = tokens[first:last]
        parsed = layers_of(doc, behind) if tagged else None
        for anchor in group:
            shifted = Anchor(anchor.start - first, anchor.end - first)
            found.append(DocItem(Item(passage, shifted, parsed), behind))
    return found


def _groups(anchors: Sequence[Anchor]) -> Iterator[list[Anchor]]:
    group: list[Anchor] = []
    for anchor in anchors:
        if group and anchor.end - group[0].start > TOGETHER:
            yield group
            group = []
        group.append(anchor)
    if group:
        yield group


def _passage(doc: Doc, text: str, tokens: Sequence[int], turns: Sequence[int]) -> Passage:
    start = doc[tokens[0]].idx
    end = doc[tokens[-1]].idx + len(doc[tokens[-1]])
    words = [doc[token].text for token in tokens]
    starts = [doc[token].idx - start for token in tokens]
    ends = [begin + len(word) for begin, word in zip(starts, words, strict=True)]
    return Passage(
        text[start:end],
        tuple(map(PassageToken, starts, ends, lemmas(words))),
        tuple(_runs(turns)),
    )


def _runs(turns: Sequence[int]) -> Iterator[Turn]:
    start = 0
    for place in range(1, len(turns) + 1):
        if place == len(turns) or turns[place] != turns[start]:
            yield Turn(turns[start], None, start, place)
            start = place


@dataclass(frozen=True, slots=True)
class UnresolvedHead:
    """A fused head without its heads. rule: what identified it."""

    case: DocCase
    rule: str


def resolved(
    docs: Sequence[Doc],
    open_: Sequence[Sequence[UnresolvedHead]],
    setting: str,
    resolver: Resolver | None,
) -> list[list[FusedHead]]:
    """The anchors of each Doc with their heads, in order; the model is called once for all.

    open_: the fused heads of each Doc. setting: NONE or CUES, else `resolver` is used.
    """
    if setting == files.NONE and resolver is None:
        return [[_anchor(one) for one in of_doc] for of_doc in open_]
    recipe = setting if resolver is None else resolver.recipe
    found = [[_by_pattern(one, recipe) for one in of_doc] for of_doc in open_]
    waiting = [
        [one for one, answer in zip(of_doc, answers, strict=True) if answer is None]
        for of_doc, answers in zip(open_, found, strict=True)
    ]
    others: Iterator[FusedHead]
    if resolver is None:
        others = chain.from_iterable(map(_by_cues, docs, waiting))
    else:
        others = _by_model(docs, waiting, resolver)
    return [
        [next(others) if answer is None else answer for answer in answers] for answers in found
    ]


def _anchor(
    one: UnresolvedHead,
    heads: tuple[Stored, ...] = (),
    cue: str | None = None,
    relation: Relation | None = None,
) -> FusedHead:
    return FusedHead(
        one.case.start,
        one.case.end,
        one.rule,
        heads,
        cue,
        relation=None if relation in (None, Relation.UNSTATED) else relation.value,
    )


# --- patterns -------------------------------------------------------------------------------


def _by_pattern(one: UnresolvedHead, recipe: str) -> FusedHead | None:
    case = one.case.case
    pattern = recipes.find(case.word_span.words, case.parsed, case.start, case.end)
    if pattern is None or not recipes.goes_first(pattern, recipe):
        return None
    heads: tuple[Stored, ...]
    if pattern.kind is Kind.REFERENCE:
        heads = tuple(one.case.tokens[head] for head in pattern.heads)
    else:
        heads = () if pattern.kind is None else (pattern.kind.value,)
    anchor = _anchor(one, heads, pattern.name, _relation(case, pattern))
    return replace(anchor, deterministic=True)


def _relation(case: SentenceNumber, pattern: Pattern) -> Relation | None:
    """Between the nouns of "three of the knives and forks"."""
    if len(pattern.heads) < 2:
        return None
    words = case.word_span.words[pattern.heads[0] : pattern.heads[-1]]
    return Relation.OR if any(word.lower() == "or" for word in words) else Relation.AND


# --- cues -----------------------------------------------------------------------------------


def _by_cues(doc: Doc, open_: Sequence[UnresolvedHead]) -> Iterator[FusedHead]:
    if not open_:
        return
    context, places, tokens = context_of_doc(doc)
    for one in open_:
        start, end = one.case.start, one.case.end
        found = cues.resolve(context, places[start], places[end - 1] + 1)
        head = found.kind.value if found.token is None else tokens[found.token]
        yield _anchor(one, (head,), found.cue)


# --- models ---------------------------------------------------------------------------------


def _by_model(
    docs: Sequence[Doc], open_: Sequence[Sequence[UnresolvedHead]], resolver: Resolver
) -> Iterator[FusedHead]:
    items: list[DocItem] = []
    for doc, of_doc in zip(docs, open_, strict=True):
        spans = [(one.case.start, one.case.end) for one in of_doc]
        items += items_of_doc(doc, spans, tagged=bool(resolver.needs))
    choices = resolver.resolve([one.item for one in items])
    for one, item, choice in zip(chain.from_iterable(open_), items, choices, strict=True):
        yield _anchor(one) if choice is None else _of_choice(one, item, choice, resolver.recipe)


def _of_choice(one: UnresolvedHead, item: DocItem, choice: Choice, recipe: str) -> FusedHead:
    answer = decode_heads(item.item, choice)
    heads: tuple[Stored, ...] = (answer.kind.value,)
    if answer.kind is Kind.REFERENCE:
        heads = tuple(item.tokens[head.mentions[0].head] for head in answer.heads)
    names: list[Stored] = [kind.value for kind in IMPLICIT_KINDS]
    scored = zip([*names, *item.tokens], choice.scores, strict=True)
    scores = {name: score for name, score in scored if score is not None}
    return replace(_anchor(one, heads, recipe, answer.relation), scores=scores)


FACTORY = "nfh"

ErrorHandler = Callable[[str, "NumericFusedHeads", list[Doc], Exception], object]


@Language.factory(
    FACTORY,
    default_config={"identifier": files.RULES, "resolver": files.CUES},
    assigns=assigned(),
    # What is required depends on the settings: `initialize` looks.
)
def make_component(
    nlp: Language,  # noqa: ARG001 - spaCy hands it to every factory
    name: str,
    identifier: str,
    resolver: str,
) -> "NumericFusedHeads":
    """The factory that `nlp.add_pipe("nfh", config={...})` calls.

    identifier: "rules", "small", "joint", or a model's folder. resolver: "cues", "small",
    "base", a model's folder, or "none" for identification alone. Raises
    IdentificationRecipeError for an empty setting.
    """
    return NumericFusedHeads(name, identifier=identifier, resolver=resolver)


class NumericFusedHeads:
    """The component. Its models are loaded when first used."""

    def __init__(
        self, name: str, *, identifier: str = files.RULES, resolver: str = files.CUES
    ) -> None:
        register()
        self.name = name
        self._settings = _checked(
            files.ComponentSettings(identifier=identifier, resolver=resolver)
        )
        self._kept = {files.IDENTIFIER: files.NOTHING, files.RESOLVER: files.NOTHING}
        self._loaded: files.LoadedModels | None = None
        self._on_error: ErrorHandler = _raise

    def __getstate__(self) -> dict[str, object]:
        """Without the models: a new process loads its own."""
        return self.__dict__ | {"_loaded": None}

    # --- what spaCy calls -------------------------------------------------------------------

    def __call__(self, doc: Doc) -> Doc:
        """Find and resolve the fused heads of a Doc.

        Raises ParserError for a Doc without the tags and arcs that are needed, ModelFileError
        or IdentificationRecipeError for a model that does not load.
        """
        for _ in self._done([doc]):
            pass
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The same for many Docs, decided a batch at a time.

        Raises ModelFileError or IdentificationRecipeError for a model that does not load; these
        errors are not passed to the error handler, since no Doc causes them.
        """
        self._models()
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            try:
                done = list(self._done(batch))
            except Exception:  # noqa: BLE001 - one by one, so that the right Doc is blamed
                done = list(self._one_by_one(batch))
            yield from done

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]] | None = None,  # noqa: ARG002
        *,
        nlp: Language | None = None,
    ) -> None:
        """Load the models, and check that the pipeline gives what they need.

        Raises IdentificationRecipeError or ModelFileError, as the first use would.
        """
        needs = self._needs()
        if nlp is None:
            return
        given = {what for name in nlp.pipe_names for what in nlp.get_pipe_meta(name).assigns}
        if ParseLayer.DEPENDENCY in needs and "token.dep" not in given:
            raise IdentificationRecipeError(
                f"the component {self.name!r} needs a parser before it in the pipeline, and "
                f"this one has {', '.join(nlp.pipe_names)}"
            )

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Handle Docs that fail in `pipe`; without a handler, it raises."""
        self._on_error = error_handler

    def get_error_handler(self) -> ErrorHandler:
        return self._on_error

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write settings and the models' files into a folder.

        exclude: "cfg", "identifier", "resolver".
        """
        files.write_state(Path(path), self._state(exclude))

    def from_disk(
        self, path: str | Path, *, exclude: Iterable[str] = ()
    ) -> "NumericFusedHeads":
        """Load what `to_disk` wrote. Raises ModelFileError for a damaged folder."""
        origins = {what: str(Path(path) / what) for what in self._kept}
        return self._take(files.read_state(Path(path)), exclude, origins)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Settings and the models' files as bytes. exclude: as in `to_disk`."""
        return files.encode(self._state(exclude))

    def from_bytes(self, content: bytes, *, exclude: Iterable[str] = ()) -> "NumericFusedHeads":
        """Load what `to_bytes` gave. Raises ModelFileError for damaged bytes."""
        origin = f"the model of the component {self.name!r}"
        return self._take(files.decode(content), exclude, dict.fromkeys(self._kept, origin))

    # --- the work ---------------------------------------------------------------------------

    def _done(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        models, needs = self._models(), self._needs()
        for doc in docs:
            check(doc, needs, self.name)
        found = [list(cases_of_doc(doc)) for doc in docs]
        cases = (one.case for of_doc in found for one in of_doc)
        decided = (decision for _, decision in decide(cases, models.identifier, None))
        open_ = [
            [
                UnresolvedHead(one, said.rule)
                for one, said in zip(of_doc, decided, strict=False)
                if said.nfh
            ]
            for of_doc in found
        ]
        anchors = resolved(docs, open_, self._settings.resolver, models.resolver)
        for doc, of_doc in zip(docs, anchors, strict=True):
            store(doc, of_doc)
            yield doc

    def _one_by_one(self, docs: Sequence[Doc]) -> Iterator[Doc]:
        for doc in docs:
            try:
                self(doc)
            except Exception as error:  # noqa: BLE001 - spaCy's own handler decides
                self._on_error(self.name, self, [doc], error)
            else:
                yield doc

    def _needs(self) -> frozenset[ParseLayer]:
        models = self._models()
        needs = models.identifier.needs
        if models.resolver is not None:
            return needs | models.resolver.needs
        return needs | {ParseLayer.POS} if self._settings.resolver == files.CUES else needs

    def _models(self) -> files.LoadedModels:
        if self._loaded is None or not self._loaded.same_process:
            kept = self._kept
            self._loaded = files.load(
                self.name, self._settings, kept[files.IDENTIFIER], kept[files.RESOLVER]
            )
        return self._loaded

    def _state(self, exclude: Iterable[str]) -> files.ComponentState:
        settings = self._settings
        identifier = self._files(files.IDENTIFIER, settings.identifier, files.IDENTIFIERS)
        resolver: files.Files = {}
        if settings.resolver != settings.identifier:  # a model that does both is kept once
            resolver = self._files(files.RESOLVER, settings.resolver, files.RESOLVERS)
        return files.ComponentState(settings, identifier, resolver).without(exclude)

    def _files(self, what: str, setting: str, recipes: Sequence[str]) -> files.Files:
        kept = self._kept[what].files
        if kept or setting in recipes:
            return kept
        return files.read_files(Path(setting))

    def _take(
        self, state: files.ComponentState, exclude: Iterable[str], origins: dict[str, str]
    ) -> "NumericFusedHeads":
        """origins: where the models' files come from, in words."""
        state = state.without(exclude)
        taken = {files.IDENTIFIER: state.identifier, files.RESOLVER: state.resolver}
        if state.cfg is not None:
            self._settings = _checked(state.cfg)
            self._kept = dict.fromkeys(self._kept, files.NOTHING)
            if self._settings.identifier in files.IDENTIFIERS:
                del taken[files.IDENTIFIER]
            if self._settings.resolver in files.RESOLVERS:
                del taken[files.RESOLVER]
        for what, found in taken.items():
            if found:
                self._kept[what] = files.BundledModel(found, origins[what])
        self._loaded = None
        return self


def _checked(settings: files.ComponentSettings) -> files.ComponentSettings:
    for what, setting, known in (
        ("identifier", settings.identifier, files.IDENTIFIERS),
        ("resolver", settings.resolver, files.RESOLVERS),
    ):
        if not setting:
            raise IdentificationRecipeError(
                f"the component nfh has an empty {what}: use {', '.join(known)}, or a "
                "model's folder"
            )
    return settings


def _raise(
    _name: str, _component: "NumericFusedHeads", _docs: list[Doc], error: Exception
) -> None:
    raise error
