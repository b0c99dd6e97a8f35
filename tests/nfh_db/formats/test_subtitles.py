"""Subtitles: turns, speakers, times, scenes, what is left out, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import dialog as turns
from nfh_db.formats.rows import ReadOptions
from tests.nfh_db.formats.subtitle_files import SUBRIP, WEBVTT, Heard, cue, words

Write = Callable[..., Path]


def test_a_subrip_file(write: Write) -> None:
    heard = Heard(write(SUBRIP, "film.txt"))
    assert (heard.format, heard.reason) == (
        "subrip",
        "it begins with the times of a SubRip cue",
    )
    assert heard.turns == [
        [
            (None, "How many tickets?", 15_100, 17_050),
            (None, "Three, I think.", 15_100, 17_050),
            ("ANNA", "Give me two.", 17_500, 19_000),
        ],
        [(None, "How many? 3", 60_000, 62_000)],
    ]
    assert heard.lines == [[3, 4, 8], [12]]
    assert heard.warnings == ['1 note of sounds left out, the first in line 7: "[door slams]"']


def test_a_webvtt_file(write: Write) -> None:
    heard = Heard(write(WEBVTT, "film.txt"))
    assert (heard.format, heard.reason) == ("webvtt", "its first line is WEBVTT")
    assert heard.turns == [
        [
            ("Anna", "How many tickets & seats?", 15_100, 17_050),
            ("Ben O'Hara", "Three, I think.", 15_100, 17_050),
        ],
        [
            (None, "Four?", 3_600_000, 3_602_000),
            (None, "No, five.", 3_600_000, 3_602_000),
        ],
    ]
    assert heard.lines == [[7, 8], [11, 12]]
    assert heard.warnings == []


def test_a_name_without_words_is_counted(write: Write) -> None:
    heard = Heard(write(cue("ANNA:", "- Two.") + cue("BEN: [sighs]", at=5)))
    assert words(heard) == [(None, "Two.")]
    assert heard.warnings[-1] == (
        '2 names without words in the cue left out, the first in line 3: "ANNA"'
    )


@pytest.mark.parametrize("name", ["subrip", "webvtt"])
def test_byte_order_mark_and_crlf_change_nothing(write: Write, name: str) -> None:
    text = SUBRIP if name == "subrip" else WEBVTT
    plain = Heard(write(text, "a.txt"))
    marked = Heard(write(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), "b.txt"))
    assert (marked.format, marked.blocks) == (name, plain.blocks)


CUES = [
    (("Two tickets,", "please."), [(None, "Two tickets, please.")]),
    (("How many?", "- Three."), [(None, "How many?"), (None, "Three.")]),
    (("-Three.", "–Four.", "— Five."), [(None, "Three."), (None, "Four."), (None, "Five.")]),
    (("- How many? - Three.",), [(None, "How many?"), (None, "Three.")]),
    (("-How many?  -Three. -3.",), [(None, "How many?"), (None, "Three. -3.")]),
    (("- I have - well - two.",), [(None, "I have - well - two.")]),
    (("It is cold. - Two.",), [(None, "It is cold. - Two.")]),
    (("Two<br/>of us\\Nhere",), [(None, "Two of us here")]),
    (("-3 degrees.",), [(None, "-3 degrees.")]),
    (("-3?", "-4."), [(None, "3?"), (None, "4.")]),
    (("—and two more.",), [(None, "—and two more.")]),
    (("--and two more.",), [(None, "--and two more.")]),
    (("- ANNA: Two.", "- BEN: Three."), [("ANNA", "Two."), ("BEN", "Three.")]),
    (("ANNA:", "Two tickets."), [("ANNA", "Two tickets.")]),
    (("ANNA: Two.", "BEN: Three."), [("ANNA", "Two."), ("BEN", "Three.")]),
    (("MAN 2 (on phone): Two.",), [("MAN 2", "Two.")]),
    (("MAN 2 (ON PHONE): Two.",), [("MAN 2", "Two.")]),
    (("Listen: two.",), [(None, "Listen: two.")]),
    (("It is 10:30.",), [(None, "It is 10:30.")]),
    (("{\\an8}<b>Two</b> <font color='#fff'>of us</font>",), [(None, "Two of us")]),
    (("I <3 you two",), [(None, "I <3 you two")]),
    (
        (
            "Give me [sighs] two [door",
            "slams] of them",
        ),
        [(None, "Give me two of them")],
    ),
    (("(door slams)", "Two."), [(None, "Two.")]),
    (("- (sighs)", "- Two (of us)."), [(None, "Two (of us).")]),
    (("(SIGHS) Two, (2) three.",), [(None, "Two, (2) three.")]),
    (("<laughs> Two.",), [(None, "Two.")]),
    (("♪ Two little birds ♪",), [(None, "♪ Two little birds ♪")]),
    (("♪♪", "- ...", "Two."), [(None, "Two.")]),
    (
        ("&amp; two&nbsp;cups &#39;&lt;b&gt; AT&T &amp",),
        [(None, "& two\u00a0cups '<b> AT&T &amp")],
    ),
    (("two&#10;three",), [(None, "two three")]),
    ((">> How many? >> ANNA: Three.",), [(None, "How many?"), ("ANNA", "Three.")]),
    ((">>> Four", ">>five"), [(None, "Four"), (None, "five")]),
    (("if two >3",), [(None, "if two >3")]),
    (("[ANNA]: Two.", "- (BEN): Three."), [("ANNA", "Two."), ("BEN", "Three.")]),
    (("[ANNA] Two.", "(BEN) Three."), [(None, "Two. Three.")]),
    (
        ("\u200e- Two?", "&lrm;- Three.", "\u202b-4\u202c"),
        [(None, "Two?"), (None, "Three."), (None, "4")],
    ),
    (("Speaker 2: Two.", "Step 2: three"), [("Speaker 2", "Two. Step 2: three")]),
    (("{y:i}Two {b}of{/b} {us}",), [(None, "Two of {us}")]),
    (("<ANNA>Two</ANNA>",), [(None, "Two")]),
    (("二人：two", "e\u0301 𝟚"), [(None, "二人：two e\u0301 𝟚")]),
]


@pytest.mark.parametrize(("lines", "said"), CUES)
def test_the_words_of_a_cue(
    write: Write, lines: tuple[str, ...], said: list[tuple[str | None, str]]
) -> None:
    assert words(Heard(write(cue(*lines) + cue("one", at=5)))) == [*said, (None, "one")]


PAYLOADS = [
    ("<v Ann>Two</v> then three", [("Ann", "Two"), (None, "then three")]),
    ("<v>Two", [(None, "Two")]),
    ("<v.first.loud Ann &amp; Ben>Two", [("Ann & Ben", "Two")]),
    ("<v\nAnn>Two\nthree", [("Ann", "Two three")]),
    ("<c.yellow.bg_blue>Two</c> <lang en-GB>three</lang>", [(None, "Two three")]),
    ("&lt;i&gt; two&nbsp;of &amp;amp; us", [(None, "<i> two\u00a0of &amp; us")]),
    ("two&#10;three", [(None, "two three")]),
    ("<ruby>二<rt>ni</rt></ruby> two", [(None, "二 two")]),
    ("[sighs] two", [(None, "two")]),
    ("<v Ann>- two", [("Ann", "two")]),
]


@pytest.mark.parametrize(("payload", "said"), PAYLOADS)
def test_the_words_of_a_webvtt_cue(
    write: Write, payload: str, said: list[tuple[str | None, str]]
) -> None:
    assert words(Heard(write(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{payload}\n"))) == said


def test_a_name_that_is_not_in_capitals_has_to_stand_twice(write: Write) -> None:
    once = Heard(write(cue("Anna: one") + cue("Listen: two", at=1)))
    assert words(once) == [(None, "Anna: one"), (None, "Listen: two")]
    assert once.warnings == [
        "2 lines read without a speaker though a name may be meant, the first in line 3: "
        '"Anna"; a name in capitals is always taken, another one if it comes before a colon '
        "twice"
    ]
    twice = Heard(write(cue("Anna: one") + cue("Listen: two", at=1) + cue("- Anna: 3", at=2)))
    assert words(twice) == [("Anna", "one"), (None, "Listen: two"), ("Anna", "3")]


def test_in_a_file_of_capitals_they_tell_no_names(write: Write) -> None:
    assert words(Heard(write(cue("LISTEN: TWO") + cue("OK", at=1)))) == [
        (None, "LISTEN: TWO"),
        (None, "OK"),
    ]


def at(seconds: float, words_: str) -> str:
    minutes, rest = divmod(round(seconds * 1000), 60_000)
    begin = f"00:{minutes:02}:{rest // 1000:02},{rest % 1000:03}"
    return f"1\n{begin} --> {begin}\n{words_}\n\n"


def scenes(write: Write, text: str, pause: float | None = None) -> list[list[str]]:
    heard = Heard(write(text), ReadOptions(pause=pause))
    return [[turn[1] for turn in scene] for scene in heard.turns]


def test_silence_parts_scenes(write: Write) -> None:
    text = (
        at(10, "a1") + at(14.999, "b2") + at(19.999, "c3") + at(21, "[a car]") + at(24.9, "d4")
    )
    assert scenes(write, text) == [["a1", "b2"], ["c3", "d4"]]
    assert scenes(write, text, 4.9) == [["a1"], ["b2"], ["c3"], ["d4"]]
    assert scenes(write, text, 60) == [["a1", "b2", "c3", "d4"]]


def test_a_clock_that_goes_back_parts_scenes(write: Write) -> None:
    assert scenes(write, at(10, "a") + at(8, "b") + at(1, "c")) == [["a", "b"], ["c"]]


def test_what_is_odd_is_kept_and_said(write: Write) -> None:
    text = (
        "1\n00:00:05,000 --> 00:00:02,000\nOne\n\ntwo\n\n\n2\n00:00:05,000 --> 00:00:06,0\n7\n"
    )
    heard = Heard(write(text))
    assert heard.turns == [[(None, "One two", 5000, 2000), (None, "7", 5000, 6000)]]
    assert heard.warnings == [
        "1 cue ends before it begins, kept as it is; the first in line 2",
        "1 cue has an empty line in its text: the lines after it were read as its words, "
        "too; the first in line 2",
    ]


def test_cues_without_numbers_or_empty_lines_between(write: Write) -> None:
    first, second = "00:00:01,000 --> 00:00:02,000", "0:0:2.5-->0:0:3.25 X1:1 Y1:2"
    bare = Heard(write(f"{first}\nHow many?\n3\n\n{second}\n4\n"))
    assert bare.turns == [[(None, "How many? 3", 1000, 2000), (None, "4", 2500, 3250)]]
    tight = Heard(write(f"1\n{first}\nHow many?\n3\n2\n{second}\n4\n"))
    assert tight.turns == bare.turns


ROLLING = """WEBVTT

