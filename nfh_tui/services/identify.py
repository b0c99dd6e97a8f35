"""Identification of numeric fused heads: finds numbers and decides for each whether its noun
is missing, in stored passages or in a text outside the database.
"""

import hashlib
import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_db.batches import FOUND
from nfh_db.errors import FormatError
from nfh_db.formats.files import BYTE_ORDER_MARK, HEAD, IS_POINTER, POINTER, wide_encoding
from nfh_db.import_run import IncomingFile
from nfh_db.messages import visible
from nfh_db.predictions import IdentifiedNumber, Numbered
from nfh_db.query import Query
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
from nfh_tui.services.predict_sources import STANDARD_INPUT, STANDARD_NAME, empty_error

if TYPE_CHECKING:
    from nfh_db.store import Store


# Stored passages are processed in two phases. First, numbers that the grammar finds and that
# are no anchors yet are added in one transaction. Then each number of the passages is decided;
# decisions are stored in batches, so an interrupted run continues where it stopped.

PASSAGE_BATCH = 200
"""Passages read together."""

DECISION_BATCH = 512
"""Decisions stored together."""

NAME = "numbers found by identify"
LONGEST_QUERY = 200
"""Code points of the query kept in the log."""

GOES_ON = "The decisions so far are stored: run the command again to continue."

Progress = Callable[[str, int, int], None]
"""Called with a label, the amount done and the total."""


@dataclass(frozen=True, slots=True)
class IdentifyRequest:
    """The options of a run over stored passages."""

    query: Query
    new: bool = True
    """Add numbers that are no anchors yet."""

    again: bool = False
    """Decide numbers again that this model has decided before."""

    dry_run: bool = False
    """Store nothing."""


@dataclass(frozen=True, slots=True)
class IdentificationTools:
    """The model and its parser."""

    chosen: SelectedModel[Identifier]
    parser: Parser | None
    """None where the identifier needs none."""

    spec: str | None = None
    """The value of --parser."""

    @property
    def parser_name(self) -> str:
        """The parser's name with its version; "" for none."""
        return "" if self.parser is None else self.parser.name


@dataclass(slots=True)
class Identification:
    """The counts of a run."""

    passages: int = 0
    numbers: int = 0
    """All numbers of the passages afterwards (in a dry run: as they would be)."""

    new: int = 0
    """Numbers that were no anchors before."""

    decided: int = 0
    """Numbers decided in this run; the others were decided before."""

    rules: dict[str, list[int]] = field(default_factory=dict)
    """By rule: how many numbers are fused heads by it, and how many are not."""

    compared: int = 0
    """Numbers matched by the query whose gold is yes or no."""

    differ: int = 0
    """Compared numbers where the decision differs from gold."""

    @property
    def yes(self) -> int:
        return sum(counts[0] for counts in self.rules.values())

    @property
    def no(self) -> int:
        return sum(counts[1] for counts in self.rules.values())

    def count(
        self,
        nfh: bool,
        rule: str,
        number: IdentifiedNumber | None = None,
        matched: bool = False,
    ) -> None:
        """Add one decision. matched: the query finds the number itself."""
        self.rules.setdefault(rule, [0, 0])[0 if nfh else 1] += 1
        gold = None if number is None or number.kind is None else number.kind.identification
        if gold is not None and matched:
            self.compared += 1
            self.differ += gold is not nfh


def identify(
    store: "Store",
    wanted: IdentifyRequest,
    tools: IdentificationTools,
    me: Annotator,
    progress: Progress,
) -> Identification:
    """Find and decide the numbers of the passages in which a query finds an item.

    Raises StoreError while an import or another bulk operation runs, ParserError for a parser
    that lacks a required layer. After a KeyboardInterrupt, earlier decisions are stored.
    """
    run = _Run(store, wanted, tools, me, progress)
    try:
        return run.run()
    except KeyboardInterrupt as interrupt:
        if run.saved:
            interrupt.add_note(GOES_ON)
        raise


