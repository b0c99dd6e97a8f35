"""What the small model is trained and tried on: labelled and unlabelled anchors, copies with
words replaced, and what teachers say of them.

Varkel and Globerson (2020), "Pre-training Mention Representations in Coreference Models", learn
of repeated mentions in a like way.
"""

import hashlib
import random
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nfh_db.formats.registry import DIALOG
from nfh_db.system import path_beside, sweep
from nfh_models import ModelsError
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.encoder.model import TeacherStates
from nfh_models.encoder.training import Silver, Soft, key_of_item
from nfh_models.identification.base import (
    BATCH,
    Example,
    SentenceNumber,
    batches_of,
    cases_of,
    decide,
    numbers_of,
    parse_cases,
)
from nfh_models.identification.rules import Rules
from nfh_models.model_files import digest_of
from nfh_models.parsing.base import Parsed, Parser
from nfh_models.resolution import baselines
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.text.tokens import lemmas
from nfh_tui.services.examples import ResolutionExamples, labels_of_file
from nfh_tui.services.predict_sources import opened
from nfh_tui.services.predict_sources import passages as passages_of
from tools.small_model.overlap import Overlap

if TYPE_CHECKING:
    from nfh_models.encoder.backbone import Pieces
    from nfh_models.encoder.model import EncoderModel


# Passages made out of others: parts of them, with words replaced or left out.
#
# Their tokens are parted by one space.

BEFORE = 40
AFTER = 20
"""Words that are kept around a number of a dialog: as many as the passages of the release
have."""


def words_of(passage: Passage) -> list[str]:
    """The words of a passage, in its order."""
    return [passage.word(place) for place in range(len(passage.tokens))]


def near_item(item: Item) -> Item:
    """An anchor in the words around it."""
    start = max(0, item.anchor.start - BEFORE)
    end = min(len(item.passage.tokens), item.anchor.end + AFTER)
    return cut(item, words_of(item.passage), start, end)


def cut(item: Item, words: Sequence[str], start: int, end: int) -> Item:
    """An anchor in tokens [start, end) of its passage alone. words: of the whole passage, in
    the place of its own."""
    passage = item.passage
    new = [place for place in range(start, end) if words[place] != passage.word(place)]
    known = {place: passage.tokens[place].lemma for place in range(start, end)}
    known |= dict(zip(new, lemmas([words[place] for place in new]), strict=True))
    turns = tuple(
        Turn(
            turn.number,
            turn.speaker,
            max(turn.start, start) - start,
            min(turn.end, end) - start,
        )
        for turn in passage.turns
        if turn.start < end and turn.end > start
    )
    made = _spelled(words[start:end], [known[place] for place in range(start, end)], turns)
    anchor = Anchor(item.anchor.start - start, item.anchor.end - start)
    return Item(made, anchor)


def without(item: Item, start: int, end: int) -> Item:
    """An anchor in its passage without tokens [start, end), which stand after it in its own
    turn."""
    passage, gone = item.passage, end - start
    words = words_of(passage)
    lemmas_ = [token.lemma for token in passage.tokens]
    at = passage.turn_of(item.anchor.start)
    turns = tuple(
        Turn(
            turn.number,
            turn.speaker,
            turn.start - gone * (number > at),
            turn.end - gone * (number >= at),
        )
        for number, turn in enumerate(passage.turns)
    )
    kept = [*words[:start], *words[end:]]
    made = _spelled(kept, [*lemmas_[:start], *lemmas_[end:]], turns)
    return Item(made, item.anchor)


def _spelled(words: Sequence[str], known: Sequence[str], turns: tuple[Turn, ...]) -> Passage:
    """Words parted by one space, with their lemmas."""
    tokens: list[Token] = []
    at = 0
    for word, lemma in zip(words, known, strict=True):
        tokens.append(Token(at, at + len(word), lemma))
        at += len(word) + 1
    return Passage(" ".join(words), tuple(tokens), turns)


# What the small model is trained and tried on, out of the release's files.
#
# The rows of the identification file are parted by a hash of their text: 80 in 100 are learnt
# from, 5 choose the threshold and the best epoch, 15 are held out for the figures. Nothing is
# learnt from texts that share words with the held-back tests or with dev (`overlap`).

