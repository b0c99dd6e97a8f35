"""What a person asks of a training on the screen, as a plain value; no screen, no store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from nfh_db.jobs import NewJob
from nfh_tui.jobs.train import asked

RECIPES: Mapping[str, tuple[str, ...]] = {
    "resolution": ("linear", "bilstm", "encoder"),
    "both": ("small", "encoder"),
    "identification": ("svm",),
}
"""Tasks that can be trained, each with its recipes."""

WARM = ("encoder", "small")
"""Recipes that start from a model."""

TASKS = {
    "resolution": "which noun, or which class",
    "both": "that, and whether a number is one at all",
    "identification": "whether a number is one at all",
}

RECIPE_WORDS = {
    "linear": "features and a linear model",
    "bilstm": "the paper's network",
    "encoder": "a pretrained encoder, fine-tuned",
    "small": "the model in the package, fine-tuned",
    "svm": "the paper's support vector machine",
}

USUAL = ""
"""In place of a base: what the recipe starts from where nobody says otherwise."""

ALL_GOLD = ""


@dataclass(frozen=True, slots=True)
class Form:
    """A training as asked for.

    base: what it starts from. query: of the gold that it learns from. promote: whether it
    takes over where it is better.
    """

    task: str = "resolution"
    recipe: str = "linear"
    base: str = USUAL
    query: str = ALL_GOLD
    promote: bool = True

    @property
    def warm(self) -> bool:
        """Whether its recipe starts from a model."""
        return self.recipe in WARM


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be chosen: bases that the recipes of WARM may start from, and queries."""

    bases: Sequence[str] = (USUAL,)
    queries: Sequence[str] = (ALL_GOLD,)


FIELDS = ("task", "recipe", "base", "query", "promote")


def turned(form: Form, field: str, by: int, choices: Choices) -> Form:
    """The form with a field's next choice, or the one before; after the last the first."""
    if field == "task":
        task = _next(tuple(RECIPES), form.task, by)
        recipes = RECIPES[task]
        recipe = form.recipe if form.recipe in recipes else recipes[0]
        return _settled(replace(form, task=task, recipe=recipe))
    if field == "recipe":
        return _settled(replace(form, recipe=_next(RECIPES[form.task], form.recipe, by)))
    if field == "base":
        return replace(form, base=_next(choices.bases, form.base, by)) if form.warm else form
    if field == "query":
        return replace(form, query=_next(choices.queries, form.query, by))
    return replace(form, promote=not form.promote)


def _settled(form: Form) -> Form:
    return form if form.warm else replace(form, base=USUAL)


def _next(choices: Sequence[str], now: str, by: int) -> str:
    place = choices.index(now) if now in choices else -1
    return choices[(place + by) % len(choices)]


def job_of(form: Form, who: str) -> NewJob:
    """The job that the form asks for."""
    words = (f"base={form.base}",) if form.base and form.warm else ()
    new = asked(form.task, form.recipe, words=words, query=form.query, asked_by=who)
    return replace(new, arguments={**new.arguments, "promote": form.promote})


def command_of(form: Form) -> str:
    """The same as a command, to be learnt by the way."""
    parts = ["nfh-tui retrain", form.task]
    if form.query:
        parts.append(form.query)
    parts.append(f"--recipe {form.recipe}")
    if form.base and form.warm:
        parts.append(f"--set base={form.base}")
    return " ".join(parts)
