"""`nfh-tui formats` and `nfh-tui keys`: what the registries say."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from nfh_db.formats.wording import visible
from nfh_tui.cli.common import (
    MESSAGE_LIMIT,
    emit,
    json_option,
    no_db_option,
    reporting,
    say,
    tell,
)

if TYPE_CHECKING:
    from nfh_tui.actions import Action
    from nfh_tui.config import Config


@click.command(short_help="List the file formats, or say all of one.")
@click.argument("name", required=False)
@no_db_option
@json_option
@reporting
def formats(name: str | None, as_json: bool) -> None:
    """List the file formats: which way they go, what they are; of NAME all there is to say.

    That is what it can hold of an answer and where, its settings, and a line of it.
    """
    from nfh_tui.cli.formats_text import described, details, overview
    from nfh_tui.formats.registry import known

    found, troubles = known()
    for trouble in troubles:
        say(f"nfh-tui: {visible(trouble, MESSAGE_LIMIT)}")
    if name is not None:
        found = tuple(format_ for format_ in found if format_.name == name)
        if not found:
            raise click.UsageError(_no_format(name, [one.name for one in known()[0]]))
    if as_json:
        emit({"formats": list(map(described, found))})
        return
    for line in overview(found) if name is None else details(found[0]):
        tell(line)


def _no_format(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    from nfh_db.formats.strangers import REMOVED

    if name in REMOVED:
        return f"The format {name} was removed: {REMOVED[name]}"
    near = [one for one in names if name and name in one] or get_close_matches(name, names, 1)
    meant = f"; {near[0]} may be meant" if near else ""
    return f"There is no format {visible(name)}{meant}; there are {', '.join(names)}"


@click.command(short_help="List the keys of the workbench, your own among them.")
@click.option("--check", is_flag=True, help="Only say what of your file cannot be used.")
@no_db_option
@json_option
@reporting
def keys(check: bool, as_json: bool) -> None:
    """List the keys of the workbench, by what they are for, and where your own are read.

    Your file is nfh-tui.toml in your data folder. With --check the exit status is 1 if
    something in it cannot be used.
    """
    from nfh_tui.actions import key_table_text
    from nfh_tui.config import config_files, load

    config = load()
    files = config_files()
    troubles = [*config.troubles, *_theme_troubles(config)]
    if as_json:
        emit(
            {
                "keys": [_key_report(action, config) for action in config.keymap.actions],
                "files": [{"path": str(f), "found": f in config.files} for f in files],
                "theme": config.theme,
                "themes": [theme.name for theme in config.themes],
                "workbench": asdict(config.options),
                "troubles": troubles,
            }
        )
    elif not check:
        tell(key_table_text(config.keymap.actions), nl=False)
        tell(_files_text(config, files), nl=False)
    for trouble in troubles:
        say(f"nfh-tui: {visible(trouble, MESSAGE_LIMIT)}")
    if check and troubles:
        raise click.exceptions.Exit(1)
    if check and not as_json:
        tell("Nothing is wrong with your settings." if config.files else NO_FILE)


NO_FILE = "There is no file of your own; the keys are those of the program."


def _key_report(action: "Action", config: "Config") -> dict[str, object]:
    return {
        "id": action.id,
        "group": action.group,
        "keys": list(action.keys),
        "shown": action.shown,
        "title": action.title,
        "description": action.description,
        "own": action.id in config.keymap.own,
    }


def _files_text(config: "Config", files: Sequence[Path]) -> str:
    """Where a person's settings are looked for, and which acts have keys of their own."""
    from nfh_tui.actions.registry import key_line

    own = [a for a in config.keymap.actions if a.id in config.keymap.own]
    lines = ["", "Your own settings"]
    lines += [
        f"  {visible(str(path), MESSAGE_LIMIT)}  ({'read' if path in config.files else 'none'})"
        for path in files
        if path in config.files or path == files[0]
    ]
    lines += [
        key_line(action.shown, f"{action.title} ({action.id})", config.keymap.actions)
        for action in own
    ]
    return "\n".join(lines) + "\n"


def _theme_troubles(config: "Config") -> list[str]:
    """What is wrong with the theme that is named; Textual is asked only if one is."""
    if config.theme is None or config.theme in [theme.name for theme in config.themes]:
        return []
    from textual.theme import BUILTIN_THEMES

    from nfh_tui.config import theme_trouble
    from nfh_tui.theme import THEMES

    known = {**BUILTIN_THEMES, **{theme.name: theme for theme in THEMES}}
    trouble = theme_trouble(config.theme, known)
    return [trouble] if trouble else []
