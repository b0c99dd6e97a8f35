"""Tables of the keys and orders of the query language, for all roles and for annotators.

Help, completion, messages and `docs/queries.md` read these tables.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from nfh_db.records import AnchorState, FlagName, Role, Rule
from nfh_models.domain import IMPLICIT_KINDS, Blocking, DifferenceNote, Kind

SORTS: dict[str, str] = {
    "order": "the order of the passages in their files (the default)",
    "disagree": "strongest disagreement first",
    "uncertain": "where the active model's first two choices are closest; unpredicted last",
    "entropy": "where the active model is most undecided between all candidates; others last",
    "conflict": "by margin where the active model contradicts gold, widest first; others last",
    "doubt": "gold that is least likely to a model that did not see it; others last",
    "models": "where the active model and another choose differently; models/NAME says which",
    "gain": "where a decision most likely changes what votes and model say; decided items last",
    "rare": "undecided only: predicted kinds with little gold first",
    "votes": "fewest votes first",
    "anchor": "by the anchor's words",
    "random": "shuffled, the same each time; random/7 is another shuffle",
    "nfh": "where identification is least sure, its score closest to 0; decided by rule last",
    "assigned": "in the order in which they were assigned to you; others last",
}

MODEL_SORTS = ("uncertain", "entropy", "conflict", "doubt", "models", "gain", "rare", "nfh")
"""Orders that depend on predictions."""

SORTS_WITH_MODEL = ("models",)
"""Orders that may be followed by a slash and the name of a model."""

NONE = "none"
GOLD = "gold"
VOTES = "votes"
PROPOSAL = "proposal"
ANY = "any"
SKIPPED = "skipped"
ME_WORD = "me"
NOBODY = "nobody"


class KeyArgument(StrEnum):
    """The kind of value that a key takes."""

    CHOICE = "choice"
    """One of a closed list. Case does not matter."""
    NUMBER = "number"
    """A whole number, compared."""
    SHARE = "share"
    """A number from 0 to 1, compared."""
    TAG = "tag"
    """Number of a rule of the guidelines, with or without R before it."""
    IDS = "ids"
    """Ids of anchors in this database."""
    FREE = "free"
    """Any text."""
    PATTERN = "pattern"
    """Sizes of groups of votes, such as 2-1."""
    PEOPLE = "people"
    """One or two names, optionally with a detail: NAME, NAME~NAME, NAME/WHAT."""
    SORT = "sort"
    """An order, not a condition."""


COMPARED = (KeyArgument.NUMBER, KeyArgument.SHARE)
"""Kinds that take numbers, with any operator."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key."""

    name: str
    takes: KeyArgument
    noun: str
    """What messages call a value."""
    summary: str
    examples: tuple[str, ...]
    values: tuple[str, ...] = ()
    """The closed list of values in canonical spelling."""
    open_values: bool = False
    """Completion asks the database for further values."""
    pairs: bool = False
    """NAME~NAME is allowed."""
    after: tuple[str, ...] = ()
    """What may follow a slash."""
    usual: str = ">"
    """The operator that completion writes before numbers."""

    @property
    def operators(self) -> tuple[str, ...]:
        """Allowed operators; `:` and `=` mean the same."""
        if self.takes in COMPARED:
            return (":", "=", "!=", "<", "<=", ">", ">=")
        if self.takes is KeyArgument.SORT:
            return (":", "=")
        return (":", "=", "!=")

    @property
    def stub(self) -> str:
        """The text that completion writes for the key."""
        return f"{self.name}{self.usual}" if self.takes in COMPARED else f"{self.name}:"


CHOICES = (Kind.REFERENCE.value, *(kind.value for kind in IMPLICIT_KINDS), NONE)
"""Choices of a resolution model, and none for no prediction."""

