"""`nfh-tui history`: who changed what, when, and from what to what."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.errors import StoreError
from nfh_db.messages import counted, visible
from nfh_tui.cli import options

if TYPE_CHECKING:
    from nfh_db.history import Timeline
    from nfh_db.records import HistoryLine
    from nfh_db.store import Store

AROUND = 40
"""Code points of text shown on each side of an item's words."""

SHOWN_LENGTH = 1_000
"""Code points of a line that are printed: comments have no limit."""


@click.command(cls=options.QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--item",
    metavar="ID",
    help="Only this item: the id that `gold` files have, its first digits, or an anchor's "
    "number.",
)
@click.option(
    "--as",
    "people",
    multiple=True,
    metavar="NAME",
    help="Only what this person did, or what was done to their answers. May be repeated.",
)
@click.option(
    "--since",
    metavar="TIME",
    help="Only what happened since: a date, or date and time, as 2026-05-01T14:30. In local "
    "time, unless it ends in Z or an offset.",
)
@options.on_database
def history(
    query: Sequence[str],
    item: str | None,
    people: Sequence[str],
    since: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Show every change of the answers, gold, flags and spans of what QUERY finds.

    Oldest first, item by item in the order of their passages, with who made it, by which
    act, and what it was before and after.
    """

    parsed = options.parse_query(query)
    if item is not None and query:
        raise click.UsageError("give a QUERY or --item, not both")
    start = _time(since)
    with options.open_database(db) as store:
        names = _names(store, people)
        if item is not None:
            pasts: Iterable[Timeline] = [store.history.of_item(item, since=start, people=names)]
        else:
            me = options.known(store, names[0] if names else options.user())
            pasts = store.history.of_query(parsed, me, since=start, people=names)
        if as_json:
            _emit(pasts, store.path)
        else:
            _tell(pasts)


def _time(text: str | None) -> str:
    """A time as the store keeps it; "" for none."""
    if text is None:
        return ""
    try:
        # Without an offset it is local time.
        at = datetime.fromisoformat(text.strip()).astimezone(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise click.BadParameter(
            f"{text!r} is not a time: write it as 2026-05-01 or 2026-05-01T14:30",
            param_hint="--since",
        ) from error
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _names(store: "Store", wanted: Sequence[str]) -> tuple[str, ...]:
    """The names, stripped. Raises StoreError for one that no annotator has."""
    names = []
    for name in wanted:
        found = options.known(store, name)
        if found is None:
            raise StoreError(f"Nobody in {store.path} is called {name.strip()!r}")
        names.append(found.name)
    return tuple(names)


# --- words ----------------------------------------------------------------------------------


def _tell(pasts: "Iterable[Timeline]") -> None:
    items = changes = 0
    for past in pasts:
        if items:
            options.echo()
        items += 1
        changes += len(past.lines)
        for row in _rows(past):
            options.echo(visible(row, SHOWN_LENGTH))
    end = f"{counted(changes, 'change')} of {counted(items, 'item')}"
    if items:
        options.echo()
    options.echo(end if changes else "No such change was made.")


def _rows(past: "Timeline") -> Iterator[str]:
    from nfh_tui.services.history import block, changed

    split = f", {past.split}" if past.split else ""
    yield f"{_context(past)}  {past.document}{split}; {past.state}"
    yield f"id {past.public_id}, anchor {past.anchor_id}"
    for line in past.lines:
        earlier = f" (as anchor {line.anchor_id})" if line.anchor_id != past.anchor_id else ""
        first, *rest = block(changed(line, past.passage))
        yield f"  {first}{earlier}"
        yield from (f"  {row}" for row in rest)


def _context(past: "Timeline") -> str:
    """The item's words in brackets, with some of the text around them."""
    passage, anchor = past.passage, past.anchor
    if anchor.end > len(passage.tokens):
        return "…"
    start, stop = passage.code_points(anchor)
    before = passage.text[max(0, start - AROUND) : start]
    after = passage.text[stop : stop + AROUND]
    text = f"{before}[{passage.text[start:stop]}]{after}"
    return " ".join(text.split())


# --- JSON -----------------------------------------------------------------------------------


def _emit(pasts: "Iterable[Timeline]", path: Path) -> None:
    """One JSON object, written item by item: the history of a large database is long."""
    write = sys.stdout.write
    write(f'{{"db": {json.dumps(str(path))}, "items": [')
    changes = 0
    for place, past in enumerate(pasts):
        write(("," if place else "") + "\n" + json.dumps(_item(past)))
        changes += len(past.lines)
    write(f'\n], "changes": {changes}}}\n')


def _item(past: "Timeline") -> dict[str, object]:
    passage, anchor = past.passage, past.anchor
    return {
        **options.picked(past, "id=public_id anchor=anchor_id document split state"),
        "words": passage.words(anchor.start, min(anchor.end, len(passage.tokens))),
        "changes": [_change(line, past) for line in past.lines],
    }


def _change(line: "HistoryLine", past: "Timeline") -> dict[str, object]:
    from nfh_tui.services.history import changed

    told = changed(line, past.passage)
    return {
        **options.picked(line, "at by=annotator act kind merged anchor=anchor_id entity whose"),
        "role": line.role or None,
        "flag": line.name if line.entity == "flag" else None,
        "thing": told.thing,
        "before": told.before if line.before is not None else None,
        "after": told.after if line.after is not None else None,
        "note": told.note or None,
        "before_value": _value(line.before),
        "after_value": _value(line.after),
    }


def _value(text: str | None) -> object:
    """A value as the log keeps it; the text itself where it is no JSON."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text
