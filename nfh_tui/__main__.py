"""The console script: `nfh-tui`, or `python -m nfh_tui`."""

import atexit
import gc
import os
import sys

OBJECTS_PER_COLLECTION = 10_000
"""New objects after which Python searches for garbage; by default 700. A command that imports a
model's libraries makes a million objects that stay: `predict --file` takes 2.19 s of processor
time instead of 2.35.
"""


def main() -> None:
    """Run the command line and exit with its status: 0 done, 1 failed, 2 called wrongly."""
    gc.set_threshold(OBJECTS_PER_COLLECTION)
    # Threads of a network that busy-wait for each other starve beside other processes: beside
    # a training, `predict --file` takes 3.3 s of processor time instead of 4.7.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from nfh_tui.cli.main import commands

    # At exit Python searches all objects for garbage, which ends with the process anyhow; with
    # a model's libraries that takes four tenths of a second.
    atexit.register(gc.freeze)
    if sys.stderr is None:
        # Closed by whoever started this: what is said there goes nowhere.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding shows an escape instead of ending in a traceback.
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")
    try:
        commands(prog_name="nfh-tui")
    except OSError as error:
        # Help and version are printed before any command could turn this into a sentence.
        sys.stderr.write(f"nfh-tui: cannot write this out: {error.strerror or error}\n")
        sys.exit(1)
    finally:
        _drop_what_cannot_be_written()


def _drop_what_cannot_be_written() -> None:
    """Leave no output behind that Python would fail to write once more on its way out.

    What failed has been said by then; a second failure would change the exit status.
    """
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    main()
