"""Bulk operations, similar items and precedents in the workbench."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from nfh_db.bulk_plan import BulkDone, BulkOperation, BulkPreview, OperationKind, Seeing
from nfh_db.records import AnchorItem, Exposure, Role
from nfh_db.similar_items import Likeness
from nfh_models.domain import Kind, anchor_id
from nfh_tui.actions import Mode
from nfh_tui.display_text import clip, visible
from nfh_tui.editor.votes import describe, is_one_in_eight
from nfh_tui.textual_support import WorkProgress
from nfh_tui.widgets.status_bar import Level
from nfh_tui.workbench import availability
from nfh_tui.workbench.availability import NOTHING, OTHERS
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.display import local_time

if TYPE_CHECKING:
    from nfh_db.similar_items import Similar, SimilarAnswer


LONGEST_QUERY = 40
"""Maximum width of a query in a title, in cells."""
TELL_EVERY = 0.1
"""Minimum seconds between two progress updates."""
NOT_ADJUDICATING = "Only adjudicators can apply decisions: M switches the mode."
NO_DECISION = "There is no decision yet to apply to others."
NO_PRECEDENT = "No earlier decision has the same rule, number or noun."
LEFT_BLANK = (
    "This item is left blank on purpose, 1 in 8, so that you judge unprompted: its precedents "
    "are shown once you have decided."
)
OF_WHICH = {"flag": "Which flag?", "unflag": "Which flag?", "class": "Which answer?"}


class BulkController(Controller):
    """Bulk operations, decisions for similar items, and precedents."""

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "bulk.menu": self.choose,
            "sheet.open": self.review,
            "similar.apply": self.apply_to_similar,
            "precedents": self.show_precedents,
        }

    # --- bulk operations --------------------------------------------------------------------

    async def choose(self) -> None:
        """Choose an operation for all items of the query, preview it, and run it."""
        state = self.state
        if state.is_reading:
            raise RefusedError(self.ui.read_only_reason)
        text = clip(visible(state.query.text.strip()), LONGEST_QUERY)
        title = f"All items of {text}" if text else "All items"
        role, prompts = state.role, self.bench.prompts
        kind = await prompts.choose_from(title, availability.bulk_operations(role))
        if kind is None:
            return
        what = None
        if kind in OF_WHICH:
            of_class = kind == OperationKind.CLASS
            options = availability.kind_options() if of_class else availability.flag_options()
            if (what := await prompts.choose_from(OF_WHICH[kind], options)) is None:
                return
        operation = availability.bulk_operation(kind, role, what)
        # The draft must be on disk so that the operation skips its item.
        await self.bench.answers.draft_writer.flush()
        preview: BulkPreview = await self.ui.busy_while(
            "looking…",
            self.client.read(
                self.store.bulk.preview, state.query, operation, state.me, self._reporter()
            ),
        )
        from nfh_tui.screens.dialogs import PreviewDialog

        if await self.bench.app.push_screen_wait(PreviewDialog(preview)) is True:
            await self._run(preview.ids, operation, self._exposures(operation))

    def _exposures(
        self, operation: BulkOperation, voted: frozenset[int] = frozenset()
    ) -> Seeing:
        """Return the exposures: what was in view in this session, and what the operation itself
        shows.

        voted: items whose votes the dialogs have shown.
        """
        model = operation.deed is OperationKind.MODEL
        votes = operation.deed is OperationKind.PROPOSAL
        exposure = self.bench.item.exposure

        def seen(anchor_id: int) -> Exposure:
            return Exposure(
                saw_model=model or exposure.of_model(anchor_id),
                saw_votes=votes or anchor_id in voted or exposure.of_others(anchor_id),
            )

        return seen

    async def _run(self, ids: Sequence[int], operation: BulkOperation, seeing: Seeing) -> None:
        """Run an operation and show the result."""
        work = self.client.write(
            self.store.bulk.run, ids, operation, self.state.me,
            seeing=seeing, progress=self._reporter(),
        )  # fmt: skip
        done = await self.ui.busy_while("writing…", work)
        await self.bench.item.reload_all()
        self.ui.notify(self._done_words(done), Level.DONE)

    def _done_words(self, done: BulkDone) -> str:
        if done.act_id is None:
            return "there was nothing left to change"
        left = f", {done.left:,} skipped, because they have changed" if done.left else ""
        at = local_time(done.at)
        return f"{done.words}{left}, saved {at}; z twice undoes all of it"

    async def review(self) -> None:
        """Open the review sheet from the current item on; go on at the item that it leaves."""
        if self.state.mode is not Mode.ADJUDICATE:
            raise RefusedError(NOT_ADJUDICATING)
        await self.bench.answers.draft_writer.flush()
        from nfh_tui.screens.sheet import SheetScreen

        sheet = SheetScreen(self.bench)
        at = await self.bench.app.push_screen_wait(sheet)
        await self.bench.item.reload_all()
        if at is not None:
            await self.bench.item.show(at)
        self.ui.notify(sheet.told, sheet.level)

    # --- long work --------------------------------------------------------------------------

    def _reporter(self) -> Callable[[str, int], None]:
        """Return a callback for a worker thread; it updates the screen every TELL_EVERY
        seconds.
        """
        last = monotonic()

        def tell(what: str, count: int) -> None:
            nonlocal last
            if monotonic() - last >= TELL_EVERY:
                last = monotonic()
                self.bench.post_message(WorkProgress(f"{count:,} {what}…"))

        return tell

    # --- similar items ----------------------------------------------------------------------

    async def apply_to_similar(self) -> None:
        """Apply the decision of this item, or of the last decided one, to similar items."""
        state = self.state
        if state.mode is not Mode.ADJUDICATE:
            raise RefusedError(NOT_ADJUDICATING)
        await self.client.settled()
        source = await self._source()
        if source is None or source.gold is None:
            raise RefusedError(NO_DECISION)
        made = source.gold.answer
        await self.bench.answers.draft_writer.flush()

        def find() -> "tuple[SimilarAnswer, ...]":
            # Loading numpy would hold up the screen.
            from nfh_tui.services.vectors import alike

            found = alike(self.store, source.anchor_id, source.passage, made, state.me)
            return tuple(without_left_blank(one, state.me.name) for one in found)

        alike = await self.ui.busy_while("looking…", self.client.read(find))
        said = describe(made, source.passage)
        word = source.passage.words(source.anchor.start, source.anchor.end)
        if not any(one.items for one in alike):
            raise RefusedError(f"No item that is like “{word}” can take its answer, {said}.")
        from nfh_tui.screens.dialogs import SimilarDialog

        here = state.anchor_id == source.anchor_id
        which = f"Like “{word}”, decided {said}"
        title = which if here else f"{which} (the one decided before this item)"
        dialog = SimilarDialog(title, alike)
        if ticked := await self.bench.app.push_screen_wait(dialog):
            await self._apply_to(ticked)

    async def _apply_to(self, ticked: "Sequence[Similar]") -> None:
        operation = BulkOperation(
            OperationKind.GIVEN, answers={one.anchor_id: one.answer for one in ticked}
        )
        voted = frozenset(one.anchor_id for one in ticked if one.pattern)
        ids = [one.anchor_id for one in ticked]
        await self._run(ids, operation, self._exposures(operation, voted))

    async def _source(self) -> AnchorItem | None:
        """Return the item whose decision is applied, the first of these that has one:

        The item that was just accepted, if the current one is unchanged; the current item; the
        item that this person decided last.
        """
        state = self.state
        here = state.stored_item
        if state.last_accepted is not None and state.edit.content == state.initial.content:
            just = await self.client.item(state.last_accepted, state.me, state.role)
            if _names_a_kind(just):
                return just
        if here is not None:
            here = await self.client.item(here.anchor_id, state.me, state.role)
        if _names_a_kind(here):
            return here
        last = await self.client.read(self.store.similar.last_decided, state.me)
        if last is None:
            return None
        found = await self.client.item(last, state.me, Role.ADJUDICATOR)
        return found if _names_a_kind(found) else None

    # --- precedents -------------------------------------------------------------------------

    async def show_precedents(self) -> None:
        """Show earlier decisions that are relevant here; one of them can be opened beside the
        queue.
        """
        item = self.state.stored_item
        if self.state.mode is Mode.ANNOTATE:
            raise RefusedError(OTHERS)
        if item is None:
            raise RefusedError(NOTHING)
        if self.state.blinding.hides_precedents(item):
            raise RefusedError(LEFT_BLANK)
        found, why = await self.bench.item.find_precedents(item)
        if not found:
            raise RefusedError(NO_PRECEDENT)
        from nfh_tui.screens.dialogs import PrecedentDialog

        dialog = PrecedentDialog(found, why, named=not self.state.blind)
        if (chosen := await self.bench.app.push_screen_wait(dialog)) is not None:
            await self._show_beside(chosen)

    async def _show_beside(self, anchor_id: int) -> None:
        """Show an item beside the queue, whose position is kept; escape returns to it."""
        if (item := await self.bench.item.cache.get(anchor_id)) is None:
            raise RefusedError("This decision is no longer there: its number was replaced.")
        self.bench.item.leave()
        self.state.position = replace(self.state.position, is_detached=True)
        self.bench.item.present(item)
        self.ui.refresh_status()
        self.ui.notify("a precedent, beside the queue; esc goes back")


def without_left_blank(found: "SimilarAnswer", me: str) -> "SimilarAnswer":
    """Leave out what this person is to decide unprompted, where a model says what is alike."""
    if found.likeness is not Likeness.MEANING:
        return found
    offered = tuple(
        one
        for one in found.items
        if not one.pattern or not is_one_in_eight(anchor_id(one.passage.digest, one.anchor), me)
    )
    left = found.left + len(found.items) - len(offered)
    return replace(found, items=offered, left=left)


def _names_a_kind(item: AnchorItem | None) -> bool:
    return item is not None and item.gold is not None and item.gold.answer.kind is not Kind.NFH
