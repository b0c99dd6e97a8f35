"""Figures of a model on the constructions that models are known to fail on, one for each.

    python -m tools.small_model.hard_items [FOLDER]...

FOLDER: a model directory; the packaged `small` without one. The items are written for this
and are in no other set. An item is right where resolution chooses its noun or its class; one
whose number is no NFH is right where identification says so.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec

from nfh_db.formats.dialog import block_of
from nfh_models import ModelsError
from nfh_models.domain import Anchor, Kind, Mention, Passage, class_answer, reference_answer
from nfh_models.encoder import load_encoder
from nfh_models.identification.base import Identifier, cases_of
from nfh_models.resolution.base import Choice, Item, ResolutionExample, Resolver
from nfh_models.resolution.scoring import judge_one
from nfh_models.small import small_folder
from nfh_tui.services.imports import passage_of_turns, tokenized_turns

ITEMS = Path(__file__).parents[2] / "tests/nfh_models/encoder/hard_items.jsonl"

Span = tuple[int, int]


class HardItemRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file. Spans are code points of the text."""

    phenomenon: str
    text: str
    """One turn a line, each with its speaker."""
    anchor: Span
    gold: list[Kind | Span]
    """One class, or spans of one word each; any of them is right."""


@dataclass(frozen=True, slots=True)
class HardItem:
    """An anchor of a construction that models fail on, with its gold."""

    phenomenon: str
    example: ResolutionExample

    @property
    def nfh(self) -> bool:
        return self.example.gold.kind is not Kind.NOT_NFH


def read_items(path: Path = ITEMS) -> list[HardItem]:
    """The items, in the order of the file. Raises ValueError for a span that is not made of
    tokens."""
    lines = path.read_bytes().splitlines()
    return [_item(msgspec.json.decode(line, type=HardItemRow)) for line in lines]


def _item(row: HardItemRow) -> HardItem:
    passage = passage_of_turns(row.text, tokenized_turns(block_of(row.text, 1)))
    anchor = Anchor(*_tokens(passage, row.anchor))
    kinds = [one for one in row.gold if isinstance(one, Kind)]
    heads = [_tokens(passage, one) for one in row.gold if not isinstance(one, Kind)]
    if kinds:
        gold = class_answer(*kinds)
    else:
        gold = reference_answer([[Mention(start, end, end - 1) for start, end in heads]])
    gold.check(len(passage.tokens), anchor.start, anchor.end)
    where = f"{row.phenomenon}: {row.text[:40]!r}"
    return HardItem(
        row.phenomenon, ResolutionExample(Item(passage, anchor), gold, where, passage.digest)
    )


def _tokens(passage: Passage, span: Span) -> Span:
    """The tokens [start, end) of a span of code points."""
    starts = {token.start: place for place, token in enumerate(passage.tokens)}
    ends = {token.end: place + 1 for place, token in enumerate(passage.tokens)}
    start, end = span
    if start not in starts or end not in ends:
        raise ValueError(f"{passage.text[start:end]!r} is not made of whole tokens")
    return starts[start], ends[end]


def right(items: Sequence[HardItem], resolver: Resolver, identifier: Identifier) -> list[bool]:
    """Whether each item is right: by the resolver where its number is an NFH, by the identifier
    where it is none."""
    fused = [one for one in items if one.nfh]
    others = [one for one in items if not one.nfh]
    chosen = zip(fused, resolver.resolve([one.example.item for one in fused]), strict=True)
    cases = [
        case
        for one in others
        for case in cases_of(one.example.passage, [one.example.item.anchor])
    ]
    decided = zip(others, identifier.decide(cases), strict=True)
    found = {id(one): judge_one(one.example, choice).inclusive for one, choice in chosen}
    found |= {id(one): not decision.nfh for one, decision in decided}
    return [found[id(one)] for one in items]


Counts = dict[str, tuple[int, int]]
"""By phenomenon: items that are right, and all."""


def counts(items: Sequence[HardItem], judged: Sequence[bool]) -> Counts:
    every = Counter(one.phenomenon for one in items)
    hit = Counter(one.phenomenon for one, is_right in zip(items, judged, strict=True) if is_right)
    return {phenomenon: (hit[phenomenon], n) for phenomenon, n in every.items()}


def table(found: dict[str, Counts]) -> str:
    """Markdown: a row for each phenomenon, a column for each model."""
    rows = [["phenomenon", *found], ["---"] * (len(found) + 1)]
    for phenomenon in next(iter(found.values())):
        rows.append([phenomenon, *("{} of {}".format(*one[phenomenon]) for one in found.values())])
    sums = [[sum(pair[at] for pair in one.values()) for at in (0, 1)] for one in found.values()]
    rows.append(["all", *("{} of {}".format(*pair) for pair in sums)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
