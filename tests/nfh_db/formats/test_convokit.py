"""ConvoKit: conversations by their replies, speakers' names, times, and what is refused."""

import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.convokit import CONVOKIT
from nfh_db.formats.files import Folder, Source
from nfh_db.formats.registry import opened
from nfh_db.formats.rows import ReadOptions
from nfh_db.query import Query
from nfh_db.store import Store

Write = Callable[..., Path]
Call = Callable[..., Result]
Utterance = dict[str, object]

PEOPLE = {
    "u1": {"meta": {"character_name": "ANN", "gender": "f"}, "vectors": []},
    "u2": {"meta": {"character_name": "MAN"}, "vectors": []},
    "u3": {"meta": {"character_name": "MAN"}, "vectors": []},
    "u4": {"meta": {"gender": "?"}, "vectors": []},
}


def said(one: object, answers: object, text: object, **more: object) -> Utterance:
    values = {"id": one, "speaker": "u1", "conversation_id": "k1", "reply-to": answers}
    return values | {"timestamp": None, "text": text, "meta": {"parsed": [1]}} | more


def lines(*utterances: Utterance) -> str:
    return "".join(json.dumps(one) + "\n" for one in utterances)


BACKWARDS = (
    said("k3", "k2", "Three, then."),
    said("k2", "k1", "Two tickets?", speaker="u2"),
    said("k1", None, "Hello."),
)


@pytest.fixture
def texts(write: Write) -> Callable[..., list[list[str]]]:
    """The words of each turn, conversation by conversation."""

    def read(*utterances: Utterance) -> list[list[str]]:
        source = Source(write(lines(*utterances)))
        return [
            [one.text[turn.start : turn.end] for turn in one.turns]
            for one in CONVOKIT.read(source, ReadOptions())
        ]

    return read


Texts = Callable[..., list[list[str]]]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A corpus's folder, as ConvoKit writes it."""
    folder = tmp_path / "film-corpus"
    folder.mkdir()
    more = said("q1", None, "Four.", conversation_id="q1", speaker="u3")
    answer = said("q2", "q1", "No, five.", conversation_id="q1", speaker="u2")
    last = said("q3", "q2", "Six.", conversation_id="q1", speaker="u4")
    (folder / "utterances.jsonl").write_text(lines(*BACKWARDS, more, answer, last))
    (folder / "speakers.json").write_text(json.dumps(PEOPLE))
    (folder / "conversations.json").write_text('{"k1": {"meta": {}}, "q1": {"meta": {}}}')
    (folder / "corpus.json").write_text("{}")
    (folder / "index.json").write_text("{}")
    return folder


def zipped(folder: Path) -> Path:
    """The corpus as it is downloaded: its folder in a zip."""
    path = folder.parent / "film-corpus.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member in sorted(folder.iterdir()):
            file.write(member, f"film-corpus/{member.name}")
    return path


# --- the order ------------------------------------------------------------------------------


def test_a_conversation_is_in_the_order_of_its_replies(write: Write) -> None:
    (block,) = CONVOKIT.read(Source(write(lines(*BACKWARDS))), ReadOptions())
    assert [
        (t.line, t.number, t.speaker, block.text[t.start : t.end]) for t in block.turns
    ] == [
        (3, 0, "u1", "Hello."),
        (2, 1, "u2", "Two tickets?"),
        (1, 2, "u1", "Three, then."),
    ]


def test_replies_stand_behind_what_they_answer(texts: Texts) -> None:
    tree = (
        said("a", None, "1"),
        said("b", "a", "1.2", timestamp=30),
        said("d", "b", "1.2.1", timestamp=40),
        said("c", "a", "1.1", timestamp=20),
        said("e", None, "2"),
    )
    assert texts(*tree) == [["1", "1.1", "1.2", "1.2.1", "2"]]
    untimed = [one | {"timestamp": None} for one in tree]
    assert texts(*untimed) == [["1", "1.2", "1.2.1", "1.1", "2"]]


def test_without_replies_the_time_decides_and_then_the_file(texts: Texts) -> None:
    timed = [said("a", None, "second", timestamp=9.5), said("b", None, "first", timestamp="3")]
    assert texts(*timed) == [["first", "second"]]
    assert texts(*(one | {"timestamp": None} for one in timed)) == [["second", "first"]]


def test_conversations_may_stand_apart(texts: Texts) -> None:
    mixed = [
        said("a", None, "a1"),
        said("x", None, "x1", conversation_id="x"),
        said("b", "a", "a2"),
        said("y", "x", "x2", conversation_id="x"),
        said("z", None, "z1", conversation_id="z"),
    ]
    assert texts(*mixed) == [["a1", "a2"], ["x1", "x2"], ["z1"]]


