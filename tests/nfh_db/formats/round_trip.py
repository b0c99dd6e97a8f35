"""Out to a format and back into an empty database: what has to be the same, and whether it is.

    trip = round_trip(hostile_corpus(tmp_path / "in.jsonl"), "prodigy", tmp_path)
    trip.check()

The judge is the `gold` export of both databases: byte for byte where the format holds all,
else equal but for what its `holds` says it does not hold.
"""

import copy
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from nfh_db.formats.base import Format, How, What
from nfh_db.formats.registry import by_name
from nfh_db.formats.rows import Writing
from nfh_db.query import parse
from nfh_db.records import ImportReport
from nfh_db.store import Store
from nfh_tui.services.imports import (
    ExportReport,
    ImportOptions,
    export_file,
    import_file,
    recognise_file,
)
from tests.nfh_db.formats.hostile import hostile_corpus, hostile_records

__all__ = ["Trip", "hostile_corpus", "hostile_records", "imported", "round_trip"]

Line = dict[str, Any]


@dataclass(frozen=True)
class Trip:
    """A journey there and back. path: the exported file or folder. before, after: lines of
    `gold`. recognised: the name of the format that its content shows, or a refusal.
    """

    format: Format
    path: Path
    before: Sequence[str]
    after: Sequence[str]
    exported: ExportReport
    imported: ImportReport
    recognised: str

    @property
    def lost(self) -> tuple[What, ...]:
        """What the format says it does not hold."""
        holds = self.format.holds or {}
        return tuple(what for what in What if holds.get(what, How.NO) is How.NO)

    def check(self, *, also: Sequence[What] = ()) -> None:
        """Assert that nothing was lost, but for what the format does not hold, and `also`."""
        lost = (*self.lost, *also)
        left_out = sum(self.exported.left_out.values())
        before, after = list(self.before), list(self.after)
        if not lost and not left_out:
            for one, other in zip(before, after, strict=False):
                assert _shown(one) == _shown(other)
                assert one == other
            assert len(before) == len(after)
            return
        have = [_without(json.loads(line), lost) for line in after]
        want = [_without(json.loads(line), lost) for line in before]
        if not left_out:
            assert len(have) == len(want)
            for one, other in zip(want, have, strict=True):
                assert other == one
            return
        assert len(have) == len(want) - left_out, self.exported.left_out
        for line in have:
            assert line in want, line


