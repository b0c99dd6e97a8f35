"""The application: opens the database and shows the workbench."""

import gc
import os
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import ClassVar

from rich.text import Text
from textual import events, messages
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen

from nfh_db.errors import FullError, LikeNameError, ReadOnlyError, StoreError
from nfh_db.messages import lines_visible, quoted
from nfh_db.records import Annotator, Role
from nfh_db.store import Store
from nfh_tui.actions import Mode
from nfh_tui.config import by_file, load, theme_trouble
from nfh_tui.demo import hint_of
from nfh_tui.display_text import visible
from nfh_tui.process_signals import STATUS, watch_hangup
from nfh_tui.textual_support import (
    ErrorRaised,
    OrderedApp,
    WorkbenchReady,
    note_fault,
    sentence_of,
)
from nfh_tui.theme import DEFAULT, FEW_COLOURS, SETTING, THEMES, PaletteFilter, made
from nfh_tui.workbench.host import Host
from nfh_tui.workbench.screen import Workbench

TOUR_VARIABLE = "NFH_TUI_TOUR"
"""An environment variable; "off" keeps the tour from opening by itself."""

RESCUED = (
    "Everything that was saved is in {place}. Check it with `nfh-tui doctor --db`, and use "
    "it in place of the database, whose -wal or -shm file was lost"
)

SIGNS = "▸◂≠✓○◐₁²┄█…"
"""Some of those that the screen cannot do without."""

NO_SIGNS = (
    "nfh-tui: the locale's encoding, {encoding}, lacks signs that the workbench is drawn with. "
    "Start it with one of UTF-8: LC_ALL=C.UTF-8 nfh-tui adjudicate\n"
)
PLAIN_LOCALE = "Signs are missing? LC_ALL={locale} promises none; LC_ALL=C.UTF-8 shows them."

HINTS = {
    "ctrl+c": "q quits; ctrl+q does too, from anywhere.",
    "ctrl+d": "ctrl+d ends nothing here: q quits, ctrl+q does too, from anywhere.",
    "ctrl+s": "Drafts are saved as you type; enter saves the answer.",
}
"""What keys that end or save elsewhere are answered with, for they are pressed by habit."""

NO_PAUSE = "The program cannot be suspended here. q quits, and the draft is kept."

YOUR_SETTINGS = "Your settings"
"""Title of messages about the settings file."""

MOST_FAULTS, WITHIN = 20, 10.0
"""The program exits if MOST_FAULTS faults occur within WITHIN seconds."""


