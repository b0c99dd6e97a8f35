"""The documents of a CoNLL-U file as rows: passages with the numbers in them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import msgspec

from nfh_db.formats.grid import MarkError
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import LINE_LIMIT, NO_LINE_YET, Source
from nfh_db.formats.rows import GoldRow, RawPassage
from nfh_db.formats.soundness import sound_digest
from nfh_db.formats.splits import split_of_name
from nfh_db.formats.stored import Restored, item_of, restored
from nfh_db.formats.wording import counted, shown
from nfh_db.records import Gold, Rule
from nfh_db.values import TurnRow
from nfh_models.domain import Anchor, AnswerError, PassageError, Turn
from nfh_tui.formats.conllu_carried import carried_of
from nfh_tui.formats.conllu_lines import (
    ITEM,
    PASSAGE,
    VERSION,
    Said,
    form_of,
    is_form_of,
    on_one_line,
    rebuilt,
)
from nfh_tui.formats.conllu_marks import (
    Keys,
    Place,
    answer_of,
    misc_of,
    numbers_of,
    span_of,
)
from nfh_tui.formats.conllu_read import Sentence, offsets_in, sentences

Span = tuple[int, int]


class Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The comment on a passage of our making."""

    format: str
    turns: tuple[TurnRow, ...]
    named: bool | None = None
    text: str | None = None
    offsets: tuple[Span, ...] | None = None


def read(source: Source, how: Reading) -> Iterator[GoldRow]:  # noqa: ARG001
    """The numbers of a file's documents; where a document has none marked, all that are found.

    A document begins at `# newdoc`; without one the file is one. Raises FormatError.
    """
    reader = _Reader(source)
    document: list[Sentence] = []
    size = 0
    for sentence in sentences(source):
        if sentence.starts_document and document:
            yield from reader.rows(document)
            document, size = [], 0
        document.append(sentence)
        size += sum(len(word.form) + 1 for word in sentence.words)
        if size > LINE_LIMIT:
            raise source.error(
                document[0].line,
                f"a document of more than {LINE_LIMIT:,} characters starts here; wanted "
                "`# newdoc` where the next one begins",
            )
    if not document:
        raise source.error(None, NO_LINE_YET)
    yield from reader.rows(document)
    reader.warn()


@dataclass(frozen=True, slots=True)
class _Mark:
    """A number that a token's MISC names. line: of the token."""

    line: int
    token: int
    keys: Keys


@dataclass(frozen=True, slots=True)
class _Document:
    """A document made ready. places: the token of each word, by sentence and id; by_token:
    the first place of each token.
    """

    passage: RawPassage
    places: Mapping[Place, int]
    by_token: Sequence[Place]
    marks: Sequence[_Mark]
    kept: Mapping[Span, Restored]

    def at(self, place: Place) -> int:
        """The token at a place. Raises MarkError."""
        try:
            return self.places[place]
        except KeyError:
            sentence, token = place
            raise MarkError(f"the place {sentence}:{token} is none of the document's") from None


