"""Makes the small model of the package from the release's files: `make small`.

    python -m nfh_tui.making_small --data DATA --base ENCODER [--teacher MODEL]... --out FOLDER

Steps are logged. What teachers said and the training's checkpoints stay in the work folder,
so that a run that was cut off goes on.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import msgspec

from nfh_db.clock import now
from nfh_db.errors import FormatError, StoreError
from nfh_models.encoder.settings import EncoderSettings, settings_from
from nfh_models.errors import ModelsError
from nfh_models.identification.recipes import SMALL
from nfh_models.model_files import CARD, read_config
from nfh_models.resolution.item import ResolutionExample
from nfh_tui.jobs.whole_files import write_whole
from nfh_tui.small_asked import BASE, FIRST, SETTINGS, Asked
from nfh_tui.small_card import card_of, counts_line, metrics_of
from nfh_tui.small_figures import evaluated, measured, with_temperature, with_threshold
from nfh_tui.small_lessons import drawn, material_of, silver_of
from nfh_tui.small_material import Data, Say, read_data

if TYPE_CHECKING:
    from torch import Tensor

    from nfh_models.encoder.model import Whole
    from nfh_models.encoder.training import Material, Trained

LARGEST = 25_000_000
"""Bytes of the model in the package."""

EVERY = 50
"""Steps between two lines of the log."""


class TooLargeError(ModelsError):
    """A model that is larger than what may ship."""


def make(asked: Asked, say: Say) -> Path:
    """Make the model; its directory, in the work folder.

    Raises ModelsError and FormatError for what cannot be read or learnt from, OSError.
    """
    from nfh_models.encoder.joining import between

    asked.work.mkdir(parents=True, exist_ok=True)
    data = read_data(asked.data, say, asked.only)
    silver = silver_of(data, asked, say)
    start = None if asked.columns else begun(asked)
    if asked.columns:
        every = material_of(data, drawn(silver, None), asked, say)
        start = joined_columns(every, asked, say)
    material = material_of(data, drawn(silver, asked.most), asked, say)
    state = None if start is None else _copied(start.network.state_dict())
    trained = train(material, asked.settings, asked.work / "training", start, say)
    if state is not None:
        trained = replace(trained, whole=between(state, trained.whole))
    return finished(trained, data, material, asked, say)


def _copied(state: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Apart from the network, which a training changes."""
    return {name: one.clone() for name, one in state.items()}


# --- training -------------------------------------------------------------------------------


def begun(asked: Asked) -> "Whole | None":
    """The model that is trained further; None for the encoder that the settings name."""
    from nfh_models.encoder.files import load

    return None if asked.start is None else load(asked.start, bytes_=False).whole


def joined_columns(material: "Material", asked: Asked, say: Say) -> "Whole":
    """Models that were trained apart, each with a seed of its own, as one that keeps its
    weights as the training behind it does."""
    from nfh_models.encoder.joining import joined

    first = asked.first or asked.settings
    made = []
    for seed in range(first.seed, first.seed + asked.columns):
        settings = msgspec.structs.replace(first, seed=seed)
        folder = asked.work / f"column-{seed}"
        # What is begun with is read anew, for a training changes it.
        whole = train(material, settings, folder, begun(asked), say).whole
        kept = msgspec.structs.replace(whole.settings, weights=asked.settings.weights)
        made.append(replace(whole, settings=kept))
    say(f"{len(made)} columns joined")
    return joined(made) if len(made) > 1 else made[0]


def train(
    material: "Material",
    settings: EncoderSettings,
    folder: Path,
    start: "Whole | None",
    say: Say,
) -> "Trained":
    """Train, or go on with what the folder holds."""
    from nfh_models.encoder.training import prepare, training

    backbone = None
    if start is not None:
        backbone = start.backbone
        backbone.module.requires_grad_(requires_grad=True)
        settings = msgspec.structs.replace(settings, pair=start.settings.pair)
    prepared = prepare(material, settings, backbone, start=start)
    left = ", ".join(f"{n:,} {why}" for why, n in prepared.lessons.left_out.items())
    say(f"{len(prepared.lessons.taught):,} lessons; left out: {left or 'none'}")
    steps = training(prepared, folder)
    judged = None
    while True:
        try:
            report = next(steps)
        except StopIteration as stop:
            made: Trained = stop.value
            return made
        if report.metrics and report.metrics != judged:
            judged = report.metrics
            say(" ".join(f"{name} {100 * value:.2f}" for name, value in judged.items()))
        if report.phase == "training" and report.step % EVERY == 0:
            loss = "" if report.loss is None else f", loss {report.loss:.3f}"
            say(f"step {report.step:,} of {report.steps:,}, epoch {report.epoch}{loss}")


# --- the model ------------------------------------------------------------------------------


def finished(
    trained: "Trained", data: Data, material: "Material", asked: Asked, say: Say
) -> Path:
    """Calibrate, keep in 8 bits, measure that, and write it with its card."""
    from nfh_models.encoder.files import load, save

    whole = replace(trained.whole, base=asked.base)
    whole.network.eval()
    with TemporaryDirectory(prefix="draft-", dir=asked.work) as above:
        draft = Path(above) / "first"
        save(whole, draft, recipe=SMALL)
        whole = _calibrated(load(draft).whole, trained.whole, data, asked)
        say(f"temperature {whole.temperature}, threshold {whole.threshold}")
        draft = Path(above) / "second"
        save(whole, draft, recipe=SMALL, notice=asked.notice)
        model = load(draft)
        uncalibrated = evaluated(
            replace(model, whole=replace(model.whole, temperature=1.0)), data.dev
        )
        found = measured(model, data.dev, data.held, _apart(asked))
        say(f"identification, held out: {counts_line(found.held)}")
        at = now()
        card = card_of(
            whole,
            found,
            uncalibrated,
            name=SMALL,
            at=at,
            size=size_of(draft),
            taught=_taught(material),
            teachers=[one.name for one in asked.teachers],
            note=asked.note,
        )
    out = _new_name(asked.work / "model")
    metrics = metrics_of(found, _outcome(trained))
    save(
        whole,
        out,
        recipe=SMALL,
        name=SMALL,
        created_at=at,
        metrics=metrics,
        card=card,
        notice=asked.notice,
    )
    say((out / CARD).read_text("utf-8"))
    if size_of(out) > LARGEST:
        raise TooLargeError(f"{out} has {size_of(out):,} bytes, more than {LARGEST:,}")
    return out


