"""What a format cannot hold, said before an export and counted while it runs."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from nfh_db.formats.format import Format, How, What
from nfh_db.records import ExportRecord
from nfh_models.domain import Answer, Origin

SAYS = {
    How.OWN: "in its own terms",
    How.BESIDE: "carried along in the same file",
    How.SIDE: "in a side file",
    How.NO: "not held",
}
"""How something is held, in words, in the order in which it is told."""


def by_how(format_: Format) -> Mapping[How, tuple[What, ...]]:
    """What a format holds in each way; of a format without labels nothing."""
    held = format_.holds or {}
    return {how: tuple(what for what in What if held.get(what) is how) for how in SAYS}


def _answers(record: ExportRecord) -> Iterator[Answer]:
    if record.gold is not None:
        yield record.gold.answer
    yield from (vote.answer for vote in record.votes)


def _any_answer(has: Callable[[Answer], object]) -> Callable[[ExportRecord], bool]:
    return lambda record: any(has(answer) for answer in _answers(record))


HAS: Mapping[What, Callable[[ExportRecord], bool]] = {
    What.KIND: _any_answer(lambda _: True),
    What.HEADS: _any_answer(lambda answer: len(answer.heads) > 1),
    What.RELATION: _any_answer(lambda answer: answer.relation),
    What.ORIGIN: _any_answer(
        lambda answer: any(m.origin is not Origin.MARKED for m in answer.mentions())
    ),
    What.SORT: _any_answer(lambda answer: answer.sort),
    What.NOUN: _any_answer(lambda answer: answer.noun),
    What.COMMENT: _any_answer(lambda answer: answer.comment),
    What.VOTES: lambda record: bool(record.votes),
    What.TIME: lambda record: bool(record.votes),
    What.SEEN: lambda record: any(v.saw_model or v.saw_votes for v in record.votes),
    What.FLAGS: lambda record: bool(record.flags),
    What.GOLD: lambda record: record.gold is not None,
    What.RULE: lambda record: record.gold is not None,
    What.SPLIT: lambda record: record.split is not None,
    What.SPEAKERS: lambda _: True,
    What.SAID_AT: lambda record: any(
        turn.begin is not None or turn.until is not None for turn in record.passage.turns
    ),
    What.TOKENS: lambda _: True,
}
"""Whether an anchor has something that a format may not hold."""


class Losses:
    """Counts the anchors that lose something to a format. counted: of each What, how many."""

    def __init__(self, format_: Format) -> None:
        self.counted: Counter[What] = Counter()
        lost = by_how(format_)[How.NO]
        self._has = tuple((what, HAS[what]) for what in lost)

    def look(self, record: ExportRecord) -> None:
        """Count one record."""
        for what, has in self._has:
            if has(record):
                self.counted[what] += 1