TRAIN = Path("resolution/nfh_train.jsonl")
DEV = Path("resolution/nfh_dev.jsonl")
IDENTIFICATION = Path("identification/dev.tsv")

HELD_IN_100 = 15
TUNING_IN_100 = 5

LEAST_WORDS = 5
"""Of a row, to be known again in a passage: shorter ones stand everywhere."""

Say = Callable[[str], None]


class RowUse(StrEnum):
    """What a row is used for."""

    TRAINING = "training"
    TUNING = "tuning"
    HELD = "held out"


class DataError(ModelsError):
    """A file that is not where it is wanted."""


@dataclass(frozen=True, slots=True)
class IdentificationRow:
    """A row of the identification file: a number in its sentence, and in the whole row."""

    example: Example
    item: Item


@dataclass(frozen=True, slots=True)
class Data:
    """All that is learnt from and tried on. overlap: what no text that is learnt from may share
    words with. dropped: how many of what were left out, and why."""

    train: Sequence[ResolutionExample]
    dev: Sequence[ResolutionExample]
    sentences: Sequence[IdentificationRow]
    tuning: Sequence[Example]
    held: Sequence[Example]
    overlap: Overlap
    dropped: Counter[str]


def read_data(folder: Path, say: Say, only: int | None = None) -> Data:
    """Read the files. only: of each so many, to try things out.

    Raises DataError and OverlapError for a file that is missing, FormatError for one that does
    not hold.
    """
    for path in (TRAIN, DEV, IDENTIFICATION):
        if not (folder / path).is_file():
            raise DataError(f"{folder / path} is missing: wanted a folder with {path}")
    dev = list(ResolutionExamples.of_file(folder / DEV))[:only]
    overlap = Overlap.read(folder, (example.item.passage for example in dev))
    dropped: Counter[str] = Counter()
    train: list[ResolutionExample] = []
    for example in ResolutionExamples.of_file(folder / TRAIN):
        listed = overlap.of_line(TRAIN, line_of(example.where))
        shared = overlap.of(example.item.passage, sentences=False)
        if listed or shared:
            dropped[f"labelled fused heads that overlap with {shared or 'tests'}"] += 1
        else:
            train.append(example)
    text = " # ".join(spelled(example.item.passage) for example in dev)
    parts: dict[RowUse, list[IdentificationRow]] = {part: [] for part in RowUse}
    for one in read_sentences(folder / IDENTIFICATION):
        part = part_of(one.item.passage)
        listed = overlap.of_line(IDENTIFICATION, line_of(one.example.where))
        shared = overlap.of(one.item.passage)
        if shared is None and stands_in(one.item.passage, text):
            shared = "dev"
        if part is not RowUse.HELD and (listed or shared):
            dropped[f"identification rows that overlap with {shared or 'tests'}"] += 1
        else:
            parts[part].append(one)
    say(
        f"{len(train):,} anchors to learn from, {len(dev):,} of dev; sentences: "
        + ", ".join(f"{len(found):,} {part}" for part, found in parts.items())
        + f"; left out: {counted(dropped)}"
    )
    return Data(
        train[:only],
        dev,
        parts[RowUse.TRAINING][:only],
        [one.example for one in parts[RowUse.TUNING][:only]],
        [one.example for one in parts[RowUse.HELD][:only]],
        overlap,
        dropped,
    )


def line_of(where: str) -> int:
    """The number in an example's "line 12"."""
    return int(where.removeprefix("line "))


def counted(what: Counter[str]) -> str:
    """ "3 rows that overlap with dev, 2 dialogs …" in the order of their names; "none"."""
    return ", ".join(f"{n:,} {name}" for name, n in sorted(what.items())) or "none"


def read_sentences(path: Path) -> Iterable[IdentificationRow]:
    """The rows of an identification file that say whether their number is a fused head."""
    for passage, anchors in labels_of_file(path).read([]):
        for one in anchors:
            says = None if one.gold is None else one.gold.answer.kind.identification
            if says is None:
                continue
            case = next(cases_of(passage, [one.anchor]))
            example = Example(case, says, one.where, passage.digest, passage=passage)
            yield IdentificationRow(example, Item(passage, one.anchor))


