"""Who comes in, with what, and what every answer forbids."""

import logging
from collections.abc import Callable

import pytest
from aiohttp import WSServerHandshakeError

from nfh_tui.serving.access import Guest, workbench

from .conftest import ANN, EVA

PATHS = (
    "/",
    "/ws",
    "/download/k",
    "/static/js/textual.js",
    "/page/page.js",
    "/static/",
    "/nothing",
)
NAME = "nfh-tui-8000"


@pytest.mark.parametrize("path", PATHS)
async def test_without_a_cookie_every_path_says_only_that_one_is_not_invited(
    house: Callable, path: str
) -> None:
    async with house() as it:
        answer = await it.client.get(path)
        text = await answer.text()
        assert answer.status == 403
        assert "Not invited" in text
        assert len(text) < 1500
        assert not [guest.name for guest in (ANN, EVA) if guest.name in text]


@pytest.mark.parametrize("path", ["/", "/nothing", "/page/page.js", "/enter"])
async def test_what_every_answer_forbids(house: Callable, path: str) -> None:
    async with house() as it:
        for headers in ({}, it.cookie()):
            answer = await it.client.get(path, headers=headers)
            rules = answer.headers["Content-Security-Policy"].split("; ")
            assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= {
                *rules
            }
            assert "http" not in answer.headers["Content-Security-Policy"]
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "aiohttp" not in answer.headers["Server"]


async def test_a_link_gives_a_cookie_that_scripts_and_other_sites_do_not_have(
    house: Callable,
) -> None:
    async with house() as it:
        answer = await it.client.get(f"/enter?token={it.tokens[ANN]}", allow_redirects=False)
        cookie = answer.cookies[NAME]
        assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/")
        assert cookie["secure"] == ""
        assert it.tokens[ANN] not in cookie.value
        assert it.tokens[ANN] not in await answer.text()
        page = await it.client.get("/", headers={"Cookie": f"{NAME}={cookie.value}"})
        assert page.status == 200
        assert "ann1" in await page.text()


async def test_behind_tls_the_cookie_is_for_tls_and_this_very_host(house: Callable) -> None:
    async with house(public_url="https://nfh.example.org") as it:
        answer = await it.client.get(f"/enter?token={it.tokens[ANN]}")
        cookie = answer.cookies[f"__Host-{NAME}"]
        assert cookie["secure"] is True


@pytest.mark.parametrize("token", ["", "x", "\u00e9", "a" * 43, "%00"])
async def test_no_other_token_enters(house: Callable, token: str) -> None:
    async with house() as it:
        answer = await it.client.get("/enter", params={"token": token})
        assert answer.status == 403
        assert not answer.cookies


async def test_token_and_cookie_do_not_do_for_each_other(house: Callable) -> None:
    async with house() as it:
        shown = {"Cookie": f"{NAME}={it.tokens[ANN]}"}
        assert (await it.client.get("/", headers=shown)).status == 403
        entering = {"token": it.server.guests.cookie(ANN)}
        assert (await it.client.get("/enter", params=entering)).status == 403


async def test_names_are_text_on_the_page(house: Callable) -> None:
    async with house() as it:
        text = await (await it.client.get("/", headers=it.cookie(EVA))).text()
        assert "éva &lt;b&gt;" in text
        assert "<b>" not in text


async def test_the_page_loads_nothing_from_elsewhere(house: Callable) -> None:
    async with house() as it:
        text = await (await it.client.get("/", headers=it.cookie())).text()
        style = await (await it.client.get("/page/page.css", headers=it.cookie())).text()
        assert "//" not in text
        assert "//" not in style


@pytest.mark.parametrize(
    ("query", "size"), [("?fontsize=20", 20), ("?fontsize=9999", 16), ("?fontsize=%3Cb", 16)]
)
async def test_the_size_of_letters_may_be_chosen(
    house: Callable, query: str, size: int
) -> None:
    async with house() as it:
        text = await (await it.client.get(f"/{query}", headers=it.cookie())).text()
        assert f'data-font-size="{size}"' in text


async def test_other_wishes_are_dropped_from_the_address(house: Callable) -> None:
    # textual.js would fetch the address in `ping` before it connects.
    async with house() as it:
        answer = await it.client.get(
            "/?ping=https://x.example", headers=it.cookie(), allow_redirects=False
        )
        assert (answer.status, answer.headers["Location"]) == (303, "/")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "a@b:c", "", "[::1"])
async def test_a_host_that_is_not_ours_is_refused_even_with_the_cookie(
    house: Callable, host: str
) -> None:
    async with house() as it:
        answer = await it.client.get("/", headers=it.cookie() | {"Host": host})
        assert answer.status in {400, 403}
        assert "terminal" not in await answer.text()


async def test_an_origin_that_is_not_the_page_opens_no_socket(house: Callable) -> None:
    async with house() as it:
        foreign = [
            {},
            {"Origin": "null"},
            {"Origin": "https://evil.example"},
            {"Origin": f"https://{it.host}"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": f"http://{it.host}.evil.example"},
        ]
        for headers in foreign:
            with pytest.raises(WSServerHandshakeError) as refused:
                await it.client.ws_connect("/ws", headers=it.cookie() | headers)
            assert refused.value.status == 403
        async with it.client.ws_connect("/ws", headers=it.page()) as socket:
            assert await socket.receive_bytes() == b"hello 80x24"


async def test_behind_a_proxy_only_its_page_opens_the_socket(house: Callable) -> None:
    public = "https://nfh.example.org"
    async with house(public_url=public) as it:
        with pytest.raises(WSServerHandshakeError):
            await it.client.ws_connect("/ws", headers=it.page())
        headers = it.cookie() | {"Origin": public, "Host": "nfh.example.org"}
        async with it.client.ws_connect("/ws", headers=headers) as socket:
            assert await socket.receive_bytes() == b"hello 80x24"


async def test_no_secret_is_logged(house: Callable, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with house() as it:
        secrets = [it.tokens[ANN], it.server.guests.cookie(ANN)]
        await it.client.get("/enter", params={"token": secrets[0]})
        await it.client.get("/enter", params={"token": "wrong-token"})
        await it.client.get("/", params={"token": secrets[0]})
        async with it.client.ws_connect("/ws", headers=it.page()) as socket:
            await socket.send_str("nonsense")
            async for _ in socket:
                pass
    # The log of every request is aiohttp's own, off where the server is not a test's.
    names = ("nfh_tui.serving", "aiohttp.server", "aiohttp.web")
    ours = [record for record in caplog.records if record.name in names]
    told = "\n".join(record.getMessage() for record in ours)
    assert "ann1 came by their link" in told
    assert "closed, for it said not JSON" in told
    assert not [one for one in (*secrets, "wrong-token") if one in told]


def test_a_name_that_looks_like_a_field_stays_a_name() -> None:
    name = "{mode}{font-size}{name}"
    text = workbench(Guest(name, "annotate"), "20").text
    assert text is not None
    assert text.count(name) == 2
    assert f"{name} · annotate" in text
    assert 'data-font-size="20"' in text
