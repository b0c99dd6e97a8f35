"""A person's own file of settings, `nfh-tui.toml` in the data folder: read, never written.

    [keys]
    "queue.next" = "n, f8"
    "kind.unknown" = "N"

    [theme]
    name = "harbour"

    [theme.harbour]
    dark = true
    primary = "#6aa9c9"

    [workbench]
    mouse = false

What cannot be used is left out and told in a sentence; everything else counts. An older
`keys.toml` beside it is read too. Standard library only, so that `nfh-tui keys` starts no
screen.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from nfh_tui.keymap import FILE_NAME as KEYS_NAME
from nfh_tui.keymap import Keymap, apply
from nfh_tui.places import data_folder

FILE_NAME = "nfh-tui.toml"
SECTIONS = ("keys", "theme", "workbench")
COLOURS = (
    *("primary", "secondary", "accent", "warning", "error", "success"),
    *("foreground", "background", "surface", "panel", "boost"),
)
"""What an own theme may colour."""

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_LEAST_IDLE, _MOST_IDLE = 5.0, 3600.0


@dataclass(frozen=True, slots=True)
class Options:
    """How the workbench behaves.

    mouse: the terminal reports it. blind: names are hidden from the start. hide_model: while
    one annotates or decides blind, what models say of an item is hidden until it is answered.
    guidelines: while one annotates they stand in the place of the evidence. idle_seconds:
    after so long without a key the clock of an item stands still. animation: scrolling may be
    animated. tour: it is offered to whoever is new to a database.
    """

    mouse: bool = True
    blind: bool = False
    hide_model: bool = True
    guidelines: bool = True
    idle_seconds: float = 60.0
    animation: bool = False
    tour: bool = True


@dataclass(frozen=True, slots=True)
class OwnTheme:
    """Colours of a person's own, by what they are for; others come from our dark or light."""

    name: str
    dark: bool = True
    colours: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Config:
    """All that a person has settled in files.

    theme: the name of the one to begin with, None where none is named. troubles: sentences
    on what cannot be used, each after the path of its file. files: those that were there, and
    could be read as TOML or not.
    """

    keymap: Keymap = field(default_factory=Keymap)
    theme: str | None = None
    themes: tuple[OwnTheme, ...] = ()
    options: Options = field(default_factory=Options)
    troubles: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def config_files() -> tuple[Path, Path]:
    """Where a person's settings are looked for: the file of today, then the older one.

    Raises OSError for a user who has no folder of their own.
    """
    folder = data_folder()
    return folder / FILE_NAME, folder / KEYS_NAME


def load() -> Config:
    """The settings of this person; without a file, those of the program."""
    try:
        own, older = config_files()
    except OSError as error:
        return Config(troubles=(f"your settings cannot be looked for: {error}",))
    return read(own, older)


def read(own: Path, older: Path) -> Config:
    """The settings of these two files; where both give an act keys, `own` counts."""
    told: list[str] = []
    found = [path for path in (own, older) if path.exists()]
    top, old = _table_of(own, told), _table_of(older, told)
    old_keys, own_keys = _section(old, "keys", older, told), _section(top, "keys", own, told)
    files = {**dict.fromkeys(old_keys, older), **dict.fromkeys(own_keys, own)}
    keymap = apply({**old_keys, **own_keys}, files)
    told.extend(keymap.troubles)
    told.extend(
        f"{own}: there is no section “{name}”; wanted are {_listed(SECTIONS)}"
        for name in top
        if name not in SECTIONS
    )
    told.extend(
        f"{older}: “{name}” is not read there; put it into {own.name}"
        for name in old
        if name != "keys"
    )
    wrong: list[str] = []
    theme, themes = _themes(_section(top, "theme", own, told), wrong)
    options = _options(_section(top, "workbench", own, told), wrong)
    told.extend(f"{own}: {trouble}" for trouble in wrong)
    return Config(keymap, theme, themes, options, tuple(told), tuple(found))


