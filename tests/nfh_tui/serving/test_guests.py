"""Tokens, addresses, messages: values and functions, without a server."""

import pytest

from nfh_tui.serving import access
from nfh_tui.serving.access import Address, CloseCode, Guest, Invitations, RateLimit, public_url
from nfh_tui.serving.visit import (
    Focus,
    Ping,
    TerminalInput,
    TerminalSize,
    WireError,
    parse,
    size_of,
)

ANN, BOB = Guest("ann", "annotate"), Guest("bob", "annotate")


def test_each_guest_is_known_by_their_own_token_and_cookie() -> None:
    guests = Invitations([ANN, BOB])
    tokens = {guest: guests.invite(guest) for guest in (ANN, BOB)}
    assert tokens[ANN] != tokens[BOB]
    assert len(tokens[ANN]) >= 43
    for guest in (ANN, BOB):
        assert guests.by_token(tokens[guest]) == guest
        assert guests.by_cookie(guests.cookie(guest)) == guest
    for wrong in ("", "é", "\ud800", tokens[ANN][:-1], guests.cookie(ANN)):
        assert guests.by_token(wrong) is None
    for wrong in ("", "é", "\ud800", tokens[ANN]):
        assert guests.by_cookie(wrong) is None


def test_a_new_link_ends_the_old_one() -> None:
    guests = Invitations([ANN])
    old, new = guests.invite(ANN), guests.invite(ANN)
    assert guests.by_token(old) is None
    assert guests.by_token(new) == ANN


def test_another_server_knows_nobody_of_this_one() -> None:
    one, other = Invitations([ANN]), Invitations([ANN])
    token, _ = one.invite(ANN), other.invite(ANN)
    assert other.by_token(token) is None
    assert other.by_cookie(one.cookie(ANN)) is None


def test_tokens_are_kept_as_hashes_only() -> None:
    guests = Invitations([ANN])
    token = guests.invite(ANN)
    assert token not in repr(vars(guests))
    assert token.encode() not in guests._hashes.values()


@pytest.mark.parametrize(
    ("host", "trusted"),
    [
        ("127.0.0.1:8000", True),
        ("localhost:9000", True),  # a port that ssh forwards
        ("LOCALHOST", True),
        ("[::1]:8000", True),
        ("192.168.1.7:8000", True),
        ("nfh.example.org", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("evil.example@127.0.0.1", True),  # no browser sends this; the host is the number
        ("", False),
        ("[::1", False),
    ],
)
def test_hosts(host: str, trusted: bool) -> None:
    assert Address("127.0.0.1", 8000).trusts_host(host) is trusted


def test_the_name_of_the_proxy_is_a_host_and_its_page_the_only_origin() -> None:
    address = Address("127.0.0.1", 8000, "https://nfh.example.org")
    assert address.trusts_host("nfh.example.org")
    assert address.trusts_origin("https://nfh.example.org", "127.0.0.1:8000")
    assert not address.trusts_origin("http://127.0.0.1:8000", "127.0.0.1:8000")
    assert not address.trusts_origin("http://nfh.example.org", "nfh.example.org")


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("https://nfh.example.org/", "https://nfh.example.org"),
        ("HTTPS://NFH.example.org:443", "https://nfh.example.org"),
        ("http://[2001:db8::1]:81", "http://[2001:db8::1]:81"),
    ],
)
def test_a_public_url_is_written_as_browsers_write_it(given: str, made: str) -> None:
    assert public_url(given) == made


@pytest.mark.parametrize(
    "given",
    ["nfh.example.org", "ftp://x", "https://", "https://x/y", "https://u:p@x", "http://x:y"],
)
def test_other_public_urls_are_refused(given: str) -> None:
    with pytest.raises(ValueError):
        public_url(given)


def test_an_address_for_all_is_named_and_warned_of() -> None:
    assert Address("127.0.0.1", 1).is_local
    assert Address("::1", 1).is_local
    assert not Address("0.0.0.0", 1).is_local
    assert "0.0.0.0" not in Address("0.0.0.0", 1).url
    assert Address("::1", 81).url == "http://[::1]:81"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["stdin", "\\u001b[A"]', TerminalInput("\x1b[A")),
        ('["resize", {"width": 100, "height": 30}]', TerminalSize(100, 30)),
        ('["resize", {"width": 1000000000, "height": -4}]', TerminalSize(400, 5)),
        ('["ping", "17"]', Ping("17")),
        ('["focus"]', Focus(on=True)),
        ('["blur"]', Focus(on=False)),
    ],
)
def test_messages(text: str, message: object) -> None:
    assert parse(text) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "nonsense",
        "[" * 100_000,
        '["stdin"]',
        '["stdin", 3]',
        '["stdin", "\\ud800"]',
        '["resize", {"width": 1.5, "height": 2}]',
        '["resize", {"width": true, "height": 2}]',
        '["resize", {"width": "٣٣", "height": 2}]',
        '["resize", 80]',
        '["ping", "' + "x" * 1000 + '"]',
        '["focus", 1]',
        '["exec", "rm"]',
        '[["stdin"], "x"]',
    ],
)
def test_what_no_page_of_ours_says(text: str) -> None:
    with pytest.raises(WireError):
        parse(text)


def test_sizes_come_as_text_too() -> None:
    assert size_of("120", "40") == TerminalSize(120, 40)


def test_a_meter_lets_a_burst_through_and_then_so_many_a_second() -> None:
    meter = RateLimit(rate=10, burst=3)
    assert [meter.allows(0.0) for _ in range(5)] == [True, True, True, False, False]
    assert meter.allows(0.1)
    assert not meter.allows(0.1)
    assert [meter.allows(60.0) for _ in range(4)] == [True, True, True, False]


def test_reasons_fit_into_a_close_frame() -> None:
    reasons = [one for one in vars(access).values() if isinstance(one, CloseCode)]
    assert len(reasons) >= 8
    assert all(len(one.reason.encode()) <= 123 for one in reasons)
