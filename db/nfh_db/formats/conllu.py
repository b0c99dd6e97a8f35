"""Format `conllu`: CoNLL-U, the form of Universal Dependencies; its declaration and its
writer.

    # newdoc id = 0000001
    # nfh_passage = {"format":"nfh-conllu/1","turns":[[0,"Ann",0,3],[1,"Ben",3,7]],"named":true}
    # sent_id = 0000001-1
    # speaker = Ann
    # text = Two tickets?
    1<TAB>Two<TAB>two<TAB>_ …

A document is a passage and a sentence is a turn. What counts of a number stands in MISC on
its first token (see `conllu_reader`), everything else in a comment.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from nfh_db.formats.base import First, Format, How, holds
from nfh_db.formats.conllu_reader import (
    ITEM,
    PASSAGE,
    VERSION,
    CarriedLines,
    ConlluSentence,
    Place,
    form_of,
    kept_apart,
    misc_of,
    on_one_line,
    read,
    rebuilt,
    same,
    to_json,
)
from nfh_db.formats.rows import RawPassage, Writing
from nfh_db.formats.stored_annotation import stored
from nfh_db.records import ExportRecord
from nfh_models.domain import Passage, Turn

UNSAID = ("_",) * 6
"""UPOS, XPOS, FEATS, HEAD, DEPREL and DEPS, which nobody has said."""


class ConlluWriter:
    """Makes the file. left_out: nothing is."""

    def __init__(self, how: Writing | None = None) -> None:  # noqa: ARG002
        self.left_out: Counter[str] = Counter()

    def chunks(self, records: Iterable[ExportRecord]) -> Iterator[bytes]:
        """Each passage's sentences."""
        for number, (_, group) in enumerate(groupby(records, _digest), 1):
            yield _document(f"{number:07}", list(group)).encode("utf-8")


def _digest(record: ExportRecord) -> str:
    return record.passage.digest


def _document(name: str, records: Sequence[ExportRecord]) -> str:
    passage = records[0].passage
    said = [_said(passage, turn) for turn in passage.turns]
    came = CarriedLines.of(records, passage)
    places = came.places() if came else _places(passage)
    misc, items = _numbers(records, places)
    lines = []
    for rank, (turn, one) in enumerate(zip(passage.turns, said, strict=True)):
        comments = came.comments(rank) if came else ()
        if rank == 0:
            if not any(comment.startswith("# newdoc") for comment in comments):
                lines.append(f"# newdoc id = {name}")
            kept = to_json(_passage(passage, said, as_it_came=came is not None))
            lines.append(f"# {PASSAGE} = {kept}")
        lines += comments or _comments(f"{name}-{rank + 1}", turn, one)
        lines += items.get(rank + 1, ())
        keys = ["|".join(misc.get(token, ())) for token in range(turn.start, turn.end)]
        lines += came.tokens(rank, keys) if came else _tokens(passage, turn, one, keys)
        lines.append("")
    return "\n".join(lines) + "\n"


def _comments(name: str, turn: Turn, said: ConlluSentence) -> Iterator[str]:
    yield f"# sent_id = {name}"
    if turn.speaker and (speaker := on_one_line(turn.speaker)):
        yield f"# speaker = {speaker}"
    yield f"# text = {said.text}"


def _places(passage: Passage) -> list[Place]:
    return [
        (rank, token)
        for rank, turn in enumerate(passage.turns, 1)
        for token in range(1, turn.end - turn.start + 1)
    ]


def _said(passage: Passage, turn: Turn) -> ConlluSentence:
    tokens = passage.tokens[turn.start : turn.end]
    last = len(tokens) - 1
    forms = [
        (
            form_of(passage.text[token.start : token.end]),
            place < last and tokens[place + 1].start > token.end,
        )
        for place, token in enumerate(tokens)
    ]
    return ConlluSentence(turn.speaker, kept_apart(forms))


