"""Words per second of identification, against spaCy's own full English pipeline.

    python benchmarks/identification.py [--words 60000] [--repeats 3] [--model FOLDER]

Two texts: in one a sentence in twenty holds a number, in the other all do. Each recipe finds
the numbers of the raw text, parses their sentences and decides; spaCy runs all components of
its pipeline over the same text, cut and batched as it is fastest. `nfh-tui scan` is measured
as a command, start and end included, on a text --scan-words long (a tenth of it where all
sentences hold a number). One process each, unless it says otherwise; repetitions take turns,
so that other work on the machine meets all alike. Words are what white space parts. Ratios
are of the medians; those of processor time are the steadier ones where the machine is busy.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from number_text import paragraphs, release_file

from nfh_models.identification.base import (
    Decision,
    Example,
    Identifier,
    SentenceNumber,
    decide,
    parse_cases,
)
from nfh_models.parsing.base import Parser, load_parser
from nfh_models.text.sentences import sentence_spans

if TYPE_CHECKING:
    from spacy.language import Language

SPARSE = 20
BUDGET = 5.0
"""How many times the words per second of spaCy, where one sentence in twenty has a number."""

PIECES = (1, 5, 20, 100)
BATCHES = (64, 256)
"""Sentences in a piece of text, and pieces in a batch, that are tried out for spaCy."""

DENSE = 10
"""How many times shorter the text to scan is where every sentence has to be parsed."""

TRIED = 12_000
"""Words on which they are tried out."""

TRAINED_ON = 2_000
"""Numbers, labelled by the rules, that the machine is fitted on if no model is named."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text with its words counted."""

    name: str
    paragraphs: Sequence[str]
    words: int

    @property
    def whole(self) -> str:
        """All of it."""
        return "\n\n".join(self.paragraphs)

    def pieces(self, sentences: int) -> list[str]:
        """The same in pieces of so many sentences."""
        whole = self.whole
        spans = list(sentence_spans(whole))
        return [
            whole[spans[at][0] : spans[min(at + sentences, len(spans)) - 1][1]]
            for at in range(0, len(spans), sentences)
        ]


@dataclass(slots=True)
class Times:
    """Seconds of each repetition, on the clock and on the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def measure(self, work: Callable[[], object]) -> None:
        """Do the work once, children of this process included."""
        begun, busy = time.perf_counter(), _busy()
        work()
        self.wall.append(time.perf_counter() - begun)
        self.cpu.append(_busy() - busy)

    def rates(self, words: int) -> tuple[float, float]:
        """Words per second, by the medians of clock and processor."""
        return words / statistics.median(self.wall), words / statistics.median(self.cpu)


def _busy() -> float:
    mine = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return mine.ru_utime + mine.ru_stime + children.ru_utime + children.ru_stime


def text_of(name: str, words: int, every: int) -> Text:
    """A text of about so many words."""
    made = paragraphs(words, every, file=release_file())
    return Text(name, made, sum(len(one.split()) for one in made))


# --- what is measured ----------------------------------------------------------------------


def cases_in(text: str) -> list[SentenceNumber]:
    """The numbers of a raw text in their sentences."""
    from nfh_models.identification.base import cases_of_sentences, sentences_of_text

    return [found.case for found in cases_of_sentences(text, sentences_of_text(text))]


def identify(text: str, identifier: Identifier, parser: Parser) -> int:
    """Decide every number of a raw text; how many there are."""
    from nfh_models.identification.base import cases_of_sentences, sentences_of_text

    cases = (found.case for found in cases_of_sentences(text, sentences_of_text(text)))
    return sum(1 for _ in decide(cases, identifier, parser))


def spacy_over(language: "Language", pieces: Sequence[str], batch: int, processes: int) -> int:
    """Run the whole pipeline over the pieces; how many tokens there are."""
    docs = language.pipe(pieces, batch_size=batch, n_process=processes)
    return sum(len(doc) for doc in docs)


def best_for_spacy(language: "Language", text: Text) -> tuple[int, int]:
    """Sentences in a piece and pieces in a batch with which spaCy is fastest on a slice."""
    some = Text(text.name, text.paragraphs[: max(1, TRIED // 250)], 0)
    timed = []
    for sentences in PIECES:
        pieces = some.pieces(sentences)
        for batch in BATCHES:
            begun = time.process_time()
            spacy_over(language, pieces, batch, 1)
            timed.append((time.process_time() - begun, sentences, batch))
    return min(timed)[1:]


def scan(file: Path, processes: int) -> None:
    """Run the command, as a person would."""
    command = [sys.executable, "-P", "-m", "nfh_tui", "scan", str(file), "--json"]
    subprocess.run(
        [*command, "--processes", str(processes)],
        check=True,
        capture_output=True,
        # What an earlier run has done is not done again: each gets a folder of its own.
        env=os.environ | {"XDG_DATA_HOME": tempfile.mkdtemp(dir=file.parent)},
    )


def machine(folder: Path | None, rules: Identifier, parser: Parser, text: Text) -> Identifier:
    """The model of a folder, or one fitted on the first numbers of the text, as rules say."""
    if folder is not None:
        from nfh_models.identification.base import load_identifier

        return load_identifier("svm", folder)
    from nfh_models.identification.svm import train_svm

    cases = cases_in(text.whole)[:TRAINED_ON]
    examples = [
        Example(case, said.nfh, f"number {at}", str(at))
        for at, (case, said) in enumerate(decide(cases, rules, parser))
    ]
    return train_svm(examples)


# --- reports -------------------------------------------------------------------------------


def shares(text: Text, identifier: Identifier, parser: Parser) -> str:
    """Where the time of a recipe goes: finding, parsing, deciding."""
    begun = time.process_time()
    cases = cases_in(text.whole)
    found = time.process_time()
    parsed = list(
        chain.from_iterable(
            parse_cases(cases[at : at + 512], parser) for at in range(0, len(cases), 512)
        )
    )
    read = time.process_time()
    decisions: list[Decision] = identifier.decide(parsed)
    decided = time.process_time()
    whole = decided - begun
    return (
        f"{len(decisions):,} numbers: finding them {(found - begun) / whole:.0%}, "
        f"parsing {(read - found) / whole:.0%}, deciding {(decided - read) / whole:.0%} "
        f"of {whole:.2f} s"
    )


def report(name: str, times: Times, words: int, spacy: Times, spacy_words: int) -> None:
    """Print a line: words per second, and how many times spaCy's in one process that is."""
    wall, cpu = times.rates(words)
    spacy_wall, spacy_cpu = spacy.rates(spacy_words)
    print(
        f"  {name:28} {wall:10,.0f} words/s  {wall / spacy_wall:6.1f}x  "
        f"(processor {cpu:10,.0f}  {cpu / spacy_cpu:6.1f}x)"
    )


