"""What a person should know about a batch that came in: counts, with the lines they are of."""

from dataclasses import dataclass, field
from enum import StrEnum

from nfh_db.formats.amt_trouble import Trouble, UnusableRow
from nfh_db.formats.rows import AssignmentRow
from nfh_db.formats.wording import counted, shown
from nfh_models.span_heads import Found, RuleHeads

LISTED_LINES = 1_000
LISTED_NOTES = 100
"""Lines that are listed of rows that were taken."""

SHOWN_VALUES = 3


class Note(StrEnum):
    """What is worth a word about a row that was taken. The value stands behind the count."""

    SUPERSEDED = (
        "{rows} whose worker answered the same number once more: the later answer counts, "
        "the earlier one is in the number's history"
    )
    WIDENED = "{rows} with a mark that ends inside a word: widened to the whole word"
    WITH_SPEAKER = "{rows} with a mark that takes in a speaker's name: the name was left out"
    OFFSET_UNFIT = (
        "{rows} with offsets that fit no place of the marked text: taken for the one place "
        "where it stands"
    )
    INDEX_UNFIT = (
        "{rows} with indices and a sentence that fit no place of the number: taken for the "
        "one place where it stands"
    )
    TIME_UNREAD = "{rows} with a SubmitTime that is no time: dated with the import"
    SECONDS_UNREAD = "{rows} with a WorkTimeInSeconds that is no number of seconds: left out"


@dataclass(slots=True)
class Rows:
    """Lines of rows, and what the first of them hold in the field in question."""

    lines: list[int] = field(default_factory=list)
    found: list[str] = field(default_factory=list)

    def add(self, line: int, found: str = "") -> None:
        """Count one."""
        self.lines.append(line)
        if found and len(self.found) < SHOWN_VALUES and found not in self.found:
            self.found.append(found)

    def counted(self) -> str:
        """How many rows these are."""
        return counted(len(self.lines), "row")

    def listed(self, limit: int = LISTED_LINES) -> str:
        """Their lines, ascending, at most `limit` of them, and what was found."""
        lines = sorted(self.lines)
        words = "line " if len(lines) == 1 else "lines "
        words += ", ".join(map(str, lines[:limit]))
        if len(lines) > limit:
            words += f" and {len(lines) - limit:,} more"
        if self.found:
            words += f" (found {', '.join(map(shown, self.found))})"
        return words


class BatchReport:
    """Collects what there is to say of a batch. warnings: where the sentences go."""

    def __init__(self, warnings: list[str]) -> None:
        self.warnings = warnings
        self.one_word = 0
        self._unused: dict[Trouble, Rows] = {}
        self._notes: dict[Note, Rows] = {}
        self._parsed = 0
        self._ruled = Rows()
        self._finder = ""

    def left_out(self, row: AssignmentRow, verdict: UnusableRow) -> None:
        """A row that is not stored."""
        self._unused.setdefault(verdict.trouble, Rows()).add(row.line, verdict.found)

    def note(self, note: Note, row: AssignmentRow) -> None:
        """A row that is stored in a way one should know of."""
        self._notes.setdefault(note, Rows()).add(row.line)

    def head(self, row: AssignmentRow, finder: str, found: Found) -> None:
        """A phrase of several words whose head was found."""
        self._finder = finder
        if found.parsed:
            self._parsed += 1
        else:
            self._ruled.add(row.line)

    def finish(self) -> None:
        """Say all of it."""
        for trouble in Trouble:
            if trouble in self._unused:
                rows = self._unused[trouble]
                self.warnings.append(
                    f"{rows.counted()} left out, {trouble.value}: {rows.listed()}"
                )
        for note in Note:
            if note in self._notes:
                rows = self._notes[note]
                self.warnings.append(
                    f"{note.value.format(rows=rows.counted())}: {rows.listed(LISTED_NOTES)}"
                )
        self.warnings.extend(self._about_heads())

    def _about_heads(self) -> list[str]:
        sentences = []
        if self._parsed:
            sentences.append(
                f"of {counted(self._parsed, 'mark')} of several words the head was found by "
                f"the parser of {self._finder}; {self.one_word:,} more of one word"
            )
        if self._ruled.lines:
            why = (
                "as no English spaCy pipeline with a parser could be loaded"
                if self._finder == RuleHeads.name
                else "as the parse gave no single one"
            )
            marks = counted(len(self._ruled.lines), "mark")
            sentences.append(
                f"of {marks} the head was found by a rule, {why}: the last word before a "
                "preposition, a relative word or a stop; "
                f"{self._ruled.listed(LISTED_NOTES)}"
            )
        return sentences
