"""Recipe `linear`: a linear model over pairs of anchor and candidate (paper, appendix):
features, settings, fitting, training and files.

Candidates are the six classes and the tokens around the anchor. The score of a class is the sum
of its weights for the anchor's features; that of a token is the sum of the weights of its
features as a head. A softmax over all candidates gives probabilities. A bias of tokens is not
needed: it is the negative of the classes' common bias.

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
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import msgspec
import numpy as np
from numpy.typing import NDArray

from nfh_models import ModelsError, model_files
from nfh_models.domain import IMPLICIT_KINDS, Answer, Kind, Passage, paper_class
from nfh_models.identification.base import batches_of
from nfh_models.model_files import settings_of as stored_settings
from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution import base, cues
from nfh_models.resolution.cues import CUES, CueContext, CueNumber, turns_of
from nfh_models.resolution.recipes import LINEAR, TASK
from nfh_models.training.plan import PhaseProgress

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


LARGEST_C = 1e6
MOST_FOLDS = 50


class LinearSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a linear model, also as config.json holds them."""

    features: Annotated[tuple[FeatureGroup, ...], msgspec.Meta(min_length=1)] = tuple(
        FeatureGroup
    )
    """Groups of features, in the order of FeatureGroup."""
    crossed: bool = True
    """Features of the anchor have a weight for each class. Otherwise they would be the same for
    all candidates of an anchor, and they are left out.
    """
    c: Annotated[float, msgspec.Meta(gt=0, le=LARGEST_C)] = 0.1
    """The weight of errors relative to the size of the weights."""
    seed: Annotated[int, msgspec.Meta(ge=0, lt=2**32)] = 1
    """Of the folds; fitting is deterministic."""

    def __post_init__(self) -> None:
        if not self.features:
            raise ValueError("no feature is left")
        if list(self.features) != [group for group in FeatureGroup if group in self.features]:
            raise ValueError("a group of features is named twice, or out of order")


REACH = 200
"""Tokens on either side of the anchor that are candidates. The farthest head that the releases
mark is 151 tokens away.
"""

SENTENCE_ENDS = frozenset(".!?\u2026")


@dataclass(frozen=True)
class TokenView:
    """Tokens [first, first + len(words)) of a passage, as lists with one entry each."""

    first: int
    words: Sequence[str]
    lemmas: Sequence[str]
    """`words` and `lemmas` are in lower case."""
    pos: Sequence[str]
    tags: Sequence[str]
    heads: Sequence[int | None]
    """Places in the view; None for a root, and for a token whose head is outside the view."""
    relations: Sequence[str]
    """`pos`, `tags` and `relations` are the parser's."""
    turns: Sequence[int]
    """Ranks of turns."""
    speakers: Sequence[str | None]
    start: int
    end: int
    """`start` and `end`: the anchor's places in the view."""

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def number(self) -> CueNumber:
        """The same for the cues."""
        return CueNumber(CueContext(self.words, self.pos, self.turns), self.start, self.end)

    @cached_property
    def candidates(self) -> list[int]:
        """The places of all tokens outside the anchor."""
        return [*range(self.start), *range(self.end, len(self))]

    @cached_property
    def top(self) -> int:
        """The anchor's token whose head is outside the anchor."""
        for at in range(self.end - 1, self.start - 1, -1):
            head = self.heads[at]
            if head is None or not self.start <= head < self.end:
                return at
        return self.end - 1

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The dependents of each place, in order."""
        found: dict[int, list[int]] = {}
        for at, head in enumerate(self.heads):
            if head is not None:
                found.setdefault(head, []).append(at)
        return found

    @cached_property
    def sentence(self) -> tuple[int, int]:
        """The places [begin, end) of the anchor's sentence in its turn, with its final mark."""
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
        """The speaker of the token at a place; None where the source names none."""
        return self.speakers[self.turns[place] - self.turns[0]]


def view_of(item: base.Item) -> TokenView:
    """The tokens within REACH of the anchor that the item's parse holds.

    Raises ValueError for an item without parts of speech and dependencies.
    """
    parsed, shift = base.parse_of(item, dependency=True), item.parsed_from
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


