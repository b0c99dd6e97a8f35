"""What may become a version, and an editor of one's own that fails."""

import pytest

from nfh_tui.screens.guidelines import _edited, trouble_of
from nfh_tui.services.guidelines import GuidelinesError, checked, first_text

TEXT = "## R1 One rule\n\nWords.\n"


@pytest.mark.parametrize("character", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\u200b"])
def test_what_cannot_be_seen_is_refused_with_its_line(character):
    with pytest.raises(GuidelinesError, match=rf"line 3: U\+{ord(character):04X} "):
        checked(TEXT.replace("Words", f"Wo{character}rds"))
    assert trouble_of(TEXT.replace("Words", f"Wo{character}rds"))


def test_tabs_accents_and_other_scripts_are_text():
    assert checked(TEXT.replace("Words", "Wo\trds, e\u0301, 漢字, خيمة 🎈"))
    assert checked(first_text())


@pytest.mark.parametrize("command", ["false", "no-such-editor-anywhere", "'unbalanced"])
def test_an_editor_that_fails_leaves_the_text_and_a_sentence(command):
    text, failed = _edited(TEXT, command)
    assert text == TEXT
    assert "editor" in failed


def test_an_editor_that_leaves_no_text_is_told(tmp_path):
    script = tmp_path / "editor"
    script.write_text("#!/bin/sh\nprintf '\\377' > \"$1\"\n")
    script.chmod(0o700)
    text, failed = _edited(TEXT, str(script))
    assert text == TEXT
    assert "UTF-8" in failed
