"""Dialogs about several items: what would be done to them, what is alike, what was decided."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Static

from nfh_db.likeness import Alike, Similar
from nfh_db.precedents import Precedent
from nfh_db.wishes import BulkPreview, Deed, Sampled
from nfh_models.domain import Answer, Kind, Passage, class_answer
from nfh_tui.desk.deeds import told
from nfh_tui.desk.history import local
from nfh_tui.editing import describe
from nfh_tui.evidence_readings import fitted, sentence_parts
from nfh_tui.screens.list_dialog import ListDialog
from nfh_tui.sentences import sentence
from nfh_tui.visible import clip, isolated, visible

NO_GOLD = "no gold"
INDENT = 4
NO_NOUN = class_answer(Kind.NOT_NFH)
"""Read with it, a sentence stands as it is."""

RULE_WORDS = {"unanimous": "all agreed", "majority": "a majority", "imported": "a file"}


def answer_line(answer: Answer | None, passage: Passage, absent: str = NO_GOLD) -> str:
    """An answer in words, without control characters."""
    return visible(describe(answer, passage)) if answer is not None else absent


class PreviewDialog(ListDialog[bool | None]):
    """What would be done to many items; y does it, and gives True."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "do", show=False)]

    def __init__(self, preview: BulkPreview) -> None:
        words = preview.wish.words
        head = Text("\n".join(visible(line) for line in told(preview)))
        self._preview = preview
        count = len(preview.ids)
        shown = len(preview.sample)
        if count:
            head.append(f"\n{'All of them' if shown == count else f'{shown} of them'}:", "bold")
        hint = "y does it, one undo takes it back · j k read · esc: not"
        super().__init__(words[:1].upper() + words[1:], head, hint if count else "esc closes")

    def entries(self) -> Sequence[Text]:
        """Each item of the sample: its sentence, and below it what becomes of what."""
        return [self._entry(one) for one in self._preview.sample]

    def _entry(self, one: Sampled) -> Text:
        text = sentence(one.passage, one.anchor, self.room)
        change = self._change(one)
        if change:
            text.append(f"\n{' ' * INDENT}{clip(change, self.room - INDENT)}", "dim")
        return text

    def _change(self, one: Sampled) -> str:
        deed = self._preview.wish.deed
        if deed in (Deed.FLAG, Deed.UNFLAG, Deed.SKIP, Deed.UNSKIP):
            return ""
        before = answer_line(one.before, one.passage)
        after = answer_line(one.after, one.passage, absent="withdrawn")
        return f"{before} → {after}"

    def chosen(self, place: int) -> None:
        """Enter does nothing: held from the list before, it would decide unread."""
        del place
        if self._preview.ids:
            self.query_one("#hint", Static).update("y does it · esc leaves all as it is")

    def action_do(self) -> None:
        """Do it."""
        self.dismiss(bool(self._preview.ids))

    def action_close(self) -> None:
        """Leave all as it is."""
        self.dismiss(False)


