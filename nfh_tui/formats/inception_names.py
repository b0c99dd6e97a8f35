"""Where things stand in the project that INCEpTION exports, and whose they are.

source/DOCUMENT is what was imported into a project; annotation/DOCUMENT/NAME.json is what NAME
marked, annotation/DOCUMENT/INITIAL_CAS.json the document as it was given to all, and
curation/DOCUMENT/CURATION_USER.json what counts
(https://inception-project.github.io, user's guide, "Project export"). Where a document takes
more than one file (XMI and its type system), NAME.zip holds them.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

INITIAL, CURATION = "INITIAL_CAS", "CURATION_USER"
SOURCE = "source"
NAME_BYTES = 200
SAFE = " !#$&'()+,;=@[]{}~"


class Part(StrEnum):
    """What a member of a project is: everybody's document, somebody's, the curated one, or
    one that stands for itself."""

    INITIAL = "initial"
    USER = "user"
    CURATION = "curation"
    LOOSE = "loose"


@dataclass(frozen=True, slots=True)
class Member:
    """A document in a folder. document: what it is of. user: as its name says; "" for none."""

    name: str
    document: str
    part: Part
    user: str = ""


def folder_of(document: str, *, gold: bool = False) -> str:
    """The folder of a document's files."""
    return f"{'curation' if gold else 'annotation'}/{document}"


def user_file(name: str) -> str:
    """The name of somebody's file, without its end: their own, with what file systems do not
    take as % and two digits, and a hash in place of one that is too long.
    """
    found = "".join(c if c.isalnum() else quote(c, safe=SAFE) for c in name)
    if found in (INITIAL, CURATION) or found.startswith("."):
        found = f"%{ord(found[0]):02X}{found[1:]}"
    if len(found.encode()) > NAME_BYTES:
        return f"user-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
    return found


def user_of(stem: str) -> str:
    """The name that a file's name means: the reverse of `user_file` where it can be."""
    name = unquote(stem)
    return name if user_file(name) == stem else stem


def member_of(name: str) -> Member:
    """What a member is, by where it stands."""
    parts = name.split("/")
    stem = parts[-1].rpartition(".")[0]
    place = parts[-3] if len(parts) > 2 else ""
    if place == "curation":
        return Member(name, parts[-2], Part.CURATION)
    if place != "annotation":
        return Member(name, name, Part.LOOSE)
    if stem == INITIAL:
        return Member(name, parts[-2], Part.INITIAL)
    if stem == CURATION:
        return Member(name, parts[-2], Part.CURATION)
    return Member(name, parts[-2], Part.USER, user_of(stem))


def documents(names: Iterable[str]) -> list[str]:
    """The members that are documents; those under source only where there are no others."""
    found: list[str] = []
    sources: list[str] = []
    for name in names:
        *folders, last = name.split("/")
        if last == "exportedproject.json" or "log" in folders:
            continue
        (sources if SOURCE in folders else found).append(name)
    return found or sources


def unopened(names: Iterable[str], members: Iterable[Member]) -> list[str]:
    """The documents under source of which nobody has a file: they have no answers."""
    known = {member.document for member in members} | {member.name for member in members}
    parts = [(name, name.split("/")) for name in names]
    return [
        name
        for name, (*folders, last) in parts
        if folders[-1:] == [SOURCE] and last not in known and name not in known
    ]


def types_beside(names: Iterable[str], document: str) -> str | None:
    """The type system of an XMI member, by its name: TypeSystem.xml, or else another file named
    after types, in its folder or the nearest one that holds that. None where there is none, and
    for JSON, which needs none.
    """
    if document.lower().endswith(".json"):
        return None
    within = document.split("/")[:-1]
    found = []
    for name in names:
        *folders, last = name.split("/")
        stem, _, end = last.lower().rpartition(".")
        if end == "xml" and "type" in stem and folders == within[: len(folders)]:
            found.append((stem != "typesystem", -len(folders), name))
    return min(found)[2] if found else None
