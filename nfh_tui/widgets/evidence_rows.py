"""What is known of one item, as rows of plain text: the answer edited, all the others, the
model's, and earlier decisions.

Pure: no screen. An annotator is shown nothing of what others answered.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple, TypeVar

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
    Passage,
    Relation,
    compare,
    compare_all,
    same_head,
)
from nfh_tui.display_figures import bar
from nfh_tui.display_text import clip, glyphs, isolated, visible, width_of
from nfh_tui.editor.commands import fold, prompt, token_scores
from nfh_tui.editor.state import AnswerSource, EditState, answer, in_anchor, live, quoted
from nfh_tui.editor.votes import (
    BLOCKING_WORDS,
    KIND_WORDS,
    NOTE_WORDS,
    SHORT_BLOCKING,
    SHORT_KINDS,
    SORT_WORDS,
    adoptable,
    choice_answer,
    describe,
    lemmas,
    model_answer,
    only_by_noun,
    pattern_words,
    proposals,
    shown_reason,
)
from nfh_tui.services.guidelines import Guide
from nfh_tui.services.history import act_words, thing
from nfh_tui.widgets.passage_render import DIGITS, GOLD, Lane, Roles, Run, is_counted, lanes
from nfh_tui.widgets.substitution import (
    FilledSentence,
    PlacedNumber,
    beside,
    is_leading,
    phrase_start,
    put_in,
    reading,
    sense,
)

if TYPE_CHECKING:
    from nfh_db.similar_items import Precedent


def answer_words(item: AnchorItem, edit: EditState, reading: bool) -> tuple[str, str]:
    """The answer, and where it came from; while one only reads, the gold and its rule."""
    if reading:
        gold = item.gold
        if gold is None:
            return "no gold yet", ""
        return describe(gold.answer, item.passage), f"gold · {gold.rule}"
    made = answer(edit, item)
    said = describe(made, item.passage) if isinstance(made, Answer) else _unfinished(item, edit)
    source = "" if edit.source is AnswerSource.EMPTY else edit.source.value
    why = shown_reason(edit.reason, item, edit.adopted)
    notes = [source, why, "changed" if edit.changed else ""]
    return said, " · ".join(filter(None, notes))


def _unfinished(item: AnchorItem, edit: EditState) -> str:
    """What there is of an answer that cannot be saved yet, and what it lacks."""
    if edit.kind is None:
        return "nothing chosen yet"
    heads = [
        " ".join(item.passage.words(mentions[0].start, mentions[0].end).split())
        for mentions in edit.heads
    ]
    lacks = "AND or OR?" if len(heads) > 1 else "which noun?" if not heads else "span growing"
    return f"{KIND_WORDS[edit.kind]}: {', '.join([*heads, lacks])}"


# Plain text in rows of a given width: headings, wrapped paragraphs, and bars.
#
# Pure: no screen. Whatever a corpus holds is drawn as text.

T = TypeVar("T")
Row = tuple[Run, ...]
Part = tuple[str, str]
"""A text and the role it is drawn in, "" for none."""


_BREAKS = re.compile("[ \n]+")
"""Where a row may end; other blanks are drawn as they are, a no-break space holds words."""

MOST_BAR = 20
"""Cells of the longest bar."""

FIGURE = 8
"""Cells for the figure of a bar: a score and the number of a turn."""

LEAST = 16
"""Cells that rows may always take: a code such as ⟨U+10FFFF⟩ fits behind any indent."""


class _Word(NamedTuple):
    text: str
    width: int
    roles: Roles
    glued: bool


class RowBuilder:
    """Collects rows of at most `width` cells, or LEAST of them where it is less."""

    def __init__(self, width: int) -> None:
        self.width = max(LEAST, width)
        self.made: list[Row] = []

    def blank(self) -> None:
        """An empty row, but never two, and none at the top."""
        if self.made and self.made[-1]:
            self.made.append(())

    def heading(self, title: str, note: str = "") -> None:
        """A title on the left with a note on the right, under the title if it is too long."""
        self.blank()
        title = clip(title, self.width)
        room = self.width - width_of(title) - 2
        fits = width_of(visible(note)) <= room
        row = [Run(title, ("title",))]
        if note and fits:
            shown = visible(note)
            gap = self.width - width_of(title) - width_of(shown)
            row += [Run(" " * gap, ()), Run(isolated(shown), ("note",))]
        self.made.append(tuple(row))
        if note and not fits:
            self.text([(note, "note")], indent=1)

    def text(self, parts: Iterable[Part], indent: int = 0, hang: int | None = None) -> None:
        """A paragraph: its first row `indent` cells in, the others `hang`.

        What is written without a blank between stays together where a row can hold it.
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
            row.append(Run(isolated(word.text), word.roles))
            at, started = at + space + word.width, True
        if started:
            self.made.append(tuple(row))

    def cells(self, cells: Sequence[tuple[Part, int]], indent: int = 1) -> None:
        """One row of a table: each text in so many cells, one free cell between two.

        A column of no cells is left out with the gap before it; blanks at the end, too.
        """
        row: list[Run] = []
        at = indent
        due = indent
        for (text, role), width in cells:
            if width <= 0:
                continue
            shown = clip(text, min(width, self.width - at))
            if shown:
                row += [Run(" " * due, ())] if due else []
                row.append(Run(isolated(shown), _roles(role)))
                due = 0
            due += width - width_of(shown) + 1
            at += width + 1
        self.made.append(tuple(row))

    def bar(self, name: Part, share: float, figure: str, name_width: int) -> None:
        """A name, a bar as long as its share of what is left, and a figure if it fits."""
        fits = self.width - name_width >= FIGURE + LEAST // 2
        room = min(self.width - name_width - 2 - (FIGURE + 1 if fits else 0), MOST_BAR)
        shown, drawn = clip(name[0], name_width), bar(share, room)
        row = [Run(" ", ()), Run(isolated(shown), _roles(name[1]))]
        row.append(Run(" " * (name_width - width_of(shown) + 1), ()))
        row.append(Run(drawn, ("bar",)))
        if fits:
            row.append(Run(" " * (room - width_of(drawn) + 1), ()))
            row.append(Run(clip(figure, FIGURE), ("note",)))
        self.made.append(tuple(row))


def _ahead(words: Iterable[_Word]) -> Iterator[tuple[_Word, int]]:
    """Each word with the cells of those glued behind it."""
    made = list(words)
    behind = 0
    counted: list[tuple[_Word, int]] = []
    for word in reversed(made):
        counted.append((word, behind))
        behind = behind + word.width if word.glued else 0
    return reversed(counted)