def _passage(
    passage: Passage, said: Sequence[ConlluSentence], *, as_it_came: bool
) -> dict[str, Any]:
    """What makes a passage again: its turns, and its text where the lines do not tell."""
    turns = [
        [t.number, t.speaker, t.start, t.end]
        + ([] if t.begin is None and t.until is None else [t.begin, t.until])
        for t in passage.turns
    ]
    found: dict[str, Any] = {"format": VERSION, "turns": turns}
    raw = RawPassage(
        passage.text,
        (),
        [t.start for t in passage.tokens],
        [t.end for t in passage.tokens],
        passage.turns,
    )
    for named in () if as_it_came else (True, False):
        if same(*rebuilt(said, named=named), raw):
            return {**found, "named": named}
    offsets = list(zip(raw.starts, raw.ends, strict=True))
    return {**found, "text": passage.text, "offsets": offsets}


def _numbers(
    records: Sequence[ExportRecord], places: Sequence[Place]
) -> tuple[Mapping[int, list[str]], Mapping[int, list[str]]]:
    """The keys of each token at which numbers begin, and the comments of each sentence."""
    misc: dict[int, list[str]] = {}
    items: dict[int, list[str]] = {}
    ranks: Counter[int] = Counter()
    for number, record in enumerate(records, 1):
        start = record.anchor.start
        ranks[start] += 1
        answer = record.gold.answer if record.gold else None
        keys = misc_of(answer, (start, record.anchor.end), places, ranks[start])
        misc.setdefault(start, []).extend(f"{key}={value}" for key, value in keys.items())
        item = msgspec.to_builtins(stored(record, offsets=False))
        del item["turns"]
        comment = f"# {ITEM}{number} = {to_json(item)}"
        items.setdefault(places[start][0], []).append(comment)
    return misc, items


def _tokens(
    passage: Passage, turn: Turn, said: ConlluSentence, keys: Sequence[str]
) -> Iterator[str]:
    last = turn.end - turn.start - 1
    for rank, (form, space) in enumerate(said.forms):
        misc = [keys[rank]] if keys[rank] else []
        if not space and rank < last:
            misc.append("SpaceAfter=No")
        lemma = form_of(passage.tokens[turn.start + rank].lemma) or "_"
        yield "\t".join((str(rank + 1), form, lemma, *UNSAID, "|".join(misc) or "_"))


TOKEN = re.compile(r"(?:1|1-\d+|0\.1)\t[^\t]+(?:\t[^\t]+){8}")


def sniff(first: First) -> str | None:
    """Why a text is CoNLL-U."""
    for line in first.start.split("\n"):
        if line.startswith(f"# {PASSAGE} = "):
            return f"it begins with a comment {PASSAGE}"
        if line.strip() and not line.startswith("#"):
            if TOKEN.fullmatch(line.removesuffix("\r")):
                return "its first line that is no comment has the ten columns of CoNLL-U"
            break
    return "its name ends in .conllu" if first.suffix == ".conllu" else None


CONLLU = Format(
    name="conllu",
    extensions=(".conllu",),
    description=(
        "CoNLL-U: a document for each passage, a sentence for each turn; the gold answer in "
        "MISC on the number's first token, the rest in comments"
    ),
    example="3\tthree\tthree\t_\t_\t_\t_\t_\t_\tNFH=REFERENCE|NFHHead=1:2|SpaceAfter=No",
    read=read,
    sniff=sniff,
    chunks=ConlluWriter,
    carries_split=True,
    holds=holds(
        How.BESIDE,
        KIND=How.OWN,
        HEADS=How.OWN,
        RELATION=How.OWN,
        ORIGIN=How.OWN,
        SORT=How.OWN,
        NOUN=How.OWN,
        COMMENT=How.OWN,
        GOLD=How.OWN,
        SPEAKERS=How.OWN,
        TOKENS=How.OWN,
    ),
    extra="conllu",
)
