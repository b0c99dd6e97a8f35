"""Recipe `linear`: a linear model over pairs of anchor and candidate (paper, appendix):
features, settings, fitting, training and files.

Candidates are the six classes and the tokens around the anchor. A class has the sum of the
weights of the anchor's features, which are its own; a token the sum of the weights of its
features as a head. A softmax over all candidates makes probabilities of the scores. A weight
for tokens as such needs no place: it is what all classes have too little.

Choosing needs numpy and no other framework.
"""

import hashlib
import json
import random
from array import array
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, Passage, paper_class
from nfh_models.errors import ModelsError
from nfh_models.model_files import (
    FORMAT_VERSION,
    SEED,
    VOCABULARY,
    WEIGHTS,
    ModelConfig,
    ModelFiles,
    damaged,
    read_arrays,
    read_config,
    read_settings,
    read_vocabulary,
    write_model,
)
from nfh_models.model_files import settings_of as stored_settings
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution import cues
from nfh_models.resolution.base import (
    Choice,
    Item,
    ResolutionExample,
    batches_of,
    check_layers,
    parse_items,
    parse_of,
)
from nfh_models.resolution.cues import CUES, CueContext, CueNumber, turns_of
from nfh_models.resolution.recipes import LINEAR, TASK

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from nfh_models.model_files import Array


class FeatureGroup(StrEnum):
    """A group of features: the paper's five (table 8 and section 6.3), and four of our own."""

    LABELS = "labels"
    STRUCTURE = "structure"
    MATCH = "match"
    OTHER = "other"
    CLOSEST = "closest"
    PLACE = "place"
    NOUN = "noun"
    CUES = "cues"
    WORDS = "words"


PAPER = (
    FeatureGroup.LABELS,
    FeatureGroup.STRUCTURE,
    FeatureGroup.MATCH,
    FeatureGroup.OTHER,
    FeatureGroup.CLOSEST,
)
OWN = (FeatureGroup.PLACE, FeatureGroup.NOUN, FeatureGroup.CUES, FeatureGroup.WORDS)


@dataclass(frozen=True, slots=True)
class LinearFeatures:
    """Which groups, at least one, in the order of FeatureGroup; and whether they are crossed.

    crossed: features of the anchor have a weight for each class. Without it a feature is told
    once for the pair; then features of the anchor are the same for all of its candidates, so
    that they cannot tell them apart, and are left out.
    """

    groups: tuple[FeatureGroup, ...] = tuple(FeatureGroup)
    crossed: bool = True

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("no feature is left to choose by")


REACH = 200
"""Tokens on either side of the anchor that are candidates. The farthest head that the
releases mark is 151 tokens away."""

SENTENCE_ENDS = frozenset(".!?\u2026")


@dataclass(frozen=True)
class TokenView:
    """Tokens [first, first + len(words)) of a passage, as lists with an entry each."""

    first: int
    words: Sequence[str]
    lemmas: Sequence[str]
    """`words` and `lemmas`: in lower case."""
    pos: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int | None]
    """Places in the view; None for a token that hangs on nothing, or on one outside."""
    relations: Sequence[str]
    """`pos`, `tags` and `relations`: the parser's."""
    turns: Sequence[int]
    """Ranks of turns."""
    speakers: Sequence[str | None]
    start: int
    end: int
    """`start` and `end`: the anchor's places in the view."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def place(self) -> CueNumber:
        """The same for the cues."""
        return CueNumber(CueContext(self.words, self.pos, self.turns), self.start, self.end)

    @cached_property
    def candidates(self) -> list[int]:
        """The places of the tokens that may be the head: all but the anchor's."""
        return [*range(self.start), *range(self.end, len(self))]

    @cached_property
    def top(self) -> int:
        """The anchor's token that hangs on nothing inside the anchor."""
        for at in range(self.end - 1, self.start - 1, -1):
            head = self.heads[at]
            if head is None or not self.start <= head < self.end:
                return at
        return self.end - 1

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """What hangs on each place, in order."""
        found: dict[int, list[int]] = {}
        for at, head in enumerate(self.heads):
            if head is not None:
                found.setdefault(head, []).append(at)
        return found

    @cached_property
    def sentence(self) -> tuple[int, int]:
        """The places [begin, end) of the anchor's sentence, in its turn; its mark included."""
        begin, end = self.start, self.end
        while begin and self._joined(begin - 1, begin):
            begin -= 1
        while end < len(self) and self._joined(end - 1, end):
            end += 1
        return begin, end

    def _joined(self, left: int, right: int) -> bool:
        same = self.turns[left] == self.turns[right]
        return same and self.words[left] not in SENTENCE_ENDS

    def speaker(self, place: int) -> str | None:
        """Who says the token at a place; None where nobody is named."""
        return self.speakers[self.turns[place] - self.turns[0]]


def view_of(item: Item) -> TokenView:
    """The tokens within REACH of the anchor that the item's parse holds.

    Raises ValueError for an item without parts of speech and dependencies.
    """
    parsed, shift = parse_of(item, dependency=True), item.parsed_from
    passage, anchor = item.passage, item.anchor
    first = max(shift, anchor.start - REACH)
    last = min(shift + len(parsed.words), anchor.end + REACH)
    own = slice(first - shift, last - shift)
    turns = turns_of(passage, first, last - first)
    return TokenView(
        first=first,
        words=[passage.word(at).lower() for at in range(first, last)],
        lemmas=[passage.tokens[at].lemma.lower() for at in range(first, last)],
        pos=parsed.pos[own],
        tags=(parsed.tags or parsed.pos)[own],
        heads=_heads(parsed.heads[own], own.start, last - first),
        relations=parsed.relations[own],
        turns=turns,
        speakers=[passage.turns[rank].speaker for rank in range(turns[0], turns[-1] + 1)],
        start=anchor.start - first,
        end=anchor.end - first,
    )


def _heads(heads: Sequence[int], start: int, size: int) -> list[int | None]:
    moved = [head - start for head in heads]
    return [head if head != at and 0 <= head < size else None for at, head in enumerate(moved)]


