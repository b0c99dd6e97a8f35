"""Numbers found and decided, in stored passages or in a text that no database holds: is the
noun of each missing?
"""

import hashlib
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.batches import FOUND
from nfh_db.errors import FormatError
from nfh_db.formats.files import BYTE_ORDER_MARK, HEAD, wide_encoding
from nfh_db.import_run import IncomingFile
from nfh_db.messages import visible
from nfh_db.predictions import IdentifiedNumber, Numbered
from nfh_db.query import Match, Query
from nfh_db.records import Annotator, Identified, IncomingAnchor, IncomingPassage
from nfh_models.domain import Anchor
from nfh_models.identification.base import (
    Decision,
    Identifier,
    SentenceNumber,
    Span,
    TextCase,
    cases_of,
    cases_of_sentences,
    check_layers,
    decide,
    numbers_of,
    sentences_of_text,
)
from nfh_models.parsing.base import Parser
from nfh_tui.services.imports import AS_GIVEN
from nfh_tui.services.models import SelectedModel
from nfh_tui.services.predict_sources import STANDARD_INPUT, STANDARD_NAME, nothing

if TYPE_CHECKING:
    from nfh_db.store import Store


# Numbers found in stored passages, and decided: is the noun of each missing?
#
# First the numbers that the grammar finds and nobody has named come in, all of them in one act
# or none. Then each number of the passages is decided, and what is decided is stored as it
# comes: broken off and run again, what is stored is not decided anew.

AT_ONCE = 200
"""Passages read together."""

SAVED_TOGETHER = 512
"""Decisions that are stored together."""

NAME = "numbers found by identify"
LONGEST_QUERY = 200
"""Code points of the query that the log repeats."""

GOES_ON = "What was decided is stored: run the command again, and it goes on from there."

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class IdentifyRequest:
    """What is to be done. new: add numbers that are no anchors yet. again: decide also what
    this model has decided already. dry_run: store nothing."""

    query: Query
    new: bool = True
    again: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class IdentificationTools:
    """What decides. parser: None where the identifier needs none. spec: of the parser, as
    it was asked for."""

    chosen: SelectedModel[Identifier]
    parser: Parser | None
    spec: str | None = None

    @property
    def parser_name(self) -> str:
        """The parser's name with its version; "" for none."""
        return "" if self.parser is None else self.parser.name


@dataclass(slots=True)
class Identification:
    """What came of it.

    numbers: all that the passages have now (on a trial run: would have). new: of these, how
    many were no anchors before. decided: in this run; the others had been decided before.
    rules: by rule, for how many it said yes and for how many no. compared: how many of what
    the query itself finds have gold that says yes or no; differ: of these, where gold says
    otherwise.
    """

    passages: int = 0
    numbers: int = 0
    new: int = 0
    decided: int = 0
    rules: dict[str, list[int]] = field(default_factory=dict)
    compared: int = 0
    differ: int = 0

    @property
    def yes(self) -> int:
        """Numbers whose noun is missing."""
        return sum(counts[0] for counts in self.rules.values())

    @property
    def no(self) -> int:
        """Numbers whose noun is not missing."""
        return sum(counts[1] for counts in self.rules.values())

    def count(self, nfh: bool, rule: str, number: IdentifiedNumber | None, asked: bool) -> None:
        """Add one decision. asked: the query itself finds the number."""
        self.rules.setdefault(rule, [0, 0])[0 if nfh else 1] += 1
        gold = None if number is None or number.kind is None else number.kind.identification
        if gold is not None and asked:
            self.compared += 1
            self.differ += gold is not nfh


def identify(
    store: "Store",
    wanted: IdentifyRequest,
    tools: IdentificationTools,
    me: Annotator,
    progress: Progress,
) -> Identification:
    """Find and decide the numbers of the passages that a query finds something in.

    Raises StoreError beside an import or another bulk act, ParserError for a parser that
    gives too little. A KeyboardInterrupt leaves what is decided by then.
    """
    run = _Run(store, wanted, tools, me, progress)
    try:
        return run.run()
    except KeyboardInterrupt as interrupt:
        if run.saved:
            interrupt.add_note(GOES_ON)
        raise


