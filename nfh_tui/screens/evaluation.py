"""The evaluation screen: comparisons of models, people and gold, and models over time.

All counts come from stored predictions; nothing is predicted. The metrics of the packaged model
come from `nfh-tui models` in a child process.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from textual.app import ComposeResult

from nfh_db.comparisons import GOLD, Changes, ComparedSide, ComparisonCounts
from nfh_tui.actions import Access
from nfh_tui.screens.base import TWO_PANES, SideScreen, remembered
from nfh_tui.screens.evaluation_figures import (
    CHOOSE_LEFT,
    MODEL_STOP,
    NO_PREDICTIONS,
    Sides,
    change_lines,
    change_matrix,
    choice_lines,
    compared_lines,
    compared_matrix,
    learning_lines,
    model_of,
    side_name,
)
from nfh_tui.services.report_process import output, report
from nfh_tui.services.reports import ModelsReport, ModelSummary
from nfh_tui.textual_support import WorkProgress, sentence_of
from nfh_tui.widgets.figure_lines import BLANK, Line, Target, items, sentence
from nfh_tui.widgets.input_bar import InputBar, Wrong
from nfh_tui.workbench.completion import completed

FIGURES, MATRIX = "figures", "matrix"
COUNTING = "Counting…"
EXPORT = "export"
EXPORT_WORDS = "An earlier export of gold…"
NOTHING = ComparedSide("")
TASK = "resolution"


class EvaluationScreen(SideScreen):
    """Figures of a comparison in the left pane; its matrix and the models in the right one."""

    NAME = "Evaluation"
    PANES = ((FIGURES, "Figures"), (MATRIX, "Matrix and models"))
    HORIZONTAL_BREAKPOINTS = TWO_PANES

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # as a side screen takes them
        sides = self.memory.get("sides")
        self.sides = sides if isinstance(sides, Sides) else Sides(NOTHING, GOLD)
        self.found: ComparisonCounts | Changes | None = None
        self.checked: Changes | None = None
        """Of the file that was just entered: it has been read to the end."""
        self.models: Sequence[ModelSummary] | None = None
        self.labels: Mapping[int, int] = {}
        self.bar = InputBar(id="side-bar")
        self.chooser = SideChooser(self)
        self._looked = False

    def body(self) -> ComposeResult:
        """Yield the panes, and the input for a path."""
        yield from super().body()
        yield self.bar

    # --- reading ------------------------------------------------------------------------

    def read(self) -> None:
        """Start the comparison, and list the models."""
        self.compare()
        self.runner.work(self._read_models, group="models")

    def compare(self) -> None:
        """Compare the two sides again; cancels a running comparison."""
        self.found = None
        self.panes.refresh_all()
        self.runner.work(self._compare, group="comparing")

    async def _compare(self) -> None:
        known = await self.client.read(self.store.comparisons.models)
        active = await self.client.read(self.store.models.active, TASK)
        left = self.sides.left
        if left == NOTHING and known:
            left = ComparedSide("model", known[0][1], known[0][0])
        elif left == NOTHING:
            people = await self.client.read(self.store.comparisons.people)
            left = ComparedSide("person", people[0]) if people else NOTHING
        self.sides = Sides(left, self.sides.right, active.id if active else None)
        self.memory["sides"] = self.sides
        self._looked = True
        if left != NOTHING:
            self.found = await self._found()
        self.set_status(place=items(self._counted()), busy="")
        self.panes.refresh_all()

    async def _found(self) -> ComparisonCounts | Changes:
        left, right = self.sides.left, self.sides.right
        if right.what == "file":
            checked, self.checked = self.checked, None
            return checked or await self._changes(Path(right.name))
        versions = (
            await self.client.read(self.store.comparisons.answers_version),
            await self.client.read(self.store.comparisons.predictions_version),
        )
        key = (left, right, self.base, versions)
        known = remembered(self.memory, "found", key)
        if not isinstance(known, ComparisonCounts):
            known = await self.client.compared(left, right, self.query_of, self.me)
            self.memory["found"] = (key, known)
        return known

    async def _changes(self, path: Path) -> Changes:
        """Compare gold with a file; a file that cannot be read is not read again."""
        try:
            return await self.changes(path)
        except Exception:
            self.sides = Sides(NOTHING, GOLD)
            self.compare_later()
            raise

    async def changes(self, path: Path) -> Changes:
        """Compare gold with a file."""
        try:
            return await self.client.changes_since(
                path, self.query_of, self.me, self._tell_rows
            )
        finally:
            self.set_status(busy="")

    def compare_later(self) -> None:
        """Compare once the error dialog is closed."""
        self.call_after_refresh(self.compare)

    def _tell_rows(self, rows: int) -> None:
        """Report progress. Called in a reading thread, which may only post messages."""
        self.post_message(WorkProgress(f"{rows:,} rows read…"))

    def on_work_progress(self, message: WorkProgress) -> None:
        """Show the progress of reading a file."""
        if self.found is None:
            self.set_status(busy=message.words)

    def _counted(self) -> int:
        if isinstance(self.found, ComparisonCounts):
            return self.found.whole.n
        return sum(map(len, self.found.ids.values())) if self.found else 0

    async def _read_models(self) -> None:
        registered = await self.client.read(self.store.models.all)
        learnt = {one.id: one.metrics.get("examples") for one in registered}
        self.labels = {id_: n for id_, n in learnt.items() if isinstance(n, int)}
        found = await report(["models"], self.client.store.path, ModelsReport)
        self.models = found.models
        self.panes.refresh()

    # --- drawing ------------------------------------------------------------------------

    def lines(self, pane: str, width: int) -> Sequence[Line]:
        if pane == FIGURES:
            return self._figures(width)
        if lines := list(self._matrix(width)):
            lines.append(BLANK)
        if self.models is None:
            return [*lines, *sentence("Reading the models…", width)]
        return [*lines, *learning_lines(self.models, self.labels, width)]

    def _figures(self, width: int) -> Sequence[Line]:
        sides = self.sides
        if sides.left == NOTHING:
            return sentence(NO_PREDICTIONS if self._looked else COUNTING, width)
        top = choice_lines(sides, width)
        if isinstance(self.found, ComparisonCounts):
            return [*top, *compared_lines(self.found, sides, self.base, width)]
        if isinstance(self.found, Changes):
            return [*top, *change_lines(self.found, self.base, width)]
        return [*top, *sentence(COUNTING, width)]

    def _matrix(self, width: int) -> Sequence[Line]:
        if isinstance(self.found, ComparisonCounts):
            return compared_matrix(self.found, self.sides, self.base, width)
        if isinstance(self.found, Changes):
            return change_matrix(self.found, self.sides, self.base, width)
        return ()

    def pane_note(self, pane: str) -> str:
        """Return the names of the compared sides."""
        if pane != MATRIX or self.sides.left == NOTHING:
            return ""
        return f"{side_name(self.sides.left)} against {side_name(self.sides.right)}"

    # --- actions ---------------------------------------------------------------------------

    def chosen(self, stop: Target) -> None:
        """Choose a side, or show the card of a model."""
        if stop.act == MODEL_STOP:
            self.runner.work(lambda: self._show_card(model_of(stop)), group="card")
        else:
            self.runner.work(lambda: self.chooser.choose(stop.act), group="choosing")

    async def _show_card(self, model_id: int) -> None:
        name = next((m.name for m in self.models or () if m.id == model_id), "")
        self.set_status(busy="reading the card…")
        try:
            text = await output(["models", "show", str(model_id)], self.client.store.path)
        finally:
            self.set_status(busy="")
        self.show_text(f"Model {name}", text)


class SideChooser:
    """Asks for the sides of a comparison."""

    def __init__(self, screen: EvaluationScreen) -> None:
        self._screen = screen

    async def choose(self, which: str) -> None:
        """Ask for the left or the right side, and compare."""
        left = which == CHOOSE_LEFT
        options = await (self._left_options() if left else self._right_options())
        title = "Compare what?" if left else "With what?"
        sides = {str(place): side for place, (_, _, side) in enumerate(options)}
        now = self._screen.sides.left if left else self._screen.sides.right
        chosen = await self._screen.choose_from(
            title,
            [(words, faint, str(place)) for place, (words, faint, _) in enumerate(options)],
            start=next((place for place, side in sides.items() if side == now), None),
        )
        if chosen is None:
            return
        side = sides[chosen]
        if side.what == "file":
            await self._choose_file()
        elif left:
            keeps = side.what == "model" and self._screen.sides.right.what == "model"
            self._compare_sides(side, self._screen.sides.right if keeps else GOLD)
        else:
            self._compare_sides(self._screen.sides.left, side)

    def _compare_sides(self, left: ComparedSide, right: ComparedSide) -> None:
        # A file is compared with gold only.
        if right.what == "file":
            left = GOLD
        elif left == GOLD:
            left = NOTHING
        self._screen.sides = Sides(left, right, self._screen.sides.active)
        self._screen.compare()

    async def _left_options(self) -> list[tuple[str, str, ComparedSide]]:
        models = await self._model_sides()
        people = await self._screen.client.read(self._screen.store.comparisons.people)
        return [
            *models,
            *((name, "annotator", ComparedSide("person", name)) for name in people),
            *(("gold", EXPORT_WORDS, side) for side in self._files()),
        ]

    async def _right_options(self) -> list[tuple[str, str, ComparedSide]]:
        left = self._screen.sides.left
        models = await self._model_sides() if left.what == "model" else []
        return [
            ("gold", "", GOLD),
            *(one for one in models if one[2] != left),
            *((EXPORT_WORDS, "compare gold with a file", side) for side in self._files()),
        ]

    def _files(self) -> tuple[ComparedSide, ...]:
        """Return an entry for files if the person may name paths of this machine."""
        return (ComparedSide("file"),) if self._screen.access >= Access.ADMIN else ()

    async def _model_sides(self) -> list[tuple[str, str, ComparedSide]]:
        screen = self._screen
        active = screen.sides.active
        return [
            (
                name,
                "model, active" if id_ == active else "model",
                ComparedSide("model", name, id_),
            )
            for id_, name in await screen.client.read(screen.store.comparisons.models)
        ]

    async def _choose_file(self) -> None:
        """Ask for a gold file, and compare gold with it."""
        screen, last = self._screen, self._screen.memory.get(EXPORT)

        async def wrong(path: str) -> Wrong | None:
            try:
                screen.checked = await screen.changes(Path(path)) if path else None
            except Exception as error:  # noqa: BLE001  # the line stays open and says it
                return Wrong(sentence_of(error))
            return None

        keys = (("enter", "compare"), ("tab", "complete"), ("esc", "not"))
        text = await screen.ask(
            "gold file", last if isinstance(last, str) else "", keys, wrong, complete=completed
        )
        if text is None or not text.strip():
            return
        self._screen.memory[EXPORT] = text.strip()
        self._compare_sides(GOLD, ComparedSide("file", text.strip()))
