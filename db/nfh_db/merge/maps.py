"""Ids of the other copy in the terms of this one.

What is new here has no id yet while a merge is planned: it is stood for by its own id in
the other copy with a minus sign.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from nfh_db.errors import StoreError
from nfh_db.values import (
    AnchorValue,
    AnswerValue,
    FlagValue,
    GoldValue,
    Value,
    decode_anchor,
    decode_answer,
    decode_flag,
    decode_gold,
)

BATCH = re.compile(r'"batch":(\d+)')
"""Where a value of the log names its import; inside a string the quotes are escaped."""

Times = Mapping[tuple[str, str], str]
"""When this copy has an answer, by annotator and by when the other copy has it."""


class DamagedError(StoreError):
    """A copy whose log does not hold."""


@dataclass(slots=True)
class Maps:
    """From ids there to ids here. names: of everybody there, by id there."""

    names: dict[int, str] = field(default_factory=dict)
    people: dict[int, int] = field(default_factory=dict)
    batches: dict[int, int] = field(default_factory=dict)
    passages: dict[int, int] = field(default_factory=dict)
    anchors: dict[int, int] = field(default_factory=dict)

    def value(self, entity: str, text: str | None, times: Times | None = None) -> Value | None:
        """A value of the other copy's log, in this one's terms. Raises DamagedError."""
        try:
            found = decoded(entity, text)
            if isinstance(found, AnchorValue):
                return self._anchor(found)
            return found and self._of_batch(found, times or {})
        except KeyError as error:
            raise DamagedError(
                f"a change in its log names row {error} that is not there: {text}"
            ) from error

    def _anchor(self, value: AnchorValue) -> AnchorValue:
        return AnchorValue(
            self.passages[value.passage],
            value.start,
            value.stop,
            value.replaces and self.anchors[value.replaces],
            value.replaced_by and self.anchors[value.replaced_by],
        )

    def _of_batch(
        self, value: AnswerValue | GoldValue | FlagValue, times: Times
    ) -> AnswerValue | GoldValue | FlagValue:
        changed: dict[str, object] = {}
        if value.batch is not None:
            changed["batch"] = self.batches[value.batch]
        if isinstance(value, GoldValue) and value.votes and times:
            votes = [(name, times.get((name, at), at)) for name, at in value.votes]
            changed["votes"] = tuple(sorted(votes))
        return msgspec.structs.replace(value, **changed) if changed else value

    def same_text(self, text: str | None) -> bool:
        """True if a value that names neither passage nor anchor is spelt the same here."""
        if text is None or '"batch":' not in text:
            return True
        found = BATCH.search(text)
        return found is not None and self.batches.get(int(found[1])) == int(found[1])


def decoded(entity: str, text: str | None) -> Value | None:
    """A value of the log. Raises DamagedError for what is none."""
    try:
        if entity == "answer":
            return decode_answer(text)
        if entity == "gold":
            return decode_gold(text)
        if entity == "flag":
            return decode_flag(text)
        return decode_anchor(text)
    except msgspec.DecodeError as error:
        raise DamagedError(f"a change in its log cannot be read ({error})") from error
