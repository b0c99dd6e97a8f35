"""The currency filter: an amount with its sign has nothing missing."""

from nfh_models.identification.rules_view import View
from nfh_models.identification.rules_words import SIGNS_AFTER, SIGNS_BEFORE

_GLUED = frozenset("$\u00a3\u20ac\u00a5%")


def has_sign(view: View) -> bool:
    """A sign of money, # or % right before the number, right behind it, or in its token."""
    if view.low(view.start - 1) in SIGNS_BEFORE or view.low(view.behind) in SIGNS_AFTER:
        return True
    first, last = view.lows[view.start], view.lows[view.end - 1]
    return not _GLUED.isdisjoint((first[0], first[-1], last[-1]))
