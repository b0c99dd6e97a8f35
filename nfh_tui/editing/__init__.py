"""An answer being edited, as a pure state machine: no screen, no store.

`begin` gives the state of an item when it is opened, `act` and `key` the state after an
act or a key, `answer` what would be committed, `dump` and `load` the draft.
"""

from nfh_tui.editing.acts import ACTIONS, MOVES, act, key, prompt
from nfh_tui.editing.adopt import is_models
from nfh_tui.editing.begin import begin
from nfh_tui.editing.blinding import blinded
from nfh_tui.editing.cursor import move_to
from nfh_tui.editing.describe import describe, head_words, pattern_words
from nfh_tui.editing.drafts import dump, load
from nfh_tui.editing.finish import answer
from nfh_tui.editing.hints import candidates, open_hints, token_scores
from nfh_tui.editing.kinds import set_comment, set_noun
from nfh_tui.editing.state import (
    Aside,
    Content,
    DraftError,
    EditState,
    Heads,
    Outcome,
    Pending,
    Review,
    Source,
)
from nfh_tui.editing.tagging import gold_vote, set_tag, tag_of
from nfh_tui.editing.votes import (
    Proposal,
    after_deciding,
    annotators_votes,
    model_answer,
    proposal,
    withheld,
)

__all__ = [
    "ACTIONS",
    "MOVES",
    "Aside",
    "Content",
    "DraftError",
    "EditState",
    "Heads",
    "Outcome",
    "Pending",
    "Proposal",
    "Review",
    "Source",
    "act",
    "after_deciding",
    "annotators_votes",
    "answer",
    "begin",
    "blinded",
    "candidates",
    "describe",
    "dump",
    "gold_vote",
    "head_words",
    "is_models",
    "key",
    "load",
    "model_answer",
    "move_to",
    "open_hints",
    "pattern_words",
    "prompt",
    "proposal",
    "set_comment",
    "set_noun",
    "set_tag",
    "tag_of",
    "token_scores",
    "withheld",
]
