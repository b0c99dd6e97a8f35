"""Identification over stored passages, with a recipe that needs no parser; broken off, too."""

import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nfh_db.connection import connect
from nfh_db.errors import StoreError
from nfh_db.import_run import IncomingFile
from nfh_db.query import parse
from nfh_db.records import Annotator, Identified, IncomingAnchor, IncomingPassage, Role
from nfh_db.store import Store
from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.identification.base import Decision, SentenceNumber
from nfh_models.parsing.base import ParseLayer, ParserError
from nfh_tui.services import identify as services_identify
from nfh_tui.services.identify import (
    Identification,
    IdentificationTools,
    IdentifyRequest,
    differing,
    identify,
)
from nfh_tui.services.models import SelectedModel

NOBODY = Annotator(0, "")


class Tiny:
    """A recipe without a parser: even places are NFHs."""

    recipe = "small"
    version = "1"
    needs: frozenset[ParseLayer] = frozenset()
    uses: frozenset[ParseLayer] = frozenset()

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, cases: Sequence[SentenceNumber]) -> list[Decision]:
        self.asked += len(cases)
        return [
            Decision(
                case.start % 2 == 0, "small", 1.0 - 2 * (case.start % 2), (("place", 1.0),)
            )
            for case in cases
        ]


def passage_of(words: str) -> Passage:
    tokens, place = [], 0
    for word in words.split():
        tokens.append(Token(place, place + len(word), word.lower()))
        place += len(word) + 1
    return Passage(words, tuple(tokens), (Turn(0, "A", 0, len(tokens)),))


def make(path: Path, count: int = 30) -> Path:
    """A database of `count` passages, each with one number marked and two that are not."""
    rows = [
        IncomingPassage(
            passage_of(f"one of {number}x , two of them , and five"),
            "test 1",
            (IncomingAnchor(number + 1, Anchor(0, 1), split="dev"),),
        )
        for number in range(count)
    ]
    with Store.open(path, create=True) as store:
        store.imports.load(IncomingFile("made up", "0" * 64, "test"), rows)
    return path


@pytest.fixture
def path(home: Path) -> Path:
    return make(home / "nfh.db")


def untold(what: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


def tools(store: Store, tiny: Tiny | None = None) -> IdentificationTools:
    model = store.models.ensure("tiny", "both", "small", "1")
    return IdentificationTools(SelectedModel(tiny or Tiny(), "tiny", model), None)


def run(store: Store, tiny: Tiny | None = None, **how: bool) -> Identification:
    return identify(
        store, IdentifyRequest(parse(""), **how), tools(store, tiny), NOBODY, untold
    )


def test_a_recipe_without_a_parser_decides_and_its_weights_are_kept(path: Path) -> None:
    with Store.open(path) as store:
        tiny = Tiny()
        report = run(store, tiny)
        assert (report.numbers, report.new, report.decided) == (90, 60, 90)
        assert tiny.asked == 90
        item = store.items.read(1, NOBODY, Role.ANNOTATOR)
        assert item is not None
        assert item.identification == Identified("tiny", True, "small", 1.0, (("place", 1.0),))
        assert (report.yes, report.no) == (report.rules["small"][0], report.rules["small"][1])
        assert run(store, tiny).decided == 0
        assert tiny.asked == 90


def test_all_numbers_of_a_passage_count_not_only_those_asked_for(path: Path) -> None:
    with Store.open(path) as store:
        wanted = IdentifyRequest(parse("id:1,2"))
        report = identify(store, wanted, tools(store), NOBODY, untold)
        assert (report.passages, report.numbers, report.new) == (2, 6, 4)


def test_another_reader_gets_in_between(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_identify, "DECISION_BATCH", 7)
    monkeypatch.setattr(services_identify, "PASSAGE_BATCH", 4)
    seen: list[int] = []

    def told(what: str, done: int, total: int) -> None:
        with Store.open(path) as other:
            seen.append(other.queue.count(parse("nfh:yes,no"), NOBODY))

    with Store.open(path) as store:
        identify(store, IdentifyRequest(parse("")), tools(store), NOBODY, told)
        assert store.queue.count(parse("nfh:yes,no"), NOBODY) == 90
    assert seen == sorted(seen)


def test_of_two_at_once_one_adds_the_numbers_and_both_say_what_they_added(path: Path) -> None:
    reports: list[Identification] = []

    def told(what: str, done: int, total: int) -> None:
        if done == total and not reports:
            with Store.open(path) as other:
                reports.append(Identification())
                reports[0] = run(other)

    with Store.open(path) as store:
        reports.append(identify(store, IdentifyRequest(parse("")), tools(store), NOBODY, told))
    assert [report.new for report in reports] == [60, 0]
    assert [report.numbers for report in reports] == [90, 90]


def test_broken_off_it_goes_on_where_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services_identify, "DECISION_BATCH", 10)
    monkeypatch.setattr("nfh_models.identification.base.BATCH", 10)

    def stop(what: str, done: int, total: int) -> None:
        if what.startswith("passages decided") and done == 20:
            raise KeyboardInterrupt

    with Store.open(path) as store:
        with pytest.raises(KeyboardInterrupt) as interrupt:
            identify(store, IdentifyRequest(parse("")), tools(store), NOBODY, stop)
        assert "again to continue" in interrupt.value.__notes__[0]
        by_then = store.queue.count(parse("nfh:yes,no"), NOBODY)
        assert 0 < by_then < 90
        assert run(store).decided == 90 - by_then


