"""Reading and writing the four kinds of thing that the log is about, each as one value."""

from nfh_db import acts, anchors, answers, flags, gold
from nfh_db.connection import Connection
from nfh_db.values import (
    Value,
    decode_anchor,
    decode_answer,
    decode_flag,
    decode_gold,
    encode,
)


def present(
    connection: Connection, entity: str, anchor_id: int, annotator_id: int | None, name: str
) -> str | None:
    """The present state of a thing as the log would write it."""
    found: Value | None
    if entity == "answer":
        found = answers.read(connection, anchor_id, annotator_id or 0, name)
    elif entity == "gold":
        found = gold.read(connection, anchor_id)
    elif entity == "flag":
        found = flags.read(connection, anchor_id, annotator_id or 0, name)
    else:
        found = anchors.read(connection, anchor_id)
    return encode(found)


def make(
    connection: Connection,
    entity: str,
    anchor_id: int,
    annotator_id: int | None,
    name: str,
    state: str | None,
) -> None:
    """Give a thing the state that the log wrote down."""
    if entity == "answer":
        value = decode_answer(state)
        answers.write(connection, anchor_id, annotator_id or 0, name, value)
    elif entity == "gold":
        gold.write(connection, anchor_id, decode_gold(state))
    elif entity == "flag":
        flags.write(connection, anchor_id, annotator_id or 0, name, decode_flag(state))
    else:
        anchors.write(connection, anchor_id, decode_anchor(state))


def change(
    connection: Connection,
    act_id: int,
    entity: str,
    anchor_id: int,
    annotator_id: int | None,
    name: str,
    value: Value | None,
    *,
    confirm: bool = False,
) -> bool:
    """Give a thing a new value within an act, and log it; False if it had that value.

    confirm: log it even so.
    """
    before = present(connection, entity, anchor_id, annotator_id, name)
    after = encode(value)
    if before == after and not confirm:
        return False
    make(connection, entity, anchor_id, annotator_id, name, after)
    acts.record(connection, act_id, entity, anchor_id, annotator_id, name, before, after)
    return True
