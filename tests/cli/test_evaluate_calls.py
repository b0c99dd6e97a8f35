"""`nfh-tui evaluate identification`: what is called wrongly is said before anything is read."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result


@pytest.mark.parametrize("wrong", ["c=0", "c=nan", "window=-1", "nothing=1", "nothing"])
def test_a_setting_that_cannot_be(call: Callable[..., Result], home: Path, wrong: str) -> None:
    result = call(
        "evaluate", "identification", "--file", home / "none.tsv", "--folds", 2, "--set", wrong
    )
    assert result.exit_code == 2
    assert f"{wrong!r}" in result.stderr
