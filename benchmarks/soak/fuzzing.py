"""Feeding damaged files to the importers: a refusal in a sentence or a sound database."""

import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from nfh_db.connection import connect
from nfh_db.errors import FormatError, StoreError
from nfh_db.formats.base import Format
from nfh_db.formats.files import Source
from nfh_db.formats.registry import GOLD, by_name, check_choice, recognise
from nfh_db.query import parse
from nfh_db.store import Store
from nfh_tui.cli.options import MESSAGE_LIMIT, sentence
from nfh_tui.services.imports import ImportOptions, export_file, import_file
from soak.checks import faults
from soak.mutate import damaged
from soak.seeds import SEEDS

SUFFIXES = {
    "nfh": ".jsonl",
    "gold": ".jsonl",
    "nfh-ident": ".tsv",
    "dialog": ".txt",
    "amt": ".csv",
}
SMALL = 1 << 18
"""Bytes of a file that must be done with within SECONDS."""

SECONDS = 5.0
"""Processor seconds that one small file may take."""

OF_ONE_DATABASE = 400
"""Files that one database is fed with, at most."""

HEAVY = 30_000
"""Bytes of a file beyond which it gets a database of its own."""

TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"
LEAVES = (
    "SELECT coalesce(sum(length(p.text)), 0) FROM anchor JOIN passage AS p ON p.id = passage_id"
)
MUCH = 4_000_000
"""Characters, each passage's once for each of its anchors as gold has them, beyond which a
database is not fed any more: a line of 40,000 numbers would leave as some 60 GB."""


class TooSlowError(BaseException):
    """A file took longer than it may; no importer may catch this."""


@dataclass(frozen=True)
class Made:
    """A damaged file. name: of the format it was; format: None where it is to be found out."""

    path: Path
    raw: bytes
    name: str
    format: Format | None
    options: ImportOptions


@dataclass
class Outcomes:
    """What became of the files. took: the slowest small one, in seconds, and its name."""

    files: int = 0
    what: dict[str, Counter[str]] = field(default_factory=dict)
    took: tuple[float, str] = (0.0, "")
    rows: int = 0
    checked: int = 0
    came_back: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def peak(self) -> int:
        """Bytes of memory that this process had at most."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Fed:
    """A database that is fed with files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = Store.open(path, create=True)
        self.files = 0

    def rows(self) -> dict[str, int]:
        """How many rows each table holds."""
        with closing(connect(self.path, "ro")) as reader:
            names = reader.execute(TABLES).fetchall()
            return {
                name: reader.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for (name,) in names
            }

    def holds_much(self) -> bool:
        """True if it would leave as more gold than can be waited for."""
        with closing(connect(self.path, "ro")) as reader:
            return bool(reader.execute(LEAVES).fetchone()[0] > MUCH)

    def discard(self) -> None:
        """Close it and delete it."""
        self.store.close()
        self.path.unlink()


class Fuzzer:
    """Feeds files, seeded one by one: file N of a seed is always the same.

    folder: where files and databases are; a file that did wrong stays there.
    """

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.folder = folder
        self.seed = seed
        self.outcomes = Outcomes(what={name: Counter() for name in SEEDS})
        self._last = 0

    def run(self, files: int, first: int = 0) -> Outcomes:
        """Feed so many files; those of a size that may bring much get a database each."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fed = Fed(self.folder / "nfh.db")
        for number in range(first, first + files):
            self._last = number
            made = self._made(number)
            if len(made.raw) > HEAVY:
                heavy = Fed(self.folder / "heavy.db")
                self._one(made, heavy)
                self._check(heavy)
                continue
            if fed.files >= OF_ONE_DATABASE or fed.holds_much():
                self._check(fed)
                fed = Fed(self.folder / "nfh.db")
            self._one(made, fed)
            fed.files += 1
        self._check(fed)
        return self.outcomes

    def _check(self, fed: Fed) -> None:
        """The database is sound; what it holds leaves, and comes into an empty one."""
        much = fed.holds_much()
        found = faults(fed.path, summaries=not much)
        self.outcomes.wrong += [f"after file {self._last}: {one}" for one in found]
        self.outcomes.checked += 1
        out, again = self.folder / "out.jsonl", self.folder / "again.db"
        if not much and export_file(fed.store, parse(""), GOLD, out).rows:
            with Store.open(again, create=True) as other:
                import_file(other, Source(out), GOLD, ImportOptions())
                back = self.folder / "back.jsonl"
                export_file(other, parse(""), GOLD, back)
            if sorted(out.open("rb")) != sorted(back.open("rb")):
                self.outcomes.wrong.append(f"after file {self._last}: gold does not come back")
            again.unlink()
            self.outcomes.came_back += 1
        fed.discard()

    # --- one file -------------------------------------------------------------------------

    def _made(self, number: int) -> Made:
        source = random.Random(f"{self.seed}:{number}")
        name = source.choice(list(SEEDS))
        path = self.folder / f"{number}{SUFFIXES[name]}"
        raw = damaged(source, name)
        path.write_bytes(raw)
        options = ImportOptions(
            split=source.choice((None, None, "mine")),
            annotator=source.choice((None, None, "reader")) if name != "amt" else None,
            replace_gold=source.random() < 0.3,
            dry_run=source.random() < 0.1,
        )
        return Made(path, raw, name, by_name(name) if source.random() < 0.7 else None, options)

    def _one(self, made: Made, fed: Fed) -> None:
        before = fed.rows()
        small = len(made.raw) < SMALL
        begun = time.process_time()
        try:
            with _at_most(SECONDS if small else 60.0):
                what = self._feed(made, fed.store)
        except (FormatError, StoreError) as error:
            what = "refused"
            self._look_at_refusal(made.path, error)
        except TooSlowError:
            what = self._wrong(made.path, "took longer than it may")
        except BaseException:  # noqa: BLE001  # the very thing that is looked for
            what = self._wrong(made.path, traceback.format_exc(limit=-6))
        took = time.process_time() - begun
        if what in ("dry", "refused") and fed.rows() != before:
            what = self._wrong(made.path, f"{what}, and yet something is stored")
        self.outcomes.files += 1
        self.outcomes.what[made.name][what] += 1
        if small:
            self.outcomes.took = max(self.outcomes.took, (took, made.path.name))
        if what != "wrong":
            made.path.unlink()

    def _feed(self, made: Made, store: Store) -> str:
        source, format_ = Source(made.path), made.format
        if format_ is None:
            format_, _ = recognise(source)
        else:
            check_choice(source, format_)
        report = import_file(store, source, format_, made.options)
        self.outcomes.rows += report.rows
        for said in (*report.warnings, *report.conflicts):
            said.encode("utf-8")
        return "dry" if made.options.dry_run else "came in"

    def _look_at_refusal(self, path: Path, error: Exception) -> None:
        said = sentence(error)
        if path.name not in str(error) or not said.isprintable() or len(said) < 20:
            self._wrong(path, f"refused with no proper sentence: {said!r}")
        if len(str(error)) > MESSAGE_LIMIT:
            self._wrong(path, f"refused with {len(str(error))} characters")

    def _wrong(self, path: Path, why: str) -> str:
        self.outcomes.wrong.append(f"{path.name}: {why}")
        return "wrong"


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlowError where the block takes more processor seconds."""

    def stop(*_: object) -> None:
        raise TooSlowError

    former = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def in_words(what: Mapping[str, Counter[str]]) -> Iterator[str]:
    """One line a format."""
    for name, counts in what.items():
        ranked = ", ".join(f"{word} {number:,}" for word, number in sorted(counts.items()))
        yield f"{name}: {ranked or 'none'}"
