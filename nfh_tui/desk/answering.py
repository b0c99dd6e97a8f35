"""The answer being edited in one line, for where the evidence is not in view."""

from nfh_db.records import Item
from nfh_models.domain import Answer
from nfh_tui.editing import EditState, Source, answer, describe
from nfh_tui.editing.describe import KIND_WORDS


def answer_words(item: Item, edit: EditState, reading: bool) -> tuple[str, str]:
    """The answer, and where it came from; while one only reads, the gold and its rule."""
    if reading:
        gold = item.gold
        if gold is None:
            return "no gold yet", ""
        return describe(gold.answer, item.passage), f"gold · {gold.rule}"
    made = answer(edit, item)
    if isinstance(made, Answer):
        said = describe(made, item.passage)
    elif edit.kind is None:
        said = "nothing chosen yet"
    else:
        said = f"{KIND_WORDS[edit.kind]}: {made}"
    source = "" if edit.source is Source.EMPTY else edit.source.value
    notes = [source, edit.reason, "changed" if edit.touched else ""]
    return said, " · ".join(filter(None, notes))
