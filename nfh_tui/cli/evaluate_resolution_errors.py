"""Wrong answers on a page, by kind, each in its passage with the scores of its words.

A page stays small enough for a browser: a passage is cut around its anchor, and once the
errors have taken MOST characters the rest are listed without their passages, then counted.
"""

from collections.abc import Sequence

from nfh_db.formats.wording import counted
from nfh_models.resolution.scoring import Mistake, Mistaken
from nfh_tui.cli.evaluate_resolution_json import confidence, worst
from nfh_tui.cli.evaluate_resolution_page import Html, text
from nfh_tui.cli.evaluate_resolution_passage import (
    BEFORE,
    BEHIND,
    SHADES,
    candidates,
    passage_html,
)
from nfh_tui.cli.evaluate_resolution_rows import Both
from nfh_tui.cli.evaluate_resolution_text import answered, around, wanted
from nfh_tui.resolution_trial import Entrant

MOST = 3_000_000
"""Characters that the errors of all models with their passages may take."""
MOST_LISTED = 600_000
"""Characters that the list of those without may take."""


def errors(page: Html, pairs: Both) -> None:
    """The wrong answers of each entrant."""
    if not any(one.mistakes for _, one in pairs):
        return
    wanted_by = [(entrant, one.mistakes) for entrant, one in pairs]
    for entrant, mistaken in wanted_by:
        page.title(f"Wrong answers of {entrant.name}: {len(mistaken):,}")
        _legend(page, entrant)
        _of_entrant(page, entrant, mistaken, MOST // len(wanted_by))


def _legend(page: Html, entrant: Entrant) -> None:
    shades = ", ".join(
        f'<span class="{name} key">{name}</span> from {100 * least:.0f} %'
        for least, name in SHADES
    )
    order = "the surest first" if entrant.resolver.probabilities else "as they come"
    page.raw(
        '<p class="note">The <b class="anchor">number</b> is bold, '
        '<i class="gold">gold heads</i> are underlined italics, the '
        '<span class="chosen">answer</span> is framed; words are shaded by their score beside '
        f"that of the best candidate: {shades}. Shown are {BEFORE} words before the number "
        f"and {BEHIND} behind it, and what is around heads that stand further off. Each kind "
        f"opens on a click; within it {order}.</p>"
    )


def _of_entrant(
    page: Html, entrant: Entrant, mistaken: Sequence[Mistaken], budget: int
) -> None:
    sure = entrant.resolver.probabilities
    ranked = worst(mistaken, probabilities=sure)
    kinds = [kind for kind in Mistake if any(one.mistake is kind for one in ranked)]
    kinds.sort(key=lambda kind: -sum(one.mistake is kind for one in ranked))
    for place, kind in enumerate(kinds):
        some = [one for one in ranked if one.mistake is kind]
        # What a kind leaves of its part goes to the kinds after it.
        used = _of_kind(page, kind, some, budget // (len(kinds) - place), sure=sure)
        budget -= used


def _of_kind(
    page: Html, kind: Mistake, some: Sequence[Mistaken], budget: int, *, sure: bool
) -> int:
    """The errors of one kind in a box that opens; how many characters they took."""
    used = 0
    shown: list[str] = []
    for one in some:
        card = _card(one, sure=sure)
        if used + len(card) > budget:
            break
        used += len(card)
        shown.append(card)
    rest = some[len(shown) :]
    inside = "".join(shown) + _listed(rest, sure=sure)
    page.raw(f"<details><summary>{text(kind.value)}: {len(some):,}</summary>{inside}</details>")
    return used


def _card(one: Mistaken, *, sure: bool) -> str:
    judged = one.judged
    item, choice = judged.example.item, judged.choice
    heads = judged.example.gold.head_tokens()
    scores = ""
    if choice is not None:
        best = " · ".join(
            f"{text(name)} {value:.3g}" for name, value in candidates(item, choice)
        )
        scores = f'<p class="scores">scores: {best}</p>' if best else ""
    return (
        f'<div class="error"><p class="said">{text(judged.example.where)}: gold '
        f"<b>{_gold(one)}</b>, predicted <b>{_said(one, sure=sure)}</b></p>"
        f"{passage_html(item, choice, judged.token, heads)}{scores}</div>\n"
    )


def _gold(one: Mistaken) -> str:
    """The gold label: the heads in words, a class in capitals as the paper has it."""
    return text(wanted(one.judged), 200)


def _said(one: Mistaken, *, sure: bool) -> str:
    """The answer, with its score where that says how sure a model is."""
    said = text(answered(one.judged), 200)
    score = confidence(one.judged)
    return f"{said} {score:.2f}" if sure and score is not None else said


def _listed(some: Sequence[Mistaken], *, sure: bool) -> str:
    """Those for which there was no room, a line each as far as that goes."""
    if not some:
        return ""
    lines = []
    used = 0
    for one in some:
        line = (
            f"<li>{text(one.judged.example.where)}: gold {_gold(one)}, predicted "
            f"{_said(one, sure=sure)}: {text(around(one.judged), 200)}</li>"
        )
        if used + len(line) > MOST_LISTED // len(Mistake):
            break
        used += len(line)
        lines.append(line)
    left = len(some) - len(lines)
    more = ""
    if left:
        more = f'<p class="note">and {counted(left, "further one")}; --json has them all</p>'
    return (
        '<p class="note">the page would grow too large with the passages of these, too:</p>'
        f"<ul>{''.join(lines)}</ul>{more}"
    )
