"""The old name of `spans`, for plug-ins that import it; use `nfh_db.formats.spans`."""

from nfh_db.formats.spans import MarkError, based, checked, without_space
from nfh_db.formats.spans import TokenAlignment as Grid
from nfh_db.formats.spans import TokenizedText as Based

__all__ = ["Based", "Grid", "MarkError", "based", "checked", "without_space"]
