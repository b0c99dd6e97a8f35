"""An evaluation of resolution in words and tables, for 80 columns, plain on a pipe."""

from typing import TYPE_CHECKING

from nfh_db.formats.wording import visible
from nfh_models.resolution.scoring import Judged, Mistaken
from nfh_tui.cli.agreement_page import Page
from nfh_tui.cli.evaluate_json import Asked
from nfh_tui.cli.evaluate_resolution_figures import tables
from nfh_tui.cli.evaluate_resolution_json import confidence, quoted, worst
from nfh_tui.cli.evaluate_resolution_parts import breakdowns, confusion, mistakes
from nfh_tui.cli.evaluate_resolution_passage import words_of
from nfh_tui.cli.evaluate_resolution_rows import Both, Table, both, head

if TYPE_CHECKING:
    from nfh_tui.cli.evaluate_resolution import Found

LEFT_OF_ANCHOR = 34
RIGHT_OF_ANCHOR = 34


def as_text(found: "Found", asked: Asked, *, oracle: bool, errors: int) -> str:
    """The report, ready to print. errors: how many wrong answers of each to show."""
    page = Page()
    first, notes = head(found, asked)
    page.say(first)
    for note in notes:
        page.note(note)
    if found.trial.examples:
        pairs = both(found)
        for table in tables(found, asked, oracle=oracle):
            _show(page, table)
        _confusions(page, pairs)
        for table in breakdowns(pairs):
            _show(page, table)
        if any(one.mistakes for _, one in pairs):
            _show(page, mistakes(pairs))
        _errors(page, pairs, errors)
    _seconds(page, found)
    return page.text()


def _show(page: Page, table: Table) -> None:
    page.title(table.title)
    if table.rows:
        page.table(table.columns, table.rows)
    for note in table.notes:
        page.note(note)


def _confusions(page: Page, pairs: Both) -> None:
    for entrant, one in pairs:
        name = f" of {entrant.name}" if len(pairs) > 1 else ""
        page.title(f"Gold against answer{name}")
        page.table(*confusion(one))
    page.note("WRONG: REF-WRONG, a word for a Reference that is no gold mention")


def _errors(page: Page, pairs: Both, most: int) -> None:
    if not most:
        return
    for entrant, one in pairs:
        if not one.mistakes:
            page.title(f"No wrong answer of {entrant.name}")
            continue
        sure = entrant.resolver.probabilities
        shown = worst(one.mistakes, probabilities=sure)[:most]
        total = len(one.mistakes)
        which = "all of them" if len(shown) == total else f"{len(shown)} of {total:,}"
        order = ", the surest first" if sure else ""
        page.title(f"Wrong answers of {entrant.name}: {which}{order}")
        for mistake in shown:
            page.note(described(mistake, sure=sure))
            page.note(f"  {around(mistake.judged)}")
        if len(shown) < total:
            page.note("--errors N shows more, --report and --json have them all")


def described(one: Mistaken, *, sure: bool) -> str:
    """A wrong answer: where, what and of which kind. sure: its score says how sure it is."""
    judged = one.judged
    said = answered(judged)
    score = confidence(judged)
    if sure and score is not None:
        said += f" {score:.2f}"
    return f"{judged.example.where}: gold {wanted(judged)}, said {said} ({one.mistake})"


def wanted(judged: Judged) -> str:
    """The gold label: a class in capitals, or the words of the heads."""
    heads = judged.example.gold.head_tokens()
    return words_of(judged.example.item.passage, heads) if heads else judged.gold


def answered(judged: Judged) -> str:
    """The answer: a class in capitals, or the word of the token."""
    if judged.choice is None:
        return "nothing"
    if judged.token is None:
        return judged.choice.choice
    return words_of(judged.example.item.passage, [judged.token])


def around(judged: Judged) -> str:
    """The words around the number, which stands in square brackets."""
    text, start, end = quoted(judged)
    before, number, behind = text[:start], text[start:end], text[end:]
    if len(before) > LEFT_OF_ANCHOR:
        before = "…" + before[-LEFT_OF_ANCHOR:]
    if len(behind) > RIGHT_OF_ANCHOR:
        behind = behind[:RIGHT_OF_ANCHOR] + "…"
    return visible(f"{before}[{number}]{behind}", 500)


def _seconds(page: Page, found: "Found") -> None:
    """How long it took."""
    trial = found.trial
    page.title("Seconds")
    if trial.parser is not None:
        page.note(f"parsing, once for all: {trial.parsing:.1f} ({trial.parser})")
    for judged in trial.judged:
        rate = _rate(found, judged.seconds)
        page.note(f"answering, {judged.entrant.name}: {judged.seconds:.1f}{rate}")


def _rate(found: "Found", seconds: float) -> str:
    size = len(found.trial.examples)
    return f" ({size / seconds:,.0f} numbers a second)" if size and seconds > 0 else ""
