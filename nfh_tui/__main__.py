"""The console script: `nfh-tui`, or `python -m nfh_tui`."""

import sys


def main() -> None:
    """Run the command line and exit with its status: 0 done, 1 failed, 2 called wrongly."""
    from nfh_tui.cli.group import commands

    for stream in (sys.stdout, sys.stderr):
        # A terminal of another encoding shows an escape instead of ending in a traceback.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    commands(prog_name="nfh-tui")


if __name__ == "__main__":
    main()
