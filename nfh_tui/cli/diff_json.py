"""A comparison of two sides as one JSON object, written piece by piece."""

import json
from collections.abc import Iterable

import click

from nfh_db.pairing import Pairing
from nfh_tui.diffing import Change, Changed, Counts, OneSide
from nfh_tui.diffing_items import Said
from nfh_tui.diffing_sides import Side, rules_of


def write_json(
    left: Side,
    right: Side,
    pairs: Pairing,
    counts: Counts,
    changed: Iterable[Changed],
    *,
    form: bool,
) -> None:
    """Print it: the figures, then under "items" every number that changed."""
    figures: dict[str, object] = {
        "a": _side(left, pairs, "a", counts),
        "b": _side(right, pairs, "b", counts),
        "form": "nfh" if form else "gold",
        "same": pairs.same(),
        "changed": counts.changed,
        "changes": {change.value: counts.items[change] for change in Change},
        "kinds": [
            {"from": before, "to": after, "items": number}
            for (before, after), number in sorted(counts.kinds.items())
        ],
    }
    click.echo(f'{json.dumps(figures)[:-1]}, "items": [', nl=False)
    for number, one in enumerate(changed):
        item = _item(one, left, right, form=form)
        click.echo(f"{', ' if number else ''}{json.dumps(item)}", nl=False)
    click.echo("]}")


def _side(side: Side, pairs: Pairing, letter: str, counts: Counts) -> dict[str, object]:
    items, again = pairs.count(letter)
    rules = rules_of(side)
    return {
        "path": str(side.path),
        "sort": side.sort,
        "items": items,
        "repeats": again,
        "guidelines": None if rules is None else rules[0],
        "undecided_only_here": counts.undecided[letter],
    }


def _item(one: Changed, left: Side, right: Side, *, form: bool) -> dict[str, object]:
    return {
        "id": one.key.hex(),
        "changes": [change.value for change in one.changes],
        "a": _one(one.left, left, form=form),
        "b": _one(one.right, right, form=form),
        "votes": [
            {"annotator": name, "a": _said(before), "b": _said(after)}
            for name, before, after in one.voices
        ],
    }


def _one(there: OneSide | None, side: Side, *, form: bool) -> dict[str, object] | None:
    if there is None:
        return None
    look, body = there.look, there.body
    number = "anchor" if side.sort == "database" and not form else "line"
    return {
        "file": look.place,
        number: look.line,
        "text": [look.before, look.number, look.behind],
        "gold": _said(body.said),
        "words": {str(token): word for token, word in look.words.items()},
        "rule": body.rule,
        "adjudicator": body.decision[0],
        "decided_at": body.decision[1],
        "split": body.split,
        "flags": [
            [flag.name, flag.annotator, flag.at, *([flag.span] if flag.span else [])]
            for flag in body.flags
        ],
    }


def _said(said: Said | None) -> dict[str, object] | None:
    if said is None:
        return None
    return {
        "kind": said.kind,
        "heads": said.heads,
        "relation": said.relation,
        "sort": said.sort,
        "noun": said.noun,
        "comment": said.comment,
    }
