"""`nfh-tui release` and `nfh-tui diff`: gold frozen into a folder, and what changed between
two releases, files or databases.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from msgspec import structs

from nfh_db.comparisons import Pairing
from nfh_db.messages import counted, visible
from nfh_tui.cli.files import stale_gold_words
from nfh_tui.cli.options import (
    Failure,
    QueryCommand,
    echo,
    emit,
    json_option,
    on_database,
    open_database,
    parse_query,
    reporting,
    tell_lines,
)
from nfh_tui.cli.report import RowCounter, wrapped
from nfh_tui.services.diff import (
    Changed,
    DiffAnswer,
    DiffCounts,
    DiffSide,
    ItemDisplay,
    NumberChange,
    OneSide,
    changes_in_words,
    rules_of,
)

SHOWN = 10


@click.command(cls=QueryCommand)
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option(
    "--most",
    type=click.IntRange(0),
    default=SHOWN,
    metavar="N",
    help="Numbers shown of each kind of change; 0 for all.",
)
@click.option(
    "--db",
    type=click.Path(path_type=Path),
    metavar="PATH",
    expose_value=False,
    help="Accepted on every command; A and B say what is compared.",
)
@json_option
@reporting
def diff(a: Path, b: Path, most: int, as_json: bool) -> None:
    """Show what changed from A to B, by kind of change.

    Each is the folder of a release, a gold or nfh file, or a database. Numbers are matched by
    their passage and place. With an nfh file, only what that format holds is compared.
    """
    from nfh_db.comparisons import pairing
    from nfh_tui.services.diff import changed, entries, in_form, side_of

    left, right = side_of(a), side_of(b)
    form = in_form(left, right)
    with pairing() as pairs:
        for name, side in (("a", left), ("b", right)):
            with RowCounter(side.name) as progress:
                pairs.fill(name, entries(side, form=form, progress=progress))
        counts = DiffCounts()
        for one in changed(pairs, counts.undecided):
            counts.add(one)
        found = Compared(left, right, pairs, counts, form)
        again = changed(pairs, Counter())
        if as_json:
            write_json(found, again)
        else:
            write_text(found, again, most)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sides with the figures of what changed. form: only in the form of `nfh`."""

    left: DiffSide
    right: DiffSide
    pairs: Pairing
    counts: DiffCounts
    form: bool


def write_json(found: Compared, changed: Iterable[Changed]) -> None:
    """Print the JSON: the figures, then under "items" every number that changed."""
    counts = found.counts
    figures: dict[str, object] = {
        "a": _side(found, found.left, "a"),
        "b": _side(found, found.right, "b"),
        "form": "nfh" if found.form else "gold",
        "same": found.pairs.same(),
        "changed": counts.changed,
        "changes": {change.value: counts.items[change] for change in NumberChange},
        "kinds": [
            {"from": before, "to": after, "items": number}
            for (before, after), number in sorted(counts.kinds.items())
        ],
    }
    click.echo(f'{json.dumps(figures)[:-1]}, "items": [', nl=False)
    for number, one in enumerate(changed):
        item = _item(one, found)
        click.echo(f"{', ' if number else ''}{json.dumps(item)}", nl=False)
    click.echo("]}")


def _side(found: Compared, side: DiffSide, letter: str) -> dict[str, object]:
    items, again = found.pairs.count(letter)
    rules = rules_of(side)
    return {
        "path": str(side.path),
        "sort": side.sort,
        "items": items,
        "repeats": again,
        "guidelines": None if rules is None else rules[0],
        "undecided_only_here": found.counts.undecided[letter],
    }


def _item(one: Changed, found: Compared) -> dict[str, object]:
    return {
        "id": one.key.hex(),
        "changes": [change.value for change in one.changes],
        "a": _one(one.left, found.left, form=found.form),
        "b": _one(one.right, found.right, form=found.form),
        "votes": [
            {"annotator": name, "a": _said(before), "b": _said(after)}
            for name, before, after in one.voices
        ],
    }


def _one(there: OneSide | None, side: DiffSide, *, form: bool) -> dict[str, object] | None:
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