def test_any_order_of_the_lines_gives_the_same_conversations(texts: Texts) -> None:
    chain = [
        said(f"{name}{n}", f"{name}{n - 1}" if n else None, f"{name} {n}", conversation_id=name)
        for name in "abc"
        for n in range(7)
    ]
    expected = sorted(texts(*chain))
    for seed in range(5):
        Random(seed).shuffle(chain)
        assert sorted(texts(*chain)) == expected


def test_an_utterance_that_answers_none_there_is_counted(write: Write) -> None:
    source = Source(write(lines(said("a", "lost", "Two."), said("b", "a", "Three."))))
    (block,) = CONVOKIT.read(source, ReadOptions())
    assert block.text == "u1: Two.\nu1: Three."
    assert source.warnings == [
        "1 utterance read as answering none: what the file says they answer is not in it"
    ]


# --- what a line says -----------------------------------------------------------------------


def test_older_names_of_keys_are_read(write: Write) -> None:
    old = {"id": 7, "user": "Ann", "root": 7, "reply_to": None, "text": "Two."}
    answer = {"id": 8, "user": "Ben", "root": 7, "reply_to": 7, "text": "Three."}
    path = write(lines(answer, old))
    (block,) = CONVOKIT.read(Source(path), ReadOptions())
    assert (block.text, [t.speaker for t in block.turns]) == (
        "Ann: Two.\nBen: Three.",
        ["Ann", "Ben"],
    )
    assert opened(path).format is CONVOKIT
    half = {"id": "a", "user": "Ann", "conversation_id": "a", "root": "x", "text": "Two."}
    (block,) = CONVOKIT.read(Source(write(lines(half))), ReadOptions())
    assert [t.speaker for t in block.turns] == ["Ann"]


def test_characters_beyond_the_first_plane_are_read(texts: Texts) -> None:
    both = [said("a\U0001f44d", None, "\U0001f44d zwei"), said("b", "a\U0001f44d", "e\u0301")]
    assert texts(*both) == [["\U0001f44d zwei", "e\u0301"]]


def test_times_are_kept(write: Write) -> None:
    def times(*seconds: object) -> tuple[list[int | None], list[str]]:
        utterances = [said(f"k{n}", None, "x", timestamp=one) for n, one in enumerate(seconds)]
        source = Source(write(lines(*utterances)))
        (block,) = CONVOKIT.read(source, ReadOptions())
        return [turn.begin for turn in block.turns], source.warnings

    assert times(1.5, 12) == ([1500, 12000], [])
    assert times(1_600_000_000, "1600000002.25") == ([0, 2250], [])
    left = "timestamps left out that are not numbers of seconds"
    assert times("2020-01-01", 1.6e12) == ([None, None], [f"2 {left}"])
    assert times(True, [1])[0] == [None, None]


def test_a_bare_nan_stands_for_nothing(write: Write) -> None:
    line = lines(said("k1", None, "Two.")).replace('"timestamp": null', '"timestamp": NaN')
    (block,) = CONVOKIT.read(Source(write(line)), ReadOptions())
    assert (block.text, block.turns[0].begin) == ("u1: Two.", None)


def test_scenes_of_a_conversation_are_passages(texts: Texts) -> None:
    scenes = [
        said("a", None, "One.", meta={"scene": 1}),
        said("b", "a", "Two.", meta={"scene": 1}),
        said("c", "b", "Three.", meta={"scene": 2}),
    ]
    assert texts(*scenes) == [["One.", "Two."], ["Three."]]
    anew = [
        said("a", None, "One.", meta={"scene": 1, "episode": 1}),
        said("b", "a", "Two.", meta={"scene": 1, "episode": 2}),
    ]
    assert texts(*anew) == [["One."], ["Two."]]


REFUSED = [
    (said("a", None, None), 'key "text": found null, wanted a string'),
    (said("", None, "x"), 'key "id": found "", wanted an id'),
    (said("a", None, "x", conversation_id=None), 'key "conversation_id": found null'),
    (said("a", None, "x", speaker=[1]), 'key "speaker": found [1], wanted an id'),
    (said("a", {}, "x"), 'key "reply-to": found an object'),
    (
        said("a", None, "x", meta="y"),
        "is not an utterance: found text, wanted an object or null",
    ),
]


@pytest.mark.parametrize(("utterance", "sentence"), REFUSED)
def test_a_line_that_is_no_utterance_is_refused(
    write: Write, utterance: Utterance, sentence: str
) -> None:
    path = write(lines(said("k1", None, "Two."), utterance))
    with pytest.raises(FormatError, match="line 2: ") as caught:
        list(CONVOKIT.read(Source(path), ReadOptions()))
    assert sentence in str(caught.value)


