"""The order in which the parts of the workbench are asked and told."""

from nfh_db.query import parse
from nfh_tui.actions import BY_ID
from nfh_tui.workbench.availability import IN_VIEW

ORDER = "-state:decided sort:uncertain"


async def test_the_editor_takes_a_key_before_the_tour_and_the_tour_before_the_keymap(open_desk):
    async with open_desk() as desk:
        state = desk.state
        desk.screen.action_act("tour")
        await desk.settle()
        await desk.press("f")
        assert state.edit.pending is not None and state.tour_step == 0
        await desk.press("escape")
        assert state.edit.pending is None and state.tour_step == 0
        before = state.position
        await desk.press("enter")
        assert (state.tour_step, state.position) == (1, before)
        await desk.press("escape")
        assert state.tour_step is None
        await desk.press("enter")
        assert state.position != before or desk.said


async def test_a_key_that_the_editor_takes_counts_as_reading_the_news(open_desk):
    async with open_desk() as desk:
        screen = desk.screen
        await desk.press("f")
        screen.background.report_news("Something happened elsewhere.")
        assert screen.background._read_since is None
        await desk.press("escape")
        assert screen.state.edit.pending is None and screen.background._read_since is not None


async def test_what_an_order_is_made_of_is_noted_before_the_queue_is_read(open_desk):
    async with open_desk() as desk:
        screen, seen = desk.screen, []
        grown = screen.queue_list.grown
        screen.queue_list.grown = lambda: (seen.append(screen.background._order), grown())
        assert screen.background._order == ()
        await screen.queue.open(parse(ORDER))
        assert seen and () not in seen


async def test_a_predictor_that_is_off_is_started_when_another_model_is_in_use(open_desk):
    class Predictor:
        started = 0

        async def start(self) -> None:
            self.started += 1

        async def stop(self) -> None:
            pass

        def ask(self, ids: object) -> None:
            pass

    async with open_desk() as desk:
        screen = desk.screen
        screen.predictions._predictor = predictor = Predictor()
        await screen.predictions.restart_if_off()
        assert predictor.started == 0
        screen.predictions._is_off = True
        await screen.predictions.restart_if_off()
        assert predictor.started == 1


async def test_after_items_are_read_ahead_predictions_are_asked_for(open_desk):
    class Predictor:
        async def stop(self) -> None:
            pass

        def ask(self, ids: list[int]) -> None:
            asked.append(ids[0])

    async with open_desk() as desk:
        asked: list[int] = []
        desk.screen.predictions._predictor = Predictor()
        await desk.press("j")
        wanted = desk.state.stored_item.anchor_id
        for _ in range(500):
            if asked[-1:] == [wanted]:
                break
            await desk.pilot.pause(0.01)
        assert asked[-1:] == [wanted]


async def test_the_right_pane_names_its_content_and_there_is_no_model_to_hide(open_desk):
    async with open_desk() as desk:
        title = desk.screen.titles["evidence"]
        assert title.title.note == "2-1 · some of the nouns"
        await desk.press("I")
        assert title.title.note == "version 1"
        assert desk.screen.why_not(BY_ID["sight.model"]) == IN_VIEW
        await desk.press("O")
        assert desk.said == IN_VIEW


async def test_guidelines_learnt_by_the_workbench_are_shown_where_they_are_in_view(open_desk):
    async with open_desk(mode="annotate") as desk:
        state = desk.state
        assert state.guide_shown and state.guidelines.version == 1
        await desk.press("M")
        assert not state.guide_shown
        assert desk.said.startswith("adjudicating as")