# --- features of the anchor, with a weight for each class ------------------------------------
#
# A feature is a string, "labels:lemma-1=be": its group, name and place, and its value. Labels,
# structure, match and other are those of the paper's table 8. The paper took entities and
# expressions of money and time from a recogniser; here a name is a proper noun, and the
# expressions are words of `cues`.

WINDOW = 2
NOTHING = "-"
"""Stands for the word beyond the ends of the turn, and for the head of a root."""

LENGTHS = (5, 10)
MAGNITUDES = (1, 10, 100, 1600, 2100)
BEFORE, BEHIND = 10, 5
"""Words on either side that the group `words` takes as a bag."""

_TIMES = cues.CLOCK | cues.HOURS | cues.DAY_PARTS


def anchor_features(view: TokenView, groups: tuple[FeatureGroup, ...]) -> list[str]:
    """The features of an anchor, without duplicates."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in ANCHOR_FEATURES
        for feature in ANCHOR_FEATURES[group](view)
    )
    return list(dict.fromkeys(found))


def number_kind(view: TokenView) -> str:
    """How the anchor is written: "one", "letters" or "digits"."""
    if view.number.is_one:
        return "one"
    return "digits" if any(c.isdigit() for c in view.words[view.start]) else "letters"


def magnitude(view: TokenView) -> str:
    """The first of MAGNITUDES above the anchor's value; "more", or "none" without a value."""
    value = view.number.value
    if value is None:
        return "none"
    return next((f"<{bound}" for bound in MAGNITUDES if value < bound), "more")


def around(view: TokenView, start: int, end: int) -> Iterator[tuple[str, int | None]]:
    """Places up to WINDOW before and after a span, named by their distance; None beyond its
    turn.
    """
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
    length = next((f"<{bound}" for bound in LENGTHS if end - begin < bound), "more")
    yield f"sentence-length={length}"
    yield f"span-length={min(view.end - view.start, 3)}"
    span = "".join(view.words[view.start : view.end])
    if "-" in span:
        yield "hyphen"
    if "/" in span:
        yield "slash"
    before, after = view.number.before(), view.number.after()
    if before in cues.APOSTROPHES or span[0] in cues.APOSTROPHES:
        yield "apostrophe-before"
    if after[:1] in cues.APOSTROPHES:
        yield "apostrophe-behind"
    if after in ("'s", "\u2019s"):
        yield "s-behind"
    if not any(word[0].isalnum() for word in view.words[view.end : end]):
        yield "ends-sentence"


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
    holding = [cue.name for cue in CUES if cue.test(view.number)]
    if holding:
        yield f"first={holding[0]}"
    yield from holding


def _words(view: TokenView) -> Iterator[str]:
    shape = number_kind(view) if view.number.is_one else magnitude(view)
    number = view.number
    yield f"shape={shape}"
    yield f"shape-1={shape} {number.before() or NOTHING}"
    yield f"shape+1={shape} {number.after() or NOTHING}"
    yield f"between={number.before() or NOTHING} {number.after() or NOTHING}"
    yield f"two-before={number.before(2) or NOTHING} {number.before() or NOTHING}"
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
"""The groups with features of the anchor."""


NEAREST = 5
"""Ranks of nouns that are distinguished."""

DISTANCES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
TURNS = 3

NOUNS = frozenset({"NOUN", "PROPN"})
_PLURALS = frozenset({"NNS", "NNPS"})
_PLURAL_DETERMINERS = frozenset({"these", "those", "many", "some", "few", "several", "all"})


@dataclass(frozen=True)
class AnchorContext:
    """What all tokens of a view share, computed once for each anchor."""

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
        """Nouns by nearness on their side: -1 the closest before the anchor, 1 the closest
        after it.
        """
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
        """Occurrences of each lemma in the view."""
        return Counter(self.view.lemmas)

    @cached_property
    def best(self) -> int | None:
        """The noun that `cues` would choose."""
        return cues.best_head(self.view.number)

    @cached_property
    def shared(self) -> int | None:
        """The noun of "2 or 3 apples" for the 2."""
        return cues.shared_noun(self.view.number)