class SimilarDialog(ListDialog[tuple[Similar, ...] | None]):
    """Items that are like one, one kind of likeness at a time; gives those that are ticked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", show=False),
        Binding("asterisk", "tick_all", show=False),
        Binding("tab,l,right", "turn(1)", show=False),
        Binding("shift+tab,h,left", "turn(-1)", show=False),
    ]

    def __init__(self, title: str, alike: Sequence[Alike]) -> None:
        hint = "space ticks · * all, none · tab next kind · enter applies · esc closes"
        super().__init__(title, Text(), hint)
        self._alike = alike
        self._at = next((n for n, one in enumerate(alike) if one.items), 0)
        # What would lose gold is not ticked unless one does so.
        self._ticked = {s.anchor_id for one in alike for s in one.items if not s.note}

    @property
    def _items(self) -> tuple[Similar, ...]:
        return self._alike[self._at].items

    def entries(self) -> Sequence[Text]:
        """Each item: whether it is ticked, its sentence, and what becomes of what."""
        self._paint_head()
        return [self._entry(one) for one in self._items] or [Text("Nothing is like it so.")]

    def _entry(self, one: Similar) -> Text:
        mark = "☑" if one.anchor_id in self._ticked else "☐"
        text = Text(f"{mark} ")
        text.append_text(sentence(one.passage, one.anchor, self.room - 2))
        before = answer_line(one.before, one.passage)
        votes = f"votes {one.pattern} · " if one.pattern else ""
        note = f" · {one.note}" if one.note else ""
        change = f"{votes}{before} → {answer_line(one.answer, one.passage)}{note}"
        text.append(f"\n{' ' * INDENT}{clip(change, self.room - INDENT)}", "dim")
        return text

    def _paint_head(self) -> None:
        head = Text()
        for place, one in enumerate(self._alike):
            here = place == self._at
            ticked = sum(s.anchor_id in self._ticked for s in one.items)
            head.append("▸ " if here else "  ")
            head.append(
                f"{one.likeness}: {len(one.items):,}, {ticked:,} ticked",
                "bold" if here else "dim",
            )
            left = f" · {one.left:,} more cannot be given it" if one.left else ""
            head.append(f"{left}\n", "dim")
        head.rstrip()
        self._head = head
        self.query_one("#head", Static).update(head)

    def action_tick(self) -> None:
        """Tick an item, or take its tick away, and go on to the next."""
        place = self.list.highlighted
        if place is not None and place < len(self._items):
            self._ticked ^= {self._items[place].anchor_id}
            self.fill(min(place + 1, len(self._items) - 1))

    def action_tick_all(self) -> None:
        """Tick all that are shown, or none, where all are."""
        ids = {one.anchor_id for one in self._items}
        self._ticked = self._ticked - ids if ids <= self._ticked else self._ticked | ids
        self.fill()

    def action_turn(self, by: int) -> None:
        """Go to another kind of likeness."""
        self._at = (self._at + by) % len(self._alike)
        self.fill(0)

    def chosen(self, place: int) -> None:
        """Apply it to those that are shown and ticked."""
        del place
        ticked = tuple(one for one in self._items if one.anchor_id in self._ticked)
        if ticked:
            self.dismiss(ticked)
        else:
            self.query_one("#hint", Static).update("Nothing is ticked here: space ticks one.")


def _read_again(one: Precedent, room: int) -> Text:
    """Its sentence with the number bold and the noun in brackets, as the evidence shows it."""
    made = fitted(one, one.answer, room, 0, 1) or fitted(one, NO_NOUN, room, 0, 1)
    text = Text()
    for part, role in sentence_parts(made) if made is not None else ():
        text.append(isolated(visible(part)), "bold" if role in ("number", "put") else "")
    return text


class PrecedentDialog(ListDialog[int | None]):
    """Earlier decisions; gives the anchor of the one to open."""

    def __init__(self, precedents: Sequence[Precedent], *, named: bool) -> None:
        super().__init__("Precedents", None, "enter opens it beside the queue · esc closes")
        self._precedents = precedents
        self._named = named

    def entries(self) -> Sequence[Text]:
        """Each decision: the answer, who and when and why; its sentence below."""
        return [self._entry(one) for one in self._precedents]

    def _entry(self, one: Precedent) -> Text:
        who = RULE_WORDS.get(one.rule.value, "an expert")
        if self._named and one.by:
            who = visible(one.by)
        when = local(one.at)[:10] if one.at else ""
        tag = one.tag if one.tag and f"rule {one.tag}" not in one.why else ""
        notes = " · ".join(filter(None, [who, when, tag, f"same {', '.join(one.why)}"]))
        said = clip(answer_line(one.answer, one.passage), max(10, self.room - len(notes) - 3))
        text = Text()
        text.append(said, "bold")
        text.append(f" · {notes}", "dim")
        text.append(f"\n{' ' * INDENT}")
        text.append_text(_read_again(one, self.room - INDENT))
        return text

    def chosen(self, place: int) -> None:
        """Open it."""
        self.dismiss(self._precedents[place].anchor_id)
