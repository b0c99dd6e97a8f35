"""Letting go of what was drawn of screens that are closed."""

from textual._styles_cache import StylesCache
from textual.app import App
from textual.await_complete import AwaitComplete


class LettingGo(App[int]):
    """An app that holds no lines of closed screens.

    Textual remembers two colours for each widget's cache of lines, and with them the last
    thousand caches: a megabyte for every time that the keys are looked up.
    """

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top."""
        forget = getattr(StylesCache.get_inner_outer, "cache_clear", None)
        if forget is not None:
            forget()
        return super().pop_screen()
