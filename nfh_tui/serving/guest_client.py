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

NEEDED: Mapping[str, Access] = {
    "commit_answer": Access.ANNOTATOR,
    "withdraw": Access.ANNOTATOR,
    "set_flag": Access.ANNOTATOR,
    "undo": Access.ANNOTATOR,
    "redo": Access.ANNOTATOR,
    "propose_span": Access.ANNOTATOR,
    "run_bulk": Access.ANNOTATOR,
    "save_draft": Access.ANNOTATOR,
    "save_place": Access.ANNOTATOR,
    "save_view": Access.ANNOTATOR,
    "rescue_all": Access.ANNOTATOR,  # see `rescue`
    "replace_anchor": Access.ADJUDICATOR,
    "begin_guidelines": Access.ADJUDICATOR,
    "add_guideline": Access.ADJUDICATOR,
}
"""The least access for a write of the store. In the role of an adjudicator it takes theirs,
for a setting it depends on whose it is, and any other write takes an admin's."""

NOT_YOURS = "This would be done as {other}, and you are {me}."


class GuestClient(StoreClient):
    """What the screens of one guest may ask of the store. Raises NotAllowedError.

    me: as whom alone they write. access: what they may change.
    """

    def __init__(self, store: Store, me: Annotator, access: Access) -> None:
        super().__init__(store)
        self._me = me
        self._access = access

    def require(self, access: Access) -> None:
        """Raise NotAllowedError where this guest's access is less."""
        if why := denied(self._access, access):
            raise NotAllowedError(why)

    def _write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        name = call.__name__
        self.require(self._needed(name, args))
        for one in args:
            if isinstance(one, Annotator) and one != self._me:
                raise NotAllowedError(NOT_YOURS.format(other=one.name, me=self._me.name))
        if name in {"undo", "redo"} and self._access < Access.ADJUDICATOR:
            kwargs["role"] = Role.ANNOTATOR
        return super()._write(call, *args, **kwargs)

    def _needed(self, name: str, args: tuple[object, ...]) -> Access:
        if name == "set_setting":
            return self._settings().get(str(args[0]), Access.ADMIN)
        needed = NEEDED.get(name, Access.ADMIN)
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
