"""`nfh-tui predict`: which heads numbers have, in a database or in any text."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from nfh_db.messages import counted, visible
from nfh_models.domain import IMPLICIT_KINDS, Kind, Relation
from nfh_tui import config
from nfh_tui.cli.identify import (
    ESCAPED,
    INDENT,
    PARSERS,
    certainty,
    decided,
    fitting,
    is_terminal,
    json_file,
    lines_option,
)
from nfh_tui.cli.options import (
    FormatName,
    QueryCommand,
    allow_empty_option,
    background_option,
    check_out,
    command,
    echo,
    emit,
    named_store,
    of_file,
    on_database,
    open_database,
    picked,
    reading_options,
    say,
    tell_lines,
    user,
)
from nfh_tui.cli.report import Steps, wrapped
from nfh_tui.cli.retrain import sentence_lines
from nfh_tui.editor.votes import KIND_WORDS
from nfh_tui.jobs.descriptions import count, text

if TYPE_CHECKING:
    from nfh_db.formats.files import FileOrigin
    from nfh_models.resolution.base import Resolver
    from nfh_tui.services.imports import ImportOptions
    from nfh_tui.services.predict import PredictedNumber, PredictionCounts, PredictionTools


@click.command(cls=QueryCommand)
@click.argument("query", nargs=-1)
@click.option(
    "--model",
    metavar="M",
    help="A model's number, name, recipe or folder; else the active one, with --file that "
    "of the package.",
)
@click.option(
    "--parser",
    metavar="SPEC",
    help=f"The parser, where one is needed: {PARSERS}; else the first English spaCy pipeline.",
)
@click.option("--force", is_flag=True, help="Also predict again what this model has predicted.")
@click.option(
    "--file",
    "file",
    metavar="F",
    help="A file, or - for standard input, in place of the database.",
)
@lines_option
@allow_empty_option
@click.option(
    "--format",
    "format_name",
    type=FormatName(besides=("text",)),
    help="With --file: its format; text is running text. Without it, the content decides.",
)
@click.option(
    "--identifier",
    metavar="M",
    help="With --file: what decides which numbers lack a noun; else the same model, or rules.",
)
@click.option(
    "--anchors",
    type=click.Choice(("given", "found")),
    help="With --file: in labelled rows use the numbers that they give (unchecked, unless "
    "--identifier is named), or find all.  [default: given]",
)
@click.option(
    "--deterministic/--no-deterministic",
    "patterns",
    default=None,
    help="With --file: whether sure patterns (no one, three of the spoons) go first. Without "
    "either, those that need no parser go before a trained model; --parser uses all.",
)
@click.option("--scores", is_flag=True, help="With --file: write every candidate's score, too.")
@click.option(
    "--all", "every", is_flag=True, help="With --file: also write numbers that have their noun."
)
@reading_options
@background_option
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="With --background: predict on a Dask cluster.",
)
@on_database
def predict(
    query: tuple[str, ...],
    file: str | None,
    background: bool,
    **options: Any,  # noqa: ANN401 - the fields of PredictOptions, and the options of READING
) -> None:
    """Predict which head each number that QUERY finds has.

    Predictions are stored and shown in the workbench; they are neither answers nor gold. With
    --file no database is needed: the numbers of a text are found, those whose noun is missing
    are resolved, and each is a sentence on a terminal, else (or with --json) a line of JSON, as
    the gold format has it.
    """
    reading = of_file(options, file)
    call = PredictOptions(query=" ".join(query), reading=reading, **options)
    if file is None:
        if call.about_file:
            raise click.UsageError(
                "--out, --allow-empty, --format, --identifier, --anchors, --deterministic, "
                "--scores and --all go with --file"
            )
        if call.scheduler is not None and not background:
            raise click.UsageError("--scheduler goes with --background")
        (queue_prediction if background else predict_database)(call)
        return
    if query:
        raise click.UsageError("give a QUERY or --file, not both")
    if background or call.scheduler is not None:
        raise click.UsageError(
            "--background and --scheduler are about the database: leave out --file"
        )
    if call.force:
        raise click.UsageError("--force is about the database: leave it out with --file")
    predict_file(call, file)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictOptions:
    """What the command line asks for, but for --file and --background."""

    query: str
    model: str | None
    parser: str | None
    force: bool
    scheduler: str | None
    db: Path | None
    as_json: bool
    out: Path | None
    allow_empty: bool
    format_name: str | None
    identifier: str | None
    anchors: Literal["given", "found"] | None
    patterns: bool | None
    scores: bool
    every: bool
    reading: "ImportOptions | None"

    @property
    def about_file(self) -> bool:
        """Whether anything is asked for that only --file has."""
        said = (self.out, self.format_name, self.identifier, self.anchors, self.patterns)
        flags = self.allow_empty or self.scores or self.every
        return flags or any(one is not None for one in said)


def predict_database(call: PredictOptions) -> None:
    """Predict the anchors that a query finds, and print the result."""
    from nfh_db.query import parse
    from nfh_tui.services.predict import PredictAllRequest, predict_all

    parse(call.query)  # before a database is looked for
    wanted = PredictAllRequest(call.query, call.model, call.parser, call.force, user())
    with open_database(call.db, writes=True) as store, Steps("predict") as steps:
        found = predict_all(store, wanted, steps.step)
    if found.fallback_reason:
        say(f"nfh-tui: {found.fallback_reason}")
    if call.as_json:
        emit(found.report)
        return
    tell_lines(predicted_lines(found.report, call.db))


def queue_prediction(call: PredictOptions) -> None:
    """Queue a job that does the same; wrong arguments are refused at once."""
    from nfh_db.query import parse
    from nfh_tui.cli.options import queued
    from nfh_tui.cli.retrain import check_parser, check_scheduler
    from nfh_tui.jobs.descriptions import whole_parser
    from nfh_tui.jobs.tasks import prediction_asked
    from nfh_tui.services.models import RESOLUTION

    parse(call.query)
    check_parser(call.parser)
    check_scheduler(call.scheduler)
    with open_database(call.db, writes=True) as store:
        if call.model is not None and RESOLUTION.named(store, call.model) is None:
            _check_recipe(call.model)
        new = prediction_asked(
            call.query,
            model=call.model,
            parser=whole_parser(call.parser),
            force=call.force,
            scheduler=call.scheduler,
            asked_by=user(),
        )
        queued(store, new, call.db, as_json=call.as_json)


def _check_recipe(model: str) -> None:
    """Raise ResolutionRecipeError for what is neither registered nor will be."""
    from nfh_models.resolution.recipes import ResolutionRecipeError
    from nfh_tui.services.models import RESOLUTION

    if model not in RESOLUTION.registered:
        raise ResolutionRecipeError(
            f"{model!r} names no model of this database: `nfh-tui models` lists them"
        )


SAID_WIDTH = 24
LEAST_WIDTH = 48
FILE_SHOWN = 200
WIDEST = 1_000
"""Code points on either side of a number that may be shown."""


def prediction_text(one: "PredictedNumber", tools: "PredictionTools", width: int) -> str:
    """A prediction for a person: the text around the number, then the answer in a sentence."""
    passage = one.numbers.passage
    start, end = passage.code_points(one.anchor)
    text, far = passage.text, WIDEST
    parts = text[max(0, start - far) : start], text[start:end], text[end : end + far]
    width = max(LEAST_WIDTH, width)
    around = "".join(fitting(*parts, width))
    sentence = prediction_sentence(one, tools)
    return "\n".join((around, *wrapped(sentence, INDENT, width=width, cuts=True)))


def prediction_sentence(one: "PredictedNumber", tools: "PredictionTools") -> str:
    """The head or the class, how sure the model is, and its second choice."""
    answer, choice, resolver = one.answer, one.choice, tools.resolver
    name = visible(resolver.name, MODEL_NAME_SHOWN)
    if answer.kind is Kind.NOT_NFH:
        by = tools.identifier or resolver
        assert one.decision is not None  # noqa: S101 - for mypy: nothing else says so
        return decided(one.decision, by.name)
    said = prediction_words(one)
    if one.pattern is not None:
        return f"{said}, by a pattern of words ({one.pattern})."
    if choice is None:
        return f"{said}."
    sure = f"{name} is {{}} sure" if resolver.model.probabilities else f"{name} scores it {{}}"
    best, second = (
        None if candidate is None else scored(one, candidate, resolver.model)
        for candidate in (choice.choice, choice.second)
    )
    told = f"{said} ({sure.format(best)})"
    if choice.second is None:
        return f"{told}."
    other = candidate_words(one, choice.second)
    if other == candidate_words(one, choice.choice):
        other = f"{other} elsewhere in the text"
    return f"{told}, or else {other} ({second})."


def scored(one: "PredictedNumber", candidate: str, resolver: "Resolver") -> str:
    """The score of a candidate, as a probability where it is one."""
    assert one.choice is not None  # noqa: S101 - for mypy
    classes = [kind.value for kind in IMPLICIT_KINDS]
    place = len(classes) + int(candidate) if candidate.isdecimal() else classes.index(candidate)
    score = one.choice.scores[place] or 0.0
    return certainty(score) if resolver.probabilities else f"{score:.2f}"


def candidate_words(one: "PredictedNumber", candidate: str) -> str:
    """A candidate as it is shown: a word of the text in quotation marks, or a class."""
    if not candidate.isdecimal():
        return KIND_WORDS[Kind(candidate)]
    return f"“{visible(one.numbers.passage.word(int(candidate)), SAID_WIDTH)}”"


def prediction_words(one: "PredictedNumber") -> str:
    """The answer as the begin of a sentence: "The noun is “tickets”"."""
    answer = one.answer
    if answer.kind is Kind.NFH:
        return "The noun is missing, and the model does not say which one it is"
    if answer.kind is not Kind.REFERENCE:
        return f"No noun in the text, but the class {KIND_WORDS[answer.kind]}"
    words = [candidate_words(one, str(head.mentions[0].head)) for head in answer.heads]
    joint = {Relation.AND: " and ", Relation.OR: " or "}
    said = joint.get(answer.relation or Relation.UNSTATED, " + ").join(words)
    return f"The {'noun is' if len(words) == 1 else 'nouns are'} {said}"


def summary(name: str, counts: "PredictionCounts", out: Path | None) -> str:
    heads = counts.kinds[Kind.REFERENCE]
    told = (
        f"{name}: {counted(counts.numbers, 'number')}, {counts.nfh:,} without a noun (NFH): "
        f"{heads:,} with a head in the text, {counts.nfh - heads:,} without"
    )
    return told if out is None else f"{told}; written to {visible(str(out), FILE_SHOWN)}"


def window_note(model: str, cut: int, nfh: int) -> str:
    """The sentence on numbers whose passage the model did not see whole; "" for none."""
    if not cut:
        return ""
    return (
        f"{cut:,} of {nfh:,} have longer passages than {visible(model, FILE_SHOWN)} looks at: "
        "a head outside the words around the number is lost"
    )


def report_json(
    name: str,
    format_: str,
    out: Path | None,
    tools: "PredictionTools",
    counts: "PredictionCounts",
    seconds: float,
) -> dict[str, object]:
    identifier, resolver = tools.identifier, tools.resolver
    return {
        "file": name,
        "format": format_,
        "out": None if out is None else str(out),
        **picked(resolver, "model=name recipe=model.recipe version=model.version"),
        "identifier": identifier and identifier.name,
        "parser": tools.parser and tools.parser.name,
        **picked(counts, "passages numbers"),
        "nfh": {"yes": counts.nfh, "no": counts.numbers - counts.nfh},
        "kinds": {kind.value: counts.kinds[kind] for kind in Kind if counts.kinds[kind]},
        "patterns": dict(sorted(counts.patterns.items())),
        "several": counts.several,
        "beyond_window": counts.cut,
        "seconds": round(seconds, 3),
    }


Write = Callable[["PredictedNumber"], object]


def predict_file(call: PredictOptions, place: str) -> None:
    """Predict the numbers of a file, or of standard input, and write what was predicted."""
    from nfh_tui.services.imports import check_empty
    from nfh_tui.services.predict import PredictionCounts, predict
    from nfh_tui.services.predict_sources import (
        LABELLED,
        STANDARD_INPUT,
        format_of,
        opened,
        other_format,
        passages,
        passages_of,
    )

    began = time.perf_counter()
    if call.out is not None:
        check_out(call.out, [Path(place)], config.database(call.db))
    counts = PredictionCounts()
    with ExitStack() as stack:
        if (other := other_format(place, call.format_name, call.reading)) is not None:
            stream: FileOrigin = other.source
            format_name, taken = other.format.name, other.format.labelled
            found = passages_of(other, call.anchors or "given", call.reading)
        else:
            lines = stack.enter_context(opened(place))
            stream = lines
            format_name = call.format_name or format_of(lines)
            if place != STANDARD_INPUT:
                lines.encodable = format_name == "dialog"
            # The rows of nfh-ident are numbers of both kinds.
            taken = format_name in LABELLED and format_name != "nfh-ident"
            found = passages(lines, format_name, call.anchors or "given")
        tools = _tools(call, taken=taken and call.anchors != "found")
        # What is printed line by line shows itself how far it is.
        shown = call.out is None and is_terminal()
        steps = stack.enter_context(Steps("predict"))
        write = _writer(stack, call, tools)
        written = 0
        for one in predict(found, tools, counts):
            if one.nfh or call.every:
                write(one)
                written += 1
            if not shown:
                steps.step(f"{counts.numbers:,} numbers, {counts.nfh:,} without a noun", 0, 0)
        empty = not (written or call.allow_empty)
        check_empty(call.out, f"{stream.name} has no number to write", empty=empty)
    _say_all(stream, tools, counts.cut, counts.nfh)
    seconds = time.perf_counter() - began
    if call.as_json and call.out is not None:
        emit(report_json(stream.name, format_name, call.out, tools, counts, seconds))
    elif call.out is not None:
        echo(summary(stream.name, counts, call.out))
    elif shown and not call.as_json:
        say(summary(stream.name, counts, None))


def _tools(call: PredictOptions, *, taken: bool) -> "PredictionTools":
    """taken: the numbers of the file are fused heads, unless --identifier decides."""
    from nfh_tui.services.predict import PredictRequest, tools_for

    request = PredictRequest(
        model=call.model,
        identifier=call.identifier,
        identify=call.identifier is not None or not taken,
        patterns=call.patterns,
        parser=call.parser,
    )
    looked_up = call.model is not None or call.identifier is not None
    with named_store(call.db if looked_up else None) as store:
        tools, notes = tools_for(store, request)
    for note in notes:
        say("\n".join(sentence_lines(f"nfh-tui: {note}")))
    return tools


def _writer(stack: ExitStack, call: PredictOptions, tools: "PredictionTools") -> Write:
    """The function that writes a prediction: as JSON, or for a person."""
    from nfh_db.system import now
    from nfh_tui.services.predict import PredictionLines

    lines = PredictionLines(tools, now(), scores=call.scores)
    if call.out is None and is_terminal() and not call.as_json:
        width = shutil.get_terminal_size().columns
        return lambda one: echo(prediction_text(one, tools, width))
    file = json_file(stack, call.out)
    return lambda one: file.write(lines.line(one).translate(ESCAPED).encode("utf-8"))


def _say_all(stream: "FileOrigin", tools: "PredictionTools", cut: int, nfh: int) -> None:
    """Print warnings about the file and about passages that were cut."""
    for warning in stream.warnings:
        say(f"nfh-tui: {stream.name}: {warning}")
    if note := window_note(tools.resolver.name, cut, nfh):
        say("\n".join(sentence_lines(f"nfh-tui: {note}")))


MODEL_NAME_SHOWN = 100


def predicted_lines(report: Mapping[str, object], db: Path | None) -> Iterator[str]:
    """The result in words. db: the value of --db."""
    name = visible(text(report.get("model")), MODEL_NAME_SHOWN)
    used = text(report.get("parser"))
    parser = f", with {visible(used, MODEL_NAME_SHOWN)}" if used else ""
    anchors, now = count(report.get("anchors")), count(report.get("predicted"))
    silent = count(report.get("silent"))
    yield f"{counted(anchors, 'number')}, predicted by {name}{parser}"
    yield f"  {now:,} predicted now, {anchors - now - silent:,} before"
    if silent:
        yield f"  {silent:,} without a prediction"
    found = report.get("kinds")
    if isinstance(found, Mapping) and found:
        kinds = (f"{kind} {count(number):,}" for kind, number in found.items())
        yield f"  now: {', '.join(kinds)}"
    note = window_note(text(report.get("model")), count(report.get("beyond_window")), now)
    if note:
        yield from sentence_lines(note, "  ")
    if report.get("active") is not True:
        activate = command(f"models activate {count(report.get('model_id'))}", db)
        yield f"  {name} is not the active model, so its predictions are not shown: {activate}"
