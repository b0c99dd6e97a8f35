"""`nfh-tui doctor --corpus`: what looks wrong with the labels, for a person to look at."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import counted, visible
from nfh_db.query import Query
from nfh_tui.cli.common import emit
from nfh_tui.cli.steps import Steps

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.cli.agreement_page import Page
    from nfh_tui.trouble import Hit, Place, Result, Trouble

SHOWN = 5
"""Findings of a check that are printed; --json has all."""
SHOWN_ROWS = 3
SHOWN_NOTE = 300
SHOWN_BEFORE, SHOWN_AFTER = 40, 24
LONGEST_QUERY = 72
"""Characters; a longer one finds the first anchor only, so that it fits on one line."""


def run_corpus(store: "Store", query: Query, as_json: bool, limit: int = SHOWN) -> None:
    """Look through what a query finds and print what was found.

    limit: findings of each check that are printed, 0 for all; JSON has all of them. To find
    something is no failure: the checks point at what a person should look at.
    """
    from nfh_tui.trouble import find_trouble

    with Steps(store.path.name) as steps:
        tell = partial(steps.step, "looking at passages,")
        found = find_trouble(store, query, tell)
    if as_json:
        emit(_json(found))
    else:
        click.echo(_text(found, limit), nl=False)


# --- text --------------------------------------------------------------------------------


def _text(found: "Trouble", limit: int) -> str:
    from nfh_tui.cli.agreement_page import Page

    page = Page()
    where = f"{counted(found.anchors, 'anchor')} in {counted(found.passages, 'passage')}"
    by = f"parts of speech by {found.tagger}" if found.tagger else "no parts of speech"
    page.say(f"Labels of {where}; {by}.")
    told = [result for result in found.results if result.hits]
    for severity, meaning in MEANINGS.items():
        some = [result for result in told if result.check.severity.value == severity]
        if some:
            page.title(meaning)
            page.table(
                ("check", "findings:", "anchors:"),
                [(r.check.name, f"{len(r.hits):,}", f"{r.anchors:,}") for r in some],
            )
    for result in told:
        _tell(page, result, limit)
    _rest(page, found)
    return page.text()


MEANINGS = {
    "error": "Contradictions",
    "doubt": "Probably wrong",
    "note": "Worth a look",
}
"""What each severity is called."""


def _tell(page: "Page", result: "Result", limit: int) -> None:
    check = result.check
    page.title(f"{check.name}: {counted(len(result.hits), 'finding')}")
    page.say(check.sentence)
    shown = result.hits[:limit] if limit else result.hits
    for hit in shown:
        _tell_hit(page, hit)
    if len(shown) < len(result.hits):
        page.note(f"and {len(result.hits) - len(shown):,} more; --json lists all of them")


def _tell_hit(page: "Page", hit: "Hit") -> None:
    who = f"{hit.who}: " if hit.who else ""
    note = visible(f"{who}{hit.note}", SHOWN_NOTE)
    if not hit.places:
        page.note(note)
        return
    first = hit.places[0]
    more = len(hit.places) - 1
    also = f", and {counted(more, 'other anchor')}" if more else ""
    page.note(f"anchor {first.anchor_id}, {_rows(first)}{also}: {note}")
    page.note(f"  {snippet(first)}")
    page.note(f"  {hit.query if len(hit.query) <= LONGEST_QUERY else first.query}")


def _rows(place: "Place") -> str:
    if not place.rows:
        return "of no file"
    shown = [f"{row.file} line {row.line}" for row in place.rows[:SHOWN_ROWS]]
    return " and ".join(shown) + (" and more" if len(place.rows) > SHOWN_ROWS else "")


def snippet(place: "Place") -> str:
    """The anchor in square brackets, with the text around it, on one line."""
    before = _line(place.before)
    after = _line(place.after)
    head = before[-SHOWN_BEFORE:]
    tail = after[:SHOWN_AFTER]
    lead = "\u2026" if len(head) < len(before) else ""
    trail = "\u2026" if len(tail) < len(after) else ""
    return visible(f"{lead}{head}[{_line(place.word)}]{tail}{trail}", SHOWN_NOTE)


def _line(text: str) -> str:
    return text.replace("\n", " / ")


def _rest(page: "Page", found: "Trouble") -> None:
    clean = [r.check.name for r in found.results if not r.hits and not r.skipped]
    skipped = [r.check.name for r in found.results if r.skipped]
    page.title("Nothing found")
    page.say(f"{', '.join(clean)}." if clean else "Each check found something.")
    if skipped:
        page.title("Not looked for, without a parser")
        page.say(f"{', '.join(skipped)}. {found.why or ''}")
    page.say(
        "Under each anchor stands a query that finds it: type it behind a : in the workbench."
    )


# --- JSON --------------------------------------------------------------------------------


def _json(found: "Trouble") -> dict[str, object]:
    return {
        "passages": found.passages,
        "anchors": found.anchors,
        "tagger": found.tagger,
        "why_no_tagger": found.why,
        "checks": [_result(result) for result in found.results],
    }


def _result(result: "Result") -> dict[str, object]:
    check = result.check
    return {
        "check": check.name,
        "severity": check.severity.value,
        "sentence": check.sentence,
        "rule": check.rule,
        "skipped": result.skipped,
        "anchors": result.anchors,
        "findings": [_hit(hit) for hit in result.hits],
    }


def _hit(hit: "Hit") -> dict[str, object]:
    anchors = _places(hit.places)
    return {"note": hit.note, "who": hit.who, "query": hit.query or None, "anchors": anchors}


def _places(places: "Sequence[Place]") -> list[dict[str, object]]:
    return [
        {
            "anchor_id": place.anchor_id,
            "id": place.public_id,
            "before": place.before,
            "word": place.word,
            "after": place.after,
            "rows": [
                {"file": row.file, "line": row.line, "split": row.split} for row in place.rows
            ],
            "query": place.query,
        }
        for place in places
    ]
