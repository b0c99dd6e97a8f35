"""A disk that loses what was not synced when the power goes: what is called saved stays.

The long form is `benchmarks/soak_power.py --full`.
"""

from pathlib import Path

import pytest


def soak(folder: Path, **more: bool):
    """A soak on a disk of its own; the test is skipped where none may be mounted."""
    from soak.disks import NotPermittedError
    from soak.power import PowerSoak

    try:
        return PowerSoak(folder / "soak", seed=3, **more)
    except NotPermittedError as reason:
        pytest.skip(f"needs to mount a file system of its own: {reason}")


def test_what_was_called_saved_outlives_power_cuts(tmp_path: Path) -> None:
    made = soak(tmp_path)
    try:
        tally = made.run(5)
    finally:
        made.close()
    assert tally.lost == []
    assert tally.reported > 5


def test_a_store_that_does_not_wait_for_the_disk_is_noticed(tmp_path: Path) -> None:
    made = soak(tmp_path, careless=True)
    try:
        tally = made.run(8)
    finally:
        made.close()
    assert tally.lost != []
