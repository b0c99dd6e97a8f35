"""The user's settings and keys, `nfh-tui.toml` in the data folder, which is never written; the
places of files; the legend of signs.

Actions go by the ids of the registry, keys by their character or by Textual's name. ctrl+q
quits whatever the file says.

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

Wrong entries are left out and reported in a sentence each. An older `keys.toml` beside it is
read too. Only the standard library is used, so that `nfh-tui keys` starts no screen.
"""

import os
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from nfh_db.messages import reason_of
from nfh_db.system import data_folder
from nfh_models.domain import Blocking
from nfh_tui.actions import ACTIONS, BY_ID, Action, key_name

WITH = frozenset({"ctrl", "alt", "shift", "meta", "super", "hyper"})
"""Modifier keys, as in ctrl+shift+up."""

WITHOUT_CHARACTER = frozenset(
    [
        *("up", "down", "left", "right", "home", "end", "pageup", "pagedown"),
        *("insert", "delete", "backspace", "enter", "return", "escape", "tab", "space"),
        *(f"f{number}" for number in range(1, 25)),
    ]
)

LAST_NAMED = 0x24F
"""Last code point whose name, such as less_than_sign, is accepted."""


_SIGNS = frozenset(
    key_name(chr(code)) for code in range(0x21, LAST_NAMED) if chr(code).isprintable()
)


def is_key(typed: str) -> bool:
    """True for a valid key: a character or a name, with or without modifiers."""
    if len(typed) == 1:
        return typed.isprintable()
    *held, key = typed.split("+")
    if len(set(held)) != len(held) or not WITH.issuperset(held):
        return False
    if len(key) == 1:
        return key.isprintable() and key != " "
    return key in WITHOUT_CHARACTER or key in _SIGNS or _is_sign(key)


def _is_sign(name: str) -> bool:
    """True for the name of a character that can be typed and seen."""
    try:
        character = unicodedata.lookup(name.replace("_", " ").upper())
    except KeyError:
        return False
    return len(character) == 1 and character.isprintable() and name == name.lower()


def shown(typed: str) -> str:
    """A typed key, safe to print."""
    seen = (c if c.isprintable() else f"⟨U+{ord(c):04X}⟩" for c in typed)
    return "".join(seen)[:40]


KEYS_FILE = "keys.toml"
"""An older file with keys only, which is still read."""

ALWAYS = frozenset({"ctrl+q", "ctrl+c"})
"""Keys that cannot be reassigned: they quit, or tell how to."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """The registry with a person's keys in it.

    own: those keys, by act, as Textual's keymaps have them. troubles: sentences on what of
    the file cannot be used.
    """

    actions: tuple[Action, ...] = ACTIONS
    own: Mapping[str, str] = field(default_factory=dict)
    troubles: tuple[str, ...] = ()

    def action_of(self, key: str, where: str = "") -> str | None:
        """The id of the act that a key stands for there, by Textual's name of the key."""
        there = (action for action in self.actions if action.where == where)
        return next((action.id for action in there if key in action.keys), None)


def apply(wanted: Mapping[str, object], files: Mapping[str, Path] | None = None) -> Keymap:
    """The registry with these keys; a wrong entry is left out and reported.

    files: the file of each entry, for the reports.
    """
    troubles: list[str] = []
    own: dict[str, tuple[str, ...]] = {}
    for action_id, typed in wanted.items():
        if (trouble := _trouble(action_id, typed)) is None:
            own[action_id] = tuple(key.strip() for key in str(typed).split(",") if key.strip())
        else:
            troubles.append(_placed(action_id, trouble, files))
    while own and (clash := _clash(_with(own))):
        key, one, other = clash
        loser, keeper = (other, one) if other.id in own else (one, other)
        del own[loser.id]
        trouble = (
            f"{loser.id}: the key {key} belongs to {keeper.id} ({keeper.title}); give that "
            "action another key too"
        )
        troubles.append(_placed(loser.id, trouble, files))
    names = {action_id: ",".join(map(key_name, keys)) for action_id, keys in own.items()}
    return Keymap(_with(own) if own else ACTIONS, names, tuple(troubles))


def _placed(action_id: str, trouble: str, files: Mapping[str, Path] | None) -> str:
    return trouble if files is None else f"{files[action_id]}: {trouble}"


def _trouble(action_id: str, typed: object) -> str | None:
    if action_id not in BY_ID:
        return f"{action_id}: there is no such action; nfh-tui keys lists them"
    if not isinstance(typed, str) or not typed.strip(" ,"):
        return f"{action_id}: wanted one or more keys with commas between, as a string"
    unknown = [key for key in map(str.strip, typed.split(",")) if key and not is_key(key)]
    if unknown:
        return (
            f"{action_id}: “{shown(unknown[0])}” is not a key; wanted a character, or a name "
            "such as f8, ctrl+w or pagedown"
        )
    taken = {key_name(key.strip()) for key in typed.split(",")} & ALWAYS
    return f"{action_id}: {min(taken)} cannot be reassigned" if taken else None


