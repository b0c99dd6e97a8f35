"""The utterances of a conversation in order: by reply, and by when they were said."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from nfh_db.formats.reading import Source
from nfh_db.formats.wording import shown


class Lost(StrEnum):
    """What a corpus says and is not kept."""

    ANSWERED = "what an utterance answers, which is not there"
    TIME = "a timestamp that is none"


SINCE_1970 = 100_000_000.0
"""Seconds. A time beyond is a date: no recording is three years long."""


class Utterance(msgspec.Struct, frozen=True, gc=False):
    """An utterance of a line. group: its conversation's id. seconds: its timestamp.

    scene: what its own object has under "scene" or "scene_id"; None for nothing.
    """

    line: int
    id: str
    group: str
    speaker: str | None
    reply_to: str | None
    seconds: float | None
    text: str
    scene: str | None = None

    @property
    def content(self) -> tuple[object, ...]:
        """What must be the same in two lines of one id."""
        return (self.speaker, self.reply_to, self.seconds, self.text, self.scene)


def in_order(
    source: Source, conversation: Sequence[Utterance], lost: Counter[Lost]
) -> list[Utterance]:
    """A conversation in the order of its replies, each once.

    An utterance is followed by the replies to it, each with its own replies; those to one
    utterance, and those to none, by time where all of them have one, else as in the file.
    lost: counts those whose utterance that they answer is not there. Raises FormatError where
    an id is there twice with different content, or replies go round in a circle.
    """
    known = _by_id(source, conversation)
    replies: dict[str | None, list[Utterance]] = {}
    for one in known.values():
        answered = one.reply_to
        if answered is not None and answered not in known:
            lost[Lost.ANSWERED] += 1
            answered = None
        replies.setdefault(answered, []).append(one)
    ordered = list(_walk({key: _by_time(some) for key, some in replies.items()}))
    if len(ordered) < len(known):
        seen = {one.id for one in ordered}
        first = next(one for one in known.values() if one.id not in seen)
        raise source.error(
            first.line,
            f"the utterance {shown(first.id)} answers {shown(first.reply_to)}, and by its "
            "replies itself; wanted a conversation in which nothing goes round in a circle",
        )
    return ordered


def _by_id(source: Source, conversation: Sequence[Utterance]) -> dict[str, Utterance]:
    known: dict[str, Utterance] = {}
    for one in conversation:
        other = known.setdefault(one.id, one)
        if other.content != one.content:
            raise source.error(
                one.line,
                f"found another utterance with the id {shown(one.id)}, which line "
                f"{other.line:,} has with other content; wanted each id once",
            )
    return known


def _by_time(some: list[Utterance]) -> list[Utterance]:
    if any(one.seconds is None for one in some):
        return some
    return sorted(some, key=lambda one: one.seconds or 0.0)


def _walk(replies: dict[str | None, list[Utterance]]) -> Iterator[Utterance]:
    """Utterances with their replies behind them, from those that answer nothing."""
    waiting = list(reversed(replies.get(None, [])))
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(replies.get(one.id, [])))


def times_of(conversation: Sequence[Utterance]) -> list[int | None]:
    """When each was said, in milliseconds.

    Timestamps are seconds: from the start of a recording as they are, those since 1970 from
    the first of the conversation.
    """
    known = [one.seconds for one in conversation if one.seconds is not None]
    first = min(known, default=0.0)
    start = first if first >= SINCE_1970 else 0.0
    return [
        None if one.seconds is None else round((one.seconds - start) * 1000)
        for one in conversation
    ]