def _calibrated(kept: "Whole", whole: "Whole", data: Data, asked: Asked) -> "Whole":
    """The model in 32 bits with the temperature and threshold that suit it in 8."""
    warm = with_temperature(kept, SMALL, data.dev)
    sharp = with_threshold(kept, SMALL, data.tuning)
    return replace(
        whole, base=asked.base, temperature=warm.temperature, threshold=sharp.threshold
    )


def _apart(asked: Asked) -> Sequence[ResolutionExample]:
    from nfh_models.training_data.several_heads import several_heads_examples

    return several_heads_examples(held_out=True) if asked.several else []


def _taught(material: "Material") -> list[str]:
    silver = material.silver
    told = sum(one.gold is not None for one in silver)
    return [
        f"{len(material.resolution):,} labelled fused heads",
        f"{told:,} whose head a pattern says",
        f"{len(silver) - told:,} whose head nobody marked",
        f"{len(material.identification):,} numbers that are none",
    ]


def _outcome(trained: "Trained") -> dict[str, object]:
    outcome = trained.outcome
    return {
        "epoch": outcome.epoch,
        "step": outcome.step,
        "seconds": round(outcome.seconds),
        "lessons": len(trained.lessons.taught),
        "left_out": dict(trained.lessons.left_out),
        "curve": [dict(one) for one in outcome.curve],
    }


def size_of(folder: Path) -> int:
    """Bytes of a model directory."""
    return sum(path.stat().st_size for path in folder.iterdir())


def _new_name(path: Path) -> Path:
    """The first of a name, the name with 2 behind it, and so on, that nothing has yet."""
    names = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], names) if not os.path.lexists(one))


def check_package(package: Path) -> None:
    """Raise ModelFileError where a folder holds something, and no small model. What
    every package has is not counted."""
    if package.is_dir() and any(not one.name.startswith("__") for one in package.iterdir()):
        read_config(package, SMALL)


def install(made: Path, package: Path) -> None:
    """Put the files of a model in the place of those of another, in a package's folder.

    Raises ModelFileError where something else is in it, OSError.
    """
    check_package(package)
    package.mkdir(parents=True, exist_ok=True)
    for path in sorted(made.iterdir()):
        write_whole(package / path.name, path.read_bytes())


# --- the command ----------------------------------------------------------------------------

_FOLDER = click.Path(path_type=Path, file_okay=False)
_FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@click.option("--data", type=_FOLDER, required=True, help="The release's files.")
@click.option("--base", required=True, help="The encoder: a folder, or a name.")
@click.option("--teacher", "teachers", type=_FOLDER, multiple=True, help="A model directory.")
@click.option("--work", type=_FOLDER, default=Path("build/small"), help="For what is kept.")
@click.option("--out", type=_FOLDER, help="Where the model is put in the end.")
@click.option("--set", "words", multiple=True, help="key=value, a setting of encoder.")
@click.option("--base-name", default=BASE, help="The encoder's name, for the card.")
@click.option("--note", default="", help="A sentence for the card.")
@click.option("--only", type=click.IntRange(8), help="Of each sort so many, to try it.")
@click.option("--copies", "times", type=click.IntRange(0), default=1, help="Of each example.")
@click.option("--dialogs", type=_FILE, multiple=True, help="Dialogs that nobody labelled.")
@click.option("--start", type=_FOLDER, help="A model to train further.")
@click.option("--most", type=click.IntRange(1), help="Of each sort of silver.")
@click.option("--nouns", type=click.IntRange(0), default=0, help="Replaced in a passage.")
@click.option("--credit", default="", help="Whose the dialogs are, and their licence.")
@click.option("--columns", type=click.IntRange(0, 8), default=2, help="Trained apart before.")
@click.option("--first", multiple=True, help="key=value, a setting of the columns' training.")
@click.option("--several/--no-several", default=True, help="The package's own passages.")
def main(
    data: Path,
    base: str,
    teachers: tuple[Path, ...],
    work: Path,
    out: Path | None,
    words: tuple[str, ...],
    base_name: str,
    note: str,
    only: int | None,
    times: int,
    dialogs: tuple[Path, ...],
    start: Path | None,
    most: int | None,
    nouns: int,
    credit: str,
    columns: int,
    first: tuple[str, ...],
    several: bool,
) -> None:
    """Make the small model."""
    begun = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - begun:7.0f} s  {line}")

    try:
        given = [*SETTINGS, f"encoder={base}", *words]
        settings = settings_from(given)
        asked = Asked(
            data=data,
            settings=settings,
            work=work,
            teachers=teachers,
            base=base_name,
            note=note,
            only=only,
            times=times,
            several=several,
            dialogs=dialogs,
            credit=credit,
            nouns=nouns,
            start=start,
            most=most,
            first=settings_from([*given, *FIRST, *first]),
            columns=columns,
        )
        say(msgspec.json.encode(settings).decode())
        if out is not None:
            check_package(out)
        made = make(asked, say)
        if out is not None:
            install(made, out)
            say(f"put in {out}")
    except (ModelsError, FormatError, StoreError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
