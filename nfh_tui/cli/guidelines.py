"""`nfh-tui guidelines`: the rules by which people decide, and their versions."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.messages import visible
from nfh_tui import config
from nfh_tui.cli import options
from nfh_tui.services.guidelines import (
    Guide,
    GuidelineRule,
    GuidelinesError,
    RuleCount,
    by_words,
    changed_words,
    changes_of,
    rules_of,
)

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline
    from nfh_db.store import Store
    from nfh_tui.services.guidelines_report import Topic


STANDARD_INPUT = "-"


@click.group(invoke_without_command=True)
@click.option("--version", "version", type=int, metavar="N", help="An earlier version.")
@click.option("--rules", is_flag=True, help="List the rules, and how often each was used.")
@options.on_database
def guidelines(version: int | None, rules: bool, db: Path | None, as_json: bool) -> None:
    """Show the guidelines in force; with a command: their versions, changes and use.

    Decisions are tagged with a rule, and stamped with the version in force.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    from nfh_tui.services.guidelines import counts_of, guide_of

    with options.open_database(db) as store:
        shown = _one(store, version)
        guide = guide_of(store.guidelines.all())
        counts = counts_of(
            guide, store.guidelines.tagged_items(), store.guidelines.tagged_decisions()
        )
    if as_json:
        options.emit(as_object(shown, guide, counts))
    elif rules:
        options.echo("\n".join(rule_rows(shown, guide, counts)))
    else:
        options.echo(as_text(shown), nl=False)