class _Run:
    def __init__(
        self,
        store: "Store",
        wanted: IdentifyRequest,
        tools: IdentificationTools,
        me: Annotator,
        progress: Progress,
    ) -> None:
        self.saved = 0  # decisions stored so far
        self._store = store
        self._wanted = wanted
        self._tools = tools
        self._me = me
        self._progress = progress
        self._version = ""
        self._counts: int | None = None  # the model whose earlier decisions count
        self._matched: set[int] = set()  # ids of the numbers that the query finds
        self._new: dict[int, tuple[Anchor, ...]] = {}  # by passage

    def run(self) -> Identification:
        store, wanted, chosen = self._store, self._wanted, self._tools.chosen
        check_layers(chosen.model, self._tools.parser)
        for ids in store.queue.ids(wanted.query, self._me):
            self._matched.update(ids)
        passages = store.identifications.passage_ids(wanted.query, self._me)
        report = Identification(passages=len(passages))
        if wanted.new:
            self._find(passages)
            report.new = sum(map(len, self._new.values()))
            if report.new and not wanted.dry_run:
                report.new = self._add(report.new)
        if chosen.model_id is not None and not wanted.dry_run:
            tools = self._tools
            self._version = store.identifications.decide_with(
                chosen.model_id, tools.parser_name, tools.spec
            )
        if not (wanted.dry_run and self._is_outdated()):
            self._counts = chosen.model_id
        self._decide(passages, report)
        return report

    def _is_outdated(self) -> bool:
        """Whether a run that stores would discard the model's earlier decisions."""
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
        for done, one in enumerate(_numbered(self._store, passages, None), 1):
            if new := tuple(_new_anchors(one)):
                self._new[one.id] = new
            self._progress("passages searched for numbers:", done, len(passages))

    def _add(self, total: int) -> int:
        """Import the new numbers in one transaction; how many no other run had added."""
        words = self._wanted.query.text[:LONGEST_QUERY]
        act = f"{NAME} in: {words}" if words else f"{NAME} in all passages"
        # In place of a file's hash: that of all new numbers.
        digest = hashlib.sha256()
        for one in _numbered(self._store, array("q", self._new), None):
            for anchor in self._new[one.id]:
                digest.update(f"{one.passage.digest}:{anchor.start}:{anchor.end}\n".encode())

        def progress(rows: int) -> None:
            self._progress("new numbers stored:", rows, total)

        file = IncomingFile(NAME, digest.hexdigest(), FOUND, act=act)
        return self._store.imports.load(file, self._incoming(), progress=progress).anchors_new

    def _incoming(self) -> Iterator[IncomingPassage]:
        lines = count(1)
        for one in _numbered(self._store, array("q", self._new), None):
            # The passage's own split, where all of its visible numbers have the same.
            splits = {number.split for number in one.numbers if number.seen}
            split = splits.pop() if len(splits) == 1 else None
            # Searched again, because an annotator may have marked a number meanwhile.
            rows = [
                IncomingAnchor(next(lines), anchor, split=split) for anchor in _new_anchors(one)
            ]
            yield IncomingPassage(one.passage, one.tokenizer, tuple(rows))

    # --- deciding -------------------------------------------------------------------------

    def _decide(self, passages: "array[int]", report: Identification) -> None:
        tools = self._tools
        waiting: deque[IdentifiedNumber | None] = deque()
        decided = decide(
            self._cases(passages, report, waiting), tools.chosen.model, tools.parser
        )
        while batch := list(islice(decided, DECISION_BATCH)):
            made = [(waiting.popleft(), decision) for _, decision in batch]
            for number, decision in made:
                matched = number is not None and number.id in self._matched
                report.count(decision.nfh, decision.rule, number, matched)
            report.decided += len(made)
            self._save(made)

    def _cases(
        self,
        passages: "array[int]",
        report: Identification,
        waiting: "deque[IdentifiedNumber | None]",
    ) -> Iterator[SentenceNumber]:
        """A case for each number to decide; the number itself is appended to `waiting`.

        `waiting` gets None for a new number of a dry run, which is not stored.
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
                    report.count(*number.said, number, number.id in self._matched)
            if self._wanted.dry_run:
                new = self._new.get(one.id, ())
                report.numbers += len(new)
                open_ += [(anchor, None) for anchor in new]
            open_.sort(key=lambda pair: pair[0].start)
            waiting.extend(number for _, number in open_)
            yield from cases_of(one.passage, [anchor for anchor, _ in open_])
            self._progress("passages decided:", done, len(passages))

    def _save(self, made: Sequence[tuple[IdentifiedNumber | None, Decision]]) -> None:
        chosen = self._tools.chosen
        if self._wanted.dry_run or chosen.model_id is None:
            return
        found = [
            (number.id, Identified(chosen.name, one.nfh, one.rule, one.score, one.weights))
            for number, one in made
            if number is not None
        ]
        self._store.identifications.save(
            chosen.model_id, self._version, found, self._tools.parser_name
        )
        self.saved += len(found)


def differing(query: Query) -> str:
    """The query for items of `query` whose gold differs from the decision.

    A query about decisions finds other items afterwards, so its own text is left out.
    """
    about = any(term.key.startswith("nfh") for term in query.each_term())
    return f"{'' if about else query.text} nfh!=gold".strip()


def _numbered(
    store: "Store", passages: "array[int]", model_id: int | None
) -> Iterator[Numbered]:
    for start in range(0, len(passages), PASSAGE_BATCH):
        batch = passages[start : start + PASSAGE_BATCH]
        yield from store.identifications.numbered(batch, model_id)


def _new_anchors(one: Numbered) -> Iterator[Anchor]:
    """Numbers of a passage that overlap no present or former anchor."""
    for anchor in numbers_of(one.passage, spaced_out=one.tokenizer == AS_GIVEN):
        if not any(
            known.anchor.start < anchor.end and anchor.start < known.anchor.end
            for known in one.numbers
        ):
            yield anchor


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number in a text: code points [start, end).

    before, text and after together are its sentence, unchanged.
    """

    start: int
    end: int
    decision: Decision
    before: str
    text: str
    after: str

    @property
    def sentence(self) -> str:
        return f"{self.before}{self.text}{self.after}"


