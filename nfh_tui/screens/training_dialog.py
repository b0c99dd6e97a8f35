"""The dialog that asks what is to be trained: a line a choice, enter starts it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Static

from nfh_tui.desk.training_form import (
    FIELDS,
    RECIPE_WORDS,
    TASKS,
    USUAL,
    Choices,
    Form,
    command_of,
    turned,
)
from nfh_tui.desk.work import start
from nfh_tui.screens.list_dialog import ListDialog
from nfh_tui.visible import clip, visible

Count = Callable[[str], Awaitable[str]]
"""How many items with gold a query finds, in words."""

LABELS = {
    "task": "task",
    "recipe": "recipe",
    "base": "starts from",
    "query": "learns from",
    "promote": "takes over",
}
LABEL = 14
NOTHING = "nothing: this recipe learns anew"
USUAL_WORDS = "as usual: the model in use if it is one of these, else that in the package"
HINT = "enter starts it · h l change · j k move · esc closes"


class TrainingDialog(ListDialog[Form | None]):
    """A form of a few lines; gives it back as it is when enter is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right,space", "turn(1)", show=False),
        Binding("h,left", "turn(-1)", show=False),
    ]

    def __init__(self, form: Form, choices: Choices, count: Count) -> None:
        super().__init__("Train a model", Text(command_of(form), "dim"), HINT)
        self._form = form
        self._choices = choices
        self._count = count
        self._counts: dict[str, str] = {}

    def on_mount(self) -> None:
        """Fill the list and count what there is to learn from."""
        start(self, self._count_all, group="counts", description="what can be learnt from")

    async def _count_all(self) -> None:
        for query in self._choices.queries:
            self._counts[query] = await self._count(query)
            if self.is_attached:
                self.fill()

    def entries(self) -> Sequence[Text]:
        """A line a choice: what it is about, what is chosen, what that means."""
        return [self._entry(field) for field in FIELDS]

    def _entry(self, field: str) -> Text:
        value, faint = self._said(field)
        text = Text(f"{LABELS[field]:{LABEL}}")
        fixed = field == "base" and not self._form.warm
        shown = f"{visible(value)}" if fixed else f"‹ {visible(value)} ›"
        text.append(clip(shown, self.room - LABEL), "dim" if fixed else "bold")
        rest = self.room - len(text.plain) - 2
        if faint and rest > 8:
            text.append(f"  {clip(visible(faint), rest)}", "dim")
        return text

    def _said(self, field: str) -> tuple[str, str]:
        form = self._form
        if field == "task":
            return form.task, TASKS[form.task]
        if field == "recipe":
            return form.recipe, RECIPE_WORDS.get(form.recipe, "")
        if field == "base":
            if not form.warm:
                return NOTHING, ""
            return (USUAL_WORDS, "") if form.base == USUAL else (form.base, "")
        if field == "query":
            return form.query or "all gold", self._counts.get(form.query, "…")
        if form.promote:
            return "if it is better", "on gold neither learnt from"
        return "never", "it stays a candidate until u uses it"

    def action_turn(self, by: int) -> None:
        """The next choice of the line one stands on."""
        place = self.list.highlighted or 0
        self._form = turned(self._form, FIELDS[place], by, self._choices)
        self.query_one("#head", Static).update(Text(command_of(self._form), "dim"))
        self.fill()

    def chosen(self, place: int) -> None:
        """Start it."""
        del place
        self.dismiss(self._form)