# Features of `linear` that describe the anchor; their weights are one for each class.
#
# A feature is a string, "labels:lemma-1=be": its group, what it is and where, its value.
# Labels, structure, match and other are those of the paper's table 8. It took entities and
# expressions of money and time from a recogniser; here a name is a proper noun, and the
# expressions are words of `cues`.

WINDOW = 2
NOTHING = "-"
"""Stands for the word beyond the ends of the turn, and for the head of a root."""

LENGTHS = (5, 10)
MAGNITUDES = (1, 10, 100, 1600, 2100)
BEFORE, BEHIND = 10, 5
"""Words on either side that `words` takes as a bag."""

_TIMES = cues.CLOCK | cues.HOURS | cues.DAY_PARTS


def anchor_features(view: TokenView, groups: tuple[FeatureGroup, ...]) -> list[str]:
    """The features of an anchor, each once."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in ANCHOR_FEATURES
        for feature in ANCHOR_FEATURES[group](view)
    )
    return list(dict.fromkeys(found))


def number_kind(view: TokenView) -> str:
    """What the anchor looks like: "one", "letters" or "digits"."""
    if view.place.is_one:
        return "one"
    return "digits" if any(c.isdigit() for c in view.words[view.start]) else "letters"


def magnitude(view: TokenView) -> str:
    """The least of MAGNITUDES that the anchor's value is below; "more", or "none"."""
    value = view.place.value
    if value is None:
        return "none"
    return next((f"<{bound}" for bound in MAGNITUDES if value < bound), "more")


def around(view: TokenView, start: int, end: int) -> Iterator[tuple[str, int | None]]:
    """Places up to WINDOW before and behind a span, named by their distance; None beyond the
    ends of its turn."""
    turn = view.turns[start]
    for step in range(1, WINDOW + 1):
        for name, at in ((f"-{step}", start - step), (f"+{step}", end - 1 + step)):
            inside = 0 <= at < len(view) and view.turns[at] == turn
            yield name, at if inside else None


# --- the paper's ----------------------------------------------------------------------------


def _anchor_labels(view: TokenView) -> Iterator[str]:
    yield f"lemma={' '.join(view.lemmas[view.start : view.end])}"
    for name, at in around(view, view.start, view.end):
        yield f"lemma{name}={NOTHING if at is None else view.lemmas[at]}"
        yield f"pos{name}={NOTHING if at is None else view.pos[at]}"
    yield f"relation={view.relations[view.top]}"
    head = view.heads[view.top]
    yield f"head-pos={NOTHING if head is None else view.pos[head]}"
    yield f"head-lemma={NOTHING if head is None else view.lemmas[head]}"
    if head is not None:
        children = view.children[head]
        yield f"head-leftmost={view.lemmas[children[0]]}"
        yield from (f"head-child={view.lemmas[at]}" for at in children if at != view.top)


def _structure(view: TokenView) -> Iterator[str]:
    if "?" in view.words[: view.start]:
        yield "question-before"
    if "?" in view.words[view.end :]:
        yield "question-behind"
    begin, end = view.sentence
    yield f"sentence-length={_bin(end - begin)}"
    yield f"span-length={min(view.end - view.start, 3)}"
    span = "".join(view.words[view.start : view.end])
    if "-" in span:
        yield "hyphen"
    if "/" in span:
        yield "slash"
    before, after = view.place.before(), view.place.after()
    if before in cues.APOSTROPHES or span[0] in cues.APOSTROPHES:
        yield "apostrophe-before"
    if after[:1] in cues.APOSTROPHES:
        yield "apostrophe-behind"
    if after in ("'s", "\u2019s"):
        yield "s-behind"
    if not any(word[0].isalnum() for word in view.words[view.end : end]):
        yield "ends-sentence"


def _bin(length: int) -> str:
    return next((f"<{bound}" for bound in LENGTHS if length < bound), "more")


def _match(view: TokenView) -> Iterator[str]:
    if not cues.MONEY.isdisjoint(view.words):
        yield "money"
    if not _TIMES.isdisjoint(view.words):
        yield "time"
    if "PROPN" in view.pos[view.sentence[0] : view.start]:
        yield "name-before"


def _other(view: TokenView) -> Iterator[str]:
    yield f"magnitude={magnitude(view)}"
    first = view.words[view.start]
    yield "digits" if any(c.isdigit() for c in first) else "letters"


# --- our own --------------------------------------------------------------------------------


def _anchor_cues(view: TokenView) -> Iterator[str]:
    holding = [cue.name for cue in CUES if cue.test(view.place)]
    if holding:
        yield f"first={holding[0]}"
    yield from holding


def _words(view: TokenView) -> Iterator[str]:
    shape = number_kind(view) if view.place.is_one else magnitude(view)
    place = view.place
    yield f"shape={shape}"
    yield f"shape-1={shape} {place.before() or NOTHING}"
    yield f"shape+1={shape} {place.after() or NOTHING}"
    yield f"between={place.before() or NOTHING} {place.after() or NOTHING}"
    yield f"two-before={place.before(2) or NOTHING} {place.before() or NOTHING}"
    for lemma in view.lemmas[max(0, view.start - BEFORE) : view.start]:
        yield f"before={lemma}"
    for lemma in view.lemmas[view.end : view.end + BEHIND]:
        yield f"behind={lemma}"
    turn = view.turns[view.start]
    for at in range(view.start - 1, -1, -1):
        if view.turns[at] < turn - 1:
            break
        if view.turns[at] == turn - 1:
            yield f"turn-before={view.lemmas[at]}"


ANCHOR_FEATURES: dict[FeatureGroup, Callable[[TokenView], Iterator[str]]] = {
    FeatureGroup.LABELS: _anchor_labels,
    FeatureGroup.STRUCTURE: _structure,
    FeatureGroup.MATCH: _match,
    FeatureGroup.OTHER: _other,
    FeatureGroup.CUES: _anchor_cues,
    FeatureGroup.WORDS: _words,
}
"""The groups that say something of the anchor."""


