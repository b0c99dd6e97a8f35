"""What changed of a number, in a few words."""

from collections.abc import Iterator, Mapping

from nfh_db.formats.wording import visible
from nfh_tui.diffing import Change, Changed, OneSide
from nfh_tui.diffing_items import Body, Said

MOST_HEADS = 4


def told(one: Changed) -> Iterator[str]:
    """What is to be said of one number, the first change first."""
    left, right = one.left, one.right
    if left is None or right is None:
        only = left or right
        if only is not None and only.body.said is not None:
            yield answer_words(only.body.said, only.look.words)
            if only.body.rule:
                yield f"by {rule_words(only.body)}"
        return
    for change in one.changes:
        yield from _change_words(change, one, left, right)
    if Change.RULE not in one.changes and left.body.rule and right.body.rule:
        before, after = rule_words(left.body), rule_words(right.body)
        if before != after and Change.DETAILS not in one.changes:
            yield f"{before} to {after}"


def _change_words(change: Change, one: Changed, left: OneSide, right: OneSide) -> Iterator[str]:
    words = left.look.words | right.look.words
    if change is Change.SPAN:
        yield f"[{visible(left.look.number)}] to [{visible(right.look.number)}]"
        if left.body.said != right.body.said:
            yield _between(left.body.said, right.body.said, words)
    elif change is Change.PASSAGE:
        yield from _recut(one, left, right)
    elif change is Change.VOTES:
        said = (f"{visible(name)} {_voice(old, new, words)}" for name, old, new in one.voices)
        yield f"votes: {', '.join(said)}"
    elif change in BESIDE:
        yield _beside(change, left.body, right.body)
    elif not {Change.SPAN, Change.PASSAGE} & set(one.changes):
        yield from _answers(change, one, left, right, words)


BESIDE = (Change.RULE, Change.SPLIT, Change.FLAGS, Change.COMMENT, Change.DETAILS)
"""Changes of what stands beside the answer."""


def _beside(change: Change, left: Body, right: Body) -> str:
    if change is Change.RULE:
        return f"{rule_words(left)} to {rule_words(right)}"
    if change is Change.SPLIT:
        return f"split {_split(left)} to {_split(right)}"
    if change is Change.FLAGS:
        return f"flags: {', '.join(_flags(left, right))}"
    if change is Change.COMMENT:
        return f"comment {_comment(left)} to {_comment(right)}"
    return ", ".join(_details(left, right))


def _recut(one: Changed, left: OneSide, right: OneSide) -> Iterator[str]:
    """What is said of tokens that are not the same ones: each side has words of its own."""
    yield "other tokens or turns"
    if not set(one.changes).isdisjoint(ANSWERS):
        sides = ((side.body.said, side.look.words) for side in (left, right))
        old, new = (answer_words(said, w) if said else "nothing" for said, w in sides)
        yield f"{old} to {new}"


def _answers(
    change: Change, one: Changed, left: OneSide, right: OneSide, words: Mapping[int, str]
) -> Iterator[str]:
    """Both answers, under the first change that is one of the answer."""
    if change is next(found for found in one.changes if found in ANSWERS):
        places = change is Change.MENTIONS
        yield _between(left.body.said, right.body.said, words, places=places)


ANSWERS = (
    Change.DECIDED,
    Change.UNDECIDED,
    Change.KIND,
    Change.HEADS,
    Change.RELATION,
    Change.MENTIONS,
    Change.SORT,
    Change.NOUN,
)
"""Changes that two answers, one beside the other, show."""


def _between(
    before: Said | None, after: Said | None, words: Mapping[int, str], *, places: bool = False
) -> str:
    old = "nothing" if before is None else answer_words(before, words, places=places)
    new = "nothing" if after is None else answer_words(after, words, places=places)
    return f"{old} to {new}"


def _voice(before: Said | None, after: Said | None, words: Mapping[int, str]) -> str:
    """Two answers of one person; with places or comments where they read the same else."""
    told = _between(before, after, words)
    if before is None or after is None or _differs(before, after, words, places=False):
        return told
    if _differs(before, after, words, places=True):
        return _between(before, after, words, places=True)
    if before.comment != after.comment:
        return f"comment {_quoted(before.comment)} to {_quoted(after.comment)}"
    return f"{answer_words(before, words)}, written otherwise"


def _differs(before: Said, after: Said, words: Mapping[int, str], *, places: bool) -> bool:
    old = answer_words(before, words, places=places)
    return old != answer_words(after, words, places=places)


def _quoted(text: str) -> str:
    return f'"{visible(text)}"'


def answer_words(said: Said, words: Mapping[int, str], *, places: bool = False) -> str:
    """An answer: "AGE", "OTHER CODE", "REFERENCE boots and coat".

    places: name every mention, with the number of its token: "boots@3/boots@9".
    """
    if not said.heads:
        more = [said.sort or "", f'"{visible(said.noun)}"' if said.noun else ""]
        return " ".join([said.kind, *(one for one in more if one)])
    nouns = [_noun(mentions, words, places=places) for mentions in said.heads[:MOST_HEADS]]
    joint = {"AND": " and ", "OR": " or "}.get(said.relation or "", ", ")
    more_heads = f"{joint}…" if len(said.heads) > MOST_HEADS else ""
    return f"{said.kind} {joint.join(nouns)}{more_heads}"


def _noun(
    mentions: tuple[tuple[int, int, int, str], ...], words: Mapping[int, str], *, places: bool
) -> str:
    """A head by the word of its first mention, or by those of all that nobody removed."""
    if not places:
        return visible(words.get(mentions[0][2], "?"))
    shown = [
        f"{visible(words.get(head, '?'))}@{start}"
        + (f"-{stop - 1}" if stop > start + 1 else "")
        for start, stop, head, origin in mentions
        if origin != "removed"
    ]
    return "/".join(shown[:MOST_HEADS])


def rule_words(body: Body) -> str:
    """How gold came to count: "majority", "expert eva"."""
    by = body.decision[0]
    return f"{body.rule or 'none'}{f' {visible(by)}' if by else ''}"


def _split(body: Body) -> str:
    return "none" if body.split is None else visible(body.split)


def _comment(body: Body) -> str:
    return _quoted(body.said.comment if body.said else "")


def _flags(left: Body, right: Body) -> Iterator[str]:
    before, after = ({flag.what: flag for flag in body.flags} for body in (left, right))
    for flag in after.values():
        if flag.what not in before:
            span = "" if flag.span is None else f", proposing tokens {_span(flag.span)}"
            yield f"{flag.name} set by {visible(flag.annotator)}{span}"
    for flag in before.values():
        if flag.what not in after:
            span = "" if flag.span is None else f", which proposed tokens {_span(flag.span)},"
            yield f"{flag.name} of {visible(flag.annotator)}{span} cleared"


def _span(span: tuple[int, int]) -> str:
    start, stop = span
    return f"{start}" if stop == start + 1 else f"{start} to {stop - 1}"


def _details(left: Body, right: Body) -> Iterator[str]:
    """Which of the small things differ."""
    if left.decision != right.decision:
        before, after = rule_words(left), rule_words(right)
        yield f"{before} to {after}" if before != after else "when it was decided, and on what"
    old, new = ({(v.annotator, v.role): v.more for v in body.voices} for body in (left, right))
    if any(old[who] != new[who] for who in old.keys() & new.keys()):
        yield "when votes were given, how long they took, what was in view, or by which rules"
    if left.flags != right.flags:
        yield "when flags were set"
    if left.times != right.times:
        yield "when it was said"
    if left.said != right.said:
        yield "how the answer is written"
