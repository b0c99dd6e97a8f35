"""Files of doccano as rows: one file, or a folder or zip of a file for each annotator.

A file of a folder is called after the annotator; `all.jsonl`, of a project that all share, has
nobody's name, and counts as gold. Lines of a folder count on through its files, `all.jsonl`
first and the others by name.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from nfh_db.errors import FormatError
from nfh_db.formats import doccano_form as form
from nfh_db.formats.claims import Claim
from nfh_db.formats.doccano_names import ALL, file_name, who_of
from nfh_db.formats.folders import Folder, Member
from nfh_db.formats.grid import MarkError
from nfh_db.formats.json_parts import Parts, carried_of, kept_in, parts_of, spelled, value_of
from nfh_db.formats.json_rows import items, refused
from nfh_db.formats.marked import translated
from nfh_db.formats.options import Offsets, Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import Row
from nfh_db.formats.stored import Restored, restored
from nfh_db.formats.task_rows import (
    Said,
    Tally,
    Task,
    checked_name,
    class_named,
    classed,
    rows_of,
)
from nfh_db.formats.task_texts import Texts
from nfh_db.formats.wording import counted, shown

LINES = ".jsonl"


def read(source: Source | Folder, how: Reading) -> Iterator[Row]:
    """The rows of a file or folder. Raises FormatError at the first line that does not hold."""
    tally = Tally()
    if isinstance(source, Folder):
        yield from _members(source, how, tally)
    else:
        lines = _Lines(how, tally)
        for item in items(source):
            try:
                yield from lines.rows(item.number, *item.read())
            except MarkError as error:
                raise refused(source, item, error) from error
    source.warnings += tally.sentences()


def _members(folder: Folder, how: Reading, tally: Tally) -> Iterator[Row]:
    before = 0
    # The file of all first: it has every text, in the order in which they were exported.
    names = sorted(folder.named(LINES), key=lambda name: (_stem(name) != ALL, name))
    if not names:
        raise folder.error(None, f"holds no {LINES} file; wanted one for each annotator")
    texts = _noted(folder, names, how)
    for name in names:
        lines = _Lines(how, tally, _stem(name), texts)
        line = 0
        for line, text in Member(folder, name).lines():
            if not text.strip():
                continue
            try:
                yield from lines.rows(before + line, parts_of(text), text)
            except MarkError as error:
                raise _refused(folder, name, line, error) from error
        before += line
    others = len(folder.names) - len(names)
    if others:
        tally.more.append(f"{counted(others, 'file')} left out that is no {LINES}")


def _noted(folder: Folder, names: Sequence[str], how: Reading) -> Texts:
    """What all files mark of each text. An annotator may mark a part of a word: the tokens are
    cut there, and those that the others' answers are of with them.
    """
    texts = Texts()
    for name in names:
        lines = _Lines(how, Tally(), _stem(name))
        for _, line in Member(folder, name).lines():
            try:
                if line.strip():
                    lines.note(parts_of(line), texts)
            except MarkError:
                continue  # Whoever reads the line says so.
    return texts


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()


def _stem(name: str) -> str:
    return PurePosixPath(name).stem


def _refused(folder: Folder, name: str, line: int, error: MarkError) -> FormatError:
    return folder.member_error(name, line, _sentence(error))


def _sentence(error: MarkError) -> str:
    message = str(error)
    return f"the line {message}" if message.startswith("is ") else message


@dataclass(slots=True)
class _Lines:
    """The lines of one file. stem: its name, where that tells whose answers they are. texts:
    what all files mark of each text.
    """

    how: Reading
    tally: Tally
    stem: str | None = None
    texts: Texts = field(default_factory=Texts)
    seen: dict[int | str, bytes] = field(default_factory=dict)

    def rows(self, line: int, parts: Parts, text: str | None) -> Iterator[Row]:
        """The rows of a line. Raises MarkError."""
        if self._again(parts, text):
            return
        yield from rows_of(self._task(line, parts), self.how, self.tally)

    def _again(self, parts: Parts, text: str | None) -> bool:
        """True for a line that was there before. Raises MarkError for another of its id."""
        id_ = value_of(parts, "id", form.ids)
        if id_ is None:
            return False
        content = _hash(spelled(parts).decode("utf-8") if text is None else text)
        before = self.seen.setdefault(id_, content)
        if before is not content and before != content:
            raise MarkError(
                f'key "id": found {shown(id_)}, the id of another line before it; wanted each '
                "id once"
            )
        return before is not content

    def _task(self, line: int, parts: Parts) -> Task:
        text = form.text_of(parts)
        item = kept_in(parts, form.items)
        kept: Restored | None = None if item is None else restored(item, text)
        graph, classes = form.drawn_of(parts, text, self._offsets(kept is not None))
        graph = translated(graph, self.how.labels)
        if classes:
            if not graph.spots and kept is None:
                self.tally.unlabelled += 1
            graph = classed(graph, [class_named(one, self.how.labels) for one in classes])
        claim = _claim(self._who(parts), form.comment_of(parts))
        carried = carried_of(form.NAME, parts, form.known_of(parts))
        # A file of all has everybody's answers beside: nobody else has a line in it.
        return Task(
            line,
            text,
            (Said(claim, graph),),
            None,
            kept,
            carried,
            beside=True,
            also=self.texts.bounds(text),
            numbers=self.texts.numbers(text),
        )

    def note(self, parts: Parts, texts: Texts) -> None:
        """Take along what a line marks. Raises MarkError."""
        text = form.text_of(parts)
        item = kept_in(parts, form.items)
        drawn, _ = form.drawn_of(parts, text, self._offsets(item is not None))
        graph = translated(drawn, self.how.labels)
        texts.note(text, graph.spots, whole=() if item is None else item.offsets)

    def _offsets(self, exported: bool) -> Offsets | None:
        """The unit of the offsets: what was exported counts as doccano does by itself."""
        return "utf16" if exported and self.how.offsets is None else self.how.offsets

    def _who(self, parts: Parts) -> str | None:
        named = value_of(parts, form.WHO, form.texts)
        if self.stem is None:
            return None if named is None else checked_name(named)
        if self.stem == ALL:
            return None
        if named is not None and file_name(named) == self.stem:
            return checked_name(named)
        return checked_name(who_of(self.stem))


@lru_cache(maxsize=64)
def _claim(who: str | None, comment: str | None) -> Claim:
    return Claim(who, comment=comment)
