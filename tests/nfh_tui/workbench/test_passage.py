"""The passage at work: letters, spans, heads far apart, heat maps, what voters saw."""

import pytest

from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import IncomingAnchor, IncomingPassage, Prediction, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Kind, Relation, reference_answer
from nfh_tui.app import WorkbenchApp

from .conftest import noun, passage_of, vote

TURNS = 130
AT = 65
"""The turn of the number: token 10 * AT + 4."""


def long_passage():
    """1,300 tokens in 130 turns; the nouns of a turn are its own."""
    said = []
    for n in range(TURNS):
        own = chr(97 + n // 26) + chr(97 + n % 26)
        said.append(
            (f"S{n % 3}", f"We saw the lamps{own} near old sheds{own} and lanes{own} .")
        )
    speaker, words = said[AT]
    said[AT] = (speaker, words.replace("near old shedscn", "one more of"))
    return passage_of(*said)


@pytest.fixture
def long(database):
    """The path of a database with the long passage; one annotator marked a far word."""
    passage = long_passage()
    assert len(passage.tokens) == 1300
    anchor = Anchor(10 * AT + 4, 10 * AT + 5)
    votes = (vote("ann1", reference_answer([noun(33)])),)
    path = database.with_name("long.db")
    incoming = IncomingPassage(passage, "words", (IncomingAnchor(1, anchor, votes=votes),))
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("long.gold.jsonl", "1" * 64, "gold"), [incoming])
    return path


def predict(path, *models):
    """Let models, the first one active, say something of the first item: name and scores."""
    with Store.open(path) as store:
        anchor_id = next(store.queue.ids(parse(""), store.people.ensure("x")))[0]
        ((passage, _),) = store.items.passages([anchor_id]).values()
        for name, given in models:
            model = store.models.ensure(name, "resolution", name, "1")
            scores = [given.get(place - 6, 0.0) for place in range(6 + len(passage.tokens))]
            best = max(range(len(scores)), key=lambda place: scores[place]) - 6
            said = Prediction(name, str(best), "OTHER", 0.4, tuple(scores))
            store.predictions.save(model, [(anchor_id, said)])


def stored(path, place=0):
    with Store.open(path) as store:
        who = store.people.ensure("edith")
        item = store.items.read(
            next(store.queue.ids(parse(""), who))[place], who, Role.ADJUDICATOR
        )
    assert item is not None
    return item


@pytest.mark.parametrize("size", [pytest.param((120, 40), marks=pytest.mark.long), (60, 20)])
async def test_heads_far_apart_in_a_long_passage_are_always_named(open_desk, long, size):
    before, after = 10 * 3 + 3, 10 * 120 + 3
    async with open_desk(path=long, size=size) as desk:
        state = desk.state
        await desk.press("0", *"{{{{", "w", "space", "home", *"}}}}", "w", "space")
        desk.screen.item.move_cursor(after)
        await desk.press("space")
        assert state.edit.cursor == after
        first, second, third = (mentions[0].head for mentions in state.edit.heads)
        named = [state.visible_item.passage.word(head) for head in (first, second, third)]
        shown = desk.text()
        assert all(f"{sign}{word}" in shown for sign, word in zip("₁₂₃", named, strict=True))
        assert "↑" in shown
        await desk.press("home")
        shown = desk.words()
        assert f"₃{named[2]} t121 ↓" in shown
        desk.screen.item.move_cursor(before)
        await desk.press("space", "pagedown", "pagedown", "pagedown", "ampersand", "enter")
        assert desk.said.startswith("saved ")
    gold = stored(long).gold
    assert gold is not None
    assert sorted(gold.answer.head_tokens()) == sorted([before, first, second, after])
    assert (gold.answer.relation, len(gold.answer.heads)) == (Relation.AND, 4)


async def test_two_strokes_mark_a_noun_and_three_any_word(open_desk, long):
    async with open_desk(path=long) as desk:
        state = desk.state
        await desk.press("0", "f")
        near = next(token for token, label in state.edit.hints if label == "j")
        assert abs(near - state.visible_item.anchor.start) < 10
        await desk.press("j")
        assert state.edit.heads[0][0].head == near
        await desk.press("f", "f")
        assert state.edit.all_words
        verb = next(
            t for t, _ in state.edit.hints if state.visible_item.passage.word(t) == "saw"
        )
        label = dict(state.edit.hints)[verb]
        await desk.press(*label, "vertical_line", "enter")
    answer = stored(long).gold.answer
    assert (sorted(answer.head_tokens()), answer.relation) == (
        sorted([near, verb]),
        Relation.OR,
    )


async def test_a_span_is_grown_and_shrunk_again(open_desk, read):
    async with open_desk() as desk:
        await desk.press("0", "home", *"bb", "v", "left", "left", "V")
        assert desk.state.edit.span == (3, 5)
        await desk.press("space", "V")
        assert desk.said == "Head 1 is “coat”."
        await desk.press("enter")
    (head,) = read(0).gold.answer.heads
    assert [(m.start, m.end, m.head) for m in head.mentions] == [(4, 5, 4)]