class WorkbenchApp(OrderedApp, inherit_bindings=False):
    """The workbench of one person on one database.

    tour: shown to new users. endures: faults are reported and the program continues; if False,
    as in tests, a fault ends the program. The caller must call `close`. Raises StoreError if
    the database cannot be opened.
    """

    TITLE = "nfh-tui"
    CSS_PATH = "screens/workbench.tcss"
    ENABLE_COMMAND_PALETTE = False
    COMMANDS: ClassVar = set()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "leave", show=False, priority=True),
        # Fields take keys before bindings with priority, and dialogs have no others of the app.
        Binding("ctrl+z", "pause", show=False, priority=True),
        *(Binding(key, f"hint('{key}')", show=False, priority=True) for key in HINTS),
    ]

    def __init__(
        self,
        store_path: Path,
        me: str,
        mode: str,
        query: str | None = None,
        *,
        tour: bool = False,
        host: Host | None = None,
        new_person: bool = False,
    ) -> None:
        super().__init__()
        if self.console.color_system == FEW_COLOURS:
            # Textual has no other place for filters; those before it may mix colours.
            self._filters.append(PaletteFilter())
        self.host = host or Host()
        self.endures = False
        self._faults: deque[float] = deque(maxlen=MOST_FAULTS)
        self._told: set[str] = set()
        self.config = load()
        self._tour = tour and self.config.options.tour
        self.animation_level = "full" if self.config.options.animation else "none"
        store = self.host.open_store(store_path)
        try:
            self._me = _person(store, me, new_person=new_person)
            self._mode = _mode(store, Mode(mode))
            self._namesake = "" if query else _namesake(store, self._me, self._mode)
        except StoreError:
            store.close()
            raise
        self.client = self.host.client(store, self._me)
        self._query = query
        for theme in (*THEMES, *map(made, self.config.themes)):
            self.register_theme(theme)
        self.theme = self._first_theme(store.settings.read(f"{SETTING}.{self._me.name}"))

    def _first_theme(self, chosen: str | None) -> str:
        """Return the theme chosen earlier, else that of the settings, else the default."""
        known = self.available_themes
        wanted = (chosen, self.config.theme, DEFAULT)
        return next(name for name in wanted if name is not None and name in known)

    def get_default_screen(self) -> Screen[None]:
        """Return the workbench as the first screen, so that no other one is drawn before it."""
        return Workbench(
            self.client,
            self._me,
            self._mode,
            self._query,
            self.config,
            tour=self._tour,
            host=self.host,
        )

    def on_mount(self) -> None:
        """Give Textual the user's keys, and report wrong entries of the settings."""
        self.host.attach(self)
        self.set_keymap(self.config.keymap.own)
        named = self.config.theme
        theme = "" if named is None else theme_trouble(named, self.available_themes)
        troubles = [*self.config.troubles, *filter(None, [theme])]
        if troubles:
            self.bench.post_message(ErrorRaised(by_file(troubles), YOUR_SETTINGS))
        if self.endures and (locale := os.environ.get("LC_ALL")) in {"C", "POSIX"}:
            self.call_after_refresh(self.bench.ui.notify, PLAIN_LOCALE.format(locale=locale))
        if self._namesake:
            self.bench.post_message(ErrorRaised(self._namesake, "Is this your name?"))

    def on_exit_app(self, event: messages.ExitApp) -> None:
        """Let the host defer the exit."""
        if self.host.defers_exit(self):
            event.prevent_default()

    def on_workbench_ready(self, message: WorkbenchReady) -> None:
        """Exclude existing objects from garbage collection, because they live until the end.

        A full collection takes longer than a key may. There is none here either: of 100,000
        objects 2,000 are garbage, and it would delay the first key by 50 ms. Disabled in tests,
        whose objects would never be freed.
        """
        del message
        if self.endures:
            gc.freeze()

    @property
    def bench(self) -> Workbench:
        """The workbench, also while a dialog covers it."""
        return next(screen for screen in self.screen_stack if isinstance(screen, Workbench))

    def close(self) -> None:
        """Wait for writes under way and close the database."""
        self.client.close()

    async def action_leave(self) -> None:
        """Close open dialogs and quit."""
        while self.screen is not self.bench:
            await self.screen.dismiss(None)
        self.bench.bar.finish(accepted=False)
        self.bench.call_later(self.bench.action_act, "quit")

    def terminal_gone(self) -> None:
        """Save pending writes and exit because the terminal is gone. May be called in any
        thread.
        """
        with suppress(RuntimeError):  # the event loop is not running
            self.call_from_thread(self.call_later, self._let_go)

    async def _let_go(self) -> None:
        await self.bench.save_all()
        await self.bench.predictions.stop()
        self.exit(return_code=STATUS)

    # --- faults -------------------------------------------------------------------------

    def fault(self, error: Exception) -> None:
        """Log and report a fault of the program, and continue; exit if there are too many."""
        note_fault(error)
        now = monotonic()
        self._faults.append(now)
        if len(self._faults) == MOST_FAULTS and now - self._faults[0] < WITHIN:
            words = f"{sentence_of(error)} The error occurs repeatedly."
            self.exit(return_code=1, message=Text(visible(words)))
            return
        self.call_later(self._tell, sentence_of(error))

    async def _tell(self, sentence: str) -> None:
        """Show a fault over open dialogs, once while its dialog is open."""
        from nfh_tui.screens.dialogs import TextDialog

        if sentence in self._told or not self.is_running:
            return
        self._told.add(sentence)
        dialog = TextDialog("That did not work", sentence, trouble=True)
        self.push_screen(dialog, lambda _: self._told.discard(sentence))

    def _handle_exception(self, error: Exception) -> None:
        """Handle an uncaught exception: report it and continue, if `endures`."""
        if self.endures and self.is_running:
            self.fault(error)
        else:
            super()._handle_exception(error)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a notification without markup and control characters."""
        del markup
        words, name = visible(message), visible(title)
        super().notify(words, title=name, severity=severity, timeout=timeout, markup=False)

    async def on_error_raised(self, message: ErrorRaised) -> None:
        """Show an error of a part that does not show it itself."""
        await self._tell(message.sentence)

    # --- the terminal -------------------------------------------------------------------

    def on_app_blur(self, event: events.AppBlur) -> None:
        """Stop the clock: the terminal has lost the focus."""
        del event
        self.bench.clock.pause()

    def on_app_focus(self, event: events.AppFocus) -> None:
        """Resume the clock."""
        del event
        if self.screen is self.bench:
            self.bench.clock.resume()

    def action_hint(self, key: str) -> None:
        """Say what a key of shells and other programs does not do here, and what does it."""
        self._say(HINTS[key])

    async def action_pause(self) -> None:
        """Suspend the program, as shells do at ctrl+z; `fg` brings it back as it was."""
        if self._driver is None or not self._driver.can_suspend:
            self._say(NO_PAUSE)
            return
        await self.bench.save_all()
        self.action_suspend_process()

    def _say(self, sentence: str) -> None:
        """Show a sentence on the screen in front."""
        if self.screen is self.bench:
            self.bench.ui.notify(sentence)
        else:
            # A dialog has no line for it.
            getattr(self.screen, "say", self.notify)(sentence)


def shows_signs(encoding: str | None) -> bool:
    """Return True if a terminal with this encoding can show the workbench."""
    try:
        SIGNS.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _person(store: Store, name: str, *, new_person: bool) -> Annotator:
    """Get or create the annotator; an unsaved one if the database is read-only."""
    if not store.read_only:
        try:
            return store.people.ensure(name, new_person=new_person)
        except FullError:
            store.only_read()
    return store.people.find(name) or Annotator(0, name)


def _namesake(store: Store, me: Annotator, mode: Mode) -> str:
    """A sentence if others with a like name have work here, and this person has none."""
    if mode is Mode.BROWSE or store.read_only:
        return ""
    role = Role.ANNOTATOR if mode is Mode.ANNOTATE else Role.ADJUDICATOR
    names = store.assignments.namesakes(me, role)
    if not names:
        return ""
    return (
        f"You are here as {me.name}, to whom nothing was given. {' and '.join(names)} has. "
        f"If that is you, quit (q) and come back with --as {quoted(names[0])}."
    )


def _mode(store: Store, wanted: Mode) -> Mode:
    """Return the initial mode; BROWSE if the database is read-only.

    Raises ReadOnlyError for ANNOTATE: BROWSE shows what annotators must not see.
    """
    if not store.read_only:
        return wanted
    if wanted is Mode.ANNOTATE:
        raise ReadOnlyError(
            f"{store.path} can only be read: {store.read_only}. Nothing can be annotated "
            "there. Correct that, or work on a copy (`nfh-tui backup` makes one elsewhere); "
            "`nfh-tui browse` shows it"
        )
    return Mode.BROWSE


def _has_size() -> bool:
    """Whether output goes to a terminal that has a size: a serial line has none."""
    out = sys.__stdout__
    return out is not None and out.isatty() and all(os.get_terminal_size(out.fileno()))


def run_workbench(
    path: Path,
    me: str,
    mode: str,
    query: str | None,
    *,
    tour: bool = False,
    new_person: bool = False,
    again: str = "nfh-tui {mode}",
) -> int:
    """Open the workbench on a terminal; returns the exit status: 0 done, 1 failed.

    tour: offered to new users of the database, unless $NFH_TUI_TOUR is "off". again: the
    command that goes on, told at the end; {mode} is filled in. Raises LikeNameError for a new
    name like a known one, unless it is that of a `new_person`.
    """
    encoding = getattr(sys.__stderr__, "encoding", None)
    if not shows_signs(encoding):
        sys.stderr.write(NO_SIGNS.format(encoding=encoding))
        return 1
    if _has_size():
        # Set by a shell at its start, they would count before the size of the terminal.
        for name in ("COLUMNS", "LINES"):
            os.environ.pop(name, None)
    wanted = tour and os.environ.get(TOUR_VARIABLE) != "off"
    try:
        app = WorkbenchApp(path, me, mode, query, tour=wanted, new_person=new_person)
    except LikeNameError:
        raise
    except StoreError as error:
        sys.stderr.write(f"{lines_visible(str(error))}{hint_of(error)}\n")
        return 1
    app.endures = True
    watch_hangup(app.terminal_gone)
    try:
        app.run(mouse=app.config.options.mouse)
    finally:
        app.close()
    words, last_mode = app.client.parting
    if words:
        sys.stdout.write(f"{words}\nContinue with: {again.format(mode=last_mode)}\n")
    if app.client.rescued is not None:
        sys.stderr.write(f"{lines_visible(RESCUED.format(place=app.client.rescued))}\n")
    elif app.client.not_rescued:
        sys.stderr.write(f"{lines_visible(app.client.not_rescued)}\n")
    return app.return_code or 0
