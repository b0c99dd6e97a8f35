"""Detection of unsupported input, and advice on it.

Files of other kinds would otherwise be read as plain text, and their times and offsets as
numbers that somebody said. Files of removed formats, which earlier versions read, can be
imported in another format.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath

from nfh_db.formats import nfh
from nfh_db.formats.base import First, Format, InputKind
from nfh_db.formats.json_stream import first_keys, first_value
from nfh_db.formats.rows import RELEASE_KEYS
from nfh_db.messages import visible

SUBTITLES = "save it as SubRip (.srt) first, as programs for subtitles do"
WORDS = "save its words as plain text first"
MARK = "\ufeff"

KINDS = (
    (r"<\?xml|<!doctype|<html|<tt[\s>]|<tei[\s>]", "XML or HTML", WORDS),
    (r"\[script info\]", "subtitles of SubStation Alpha", SUBTITLES),
    (r"\{\d+\}\{\d*\}", "subtitles of MicroDVD", SUBTITLES),
    (r"\[\d+\]\[\d*\]", "subtitles of MPL2", SUBTITLES),
    (r"\d+:\d\d:\d\d\.\d{2,3},\d+:\d\d:\d\d\.\d", "subtitles of SubViewer", SUBTITLES),
    (r"\[information\]\s*\n\[title\]", "subtitles of SubViewer", SUBTITLES),
    (
        r"(?:\[(?:ti|ar|al|au|by|re|ve|la|length|offset):[^\]\n]*\]\s*)*\[\d{1,3}:\d\d\.\d{2,3}\]",
        "lyrics with their times (.lrc)",
        WORDS,
    ),
    (r"\{\\rtf", "a document in RTF", WORDS),
    (r"%PDF-", "a PDF document", WORDS),
    (
        r"(?:T\d+\t\S+ \d+ \d+(?:;\d+ \d+)*\t|#\d+\tAnnotatorNotes )",
        "annotations of brat without their text",
        "name the folder in which both are",
    ),
)
FORMS = tuple(
    (re.compile(rf"\s*+(?:{form})", re.ASCII | re.IGNORECASE), what, advice)
    for form, what, advice in KINDS
)


def unsupported(first: First) -> str | None:
    """A sentence on a text of a kind that no format reads; None for other texts."""
    start = first.start.removeprefix(MARK)
    return next(
        (
            f"seems to be {what}, which no format here reads; {advice}, or read it unchanged "
            "with --format dialog"
            for form, what, advice in FORMS
            if form.match(start)
        ),
        None,
    )


# --- files of which no format is sure ---------------------------------------------------------

BINARY = frozenset(
    ".7z .avi .bmp .db .doc .docx .flac .gif .jpeg .jpg .m4a .m4v .mkv .mov .mp3 .mp4 .npy "
    ".npz .odp .ods .odt .ogg .parquet .pdf .pickle .pkl .png .ppt .pptx .pt .spacy .sqlite "
    ".sqlite3 .tif .tiff .wav .webm .webp .xls .xlsx .zip".split()
)
"""Extensions of files of bytes: a text under one of them is not guessed to be a dialog."""

IDENT = re.compile(r"[^\t]+\t\d+\t\d+\t[01]", re.ASCII)
"""A row of the identification files."""


def unclear(first: First, formats: Sequence[Format]) -> str | None:
    """A sentence with the likely formats of a file of which no format is sure; None for files
    that may be guessed.
    """
    if first.takes is not InputKind.TEXT:
        return None
    value = first_value(first)
    if value is not None:
        return _unclear_items(first, value, formats)
    if first.suffix in BINARY:
        return (
            f"holds text, though files called {first.suffix} hold other bytes; name the format "
            "of the text with --format, such as dialog or table"
        )
    is_table = (
        first.text != nfh.HEADER and "\t" in first.text and first.suffix in (".tsv", ".tab")
    )
    if is_table and not IDENT.fullmatch(first.text.strip("\r")):
        return (
            f"may be a table or an nfh-ident file; its first line is "
            f"{visible(first.text, 80)}. --format table with --columns text=NAME,speaker=NAME "
            "reads the rows as turns; "
            "nfh-ident has the header text, ind_s, ind_e, y"
        )
    return None


def _unclear_items(
    first: First, value: Mapping[str, object], formats: Sequence[Format]
) -> str | None:
    """As `unclear`, for a file whose first JSON object is `value`."""
    if first.value is None:
        whole = replace(first, value=dict(value))
        likely = [one.name for one in formats if not one.guess and one.sniff(whole)]
        is_list = first.start.lstrip(f" \t\r\n{MARK}").startswith("[")
        each = "'.[]'" if is_list else "."
        if likely or not (is_list or isinstance(value.get("text"), str)):
            return (
                "holds JSON objects that are laid out over several lines or in a list; "
                f"{' and '.join(likely or ('gold', 'nfh'))} files have one object on each "
                f"line, as jq -c {each} writes them"
            )
    if isinstance(value.get("text"), str) and value.keys().isdisjoint(RELEASE_KEYS):
        others = ", ".join(visible(key, 40) for key in islice(value, 6) if key != "text")
        return (
            f"holds JSON objects with a text and the keys {others or 'none'}, which may be "
            "texts for prodigy or for doccano: --format names one of them, and the rest of an "
            "object is carried along; of talk, convokit reads who speaks (id, speaker, "
            "conversation_id, text)"
        )
    return None


# --- formats that earlier versions read ------------------------------------------------------

CORNELL, HF_JSON = "cornell", "hf-json"
REMOVED = {
    CORNELL: (
        "the Cornell Movie-Dialogs Corpus in the files of its authors is no longer read; take "
        "ConvoKit's release of the same corpus (movie-corpus), which is read as convokit"
    ),
    HF_JSON: (
        "the data set in Hugging Face's JSON is no longer read or written; take its Parquet "
        "files, which are read and written as hf-parquet, or the release's own files, which "
        "are read as nfh"
    ),
}
"""Names of removed formats, and what to use instead."""

SIDE = "gold.jsonl"
"""The side file of an export, with everything that the rows have no column for."""

CORPUS = ("movie_lines.txt", "movie_conversations.txt")
PARTED = re.compile(r"\s*+[^\n]* \+\+\+\$\+\+\+ ")

RESOLUTION, IDENTIFICATION = "resolution", "identification"
ROWS = {
    frozenset(RELEASE_KEYS): RESOLUTION,
    frozenset({"tokens", "start_index", "end_index", "label"}): IDENTIFICATION,
}
"""The configurations of the data set, by the keys of their rows."""

LISTED = re.compile(r"\s*+(?:\[|\{[ \t\r]*\n)")
"""The start of a file without a row on each line: a list, or an object of several lines."""

PAGED = re.compile(r'"rows"\s*:\s*\[\s*\{[^{}]*?"row"\s*:\s*(?=\{)')
"""The text before the first row of a page of the data set viewer."""

DIGITS = re.compile(r'"head"\s*:\s*\[\s*"\d')


def removed(first: First) -> str | None:
    """A sentence on a file of a removed format; None for other files."""
    if first.takes is InputKind.FOLDER:
        return _removed_folder(first.names)
    start = first.start.removeprefix(MARK)
    if PARTED.match(start):
        return f"seems to be of a format that was removed: {REMOVED[CORNELL]}"
    keys = first_keys(start)
    paged = PAGED.search(start) if "rows" in keys else None
    if paged:
        keys = first_keys(start[paged.end() :])
    rows = ROWS.get(frozenset(keys))
    listed = paged is not None or LISTED.match(start) is not None
    # A line of the release has the keys of a resolution row, but integers instead of digits.
    if rows == IDENTIFICATION or (rows == RESOLUTION and (listed or DIGITS.search(start))):
        return f"seems to be of a format that was removed: {REMOVED[HF_JSON]}"
    return None


def _removed_folder(names: Sequence[str]) -> str | None:
    if any(PurePosixPath(name).name in CORPUS for name in names):
        return f"seems to be of a format that was removed: {REMOVED[CORNELL]}"
    if any(map(is_row_file, names)):
        side = next((name for name in names if PurePosixPath(name).name == SIDE), None)
        more = f"; its {visible(side)} holds all of an export: import that file" if side else ""
        return f"seems to be of a format that was removed: {REMOVED[HF_JSON]}{more}"
    return None


def is_row_file(name: str) -> bool:
    """True for a member with rows of the data set in JSON: it is in the folder of a
    configuration.
    """
    path = PurePosixPath(name)
    within = {parent.name for parent in path.parents}
    return path.suffix.lower() in (".jsonl", ".json") and not within.isdisjoint(ROWS.values())
