"""Bulk operations, similar items and precedents in the workbench."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from nfh_db.bulk_plan import BulkDone, BulkOperation, BulkPreview, OperationKind, Seeing
from nfh_db.errors import StoreError
from nfh_db.records import AnchorItem, Exposure, Role
from nfh_models.domain import Kind
from nfh_tui.actions import Mode
from nfh_tui.display_text import clip, visible
from nfh_tui.editor.votes import describe
from nfh_tui.textual_support import BulkProgress
from nfh_tui.workbench import availability
from nfh_tui.workbench.availability import NOTHING, OTHERS
from nfh_tui.workbench.views import Viewing

if TYPE_CHECKING:
    from nfh_db.similar_items import Similar

T = TypeVar("T")

LONGEST_QUERY = 40
"""Cells of a query in a title."""

TELL_EVERY = 0.1
"""Seconds between two figures of a long act."""

NOT_ADJUDICATING = "Decisions are applied while adjudicating: M changes the mode."
NO_DECISION = "Nothing is decided yet that could be applied to others."
NO_PRECEDENT = "No decision before this one has its rule, its number or its noun."
OF_WHICH = {"flag": "Which flag?", "unflag": "Which flag?", "class": "Which answer?"}


class Bulk(Viewing):
    """What reaches beyond the item."""

    # --- everything in the queue --------------------------------------------------------

    async def do_bulk_menu(self) -> None:
        """Choose what to do to all items of the query, look at it, and do it."""
        if self.state.is_reading:
            self.refuse(self.for_reading)
            return
        text = clip(visible(self.state.query.text.strip()), LONGEST_QUERY)
        title = f"All items of {text}" if text else "All items there are"
        deed = await self.choose_from(title, availability.deeds(self.state.role))
        if deed is None:
            return
        what = None
        if deed in OF_WHICH:
            options = (
                availability.kinds() if deed == OperationKind.CLASS else availability.flags()
            )
            what = await self.choose_from(OF_WHICH[deed], options)
            if what is None:
                return
        wish = availability.wish(deed, self.state.role, what)
        preview = await self._previewed(wish)
        if preview is not None and await self._confirmed(preview):
            await self._run(preview.ids, wish, self._seeing(wish))

    async def _previewed(self, wish: BulkOperation) -> BulkPreview | None:
        """What the wish would do to what the query finds now."""
        # What is begun must be on disk, so that the item is left as it is.
        await self.draft_writer.flush()
        try:
            return await self._while(
                "looking…",
                self.client.preview_bulk(self.state.query, wish, self.state.me, self._teller()),
            )
        except StoreError as error:
            await self.show_error(str(error))
            return None

    async def _confirmed(self, preview: BulkPreview) -> bool:
        from nfh_tui.screens.dialogs import PreviewDialog

        agreed = await self.app.push_screen_wait(PreviewDialog(preview))
        return agreed is True

    def _seeing(self, wish: BulkOperation, voted: frozenset[int] = frozenset()) -> Seeing:
        """What of each item was in view: in this session, and by what the act itself shows.

        voted: items whose votes were shown on the way.
        """
        model, votes = wish.deed is OperationKind.MODEL, wish.deed is OperationKind.PROPOSAL
        sight = self.sight

        def seen(anchor_id: int) -> Exposure:
            return Exposure(
                saw_model=model or sight.of_model(anchor_id),
                saw_votes=votes or anchor_id in voted or sight.of_others(anchor_id),
            )

        return seen

    async def _run(self, ids: Sequence[int], wish: BulkOperation, seeing: Seeing) -> None:
        """Do it, and show what came of it."""
        try:
            done = await self._while(
                "writing…",
                self.client.run_bulk(ids, wish, self.state.me, seeing, self._teller()),
            )
        except StoreError as error:
            await self.show_error(str(error))
            return
        self.cache.clear()
        await self.refresh_item()
        await self.queue_list.refresh_visible()
        await self.count_left()
        self.announce(self._done_words(done))

    def _done_words(self, done: BulkDone) -> str:
        if done.act_id is None:
            return "nothing was to be changed any more"
        left = f", {done.left:,} left, changed meanwhile" if done.left else ""
        at = self.local_time(done.at)
        return f"{done.words}{left}, saved {at}; z twice takes all of it back"

    # --- long work ----------------------------------------------------------------------

    async def _while(self, words: str, work: Awaitable[T]) -> T:
        """Wait for long work; keys pressed meanwhile wait, too, and the screen stays awake."""
        self.state.busy = words
        self.paint_status()
        try:
            return await work
        finally:
            self.state.busy = ""
            self.paint_status()

    def _teller(self) -> Callable[[str, int], None]:
        """What a thread calls to say how far it is; the screen is told now and then."""
        last = monotonic()

        def tell(what: str, count: int) -> None:
            nonlocal last
            if monotonic() - last >= TELL_EVERY:
                last = monotonic()
                self.post_message(BulkProgress(f"{count:,} {what}…"))

        return tell

    def on_bulk_progress(self, message: BulkProgress) -> None:
        """Show how far long work is, while it is under way."""
        if self.state.busy:
            self.state.busy = message.words
            self.paint_status()

    # --- similar items ------------------------------------------------------------------

    async def do_similar_apply(self) -> None:
        """Give the decision of this item, or else the last one, to items that are like it."""
        if self.state.mode is not Mode.ADJUDICATE:
            self.refuse(NOT_ADJUDICATING)
            return
        await self.client.settled()
        source = await self._decided()
        if source is None or source.gold is None:
            self.refuse(NO_DECISION)
            return
        made = source.gold.answer
        await self.draft_writer.flush()
        alike = await self._while(
            "looking…",
            self.client.similar(source.anchor_id, source.passage, made, self.state.me),
        )
        said = describe(made, source.passage)
        word = source.passage.words(source.anchor.start, source.anchor.end)
        if not any(one.items for one in alike):
            self.refuse(f"Nothing that is like “{word}”, decided {said}, can be given that.")
            return
        from nfh_tui.screens.dialogs import SimilarDialog

        here = (
            self.state.stored_item is not None
            and self.state.stored_item.anchor_id == source.anchor_id
        )
        which = f"Like “{word}”, decided {said}"
        title = which if here else f"{which} (the one decided before this item)"
        dialog = SimilarDialog(title, alike)
        ticked = await self.app.push_screen_wait(dialog)
        if ticked:
            await self._apply_to(ticked)

    async def _apply_to(self, ticked: "Sequence[Similar]") -> None:
        wish = BulkOperation(
            OperationKind.GIVEN, answers={one.anchor_id: one.answer for one in ticked}
        )
        voted = frozenset(one.anchor_id for one in ticked if one.pattern)
        ids = [one.anchor_id for one in ticked]
        await self._run(ids, wish, self._seeing(wish, voted))

    async def _decided(self) -> AnchorItem | None:
        """The item just accepted while this one is as it came; else this one if it is decided,
        else the one that this person decided last.
        """
        here = self.state.stored_item
        if (
            self.state.last_accepted is not None
            and self.state.edit.content == self.state.initial.content
        ):
            just = await self.client.item(
                self.state.last_accepted, self.state.me, self.state.role
            )
            if _names_a_kind(just):
                return just
        if here is not None:
            here = await self.client.item(here.anchor_id, self.state.me, self.state.role)
        if _names_a_kind(here):
            return here
        last = await self.client.last_decided(self.state.me)
        if last is None:
            return None
        found = await self.client.item(last, self.state.me, Role.ADJUDICATOR)
        return found if _names_a_kind(found) else None

    # --- precedents ---------------------------------------------------------------------

    async def do_precedents(self) -> None:
        """Show earlier decisions that bear on this item; one may be opened beside the queue."""
        item = self.state.stored_item
        if self.state.mode is Mode.ANNOTATE:
            self.refuse(OTHERS)
            return
        if item is None:
            self.refuse(NOTHING)
            return
        nouns, tag = self._bearing(item)
        found = await self.client.precedents(item.anchor_id, self.state.me, nouns, tag)
        if not found:
            self.refuse(NO_PRECEDENT)
            return
        from nfh_tui.screens.dialogs import PrecedentDialog

        dialog = PrecedentDialog(found, named=not self.state.blind)
        chosen = await self.app.push_screen_wait(dialog)
        if chosen is not None:
            await self._show_beside(chosen)

    def _bearing(self, item: AnchorItem) -> tuple[frozenset[str], str | None]:
        """The nouns and the rule that the answer in the editor names, or else gold does."""
        tokens = item.passage.tokens
        marked = [m for mentions in self.state.edit.heads for m in mentions]
        said = self.state.edit.noun
        if not marked and not said and item.gold is not None:
            marked, said = list(item.gold.answer.mentions()), item.gold.answer.noun
        nouns = {tokens[mention.head].lemma for mention in marked}
        return frozenset(nouns | ({said} if said else set())), self.state.edit.tag

    async def _show_beside(self, anchor_id: int) -> None:
        """Show an item without leaving one's place in the queue; esc goes back to that."""
        item = await self.cache.get(anchor_id)
        if item is None:
            self.refuse("This decision is no longer there: its number was replaced.")
            return
        self.leave()
        self.state.position = replace(self.state.position, is_detached=True)
        self.present(item)
        self.paint_status()
        self.say("a precedent, beside the queue; esc goes back")


def _names_a_kind(item: AnchorItem | None) -> bool:
    return item is not None and item.gold is not None and item.gold.answer.kind is not Kind.NFH