class _Reader:
    """Makes rows of documents."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._split = split_of_name(source.path.stem)
        self._changed = 0
        self._gone = 0
        self._empty = 0
        self._without = 0
        self._found = 0

    def rows(self, given: Sequence[Sentence]) -> Iterator[GoldRow]:
        """The rows of a document's numbers."""
        self._empty += sum(one.empty for one in given)
        try:
            document = _document(given, self._source)
        except MarkError as error:
            raise self._source.error(given[0].line, f"in this document: {error}") from error
        if not document.marks and not document.kept:
            yield from self._unmarked(given, document.passage)
            return
        labels = carried_of(given, own=PASSAGE in given[0].comments)
        left = dict(document.kept)
        seen: set[Span] = set()
        for mark in document.marks:
            try:
                row, span = self._row(document, mark, left)
            except (MarkError, AnswerError) as error:
                raise self._source.error(mark.line, str(error)) from error
            if span in seen:
                raise self._source.error(
                    mark.line, f"a number is marked twice here: {shown(mark.keys[''])}"
                )
            seen.add(span)
            yield replace(row, labels=labels)
            labels = None
        self._gone += len(left)

    def _row(
        self, document: _Document, mark: _Mark, left: dict[Span, Restored]
    ) -> tuple[GoldRow, Span]:
        span = span_of(mark.keys, mark.token, document.at)
        kept = left.pop(span, None)
        gold = self._gold(document, mark, span, kept)
        named = None if document.kept else self._split
        row = GoldRow(
            mark.line,
            document.passage,
            Anchor(*span),
            kept.split if kept else named,
            gold,
            kept.votes if kept else (),
            kept.flags if kept else (),
        )
        return row, span

    def _gold(
        self, document: _Document, mark: _Mark, span: Span, kept: Restored | None
    ) -> Gold | None:
        """What was kept, if MISC says the same still; else what MISC says."""
        if kept is not None:
            before = kept.gold.answer if kept.gold else None
            drawn = misc_of(before, span, document.by_token)
            if {f"NFH{name}": value for name, value in mark.keys.items()} == drawn:
                return kept.gold
            self._changed += 1
        answer = answer_of(mark.keys, document.at)
        if answer is None:
            return None
        answer.check(len(document.passage.words), *span)
        return Gold(answer, Rule.IMPORTED)

    def _unmarked(self, given: Sequence[Sentence], passage: RawPassage) -> Iterator[GoldRow]:
        """The numbers that the grammar finds in a document in which none is marked."""
        from nfh_models.text.numbers import find_numbers

        labels = carried_of(given, own=False)
        found = False
        for sentence, turn in zip(given, passage.turns, strict=True):
            tokens = range(turn.start, turn.end)
            glued = [False] + [
                passage.ends[one] == passage.starts[two] for one, two in pairwise(tokens)
            ]
            words = [passage.words[token] for token in tokens]
            for start, end in find_numbers(words, glued):
                anchor = Anchor(turn.start + start, turn.start + end)
                line = sentence.words[start].line
                yield GoldRow(line, passage, anchor, self._split, None, (), (), labels)
                self._found += 1
                found, labels = True, None
        self._without += not found

    def warn(self) -> None:
        """Add what was counted to the source's warnings."""
        said = (
            (self._changed, f"{counted(self._changed, 'answer')} changed since the export"),
            (
                self._gone,
                f"{counted(self._gone, 'number')} left out: no longer marked in MISC",
            ),
            (self._empty, f"{counted(self._empty, 'empty node')} left out: no words of a text"),
            (
                self._found,
                f"{counted(self._found, 'number')} found in documents in which none is marked",
            ),
            (
                self._without,
                f"{counted(self._without, 'document')} without a number left out",
            ),
        )
        self._source.warnings.extend(sentence for count, sentence in said if count)


# --- documents ------------------------------------------------------------------------------


def _document(given: Sequence[Sentence], source: Source) -> _Document:
    kept = _kept(given[0])
    if kept is None:
        _check_whole(given)
    passage = _foreign(given, source) if kept is None else _own(given, kept)
    places: dict[Place, int] = {}
    by_token: list[Place] = []
    marks = []
    token = 0
    for rank, sentence in enumerate(given, 1):
        for word in sentence.words:
            places.update({(rank, id_): token for id_ in word.ids})
            by_token.append((rank, word.ids[0]))
            pairs = [part.partition("=") for misc in word.misc for part in misc.split("|")]
            found = numbers_of((key, value) for key, _, value in pairs)
            marks += [_Mark(word.line, token, keys) for keys in found]
            token += 1
    items = {} if kept is None else _items(given, kept, passage)
    return _Document(passage, places, by_token, marks, items)


def _json(name: str, value: str | None) -> Any:  # noqa: ANN401 - whatever stands there
    try:
        return json.loads(value or "")
    except (ValueError, RecursionError) as error:
        raise MarkError(f"the comment {name} is no JSON: {error}") from error


def _kept(first: Sentence) -> Kept | None:
    if PASSAGE not in first.comments:
        return None
    try:
        kept = msgspec.convert(_json(PASSAGE, first.comments[PASSAGE]), Kept)
    except msgspec.ValidationError as error:
        raise MarkError(f"the comment {PASSAGE}: {error}") from error
    if kept.format != VERSION:
        raise MarkError(
            f"the comment {PASSAGE}: found format {shown(kept.format)}, wanted {VERSION}"
        )
    return kept


