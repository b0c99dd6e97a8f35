"""Frames of headless applications that are drawn when the program is at rest, and for no one.

An application in a test draws several frames for each key, most of which nobody looks at: a
third of its time. Here a wait of the pilot (see `idle.py`), and the application's end, draw
what has changed since the last one. Each widget makes the lines of its content; Textual puts no
borders around them, and does not cut them to a screen. So a widget that cannot be drawn still
fails its test, and what a widget asks for as it is drawn is still asked for. A test that looks
at the screen, by `drawn_lines` or a screenshot, has it drawn whole.
"""

from typing import Any
from weakref import WeakSet

from textual._context import visible_screen_stack
from textual._styles_cache import StylesCache
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

_refresh = Screen._compositor_refresh
_render_widget = StylesCache.render_widget
_shutdown = App._shutdown
_undrawn: WeakSet[Screen[object]] = WeakSet()
"""Screens that have changed since they were drawn."""

_contents_only = False
"""True as widgets are drawn for nobody."""


def _refresh_later(screen: Screen[object]) -> None:
    """Let the screen on top wait; what is below hands on what has changed, as ever."""
    app = screen.app
    if not app.is_headless or app.is_inline or screen is not app.screen:
        _refresh(screen)
        return
    _undrawn.add(screen)
    app._display(screen, None)
    screen._dirty_widgets.clear()
    app._update_mouse_over(screen)


def _render_content(cache: StylesCache, widget: Widget, crop: Region) -> list[Strip]:
    """Make the lines of a widget; where nobody sees them, those of its content only."""
    if not _contents_only:
        return _render_widget(cache, widget, crop)
    top = widget.gutter.top
    shown = range(max(crop.y - top, 0), min(crop.bottom - top, widget.content_size.height))
    for y in shown:
        widget.render_line(y)
    return []


def _draw_parts(screen: Screen[object]) -> None:
    """Let each widget draw what has changed of it."""
    global _contents_only
    compositor = screen._compositor
    dirty = list(compositor._dirty_regions)
    compositor._dirty_regions.clear()
    below = visible_screen_stack.set(screen.app._background_screens)
    try:
        for widget, (region, clip) in compositor.visible_widgets.items():
            shown = region.intersection(clip)
            parts = [part for one in dirty if (part := shown.intersection(one))]
            if parts:
                # The lines of a screen are those of the screens below, as they are seen.
                _contents_only = widget is not screen
                widget.render_lines(Region.from_union(parts).translate(-region.offset))
    finally:
        _contents_only = False
        visible_screen_stack.reset(below)


def drawn_lines(app: App[Any]) -> list[Strip]:
    """All lines of the screen on top, as they are seen now.

    A dialog that is drawn without the screens below keeps what it has drawn, an empty
    background, for whoever looks next.
    """
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def draw() -> bool:
    """Draw what has changed; True if something had. An error is the application's."""
    screens = list(_undrawn)
    _undrawn.clear()
    for screen in screens:
        if not screen.is_attached or screen is not (app := screen.app).screen:
            continue
        with screen._context():
            try:
                _draw_parts(screen)
            except Exception as error:  # noqa: BLE001 - the application tells of it, as ever
                app._handle_exception(error)
    return bool(screens)


async def _draw_and_shut_down(app: App[object]) -> None:
    """Draw the last frame, which no wait may have seen."""
    if app._running and app._exception is None:
        draw()
    await _shutdown(app)


def install() -> None:
    """Let Textual draw so."""
    Screen._compositor_refresh = _refresh_later
    StylesCache.render_widget = _render_content
    App._shutdown = _draw_and_shut_down
