"""Passage and evidence in an app: drawn at both sizes, in all colours, following the cursor."""

from dataclasses import replace

import pytest
from textual.app import App
from textual.containers import Horizontal

from nfh_db.records import AnchorState, Gold, Role, Rule
from nfh_models.domain import Relation
from nfh_tui.editor.commands import act, first_state, move_to
from nfh_tui.widgets.evidence import EvidenceView
from nfh_tui.widgets.passage import PassageView
from nfh_tui.widgets.passage_render import Heat

SIZES = [(80, 24), (120, 40)]
THEMES = [
    "ansi-dark",
    "nord",
    *(
        pytest.param(name, marks=pytest.mark.long)
        for name in ("textual-light", "textual-dark", "ansi-light")
    ),
]


class Panes(App[None]):
    """The two panes side by side."""

    CSS = """
    PassageView { width: 3fr; border: round $primary; }
    EvidenceView { width: 2fr; border: round $primary; }
    """

    def __init__(self, theme="textual-dark"):
        super().__init__()
        self.theme = theme
        self.clicked = []

    def compose(self):
        with Horizontal():
            yield PassageView(id="passage")
            yield EvidenceView(id="evidence")

    def show(self, item, state, **how):
        self.passage.show(item, state, heat=how.pop("heat", Heat.OFF))
        self.evidence.show(item, state, **how)

    @property
    def passage(self):
        return self.query_one(PassageView)

    @property
    def evidence(self):
        return self.query_one(EvidenceView)

    def on_passage_view_token_clicked(self, message):
        assert message.control is self.passage
        self.clicked.append(message.token)


