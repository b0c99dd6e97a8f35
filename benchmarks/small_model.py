"""How fast a model of the package is, beside the same weights in plain 32 bits.

    python benchmarks/small_model.py [small|base] [FILE]

FILE: resolution examples, by default the development split in ../shared/data; without it
passages made up on the spot. Both run in turns, so that what else the machine does meets both
alike; the best of the rounds is printed.
"""

import resource
import subprocess
import sys
import time
from pathlib import Path

from nfh_models.encoder.model import EncoderModel
from nfh_models.resolution.base import Item

ROUNDS = 3
ANCHORS = 96
SINGLE = 30
DEV = Path(__file__).resolve().parents[2] / "shared/data/resolution/nfh_dev.jsonl"

LOADING = """
import resource, sys, time
begun = time.perf_counter()
import torch
torch.set_num_threads(1)
imported = time.perf_counter()
from nfh_models.resolution.recipes import load_resolver
load_resolver(sys.argv[1])
loaded = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{imported - begun:.2f} {loaded - imported:.2f} {peak:.0f}")
"""


def items_of(path: Path) -> list[Item]:
    """Items of a file; made up where there is none."""
    if path.is_file():
        from nfh_tui.services.examples import ResolutionExamples

        return [example.item for example in ResolutionExamples.of_file(path)][:ANCHORS]
    from nfh_models.domain import Anchor, Passage, Token, Turn

    words = ("We had a tent and some rope . How many do you need ? I need two . " * 9).split()
    tokens, place = [], 0
    for word in words:
        tokens.append(Token(place, place + len(word), word.lower()))
        place += len(word) + 1
    passage = Passage(" ".join(words), tuple(tokens), (Turn(0, "A", 0, len(words)),))
    at = [n for n, word in enumerate(words) if word == "two"]
    return [Item(passage, Anchor(at[n % 9], at[n % 9] + 1)) for n in range(ANCHORS)]


def rate(model: EncoderModel, items: list[Item]) -> float:
    """Anchors a second, all at once."""
    begun = time.perf_counter()
    model.resolve(items)
    return len(items) / (time.perf_counter() - begun)


def single(model: EncoderModel, items: list[Item]) -> float:
    """The median of milliseconds for one anchor alone."""
    took = []
    for item in items[:SINGLE]:
        begun = time.perf_counter()
        model.resolve([item])
        took.append(1000 * (time.perf_counter() - begun))
    return sorted(took)[len(took) // 2]


def main() -> None:
    import torch

    from nfh_models.encoder.model import load
    from nfh_models.model_files import PACKAGED, packaged_folder

    given = sys.argv[1:]
    recipe = given.pop(0) if given and given[0] in PACKAGED else "small"
    folder = packaged_folder(recipe)
    took = subprocess.run(
        [sys.executable, "-c", LOADING, recipe], capture_output=True, text=True, check=True
    ).stdout.split()
    print("import torch {} s, load {} s, {} MB at the peak".format(*took))
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    print(f"{size / 1e6:.1f} MB on the disk, the module's own files included")
    items = items_of(Path(given[0]) if given else DEV)
    packaged, plain = load(folder), load(folder, bytes_=False)
    for threads in (1, 2):
        torch.set_num_threads(threads)
        packaged.resolve(items[:8]), plain.resolve(items[:8])
        own, other = [], []
        for _ in range(ROUNDS):
            own.append(rate(packaged, items))
            other.append(rate(plain, items))
        print(
            f"{threads} threads: {max(own):.0f} anchors/s, in 32 bits {max(other):.0f}, "
            f"{max(own) / max(other):.1f} times as fast"
        )
    torch.set_num_threads(1)
    alone, beside = single(packaged, items), single(plain, items)
    print(f"one anchor, one thread: {alone:.1f} ms, in 32 bits {beside:.1f} ms")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB in the end")


if __name__ == "__main__":
    main()