@guidelines.command("set", short_help="Make a file the next version.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options.as_option
@options.on_database
def set_(file: Path, me: str | None, db: Path | None, as_json: bool) -> None:
    """Make the text of FILE, or of standard input with -, the guidelines in force.

    It becomes a new version; earlier ones stay. The same text again makes no version.
    """
    from nfh_db.messages import counted
    from nfh_tui.services.guidelines import first_text, guide_of

    text = _text_of(file)
    with options.open_database(db, writes=True) as store:
        store.guidelines.add_first(first_text())
        before = _one(store, None)
        saved, new = store.guidelines.add(text, store.people.ensure(me or options.user()))
        guide = guide_of(store.guidelines.all())
        tagged = store.guidelines.tagged_decisions()
    changes = changes_of(before.body, saved.body)
    older = sum(t.decisions for t in tagged if guide.is_outdated(t.rule, t.version))
    if as_json:
        changed = {how: [c.id for c in changes if c.id and c.how == how] for how in HOW}
        told = {"version": saved.version, "new": new, "outdated": older, "rules": changed}
        options.emit(told)
    elif not new:
        options.echo(f"Version {saved.version} has this text already; nothing changed")
    else:
        changed_by_it = visible(changed_words(changes), LINE)
        options.echo(f"Version {saved.version} is now in force: {changed_by_it}")
        if older:
            were = "was" if older == 1 else "were"
            decisions = f"{counted(older, 'decision')} {were} made"
            options.echo(f"{decisions} by rules that have changed since")


HOW = ("changed", "new", "gone")


def _text_of(file: Path) -> str:
    """The text of a file, which must have rules. Raises Failure, GuidelinesError, OSError."""
    from nfh_tui.services.guidelines import checked

    name = "standard input" if str(file) == STANDARD_INPUT else str(file)
    body = sys.stdin.buffer.read() if str(file) == STANDARD_INPUT else file.read_bytes()
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise options.Failure(f"{name}: not UTF-8 text: wrong at byte {error.start}") from error
    try:
        checked(text)
    except GuidelinesError as error:
        raise options.Failure(f"{name}, {error}") from error
    return text


@guidelines.command(short_help="List the versions.")
@options.on_database
def versions(db: Path | None, as_json: bool) -> None:
    """List the versions of the guidelines, newest first: by whom, when, what changed."""

    with options.open_database(db) as store:
        _one(store, None)
        found = store.guidelines.all()
    if as_json:
        options.emit({"versions": version_objects(found)})
    else:
        options.echo("\n".join(version_rows(found)))


@guidelines.command(short_help="Show what changed between two versions.")
@click.argument("a", metavar="A", type=int)
@click.argument("b", metavar="[B]", type=int, required=False)
@options.on_database
def diff(a: int, b: int | None, db: Path | None, as_json: bool) -> None:
    """Show what changed from version A to version B, else to the one in force."""
    from nfh_tui.services.guidelines import change_lines

    with options.open_database(db) as store:
        earlier, later = _one(store, a), _one(store, b)
    changes = changes_of(earlier.body, later.body)
    if as_json:
        told = [
            {"id": c.id or None, "title": c.title, "how": c.how, "lines": c.lines}
            for c in changes
        ]
        options.emit({"from": earlier.version, "to": later.version, "changes": told})
        return
    for line in change_lines(changes):
        options.echo(visible(line, LINE))
    if not changes:
        options.echo(f"Versions {earlier.version} and {later.version} say the same")


@guidelines.command(
    cls=options.QueryCommand, short_help="Write the items to discuss as a page of Markdown."
)
@click.argument("query", nargs=-1)
@options.out_option
@options.allow_empty_option
@click.option("--blind", is_flag=True, help="Leave out who answered, decided and flagged.")
@options.as_option
@options.on_database
def discuss(
    query: tuple[str, ...],
    out: Path | None,
    allow_empty: bool,
    blind: bool,
    me: str | None,
    db: Path | None,
    as_json: bool,
) -> None:
    """Write a page to discuss what QUERY finds; without QUERY, what is flagged "guideline".

    Each item with the passage around its number, everybody's answers and comments, the
    rules that they name, and the gold so far.
    """
    from nfh_db.formats.files import write_lines
    from nfh_db.messages import counted
    from nfh_db.query import parse
    from nfh_tui.cli.options import check_out
    from nfh_tui.services.guidelines import guide_of
    from nfh_tui.services.guidelines_report import page, topic
    from nfh_tui.services.imports import check_empty

    asked = " ".join(query) or "flag:guideline"
    parsed = parse(asked)
    path = config.database(db)
    to_file = out is not None and str(out) != STANDARD_INPUT
    if out is not None and to_file:
        check_out(out, [], path)
    with options.open_to_read(path) as store:
        guide = guide_of(store.guidelines.all())
        ballots = store.items.ballots(parsed, options.known(store, me or options.user()))
        topics = [topic(ballot, guide.titles, blind=blind) for ballot in ballots]
    version = f"Guidelines version {guide.version}." if guide.version else ""
    lines = page(topics, f"Found by {asked} in {path.name}. {version}".strip())
    if out is not None and to_file:
        empty = not (topics or allow_empty)
        check_empty(out, "the query finds nothing", empty=empty)
        write_lines(out, lines)
    if as_json:
        told = {"query": asked, "count": len(topics), "out": str(out) if to_file else None}
        options.emit(told | {"items": [topic_object(one) for one in topics]})
    elif to_file:
        options.echo(f"{counted(len(topics), 'item')} written to {visible(str(out), 200)}")
    else:
        for line in lines:
            options.echo(line, nl=False)


def _one(store: "Store", version: int | None) -> "Guideline":
    """A version, or the one that holds. Raises Failure where there is none."""
    if (found := store.guidelines.read(version)) is not None:
        return found
    if (last := store.guidelines.read()) is None:
        raise options.Failure(
            f"{store.path} has no guidelines yet: opening the workbench adds the first text, "
            "and `nfh-tui guidelines set FILE` your own"
        )
    raise options.Failure(f"there is no version {version}: there are 1 to {last.version}")


Json = dict[str, object]

LINE = 10_000
"""Code points of a line that are printed."""


def as_text(shown: "Guideline") -> str:
    """The text, safe to print and unchanged when it is saved and set again."""
    lines = shown.body.split("\n")
    return "\n".join(
        "\t".join(visible(part, LINE) for part in line.removesuffix("\r").split("\t"))
        for line in lines
    )


def as_object(shown: "Guideline", guide: Guide, counts: Mapping[str, RuleCount]) -> Json:
    """The text as JSON, with its rules and their use counts."""
    return {
        "version": shown.version,
        "holds": shown.version == guide.version,
        **options.picked(shown, "by at"),
        "rules": [
            options.picked(rule, "id title line") | asdict(counts.get(rule.id, RuleCount()))
            for rule in _rules(shown)
        ],
        "other_tags": sorted(counts.keys() - {rule.id for rule in _rules(shown)}),
        "text": shown.body,
    }


def _rules(shown: "Guideline") -> tuple[GuidelineRule, ...]:
    try:
        return rules_of(shown.body)
    except GuidelinesError:
        return ()


def rule_rows(
    shown: "Guideline", guide: Guide, counts: Mapping[str, RuleCount]
) -> Iterator[str]:
    """A line for each rule: items, decisions, decisions under an older text, title."""
    yield f"{'rule':<6}{'items':>7}{'decided':>9}{'old text':>10}  title"
    rules = _rules(shown)
    for rule in rules:
        yield _row(rule.id, counts.get(rule.id, RuleCount()), visible(rule.title, LINE))
    for tag in sorted(counts.keys() - {rule.id for rule in rules}):
        yield _row(visible(tag), counts[tag], "(no such rule in this version)")
    if shown.version != guide.version:
        yield f"Version {shown.version}; version {guide.version} is in force."


def _row(name: str, count: RuleCount, title: str) -> str:
    return f"{name:<6}{count.items:>7,}{count.decisions:>9,}{count.older:>10,}  {title}"


def version_rows(found: "Sequence[Guideline]") -> Iterator[str]:
    for one in reversed(version_objects(found)):
        yield f"{one['version']:>4}  {visible(str(one['words']), LINE)}"


def version_objects(found: "Sequence[Guideline]") -> list[Json]:
    """Each version without its text, with its changes."""
    changed: list[str] = ["the first one"]
    changed += [changed_words(changes_of(old.body, new.body)) for old, new in pairwise(found)]
    last = found[-1].version if found else None
    return [
        {
            **options.picked(one, "version by at"),
            "holds": one.version == last,
            "characters": len(one.body),
            "words": f"{by_words(one)} · {words}",
        }
        for one, words in zip(found, changed, strict=True)
    ]


def topic_object(one: "Topic") -> Json:
    turns = [
        {"speaker": speaker or None, "before": before, "word": word, "after": behind}
        for speaker, before, word, behind in one.turns
    ]
    return {
        **options.picked(one, "id=public_id anchor=anchor_id document word"),
        "turns": turns,
        "answers": one.said,
        "gold": one.gold or None,
        "flags": [{"name": name, "by": people} for name, people in one.flags],
    }
