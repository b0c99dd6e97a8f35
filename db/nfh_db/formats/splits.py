"""The split that the name of a file says, for rows that say none themselves."""

SPLITS = ("train", "dev", "test")
"""Words of a file's name that say which split its rows are of."""


def split_of_name(stem: str) -> str | None:
    """The split that a file's name says: "nfh_dev" is dev; None if it says none or two."""
    words = "".join(c.lower() if c.isalnum() else " " for c in stem).split()
    named = {word for word in words if word in SPLITS}
    return named.pop() if len(named) == 1 else None
