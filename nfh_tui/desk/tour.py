"""The tour for who is new: what each step points at, and what it says."""

from collections.abc import Callable
from dataclasses import dataclass

from nfh_tui.actions import Mode

SETTING = "tour"
"""Name of the setting that says that a person was shown round; their name follows it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One stop. target: the id of the widget that it points at, with "#". title and words."""

    target: str
    title: str
    words: str


def steps(mode: Mode, keys: Callable[[str], str]) -> tuple[Step, ...]:
    """The stops in their order. keys: how the keys of an act are printed, by its id."""
    made = [
        Step(
            "#passage",
            "The question",
            "Between ▸ and ◂ stands a number without its noun. Which noun is missing? "
            "It may stand in the text, or nowhere.",
        ),
        Step(
            "#queue",
            "The queue",
            f"{keys('queue.next')} and {keys('queue.previous')} go on and back, "
            f"{keys('queue.next_undecided')} to the next one that is open. "
            f"{keys('query')} asks for others. {keys('pane.next')} changes the pane.",
        ),
    ]
    if mode is Mode.ANNOTATE:
        made.append(
            Step(
                "#guide",
                "The guidelines",
                "The rules to decide by. Others' answers stay hidden, and the model's until "
                f"you have answered. {keys('guide')} shows the evidence here instead.",
            )
        )
    else:
        made.append(
            Step(
                "#evidence",
                "The evidence",
                "What annotators and the model say. Most answers come preselected with the "
                f"reason. 1–9 take over an annotator's answer, {keys('adopt.model')} the "
                "model's.",
            )
        )
    return (
        *made,
        Step(
            "#passage",
            "Your answer",
            f"{keys('hint.start')} puts letters on the nouns: type one to mark the head. "
            f"Or a class: {keys('kind.age')} age, {keys('kind.year')} year, "
            f"{keys('kind.people')} people; {keys('kind.not_nfh')} where no noun is missing.",
        ),
        Step(
            "StatusLine",
            "Saved",
            f"{keys('accept')} saves and goes on; this line says “saved” once it is on disk. "
            f"{keys('undo')} takes it back, also tomorrow.",
        ),
        Step(
            "KeyLine",
            "The keys",
            f"{keys('help')} lists them all, {keys('palette')} has every act by name, and "
            f"says why one cannot be done now. {keys('out')} goes one step out, "
            f"{keys('quit')} quits: nothing is lost.",
        ),
    )


READING = " (Here you only read: {mode} changes to annotating, then to adjudicating.)"


def words_of(step: Step, mode: Mode, keys: Callable[[str], str]) -> str:
    """What a step says in this mode."""
    added = step.title == "Your answer" and mode is Mode.BROWSE
    return step.words + (READING.format(mode=keys("mode.next")) if added else "")
