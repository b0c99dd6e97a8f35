"""Small files as they are met, in every layout: each is told to be of its own format."""

import io
import json
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from nfh_db.errors import FormatError
from nfh_db.formats.base import InputKind
from nfh_db.formats.registry import by_name, opened, ours, reading
from tests.nfh_db.formats import weigh

MARK = b"\xef\xbb\xbf"

TEXT = "Ann: Two tickets?\nBen: No, three."
SPAN = {"start": 26, "end": 31, "text": "three", "labels": ["AGE"]}
WORDS = ["Two", "tickets", "?", "No", ",", "three", "."]
NFH = {
    "tokens": WORDS,
    "line_indices": [0, 0, 0, 1, 1, 1, 1],
    "head": [1],
    "speakers": ["Ann"] * 3 + ["Ben"] * 4,
    "anchors_indices": [5],
}
SHORT = {
    "text": TEXT,
    "id": 7,
    "label": [SPAN],
    "annotator": 1,
    "annotation_id": 3,
    "created_at": "2024-05-01T10:00:00.000000Z",
    "updated_at": "2024-05-01T10:00:00.000000Z",
    "lead_time": 4.25,
}
TASK = {
    "id": 7,
    "annotations": [
        {
            "id": 3,
            "completed_by": 1,
            "result": [
                {
                    "id": "a",
                    "from_name": "label",
                    "to_name": "text",
                    "type": "labels",
                    "value": SPAN,
                }
            ],
        }
    ],
    "drafts": [],
    "data": {"text": TEXT},
}
PRODIGY = {
    "text": TEXT,
    "spans": [{"start": 26, "end": 31, "label": "AGE"}],
    "_input_hash": 1,
    "_task_hash": 2,
    "answer": "accept",
}
UTTERANCE = {
    "id": "u1",
    "speaker": "ann",
    "conversation_id": "u1",
    "reply_to": None,
    "text": "Two tickets?",
    "timestamp": 1,
}

OBJECTS: list[tuple[str, str, dict[str, object]]] = [
    ("label-studio", "export", TASK),
    ("label-studio", "task", {"data": {"text": TEXT}}),
    ("label-studio", "short", SHORT),
    ("label-studio", "without time", {k: v for k, v in SHORT.items() if k != "lead_time"}),
    ("prodigy", "answer", PRODIGY),
]
"""Objects of tools that write lists of them, pretty or not; each of a format."""

LINES: list[tuple[str, str, dict[str, object]]] = [
    ("nfh", "release", NFH),
    ("prodigy", "answer", PRODIGY),
    ("doccano", "triples", {"id": 1, "text": TEXT, "label": [[26, 31, "AGE"]]}),
    (
        "doccano",
        "relations",
        {
            "id": 1,
            "text": TEXT,
            "entities": [{"id": 1, "label": "AGE", "start_offset": 26, "end_offset": 31}],
            "relations": [],
            "Comments": [],
        },
    ),
    ("convokit", "utterance", UTTERANCE),
]

CHAT = "@UTF8\n@Begin\n@Languages:\teng\n*ANN:\ttwo tickets ?\n*BEN:\tno three .\n@End\n"
FOUNTAIN = "INT. HALL - DAY\n\nANN\nTwo tickets?\n\nBEN\n(smiling)\nNo, three.\n\n"
CONLLU = (
    "# sent_id = 1\n# text = No three\n"
    "1\tNo\tno\tINTJ\t_\t_\t0\troot\t_\t_\n2\tthree\tthree\tNUM\t_\t_\t1\tdep\t_\t_\n\n"
)

