"""The lines that the screen and the predictor child say to each other."""

import json

import msgspec
import pytest

from nfh_tui.jobs.protocol import (
    AnchorReady,
    Ask,
    Failed,
    Ready,
    decode_ask,
    decode_reply,
    encode,
)


@pytest.mark.parametrize(
    "reply",
    [
        Ready("cues", "en_core_web_sm 3.8.0"),
        AnchorReady(3, 12, 0.004),
        Failed("No prediction: the disk is full."),
        Failed("two\nlines, 😀 and \0", 3, 12),
    ],
)
def test_replies_survive(reply: Ready | AnchorReady | Failed) -> None:
    line = encode(reply)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode_reply(line) == reply


def test_asks_survive() -> None:
    ask = Ask(1, [5, 2, 9], force=True)
    assert decode_ask(encode(ask)) == ask


def test_an_ask_is_plain_json() -> None:
    assert json.loads(encode(Ask(1, [5]))) == {
        "type": "ask",
        "id": 1,
        "anchors": [5],
        "force": False,
    }


@pytest.mark.parametrize(
    "line", [b"", b"Loading...\n", b"{}\n", b'{"type":"ask","id":"x","anchors":[]}\n', b"\xff"]
)
def test_anything_else_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_ask(line)
    with pytest.raises(msgspec.DecodeError):
        decode_reply(line)
