"""A release: gold frozen into a folder with all that a reader needs to judge it, its names,
its counts, and whether it is whole.
"""

import contextlib
import hashlib
import os
import re
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import quote

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats import gold, nfh
from nfh_db.formats.files import Source
from nfh_db.formats.gold import GoldWriter
from nfh_db.formats.rows import ReleaseWriter
from nfh_db.messages import visible, write_reason
from nfh_db.models import Activation
from nfh_db.query import ME, Match, PeopleTerm, PeopleValue, Query, Term, parse
from nfh_db.query.keys import NONE
from nfh_db.records import (
    BY_RULE,
    PERSON,
    AnchorState,
    Annotator,
    Ballot,
    ExportRecord,
    FlagName,
    Gold,
    Role,
    Rule,
    Vote,
)
from nfh_db.system import path_beside, sweep, sync_folder
from nfh_models.domain import Kind, Relation, Sort, anchor_id
from nfh_tui.services.agreement import SampleCorpus, split_votes

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline
    from nfh_db.items import ReleaseSnapshot
    from nfh_db.store import Store
    from nfh_models.agreement.measure import AnsweredAnchor
    from nfh_models.agreement.report import Agreement


SUMS = "SHA256SUMS"
GOLD_END = ".gold.jsonl"
NFH_END = ".nfh.jsonl"
WITHOUT_SPLIT = "unsplit"
"""Stem of the files of items without a split."""

MOST_OPEN = 32
"""Files open at a time; one more closes them all, and each is appended to later."""

LONGEST = 200
"""Characters of a file's name: file systems take 255 bytes."""

NAME_SHOWN = 200
BUFFER = 1 << 18


