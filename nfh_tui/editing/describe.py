"""Answers in words, as plain text."""

from nfh_models.domain import Answer, Blocking, Head, Kind, Note, Passage, Relation, Sort
from nfh_tui.editing.state import live, quoted

KIND_WORDS = {
    Kind.REFERENCE: "Reference",
    Kind.YEAR: "Year",
    Kind.AGE: "Age",
    Kind.CURRENCY: "Currency",
    Kind.PEOPLE: "People",
    Kind.TIME: "Time",
    Kind.OTHER: "Other",
    Kind.UNKNOWN: "Unknown",
    Kind.NOT_NFH: "Not an NFH",
    Kind.BROKEN: "Damaged",
    Kind.NFH: "NFH, head not given",
}
"""Kinds as people read them."""

SHORT_KINDS = {
    Kind.REFERENCE: "Ref",
    Kind.YEAR: "Year",
    Kind.AGE: "Age",
    Kind.CURRENCY: "Curr",
    Kind.PEOPLE: "Peop",
    Kind.TIME: "Time",
    Kind.OTHER: "Oth",
    Kind.UNKNOWN: "Unkn",
    Kind.NOT_NFH: "Not",
    Kind.BROKEN: "Dam",
    Kind.NFH: "NFH",
}
"""Kinds in four cells at most, for columns; each begins with the word it stands for."""

SORT_WORDS = {
    Sort.NUMBER: "number itself",
    Sort.CODE: "code",
    Sort.MEASURE: "measure",
    Sort.NOUN: "noun",
}

BLOCKING_WORDS = {
    Blocking.DAMAGE: "damaged or readable",
    Blocking.SCOPE: "an NFH or none",
    Blocking.ROUTE: "the class or its noun",
    Blocking.ANSWERABILITY: "can it be answered",
    Blocking.CLASS: "which class",
    Blocking.NOUN: "which noun",
    Blocking.PARTIAL: "some of the nouns",
    Blocking.RELATION: "AND or OR",
}
"""What a blocking difference is about."""

SHORT_BLOCKING = {
    Blocking.DAMAGE: "damage",
    Blocking.SCOPE: "scope",
    Blocking.ROUTE: "route",
    Blocking.ANSWERABILITY: "answer",
    Blocking.CLASS: "class",
    Blocking.NOUN: "noun",
    Blocking.PARTIAL: "part",
    Blocking.RELATION: "and/or",
}
"""The same in a word, for columns."""

NOTE_WORDS = {
    Note.MENTION: "other mentions",
    Note.EXTENT: "other span bounds",
    Note.SORT: "other sort",
    Note.TEXT: "other wording",
}
"""What a difference that never blocks is about."""


def head_words(head: Head, passage: Passage, *, places: bool = False) -> str:
    """The marked words of a head, and how many further mentions it has: "tents +2".

    places: with the turn of the marked mention: "tents t1 +2".
    """
    first, *rest = live(head.mentions)
    said = [" ".join(passage.words(first.start, first.end).split())]
    if places:
        said.append(f"t{passage.turn_of(first.head) + 1}")
    if rest:
        said.append(f"+{len(rest)}")
    return " ".join(said)


def describe(answer: Answer, passage: Passage, *, places: bool = False) -> str:
    """The answer without its comment, in one line; `places` as in `head_words`."""
    said = KIND_WORDS[answer.kind]
    if answer.heads:
        joint = "," if answer.relation in {None, Relation.UNSTATED} else f" {answer.relation}"
        nouns = (head_words(head, passage, places=places) for head in answer.heads)
        return f"{said}: {f'{joint} '.join(nouns)}"
    if answer.sort is not None:
        said = f"{said}, {SORT_WORDS[answer.sort]}"
    return f"{said} {quoted(answer.noun)}" if answer.noun else said


def pattern_words(pattern: str) -> str:
    """The pattern of votes in words: "2-1" is "2 agree, 1 differs"."""
    sizes = [int(size) for size in pattern.split("-") if size.isdigit()]
    groups = [size for size in sizes if size]
    if not groups:
        return "nobody has answered"
    if sum(groups) == 1:
        return "one answer"
    if len(groups) == 1:
        return f"all {groups[0]} agree"
    if max(groups) == 1:
        return f"{len(groups)} answers, all different"
    if len(groups) == 2:
        return f"{groups[0]} agree, {groups[1]} {'differs' if groups[1] == 1 else 'differ'}"
    return "groups of " + ", ".join(str(size) for size in groups)
