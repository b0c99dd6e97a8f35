"""Figures of models on constructions that models are known to fail on.

    python -m tools.small_model.hard_items [FOLDER]

FOLDER: a model directory; without it the packaged `small`. The items are written for this
purpose: nothing is learnt from them or chosen by them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from nfh_db.formats.dialog import block_of
from nfh_models.domain import Anchor, Kind, Mention, Passage, class_answer, reference_answer
from nfh_models.encoder import load_encoder
from nfh_models.encoder.settings import Task
from nfh_models.identification.base import cases_of
from nfh_models.model_files import packaged_folder
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.resolution.scoring import judge
from nfh_tui.services.imports import passage_of_turns, tokenized_turns

if TYPE_CHECKING:
    from nfh_models.encoder.model import EncoderModel

ITEMS = Path(__file__).parents[2] / "tests/nfh_models/encoder/hard_items.jsonl"

Span = tuple[int, int]


class HardItemRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the file. Spans are code points of the text."""

    phenomenon: str
    text: str
    """One turn a line, each with its speaker."""
    anchor: Span
    gold: Kind | list[Span]
    """A kind, or the places of the noun, any of which is right."""


@dataclass(frozen=True, slots=True)
class HardItem:
    """An anchor in such a construction."""

    phenomenon: str
    example: ResolutionExample

    @property
    def nfh(self) -> bool:
        return self.example.gold.kind is not Kind.NOT_NFH


def read_items(path: Path = ITEMS) -> list[HardItem]:
    """The items of a file, in its order. Raises ValueError for a malformed line."""
    return [
        _item(msgspec.json.decode(line, type=HardItemRow))
        for line in path.read_bytes().splitlines()
    ]


def _item(row: HardItemRow) -> HardItem:
    passage = passage_of_turns(row.text, tokenized_turns(block_of(row.text, 1)))
    anchor = Anchor(*_tokens(passage, row.anchor))
    if isinstance(row.gold, Kind):
        gold = class_answer(row.gold)
    else:
        spans = [_tokens(passage, one) for one in row.gold]
        gold = reference_answer([[Mention(start, end, end - 1) for start, end in spans]])
    gold.check(len(passage.tokens), anchor.start, anchor.end)
    example = ResolutionExample(Item(passage, anchor), gold, row.text, passage.digest)
    return HardItem(row.phenomenon, example)


def _tokens(passage: Passage, span: Span) -> Span:
    """The tokens [start, end) of code points. Raises ValueError unless they are whole."""
    starts = [token.start for token in passage.tokens]
    ends = [token.end for token in passage.tokens]
    return starts.index(span[0]), ends.index(span[1]) + 1


Counts = dict[str, tuple[int, int]]
"""By phenomenon: how many items are right, of how many."""


def counts_by_task(model: "EncoderModel", items: Sequence[HardItem]) -> dict[str, Counts]:
    """For each task of a model, by its name. Resolution is counted over NFHs."""
    found = {}
    task = model.bundle.settings.task
    if task is not Task.IDENTIFICATION:
        fused = [one for one in items if one.nfh]
        examples = [one.example for one in fused]
        judged = judge(examples, model.resolve([one.item for one in examples]))
        found["resolution"] = _counts(fused, (one.inclusive for one in judged))
    if task is not Task.RESOLUTION:
        asked = [one.example.item for one in items]
        cases = [case for one in asked for case in cases_of(one.passage, [one.anchor])]
        said = zip(items, model.decide(cases), strict=True)
        found["identification"] = _counts(items, (one.nfh is it.nfh for one, it in said))
    return found


def _counts(items: Sequence[HardItem], right: Iterable[bool]) -> Counts:
    every = Counter(one.phenomenon for one in items)
    hit = Counter(one.phenomenon for one, it in zip(items, right, strict=True) if it)
    return {name: (hit[name], n) for name, n in every.items()}


def table(found: Mapping[str, Counts]) -> str:
    """Markdown: a row for each phenomenon and one for all, a column for each task."""
    columns = [counts | {"all": _sum(counts)} for counts in found.values()]
    rows = [["phenomenon", *found], ["---"] * (len(found) + 1)]
    rows += [[name, *("{} of {}".format(*one[name]) for one in columns)] for name in columns[0]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _sum(counts: Counts) -> tuple[int, int]:
    right, every = zip(*counts.values(), strict=True)
    return sum(right), sum(every)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=packaged_folder("small"))
def main(folder: Path) -> None:
    """Print the table of a model."""
    click.echo(table(counts_by_task(load_encoder(folder), read_items())))


if __name__ == "__main__":
    main()
