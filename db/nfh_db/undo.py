"""Undo and redo: acts taken back and done again, as long as nobody changed what they made."""

from collections.abc import Iterable, Sequence

from nfh_db import acts, anchors, annotators, answers, changes, clock, summary
from nfh_db.acts import Done, Event
from nfh_db.connection import Connection
from nfh_db.errors import ChangedSinceError, NotAllowedError
from nfh_db.records import Annotator, Role, Rule, Undone
from nfh_db.values import decode_anchor, decode_gold


def undo(
    connection: Connection, me: Annotator, role: Role | None = None
) -> Undone | Done | None:
    """Take back this person's newest act; None if there is none.

    role: of somebody who may change nothing but their own flags, and answers in this role.
    A bulk act is only named: it is taken back in many writes. Raises ChangedSinceError if
    anything that the act made has been changed since, NotAllowedError for an act beyond `role`.
    """
    found = acts.newest_done(connection, me.id)
    _check_own(connection, me, role, found)
    if found is None or found.bulk:
        return found
    events = acts.events(connection, found.id)
    steps = [(event, event.after, event.before) for event in reversed(events)]
    return _turn(connection, me, "undo", found, steps)


def redo(
    connection: Connection, me: Annotator, role: Role | None = None
) -> Undone | Done | None:
    """Do again what this person undid last; None if there is nothing, or an act came since.

    role: as for `undo`. A bulk act is only named. Raises ChangedSinceError if what the act
    found then is not what is there now, NotAllowedError for an act beyond `role`.
    """
    found = acts.oldest_undone(connection, me.id)
    _check_own(connection, me, role, found)
    if found is None or found.bulk:
        return found
    events = acts.events(connection, found.id)
    steps = [(event, event.before, event.after) for event in events]
    return _turn(connection, me, "redo", found, steps)


def _check_own(
    connection: Connection, me: Annotator, role: Role | None, found: Done | None
) -> None:
    if role is None or found is None:
        return
    if acts.beyond_own(connection, found.id, me.id, role.value):
        raise NotAllowedError(
            f"“{found.summary}” is not changed from here: it was more than answers of your own"
        )


_Step = tuple[Event, str | None, str | None]


def _turn(
    connection: Connection,
    me: Annotator,
    kind: str,
    target: Done,
    steps: Sequence[_Step],
) -> Undone:
    words = target.summary
    for event, wanted, _ in steps:
        _check_unchanged(connection, kind, words, event, wanted)
    at = clock.now()
    act_id = acts.add(connection, me.id, kind, words, at, target=target.id)
    for event, before, after in steps:
        key = (event.entity, event.anchor_id, event.annotator_id, event.name)
        _check_loses_nothing(connection, kind, words, event, after)
        changes.make(connection, *key, after)
        acts.record(connection, act_id, *key, before, after)
    for event, _, after in steps:
        _check_still_decided(connection, kind, words, event, after)
    acts.set_undone(connection, target.id, undone=kind == "undo")
    touched = sorted({event.anchor_id for event, _, _ in steps})
    summary.recompute_with_successors(connection, _with_linked(touched, steps))
    return Undone(words, _where_to_go(connection, touched), len(touched), at)


def _check_unchanged(
    connection: Connection, kind: str, words: str, event: Event, wanted: str | None
) -> None:
    if _present(connection, event) == wanted:
        return
    found = acts.changed_by(connection, event)
    # The log knows of every change but those that another program made in the file.
    who = "another program" if found is None else _who(*found)
    raise ChangedSinceError(
        f"“{words}” cannot be {'undone' if kind == 'undo' else 'done again'}: anchor "
        f"{event.anchor_id} was changed by {who} after this"
    )


def _check_loses_nothing(
    connection: Connection, kind: str, words: str, event: Event, after: str | None
) -> None:
    """An anchor that somebody answered meanwhile may not vanish with the answers."""
    if event.entity != "anchor" or _live(after):
        return
    for later, name, at in acts.decided_after(connection, event):
        if _present(connection, later) is not None:
            raise ChangedSinceError(
                f"“{words}” cannot be {'undone' if kind == 'undo' else 'done again'}: anchor "
                f"{event.anchor_id} was answered by {_who(name, at)} after this"
            )


def _check_still_decided(
    connection: Connection, kind: str, words: str, event: Event, after: str | None
) -> None:
    """An expert's gold does not come back without the decision that it points to."""
    value = decode_gold(after) if event.entity == "gold" else None
    if value is None or value.rule != Rule.EXPERT or value.batch is not None:
        return
    by = annotators.find(connection, value.by or "")
    role = Role.ADJUDICATOR.value
    if by is None or answers.read(connection, event.anchor_id, by.id, role) is None:
        how = "undone" if kind == "undo" else "done again"
        raise ChangedSinceError(
            f"“{words}” cannot be {how}: it would bring back the decision of {value.by}, "
            "who has withdrawn it since"
        )


def _present(connection: Connection, event: Event) -> str | None:
    return changes.present(
        connection, event.entity, event.anchor_id, event.annotator_id, event.name
    )


def _who(name: str | None, at: str) -> str:
    return f"{name or 'an import'} at {at[11:16]} UTC"


def _live(state: str | None) -> bool:
    value = decode_anchor(state)
    return value is not None and value.replaced_by is None


def _with_linked(touched: Iterable[int], steps: Sequence[_Step]) -> list[int]:
    """Also the anchors that replaced, before or now, what was touched."""
    found = set(touched)
    for event, *states in steps:
        if event.entity == "anchor":
            values = [value for value in map(decode_anchor, states) if value is not None]
            found |= {value.replaced_by for value in values if value.replaced_by is not None}
    return sorted(found)


def _where_to_go(connection: Connection, touched: Sequence[int]) -> int | None:
    """The first anchor touched that is there to be looked at."""
    visible = (anchor_id for anchor_id in touched if anchors.live(connection, anchor_id))
    return next(visible, touched[0] if touched else None)
