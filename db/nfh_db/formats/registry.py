"""The list of all formats, and how the format of a path is found. Commands, help and README use
it.

A package adds a format by an entry point in the group `nfh_tui.formats`: a
`nfh_db.formats.base.Format`, or a function without arguments that returns one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats import amt, dialog, gold, nfh
from nfh_db.formats.base import (
    LISTED,
    OBJECT,
    First,
    Format,
    How,
    InputKind,
    Reader,
    What,
    each,
    holds,
)
from nfh_db.formats.files import ZIP_MARK, Binary, Content, FileOrigin, Folder, Source
from nfh_db.formats.gold import COMPACT, GoldWriter
from nfh_db.formats.gold import FORMAT as GOLD_VERSION
from nfh_db.formats.rows import ReadOptions, ReleaseWriter, Row, Span, Writing
from nfh_db.formats.unsupported import BINARY, removed, unclear, unsupported
from nfh_db.messages import shown, visible
from nfh_db.records import ExportRecord
from nfh_models.domain import Answer, Origin


def _without_settings(read: Callable[[Source], Iterator[Row]]) -> Reader:
    """A reader that ignores the options."""

    def reader(source: Source, _how: ReadOptions | None = None) -> Iterator[Row]:
        return read(source)

    return reader


def _sniff_gold(first: First) -> str | None:
    if first.value is None or "format" not in first.value:
        return None
    return "its first line is a JSON object that names its format"


def _sniff_nfh(first: First) -> str | None:
    if first.value is not None:
        return "its first line is a JSON object"
    if OBJECT.match(first.text):
        return "its first line starts like a JSON object"
    if first.suffix in (".jsonl", ".json") and not LISTED.match(first.start):
        return f"its name ends in {first.suffix}"
    return None


def _sniff_ident(first: First) -> str | None:
    if first.text == nfh.HEADER:
        return "its first line is the header of the identification files"
    return "its name ends in .tsv" if first.suffix == ".tsv" else None


def _sniff_amt(first: First) -> str | None:
    if amt.is_header(first.text):
        return "its first line is the header of a Mechanical Turk batch"
    return None


def _sniff_dialog(first: First) -> str | None:
    is_rows = first.suffix in (".csv", *BINARY) or LISTED.match(first.start)
    if is_rows or unsupported(first) is not None:
        return None
    return "it is plain text"


NFH = Format(
    name="nfh",
    extensions=(".jsonl",),
    description="the release's resolution files: one JSON object of five keys a line",
    example=(
        '{"tokens": ["Two", "tickets", "?", "No", ",", "three", "."], '
        '"line_indices": [0, 0, 0, 1, 1, 1, 1], "head": [1], '
        '"speakers": ["Ann", "Ann", "Ann", "Ben", "Ben", "Ben", "Ben"], '
        '"anchors_indices": [5]}'
    ),
    read=_without_settings(nfh.read),
    sniff=_sniff_nfh,
    guess=True,
    writer=lambda how: ReleaseWriter(how.mentions),
    holds=holds(How.NO, **each(How.OWN, "KIND HEADS GOLD SPEAKERS TOKENS")),
    limits="UNKNOWN is written as OTHER; NOT_NFH, BROKEN, NFH and undecided are left out",
)
NFH_IDENT = Format(
    name="nfh-ident",
    extensions=(".tsv",),
    description=(
        "the release's identification files: tab-separated, with 1 for an NFH and 0 for none"
    ),
    example="No_SEP_,_SEP_three_SEP_.\t2\t3\t1",
    read=_without_settings(nfh.read_labels),
    sniff=_sniff_ident,
    guess=True,
)
DIALOG = Format(
    name="dialog",
    extensions=(".txt",),
    description="plain text: one turn a line, a blank line between passages",
    example="Ben: No, three.",
    read=_without_settings(dialog.read),
    sniff=_sniff_dialog,
    guess=True,
    labelled=False,
    settings=frozenset({"encoding", "window"}),
)
GOLD = Format(
    name="gold",
    extensions=(".jsonl",),
    description=(
        "everything known of an item: the five keys of nfh, and text, offsets, heads, votes, "
        f"flags and how the gold came to count ({GOLD_VERSION}; {COMPACT}, by export "
        "--compact, has each passage once)"
    ),
    example=(
        '{"tokens":["No",",","three","."],"line_indices":[0,0,0,0],'
        '"speakers":["Ben","Ben","Ben","Ben"],"anchors_indices":[2],"head":["AGE"],'
        '"format":"nfh-gold/1","id":"3d5a5e6ffd8fdd6c171daef8425139c5","text":"No, three.",'
        '"offsets":[[0,2],[2,3],[4,9],[9,10]],"kind":"AGE","heads":[],"relation":null,'
        '"sort":null,"noun":null,"flags":[],"split":null,"rule":"imported",'
        '"adjudicator":null,"decided_at":null,"votes":[],"comment":"",'
        '"digest":"2413b448e608b2b97adac938264d5b8c37d8586f8b7313881facdf8f5c2c1559"}'
    ),
    read=_without_settings(gold.read),
    sniff=_sniff_gold,
    writer=lambda how: GoldWriter(compact=how.compact),
    carries_split=True,
    holds=holds(How.OWN),
)

AMT = Format(
    name="amt",
    extensions=(".csv",),
    description=(
        "the results of a Mechanical Turk batch: a CSV file, each row one worker's answer"
    ),
    example='A1B2C3,"Ann: Two tickets?<br>Ben: No, three.",three,1,tickets,9;16',
    read=amt.read,
    sniff=_sniff_amt,
    names_people=True,
    settings=frozenset({"count-rejected"}),
)

FORMATS: tuple[Format, ...] = (NFH, NFH_IDENT, DIALOG, GOLD, AMT)


def sniffed(
    source: FileOrigin, first: First, formats: Sequence[Format]
) -> tuple[Format, str] | None:
    """The first format whose sniffing accepts a file, and why; formats that guess come last.

    Raises FormatError for a file of a removed format, unless a format is sure of it.
    """
    fit = [format_ for format_ in formats if first.takes in format_.takes]
    for guess in (False, True):
        for format_ in fit:
            if format_.guess is guess and (reason := format_.sniff(first)):
                return format_, reason
        if not guess and (other := removed(first) or unclear(first, fit)) is not None:
            raise source.error(None, other)
    return None


def recognise(source: Source, formats: Sequence[Format] = FORMATS) -> tuple[Format, str]:
    """The format of a text, and why. Raises FormatError if none fits."""
    first = First.of(source)
    found = sniffed(source, first, formats)
    if found is None:
        other = unsupported(first)
        if other is not None:
            raise source.error(None, other)
        names = ", ".join(one.name for one in formats if InputKind.TEXT in one.takes)
        raise source.error(
            None,
            f"its format is not known: it starts with {shown(first.text)}; "
            f"name one with --format: {names}",
        )
    return found


def check_choice(source: Source, format_: Format) -> None:
    """Raise FormatError if a file that is to be read as plain text is of another format.

    Any text is valid plain text; the other formats refuse invalid files themselves.
    """
    if format_ is not DIALOG:
        return
    first = First.of(source)
    tabular = first.text == nfh.HEADER or amt.is_header(first.text)
    if first.value is not None or tabular:
        raise source.error(
            None, f"found rows of another format ({shown(first.text)}), wanted plain text"
        )


SAYS = {
    How.OWN: "in its own terms",
    How.BESIDE: "carried along in the same file",
    How.SIDE: "in a side file",
    How.NO: "not held",
}
"""How something is held, in words, in the order of the output."""


def by_how(format_: Format) -> Mapping[How, tuple[What, ...]]:
    """What a format holds in each way; nothing for a format without labels."""
    held = format_.holds or {}
    return {how: tuple(what for what in What if held.get(what) is how) for how in SAYS}


def _any_answer(has: Callable[[Answer], object]) -> Callable[[ExportRecord], bool]:
    def test(record: ExportRecord) -> bool:
        gold = (record.gold.answer,) if record.gold else ()
        return any(has(answer) for answer in (*gold, *(vote.answer for vote in record.votes)))

    return test


HAS: Mapping[What, Callable[[ExportRecord], bool]] = {
    What.KIND: _any_answer(lambda _: True),
    What.HEADS: _any_answer(lambda answer: len(answer.heads) > 1),
    What.RELATION: _any_answer(lambda answer: answer.relation),
    What.ORIGIN: _any_answer(
        lambda answer: any(m.origin is not Origin.MARKED for m in answer.mentions())
    ),
    What.SORT: _any_answer(lambda answer: answer.sort),
    What.NOUN: _any_answer(lambda answer: answer.noun),
    What.COMMENT: _any_answer(lambda answer: answer.comment),
    What.VOTES: lambda record: bool(record.votes),
    What.TIME: lambda record: bool(record.votes),
    What.SEEN: lambda record: any(
        v.saw_model or v.saw_votes or v.in_sheet for v in record.votes
    ),
    What.FLAGS: lambda record: bool(record.flags),
    What.GOLD: lambda record: record.gold is not None,
    What.RULE: lambda record: record.gold is not None,
    What.SPLIT: lambda record: record.split is not None,
    What.SPEAKERS: lambda _: True,
    What.SAID_AT: lambda record: any(
        turn.begin is not None or turn.until is not None for turn in record.passage.turns
    ),
    What.TOKENS: lambda _: True,
}
"""Whether a record has something that a format may not hold."""


class Losses:
    """Counts the records that lose something in a format."""

    def __init__(self, format_: Format) -> None:
        self.counted: Counter[What] = Counter()
        lost = by_how(format_)[How.NO]
        self._has = tuple((what, HAS[what]) for what in lost)

    def look(self, record: ExportRecord) -> None:
        for what, has in self._has:
            if has(record):
                self.counted[what] += 1


def _tokenize(text: str) -> Sequence[Span]:
    from nfh_models.text.tokens import spans

    return spans(text)


def _lemmatize(words: Sequence[str]) -> Sequence[str]:
    from nfh_models.text.tokens import lemmas

    return lemmas(words)


def _tokenizer() -> str:
    from nfh_models.text.tokens import tokenizer_name

    return tokenizer_name()


reading = partial(ReadOptions, tokenize=_tokenize, lemmatize=_lemmatize, tokenizer=_tokenizer)
"""The options of a reader, with our tokenizer and lemmatizer."""

GROUP = "nfh_tui.formats"


def ours() -> tuple[Format, ...]:
    """The formats of this package, in the order in which they sniff.

    Loaded on use: a command that reads standard input needs only `FORMATS`.
    """
    from nfh_db.formats.brat import BRAT
    from nfh_db.formats.chat import CHAT
    from nfh_db.formats.conllu import CONLLU
    from nfh_db.formats.convokit import CONVOKIT
    from nfh_db.formats.docbin import DOCBIN
    from nfh_db.formats.doccano import DOCCANO
    from nfh_db.formats.fountain import FOUNTAIN
    from nfh_db.formats.huggingface import HF_PARQUET
    from nfh_db.formats.inception import INCEPTION_JSON, INCEPTION_XMI
    from nfh_db.formats.label_studio import LABEL_STUDIO
    from nfh_db.formats.prodigy import PRODIGY
    from nfh_db.formats.subtitles import SUBRIP, WEBVTT
    from nfh_db.formats.tables import TABLE

    return (
        *FORMATS, PRODIGY, DOCCANO, LABEL_STUDIO, BRAT, TABLE, CONVOKIT, SUBRIP, WEBVTT,
        FOUNTAIN, CHAT, CONLLU, HF_PARQUET, INCEPTION_JSON, INCEPTION_XMI, DOCBIN,
    )  # fmt: skip


@lru_cache(maxsize=1)
def known() -> tuple[tuple[Format, ...], tuple[str, ...]]:
    """All formats, and a sentence on each plug-in that cannot be used."""
    formats = list(ours())
    troubles = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        found = loaded(point)
        if isinstance(found, str):
            troubles.append(found)
        elif found.name in {format_.name for format_ in formats}:
            troubles.append(
                f"the format {point.name} of {point.value} is left out: there is a format of "
                "that name"
            )
        else:
            formats.append(found)
    return tuple(formats), tuple(troubles)


def formats() -> tuple[Format, ...]:
    """All formats, ours first."""
    return known()[0]


def by_name(name: str) -> Format:
    """The format of that name. Raises KeyError."""
    return {format_.name: format_ for format_ in formats()}[name]


def readable() -> tuple[str, ...]:
    """Names of the formats that can be imported."""
    return tuple(format_.name for format_ in formats())


def writable() -> tuple[str, ...]:
    """Names of the formats that can be exported."""
    return tuple(format_.name for format_ in formats() if format_.writable)


HEAD = 4096
"""Bytes that tell a binary file from a text."""

ZLIB_MARK = b"x\x9c"
"""The start of zlib data, which is not UTF-8; a small file may have no NUL byte."""


@dataclass(frozen=True, slots=True)
class RecognizedFile:
    """A readable file with its format."""

    source: FileOrigin
    format: Format
    reason: str = ""
    """Why it is of that format; "" if the user named the format."""


def opened(path: Path, name: str | None = None, encoding: str | None = None) -> RecognizedFile:
    """A path with its format: the one of that name, or the one that its content has.

    Raises FormatError if it cannot be read, or has no known format.
    """
    if name is None:
        found = _recognized(path, formats(), encoding)
        found.source.warnings.extend(taken_troubles())
        return found
    format_ = by_name(name)
    source = origin_of(path, format_.takes, encoding, "encoding" in format_.settings)
    if isinstance(source, Source):
        check_choice(source, format_)
    return RecognizedFile(source, format_)


def origin_of(
    path: Path,
    takes: Sequence[InputKind] = tuple(InputKind),
    encoding: str | None = None,
    encodable: bool | None = None,
) -> FileOrigin:
    """A path opened as one of the kinds that a format takes. Raises FormatError.

    encodable: the format is read in other encodings than UTF-8, too.
    """
    kind = _kind(path, encoding)
    if kind is InputKind.FOLDER and InputKind.FOLDER in takes:
        return Folder(path)
    if InputKind.BYTES in takes and (kind is InputKind.BYTES or InputKind.TEXT not in takes):
        return Binary(path)
    source = Source(path, encoding, encodable)
    if InputKind.TEXT not in takes:
        raise source.error(None, "is neither a folder nor a zip file; wanted one of them")
    return source


def _kind(path: Path, encoding: str | None) -> InputKind:
    """The kind of a path by its first bytes: a text if they cannot be read, or if an encoding
    is given.
    """
    if path.is_dir():
        return InputKind.FOLDER
    head = _head(path)
    if head.startswith(ZIP_MARK):
        return InputKind.FOLDER
    if encoding is not None:
        return InputKind.TEXT
    binary = b"\0" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff"))
    return InputKind.BYTES if binary or head.startswith(ZLIB_MARK) else InputKind.TEXT


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""


def _recognized(path: Path, among: Sequence[Format], encoding: str | None) -> RecognizedFile:
    kind = _kind(path, encoding)
    if kind is InputKind.TEXT:
        source = Source(path, encoding)
        format_, reason = recognise(source, among)
        source.encodable = "encoding" in format_.settings
        return RecognizedFile(source, format_, reason)
    origin: FileOrigin
    if kind is InputKind.FOLDER:
        origin = folder = Folder(path)
        first, what, hint = (
            First.of_folder(folder),
            "folder or zip",
            "; or name the files in it",
        )
    else:
        head = _head(path)
        origin, first, what, hint = Binary(path), First.of_bytes(path, head), "file", ""
    found = sniffed(origin, first, among)
    if found is None:
        if kind is InputKind.BYTES:
            Source(path, encoding)  # Its refusal names the NUL byte.
        fit = ", ".join(one.name for one in among if kind in one.takes)
        raise origin.error(
            None, f"its format is not known; a {what} can be read with --format: {fit}{hint}"
        )
    return RecognizedFile(origin, *found)


# --- plug-ins ---------------------------------------------------------------------------------
#
# Whatever a plug-in raises becomes a sentence that names it, since `sys.exit` or another error
# would end the work on files of other formats. KeyboardInterrupt passes, also while a plug-in
# hangs.

MESSAGE_SHOWN = 300

Failing = Callable[[str], Exception]
"""Makes the error to raise in place of a plug-in's, from a sentence."""

