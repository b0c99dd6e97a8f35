"""What each part of the gold is asked: parts, models of all others, and how likely gold is.

A model gives probabilities over all candidates. How likely it takes gold to be is what it
gives to gold's class, or to all words that count as right by the inclusive accuracy (any word
with the form of a gold head's). Northcutt et al. (2021) call this a label's
self-confidence.
"""

import random
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from nfh_models.domain import IMPLICIT_KINDS, Kind
from nfh_models.parsing.parsed import Parser
from nfh_models.resolution.item import Choice, ResolutionExample
from nfh_tui.jobs.check_opinions import LINEAR, Asked, Opinion, TrialError, id_of
from nfh_tui.jobs.enough import check_resolution
from nfh_tui.jobs.snapshot import Snapshot
from nfh_tui.jobs.taking import IDENTIFICATION
from nfh_tui.packaged import is_packaged, packaged_folder, packaged_version
from nfh_tui.training_base import WARM, base_for
from nfh_tui.training_jobs import Phase, Step
from nfh_tui.training_trainers import Base, Lessons, Trained, Trainer, trainer_for

if TYPE_CHECKING:
    from nfh_db.store import Store
    from nfh_tui.training_jobs import JobReporter

PACKAGED = "small"

KEPT_PARSES = 20_000
"""Examples whose parses are kept from part to part; of more, each part parses anew."""

SEED = "parts of the gold"

HAS_LEARNT = (
    "each model starts from {name}: gold that this one has learnt from is doubted too little"
)


class Trial(Protocol):
    """Asks models about parts of the gold."""

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:
        """What a model of all other parts says of this one. work: for checkpoints."""
        ...


def parts_of(units: Sequence[str], folds: int) -> list[int]:
    """The part of each example, from 0 on; those of one unit are in one part.

    units: the unit of each example. The largest units are dealt first, each to the part that
    has least by then. Raises TrialError where there are fewer units than parts.
    """
    sizes = Counter(units)
    if len(sizes) < folds:
        raise TrialError(
            f"{len(units):,} labels are in {len(sizes)} groups of passages that belong "
            f"together, which make no {folds} parts: ask for fewer, or label more passages"
        )
    names = sorted(sizes)
    random.Random(SEED).shuffle(names)  # noqa: S311 - no secret
    filled = [0] * folds
    part: dict[str, int] = {}
    for name in sorted(names, key=lambda name: -sizes[name]):
        part[name] = filled.index(min(filled))
        filled[part[name]] += sizes[name]
    return [part[unit] for unit in units]


def trial_of(store: "Store", given: Asked, snapshot: Snapshot, report: "JobReporter") -> Trial:
    """What asks about these labels. Raises ModelsError where that cannot be."""
    if given.which.task == IDENTIFICATION:
        from nfh_tui.jobs.check_numbers import Numbers

        return Numbers(given, snapshot, report)
    check_resolution(snapshot, kept_out=False)
    trainer = _trainer(store, given)
    if trainer.share and given.folds < 3:
        raise TrialError(
            f"{given.recipe} keeps one part out to judge its training by: wanted 3 parts "
            "or more"
        )
    parser = _parser(given, trainer, report)
    examples = list(snapshot.lessons.train)
    if trainer.needs and len(examples) <= KEPT_PARSES:
        examples = _parsed(examples, trainer, parser, report)
        parser = None
    parts = parts_of([one.group for one in examples], given.folds)
    return Heads(trainer, examples, parts, parser)


def notes_of(store: "Store", given: Asked) -> Iterator[str]:
    """Sentences for a person."""
    base = start_of(store, given)
    if isinstance(base, Base):
        yield HAS_LEARNT.format(name=base.name)


# --- resolution -----------------------------------------------------------------------------


def start_of(store: "Store", given: Asked) -> Base | str | None:
    """What each part's model starts from: nothing that has learnt from gold of this database.

    Raises TrialError for one of its models.
    """
    general = given.general
    if (
        given.which.task == IDENTIFICATION
        or given.recipe not in WARM
        or (general.base is None and any(one.startswith("encoder=") for one in general.words))
    ):
        return general.base
    if general.base in (None, PACKAGED):
        packaged = Base(packaged_folder(), PACKAGED, packaged_version() or "")
        return packaged if is_packaged() else None
    found = base_for(store, given.recipe, general)
    if isinstance(found, Base) and not Path(general.base or "").is_dir():
        raise TrialError(
            f"'base={general.base}': {found.name} may have learnt from this gold, and would "
            f"doubt none of it. Start from {PACKAGED}, or from a pretrained encoder"
        )
    return found