Extract = Callable[[AnchorContext, int], Iterator[str]]


def candidate_features(
    context: AnchorContext, at: int, groups: tuple[FeatureGroup, ...]
) -> list[str]:
    """The features of the token at a place of the view, without duplicates."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in CANDIDATE_FEATURES
        for feature in CANDIDATE_FEATURES[group](context, at)
    )
    return list(dict.fromkeys(found))


# --- the paper's ----------------------------------------------------------------------------


def _candidate_labels(context: AnchorContext, at: int) -> Iterator[str]:
    view = context.view
    yield f"lemma={view.lemmas[at]}"
    yield f"pos={view.pos[at]}"
    for name, near in around(view, at, at + 1):
        yield f"lemma{name}={NOTHING if near is None else view.lemmas[near]}"
        yield f"pos{name}={NOTHING if near is None else view.pos[near]}"
    yield f"relation={view.relations[at]}"
    head = view.heads[at]
    yield f"head-lemma={NOTHING if head is None else view.lemmas[head]}"
    yield f"head-pos={NOTHING if head is None else view.pos[head]}"


def _closest(context: AnchorContext, at: int) -> Iterator[str]:
    if at == context.closest:
        yield "closest-noun"


# --- our own --------------------------------------------------------------------------------


def _place(context: AnchorContext, at: int) -> Iterator[str]:
    view, kind, pos = context.view, context.kind, context.view.pos[at]
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
    rank = context.ranks.get(at)
    if rank is not None:
        shown = max(-NEAREST, min(NEAREST, rank))
        yield f"rank={shown}"
        yield f"rank={shown} {kind}"
        yield f"rank={shown} turns={turns}"


def _distance(away: int) -> str:
    return next((f"<={bound}" for bound in DISTANCES if away <= bound), "more")


def _noun(context: AnchorContext, at: int) -> Iterator[str]:
    view = context.view
    pos = view.pos[at]
    yield f"anchor+lemma={context.lemma} {view.lemmas[at]}"
    if pos not in NOUNS:
        yield f"kind+pos={context.kind} {pos}"
        return
    plural = view.tags[at] in _PLURALS
    yield f"plural={plural} {context.kind}"
    if view.number.before() in _PLURAL_DETERMINERS:
        yield f"plural={plural} after-these"
    yield f"mentions={min(context.mentions[view.lemmas[at]], 4)}"
    yield f"opened={_opened(view, at)} {context.kind}"
    yield f"relation={view.relations[at]} {view.relations[view.top]}"
    yield from _verbs(view, at)
    if any(view.relations[child] == "nummod" for child in view.children.get(at, ())):
        yield f"counted={context.kind}"
    if view.words[at] in cues.SELDOM_COUNTED:
        yield "seldom"
    if at + 1 < len(view) and view.pos[at + 1] in NOUNS:
        yield "in-compound"


def _opened(view: TokenView, at: int) -> str:
    """What opens the phrase of a noun: a function word itself, else its part of speech."""
    left = at - 1
    while left > max(0, at - 4) and view.pos[left] in ("ADJ", "NOUN", "PROPN", "ADV"):
        left -= 1
    if left < 0 or view.turns[left] != view.turns[at]:
        return NOTHING
    return view.words[left] if view.pos[left] in ("DET", "PRON", "ADP") else view.pos[left]


def _verbs(view: TokenView, at: int) -> Iterator[str]:
    """How the heads of the noun and of the anchor are related."""
    own, other = view.heads[at], view.heads[view.top]
    if own is None or other is None:
        return
    if own == other:
        yield f"same-head {view.relations[at]} {view.relations[view.top]}"
    elif view.lemmas[own] == view.lemmas[other]:
        yield f"same-verb {view.pos[own]}"
    if own == view.top:
        yield f"on-anchor {view.relations[at]}"


def _candidate_cues(context: AnchorContext, at: int) -> Iterator[str]:
    if at == context.best:
        yield "best"
        yield f"best {context.kind}"
    if at == context.shared:
        yield "shared"
    rank = context.ranks.get(at)
    if rank is not None and -8 <= rank < 0:
        worth = cues.head_score(context.view.number, at, -rank - 1)
        yield f"worth={round(worth * 10) / 10}"


CANDIDATE_FEATURES: dict[FeatureGroup, Extract] = {
    FeatureGroup.LABELS: _candidate_labels,
    FeatureGroup.CLOSEST: _closest,
    FeatureGroup.PLACE: _place,
    FeatureGroup.NOUN: _noun,
    FeatureGroup.CUES: _candidate_cues,
}
"""The groups with features of a token."""


VERSION = "linear/1"
"""Changes when the same model would choose otherwise."""

NEEDS = frozenset({ParseLayer.POS, ParseLayer.DEPENDENCY})

BIAS = "bias"
"""A feature of every anchor."""

CLASSES = len(IMPLICIT_KINDS)

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ItemFeatures:
    """The features of one item: of the anchor, and of each candidate token of its view."""

    view: TokenView
    anchor: Sequence[str]
    tokens: Sequence[Sequence[str]]


def extract(item: base.Item, settings: LinearSettings) -> ItemFeatures:
    """All features of an item. Raises ValueError for an item without the parse that it
    needs.
    """
    view = view_of(item)
    context = AnchorContext(view)
    own = anchor_features(view, settings.features) if settings.crossed else []
    tokens = [candidate_features(context, at, settings.features) for at in view.candidates]
    return ItemFeatures(view, [BIAS, *own], tokens)


@dataclass(frozen=True, slots=True)
class LinearWeights:
    """The weights of a model."""

    anchors: tuple[str, ...]
    tokens: tuple[str, ...]
    """`anchors` and `tokens`: distinct features."""
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

    parser: the name of the parser of the training passages; another one may tag differently.
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
        """Twelve hexadecimal digits of everything that choices depend on."""
        settings, weights = self.settings, self.weights
        said = [settings.features, settings.crossed, weights.anchors, weights.tokens]
        hashed = hashlib.sha256(json.dumps(said, separators=(",", ":")).encode("ascii"))
        hashed.update(np.ascontiguousarray(weights.classes, "<f8").tobytes())
        hashed.update(np.ascontiguousarray(weights.heads, "<f8").tobytes())
        return hashed.hexdigest()[:12]

    def resolve(self, items: Sequence[base.Item]) -> list[base.Choice | None]:
        """A choice for each item. Raises ValueError for one without parts of speech and
        dependencies.
        """
        return [self._resolve(item) for item in items]

    def _resolve(self, item: base.Item) -> base.Choice:
        features = extract(item, self.settings)
        probabilities = softmax(self.score(features))
        return decide(features.view, probabilities, len(item.passage.tokens))

    def score(self, features: ItemFeatures) -> Floats:
        """The scores of the six classes, then of the candidate tokens, in their order."""
        own = list(_known(features.anchor, self._anchors))
        classes = self.weights.classes[own].sum(axis=0)
        places: list[int] = []
        rows: list[int] = []
        for row, names in enumerate(features.tokens):
            found = list(_known(names, self._tokens))
            places += found
            rows += [row] * len(found)
        chosen = self.weights.heads[places] if places else np.zeros(0)
        heads = (
            np.bincount(rows, chosen, len(features.tokens))
            if rows
            else np.zeros(len(features.tokens))
        )
        return np.concatenate([classes, heads])


def _known(names: Iterable[str], places: Mapping[str, int]) -> Iterable[int]:
    return (places[name] for name in names if name in places)


def softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum(), np.float64)


def decide(view: TokenView, probabilities: Floats, tokens: int) -> base.Choice:
    """The most probable candidate, the second, and the probabilities of all.

    probabilities: of the classes, then of the view's candidates. tokens: of the passage. Of
    equals the first wins: classes in their order, then tokens in theirs.
    """
    places = [*range(CLASSES), *(CLASSES + view.first + at for at in view.candidates)]
    return base.choice_of(dict(zip(places, probabilities.tolist(), strict=True)), tokens)


SHORTHAND = {"paper": PAPER, "all": tuple(FeatureGroup)}
"""Names for several groups."""


@dataclass(frozen=True, slots=True)
class LinearPlan:
    """How to train: the settings, and the number of folds of the trial before; 0 for
    no trial.
    """

    settings: LinearSettings = field(default_factory=LinearSettings)
    folds: int = 5


class _Given(LinearSettings, frozen=True, forbid_unknown_fields=True):
    """Settings and folds, as a command line gives them."""

    folds: Annotated[int, msgspec.Meta(ge=0, le=MOST_FOLDS)] = LinearPlan().folds

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds == 1:
            raise ValueError("one fold is not enough")


WANTED = {
    "features": f"one or more of {', '.join(FeatureGroup)}, joined by commas; or paper, or all",
    "crossed": "true or false: whether each class has its own weights",
    "c": f"a number above 0 and up to {LARGEST_C:,.0f}",
    "seed": model_files.SEED,
    "folds": f"a number of parts, 2 to {MOST_FOLDS}, or 0 for no evaluation",
}
"""Each setting with its possible values."""


def settings_of(given: Iterable[str]) -> LinearPlan:
    """A plan from "key=value" words; settings not given have their defaults.

    Raises SettingError for a malformed word, and for a value that its key cannot have.
    """
    value_of = lambda key, value: _groups(value) if key == "features" else value  # noqa: E731
    made = msgspec.structs.asdict(
        model_files.read_settings(given, _Given, LINEAR, WANTED, {}, value_of)
    )
    folds = made.pop("folds")
    return LinearPlan(LinearSettings(**made), folds)


def _groups(value: str) -> list[str]:
    """The named groups, without duplicates, in the order of FeatureGroup; unknown names at the
    end.
    """
    named: dict[str, None] = {}
    for part in value.split(","):
        name = part.strip()
        named.update(dict.fromkeys(SHORTHAND.get(name, (name,))))
    known = [group.value for group in FeatureGroup]
    return sorted(named, key=lambda name: known.index(name) if name in known else len(known))


ARRAYS = {"classes": "float64", "heads": "float64"}
"""classes: [anchor features, 6]. heads: one for each token feature. The vocabulary has the
names of the former, then those of the latter.
"""

OF_ANCHOR = "anchor "
OF_TOKEN = "token "  # noqa: S105 # no password: the kind of token that text has
"""Prefixes of features in the vocabulary."""


def save_linear(model: Linear, folder: Path, **about: Unpack[model_files.ModelNotes]) -> str:
    """Write a model as a model directory; returns its digest. See `save_model`."""
    weights = model.weights
    arrays = {"classes": weights.classes, "heads": weights.heads}
    vocabulary = [
        *(OF_ANCHOR + feature for feature in weights.anchors),
        *(OF_TOKEN + feature for feature in weights.tokens),
    ]
    return model_files.save_model(
        folder,
        TASK,
        LINEAR,
        model.version,
        model.settings,
        arrays,
        vocabulary,
        parser=model.parser,
        **about,
    )


def load_linear(folder: Path) -> Linear:
    """A model from its directory, without scikit-learn. Raises ModelFileError."""
    config = model_files.read_config(folder, LINEAR)
    settings = stored_settings(folder, config, LinearSettings, complete=True)
    vocabulary = model_files.read_vocabulary(folder)
    arrays = model_files.read_arrays(folder, ARRAYS)
    anchors = [word for word in vocabulary if word.startswith(OF_ANCHOR)]
    tokens = [word for word in vocabulary if word.startswith(OF_TOKEN)]
    if vocabulary != anchors + tokens:
        raise model_files.damaged(
            folder / model_files.VOCABULARY,
            "wanted the anchor's features, then those of the tokens",
        )
    _check_shape(folder, "classes", arrays["classes"], (len(anchors), CLASSES))
    _check_shape(folder, "heads", arrays["heads"], (len(tokens),))
    weights = LinearWeights(
        tuple(word.removeprefix(OF_ANCHOR) for word in anchors),
        tuple(word.removeprefix(OF_TOKEN) for word in tokens),
        arrays["classes"].astype(np.float64, copy=False),
        arrays["heads"].astype(np.float64, copy=False),
    )
    return Linear(settings, weights, config.parser)


def _check_shape(folder: Path, name: str, array: "Array", wanted: tuple[int, ...]) -> None:
    if array.shape != wanted:
        raise model_files.damaged(
            folder / model_files.WEIGHTS,
            f"{name} has the shape {array.shape}, {model_files.VOCABULARY} wants {wanted}",
        )
    model_files.check_summable(folder, (array,), f"the weights of {name}")


# --- examples as sparse matrices --------------------------------------------------------------
#
# Features are numbered in the order of appearance, so that no string is stored twice; memory is
# eight bytes for each feature of each candidate.

LEAST = 2
"""Examples that a feature must occur in: with one, it is learnt by heart."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class LinearTable:
    """Examples with their features and answers, as sparse matrices."""

    settings: LinearSettings
    anchor_names: tuple[str, ...]
    token_names: tuple[str, ...]
    anchors: "csr_matrix"
    """A row for each example, a column for each anchor feature."""
    tokens: "csr_matrix"
    """A row for each candidate token of all examples in order, a column for each token
    feature.
    """
    example_of: Places
    """The example of each row of `tokens`."""
    right_classes: Flags
    """[examples, 6]."""
    right_tokens: Flags
    """One for each row of `tokens`."""

    def __len__(self) -> int:
        return len(self.right_classes)

    def part(self, chosen: Places) -> "LinearTable":
        """The chosen examples, with all columns. chosen: ascending indices."""
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
    """Rows of named features, appended one by one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._indices = array("i")
        self._starts = array("q", [0])

    def add(self, names: Sequence[str]) -> None:
        places = self._places
        self._indices.extend([places.setdefault(name, len(places)) for name in names])
        self._starts.append(len(self._indices))

    def frozen(self, example_of: Places, examples: int) -> "tuple[tuple[str, ...], csr_matrix]":
        """The names of the features that occur in LEAST or more examples, and the matrix of
        ones.

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


