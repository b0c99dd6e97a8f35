"""One file of a person's own: read, never written; what cannot be used is told."""

from pathlib import Path

import pytest

from nfh_tui.actions import ACTIONS
from nfh_tui.config import COLOURS, Config, Options, config_files, read
from nfh_tui.theme import DARK, LIGHT, made

WHOLE = """
[keys]
"queue.next" = "n, f8"
"kind.unknown" = "N"

[theme]
name = "harbour"

[theme.harbour]
dark = false
primary = "#123456"
background = "#fed"

[workbench]
mouse = false
blind = true
hide_model = false
guidelines = false
idle_seconds = 30
accept_after = 0.5
animation = true
tour = false
"""


@pytest.fixture
def given(tmp_path: Path):
    """Reads settings that are given as the text of the file."""

    def config(text: str, older: str | None = None) -> Config:
        own, old = tmp_path / "nfh-tui.toml", tmp_path / "keys.toml"
        own.write_text(text, encoding="utf-8")
        if older is not None:
            old.write_text(older, encoding="utf-8")
        found = read(own, old)
        assert own.read_text(encoding="utf-8") == text
        return found

    return config


def test_without_files_all_is_as_the_program_has_it(tmp_path):
    config = read(tmp_path / "a.toml", tmp_path / "b.toml")
    assert config == Config()
    assert config.keymap.actions is ACTIONS
    assert config.options == Options()


def test_everything_that_can_be_set(given):
    config = given(WHOLE)
    assert config.troubles == ()
    assert config.keymap.action_of("n") == "queue.next"
    assert config.keymap.action_of("N") == "kind.unknown"
    assert config.theme == "harbour"
    assert config.options == Options(
        mouse=False,
        blind=True,
        hide_model=False,
        guidelines=False,
        idle_seconds=30,
        accept_after=0.5,
        animation=True,
        tour=False,
    )


def test_an_own_theme_takes_what_it_lacks_from_ours(given):
    (own,) = given(WHOLE).themes
    theme = made(own)
    assert (theme.name, theme.dark) == ("harbour", False)
    assert (theme.primary, theme.background) == ("#123456", "#fed")
    assert theme.error == LIGHT.error
    assert theme.variables["scrollbar-hover"] == "#123456"
    dark = made(given('[theme.x]\nerror = "#f00"').themes[0])
    assert (dark.primary, dark.error) == (DARK.primary, "#f00")


def test_every_colour_of_the_list_is_one_of_a_theme(given):
    rows = "\n".join(f'{name} = "#abcdef"' for name in COLOURS)
    config = given(f"[theme.x]\n{rows}")
    assert config.troubles == ()
    theme = made(config.themes[0])
    assert {getattr(theme, name) for name in COLOURS} == {"#abcdef"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[keis]", "there is no section “keis”; wanted keys, theme, workbench"),
        ("keys = 3", "“keys” is not a section"),
        ('[keys]\n"queue.nxt" = "n"', "there is no such action"),
        ("[theme]\nname = 3", "theme.name: wanted the name"),
        ('[theme]\ncolor = "#fff"', "theme.color: there is no such entry"),
        ("[theme.x]\ndark = 1", "theme.x.dark: wanted true or false"),
        ('[theme.x]\nblue = "#fff"', "theme.x.blue: there is no such colour"),
        ('[theme.x]\nerror = "red"', "theme.x.error: wanted a colour"),
        ('[theme.x]\nerror = "#ffff"', "theme.x.error: wanted a colour"),
        ("[workbench]\nmice = true", "workbench.mice: there is no such entry"),
        ('[workbench]\nmouse = "no"', "workbench.mouse: wanted true or false"),
        ("[workbench]\nidle_seconds = 1", "from 5 to 3600"),
        (
            "[workbench]\naccept_after = 9",
            "workbench.accept_after: wanted a number of seconds from 0 to 5",
        ),
        ("[workbench]\nidle_seconds = true", "workbench.idle_seconds: wanted a number"),
        (
            "[workbench",
            "is not TOML, and none of it is used; correct or remove it (expected ']'",
        ),
    ],
)
def test_what_cannot_be_used_is_told_and_the_rest_counts(given, text, words):
    config = given(text)
    assert len(config.troubles) == 1
    assert words in config.troubles[0]
    assert config.options == Options()


