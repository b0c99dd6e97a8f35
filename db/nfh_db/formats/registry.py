"""The one list of formats. Commands, help, README and the importer go by it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nfh_db.formats import amt, dialog, gold, nfh, nfh_ident
from nfh_db.formats.fields import decode
from nfh_db.formats.gold_form import FORMAT as GOLD_VERSION
from nfh_db.formats.gold_form import GoldWriter
from nfh_db.formats.reading import Source
from nfh_db.formats.release import LineWriter, Mentions, ReleaseWriter
from nfh_db.formats.rows import Row
from nfh_db.formats.wording import shown

OBJECT = re.compile(r'\s*\{\s*("|\}|$)')
"""How a line starts that means to be a JSON object; "{hm} yes" does not."""


@dataclass(frozen=True, slots=True)
class First:
    """What the sniffing sees of a file: its first line with something in it, its suffix.

    value: the line's JSON object, None where it holds none. suffix: ".tsv", lower case.
    """

    text: str
    value: dict[str, object] | None
    suffix: str

    @classmethod
    def of(cls, source: Source) -> "First":
        """Raises FormatError if the first line cannot be read."""
        text = source.first_row()
        value: object = None
        if OBJECT.match(text):
            try:
                value = decode(text)
            except ValueError:
                value = None
        return cls(text, value if isinstance(value, dict) else None, source.path.suffix.lower())


@dataclass(frozen=True, slots=True)
class Format:
    """A file format.

    example: one line of it. read: yields the rows of a file. sniff: why a file looks like
    this format, None if it does not. writer: makes lines of records; None where the format
    can only be imported. labelled: rows say something of their anchors. carries_split:
    rows name their own split. names_people: rows are answers, and say whose.
    """

    name: str
    extensions: tuple[str, ...]
    description: str
    example: str
    read: Callable[[Source], Iterator[Row]]
    sniff: Callable[[First], str | None]
    writer: Callable[[Mentions], LineWriter] | None = None
    labelled: bool = True
    carries_split: bool = False
    names_people: bool = False

    @property
    def direction(self) -> str:
        """Which way it goes, in words."""
        return "import only" if self.writer is None else "import and export"


def _sniff_gold(first: First) -> str | None:
    if first.value is None or "format" not in first.value:
        return None
    return "its first line is a JSON object that names its format"


def _sniff_nfh(first: First) -> str | None:
    if first.value is not None:
        return "its first line is a JSON object"
    if OBJECT.match(first.text):
        return "its first line starts like a JSON object"
    if first.suffix in (".jsonl", ".json"):
        return f"its name ends in {first.suffix}"
    return None


def _sniff_ident(first: First) -> str | None:
    if first.text == nfh_ident.HEADER:
        return "its first line is the header of the identification files"
    return "its name ends in .tsv" if first.suffix == ".tsv" else None


def _sniff_amt(first: First) -> str | None:
    if amt.is_header(first.text):
        return "its first line is the header of a Mechanical Turk batch"
    return None


def _sniff_dialog(first: First) -> str | None:
    if first.suffix == ".csv":
        return None
    return "it is plain text"


NFH = Format(
    name="nfh",
    extensions=(".jsonl",),
    description="the release's resolution files: one JSON object of five keys a line",
    example=(
        '{"tokens": ["Two", "tickets", "?", "No", ",", "three", "."], '
        '"line_indices": [0, 0, 0, 1, 1, 1, 1], "head": [1], '
        '"speakers": ["Ann", "Ann", "Ann", "Ben", "Ben", "Ben", "Ben"], '
        '"anchors_indices": [5]}'
    ),
    read=nfh.read,
    sniff=_sniff_nfh,
    writer=ReleaseWriter,
)
NFH_IDENT = Format(
    name="nfh-ident",
    extensions=(".tsv",),
    description=(
        "the release's identification files: tab-separated, header "
        f"{' '.join(nfh_ident.COLUMNS)}, y 1 an NFH and 0 not"
    ),
    example="No_SEP_,_SEP_three_SEP_.\t2\t3\t1",
    read=nfh_ident.read,
    sniff=_sniff_ident,
)
DIALOG = Format(
    name="dialog",
    extensions=(".txt",),
    description="plain text: one turn a line, a blank line between passages",
    example="Ben: No, three.",
    read=dialog.read,
    sniff=_sniff_dialog,
    labelled=False,
)
GOLD = Format(
    name="gold",
    extensions=(".jsonl",),
    description=(
        f"everything known of an anchor ({GOLD_VERSION}): the five keys of nfh, and text, "
        "offsets, heads, votes, flags and how the gold came to count"
    ),
    example=(
        '{"tokens":["No",",","three","."],"line_indices":[0,0,0,0],'
        '"speakers":["Ben","Ben","Ben","Ben"],"anchors_indices":[2],"head":["AGE"],'
        '"format":"nfh-gold/1","id":"3d5a5e6ffd8fdd6c171daef8425139c5","text":"No, three.",'
        '"offsets":[[0,2],[2,3],[4,9],[9,10]],"kind":"AGE","heads":[],"relation":null,'
        '"sort":null,"noun":null,"flags":[],"split":null,"rule":"imported",'
        '"adjudicator":null,"decided_at":null,"votes":[],"comment":"",'
        '"digest":"2413b448e608b2b97adac938264d5b8c37d8586f8b7313881facdf8f5c2c1559"}'
    ),
    read=gold.read,
    sniff=_sniff_gold,
    writer=GoldWriter,
    carries_split=True,
)

AMT = Format(
    name="amt",
    extensions=(".csv",),
    description=(
        "the results of a Mechanical Turk batch: a CSV file, each row one worker's answer; "
        f"header {amt.HEADER}, of which only the last may be missing"
    ),
    example='A1B2C3,"Ann: Two tickets?<br>Ben: No, three.",three,1,tickets,9;16',
    read=amt.read,
    sniff=_sniff_amt,
    names_people=True,
)

FORMATS = (NFH, NFH_IDENT, DIALOG, GOLD, AMT)
SNIFF_ORDER = (GOLD, AMT, NFH, NFH_IDENT, DIALOG)
BY_NAME = {format_.name: format_ for format_ in FORMATS}
READABLE = tuple(format_.name for format_ in FORMATS)
WRITABLE = tuple(format_.name for format_ in FORMATS if format_.writer)


def recognise(source: Source) -> tuple[Format, str]:
    """The format a file's content shows, and why. Raises FormatError if none fits."""
    first = First.of(source)
    for format_ in SNIFF_ORDER:
        reason = format_.sniff(first)
        if reason:
            return format_, reason
    raise source.error(
        None,
        f"its format is not known: it starts with {shown(first.text)}; "
        f"name one with --format: {', '.join(READABLE)}",
    )


def check_choice(source: Source, format_: Format) -> None:
    """Raise FormatError if a file that is to be read as plain text plainly is something else.

    Anything is plain text, so that nobody would notice; the other formats refuse by themselves.
    """
    if format_ is not DIALOG:
        return
    first = First.of(source)
    tabular = first.text == nfh_ident.HEADER or amt.is_header(first.text)
    if first.value is not None or tabular:
        raise source.error(
            None, f"found rows of another format ({shown(first.text)}), wanted plain text"
        )
