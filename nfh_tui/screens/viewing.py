"""Viewing: queries by name, and the order of the queue."""

from nfh_db.errors import QueryError, StoreError
from nfh_db.query import SORTS, parse, sorts_for
from nfh_db.query.sorting import sorts_in, with_sort
from nfh_tui.actions import Access
from nfh_tui.desk.reasons import denied
from nfh_tui.desk.standing_views import View, views
from nfh_tui.screens.looking import Looking

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
        from nfh_tui.screens.view_dialog import ViewDialog

        while True:
            saved = await self.client.views(self.me)
            every = views(saved, self.mode, self.me.name)
            picked = await self.app.push_screen_wait(ViewDialog(every, self._counted))
            if picked is None:
                return
            if picked.act == "open":
                await self._ran(picked.view.query)
                return
            if why := denied(self.access, Access.ANNOTATOR):
                self.refuse(why)
                return
            await (
                self._rename(picked.view)
                if picked.act == "rename"
                else self._delete(picked.view)
            )

    async def _counted(self, text: str) -> str:
        try:
            return f"{await self.client.queue_count(parse(text), self.me, self.role):,}"
        except (QueryError, StoreError):
            return "?"

    async def _rename(self, view: View) -> None:
        name = ((await self.ask("New name of this view", view.name)) or "").strip()
        if not name or name == view.name or not await self._may_take(name):
            return
        await self.client.save_view(self.me, name, view.query)
        await self.client.save_view(self.me, view.name, None)

    async def _delete(self, view: View) -> None:
        choices = (("y", "delete it", "y"), ("n", "keep it", "n"))
        question = f"Delete the view “{view.name}”? Its query: {view.query or 'everything'}"
        if await self.choose(question, choices) == "y":
            await self.client.save_view(self.me, view.name, None)

    async def _may_take(self, name: str) -> bool:
        """True for a name that no view has, or that is to be given to another query."""
        known = dict(await self.client.views(self.me))
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
        await self.client.save_view(self.me, name, self.query_now.text)
        self.announce(f"view “{name}” saved; @ lists it, : @{name} opens it")

    async def view_named(self, name: str) -> str | None:
        """The query of a view; None for a name that is none's."""
        saved = await self.client.views(self.me)
        every = {view.name: view.query for view in views(saved, self.mode, self.me.name)}
        return every.get(name)

    # --- the order ----------------------------------------------------------------------

    async def do_queue_sort(self) -> None:
        """Choose an order; it takes the place of the one that the query names."""
        text = self.query_now.text
        present = sorts_in(text)
        now = present[0] if len(present) == 1 else "" if present else f"sort:{ORDER}"
        options = tuple(_option(*one, now) for one in sorts_for(self.role).items())
        results = [result for _, _, result in options]
        start = next((r for r in results if _name(r) == _name(now)), results[0])
        chosen = await self.choose_from("Order of the queue", options, start=start)
        if chosen is not None:
            await self._ran(with_sort(text, "" if chosen == f"sort:{ORDER}" else chosen))
            if self.place and not self.beside:
                self.say(DEEP.format(place=self.place + 1, first=self._first_key))

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
