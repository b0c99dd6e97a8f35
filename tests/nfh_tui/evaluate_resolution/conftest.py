"""The command in a folder of its own, with resolvers that are tiny."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

import pytest

from nfh_models.resolution.base import Resolver
from nfh_tui.services import models
from nfh_tui.services.models import SelectedModel

from .handmade import Silent, Spec, Tiny, Words, row


@pytest.fixture
def write(home: Path) -> Callable[..., Path]:
    """Writes rows to a file of the release's form."""

    def write_(specs: Iterable[Spec], name: str = "dev.jsonl") -> Path:
        path = home / name
        lines = [json.dumps(row(*spec)) for spec in specs]
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path

    return write_


@pytest.fixture(autouse=True)
def at_home(home: Path) -> None:
    """Every test works in its own folder."""


class Resolvers:
    """The resolvers that --model finds by name; what was asked for is kept."""

    KNOWN: ClassVar[dict[str, Callable[[], Tiny]]] = {
        "tiny": lambda: Tiny("small"),
        "cold": lambda: Tiny("small", 0.1),
        "silent": lambda: Silent("deterministic"),
        "words": lambda: Words("encoder"),
    }

    def __init__(self) -> None:
        self.asked: list[tuple[bool, str | None]] = []


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Resolvers:
    """Makes the names of KNOWN resolvers; without a name it is `tiny`."""
    found = Resolvers()
    true = models.resolver_for

    def resolver_for(
        store: object, spec: str | None = None, **more: object
    ) -> SelectedModel[Resolver]:
        found.asked.append((store is not None, spec))
        known = found.KNOWN.get(spec or "tiny")
        if known is None:
            return true(store, spec, **more)  # type: ignore[arg-type]
        return SelectedModel(known(), spec or "tiny")

    monkeypatch.setattr(models, "resolver_for", resolver_for)
    return found
