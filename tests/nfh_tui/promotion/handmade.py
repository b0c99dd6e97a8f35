"""Gold of which one knows who has it right, and models that say how good they are."""

from collections.abc import Sequence
from pathlib import Path

from nfh_db.models import NewModel
from nfh_db.records import Gold, IncomingAnchor, IncomingPassage, Rule
from nfh_db.store import Store
from nfh_models.domain import Answer, Kind, class_answer
from nfh_models.identification.base import Decision, SentenceNumber
from nfh_models.model_files import CARD, SEEN, SeenTexts, digest_of
from nfh_models.parsing.base import ParseLayer
from nfh_models.resolution.base import Choice, Item
from nfh_tui.jobs.snapshot import Snapshot, SnapshotLabel, SnapshotPassage
from nfh_tui.services.models import stored_path
from tests.nfh_models.encoder.handmade import item, reference
from tests.nfh_models.parsing.tiny_small import write_small

NO_NOUN = 3
"""Every third number has its noun, where both tasks are asked for."""


def passage(number: int) -> tuple[Item, Answer]:
    """An item with its gold, none like another; every second one is an age."""
    if number % 2:
        return item(f"A: he is [ six ] , w{number} ."), class_answer(Kind.AGE)
    one = item(f"A: i have dogs w{number} , you want [ two ] .")
    return one, reference(one, "dogs").gold


def incoming(count: int, start: int = 0, split: str | None = None) -> list[IncomingPassage]:
    """The same as a file gives them, with gold."""
    found = []
    for line, number in enumerate(range(start, start + count), 1):
        one, gold = passage(number)
        anchor = IncomingAnchor(line, one.anchor, split=split, gold=Gold(gold, Rule.IMPORTED))
        found.append(IncomingPassage(one.passage, "test", (anchor,)))
    return found


def snapshot(
    dev: int = 60, *, train: int = 20, saw: int = 0, task: str = "resolution"
) -> Snapshot:
    """So many labels kept out, numbers 0 on. saw: so many of them, the first, have gold that
    was given with a model's answer in view; of what is learnt from, half of it."""
    sheets = []
    for number in range(dev + train):
        one, gold = passage(number)
        out = number < dev
        seen = number < saw if out else number % 2 == 0
        nfh = None if task == "resolution" else bool(number % NO_NOUN)
        label = SnapshotLabel(
            one.anchor.start, one.anchor.end, f"anchor {number}", gold, nfh, seen
        )
        if task == "identification":
            label = SnapshotLabel(label.start, label.end, label.where, None, nfh, seen)
        sheets.append(SnapshotPassage(one.passage, (label,), f"unit {number}", out))
    return Snapshot(task, tuple(sheets), {}, "what was kept out")


class Oracle:
    """A model of both tasks that is wrong on numbers it was told.

    Its folder's card says which, as "wrong 0 1 2"; a wrong answer is another class, or that
    a number that is one is none, and the other way round.
    """

    recipe = "encoder"
    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()
    probabilities = False

    def __init__(self, wrong: Sequence[int], unsure: Sequence[int] = ()) -> None:
        self.wrong = frozenset(wrong)
        self.unsure = frozenset(unsure)

    def resolve(self, items: Sequence[Item]) -> list[Choice | None]:
        return [self._choice(one) for one in items]

    def _choice(self, one: Item) -> Choice:
        words = [one.passage.word(place) for place in range(len(one.passage.tokens))]
        if _number(words) in self.wrong:
            said = Kind.YEAR.value
        else:
            said = str(words.index("dogs")) if "dogs" in words else Kind.AGE.value
        return Choice(said, None, None, ())

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        return [self._decision(one) for one in cases]

    def _decision(self, case: SentenceNumber) -> Decision:
        number = _number(case.word_span.words)
        right = bool(number % NO_NOUN)
        return Decision(right is not (number in self.unsure), "encoder")


def _number(words: Sequence[str]) -> int:
    return next(int(word[1:]) for word in words if word[:1] == "w" and word[1:].isdigit())


def load_oracle(recipe: str, folder: Path | None) -> Oracle:
    """What its card says; the built-in ones are wrong throughout."""
    if folder is None:
        return Oracle(range(1_000), range(1_000))
    wrong, unsure = [
        [int(number) for number in line.split()[1:]]
        for line in (folder / CARD).read_text("utf-8").splitlines()
    ]
    return Oracle(wrong, unsure)


def write_oracle(
    folder: Path,
    wrong: Sequence[int],
    unsure: Sequence[int] = (),
    seen: SeenTexts | None = None,
) -> Path:
    """A model's folder whose card says what it is wrong on. unsure: in identification."""
    write_small(folder, recipe="encoder")
    if seen is not None:
        (folder / SEEN).write_bytes(seen.to_bytes())
    lines = [f"{name} {' '.join(map(str, some))}" for name, some in
             (("wrong", wrong), ("unsure", unsure))]  # fmt: skip
    (folder / CARD).write_text("\n".join(lines), "utf-8")
    return folder


def registered(
    store: Store,
    name: str,
    wrong: Sequence[int],
    unsure: Sequence[int] = (),
    *,
    task: str = "both",
    active: bool = True,
    seen: SeenTexts | None = None,
    **more: object,
) -> int:
    """A registered model that is wrong on these; its number."""
    folder = store.path.parent / f"{store.path.stem}-models" / name
    write_oracle(folder, wrong, unsure, seen)
    job = store.jobs.begin(task, {})
    new = NewModel(
        name,
        task,
        "encoder",
        "1",
        stored_path(store.path, folder),
        digest_of(folder),
        **more,  # type: ignore[arg-type]
    )
    made = store.jobs.finish_training(job, new)
    if active:
        store.models.activate(made.id)
    return made.id