def test_an_older_file_of_keys_is_read_and_the_newer_one_counts(given):
    older = '[keys]\n"queue.next" = "f7"\n"help" = "f9"\n[theme]\nname = "dracula"'
    config = given('[keys]\n"queue.next" = "f8"', older)
    assert config.keymap.own == {"queue.next": "f8", "help": "f9"}
    assert config.theme is None
    assert len(config.troubles) == 1
    assert "put it into nfh-tui.toml" in config.troubles[0]
    assert [path.name for path in config.files] == ["nfh-tui.toml", "keys.toml"]


def write(text: str) -> Path:
    path = config_files()[0]
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


async def drawn(desk, words: str) -> None:
    """Wait until a dialog that has been opened is drawn, too."""
    for _ in range(100):
        await desk.pilot.pause(0.02)
        if words in desk.text():
            return
    raise AssertionError(f"{words!r} is not on the screen:\n{desk.text()}")


async def test_the_workbench_is_as_the_file_says(open_desk):
    path = write(WHOLE)
    async with open_desk(mode="annotate") as desk:
        assert desk.app.theme == "harbour"
        assert desk.state.blind
        assert desk.state.model_shown
        assert not desk.state.guide_shown
        assert desk.app.animation_level == "full"
        await desk.press("n")
        assert desk.state.position.index == 1
    assert path.read_text(encoding="utf-8") == WHOLE


async def test_a_theme_chosen_in_the_workbench_is_kept_in_the_database(open_desk):
    path = write('[theme]\nname = "nfh-light"')
    async with open_desk() as desk:
        assert desk.app.theme == "nfh-light"
        desk.screen.action_act("theme")
        await desk.settle()
        await desk.press("k", "enter")
        chosen = desk.app.theme
        assert chosen != "nfh-light"
    async with open_desk() as desk:
        assert desk.app.theme == chosen
    assert path.read_text(encoding="utf-8") == '[theme]\nname = "nfh-light"'


async def test_a_theme_that_is_none_is_told_with_all_else_in_one_dialog(open_desk):
    write('[theme]\nname = "[/b]"\n[workbench]\nmice = 3')
    async with open_desk() as desk:
        await drawn(desk, "there is no theme “[/b]”")
        assert "workbench.mice" in desk.text()
        await desk.press("escape")
        assert len(desk.app.screen_stack) == 1
        assert desk.app.theme == "nfh-dark"


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "{a = " * 5000])
def test_brackets_without_end_are_told(given, text):
    config = given(text)
    assert config.keymap.actions is ACTIONS
    assert len(config.troubles) == 1
    assert config.troubles[0].endswith("its brackets are nested too deeply")


@pytest.mark.parametrize(
    "text", ['[keys]\n"queue.nxt" = "n"', "[theme.x]\ndark = 1", "[workbench]\nmice = 1", "["]
)
def test_what_is_wrong_names_the_file_first(given, tmp_path, text):
    (trouble,) = given(text).troubles
    assert trouble.startswith(f"{tmp_path / 'nfh-tui.toml'}: ")


async def test_the_dialog_is_about_the_settings_and_names_their_file(open_desk):
    write("[workbench]\nmice = 3\nrats = 4")
    async with open_desk() as desk:
        await drawn(desk, "Your settings")
        text = desk.text()
        assert "did not work" not in text
        assert "workbench.rats" in text
        # The dialog breaks the path where the line ends.
        assert all("nfh-tui.toml" in trouble for trouble in desk.app.config.troubles)
