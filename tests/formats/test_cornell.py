"""The Cornell Movie-Dialogs Corpus: films, conversations, encodings, and what is refused."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.cornell import CORNELL
from nfh_db.formats.folders import Folder
from nfh_db.formats.options import Reading
from nfh_db.formats.reading import Source
from nfh_db.formats.rows import DialogBlock
from nfh_db.query import Query
from nfh_db.store import Store
from nfh_tui.formats.opening import opened

Write = Callable[..., Path]
Call = Callable[..., Result]
Turn = tuple[int, str | None, str]

PARTED = " +++$+++ "
FILM = [
    ("L12", "u0", "m0", "ANN", "Three, then."),
    ("L11", "u1", "m0", "BEN", "Two tickets?"),
    ("L3", "u0", "m0", "ANN", "A caf\xe9 +++ for four?"),
    ("L10", "u0", "m0", "ANN", ""),
    ("L4", "u1", "m0", "BEN", "  Five.  "),
    ("L21", "u9", "m1", "", "At 6."),
    ("L22", "u8", "m1", "MAN", "At 7."),
    ("L23", "u7", "m1", "MAN", "At 8."),
]
TALKS = [
    ("u0", "u1", "m0", "['L3', 'L4']"),
    ("u0", "u1", "m0", "['L10', 'L11']"),
    ("u8", "u7", "m1", "['L23', 'L22']"),
]


def film(*rows: tuple[str, ...]) -> str:
    return "".join(PARTED.join(row) + "\n" for row in rows)


def turns(block: DialogBlock) -> list[Turn]:
    return [(t.line, t.speaker, block.text[t.start : t.end]) for t in block.turns]


def read(source: Source | Folder, encoding: str | None = None) -> list[list[Turn]]:
    return [turns(one) for one in CORNELL.read(source, Reading(encoding=encoding))]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The corpus's folder, as its authors released it."""
    folder = tmp_path / "cornell movie-dialogs corpus"
    folder.mkdir()
    (folder / "movie_lines.txt").write_bytes(film(*FILM).encode("latin-1"))
    (folder / "movie_conversations.txt").write_bytes(film(*TALKS).encode("latin-1"))
    titles = [("m0", "the caf\xe9", "1999", "6.90", "62847", "['comedy']")]
    (folder / "movie_titles_metadata.txt").write_bytes(film(*titles).encode("latin-1"))
    return folder


def test_lines_alone_are_put_in_the_order_of_the_script(write: Write) -> None:
    assert read(Source(write(film(*FILM)))) == [
        [(3, "ANN", "A caf\xe9 +++ for four?"), (5, "BEN", "Five.")],
        [(4, "ANN", ""), (2, "BEN", "Two tickets?"), (1, "ANN", "Three, then.")],
        [(6, None, "At 6."), (7, "MAN (u8)", "At 7."), (8, "MAN (u7)", "At 8.")],
    ]


def test_conversations_are_passages_in_their_order(corpus: Path) -> None:
    folder = Folder(corpus)
    assert read(folder, "latin-1") == [
        [(3, "ANN", "A caf\xe9 +++ for four?"), (5, "BEN", "Five.")],
        [(4, "ANN", ""), (2, "BEN", "Two tickets?")],
        [(8, "MAN (u7)", "At 8."), (7, "MAN (u8)", "At 7.")],
    ]
    assert folder.warnings == ["2 lines of no conversation left out"]


def test_films_may_stand_apart(write: Write) -> None:
    mixed = [FILM[index] for index in (0, 5, 1, 6, 2, 3, 4, 7)]
    assert sorted(len(one) for one in read(Source(write(film(*mixed))))) == [2, 3, 3]


def test_a_line_whose_text_is_gone_has_no_words(write: Write) -> None:
    bare = f"L1{PARTED}u0{PARTED}m0{PARTED}ANN +++$+++\n" + film(
        ("L2", "u1", "m0", "BEN", "Two.")
    )
    assert read(Source(write(bare))) == [[(1, "ANN", ""), (2, "BEN", "Two.")]]


def test_another_encoding_is_asked_for(corpus: Path, home: Path, call: Call) -> None:
    zipped = corpus.parent / "corpus.zip"
    with zipfile.ZipFile(zipped, "w") as file:
        for member in corpus.iterdir():
            file.write(member, f"corpus/{member.name}")
    expected = ["ANN: A caf\xe9 +++ for four?\nBEN: Five."] * 2 + ["ANN:\nBEN: Two tickets?"]
    expected += ["MAN (u7): At 8.\nMAN (u8): At 7."] * 2
    for number, path in enumerate((corpus, zipped)):
        arguments = ("import", path, "--db", f"{number}.db")
        refused = call(*arguments)
        assert refused.exit_code == 1
        assert "movie_lines.txt, line 3" in refused.stderr
        assert "is not UTF-8" in refused.stderr
        assert "--encoding" in refused.stderr
        done = call(*arguments, "--encoding", "iso-8859-1")
        assert (done.exit_code, "read as cornell" in done.stderr) == (0, True)
        with Store.open(home / f"{number}.db") as store:
            texts = [one.passage.text for one in store.ballots(Query())]
        assert sorted(texts) == sorted(expected)


def test_a_copy_in_utf8_needs_no_encoding(write: Write) -> None:
    path = write(film(*FILM), "movie_lines.txt")
    found = opened(path)
    assert found.format is CORNELL
    assert isinstance(found.source, Source)
    assert "caf\xe9" in read(found.source)[0][0][2]


@pytest.mark.parametrize(
    "line",
    [
        "Ann: two",
        film(("X1", "u0", "m0", "ANN", "Two."))[:-1],
        film(("L1", "u0", "m0", "Two."))[:-1],
        film(("L1", "u0", " ", "ANN", "Two."))[:-1],
    ],
)
def test_a_line_of_other_fields_is_refused(write: Write, line: str) -> None:
    path = write(film(FILM[0]) + line + "\n")
    with pytest.raises(
        FormatError, match=r"line 2: found .*, wanted a line id, a character id"
    ):
        read(Source(path))


def test_an_id_that_comes_twice_has_to_say_the_same(write: Write) -> None:
    assert len(read(Source(write(film(FILM[0], FILM[0]))))[0]) == 1
    other = (*FILM[0][:4], "Four.")
    with pytest.raises(FormatError, match=r"line 2: .*the id L12, which line 1 has with other"):
        read(Source(write(film(FILM[0], other))))


@pytest.mark.parametrize(
    ("talk", "sentence"),
    [
        (("u0", "u1", "m0", "['L3', 'L99']"), r"line 1: found the line L99, which movie_lines"),
        (("u0", "u1", "m0", "['L21']"), r"line 1: found the line L21, .* in the film \"m0\""),
        (("u0", "u1", "m7", "['L3']"), r"line 1: found the line L3, .* in the film \"m7\""),
        (("u0", "u1", "m0", "L3, L4"), r"line 1: found .*wanted two character ids, a film id"),
        (("u0", "u1", "['L3']"), "line 1: found .*wanted two character ids"),
    ],
)
def test_a_conversation_of_other_lines_is_refused(
    corpus: Path, talk: tuple[str, ...], sentence: str
) -> None:
    (corpus / "movie_conversations.txt").write_text(film(talk))
    with pytest.raises(FormatError, match=sentence):
        read(Folder(corpus), "latin-1")


def test_a_folder_without_its_lines_is_refused(corpus: Path) -> None:
    (corpus / "movie_lines.txt").unlink()
    with pytest.raises(FormatError, match=r"found no movie_lines.txt"):
        read(Folder(corpus))
