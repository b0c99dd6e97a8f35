"""Text of users is shown as text: it neither runs as markup nor reaches the terminal raw."""

import pytest
from textual.color import Color

from nfh_db.query import parse
from nfh_db.records import Role
from nfh_db.store import Store
from nfh_models.domain import Kind, class_answer
from tests.frames import drawn_lines

NASTY = "[/b] [red][link=x] \x1b[31m\x07 \t é e\u0301 漢字 🎈 \u202eבא ]["


@pytest.fixture
def nasty_desk(database, open_desk):
    """The workbench of a person with a nasty name, views, comments and documents."""
    name = "[red]eva[/b"
    with Store.open(database) as store:
        eva = store.people.ensure(name)
        other = store.people.ensure("[/]otto[link")
        anchor_id = next(store.queue.ids(parse(""), eva))[3]
        answer = class_answer(Kind.OTHER, noun=NASTY, comment=NASTY)
        store.edits.commit_answer(anchor_id, other, Role.ANNOTATOR, answer)
        store.workspace.save_view(eva, "[bold]view[/", 'text:"[red"')
    return lambda **more: open_desk(me=name, **more)


def assert_harmless(desk) -> None:
    """Nothing on the screen controls a terminal, and every line has the screen's width."""
    for line in desk.text().splitlines():
        assert not [c for c in line if c < " " or "\x7f" <= c < "\xa0"], line
        assert "\u202e" not in line
    width = desk.app.size.width
    for strip in drawn_lines(desk.app):
        assert strip.cell_length == width


@pytest.mark.parametrize(
    "size", [(60, 20), pytest.param((80, 24), marks=pytest.mark.long), (120, 40)]
)
async def test_the_panes_in_each_mode(nasty_desk, size):
    async with nasty_desk(mode="browse", size=size) as desk:
        await desk.press("j", "j", "j")
        for mode in ("browse", "annotate", "adjudicate"):
            assert desk.state.mode == mode
            for _ in range(3):
                assert_harmless(desk)
                await desk.press("tab")
            if size[0] >= 100:
                assert "[red]Ann" in desk.text() or "[red]An" in desk.text()
                assert "[/b]" in desk.text()
            await desk.press("M")


async def test_the_dialogs_the_bar_and_the_line_of_state(nasty_desk):
    async with nasty_desk() as desk:
        await desk.press("j", "j", "j", "1", "enter", "k")
        for keys in (["L"], ["ctrl+p"]):
            await desk.press(*keys)
            await desk.pilot.pause(0.2)
            assert_harmless(desk)
            await desk.press("escape")
        desk.screen.action_act("view.open")
        await desk.settle()
        assert "[bold]view[/" in desk.text()
        assert_harmless(desk)
        await desk.press("escape")
        await desk.screen.client.write(
            desk.screen.store.workspace.save_view, desk.state.me, NASTY, NASTY
        )
        desk.screen.ui.notify(NASTY)
        await desk.settle()
        assert "[/b] [red]" in desk.text()
        assert_harmless(desk)
        await desk.press("colon", *"[/b]")
        desk.screen.bar.note = NASTY
        await desk.settle()
        assert_harmless(desk)
        await desk.press("enter")
        assert_harmless(desk)
        await desk.press("escape", "z")
        assert_harmless(desk)


async def test_an_error_with_nasty_words(nasty_desk):
    async with nasty_desk() as desk:
        desk.screen.enqueue(lambda: desk.screen.prompts.show_error(f"cannot open {NASTY}"))
        await desk.settle()
        assert "[/b] [red]" in desk.text()
        assert_harmless(desk)


@pytest.mark.parametrize(
    "theme",
    [
        "ansi-dark",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in ("nfh-dark", "nfh-light", "textual-dark", "dracula", "ansi-light")
        ),
    ],
)
async def test_every_kind_of_theme_is_legible(open_desk, theme):
    async with open_desk() as desk:
        desk.app.theme = theme
        await desk.settle()
        for strip in drawn_lines(desk.app):
            for segment in strip:
                style = segment.style
                if segment.text.strip() and style and style.color and style.bgcolor:
                    default = style.color.is_default or style.bgcolor.is_default
                    assert default or style.color != style.bgcolor, segment


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""

    def luminance(color: Color) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in color.normalized
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


async def test_our_own_themes_have_contrast(open_desk):
    async with open_desk() as desk:
        await desk.press("H", "j", "j", "s")
        for theme in ("nfh-dark", "nfh-light"):
            desk.app.theme = theme
            await desk.settle()
            for strip in drawn_lines(desk.app):
                for segment in strip:
                    style = segment.style
                    if segment.text.strip(" ▌▁▂▃▄▅▆▇█") and style and style.color:
                        behind = Color.from_rich_color(style.bgcolor)
                        before = Color.from_rich_color(style.color)
                        if style.dim:
                            before = behind.blend(before, 0.66)
                        assert contrast(before, behind) > 3.0, (theme, segment)
