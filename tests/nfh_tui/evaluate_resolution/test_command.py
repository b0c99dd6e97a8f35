"""`nfh-tui evaluate resolution`: what it measures, prints, and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from nfh_models.parsing.base import ParseLayer, Parser
from nfh_models.resolution.head_examples import several_heads_examples
from nfh_tui.cli import evaluate_resolution
from nfh_tui.cli.evaluate_resolution import HEADS
from nfh_tui.cli.options import picked
from tools.small_model.build import evaluated

from .conftest import Resolvers
from .handmade import DEV, Nouns, Tiny

Call = Callable[..., Result]
Write = Callable[..., Path]
EVALUATE = ("evaluate", "resolution", "--resamples", "50")

WANTED = (
    "task model split n accuracy accuracy_inclusive accuracy_nearest binary class_accuracy "
    "reference implicit heads ci95 confusion ece seconds"
).split()
"""Keys that other programs rely on."""


def report(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    assert "NaN" not in result.stdout
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


def test_a_file_needs_no_database(
    call: Call, write: Write, home: Path, tiny: Resolvers
) -> None:
    file = write(DEV)
    found = report(call(*EVALUATE, "--file", file, "--json"))
    assert set(WANTED) <= set(found)
    assert (found["task"], found["model"], found["split"], found["n"]) == (
        "resolution",
        "tiny",
        None,
        10,
    )
    # The longest word before: wrong for the coat alone.
    assert found["reference"] == 0.75
    assert list(home.iterdir()) == [file]
    assert tiny.asked == [(False, None)]


def test_nor_one_that_a_variable_names_and_that_is_not_there(
    call: Call,
    write: Write,
    home: Path,
    tiny: Resolvers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NFH_TUI_DB", str(home / "gone.db"))
    file, talk = write(DEV), home / "talk.txt"
    talk.write_text("Ann: I have two.\n")
    for source in (("--file", file), ("--several-heads",)):
        result = call(*EVALUATE, *source, "--json")
        assert report(result)["model"] == "tiny"
        assert "gone.db, so no model of a database is used" in result.stderr.replace("\n", " ")
    for asked in (
        (*EVALUATE, "--file", file),
        ("evaluate", "identification", "--file", file),
        ("identify", "--file", talk),
        ("predict", "--file", talk, "--model", "tiny"),
        ("scan", talk),
    ):
        result = call(*asked, "--db", "none.db")
        assert result.exit_code == 1
        assert "Leave out --db, which a file does not need" in result.stderr
    assert {path.suffix for path in home.iterdir()} == {".jsonl", ".txt"}


def test_the_figures_follow_from_the_matrix(call: Call, write: Write, tiny: Resolvers) -> None:
    found = report(call(*EVALUATE, "--file", write(DEV), "--json"))
    labels, rows = found["confusion"]["labels"], found["confusion"]["rows"]
    assert labels[-2:] == ["REFERENCE", "REF-WRONG"]
    assert [len(one) for one in rows] == [8] * 7
    diagonal = sum(one[place] for place, one in enumerate(rows))
    assert found["accuracy"] == pytest.approx(diagonal / 10)
    assert found["class_accuracy"] == pytest.approx((diagonal + rows[6][7]) / 10)
    inside = sum(sum(one[:6]) for one in rows[:6]) + rows[6][6] + rows[6][7]
    assert found["binary"] == pytest.approx(inside / 10)
    assert found["accuracy_nearest"] <= found["accuracy"] <= found["accuracy_inclusive"]
    assert found["reference"] == pytest.approx(rows[6][6] / 4)
    assert found["implicit"] == pytest.approx((diagonal - rows[6][6]) / 6)
    assert sum(one["n"] for one in found["per_class"]) == 10
    assert sum(one["n"] for one in found["per_distance"]) == 4
    assert sum(one["n"] for one in found["per_error"]) == len(found["errors"])
    assert len(found["errors"]) == 10 - diagonal
    low, high = found["ci95"]["accuracy"]
    assert low <= found["accuracy"] <= high


def test_probabilities_are_calibrated(call: Call, write: Write, tiny: Resolvers) -> None:
    file = write(DEV)
    found = report(call(*EVALUATE, "--file", file, "--model", "cold", "--json"))
    calibration = found["calibration"]
    assert found["ece"] == calibration["before"]["ece"] > 0
    assert sum(one["n"] for one in calibration["before"]["bins"]) == calibration["n"] == 10
    silent = report(call(*EVALUATE, "--file", file, "--model", "silent", "--json"))
    assert silent["ece"] is silent["calibration"] is None
    assert "no probabilities" in call(*EVALUATE, "--file", file, "--model", "silent").stdout


def test_who_says_nothing_is_wrong_and_counted(
    call: Call, write: Write, tiny: Resolvers
) -> None:
    file = write(DEV)
    found = report(call(*EVALUATE, "--file", file, "--model", "silent", "--json"))
    assert (found["n"], found["answered"], found["accuracy"]) == (10, 1, 0.1)
    assert sum(found["confusion"]["unanswered"]) == 9
    told = call(*EVALUATE, "--file", file, "--model", "silent", "--errors", 2).stdout
    assert "does not answer 9" in told
    assert "100.0 % are right" in " ".join(told.split())
    assert "none" in told


def test_errors_say_what_was_wanted_and_said(call: Call, write: Write, tiny: Resolvers) -> None:
    file = write([DEV[1], DEV[4], DEV[8]])
    first, second, third = report(call(*EVALUATE, "--file", file, "--json"))["errors"]
    assert [one["label"] for one in (first, second, third)] == ["REFERENCE", "AGE", "PEOPLE"]
    assert first["heads"] == [{"token": 2, "word": "coat"}]
    assert first["token"]["word"] == "yours"
    assert first["answer"] == "REF-WRONG"
    assert second["answer"] == "YEAR"
    assert second["text"][second["start"] : second["end"]] == "60"
    told = call(*EVALUATE, "--file", file, "--errors", 1).stdout
    assert "gold AGE, said YEAR" in told
    assert "My uncle turned [60] ." in told
    assert "1 of 3" in told
    assert "stayed" not in told


# --- several models -------------------------------------------------------------------------


def test_several_models_are_tested_on_the_same_examples(
    call: Call, write: Write, tiny: Resolvers
) -> None:
    asked = (*EVALUATE, "--file", write(DEV), "--model", "tiny", "--model", "silent")
    found = report(call(*asked, "--json"))
    one, other = found["models"]
    assert [one["model"], other["model"]] == ["tiny", "silent"]
    (versus,) = found["comparisons"]
    assert [test["figure"] for test in versus["tests"]] == [
        "accuracy",
        "accuracy_inclusive",
        "accuracy_nearest",
    ]
    test = versus["tests"][0]
    assert test["difference"] == pytest.approx(one["accuracy"] - other["accuracy"])
    assert test["only_first_right"] - test["only_second_right"] == pytest.approx(
        10 * test["difference"]
    )
    assert 0 < test["p"] <= 1
    assert report(call(*asked, "--json"))["comparisons"] == found["comparisons"]


def test_the_text_fits_80_columns(call: Call, write: Write, tiny: Resolvers) -> None:
    file = write(DEV)
    for more in (("--oracle",), ("--model", "tiny", "--model", "silent", "--oracle")):
        told = call(*EVALUATE, "--file", file, *more)
        assert told.exit_code == 0, told.output
        assert max(map(len, told.stdout.splitlines())) <= 80
        for figure in ("77.2", "86.1", "90.6", "accuracy", "inclusive", "nearest"):
            assert figure in told.stdout


def test_oracle_says_how_a_model_was_made(call: Call, write: Write, tiny: Resolvers) -> None:
    plain = (*EVALUATE, "--file", write(DEV), "--model", "tiny", "--model", "words")
    asked = (*plain, "--oracle")
    told = " ".join(call(*asked).stdout.split())
    assert "tiny: limited in this test only" in told
    assert "words was trained to choose among words alone" in told
    free, limited = report(call(*asked, "--json"))["models"]
    assert free["oracle"]["reference"] == limited["oracle"]["reference"] == limited["reference"]
    assert limited["oracle"]["implicit"] == 0
    assert "Oracle:" in told
    assert "Oracle:" not in call(*plain).stdout


def test_noun_baselines(
    call: Call, write: Write, tiny: Resolvers, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[object] = []

    def load(spec: str | None, layers: frozenset[ParseLayer]) -> Parser:
        wanted.append((spec, layers))
        return Nouns()

    monkeypatch.setattr(evaluate_resolution, "load_parser", load)
    asked = (*EVALUATE, "--file", write(DEV), "--baselines", "--parser", "any")
    found = report(call(*asked, "--json"))
    assert wanted == [("any", {ParseLayer.POS})]
    names = [one["model"] for one in found["baselines"]]
    assert names[:3] == ["tiny", "nearest-noun:first", "nearest-noun:last"]
    assert len(names) == 9
    first, last = found["baselines"][1:3]
    # Of bread and cake, of two cups: any of them is right; the nearest is not the first.
    assert (first["n"], first["reference"], first["reference_nearest"]) == (4, 1.0, 0.5)
    assert (last["reference"], last["reference_nearest"]) == (1.0, 1.0)
    assert (found["model"], found["parser"], found["seconds_parsing"]) == (
        "tiny",
        "a few nouns",
        0,
    )
    told = call(*asked).stdout
    assert "39.2" in told
    assert "nearest-noun:closest-before" in told


# --- the database ---------------------------------------------------------------------------


def test_gold_of_the_database(call: Call, write: Write, tiny: Resolvers) -> None:
    file = write(DEV)
    assert call("import", file, "--db", "x.db", "--split", "dev").exit_code == 0
    whole = report(call(*EVALUATE, "--db", "x.db", "--json"))
    of_file = report(call(*EVALUATE, "--file", file, "--json"))
    same = ("n", "accuracy", "accuracy_inclusive", "heads", "confusion", "per_class")
    assert {key: whole[key] for key in same} == {key: of_file[key] for key in same}
    assert report(call(*EVALUATE, "--db", "x.db", "--split", "dev", "--json"))["n"] == 10
    negated = report(call(*EVALUATE, "-class:REFERENCE", "--db", "x.db", "--json"))
    assert (negated["n"], negated["reference"], negated["heads"]["f1"]) == (6, None, None)


def test_little_or_nothing_to_measure(call: Call, write: Write, tiny: Resolvers) -> None:
    assert call("import", write(DEV), "--db", "x.db", "--split", "dev").exit_code == 0
    nothing = (*EVALUATE, "--db", "x.db", "--split", "test")
    found = report(call(*nothing, "--json"))
    assert (found["n"], found["accuracy"], found["ece"]) == (0, None, None)
    assert found["ci95"]["accuracy"] is None
    assert "nothing to measure" in call(*nothing, "--report", "none.html").stdout
    one = call(*EVALUATE, "--file", write(DEV[:1], "one.jsonl"), "--report", "one.html")
    assert one.exit_code == 0, one.output
    assert "every label is a Reference" in one.stdout
    classes = call(*EVALUATE, "--file", write(DEV[4:], "c.jsonl"), "--report", "c.html")
    assert classes.exit_code == 0, classes.output
    assert "no label is a Reference" in classes.stdout


# --- the package's own passages -------------------------------------------------------------


def test_passages_about_several_heads(call: Call, home: Path, tiny: Resolvers) -> None:
    asked = (*EVALUATE, "--several-heads")
    found = report(call(*asked, "--json"))
    assert set(WANTED) <= set(found)
    assert (found["n"], found["references"], found["file"], found["format"]) == (
        128,
        122,
        None,
        None,
    )
    # As the figures of the model in the package are measured.
    apart = evaluated(Tiny(), several_heads_examples(held_out=True))
    assert apart.heads is not None
    for key in ("heads", "heads_several"):
        assert found[key] == picked(getattr(apart, key), HEADS)
    assert found["accuracy"] == apart.figures.accuracy
    told = " ".join(call(*asked).stdout.split())
    assert told.startswith(
        "Resolution on 128 labelled numbers of the package's passages about several heads: "
        "122 References, 6 of the six classes"
    )
    right = f"is right in {apart.heads.relation_right} of the {apart.heads.relation_n} in which"
    assert right in told
    assert list(home.iterdir()) == []
    assert tiny.asked == [(False, None)] * 2


# --- refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--folds", "2"), "--folds is for identification"),
        (("--train", "a"), "--train is for identification"),
        (("--set", "c=1"), "--set is for identification"),
        (("--ablation",), "--ablation is for identification"),
        (("--file", "a", "--split", "dev"), "--file is measured completely"),
        (("--several-heads", "--split", "dev"), "--several-heads is measured completely"),
        (("--several-heads", "class:AGE"), "--several-heads is measured completely"),
        (("--several-heads", "--file", "a"), "choose one"),
        (("--several-heads", "--format", "nfh"), "--format needs --file"),
        (("--model", "cues", "--model", "cues"), "twice"),
        (("--file", "a", "--report", "./a"), "overwrite"),
        (("nonsense:3",), "nonsense"),
    ],
)
def test_calls_that_are_wrong(call: Call, arguments: tuple[str, ...], said: str) -> None:
    assert call("init").exit_code == 0
    result = call(*EVALUATE, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_files_and_models_that_are_not_there(call: Call, write: Write, home: Path) -> None:
    (home / "rows.tsv").write_text("text\tind_s\tind_e\ty\nOnly_SEP_two\t1\t2\t1\n")
    for arguments, said in (
        (("--file", "gone.jsonl"), "gone.jsonl"),
        (("--file", "rows.tsv"), "not which one"),
        (("--file", write(DEV), "--model", "nobody"), "nobody"),
        (("--file", write(DEV), "--model", "linear"), "no model yet"),
    ):
        result = call(*EVALUATE, *arguments)
        assert result.exit_code == 1
        assert said in result.stderr