NEAREST = 5
"""Ranks of nouns that are told apart."""

DISTANCES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
TURNS = 3

NOUNS = frozenset({"NOUN", "PROPN"})
_PLURALS = frozenset({"NNS", "NNPS"})
_PLURAL_DETERMINERS = frozenset({"these", "those", "many", "some", "few", "several", "all"})


@dataclass(frozen=True)
class Setting:
    """What all tokens of a view share: told once an anchor."""

    view: TokenView

    @cached_property
    def kind(self) -> str:
        """See `number_kind`."""
        return number_kind(self.view)

    @cached_property
    def lemma(self) -> str:
        """The anchor's lemmas."""
        return " ".join(self.view.lemmas[self.view.start : self.view.end])

    @cached_property
    def ranks(self) -> dict[int, int]:
        """Nouns by nearness on their side: -1 the closest before the anchor, 1 behind."""
        view = self.view
        nouns = [at for at in view.candidates if view.pos[at] == "NOUN"]
        before = sum(at < view.start for at in nouns)
        ranks = (rank if rank < 0 else rank + 1 for rank in range(-before, len(nouns) - before))
        return dict(zip(nouns, ranks, strict=True))

    @cached_property
    def closest(self) -> int | None:
        """The noun with the fewest tokens between it and the anchor; None without nouns."""
        view = self.view
        return min(
            self.ranks, key=lambda at: max(view.start - at, at - view.end + 1), default=None
        )

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often each lemma stands in the view."""
        return Counter(self.view.lemmas)

    @cached_property
    def best(self) -> int | None:
        """The noun that `cues` would take."""
        return cues.best(self.view.place)

    @cached_property
    def shared(self) -> int | None:
        """The noun of "2 or 3 apples" for the 2."""
        return cues.shared_noun(self.view.place)


Tell = Callable[[Setting, int], Iterator[str]]


def candidate_features(
    setting: Setting, at: int, groups: tuple[FeatureGroup, ...]
) -> list[str]:
    """The features of the token at a place of the view, each once."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in CANDIDATE_FEATURES
        for feature in CANDIDATE_FEATURES[group](setting, at)
    )
    return list(dict.fromkeys(found))


# --- the paper's ----------------------------------------------------------------------------


def _candidate_labels(setting: Setting, at: int) -> Iterator[str]:
    view = setting.view
    yield f"lemma={view.lemmas[at]}"
    yield f"pos={view.pos[at]}"
    for name, near in around(view, at, at + 1):
        yield f"lemma{name}={NOTHING if near is None else view.lemmas[near]}"
        yield f"pos{name}={NOTHING if near is None else view.pos[near]}"
    yield f"relation={view.relations[at]}"
    head = view.heads[at]
    yield f"head-lemma={NOTHING if head is None else view.lemmas[head]}"
    yield f"head-pos={NOTHING if head is None else view.pos[head]}"


def _closest(setting: Setting, at: int) -> Iterator[str]:
    if at == setting.closest:
        yield "closest-noun"


# --- our own --------------------------------------------------------------------------------


def _place(setting: Setting, at: int) -> Iterator[str]:
    view, kind, pos = setting.view, setting.kind, setting.view.pos[at]
    away = view.start - at if at < view.start else view.end - 1 - at
    side = "before" if away > 0 else "behind"
    turns = max(-TURNS, min(TURNS, view.turns[at] - view.turns[view.start]))
    yield f"side={side} {pos}"
    yield f"distance={side} {_distance(abs(away))}"
    yield f"turns={turns} {pos in NOUNS}"
    begin, end = view.sentence
    yield f"sentence={begin <= at < end} {side} {pos in NOUNS}"
    if view.speaker(at) != view.speaker(view.start):
        yield f"other-speaker={pos in NOUNS}"
    rank = setting.ranks.get(at)
    if rank is not None:
        shown = max(-NEAREST, min(NEAREST, rank))
        yield f"rank={shown}"
        yield f"rank={shown} {kind}"
        yield f"rank={shown} turns={turns}"


def _distance(away: int) -> str:
    return next((f"<={bound}" for bound in DISTANCES if away <= bound), "more")


def _noun(setting: Setting, at: int) -> Iterator[str]:
    view = setting.view
    pos = view.pos[at]
    yield f"anchor+lemma={setting.lemma} {view.lemmas[at]}"
    if pos not in NOUNS:
        yield f"kind+pos={setting.kind} {pos}"
        return
    plural = view.tags[at] in _PLURALS
    yield f"plural={plural} {setting.kind}"
    if view.place.before() in _PLURAL_DETERMINERS:
        yield f"plural={plural} after-these"
    yield f"mentions={min(setting.mentions[view.lemmas[at]], 4)}"
    yield f"opened={_opened(view, at)} {setting.kind}"
    yield f"relation={view.relations[at]} {view.relations[view.top]}"
    yield from _verbs(view, at)
    if any(view.relations[child] == "nummod" for child in view.children.get(at, ())):
        yield f"counted={setting.kind}"
    if view.words[at] in cues.SELDOM_COUNTED:
        yield "seldom"
    if at + 1 < len(view) and view.pos[at + 1] in NOUNS:
        yield "in-compound"


def _opened(view: TokenView, at: int) -> str:
    """What opens the phrase of a noun: the word, where it is a small one, else its tag."""
    left = at - 1
    while left > max(0, at - 4) and view.pos[left] in ("ADJ", "NOUN", "PROPN", "ADV"):
        left -= 1
    if left < 0 or view.turns[left] != view.turns[at]:
        return NOTHING
    return view.words[left] if view.pos[left] in ("DET", "PRON", "ADP") else view.pos[left]


def _verbs(view: TokenView, at: int) -> Iterator[str]:
    """How what the noun hangs on goes with what the anchor hangs on."""
    own, other = view.heads[at], view.heads[view.top]
    if own is None or other is None:
        return
    if own == other:
        yield f"same-head {view.relations[at]} {view.relations[view.top]}"
    elif view.lemmas[own] == view.lemmas[other]:
        yield f"same-verb {view.pos[own]}"
    if own == view.top:
        yield f"on-anchor {view.relations[at]}"


