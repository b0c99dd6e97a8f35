"""Makes the model `base` of the package from the release's files: `make base`.

    python -m tools.small_model.base --data DATA --base ENCODER --out FOLDER

MPNet learns resolution alone, in three phases. Each has the labels and constructions, and a
part of the labelled passages stands among turns of other dialogs, as long as those of dev. In
the last the rate falls; the weights are the averages of that phase.

With `--teacher`, the labels of the last phase are mixed with the mean probabilities of these
models. With `--start`, a model is trained further, by the last phase alone.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import msgspec

from nfh_db.formats.registry import DIALOG
from nfh_models.domain import Passage
from nfh_models.encoder.model import ModelBundle, shift_to_paper
from nfh_models.encoder.settings import EncoderSettings, Weights, settings_from
from nfh_models.encoder.training import Material, Silver, Soft
from nfh_models.parsing.base import load_parser
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.resolution.recipes import BASE
from nfh_models.training.plan import FLOOR
from nfh_tui.services.predict_sources import opened
from nfh_tui.services.predict_sources import passages as passages_of
from tools.small_model.build import (
    FILE,
    FOLDER,
    BuildRequest,
    TrainedEncoder,
    begun,
    finished,
    run,
    seen_texts,
    train,
)
from tools.small_model.constructions import Construction, Dialog, constructed, padded
from tools.small_model.data import Data, Say, labels, near_item, read_data

MPNET = "sentence-transformers/all-mpnet-base-v2"

SETTINGS = (
    "task=resolution",
    "priors=paper",
    "window=110",
    "epochs=1",
    "batch=16",
    "rate=5e-5",
    "layer_decay=0.95",
    "head_rate=5e-4",
    "averaging=0.995",
)
"""How the model of the package was trained; --set puts others in their place."""

SHARES: Mapping[Construction, int] = {
    Construction.LEFT_OUT: 360,
    Construction.INDEFINITE: 540,
    Construction.BEHIND: 420,
    Construction.REPLY: 360,
    Construction.DISTRACTOR: 240,
    Construction.DISTANT: 300,
    Construction.LIST: 240,
    Construction.CLASS: 600,
}
"""Constructions of a phase, 4,306 labels beside them."""

PADDED = 0.3, 0.3, 0.2
"""Of each phase the share of labelled passages that stand among turns of other dialogs."""

Constructed = Mapping[Construction, Sequence[ResolutionExample]]


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the training. floor: the share of the rate that remains at its end."""

    material: Material
    settings: EncoderSettings
    floor: float


def constructions_of(
    data: Data, dialogs: Sequence[Path], only: int | None, say: Say
) -> Constructed:
    """Of the passages and sentences that are learnt from, and of dialogs that nobody labelled;
    none that overlaps with what is held out."""
    passages = {one.group: Dialog.of(one.item.passage, one.where) for one in data.train}
    some = list(passages.values())
    some += [Dialog.of(one.item.passage, one.example.where) for one in data.sentences]
    for path in dialogs:
        for number, passage in enumerate(unlabelled(path, data)):
            some.append(Dialog.of(passage, f"{path.stem} {number}"))
    overlap = data.overlap
    found = {
        how: [one for one in made if overlap.of(one.item.passage, sentences=False) is None]
        for how, made in constructed(some[:only], load_parser(None)).items()
    }
    say(", ".join(f"{len(examples):,} {how}" for how, examples in found.items()))
    return found


def unlabelled(path: Path, data: Data) -> Iterator[Passage]:
    """The words around each number of a file of dialogs, without those that overlap with what
    is held out. Raises FormatError for a file that is no text."""
    with opened(str(path)) as stream:
        for one in passages_of(stream, DIALOG.name, "found"):
            for anchor in one.anchors:
                passage = near_item(Item(one.passage, anchor)).passage
                shared = data.overlap.of(passage)
                if shared is None:
                    yield passage
                else:
                    data.dropped[f"passages of dialogs that overlap with {shared}"] += 1


