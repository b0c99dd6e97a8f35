"""The evidence pane of an item as rows of text: the edited answer, all others, the model's
prediction, and earlier decisions. An annotator sees nothing of others' answers.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from nfh_db.messages import counted
from nfh_db.records import (
    AnchorItem,
    AnchorState,
    Gold,
    HistoryLine,
    Identified,
    Prediction,
    Role,
    Rule,
    Sibling,
    Vote,
)
from nfh_models.domain import (
    IMPLICIT_KINDS,
    Anchor,
    Answer,
    Blocking,
    Head,
    Kind,
    Origin,
    Relation,
    compare,
    compare_all,
    same_head,
)
from nfh_tui.display_figures import bar
from nfh_tui.display_text import broken, clip, isolate, told_apart, visible, width_of
from nfh_tui.editor import votes
from nfh_tui.editor.commands import fold, prompt, token_scores
from nfh_tui.editor.state import (
    AnswerSource,
    EditState,
    answer,
    blinded,
    live,
    quoted,
)
from nfh_tui.services.guidelines import Guide
from nfh_tui.services.history import act_words, local, object_words
from nfh_tui.widgets import substitution
from nfh_tui.widgets.passage_render import (
    FURTHER,
    GOLD,
    NO_KEY,
    Lane,
    Roles,
    Run,
    head_sign,
    is_counted,
    lanes,
    picked,
)

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent


def answer_words(item: AnchorItem, edit: EditState, reading: bool) -> tuple[str, str]:
    """The answer and its source; in reading mode the gold and its rule."""
    if reading:
        if (gold := item.gold) is None:
            return "no gold yet", ""
        return votes.describe(gold.answer, item.passage), f"gold · {_source(gold)}"
    made = answer(edit, item)
    words = (
        votes.describe(made, item.passage)
        if isinstance(made, Answer)
        else _unfinished(item, edit)
    )
    if len(edit.heads) > 1:
        words = f"{len(edit.heads)} heads · {words}"
    return words, _source_words(item, edit)


def _source_words(item: AnchorItem, edit: EditState) -> str:
    source = "" if edit.source is AnswerSource.EMPTY else edit.source.value
    why = votes.shown_reason(edit.reason, item, edit.adopted)
    return " · ".join(filter(None, [source, why, "changed" if edit.changed else ""]))


def _unfinished(item: AnchorItem, edit: EditState) -> str:
    """The parts of an incomplete answer, and what is missing."""
    if edit.kind is None:
        return "nothing chosen yet"
    heads = [
        substitution.one_line(item.passage.words(mentions[0].start, mentions[0].end))
        for mentions in edit.heads
    ]
    lacks = "AND or OR?" if len(heads) > 1 else "which noun?" if not heads else "span growing"
    return f"{votes.KIND_WORDS[edit.kind]}: {', '.join([*heads, lacks])}"


# Rows of a given width: headings, wrapped paragraphs, tables and bars. Text of the corpus is
# drawn literally, without markup or control characters.

T = TypeVar("T")
Row = tuple[Run, ...]
Part = tuple[str, str]
"""A text and its role, "" for none."""

_BREAKS = re.compile("[ \n]+")
"""Where a row may be broken; other blanks, such as no-break spaces, are drawn."""

MOST_BAR = 20
"""Cells of the longest bar."""

FIGURE = 8
"""Cells for the figure of a bar: a score and the number of a turn."""

LEAST = 16
"""Least width of rows: a code such as ⟨U+10FFFF⟩ fits after any indent."""


FOLDED = 16
"""Cells before the content of a section of one line."""

NO_BREAK = "\u00a0"


class _Word(NamedTuple):
    text: str
    width: int
    roles: Roles
    glued: bool


class RowBuilder:
    """Collects rows of at most `width` cells, but not less than LEAST."""

    def __init__(self, width: int) -> None:
        self.width = max(LEAST, width)
        self.made: list[Row] = []
        self._folded = -1

    def blank(self) -> None:
        """Add an empty row, unless at the top or after another one."""
        if self.made and self.made[-1]:
            self.made.append(())

    def heading(self, title: str, note: str = "") -> None:
        """Add a title with a note at the right, or below it if both do not fit in a row."""
        self.blank()
        title = clip(title, self.width)
        room = self.width - width_of(title) - 2
        fits = width_of(visible(note)) <= room
        row = [Run(title, ("title",))]
        if note and fits:
            shown = visible(note)
            gap = self.width - width_of(title) - width_of(shown)
            row += [Run(" " * gap, ()), Run(isolate(shown), ("note",))]
        self.made.append(tuple(row))
        if note and not fits:
            self.text([(note, "note")], indent=1)

    def folded(self, title: str, parts: Sequence[Part]) -> None:
        """Add a section of one line: its title and its content, close to another one above."""
        if self._folded != len(self.made):
            self.blank()
        name = title.ljust(FOLDED - 1).replace(" ", NO_BREAK)
        self.text([(name, "title"), (" ", ""), *parts], hang=min(FOLDED, self.width // 2))
        self._folded = len(self.made)

    def text(self, parts: Iterable[Part], indent: int = 0, hang: int | None = None) -> None:
        """Add a paragraph; indents of its first row and, `hang`, of the others.

        Parts without a blank between them stay in one row where it has room.
        """
        hang = indent if hang is None else hang
        row: list[Run] = [Run(" " * indent, ())] if indent else []
        at, started = indent, False
        for word, behind in _ahead(_words(parts, self.width - max(indent, hang))):
            space = 0 if word.glued or not started else 1
            whole = at + space + word.width + behind
            parted = not word.glued and whole > self.width >= hang + word.width + behind
            if started and (parted or at + space + word.width > self.width):
                self.made.append(tuple(row))
                row, at, space = ([Run(" " * hang, ())] if hang else []), hang, 0
            if space:
                row.append(Run(" ", word.roles if row[-1].roles == word.roles else ()))
            row.append(Run(isolate(word.text), word.roles))
            at, started = at + space + word.width, True
        if started:
            self.made.append(tuple(row))

    def cells(self, cells: Sequence[tuple[Part, int]], indent: int = 1) -> None:
        """Add a row of a table: texts with their widths, one cell between two columns.

        Columns of width 0 are left out with their gap, and so are trailing blanks.
        """
        row: list[Run] = []
        at = indent
        due = indent
        for (text, role), width in cells:
            if width <= 0:
                continue
            if shown := clip(text, min(width, self.width - at)):
                row += [Run(" " * due, ())] if due else []
                row.append(Run(isolate(shown), _roles(role)))
                due = 0
            due += width - width_of(shown) + 1
            at += width + 1
        self.made.append(tuple(row))

    def bar(self, name: Part, share: float, figure: str, name_width: int) -> None:
        """Add a name, a bar whose length shows the share, and a figure if it fits."""
        fits = self.width - name_width >= FIGURE + LEAST // 2
        room = min(self.width - name_width - 2 - (FIGURE + 1 if fits else 0), MOST_BAR)
        shown, drawn = clip(name[0], name_width), bar(share, room)
        row = [Run(" ", ()), Run(isolate(shown), _roles(name[1]))]
        row.append(Run(" " * (name_width - width_of(shown) + 1), ()))
        row.append(Run(drawn, ("bar",)))
        if fits:
            row.append(Run(" " * (room - width_of(drawn) + 1), ()))
            row.append(Run(clip(figure, FIGURE), ("note",)))
        self.made.append(tuple(row))


def _ahead(words: Iterable[_Word]) -> Iterator[tuple[_Word, int]]:
    """Each word with the total width of the words glued after it."""
    behind = 0
    counted: list[tuple[_Word, int]] = []
    for word in reversed(list(words)):
        counted.append((word, behind))
        behind = behind + word.width if word.glued else 0
    return reversed(counted)


def _roles(role: str) -> Roles:
    return (role,) if role else ()


def _words(parts: Iterable[Part], most: int) -> Iterator[_Word]:
    """Words of at most `most` cells, longer ones broken; glued where no blank precedes."""
    open_end = False
    for text, role in parts:
        roles = _roles(role)
        for number, chunk in enumerate(filter(None, _BREAKS.split(text))):
            glued = number == 0 and open_end and not _BREAKS.match(text)
            for part, (shown, width) in enumerate(broken(chunk, max(1, most))):
                yield _Word(shown, width, roles, glued or part > 0)
        if text:
            open_end = text[-1] not in " \n"


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` cells, broken at blanks where possible."""
    lines: list[str] = []
    taken = 0
    for word in _words([(text, "")], max(1, width)):
        space = 0 if word.glued or not lines else 1
        if not lines or taken + space + word.width > width:
            lines.append(word.text)
            taken = word.width
        else:
            lines[-1] += " " * space + word.text
            taken += space + word.width
    return lines or [""]


