"""Which documents a brat project holds, in which folders, and whose those are."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nfh_db.formats.brat_side import GOLD, SUFFIX, Party, Side
from nfh_db.formats.fields import A_NAME, is_a_name
from nfh_db.formats.folders import Folder
from nfh_db.formats.grid import MarkError
from nfh_db.formats.splits import SPLITS
from nfh_db.formats.wording import shown, visible

TEXT, ANN = ".txt", ".ann"


@dataclass(frozen=True, slots=True)
class Name:
    """A document in a folder. folder: "" at the top. base: its path without suffix."""

    folder: str
    base: str


def documents(source: Folder) -> dict[str, list[Name]]:
    """The folders of each document, by its name and in that order; gold's folder first.

    Raises FormatError for an `.ann` or side file without its text, and for one whose name
    ends in capitals, which brat would not read either.
    """
    for name in source.names:
        end = PurePosixPath(name).suffix
        if end.lower() in (TEXT, ANN) and end != end.lower():
            raise source.member_error(
                name, None, f"found the ending {end}, wanted {end.lower()}: rename it"
            )
    bases = [name.removesuffix(TEXT) for name in source.names if name.endswith(TEXT)]
    texts = set(bases)
    marked = [name.removesuffix(ANN) for name in source.names if name.endswith(ANN)]
    for suffix in (ANN, SUFFIX):
        for name in source.names:
            base = name.removesuffix(suffix)
            if name.endswith(suffix) and base not in texts:
                raise source.member_error(
                    name, None, f"has no text; wanted {visible(base, 200)}{TEXT} beside it"
                )
    depth = _wrapped(marked or bases)
    found: dict[str, list[Name]] = {}
    for base in bases:
        parts = PurePosixPath(base).parts[depth:]
        folder = parts[0] if len(parts) > 1 else ""
        found.setdefault("/".join(parts[1:] or parts), []).append(Name(folder, base))
    for names in found.values():
        names.sort(key=lambda name: (name.folder not in ("", GOLD), name.folder))
    return dict(sorted(found.items()))


def _wrapped(bases: Sequence[str]) -> int:
    """How many folders are around a whole project: those that hold one folder and no more."""
    parts = [PurePosixPath(base).parts for base in bases]
    depth = 0
    while all(len(one) > depth + 2 and one[depth] == parts[0][depth] for one in parts):
        depth += 1
    return depth


def split_of_folder(folder: str) -> str | None:
    """The split whose name a folder has: parts of a corpus are kept in such folders."""
    return folder.lower() if folder.lower() in SPLITS else None


def party_of(folder: str, side: Side | None) -> Party:
    """Whose a folder is: whoever's it was exported as, as long as it has its name still.

    Nobody is called like a split: its folder holds what counts.

    Raises MarkError for a folder that is called like nobody can be.
    """
    if side is not None and folder in ("", side.folder):
        party = side.party
        if party.name is not None and not is_a_name(party.name):
            raise MarkError(f"its side file is of {shown(party.name)}, wanted {A_NAME}")
        return party
    if folder in ("", GOLD) or split_of_folder(folder):
        return Party(None)
    if not is_a_name(folder):
        raise MarkError(f"is in the folder {shown(folder)}, wanted {A_NAME}")
    return Party(folder)