def _with(own: Mapping[str, Sequence[str]]) -> tuple[Action, ...]:
    return tuple(
        replace(
            action,
            keys=tuple(map(key_name, own[action.id])),
            shown=" ".join(own[action.id]),
            listed=None,
        )
        if action.id in own
        else action
        for action in ACTIONS
    )


def _clash(actions: Sequence[Action]) -> tuple[str, Action, Action] | None:
    """A key with two actions in one mode and place, and the two actions."""
    for place, one in enumerate(actions):
        for other in actions[place + 1 :]:
            shared = set(one.keys) & set(other.keys)
            if shared and one.modes & other.modes and one.where == other.where:
                return min(shared), one, other
    return None


FILE_NAME = "nfh-tui.toml"
SECTIONS = ("keys", "theme", "workbench")
COLOURS = (
    *("primary", "secondary", "accent", "warning", "error", "success"),
    *("foreground", "background", "surface", "panel", "boost"),
)
"""Colours that a theme of the user may set."""

_HEX = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_SECONDS = {"idle_seconds": (5, 3600), "accept_after": (0, 5)}
"""The least and the most of each setting in seconds."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the workbench.

    mouse: whether the terminal reports it. blind: names are hidden from the start. hide_model:
    predictions are hidden until an item is answered, for who annotates or decides blind.
    guidelines: shown in place of the evidence for annotators. idle_seconds: time without a key
    after which the clock of an item stops. accept_after: seconds that an item must be in view
    before a key accepts an answer that you have not changed; 0 for none. animation: of
    scrolling. tour: offered to users who are new.
    """

    mouse: bool = True
    blind: bool = False
    hide_model: bool = True
    guidelines: bool = True
    idle_seconds: float = 60.0
    accept_after: float = 0.25
    animation: bool = False
    tour: bool = True


@dataclass(frozen=True, slots=True)
class OwnTheme:
    """A theme of the user; colours that it lacks come from the built-in dark or light theme."""

    name: str
    dark: bool = True
    colours: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a person.

    theme: the name of the first theme, None where none is named. troubles: sentences
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
    """The files of a person's settings: the current one, then the older one.

    Raises OSError for a user who has no folder of their own.
    """
    folder = data_folder()
    return folder / FILE_NAME, folder / KEYS_FILE


def load() -> Config:
    """The settings of the user; defaults without a file."""
    try:
        own, older = config_files()
    except OSError as error:
        return Config(troubles=(f"your settings cannot be found: {error}",))
    return read(own, older)