class ExampleCollector:
    """Collects the features of parsed examples."""

    def __init__(self, settings: LinearSettings) -> None:
        self._settings = settings
        self._anchors = _Matrix()
        self._tokens = _Matrix()
        self._sizes: list[int] = []
        self._classes: list[list[bool]] = []
        self._heads = array("b")

    def add(self, item: base.Item, gold: Answer) -> bool:
        """Add an example; False where none of its candidates is correct.

        Raises ValueError for an item without the parse that it needs.
        """
        features = extract(item, self._settings)
        classes = [kind is paper_class(gold.kind) for kind in IMPLICIT_KINDS]
        heads = right_tokens(features.view, gold, item.passage)
        if not any(classes) and not any(heads):
            return False
        self._take(features)
        self._classes.append(classes)
        self._heads.extend(heads)
        return True

    def _take(self, features: ItemFeatures) -> None:
        self._anchors.add(features.anchor)
        for names in features.tokens:
            self._tokens.add(names)
        self._sizes.append(len(features.tokens))

    def table(self) -> LinearTable:
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
    """Whether each candidate is correct: it is a head token, or has the lemma of one."""
    if gold.kind is not Kind.REFERENCE:
        return [False] * len(view.candidates)
    heads = set(gold.head_tokens())
    lemmas = {passage.tokens[head].lemma.lower() for head in heads}
    return [view.first + at in heads or view.lemmas[at] in lemmas for at in view.candidates]


