"""What stands in a corpus more than once: with other labels, in two splits, in other cases.

`rows` looks at one passage. `Repeats` takes in all passages, one after the other, and keeps
hashes and labels of them, no text.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from nfh_models.domain import Answer, Kind
from nfh_models.trouble.pairs import kind_in_words
from nfh_models.trouble.scene import Case, Check, Finding, Row, Scene, Severity

LONG_TURN = 8
"""Tokens of a turn that is not said twice by chance."""

ALMOST = "in passages that differ only in case, white space or speakers"


@dataclass(frozen=True, slots=True)
class Label:
    """What an answer says, without the passage: its kind and the lemmas of its heads."""

    kind: Kind
    lemmas: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scene: Scene, answer: Answer) -> "Label":
        """The label of an answer."""
        return cls(answer.kind, frozenset(scene.lemma(t) for t in answer.head_tokens()))

    def contradicts(self, other: "Label") -> bool:
        """Whether both cannot be right: other kinds, or no noun in common."""
        kinds = {self.kind, other.kind}
        if Kind.NFH in kinds:
            return bool(kinds & {Kind.NOT_NFH, Kind.BROKEN})
        if len(kinds) > 1:
            return True
        return self.kind is Kind.REFERENCE and not self.lemmas & other.lemmas


# --- rows of one anchor ----------------------------------------------------------------


def two_labels(scene: Scene) -> Iterator[Finding]:
    """Anchors of which two rows of files say what cannot both be right."""
    for case in scene.cases:
        labelled = [(row, row.said) for row in case.rows if row.said is not None]
        for row, said in labelled[1:]:
            first = labelled[0]
            if Label.of(scene, first[1]).contradicts(Label.of(scene, said)):
                note = f"{_says(scene, *first)}; {_says(scene, row, said)}"
                yield Finding("two-golds", (case.key,), note)
                break


def _says(scene: Scene, row: Row, said: Answer) -> str:
    return f"{row.file} line {row.line} says {kind_in_words(scene, said)}"


def repeated_rows(scene: Scene) -> Iterator[Finding]:
    """Anchors that one file gives in two rows, or two files of one split.

    The files of several annotators give each anchor once for each of them, as they should.
    """
    for case in scene.cases:
        alike: dict[tuple[str | None, str | None], list[Row]] = defaultdict(list)
        for row in case.rows:
            if not row.vote:
                alike[row.who, row.split].append(row)
        again = [row for rows in alike.values() if len(rows) > 1 for row in rows]
        if again:
            shown = ", ".join(f"{row.file} line {row.line}" for row in again)
            yield Finding("repeated-row", (case.key,), f"it stands in {shown}")


def two_splits(scene: Scene) -> Iterator[Finding]:
    """Passages with rows in two splits."""
    splits = sorted({row.split for case in scene.cases for row in case.rows if row.split})
    if len(splits) > 1:
        keys = tuple(case.key for case in scene.cases)
        yield Finding("two-splits", keys, f"the passage is in {' and '.join(splits)}")


# --- all passages ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Anchor:
    """An anchor by its place in the text without white space, and its label if it has gold."""

    key: int
    start: int
    end: int
    label: Label | None


@dataclass(slots=True)
class _Met:
    """A text that was met: in which splits, and its anchors, by passage."""

    splits: dict[int, tuple[str, ...]] = field(default_factory=dict)
    anchors: dict[int, tuple[_Anchor, ...]] = field(default_factory=dict)


class Repeats:
    """Takes passages in by `add`; then `findings` tells what several of them share."""

    def __init__(self) -> None:
        self._texts: dict[bytes, _Met] = defaultdict(_Met)
        self._turns: dict[bytes, list[tuple[str, int, bytes]]] = defaultdict(list)

    def add(self, scene: Scene) -> None:
        """Take a passage in."""
        text = _hash("".join(scene.low))
        met = self._texts[text]
        met.splits[scene.key] = tuple(
            sorted({row.split for case in scene.cases for row in case.rows if row.split})
        )
        places = _places(scene)
        met.anchors[scene.key] = tuple(
            _Anchor(case.key, places[case.anchor.start], places[case.anchor.end], label)
            for case, label in _gold(scene)
        )
        self._add_turns(scene, text, met.splits[scene.key])

    def _add_turns(self, scene: Scene, text: bytes, splits: Iterable[str]) -> None:
        if not scene.cases:
            return
        for turn in scene.passage.turns:
            if turn.end - turn.start >= LONG_TURN:
                said = _hash("".join(scene.low[turn.start : turn.end]))
                for split in splits:
                    self._turns[said].append((split, scene.cases[0].key, text))

    def findings(self) -> Iterator[Finding]:
        """What several passages share, check by check."""
        yield from self._equal_texts()
        yield from self._shared_turns()

    def _equal_texts(self) -> Iterator[Finding]:
        for met in self._texts.values():
            if len(met.anchors) < 2:
                continue
            anchors = [anchor for found in met.anchors.values() for anchor in found]
            yield from _met_again(anchors)
            splits = sorted({split for found in met.splits.values() for split in found})
            apart = len(splits) > max(map(len, met.splits.values()))
            if len(splits) > 1 and apart:
                note = f"{ALMOST}, it is in {_and(splits)}"
                yield Finding("two-splits", tuple(one.key for one in anchors), note)

    def _shared_turns(self) -> Iterator[Finding]:
        told: set[tuple[int, ...]] = set()
        for found in self._turns.values():
            splits = sorted({split for split, _, _ in found})
            if len(splits) < 2 or len({text for _, _, text in found}) < 2:
                continue
            keys = tuple(sorted({key for _, key, _ in found}))
            if keys not in told:
                told.add(keys)
                note = f"a turn of {LONG_TURN} tokens or more is in {_and(splits)}"
                yield Finding("shared-turn", keys, note)


def _hash(text: str) -> bytes:
    return blake2b(text.casefold().encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _places(scene: Scene) -> list[int]:
    """Where each token starts in the text without white space, and where the text ends."""
    places, at = [], 0
    for word in scene.low:
        places.append(at)
        at += len(word)
    return [*places, at]


def _gold(scene: Scene) -> Iterator[tuple[Case, Label | None]]:
    for case in scene.cases:
        answers = [said.answer for said in case.said if said.who is None]
        yield case, Label.of(scene, answers[0]) if answers else None


def _met_again(anchors: list[_Anchor]) -> Iterator[Finding]:
    """Anchors at the same place of equal texts: with labels that contradict, or just again."""
    by_place: dict[tuple[int, int], list[_Anchor]] = defaultdict(list)
    for one in anchors:
        by_place[one.start, one.end].append(one)
    for found in by_place.values():
        if len(found) < 2:
            continue
        keys = tuple(one.key for one in found)
        labels = [one.label for one in found if one.label is not None]
        if any(labels[0].contradicts(label) for label in labels[1:]):
            said = " and ".join(dict.fromkeys(_in_words(label) for label in labels))
            yield Finding("two-golds", keys, f"{ALMOST}, gold is {said}")
        else:
            yield Finding("repeated-row", keys, f"{ALMOST}, it stands {len(found)} times")


def _in_words(label: Label) -> str:
    nouns = f" to \u201c{', '.join(sorted(label.lemmas))}\u201d" if label.lemmas else ""
    return f"{label.kind}{nouns}"


def _and(names: Iterable[str]) -> str:
    return " and ".join(names)


CHECKS = (
    Check(
        "two-golds",
        Severity.ERROR,
        "One passage has two golds for the same anchor.",
        two_labels,
    ),
    Check(
        "repeated-row",
        Severity.NOTE,
        "An anchor stands in two rows of one split.",
        repeated_rows,
    ),
    Check(
        "two-splits",
        Severity.ERROR,
        "A passage stands in two splits.",
        two_splits,
    ),
)


def _nothing(scene: Scene) -> Iterator[Finding]:  # noqa: ARG001
    return iter(())


ACROSS = (
    Check(
        "shared-turn",
        Severity.NOTE,
        "Passages in two splits share a long turn.",
        _nothing,
    ),
)
"""Checks whose findings come from `Repeats` alone."""