def part_of(passage: Passage) -> RowUse:
    """What a row is used for; rows of one text have one use."""
    words = " ".join(words_of(passage))
    drawn = int(hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest(), 16) % 100
    if drawn < HELD_IN_100:
        return RowUse.HELD
    return RowUse.TUNING if drawn < HELD_IN_100 + TUNING_IN_100 else RowUse.TRAINING


def spelled(passage: Passage) -> str:
    """The words in lower case, parted by spaces, without what is neither letter nor digit."""
    words = (re.sub(r"[^a-z0-9]+", "", word.lower()) for word in words_of(passage))
    return " ".join(filter(None, words))


def stands_in(passage: Passage, text: str) -> bool:
    """Whether a row stands in a text that is `spelled`."""
    own = spelled(passage)
    return own.count(" ") + 1 >= LEAST_WORDS and own in text


CHUNK = 512
"""Anchors whose labels are written together: what a kill may cost."""


@dataclass(slots=True)
class TeacherLabels:
    """What teachers say, by `key_of_item`. soft: the mean of their probabilities. shown: the
    first one's states of words, where asked for."""

    soft: dict[str, Soft] = field(default_factory=dict)
    shown: dict[str, TeacherStates] = field(default_factory=dict)


def labels(
    teachers: Sequence[Path], items: Sequence[Item], work: Path, say: Say, *, states: bool
) -> TeacherLabels:
    """What the teachers say of some anchors; nothing without a teacher.

    teachers: model directories. What `work` holds already is read from there. Raises
    ModelFileError for a teacher that does not hold.
    """
    keyed = {key_of_item(item): item for item in items}
    each = [
        _of_one(one, keyed, work, say, states=states and place == 0)
        for place, one in enumerate(teachers)
    ]
    if not each:
        return TeacherLabels()
    soft: dict[str, Soft] = {
        key: np.asarray(np.mean([one.soft[key] for one in each], 0), np.float32)
        for key in keyed
    }
    return TeacherLabels(soft, each[0].shown)


def _of_one(
    teacher: Path, keyed: dict[str, Item], work: Path, say: Say, *, states: bool
) -> TeacherLabels:
    """What one teacher says of the anchors; what is new is written."""
    digest = hashlib.sha256(digest_of(teacher).encode()).hexdigest()[:12]
    folder = work / f"labels-{digest}{'-states' if states else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    known = _read(folder, keyed)
    missing = [key for key in keyed if key not in known.soft]
    say(f"{len(keyed):,} anchors for {teacher.name}, {len(missing):,} of them new")
    if not missing:
        return known
    model = _load(teacher)
    for start in range(0, len(missing), CHUNK):
        keys = missing[start : start + CHUNK]
        found = _taught(model, [keyed[key] for key in keys], states=states)
        _write(folder, keys, found)
        say(f"labelled {min(start + CHUNK, len(missing)):,} of {len(missing):,}")
    # As the files have them, so that a run that goes on learns from the same numbers.
    return _read(folder, keyed)


def _load(folder: Path) -> "EncoderModel":
    """A teacher without its class priors: what learns from it is shifted to them in the end."""
    from nfh_models.encoder import load_encoder
    from nfh_models.encoder.model import NO_SHIFT

    model = load_encoder(folder)
    return replace(model, bundle=replace(model.bundle, shift=NO_SHIFT))


@dataclass(frozen=True, slots=True)
class _Chunk:
    soft: Sequence[Soft]
    shown: Sequence[TeacherStates]


def _taught(teacher: "EncoderModel", items: Sequence[Item], *, states: bool) -> _Chunk:
    from tools.small_model import distillation

    if states:
        return _Chunk(*distillation.teacher_output(teacher, items))
    return _Chunk(distillation.soft_targets(teacher, items), ())


# --- files ----------------------------------------------------------------------------------