# --- fitting: maximum conditional likelihood by L-BFGS ---------------------------------------
#
# The loss of an example is -log of the summed probability of its correct candidates; half the
# sum of squared weights, divided by C, is added to the sum over the examples. L-BFGS is as in
# Nocedal and Wright, Numerical Optimization (2006), algorithm 7.5, with steps halved until the
# loss falls enough (Armijo's rule).

ITERATIONS = 150
REMEMBERED = 10
FLAT = 1e-5
"""The largest slope, in units of the mean loss, that counts as converged."""

ARMIJO = 1e-4
HALVINGS = 20

Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights, the mean loss there, and whether the fitting converged within ITERATIONS."""

    weights: LinearWeights
    loss: float
    converged: bool


def fitting(table: LinearTable) -> Generator[tuple[int, float], None, Fitted]:
    """Fit weights to a table; after each step its number and the mean loss.

    The same table gives the same weights. Raises ValueError for a table without examples.
    """
    if not len(table):
        raise ValueError("no example to fit to")
    sizes = (len(table.anchor_names) * CLASSES, len(table.token_names))
    found, loss, converged = yield from minimise(objective_of(table), np.zeros(sum(sizes)))
    classes = found[: sizes[0]].reshape(-1, CLASSES)
    weights = LinearWeights(table.anchor_names, table.token_names, classes, found[sizes[0] :])
    return Fitted(weights, loss, converged)


def objective_of(table: LinearTable) -> Objective:
    """The mean loss and its gradient as a function of all weights: those of the classes, then
    those of the tokens.
    """
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
    """The mean loss of scores, and its derivative by each of them.

    classes: [examples, 6]. heads: one for each row of the table's tokens.
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
    """Minimise a smooth function by L-BFGS: the point, its value, and whether it converged."""
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
    """The descent direction, from the curvature of the last steps."""
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
    """The first point, halving the step length, that is low enough; with its value and
    gradient.
    """
    for _ in range(HALVINGS):
        moved = point + length * direction
        lower, slope = objective(moved)
        if lower <= value + ARMIJO * length * fall:
            return moved, lower, slope
        length /= 2
    return None