_unsure: list[str] = []


def loaded(point: EntryPoint) -> Format | str:
    """The format of an entry point, or why it cannot be used."""
    where = f"the format {visible(point.name)} of {visible(point.value)}"
    try:
        with _worded(where, "cannot be loaded", _PluginError):
            found = point.load()
            made = found if isinstance(found, Format) else found()
    except _PluginError as error:
        return str(error)
    if not isinstance(made, Format):
        return f"{where} is not an nfh_db.formats.base.Format"
    return _guarded(made, where)


def taken_troubles() -> list[str]:
    """Sentences on plug-ins whose sniffing failed, each once; they are removed."""
    found = list(dict.fromkeys(_unsure))
    _unsure.clear()
    return found


class _PluginError(Exception):
    """A plug-in that cannot be loaded, or whose sniffing failed."""


@contextmanager
def _worded(where: str, cannot: str, failing: Failing) -> Iterator[None]:
    try:
        yield
    except (FormatError, ExportError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        said = visible(f"{type(error).__name__}: {error}", MESSAGE_SHOWN)
        raise failing(f"{where} {cannot}: {said}") from error


def _guarded(made: Format, where: str) -> Format:
    def read(source: FileOrigin, how: ReadOptions) -> Iterator[Row]:
        def failing(sentence: str) -> FormatError:
            return source.error(None, f"{sentence}. Tell its author, or name another format")

        with _worded(where, "cannot read it", failing):
            yield from made.read(source, how)

    def sniff(first: First) -> str | None:
        try:
            with _worded(where, "could not look at it, and was skipped", _PluginError):
                return made.sniff(first)
        except (_PluginError, FormatError) as error:
            _unsure.append(str(error))
            return None

    def writing(make: Callable[[Writing], Any] | None) -> Callable[[Writing], Any] | None:
        return None if make is None else lambda how: _Writer(make, how, where)

    return replace(
        made,
        read=read,
        sniff=sniff,
        writer=writing(made.writer),
        chunks=writing(made.chunks),
        members=writing(made.members),
    )


class _Writer:
    """The writer of a plug-in, of any kind."""

    def __init__(self, make: Callable[[Writing], Any], how: Writing, where: str) -> None:
        self._where = where
        with self._worded():
            self._made = make(how)

    @property
    def left_out(self) -> Counter[str]:
        with self._worded():
            return Counter(self._made.left_out)

    def line(self, record: ExportRecord) -> str | None:
        with self._worded():
            line: str | None = self._made.line(record)
            return line

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        with self._worded():
            yield from self._made.chunks(records)

    def members(self, records: Iterable[ExportRecord]) -> Iterator[tuple[str, Content]]:
        with self._worded():
            yield from self._made.members(records)

    def _worded(self) -> Any:  # noqa: ANN401 - a context manager
        return _worded(self._where, "cannot write", ExportError)
