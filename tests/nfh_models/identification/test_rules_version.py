"""The version of the recipe `rules` changes with what it decides and with its words.

The parses are kept, so that no other pipeline changes them. Where this test fails: raise
VERSION in rules.py, and put the digest that it names beside the new version. What the old
version decided in a database is forgotten then, and decided anew.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

from nfh_models.identification import rule_words
from nfh_models.identification.base import SentenceNumber
from nfh_models.identification.rules import RULES, VERSION, Rules
from nfh_models.parsing.base import Parsed, Tree, WordSpan

DIGESTS = {"rules 2": "725d78e96caa385f"}
"""By version, of everything below. Keep the older ones: they are not to return."""

SENTENCES = Path(__file__).with_name("parsed_sentences.jsonl")
WORDS = (
    "one two three 3 or of and a half 's the who $ % # to hundred , . * no another you May "
    "march 6 ' 5 chapter past last week left o'clock point twenty-one k pm per cent dozen No "
    "foot out between dogs Dogs big this only zero"
).split()
POS = "NOUN PROPN NUM ADJ VERB DET PUNCT ADP".split()
RELATIONS = "nummod compound dobj nsubj root nmod:poss det".split()
MADE_UP = 3_000


def kept() -> Iterator[SentenceNumber]:
    """Real sentences, each number of them."""
    for line in SENTENCES.read_text("utf-8").splitlines():
        row = json.loads(line)
        words = row["words"]
        layers = [row[name] for name in ("pos", "tags")]
        parsed = Parsed(words, *layers, (), row["heads"], row["relations"])
        word_span = WordSpan(words, [bool(space) for space in row["spaces"]])
        for start, end in row["numbers"]:
            yield SentenceNumber(word_span, start, end, parsed)


def made_up() -> Iterator[SentenceNumber]:
    """Words by chance, with a parse by chance: what no list of sentences thinks of."""
    drawn = random.Random(7)
    for number in range(MADE_UP):
        size = drawn.randint(1, 8)
        words = [WORDS[int(drawn.random() * len(WORDS))] for _ in range(size)]
        pos = [POS[int(drawn.random() * len(POS))] for _ in range(size)]
        tags = [("NN", "NNS", "CD", "VBN")[int(drawn.random() * 4)] for _ in range(size)]
        heads = [int(drawn.random() * size) for _ in range(size)]
        relations = [RELATIONS[int(drawn.random() * len(RELATIONS))] for _ in range(size)]
        start = int(drawn.random() * size)
        end = start + 1 + int(drawn.random() * min(3, size - start))
        trees: list[Tree] = []
        if number % 3 == 0:
            leaves = [Tree(tag, place, place + 1) for place, tag in enumerate(tags)]
            trees.append(Tree("NP" if number % 2 else "S", 0, size, tuple(leaves)))
        parsed = Parsed(words, pos, tags, (), heads, relations, trees)
        yield SentenceNumber(WordSpan(words, [True] * size), start, end, parsed)


def word_lists() -> dict[str, list[str]]:
    return {
        name: sorted(value)
        for name, value in sorted(vars(rule_words).items())
        if isinstance(value, frozenset)
    }


def test_the_version_says_what_is_decided() -> None:
    decided = [[said.nfh, said.rule] for said in Rules().decide([*kept(), *made_up()])]
    everything = json.dumps([decided, word_lists()], separators=(",", ":"))
    digest = hashlib.sha256(everything.encode()).hexdigest()[:16]
    assert DIGESTS.get(VERSION) == digest, (
        "decisions or words of the rules have changed: raise VERSION in rules.py and note its "
        f"digest here, {digest}"
    )
    assert len(set(DIGESTS.values())) == len(DIGESTS)


def test_the_list_tries_every_rule() -> None:
    tried = {said.rule for said in Rules().decide([*kept(), *made_up()])}
    assert tried == {rule.name for rule in RULES}
