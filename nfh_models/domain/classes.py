"""What a kind says: the paper's seven classes (section 5.3), and whether a noun is missing."""

from nfh_models.domain.answer import IMPLICIT_KINDS, Kind

PAPER_CLASSES: tuple[Kind, ...] = (Kind.REFERENCE, *IMPLICIT_KINDS)
"""REFERENCE, then the six implicit classes; OTHER holds UNKNOWN, too."""


def paper_class(kind: Kind) -> Kind | None:
    """The class of the paper that a kind falls in.

    UNKNOWN is OTHER. None for what the paper's annotators could not say: NOT_NFH, BROKEN,
    and NFH, which names no class.
    """
    if kind is Kind.UNKNOWN:
        return Kind.OTHER
    return kind if kind in PAPER_CLASSES else None


def identified(kind: Kind) -> bool | None:
    """Whether a kind says that the number's noun is missing; None for BROKEN, which says
    neither."""
    if kind is Kind.BROKEN:
        return None
    return kind is not Kind.NOT_NFH
