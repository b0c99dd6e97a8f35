"""`--encoding`, `--offsets` and their like, where files are read without a database."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.registry import opened
from nfh_tui.services.identify import check_running
from nfh_tui.services.imports import ImportOptions
from nfh_tui.services.predict_sources import other_format, passages_of

Call = Callable[..., Result]

DIALOG = "Ann: Two cafés?\nBen: No, three.\n"
SRT = "1\n00:00:01,000 --> 00:00:02,000\nTwo dogs?\n\n2\n00:00:03,000 --> 00:00:04,000\nOne.\n"


def test_an_encoding_that_is_named_is_heeded(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(DIALOG.encode("cp1252"))
    options = ImportOptions(encoding="cp1252")
    found = other_format(str(file), None, options)
    assert found is not None
    texts = [one.passage.text for one in passages_of(found, "given", options)]
    assert texts == [DIALOG.strip()]


def test_a_window_cuts_the_passages(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(DIALOG, "utf-8")
    options = ImportOptions(window=(0, 0))
    found = other_format(str(file), "dialog", options)
    assert found is not None
    texts = [one.passage.text for one in passages_of(found, "given", options)]
    assert texts == ["Ann: Two cafés?", "Ben: No, three."]


@pytest.mark.parametrize(
    ("place", "name", "said"),
    [("-", None, "--window"), ("a.txt", "text", "has no --window"), ("a.txt", None, None)],
)
def test_a_setting_that_is_not_known_is_refused(
    tmp_path: Path, place: str, name: str | None, said: str | None
) -> None:
    file = tmp_path / "a.txt"
    file.write_text(DIALOG, "utf-8")
    where = place if place == "-" else str(file)
    options = ImportOptions(window=(1, 1)) if said else ImportOptions(offsets="utf16")
    with pytest.raises(FormatError, match=said or "is read as dialog, which has no --offsets"):
        other_format(where, name, options)


@pytest.mark.parametrize("command", [("predict",), ("evaluate", "resolution")])
def test_settings_are_of_a_file(command: tuple[str, ...], call: Call, home: Path) -> None:
    result = call(*command, "--offsets", "utf16")
    assert result.exit_code == 2
    assert "--offsets needs --file" in result.stderr


def test_evaluate_refuses_what_a_format_does_not_know(call: Call, home: Path) -> None:
    file = home / "a.jsonl"
    file.write_text('{"text": "No, three.", "spans": []}\n', "utf-8")
    asked = ("evaluate", "resolution", "--file", file, "--format", "prodigy")
    result = call(*asked, "--encoding", "cp1252")
    assert result.exit_code == 1
    assert "is read as prodigy, which has no --encoding" in result.stderr


@pytest.mark.parametrize("name", [None, "prodigy", "dialog"])
def test_an_encoding_is_recommended_only_where_it_helps(
    tmp_path: Path, name: str | None
) -> None:
    file = tmp_path / "a.jsonl"
    text = DIALOG if name == "dialog" else '{"text": "Two cafés?", "spans": []}\n'
    file.write_bytes(text.encode("cp1252"))
    with pytest.raises(FormatError) as refused:
        found = opened(file, name)
        list(found.format.read(found.source, ImportOptions().read_options()))
    assert "save the file as UTF-8" in str(refused.value)
    assert ("--encoding" in str(refused.value)) == (name == "dialog")


def test_running_text_is_no_subtitles(tmp_path: Path) -> None:
    file = tmp_path / "a.srt"
    file.write_text(SRT, "utf-8")
    with pytest.raises(FormatError, match="is a file of subrip"):
        check_running(str(file))
    text = tmp_path / "a.txt"
    text.write_text(DIALOG, "utf-8")
    check_running(str(text))
