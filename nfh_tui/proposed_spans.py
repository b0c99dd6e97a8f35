"""The spans that annotators propose for an item's number, by their flags `anchor`. Pure."""

from nfh_db.records import Item
from nfh_models.domain import Anchor


def proposals(item: Item) -> dict[Anchor, list[str]]:
    """Each proposed span with who proposes it ("" where names are hidden), by its place."""
    found: dict[Anchor, list[str]] = {}
    for flag in sorted(item.flags, key=lambda flag: flag.annotator):
        if flag.span is not None:
            found.setdefault(flag.span, []).append(flag.annotator)
    return dict(sorted(found.items(), key=lambda one: (one[0].start, one[0].end)))


def proposed_by(item: Item, name: str) -> Anchor | None:
    """The span that somebody proposes, if they do."""
    flags = (flag.span for flag in item.flags if flag.annotator == name)
    return next((span for span in flags if span is not None), None)