async def test_the_heat_map_goes_on_to_the_difference_of_two_models(open_desk, database):
    predict(database, ("wise", {1: 0.72, 4: 0.2}), ("older", {4: 0.6}), ("[new]", {1: 0.3}))
    async with open_desk() as desk:
        assert "▇" not in desk.text()
        await desk.press("H")
        assert "boots▇" in "".join(desk.text().split("¹²³")) or "boots¹²³▇" in desk.text()
        assert "coat²▄" in desk.text()
        assert "from ▁1 ▂5 ▃10" in desk.text()
        await desk.press("H")
        assert desk.said == "wise against [new]; H again: off"
        assert "+▅" in desk.text()
        assert "− [new]: boots t1 30 %" in desk.text()
        desk.screen.action_act("heat.other")
        await desk.settle()
        await desk.press("down", "enter")
        assert desk.said == "wise against older; H again: off"
        assert "coat²−▅" in desk.text()
        await desk.press("j")
        assert "No model has answered this item yet." in desk.text()
        await desk.press("k", "H")
        assert "▅" not in desk.text()


async def test_without_another_model_it_is_said_how_to_get_one(open_desk, database):
    predict(database, ("wise", {1: 0.7}))
    async with open_desk() as desk:
        await desk.press("H", "H")
        assert "nfh-tui predict --model NAME" in desk.said
        desk.screen.action_act("heat.other")
        await desk.settle()
        assert "nfh-tui predict --model NAME" in desk.said


async def test_what_voters_saw_is_bounded_where_it_can_be_true_and_wanted(open_desk, long):
    async with open_desk(path=long) as desk:
        assert "voters saw" not in desk.text()
        # Its one vote came with a file, but its head lies far outside.
        for _ in range(2):
            desk.screen.action_act("window")
            await desk.settle()
        assert "here they saw everything, or may have" in desk.said
        assert "annotators saw from here" not in desk.text()
    near = long.with_name("near.db")
    seen = (vote("ann1", reference_answer([noun(10 * (AT - 1) + 3)])),)
    anchor = IncomingAnchor(1, Anchor(10 * AT + 4, 10 * AT + 5), votes=seen)
    incoming = IncomingPassage(long_passage(), "words", (anchor,))
    with Store.open(near, create=True) as store:
        store.imports.load(IncomingFile("near.gold.jsonl", "2" * 64, "gold"), [incoming])
    async with open_desk(path=near) as desk:
        assert "annotators saw from here" in desk.text()
        desk.screen.action_act("window")
        await desk.settle()
        assert "voters saw" not in desk.text()
        desk.screen.action_act("window")
        await desk.settle()
        assert desk.said == "lines frame what annotators saw"
        await desk.press("q")
    async with open_desk(path=near, mode="browse") as desk:
        lines = desk.text().split("\n")
        begins = next(n for n, line in enumerate(lines) if "annotators saw from here" in line)
        assert f"{AT - 1} S" in lines[begins + 1]
        ends = next(n for n, line in enumerate(lines) if "annotators saw to here" in line)
        assert f"{AT + 3} S" in lines[ends + 1]
    async with open_desk(path=near, mode="annotate", me="ann2") as desk:
        assert "voters saw" not in desk.text()
        await desk.press("t", "enter", "q")
    # One who answered here has seen the whole passage.
    async with open_desk(path=near) as desk:
        assert len(desk.state.visible_item.votes) == 2
        assert "voters saw" not in desk.text()
        desk.screen.action_act("window")
        await desk.settle()
        assert desk.said == "frame of annotators hidden"


async def test_mentions_are_asked_about_with_what_modifies_them(open_desk, database):
    passage = passage_of(
        ("A", "The red boots leak . Her boots too . I like to boots ."), ("B", "one")
    )
    path = database.with_name("boots.db")
    incoming = IncomingPassage(passage, "words", (IncomingAnchor(1, Anchor(14, 15)),))
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("b.gold.jsonl", "2" * 64, "gold"), [incoming])
    async with open_desk(path=path, size=(80, 24)) as desk:
        await desk.press("home", *"bbbb", "space", "asterisk")
        asked = desk.screen.key_line.foot.title
        assert asked.startswith("Same noun? “")
        assert "“Her boots” t1 noun" in asked
        assert "boots?too" in desk.text()
        await desk.press("y")
        assert "“boots” t1 verb?" in desk.screen.key_line.foot.title
        await desk.press("n", "enter")
    item = stored(path)
    assert item.gold.answer.kind is Kind.REFERENCE
    assert item.gold.answer.head_tokens() == (2, 6)


async def test_memory_is_settled_once_the_passage_is_laid_out(open_desk, monkeypatch):
    laid = []

    def ready(app, message):
        laid.append(app.bench.passage.rows_needed)

    monkeypatch.setattr(WorkbenchApp, "on_workbench_ready", ready)
    async with open_desk() as desk:
        await desk.settle()
        assert len(laid) == 1
        assert laid[0] == desk.screen.passage.rows_needed > 0