def _trainer(store: "Store", given: Asked) -> Trainer:
    words = given.general.words
    if given.recipe == LINEAR:
        # It need not try itself in folds of its own.
        words = (*(one for one in words if not one.startswith("folds=")), "folds=0")
    base = start_of(store, given)
    return trainer_for(given.which.task, given.recipe, words, base, given.general.device)


def _parser(given: Asked, trainer: Trainer, report: "JobReporter") -> Parser | None:
    if not trainer.needs:
        return None
    from nfh_models.parsing import load_parser

    report.step(Phase("loading the parser"))
    return load_parser(given.parser, trainer.needs)


def _parsed(
    examples: Sequence[ResolutionExample],
    trainer: Trainer,
    parser: Parser | None,
    report: "JobReporter",
) -> list[ResolutionExample]:
    """The same examples with their parses, for all parts."""
    from nfh_models.resolution.parsing_items import parsing_items

    ready = []
    items = parsing_items((one.item for one in examples), trainer.needs, parser)
    for one, item in zip(examples, items, strict=True):
        ready.append(replace(one, item=item))
        report.step(Phase("parsing", len(ready), len(examples)))
    return ready


@dataclass(frozen=True, slots=True)
class Heads:
    """Asks models of resolution. parts: of each example. parser: None where all are parsed."""

    trainer: Trainer
    examples: Sequence[ResolutionExample]
    parts: Sequence[int]
    parser: Parser | None

    def part(self, number: int, work: Path, report: "JobReporter") -> list[Opinion]:
        """What a model of all other parts says of this one."""
        from nfh_models.resolution.parsing_items import resolved

        count = max(self.parts) + 1
        dev = (number + 1) % count if self.trainer.share else None
        sides: dict[str, list[ResolutionExample]] = {"asked": [], "dev": [], "train": []}
        for example, part in zip(self.examples, self.parts, strict=True):
            side = "asked" if part == number else "dev" if part == dev else "train"
            sides[side].append(example)
        name = f"part {number + 1} of {count}"
        lessons = Lessons(sides["train"], sides["dev"])
        trained = driven(self.trainer.train(lessons, work, self.parser), name, report)
        found = []
        items = (one.item for one in sides["asked"])
        choices = resolved(items, trained.resolver, self.parser)
        for example, (_, choice) in zip(sides["asked"], choices, strict=True):
            if choice is not None:
                found.append(opinion(example, choice))
            report.step(Phase(f"{name}: asking", len(found), len(sides["asked"])))
        return found


def driven(steps: Generator[Step, None, Trained], name: str, report: "JobReporter") -> Trained:
    """Go through a training, and report each step; left early, a network saves where it is."""
    try:
        while True:
            try:
                step = next(steps)
            except StopIteration as stop:
                made: Trained = stop.value
                return made
            report.step(Phase(f"{name}: {step.phase}", step.done, step.total))
    finally:
        steps.close()


def opinion(example: ResolutionExample, choice: Choice) -> Opinion:
    """What a choice says of an example's gold."""
    from nfh_models.resolution.scoring import judge_one

    return Opinion(
        id_of(example.where),
        choice.choice,
        likely(example, choice),
        choice.margin or 0.0,
        judge_one(example, choice).inclusive,
    )


def likely(example: ResolutionExample, choice: Choice) -> float | None:
    """The probability that a model gives to gold; None where gold is no candidate of it."""
    gold, classes = example.gold, len(IMPLICIT_KINDS)
    if gold.kind is not Kind.REFERENCE:
        return choice.scores[IMPLICIT_KINDS.index(gold.kind)]
    passage = example.item.passage
    heads = gold.head_tokens()
    forms = {passage.word(head).lower() for head in heads}
    places = [place for place in range(len(passage.tokens)) if _form(example, place) in forms]
    scores = [choice.scores[classes + place] for place in places]
    given = [score for score in scores if score is not None]
    return min(1.0, sum(given)) if given else None


def _form(example: ResolutionExample, place: int) -> str:
    return example.item.passage.word(place).lower()
