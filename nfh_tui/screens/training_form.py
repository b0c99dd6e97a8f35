"""What a person asks of a training on the screen, as a plain value; no screen, no store."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from nfh_db.jobs import Job, NewJob
from nfh_tui.jobs.descriptions import TRAIN, text_of, texts_of, words_of
from nfh_tui.jobs.training import asked

RECIPES: Mapping[str, tuple[str, ...]] = {
    "resolution": ("encoder", "linear", "bilstm"),
    "both": ("encoder", "small"),
    "identification": ("svm",),
}
"""Tasks that can be trained, each with its recipes, the usual one first."""

WITHOUT_TORCH = "linear"
"""What resolution is learnt with where no network can be trained here."""

WARM = ("encoder", "small")
"""Recipes that start from a model."""

TASKS = {
    "resolution": "which noun, or which class",
    "both": "that, and whether a number is one at all",
    "identification": "whether a number is one at all",
}

RECIPE_WORDS = {
    "linear": "features and a linear model, from nothing",
    "bilstm": "the paper's network; needs vectors=file:PATH below",
    "encoder": "goes on from the model in use",
    "small": "the model in the package, fine-tuned",
    "svm": "the paper's support vector machine",
}

USUAL = ""
"""In place of a base: what the recipe starts from where nobody says otherwise."""

ALL_GOLD = ""
ANY_SPLIT = ""

BASE = "base="

NEEDS_SETTINGS = ("bilstm",)
"""Recipes that cannot do without a setting."""

UNCLOSED = "A quote in the settings is not closed."


def _first() -> str:
    return RECIPES["resolution"][0] if find_spec("torch") else WITHOUT_TORCH


@dataclass(frozen=True, slots=True)
class TrainingForm:
    """A training as asked for.

    base: what it starts from. settings: further ones as typed, "key=value" with blanks
    between, one with a blank in it in quotes. split, query: of the gold that it learns from.
    promote: whether it takes over where it is better. parser, scheduler: as the command has
    them.
    """

    task: str = "resolution"
    recipe: str = field(default_factory=_first)
    base: str = USUAL
    settings: str = ""
    split: str = ANY_SPLIT
    query: str = ALL_GOLD
    promote: bool = True
    parser: str | None = None
    scheduler: str | None = None

    @property
    def warm(self) -> bool:
        """Whether its recipe starts from a model."""
        return self.recipe in WARM

    @property
    def simple(self) -> bool:
        """Whether nothing is in it that could be wrong: all of it was chosen from lists."""
        typed = self.settings or self.split or self.parser or self.scheduler
        return not typed and self.recipe not in NEEDS_SETTINGS

    @property
    def words(self) -> tuple[str, ...]:
        """What stands behind each --set. Raises ValueError for a quote that is not closed."""
        base = (f"{BASE}{self.base}",) if self.base and self.warm else ()
        try:
            return (*base, *shlex.split(self.settings))
        except ValueError as error:
            raise ValueError(UNCLOSED) from error


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen: bases that the recipes of WARM may start from, splits, queries."""

    bases: Sequence[str] = (USUAL,)
    queries: Sequence[str] = (ALL_GOLD,)
    splits: Sequence[str] = (ANY_SPLIT,)


SETTINGS = "settings"
"""The field that is typed."""

FIELDS = ("task", "recipe", "base", SETTINGS, "split", "query", "promote")


def turned(form: TrainingForm, field: str, by: int, choices: Choices) -> TrainingForm:
    """The form with a field's next choice, or the one before; after the last the first.

    What is typed has none.
    """
    if field == "task":
        task = _next(tuple(RECIPES), form.task, by)
        recipes = RECIPES[task]
        recipe = form.recipe if form.recipe in recipes else recipes[0]
        return _settled(replace(form, task=task, recipe=recipe))
    if field == "recipe":
        return _settled(replace(form, recipe=_next(RECIPES[form.task], form.recipe, by)))
    if field == "base":
        return replace(form, base=_next(choices.bases, form.base, by)) if form.warm else form
    if field == SETTINGS:
        return form
    if field == "split":
        return replace(form, split=_next(choices.splits, form.split, by))
    if field == "query":
        return replace(form, query=_next(choices.queries, form.query, by))
    return replace(form, promote=not form.promote)


def _settled(form: TrainingForm) -> TrainingForm:
    return form if form.warm else replace(form, base=USUAL)


def _next(choices: Sequence[str], now: str, by: int) -> str:
    place = choices.index(now) if now in choices else -1
    return choices[(place + by) % len(choices)]


def last_form(jobs: Iterable[Job]) -> TrainingForm | None:
    """The last training as the form has it; None where none was asked for.

    jobs: the newest first.
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
    """The job that the form asks for. Raises ValueError as `words` does."""
    return asked(
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
    """The same as a command's arguments. Raises ValueError as `words` does."""
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
    """The same as a command to type in a shell, to be learnt by the way."""
    try:
        return f"nfh-tui {shlex.join(call_of(form))}"
    except ValueError as error:
        return str(error)