def phases(
    data: Data,
    made: Constructed,
    settings: EncoderSettings,
    soft: Mapping[str, Soft],
    only: int | None = None,
) -> list[Phase]:
    """The parts of the training, in order. soft: what teachers say of the labelled anchors, for
    the last."""
    by_group = {one.group: one for one in data.train}
    dialogs = [Dialog.of(one.item.passage, one.where) for one in by_group.values()]
    lengths = [len(one.item.passage.tokens) for one in data.dev]
    found = []
    for number, share in enumerate(PADDED):
        rng = random.Random(f"{settings.seed} data {number}")  # noqa: S311 - a draw, no secret
        train = [
            padded(one, dialogs, rng.choice(lengths), rng) if rng.random() < share else one
            for one in data.train
        ]
        for how, count in SHARES.items():
            pool = made.get(how, ())
            train += rng.sample(pool, min(only or count, count, len(pool)))
        last = number == len(PADDED) - 1
        material = Material(train, dev_resolution=data.dev, soft=soft if last else {})
        found.append(Phase(material, settings, FLOOR if last else 1.0))
    return found


def learn(
    parts: Sequence[Phase], start: ModelBundle | None, work: Path, say: Say
) -> TrainedEncoder:
    """Train in phases, each from the weights of the one before."""
    trained = None
    for number, phase in enumerate(parts, 1):
        say(f"phase {number} of {len(parts)}: {len(phase.material.resolution):,} examples")
        folder = work / f"phase-{number}"
        trained = train(phase.material, phase.settings, folder, start, say, phase.floor)
        start = trained.bundle
    assert trained is not None  # noqa: S101 - there are phases
    return trained


def make(asked: BuildRequest, say: Say) -> Path:
    """Make the model; its directory, in the work folder.

    Raises ModelsError and FormatError for what cannot be read or learnt from, OSError.
    """
    asked.work.mkdir(parents=True, exist_ok=True)
    data = read_data(asked.data, say, asked.only)
    made = constructions_of(data, asked.dialogs, asked.only, say)
    items = [one.item for one in data.train]
    soft = labels(asked.teachers, items, asked.work, say, states=False).soft
    parts = phases(data, made, asked.settings, soft, asked.only)
    if asked.start is not None:
        parts = parts[-1:]
    trained = learn(parts, begun(asked), asked.work, say)
    return packed(trained, data, made, asked, say)


def packed(
    trained: TrainedEncoder,
    data: Data,
    made: Constructed,
    asked: BuildRequest,
    say: Say,
) -> Path:
    """A trained model in 4 and 8 bits, with its figures, its card and the texts it has seen."""
    kept = msgspec.structs.replace(trained.bundle.settings, weights=Weights.MIXED)
    # The classes are expected as often as in the paper's corpus, not as among the labels.
    bundle = replace(trained.bundle, settings=kept, shift=shift_to_paper(data.train))
    every = {
        how.value: [Silver(one.item, one.gold) for one in some] for how, some in made.items()
    }
    learnt = Material(data.train, silver=[one for some in every.values() for one in some])
    seen = seen_texts(replace(data, sentences=(), tuning=()), every)
    return finished(replace(trained, bundle=bundle), data, learnt, seen, asked, say)


@click.command()
@click.option("--data", type=FOLDER, required=True, help="The release's files.")
@click.option("--base", required=True, help="The encoder: a folder, or a name.")
@click.option("--work", type=FOLDER, default=Path("build/base"), help="For what is kept.")
@click.option("--out", type=FOLDER, help="Where the model is put in the end.")
@click.option("--set", "words", multiple=True, help="key=value, a setting of encoder.")
@click.option("--note", default="", help="A sentence for the card.")
@click.option("--only", type=click.IntRange(8), help="Of each sort so many, to try it.")
@click.option("--dialogs", type=FILE, multiple=True, help="Dialogs that nobody labelled.")
@click.option("--credit", default="", help="Whose the dialogs are, and their licence.")
@click.option(
    "--teacher", "teachers", multiple=True, type=FOLDER, help="A model to learn from."
)
@click.option("--start", type=FOLDER, help="A model that is trained further.")
def main(
    data: Path,
    base: str,
    work: Path,
    out: Path | None,
    words: tuple[str, ...],
    note: str,
    only: int | None,
    dialogs: tuple[Path, ...],
    credit: str,
    teachers: tuple[Path, ...],
    start: Path | None,
) -> None:
    """Make the model `base`."""

    def asked() -> BuildRequest:
        return BuildRequest(
            data=data,
            settings=settings_from([*SETTINGS, f"encoder={base}", *words]),
            work=work,
            teachers=teachers,
            start=start,
            base=MPNET,
            note=note,
            only=only,
            several=False,
            dialogs=dialogs,
            credit=credit,
            recipe=BASE,
        )

    run(asked, make, out)


if __name__ == "__main__":
    main()