DEEP = '{"meta": ' + '{"x": ' * 100_000 + "1" + "}" * 100_001
NO_OBJECTS = ['{"id": "k2"', "[]", "two", '{"text": "\\ud800"}', "{}", DEEP]


@pytest.mark.parametrize("line", NO_OBJECTS, ids=range(len(NO_OBJECTS)))
def test_what_is_no_object_of_text_is_refused(write: Write, line: str) -> None:
    path = write(lines(said("k1", None, "Two.")) + line + "\n")
    with pytest.raises(FormatError, match="line 2: "):
        list(CONVOKIT.read(Source(path), ReadOptions()))


def test_an_id_that_comes_twice_has_to_say_the_same(write: Write) -> None:
    one, other = said("k1", None, "Two."), said("k1", None, "Three.")
    (block,) = CONVOKIT.read(Source(write(lines(one, one))), ReadOptions())
    assert block.text == "u1: Two."
    with pytest.raises(
        FormatError, match=r'line 2: .*the id "k1", which line 1 has with other'
    ):
        list(CONVOKIT.read(Source(write(lines(one, other))), ReadOptions()))


def test_replies_that_go_round_are_refused(write: Write) -> None:
    circle = [said("k0", None, "One."), said("k1", "k2", "Two."), said("k2", "k1", "Three.")]
    with pytest.raises(FormatError, match=r'line 2: the utterance "k1" answers "k2", and so'):
        list(CONVOKIT.read(Source(write(lines(*circle))), ReadOptions()))


def test_what_can_be_read_only_once_is_refused(write: Write) -> None:
    class Once(Source):
        taken = False

        def lines(self) -> Iterator[tuple[int, str]]:
            if not self.taken:
                self.taken = True
                yield from super().lines()

    with pytest.raises(FormatError, match="must be read twice"):
        list(CONVOKIT.read(Once(write(lines(*BACKWARDS))), ReadOptions()))


# --- the corpus -----------------------------------------------------------------------------


def test_the_folder_tells_the_names_of_speakers(corpus: Path) -> None:
    for path in (corpus, zipped(corpus)):
        first, second = CONVOKIT.read(Folder(path), ReadOptions())
        assert [turn.speaker for turn in first.turns] == ["ANN", "MAN", "ANN"]
        assert [turn.speaker for turn in second.turns] == ["MAN (u3)", "MAN (u2)", "u4"]


def test_a_corpus_comes_in_as_a_folder_a_zip_and_a_file(
    corpus: Path, home: Path, call: Call
) -> None:
    for number, path in enumerate((corpus, zipped(corpus), corpus / "utterances.jsonl")):
        done = call("import", path, "--db", f"{number}.db")
        assert (done.exit_code, "read as convokit" in done.stderr) == (0, True)
        with Store.open(home / f"{number}.db") as store:
            found = [one.passage.word(one.anchor.start) for one in store.items.ballots(Query())]
        assert sorted(found) == ["Four", "Six", "Three", "Two", "five"]


def test_a_folder_without_its_utterances_is_refused(corpus: Path) -> None:
    (corpus / "utterances.jsonl").rename(corpus / "utterances.json")
    with pytest.raises(
        FormatError, match=r"no utterances.jsonl.* utterances.json was made by an old"
    ):
        list(CONVOKIT.read(Folder(corpus), ReadOptions()))
    for name in ("a", "b"):
        (corpus / name).mkdir()
        (corpus / name / "utterances.jsonl").write_text("")
    with pytest.raises(FormatError, match=r"2 times \(a/utterances.jsonl, b/"):
        list(CONVOKIT.read(Folder(corpus), ReadOptions()))


def test_a_zip_that_is_damaged_is_refused(corpus: Path) -> None:
    path = zipped(corpus)
    raw = bytearray(path.read_bytes())
    raw[60 : len(raw) // 2] = bytes(len(raw) // 2 - 60)
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="cannot be unpacked"):
        Folder(path)


def test_a_line_of_a_folder_is_named_with_its_member(corpus: Path) -> None:
    with (corpus / "utterances.jsonl").open("a") as file:
        file.write("{\n")
    with pytest.raises(FormatError, match=r"film-corpus: utterances.jsonl, line 7: "):
        list(CONVOKIT.read(Folder(corpus), ReadOptions()))
    (corpus / "speakers.json").write_text("[1]")
    with pytest.raises(FormatError, match=r"speakers.json: is not an object of speakers"):
        list(CONVOKIT.read(Folder(corpus), ReadOptions()))
