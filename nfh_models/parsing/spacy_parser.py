"""An installed spaCy pipeline as a parser: parts of speech, dependencies, lemmas on request."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from nfh_models.lean_spacy import import_spacy
from nfh_models.parsing.parsed import Layer, Parsed, ParserError
from nfh_models.parsing.pieces import STAND_IN, Piece, batches, groups
from nfh_models.parsing.pipelines import (
    PARSER,
    TAGGERS,
    TAGGING,
    NoPipelineError,
    Pipeline,
    first_line,
    first_that_loads,
    how_to_get,
    installed_pipelines,
)
from nfh_models.parsing.stretch import Stretch

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

LONGEST = 1000
"""Tokens of a piece, so that memory stays bounded whatever stands in one line."""

BATCH = 3000
"""Tokens parsed together; four times as many took a tenth longer where it was measured."""

LEMMATIZER = "lemmatizer"
UNNEEDED = ("ner", "senter", "entity_linker", "textcat")
"""What is left out where a pipeline does not say what it has."""


class SpacyParser:
    """A spaCy pipeline with what the layers need and nothing more.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0"; of one in a folder, which
    anybody may have changed, with a digest of its files.
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language
        layers = {Layer.POS, Layer.DEPENDENCY}
        if LEMMATIZER in language.pipe_names:
            layers.add(Layer.LEMMA)
        self.layers = frozenset(layers)

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in order; a stretch may hold several sentences.

        A stretch of more than LONGEST tokens is parsed in pieces, each with roots of its own.
        Words without a visible character are parsed as white space. Raises ParserError where
        spaCy fails.
        """
        lemmas = Layer.LEMMA in self.layers
        for waiting, pieces in batches(stretches, LONGEST, BATCH):
            parts: list[list[Parsed]] = [[] for _ in waiting]
            for group in groups(pieces, BATCH):
                for piece, parsed in zip(group, self._parse(group, waiting), strict=True):
                    parts[piece.stretch].append(parsed)
            for stretch, found in zip(waiting, parts, strict=True):
                yield _joined(stretch.words, found, lemmas=lemmas)

    def _parse(self, pieces: Sequence[Piece], stretches: Sequence[Stretch]) -> list[Parsed]:
        """What spaCy says of some pieces; its memory of their words goes with them."""
        with self._zone():
            docs = [
                self._doc(piece.words, stretches[piece.stretch].spaces[piece.start : piece.end])
                for piece in pieces
            ]
            try:
                done = list(self._language.pipe(docs, batch_size=len(docs)))
            except Exception as error:
                raise ParserError(
                    f"{self.name} cannot parse a sentence ({first_line(error)})"
                ) from error
            return [parsed_of(doc, lemmas=Layer.LEMMA in self.layers) for doc in done]

    def _zone(self) -> AbstractContextManager[object]:
        """Spacy 3.8 keeps every word that it ever saw, unless told where that ends."""
        vocabulary = self._language.vocab
        if getattr(vocabulary, "in_memory_zone", True):
            return nullcontext()
        return self._language.memory_zone()

    def _doc(self, words: Sequence[str], spaces: Sequence[bool]) -> "Doc":
        from spacy.tokens import Doc

        seen = [" " if word == STAND_IN else word for word in words]
        return Doc(self._language.vocab, seen, list(spaces))


def _joined(words: Sequence[str], parts: Sequence[Parsed], *, lemmas: bool) -> Parsed:
    """The parses of a stretch's pieces as one, on the words as they came."""
    pos: list[str] = []
    tags: list[str] = []
    bases: list[str] = []
    heads: list[int] = []
    relations: list[str] = []
    for part in parts:
        start = len(pos)
        pos += part.pos
        tags += part.tags
        bases += part.lemmas
        heads += [start + head for head in part.heads] if start else part.heads
        relations += part.relations
    if lemmas:
        bases = [
            base if base.strip() else word for base, word in zip(bases, words, strict=True)
        ]
    return Parsed(words, pos, tags, bases, heads, relations)


