"""The attributes that the spaCy component gives to Doc, Span and Token.

Values are stored in `Doc.user_data` in spaCy's own form: plain values under the code points of
a span or the start of a token. So copies of a Doc keep them, as do DocBin, `to_bytes`, `as_doc`
and `Doc.from_docs`; and after tokens were merged or split they stay at their place in the text.
Heads are stored as their distance in code points, so that they stay valid when a text is moved.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from spacy.tokens import Doc, Span, Token

Key = tuple[str, str, int | None, int | None]
Target = Token | str
Stored = int | str
Getter = Callable[..., object]

MARK = "._."
IS_NFH = "is_nfh"
HEADS_AT = "nfh_heads_at"
SCORES_AT = "nfh_scores_at"

PLAIN: Mapping[str, bool | str | None] = {
    IS_NFH: False,
    "is_deter_nfh": False,
    "is_implicit": False,
    "nfh_rule": None,
    "nfh_cue": None,
    "nfh_relation": None,
    HEADS_AT: None,
}
"""Attributes of Span and Token that are stored as they are, with the value of everything that
is no NFH.
"""

OURS = frozenset({*PLAIN, SCORES_AT})
"""All stored attributes. Scores are stored for spans alone, since they are long."""

LEAST_SCORE = 0.0005
"""Lower scores are not stored; most words have one."""


@dataclass(frozen=True, slots=True)
class FusedHead:
    """A fused head of a Doc: tokens [start, end)."""

    start: int
    end: int
    rule: str
    """What identified it."""
    heads: tuple[Stored, ...] = ()
    """Token indices and class names."""
    cue: str | None = None
    """What resolved it; None if nothing did."""
    deterministic: bool = False
    """One of the paper's four patterns gave the heads."""
    relation: str | None = None
    """Of several heads: "AND" or "OR"."""
    scores: Mapping[Stored, float] = field(default_factory=dict)
    """Of tokens and classes, where a model has any."""


def register() -> None:
    """Register the attributes with spaCy; creating a component does it already.

    Needed only to read Docs from a DocBin without creating a component. Warns where it replaces
    another program's attribute of the same name.
    """
    for of, name, default, getter in _extensions():
        if of.has_extension(name):
            if of.get_extension(name) == (default, None, getter, None):
                continue
            warnings.warn(
                f"another program's attribute {name} of {of.__name__} gives way to the one of "
                "the spaCy component nfh",
                stacklevel=3,
            )
        options = {"default": default} if getter is None else {"getter": getter}
        of.set_extension(name, **options, force=True)


def assigned() -> list[str]:
    """The public attributes, as `nlp.analyze_pipes` writes them."""
    return [
        f"{of.__name__.lower()}._.{name}"
        for of, name, _, _ in _extensions()
        if name not in (HEADS_AT, SCORES_AT)
    ]


def _extensions() -> Iterator[tuple[type[Doc | Span | Token], str, object, Getter | None]]:
    """Owner, name, default and getter of each attribute."""
    yield Doc, "nfh", None, _anchors
    yield Doc, "has_nfh", None, _has_anchor
    yield Span, SCORES_AT, None, None
    yield Span, "nfh_scores", None, _scores
    for of in (Span, Token):
        yield of, "nfh_head", None, _head
        yield of, "nfh_heads", None, _heads
        for name, default in PLAIN.items():
            yield of, name, default, None


def store(doc: Doc, anchors: list[FusedHead]) -> None:
    """Store anchors in a Doc, in place of those that it had."""
    clear(doc)
    for anchor in anchors:
        span = doc[anchor.start : anchor.end]
        _keep(doc, anchor, span.start_char, span.end_char)
        for token in span:
            _keep(doc, anchor, token.idx, None)


def clear(doc: Doc) -> None:
    """Remove all our values from a Doc."""
    for key in [key for key in doc.user_data if _name(key) in OURS]:
        del doc.user_data[key]


def _keep(doc: Doc, anchor: FusedHead, start: int, end: int | None) -> None:
    heads = [_kept(doc, head, start) for head in anchor.heads]
    data = cast("dict[object, object]", doc.user_data)
    values: dict[str, object] = {
        IS_NFH: True,
        "is_deter_nfh": anchor.deterministic,
        "is_implicit": any(isinstance(head, str) for head in heads),
        "nfh_rule": anchor.rule,
        "nfh_cue": anchor.cue,
        "nfh_relation": anchor.relation,
        HEADS_AT: heads,
    }
    if end is not None and anchor.scores:
        kept = ((head, score) for head, score in anchor.scores.items() if score >= LEAST_SCORE)
        ranked = sorted(kept, key=lambda pair: -pair[1])
        values[SCORES_AT] = [[_kept(doc, head, start), round(s, 4)] for head, s in ranked]
    for name, value in values.items():
        data[MARK, name, start, end] = value


def _kept(doc: Doc, head: Stored, start: int) -> Stored:
    """The stored form of a head: a class name, or its distance from the number in code
    points.
    """
    return head if isinstance(head, str) else doc[head].idx - start


def _name(key: object) -> str | None:
    """The attribute of a key of user_data; None for a key of something else."""
    if isinstance(key, tuple) and len(key) == 4 and key[0] == MARK and key[2] is not None:
        return str(key[1])
    return None


# --- what is read ---------------------------------------------------------------------------


def _anchors(doc: Doc) -> list[Span]:
    """The spans of the fused heads, in order, without those inside a merged token."""
    spans = [doc.char_span(start, end) for start, end in sorted(_places(doc))]
    return [span for span in spans if span is not None]


def _has_anchor(doc: Doc) -> bool:
    return any(doc.char_span(start, end) is not None for start, end in _places(doc))


def _places(doc: Doc) -> Iterator[tuple[int, int]]:
    for key, value in cast("dict[object, object]", doc.user_data).items():
        if _name(key) == IS_NFH and value:
            _, _, start, end = cast("Key", key)
            if start is not None and end is not None and start >= 0:
                yield start, end


def _heads(where: Span | Token) -> tuple[Target, ...]:
    """Tokens and class names, without tokens that a part of a Doc does not hold."""
    stored = where._.get(HEADS_AT)
    if not stored:
        return ()
    start = where.idx if isinstance(where, Token) else where.start_char
    found = [_target(where.doc, head, start) for head in stored]
    return tuple(head for head in found if head is not None)


def _scores(where: Span) -> dict[Target, float]:
    """Tokens and class names with the model's scores, the best first."""
    found: dict[Target, float] = {}
    for kept, score in where._.get(SCORES_AT) or ():
        target = _target(where.doc, kept, where.start_char)
        if target is not None:
            found.setdefault(target, score)
    return found


def _head(where: Span | Token) -> Target | None:
    heads = _heads(where)
    return heads[0] if heads else None


def _target(doc: Doc, head: Stored, start: int) -> Target | None:
    if isinstance(head, str):
        return head
    place = start + head
    if place < 0:
        return None
    span = doc.char_span(place, place + 1, alignment_mode="expand")
    return None if span is None else span[0]
