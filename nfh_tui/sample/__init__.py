"""The sample corpus: dialogs written for it, answers of three annotators, gold for most.

It is for showing and testing the tool. No accuracy or agreement measured on it is evidence.
`dialogs/*.txt` is what people read and correct; `corpus.jsonl` is made from it by
`make sample` and never edited.
"""

from pathlib import Path


def corpus_path() -> Path:
    """The corpus in `gold` form, as it lies in the installed package."""
    # Imported here: the command line asks for the path in one command only.
    from importlib.resources import files

    return Path(str(files(__name__).joinpath("corpus.jsonl")))
