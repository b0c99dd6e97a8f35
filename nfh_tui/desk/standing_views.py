"""Views that are there without anybody having saved them, for whoever is new."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfh_db.query import quote
from nfh_tui.actions import Mode


@dataclass(frozen=True, slots=True)
class View:
    """A query under a name. saved: by this person, so that it can be renamed and deleted."""

    name: str
    query: str
    saved: bool = False


OF_JUDGES = (
    View("to decide", "-state:decided sort:disagree"),
    View("disagree", "state:disagree sort:disagree"),
    View("model against gold", "model!=gold sort:conflict"),
    View("where the model is unsure", "-state:decided sort:uncertain"),
    View("kinds with little gold", "-state:decided sort:rare"),
    View("gold that a model doubts", "doubt>0.9 sort:doubt"),
    View("flagged guideline", "flag:guideline"),
    View("one random sample", "-state:decided sort:random/1"),
    View("decided by me", ""),
    View("everything", ""),
)


def standing(mode: Mode, me: str) -> tuple[View, ...]:
    """The views that are always there. An annotator's say nothing of others' answers."""
    name = quote(me)
    if mode is Mode.ANNOTATE:
        return (
            View("given to me", "todo:me sort:assigned"),
            View("not answered by me", f"-by:{name}"),
            View("skipped by me", "state:skipped"),
            View("one random sample", f"-by:{name} sort:random/1"),
            View("everything", ""),
        )
    mine = {"decided by me": f"by:{name} rule:expert"}
    return tuple(View(one.name, mine.get(one.name, one.query)) for one in OF_JUDGES)


def views(saved: Iterable[tuple[str, str]], mode: Mode, me: str) -> tuple[View, ...]:
    """This person's own views, then those that are always there and not named alike."""
    own = tuple(View(name, query, saved=True) for name, query in saved)
    names = {view.name for view in own}
    return (*own, *(view for view in standing(mode, me) if view.name not in names))
