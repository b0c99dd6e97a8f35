"""The item decided before, what letters show of the model, and the tour once for all."""

from nfh_db.store import Store
from nfh_tui.app import WorkbenchApp
from nfh_tui.editor.commands import prompt
from nfh_tui.editor.state import EditState, Pending
from nfh_tui.workbench.answer import FLAGS
from nfh_tui.workbench.background import first_time


async def test_similar_items_are_like_the_decision_just_made(open_desk):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter")
        screen = desk.screen
        assert screen.state.visible_item.gold is not None
        source = await screen.bulk._source()
        assert source.anchor_id == screen.state.ids[1]
        await desk.press("y")
        assert (await screen.bulk._source()).anchor_id == screen.state.ids[2]


async def test_an_item_gone_to_by_oneself_is_the_one_meant(open_desk):
    async with open_desk() as desk:
        await desk.press("j", "y", "enter", "j", "k")
        source = await desk.screen.bulk._source()
        assert source.anchor_id == desk.state.ids[2]


async def test_letters_in_the_order_of_scores_are_a_sight_of_the_model(open_desk, monkeypatch):
    async with open_desk() as desk:
        noted = []
        monkeypatch.setattr(
            desk.screen.item.exposure, "note", lambda *_, scores, **__: noted.append(scores)
        )
        desk.screen.ui.note_exposure()
        await desk.press("f")
        assert noted[0] is False
        assert noted[-1] is True


def test_the_questions_at_the_foot_fit_sixty_cells():
    for all_words in (False, True):
        state = EditState(pending=Pending.HINT, hints=((0, "j"),), all_words=all_words)
        assert len(prompt(state)) <= 58
    assert len("Flag  " + "  ".join(f"{key} {words}" for key, words, _ in FLAGS)) <= 46


async def began(path, query=None, me="new"):
    app = WorkbenchApp(path, me, "adjudicate", query, tour=True)
    try:
        async with app.run_test(size=(80, 24)) as pilot:
            for _ in range(4):
                await pilot.pause(0.05)
            return app.bench.state.tour_step
    finally:
        app.close()


async def test_the_tour_comes_once_on_a_machine_and_not_over_an_empty_queue(database, tmp_path):
    assert await began(database, "class:BROKEN") is None
    assert await began(database) == 0
    other = tmp_path / "other.db"
    with Store.open(other, create=True):
        pass
    other.write_bytes(database.read_bytes())
    with Store.open(other) as store:
        store.settings.write("tour.new", "")
    assert first_time() is False
    # A name is not a person: who has seen it under one sees it under no other.
    assert await began(database, me="another") is None
