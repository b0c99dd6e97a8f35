"""The guidelines: Markdown with numbered rules, their versions and changes, and their editing
in an external editor.

A rule is a heading of level 2 with an id and a title, "## R7 One noun is one head", and all
that follows up to the next heading of level 1 or 2. Every heading of level 2 must be a rule,
for
a mistyped one would be read as a part of the rule before it. Headings inside fenced code do
not count.
"""

import os
import re
import shlex
import shutil
import subprocess
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from nfh_models import ModelsError
from nfh_models.domain import rule_id

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline, TagCount


_LINE_END = re.compile(r"\r\n|\r|\n")
"""Line ends of Markdown; str.splitlines knows more, and line numbers would differ."""

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(?P<level>##?)(?!#)(?P<words>.*)", re.DOTALL)
_RULE = re.compile(r"[ \t]+(?P<id>R[1-9][0-9]{0,2})(?P<title>(?:[ \t].*)?)", re.DOTALL)

_LONGEST_QUOTE = 40

BEGUN = "guidelines begun"
"""Prefix of the setting that keeps an unfinished text; the name of the person follows."""


class GuidelinesError(ModelsError):
    """A text without rules, or with an invalid rule."""


@dataclass(frozen=True, slots=True)
class GuidelineRule:
    """One rule.

    id: "R7"; decisions are tagged with it. body: Markdown, without the heading and without
    empty lines around it. line: of the heading in the text, from 1.
    """

    id: str
    title: str
    body: str
    line: int


def checked(text: str) -> tuple[GuidelineRule, ...]:
    """The rules of a text, checked before it becomes a version.

    Raises GuidelinesError as `rules_of`, and where a character could control a terminal or
    turn the writing direction: others read the text in theirs.
    """
    for number, line in enumerate(lines_of(text), 1):
        for character in line:
            if character != "\t" and unicodedata.category(character) in {"Cc", "Cf", "Cs"}:
                name = unicodedata.name(character, "a control character")
                raise GuidelinesError(
                    f"line {number}: U+{ord(character):04X} ({name.lower()}) is invisible; "
                    "delete it"
                )
    return rules_of(text)


def rules_of(text: str) -> tuple[GuidelineRule, ...]:
    """The rules of the guidelines, in the order of the text.

    Raises GuidelinesError where a heading of level 2 is no rule, where two rules have the
    same id, and where there is no rule at all.
    """
    lines = lines_of(text)
    rules: dict[str, GuidelineRule] = {}
    for (number, words), (after, _) in pairwise([*headings(lines), (len(lines) + 1, None)]):
        if words is None:
            continue
        id_, title = _heading_of(words, number)
        if id_ in rules:
            raise GuidelinesError(
                f"line {number}: {id_} is the id of the rule in line {rules[id_].line} too; "
                "give this rule another id"
            )
        rules[id_] = GuidelineRule(id_, title, _body(lines[number : after - 1]), number)
    if not rules:
        raise GuidelinesError(
            'the guidelines hold no rule: wanted a line such as "## R1 Title" for each'
        )
    return tuple(rules.values())


def first_text() -> str:
    """The first guidelines of a database, a file of the package."""
    # Imported here: most who read rules read those of a database.
    from importlib.resources import files

    return files("nfh_tui").joinpath("guidelines", "first.md").read_text(encoding="utf-8")


def lines_of(text: str) -> list[str]:
    """The lines of a text by the rules of Markdown, without line ends."""
    return _LINE_END.split(text)


def headings(lines: list[str]) -> Iterator[tuple[int, str | None]]:
    """Number and words of the lines that begin or end a rule; words are None for a line that
    only ends one."""
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
                # Without white space after it, a single number sign is a word: "#1".
                yield number, None


def _heading_of(words: str, number: int) -> tuple[str, str]:
    """Id and title of a rule. words: its heading after the number signs."""
    if (found := _RULE.fullmatch(words)) is None:
        shown = f"##{words}"
        if len(shown) > _LONGEST_QUOTE:
            shown = f"{shown[: _LONGEST_QUOTE - 1]}…"
        raise GuidelinesError(
            f"line {number}: {shown!r} is not a heading of a rule; wanted R, a number from 1 "
            'to 999 and a title, such as "## R1 Title"'
        )
    if not (title := _without_closing(found["title"].strip())):
        raise GuidelinesError(
            f"line {number}: {found['id']} has no title; wanted some words after the id"
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


NAME = "guidelines.md"


def editor() -> str | None:
    """The command of $VISUAL or $EDITOR; None if neither is set."""
    for variable in ("VISUAL", "EDITOR"):
        if chosen := os.environ.get(variable, "").strip():
            return chosen
    return None


def edited(text: str, command: str) -> str:
    """Open a text in an editor, wait for its end, and return the changed text.

    Raises GuidelinesError if the editor cannot be started or fails, or leaves a text that is
    no UTF-8; what was typed then stays in a file that is named. Raises OSError.
    """
    path = Path(mkdtemp(prefix="nfh-guidelines-")) / NAME
    path.write_text(text, encoding="utf-8", newline="")
    try:
        # The command of the user, as usual with $EDITOR.
        ended = subprocess.run([*shlex.split(command), str(path)], check=False)
    except (OSError, ValueError) as error:
        shutil.rmtree(path.parent, ignore_errors=True)
        raise GuidelinesError(f"Your editor {command!r} cannot be started: {error}") from error
    if ended.returncode:
        raise GuidelinesError(
            f"Your editor {command!r} ended with status {ended.returncode}, so the guidelines "
            f"are unchanged. The text is in {path}"
        )
    try:
        found = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GuidelinesError(
            f"The text is not UTF-8 at byte {error.start}, so the guidelines are unchanged. "
            f"It is in {path}"
        ) from error
    shutil.rmtree(path.parent, ignore_errors=True)
    return found


OPENING = "The beginning"
"""Title of the text before the first heading."""

CONTEXT = 1
"""Unchanged lines shown around changed ones."""


@dataclass(frozen=True, slots=True)
class GuidelineSection:
    """A section of the text under one heading.

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


def parts_of(text: str) -> tuple[GuidelineSection, ...]:
    """The sections of a text, in order, without empty ones.

    Raises GuidelinesError as `rules_of`.
    """
    rules = {rule.line: rule for rule in rules_of(text)}
    lines = lines_of(text)
    places = [number for number, _ in headings(lines)]
    opening = _whole(lines[: places[0] - 1] if places else lines)
    parts = [GuidelineSection("", OPENING, opening)] if opening else []
    for number, after in pairwise([*places, len(lines) + 1]):
        body = _whole(lines[number : after - 1])
        if number in rules:
            parts.append(GuidelineSection(rules[number].id, rules[number].title, body))
        elif body:
            parts.append(
                GuidelineSection("", lines[number - 1].strip().strip("#").strip(), body)
            )
    return tuple(parts)


def _whole(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n")


# --- between versions -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GuidelineChange:
    """A section that differs between two texts.

    id and title: of the later text, of the earlier where it is gone. how: new, gone or
    changed. lines: begun with "+", "-" or a space, as differences are written.
    """

    id: str
    title: str
    how: str
    lines: tuple[str, ...]


def changes_of(earlier: str, later: str) -> tuple[GuidelineChange, ...]:
    """The changed sections between two texts, in the order of the later one.

    A text without rules is one part. Nothing raises.
    """
    old, new = _by_key(earlier), _by_key(later)
    found = [_change(old.get(key), part) for key, part in new.items()]
    found += [_change(part, None) for key, part in old.items() if key not in new]
    return tuple(change for change in found if change is not None)


def _by_key(text: str) -> Mapping[str, GuidelineSection]:
    """The sections by id; those that are no rule by title."""
    try:
        parts = parts_of(text)
    except GuidelinesError:
        parts = (GuidelineSection("", "The text", text),)
    return {part.id or part.title: part for part in parts}


def _change(
    old: GuidelineSection | None, new: GuidelineSection | None
) -> GuidelineChange | None:
    one = old or new
    if one is None or (old is not None and new is not None and old == new):
        return None
    how = "changed" if old and new else "gone" if old else "new"
    shown = new or one
    return GuidelineChange(shown.id, shown.title, how, tuple(_difference(old, new)))


def _difference(old: GuidelineSection | None, new: GuidelineSection | None) -> Iterator[str]:
    # Imported here: the workbench starts without it.
    from difflib import unified_diff

    before = [] if old is None else [old.name, *lines_of(old.body)]
    after = [] if new is None else [new.name, *lines_of(new.body)]
    for line in unified_diff(before, after, n=CONTEXT, lineterm=""):
        if line.startswith(("---", "+++")) and line[3:].strip() == "":
            continue
        yield "…" if line.startswith("@@") else line


def same_words(one: str, other: str) -> bool:
    """True for texts that differ at most in white space."""
    return one.split() == other.split()


UNKNOWN = "no such rule now"
"""Words for a tag without a rule in the current version."""


@dataclass(frozen=True)
class Guide:
    """The current rules, and the earlier versions in which each had another text.

    version: None where there are no guidelines. outdated: rules by id, each with the numbers
    of the versions in which its text was another one, or in which it was not yet there.
    trouble: why the text has no rules to show, as a sentence.
    """

    version: int | None = None
    body: str = ""
    rules: tuple[GuidelineRule, ...] = ()
    outdated: frozenset[tuple[str, int]] = frozenset()
    trouble: str = ""

    @cached_property
    def titles(self) -> Mapping[str, str]:
        """The title of each rule, by its id."""
        return {rule.id: rule.title for rule in self.rules}

    def rule(self, tag: str) -> GuidelineRule | None:
        """The current rule of a tag, if any."""
        wanted = rule_id(tag)
        return next((rule for rule in self.rules if rule.id == wanted), None)

    def words(self, tag: str) -> str:
        """A tag with the title of its rule: "R7 One noun is one head"."""
        return titled(tag, self.titles)

    def is_outdated(self, tag: str | None, version: int | None) -> bool:
        """True if the rule of a decision has changed since."""
        return tag is not None and (rule_id(tag), version) in self.outdated

    def old_versions(self, rule: str) -> tuple[int, ...]:
        """The versions in which a rule had another text."""
        return tuple(sorted(version for id_, version in self.outdated if id_ == rule))


def titled(tag: str, titles: Mapping[str, str]) -> str:
    """A tag with the title of its rule, or with a remark for an unknown rule."""
    id_ = rule_id(tag)
    if not titles:
        return id_
    return f"{id_} {titles[id_]}" if id_ in titles else f"{id_} ({UNKNOWN})"


def guide_of(versions: "Sequence[Guideline]") -> Guide:
    """The guide of all versions, of which the last is the current one. Never raises."""
    if not versions:
        return Guide()
    last = versions[-1]
    try:
        rules = rules_of(last.body)
    except GuidelinesError as error:
        return Guide(last.version, last.body, trouble=f"The guidelines cannot be read: {error}")
    return Guide(last.version, last.body, rules, frozenset(_outdated(versions[:-1], rules)))


def _outdated(
    earlier: "Sequence[Guideline]", rules: Sequence[GuidelineRule]
) -> Iterable[tuple[str, int]]:
    now = {rule.id: rule for rule in rules}
    for version in earlier:
        try:
            then = {rule.id: rule for rule in rules_of(version.body)}
        except GuidelinesError:
            # Nobody can say what that text's rules were, so none is said to have changed.
            continue
        for id_ in now.keys() | then.keys():
            if not _same(then.get(id_), now.get(id_)):
                yield id_, version.version


def _same(one: GuidelineRule | None, other: GuidelineRule | None) -> bool:
    if one is None or other is None:
        return one is other
    return same_words(one.title, other.title) and same_words(one.body, other.body)


# --- decisions --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How often a rule was used.

    items: in which anybody tagged an answer with it. decisions: gold that an expert decided
    by it. older: those of them that were decided while the rule read otherwise.
    """

    items: int = 0
    decisions: int = 0
    older: int = 0


def counts_of(
    guide: Guide, items: Mapping[str, int], tagged: "Iterable[TagCount]"
) -> Mapping[str, RuleCount]:
    """How often each rule was used, by its id. items: with each tag, by the rule's id."""
    found = {rule: RuleCount(number) for rule, number in items.items()}
    for row in tagged:
        if row.rule is None:
            continue
        before = found.get(row.rule, RuleCount())
        older = row.decisions if guide.is_outdated(row.rule, row.version) else 0
        found[row.rule] = RuleCount(
            before.items, before.decisions + row.decisions, before.older + older
        )
    return found


def query_of(rule: str) -> str:
    """The query for the decisions with a rule's tag."""
    from nfh_db.query import quote

    return f"tagged:{quote(rule)}"


def outdated_query(guide: Guide, rule: str) -> str | None:
    """The query for decisions under another text of a rule; None if it never changed."""
    if not (versions := guide.old_versions(rule)):
        return None
    return f"{query_of(rule)} guideline:{','.join(map(str, versions))}"


WITH_THE_PROGRAM = "came with the program"
MOST_NAMED = 6
"""Most rules that a sentence names."""


def by_words(one: "Guideline") -> str:
    """The author and the day of a version (UTC)."""
    return f"{one.by or WITH_THE_PROGRAM} · {one.at[:10]}"


def version_words(one: "Guideline", versions: Sequence["Guideline"]) -> str:
    """Number, total, author and state of a version."""
    last = versions[-1].version
    holds = "is in force" if one.version == last else f"{last} is in force"
    return f"version {one.version} · {by_words(one)} · {holds}"


def change_lines(changes: Sequence[GuidelineChange]) -> Iterator[str]:
    """The changes as lines: "-" before old ones, "+" before new ones."""
    for number, change in enumerate(changes):
        if number:
            yield ""
        yield f"{change.id} {change.title}".strip() + f": {change.how}"
        yield from (f"  {line}" for line in change.lines)


def changed_words(changes: Sequence[GuidelineChange]) -> str:
    """The changed rules in one line: "R5, R7 changed; R22 new"."""
    said = []
    for how in ("changed", "new", "gone"):
        names = [change.id or f"“{change.title}”" for change in changes if change.how == how]
        if len(names) > MOST_NAMED:
            said.append(f"{len(names)} {how}")
        elif names:
            said.append(f"{', '.join(names)} {how}")
    return "; ".join(said) or "only white space changed"
