"""Who was shown round on this machine, whatever the database."""

from nfh_tui.places import data_folder

NAME = "toured"
"""A file of the data folder with one name a line."""


def first_time(me: str) -> bool:
    """True once for each person; from then on they count as shown round.

    Where the file cannot be read or written, the database alone remembers it.
    """
    line = " ".join(me.split())
    try:
        path = data_folder() / NAME
        known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if line in known:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
    except (OSError, ValueError):
        return True
    return True
