"""What labels of one's own add, chosen by chance or by what the model is unsure of.

    python benchmarks/learning.py [--recipe encoder|linear] [--labels 100 300 600]
        [--seeds 3] [--set KEY=VALUE]... [--results FILE] [--svg FILE]

encoder: the model in the package is trained on with so many of the release's development
examples, each time from the package, as `nfh-tui retrain resolution --recipe encoder` does.
Each seed parts those examples anew, by passage: 400 are only tried on, the others wait to be
labelled. linear: a model that knows nothing yet learns from the release's training examples,
and is tried on all of the development ones.

Order "random" takes what is labelled by chance; "uncertain" in rounds those whose first two
choices are closest by the model of the round before. Printed are inclusive accuracies in
percent, beside those of the model before any label in the same run. With --results what was
done before is taken from there, and what is done is added.
"""

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from learning_svg import curve

from nfh_models.parsing.base import load_parser
from nfh_models.resolution.base import ResolutionExample, Resolver, parsing_items
from nfh_models.resolution.linear import NEEDS as LINEAR_NEEDS
from nfh_models.resolution.recipes import SMALL, load_resolver
from nfh_models.resolution.scoring import figures, judge
from nfh_tui.services.examples import ResolutionExamples
from nfh_tui.services.training import TrainingSets, packaged_base, trainer_for

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
RANDOM, UNCERTAIN = "random", "uncertain"
KEPT = 400
"""Of the development examples, only tried on where the others are learnt from."""

OWN_SHARE = 0.1
"""Of the labelled passages, kept out to choose the best weights by, as `retrain` does."""

Examples = Sequence[ResolutionExample]


@dataclass(frozen=True, slots=True)
class Point:
    """One training, or none. order: "" before any label. seconds: of the training."""

    order: str
    labels: int
    seed: int
    accuracy: float
    inclusive: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Ground:
    """What a recipe learns from and is tried on. first: what answers before any label."""

    recipe: str
    first: Resolver
    kept: Examples
    pool: Examples


def ground(recipe: str, seed: int) -> Ground:
    """The examples of a seed."""
    if recipe == "linear":
        parser = load_parser(None, LINEAR_NEEDS)
        parsed = {
            name: [
                replace(one, item=item)
                for one, item in zip(
                    some,
                    parsing_items((e.item for e in some), LINEAR_NEEDS, parser),
                    strict=True,
                )
            ]
            for name, some in ((name, _examples(name)) for name in ("train", "dev"))
        }
        held = {one.group for one in parsed["dev"]}
        pool = [one for one in parsed["train"] if one.group not in held]
        return Ground(recipe, load_resolver("cues"), parsed["dev"], pool)
    examples = _examples("dev")
    groups = sorted({one.group for one in examples})
    random.Random(seed).shuffle(groups)
    place = {group: number for number, group in enumerate(groups)}
    ordered = sorted(examples, key=lambda one: place[one.group])
    cut = KEPT
    while ordered[cut].group == ordered[cut - 1].group:
        cut += 1
    return Ground(recipe, load_resolver(SMALL), ordered[:cut], ordered[cut:])


def _examples(split: str) -> list[ResolutionExample]:
    path = Path(os.environ.get("NFH_DATA", BESIDE)) / "resolution" / f"nfh_{split}.jsonl"
    if not path.is_file():
        sys.exit(f"learning needs {path} (set NFH_DATA)")
    return list(ResolutionExamples.of_file(path))


def tried(model: Resolver, examples: Examples) -> tuple[float, float]:
    """Accuracy and inclusive accuracy."""
    found = figures(judge(examples, model.resolve([one.item for one in examples])))
    return found.accuracy or 0.0, found.accuracy_inclusive or 0.0


def trained(
    recipe: str, examples: Examples, words: Sequence[str], seed: int
) -> tuple[Resolver, float]:
    """What was learnt from some examples, and the seconds it took."""
    encoder = recipe == "encoder"
    trainer = trainer_for(
        "resolution",
        recipe,
        [*words, f"seed={seed}"],
        packaged_base(SMALL) if encoder else None,
        "cpu" if encoder else None,
    )
    apart = random.Random(seed)
    groups = sorted({one.group for one in examples})
    out = {group for group in groups if encoder and apart.random() < OWN_SHARE}
    lessons = TrainingSets(
        [one for one in examples if one.group not in out],
        [one for one in examples if one.group in out],
    )
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        steps = trainer.train(lessons, Path(folder), None)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value.resolver, time.perf_counter() - begun