def _write(folder: Path, keys: Sequence[str], found: _Chunk) -> None:
    """Probabilities in one file, states beside it in another that is there first. Named by
    their keys, so that no others have their name."""
    name = hashlib.sha256("".join(keys).encode()).hexdigest()[:16]
    if found.shown:
        every = np.concatenate([one.states for one in found.shown])
        beside = path_beside(folder / name, "tmp")
        with beside.open("xb") as file:
            np.save(file, every, allow_pickle=False)
        beside.replace(folder / f"{name}.states.npy")
    beside = path_beside(folder / name, "tmp")
    with beside.open("xb") as file:
        np.savez(
            file,
            keys=np.array(keys),
            sizes=np.array([len(one) for one in found.soft], np.int64),
            values=np.concatenate(found.soft).astype(np.float16),
            offsets=np.array([one.offset for one in found.shown], np.int64),
            words=np.array([len(one.states) for one in found.shown], np.int64),
        )
    beside.replace(folder / f"{name}.npz")


def _read(folder: Path, wanted: dict[str, Item]) -> TeacherLabels:
    """What is there of the wanted; a file that does not hold is worked out anew."""
    known = TeacherLabels()
    for path in sorted(folder.glob("*.npz")):
        try:
            keys, soft, shown = _chunk(path)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            continue
        for place, key in enumerate(keys):
            if key not in wanted:
                continue
            known.soft[key] = soft[place]
            if shown:
                known.shown[key] = shown[place]
    return known


def _chunk(path: Path) -> tuple[list[str], list[Soft], list[TeacherStates]]:
    with np.load(path, allow_pickle=False) as held:
        keys: list[str] = held["keys"].tolist()
        soft = np.split(held["values"].astype(np.float32), np.cumsum(held["sizes"])[:-1])
        words, offsets = held["words"].tolist(), held["offsets"].tolist()
    if len(soft) != len(keys):
        raise ValueError("other keys than values")
    if not words:
        return keys, soft, []
    # From the disk when they are learnt from: together they may be larger than the memory.
    every = np.load(path.with_suffix(".states.npy"), mmap_mode="r", allow_pickle=False)
    if len(every) != sum(words) or len(words) != len(keys):
        raise ValueError("other states than words")
    ends = [0, *np.cumsum(words).tolist()]
    parts = [every[start:end] for start, end in pairwise(ends)]
    return keys, soft, [TeacherStates(*one) for one in zip(offsets, parts, strict=True)]


FARTHEST_NOUN = 3
"""Tokens from a number to the noun that it counts, at most, for the noun to be left out."""

COUNTS = ("two", "two", "three", "three", "four", "five", "six", "ten")
"""In place of a noun in the plural with what stands before it."""

TRIED = 5
"""Words that are looked at for one that is a noun."""

BEFORE_NOUN = frozenset(("DET", "NUM", "PRON"))
"""What is replaced together with a noun in the plural: "the dogs", "his dogs", "six dogs"."""


def elided(item: Item, case: SentenceNumber) -> Silver | None:
    """A number without the noun that it counts, and what stands between them; None where it
    counts none that is near. case: the number in its sentence, parsed.

    Where the noun stands elsewhere in the passage, too, it is the head; else a teacher has to
    say what the head is.
    """
    parsed, last = case.parsed, case.end - 1
    if parsed is None or not parsed.heads or parsed.relations[last] != "nummod":
        return None
    noun = parsed.heads[last]
    if not last < noun <= last + FARTHEST_NOUN or parsed.pos[noun] != "NOUN":
        return None
    end = item.anchor.end
    gone = item.passage.tokens[end + noun - last - 1]
    made = without(item, end, end + noun - last)
    again = [n for n, one in enumerate(made.passage.tokens) if one.lemma == gone.lemma]
    if not again:
        return Silver(made)
    return Silver(made, reference_answer([[Mention(one, one + 1, one) for one in again]]))


def parsed_cases(cases: Iterable[SentenceNumber], parser: Parser) -> Iterator[SentenceNumber]:
    """Each case with its sentence parsed, in order and in bounded memory."""
    for given in batches_of(cases, lambda case: case.word_span, BATCH):
        yield from parse_cases(given, parser)


def elided_sentences(
    sentences: Sequence[IdentificationRow], parser: Parser
) -> Iterator[Silver]:
    """The rows that are no fused heads, without the nouns that their numbers count."""
    some = [one for one in sentences if not one.example.nfh]
    cases = parsed_cases((one.example.case for one in some), parser)
    for one, case in zip(some, cases, strict=True):
        made = elided(one.item, case)
        if made is not None:
            yield made


