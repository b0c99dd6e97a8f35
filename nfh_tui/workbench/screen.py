"""The workbench: one screen on which all the work is done."""

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from nfh_db.errors import QueryError
from nfh_db.query import parse
from nfh_db.records import AnchorItem, Annotator
from nfh_tui.actions import ACTIONS, Mode
from nfh_tui.client import StoreClient
from nfh_tui.config import Config
from nfh_tui.textual_support import (
    ErrorRaised,
    PredictionReady,
    PredictorChanged,
    WorkbenchReady,
    start,
)
from nfh_tui.widgets.passage import PassageView
from nfh_tui.widgets.passage_render import OFF, VOTERS_SAW
from nfh_tui.workbench.background import Following
from nfh_tui.workbench.base import NOT_DONE
from nfh_tui.workbench.navigation import ALL_DONE
from nfh_tui.workbench.session import load, name_of

if TYPE_CHECKING:
    from nfh_tui.services.predictor_client import PredictorClient, PredictorState

PREDICTOR_VARIABLE = "NFH_TUI_PREDICTOR"
"""An environment variable; "off" keeps the predictor from being started."""

AFTER_READING = 0.05
"""Seconds after a move until predictions are asked for: by then the items are read."""

AT_MOST = 0.5
"""Seconds that the predictor may take to end by itself."""

PATIENCE = 3.0
"""Seconds to wait at the end for writes under way before asking."""

POLL = 1.0
"""Seconds between looks for what others have written."""


def bindings() -> list[BindingType]:
    """Every act's keys as Textual's bindings, under the act's id."""
    return [
        Binding(",".join(a.keys), f"act('{a.id}')", a.title, show=False, id=a.id)
        for a in ACTIONS
        if a.keys and not a.where
    ]


def acts_provider() -> type:
    """The palette's acts, imported when the palette is opened."""
    from nfh_tui.screens.palette import Acts

    return Acts