00:00.000 --> 00:02.000 align:start
 \nhow<00:00.480><c> many</c>

00:02.000 --> 00:02.010
how many
 \n
00:02.010 --> 00:04.000
how many
give<00:02.480><c> me</c><00:02.900><c> two</c>
"""


def test_captions_that_roll_are_said_once(write: Write) -> None:
    rolled = Heard(write(ROLLING))
    assert rolled.turns == [[(None, "how many", 0, 2000), (None, "give me two", 2010, 4000)]]
    assert rolled.warnings == ["2 lines that rolling captions show again left out"]
    plain = Heard(write(ROLLING.replace("<00:00.480>", "").replace("<00:02.480>", "").replace(
        "<00:02.900>", "")))  # fmt: skip
    assert [turn[1] for turn in plain.turns[0]] == [
        "how many",
        "how many",
        "how many give me two",
    ]
    assert plain.warnings == [
        "2 cues of 3 begin with the last line of the cue before, and were kept; if the "
        "captions roll, that line was said once"
    ]


def test_what_is_said_again_after_a_pause_is_said_twice(write: Write) -> None:
    later = ROLLING.replace("00:02.010 -->", "00:02.900 -->")
    assert [turn[1] for turn in Heard(write(later)).turns[0]] == [
        "how many",
        "how many give me two",
    ]


REFUSED = [
    (
        "a.srt",
        "1\n00:00:01 --> 00:00:02\ntwo\n",
        'line 2: found "00:00:01 --> 00:00:02", wanted '
        "times such as 00:01:02,300 --> 00:01:04,000",
    ),
    ("a.srt", "1\n00:00:61,000 --> 00:00:02,000\ntwo\n", "line 2: found"),
    (
        "a.srt",
        "Two men\n",
        'line 1: found "Two men", wanted the number or the times of the first',
    ),
    ("a.srt", "1\n\n2\n", "holds no cue; wanted 00:01:02,300"),
    ("a.srt", cue("[music]"), "holds cues without words; wanted what people say"),
    ("a.vtt", "WEBVTT\n\nNOTE none\n", "holds no cue; wanted 01:02.300"),
    (
        "a.vtt",
        "WEBVTT\n\n00:61.000 --> 00:02.000\ntwo\n",
        "line 3: found.*wanted times such as 01:02.300 --> 01:04.000",
    ),
    ("a.vtt", "WEBVTTX\n\n00:01.000 --> 00:02.000\ntwo\n", 'line 1: found "WEBVTTX", wanted'),
]


@pytest.mark.parametrize(("name", "text", "sentence"), REFUSED)
def test_what_is_no_subtitle_is_refused(
    write: Write, name: str, text: str, sentence: str
) -> None:
    with pytest.raises(FormatError, match=sentence):
        Heard(write(text, name))


BRACKETS = """\
1
00:00:01,000 --> 00:00:02,000
[Anna] Two tickets?

