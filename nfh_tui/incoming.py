"""Rows of a file made into passages: tokens, lemmas, number spans, heads by noun."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from nfh_db.clock import now
from nfh_db.formats.reading import Origin
from nfh_db.formats.rows import (
    AssignmentRow,
    DialogBlock,
    GoldRow,
    LabelledRow,
    RawPassage,
    Row,
)
from nfh_db.formats.wording import counted
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Role, Rule, Vote
from nfh_models.domain import (
    Anchor,
    Answer,
    Kind,
    Mention,
    Passage,
    class_answer,
    reference_answer,
)
from nfh_models.text.numbers import find_numbers
from nfh_tui.incoming_text import Spoken, passage_of, passage_of_turns, spoken
from nfh_tui.incoming_windows import Cut, windows

__all__ = ["PassageMaker", "passage_of"]

AS_GIVEN = "as given"
"""The tokenizer of passages whose file came with tokens."""


class PassageMaker:
    """Makes the store's passages of one file's rows.

    split: of every anchor; None leaves it to the row. annotator: None makes the file's
    labels gold; a name makes them that person's answers. window: turns before and after a
    number's own that make its passage, of raw dialog; None for whole scenes. named: the split
    that the file's name says, of raw dialog and of foreign rows in files whose rows can say
    one. What a person should know about the file is added to the source's warnings when the
    last row is through.
    """

    def __init__(
        self,
        source: Origin,
        split: str | None,
        annotator: str | None,
        window: tuple[int, int] | None = None,
        named: str | None = None,
    ) -> None:
        self.source = source
        self.window = window
        self.split = split
        self.named = named
        self.annotator = annotator
        self.at = now()
        self.votes_left = 0
        self.blocks_left = 0
        self._latest: tuple[RawPassage, Passage] | None = None

    def passages(self, rows: Iterable[Row]) -> Iterator[IncomingPassage]:
        """One passage a row, in the file's order; dialogs without a number are left out, and
        with a window those with one are a passage for each turn that holds one.

        The rows of a batch become one passage for each context, once all are read.
        """
        assignments: list[AssignmentRow] = []
        for row in rows:
            if isinstance(row, AssignmentRow):
                assignments.append(row)
            elif isinstance(row, LabelledRow):
                yield self._labelled(row)
            elif isinstance(row, GoldRow):
                yield self._gold(row)
            else:
                yield from self._dialog(row)
        if assignments:
            from nfh_tui.incoming_amt import BatchMaker

            yield from BatchMaker(self.source, self.split, self.at).passages(assignments)
        self._warn()

    def _warn(self) -> None:
        if self.votes_left:
            self.source.warnings.append(
                f"{counted(self.votes_left, 'answer')} of the file left out: with an annotator "
                "named, the file's gold comes in as that person's answers and nothing else"
            )
        if self.blocks_left:
            self.source.warnings.append(
                f"{counted(self.blocks_left, 'passage')} without a number left out"
            )

    # --- rows with tokens -----------------------------------------------------------------

    def _labelled(self, row: LabelledRow) -> IncomingPassage:
        passage = passage_of(row.passage)
        if row.kind is Kind.REFERENCE:
            gold = Gold(_by_noun(row.head_tokens, passage), Rule.IMPORTED)
        else:
            gold = _imported_class(row.kind)
        anchor = IncomingAnchor(
            row.line,
            row.anchor,
            row.labels,
            self.split or row.split,
            gold if self.annotator is None else None,
            self._votes(gold),
        )
        return IncomingPassage(passage, AS_GIVEN, (anchor,))

    def _gold(self, row: GoldRow) -> IncomingPassage:
        if self.annotator is None:
            gold, votes = row.gold, row.votes
        else:
            self.votes_left += len(row.votes)
            gold, votes = None, self._votes(row.gold)
        split = self.split or row.split
        if split is None and row.foreign:
            split = self.named
        anchor = IncomingAnchor(
            row.line, row.anchor, row.labels, split, gold, votes, row.flags, _before(votes)
        )
        tokenizer = row.tokenizer or AS_GIVEN
        return IncomingPassage(self._passage(row.passage), tokenizer, (anchor,))

    def _passage(self, raw: RawPassage) -> Passage:
        """The passage of a row: the one of the row before if both are of the same.

        A text may hold thousands of numbers: it is then checked and hashed once, not at each.
        """
        if self._latest is None or self._latest[0] is not raw:
            self._latest = (raw, passage_of(raw))
        return self._latest[1]

    def _votes(self, gold: Gold | None) -> tuple[Vote, ...]:
        """What the file says as the answer of the annotator named; none if nobody is."""
        if self.annotator is None or gold is None:
            return ()
        at = gold.decided_at or self.at
        return (Vote(self.annotator, Role.ANNOTATOR, gold.answer, at),)

    # --- plain text -----------------------------------------------------------------------

    def _dialog(self, block: DialogBlock) -> Iterator[IncomingPassage]:
        """The passages of a block; none, and counted, if no number stands in it."""
        from nfh_models.text.tokenize import tokenizer_name

        turns = spoken(block)
        anchors = [self._anchors(block, turn) for turn in turns]
        if not any(anchors):
            self.blocks_left += 1
            return
        if self.window is None:
            cuts = iter([Cut(block.text, turns, tuple(chain.from_iterable(anchors)))])
        else:
            cuts = windows(block, turns, anchors, self.window)
        for cut in cuts:
            passage = passage_of_turns(cut.text, cut.turns)
            yield IncomingPassage(passage, tokenizer_name(), cut.anchors)

    def _anchors(self, block: DialogBlock, turn: Spoken) -> list[IncomingAnchor]:
        """The numbers of one turn."""
        words = [block.text[start:end] for start, end in turn.tokens]
        glued = [False, *(one[1] == two[0] for one, two in pairwise(turn.tokens))]
        return [
            IncomingAnchor(
                turn.turn.line,
                Anchor(start + turn.start, end + turn.start),
                labels=block.labels,
                split=self.split or block.split or self.named,
            )
            for start, end in find_numbers(words, glued)
        ]


def _before(votes: Sequence[Vote]) -> tuple[Vote, ...]:
    """Annotators' answers that a file kept along, and that were changed elsewhere since.

    Where one of them still stands here, the change goes on from it. An adjudicator's answer
    stays: gold points to it.
    """
    return tuple(
        vote.after for vote in votes if vote.after is not None and vote.role is Role.ANNOTATOR
    )


@lru_cache(maxsize=16)
def _imported_class(kind: Kind) -> Gold:
    return Gold(class_answer(kind), Rule.IMPORTED)


def _by_noun(head_tokens: Sequence[int], passage: Passage) -> Answer:
    """A Reference to tokens that a file lists without saying which name the same noun.

    Tokens of one lemma are mentions of one head. Several heads: relation UNSTATED.
    """
    heads: dict[str, list[Mention]] = {}
    for token in head_tokens:
        mention = Mention(token, token + 1, token)
        heads.setdefault(passage.tokens[token].lemma.casefold(), []).append(mention)
    return reference_answer(heads.values())