def text(view):
    """What a pane shows, line by line."""
    height = view.size.height
    strips = [view.render_line(y) for y in range(height)]
    width = view.scrollable_content_region.width
    assert all(strip.cell_length == width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


@pytest.fixture
def busy(make):
    """An item with something of everything."""
    votes = make.three(make.reference([1, 11]), make.reference(5), make.age())
    item = make.item(
        votes=votes,
        gold=Gold(make.reference(1, 5, relation=Relation.AND), Rule.EXPERT, "anna"),
        scores={1: 0.9, 5: 0.3, 11: 0.5, 29: 0.1},
        siblings=[(26, 27, AnchorState.DECIDED), (16, 17, AnchorState.OPEN)],
    )
    state = first_state(item, "me", Role.ADJUDICATOR)
    states = [None, state]
    for action in ("hint.start", "mentions.all", "kind.other", "span.grow", "clear"):
        states.append(act(state, item, action).state)
    return item, states


@pytest.fixture
def long(make):
    """A passage of thirty turns with the number in the fifteenth."""
    turns = [
        (f"S{n % 3}", f"turn {n} tents and some more words that fill it up .")
        for n in range(30)
    ]
    return make.item(make.passage(turns), anchor=(14 * 12 + 4, 14 * 12 + 5), number=7)


@pytest.mark.parametrize("size", [pytest.param(SIZES[0], marks=pytest.mark.long), SIZES[1]])
@pytest.mark.parametrize("theme", THEMES)
async def test_every_state_is_drawn_in_every_theme(busy, hostile, make, size, theme):
    item, states = busy
    odd = make.item(hostile(" "), anchor=(5, 6), number=2, votes=[make.vote("[b", make.age())])
    app = Panes(theme)
    async with app.run_test(size=size) as pilot:
        for shown, state in [*((item, s) for s in states), (odd, None), (None, None)]:
            for heat in Heat if state in states[:2] else (Heat.SCORES,):
                app.show(shown, state, heat=heat)
                await pilot.pause()
            assert app.export_screenshot().startswith("<svg")
            text(app.passage)
            text(app.evidence)


async def test_without_colour_all_signs_are_there(busy, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    item, states = busy
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(item, states[1], heat=Heat.SCORES)
        await pilot.pause()
        passage = "\n".join(text(app.passage))
        assert "My ₁tents¹█ leak and the ₂ropes²▄ are" in passage
        assert "borrow ▸one◂ from" in passage
        assert "seven✓" in passage
        look = app.passage._painter.look
        told = [
            (look((role,)).reverse, look((role,)).underline, look((role,)).bold)
            for role in ("anchor", "cursor", "head", "hint")
        ]
        assert told == [
            (True, None, True),
            (True, True, True),
            (None, True, None),
            (True, None, True),
        ]


async def test_the_panes_show_the_words_and_the_evidence(busy):
    item, states = busy
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(item, states[1])
        await pilot.pause()
        assert text(app.passage)[0].startswith("1 Nora  My ₁tents¹ leak")
        evidence = text(app.evidence)
        assert evidence[0].split() == ["Answer", "gold", "·", "adjudicator"]
        assert any(line.startswith(" 2 ann2") for line in evidence)
        app.show(item, states[1], blind=True)
        assert any(line.startswith(" 2 B") for line in text(app.evidence))


async def test_the_number_comes_into_view_and_the_cursor_stays_there(long):
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        state = first_state(long, "me", Role.ADJUDICATOR)
        app.show(long, state)
        await pilot.pause()
        assert any("▸" in line for line in text(app.passage))
        assert "of 30" in text(app.passage)[-1]
        for token in (0, 359, 180, 0):
            state = move_to(state, long, token).state
            app.show(long, state)
            await pilot.pause()
            top, rows = app.passage.scroll_offset.y, app.passage.size.height - 1
            assert top <= app.passage._plan.spot(token).line < top + rows
        assert app.passage.scroll_offset.y == 0


async def test_the_last_line_can_be_seen_above_the_foot(long):
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        state = move_to(first_state(long, "me", Role.ADJUDICATOR), long, 359).state
        app.show(long, first_state(long, "me", Role.ADJUDICATOR))
        app.show(long, state)
        await pilot.pause()
        shown = text(app.passage)
        assert shown[-2].endswith("up.")
        assert shown[-1].endswith("30 of 30")


async def test_heads_scrolled_away_are_named_at_the_foot(long):
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        state = first_state(long, "me", Role.ADJUDICATOR)
        state = act(move_to(state, long, 2).state, long, "head.toggle").state
        app.show(long, state)
        await pilot.pause()
        state = act(state, long, "cursor.anchor").state
        app.show(long, state)
        await pilot.pause()
        assert text(app.passage)[-1].startswith(" ₁tents t1 ↑ ")


async def test_lines_stay_where_they_were_scrolled_until_the_cursor_moves(long):
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        state = first_state(long, "me", Role.ADJUDICATOR)
        app.show(long, state)
        await pilot.pause()
        app.passage.scroll_to(y=0, animate=False)
        app.show(long, act(state, long, "kind.age").state)
        await pilot.pause()
        assert app.passage.scroll_offset.y == 0
        app.show(long, move_to(state, long, long.anchor.start + 1).state)
        await pilot.pause()
        assert app.passage.scroll_offset.y > 0


async def test_up_and_down_go_by_visual_lines(busy):
    item, _ = busy
    app = Panes()
    assert PassageView().token_above(3) == 3
    async with app.run_test(size=(80, 24)) as pilot:
        app.show(item, None)
        await pilot.pause()
        assert app.passage.token_below(0) > 0
        assert app.passage.token_above(0) == 0
        assert app.passage.token_below(42) == 42
        assert app.passage.token_above(42) < 42


async def test_a_click_tells_the_word(busy, long):
    item, _ = busy
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(item, None)
        await pilot.pause()
        await pilot.click("#passage", offset=(1 + 8 + 4, 1))
        await pilot.click("#passage", offset=(2, 1))
        await pilot.click("#passage", offset=(12, 30))
        app.show(long, None)
        await pilot.pause()
        spot = app.passage._plan.spot(long.anchor.start)
        y = spot.line - app.passage.scroll_offset.y
        await pilot.click("#passage", offset=(1 + spot.x, 1 + y))
        await pilot.pause()
        assert app.clicked == [1, long.anchor.start]


async def test_another_size_breaks_lines_anew_and_another_theme_recolours(long):
    app = Panes()
    async with app.run_test(size=(120, 40)) as pilot:
        app.show(long, first_state(long, "me", Role.ADJUDICATOR))
        await pilot.pause()
        before = app.passage.render_line(0)
        wide = app.passage._plan.width
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert app.passage._plan.width < wide
        assert any("▸" in line for line in text(app.passage))
        await pilot.resize_terminal(120, 12)
        await pilot.pause()
        assert any("▸" in line for line in text(app.passage))
        await pilot.resize_terminal(120, 40)
        app.theme = "textual-light"
        await pilot.pause()
        after = app.passage.render_line(0)
        assert [s.style for s in after] != [s.style for s in before]


async def test_an_item_shown_before_there_is_a_size_appears_with_it(busy):
    item, states = busy

    class Early(Panes):
        def on_mount(self):
            self.show(item, states[1])

    app = Early()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert "one" in "\n".join(text(app.passage))
        assert "Answer" in text(app.evidence)[0]


async def test_the_evidence_keeps_its_place_for_one_item_and_starts_anew_for_another(busy):
    item, states = busy
    app = Panes()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show(item, states[1])
        await pilot.pause()
        app.evidence.scroll_to(y=5, animate=False)
        app.show(item, act(states[1], item, "kind.age").state)
        await pilot.pause()
        assert app.evidence.scroll_offset.y == 5
        app.show(replace(item, anchor_id=99), states[1])
        await pilot.pause()
        assert app.evidence.scroll_offset.y == 0