class Workbench(Following):
    """Queue, passage, evidence."""

    BINDINGS: ClassVar[list[BindingType]] = bindings()
    COMMANDS: ClassVar = {acts_provider}

    def __init__(
        self,
        client: StoreClient,
        me: Annotator,
        mode: Mode,
        query: str | None = None,
        config: Config | None = None,
        *,
        tour: bool = False,
    ) -> None:
        super().__init__(client, me, mode, config, tour=tour)
        self._asked_for = query
        self._troubles: set[str] = set()
        self._predictor: PredictorClient | None = None
        self._identifies = True
        self._predictor_is_off = False

    # --- opening ------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Start the turns; the first of them opens the queue."""
        self.show_pane("passage")
        self.queue_list.hide_answers = self.state.mode is Mode.ANNOTATE
        self.paint_status()
        self.paint_keys()
        self.in_turn(self._open)
        self.watch(self.passage, "scroll_y", self.letters_follow, init=False)
        start(self, self.take_turns, group="turns", description="the acts")

    async def _open(self) -> None:
        """Open the query asked for, else what this person was given and has not answered,
        else where they stood when last here.
        """
        place = await self.client.place(self.state.me, self.state.mode.value)
        self.state.windowed = await self.client.setting(VOTERS_SAW) != OFF
        text = await self._first_query(place.query)
        at = place.anchor_id if text == place.query else None
        try:
            query = parse(text)
            await self.client.check_models(query)
        except QueryError as error:
            self.refuse(f"query: {error}")
            query, at = parse(""), None
        kept = await self.client.setting(name_of(self.state.mode.value, self.state.me.name))
        await self.open_query(query, at, insist=True, near=load(kept, query.text))
        if self.state.todo_left and self._is_done(self.state.stored_item):
            await self.go(0)
        # To move would end a question that waits; it brought its own cursor along.
        waits = self.state.edit.span is not None or self.state.edit.pending is not None
        here = self.state.stored_item is not None and self.state.stored_item.anchor_id == at
        if place.token is not None and here and not waits:
            self.stand_on(place.token)
        if self.state.todo_left == 0:
            self.say(ALL_DONE)
        if self.client.store.unseen:
            self.refuse(self.client.store.unseen)
        await self.begin_to_follow()
        self.set_interval(POLL, self._look_for_others)
        self.app.call_after_refresh(self._start_predictor)
        self.post_message(WorkbenchReady())
        await self.tour_if_new()

    def _is_done(self, item: AnchorItem | None) -> bool:
        """True for an item that this person has answered and not begun anew."""
        return (
            item is not None
            and item.draft is None
            and any(
                v.annotator == self.state.me.name and v.role is self.state.role
                for v in item.votes
            )
        )

    async def _first_query(self, remembered: str) -> str:
        if self._asked_for is not None:
            return self._asked_for
        if self.state.is_reading:
            return remembered
        todo = await self.client.todo(self.state.me, self.state.role)
        return todo.query if todo.left else remembered

    # --- the predictor ------------------------------------------------------------------

    async def _start_predictor(self) -> None:
        """Start the child that predicts; without it the workbench works as well."""
        if os.environ.get(PREDICTOR_VARIABLE) == "off" or self.client.read_only:
            return
        from nfh_tui.services.predictor_client import PredictorClient

        predictor = PredictorClient(
            self.client.store.path,
            lambda anchor_id: self.post_message(PredictionReady(anchor_id)),
            self._predictor_told,
        )
        try:
            await predictor.start()
        except OSError as error:
            self.post_message(PredictorChanged("no model", f"No predictor: {error}", off=True))
            return
        self._predictor = predictor
        self.want_predictions()

    def _predictor_told(self, state: "PredictorState") -> None:
        words = f"model {state.status}" if state.model is None else f"model {state.model}"
        off = state.status == "off"
        self.post_message(PredictorChanged(words, state.sentence, off, state.aside))

    async def predictor_off(self) -> None:
        """Stop the child; one that does not listen is killed when the loop ends."""
        predictor, self._predictor = self._predictor, None
        if predictor is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(predictor.stop(), AT_MOST)

    def want_predictions(self) -> None:
        """Ask for what the item shown and the ones read ahead still lack."""
        if self._predictor is None or self.state.stored_item is None:
            return
        nearby = [
            self.state.stored_item.anchor_id,
            *self.state.ids.slice(self.state.position.index + 1, self.state.position.index + 4),
        ]
        known = [
            self.state.stored_item,
            *(self.cache.peek(anchor_id) for anchor_id in nearby[1:]),
        ]
        lacking = [
            anchor_id
            for anchor_id, item in zip(nearby, known, strict=True)
            if item is None
            or item.prediction is None
            or (self._identifies and item.identification is None)
        ]
        if lacking:
            self._predictor.ask(lacking)

    def read_ahead(self) -> None:
        """Read the next items, then ask for what they lack of predictions."""
        super().read_ahead()
        self.set_timer(AFTER_READING, self.want_predictions)

    async def on_prediction_ready(self, message: PredictionReady) -> None:
        """Show a prediction that came while its item is on the screen."""
        if (
            self.state.stored_item is not None
            and self.state.stored_item.anchor_id == message.anchor_id
        ):
            await self.refresh_item()
        else:
            self.cache.forget(message.anchor_id)

    async def models_changed(self) -> None:
        """Start the child again that was of no use with the model before."""
        if self._predictor is not None and self._predictor_is_off:
            await self._predictor.start()

    def on_predictor_changed(self, message: PredictorChanged) -> None:
        """Say how the predictor is, and once why it stays off."""
        self.set_status(model=message.words)
        self._predictor_is_off = message.off
        self._identifies = not message.aside
        if message.off or message.aside:
            self.say(message.sentence)

    # --- others' writes -----------------------------------------------------------------

    def _look_for_others(self) -> None:
        start(
            self,
            self._notice_others,
            group="others",
            description="what others have written",
            exclusive=True,
        )

    async def _notice_others(self) -> None:
        """Draw anew what is in view if anybody has written; what is begun stays."""
        lost = await self.client.lost()
        if lost and not self.state.lost_reason:
            self.state.lost_reason = lost
            self.in_turn(lambda: self.tell_lost(lost))
        wrote = await self.client.others_wrote()
        if wrote:
            await self._take_in()
        await self.follow(others_wrote=wrote)

    async def _take_in(self) -> None:
        self.cache.clear()
        await self.refresh_item()
        await self.queue_list.refresh_visible()
        await self.count_left()
        await self.learn_rules()
        self.read_ahead()

    # --- messages -----------------------------------------------------------------------

    def on_error_raised(self, message: ErrorRaised) -> None:
        """Show what could not be read or saved, once while it is not read."""
        message.stop()
        if message.sentence in self._troubles:
            return
        self._troubles.add(message.sentence)

        async def show() -> None:
            await self.show_error(message.sentence, message.title or NOT_DONE)
            self._troubles.discard(message.sentence)

        self.in_turn(show)

    def on_passage_view_token_clicked(self, message: PassageView.TokenClicked) -> None:
        """Put the cursor on a word that was clicked."""
        self.clock.touch()
        self.show_pane("passage")
        self.stand_on(message.token)

    # --- leaving ------------------------------------------------------------------------

    async def do_quit(self) -> None:
        """Save what waits and leave; ask first where something cannot be saved."""
        await self.save_all()
        if self.state.saving or self.draft_writer.unsaved:
            question = "Something is not saved yet. Leave all the same?"
            choices = (
                ("y", "leave", "leave"),
                ("r", "write all to another file", "rescue"),
                ("n", "stay", "stay"),
            )
            chosen = await self.choose(question, choices)
            if chosen == "rescue":
                await self.do_rescue()
                return
            if chosen != "leave":
                self.say("stayed")
                return
        await self.predictor_off()
        self.app.exit(0)

    async def save_all(self) -> None:
        """Write what waits, or what can be written of it before patience ends."""
        self.keep_place()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.draft_writer.flush()
                await self.position_writer.flush()
                await self.client.settled()