def _candidate_cues(setting: Setting, at: int) -> Iterator[str]:
    if at == setting.best:
        yield "best"
        yield f"best {setting.kind}"
    if at == setting.shared:
        yield "shared"
    rank = setting.ranks.get(at)
    if rank is not None and -8 <= rank < 0:
        worth = cues.worth(setting.view.place, at, -rank - 1)
        yield f"worth={round(worth * 10) / 10}"


CANDIDATE_FEATURES: dict[FeatureGroup, Tell] = {
    FeatureGroup.LABELS: _candidate_labels,
    FeatureGroup.CLOSEST: _closest,
    FeatureGroup.PLACE: _place,
    FeatureGroup.NOUN: _noun,
    FeatureGroup.CUES: _candidate_cues,
}
"""The groups that say something of a token."""


VERSION = "linear/1"
"""Changes when the same model would choose otherwise."""

NEEDS = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

BIAS = "bias"
"""The feature that every anchor has."""

CLASSES = len(IMPLICIT_KINDS)

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinearSettings:
    """How a linear model is made.

    c: the weight of errors against the size of the weights. seed: of the folds; the fitting
    itself leaves nothing to chance.
    """

    features: LinearFeatures = field(default_factory=LinearFeatures)
    c: float = 0.1
    seed: int = 1


@dataclass(frozen=True, slots=True)
class ItemFeatures:
    """The features of one item: of the anchor, and of each candidate token of its view."""

    view: TokenView
    anchor: Sequence[str]
    tokens: Sequence[Sequence[str]]


def tell(item: Item, features: LinearFeatures) -> ItemFeatures:
    """All features of an item. ValueError for one without the parse that it needs."""
    view = view_of(item)
    setting = Setting(view)
    own = anchor_features(view, features.groups) if features.crossed else []
    tokens = [candidate_features(setting, at, features.groups) for at in view.candidates]
    return ItemFeatures(view, [BIAS, *own], tokens)


@dataclass(frozen=True, slots=True)
class LinearWeights:
    """What was learnt."""

    anchors: tuple[str, ...]
    tokens: tuple[str, ...]
    """`anchors` and `tokens`: features, no two of a list alike."""
    classes: Floats
    """[anchor features, 6], in the order of IMPLICIT_KINDS."""
    heads: Floats
    """[token features]."""

    def __post_init__(self) -> None:
        if self.classes.shape != (len(self.anchors), CLASSES):
            raise ValueError(f"{len(self.anchors)} features, weights {self.classes.shape}")
        if self.heads.shape != (len(self.tokens),):
            raise ValueError(f"{len(self.tokens)} features, weights {self.heads.shape}")


class Linear:
    """A fitted model, ready to choose.

    parser: the name of the one that parsed what it was fitted on; another may tag otherwise.
    """

    recipe = LINEAR
    needs = NEEDS
    probabilities = True

    def __init__(
        self, settings: LinearSettings, weights: LinearWeights, parser: str | None = None
    ) -> None:
        self.settings = settings
        self.weights = weights
        self.parser = parser
        self.version = f"{VERSION} {self._fingerprint()}"
        self._anchors = {name: place for place, name in enumerate(weights.anchors)}
        self._tokens = {name: place for place, name in enumerate(weights.tokens)}

    def _fingerprint(self) -> str:
        """Twelve hexadecimal digits of what choices depend on."""
        features, weights = self.settings.features, self.weights
        said = [features.groups, features.crossed, weights.anchors, weights.tokens]
        hashed = hashlib.sha256(json.dumps(said, separators=(",", ":")).encode("ascii"))
        hashed.update(np.ascontiguousarray(weights.classes, "<f8").tobytes())
        hashed.update(np.ascontiguousarray(weights.heads, "<f8").tobytes())
        return hashed.hexdigest()[:12]

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        """A choice an item. ValueError for one without parts of speech and dependencies."""
        return [self._resolve(item) for item in items]

    def _resolve(self, item: Item) -> Choice:
        told = tell(item, self.settings.features)
        probabilities = softmax(self.score(told))
        return decide(told.view, probabilities, len(item.passage.tokens))

    def score(self, told: ItemFeatures) -> Floats:
        """The scores of the six classes, then of the candidate tokens, in their order."""
        own = list(_known(told.anchor, self._anchors))
        classes = self.weights.classes[own].sum(axis=0)
        places: list[int] = []
        rows: list[int] = []
        for row, names in enumerate(told.tokens):
            found = list(_known(names, self._tokens))
            places += found
            rows += [row] * len(found)
        chosen = self.weights.heads[places] if places else np.zeros(0)
        heads = (
            np.bincount(rows, chosen, len(told.tokens)) if rows else np.zeros(len(told.tokens))
        )
        return np.concatenate([classes, heads])


def _known(names: Iterable[str], places: Mapping[str, int]) -> Iterable[int]:
    return (places[name] for name in names if name in places)


def softmax(scores: Floats) -> Floats:
    """Probabilities in the proportions of the scores' exponentials."""
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float64)


def decide(view: TokenView, probabilities: Floats, tokens: int) -> Choice:
    """The likeliest candidate, the second, and the probabilities of all.

    probabilities: of the classes, then of the view's candidates. tokens: of the passage. Of
    equals the first wins: classes in their order, then tokens in theirs.
    """
    values = probabilities.tolist()
    laid_out: list[float | None] = [None] * (CLASSES + tokens)
    laid_out[:CLASSES] = values[:CLASSES]
    for at, value in zip(view.candidates, values[CLASSES:], strict=True):
        laid_out[CLASSES + view.first + at] = value
    best, second = np.argsort(-probabilities, kind="stable")[:2].tolist()
    return Choice(
        _name(view, best), _name(view, second), values[best] - values[second], tuple(laid_out)
    )


