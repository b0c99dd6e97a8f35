"""Queries, searches, saved views, the order of the queue, the heat map, panes, help and
modes.
"""

from collections.abc import Callable, Sequence
from functools import partial

from nfh_db.errors import QueryError, StoreError
from nfh_db.query import SORTS, Query, keys_for, parse, quote, sorts_for
from nfh_db.query.parser import sorts_in, with_sort
from nfh_tui.actions import Access, Mode
from nfh_tui.textual_support import start
from nfh_tui.theme import SETTING
from nfh_tui.widgets.passage_render import OFF, ON, VOTERS_SAW, Heat, heat_words, window
from nfh_tui.widgets.status_bar import Foot
from nfh_tui.workbench.availability import denied
from nfh_tui.workbench.base import PANES
from nfh_tui.workbench.completion import Completer, NamedQuery, offered, views
from nfh_tui.workbench.side_panels import Ruling
from nfh_tui.workbench.state import QueryHistoryEntry

SUGGESTED = 6
"""Completions that stand at the foot while a query is typed."""

TAB_WORDS = 10
"""Cells of the foot that are not completions."""

VIEW_SIGN = "@"
"""A query that begins so is the name of a saved view."""

BOUNDED = "lines bound what voters saw"
NOT_BOUNDED = "lines will bound what voters saw; here they saw all of it, or may have"
"""Said when the lines are asked for: of an item that has them, and of one that has none."""


def _entered(text: str, why_not: Callable[[Query], str]) -> str:
    """What enter would do with a query: show what it finds, or say why it cannot."""
    try:
        return why_not(parse(text.strip())) or "enter shows them"
    except QueryError as error:
        return "" if text.startswith(VIEW_SIGN) else str(error)


