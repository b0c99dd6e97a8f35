"""The formats that need nothing but this package. `nfh_tui.formats` has the list of all."""

from collections.abc import Callable, Iterator, Sequence

from nfh_db.formats import amt, dialog, gold, nfh, nfh_ident
from nfh_db.formats.format import (
    LISTED,
    OBJECT,
    First,
    Format,
    How,
    Reader,
    Takes,
    holds,
)
from nfh_db.formats.gold_form import FORMAT as GOLD_VERSION
from nfh_db.formats.gold_form import GoldWriter
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Origin, Source
from nfh_db.formats.release import ReleaseWriter
from nfh_db.formats.rows import Row
from nfh_db.formats.strangers import removed, stranger
from nfh_db.formats.wording import shown

__all__ = ["First", "Format"]


def _without_settings(read: Callable[[Source], Iterator[Row]]) -> Reader:
    """A reader that needs no more than the file."""

    def without(source: Source, how: Reading | None = None) -> Iterator[Row]:  # noqa: ARG001
        return read(source)

    return without


def _sniff_gold(first: First) -> str | None:
    if first.value is None or "format" not in first.value:
        return None
    return "its first line is a JSON object that names its format"


def _sniff_nfh(first: First) -> str | None:
    if first.value is not None:
        return "its first line is a JSON object"
    if OBJECT.match(first.text):
        return "its first line starts like a JSON object"
    if first.suffix in (".jsonl", ".json") and not LISTED.match(first.start):
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
    if first.suffix == ".csv" or LISTED.match(first.start) or stranger(first) is not None:
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
    read=_without_settings(nfh.read),
    sniff=_sniff_nfh,
    guess=True,
    writer=lambda how: ReleaseWriter(how.mentions),
    holds=holds(
        How.NO, KIND=How.OWN, HEADS=How.OWN, GOLD=How.OWN, SPEAKERS=How.OWN, TOKENS=How.OWN
    ),
    limits="UNKNOWN is written as OTHER; NOT_NFH, BROKEN, NFH and undecided are left out",
)
NFH_IDENT = Format(
    name="nfh-ident",
    extensions=(".tsv",),
    description=(
        "the release's identification files: tab-separated, with 1 for an NFH and 0 for none"
    ),
    example="No_SEP_,_SEP_three_SEP_.\t2\t3\t1",
    read=_without_settings(nfh_ident.read),
    sniff=_sniff_ident,
    guess=True,
)
DIALOG = Format(
    name="dialog",
    extensions=(".txt",),
    description="plain text: one turn a line, a blank line between passages",
    example="Ben: No, three.",
    read=_without_settings(dialog.read),
    sniff=_sniff_dialog,
    guess=True,
    labelled=False,
    settings=frozenset({"encoding", "window"}),
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
    read=_without_settings(gold.read),
    sniff=_sniff_gold,
    writer=lambda how: GoldWriter(how.mentions),
    carries_split=True,
    holds=holds(How.OWN),
)

AMT = Format(
    name="amt",
    extensions=(".csv",),
    description=(
        "the results of a Mechanical Turk batch: a CSV file, each row one worker's answer"
    ),
    example='A1B2C3,"Ann: Two tickets?<br>Ben: No, three.",three,1,tickets,9;16',
    read=_without_settings(amt.read),
    sniff=_sniff_amt,
    names_people=True,
)

FORMATS: tuple[Format, ...] = (NFH, NFH_IDENT, DIALOG, GOLD, AMT)
BY_NAME = {format_.name: format_ for format_ in FORMATS}
READABLE = tuple(format_.name for format_ in FORMATS)
WRITABLE = tuple(format_.name for format_ in FORMATS if format_.writable)


def sniffed(
    source: Origin, first: First, formats: Sequence[Format]
) -> tuple[Format, str] | None:
    """The format that fits what was seen of a file, and why; those that only guess come last,
    in the order given.

    Raises FormatError for a file of a removed format that no format is sure of.
    """
    fit = [format_ for format_ in formats if first.takes in format_.takes]
    for guess in (False, True):
        for format_ in fit:
            if format_.guess is guess and (reason := format_.sniff(first)):
                return format_, reason
        if not guess and (other := removed(first)) is not None:
            raise source.error(None, other)
    return None


def recognise(source: Source, formats: Sequence[Format] = FORMATS) -> tuple[Format, str]:
    """The format a text's content shows, and why. Raises FormatError if none fits."""
    first = First.of(source)
    found = sniffed(source, first, formats)
    if found is None:
        other = stranger(first)
        if other is not None:
            raise source.error(None, other)
        names = ", ".join(format_.name for format_ in formats if Takes.TEXT in format_.takes)
        raise source.error(
            None,
            f"its format is not known: it starts with {shown(first.text)}; "
            f"name one with --format: {names}",
        )
    return found


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
