"""The server as people start it, a process of its own, and what is in its database."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import AnchorItem, Role
from nfh_db.store import Store
from nfh_models.domain import Kind
from tests.nfh_tui.workbench.conftest import PASSAGES

PATIENCE = 40.0


@dataclass
class Served:
    """A server that runs. links: by name. told: what it has said on standard error."""

    process: Process
    database: Path
    links: dict[str, str]
    told: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Scheme, host and port."""
        return next(iter(self.links.values())).partition("/enter")[0]

    def item(self, name: str, role: Role = Role.ANNOTATOR) -> AnchorItem:
        """The first item of the queue, as somebody has it."""
        with Store.open(self.database) as store:
            who = store.people.ensure(name)
            ids = next(store.queue.ids(parse(""), who))
            found = store.items.read(ids[0], who, role)
            assert found is not None
            return found

    def answer(self, name: str) -> Kind | None:
        """What somebody answered to the first item; None while they have not."""
        votes = self.item(name).votes
        return next((one.answer.kind for one in votes if one.annotator == name), None)

    async def until(self, what, wanted: object) -> None:
        """Wait until a function gives what is wanted."""
        found = None
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := await asyncio.to_thread(what)) != wanted:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
        except TimeoutError:
            raise AssertionError(f"{found!r} instead of {wanted!r}: {self.told}") from None

    async def children(self) -> list[int]:
        """The processes that the server has started."""
        ps = await asyncio.create_subprocess_exec("ps", "-eo", "pid=,ppid=", stdout=PIPE)
        out, _ = await ps.communicate()
        rows = [tuple(map(int, line.split())) for line in out.decode().splitlines()]
        return [pid for pid, parent in rows if parent == self.process.pid]


def make_database(path: Path) -> None:
    """A small database of dialogs."""
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("shell.gold.jsonl", "0" * 64, "gold"), PASSAGES)


@asynccontextmanager
async def served(
    folder: Path, *arguments: str, files: int | None = None
) -> AsyncIterator[Served]:
    """Start the server on a small database, on a free port, and end it afterwards.

    files: that it may have open at most, which it cannot raise.
    """
    database = folder / "served.db"
    await asyncio.to_thread(make_database, database)
    own = {
        "NFH_TUI_PREDICTOR": "off",
        "NFH_TUI_TOUR": "off",
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
    }
    limited = () if files is None else ("sh", "-c", f'ulimit -n {files} && exec "$@"', "sh")
    process = await asyncio.create_subprocess_exec(
        *limited,
        *(sys.executable, "-P", "-m", "nfh_tui", "serve", "--json", "--port", "0"),
        *("--db", str(database), *arguments),
        stdout=PIPE,
        stderr=PIPE,
        env=os.environ | own,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    line = await asyncio.wait_for(process.stdout.readline(), PATIENCE)
    if not line:
        raise AssertionError((await process.stderr.read()).decode())
    links = {one["name"]: one["url"] for one in json.loads(line)["links"]}
    it = Served(process, database, links)
    listening = asyncio.create_task(_listen(process.stderr, it.told))
    try:
        yield it
    finally:
        if process.returncode is None:
            process.terminate()
            await asyncio.wait_for(process.wait(), PATIENCE)
        await listening


async def _listen(stream: asyncio.StreamReader, told: list[str]) -> None:
    async for line in stream:
        told.append(line.decode())