class Looking(Ruling):
    """What changes only what is seen."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._known_values: dict[str, Sequence[str]] = {}

    # --- queries ------------------------------------------------------------------------

    async def do_query(self) -> None:
        """Ask for a query and show what it finds."""
        completer = Completer(lambda key: self._known_values.get(key, ()), self.state.role)
        start(
            self,
            self._learn_values,
            group="values",
            description="values that completion offers",
            exclusive=True,
        )

        def typed(text: str) -> None:
            self._count_soon(text)
            offers = completer.offers(text, self.bar.cursor)[:SUGGESTED]
            keys = offered(offers, self.size.width - TAB_WORDS)
            words = "tab" if keys else _entered(text, self.why_not_asked)
            self.key_line.foot = Foot(words, keys)

        now = self.state.query.text
        text = await self.ask(":", now, changed=typed, complete=completer.tab, selected=True)
        await self._ran(await self._of_view(text))

    async def _learn_values(self) -> None:
        """Read what the database knows of values, for completion to offer."""
        for key in keys_for(self.state.role):
            if key.open_values:
                known = await self.client.queue_values(key.name, self.state.me, self.state.role)
                self._known_values[key.name] = known

    async def do_search(self) -> None:
        """Ask for words and keep the items of this query whose passage has them."""
        self.key_line.foot = Foot("words of the passage; enter shows the items")
        words = await self.ask("/", changed=lambda text: self._count_soon(self._narrowed(text)))
        await self._ran(self._narrowed(words) if words and words.strip() else None)

    def _narrowed(self, words: str) -> str:
        words = words.strip()
        added = f"text:{quote(words)}" if words else ""
        return f"{self.state.query.text} {added}".strip()

    async def _of_view(self, text: str | None) -> str | None:
        """The query of a view named with @; other texts as they are."""
        if text is None or not text.startswith(VIEW_SIGN):
            return text
        name = text.removeprefix(VIEW_SIGN).strip()
        query = await self.view_named(name)
        if query is None:
            self.refuse(f"No view is named “{name}”: @ lists them.")
        return query

    async def view_named(self, name: str) -> str | None:
        """The query of a view: a layer above knows them."""
        del name
        return None

    async def _ran(self, text: str | None, *, back: bool = False) -> None:
        """Show what a query finds; None leaves all as it is. back: esc goes back to where one
        is now."""
        self.paint_keys()
        if text is None:
            return
        try:
            query = parse(text.strip())
            await self.client.check_models(query)
        except QueryError as error:
            self.refuse(f"query: {error}")
            return
        if why := self.why_not_asked(query):
            self.refuse(why)
            return
        if query.text != self.state.query.text:
            self.state.query_history.append(
                QueryHistoryEntry(self.state.query.text, self._here, back)
            )
        await self.show_query(query)

    @property
    def _here(self) -> int | None:
        return None if self.state.stored_item is None else self.state.stored_item.anchor_id

    async def show_query(self, query: Query) -> None:
        """Show what a query finds, staying on the item if that is among it."""
        self.say("")
        await self.open_query(query, self._here)
        if not len(self.state.ids):
            self.refuse("Nothing fits this query; esc goes back to the one before.")

    def _count_soon(self, text: str) -> None:
        """Count what a query would find; a count under way for an older text is dropped."""
        start(
            self,
            partial(self._count, text),
            group="count",
            description="counting what a query finds",
            exclusive=True,
        )

    async def _count(self, text: str) -> None:
        try:
            count = await self.client.queue_count(
                parse(text.strip()), self.state.me, self.state.role
            )
        except (QueryError, StoreError) as error:
            self.bar.note = str(error)
            return
        self.bar.note = f"{count:,} item" + ("" if count == 1 else "s")

    async def do_queue_reload(self) -> None:
        """Make the queue anew."""
        await self.show_query(self.state.query)
        if len(self.state.ids):
            self.announce("the queue is made anew")

    # --- what is shown ------------------------------------------------------------------

    def do_heat(self) -> None:
        """Go on to the model's scores, to the difference of two models, and to neither."""
        self._heat_up(self.state.heat.after)

    def _heat_up(self, heat: Heat) -> None:
        self.state.heat = heat
        self.paint_item()
        self.say(heat_words(self.state.visible_item, heat, self.state.other_model))

    async def do_heat_other(self) -> None:
        """Choose the model with which the active one is compared."""
        names = (
            [said.model for said in self.state.visible_item.others]
            if self.state.visible_item is not None
            else []
        )
        if (
            not names
            or self.state.visible_item is None
            or self.state.visible_item.prediction is None
        ):
            self.refuse(heat_words(self.state.visible_item, Heat.DIFFERENCE, None))
            return
        options = tuple((name, "", name) for name in names)
        chosen = await self.choose_from("Compare with", options, start=self.state.other_model)
        if chosen is not None:
            self.state.other_model = chosen
            self._heat_up(Heat.DIFFERENCE)

    async def do_window(self) -> None:
        """Show or hide where the turns begin and end that voters were shown.

        That is so of a corpus, not of a person: it is kept in the database, for whoever may
        change its settings.
        """
        self.state.windowed = not self.state.windowed
        self.paint_item()
        drawn = (
            self.state.visible_item is not None and window(self.state.visible_item) is not None
        )
        words = BOUNDED if drawn else NOT_BOUNDED
        self.say(words if self.state.windowed else "bounds of voters hidden")
        if self.state.access >= Access.ADMIN:
            await self.client.set_setting(VOTERS_SAW, ON if self.state.windowed else OFF)

    def do_blind(self) -> None:
        """Hide or show names."""
        self.state.blind = not self.state.blind
        self.paint_item()
        self.say("names hidden, order mixed" if self.state.blind else "names shown")

    def do_pane_next(self) -> None:
        """Go to the next pane."""
        self.show_pane(PANES[(PANES.index(self.state.pane) + 1) % len(PANES)])

    def do_pane_previous(self) -> None:
        """Go to the pane before."""
        self.show_pane(PANES[PANES.index(self.state.pane) - 1])

    async def do_help(self) -> None:
        """Show the keys."""
        from nfh_tui.screens.dialogs import help_table

        title = f"Keys · {self.state.pane} · {self.state.mode}"
        table = help_table(self.state.pane, self.state.mode, self.keymap.actions, self.why_not)
        await self.show_text(title, table)

    def do_palette(self) -> None:
        """Open the palette."""
        from nfh_tui.screens.palette import Palette

        self.app.push_screen(Palette(placeholder="An act by name…"))

    async def do_theme(self) -> None:
        """Choose a theme; each is shown while one moves through the list."""
        before = self.app.theme

        def show(name: str) -> None:
            self.app.theme = name

        names = tuple((name, "", name) for name in sorted(self.app.available_themes))
        chosen = await self.choose_from("Themes", names, start=before, moved=show)
        self.app.theme = chosen or before
        if chosen is not None and self.state.keeps_own:
            await self.client.set_setting(f"{SETTING}.{self.state.me.name}", chosen)

    async def do_out(self) -> None:
        """One step out: to the passage, then to the former query."""
        if self.state.pane != "passage":
            self.show_pane("passage")
        elif self.state.position.is_detached:
            await self.go(self.state.position.index)
        elif (former := self._former()) is not None:
            here = former.anchor_id if former.back else self._here or former.anchor_id
            await self.open_query(parse(former.text), here, insist=True)
        else:
            self.say("Nothing is open. q quits.")

    def _former(self) -> QueryHistoryEntry | None:
        """The last query before this one that may be asked in this mode, if there is one."""
        while self.state.query_history:
            former = self.state.query_history.pop()
            if not self.why_not_asked(parse(former.text)):
                return former
        return None

    # --- modes --------------------------------------------------------------------------

    async def do_mode_next(self) -> None:
        """Go to the next mode."""
        modes = list(Mode)
        await self.set_mode(modes[(modes.index(self.state.mode) + 1) % len(modes)])

    async def do_mode_browse(self) -> None:
        """Read only."""
        await self.set_mode(Mode.BROWSE)

    async def do_mode_annotate(self) -> None:
        """Give one's own answers."""
        await self.set_mode(Mode.ANNOTATE)

    async def do_mode_adjudicate(self) -> None:
        """Decide what counts."""
        await self.set_mode(Mode.ADJUDICATE)

    async def set_mode(self, mode: Mode) -> None:
        """Change what the workbench is for; the item stays, and the queue if it may."""
        if self.client.read_only and mode is not Mode.BROWSE:
            self.refuse(self.for_reading)
            return
        self.leave()
        await self.position_writer.flush()
        role, self.state.mode = self.state.role, mode
        self.queue_list.hide_answers = mode is Mode.ANNOTATE
        self.cache.clear()
        left = self.why_not_asked(self.state.query)
        if self.state.role is not role and self.state.query.text.strip():
            await self._ask_anew(left)
        elif self.state.stored_item is not None:
            await self.show_anchor(self.state.stored_item.anchor_id)
        # In another role other things are seen of the queue, too.
        await self.queue_list.refresh_visible()
        await self.count_left()
        self.paint_status()
        self.paint_keys()
        self.announce(
            {
                Mode.BROWSE: "reading: nothing can be changed",
                Mode.ANNOTATE: f"annotating as {self.state.me.name}",
                Mode.ADJUDICATE: f"adjudicating as {self.state.me.name}: answers make gold",
            }[mode]
        )
        if left:
            self.refuse(f"Everything is shown instead: {left}")

    async def _ask_anew(self, left: str) -> None:
        """Show what the query finds in another role. left: why it may not be asked there."""
        self._known_values.clear()
        if left:
            self.state.query_history.append(
                QueryHistoryEntry(self.state.query.text, self._here)
            )
        await self.open_query(parse(self.state.query.text), self._here, insist=True)


