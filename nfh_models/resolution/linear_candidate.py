"""Features of `linear` that describe a token as the anchor's head."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from nfh_models.resolution import cue_nouns
from nfh_models.resolution import cue_words as known
from nfh_models.resolution.linear_anchor import NOTHING, around, number_kind
from nfh_models.resolution.linear_groups import Group
from nfh_models.resolution.linear_view import View

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

    view: View

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
        return cue_nouns.best(self.view.place)

    @cached_property
    def shared(self) -> int | None:
        """The noun of "2 or 3 apples" for the 2."""
        return cue_nouns.shared_noun(self.view.place)


Tell = Callable[[Setting, int], Iterator[str]]


def candidate_features(setting: Setting, at: int, groups: tuple[Group, ...]) -> list[str]:
    """The features of the token at a place of the view, each once."""
    found = (
        f"{group}:{feature}"
        for group in groups
        if group in TELL
        for feature in TELL[group](setting, at)
    )
    return list(dict.fromkeys(found))


# --- the paper's ----------------------------------------------------------------------------


def _labels(setting: Setting, at: int) -> Iterator[str]:
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
    if view.words[at] in known.SELDOM_COUNTED:
        yield "seldom"
    if at + 1 < len(view) and view.pos[at + 1] in NOUNS:
        yield "in-compound"


def _opened(view: View, at: int) -> str:
    """What opens the phrase of a noun: the word, where it is a small one, else its tag."""
    left = at - 1
    while left > max(0, at - 4) and view.pos[left] in ("ADJ", "NOUN", "PROPN", "ADV"):
        left -= 1
    if left < 0 or view.turns[left] != view.turns[at]:
        return NOTHING
    return view.words[left] if view.pos[left] in ("DET", "PRON", "ADP") else view.pos[left]


def _verbs(view: View, at: int) -> Iterator[str]:
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


def _cues(setting: Setting, at: int) -> Iterator[str]:
    if at == setting.best:
        yield "best"
        yield f"best {setting.kind}"
    if at == setting.shared:
        yield "shared"
    rank = setting.ranks.get(at)
    if rank is not None and -8 <= rank < 0:
        worth = cue_nouns.worth(setting.view.place, at, -rank - 1)
        yield f"worth={round(worth * 10) / 10}"


TELL: dict[Group, Tell] = {
    Group.LABELS: _labels,
    Group.CLOSEST: _closest,
    Group.PLACE: _place,
    Group.NOUN: _noun,
    Group.CUES: _cues,
}
"""The groups that say something of a token."""
