"""The dialog that asks what is to be trained: a line a choice, enter starts it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from nfh_tui.desk.report import ReportError
from nfh_tui.desk.training_form import (
    FIELDS,
    RECIPE_WORDS,
    SETTINGS,
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
from nfh_tui.widgets.query_bar import BarInput

Count = Callable[[str], Awaitable[str]]
"""How many items with gold a query finds, in words."""

Begin = Callable[[Form], Awaitable[int]]
"""Queues what was typed, if it is right; the job's number. Raises ReportError."""

LABELS = {
    "task": "task",
    "recipe": "recipe",
    "base": "starts from",
    "settings": "settings",
    "split": "of the split",
    "query": "learns from",
    "promote": "takes over",
}
LABEL = 14
NOTHING = "nothing: this recipe learns anew"
USUAL_WORDS = "as usual: the model in use if it is one of these, else that in the package"
HINT = "enter starts it · h l change · j k move · esc closes"
TYPING = "key=value, blanks between them · enter or esc: back to the form"
CHECKING = "checking it…"
UNSET = "as the recipe has them"


class TrainingDialog(ListDialog[Form | None]):
    """A form of a few lines; gives it back as it is when enter is pressed.

    form: as it stands. job_id: of the job, where that was queued already.
    """

    DEFAULT_CSS = """
    TrainingDialog BarInput { display: none; margin-top: 1; background: $boost; }
    TrainingDialog .hint { height: auto; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right,space", "turn(1)", show=False),
        Binding("h,left", "turn(-1)", show=False),
    ]

    def __init__(self, form: Form, choices: Choices, count: Count, begin: Begin) -> None:
        super().__init__("Train a model", _head(form), HINT)
        self.form = form
        self.job_id: int | None = None
        self._begin = begin
        self._checking = False
        self._input = BarInput()
        self._choices = choices
        self._count = count
        self._counts: dict[str, str] = {}

    def on_mount(self) -> None:
        """Fill the list and count what there is to learn from."""
        # Only while one types in it is it in view.
        self.query_one(".box").mount(self._input, before="#hint")
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
        fixed = field == "base" and not self.form.warm
        shown = f"{visible(value)}" if fixed else f"‹ {visible(value)} ›"
        text.append(clip(shown, self.room - LABEL), "dim" if fixed else "bold")
        rest = self.room - len(text.plain) - 2
        if faint and rest > 8:
            text.append(f"  {clip(visible(faint), rest)}", "dim")
        return text

    def _said(self, field: str) -> tuple[str, str]:
        form = self.form
        if field == "task":
            return form.task, TASKS[form.task]
        if field == "recipe":
            return form.recipe, RECIPE_WORDS.get(form.recipe, "")
        if field == "base":
            if not form.warm:
                return NOTHING, ""
            return (USUAL_WORDS, "") if form.base == USUAL else (form.base, "")
        if field == SETTINGS:
            return form.settings or UNSET, "" if form.settings else "l types some"
        if field == "split":
            return form.split or "any", ""
        if field == "query":
            return form.query or "all gold", self._counts.get(form.query, "…")
        if form.promote:
            return "if it is better", "on gold neither learnt from"
        return "never", "it stays a candidate until u uses it"

    def action_turn(self, by: int) -> None:
        """The next choice of the line one stands on; what is typed is typed below."""
        field = FIELDS[self.list.highlighted or 0]
        if self._checking:
            return
        if field == SETTINGS:
            self._input.value = self.form.settings
            self._input.display = True
            self._input.focus()
            self._hint_is(TYPING)
        else:
            self._is(turned(self.form, field, by, self._choices))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The settings are typed."""
        event.stop()
        self._typed()

    def action_close(self) -> None:
        """Close without starting anything; from the line that is typed in, back to the form."""
        if self._input.display:
            self._typed()
        else:
            super().action_close()

    def _typed(self) -> None:
        self._input.display = False
        self.list.focus()
        self._is(replace(self.form, settings=self._input.value.strip()))

    def _is(self, form: Form) -> None:
        self.form = form
        self.query_one("#head", Static).update(_head(form))
        self._hint_is(HINT)
        self.fill()

    def _hint_is(self, words: str) -> None:
        self.query_one("#hint", Static).update(visible(" ".join(words.split())))

    def chosen(self, place: int) -> None:
        """Start it. What was typed is checked first; a mistake leaves the form open."""
        del place
        if self.form.simple:
            self.dismiss(self.form)
        elif not self._checking:
            self._checking = True
            self._hint_is(CHECKING)
            start(self, self._check, group="checking", description="checking a training")

    async def _check(self) -> None:
        try:
            self.job_id = await self._begin(self.form)
        except (ReportError, ValueError) as error:
            self._hint_is(f"! {_sentence(str(error))}")
        else:
            self.dismiss(self.form)
        finally:
            self._checking = False


def _sentence(said: str) -> str:
    """What a command says of a mistake, without how it is called."""
    return said.rpartition("Error: ")[2].removeprefix("nfh-tui: ")


def _head(form: Form) -> Text:
    return Text(visible(command_of(form)), "dim")
