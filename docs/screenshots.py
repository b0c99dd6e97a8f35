"""Pictures of the workbench for the README, from the app itself: `make screenshots`.

`python docs/screenshots.py FOLDER` writes one SVG for each size and theme. It works on a fresh
copy of the sample corpus in a temporary folder, with the live prediction where a pipeline
is installed.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from nfh_tui.app import WorkbenchApp
from nfh_tui.demo import ensure_demo
from nfh_tui.theme import DARK, LIGHT

SIZES = ((120, 40), (80, 24))
ITEM_QUERY = "disagree:noun state:disagree"
"""What the pictures show: an item on which two annotators marked different nouns."""
PREDICTION_SECONDS = 20


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


async def main(folder: Path) -> None:
    """Write the pictures into `folder`."""
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
