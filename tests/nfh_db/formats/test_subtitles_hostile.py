"""Anything at all, given to the readers of dialogs: scenes that hold, or a refusal."""

from pathlib import Path
from time import process_time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.errors import FormatError
from tests.nfh_db.formats.subtitle_files import Heard

TIMES = "00:00:01,000 --> 00:00:02,000\n"
PARTS = {
    "subrip": ["1\n", TIMES, "00:01:00,5 --> 00:00:01,0 X1:1\n", "00:00:01,000 -> "],
    "webvtt": [
        *("WEBVTT\n\n", "00:01.000 --> 00:02.000\n", "NOTE ", "<v ", "<v Ann>", "</v>", "<rt>"),
        *("<00:00:01.000>", "&#10;", "&#13;", "&amp;", "<c.x>", "-->"),
    ],
    "fountain": [
        *("INT. ROOM\n\n", "ANNA\n", "@", "!", ".", "~", "> ", " <", "(V.O.)", "^", "/*", "*/"),
        *("[[", "]]", "***", "_", "  \n", "Title: x\n", "#", "= ", "CUT TO:\n"),
    ],
    "chat": [
        *("@UTF8\n", "@Begin\n", "*MAR:\t", "%com:\t", "\t", "[/] ", "[//] ", "[: ", "+/. "),
        *("\x151_2\x15", "@End\n", "@G:\t", "&-um ", "xxx ", "("),
    ],
}
COMMON = [
    *("\n", "\n\n", "\r\n", "\r", " ", "\t", "\u2028", "\x85", "\x0b", "\x1b[1m", "\ufeff"),
    *("two ", "ANNA: ", "Anna: ", "- ", "—", "[", "]", "(", ")", "<i>", "</i>", "{\\an8}", "♪"),
    *("3\n", "3,000", "é", "e\u0301", "\U0001f468\u200d\U0001f467", "𝟚", "\u202e", "\\", "<"),
]
START = {
    "subrip": "1\n" + TIMES,
    "webvtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n",
    "chat": "@UTF8\n@Begin\n*MAR:\t",
    "fountain": "INT. ROOM\n\nANNA\n",
}


@pytest.mark.parametrize("name", PARTS)
@settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_file_holds_or_is_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    parts = st.sampled_from(PARTS[name] + COMMON)
    text = START[name] + "".join(data.draw(st.lists(parts, max_size=40)))
    path = tmp_path / "a.txt"
    path.write_text(text, "utf-8", newline="")
    try:
        heard = Heard(path, name=name)
    except FormatError as error:
        assert str(error).startswith(str(path))
        return
    assert heard.turns
    count = len(path.read_bytes().split(b"\n"))
    for block in heard.blocks:
        assert block.turns
        assert block.text.count("\n") == len(block.turns) - 1
        for rank, turn in enumerate(block.turns):
            said = block.text[turn.start : turn.end]
            assert said == said.strip()
            assert said
            assert turn.number == rank
            assert 1 <= turn.line <= count


RUNS = [
    *(
        " ",
        "\t",
        "(",
        "()",
        "[",
        "[]",
        "<",
        "<v ",
        "<rt>",
        "</",
        "{\\",
        "*",
        "*a ",
        "_a ",
        "- ",
    ),
    *("-", "A:", "\\", "&", "@", "/*", "[[", "1:", ".", "-->", "a", "\x15", "+", "<a> [/] "),
]


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(
    "run",
    [
        *RUNS[::3],
        *(pytest.param(run, marks=pytest.mark.long) for run in RUNS if run not in RUNS[::3]),
    ],
)
def test_a_long_line_takes_no_time(tmp_path: Path, name: str, run: str) -> None:
    path = tmp_path / "a.txt"
    many = run * (60_000 // len(run))
    path.write_text(f"{START[name]}two {many}x\n\n", "utf-8")
    begun = process_time()
    try:
        Heard(path)
        Heard(path, name=name)
    except FormatError:
        pass
    assert process_time() - begun < 1
