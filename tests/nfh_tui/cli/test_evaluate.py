"""`nfh-tui evaluate identification`: what it measures, prints, and refuses."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

from nfh_models.identification.base import Decision, Example, SentenceNumber
from nfh_models.identification.evaluation import REMOVALS, holding, rule_removals, without
from nfh_models.identification.rules import RULES, RuleGroup, Rules
from nfh_models.model_files import SEEN
from nfh_models.parsing.base import ParseLayer, Parser, WordSpan, load_parser
from nfh_tui.cli import evaluate_identification
from nfh_tui.services.evaluate import (
    IdentificationSystem,
    Watched,
    hold_identification,
    other_parser,
)
from nfh_tui.services.examples import Examples

Call = Callable[..., Result]
Json = dict[str, object]
EVALUATE = ("evaluate", "identification")

YES = (
    "Give me the green [one] .",
    "You [two] look tired .",
    "[Three] of them stayed .",
    "We only need [four] .",
    "No [one] called .",
    "My aunt turned [60] .",
    "I have [two] or three pens .",
    "Is that the big [one] ?",
    "He ate [five] of those .",
    "There were only [six] left .",
)
NO = (
    "We saw [seven] geese .",
    "It costs $ [9] .",
    "She bought [two] old chairs .",
    "[Ten] people waited outside .",
    "He read [three] long letters .",
    "About [40] % agreed .",
    "They own [one] farm .",
    "I wrote [six] songs .",
    "We walked [five] miles .",
    "[Four] cups broke .",
)


@pytest.fixture(scope="session")
def parser() -> Parser:
    """The installed pipeline, loaded once for all tests."""
    return load_parser()


@pytest.fixture
def loaded(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Hands commands the pipeline that is loaded already; the layers that each asked for."""
    wanted: list[object] = []

    def load(spec: str | None = None, layers: frozenset[ParseLayer] = frozenset()) -> Parser:
        wanted.append(layers)
        return parser

    monkeypatch.setattr(evaluate_identification, "load_parser", load)
    return wanted


def row(marked: str, label: int) -> str:
    words = marked.split()
    place = next(n for n, word in enumerate(words) if word.startswith("["))
    text = "_SEP_".join(word.strip("[]") for word in words)
    return f"{text}\t{place}\t{place + 1}\t{label}"


