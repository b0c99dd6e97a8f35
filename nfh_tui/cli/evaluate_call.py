"""What `nfh-tui evaluate` is asked for, on both tasks: the call, its source, the words and
JSON that both reports share, and the call as a job.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import click
from msgspec import convert

from nfh_db.formats.files import write_lines
from nfh_db.messages import counted, visible
from nfh_db.query import parse
from nfh_models import ModelsError
from nfh_models.agreement.bootstrap import Resampling
from nfh_models.agreement.measure import Measure
from nfh_models.identification.base import TRAINED
from nfh_tui import config
from nfh_tui.cli import options
from nfh_tui.cli.report import CommandReport, Steps
from nfh_tui.display_figures import NONE, difference_interval, interval
from nfh_tui.jobs.descriptions import count, fraction, whole_model, whole_parser
from nfh_tui.services.evaluate import Trial
from nfh_tui.services.examples import LabelledExamples
from nfh_tui.services.imports import ImportOptions
from nfh_tui.services.models import IDENTIFICATION as IDENTIFICATIONS
from nfh_tui.services.models import RESOLUTION as RESOLUTIONS
from nfh_tui.services.reports import ReportInterval, to_json

if TYPE_CHECKING:
    from nfh_db.jobs import Job
    from nfh_db.store import Store
    from nfh_models.identification.evaluation import IdentifierComparison
    from nfh_models.resolution.evaluation import Paired


A = TypeVar("A")
E = TypeVar("E", bound=LabelledExamples)
T = TypeVar("T")
Json = dict[str, Any]
Interval = tuple[float, float] | None


def whole_report(told: Json, models: Sequence[Json], comparisons: Sequence[Json]) -> Json:
    """What both tasks print: `models`, and the figures of a single one beside it, too."""
    whole = told | (models[0] if len(models) == 1 else {}) | {"models": models}
    return to_json(whole | ({"comparisons": comparisons} if len(models) > 1 else {}))


def held_on(trial: object, task: str, call: "EvaluateOptions") -> Json:
    """The keys that the reports of both tasks begin with."""
    return {
        "task": task,
        **options.picked(call, "query split"),
        "file": None if call.file is None else str(call.file),
        **options.picked(trial, "source format parser"),
        "interval": ReportInterval(resamples=call.resamples, seed=call.seed),
        **options.picked(trial, "left_out in_sheet warnings"),
    }


def notes_of(trial: "Trial") -> Iterator[str]:
    """What was left out of a trial, and how labels were given, in words."""
    for reason, times in trial.left_out.items():
        yield f"left out: {counted(times, 'item')}, {reason}"
    if trial.in_sheet:
        yield (
            f"{counted(trial.in_sheet, 'label')} decided in a review sheet, as one line each, "
            "many at once"
        )


def interval_ends(measure: Measure) -> Interval:
    """The ends of a measure's interval; None where it has none."""
    if measure.low is None or measure.high is None:
        return None
    return (measure.low, measure.high)


IDENTIFICATION = "identification"
RESOLUTION = "resolution"

DEFAULT_FOLDS = 5