def _said(said: DiffAnswer | None) -> dict[str, object] | None:
    return None if said is None else structs.asdict(said)


SORTS = {
    "release": "a release",
    "gold": "a gold file",
    "nfh": "an nfh file",
    "database": "a database",
}
MEANINGS = {
    NumberChange.ADDED: "decided in B, and not in A",
    NumberChange.REMOVED: "decided in A, and not in B",
    NumberChange.SPAN: "the number itself has another span",
    NumberChange.PASSAGE: "the same text, cut into other tokens or turns",
    NumberChange.DECIDED: "undecided in A",
    NumberChange.UNDECIDED: "undecided in B",
    NumberChange.KIND: "another kind",
    NumberChange.HEADS: "other nouns",
    NumberChange.RELATION: "AND, OR, unstated",
    NumberChange.MENTIONS: "the same nouns, marked elsewhere",
    NumberChange.SORT: "another sort of OTHER",
    NumberChange.NOUN: "another noun in words",
    NumberChange.RULE: "the same answer, by another rule",
    NumberChange.SPLIT: "another split",
    NumberChange.VOTES: "answers given, taken back, or changed",
    NumberChange.FLAGS: "flags set or cleared",
    NumberChange.COMMENT: "another comment on the gold",
    NumberChange.DETAILS: "only who, when, or what was in view",
}


IN_FORM = {
    NumberChange.ADDED: "a row in B, and none in A",
    NumberChange.REMOVED: "a row in A, and none in B",
}
"""Meaning of a change in the form of `nfh`."""

WIDTH = 100


def write_text(compared: Compared, changed: Iterable[Changed], most: int) -> None:
    """Print the text. most: numbers shown under each kind of change, 0 for all."""
    tell_lines(_head(compared))
    shown: dict[NumberChange, list[Changed]] = {}
    found: Counter[NumberChange] = Counter()
    for one in changed:
        first = one.changes[0]
        found[first] += 1
        if not most or found[first] <= most:
            shown.setdefault(first, []).append(one)
    for change in NumberChange:
        if not found[change]:
            continue
        echo(f"\n{change.value}")
        for one in shown[change]:
            there = one.right or one.left
            if there is not None:
                side = compared.right if one.right else compared.left
                place = _where(side, there.look, form=compared.form)
                echo(f"  {place}  {_text(there.look)}")
                words = "; ".join(changes_in_words(one))
                tell_lines(wrapped(words, "    ", "      ", width=WIDTH, cuts=True))
        more = found[change] - len(shown[change])
        if more:
            echo(f"  and {more:,} more; --most 0 shows all")


def _head(found: Compared) -> Iterator[str]:
    counts = found.counts
    for letter, side in (("A", found.left), ("B", found.right)):
        items, again = found.pairs.count(letter.lower())
        repeats = f", {again:,} of them again" if again else ""
        yield f"{letter}  {side.name}: {SORTS[side.sort]}, {counted(items, 'number')}{repeats}"
    if found.form:
        yield "Compared in the form of nfh: classes, and words that are heads"
    same = found.pairs.same()
    yield f"{counted(same, 'number')} the same, {counts.changed:,} changed"
    yield from _guidelines(rules_of(found.left), rules_of(found.right))
    for letter in ("a", "b"):
        if counts.undecided[letter]:
            yield (
                f"{counts.undecided[letter]:,} only in {letter.upper()} and undecided there: "
                "not counted"
            )
    meanings = MEANINGS | IN_FORM if found.form else MEANINGS
    rows = [(c.value, counts.items[c], meanings[c]) for c in NumberChange if counts.items[c]]
    width = max((len(name) for name, _, _ in rows), default=0)
    digits = max((len(f"{count:,}") for _, count, _ in rows), default=0)
    for name, count, meaning in rows:
        yield f"  {name:<{width}}  {count:>{digits},}  {meaning}"
    if ranked := sorted(counts.kinds.items(), key=lambda one: (-one[1], one[0])):
        kinds = ", ".join(f"{a} to {b} {n:,}" for (a, b), n in ranked)
        yield from wrapped(f"kinds: {kinds}", "  ", "    ", width=WIDTH, cuts=True)