@dataclass(frozen=True, slots=True)
class TrialCounts:
    """Counts over examples; they can be added."""

    references: int = 0
    right_references: int = 0
    implicits: int = 0
    right_implicits: int = 0
    binary: int = 0
    """Token or class as in gold. `right_*`: the choice is a correct candidate."""

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        return TrialCounts(*map(add, astuple(self), astuple(other)))

    @property
    def n(self) -> int:
        return self.references + self.implicits

    def figures(self) -> dict[str, float]:
        """Fractions; those without examples are left out."""
        right = self.right_references + self.right_implicits
        parts = {
            "accuracy": (right, self.n),
            "reference": (self.right_references, self.references),
            "implicit": (self.right_implicits, self.implicits),
            "binary": (self.binary, self.n),
        }
        return {name: hit / of for name, (hit, of) in parts.items() if of}


def tally(table: LinearTable, weights: LinearWeights) -> TrialCounts:
    """The counts of a model's choices for the examples of a table.

    A token is correct as in training: if it has the lemma of a gold head.
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
"""Why examples are left out."""


class NoLinearExamplesError(ModelsError):
    """No example to learn from; the message says why."""


@dataclass(frozen=True, slots=True)
class FittedLinear:
    """A model fitted on all examples, and the counts of the trial folds."""

    model: Linear
    plan: LinearPlan
    folds: tuple[TrialCounts, ...]
    """One for each fold; none without a trial."""
    loss: float
    converged: bool
    kinds: Mapping[str, int]
    """Examples learnt from, by class."""
    left_out: Mapping[str, int]
    """Examples left out, by reason."""
    warnings: tuple[str, ...]
    """Sentences about what makes the model less reliable."""
    groups: int
    """Passages of the examples."""
    snapshot: str
    """See `snapshot_of`."""


def training(
    examples: Sequence[base.ResolutionExample], plan: LinearPlan, parser: Parser | None
) -> Generator[PhaseProgress, None, FittedLinear]:
    """Parse and extract features, try fold by fold, and fit on all; a report after each part.

    parser: None where all examples have a parse; those that have one keep it. The same examples
    in the same order give the same model. Raises NoLinearExamplesError, ParserError.
    """
    answered = [one for one in examples if paper_class(one.gold.kind) is not None]
    if not answered:
        raise NoLinearExamplesError(_nothing(len(examples), "none names a class or a head"))
    collector = ExampleCollector(plan.settings)
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
        return "there is no example to learn resolution from: settle some items first"
    return f"nothing can be learnt from {examples:,} examples: {why}"


def _warnings(kinds: Mapping[str, int], folds: int, wanted: int) -> Generator[str]:
    if len(kinds) == 1:
        yield (
            f"all examples are {next(iter(kinds))}, so the model hardly ever answers "
            "anything else"
        )
    elif not kinds.get(Kind.REFERENCE):
        yield "no example has a head in the text, so the model cannot find heads"
    if wanted and not folds:
        yield "all examples are of one passage, so the model was not tested on another"


def _collect(
    examples: Sequence[base.ResolutionExample],
    collector: ExampleCollector,
    parser: Parser | None,
) -> Generator[PhaseProgress, None, list[base.ResolutionExample]]:
    """Add the examples with a correct candidate, in order; parses are dropped batch by
    batch.
    """
    if any(one.item.parsed is None for one in examples):
        base.check_layers(NEEDS, parser)
    used: list[base.ResolutionExample] = []
    done = 0
    for batch in batches_of(examples, lambda one: one.item.passage, base.BATCH):
        items = base.parse_items([one.item for one in batch], NEEDS, parser)
        used += [
            one for one, item in zip(batch, items, strict=True) if collector.add(item, one.gold)
        ]
        done += len(batch)
        yield PhaseProgress("features", done, len(examples))
    return used


def _fit(table: LinearTable, phase: str) -> Generator[PhaseProgress, None, Fitted]:
    steps = fitting(table)
    while True:
        try:
            done, loss = next(steps)
        except StopIteration as ended:
            yield PhaseProgress(phase, ITERATIONS, ITERATIONS)
            fitted: Fitted = ended.value
            return fitted
        yield PhaseProgress(phase, done, ITERATIONS, {"loss": loss})


def _folds(
    table: LinearTable, groups: Sequence[str], plan: LinearPlan
) -> Generator[PhaseProgress, None, tuple[TrialCounts, ...]]:
    """Each fold evaluated with a model fitted on the others; no folds for a single group."""
    fold_of = folds_of(groups, plan.folds, plan.settings.seed)
    tried: list[TrialCounts] = []
    for number in range(max(fold_of, default=-1) + 1):
        phase = f"fold {number + 1}"
        fitted = yield from _fit(table.part(np.flatnonzero(fold_of != number)), phase)
        tried.append(tally(table.part(np.flatnonzero(fold_of == number)), fitted.weights))
        yield PhaseProgress(phase, ITERATIONS, ITERATIONS, tried[-1].figures())
    return tuple(tried)


def folds_of(groups: Sequence[str], folds: int, seed: int) -> Places:
    """The fold of each example, from 0; the examples of one group are in one fold.

    Groups are shuffled and dealt in turn. Fewer groups than folds give as many folds as groups;
    one group, or no folds, give -1 for all.
    """
    names = sorted(set(groups))
    count = min(folds, len(names))
    if count < 2:
        return np.full(len(groups), -1)
    random.Random(seed).shuffle(names)  # noqa: S311 # no secret is made of it
    fold = {name: place % count for place, name in enumerate(names)}
    return np.array([fold[group] for group in groups])


def snapshot_of(examples: Sequence[base.ResolutionExample]) -> str:
    """The digest of passages, spans and answers, whatever their order."""
    return model_files.digest_of_examples(
        [
            one.item.passage.digest,
            one.item.anchor.start,
            one.item.anchor.end,
            one.gold.kind.value,
            list(one.gold.head_tokens()),
        ]
        for one in examples
    )
