"""English text for the benchmarks of identification: sentences without a number, and with.

The words and patterns are our own. Where the releases' files are at hand, the sentences with
a number come from there, as they are more varied than patterns can be.
"""

import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

SUBJECTS = (
    "my sister|the old baker|his neighbour|the captain|a young nurse|our teacher|"
    "the tall stranger|her lawyer|the editor|a quiet boy|the mayor|their cousin|"
    "the new doctor|Maria|Henrik|the gardener|somebody from the office|"
    "the woman at the desk|his brother|the whole family"
).split("|")
VERBS = (
    "carried|found|wanted|sold|forgot|painted|described|lost|returned|hid|borrowed|noticed|"
    "repaired|bought|remembered|refused|followed|promised|ignored|opened"
).split("|")
THINGS = (
    "the letter|a silver spoon|the broken chair|an honest answer|the keys to the barn|"
    "some bread and cheese|the photograph of the bridge|a map of the coast|the green bottle|"
    "every page of the diary|the best seat in the room|a reason to stay|the story of the flood|"
    "an umbrella without a handle|the song that nobody liked|a warm coat|the last train home"
).split("|")
PLACES = (
    "in the kitchen|near the harbour|behind the church|on the way to the station|at the market|"
    "under the stairs|across the river|in the middle of the garden|outside the theatre|"
    "by the window|beyond the hills|at her desk|in a town that has no name"
).split("|")
TIMES = (
    "yesterday|before the rain started|after a long silence|while the others slept|"
    "in the early morning|without a word|because nobody else would|"
    "as soon as the guests had left|when the lights went out|"
    "for reasons that are hard to explain|every summer|at last"
).split("|")
JOINTS = "and|but|so|because|although|while|until".split("|")
NOUNS = (
    "apples|letters|houses|children|bottles|pages|horses|tickets|years|dollars|miles|guests"
).split("|")
NUMBERS = (
    "one|one|one|one|two|two|three|four|five|six|seven|ten|twelve|twenty|forty-two|"
    "two hundred|a hundred and five|3|12|50|1985|2,500|3.5"
).split("|")
PLAIN = (
    "{S} {v} {t} {p}.",
    "{S} {v} {t} {w}.",
    "{P}, {s} {v} {t} {w}.",
    "{S} {v} {t} {p}, {j} {s} {v} {t}.",
    "Why would {s} say that {s} {v} {t} {p}?",
    "I do not know whether {s} {v} {t} or {t}.",
    "{S} said that {s} had never {v} {t} {p} {w}.",
    "There was {t} {p}, {j} {s} {v} it {w}.",
    "Oh, come on, you know very well that {s} {v} {t}!",
    "{W}, {s} {v} {t} {p}, {j} {s} {v} {t} {w}.",
)
WITH_NUMBER = (
    "{S} {v} {n} {o} {p}, {j} {s} wanted only {n}.",
    "{P}, {s} {v} {n} of the {o} {w}.",
    "No one {p} {v} {t} {w}.",
    "{S} turned {n} {p}, {j} {s} {v} {t}.",
    "Are you two done with {t}?",
    "{S} is the one who {v} {t} {p}.",
    "It was {n} or {n} {o}, {j} {s} {v} {t} {w}.",
    "{S} {v} {t} for {n} {o} {p}.",
    "I have {n} {o}, and {s} has {n}.",
    "At {n} in the morning {s} {v} {t} {p}.",
)
"""In half of these numbers a noun is missing, and in half it is not."""

SLOTS = {"s": SUBJECTS, "v": VERBS, "t": THINGS, "p": PLACES, "w": TIMES, "j": JOINTS}
SLOT = re.compile(r"\{(\w)\}")
GLUED = re.compile(r" (?=[.,;:!?%)]|n't\b|'s\b|'re\b|'ve\b|'ll\b|'m\b|'d\b)")
PARAGRAPH = 20
"""Sentences in a paragraph."""


def filled(pattern: str, source: random.Random) -> str:
    """A sentence of a pattern."""

    def choose(slot: re.Match[str]) -> str:
        name = slot[1]
        if name in ("n", "o"):
            return source.choice(NUMBERS if name == "n" else NOUNS)
        words = source.choice(SLOTS[name.lower()])
        return words[0].upper() + words[1:] if name.isupper() else words

    return SLOT.sub(choose, pattern)


def plain_sentences(seed: int) -> Iterator[str]:
    """Sentences without a number, without end."""
    source = random.Random(seed)
    while True:
        yield filled(source.choice(PLAIN), source)


def number_sentences(seed: int, file: Path | None) -> Iterator[str]:
    """Sentences with a number, without end: those of an identification file, or of patterns."""
    source = random.Random(seed)
    known = [] if file is None else release_sentences(file)
    while True:
        yield source.choice(known) if known else filled(source.choice(WITH_NUMBER), source)


def release_file() -> Path | None:
    """The identification development file, where it is at hand."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    file = Path(os.environ.get("NFH_DATA", beside)) / "identification" / "dev.tsv"
    return file if file.is_file() else None


def release_sentences(file: Path) -> list[str]:
    """The sentences of an identification file as text: punctuation joined to its word."""
    sentences = []
    with file.open(encoding="utf-8", newline="") as lines:
        next(lines)
        for line in lines:
            text = line.split("\t", 1)[0].replace("_SEP_", " ")
            text = GLUED.sub("", text.replace("``", '"').replace("''", '"'))
            sentences.append(text if text[-1] in ".!?" else f"{text}.")
    return sentences


def paragraphs(words: int, every: int, seed: int = 7, file: Path | None = None) -> list[str]:
    """Paragraphs of at least `words` white-space words together.

    One sentence in `every`, at random, holds a number; 1: all of them do.
    """
    source = random.Random(seed)
    plain, numbered = plain_sentences(seed + 1), number_sentences(seed + 2, file)
    made: list[str] = []
    count = 0
    while count < words:
        sentences = [
            next(numbered if source.randrange(every) == 0 else plain) for _ in range(PARAGRAPH)
        ]
        made.append(" ".join(sentences))
        count += len(made[-1].split())
    return made