2
00:00:02,500 --> 00:00:03,000
[Ben] No, three.

3
00:00:03,500 --> 00:00:04,000
(Anna) Then give him four.

4
00:00:04,500 --> 00:00:05,000
ANNA: Five.
"""


def test_names_in_brackets_before_words_are_speakers(write: Write) -> None:
    heard = Heard(write(BRACKETS, "a.srt"))
    assert words(heard) == [
        ("Anna", "Two tickets?"),
        ("Ben", "No, three."),
        ("Anna", "Then give him four."),
        ("ANNA", "Five."),
    ]
    assert heard.warnings == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("- [Man 2] Two.", ("Man 2", "Two.")),
        ("[Dr. Ray (on phone)] Two.", ("Dr. Ray", "Two.")),
        (">> [Anna] Two.", ("Anna", "Two.")),
        ("[SPEAKER 1] Two.", ("SPEAKER 1", "Two.")),
        ("<i>[Anna]</i> Two.", ("Anna", "Two.")),
        ("[sighs] Two.", (None, "Two.")),
        ("[Music] Two.", (None, "Two.")),
        ("[Phone rings] Two.", (None, "Two.")),
        ("(SIGHS) Two.", (None, "Two.")),
        ("[ANNA] Two.", (None, "Two.")),
        ("[Laughing] Two.", (None, "Two.")),
        ("(Two) or three.", (None, "(Two) or three.")),
        ("(after all) two.", (None, "(after all) two.")),
        ("(s)he has two.", (None, "(s)he has two.")),
    ],
)
@pytest.mark.parametrize("name", ["a.srt", "a.vtt"])
def test_sounds_and_asides_in_brackets_name_nobody(
    write: Write, name: str, line: str, said: tuple[str | None, str]
) -> None:
    text = cue(line) if name == "a.srt" else f"WEBVTT\n\n00:01.000 --> 00:02.000\n{line}\n"
    assert words(Heard(write(text, name))) == [said]


def test_a_name_in_capitals_in_brackets_stands_twice(write: Write) -> None:
    heard = Heard(write(cue("[ANNA] Two?") + cue("[ANNA] Three.", at=2)))
    assert words(heard) == [("ANNA", "Two?"), ("ANNA", "Three.")]


def test_a_cue_without_times_is_left_out_and_named(write: Write) -> None:
    bad = "2\n00:14,708 --> 00:03:16,415\nThree.\n\n"
    heard = Heard(write(cue("Two?") + bad + cue("Four.", at=20), "a.srt"))
    assert words(heard) == [(None, "Two?"), (None, "Four.")]
    assert heard.warnings == [
        "1 cue without times such as 00:01:02,300 --> 00:01:04,000 left out with its words; "
        'the first in line 6: "00:14,708 --> 00:03:16,415"'
    ]
    bad = "00:61.000 --> 00:02.000\nThree.\n\n"
    heard = Heard(write(f"WEBVTT\n\n{bad}0:00:01.000 --> 0:00:02.000\nTwo?\n", "a.vtt"))
    assert words(heard) == [(None, "Two?")]
    assert heard.warnings[0].startswith("1 cue without times such as 01:02.300")


@pytest.mark.parametrize(
    "times", ["0:00:01.000 --> 0:00:02.000", "0:01.0 --> 0:02.00", "00:01,000 --> 00:02,000"]
)
def test_times_of_other_programs_in_webvtt(write: Write, times: str) -> None:
    heard = Heard(write(f"WEBVTT\n\n{times}\nTwo?\n", "a.vtt"))
    assert heard.turns == [[(None, "Two?", 1000, 2000)]]


def test_a_block_without_times_is_left_out_and_said(write: Write) -> None:
    heard = Heard(write("WEBVTT\n\n00:01.000 --> 00:02.000\ntwo\n\nand three\n"))
    assert words(heard) == [(None, "two")]
    assert heard.warnings == [
        "1 block has no times and is not a comment: left out, as players do; the first in "
        "line 6"
    ]


def test_another_encoding_is_asked_for_and_never_guessed(write: Write) -> None:
    path = write(cue("two cafés").encode("cp1252"), "a.srt")
    wanted = "is not UTF-8; save the file as UTF-8, or name its encoding with --encoding"
    with pytest.raises(FormatError, match=wanted) as refusal:
        Heard(path)
    assert "line 3: byte 8 of the line (0xE9)" in str(refusal.value)
    assert words(Heard(path, ReadOptions(encoding="cp1252"))) == [(None, "two cafés")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_wide_encodings(write: Write, encoding: str) -> None:
    text = ("" if encoding == "utf-16" else "\ufeff") + SUBRIP
    path = write(text.encode(encoding), "a.txt")
    with pytest.raises(FormatError, match=r"is UTF-16 text; .* --encoding utf-16"):
        Heard(path)
    heard = Heard(path, ReadOptions(encoding=encoding))
    assert (heard.format, heard.turns) == ("subrip", Heard(write(SUBRIP)).turns)


def test_an_endless_scene_is_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LINE_LIMIT", 40)
    wanted = "line 3: a scene of more than 40 characters starts here; wanted pauses between"
    with pytest.raises(FormatError, match=wanted):
        Heard(write(cue("two of them") * 4))
