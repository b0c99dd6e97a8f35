"""Reader of the training passages about several heads, in the package folder
training_data/several.

    = AND held                    what the number is; "held": kept out of training
    Ada: I have a {dog}.          {noun}: a head; the last word is its head token
    Ben: And I a {cat}, a {c:tom}. {label:noun}: two words for one thing have one label
    Ada: Do the [two] get along?  [number]: the anchor, one a passage
    Ben: They ~dog each other.    ~word: a word like a head's that is none

The first line has AND or OR for several heads, ONE for one head, else one of the six implicit
classes. As in all gold, tokens with the lemma of a marked word are mentions of the same head.
Empty lines and lines that begin with # are skipped.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from nfh_models import ModelsError
from nfh_models.domain import (
    RELEASE_CLASSES,
    Anchor,
    Answer,
    Kind,
    Mention,
    Origin,
    Passage,
    Relation,
    Token,
    Turn,
    class_answer,
    reference_answer,
)
from nfh_models.resolution.base import Item, ResolutionExample
from nfh_models.text.tokens import lemmas, spans

FOLDER = "several"
HELD = "held"
ONE = "ONE"

_RELATIONS = {relation.value: relation for relation in (Relation.AND, Relation.OR)}
_KINDS = frozenset({*_RELATIONS, ONE, *RELEASE_CLASSES})
_SPEAKER = re.compile(r"([^:\[\]{}]{1,40}): +")
_MARK = re.compile(
    r"\[(?P<anchor>[^][{}]+)\]|\{(?:(?P<label>[a-z]+):)?(?P<noun>[^][{}]+)\}|~(?P<none>\w+)"
)


class PassageFileError(ModelsError):
    """A malformed passage; the message has its file and line."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A marked span: code points [start, end) of the text. label: "" without one."""

    sort: str
    label: str
    start: int
    end: int


@dataclass(slots=True)
class _Source:
    """A passage while it is read. said: speaker and code points of each turn's words."""

    where: str
    kind: str
    held: bool
    text: str = ""
    said: list[tuple[str, int, int]] = field(default_factory=list)
    marks: list[_Mark] = field(default_factory=list)


def several_heads_examples(*, held_out: bool = False) -> list[ResolutionExample]:
    """The examples for training, or those held out for reporting.

    Their order is fixed. About three quarters are for training, and about two thirds of each
    part have several heads. `group` is the passage.
    """
    return list(_packaged(held_out))


@lru_cache(maxsize=2)
def _packaged(held_out: bool) -> tuple[ResolutionExample, ...]:
    folder = files("nfh_models").joinpath("training_data", FOLDER)
    found: list[ResolutionExample] = []
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".txt"):
            found += read(file.name, file.read_text("utf-8").splitlines(), held_out=held_out)
    return tuple(found)


def read(name: str, lines: Iterable[str], *, held_out: bool) -> Iterator[ResolutionExample]:
    """The examples of one file that are held out, or those that are not.

    Raises PassageFileError for the first malformed line.
    """
    for source in _sources(name, lines):
        if source.held is held_out:
            yield _example(source)


def _sources(name: str, lines: Iterable[str]) -> Iterator[_Source]:
    source: _Source | None = None
    for number, raw in enumerate(lines, start=1):
        line, where = raw.strip(), f"{name}, line {number}"
        if not line or line.startswith("#"):
            continue
        if line.startswith("= "):
            if source is not None:
                yield source
            source = _opened(where, line.split()[1:])
        elif source is None:
            raise PassageFileError(f'{where}: wanted "= AND" or the like before a turn')
        else:
            _add_turn(source, where, line)
    if source is not None:
        yield source


def _opened(where: str, words: list[str]) -> _Source:
    if not words or words[0] not in _KINDS or words[1:] not in ([], [HELD]):
        known = ", ".join(sorted(_KINDS))
        raise PassageFileError(
            f'{where}: wanted "= " and one of {known}, then "held" or nothing'
        )
    return _Source(where, words[0], held=len(words) > 1)