# --- nouns that stand there twice -----------------------------------------------------------


def unnamed(
    passages: Sequence[Passage], parser: Parser, most: int, seed: int = 11
) -> Iterator[Silver]:
    """Nouns that stood in their passage before, with a number in their place: "the red car"
    becomes "the red one", "his dogs" becomes "three". A teacher has to say what the heads are.

    most: of each passage, drawn by chance.
    """
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    items = [
        Item(passage, Anchor(place, place + 1))
        for passage in passages
        for place in _again(passage, TRIED * most, rng)
    ]
    given: Counter[str] = Counter()
    cases = parsed_cases((next(cases_of(one.passage, [one.anchor])) for one in items), parser)
    for item, case in zip(items, cases, strict=True):
        if case.parsed is None or given[item.passage.digest] == most:
            continue
        made = _numbered(item, case, case.parsed, rng)
        if made is not None:
            given[item.passage.digest] += 1
            yield Silver(near_item(made))


def _again(passage: Passage, most: int, rng: random.Random) -> list[int]:
    """Some of the words whose lemma stood there before."""
    known: set[str] = set()
    found: list[int] = []
    for place, token in enumerate(passage.tokens):
        word = passage.word(place)
        if len(word) > 2 and word.isalpha():
            if token.lemma in known:
                found.append(place)
            known.add(token.lemma)
    rng.shuffle(found)
    return found[:most]


def _numbered(
    item: Item, case: SentenceNumber, parsed: Parsed, rng: random.Random
) -> Item | None:
    """A noun's item with a number in its place; None for what is no noun, for one that is
    part of a longer name, and for one that a number counts."""
    at = case.start
    if parsed.pos[at] != "NOUN" or parsed.relations[at] == "compound":
        return None
    first = at
    if parsed.tags[at] == "NNS":
        while first > 0 and parsed.heads[first - 1] == at and at - first < FARTHEST_NOUN:
            first -= 1
        if first < at and parsed.pos[first] not in BEFORE_NOUN:
            first = at
    elif at == 0 or parsed.pos[at - 1] not in ("DET", "ADJ") or parsed.heads[at - 1] != at:
        return None
    word = "one" if parsed.tags[at] == "NN" else rng.choice(COUNTS)
    words = list(words_of(item.passage))
    start = item.anchor.start - (at - first)
    words[start] = word
    given = Item(item.passage, Anchor(start, start + 1))
    changed = cut(given, words, 0, len(words))
    return without(changed, start + 1, item.anchor.end) if first < at else changed


# Words that can stand for others in copies of examples: neighbours in an encoder's word table.
#
# As the augmentation of Jiao et al. (2020), "TinyBERT: Distilling BERT for Natural Language
# Understanding" (section 3.3), with one word for all mentions of another, since mentions are
# what heads are found by.

NEAREST = 12
"""Neighbours that are drawn from."""

COMMON = 150
"""The commonest words stay: what they do for a sentence no other word does."""

LEAST = 3
"""Letters of a word that is replaced, and of one that replaces it."""

Table = NDArray[np.float32]
Neighbours = Mapping[str, Sequence[str]]


def neighbours_of(base: str, words: Iterable[str]) -> Neighbours:
    """Of each word, in lower case, that an encoder has in one piece, those of the words that
    are nearest to it in its word table. base: the encoder's folder or name.

    Raises what `pretrained` raises.
    """
    from nfh_models.encoder.backbone import pretrained

    backbone = pretrained(base)
    table = backbone.module.get_input_embeddings().weight  # type: ignore[operator]
    return neighbours(_replaceable(words), backbone.pieces, table.detach().numpy())


def _replaceable(words: Iterable[str]) -> list[str]:
    counted = Counter(word.lower() for word in words)
    common = {word for word, _ in counted.most_common(COMMON)}
    return sorted(
        word
        for word in counted
        if len(word) >= LEAST and word.isascii() and word.isalpha() and word not in common
    )


