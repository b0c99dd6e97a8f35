"""Competence remembered in the database: chosen, kept, given with items, and forgotten."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nfh_db.query import parse
from nfh_db.records import AnchorItem, Annotator, CompetenceWeight, Role
from nfh_db.store import Store
from nfh_models.agreement import competence as agreement_competence
from nfh_models.agreement.competence import AnswerMatch, JudgedVote
from nfh_models.agreement.report import CHECKS, EXPERT, LEAST, chosen, competence
from nfh_models.domain import Kind
from nfh_tui.cli.main import commands
from nfh_tui.demo import ensure_demo
from nfh_tui.editor.votes import proposal

Call = Callable[..., Result]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the models, which are tested elsewhere."""
    monkeypatch.setattr(agreement_competence, "PACKAGE", "no_such_package")


def call(*arguments: object) -> Result:
    texts = [str(argument) for argument in arguments]
    return CliRunner().invoke(commands, texts, prog_name="nfh-tui", catch_exceptions=False)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory, built: Callable[..., Path]) -> Path:
    """The sample corpus, imported."""
    return built(ensure_demo, tmp_path_factory.mktemp("remembered") / "x.db")


def disputed(store: Store, me: Annotator, role: Role = Role.ADJUDICATOR) -> AnchorItem:
    """The first item on which three people differ."""
    ids = next(store.queue.ids(parse("state:disagree pattern:2-1"), me))
    found = store.items.read(ids[0], me, role)
    assert found is not None
    return found


def test_a_report_is_remembered_only_on_request_and_forgotten_on_request(
    database: Path,
) -> None:
    with Store.open(database) as store:
        assert store.competences.read() is None
        assert disputed(store, store.people.ensure("eva")).competences == ()

    asked = ("annotators", "--db", database, "--no-nouns", "--remember")
    told = json.loads(call(*asked, "--json").stdout)["remembered"]
    assert told["source"] == EXPERT
    assert told["people"]["ann1"] == {"accuracy": pytest.approx(30 / 47), "answers": 45}
    text = call(*asked, "--only", "ann2").stdout
    assert f"Remembered, by {EXPERT}" in text
    assert "ann1       64%         45" in " ".join(text.split("\n"))
    with Store.open(database) as store:
        eva = store.people.ensure("eva")
        kept = store.competences.read()
        assert kept is not None
        assert [one.annotator for one in kept.people] == ["ann1", "ann2", "ann3"]
        item = disputed(store, eva)
        assert item.competences == kept.people
        found = proposal(item)
        assert found is not None
        assert found.reason.startswith("2 of 3, weight 0.")
        own = store.items.read_for_annotator(item.anchor_id, store.people.ensure("ann1"))
        assert own is not None
        assert own.competences == ()

    assert "count the same again" in call("annotators", "--db", database, "--forget").stdout
    again = call("annotators", "--db", database, "--forget", "--json").stdout
    assert json.loads(again) == {"forgotten": False}
    with Store.open(database) as store:
        assert store.competences.read() is None
        assert disputed(store, store.people.ensure("eva")).competences == ()


def test_remembering_and_forgetting_exclude_each_other(database: Path) -> None:
    result = call("annotators", "--db", database, "--forget", "--remember")
    assert result.exit_code == 2
    assert "exclude each other" in result.stderr


def test_where_nobody_has_a_figure_what_is_there_stays(database: Path, tmp_path: Path) -> None:
    with Store.open(database) as store:
        store.competences.remember("somebody", [CompetenceWeight("ann1", 0.5, 12)])
    few = call("annotators", "--db", database, "--no-nouns", "--remember", "text:harp").stdout
    assert "Nothing is remembered" in few
    with Store.open(database) as store:
        kept = store.competences.read()
        assert kept is not None
        assert (kept.source, kept.people) == ("somebody", (CompetenceWeight("ann1", 0.5, 12),))
        assert store.competences.delete()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"people": {}}', '{"source": 1, "at": 2, "people": {"a": [1]}}']
)
def test_a_setting_that_is_none_is_as_if_nothing_were_remembered(
    tmp_path: Path, text: str
) -> None:
    with Store.open(tmp_path / "y.db", create=True) as store:
        store.settings.write("competence", text)
        assert store.competences.read() is None


def test_an_accuracy_that_cannot_be_is_refused_and_one_in_the_file_left_out(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path / "y.db", create=True) as store:
        with pytest.raises(ValueError, match="not between 0 and 1"):
            store.competences.remember("x", [CompetenceWeight("a", 1.5, 3)])
        body = (
            '{"source": "x", "at": "", "people": {"a": [7, 1], "b": [0.25, 9], "c": [NaN, 2]}}'
        )
        store.settings.write("competence", body)
        kept = store.competences.read()
        assert kept is not None
        assert kept.people == (CompetenceWeight("b", 0.25, 9),)


# --- which figure ---------------------------------------------------------------------------


def marks(right: int, wrong: int, *, checks: bool = False) -> tuple[JudgedVote, ...]:
    """Votes held against an expert's decision, or against a check item."""
    made = []
    for number in range(right + wrong):
        against = AnswerMatch(Kind.AGE, number < right, None)
        expert, check = (None, against) if checks else (against, None)
        made.append(JudgedVote(number, Kind.AGE, "", None, expert, check, None, None))
    return tuple(made)


def test_the_source_that_covers_most_people_is_taken_for_all(kit) -> None:  # type: ignore[no-untyped-def]
    by_expert = {"a": marks(9, 3), "b": marks(12, 0), "few": marks(LEAST - 1, 0)}
    found = chosen(competence(kit.marks(by_expert)))
    assert found.source == EXPERT
    assert set(found.people) == {"a", "b"}
    assert found.people["a"].accuracy == pytest.approx(10 / 14)
    assert found.people["b"].accuracy == pytest.approx(13 / 14)

    more = by_expert | {"b": marks(12, 0) + marks(10, 0, checks=True)}
    assert chosen(competence(kit.marks(more))).source == EXPERT
    checked = {name: marks(10, 2, checks=True) + some for name, some in by_expert.items()}
    assert chosen(competence(kit.marks(checked))).source == CHECKS
    assert chosen(competence(kit.marks({"few": marks(3, 0)}))).people == {}