def _roles(role: str) -> Roles:
    return (role,) if role else ()


def _words(parts: Iterable[Part], most: int) -> Iterator[_Word]:
    """Words that stay whole, too long ones broken; glued to the one before if so written."""
    open_end = False
    for text, role in parts:
        roles = _roles(role)
        for number, chunk in enumerate(filter(None, _BREAKS.split(text))):
            glued = number == 0 and open_end and not _BREAKS.match(text)
            for shown, width, first in _broken(chunk, max(1, most)):
                yield _Word(shown, width, roles, glued or not first)
        if text:
            open_end = text[-1] not in " \n"


def folded(text: str, width: int) -> list[str]:
    """A text in lines of at most `width` cells, broken at blanks where it can be."""
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
    """Cells of the longest part of a text that is not broken at blanks."""
    return max((width_of(visible(word)) for word in _BREAKS.split(text)), default=0)


def _broken(chunk: str, most: int) -> Iterator[tuple[str, int, bool]]:
    kept: list[str] = []
    taken, first = 0, True
    for glyph, width in glyphs(chunk):
        if kept and taken + width > most:
            yield "".join(kept), taken, first
            kept, taken, first = [], 0, False
        kept.append(glyph)
        taken += width
    if kept:
        yield "".join(kept), taken, first


def best(scores: Iterable[tuple[T, float | None]], count: int) -> list[tuple[T, float]]:
    """The `count` highest scores with what they belong to, highest first; no gaps."""
    known = [(what, s) for what, s in scores if s is not None and not isnan(s)]
    return sorted(known, key=lambda pair: -pair[1])[:count]


MOST_PLACES = 8
MOST_NUMBERS = 6
MOST_SIGNS = 4
"""Signs before a place: the answer edited, and the first of those who marked it."""
STATE_SIGNS = {
    AnchorState.OPEN: "○",
    AnchorState.ANSWERED: "◐",
    AnchorState.DISAGREE: "≠",
    AnchorState.DECIDED: "✓",
    AnchorState.STALE: "↺",
}


# --- other spans for the anchor -----------------------------------------------------------


def add_proposals(rows: RowBuilder, item: AnchorItem, *, named: bool, key: str = "") -> None:
    """Say who proposes which span. named: False says it to the only one who does.

    key: what takes a span over, "" where nothing does.
    """
    for span, people in proposals(item).items():
        who, verb = "you", "propose"
        if named:
            names = [name for name in people if name]
            who = ", ".join(names) if names else f"{len(people)} of the annotators"
            verb = "proposes" if len(names) == 1 else "propose"
            if not names and len(people) == 1:
                who, verb = "somebody", "proposes"
        words = " ".join(item.passage.words(span.start, span.end).split())
        said: list[Part] = [
            ("▸ ", "asks"),
            (who, "name"),
            (f" {verb} the span ", "note"),
            (f"“{words}”", "said"),
        ]
        if key:
            said += [(" · ", "note"), (key, "key"), (" takes it", "note")]
        rows.text(said, indent=1, hang=3)


# --- number words beside the anchor --------------------------------------------------------


def add_beside(rows: RowBuilder, item: AnchorItem, span: Anchor | None = None) -> None:
    """Say which number words stand beside the anchor, and how they would be taken in.

    span: what the keys move in its place.
    """
    for left, key in ((True, "<"), (False, "+")):
        found = beside(item.passage, span or item.anchor, left=left)
        if found is None:
            continue
        said: list[Part] = [
            ("▸ ", "asks"),
            ("beside it ", "note"),
            (f"“{found.words}”", "said"),
        ]
        if found.whole and not _is_own(item, found.token):
            said += [(": part of the number? ", "asks"), (key, "key"), (" widens", "note")]
        rows.text(said, indent=1, hang=3)


def _is_own(item: AnchorItem, token: int) -> bool:
    """True if a number word is an item of its own."""
    return any(one.anchor.start <= token < one.anchor.end for one in item.siblings)


# --- the nouns offered ---------------------------------------------------------------------


def add_places(
    rows: RowBuilder, item: AnchorItem, lanes: Sequence[Lane], state: EditState | None
) -> None:
    """Every place of each noun that was answered, with its modifiers and what it seems to be.

    A place of the answer edited has the number of its head, × where it was taken away; others
    have the keys of those who marked them; a place that nobody marked is offered by `*`.
    """
    answers = [lane.answer for lane in lanes]
    nouns = _noun_tokens(item, state, answers)
    if not nouns:
        return
    tokens = [token for noun in nouns for token in noun]
    rows.heading("Nouns", "* offers their places" if len(tokens) > len(nouns) else "")
    for token in tokens[:MOST_PLACES]:
        rows.text(_place(item, token, lanes, state), indent=1, hang=6)
    if len(tokens) > MOST_PLACES:
        rows.text([(f"and {len(tokens) - MOST_PLACES} more places", "note")], indent=6)


def _noun_tokens(
    item: AnchorItem, state: EditState | None, answers: Iterable[Answer]
) -> list[tuple[int, ...]]:
    """Tokens of each noun: those of the answer edited first, none twice."""
    heads = list(state.heads) if state is not None else []
    heads += [head.mentions for answer in answers for head in answer.heads]
    if not heads:
        return []
    places = _places_by_lemma(item.passage)
    taken: set[int] = set()
    found = []
    for mentions in heads:
        words = {fold(item.passage.tokens[m.head].lemma) for m in mentions}
        same = sorted(place for word in words for place in places.get(word, ()))
        tokens = tuple(t for t in same if t not in taken and not in_anchor(item, t))
        taken.update(tokens)
        if tokens:
            found.append(tokens)
    return found


def _places_by_lemma(passage: Passage) -> dict[str, list[int]]:
    """Where each lemma stands; each is folded once, since passages are long."""
    spelled: dict[str, list[int]] = {}
    for place, token in enumerate(passage.tokens):
        spelled.setdefault(token.lemma, []).append(place)
    folded: dict[str, list[int]] = {}
    for lemma, places in spelled.items():
        folded.setdefault(fold(lemma), []).extend(places)
    return folded


