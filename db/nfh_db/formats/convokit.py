"""Format `convokit`: the utterances of a ConvoKit corpus, in order, alone or in the corpus's
folder or zip file.

An utterance is a JSON object of one line of `utterances.jsonl`: `id`, `speaker`,
`conversation_id`, `reply-to`, `timestamp`, `text`, and `meta`, an object of whatever the corpus
has besides (https://convokit.cornell.edu/documentation/data_format.html). The documentation has
`reply_to`, the files have `reply-to`: both are read, and so are `user` and `root`, which older
corpora have for `speaker` and `conversation_id`, as ConvoKit reads them.

A conversation is a passage, its utterances in the order of the replies; they may be apart in
the file. `speakers.json` (formerly `users.json`) has the names of speakers; other files of the
folder are not read.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from nfh_db.errors import FormatError
from nfh_db.formats.base import First, Format, InputKind
from nfh_db.formats.dialog import SpeakerTurn, scene_block
from nfh_db.formats.fields import NAN, NO_HALVES, decode, unpaired_surrogate
from nfh_db.formats.files import Folder, FolderMember, LimitError, Source, check_json
from nfh_db.formats.rows import DialogBlock, ReadOptions
from nfh_db.messages import reason_of, shown, tallied, visible

WARNINGS = {
    "answers": (
        "utterance", "read as answering none: what the file says they answer is not in it",
    ),
    "times": ("timestamp", "left out that are not numbers of seconds"),
}  # fmt: skip
"""What is counted, and the warning of each count."""

SINCE_1970 = 100_000_000.0
"""Seconds. A later time is a date, since no recording is three years long."""


class Utterance(msgspec.Struct, frozen=True, gc=False):
    """An utterance."""

    line: int
    id: str
    group: str
    """The id of its conversation."""
    speaker: str | None
    reply_to: str | None
    seconds: float | None
    """Its timestamp."""
    text: str
    scene: tuple[str | None, ...] = ()
    """The values of "season", "episode" and "scene" or "scene_id" in its `meta`."""

    @property
    def content(self) -> tuple[object, ...]:
        """What must be equal in two lines with one id."""
        return (self.speaker, self.reply_to, self.seconds, self.text, self.scene)


def in_order(
    source: Source, conversation: Sequence[Utterance], lost: Counter[str]
) -> list[Utterance]:
    """A conversation in the order of its replies, each once.

    An utterance is followed by its replies, each with its own replies. Replies to one
    utterance, and utterances that are no replies, are sorted by time if all have a time; else
    they are in the order of the file. lost: counts replies to missing utterances. Raises
    FormatError for an id with two contents, and for circular replies.
    """
    known = _by_id(source, conversation)
    replies: dict[str | None, list[Utterance]] = {}
    for one in known.values():
        answered = one.reply_to
        if answered is not None and answered not in known:
            lost["answers"] += 1
            answered = None
        replies.setdefault(answered, []).append(one)
    ordered = list(_walk({key: _by_time(some) for key, some in replies.items()}))
    if len(ordered) < len(known):
        seen = {one.id for one in ordered}
        first = next(one for one in known.values() if one.id not in seen)
        raise source.error(
            first.line,
            f"the utterance {shown(first.id)} answers {shown(first.reply_to)}, and so, in a "
            "circle, itself; wanted a conversation without circles",
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
    """Depth-first: each utterance before its replies, from those that are no replies."""
    waiting = list(reversed(replies.get(None, [])))
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(reversed(replies.get(one.id, [])))


def times_of(conversation: Sequence[Utterance]) -> list[int | None]:
    """The time of each utterance in milliseconds, from the start of the recording; for
    timestamps that are dates, from the first utterance.
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
"""Keys of names in the object of a speaker."""

LATEST = 1e11
"""Seconds from 1970; a larger number is no timestamp in seconds."""

SHORTER = "give its parts conversation ids of their own"


class _Meta(msgspec.Struct):
    """What is read of the `meta` of an utterance."""

    season: object = None
    episode: object = None
    scene: object = None
    scene_id: object = None


class _Conversation(msgspec.Struct):
    """What the first pass reads of a line."""

    conversation_id: object = None
    root: object = None

    @property
    def group(self) -> object:
        """The id of the conversation."""
        return self.root if self.conversation_id is None else self.conversation_id


class _Line(_Conversation, rename={"dashed": "reply-to"}):
    """The line of an utterance, with values of any type."""

    id: object = None
    speaker: object = None
    user: object = None
    dashed: object = None
    reply_to: object = None
    timestamp: object = None
    text: object = None
    meta: _Meta | None = None


_lines = msgspec.json.Decoder(_Line)
_conversations = msgspec.json.Decoder(_Conversation)


def read(source: Source | Folder, how: ReadOptions) -> Iterator[DialogBlock]:  # noqa: ARG001
    """The conversations, in the order in which they become complete in the file.

    Raises FormatError for a line that is no utterance, an id with two contents, circular
    replies, and a folder without the file of utterances. Replies to missing utterances are
    counted.
    """
    if isinstance(source, Folder):
        file: Source = FolderMember(source, _utterances(source))
        names = _names(source)
    else:
        file, names = source, {}
    lost = Counter[str]()
    for conversation in _conversations_of(file, lost):
        ordered = in_order(file, conversation, lost)
        yield from _scenes(file, ordered, names)
    file.warnings += tallied((lost[key], *words) for key, words in WARNINGS.items())