def neighbours(words: Sequence[str], pieces: "Pieces", table: Table) -> Neighbours:
    """The neighbours of each word by cosine among those that are one piece."""
    cut = pieces.cut(words)
    whole = [word for word, own in zip(words, cut, strict=True) if len(own) == 1]
    if len(whole) < 2:
        return {}
    vectors = table[[own[0] for own in cut if len(own) == 1]]
    vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    most = min(NEAREST, len(whole) - 1)
    found: dict[str, list[str]] = {}
    for start in range(0, len(whole), 512):
        likeness = vectors[start : start + 512] @ vectors.T
        likeness[np.arange(len(likeness)), np.arange(start, start + len(likeness))] = -np.inf
        best = np.argsort(-likeness, axis=1, kind="stable")[:, :most]
        for place, row in enumerate(best):
            found[whole[start + place]] = [whole[other] for other in row]
    return found


def replaced(
    words: Sequence[str], share: float, neighbours: Neighbours, rng: random.Random
) -> list[str]:
    """The words with a share of the different ones among them replaced, each everywhere by
    the same; capitals stay."""
    drawn: dict[str, str] = {}
    made: list[str] = []
    for word in words:
        lower = word.lower()
        if lower not in drawn:
            others = neighbours.get(lower, ())
            swap = bool(others) and rng.random() < share
            drawn[lower] = rng.choice(others) if swap else lower
        other = drawn[lower]
        made.append(word if other == lower else _like(other, word))
    return made


def _like(word: str, other: str) -> str:
    """The word with the capitals of another."""
    if len(other) > 1 and other.isupper():
        return word.upper()
    return word.capitalize() if other[0].isupper() else word


# Anchors for the small model that nobody labelled by hand.
#
# Other numbers of the training passages that the rules take for fused heads; the fused heads
# of the identification file, whose heads the paper's deterministic patterns say where they
# can; numbers of dialogs that nobody has looked at; and copies of the training examples, cut
# to fewer turns, with other numbers and other words.

SWAPPED = 0.5
"""The share of copies whose number is another."""

ONE_SWAPPED = 0.4
"""Of those with "one" the share in which it is."""

AFTER_ONE = ("two", "three", "four", "one", "five")
CUT = 0.6
"""The share of copies that are cut at the beginning, and at the end."""

REWORDED = 0.75
"""The share of copies with other words."""

WORDS = 0.3
"""The share of different words that are replaced in them."""


def other_numbers(examples: Sequence[ResolutionExample], parser: Parser) -> Iterator[Silver]:
    """The numbers of the passages that are no example's anchor, as fused heads; each passage
    once."""
    taken: dict[str, set[int]] = {}
    passages: dict[str, Passage] = {}
    for example in examples:
        passages.setdefault(example.group, example.item.passage)
        anchor = example.item.anchor
        taken.setdefault(example.group, set()).update(range(anchor.start, anchor.end))
    items = [
        Item(passage, anchor)
        for group, passage in passages.items()
        for anchor in numbers_of(passage, spaced_out=False)
        if taken[group].isdisjoint(range(anchor.start, anchor.end))
    ]
    yield from as_fused(items, parser)


def as_fused(items: Sequence[Item], parser: Parser) -> Iterator[Silver]:
    """Numbers that the rules take for fused heads; and of the others those that count a noun,
    without it, which makes them fused heads."""
    cases = (next(cases_of(item.passage, [item.anchor])) for item in items)
    for item, (case, decision) in zip(items, decide(cases, Rules(), parser), strict=True):
        made = Silver(item) if decision.nfh else elided(item, case)
        if made is not None:
            yield made


def dialogs_of(
    path: Path, parser: Parser, nouns: int, overlap: Overlap, dropped: Counter[str]
) -> Iterator[Silver]:
    """Anchors of a file of dialogs (`Name: text` lines, an empty line between dialogs): its
    numbers as fused heads, and of each dialog with numbers some nouns replaced by a number.

    What is learnt from is the words around an anchor; those that overlap with what is held
    out are left out, and counted in `dropped`. Raises FormatError for a file that is no text.
    """
    with opened(str(path)) as stream:
        dialogs = list(passages_of(stream, DIALOG.name, "found"))
    items = [near_item(Item(one.passage, anchor)) for one in dialogs for anchor in one.anchors]
    made = chain(
        as_fused(items, parser), unnamed([one.passage for one in dialogs], parser, nouns)
    )
    for silver in made:
        shared = overlap.of(silver.item.passage)
        if shared is None:
            yield silver
        else:
            dropped[f"anchors of dialogs that overlap with {shared}"] += 1


