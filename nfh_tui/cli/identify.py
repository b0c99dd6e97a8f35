"""`nfh-tui identify`: numbers found in a database or in a text, and decided: is the noun of
each missing?
"""

import json
import math
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from nfh_db.messages import counted, quoted, visible
from nfh_tui import config
from nfh_tui.cli import options
from nfh_tui.cli.report import Steps, wrapped

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_models.identification.base import Decision, Identifier
    from nfh_tui.services.identify import (
        FoundNumber,
        Identification,
        IdentificationTools,
        IdentifyRequest,
    )
    from nfh_tui.services.models import SelectedModel


NAME_SHOWN = 100
PARSERS = "spacy, spacy:NAME (an installed pipeline, or its folder) or stanza:FOLDER"


lines_option = click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="F",
    help="With --file: where the lines go; else to standard output.",
)


@click.command(cls=options.QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--model",
    metavar="M",
    help="A model's number, name, recipe or folder; else the active one, else the rules.",
)
@click.option(
    "--parser",
    "spec",
    metavar="SPEC",
    help=f"What parses the sentences: {PARSERS}; else the first English spaCy pipeline.",
)
@click.option(
    "--new/--no-new",
    default=True,
    help="Also add the numbers of these passages that nobody has marked yet.",
)
@click.option(
    "--again", is_flag=True, help="Also decide again what this model has decided already."
)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be added and decided; store nothing."
)
@click.option(
    "--file",
    "file",
    metavar="F",
    help="A text file, or - for standard input, in place of the database.",
)
@lines_option
@options.allow_empty_option
@click.option("--per-line", is_flag=True, help="With --file: each line is a text of its own.")
@options.on_database
def identify(
    query: tuple[str, ...],
    model: str | None,
    spec: str | None,
    new: bool,
    again: bool,
    dry_run: bool,
    file: str | None,
    out: Path | None,
    allow_empty: bool,
    per_line: bool,
    db: Path | None,
    as_json: bool,
) -> None:
    """Decide for each number in the passages that QUERY finds whether its noun is missing.

    Numbers that nobody has marked yet are added first, as an import adds them: all or none.
    Each decision is stored with its rule, and shown in the workbench. It is
    no answer, no vote and no gold. With --file no database is needed.
    """
    if file is not None:
        if query:
            raise click.UsageError("give a QUERY or --file, not both")
        if again or dry_run or not new:
            raise click.UsageError(
                "--no-new, --again and --dry-run are about the database: leave them out with "
                "--file"
            )
        identify_file(
            *(file, out, model, spec, db),
            allow_empty=allow_empty,
            per_line=per_line,
            as_json=as_json,
        )
        return
    if out is not None or allow_empty or per_line:
        raise click.UsageError("--out, --allow-empty and --per-line go with --file")
    from nfh_db.records import Annotator
    from nfh_models.identification.base import RULES
    from nfh_tui.services.identify import IdentifyRequest
    from nfh_tui.services.identify import identify as identify_passages
    from nfh_tui.services.models import identifier_for

    parsed = options.parse_query(query)
    began = time.perf_counter()
    with options.open_database(db, writes=not dry_run) as store:
        me = options.known(store, options.user()) or Annotator(0, options.user())
        chosen = identifier_for(store, model, register=not dry_run)
        if chosen.model_id is None and not dry_run:
            raise options.Failure(
                f"the model in {model} is not in this database, so its decisions cannot be "
                "stored: --dry-run shows them, --file takes a text"
            )
        tools = tools_of(chosen, spec)
        if not dry_run:
            _say_what_is_forgotten(store, tools)
        wanted = IdentifyRequest(parsed, new=new, again=again, dry_run=dry_run)
        with Steps("identify") as steps:
            report = identify_passages(store, wanted, tools, me, steps.step)
        active = store.identifications.active()
    seconds = time.perf_counter() - began
    # The rules become the active model where there is none.
    shown = RULES if active is None else active.name
    is_active = shown == chosen.name and (active is None or active.model_id == chosen.model_id)
    summary = IdentifySummary(wanted, tools, report, seconds, is_active, db)
    if as_json:
        options.emit(report_json(summary))
        return
    options.tell_lines(report_lines(summary))


