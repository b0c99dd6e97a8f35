"""Words in a row, as a parser gets them."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfh_models.domain import Passage


@dataclass(frozen=True, slots=True)
class Stretch:
    """Tokens to be parsed. spaces[i]: white space follows token i; the tags depend on it."""

    words: Sequence[str]
    spaces: Sequence[bool]

    @classmethod
    def of(cls, passage: Passage, start: int = 0, end: int | None = None) -> "Stretch":
        """Tokens [start, end) of a passage; all of them by default."""
        tokens = passage.tokens[start:end]
        text = passage.text
        return cls(
            [text[token.start : token.end] for token in tokens],
            [text[token.end : token.end + 1].isspace() for token in tokens],
        )