DEEP = "The item in hand is number {place:,} in this order; {first} goes to the first."

RANDOM = "random"
ORDER = "order"
WIDE = max(map(len, SORTS)) + 2
"""Cells of an order's name in the list, with the sign of the one there is."""


class Viewing(Looking):
    """What chooses, keeps and orders queries."""

    # --- views --------------------------------------------------------------------------

    async def do_view_open(self) -> None:
        """Choose a view; one's own may be renamed or deleted on the way."""
        from nfh_tui.screens.dialogs import ViewDialog

        while True:
            saved = await self.client.views(self.state.me)
            every = views(saved, self.state.mode, self.state.me.name)
            picked = await self.app.push_screen_wait(ViewDialog(every, self._counted))
            if picked is None:
                return
            if picked.act == "open":
                await self._ran(picked.view.query)
                return
            if why := denied(self.state.access, Access.ANNOTATOR):
                self.refuse(why)
                return
            await (
                self._rename(picked.view)
                if picked.act == "rename"
                else self._delete(picked.view)
            )

    async def _counted(self, text: str) -> str:
        try:
            count = await self.client.queue_count(parse(text), self.state.me, self.state.role)
        except (QueryError, StoreError):
            return "?"
        return f"{count:,}"

    async def _rename(self, view: NamedQuery) -> None:
        name = ((await self.ask("New name of this view", view.name)) or "").strip()
        if not name or name == view.name or not await self._may_take(name):
            return
        await self.client.save_view(self.state.me, name, view.query)
        await self.client.save_view(self.state.me, view.name, None)

    async def _delete(self, view: NamedQuery) -> None:
        choices = (("y", "delete it", "y"), ("n", "keep it", "n"))
        question = f"Delete the view “{view.name}”? Its query: {view.query or 'everything'}"
        if await self.choose(question, choices) == "y":
            await self.client.save_view(self.state.me, view.name, None)

    async def _may_take(self, name: str) -> bool:
        """True for a name that no view has, or that is to be given to another query."""
        known = dict(await self.client.views(self.state.me))
        if name not in known:
            return True
        choices = (("y", "replace it", "y"), ("n", "keep it", "n"))
        question = f"There is a view “{name}”: {known[name] or 'everything'}"
        return await self.choose(question, choices) == "y"

    async def do_view_save(self) -> None:
        """Keep the query under a name."""
        name = ((await self.ask("Name of this view")) or "").strip()
        if not name:
            return
        if not await self._may_take(name):
            self.say("nothing saved")
            return
        await self.client.save_view(self.state.me, name, self.state.query.text)
        self.announce(f"view “{name}” saved; @ lists it, : @{name} opens it")

    async def view_named(self, name: str) -> str | None:
        """The query of a view; None for a name that is none's."""
        saved = await self.client.views(self.state.me)
        every = {
            view.name: view.query for view in views(saved, self.state.mode, self.state.me.name)
        }
        return every.get(name)

    # --- the order ----------------------------------------------------------------------

    async def do_queue_sort(self) -> None:
        """Choose an order; it takes the place of the one that the query names."""
        text = self.state.query.text
        present = sorts_in(text)
        now = present[0] if len(present) == 1 else "" if present else f"sort:{ORDER}"
        options = tuple(_option(*one, now) for one in sorts_for(self.state.role).items())
        results = [result for _, _, result in options]
        start = next((r for r in results if _name(r) == _name(now)), results[0])
        chosen = await self.choose_from("Order of the queue", options, start=start)
        if chosen is not None:
            await self._ran(with_sort(text, "" if chosen == f"sort:{ORDER}" else chosen))
            if self.state.position.index and not self.state.position.is_detached:
                self.say(
                    DEEP.format(place=self.state.position.index + 1, first=self._first_key)
                )

    @property
    def _first_key(self) -> str:
        """The key that goes to the start of the queue."""
        found = (a.shown for a in self.keymap.actions if a.id == "queue.first")
        return (next(found, "").split() or ["g"])[0]


def _name(term: str) -> str:
    """The order that a term names, without sign and seed."""
    return term.lstrip("-").partition(":")[2].partition("/")[0]


def _option(name: str, meaning: str, now: str) -> tuple[str, str, str]:
    """An order as the list shows it, and the term that choosing it writes.

    The order there is now is turned round by choosing it again; of a shuffle another is made.
    """
    term = f"sort:{name}"
    if _name(now) != name:
        return f"{name:<{WIDE}}", meaning, term
    if name == RANDOM:
        seed = now.partition("/")[2]
        another = int(seed) + 1 if seed.isdigit() else 1
        return (
            f"{f'{name} ●':<{WIDE}}",
            f"as it is now; enter shuffles anew ({another})",
            f"{term}/{another}",
        )
    turned = now.startswith("-")
    return (
        f"{f'{name} ●':<{WIDE}}",
        "as it is now; enter turns it round",
        term if turned else f"-{term}",
    )
