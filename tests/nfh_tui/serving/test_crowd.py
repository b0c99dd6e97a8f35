"""More idle connections than the server may have files open: those invited still get in."""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from .real import served
from .test_served import page

FILES = 1024
IDLE = 1100
AT_ONCE = 50
FEW = 30
"""Lines that a crowd may make the server write."""


@asynccontextmanager
async def idle(address: str, count: int) -> AsyncIterator[list[asyncio.StreamReader]]:
    """So many connections that were opened and say nothing."""
    parts = urlsplit(address)
    opened: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
    try:
        while len(opened) < count:
            some = [
                asyncio.open_connection(parts.hostname, parts.port)
                for _ in range(min(AT_ONCE, count - len(opened)))
            ]
            opened += await asyncio.gather(*some)
        yield [reader for reader, _ in opened]
    finally:
        for _, writer in opened:
            writer.transport.abort()


def ended(reader: asyncio.StreamReader) -> bool:
    """True of a connection that the other side has ended."""
    return reader.at_eof() or reader.exception() is not None


@pytest.fixture
def many_files() -> None:
    """This process may have enough files open for the crowd itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = IDLE + 400
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"this process may have {hard} files open, and {wanted} are needed")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@pytest.mark.long
@pytest.mark.usefixtures("many_files")
async def test_those_invited_get_in_beside_a_crowd(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with (
        served(tmp_path, "--invite", "kim", files=FILES) as it,
        idle(it.address, IDLE) as crowd,
    ):
        clock = asyncio.get_running_loop().time
        begun = clock()
        async with asyncio.timeout(120), page(it, "kim") as kim:
            came = clock() - begun
            still = sum(not ended(one) for one in crowd)
            await kim.send_json(["stdin", "a"])
            await it.until(lambda: it.item("kim").draft is not None, True)
        record_property("still open", still)
        record_property("seconds", round(came, 2))
    assert 0 < still < IDLE // 2
    told = "".join(it.told)
    assert "Traceback" not in told
    assert "Too many open files" not in told
    assert len(it.told) < FEW
    assert "too many are open" in told