class _Run:
    """One run. saved: decisions that are stored by now."""

    def __init__(
        self,
        store: "Store",
        wanted: IdentifyRequest,
        tools: IdentificationTools,
        me: Annotator,
        progress: Progress,
    ) -> None:
        self.saved = 0
        self._store = store
        self._wanted = wanted
        self._tools = tools
        self._me = me
        self._progress = progress
        self._version = ""
        self._counts: int | None = None  # the model whose earlier decisions count
        self._asked: set[int] = set()
        self._fresh: dict[int, tuple[Anchor, ...]] = {}

    def run(self) -> Identification:
        store, wanted, chosen = self._store, self._wanted, self._tools.chosen
        check_layers(chosen.model, self._tools.parser)
        for ids in store.queue.ids(wanted.query, self._me):
            self._asked.update(ids)
        passages = store.identifications.passage_ids(wanted.query, self._me)
        report = Identification(passages=len(passages))
        if wanted.new:
            self._find(passages)
            report.new = sum(map(len, self._fresh.values()))
            if report.new and not wanted.dry_run:
                report.new = self._add()
        if chosen.model_id is not None and not wanted.dry_run:
            tools = self._tools
            self._version = store.identifications.decide_with(
                chosen.model_id, tools.parser_name, tools.spec
            )
        if not (wanted.dry_run and self._forgets()):
            self._counts = chosen.model_id
        self._decide(passages, report)
        return report

    def _forgets(self) -> bool:
        """Whether what the model has decided would be forgotten by a run that stores."""
        chosen = self._tools.chosen
        if chosen.model_id is None:
            return False
        if self._store.identifications.decided_with(chosen.model_id) not in (
            None,
            self._tools.parser_name,
        ):
            return True
        known = (one for one in self._store.models.all() if one.id == chosen.model_id)
        return any(one.version != chosen.model.version for one in known)

    # --- numbers that are no anchors yet --------------------------------------------------

    def _find(self, passages: "array[int]") -> None:
        """Note, by passage, the numbers that overlap none that is or was there."""
        for done, one in enumerate(_numbered(self._store, passages, None), 1):
            fresh = tuple(_unnamed(one))
            if fresh:
                self._fresh[one.id] = fresh
            self._progress("passages searched for numbers:", done, len(passages))

    def _add(self) -> int:
        """Bring them in as an import does, all or none; how many another run had not yet."""
        words = self._wanted.query.text[:LONGEST_QUERY]
        act = f"{NAME} in: {words}" if words else f"{NAME} in all passages"
        total = sum(map(len, self._fresh.values()))

        def told(rows: int) -> None:
            self._progress("new numbers stored:", rows, total)

        file = IncomingFile(NAME, self._content(), FOUND, act=act)
        return self._store.imports.load(file, self._incoming(), progress=told).anchors_new

    def _content(self) -> str:
        """What stands for a file's hash: all new numbers, and nothing else."""
        hashed = hashlib.sha256()
        for one in _numbered(self._store, array("q", self._fresh), None):
            for anchor in self._fresh[one.id]:
                hashed.update(f"{one.passage.digest}:{anchor.start}:{anchor.end}\n".encode())
        return hashed.hexdigest()

    def _incoming(self) -> Iterator[IncomingPassage]:
        line = 0
        for one in _numbered(self._store, array("q", self._fresh), None):
            split = _one_split(one.numbers)
            rows = []
            # Looked at once more: somebody may have marked a number meanwhile.
            for anchor in _unnamed(one):
                line += 1
                rows.append(IncomingAnchor(line, anchor, split=split))
            yield IncomingPassage(one.passage, one.tokenizer, tuple(rows))

    # --- deciding -------------------------------------------------------------------------

    def _decide(self, passages: "array[int]", report: Identification) -> None:
        tools = self._tools
        waiting: deque[IdentifiedNumber | None] = deque()
        decided = decide(
            self._cases(passages, report, waiting), tools.chosen.model, tools.parser
        )
        while some := list(islice(decided, SAVED_TOGETHER)):
            made = [(waiting.popleft(), decision) for _, decision in some]
            for number, decision in made:
                asked = number is not None and number.id in self._asked
                report.count(decision.nfh, decision.rule, number, asked)
            report.decided += len(made)
            self._save(made)

    def _cases(
        self,
        passages: "array[int]",
        report: Identification,
        waiting: "deque[IdentifiedNumber | None]",
    ) -> Iterator[SentenceNumber]:
        """A case for each number to be decided, and beside it, in `waiting`, the number.

        None stands for one that a trial run found and did not store.
        """
        for done, one in enumerate(_numbered(self._store, passages, self._counts), 1):
            open_: list[tuple[Anchor, IdentifiedNumber | None]] = []
            for number in one.numbers:
                if not number.seen:
                    continue
                report.numbers += 1
                if number.said is None or self._wanted.again:
                    open_.append((number.anchor, number))
                else:
                    report.count(*number.said, number, number.id in self._asked)
            if self._wanted.dry_run:
                fresh = self._fresh.get(one.id, ())
                report.numbers += len(fresh)
                open_ += [(anchor, None) for anchor in fresh]
            open_.sort(key=lambda pair: pair[0].start)
            waiting.extend(number for _, number in open_)
            yield from cases_of(one.passage, [anchor for anchor, _ in open_])
            self._progress("passages decided:", done, len(passages))

    def _save(self, made: Sequence[tuple[IdentifiedNumber | None, Decision]]) -> None:
        chosen = self._tools.chosen
        if self._wanted.dry_run or chosen.model_id is None:
            return
        found = [
            (number.id, as_stored(chosen.name, decision))
            for number, decision in made
            if number is not None
        ]
        self._store.identifications.save(
            chosen.model_id, self._version, found, self._tools.parser_name
        )
        self.saved += len(found)