class NewFolder:
    """A folder that is being written. rows: lines of each file."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside
        self._hashes: dict[str, hashlib._Hash] = {}
        self._open: dict[str, BinaryIO] = {}
        self.rows: Counter[str] = Counter()

    def append(self, name: str, content: bytes) -> None:
        """Append a line to a file, which is created if needed."""
        if name not in self._open:
            if len(self._open) >= MOST_OPEN:
                self.close()
            self._open[name] = (self._beside / name).open("ab", buffering=BUFFER)
        self._open[name].write(content)
        self._hashes.setdefault(name, hashlib.sha256()).update(content)
        self.rows[name] += 1

    def sums(self) -> str:
        """A line of each file that was written, as `sha256sum` writes and checks them."""
        return "".join(
            f"{self._hashes[name].hexdigest()}  {name}\n" for name in sorted(self._hashes)
        )

    def close(self) -> None:
        """Flush all files to the disk and close them."""
        while self._open:
            _, file = self._open.popitem()
            with file:
                file.flush()
                os.fsync(file.fileno())


@contextlib.contextmanager
def new_folder(place: Path) -> Iterator[NewFolder]:
    """A temporary folder, which is renamed to `place` when the block ends without error.

    Raises ExportError where `place` exists or cannot be written; the folder is removed then.
    """
    target = Path(os.path.abspath(place))  # noqa: PTH100 - a link is not to be followed here
    _check_free(target)
    sweep(target.parent)
    beside = path_beside(target, "tmp")
    folder = NewFolder(beside)
    try:
        beside.mkdir()
        try:
            yield folder
            folder.close()
            sync_folder(beside)
            _check_free(target)
            beside.rename(target)
            sync_folder(target.parent)
        finally:
            with contextlib.suppress(OSError):
                folder.close()
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise ExportError(_sentence(target, error)) from error


def _check_free(target: Path) -> None:
    if os.path.lexists(target):
        raise ExportError(
            f"{visible(str(target), NAME_SHOWN)} already exists, and a release is never "
            "overwritten: name another folder"
        )


def _sentence(target: Path, error: OSError) -> str:
    name = visible(str(target), NAME_SHOWN)
    why = write_reason(error)
    return f"{name}: no release could be written: {why}. No file was left behind."


class FileNames:
    """Names of the files of splits: letters, digits and "_.-~" as they are, %XX else."""

    def __init__(self) -> None:
        self._taken: dict[str, str | None] = {}

    def stem(self, split: str | None) -> str:
        """How the files of a split begin. Raises ExportError where two would be one file."""
        name = WITHOUT_SPLIT if split is None else quote(split, safe="")
        if name.startswith("."):
            name = f"%2E{name[1:]}"
        if len(name) > LONGEST:
            raise ExportError(
                f"the split {visible(split or '')} has too long a name for a file: release "
                "other splits with a query such as split:dev"
            )
        # Some systems take Dev and dev for one name.
        other = self._taken.setdefault(name.casefold(), split)
        if other != split:
            raise ExportError(
                f"the files of two splits would have the same name, {visible(name)}: release "
                "one of them with a query such as split:dev"
            )
        return name


PREFIX = "person-"

BY = "by"
"""The key of queries that has nothing but names."""

NOT_SHOWN = "(not shown: it names people)"
"""Replaces a query in which names cannot be replaced without changing its meaning."""


def asked_of(query: Query) -> set[str]:
    """The people that a query names, as written; ME for the user."""
    return {name for term in query.each_term() for name in _names_in_term(term)}


def _names_in_term(term: Term) -> Iterator[str]:
    if isinstance(term, PeopleTerm):
        for value in term.values:
            yield from value.names
    elif isinstance(term, Match) and term.key == BY:
        yield from term.values


class ReleaseNames:
    """Names as they are."""

    hidden = False

    def name(self, name: str) -> str:
        return name

    def ballot(self, ballot: Ballot) -> Ballot:
        """An item with the names that are written."""
        return ballot

    def query(self, query: Query) -> str:
        """A query as the release shows it."""
        return query.text


class Pseudonyms(ReleaseNames):
    """person-1, person-2 and so on, in the order in which people came to the database.

    That order never changes, so that a person has one number in all releases of a database.
    Models and rules keep their names. A person of whom the database knows only the name, as
    files tell of who voted, gets the next number when met.
    """

    hidden = True

    def __init__(self, people: Iterable[Annotator]) -> None:
        self._numbers: dict[str, str] = {}
        known = list(people)
        self._taken = {one.name for one in known if one.type != PERSON}
        self._next = 1
        for one in known:
            if one.type == PERSON:
                self.name(one.name)

    def name(self, name: str) -> str:
        """The pseudonym of a person."""
        if name not in self._numbers:
            while f"{PREFIX}{self._next}" in self._taken:
                self._next += 1
            self._numbers[name] = f"{PREFIX}{self._next}"
            self._next += 1
        return self._numbers[name]

    def query(self, query: Query) -> str:
        """A query with pseudonyms, or NOT_SHOWN."""
        named = {name: self._asked(name) for name in asked_of(query)}
        if not named:
            return query.text
        longest = sorted(named, key=len, reverse=True)
        pattern = "|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest)
        text = re.sub(pattern, lambda match: named[match[0]], query.text)
        wanted = query.with_each(lambda term: _renamed(term, named))
        return text if parse(text).terms == wanted.terms else NOT_SHOWN

    def _asked(self, name: str) -> str:
        """The pseudonym of a name in any letter case; models and rules keep their names."""
        if name == NONE:
            return name
        same = name.casefold()
        if any(one.casefold() == same for one in self._taken):
            return name
        known = (one for one in self._numbers if one.casefold() == same)
        return self.name(next(known, name))

    def ballot(self, ballot: Ballot) -> Ballot:
        """An item with pseudonyms for all names of people."""
        votes = tuple(
            replace(vote, annotator=self.name(vote.annotator)) if vote.type == PERSON else vote
            for vote in ballot.votes
        )
        flags = tuple(
            replace(flag, annotator=self.name(flag.annotator)) for flag in ballot.flags
        )
        gold = None if ballot.gold is None else self._gold(ballot.gold)
        return replace(ballot, votes=votes, flags=flags, gold=gold)

    def _gold(self, gold: Gold) -> Gold:
        by = None if gold.adjudicator is None else self.name(gold.adjudicator)
        votes = tuple((self.name(name), at) for name, at in gold.votes)
        return replace(gold, adjudicator=by, votes=votes)


def _renamed(term: Term, names: dict[str, str]) -> Term:
    """A part of a query with other names."""
    if isinstance(term, PeopleTerm):
        values = (
            PeopleValue(tuple(names[one] for one in v.names), v.what) for v in term.values
        )
        return replace(term, values=tuple(values))
    if isinstance(term, Match) and term.key == BY:
        return replace(term, values=tuple(names[one] for one in term.values))
    return term


class ExposureCounts(StrEnum):
    """What those had in view who gave the answers of which a gold is made."""

    MODEL = "a model's answer"
    NOTHING = "no model's answer"
    UNKNOWN = "not known"


class ModelsInUse:
    """Which models answered at a time, by the log of what was put to use when."""

    def __init__(self, activations: Iterable[Activation]) -> None:
        self._by_task: dict[str, list[Activation]] = {}
        for one in activations:
            self._by_task.setdefault(one.task, []).append(one)

    def at(self, time: str) -> set[str]:
        """Names of the models in use; none where that was before the log begins."""
        found = set()
        for those in self._by_task.values():
            if place := bisect_right(those, time, key=lambda one: one.at):
                found.add(those[place - 1].model)
        return found


@dataclass(slots=True)
class ReleaseCounts:
    """Counts of numbers, unless said otherwise.

    kinds: by kind and split. passages: the first split of each, by its words, however they are
    spaced or cut; in_two: those that stand in a second one. places, tokens: passages and their
    tokens by split. heads: of Reference, by how many heads. views: by rule and what was in
    view; votes_seen: with others' answers in view. models: that were in use while an answer was
    given with a model in view; unlogged: such answers of a time or a place of which the models
    are not known. guidelines: expert gold by the version it was decided under. undecided: left
    out, by state; disputed: of these, those on which annotators differ. answers: of each
    person, by name and role; machines: by name and type, of what is no person. own_versions:
    answers given here, by the version of the guidelines that held. anchors: in the release.
    """

    in_use: ModelsInUse
    kinds: Counter[tuple[Kind, str | None]] = field(default_factory=Counter)
    splits: Counter[str | None] = field(default_factory=Counter)
    passages: dict[bytes, str | None] = field(default_factory=dict)
    in_two: set[bytes] = field(default_factory=set)
    places: Counter[str | None] = field(default_factory=Counter)
    tokens: Counter[str | None] = field(default_factory=Counter)
    heads: Counter[int] = field(default_factory=Counter)
    relations: Counter[Relation] = field(default_factory=Counter)
    sorts: Counter[Sort | None] = field(default_factory=Counter)
    rules: Counter[Rule] = field(default_factory=Counter)
    views: Counter[tuple[Rule, ExposureCounts]] = field(default_factory=Counter)
    votes_seen: Counter[Rule] = field(default_factory=Counter)
    in_sheet: int = 0
    models: Counter[str] = field(default_factory=Counter)
    unlogged: int = 0
    guidelines: Counter[str] = field(default_factory=Counter)
    own_versions: Counter[int] = field(default_factory=Counter)
    undecided: Counter[AnchorState] = field(default_factory=Counter)
    disputed: int = 0
    flags: Counter[FlagName] = field(default_factory=Counter)
    comments: int = 0
    answers: Counter[tuple[str, Role]] = field(default_factory=Counter)
    machines: Counter[tuple[str, str]] = field(default_factory=Counter)
    anchors: set[int] = field(default_factory=set)
    _seen_places: set[tuple[bytes, str | None]] = field(default_factory=set)

    @property
    def items(self) -> int:
        """Numbers that are in the release."""
        return self.rules.total()

    def add(self, ballot: Ballot) -> None:
        if (gold := ballot.gold) is None:
            self.undecided[ballot.state] += 1
            self.disputed += ballot.state is AnchorState.DISAGREE
            return
        self.anchors.add(ballot.anchor_id)
        self.kinds[gold.answer.kind, ballot.split] += 1
        self.splits[ballot.split] += 1
        self._place(ballot)
        self._answer(gold)
        self._decision(gold, ballot.votes)
        self._people(ballot)

    def _place(self, ballot: Ballot) -> None:
        words = _words(ballot.passage.text)
        if self.passages.setdefault(words, ballot.split) != ballot.split:
            self.in_two.add(words)
        place = (words, ballot.split)
        if place not in self._seen_places:
            self._seen_places.add(place)
            self.places[ballot.split] += 1
            self.tokens[ballot.split] += len(ballot.passage.tokens)

    def _answer(self, gold: Gold) -> None:
        answer = gold.answer
        if answer.kind is Kind.REFERENCE:
            self.heads[len(answer.heads)] += 1
        if answer.relation is not None:
            self.relations[answer.relation] += 1
        if answer.kind is Kind.OTHER:
            self.sorts[answer.sort] += 1

    def _decision(self, gold: Gold, votes: Sequence[Vote]) -> None:
        self.rules[gold.rule] += 1
        made_of = deciding(gold, votes)
        seen = [vote for vote in made_of if vote.saw_model]
        self.views[gold.rule, _view(made_of)] += 1
        self.votes_seen[gold.rule] += any(vote.saw_votes for vote in made_of)
        self.in_sheet += any(vote.in_sheet for vote in made_of)
        if seen:
            self._models(seen)
        if gold.rule is Rule.EXPERT:
            self.guidelines[_guideline(made_of)] += 1

    def _models(self, seen: Sequence[Vote]) -> None:
        """Count the models that were active while the answers to one number were given."""
        found: set[str] = set()
        for vote in seen:
            if not vote.imported:
                found |= self.in_use.at(vote.answered_at)
        self.models.update(found)
        self.unlogged += not found

    def _people(self, ballot: Ballot) -> None:
        for vote in ballot.votes:
            if vote.type == "person":
                self.answers[vote.annotator, vote.role] += 1
                if vote.guideline_version is not None and not vote.imported:
                    self.own_versions[vote.guideline_version] += 1
            else:
                self.machines[vote.annotator, vote.type] += 1
        self.flags.update({flag.name for flag in ballot.flags})
        said = [vote.answer.comment for vote in ballot.votes if vote.answer.comment]
        own = ballot.gold.answer.comment if ballot.gold else ""
        # The comment of a gold is mostly copied from the answer it was made of.
        self.comments += len(said) + (bool(own) and own not in said)


def _words(text: str) -> bytes:
    """A hash that ignores spaces and letter case."""
    said = "".join(text.split()).casefold()
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _guideline(made_of: Sequence[Vote]) -> str:
    """The version under which an expert decided, in words."""
    version = made_of[0].guideline_version if made_of else None
    if version is None:
        return "not noted"
    return "other guidelines, of a file" if made_of[0].imported else f"version {version}"


def _view(made_of: Sequence[Vote]) -> ExposureCounts:
    """What was in view. It is unknown for answers from files, most of which do not record
    it."""
    if any(vote.saw_model for vote in made_of):
        return ExposureCounts.MODEL
    known = made_of and not any(vote.imported for vote in made_of)
    return ExposureCounts.NOTHING if known else ExposureCounts.UNKNOWN


def deciding(gold: Gold, votes: Sequence[Vote]) -> list[Vote]:
    """The answers that a gold is made of, as far as they are known: an expert's, or votes.

    Of gold that came with a file none is.
    """
    if gold.rule is Rule.EXPERT:
        return [
            vote
            for vote in votes
            if vote.role is Role.ADJUDICATOR and vote.annotator == gold.adjudicator
        ]
    if gold.rule not in BY_RULE:
        return []
    named = {name for name, _ in gold.votes}
    return [vote for vote in votes if vote.counts and (not named or vote.annotator in named)]


# A release: gold frozen into a folder, with all that a reader needs to judge it.
#
# It is read from one snapshot, the same database gives the same bytes, and the folder is
# complete or does not exist.

SHEET = "DATASHEET.md"
RESAMPLES = 1_000
SEED = 0

Progress = Callable[[int], None]


@dataclass(slots=True)
class ReleaseRows:
    """Counts of the rows in the form of `nfh`.

    left_out: rows without that form, by kind; "open" are in no file of the release.
    repeats: rows of a number that has one in its split already. elsewhere: rows in another
    split than the number's `gold` line.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    repeats: int = 0
    elsewhere: int = 0