def _table_of(path: Path, told: list[str]) -> Mapping[str, object]:
    """What a file holds; empty for none, and for one that is no TOML, which is told."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        told.append(f"{path}: this is not TOML: {error}")
    except RecursionError:
        told.append(f"{path}: this cannot be read: its brackets are nested too deeply")
    except (OSError, UnicodeDecodeError) as error:
        told.append(f"{path}: this cannot be read: {error}")
    return {}


def _section(
    table: Mapping[str, object], name: str, path: Path, told: list[str]
) -> Mapping[str, object]:
    section = table.get(name, {})
    if isinstance(section, dict):
        return section
    told.append(f"{path}: “{name}” is no section; wanted is a line [{name}] above its entries")
    return {}


# --- themes -----------------------------------------------------------------------------


def _themes(
    section: Mapping[str, object], told: list[str]
) -> tuple[str | None, tuple[OwnTheme, ...]]:
    """The theme to begin with, and the person's own ones."""
    chosen: str | None = None
    themes: list[OwnTheme] = []
    for name, value in section.items():
        if isinstance(value, dict):
            themes.append(_theme(name, value, told))
        elif name != "name":
            told.append(
                f"theme.{name}: there is no such entry; wanted are “name”, and a section "
                "[theme.NAME] for each theme of your own"
            )
        elif isinstance(value, str) and value:
            chosen = value
        else:
            told.append("theme.name: wanted is the name of a theme, as a text")
    return chosen, tuple(themes)


def _theme(name: str, table: Mapping[str, object], told: list[str]) -> OwnTheme:
    dark, colours = True, {}
    for key, value in table.items():
        where = f"theme.{name}.{key}"
        if key == "dark":
            if isinstance(value, bool):
                dark = value
            else:
                told.append(f"{where}: wanted is true or false")
        elif key not in COLOURS:
            told.append(f"{where}: there is no such colour; wanted are {_listed(COLOURS)}")
        elif isinstance(value, str) and _HEX.fullmatch(value):
            colours[key] = value
        else:
            told.append(f'{where}: wanted is a colour such as "#6aa9c9"')
    return OwnTheme(name, dark, colours)


def theme_trouble(name: str, known: Mapping[str, object]) -> str:
    """What is wrong with the name of a theme; "" for one that there is."""
    if name in known:
        return ""
    wanted = _listed(sorted(known))
    return f"{config_files()[0]}: theme.name: there is no theme “{name}”; wanted: {wanted}"


def by_file(troubles: Iterable[str]) -> str:
    """What is wrong, to be read: under the path of each file, what is wrong in that."""
    lines: list[str] = []
    rest = list(troubles)
    for path in config_files():
        here = [one for one in rest if one.startswith(f"{path}: ")]
        rest = [one for one in rest if one not in here]
        if here:
            lines += [f"{path}:", *(f"  {one.removeprefix(f'{path}: ')}" for one in here), ""]
    return "\n".join([*lines, *rest]).strip()


# --- the workbench ----------------------------------------------------------------------


def _options(section: Mapping[str, object], told: list[str]) -> Options:
    names = [one.name for one in fields(Options)]
    kept: dict[str, object] = {}
    for name, value in section.items():
        if name not in names:
            told.append(
                f"workbench.{name}: there is no such entry; wanted are {_listed(names)}"
            )
            continue
        fits, wanted = _CHECKS.get(name, (_is_switch, "true or false"))
        if fits(value):
            kept[name] = value
        else:
            told.append(f"workbench.{name}: wanted is {wanted}")
    return Options(**kept)  # type: ignore[arg-type]  # each was checked above


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_idle(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and _LEAST_IDLE <= value <= _MOST_IDLE  # type: ignore[operator]  # a number


_CHECKS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "idle_seconds": (
        _is_idle,
        f"a number of seconds from {_LEAST_IDLE:.0f} to {_MOST_IDLE:.0f}",
    ),
}


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)