def round_trip(
    given: Store | Path,
    format_name: str,
    folder: Path,
    *,
    suffix: str | None = None,
    writing: Writing | None = None,
    options: ImportOptions | None = None,
    edit: Callable[[Path], None] | None = None,
) -> Trip:
    """Export a store, or a `gold` file, and read it into an empty one.

    suffix: of the exported file; "" for a folder. Without it the format's first one, or a
    folder where it is written as members. edit: is given the file before it is read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    format_ = by_name(format_name)
    if isinstance(given, Path):
        path = folder / "before.db"
        path.write_bytes(_database(given.name, given.read_bytes()))
        with Store.open(path) as store:
            return _trip(store, format_, folder, suffix, writing, options, edit)
    return _trip(given, format_, folder, suffix, writing, options, edit)


@lru_cache(4)
def _database(name: str, content: bytes) -> bytes:
    """The database of a `gold` file, which goes out to one format after another."""
    with tempfile.TemporaryDirectory() as folder:
        given, path = Path(folder, name), Path(folder, "before.db")
        given.write_bytes(content)
        with Store.open(path, create=True) as store:
            imported(store, given, "gold")
        return path.read_bytes()


def imported(
    store: Store, path: Path, name: str | None = None, options: ImportOptions | None = None
) -> ImportReport:
    """Bring a file in, as the command does."""
    options = options or ImportOptions()
    found = recognise_file(path, name, options)
    return import_file(store, found.source, found.format, options)


def gold_lines(store: Store, path: Path) -> list[str]:
    """The `gold` export of a store."""
    export_file(store, parse(""), by_name("gold"), path)
    # Only at line feeds: a text may hold other characters that end a line elsewhere.
    return [f"{line}\n" for line in path.read_bytes().decode("utf-8").split("\n")[:-1]]


def _trip(
    store: Store,
    format_: Format,
    folder: Path,
    suffix: str | None,
    writing: Writing | None,
    options: ImportOptions | None,
    edit: Callable[[Path], None] | None,
) -> Trip:
    path = folder / f"there{_suffix(format_) if suffix is None else suffix}"
    exported = export_file(store, parse(""), format_, path, writing)
    if edit is not None:
        edit(path)
    before = gold_lines(store, folder / "before.jsonl")
    with Store.open(folder / "after.db", create=True) as other:
        report = imported(other, path, format_.name, options)
        after = gold_lines(other, folder / "after.jsonl")
    try:
        recognised = recognise_file(path, None, options).format.name
    except ValueError as error:
        recognised = str(error)
    return Trip(format_, path, before, after, exported, report, recognised)


def _suffix(format_: Format) -> str:
    if format_.members is not None:
        return ""
    return format_.extensions[0] if format_.extensions else ".txt"


def _shown(line: str) -> Mapping[str, object]:
    """A line as values, so that a difference is told by key."""
    value: dict[str, object] = json.loads(line)
    return value


# --- what a format does not hold ------------------------------------------------------------


def _without(line: Line, lost: Sequence[What]) -> Line:
    """A line without what is lost: what of it has to be the same still."""
    line = copy.deepcopy(line)
    line.pop("digest")
    for what in lost:
        LESS[what](line)
    if What.TOKENS in lost:
        _by_characters(line)
    return line


def _answers(line: Line) -> list[Line]:
    return [line, *line["votes"]]


def _no_kind(line: Line) -> None:
    for answer in _answers(line):
        answer.update(kind=None, heads=[], relation=None, sort=None, noun=None)
    line["head"] = []


def _no_heads(line: Line) -> None:
    for answer in _answers(line):
        if len(answer["heads"]) > 1:
            answer.update(heads=[], relation=None)
            answer.pop("head", None)


def _no_relation(line: Line) -> None:
    for answer in _answers(line):
        answer["relation"] = None


def _no_origin(line: Line) -> None:
    for answer in _answers(line):
        for head in answer["heads"]:
            kept = [m for m in head["mentions"] if m["origin"] != "removed"]
            head["mentions"] = [m | {"origin": "marked"} for m in kept]


def _no_value(key: str, value: object) -> Callable[[Line], None]:
    def no(line: Line) -> None:
        for answer in _answers(line):
            answer[key] = value

    return no


def _no_votes(line: Line) -> None:
    line["votes"] = []
    line.pop("settled_on", None)


def _no_time(line: Line) -> None:
    line["decided_at"] = None
    line.pop("settled_on", None)
    for item in (*line["votes"], *line["flags"]):
        item.pop("at", None)
        item.pop("seconds", None)


def _no_seen(line: Line) -> None:
    for item in line["votes"]:
        for key in ("saw_model", "saw_votes", "guideline_version", "rule_tag", "in_sheet"):
            item.pop(key, None)


def _no_flags(line: Line) -> None:
    line["flags"] = []


def _no_gold(line: Line) -> None:
    line.update(kind=None, heads=[], relation=None, sort=None, noun=None, comment="", head=[])
    _no_rule(line)


def _no_rule(line: Line) -> None:
    line.update(rule=None, adjudicator=None, decided_at=None)
    line.pop("settled_on", None)


def _no_split(line: Line) -> None:
    line["split"] = None


def _no_speakers(line: Line) -> None:
    for key in ("speakers", "line_indices", "id"):
        line.pop(key, None)


def _no_times(line: Line) -> None:
    line.pop("times", None)


def _no_tokens(line: Line) -> None:
    line.pop("id", None)


LESS: Mapping[What, Callable[[Line], None]] = {
    What.KIND: _no_kind,
    What.HEADS: _no_heads,
    What.RELATION: _no_relation,
    What.ORIGIN: _no_origin,
    What.SORT: _no_value("sort", None),
    What.NOUN: _no_value("noun", None),
    What.COMMENT: _no_value("comment", ""),
    What.VOTES: _no_votes,
    What.TIME: _no_time,
    What.SEEN: _no_seen,
    What.FLAGS: _no_flags,
    What.GOLD: _no_gold,
    What.RULE: _no_rule,
    What.SPLIT: _no_split,
    What.SPEAKERS: _no_speakers,
    What.SAID_AT: _no_times,
    What.TOKENS: _no_tokens,
}


def _by_characters(line: Line) -> None:
    """Every span by characters in place of tokens, which are another way of cutting now."""
    offsets = line.pop("offsets")
    anchor = line.pop("anchors_indices")
    line["anchor"] = (offsets[anchor[0]][0], offsets[anchor[-1]][1])
    for key in ("tokens", "speakers", "line_indices", "head", "times"):
        line.pop(key, None)
    for answer in _answers(line):
        for head in answer["heads"]:
            head["mentions"] = [
                (offsets[m["start"]][0], offsets[m["end"] - 1][1], m["origin"])
                for m in head["mentions"]
            ]
