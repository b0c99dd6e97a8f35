"""From a recipe's choice to a whole answer: heads with all their mentions, and AND or OR."""

from nfh_models.resolution.several.decoding import decode

__all__ = ["decode"]