def _add_turn(source: _Source, where: str, line: str) -> None:
    speaker = _SPEAKER.match(line)
    if speaker is None:
        raise PassageFileError(f'{where}: wanted "Speaker: words"')
    text = f"{source.text}\n" if source.text else ""
    text += speaker.group()
    start, place = len(text), speaker.end()
    for mark in _MARK.finditer(line, place):
        text += line[place : mark.start()]
        sort = mark.lastgroup or ""
        words = mark[sort]
        source.marks.append(_Mark(sort, mark["label"] or "", len(text), len(text) + len(words)))
        text += words
        place = mark.end()
    text += line[place:]
    if set(text[start:]) & set("[]{}~"):
        raise PassageFileError(f"{where}: a bracket, a brace or a ~ that marks nothing")
    source.text = text
    source.said.append((speaker[1], start, len(text)))


def _example(source: _Source) -> ResolutionExample:
    passage = _passage(source)
    anchors = [_tokens(source, passage, mark) for mark in source.marks if mark.sort == "anchor"]
    if len(anchors) != 1:
        raise PassageFileError(f"{source.where}: wanted one [number], found {len(anchors)}")
    anchor = Anchor(*anchors[0])
    gold = _gold(source, passage, anchor)
    gold.check(len(passage.tokens), anchor.start, anchor.end)
    return ResolutionExample(Item(passage, anchor), gold, source.where, source.where)


def _passage(source: _Source) -> Passage:
    places: list[tuple[int, int]] = []
    turns: list[Turn] = []
    for number, (speaker, start, end) in enumerate(source.said):
        first = len(places)
        places += [(start + a, start + b) for a, b in spans(source.text[start:end])]
        turns.append(Turn(number, speaker, first, len(places)))
    words = [source.text[start:end] for start, end in places]
    tokens = tuple(
        Token(start, end, lemma)
        for (start, end), lemma in zip(places, lemmas(words), strict=True)
    )
    return Passage(source.text, tokens, tuple(turns))


def _tokens(source: _Source, passage: Passage, mark: _Mark) -> tuple[int, int]:
    inside = [
        index
        for index, token in enumerate(passage.tokens)
        if token.start >= mark.start and token.end <= mark.end
    ]
    whole = inside and (passage.tokens[inside[0]].start, passage.tokens[inside[-1]].end)
    if whole != (mark.start, mark.end):
        words = source.text[mark.start : mark.end]
        raise PassageFileError(f'{source.where}: "{words}" is not made of whole tokens')
    return inside[0], inside[-1] + 1


def _gold(source: _Source, passage: Passage, anchor: Anchor) -> Answer:
    heads = _marked_heads(source, passage)
    least = 2 if source.kind in _RELATIONS else int(source.kind == ONE)
    if len(heads) < least or (least < 2 and len(heads) > least):
        raise PassageFileError(f"{source.where}: {source.kind} with {len(heads)} heads")
    if not heads:
        return class_answer(Kind(source.kind))
    none = {_tokens(source, passage, m)[0] for m in source.marks if m.sort == "none"}
    barred = none | set(range(anchor.start, anchor.end))
    built = [_with_likes(passage, head, barred) for head in heads.values()]
    return reference_answer(built, _RELATIONS.get(source.kind))


def _marked_heads(source: _Source, passage: Passage) -> dict[str, list[Mention]]:
    heads: dict[str, list[Mention]] = {}
    for mark in source.marks:
        if mark.sort == "noun":
            start, end = _tokens(source, passage, mark)
            key = f"{mark.label}:" if mark.label else passage.tokens[end - 1].lemma
            heads.setdefault(key, []).append(Mention(start, end, end - 1))
    return heads


def _with_likes(passage: Passage, marked: list[Mention], barred: set[int]) -> list[Mention]:
    """The marked mentions, then all other tokens with one of their lemmas."""
    known = {passage.tokens[mention.head].lemma for mention in marked}
    places = {mention.head for mention in marked} | barred
    added = [
        Mention(index, index + 1, index, Origin.ADDED)
        for index, token in enumerate(passage.tokens)
        if token.lemma in known and index not in places
    ]
    return [*marked, *added]
