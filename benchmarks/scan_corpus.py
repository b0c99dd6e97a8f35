"""A made-up corpus in plain English, for `scan.py`: one sentence in twenty with a number.

Seeded. The sentences are templates with words put in, and names that are made up anew again and
again, so that the vocabulary grows with the text as it does in real ones.
"""

import random
from collections.abc import Iterator
from pathlib import Path

from data import SYLLABLES

from nfh_models.text.numbers import may_hold_number

NUMBER_EVERY = 20
"""One sentence in so many holds a number: what the benchmark promises."""

PLAIN = (
    "{Name} walked along the {adjective} {noun} and looked at the {noun}.",
    "The {noun} near the {noun} was {adjective}, or so {Name} believed.",
    "Nobody in the {noun} had seen the {adjective} {noun} since the {noun} was {verb}ed.",
    '"Did you {verb} the {noun}?" asked {Name}, who had always liked the {noun}.',
    "After the {noun}, {Name} and {Name} {verb}ed the {adjective} {noun} of {Name}.",
    "It was a {adjective} {noun}, and the {noun} behind it was more {adjective} still.",
    "When the {noun} came, people would {verb} the {noun} and talk about the {noun}.",
    "{Name} never understood why the {noun} should {verb} a {adjective} {noun}.",
    "We {verb}ed the {noun}; then the {noun} {verb}ed us, and that was that.",
    "I know that {Name} can {verb} any {noun}, even a {adjective} and {adjective} {noun}.",
)
NUMBERED = (
    "{Name} bought {number} {noun}s, but {Name} had only {number} left.",
    "There were {number} {adjective} {noun}s in the {noun}.",
    "I would take the {adjective} {noun}, and you can have the other {number}.",
    "{number} of the {noun}s were {verb}ed before {Name} came.",
    "The {noun} was built in 19{digits} and sold for ${digits},000 in the end.",
    "No one could {verb} the {noun} at {number} in the morning.",
    "She is {number}, and her {noun} is {number} or {number} years old.",
    "Of the {noun}s of {Name}, one was {adjective} and {number} were not.",
)
NOUNS = (
    "house river garden letter window street market teacher painter station bridge carpet "
    "story engine forest village kitchen hammer ticket island mirror blanket concert pocket "
    "lantern harbour cottage orchard curtain saddle basket meadow tunnel ladder"
).split()
VERBS = (
    "watch mend follow paint visit answer cross repair gather lift load pull open wash".split()
)
ADJECTIVES = (
    "quiet narrow bright wooden heavy empty gentle broken golden distant early bitter hollow "
    "crooked silent dusty cheerful clever frozen"
).split()
NUMBERS = (
    "one two three four five six seven eight nine ten twelve twenty forty 12 17 250".split()
)
PARAGRAPH = 8


def write_corpus(path: Path, size: int, seed: int = 1) -> int:
    """Write at least `size` bytes of text; returns how many sentences hold a number."""
    numbered = written = 0
    with path.open("w", encoding="utf-8") as file:
        for paragraph, held in paragraphs(seed):
            written += file.write(paragraph)
            numbered += held
            if written >= size:
                return numbered
    return numbered


def paragraphs(seed: int = 1) -> Iterator[tuple[str, int]]:
    """Paragraphs without end, each with an empty line after it, and how many of its
    sentences hold a number."""
    source = random.Random(seed)
    place = 0
    while True:
        sentences, held = [], 0
        for _ in range(PARAGRAPH):
            numbered = place % NUMBER_EVERY == NUMBER_EVERY // 2
            sentences.append(_sentence(source, NUMBERED if numbered else PLAIN))
            held += numbered
            place += 1
        yield "\n".join([" ".join(sentences[:4]), " ".join(sentences[4:]), "", ""]), held


def _sentence(source: random.Random, templates: tuple[str, ...]) -> str:
    filled = source.choice(templates)
    for slot, words in (("{noun}", NOUNS), ("{verb}", VERBS), ("{adjective}", ADJECTIVES)):
        while slot in filled:
            filled = filled.replace(slot, source.choice(words), 1)
    while "{Name}" in filled:
        filled = filled.replace("{Name}", _name(source), 1)
    while "{number}" in filled:
        filled = filled.replace("{number}", source.choice(NUMBERS), 1)
    while "{digits}" in filled:
        filled = filled.replace("{digits}", str(source.randrange(10, 99)), 1)
    return filled[0].upper() + filled[1:]


def _name(source: random.Random) -> str:
    while True:
        name = "".join(source.choices(SYLLABLES, k=source.randint(2, 4)))
        if not may_hold_number(name):  # "ze" and "ro" may meet
            return name.capitalize()