PLAIN: list[tuple[str, str, str]] = [
    ("dialog", "a.txt", TEXT + "\n"),
    ("dialog", "stage.txt", "[door] {hm} Two tickets?\n[Ann, softly] No, three.\n"),
    ("dialog", "numbered.txt", "1\nTwo tickets?\n2\nNo, three.\n"),
    ("nfh-ident", "a.tsv", "No_SEP_,_SEP_three_SEP_.\t2\t3\t1\n"),
    ("table", "a.csv", 'speaker,text\nAnn,Two tickets?\nBen,"No, three."\n'),
    ("table", "b.tsv", "speaker\ttext\nAnn\tTwo tickets?\nBen\tNo, three.\n"),
    ("table", "c.csv", "dialog;turn;speaker;text\n1;1;Ann;Two tickets?\n1;2;Ben;No, three.\n"),
    ("subrip", "a.srt", "1\n00:00:01,000 --> 00:00:02,500\nTwo tickets?\n\n"),
    ("subrip", "b.txt", "1\n00:00:01,000 --> 00:00:02,500\n- Two?\n- Three.\n\n"),
    ("webvtt", "a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.500\n<v Ann>Two tickets?\n\n"),
    ("fountain", "a.fountain", FOUNTAIN),
    ("fountain", "b.fountain", "Title: Two\nAuthor: Ann\n\n" + FOUNTAIN),
    ("chat", "a.cha", CHAT),
    ("chat", "b.txt", CHAT),
    ("conllu", "a.conllu", CONLLU),
    ("conllu", "b.txt", CONLLU),
]

Case = tuple[str, str, bytes]


def _cases() -> list[Case]:
    """Format, name of a file, and its bytes."""
    cases: list[Case] = []
    layouts: list[tuple[str, Callable[[object], str]]] = [
        ("line", json.dumps),
        ("pretty", lambda value: json.dumps(value, indent=2) + "\n"),
        ("by line", lambda value: "[\n" + ",\n".join(map(json.dumps, value)) + "\n]\n"),
    ]
    for format_, what, value in OBJECTS:
        for layout, text in layouts:
            cases.append((format_, f"{what} {layout}.json", text([value, value]).encode()))
    for format_, what, value in LINES:
        cases.append((format_, f"{what}.jsonl", f"{json.dumps(value)}\n".encode() * 2))
        cases.append((format_, f"{what} bare.json", json.dumps(value).encode()))
    cases += [(format_, name, text.encode()) for format_, name, text in PLAIN]
    return cases


CASES = _cases()


@pytest.mark.parametrize("how", ["as it is", "crlf", "mark", "both"])
@pytest.mark.parametrize(
    ("format_", "name", "raw"), CASES, ids=[f"{a}: {b}" for a, b, _ in CASES]
)
def test_files_of_others(tmp_path: Path, format_: str, name: str, raw: bytes, how: str) -> None:
    if how in ("crlf", "both"):
        raw = raw.replace(b"\n", b"\r\n")
    path = tmp_path / name
    path.write_bytes(MARK + raw if how in ("mark", "both") else raw)
    assert opened(path).format.name == format_


def test_no_case_is_missing() -> None:
    """Formats of text that the tables here do not show: their headers are long, or ours."""
    shown = {format_ for format_, _, _ in CASES}
    missing = {one.name for one in ours() if InputKind.TEXT in one.takes} - shown
    assert missing <= {"amt", "gold", "inception-json", "inception-xmi"}


@pytest.mark.parametrize("name", [one.name for one in ours() if one.writable])
def test_our_own_files(tmp_path: Path, name: str) -> None:
    format_ = by_name(name)
    given = list(islice(weigh.records(), 12))
    places = ["folder", "packed.zip"] if format_.members else []
    if format_.chunks or format_.writer:
        places.append(f"one{format_.extensions[0]}")
    for place in places:
        path = tmp_path / place
        weigh.write(format_, path, given)
        assert opened(path).format.name == name, place
        if path.is_file() and InputKind.TEXT in format_.takes and path.suffix != ".zip":
            path.write_bytes(MARK + path.read_bytes())
            assert opened(path).format.name == name, f"{place} with a mark"


def _zip(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    return file.getvalue()


FOLDERS: list[tuple[str, dict[str, str]]] = [
    ("brat", {"a.txt": TEXT, "a.ann": "T1\tAGE 26 31\tthree\n"}),
    ("brat", {"annotation.conf": "[entities]\nAGE\n", "eva/a.txt": TEXT, "eva/a.ann": ""}),
    ("doccano", {"all.jsonl": json.dumps({"id": 1, "text": TEXT, "label": [[26, 31, "AGE"]]})}),
    ("convokit", {"utterances.jsonl": json.dumps(UTTERANCE), "speakers.json": "{}"}),
]


@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize(("format_", "members"), FOLDERS)
def test_folders_of_others(
    tmp_path: Path, format_: str, members: dict[str, str], *, zipped: bool
) -> None:
    path = tmp_path / "data"
    if zipped:
        path.write_bytes(_zip(members))
    else:
        for name, text in members.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_text(text, encoding="utf-8")
    assert opened(path).format.name == format_


LONG = json.dumps([{"text": "Two. " * 20_000} | {k: SHORT[k] for k in SHORT if k != "text"}])
"""What tells its format stands after more than is looked at: it is asked for, not guessed."""


@pytest.mark.parametrize("raw", [LONG, '[{"a": 1}]', '[\n  {\n    "a": 1\n  }\n]\n'])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "a"])
def test_a_list_of_anything_is_no_format(tmp_path: Path, name: str, raw: str) -> None:
    path = tmp_path / name
    path.write_text(raw)
    with pytest.raises(FormatError, match="its format is not known"):
        opened(path)


POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:0000000000000000000000000000000000000000000000000000000000000007\nsize 129\n"
)


@pytest.mark.parametrize(
    "name", ["a.parquet", "a.txt", "a.json", "a.srt", "a.zip", "a.spacy", "a.csv", "a"]
)
def test_a_pointer_of_git_lfs_is_called_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(POINTER)
    with pytest.raises(FormatError, match=r"is a Git LFS pointer .* git lfs pull"):
        opened(path)
    with pytest.raises(FormatError, match="is a Git LFS pointer"):
        opened(path, "hf-parquet")


def test_a_pointer_in_a_folder_is_called_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(POINTER)
    (tmp_path / "a.ann").write_text("")
    found = opened(tmp_path)
    assert found.format.name == "brat"
    with pytest.raises(FormatError, match=r"a.txt: is a Git LFS pointer"):
        list(found.format.read(found.source, reading()))


@pytest.mark.parametrize("suffix", [".parquet", ".spacy", ".zip", ".mp4", ".pdf", ".xlsx"])
def test_a_text_called_like_a_file_of_bytes_is_no_dialog(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(TEXT)
    with pytest.raises(FormatError, match=f"holds text, though files called {suffix}"):
        opened(path)
    assert opened(path, "dialog").format.name == "dialog"


TEXTS = [{"text": TEXT}, {"text": "It is four.", "meta": {"source": "x"}}]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize(
    "raw",
    [
        "\n".join(map(json.dumps, TEXTS)),
        json.dumps(TEXTS),
        json.dumps(TEXTS, indent=2),
        json.dumps(TEXTS[0], indent=2),
    ],
)
def test_texts_without_marks_are_tasks_of_prodigy(tmp_path: Path, name: str, raw: str) -> None:
    path = tmp_path / name
    path.write_text(raw)
    found = opened(path)
    assert (found.format.name, found.reason) == (
        "prodigy",
        "its first item is a JSON object with a text and no marks",
    )


def test_texts_whose_later_items_have_marks_are_of_doccano(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    marked = {"text": TEXT, "label": [[25, 30, "AGE"], [0, 3, "PER"]]}
    path.write_text("\n".join(map(json.dumps, [TEXTS[0], marked])))
    assert opened(path).format.name == "doccano"


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        (
            "a.jsonl",
            '{"speaker": "Ann", "text": "Two?"}',
            "with a text and the keys speaker, which may be texts for prodigy or for doccano",
        ),
        (
            "a.json",
            json.dumps(UTTERANCE, indent=2),
            r"laid out .* convokit files have one object on each line, as jq -c \. writes them",
        ),
        (
            "a.json",
            json.dumps([UTTERANCE], indent=2),
            r"laid out .* convokit files have one object on each line, as jq -c '\.\[\]'",
        ),
        (
            "a.json",
            json.dumps({"format": "nfh-gold/1"}, indent=2),
            "laid out .* gold files have one object on each line",
        ),
        (
            "a.json",
            json.dumps({"a": 1}, indent=2),
            "laid out .* gold and nfh files have one object on each line",
        ),
        ("a.tsv", "who\tremark\nAnn\tTwo?\n", "may be a table or an nfh-ident file"),
        ("a.tab", "who\tremark\nAnn\tTwo?\n", "may be a table or an nfh-ident file"),
    ],
)
def test_what_may_be_of_two_formats_names_both(
    tmp_path: Path, name: str, raw: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(raw)
    with pytest.raises(FormatError, match=said):
        opened(path)
