"""Makes the small model of the package from the release's files: `make small`. What is asked
for, what it is taught, its figures, and its card.

    python -m tools.small_model.build --data DATA --base ENCODER [--teacher MODEL]...
        --out FOLDER

Steps are logged. What teachers said and the training's checkpoints stay in the work folder,
so that a run that was cut off goes on.
"""

import math
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
import msgspec

from nfh_db.errors import FormatError, StoreError
from nfh_db.system import now
from nfh_models import ModelsError
from nfh_models.encoder.settings import EncoderSettings, Task, Weights, settings_from
from nfh_models.encoder.training import Silver
from nfh_models.identification.base import SMALL, Example
from nfh_models.identification.scores import DecisionCounts
from nfh_models.identification.scores import count as scores_count
from nfh_models.identification.svm import plain
from nfh_models.model_files import CARD as CARD_FILE
from nfh_models.model_files import SeenTexts, read_config, read_seen
from nfh_models.parsing.base import Parser, load_parser
from nfh_models.resolution.base import ResolutionExample, Resolver
from nfh_models.resolution.evaluation import ResolutionEvaluation, evaluate
from nfh_models.resolution.recipes import BASE
from nfh_models.training.plan import FLOOR
from nfh_tui.jobs.runner import write_whole
from tools.small_model.constructions import Dialog, constructed
from tools.small_model.data import (
    Data,
    Say,
    copies,
    counted,
    dialogs_of,
    elided_sentences,
    fused_heads,
    labels,
    neighbours_of,
    other_numbers,
    read_data,
    unnamed,
    words_of,
)
from tools.small_model.hard_items import Counts, counts_by_task, read_items, table

if TYPE_CHECKING:
    from torch import Tensor

    from nfh_models.encoder.model import EncoderModel, ModelBundle
    from nfh_models.encoder.training import Material, TrainingExamples
    from nfh_models.training.loop import TrainingOutcome


AS_GOOD = 0.006
"""F1s that differ by no more are taken to be alike: the standard deviation of an F1 of 0.965
with some 30 mistakes on a thousand rows, 420 of them fused heads."""


@dataclass(frozen=True, slots=True)
class BuildFigures:
    """Of a model in the form in which it ships. dev: resolution. held: identification on rows
    that were kept out; None of a model that only resolves. apart: on the package's own passages
    about several heads, those kept out; None where there are none."""

    dev: ResolutionEvaluation
    held: DecisionCounts | None
    apart: ResolutionEvaluation | None
    hard: Mapping[str, Counts]


def measured(
    model: "EncoderModel",
    dev: Sequence[ResolutionExample],
    held: Sequence[Example],
    apart: Sequence[ResolutionExample] = (),
) -> BuildFigures:
    """Run it on all of them."""
    counts = None
    if identifies(model.bundle.settings):
        decisions = model.decide([one.case for one in held])
        pairs = ((one.nfh, said.nfh) for one, said in zip(held, decisions, strict=True))
        counts = scores_count(pairs)
    return BuildFigures(
        evaluated(model, dev),
        counts,
        evaluated(model, apart) if apart else None,
        counts_by_task(model, read_items()),
    )


def identifies(settings: EncoderSettings) -> bool:
    """Whether a model decides what is a fused head, too."""
    return settings.task is not Task.RESOLUTION


def evaluated(model: Resolver, examples: Sequence[ResolutionExample]) -> ResolutionEvaluation:
    """All figures of resolution, those of calibration and of heads among them."""
    from nfh_models.resolution.heads import decode

    items = [example.item for example in examples]
    choices = model.resolve(items)
    answers = [
        None if choice is None else decode(item, choice)
        for item, choice in zip(items, choices, strict=True)
    ]
    return evaluate(examples, choices, answers=answers, probabilities=True)


def with_temperature(
    whole: "ModelBundle", recipe: str, dev: Sequence[ResolutionExample]
) -> "ModelBundle":
    """The model with the temperature under which dev is likeliest."""
    from nfh_models.encoder.model import EncoderModel

    found = evaluated(EncoderModel(replace(whole, temperature=1.0), recipe), dev).calibration
    if found is None or found.temperature is None:
        return whole
    return replace(whole, temperature=round(found.temperature, 4))


