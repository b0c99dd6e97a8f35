"""Acts that choose a kind, accept, and skip."""

from nfh_tui.actions.act import ADJUDICATING, ADJUDICATOR, ANNOTATOR, DECIDE, WRITING, Action


def _kind(name: str, key: str, title: str, description: str) -> Action:
    return Action(f"kind.{name}", (key,), key, title, description, DECIDE, ANNOTATOR, WRITING)


ACTS: tuple[Action, ...] = (
    _kind("reference", "r", "Reference", "The missing noun stands in the passage."),
    _kind("year", "y", "Year", "A year of the calendar."),
    _kind("age", "a", "Age", "How old someone or something is."),
    _kind("currency", "c", "Currency", "An amount of money."),
    _kind("people", "p", "People", "A person, or a number of people."),
    _kind("time", "t", "Time", "A reading of the clock."),
    _kind("other", "o", "Other", "None of these; then one key for its sort."),
    _kind("unknown", "n", "Unknown", "Something is missing, and readers would differ."),
    _kind("not_nfh", "x", "Not an NFH", "The number has its own noun, or is none."),
    _kind("broken", "d", "Damaged", "The words cannot be read (BROKEN)."),
    Action(
        "noun", ("equals_sign",), "=", "Write the noun", "Of a class.",
        DECIDE, ANNOTATOR, WRITING,
    ),
    Action(
        "accept", ("enter",), "enter", "Accept and go on",
        "Save the answer; once it is on disk, the line below says so. Go on meanwhile.",
        DECIDE, ANNOTATOR, WRITING, foot=10, short="accept",
    ),
    Action(
        "skip", ("s",), "s", "Skip for now", "Mark the item as skipped by you and go on.",
        DECIDE, ANNOTATOR, WRITING, foot=40, short="skip",
    ),
    Action(
        "similar.apply", ("A",), "A", "Apply to similar items",
        "Give the decision of this item, or else your last one, to others that are like it.",
        DECIDE, ADJUDICATOR, ADJUDICATING,
    ),
)  # fmt: skip
