"""CHAT transcripts: who says what and when, against what pylangacq reads of the same file."""

import sys
from collections.abc import Callable
from pathlib import Path

import pylangacq
import pytest

from nfh_db.errors import FormatError
from nfh_db.formats import chat
from nfh_db.formats.registry import opened
from nfh_db.formats.rows import ReadOptions
from tests.nfh_db.formats.subtitle_files import Heard, words

Write = Callable[..., Path]

HEADERS = """@UTF8
@Begin
@Languages:\teng
@Participants:\tMAR Marta Target_Child, MOT Mother
@ID:\teng|made|MAR|3;04.12|female|||Target_Child|||
@ID:\teng|made|MOT|||||Mother|||
@Media:\tmarta, audio
"""

TRANSCRIPT = (
    HEADERS
    + """*MOT:\thow many cookies do you want ? \x1515100_17050\x15
%mor:\tadv|how adj|many n|cookie-PL aux|do pro|you v|want ?
*MAR:\t<I want> [/] I want &-um two@l +... \x1517050_18900\x15
%com:\tpoints at three of them
*MOT:\tno [!] give me <two of them> [= the small ones] and
\tone mo(re) . \x1520000_21000\x15
@New Episode
*MAR:\txxx .
*MAR:\tfive [: nine] [*] .
@End
"""
)


def test_a_transcript(write: Write) -> None:
    heard = Heard(write(TRANSCRIPT, "marta.txt"))
    assert heard.format == "chat"
    assert heard.reason == "it begins with the headers of a CHAT transcript"
    assert heard.turns == [
        [
            ("MOT", "how many cookies do you want ?", 15_100, 17_050),
            ("MAR", "I want two ...", 17_050, 18_900),
            ("MOT", "no give me two of them and one more .", 20_000, 21_000),
        ],
        [("MAR", "nine .", None, None)],
    ]
    assert heard.lines == [[8, 10, 12], [16]]
    assert heard.warnings == [
        '1 main tier without a word that can be read left out, the first in line 15: "xxx ."'
    ]


def test_crlf_and_a_mark_change_nothing(write: Write) -> None:
    raw = b"\xef\xbb\xbf" + TRANSCRIPT.replace("\n", "\r\n").encode()
    assert Heard(write(raw, "b.cha")).blocks == Heard(write(TRANSCRIPT, "a.txt")).blocks


