"""Names of the Hugging Face hub, told apart from folders before anything is loaded."""

import re

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)


def may_be_a_name(word: str) -> bool:
    """True if an encoder of the hub could be called so; else it can only be a folder."""
    return HUB_NAME.fullmatch(word) is not None