@dataclass(frozen=True, slots=True)
class Contents:
    """The values of the datasheet.

    agreement: of everything that the query finds, decided or not. files: lines of each file
    so far. kept: the versions of the guidelines that are in the release.
    """

    query: str
    tally: ReleaseCounts
    rows: ReleaseRows
    agreement: "Agreement"
    frozen: "ReleaseSnapshot"
    names: ReleaseNames
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
    """Freeze the items that a query finds and that have gold.

    about: Markdown that the datasheet begins with. progress: called with the numbers read.
    Raises ExportError for a folder that is there, for a query about "me", where nothing is
    decided, and where it cannot be written; StoreError where the database cannot be read.
    """
    if ME in asked_of(query):
        raise ExportError(
            "a release must be the same for everybody: name the person instead of me"
        )
    from nfh_models.agreement.bootstrap import Resampling
    from nfh_models.agreement.coefficients import no_skill
    from nfh_models.agreement.pairs import collect
    from nfh_models.agreement.report import measure_agreement
    from nfh_tui.services.datasheet import render

    with new_folder(place) as folder, store.items.frozen() as frozen:
        names = Pseudonyms(frozen.people()) if pseudonyms else ReleaseNames()
        tally, corpus = ReleaseCounts(ModelsInUse(frozen.activations())), SampleCorpus()
        stems = FileNames()
        passing = _Passing(folder, tally, corpus, names, stems, progress)
        tables = collect(passing.items(frozen.ballots(query)))
        if not tally.items:
            raise ExportError(
                "nothing that the query finds is decided, so there is nothing to release"
            )
        rows = _write_rows(folder, frozen, query, stems, passing.homes)
        kept = _write_guidelines(folder, frozen, tally)
        agreement = measure_agreement(
            tables, no_skill("Skill was not measured."), Resampling(RESAMPLES, SEED)
        )
        contents = Contents(
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
        stale_gold = frozen.stale_gold()
        folder.append(SHEET, render(contents).encode("utf-8"))
        folder.append(SUMS, folder.sums().encode("ascii"))
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


def sorted_splits(tally: ReleaseCounts) -> list[tuple[str | None, int]]:
    """Splits with their numbers, by name, what has none last."""
    return sorted(tally.splits.items(), key=lambda one: (one[0] is None, one[0] or ""))


@dataclass(frozen=True, slots=True)
class _Passing:
    """Writes and counts items while agreement is measured on them.

    homes: the split of each written item, by its id.
    """

    folder: NewFolder
    tally: ReleaseCounts
    corpus: SampleCorpus
    names: ReleaseNames
    stems: FileNames
    progress: Progress
    homes: dict[bytes, str | None] = field(default_factory=dict)

    def items(self, ballots: Iterator[Ballot]) -> "Iterator[AnsweredAnchor]":
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
            yield split_votes(ballot)


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
    frozen: "ReleaseSnapshot",
    query: Query,
    stems: FileNames,
    homes: dict[bytes, str | None],
) -> ReleaseRows:
    """Write the files of form `nfh`."""
    writer, told = ReleaseWriter(), ReleaseRows()
    written: set[tuple[bytes, str | None]] = set()
    for record in frozen.rows(query):
        if (line := writer.line(record)) is None:
            continue
        folder.append(stems.stem(record.split) + NFH_END, line.encode())
        id_ = bytes.fromhex(record.public_id)
        told.repeats += (id_, record.split) in written
        told.elsewhere += homes.get(id_) != record.split
        written.add((id_, record.split))
    told.left_out = writer.left_out
    return told


