"""Who said what of a task: names, times, and which annotation is which answer of ours.

Label Studio numbers annotations anew when it imports them, and keeps the number that they
came with as `import_id` (its source, tasks/serializers.py). Ours are numbered through the
file; a task's data has the first number, and the order is that of `slots_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from nfh_db.formats.fields import A_NAME, INTEGER_LIMIT, is_a_name
from nfh_db.formats.grid import MarkError
from nfh_db.formats.labelstudio_json import Annotation, User
from nfh_db.formats.wording import shown
from nfh_db.records import PERSON, FlagName, Role

MODEL_NAME = "model"
"""Of predictions that name no model."""


class _Vote(Protocol):
    @property
    def annotator(self) -> str: ...
    @property
    def role(self) -> Role: ...
    @property
    def type(self) -> str: ...


class _Flag(Protocol):
    @property
    def name(self) -> FlagName: ...
    @property
    def annotator(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Slot:
    """What an annotation of ours is: somebody's vote, a task passed over, or the gold.

    who: None of the gold. vote: its place among all votes; None of what is none.
    """

    who: str | None
    role: Role = Role.ANNOTATOR
    vote: int | None = None


def slots_of(votes: Sequence[_Vote], flags: Sequence[_Flag], *, gold: bool) -> list[Slot]:
    """The annotations of a number, in the order in which they are written."""
    slots = [
        Slot(vote.annotator, vote.role, place)
        for place, vote in enumerate(votes)
        if vote.type == PERSON
    ]
    if gold:
        slots.append(Slot(None))
    answered = {slot.who for slot in slots}
    for flag in flags:
        if flag.name is FlagName.SKIP and flag.annotator not in answered:
            slots.append(Slot(flag.annotator))
            answered.add(flag.annotator)
    return slots


def slot_of(one: Annotation, first: int | None, slots: Sequence[Slot]) -> Slot | None:
    """Which of ours an annotation is; None of one that was made in the tool."""
    if first is None:
        return None
    came_back = one.import_id is not msgspec.UNSET
    number = one.import_id if came_back else one.id
    if not isinstance(number, int) or not 0 <= number - first < len(slots):
        return None
    slot = slots[number - first]
    # A file that never was in the tool names the people itself; numbers alone may be another's.
    return slot if came_back or name_of(one.completed_by) == slot.who else None


def name_of(given: int | str | User | None) -> str | None:
    """The annotator's name: an email, else first and last name, else "user" and the number.

    Raises MarkError for what is no name.
    """
    if given is None or isinstance(given, int):
        return None if given is None else f"user{given}"
    name = given if isinstance(given, str) else _name_of_user(given)
    if not is_a_name(name):
        raise MarkError(f'key "completed_by": found {shown(name)}, wanted {A_NAME}')
    return name


def _name_of_user(user: User) -> str:
    full = " ".join(filter(None, (user.first_name, user.last_name)))
    return user.email or full or ("" if user.id is None else f"user{user.id}")


def model_name(given: str | None) -> str:
    """The name of a prediction's model. Raises MarkError for what is no name."""
    name = given or MODEL_NAME
    if not is_a_name(name):
        raise MarkError(f'key "model_version": found {shown(name)}, wanted {A_NAME}')
    return name


def time_of(one: Annotation) -> str | None:
    """When it was given last, in UTC to the millisecond. Raises MarkError."""
    return utc(one.updated_at or one.created_at)


def seconds_of(one: Annotation) -> float | None:
    """How long it took. Raises MarkError for what is no time that something takes."""
    seconds = one.lead_time
    if seconds is not None and not 0 <= seconds < INTEGER_LIMIT:
        raise MarkError(f'key "lead_time": found {shown(seconds)}, wanted seconds, 0 or more')
    return seconds


def utc(text: str | None) -> str | None:
    """A time as the exports have it ("2021-03-09T22:16:08.728378Z"), as `gold` files have it.

    Raises MarkError for what is no time.
    """
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        wanted = 'a time such as "2021-03-09T22:16:08.728378Z"'
        raise MarkError(f"found the time {shown(text)}, wanted {wanted}") from error
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
