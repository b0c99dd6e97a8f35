"""A real browser, worked through its DevTools protocol: pages, keys, pictures."""

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CODES = {"Enter": 13, "Escape": 27, "Tab": 9, "F1": 112, "F2": 113, "F5": 116}
CONTROL = 2
PATIENCE = 120.0


def program() -> str | None:
    """The browser's path; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab. Each has cookies of its own, as if in a browser of its own."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser = browser
        self._session = session

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        """Call a method of the protocol in this tab."""
        return await self._browser.call(method, self._session, **parameters)

    async def go(self, url: str) -> None:
        """Open an address in this tab."""
        await self.call("Page.navigate", url=url)

    async def value(self, script: str) -> Any:
        """What a script gives, promises waited for."""
        answer = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    async def until(self, script: str) -> Any:
        """Wait until a script gives something true, and give it."""
        async with asyncio.timeout(PATIENCE):
            while True:
                with contextlib.suppress(RuntimeError, ProtocolError):
                    if found := await self.value(script):
                        return found
                await asyncio.sleep(0.05)

    async def press(self, *keys: str) -> None:
        """Press keys as a keyboard does: characters, "Enter", "F1", or "ctrl+q"."""
        for key in keys:
            held = CONTROL if key.startswith("ctrl+") else 0
            name = key.removeprefix("ctrl+")
            code = CODES.get(name) or ord(name.upper())
            text = "\r" if name == "Enter" else name if len(name) == 1 and not held else None
            more = {"key": name, "windowsVirtualKeyCode": code, "modifiers": held}
            down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
            await self.call("Input.dispatchKeyEvent", **down, **more)
            await self.call("Input.dispatchKeyEvent", type="keyUp", **more)

    async def click(self, x: int, y: int) -> None:
        """Click with the left button, at CSS pixels of the page."""
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1
            )

    async def picture(self) -> bytes:
        """What is seen, as a PNG."""
        answer = await self.call("Page.captureScreenshot", format="png")
        return base64.b64decode(answer["data"])


class ProtocolError(Exception):
    """The browser refused what it was asked."""


class Browser:
    """A browser that runs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reader = asyncio.create_task(self._read())

    async def page(self, width: int = 1280, height: int = 800) -> Page:
        """A new tab, with cookies of its own."""
        made = await self.call("Target.createBrowserContext")
        target = await self.call(
            "Target.createTarget",
            url="about:blank",
            browserContextId=made["browserContextId"],
            width=width,
            height=height,
        )
        attached = await self.call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        return Page(self, attached["sessionId"])

    async def call(
        self, method: str, session: str | None = None, **parameters: object
    ) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        number = next(self._numbers)
        self._waiting[number] = given = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(message | ({"sessionId": session} if session else {}))
        answer = await asyncio.wait_for(given, PATIENCE)
        if "error" in answer:
            raise ProtocolError(f"{method}: {answer['error']}")
        return answer["result"]  # type: ignore[no-any-return]

    async def _read(self) -> None:
        async for message in self._socket:
            answer = json.loads(message.data)
            waiting = self._waiting.pop(answer.get("id", 0), None)
            if waiting is not None and not waiting.done():
                waiting.set_result(answer)

    async def close(self) -> None:
        """Ask the browser to end."""
        with contextlib.suppress(Exception):
            await self.call("Browser.close")
        self._reader.cancel()


@asynccontextmanager
async def running(path: str, *more: str) -> AsyncIterator[Browser]:
    """A headless browser with a profile of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            path,
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"),
            *("--no-first-run", "--disable-extensions", "--disable-background-networking"),
            # Letters as text of the page, and no graphics card played by the processor.
            *("--disable-3d-apis", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={profile}", *more, "about:blank"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            address = await _address(Path(profile) / "DevToolsActivePort")
            async with (
                aiohttp.ClientSession() as session,
                session.ws_connect(address, max_msg_size=0) as socket,
            ):
                browser = Browser(socket)
                yield browser
                await browser.close()
        finally:
            if process.returncode is None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), 5)
            if process.returncode is None:
                process.kill()
                await process.wait()


async def _address(file: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while True:
            if len(lines := await asyncio.to_thread(_lines, file)) >= 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            await asyncio.sleep(0.05)


def _lines(file: Path) -> list[str]:
    return file.read_text().split("\n") if file.exists() else []
