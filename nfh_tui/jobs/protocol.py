"""The messages between the screen process and the predictor child: one JSON line each."""

import msgspec


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """A request to predict these anchors, in this order."""

    id: int
    anchors: list[int]
    force: bool = False
    """Whether to predict anchors again that have a prediction of the active models."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has loaded a model; sent again when another one becomes active."""

    model: str
    pipeline: str
    """The parser that the model needs; "" for none."""
    identifier: str = ""
    """The model of identification, if it is another one."""


class AnchorReady(msgspec.Struct, frozen=True, tag="done"):
    """The prediction of an anchor, and its identification if there is a model for it, are in
    the database."""

    id: int
    anchor: int
    seconds: float
    """Time spent; 0.0 if both were there already."""


class Notice(msgspec.Struct, frozen=True, tag="aside"):
    """A sentence to show once; the child goes on."""

    message: str


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """An error, as a sentence."""

    message: str
    id: int | None = None
    """Of the request; None if the child itself cannot work."""
    anchor: int | None = None


Reply = Ready | AnchorReady | Notice | Failed

NO_PIPELINE = 3
"""Exit status of a child that found no parser pipeline: a restart would not help."""

_encode = msgspec.json.Encoder().encode
_decode_ask = msgspec.json.Decoder(Ask).decode
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def encode(message: Ask | Reply) -> bytes:
    """A message as a line with its newline."""
    return _encode(message) + b"\n"


def decode_ask(line: bytes) -> Ask:
    """Decode a request. Raises msgspec.DecodeError."""
    return _decode_ask(line)


def decode_reply(line: bytes) -> Reply:
    """Decode a reply. Raises msgspec.DecodeError."""
    return _replies.decode(line)