def _place(
    item: AnchorItem, token: int, lanes: Sequence[Lane], state: EditState | None
) -> list[Part]:
    passage = item.passage
    signs = [_own_sign(token, state), *_lane_signs(token, lanes)]
    shown = [sign for sign in signs if sign[0]][:MOST_SIGNS]
    gap = "\u00a0" * max(0, MOST_SIGNS - sum(len(text) for text, _ in shown))
    start = phrase_start(passage, token)
    before = " ".join(passage.words(start, token).split())
    word = " ".join(passage.word(token).split())
    mine = bool(signs[0][0]) and signs[0][0] != "×"
    what = sense(item, token)
    parts: list[Part] = [
        *shown,
        (f"{gap}\u00a0", ""),
        (f"t{passage.turn_of(token) + 1} ", "note"),
    ]
    parts += [(f"{before} ", "")] if before else []
    parts.append((word, "head" if mine else "noun"))
    if what:
        parts.append((f" · {what}", "asks" if what.endswith("?") else "note"))
    return parts


def _own_sign(token: int, state: EditState | None) -> Part:
    for number, mentions in enumerate(state.heads if state is not None else (), 1):
        for mention in mentions:
            if mention.head == token:
                digit = DIGITS[number] if number < len(DIGITS) else "₊"
                removed = mention.origin is Origin.REMOVED
                return ("×" if removed else digit, "head-sign")
    return "", ""


def _lane_signs(token: int, lanes: Sequence[Lane]) -> list[Part]:
    return [(lane.key, lane.role) for lane in lanes if token in lane.answer.head_tokens()]


# --- the other numbers ---------------------------------------------------------------------


def add_numbers(rows: RowBuilder, item: AnchorItem, *, nouns: bool = True) -> None:
    """The passage's other anchors, the nearest ones if there are many, with what they are.

    nouns: with what is missing there by the gold.
    """
    others = [one for one in item.siblings if one.anchor != item.anchor]
    if not others:
        return
    rows.heading("Other numbers here", f"{len(others)}")
    near = sorted(others, key=lambda one: abs(one.anchor.start - item.anchor.start))
    for one in sorted(near[:MOST_NUMBERS], key=lambda one: one.anchor.start):
        said = _number(item, one)
        if nouns and one.nouns:
            missing = ", ".join(_noun(item.passage, noun) for noun in one.nouns)
            said += [(" ", ""), (f"[{missing}]", "put")]
        rows.text(said, indent=1, hang=3)


def _noun(passage: Passage, noun: int | str) -> str:
    return " ".join((passage.word(noun) if isinstance(noun, int) else noun).split())


def _number(item: AnchorItem, one: Sibling) -> list[Part]:
    passage = item.passage
    words = " ".join(passage.words(one.anchor.start, one.anchor.end).split())
    decided = one.state is AnchorState.DECIDED
    kind = KIND_WORDS[Kind(one.kind)] if one.kind is not None else one.state.value
    return [
        (f"{STATE_SIGNS[one.state]} ", "same" if decided else "note"),
        (words, "kind"),
        (f" t{passage.turn_of(one.anchor.start) + 1}  ", "note"),
        (kind, "said" if decided else "note"),
    ]


MODEL_HIDDEN = "hidden until you have answered"
MOST_BARS = 6
"""Words shown with their scores."""

LEAST_SHARE = 0.01
"""Of the best score; what has less is not listed."""

LEAST_DOUBT = 0.5
"""Gold that is doubted less is held to be right."""

NO_BREAK = "\u00a0"

BY_NOUN, MENTION = "≈", "mention"
"""The same noun, which is no difference, but no mention in common; in what that lies."""

NAME_WIDTH = 12
"""Most cells for the name of a bar."""


def add_model(
    rows: RowBuilder, item: AnchorItem, against: Answer | None, *, listed: bool
) -> None:
    """What the active model says of the item; a line even when it has said nothing.

    listed: its choice stands among the answers already, and only its doubt is told.
    """
    prediction = item.prediction
    if prediction is None:
        rows.heading("Model", MODEL_HIDDEN if item.model_hidden else "no answer yet")
        return
    rows.heading("Model", prediction.model)
    given = model_answer(item)
    if given is None or not listed:
        _add_choice(rows, item, given, against)
    doubt = _doubt(prediction, item)
    if doubt:
        rows.text([(doubt, "note")], indent=1 if listed else 3, hang=3)
    _add_bars(rows, item, prediction)