def test_words_and_times_are_those_of_pylangacq(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiers = "".join(
        f"*M{number}:\t<one> [/] {number} birds and {tail} \x15{number}_{number + 7}\x15\n"
        for number, tail in enumerate(
            ["two .", "a (be)cause ?", "<x> [//] y !", "&=laughs z ."] * 9
        )
    )
    path = write(f"{HEADERS}{tiers}@End\n", "marta.cha")
    judge = [one for one in pylangacq.read_chat(str(path)).utterances() if one.participant]
    wanted = [
        (one.participant, " ".join(token.word for token in one.tokens), *one.time_marks)
        for one in judge
    ]
    assert len(wanted) == 36
    for size in (500, 7):
        monkeypatch.setattr(chat, "AT_A_TIME", size)
        assert [turn for scene in Heard(path).turns for turn in scene] == wanted


def test_stretches_change_nothing(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = TRANSCRIPT.removeprefix(HEADERS).removesuffix("@End\n")
    path = write(f"{HEADERS}{scene * 30}@End\n", "long.cha")
    whole = Heard(path)
    assert len(whole.turns) == 31
    for size in (1, 4, 7):
        monkeypatch.setattr(chat, "AT_A_TIME", size)
        heard = Heard(path)
        assert (heard.blocks, heard.lines) == (whole.blocks, whole.lines)
        assert heard.warnings == whole.warnings


TIERS = [
    ("<two three> [/] two three .", "two three ."),
    ("two [/] two [//] three +/.", "three ."),
    ('+" two +"/.', "two ."),
    ("two +//?", "two ?"),
    ("two +!?", "two !?"),
    ("(be)cause wa(t)er two .", "because water two ."),
    ("two [: four] [*] .", "four ."),
    ("two@l dos@s:spa .", "two dos ."),
    ("0is two &-um &+tw &=laughs .", "two ."),
    ("two (.) three (1.5) four .", "two three four ."),
    ("two [=! whispers] three [% sic] [+ exc] .", "two three ."),
    ("‡ two „ three .", ", two , three ."),
    ("°two° ↑ th:ree ˈfo^ur ∆five∆ .", "two three four five ."),
    ("New_York a_hundred two-three .", "New York a hundred two-three ."),
    ("3,000 or 1,234,567 , 5 .", "3,000 or 1,234,567 , 5 ."),
    ("no [x 3] two .", "no two ."),
    ("<two [>] three> [<] .", "two three ."),
    ("thirty+three ice+creams + two .", "thirty-three ice-creams two ."),
]


@pytest.mark.parametrize(("tier", "said"), TIERS)
def test_codes_come_off(write: Write, tier: str, said: str) -> None:
    assert words(Heard(write(f"@UTF8\n@Begin\n*MAR:\t{tier}\n@End\n"))) == [("MAR", said)]


@pytest.mark.parametrize(
    "header", ["@New Episode", "@G:\tcookies", "@Bg", "@Bg:\ttoys", "@Eg", "@End\n@Begin"]
)
def test_headers_part_scenes(write: Write, header: str) -> None:
    text = f"@UTF8\n@Begin\n*A:\ttwo .\n%com:\tx\n{header}\n*B:\tthree .\n@End\n"
    heard = Heard(write(text))
    assert [[turn[1] for turn in scene] for scene in heard.turns] == [["two ."], ["three ."]]
    other = Heard(write(text.replace(header, "@Comment:\tx")))
    assert len(other.turns) == 1


def test_silence_parts_scenes_only_if_asked(write: Write) -> None:
    tiers = "".join(f"*A:\ttwo . \x15{at}_{at + 100}\x15\n*B:\tx .\n" for at in (0, 2100, 4000))
    path = write(f"@UTF8\n@Begin\n{tiers}@End\n")
    assert [len(scene) for scene in Heard(path).turns] == [6]
    assert [len(scene) for scene in Heard(path, ReadOptions(pause=2)).turns] == [2, 4]


@pytest.mark.parametrize(
    "bullet", ["\x1510_25\x15", '\x15%snd:"mar ta"_10_25\x15', "•10_25•", "·10_25·"]
)
def test_bullets_of_all_sorts(write: Write, bullet: str) -> None:
    heard = Heard(write(f"@UTF8\n@Begin\n*A:\ttwo . {bullet}\n@End\n"))
    assert heard.turns == [[("A", "two .", 10, 25)]]


def test_several_bullets_of_a_tier(write: Write) -> None:
    heard = Heard(write("@UTF8\n@Begin\n*A:\ttwo \x151_2\x15 three . \x153_9\x15\n@End\n"))
    assert heard.turns == [[("A", "two three .", 1, 9)]]


REFUSED = [
    ("two .\n", 'line 1: found "two .", wanted a line that begins with @, \\* or %'),
    ("@UTF8\n@Begin\nMAR:\ttwo .\n", 'line 3: found "MAR:.*", wanted a line that begins'),
    ("@UTF8\n@Begin\n*MAR two .\n", r'line 3: found "\*MAR two .", wanted a main tier such as'),
    (
        "@UTF8\n@Begin\n*A:\t" + "two " * 5_000,
        "line 3: a main tier of 20,00. characters; wanted",
    ),
    ("@UTF8\n@Begin\n@End\n", r"holds no spoken words; wanted \*MAR: and words"),
    ("@UTF8\n@Begin\n*A:\tx .\n*A:\ttwo] .\n", 'line 4: found a ] that no .* after "two]"'),
    (
        "@UTF8\n@Begin\n*A:\tx .\n*A:\t[/] <#@+xxxx <?\n",
        "line 4: the codes of this main tier are no CHAT that can be read",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), REFUSED)
def test_what_is_no_transcript_is_refused(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(FormatError, match=sentence):
        Heard(write(text, "a.cha"))


def test_another_encoding_is_asked_for(write: Write) -> None:
    path = write("@Begin\n*ANA:\tdos ni\u00f1os .\n@End\n".encode("latin-1"), "a.cha")
    with pytest.raises(FormatError, match=r"line 2: .* is not UTF-8; .* with --encoding"):
        Heard(path)
    assert words(Heard(path, ReadOptions(encoding="latin-1"))) == [("ANA", "dos niños .")]


def test_without_the_library_it_is_said_what_to_install(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pylangacq", None)
    found = opened(write(TRANSCRIPT, "a.cha"))
    with pytest.raises(FormatError, match=r"pip install 'nfh-tui\[formats\]'"):
        next(found.format.read(found.source, ReadOptions()))
