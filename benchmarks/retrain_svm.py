"""Training of `svm` on 18,401 rows, features included, beside spaCy's parse of the same text.

    python benchmarks/retrain_svm.py [FILE]

FILE: an `nfh-ident` file; without one, made-up sentences as many as the release's development
rows. Prints the seconds of `nfh-tui retrain identification`, from the command to its end, and
of a process that loads spaCy's pipeline and parses the same sentences and does no more.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from data import number_at, sentences

ROWS = 18_401
"""Of the identification release's development file."""

BUDGET = 90.0
"""Seconds."""

PARSE = """
import sys, time
from pathlib import Path
from nfh_db.store import Store
from nfh_models.parsing.base import load_parser
from nfh_tui.services.examples import Examples
with Store.open(Path(sys.argv[1])) as store:
    stretches = [example.case.stretch for example in Examples.of_store(store)]
began = time.perf_counter()
parser = load_parser()
loaded = time.perf_counter()
words = sum(len(parsed.words) for parsed in parser.parse(stretches))
print(loaded - began, time.perf_counter() - loaded, words)
"""


def write_rows(path: Path) -> None:
    """Made-up rows; the label is told by the words beside the number, but for one in fifty."""
    lines = ["text\tind_s\tind_e\ty"]
    for index, words in enumerate(sentences(ROWS)):
        place = number_at(words)
        missing = len(words[place + 1]) <= 3
        label = missing if index % 50 else not missing
        lines.append(f"{'_SEP_'.join(words)}\t{place}\t{place + 1}\t{int(label)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(*command: str) -> tuple[float, str]:
    """Seconds of a process from its start to its end, and what it said."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr}")
    return seconds, done.stdout


def main() -> None:
    """Make the database, and measure."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", nargs="?", type=Path, help="an nfh-ident file")
    given: Path | None = arguments.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "rows.db")
        rows = given or Path(folder) / "dev.tsv"
        if given is None:
            write_rows(rows)
        run("-m", "nfh_tui", "import", str(rows), "--db", database, "--split", "dev")
        _, told = run("-c", PARSE, database)
        loading, parsing, words = (float(value) for value in told.split())
        command = ("retrain", "identification", "--recipe", "svm", "--wait", "--json")
        seconds, report = run("-m", "nfh_tui", *command, "--db", database)
    metrics = json.loads(report)["metrics"]
    print(
        f"retrain svm on {metrics['examples']:,} rows ({words:,.0f} words): {seconds:.1f} s, "
        f"budget {BUDGET:.0f} s: {'within' if seconds <= BUDGET else 'OVER'}"
    )
    print(
        f"  spaCy's parse of the same alone: {parsing:.1f} s ({words / parsing:,.0f} words/s), "
        f"and {loading:.1f} s to load; retrain / parse: {seconds / parsing:.2f}"
    )
    print(f"  F1 in {metrics['folds']} folds: {100 * metrics['f1']:.1f}")


if __name__ == "__main__":
    main()
