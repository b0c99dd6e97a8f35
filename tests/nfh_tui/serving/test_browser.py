"""Two people in a real browser, each by their own link; and who is kept out."""

from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from nfh_models.domain import Kind

from . import browser
from .browser import Browser, Page
from .real import served

OPEN = "document.body?.innerText.includes('boots')"
SEEN = "document.documentElement.outerHTML"
BLOCKED = """
window.blocked = [];
document.addEventListener("securitypolicyviolation", (e) => blocked.push(e.blockedURI));
"""
SOCKET = """
new Promise((told) => {
  const socket = new WebSocket("%s/ws");
  socket.onopen = () => told("open");
  socket.onerror = () => told("refused");
})
"""
FETCH = "fetch('%s/', {credentials: 'include'}).then((r) => r.text()).catch(() => 'refused')"


@pytest.fixture
def chromium() -> str:
    """A browser's path; the test is skipped where there is none."""
    path = browser.program()
    if path is None:
        pytest.skip(f"needs a browser: none of {', '.join(browser.NAMES)} is installed")
    return path


async def foreign_page(link: str) -> TestServer:
    """A page of somebody else's, with a link of ours on it."""

    async def show(_: web.Request) -> web.Response:
        return web.Response(text=f'<a href="{link}">go</a>', content_type="text/html")

    app = web.Application()
    app.add_routes([web.get("/", show)])
    server = TestServer(app, host="127.0.0.1")
    await server.start_server()
    return server


async def visitor(open_browser: Browser) -> Page:
    page = await open_browser.page()
    await page.call("Page.enable")
    await page.call("Page.addScriptToEvaluateOnNewDocument", source=BLOCKED)
    return page


async def test_two_people_answer_in_browsers_and_a_third_sees_nothing(
    tmp_path: Path, chromium: str
) -> None:
    async with (
        served(tmp_path, "--invite", "kim", "--invite", "lee") as it,
        browser.running(chromium) as opened,
    ):
        elsewhere = await foreign_page(it.links["lee"])
        try:
            kim, lee = await visitor(opened), await visitor(opened)
            await kim.go(it.links["kim"])
            # From a mail or another site, which names this machine otherwise: another site.
            await lee.go(f"http://localhost:{elsewhere.port}/")
            await lee.until("!!document.querySelector('a')")
            await lee.value("document.querySelector('a').click()")
            for page in (kim, lee):
                await page.until(OPEN)
                assert await page.value("location.href") == f"{it.address}/"
                assert await page.value("document.cookie") == ""
                assert await page.value("blocked") == []

            await kim.press("a", "Enter")
            await lee.press("c", "Enter")
            await it.until(lambda: it.answer("kim"), Kind.AGE)
            await it.until(lambda: it.answer("lee"), Kind.CURRENCY)

            third = await visitor(opened)
            for path in ("/", "/static/js/textual.js", "/enter?token=guessed"):
                await third.go(it.address + path)
                seen = await third.until(f"document.querySelector('h1') && {SEEN}")
                assert "boots" not in seen
                assert "textual" not in seen
            socket = SOCKET % it.address.replace("http", "ws")
            assert await third.value(socket) == "refused"

            # Another port is the same site to a browser: it sends the cookie along.
            assert await kim.value(socket) == "open"
            assert "kim" in await kim.value(FETCH % it.address)
            await kim.go(f"http://127.0.0.1:{elsewhere.port}/")
            await kim.until("!!document.querySelector('a')")
            assert await kim.value(socket) == "refused"
            assert await kim.value(FETCH % it.address) == "refused"

            await lee.press("q")
            ended = "!document.getElementById('ended').hidden && document.body.innerText"
            assert "You left the workbench" in await lee.until(ended)
        finally:
            await elsewhere.close()
    told = "".join(it.told)
    assert it.process.returncode == 0
    assert "kim came by their link" in told
    assert not [link for link in it.links.values() if link.partition("token=")[2] in told]
