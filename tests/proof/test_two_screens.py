"""Two workbenches, a trainer-like writer, an exporter and one more answerer on one file.

The long form is `benchmarks/soak_two_screens.py --full`; it is also what looks at the clock.
"""

from pathlib import Path


def test_every_write_is_there_and_nobody_sees_locked(tmp_path: Path) -> None:
    from soak.together import run

    found = run(tmp_path, seconds=1, each=400, reimported=2, answers=8)
    assert found.wrong == []
    for worked in (found.annotated, found.adjudicated):
        assert len(worked.kinds) == worked.saved > 5
    assert found.exports > 1
    assert found.imported > 0
    assert len(found.took) > 20
    assert found.results["trainer"]["writes"] > 5  # type: ignore[operator]  # a number
