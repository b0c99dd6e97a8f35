"""`nfh-tui scan` on a corpus that it makes: speed, memory, and spaCy's own pipeline beside it.

One sentence in twenty holds a number. Printed: MB and words a second with one process and
with several, the same for spaCy's full English pipeline on a part of the same text in the
same run, and the most memory that the command and its workers held, for the whole corpus and
for a fifth of it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from scan_corpus import paragraphs, write_corpus

SPACY_PARAGRAPHS = 400
LOOKS_A_SECOND = 5


@dataclass
class Run:
    """A finished scan. Memory in MB: the most at any time, of the command and of a worker."""

    report: dict[str, Any]
    seconds: float
    parent: float
    worker: float

    def told(self, what: str) -> str:
        found = self.report["all"]
        return (
            f"{what}: {found['bytes'] / 1e6:,.1f} MB in {found['seconds']:,.1f} s "
            f"({self.seconds:,.1f} s with start and end), "
            f"{found['bytes'] / 1e6 / found['seconds']:.2f} MB/s, "
            f"{found['words'] / found['seconds']:,.0f} words/s; "
            f"most memory {self.parent:,.0f} MB, a worker {self.worker:,.0f} MB"
        )


def scan(path: Path, processes: int, home: Path, model: list[str]) -> Run:
    """The command as a person gives it, watched while it runs."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "nfh_tui", "scan", str(path), "--json", "--fresh"),
            *("--processes", str(processes), *model),
        ],
        stdout=subprocess.PIPE,
        env=os.environ | {"XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home)},
    )
    most: dict[int, float] = {}
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(process.pid, most, ended))
    watcher.start()
    text, _ = process.communicate()
    seconds = time.perf_counter() - began
    ended.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"the scan failed with exit status {process.returncode}")
    parent = most.pop(process.pid, 0.0)
    return Run(json.loads(text), seconds, parent, max(most.values(), default=0.0))


def _watch(parent: int, most: dict[int, float], ended: threading.Event) -> None:
    """Keep the most memory of a process and its children, in MB; Linux only."""
    while not ended.wait(1 / LOOKS_A_SECOND):
        for pid in (parent, *_children(parent)):
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            for line in status.splitlines():
                if line.startswith("VmHWM:"):
                    most[pid] = max(most.get(pid, 0.0), int(line.split()[1]) / 1024)


def _children(parent: int) -> list[int]:
    found = []
    for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            found += [int(pid) for pid in tasks.read_text().split()]
        except OSError:
            continue
    return found


def spacy_rate() -> float:
    """Words a second of spaCy's full English pipeline on the first paragraphs."""
    import spacy

    from nfh_models.parsing.spacy_parser import installed_pipelines

    texts = [paragraph for paragraph, _ in islice(paragraphs(), SPACY_PARAGRAPHS)]
    words = sum(len(text.split()) for text in texts)
    language = spacy.load(installed_pipelines()[0].package)
    list(language.pipe(texts[:20]))
    began = time.perf_counter()
    for _ in language.pipe(texts):
        pass
    return words / (time.perf_counter() - began)


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--model", help="as for nfh-tui scan; else the rules")
    arguments = parser.parse_args()
    model = [] if arguments.model is None else ["--model", arguments.model]
    with tempfile.TemporaryDirectory(prefix="nfh-scan-") as folder:
        home = Path(folder)
        whole, fifth, tenth = (home / name for name in ("whole.txt", "fifth.txt", "tenth.txt"))
        size = arguments.megabytes * 1_000_000
        numbered = write_corpus(whole, size)
        write_corpus(fifth, size // 5)
        write_corpus(tenth, size // 10)
        print(f"made {whole.stat().st_size / 1e6:.1f} MB, {numbered:,} sentences with a number")
        one = scan(tenth, 1, home, model)
        rate = spacy_rate()
        print(one.told("a tenth, 1 process"))
        ratio = one.report["all"]["words"] / one.report["all"]["seconds"] / rate
        print(
            f"spaCy's full pipeline, 1 process: {rate:,.0f} words/s; scan is {ratio:.1f} times"
        )
        many = arguments.processes
        print(scan(fifth, many, home, model).told(f"a fifth, {many} processes"))
        last = scan(whole, many, home, model)
        print(last.told(f"the whole, {many} processes"))
        found = last.report["all"]
        print(
            f"{found['sentences']:,} sentences, {found['sentences_with_number']:,} with a "
            f"number, {found['numbers']:,} numbers, {found['nfh']:,} NFH ({found['share']:.1%})"
        )


if __name__ == "__main__":
    main()
