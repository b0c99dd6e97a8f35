"""Makes the sample corpus from its source: `python -m nfh_tui.sample.build`.

Reads `dialogs/*.txt` in the order of their names and writes `corpus.jsonl` beside them, in
the form that `nfh-tui export --format gold` gives. Deterministic: the same source, the same
bytes. Refuses, with file and line, what is no answer or points nowhere.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nfh_db.errors import ExportError, FormatError
from nfh_db.formats.gold_form import GoldWriter
from nfh_db.formats.rows import RawPassage
from nfh_db.formats.writing import write_lines
from nfh_db.records import ExportRecord, FlagMark, FlagName, Gold, Role, Rule, Vote
from nfh_models.domain import Anchor, Passage, SettlingRule, Turn, anchor_id, settle
from nfh_tui.sample import corpus_path
from nfh_tui.sample.answers import read_answer
from nfh_tui.sample.markup import (
    ANNOTATORS,
    GOLD,
    Place,
    Said,
    SourceAnchor,
    SourcePassage,
    read,
    refusal,
)
from nfh_tui.sample.phenomena import PHENOMENA

EDITOR = "editor"
FIRST_DAY = datetime(2025, 3, 3, tzinfo=UTC)
"""A Monday. Each file is one working day of each annotator; the editor sits two weeks later."""
HOURS = {"ann1": 9.1, "ann2": 13.25, "ann3": 16.7, EDITOR: 10.0}
PAUSE = timedelta(seconds=2)
SETTLED_AT = "2025-03-14T17:00:00.000Z"
"""When the gold that needs no editor was made, all of it in one go."""


def main() -> int:
    """Write the corpus; the exit status is 1, with a sentence, if the source does not hold."""
    out = corpus_path()
    try:
        lines = list(corpus_lines(out.parent / "dialogs"))
        write_lines(out, lines)
    except (FormatError, ExportError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{out}: {len(lines)} anchors\n")
    return 0


def corpus_lines(folder: Path) -> Iterator[str]:
    """The corpus, line by line, from the source files in `folder`. Raises FormatError."""
    writer = GoldWriter()
    for _, record in corpus_records(folder):
        yield writer.line(record)


def corpus_records(folder: Path) -> Iterator[tuple[SourceAnchor, ExportRecord]]:
    """Each anchor of the source with the record made of it, in the order of the corpus."""
    seen: dict[str, str] = {}
    for day, path in enumerate(sorted(folder.glob("*.txt"))):
        sitting = _Sitting(day)
        for source in read(path.name, path.read_text(encoding="utf-8").splitlines()):
            maker = _Maker(source, sitting)
            digest = maker.passage.digest
            if digest in seen:
                message = f"is the same dialog as {seen[digest]}"
                raise refusal(source, source.line, message)
            seen[digest] = source.slug
            yield from maker.records()


@dataclass(slots=True)
class _Sitting:
    """The clocks of those who answer the items of one file, one item after the other."""

    day: int
    clocks: dict[str, datetime] = field(default_factory=dict)

    def answered(self, name: str, seconds: int) -> str:
        """The time at which `name` commits an answer that took so long."""
        week, weekday = divmod(self.day, 5)
        days = week * 7 + weekday + (14 if name == EDITOR else 0)
        start = FIRST_DAY + timedelta(days=days, hours=HOURS[name])
        at = self.clocks.get(name, start) + PAUSE + timedelta(seconds=seconds)
        self.clocks[name] = at
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Maker:
    """Makes the records of one passage of the source."""

    def __init__(self, source: SourcePassage, sitting: _Sitting) -> None:
        self.source = source
        self.sitting = sitting
        self.passage = _passage(source)
        self.lemmas = [token.lemma for token in self.passage.tokens]
        self.starts = {token.start: i for i, token in enumerate(self.passage.tokens)}
        self.ends = {token.end: i + 1 for i, token in enumerate(self.passage.tokens)}
        self.nouns = dict(self._nouns())

    def records(self) -> Iterator[tuple[SourceAnchor, ExportRecord]]:
        """The passage's records, by the anchors' place in it."""
        spans = {
            anchor.label: self._span(self.source.anchor_places[anchor.label], anchor.line)
            for anchor in self.source.anchors
        }
        for anchor in sorted(self.source.anchors, key=lambda a: spans[a.label]):
            yield anchor, self._record(anchor, Anchor(*spans[anchor.label]))

    def _nouns(self) -> Iterator[tuple[str, int]]:
        for label, place in self.source.noun_places.items():
            start, end = self._span(place, self.source.line)
            if end - start != 1:
                message = f'noun "{label}" must be one token; answers widen it with < and >'
                raise refusal(self.source, self.source.line, message)
            yield label, start

    def _span(self, place: Place, line: int) -> tuple[int, int]:
        try:
            return self.starts[place.start], self.ends[place.end]
        except KeyError as error:
            words = self.source.text[place.start : place.end]
            message = f'"{words}" does not start and end where tokens do'
            raise refusal(self.source, line, message) from error

    def _record(self, source: SourceAnchor, anchor: Anchor) -> ExportRecord:
        votes, flags = [], []
        for name in ANNOTATORS:
            vote, raised = self._vote(name, Role.ANNOTATOR, source.said[name], anchor)
            votes.append(vote)
            flags += raised
        said = source.said[GOLD]
        gold: Gold | None = None
        if said.answer in list(SettlingRule):
            gold = self._gold_by_rule(said, votes)
        elif said.answer != "open":
            vote, raised = self._vote(EDITOR, Role.ADJUDICATOR, said, anchor)
            votes.append(vote)
            flags += raised
            gold = Gold(vote.answer, Rule.EXPERT, EDITOR, vote.answered_at)
        self._check(source, gold)
        return ExportRecord(
            public_id=anchor_id(self.passage.digest, anchor),
            passage=self.passage,
            anchor=anchor,
            split=None,
            gold=gold,
            votes=tuple(votes),
            flags=tuple(flags),
        )

    def _vote(
        self, name: str, role: Role, said: Said, anchor: Anchor
    ) -> tuple[Vote, list[FlagMark]]:
        """What `name` answers, and the flags set with it."""
        if said.seconds is None:
            raise refusal(self.source, said.line, "wanted the seconds that the answer took")
        try:
            answer = read_answer(said.answer, self.nouns, self.lemmas, anchor, said.comment)
            names = [FlagName(flag) for flag in said.flags]
        except ValueError as error:
            raise refusal(self.source, said.line, str(error)) from error
        at = self.sitting.answered(name, said.seconds)
        vote = Vote(
            name,
            role,
            answer,
            answered_at=at,
            seconds=float(said.seconds),
            saw_votes=role is Role.ADJUDICATOR,
            rule_tag=said.rule,
        )
        return vote, [FlagMark(flag, name, at) for flag in names]

    def _gold_by_rule(self, said: Said, votes: Sequence[Vote]) -> Gold:
        given = [(vote.annotator, vote.answer) for vote in votes]
        settled = settle(given, self.lemmas, SettlingRule(said.answer))
        if settled.answer is None:
            message = f"the answers make no gold by the rule {said.answer}: {settled.reason}"
            raise refusal(self.source, said.line, message)
        made_of = tuple(sorted((vote.annotator, vote.answered_at) for vote in votes))
        return Gold(settled.answer, Rule(said.answer), None, SETTLED_AT, made_of)

    def _check(self, source: SourceAnchor, gold: Gold | None) -> None:
        """Raise FormatError if the gold is no case of what the anchor is there to show."""
        shows = PHENOMENA.get(source.phenomenon)
        if shows is None:
            message = f'no phenomenon is named "{source.phenomenon}"'
            raise refusal(self.source, source.line, message)
        if gold is not None and gold.answer.kind not in shows.kinds:
            wanted = " or ".join(shows.kinds)
            message = f"{source.phenomenon} has the gold {wanted}, not {gold.answer.kind}"
            raise refusal(self.source, source.said[GOLD].line, message)


def _passage(source: SourcePassage) -> Passage:
    """The passage as an import of its plain text would make it."""
    # Imported here: only who builds the corpus pays for the tokenizer and the lemmas.
    from nfh_models.text.tokenize import spans
    from nfh_tui.incoming import passage_of

    offsets: list[tuple[int, int]] = []
    turns = []
    for number, line in enumerate(source.turns):
        first = len(offsets)
        found = spans(source.text[line.start : line.end])
        offsets += [(start + line.start, end + line.start) for start, end in found]
        turns.append(Turn(number, line.speaker, first, len(offsets)))
    starts, ends = zip(*offsets, strict=True)
    words = [source.text[start:end] for start, end in offsets]
    return passage_of(RawPassage(source.text, words, starts, ends, tuple(turns)))


if __name__ == "__main__":
    sys.exit(main())
