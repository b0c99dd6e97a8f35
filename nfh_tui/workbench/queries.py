"""Queries, searches, saved views, and the order of the queue."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nfh_db.errors import QueryError, StoreError
from nfh_db.messages import counted
from nfh_db.query import SORTS, Query, keys_for, parse, quote, sorts_for
from nfh_db.query.parser import sorts_in, with_sort
from nfh_tui.actions import Access
from nfh_tui.widgets.input_bar import Wrong
from nfh_tui.widgets.status_bar import Foot, Level
from nfh_tui.workbench.availability import no_access
from nfh_tui.workbench.completion import Completer, NamedQuery, fit_offers, views
from nfh_tui.workbench.controller import Controller, Handler, RefusedError
from nfh_tui.workbench.state import QueryHistoryEntry

if TYPE_CHECKING:
    from nfh_tui.workbench.screen import Workbench


SUGGESTED = 6
"""Completions in the footer while a query is typed."""
TAB_WORDS = 10
"""Cells of the footer that completions cannot use."""
VIEW_SIGN = "@"
"""A query with this prefix is the name of a saved view."""
DEEP = "The current item is number {place:,} in this order; {first} goes to the first."
RANDOM = "random"
ORDER = "order"
WIDE = max(map(len, SORTS)) + 2
"""Width of the names in the list of orders, with a sign for the current one."""


def _entered(text: str, why_not: Callable[[Query], str]) -> str:
    """Return what enter would do: run the query, or report an error."""
    try:
        return why_not(parse(text.strip())) or "enter shows them"
    except QueryError as error:
        return "" if text.startswith(VIEW_SIGN) else str(error)


class QueryController(Controller):
    """Runs, saves and sorts queries."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self._known_values: dict[str, Sequence[str]] = {}

    def handlers(self) -> Mapping[str, Handler]:
        return {
            "query": self.ask,
            "search": self.search,
            "queue.reload": self.reload,
            "queue.sort": self.sort,
            "view.open": self.open_view,
            "view.save": self.save_view,
            "out": self.step_out,
        }

    # --- queries ----------------------------------------------------------------------------

    async def ask(self) -> None:
        """Ask for a query and show its items."""
        completer = Completer(lambda key: self._known_values.get(key, ()), self.state.role)
        self.run_latest(self._learn_values, "values", "values that completion offers")

        def typed(text: str) -> None:
            self._count_soon(text)
            offers = completer.offers(text, self.bench.bar.cursor)[:SUGGESTED]
            keys = fit_offers(offers, self.bench.size.width - TAB_WORDS)
            words = "tab" if keys else _entered(text, self.bench.queue.why_not_asked)
            self.bench.key_line.foot = Foot(words, keys)

        now = self.state.query.text
        text = await self.bench.prompts.ask(
            ":", now, changed=typed, complete=completer.tab, selected=True, check=self._wrong
        )
        await self.run(None if text is None else await self._of_view(text))

    async def _learn_values(self) -> None:
        """Read the values that the database contains, for completion."""
        for key in keys_for(self.state.role):
            if key.open_values:
                known = await self.client.read(
                    self.store.queue.values, key.name, self.state.me, self.state.role
                )
                self._known_values[key.name] = known

    async def search(self) -> None:
        """Ask for words; narrows the query to passages that contain them."""
        self.bench.key_line.foot = Foot("words of the passage; enter shows the items")

        async def wrong(words: str) -> Wrong | None:
            # The fault's place is one in the query, and not in the words.
            found = await self._wrong(self._narrowed(words)) if words.strip() else None
            return found and Wrong(found.words)

        words = await self.bench.prompts.ask(
            "/", changed=lambda text: self._count_soon(self._narrowed(text)), check=wrong
        )
        await self.run(self._narrowed(words) if words and words.strip() else None)

    def _narrowed(self, words: str) -> str:
        words = words.strip()
        added = f"text:{quote(words)}" if words else ""
        return f"{self.state.query.text} {added}".strip()

    async def _of_view(self, text: str) -> str | None:
        """Return the query of a view named with @, None for no view; other texts unchanged."""
        if not text.startswith(VIEW_SIGN):
            return text
        return await self.view_named(text.removeprefix(VIEW_SIGN).strip())

    async def _wrong(self, text: str) -> Wrong | None:
        """Return why a query, or a view named with @, cannot be shown."""
        if (asked := await self._of_view(text)) is None:
            name = text.removeprefix(VIEW_SIGN).strip()
            return Wrong(f"No view is named “{name}”: @ lists them.", len(VIEW_SIGN))
        try:
            parse(asked.strip())
        except QueryError as error:
            at = error.position + len(asked) - len(asked.lstrip()) if asked == text else None
            return Wrong(f"query: {error}", at)
        try:
            await self._allowed(asked)
        except RefusedError as refused:
            return Wrong(str(refused))
        return None

    async def _allowed(self, text: str) -> Query:
        """Return the query of a text. Raises RefusedError if it cannot be shown here."""
        try:
            query = parse(text.strip())
            await self.client.read(self.store.queue.check_models, query)
        except QueryError as error:
            raise RefusedError(f"query: {error}") from error
        if why := self.bench.queue.why_not_asked(query):
            raise RefusedError(why)
        return query

    async def run(self, text: str | None, *, back: bool = False) -> None:
        """Show the items of a query; None changes nothing.

        back: escape returns to the current item.
        """
        self.ui.refresh_keys()
        if text is None:
            return
        query = await self._allowed(text)
        if query.text != self.state.query.text:
            self.state.query_history.append(
                QueryHistoryEntry(self.state.query.text, self.state.anchor_id, back)
            )
        await self.show(query)

    async def show(self, query: Query) -> None:
        """Show the items of a query; keeps the current item if it is among them."""
        self.ui.notify("")
        await self.bench.queue.open(query, self.state.anchor_id)
        if not len(self.state.ids):
            self.ui.notify(f"No item matches this query{self.way_out()}.", Level.REFUSED)

    def way_out(self) -> str:
        """Return what escape does where the queue is empty, as the end of a sentence."""
        former = (parse(one.text) for one in self.state.query_history)
        if any(not self.bench.queue.why_not_asked(query) for query in former):
            return "; esc goes back to the previous query"
        return "; esc shows all items" if self.state.query.text else ""

    def _count_soon(self, text: str) -> None:
        """Count the items of a query; cancels a count for an older text."""
        self.run_latest(partial(self._count, text), "count", "counting what a query finds")

    async def _count(self, text: str) -> None:
        state = self.state
        try:
            count = await self.client.read(
                self.store.queue.count, parse(text.strip()), state.me, state.role
            )
        except (QueryError, StoreError) as error:
            self.bench.bar.note = str(error)
            return
        self.bench.bar.note = counted(count, "item")

    async def reload(self) -> None:
        """Run the query again."""
        await self.show(self.state.query)
        if len(self.state.ids):
            self.ui.notify("the queue is being updated", Level.DONE)

    async def step_out(self) -> None:
        """Go one level up: to the passage pane, then to the previous query."""
        if self.state.pane != "passage":
            self.ui.show_pane("passage")
        elif self.state.position.is_detached:
            await self.bench.queue.go(self.state.position.index)
        elif (former := self._previous()) is not None:
            here = former.anchor_id if former.back else self.state.anchor_id or former.anchor_id
            await self.bench.queue.open(parse(former.text), here, insist=True)
        elif self.state.query.text and not len(self.state.ids):
            await self.bench.queue.open(Query())
        else:
            self.ui.notify("Nothing is open. q quits.")

    def _previous(self) -> QueryHistoryEntry | None:
        """Return the last previous query that is allowed in this mode; None if there is
        none.
        """
        while self.state.query_history:
            former = self.state.query_history.pop()
            if not self.bench.queue.why_not_asked(parse(former.text)):
                return former
        return None

    async def ask_anew(self, left: str) -> None:
        """Run the query again for another role. left: why it is not allowed there."""
        state = self.state
        self._known_values.clear()
        if left:
            state.query_history.append(QueryHistoryEntry(state.query.text, state.anchor_id))
        await self.bench.queue.open(parse(state.query.text), state.anchor_id, insist=True)

    # --- views ------------------------------------------------------------------------------

    async def open_view(self) -> None:
        """Choose a view; your own can be renamed or deleted there."""
        from nfh_tui.screens.dialogs import ViewDialog

        while True:
            saved = await self.client.read(self.store.workspace.views, self.state.me)
            every = views(saved, self.state.mode, self.state.me.name)
            picked = await self.bench.app.push_screen_wait(ViewDialog(every, self._counted))
            if picked is None:
                return
            if picked.act == "open":
                await self.run(picked.view.query)
                return
            if why := no_access(self.state.access, Access.ANNOTATOR):
                raise RefusedError(why)
            await (
                self._rename(picked.view)
                if picked.act == "rename"
                else self._delete(picked.view)
            )

    async def _counted(self, text: str) -> str:
        try:
            count = await self.client.read(
                self.store.queue.count, parse(text), self.state.me, self.state.role
            )
        except (QueryError, StoreError):
            return "?"
        return f"{count:,}"

    async def _rename(self, view: NamedQuery) -> None:
        name = await self._ask_name("New name of this view", view.name)
        if name is None or name == view.name:
            return
        await self.client.write(self.store.workspace.save_view, self.state.me, name, view.query)
        await self.client.write(self.store.workspace.save_view, self.state.me, view.name, None)

    async def _delete(self, view: NamedQuery) -> None:
        question = f"Delete the view “{view.name}”? Its query: {view.query or 'everything'}"
        if await self.bench.prompts.confirm(question, "delete it", "keep it"):
            await self.client.write(
                self.store.workspace.save_view, self.state.me, view.name, None
            )

    async def _ask_name(self, prompt: str, name: str = "") -> str | None:
        """Ask for the name of a view until it may be taken; None on escape."""
        before = name

        async def wrong(text: str) -> Wrong | None:
            return None if text.strip() else Wrong("A view needs a name: type one.")

        while (typed := await self.bench.prompts.ask(prompt, name, check=wrong)) is not None:
            name = typed.strip()
            if name == before or await self._may_take(name):
                return name
        return None

    async def _may_take(self, name: str) -> bool:
        """Return True if the name is free, or you confirm that it gets another query."""
        known = dict(await self.client.read(self.store.workspace.views, self.state.me))
        if name not in known:
            return True
        question = f"There is a view “{name}”: {known[name] or 'everything'}"
        return await self.bench.prompts.confirm(question, "replace it", "keep it")

    async def save_view(self) -> None:
        """Save the query under a name."""
        if (name := await self._ask_name("Name of this view")) is None:
            return
        await self.client.write(
            self.store.workspace.save_view, self.state.me, name, self.state.query.text
        )
        self.ui.notify(f"view “{name}” saved; @ lists it, : @{name} opens it", Level.DONE)

    async def view_named(self, name: str) -> str | None:
        """Return the query of a view; None for an unknown name."""
        state = self.state
        saved = await self.client.read(self.store.workspace.views, state.me)
        every = {view.name: view.query for view in views(saved, state.mode, state.me.name)}
        return every.get(name)

    # --- the order --------------------------------------------------------------------------

    async def sort(self) -> None:
        """Choose a sort order, which replaces that of the query."""
        text = self.state.query.text
        present = sorts_in(text)
        now = present[0] if len(present) == 1 else "" if present else f"sort:{ORDER}"
        options = tuple(_option(*one, now) for one in sorts_for(self.state.role).items())
        results = [result for _, _, result in options]
        start = next((r for r in results if _name(r) == _name(now)), results[0])
        chosen = await self.bench.prompts.choose_from(
            "Order of the queue", options, start=start
        )
        if chosen is not None:
            await self.run(with_sort(text, "" if chosen == f"sort:{ORDER}" else chosen))
            if self.state.position.index and not self.state.position.is_detached:
                self.ui.notify(
                    DEEP.format(place=self.state.position.index + 1, first=self._first_key)
                )

    @property
    def _first_key(self) -> str:
        """Return the key that goes to the start of the queue."""
        found = (a.shown for a in self.bench.keymap.actions if a.id == "queue.first")
        return (next(found, "").split() or ["g"])[0]


def _name(term: str) -> str:
    """Return the name of an order without sign and seed."""
    return term.lstrip("-").partition(":")[2].partition("/")[0]


def _option(name: str, meaning: str, now: str) -> tuple[str, str, str]:
    """Return an order as a list entry, with the term that it adds to the query.

    Choosing the current order reverses it; a shuffle gets a new seed.
    """
    term = f"sort:{name}"
    if _name(now) != name:
        return f"{name:<{WIDE}}", meaning, term
    label = f"{f'{name} ●':<{WIDE}}"
    if name == RANDOM:
        seed = now.partition("/")[2]
        another = int(seed) + 1 if seed.isdigit() else 1
        return (
            label,
            f"now; enter shuffles again ({another})",
            f"{term}/{another}",
        )
    turned = term if now.startswith("-") else f"-{term}"
    return label, "the present order; enter reverses it", turned