def _name(view: TokenView, place: int) -> str:
    if place < CLASSES:
        return IMPLICIT_KINDS[place].value
    return str(view.first + view.candidates[place - CLASSES])


LARGEST_C = 1e6
MOST_FOLDS = 50

SHORTHAND = {"paper": PAPER, "all": tuple(FeatureGroup)}
"""Names for several groups."""


class StoredLinearSettings(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """The settings as config.json holds them."""

    features: Annotated[tuple[FeatureGroup, ...], msgspec.Meta(min_length=1)]
    crossed: bool
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)]

    def __post_init__(self) -> None:
        if list(self.features) != [group for group in FeatureGroup if group in self.features]:
            raise ValueError("a group of features is named twice, or out of order")

    @classmethod
    def of(cls, settings: LinearSettings) -> "StoredLinearSettings":
        """As it is to be stored."""
        features = settings.features
        return cls(
            features=features.groups,
            crossed=features.crossed,
            c=settings.c,
            seed=settings.seed,
        )

    def settings(self) -> LinearSettings:
        """As the model takes them."""
        return LinearSettings(LinearFeatures(self.features, self.crossed), self.c, self.seed)


@dataclass(frozen=True, slots=True)
class LinearPlan:
    """How to train: the settings, and in how many folds to try them before; 0 for none."""

    settings: LinearSettings = field(default_factory=LinearSettings)
    folds: int = 5


class _Given(StoredLinearSettings, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The settings and the folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=0, le=MOST_FOLDS)]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise ValueError("one fold is none")


WANTED = {
    "features": f"one or more of {', '.join(FeatureGroup)}, joined by commas; or paper, or all",
    "crossed": "true or false: has each class weights of its own?",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}, or 0 for no trial",
}
"""Each setting with what it may be."""


def settings_of(given: Iterable[str]) -> LinearPlan:
    """A plan out of "key=value" words; what they leave out is as by default.

    Raises SettingError for a word that is none, or a value that its key cannot have.
    """
    defaults = msgspec.to_builtins(StoredLinearSettings.of(LinearSettings())) | {
        "folds": LinearPlan().folds
    }
    made = read_settings(given, _Given, "linear", WANTED, defaults, _value)
    return LinearPlan(made.settings(), made.folds)


def _value(key: str, value: str) -> object:
    return _groups(value) if key == "features" else value


def _groups(value: str) -> list[str]:
    """The groups that are named, each once, in the order of FeatureGroup; unknown names
    behind.
    """
    named: dict[str, None] = {}
    for part in value.split(","):
        name = part.strip()
        named.update(dict.fromkeys(SHORTHAND.get(name, (name,))))
    known = [group.value for group in FeatureGroup]
    return sorted(named, key=lambda name: known.index(name) if name in known else len(known))


ARRAYS = {"classes": "float64", "heads": "float64"}
"""classes: [anchor features, 6]. heads: one a token feature. The vocabulary has the names of
the former, then those of the latter."""

OF_ANCHOR = "anchor "
OF_TOKEN = "token "  # noqa: S105 # no password: the kind of token that text has
"""What stands before a feature's name in the vocabulary."""


def save_linear(
    model: Linear,
    folder: Path,
    *,
    name: str | None = None,
    created_at: str = "",
    metrics: Mapping[str, object] | None = None,
    card: str = "",
) -> str:
    """Write a model as a model directory; its digest. name: the folder's by default.

    Raises FolderTakenError where something is there already, OSError.
    """
    config = ModelConfig(
        format_version=FORMAT_VERSION,
        name=name or folder.name,
        task=TASK,
        recipe=LINEAR,
        version=model.version,
        created_at=created_at,
        parser=model.parser,
        settings=msgspec.to_builtins(StoredLinearSettings.of(model.settings)),
    )
    weights = model.weights
    arrays = {"classes": weights.classes, "heads": weights.heads}
    vocabulary = [
        *(OF_ANCHOR + feature for feature in weights.anchors),
        *(OF_TOKEN + feature for feature in weights.tokens),
    ]
    return write_model(folder, ModelFiles(config, arrays, vocabulary, metrics or {}, card))


def load_linear(folder: Path) -> Linear:
    """A model out of its directory, without scikit-learn. Raises ModelFileError."""
    config = read_config(folder, LINEAR)
    stored = stored_settings(folder, config, StoredLinearSettings)
    vocabulary = read_vocabulary(folder)
    arrays = read_arrays(folder, ARRAYS)
    anchors = [word for word in vocabulary if word.startswith(OF_ANCHOR)]
    tokens = [word for word in vocabulary if word.startswith(OF_TOKEN)]
    if vocabulary != anchors + tokens:
        raise damaged(
            folder / VOCABULARY, "wanted the anchor's features, then those of the tokens"
        )
    _check_shape(folder, "classes", arrays["classes"], (len(anchors), CLASSES))
    _check_shape(folder, "heads", arrays["heads"], (len(tokens),))
    weights = LinearWeights(
        tuple(word.removeprefix(OF_ANCHOR) for word in anchors),
        tuple(word.removeprefix(OF_TOKEN) for word in tokens),
        arrays["classes"].astype(np.float64, copy=False),
        arrays["heads"].astype(np.float64, copy=False),
    )
    return Linear(stored.settings(), weights, config.parser)


def _check_shape(folder: Path, name: str, array: "Array", wanted: tuple[int, ...]) -> None:
    if array.shape != wanted:
        raise damaged(
            folder / WEIGHTS,
            f"{name} has the shape {array.shape}, {VOCABULARY} wants {wanted}",
        )
    with np.errstate(over="ignore"):
        largest = np.abs(array.astype(np.float64)).sum()
    if not np.isfinite(largest):
        raise damaged(folder / WEIGHTS, f"the weights of {name} are too large to be summed")


# Examples as sparse matrices, for the fitting of `linear`.
#
# Features are numbered as they come, so that no string is held twice; memory grows with the
# number of features that all candidates have together, eight bytes each.

