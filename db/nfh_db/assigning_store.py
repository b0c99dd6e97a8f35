"""What the store does with assignments; a part of `Store`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from nfh_db import annotators, assignments, items
from nfh_db.errors import StoreError
from nfh_db.opened import OpenDatabase
from nfh_db.query import Query
from nfh_db.records import PERSON, Annotator, Item, Role

if TYPE_CHECKING:
    from nfh_db.distributing import Wanted
    from nfh_db.progress import Progress


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a call gave out.

    items: of the query. filled: those that lacked nothing. given: by person and purpose.
    doubles: of the items, those to be decided by two. short: items that lack answers which
    nobody named could give. checks_short: hidden checks that there was no known gold for.
    returned: abandoned assignments given to others.
    """

    items: int
    filled: int
    given: Mapping[str, Mapping[str, int]]
    doubles: int
    short: int
    checks_short: int
    returned: int
    run: str
    dry_run: bool = False


class AssigningStore(OpenDatabase):
    """Who is to answer what, how far they are, and what an annotator may see."""

    def item_for_annotator(self, anchor_id: int, me: Annotator) -> Item | None:
        """An anchor as an annotator may see it: nothing of others' answers, nor of gold."""
        with self._readers.lend(one_state=True) as connection:
            return items.read_for_annotator(connection, anchor_id, me, self._passages)

    def todo(self, me: Annotator, role: Role) -> assignments.Todo:
        """How much of what this person was given in a role is open, and where it is found."""
        with self._readers.lend(one_state=True) as connection:
            return assignments.todo(connection, me.id, role)

    def assign(
        self,
        query: Query,
        me: Annotator | None,
        to: Sequence[str],
        wanted: "Wanted",
        *,
        limit: int | None = None,
        dry_run: bool = False,
        tell: Callable[[int], None] = lambda _: None,
    ) -> Dealt:
        """Give the items of a query, the first `limit` of them, to people by name.

        me: whom "me" of the query means. Only what is lacking is given; see
        `nfh_db.distributing`. tell: is told how many assignments are written.
        Raises StoreError for a name that cannot be one.
        """
        from nfh_db import distributing, giving, queue

        people = self._people(dict.fromkeys(to), dry_run=dry_run)
        with self._readers.lend(one_state=True) as connection:
            found = chain.from_iterable(queue.queue_ids(connection, query, me.id if me else 0))
            ids = list(islice(found, limit))
            plan = distributing.plan(connection, ids, people, wanted)
        if dry_run:
            slots = [*chain.from_iterable(plan.slots.values()), *plan.checks]
        else:
            slots = giving.give(self._noting, plan, tell)
        return Dealt(
            items=len(ids),
            filled=plan.filled,
            given=giving.counted(slots, people),
            doubles=len(plan.doubles),
            short=plan.short,
            checks_short=plan.checks_short,
            returned=plan.returned,
            run=plan.run,
            dry_run=dry_run,
        )

    def _people(self, names: Mapping[str, None], *, dry_run: bool) -> list[Annotator]:
        """Everybody by name, made if unknown; in a trial those have ids of nobody."""
        for name in names:
            annotators.check_name(name)
        return [
            self._person(name, -number, dry_run=dry_run)
            for number, name in enumerate(names, start=1)
        ]

    def _person(self, name: str, id_: int, *, dry_run: bool) -> Annotator:
        with self._readers.lend() as connection:
            found = annotators.find(connection, name)
        if found is not None:
            annotators.check_type(found, PERSON)
            return found
        if dry_run:
            return Annotator(id_, name)
        with self._deciding() as connection:
            return annotators.add(connection, name)

    def take_back(
        self,
        query: Query,
        me: Annotator | None,
        before: str,
        name: str | None = None,
        *,
        dry_run: bool = False,
    ) -> dict[str, int]:
        """Return what was given before a time to people who finished nothing since.

        name: of this person only. Gives how many, by name. Raises StoreError if nobody is
        called so.
        """
        from nfh_db import giving, progress

        with self._readers.lend(one_state=True) as connection:
            if name is not None and annotators.find(connection, name) is None:
                raise StoreError(f"Nobody here is called {name!r}: nothing to take back")
            found = progress.abandoned(connection, query, me.id if me else 0, before, name)
        if not dry_run:
            giving.take_back(self._noting, list(chain.from_iterable(found.values())))
        return {who: len(ids) for who, ids in found.items()}

    def progress(
        self, query: Query, me: Annotator | None, before: str
    ) -> "tuple[Progress, ...]":
        """How far everybody is with what they were given of a query, by name and role.

        before: what was given before this time to somebody who finished nothing since is
        abandoned.
        """
        from nfh_db import progress

        with self._readers.lend(one_state=True) as connection:
            return progress.everybody(connection, query, me.id if me else 0, before)