def _write_guidelines(
    folder: NewFolder, frozen: "ReleaseSnapshot", tally: ReleaseCounts
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


LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\\\n]+)")
LARGEST_SUMS = 10_000_000


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check. files: named in the sums. items: numbers in valid `gold` files."""

    folder: str
    files: int
    items: int
    faults: tuple[str, ...]


def check(folder: Path, progress: Progress = lambda _: None) -> Checked:
    """Check a release: every fault is a sentence. ExportError for what is no release."""
    sums = _sums(folder)
    faults = list(_faults(folder, sums))
    items = 0
    seen: dict[str, str] = {}
    for name in sums:
        if not (name.endswith((GOLD_END, NFH_END)) and (folder / name).is_file()):
            continue
        try:
            for id_ in _ids(folder / name):
                if id_ is not None:
                    items += 1
                    progress(items)
                    other = seen.setdefault(id_, name)
                    if other != name:
                        faults.append(f"{visible(name)}: {id_} is also in {visible(other)}")
        except FormatError as error:
            faults.append(str(error))
    return Checked(str(folder), len(sums), items, tuple(faults))


def _sums(folder: Path) -> dict[str, str]:
    """The sums by name, in order. Raises ExportError where they cannot be read."""
    path = folder / SUMS
    shown = visible(str(folder), NAME_SHOWN)
    if not path.is_file():
        raise ExportError(f"{shown} is not a release: wanted a folder with a file {SUMS} in it")
    if path.stat().st_size > LARGEST_SUMS:
        raise ExportError(f"{shown}: {SUMS} is larger than that of any release")
    found: dict[str, str] = {}
    lines = path.read_text(encoding="utf-8", errors="replace").removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        if match is None or match[2] in found:
            raise ExportError(
                f'{shown}, {SUMS}, line {number}: found "{visible(line)}", wanted a SHA-256, '
                "two spaces and the name of a file, each once"
            )
        found[match[2]] = match[1]
    return found


def _faults(folder: Path, sums: dict[str, str]) -> Iterator[str]:
    """Files that are missing, changed, or not listed."""
    if SHEET not in sums:
        yield f"{SUMS}: names no {SHEET}"
    if not any(name.endswith(GOLD_END) for name in sums):
        yield f"{SUMS}: names no file that ends in {GOLD_END}"
    for name, wanted in sums.items():
        path = folder / name
        if not path.is_file():
            yield f"{visible(name)}: is missing"
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != wanted:
            yield (
                f"{visible(name)}: has changed: its SHA-256 is {found[:12]}…, wanted "
                f"{wanted[:12]}…"
            )
    for path in sorted(folder.iterdir()):
        if path.name not in sums and path.name != SUMS:
            yield f"{visible(path.name)}: is not a file of this release"


def _ids(path: Path) -> Iterator[str | None]:
    """The id of each line of a `gold` file, None of each of `nfh`. Raises FormatError."""
    source = Source(path)
    if path.name.endswith(NFH_END):
        for _ in nfh.read(source):
            yield None
        return
    from nfh_tui.services.diff import id_of

    for row in gold.read(source):
        yield id_of(row)