def as_stored(model: str, decision: Decision) -> Identified:
    """A decision as the store keeps it."""
    return Identified(model, decision.nfh, decision.rule, decision.score, decision.weights)


def differing(query: Query) -> str:
    """The query that finds, of what a query found, what gold says otherwise of.

    One that asks what is decided, or not, finds others once it is: it is left out.
    """
    about = any(isinstance(term, Match) and term.key.startswith("nfh") for term in query.terms)
    return f"{'' if about else query.text} nfh!=gold".strip()


def _numbered(
    store: "Store", passages: "array[int]", model_id: int | None
) -> Iterator[Numbered]:
    for start in range(0, len(passages), AT_ONCE):
        yield from store.identifications.numbered(passages[start : start + AT_ONCE], model_id)


def _unnamed(one: Numbered) -> Iterator[Anchor]:
    """Numbers of a passage that overlap none that it has or had."""
    for anchor in numbers_of(one.passage, spaced_out=one.tokenizer == AS_GIVEN):
        if not any(
            known.anchor.start < anchor.end and anchor.start < known.anchor.end
            for known in one.numbers
        ):
            yield anchor


def _one_split(numbers: Iterable[IdentifiedNumber]) -> str | None:
    """The split of all numbers that are seen; None if they have not all one and the same."""
    splits = {number.split for number in numbers if number.seen}
    return splits.pop() if len(splits) == 1 else None


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number in a text. start, end: code points of the text, end-exclusive.

    before, text, after: together the sentence that it stands in, as it stands.
    """

    start: int
    end: int
    decision: Decision
    before: str
    text: str
    after: str

    @property
    def sentence(self) -> str:
        """The whole sentence."""
        return f"{self.before}{self.text}{self.after}"


def read_text(place: str) -> tuple[str, str]:
    """A name for messages, and the text of a file, or of standard input for "-".

    A byte-order mark is left out; line ends stay as they are. Raises FormatError for what is
    no UTF-8 text or has no word in it, OSError for what cannot be read.
    """
    name = STANDARD_NAME if place == STANDARD_INPUT else visible(place, limit=200)
    content = _standard_input() if place == STANDARD_INPUT else Path(place).read_bytes()
    encoding = wide_encoding(content[:HEAD])
    if encoding:
        raise FormatError(name, None, f"is {encoding} text; save it as UTF-8")
    content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            name,
            content.count(b"\n", 0, error.start) + 1,
            f"byte {error.start + 1:,} of the file (0x{content[error.start]:02X}) is not "
            "UTF-8: it is no text, or not saved as UTF-8",
        ) from error
    if not text.strip():
        raise nothing(name, empty=not text)
    return name, text


def check_running(place: str) -> None:
    """Raise FormatError for a file whose content shows a format that is no running text.

    Its numbers would be found in keys, times and offsets, too. What no format is sure of, raw
    dialog, and standard input are read as they stand, and so is what no import could read:
    with NUL characters in it, say.
    """
    if place == STANDARD_INPUT:
        return
    from nfh_db.formats.base import First
    from nfh_db.formats.files import Source
    from nfh_db.formats.registry import NFH, formats, sniffed

    try:
        source = Source(Path(place))
        first = First.of(source)
    except FormatError:
        return
    found = sniffed(source, first, [one for one in formats() if not one.guess or one is NFH])
    if found is not None:
        raise FormatError(
            visible(place, limit=200),
            None,
            f"is a file of {found[0].name} ({found[1]}), and running text is wanted; bring it "
            "in with `nfh-tui import` and identify in the database, or hand it to "
            "`identify --file -`, which reads anything as it stands",
        )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise FormatError(STANDARD_NAME, None, "is closed: name a file")
    return sys.stdin.buffer.read()


def numbers_in_text(
    text: str, tools: IdentificationTools, *, per_line: bool
) -> Iterator[FoundNumber]:
    """Every number of a text with its decision, in order. Raises ParserError."""
    waiting: deque[tuple[TextCase, Span]] = deque()

    def cases() -> Iterator[SentenceNumber]:
        for sentence in sentences_of_text(text, per_line=per_line):
            for one in cases_of_sentences(text, [sentence]):
                waiting.append((one, sentence))
                yield one.case

    for _, decision in decide(cases(), tools.chosen.model, tools.parser):
        one, (start, end) = waiting.popleft()
        before, words, after = (
            text[start : one.start],
            text[one.start : one.end],
            text[one.end : end],
        )
        yield FoundNumber(one.start, one.end, decision, before, words, after)
