"""The console script: `nfh-tui`, or `python -m nfh_tui`."""

import os
import sys


def main() -> None:
    """Run the command line and exit with its status: 0 done, 1 failed, 2 called wrongly."""
    from nfh_tui.cli.group import commands

    if sys.stderr is None:
        # Closed by whoever started this: what is said there goes nowhere.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding shows an escape instead of ending in a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    commands(prog_name="nfh-tui")


if __name__ == "__main__":
    main()