OF_ONE_TASK = {
    "--folds": ("folds", IDENTIFICATION),
    "--train": ("train", IDENTIFICATION),
    "--set": ("sets", IDENTIFICATION),
    "--ablation": ("ablation", IDENTIFICATION),
    "--oracle": ("oracle", RESOLUTION),
    "--baselines": ("baselines", RESOLUTION),
    "--several-heads": ("several_heads", RESOLUTION),
}
"""Options of one task: the field, and the task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What the command line asks for; see the options of `nfh_tui.cli.evaluate`."""

    task: str
    query: str = ""
    models: tuple[str, ...] = ()
    split: str | None = None
    file: Path | None = None
    several_heads: bool = False
    format: str | None = None
    parser: str | None = None
    folds: int | None = None
    train: Path | None = None
    sets: tuple[str, ...] = ()
    ablation: bool = False
    oracle: bool = False
    baselines: bool = False
    errors: int = 10
    resamples: int = 1_000
    seed: int = 1
    db: Path | None = None
    report: Path | None = None
    blind: bool = False
    as_json: bool = False
    reading: ImportOptions | None = None

    def check(self) -> None:
        """Raise UsageError for options that do not go together, or not with the task."""
        self._check_task()
        self._check_source()
        if self.train is not None and self.folds is not None:
            raise click.UsageError("--train and --folds are two ways to fit; choose one")
        if len(set(self.models)) < len(self.models):
            raise click.UsageError("--model names the same model twice")
        if self.fits and self.models and not set(TRAINED) & set(self.models):
            raise click.UsageError(
                f"--folds and --train are for a recipe that learns: --model {TRAINED[0]}"
            )
        if self.sets and not (self.fits or self.ablation):
            raise click.UsageError(
                "--set is for a recipe that is fitted: add --folds or --train"
            )
        if self.report is not None:
            read = [one for one in (self.file, self.train) if one is not None]
            options.check_out(self.report, read, config.database(self.db), "--report")
        if any(one.startswith("folds=") for one in self.sets):
            raise click.UsageError("the number of folds is set with --folds")
        if self.sets:
            self._check_settings()

    def _check_task(self) -> None:
        for option, (name, task) in OF_ONE_TASK.items():
            if getattr(self, name) and task != self.task:
                raise click.UsageError(
                    f"{option} is for {task}: leave it out, or evaluate {task}"
                )

    def _check_source(self) -> None:
        if self.file is not None and self.several_heads:
            raise click.UsageError("--file and --several-heads are measured apart; choose one")
        if not self.of_database and (self.query or self.split):
            named = "--several-heads" if self.file is None else "--file"
            raise click.UsageError(
                f"{named} is measured completely: leave out the query and --split"
            )
        if self.file is None and self.format is not None:
            raise click.UsageError("--format needs --file")

    def _check_settings(self) -> None:
        from nfh_models.identification.svm import plan_of
        from nfh_models.model_files import SettingError

        try:
            plan_of(self.sets)
        except SettingError as error:
            raise click.UsageError(str(error)) from error

    @property
    def of_database(self) -> bool:
        """Whether the labels are the gold of a database."""
        return self.file is None and not self.several_heads

    @property
    def fits(self) -> bool:
        """Whether recipes that learn are trained for this evaluation."""
        return self.folds is not None or self.train is not None

    @property
    def resampling(self) -> Resampling:
        return Resampling(self.resamples, self.seed)


WARNING_SHOWN = 500

Tell = Callable[[str, int, int], None]
"""Called with the step, the number done, and the total."""


@contextmanager
def progress_of(tell: Tell | None) -> Iterator[Tell]:
    """The progress callback: `tell`, else progress on the terminal."""
    if tell is not None:
        yield tell
        return
    with Steps("evaluating") as steps:
        yield steps.step


@contextmanager
def open_source(call: EvaluateOptions, *, looks_up: bool) -> Iterator["Store | None"]:
    """The database; None where neither labels nor models come from it.

    looks_up: whether a model may be registered in the database.
    """
    database = config.database(call.db)
    if call.of_database:
        with options.open_to_read(database) as store:
            yield store
        return
    there = call.db is not None or database.exists()
    if looks_up and not there and config.named_database(None) is not None:
        warn([f"there is no database at {database}, so no model of a database is used"])
    with options.named_store(database if looks_up and there else None) as found:
        yield found


def examples_of(kind: type[E], call: EvaluateOptions, store: "Store | None") -> E:
    """The labelled numbers that the call names, of its file or of the database."""
    if call.file is not None:
        return kind.of_file(call.file, call.format, blind=call.blind, options=call.reading)
    assert store is not None  # noqa: S101 - opened, since the labels are in it
    return kind.of_store(store, parse(call.query), call.split, blind=call.blind)


