"""Format `convokit`: the utterances of a ConvoKit corpus, in order, alone or in the corpus's
folder or zip file.

An utterance is a JSON object of one line of `utterances.jsonl`: `id`, `speaker`,
`conversation_id`, `reply-to`, `timestamp`, `text`, and `meta`, an object of whatever the
corpus has besides (https://convokit.cornell.edu/documentation/data_format.html). The
documentation has `reply_to`, the files have `reply-to`: both are read, and so are `user` and
`root`, which older corpora have for `speaker` and `conversation_id`, as ConvoKit reads them.

A conversation is a passage, its utterances in the order of the replies.
They may stand apart in the file. `speakers.json` (once `users.json`) tells
their speakers' names; nothing else of the folder is needed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.base import First, Format, InputKind
from nfh_db.formats.dialog import Gathering, SpeakerTurn, scene_block, told_apart, with_words
from nfh_db.formats.fields import NAN, NO_HALVES, decode, unpaired_surrogate
from nfh_db.formats.files import Folder, FolderMember, LimitError, Source, check_json
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import counted, shown, visible


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


UTTERANCES = "utterances.jsonl"
SPEAKERS = ("speakers.json", "users.json")
NAME_KEYS = ("character_name", "name", "full_name", "display_name")
"""Under one of these a speaker's own object has a name that is more than an id."""

LATEST = 1e11
"""Seconds from 1970 that a timestamp may be: beyond, it counts something else."""

SHORTER = "give its parts conversation ids of their own"


class _Meta(msgspec.Struct):
    """What is read of an utterance's own object."""

    scene: object = None
    scene_id: object = None


class _Line(msgspec.Struct, rename={"dashed": "reply-to"}):
    """An utterance's line, each value still to be looked at."""

    id: object = None
    speaker: object = None
    user: object = None
    conversation_id: object = None
    root: object = None
    dashed: object = None
    reply_to: object = None
    timestamp: object = None
    text: object = None
    meta: _Meta | None = None


class _Usual(msgspec.Struct, rename={"dashed": "reply-to"}):
    """An utterance's line as most are, its values of the types that they should have."""

    id: str
    conversation_id: str
    text: str
    speaker: str | None = None
    user: str | None = None
    dashed: str | None = None
    reply_to: str | None = None
    timestamp: float | None = None
    meta: _Meta | None = None


class _Conversation(msgspec.Struct):
    """What the first pass needs of a line."""

    conversation_id: object = None
    root: object = None


_lines = msgspec.json.Decoder(_Line)
_usual = msgspec.json.Decoder(_Usual)
_conversations = msgspec.json.Decoder(_Conversation)


def read(source: Source | Folder, how: ReadOptions) -> Iterator[DialogBlock]:  # noqa: ARG001
    """The conversations, in the order in which they come to be whole in the file.

    Raises FormatError for a line that is no utterance, an id that is there twice with
    different content, and replies that go round in a circle; of a folder for one without the
    file of utterances. Utterances that answer one that is not there are counted.
    """
    if isinstance(source, Folder):
        file: Source = FolderMember(source, _utterances(source))
        names = _names(source)
    else:
        file, names = source, {}
    lost = Counter[Lost]()
    gathering = Gathering[Utterance](file, _groups(file))
    for conversation in gathering.groups(_read(file, lost)):
        ordered = in_order(file, conversation, lost)
        yield from _scenes(file, ordered, names)
    file.warnings.extend(_told(lost))


def _told(lost: Counter[Lost]) -> Iterator[str]:
    """What a person should know of what was lost."""
    if lost[Lost.ANSWERED]:
        number = counted(lost[Lost.ANSWERED], "utterance")
        yield f"{number} read as answering none: what the file says they answer is not in it"
    if lost[Lost.TIME]:
        number = counted(lost[Lost.TIME], "timestamp")
        yield f"{number} left out that are no numbers of seconds"