def read(own: Path, older: Path) -> Config:
    """The settings of these two files; where both assign keys to an action, `own` counts."""
    told: list[str] = []
    found = [path for path in (own, older) if path.exists()]
    top, old = _table_of(own, told), _table_of(older, told)
    old_keys, own_keys = _section(old, "keys", older, told), _section(top, "keys", own, told)
    files = {**dict.fromkeys(old_keys, older), **dict.fromkeys(own_keys, own)}
    keymap = apply({**old_keys, **own_keys}, files)
    told.extend(keymap.troubles)
    told.extend(
        f"{own}: there is no section “{name}”; wanted {_listed(SECTIONS)}"
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
    """The content of a file; empty for a missing or an invalid one, which is reported."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        told.append(
            f"{path}: this is not TOML, and none of it is used; correct or remove it "
            f"({reason_of(error)})"
        )
    except RecursionError:
        told.append(f"{path}: this cannot be read: its brackets are nested too deeply")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else reason_of(error)
        told.append(f"{path}: this cannot be read, and none of it is used ({why})")
    return {}


def _section(
    table: Mapping[str, object], name: str, path: Path, told: list[str]
) -> Mapping[str, object]:
    section = table.get(name, {})
    if isinstance(section, dict):
        return section
    told.append(f"{path}: “{name}” is not a section; wanted a line [{name}] above its entries")
    return {}


# --- themes -----------------------------------------------------------------------------


def _themes(
    section: Mapping[str, object], told: list[str]
) -> tuple[str | None, tuple[OwnTheme, ...]]:
    """The first theme, and the themes of the user."""
    chosen: str | None = None
    themes: list[OwnTheme] = []
    for name, value in section.items():
        if isinstance(value, dict):
            themes.append(_theme(name, value, told))
        elif name != "name":
            told.append(
                f"theme.{name}: there is no such entry; wanted “name”, and a section "
                "[theme.NAME] for each theme of your own"
            )
        elif isinstance(value, str) and value:
            chosen = value
        else:
            told.append("theme.name: wanted the name of a theme, as a string")
    return chosen, tuple(themes)


def _theme(name: str, table: Mapping[str, object], told: list[str]) -> OwnTheme:
    dark, colours = True, {}
    for key, value in table.items():
        where = f"theme.{name}.{key}"
        if key == "dark":
            if isinstance(value, bool):
                dark = value
            else:
                told.append(f"{where}: wanted true or false")
        elif key not in COLOURS:
            told.append(f"{where}: there is no such colour; wanted {_listed(COLOURS)}")
        elif isinstance(value, str) and _HEX.fullmatch(value):
            colours[key] = value
        else:
            told.append(f'{where}: wanted a colour such as "#6aa9c9"')
    return OwnTheme(name, dark, colours)


def theme_trouble(name: str, known: Mapping[str, object]) -> str:
    """The error for an unknown theme; "" for a known one."""
    if name in known:
        return ""
    wanted = _listed(sorted(known))
    return f"{config_files()[0]}: theme.name: there is no theme “{name}”; wanted: {wanted}"


def by_file(troubles: Iterable[str]) -> str:
    """The errors, grouped under the path of each file."""
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
            told.append(f"workbench.{name}: there is no such entry; wanted {_listed(names)}")
            continue
        fits, wanted = isinstance(value, bool), "true or false"
        if name in _SECONDS:
            least, most = _SECONDS[name]
            fits = isinstance(value, int | float) and not fits and least <= value <= most
            wanted = f"a number of seconds from {least} to {most}"
        if fits:
            kept[name] = value
        else:
            told.append(f"workbench.{name}: wanted {wanted}")
    return Options(**kept)  # type: ignore[arg-type]  # each was checked above


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(names)


DATABASE_NAME = "nfh.db"
READ_ONLY_VARIABLE = "NFH_TUI_READ_ONLY"
"""An environment variable: the reason why reading commands write nothing."""

DATABASE_VARIABLE = "NFH_TUI_DB"


def named_database(given: Path | None) -> Path | None:
    """The database of --db, else of $NFH_TUI_DB; None if neither is given."""
    if given is not None:
        return given
    variable = os.environ.get(DATABASE_VARIABLE, "")
    return Path(variable) if variable else None


def database(given: Path | None) -> Path:
    """The database to work on: the one named, else nfh.db here, else the one in the data
    folder, which need not exist.
    """
    if (named := named_database(given)) is not None:
        return named
    here = Path(DATABASE_NAME)
    return here if here.exists() else data_folder() / DATABASE_NAME


def new_database(given: Path | None) -> Path:
    """The path of a new database: the one named, else nfh.db here."""
    return named_database(given) or Path(DATABASE_NAME)


def make_folder_for(path: Path) -> None:
    """Create the data folder if `path` lies in it; other folders are not created.

    Raises OSError.
    """
    if path.parent == data_folder():
        path.parent.mkdir(parents=True, exist_ok=True)


DISAGREEMENTS: dict[Blocking, tuple[str, str]] = {
    Blocking.DAMAGE: ("damage", "damaged text"),
    Blocking.SCOPE: ("scope", "fused head or not"),
    Blocking.ROUTE: ("route", "class or noun"),
    Blocking.ANSWERABILITY: ("answer?", "answerable"),
    Blocking.CLASS: ("class", "which class"),
    Blocking.NOUN: ("noun", "which noun"),
    Blocking.PARTIAL: ("partial", "part of the nouns"),
    Blocking.RELATION: ("relation", "and/or"),
}
"""Each kind of disagreement as a tag of the queue, and as people read it, strongest first."""

LEGEND: tuple[tuple[str, str], ...] = (
    ("▸one◂", "the item's number; others are dim; ✓ and a letter: decided with that kind"),
    ("‹ ›", "the span that an annotator proposes for the number"),
    ("₁ ₂", "before a word: it is the first, second head of your answer"),
    ("×", "a removed mention"),
    (
        "¹ ² ³",
        ("after a word: who marked it, by their keys; reversed: your answer does not have it"),
    ),
    ("◆", "before a word: the gold's head, where your answer has another"),
    ("[ ]", "a span that is growing"),
    ("▁ to █", "heat map: the score of a word; + and −: of two models, which scores it higher"),
    ("┄┄┄", "between turns, if switched on: annotators saw from here, to here"),
    ("↑ ↓", "under the passage: a head of your answer is above, below the visible part"),
    ("○ ◐ ≠", "nobody answered; answers agree; answers disagree"),
    ("✓ ↺", "decided; the number's span was corrected after people had answered"),
    ("▌ ┆", "in the queue: the item shown; where you continue, while another one is shown"),
    ("2-1 noun", "two annotators against one, and their first difference"),
    *((tag, f"answers differ: {words}") for tag, words in DISAGREEMENTS.values()),
    ("» a m g", "you skipped it; flags: span wrong, ambiguous, guidelines silent"),
    ("= ≠ noun", "in the evidence: the same as your answer; the difference from it"),
    ("≈ mention", "in the evidence: the same noun, but no mention that your answer has"),
    ("12m◆", "in the evidence: whose it is: annotators 1 and 2, the model, the gold"),
    ("t1 +1", "in the evidence: in turn 1; one more mention"),
    ("as 1", "in the evidence: the same sentence as with the answer of annotator 1"),
    ("R18", "rule R18 of the guidelines, on which the answer depends: R, F5"),
)
"""Each sign with its meaning, from the passage to the evidence."""
