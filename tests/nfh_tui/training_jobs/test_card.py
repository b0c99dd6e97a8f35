"""The card of a model: read as Markdown and as it stands."""

from types import SimpleNamespace

from nfh_tui.services.training import card_of

NOTE = (
    "30 labels are few: the model (in 5 folds) may be wrong by 20 % and more: settle or decide "
    "more of them before you rely on any figure of this card"
)


def test_notes_stand_in_it_whole_and_as_text() -> None:
    trainer = SimpleNamespace(recipe="linear", settings={"encoder": "/models/my_own [1]"})
    metrics = {"left_out": {"gold in <two> words (50 %)": 3}, "judged_on": "30 %: of *all*"}
    card = card_of("linear-1", "2020-01-01", trainer, metrics | {"dev_examples": 3}, [NOTE])
    assert f"- {NOTE}." in card
    assert "- Left out: 3 (gold in &#60;two> words (50 %))." in card
    assert "(30 %: of &#42;all&#42;)" in card
    assert "encoder /models/my_own &#91;1&#93;" in card
