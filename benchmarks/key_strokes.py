"""How many keys a decision takes in the workbench, pressed as well as it can be.

    python benchmarks/key_strokes.py [--dev FILE] [--play 60] [--no-model] [--seed 1]

For each item the gold is the target; the shortest keys that make an answer equal to it by noun
are found by the editor itself, `enter` counted. Then the real application is started and the
keys of the first items are pressed; the database must hold the gold after it. Three sets:

sample: the decided items of the sample corpus, as its three annotators answered them.
simulated: the release's development file (left out where it is missing), with three made-up
annotators as noisy as the paper's. hard: its References, where nobody marked the right noun.

Each with the small model's answers and letters that follow its scores, and without. Baselines
in the same run: nothing is preselected, taken over or lettered, the cursor goes noun by noun
(w, b) or word by word (arrows), space marks, a class has its key.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from strokes.data import Corpus, predict, sample, simulated
from strokes.figures import GOALS, Group, Planned, agreement, lines, medians, planned
from strokes.playing import play
from strokes.sheets import review

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
DEV = "resolution/nfh_dev.jsonl"
SHEETS = 80
"""Items that are decided with the review sheet."""


def examined(name: str, corpus: Corpus, plays: int, *, model: bool) -> bool:
    """Plan a set, print it, play the first of it; True if all of it is as it should be."""
    begun = time.perf_counter()
    if model:
        predict(corpus)
    plans = planned(corpus)
    took = time.perf_counter() - begun
    print(f"{name}, {'with the small model' if model else 'no model'} ({took:.0f} s)")
    if corpus.made_up:
        print(f"  the made-up annotators, by class: {agreement(plans)}")
    for line in lines(plans):
        print(line)
    if corpus.made_up:
        _reviewed(corpus, plans[:SHEETS])
    return _met(plans) & _played(corpus, plans[:plays])


def _reviewed(corpus: Corpus, plans: list[Planned]) -> None:
    """Print the keys of the first items with the review sheet, and one by one."""
    for size in ((80, 24), (120, 40)):
        copied = shutil.copyfile(corpus.path, corpus.path.with_suffix(f".{size[1]}.db"))
        done = asyncio.run(review(replace(corpus, path=copied), plans, size))
        one_by_one = sum(len(one.keys) for one in plans)
        print(
            f"  review sheet at {size[0]}x{size[1]}, {done.items} items: {done.keys} keys in "
            f"{done.sheets} sheets, and {done.desk} for {done.at_desk} left over; one "
            f"by one {one_by_one}; {len(done.wrong)} whose gold is not the one meant"
        )


def _met(plans: list[Planned]) -> bool:
    found = medians(plans)
    over = {group: value for group, value in found.items() if value > GOALS[group]}
    for group, value in over.items():
        print(f"  over the goal: {group.value}, median {value:.1f}")
    return not over


def _played(corpus: Corpus, plans: list[Planned]) -> bool:
    if not plans:
        return True
    done = asyncio.run(play(corpus, plans))
    print(
        f"  pressed in the application: {done.items} items, {done.keys} keys, "
        f"{len(done.wrong)} whose gold is not the one meant"
    )
    for public_id in done.wrong[:5]:
        print(f"    {public_id}")
    return not done.wrong


def sets(folder: Path, dev: Path, seed: int) -> dict[str, Corpus]:
    """The sets by name; without the release's file the sample corpus alone."""
    found = {"sample": sample(folder)}
    if not dev.is_file():
        print(f"no {dev}: only the sample corpus (NFH_DATA names the releases' folder)")
        return found
    found["simulated"] = simulated(folder, dev, seed)
    found["simulated, hard"] = simulated(folder, dev, seed, hard=True)
    return found


def main() -> None:
    """Make the sets, plan, press, print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--dev", type=Path, default=Path(os.environ.get("NFH_DATA", BESIDE)) / DEV
    )
    options.add_argument("--play", type=int, default=60, help="items of each set to press")
    options.add_argument("--no-model", action="store_true")
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    os.environ["NFH_TUI_PREDICTOR"] = os.environ["NFH_TUI_GUARD"] = "off"
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for model in [False] if chosen.no_model else [False, True]:
            inside = Path(folder) / ("model" if model else "plain")
            inside.mkdir()
            os.environ["XDG_DATA_HOME"] = str(inside / "data")
            for name, corpus in sets(inside, chosen.dev, chosen.seed).items():
                met &= examined(name, corpus, chosen.play, model=model)
    print(f"goals: medians of {GOALS[Group.SETTLED]:.0f} and {GOALS[Group.MARKED]:.0f}")
    sys.exit(not met)


if __name__ == "__main__":
    main()
