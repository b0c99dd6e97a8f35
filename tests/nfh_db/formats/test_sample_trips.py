"""Every sixth item of the sample corpus, out to each format that is written and back."""

from pathlib import Path

import pytest

from nfh_tui.sample import corpus_path
from tests.nfh_db.formats.round_trip import round_trip
from tests.nfh_db.formats.test_round_trips import NAMES, ways


@pytest.mark.parametrize("name", NAMES)
def test_the_sample_corpus_comes_back(name: str, tmp_path: Path) -> None:
    given = tmp_path / "in.jsonl"
    lines = corpus_path().read_bytes().split(b"\n")[:-1]
    given.write_bytes(b"".join(line + b"\n" for line in lines[::6]))
    trip = round_trip(given, name, tmp_path, suffix=ways(name)[0])
    trip.check()
    assert trip.recognised == name
    assert trip.imported.conflicts == ()
