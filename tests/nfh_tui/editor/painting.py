"""A passage as it is drawn, for the tests of what stands on it."""

from nfh_db.records import Role
from nfh_tui.display_text import width_of
from nfh_tui.editor.commands import act, first_state, move_to
from nfh_tui.widgets.passage_layout import lay_out
from nfh_tui.widgets.passage_render import judging, marks, paint, rooms, window


def laid_out(item, state, width=60, heat=None, windowed=False):
    """The layout with the room that signs need, as the pane makes it."""
    cells = max((len(warmth.sign) for warmth in (heat or {}).values()), default=1)
    begun = () if state is None else state.began.heads
    letters = {} if state is None else {token: len(label) for token, label in state.hints}
    room = rooms(
        item,
        votes=judging(state),
        heat=heat or (),
        cells=cells,
        begun=(*begun, *state.heads) if letters else begun,
        letters=letters,
    )
    return lay_out(item.passage, width, room, window(item) if windowed else None)


def runs(item, state, width=60, heat=None, windowed=False):
    """The runs of each line."""
    layout = laid_out(item, state, width, heat, windowed)
    found = marks(item, state, heat)
    for number in range(len(layout.lines)):
        made = paint(layout, number, found, 1)
        assert sum(width_of(run.text) for run in made) == width
        yield made


def lines(item, state, width=60, heat=None, windowed=False):
    """The passage as drawn, without trailing blanks."""
    drawn = runs(item, state, width, heat, windowed)
    return ["".join(run.text for run in made).rstrip() for made in drawn]


def looks(item, state, word, width=60, heat=None):
    """The roles of the first run that is a word."""
    for made in runs(item, state, width, heat):
        for run in made:
            if run.text.strip() == word:
                return run.roles
    raise AssertionError(word)


def marked(item, *tokens, role=Role.ADJUDICATOR):
    """The state with heads marked word by word."""
    state = first_state(item, "somebody", role)
    for token in tokens:
        state = act(move_to(state, item, token).state, item, "head.toggle").state
    return state
