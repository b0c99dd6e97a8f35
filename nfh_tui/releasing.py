"""A release: gold frozen into a folder, with all that a reader needs to judge it.

One moment of the database, and the same database gives the same bytes. The folder is there
whole or not at all.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.errors import ExportError
from nfh_db.formats.gold_form import GoldWriter
from nfh_db.formats.release import ReleaseWriter
from nfh_db.query import Query
from nfh_db.query.terms import ME
from nfh_db.records import Ballot, ExportRecord
from nfh_models.domain import anchor_id
from nfh_tui.judging import SampleCorpus, judged
from nfh_tui.releasing_files import GOLD_END, NFH_END, SUMS, FileNames, NewFolder, new_folder
from nfh_tui.releasing_names import Names, Pseudonyms, asked_of
from nfh_tui.releasing_tally import ModelsInUse, Tally

if TYPE_CHECKING:
    from nfh_db.frozen import Frozen
    from nfh_db.guidelines import Guideline
    from nfh_db.store import Store
    from nfh_models.agreement.judged import Judged
    from nfh_models.agreement.report import Agreement

SHEET = "DATASHEET.md"
RESAMPLES = 1_000
SEED = 0

Progress = Callable[[int], None]


@dataclass(slots=True)
class ReleaseRows:
    """What of a release is in the form of `nfh`.

    left_out: rows without that form, by kind; "open" are in no file of the release.
    repeats: rows of a number that has one in its split already. elsewhere: rows in another
    split than the number's `gold` line.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """All that the datasheet is made of.

    agreement: of everything that the query finds, decided or not. files: lines of each file
    so far. kept: the versions of the guidelines that are in the release.
    """

    query: str
    tally: Tally
    rows: ReleaseRows
    agreement: "Agreement"
    frozen: "Frozen"
    names: Names
    files: Counter[str]
    kept: "tuple[Guideline, ...]"
    sample_corpus: bool
    about: str = ""


@dataclass(frozen=True, slots=True)
class Released:
    """What was written. items: numbers with gold; left_out: numbers without, by state.

    stale_gold: numbers of the database whose gold was given to a span that was replaced since.
    """

    folder: str
    items: int
    passages: int
    splits: dict[str, int]
    files: dict[str, int]
    left_out: dict[str, int]
    pseudonyms: bool
    stale_gold: int


def release(
    store: "Store",
    place: Path,
    query: Query,
    *,
    pseudonyms: bool = False,
    about: str = "",
    progress: Progress = lambda _: None,
) -> Released:
    """Freeze what a query finds and somebody or some rule has decided.

    about: Markdown that the datasheet begins with. progress: told the numbers read so far.
    Raises ExportError for a folder that is there, for a query about "me", where nothing is
    decided, and where it cannot be written; StoreError where the database cannot be read.
    """
    if ME in asked_of(query):
        raise ExportError("a release is the same whoever makes it: name the person, and not me")
    with new_folder(place) as folder, store.frozen() as frozen:
        contents = _fill(
            folder, frozen, query, _names(frozen, hidden=pseudonyms), progress, about
        )
        stale_gold = frozen.stale_gold()
        folder.append(SHEET, _sheet(contents).encode("utf-8"))
        folder.append(SUMS, folder.sums().encode("ascii"))
    tally = contents.tally
    return Released(
        str(place),
        tally.items,
        len(tally.passages),
        {split or "": count for split, count in sorted_splits(tally)},
        {name: rows for name, rows in sorted(folder.rows.items()) if name.endswith(".jsonl")},
        {state.value: count for state, count in sorted(tally.undecided.items())},
        pseudonyms,
        stale_gold,
    )


def sorted_splits(tally: Tally) -> list[tuple[str | None, int]]:
    """Splits with their numbers, by name, what has none last."""
    return sorted(tally.splits.items(), key=lambda one: (one[0] is None, one[0] or ""))


def _names(frozen: "Frozen", *, hidden: bool) -> Names:
    return Pseudonyms(frozen.people()) if hidden else Names()


def _fill(
    folder: NewFolder,
    frozen: "Frozen",
    query: Query,
    names: Names,
    progress: Progress,
    about: str,
) -> Contents:
    """Write all but the datasheet and the sums."""
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_models.agreement.report import measure_agreement
    from nfh_models.agreement.skill import no_skill
    from nfh_models.agreement.tables import collect

    tally, corpus = Tally(ModelsInUse(frozen.activations())), SampleCorpus()
    stems = FileNames()
    passing = _Passing(folder, tally, corpus, names, stems, progress)
    tables = collect(passing.items(frozen.ballots(query)))
    if not tally.items:
        raise ExportError(
            "nothing is decided of what the query finds, so there is nothing to release"
        )
    rows = _write_rows(folder, frozen, query, stems, passing.homes)
    kept = _write_guidelines(folder, frozen, tally)
    agreement = measure_agreement(
        tables, no_skill("Skill was not asked for."), Resampling(RESAMPLES, SEED)
    )
    return Contents(
        names.query(query),
        tally,
        rows,
        agreement,
        frozen,
        names,
        folder.rows,
        kept,
        corpus.found,
        about,
    )


@dataclass(frozen=True, slots=True)
class _Passing:
    """Writes and counts items while they pass by on their way to be measured.

    homes: the split of each that was written, by its id.
    """

    folder: NewFolder
    tally: Tally
    corpus: SampleCorpus
    names: Names
    stems: FileNames
    progress: Progress
    homes: dict[bytes, str | None] = field(default_factory=dict)

    def items(self, ballots: Iterator[Ballot]) -> "Iterator[Judged]":
        """The items as agreement is measured on them."""
        writer = GoldWriter()
        for number, found in enumerate(ballots, 1):
            ballot = self.names.ballot(found)
            self.corpus.look(ballot)
            self.tally.add(ballot)
            if ballot.gold is not None:
                record = record_of(ballot)
                self.homes[bytes.fromhex(record.public_id)] = ballot.split
                name = self.stems.stem(ballot.split) + GOLD_END
                self.folder.append(name, writer.line(record).encode())
            self.progress(number)
            yield judged(ballot)


def record_of(ballot: Ballot) -> ExportRecord:
    """An item as an export writes it."""
    return ExportRecord(
        anchor_id(ballot.passage.digest, ballot.anchor),
        ballot.passage,
        ballot.anchor,
        ballot.split,
        ballot.gold,
        ballot.votes,
        ballot.flags,
    )


def _write_rows(
    folder: NewFolder,
    frozen: "Frozen",
    query: Query,
    stems: FileNames,
    homes: dict[bytes, str | None],
) -> ReleaseRows:
    """Write the files of form `nfh`."""
    writer, told = ReleaseWriter(), ReleaseRows()
    written: set[tuple[bytes, str | None]] = set()
    for record in frozen.rows(query):
        line = writer.line(record)
        if line is None:
            continue
        folder.append(stems.stem(record.split) + NFH_END, line.encode())
        id_ = bytes.fromhex(record.public_id)
        told.repeats += (id_, record.split) in written
        told.elsewhere += homes.get(id_) != record.split
        written.add((id_, record.split))
    told.left_out = writer.left_out
    return told


def _write_guidelines(
    folder: NewFolder, frozen: "Frozen", tally: Tally
) -> "tuple[Guideline, ...]":
    """Write the guidelines that hold, and those that answers of the release name."""
    versions = frozen.guidelines()
    kept = tuple(
        one for one in versions if one is versions[-1] or one.version in tally.own_versions
    )
    for one in kept:
        folder.append(guidelines_name(one.version), one.body.encode("utf-8"))
    return kept


def guidelines_name(version: int) -> str:
    """The file of a version of the guidelines."""
    return f"guidelines-v{version}.md"


def _sheet(contents: Contents) -> str:
    from nfh_tui.releasing_sheet import sheet

    return sheet(contents)