def _say_what_is_forgotten(store: "Store", tools: "IdentificationTools") -> None:
    """Print a sentence where the model decided with another parser until now."""
    chosen = tools.chosen
    before = (
        None if chosen.model_id is None else store.identifications.decided_with(chosen.model_id)
    )
    if before is not None and before != tools.parser_name:
        options.say(
            f"nfh-tui: what {visible(chosen.name, NAME_SHOWN)} decided with "
            f"{visible(before or 'no parser', NAME_SHOWN)} is forgotten: it decides with "
            f"{visible(tools.parser_name or 'none', NAME_SHOWN)} now"
        )


def tools_of(chosen: "SelectedModel[Identifier]", spec: str | None) -> "IdentificationTools":
    """The model with the parser that it needs, loaded; a warning where it learnt with another.

    Raises ParserError.
    """
    from nfh_models.parsing.base import load_parser
    from nfh_tui.services.evaluate import other_parser
    from nfh_tui.services.identify import IdentificationTools

    if chosen.fallback_reason:
        options.say(f"nfh-tui: {chosen.fallback_reason}")
    identifier = chosen.model
    parser = load_parser(spec, identifier.needs) if identifier.needs else None
    if (warning := other_parser(identifier, chosen.name, parser)) is not None:
        options.say(f"nfh-tui: {warning}")
    return IdentificationTools(chosen, parser, _from_anywhere(spec))


def _from_anywhere(spec: str | None) -> str | None:
    """The name of a loaded parser, with an absolute path."""
    kind, _, name = (spec or "").partition(":")
    if not name or not Path(name).is_dir():
        return spec
    if kind == "spacy":
        from spacy.util import is_package

        if is_package(name):
            return spec
    return f"{kind}:{Path(name).resolve()}"


WHITE_SPACE = re.compile(r"\s+")
ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""Escaped in lines of JSON: line ends of many programs and control characters of terminals."""

LEAST_WIDTH = 40
INDENT = "    "
MOST_CERTAIN = 0.99
MODEL = "model=name recipe=model.recipe version=model.version"
"""Keys of a chosen model."""
FILE_NAME_SHOWN = 200


def identify_file(
    place: str,
    out: Path | None,
    model: str | None,
    spec: str | None,
    db: Path | None,
    *,
    allow_empty: bool,
    per_line: bool,
    as_json: bool,
) -> None:
    """Decide the numbers of a file, or of standard input, and write what was found."""
    from nfh_tui.services.identify import (
        Identification,
        check_running,
        numbers_in_text,
        read_text,
    )
    from nfh_tui.services.imports import check_empty

    began = time.perf_counter()
    if out is not None:
        options.check_out(out, [Path(place)], config.database(db))
    name, text = read_text(place)
    check_running(place)
    tools = tools_of(_chosen(model, db), spec)
    counts = Identification()
    listed: list[dict[str, object]] = []
    # What is printed line by line shows itself how far it is.
    shown = out is None and not as_json and is_terminal()
    with ExitStack() as stack:
        steps = stack.enter_context(Steps("identify"))
        write = _writer(stack, out, listed, tools.chosen.name, as_json=as_json)
        for found in numbers_in_text(text, tools, per_line=per_line):
            counts.numbers += 1
            counts.count(found.decision.nfh, found.decision.rule)
            write(found)
            if not shown:
                steps.step("characters read:", found.end, len(text))
        empty = not (counts.numbers or allow_empty)
        check_empty(out, f"{name} has no number", empty=empty)
    if as_json:
        report = _report(name, text, tools, counts, out)
        seconds = {"seconds": round(time.perf_counter() - began, 3)}
        options.emit(report | seconds | ({"found": listed} if out is None else {}))
    else:
        _say_how_many(name, counts, out)


def _chosen(model: str | None, db: Path | None) -> "SelectedModel[Identifier]":
    """The model; names and numbers of models are looked up in the database of --db."""
    from nfh_tui.services.models import identifier_for

    with options.named_store(db) as store:
        return identifier_for(store, model, register=False)


def _writer(
    stack: ExitStack,
    out: Path | None,
    listed: list[dict[str, object]],
    name: str,
    *,
    as_json: bool,
) -> "Callable[[FoundNumber], object]":
    """The function that writes a number: as JSON, for a person, or into `listed`.

    name: the model's.
    """
    if as_json and out is None:
        return lambda found: listed.append(number_json(found))
    if out is None and is_terminal():
        width = max(LEAST_WIDTH, shutil.get_terminal_size().columns)
        return lambda found: options.echo(number_text(found, name, width))
    file = json_file(stack, out)

    def write(found: "FoundNumber") -> None:
        line = json.dumps(number_json(found), ensure_ascii=False).translate(ESCAPED)
        file.write(line.encode("utf-8") + b"\n")

    return write


def is_terminal() -> bool:
    """True if a person watches standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def json_file(stack: ExitStack, out: Path | None) -> BinaryIO:
    """Where lines of JSON go: a file that is replaced at the end, else standard output."""
    from nfh_db.formats.files import replacing
    from nfh_tui.services.imports import standard_output

    if out is not None:
        return stack.enter_context(replacing(out))
    file = standard_output()
    stack.callback(file.flush)
    return file


