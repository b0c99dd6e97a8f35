"""Every screen at 120 columns by 40 lines, in dark, light and NO_COLOR, looks as it did."""

import pytest

from .comparing import compare, kept_of
from .scenes import LARGE, names, take


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """All pictures of this size."""
    return take(LARGE, tmp_path_factory.mktemp("pictures"))


@pytest.mark.parametrize("name", names(LARGE))
def test_a_screen_looks_as_it_did(name: str, taken: dict[str, str]) -> None:
    compare(f"120x40-{name}", taken[name])


def test_no_picture_is_kept_of_what_is_not_drawn() -> None:
    assert kept_of("120x40") <= set(names(LARGE))
