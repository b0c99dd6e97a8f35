"""Passages and anchors: offsets, words, digests, spans and links."""

from collections.abc import Iterator

from nfh_db import flags
from nfh_db.doctor.finding import Fault, Where
from nfh_db.doctor.stretch import AnchorRow, Stretch
from nfh_models.domain import Anchor, Passage


def passages(stretch: Stretch) -> Iterator[Fault]:
    """Offsets, lemmas and turns of each passage."""
    for row in stretch.passages.values():
        if row.trouble:
            yield Fault(row.trouble, Where("passage", row.id))


def digests(stretch: Stretch) -> Iterator[Fault]:
    """Each passage's digest against its content."""
    for row in stretch.passages.values():
        if row.passage is not None and bytes.fromhex(row.passage.digest) != row.digest:
            yield Fault("its digest is not that of its content", Where("passage", row.id))


def spans(stretch: Stretch) -> Iterator[Fault]:
    """Each anchor's place in its passage, and the words that it repeats."""
    for anchor in stretch.anchors:
        passage = stretch.passage_of(anchor)
        what = _span_trouble(anchor, passage) if passage is not None else ""
        if what:
            yield Fault(what, Where("anchor", anchor.id, anchor.id))


def _span_trouble(anchor: AnchorRow, passage: Passage) -> str:
    words = len(passage.tokens)
    if not 0 <= anchor.start < anchor.stop <= words:
        return f"its span [{anchor.start}, {anchor.stop}) is outside a passage of {words} words"
    first, last = passage.tokens[anchor.start], passage.tokens[anchor.stop - 1]
    if (anchor.text_start, anchor.text_stop) != (first.start, last.end):
        return (
            f"it says characters {anchor.text_start} to {anchor.text_stop}, its words stand at "
            f"{first.start} to {last.end}"
        )
    if anchor.word != passage.text[first.start : last.end]:
        return "its word is not what stands there in the text"
    return ""


def proposals(stretch: Stretch) -> Iterator[Fault]:
    """Spans that annotators propose, against their passage and the number's own span."""
    by_id = {anchor.id: anchor for anchor in stretch.anchors}
    for anchor_id, marks in flags.marks(stretch.connection, list(by_id)).items():
        anchor = by_id[anchor_id]
        passage = stretch.passage_of(anchor)
        if passage is None:
            continue
        for mark in marks:
            what = mark.trouble(Anchor(anchor.start, anchor.stop), len(passage.tokens))
            if what:
                where = Where("flag", f"{anchor_id}, {mark.annotator}, {mark.name}", anchor_id)
                yield Fault(what, where)


def links(stretch: Stretch) -> Iterator[Fault]:
    """Anchors that replaced another: within the passage, and ending at one that was not."""
    by_id = {anchor.id: anchor for anchor in stretch.anchors}
    for anchor in stretch.anchors:
        what = _link_trouble(anchor, by_id)
        if what:
            yield Fault(what, Where("anchor", anchor.id, anchor.id))


def _link_trouble(anchor: AnchorRow, by_id: dict[int, AnchorRow]) -> str:
    for verb, other in (("replaces", anchor.replaces), ("is replaced by", anchor.replaced_by)):
        if other is None:
            continue
        there = by_id.get(other)
        if there is None or there.passage_id != anchor.passage_id or other == anchor.id:
            return f"it {verb} anchor {other}, which is no other anchor of its passage"
    seen = {anchor.id}
    after = anchor.replaced_by
    while after is not None and after in by_id:
        if after in seen:
            return f"it is replaced, in the end, by itself (over anchor {after})"
        seen.add(after)
        after = by_id[after].replaced_by
    return ""
