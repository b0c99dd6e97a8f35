"""The lines that `predict --file` writes: read by the release's readers, imported as votes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from nfh_db.errors import FormatError
from nfh_db.formats.files import Source
from nfh_db.formats.gold import compact_json, digest_of, read
from nfh_db.formats.rows import release_head
from nfh_db.query import Query
from nfh_db.records import Annotator
from nfh_db.store import Store
from nfh_models.domain import Kind
from nfh_tui.services.predict import (
    PredictedNumber,
    PredictionCounts,
    PredictionLines,
    annotator_of,
    predict,
)
from nfh_tui.services.predict_sources import passages
from tests.nfh_tui.predict.conftest import tools
from tests.nfh_tui.predict.test_passages import stream

AT = "2025-01-31T12:00:00.000Z"
TEXT = "Ann: Two tickets?\nBen: No, three. No one came.\n\nShe: I am\u20286.\n"


@pytest.fixture
def predicted() -> list[PredictedNumber]:
    found = passages(stream(TEXT.encode()), "dialog", "given")
    return list(predict(found, tools(), PredictionCounts()))


def test_a_line_is_a_row_of_the_release(predicted: list[PredictedNumber]) -> None:
    values = json.loads(PredictionLines(tools(), AT, scores=True).line(predicted[1]))
    assert list(values)[:5] == [
        "tokens", "line_indices", "speakers", "anchors_indices", "head",
    ]  # fmt: skip
    assert [values["tokens"][at] for at in values["anchors_indices"]] == ["three"]
    assert [values["tokens"][at] for at in values["head"]] == ["tickets"]
    assert (values["kind"], values["rule"], values["relation"]) == ("REFERENCE", None, None)
    assert values["scores"][5:8] == [0.25, 0.0, 0.75]
    assert len(values["scores"]) == 6 + len(values["tokens"])
    assert values["model"] == {
        "name": "stub", "recipe": "small", "version": "1", "identifier": "stub",
        "rule": "stub", "score": 1.5, "pattern": None, "second": "OTHER", "margin": 0.5,
        "several": None,
    }  # fmt: skip
    assert [vote["annotator"] for vote in values["votes"]] == ["stub"]


def test_a_pattern_has_no_scores(predicted: list[PredictedNumber]) -> None:
    values = json.loads(PredictionLines(tools(), AT, scores=True).line(predicted[2]))
    assert (values["head"], values["model"]["pattern"]) == (["PEOPLE"], "no-one")
    assert "scores" not in values
    assert values["model"]["second"] is None


@pytest.mark.parametrize("scores", [False, True])
def test_what_is_written_comes_back_as_votes_and_never_as_gold(
    predicted: list[PredictedNumber], home: Path, scores: bool, call: Callable[..., Result]
) -> None:
    lines = PredictionLines(tools(), AT, scores=scores)
    (home / "p.jsonl").write_text("".join(map(lines.line, predicted)), "utf-8")
    rows = list(read(Source(home / "p.jsonl")))
    assert [row.gold for row in rows] == [None] * 4
    assert [row.votes[0].answer for row in rows] == [one.answer for one in predicted]
    assert call("import", "--db", "n.db", "p.jsonl").exit_code == 0
    with Store.open_to_read(home / "n.db") as store:
        out = list(store.items.records(Query(), Annotator(0, "me"), "gold"))
        assert len(out) == 4
        by_place = {(one.passage.digest, one.anchor.start): one for one in out}
        for one in predicted:
            found = by_place[one.numbers.passage.digest, one.anchor.start]
            assert found.gold is None
            (vote,) = found.votes
            assert (vote.annotator, vote.answer, vote.saw_model) == ("stub", one.answer, False)


def test_what_is_no_fused_head(predicted: list[PredictedNumber]) -> None:
    values = json.loads(PredictionLines(tools(), AT, scores=True).line(predicted[0]))
    assert (values["kind"], values["head"]) == (Kind.NOT_NFH.value, [])
    assert release_head(predicted[0].answer, predicted[0].anchor) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": "expert"}, "wanted null beside .model.: a prediction is not gold"),
        ({"decided_at": AT}, "wanted null beside"),
        ({"settled_on": [["stub", AT]]}, "no such key beside"),
        ({"model": "stub"}, "wanted an object"),
        ({"model.name": "Ann"}, "wanted the annotator of the line's only vote"),
        ({"model.more": 1}, "model.more. is not known"),
        ({"votes": []}, "wanted the annotator of the line's only vote"),
        ({"kind": "AGE", "head": ["AGE"], "heads": []}, "wanted what the vote says"),
        ({"head": [2]}, "the release's form"),
        ({"scores": [float("nan")]}, "wanted finite numbers"),
        ({"model.margin": float("inf")}, "."),
        ({"model": None}, "."),
    ],
)
def test_a_line_that_contradicts_itself_is_refused(
    predicted: list[PredictedNumber], home: Path, change: dict[str, object], message: str
) -> None:
    values = json.loads(PredictionLines(tools(), AT, scores=True).line(predicted[1]))
    for key, value in change.items():
        outer, dot, inner = key.partition(".")
        (values[outer] if dot else values)[inner or outer] = value
    (home / "p.jsonl").write_text(json.dumps(values) + "\n", "utf-8")
    with pytest.raises(FormatError, match=message):
        list(read(Source(home / "p.jsonl")))


def test_scores_belong_to_a_model(predicted: list[PredictedNumber], home: Path) -> None:
    values = json.loads(PredictionLines(tools(), AT, scores=True).line(predicted[1]))
    del values["model"]
    (home / "p.jsonl").write_text(json.dumps(values) + "\n", "utf-8")
    with pytest.raises(FormatError, match='no such key without "model"'):
        list(read(Source(home / "p.jsonl")))


def test_keys_in_another_order_are_the_same_line(
    predicted: list[PredictedNumber], home: Path
) -> None:
    line = PredictionLines(tools(), AT, scores=True).line(predicted[1])
    (home / "p.jsonl").write_text(json.dumps(json.loads(line), sort_keys=True) + "\n", "utf-8")
    assert len(list(read(Source(home / "p.jsonl")))) == 1
    values = json.loads(line)
    assert digest_of(values) == values["digest"]
    assert compact_json(values) + "\n" == line


@pytest.mark.parametrize(
    ("model", "name"),
    [("small", "small"), (" a\x1b[1m ", "a[1m"), ("\0", "model"), ("x" * 500, "x" * 100)],
)
def test_a_models_name_as_an_annotators(model: str, name: str) -> None:
    assert annotator_of(model) == name
