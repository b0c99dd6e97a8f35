"""The guidelines cut into what is read at one time, and what changed between two versions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nfh_tui.guidelines import GuidelinesError, headings, lines_of, rules_of

OPENING = "What comes first"
"""The title of what stands before the first heading, where anything does."""

CONTEXT = 1
"""Lines that stay, shown around those that changed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the text under one heading.

    id: of a rule, "" for other text. body: Markdown, without the heading.
    """

    id: str
    title: str
    body: str

    @property
    def name(self) -> str:
        """The part in one line: "R7 One noun is one head"."""
        return f"{self.id} {self.title}".strip()

    @property
    def markdown(self) -> str:
        """The part with its heading."""
        return f"{'##' if self.id else '#'} {self.name}\n\n{self.body}\n"


def parts_of(text: str) -> tuple[Part, ...]:
    """All that the text says, in its order; headings under which nothing stands are left out.

    Raises GuidelinesError as `rules_of`.
    """
    rules = {rule.line: rule for rule in rules_of(text)}
    lines = lines_of(text)
    places = [number for number, _ in headings(lines)]
    opening = _whole(lines[: places[0] - 1] if places else lines)
    parts = [Part("", OPENING, opening)] if opening else []
    for number, after in pairwise([*places, len(lines) + 1]):
        body = _whole(lines[number : after - 1])
        if number in rules:
            parts.append(Part(rules[number].id, rules[number].title, body))
        elif body:
            parts.append(Part("", lines[number - 1].strip().strip("#").strip(), body))
    return tuple(parts)


def _whole(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n")


# --- between versions -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A part that differs between two texts.

    id and title: of the later text, of the earlier where it is gone. how: new, gone or
    changed. lines: begun with "+", "-" or a space, as differences are written.
    """

    id: str
    title: str
    how: str
    lines: tuple[str, ...]


def changes_of(earlier: str, later: str) -> tuple[Change, ...]:
    """What changed from one text to another, part by part, in the order of the later one.

    A text without rules is one part. Nothing raises.
    """
    old, new = _by_key(earlier), _by_key(later)
    found = [_change(old.get(key), part) for key, part in new.items()]
    found += [_change(part, None) for key, part in old.items() if key not in new]
    return tuple(change for change in found if change is not None)


def _by_key(text: str) -> Mapping[str, Part]:
    """The parts by their ids, those that are no rule by their titles."""
    try:
        parts = parts_of(text)
    except GuidelinesError:
        parts = (Part("", "The text", text),)
    return {part.id or part.title: part for part in parts}


def _change(old: Part | None, new: Part | None) -> Change | None:
    one = old or new
    if one is None or (old is not None and new is not None and old == new):
        return None
    how = "changed" if old and new else "gone" if old else "new"
    shown = new or one
    return Change(shown.id, shown.title, how, tuple(_difference(old, new)))


def _difference(old: Part | None, new: Part | None) -> Iterator[str]:
    # Imported here: the workbench starts without it.
    from difflib import unified_diff

    before = [] if old is None else [old.name, *lines_of(old.body)]
    after = [] if new is None else [new.name, *lines_of(new.body)]
    for line in unified_diff(before, after, n=CONTEXT, lineterm=""):
        if line.startswith(("---", "+++")) and line[3:].strip() == "":
            continue
        yield "…" if line.startswith("@@") else line


def same_words(one: str, other: str) -> bool:
    """True for texts that differ in white space at most: lines may break elsewhere."""
    return one.split() == other.split()
