"""Kinds and classes as numbers: the columns of every table here."""

from nfh_models.domain import PAPER_CLASSES, Blocking, Kind

CODED: tuple[Kind, ...] = tuple(Kind)
"""Every kind by its code: REFERENCE 0, YEAR 1 … UNKNOWN 7, NOT_NFH 8, BROKEN 9, NFH 10."""

CODE: dict[Kind, int] = {kind: code for code, kind in enumerate(CODED)}

KINDS: tuple[Kind, ...] = CODED[: CODE[Kind.NFH]]
"""What a vote may name, by code. NFH names nothing, and could become any but NOT_NFH."""

CLASSES = PAPER_CLASSES
"""The paper's seven classes; their codes are those of the kinds, and UNKNOWN is OTHER."""

BLOCKING: tuple[Blocking, ...] = tuple(Blocking)
"""Differences by code, strongest first."""

REFERENCE = CODE[Kind.REFERENCE]
OTHER = CODE[Kind.OTHER]
UNKNOWN = CODE[Kind.UNKNOWN]
NOT_NFH = CODE[Kind.NOT_NFH]
BROKEN = CODE[Kind.BROKEN]
NFH = CODE[Kind.NFH]
EQUAL = -1
"""Stands in a column of differences where nothing blocks."""