def number_json(found: "FoundNumber") -> dict[str, object]:
    decision = found.decision
    keys = "start end text nfh=decision.nfh rule=decision.rule score=decision.score sentence"
    return options.picked(found, keys) | (
        {"weights": decision.weights} if decision.weights else {}
    )


def number_text(found: "FoundNumber", name: str, width: int) -> str:
    """A number for a person: the sentence around it, then what the model says, and why."""
    around = "".join(fitting(found.before, found.text, found.after, width))
    return "\n".join((around, *wrapped(decided(found.decision, name), INDENT, width=width)))


def decided(decision: "Decision", name: str) -> str:
    """A sentence: whether the noun is missing, how sure the model is, or the rule's reason."""
    from nfh_models.identification.base import ENCODER, SMALL
    from nfh_models.identification.rule_words import SENTENCES

    said = "NFH: the noun is missing" if decision.nfh else "Not an NFH: the noun is there"
    by = visible(name, NAME_SHOWN)
    why = SENTENCES.get(decision.rule, "")
    if decision.score is None:
        return f"{said} ({visible(decision.rule, NAME_SHOWN)}). {why}".rstrip()
    if why or decision.rule in (ENCODER, SMALL):
        sure = 1 / (1 + math.exp(-abs(decision.score)))
        parts = "; ".join(f"{name} {weight:+.2f}" for name, weight in decision.weights)
        both = f": {parts}" if parts else ""
        return f"{said} ({by} is {certainty(sure)} sure{both}). {why}".rstrip()
    return f"{said} ({by} gives it a score of {decision.score:+.2f}, and above 0 is an NFH)."


def certainty(probability: float) -> str:
    """A probability in whole percent; what is not certain is not called so."""
    if probability > MOST_CERTAIN:
        return "over 99 %"
    if probability < 1 - MOST_CERTAIN:
        return "under 1 %"
    return f"{probability:.0%}".replace("%", " %")