def test_a_parser_that_gives_too_little_stores_no_decision(path: Path) -> None:
    class Thin:
        name = "thin 1"
        layers: frozenset[ParseLayer] = frozenset()

    class Greedy(Tiny):
        needs = frozenset({ParseLayer.POS})

    with Store.open(path) as store:
        given = IdentificationTools(
            SelectedModel(Greedy(), "tiny", tools(store).chosen.model_id), Thin()
        )  # type: ignore[arg-type]
        with pytest.raises(ParserError, match=r"thin 1 gives no part of speech"):
            identify(store, IdentifyRequest(parse("")), given, NOBODY, untold)
        assert store.queue.count(parse("nfh:none"), NOBODY) == 30


def test_beside_an_import_it_waits_for_nothing_and_says_so(path: Path) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        rows = iter(
            [IncomingPassage(passage_of("one"), "t", (IncomingAnchor(1, Anchor(0, 1)),))]
        )

        def slow():
            yield next(rows)
            with pytest.raises(StoreError, match=r"is being imported by process .* then add"):
                run(store)

        other.imports.load(IncomingFile("slow.txt", "1" * 64, "test"), slow())
        assert store.queue.count(parse(""), NOBODY) == 31
        assert run(store).new == 60


KILLED = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from nfh_db.store import Store
from nfh_tui.services import identify
import test_identifying as here

if __name__ == "__main__":
    whole = identify._Run._incoming
    def waits(self):
        for number, one in enumerate(whole(self)):
            if number == 29:
                print("ready", flush=True)
                sys.stdin.read()
            yield one
    identify._Run._incoming = waits
    from dataclasses import replace
    from nfh_db import import_run
    import_run.WRITE_SIZE = replace(import_run.WRITE_SIZE, first=4)
    here.run(Store.open(Path(sys.argv[1])))
"""


def test_killed_while_numbers_come_in_none_is_there(
    path: Path, dump: Callable[[Path], dict[str, list[tuple[object, ...]]]]
) -> None:
    before = dump(path)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(path), str(Path(__file__).parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        there = connect(path, "ro")
        unseen = there.execute("SELECT count(*) FROM anchor").fetchone()[0]
        there.close()
        with Store.open(path) as store:
            assert store.queue.count(parse(""), NOBODY) == 30
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert unseen > 30
    with Store.open(path) as store:
        assert store.queue.count(parse(""), NOBODY) == 30
    after = dump(path)
    for name in ("anchor", "act", "batch", "source_row", "passage", "identification"):
        assert after[name] == before[name]
    with Store.open(path) as store:
        assert (run(store).new, run(store).new) == (60, 0)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("", "nfh!=gold"),
        ("split:dev", "split:dev nfh!=gold"),
        ("split:dev nfh:none", "nfh!=gold"),
        ("nfhrule:no-one", "nfh!=gold"),
        ('"nfh"', '"nfh" nfh!=gold'),
    ],
)
def test_the_query_that_shows_what_gold_says_otherwise_of(query: str, wanted: str) -> None:
    assert differing(parse(query)) == wanted
