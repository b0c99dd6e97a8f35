"""Pictures of the workbench for the README, from the app itself: `make screenshots`.

`python docs/screenshots.py FOLDER` writes one SVG for each size and theme, and one that moves:
some decisions, key by key. It works on a fresh
copy of the sample corpus in a temporary folder, with the live prediction where a pipeline
is installed.
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from nfh_tui.app import WorkbenchApp
from nfh_tui.demo import ensure_demo
from nfh_tui.theme import DARK, LIGHT

SIZES = ((120, 40), (80, 24))
ITEM_QUERY = "disagree:noun state:disagree"
"""What the pictures show: an item on which two annotators marked different nouns."""
PREDICTION_SECONDS = 20

STEPS = (
    ((), "which noun is missing after “four”?"),
    (("f",), "f: letters on the nouns"),
    (("j",), "j: the head is “geese”"),
    (("enter",), "enter: saved, and the next"),
    (("a",), "a: its class is Age"),
    (("z",), "z: undone"),
    (("comma",), ", : the annotators' answers"),
    (("1",), "1: that of the first, saved, and the next"),
)
"""The keys of the moving picture, and what its title says of them."""
SECONDS = 2.5


async def picture(database: Path, size: tuple[int, int], theme: str) -> str:
    """The workbench at an item with votes, prediction and heat map, as SVG."""
    app = WorkbenchApp(database, "eva", "adjudicate", ITEM_QUERY)
    try:
        async with app.run_test(size=size) as pilot:
            app.theme = theme
            for _ in range(PREDICTION_SECONDS * 10):
                await pilot.pause(0.1)
                item = app.bench.state.visible_item
                if item is not None and item.prediction is not None:
                    break
            await pilot.press("H")
            await pilot.pause(0.3)
            return app.export_screenshot(title="nfh-tui")
    finally:
        app.close()


async def frames(database: Path, size: tuple[int, int]) -> list[str]:
    """The workbench after each of STEPS, as SVG."""
    app = WorkbenchApp(database, "eva", "adjudicate", ITEM_QUERY)
    taken = []
    try:
        async with app.run_test(size=size) as pilot:
            app.theme = DARK.name
            await pilot.pause(1)
            for keys, words in STEPS:
                await pilot.press(*keys)
                # Longer than a new item must be seen before a key accepts it.
                await pilot.pause(0.5)
                taken.append(app.export_screenshot(title=words))
    finally:
        app.close()
    return taken


def moving(pictures: Sequence[str]) -> str:
    """One SVG that shows pictures of one size in turn, SECONDS each."""
    start, _, rest = pictures[0].partition(">")
    layers = []
    for place, picture in enumerate(pictures):
        inner = re.sub(r"@font-face {.*?}", "", picture.partition(">")[2], flags=re.DOTALL)
        inner = inner.rpartition("</svg>")[0]
        # Hidden, shown from its turn on, hidden again: at these shares of the whole time.
        shares = sorted({0, place / len(pictures), (place + 1) / len(pictures), 1})
        shown = ["visible" if share == place / len(pictures) else "hidden" for share in shares]
        layers.append(
            f'<g visibility="{"hidden" if place else "visible"}">{inner}'
            '<animate attributeName="visibility" calcMode="discrete" repeatCount="indefinite" '
            f'dur="{len(pictures) * SECONDS}s" values="{";".join(shown)}" '
            f'keyTimes="{";".join(f"{share:.4f}" for share in shares)}"/></g>'
        )
    fonts = "".join(re.findall(r"@font-face {.*?}", rest, flags=re.DOTALL))
    return f"{start}><style>{fonts}</style>{''.join(layers)}</svg>\n"


async def main(folder: Path) -> None:
    """Write the pictures into `folder`."""
    with TemporaryDirectory() as scratch:
        database = Path(scratch) / "demo.db"
        ensure_demo(database)
        path = folder / "workbench-moving.svg"
        path.write_text(moving(await frames(database, SIZES[1])), "utf-8")
        sys.stdout.write(f"{path}\n")
    for theme in (DARK.name, LIGHT.name):
        for width, height in SIZES:
            with TemporaryDirectory() as scratch:
                database = Path(scratch) / "demo.db"
                ensure_demo(database)
                svg = await picture(database, (width, height), theme)
            shade = "" if theme == DARK.name else "-light"
            path = folder / f"workbench-{width}x{height}{shade}.svg"
            path.write_text(svg, "utf-8")
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs")))
