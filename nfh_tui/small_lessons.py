"""What the small model is taught: the labelled examples, and what teachers say of others."""

import random
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING

from nfh_models.encoder.lessons import Silver
from nfh_tui.small_asked import Asked
from nfh_tui.small_labels import labels
from nfh_tui.small_material import Data, Say
from nfh_tui.small_nouns import elided_sentences, unnamed
from nfh_tui.small_passages import words_of
from nfh_tui.small_silver import copies, dialogs_of, fused_heads, other_numbers
from nfh_tui.small_words import neighbours_of

if TYPE_CHECKING:
    from nfh_models.encoder.training import Material

FUSED = "fused heads of sentences"
"""The one sort of silver that is not cut to `most`: it teaches identification, too."""

Sorts = Mapping[str, list[Silver]]


def silver_of(data: Data, asked: Asked, say: Say) -> Sorts:
    """The anchors that nobody labelled by hand, by their sort; without a teacher only those
    whose head a pattern says."""
    from nfh_models.parsing import load_parser

    parser = load_parser(None)
    found = {FUSED: list(fused_heads(data.sentences, parser))}
    told = sum(one.gold is not None for one in found[FUSED])
    say(f"{len(found[FUSED]):,} {FUSED}, of {told:,} a pattern says the head")
    if asked.teachers:
        passages = list({one.group: one.item.passage for one in data.train}.values())
        for name, some in (
            ("other numbers of passages", other_numbers(data.train, parser)),
            ("nouns of passages", unnamed(passages[: asked.only], parser, asked.nouns)),
            ("counted nouns of sentences", elided_sentences(data.sentences, parser)),
            ("copies", copies_of(data, asked)),
            *(
                (f"anchors of {path.name}", dialogs_of(path, parser, asked.nouns))
                for path in asked.dialogs
            ),
        ):
            found[name] = list(some)[: asked.only]
            say(f"{len(found[name]):,} {name}")
    return found


def drawn(sorts: Sorts, most: int | None) -> list[Silver]:
    """Of each sort so many, by chance, in their order; of fused heads all."""
    made: list[Silver] = []
    for name, silver in sorts.items():
        if most is None or len(silver) <= most or name == FUSED:
            made += silver
            continue
        rng = random.Random(13)  # noqa: S311 - a draw, no secret
        made += (silver[place] for place in sorted(rng.sample(range(len(silver)), most)))
    return made


def copies_of(data: Data, asked: Asked) -> list[Silver]:
    """Copies of the labelled examples."""
    labelled = [example.item for example in data.train]
    words = chain.from_iterable(words_of(item.passage) for item in labelled)
    near = neighbours_of(asked.settings.encoder, words) if asked.times else {}
    return list(copies(labelled, asked.times, near))


def material_of(data: Data, silver: list[Silver], asked: Asked, say: Say) -> "Material":
    """All of it, with what the teachers say."""
    from nfh_models.encoder.training import Material
    from nfh_models.training_data.several_heads import several_heads_examples

    own = several_heads_examples() if asked.several else []
    train = [*data.train, *own[: asked.only]]
    items = [example.item for example in data.train]
    items += [one.item for one in silver if one.gold is None]
    states = asked.settings.states > 0
    said = labels(asked.teachers, items, asked.work, say, states=states)
    # A fused head of a sentence is among the silver, which teaches that it is one, too.
    numbers = [one.example for one in data.sentences if not one.example.nfh]
    return Material(train, numbers, data.dev, data.tuning, silver, said.soft, said.shown)