def chosen(
    order: str, waiting: list[ResolutionExample], model: Resolver | None, count: int, seed: int
) -> list[ResolutionExample]:
    """The next ones to be labelled, taken out of those that wait. model: None: by chance."""
    if order == RANDOM or model is None:
        taken = random.Random(f"{seed} {len(waiting)}").sample(waiting, count)
    else:
        said = model.resolve([one.item for one in waiting])
        margins = [1.0 if one is None or one.margin is None else one.margin for one in said]
        closest = sorted(range(len(waiting)), key=lambda place: (margins[place], place))
        taken = [waiting[place] for place in closest[:count]]
    gone = set(map(id, taken))
    waiting[:] = [one for one in waiting if id(one) not in gone]
    return taken


def rounds(on: Ground, order: str, seed: int, arguments: argparse.Namespace) -> list[Point]:
    """One person's labels, more and more of them, and a training on each number."""
    # What knows nothing yet is unsure of nothing either.
    model = on.first if on.recipe == "encoder" else None
    waiting, labelled, points = list(on.pool), [], []
    for size in arguments.labels:
        if size > len(on.pool):
            break
        labelled += chosen(order, waiting, model, size - len(labelled), seed)
        model, seconds = trained(on.recipe, labelled, arguments.set, seed)
        point = Point(order, size, seed, *tried(model, on.kept), seconds)
        points.append(point)
        print(f"  {order:9} {size:5}, seed {seed}: {100 * point.inclusive:.1f}", flush=True)
    return points


def runs(arguments: argparse.Namespace) -> list[Point]:
    """All trainings, those of an earlier run taken over."""
    points = _earlier(arguments.results)
    for seed in range(1, arguments.seeds + 1):
        done = {one.order for one in points if one.seed == seed}
        on = ground(arguments.recipe, seed) if done != {"", RANDOM, UNCERTAIN} else None
        if on is None:
            continue
        new = [] if "" in done else [Point("", 0, seed, *tried(on.first, on.kept), 0.0)]
        _keep(arguments.results, new)
        points += new
        for order in (RANDOM, UNCERTAIN):
            if order not in done:
                new = rounds(on, order, seed, arguments)
                _keep(arguments.results, new)
                points += new
    return points


def _earlier(path: Path | None) -> list[Point]:
    if path is None or not path.is_file():
        return []
    return [Point(**json.loads(line)) for line in path.read_text("utf-8").splitlines()]


def _keep(path: Path | None, points: Sequence[Point]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(point)) + "\n" for point in points)


def told(points: Sequence[Point]) -> None:
    """The table."""
    base = {one.seed: one for one in points if not one.order}
    before = [100 * one.inclusive for one in base.values()]
    print(f"before any label: {statistics.fmean(before):.1f} ({_each(before)})")
    print("labels  order      inclusive  more (each seed)            seconds")
    for order in (RANDOM, UNCERTAIN):
        for size in sorted({p.labels for p in points if p.order == order}):
            here = [p for p in points if (p.order, p.labels) == (order, size)]
            more = [100 * (p.inclusive - base[p.seed].inclusive) for p in here]
            mean = 100 * statistics.fmean(p.inclusive for p in here)
            gained = f"{statistics.fmean(more):+5.1f} ({_each(more)})"
            seconds = statistics.fmean(p.seconds for p in here)
            print(f"{size:6}  {order:9}  {mean:9.1f}  {gained:26}  {seconds:7.0f}")


def _each(figures: Sequence[float]) -> str:
    return " ".join(f"{figure:.1f}" for figure in figures)


def main() -> None:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipe", choices=("encoder", "linear"), default="encoder")
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 300, 600])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    points = runs(arguments)
    told(points)
    if arguments.svg is not None:
        rows = [(one.order, one.labels, 100 * one.inclusive) for one in points]
        arguments.svg.write_text(curve(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