def _groups(file: Source) -> Iterator[str]:
    """The conversation of each line; "" for a line that the second pass refuses."""
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
        yield _id(line.group) or ""


def _conversations_of(file: Source, lost: Counter[str]) -> Iterator[list[Utterance]]:
    """Each conversation, as soon as its last utterance has come; they may be apart in the file.

    Raises FormatError if utterances are missing: the file cannot be read a second time.
    """
    awaited = Counter(_groups(file))
    open_: dict[str, list[Utterance]] = {}
    for one in _read(file, lost):
        conversation = open_.setdefault(one.group, [])
        conversation.append(one)
        if len(conversation) == awaited[one.group]:
            yield open_.pop(one.group)
            del awaited[one.group]
    if awaited:
        raise file.error(
            None, "must be read twice, and can be read only once; save it to a file"
        )


def _read(file: Source, lost: Counter[str]) -> Iterator[Utterance]:
    for number, text in file.lines():
        if not text.strip():
            continue
        line = _line(file, number, text)
        seconds = _seconds(line.timestamp)
        lost["times"] += seconds is None and line.timestamp not in (None, "")
        yield _utterance(file, number, line, seconds)


def _line(file: Source, number: int, text: str) -> _Line:
    try:
        return _lines.decode(text)
    except msgspec.ValidationError as error:
        raise file.error(
            number, f"is not an utterance: {reason_of(error)}; wanted {_WANTED}"
        ) from error
    except RecursionError as error:
        raise file.error(number, f"is nested too deeply; wanted {_WANTED}") from error
    except msgspec.DecodeError:
        # Python writes NaN, which is no JSON, for missing values; for other errors `decode`
        # gives the position.
        try:
            return msgspec.convert(_without_nan(decode(text)), _Line)
        except msgspec.ValidationError as error:
            raise file.error(
                number, f"is not an utterance: {reason_of(error)}; wanted {_WANTED}"
            ) from error
        except ValueError as error:
            raise file.error(number, f"the line {error}; wanted {_WANTED}") from error


_WANTED = 'a JSON object with "id", "speaker", "conversation_id", "reply-to" and "text"'


def _without_nan(value: object) -> object:
    if isinstance(value, dict):
        return {key: None if one is NAN else one for key, one in value.items()}
    return value


def _utterance(file: Source, number: int, line: _Line, seconds: float | None) -> Utterance:
    """The utterance of a line. Raises FormatError for a missing or invalid value."""
    speaker = line.user if line.speaker in (None, "") else line.speaker
    answered = line.reply_to if line.dashed in (None, "") else line.dashed
    if not isinstance(line.text, str):
        raise _refused(file, number, "text", line.text, "a string")
    if unpaired_surrogate(line.text):
        raise _refused(file, number, "text", line.text, NO_HALVES)
    return Utterance(
        number,
        _needed(file, number, "id", line.id),
        _needed(file, number, "conversation_id", line.group),
        _optional(file, number, "speaker", speaker),
        _optional(file, number, "reply-to", answered),
        seconds,
        line.text,
        _scene(line.meta),
    )


def _id(value: object) -> str | None:
    """An id, which is an integer in some corpora, as text; None for anything else."""
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
    """A timestamp: a number, in quotes in some corpora; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    return seconds if abs(seconds) <= LATEST else None


def _refused(file: Source, number: int, key: str, value: object, wanted: str) -> FormatError:
    return file.error(number, f'key "{key}": found {shown(value)}, wanted {wanted}')


def _scene(meta: _Meta | None) -> tuple[str | None, ...]:
    meta = meta or _Meta()
    scene = meta.scene_id if meta.scene is None else meta.scene
    return _id(meta.season), _id(meta.episode), _id(scene)


def _scenes(
    file: Source, conversation: Sequence[Utterance], names: Mapping[str, str]
) -> Iterator[DialogBlock]:
    """The block of a conversation, or of each scene if its utterances have scenes."""
    named = {id_: names.get(id_, id_) for one in conversation if (id_ := one.speaker)}
    often = Counter(named.values())
    # A name of several ids is followed by the id.
    speakers = {i: name if often[name] == 1 else f"{name} ({i})" for i, name in named.items()}
    turns = zip(conversation, times_of(conversation), strict=True)
    for _, scene in groupby(turns, key=lambda pair: pair[0].scene):
        spoken = [
            SpeakerTurn(one.line, speakers.get(one.speaker or ""), one.text, begin=time)
            for one, time in scene
        ]
        yield from scene_block(file, spoken, SHORTER)


# --- the folder of a corpus -----------------------------------------------------------------


def _utterances(folder: Folder) -> str:
    """The member with the utterances. Raises FormatError unless there is exactly one."""
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
    hint = "" if old is None else f"; {visible(old)} was made by an old ConvoKit: dump it again"
    raise folder.error(None, f"found no {UTTERANCES}, which holds a corpus's dialogs{hint}")


def _names(folder: Folder) -> dict[str, str]:
    """Names of speakers by id, for speakers with a name. Raises FormatError."""
    found = [name for name in folder.names if name.rpartition("/")[2] in SPEAKERS]
    if not found:
        return {}
    try:
        content = folder.read(found[0])
        with folder.refusing_member(found[0], LimitError):
            check_json(content)
        people = msgspec.json.decode(content, type=dict[str, object])
    except msgspec.DecodeError as error:
        raise folder.member_error(
            found[0], None, f"is not an object of speakers: {reason_of(error)}"
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