def longest_word(text: str) -> int:
    """Cells of the longest part of a text without a blank."""
    return max((width_of(visible(word)) for word in _BREAKS.split(text)), default=0)


def best(scores: Iterable[tuple[T, float | None]], count: int) -> list[tuple[T, float]]:
    """The `count` highest scores, highest first; None and NaN are left out."""
    known = [(what, s) for what, s in scores if s is not None and not isnan(s)]
    return sorted(known, key=lambda pair: -pair[1])[:count]


MOST_PLACES = 8
MOST_NUMBERS = 6
MOST_SIGNS = 4
"""Signs before a mention: of the edited answer, and of the first annotators who marked it."""


# --- other spans for the anchor -----------------------------------------------------------


def add_proposals(rows: RowBuilder, item: AnchorItem, *, named: bool, key: str = "") -> None:
    """Add who proposes which span. named: False for the annotator's own proposal.

    key: adopts a span, "" where none does.
    """
    for span, people in votes.proposals(item).items():
        who, verb = "you", "propose"
        if named:
            several = f"{len(people)} of the annotators" if len(people) > 1 else "somebody"
            who = ", ".join(filter(None, people)) or several
            verb = "propose" if len(people) > 1 else "proposes"
        words = substitution.one_line(item.passage.words(span.start, span.end))
        parts: list[Part] = [
            ("▸ ", "asks"),
            (who, "name"),
            (f" {verb} the span ", "note"),
            (f"“{words}”", "said"),
        ]
        if key:
            parts += [(" · ", "note"), (key, "key"), (" takes it", "note")]
        rows.text(parts, indent=1, hang=3)


# --- number words next to the anchor -------------------------------------------------------


def add_adjacent_numbers(
    rows: RowBuilder, item: AnchorItem, span: Anchor | None = None
) -> None:
    """Add the number words next to the anchor, and the keys that include them.

    span: a proposed span that the keys change in place of the anchor.
    """
    for left, key in ((True, "<"), (False, "+")):
        found = substitution.adjacent_number(item.passage, span or item.anchor, left=left)
        if found is None:
            continue
        parts: list[Part] = [
            ("▸ ", "asks"),
            ("beside it ", "note"),
            (f"“{found.words}”", "said"),
        ]
        is_item = any(one.anchor.start <= found.token < one.anchor.end for one in item.siblings)
        if found.may_belong and not is_item:
            parts += [(": part of the number? ", "asks"), (key, "key"), (" widens", "note")]
        rows.text(parts, indent=1, hang=3)


# --- the nouns offered ---------------------------------------------------------------------


def add_places(
    rows: RowBuilder,
    item: AnchorItem,
    lanes: Sequence[Lane],
    state: EditState | None,
    *,
    folded: bool,
) -> None:
    """Add every mention of each noun in an answer, with modifiers and guessed word class.

    folded: in one line while all answers name the nouns of the edited one.

    Mentions of the edited answer have the number of their head, or × if removed; others have
    the keys of the annotators who marked them. `*` offers unmarked ones.
    """
    answers = [lane.answer for lane in lanes]
    if not (nouns := _noun_tokens(item, state, answers)):
        return
    tokens = [token for noun in nouns for token in noun]
    proposed = picked(state) if state is not None else _gold_heads(item)
    if folded and all(proposed.intersection(noun) for noun in nouns):
        # All name what is proposed: what is of interest is where else it stands.
        if len(tokens) > len(nouns):
            rows.folded("Nouns", [*_told_places(item, tokens), (" · * adds them", "note")])
        return
    rows.heading("Nouns", "* adds their places" if len(tokens) > len(nouns) else "")
    for token in tokens[:MOST_PLACES]:
        rows.text(_place(item, token, lanes, state), indent=1, hang=6)
    if len(tokens) > MOST_PLACES:
        rows.text([(f"and {len(tokens) - MOST_PLACES} more places", "note")], indent=6)


def _gold_heads(item: AnchorItem) -> frozenset[int]:
    gold = item.gold
    return frozenset() if gold is None else frozenset(gold.answer.head_tokens())


def _told_places(item: AnchorItem, tokens: Sequence[int]) -> list[Part]:
    """Places of nouns in one line: "tents t1, t1, tent t3"."""
    parts: list[Part] = []
    before = ""
    for place, token in enumerate(tokens[:MOST_PLACES]):
        word = _token_word(item, token)
        parts += [(", ", "note")] if place else []
        parts += [(f"{word} ", "noun")] if word != before else []
        parts.append((f"t{item.passage.turn_of(token) + 1}", "note"))
        before = word
    more = len(tokens) - MOST_PLACES
    return [*parts, (f" and {more} more", "note")] if more > 0 else parts


def _noun_tokens(
    item: AnchorItem, state: EditState | None, answers: Iterable[Answer]
) -> list[tuple[int, ...]]:
    """Tokens of each noun, those of the edited answer first, each once."""
    heads = list(state.heads) if state is not None else []
    heads += [head.mentions for answer in answers for head in answer.heads]
    if not heads:
        return []
    nouns = [{fold(item.passage.tokens[m.head].lemma) for m in mentions} for mentions in heads]
    wanted = set[str]().union(*nouns)
    places = defaultdict[str, set[int]](set)
    for lemma, tokens in item.passage.places.items():
        if (word := fold(lemma)) in wanted:
            places[word].update(tokens)
    taken = set(range(item.anchor.start, item.anchor.end))
    found = []
    for words in nouns:
        same = set[int]().union(*(places[word] for word in words)) - taken
        taken |= same
        if same:
            found.append(tuple(sorted(same)))
    return found


