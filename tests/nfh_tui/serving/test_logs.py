"""What the server's log says of strangers: a line at most, no secret, and not too many."""

import asyncio
import io
import logging
import re
import sys
from collections.abc import Iterator

import pytest

from nfh_tui.serving import access
from nfh_tui.serving.access import (
    Address,
    Invitations,
    LogRateLimit,
    RedactingFormatter,
    logging_to_stderr,
    redacted,
)
from nfh_tui.serving.server import GuestServer, ServedQueue, listen

from .conftest import ANN, NoPredictions

TOKEN = "V3GBT5oBJqA23r2zpk_YQlP2NfuilkBO_7ZerFlHymc"
COOKIE = "3dde030dabbdcf872fc1f8d4bd9668f4ca2a0b9ea088c74d9e6f8bfeeabb6853"
ENCODED = "".join(f"%{ord(character):02X}" for character in TOKEN)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the server writes to standard error."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    with logging_to_stderr():
        yield out


@pytest.mark.parametrize(
    "said",
    [
        f"GET /enter/{TOKEN}",
        f"GET /enter%3Ftoken%3D{TOKEN} HTTP/1.1",
        f"b'GET /enter?tok\\xc3en={TOKEN}'",
        f"?token='{TOKEN}",
        f"Cookie: nfh-tui-8000={COOKIE}; ö",
        f"/{ENCODED}/{ENCODED.lower()}",
        "GET /enter?token=short-one",
        "/enter%3Ftoken%3dshort-one",
    ],
)
def test_a_secret_is_left_out_however_it_is_written(said: str) -> None:
    shown = redacted(said)
    assert "…" in shown
    assert not [
        one for one in (TOKEN, COOKIE, ENCODED, ENCODED.lower(), "short") if one in shown
    ]
    record = logging.LogRecord("nfh_tui.serving", 40, "", 0, "%s", (said,), None)
    try:
        raise ValueError(said)
    except ValueError:
        record.exc_info = sys.exc_info()
    line = RedactingFormatter().format(record)
    assert "Traceback" in line
    assert not [one for one in (TOKEN, COOKIE, ENCODED, ENCODED.lower()) if one in line]


def test_what_aiohttp_says_is_one_line_without_the_request() -> None:
    try:
        raise ValueError("what\nwas asked for")
    except ValueError:
        record = logging.LogRecord(
            "aiohttp.internal",
            30,
            "",
            0,
            "Illegal cookie name %r",
            ("half a secr",),
            sys.exc_info(),
        )
    line = RedactingFormatter().format(record)
    assert re.fullmatch(
        r"[\d:]+  Illegal cookie name … \(ValueError at test_logs.py:\d+\)", line
    )


def test_strangers_cannot_fill_the_log() -> None:
    now = 0.0
    sparing = LogRateLimit(lambda: now)

    def passed(name: str, **more: object) -> logging.LogRecord | None:
        record = logging.makeLogRecord({"name": name, "msg": "told", **more})
        return record if sparing.filter(record) else None

    strange = [passed("aiohttp.server") for _ in range(int(access.AT_ONCE) + 5)]
    assert strange.count(None) == 5
    assert passed("nfh_tui.serving", uninvited=True) is None
    assert passed("nfh_tui.serving") is not None
    now = 60.0
    again = passed("aiohttp.server")
    assert again is not None
    assert again.msg == "(6 lines like this left out) told"


async def test_bad_requests_are_answered_without_what_they_said(
    tmp_path, told: io.StringIO
) -> None:
    guests = Invitations([ANN])
    token = guests.invite(ANN)
    requests = [
        f"GET /enter?tok\xc3en={token} HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET /enter?token='{token} HTTP/9\r\n\r\n",
        f"GET /enter/{token} HTTP/1.1\r\nHost: {token}\r\nConnection: close\r\n\r\n",
        f"GET /{token[:20]}/{token[20:]} HTTP/1.1\r\n"
        "Host: 127.0.0.1\r\nConnection: close\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: a\x01b={token[:30]}; {token}\r\n\r\n",
    ]
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        plan = ServedQueue(tmp_path / "some.db", Address("127.0.0.1", port, None), None, 4)
        server = GuestServer(plan, guests, NoPredictions())  # type: ignore[arg-type]
        stop = asyncio.Event()
        running = asyncio.create_task(server.run(listening, stop))
        answers = [await _asked(port, request) for request in requests]
        stop.set()
        await running
    for answer in answers:
        assert token[:20] not in answer
        assert token[20:30] not in answer
        assert "Content-Security-Policy" in answer
        assert "aiohttp" not in answer
    assert "400" in answers[0].splitlines()[0]
    assert "<h1>Not understood</h1>" in answers[0]
    assert "403" in answers[2].splitlines()[0]
    text = told.getvalue()
    assert not [part for part in (token[:20], token[20:30], token[-10:]) if part in text], text
    assert "Traceback" not in text
    assert len(text.splitlines()) <= len(requests) + 1, text


async def _asked(port: int, request: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    async with asyncio.timeout(120):
        answer = await reader.read()
    writer.close()
    return answer.decode("utf-8", "replace")
