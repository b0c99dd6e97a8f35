"""Looking at what comes from the other copy before it is written: that may be damaged."""

from collections.abc import Sequence

from nfh_db.connection import Connection
from nfh_db.merge.maps import DamagedError, decoded
from nfh_db.merge.plan import Coming
from nfh_db.merge.sides import PassageRow
from nfh_db.records import FlagMark, FlagName
from nfh_db.values import (
    AnchorValue,
    FlagValue,
    answer_of,
    decode_passage,
)
from nfh_models.domain import Anchor, AnswerError, PassageError

TEXT = """
SELECT p.text, t.offsets, t.lemmas, t.turns, t.tokenizer
FROM passage AS p JOIN passage_token AS t ON t.passage_id = p.id WHERE p.id = :id"""
TOKENS = "SELECT length(offsets) / 8 FROM passage_token WHERE passage_id = :id"


class Checker:
    """Looks at passages and values of the other copy. Raises DamagedError."""

    def __init__(self, there: Connection) -> None:
        self._there = there
        self._last = (0, 0)

    def passage(self, row: PassageRow) -> tuple[str, Sequence[object]]:
        """Text, and offsets, lemmas, turns and tokenizer as the table holds them."""
        found = self._there.execute(TEXT, {"id": row.id}).fetchone()
        try:
            if found is None or decode_passage(*found[:4]).digest != row.digest:
                raise DamagedError(
                    f"its passage {row.id} is not the one that its hash names: "
                    "run `nfh-tui doctor` there. Nothing was merged"
                )
        except (PassageError, ValueError) as error:
            raise DamagedError(
                f"its passage {row.id} does not hold ({error}): run `nfh-tui "
                "doctor` there. Nothing was merged"
            ) from error
        return found[0], found[1:]

    def value(self, coming: Coming, text: str | None) -> None:
        """Raise unless a value fits the passage that it is about."""
        value = decoded(coming.event.entity, text)
        if value is None or isinstance(value, AnchorValue):
            return
        span = coming.span
        tokens = self._tokens(span.passage)
        try:
            if isinstance(value, FlagValue):
                proposal = value.span and Anchor(*value.span)
                mark = FlagMark(FlagName(coming.event.name), "", value.at, proposal)
                trouble = mark.trouble(Anchor(span.start, span.stop), tokens)
            else:
                answer_of(value).check(tokens, span.start, span.stop)
                trouble = ""
        except (AnswerError, ValueError) as error:
            raise self._misfit(coming, str(error)) from error
        if trouble:
            raise self._misfit(coming, trouble)

    @staticmethod
    def _misfit(coming: Coming, what: str) -> DamagedError:
        return DamagedError(
            f"change {coming.event.id} of its log does not fit its passage ({what}): run "
            "`nfh-tui doctor` there. Nothing was merged"
        )

    def _tokens(self, passage: int) -> int:
        """Tokens of a passage; what comes next is often of the same."""
        if self._last[0] != passage:
            row = self._there.execute(TOKENS, {"id": passage}).fetchone()
            self._last = passage, row[0]
        return self._last[1]