def main() -> None:
    """Measure both texts and print."""
    asked = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    asked.add_argument("--words", type=int, default=60_000, help="of each text")
    asked.add_argument("--scan-words", type=int, default=1_000_000, help="of the text to scan")
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--model", type=Path, help="folder of a model of the recipe svm")
    asked.add_argument("--no-scan", action="store_true", help="leave `nfh-tui scan` out")
    run(asked.parse_args())


def run(asked: argparse.Namespace) -> None:
    """Measure what was asked for."""
    import spacy

    from nfh_models.identification.base import load_identifier
    from nfh_models.parsing.spacy_parser import installed_pipelines

    package = installed_pipelines()[0].package
    language = spacy.load(package)
    parser, rules = load_parser(), load_identifier("rules")
    texts = [
        text_of("one sentence in twenty holds a number", asked.words, SPARSE),
        text_of("all sentences hold a number", asked.words, 1),
    ]
    svm = machine(asked.model, rules, parser, texts[1])
    print(f"{package}, all of it: {', '.join(language.pipe_names)}; {os.cpu_count()} CPUs")
    for text in texts:
        sentences, batch = best_for_spacy(language, text)
        pieces, whole = text.pieces(sentences), text.whole
        numbers = len({(id(case.word_span)) for case in cases_in(whole)})
        of = len(text.pieces(1))
        print(
            f"{text.name}: {text.words:,} words, {numbers:,} of {of:,} sentences with one; "
            f"spaCy in pieces of {sentences} sentences, {batch} a batch"
        )
        times = {name: Times() for name in ("spaCy", "rules", "svm")}
        for _ in range(asked.repeats):
            times["spaCy"].measure(lambda: spacy_over(language, pieces, batch, 1))  # noqa: B023
            times["rules"].measure(lambda: identify(whole, rules, parser))  # noqa: B023
            times["svm"].measure(lambda: identify(whole, svm, parser))  # noqa: B023
        for name, taken in times.items():
            report(name, taken, text.words, times["spaCy"], text.words)
        for identifier in (rules, svm):
            print(f"    {identifier.recipe}: {shares(text, identifier, parser)}")
        if not asked.no_scan:
            share = 1 if text is texts[0] else DENSE
            scans(text, asked.scan_words // share, asked.repeats, times["spaCy"])
            two = Times()
            two.measure(lambda: spacy_over(language, pieces, batch, 2))  # noqa: B023
            report("spaCy, 2 processes", two, text.words, times["spaCy"], text.words)
    print(f"budget: {BUDGET:.0f}x where one sentence in twenty holds a number")


def scans(text: Text, words: int, repeats: int, spacy: Times) -> None:
    """Measure the command with one process and with two, on the text many times over."""
    copies = max(1, words // text.words)
    with tempfile.TemporaryDirectory() as folder:
        file, short = Path(folder) / "text.txt", Path(folder) / "short.txt"
        file.write_text("\n\n".join([text.whole] * copies), encoding="utf-8")
        short.write_text(text.pieces(1)[0], encoding="utf-8")
        for processes in (1, 2):
            times, idle = Times(), Times()
            for _ in range(repeats):
                times.measure(lambda: scan(file, processes))  # noqa: B023
                idle.measure(lambda: scan(short, processes))  # noqa: B023
            name = f"scan, {processes} process{'es' if processes > 1 else ''}"
            report(name, times, text.words * copies, spacy, text.words)
            whole, ends = statistics.median(times.cpu), statistics.median(idle.cpu)
            print(
                f"    {text.words * copies:,} words; of {whole:.1f} s of processor time "
                f"{ends:.1f} s are start and end"
            )


if __name__ == "__main__":
    main()
