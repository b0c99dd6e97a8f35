"""Lines of the formats to change, files to read, and a reader that reads all of one."""

import csv
import html
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from nfh_db.formats.files import Source
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import ReadOptions, Row
from nfh_models.text.tokens import spans
from nfh_tui.sample import corpus_path

NFH_VALUES = {
    "tokens": ["Two", "tickets", "?", "No", ",", "three", "."],
    "line_indices": [0, 0, 0, 4, 4, 4, 4],
    "head": [1],
    "speakers": ["Ann", "Ann", "Ann", None, None, None, None],
    "anchors_indices": [5],
}


@pytest.fixture
def nfh_values() -> dict[str, object]:
    """The five keys of a good `nfh` line, free to be changed."""
    values: dict[str, object] = json.loads(json.dumps(NFH_VALUES))
    return values


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Makes a file of text (as UTF-8) or bytes."""

    def make(content: str | bytes, name: str = "file.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return make


@pytest.fixture
def rows(write: Callable[..., Path]) -> Callable[..., list[Row]]:
    """Reads all rows that a format finds in some content."""

    def read(format_name: str, content: str | bytes) -> list[Row]:
        return list(by_name(format_name).read(Source(write(content)), ReadOptions()))

    return read


# --- a crowd that answers tasks in browsers -------------------------------------------------

CODES = {"REFERENCE": 1, "YEAR": 2, "AGE": 3, "CURRENCY": 4, "OTHER": 5, "PEOPLE": 7, "TIME": 8}
"""Any other kind is answered with 6, "None"."""

NOON = datetime(2018, 1, 30, 12, 1, 1, tzinfo=UTC)

INDICES = (
    "context characters",
    "context utf-16",
    "context tokens",
    "sentence characters",
    "sentence tokens",
    "spaced sentence tokens",
    "of another text",
)
"""What Input.target_start_index and Input.target_end_index count; the last leads nowhere."""


@dataclass(frozen=True)
class Style:
    """How a batch was made. fed: each next line's node begins with a line feed. wide: the
    bold stretch takes the white space after the number. page: the batch has the HTML."""

    indices: str = INDICES[0]
    inclusive: bool = False
    sentence: bool = True
    fed: bool = True
    wide: bool = False
    page: bool = False


@dataclass(frozen=True)
class Task:
    """A context with a number, as code points [start, end), and what three workers say."""

    text: str
    anchor: tuple[int, int]
    said: tuple[tuple[str, tuple[int, int] | None], ...]


@dataclass(frozen=True)
class Truth:
    """What a row means. marked: code points of the context."""

    line: int
    worker: str
    task: Task
    code: int
    marked: tuple[int, int] | None


class Browser:
    """A context on a page, cut into text nodes."""

    def __init__(self, text: str, anchor: tuple[int, int], style: Style) -> None:
        stop = anchor[1]
        while style.wide and text[stop : stop + 1] == " ":
            stop += 1
        self.nodes: list[tuple[str, int]] = []
        self.page = ""
        place = 0
        for line in text.split("\n"):
            if place:
                self.page += "<br />"
            cuts = {place, place + len(line), *(c for c in (anchor[0], stop))}
            inside = sorted(c for c in cuts if place <= c <= place + len(line))
            for rank, (start, end) in enumerate(pairwise(inside)):
                feed = "\n" if style.fed and place and rank == 0 else ""
                bold = start == anchor[0] and end == stop
                if feed and bold:
                    self.nodes.append((feed, start - 1))
                before = "" if bold else feed
                self.nodes.append((before + text[start:end], start - len(before)))
                shown = html.escape(text[start:end])
                self.page += feed + (f"<b><font>{shown}</font></b>" if bold else shown)
            place += len(line) + 1

    def select(self, start: int, end: int, random: Random) -> str:
        """The two offsets of dragging over code points [start, end), either way."""
        starts = [(t, start - o) for t, o in self.nodes if 0 <= start - o <= len(t)]
        ends = [(t, end - o) for t, o in self.nodes if 0 <= end - o <= len(t)]
        pair = [utf16(*random.choice(starts)), utf16(*random.choice(ends))]
        if random.random() < 0.3:
            pair.reverse()
        return f"{pair[0]};{pair[1]}"


def utf16(text: str, place: int) -> int:
    return len(text[:place].encode("utf-16-le")) // 2


class Crowd:
    """Simulates a batch over tasks. The same seed gives the same file."""

    def __init__(self, seed: int, style: Style, path: Path) -> None:
        self.random = Random(seed)
        self.style = style
        self.path = path
        self.rows: list[dict[str, str]] = []
        self.truths: list[Truth] = []
        self.unusable: set[int] = set()
        self.superseded: set[int] = set()

    def answer(self, tasks: Iterable[Task]) -> "Crowd":
        """Let the workers answer; some twice, some of it rejected or without a name."""
        said: list[tuple[dict[str, str], Task, int, tuple[int, int] | None, str]] = []
        clock = NOON
        for number, task in enumerate(tasks):
            for place, (kind, marked) in enumerate(task.said):
                worker = f"A{number % 7}W{place}"
                clock += timedelta(seconds=self.random.randrange(1, 90))
                code = CODES.get(kind, 6)
                marked = self._dragged(task.text, marked)
                fate = self.random.choices(("fine", "none", "rejected", "twice"), (90, 2, 2, 6))
                if fate == ["twice"]:
                    old = self.row(task, number, worker, 6, None, clock)
                    said.append((old, task, 6, None, "superseded"))
                    clock += timedelta(seconds=5)
                row = self.row(task, number, worker, code, marked, clock)
                if fate == ["none"]:
                    row["WorkerId"] = ""
                if fate == ["rejected"]:
                    row["AssignmentStatus"] = "Rejected"
                said.append((row, task, code, marked, fate[0]))
        self.random.shuffle(said)
        self._write([row for row, *_ in said])
        for (row, task, code, marked, fate), line in zip(said, self._lines(), strict=True):
            if fate in ("none", "rejected"):
                self.unusable.add(line)
            elif fate == "superseded":
                self.superseded.add(line)
            else:
                self.truths.append(Truth(line, row["WorkerId"], task, code, marked))
        return self

    def _dragged(self, text: str, marked: tuple[int, int] | None) -> tuple[int, int] | None:
        """What a hand makes of a mark: mostly that, or a space more, or a letter too few."""
        if marked is None:
            return None
        start, end = marked
        what = self.random.random()
        if what < 0.15 and text[end : end + 1] == " ":
            return start, end + 1
        if what > 0.97 and text[start : start + 2].isalpha():
            return start + 1, end
        return marked

    def row(
        self,
        task: Task,
        number: int = 0,
        worker: str = "A1",
        code: int = 6,
        marked: tuple[int, int] | None = None,
        clock: datetime = NOON,
    ) -> dict[str, str]:
        """A row as the file will have it."""
        browser = Browser(task.text, task.anchor, self.style)
        sentence, start, end = self._located(task)
        offset = "" if marked is None else browser.select(*marked, self.random)
        row = {
            "HITId": f"H{number}",
            "AssignmentStatus": "Approved",
            "WorkerId": worker,
            "SubmitTime": clock.strftime("%a %b %d %H:%M:%S PST %Y"),
            "WorkTimeInSeconds": str(self.random.randrange(3, 90)),
            "Input.task_id": str(number),
            "Input.text_reduced": task.text,
            "Input.target": task.text[slice(*task.anchor)],
            "Input.target_start_index": str(start),
            "Input.target_end_index": str(end - self.style.inclusive),
            "Input.target_sentence": sentence if self.style.sentence else "",
            "Answer.ans": str(code),
            "Answer.reference": "" if marked is None else task.text[slice(*marked)],
            "Answer.offset": offset,
            "Answer.other": "score" if code == 5 else "",
            "Answer.comment": 'hard, "very"\nhard' if self.random.random() < 0.1 else "",
            "Approve": "",
            "Reject": "",
        }
        if self.style.page:
            row["Input.text_reduced_html"] = browser.page
        return row

    def _located(self, task: Task) -> tuple[str, int, int]:
        """The sentence of the number, and its two indices, the second one exclusive."""
        text, (start, end) = task.text, task.anchor
        first = text.rfind("\n", 0, start) + 1
        colon = text.find(": ", first, start)
        first = colon + 2 if colon >= 0 else first
        stop = text.find("\n", end)
        sentence = text[first : stop if stop >= 0 else len(text)]
        what = self.style.indices
        if what == "of another text":
            return sentence, start + 700, end + 700
        if what == "context utf-16":
            return sentence, utf16(text, start), utf16(text, end)
        base, shift = (text, 0) if what.startswith("context") else (sentence, first)
        if what.endswith("characters"):
            return sentence, start - shift, end - shift
        tokens = spans(base)
        inside = [k for k, (a, b) in enumerate(tokens) if a < end - shift and b > start - shift]
        if what == "spaced sentence tokens":
            sentence = " ".join(sentence[a:b] for a, b in tokens)
        return sentence, inside[0], inside[-1] + 1

    def _write(self, rows: list[dict[str, str]]) -> None:
        names = list(rows[0])
        self.random.shuffle(names)
        names = [*(n for n in names if n not in ("Approve", "Reject")), "Approve", "Reject"]
        self.rows = rows
        with self.path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, quoting=csv.QUOTE_ALL)
            writer.writerow(names)
            # As in Mechanical Turk's own files, rows end before the requester's columns.
            writer.writerows([row[name] for name in names[:-2]] for row in rows)

    def _lines(self) -> list[int]:
        """The physical line on which each row starts."""
        lines, line = [], 2
        for row in self.rows:
            lines.append(line)
            line += 1 + sum(value.count("\n") for value in row.values())
        return lines


@pytest.fixture(scope="session")
def crowds() -> SimpleNamespace:
    """The classes that simulate a crowd, with the tokenizer loaded."""
    spans("one")
    return SimpleNamespace(
        Browser=Browser, Crowd=Crowd, Style=Style, Task=Task, INDICES=INDICES
    )


@pytest.fixture(scope="session")
def sample_tasks() -> list[Task]:
    """A task for each number of the sample corpus: two turns before it, one after."""
    found = []
    for line in corpus_path().read_text("utf-8").splitlines():
        row = json.loads(line)
        offsets = row["offsets"]
        anchor = (
            offsets[row["anchors_indices"][0]][0],
            offsets[row["anchors_indices"][-1]][1],
        )
        found.append(_task(row["text"], anchor, row["votes"], offsets))
    return found


def _task(
    text: str, anchor: tuple[int, int], votes: list[dict[str, Any]], offsets: list[list[int]]
) -> Task:
    ends = [place for place, sign in enumerate(text + "\n") if sign == "\n"]
    here = next(rank for rank, end in enumerate(ends) if anchor[0] < end)
    first = 0 if here <= 2 else ends[here - 3] + 1
    last = ends[min(here + 1, len(ends) - 1)]
    said: list[tuple[str, tuple[int, int] | None]] = []
    for vote in votes[:3]:
        kind, marked = vote["kind"], None
        if vote["heads"]:
            mention = vote["heads"][0]["mentions"][0]
            start, end = offsets[mention["start"]][0], offsets[mention["end"] - 1][1]
            inside = first <= start and end <= last
            kind = kind if inside else "UNKNOWN"
            marked = (start - first, end - first) if inside else None
        said.append((kind, marked))
    return Task(text[first:last], (anchor[0] - first, anchor[1] - first), tuple(said))
