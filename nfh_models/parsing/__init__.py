"""Parsers behind one protocol, on words that are tokens already.

Importing this package loads no framework: a parser loads its own when it is made.
"""

from nfh_models.parsing.base import (
    Parsed,
    ParseLayer,
    Parser,
    ParserError,
    Tree,
    WordSpan,
    load_parser,
)
from nfh_models.parsing.spacy_parser import (
    NoPipelineError,
    Pipeline,
    Tagger,
    installed_pipelines,
    load_tagger,
)

__all__ = [
    "NoPipelineError",
    "ParseLayer",
    "Parsed",
    "Parser",
    "ParserError",
    "Pipeline",
    "Tagger",
    "Tree",
    "WordSpan",
    "installed_pipelines",
    "load_parser",
    "load_tagger",
]