def write(path: Path, yes: Iterable[str] = YES, no: Iterable[str] = NO) -> Path:
    rows = [*(row(one, 1) for one in yes), *(row(one, 0) for one in no)]
    path.write_text("\n".join(["text\tind_s\tind_e\ty", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def file(home: Path) -> Path:
    return write(home / "rows.tsv")


def report(result: Result) -> Json:
    assert result.exit_code == 0, result.output
    assert "NaN" not in result.stdout
    found = json.loads(result.stdout)
    assert isinstance(found, dict)
    return found


# --- one model ------------------------------------------------------------------------------


def test_a_file_needs_no_database(
    call: Call, file: Path, home: Path, loaded: list[object]
) -> None:
    found = report(call(*EVALUATE, "--file", file, "--json"))
    assert found["task"] == "identification"
    assert found["model"] == "rules"
    assert found["n"] == 20
    confusion = found["confusion"]
    assert confusion["labels"] == ["NFH", "NOT_NFH"]
    (hit, missed), (false, passed) = confusion["rows"]
    assert hit + missed == false + passed == 10
    assert found["precision"] == pytest.approx(hit / (hit + false))
    assert found["recall"] == pytest.approx(hit / 10)
    assert found["accuracy"] == pytest.approx((hit + passed) / 20)
    assert set(found["ci95"]) == {"precision", "recall", "f1", "accuracy"}
    assert found["seconds"] > 0
    assert found["left_out"] == {}
    assert sum(one["n"] for one in found["per_rule"]) == 20
    assert sum(one["n"] for one in found["per_word"]) == 20
    assert len(found["errors"]) == missed + false
    assert list(home.iterdir()) == [file]
    assert loaded == [Rules().needs]


def test_errors_name_place_text_and_rule(call: Call, home: Path, loaded: list[object]) -> None:
    wrong = write(home / "wrong.tsv", yes=[NO[3]], no=[YES[2]])
    found = report(call(*EVALUATE, "--file", wrong, "--json"))
    first, second = found["errors"]
    assert first["where"] == "line 2"
    assert first["text"] == "Ten people waited outside ."
    assert first["text"][first["start"] : first["end"]] == "Ten"
    assert (first["label"], first["decision"]) == ("NFH", "NOT_NFH")
    assert (second["label"], second["decision"]) == ("NOT_NFH", "NFH")
    assert {first["rule"], second["rule"]} <= {one["rule"] for one in found["per_rule"]}
    told = call(*EVALUATE, "--file", wrong, "--errors", 1).stdout
    assert NO[3] in told
    assert YES[2] not in told
    assert "1 of 2" in told


def test_the_table_fits_80_columns(call: Call, file: Path, loaded: list[object]) -> None:
    for more in ((), ("--folds", 2, "--model", "svm", "--model", "rules"), ("--ablation",)):
        told = call(*EVALUATE, "--file", file, *more)
        assert told.exit_code == 0, told.output
        assert max(map(len, told.stdout.splitlines())) <= 80
        assert "97.4" in told.stdout or "96.8" in told.stdout


def test_text_of_a_file_steers_no_terminal(
    call: Call, home: Path, loaded: list[object]
) -> None:
    hostile = write(home / "h.tsv", yes=["\x1b]0;x [red]two[/red] [seven] geese"], no=())
    text = hostile.read_text("utf-8").replace("\t1\t2\t1", "\t2\t3\t1")
    hostile.write_text(text, "utf-8")
    for more in ((), ("--json",)):
        told = call(*EVALUATE, "--file", hostile, *more)
        assert told.exit_code == 0, told.output
        assert "\x1b" not in told.output


def test_a_report_is_a_page_with_every_error(
    call: Call, home: Path, loaded: list[object]
) -> None:
    wrong = write(home / "wrong.tsv", yes=[NO[3].replace("outside", "<b>&lt;")], no=[YES[2]])
    told = call(*EVALUATE, "--file", wrong, "--errors", 0, "--report", "r.html")
    assert told.exit_code == 0, told.output
    assert YES[2] not in told.stdout
    page = (home / "r.html").read_text("utf-8")
    assert YES[2] in page
    assert "waited &lt;b&gt;&amp;lt; ." in page
    assert "<b>" not in page
    refused = call(*EVALUATE, "--file", wrong, "--report", "no/such/r.html")
    assert refused.exit_code == 1
    assert "no such folder" in refused.stderr


def test_gold_of_the_database(call: Call, file: Path, loaded: list[object]) -> None:
    assert call("import", file, "--db", "x.db", "--split", "dev").exit_code == 0
    whole = report(call(*EVALUATE, "--db", "x.db", "--json"))
    of_file = report(call(*EVALUATE, "--file", file, "--json"))
    same = ("n", "precision", "recall", "f1", "accuracy", "confusion", "per_word")
    assert {key: whole[key] for key in same} == {key: of_file[key] for key in same}
    assert report(call(*EVALUATE, "--db", "x.db", "--split", "dev", "--json"))["n"] == 20
    nothing = report(call(*EVALUATE, "--db", "x.db", "--split", "test", "--json"))
    assert (nothing["n"], nothing["f1"], nothing["ci95"]["f1"]) == (0, None, None)
    assert "nothing to measure" in call(*EVALUATE, "--db", "x.db", "--split", "test").stdout
    # A negated term is a term, and leaves one label only.
    negated = report(call(*EVALUATE, "-class:NFH", "--db", "x.db", "--json"))
    assert (negated["n"], negated["nfh"], negated["recall"]) == (10, 0, None)


# --- several models, and recipes that are fitted --------------------------------------------


def test_a_single_model_is_a_list_of_one_and_stands_at_the_top(call: Call, file: Path) -> None:
    found = report(call(*EVALUATE, "--file", file, "--model", "rules", "--json"))
    (one,) = found["models"]
    assert "comparisons" not in found and one["model"] == "rules"
    assert one.items() <= found.items()


def test_rules_against_svm_in_folds(call: Call, file: Path, loaded: list[object]) -> None:
    asked = (*EVALUATE, "--file", file, "--folds", 2, "--model", "rules", "--model", "svm")
    found = report(call(*asked, "--json"))
    rules, svm = found["models"]
    assert (rules["model"], rules["folds"]) == ("rules", None)
    assert (svm["model"], svm["folds"], svm["n"]) == ("svm", 2, 20)
    (versus,) = found["comparisons"]
    assert versus["f1_difference"] == pytest.approx(rules["f1"] - svm["f1"])
    right = 20 * (rules["accuracy"] - svm["accuracy"])
    assert versus["only_first_right"] - versus["only_second_right"] == pytest.approx(right)
    assert 0 < versus["p"] <= 1
    for error in svm["errors"]:
        assert error["rule"] == "svm"
        assert (error["score"] > 0) == (error["decision"] == "NFH")
        assert error["weights"]
    # Parsed once, for both.
    assert len(loaded) == 1
    again = report(call(*asked, "--json"))
    assert again["models"][1]["errors"] == svm["errors"]
    assert again["comparisons"] == found["comparisons"]


def test_fitted_on_one_file_and_measured_on_another(
    call: Call, home: Path, loaded: list[object]
) -> None:
    train = write(home / "a.tsv", YES[:6], NO[:6])
    tried = write(home / "b.tsv", YES[4:], NO[4:])
    found = report(call(*EVALUATE, "--file", tried, "--train", train, "--json"))
    # The passages that both files have are tried, not learnt from.
    assert found["trained_on"] == {"file": str(train), "examples": 8, "left_out": 4}
    assert (found["model"], found["n"]) == ("svm", 12)
    alone = write(home / "c.tsv", YES, ())
    refused = call(*EVALUATE, "--file", tried, "--train", alone)
    assert refused.exit_code == 1
    assert "nothing to distinguish" in refused.stderr


def test_ablation_of_svm(call: Call, file: Path, loaded: list[object]) -> None:
    found = report(call(*EVALUATE, "--file", file, "--ablation", "--folds", 2, "--json"))
    rows = found["rows"]
    assert [one["name"] for one in rows] == [one.name for one in REMOVALS]
    assert rows[0]["paper_dev"] == {"precision": 0.968, "recall": 0.975, "f1": 0.971}
    assert rows[3]["paper_dev"]["f1"] == 0.959
    assert rows[0]["f1_lost"] is None
    for one in rows[1:]:
        assert one["f1_lost"] == pytest.approx(rows[0]["f1"] - one["f1"])
    whole = report(call(*EVALUATE, "--file", file, "--folds", 2, "--json"))
    assert rows[0]["f1"] == whole["f1"]
    told = report(
        call(
            *EVALUATE, "--file", file, "--ablation", "--set", "features=anchor,window", "--json"
        )
    )
    names = [one["name"] for one in told["rows"]]
    assert names == ["the features that are set", "without window", "without anchor"]
    assert {one["paper_dev"] for one in told["rows"]} == {None}
    # A parser was loaded for what has to be parsed, and for nothing else.
    assert len(loaded) == 2


def test_ablation_of_rules(call: Call, file: Path, loaded: list[object]) -> None:
    found = report(call(*EVALUATE, "--file", file, "--ablation", "--model", "rules", "--json"))
    whole, *rows = found["rows"]
    measured = report(call(*EVALUATE, "--file", file, "--json"))
    assert whole["f1"] == measured["f1"]
    decided = {one["rule"]: one["n"] for one in measured["per_rule"]}
    for one in rows:
        name = one["name"].removeprefix("without ")
        if not name.startswith("group "):
            assert one["decided_by_it"] == decided.get(name, 0)
        if not one["decided_by_it"]:
            assert one["f1"] == whole["f1"]
    groups = [one for one in rows if one["name"].startswith("without group ")]
    singles = [one for one in rows if one not in groups]
    of_groups, of_rules = (
        sum(one["decided_by_it"] for one in some) for some in (groups, singles)
    )
    assert of_groups == of_rules > 0


def test_what_is_left_out_lets_the_next_decide(parser: Parser) -> None:
    words = "It costs $ 9 and you two have none .".split()
    word_span = WordSpan(words, [True] * len(words))
    (parsed,) = parser.parse([word_span])
    cases = [SentenceNumber(word_span, 3, 4, parsed), SentenceNumber(word_span, 6, 7, parsed)]
    held = holding(cases)
    whole, *removals = rule_removals()
    assert without(held, whole) == Rules().decide(cases)
    for removal in removals:
        decided = without(held, removal)
        assert {one.rule for one in decided}.isdisjoint(removal.rules)
        for group in RuleGroup:
            if removal.name == f"without group {group}":
                assert decided == Rules(frozenset({group})).decide(cases)
    # The rule that always holds is never left out.
    assert all(RULES[-1].name not in removal.rules for removal in removals)


def test_a_model_that_learnt_from_what_it_is_tried_on_is_named(
    call: Call, file: Path, parser: Parser, loaded: list[object], home: Path
) -> None:
    assert call("import", file, "--db", "x.db").exit_code == 0
    made = call("retrain", "identification", "--recipe", "svm", "--wait", "--db", "x.db")
    assert made.exit_code == 0, made.output
    found = call(*EVALUATE, "--db", "x.db", "--model", "svm", "--json")
    told = report(found)
    assert told["model"] == "svm-1"
    assert any("16 of these 20 examples" in one for one in told["warnings"])
    assert "svm-1 has seen the passages of 16 of these 20 examples" in found.stderr
    assert (told["seen"]["n"], told["seen"]["others"]) == (16, 4)
    # Its folder says so, too.
    folder = home / "x-models" / "svm-1"
    alone = report(call(*EVALUATE, "--file", file, "--model", folder, "--json"))
    assert alone["accuracy"] == told["accuracy"]
    assert alone["model_id"] is None
    assert alone["seen"] == told["seen"]
    (folder / SEEN).unlink()
    older = report(call(*EVALUATE, "--file", file, "--model", folder, "--json"))
    assert older["seen"] is None
    assert any("has no list of the texts that it has seen" in one for one in older["warnings"])


# --- what needs no parser, and the parser that is not there ---------------------------------


class Lengths:
    """A recipe that needs no parser: what stands in a short sentence is an NFH."""

    recipe = "small"
    version = "lengths 1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        return [Decision(len(c.word_span.words) < 5, "small", 0.5) for c in cases]


def test_a_recipe_without_a_parser(file: Path) -> None:
    trial = hold_identification(
        Examples.of_file(file), [IdentificationSystem.ready("tiny", Lengths(), None)], None
    )
    assert trial.parser is None
    assert trial.parsing == 0
    assert all(one.case.parsed is None for one in trial.examples)
    (judged,) = trial.judged
    short = [len(one.case.word_span.words) < 5 for one in trial.examples]
    assert [one.nfh for one in judged.decisions] == short


def test_examples_are_parsed_only_where_something_is_fitted(file: Path, parser: Parser) -> None:
    seen: list[bool] = []

    def cross(examples: Sequence[Example]) -> list[Decision]:
        seen.extend(one.case.parsed is not None for one in examples)
        return [Decision(True, "any")] * len(examples)

    ready = IdentificationSystem.ready("rules", Rules(), None)
    fitted = IdentificationSystem("any", "any", "1", cross=cross, needs=Rules().needs)
    watched = Watched(parser)
    both = hold_identification(Examples.of_file(file), [fitted, ready], watched)
    assert [one.system.name for one in both.judged] == ["any", "rules"]
    assert seen == [True] * 20
    assert watched.seconds > 0
    alone = hold_identification(Examples.of_file(file), [ready], parser)
    assert all(one.case.parsed is None for one in alone.examples)
    assert alone.judged[0].decisions == both.judged[1].decisions


def test_a_model_given_the_sentences_of_another_parser_is_named(parser: Parser) -> None:
    class Learnt(Rules):
        parser = "some parser 1.0"

    said = other_parser(Learnt(), "svm-3", parser)
    assert said is not None
    assert "svm-3" in said
    assert "some parser 1.0" in said
    assert parser.name in said
    Learnt.parser = parser.name
    assert other_parser(Learnt(), "svm-3", parser) is None
    assert other_parser(Rules(), "rules", parser) is None
    assert other_parser(Lengths(), "tiny", None) is None


# --- refused --------------------------------------------------------------------------------


def test_files_that_do_not_hold(call: Call, home: Path, loaded: list[object]) -> None:
    past = home / "past.tsv"
    past.write_text("text\tind_s\tind_e\ty\nOnly_SEP_two\t1\t5\t1\n")
    refused = call(*EVALUATE, "--file", past)
    assert refused.exit_code == 1
    assert "line 2" in refused.stderr
    assert "ind_e" in refused.stderr
    assert call(*EVALUATE, "--file", "gone.tsv").exit_code == 1
    assert call(*EVALUATE, "--db", "gone.db").exit_code == 1
    unknown = call(*EVALUATE, "--file", write(home / "r.tsv"), "--model", "nobody")
    assert unknown.exit_code == 1
    assert "nobody" in unknown.stderr


def test_a_parser_that_is_none(call: Call, file: Path) -> None:
    result = call(*EVALUATE, "--file", file, "--parser", "tea leaves")
    assert result.exit_code == 1
    assert "tea leaves" in result.stderr