KEYS: tuple[Key, ...] = (
    Key(
        "state",
        KeyArgument.CHOICE,
        "state",
        "the state of the item; skipped: put off by you, and undecided",
        ("state:open", "state:disagree,stale", "-state:decided"),
        (*(state.value for state in AnchorState), SKIPPED),
    ),
    Key(
        "class",
        KeyArgument.CHOICE,
        "class",
        "the kind that gold names; none is an item without gold",
        ("class:AGE", "class:AGE,TIME", "class:none", "-class:OTHER"),
        (*(kind.value for kind in Kind), NONE),
    ),
    Key(
        "split",
        KeyArgument.FREE,
        "split",
        "the split of an imported row of the item",
        ("split:dev", "split:dev,test"),
        open_values=True,
    ),
    Key(
        "anchor",
        KeyArgument.FREE,
        "anchor",
        "all the anchor's own words; case is ignored",
        ("anchor:one", 'anchor:"forty two"', "anchor:one,two"),
        open_values=True,
    ),
    Key(
        "flag",
        KeyArgument.CHOICE,
        "flag",
        "a flag that anybody set",
        ("flag:guideline", "flag:anchor,ambiguous", "-flag:skip"),
        tuple(flag.value for flag in FlagName),
    ),
    Key(
        "text",
        KeyArgument.FREE,
        "text",
        "words of the passage; the same as typing them without a key",
        ('text:"months left"', "text:dollar,buck", "-text:okay"),
    ),
    Key(
        "heads",
        KeyArgument.NUMBER,
        "number of heads",
        "how many heads gold has",
        ("heads>1", "heads:2", "heads<=1"),
    ),
    Key(
        "votes",
        KeyArgument.NUMBER,
        "number of votes",
        "how many annotators answered",
        ("votes<3", "votes>=2", "votes:0"),
    ),
    Key(
        "disagree",
        KeyArgument.CHOICE,
        "kind of disagreement",
        "how votes differ; any is any difference that blocks",
        ("disagree:noun", "disagree:class,scope", "disagree:any", "disagree:extent"),
        (*(kind.value for kind in Blocking), *(note.value for note in DifferenceNote), ANY),
    ),
    Key(
        "pattern",
        KeyArgument.PATTERN,
        "pattern of votes",
        "how votes group, largest group first",
        ("pattern:2-1", "pattern:1-1-1"),
        open_values=True,
    ),
    Key(
        "by",
        KeyArgument.FREE,
        "name",
        "somebody who answered, as annotator or as adjudicator",
        ("by:ann2", "-by:ann1"),
        open_values=True,
    ),
    Key(
        "differs",
        KeyArgument.PEOPLE,
        "pair of names",
        "two annotators whose answers differ: in anything that blocks, or in the kind after /",
        ("differs:ann2", "differs:ann1~ann2", "differs:ann1~ann2/noun", 'differs:"ann 2"~me'),
        open_values=True,
        pairs=True,
        after=(*(kind.value for kind in Blocking), *(note.value for note in DifferenceNote)),
    ),
    Key(
        "said",
        KeyArgument.PEOPLE,
        "answer",
        "the kind that an annotator answered: anybody, or the one before /",
        ("said:AGE", "said:ann2/AGE", "said:me/UNKNOWN,me/BROKEN"),
        tuple(kind.value for kind in Kind),
        open_values=True,
        after=tuple(kind.value for kind in Kind),
    ),
    Key(
        "rule",
        KeyArgument.CHOICE,
        "rule",
        "how gold came to count; none is an item without gold",
        ("rule:majority", "rule:unanimous,majority", "rule:none", "-rule:expert"),
        (*(rule.value for rule in Rule), NONE),
    ),
    Key(
        "experts",
        KeyArgument.CHOICE,
        "comparison",
        "two or more adjudicators decided, and agree or differ in what blocks",
        ("experts:differ", "experts:agree,differ"),
        ("agree", "differ"),
    ),
    Key(
        "right",
        KeyArgument.PEOPLE,
        "name",
        "an annotator with whom gold agrees in all that blocks; nobody: with none who answered",
        ("right:ann2", "right:me", "right:nobody"),
        (ME_WORD, NOBODY),
        open_values=True,
    ),
    Key(
        "wrong",
        KeyArgument.PEOPLE,
        "name",
        "an annotator whose answer differs from gold: in anything that blocks, or as after /",
        ("wrong:ann2", "wrong:ann2/class", "wrong:me"),
        (ME_WORD,),
        open_values=True,
        after=tuple(kind.value for kind in Blocking),
    ),
    Key(
        "tagged",
        KeyArgument.TAG,
        "number of a rule",
        "the rule of the guidelines on which somebody's answer turned; none is without a tag",
        ("tagged:R5", "tagged:5,12", "tagged:none state:decided"),
        (NONE,),
        open_values=True,
    ),
    Key(
        "guideline",
        KeyArgument.NUMBER,
        "version of the guidelines",
        "the version of the guidelines under which an adjudicator decided",
        ("guideline<2", "guideline:1"),
        usual="<",
    ),
    Key(
        "assigned",
        KeyArgument.PEOPLE,
        "name",
        "to whom it was assigned, answered or not; nobody: an item that is not assigned",
        ("assigned:ann2", "assigned:me", "assigned:nobody", "assigned:eva/adjudicator"),
        (ME_WORD, NOBODY),
        open_values=True,
        after=tuple(role.value for role in Role),
    ),
    Key(
        "todo",
        KeyArgument.PEOPLE,
        "name",
        "to whom it was assigned, and who has not answered it yet",
        ("todo:me", "todo:ann2", "todo:me/annotator"),
        (ME_WORD,),
        open_values=True,
        after=tuple(role.value for role in Role),
    ),
    Key(
        "audit",
        KeyArgument.CHOICE,
        "state of an audit",
        "drawn to check what a rule settled: not decided yet, found right, or found wrong",
        ("audit:open", "audit:wrong", "audit:right,wrong"),
        ("open", "right", "wrong"),
    ),
    Key(
        "model",
        KeyArgument.CHOICE,
        "thing to compare a model with",
        "the active resolution model against gold, any vote, or the proposal of the votes",
        ("model!=gold", "model=gold", "model!=votes", "model!=proposal"),
        (GOLD, VOTES, PROPOSAL),
    ),
    Key(
        "predicted",
        KeyArgument.PEOPLE,
        "answer of a model",
        "what the active resolution model chose, or the model before /; none: it said nothing",
        ("predicted:AGE", "predicted:AGE class:TIME", "predicted:small/REFERENCE"),
        CHOICES,
        open_values=True,
        after=CHOICES,
    ),
    Key(
        "hit",
        KeyArgument.PEOPLE,
        "name of a model",
        "what the model of this name says is right; model=gold asks the same of the active one",
        ("hit:small", "hit:linear-2 miss:small"),
        open_values=True,
    ),
    Key(
        "miss",
        KeyArgument.PEOPLE,
        "name of a model",
        "what the model of this name says is wrong",
        ("miss:small", "miss:linear-1,linear-2"),
        open_values=True,
    ),
    Key(
        "margin",
        KeyArgument.SHARE,
        "margin",
        "the active model's score of its first choice, less that of its second",
        ("margin<0.3", "margin>=0.9"),
        usual="<",
    ),
    Key(
        "conf",
        KeyArgument.SHARE,
        "confidence",
        "the active model's score of what it chose",
        ("conf<0.6", "conf>0.95 model!=gold"),
        usual="<",
    ),
    Key(
        "entropy",
        KeyArgument.SHARE,
        "share of all uncertainty",
        "how undecided the active model is between all candidates: 0 is certain",
        ("entropy>0.5", "entropy<=0.1"),
    ),
    Key(
        "doubt",
        KeyArgument.SHARE,
        "doubt",
        "how unlikely the item's gold is to a model that did not see it",
        ("doubt>0.9", "doubt>0.9 sort:doubt"),
    ),
    Key(
        "nfh",
        KeyArgument.CHOICE,
        "answer of identification",
        "whether the active identification model says that a noun is missing; gold: as gold "
        "says",
        ("nfh:yes", "nfh:none", "nfh!=gold", "nfh=gold"),
        ("yes", "no", NONE, GOLD),
    ),
    Key(
        "nfhrule",
        KeyArgument.FREE,
        "rule of identification",
        "the rule by which the active identification model decided; case is ignored",
        ("nfhrule:no-one", "nfhrule:svm nfh:yes"),
        open_values=True,
    ),
    Key(
        "doc",
        KeyArgument.FREE,
        "document",
        "part of the document's name",
        ("doc:dev.jsonl",),
        open_values=True,
    ),
    Key(
        "id",
        KeyArgument.IDS,
        "anchor's number",
        "items by their numbers in this database, as reports show them",
        ("id:7", "id:7,12,40"),
    ),
    Key(
        "sort",
        KeyArgument.SORT,
        "order",
        "order of the list; a minus sign reverses it",
        ("sort:disagree", "-sort:votes", "sort:random/7", "sort:uncertain", "sort:rare"),
        tuple(SORTS),
    ),
)

