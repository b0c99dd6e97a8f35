"""What the screen process and the predictor child say to each other: one JSON line each."""

import msgspec


class Ask(msgspec.Struct, frozen=True, tag="ask"):
    """Wanted: what there is to say of these anchors, in this order.

    force: also of those of which the models have said it already.
    """

    id: int
    anchors: list[int]
    force: bool = False


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The child has loaded a model and answers with it from now on.

    Said again where another has become active. pipeline: the parser that it needs; "" for
    none. identifier: the model that tells whether a number is one, where that is another; ""
    where it is not.
    """

    model: str
    pipeline: str
    identifier: str = ""


class AnchorReady(msgspec.Struct, frozen=True, tag="done"):
    """What there is to say of an anchor is in the database: its prediction, and where the
    child can identify, whether its noun is missing. seconds: spent on it; 0.0 if known."""

    id: int
    anchor: int
    seconds: float


class Notice(msgspec.Struct, frozen=True, tag="aside"):
    """Something that a person should know once; the child works on."""

    message: str


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """Something could not be done, said in a sentence.

    id, anchor: what was asked; None where the child itself cannot work.
    """

    message: str
    id: int | None = None
    anchor: int | None = None


Reply = Ready | AnchorReady | Notice | Failed

NO_PIPELINE = 3
"""Exit status of a child that found no pipeline: starting it again would not help."""

_encode = msgspec.json.Encoder().encode
_decode_ask = msgspec.json.Decoder(Ask).decode
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def encode(message: Ask | Reply) -> bytes:
    """A message as a line, its end included."""
    return _encode(message) + b"\n"


def decode_ask(line: bytes) -> Ask:
    """What the child was asked. Raises msgspec.DecodeError for anything else."""
    return _decode_ask(line)


def decode_reply(line: bytes) -> Reply:
    """What the child replied. Raises msgspec.DecodeError for anything else."""
    return _replies.decode(line)