def _place(
    item: AnchorItem, token: int, lanes: Sequence[Lane], state: EditState | None
) -> list[Part]:
    passage = item.passage
    own = _own_sign(token, state)
    naming = [lane for lane in lanes if token in lane.answer.head_tokens()]
    # Beside each other, numbers of two digits would read as two.
    others = dict.fromkeys(
        (lane.key if len(lane.key) == 1 else FURTHER, lane.role) for lane in naming
    )
    shown = [sign for sign in (own, *others) if sign[0]][:MOST_SIGNS]
    gap = "\u00a0" * max(0, MOST_SIGNS - sum(len(text) for text, _ in shown))
    start = substitution.phrase_start(passage, token)
    before = substitution.one_line(passage.words(start, token))
    mine = own[0] not in {"", "×"}
    what = substitution.word_class(item, token)
    parts: list[Part] = [
        *shown,
        (f"{gap}\u00a0", ""),
        (f"t{passage.turn_of(token) + 1} ", "note"),
    ]
    parts += [(f"{before} ", "")] if before else []
    parts.append((_token_word(item, token), "head" if mine else "noun"))
    if what:
        parts.append((f" · {what}", "asks" if what.endswith("?") else "note"))
    return parts


def _own_sign(token: int, state: EditState | None) -> Part:
    for number, mentions in enumerate(state.heads if state is not None else (), 1):
        for mention in mentions:
            if mention.head == token:
                removed = mention.origin is Origin.REMOVED
                return ("×" if removed else head_sign(number), "head-sign")
    return "", ""


# --- the other numbers ---------------------------------------------------------------------


def add_numbers(rows: RowBuilder, item: AnchorItem, *, nouns: bool = True) -> None:
    """Add the passage's other anchors, at most the MOST_NUMBERS nearest, with their kinds.

    nouns: add their missing nouns by the gold.
    """
    others = [one for one in item.siblings if one.anchor != item.anchor]
    if not others:
        return
    rows.heading("Other numbers here", f"{len(others)}")
    near = sorted(others, key=lambda one: abs(one.anchor.start - item.anchor.start))
    for one in sorted(near[:MOST_NUMBERS], key=lambda one: one.anchor.start):
        said = _number(item, one)
        if nouns and one.nouns:
            missing = ", ".join(
                _token_word(item, noun) if isinstance(noun, int) else " ".join(noun.split())
                for noun in one.nouns
            )
            said += [(" ", ""), (f"[{missing}]", "put")]
        rows.text(said, indent=1, hang=3)


def _number(item: AnchorItem, one: Sibling) -> list[Part]:
    passage = item.passage
    words = substitution.one_line(passage.words(one.anchor.start, one.anchor.end))
    decided = one.state is AnchorState.DECIDED
    kind = votes.KIND_WORDS[Kind(one.kind)] if one.kind is not None else one.state.value
    return [
        (f"{votes.STATE_SIGNS[one.state]} ", "same" if decided else "note"),
        (words, "kind"),
        (f" t{passage.turn_of(one.anchor.start) + 1}  ", "note"),
        (kind, "said" if decided else "note"),
    ]


MODEL_HIDDEN = "hidden until you have answered"
MOST_BARS = 6
"""Words shown with their scores."""

LEAST_SHARE = 0.01
"""Least share of the best score that is listed."""

LEAST_DOUBT = 0.5
"""Least doubt about gold that is shown."""

BY_NOUN, MENTION = "≈", "mention"
"""Sign and word for the same noun without a common mention, which is no difference."""

NAME_WIDTH = 12
"""Most cells for the name of a bar."""


def add_model(
    rows: RowBuilder,
    item: AnchorItem,
    against: Answer | None,
    *,
    listed: bool,
    folded: bool = False,
) -> None:
    """Add the active model's prediction, or that there is none.

    listed: its choice is in the table of answers, so only its scores are added. folded: in one
    line while it agrees with `against`.
    """
    if (prediction := item.prediction) is None:
        words = MODEL_HIDDEN if item.model_hidden else "no answer yet"
        if folded:
            rows.folded("Model", [(words, "note")])
        else:
            rows.heading("Model", words)
        return
    given = votes.model_answer(item)
    if folded and given is not None and _agrees(given, against, item):
        words = _doubt(prediction, item) or votes.describe(given, item.passage)
        rows.folded("Model", [(words, ""), ("  =", "same"), (f" · {prediction.model}", "note")])
        return
    rows.heading("Model", prediction.model)
    if given is None or not listed:
        _add_choice(rows, item, given, against)
    if doubt := _doubt(prediction, item):
        rows.text([(doubt, "note")], indent=1 if listed else 3, hang=3)
    _add_bars(rows, item, prediction)


def _agrees(given: Answer, against: Answer | None, item: AnchorItem) -> bool:
    return against is not None and blocking_to(given, against, item.passage.lemmas) is None


def add_doubt(rows: RowBuilder, item: AnchorItem) -> None:
    """Add the doubt about the gold of a model that was not trained on it."""
    doubt = item.doubted
    if doubt is None or item.gold is None or 1 - doubt.likely <= LEAST_DOUBT:
        return
    who = " ".join(filter(None, (doubt.recipe, f"of job {doubt.job}")))
    words = (
        f"unlikely gold, {1 - doubt.likely:.2f}: {who}, which did not see it, says "
        f"{_choice_words(doubt.choice, item)}"
    )
    rows.text([("? ", "asks"), (words, "note")], indent=1, hang=3)


def _add_choice(
    rows: RowBuilder, item: AnchorItem, given: Answer | None, against: Answer | None
) -> None:
    parts: list[Part] = [("m ", "key")]
    if given is None:
        choice = "" if item.prediction is None else item.prediction.choice
        parts.append((f"a choice that does not fit: {choice}", "note"))
    else:
        parts.append((votes.describe(given, item.passage, places=True), "said"))
        parts.append(compared(given, against, item))
    rows.text(parts, indent=1, hang=3)


def compared(given: Answer, against: Answer | None, item: AnchorItem) -> Part:
    """An answer compared with the edited one, after it: a sign, and what differs."""
    how = blocking_to(given, against, item.passage.lemmas)
    return _unbroken(*_answer_standing(given, against, how, words=2))


def _unbroken(words: str, role: str) -> Part:
    """Words after others, in one row with them."""
    return f"  {words.replace(' ', NO_BREAK)}" if words else "", role


def _doubt(prediction: Prediction, item: AnchorItem) -> str:
    """The first and second choice with their scores, or the margin if not all are known."""
    if prediction.second is None:
        return "" if prediction.margin is None else f"margin {figure(prediction.margin)}"
    scores = [_score(prediction, one) for one in (prediction.choice, prediction.second)]
    shown = [_shown(score, scores) for score in scores]
    first = f"{_choice_words(prediction.choice, item)}{shown[0]}"
    said = f"{first}, then {_choice_words(prediction.second, item)}{shown[1]}"
    if None in scores and prediction.margin is not None:
        said += f", margin {figure(prediction.margin)}"
    return said


def _score(prediction: Prediction, choice: str) -> float | None:
    """The score of a choice; None where it is not known."""
    kinds = [kind.value for kind in IMPLICIT_KINDS]
    if choice in kinds:
        place = kinds.index(choice)
    elif choice.isdecimal():
        place = len(kinds) + int(choice)
    else:
        return None
    return prediction.scores[place] if place < len(prediction.scores) else None


def _shown(score: float | None, scores: Sequence[float | None]) -> str:
    """A score, in percent where all of `scores` are shares."""
    if score is None or not isfinite(score):
        return ""
    shares = all(one is None or 0 <= one <= 1 for one in scores)
    return (
        f"{NO_BREAK}{score:.0%}".replace("%", f"{NO_BREAK}%") if shares else f" {figure(score)}"
    )