def warn(sentences: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for sentence in sentences:
        options.say(f"warning: {visible(sentence, WARNING_SHOWN)}")


def check_names(names: Iterable[str]) -> None:
    """Raise UsageError where two names mean the same model."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise click.UsageError(f"--model names {name} twice")
        seen.add(name)


NOT_KEPT = ("db", "as_json", "task", "models", "query", "split", "report")
"""Fields of a call that a job's row does not keep, or keeps elsewhere."""

FIGURES = {
    "identification": ("precision", "recall", "f1", "accuracy"),
    RESOLUTION: ("accuracy", "accuracy_inclusive", "accuracy_nearest"),
}


def queue_evaluation(call: EvaluateOptions) -> None:
    """Queue a job that does what the call asks for.

    Raises UsageError, QueryError, StoreError, and for a model that is none
    IdentificationRecipeError or ResolutionRecipeError.
    """
    from nfh_tui.jobs.tasks import evaluation_asked

    if call.ablation:
        raise click.UsageError("--ablation cannot run as a job: leave out --background")
    parse(call.query)
    with options.open_database(call.db, writes=True) as store:
        whole = _whole(store, call)
        kept = {name: value for name, value in asdict(whole).items() if name not in NOT_KEPT}
        new = evaluation_asked(
            whole.task,
            whole.models,
            query=whole.query,
            split=whole.split,
            report=None if whole.report is None else str(whole.report),
            more={k: str(v) if isinstance(v, Path) else v for k, v in kept.items()},
            asked_by=options.user(),
        )
        options.queued(store, new, call.db, as_json=call.as_json)


def _whole(store: "Store", call: EvaluateOptions) -> EvaluateOptions:
    models = store.models.all()
    known = {word for m in models for word in (str(m.id), m.name, m.recipe)}
    for word in call.models:
        if word not in known and not Path(word).is_dir():
            choosing = RESOLUTIONS if call.task == RESOLUTION else IDENTIFICATIONS
            if word.partition(":")[0] not in choosing.recipes:
                raise choosing.error(
                    f"{word!r} names no model of {call.task}: `nfh-tui models` lists those of "
                    "the database"
                )
    return replace(
        call,
        models=tuple(whole_model(word, known) for word in call.models),
        parser=whole_parser(call.parser),
        file=None if call.file is None else call.file.resolve(),
        train=None if call.train is None else call.train.resolve(),
        report=None if call.report is None else call.report.resolve(),
    )


def evaluated(database: Path, given: Mapping[str, object], tell: Tell) -> Json:
    """The report of an evaluation that a job's row asks for. Raises what its work raises."""
    call = call_of(database, given)
    try:
        call.check()
        return measured(call, tell).json(call)
    except click.ClickException as error:
        raise ModelsError(error.message) from error


def call_of(database: Path, given: Mapping[str, object]) -> EvaluateOptions:
    """The call that a job's row keeps: paths as text, tuples as lists."""
    call = convert(dict(given), EvaluateOptions, dec_hook=lambda kind, value: kind(value))
    return replace(call, db=database, as_json=True)


def evaluated_lines(job: "Job", db: Path | None) -> Iterator[str]:
    """The main figures of each model, in words."""
    result = job.result
    each = result.get("models")
    for one in each if isinstance(each, list) else [result]:
        if not isinstance(one, Mapping):
            continue
        told = counted(count(one.get("n")), "example")
        yield f"{visible(str(one.get('model')), 60)}, {job.task}, on {told}:"
        for name in FIGURES.get(job.task, ()):
            if (value := fraction(one.get(name))) is not None:
                yield f"  {name:19} {100 * value:>6.1f}"
    page = job.arguments.get("report")
    if isinstance(page, str):
        yield f"The page is {visible(page, 400)}"
    yield f"All of it: {options.command(f'jobs show {job.id} --json', db)}"


class Measured(Protocol):
    """What a task has measured."""

    def json(self, call: EvaluateOptions) -> Json: ...

    def text(self, call: EvaluateOptions) -> str: ...

    def page(self, call: EvaluateOptions) -> Iterable[str]:
        """A page of HTML, in pieces."""
        ...


def measured(call: EvaluateOptions, tell: Tell | None = None) -> Measured:
    """Measure what a call asks for, and write its page, if it asks for one.

    tell: the progress callback, in place of the terminal. Raises what reading, parsing and the
    models raise, and ExportError.
    """
    found: Measured = import_module(f"nfh_tui.cli.evaluate_{call.task}").measured(call, tell)
    if call.report is not None:
        write_lines(call.report, found.page(call))
    return found


def run(call: EvaluateOptions) -> None:
    """Measure what a call asks for, and print it."""
    found = measured(call)
    if call.as_json:
        options.emit(found.json(call))
    else:
        click.echo(found.text(call), nl=False)


@dataclass(frozen=True, slots=True)
class SystemPair(Generic[T]):
    """Two of the systems compared, by name."""

    first: str
    second: str
    found: T


def every_two(said: Mapping[str, A], compare: Callable[[A, A], T]) -> tuple[SystemPair[T], ...]:
    """Compare every two systems, in their order. said: what each says, by its name."""
    return tuple(SystemPair(a, b, compare(said[a], said[b])) for a, b in combinations(said, 2))


# --- words ----------------------------------------------------------------------------------

DIFFERENCE = ("points:", "95 % interval:", "p:", "only 1st:", "only 2nd:")
"""Columns of `difference_row`."""


def difference_row(found: "IdentifierComparison | Paired") -> tuple[str, ...]:
    """How far two systems are apart, in points."""
    gap = found.difference
    return (
        NONE if gap.value is None else f"{100 * gap.value:+.1f}",
        difference_interval(gap.low, gap.high),
        NONE if found.p is None else f"{found.p:.3f}",
        f"{found.only_first:,}",
        f"{found.only_second:,}",
    )


def tell_wrong(
    page: CommandReport,
    what: str,
    ranked: Sequence[T],
    described: Callable[[T], tuple[str, str]],
    most: int,
    *,
    sure: bool,
    more: str,
) -> None:
    """Some of the errors of a system, each in two lines.

    what: what is wrong, as "answer of small". sure: the surest come first. more: what has all
    of them.
    """
    if not most:
        return
    if not ranked:
        page.title(f"No wrong {what}")
        return
    thing, _, whose = what.partition(" ")
    shown, total = ranked[:most], len(ranked)
    which = "all of them" if len(shown) == total else f"{len(shown)} of {total:,}"
    page.title(f"Wrong {thing}s {whose}: {which}{', the surest first' if sure else ''}")
    for one in shown:
        told, around = described(one)
        page.note(told)
        page.note(f"  {around}")
    if len(shown) < total:
        page.note(f"--errors N shows more, {more} them all")


def tell_seconds(page: CommandReport, trial: Trial, told: Iterable[str]) -> None:
    """How long a trial took. told: of each system."""
    page.title("Seconds")
    if trial.parser is not None:
        page.note(f"parsing, once for all models: {trial.parsing:.1f} ({trial.parser})")
    for one in told:
        page.note(one)


def interval_notes(call: EvaluateOptions) -> list[str]:
    if not call.resamples:
        return []
    return [f"intervals: {call.resamples:,} resamples of whole passages, seed {call.seed}"]


def interval_words(one: Measure) -> str:
    return interval(one.low, one.high)


LEFT_OF_ANCHOR = 34
RIGHT_OF_ANCHOR = 34


def around_number(text: str, start: int, end: int) -> str:
    """Some of the text around a number, which stands in square brackets."""
    before, number, behind = text[:start], text[start:end], text[end:]
    if len(before) > LEFT_OF_ANCHOR:
        before = "…" + before[-LEFT_OF_ANCHOR:]
    if len(behind) > RIGHT_OF_ANCHOR:
        behind = behind[:RIGHT_OF_ANCHOR] + "…"
    return f"{before}[{number}]{behind}"


def scope_words(trial: Trial, call: EvaluateOptions) -> str:
    place = trial.source if trial.format is None else f"{trial.source} ({trial.format})"
    if call.query:
        place += f", query {call.query}"
    return place + (f", split {call.split}" if call.split else "")
