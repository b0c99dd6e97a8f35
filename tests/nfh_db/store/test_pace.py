"""How long work is cut into writes: after the time that the last one took."""

import pytest

from nfh_db.connection import WriteSize


@pytest.mark.parametrize(
    ("size", "seconds", "expected"),
    [
        (100, 0.02, 100),
        (100, 0.04, 50),
        (100, 0.0125, 160),
        (100, 0.001, 200),
        (100, 0.0, 200),
        (900, 0.001, 1_000),
        (100, 9.0, 5),
    ],
)
def test_a_write_fits_the_time_and_at_most_doubles(size, seconds, expected) -> None:
    size_of = WriteSize(first=50, smallest=5, largest=1_000, seconds=0.02)
    assert size_of.next(size, seconds) == expected
