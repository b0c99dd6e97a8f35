"""What the small model is trained and tried on, out of the release's files.

The rows of the identification file are parted by a hash of their text: 80 in 100 are learnt
from, 5 choose the threshold and the best epoch, 15 are held out for the figures. Rows whose
text stands in a dev passage are not learnt from.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from nfh_models.domain import Passage, identified
from nfh_models.errors import ModelsError
from nfh_models.identification.cases import cases_of
from nfh_models.identification.example import Example
from nfh_models.resolution.item import Item, ResolutionExample
from nfh_tui.labelled import labels_of_file
from nfh_tui.resolution_examples import resolution_examples_of_file
from nfh_tui.small_passages import words_of

TRAIN = Path("resolution/nfh_train.jsonl")
DEV = Path("resolution/nfh_dev.jsonl")
IDENTIFICATION = Path("identification/dev.tsv")

HELD_IN_100 = 15
TUNING_IN_100 = 5

LEAST_WORDS = 5
"""Of a row, to be known again in a passage: shorter ones stand everywhere."""

Say = Callable[[str], None]


class Part(StrEnum):
    """What a row is used for."""

    TRAINING = "training"
    TUNING = "tuning"
    HELD = "held out"


class DataError(ModelsError):
    """A file that is not where it is wanted."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A row of the identification file: a number in its sentence, and in the whole row."""

    example: Example
    item: Item


@dataclass(frozen=True, slots=True)
class Data:
    """All that is learnt from and tried on. dropped: rows whose text stands in dev."""

    train: Sequence[ResolutionExample]
    dev: Sequence[ResolutionExample]
    sentences: Sequence[Sentence]
    tuning: Sequence[Example]
    held: Sequence[Example]
    dropped: int


def read_data(folder: Path, say: Say, only: int | None = None) -> Data:
    """Read the three files. only: of each so many, to try things out.

    Raises DataError for a file that is missing, FormatError for one that does not hold.
    """
    for path in (TRAIN, DEV, IDENTIFICATION):
        if not (folder / path).is_file():
            raise DataError(f"{folder / path} is missing: wanted a folder with {path}")
    dev = list(resolution_examples_of_file(folder / DEV))[:only]
    kept_out = {example.group for example in dev}
    train = [
        example
        for example in resolution_examples_of_file(folder / TRAIN)
        if example.group not in kept_out
    ][:only]
    text = " # ".join(spelled(example.item.passage) for example in dev)
    parts: dict[Part, list[Sentence]] = {part: [] for part in Part}
    dropped = 0
    for one in read_sentences(folder / IDENTIFICATION):
        part = part_of(one.item.passage)
        if part is Part.TRAINING and stands_in(one.item.passage, text):
            dropped += 1
        else:
            parts[part].append(one)
    say(
        f"{len(train):,} anchors to learn from, {len(dev):,} of dev; sentences: "
        + ", ".join(f"{len(found):,} {part}" for part, found in parts.items())
        + f", {dropped:,} left out because they stand in dev"
    )
    return Data(
        train,
        dev,
        parts[Part.TRAINING][:only],
        [one.example for one in parts[Part.TUNING][:only]],
        [one.example for one in parts[Part.HELD][:only]],
        dropped,
    )


def read_sentences(path: Path) -> Iterable[Sentence]:
    """The rows of an identification file that say whether their number is a fused head."""
    for passage, anchors in labels_of_file(path).read([]):
        for one in anchors:
            says = None if one.gold is None else identified(one.gold.answer.kind)
            if says is None:
                continue
            case = next(cases_of(passage, [one.anchor]))
            example = Example(case, says, one.where, passage.digest)
            yield Sentence(example, Item(passage, one.anchor))


def part_of(passage: Passage) -> Part:
    """What a row is used for; rows of one text have one use."""
    words = " ".join(words_of(passage))
    drawn = int(hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest(), 16) % 100
    if drawn < HELD_IN_100:
        return Part.HELD
    return Part.TUNING if drawn < HELD_IN_100 + TUNING_IN_100 else Part.TRAINING


def spelled(passage: Passage) -> str:
    """The words in lower case, parted by spaces, without what is neither letter nor digit."""
    words = (re.sub(r"[^a-z0-9]+", "", word.lower()) for word in words_of(passage))
    return " ".join(filter(None, words))


def stands_in(passage: Passage, text: str) -> bool:
    """Whether a row stands in a text that is `spelled`."""
    own = spelled(passage)
    return own.count(" ") + 1 >= LEAST_WORDS and own in text
