"""A comparison of two sides in words: counts first, then the numbers themselves."""

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator

from nfh_db.formats.wording import counted, visible
from nfh_db.pairing import Pairing
from nfh_tui.cli.common import tell
from nfh_tui.diffing import Change, Changed, Counts
from nfh_tui.diffing_items import Look
from nfh_tui.diffing_sides import Side, rules_of
from nfh_tui.diffing_words import told

SORTS = {
    "release": "a release",
    "gold": "a gold file",
    "nfh": "an nfh file",
    "database": "a database",
}
MEANINGS = {
    Change.ADDED: "decided in B, and not in A",
    Change.REMOVED: "decided in A, and not in B",
    Change.SPAN: "the number itself has another span",
    Change.PASSAGE: "the same text, cut into other tokens or turns",
    Change.DECIDED: "undecided in A",
    Change.UNDECIDED: "undecided in B",
    Change.KIND: "another kind",
    Change.HEADS: "other nouns",
    Change.RELATION: "AND, OR, unstated",
    Change.MENTIONS: "the same nouns, marked elsewhere",
    Change.SORT: "another sort of OTHER",
    Change.NOUN: "another noun in words",
    Change.RULE: "the same answer, by another rule",
    Change.SPLIT: "another split",
    Change.VOTES: "answers given, taken back, or changed",
    Change.FLAGS: "flags set or cleared",
    Change.COMMENT: "another comment on the gold",
    Change.DETAILS: "who, when, or what was in view, only",
}


IN_FORM = {
    Change.ADDED: "a row in B, and none in A",
    Change.REMOVED: "a row in A, and none in B",
}
"""What a change means where only what `nfh` has is compared."""

WIDTH = 100


def write_text(
    left: Side,
    right: Side,
    pairs: Pairing,
    counts: Counts,
    changed: Iterable[Changed],
    *,
    form: bool,
    most: int,
) -> None:
    """Print it. most: numbers shown under each kind of change, 0 for all."""
    for line in _head(left, right, pairs, counts, form=form):
        tell(line)
    shown: dict[Change, list[Changed]] = {}
    found: Counter[Change] = Counter()
    for one in changed:
        first = one.changes[0]
        found[first] += 1
        if not most or found[first] <= most:
            shown.setdefault(first, []).append(one)
    for change in Change:
        if found[change]:
            _section(change, shown[change], found[change], left, right, form=form)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
    )


def _head(
    left: Side, right: Side, pairs: Pairing, counts: Counts, *, form: bool
) -> Iterator[str]:
    for letter, side in (("A", left), ("B", right)):
        items, again = pairs.count(letter.lower())
        repeats = f", {again:,} of them again" if again else ""
        yield f"{letter}  {side.name}: {SORTS[side.sort]}, {counted(items, 'number')}{repeats}"
    if form:
        yield "Compared in the form of nfh: classes, and words that are heads"
    same = pairs.same()
    yield f"{counted(same, 'number')} the same, {counts.changed:,} changed"
    yield from _guidelines(rules_of(left), rules_of(right))
    for letter in ("a", "b"):
        if counts.undecided[letter]:
            yield (
                f"{counts.undecided[letter]:,} only in {letter.upper()} and undecided there: "
                "not counted"
            )
    meanings = MEANINGS | IN_FORM if form else MEANINGS
    rows = [(c.value, counts.items[c], meanings[c]) for c in Change if counts.items[c]]
    width = max((len(name) for name, _, _ in rows), default=0)
    digits = max((len(f"{count:,}") for _, count, _ in rows), default=0)
    for name, count, meaning in rows:
        yield f"  {name:<{width}}  {count:>{digits},}  {meaning}"
    ranked = sorted(counts.kinds.items(), key=lambda one: (-one[1], one[0]))
    if ranked:
        kinds = ", ".join(f"{a} to {b} {n:,}" for (a, b), n in ranked)
        yield from _wrapped(f"kinds: {kinds}", "  ")


def _guidelines(before: tuple[int, str] | None, after: tuple[int, str] | None) -> Iterator[str]:
    if before is None or after is None or before[1] == after[1]:
        return
    again = " with another text" if before[0] == after[0] else ""
    yield f"guidelines: version {before[0]} in A, version {after[0]}{again} in B"


def _section(
    change: Change, shown: list[Changed], found: int, left: Side, right: Side, *, form: bool
) -> None:
    tell(f"\n{change.value}")
    for one in shown:
        there = one.right or one.left
        if there is not None:
            place = _where(right if one.right else left, there.look, form=form)
            tell(f"  {place}  {_text(there.look)}")
            for line in _wrapped("; ".join(told(one)), "    "):
                tell(line)
    if found > len(shown):
        tell(f"  and {found - len(shown):,} more; --most 0 shows all")


def _where(side: Side, look: Look, *, form: bool) -> str:
    """File and line; in a database the document, and a query that finds the number."""
    if side.sort != "database":
        return f"{look.place}:{look.line}"
    return f"{visible(look.place)} {'row ' if form else 'id:'}{look.line}"


def _text(look: Look) -> str:
    return f"{visible(look.before)}[{visible(look.number)}]{visible(look.behind)}"
