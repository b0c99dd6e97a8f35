"""Keys decide, and what they decide stands in the database."""

import pytest
from click.testing import CliRunner

from nfh_db.query import parse
from nfh_db.records import AnchorState, FlagName, Role, Rule
from nfh_db.store import Store
from nfh_models.domain import Kind, Relation, Sort, class_answer
from nfh_tui.app import WorkbenchApp
from nfh_tui.cli.main import commands

KINDS = {
    "y": Kind.YEAR,
    "a": Kind.AGE,
    "c": Kind.CURRENCY,
    "p": Kind.PEOPLE,
    "t": Kind.TIME,
    "n": Kind.UNKNOWN,
    "x": Kind.NOT_NFH,
    "d": Kind.BROKEN,
}


async def test_each_kind_by_its_key(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j")
        for key, kind in KINDS.items():
            await desk.press(key, "enter")
            assert desk.said.startswith("saved "), key
            assert desk.state.position.index == 2
            item = read(1)
            assert item.gold.answer.kind is kind
            assert item.gold.rule is Rule.EXPERT
            assert item.gold.adjudicator == "edith"
            assert item.state is AnchorState.DECIDED
            assert item.draft is None
            (vote,) = item.votes
            assert vote.role is Role.ADJUDICATOR
            assert vote.seconds is not None
            await desk.press("k")


@pytest.mark.parametrize(
    "answers",
    [
        [
            (["o"], None, None),
            (["o", "n"], Sort.NUMBER, None),
            (["o", "n", "o"], None, None),
            (["o", "n", "o", "escape"], Sort.NUMBER, None),
            (["o", "w", *"joke", "enter"], Sort.NOUN, "joke"),
            (["o", "n", "equals_sign", *"sum", "enter"], Sort.NUMBER, "sum"),
        ],
        pytest.param(
            [(["o", "c"], Sort.CODE, None), (["o", "m"], Sort.MEASURE, None)],
            marks=pytest.mark.long,
        ),
    ],
)
async def test_other_with_its_sort_and_noun(open_desk, read, answers):
    async with open_desk() as desk:
        for place, (keys, *wanted) in enumerate(answers):
            await desk.press(*keys, "enter")
            # Enter is one act.
            assert desk.state.position.index == min(place + 1, 5), keys
            answer = read(place).gold.answer
            assert [answer.kind, answer.sort, answer.noun] == [Kind.OTHER, *wanted], keys
            if place == 1:
                assert read(2).gold.rule is Rule.IMPORTED


async def test_two_heads_by_letters_with_their_relation_and_one_by_the_cursor(open_desk, read):
    async with open_desk(mode="annotate") as desk:
        await desk.press("f")
        letters = {
            item.passage.word(t): a
            for item in [desk.state.visible_item]
            for t, a in desk.state.edit.hints
        }
        await desk.press(letters["boots"], "f")
        letters = {desk.state.visible_item.passage.word(t): a for t, a in desk.state.edit.hints}
        await desk.press(letters["coat"], "enter")
        assert "&" in desk.said
        assert desk.state.position.index == 0
        await desk.press("ampersand", "enter")
        assert desk.said.startswith("saved ")
        await desk.press("b", "space")
        assert desk.state.edit.kind is Kind.REFERENCE
        await desk.press("enter")
    (mine,) = read(1, role=Role.ANNOTATOR).votes
    assert mine.role is Role.ANNOTATOR
    assert mine.answer.kind is Kind.REFERENCE
    assert not mine.saw_votes
    assert read(0).gold is read(1).gold is None
    answer = next(v.answer for v in read(0).votes if v.annotator == "edith")
    assert answer.head_tokens() == (1, 4)
    assert answer.relation is Relation.AND


async def test_adopting_and_accepting_what_is_proposed(open_desk, read):
    async with open_desk() as desk:
        await desk.press("2")
        assert len(desk.state.edit.heads) == 2
        await desk.press("enter", "k", "1", "enter")
    assert read(0).gold.answer.head_tokens() == (1,)
    assert read(0).votes[-1].saw_votes or any(v.saw_votes for v in read(0).votes)


async def test_a_proposal_kept_back_is_compared_after_deciding(open_desk, monkeypatch):
    monkeypatch.setattr("nfh_tui.editor.votes.is_withheld", lambda item, me: True)
    async with open_desk() as desk:
        assert desk.state.edit.kind is None
        await desk.press("y", "enter")
        assert desk.said.startswith("saved ")
        assert "hidden proposal" in desk.said


async def test_enter_without_an_answer_says_what_is_missing_and_skipping_goes_on(
    open_desk, read
):
    async with open_desk() as desk:
        await desk.press("j", "enter")
        assert "There is no answer" in desk.said
        assert desk.state.position.index == 1
        await desk.press("s")
        assert desk.state.position.index == 2
        assert "»" in desk.text()
    assert read(1).gold is None
    assert [mark.name for mark in read(1).flags] == [FlagName.SKIP]


async def test_the_modes_go_round_and_reading_changes_nothing_and_says_how_to(open_desk, read):
    async with open_desk(mode="browse") as desk:
        await desk.press("j")
        for mode in ("annotate", "adjudicate", "browse"):
            await desk.press("M")
            assert desk.state.mode == mode
            assert desk.state.position.index == 1
        await desk.press("k")
        for key in ("y", "enter", "s", "z", "plus", "exclamation_mark", "semicolon", "f"):
            await desk.press(key)
            assert "M switches to annotating" in desk.said, key
        await desk.press("h", "M")
        assert "annotating as edith" in desk.said
        await desk.press("y", "enter")
        assert desk.said.startswith("saved ")
    assert {v.annotator for v in read(0).votes} == {"ann1", "ann2", "ann3", "edith"}


async def test_an_annotator_sees_nothing_of_others(open_desk):
    async with open_desk(mode="annotate") as desk:
        assert "ann1" not in desk.text()
        assert "partial" not in desk.text()
        await desk.press("1")
        assert desk.state.edit.kind is None
        await desk.press("L")
        assert "ann1" not in desk.text()


async def test_flags_are_set_and_taken_back_and_other_keys_do_what_they_always_do(
    open_desk, read
):
    flags = {"a": FlagName.ANCHOR, "m": FlagName.AMBIGUOUS, "g": FlagName.GUIDELINE}
    async with open_desk() as desk:
        for key, name in flags.items():
            await desk.press("exclamation_mark", key)
            assert name.value in desk.said
            assert [mark.name for mark in read(0).flags] == [name]
            await desk.press("exclamation_mark", key)
            assert read(0).flags == (), name
        await desk.press("exclamation_mark", "j")
        assert desk.state.position.index == 1
        await desk.press("exclamation_mark", "escape", "a")
        assert desk.state.edit.kind is Kind.AGE
    assert read(1).flags == ()


async def test_a_comment_goes_with_the_answer_and_escape_takes_it_back(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "semicolon", *"see [b]", "enter")
        assert desk.state.edit.comment == "see [b]"
        await desk.press("enter", "j", "semicolon", *"doubt", "escape")
        assert desk.state.edit.comment == ""
        await desk.press("Z")
        assert desk.state.edit.comment == "doubt"
        await desk.press("q")
    assert read(1).gold.answer.comment == "see [b]"
    assert "doubt" in read(3).draft.body


async def test_widening_and_narrowing_replaces_the_number(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "plus")
        assert "sixty two" in desk.said
        assert desk.state.edit.kind is Kind.YEAR
        assert desk.state.position.index == 1
        await desk.press("enter")
    item = read(1)
    assert (item.anchor.start, item.anchor.end) == (4, 6)
    assert item.gold.answer.kind is Kind.YEAR


async def test_both_ends_of_the_number_can_be_moved(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j")
        for key, span in (
            ("less_than_sign", (3, 5)),
            ("greater_than_sign", (4, 5)),
            ("plus", (4, 6)),
            ("greater_than_sign", (5, 6)),
            ("less_than_sign", (4, 6)),
            ("plus", (4, 7)),
            ("minus", (4, 6)),
        ):
            await desk.press(key)
            for item in (desk.state.visible_item, read(1)):
                assert (item.anchor.start, item.anchor.end) == span, key


async def test_a_number_keeps_a_word_and_its_turn(open_desk, read):
    async with open_desk() as desk:
        await desk.press("minus")
        assert "at least one word" in desk.said
        await desk.press("plus", "y")
        for _ in range(4):
            await desk.press("plus")
        assert "stays in its turn" in desk.said
    assert read(0).anchor.end == len(read(0).passage.tokens)


async def test_withdrawing_and_throwing_the_draft_away(open_desk, read):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "k")
        desk.screen.action_act("withdraw")
        await desk.settle()
        assert read(1).gold is None
        await desk.press("a")
        desk.screen.action_act("draft.clear")
        await desk.settle()
        assert desk.state.edit.kind is None
        await desk.press("q")
    assert read(1).draft is None


async def test_the_last_item_is_followed_by_none(open_desk, read):
    async with open_desk() as desk:
        await desk.press("G", "n", "enter")
        assert desk.state.position.index == 5
        assert desk.state.visible_item.gold is not None
        assert desk.said.startswith("saved ")
    assert read(5).gold.answer.kind is Kind.UNKNOWN


async def test_adopting_and_going_on_is_one_act(open_desk, read):
    async with open_desk() as desk:
        for keys in (["alt+2"], ["comma", "2"]):
            await desk.press(*keys)
            assert desk.state.position.index == 1, keys
            assert read(0).gold.answer.relation is Relation.AND
            await desk.press("z")
            assert desk.state.position.index == 0
            assert read(0).gold is None, keys


async def test_an_answer_that_cannot_be_adopted_does_not_go_on(open_desk, read):
    async with open_desk() as desk:
        await desk.press("alt+7")
        assert "There is no answer 7" in desk.said
        await desk.press("comma", "7")
        assert desk.state.position.index == 0
        await desk.press("k", "j", "j", "comma")
        assert desk.said == "Nobody has answered this item."
    assert read(0).gold is None


async def test_with_more_than_nine_annotators_there_is_a_list(open_desk, read, database):
    names = [f"annotator of the first team {number:02}" for number in range(1, 13)]
    with Store.open(database) as store:
        anchor_id = next(store.queue.ids(parse(""), store.people.ensure("edith")))[1]
        for number, name in enumerate(names):
            answer = class_answer(Kind.YEAR if number != 10 else Kind.AGE)
            who = store.people.ensure(name)
            store.edits.commit_answer(anchor_id, who, Role.ANNOTATOR, answer)
    async with open_desk(size=(80, 24)) as desk:
        await desk.press("j", "number_sign")
        assert names[10] in desk.text() and "11 annotator" in desk.text()
        await desk.press(*["j"] * 10, "enter")
        assert (desk.state.edit.kind, desk.state.edit.reason) == (Kind.AGE, "answer 11")
        await desk.press("z", "comma", *"11", "enter")
        assert desk.state.position.index == 2
    assert read(1).gold.answer.kind is Kind.AGE


# --- what is told at the end ------------------------------------------------------------------


async def test_quitting_tells_what_was_decided_and_what_is_left(open_desk):
    async with open_desk() as desk:
        await desk.press("y", "enter", "y", "enter", "z", "q")
    words, mode = desk.app.client.parting
    assert (words.split(" in ")[0], mode) == ("You decided 1 item", "adjudicate")
    assert words.endswith(" of work; 4 are left in this queue.")
    async with open_desk(query="class:none", mode="annotate") as desk:
        await desk.press("q")
    words, mode = desk.app.client.parting
    assert (words, mode) == ("You answered nothing; 5 are left in this queue.", "annotate")
    async with open_desk(mode="browse") as desk:
        await desk.press("q")
    assert desk.app.client.parting[0] == ""


async def test_counting_what_is_left_keeps_nobody(open_desk, monkeypatch):
    monkeypatch.setattr("nfh_tui.workbench.screen.COUNTING", 0.0)
    async with open_desk() as desk:
        await desk.press("y", "enter", "q")
    assert desk.app.client.parting[0].endswith(" of work.")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], "Continue with: nfh-tui annotate\n"),
        (["--as", "Ida B{0}", "--db", "a b.db"],
         "Continue with: nfh-tui annotate --as 'Ida B{0}' --db 'a b.db'\n"),
    ],
)  # fmt: skip
def test_the_command_to_go_on_with_is_told(monkeypatch, tmp_path, given, expected):
    def run(app, **_options):
        app.client.parting = "You decided 2 items in 3 minutes of work.", "annotate"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nfh_tui.cli.workbench._need_terminal", lambda: None)
    monkeypatch.setattr(WorkbenchApp, "run", run)
    with Store.open(tmp_path / "nfh.db", create=True):
        pass
    with Store.open(tmp_path / "a b.db", create=True):
        pass
    done = CliRunner().invoke(commands, ["adjudicate", *given], catch_exceptions=False)
    assert done.stdout == f"You decided 2 items in 3 minutes of work.\n{expected}"
