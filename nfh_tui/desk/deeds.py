"""What can be done to all items of a query: the list to choose from, and its words."""

from collections.abc import Iterator, Mapping

from nfh_db.records import FlagName, Role
from nfh_db.wishes import BulkPreview, Deed, Wish
from nfh_models.domain import IMPLICIT_KINDS, Kind, class_answer
from nfh_tui.editing.describe import KIND_WORDS

Option = tuple[str, str, str]
"""Words, fainter words, and the name of what is chosen."""

FLAG_WORDS = {
    FlagName.GUIDELINE: "the guidelines are silent",
    FlagName.AMBIGUOUS: "ambiguous",
    FlagName.ANCHOR: "the span is wrong",
}
GOLD_WITH_IT = "and the gold they made; what they replaced stays away"
KINDS = (*IMPLICIT_KINDS, Kind.UNKNOWN, Kind.NOT_NFH, Kind.BROKEN)
"""Kinds that can be given to many at once: a Reference has its own noun in each passage."""


def deeds(role: Role) -> tuple[Option, ...]:
    """What a person may do to many items in a role."""
    adjudicator = role is Role.ADJUDICATOR
    decisions = "decisions" if adjudicator else "answers"
    general = (
        ("Set a flag", "yours, on each", "flag"),
        ("Clear a flag", "yours only", "unflag"),
        ("Skip", "put off what is not decided", "skip"),
        ("Skip no longer", "", "unskip"),
        (f"Withdraw my {decisions}", GOLD_WITH_IT * adjudicator, "withdraw"),
    )
    deciding = (
        (
            "Adopt what annotators agree on",
            "all, or a majority as settle finds it",
            "proposal",
        ),
        ("Adopt the model's answers", "of the active model", "model"),
        ("Give all the same answer", "a class, Unknown, Not an NFH, Damaged", "class"),
    )
    return (*deciding, *general) if adjudicator else general


def flags() -> tuple[Option, ...]:
    """The flags to choose from."""
    return tuple((name.value, words, name.value) for name, words in FLAG_WORDS.items())


def kinds() -> tuple[Option, ...]:
    """The answers to choose from."""
    return tuple((KIND_WORDS[kind], "", kind.value) for kind in KINDS)


def wish(deed: str, role: Role, what: str | None) -> Wish:
    """What was chosen. what: the flag, or the kind, where one belongs to it."""
    named = Deed(deed)
    if named in (Deed.FLAG, Deed.UNFLAG):
        return Wish(named, role, flag=FlagName(what or ""))
    if named is Deed.CLASS:
        return Wish(named, role, answer=class_answer(Kind(what or "")))
    return Wish(named, role)


def told(preview: BulkPreview) -> Iterator[str]:
    """What a preview says, line by line: how many change, what of these, and what stays."""
    count = len(preview.ids)
    yield f"{_items(count)} of {preview.looked:,} would change."
    if preview.notes:
        yield f"Of these {_listed(preview.notes)}."
    stay = preview.looked - count
    if stay:
        yield f"{_items(stay)} stay{'s' if stay == 1 else ''}: {_listed(preview.kept)}."


def _items(count: int) -> str:
    return f"{count:,} item" + ("" if count == 1 else "s")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())