def _choice_words(choice: str, item: AnchorItem) -> str:
    if (given := votes.choice_answer(choice, item)) is None:
        return choice
    if given.kind is not Kind.REFERENCE:
        return votes.KIND_WORDS[given.kind]
    return _token_word(item, given.heads[0].mentions[0].head)


def _token_word(item: AnchorItem, token: int) -> str:
    return " ".join(item.passage.word(token).split())


def figure(score: float) -> str:
    return f"{score:.2f}" if abs(score) < 100 else f"{score:.3g}"


def _add_bars(rows: RowBuilder, item: AnchorItem, prediction: Prediction) -> None:
    """Add bars of the best words and of the classes on one scale, from LEAST_SHARE on."""
    words = best(enumerate(token_scores(item)), MOST_BARS)
    scored = zip(IMPLICIT_KINDS, prediction.scores, strict=False)
    classes = best(scored, len(IMPLICIT_KINDS))
    most = max((score for _, score in (*words, *classes)), default=0.0)
    name_width = min(NAME_WIDTH, rows.width // 3)
    few = [one for one in (*words, *classes) if _share(one[1], most) < LEAST_SHARE]
    for token, score in words:
        if (token, score) not in few:
            told = f"{figure(score):<5}t{item.passage.turn_of(token) + 1}"
            rows.bar((_token_word(item, token), ""), _share(score, most), told, name_width)
    for kind, score in classes:
        if (kind, score) not in few:
            name = (votes.KIND_WORDS[kind], "kind")
            rows.bar(name, _share(score, most), figure(score), name_width)
    if few and most > 0:
        rows.text([(f"all others under {most * LEAST_SHARE:.1g}", "note")], indent=1)


def _share(score: float, most: float) -> float:
    return score / most if 0 < most < inf else 0.0


# The table of answers: key, name, kind, nouns, turn, and the difference from the edited answer.
#
# In narrow panes first the words are abbreviated, then seconds move below, then names go.
# Nouns are broken at blanks and never cut; where no word fits, they are in a row of their own.

SAME = "="
OTHER = "≠"

OF_KIND = frozenset({Blocking.DAMAGE, Blocking.SCOPE, Blocking.ANSWERABILITY, Blocking.CLASS})
"""Differences of the kind. ROUTE is one of kind and noun, all others are of the noun."""

NOUNS_LEAST = 6
NOUNS_MOST = 24
NAME_LEAST = 5


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of the table for a range of widths."""

    kinds: bool
    """Kinds in long words."""

    words: int
    """Differences: 0 for a sign only, 1 in one word, 2 in long words."""

    seconds: bool
    name: int
    """Most cells of a name; 0 for neither names nor turns."""


FORMS = (
    _Form(True, 2, True, 16),
    _Form(True, 1, True, 12),
    _Form(False, 1, True, 12),
    _Form(False, 1, True, 8),
    _Form(False, 1, False, 8),
    _Form(False, 0, True, 8),
    _Form(False, 0, False, 8),
    _Form(False, 0, False, NAME_LEAST),
    _Form(False, 0, False, 0),
)
"""From the widest to the narrowest; the first that fits is used."""


def add_answers(
    rows: RowBuilder, item: AnchorItem, lanes: Sequence[Lane], against: Answer | None
) -> bool:
    """Add the table. against: the answer to compare with, if any.

    Returns whether it contains the seconds.
    """
    longest = max(longest_word(nouns_of(lane.answer, item)) for lane in lanes)
    form, cells, widths, room = _columns(item, lanes, against, rows.width, longest)
    below = room < longest
    if below:
        widths[NOUNS] = 0
    elif widths[NOUNS]:
        most = max(1, longest, min(widths[NOUNS], room, NOUNS_MOST))
        lines = [folded(row[NOUNS][0], most) for row in cells]
        widths[NOUNS] = max(1, *(width_of(line) for some in lines for line in some))
    beside = room - (widths[NOUNS] + 1 if widths[NOUNS] else 0) - 1
    known: dict[tuple[str, bool], str] = {}
    for row, lane in zip(cells, lanes, strict=True):
        at = " " * (widths[-1] - width_of(row[-1][0])) + row[-1][0]
        timed: tuple[Part, ...] = (*row[:-1], (at, row[-1][1]))
        if beside >= BESIDE and not below:
            _add_row(rows, timed, widths, _reading(item, lane, known, beside, 1), beside)
            continue
        _add_row(rows, timed, widths)
        if below:
            rows.text([row[NOUNS]], indent=3)
        rows.text(_reading(item, lane, known, rows.width - INDENT, 2), indent=INDENT)
    if any(row[STANDING][0] == BY_NOUN for row in cells):
        rows.text([(f"{BY_NOUN} same noun, another {MENTION}", "asks")], indent=1, hang=3)
    return form.seconds


NAMED = 5
"""Forms that keep names: only these have sentences beside them."""

_Columns = tuple[_Form, list[tuple[Part, ...]], list[int], int]
"""A form, the cells of each row, the widths of the columns, and the room for the nouns."""


def _columns(
    item: AnchorItem, lanes: Sequence[Lane], against: Answer | None, width: int, longest: int
) -> _Columns:
    """The first form with room for sentences beside the answers, else for the nouns."""
    words = item.passage.lemmas
    differs = [blocking_to(lane.answer, against, words) for lane in lanes]
    found: list[_Columns] = []
    for form in FORMS:
        names = told_apart([lane.name for lane in lanes], form.name)
        cells = [
            _cells(lane, name, item, form, against, how)
            for lane, name, how in zip(lanes, names, differs, strict=True)
        ]
        widths = [max(width_of(visible(row[at][0])) for row in cells) for at in range(7)]
        taken = 1 + sum(one + 1 for at, one in enumerate(widths) if one and at != NOUNS)
        made = form, cells, widths, width - taken
        nouns = max(longest, min(widths[NOUNS], NOUNS_MOST))
        if form in FORMS[:NAMED] and width - taken - nouns - 2 >= BESIDE:
            return made
        least = max(longest, NOUNS_LEAST) if form in FORMS[-2:] else nouns
        if width - taken >= least:
            found.append(made)
    return found[0] if found else made


NOUNS, STANDING = 3, 5
"""Indices of the columns of the nouns and of the differences."""

BESIDE, INDENT = 30, 5
"""Least cells for the sentences beside the answers; else they are below, indented."""


def _put(item: AnchorItem, answer: Answer) -> tuple[str, bool]:
    return substitution.put_in(item, answer), substitution.is_leading(answer)


def _reading(
    item: AnchorItem, lane: Lane, known: dict[tuple[str, bool], str], room: int, lines: int
) -> list[Part]:
    """The sentence with an answer filled in; for one that was read, whose row has it."""
    if lane.answer.kind in {Kind.BROKEN, Kind.NFH}:
        return []
    key = _put(item, lane.answer)
    if key in known:
        return [(f"as {known[key]}", "note")]
    known[key] = (lane.name if lane.key == NO_KEY else "") or lane.key
    for most in range(lines, 3):
        made = fitted(item, lane.answer, room, 0, most)
        parts = [] if made is None else sentence_parts(made)
        trial = RowBuilder(room)
        trial.text(parts)
        if len(trial.made) <= most:
            break
    return parts


def _add_row(
    rows: RowBuilder,
    row: Sequence[Part],
    widths: Sequence[int],
    read: Sequence[Part] = (),
    room: int = 0,
) -> None:
    """Add a row; with a room, a sentence in so many cells before the last column."""
    first, *more = folded(row[NOUNS][0], widths[NOUNS]) if widths[NOUNS] else [""]
    told = list(row)
    told[NOUNS] = (first, row[NOUNS][1])
    left = 1 + sum(width + 1 for width in widths[:NOUNS] if width)
    start = len(rows.made)
    rows.cells(tuple(zip(told, widths, strict=True))[: -1 if room else None])
    for line in more:
        rows.cells([((line, row[NOUNS][1]), widths[NOUNS])], indent=left)
    if not room:
        return
    body = RowBuilder(room)
    body.text(read)
    begin = 2 + sum(width + 1 for width in widths[:-1] if width)
    for at, said in enumerate(body.made or [()]):
        if start + at == len(rows.made):
            rows.made.append(())
        made = _padded(rows.made[start + at], begin) + said
        if not at and told[-1][0].strip():
            made = (*_padded(made, begin + room + 1), Run(told[-1][0], _roles(told[-1][1])))
        rows.made[start + at] = made


def _padded(row: Row, width: int) -> Row:
    taken = sum(width_of(run.text) for run in row)
    return (*row, Run(" " * (width - taken), ())) if taken < width else row


def _cells(
    lane: Lane,
    name: str,
    item: AnchorItem,
    form: _Form,
    against: Answer | None,
    how: Blocking | None,
) -> tuple[Part, ...]:
    """Key, name, kind, nouns, turns, standing and seconds, as wide as they come."""
    kinds = votes.KIND_WORDS if form.kinds else votes.SHORT_KINDS
    kind_differs = how in OF_KIND or how is Blocking.ROUTE
    noun_differs = how is not None and how not in OF_KIND
    seconds = lane.vote.seconds if lane.vote is not None and form.seconds else None
    return (
        (lane.key, lane.role),
        (name, lane.role if is_counted(lane) else "note"),
        (kinds[lane.answer.kind], "differs" if kind_differs else "said"),
        (nouns_of(lane.answer, item), "differs" if noun_differs else "said"),
        (turns_of(lane.answer, item) if form.name else "", "note"),
        ("", "")
        if lane.key == SAME
        else _answer_standing(lane.answer, against, how, form.words),
        ("" if seconds is None else f"{seconds:.0f}s", "note"),
    )


def _answer_standing(
    given: Answer, against: Answer | None, how: Blocking | None, words: int
) -> Part:
    if against is None or given.kind is Kind.NFH:
        return "", ""
    if how is None and votes.only_by_noun(given, against):
        return f"{BY_NOUN} {MENTION}" if words else BY_NOUN, "asks"
    if how is None:
        return SAME, "same"
    said = (votes.SHORT_BLOCKING if words == 1 else votes.BLOCKING_WORDS)[how] if words else ""
    return f"{OTHER} {said}".rstrip(), "differs"


def blocking_to(given: Answer, against: Answer | None, words: Sequence[str]) -> Blocking | None:
    """How an answer differs from `against`; None where it does not, or without `against`."""
    if against is None or given.kind is Kind.NFH:
        return None
    return compare(against, given, words).blocking


def nouns_of(answer: Answer, item: AnchorItem) -> str:
    """The nouns of an answer as written, or the sort and noun of a class."""
    if answer.heads:
        joint = {Relation.AND: " and ", Relation.OR: " or "}.get(
            answer.relation or Relation.UNSTATED, ", "
        )
        return joint.join(_head(item, answer, number) for number in range(len(answer.heads)))
    said = [
        answer.noun or "",
        votes.SORT_WORDS[answer.sort] if answer.sort and not answer.noun else "",
    ]
    return " ".join(filter(None, said))


def _head(item: AnchorItem, answer: Answer, number: int) -> str:
    first, *more = live(answer.heads[number].mentions)
    words = substitution.one_line(item.passage.words(first.start, first.end))
    return f"{words} +{len(more)}" if more else words


def turns_of(answer: Answer, item: AnchorItem) -> str:
    """The turns of the marked mentions: "t1", "t1,3"."""
    turns = {item.passage.turn_of(live(head.mentions)[0].head) + 1 for head in answer.heads}
    return f"t{','.join(map(str, sorted(turns)))}" if turns else ""


# Identification: whether the noun is missing, and by which rule or weights. The registry of
# rules loads no framework.

MOST_WEIGHTS = 4
"""Features shown with their weights; a further row has the sum of all others."""


def add_identification(
    rows: RowBuilder,
    item: AnchorItem,
    draft: Answer | None,
    gold: Answer | None,
    *,
    folded: bool = False,
) -> None:
    """Add the active identification model's decision, if any.

    draft: the edited answer, with which it is compared. gold: used without a draft; None
    where it must not be shown. folded: in one line while it agrees.
    """
    if (said := item.identification) is None:
        return
    parts: list[Part] = [("NFH" if said.nfh else votes.KIND_WORDS[Kind.NOT_NFH], "said")]
    if said.score is not None:
        parts.append((f" · score{NO_BREAK}{said.score:+.2f}", ""))
    elif said.rule:
        parts.append((f" · rule {said.rule}", ""))
    standing = _decision_standing(said, draft, gold)
    parts.append(standing)
    if folded and standing[1] == "same":
        rows.folded("Identification", [*parts, (f" · {said.model}", "note")])
        return
    rows.heading("Identification", said.model)
    rows.text(parts, indent=1, hang=3)
    if sentence := rule_sentence(said.rule):
        rows.text([(sentence, "note")], indent=3, hang=3)
    for figure, what in _summands(said):
        rows.text([(f"{figure:+.2f} ", "bar"), (what, "note")], indent=3, hang=5)


def _summands(said: Identified) -> list[tuple[float, str]]:
    """The strongest features with their weights, then the sum of all others.

    Rounded to hundredths, so that the shown summands add up to the shown score.
    """
    shown = [(round(weight, 2), name) for name, weight in said.weights[:MOST_WEIGHTS]]
    if said.score is None or not shown:
        return shown
    rest = round(said.score, 2) - sum(weight for weight, _ in shown)
    if not round(rest, 2):
        return shown
    return [*shown, (round(rest, 2), "all other features and the bias")]


def _decision_standing(said: Identified, draft: Answer | None, gold: Answer | None) -> Part:
    """The decision compared with the draft, else with gold: a sign, and what differs."""
    against = draft if draft is not None else gold
    expected = None if against is None else against.kind.identification
    if expected is None:
        return "", ""
    same = expected is said.nfh
    if draft is not None:
        words = "=" if same else f"≠ {votes.BLOCKING_WORDS[Blocking.SCOPE]}"
    else:
        words = "= gold" if same else "≠ gold"
    return _unbroken(words, "same" if same else "differs")


def rule_sentence(name: str) -> str:
    """The sentence of a rule; "" for one that does not exist (any more)."""
    from nfh_models.identification.rules import rule_named

    try:
        return rule_named(name).sentence
    except KeyError:
        return ""


ROOM = 96
"""Most cells of a sentence."""

STEP = 3


def fitted(
    item: substitution.PlacedNumber,
    answer: Answer,
    width: int,
    hang: int,
    lines: int,
    more: Sequence[Part] = (),
) -> substitution.FilledSentence | None:
    """The longest filled sentence of at most `lines` rows with an indent of `hang`.

    more: parts that follow it. The shortest sentence where even that needs more rows.
    """
    room = min(ROOM, max(0, width - hang) * lines)
    while True:
        made = substitution.fill(item, answer, room)
        if made is None or room <= 0:
            return made
        trial = RowBuilder(width)
        trial.text([*sentence_parts(made), *more], indent=hang)
        if len(trial.made) <= lines:
            return made
        room -= STEP


def sentence_parts(made: substitution.FilledSentence) -> list[Part]:
    """A filled sentence with roles for its number and the inserted words."""
    number: list[Part] = [(made.number, "number")]
    if made.between:
        number.append((f" {made.between}", ""))
    put: list[Part] = [(f"[{made.put}]", "put")] if made.put else []
    spaced: list[Part] = [(" ", "")] if put else []
    middle = [*put, *spaced, *number] if made.leading else [*number, *spaced, *put]
    before: list[Part] = [(f"{made.before}{made.gap}", "")] if made.before else []
    return [*before, *middle, (made.after, "")]


# Earlier decisions on similar items: how many are like the answer, and the most similar ones,
# without the names of those who decided.

MOST_LINES = 4
"""Most rows of the section; P shows all decisions."""

LINES = 2
"""Most rows of one decision."""


def add_precedents(
    rows: RowBuilder, precedents: "Sequence[Precedent]", against: Answer | None
) -> None:
    """Add the count and the most similar decisions. against: the edited answer, else the gold.

    Kinds are compared: nouns of other passages cannot be.
    """
    if not precedents:
        return
    shown = RowBuilder(rows.width)
    shown.text(_counted(precedents, against), indent=1, hang=3)
    told = 0
    for one in precedents:
        left = MOST_LINES - len(shown.made)
        decision = RowBuilder(rows.width)
        decision.text(_decision(one, against, rows.width, min(LINES, left)), 1, 3)
        if len(decision.made) > left:
            break
        shown.made += decision.made
        told += 1
    rows.heading("Earlier", "P shows all" if told < len(precedents) else "")
    rows.made += shown.made


def _decision(one: "Precedent", against: Answer | None, width: int, lines: int) -> list[Part]:
    """One decision: its sentence with the answer filled in, and the kind."""
    alike = against is not None and one.answer.kind is against.kind
    sign: Part = ("=", "same") if alike else ("·", "note")
    words = [votes.KIND_WORDS[one.answer.kind], one.tag, *one.reasons[:1]]
    said = " · ".join(filter(None, words))
    note: Part = (f" {said}", "note")
    made = fitted(one, one.answer, width, 3, lines, [note]) if lines > 0 else None
    return [sign, note] if made is None else [sign, (" ", ""), *sentence_parts(made), note]


def _counted(precedents: "Sequence[Precedent]", against: Answer | None) -> list[Part]:
    kinds = Counter(one.answer.kind for one in precedents)
    if against is None:
        said = ", ".join(
            f"{times} {votes.KIND_WORDS[kind]}" for kind, times in kinds.most_common()
        )
        return [(said, "note")]
    like = kinds[against.kind]
    agree = f"{counted(like, 'earlier case')} agree{'s' if like == 1 else ''}"
    return [(agree, "kind"), (f", {len(precedents) - like} otherwise", "note")]


def search_terms(item: AnchorItem, state: EditState) -> tuple[frozenset[str], str | None]:
    """What earlier decisions are searched by: nouns of the edited answer or gold, and rule."""
    tokens = item.passage.tokens
    marked = [mention for mentions in state.heads for mention in live(mentions)]
    noun = state.noun
    if not marked and not noun and item.gold is not None:
        marked = [m for head in item.gold.answer.heads for m in head.live]
        noun = item.gold.answer.noun
    nouns = {tokens[mention.head].lemma for mention in marked}
    return frozenset(nouns | ({noun} if noun else set())), state.tag


OLDER = "the rule had another text then"


def add_remarks(
    rows: RowBuilder,
    item: AnchorItem,
    lanes: Sequence[Lane],
    rules: Guide,
    *,
    seconds: bool,
    told: Collection[str],
) -> None:
    """Add remarks about each answer, by its key, if any.

    seconds: the table contains them. told: texts shown above, which are not repeated.
    """
    body = RowBuilder(rows.width)
    if not seconds:
        timed = [
            (lane, f"{time:.0f}") for lane in lanes if (time := _seconds(lane)) is not None
        ]
        body.text(_figures("", timed, "s"), indent=1, hang=3)
    if not item.blind:
        known = [(lane, right) for lane in lanes if (right := _right(lane, item))]
        body.text(_figures("right in ", known, "%"), indent=1, hang=3)
    for lane in lanes:
        key: Part = (f"{lane.key} ", lane.role)
        facts = [fact for fact in _facts(lane, item, rules) if fact not in told]
        if facts:
            body.text([key, (" · ".join(facts), "note")], indent=1, hang=3)
        for comment in _comments(lane):
            if comment not in told:
                body.text([key, ("; ", "note"), (comment, "comment")], indent=1, hang=5)
    if body.made:
        rows.heading("Remarks")
        rows.made += body.made


def _figures(title: str, figures: Sequence[tuple[Lane, str]], unit: str) -> list[Part]:
    """One figure for each lane, never broken: "1: 12 s · 2: 9 s"."""
    parts: list[Part] = [(title, "note")] if figures and title else []
    for number, (lane, figure) in enumerate(figures):
        parts += [(" · ", "note")] if number else []
        parts.append((f"{lane.key}:\u00a0{figure}\u00a0{unit}", lane.role))
    return parts


def _seconds(lane: Lane) -> float | None:
    return None if lane.vote is None else lane.vote.seconds


def _right(lane: Lane, item: AnchorItem) -> str:
    """The annotator's accuracy in percent; "" if not known."""
    vote = lane.vote
    if vote is None or not vote.counts:
        return ""
    known = [one for one in item.competences if one.annotator == vote.annotator]
    return f"{known[0].accuracy * 100:.0f}" if known else ""


def _comments(lane: Lane) -> list[str]:
    own = [lane.answer.comment, "" if lane.vote is None else lane.vote.answer.comment]
    return list(dict.fromkeys(filter(None, own)))


def _facts(lane: Lane, item: AnchorItem, rules: Guide) -> list[str]:
    facts = []
    if lane.key == GOLD and item.gold is not None:
        facts += _gold_facts(item.gold)
    if lane.vote is not None:
        if not is_counted(lane):
            facts.append(f"a {lane.vote.type}: not counted")
        facts += _vote_facts(lane.vote, rules)
    return [fact for fact in facts if fact]


def _source(gold: Gold) -> str:
    return "adjudicator" if gold.rule is Rule.EXPERT else f"{gold.rule}"


def _gold_facts(gold: Gold) -> list[str]:
    return [_source(gold), gold.adjudicator or "", local_time(gold.decided_at or "")]


def _vote_facts(vote: Vote, rules: Guide) -> list[str]:
    return [
        "saw the model" if vote.saw_model else "",
        "saw answers" if vote.saw_votes and vote.role is Role.ANNOTATOR else "",
        "in a sheet" if vote.in_sheet else "",
        rules.words(vote.rule_tag) if vote.rule_tag else "",
        OLDER if rules.is_outdated(vote.rule_tag, vote.guideline_version) else "",
    ]


def local_time(at: str) -> str:
    """A UTC time of the store in local time, to the minute; unchanged if it is no ISO time."""
    return local(at, "%Y-%m-%d %H:%M")


COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()
"""Small numbers in words."""


@dataclass(slots=True)
class _Noun:
    """Heads that are one noun, and indices of the votes that name it."""

    heads: list[Head] = field(default_factory=list)
    voters: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class NounVotes:
    """How many voters named a noun or kind."""

    votes: int
    of: int
    what: str
    mentions: int = 0
    """Different mentions that they marked; 0 for a kind."""


def tally(item: AnchorItem) -> tuple[NounVotes, ...]:
    """The votes for each noun and each kind of people's answers, most votes first."""
    given = [v for v in item.votes if v.counts and v.answer.kind is not Kind.NFH]
    of = len(given)
    nouns = [
        NounVotes(
            len(noun.voters),
            of,
            _token_word(item, live(noun.heads[0].mentions)[0].head),
            len(_marked(noun)),
        )
        for noun in _joined_nouns(given, item)
    ]
    kinds = [vote.answer.kind for vote in given if vote.answer.kind is not Kind.REFERENCE]
    said = [
        NounVotes(kinds.count(kind), of, votes.KIND_WORDS[kind])
        for kind in dict.fromkeys(kinds)
    ]
    return tuple(sorted([*nouns, *said], key=lambda one: -one.votes))


def _joined_nouns(given: Sequence[Vote], item: AnchorItem) -> list[_Noun]:
    """Heads grouped by `same_head`, transitively."""
    words = item.passage.lemmas
    found: list[_Noun] = []
    for number, vote in enumerate(given):
        for head in vote.answer.heads:
            same = [
                noun
                for noun in found
                if any(same_head(head, other, words) for other in noun.heads)
            ]
            joined = same[0] if same else _Noun()
            for other in same[1:]:
                joined.heads += other.heads
                joined.voters |= other.voters
                found.remove(other)
            if not same:
                found.append(joined)
            joined.heads.append(head)
            joined.voters.add(number)
    return found


def _marked(noun: _Noun) -> set[int]:
    """Tokens that people marked, else those that the program added."""
    mentions = [m for head in noun.heads for m in live(head.mentions)]
    marked = {m.head for m in mentions if m.origin is Origin.MARKED}
    return marked or {m.head for m in mentions}


def _count(number: int) -> str:
    return COUNTS[number] if number < len(COUNTS) else f"{number}"


def add_tally(rows: RowBuilder, item: AnchorItem) -> None:
    """Add the votes as a paragraph, where two or more people answered."""
    found = tally(item)
    one_for_all = len(found) == 1 and found[0].votes == found[0].of and found[0].mentions < 2
    if not found or found[0].of < 2 or one_for_all:
        return
    parts: list[Part] = [("named: ", "note")]
    for place, one in enumerate(found):
        parts += [("; ", "note")] if place else []
        share = f" by {one.votes} of {one.of}".replace(" ", NO_BREAK)
        parts += [(one.what, "kind"), (share.replace(NO_BREAK, " ", 1), "note")]
        if one.mentions > 1:
            parts.append((f", {_count(one.mentions)} mentions", "note"))
    rows.text(parts, indent=1, hang=3)


HIDDEN = "Others' answers and gold are hidden while you annotate."
WITHHELD = "hidden until you decide"

LAST = 8
"""Lines of history shown, the newest first."""


class EvidencePart(StrEnum):
    """What is shown of the evidence."""

    ALL = "all"
    BELOW = "below"
    """Without the answer, which is above it."""
    MAIN = "main"
    """Of that, what is looked at for each item; the rest is beside it."""
    DETAILS = "details"
    """That rest."""


def evidence(
    item: AnchorItem,
    state: EditState | None,
    width: int,
    *,
    blind: bool = False,
    history: Sequence[HistoryLine] = (),
    rules: Guide | None = None,
    precedents: "Sequence[Precedent]" = (),
    part: EvidencePart = EvidencePart.ALL,
) -> tuple[Row, ...]:
    """The rows for an item. state: the edited answer, None in reading mode.

    blind: annotators are letters, and nobody else is named. rules: the current guidelines,
    None where they are not loaded. precedents: earlier decisions, most similar first.
    """
    rows = RowBuilder(width)
    guide = rules or Guide()
    if blind and not item.blind:
        item = blinded(item)
    mine = answer(state, item) if state is not None else ""
    edited = mine if isinstance(mine, Answer) else _provisional(state, item)
    judged = state is None or state.role is Role.ADJUDICATOR
    folds = part in {EvidencePart.BELOW, EvidencePart.MAIN}
    if part is not EvidencePart.DETAILS:
        if state is not None and part is EvidencePart.ALL:
            _add_edited(rows, item, state, mine, guide)
        elif state is not None:
            _add_stated(rows, item, state, guide)
        if state is None or judged:
            _add_judged(rows, item, state, edited, guide, folded=folds)
        else:
            _add_own(rows, item, state, edited, folded=folds)
    if part is not EvidencePart.MAIN:
        if judged:
            gold = item.gold.answer if item.gold is not None else None
            add_precedents(rows, precedents, gold if state is None else edited)
        add_details(rows, item, edited, judged=judged, folded=folds)
        if judged and not item.blind:
            _add_history(rows, history)
    return tuple(rows.made)


def _provisional(state: EditState | None, item: AnchorItem) -> Answer | None:
    """An incomplete answer with several heads, to compare it by these."""
    if state is None or len(state.heads) < 2:
        return None
    made = answer(replace(state, span=None, relation=Relation.AND), item)
    if isinstance(made, str):
        return None
    stated = state.relation in {Relation.AND, Relation.OR}
    return made if stated else replace(made, relation=Relation.UNSTATED)


def _add_judged(
    rows: RowBuilder,
    item: AnchorItem,
    state: EditState | None,
    edited: Answer | None,
    rules: Guide,
    *,
    folded: bool,
) -> None:
    """The rows for an adjudicator and for reading: all answers and all that explains them."""
    found = lanes(item)
    gold = item.gold.answer if item.gold is not None else None
    against = gold if state is None else edited
    seconds = _add_table(rows, item, found, against, edited, headed=not folded)
    add_proposals(rows, item, named=True, key="" if state is None else "T")
    add_adjacent_numbers(rows, item)
    # The texts shown for the edited answer often equal the gold's.
    told = [] if state is None else [_comment(item, state), _rule_words(state, rules)]
    add_remarks(rows, item, found, rules, seconds=seconds, told=told)
    add_places(rows, item, found, state, folded=folded)
    add_doubt(rows, item)
    _add_flags(rows, item, named=True)
    _add_stale(rows, item, against)


def _add_own(
    rows: RowBuilder, item: AnchorItem, state: EditState, edited: Answer | None, *, folded: bool
) -> None:
    """The rows for an annotator: nothing of others."""
    if edited is not None and (made := fitted(item, edited, rows.width, 3, 3)) is not None:
        rows.text([("= ", "same"), *sentence_parts(made)], indent=1, hang=3)
    add_proposals(rows, item, named=False)
    add_adjacent_numbers(rows, item, next(iter(votes.proposals(item)), None))
    rows.blank()
    rows.text([(HIDDEN, "note")])
    add_places(rows, item, (), state, folded=folded)
    _add_flags(rows, item, named=False)


def add_details(
    rows: RowBuilder, item: AnchorItem, edited: Answer | None, *, judged: bool, folded: bool
) -> None:
    """Add what is looked at now and then: the models, and the other numbers."""
    gold = item.gold.answer if judged and item.gold is not None else None
    add_identification(rows, item, edited, gold, folded=folded)
    add_model(rows, item, edited or gold, listed=judged, folded=folded)
    add_numbers(rows, item, nouns=judged)


def _rule_words(state: EditState, rules: Guide) -> str:
    return rules.words(state.tag) if state.tag else ""


# --- the answer being edited ---------------------------------------------------------------


def _add_edited(
    rows: RowBuilder, item: AnchorItem, state: EditState, made: Answer | str, rules: Guide
) -> None:
    rows.heading("Answer", _source_words(item, state))
    kind: list[Part] = [] if state.kind is None else [(votes.KIND_WORDS[state.kind], "kind")]
    if state.sort is not None:
        kind.append((f", {votes.SORT_WORDS[state.sort]}", ""))
    if state.noun:
        kind.append((f" {quoted(state.noun)}", ""))
    if len(state.heads) > 1:
        kind.append((f" · {len(state.heads)} heads", "kind"))
        kind.append((f" · {state.relation or 'AND or OR?'}", "kind"))
    rows.text(kind, indent=1, hang=3)
    _add_heads(rows, item, state)
    _add_stated(rows, item, state, rules)
    request = prompt(state) or made
    if isinstance(request, str):
        rows.text([("▸ ", "asks"), (request, "asks")], indent=1, hang=3)


def _add_stated(rows: RowBuilder, item: AnchorItem, state: EditState, rules: Guide) -> None:
    """The rule and the comment of the edited answer, which its line has no room for."""
    if rule := _rule_words(state, rules):
        rows.text([(rule, "note")], indent=1, hang=3)
    if comment := _comment(item, state):
        rows.text([("; ", "note"), (comment, "comment")], indent=1, hang=3)


def _comment(item: AnchorItem, state: EditState) -> str:
    """The edited answer's comment; if blind and from the gold, without names."""
    golds = state.source is AnswerSource.GOLD and state.comment == state.began.comment
    if item.blind and golds and item.gold is not None:
        return item.gold.answer.comment
    return state.comment


def _add_heads(rows: RowBuilder, item: AnchorItem, state: EditState) -> None:
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        words = substitution.one_line(item.passage.words(first.start, first.end))
        turn = item.passage.turn_of(first.head) + 1
        parts = [
            (f"{head_sign(number)} ", "head-sign"),
            (words, "head"),
            (f" turn {turn}", "note"),
        ]
        if more:
            parts.append((f" and {len(more)} more", "note"))
        rows.text(parts, indent=2, hang=4)


# --- what others said ----------------------------------------------------------------------


def _add_table(
    rows: RowBuilder,
    item: AnchorItem,
    found: Sequence[Lane],
    against: Answer | None,
    edited: Answer | None,
    *,
    headed: bool,
) -> bool:
    """Add all answers, the votes and the differences; whether seconds are included.

    headed: with a heading, where the pane's title does not have its words.
    """
    if headed:
        rows.heading("Answers", answers_note(item))
    if edited is not None and not any(
        _put(item, one.answer) == _put(item, edited) and one.answer.kind is edited.kind
        for one in found
    ):
        # It has a row of its own: what nobody else says is read, too.
        found = [*found, Lane(SAME, "same", "you", edited)]
    if not found:
        return False
    seconds = add_answers(rows, item, found, against)
    add_tally(rows, item)
    _add_differences(rows, item)
    return seconds


def answers_note(item: AnchorItem) -> str:
    """The pattern of the votes in words, or why there is none."""
    if not any(lane.vote is not None or lane.key == GOLD for lane in lanes(item)):
        return WITHHELD if item.withheld else "nobody yet"
    return _pattern(item)


def _pattern(item: AnchorItem) -> str:
    """The pattern of the votes and their strongest difference: "2-1 · which noun"."""
    if not item.pattern:
        return WITHHELD if item.withheld else ""
    if not item.blocking:
        return votes.pattern_words(item.pattern)
    words = item.passage.lemmas
    counted = [vote.answer for vote in item.votes if vote.counts]
    first = compare_all(counted, words).strongest or item.blocking[0]
    return f"{item.pattern} · {votes.BLOCKING_WORDS[first]}"


def _add_differences(rows: RowBuilder, item: AnchorItem) -> None:
    """Add all differences other than the strongest, which is in the heading."""
    more = _pattern(item)
    also = [
        votes.BLOCKING_WORDS[one]
        for one in item.blocking
        if not more.endswith(votes.BLOCKING_WORDS[one])
    ]
    if also:
        said: list[Part] = [("they also differ in: ", "note"), (", ".join(also), "differs")]
        rows.text(said, indent=1, hang=3)
    if item.notes:
        notes = ", ".join(votes.NOTE_WORDS[note] for note in item.notes)
        rows.text([(f"{notes} (never blocks)", "note")], indent=1, hang=3)


def _add_stale(rows: RowBuilder, item: AnchorItem, against: Answer | None) -> None:
    if not item.stale_votes:
        return
    rows.heading("Answers to the old span", "do not count")
    keys = {id(vote): f"{n} " for n, vote in enumerate(votes.adoptable(item), 1)}
    for vote in item.stale_votes:
        parts: list[Part] = [(keys.get(id(vote), ""), "key")]
        parts += [("× ", "note"), (f"{vote.annotator} ", "name")]
        parts.append((votes.describe(vote.answer, item.passage, places=True), "said"))
        parts.append(compared(vote.answer, against, item))
        rows.text(parts, indent=1, hang=3)


def _add_flags(rows: RowBuilder, item: AnchorItem, *, named: bool) -> None:
    flags = [flag for flag in item.flags if flag.span is None]
    if not flags:
        return
    rows.heading("Flags")
    for flag in flags:
        parts: list[Part] = [("! ", "asks"), (flag.name, "")]
        if named and flag.annotator:
            parts.append((f"  {flag.annotator} · {local_time(flag.flagged_at)}", "note"))
        rows.text(parts, indent=1, hang=3)


# --- history -------------------------------------------------------------------------------


def _add_history(rows: RowBuilder, history: Sequence[HistoryLine]) -> None:
    if not history:
        return
    rows.heading("History", "L shows all" if len(history) > LAST else "")
    for line in sorted(history, key=lambda line: line.at, reverse=True)[:LAST]:
        who = "" if line.annotator is None else f" {line.annotator}"
        what = f"{act_words(line)}: {object_words(line)}"
        parts: list[Part] = [(f"{local_time(line.at)}{who}  ", "note"), (what, "")]
        parts.append((f" {_plain(line.before)} → {_plain(line.after)}", "note"))
        rows.text(parts, indent=1, hang=3)


def _plain(value: str | None) -> str:
    """A logged JSON value, shortened."""
    if value is None:
        return "nothing"
    bare = value.strip('"')
    return bare if len(bare) <= 48 else f"{bare[:47]}…"
