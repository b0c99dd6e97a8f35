"""The store as a guest's workbench may ask it: what they may not change, it does not change.

The screen refuses such acts with a reason before they come here. This stands behind it: a
write that is not listed for a guest is refused, whoever asks for it.
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
from nfh_tui.workbench.availability import denied
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
"""What a guest may change who was invited for a mode, and is no admin."""

NOT_YOURS = "This would be done as {other}, and you are {me}."
NO_READING = "This writes, and was asked for as if it only read."


class GuestClient(StoreClient):
    """What the screens of one guest may ask of the store. Raises NotAllowedError.

    me: as whom alone they write. access: what they may change.
    """

    def __init__(self, store: Store, me: Annotator, access: Access) -> None:
        super().__init__(store)
        self._me = me
        self._access = access
        edits, workspace = store.edits, store.workspace
        # The least access for a write. In the role of an adjudicator it takes theirs, for a
        # setting it depends on whose it is, and any other write takes an admin's.
        self._needed: Mapping[Callable[..., object], Access] = {
            edits.commit_answer: Access.ANNOTATOR,
            edits.withdraw: Access.ANNOTATOR,
            edits.set_flag: Access.ANNOTATOR,
            edits.propose_span: Access.ANNOTATOR,
            edits.undo: Access.ANNOTATOR,
            edits.redo: Access.ANNOTATOR,
            store.bulk.run: Access.ANNOTATOR,
            workspace.save_draft: Access.ANNOTATOR,
            workspace.save_position: Access.ANNOTATOR,
            workspace.save_view: Access.ANNOTATOR,
            self.rescue_all: Access.ANNOTATOR,  # see `rescue`
            edits.replace_anchor: Access.ADJUDICATOR,
            store.guidelines.begin: Access.ADJUDICATOR,
            store.guidelines.add: Access.ADJUDICATOR,
        }

    def require(self, access: Access) -> None:
        """Raise NotAllowedError where this guest's access is less."""
        if why := denied(self._access, access):
            raise NotAllowedError(why)

    async def read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call something that only reads: a write is refused, whoever may write."""
        if call in self._needed:
            raise NotAllowedError(NO_READING)
        return await super().read(call, *args, **kwargs)

    def write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """Call something that writes, as far as this guest may. Raises NotAllowedError."""
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
        """Write all to another file: as an admin, or where what is written would be lost."""
        if not await self.lost():
            self.require(Access.ADMIN)
        return await super().rescue(unsaved)

    async def start_runner(self) -> bool:
        """Start a runner, as an admin."""
        self.require(Access.ADMIN)
        return await super().start_runner()

    async def changes_since(
        self, path: Path, query: Query, me: Annotator, progress: Callable[[int], None]
    ) -> "Changes":
        """Gold here against a file of this machine, as an admin."""
        self.require(Access.ADMIN)
        return await super().changes_since(path, query, me, progress)