def _guidelines(before: tuple[int, str] | None, after: tuple[int, str] | None) -> Iterator[str]:
    if before is None or after is None or before[1] == after[1]:
        return
    again = " with another text" if before[0] == after[0] else ""
    yield f"guidelines: version {before[0]} in A, version {after[0]}{again} in B"


def _where(side: DiffSide, look: ItemDisplay, *, form: bool) -> str:
    """File and line; in a database the document, and a query that finds the number."""
    if side.sort != "database":
        return f"{look.place}:{look.line}"
    return f"{visible(look.place)} {'row ' if form else 'id:'}{look.line}"


def _text(look: ItemDisplay) -> str:
    return f"{visible(look.before)}[{visible(look.number)}]{visible(look.behind)}"


NAME_SHOWN = 200
LARGEST_ABOUT = 1_000_000
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command(cls=QueryCommand)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("query", nargs=-1)
@click.option(
    "--pseudonyms", is_flag=True, help="Write person-1, person-2 … for the names of people."
)
@click.option(
    "--about",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Markdown to begin the datasheet with: title, purpose, licence, whom to ask.",
)
@click.option("--check", is_flag=True, help="Check the release DIR; write nothing.")
@on_database
def release(
    folder: Path,
    query: tuple[str, ...],
    pseudonyms: bool,
    about: Path | None,
    check: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write what QUERY finds and is decided (without QUERY, all) to the new folder DIR.

    It holds gold and nfh files of each split, the guidelines, DATASHEET.md and SHA256SUMS. The
    same database gives the same bytes.
    """
    if check:
        if query or pseudonyms or about is not None:
            raise click.UsageError("--check takes only the folder of a release")
        _check(folder, as_json=as_json)
        return
    from nfh_tui.services.release import release as frozen

    parsed = parse_query(query)
    text = "" if about is None else _text_of(about)
    with (
        open_database(db) as store,
        RowCounter("release") as progress,
    ):
        done = frozen(
            store, folder, parsed, pseudonyms=pseudonyms, about=text, progress=progress
        )
    if as_json:
        emit(asdict(done))
        return
    name = visible(done.folder, NAME_SHOWN)
    echo(
        f"{name}: {counted(done.items, 'number')} in {counted(done.passages, 'passage')} frozen"
    )
    for file, rows in done.files.items():
        echo(f"  {file}: {counted(rows, 'line')}")
    if undecided := sum(done.left_out.values()):
        states = ", ".join(f"{state} {count:,}" for state, count in done.left_out.items())
        echo(f"  left out, since undecided: {undecided:,} ({states})")
    if done.stale_gold:
        echo(f"  {stale_gold_words(done.stale_gold)}")
    echo(f"Read {visible(str(folder / 'DATASHEET.md'), NAME_SHOWN)} before you publish it")


def _text_of(path: Path) -> str:
    name = visible(str(path), NAME_SHOWN)
    with path.open("rb") as file:
        content = file.read(LARGEST_ABOUT + 1)
    if len(content) > LARGEST_ABOUT:
        raise Failure(f"{name}: too large; wanted a text of at most {LARGEST_ABOUT:,} bytes")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise Failure(f"{name}: not UTF-8 text: wrong at byte {error.start + 1}") from error
    # The datasheet may be shown in a terminal, which obeys control characters.
    if wrong := CONTROL.search(text):
        line = text.count("\n", 0, wrong.start()) + 1
        raise Failure(
            f"{name}, line {line}: found the control character U+{ord(wrong[0]):04X}; wanted "
            "text without control characters but tabs and ends of lines"
        )
    return text


def _check(folder: Path, *, as_json: bool) -> None:
    from nfh_tui.services.release import check

    with RowCounter("check") as progress:
        found = check(folder, progress)
    if as_json:
        emit({"ok": not found.faults, **asdict(found)})
    else:
        for fault in found.faults:
            echo(fault)
        state = counted(len(found.faults), "fault") if found.faults else "whole"
        echo(
            f"{visible(str(folder), NAME_SHOWN)}: {counted(found.files, 'file')}, "
            f"{counted(found.items, 'number')}: {state}"
        )
    if found.faults:
        raise click.exceptions.Exit(1)
