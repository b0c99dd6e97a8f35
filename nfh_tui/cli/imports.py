"""`nfh-tui imports`, and what `nfh-tui import` says of a corrected file."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfh_db.messages import counted, quoted, visible
from nfh_tui.cli.options import (
    as_option,
    command,
    echo,
    emit,
    known,
    on_database,
    on_terminal,
    open_database,
    say,
    tell_lines,
    user,
)
from nfh_tui.cli.report import wrapped

if TYPE_CHECKING:
    from nfh_db.records import Import

LINE_SHOWN = 500
NAME_SHOWN = 200
NEW_THINGS = {
    "passages": "passage",
    "anchors": "item",
    "gold": "gold",
    "votes": "answer",
    "flags": "flag",
}


@click.group(invoke_without_command=True)
@on_database
def imports(db: Path | None, as_json: bool) -> None:
    """List the imports, when and by whom they were made; with `remove`, remove one."""
    if click.get_current_context().invoked_subcommand is not None:
        return
    with open_database(db) as store:
        found = store.imports.all()
    if as_json:
        emit({"imports": [asdict(one) | {"out": bool(one.out)} for one in found]})
        return
    for one in found:
        tell_lines(_listed(one))
    if not found:
        echo(f"Nothing was imported yet: {command('import FILE', db)}")


def _listed(one: "Import") -> Iterator[str]:
    by = f" by {visible(one.by)}" if one.by else ""
    yield f"{one.number}  {one.at[:16].replace('T', ' ')}{by}  {visible(one.name, NAME_SHOWN)}"
    parts = [one.format, counted(one.rows, "row")]
    if one.annotator is not None:
        parts.append(f"answers of {visible(one.annotator)}")
    if one.split is not None:
        parts.append(f"split {visible(one.split)}")
    new = [
        counted(one.counts[f"{key}_new"], thing, "gold" if key == "gold" else None)
        for key, thing in NEW_THINGS.items()
        if one.counts[f"{key}_new"]
    ]
    parts.append(f"new: {', '.join(new)}" if new else "nothing new")
    parts.append("taken out" if one.out else f"{counted(one.here, 'item')} here")
    yield from wrapped("; ".join(parts), "   ")


@imports.command(short_help="Remove an import.")
@click.argument("number", metavar="N", type=click.IntRange(1))
@as_option
@click.option("--dry-run", is_flag=True, help="Show what would be removed; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@on_database
def remove(
    number: int, me: str | None, dry_run: bool, yes: bool, db: Path | None, as_json: bool
) -> None:
    """Remove import N: passages and items that no other import has are hidden.

    Answers to them are kept, and everything comes back when the file is
    imported again. It is one act: z in the workbench undoes it.
    """
    from nfh_db.records import Annotator

    who = me or user()
    with open_database(db, writes=not dry_run) as store:
        person = known(store, who) or Annotator(0, who)
        plan = store.imports.retire([number], person, dry_run=True)
        if not as_json:
            tell_lines(leaving_lines(asdict(plan.gone), f"import {number}"))
        if not dry_run and (as_json or yes or asked(f"Remove import {number}?")):
            plan = store.imports.retire([number], store.people.ensure(who))
    if as_json:
        emit(plan)
    elif plan.act_id is None:
        echo("Nothing was changed")
    else:
        tell_lines(retired_lines(asdict(plan), who))


def asked(question: str) -> bool:
    """Ask on a terminal; elsewhere the answer is yes."""
    return not _watched() or click.confirm(question, err=True)


def leaving_lines(gone: Mapping[str, Any], what: str) -> Iterator[str]:
    """What no other import has, of a Gone as JSON."""
    yield (
        f"{what}: {counted(gone['passages'], 'passage')} and "
        f"{counted(gone['anchors'], 'item')} that no other import has, of which "
        f"{_said(gone['answered'])}"
    )
    if gone["kept"]:
        kept = counted(gone["kept"], "passage")
        yield f"  {kept} are in another import too, and stay with their answers"
    yield from _examples("gone", gone["examples"], gone["passages"])


def _gone_words(gone: Mapping[str, Any]) -> str:
    if not gone["anchors"]:
        return "nothing was retired"
    passages, items = counted(gone["passages"], "passage"), counted(gone["anchors"], "item")
    return f"{passages} and {items} gone, of which {_said(gone['answered'])}"


def _said(number: int) -> str:
    return f"people answered {number:,}" if number else "none is answered"


def _examples(word: str, examples: list[str], number: int) -> Iterator[str]:
    for one in examples:
        yield visible(f"  {word}: {one}", LINE_SHOWN)
    if number > len(examples) > 0:
        yield f"  and {number - len(examples):,} more"


def correction_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """How an imported file differs from earlier imports of its name; report: as JSON."""
    found = report.get("correction")
    if not isinstance(found, Mapping):
        return
    gone, new = found["gone"], report["passages_new"]
    if not (new or gone["anchors"]):
        return
    name = visible(str(report["name"]), NAME_SHOWN)
    numbers = " and ".join(map(str, found["imports"]))
    yield (
        f"{name}: was imported before with other text (import {numbers}, "
        f"{found['at'][:10]}): {counted(new, 'passage')} new; {_gone_words(gone)}"
    )
    yield from _examples("new", found["new"], new)
    yield from _examples("gone", gone["examples"], gone["passages"])


def retired_lines(report: Mapping[str, Any], who: str) -> Iterator[str]:
    """What taking imports out did, of a RetireReport as JSON."""
    gone = report["gone"]
    yield (
        f"import {' and '.join(map(str, report['imports']))} taken out: "
        f"{counted(gone['passages'], 'passage')} and {counted(gone['anchors'], 'item')} "
        f"retired; z in the workbench as {visible(who)} undoes it"
    )
    carried = [
        counted(number, what.removesuffix("s"), what)
        for what, number in report["carried"].items()
        if number
    ]
    if carried:
        yield f"  carried over: {', '.join(carried)}"
    for reason, number in report["left"].items():
        yield f"  not carried over of {counted(number, 'item')}: {reason}"
    yield from _examples("left", report["left_examples"], sum(report["left"].values()))
    if report["changed"]:
        yield (
            f"  {counted(report['changed'], 'item')} unchanged, because somebody changed "
            "them in the meantime"
        )


def offer(report: Mapping[str, Any], path: Path, db: Path | None) -> bool:
    """Offer on a terminal to replace the earlier imports; elsewhere say how. True for yes."""
    found = report["correction"]
    if not found or not found["gone"]["anchors"]:
        return False
    if _watched() and not report["dry_run"]:
        return click.confirm(
            "Retire what the file lacks, and carry over people's answers?", err=True
        )
    say(f"What the file lacks stays. {command(f'import --replace {quoted(str(path))}', db)}")
    say("  retires it, and carries over answers where the turn is the same")
    return False


def _watched() -> bool:
    return sys.stdin is not None and sys.stdin.isatty() and on_terminal()
