"""What `nfh-tui guidelines` prints, as text and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING

from nfh_db.formats.wording import visible
from nfh_tui.guidelines import GuidelinesError, Rule, rules_of
from nfh_tui.guidelines.guide import Guide, RuleCount
from nfh_tui.guidelines.parts import changes_of
from nfh_tui.guidelines.words import by_words, changed_words

if TYPE_CHECKING:
    from nfh_db.guidelines import Guideline
    from nfh_tui.guidelines.sheet import Topic

Json = dict[str, object]

LINE = 10_000
"""Code points of a line that are printed."""


def as_text(shown: "Guideline") -> str:
    """The text itself, safe to print, so that it can go to a file and come back."""
    lines = shown.body.split("\n")
    return "\n".join("\t".join(visible(part, LINE) for part in _parts(line)) for line in lines)


def _parts(line: str) -> list[str]:
    return line.removesuffix("\r").split("\t")


def as_object(shown: "Guideline", guide: Guide, counts: Mapping[str, RuleCount]) -> Json:
    """The text with its rules and how often each was used."""
    return {
        "version": shown.version,
        "holds": shown.version == guide.version,
        "by": shown.by,
        "at": shown.at,
        "rules": [
            {"id": rule.id, "title": rule.title, "line": rule.line}
            | asdict(counts.get(rule.id, RuleCount()))
            for rule in _rules(shown)
        ],
        "other_tags": sorted(counts.keys() - {rule.id for rule in _rules(shown)}),
        "text": shown.body,
    }


def _rules(shown: "Guideline") -> tuple[Rule, ...]:
    try:
        return rules_of(shown.body)
    except GuidelinesError:
        return ()


def rule_rows(
    shown: "Guideline", guide: Guide, counts: Mapping[str, RuleCount]
) -> Iterator[str]:
    """A line for each rule: items tagged with it, decisions under an older text, title."""
    yield f"{'rule':<6}{'items':>7}{'decided':>9}{'old text':>10}  title"
    rules = _rules(shown)
    for rule in rules:
        yield _row(rule.id, counts.get(rule.id, RuleCount()), visible(rule.title, LINE))
    for tag in sorted(counts.keys() - {rule.id for rule in rules}):
        yield _row(visible(tag), counts[tag], "(no such rule in this version)")
    if shown.version != guide.version:
        yield f"Version {shown.version}; version {guide.version} holds now."


def _row(name: str, count: RuleCount, title: str) -> str:
    return f"{name:<6}{count.items:>7,}{count.decisions:>9,}{count.older:>10,}  {title}"


def version_rows(found: "Sequence[Guideline]") -> Iterator[str]:
    """A line for each version, the newest first."""
    for one in reversed(version_objects(found)):
        yield f"{one['version']:>4}  {visible(str(one['words']), LINE)}"


def version_objects(found: "Sequence[Guideline]") -> list[Json]:
    """Each version, without its text, with what it changed."""
    changed: list[str] = ["the first one"]
    changed += [changed_words(changes_of(old.body, new.body)) for old, new in pairwise(found)]
    last = found[-1].version if found else None
    return [
        {
            "version": one.version,
            "by": one.by,
            "at": one.at,
            "holds": one.version == last,
            "characters": len(one.body),
            "words": f"{by_words(one)} · {words}",
        }
        for one, words in zip(found, changed, strict=True)
    ]


def topic_object(one: "Topic") -> Json:
    """An item of the sheet."""
    return {
        "id": one.public_id,
        "anchor": one.anchor_id,
        "document": one.document,
        "word": one.word,
        "turns": [
            {"speaker": speaker or None, "before": before, "word": word, "after": behind}
            for speaker, before, word, behind in one.turns
        ],
        "answers": [asdict(said) for said in one.said],
        "gold": one.gold or None,
        "flags": [{"name": name, "by": list(people)} for name, people in one.flags],
    }
