"""Names of files that are called after annotators, and back."""

import hashlib
import re
from urllib.parse import unquote

ALL = "all"
"""The file of a project whose annotators share their answers."""

UNFIT = re.compile(r'[/\\:*?"<>|%]|^\.|\.$')
LONGEST = 120
"""Bytes of a file's name that its system is sure to take, with room for what ends it."""


def file_name(annotator: str) -> str:
    """The name of the file of an annotator, without its end.

    What no file system takes is written as "%2F"; a name that is too long is cut, with a hash
    in place of the rest.
    """
    name = UNFIT.sub(lambda found: f"%{ord(found[0]):02X}", annotator)
    if name.casefold() == ALL:
        name = f"%{ord(name[0]):02X}{name[1:]}"
    raw = name.encode("utf-8")
    if len(raw) <= LONGEST:
        return name
    digest = hashlib.sha256(annotator.encode("utf-8")).hexdigest()[:8]
    return f"{raw[:LONGEST].decode('utf-8', 'ignore')}~{digest}"


def who_of(stem: str) -> str:
    """The annotator whose file is called so."""
    return unquote(stem)
