"""The vocabulary shared by all packages: passages, anchors, answers, their comparison, and the
rules of settlement.

It imports only the standard library. Offsets in text are Unicode code points, spans of tokens
are token indices; both are half-open: [start, end). This is the only package that re-exports:
import its names from here.
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
from nfh_models.domain.settlement import (
    LEAD,
    MOST_ACCURACY,
    POSSIBLE_ANSWERS,
    Reason,
    Settled,
    SettlingRule,
    settle,
    weighed_groups,
    weight,
)

__all__ = [
    "IMPLICIT_KINDS",
    "LEAD",
    "MOST_ACCURACY",
    "PAPER_CLASSES",
    "POSSIBLE_ANSWERS",
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
    "paper_class",
    "reference_answer",
    "rule_id",
    "rule_words",
    "same_head",
    "settle",
    "tag_forms",
    "weighed_groups",
    "weight",
]
