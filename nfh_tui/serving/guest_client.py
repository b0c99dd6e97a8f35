"""The store client of a guest, which refuses writes beyond the guest's access.

Screens refuse such actions with a reason before they get here. This is the second check: any
write that is not listed for guests needs the access of an admin.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from nfh_db.bulk_plan import DECIDING, BulkOperation
from nfh_db.errors import NotAllowedError
from nfh_db.query import Query
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_tui.actions import Access, Mode
from nfh_tui.client import StoreClient
from nfh_tui.services.guidelines import BEGUN
from nfh_tui.theme import SETTING as THEME
from nfh_tui.workbench.availability import no_access
from nfh_tui.workbench.background import SETTING as TOUR
from nfh_tui.workbench.session import name_of

if TYPE_CHECKING:
    from nfh_db.comparisons import Changes

P = ParamSpec("P")
T = TypeVar("T")

ACCESS_OF = {
    Mode.BROWSE: Access.READER,
    Mode.ANNOTATE: Access.ANNOTATOR,
    Mode.ADJUDICATE: Access.ADJUDICATOR,
}
"""The access of guests who are not admins, by the mode they were invited for."""

NOT_YOURS = "This is an action of {other}, but you are {me}."
NO_READING = "This action writes, but was requested as one that only reads."


class GuestClient(StoreClient):
    """The store client of one guest. Calls beyond their access raise NotAllowedError.

    me: the only annotator as whom they may write.
    """

    def __init__(self, store: Store, me: Annotator, access: Access) -> None:
        super().__init__(store)
        self._me = me
        self._access = access
        edits, workspace = store.edits, store.workspace
        # The least access for each write. See `_least` for writes as an adjudicator and for
        # settings. Any other write needs the access of an admin.
        self._needed: Mapping[Callable[..., object], Access] = {
            edits.commit_answer: Access.ANNOTATOR,
            edits.withdraw: Access.ANNOTATOR,
            edits.set_flag: Access.ANNOTATOR,
            edits.propose_span: Access.ANNOTATOR,
            edits.undo: Access.ANNOTATOR,
            edits.redo: Access.ANNOTATOR,
            store.bulk.run: Access.ANNOTATOR,
            store.bulk.accept_sheet: Access.ADJUDICATOR,
            workspace.save_draft: Access.ANNOTATOR,
            workspace.save_position: Access.ANNOTATOR,
            workspace.save_view: Access.ANNOTATOR,
            self.rescue_all: Access.ANNOTATOR,  # see `rescue`
            edits.replace_anchor: Access.ADJUDICATOR,
            store.guidelines.add_first: Access.ADJUDICATOR,
            store.guidelines.add: Access.ADJUDICATOR,
        }

    def require(self, access: Access) -> None:
        """Raise NotAllowedError if this guest's access is lower."""
        if why := no_access(self._access, access):
            raise NotAllowedError(why)

    async def read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that only reads. Raises NotAllowedError for the listed writes."""
        if call in self._needed:
            raise NotAllowedError(NO_READING)
        return await super().read(call, *args, **kwargs)

    def write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Call a function that writes. Raises NotAllowedError beyond the guest's access."""
        self.require(self._least(call, args))
        for one in args:
            if isinstance(one, Annotator) and one != self._me:
                raise NotAllowedError(NOT_YOURS.format(other=one.name, me=self._me.name))
        back = call in (self.store.edits.undo, self.store.edits.redo)
        if back and self._access < Access.ADJUDICATOR:
            kwargs["role"] = Role.ANNOTATOR
        return super().write(call, *args, **kwargs)

    def _least(self, call: Callable[..., object], args: tuple[object, ...]) -> Access:
        if call == self.store.settings.write:
            return self._settings().get(str(args[0]), Access.ADMIN)
        needed = self._needed.get(call, Access.ADMIN)
        for one in args:
            role = one.role if isinstance(one, BulkOperation) else one
            if role is Role.ADJUDICATOR or (
                isinstance(one, BulkOperation) and one.deed in DECIDING
            ):
                needed = max(needed, Access.ADJUDICATOR)
        return needed

    def _settings(self) -> Mapping[str, Access]:
        """The settings that are this guest's own."""
        me = self._me.name
        own = [f"{THEME}.{me}", f"{TOUR}.{me}", *(name_of(mode.value, me) for mode in Mode)]
        return dict.fromkeys(own, Access.ANNOTATOR) | {f"{BEGUN}.{me}": Access.ADJUDICATOR}

    async def rescue(self, unsaved: Sequence[Callable[[Store], object]]) -> Path:
        """Write everything to another file: for admins, or if the database is lost."""
        if not await self.lost():
            self.require(Access.ADMIN)
        return await super().rescue(unsaved)

    async def start_runner(self) -> bool:
        """Start a job runner; for admins."""
        self.require(Access.ADMIN)
        return await super().start_runner()

    async def changes_since(
        self, path: Path, query: Query, me: Annotator, progress: Callable[[int], None]
    ) -> "Changes":
        """Compare gold with a file on the server; for admins."""
        self.require(Access.ADMIN)
        return await super().changes_since(path, query, me, progress)
