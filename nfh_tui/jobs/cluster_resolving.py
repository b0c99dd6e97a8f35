"""Numbers resolved on a worker of a cluster, some passages at a time. It needs no database."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import msgspec

from nfh_models.domain import Anchor, Passage, Token, Turn
from nfh_models.errors import ModelsError
from nfh_models.resolution.item import Choice, Item
from nfh_tui.jobs.cluster_greeting import greeting
from nfh_tui.jobs.cluster_parcel import unpack

if TYPE_CHECKING:
    from nfh_models.parsing.parsed import Parser
    from nfh_models.resolution.item import Resolver


class Tools(msgspec.Struct, frozen=True):
    """What resolves.

    run: which prediction; another one loads anew. recipe: of the model, whose files come with
    it where it has any. digest: of them. parser: as --parser has it.
    """

    run: str
    recipe: str
    digest: str | None
    parser: str | None


class Hello(msgspec.Struct, frozen=True):
    """What a worker works with; those that say the same say the same of a number."""

    program: str
    recipe: str
    version: str
    parser: str

    @property
    def said(self) -> str:
        """All of it, in words."""
        parts = (f"nfh-tui {self.program}", self.recipe, self.version, self.parser)
        return ", ".join(part for part in parts if part)


class _Sent(msgspec.Struct, frozen=True):
    """A passage with numbers of it. offsets: start and end of each token, in turn. anchors:
    start and end of each number."""

    text: str
    offsets: list[int]
    lemmas: list[str]
    turns: list[tuple[int, str | None, int, int]]
    anchors: list[tuple[int, int]]


class Answers(msgspec.Struct, frozen=True):
    """hello: of who answers. choices: a number each, in order. error: a sentence instead."""

    hello: Hello | None = None
    choices: list[Choice | None] = []
    error: str | None = None


# --- on the way -----------------------------------------------------------------------------


def pack_items(items: Sequence[Item]) -> bytes:
    """Items on their way to a worker, without their parses; a passage once in a row."""
    sent: list[_Sent] = []
    last: Passage | None = None
    for item in items:
        passage = item.passage
        if passage is not last:
            sent.append(
                _Sent(
                    passage.text,
                    [place for token in passage.tokens for place in (token.start, token.end)],
                    [token.lemma for token in passage.tokens],
                    [(one.number, one.speaker, one.start, one.end) for one in passage.turns],
                    [],
                )
            )
            last = passage
        sent[-1].anchors.append((item.anchor.start, item.anchor.end))
    return msgspec.msgpack.encode(sent)


def unpack_items(packed: bytes) -> list[Item]:
    """The same items, in their order."""
    items = []
    for one in msgspec.msgpack.decode(packed, type=list[_Sent]):
        tokens = tuple(map(Token, one.offsets[::2], one.offsets[1::2], one.lemmas))
        passage = Passage(one.text, tokens, tuple(Turn(*turn) for turn in one.turns))
        items += [Item(passage, Anchor(start, end)) for start, end in one.anchors]
    return items


# --- on the worker --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Engine:
    """A resolver with its parser, loaded. One batch at a time. folder: its files' home."""

    run: str
    resolver: "Resolver"
    parser: "Parser | None"
    folder: "TemporaryDirectory[str] | None"

    @property
    def hello(self) -> Hello:
        """What it works with."""
        parser = "" if self.parser is None else self.parser.name
        return Hello(greeting().program, self.resolver.recipe, self.resolver.version, parser)


_engines: list[_Engine] = []
"""The engine of this process; it stays for the batches that follow."""

_lock = threading.Lock()


def kept(model: bytes) -> bytes:
    """A model's parcel, in the workers' memory from then on."""
    return model


def resolve(model: bytes, tools: bytes, packed: bytes) -> bytes:
    """What a model says of some items, as `Answers`. model: its parcel, b"" for none."""
    from nfh_models.resolution.parsing_items import resolved

    try:
        with _lock:
            engine = _engine(model, msgspec.msgpack.decode(tools, type=Tools))
            found = resolved(unpack_items(packed), engine.resolver, engine.parser)
            answers = Answers(engine.hello, [choice for _, choice in found])
    except (ModelsError, OSError, ImportError) as error:
        answers = Answers(error=str(error))
    return msgspec.msgpack.encode(answers)


def _engine(model: bytes, tools: Tools) -> _Engine:
    if not _engines or _engines[0].run != tools.run:
        _engines.clear()
        _engines.append(_loaded(model, tools))
    return _engines[0]


def _loaded(model: bytes, tools: Tools) -> _Engine:
    from nfh_models.model_files import ModelFileError, digest_of
    from nfh_models.parsing import load_parser
    from nfh_models.resolution.recipes import load_resolver

    home: TemporaryDirectory[str] | None = None
    folder: Path | None = None
    if model:
        home = TemporaryDirectory(prefix="nfh-model-")
        folder = Path(home.name) / "model"
        unpack(model, folder)
        if digest_of(folder) != tools.digest:
            raise ModelFileError("the model came damaged: its hash is another")
    resolver = load_resolver(tools.recipe, folder)
    parser = load_parser(tools.parser, resolver.needs) if resolver.needs else None
    return _Engine(tools.run, resolver, parser, home)
