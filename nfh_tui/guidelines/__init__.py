"""The guidelines: Markdown with numbered rules, and the text that a database begins with.

A rule is a heading of level 2 with an id and a title, "## R7 One noun is one head", and all
that follows up to the next heading of level 1 or 2. Every heading of level 2 must be a rule:
one that is mistyped would else be read as a part of the rule before it. Headings inside
fenced code are none.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from nfh_models.errors import ModelsError

_LINE_END = re.compile(r"\r\n|\r|\n")
"""Where Markdown ends a line; str.splitlines knows more ends, and numbers would differ."""

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(?P<level>##?)(?!#)(?P<words>.*)", re.DOTALL)
_RULE = re.compile(r"[ \t]+(?P<id>R[1-9][0-9]{0,2})(?P<title>(?:[ \t].*)?)", re.DOTALL)

_LONGEST_QUOTE = 40

BEGUN = "guidelines begun"
"""Name of the setting that keeps a text begun; the person's name follows it."""


class GuidelinesError(ModelsError):
    """A text that has no rules, or a rule that cannot be told from another one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    id: "R7"; decisions are tagged with it. body: Markdown, without the heading and without
    empty lines around it. line: of the heading in the text, from 1.
    """

    id: str
    title: str
    body: str
    line: int


def checked(text: str) -> tuple[Rule, ...]:
    """The rules of a text that is to become a version.

    Raises GuidelinesError as `rules_of`, and where a character could control a terminal or
    turn the writing direction: others read the text in theirs.
    """
    for number, line in enumerate(lines_of(text), 1):
        for character in line:
            if character != "\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
                name = unicodedata.name(character, "a control character")
                raise GuidelinesError(
                    f"line {number}: U+{ord(character):04X} ({name.lower()}) cannot be seen; "
                    "take it out"
                )
    return rules_of(text)


def rules_of(text: str) -> tuple[Rule, ...]:
    """The rules of the guidelines, in the order of the text.

    Raises GuidelinesError where a heading of level 2 is no rule, where two rules have the
    same id, and where there is no rule at all.
    """
    lines = lines_of(text)
    rules: dict[str, Rule] = {}
    for (number, words), (after, _) in pairwise([*headings(lines), (len(lines) + 1, None)]):
        if words is None:
            continue
        id_, title = _heading_of(words, number)
        if id_ in rules:
            raise GuidelinesError(
                f"line {number}: {id_} is the id of the rule in line {rules[id_].line} too; "
                "give this one another id"
            )
        rules[id_] = Rule(id_, title, _body(lines[number : after - 1]), number)
    if not rules:
        raise GuidelinesError(
            'the guidelines hold no rule: wanted a line such as "## R1 Title" for each'
        )
    return tuple(rules.values())


def first_text() -> str:
    """The guidelines that a database begins with, as they lie in the installed package."""
    # Imported here: most who read rules read those of a database.
    from importlib.resources import files

    return files(__name__).joinpath("first.md").read_text(encoding="utf-8")


def lines_of(text: str) -> list[str]:
    """The lines of the text as Markdown ends them, without their ends."""
    return _LINE_END.split(text)


def headings(lines: list[str]) -> Iterator[tuple[int, str | None]]:
    """Number and words of the lines that begin or end a rule; None as words if they only end
    one."""
    fence = ""
    for number, line in enumerate(lines, 1):
        found = _FENCE.fullmatch(line)
        if fence:
            if found and found["fence"].startswith(fence) and not found["info"].strip(" \t"):
                fence = ""
        elif found:
            fence = found["fence"]
        elif heading := _HEADING.fullmatch(line):
            if heading["level"] == "##":
                yield number, heading["words"]
            elif not heading["words"].strip(" \t") or heading["words"][0] in " \t":
                # Without white space behind it, a single number sign is a word: "#1".
                yield number, None


def _heading_of(words: str, number: int) -> tuple[str, str]:
    """Id and title of the rule whose heading, behind its number signs, has these words."""
    found = _RULE.fullmatch(words)
    if found is None:
        shown = f"##{words}"
        if len(shown) > _LONGEST_QUOTE:
            shown = f"{shown[: _LONGEST_QUOTE - 1]}…"
        raise GuidelinesError(
            f"line {number}: {shown!r} is no heading of a rule; wanted an R, a number from 1 "
            'to 999 and a title, such as "## R1 Title"'
        )
    title = _without_closing(found["title"].strip())
    if not title:
        raise GuidelinesError(
            f"line {number}: {found['id']} has no title; wanted some words behind the id"
        )
    return found["id"], title


def _without_closing(title: str) -> str:
    """The title without the number signs that may close a heading: "Title ##"."""
    left = title.rstrip("#")
    return left.rstrip() if not left or left[-1].isspace() else title


def _body(lines: list[str]) -> str:
    """The lines without the empty ones at the start and at the end."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    if not filled:
        return ""
    return "\n".join(lines[filled[0] : filled[-1] + 1])