def with_threshold(
    whole: "ModelBundle", recipe: str, tuning: Sequence[Example]
) -> "ModelBundle":
    """The model with the threshold that has the best F1 on rows that it did not learn from."""
    from nfh_models.encoder.model import EncoderModel

    model = EncoderModel(replace(whole, threshold=0.0), recipe)
    said = model.decide([one.case for one in tuning])
    scores = [one.score or 0.0 for one in said]
    return replace(whole, threshold=best_threshold(scores, [one.nfh for one in tuning]))


def best_threshold(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The threshold, halfway between two scores, with the best F1; of several as good, to
    within AS_GOOD, the one nearest to 0. It is 0 without a label that says yes."""
    ranked = sorted(zip(scores, labels, strict=True), reverse=True)
    wanted = sum(labels)
    found: list[tuple[float, float]] = []
    hit = 0
    for place, (score, label) in enumerate(ranked):
        hit += label
        below = ranked[place + 1][0] if place + 1 < len(ranked) else score - 1
        if below == score or not wanted:
            continue
        found.append((2 * hit / (place + 1 + wanted), (score + below) / 2))
    best = max((f1 for f1, _ in found), default=0.0)
    good = [middle for f1, middle in found if f1 >= best - AS_GOOD]
    nearest = min(good, key=math.fabs, default=0.0)
    return round(nearest, 4)


def wrong_by_kind(found: ResolutionEvaluation) -> list[tuple[str, str, int]]:
    """What was gold, what was said, and how often: the mistakes on dev, the most frequent
    first."""
    counted = Counter(
        (one.gold, one.predicted or "nothing") for one in found.judged if not one.inclusive
    )
    return [(gold, said, n) for (gold, said), n in counted.most_common()]


def wrong_by_word(found: ResolutionEvaluation) -> list[tuple[str, int, int]]:
    """The anchors with most mistakes on dev: word, mistakes, examples."""
    words = [
        one.example.item.passage.words(
            one.example.item.anchor.start, one.example.item.anchor.end
        ).lower()
        for one in found.judged
    ]
    every = Counter(words)
    wrong = Counter(
        word for word, one in zip(words, found.judged, strict=True) if not one.inclusive
    )
    return [(word, n, every[word]) for word, n in wrong.most_common(10)]


FIGURES = (
    "accuracy",
    "accuracy_inclusive",
    "accuracy_nearest",
    "reference",
    "implicit",
    "binary",
    "class_accuracy",
)

NOTICE = """\
The weights of this model were made by fine-tuning those of

    {encoder}, https://huggingface.co/sentence-transformers/{encoder}
    by the authors of sentence-transformers (https://www.sbert.net)

under the Apache License, Version 2.0 (https://www.apache.org/licenses/LICENSE-2.0). Changed
were all weights, by further training for another task; the vocabulary is theirs. You may
obtain a copy of that licence at the address above. It is distributed on an "AS IS" basis,
without warranties or conditions of any kind, either express or implied.

That model was made from {origin} by Microsoft
({address}), which is under the MIT licence:

    Copyright (c) Microsoft Corporation.

    Permission is hereby granted, free of charge, to any person obtaining a copy of this
    software and associated documentation files (the "Software"), to deal in the Software
    without restriction, including without limitation the rights to use, copy, modify, merge,
    publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons
    to whom the Software is furnished to do so, subject to the following conditions:

    The above copyright notice and this permission notice shall be included in all copies or
    substantial portions of the Software.

    THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED,
    INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR
    PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
    FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
    OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER
    DEALINGS IN THE SOFTWARE.

The data that it was trained on is that of num_fh (https://github.com/yanaiela/num_fh), under
the MIT licence, Copyright (c) 2019 Yanai Elazar, and of Natural Instructions
(https://github.com/allenai/natural-instructions), under the Apache License, Version 2.0.
"""

ORIGINS = {
    "all-MiniLM-L6-v2": (
        "MiniLM-L12-H384-uncased",
        "https://huggingface.co/microsoft/MiniLM-L12-H384-uncased",
    ),
    "all-mpnet-base-v2": ("MPNet", "https://github.com/microsoft/MPNet"),
}
"""What the encoders were made from, and where that is."""


def notice_of(base: str) -> str:
    """The licences of a model on an encoder and on the data."""
    encoder = base.rpartition("/")[2]
    origin, address = ORIGINS[encoder]
    return NOTICE.format(encoder=encoder, origin=origin, address=address)


DOES_BOTH = """\
This model says whether the noun of a number in English dialog is missing (a numeric fused
head), and which noun is meant: a word of the passage, or one of six classes. It needs no
parser.
"""

RESOLVES = """\
This model says which noun a number in English dialog means whose noun is missing (a numeric
fused head): a word of the passage, or one of six classes. It needs no parser, and does not
decide what is a fused head: `small` does.
"""

IDENTIFIES = """
Identification on {held:,} rows of the release's development split that were kept out of the
training (the labels come from rules, about 2 % of them wrong): precision {precision}, recall
{recall}, F1 {f1}.
"""

CARD = """\
# {name}

{task}{note}
- Made {at} from {base}; {size:.1f} MB, weights in {bits}.
{encoder}- Learned from {taught}.
- Left out of that, because it shares words with the held-back tests or with dev: {dropped}.
- {teachers}
- Settings: {settings}.

## Accuracy

Measured in the form in which the package has it.
Resolution on the release's development split, {n:,} examples,
by which the best epoch and the temperature were chosen; the intervals are of 95 %.

| figure | {name} |
|---|---|
{figures}

Its classes are expected as often as {expected}.
Its probabilities are off by {before} before and {after} after their temperature of
{temperature:.2f} (expected calibration error; each half of dev by the temperature of the
other). Exact probabilities would seem off by {chance} on so few examples.
{identification}
{apart}## Errors

Mistakes on the development split: the gold and the model's answer. REF-WRONG is a word that is
not the head.

| gold | answer | mistakes |
|---|---|---|
{kinds}

The anchors with most mistakes:

| anchor | mistakes | examples |
|---|---|---|
{words}

## Where it is known to fail

Passages that were written for this purpose, in constructions that models fail on; nothing was
learnt from them or chosen by them. Resolution is right where it chooses the noun or the class
of a fused head, identification where it says whether the number is one.

{hard}

It reads {window} words around a number and cannot find a head that is farther away. It answers
CURRENCY for money even where the passage has a word for money, as the data do. It has seen few
real cases of two different heads. It knows film and television dialog best.
"""


def metrics_of(found: BuildFigures, outcome: Mapping[str, object]) -> dict[str, object]:
    """The figures as JSON has them: fractions, null where there is none."""
    told: dict[str, object] = {
        "resolution": _resolution(found.dev),
        "training": dict(outcome),
    }
    if found.held is not None:
        names = ("n", "precision", "recall", "f1", "accuracy")
        told["identification"] = {name: getattr(found.held, name) for name in names}
    if found.apart is not None:
        told["several_heads"] = _resolution(found.apart)
    return told


def _resolution(found: ResolutionEvaluation) -> dict[str, object]:
    figures, calibration = found.figures, found.calibration
    told: dict[str, object] = {"n": figures.n}
    told |= {name: getattr(figures, name) for name in FIGURES}
    told["lost"] = found.lost
    if found.heads is not None:
        told["heads"] = {
            name: getattr(found.heads, name)
            for name in ("exact", "precision", "recall", "f1", "relation")
        }
    if calibration is not None:
        told["ece"] = calibration.before.ece
    return told


def card_of(
    whole: "ModelBundle",
    found: BuildFigures,
    uncalibrated: ResolutionEvaluation,
    *,
    name: str,
    at: str,
    size: int,
    taught: Sequence[str],
    teachers: Sequence[str],
    dropped: Counter[str] | None = None,
    note: str = "",
) -> str:
    """The card, in Markdown; no word out of the data is markup in it.

    uncalibrated: dev at a temperature of 1. taught: what it learnt from, with numbers. size:
    bytes of its directory.
    """
    dev, held, calibration = found.dev, found.held, uncalibrated.calibration
    before = None if calibration is None else calibration.before
    after = None if calibration is None else calibration.after
    return CARD.format(
        name=name,
        task=RESOLVES if held is None else DOES_BOTH,
        note=f"\n{note}\n" if note else "",
        at=at,
        base=whole.base,
        size=size / 1e6,
        bits="4 and 8 bits" if whole.settings.weights is Weights.MIXED else "8 bits",
        encoder=_encoder(whole),
        taught=", ".join(taught),
        dropped=counted(dropped or Counter()),
        teachers=(
            f"Its teachers: {', '.join(teachers)}." if teachers else "It had no teacher."
        ),
        settings=_settings(whole),
        n=dev.figures.n,
        figures="\n".join(_figures(dev)),
        before=_percent(before.ece if before else None),
        after=_percent(after.ece if after else None),
        chance=_percent(after.chance if after else None),
        expected=_expected(whole),
        temperature=whole.temperature,
        identification=""
        if held is None
        else IDENTIFIES.format(
            held=held.n,
            precision=_percent(held.precision),
            recall=_percent(held.recall),
            f1=_percent(held.f1),
        ),
        apart=_apart_words(found),
        kinds="\n".join(f"| {a} | {b} | {n} |" for a, b, n in wrong_by_kind(dev)[:12]),
        words="\n".join(f"| {plain(w)} | {n} | {of} |" for w, n, of in wrong_by_word(dev)),
        hard=table(found.hard),
        window=whole.settings.window,
    )


def _settings(whole: "ModelBundle") -> str:
    told = msgspec.to_builtins(whole.settings)
    return ", ".join(
        f"{key} {str(value).lower() if isinstance(value, bool) else value}"
        for key, value in told.items()
        if key not in ("encoder", "download")
    )


def _encoder(whole: "ModelBundle") -> str:
    """The columns of the encoder; nothing of one that has none."""
    from nfh_models.encoder.backbone import COLUMNS_KIND

    sizes = whole.architecture
    if sizes.get("model_type") != COLUMNS_KIND:
        return ""
    return (
        f"- Its encoder has {sizes['columns']} columns that were trained separately, then "
        f"together; each has {sizes['num_hidden_layers']} layers.\n"
    )


def _expected(whole: "ModelBundle") -> str:
    if any(whole.shift):
        return "in all of the paper's corpus, not as in what it learned from"
    return "in what it learned from"


def _figures(found: ResolutionEvaluation) -> list[str]:
    lines = []
    for name in FIGURES:
        line = _percent(getattr(found.figures, name))
        if name == "accuracy":
            spread = found.ci95["accuracy"]
            line += f" ({_percent(spread.low)} to {_percent(spread.high)})"
        lines.append(f"| {name} | {line} |")
    if found.heads is not None:
        lines.append(f"| heads, exact | {_percent(found.heads.exact)} |")
        lines.append(f"| heads, F1 | {_percent(found.heads.f1)} |")
    return lines


def _apart_words(found: BuildFigures) -> str:
    if found.apart is None or found.apart.heads is None:
        return ""
    heads = found.apart.heads
    return (
        f"On the package's own {found.apart.figures.n} passages about one and several heads "
        f"that were kept out: heads exact {_percent(heads.exact)}, F1 {_percent(heads.f1)}, "
        f"relation {_percent(heads.relation)}.\n\n"
    )


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{100 * value:.1f} %"


def counts_line(counts: DecisionCounts) -> str:
    """Figures of identification in one line, for the log."""
    shown = (counts.precision, counts.recall, counts.f1)
    return "precision {}, recall {}, F1 {}".format(*map(_percent, shown))


SETTINGS = (
    "task=both",
    "weights=4bit",
    "epochs=1",
    "batch=32",
    "rate=1e-4",
    "head_rate=3e-4",
    "averaging=0.998",
    "priors=paper",
    "states=1",
    "identification=1",
    "several=1",
)
"""How the model of the package was trained; --set puts others in their place."""

FIRST = (
    "weights=8bit",
    "epochs=2",
    "rate=2e-4",
    "head_rate=1e-3",
    "identification=0.5",
    "several=0.2",
)
"""What is other in the training of each column before it."""

MINILM = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """What is to be made.

    note: a sentence for the card. only: of each sort of examples so many, to try things out.
    times: copies of each example. several: whether the package's own passages are learnt from.
    dialogs: files of them that nobody has labelled. credit: whose they are, for the notice.
    nouns: how many of each passage a number is put in the place of. constructed: examples of
    each construction.

    start: a model that is trained further, in place of an encoder. columns: models that are
    trained apart with the settings `first`, with seeds from theirs on, and then joined; 0
    leaves that out. The training of `settings` after it only goes half way from what it begins
    with. most: of each sort of silver so many.
    """

    data: Path
    settings: EncoderSettings
    work: Path
    teachers: Sequence[Path] = ()
    base: str = MINILM
    note: str = ""
    only: int | None = None
    times: int = 2
    several: bool = True
    dialogs: Sequence[Path] = ()
    credit: str = ""
    nouns: int = 0
    constructed: int = 0
    start: Path | None = None
    first: EncoderSettings | None = None
    columns: int = 0
    most: int | None = None
    recipe: str = SMALL

    @property
    def notice(self) -> str:
        """The licences of what the model was made from."""
        notice = notice_of(self.base)
        return f"{notice}\n{self.credit}\n" if self.credit else notice


FUSED = "fused heads of sentences"
"""The one sort of silver that is not cut to `most`: it teaches identification, too."""

COPIES = "copies"

Sorts = Mapping[str, list[Silver]]


def silver_of(data: Data, asked: BuildRequest, say: Say) -> Sorts:
    """The anchors that nobody labelled by hand, by their sort; without a teacher only those
    whose head a pattern says."""
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
            (COPIES, copies_of(data, asked)),
            *constructions_of(data, asked, parser),
            *(
                (
                    f"anchors of {path.name}",
                    dialogs_of(path, parser, asked.nouns, data.overlap, data.dropped),
                )
                for path in asked.dialogs
            ),
        ):
            found[name] = list(some)[: asked.only]
            say(f"{len(found[name]):,} {name}")
    return found


def drawn(sorts: Sorts, most: int | None) -> Sorts:
    """Of each sort so many, by chance, in their order; of fused heads all."""
    made: dict[str, list[Silver]] = {}
    for name, silver in sorts.items():
        made[name] = silver
        if most is not None and len(silver) > most and name != FUSED:
            rng = random.Random(13)  # noqa: S311 - a draw, no secret
            places = sorted(rng.sample(range(len(silver)), most))
            made[name] = [silver[place] for place in places]
    return made


def constructions_of(
    data: Data, asked: BuildRequest, parser: Parser
) -> Iterator[tuple[str, list[Silver]]]:
    """Of each construction so many, out of the passages and sentences that are learnt from."""
    if not asked.constructed:
        return
    passages = {one.group: (one.item.passage, one.where) for one in data.train}
    dialogs = [Dialog.of(*one) for one in passages.values()]
    dialogs += [Dialog.of(one.item.passage, one.example.where) for one in data.sentences]
    for how, examples in constructed(dialogs, parser).items():
        rng = random.Random(17)  # noqa: S311 - a draw, no secret
        rng.shuffle(examples)
        fit = (
            one
            for one in examples
            if data.overlap.of(one.item.passage, sentences=False) is None
        )
        some = [Silver(one.item, one.gold) for one in islice(fit, asked.constructed)]
        yield f"constructions, {how}", some


def copies_of(data: Data, asked: BuildRequest) -> list[Silver]:
    """Copies of the labelled examples."""
    labelled = [example.item for example in data.train]
    words = chain.from_iterable(words_of(item.passage) for item in labelled)
    near = neighbours_of(asked.settings.encoder, words) if asked.times else {}
    return list(copies(labelled, asked.times, near))


def material_of(data: Data, sorts: Sorts, asked: BuildRequest, say: Say) -> "Material":
    """All of it, with what the teachers say."""
    from nfh_models.encoder.training import Material
    from nfh_models.resolution.head_examples import several_heads_examples

    silver = [*chain.from_iterable(sorts.values())]
    own = several_heads_examples() if asked.several else []
    train = [*data.train, *own[: asked.only]]
    items = [example.item for example in data.train]
    items += [one.item for one in silver if one.gold is None]
    states = asked.settings.states > 0
    said = labels(asked.teachers, items, asked.work, say, states=states)
    # A fused head of a sentence is among the silver, which teaches that it is one, too.
    numbers = [one.example for one in data.sentences if not one.example.nfh]
    return Material(train, numbers, data.dev, data.tuning, silver, said.soft, said.shown)


LARGEST = {BASE: 75_000_000, SMALL: 25_000_000}
"""Bytes of a model in the package."""

EVERY = 50
"""Steps between two lines of the log."""


class TooLargeError(ModelsError):
    """A model that is larger than what may ship."""


@dataclass(frozen=True, slots=True)
class TrainedEncoder:
    """The result of a training."""

    bundle: "ModelBundle"
    outcome: "TrainingOutcome"
    training_examples: "TrainingExamples"


def make(asked: BuildRequest, say: Say) -> Path:
    """Make the model; its directory, in the work folder.

    Raises ModelsError and FormatError for what cannot be read or learnt from, OSError.
    """
    from tools.small_model.distillation import between

    asked.work.mkdir(parents=True, exist_ok=True)
    data = read_data(asked.data, say, asked.only)
    silver = drawn(silver_of(data, asked, say), asked.most)
    material = material_of(data, silver, asked, say)
    start = joined_columns(material, asked, say) if asked.columns else begun(asked)
    state = None if start is None else _copied(start.network.state_dict())
    trained = train(material, asked.settings, asked.work / "training", start, say)
    if state is not None:
        trained = replace(trained, bundle=between(state, trained.bundle))
    return finished(trained, data, material, seen_texts(data, silver), asked, say)


def seen_texts(data: Data, silver: Sorts) -> SeenTexts:
    """What is learnt from, but for copies, which are nobody's texts; and what chooses the
    epoch, the temperature and the threshold."""
    learnt = [one.item.passage for one in data.train]
    learnt += [one.item.passage for one in data.sentences]
    learnt += [
        one.item.passage for name, some in silver.items() if name != COPIES for one in some
    ]
    return SeenTexts.of(
        learnt,
        [one.item.passage for one in data.dev]
        + [one.passage for one in data.tuning if one.passage is not None],
    )


def _copied(state: "Mapping[str, Tensor]") -> "dict[str, Tensor]":
    """Apart from the network, which a training changes."""
    return {name: one.clone() for name, one in state.items()}


# --- training -------------------------------------------------------------------------------


def begun(asked: BuildRequest) -> "ModelBundle | None":
    """The model that is trained further; None for the encoder that the settings name."""
    from nfh_models.encoder.model import load

    return None if asked.start is None else load(asked.start, bytes_=False).bundle


def joined_columns(material: "Material", asked: BuildRequest, say: Say) -> "ModelBundle":
    """Models that were trained apart, each with a seed of its own, as one that keeps its
    weights as the training after it does."""
    from tools.small_model.distillation import joined

    first = asked.first or asked.settings
    made = []
    for seed in range(first.seed, first.seed + asked.columns):
        settings = msgspec.structs.replace(first, seed=seed)
        folder = asked.work / f"column-{seed}"
        # What is begun with is read anew, for a training changes it.
        whole = train(material, settings, folder, begun(asked), say).bundle
        kept = msgspec.structs.replace(whole.settings, weights=asked.settings.weights)
        made.append(replace(whole, settings=kept))
    say(f"{len(made)} columns joined")
    return joined(made) if len(made) > 1 else made[0]


def train(
    material: "Material",
    settings: EncoderSettings,
    folder: Path,
    start: "ModelBundle | None",
    say: Say,
    floor: float = FLOOR,
) -> TrainedEncoder:
    """Train, or go on with what the folder holds. floor: as of `TrainingPlan`."""
    from nfh_models.encoder.training import prepare, training

    backbone = None
    if start is not None:
        backbone = start.backbone
        backbone.module.requires_grad_(requires_grad=True)
        settings = msgspec.structs.replace(settings, pair=start.settings.pair)
    prepared = prepare(material, settings, backbone, start=start)
    left = ", ".join(f"{n:,} {why}" for why, n in prepared.training_examples.left_out.items())
    say(f"{len(prepared.training_examples.taught):,} lessons; left out: {left or 'none'}")
    steps = training(prepared, folder, floor=floor)
    judged = None
    while True:
        try:
            report = next(steps)
        except StopIteration as stop:
            return TrainedEncoder(prepared.bundle, stop.value, prepared.training_examples)
        if report.metrics and report.metrics != judged:
            judged = report.metrics
            say(" ".join(f"{name} {100 * value:.2f}" for name, value in judged.items()))
        if report.phase == "training" and report.step % EVERY == 0:
            loss = "" if report.loss is None else f", loss {report.loss:.3f}"
            say(f"step {report.step:,} of {report.steps:,}, epoch {report.epoch}{loss}")


# --- the model ------------------------------------------------------------------------------


def finished(
    trained: TrainedEncoder,
    data: Data,
    material: "Material",
    seen: SeenTexts,
    asked: BuildRequest,
    say: Say,
) -> Path:
    """Calibrate, keep in few bits, measure that, and write it with its card.

    seen: what was learnt from; what a model that was trained further had seen is added.
    """
    from nfh_models.encoder.model import load, save

    if asked.start is not None:
        seen |= read_seen(asked.start) or SeenTexts()
    whole = replace(trained.bundle, base=asked.base)
    whole.network.eval()
    with TemporaryDirectory(prefix="draft-", dir=asked.work) as above:
        draft = Path(above) / "first"
        save(whole, draft, recipe=asked.recipe)
        whole = _calibrated(load(draft).bundle, trained.bundle, data, asked)
        say(f"temperature {whole.temperature}, threshold {whole.threshold}")
        draft = Path(above) / "second"
        save(whole, draft, recipe=asked.recipe, notice=asked.notice, seen=seen)
        model = load(draft)
        uncalibrated = evaluated(
            replace(model, bundle=replace(model.bundle, temperature=1.0)), data.dev
        )
        found = measured(model, data.dev, data.held, _apart_examples(asked))
        if found.held is not None:
            say(f"identification, held out: {counts_line(found.held)}")
        at = now()
        card = card_of(
            whole,
            found,
            uncalibrated,
            name=asked.recipe,
            at=at,
            size=size_of(draft),
            taught=_taught(material),
            teachers=[one.name for one in asked.teachers],
            dropped=data.dropped,
            note=asked.note,
        )
    out = _new_name(asked.work / "model")
    metrics = metrics_of(found, _outcome(trained))
    save(
        whole,
        out,
        recipe=asked.recipe,
        name=asked.recipe,
        created_at=at,
        metrics=metrics,
        card=card,
        notice=asked.notice,
        seen=seen,
    )
    say((out / CARD_FILE).read_text("utf-8"))
    if size_of(out) > (largest := LARGEST[asked.recipe]):
        raise TooLargeError(f"{out} has {size_of(out):,} bytes, more than {largest:,}")
    return out


def _calibrated(
    kept: "ModelBundle", whole: "ModelBundle", data: Data, asked: BuildRequest
) -> "ModelBundle":
    """The model in 32 bits with the temperature and threshold that suit it in 8."""
    warm = with_temperature(kept, asked.recipe, data.dev)
    whole = replace(whole, base=asked.base, temperature=warm.temperature)
    if not identifies(whole.settings):
        return whole
    return replace(whole, threshold=with_threshold(kept, asked.recipe, data.tuning).threshold)


def _apart_examples(asked: BuildRequest) -> Sequence[ResolutionExample]:
    from nfh_models.resolution.head_examples import several_heads_examples

    return several_heads_examples(held_out=True) if asked.several else []


def _taught(material: "Material") -> list[str]:
    silver = material.silver
    told = sum(one.gold is not None for one in silver)
    counts = {
        "labelled fused heads": len(material.resolution),
        "whose head a pattern says": told,
        "whose head nobody marked": len(silver) - told,
        "numbers that are none": len(material.identification),
    }
    return [f"{count:,} {what}" for what, count in counts.items() if count]


def _outcome(trained: TrainedEncoder) -> dict[str, object]:
    outcome = trained.outcome
    return {
        "epoch": outcome.epoch,
        "step": outcome.step,
        "seconds": round(outcome.seconds),
        "lessons": len(trained.training_examples.taught),
        "left_out": dict(trained.training_examples.left_out),
        "curve": [dict(one) for one in outcome.curve],
    }


def size_of(folder: Path) -> int:
    """Bytes of a model directory."""
    return sum(path.stat().st_size for path in folder.iterdir())


def _new_name(path: Path) -> Path:
    """The first of a name, the name with 2 after it, and so on, that nothing has yet."""
    names = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], names) if not os.path.lexists(one))


def check_package(package: Path, recipe: str = SMALL) -> None:
    """Raise ModelFileError where a folder holds something, and no model of that recipe. What
    every package has is not counted."""
    if package.is_dir() and any(not one.name.startswith("__") for one in package.iterdir()):
        read_config(package, recipe)


def install(made: Path, package: Path, recipe: str = SMALL) -> None:
    """Put the files of a model in the place of those of another, in a package's folder.

    Raises ModelFileError where something else is in it, OSError.
    """
    check_package(package, recipe)
    package.mkdir(parents=True, exist_ok=True)
    for path in sorted(made.iterdir()):
        write_whole(package / path.name, path.read_bytes())


# --- the command ----------------------------------------------------------------------------

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, dir_okay=False, exists=True)


@click.command()
@click.option("--data", type=FOLDER, required=True, help="The release's files.")
@click.option("--base", required=True, help="The encoder: a folder, or a name.")
@click.option("--teacher", "teachers", type=FOLDER, multiple=True, help="A model directory.")
@click.option("--work", type=FOLDER, default=Path("build/small"), help="For what is kept.")
@click.option("--out", type=FOLDER, help="Where the model is put in the end.")
@click.option("--set", "words", multiple=True, help="key=value, a setting of encoder.")
@click.option("--base-name", default=MINILM, help="The encoder's name, for the card.")
@click.option("--note", default="", help="A sentence for the card.")
@click.option("--only", type=click.IntRange(8), help="Of each sort so many, to try it.")
@click.option("--copies", "times", type=click.IntRange(0), default=1, help="Of each example.")
@click.option("--dialogs", type=FILE, multiple=True, help="Dialogs that nobody labelled.")
@click.option("--start", type=FOLDER, help="A model to train further.")
@click.option("--most", type=click.IntRange(1), help="Of each sort of silver.")
@click.option("--nouns", type=click.IntRange(0), default=0, help="Replaced in a passage.")
@click.option(
    "--constructed", "made", type=click.IntRange(0), default=0, help="Of each construction."
)
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
    made: int,
    credit: str,
    columns: int,
    first: tuple[str, ...],
    several: bool,
) -> None:
    """Make the small model."""
    given = [*SETTINGS, f"encoder={base}", *words]

    def asked() -> BuildRequest:
        return BuildRequest(
            data=data,
            settings=settings_from(given),
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
            constructed=made,
            start=start,
            most=most,
            first=settings_from([*given, *FIRST, *first]),
            columns=columns,
        )

    run(asked, make, out)


def run(
    asked: Callable[[], BuildRequest],
    make: Callable[[BuildRequest, Say], Path],
    out: Path | None,
) -> None:
    """Make a model and put it into `out`, with a log; an error ends the process."""
    begun = time.monotonic()

    def say(line: str) -> None:
        click.echo(f"{time.monotonic() - begun:7.0f} s  {line}")

    try:
        request = asked()
        say(msgspec.json.encode(request.settings).decode())
        if out is not None:
            check_package(out, request.recipe)
        folder = make(request, say)
        if out is not None:
            install(folder, out, request.recipe)
            say(f"put in {out}")
    except (ModelsError, FormatError, StoreError, OSError) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
