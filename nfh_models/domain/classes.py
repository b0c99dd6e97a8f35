"""The seven classes in which the paper counts annotators' agreement (section 5.3)."""

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
