"""The server as a process: drafts are kept, and it leaves no process after."""

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from nfh_db.records import Role

from .real import Served, served


@asynccontextmanager
async def page(it: Served, name: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """What a browser does with somebody's link, up to the first picture."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as session:
        assert (await session.get(it.links[name])).status == 200
        socket = await session.ws_connect(f"{it.address}/ws", headers={"Origin": it.address})
        async with asyncio.timeout(120):
            seen = b""
            while b"boots" not in seen:
                seen += await socket.receive_bytes()
        yield socket


def draft(it: Served, name: str, role: Role = Role.ANNOTATOR) -> str | None:
    """The kind in somebody's draft of the first item."""
    found = it.item(name, role).draft
    return None if found is None else json.loads(found.body)["kind"]


async def test_what_was_typed_last_is_kept_when_the_page_or_the_server_goes(
    tmp_path: Path,
) -> None:
    async with served(tmp_path, "--invite", "kim", "--adjudicator", "eva") as it:
        async with page(it, "kim") as kim, page(it, "eva") as eva:
            children = await it.children()
            assert len(children) == 2
            await kim.send_json(["stdin", "a"])
            await kim.close()
            await it.until(lambda: draft(it, "kim"), "AGE")
            assert it.answer("kim") is None
            await eva.send_json(["stdin", "y"])
            it.process.send_signal(signal.SIGINT)
            async with asyncio.timeout(120):
                while (message := await eva.receive()).type is aiohttp.WSMsgType.BINARY:
                    pass
            assert message.type is aiohttp.WSMsgType.CLOSE
            assert "The server has ended" in message.extra
        assert await asyncio.wait_for(it.process.wait(), 40) == 0
        assert not list(filter(alive, children))
        assert draft(it, "eva", Role.ADJUDICATOR) == "YEAR"


@pytest.mark.long
async def test_children_end_when_the_server_is_killed(tmp_path: Path) -> None:
    async with served(tmp_path, "--invite", "kim") as it, page(it, "kim"):
        children = await it.children()
        assert len(children) == 1
        it.process.kill()
        await it.until(lambda: list(filter(alive, children)), [])


def alive(pid: int) -> bool:
    """True while a process runs; one that nobody has asked about its end does not."""
    ps = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(ps.stdout.strip()) and not ps.stdout.strip().startswith("Z")
