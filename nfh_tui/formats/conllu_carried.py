"""What a CoNLL-U file holds besides numbers: lemmas, tags, trees, other keys and comments.

It is kept as the file's own lines, without our keys, under "conllu" in the labels of the first
number of a document, and written back around the answers.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from nfh_db.records import ExportRecord
from nfh_models.domain import Passage
from nfh_tui.formats.conllu_lines import ITEM, PASSAGE, is_form_of
from nfh_tui.formats.conllu_marks import Place, without_numbers
from nfh_tui.formats.conllu_read import Sentence

KEY = "conllu"
WRITTEN = ("newdoc", "newdoc id", "sent_id", "speaker", "text")
"""Comments that a file of our making has, too."""


class Carried(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lines of each sentence. tokens: which of them are tokens of the text, in order."""

    comments: tuple[tuple[str, ...], ...]
    lines: tuple[tuple[str, ...], ...]
    tokens: tuple[tuple[int, ...], ...]


def carried_of(given: Sequence[Sentence], *, own: bool) -> str | None:
    """The labels that keep a document's lines; None where all that is in them is ours."""
    if own and not any(map(_has_more, given)):
        return None
    content = Carried(
        tuple(tuple(filter(_foreign, one.notes)) for one in given),
        tuple(tuple(map(_plain, one.lines)) for one in given),
        tuple(tuple(one.numbers.index(word.line) for word in one.words) for one in given),
    )
    return json.dumps({KEY: msgspec.to_builtins(content)}, ensure_ascii=False)


def _has_more(sentence: Sentence) -> bool:
    """True if a sentence says what no export would."""
    if sentence.empty or len(sentence.lines) != len(sentence.words):
        return True
    if any(_foreign(note) and _name(note) not in WRITTEN for note in sentence.notes):
        return True
    return any(map(_tagged, sentence.lines))


def _tagged(line: str) -> bool:
    columns = line.split("\t")
    return set(columns[3:9]) != {"_"} or without_numbers(columns[9]) not in (
        "_",
        "SpaceAfter=No",
    )


def _name(comment: str) -> str:
    return comment.lstrip("#").partition("=")[0].strip()


def _foreign(comment: str) -> bool:
    name = _name(comment)
    return name != PASSAGE and not name.startswith(ITEM)


def _plain(line: str) -> str:
    head, _, misc = line.rpartition("\t")
    return f"{head}\t{without_numbers(misc)}"


# --- out ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a passage's sentences as they came, to be written around the answers."""

    carried: Carried

    @classmethod
    def of(cls, records: Iterable[ExportRecord], passage: Passage) -> "Lines | None":
        """Those that a record of the passage carries, if one does and they fit it."""
        for record in records:
            carried = _carried(record.carried)
            if carried is not None and _fits(carried, passage):
                return cls(carried)
        return None

    def places(self) -> list[Place]:
        """The place of each token, by sentence and id; of a range its first word."""
        return [
            (rank, int(lines[token].partition("\t")[0].partition("-")[0]))
            for rank, (lines, tokens) in enumerate(
                zip(self.carried.lines, self.carried.tokens, strict=True), 1
            )
            for token in tokens
        ]

    def comments(self, rank: int) -> tuple[str, ...]:
        """The comments of a sentence, by its rank from 0."""
        return self.carried.comments[rank]

    def tokens(self, rank: int, keys: Sequence[str]) -> list[str]:
        """The lines of a sentence with our keys of each token in MISC."""
        lines = list(self.carried.lines[rank])
        for token, more in zip(self.carried.tokens[rank], keys, strict=True):
            if more:
                head, _, misc = lines[token].rpartition("\t")
                lines[token] = f"{head}\t{more}" + ("" if misc == "_" else f"|{misc}")
        return lines


def _carried(labels: str | None) -> Carried | None:
    if labels is None or f'"{KEY}"' not in labels:
        return None
    content: Any = json.loads(labels)
    try:
        return msgspec.convert(content.get(KEY), Carried)
    except (AttributeError, msgspec.ValidationError):
        return None


def _fits(carried: Carried, passage: Passage) -> bool:
    """True if the lines hold the passage's tokens, sentence by turn."""
    if [len(tokens) for tokens in carried.tokens] != [t.end - t.start for t in passage.turns]:
        return False
    surfaces = (passage.text[token.start : token.end] for token in passage.tokens)
    return all(
        is_form_of(lines[token].split("\t")[1], next(surfaces))
        for lines, tokens in zip(carried.lines, carried.tokens, strict=True)
        for token in tokens
    )
