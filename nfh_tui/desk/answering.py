"""The answer being edited in one line, for where the evidence is not in view."""

from nfh_db.records import Item
from nfh_models.domain import Answer
from nfh_tui.editing import EditState, Source, answer, describe
from nfh_tui.editing.describe import KIND_WORDS
from nfh_tui.editing.votes import shown_reason


def answer_words(item: Item, edit: EditState, reading: bool) -> tuple[str, str]:
    """The answer, and where it came from; while one only reads, the gold and its rule."""
    if reading:
        gold = item.gold
        if gold is None:
            return "no gold yet", ""
        return describe(gold.answer, item.passage), f"gold · {gold.rule}"
    made = answer(edit, item)
    said = describe(made, item.passage) if isinstance(made, Answer) else _unfinished(item, edit)
    source = "" if edit.source is Source.EMPTY else edit.source.value
    why = shown_reason(edit.reason, item, edit.adopted)
    notes = [source, why, "changed" if edit.changed else ""]
    return said, " · ".join(filter(None, notes))


def _unfinished(item: Item, edit: EditState) -> str:
    """What there is of an answer that cannot be saved yet, and what it lacks."""
    if edit.kind is None:
        return "nothing chosen yet"
    heads = [
        " ".join(item.passage.words(mentions[0].start, mentions[0].end).split())
        for mentions in edit.heads
    ]
    lacks = "AND or OR?" if len(heads) > 1 else "which noun?" if not heads else "span growing"
    return f"{KIND_WORDS[edit.kind]}: {', '.join([*heads, lacks])}"