def parsed_of(doc: "Doc", *, lemmas: bool) -> Parsed:
    """The layers of a parsed Doc."""
    tokens = list(doc)
    return Parsed(
        words=[token.text for token in tokens],
        pos=[token.pos_ for token in tokens],
        tags=[token.tag_ for token in tokens],
        lemmas=[token.lemma_ for token in tokens] if lemmas else (),
        heads=[token.head.i for token in tokens],
        relations=[token.dep_.lower() for token in tokens],
    )


def load_spacy(name: str | None, wanted: frozenset[Layer]) -> SpacyParser:
    """An English pipeline by its package's name or folder; the first fitting one by default.

    Raises NoPipelineError where none can be had, ParserError for one that gives too little.
    """
    if name is not None:
        return _load_named(name, wanted)
    installed = installed_pipelines()
    return first_that_loads(
        [one for one in installed if PARSER in one.components],
        lambda one: _load(one.package, f"{one.package} {one.version}", wanted),
        "Parsing needs",
        "one",
        [f"{one.package} has no parser" for one in installed if PARSER not in one.components],
    )


def _load_named(name: str, wanted: frozenset[Layer]) -> SpacyParser:
    from spacy.util import get_installed_models

    known: dict[str, Pipeline] = {one.package: one for one in installed_pipelines()}
    listed = ", ".join(known) or "none"
    if name not in get_installed_models() and not Path(name).is_dir():
        raise NoPipelineError(
            f"there is no spaCy pipeline {name}, neither installed nor as a folder; installed "
            f"for English: {listed}. {how_to_get('one')}"
        )
    title = f"{name} {known[name].version}" if name in known else None
    try:
        if title is None and name not in get_installed_models():
            return _load_folder(Path(name), wanted)
        return _load(name, title, wanted)
    except ParserError:
        raise
    except Exception as error:  # a damaged package makes spaCy raise anything
        raise NoPipelineError(
            f"the spaCy pipeline {name} does not load ({first_line(error)}); installed for "
            f"English: {listed}. {how_to_get('another')}"
        ) from error


def _load_folder(folder: Path, wanted: frozenset[Layer]) -> SpacyParser:
    parser = _load(str(folder), None, wanted)
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    parser.name += f" {digest.hexdigest()[:8]}"
    return parser


def _load(package: str, name: str | None, wanted: frozenset[Layer]) -> SpacyParser:
    import_spacy()
    import spacy

    needed = TAGGING | {PARSER} | ({LEMMATIZER} if Layer.LEMMA in wanted else set())
    language = spacy.load(package, exclude=_unneeded(package, needed))
    for component in language.pipe_names:
        if component not in needed:
            language.remove_pipe(component)
    check(language, name or package)
    meta = language.meta
    parser = SpacyParser(language, name or f"{meta['lang']}_{meta['name']} {meta['version']}")
    missing = wanted - parser.layers
    if missing:
        raise ParserError(
            f"{parser.name} gives no {' and no '.join(sorted(missing))}; "
            f"it gives {', '.join(sorted(parser.layers))}"
        )
    return parser


def _unneeded(package: str, needed: frozenset[str]) -> list[str]:
    """Components that are not even made: their code need not be there."""
    from spacy.util import get_installed_models, get_package_path

    installed = package in get_installed_models()
    folder = get_package_path(package) if installed else Path(package)
    try:
        listed = json.loads((folder / "meta.json").read_text("utf-8"))["pipeline"]
        return [str(component) for component in listed if component not in needed]
    except (OSError, ValueError, LookupError, TypeError):
        return [one for one in (*UNNEEDED, LEMMATIZER) if one not in needed]


def check(language: "Language", name: str) -> None:
    """Raise ParserError unless a pipeline is English and both tags and parses."""
    if language.lang != "en":
        raise ParserError(
            f"{name} is a pipeline for the language {language.lang!r}; English is needed"
        )
    present = set(language.pipe_names)
    missing = [] if PARSER in present else ["parser"]
    if present.isdisjoint(TAGGERS):
        missing.insert(0, "tagger")
    if missing:
        raise ParserError(
            f"{name} has no {' and no '.join(missing)}; identification needs both a tagger and "
            "a parser, as en_core_web_sm has them"
        )