# --- patterns -------------------------------------------------------------------------------


def fused_heads(sentences: Sequence[IdentificationRow], parser: Parser) -> Iterator[Silver]:
    """The fused heads among the rows, with what the patterns say of their heads."""
    positive = [one for one in sentences if one.example.nfh]
    cases = parsed_cases((one.example.case for one in positive), parser)
    for one, case in zip(positive, cases, strict=True):
        found = None
        if case.parsed is not None:
            found = baselines.find(case.parsed, case.start, case.end)
        offset = one.item.anchor.start - case.start
        yield Silver(one.item, gold_of(found, offset), nfh=True)


def gold_of(pattern: baselines.Pattern | None, offset: int) -> Answer | None:
    """What a pattern says; None where it only says that there is a noun elsewhere. offset: of
    the sentence in its passage."""
    if pattern is None or pattern.kind is None:
        return None
    if pattern.kind is not Kind.REFERENCE:
        return class_answer(pattern.kind)
    tokens = [token + offset for token in pattern.heads]
    return reference_answer([Mention(one, one + 1, one)] for one in tokens)


# --- copies ---------------------------------------------------------------------------------


def copies(
    items: Iterable[Item], times: int, neighbours: Neighbours, seed: int = 7
) -> Iterator[Silver]:
    """Copies cut to fewer turns around the anchor, with another number or with other words;
    none that is its original. A teacher has to say what their heads are."""
    rng = random.Random(seed)  # noqa: S311 - a draw, no secret
    each = list(items)
    digits, letters = _numbers(each)
    for _ in range(times):
        for item in each:
            start, end = _span(item, rng)
            own = words_of(item.passage)
            words = list(own)
            if rng.random() < REWORDED:
                words = _reworded(item, words, neighbours, rng)
            other = _other(item, digits, letters, rng)
            if other is not None:
                words[item.anchor.start] = other
            if words != own or end - start < len(own):
                yield Silver(cut(item, words, start, end))


def _reworded(
    item: Item, words: list[str], neighbours: Neighbours, rng: random.Random
) -> list[str]:
    """The words with some replaced; the anchor's stay."""
    made = replaced(words, WORDS, neighbours, rng)
    start, end = item.anchor.start, item.anchor.end
    made[start:end] = words[start:end]
    return made


def _numbers(items: Sequence[Item]) -> tuple[list[str], list[str]]:
    """The anchors of one token, as often as they stand there: those with digits, others."""
    words = Counter(
        item.passage.word(item.anchor.start)
        for item in items
        if item.anchor.end - item.anchor.start == 1
    )
    each = list(words.elements())
    return [w for w in each if w[0].isdigit()], [w for w in each if not w[0].isdigit()]


def _span(item: Item, rng: random.Random) -> tuple[int, int]:
    """The tokens of whole turns around the anchor."""
    turns = item.passage.turns
    own, last = item.passage.turn_of(item.anchor.start), len(turns) - 1
    end = item.passage.turn_of(item.anchor.end - 1)
    low = rng.randint(0, own) if rng.random() < CUT else 0
    high = rng.randint(end, last) if rng.random() < CUT else last
    return turns[low].start, turns[high].end


def _other(
    item: Item, digits: Sequence[str], letters: Sequence[str], rng: random.Random
) -> str | None:
    """Another number in place of an anchor of one token; None to keep it."""
    anchor = item.anchor
    if anchor.end - anchor.start > 1 or rng.random() >= SWAPPED:
        return None
    word = item.passage.word(anchor.start)
    if word.lower() == "one":
        drawn = rng.choice(AFTER_ONE) if rng.random() < ONE_SWAPPED else word
    else:
        pool = digits if word[0].isdigit() else letters
        drawn = rng.choice(pool) if pool else word
    return None if drawn == word else drawn
