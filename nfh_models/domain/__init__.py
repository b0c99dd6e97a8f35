"""The vocabulary that all packages share: passage, turn, anchor, answer, head, mention; how
answers compare, and the rules of settlement.

Imports the standard library only. Offsets in text are Unicode code points, end-exclusive;
spans of tokens are token indices, end-exclusive.
"""

from nfh_models.domain.answer import (
    IMPLICIT_KINDS,
    PAPER_CLASSES,
    RELEASE_CLASSES,
    Answer,
    AnswerError,
    Head,
    Kind,
    Mention,
    Origin,
    Relation,
    Sort,
    class_answer,
    identified,
    paper_class,
    reference_answer,
)
from nfh_models.domain.compare import (
    Blocking,
    Comparison,
    DifferenceNote,
    ItemDisagreement,
    PairDifference,
    compare,
    compare_all,
    same_head,
)
from nfh_models.domain.passage import (
    Anchor,
    Passage,
    PassageError,
    Token,
    Turn,
    anchor_id,
    rule_id,
    rule_words,
    tag_forms,
)
from nfh_models.domain.settlement import Reason, Settled, SettlingRule, settle

__all__ = [
    "IMPLICIT_KINDS",
    "PAPER_CLASSES",
    "RELEASE_CLASSES",
    "Anchor",
    "Answer",
    "AnswerError",
    "Blocking",
    "Comparison",
    "DifferenceNote",
    "Head",
    "ItemDisagreement",
    "Kind",
    "Mention",
    "Origin",
    "PairDifference",
    "Passage",
    "PassageError",
    "Reason",
    "Relation",
    "Settled",
    "SettlingRule",
    "Sort",
    "Token",
    "Turn",
    "anchor_id",
    "class_answer",
    "compare",
    "compare_all",
    "identified",
    "paper_class",
    "reference_answer",
    "rule_id",
    "rule_words",
    "same_head",
    "settle",
    "tag_forms",
]
