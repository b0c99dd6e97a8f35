"""`nfh-tui people`: who is known here, and what is done where one person has two names."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.errors import StoreError
from nfh_db.messages import counted, visible
from nfh_db.passages import PersonLine
from nfh_db.records import PERSON, likeness, normal_name
from nfh_tui.cli import options
from nfh_tui.cli.report import aligned

if TYPE_CHECKING:
    from nfh_db.bulk_plan import PeopleMerge, TwoAnswers
    from nfh_db.records import Annotator
    from nfh_db.store import Store

NAME_WIDTH = 40
"""Code points of a name that are shown."""

SHOWN_ITEMS = 20
UNDO = "nfh-tui people undo undoes it, as z in the workbench does."
new_person_option = click.option(
    "--new-person",
    is_flag=True,
    help="Accept a name that is like a known one, for another person.",
)


@click.group(invoke_without_command=True)
@options.on_database
def people(db: Path | None, as_json: bool) -> None:
    """List the people of the database; with a command: add, rename, merge or retire one.

    Names that differ only by case, accents, width or white space are named at the end.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    with options.open_database(db) as store:
        lines = store.people.lines()
    if as_json:
        options.emit({"people": [asdict(one) for one in lines], "alike": _alike(lines)})
    else:
        options.tell_lines(_listed(lines))


def _present(lines: Sequence[PersonLine]) -> list[PersonLine]:
    return [one for one in lines if one.stands_for is None]


def _alike(lines: Sequence[PersonLine]) -> list[list[str]]:
    """The names of people that differ too little."""
    found: dict[str, list[str]] = {}
    for one in _present(lines):
        found.setdefault(likeness(one.name), []).append(one.name)
    return [names for names in found.values() if len(names) > 1]


def _listed(lines: Sequence[PersonLine]) -> Iterator[str]:
    if not lines:
        yield "Nobody is known here yet."
        return
    rows = [("person", "formerly", "answers", "open", "retired")]
    for one in _present(lines):
        former = [other.name for other in lines if other.stands_for == one.name]
        retired = (one.retired_at or "–")[:10]
        shown = visible(one.name, NAME_WIDTH), visible(", ".join(former) or "–", NAME_WIDTH)
        rows.append((*shown, f"{one.answers:,}", f"{one.open:,}", retired))
    yield from aligned(rows, words=2)
    for one in lines:
        if one.stands_for is not None and one.answers:
            yield (
                f"{one.name} is now {one.stands_for}, and has "
                f"{counted(one.answers, 'answer')} again: merge them once more."
            )
        elif one.stands_for is None and one.name != normal_name(one.name):
            yield f"{one.name!r} is stored in an old form: rename it to the printed name."
    for names in _alike(lines):
        yield f"{' and '.join(names)} differ only by case, accents, width or white space."


@people.command(short_help="Add a person.")
@click.argument("wanted", metavar="NAME", callback=options.name)
@new_person_option
@options.on_database
def add(wanted: str, new_person: bool, db: Path | None, as_json: bool) -> None:
    """Add NAME as a person."""
    with options.open_database(db, writes=True) as store:
        person = store.people.ensure(wanted, new_person=new_person)
    if as_json:
        options.emit({"person": person.name})
    else:
        options.echo(f"{person.name} is known here.")


@people.command(short_help="Rename a person.")
@click.argument("person", metavar="NAME")
@click.argument("new", metavar="NEW", callback=options.name)
@new_person_option
@options.as_option
@options.on_database
def rename(
    person: str, new: str, new_person: bool, me: str | None, db: Path | None, as_json: bool
) -> None:
    """Rename a person; their answers have the new name from then on.

    The former name still refers to them. It is one act, which one undo reverses.
    """
    with options.open_database(db, writes=True) as store:
        of = _somebody(store, person)
        to = store.people.new_name(of, new, new_person=new_person)
        by = store.people.ensure(me or options.user())
        made = store.bulk.merge_people(of, to, by, f"rename {of.name} to {to.name}")
    if as_json:
        options.emit({"person": to.name, "formerly": of.name, "answers": made.answers})
    else:
        with_them = counted(made.answers, "answer")
        options.echo(f"{of.name} is {to.name} now, with {with_them}. {UNDO}")


