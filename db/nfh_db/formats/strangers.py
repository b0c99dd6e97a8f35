"""Files of other kinds that would pass for plain text, and what to do with them.

A wrong reading of them is worse than none: a time or an offset would count as a number that
somebody said.
"""

import re

from nfh_db.formats.format import First

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
        r"[^\n]* \+\+\+\$\+\+\+ ",
        "a part of the Cornell Movie-Dialogs Corpus without what is said",
        "name its folder, or movie_lines.txt",
    ),
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


def stranger(first: First) -> str | None:
    """What a text plainly is that no format here reads, and what to do; None of others."""
    start = first.start.removeprefix(MARK)
    return next(
        (
            f"seems to be {what}, which no format here reads; {advice}, or read it as it "
            "stands with --format dialog"
            for form, what, advice in FORMS
            if form.match(start)
        ),
        None,
    )
