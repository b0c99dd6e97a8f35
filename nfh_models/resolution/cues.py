"""Recipe `cues`: a class where a stated cue names one, else the noun that fits best before.

suggest -> featurise -> score -> decide, as in `nearest_noun`. It needs words with universal
parts of speech and no parse. The classes are those of the paper (section 3); the cues stand
in `cue_table`, the weights of the nouns in `cue_nouns`.

The scores are ranks made visible, not probabilities. A class has 1 for the first cue that
holds, 1/2 for the second, and so on. The nouns have their worth, the best one 1, and half of
that for each cue that holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.domain import IMPLICIT_KINDS, Anchor, Kind, Passage
from nfh_models.parsing.stretch import Stretch
from nfh_models.resolution import cue_nouns
from nfh_models.resolution.cue_persons import counts_persons
from nfh_models.resolution.cue_place import Place, Scene
from nfh_models.resolution.cue_table import CUES, Cue
from nfh_models.resolution.item import Choice
from nfh_models.resolution.nearest_noun import reach

NAME = "cues"
TASK = "resolution"
VERSION = "1"

NEAREST = "nearest-noun"
SHARED = "shared-noun"
NOTHING = "nothing-near"


@dataclass(frozen=True, slots=True)
class Found:
    """What a number counts, and why.

    token: the head, for REFERENCE; else None. cue: the name of a cue, or NEAREST for the
    noun that fits best, SHARED for the noun behind "2 or 3 apples", NOTHING for a
    number that has neither cue nor noun: OTHER, or PEOPLE for "the one who" and "two of them".
    """

    kind: Kind
    token: int | None
    cue: str


def resolve(scene: Scene, start: int, end: int) -> Found:
    """The head of the number at tokens [start, end) of a scene; the choice of `predict`.

    Only the words around it are looked at, so that a long text takes time in proportion.
    """
    place = Place(scene, start, end)
    shared = cue_nouns.shared_noun(place)
    if shared is not None:
        return Found(Kind.REFERENCE, shared, SHARED)
    for cue in CUES:
        if cue.test(place):
            return Found(cue.kind, None, cue.name)
    token = cue_nouns.best(place)
    if token is None:
        return Found(_without_noun(place), None, NOTHING)
    return Found(Kind.REFERENCE, token, NEAREST)


def _without_noun(place: Place) -> Kind:
    """The class of a number that has neither cue nor noun."""
    return Kind.PEOPLE if counts_persons(place) else Kind.OTHER


def stretch(passage: Passage, anchor: Anchor) -> Stretch:
    """The words that need tags for this anchor: those of `nearest_noun.reach`."""
    return Stretch.of(passage, *reach(passage, anchor))


def predict(passage: Passage, anchor: Anchor, tags: Sequence[str]) -> Choice:
    """The whole recipe. tags: a universal part of speech for each token of `reach`.

    Raises ValueError for another number of tags.
    """
    start, end = reach(passage, anchor)
    if len(tags) != end - start:
        raise ValueError(f"{len(tags)} tags for the {end - start} tokens around an anchor")
    place = _place(passage, anchor, start, tags)
    cues, ranks = suggest(place)
    classes, heads = score(place, cues, featurise(place, ranks))
    shifted = {token + start: value for token, value in heads.items()}
    return decide(classes, shifted, len(passage.tokens))


def suggest(place: Place) -> tuple[list[Cue], dict[int, int]]:
    """The cues that hold, in the order of CUES; and the candidates with their ranks.

    Candidates are the nouns and names in reach; a rank is 0 for the nearest on its side.
    """
    ranks = {
        token: rank
        for tag in ("NOUN", "PROPN")
        for step in (-1, 1)
        for rank, token in enumerate(cue_nouns.candidates(place, tag, step))
    }
    return [cue for cue in CUES if cue.test(place)], ranks


def featurise(place: Place, ranks: dict[int, int]) -> dict[int, float]:
    """What each candidate is worth by itself (`cue_nouns.worth`)."""
    return {token: cue_nouns.worth(place, token, rank) for token, rank in ranks.items()}


def score(
    place: Place, cues: Sequence[Cue], worths: dict[int, float]
) -> tuple[dict[Kind, float], dict[int, float]]:
    """The scores of classes and of tokens.

    The class of a number without cue and noun has the score of a noun worth FLOOR. A noun that
    is shared with the next number has 1, and all else half of what it would have.
    """
    classes: dict[Kind, float] = {}
    for rank, cue in enumerate(cues):
        classes.setdefault(cue.kind, 0.5**rank)
    factor = 0.5 ** len(cues) / max(cue_nouns.FLOOR, *worths.values(), 0.0)
    classes.setdefault(_without_noun(place), cue_nouns.FLOOR * factor)
    heads = {token: worth * factor for token, worth in worths.items()}
    shared = cue_nouns.shared_noun(place)
    if shared is not None:
        classes = {kind: value / 2 for kind, value in classes.items()}
        heads = {token: value / 2 for token, value in heads.items()} | {shared: 1.0}
    return classes, heads


def decide(classes: dict[Kind, float], heads: dict[int, float], tokens: int) -> Choice:
    """The best of classes and heads, the second best, and the scores of all.

    tokens: how many the passage has. Of equals the first wins: classes in their order, then
    the nearest noun.
    """
    laid_out: list[float | None] = [None] * (len(IMPLICIT_KINDS) + tokens)
    ranked: list[tuple[float, str]] = []
    for place, kind in enumerate(IMPLICIT_KINDS):
        if kind in classes:
            laid_out[place] = classes[kind]
            ranked.append((classes[kind], kind.value))
    for token, value in heads.items():
        laid_out[len(IMPLICIT_KINDS) + token] = value
        ranked.append((value, str(token)))
    ranked.sort(key=lambda scored: -scored[0])
    best, choice = ranked[0]
    if len(ranked) == 1:
        return Choice(choice, None, None, tuple(laid_out))
    runner_up, second = ranked[1]
    return Choice(choice, second, best - runner_up, tuple(laid_out))


def _place(passage: Passage, anchor: Anchor, start: int, tags: Sequence[str]) -> Place:
    places = range(start, start + len(tags))
    scene = Scene(
        [passage.word(at) for at in places], tags, turns_of(passage, start, len(tags))
    )
    return Place(scene, anchor.start - start, anchor.end - start)


def turns_of(passage: Passage, start: int, size: int) -> list[int]:
    """The rank of its turn for each of `size` tokens from `start` on."""
    turns: list[int] = []
    rank = passage.turn_of(start)
    while len(turns) < size:
        left = passage.turns[rank].end - start - len(turns)
        turns.extend([rank] * min(left, size - len(turns)))
        rank += 1
    return turns