def add_doubt(rows: RowBuilder, item: AnchorItem) -> None:
    """One line where a model that had not seen the gold said what it thinks of it."""
    said = item.doubted
    if said is None or item.gold is None or 1 - said.likely <= LEAST_DOUBT:
        return
    who = " ".join(filter(None, (said.recipe, f"of job {said.job}")))
    words = (
        f"gold doubted {1 - said.likely:.2f}: {who}, which had not seen it, says "
        f"{_choice_words(said.choice, item)}"
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
        parts.append((describe(given, item.passage, places=True), "said"))
        parts.append(standing(given, against, item))
    rows.text(parts, indent=1, hang=3)


def standing(given: Answer, against: Answer | None, item: AnchorItem) -> Part:
    """How an answer stands to the one being edited: a sign, and what differs."""
    if against is None or given.kind is Kind.NFH:
        return "", ""
    lemmas = tuple(token.lemma for token in item.passage.tokens)
    blocking = compare(against, given, lemmas).blocking
    if blocking is None and only_by_noun(given, against):
        return f"  {BY_NOUN}{NO_BREAK}{MENTION}", "asks"
    if blocking is None:
        return "  =", "same"
    words = f"≠ {BLOCKING_WORDS[blocking]}"
    return f"  {words.replace(' ', NO_BREAK)}", "differs"


def _doubt(prediction: Prediction, item: AnchorItem) -> str:
    """The first choice and the second, each with its score; by how much it won, if those are
    not known."""
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
    """What a choice scored; None where that is not known."""
    kinds = [kind.value for kind in IMPLICIT_KINDS]
    if choice in kinds:
        place = kinds.index(choice)
    elif choice.isdecimal():
        place = len(kinds) + int(choice)
    else:
        return None
    return prediction.scores[place] if place < len(prediction.scores) else None


def _shown(score: float | None, beside: Sequence[float | None]) -> str:
    """A score in hundredths, where all of them are shares."""
    if score is None or not isfinite(score):
        return ""
    shares = all(one is None or 0 <= one <= 1 for one in beside)
    return (
        f"{NO_BREAK}{score:.0%}".replace("%", f"{NO_BREAK}%") if shares else f" {figure(score)}"
    )


def _choice_words(choice: str, item: AnchorItem) -> str:
    given = choice_answer(choice, item)
    if given is None:
        return choice
    if given.kind is not Kind.REFERENCE:
        return KIND_WORDS[given.kind]
    return _token_word(item, given.heads[0].mentions[0].head)


def _token_word(item: AnchorItem, token: int) -> str:
    return " ".join(item.passage.word(token).split())


def figure(score: float) -> str:
    """A score in at most a few digits."""
    return f"{score:.2f}" if abs(score) < 100 else f"{score:.3g}"


def _add_bars(rows: RowBuilder, item: AnchorItem, prediction: Prediction) -> None:
    """The best words, then the classes if they are scored, on one scale.

    What would hardly have a bar is not listed: to know that it is little is enough.
    """
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
            name = (KIND_WORDS[kind], "kind")
            rows.bar(name, _share(score, most), figure(score), name_width)
    if few and most > 0:
        rows.text([(f"all others under {most * LEAST_SHARE:.1g}", "note")], indent=1)


def _share(score: float, most: float) -> float:
    return score / most if 0 < most < inf else 0.0


# All answers to an item in one table, so that they are compared at a glance.
#
# Key, name, kind, nouns, turn, and how each stands to the answer edited. The columns take what
# room there is: first the words grow short, then seconds go below, then names; nouns are
# broken over lines at blanks, never cut; where not even a word has room, they go below.

SAME = "="
OTHER = "≠"

OF_KIND = frozenset({Blocking.DAMAGE, Blocking.SCOPE, Blocking.ANSWERABILITY, Blocking.CLASS})
"""Differences that lie in the kind; of the others only ROUTE lies in kind and noun."""

NOUNS_LEAST = 6
NOUNS_MOST = 24
NAME_LEAST = 5


@dataclass(frozen=True, slots=True)
class _Form:
    """How much is said: long words of kinds and differences, seconds, most cells of a name.

    Without a name there are no turns either.
    """

    kinds: bool
    words: int
    seconds: bool
    name: int


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
"""From the roomiest to the narrowest; the first that fits is taken."""


def add_answers(
    rows: RowBuilder, item: AnchorItem, lanes: Sequence[Lane], against: Answer | None
) -> bool:
    """The table. against: the answer that the others are held against, None for none.

    True if it tells the seconds, too.
    """
    words = lemmas(item)
    differs = [blocking_to(lane.answer, against, words) for lane in lanes]
    longest = max(longest_word(nouns_of(lane.answer, item)) for lane in lanes)
    for form in FORMS:
        cells = [
            _cells(lane, item, form, against, how)
            for lane, how in zip(lanes, differs, strict=True)
        ]
        widths = [
            max(width_of(visible(row[column][0])) for row in cells) for column in range(7)
        ]
        taken = 1 + sum(width + 1 for at, width in enumerate(widths) if width and at != NOUNS)
        room = rows.width - taken
        if room >= max(longest, min(widths[NOUNS], NOUNS_MOST)):
            break
        if form in FORMS[-2:] and room >= max(longest, NOUNS_LEAST):
            break
    below = room < longest
    if below:
        widths[NOUNS] = 0
    elif widths[NOUNS]:
        lines = [folded(row[NOUNS][0], max(1, min(widths[NOUNS], room))) for row in cells]
        widths[NOUNS] = max(1, *(width_of(line) for some in lines for line in some))
    for row in cells:
        at = widths[-1] - width_of(row[-1][0])
        _add_row(rows, [*row[:-1], (" " * at + row[-1][0], row[-1][1])], widths)
        if below:
            rows.text([row[NOUNS]], indent=3)
    if any(row[STANDING][0] == BY_NOUN for row in cells):
        rows.text([(f"{BY_NOUN} same noun, another {MENTION}", "asks")], indent=1, hang=3)
    return form.seconds


NOUNS, STANDING = 3, 5
"""The columns of the nouns, and of how an answer stands to the one edited."""


def _add_row(rows: RowBuilder, row: Sequence[Part], widths: Sequence[int]) -> None:
    first, *more = folded(row[NOUNS][0], widths[NOUNS]) if widths[NOUNS] else [""]
    told = list(row)
    told[NOUNS] = (first, row[NOUNS][1])
    rows.cells(tuple(zip(told, widths, strict=True)))
    left = 1 + sum(width + 1 for width in widths[:NOUNS] if width)
    for line in more:
        rows.cells([((line, row[NOUNS][1]), widths[NOUNS])], indent=left)


def _cells(
    lane: Lane, item: AnchorItem, form: _Form, against: Answer | None, how: Blocking | None
) -> tuple[Part, ...]:
    """Key, name, kind, nouns, turns, standing and seconds, as wide as they come."""
    names = KIND_WORDS if form.kinds else SHORT_KINDS
    kind_differs = how in OF_KIND or how is Blocking.ROUTE
    noun_differs = how is not None and how not in OF_KIND
    seconds = lane.vote.seconds if lane.vote is not None and form.seconds else None
    return (
        (lane.key, lane.role),
        (clip(lane.name, form.name), lane.role if is_counted(lane) else "note"),
        (names[lane.answer.kind], "differs" if kind_differs else "said"),
        (nouns_of(lane.answer, item), "differs" if noun_differs else "said"),
        (turns_of(lane.answer, item) if form.name else "", "note"),
        _answer_standing(lane.answer, against, how, form.words),
        ("" if seconds is None else f"{seconds:.0f}s", "note"),
    )


def _answer_standing(
    given: Answer, against: Answer | None, how: Blocking | None, words: int
) -> Part:
    if against is None or given.kind is Kind.NFH:
        return "", ""
    if how is None and only_by_noun(given, against):
        return f"{BY_NOUN} {MENTION}" if words else BY_NOUN, "asks"
    if how is None:
        return SAME, "same"
    said = (SHORT_BLOCKING if words == 1 else BLOCKING_WORDS)[how] if words else ""
    return f"{OTHER} {said}".rstrip(), "differs"


def blocking_to(given: Answer, against: Answer | None, words: Sequence[str]) -> Blocking | None:
    """How an answer differs from the one edited; None where it does not, or there is none."""
    if against is None or given.kind is Kind.NFH:
        return None
    return compare(against, given, words).blocking


def nouns_of(answer: Answer, item: AnchorItem) -> str:
    """The nouns of an answer as they stand, or the sort and noun of a class."""
    if answer.heads:
        joint = {Relation.AND: " and ", Relation.OR: " or "}.get(
            answer.relation or Relation.UNSTATED, ", "
        )
        return joint.join(_head(item, answer, number) for number in range(len(answer.heads)))
    said = [
        answer.noun or "",
        SORT_WORDS[answer.sort] if answer.sort and not answer.noun else "",
    ]
    return " ".join(filter(None, said))


def _head(item: AnchorItem, answer: Answer, number: int) -> str:
    first, *more = live(answer.heads[number].mentions)
    words = " ".join(item.passage.words(first.start, first.end).split())
    return f"{words} +{len(more)}" if more else words


def turns_of(answer: Answer, item: AnchorItem) -> str:
    """Where the marked mentions stand: "t1", "t1,3"."""
    turns = {item.passage.turn_of(live(head.mentions)[0].head) + 1 for head in answer.heads}
    return f"t{','.join(map(str, sorted(turns)))}" if turns else ""


# Identification's part of the evidence: is the noun missing, and by which rule or weights?
#
# The rules' sentences come from their registry, which loads no framework.

MOST_WEIGHTS = 4
"""Features shown with their weights; one line more tells what all others come to."""


def add_identification(
    rows: RowBuilder, item: AnchorItem, draft: Answer | None, gold: Answer | None
) -> None:
    """What the active identification model says of the item; nothing where it has not.

    draft: the answer being edited. gold: what it is held against where there is no such
    answer, None where that is not to be seen.
    """
    said = item.identification
    if said is None:
        return
    rows.heading("Identification", said.model)
    parts: list[Part] = [("NFH" if said.nfh else KIND_WORDS[Kind.NOT_NFH], "said")]
    if said.score is not None:
        parts.append((f" · score{NO_BREAK}{said.score:+.2f}", ""))
    elif said.rule:
        parts.append((f" · rule {said.rule}", ""))
    parts.append(_decision_standing(said, draft, gold))
    rows.text(parts, indent=1, hang=3)
    if said.score is None:
        sentence = rule_sentence(said.rule)
        if sentence:
            rows.text([(sentence, "note")], indent=3, hang=3)
    for figure, what in _summands(said):
        rows.text([(f"{figure:+.2f} ", "bar"), (what, "note")], indent=3, hang=5)


def _summands(said: Identified) -> list[tuple[float, str]]:
    """What the score is made of: the strongest features, then all the rest as one.

    In hundredths, as they are shown, so that what is shown adds up to the score shown.
    """
    shown = [(round(weight, 2), name) for name, weight in said.weights[:MOST_WEIGHTS]]
    if said.score is None or not shown:
        return shown
    rest = round(said.score, 2) - sum(weight for weight, _ in shown)
    return [*shown, (round(rest, 2), "all other features and the bias")]


def _decision_standing(said: Identified, draft: Answer | None, gold: Answer | None) -> Part:
    """How the decision stands to the draft, else to gold: a sign, and what differs."""
    against = draft if draft is not None else gold
    wanted = None if against is None else against.kind.identification
    if wanted is None:
        return "", ""
    if draft is not None:
        words = "=" if wanted is said.nfh else f"≠ {BLOCKING_WORDS[Blocking.SCOPE]}"
    else:
        words = "= gold" if wanted is said.nfh else "≠ gold"
    same = wanted is said.nfh
    return f"  {words.replace(' ', NO_BREAK)}", "same" if same else "differs"


def rule_sentence(name: str) -> str:
    """The sentence of a rule in its registry; "" for one that is none (any more)."""
    from nfh_models.identification.rules import rule_named

    try:
        return rule_named(name).sentence
    except KeyError:
        return ""


NARROW = 48
"""In a pane that is narrower a sentence may take a line more."""

MOST_READING_KEYS = 6
"""Cells for the signs before a sentence; those of more answers go on a line of their own."""

ROOM = 96
"""Cells of a sentence, at most: more is in the passage."""

STEP = 3


def add_readings(
    rows: RowBuilder, item: AnchorItem, lanes: Sequence[Lane], edited: Answer | None
) -> None:
    """Each reading once, that of the answer edited first, marked as what is the same."""
    said: list[tuple[Part, Answer]] = []
    if edited is not None:
        said.append((("=", "same"), edited))
    said += [((lane.key, lane.role), lane.answer) for lane in lanes]
    readings: dict[tuple[str, bool], tuple[Answer, list[Part]]] = {}
    for sign, read in said:
        if read.kind not in {Kind.BROKEN, Kind.NFH}:
            key = (put_in(item, read), is_leading(read))
            readings.setdefault(key, (read, []))[1].append(sign)
    if not readings:
        return
    rows.heading("Read again")
    width = max(_width(signs) for _, signs in readings.values())
    hang = 2 + min(width, MOST_READING_KEYS)
    for read, signs in readings.values():
        _add_reading(rows, item, read, signs, hang)


def _width(signs: Sequence[Part]) -> int:
    return sum(width_of(text) for text, _ in signs)


def _add_reading(
    rows: RowBuilder, item: AnchorItem, answer: Answer, signs: Sequence[Part], hang: int
) -> None:
    gap = "\u00a0" * (hang - 1 - _width(signs))
    lines = 3 if rows.width < NARROW else 2
    made = fitted(item, answer, rows.width, hang, lines)
    if made is None:
        return
    sentence = sentence_parts(made)
    if gap:
        rows.text([*signs, (gap, ""), *sentence], indent=1, hang=hang)
    else:
        rows.text(signs, indent=1)
        rows.text(sentence, indent=hang)


def fitted(
    item: PlacedNumber,
    answer: Answer,
    width: int,
    hang: int,
    lines: int,
    more: Sequence[Part] = (),
) -> FilledSentence | None:
    """The longest reading that takes at most so many lines of a pane, each `hang` cells in.

    more: what stands behind it. Where even the shortest takes more lines, the shortest.
    """
    room = min(ROOM, max(0, width - hang) * lines)
    while True:
        made = reading(item, answer, room)
        if made is None or room <= 0:
            return made
        trial = RowBuilder(width)
        trial.text([*sentence_parts(made), *more], indent=hang)
        if len(trial.made) <= lines:
            return made
        room -= STEP


def sentence_parts(made: FilledSentence) -> list[Part]:
    """A reading with its number and what is put in told apart."""
    number: list[Part] = [(made.number, "number")]
    if made.between:
        number.append((f" {made.between}", ""))
    put: list[Part] = [(f"[{made.put}]", "put")] if made.put else []
    spaced: list[Part] = [(" ", "")] if put else []
    middle = [*put, *spaced, *number] if made.leading else [*number, *spaced, *put]
    before: list[Part] = [(f"{made.before}{made.gap}", "")] if made.before else []
    return [*before, *middle, (made.after, "")]


# Earlier decisions that bear on an item: how many are like the answer, and the nearest ones.
#
# Who decided them is not told: what was decided is what counts here.

MOST_LINES = 4
"""Lines for the count and the nearest decisions; P shows them all."""

LINES = 2
"""Lines that one of them may take."""


def add_precedents(
    rows: RowBuilder, precedents: "Sequence[Precedent]", against: Answer | None
) -> None:
    """The count and the nearest decisions. against: the answer edited, else the gold.

    "Decided like your draft" is of the same kind: nouns of other passages do not compare.
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
    """One decision: its sentence read with its answer, and the kind of it."""
    alike = against is not None and one.answer.kind is against.kind
    sign: Part = ("=", "same") if alike else ("·", "note")
    said = " · ".join([KIND_WORDS[one.answer.kind], *([one.tag] if one.tag else [])])
    note: Part = (f" {said}", "note")
    made = fitted(one, one.answer, width, 3, lines, [note]) if lines > 0 else None
    return [sign, note] if made is None else [sign, (" ", ""), *sentence_parts(made), note]


def _counted(precedents: "Sequence[Precedent]", against: Answer | None) -> list[Part]:
    kinds = Counter(one.answer.kind for one in precedents)
    if against is None:
        said = ", ".join(f"{times} {KIND_WORDS[kind]}" for kind, times in kinds.most_common())
        return [(said, "note")]
    like = kinds[against.kind]
    return [
        (f"{like} decided like your draft", "kind"),
        (f", {len(precedents) - like} otherwise", "note"),
    ]


def bearing(item: AnchorItem, state: EditState) -> tuple[frozenset[str], str | None]:
    """What precedents are looked for by: nouns of the answer edited, else of gold; its rule."""
    tokens = item.passage.tokens
    marked = [mention for mentions in state.heads for mention in live(mentions)]
    noun = state.noun
    if not marked and not noun and item.gold is not None:
        marked = [m for head in item.gold.answer.heads for m in head.live]
        noun = item.gold.answer.noun
    nouns = {tokens[mention.head].lemma for mention in marked}
    return frozenset(nouns | ({noun} if noun else set())), state.tag


OLDER = "the rule read otherwise then"


def add_remarks(
    rows: RowBuilder,
    item: AnchorItem,
    lanes: Sequence[Lane],
    rules: Guide,
    *,
    seconds: bool,
    blind: bool,
    told: Collection[str],
) -> None:
    """What is to be said of each answer, by its key; nothing where there is nothing.

    seconds: the table has told them. told: what stands above already, in the same words.
    """
    body = RowBuilder(rows.width)
    if not seconds:
        timed = [
            (lane, f"{time:.0f}") for lane in lanes if (time := _seconds(lane)) is not None
        ]
        body.text(_figures("", timed, "s"), indent=1, hang=3)
    if not blind:
        known = [(lane, right) for lane in lanes if (right := _right(lane, item))]
        body.text(_figures("right in ", known, "%"), indent=1, hang=3)
    for lane in lanes:
        key: Part = (f"{lane.key} ", lane.role)
        facts = [fact for fact in _facts(lane, item, rules, blind=blind) if fact not in told]
        if facts:
            body.text([key, (" · ".join(facts), "note")], indent=1, hang=3)
        for comment in _comments(lane):
            if comment not in told:
                body.text([key, ("; ", "note"), (comment, "comment")], indent=1, hang=5)
    if body.made:
        rows.heading("Remarks")
        rows.made += body.made


def _figures(title: str, figures: Sequence[tuple[Lane, str]], unit: str) -> list[Part]:
    """One figure a lane, each in one piece: "1: 12 s · 2: 9 s"."""
    parts: list[Part] = [(title, "note")] if figures and title else []
    for number, (lane, figure) in enumerate(figures):
        parts += [(" · ", "note")] if number else []
        parts.append((f"{lane.key}:\u00a0{figure}\u00a0{unit}", lane.role))
    return parts


def _seconds(lane: Lane) -> float | None:
    return None if lane.vote is None else lane.vote.seconds


def _right(lane: Lane, item: AnchorItem) -> str:
    """In how many of a hundred answers this annotator was found right; "" if not known."""
    vote = lane.vote
    if vote is None or not vote.counts:
        return ""
    known = [one for one in item.competences if one.annotator == vote.annotator]
    return f"{known[0].accuracy * 100:.0f}" if known else ""


def _comments(lane: Lane) -> list[str]:
    own = [lane.answer.comment, "" if lane.vote is None else lane.vote.answer.comment]
    return list(dict.fromkeys(filter(None, own)))


def _facts(lane: Lane, item: AnchorItem, rules: Guide, *, blind: bool) -> list[str]:
    facts = []
    if lane.key == GOLD and item.gold is not None:
        facts += _gold_facts(item.gold, blind=blind)
    if lane.vote is not None:
        if not is_counted(lane):
            facts.append(f"a {lane.vote.type}: not counted")
        facts += _vote_facts(lane.vote, rules)
    return [fact for fact in facts if fact]


def _gold_facts(gold: Gold, *, blind: bool) -> list[str]:
    by = "" if blind or not gold.adjudicator else gold.adjudicator
    rule = "expert" if gold.rule is Rule.EXPERT else f"{gold.rule}"
    return [rule, by, when(gold.decided_at or "")]


def _vote_facts(vote: Vote, rules: Guide) -> list[str]:
    return [
        "saw the model" if vote.saw_model else "",
        "saw answers" if vote.saw_votes and vote.role is Role.ANNOTATOR else "",
        rules.words(vote.rule_tag) if vote.rule_tag else "",
        OLDER if rules.is_outdated(vote.rule_tag, vote.guideline_version) else "",
    ]


def when(at: str) -> str:
    """A UTC time of the store in the time of this place, to the minute; as it is if odd."""
    try:
        parsed = datetime.fromisoformat(at)
    except ValueError:
        return at
    return parsed.astimezone().strftime("%Y-%m-%d %H:%M")


COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()
"""Small numbers in words."""


@dataclass(slots=True)
class _Noun:
    """Heads that are one noun by what somebody said, and who named it."""

    heads: list[Head] = field(default_factory=list)
    voters: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class NounVotes:
    """How many of those who answered named this. mentions: different ones that they marked,
    0 for what is no noun of the passage."""

    votes: int
    of: int
    what: str
    mentions: int = 0

    @property
    def words(self) -> str:
        """As one reads it."""
        several = f", {_count(self.mentions)} mentions" if self.mentions > 1 else ""
        return f"{self.what} by {self.votes} of {self.of}{several}"


def tally(item: AnchorItem) -> tuple[NounVotes, ...]:
    """What people's answers come to: nouns one by one, then kinds; the most voted first."""
    votes = [v for v in item.votes if v.counts and v.answer.kind is not Kind.NFH]
    of = len(votes)
    nouns = [
        NounVotes(len(noun.voters), of, _noun_word(item, noun), len(_marked(noun)))
        for noun in _joined_nouns(votes, item)
    ]
    kinds = [vote.answer.kind for vote in votes if vote.answer.kind is not Kind.REFERENCE]
    said = [NounVotes(kinds.count(kind), of, KIND_WORDS[kind]) for kind in dict.fromkeys(kinds)]
    return tuple(sorted([*nouns, *said], key=lambda one: -one.votes))


def _joined_nouns(votes: Sequence[Vote], item: AnchorItem) -> list[_Noun]:
    """Heads joined into nouns: one that is the same as two others makes all three one."""
    words = lemmas(item)
    found: list[_Noun] = []
    for number, vote in enumerate(votes):
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
    """Where people put their marks; what the tool added is not counted."""
    mentions = [m for head in noun.heads for m in live(head.mentions)]
    marked = {m.head for m in mentions if m.origin is Origin.MARKED}
    return marked or {m.head for m in mentions}


def _noun_word(item: AnchorItem, noun: _Noun) -> str:
    first = live(noun.heads[0].mentions)[0]
    return " ".join(item.passage.word(first.head).split())


def _count(number: int) -> str:
    return COUNTS[number] if number < len(COUNTS) else f"{number}"


def add_tally(rows: RowBuilder, item: AnchorItem) -> None:
    """The tally in a paragraph, where two people answered or more."""
    found = tally(item)
    if not found or found[0].of < 2:
        return
    parts: list[Part] = [("named: ", "note")]
    for place, one in enumerate(found):
        parts += [("; ", "note")] if place else []
        parts += [(one.what, "kind"), (_unbroken(f" by {one.votes} of {one.of}"), "note")]
        if one.mentions > 1:
            parts.append((f", {_count(one.mentions)} mentions", "note"))
    rows.text(parts, indent=1, hang=3)


def _unbroken(text: str) -> str:
    """A count is not parted at the end of a line: "by 2 of 3" stays together."""
    return text.replace("by ", "by\u00a0").replace(" of ", "\u00a0of\u00a0")


HIDDEN = "Others' answers and the gold stay hidden while you annotate."
WITHHELD = "hidden until you decide"
MOST_KEYS = 9
"""Answers that a digit adopts."""

LAST = 8
"""Lines of history shown, the newest first."""

SOURCE_WORDS = {
    AnswerSource.DRAFT: "draft",
    AnswerSource.MINE: "mine",
    AnswerSource.GOLD: "gold",
    AnswerSource.PROPOSAL: "proposal",
    AnswerSource.ADOPTED: "adopted",
    AnswerSource.EMPTY: "",
}


def evidence(
    item: AnchorItem,
    state: EditState | None,
    width: int,
    *,
    blind: bool = False,
    history: Sequence[HistoryLine] = (),
    rules: Guide | None = None,
    precedents: "Sequence[Precedent]" = (),
    brief: bool = False,
) -> tuple[Row, ...]:
    """All rows for an item. state: the answer edited, None while nothing is.

    blind: annotators are letters, and nobody else is named. rules: the guidelines that hold,
    None where they are not known (yet). precedents: earlier decisions, the best first.
    brief: the answer edited stands elsewhere, and room is short: no row is empty.
    """
    rows = RowBuilder(width)
    guide = rules or Guide()
    mine = answer(state, item) if state is not None else ""
    if state is not None and not brief:
        _add_edited(rows, item, state, mine, guide, blind=blind)
    edited = mine if isinstance(mine, Answer) else _provisional(state, item)
    if state is None or _judges(state):
        _add_judged(rows, item, state, edited, guide, precedents, blind=blind)
        if not blind:
            _add_history(rows, history)
    else:
        _add_own(rows, item, state, edited)
    return tuple(row for row in rows.made if row) if brief else tuple(rows.made)


def _provisional(state: EditState | None, item: AnchorItem) -> Answer | None:
    """The answer without the relation that it still lacks, to compare by its heads."""
    if state is None or len(state.heads) < 2:
        return None
    made = answer(replace(state, span=None, relation=Relation.AND), item)
    unstated = state.relation not in {Relation.AND, Relation.OR}
    if isinstance(made, str) or not unstated:
        return None if isinstance(made, str) else made
    return replace(made, relation=Relation.UNSTATED)


def _judges(state: EditState) -> bool:
    return state.role is Role.ADJUDICATOR


def _add_judged(
    rows: RowBuilder,
    item: AnchorItem,
    state: EditState | None,
    edited: Answer | None,
    rules: Guide,
    precedents: "Sequence[Precedent]",
    *,
    blind: bool,
) -> None:
    """What one who decides needs: all answers first, and all that explains them."""
    found = lanes(item, blind=blind)
    gold = item.gold.answer if item.gold is not None else None
    against = gold if state is None else edited
    seconds = _add_table(rows, item, found, against)
    add_readings(rows, item, found, edited)
    add_proposals(rows, item, named=True, key="" if state is None else "T")
    add_beside(rows, item)
    told = _told_above(item, state, rules, blind=blind)
    add_remarks(rows, item, found, rules, seconds=seconds, blind=blind, told=told)
    add_precedents(rows, precedents, against)
    add_places(rows, item, found, state)
    add_numbers(rows, item)
    add_identification(rows, item, edited, gold)
    add_model(rows, item, edited, listed=True)
    add_doubt(rows, item)
    _add_flags(rows, item, named=not blind)
    _add_stale(rows, item, against, blind=blind)


def _add_own(
    rows: RowBuilder, item: AnchorItem, state: EditState, edited: Answer | None
) -> None:
    """What one who answers may see: nothing of others."""
    add_readings(rows, item, (), edited)
    add_proposals(rows, item, named=False)
    add_beside(rows, item, next(iter(proposals(item)), None))
    rows.blank()
    rows.text([(HIDDEN, "note")])
    add_places(rows, item, (), state)
    add_numbers(rows, item, nouns=False)
    add_identification(rows, item, edited, None)
    add_model(rows, item, edited, listed=False)
    _add_flags(rows, item, named=False)


def _told_above(
    item: AnchorItem, state: EditState | None, rules: Guide, *, blind: bool
) -> list[str]:
    """What the block of the answer edited says, which is often the gold's."""
    if state is None:
        return []
    comment = _comment(item, state, blind=blind)
    return [comment, rules.words(state.tag) if state.tag else ""]


# --- the answer being edited ---------------------------------------------------------------


def _add_edited(
    rows: RowBuilder,
    item: AnchorItem,
    state: EditState,
    made: Answer | str,
    rules: Guide,
    *,
    blind: bool,
) -> None:
    reason = shown_reason(state.reason, item, state.adopted)
    said = [SOURCE_WORDS[state.source], reason, "changed" if state.changed else ""]
    rows.heading("Answer", " · ".join(filter(None, said)))
    kind: list[Part] = [] if state.kind is None else [(KIND_WORDS[state.kind], "kind")]
    if state.sort is not None:
        kind.append((f", {SORT_WORDS[state.sort]}", ""))
    if state.noun:
        kind.append((f" {quoted(state.noun)}", ""))
    if len(state.heads) > 1:
        kind.append((f" · {state.relation or 'AND or OR?'}", "kind"))
    rows.text(kind, indent=1, hang=3)
    _add_heads(rows, item, state)
    if state.tag:
        rows.text([(rules.words(state.tag), "note")], indent=1, hang=3)
    comment = _comment(item, state, blind=blind)
    if comment:
        rows.text([("; ", "note"), (comment, "comment")], indent=1, hang=3)
    if prompt(state) is not None:
        rows.text([("▸ ", "asks"), (prompt(state) or "", "asks")], indent=1, hang=3)
    elif isinstance(made, str):
        rows.text([("▸ ", "asks"), (made, "asks")], indent=1, hang=3)


def _comment(item: AnchorItem, state: EditState, *, blind: bool) -> str:
    """The comment of the answer edited; blind, that of the gold is taken from the item,
    which names nobody."""
    golds = state.source is AnswerSource.GOLD and state.comment == state.began.comment
    if blind and golds and item.gold is not None:
        return item.gold.answer.comment
    return state.comment


def _add_heads(rows: RowBuilder, item: AnchorItem, state: EditState) -> None:
    for number, mentions in enumerate(state.heads, 1):
        first, *more = live(mentions)
        sign = DIGITS[number] if number < len(DIGITS) else "₊"
        words = " ".join(item.passage.words(first.start, first.end).split())
        turn = item.passage.turn_of(first.head) + 1
        parts = [(f"{sign} ", "head-sign"), (words, "head"), (f" turn {turn}", "note")]
        if more:
            parts.append((f" and {len(more)} more", "note"))
        rows.text(parts, indent=2, hang=4)


# --- what others said ----------------------------------------------------------------------


def _add_table(
    rows: RowBuilder, item: AnchorItem, found: Sequence[Lane], against: Answer | None
) -> bool:
    """All answers, how they differ, and how many named what; true if seconds are told."""
    if not any(lane.vote is not None or lane.key == GOLD for lane in found):
        rows.heading("Answers", WITHHELD if item.withheld else "nobody yet")
    else:
        rows.heading("Answers", _pattern(item))
    if not found:
        return False
    seconds = add_answers(rows, item, found, against)
    add_tally(rows, item)
    _add_differences(rows, item)
    return seconds


def _pattern(item: AnchorItem) -> str:
    """The pattern of the votes, and the strongest kind in which they differ: "2-1 noun"."""
    if not item.pattern:
        return WITHHELD if item.withheld else ""
    if not item.blocking:
        return pattern_words(item.pattern)
    words = [token.lemma for token in item.passage.tokens]
    counted = [vote.answer for vote in item.votes if vote.counts]
    first = compare_all(counted, words).strongest or item.blocking[0]
    return f"{item.pattern} · {BLOCKING_WORDS[first]}"


def _add_differences(rows: RowBuilder, item: AnchorItem) -> None:
    """Whatever else they differ in: the strongest kind stands above."""
    more = _pattern(item)
    also = [
        BLOCKING_WORDS[one] for one in item.blocking if not more.endswith(BLOCKING_WORDS[one])
    ]
    if also:
        said: list[Part] = [("they also differ in: ", "note"), (", ".join(also), "differs")]
        rows.text(said, indent=1, hang=3)
    if item.notes:
        notes = ", ".join(NOTE_WORDS[note] for note in item.notes)
        rows.text([(f"{notes} (never blocks)", "note")], indent=1, hang=3)


def _add_stale(
    rows: RowBuilder, item: AnchorItem, against: Answer | None, *, blind: bool
) -> None:
    if not item.stale_votes:
        return
    rows.heading("Answers to the old span", "do not count")
    keys = {id(vote): f"{n} " for n, vote in enumerate(adoptable(item), 1) if n <= MOST_KEYS}
    for number, vote in enumerate(item.stale_votes):
        name = chr(ord("A") + number % 26) if blind else vote.annotator
        parts: list[Part] = [(keys.get(id(vote), ""), "key")]
        parts += [("× ", "note"), (f"{name} ", "name")]
        parts.append((describe(vote.answer, item.passage, places=True), "said"))
        parts.append(standing(vote.answer, against, item))
        rows.text(parts, indent=1, hang=3)


def _add_flags(rows: RowBuilder, item: AnchorItem, *, named: bool) -> None:
    flags = [flag for flag in item.flags if flag.span is None]
    if not flags:
        return
    rows.heading("Flags")
    for flag in flags:
        parts: list[Part] = [("! ", "asks"), (flag.name, "")]
        if named and flag.annotator:
            parts.append((f"  {flag.annotator} · {when(flag.flagged_at)}", "note"))
        rows.text(parts, indent=1, hang=3)


# --- history -------------------------------------------------------------------------------


def _add_history(rows: RowBuilder, history: Sequence[HistoryLine]) -> None:
    if not history:
        return
    rows.heading("History", "L shows all" if len(history) > LAST else "")
    for line in sorted(history, key=lambda line: line.at, reverse=True)[:LAST]:
        who = "" if line.annotator is None else f" {line.annotator}"
        what = f"{act_words(line)}: {thing(line)}"
        parts: list[Part] = [(f"{when(line.at)}{who}  ", "note"), (what, "")]
        parts.append((f" {_plain(line.before)} → {_plain(line.after)}", "note"))
        rows.text(parts, indent=1, hang=3)


def _plain(value: str | None) -> str:
    """A logged value in short; JSON is the log's own form."""
    if value is None:
        return "nothing"
    bare = value.strip('"')
    return bare if len(bare) <= 48 else f"{bare[:47]}…"