LEAST = 2
"""Examples that a feature must be told of: what stands in one only is learnt by heart."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class LinearTable:
    """Examples with their features and answers."""

    settings: LinearSettings
    anchor_names: tuple[str, ...]
    token_names: tuple[str, ...]
    anchors: "csr_matrix"
    """A row an example, a column an anchor feature."""
    tokens: "csr_matrix"
    """A row a candidate token of all examples in order, a column a token feature."""
    example_of: Places
    """The example of each such row."""
    right_classes: Flags
    """[examples, 6]."""
    right_tokens: Flags
    """One a row of tokens."""

    def __len__(self) -> int:
        return len(self.right_classes)

    def part(self, chosen: Places) -> "LinearTable":
        """The chosen examples alone, with all columns. chosen: ascending, each once."""
        kept = np.isin(self.example_of, chosen)
        return LinearTable(
            self.settings,
            self.anchor_names,
            self.token_names,
            self.anchors[chosen],
            self.tokens[kept],
            np.searchsorted(chosen, self.example_of[kept]),
            self.right_classes[chosen],
            self.right_tokens[kept],
        )


class _Matrix:
    """Rows of named features that grow one by one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._indices = array("i")
        self._starts = array("q", [0])

    def add(self, names: Sequence[str]) -> None:
        places = self._places
        self._indices.extend([places.setdefault(name, len(places)) for name in names])
        self._starts.append(len(self._indices))

    def frozen(self, example_of: Places, examples: int) -> "tuple[tuple[str, ...], csr_matrix]":
        """The names of the features told of LEAST examples or more, and the matrix of ones.

        example_of: the example of each row.
        """
        from scipy.sparse import csr_matrix

        starts = np.array(self._starts, np.int64)
        indices = np.array(self._indices, np.int64)
        owners = np.repeat(example_of, np.diff(starts))
        pairs = np.unique(indices * max(1, examples) + owners)
        told = np.bincount(pairs // max(1, examples), minlength=len(self._places))
        kept = told >= min(LEAST, examples)
        shape = (len(starts) - 1, len(self._places))
        matrix = csr_matrix((np.ones(len(indices)), indices, starts), shape)
        names = tuple(name for name, keep in zip(self._places, kept, strict=True) if keep)
        return names, matrix[:, np.flatnonzero(kept)]


class Collector:
    """Tells the features of parsed examples, one after the other."""

    def __init__(self, settings: LinearSettings) -> None:
        self._settings = settings
        self._anchors = _Matrix()
        self._tokens = _Matrix()
        self._sizes: list[int] = []
        self._classes: list[list[bool]] = []
        self._heads = array("b")

    def add(self, item: Item, gold: Answer) -> bool:
        """Take an example in; False where none of its candidates is right.

        ValueError for an item without the parse that it needs.
        """
        told = tell(item, self._settings.features)
        classes = [kind is paper_class(gold.kind) for kind in IMPLICIT_KINDS]
        heads = right_tokens(told.view, gold, item.passage)
        if not any(classes) and not any(heads):
            return False
        self._take(told)
        self._classes.append(classes)
        self._heads.extend(heads)
        return True

    def _take(self, told: ItemFeatures) -> None:
        self._anchors.add(told.anchor)
        for names in told.tokens:
            self._tokens.add(names)
        self._sizes.append(len(told.tokens))

    def table(self) -> LinearTable:
        """All that was taken in."""
        count = len(self._sizes)
        own = np.arange(count)
        example_of = np.repeat(own, self._sizes)
        anchor_names, anchors = self._anchors.frozen(own, count)
        token_names, tokens = self._tokens.frozen(example_of, count)
        return LinearTable(
            self._settings,
            anchor_names,
            token_names,
            anchors,
            tokens,
            example_of,
            np.array(self._classes, np.bool_).reshape(count, CLASSES),
            np.array(self._heads, np.bool_),
        )


def right_tokens(view: TokenView, gold: Answer, passage: Passage) -> list[bool]:
    """Whether each candidate is right: it has the lemma of a head token, or is one."""
    if gold.kind is not Kind.REFERENCE:
        return [False] * len(view.candidates)
    heads = set(gold.head_tokens())
    lemmas = {passage.tokens[head].lemma.lower() for head in heads}
    return [view.first + at in heads or view.lemmas[at] in lemmas for at in view.candidates]


# The fitting of `linear`: conditional likelihood, found by L-BFGS.
#
# The loss of an example is -log of the summed probability of its right candidates; to the sum
# over the examples comes half the squared weights, divided by C. L-BFGS is as in Nocedal and
# Wright, Numerical Optimization (2006), algorithm 7.5, with steps halved until the loss falls
# enough (Armijo's rule).

ITERATIONS = 150
REMEMBERED = 10
FLAT = 1e-5
"""The largest slope, in units of the mean loss, that counts as the bottom."""

ARMIJO = 1e-4
HALVINGS = 20

Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights, the mean loss there, and whether the bottom was reached before the last step."""

    weights: LinearWeights
    loss: float
    converged: bool


def fitting(table: LinearTable) -> Generator[tuple[int, float], None, Fitted]:
    """Weights for a table; after each step its number and the mean loss.

    The same table gives the same weights. ValueError for a table without examples.
    """
    if not len(table):
        raise ValueError("no example to fit to")
    sizes = (len(table.anchor_names) * CLASSES, len(table.token_names))
    found, loss, converged = yield from minimise(objective_of(table), np.zeros(sum(sizes)))
    classes = found[: sizes[0]].reshape(-1, CLASSES)
    weights = LinearWeights(table.anchor_names, table.token_names, classes, found[sizes[0] :])
    return Fitted(weights, loss, converged)


def objective_of(table: LinearTable) -> Objective:
    """The mean loss and its gradient as a function of all weights in a row: those of the
    classes, then those of the tokens."""
    border = len(table.anchor_names) * CLASSES
    strength = 1.0 / (table.settings.c * len(table))
    turned_anchors, turned_tokens = table.anchors.T.tocsr(), table.tokens.T.tocsr()

    def objective(point: Floats) -> tuple[float, Floats]:
        classes = table.anchors @ point[:border].reshape(-1, CLASSES)
        heads = table.tokens @ point[border:]
        loss, class_slopes, head_slopes = losses(table, classes, heads)
        slopes = np.concatenate(
            [(turned_anchors @ class_slopes).ravel(), turned_tokens @ head_slopes]
        )
        size = strength * float(point @ point) / 2
        return loss + size, slopes + strength * point

    return objective


def losses(table: LinearTable, classes: Floats, heads: Floats) -> tuple[float, Floats, Floats]:
    """The mean loss of scores, and its slope by each of them.

    classes: [examples, 6]. heads: one a row of the table's tokens.
    """
    count, owner = len(table), table.example_of
    highest = classes.max(axis=1)
    np.maximum.at(highest, owner, heads)
    class_powers = np.exp(classes - highest[:, None])
    head_powers = np.exp(heads - highest[owner])
    all_of = class_powers.sum(axis=1) + np.bincount(owner, head_powers, count)
    right_class = class_powers * table.right_classes
    right_head = head_powers * table.right_tokens
    right = right_class.sum(axis=1) + np.bincount(owner, right_head, count)
    right = np.maximum(right, np.finfo(np.float64).tiny)
    loss = float(np.mean(np.log(all_of) - np.log(right)))
    class_slopes = class_powers / all_of[:, None] - right_class / right[:, None]
    head_slopes = head_powers / all_of[owner] - right_head / right[owner]
    return loss, class_slopes / count, head_slopes / count


def minimise(
    objective: Objective, start: Floats
) -> Generator[tuple[int, float], None, tuple[Floats, float, bool]]:
    """The lowest point of a smooth function by L-BFGS, its value, whether it is the bottom."""
    point = start
    value, slope = objective(point)
    steps: deque[tuple[Floats, Floats]] = deque(maxlen=REMEMBERED)
    for iteration in range(1, ITERATIONS + 1):
        if np.abs(slope).max(initial=0.0) <= FLAT:
            return point, value, True
        direction = _direction(slope, steps)
        first = 1.0 if steps else 1.0 / max(1.0, float(np.linalg.norm(slope)))
        found = _step(objective, point, value, float(slope @ direction), direction, first)
        if found is None:  # no step falls any more: as low as rounding lets it come
            return point, value, True
        moved, lower, turned = found
        if float((moved - point) @ (turned - slope)) > 0:
            steps.append((moved - point, turned - slope))
        point, value, slope = moved, lower, turned
        yield iteration, value
    return point, value, False


def _direction(slope: Floats, steps: "deque[tuple[Floats, Floats]]") -> Floats:
    """Downwards, bent by what the last steps told of the curvature."""
    direction = -slope
    shares = []
    for moved, turned in reversed(steps):
        share = float(moved @ direction) / float(moved @ turned)
        shares.append(share)
        direction = direction - share * turned
    if steps:
        moved, turned = steps[-1]
        direction = direction * (float(moved @ turned) / float(turned @ turned))
    for (moved, turned), share in zip(steps, reversed(shares), strict=True):
        back = float(turned @ direction) / float(moved @ turned)
        direction = direction + (share - back) * moved
    return direction


def _step(
    objective: Objective,
    point: Floats,
    value: float,
    fall: float,
    direction: Floats,
    length: float,
) -> tuple[Floats, float, Floats] | None:
    """The first point, halving the length, that is low enough; with its value and slope."""
    for _ in range(HALVINGS):
        moved = point + length * direction
        lower, slope = objective(moved)
        if lower <= value + ARMIJO * length * fall:
            return moved, lower, slope
        length /= 2
    return None


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """Counts over examples; tallies can be added.

    right: the choice is a right candidate. binary: token or class as it should be.
    """

    references: int = 0
    right_references: int = 0
    implicits: int = 0
    right_implicits: int = 0
    binary: int = 0

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        pairs = zip(astuple(self), astuple(other), strict=True)
        return TrialCounts(*(one + two for one, two in pairs))

    @property
    def n(self) -> int:
        """All examples."""
        return self.references + self.implicits

    def figures(self) -> dict[str, float]:
        """Fractions; those that have no examples are left out."""
        right = self.right_references + self.right_implicits
        parts = {
            "accuracy": (right, self.n),
            "reference": (self.right_references, self.references),
            "implicit": (self.right_implicits, self.implicits),
            "binary": (self.binary, self.n),
        }
        return {name: hit / of for name, (hit, of) in parts.items() if of}


def tally(table: LinearTable, weights: LinearWeights) -> TrialCounts:
    """What a model of the same features chooses for the examples of a table.

    A token is right where the training would have it so: with the lemma of a gold head.
    """
    classes = table.anchors @ weights.classes
    heads = table.tokens @ weights.heads
    best = np.full(len(table), -np.inf)
    np.maximum.at(best, table.example_of, heads)
    implicit = table.right_classes.any(axis=1)
    said_class = classes.max(axis=1, initial=-np.inf) >= best
    right_class = table.right_classes[np.arange(len(table)), classes.argmax(axis=1)]
    winners = table.right_tokens & (heads == best[table.example_of])
    right_token = np.bincount(table.example_of[winners], minlength=len(table)) > 0
    return TrialCounts(
        references=int((~implicit).sum()),
        right_references=int((~implicit & ~said_class & right_token).sum()),
        implicits=int(implicit.sum()),
        right_implicits=int((implicit & said_class & right_class).sum()),
        binary=int((implicit == said_class).sum()),
    )


NO_ANSWER = "no class or head"
OUT_OF_REACH = "no head among the candidates"
"""Why examples are not learnt from."""


class NoLinearExamplesError(ModelsError):
    """No example to learn from; the sentence says why."""


@dataclass(frozen=True, slots=True)
class LinearProgress:
    """How far training is. phase: "features", "fold 2", "fitting"."""

    phase: str
    done: int
    total: int
    metrics: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FittedLinear:
    """A model fitted on all examples, and how well models like it did in the folds."""

    model: Linear
    plan: LinearPlan
    folds: tuple[TrialCounts, ...]
    """A tally each; none where they were not tried."""
    loss: float
    converged: bool
    kinds: Mapping[str, int]
    """Learnt from, by class."""
    left_out: Mapping[str, int]
    """Not learnt from, by reason."""
    warnings: tuple[str, ...]
    """What makes the model worth less, as sentences."""
    groups: int
    """Passages."""
    snapshot: str
    """See `snapshot_of`."""


def training(
    examples: Sequence[ResolutionExample], plan: LinearPlan, parser: Parser | None
) -> Generator[LinearProgress, None, FittedLinear]:
    """Parse and tell the features, try fold by fold, and fit on all; a report after each part.

    parser: None where all examples carry a parse; those that do keep it. The same examples in
    the same order give the same model. Raises NoLinearExamplesError, ParserError.
    """
    answered = [one for one in examples if paper_class(one.gold.kind) is not None]
    if not answered:
        raise NoLinearExamplesError(
            _nothing(len(examples), "no class and no head is said of any")
        )
    collector = Collector(plan.settings)
    used = yield from _collect(answered, collector, parser)
    if not used:
        raise NoLinearExamplesError(_nothing(len(examples), OUT_OF_REACH))
    table = collector.table()
    groups = [one.group for one in used]
    tried = yield from _folds(table, groups, plan)
    fitted = yield from _fit(table, "fitting")
    kinds = Counter(str(paper_class(one.gold.kind)) for one in used)
    left = {NO_ANSWER: len(examples) - len(answered), OUT_OF_REACH: len(answered) - len(used)}
    return FittedLinear(
        Linear(plan.settings, fitted.weights, parser.name if parser is not None else None),
        plan,
        tried,
        fitted.loss,
        fitted.converged,
        {kind: kinds[kind] for kind in (Kind.REFERENCE, *IMPLICIT_KINDS) if kinds[kind]},
        {reason: count for reason, count in left.items() if count},
        tuple(_warnings(kinds, len(tried), plan.folds)),
        len(set(groups)),
        snapshot_of(used),
    )


def _nothing(examples: int, why: str) -> str:
    if not examples:
        return "there is no example to learn resolution from: settle some anchors first"
    return f"nothing can be learnt from {examples:,} examples: {why}"


def _warnings(kinds: Mapping[str, int], folds: int, wanted: int) -> Generator[str]:
    if len(kinds) == 1:
        yield f"all examples are {next(iter(kinds))}, so that it hardly ever says anything else"
    elif not kinds.get(Kind.REFERENCE):
        yield "no example has a head in the text, so that it knows nothing of heads"
    if wanted and not folds:
        yield "all examples are of one passage, so that it was not tried on any other"


def _collect(
    examples: Sequence[ResolutionExample], collector: Collector, parser: Parser | None
) -> Generator[LinearProgress, None, list[ResolutionExample]]:
    """Take in what has a right candidate, in order; the parses are dropped batch by batch."""
    if any(one.item.parsed is None for one in examples):
        check_layers(NEEDS, parser)
    used: list[ResolutionExample] = []
    done = 0
    for batch in batches_of(examples, lambda one: one.item.passage):
        items = parse_items([one.item for one in batch], NEEDS, parser)
        used += [
            one for one, item in zip(batch, items, strict=True) if collector.add(item, one.gold)
        ]
        done += len(batch)
        yield LinearProgress("features", done, len(examples))
    return used


def _fit(table: LinearTable, phase: str) -> Generator[LinearProgress, None, Fitted]:
    steps = fitting(table)
    while True:
        try:
            done, loss = next(steps)
        except StopIteration as ended:
            yield LinearProgress(phase, ITERATIONS, ITERATIONS)
            fitted: Fitted = ended.value
            return fitted
        yield LinearProgress(phase, done, ITERATIONS, {"loss": loss})


def _folds(
    table: LinearTable, groups: Sequence[str], plan: LinearPlan
) -> Generator[LinearProgress, None, tuple[TrialCounts, ...]]:
    """Each part judged by a model fitted on the others; no parts for a single group."""
    fold_of = folds_of(groups, plan.folds, plan.settings.seed)
    tried: list[TrialCounts] = []
    for number in range(max(fold_of, default=-1) + 1):
        fitted = yield from _fit(table.part(np.flatnonzero(fold_of != number)), _named(number))
        tried.append(tally(table.part(np.flatnonzero(fold_of == number)), fitted.weights))
        yield LinearProgress(_named(number), ITERATIONS, ITERATIONS, tried[-1].figures())
    return tuple(tried)


def _named(number: int) -> str:
    return f"fold {number + 1}"


def folds_of(groups: Sequence[str], folds: int, seed: int) -> Places:
    """The fold of each example, from 0 on; the examples of one group are in one fold.

    Groups are dealt by chance, in turn. Fewer groups than folds give as many folds as groups;
    one group, or no folds wanted, give none: all are -1.
    """
    names = sorted(set(groups))
    count = min(folds, len(names))
    if count < 2:
        return np.full(len(groups), -1)
    random.Random(seed).shuffle(names)  # noqa: S311 # no secret is made of it
    fold = {name: place % count for place, name in enumerate(names)}
    return np.array([fold[group] for group in groups])


def snapshot_of(examples: Sequence[ResolutionExample]) -> str:
    """SHA-256 (hex) of passages, spans and answers, whatever their order: what was learnt from.

    Hashed are the sorted SHA-256 of each as JSON, [passage digest, start, end, class, heads].
    """
    each = sorted(
        hashlib.sha256(
            json.dumps(
                [
                    one.item.passage.digest,
                    one.item.anchor.start,
                    one.item.anchor.end,
                    one.gold.kind.value,
                    list(one.gold.head_tokens()),
                ]
            ).encode("ascii")
        ).digest()
        for one in examples
    )
    return hashlib.sha256(b"".join(each)).hexdigest()