def _check_whole(given: Sequence[Sentence]) -> None:
    """Raise MarkError for a document that has our comments on numbers, but not the one that
    says what those are about: sentences were taken away, or put in another order.
    """
    for sentence in given:
        name = next((one for one in sentence.comments if one.startswith(ITEM)), None)
        if name is not None:
            raise MarkError(
                f"line {sentence.line} has the comment {name}, but the first sentence has no "
                f"{PASSAGE}, to which it belongs; wanted both, or neither"
            )


def _check_shown(given: Sequence[Sentence], turns: Sequence[Turn]) -> None:
    """Raise MarkError where a sentence's comments show another speaker, or another text."""
    for sentence, turn in zip(given, turns, strict=True):
        named, expected = sentence.speaker, on_one_line(turn.speaker or "")
        if named is not None and on_one_line(named) != expected:
            raise MarkError(
                f"line {sentence.line}: expected the speaker {shown(expected)}, found "
                f"{shown(named)}: it was changed since the export"
            )
        text = sentence.comments.get("text")
        forms = " ".join(word.form for word in sentence.words)
        if text is not None and _letters(text) != _letters(forms):
            raise MarkError(
                f"line {sentence.line}: expected the text {shown(forms)}, found {shown(text)}: "
                "it was changed since the export"
            )


def _letters(words: str) -> str:
    return on_one_line(words).replace(" ", "")


def _own(given: Sequence[Sentence], kept: Kept) -> RawPassage:
    """The passage that was exported, checked against the forms that stand there now."""
    turns = tuple(
        Turn(t.number, t.speaker, t.start, t.end, t.begin, t.until) for t in kept.turns
    )
    forms = [word.form for sentence in given for word in sentence.words]
    lengths = [len(sentence.words) for sentence in given]
    if lengths != [turn.end - turn.start for turn in turns]:
        raise MarkError(
            f"expected sentences of {shown([t.end - t.start for t in turns])} tokens, found "
            f"{shown(lengths)}: the words were changed since the export"
        )
    _check_shown(given, turns)
    if kept.text is None or kept.offsets is None:
        said = [
            Said(turn.speaker, [(word.form, word.space) for word in sentence.words])
            for sentence, turn in zip(given, turns, strict=True)
        ]
        text, offsets = rebuilt(said, named=bool(kept.named))
    else:
        text, offsets = kept.text, list(kept.offsets)
    if len(offsets) != len(forms):
        raise MarkError(f"found {len(offsets)} offsets for {len(forms)} tokens")
    words = [text[start:end] for start, end in offsets]
    for word, form in zip(words, forms, strict=True):
        if not is_form_of(form, word):
            raise MarkError(f"expected the form {shown(form_of(word))}, found {shown(form)}")
    raw = RawPassage(text, words, [s for s, _ in offsets], [e for _, e in offsets], turns)
    try:
        sound_digest(raw)
    except PassageError as error:
        raise MarkError(f"the comment {PASSAGE}: {error}") from error
    return raw


def _foreign(given: Sequence[Sentence], source: Source) -> RawPassage:
    """The passage of sentences, one on each line."""
    texts, starts, ends, turns = [], list[int](), list[int](), []
    place = 0
    for rank, sentence in enumerate(given):
        text = sentence.comments.get("text")
        if text is None:
            text = Said(None, [(word.form, word.space) for word in sentence.words]).text
        try:
            offsets = offsets_in(text, sentence)
        except MarkError as error:
            raise source.error(sentence.line, str(error)) from error
        first = len(starts)
        starts += [place + start for start, _ in offsets]
        ends += [place + end for _, end in offsets]
        turns.append(Turn(rank, sentence.speaker, first, len(starts)))
        texts.append(text)
        place += len(text) + 1
    whole = "\n".join(texts)
    words = [whole[start:end] for start, end in zip(starts, ends, strict=True)]
    return RawPassage(whole, words, starts, ends, tuple(turns))


def _items(given: Sequence[Sentence], kept: Kept, passage: RawPassage) -> dict[Span, Restored]:
    turns = msgspec.to_builtins(kept.turns)
    offsets = list(zip(passage.starts, passage.ends, strict=True))
    found = {}
    for sentence in given:
        for name, value in sentence.comments.items():
            if name.startswith(ITEM):
                content = _json(name, value)
                if not isinstance(content, dict):
                    raise MarkError(f"the comment {name}: found {shown(content)}")
                one = restored(item_of({**content, "turns": turns}), passage.text, offsets)
                found[one.anchor.start, one.anchor.end] = one
    return found