@people.command(short_help="Make one person of two names.")
@click.argument("former", metavar="NAME")
@click.argument("into", metavar="INTO")
@click.option(
    "--keep",
    metavar="NAME",
    help="Whose answer counts where both gave one and no time says which is later.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; store nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@options.as_option
@options.on_database
def merge(
    former: str,
    into: str,
    keep: str | None,
    dry_run: bool,
    yes: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Merge NAME into INTO: everything of NAME's becomes INTO's.

    Where both answered an item, the later answer counts; the other stays in the history.
    A preview is shown first. It is one act, which one undo reverses.
    """
    with options.open_database(db, writes=not dry_run) as store:
        of, to = _somebody(store, former, exact=True), _somebody(store, into)
        if of.id == to.id:
            raise StoreError(f"{of.name!r} is {to.name!r} already")
        kept = None if keep is None else _kept(keep, of, to)
        made = store.bulk.preview_people(of, to)
        if not as_json:
            options.tell_lines(_preview(made, kept))
        if not dry_run:
            if kept is None and made.unknown and sys.stdin.isatty():
                choice = click.Choice((of.name, to.name))
                kept = click.prompt("Whose answers count there?", type=choice)
            if not yes:
                _confirm()
            by = store.people.ensure(me or options.user())
            words = f"merge {of.name} into {to.name}"
            made = store.bulk.merge_people(of, to, by, words, kept)
    if as_json:
        options.emit(_merge_json(made, dry_run=dry_run))
    elif not dry_run:
        left = (
            f" {counted(made.left, 'item')} changed in the meantime: run the command again."
            * bool(made.left)
        )
        options.echo(f"{of.name} is {to.name} now.{left} {UNDO}")


def _kept(keep: str, of: "Annotator", to: "Annotator") -> str:
    found = next((p.name for p in (of, to) if normal_name(p.name) == normal_name(keep)), None)
    if found is None:
        raise click.UsageError(f"--keep is {of.name!r} or {to.name!r}")
    return found


def _confirm() -> None:
    if not sys.stdin.isatty():
        raise options.Failure("Nothing was done: --yes does it")
    if not click.confirm("Do it?"):
        raise options.Failure("Nothing was done")


def _somebody(store: "Store", wanted: str, *, exact: bool = False) -> "Annotator":
    """The person of a name; with `exact` also one that stands for another by now."""
    found = (store.people.exact(wanted) if exact else None) or store.people.find(wanted)
    if found is None or found.type != PERSON:
        raise StoreError(f"No person in {store.path} is called {wanted!r}: nfh-tui people")
    return found


def _preview(made: "PeopleMerge", keep: str | None) -> Iterator[str]:
    of, to = made.of.name, made.to.name
    yield (
        f"{counted(made.answers, 'answer')}, {counted(made.flags, 'flag')} and "
        f"{counted(made.golds, 'decision')} of {of} become {to}'s, and so do assignments, "
        "checks, drafts and saved views."
    )
    if made.twice:
        yield f"Both answered {counted(len(made.twice), 'item')} differently:"
        yield from (f"  {_two(one, made, keep)}" for one in made.twice[:SHOWN_ITEMS])
        if len(made.twice) > SHOWN_ITEMS:
            yield f"  and {len(made.twice) - SHOWN_ITEMS:,} more"
    if made.of_rules:
        yield (
            f"{counted(made.of_rules, 'gold', 'golds')} that a rule made counted two votes of "
            "them: run nfh-tui settle again."
        )


def _two(one: "TwoAnswers", made: "PeopleMerge", keep: str | None) -> str:
    from nfh_db.import_plan import in_words

    counts = one.later or keep
    why = "later" if one.later else "as you say"
    end = f"{counts}'s counts, {why}" if counts else "no time says which is later: --keep NAME"
    return (
        f"item {one.anchor_id}, {visible(one.word)}: {made.of.name} {in_words(one.of)}, "
        f"{made.to.name} {in_words(one.to)}; {end}"
    )


def _merge_json(made: "PeopleMerge", *, dry_run: bool) -> dict[str, object]:
    return {
        **options.picked(
            made, "person=to.name formerly=of.name answers flags golds of_rules left"
        ),
        "twice": [options.picked(one, "anchor=anchor_id later") for one in made.twice],
        "dry_run": dry_run,
    }


@people.command(short_help="Retire people.")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--back", is_flag=True, help="Make them active again.")
@options.on_database
def retire(names: tuple[str, ...], back: bool, db: Path | None, as_json: bool) -> None:
    """Retire people: they are not offered, and get no work; their answers stay.

    Assignments that they have not answered are taken back.
    """
    with options.open_database(db, writes=True) as store:
        found = [_somebody(store, one) for one in names]
        returned = {one.name: store.people.retire(one, back=back) for one in found}
    if as_json:
        options.emit({"retired": not back, "taken_back": returned})
        return
    for who, count in returned.items():
        taken = f", and {counted(count, 'item')} assigned to them came back" if count else ""
        options.echo(f"{who} {'gets work again' if back else 'is retired'}{taken}.")


@people.command(short_help="Undo the last merge or rename.")
@options.as_option
@options.on_database
def undo(me: str | None, db: Path | None, as_json: bool) -> None:
    """Undo your last act, if it was a merge of people or a new name."""
    with options.open_database(db, writes=True) as store:
        by = _somebody(store, me or options.user())
        last = store.edits.settlement_to_undo(by)
        if last is None or store.settings.read(f"people {last[0]}") is None:
            what = f"was “{last[1]}”" if last else "was neither"
            raise StoreError(
                f"This undoes a merge of people or a new name, and the last act of {by.name} "
                f"{what}. z in the workbench undoes anything, step by step"
            )
        done = store.edits.undo(by)
    skipped = done.skipped if done else 0
    if as_json:
        items = done.anchors if done else 0
        options.emit({"undone": last[1], "items": items, "changed": skipped})
    else:
        since = f", except {counted(skipped, 'item')} that somebody changed since then" * bool(
            skipped
        )
        options.echo(f"“{last[1]}” is undone{since}.")
