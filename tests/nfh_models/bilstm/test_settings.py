"""Settings given as key=value."""

import pytest

from nfh_models.model_files import SettingError
from nfh_models.resolution.bilstm_settings import (
    PRESETS,
    WANTED,
    BilstmSettings,
    Preset,
    plan_of,
    settings_of,
)

VECTORS = "vectors=file:words.txt"


def test_presets_have_the_sizes_of_paper_and_release():
    paper, release = settings_of([VECTORS]), settings_of(["preset=release", VECTORS])
    assert (paper.state, paper.letter_state, paper.letters, paper.hidden) == (50, 10, 30, 150)
    assert (paper.drop_tokens, paper.drop_states, paper.drop_hidden) == (0.2, 0.2, 0.2)
    assert (release.state, release.letter_state, release.letters) == (200, 50, 30)
    assert (release.drop_tokens, release.drop_states, release.drop_hidden) == (0, 0, 0.2)
    for one in (paper, release):
        assert (one.rate, one.batch, one.target) == (0.001, 64, "all")


def test_every_setting_is_explained():
    assert set(WANTED) == set(BilstmSettings.__struct_fields__)
    for preset in Preset:
        assert {"preset", *PRESETS[preset]} == set(WANTED)


def test_preset_counts_wherever_it_stands():
    made = settings_of(["state=7", VECTORS, "preset=release"])
    assert (made.state, made.letter_state, made.preset) == (7, 50, "release")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("speed=3", "not a setting of bilstm.*preset, vectors"),
        ("state", "not a setting of bilstm"),
        ("state=0", "whole number from 1 to 4,096"),
        ("state=x", "whole number"),
        ("preset=big", "paper or release"),
        ("target=last", "all or nearest"),
        ("drop_tokens=1", "from 0 to less than 1"),
        ("rate=0", "above 0"),
        ("rate=nan", "above 0"),
        ("seed=4294967296", "a whole number from 0 to 4,294,967,295"),
    ],
)
def test_wrong_settings_are_sentences(given, said):
    with pytest.raises(SettingError, match=said):
        settings_of([VECTORS, given])


def test_without_vectors_it_says_how_to_get_some():
    with pytest.raises(SettingError, match="vectors=spacy:NAME"):
        settings_of([])


def test_plan_keeps_the_rate():
    plan = plan_of(settings_of([VECTORS, "epochs=7", "seed=5"]))
    assert (plan.epochs, plan.seed, plan.precision) == (7, 5, "fp32")
    assert {plan.rate(step, 10) for step in range(10)} == {1.0}
