"""Subtitles against pysubs2: what it writes is read, and read as it reads it itself."""

import re
from pathlib import Path

import pysubs2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nfh_db.formats.files import Source
from nfh_db.formats.subtitles import Deviations, SubtitleCue, subrip_cues, webvtt_cues
from tests.nfh_db.formats.subtitle_files import SUBRIP, WEBVTT, Heard, words

MARKS = "-‐‑–—―[](){}<>&:;♪\\"
letters = st.characters(exclude_categories=["C", "Z"], exclude_characters=MARKS)
word = st.text(letters, min_size=1, max_size=6).map(lambda text: f"w{text}")
line = st.lists(word, min_size=1, max_size=4).map(" ".join)
LATEST = 99 * 3_600_000
cues = st.lists(
    st.tuples(st.integers(0, LATEST), st.integers(0, 9_999), st.lists(line, min_size=1)),
    min_size=1,
    max_size=8,
)

KINDS = pytest.mark.parametrize(
    ("suffix", "read"), [("srt", subrip_cues), ("vtt", webvtt_cues)]
)


def written(path: Path, given_: list[tuple[int, int, list[str]]]) -> pysubs2.SSAFile:
    """A file that pysubs2 wrote, as it was given."""
    subs = pysubs2.SSAFile()
    for begin, length, lines in sorted(given_):
        event = pysubs2.SSAEvent(begin, begin + length)
        event.text = r"{\i1}" + r"\N".join(lines) + r"{\i0}"
        subs.append(event)
    subs.save(str(path))
    return subs


def as_seen(cue: SubtitleCue) -> tuple[int, int, str]:
    text = " ".join(text for _, text in cue.lines)
    return cue.begin, cue.until, re.sub("</?i>", "", text)


def as_judged(subs: pysubs2.SSAFile) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.plaintext.replace("\n", " ")) for one in subs]


@KINDS
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(given_=cues)
def test_what_pysubs2_writes(tmp_path: Path, suffix: str, read, given_) -> None:
    path = tmp_path / f"a.{suffix}"
    subs = written(path, given_)
    oddities = Deviations()
    found = list(map(as_seen, read(Source(path), oddities)))
    assert found == as_judged(subs) == as_judged(pysubs2.load(str(path)))
    assert oddities.warnings() == []
    heard = Heard(path)
    assert " ".join(text for _, text in words(heard)) == " ".join(text for *_, text in found)
    times = [turn[2:] for scene in heard.turns for turn in scene]
    assert times == [(begin, until) for begin, until, _ in found]


@pytest.mark.parametrize(
    ("time", "milliseconds"),
    [
        ("00:00:01,5", 1500),
        ("0:00:01.05", 1050),
        ("1:1:1,001", 3_661_001),
        ("99:59:59,999", 359_999_999),
    ],
)
def test_times_are_what_pysubs2_takes_them_for(
    tmp_path: Path, time: str, milliseconds: int
) -> None:
    path = tmp_path / "a.srt"
    path.write_text(f"1\n{time} --> {time}\ntwo\n", "utf-8")
    (cue,) = subrip_cues(Source(path), Deviations())
    (event,) = pysubs2.load(str(path))
    assert (cue.begin, cue.until) == (event.start, event.end) == (milliseconds, milliseconds)


def test_why_it_is_no_library_that_reads_them(tmp_path: Path) -> None:
    """Should this fail, then pysubs2 has become fit to read numbers and comments."""
    path = tmp_path / "a.srt"
    path.write_text(SUBRIP, "utf-8")
    assert pysubs2.load(str(path))[-1].plaintext == "How many?"
    assert words(Heard(path))[-1] == (None, "How many? 3")
    path = tmp_path / "a.vtt"
    path.write_text(WEBVTT.replace("01:00:00", "NOTE three\n\n01:00:00"), "utf-8")
    assert "NOTE three" in pysubs2.load(str(path))[0].plaintext
    assert not any("three" in text for _, text in words(Heard(path)))