BY_NAME: dict[str, Key] = {key.name: key for key in KEYS}


# In the annotator's role only these keys may be asked. None tells what others answered or what
# a model says; some mean the person's own state, answers and flags.

ANNOTATOR_STATES = (AnchorState.OPEN.value, AnchorState.ANSWERED.value, SKIPPED)
"""States of an anchor that depend on the annotator's own answer only."""

OWN_PREFIX = f"{ME_WORD}/"

ANNOTATOR_CHANGES: dict[str, Key] = {
    "state": replace(
        BY_NAME["state"],
        summary="the state of the item for you: open, answered by you, or put off by you",
        values=ANNOTATOR_STATES,
    ),
    "flag": replace(BY_NAME["flag"], summary="a flag that you set"),
    "by": replace(
        BY_NAME["by"], summary="answered by you", values=(ME_WORD,), open_values=False
    ),
    "said": replace(
        BY_NAME["said"],
        summary="the kind that you answered",
        values=(OWN_PREFIX,),
        open_values=False,
    ),
    "tagged": replace(
        BY_NAME["tagged"], summary="the rule of the guidelines on which your answer turned"
    ),
    "guideline": replace(
        BY_NAME["guideline"], summary="the version of the guidelines under which you answered"
    ),
    "assigned": replace(
        BY_NAME["assigned"],
        summary="assigned to you to annotate, answered or not",
        values=(ME_WORD,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "todo": replace(
        BY_NAME["todo"],
        summary="assigned to you to annotate, and not answered yet",
        values=(ME_WORD,),
        open_values=False,
        after=(Role.ANNOTATOR.value,),
    ),
    "sort": replace(BY_NAME["sort"], values=("order", "anchor", "random", "assigned")),
}
"""Keys with another meaning in the annotator's role."""

UNCHANGED_KEYS = ("text", "anchor", "split", "doc", "id")
"""Keys with the same meaning; split and doc find only what is not assigned to the person."""

ANNOTATOR_KEYS: tuple[Key, ...] = tuple(
    ANNOTATOR_CHANGES.get(key.name, key)
    for key in KEYS
    if key.name in (*ANNOTATOR_CHANGES, *UNCHANGED_KEYS)
)


def keys_for(role: Role) -> tuple[Key, ...]:
    """The keys that are allowed in a role, with their meaning there."""
    return ANNOTATOR_KEYS if role is Role.ANNOTATOR else KEYS


def sorts_for(role: Role) -> dict[str, str]:
    """The orders that are allowed in a role, with their meanings."""
    allowed = ANNOTATOR_CHANGES["sort"].values if role is Role.ANNOTATOR else tuple(SORTS)
    return {name: meaning for name, meaning in SORTS.items() if name in allowed}