def fitting(before: str, number: str, after: str, room: int) -> tuple[str, str, str]:
    """A number in square brackets between as much of the text around it as there is room."""
    before, number, after = (
        WHITE_SPACE.sub(" ", text) for text in (before, f"[{number}]", after)
    )
    number = visible(number, room)
    side = max(0, room - len(number) - 4)
    after = _whole_words(after, max(side // 2, side - len(before)))
    return _whole_words(before[::-1], max(0, side - len(after)))[::-1], number, after


def _whole_words(text: str, limit: int) -> str:
    """A text cut to `limit` code points after a word, with an ellipsis."""
    shown = visible(text, limit)
    head, _, _ = shown.rpartition(" ")
    return f"{head} …" if head and len(text) > limit else shown


def _say_how_many(name: str, counts: "Identification", out: Path | None) -> None:
    """Print the summary, unless the lines went to standard output of a program."""
    summary = (
        f"{name}: {counted(counts.numbers, 'number')}, {counts.yes:,} without a noun (NFH), "
        f"{counts.no:,} with"
    )
    if out is not None:
        options.echo(f"{summary}; {visible(str(out), FILE_NAME_SHOWN)}: one line for each")
    elif is_terminal():
        options.say(summary)


def _report(
    name: str,
    text: str,
    tools: "IdentificationTools",
    counts: "Identification",
    out: Path | None,
) -> dict[str, object]:
    chosen = tools.chosen
    return {
        "file": name,
        "out": None if out is None else str(out),
        **options.picked(chosen, MODEL),
        "parser": tools.parser_name or None,
        "characters": len(text),
        "numbers": counts.numbers,
        **_decided(counts),
    }


def _decided(report: "Identification") -> dict[str, object]:
    return {
        "nfh": options.picked(report, "yes no"),
        "rules": {
            rule: {"yes": yes, "no": no} for rule, (yes, no) in sorted(report.rules.items())
        },
    }


RULE_NAME_SHOWN = 100
MOST_RULES = 40


@dataclass(frozen=True, slots=True)
class IdentifySummary:
    """The request, the tools and the result of an identification.

    active: whether the model is the active one, which the workbench shows. db: the value of
    --db.
    """

    wanted: "IdentifyRequest"
    tools: "IdentificationTools"
    report: "Identification"
    seconds: float
    active: bool
    db: Path | None

    @property
    def differing(self) -> str:
        """The query for numbers whose gold differs."""
        from nfh_tui.services.identify import differing

        return differing(self.wanted.query)


def report_lines(summary: IdentifySummary) -> Iterator[str]:
    """The result in words."""
    report, tools = summary.report, summary.tools
    name = visible(tools.chosen.name, RULE_NAME_SHOWN)
    parser = f", with {visible(tools.parser_name, RULE_NAME_SHOWN)}" if tools.parser else ""
    yield f"{counted(report.passages, 'passage')}, decided by {name}{parser}"
    yield f"  {counted(report.numbers, 'number')}, {_new(summary)}"
    yield (
        f"  {report.yes:,} without a noun (NFH), {report.no:,} with; "
        f"{report.decided:,} decided now, {report.numbers - report.decided:,} before"
    )
    yield from _rules(report)
    yield from _against_gold(summary)
    if summary.wanted.dry_run:
        yield "Nothing was stored"
    elif not summary.active and report.numbers:
        activate = options.command(f"models activate {quoted(tools.chosen.name)}", summary.db)
        yield from wrapped(
            f"{name} is not the active model, so the workbench and queries do not show this: "
            f"{activate}",
            "  ",
            "    ",
            cuts=True,
        )


def _new(summary: IdentifySummary) -> str:
    if not summary.wanted.new:
        return "none added (--no-new)"
    would = " would be" if summary.wanted.dry_run else ""
    return f"{summary.report.new:,} of them{would} new"


def _rules(report: "Identification") -> Iterator[str]:
    """A line for each rule, the most frequent first."""
    if not report.rules:
        return
    width = max(len("rule"), *map(len, report.rules))
    yield f"  {'rule':<{width}}  {'NFH':>9}  {'not':>9}"
    ranked = sorted(report.rules.items(), key=lambda pair: (-sum(pair[1]), pair[0]))
    for rule, (yes, no) in ranked[:MOST_RULES]:
        yield f"  {visible(rule, RULE_NAME_SHOWN):<{width}}  {yes:>9,}  {no:>9,}"


def _against_gold(summary: IdentifySummary) -> Iterator[str]:
    report = summary.report
    if not report.compared:
        return
    yield from wrapped(
        f"gold contradicts {report.differ:,} of {report.compared:,} that have gold",
        "  ",
        "    ",
        cuts=True,
    )
    if report.differ and summary.active and not summary.wanted.dry_run:
        browse = options.command(f"browse {quoted(summary.differing)}", summary.db)
        yield f"  See them: {browse}"


def report_json(summary: IdentifySummary) -> dict[str, object]:
    report, tools, wanted = summary.report, summary.tools, summary.wanted
    return {
        "query": wanted.query.text,
        **options.picked(tools.chosen, MODEL),
        "parser": tools.parser_name or None,
        "active": summary.active,
        **options.picked(report, "passages numbers new decided"),
        **_decided(report),
        "gold": options.picked(report, "compared differ") | {"query": summary.differing},
        "dry_run": wanted.dry_run,
        "seconds": round(summary.seconds, 3),
    }
