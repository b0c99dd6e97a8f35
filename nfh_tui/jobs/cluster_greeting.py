"""What a machine works with; two that say the same should make the same."""

from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

import msgspec

LIBRARIES = (
    "numpy",
    "safetensors",
    "scikit-learn",
    "spacy",
    "stanza",
    "tokenizers",
    "torch",
    "transformers",
)
"""Packages whose version may change what a model learns or says."""


class Greeting(msgspec.Struct, frozen=True):
    """program: the version of nfh-tui. libraries: versions by name, of those there are."""

    program: str
    libraries: dict[str, str]


@lru_cache(maxsize=1)
def greeting() -> Greeting:
    """What this machine works with."""
    found = {name: _version(name) for name in LIBRARIES}
    return Greeting(
        _version("nfh-tui") or "source", {name: said for name, said in found.items() if said}
    )


def greet() -> bytes:
    """The same in JSON, as a worker says it."""
    return msgspec.json.encode(greeting())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
