"""The form of a training, as a plain value; no screen and no store is needed."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from nfh_db.jobs import Job, NewJob
from nfh_tui.jobs.descriptions import TRAIN, text_of, texts_of, words_of
from nfh_tui.jobs.training import new_job

RECIPES: Mapping[str, tuple[str, ...]] = {
    "resolution": ("encoder", "linear", "bilstm"),
    "both": ("encoder", "small"),
    "identification": ("svm",),
}
"""Recipes of each task that can be trained, the default first."""

WITHOUT_TORCH = "linear"
"""The resolution recipe that needs no PyTorch."""

WARM = ("encoder", "small")
"""Recipes that start from a model."""

BASES = (*WARM, "base")
"""Recipes of the models from which they may start."""

TASKS = {
    "resolution": "which noun, or which class",
    "both": "the same, and whether a number is an NFH",
    "identification": "whether a number is an NFH",
}

RECIPE_WORDS = {
    "linear": "features and a linear model, from scratch",
    "bilstm": "the paper's network; needs vectors=file:PATH below",
    "encoder": "continues from a model trained before",
    "small": "the model in the package, fine-tuned",
    "svm": "the paper's support vector machine",
}

USUAL = ""
"""A base that stands for the default of the recipe."""

ALL_GOLD = ""
ANY_SPLIT = ""

BASE = "base="

NEEDS_SETTINGS = ("bilstm",)
"""Recipes that need a setting."""

UNCLOSED = "A quote in the settings is not closed."


def _first() -> str:
    return RECIPES["resolution"][0] if find_spec("torch") else WITHOUT_TORCH


@dataclass(frozen=True, slots=True)
class TrainingForm:
    """A requested training."""

    task: str = "resolution"
    recipe: str = field(default_factory=_first)
    base: str = USUAL
    """The model from which it starts."""
    settings: str = ""
    """Further settings as typed: "key=value", separated by spaces; quotes protect spaces."""
    split: str = ANY_SPLIT
    """Split of the gold that it learns from."""
    query: str = ALL_GOLD
    """Query of the gold that it learns from."""
    promote: bool = True
    """A model that is better than the active one replaces it."""
    parser: str | None = None
    """As the command's option; so is `scheduler`."""
    scheduler: str | None = None

    @property
    def from_model(self) -> bool:
        """True if the recipe starts from a model."""
        return self.recipe in WARM

    @property
    def simple(self) -> bool:
        """True if all values come from lists, so that none can be invalid."""
        typed = self.settings or self.split or self.parser or self.scheduler
        return not typed and self.recipe not in NEEDS_SETTINGS

    @property
    def words(self) -> tuple[str, ...]:
        """Return the values of the --set options. Raises ValueError for an unclosed quote."""
        base = (f"{BASE}{self.base}",) if self.base and self.from_model else ()
        try:
            return (*base, *shlex.split(self.settings))
        except ValueError as error:
            raise ValueError(UNCLOSED) from error


@dataclass(frozen=True, slots=True)
class Choices:
    """The values to choose from: bases, splits, queries."""

    bases: Sequence[str] = (USUAL,)
    queries: Sequence[str] = (ALL_GOLD,)
    splits: Sequence[str] = (ANY_SPLIT,)


SETTINGS = "settings"
"""Name of the field that is typed."""

FIELDS = ("task", "recipe", "base", SETTINGS, "split", "query", "promote")


def turned(form: TrainingForm, field: str, by: int, choices: Choices) -> TrainingForm:
    """Return the form with the next or previous value of a field, cyclically.

    The typed field stays the same.
    """
    offered: Mapping[str, Sequence[object]] = {
        "task": list(RECIPES),
        "recipe": RECIPES[form.task],
        "base": choices.bases if form.from_model else [form.base],
        SETTINGS: [form.settings],
        "split": choices.splits,
        "query": choices.queries,
        "promote": [True, False],
    }
    values, now = offered[field], getattr(form, field)
    place = values.index(now) if now in values else -1
    form = replace(form, **{field: values[(place + by) % len(values)]})  # type: ignore[arg-type]  # of the field's own type
    if form.recipe not in RECIPES[form.task]:
        form = replace(form, recipe=RECIPES[form.task][0])
    return form if form.from_model else replace(form, base=USUAL)


def last_form(jobs: Iterable[Job]) -> TrainingForm | None:
    """Return the form of the last training; None if there was none.

    jobs: newest first.
    """
    return next((_form_of(job) for job in jobs if job.kind == TRAIN and _known(job)), None)


def _known(job: Job) -> bool:
    return (
        not job.foreign
        and job.task in RECIPES
        and job.arguments.get("recipe") in RECIPES[job.task]
    )


def _form_of(job: Job) -> TrainingForm:
    given = job.arguments
    words = texts_of(given, "words")
    bases = [word.removeprefix(BASE) for word in words if word.startswith(BASE)]
    return TrainingForm(
        job.task,
        words_of(given, "recipe"),
        bases[-1] if bases else USUAL,
        shlex.join(word for word in words if not word.startswith(BASE)),
        words_of(given, "split"),
        words_of(given, "query"),
        given.get("promote") is not False,
        text_of(given, "parser"),
        text_of(given, "scheduler"),
    )


def job_of(form: TrainingForm, who: str) -> NewJob:
    """Build the job of a form. Raises ValueError as `words` does."""
    return new_job(
        form.task,
        form.recipe,
        words=form.words,
        query=form.query,
        split=form.split or None,
        parser=form.parser,
        promote=form.promote,
        scheduler=form.scheduler,
        asked_by=who,
    )


def call_of(form: TrainingForm) -> list[str]:
    """Return the form as command arguments. Raises ValueError as `words` does."""
    call = ["retrain", form.task]
    if form.query:
        call += [f"--query={form.query}"] if form.query.startswith("-") else [form.query]
    call += ["--recipe", form.recipe]
    for word in form.words:
        call += ["--set", word]
    for option in ("split", "parser", "scheduler"):
        value = getattr(form, option)
        call += [f"--{option}", value] if value else []
    return call if form.promote else [*call, "--no-promote"]


def command_of(form: TrainingForm) -> str:
    """Return the form as a shell command, for people who want to learn it."""
    try:
        return f"nfh-tui {shlex.join(call_of(form))}"
    except ValueError as error:
        return str(error)
