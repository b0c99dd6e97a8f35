"""An installed spaCy pipeline as a parser: parts of speech, dependencies, lemmas on request."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from nfh_models.parsing.parsed import Layer, Parsed, ParserError
from nfh_models.parsing.pipelines import (
    TAGGING,
    NoPipelineError,
    Pipeline,
    first_that_loads,
    installed_pipelines,
)
from nfh_models.parsing.stretch import Stretch

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

BATCH = 128
PARSER = "parser"
LEMMATIZER = "lemmatizer"
UNNEEDED = ("ner", "senter", "entity_linker", "textcat")
"""Not even loaded; whatever else a pipeline has is taken out once it is."""


class SpacyParser:
    """A spaCy pipeline with what the layers need and nothing more.

    name: the pipeline with its version, as "en_core_web_sm 3.8.0".
    """

    def __init__(self, language: "Language", name: str) -> None:
        self.name = name
        self._language = language
        layers = {Layer.POS, Layer.DEPENDENCY}
        if LEMMATIZER in language.pipe_names:
            layers.add(Layer.LEMMA)
        self.layers = frozenset(layers)

    def parse(self, stretches: Iterable[Stretch]) -> Iterator[Parsed]:
        """One parse a stretch, in order."""
        docs = (self._doc(stretch) for stretch in stretches)
        for doc in self._language.pipe(docs, batch_size=BATCH):
            yield parsed_of(doc, lemmas=Layer.LEMMA in self.layers)

    def _doc(self, stretch: Stretch) -> "Doc":
        from spacy.tokens import Doc

        return Doc(self._language.vocab, list(stretch.words), list(stretch.spaces))


def parsed_of(doc: "Doc", *, lemmas: bool) -> Parsed:
    """The layers of a parsed Doc."""
    return Parsed(
        words=[token.text for token in doc],
        pos=[token.pos_ for token in doc],
        tags=[token.tag_ for token in doc],
        lemmas=[token.lemma_ for token in doc] if lemmas else (),
        heads=[token.head.i for token in doc],
        relations=[token.dep_.lower() for token in doc],
    )


def load_spacy(name: str | None, wanted: frozenset[Layer]) -> SpacyParser:
    """An English pipeline by its package's name or folder; the first fitting one by default.

    Raises NoPipelineError where none can be had, ParserError for one that gives too little.
    """
    if name is not None:
        return _load_named(name, wanted)
    fitting = [one for one in installed_pipelines() if PARSER in one.components]
    return first_that_loads(
        fitting,
        lambda one: _load(one.package, f"{one.package} {one.version}", wanted),
        "Parsing needs",
        "one",
    )


def _load_named(name: str, wanted: frozenset[Layer]) -> SpacyParser:
    known: dict[str, Pipeline] = {one.package: one for one in installed_pipelines()}
    try:
        if name in known:
            return _load(name, f"{name} {known[name].version}", wanted)
        return _load(name, None, wanted)
    except (ImportError, OSError, ValueError, LookupError, TypeError) as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        installed = ", ".join(known) or "none"
        raise NoPipelineError(
            f"the spaCy pipeline {name} does not load ({first}); installed for English: "
            f"{installed}"
        ) from error


def _load(package: str, name: str | None, wanted: frozenset[Layer]) -> SpacyParser:
    import spacy

    lemmas = Layer.LEMMA in wanted
    language = spacy.load(package, exclude=[*UNNEEDED, *([] if lemmas else [LEMMATIZER])])
    for component in language.pipe_names:
        if component not in TAGGING | {PARSER, LEMMATIZER}:
            language.remove_pipe(component)
    check(language, name or package)
    meta = language.meta
    parser = SpacyParser(language, name or f"{meta['lang']}_{meta['name']} {meta['version']}")
    missing = wanted - parser.layers
    if missing:
        raise ParserError(f"{parser.name} gives no {' and no '.join(sorted(missing))}")
    return parser


def check(language: "Language", name: str) -> None:
    """Raise ParserError unless a pipeline is English and both tags and parses."""
    if language.lang != "en":
        raise ParserError(
            f"{name} is a pipeline for the language {language.lang!r}; English is needed"
        )
    present = set(language.pipe_names)
    missing = [] if PARSER in present else ["a parser"]
    if present.isdisjoint({"tagger", "morphologizer"}):
        missing.insert(0, "a tagger")
    if missing:
        raise ParserError(
            f"{name} has no {' and no '.join(part.removeprefix('a ') for part in missing)}; "
            "identification needs both a tagger and a parser, as en_core_web_sm has them"
        )