def read_text(place: str) -> tuple[str, str]:
    """A name for messages, and the text of a file, or of standard input for "-".

    A byte-order mark is removed; line ends are kept. Raises FormatError for text that is not
    UTF-8 or has no word, OSError for a file that cannot be read.
    """
    name = STANDARD_NAME if place == STANDARD_INPUT else visible(place, limit=200)
    content = _standard_input() if place == STANDARD_INPUT else Path(place).read_bytes()
    if POINTER.match(content):
        raise FormatError(name, None, IS_POINTER)
    if encoding := wide_encoding(content[:HEAD]):
        raise FormatError(name, None, f"is {encoding} text; save it as UTF-8")
    content = content.removeprefix(BYTE_ORDER_MARK)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(
            name,
            content.count(b"\n", 0, error.start) + 1,
            f"byte {error.start + 1:,} of the file (0x{content[error.start]:02X}) is not "
            "UTF-8: the file is not text, or not saved as UTF-8",
        ) from error
    if not text.strip():
        raise empty_error(name, empty=not text)
    return name, text


def check_running(place: str) -> None:
    """Raise FormatError for a file that is recognised as a format other than running text.

    Numbers would be found in its keys, times and offsets, too. Raw dialog, standard input,
    content that no format is sure of, and files that cannot be imported (for example with NUL
    characters) pass.
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
            f"is a file of {found[0].name} ({found[1]}), not running text; import it with "
            "`nfh-tui import` and identify in the database, or pass it to `identify --file "
            "-`, which reads any text unchanged",
        )


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise FormatError(STANDARD_NAME, None, "is closed: name a file")
    return sys.stdin.buffer.read()


def numbers_in_text(
    text: str, tools: IdentificationTools, *, per_line: bool
) -> Iterator[FoundNumber]:
    """Every number of a text with its decision, in text order. Raises ParserError."""
    waiting: deque[tuple[TextCase, Span]] = deque()

    def cases() -> Iterator[SentenceNumber]:
        for sentence in sentences_of_text(text, per_line=per_line):
            for one in cases_of_sentences(text, [sentence]):
                waiting.append((one, sentence))
                yield one.case

    for _, decision in decide(cases(), tools.chosen.model, tools.parser):
        one, (start, end) = waiting.popleft()
        bounds = pairwise((start, one.start, one.end, end))
        yield FoundNumber(one.start, one.end, decision, *(text[a:b] for a, b in bounds))