def _groups(file: Source) -> Iterator[str]:
    """The conversation of each line; "" where the second pass will refuse the line."""
    for _, text in file.rows():
        try:
            line = _conversations.decode(text)
        except msgspec.DecodeError:
            try:
                line = msgspec.convert(decode(text), _Conversation)
            except (ValueError, msgspec.ValidationError):
                line = _Conversation()
        except RecursionError:
            line = _Conversation()
        group = line.root if line.conversation_id is None else line.conversation_id
        yield group if isinstance(group, str) else _id(group) or ""


def _read(file: Source, lost: Counter[Lost]) -> Iterator[Utterance]:
    for number, text in with_words(file):
        usual = _at_once(number, text)
        if usual is not None:
            yield usual
            continue
        line = _line(file, number, text)
        seconds = _seconds(line.timestamp)
        lost[Lost.TIME] += seconds is None and line.timestamp not in (None, "")
        yield _utterance(file, number, line, seconds)


def _at_once(number: int, text: str) -> Utterance | None:
    """What a usual line says; None of one that has to be looked at value by value."""
    if "\\ud" in text or "\\uD" in text:
        return None
    try:
        line = _usual.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    seconds = line.timestamp
    if not line.id or not line.conversation_id or (seconds and abs(seconds) > LATEST):
        return None
    return Utterance(
        number,
        line.id,
        line.conversation_id,
        line.speaker or line.user or None,
        line.dashed or line.reply_to or None,
        seconds,
        line.text,
        None if line.meta is None else _scene(line.meta),
    )


def _line(file: Source, number: int, text: str) -> _Line:
    try:
        return _lines.decode(text)
    except msgspec.ValidationError as error:
        raise file.error(number, f"is no utterance: {error}; wanted {_WANTED}") from error
    except RecursionError as error:
        raise file.error(number, f"is nested too deep; wanted {_WANTED}") from error
    except msgspec.DecodeError:
        # A bare NaN, which Python writes for what is missing, is no JSON; else this tells
        # what is wrong, and where.
        try:
            return msgspec.convert(_without_nan(decode(text)), _Line)
        except msgspec.ValidationError as error:
            raise file.error(number, f"is no utterance: {error}; wanted {_WANTED}") from error
        except ValueError as error:
            raise file.error(number, f"the line {error}; wanted {_WANTED}") from error


_WANTED = 'a JSON object with "id", "speaker", "conversation_id", "reply-to" and "text"'


def _without_nan(value: object) -> object:
    if isinstance(value, dict):
        return {key: None if one is NAN else one for key, one in value.items()}
    return value


def _utterance(file: Source, number: int, line: _Line, seconds: float | None) -> Utterance:
    """What a line says. Raises FormatError where a value is missing or no value of its key."""
    speaker = line.user if line.speaker is None else line.speaker
    group = line.root if line.conversation_id is None else line.conversation_id
    answered = line.reply_to if line.dashed is None else line.dashed
    if not isinstance(line.text, str):
        raise _refused(file, number, "text", line.text, "a string")
    if unpaired_surrogate(line.text):
        raise _refused(file, number, "text", line.text, NO_HALVES)
    return Utterance(
        number,
        _needed(file, number, "id", line.id),
        _needed(file, number, "conversation_id", group),
        _optional(file, number, "speaker", speaker),
        _optional(file, number, "reply-to", answered),
        seconds,
        line.text,
        _scene(line.meta),
    )


def _id(value: object) -> str | None:
    """A name as text; None for what is none. Some corpora count with whole numbers."""
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) and value else None


def _needed(file: Source, number: int, key: str, value: object) -> str:
    name = _id(value)
    if name is None or unpaired_surrogate(name):
        raise _refused(file, number, key, value, "an id: a string that is not empty")
    return name


def _optional(file: Source, number: int, key: str, value: object) -> str | None:
    return None if value is None or value == "" else _needed(file, number, key, value)


def _seconds(value: object) -> float | None:
    """A timestamp: a number, or one in quotes as some corpora have it; None for another."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if abs(seconds) <= LATEST else None


def _refused(file: Source, number: int, key: str, value: object, wanted: str) -> FormatError:
    return file.error(number, f'key "{key}": found {shown(value)}, wanted {wanted}')


def _scene(meta: _Meta | None) -> str | None:
    if meta is None:
        return None
    return _id(meta.scene_id if meta.scene is None else meta.scene)


def _scenes(
    file: Source, conversation: Sequence[Utterance], names: Mapping[str, str]
) -> Iterator[DialogBlock]:
    """The block of a conversation, or of each scene of it, where its utterances name them."""
    ids = {one.speaker for one in conversation if one.speaker is not None}
    told = told_apart({one: names.get(one, one) for one in ids})
    said = [
        SpeakerTurn(one.line, told.get(one.speaker or ""), one.text, begin=time)
        for one, time in zip(conversation, times_of(conversation), strict=True)
    ]
    for _, scene in groupby(zip(conversation, said, strict=True), key=_scene_of):
        yield from scene_block(file, [one for _, one in scene], SHORTER)


def _scene_of(pair: tuple[Utterance, SpeakerTurn]) -> str | None:
    return pair[0].scene


# --- the folder of a corpus -----------------------------------------------------------------


def _utterances(folder: Folder) -> str:
    """The member that holds the utterances. Raises FormatError where it is not there."""
    found = [name for name in folder.names if name.rpartition("/")[2] == UTTERANCES]
    if len(found) == 1:
        return found[0]
    if found:
        raise folder.error(
            None,
            f"holds {UTTERANCES} {len(found)} times ({visible(', '.join(found), 200)}); wanted "
            "one corpus: name its own folder",
        )
    old = next((name for name in folder.names if name.endswith("utterances.json")), None)
    hint = "" if old is None else f"; {visible(old)} is of an old ConvoKit: dump it anew"
    raise folder.error(None, f"found no {UTTERANCES}, which holds a corpus's dialogs{hint}")


def _names(folder: Folder) -> dict[str, str]:
    """Names of speakers by id, of those that have one. Raises FormatError."""
    found = [name for name in folder.names if name.rpartition("/")[2] in SPEAKERS]
    if not found:
        return {}
    try:
        content = folder.read(found[0])
        check_json(content)
        people = msgspec.json.decode(content, type=dict[str, object])
    except LimitError as error:
        raise folder.member_error(found[0], None, str(error)) from error
    except msgspec.DecodeError as error:
        raise folder.member_error(
            found[0], None, f"is no object of speakers: {error}"
        ) from error
    names = {}
    for one, known in people.items():
        about = known.get("meta", known) if isinstance(known, dict) else {}
        name = _name(about) if isinstance(about, dict) else None
        if name:
            names[one] = name
    return names


def _name(about: Mapping[str, object]) -> str | None:
    given = (about.get(key) for key in NAME_KEYS)
    return next((one.strip() for one in given if isinstance(one, str) and one.strip()), None)


def _sniff(first: First) -> str | None:
    if first.takes is InputKind.FOLDER:
        if any(name.rpartition("/")[2] == UTTERANCES for name in first.names):
            return f"it holds {UTTERANCES}"
        return None
    keys = (first.value or {}).keys()
    if {"id", "text"} <= keys and keys & {"conversation_id", "root"} and keys & _WHO:
        return "its first line is an utterance of a conversation"
    return None


_WHO = {"speaker", "user"}

CONVOKIT = Format(
    name="convokit",
    extensions=(".jsonl", ".zip"),
    description="a ConvoKit corpus: its folder or zip, or its utterances.jsonl alone",
    example=(
        '{"id": "k2", "speaker": "Ben", "conversation_id": "k1", "reply-to": "k1", '
        '"timestamp": null, "text": "No, three.", "meta": {}}'
    ),
    read=read,
    sniff=_sniff,
    labelled=False,
    takes=(InputKind.TEXT, InputKind.FOLDER),
    settings=frozenset({"window"}),
)
